//go:build !noadk

package adk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	adkagent "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/platform"
	adksession "google.golang.org/adk/v2/session"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// run is one turn of a session. ADK works on a goroutine of its own, and on one
// more for each call of a tool; but it goes on from an event only when the turn
// has taken it, so what they change, they change in turns.
type run struct {
	*session
	turn *turn.Turn
	// ctx is what models and tools run in; ADK's own would put its spans between.
	ctx context.Context
	cut context.CancelCauseFunc

	offered  []agent.Definition
	round    int // model responses so far
	ordinal  int // tool calls so far
	ids      dialog.IDs
	partial  string // text of the last response that had any
	costUSD  float64
	repaired bool // the model was asked to correct its answer

	stop     agent.StopReason // why the turn ends short, with
	why      string           // the reason for a person; empty when it does not
	failed   error            // what ended the last model call
	last     answer           // the last response
	text     string           // of the answer
	batch    *batch           // the calls of the last response, until ADK has their results
	happened chan happening   // what calls did
}

func newRun(ctx context.Context, s *session, t *turn.Turn) *run {
	r := &run{session: s, turn: t, happened: make(chan happening)}
	r.ctx, r.cut = context.WithCancelCause(ctx)
	return r
}

type runKey struct{}

// runOf returns the run that ADK works for.
func runOf(ctx context.Context) *run { return ctx.Value(runKey{}).(*run) }

// run has ADK answer a message.
func (r *run) run(m llm.Message) (agent.TurnFinished, error) {
	defer r.cut(nil)
	if err := r.prepare(m); err != nil {
		return agent.TurnFinished{}, errors.Join(err, r.append(context.WithoutCancel(r.ctx), "user", contentOf(m, nil)))
	}
	for {
		if err := r.invoke(m); err != nil {
			return agent.TurnFinished{}, err
		}
		if r.why != "" {
			return agent.TurnFinished{Response: r.partial, StopReason: r.stop, IsError: true, Reason: r.why}, nil
		}
		limit, _ := r.reached()
		end, again := r.backend.format.Finish(r.last.resp.Done, r.text, !r.repaired && limit == "")
		if again == nil {
			end.Response = cmp.Or(end.Response, r.partial)
			return end, nil
		}
		r.repaired, m = true, again.Message
		if err := r.turn.Emit(again.Notice); err != nil {
			return agent.TurnFinished{}, err
		}
	}
}

// prepare says what is to be said at the beginning of a session, brings its tools
// up to date and chooses those of the turn.
func (r *run) prepare(m llm.Message) error {
	if err := r.backend.options.Begin(r.ctx, r.turn, r.own); err != nil {
		return err
	}
	r.offered = r.tools.Definitions()
	return r.selectTools(m)
}

// selectTools chooses the tools of the turn.
func (r *run) selectTools(m llm.Message) error {
	o := &r.backend.options
	if o.Selector == nil || len(r.offered) == 0 {
		return nil
	}
	chosen, err := o.Choose(r.ctx, r.turn, loop.Situation{
		Session: r.id, Turn: r.turn.Number(), Message: agent.JoinText(m.Parts), Tools: r.offered, Used: r.used,
	})
	if err != nil || chosen == nil {
		return err
	}
	all := r.offered
	r.offered = nil
	for _, d := range all {
		if chosen[d.Name] {
			r.offered = append(r.offered, d)
		}
	}
	return nil
}

// spent is what the turn has used so far.
func (r *run) spent() dialog.Spent {
	return dialog.Spent{Responses: r.round, TurnUSD: r.costUSD, SessionUSD: r.spentUSD}
}

// reached says whether another model call would break a limit, and which.
func (r *run) reached() (agent.StopReason, string) {
	return r.limits.Reached(r.backend.options.Backend, r.spent())
}

// withinLimits is the plugin's callback before every model call.
func withinLimits(ctx adkagent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
	r := runOf(ctx)
	if err := context.Cause(r.ctx); err != nil {
		return nil, err
	}
	if r.why == "" {
		r.stop, r.why = r.reached()
	}
	if r.why != "" {
		return nil, errStopped
	}
	return nil, nil
}

