package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Fault is what the errors of servers have in common.
type Fault struct {
	Server string // the name of the tool in the agent file
	What   string // what happened, a clause
	Next   string // what to do about it, a clause; may be empty
	// Stderr is the last that a stdio server wrote to it.
	Stderr []string
	Err    error // the cause; may be nil
	// unsent says that the server has not got the request.
	unsent bool
}

// text returns the message under the name the error has for people.
func (f *Fault) text(class string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: server %s %s", class, f.Server, f.What)
	if f.Err != nil {
		fmt.Fprintf(&b, ": %v", f.Err)
	}
	if f.Next != "" {
		fmt.Fprintf(&b, "; %s", f.Next)
	}
	if len(f.Stderr) > 0 {
		b.WriteString("; the last it wrote to stderr:")
		for _, line := range f.Stderr {
			b.WriteString("\n  " + cut(line, longestLine))
		}
	}
	return plain(b.String())
}

// longestLine is how many bytes are shown of a line that a server wrote to stderr.
const longestLine = 500

// cut returns the beginning of a text.
func cut(text string, longest int) string {
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// plain returns what a server said without what would move a terminal: control
// characters but tabs and ends of lines, and those that change the direction of
// writing.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return '\uFFFD'
		}
		return r
	}, text)
}

// toolError is how every error of a server is an *agent.ToolError.
func (f *Fault) toolError(target any, e error) bool {
	t, ok := target.(**agent.ToolError)
	if ok {
		*t = &agent.ToolError{Tool: f.Server, Err: e}
	}
	return ok
}

// ConfigError says that an entry of the agent file cannot be a server. It is a
// *config.Error. For people it is MCPConfigError.
type ConfigError struct {
	Server  string
	Problem config.Problem
}

// Error implements error.
func (e *ConfigError) Error() string { return "MCPConfigError: " + e.Problem.String() }

// As makes the error a *config.Error.
func (e *ConfigError) As(target any) bool {
	c, ok := target.(**config.Error)
	if ok {
		*c = &config.Error{Problems: []config.Problem{e.Problem}}
	}
	return ok
}

// Error is what goes wrong with a server and is no other error of this package.
// It is an *agent.ToolError, and every error below is one of these. For people it
// is MCPError.
type Error struct{ Fault }

// Error implements error.
func (e *Error) Error() string { return e.text("MCPError") }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// As makes the error an *agent.ToolError.
func (e *Error) As(target any) bool { return e.toolError(target, e) }

// ConnectionError says that a server could not be started or reached, or that the
// connection broke. For people it is MCPConnectionError.
type ConnectionError struct{ Fault }

// Error implements error.
func (e *ConnectionError) Error() string { return e.text("MCPConnectionError") }

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// As makes the error an *Error and an *agent.ToolError.
func (e *ConnectionError) As(target any) bool {
	if t, ok := target.(**Error); ok {
		*t = &Error{e.Fault}
		return true
	}
	return e.toolError(target, e)
}

// TimeoutError says that a server did not answer in time. It is a
// *ConnectionError and context.DeadlineExceeded. For people it is
// MCPTimeoutError.
type TimeoutError struct {
	Fault
	After time.Duration
}

// Error implements error.
func (e *TimeoutError) Error() string { return e.text("MCPTimeoutError") }

// Unwrap returns context.DeadlineExceeded, and the cause.
func (e *TimeoutError) Unwrap() []error {
	if e.Err == nil {
		return []error{context.DeadlineExceeded}
	}
	return []error{context.DeadlineExceeded, e.Err}
}

// As makes the error a *ConnectionError, an *Error and an *agent.ToolError.
func (e *TimeoutError) As(target any) bool {
	switch t := target.(type) {
	case **ConnectionError:
		*t = &ConnectionError{e.Fault}
	case **Error:
		*t = &Error{e.Fault}
	default:
		return e.toolError(target, e)
	}
	return true
}

// ProtocolError says that a server refused a request, or said what the protocol
// does not allow. For people it is MCPProtocolError.
type ProtocolError struct {
	Fault
	Code int64 // of the server's JSON-RPC error; 0 when there is none
}

// Error implements error.
func (e *ProtocolError) Error() string { return e.text("MCPProtocolError") }

// Unwrap returns the cause.
func (e *ProtocolError) Unwrap() error { return e.Err }

// As makes the error an *Error and an *agent.ToolError.
func (e *ProtocolError) As(target any) bool {
	if t, ok := target.(**Error); ok {
		*t = &Error{e.Fault}
		return true
	}
	return e.toolError(target, e)
}
