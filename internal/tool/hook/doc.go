// Package hook owns what an agent file wants to happen around tool calls and
// turns: which hooks an event concerns, in which order they run, and what each
// does. The chain of the tool set asks it before and after every call, and the
// backend at the start of a session, at the end of a turn and for a notice.
//
// # Order and failure
//
// Hooks run one after the other, as the file has them. Before a tool call the first
// that rejects ends it; what modify sets is seen by the hooks behind it. Where
// modify cannot do its work the call is rejected. A notify or script that fails is
// logged and the call goes on, unless its on_failure says reject. After a call
// nothing can be undone, and every failure is no more than logged.
//
// # What hooks are told
//
// A [Report]: one JSON object, with secrets masked. A script before a tool call may
// answer {"reject": "why"} or {"transform": {…}}.
//
// # Replay
//
// What notify and script did before a tool call is recorded, and played; after it,
// and around turns, they are left out of a replay. Log, reject and modify need
// nothing from outside and do their work again.
package hook
