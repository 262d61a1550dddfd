package testrun

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// label returns what an attempt is called while it runs.
func (a attempt) label() string {
	if a.repeats > 1 {
		return fmt.Sprintf("%s (%d of %d)", a.title, a.number, a.repeats)
	}
	return a.title
}

// maxSessionErrors is after how many failures of the runtime in a row the rest
// of a conversation is given up.
const maxSessionErrors = 2

// errCaseTime is why the context of a conversation ends whose time is over.
var errCaseTime = errors.New("timeout_s is over")

// runCase makes an attempt at a case and judges it. The error says why there is
// no result: ctx was cancelled, or the agent cannot be opened at all. What goes
// wrong in the case itself is part of the result.
func (r *runner) runCase(ctx context.Context, a attempt) (*runs.Case, error) {
	id := a.session()
	r = r.in(id)
	tc := a.tc
	c := &runs.Case{
		Index: a.index, ID: a.id, Name: a.name, Tags: tc.Tags, Pos: tc.Pos(),
		Attempt: a.number, Repeats: a.repeats, PassRule: tc.PassRule,
		Conversation: len(tc.Turns) > 0, Started: r.env.Now(),
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	turns := turnsOf(tc)
	talk, cancel := conversationTime(ctx, tc)
	defer cancel()
	opts := agent.SessionOptions{ID: id, Mode: agent.ModeTest}
	if tc.MaxCostUSD != nil {
		opts.Limits.MaxCostUSD = *tc.MaxCostUSD
	}
	session, err := r.backend.NewSession(talk, opts)
	switch {
	case err == nil:
		if err := r.converse(ctx, talk, session, c, tc, turns); err != nil {
			return nil, err
		}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, new(*agent.BackendInitError)), errors.As(err, new(*agent.ToolsLostError)):
		return nil, err
	case context.Cause(talk) == errCaseTime:
		c.Turns = giveUp(nil, turns, fmt.Sprintf("timeout: no session was opened within %s (timeout_s)", seconds(*tc.TimeoutS)))
	default:
		c.Turns = giveUp(nil, turns, fmt.Sprintf("no session could be opened: %v", err))
	}
	c.Status = caseStatus(c.Turns)
	c.Elapsed = r.env.Now().Sub(c.Started)
	c.Redact(r.agent.Redactor)
	return c, nil
}

// session names the session of an attempt: the same in every run, since a record
// of the run is found again by it.
func (a attempt) session() string {
	if a.number > 1 {
		return fmt.Sprintf("case-%d-%d", a.index+1, a.number)
	}
	return fmt.Sprintf("case-%d", a.index+1)
}

// in returns the runner for an attempt, whose times come from the scope of its
// session and so do not depend on the cases beside it.
func (r *runner) in(session string) *runner {
	scoped := *r
	scoped.env = r.env.Scope(session)
	return &scoped
}

// conversationTime bounds what the agent may take over all turns of a case.
func conversationTime(ctx context.Context, tc *config.TestCase) (context.Context, context.CancelFunc) {
	if tc.TimeoutS == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Duration(*tc.TimeoutS*float64(time.Second)), errCaseTime)
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
		TurnConfig:       tc.TurnConfig,
	}
	if tc.Input != nil {
		turn.Input = *tc.Input
	}
	return []config.Turn{turn}
}

