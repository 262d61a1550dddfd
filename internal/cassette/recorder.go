package cassette

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// extension is that of a session's file.
const extension = ".jsonl"

// Recorder records the exchanges of a run. It is safe for concurrent use.
//
// What is recorded is put aside, outside of the folder, until Commit. So a run
// that does not come to its end leaves an earlier cassette as it was.
type Recorder struct {
	dir      string
	made     bool // the folder did not exist
	about    About
	redactor *secret.Redactor
	aside    string // a temporary folder with the files so far

	mu        sync.Mutex
	described map[string][]described
	known     map[string]map[string]bool // by file: the values it has
	scopes    map[string]*recordedScope  // by path
	err       error                      // the first thing that could not be recorded
}

// Record begins a recording into the folder dir, which need not exist. A folder
// that holds something other than a cassette is refused. The caller ends the
// recording with Commit or Discard.
func Record(dir string, about About, r *secret.Redactor) (*Recorder, error) {
	made, err := prepare(dir)
	if err != nil {
		return nil, fmt.Errorf("record into %s: %w", dir, err)
	}
	aside, err := os.MkdirTemp("", "holodeck-recording-*")
	if err != nil {
		return nil, fmt.Errorf("record: make a temporary folder: %w", err)
	}
	return &Recorder{
		dir: dir, made: made, about: about, redactor: r, aside: aside,
		described: map[string][]described{},
		known:     map[string]map[string]bool{},
		scopes:    map[string]*recordedScope{},
	}, nil
}

// ErrOccupied says that a folder that was named for a recording holds something
// else.
var ErrOccupied = errors.New("it holds files and no cassette that this build knows; name a folder that is empty or does not exist")

// prepare makes the folder, and refuses one whose content is somebody else's.
func prepare(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, os.MkdirAll(dir, 0o755)
	case err != nil:
		return false, err
	case len(entries) == 0:
		return false, nil
	}
	if _, err := readIndex(dir); err != nil {
		return false, ErrOccupied
	}
	return false, nil
}

// Redact returns s with its secrets masked, for what must be masked before it
// is taken apart.
func (r *Recorder) Redact(s string) string { return r.redactor.String(s) }

// Env returns base so that the times and ids it hands out are recorded.
func (r *Recorder) Env(base agent.Env) agent.Env { return r.scope(base, "") }

func (r *Recorder) scope(base agent.Env, path string) agent.Env {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.scopes[path] == nil {
		r.scopes[path] = &recordedScope{said: times{Scope: path}}
	}
	env := r.scopes[path].env(base)
	env.Scopes = func(name string) agent.Env { return r.scope(base, inside(path, name)) }
	return env
}

// Describe records what a replay must know of a thing that it does not open.
// Only the first description of a name within a kind counts.
func (r *Recorder) Describe(kind, name string, is any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.described[kind]
	if slices.ContainsFunc(list, func(d described) bool { return d.Name == name }) {
		return
	}
	raw, err := rawOf(is, r.redactor)
	if err != nil {
		r.fail(fmt.Errorf("record %s %s: %w", kind, name, err))
		return
	}
	r.described[kind] = append(list, described{name, raw})
}

// Add records an exchange that came to its end. Commit returns the error when
// it cannot be recorded: the run itself goes on.
func (r *Recorder) Add(p Place, request []Field, response any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if err := r.add(p, request, response); err != nil {
		r.fail(fmt.Errorf("record %s: %w", p, err))
	}
}

