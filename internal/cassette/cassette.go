package cassette

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Schema tags the format.
const Schema = "holodeck.cassette/v1"

// indexFile is the file that makes a folder a cassette.
const indexFile = "cassette.json"

// Kind says what was called.
type Kind string

// The kinds of exchange.
const (
	Model     Kind = "model"
	Tool      Kind = "tool"
	Selection Kind = "selection" // which tools a turn offers
	Hook      Kind = "hook"      // what hooks answered before a tool call
	Tools     Kind = "tools"     // which tools an agent has in a turn
	Claude    Kind = "claude"    // what the Claude Code CLI said in a turn
)

// Place says where in a run an exchange stands. An exchange outside of any
// session has no more than a kind, and is found again by its request.
type Place struct {
	// Session is a session's id, or that and, after a slash, a name for
	// something that runs on its behalf.
	Session string
	Kind    Kind
	// Turn and Ordinal count from 1: the second model call of the first turn.
	Turn, Ordinal int
}

// at returns the place within its session, as the file has it.
func (p Place) at() string { return fmt.Sprintf("%s %d.%d", p.Kind, p.Turn, p.Ordinal) }

// String names the place for people.
func (p Place) String() string {
	if p.Session == "" {
		return fmt.Sprintf("%s call outside of any session", p.Kind)
	}
	return fmt.Sprintf("%s call %d of turn %d of session %s", p.Kind, p.Ordinal, p.Turn, p.Session)
}

// Field is a part of a request. Requests are compared field by field, in order.
type Field struct {
	Name  string
	Value any
}

// About says what a cassette is a record of.
type About struct {
	Agent   string `json:"agent"`   // its name
	Command string `json:"command"` // that recorded it, such as "test"
	Version string `json:"version"` // of the program
	// Offline says that stand-ins were at work, which a replay needs, too.
	Offline  bool      `json:"offline"`
	Recorded time.Time `json:"recorded"`
}

// index is the content of indexFile.
type index struct {
	Schema string `json:"schema"`
	About
	// Described are things that a replay must know and does not open: by kind,
	// such as "model", in the order in which they were first described.
	Described map[string][]described `json:"described"`
	Files     []string               `json:"files"`
	Times     *times                 `json:"times,omitempty"` // of the run itself
}

type described struct {
	Name string          `json:"name"`
	Is   json.RawMessage `json:"is"`
}

// exchange is a line of a session's file, whichever of the forms it has.
type exchange struct {
	Schema  string `json:"schema,omitempty"`
	Session string `json:"session,omitempty"` // of an exchange: where it is not that of the first line

	Value string          `json:"value,omitempty"`
	Is    json.RawMessage `json:"is,omitempty"`

	At       string          `json:"at,omitempty"`
	Request  json.RawMessage `json:"request,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`

	times
}

// outside is the file of exchanges outside of any session.
const outside = "_"

// fileOf returns the file of a session, without its extension: that of the
// session on whose behalf it runs.
func fileOf(session string) string {
	if session == "" {
		return outside
	}
	name := firstOf(session)
	plain := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '-':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	if plain == name {
		return name
	}
	sum := sha256.Sum256([]byte(name)) // tells apart what file systems do not
	return plain + "-" + hex.EncodeToString(sum[:4])
}

// firstOf returns the session on whose behalf a session runs, or itself.
func firstOf(session string) string {
	first, _, _ := strings.Cut(session, "/")
	return first
}
