// Package runs owns the results of test runs: the model ([Run], [Case], [Turn],
// [Metric], [ToolCheck]) with its counts ([Summary]), where runs are kept and how
// they are found ([Store], [Stored]), the journal that a run is recorded in as it
// goes ([Recorder], [Journal]), its stored form and the JSON report that other
// tools read ([WriteStored], [ReportWriter]), and what one run says of another
// ([Compare]). It refuses to run a case, to decide a verdict, and to print for
// people.
//
// Results are handed on one case at a time. What is kept of a run is its
// Summary, so that memory does not grow with the number of cases.
package runs