func (r *Recorder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *Recorder) add(p Place, fields []Field, response any) error {
	request, err := requestOf(fields, r.redactor)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	answer, err := rawOf(response, r.redactor)
	if err != nil {
		return fmt.Errorf("encode the response: %w", err)
	}
	name := fileOf(p.Session)
	var lines []any
	if r.known[name] == nil {
		r.known[name] = map[string]bool{}
		lines = append(lines, exchange{Schema: Schema, Session: firstOf(p.Session)})
	}
	packed, err := pack(request, func(id string, text []byte) error {
		if !r.known[name][id] {
			r.known[name][id] = true
			lines = append(lines, exchange{Value: id, Is: text})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	asked, err := encode(packed)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	e := exchange{At: p.at(), Request: asked, Response: answer}
	if p.Session != firstOf(p.Session) {
		e.Session = p.Session
	}
	return r.write(name, append(lines, e))
}

// write appends lines to a file that is put aside.
func (r *Recorder) write(name string, lines []any) (err error) {
	f, err := os.OpenFile(filepath.Join(r.aside, name+extension), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return writeLines(f, lines)
}

func writeLines(w io.Writer, lines []any) error {
	for _, line := range lines {
		text, err := encode(line)
		if err != nil {
			return err
		}
		if len(text) > durable.MaxRecord {
			return fmt.Errorf("%d bytes are more than the %d that one line of a cassette may have", len(text), durable.MaxRecord)
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Commit ends the recording and makes the folder the cassette of the run, in
// the place of one that was there. It returns how many sessions it has. When
// something could not be recorded the folder stays as it was.
func (r *Recorder) Commit() (sessions int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		if rest := os.RemoveAll(r.aside); rest != nil {
			err = errors.Join(err, fmt.Errorf("remove the temporary folder: %w", rest))
		}
	}()
	if r.err != nil {
		return 0, fmt.Errorf("%w; the recording was not kept", r.err)
	}
	old, _ := readIndex(r.dir) // none, or one that Record has seen
	scopes := r.scopesByFile()
	files := slices.Sorted(maps.Keys(scopes))
	if err := r.keepAll(files, scopes); err != nil {
		return 0, fmt.Errorf("write the cassette: %w", err)
	}
	if err := r.keepIndex(files); err != nil {
		return 0, fmt.Errorf("write the cassette: %w", err)
	}
	for _, name := range old.Files {
		if _, kept := scopes[name]; !kept && name == filepath.Base(name) && filepath.Ext(name) == extension {
			if err := os.Remove(filepath.Join(r.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return 0, fmt.Errorf("remove what is left of the cassette before: %w", err)
			}
		}
	}
	for name := range r.known {
		if name != outside {
			sessions++
		}
	}
	return sessions, nil
}

// scopesByFile returns the files the cassette is to have beside the index, and
// for each the paths of its scopes, sorted.
func (r *Recorder) scopesByFile() map[string][]string {
	files := map[string][]string{}
	for name := range r.known {
		files[name+extension] = nil
	}
	for _, path := range slices.Sorted(maps.Keys(r.scopes)) {
		if path != "" {
			file := fileOf(path) + extension
			files[file] = append(files[file], path)
		}
	}
	return files
}

// keepAll writes the sessions' files, several at once: each waits for the disk.
func (r *Recorder) keepAll(files []string, scopes map[string][]string) error {
	const atOnce = 16
	var writers sync.WaitGroup
	todo := make(chan string)
	failed := make(chan error, len(files))
	for range min(atOnce, len(files)) {
		writers.Go(func() {
			for name := range todo {
				if err := r.keep(name, scopes[name]); err != nil {
					failed <- err
				}
			}
		})
	}
	for _, name := range files {
		todo <- name
	}
	close(todo)
	writers.Wait()
	close(failed)
	return <-failed // nil when there is none
}

// keep writes a session's file: what was put aside, and then its times and ids.
func (r *Recorder) keep(file string, scopes []string) error {
	return durable.Replace(filepath.Join(r.dir, file), 0o644, func(w io.Writer) error {
		aside, err := os.Open(filepath.Join(r.aside, file))
		switch {
		case err == nil:
			_, err = io.Copy(w, aside)
			if err := errors.Join(err, aside.Close()); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		var lines []any
		for _, path := range scopes {
			if len(lines) == 0 && errors.Is(err, fs.ErrNotExist) {
				lines = append(lines, exchange{Schema: Schema, Session: firstOf(path)})
			}
			if said := r.scopes[path].sofar(); said.Now != nil || said.IDs != nil {
				lines = append(lines, exchange{times: said})
			}
		}
		return writeLines(w, lines)
	})
}

// keepIndex writes the index, which makes the folder a cassette.
func (r *Recorder) keepIndex(files []string) error {
	i := index{Schema: Schema, About: r.about, Described: r.described, Files: files}
	if own := r.scopes[""]; own != nil {
		if said := own.sofar(); said.Now != nil || said.IDs != nil {
			i.Times = &said
		}
	}
	return durable.Replace(filepath.Join(r.dir, indexFile), 0o644, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(i)
	})
}

// Discard ends the recording and keeps nothing of it.
func (r *Recorder) Discard() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made {
		_ = os.Remove(r.dir) // stays when somebody has put something into it
	}
	if err := os.RemoveAll(r.aside); err != nil {
		return fmt.Errorf("remove the temporary folder of the recording: %w", err)
	}
	return nil
}
