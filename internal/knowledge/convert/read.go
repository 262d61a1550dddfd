package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Version names the rules of this package; what is stored by them is built
// anew when it changes.
const Version = "convert/2"

// Limits bounds what one source file may take.
type Limits struct {
	// FileBytes is the largest file, in bytes.
	FileBytes int64
	// TextBytes is the longest text a file may become, in bytes: a deeply
	// nested JSON file can grow.
	TextBytes int
}

// DefaultLimits are 64 MiB a file and four times that as text.
func DefaultLimits() Limits { return Limits{FileBytes: 64 << 20, TextBytes: 256 << 20} }

// Extensions are the kinds of file that become text, sorted.
func Extensions() []string { return []string{".csv", ".json", ".jsonl", ".md", ".txt"} }

// RecordExtensions are the kinds of file that hold records, in the order error
// messages list them.
func RecordExtensions() []string { return []string{".csv", ".json", ".jsonl"} }

// Extension returns the extension of path in lower case.
func Extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Readable reports whether files named like path become text.
func Readable(path string) bool { return slices.Contains(Extensions(), Extension(path)) }

// ReadFile returns the bytes of the regular file at path. Its errors say what
// is wrong and leave the naming of the file to the caller.
func ReadFile(path string, limits Limits) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause(err)
	}
	// A pipe or device would block, or never end.
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	if info.Size() > limits.FileBytes {
		return nil, tooLarge(info.Size(), limits.FileBytes)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limits.FileBytes+1))
	if err != nil {
		return nil, cause(err)
	}
	if n := int64(len(data)); n > limits.FileBytes { // it grew since
		return nil, tooLarge(n, limits.FileBytes)
	}
	return data, nil
}

// cause returns err without the path, which the caller names in its own way.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("cannot be read: %w", pathErr.Err)
	}
	return fmt.Errorf("cannot be read: %w", err)
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("has %s, more than the %s a source file may have; split it", mebibytes(size), mebibytes(limit))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20)) }

// Text decodes data as UTF-8 text with \n line ends and without a byte order
// mark. Anything else is an error.
func Text(data []byte) (string, error) {
	for _, mark := range [][]byte{{0xFF, 0xFE}, {0xFE, 0xFF}} {
		if bytes.HasPrefix(data, mark) {
			return "", errors.New("is UTF-16; save it as UTF-8")
		}
	}
	data = bytes.TrimPrefix(data, []byte{0xEF, 0xBB, 0xBF})
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", fmt.Errorf("is binary, not text (a zero byte at offset %d)", i)
	}
	if i := firstInvalid(data); i >= 0 {
		line, column := position(data, i)
		return "", fmt.Errorf("is not UTF-8 (byte 0x%02X at line %d, column %d); save it as UTF-8", data[i], line, column)
	}
	text := string(data)
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return text, nil
}

// firstInvalid returns the offset of the first byte that is not UTF-8, or -1.
func firstInvalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// position returns the line and column, from 1, of the byte at offset; columns
// count characters.
func position[T ~string | ~[]byte](text T, offset int) (line, column int) {
	before := []byte(text[:offset])
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}
