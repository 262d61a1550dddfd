// Package claude owns the claude runtime: what the claude section makes of an
// agent, and turns on the Claude Code CLI. It refuses to speak the CLI's protocol,
// which is claudecode's, and to run turns over an API, which is the loop's.
//
// An agent of this runtime runs in one of two ways, which claude.runtime names:
// cli, on the Claude Code CLI, and api, on our own loop over the API of the
// model's provider. With auto, the default, it is the CLI where there is one, and a
// Notice says which was taken.
//
// What belongs to the CLI alone (its shell, its file tools, its web search, its
// sub-agents and settings files) is not there over the API, and what the CLI has
// no way to take (temperature, top_p, max_tokens, tool_filtering) does nothing on
// it. [Check] says so of every such key.
package claude
