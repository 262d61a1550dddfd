// Package dialog owns what a conversation with a model means whatever machinery
// runs it, so that no two runtimes differ in it: which messages a model can be
// sent, one model call within its deadline, the ids of calls, what ends a turn on
// the model's side and how that is told, the check of an answer against
// response_format, and how a session is put away. It refuses to run turns, which
// is a runtime's, and keeps no state of its own.
package dialog
