package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
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

// withLine adds a case to JSON Lines.
func withLine(text string, d CaseDraft) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + jsonText(d.tree()) + "\n"
}

// jsonText returns a value of a draft as JSON in one line.
func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null" // strings, lists and maps can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withEntry adds a case to YAML, or to JSON.
func withEntry(text string, d CaseDraft) (string, error) {
	d = d.escaped()
	lineEnd := "\n"
	if strings.Contains(text, "\r\n") {
		lineEnd = "\r\n"
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	parsed, err := parseText(strings.Join(lines, "\n"))
	if err != nil {
		return "", fmt.Errorf("it is not valid YAML: %s", firstLine(err.Error()))
	}
	list, key, err := findCases(parsed)
	if err != nil {
		return "", err
	}
	switch {
	case list == nil && key == nil:
		for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
		lines = append(lines, "", casesKey+":")
		lines = append(lines, d.yaml(2)...)
		lines = append(lines, "")
	case list == nil: // the key without a value
		at := key.Position.Line
		lines = insert(lines, at, d.yaml(key.Position.Column+1))
	case list.IsFlowStyle:
		if lines, err = withFlowEntry(lines, list, d); err != nil {
			return "", err
		}
	default:
		indent := list.Start.Position.Column - 1
		lines = insert(lines, endOfList(lines, list.Start.Position.Line-1, indent), d.yaml(indent))
	}
	return strings.Join(lines, lineEnd), nil
}

func insert(lines []string, at int, more []string) []string {
	return append(lines[:at:at], append(more, lines[at:]...)...)
}

// findCases returns the list of cases in a document, or the token of the key
// that has no value, or neither when there is no such key.
func findCases(file *ast.File) (*ast.SequenceNode, *token.Token, error) {
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			body = doc.Body
		}
	}
	var pairs []*ast.MappingValueNode
	switch v := body.(type) {
	case *ast.SequenceNode:
		return v, nil, nil
	case *ast.MappingNode:
		if v.IsFlowStyle {
			return nil, nil, errors.New("it is written in braces; add it by hand")
		}
		pairs = v.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{v}
	default:
		return nil, nil, errors.New("it is not a mapping")
	}
	for _, pair := range pairs {
		if pair.Key.GetToken().Value != casesKey {
			continue
		}
		value := pair.Value
		if anchor, ok := value.(*ast.AnchorNode); ok {
			value = anchor.Value
		}
		switch v := value.(type) {
		case *ast.SequenceNode:
			return v, nil, nil
		case *ast.NullNode:
			if v.Token.Value == "" || v.Token.Type == token.ImplicitNullType {
				return nil, pair.Key.GetToken(), nil
			}
		}
		return nil, nil, fmt.Errorf("its %s are not written as a list there; add it by hand", casesKey)
	}
	return nil, nil, nil
}

// endOfList returns the line after the last one of a block list whose first entry
// is in line first: blank lines and comments at its end stay behind it.
func endOfList(lines []string, first, indent int) int {
	end := first + 1
	for i := first + 1; i < len(lines); i++ {
		_, in, _ := lineOf(lines[i])
		content := strings.TrimSpace(lines[i])
		switch {
		case content == "":
			continue
		case in > indent, in == indent && isEntry(content):
			end = i + 1
			continue
		case strings.HasPrefix(content, "#"):
			continue
		}
		return end
	}
	return end
}

// withFlowEntry adds a case to a list in brackets, as JSON.
func withFlowEntry(lines []string, list *ast.SequenceNode, d CaseDraft) ([]string, error) {
	at := list.End.Position
	if at.Line < 1 || at.Line > len(lines) {
		return nil, errors.New("the end of its list is not found; add it by hand")
	}
	line := []rune(lines[at.Line-1])
	if at.Column < 1 || at.Column > len(line) || line[at.Column-1] != ']' {
		return nil, errors.New("the end of its list is not found; add it by hand")
	}
	comma := ""
	if len(list.Values) > 0 {
		comma = ", "
	}
	out := append([]string(nil), lines...)
	out[at.Line-1] = strings.TrimRight(string(line[:at.Column-1]), " ") + comma + jsonText(d.tree()) + string(line[at.Column-1:])
	return out, nil
}

