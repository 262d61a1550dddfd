package llm

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/offline"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// offlineModel is the model that needs no account: it plays a script, and
// where no rule of it applies it answers by package offline.
type offlineModel struct {
	name    string
	newID   func() string
	program *script.Program

	mu      sync.Mutex
	players map[string]*script.Player // by session; only of a script that counts
	shared  *script.Player            // of a script that does not
}

func newOfflineModel(env agent.Env, name string, program *script.Program) *offlineModel {
	return &offlineModel{
		name: name, newID: env.NewID, program: program,
		players: map[string]*script.Player{},
		shared:  program.NewPlayer(),
	}
}

// Info implements Model. Every call costs nothing.
func (m *offlineModel) Info() Info {
	return Info{
		Provider: string(config.ProviderOffline),
		Name:     m.name,
		Capabilities: agent.Capabilities{
			Streaming: true, Thinking: true, StructuredOutput: true, Cost: true,
		},
	}
}

// EndSession implements SessionEnder.
func (m *offlineModel) EndSession(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.players, id)
}

// player returns what plays the script in a session.
func (m *offlineModel) player(session string) *script.Player {
	if !m.program.Limited() {
		return m.shared
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.players[session]
	if !ok {
		p = m.program.NewPlayer()
		m.players[session] = p
	}
	return p
}

// Stream implements Model.
func (m *offlineModel) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		turn := lastTurn(req.Messages)
		r := &response{reply: newReply(ctx, yield), finish: script.FinishStop}
		steps, scripted := m.player(req.Session).Next(turn.situation())
		if scripted {
			for _, s := range steps {
				if !r.play(s, m) {
					return
				}
			}
		} else if !r.answer(offline.Respond(turn.input(req)), m) {
			return
		}
		r.done(req)
	}
}

// turnSoFar is the part of a history that belongs to the turn under way, and
// what the person said up to it.
type turnSoFar struct {
	users []string  // the person's messages of the session, oldest first
	rest  []Message // what followed the last of them
}

// lastTurn finds the turn under way: it begins at the last message a person wrote.
func lastTurn(history []Message) turnSoFar {
	var t turnSoFar
	for i, msg := range history {
		if msg.Role == RoleUser && !msg.Auto {
			t.users = append(t.users, agent.JoinText(msg.Parts))
			t.rest = history[i+1:]
		}
	}
	return t
}

// situation returns what a script may ask for.
func (t turnSoFar) situation() script.Situation {
	s := script.Situation{Turn: len(t.users), Round: 1}
	if len(t.users) > 0 {
		s.User = t.users[len(t.users)-1]
	}
	for _, msg := range t.rest {
		if msg.Role == RoleAssistant {
			s.Round++
		}
	}
	if len(t.rest) > 0 {
		var texts []string
		for _, r := range t.rest[len(t.rest)-1].Results {
			texts = append(texts, r.Result.Text())
		}
		s.Result = strings.Join(texts, "\n\n")
	}
	return s
}

// input returns what package offline needs to know.
func (t turnSoFar) input(req Request) offline.Input {
	in := offline.Input{Users: t.users, Tools: req.Tools, Schema: req.Schema}
	for _, msg := range t.rest {
		for _, r := range msg.Results {
			in.Searched = true
			in.Passages = append(in.Passages, r.Result.Passages...)
			if r.Result.IsError {
				in.Failures = append(in.Failures, r.Result.Text())
			}
		}
	}
	return in
}

// response is one response of the offline model.
type response struct {
	*reply
	usage  *agent.Usage
	finish string
}

// play does what a step says. It returns false when the call has ended.
func (r *response) play(s script.Step, m *offlineModel) bool {
	switch {
	case s.Text != "":
		return r.say(agent.PartText, s.Text)
	case s.Thinking != "":
		return r.say(agent.PartThinking, s.Thinking)
	case s.Call != nil:
		id := s.Call.ID
		if id == "" {
			id = m.newID()
		}
		r.call(Call{ID: id, Name: s.Call.Name, Arguments: arguments(s.Call.Args)})
	case s.DelayMS > 0:
		return r.wait(time.Duration(s.DelayMS) * time.Millisecond)
	case s.Block:
		<-r.ctx.Done()
		return r.fail(r.ctx.Err())
	case s.Error != nil:
		return r.refuse(&ProviderError{
			Provider: string(config.ProviderOffline), Model: m.name,
			Status: s.Error.Status, Message: s.Error.Message,
			RetryAfter: time.Duration(s.Error.RetryAfterMS) * time.Millisecond,
		})
	case s.Cut:
		return r.fail(&ProviderError{
			Provider: string(config.ProviderOffline), Model: m.name,
			Message: "the response ended before it was complete",
		})
	case s.Garbage != "":
		return r.fail(&ProviderError{
			Provider: string(config.ProviderOffline), Model: m.name,
			Status: http.StatusOK, Message: fmt.Sprintf("not what a model says: %q", s.Garbage),
		})
	case s.Usage != nil:
		r.usage = s.Usage
	case s.Finish != "":
		r.finish = s.Finish
	}
	return true
}

// refuse ends the call in a refusal. As with every provider, a prompt that is too
// long is a response that says so.
func (r *response) refuse(err *ProviderError) bool {
	if !err.ContextOverflow() {
		return r.fail(err)
	}
	r.reply.done(Done{CostUSD: new(float64), Stop: agent.StopContextOverflow, FinishReason: err.Message})
	return false
}

// answer does what package offline decided, word by word.
func (r *response) answer(out offline.Output, m *offlineModel) bool {
	for _, c := range out.Calls {
		r.call(Call{ID: m.newID(), Name: c.Name, Arguments: c.Args})
	}
	for word := range words(out.Text) {
		if !r.say(agent.PartText, word) {
			return false
		}
	}
	return true
}

func (r *response) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ctx.Done():
		return r.fail(r.ctx.Err())
	}
}

// done ends the call.
func (r *response) done(req Request) {
	r.endPart()
	if r.usage == nil {
		u := agent.Usage{Prompt: countPrompt(req), Completion: countMessage(r.message)}
		for _, p := range r.message.Parts {
			if p.Kind == agent.PartThinking {
				u.Reasoning += CountTokens(p.Text)
			}
		}
		u.Total = u.Prompt + u.Completion
		r.usage = &u
	}
	r.reply.done(Done{
		Usage: *r.usage, CostUSD: new(float64),
		Stop: stopReason(r.finish), FinishReason: r.finish,
	})
}

func stopReason(finish string) agent.StopReason {
	switch finish {
	case script.FinishLength:
		return agent.StopMaxTokens
	case script.FinishRefusal:
		return agent.StopRefusal
	case script.FinishContentFilter:
		return agent.StopBlocked
	}
	return agent.StopEnd
}

// words yields a text in pieces that end after the white space behind each word.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			n := strings.IndexAny(text, " \t\n")
			if n < 0 {
				n = len(text)
			}
			for n < len(text) && (text[n] == ' ' || text[n] == '\t' || text[n] == '\n') {
				n++
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}