// ask makes the model call of a round.
func (r *run) ask(req llm.Request, say func(agent.Event) error) (*model.LLMResponse, error) {
	o := &r.backend.options
	env := r.env.Scope(fmt.Sprintf("model %d.%d", r.turn.Number(), r.round))
	resp, err := dialog.Ask(r.ctx, o.Backend, o.Model, req, r.limits, env.Now(), say)
	if err != nil {
		r.failed = err
		return nil, err
	}
	calls := resp.Message.Calls
	r.ids.Identify(calls, env.NewID)
	if resp.CostUSD != nil {
		r.costUSD += *resp.CostUSD
		r.spentUSD += *resp.CostUSD
	}
	if resp.Text != "" {
		r.partial = resp.Text
	}
	if r.why = dialog.Cut(resp.Done); r.why != "" {
		r.stop = resp.Stop
	} else if len(calls) > 0 { // nobody could read what they return
		r.stop, r.why = r.reached()
	}
	call := resp.Event(env.Now())
	call.Model = modelName(call.Provider, call.Model)
	return complete(answer{resp, call, r.callIDs(len(calls))}), nil
}

// step is an event of ADK, or the error it ends in.
type step struct {
	event *adksession.Event
	err   error
	taken chan struct{} // closed when ADK may go on
}

// invoke runs ADK once: from a message to an answer.
func (r *run) invoke(m llm.Message) error {
	r.failed, r.last = nil, answer{}
	var failed error // of ADK
	events := r.start(m)
	for events != nil {
		var err error
		select {
		case s, open := <-events:
			switch {
			case !open:
				events = nil
				continue
			case s.err != nil:
				failed = s.err
			default:
				err = r.take(s.event)
			}
			close(s.taken)
		case h := <-r.happened:
			err = r.hear(h)
		}
		if err != nil {
			r.cut(err)
		}
	}
	if r.batch != nil {
		if err := r.settle(); err != nil {
			return err
		}
	}
	switch {
	case r.why != "", r.failed == nil && failed == nil && r.last.resp.Stop != "":
		return nil
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case r.failed != nil:
		return r.failed
	case failed != nil:
		return fmt.Errorf("ADK: %w", failed)
	}
	return errors.New("ADK ended the turn without a response of the model")
}

// start has ADK work on a message until the channel it returns is closed.
func (r *run) start(m llm.Message) <-chan step {
	events := make(chan step)
	tell := func(e *adksession.Event, err error) {
		s := step{e, err, make(chan struct{})}
		events <- s
		<-s.taken
	}
	ctx := platform.WithTaskRunner(context.WithValue(r.ctx, runKey{}, r), sideBySide)
	go func() {
		defer close(events)
		defer func() {
			if p := recover(); p != nil {
				tell(nil, r.panicked(p))
			}
		}()
		for e, err := range r.runner.Run(ctx, r.user, r.id, contentOf(m, nil), adkagent.RunConfig{StreamingMode: r.backend.mode}) {
			tell(e, err)
		}
	}()
	return events
}

// sideBySide runs the calls of a response. A panic outside of the tools, which
// have a net of their own, would be the end of the program.
func sideBySide(ctx context.Context, calls []func(context.Context)) {
	var running sync.WaitGroup
	for _, call := range calls {
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					r := runOf(ctx)
					r.cut(r.panicked(p))
				}
			}()
			call(ctx)
		})
	}
	running.Wait()
}

// panicked returns a panic of ADK as an error.
func (r *run) panicked(p any) error {
	r.env.Log.ErrorContext(r.ctx, "ADK panicked", "panic", p, "stack", string(debug.Stack()))
	return fmt.Errorf("ADK panicked: %v", p)
}

// take tells of an event of ADK.
func (r *run) take(e *adksession.Event) error {
	if delta, ok := held[agent.Event](e.CustomMetadata); ok {
		return r.turn.Emit(delta)
	}
	a, ok := held[answer](e.CustomMetadata)
	if !ok {
		if m, ok := messageOf(e.Content); ok && m.Role == llm.RoleTool {
			r.batch = nil // ADK has the results
		}
		return nil
	}
	r.last, r.text = a, a.resp.Text
	if kept, _ := e.Actions.StateDelta[r.backend.outputKey].(string); kept != "" {
		r.text = kept
	}
	calls := a.resp.Message.Calls
	if len(calls) > 0 {
		r.batch = newBatch(calls, a.ids, r.ordinal, r.env.Scopes != nil)
		r.batch.limits = r.limits.Left(r.spent())
		r.ordinal += len(calls)
	}
	if err := r.turn.Emit(a.call); err != nil {
		return err
	}
	for _, c := range calls {
		if r.why == "" {
			r.countUse(c.Name)
		}
		if err := r.turn.Emit(agent.ToolCallStarted{CallID: c.ID, Name: c.Name, Arguments: c.Arguments}); err != nil {
			return err
		}
	}
	return nil
}

// countUse counts a call of a tool, for the turns that follow.
func (r *run) countUse(name string) {
	if r.used == nil {
		r.used = map[string]int{}
	}
	r.used[name]++
}
