package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Content is a part of what a person says.
type Content struct {
	Text string
	// Kind is image or document where there is Data, of the media type MIME.
	Kind, MIME string
	Data       []byte
}

// say writes a user message.
func (c *Client) say(said []Content) error {
	type source struct {
		Type string `json:"type"`
		MIME string `json:"media_type"`
		Data []byte `json:"data"` // base64 in JSON
	}
	type part struct {
		Type   string  `json:"type"`
		Text   string  `json:"text,omitempty"`
		Source *source `json:"source,omitempty"`
	}
	parts := make([]part, len(said))
	for i, s := range said {
		if s.Data != nil {
			parts[i] = part{Type: s.Kind, Source: &source{"base64", s.MIME, s.Data}}
			continue
		}
		text := s.Text
		if strings.HasPrefix(text, "/") {
			text = "\n" + text // or the program takes it for a command of its own
		}
		parts[i] = part{Type: "text", Text: text}
	}
	return c.write(map[string]any{
		"type": "user", "session_id": "", "parent_tool_use_id": nil,
		"message": map[string]any{"role": "user", "content": parts},
	})
}

// write writes a frame.
func (c *Client) write(v any) error {
	frame, err := encode(v)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.p.Stdin().Write(frame); err != nil {
		return fmt.Errorf("write to Claude Code: %w", err)
	}
	return nil
}

// ask makes a control request and waits for the answer.
func (c *Client) ask(ctx context.Context, request any) (json.RawMessage, error) {
	answer := make(chan *response, 1)
	c.mu.Lock()
	c.asked++
	id := "req_" + strconv.Itoa(c.asked)
	c.pending[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, id)
	}()
	if err := c.write(map[string]any{"type": "control_request", "request_id": id, "request": request}); err != nil {
		select {
		case <-c.read: // why it cannot be written to
			return nil, c.ended()
		case <-time.After(c.o.stopGrace):
			return nil, err
		}
	}
	select {
	case r := <-answer:
		if r.Subtype == "error" {
			return nil, fmt.Errorf("the request was refused by Claude Code: %s", r.Error)
		}
		return r.Response, nil
	case <-c.read:
		return nil, c.ended()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answered hands the answer to a request to who waits for it.
func (c *Client) answered(r *response) {
	if r == nil {
		return
	}
	c.mu.Lock()
	answer := c.pending[r.RequestID]
	delete(c.pending, r.RequestID)
	c.mu.Unlock()
	if answer != nil {
		answer <- r
	}
}

// cancelled ends the answering of a request nobody waits for any more.
func (c *Client) cancelled(id string) {
	c.mu.Lock()
	cancel := c.inbound[id]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// answer answers a request of the program, beside all others.
func (c *Client) answer(id string, raw json.RawMessage) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.inbound[id] = cancel
	c.mu.Unlock()
	respond := c.begin(ctx, raw)
	c.answers.Go(func() {
		out, err := safely(respond)
		c.mu.Lock()
		delete(c.inbound, id)
		c.mu.Unlock()
		unwanted := ctx.Err() != nil
		cancel()
		if unwanted {
			return // one that is cancelled is not answered
		}
		r := response{Subtype: "success", RequestID: id, Response: out}
		if err != nil {
			r = response{Subtype: "error", RequestID: id, Error: err.Error()}
		}
		if err := c.write(map[string]any{"type": "control_response", "response": r}); err != nil {
			c.log.Debug("claude code takes no answer", "error", err)
		}
	})
}

// request is a request of the program.
type request struct {
	Subtype  string          `json:"subtype"`
	Server   string          `json:"server_name"`
	Message  json.RawMessage `json:"message"`
	Callback string          `json:"callback_id"`
	Input    json.RawMessage `json:"input"`
	ToolUse
}

// begin takes a request in, and returns what answers it.
func (c *Client) begin(ctx context.Context, raw json.RawMessage) func() (json.RawMessage, error) {
	fail := func(err error) func() (json.RawMessage, error) {
		return func() (json.RawMessage, error) { return nil, err }
	}
	var req request
	if err := json.Unmarshal(raw, &req); err != nil {
		return fail(fmt.Errorf("read a request: %w", err))
	}
	switch req.Subtype {
	case "mcp_message":
		b := c.bridges[req.Server]
		if b == nil {
			return fail(fmt.Errorf("there is no server %s", req.Server))
		}
		reply := b.begin(ctx, req.Message)
		return func() (json.RawMessage, error) {
			m, err := reply()
			if err != nil {
				return nil, err
			}
			return encodeAnswer(map[string]json.RawMessage{"mcp_response": m})
		}
	case "can_use_tool":
		req.ToolUse.Input = req.Input
		return func() (json.RawMessage, error) { return encodeAnswer(c.permit(ctx, req.ToolUse)) }
	case "hook_callback":
		return func() (json.RawMessage, error) { return c.hooked(ctx, req) }
	}
	return fail(fmt.Errorf("%s is not supported", req.Subtype))
}

func encodeAnswer(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write an answer: %w", err)
	}
	return data, nil
}

