package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/claudecode"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/provider"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// cliTurn is one turn of a session. What the CLI writes comes on the goroutine of
// the turn, the calls of our tools on goroutines of their own: what both touch
// stands under mu.
type cliTurn struct {
	*cliSession
	turn *turn.Turn
	// ctx is what tools run in.
	ctx context.Context
	cut context.CancelCauseFunc

	partial string // text of the last response that had any
	text    strings.Builder
	open    bool                   // a response is under way
	held    *claudecode.ModelCall  // an answer that was cut: the CLI may have it gone on with
	began   time.Time              // when the model call under way did
	usage   map[string]agent.Usage // of the main agent's calls, by model
	waiting []*claudecode.ToolUsed // calls of the response under way

	running sync.WaitGroup // calls of our tools
	notify  chan struct{}  // has one element when happened may have something

	mu       sync.Mutex
	calls    map[string][]*cliCall // by the CLI's id
	order    []*cliCall
	rounds   int // model responses that began
	round    int // and that ended
	costUSD  float64
	happened []cliHappening
	over     string // why no tool runs any more
}

// cliCall is a call of a tool.
type cliCall struct {
	id, name, parent string
	arguments        json.RawMessage
	ordinal          int
	round            int  // of the response that asked for it
	ours             bool // the tool is the agent's
	begun            bool // it runs, or ran, here
	started          bool // the reader was told of it
	finished         bool
	known            chan struct{} // closed when the CLI has told of the call
}

// cliHappening is something that a call of ours did.
type cliHappening struct {
	call   *cliCall
	parent string // of what went on inside of it
	event  agent.Event
	over   error // see tool.Call.EndTurn
}

func newCLITurn(ctx context.Context, s *cliSession, t *turn.Turn) *cliTurn {
	r := &cliTurn{cliSession: s, turn: t, notify: make(chan struct{}, 1), calls: map[string][]*cliCall{}, usage: map[string]agent.Usage{}}
	r.ctx, r.cut = context.WithCancelCause(ctx)
	return r
}

// run has the CLI answer a message.
func (r *cliTurn) run(m agent.Message) (agent.TurnFinished, error) {
	defer r.cut(nil)
	if r.told && r.past.Session == "" && r.lost() {
		return agent.TurnFinished{}, errors.New("the Claude Code CLI ended before it had stored the conversation; begin a new session")
	}
	offered, err := r.prepare()
	if err != nil {
		return agent.TurnFinished{}, err
	}
	source, err := r.source(offered)
	if err != nil {
		return agent.TurnFinished{}, err
	}
	r.cliSession.turn.Store(r)
	defer r.cliSession.turn.Store(nil)
	defer r.cliSession.ended()
	result, err := r.listen(source, m)
	r.running.Wait()
	r.drain()
	r.settle()
	switch {
	case err != nil && r.ctx.Err() != nil:
		r.remember()
		return agent.TurnFinished{}, context.Cause(r.ctx)
	case err != nil:
		return agent.TurnFinished{}, err
	}
	return r.finish(result)
}

// remember notes where the conversation stands after a turn that was interrupted,
// which the CLI has stored like any other.
func (r *cliTurn) remember() {
	r.cliSession.mu.Lock()
	defer r.cliSession.mu.Unlock()
	if c := r.client; c != nil && c.Alive() && c.LastMessage() != "" {
		r.past = past{Session: c.Session(), At: c.LastMessage()}
	}
}

// lost reports whether what was said before is gone: no process has it.
func (r *cliTurn) lost() bool {
	r.cliSession.mu.Lock()
	defer r.cliSession.mu.Unlock()
	return r.backend.more.Player == nil && (r.client == nil || !r.client.Alive())
}

// prepare says what is to be said at the beginning, and brings the tools of the
// turn up to date.
func (r *cliTurn) prepare() ([]agent.Definition, error) {
	if err := r.backend.options.Begin(r.ctx, r.turn, r.own); err != nil {
		return nil, err
	}
	return r.tools.Definitions(), nil
}

