package dialog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Response is what a model call came to.
type Response struct {
	llm.Done
	Text  string   // all of it
	Info  llm.Info // of the model that was asked
	Start time.Time
}

// Event tells of the call, which ended at end.
func (p Response) Event(end time.Time) agent.ModelCall {
	return agent.ModelCall{
		Provider: cmp.Or(p.Provider, p.Info.Provider), Model: cmp.Or(p.Model, p.Info.Name),
		Usage: p.Usage, CostUSD: p.CostUSD, FinishReason: p.FinishReason,
		Start: p.Start, End: end,
	}
}

// Ask makes one model call within its limits and hands what happens meanwhile to
// say: TextDelta, ThinkingDelta and Notice. start is when it begins, backend
// names the runtime in errors. An error of say ends the call.
func Ask(ctx context.Context, backend string, m llm.Model, req llm.Request, l Limits, start time.Time, say func(agent.Event) error) (Response, error) {
	// A bound that the turn's own is no longer than would pass at the same moment
	// as that, and either might be named.
	if d, whole := l.Model, l.Turn; d.After > 0 && (whole.After <= 0 || d.After < whole.After) {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, d.After, &agent.BackendTimeoutError{
			Backend: backend, What: fmt.Sprintf("model call (limit %s, %s)", d.After, d.Key), Err: context.DeadlineExceeded,
		})
		defer stop()
	}
	resp := Response{Info: m.Info(), Start: start}
	var (
		text strings.Builder
		done *llm.Done
	)
	for chunk, err := range m.Stream(ctx, req) {
		if timeout, ok := errors.AsType[*agent.BackendTimeoutError](context.Cause(ctx)); ok && err != nil {
			err = timeout
		}
		switch c := chunk.(type) {
		case llm.Text:
			text.WriteString(string(c))
			err = say(agent.TextDelta{Text: string(c)})
		case llm.Thinking:
			err = say(agent.ThinkingDelta{Text: string(c)})
		case llm.Notice:
			err = say(agent.Notice{Code: c.Code, Text: c.Text})
		case llm.Done:
			done = &c
		}
		if err != nil {
			return Response{}, err
		}
	}
	if done == nil {
		return Response{}, fmt.Errorf("%s model %s ended its response without finishing it", resp.Info.Provider, resp.Info.Name)
	}
	resp.Done, resp.Text = *done, text.String()
	resp.Message.Role = llm.RoleAssistant
	return resp, nil
}

// IDs gives every call of a turn an id of its own. Some providers give none, and
// a model may repeat itself. The zero IDs is ready to use.
type IDs struct{ used map[string]bool }

// Identify gives calls their ids; newID makes one.
func (ids *IDs) Identify(calls []llm.Call, newID func() string) {
	for i := range calls {
		if id := calls[i].ID; id == "" || ids.used[id] {
			calls[i].ID = "call_" + newID()
		}
		if ids.used == nil {
			ids.used = map[string]bool{}
		}
		ids.used[calls[i].ID] = true
	}
}

// Cancelled returns the results of calls that did not come to an end.
func Cancelled(calls []llm.Call) []llm.Result {
	results := make([]llm.Result, len(calls))
	for i, c := range calls {
		results[i] = llm.Result{CallID: c.ID, Name: c.Name, Result: ErrorResult("cancelled")}
	}
	return results
}

// ErrorResult is a result that tells the model of a failure.
func ErrorResult(text string) agent.ToolResult {
	r := agent.TextResult(text)
	r.IsError = true
	return r
}