// permission is the answer to can_use_tool.
type permission struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// permit asks for permission. What goes wrong is a refusal.
func (c *Client) permit(ctx context.Context, use ToolUse) permission {
	d, err := safely(func() (Decision, error) { return c.o.CanUseTool(ctx, use) })
	switch {
	case err != nil:
		return permission{Behavior: "deny", Message: "permission could not be asked for: " + err.Error()}
	case d.Allow:
		return permission{Behavior: "allow", Input: use.Input}
	}
	return permission{Behavior: "deny", Message: d.Message}
}

// safely calls f, whose panic is its error.
func safely[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it crashed: %v", p)
		}
	}()
	return f()
}

// hookAnswer is the answer to a hook_callback.
type hookAnswer struct {
	Specific *hookSpecific `json:"hookSpecificOutput,omitempty"`
}

type hookSpecific struct {
	Event    HookEvent       `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Output   json.RawMessage `json:"updatedToolOutput,omitempty"`
}

// hooked calls a hook. The program goes on as if nothing was where a hook fails,
// so a failure is told to it as what it means: no call, no output.
func (c *Client) hooked(ctx context.Context, req request) (json.RawMessage, error) {
	h, ok := c.hooks[req.Callback]
	if !ok {
		return nil, fmt.Errorf("there is no hook %s", req.Callback)
	}
	var in HookInput
	if err := json.Unmarshal(req.Input, &in); err != nil {
		return nil, fmt.Errorf("read the input of a hook: %w", err)
	}
	if in.ToolUseID == "" {
		in.ToolUseID = req.ToolUseID
	}
	// The program cuts a hook that is late, and goes on; so it ends before.
	ctx, cancel := context.WithTimeout(ctx, h.timeout()*9/10)
	defer cancel()
	out, err := safely(func() (HookOutput, error) { return h.Call(ctx, in) })
	if err == nil && ctx.Err() != nil {
		err = errors.New("it took too long")
	}
	s := &hookSpecific{Event: h.Event}
	switch {
	case err != nil && h.Event == PreToolUse:
		s.Decision, s.Reason = "deny", "a hook failed: "+err.Error()
	case err != nil && h.Event == PostToolUse:
		s.Output = withheld(in.ToolResponse, "[the output is withheld: a hook failed: "+err.Error()+"]")
	case err != nil:
		return nil, err
	case out.Deny && h.Event == PreToolUse:
		s.Decision, s.Reason = "deny", out.Reason
	case out.Allow && h.Event == PreToolUse:
		s.Decision, s.Input = "allow", out.Input
	case out.Output != nil && h.Event == PostToolUse:
		s.Output = out.Output
	default:
		s = nil
	}
	return encodeAnswer(hookAnswer{s})
}

// withheld returns an output with text in place of every text in it but for what
// says of which kind it is: the program takes none of another form.
func withheld(output json.RawMessage, text string) json.RawMessage {
	var value any
	if json.Unmarshal(output, &value) != nil {
		value = text
	}
	var cover func(key string, v any) any
	cover = func(key string, v any) any {
		switch v := v.(type) {
		case string:
			if key == "type" {
				return v
			}
			return text
		case []any:
			for i := range v {
				v[i] = cover(key, v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = cover(k, v[k])
			}
		}
		return v
	}
	covered, _ := json.Marshal(cover("", value)) // what was JSON can be written as JSON
	return covered
}

func (h Hook) timeout() time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return defaultHookTimeout
}
