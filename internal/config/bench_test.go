package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// largeAgent is an agent file of the size of a real one with many cases: 6
// tools, 12 metrics, a response format and the given number of cases.
func largeAgent(cases int) string {
	var b strings.Builder
	b.WriteString(`name: large
description: An agent file of the size of a real one.
model: {provider: openai, name: gpt, api_key: '${OPENAI_API_KEY}', temperature: 0.2}
instructions: {file: prompt.md}
response_format:
  type: object
  properties:
`)
	for i := range 12 {
		fmt.Fprintf(&b, "    field_%d: {type: array, items: {type: object, properties: {name: {type: string, description: The name of an entry.}, risk: {type: string, enum: [high, low]}}}}\n", i)
	}
	b.WriteString("tools:\n")
	for i := range 6 {
		fmt.Fprintf(&b, `  - type: vectorstore
    name: tool_%d
    description: Searches documents of one kind.
    source: docs
    embedding_model: text-embedding-3-small
    database: main
    top_k: 5
    chunk_size: 512
    min_similarity_score: 0.7
`, i)
	}
	b.WriteString("evaluations:\n  model: {provider: openai, name: judge}\n  metrics:\n")
	for i := range 12 {
		fmt.Fprintf(&b, `    - type: geval
      name: Metric %d
      criteria: |
        Judge whether the answer addresses the question.
        A good answer names the next step.
      evaluation_params: [input, actual_output]
      threshold: 0.8
`, i)
	}
	b.WriteString("test_cases:\n")
	for i := range cases {
		fmt.Fprintf(&b, `  - name: Case %d
    input: "How do I reset the password of account %d?"
    ground_truth: "Go to the login page, click Forgot Password and follow the link."
    expected_tools: [tool_1, {name: tool_2, count: 1}]
`, i, i)
	}
	return b.String()
}

func BenchmarkLoad(b *testing.B) {
	for _, cases := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprintf("cases=%d", cases), func(b *testing.B) {
			dir := b.TempDir()
			for name, text := range map[string]string{
				"agent.yaml":  largeAgent(cases),
				"config.yaml": "providers: {openai: {provider: openai, name: gpt, max_tokens: 500}}\nvectorstores: {main: {provider: qdrant, connection_string: 'http://localhost:6333'}}\n",
				"prompt.md":   "---\nversion: 1\n---\nHelp.\n",
				"docs/a.md":   "text",
			} {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			info, err := os.Stat(filepath.Join(dir, "agent.yaml"))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := config.Load(dir, config.Options{WorkDir: dir, Environ: []string{"OPENAI_API_KEY=a-key-for-tests"}}); len(problems) > 0 {
					b.Fatal(problems)
				}
			}
		})
	}
}
