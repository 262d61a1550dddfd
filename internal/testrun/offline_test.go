package testrun_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// offlineAgent is an agent that searches three documents.
const offlineAgent = `name: offline
model: {provider: offline, name: offline}
instructions: {inline: Answer from the documents.}
tools:
  - {type: vectorstore, name: kb, description: The shop's rules, source: docs}
`

// BenchmarkOfflineCases runs cases on the offline model with a real search in
// each.
func BenchmarkOfflineCases(b *testing.B) {
	dir := b.TempDir()
	for name, text := range map[string]string{
		"agent.yaml":       offlineAgent,
		"docs/returns.md":  "# Returns\n\nYou may return an order within thirty days. It must be unworn.\n",
		"docs/delivery.md": "# Delivery\n\nWe deliver to every country of the union. Parcels take two days.\n",
		"docs/payment.md":  "# Payment\n\nWe take cards and transfers. Cash is not taken.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	a, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	ctx, env := context.Background(), testEnv()
	set, err := tool.Open(ctx, env, a, tool.Options{Getenv: func(string) string { return "" }})
	if err != nil {
		b.Fatal(err)
	}
	defer set.Close()
	opened, err := backend.Open(ctx, env, a, set, llm.Open(env, llm.Options{}), backend.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close()
	const n = 1_000
	cases := manyCases(n)
	a.TestCases, a.Evaluations = cases.TestCases, cases.Evaluations
	b.ReportAllocs()
	for b.Loop() {
		if s := runWhole(b, a, opened, func() {}); s.Passed != n {
			b.Fatalf("%d of %d cases passed", s.Passed, n)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "cases/s")
}
