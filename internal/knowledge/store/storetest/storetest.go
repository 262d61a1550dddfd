// Package storetest holds what every implementation of store.Store must pass.
// It refuses to know how one keeps its state.
package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// Run tests the stores that open returns: every call of open with the same
// test returns a handle on the same state, which is empty at first.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, s store.Store, again func() store.Store)
	}{
		{"EmptyAtFirst", emptyAtFirst},
		{"CommitAndLoad", commitAndLoad},
		{"ResetReplacesEverything", resetReplaces},
		{"TouchChangesTheFileAlone", touch},
		{"ACancelledCommitChangesNothing", cancelled},
		{"OneLeaseAtATime", oneLease},
		{"WaitingEndsWithItsContext", waitingEnds},
		{"NotesLastUntilTheCommit", notes},
		{"VectorsAreComparedWhereTheyAre", vectors},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.test(t, open(t), func() store.Store { return open(t) })
		})
	}
}

// Manifest is a manifest of vectors with two numbers.
func Manifest() store.Manifest {
	return store.Manifest{Embedder: "test/1", Dimensions: 2, Pipeline: "p1"}
}

// Source makes a source of as many passages as it has texts, in parts of two.
func Source(path string, texts ...string) store.Source {
	s := store.Source{File: store.File{Path: path, Size: int64(len(texts)), Modified: 1234, Hash: sha256.Sum256([]byte(strings.Join(texts, "\n")))}}
	for i, text := range texts {
		if i%2 == 0 {
			s.Parts = append(s.Parts, store.Part{Words: []byte{1, 2, byte(i)}})
		}
		p := &s.Parts[len(s.Parts)-1]
		passage := store.Passage{ID: fmt.Sprintf("%s#%d", path, i), Text: text}
		if i%2 == 1 {
			passage.Meta = []store.Field{{Name: "n", Value: fmt.Sprint(i)}, {Name: "leer"}}
		} else {
			passage.Context, passage.Place = "Of a test.", place(i)
		}
		p.Passages = append(p.Passages, passage)
		p.Vectors = append(p.Vectors, float32(i)+0.5, -1)
	}
	return s
}

// place makes a place with every field.
func place(i int) *store.Place {
	return &store.Place{
		Kind: "content", Title: "4.2 Notice", Number: "4.2", Chain: []string{"4 Ende", ""}, SectionID: "h2_notice",
		SubsectionIDs: []string{"clause_a"}, Page: i, LastPage: i + 1,
		Definitions: []store.Definition{{Term: "Notice", Text: "a letter \x00"}},
		References:  []store.Reference{{Text: "section 9", Target: -1}, {Text: "section 1", Target: 0}},
	}
}

func commit(t *testing.T, s store.Store, c store.Change) {
	t.Helper()
	lease, err := s.Lock(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Commit(t.Context(), c), lease.Release(), lease.Release()); err != nil {
		t.Fatal(err)
	}
}

func requireState(t *testing.T, s store.Store, m store.Manifest, sources ...store.Source) {
	t.Helper()
	got, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fetch(t, s, got)
	if want := (store.State{Manifest: m, Sources: sources}); !reflect.DeepEqual(got, want) {
		t.Fatalf("state\n%+v\nwant\n%+v", got, want)
	}
}

// fetch fills in the vectors that a store which searches leaves out.
func fetch(t *testing.T, s store.Store, state store.State) {
	t.Helper()
	searcher, ok := s.(store.Searcher)
	if !ok {
		return
	}
	n := 0
	for _, source := range state.Sources {
		for i := range source.Parts {
			p := &source.Parts[i]
			if p.Vectors != nil {
				t.Errorf("the vectors of %s were loaded", source.Path)
			}
			for range p.Passages {
				got, err := searcher.Fetch(t.Context(), state, []int{n})
				if err != nil || len(got) != 1 || got[0] == nil {
					t.Fatalf("vectors %v, %v", got, err)
				}
				p.Vectors = append(p.Vectors, got[0]...)
				n++
			}
		}
	}
}

func emptyAtFirst(t *testing.T, s store.Store, _ func() store.Store) {
	if _, err := s.Load(t.Context()); !errors.Is(err, store.ErrEmpty) {
		t.Errorf("error %v", err)
	}
	if s.Location() == "" {
		t.Error("no location")
	}
	lease, err := s.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context()); !errors.Is(err, store.ErrEmpty) {
		t.Errorf("a lease alone makes it %v", err)
	}
}

func commitAndLoad(t *testing.T, s store.Store, again func() store.Store) {
	a, b, c := Source("a.md", "one", "two", "three"), Source("b.md"), Source("c ü.md", "x")
	commit(t, s, store.Change{Manifest: Manifest(), Reset: true, Put: []store.Source{b, c, a}})
	requireState(t, s, Manifest(), a, b, c)
	requireState(t, again(), Manifest(), a, b, c)

	a2, d := Source("a.md", "other"), Source("d.md", "new", "newer")
	commit(t, s, store.Change{Manifest: Manifest(), Remove: []string{"b.md", "absent.md"}, Put: []store.Source{a2, d}})
	requireState(t, again(), Manifest(), a2, c, d)
}

