package testrun

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// title returns what a case is called while it runs.
func (r *runner) title(tc *config.TestCase) string {
	title := ""
	switch {
	case tc.Name != nil:
		title = *tc.Name
	case tc.Input != nil:
		title = runs.Title(*tc.Input)
	case len(tc.Turns) > 0:
		title = runs.Title(tc.Turns[0].Input)
	}
	return r.agent.Redactor.String(title)
}

// maxSessionErrors is after how many failures of the runtime in a row the rest
// of a conversation is given up.
const maxSessionErrors = 2

// runCase runs a case and judges it. The error says why there is no result: ctx
// was cancelled, or the agent cannot be opened at all. What goes wrong in the
// case itself is part of the result.
func (r *runner) runCase(ctx context.Context, index int, tc *config.TestCase) (*runs.Case, error) {
	id := sessionID(index)
	r = r.in(id)
	c := &runs.Case{Index: index, Pos: tc.Pos(), Conversation: len(tc.Turns) > 0, Started: r.env.Now()}
	if tc.Name != nil {
		c.Name = *tc.Name
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	turns := turnsOf(tc)
	session, err := r.backend.NewSession(ctx, agent.SessionOptions{ID: id, Mode: agent.ModeTest})
	switch {
	case err == nil:
		if err := r.converse(ctx, session, c, tc, turns); err != nil {
			return nil, err
		}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, new(*agent.BackendInitError)):
		return nil, err
	default:
		c.Turns = giveUp(nil, turns, fmt.Sprintf("no session could be opened: %v", err))
	}
	c.Status = caseStatus(c.Turns)
	c.Elapsed = r.env.Now().Sub(c.Started)
	c.Redact(r.agent.Redactor)
	return c, nil
}

// sessionID names the session of a case: the same in every run, since a record
// of the run is found again by it.
func sessionID(index int) string { return fmt.Sprintf("case-%d", index+1) }

// in returns the runner for a case, whose times come from the scope of its
// session and so do not depend on the cases beside it.
func (r *runner) in(session string) *runner {
	scoped := *r
	scoped.env = r.env.Scope(session)
	return &scoped
}

// turnsOf returns the turns of a case; a single input is one turn.
func turnsOf(tc *config.TestCase) []config.Turn {
	if len(tc.Turns) > 0 {
		return tc.Turns
	}
	turn := config.Turn{
		GroundTruth:      tc.GroundTruth,
		ExpectedTools:    tc.ExpectedTools,
		Files:            tc.Files,
		RetrievalContext: tc.RetrievalContext,
	}
	if tc.Input != nil {
		turn.Input = *tc.Input
	}
	return []config.Turn{turn}
}

// converse sends the turns and closes the session. The error is ctx's.
func (r *runner) converse(ctx context.Context, session agent.Session, c *runs.Case, tc *config.TestCase, turns []config.Turn) error {
	defer func() {
		if err := session.Close(); err != nil {
			r.env.Log.Warn("close session of test case", "case", c.Index, "error", err)
		}
	}()
	sessionErrors := 0
	for i := range turns {
		if sessionErrors == maxSessionErrors {
			c.Turns = giveUp(c.Turns, turns[i:], "not run: the runtime failed in the two turns before")
			return nil
		}
		t, err := r.runTurn(ctx, session, &turns[i])
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		if errors.As(err, new(*agent.BackendSessionError)) {
			sessionErrors++
		} else {
			sessionErrors = 0
		}
		r.judge(ctx, t, tc, &turns[i])
		c.Turns = append(c.Turns, *t)
	}
	return nil
}

// giveUp appends turns that were not run, and why.
func giveUp(done []runs.Turn, rest []config.Turn, reason string) []runs.Turn {
	for _, t := range rest {
		done = append(done, runs.Turn{
			Input: t.Input, GroundTruth: t.GroundTruth, Status: runs.NotRun, Errors: []string{reason},
		})
	}
	return done
}

