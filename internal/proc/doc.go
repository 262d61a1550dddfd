// Package proc owns child processes: it starts a program in a group of its own,
// keeps the last lines the program wrote to stderr, and ends the program with
// everything it started, within a bound. It also says which program a name
// means and what of our environment a program of somebody else may see.
//
// A group is a process group on Unix and a job object on Windows. A process
// that leaves its group (a daemon) is out of reach.
//
// The package refuses to know what is spoken over stdin and stdout.
package proc
