package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge/store"
	"github.com/holodeck-go/holodeck/internal/knowledge/store/storetest"
)

func TestMemory(t *testing.T) {
	states := map[string]*store.Memory{}
	storetest.Run(t, func(t *testing.T) store.Store {
		if states[t.Name()] == nil {
			states[t.Name()] = store.NewMemory()
		}
		return states[t.Name()]
	})
}

func TestLocal(t *testing.T) {
	root := filepath.Join(t.TempDir(), "an odd? #name %41") // a path is not a URL
	storetest.Run(t, func(t *testing.T) store.Store { return store.NewLocal(filepath.Join(root, t.Name())) })
}

// filled returns a local store with one source, and the path of its file.
func filled(t *testing.T) (*store.Local, string) {
	t.Helper()
	s := store.NewLocal(t.TempDir())
	put(t, s, storetest.Source("a.md", "one", strings.Repeat("two ", 5000))) // over several pages
	return s, s.Location()
}

// put replaces everything by source.
func put(t *testing.T, s store.Store, source store.Source) {
	t.Helper()
	lease, err := s.Lock(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Commit(t.Context(), store.Change{Manifest: storetest.Manifest(), Reset: true, Put: []store.Source{source}})
	if err := errors.Join(err, lease.Release()); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFilesAreReplaced(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, path string) error
	}{
		{"not a database", func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("not a database ", 2000)), 0o600)
		}},
		{"cut short", func(_ *testing.T, path string) error { return os.Truncate(path, 20_000) }},
		{"cut by a few bytes", func(_ *testing.T, path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, info.Size()-100)
		}},
		{"a database of something else", func(_ *testing.T, path string) error {
			return errors.Join(os.Remove(path), execute(path, "CREATE TABLE t (x); PRAGMA user_version = 1"))
		}},
		{"of a later format", func(_ *testing.T, path string) error { return execute(path, "PRAGMA user_version = 99") }},
		{"without a manifest", func(_ *testing.T, path string) error { return execute(path, "DELETE FROM manifest") }},
		{"damaged passages", func(_ *testing.T, path string) error { return execute(path, "UPDATE parts SET passages = x'ff'") }},
		{"damaged vectors", func(_ *testing.T, path string) error { return execute(path, "UPDATE parts SET vectors = x'00'") }},
		{"vectors that do not fit", func(_ *testing.T, path string) error { return execute(path, "UPDATE parts SET vectors = x'00000000'") }},
		{"damaged hash", func(_ *testing.T, path string) error { return execute(path, "UPDATE sources SET hash = x'00'") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, path := filled(t)
			if err := tt.damage(t, path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Load(t.Context())
			if !errors.Is(err, store.ErrUnusable) || !strings.Contains(err.Error(), path) {
				t.Fatalf("Load: %v, want ErrUnusable with the path", err)
			}
			put(t, s, storetest.Source("b.md", "three"))
			state, err := s.Load(t.Context())
			if err != nil || len(state.Sources) != 1 || state.Sources[0].Path != "b.md" {
				t.Errorf("after a new beginning: %+v, %v", state, err)
			}
		})
	}
}

func TestAFolderInPlaceOfTheIndex(t *testing.T) {
	s := store.NewLocal(t.TempDir())
	if err := os.Mkdir(s.Location(), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := s.Load(t.Context())
	if err == nil || !strings.Contains(err.Error(), s.Location()) || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("error %v, want one that names the path and says what to do", err)
	}
}

// Whole documents stand in an index.
func TestAnIndexIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // permissions there are not these
	}
	dir := filepath.Join(t.TempDir(), "older")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.Local{store.NewLocal(dir), store.NewLocal(filepath.Join(t.TempDir(), "a", "b"))} {
		put(t, s, storetest.Source("a.md", "one"))
		for path, want := range map[string]os.FileMode{s.Location(): 0o600, filepath.Dir(s.Location()): 0o700} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has permissions %v, want %v", path, got, want)
			}
		}
	}
}

func TestAnEmptyFileIsAnEmptyStore(t *testing.T) {
	s := store.NewLocal(t.TempDir())
	if err := os.WriteFile(s.Location(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context()); !errors.Is(err, store.ErrEmpty) {
		t.Errorf("error %v", err)
	}
}

func TestAReaderSeesTheStateBesideAWriter(t *testing.T) {
	s, path := filled(t)
	writer := openDatabase(t, path)
	if _, err := writer.ExecContext(t.Context(), "BEGIN IMMEDIATE; DELETE FROM sources"); err != nil {
		t.Fatal(err)
	}
	state, err := s.Load(t.Context())
	if err != nil || len(state.Sources) != 1 {
		t.Errorf("during a write: %+v, %v", state, err)
	}
	if _, err := writer.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.NewLocal(filepath.Join(file, "index")).TryLock(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkLoad10k(b *testing.B) {
	s := store.NewLocal(b.TempDir())
	text := strings.Repeat("a passage of some length ", 40)
	source := store.Source{File: store.File{Path: "a.md"}}
	for n := range 3 {
		p := store.Part{Words: make([]byte, 400_000)}
		for i := range 3400 {
			p.Passages = append(p.Passages, store.Passage{ID: fmt.Sprintf("a.md#%d", n*3400+i), Text: text})
		}
		p.Vectors = make([]float32, 384*len(p.Passages))
		source.Parts = append(source.Parts, p)
	}
	m := store.Manifest{Embedder: "x", Dimensions: 384}
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.Location()), 0o700), s.Commit(b.Context(), store.Change{Manifest: m, Reset: true, Put: []store.Source{source}})); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
