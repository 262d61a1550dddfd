package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// listed is a tool or a prompt as the server has it.
type listed struct {
	raw    string // its name there
	def    agent.Definition
	prompt bool
	// repeatable says that a call may be sent again: it changes nothing, or
	// nothing more.
	repeatable bool
}

// list asks the server what it has, and makes that the tools of the client.
func (c *Client) list(ctx context.Context, s *session) error {
	c.mu.Lock()
	c.stale = false // what changes from here on is not lost
	c.mu.Unlock()
	found, err := c.listed(ctx, s)
	if err == nil {
		found, err = c.offered(found)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.stale = true
		return err
	}
	c.replace(found)
	return nil
}

// replace makes a list the tools of the client. It holds c.mu.
func (c *Client) replace(found []listed) {
	old := map[string]*tool{}
	for _, t := range c.tools {
		switch t := t.(type) {
		case *tool:
			old[t.def.Name] = t
		case asking:
			old[t.def.Name] = t.tool
		}
	}
	same := len(found) == len(c.tools)
	tools := make([]agent.Tool, len(found))
	for i, l := range found {
		t := old[l.def.Name]
		if t == nil || !reflect.DeepEqual(t.listed, l) {
			t = &tool{client: c, listed: l}
		}
		tools[i] = t
		if c.opts.Model != nil {
			tools[i] = asking{t}
		}
		same = same && c.tools[i] == tools[i]
	}
	if !same || c.version == 0 {
		c.tools = tools
		c.version++
	}
}

// listed returns the tools and prompts of the server that the agent file asks for.
func (c *Client) listed(ctx context.Context, s *session) ([]listed, error) {
	var found []listed
	capabilities := s.sdk.InitializeResult().Capabilities
	if capabilities == nil {
		capabilities = new(sdk.ServerCapabilities)
	}
	if c.config.LoadTools && capabilities.Tools != nil {
		tools, err := pages(ctx, s, "tools", func(ctx context.Context, cursor string) ([]*sdk.Tool, string, error) {
			r, err := s.sdk.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Tools, r.NextCursor, nil
		})
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			found = append(found, c.toolOf(t))
		}
	}
	if c.config.LoadPrompts && capabilities.Prompts != nil {
		prompts, err := pages(ctx, s, "prompts", func(ctx context.Context, cursor string) ([]*sdk.Prompt, string, error) {
			r, err := s.sdk.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Prompts, r.NextCursor, nil
		})
		if err != nil {
			return nil, err
		}
		for _, p := range prompts {
			if p != nil {
				found = append(found, c.promptOf(p))
			}
		}
	}
	return found, nil
}

