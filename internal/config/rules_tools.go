package config

import (
	"fmt"
	"math"
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
			c.function(t)
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
	c.skillCycles()
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
