package embed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// Choice says which embedder an agent uses.
type Choice struct {
	// Model holds the provider, the embedding model's name and the credentials.
	Model config.Model
	// Dimensions is the length of a vector; zero means the model's own.
	Dimensions int
}

// Resolve returns the embedder the agent's retrieval tools use. All tools of
// an agent share it.
//
// The provider and its credentials come from embedding_provider, or from model
// where that provider can embed. The model's name is, in this order, the
// tools' embedding_model, the name in embedding_provider, the provider's
// default. An agent under --offline uses the offline embedder, whatever the
// file says.
func Resolve(a *config.Agent) (Choice, error) {
	if a.Offline {
		return Choice{Model: config.Model{Provider: config.ProviderOffline, Name: hashingName}}, nil
	}
	c, err := section(a)
	if err != nil {
		return Choice{}, err
	}
	names := map[string][]string{} // tools by the embedding_model they ask for
	widths := map[int][]string{}
	for _, t := range Tools(a) {
		if t.Model != "" {
			names[t.Model] = append(names[t.Model], t.Name)
			c.Model.Name = t.Model
		}
		if t.Dimensions != 0 {
			widths[t.Dimensions] = append(widths[t.Dimensions], t.Name)
			c.Dimensions = t.Dimensions
		}
	}
	if len(names) > 1 || len(widths) > 1 {
		return Choice{}, fmt.Errorf("the retrieval tools of an agent share one embedding model; " +
			"give them the same embedding_model and embedding_dimensions")
	}
	return c, nil
}

// section returns the choice as the agent's sections make it, without what
// the tools say.
func section(a *config.Agent) (Choice, error) {
	if m := a.EmbeddingProvider; m != nil {
		if m.Provider == config.ProviderAnthropic {
			return Choice{}, fmt.Errorf("embedding_provider: anthropic has no embedding models; use openai, azure_openai, ollama, google or offline")
		}
		c := Choice{Model: *m}
		if strings.TrimSpace(c.Model.Name) == "" {
			c.Model.Name = defaultName(m.Provider)
		}
		return c, nil
	}
	if a.Model == nil {
		return Choice{}, fmt.Errorf("the agent has no model to derive an embedding provider from")
	}
	switch a.Model.Provider {
	case config.ProviderAnthropic, config.ProviderGoogle:
		return Choice{}, fmt.Errorf("embedding_provider is required when retrieval tools are used with model provider %s", a.Model.Provider)
	}
	c := Choice{Model: *a.Model}
	c.Model.Name = defaultName(c.Model.Provider)
	return c, nil
}

// defaultName is the embedding model of a provider when none is named.
func defaultName(p config.Provider) string {
	switch p {
	case config.ProviderOllama:
		return "nomic-embed-text:latest"
	case config.ProviderGoogle:
		return "gemini-embedding-001"
	case config.ProviderOffline:
		return hashingName
	}
	return "text-embedding-3-small"
}

// Tool is what a retrieval tool says of its embedding.
type Tool struct {
	Base       *config.ToolBase
	Name       string // of the tool
	Model      string // embedding_model, or empty
	Dimensions int    // embedding_dimensions, or zero
}

// Tools returns the agent's retrieval tools, in file order.
func Tools(a *config.Agent) []Tool {
	var tools []Tool
	for _, t := range a.Tools {
		tool := Tool{Base: t.Base(), Name: t.Base().Name}
		switch t := t.(type) {
		case *config.VectorstoreTool:
			tool.Model, tool.Dimensions = deref(t.EmbeddingModel), deref(t.EmbeddingDimensions)
		case *config.HierarchicalDocumentTool:
			tool.Model = deref(t.EmbeddingModel)
		default:
			continue
		}
		tools = append(tools, tool)
	}
	return tools
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Needed reports whether searching with a tool takes vectors. One that searches by
// words alone, or to the letter, has none.
func Needed(t config.Tool) bool {
	switch t := t.(type) {
	case *config.VectorstoreTool:
		return true
	case *config.HierarchicalDocumentTool:
		switch t.SearchMode {
		case "keyword", "exact":
			return false
		case "hybrid":
			return t.SemanticWeight > 0
		}
		return true
	}
	return false
}

// Check says what is missing to reach the embedder, and warns of settings that
// the chosen embedder does not use. It says nothing of an agent that embeds
// nothing, or under --offline.
func Check(a *config.Agent) []config.Problem {
	tools := Tools(a)
	if !slices.ContainsFunc(a.Tools, Needed) && !a.ToolFiltering.Embeds() || a.Offline {
		return nil
	}
	c, err := Resolve(a)
	if err != nil {
		return nil // config says it, with a position
	}
	if c.Model.Provider != config.ProviderOffline {
		if a.Replay {
			return nil // what was found is part of the record
		}
		_, problems := provider.Resolve(&c.Model, a.Variable)
		return problems
	}
	var problems []config.Problem
	for _, t := range tools {
		if t.Model != "" {
			problems = append(problems, t.Base.Problem(config.SeverityWarning, "embedding_model", config.CodeNoEffect,
				fmt.Sprintf("provider offline has one embedding model, and %q is not used", t.Model),
				"remove embedding_model, or name another embedding_provider"))
		}
	}
	return problems
}
