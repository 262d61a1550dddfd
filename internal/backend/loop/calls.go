package loop

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// runCalls runs the calls of a response side by side, and puts their results
// into the history in the order of the calls.
func (r *run) runCalls(ctx context.Context, calls []llm.Call) error {
	results := dialog.Cancelled(calls)
	defer func() { r.history = append(r.history, llm.Message{Role: llm.RoleTool, Results: results}) }()
	if err := r.started(calls); err != nil {
		return err
	}
	ends := make(chan dialog.Happening, len(calls)) // no call waits for the reader
	inside := make(chan dialog.Happening)           // what goes on in them does
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
			User: r.user, Mode: r.mode, Approver: r.approver, Limits: r.limits.Left(r.spent()),
			Now:     r.env.Scope(fmt.Sprintf("tool %d.%d", r.turn.Number(), r.ordinal)).Now,
			EndTurn: func(err error) { over <- err },
			Events: func(ctx context.Context, parent string, e agent.Event) error {
				select {
				case inside <- dialog.Happening{Index: i, Parent: parent, Event: e}:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		}
		running.Go(func() { ends <- dialog.Happening{Index: i, Event: r.tools.Call(callCtx, call)} })
	}
	for h := range r.inOrder(ends, inside, len(calls)) {
		if f, ended := h.End(); ended {
			results[h.Index].Result = f.Result
		}
		r.count(h.Event)
		if err := r.turn.EmitUnder(h.Parent, h.Event); err != nil {
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

// inOrder yields what n calls do, in the order in which it is to be told.
func (r *run) inOrder(ends, inside <-chan dialog.Happening, n int) iter.Seq[dialog.Happening] {
	return func(yield func(dialog.Happening) bool) {
		telling := dialog.NewTelling(n, r.env.Scopes != nil)
		for telling.Left() > 0 {
			var h dialog.Happening
			select {
			case h = <-inside:
			case h = <-ends:
			}
			for _, told := range telling.Add(h) {
				if !yield(told) {
					return
				}
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
	results := dialog.Cancelled(calls)
	defer func() { r.history = append(r.history, llm.Message{Role: llm.RoleTool, Results: results}) }()
	if err := r.started(calls); err != nil {
		return err
	}
	now := r.env.Now()
	for i, c := range calls {
		results[i].Result = dialog.ErrorResult(why)
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
		r.history = append(r.history, llm.Message{Role: llm.RoleTool, Results: dialog.Cancelled(calls)})
	}
}
