// Package claude owns the claude runtime: what the claude section makes of an
// agent. It refuses to run turns, which is the loop's.
//
// An agent of this runtime can run in two ways, which claude.runtime names. In
// this build there is one: api, our own loop over the API of the model's
// provider, which needs no Claude Code CLI. With auto, the default, an agent
// runs that way, too, and a Notice says so. cli is refused when the file is
// loaded.
//
// What belongs to the CLI alone (its shell, its file tools, its web search, its
// sub-agents and settings files) is not there on this way. [Check] says so of
// every such key that asks for something. What the CLI has no way to take,
// temperature, top_p and max_tokens, reaches the model.
package claude
