// Package telemetry tells an OpenTelemetry receiver what an agent does: spans,
// metrics and logs, as the observability section of the agent file says. It
// decorates what others own (a backend, a model, the dispatch of tool calls, the
// log) and changes nothing of what these do: an exporter that is slow or down
// delays no turn and fails none. It refuses to invent a vocabulary: names follow
// the OpenTelemetry conventions for generative AI, with the older names of token
// counts beside them.
//
// The spans of a turn are one tree on every runtime:
//
//	invoke_agent AGENT
//	├─ chat MODEL           a model call; made from its ModelCall event where a
//	│                       runtime calls the model itself
//	└─ execute_tool TOOL    a tool call, with what the tool asks beneath it
//
// No global provider is set, so that what other modules trace on their own,
// with the arguments and results of tools in it, goes nowhere.
package telemetry