// yaml returns the case as the lines of a list entry.
func (d CaseDraft) yaml(indent int) []string {
	var w yamlLines
	if d.Name != "" {
		w.scalar(1, "name", d.Name)
	}
	if len(d.Turns) == 1 {
		d.Turns[0].yaml(&w, 1)
	} else {
		w.add(1, "turns:")
		for _, t := range d.Turns {
			var turn yamlLines
			t.yaml(&turn, 1)
			w.entry(2, turn)
		}
	}
	var out yamlLines
	out.entry(0, w)
	for i := range out {
		if out[i] != "" {
			out[i] = strings.Repeat(" ", indent) + out[i]
		}
	}
	return out
}

// yaml writes the turn at a level.
func (t TurnDraft) yaml(w *yamlLines, level int) {
	w.scalar(level, "input", t.Input)
	if t.GroundTruth != "" {
		w.scalar(level, "ground_truth", t.GroundTruth)
	}
	if len(t.ExpectedTools) > 0 {
		w.add(level, "expected_tools: ["+strings.Join(t.ExpectedTools, ", ")+"]")
	}
	if len(t.Files) > 0 {
		w.add(level, "files:")
		for _, f := range t.Files {
			w.add(level+1, fmt.Sprintf("- {path: %s, type: %s}", jsonText(f.Path), f.Type))
		}
	}
}

// escaped returns the case with everything escaped that looks like a variable and
// is text.
func (d CaseDraft) escaped() CaseDraft {
	escape := func(s string) string { return strings.ReplaceAll(s, "${", "$${") }
	out := CaseDraft{Name: escape(d.Name)}
	for _, t := range d.Turns {
		t.Input, t.GroundTruth, t.Files = escape(t.Input), escape(t.GroundTruth), slices.Clone(t.Files)
		for i := range t.Files {
			t.Files[i].Path = escape(t.Files[i].Path)
		}
		out.Turns = append(out.Turns, t)
	}
	return out
}

// yamlLines are lines of YAML, two spaces a level.
type yamlLines []string

func (w *yamlLines) add(level int, text string) {
	*w = append(*w, strings.Repeat("  ", level)+text)
}

// entry adds lines that stand at level 1 as an entry of a list at a level.
func (w *yamlLines) entry(level int, lines yamlLines) {
	for i, line := range lines {
		if i == 0 {
			line = "- " + strings.TrimPrefix(line, "  ")
		}
		if line != "" {
			line = strings.Repeat("  ", level) + line
		}
		*w = append(*w, line)
	}
}

// isPlainText reports whether YAML reads a text as it stands.
func isPlainText(s string) bool {
	const more = " _./'()$+=-?!,;"
	if s == "" || !isLetter(s[0]) || strings.HasSuffix(s, " ") || plainKind(s) != kindText || isTruthWord(s) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// scalar adds a key and its text: as it is, as a block, or in quotes.
func (w *yamlLines) scalar(level int, key, text string) {
	switch {
	case isPlainText(text):
		w.add(level, key+": "+text)
	case isBlockText(text):
		w.add(level, key+": |-")
		for line := range strings.SplitSeq(text, "\n") {
			if line == "" {
				*w = append(*w, "")
				continue
			}
			w.add(level+1, line)
		}
	default:
		w.add(level, key+": "+jsonText(text))
	}
}

// isBlockText reports whether a text can stand as a block: of several lines, of
// which the first is not indented, without blanks or breaks at its end.
func isBlockText(s string) bool {
	if !strings.Contains(s, "\n") || strings.TrimSpace(s) != s || strings.HasPrefix(s, "#") {
		return false
	}
	for _, r := range s {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0x2028 || r == 0x2029) {
			return false
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.TrimSpace(line) == "" && line != "" {
			return false
		}
	}
	return true
}

// isTruthWord reports whether older readers of YAML take a word for a truth
// value.
func isTruthWord(s string) bool {
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off", "y", "n":
		return true
	}
	return false
}
