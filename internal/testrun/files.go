package testrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/fetch"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// MaxFileSize is the largest file that goes with an input, in bytes.
const MaxFileSize = 10 << 20

// maxFileText is the longest text that a file may become, in bytes.
const maxFileText = 4 * MaxFileSize

// compose returns what is said in a turn: images, and PDFs where the model can
// see them, as parts of their own, then the text of the other files, each under a
// line that names it, and then the input. It reports false, with the errors in t,
// when a file cannot be read; then nothing is sent, since an answer without the
// file would be judged for nothing.
func (r *runner) compose(ctx context.Context, t *runs.Turn, turn *config.Turn) (agent.Message, bool) {
	var (
		message agent.Message
		blocks  []string
	)
	for _, in := range turn.Files {
		start := r.env.Now()
		f := runs.File{Input: in}
		part, size, err := r.files.part(ctx, in)
		f.Size = size
		switch {
		case err != nil:
			f.Err = err.Error()
			t.Errors = append(t.Errors, f.Err)
		case part.Kind == agent.PartText:
			f.Content = part.Text
			blocks = append(blocks, fmt.Sprintf("File: %s\n%s", nameOf(in), part.Text))
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

// nameOf returns the name a file is known by: its path as it is written, or its
// address.
func nameOf(in config.FileInput) string {
	if in.Path != nil {
		return *in.Path
	}
	return fetch.Shown(*in.URL)
}

// files reads the files of test cases.
type files struct {
	convert *convert.Converter
	fetch   fetch.Options
	keep    bool          // fetched files
	timeout time.Duration // of a conversion
	// documents says that the model can see PDFs.
	documents bool
}

// newFiles returns the reader of an agent's files.
func newFiles(a *config.Agent, can agent.Capabilities, opts Options) *files {
	dir := opts.CacheDir
	if dir == "" {
		dir = a.Execution.CacheDir
	}
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	return &files{
		convert: convert.New(filepath.Join(dir, "pdfium")),
		fetch: fetch.Options{
			HTTP: opts.HTTP, Dir: filepath.Join(dir, "downloads"), Limit: MaxFileSize, Timeout: seconds(a.Execution.DownloadTimeout),
			Authorization: a.Variable("HOLODECK_HTTP_AUTH_HEADER"), Once: true, Kept: opts.NoFetch,
		},
		keep: a.Execution.CacheEnabled, timeout: seconds(a.Execution.FileTimeout), documents: can.Documents,
	}
}

// Close frees what reading took.
func (f *files) Close() error { return f.convert.Close() }

// part returns a file as a part of a message, and its size in bytes.
func (f *files) part(ctx context.Context, in config.FileInput) (agent.Part, int64, error) {
	if in.Path == nil && in.URL == nil {
		return agent.Part{}, 0, errors.New("a file has neither path nor url; give one of them")
	}
	data, extension, err := f.read(ctx, in)
	size := int64(len(data))
	if err != nil {
		return agent.Part{}, size, err
	}
	shown := agent.Part{Name: filepath.Base(nameOf(in)), Data: data, MIME: http.DetectContentType(data)}
	switch {
	case in.Type == "image":
		shown.Kind = agent.PartImage
		if !strings.HasPrefix(shown.MIME, "image/") {
			return agent.Part{}, size, fmt.Errorf("read file of test case: %s is not an image; give a PNG, JPEG, GIF or WebP file", nameOf(in))
		}
		return shown, size, nil
	case in.Type == "pdf" && in.Pages == nil && f.documents:
		shown.Kind = agent.PartDocument
		if shown.MIME != "application/pdf" {
			return agent.Part{}, size, fmt.Errorf("read file of test case: %s is not a PDF", nameOf(in))
		}
		return shown, size, nil
	}
	text, err := f.text(ctx, in, extension, data)
	if err != nil {
		return agent.Part{}, size, fmt.Errorf("read file of test case: %s %w", nameOf(in), err)
	}
	return agent.Part{Kind: agent.PartText, Text: text}, size, nil
}

// text returns what a file says. Its errors leave the naming of the file to the
// caller.
func (f *files) text(ctx context.Context, in config.FileInput, extension string, data []byte) (string, error) {
	switch in.Type {
	case "pdf":
		extension = ".pdf"
	case "word":
		extension = ".docx"
	case "excel":
		extension = ".xlsx"
	case "powerpoint":
		extension = ".pptx"
	default:
		if extension != ".html" && extension != ".htm" {
			text, _, err := convert.Text(data)
			return text, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("it took longer than file_timeout, %s", f.timeout))
	defer cancel()
	opts := convert.Options{Limits: convert.Limits{FileBytes: MaxFileSize, TextBytes: maxFileText}, Pages: in.Pages.List()}
	if in.Sheet != nil {
		opts.Sheet = *in.Sheet
	}
	if in.Range != nil {
		opts.Range = *in.Range
	}
	d, err := f.convert.Document(ctx, extension, data, opts)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("could not be read in time: %w", context.Cause(ctx))
	}
	return d.Text, err
}

// read returns what stands in a file, and the extension of its name. The error
// names the file and says what works.
func (f *files) read(ctx context.Context, in config.FileInput) (data []byte, extension string, err error) {
	if in.Path != nil {
		path := in.File("path", *in.Path)
		data, err = readFile(path)
		return data, convert.Extension(path), err
	}
	opts := f.fetch
	if !f.keep || in.Cache != nil && !*in.Cache {
		// Fetched for this once, with nothing from before to stand in for it.
		if opts.Dir, err = os.MkdirTemp("", "holodeck-file-"); err != nil {
			return nil, "", fmt.Errorf("read file of test case: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(opts.Dir)) }()
	}
	got, err := fetch.Get(ctx, *in.URL, opts)
	if err != nil {
		return nil, "", fmt.Errorf("read file of test case: %w", err)
	}
	data, err = readFile(got.Path)
	return data, convert.ExtensionOf(got.Name, got.ContentType), err
}

// readFile returns what stands in the file at path.
func readFile(path string) ([]byte, error) {
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
