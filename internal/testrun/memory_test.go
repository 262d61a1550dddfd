package testrun_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

// manyCases returns an agent with n cases that search, answer and are scored.
func manyCases(n int) *config.Agent {
	contains := metric("contains")
	contains.CaseInsensitive = true
	cases := make([]config.TestCase, n)
	for i := range cases {
		cases[i] = ask(fmt.Sprintf("How do I return order %d?", i), "thirty days")
		cases[i].ExpectedTools = []config.ExpectedTool{{Name: "kb", Bare: true, Count: 1}}
	}
	a := suite([]config.Metric{contains}, cases...)
	a.Execution.ParallelTestCases = 4
	return a
}

// searcher is a backend that calls a tool and gives an answer of that length.
func searcher(length int) *fake {
	answer := strings.Repeat("You may send it back within thirty days, unworn. ", length/49+1)[:length]
	return &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) {
		return calls(strings.Clone(answer), "kb_search", `{"query": "return"}`), nil
	}}
}

// runWhole runs the cases as the command does: shown and written down.
func runWhole(tb testing.TB, a *config.Agent, b agent.Backend, each func()) runs.Summary {
	tb.Helper()
	screen := report.NewTerminal(report.Options{Out: io.Discard, Total: a.TestCases.Len()})
	file := runs.NewReportWriter(io.Discard, runs.Run{Agent: a.Name})
	s, err := testrun.Run(context.Background(), testEnv(), a, b, testrun.Options{
		Progress: screen,
		Results: func(c *runs.Case) error {
			each()
			if err := screen.Case(c); err != nil {
				return err
			}
			return file.Add(c)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := screen.End(s); err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(s); err != nil {
		tb.Fatal(err)
	}
	return s
}

// liveHeap returns how many bytes of the heap are in use once the garbage is
// gone.
func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// peak returns by how much the heap grew, at most, while n cases ran.
func peak(t *testing.T, n int) uint64 {
	t.Helper()
	const answer = 4 << 10 // long enough that keeping the cases would show
	a := manyCases(n)
	before, highest, done := liveHeap(), uint64(0), 0
	s := runWhole(t, a, searcher(answer), func() {
		if done++; done%(n/4) == 0 {
			highest = max(highest, liveHeap())
		}
	})
	if s.Passed != n {
		t.Fatalf("%d of %d cases passed", s.Passed, n)
	}
	return highest - min(highest, before)
}

func TestMemoryDoesNotGrowWithTheNumberOfCases(t *testing.T) {
	few, many := peak(t, 1_000), peak(t, 10_000)
	if limit := few + 10<<20; many > limit {
		t.Errorf("10,000 cases took %d KiB, 1,000 cases %d KiB; want at most 10 MiB more", many>>10, few>>10)
	}
}

func BenchmarkCases(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a, backend := manyCases(n), searcher(300)
			b.ReportAllocs()
			for b.Loop() {
				runWhole(b, a, backend, func() {})
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "cases/s")
		})
	}
}
