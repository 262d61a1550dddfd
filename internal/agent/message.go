package agent

import (
	"encoding/json"
	"strings"
)

// Message is what a person says in one turn.
type Message struct {
	Parts []Part `json:"parts"`
}

// Text returns a message of one text part.
func Text(s string) Message { return Message{Parts: []Part{{Kind: PartText, Text: s}}} }

// Text returns the message's text parts, joined by blank lines.
func (m Message) Text() string { return JoinText(m.Parts) }

// JoinText returns the text of the text parts, joined by blank lines. Other
// kinds of part are passed over.
func JoinText(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Kind == PartText && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// PartKind is the kind of a Part.
type PartKind string

// The kinds of part.
const (
	PartText     PartKind = "text"
	PartThinking PartKind = "thinking"
	PartImage    PartKind = "image"
	PartDocument PartKind = "document"
	// PartData is bytes that no model is given, such as sound, for whoever shows
	// or keeps a result. A text part beside it says what it is.
	PartData PartKind = "data"
	// PartOpaque is a part that only its provider understands. It is carried
	// back to that provider untouched and shown to nobody else.
	PartOpaque PartKind = "opaque"
)

// Part is one piece of a message, a model response or a tool result.
type Part struct {
	Kind PartKind `json:"kind"`
	// Text is the words of a text or thinking part.
	Text string `json:"text,omitempty"`
	// Name, MIME and Data are the file name, media type and bytes of an image,
	// document or data part.
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
	// Provider and Opaque carry what a provider attached to the part, such as
	// a thinking signature. They go back to that provider byte for byte.
	Provider string          `json:"provider,omitempty"`
	Opaque   json.RawMessage `json:"opaque,omitempty"`
}
