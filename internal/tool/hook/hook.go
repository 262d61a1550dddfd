package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// Options is what hooks need beside the agent file.
type Options struct {
	Now      func() time.Time
	Log      *slog.Logger
	HTTP     *http.Client // makes the requests of notify; nil is http.DefaultClient
	Code     *worker.Pool // runs scripts; nil where no hook has one
	Redactor *secret.Redactor
	Recorder *cassette.Recorder // at most one of the two is set
	Player   *cassette.Player
}

// Hooks are the hooks of an agent. It is safe for concurrent use, and a nil Hooks
// has none.
type Hooks struct {
	agent   string
	options Options
	list    []*hook
}

// hook is a hook of the agent file, ready to run.
type hook struct {
	*config.Hook
	pattern config.ToolPattern
	// outside is what the hook does with something that is not this program: notify
	// and script. It returns what a script answered, also before it failed. Nil for
	// other actions.
	outside func(ctx context.Context, report json.RawMessage) (json.RawMessage, error)
}

// Open returns the hooks of an agent, or nil when it has none. Nothing is started
// or reached yet.
func Open(a *config.Agent, o Options) (*Hooks, error) {
	if len(a.Hooks) == 0 {
		return nil, nil
	}
	h := &Hooks{agent: a.Name, options: o}
	for i := range a.Hooks {
		c := &a.Hooks[i]
		tool := ""
		if c.Tool != nil {
			tool = *c.Tool
		}
		pattern, err := config.NewToolPattern(tool, c.Arguments)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.Pos(), c.Path(), err)
		}
		one := &hook{Hook: c, pattern: pattern}
		switch c.Action {
		case config.HookNotify:
			one.outside = h.notify(c)
		case config.HookScript:
			if o.Code == nil && o.Player == nil {
				return nil, fmt.Errorf("%s: %s: there is nothing that could run its code", c.Pos(), c.Path())
			}
			one.outside = script(o.Code, c)
		}
		h.list = append(h.list, one)
	}
	return h, nil
}

// Concern reports whether there is a hook for one of the events.
func (h *Hooks) Concern(events ...config.HookEvent) bool {
	return h != nil && slices.ContainsFunc(h.list, func(one *hook) bool { return slices.Contains(events, one.Event) })
}

// Call is a tool call, as hooks see it.
type Call struct {
	Report
	Names   []string // all by which the tool is known
	Ordinal int      // of the call in its turn, from 1
	// Within says that the call is made within another, which is recorded with all
	// that comes of it.
	Within bool
}

// Before runs the hooks of a call that is about to be made. It returns the
// arguments to make it with. The error says why the call is not made; the model
// reads it.
func (h *Hooks) Before(ctx context.Context, c Call) (json.RawMessage, error) {
	c.Event = config.HookPreToolUse
	t := h.tape(c)
	for _, one := range h.of(c) {
		if !one.pattern.MatchesArguments(c.Arguments) {
			continue
		}
		var err error
		switch one.Action {
		case config.HookLog:
			h.log(ctx, one, c.Report)
		case config.HookReject:
			err = rejected(c.Tool, message(one.Hook, notAllowed))
		case config.HookModify:
			if c.Arguments, err = merged(c.Arguments, one.Transform); err != nil {
				err = rejected(c.Tool, "a hook of the agent could not change its arguments: "+err.Error())
			}
		default:
			c.Arguments, err = h.ask(ctx, one, c, t)
		}
		if err != nil {
			return nil, errors.Join(err, t.end())
		}
	}
	return c.Arguments, t.end()
}

// ask runs a hook that reaches out, before a call, and does what it answers.
func (h *Hooks) ask(ctx context.Context, one *hook, c Call, t *tape) (json.RawMessage, error) {
	answer, err := t.outside(func() (json.RawMessage, error) { return h.run(ctx, one, c.Report) })
	if ctx.Err() != nil {
		t.recorder = nil // of a call that was cancelled there is no record
		return nil, ctx.Err()
	}
	said, unreadable := h.read(ctx, one, answer)
	err = errors.Join(err, unreadable)
	if err != nil {
		h.failed(ctx, one, err)
	}
	switch {
	case said.Reject != nil:
		return nil, rejected(c.Tool, cmp.Or(*said.Reject, notAllowed))
	case err != nil && (unreadable != nil || said.Transform != nil || one.OnFailure == config.HookFailureRejects):
		return nil, rejected(c.Tool, "a hook of the agent failed, and no call is made without it: "+h.options.Redactor.String(err.Error()))
	case err != nil:
		return c.Arguments, nil
	}
	args, err := h.transformed(c.Arguments, said.Transform)
	if err != nil {
		return nil, rejected(c.Tool, "a hook of the agent could not change its arguments: "+err.Error())
	}
	return args, nil
}

// notAllowed is what a model is told when a hook does not say why.
const notAllowed = "a hook of the agent does not allow it"

