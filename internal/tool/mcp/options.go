package mcp

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/llm"
)

// Bounds of what a server may say.
const (
	// MaxMessage is the most bytes of one message. One that is longer ends the
	// connection: which call it answers cannot be told.
	MaxMessage = 64 << 20
	// MaxSchema is the most bytes of the schema of a tool's arguments. A tool with
	// more is left out: it would fill a model's context.
	MaxSchema = 256 << 10
	// MaxTools is the most tools, and the most prompts, of one server.
	MaxTools = 10_000
	// manyTools is how many tools of a request every large provider takes.
	manyTools = 128
)

// Options says how a server is reached and what it may ask of us. Its functions
// may be called from several goroutines at once.
type Options struct {
	// Lookup is asked for variables of our environment: where programs are, and
	// what of it a server is given. nil knows none.
	Lookup func(name string) (string, bool)
	// HTTP makes the requests of the transports other than stdio; nil is
	// http.DefaultClient.
	HTTP *http.Client
	// Dir is the folder a server is started in; empty is ours.
	Dir string
	// Version is ours, as the server is told.
	Version string
	// Roots are the folders, as absolute paths, that the server is told it works
	// on. Without any it is told that we have no roots.
	Roots []string
	// Model answers the server's sampling requests; nil refuses them.
	Model llm.Model
	// Elicit asks a person what the server wants to know; nil refuses.
	Elicit func(ctx context.Context, q Question) (Answer, error)
	// Needed says that no turn begins without the server: Refresh waits for it as
	// long as Connect does.
	Needed bool
	// Chosen says that each turn offers but some of the tools, so that many do no
	// harm.
	Chosen bool
	// Notice is told in whole sentences what a person should know: a tool
	// that is left out, a connection that broke. Otherwise the log is.
	Notice func(message string)
}

// Question is what a server asks a person (elicitation).
type Question struct {
	Server  string
	Message string
	// Schema is the JSON Schema of the answer: an object of strings, numbers,
	// booleans and choices. It is empty when URL is set.
	Schema json.RawMessage
	// URL is a page the person is asked to open instead.
	URL string
}

// Action is what a person did with a Question.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline" // said no
	Cancel  Action = "cancel"  // went away without a choice
)

// Answer is a person's answer to a Question.
type Answer struct {
	Action  Action
	Content map[string]any // by the Question's schema; with Accept only
}
