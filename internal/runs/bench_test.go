package runs_test

import (
	"fmt"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// benchCase is a case as most are: one turn, a call, a metric.
func benchCase(i int) *runs.Case {
	c := scored(i, runs.Passed, "contains", 1)
	c.Turns[0].Input = fmt.Sprintf("How many days do I have to return order %d?", i)
	c.Turns[0].Answer = "You may send it back within thirty days, unworn. [policies/returns.md]"
	c.Turns[0].GroundTruth = new("thirty days")
	c.Turns[0].ToolCalls = []runs.ToolCall{{Name: "docs_search", CallID: "1", Arguments: []byte(`{"query":"return order"}`), Result: "Returns: within thirty days."}}
	c.Turns[0].ToolChecks = []runs.ToolCheck{{Rule: runs.RuleExpected, Expected: config.ExpectedTool{Name: "docs", Bare: true, Count: 1}, Matched: true}}
	return c
}

func BenchmarkRecorderAdd(b *testing.B) {
	d := newDesk(b)
	r := d.create(1)
	c := benchCase(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Add(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteStored(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := newDesk(b)
			r := d.create(n)
			for i := range n {
				if err := r.Add(benchCase(i)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := runs.WriteStored(r.Stored(), d.agent); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "cases/s")
		})
	}
}

func BenchmarkOverview(b *testing.B) {
	d := newDesk(b)
	r := d.create(10_000)
	for i := range 10_000 {
		if err := r.Add(benchCase(i)); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := r.Finish(runs.Finished, "", runs.Summary{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Stored().Overview(); err != nil {
			b.Fatal(err)
		}
	}
}
