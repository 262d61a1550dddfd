package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// tool is a tool or a prompt of a server.
type tool struct {
	client *Client
	listed
}

// Definition implements agent.Tool.
func (t *tool) Definition() agent.Definition { return t.def }

// Call implements agent.Tool.
func (t *tool) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	s, err := t.client.acquire(ctx)
	if err != nil {
		return agent.ToolResult{}, err
	}
	result, err := t.send(ctx, s, args)
	if t.resend(err) {
		t.client.drop(s)
		if s, err = t.client.acquire(ctx); err != nil {
			return agent.ToolResult{}, err
		}
		result, err = t.send(ctx, s, args)
	}
	if broken(err) && t.client.config.Transport == config.MCPStdio {
		t.client.note(s, err)
	}
	return result, err
}

// broken reports whether a call failed because its connection did.
func broken(err error) bool {
	var connection *ConnectionError
	return errors.As(err, &connection) && !errors.Is(err, context.DeadlineExceeded)
}

// resend says whether a call that failed may be sent again over a new connection:
// the server has not got it, or it does no harm to run it twice.
func (t *tool) resend(err error) bool {
	var connection *ConnectionError
	return broken(err) && errors.As(err, &connection) && (connection.unsent || t.repeatable)
}

// send makes the call on a connection.
func (t *tool) send(ctx context.Context, s *session, args json.RawMessage) (agent.ToolResult, error) {
	if t.prompt {
		return t.getPrompt(ctx, s, args)
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	params := &sdk.CallToolParams{Name: t.raw, Arguments: args, Meta: s.logLevelMeta()}
	var result *sdk.CallToolResult
	err := s.request(ctx, "did not answer the call of "+t.raw, func(ctx context.Context) (err error) {
		result, err = s.sdk.CallTool(ctx, params)
		return err
	})
	if err != nil {
		return agent.ToolResult{}, err
	}
	return t.result(result), nil
}

// getPrompt gets a prompt filled in with arguments, which are strings.
func (t *tool) getPrompt(ctx context.Context, s *session, args json.RawMessage) (agent.ToolResult, error) {
	params := &sdk.GetPromptParams{Name: t.raw, Meta: s.logLevelMeta()}
	if len(bytes.TrimSpace(args)) > 0 {
		if err := json.Unmarshal(args, &params.Arguments); err != nil {
			return agent.ToolResult{}, fmt.Errorf("the arguments of a prompt are strings: %w", err)
		}
	}
	var result *sdk.GetPromptResult
	err := s.request(ctx, "did not give the prompt "+t.raw, func(ctx context.Context) (err error) {
		result, err = s.sdk.GetPrompt(ctx, params)
		return err
	})
	if err != nil {
		return agent.ToolResult{}, err
	}
	return promptResult(result), nil
}