// pages asks for a list to its end. A server whose list has none is refused.
func pages[T any](ctx context.Context, s *session, what string, page func(ctx context.Context, cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	seen := map[string]bool{"": true}
	for cursor := ""; ; {
		var items []T
		var next string
		err := s.request(ctx, "did not list its "+what, func(ctx context.Context) (err error) {
			items, next, err = page(ctx, cursor)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		switch {
		case next == "":
			return all, nil
		case seen[next], len(all) > MaxTools:
			return nil, &ProtocolError{Fault: Fault{
				Server: s.client.name, What: fmt.Sprintf("lists its %s without end (%d so far)", what, len(all)),
				Next: "ask the makers of the server, or set load_" + what + ": false",
			}}
		}
		seen[next], cursor = true, next
	}
}

// toolOf returns a tool of the server.
func (c *Client) toolOf(t *sdk.Tool) listed {
	l := listed{raw: t.Name, def: agent.Definition{
		Name: canonicalName(c.name, t.Name), Description: t.Description,
		Schema: encoded(t.InputSchema), Retrieval: c.config.IsRetrieval, Source: "mcp:" + c.name,
	}}
	if string(l.def.Schema) == "null" {
		l.def.Schema = json.RawMessage(`{"type":"object"}`)
	}
	if a := t.Annotations; a != nil {
		l.def.ReadOnly = a.ReadOnlyHint
		l.repeatable = a.ReadOnlyHint || a.IdempotentHint
		if l.def.Description == "" {
			l.def.Description = a.Title
		}
	}
	if l.def.Description == "" {
		l.def.Description = t.Title
	}
	return l
}

// promptOf returns a prompt of the server as a tool that takes its arguments and
// returns its text.
func (c *Client) promptOf(p *sdk.Prompt) listed {
	properties := map[string]any{}
	required := []string{}
	for _, a := range p.Arguments {
		if a == nil {
			continue
		}
		property := map[string]string{"type": "string"}
		if a.Description != "" {
			property["description"] = a.Description
		}
		properties[a.Name] = property
		if a.Required {
			required = append(required, a.Name)
		}
	}
	description := p.Description
	if description == "" {
		description = strings.TrimSpace(fmt.Sprintf("The prompt %s of the server %s. %s", p.Name, c.name, p.Title))
	}
	return listed{raw: p.Name, prompt: true, repeatable: true, def: agent.Definition{
		Name: canonicalName(c.name, p.Name), Description: description, ReadOnly: true, Source: "mcp:" + c.name,
		Schema: encoded(map[string]any{"type": "object", "properties": properties, "required": required}),
	}}
}

// encoded encodes what was decoded from JSON.
func encoded(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // cannot happen for such values
	}
	return data
}

// offered returns which of a server's tools and prompts a model may be shown. One
// it could not be shown is left out, and told of; two tools of one name are an
// error, for which was meant cannot be told.
func (c *Client) offered(found []listed) ([]listed, error) {
	var out []listed
	byName := map[string]listed{}
	for _, l := range found {
		if !c.names.allows(l.raw, l.def.Name) {
			continue
		}
		other, taken := byName[l.def.Name]
		if taken && !l.prompt {
			next := "name in config.allowed_tools the tools to offer, as the server has them, with one of the two"
			if other.raw == l.raw {
				next = "ask the makers of the server: nothing tells them apart; until then config.allowed_tools may leave out both"
			}
			return nil, &ProtocolError{Fault: Fault{
				Server: c.name, What: fmt.Sprintf("has two tools that are both called %s: %q and %q", l.def.Name, other.raw, l.raw), Next: next,
			}}
		}
		if why := c.unfit(l, taken); why != "" {
			c.tell(fmt.Sprintf("The %s %s of the MCP server %s is left out: %s.", l.kind(), l.raw, c.name, why))
			continue
		}
		byName[l.def.Name] = l
		out = append(out, l)
	}
	if len(out) > manyTools && !c.opts.Chosen {
		c.tell(fmt.Sprintf("The MCP server %s offers %d tools, and many models take at most %d: name those to offer in config.allowed_tools, or have tool_filtering choose for each turn.", c.name, len(out), manyTools))
	}
	for _, name := range c.names.without(found) {
		c.tell(fmt.Sprintf("The MCP server %s has no tool %s, which config.allowed_tools names; it has: %s.", c.name, name, namesOf(found)))
	}
	return out, nil
}

// unfit says why a tool cannot be offered, or "".
func (c *Client) unfit(l listed, taken bool) string {
	switch {
	case l.raw == "":
		return "it has no name"
	case taken:
		return "a tool has its name"
	case !isObject(l.def.Schema):
		return "the schema of its arguments is not that of an object"
	case len(l.def.Schema) > MaxSchema:
		return fmt.Sprintf("the schema of its arguments has %d KiB, and at most %d can be shown to a model", len(l.def.Schema)>>10, MaxSchema>>10)
	}
	if _, err := schema.Compile(l.def.Schema); err != nil {
		return "the schema of its arguments cannot be used: " + err.Error()
	}
	return ""
}

// isObject says whether a schema may be that of an object, as that of arguments
// must be.
func isObject(s json.RawMessage) bool {
	var keys map[string]json.RawMessage
	if json.Unmarshal(s, &keys) != nil || keys == nil {
		return false
	}
	kind, ok := keys["type"]
	return !ok || string(kind) == `"object"`
}

// kind says what is listed.
func (l listed) kind() string {
	if l.prompt {
		return "prompt"
	}
	return "tool"
}

// namesOf returns the names of a list for a person, and how many more there are.
func namesOf(found []listed) string {
	const most = 20
	var names []string
	for _, l := range found[:min(len(found), most)] {
		names = append(names, l.raw)
	}
	text := strings.Join(names, ", ")
	if len(found) > most {
		text += fmt.Sprintf(" and %d more", len(found)-most)
	}
	if text == "" {
		return "none"
	}
	return text
}
