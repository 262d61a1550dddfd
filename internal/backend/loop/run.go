package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
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

// runCalls runs the calls of a response side by side, and puts their results
// into the history in the order of the calls.
func (r *run) runCalls(ctx context.Context, calls []llm.Call) error {
	results := cancelled(calls)
	defer func() { r.history = append(r.history, llm.Message{Role: llm.RoleTool, Results: results}) }()
	if err := r.started(calls); err != nil {
		return err
	}
	outcomes := make(chan outcome, len(calls)) // no call waits for the reader
	over := make(chan error, len(calls))
	var running sync.WaitGroup
	defer running.Wait()
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, c := range calls {
		r.ordinal++
		r.countUse(r.names.of(c.Name))
		call := tool.Call{
			ID: c.ID, Name: r.names.of(c.Name), Arguments: c.Arguments,
			Session: r.id, Turn: r.turn.Number(), Ordinal: r.ordinal,
			Approver: r.approver,
			Now:      r.env.Scope(fmt.Sprintf("tool %d.%d", r.turn.Number(), r.ordinal)).Now,
			EndTurn:  func(err error) { over <- err },
		}
		running.Go(func() { outcomes <- outcome{i, r.tools.Call(callCtx, call)} })
	}
	for o := range r.inOrder(outcomes, len(calls)) {
		results[o.index].Result = o.finished.Result
		if err := r.turn.Emit(o.finished); err != nil {
			return err
		}
	}
	select {
	case err := <-over:
		return err
	default:
		return ctx.Err()
	}
}

// outcome is how one of the calls of a response ended.
type outcome struct {
	index    int // of the call in the response
	finished agent.ToolCallFinished
}

// inOrder yields n outcomes as they come. In a run that is recorded or replayed
// it yields them when all are there, by the time they ended, so that a replay,
// where all end at once, tells of them in the same order.
func (r *run) inOrder(outcomes <-chan outcome, n int) iter.Seq[outcome] {
	return func(yield func(outcome) bool) {
		var all []outcome
		for range n {
			o := <-outcomes
			if r.env.Scopes != nil {
				all = append(all, o)
			} else if !yield(o) {
				return
			}
		}
		slices.SortFunc(all, func(a, b outcome) int {
			return cmp.Or(a.finished.End.Compare(b.finished.End), cmp.Compare(a.index, b.index))
		})
		for _, o := range all {
			if !yield(o) {
				return
			}
		}
	}
}

// started reports that the model asked for calls.
func (r *run) started(calls []llm.Call) error {
	for _, c := range calls {
		if err := r.turn.Emit(agent.ToolCallStarted{CallID: c.ID, Name: r.names.of(c.Name), Arguments: c.Arguments}); err != nil {
			return err
		}
	}
	return nil
}

// refuse reports calls that are not run, with the reason, and gives them that
// as their result.
func (r *run) refuse(calls []llm.Call, why string) error {
	if len(calls) == 0 {
		return nil
	}
	results := cancelled(calls)
	defer func() { r.history = append(r.history, llm.Message{Role: llm.RoleTool, Results: results}) }()
	if err := r.started(calls); err != nil {
		return err
	}
	now := r.env.Now()
	for i, c := range calls {
		results[i].Result = errorResult(why)
		err := r.turn.Emit(agent.ToolCallFinished{
			CallID: c.ID, Name: r.names.of(c.Name), Result: results[i].Result, Err: why, Start: now, End: now,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// giveUp gives calls that were never reported a result in the history.
func (r *run) giveUp(calls []llm.Call) {
	if len(calls) > 0 {
		r.history = append(r.history, llm.Message{Role: llm.RoleTool, Results: cancelled(calls)})
	}
}

// cancelled returns the results of calls that did not come to an end.
func cancelled(calls []llm.Call) []llm.Result {
	results := make([]llm.Result, len(calls))
	for i, c := range calls {
		results[i] = llm.Result{CallID: c.ID, Name: c.Name, Result: errorResult("cancelled")}
	}
	return results
}

func errorResult(text string) agent.ToolResult {
	r := agent.TextResult(text)
	r.IsError = true
	return r
}