// source returns what the CLI says in the turn: the process of the session, or a
// record of one.
func (r *cliTurn) source(offered []agent.Definition) (talker, error) {
	if p := r.backend.more.Player; p != nil {
		return r.played(p)
	}
	client, err := r.begin(r.ctx, offered, func() error {
		return r.turn.Emit(agent.Notice{Code: agent.NoticeWaiting, Text: fmt.Sprintf(
			"all %d processes of the Claude Code CLI are in a turn (claude.max_concurrent_sessions); this one waits", r.backend.pool.most)})
	})
	if err != nil {
		return nil, err
	}
	r.told = true
	if rec := r.backend.more.Recorder; rec != nil {
		return r.recorded(client, rec), nil
	}
	return client, nil
}

// contents returns a message as the CLI takes it.
func contents(m agent.Message) []claudecode.Content {
	list := make([]claudecode.Content, len(m.Parts))
	for i, p := range m.Parts {
		switch p.Kind {
		case agent.PartImage, agent.PartDocument:
			list[i] = claudecode.Content{Kind: string(p.Kind), MIME: p.MIME, Data: p.Data}
		default:
			list[i] = claudecode.Content{Text: p.Text}
		}
	}
	return list
}

// said is what the CLI said, or why it says nothing more.
type said struct {
	m     claudecode.Message
	err   error
	taken chan struct{} // closed when it may say more
}

// listen takes what the CLI says up to its result.
func (r *cliTurn) listen(source talker, m agent.Message) (*claudecode.Result, error) {
	steps := make(chan said)
	go func() {
		defer close(steps)
		for m, err := range source.Turn(r.ctx, contents(m)...) {
			s := said{m, err, make(chan struct{})}
			steps <- s
			<-s.taken
		}
	}()
	r.began = r.env.Now()
	clock := r.newClock()
	defer clock.stop()
	var (
		result *claudecode.Result
		failed error
	)
	for steps != nil {
		var err error
		select {
		case s, more := <-steps:
			switch {
			case !more:
				steps = nil
				continue
			case s.err != nil:
				failed = s.err
			default:
				if last, ok := s.m.(*claudecode.Result); ok {
					result = last
				} else {
					err = r.take(s.m)
				}
			}
			close(s.taken)
		case <-r.notify:
			err = r.drain()
		case <-clock.passed():
			err = clock.err()
		}
		clock.set(r.modelWorks())
		if err != nil {
			r.cut(err)
		}
	}
	switch {
	case failed != nil:
		return nil, failed
	case result == nil:
		return nil, errors.New("the Claude Code CLI ended its turn without a result")
	}
	return result, nil
}

// take tells of what the CLI says.
func (r *cliTurn) take(m claudecode.Message) error {
	switch m := m.(type) {
	case *claudecode.Started:
		return r.started(m)
	case *claudecode.CallStarted:
		if r.open && r.held == nil { // the call before broke off, and is made again
			if err := r.closeCall(claudecode.ModelCall{Model: m.Model}); err != nil {
				return err
			}
		}
		r.open = true
		return nil
	case *claudecode.TextDelta:
		r.open = true
		r.text.WriteString(m.Text)
		return r.turn.Emit(agent.TextDelta{Text: m.Text})
	case *claudecode.Thinking:
		r.open = true
		return r.turn.Emit(agent.ThinkingDelta{Text: m.Text})
	case *claudecode.ModelCall:
		return r.called(*m)
	case *claudecode.ToolUsed:
		if m.Parent == "" {
			r.waiting = append(r.waiting, m)
			return nil
		}
		return r.tell(m)
	case *claudecode.ToolResult:
		return r.returned(m)
	case *claudecode.SubagentText:
		return r.turn.EmitUnder(m.Parent, agent.TextDelta{Text: m.Text})
	case *claudecode.Retry:
		return r.retried(m)
	case *claudecode.Fallback:
		return r.turn.Emit(agent.Notice{Code: agent.NoticeFallback, Text: fmt.Sprintf("%s answers in place of %s", m.To, m.From)})
	}
	return nil
}

// started checks that the CLI has our tools.
func (r *cliTurn) started(m *claudecode.Started) error {
	for _, s := range m.Servers {
		if s.Status == "failed" {
			return fmt.Errorf("the Claude Code CLI could not open the tools of %s", s.Name)
		}
	}
	return nil
}

