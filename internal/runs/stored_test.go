package runs_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/runs"
)

const fullAgent = `name: Help Desk
author: me
backend: agent_framework
instructions: {file: prompt.md}
model: {provider: offline, name: m, api_key: "${TOKEN}", script: [{do: [{text: hi}]}]}
tools:
  - {name: files, description: d, type: mcp, command: uvx, env: {PLAIN: canary-environment}, headers: {Accept: canary-header}}
evaluations: {metrics: [{metric: contains, on_missing: ignore}]}
test_cases:
  - {name: one, input: "hello ${TOKEN}", allow_empty: true, tags: [x]}
`

const fullPrompt = `---
version: 1.2
author: ada
tags: [a, b]
mood: canary-token-1
---
Be brief.
`

func (d *desk) full() {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "prompt.md"), []byte(fullPrompt), 0o644); err != nil {
		d.t.Fatal(err)
	}
	d.agent = d.load(fullAgent)
}

// The stored form of a run, whole, as the readers of the Python edition know it.
func TestStoredRun(t *testing.T) {
	d := newDesk(t)
	d.full()
	git := filepath.Join(d.dir, ".git")
	if err := os.Mkdir(git, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(git, "HEAD"), []byte("0123456789abcdef0123456789abcdef01234567\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stored := d.run(whole()...)
	got, err := os.ReadFile(stored.File())
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(got), "", "  "); err != nil || indented.String()+"\n" != string(got) {
		t.Errorf("it is not indented as it should be (%v):\n%s", err, got)
	}
	// The folder of the test has another name each time.
	got = bytes.ReplaceAll(got, []byte(toJSON(t, d.dir)[1:len(toJSON(t, d.dir))-1]), []byte("/agent"))
	golden := filepath.Join("testdata", "stored.json")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Separator == '/' && !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("the stored run is not %s any more:\n%s", golden, got)
	}
}

// Trap T1: readers refuse a run with a key too many in any of its objects.
func TestTrapT1StoredRunsHaveExactlyTheKeysTheirReadersKnow(t *testing.T) {
	d := newDesk(t)
	d.full()
	text, err := os.ReadFile(d.run(whole()...).File())
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	metadata, _ := doc["metadata"].(map[string]any)
	report, _ := doc["report"].(map[string]any)
	for _, tt := range []struct {
		name   string
		object any
		keys   string
	}{
		{"EvalRun", doc, "report metadata"},
		{"EvalRunMetadata", metadata, "agent_config prompt_version holodeck_version cli_args git_commit"},
		{"PromptVersion", metadata["prompt_version"], "version author description tags source file_path body_hash extra"},
		{"TestReport", report, "agent_name agent_config_path results summary timestamp holodeck_version environment"},
		{"ReportSummary", report["summary"], "total_tests passed failed pass_rate total_duration_ms metrics_evaluated average_scores"},
		{"Agent", metadata["agent_config"], `name description author model instructions response_format embedding_provider tools evaluations
			test_cases execution claude openai observability deployment`},
	} {
		object, _ := tt.object.(map[string]any)
		got := slices.Sorted(maps.Keys(object))
		if want := slices.Sorted(slices.Values(strings.Fields(tt.keys))); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %v, want %v", tt.name, got, want)
		}
	}
	summary, _ := report["summary"].(map[string]any)
	results, _ := report["results"].([]any)
	config, _ := metadata["agent_config"].(map[string]any)
	if report["agent_name"] != config["name"] {
		t.Error("the report and the configuration name two agents")
	}
	if n, _ := summary["total_tests"].(float64); int(n) != len(results) || summary["passed"].(float64)+summary["failed"].(float64) != n {
		t.Errorf("the counts do not agree: %v of %d", summary, len(results))
	}
	if report["timestamp"] != "2026-04-18T14:22:09.812345+00:00" {
		t.Errorf("the run is named after another time than %v", report["timestamp"])
	}
}

// Trap T14: no secret is in any file of a run, whatever its place in the agent
// file, the answers or the command line.
func TestTrapT14NoSecretIsInAnyFile(t *testing.T) {
	d := newDesk(t)
	d.full()
	d.agent = d.load(fullAgent + "  - {name: two, input: hi, expected_tools: [{name: f, args: {canary-token-1: {canary-token-1: 1}}}]}\n")
	h := d.header(1)
	h.Args = []string{"test", "agent.yaml", "--output=canary-token-1", "sk-proj-abcdefghij0123456789ABCD"}
	h.Selection = json.RawMessage(`{"only": ["canary-token-1"]}`)
	h.Environment["x"] = "canary-environment"
	r, err := d.store.Create(d.env, d.agent, h)
	if err != nil {
		t.Fatal(err)
	}
	c := numbered(0, runs.Failed)
	c.Turns[0].Answer = "the token is canary-token-1 and AKIAABCDEFGHIJKLMNOP"
	c.Turns[0].Errors = []string{"canary-header"}
	c.Turns[0].ToolCalls = []runs.ToolCall{{Name: "x", Arguments: json.RawMessage(`{"canary-token-1":"canary-environment"}`), Result: "canary-token-1"}}
	c.Redact(d.agent.Redactor) // as the runner does before anybody sees a case
	add(t, r, c)
	if _, err := r.Finish(runs.Incomplete, "canary-token-1", runs.Summary{Failed: 1}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	seen := 0
	for _, file := range files(t, filepath.Join(d.dir, "results")) {
		text, err := os.ReadFile(filepath.Join(d.dir, "results", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"canary", "sk-proj", "AKIA"} {
			if i := bytes.Index(text, []byte(secret)); i >= 0 {
				t.Errorf("%s holds %q", file, text[max(0, i-40):min(len(text), i+40)])
			}
		}
		seen++
	}
	if seen != 4 {
		t.Errorf("looked at %d files, want the run, journal, configuration and lock", seen)
	}
}

func TestStoringToAFullDiskIsTold(t *testing.T) {
	d := newDesk(t)
	stored := d.run(numbered(0, runs.Passed))
	if err := os.Remove(stored.File()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(stored.File(), 0o755); err != nil { // a folder stands in its place
		t.Fatal(err)
	}
	if err := runs.WriteStored(stored, d.agent); err == nil || !strings.Contains(err.Error(), stored.File()) {
		t.Errorf("got %v, want an error that names the file", err)
	}
	if left, err := filepath.Glob(filepath.Join(stored.Folder, ".*.tmp")); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
