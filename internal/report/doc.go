// Package report owns how a test run is shown to people: lines as cases finish,
// a moving line on a terminal, and a summary that begins with the failures. It
// draws from runs values only, and refuses to run, judge or store anything.
//
// What comes from an agent or a file is shown without control characters, so
// that an answer cannot redraw the terminal.
//
// Of the cases themselves only the first [MaxFailures] failures are kept, as
// text of bounded length.
package report
