package knowledge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
)

// hierarchicalSettings returns what a hierarchical_document tool's section says,
// and what of it cannot be done or has no effect.
func hierarchicalSettings(a *config.Agent, t *config.HierarchicalDocumentTool) (settings, []config.Problem) {
	s := settings{
		source: t.Source, topK: t.TopK, threshold: deref(t.MinScore),
		definitions: t.ExtractDefinitions, references: t.ExtractCrossReferences,
		structure: &chunk.StructureOptions{
			MaxTokens: t.MaxChunkTokens, Even: t.ChunkingStrategy == "token", Domain: string(t.DocumentDomain),
			Depth: deref(t.MaxSubsectionDepth), Definitions: t.ExtractDefinitions, References: t.ExtractCrossReferences,
		},
		ranking: index.Ranking{
			Mode: index.Mode(t.SearchMode), Fusion: index.Fusion(t.Fusion), K: t.RRFK,
			Semantic: t.SemanticWeight, Keyword: t.KeywordWeight, Exact: t.ExactWeight,
		},
	}
	if t.Wrote("chunk_overlap") {
		s.structure.Overlap = t.ChunkOverlap
	}
	if t.ContextualEmbeddings {
		s.contexts = contextsOf(a, t)
	}
	return s, append(unsupportedParts(t), checkHierarchical(a, t)...)
}

// contextsOf returns how contexts are written, or nil where no model can: the
// offline model of the agent has nothing to say of a document, and a scripted one
// only what its script expects.
func contextsOf(a *config.Agent, t *config.HierarchicalDocumentTool) *contextSettings {
	c := &contextSettings{model: t.ContextModel, maxTokens: t.ContextMaxTokens, concurrency: t.ContextConcurrency}
	if c.model == nil {
		if a.Model == nil || a.Model.Provider == config.ProviderOffline {
			return nil
		}
		c.model = a.Model
	}
	return c
}

// unsupportedParts says what of a tool this build does not have.
func unsupportedParts(t *config.HierarchicalDocumentTool) []config.Problem {
	var problems []config.Problem
	if t.EnableReranking {
		problems = append(problems, t.Problem(config.SeverityWarning, "enable_reranking", config.CodeUnsupported,
			"this build orders results by their scores, and asks no reranker yet", "remove enable_reranking and reranker_model"))
	}
	if k := t.KeywordIndex; k != nil && k.Provider != "" && k.Provider != "in-memory" {
		problems = append(problems, t.Problem(config.SeverityWarning, "keyword_index", config.CodeUnsupported,
			fmt.Sprintf("this build has no client for keyword index provider %s yet", k.Provider),
			"in-memory works, and every index keeps its words itself: remove keyword_index"))
	}
	if k := t.KeywordIndex; k != nil && (k.Provider == "" || k.Provider == "in-memory") {
		idle := []string{"endpoint", "index_name", "username", "password", "api_key", "verify_certs", "timeout_seconds"}
		for _, key := range append(idle, slices.Sorted(maps.Keys(k.Options))...) {
			if k.Wrote(key) {
				problems = append(problems, k.Problem(config.SeverityWarning, key, config.CodeNoEffect,
					"has no effect with provider in-memory", "remove it"))
			}
		}
	}
	return problems
}

// checkHierarchical says what of a tool contradicts itself or has no effect.
func checkHierarchical(a *config.Agent, t *config.HierarchicalDocumentTool) []config.Problem {
	var problems []config.Problem
	idle := func(why string, keys ...string) {
		for _, key := range keys {
			if t.Wrote(key) {
				problems = append(problems, t.Problem(config.SeverityWarning, key, config.CodeNoEffect, "has no effect: "+why, "remove the key"))
			}
		}
	}
	if depth := t.MaxSubsectionDepth; depth != nil {
		if err := chunk.CheckDepth(string(t.DocumentDomain), *depth); err != nil {
			problems = append(problems, t.Problem(config.SeverityError, "max_subsection_depth", config.CodeConflict, err.Error(), ""))
		}
	}
	if t.Wrote("chunk_overlap") && 2*t.ChunkOverlap > t.MaxChunkTokens {
		problems = append(problems, t.Problem(config.SeverityError, "chunk_overlap", config.CodeConflict,
			fmt.Sprintf("an overlap of %d tokens leaves little room in chunks of %d", t.ChunkOverlap, t.MaxChunkTokens),
			"make it at most half of max_chunk_tokens"))
	}
	switch {
	case t.SearchMode != config.SearchMode(index.Hybrid):
		idle("it is for search_mode hybrid", "semantic_weight", "keyword_weight", "exact_weight", "fusion", "rrf_k")
	case t.Fusion == config.SearchFusion(index.MinMax):
		idle("it is for fusion rrf", "rrf_k")
	}
	if m := t.ContextModel; m != nil && m.Wrote("max_tokens") {
		problems = append(problems, m.Problem(config.SeverityWarning, "max_tokens", config.CodeNoEffect,
			"has no effect: context_max_tokens bounds what the model writes", "remove the key"))
	}
	switch {
	case a.Offline:
	case !t.ContextualEmbeddings:
		idle("contextual_embeddings is off", "context_model", "context_max_tokens", "context_concurrency")
	case contextsOf(a, t) == nil:
		idle("the offline model writes no contexts; name a context_model", "contextual_embeddings", "context_max_tokens", "context_concurrency")
	}
	return problems
}
