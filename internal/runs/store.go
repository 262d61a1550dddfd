package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/holodeck-go/holodeck/internal/durable"
)

const (
	// ResultsFolder is the folder beside the agent file that holds its results.
	ResultsFolder = "results"
	// sidecars is the folder, within that of an agent's runs, that holds what the
	// stored form has no place for. Its name keeps it out of sight of readers that
	// take every .json file for a run.
	sidecars = ".holodeck"
	// journalFile and lockFile are in the folder of a run there.
	journalFile = "journal.jsonl"
	lockFile    = "lock"
	configFile  = "config.json"
	storedExt   = ".json"
)

// Store is where the runs of an agent are kept:
//
//	results/<slug>/<time>.json                       the run, when it has ended
//	results/<slug>/.holodeck/<time>/journal.jsonl    the run, as it goes
//
// The folder is beside the agent file. Where that cannot be written and
// HOLODECK_STATE_DIR is set, it is in the agent's state folder instead.
type Store struct {
	own   string // results/<slug> beside the agent file
	state string // the same in the state folder, or "" when there is none
}

// NewStore returns the store of the agent with that name in agentDir. getenv is
// os.Getenv or stands in for it. Nothing is made or read.
func NewStore(agentDir, agentName string, getenv func(string) string) (*Store, error) {
	s := &Store{own: filepath.Join(agentDir, ResultsFolder, Slug(agentName))}
	if getenv(durable.StateVariable) == "" {
		return s, nil
	}
	state, err := durable.StatePath(agentDir, getenv)
	if err != nil {
		return nil, err
	}
	s.state = filepath.Join(state, ResultsFolder, Slug(agentName))
	return s, nil
}

// StoreAt returns the store whose runs are in a folder.
func StoreAt(folder string) *Store { return &Store{own: folder} }

// folders returns the folders in which there may be runs.
func (s *Store) folders() []string {
	if s.state == "" {
		return []string{s.own}
	}
	return []string{s.own, s.state}
}

// Slug returns the name of the folder for the runs of an agent: its name in
// lower case with a hyphen for every run of characters outside a-z, 0-9 and the
// hyphen. A name of which nothing is left becomes "agent" and a hash, so that
// agents with names in other scripts have folders of their own.
func Slug(name string) string {
	slug := strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	if slug == "" {
		sum := sha256.Sum256([]byte(name))
		return "agent-" + hex.EncodeToString(sum[:3])
	}
	return slug
}

// nameOf returns the name of a run that began at t.
func nameOf(t time.Time) string { return strings.ReplaceAll(timestamp(t), ":", "-") }

// Stored is a run in a store.
type Stored struct {
	// Folder holds it, and Name is the time at which it began, in the form of
	// its file name.
	Folder, Name string
}

// File returns the path of the run's stored form, which is there once the run
// has ended.
func (s Stored) File() string { return filepath.Join(s.Folder, s.Name+storedExt) }

// JournalFile returns the path of its journal.
func (s Stored) JournalFile() string { return filepath.Join(s.sidecar(), journalFile) }

func (s Stored) sidecar() string { return filepath.Join(s.Folder, sidecars, s.Name) }

func (s Stored) lockFile() string { return filepath.Join(s.sidecar(), lockFile) }

// running reports whether a process is at work on the run.
func (s Stored) running() bool {
	if _, err := os.Stat(s.lockFile()); err != nil {
		return false
	}
	lock, err := durable.TryLock(s.lockFile())
	if err != nil {
		return errors.Is(err, durable.ErrLocked)
	}
	_ = lock.Unlock() // it was held for the look alone
	return false
}

// make makes the sidecar of a new run that began at t.
func (s *Store) make(t time.Time, chance *rand.Rand) (Stored, error) {
	stored, err := makeIn(s.own, t, chance)
	if err == nil {
		return stored, nil
	}
	if s.state == "" {
		return Stored{}, fmt.Errorf("cannot keep results in %s: %w; make it writable, or set %s to a folder that is",
			s.own, err, durable.StateVariable)
	}
	stored, other := makeIn(s.state, t, chance)
	if other == nil {
		return stored, nil
	}
	return Stored{}, fmt.Errorf("cannot keep results in %s: %w; nor in %s (%s): %w; make one of them writable",
		s.own, err, s.state, durable.StateVariable, other)
}

// makeIn makes the sidecar of a new run in a folder. Of two runs that began at
// once the later has four hex digits more in its name.
func makeIn(folder string, t time.Time, chance *rand.Rand) (Stored, error) {
	if err := os.MkdirAll(filepath.Join(folder, sidecars), 0o755); err != nil {
		return Stored{}, err
	}
	stored := Stored{Folder: folder, Name: nameOf(t)}
	for {
		err := os.Mkdir(stored.sidecar(), 0o755)
		if err == nil {
			if _, err = os.Lstat(stored.File()); errors.Is(err, fs.ErrNotExist) {
				return stored, nil
			}
			if err := errors.Join(err, os.Remove(stored.sidecar())); err != nil {
				return Stored{}, err
			}
		} else if !errors.Is(err, fs.ErrExist) {
			return Stored{}, err
		}
		stored.Name = fmt.Sprintf("%s-%04x", nameOf(t), chance.IntN(1<<16))
	}
}

