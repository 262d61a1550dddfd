// Package testrun owns the running of test cases: which of them and how often, in
// which order and how many at once, the conversation of a case, which checks
// apply, and whether an attempt passed. It refuses to compute metrics (package
// eval), to keep or format results (packages runs and report), and to know what
// an agent runs on.
//
// # Which cases
//
// A [Selection] makes a [Plan] of the agent's cases: each combination of the vars
// of a test case is a case with an id that no other has and that is the same in
// every run. A case runs one or more times; each attempt is a result of its own,
// and package runs judges them together.
//
// # An attempt
//
// Each attempt has a session of its own; its turns are sent one after the other,
// each under a deadline. A turn is judged while the next is under way, its
// metrics side by side. A turn that fails does not end the conversation, since
// its later turns may still be worth judging; after two failures of the runtime
// in a row, or when the case has used up its time or its money, the rest is given
// up.
//
// # The verdict
//
// A turn fails when there was an error, a rule on its tool calls is broken, a
// metric that counts did not pass, or the answer is empty and allow_empty does
// not say that it may be. It passes when it did not fail and at least one check
// counted; otherwise it is unchecked, which is not a failure but is shown. An
// attempt fails when one of its turns does, and passes when none fails and at
// least one passes.
//
// # Order and memory
//
// Finished cases are shown as they finish and handed on in the order of the
// file. A case that finished early waits for those before it; how far the run
// may get ahead is bounded, so that what is held does not grow with the number
// of cases.
package testrun
