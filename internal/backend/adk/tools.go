//go:build !noadk

package adk

import (
	"slices"

	adkagent "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"
	"google.golang.org/genai"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// offered are the tools that a turn offers, as ADK sees a set of tools.
type offered struct{}

// Name implements adktool.Toolset.
func (offered) Name() string { return "holodeck" }

// Tools implements adktool.Toolset.
func (offered) Tools(ctx adkagent.ReadonlyContext) ([]adktool.Tool, error) {
	r := runOf(ctx)
	list := make([]adktool.Tool, len(r.offered))
	for i, d := range r.offered {
		list[i] = handle{d}
	}
	return list, nil
}

// handle is a tool of the agent behind ADK's interface. It has neither the
// arguments nor the result: they stay with the run.
type handle struct{ def agent.Definition }

// Name implements adktool.Tool.
func (h handle) Name() string { return toolName(h.def.Name) }

// Description implements adktool.Tool.
func (h handle) Description() string { return h.def.Description }

// IsLongRunning implements adktool.Tool.
func (h handle) IsLongRunning() bool { return false }

// Declaration is what ADK tells a model of the tool.
func (h handle) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{
		Name: h.Name(), Description: h.def.Description, ParametersJsonSchema: h.def.Schema,
	}
}

// ProcessRequest puts the tool into a request.
func (h handle) ProcessRequest(_ adkagent.Context, req *model.LLMRequest) error {
	return toolutils.PackTool(req, h)
}

// Run makes the call that ctx names.
func (h handle) Run(ctx adkagent.Context, _ any) (map[string]any, error) {
	return runOf(ctx).dispatch(ctx.FunctionCallID()), nil
}

// notOffered makes a call of a tool that the turn does not offer, or that there
// is not: ADK knows neither, and the tool set tells them apart.
func notOffered(ctx adkagent.Context, t adktool.Tool, _ map[string]any, err error) (map[string]any, error) {
	if _, ours := t.(handle); ours {
		return nil, err
	}
	return runOf(ctx).dispatch(ctx.FunctionCallID()), nil
}

// definitions returns the tools of a request, in its order.
func definitions(req *model.LLMRequest) []agent.Definition {
	if req.Config == nil {
		return nil
	}
	var list []agent.Definition
	for _, t := range req.Config.Tools {
		for _, d := range t.FunctionDeclarations {
			if h, ok := req.Tools[d.Name].(handle); ok {
				list = append(list, h.def)
			}
		}
	}
	return list
}

// executesCode reports whether the model's provider is to run code.
func executesCode(req *model.LLMRequest) bool {
	return req.Config != nil && slices.ContainsFunc(req.Config.Tools, func(t *genai.Tool) bool { return t.CodeExecution != nil })
}