// retried tells of another attempt. With a key that is refused there is no use in
// one.
func (r *cliTurn) retried(m *claudecode.Retry) error {
	if m.Error == "authentication_failed" {
		return r.refusal(&claudecode.Result{APIError: m.Error, APIStatus: http.StatusUnauthorized, Text: "the key is refused"})
	}
	what := m.Error
	if m.Status != nil {
		what = fmt.Sprintf("%d %s", *m.Status, m.Error)
	}
	if what == "" {
		what = "the connection broke"
	}
	return r.turn.Emit(agent.Notice{Code: agent.NoticeRetry, Text: fmt.Sprintf("%s model %s: %s; attempt %d of %d follows in %s",
		r.backend.info.Provider, r.backend.info.Name, what, m.Attempt+1, m.MaxRetries+1, time.Duration(m.DelayMS)*time.Millisecond)})
}

// called takes note of a model call that ended. An answer that was cut the CLI has
// gone on with: what comes then belongs to the same response.
func (r *cliTurn) called(m claudecode.ModelCall) error {
	if r.held != nil {
		m.Usage = m.Usage.Plus(r.held.Usage)
		r.held = nil
	}
	if m.StopReason == "max_tokens" && len(r.waiting) == 0 {
		r.held = &m
		return nil
	}
	return r.closeCall(m)
}

