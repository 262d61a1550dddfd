package convert

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Version names the rules of this package; what is stored by them is built
// anew when it changes.
const Version = "convert/5"

// Limits bounds what one source file may take.
type Limits struct {
	// FileBytes is the largest file that is read as a whole, in bytes. Records are
	// read one at a time, so that of files of those it bounds each record.
	FileBytes int64
	// TextBytes is the longest text a file may become, in bytes: nested JSON and
	// compressed files can grow.
	TextBytes int
}

// DefaultLimits are 64 MiB a file and four times that as text.
func DefaultLimits() Limits { return Limits{FileBytes: 64 << 20, TextBytes: 256 << 20} }

// Extensions are the kinds of file that become text, sorted.
func Extensions() []string {
	return []string{".csv", ".docx", ".htm", ".html", ".json", ".jsonl", ".md", ".pdf", ".pptx", ".txt", ".xlsx"}
}

// RecordExtensions are the kinds of file that hold records, in the order error
// messages list them.
func RecordExtensions() []string { return []string{".csv", ".json", ".jsonl"} }

// Extension returns the extension of path in lower case.
func Extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// ExtensionOf returns the extension that says what a fetched file is: that of
// its name, or what its media type stands for. It is empty for a kind that
// cannot be read.
func ExtensionOf(name, contentType string) string {
	if Readable(name) {
		return Extension(name)
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	switch media {
	case "text/html", "application/xhtml+xml":
		return ".html"
	case "text/plain":
		return ".txt"
	case "text/markdown":
		return ".md"
	case "text/csv":
		return ".csv"
	case "application/json":
		return ".json"
	case "application/jsonl", "application/x-ndjson", "application/x-jsonlines":
		return ".jsonl"
	case "application/pdf":
		return ".pdf"
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
		return ".docx"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return ".xlsx"
	case "application/vnd.openxmlformats-officedocument.presentationml.presentation":
		return ".pptx"
	}
	return ""
}

// Readable reports whether files named like path become text.
func Readable(path string) bool { return slices.Contains(Extensions(), Extension(path)) }

// ReadFile returns the bytes of the regular file at path. Its errors say what
// is wrong and leave the naming of the file to the caller.
func ReadFile(path string, limits Limits) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return nil, cause(err)
	}
	if info.Size() > limits.FileBytes {
		return nil, tooLarge(info.Size(), limits.FileBytes)
	}
	data, err := io.ReadAll(io.LimitReader(f, limits.FileBytes+1))
	if err != nil {
		return nil, cause(err)
	}
	if n := int64(len(data)); n > limits.FileBytes { // it grew since
		return nil, tooLarge(n, limits.FileBytes)
	}
	return data, nil
}

// Hash returns the hash of the regular file at path, however large it is. Its
// errors are like those of ReadFile.
func Hash(path string) (sum [sha256.Size]byte, err error) {
	f, err := openFile(path)
	if err != nil {
		return sum, err
	}
	defer f.Close() // read only: nothing can be lost
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, cause(err)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// openFile opens a regular file: a pipe or device would block, or never end.
func openFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	return f, nil
}

// cause returns err without the path, which the caller names in its own way.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", pathErr.Err)
	}
	return fmt.Errorf("cannot be read: %w", err)
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("has %s, more than the %s a source file may have; split it, or raise max_file_mb", mebibytes(size), mebibytes(limit))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20)) }

// position returns the line and column, from 1, of the byte at offset; columns
// count characters.
func position[T ~string | ~[]byte](text T, offset int) (line, column int) {
	before := []byte(text[:offset])
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}
