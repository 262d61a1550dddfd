package testrun

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// MaxFileSize is the largest file that goes with an input, in bytes.
const MaxFileSize = 10 << 20

// compose returns what is said in a turn: the text of its files, each under a
// line that names it, and then the input. It reports false, with the errors in
// t, when a file cannot be read; then nothing is sent, since an answer without
// the file would be judged for nothing.
func (r *runner) compose(t *runs.Turn, turn *config.Turn) (agent.Message, bool) {
	var blocks []string
	for _, in := range turn.Files {
		start := r.env.Now()
		f := runs.File{Input: in}
		content, err := readFile(in)
		if err != nil {
			f.Err = err.Error()
			t.Errors = append(t.Errors, f.Err)
		} else {
			f.Content, f.Size = content, int64(len(content))
			blocks = append(blocks, fmt.Sprintf("File: %s\n%s", *in.Path, content))
		}
		f.Elapsed = r.env.Now().Sub(start)
		t.Files = append(t.Files, f)
	}
	return agent.Text(strings.Join(append(blocks, turn.Input), "\n\n")), len(t.Errors) == 0
}

// readFile returns the text of a file. The error names the file and says what
// works.
func readFile(in config.FileInput) (string, error) {
	if why := unreadable(in); why != "" {
		return "", errors.New(why)
	}
	path := in.File("path", *in.Path)
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read file of test case: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("read file of test case: %s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read file of test case: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read file of test case: %w", err)
	case len(data) > MaxFileSize:
		return "", fmt.Errorf("read file of test case: %s is larger than %d MiB; give the part that matters", path, MaxFileSize>>20)
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return "", fmt.Errorf("read file of test case: %s is not UTF-8 text; save it as UTF-8", path)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// unreadable says why this build cannot read a file of that kind, or returns "".
func unreadable(in config.FileInput) string {
	switch {
	case in.Path == nil && in.URL == nil:
		return "a file has neither path nor url; give its path"
	case in.Path == nil:
		return "this build cannot fetch a file by its url; download it and give its path"
	case in.Type != "text" && in.Type != "csv":
		return fmt.Sprintf("this build cannot read %s files (%s); it reads text and csv", in.Type, *in.Path)
	}
	return ""
}
