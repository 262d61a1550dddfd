package loop

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// happening is something a call did: the event of its end, or, with the call id
// of a sub-agent, one of what goes on inside of it.
type happening struct {
	index  int // of the call in the response
	parent string
	event  agent.Event
}

// end returns how the call ended, if that is what happened.
func (h happening) end() (agent.ToolCallFinished, bool) {
	f, ok := h.event.(agent.ToolCallFinished)
	return f, ok && h.parent == ""
}

// runCalls runs the calls of a response side by side, and puts their results
// into the history in the order of the calls.
func (r *run) runCalls(ctx context.Context, calls []llm.Call) error {
	results := cancelled(calls)
	defer func() { r.history = append(r.history, llm.Message{Role: llm.RoleTool, Results: results}) }()
	if err := r.started(calls); err != nil {
		return err
	}
	ends := make(chan happening, len(calls)) // no call waits for the reader
	inside := make(chan happening)           // what goes on in them does
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
			User: r.user, Mode: r.mode, Approver: r.approver, Limits: r.left(),
			Now:     r.env.Scope(fmt.Sprintf("tool %d.%d", r.turn.Number(), r.ordinal)).Now,
			EndTurn: func(err error) { over <- err },
			Events: func(ctx context.Context, parent string, e agent.Event) error {
				select {
				case inside <- happening{i, parent, e}:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		}
		running.Go(func() { ends <- happening{index: i, event: r.tools.Call(callCtx, call)} })
	}
	for h := range r.inOrder(ends, inside, len(calls)) {
		if f, ended := h.end(); ended {
			results[h.index].Result = f.Result
		}
		r.count(h.event)
		if err := r.turn.EmitUnder(h.parent, h.event); err != nil {
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

// count adds what a model call inside of a tool call cost to what the turn did.
func (r *run) count(e agent.Event) {
	if m, ok := e.(agent.ModelCall); ok && m.CostUSD != nil {
		r.costUSD += *m.CostUSD
		r.spentUSD += *m.CostUSD
	}
}

// left returns what a call that has models at work for it may use of the turn's
// limits. Its time is that of the call.
func (r *run) left() agent.Limits {
	l := agent.Limits{MaxTurns: r.limits.MaxTurns, ModelTimeout: r.limits.Model.After}
	if most := r.limits.MaxTurnCostUSD; most > 0 {
		l.MaxCostUSD = most - r.costUSD
	}
	if most := r.limits.MaxSessionCostUSD; most > 0 {
		l = l.Tighten(agent.Limits{MaxCostUSD: most - r.spentUSD})
	}
	return l
}

// inOrder yields what n calls do as it comes. In a run that is recorded or
// replayed it waits for all of them and yields one call after the other, by the
// time they ended: in a replay all end at once, and are to be told of in the
// same order.
func (r *run) inOrder(ends, inside <-chan happening, n int) iter.Seq[happening] {
	return func(yield func(happening) bool) {
		kept := make([][]happening, n) // by call, where order matters; its end is the last
		ended := make([]bool, n)
		for left := n; left > 0; {
			var h happening
			select {
			case h = <-inside:
				if ended[h.index] { // it was left behind, and speaks too late
					continue
				}
			case h = <-ends:
				ended[h.index] = true
				left--
			}
			if r.env.Scopes != nil {
				kept[h.index] = append(kept[h.index], h)
			} else if !yield(h) {
				return
			}
		}
		if r.env.Scopes == nil {
			return
		}
		slices.SortStableFunc(kept, func(a, b []happening) int {
			first, _ := a[len(a)-1].end()
			second, _ := b[len(b)-1].end()
			return first.End.Compare(second.End)
		})
		for _, h := range slices.Concat(kept...) {
			if !yield(h) {
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
