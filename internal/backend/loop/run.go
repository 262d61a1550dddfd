package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// run is one turn of a session.
type run struct {
	*session
	turn     *turn.Turn
	offered  []agent.Definition // the turn's tools, as the model sees them
	round    int                // model responses so far
	asides   int                // model calls beside the conversation so far
	ordinal  int                // tool calls so far
	ids      map[string]bool    // of the calls so far
	partial  string             // text of the last response that had any
	costUSD  float64
	repaired bool // the model was asked to correct its answer
	whole    bool // compaction failed, and the conversation stays as it is
}

// run asks the model and runs its tools until it has answered.
func (r *run) run(ctx context.Context) (agent.TurnFinished, error) {
	if r.turn.Number() == 1 {
		for _, n := range r.backend.options.Notices {
			if err := r.turn.Emit(n); err != nil {
				return agent.TurnFinished{}, err
			}
		}
	}
	if err := r.beginTools(ctx); err != nil {
		return agent.TurnFinished{}, err
	}
	if err := r.selectTools(ctx); err != nil {
		return agent.TurnFinished{}, err
	}
	var pending []llm.Call
	for {
		if stop, why := r.limitReached(); stop != "" {
			return r.stopped(stop, why), r.refuse(pending, "not run: "+why)
		}
		if len(pending) > 0 {
			if err := r.runCalls(ctx, pending); err != nil {
				return agent.TurnFinished{}, err
			}
		}
		if err := r.compact(ctx); err != nil {
			return agent.TurnFinished{}, err
		}
		if stop, why := r.limitReached(); stop != "" { // by what compaction cost
			return r.stopped(stop, why), nil
		}
		done, text, err := r.ask(ctx)
		if err != nil {
			return agent.TurnFinished{}, err
		}
		pending = done.Message.Calls
		switch {
		case done.Stop != agent.StopEnd && done.Stop != agent.StopMaxTokens:
			why := stopText(done.Stop)
			return r.stopped(done.Stop, why), r.refuse(pending, "not run: "+why)
		case len(pending) > 0 && done.Stop == agent.StopMaxTokens:
			why := "the response was cut at max_tokens while it asked for tools; raise model.max_tokens"
			return r.stopped(done.Stop, why), r.refuse(pending, "not run: "+why)
		case len(pending) > 0:
			continue
		}
		finished, err := r.answer(done.Stop, text)
		if err != nil {
			return agent.TurnFinished{}, err
		}
		if finished != nil {
			return *finished, nil
		}
	}
}

// limitReached says whether another model call would break a limit, and which.
func (r *run) limitReached() (agent.StopReason, string) {
	over := func(spent, limit float64) bool { return limit > 0 && spent >= limit }
	budget := func(spent, limit float64) string {
		return (&agent.BackendBudgetError{Backend: r.backend.options.Backend, CostUSD: spent, BudgetUSD: limit}).Error()
	}
	switch l := r.limits; {
	case r.round >= l.MaxTurns:
		return agent.StopMaxTurns, fmt.Sprintf("the turn reached its limit of %d model responses", l.MaxTurns)
	case over(r.costUSD, l.MaxTurnCostUSD):
		return agent.StopBudget, budget(r.costUSD, l.MaxTurnCostUSD)
	case over(r.spentUSD, l.MaxSessionCostUSD):
		return agent.StopBudget, budget(r.spentUSD, l.MaxSessionCostUSD)
	}
	return "", ""
}

// stopText says what a model's own reason to stop means.
func stopText(s agent.StopReason) string {
	switch s {
	case agent.StopRefusal:
		return "the model refused to answer"
	case agent.StopBlocked:
		return "the provider's content filter blocked the answer"
	case agent.StopContextOverflow:
		return "the conversation is longer than the model can read; begin a new session"
	}
	return fmt.Sprintf("the model stopped: %s", s)
}

// stopped is the end of a turn that a limit cut short.
func (r *run) stopped(stop agent.StopReason, why string) agent.TurnFinished {
	return agent.TurnFinished{Response: r.partial, StopReason: stop, IsError: true, Reason: why}
}

// ask has the model respond to the history, passes its deltas on and puts the
// response into the history. It returns the response and its text.
func (r *run) ask(ctx context.Context) (llm.Done, string, error) {
	r.round++
	resp, err := r.call(ctx, r.request(), r.turn.Emit)
	if err != nil {
		return llm.Done{}, "", err
	}
	if resp.text != "" {
		r.partial = resp.text
	}
	done := resp.done
	done.Message.Role = llm.RoleAssistant
	r.identify(done.Message.Calls)
	r.history = append(r.history, done.Message)
	if err := r.turn.Emit(resp.event(r.env.Now())); err != nil {
		r.giveUp(done.Message.Calls)
		return llm.Done{}, "", err
	}
	return done, resp.text, nil
}

// beside is what the session's own calls beside the conversation are named by.
const beside = "/compaction"

