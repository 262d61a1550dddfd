package grader_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval/grader"
	"github.com/holodeck-go/holodeck/internal/worker"
)

func BenchmarkGrader(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "money.star")
	if err := os.WriteFile(file, []byte("def grade(ctx):\n    return any([c['name'] == 'refund' for c in ctx['tool_invocations']])\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	pool := worker.New(worker.Options{Dir: dir})
	defer pool.Close()
	for name, m := range map[string]*config.CodeMetric{
		"expr":   {Expr: `any(tool_calls, .name == "refund")`},
		"script": {Script: file, Function: "grade"},
	} {
		g, err := grader.Open(pool, m)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			c := refund()
			for b.Loop() {
				if v, err := g.Grade(b.Context(), c); err != nil || v.Score != 1 {
					b.Fatal(v, err)
				}
			}
		})
	}
}
