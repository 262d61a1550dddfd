// Package agent owns the contract every runtime, tool and consumer of
// HoloDeck meets at: [Backend] and [Session], the [Event] stream of a turn and
// the [Result] it folds to, [Tool] and its results, and the errors that cross
// a room's door. It refuses to know any runtime, provider, file format or
// store: it imports nothing of ours, and a difference between runtimes is a
// value in [Capabilities] or it does not exist.
package agent
