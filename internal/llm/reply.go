package llm

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// reply builds a response while it is streamed: it hands on each delta and adds
// it to the message. Once its context is done nothing more of the response is
// handed on, even what has already arrived: the call ends in the context's error.
type reply struct {
	ctx     context.Context
	yield   func(Chunk, error) bool
	message Message
	kind    agent.PartKind  // of the part under way
	words   strings.Builder // its text so far
}

func newReply(ctx context.Context, yield func(Chunk, error) bool) *reply {
	return &reply{ctx: ctx, yield: yield, message: Message{Role: RoleAssistant}}
}

// say streams a delta. It returns false when the reader left.
func (r *reply) say(kind agent.PartKind, text string) bool {
	if text == "" {
		return true
	}
	if err := r.ctx.Err(); err != nil {
		return r.fail(err)
	}
	var chunk Chunk = Text(text)
	if kind == agent.PartThinking {
		chunk = Thinking(text)
	}
	if !r.yield(chunk, nil) {
		return false
	}
	if kind != r.kind {
		r.endPart()
		r.kind = kind
	}
	r.words.WriteString(text)
	return true
}

// endPart puts the part under way into the message.
func (r *reply) endPart() {
	if r.words.Len() > 0 {
		r.message.Parts = append(r.message.Parts, agent.Part{Kind: r.kind, Text: r.words.String()})
		r.words.Reset()
	}
	r.kind = ""
}

// seal ends the part under way, when it is of that kind, with what its provider
// attached to it; else what was attached becomes a part of its own.
func (r *reply) seal(kind agent.PartKind, provider string, opaque json.RawMessage) {
	if r.kind == kind && r.words.Len() > 0 {
		r.endPart()
		last := &r.message.Parts[len(r.message.Parts)-1]
		last.Provider, last.Opaque = provider, opaque
		return
	}
	r.endPart()
	r.message.Parts = append(r.message.Parts, agent.Part{Kind: agent.PartOpaque, Provider: provider, Opaque: opaque})
}

// call adds a complete tool call.
func (r *reply) call(c Call) { r.message.Calls = append(r.message.Calls, c) }

// silent reports whether nothing of the answer has come yet.
func (r *reply) silent() bool {
	return r.words.Len() == 0 && len(r.message.Parts) == 0 && len(r.message.Calls) == 0
}

// fail ends the call in an error. It returns false, for its callers to return.
func (r *reply) fail(err error) bool {
	r.yield(nil, err)
	return false
}

// done ends the call.
func (r *reply) done(d Done) {
	if err := r.ctx.Err(); err != nil {
		r.fail(err)
		return
	}
	r.endPart()
	d.Message = r.message
	r.yield(d, nil)
}

// arguments returns the arguments of a call as a Call carries them.
func arguments(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string always encodes
	return quoted
}
