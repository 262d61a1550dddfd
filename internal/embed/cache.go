package embed

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
)

// cacheBytes bounds the vectors that a cached embedder remembers: some 5,400 of
// 1,536 numbers.
const cacheBytes = 32 << 20

// cached is an embedder that asks another one only for texts whose vectors it
// does not remember, also when several callers want the same text at once. When
// it has cacheBytes of vectors it forgets the oldest.
type cached struct {
	Embedder
	bytes int // of vectors that are remembered, or one vector

	mu     sync.Mutex
	known  map[textHash]*memory
	order  []textHash // of the vectors that are remembered; a ring once it is full
	oldest int        // its place in order
}

type textHash = [sha256.Size]byte

// memory is the vector of a text, remembered or on its way.
type memory struct {
	come   chan struct{} // closed when it is no longer on its way
	vector []float32     // when it has come
	failed bool          // it did not come
}

// newCached returns e with a memory of at most so many bytes of vectors, and of
// one vector at least.
func newCached(e Embedder, bytes int) *cached {
	return &cached{Embedder: e, bytes: bytes, known: map[textHash]*memory{}}
}

// Embed implements Embedder. What another caller failed to get, it asks for
// itself.
func (c *cached) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	hashes := make([]textHash, len(texts))
	open := make([]int, len(texts)) // places of texts without a vector
	for i, t := range texts {
		hashes[i], open[i] = sha256.Sum256([]byte(t)), i
	}
	vectors := make([][]float32, len(texts))
	for len(open) > 0 {
		wanted, mine := c.claim(hashes, open)
		// What others wait for comes first, so that no two wait for each other.
		if err := c.fetch(ctx, texts, hashes, wanted, mine); err != nil {
			return nil, err
		}
		var again []int
		for _, i := range open {
			select {
			case <-wanted[hashes[i]].come:
			case <-ctx.Done():
				return nil, fmt.Errorf("wait for the vector of a text: %w", context.Cause(ctx))
			}
			if m := wanted[hashes[i]]; m.failed {
				again = append(again, i)
			} else {
				vectors[i] = slices.Clone(m.vector)
			}
		}
		open = again
	}
	return vectors, nil
}

// claim returns the memories of the open texts, and the places of those that
// are now the caller's to fetch.
func (c *cached) claim(hashes []textHash, open []int) (wanted map[textHash]*memory, mine []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted = make(map[textHash]*memory, len(open))
	for _, i := range open {
		m, ok := c.known[hashes[i]]
		if !ok {
			m = &memory{come: make(chan struct{})}
			c.known[hashes[i]] = m
			mine = append(mine, i)
		}
		wanted[hashes[i]] = m
	}
	return wanted, mine
}

// fetch asks for the vectors of the texts that the caller claimed. When it
// fails, the claims are given up.
func (c *cached) fetch(ctx context.Context, texts []string, hashes []textHash, wanted map[textHash]*memory, mine []int) error {
	if len(mine) == 0 {
		return nil
	}
	var vectors [][]float32
	defer func() { // whatever happens: others may be waiting
		c.mu.Lock()
		defer c.mu.Unlock()
		for n, i := range mine {
			m := wanted[hashes[i]]
			if m.failed = vectors == nil; m.failed {
				delete(c.known, hashes[i])
			} else {
				m.vector = vectors[n]
				c.keep(hashes[i], len(m.vector))
			}
			close(m.come)
		}
	}()
	asked := make([]string, len(mine))
	for n, i := range mine {
		asked[n] = texts[i]
	}
	got, err := c.Embedder.Embed(ctx, asked)
	if err != nil {
		return err
	}
	if len(got) != len(asked) {
		return fmt.Errorf("embedder %s gave %d vectors for %d texts", c.Model(), len(got), len(asked))
	}
	vectors = got
	return nil
}

// keep makes a vector that came, of so many numbers as all have, the youngest, and
// forgets the oldest when there are too many. The caller holds c.mu.
func (c *cached) keep(h textHash, numbers int) {
	if len(c.order) < max(1, c.bytes/(4*max(1, numbers))) {
		c.order = append(c.order, h)
		return
	}
	delete(c.known, c.order[c.oldest])
	c.order[c.oldest] = h
	c.oldest = (c.oldest + 1) % len(c.order)
}
