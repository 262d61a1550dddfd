// Package agent owns the contract every runtime, tool and consumer of
// HoloDeck meets at: [Backend] and [Session], the [Event] stream of a turn and
// the [Result] it folds to, [Tool] and its results, and the errors that cross
// a room's door. It refuses to know any runtime, provider, file format or
// store: it imports nothing of ours, and a difference between runtimes is a
// value in [Capabilities] or it does not exist.
//
// # Writing a runtime
//
// A runtime implements [Backend] and [Session]. What Session.Send promises of
// order, deadlines and cancellation is the same everywhere and written once, in
// the package backend/turn: a runtime gives it a function that runs one turn,
// emits the events of that turn and returns how it finished. Tool calls go
// through the tool set that the backend was opened with. The suite in
// backend/backendtest holds a runtime against every promise of this package.
package agent