// closeCall tells of a model call that ended, and of the tools it asked for.
func (r *cliTurn) closeCall(m claudecode.ModelCall) error {
	model := m.Model
	if model == "" {
		model = r.backend.info.Name
	}
	used := usageOf(m.Usage)
	e := agent.ModelCall{
		Provider: r.backend.info.Provider, Model: model, Usage: used, CostUSD: r.backend.cost(model, used),
		FinishReason: m.StopReason, Start: r.began, End: r.env.Now(),
	}
	r.pay(e.CostUSD)
	r.usage[model] = r.usage[model].Add(used)
	if r.text.Len() > 0 {
		r.partial = r.text.String()
	}
	r.text.Reset()
	r.open, r.began = false, r.env.Now()
	r.mu.Lock()
	r.round++
	r.mu.Unlock()
	if err := r.turn.Emit(e); err != nil {
		return err
	}
	waiting := r.waiting
	r.waiting = nil
	for _, w := range waiting {
		if err := r.tell(w); err != nil {
			return err
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if _, why := r.limits.Reached(r.backend.options.Backend, r.spent()); why != "" {
		r.forbid(why)
	}
	return r.drain()
}

// spent is what the turn has used so far.
func (r *cliTurn) spent() dialog.Spent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return dialog.Spent{Responses: r.round, TurnUSD: r.costUSD, SessionUSD: r.spentUSD}
}

// pay adds what a model call cost, if that is known.
func (r *cliTurn) pay(usd *float64) {
	if usd == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.costUSD += *usd
	r.spentUSD += *usd
}

// forbid lets no tool run any more.
func (r *cliTurn) forbid(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = why
}

func usageOf(u claudecode.Usage) agent.Usage {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return agent.Usage{Prompt: prompt, Completion: u.Output, Total: prompt + u.Output, Cached: u.CacheRead, CacheWrite: u.CacheWrite}
}

// finish ends the turn with what the CLI came to.
func (r *cliTurn) finish(m *claudecode.Result) (agent.TurnFinished, error) {
	r.past = past{Session: m.SessionID, At: m.LastMessage}
	if r.held != nil {
		if err := r.closeCall(*r.held); err != nil {
			return agent.TurnFinished{}, err
		}
	}
	if err := r.others(m); err != nil {
		return agent.TurnFinished{}, err
	}
	short := func(stop agent.StopReason, reason string) (agent.TurnFinished, error) {
		return agent.TurnFinished{Response: r.partial, StopReason: stop, IsError: true, Reason: reason}, nil
	}
	if stop, why := r.limits.Reached(r.backend.options.Backend, r.spent()); why != "" && (m.IsError || r.forbidden() != "") {
		return short(stop, why)
	}
	switch {
	case m.Subtype == "error_max_turns":
		return short(agent.StopMaxTurns, fmt.Sprintf("the turn reached its limit of %d model responses", r.limits.MaxTurns))
	case m.Subtype == "error_max_structured_output_retries":
		if end, _ := r.backend.format.Finish(llm.Done{Stop: agent.StopEnd}, r.partial, false); end.IsError {
			return end, nil
		}
		return short(agent.StopSchema, "the answer does not match response_format, however often it was asked for")
	case m.TerminalReason == "prompt_too_long", m.IsError && r.refusal(m).ContextOverflow():
		if err := r.closeCall(claudecode.ModelCall{}); err != nil {
			return agent.TurnFinished{}, err
		}
		return short(agent.StopContextOverflow, "the conversation is longer than the model can read; begin a new session")
	case m.StopReason == "refusal":
		return short(agent.StopRefusal, "the model refused to answer")
	case m.IsError:
		return agent.TurnFinished{}, r.failure(m)
	}
	stop := agent.StopEnd
	if m.StopReason == "max_tokens" {
		stop = agent.StopMaxTokens
	}
	if r.backend.format != nil && m.Structured != nil {
		return agent.TurnFinished{Response: r.partial, StopReason: stop, Structured: m.Structured}, nil
	}
	end, _ := r.backend.format.Finish(llm.Done{Stop: stop, FinishReason: m.StopReason}, r.partial, false)
	return end, nil
}

// forbidden returns why no tool runs any more, or "".
func (r *cliTurn) forbidden() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// refusal returns what the API said, as far as the CLI hands it on.
func (r *cliTurn) refusal(m *claudecode.Result) *provider.Error {
	e := &provider.Error{Provider: r.backend.info.Provider, Model: r.backend.info.Name, Status: m.APIStatus, Code: m.APIError}
	text := m.Text
	if text == "" {
		text = strings.Join(m.Errors, "; ")
	}
	text = strings.TrimPrefix(text, "API Error: ")
	e.Message = strings.TrimPrefix(text, fmt.Sprintf("%d ", m.APIStatus))
	if m.APIError == "authentication_failed" {
		e.Hint = "the key is not accepted; claude.runtime: cli uses that of model.auth_provider"
	}
	return e
}

// failure returns an error result of the CLI as an error.
func (r *cliTurn) failure(m *claudecode.Result) error {
	if m.APIStatus != 0 || m.APIError != "" {
		return r.refusal(m)
	}
	text := strings.Join(m.Errors, "; ")
	for _, other := range []string{m.Text, m.TerminalReason, m.Subtype} {
		if text == "" {
			text = strings.ReplaceAll(other, "_", " ")
		}
	}
	return fmt.Errorf("the Claude Code CLI could not finish the turn: %s", text)
}

// others tells of what the turn used beside the calls of the main agent: those of
// sub-agents and of the CLI's own errands.
func (r *cliTurn) others(m *claudecode.Result) error {
	for _, model := range sortedKeys(m.Models) {
		all := usageOf(claudecode.Usage{Input: m.Models[model].Input, Output: m.Models[model].Output, CacheRead: m.Models[model].CacheRead, CacheWrite: m.Models[model].CacheWrite})
		ours := r.usage[model]
		rest := agent.Usage{
			Prompt: max(0, all.Prompt-ours.Prompt), Completion: max(0, all.Completion-ours.Completion),
			Cached: max(0, all.Cached-ours.Cached), CacheWrite: max(0, all.CacheWrite-ours.CacheWrite),
		}
		rest.Total = rest.Prompt + rest.Completion
		if rest.Total == 0 {
			continue
		}
		at := r.env.Now()
		e := agent.ModelCall{Provider: r.backend.info.Provider, Model: model, Purpose: agent.PurposeAside, Usage: rest, CostUSD: r.backend.cost(model, rest), Start: at, End: at}
		r.pay(e.CostUSD)
		if err := r.turn.Emit(e); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(m map[string]claudecode.ModelUsage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// newTool is what tool.Call needs of the turn, for a call of ours.
func (r *cliTurn) newTool(c *cliCall, end *cliHappening) tool.Call {
	return tool.Call{
		ID: c.id, Name: c.name, Arguments: c.arguments,
		Session: r.id, Turn: r.turn.Number(), Ordinal: c.ordinal,
		User: r.opts.User, Mode: r.opts.Mode, Approver: r.opts.Approver, Limits: r.limits.Left(r.spent()),
		Now:     r.env.Scope(fmt.Sprintf("tool %d.%d", r.turn.Number(), c.ordinal)).Now,
		EndTurn: func(err error) { end.over = err },
		Events: func(ctx context.Context, parent string, e agent.Event) error {
			r.add(cliHappening{call: c, parent: parent, event: e})
			return ctx.Err()
		},
	}
}
