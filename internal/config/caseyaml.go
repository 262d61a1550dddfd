package config

import (
	"fmt"
	"slices"
	"strings"
)

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
