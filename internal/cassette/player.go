package cassette

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// Player gives back what a Recorder has recorded. It is safe for concurrent use
// and changes nothing.
type Player struct {
	dir      string
	index    index
	redactor *secret.Redactor

	mu     sync.Mutex
	files  map[string]*playedFile  // by name without extension, once they were read
	scopes map[string]*playedScope // by path
	failed map[string]error        // by session: why its replay has gone wrong
}

// playedFile is what is left to play of a file.
type playedFile struct {
	err       error               // why it cannot be played
	values    map[string]any      // by id
	exchanges map[string][]played // by session and place, in order
}

// played is a recorded exchange.
type played struct {
	request  map[string]any
	response json.RawMessage
}

// Replay opens the cassette in the folder dir.
func Replay(dir string, r *secret.Redactor) (*Player, error) {
	i, err := readIndex(dir)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	p := &Player{
		dir: dir, index: i, redactor: r,
		files: map[string]*playedFile{}, scopes: map[string]*playedScope{}, failed: map[string]error{},
	}
	own := &playedScope{}
	if i.Times != nil {
		own.said = *i.Times
	}
	p.scopes[""] = own
	return p, nil
}

// readIndex reads the index of the cassette in a folder.
func readIndex(dir string) (index, error) {
	file := filepath.Join(dir, indexFile)
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return index{}, fmt.Errorf("%s holds no cassette; make one with --record %[1]s", dir)
	case err != nil:
		return index{}, err
	}
	var i index
	if err := json.Unmarshal(data, &i); err != nil {
		return index{}, fmt.Errorf("%s is not the index of a cassette: %w", file, err)
	}
	if i.Schema != Schema {
		return index{}, fmt.Errorf("%s is of the form %q, and this build reads %s; record it again", file, i.Schema, Schema)
	}
	return i, nil
}

// About returns what the cassette is a record of.
func (p *Player) About() About { return p.index.About }

// Dir returns the folder of the cassette.
func (p *Player) Dir() string { return p.dir }

// Described calls yield with the name of each thing of a kind that was
// described, in order, and with what decodes its description.
func (p *Player) Described(kind string, yield func(name string, into func(any) error) error) error {
	for _, d := range p.index.Described[kind] {
		err := yield(d.Name, func(v any) error {
			if err := json.Unmarshal(d.Is, v); err != nil {
				return fmt.Errorf("replay: %s %s in %s: %w", kind, d.Name, filepath.Join(p.dir, indexFile), err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Env returns base with the recorded times and ids.
func (p *Player) Env(base agent.Env) agent.Env { return p.scope(base, "") }

func (p *Player) scope(base agent.Env, path string) agent.Env {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.scopes[path]
	if s == nil {
		p.file(fileOf(path)) // brings the scopes of the file
		if s = p.scopes[path]; s == nil {
			s = &playedScope{path: path}
			p.scopes[path] = s
		}
	}
	env := s.env(base)
	env.Scopes = func(name string) agent.Env { return p.scope(base, inside(path, name)) }
	return env
}

// Next gives into the recorded response to a request, which must be the
// recorded one: the error is a *Difference, a *Missing, or says what is wrong
// with the cassette. Once a session has an error, its further exchanges have
// the same, since they follow from something else than was recorded.
func (p *Player) Next(at Place, request []Field, into any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.failed[at.Session]; err != nil {
		return err
	}
	err := p.next(at, request, into)
	if err != nil && at.Session != "" {
		p.failed[at.Session] = err
	}
	return err
}

func (p *Player) next(at Place, fields []Field, into any) error {
	request, err := requestOf(fields, p.redactor)
	if err != nil {
		return fmt.Errorf("replay: encode %s: %w", at, err)
	}
	file := p.file(fileOf(at.Session))
	if file.err != nil {
		return file.err
	}
	key, err := keyOf(at.Session, at.at(), request)
	if err != nil {
		return fmt.Errorf("replay: encode %s: %w", at, err)
	}
	list := file.exchanges[key]
	if len(list) == 0 {
		return &Missing{Place: at, Dir: p.dir}
	}
	found := list[0]
	if path, now, was := firstDifference(fields, request, found.request); path != "" {
		return &Difference{Place: at, Path: path, Now: now, Recorded: was}
	}
	file.exchanges[key] = list[1:]
	if err := json.Unmarshal(found.response, into); err != nil {
		return fmt.Errorf("replay: read the response of %s in %s: %w", at, p.dir, err)
	}
	return nil
}

// keyOf names an exchange within a file. Outside of any session the order of
// calls means nothing, and the request itself is the name.
func keyOf(session, at string, request map[string]any) (string, error) {
	if session != "" {
		return session + "\x00" + at, nil
	}
	text, err := encode(request)
	return at + "\x00" + idOf(text), err
}

// file returns what is left of a file, which is read at the first call.
func (p *Player) file(name string) *playedFile {
	if f, ok := p.files[name]; ok {
		return f
	}
	f := &playedFile{values: map[string]any{}, exchanges: map[string][]played{}}
	p.files[name] = f
	path := filepath.Join(p.dir, name+extension)
	if err := wholeLines(path); err != nil {
		f.err = fmt.Errorf("replay: %s: %w; record it again", path, err)
		return f
	}
	session, n := "", 0
	for record, err := range durable.ReadJournal(path) {
		n++
		if err == nil {
			err = p.line(f, &session, n, record)
		}
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist): // nothing of that session was recorded
		default:
			f.err = fmt.Errorf("replay: %s, line %d: %w; record it again", path, n, err)
			return f
		}
	}
	return f
}

// wholeLines refuses a file that does not end with the end of a line. A journal
// may, where its program was killed; a cassette is kept whole or not at all, so
// that a half line is damage.
func wholeLines(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing of that session was recorded
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		return errors.New("its last line is cut off")
	}
	return nil
}

// line takes a line of a file. The first sets the session that the exchanges
// after it are of.
func (p *Player) line(f *playedFile, session *string, n int, record json.RawMessage) error {
	var e exchange
	if err := json.Unmarshal(record, &e); err != nil {
		return err
	}
	switch {
	case n == 1:
		if e.Schema != Schema {
			return fmt.Errorf("the form is %q, and this build reads %s", e.Schema, Schema)
		}
		*session = e.Session
	case e.Value != "":
		value, err := decode(e.Is)
		if err != nil {
			return err
		}
		f.values[e.Value] = value
	case e.At != "":
		return f.exchange(cmp.Or(e.Session, *session), e)
	case e.Scope != "":
		if _, ok := p.scopes[e.Scope]; !ok {
			p.scopes[e.Scope] = &playedScope{path: e.Scope, said: e.times}
		}
	default:
		return errors.New("it is of a form that this build does not know")
	}
	return nil
}

// exchange takes an exchange of a session.
func (f *playedFile) exchange(session string, e exchange) error {
	v, err := decode(e.Request)
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	request, ok := v.(map[string]any)
	if !ok || e.Response == nil {
		return errors.New("an exchange has a request, which is an object, and a response")
	}
	if request, err = unpack(request, f.values); err != nil {
		return err
	}
	key, err := keyOf(session, e.At, request)
	if err != nil {
		return err
	}
	f.exchanges[key] = append(f.exchanges[key], played{request, e.Response})
	return nil
}
