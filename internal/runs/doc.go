// Package runs owns the result model of a test run ([Run], [Case], [Turn],
// [Metric], [ToolCheck]), its counts ([Summary]), and the JSON report that
// other tools read ([ReportWriter]). It refuses to run a case, to decide a
// verdict, and to print for people.
//
// Results are handed on one case at a time. What is kept of a run is its
// Summary, so that memory does not grow with the number of cases.
package runs
