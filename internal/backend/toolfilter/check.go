package toolfilter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
)

// Check says where tools cannot be compared for want of an embedder, and warns
// of names that are no tool's.
func Check(a *config.Agent) []config.Problem {
	s := a.ToolFiltering
	if s == nil || !s.Enabled {
		return nil
	}
	var problems []config.Problem
	if s.Embeds() && a.EmbeddingProvider == nil {
		if _, err := embed.Resolve(a); err != nil {
			problems = append(problems, s.Problem(config.SeverityError, "search_method", config.CodeMissing,
				fmt.Sprintf("%s compares by meaning, and no embedder can be derived from a model of %s", s.SearchMethod, a.Model.Provider),
				"set embedding_provider, or use search_method: bm25"))
		}
	}
	tools, complete := known(a)
	if !complete {
		return problems
	}
	for i, glob := range s.AlwaysInclude {
		if slices.ContainsFunc(tools, func(d agent.Definition) bool { return means(glob, d) }) {
			continue
		}
		p := s.Problem(config.SeverityWarning, "always_include", config.CodeNoEffect,
			fmt.Sprintf("%q matches none of the agent's tools", glob), hint(glob, tools))
		p.Path = fmt.Sprintf("%s[%d]", p.Path, i)
		problems = append(problems, p)
	}
	return problems
}

// known returns the agent's tools as far as the file tells, and whether that is
// all of them.
func known(a *config.Agent) (tools []agent.Definition, complete bool) {
	complete = !a.Offline
	for _, t := range a.Tools {
		b := t.Base()
		d := agent.Definition{Name: b.Name, Source: string(b.Type)}
		switch b.Type {
		case config.ToolVectorstore, config.ToolHierarchical:
			d.Name += "_search"
		case config.ToolMCP:
			complete = false // only opening a server tells what it has
		}
		tools = append(tools, d)
	}
	return tools, complete
}

// hint says what to write instead of a name.
func hint(glob string, tools []agent.Definition) string {
	names := make([]string, len(tools))
	for i, d := range tools {
		names[i] = d.Name
	}
	if best := config.Nearest(glob, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(names) == 0 {
		return "it has none"
	}
	return "they are " + strings.Join(names, ", ")
}
