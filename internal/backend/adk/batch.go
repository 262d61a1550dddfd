//go:build !noadk

package adk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// batch is the calls of one response, which run side by side.
type batch struct {
	*dialog.Telling
	calls   []llm.Call
	ids     []string     // ADK's
	before  int          // calls of the turn before these
	limits  agent.Limits // what the turn has left
	results []llm.Result
	over    error // a deadline of the turn that passed meanwhile, when it was recorded
}

func newBatch(calls []llm.Call, ids []string, before int, recorded bool) *batch {
	return &batch{
		Telling: dialog.NewTelling(len(calls), recorded),
		calls:   calls, ids: ids, before: before, results: dialog.Cancelled(calls),
	}
}

// happening is something a call did.
type happening struct {
	dialog.Happening
	over error // see tool.Call.EndTurn
}

// dispatch makes a call that ADK knows by an id, and returns what ADK keeps of its
// result.
func (r *run) dispatch(id string) map[string]any {
	b := r.batch
	if b == nil { // the turn was cut short before it took the response
		return map[string]any{}
	}
	i := slices.Index(b.ids, id)
	end := happening{Happening: dialog.Happening{Index: i}}
	var f agent.ToolCallFinished
	if r.why != "" {
		f = r.notRun(b, i, "not run: "+r.why)
	} else {
		f = r.tools.Call(r.ctx, tool.Call{
			ID: b.calls[i].ID, Name: b.calls[i].Name, Arguments: b.calls[i].Arguments,
			Session: r.id, Turn: r.turn.Number(), Ordinal: b.before + i + 1,
			User: r.opts.User, Mode: r.opts.Mode, Approver: r.opts.Approver, Limits: b.limits,
			Now:     r.clock(b, i),
			EndTurn: func(err error) { end.over = err },
			Events:  r.inside(i),
		})
	}
	end.Event = f
	r.happened <- end
	return hold(llm.Result{CallID: f.CallID, Name: f.Name, Result: f.Result})
}

// inside returns what is told of what goes on inside of a call.
func (r *run) inside(index int) func(context.Context, string, agent.Event) error {
	return func(ctx context.Context, parent string, e agent.Event) error {
		select {
		case r.happened <- happening{Happening: dialog.Happening{Index: index, Parent: parent, Event: e}}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// clock is where the times of a call come from.
func (r *run) clock(b *batch, index int) func() time.Time {
	return r.env.Scope(fmt.Sprintf("tool %d.%d", r.turn.Number(), b.before+index+1)).Now
}

// notRun is the end of a call that was not made.
func (r *run) notRun(b *batch, index int, why string) agent.ToolCallFinished {
	c, at := b.calls[index], r.clock(b, index)()
	return agent.ToolCallFinished{CallID: c.ID, Name: c.Name, Result: dialog.ErrorResult(why), Err: why, Start: at, End: at}
}

// hear tells of what a call did. When it was the end of the last of its response,
// the error may say that the turn is over, too.
func (r *run) hear(h happening) error {
	b := r.batch
	if b == nil {
		return nil // left behind by its call, it speaks too late
	}
	if f, ended := h.End(); ended {
		b.results[h.Index].Result = f.Result
		if b.over == nil {
			b.over = h.over
		}
	}
	for _, told := range b.Add(h.Happening) {
		if m, ok := told.Event.(agent.ModelCall); ok && m.CostUSD != nil {
			r.costUSD += *m.CostUSD
			r.spentUSD += *m.CostUSD
		}
		if err := r.turn.EmitUnder(told.Parent, told.Event); err != nil {
			return err
		}
	}
	if b.Left() == 0 {
		return b.over
	}
	return nil
}

// settle gives the calls that ADK has no results of what they came to, so that the
// next turn can go on: they were made, or ADK was cut short before it made them.
func (r *run) settle() error {
	b := r.batch
	for i := range b.calls {
		if b.Ended(i) {
			continue
		}
		h := happening{Happening: dialog.Happening{Index: i, Event: r.notRun(b, i, "cancelled")}}
		if err := r.hear(h); err != nil {
			r.cut(err)
		}
	}
	r.batch = nil
	return r.append(context.WithoutCancel(r.ctx), r.backend.agent.Name(), responsesOf(b.results, b.ids))
}
