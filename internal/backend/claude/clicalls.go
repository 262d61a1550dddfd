package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/claudecode"
)

// observe takes note of the calls the CLI tells of, in their order, before the
// reader of the turn comes to them: our tools may be called by then.
func (r *cliTurn) observe(m claudecode.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m := m.(type) {
	case *claudecode.CallStarted:
		r.rounds++
	case *claudecode.ToolUsed:
		c := r.callOf(m.ID, func(c *cliCall) bool { return c.name == "" })
		name, ours := r.servers.names[m.Name]
		if !ours {
			name = m.Name
		}
		c.name, c.ours, c.parent, c.arguments = name, ours, m.Parent, m.Input
		c.round = r.rounds
		if ours {
			c.ordinal = r.ordinals() + 1
		}
		r.order = append(r.order, c)
		close(c.known)
	}
}

// ordinals returns how many of the calls are of our tools.
func (r *cliTurn) ordinals() int {
	n := 0
	for _, c := range r.order {
		if c.ours {
			n++
		}
	}
	return n
}

// callOf returns the first call of the CLI's id that is wanted: a model may use an
// id more than once. Where there is none it is made, with an id of its own. The
// caller holds mu.
func (r *cliTurn) callOf(theirs string, wanted func(*cliCall) bool) *cliCall {
	for _, c := range r.calls[theirs] {
		if wanted(c) {
			return c
		}
	}
	c := &cliCall{id: theirs, known: make(chan struct{})}
	if theirs == "" || len(r.calls[theirs]) > 0 {
		c.id = "call_" + r.env.NewID()
	}
	r.calls[theirs] = append(r.calls[theirs], c)
	return c
}

