package testrun

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// MaxFileSize is the largest file that goes with an input, in bytes.
const MaxFileSize = 10 << 20

// compose returns what is said in a turn: images and PDFs as parts of their own,
// then the text of the other files, each under a line that names it, and then the
// input. It reports false, with the errors in t, when a file cannot be read; then
// nothing is sent, since an answer without the file would be judged for nothing.
// Whether the model can see a part is the runtime's to say.
func (r *runner) compose(t *runs.Turn, turn *config.Turn) (agent.Message, bool) {
	var (
		message agent.Message
		blocks  []string
	)
	for _, in := range turn.Files {
		start := r.env.Now()
		f := runs.File{Input: in}
		data, err := readFile(in)
		var part agent.Part
		if err == nil {
			f.Size = int64(len(data))
			part, err = asPart(in, data)
		}
		switch {
		case err != nil:
			f.Err = err.Error()
			t.Errors = append(t.Errors, f.Err)
		case part.Kind == agent.PartText:
			f.Content = part.Text
			blocks = append(blocks, fmt.Sprintf("File: %s\n%s", *in.Path, part.Text))
		default:
			message.Parts = append(message.Parts, part)
		}
		f.Elapsed = r.env.Now().Sub(start)
		t.Files = append(t.Files, f)
	}
	text := strings.Join(append(blocks, turn.Input), "\n\n")
	message.Parts = append(message.Parts, agent.Part{Kind: agent.PartText, Text: text})
	return message, len(t.Errors) == 0
}

// asPart returns a file as a part of a message.
func asPart(in config.FileInput, data []byte) (agent.Part, error) {
	part := agent.Part{Name: filepath.Base(*in.Path), Data: data}
	switch in.Type {
	case "image":
		part.Kind, part.MIME = agent.PartImage, http.DetectContentType(data)
		if !strings.HasPrefix(part.MIME, "image/") {
			return agent.Part{}, fmt.Errorf("read file of test case: %s is not an image; give a PNG, JPEG, GIF or WebP file", *in.Path)
		}
		return part, nil
	case "pdf":
		part.Kind, part.MIME = agent.PartDocument, http.DetectContentType(data)
		if part.MIME != "application/pdf" {
			return agent.Part{}, fmt.Errorf("read file of test case: %s is not a PDF", *in.Path)
		}
		return part, nil
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return agent.Part{}, fmt.Errorf("read file of test case: %s is not UTF-8 text; save it as UTF-8", in.File("path", *in.Path))
	}
	return agent.Part{Kind: agent.PartText, Text: strings.TrimPrefix(string(data), "\ufeff")}, nil
}

// readFile returns what stands in a file. The error names the file and says what
// works.
func readFile(in config.FileInput) ([]byte, error) {
	if why := unreadable(in); why != "" {
		return nil, errors.New(why)
	}
	path := in.File("path", *in.Path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read file of test case: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read file of test case: %s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read file of test case: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read file of test case: %w", err)
	case len(data) > MaxFileSize:
		return nil, fmt.Errorf("read file of test case: %s is larger than %d MiB; give the part that matters", path, MaxFileSize>>20)
	}
	return data, nil
}

// unreadable says why this build cannot read a file of that kind, or returns "".
func unreadable(in config.FileInput) string {
	switch {
	case in.Path == nil && in.URL == nil:
		return "a file has neither path nor url; give its path"
	case in.Path == nil:
		return "this build cannot fetch a file by its url; download it and give its path"
	case in.Type == "pdf" && in.Pages.List() != nil:
		return fmt.Sprintf("this build cannot take single pages out of a PDF (%s); leave pages out, or give a file of those pages", *in.Path)
	case !slices.Contains([]config.FileType{"text", "csv", "image", "pdf"}, in.Type):
		return fmt.Sprintf("this build cannot read %s files (%s); it reads text and csv, and shows images and PDFs to models that see them", in.Type, *in.Path)
	}
	return ""
}
