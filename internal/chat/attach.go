package chat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// MaxFileSize is the largest file that goes with a message, in bytes.
const MaxFileSize = 10 << 20

// attachment is a file that goes with a message.
type attachment struct {
	path string // absolute
	size int    // in bytes
	kind string // "text", "image" or "pdf", as test cases name it
	part agent.Part
}

// attachments returns the files that a message names by @path, each once.
// A path stands at the beginning of a word, is relative to dir, and is in quotes
// when it has spaces: @"my notes.md". What follows an @ counts as a path when
// there is such a file, or when it looks like one (then it is an error that there
// is none). @@ is a plain @, and code is no path. The text is as it was typed; see
// quotePasted.
func attachments(text, dir, home string) ([]attachment, error) {
	var (
		list []attachment
		errs []error
		seen = map[string]bool{}
	)
	for _, word := range mentions(text) {
		path, ok := findFile(word, dir, home)
		if !ok {
			if word.quoted || looksLikeAPath(word.text) {
				errs = append(errs, fmt.Errorf("there is no file %s; write @@ for a plain @", path))
			}
			continue
		}
		if seen[path] {
			continue
		}
		seen[path] = true
		a, err := attach(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, a)
	}
	return list, errors.Join(errs...)
}

// mention is what follows an @ in a message.
type mention struct {
	text   string
	quoted bool
}

// mentions returns what follows each @ that begins a word.
func mentions(text string) []mention {
	var list []mention
	before := ' '
	for i, r := range text {
		begins := r == '@' && unicode.IsSpace(before)
		before = r
		if !begins {
			continue
		}
		rest := text[i+1:]
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if name, _, ok := strings.Cut(quoted, `"`); ok && name != "" && !strings.Contains(name, "\n") {
				list = append(list, mention{name, true})
			}
			continue
		}
		if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
			rest = rest[:end]
		}
		if rest != "" && rest[0] != '@' {
			list = append(list, mention{text: rest})
		}
	}
	return list
}

// findFile returns the absolute path of what a mention names. A point or bracket
// after it belongs to the sentence, unless it is part of the file's name.
func findFile(m mention, dir, home string) (path string, ok bool) {
	const sentence = ".,;:!?)]}'\""
	for name := m.text; name != ""; name = name[:len(name)-1] {
		path = name
		if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
			path = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, true
		}
		if m.quoted || !strings.ContainsRune(sentence, rune(name[len(name)-1])) {
			break
		}
	}
	return filepath.Join(dir, strings.TrimRight(m.text, sentence)), false
}

// looksLikeAPath reports whether a word that is no file was meant as one.
func looksLikeAPath(word string) bool {
	word = strings.TrimRight(word, ".,;:!?)]}'\"")
	if strings.ContainsAny(word, "()[]{}<>=,;'\"`|") {
		return false
	}
	return strings.ContainsAny(word, `/\`) || filepath.Ext(word) != ""
}

// attach reads a file. The error names it and says what works.
func attach(path string) (attachment, error) {
	fail := func(format string, args ...any) (attachment, error) {
		return attachment{}, fmt.Errorf("%s "+format, append([]any{path}, args...)...)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fail("may not be read")
	case err != nil:
		return attachment{}, fmt.Errorf("read the file: %w", err)
	case !info.Mode().IsRegular():
		return fail("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return attachment{}, fmt.Errorf("read the file: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	switch {
	case err != nil:
		return attachment{}, fmt.Errorf("read the file: %w", err)
	case len(data) > MaxFileSize:
		return fail("is larger than %d MiB; give the part that matters", MaxFileSize>>20)
	}
	name := filepath.Base(path)
	switch mime := http.DetectContentType(data); {
	case strings.HasPrefix(mime, "image/"):
		return attachment{path, len(data), "image", agent.Part{Kind: agent.PartImage, Name: name, MIME: mime, Data: data}}, nil
	case mime == "application/pdf":
		return attachment{path, len(data), "pdf", agent.Part{Kind: agent.PartDocument, Name: name, MIME: mime, Data: data}}, nil
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return fail("is neither UTF-8 text nor an image nor a PDF, and no other kind of file can be shown to the model")
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	return attachment{path, len(data), "text", agent.Part{Kind: agent.PartText, Text: text}}, nil
}

// tellOf says that a file goes with the message. One that is neither the agent's
// nor in the working folder is shown even to who wants to see little.
func (c *Chat) tellOf(f attachment) {
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	n := bytesText(f.size)
	for _, dir := range []string{c.WorkDir, c.Agent.Dir} {
		if name, ok := within(dir, path); ok {
			c.note("with the file %s (%s)", name, n)
			return
		}
	}
	c.trouble("with the file %s (%s), which is outside of the working folder", path, n)
}

// within returns the path of a file relative to the folder that it is in.
func within(dir, path string) (name string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	name, err = filepath.Rel(dir, path)
	return name, err == nil && filepath.IsLocal(name)
}

// compose returns a message with its files, in the form in which test cases send
// them: images and PDFs as parts of their own, then the text of the other files,
// each under a line that names it, and then what was said.
func compose(said string, files []attachment, name func(path string) string) agent.Message {
	var (
		m      agent.Message
		blocks []string
	)
	for _, f := range files {
		if f.part.Kind == agent.PartText {
			blocks = append(blocks, fmt.Sprintf("File: %s\n%s", name(f.path), f.part.Text))
		} else {
			m.Parts = append(m.Parts, f.part)
		}
	}
	m.Parts = append(m.Parts, agent.Part{Kind: agent.PartText, Text: strings.Join(append(blocks, said), "\n\n")})
	return m
}
