package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// Store is where the conversations with an agent are kept:
//
//	<state folder>/chats/<id>/chat.json    the conversation
//	<state folder>/chats/<id>/lock         held by the process that is in it
//
// A folder may be removed at any time that no process is in its conversation.
type Store struct {
	dir      string
	file     string // the name of the agent's file: conversations of others are not seen
	chat     string // the command line that talks with the agent
	redactor *secret.Redactor
}

const (
	chatsFolder = "chats"
	chatFile    = "chat.json"
	lockFile    = "lock"
)

// OpenStore returns the store of an agent, having made sure that it can be written.
// getenv is os.Getenv or stands in for it.
func OpenStore(a *config.Agent, getenv func(string) string) (*Store, error) {
	state, err := durable.StateDir(a.Dir, getenv)
	if err != nil {
		return nil, err
	}
	return newStore(state, a), nil
}

// StoreFor is OpenStore for a look: it makes nothing.
func StoreFor(a *config.Agent, getenv func(string) string) (*Store, error) {
	state, err := durable.StatePath(a.Dir, getenv)
	if err != nil {
		return nil, err
	}
	return newStore(state, a), nil
}

// newStore returns the store of an agent in a state folder.
func newStore(state string, a *config.Agent) *Store {
	return &Store{
		dir: filepath.Join(state, chatsFolder), file: filepath.Base(a.File), chat: commandLine(a, "chat"), redactor: a.Redactor,
	}
}

// commandLine returns the command line of a command for an agent.
func commandLine(a *config.Agent, command string) string {
	line, path := "holodeck "+command, a.File
	if filepath.Base(path) == "agent.yaml" {
		path = filepath.Dir(path)
	}
	switch {
	case path == ".":
		return line
	case strings.ContainsAny(path, " \t'\"\\$&;()*?<>|`!#~"):
		return line + " '" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return line + " " + path
}

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.dir }

// Overview is a conversation that is kept, for a list.
type Overview struct {
	ID       string    `json:"id"`
	Agent    string    `json:"agent"`
	Runtime  string    `json:"runtime"`
	Provider string    `json:"provider"`
	Model    string    `json:"model"`
	Began    time.Time `json:"began"`
	Changed  time.Time `json:"changed"`
	Messages int       `json:"messages"`
	Title    string    `json:"title"` // how it begins
	File     string    `json:"file"`
}

// List returns what is kept, the last one used first, and what could not be read.
func (s *Store) List() (list []Overview, damaged []error, err error) {
	list, bad, err := s.scan()
	for _, d := range bad {
		damaged = append(damaged, d.err)
	}
	return list, damaged, err
}

// damaged is a conversation that cannot be read.
type damaged struct {
	id      string
	changed time.Time // of its file
	err     error
}

// scan returns what is kept, the last one used first, and what could not be read.
func (s *Store) scan() (list []Overview, bad []damaged, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list the conversations: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		path := filepath.Join(s.dir, entry.Name(), chatFile)
		r, err := read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was begun, and nothing was said
		}
		if err != nil {
			d := damaged{id: entry.Name(), err: err}
			if info, err := os.Stat(path); err == nil {
				d.changed = info.ModTime()
			}
			bad = append(bad, d)
			continue
		}
		if !s.holds(r) {
			continue
		}
		list = append(list, Overview{
			ID: r.ID, Agent: r.Agent, Runtime: r.Runtime, Provider: r.Provider, Model: r.Model,
			Began: r.Began, Changed: r.Changed, Messages: len(r.Exchanges), Title: r.Exchanges[0].Said, File: path,
		})
	}
	slices.SortFunc(list, func(a, b Overview) int {
		return cmp.Or(b.Changed.Compare(a.Changed), strings.Compare(b.ID, a.ID))
	})
	return list, bad, nil
}

// holds reports whether a conversation was held with the agent of the store. One
// that does not know its file may have been.
func (s *Store) holds(r *Record) bool { return r.AgentFile == "" || r.AgentFile == s.file }

