package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/tool/function"
	"github.com/holodeck-go/holodeck/internal/tool/prompt"
)

// opener opens the entries of an agent file's tools list. Its fields are what
// the kinds of tool need between them.
type opener struct {
	env      agent.Env
	agent    *config.Agent
	opts     Options
	embedder embed.Embedder // nil where no search tool needs one
	done     atomic.Bool    // every entry is open
}

// opened is what one entry of the list became: an MCP server is many tools.
type opened struct {
	tools  []agent.Tool
	closer io.Closer // nil when there is nothing to close
	// server is set in place of tools where they may change.
	server     server
	perSession *perSession // set when every session has a server of its own
}

// open opens one entry. Several are opened at once.
func (o *opener) open(ctx context.Context, t config.Tool) (opened, error) {
	switch t := t.(type) {
	case *config.VectorstoreTool, *config.HierarchicalDocumentTool:
		return o.search(ctx, t)
	case *config.FunctionTool:
		return o.function(ctx, t)
	case *config.MCPTool:
		return o.mcp(ctx, t)
	case *config.PromptTool:
		return o.prompt(t)
	case *config.SkillTool:
		return opened{}, nil // what it is done by is opened when the other tools are there
	}
	return opened{}, fmt.Errorf("there is no opener for tools of type %s", t.Base().Type)
}

// function opens a tool that is the user's own code.
func (o *opener) function(ctx context.Context, t *config.FunctionTool) (opened, error) {
	f, err := function.Open(ctx, o.opts.Code, t, o.opts.Notice)
	if err != nil {
		return opened{}, err
	}
	return opened{tools: []agent.Tool{f}}, nil
}

// prompt opens a tool that asks a model.
func (o *opener) prompt(t *config.PromptTool) (opened, error) {
	if o.opts.Models == nil {
		return opened{}, &agent.ToolError{Tool: t.Name, Err: errors.New("there are no models to ask")}
	}
	p, err := prompt.Open(o.env, o.agent, t, o.opts.Models)
	if err != nil {
		return opened{}, &agent.ToolError{Tool: t.Name, Err: err}
	}
	return opened{tools: []agent.Tool{p}}, nil
}