// List returns the runs in the store, the newest first.
func (s *Store) List() ([]Stored, error) {
	var list []Stored
	for _, folder := range s.folders() {
		names := map[string]bool{}
		add := func(dir string, name func(fs.DirEntry) (string, bool)) error {
			entries, err := os.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return fmt.Errorf("list runs: %w", err)
			}
			for _, e := range entries {
				if name, ok := name(e); ok && !names[name] {
					names[name] = true
					list = append(list, Stored{Folder: folder, Name: name})
				}
			}
			return nil
		}
		err := errors.Join(
			add(folder, func(e fs.DirEntry) (string, bool) {
				name, ok := strings.CutSuffix(e.Name(), storedExt)
				return name, ok && !e.IsDir() && !strings.HasPrefix(name, ".")
			}),
			add(filepath.Join(folder, sidecars), func(e fs.DirEntry) (string, bool) {
				// A run that was killed before its first line never began.
				info, err := os.Stat(Stored{Folder: folder, Name: e.Name()}.JournalFile())
				return e.Name(), err == nil && info.Size() > 0
			}),
		)
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b Stored) int { return strings.Compare(b.Name, a.Name) })
	return list, nil
}

// NotFoundError says that no run, or more than one, is meant by a reference.
type NotFoundError struct{ text string }

// Error implements error.
func (e *NotFoundError) Error() string { return e.text }

// Latest is the reference to the newest run; latest~1 is the one before it.
const Latest = "latest"

// Find returns the run that ref means: latest or latest~N, the beginning of its
// name (the time at which it began, with colons or hyphens) or of its id. The
// error is a *NotFoundError when none is meant, or several are.
//
// What cannot be read, or is no run, counts for nothing among the latest:
// passedOver, which may be nil, is told of it. By its name it can be found.
func (s *Store) Find(ref string, passedOver func(error)) (Stored, error) {
	list, err := s.List()
	if err != nil {
		return Stored{}, err
	}
	if rest, ok := strings.CutPrefix(ref, Latest); ok {
		if back, ok := stepsBack(rest); ok {
			return s.findLatest(list, ref, back, passedOver)
		}
	}
	prefix := strings.ReplaceAll(ref, ":", "-")
	found := slices.DeleteFunc(slices.Clone(list), func(r Stored) bool { return !strings.HasPrefix(r.Name, prefix) })
	if i := slices.IndexFunc(found, func(r Stored) bool { return r.Name == prefix }); i >= 0 {
		return found[i], nil
	}
	if len(found) == 0 {
		for _, r := range list {
			if h, err := readHeader(r.JournalFile()); err == nil && strings.HasPrefix(h.ID, strings.ToUpper(ref)) {
				found = append(found, r)
			}
		}
	}
	switch {
	case ref == "" || len(found) == 0:
		return Stored{}, &NotFoundError{fmt.Sprintf("there is no run %q in %s; holodeck runs list names those there are", ref, s.own)}
	case len(found) > 1:
		return Stored{}, &NotFoundError{fmt.Sprintf("%q is the beginning of %d runs, such as %s and %s; give more of it", ref, len(found), found[0].Name, found[1].Name)}
	}
	return found[0], nil
}

// findLatest returns the run that many steps behind the newest of the list.
func (s *Store) findLatest(list []Stored, ref string, back int, passedOver func(error)) (Stored, error) {
	readable := 0
	for _, r := range list {
		if err := r.check(); err != nil {
			if passedOver != nil {
				passedOver(err)
			}
			continue
		}
		if readable == back {
			return r, nil
		}
		readable++
	}
	return Stored{}, &NotFoundError{fmt.Sprintf("there is no run %s in %s, which holds %d", ref, s.own, readable)}
}

// check reports why the run cannot be opened, or nil. Of a run with a journal it
// reads one line.
func (s Stored) check() error {
	if _, err := readHeader(s.JournalFile()); err == nil {
		return nil
	}
	_, err := s.Open()
	return err
}

// stepsBack reads what follows "latest": nothing, or ~ and a number.
func stepsBack(rest string) (int, bool) {
	if rest == "" {
		return 0, true
	}
	number, ok := strings.CutPrefix(rest, "~")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n >= 0
}

// StoredAt returns the run that a path means: its stored file, its journal, or
// the folder that holds the journal.
func StoredAt(path string) (Stored, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Stored{}, err
	}
	path = filepath.Clean(path)
	switch base := filepath.Base(path); {
	case info.IsDir():
		return Stored{Folder: filepath.Dir(filepath.Dir(path)), Name: base}, nil
	case base == journalFile:
		dir := filepath.Dir(path)
		return Stored{Folder: filepath.Dir(filepath.Dir(dir)), Name: filepath.Base(dir)}, nil
	}
	name, ok := strings.CutSuffix(filepath.Base(path), storedExt)
	if !ok {
		return Stored{}, fmt.Errorf("%s is neither a stored run (%s) nor a journal (%s)", path, storedExt, journalFile)
	}
	return Stored{Folder: filepath.Dir(path), Name: name}, nil
}

// Remove removes a run with all that is kept of it. A run that is under way is
// refused.
func (s Stored) Remove() error {
	if s.running() {
		return fmt.Errorf("the run %s is under way; stop it first", s.Name)
	}
	err := os.Remove(s.File())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it never ended
	}
	if err := errors.Join(err, s.sweep(), os.RemoveAll(s.sidecar())); err != nil {
		return fmt.Errorf("remove run %s: %w", s.Name, err)
	}
	s.tidy()
	return nil
}

// sweep removes what writing the stored form has left behind that was killed.
// The caller knows that nobody is writing it.
func (s Stored) sweep() error {
	entries, err := os.ReadDir(s.Folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+s.Name+storedExt+".") && strings.HasSuffix(e.Name(), ".tmp") {
			errs = append(errs, os.Remove(filepath.Join(s.Folder, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// tidy removes folders in which there is nothing any more.
func (s Stored) tidy() {
	folders := []string{filepath.Join(s.Folder, sidecars)}
	if above := filepath.Dir(s.Folder); filepath.Base(above) == ResultsFolder {
		folders = append(folders, s.Folder, above)
	}
	for _, dir := range folders {
		if os.Remove(dir) != nil {
			return // it is not empty
		}
	}
}
