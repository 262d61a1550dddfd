package index

import (
	"cmp"
	"math"
	"slices"
)

// scored is a passage with a score.
type scored struct {
	passage int
	score   float64
}

// compare orders the better first; of equal scores the earlier passage.
func (a scored) compare(b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.passage, b.passage))
}

// top keeps the best of what it is given. It is a heap with the worst at its
// root.
type top struct {
	limit int
	heap  []scored
}

// add takes s, unless limit others are better.
func (t *top) add(s scored) {
	switch {
	case len(t.heap) < t.limit:
		t.heap = append(t.heap, s)
		for i := len(t.heap) - 1; i > 0; {
			parent := (i - 1) / 2
			if t.heap[i].compare(t.heap[parent]) < 0 {
				break
			}
			t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
			i = parent
		}
	case t.limit > 0 && s.compare(t.heap[0]) < 0:
		t.heap[0] = s
		t.sink()
	}
}

// sink moves the root to where it belongs.
func (t *top) sink() {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.heap[child].compare(t.heap[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// full reports whether a score that is not above the worst is not taken.
func (t *top) full(score float64) bool {
	return len(t.heap) == t.limit && (t.limit == 0 || score < t.heap[0].score)
}

// sorted returns what was kept, best first.
func (t *top) sorted() []scored {
	slices.SortFunc(t.heap, scored.compare)
	return t.heap
}

// Round returns a score or a cosine in the precision that they are compared in.
func Round(score float64) float64 { return math.Round(score*precision) / precision }