// converse sends the turns, each judged while the next is under way, and closes
// the session. The agent works under talk, which ends no later than ctx. The
// error is ctx's, or a *agent.ToolsLostError.
func (r *runner) converse(ctx, talk context.Context, session agent.Session, c *runs.Case, tc *config.TestCase, turns []config.Turn) error {
	defer func() {
		if err := session.Close(); err != nil {
			r.env.Log.Warn("close session of test case", "case", c.Index, "error", err)
		}
	}()
	var (
		done          = make([]runs.Turn, len(turns)) // judged in place
		judges        sync.WaitGroup
		spent         spending
		found         []string // passages, of all turns so far
		sessionErrors int
		giveUpReason  string
	)
	defer judges.Wait() // also when the case is given up
	ran := 0
	for i := range turns {
		t := &done[i]
		passages, err := r.runTurn(talk, session, tc, &turns[i], t)
		ran++
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		if errors.As(err, new(*agent.ToolsLostError)) {
			return err
		}
		if errors.As(err, new(*agent.BackendSessionError)) {
			sessionErrors++
		} else {
			sessionErrors = 0
		}
		found = append(found[:len(found):len(found)], passages...)
		j := judgement{
			tc: tc, turn: &turns[i], number: i + 1, callsBefore: spent.calls, last: i == len(turns)-1,
			of: c, before: done[:i], found: found,
		}
		tooDear := spent.add(t, tc.MaxCostUSD)
		switch {
		case tooDear != "":
			t.Errors = append(t.Errors, tooDear)
			giveUpReason = "not run: the cost of the case is limited (max_cost_usd)"
		case context.Cause(talk) == errCaseTime:
			giveUpReason = fmt.Sprintf("not run: the time of the case was over (timeout_s: %v)", *tc.TimeoutS)
		case sessionErrors == maxSessionErrors:
			giveUpReason = "not run: the runtime failed in the two turns before"
		}
		if j.last = j.last || giveUpReason != ""; j.last {
			r.judge(ctx, t, j)
			break
		}
		judges.Go(func() { r.judge(ctx, t, j) })
	}
	judges.Wait()
	c.Turns = giveUp(done[:ran:ran], turns[ran:], giveUpReason)
	return ctx.Err()
}

// spending is what the turns of a case have used so far.
type spending struct {
	calls   int
	costUSD float64
}

// add counts a turn. It says why the case may not go on, or returns "".
func (s *spending) add(t *runs.Turn, maxCostUSD *float64) string {
	s.calls += len(t.ToolCalls)
	if t.CostUSD != nil {
		s.costUSD += *t.CostUSD
	}
	switch {
	case maxCostUSD == nil:
	case t.CostUSD == nil && t.Usage != nil:
		return "max_cost_usd cannot be kept, since the price of the model is not known; remove it, or give the price"
	case s.costUSD > *maxCostUSD:
		return fmt.Sprintf("the model calls cost %.6g USD, more than max_cost_usd, %v", s.costUSD, *maxCostUSD)
	}
	return ""
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

// runTurn sends one turn and records in t what came of it; nothing is judged
// yet. It returns the passages that were retrieved. The error is the runtime's,
// and is recorded as well.
func (r *runner) runTurn(talk context.Context, session agent.Session, tc *config.TestCase, turn *config.Turn, t *runs.Turn) (passages []string, err error) {
	*t = runs.Turn{Input: turn.Input, GroundTruth: turn.GroundTruth, RetrievalContext: turn.RetrievalContext}
	message, ok := r.compose(talk, t, turn)
	if !ok {
		return nil, nil
	}
	start := r.env.Now()
	ctx, cancel, bound := r.deadline(talk)
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
		for _, p := range end.Result.Passages {
			passages = append(passages, p.Text)
		}
		t.ToolCalls = append(t.ToolCalls, runs.ToolCall{
			Name: call.Name, CallID: call.CallID, Arguments: call.Arguments,
			Result: end.Result.Text(), Err: callError(end), Elapsed: end.End.Sub(end.Start),
		})
	}
	switch {
	case err != nil && context.Cause(talk) == errCaseTime:
		t.Errors = append(t.Errors, fmt.Sprintf("timeout: the case took longer than %s (timeout_s)", seconds(*tc.TimeoutS)))
	case err != nil:
		t.Errors = append(t.Errors, describeError(err, bound))
	case result.StopReason == agent.StopEmpty:
		t.Answer = "" // whatever was said on the way; the case may expect that
	case result.IsError:
		t.Errors = append(t.Errors, fmt.Sprintf("the turn ended early (%s): %s", result.StopReason, result.ErrorReason))
	}
	return passages, err
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

// seconds returns such as "1 second" and "2.5 seconds".
func seconds(n float64) string {
	if n == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%v seconds", n)
}
