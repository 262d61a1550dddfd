// Package mcp owns the client of Model Context Protocol servers: a [Client] is one
// server of an agent file, reached over stdio, sse, websocket or http, and its
// tools and prompts are [agent.Tool]s. The protocol itself, its versions
// 2024-11-05 to 2026-07-28 and the two HTTP transports are the go-sdk's; ours are
// stdio (on package proc, so that a server ends with all it started and its last
// words are known), websocket, names, content, limits, and the life of a
// connection.
//
// # Life
//
// [Client.Connect] starts a server or reaches it, and lists what it has.
// [Client.Refresh], before a turn, brings back a server that is late or has died,
// with growing pauses between attempts, and lists anew when the server said that
// its tools changed. A call on a stream that was closed while idle opens it again
// first. A call that runs out of time is cancelled alone. [Client.Close] ends
// every server within a bound.
//
// # Trust
//
// What a server says is outside input. A message is bounded ([MaxMessage]), a
// schema too ([MaxSchema]); a tool that cannot be offered is left out and told of.
// Over HTTP the client speaks to the configured origin alone, so that headers with
// credentials go nowhere else. A server may ask for roots, for the agent's model
// (sampling) and for a person's answer (elicitation) only where [Options] give
// them; else the request is refused as the protocol says.
//
// The package refuses to know of sets, permissions and records: those are package
// tool's.
package mcp
