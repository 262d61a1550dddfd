// Package tool owns the tools of an opened agent: [Open] opens every tool the
// agent file names, and the [Set] it returns runs them. Every call on every
// runtime goes through [Set.Call] and so through one chain, in this order:
//
//	permission → before-hooks → schema check → cassette around
//	(deadline → call → size limit) → redaction → after-hooks
//
// Each is a [Link]: a function from one [Handler] to another. Hooks and the
// cassette pass calls through where there are none.
//
// A call never fails a turn. A refusal, a wrong argument, a passed deadline, an
// error or a panic of the tool becomes a result that tells the model what
// happened, and [agent.ToolCallFinished.Err] for everybody else.
//
// The package refuses to know what a tool does: kinds of tool live in rooms of
// their own and implement [agent.Tool].
package tool
