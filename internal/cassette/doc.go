// Package cassette owns recorded exchanges: what a run said to its models and
// tools and what they answered, with the times and ids that the run handed out.
// A [Recorder] writes them into a folder, a [Player] gives them back. It refuses
// to know what an exchange means: the rooms that make calls bring requests and
// responses as values that encode to JSON, and ask for them again by their
// [Place].
//
// # Replay
//
// A request that is asked for must be the recorded one. Both are compared as
// JSON, with secrets masked, and the first difference is named by its path. So a
// replay needs no model, tool, server or key, and still fails when the agent has
// changed.
//
// # Files
//
// The format is holodeck.cassette/v1. A cassette is a folder:
//
//	cassette.json   what was recorded, the models and tools, the run's own times
//	case-1.jsonl    one file for each session
//	_.jsonl         calls outside of any session, if there are any
//
// A session's file has one JSON object a line, each of one of these forms:
//
//	{"schema": …, "session": …}                          the first line
//	{"value": ID, "is": …}                               a value that requests refer to
//	{"at": "model 1.2", "request": …, "response": …}     turn 1, second call
//	{"at": "tool 1.1", "request": …, "response": …}
//	{"at": "hook 1.1", "request": …, "response": …}      before tool call 1.1
//	{"at": "selection 1.1", "request": …, "response": …}
//	{"scope": …, "now": {"first": …, "then": […]}, "ids": […]}
//
// A conversation is sent again with every call, so long values of a request are
// written once and referred to as {"$value": ID}. Times are the first one and
// the nanoseconds from each to the next.
//
// # Secrets
//
// Everything is masked by the agent's secret.Redactor before it is written, keys
// of objects included.
package cassette
