package embed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Uncached returns the embedder of a provider without its memory.
func Uncached(e Embedder) Embedder { return e.(*cached).Embedder }

// slow is an embedder that takes a second and remembers what it was asked.
type slow struct {
	Hashing
	mu    sync.Mutex
	asked []string
	fail  int // calls that are to fail
}

func (s *slow) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.mu.Lock()
	s.asked = append(s.asked, texts...)
	fails := s.fail > 0
	s.fail--
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if fails {
		return nil, errors.New("not now")
	}
	return s.Hashing.Embed(ctx, texts)
}

// requireAsked fails unless the embedder was asked for these texts since the
// last time.
func (s *slow) requireAsked(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q, want %q", s.asked, want)
	}
	s.asked = nil
}

// requireVectors fails unless vectors are those of texts.
func requireVectors(t *testing.T, texts []string, vectors [][]float32, err error) {
	t.Helper()
	want, _ := NewHashing(0).Embed(context.Background(), texts)
	if err != nil || !slices.EqualFunc(vectors, want, slices.Equal[[]float32]) {
		t.Errorf("%q: other vectors, or %v", texts, err)
	}
}

func embedWith(t *testing.T, e Embedder, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), texts)
	requireVectors(t, texts, vectors, err)
	return vectors
}

func TestATextIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Hashing: NewHashing(0)}
		c := newCached(s, cacheBytes)
		embedWith(t, c, "lamp", "desk", "lamp")
		s.requireAsked(t, "lamp", "desk")
		clear(embedWith(t, c, "desk", "sofa", "lamp")[0]) // the caller's own
		s.requireAsked(t, "sofa")
		embedWith(t, c, "desk")
		embedWith(t, c)
		s.requireAsked(t)
	})
}

func TestTheOldestVectorsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Hashing: NewHashing(0)}
		c := newCached(s, 3*4*HashingDimensions)
		var texts []string
		for i := range 10 {
			texts = append(texts, fmt.Sprint("lamp ", i))
		}
		embedWith(t, c, texts...) // more than it remembers, and complete
		s.requireAsked(t, texts...)
		embedWith(t, c, texts[9], texts[8], texts[7])
		s.requireAsked(t)
		embedWith(t, c, texts[6])
		s.requireAsked(t, texts[6])
		embedWith(t, c, texts[7], texts[8])
		s.requireAsked(t, texts[7])
		if len(c.known) != 3 {
			t.Errorf("%d vectors are remembered, want 3", len(c.known))
		}
	})
}

func TestCallersShareWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Hashing: NewHashing(0)}
		c := newCached(s, cacheBytes)
		begin := time.Now()
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() { embedWith(t, c, "lamp", "desk") })
		}
		callers.Wait()
		s.requireAsked(t, "lamp", "desk")
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestAFailureIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Hashing: NewHashing(0), fail: 1}
		c := newCached(s, cacheBytes)
		var callers sync.WaitGroup
		callers.Go(func() {
			if v, err := c.Embed(t.Context(), []string{"lamp"}); v != nil || err == nil || !strings.Contains(err.Error(), "not now") {
				t.Errorf("vectors %v, error %v", v, err)
			}
		})
		synctest.Wait()
		callers.Go(func() { embedWith(t, c, "lamp") }) // waits, and then asks
		callers.Wait()
		s.requireAsked(t, "lamp", "lamp")
	})
}

func TestWhoWaitsForAnotherEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCached(&slow{Hashing: NewHashing(0)}, cacheBytes)
		var first sync.WaitGroup
		first.Go(func() { embedWith(t, c, "lamp") })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if v, err := c.Embed(ctx, []string{"lamp"}); v != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("vectors %v, error %v", v, err)
		}
		first.Wait()
	})
}
