package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// dump returns a tree with the place of every value, for comparison.
func dump(b *strings.Builder, n *node) {
	if n.kind == kindList || n.kind == kindMap {
		fmt.Fprintf(b, "%d:%d ", n.line, n.col) // the parser places some scalars by what follows them
	}
	fmt.Fprintf(b, "%s %q", n.kind, n.text)
	for _, f := range n.fields {
		fmt.Fprintf(b, "\n%d:%d %q: ", f.line, f.col, f.key)
		dump(b, f.value)
	}
	for _, item := range n.entries(&report{}) {
		b.WriteString("\n- ")
		dump(b, item)
	}
}

// hasEmptyEntry reports whether a list has an entry without a value.
func hasEmptyEntry(n *node) bool {
	for _, f := range n.fields {
		if hasEmptyEntry(f.value) {
			return true
		}
	}
	return slices.ContainsFunc(n.items, func(item *node) bool { return item.kind == kindNull || hasEmptyEntry(item) })
}

// compareSplit reads a document in pieces of one entry and whole, and reports
// whether it could be split.
func compareSplit(t *testing.T, text string) bool {
	t.Helper()
	src := &source{name: "a.yaml"}
	var splitReport, wholeReport report
	text, ok := decodeText(src, []byte(text), &splitReport)
	if !ok {
		return false
	}
	split, ok := parseSplit(src, text, 1, &splitReport)
	if !ok {
		if len(splitReport.problems) > 0 {
			t.Errorf("problems of a document that was not split: %v", splitReport.problems)
		}
		return false
	}
	if hasEmptyEntry(split) {
		return true // the parser takes the key after one for a part of it when it reads the whole
	}
	whole := parseYAML(src, []byte(text), &wholeReport)
	if whole == nil {
		return true // the parser stumbles over some tags and keys after an entry that a piece ends with
	}
	var a, b strings.Builder
	dump(&a, split)
	dump(&b, whole)
	if a.String() != b.String() {
		t.Errorf("split:\n%s\nwhole:\n%s", a.String(), b.String())
	}
	SortProblems(splitReport.problems)
	SortProblems(wholeReport.problems)
	if !reflect.DeepEqual(splitReport.problems, wholeReport.problems) {
		t.Errorf("split: %v\nwhole: %v", splitReport.problems, wholeReport.problems)
	}
	return true
}

var splitDocuments = []struct {
	name, text string
	split      bool
}{
	{"a key's list", "name: a\ntest_cases:\n  - input: one\n    name: n\n\n  # a comment\n  - {input: two}\n  -\n    input: three\nmodel:\n  provider: p\n", true},
	{"a key's list without indentation", "test_cases: # many\n- a\n- b: |\n    - no entry\n\n    # no comment\n  c: d\n- - e\n  - f\nz: 1\n", true},
	{"a document that is a list", "# cases\n---\n- a: 1\n- b: 2\n# end\n", true},
	{"the longest of several", "a:\n- 1\nb:\n- 1\n- 2\n- 3\nc:\n  - 1\n", true},
	{"anchors before and within", "x-a: &a [1]\nlist:\n- &b {c: *a}\n- *b\n- *a\n", true},
	{"keys given twice", "list:\n- {a: 1, a: 2}\n- {b: 1, b: 2}\n", true},
	{"an anchor afterwards", "list:\n- *a\n- b\nx-a: &a [1]\n", false},
	{"an anchor used afterwards", "list:\n- &a 1\n- 2\nb: *a\n", false},
	{"a quoted text over lines", "list:\n- \"a\n- b\"\n- c\n", false},
	{"a quoted text that looks like a list", "a: \"b\nlist:\n- c\n- d\"\n", false},
	{"two documents", "list:\n- a\n- b\n---\nc: d\n", false},
	{"a broken entry", "list:\n- a: b: c\n- d\n", false},
	{"a flow list", "list: [a,\n b]\n", false},
	{"no list", "a: b\n", false},
}

func TestSplitReadsWhatTheWholeDocumentSays(t *testing.T) {
	for _, tt := range splitDocuments {
		t.Run(tt.name, func(t *testing.T) {
			if got := compareSplit(t, tt.text); got != tt.split {
				t.Errorf("split: %v", got)
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, d := range splitDocuments {
		f.Add(d.text)
	}
	f.Fuzz(func(t *testing.T, text string) { compareSplit(t, text) })
}