// call runs a call of one of our tools. theirs is the context of the CLI's
// request.
func (r *cliTurn) call(theirs context.Context, id, name string, arguments json.RawMessage) (agent.ToolResult, error) {
	r.mu.Lock()
	if r.ctx.Err() != nil {
		r.mu.Unlock()
		return agent.ToolResult{}, context.Cause(r.ctx)
	}
	r.running.Add(1)
	defer r.running.Done()
	c := r.callOf(id, func(c *cliCall) bool { return !c.begun })
	c.begun = true
	r.mu.Unlock()
	select {
	case <-c.known:
	case <-theirs.Done():
		return agent.ToolResult{}, theirs.Err()
	case <-r.ctx.Done():
		return agent.ToolResult{}, context.Cause(r.ctx)
	}
	if len(arguments) > 0 {
		c.arguments = arguments
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	defer context.AfterFunc(theirs, cancel)()
	end := cliHappening{call: c}
	f := r.dispatch(ctx, c, &end)
	end.event = f
	r.add(end)
	return f.Result, nil
}

// dispatch makes a call, unless a limit forbids it.
func (r *cliTurn) dispatch(ctx context.Context, c *cliCall, end *cliHappening) agent.ToolCallFinished {
	why := r.forbidden()
	if why == "" && c.round >= r.limits.MaxTurns { // nobody could read what it returns
		why = fmt.Sprintf("the turn reached its limit of %d model responses", r.limits.MaxTurns)
	}
	if why != "" {
		at := r.env.Now()
		why = "not run: " + why
		return agent.ToolCallFinished{CallID: c.id, Name: c.name, Result: dialog.ErrorResult(why), Err: why, Start: at, End: at}
	}
	return r.tools.Call(ctx, r.newTool(c, end))
}

// add puts something that a call did where the reader of the turn finds it.
func (r *cliTurn) add(h cliHappening) {
	r.mu.Lock()
	r.happened = append(r.happened, h)
	r.mu.Unlock()
	select {
	case r.notify <- struct{}{}:
	default:
	}
}

// drain tells of what calls did, as far as the reader knows of the calls. Where the
// turn is recorded or played, calls that run side by side are told of together, in
// the order in which they ended.
func (r *cliTurn) drain() error {
	if r.backend.more.Recorder != nil || r.backend.more.Player != nil {
		return r.drainInOrder()
	}
	for {
		r.mu.Lock()
		var h cliHappening
		found := false
		for i, one := range r.happened {
			if one.call.started {
				h, found = one, true
				r.happened = append(r.happened[:i:i], r.happened[i+1:]...)
				break
			}
		}
		r.mu.Unlock()
		if !found {
			return nil
		}
		if err := r.hear(h); err != nil {
			return err
		}
	}
}

func (r *cliTurn) drainInOrder() error {
	r.mu.Lock()
	ends := map[*cliCall]time.Time{}
	for _, h := range r.happened {
		if f, ok := h.event.(agent.ToolCallFinished); ok && h.parent == "" {
			ends[h.call] = f.End
		}
	}
	for _, c := range r.order {
		runs := c.ours && !c.finished && (c.begun || r.backend.more.Player != nil)
		if _, ended := ends[c]; runs && !(ended && c.started) {
			r.mu.Unlock()
			return nil // the others wait for it
		}
	}
	list := r.happened
	r.happened = nil
	r.mu.Unlock()
	slices.SortStableFunc(list, func(a, b cliHappening) int { return ends[a.call].Compare(ends[b.call]) })
	for _, h := range list {
		if err := r.hear(h); err != nil {
			return err
		}
	}
	return nil
}

func (r *cliTurn) hear(h cliHappening) error {
	if h.call.finished {
		return nil
	}
	if m, ok := h.event.(agent.ModelCall); ok {
		r.pay(m.CostUSD)
	}
	f, ended := h.event.(agent.ToolCallFinished)
	if ended && h.parent == "" {
		h.call.finished = true
		r.began = r.env.Now()
		if err := r.turn.EmitUnder(h.call.parent, f); err != nil {
			return err
		}
		return h.over
	}
	return r.turn.EmitUnder(h.parent, h.event)
}

// tell tells of a call.
func (r *cliTurn) tell(m *claudecode.ToolUsed) error {
	r.mu.Lock()
	c := r.callOf(m.ID, func(c *cliCall) bool { return !c.started })
	c.started = true
	r.mu.Unlock()
	arguments := m.Input
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if err := r.turn.EmitUnder(c.parent, agent.ToolCallStarted{CallID: c.id, Name: c.name, Arguments: arguments}); err != nil {
		return err
	}
	return r.drain()
}

// returned tells of the result of a call that did not run here: of a tool of the
// CLI's own, or one that the CLI did not let run.
func (r *cliTurn) returned(m *claudecode.ToolResult) error {
	if err := r.drain(); err != nil {
		return err
	}
	r.mu.Lock()
	i := slices.IndexFunc(r.calls[m.ID], func(c *cliCall) bool { return c.started && !c.finished && !c.begun })
	if i < 0 {
		r.mu.Unlock()
		return nil
	}
	c := r.calls[m.ID][i]
	r.mu.Unlock()
	c.finished = true
	now := r.env.Now()
	f := agent.ToolCallFinished{CallID: c.id, Name: c.name, Result: agent.TextResult(m.Text), Start: now, End: now}
	if m.IsError {
		f.Result.IsError, f.Err = true, firstLine(m.Text)
	}
	r.began = now
	return r.turn.EmitUnder(c.parent, f)
}

// firstLine returns the first line of an error for a report.
func firstLine(text string) string {
	for i, c := range text {
		if c == '\n' || i > 200 {
			return text[:i]
		}
	}
	if text == "" {
		return "the tool failed without saying why"
	}
	return text
}

// settle gives every call that is open an end.
func (r *cliTurn) settle() {
	for _, c := range r.order {
		if !c.started || c.finished {
			continue
		}
		c.finished = true
		now := r.env.Now()
		err := r.turn.EmitUnder(c.parent, agent.ToolCallFinished{CallID: c.id, Name: c.name, Result: dialog.ErrorResult("cancelled"), Err: "cancelled", Start: now, End: now})
		if err != nil {
			return // nobody hears it
		}
	}
}

// modelWorks reports whether the turn waits for the model, and not for tools.
func (r *cliTurn) modelWorks() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.order {
		if c.started && !c.finished {
			return false
		}
	}
	return true
}

// clock bounds model calls: it runs while the turn waits for one.
type clock struct {
	deadline turn.Deadline
	backend  string
	timer    *time.Timer
	round    int
	of       *cliTurn
	running  bool
}

func (r *cliTurn) newClock() *clock {
	c := &clock{deadline: r.limits.Model, backend: r.backend.options.Backend, of: r}
	// A bound that the turn's own is no longer than would pass at the same moment.
	if whole := r.limits.Turn; whole.After > 0 && whole.After <= c.deadline.After {
		c.deadline.After = 0
	}
	c.set(true)
	return c
}

// set starts the clock anew where another model call is waited for, and stops it
// where none is.
func (c *clock) set(works bool) {
	if c.deadline.After <= 0 {
		return
	}
	switch {
	case !works:
		c.stop()
	case !c.running || c.round != c.of.round:
		c.stop()
		c.timer, c.running, c.round = time.NewTimer(c.deadline.After), true, c.of.round
	}
}

func (c *clock) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.running = false
}

// passed returns a channel that has an element when a model call took too long.
func (c *clock) passed() <-chan time.Time {
	if !c.running {
		return nil
	}
	return c.timer.C
}

// err is the error of a model call that took too long.
func (c *clock) err() error {
	return &agent.BackendTimeoutError{
		Backend: c.backend, What: fmt.Sprintf("model call (limit %s, %s)", c.deadline.After, c.deadline.Key), Err: context.DeadlineExceeded,
	}
}
