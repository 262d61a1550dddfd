package index

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/viterin/vek/vek32"
)

// Vectors finds passages by their vectors, which have length one. It is safe
// for concurrent use. [Flat] keeps them in memory; a store may keep them where
// they are.
type Vectors interface {
	// Nearest returns the n passages whose vectors have the highest cosines with
	// the query's, best first. All are compared, and none is left out.
	Nearest(ctx context.Context, query []float32, n int) ([]Neighbor, error)
	// Cosines returns the cosines of these passages with the query.
	Cosines(ctx context.Context, query []float32, passages []int) ([]float64, error)
}

// Neighbor is a passage near a query.
type Neighbor struct {
	Passage int
	Cosine  float64
}

// Compare orders the nearer first; of equal ones the earlier passage.
func (n Neighbor) Compare(other Neighbor) int {
	return scored{n.Passage, n.Cosine}.compare(scored{other.Passage, other.Cosine})
}

// Flat is Vectors in memory, compared one by one on all processors.
type Flat struct {
	dimensions int
	vectors    [][]float32 // of each part
	first      []int       // number of the first passage of each part
	passages   int
}

// NewFlat returns the vectors of parts, whose passages are numbered from 0 in
// order. Each part holds its vectors one after the other.
func NewFlat(dimensions int, parts ...[]float32) (*Flat, error) {
	if dimensions < 1 {
		return nil, fmt.Errorf("vectors of %d dimensions cannot be compared", dimensions)
	}
	f := &Flat{dimensions: dimensions}
	for i, vectors := range parts {
		if len(vectors)%dimensions != 0 {
			return nil, fmt.Errorf("part %d has %d numbers in its vectors, which have %d each", i, len(vectors), dimensions)
		}
		if len(vectors) == 0 {
			continue
		}
		f.vectors = append(f.vectors, vectors)
		f.first = append(f.first, f.passages)
		f.passages += len(vectors) / dimensions
	}
	return f, nil
}

// Len is the number of vectors.
func (f *Flat) Len() int { return f.passages }

// slicePassages is how many vectors one processor compares at a time.
const slicePassages = 4096

// stretch is a run of vectors of one part.
type stretch struct {
	first   int // passage
	vectors []float32
}

// stretches cuts the vectors into runs of about equal length.
func (f *Flat) stretches() []stretch {
	var out []stretch
	for i, vectors := range f.vectors {
		for from := 0; from < len(vectors); from += slicePassages * f.dimensions {
			to := min(from+slicePassages*f.dimensions, len(vectors))
			out = append(out, stretch{f.first[i] + from/f.dimensions, vectors[from:to]})
		}
	}
	return out
}

// Nearest implements Vectors.
func (f *Flat) Nearest(ctx context.Context, query []float32, n int) ([]Neighbor, error) {
	if err := f.fits(query); err != nil {
		return nil, err
	}
	work := f.stretches()
	workers := min(runtime.GOMAXPROCS(0), (f.passages+slicePassages-1)/slicePassages)
	found := make([]top, max(workers, 1))
	if workers <= 1 {
		found[0].limit = n
		for _, s := range work {
			f.scan(query, s, &found[0])
		}
	} else {
		f.share(query, n, work, found)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("compare vectors: %w", context.Cause(ctx))
	}
	best := found[0]
	for _, other := range found[1:] {
		for _, s := range other.heap {
			best.add(s)
		}
	}
	neighbors := make([]Neighbor, 0, len(best.heap))
	for _, s := range best.sorted() {
		neighbors = append(neighbors, Neighbor{s.passage, s.score})
	}
	return neighbors, nil
}

// share scans the stretches on several processors; each fills one of found.
func (f *Flat) share(query []float32, n int, work []stretch, found []top) {
	next := make(chan stretch, len(work))
	for _, s := range work {
		next <- s
	}
	close(next)
	var workers sync.WaitGroup
	for i := range found {
		found[i].limit = n
		workers.Go(func() {
			for s := range next {
				f.scan(query, s, &found[i])
			}
		})
	}
	workers.Wait()
}

// scan adds the vectors of a stretch to best.
func (f *Flat) scan(query []float32, s stretch, best *top) {
	for at, passage := 0, s.first; at < len(s.vectors); at, passage = at+f.dimensions, passage+1 {
		cosine := Round(float64(vek32.Dot(query, s.vectors[at:at+f.dimensions])))
		if !best.full(cosine) {
			best.add(scored{passage, cosine})
		}
	}
}

// Cosines implements Vectors.
func (f *Flat) Cosines(_ context.Context, query []float32, passages []int) ([]float64, error) {
	if err := f.fits(query); err != nil {
		return nil, err
	}
	cosines := make([]float64, len(passages))
	for i, passage := range passages {
		cosines[i] = Round(float64(vek32.Dot(query, f.of(passage))))
	}
	return cosines, nil
}

// of returns the vector of a passage.
func (f *Flat) of(passage int) []float32 {
	part := len(f.first) - 1
	for f.first[part] > passage {
		part--
	}
	at := (passage - f.first[part]) * f.dimensions
	return f.vectors[part][at : at+f.dimensions]
}

func (f *Flat) fits(query []float32) error {
	if len(query) != f.dimensions {
		return fmt.Errorf("a query of %d dimensions cannot be compared with vectors of %d", len(query), f.dimensions)
	}
	return nil
}
