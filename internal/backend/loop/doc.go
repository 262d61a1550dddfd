// Package loop owns our own tool-calling loop: it asks a model, runs the tools
// the model asked for, and goes on until the model has answered or a limit is
// reached. It is the runtime of every backend name that has no Go edition of
// its own, and of every agent that runs offline. It refuses to know providers,
// which are behind llm.Model, and tools, which are behind [Tools].
//
// # A turn
//
// The person's message is added to the history. Then, in rounds: one model
// call, whose deltas are passed on as they come; one ModelCall; the tool calls
// it asked for, all started, run side by side, finished in the order in which
// they end. A response without calls is the answer. Where response_format asks
// for a value, an answer that does not match is sent back once with what is
// wrong; a second one ends the turn with StopSchema.
//
// # Limits
//
// A limit of the model's side ends the turn in an error result that keeps the
// text so far. MaxTurns counts model responses: the calls of the last response
// are reported and not run, because nobody could read what they return. The
// cost limits are looked at before a model call that would follow others: what
// has been answered is never thrown away. A response that was cut at max_tokens
// is an answer, and StopReason says that it was cut.
//
// A deadline, of a model call or of the turn, is an error. It runs on while the
// reader takes its time: who reads slowly slows the model.
//
// # History
//
// After a turn that was cancelled or failed, the person's message stays, and
// every call of a response that was completed has a result. A response that
// was not completed is left out.
package loop
