package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

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