// Said returns what was said in the newest conversations, the oldest first. What
// cannot be read is left out: it is for the arrow keys.
func (s *Store) Said() []string {
	const newest = 5
	entries, _ := os.ReadDir(s.dir) // sorted by name, and an id begins with its time
	var said []string
	for _, entry := range entries[max(0, len(entries)-newest):] {
		r, err := read(filepath.Join(s.dir, entry.Name(), chatFile))
		if err != nil || !s.holds(r) {
			continue
		}
		for _, e := range r.Exchanges {
			line := e.Said
			if len(e.Files) == 0 {
				line = quote(line) // it named none, and will not
			}
			said = append(said, line)
		}
	}
	return said
}

// NotFoundError says that no conversation is kept under a name.
type NotFoundError struct{ Text string }

// Error implements error.
func (e *NotFoundError) Error() string { return e.Text }

// Find returns the conversation that ref names: "" is the last one used, else it
// is the beginning of an id, or the path of a file that /save wrote. One of a file
// has no id: it is continued as a conversation of its own.
func (s *Store) Find(ref string) (*Record, error) {
	if strings.HasSuffix(ref, ".json") {
		r, err := read(ref)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &NotFoundError{fmt.Sprintf("there is no file %s", ref)}
		}
		if err == nil {
			r.ID = "" // what is kept under it may have gone on since
		}
		return r, err
	}
	matches, bad, err := s.scan()
	if err != nil {
		return nil, err
	}
	matches = slices.DeleteFunc(matches, func(o Overview) bool { return !strings.HasPrefix(o.ID, strings.ToUpper(ref)) })
	bad = slices.DeleteFunc(bad, func(d damaged) bool {
		return !strings.HasPrefix(d.id, strings.ToUpper(ref)) || ref == "" && len(matches) > 0 && d.changed.Before(matches[0].Changed)
	})
	switch {
	case len(bad) > 0 && len(matches) > 0 && ref == "":
		return nil, fmt.Errorf("%w; %s --resume=%s continues the one before it", bad[0].err, s.chat, matches[0].ID)
	case len(bad) > 0 && len(matches) == 0:
		return nil, bad[0].err
	case len(matches) == 0 && ref == "":
		return nil, &NotFoundError{fmt.Sprintf("no conversation is kept; %s begins one", s.chat)}
	case len(matches) == 0:
		return nil, &NotFoundError{fmt.Sprintf("no conversation that is kept has the id %s; %s --list lists them", ref, s.chat)}
	case len(matches) > 1 && ref != "":
		return nil, &NotFoundError{fmt.Sprintf("%d conversations have ids that begin with %s; give more of it", len(matches), ref)}
	}
	return read(matches[0].File)
}

// read reads a conversation. The error names its file.
func read(path string) (*Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	r, err := readRecord(data)
	if err != nil {
		return nil, fmt.Errorf("the conversation in %s cannot be continued: %w", path, err)
	}
	return r, nil
}

// ErrInUse says that another process is in a conversation.
var ErrInUse = errors.New("another holodeck chat is in this conversation; leave it there first")

// enter makes the conversation this process's own, until leave is called.
func (s *Store) enter(id string) (leave func(), err error) {
	if !isID(id) {
		return nil, fmt.Errorf("the conversation's id %q is none of ours", id)
	}
	folder := filepath.Join(s.dir, id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("keep the conversation: %w", err)
	}
	lock, err := durable.TryLock(filepath.Join(folder, lockFile))
	if errors.Is(err, durable.ErrLocked) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("keep the conversation: %w", err)
	}
	return func() {
		_ = lock.Unlock() // the process's end would release it as well
		if _, err := os.Stat(filepath.Join(folder, chatFile)); err != nil {
			_ = os.RemoveAll(folder) // nothing was said
		}
	}, nil
}

// isID reports whether an id may name a folder.
func isID(id string) bool {
	return id != "" && strings.Trim(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") == ""
}

// save keeps the conversation as it is now, whole or not at all.
func (s *Store) save(r *Record) error {
	data, err := r.masked(s.redactor)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(s.dir, r.ID, chatFile), data, 0o600)
}

// forget removes what is kept of a conversation in which nothing was said.
func (s *Store) forget(id string) error {
	err := os.Remove(filepath.Join(s.dir, id, chatFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the conversation: %w", err)
	}
	return nil
}

// state asks a session for its state. A turn that was cancelled with everything
// else still leaves one.
func state(ctx context.Context, s agent.Session) (json.RawMessage, error) {
	const grace = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return s.Snapshot(ctx)
}
