package loop

import (
	"cmp"
	"context"
	"errors"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
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
	ids      dialog.IDs         // of the calls so far
	partial  string             // text of the last response that had any
	costUSD  float64
	repaired bool // the model was asked to correct its answer
	whole    bool // compaction failed, and the conversation stays as it is
}

// run asks the model and runs its tools until it has answered.
func (r *run) run(ctx context.Context) (agent.TurnFinished, error) {
	if err := r.begin(ctx); err != nil {
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
		resp, err := r.ask(ctx)
		if err != nil {
			return agent.TurnFinished{}, err
		}
		pending = resp.Message.Calls
		if why := dialog.Cut(resp.Done); why != "" {
			return r.stopped(resp.Stop, why), r.refuse(pending, "not run: "+why)
		}
		if len(pending) > 0 {
			continue
		}
		finished, err := r.answer(resp)
		if err != nil {
			return agent.TurnFinished{}, err
		}
		if finished != nil {
			return *finished, nil
		}
	}
}

// spent is what the turn has used so far.
func (r *run) spent() dialog.Spent {
	return dialog.Spent{Responses: r.round, TurnUSD: r.costUSD, SessionUSD: r.spentUSD}
}

// limitReached says whether another model call would break a limit, and which.
func (r *run) limitReached() (agent.StopReason, string) {
	return r.limits.Reached(r.backend.options.Backend, r.spent())
}

// stopped is the end of a turn that a limit cut short.
func (r *run) stopped(stop agent.StopReason, why string) agent.TurnFinished {
	return agent.TurnFinished{Response: r.partial, StopReason: stop, IsError: true, Reason: why}
}

// ask has the model respond to the history, passes its deltas on and puts the
// response into the history.
func (r *run) ask(ctx context.Context) (dialog.Response, error) {
	r.round++
	resp, err := r.call(ctx, r.request(), r.turn.Emit)
	if err != nil {
		return dialog.Response{}, err
	}
	if resp.Text != "" {
		r.partial = resp.Text
	}
	r.ids.Identify(resp.Message.Calls, r.env.NewID)
	r.history = append(r.history, resp.Message)
	if err := r.turn.Emit(resp.Event(r.env.Now())); err != nil {
		r.giveUp(resp.Message.Calls)
		return dialog.Response{}, err
	}
	return resp, nil
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
	event := resp.Event(r.env.Now())
	event.Purpose = agent.PurposeCompaction
	if err := r.turn.Emit(event); err != nil {
		return "", err
	}
	if why := dialog.Cut(resp.Done); why != "" {
		return "", errors.New(why)
	}
	return resp.Text, nil
}

// call makes one model call within its limits, hands what happens meanwhile to
// say, and counts what it cost.
func (r *run) call(ctx context.Context, req llm.Request, say func(agent.Event) error) (dialog.Response, error) {
	o := &r.backend.options
	resp, err := dialog.Ask(ctx, o.Backend, o.Model, req, r.limits, r.env.Now(), say)
	if err == nil && resp.CostUSD != nil {
		r.costUSD += *resp.CostUSD
		r.spentUSD += *resp.CostUSD
	}
	return resp, err
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

// answer ends the turn with what the model answered. It returns nil when the
// model was asked to answer again.
func (r *run) answer(resp dialog.Response) (*agent.TurnFinished, error) {
	limit, _ := r.limitReached()
	end, again := r.backend.format.Finish(resp.Done, resp.Text, !r.repaired && limit == "")
	if again == nil {
		end.Response = cmp.Or(end.Response, r.partial)
		return &end, nil
	}
	r.repaired = true
	r.history = append(r.history, again.Message)
	return nil, r.turn.Emit(again.Notice)
}
