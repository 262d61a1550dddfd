package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of a skill, as the agent skills format sets them (agentskills.io).
const (
	maxSkillName        = 64
	maxSkillDescription = 1024
)

// skill checks a skill tool, and reads what its SKILL.md says of it.
func (c *checker) skill(t *SkillTool) {
	if t.Name != "" && t.known("name") && (len(t.Name) > maxSkillName || !isSkillName(t.Name)) {
		c.fail(t.Block, "name", CodeValue, fmt.Sprintf("%q is not a skill name: lower-case words of letters and digits, joined by single hyphens, %d characters at most", t.Name, maxSkillName), "such as refund-policy")
	}
	c.exactlyOne(t.Block, "instructions", "path")
	if t.Wrote("instructions") && !t.Wrote("path") && !t.Wrote("description") {
		c.fail(t.Block, "description", CodeMissing, "is required with instructions", "say when the skill is to be used")
	}
	if t.Instructions != nil {
		t.Prompt = strings.TrimSpace(*t.Instructions)
	}
	if t.Path != nil {
		c.skillFile(t)
	}
	if len([]rune(t.Description)) > maxSkillDescription {
		c.fail(t.Block, "description", CodeValue, fmt.Sprintf("is longer than %d characters", maxSkillDescription), "")
	}
	c.skillTools(t)
}

// skillTools reports tools that a skill may call and that are not there. What an
// MCP server has only opening it tells.
func (c *checker) skillTools(t *SkillTool) {
	if !t.known("allowed_tools") {
		return
	}
	var others, servers []string
	for _, tool := range c.agent.Tools {
		b := tool.Base()
		if b == t.Base() || b.Name == "" {
			continue
		}
		others = append(others, b.Name)
		if b.Type == ToolMCP {
			servers = append(servers, b.Name+"__")
		}
	}
	for _, name := range t.AllowedTools {
		if slices.Contains(others, name) || slices.Contains(others, strings.TrimSuffix(name, "_search")) ||
			slices.ContainsFunc(servers, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		hint := didYouMean(name, others)
		switch {
		case len(others) == 0:
			hint = "there are no others"
		case hint == "":
			hint = "the others are " + strings.Join(others, ", ")
		}
		c.fail(t.Block, "allowed_tools", CodeReference, fmt.Sprintf("skill %s: %q is not another tool of the agent", t.Name, name), hint)
	}
}

// skillCycles refuses skills that may call themselves by way of others: nothing
// but a limit would ever end them.
func (c *checker) skillCycles() {
	skills := map[string]*SkillTool{}
	for _, tool := range c.agent.Tools {
		if t, ok := tool.(*SkillTool); ok {
			skills[t.Name] = t
		}
	}
	// wayBack returns the skills from name to target, each of which may call the next.
	var wayBack func(name, target string, seen map[string]bool) []string
	wayBack = func(name, target string, seen map[string]bool) []string {
		t := skills[name]
		if t == nil || seen[name] {
			return nil
		}
		seen[name] = true
		for _, next := range t.AllowedTools {
			if next == target {
				return []string{name, next}
			}
			if way := wayBack(next, target, seen); way != nil {
				return append([]string{name}, way...)
			}
		}
		return nil
	}
	told := map[string]bool{}
	for _, tool := range c.agent.Tools {
		t, ok := tool.(*SkillTool)
		if !ok || told[t.Name] {
			continue
		}
		way := wayBack(t.Name, t.Name, map[string]bool{})
		if len(way) <= 2 { // none; that a skill names itself is reported as such
			continue
		}
		for _, name := range way {
			told[name] = true
		}
		c.fail(t.Block, "allowed_tools", CodeConflict,
			fmt.Sprintf("skills may call one another in a circle: %s", strings.Join(way, " → ")), "take one of them out of another's allowed_tools")
	}
}

// isSkillName reports whether s matches ^[a-z0-9]+(-[a-z0-9]+)*$.
func isSkillName(s string) bool {
	for _, word := range strings.Split(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// skillFile checks the folder of a skill and takes from its SKILL.md what the
// child agent is told, and the description where the agent file gives none.
func (c *checker) skillFile(t *SkillTool) {
	if !c.folder(t.Block, "path", *t.Path) {
		return
	}
	t.Folder = t.File("path", *t.Path)
	file := filepath.Join(t.Folder, "SKILL.md")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		c.fail(t.Block, "path", CodeReference, notAFile(file, info, err), skillFormat)
		return
	}
	src := &source{name: file, dir: filepath.Dir(file), layer: LayerAgent}
	data, ok := readFile(src, file, MaxPromptSize, c.rep)
	if !ok {
		return
	}
	text, ok := decodeText(src, data, c.rep)
	if !ok {
		return
	}
	header, body, _ := splitFrontmatter(text)
	root := parseYAML(src, []byte("\n"+header), c.rep)
	if root == nil {
		return
	}
	for _, key := range []string{"name", "description"} {
		if v := root.get(key); !v.isText() || strings.TrimSpace(v.text) == "" {
			c.rep.add(Problem{
				Path: key, Pos: Pos{File: file}, Severity: SeverityError, Code: CodeMissing,
				Text: "is required in the frontmatter of a SKILL.md", Hint: skillFormat,
			})
		} else if key == "description" && !t.Wrote("description") {
			t.Description = v.text
		}
	}
	if v := root.get("allowed-tools"); v != nil && !t.Wrote("allowed_tools") {
		c.rep.add(Problem{
			Path: "allowed-tools", Pos: v.pos(), Severity: SeverityWarning, Code: CodeNoEffect,
			Text: "has no effect: which tools a skill may call is said by allowed_tools in the agent file", Hint: fmt.Sprintf("add allowed_tools to tool %s there", t.Name),
		})
	}
	if t.Prompt = strings.TrimSpace(body); t.Prompt == "" {
		c.rep.add(Problem{
			Pos: Pos{File: file}, Severity: SeverityError, Code: CodeValue,
			Text: "holds no instructions", Hint: "write them below the frontmatter",
		})
	}
}

// skillFormat is where the format of a SKILL.md is described.
const skillFormat = "the format is described at agentskills.io"