// runTurn sends one turn and records what came of it; nothing is judged yet.
// The error is the runtime's, and is recorded as well.
func (r *runner) runTurn(ctx context.Context, session agent.Session, turn *config.Turn) (*runs.Turn, error) {
	t := &runs.Turn{Input: turn.Input, GroundTruth: turn.GroundTruth}
	message, ok := r.compose(t, turn)
	if !ok {
		return t, nil
	}
	start := r.env.Now()
	ctx, cancel, bound := r.deadline(ctx)
	defer cancel()
	ends := map[string]agent.ToolCallFinished{}
	result, err := agent.Collect(watch(session.Send(ctx, message), ends))
	t.AgentTime = r.env.Now().Sub(start)

	t.Answer = result.Response
	t.Structured = result.Structured
	t.StopReason = result.StopReason
	t.CostUSD = result.CostUSD
	if result.Usage != (agent.Usage{}) || result.NumTurns > 0 {
		t.Usage = &result.Usage
	}
	for _, call := range result.ToolCalls {
		end := ends[call.CallID]
		t.ToolCalls = append(t.ToolCalls, runs.ToolCall{
			Name: call.Name, CallID: call.CallID, Arguments: call.Arguments,
			Result: end.Result.Text(), Err: callError(end), Elapsed: end.End.Sub(end.Start),
		})
	}
	switch {
	case err != nil:
		t.Errors = append(t.Errors, describeError(err, bound))
	case result.IsError:
		t.Errors = append(t.Errors, fmt.Sprintf("the turn ended early (%s): %s", result.StopReason, result.ErrorReason))
	}
	return t, err
}

// watch keeps the end of every tool call that passes by, under its call id.
func watch(events iter.Seq2[agent.Event, error], ends map[string]agent.ToolCallFinished) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for e, err := range events {
			if end, ok := e.(agent.ToolCallFinished); ok {
				ends[end.CallID] = end
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// callError says why a call failed, or returns "".
func callError(end agent.ToolCallFinished) string {
	switch {
	case end.CallID == "":
		return "the call has no result"
	case end.Err != "":
		return end.Err
	case end.Result.IsError:
		return end.Result.Text()
	}
	return ""
}

// turnBound is how long a turn may take and the key that says so.
type turnBound struct {
	after time.Duration
	key   string
}

// grace is how much later than the bound the runner ends a turn itself. The
// runtime keeps the same bound, and its error says more of what was under way.
const grace = time.Second

// deadline bounds a turn, whatever the runtime does about it.
func (r *runner) deadline(ctx context.Context) (context.Context, context.CancelFunc, turnBound) {
	limits := r.agent.Execution
	bound := turnBound{time.Duration(limits.TurnTimeout) * time.Second, "execution.turn_timeout"}
	if model := time.Duration(limits.LLMTimeout) * time.Second; limits.Wrote("llm_timeout") && (model < bound.after || bound.after <= 0) {
		bound = turnBound{model, "execution.llm_timeout"}
	}
	if bound.after <= 0 {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, bound
	}
	ctx, cancel := context.WithTimeout(ctx, bound.after+grace)
	return ctx, cancel, bound
}

// describeError says what ended a turn.
func describeError(err error, bound turnBound) string {
	switch {
	case errors.As(err, new(*agent.BackendTimeoutError)):
		return fmt.Sprintf("timeout: %v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("timeout: the turn took longer than %s (%s)", bound.after, bound.key)
	}
	return err.Error()
}

// metricsFor returns the metrics of a turn: its own, else the case's, else the
// agent's. An empty list says nothing and inherits.
func (r *runner) metricsFor(tc *config.TestCase, turn *config.Turn) ([]*eval.Metric, error) {
	list := turn.Evaluations
	if len(list) == 0 {
		list = tc.Evaluations
	}
	if len(list) == 0 {
		return r.metrics, nil
	}
	return eval.NewMetrics(list, r.eval)
}
