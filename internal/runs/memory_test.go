package runs_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// liveHeap returns how many bytes of the heap are in use once the garbage is
// gone.
func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// peak returns by how much the heap grew, at most, while a run of n long answers
// was kept, stored and read again.
func peak(t *testing.T, n int) uint64 {
	t.Helper()
	d := newDesk(t)
	answer := strings.Repeat("You may send it back within thirty days, unworn. ", 80)
	before, highest := liveHeap(), uint64(0)
	r := d.create(n)
	for i := range n {
		c := benchCase(i)
		c.Turns[0].Answer = answer
		add(t, r, c)
		if i%(n/4) == 0 {
			highest = max(highest, liveHeap())
		}
	}
	if _, err := r.Finish(runs.Finished, "", runs.Summary{Passed: n}); err != nil {
		t.Fatal(err)
	}
	highest = max(highest, liveHeap())
	done := 0
	for _, err := range open(t, r.Stored()).Each() {
		if err != nil {
			t.Fatal(err)
		}
		if done++; done%(n/4) == 0 {
			highest = max(highest, liveHeap())
		}
	}
	if done != n {
		t.Fatalf("%d of %d cases were read", done, n)
	}
	return highest - min(highest, before)
}

func TestMemoryDoesNotGrowWithTheNumberOfCases(t *testing.T) {
	few, many := peak(t, 300), peak(t, 3_000)
	if limit := few + 2<<20; many > limit {
		t.Errorf("3,000 cases took %d KiB, 300 cases %d KiB; want at most 2 MiB more", many>>10, few>>10)
	}
}
