package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// notStored are rows of the key table that are not part of a stored agent: its
// cases stand there whatever file they come from.
var notStored = []string{"Agent.test_cases_file"}

// TestSnapshotHasTheKeysOfTheTable gives each key of the table a value and
// looks at every section of the snapshot: it has exactly the keys of the table,
// and null only where the table allows it.
func TestSnapshotHasTheKeysOfTheTable(t *testing.T) {
	table := readKeyTable(t)
	dir := keyTableDir(t)
	seen := map[string]bool{}
	for _, r := range table.rows {
		if r.key == "*" {
			continue
		}
		section := table.minimal(r.section)
		beside(section, r.section+"."+r.key, r.section+"."+r.key+" alone")
		section[r.key] = table.sample(r, r.typ)
		agent, problems := loadDocument(t, dir, table.document(r.section, section))
		if config.HasErrors(problems) {
			t.Fatalf("%s.%s: %v", r.section, r.key, problems)
		}
		table.compare(t, "Agent", "", snapshot(t, agent), seen)
		if t.Failed() {
			t.Fatalf("with %s.%s", r.section, r.key)
		}
	}
	for _, r := range table.rows {
		if !seen[r.section] {
			t.Errorf("no snapshot had a %s", r.section)
			seen[r.section] = true
		}
	}
}

// snapshot returns the snapshot of an agent, decoded.
func snapshot(t *testing.T, a *config.Agent) any {
	t.Helper()
	var buf bytes.Buffer
	if err := a.WriteSnapshot(&buf, "    "); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, buf.Bytes(), "    ", "  "); err != nil {
		t.Fatalf("%v in\n%s", err, &buf)
	}
	if indented.String() != buf.String() {
		t.Fatalf("the snapshot is not indented as it should be:\n%s", &buf)
	}
	var doc any
	if err := json.Unmarshal(buf.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// compare compares a section with its rows.
func (k *keyTable) compare(t *testing.T, section, path string, v any, seen map[string]bool) {
	t.Helper()
	seen[section] = true
	object, _ := v.(map[string]any)
	open := false
	want := map[string]row{}
	for _, r := range k.rows {
		switch {
		case r.section != section, slices.Contains(notStored, r.section+"."+r.key):
		case r.key == "*":
			open = true
		default:
			want[r.key] = r
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, ok := object[key]
		if !ok {
			t.Errorf("%s has no %s", path, key)
			continue
		}
		if value == nil && !strings.Contains(want[key].typ, "null") && want[key].typ != "any" {
			t.Errorf("%s.%s is null", path, key)
		}
		k.compareType(t, want[key].typ, path+"."+key, value, seen)
	}
	for key := range object {
		if _, ok := want[key]; !ok && !open {
			t.Errorf("%s has %s, which is none of the table", path, key)
		}
	}
}

// compareType compares the sections in a value of a type.
func (k *keyTable) compareType(t *testing.T, typ, path string, v any, seen map[string]bool) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		if inner, ok := strings.CutPrefix(typ, "["); ok {
			inner, _, _ = strings.Cut(inner, "]")
			for i, item := range v {
				k.compareType(t, inner, fmt.Sprintf("%s[%d]", path, i), item, seen)
			}
		}
	case map[string]any:
		if inner, ok := strings.CutPrefix(typ, "{"); ok {
			inner, _, _ = strings.Cut(inner, "}")
			for key, item := range v {
				k.compareType(t, inner, path+"."+key, item, seen)
			}
			return
		}
		var candidates []string
		for _, name := range strings.Split(typ, "|") {
			if k.has(name) {
				candidates = append(candidates, name)
			}
		}
		for _, name := range candidates {
			if len(candidates) == 1 || sectionType(name) == v["type"] {
				k.compare(t, name, path, v, seen)
				return
			}
		}
		if len(candidates) > 0 {
			t.Errorf("%s is of type %v, and the table knows %s", path, v["type"], typ)
		}
	}
}

