// Package worker owns the running of the user's own code: functions of Python
// files in a child interpreter, programs of any language, and Starlark scripts
// in this process. It takes JSON and gives JSON. It refuses to know what the code
// is for: tools, graders and hooks make of its results what they need.
//
// # Three forms
//
//   - [Pool.Function] and [Pool.Grader]: Python. An interpreter is started when
//     the first call needs one, and all code of one environment shares it, many
//     calls at once: a function in a thread, a coroutine on the event loop.
//   - [Pool.Command]: a program of any language, started for each call, with the
//     arguments as JSON on stdin.
//   - [LoadScript]: Starlark. It has no way to the outside and a bound of steps.
//
// # The interpreter
//
// It is HOLODECK_PYTHON, else the .venv of the agent's folder, else python3, of
// version 3.9 or later. It runs isolated (-I): variables such as PYTHONPATH do
// nothing, and the working folder is not searched before Python's own modules are
// loaded; after that the agent's folder comes first, as the Python edition has it.
// Its environment is what the agent file declares and [proc.Inherited].
//
// # The protocol
//
// One JSON object a line, holodeck.worker/v1, over the pipes that were stdin and
// stdout when the interpreter began; it moves them away before any code of the
// user runs, so that what that prints goes to stderr, which is kept as a tail and
// logged. We say {"id", "op": "describe" | "call" | "grade" | "cancel", …}, and are
// answered {"id", "result"} or {"id", "error": {"kind", "message", …}}.
//
// # Time and memory
//
// A call ends when its ctx does. No thread of Python can be stopped from outside:
// if the call does not end either, the interpreter gets no more calls, those that
// are under way in it end in their own time, and then it is killed with all it
// started, while new calls run in a new one. Memory is bounded by Options.MemoryLimit
// where the system can do that.
package worker
