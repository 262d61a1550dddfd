// Package pyre owns regular expressions in the syntax of Python's re, which
// agent files are written in. It refuses to match without end: a match that
// takes too long is an error.
//
// Expressions may look around and refer back to groups, so a backtracking
// engine matches them. The flags a and L and \N{…} have no counterpart there and
// are refused, as is what that engine has and Python has not.
package pyre
