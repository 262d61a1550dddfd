// Package cli owns the command line: one file a command, each of which turns
// flags into a call of another room and prints what it returned, and the one
// function from errors to exit codes. It refuses to hold any other logic.
package cli