// sectionType returns the value of the type key by which a section of a union
// is told.
func sectionType(section string) string {
	return map[string]string{
		"VectorstoreTool": "vectorstore", "FunctionTool": "function", "MCPTool": "mcp", "PromptTool": "prompt",
		"HierarchicalDocumentToolConfig": "hierarchical_document",
		"EvaluationMetric":               "standard", "GEvalMetric": "geval", "RAGMetric": "rag", "CodeMetric": "code",
	}[section]
}

const snapshotAgent = `
name: snap
author: me
backend: agent_framework
model:
  provider: offline
  name: m
  script: [{do: [{text: hi}]}]
instructions: {inline: Be brief.}
execution: {turn_timeout: 5}
permissions: {disallowed_tools: [x]}
tools:
  - name: helper
    description: d
    type: skill
    instructions: Help.
  - name: files
    description: d
    type: mcp
    command: uvx
    env: {PLAIN: canary-environment}
    config: {password: canary-config, depth: 1.5}
  - name: kb
    description: d
    type: vectorstore
    source: docs
    database: {provider: qdrant, connection_string: canary-connection, api_key: canary-option, collection: c}
response_format: {type: object}
evaluations:
  metrics:
    - {metric: contains, on_missing: ignore}
test_cases:
  - name: one
    input: "canary-${TOKEN}"
    allow_empty: true
    files: [{path: file.txt, type: pdf, pages: [1, "3-5"]}]
    expected_tools: [kb, {name: kb, args: {n: {fuzzy: "1"}, "k-canary-token": {"deep-canary-token": 1}}}]
`

// Keys that are ours are left out, values are not changed, and no secret stands
// in a snapshot, in a mapping or elsewhere.
func TestSnapshotMasksAndLeavesOutWhatIsOurs(t *testing.T) {
	dir := keyTableDir(t)
	file := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(file, []byte(snapshotAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	agent, problems := config.Load(file, config.Options{WorkDir: dir, Environ: []string{"TOKEN=canary-token"}})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	doc := snapshot(t, agent)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "canary-token") || strings.Contains(strings.ReplaceAll(string(text), "canary-[redacted]", ""), "canary") {
		t.Errorf("a secret stands in %s", text)
	}
	for _, want := range []string{
		`"provider":"offline"`, `"api_key":null`, `"author":"me"`, `"description":null`, `"llm_timeout":60`,
		`"config":{"depth":1.5,"password":"[redacted]"}`, `"env":{"PLAIN":"[redacted]"}`, `"collection":"c"`, `"response_format":{"type":"object"}`,
		`"metric":"contains"`, `"input":"[redacted]"`, `"expected_tools":["kb",{"args":{"k-[redacted]":{"deep-[redacted]":1},"n":{"fuzzy":"1"}},"count":1,"name":"kb"}]`,
		`"pages":[1,3,4,5]`, `{"defer_loading":true,"description":"d","name":"helper","type":"skill"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	for _, ours := range []string{"script", "backend", "turn_timeout", "permissions", "on_missing", "allow_empty", "hooks", "id", "tags", "vars", "repeat"} {
		if strings.Contains(string(text), `"`+ours+`":`) {
			t.Errorf("%s is in %s", ours, text)
		}
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestSnapshotTellsThatItCouldNotBeWritten(t *testing.T) {
	a := &config.Agent{Name: strings.Repeat("x", 10_000)}
	if err := a.WriteSnapshot(&failingWriter{left: 100}, ""); err == nil {
		t.Error("the error of the writer is lost")
	}
}

func TestPageRangesInJSON(t *testing.T) {
	pages := config.Pages{{First: 1, Last: 1}, {First: 3, Last: 5}}
	text, err := json.Marshal(pages)
	if err != nil || string(text) != `[1,"3-5"]` {
		t.Errorf("got %s, %v", text, err)
	}
	var back config.Pages
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back, pages) {
		t.Errorf("read back as %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["x"]`), &back); err == nil {
		t.Error("what is no range was read")
	}
}
