package index

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestBM25AgreesWithAnotherImplementation compares with the scores of
// testdata/README.md.
func TestBM25AgreesWithAnotherImplementation(t *testing.T) {
	data, err := os.ReadFile("testdata/bm25.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Passages []string
		Queries  []struct {
			Query  string
			Scores []float64
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	// In two parts, so that the numbers of one must add up with the other's.
	var parts []Part
	for _, texts := range [][]string{golden.Passages[:17], golden.Passages[17:]} {
		parts = append(parts, Part{Words: Analyzer{}.Analyze(texts)})
	}
	ix, err := New(parts, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(golden.Queries) == 0 {
		t.Fatal("no queries")
	}
	for _, q := range golden.Queries {
		got := ix.keyword(q.Query).bm25
		if len(got) != len(q.Scores) {
			t.Fatalf("%d scores, want %d", len(got), len(q.Scores))
		}
		for i, want := range q.Scores {
			if math.Abs(got[i]-want) > 1e-6 {
				t.Errorf("%q, passage %d: %.9f, want %.9f", q.Query, i, got[i], want)
			}
		}
	}
}
