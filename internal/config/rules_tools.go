package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// weightTolerance is how far the weights of hybrid search may be from 1 in sum.
const weightTolerance = 1e-6

// IsRetrieval reports whether a tool searches documents.
func IsRetrieval(t Tool) bool {
	switch t.Base().Type {
	case ToolVectorstore, ToolHierarchical:
		return true
	}
	return false
}

// CanonicalName returns the name under which events, reports, hooks and
// expected_tools know a tool: <name>_search for retrieval tools, <name> for
// others. (The tools of an MCP server are <name>__<tool>.)
func CanonicalName(t Tool) string {
	if IsRetrieval(t) {
		return t.Base().Name + "_search"
	}
	return t.Base().Name
}

// tools checks every tool, and the tools against one another.
func (c *checker) tools() {
	for _, tool := range c.agent.Tools {
		switch t := tool.(type) {
		case *VectorstoreTool:
			c.vectorstore(t)
		case *HierarchicalDocumentTool:
			c.hierarchical(t)
		case *FunctionTool:
			c.file(t.Block, "file", t.File)
		case *MCPTool:
			c.mcp(t)
		case *PromptTool:
			c.promptTool(t)
		case *SkillTool:
			c.skill(t)
		}
		c.idle(tool.Base().Block, "tools are always offered", "defer_loading")
	}
	c.toolNames()
	c.embeddingModels()
}

// toolNames reports names that two tools share.
func (c *checker) toolNames() {
	names, canonical := map[string]Tool{}, map[string]Tool{}
	for _, tool := range c.agent.Tools {
		b := tool.Base()
		if b.Name == "" {
			continue
		}
		if first, ok := names[b.Name]; ok {
			c.fail(b.Block, "name", CodeDuplicate,
				fmt.Sprintf("two tools are named %q, the first at %s", b.Name, first.Base().PosOf("name")), "give each tool a name of its own")
			continue
		}
		names[b.Name] = tool
		name := CanonicalName(tool)
		if first, ok := canonical[name]; ok {
			c.fail(b.Block, "name", CodeDuplicate,
				fmt.Sprintf("the model would know both %s and %s (at %s) as %q", b.Name, first.Base().Name, first.Base().PosOf("name"), name), "rename one of them")
			continue
		}
		canonical[name] = tool
	}
}

// embeddingModels reports tools that disagree on the embedding model.
func (c *checker) embeddingModels() {
	var first *ToolBase
	var model string
	for _, tool := range c.agent.Tools {
		var m *string
		switch t := tool.(type) {
		case *VectorstoreTool:
			m = t.EmbeddingModel
		case *HierarchicalDocumentTool:
			m = t.EmbeddingModel
		}
		b := tool.Base()
		switch {
		case m == nil || !b.known("embedding_model"):
		case first == nil:
			first, model = b, *m
		case *m != model:
			c.fail(b.Block, "embedding_model", CodeConflict,
				fmt.Sprintf("%q differs from %q of tool %s, and all tools of an agent share one", *m, model, first.Name), "use the same model in both")
		}
	}
}

// vectorstore checks a vectorstore tool.
func (c *checker) vectorstore(t *VectorstoreTool) {
	c.source(t.Block, t.Source)
	switch {
	case t.Wrote("vector_field"):
		if len(t.VectorField) == 0 || slices.ContainsFunc(t.VectorField, func(f string) bool { return strings.TrimSpace(f) == "" }) {
			c.fail(t.Block, "vector_field", CodeValue, "names no field", "name the fields that are searched, or remove the key")
		}
		if !t.Wrote("id_field") {
			c.fail(t.Block, "id_field", CodeMissing, "is required when vector_field is given (structured data mode)", "name the field that tells records apart")
		}
	default:
		c.idle(t.Block, "it needs vector_field", "id_field", "meta_fields", "field_separator", "delimiter", "record_path", "record_prefix", "meta_prefix")
	}
}

