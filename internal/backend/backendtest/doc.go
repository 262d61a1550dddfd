// Package backendtest owns the suite that every runtime passes: what
// agent.Backend and agent.Session promise, each promise a test. The suite owns
// the scripts and the tools; a runtime supplies only the way to play them. It
// refuses to know any runtime: where runtimes may differ it asks
// agent.Capabilities.
//
// No test waits for time to pass: tools are held and let go by channels, and a
// deadline is only ever reached by a model or a tool that would wait for ever.
package backendtest