// aside asks the model something that is no part of the conversation, and
// returns what it answered. The call counts like any other, but is no response
// of the turn.
func (r *run) aside(ctx context.Context, system string, question agent.Message) (string, error) {
	r.asides++
	req := llm.Request{
		Session: r.id + beside, Turn: r.turn.Number(), Ordinal: r.asides,
		System:   system,
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: question.Parts}},
		Sampling: r.backend.options.Sampling,
	}
	resp, err := r.call(ctx, req, func(e agent.Event) error {
		if _, ok := e.(agent.Notice); ok {
			return r.turn.Emit(e)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	event := resp.event(r.env.Now())
	event.Purpose = agent.PurposeCompaction
	if err := r.turn.Emit(event); err != nil {
		return "", err
	}
	if stop := resp.done.Stop; stop != agent.StopEnd && stop != agent.StopMaxTokens {
		return "", errors.New(stopText(stop))
	}
	return resp.text, nil
}

// response is what a model call came to.
type response struct {
	done  llm.Done
	text  string
	info  llm.Info // of the model that was asked
	start time.Time
}

// event tells of the call, which ended at end.
func (p response) event(end time.Time) agent.ModelCall {
	return agent.ModelCall{
		Provider: cmp.Or(p.done.Provider, p.info.Provider), Model: cmp.Or(p.done.Model, p.info.Name),
		Usage: p.done.Usage, CostUSD: p.done.CostUSD, FinishReason: p.done.FinishReason,
		Start: p.start, End: end,
	}
}

// call makes one model call within its limits, hands what happens meanwhile to
// say, and counts what it cost.
func (r *run) call(ctx context.Context, req llm.Request, say func(agent.Event) error) (response, error) {
	o := &r.backend.options
	// A bound that the turn's own is no longer than would pass at the same moment
	// as that, and either might be named.
	if d, whole := r.limits.Model, r.limits.Turn; d.After > 0 && (whole.After <= 0 || d.After < whole.After) {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, d.After, &agent.BackendTimeoutError{
			Backend: o.Backend, What: fmt.Sprintf("model call (limit %s, %s)", d.After, d.Key), Err: context.DeadlineExceeded,
		})
		defer stop()
	}
	resp := response{info: o.Model.Info(), start: r.env.Now()}
	var (
		text strings.Builder
		done *llm.Done
	)
	for chunk, err := range o.Model.Stream(ctx, req) {
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
			return response{}, err
		}
	}
	if done == nil {
		return response{}, fmt.Errorf("%s model %s ended its response without finishing it", resp.info.Provider, resp.info.Name)
	}
	if done.CostUSD != nil {
		r.costUSD += *done.CostUSD
		r.spentUSD += *done.CostUSD
	}
	resp.done, resp.text = *done, text.String()
	return resp, nil
}

func (r *run) request() llm.Request {
	o := &r.backend.options
	return llm.Request{
		Session:    r.id,
		Turn:       r.turn.Number(),
		Ordinal:    r.round,
		System:     o.System,
		Messages:   r.history[:len(r.history):len(r.history)],
		Tools:      r.offered,
		Schema:     o.Schema,
		SchemaName: o.SchemaName,
		Sampling:   o.Sampling,
	}
}

// identify gives every call an id of its own within the turn. Some providers
// give none, and a model may repeat itself.
func (r *run) identify(calls []llm.Call) {
	for i := range calls {
		if id := calls[i].ID; id == "" || r.ids[id] {
			calls[i].ID = "call_" + r.env.NewID()
		}
		if r.ids == nil {
			r.ids = map[string]bool{}
		}
		r.ids[calls[i].ID] = true
	}
}

// answer ends the turn with what the model answered. It returns nil when the
// model was asked to answer again.
func (r *run) answer(stop agent.StopReason, text string) (*agent.TurnFinished, error) {
	finished := &agent.TurnFinished{Response: text, StopReason: stop}
	if r.backend.answer == nil {
		return finished, nil
	}
	value := jsonOf(text)
	wrong := r.backend.answer.Check(value)
	if wrong == nil {
		finished.Structured = value
		return finished, nil
	}
	finished.IsError = true
	limit, _ := r.limitReached()
	switch {
	case stop == agent.StopMaxTokens:
		finished.Reason = "the answer was cut at max_tokens before it matched response_format; raise model.max_tokens"
		return finished, nil
	case r.repaired || limit != "":
		finished.StopReason = agent.StopSchema
		finished.Reason = fmt.Sprintf("the answer does not match response_format: %v", wrong)
		return finished, nil
	}
	r.repaired = true
	r.history = append(r.history, llm.Message{Role: llm.RoleUser, Auto: true, Parts: agent.Text(fmt.Sprintf(
		"That does not match the JSON Schema of the answer: %v. Answer again, with nothing but JSON that matches it.", wrong)).Parts})
	return nil, r.turn.Emit(agent.Notice{
		Code: agent.NoticeRetry,
		Text: fmt.Sprintf("the answer does not match response_format and is asked for again: %v", wrong),
	})
}

// jsonOf returns the JSON of an answer: all of it, or what stands in the one
// fenced block it consists of.
func jsonOf(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		if _, body, ok := strings.Cut(rest, "\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), "```"))
		}
	}
	return json.RawMessage(text)
}