// rejected is the error of a call that is not made.
func rejected(tool, why string) error { return fmt.Errorf("%s was rejected: %s", tool, why) }

// decision is what a script may answer before a call.
type decision struct {
	Reject    *string        `json:"reject"`
	Transform map[string]any `json:"transform"`
}

// read reads what a script answered. Nothing, and words, decide nothing; what was
// to be an answer and is none is an error, for it may have been a rejection.
func (h *Hooks) read(ctx context.Context, one *hook, answer json.RawMessage) (decision, error) {
	var d decision
	var text string
	switch trimmed := bytes.TrimSpace(answer); {
	case len(trimmed) == 0 || string(trimmed) == "null":
		return d, nil
	case json.Unmarshal(trimmed, &text) == nil && !strings.HasPrefix(text, "{"):
		if text != "" {
			h.options.Log.InfoContext(ctx, "a hook's script said something that decides nothing", "hook", one.Pos().String(), "text", h.options.Redactor.String(excerpt(text)))
		}
		return d, nil
	default:
		dec := json.NewDecoder(bytes.NewReader(trimmed))
		dec.DisallowUnknownFields()
		dec.UseNumber()
		if err := dec.Decode(&d); err != nil {
			return decision{}, fmt.Errorf(`its answer is neither {"reject": "why"} nor {"transform": {…}}: %s`, excerpt(string(trimmed)))
		}
		return d, nil
	}
}

// After runs the hooks of a call that was made, which failed when Error is not
// empty.
func (h *Hooks) After(ctx context.Context, c Call) {
	c.Event = config.HookPostToolUse
	if c.Error != "" {
		c.Event = config.HookPostToolUseFailure
	}
	for _, one := range h.of(c) {
		if one.pattern.MatchesArguments(c.Arguments) {
			h.tell(ctx, one, c.Report)
		}
	}
}

// Tell runs the hooks of an event that is not about a tool.
func (h *Hooks) Tell(ctx context.Context, r Report) {
	if h == nil {
		return
	}
	for _, one := range h.list {
		if one.Event == r.Event {
			h.tell(ctx, one, r)
		}
	}
}

// of returns the hooks that are for a tool and an event.
func (h *Hooks) of(c Call) []*hook {
	if h == nil {
		return nil
	}
	var list []*hook
	for _, one := range h.list {
		if one.Event == c.Event && one.pattern.MatchesTool(c.Names...) {
			list = append(list, one)
		}
	}
	return list
}

// tell runs a hook of which nothing depends. What reaches out is left out of a
// replay, and once nobody waits any more.
func (h *Hooks) tell(ctx context.Context, one *hook, r Report) {
	if one.outside == nil {
		h.log(ctx, one, r)
		return
	}
	if h.options.Player != nil || ctx.Err() != nil {
		return
	}
	if _, err := h.run(ctx, one, r); err != nil {
		h.failed(ctx, one, err)
	}
}

// run runs a hook that reaches out, within its time.
func (h *Hooks) run(ctx context.Context, one *hook, r Report) (json.RawMessage, error) {
	r.Agent, r.Time = h.agent, h.options.Now()
	r.Message = message(one.Hook, "")
	data, err := h.encode(r)
	if err != nil {
		return nil, err
	}
	after := time.Duration(one.Timeout * float64(time.Second))
	bounded, stop := context.WithTimeout(ctx, after)
	defer stop()
	answer, err := one.outside(bounded, data)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return answer, fmt.Errorf("it took longer than %s (%s.timeout)", after, one.Path())
	}
	return answer, err
}

// failed logs that a hook failed.
func (h *Hooks) failed(ctx context.Context, one *hook, err error) {
	h.options.Log.WarnContext(ctx, "a hook failed", "hook", one.Pos().String(), "event", one.Event, "action", one.Action,
		"error", h.options.Redactor.String(err.Error()))
}

// log writes a line to the log.
func (h *Hooks) log(ctx context.Context, one *hook, r Report) {
	level := map[config.HookLevel]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[one.Level]
	mask := h.options.Redactor.String
	attrs := []any{"event", one.Event, "session", r.Session}
	for _, a := range []struct{ key, value string }{
		{"tool", r.Tool}, {"call", r.CallID}, {"arguments", string(h.options.Redactor.JSON(r.Arguments))}, {"error", r.Error},
		{"stop_reason", string(r.StopReason)}, {"reason", r.Reason}, {"code", r.Code}, {"text", r.Text},
	} {
		if a.value != "" {
			attrs = append(attrs, a.key, excerpt(mask(a.value)))
		}
	}
	h.options.Log.Log(ctx, level, message(one.Hook, "hook"), attrs...)
}

// message returns the message of a hook, or what stands in for it.
func message(c *config.Hook, otherwise string) string {
	if c.Message != nil {
		return *c.Message
	}
	return otherwise
}

// excerpt returns the beginning of s.
func excerpt(s string) string {
	const longest = 500 // runes
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}
