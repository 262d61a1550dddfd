package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// MaxPromptSize is the largest prompt or schema file that is read, in bytes.
const MaxPromptSize = 1 << 20

// prompt resolves the system prompt.
func (l *loader) prompt(a *Agent) {
	in := a.Instructions
	switch {
	case in == nil:
	case in.Inline != nil && in.File != nil:
		l.rep.add(in.Problem(SeverityError, "file", CodeConflict, "inline is given, too", "keep one of the two"))
	case in.Inline != nil:
		a.Prompt = newPrompt(*in.Inline)
		a.Prompt.Source = "inline"
	case in.File != nil:
		text, ok := l.readReference(in.Block, "file", *in.File, MaxPromptSize)
		if !ok {
			return
		}
		header, body, open := splitFrontmatter(text)
		a.Prompt = newPrompt(strings.TrimSpace(body))
		a.Prompt.Source, a.Prompt.FilePath = "file", *in.File
		file := in.Block.File("file", *in.File)
		if open {
			l.rep.add(Problem{
				Pos: Pos{File: file, Line: 1, Column: 1}, Severity: SeverityWarning, Code: CodeSyntax,
				Text: "the frontmatter that begins here has no end, so all of it is part of the prompt", Hint: "close it with a line --- of its own",
			})
		}
		l.frontmatter(&a.Prompt, l.source(file, LayerAgent), header)
		if a.Prompt.Text == "" {
			l.refuse(file, CodeValue, "holds no prompt", "write the instructions into it")
		}
	case !in.Wrote("inline") && !in.Wrote("file"):
		l.rep.add(in.Problem(SeverityError, "", CodeMissing, "needs inline or file", "give one of the two"))
	}
}

// newPrompt returns a prompt that is text and nothing else.
func newPrompt(text string) Prompt {
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	return Prompt{Text: text, Version: "auto-" + hash[:8], BodyHash: hash, Tags: []string{}, Extra: map[string]any{}}
}

// splitFrontmatter splits a text into the YAML block between two --- lines at
// its start, and the rest. A text without such a block is all body; open says
// that it begins like one with keys.
func splitFrontmatter(text string) (header, body string, open bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, false
	}
	for end := 0; end < len(rest); {
		line, _, more := strings.Cut(rest[end:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:end], rest[min(len(rest), end+len(line)+1):], false
		}
		if !more {
			break
		}
		end += len(line) + 1
	}
	first, _, _ := strings.Cut(rest, "\n")
	key, _, isKey := strings.Cut(first, ":")
	return "", text, isKey && isToolName(strings.TrimRight(key, " "))
}

// frontmatter reads the header of a prompt file into the prompt.
func (l *loader) frontmatter(p *Prompt, src *source, header string) {
	if header == "" {
		return
	}
	// The line of the fence keeps the positions right.
	root := parseYAML(src, []byte("\n"+header), &l.rep)
	if root == nil || root.kind == kindNull {
		return
	}
	if root.kind != kindMap {
		l.rep.add(Problem{
			Pos: root.pos(), Severity: SeverityError, Code: CodeType,
			Text: fmt.Sprintf("the frontmatter is %s; it must be a mapping", root.kind), Hint: "write keys such as version: 1.2 between the --- lines",
		})
		return
	}
	d := l.decoder(SeverityError)
	for _, f := range root.fields {
		at := keyPath{key: f.key, index: -1}
		switch f.key {
		case "version":
			p.Version = l.headerText(f.value, at)
		case "author":
			p.Author = l.headerText(f.value, at)
		case "description":
			p.Description = l.headerText(f.value, at)
		case "tags":
			items := []*node{f.value}
			if f.value.kind == kindList {
				items = f.value.items
			}
			for _, item := range items {
				p.Tags = append(p.Tags, l.headerText(item, at))
			}
		default:
			p.Extra[f.key] = d.free(f.value, at)
		}
	}
}

// headerText returns a scalar of a frontmatter as it was written.
func (l *loader) headerText(n *node, at keyPath) string {
	if n.kind == kindList || n.kind == kindMap {
		l.rep.add(Problem{Path: at.String(), Pos: n.pos(), Severity: SeverityError, Code: CodeType, Text: fmt.Sprintf("is %s; it must be text", n.kind)})
	}
	return n.text
}

// readReference reads the text file that a key names. Problems of the
// reference stand at the key, problems of the text in the file.
func (l *loader) readReference(b Block, key, path string, limit int64) (string, bool) {
	if k := b.key(key); k == nil || k.unset {
		return "", false // the variable in it is reported
	}
	file := b.File(key, path)
	info, err := os.Stat(file)
	if err != nil || info.IsDir() || !info.Mode().IsRegular() {
		l.rep.add(b.Problem(SeverityError, key, CodeReference, notAFile(file, info, err), "the path is relative to the file that mentions it"))
		return "", false
	}
	src := l.source(file, LayerAgent)
	data, ok := readFile(src, file, limit, &l.rep)
	if !ok {
		return "", false
	}
	return decodeText(src, data, &l.rep)
}