func resetReplaces(t *testing.T, s store.Store, again func() store.Store) {
	commit(t, s, store.Change{Manifest: Manifest(), Reset: true, Put: []store.Source{Source("a.md", "one"), Source("b.md", "two")}})
	m := store.Manifest{Embedder: "test/2", Dimensions: 2, Pipeline: "p2"}
	b := Source("b.md", "three")
	commit(t, s, store.Change{Manifest: m, Reset: true, Put: []store.Source{b}})
	requireState(t, again(), m, b)
}

func touch(t *testing.T, s store.Store, again func() store.Store) {
	a := Source("a.md", "one")
	commit(t, s, store.Change{Manifest: Manifest(), Reset: true, Put: []store.Source{a}})
	a.File = store.File{Path: "a.md", Size: 9, Modified: 99, Hash: sha256.Sum256([]byte("x"))}
	commit(t, s, store.Change{Manifest: Manifest(), Touch: []store.File{a.File, {Path: "absent.md"}}})
	requireState(t, again(), Manifest(), a)
}

func cancelled(t *testing.T, s store.Store, again func() store.Store) {
	a := Source("a.md", "one")
	commit(t, s, store.Change{Manifest: Manifest(), Reset: true, Put: []store.Source{a}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Commit(ctx, store.Change{Manifest: Manifest(), Reset: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	requireState(t, again(), Manifest(), a)
}

func oneLease(t *testing.T, s store.Store, again func() store.Store) {
	first, err := s.Lock(t.Context(), func() { t.Error("a free store was waited for") })
	if err != nil {
		t.Fatal(err)
	}
	other := again()
	if _, err := other.TryLock(); !errors.Is(err, durable.ErrLocked) {
		t.Fatalf("a second lease: %v", err)
	}
	waits := make(chan struct{})
	taken := make(chan error)
	go func() {
		second, err := other.Lock(t.Context(), func() { close(waits) })
		if err == nil {
			err = second.Release()
		}
		taken <- err
	}()
	<-waits
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
}

func waitingEnds(t *testing.T, s store.Store, again func() store.Store) {
	first, err := s.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := again().Lock(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func notes(t *testing.T, s store.Store, again func() store.Store) {
	one, two := store.Note{Key: sha256.Sum256([]byte("1")), Text: "eins"}, store.Note{Key: sha256.Sum256([]byte("2")), Text: "zwei"}
	requireNotes(t, s, nil)
	lease, err := s.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Remember(t.Context(), []store.Note{one}), s.Remember(t.Context(), []store.Note{two})); err != nil {
		t.Fatal(err)
	}
	requireNotes(t, again(), map[[sha256.Size]byte]string{one.Key: "eins", two.Key: "zwei"})
	if _, err := s.Load(t.Context()); !errors.Is(err, store.ErrEmpty) {
		t.Errorf("notes alone make it %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	commit(t, s, store.Change{Manifest: Manifest(), Reset: true, Put: []store.Source{Source("a.md", "one")}})
	requireNotes(t, again(), nil)
}

func requireNotes(t *testing.T, s store.Store, want map[[sha256.Size]byte]string) {
	t.Helper()
	notes, err := s.Notes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[[sha256.Size]byte]string{}
	for _, n := range notes {
		got[n.Key] = n.Text
	}
	if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("notes %v, want %v", got, want)
	}
}

// vectors holds a store that searches to what a comparison in memory finds.
func vectors(t *testing.T, s store.Store, again func() store.Store) {
	searcher, ok := s.(store.Searcher)
	if !ok {
		return // its vectors are loaded, and compared in memory
	}
	a, b := Source("a.md", "one", "two", "three"), Source("b ü.md", "x", "y")
	commit(t, s, store.Change{Manifest: Manifest(), Reset: true, Put: []store.Source{b, a}})
	state, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var numbers [][]float32
	for _, source := range []store.Source{a, b} {
		for _, p := range source.Parts {
			numbers = append(numbers, p.Vectors)
		}
	}
	flat, err := index.NewFlat(2, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	there := searcher.Vectors(state)
	for _, query := range [][]float32{{1, 0}, {0, 1}, {0.6, -0.8}} {
		for n := 1; n <= 6; n++ {
			want, err := flat.Nearest(t.Context(), query, n)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := there.Nearest(t.Context(), query, n); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("the %d nearest to %v: %v (%v), want %v", n, query, got, err, want)
			}
		}
		want, err := flat.Cosines(t.Context(), query, []int{4, 0, 2})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := there.Cosines(t.Context(), query, []int{4, 0, 2}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("cosines with %v: %v (%v), want %v", query, got, err, want)
		}
	}
	// Another process takes one away and changes the other.
	commit(t, again(), store.Change{Manifest: Manifest(), Remove: []string{"a.md"}, Put: []store.Source{Source("b ü.md", "z", "y")}})
	if got, err := there.Nearest(t.Context(), []float32{1, 0}, 5); err != nil || len(got) != 0 {
		t.Errorf("what is no longer there was found: %v, %v", got, err)
	}
	if got, err := there.Cosines(t.Context(), []float32{1, 0}, []int{0}); err != nil || len(got) != 1 || got[0] != 0 {
		t.Errorf("what is no longer there is like the query: %v, %v", got, err)
	}
}
