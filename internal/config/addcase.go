package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
)

// CaseDraft is a test case that is to be written into a file.
type CaseDraft struct {
	Name  string // empty for none
	Turns []TurnDraft
}

// TurnDraft is what is said in a turn, and what is expected of the answer.
type TurnDraft struct {
	Input, GroundTruth string
	ExpectedTools      []string
	Files              []FileDraft
}

// FileDraft is a file that goes with an input.
type FileDraft struct{ Path, Type string }

// CasesFile returns the file that holds the agent's test cases, or would hold the
// first. The error says why none can be added to it.
func (a *Agent) CasesFile() (string, error) {
	if a.TestCasesFile == nil {
		return a.File, nil
	}
	file := a.Block.File("test_cases_file", *a.TestCasesFile)
	if strings.EqualFold(filepath.Ext(file), ".csv") {
		return "", fmt.Errorf("the test cases are in %s, whose columns are its own; add the case there by hand, or keep cases in a YAML file", file)
	}
	return file, nil
}

// AddCase returns the content of a file of test cases, or of an agent file, with
// a case more at the end of its cases. Nothing else of it is changed: comments,
// order and line ends stay. The error says why the case cannot be added.
//
// The text is changed, not written anew from its tree, and then read again: what
// does not have exactly the cases of before and the new one is refused.
func AddCase(file string, data []byte, draft CaseDraft) ([]byte, error) {
	if len(draft.Turns) == 0 {
		return nil, errors.New("a test case needs something that is said")
	}
	before, err := casesIn(file, data)
	if err != nil {
		return nil, fmt.Errorf("add a case to %s: %w", file, err)
	}
	for _, c := range before {
		if have, ok := c.(map[string]any); ok && draft.Name != "" && have["name"] == draft.Name {
			return nil, fmt.Errorf("%s has a test case called %q already; give another name", file, draft.Name)
		}
	}
	var changed string
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".jsonl", ".ndjson":
		changed = withLine(string(data), draft)
	default:
		changed, err = withEntry(string(data), draft)
	}
	if err == nil {
		var after []any
		if after, err = casesIn(file, []byte(changed)); err == nil && !grewBy(before, after, draft.tree()) {
			err = errors.New("the way its cases are written leaves no place for another; add it by hand")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("add a case to %s: %w", file, err)
	}
	return []byte(changed), nil
}

// grewBy reports whether after is before and one entry.
func grewBy(before, after []any, entry map[string]any) bool {
	return len(after) == len(before)+1 && (len(before) == 0 || reflect.DeepEqual(before, after[:len(before)])) && reflect.DeepEqual(after[len(before)], any(entry))
}

// casesIn returns the cases of a file as plain values, variables not substituted
// but for $${, which stands for a ${ in a YAML file.
func casesIn(file string, data []byte) ([]any, error) {
	src := &source{name: file}
	rep := &report{}
	list := &node{kind: kindList, src: src}
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".jsonl", ".ndjson":
		list.long = &jsonLines{src: src, text: string(data)}
	default:
		root := parseYAML(src, data, rep)
		if root != nil && root.kind == kindMap {
			root = root.get(casesKey)
		}
		if root == nil || root.kind == kindNull {
			break
		}
		if root.kind != kindList {
			return nil, fmt.Errorf("its %s are %s, not a list", casesKey, root.kind)
		}
		list = root
	}
	out := []any{}
	for _, item := range list.entries(rep) {
		if item != nil {
			out = append(out, plainValue(item, list.long == nil || list.long.substitutes()))
		}
	}
	if len(rep.problems) > 0 {
		return nil, errors.New(rep.problems[0].Text)
	}
	return out, nil
}

// plainValue returns a tree as maps, lists and the texts of scalars.
func plainValue(n *node, escaped bool) any {
	switch n.kind {
	case kindMap:
		out := map[string]any{}
		for _, f := range n.fields {
			out[f.key] = plainValue(f.value, escaped)
		}
		return out
	case kindList:
		out := []any{}
		for _, item := range n.items {
			out = append(out, plainValue(item, escaped))
		}
		return out
	case kindText:
		if escaped {
			return strings.ReplaceAll(n.text, "$${", "${")
		}
		return n.text
	}
	return n.kind.String() + " " + n.text // nothing of a draft is one of these
}

// tree returns the case as plain values.
func (d CaseDraft) tree() map[string]any {
	out := map[string]any{}
	if len(d.Turns) == 1 {
		out = d.Turns[0].tree()
	} else {
		turns := []any{}
		for _, t := range d.Turns {
			turns = append(turns, t.tree())
		}
		out["turns"] = turns
	}
	if d.Name != "" {
		out["name"] = d.Name
	}
	return out
}

func (t TurnDraft) tree() map[string]any {
	out := map[string]any{"input": t.Input}
	if t.GroundTruth != "" {
		out["ground_truth"] = t.GroundTruth
	}
	if len(t.ExpectedTools) > 0 {
		tools := []any{}
		for _, name := range t.ExpectedTools {
			tools = append(tools, name)
		}
		out["expected_tools"] = tools
	}
	if len(t.Files) > 0 {
		files := []any{}
		for _, f := range t.Files {
			files = append(files, map[string]any{"path": f.Path, "type": f.Type})
		}
		out["files"] = files
	}
	return out
}
