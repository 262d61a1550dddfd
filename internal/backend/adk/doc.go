// Package adk owns the google_adk runtime: an agent on Google's Agent Development
// Kit for Go. ADK's LLM agent, runner and in-memory session service decide what
// happens next and keep the conversation. The package refuses everything else:
// models are llm.Model, behind ADK's model interface; tools are the agent's tool
// set, behind ADK's tool interface; what a turn means is in the package dialog. So
// retries, prices, permissions, records and spans are those of every runtime.
//
// It alone imports adk-go. Built with the tag noadk it does not, and opening an
// agent is a *agent.BackendInitError that says how to build it in.
//
// # What goes into ADK
//
// Every message goes in with its original beside it, and comes out as that: ADK's
// own types would lose the order and the large numbers of arguments, what
// providers attach to parts, and images in results. Of arguments and results ADK
// gets nothing but a handle, so nothing of them is in the spans that it makes and
// that no switch turns off. Spans of the program never stand inside ADK's: models
// and tools run in the context of the turn.
//
// ADK tells calls apart by their ids in the whole session, and means something of
// its own by some names of tools. Ids and names are therefore made for it here,
// and never leave the package; the model sees the names and ids of every runtime.
//
// # What comes out
//
// A turn's events are read from ADK's. Partial events are the deltas; the whole
// response that follows them is the ModelCall, the calls it asks for and what the
// history keeps, so that no text is told twice. ADK reports the calls of a response
// when all have ended: what each tool call comes to is told by the call itself.
//
// # Where ADK would differ
//
// ADK appends a sentence with the agent's internal name to the instructions; it is
// taken off again. Instructions go in by the callback, which leaves {braces} alone.
// response_format goes to the model and is held by the package dialog: ADK's own
// OutputSchema knows a part of JSON Schema only. RunConfig has no bound on model
// calls; a plugin has. A response of nothing
// but thoughts is no answer to ADK, which lets the model go on: that is kept, and
// each response counts.
package adk
