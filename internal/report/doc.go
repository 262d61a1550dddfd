// Package report owns how a test run is shown: lines as cases finish and a
// summary that begins with the failures ([Terminal]); files in several forms
// ([New]), among them a page that needs nothing else; and what GitHub Actions
// shows ([NewAnnotations], [NewStepSummary]). All of them are a [Writer]. It draws
// from runs values only, and refuses to run, judge or store anything, and to open
// files.
//
// What comes from an agent or a file is text in every form: an answer cannot
// redraw the terminal, become HTML or XML, or be run by a spreadsheet.
//
// No Writer keeps a case. Of the failures the first [MaxFailures] are kept, as
// text of bounded length.
package report
