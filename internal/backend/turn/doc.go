// Package turn owns what Session.Send means on every runtime: one turn at a
// time, events from one goroutine and with their headers, exactly one end, and
// who may cut a turn short: its caller, its reader, its deadline, or the
// session's Close. It refuses to know how a turn is run.
package turn