// hierarchical checks a hierarchical_document tool.
func (c *checker) hierarchical(t *HierarchicalDocumentTool) {
	c.source(t.Block, t.Source)
	if t.SearchMode == "hybrid" {
		sum := t.SemanticWeight + t.KeywordWeight + t.ExactWeight
		key := "semantic_weight"
		for _, k := range []string{"keyword_weight", "exact_weight"} {
			if !t.Wrote(key) && t.Wrote(k) {
				key = k
			}
		}
		switch {
		case math.Abs(sum-1) > weightTolerance:
			c.fail(t.Block, key, CodeConflict,
				fmt.Sprintf("the weights of hybrid search must add up to 1, and semantic_weight + keyword_weight + exact_weight is %.6g", sum), "weights that are not given keep their defaults")
		case t.SemanticWeight+t.KeywordWeight <= 0:
			c.fail(t.Block, key, CodeConflict, "semantic_weight and keyword_weight are both 0", "raise one of them, or choose another search_mode")
		}
	}
	switch {
	case t.EnableReranking && !t.Wrote("reranker_model"):
		c.fail(t.Block, "reranker_model", CodeMissing, "is required with enable_reranking", "name the model that orders the results")
	case !t.EnableReranking:
		c.idle(t.Block, "enable_reranking is off", "reranker_model")
	}
	if k := t.KeywordIndex; k != nil && k.Provider == "opensearch" {
		for _, key := range []string{"endpoint", "index_name"} {
			if !k.Wrote(key) {
				c.fail(k.Block, key, CodeMissing, "is required with provider opensearch", "")
			}
		}
	}
}

// promptTool checks a prompt tool.
func (c *checker) promptTool(t *PromptTool) {
	c.exactlyOne(t.Block, "template", "file")
	if t.File != nil {
		c.file(t.Block, "file", *t.File)
	}
	if len(t.Model) == 0 {
		return
	}
	keys := new(shapes).of(modelType).keys()
	for _, key := range sortedKeys(t.Model) {
		if !slices.Contains(keys, key) {
			c.warn(t.Block, "model", CodeNoEffect, fmt.Sprintf("key %q has no effect", key), didYouMean(key, keys))
		}
	}
}

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
	if t.Path != nil {
		c.skillFile(t)
	}
	if len([]rune(t.Description)) > maxSkillDescription {
		c.fail(t.Block, "description", CodeValue, fmt.Sprintf("is longer than %d characters", maxSkillDescription), "")
	}
	var others []string
	for _, tool := range c.agent.Tools {
		if tool.Base() != t.Base() && tool.Base().Name != "" {
			others = append(others, tool.Base().Name)
		}
	}
	for _, name := range t.AllowedTools {
		if !slices.Contains(others, name) && t.known("allowed_tools") {
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

// skillFile checks the folder of a skill and takes its description from the
// SKILL.md where the agent file gives none.
func (c *checker) skillFile(t *SkillTool) {
	if !c.folder(t.Block, "path", *t.Path) {
		return
	}
	file := filepath.Join(t.File("path", *t.Path), "SKILL.md")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		c.fail(t.Block, "path", CodeReference, notAFile(file, info, err), "the format is described at agentskills.io")
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
	header, _, _ := splitFrontmatter(text)
	root := parseYAML(src, []byte("\n"+header), c.rep)
	if root == nil {
		return
	}
	for _, key := range []string{"name", "description"} {
		if v := root.get(key); !v.isText() || strings.TrimSpace(v.text) == "" {
			c.rep.add(Problem{
				Path: key, Pos: Pos{File: file}, Severity: SeverityError, Code: CodeMissing,
				Text: "is required in the frontmatter of a SKILL.md", Hint: "the format is described at agentskills.io",
			})
		} else if key == "description" && !t.Wrote("description") {
			t.Description = v.text
		}
	}
}
