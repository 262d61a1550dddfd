// Package eval owns the metrics: how an answer is scored, when a score passes,
// and what a metric counts as that gave no score. It refuses to run agents, to
// decide whether a test case passed, and to know how results are stored or
// shown.
//
// # What a metric counts as
//
// Every metric of a case ends in one [Status]:
//
//   - Pass, Fail: it gave a score. With a threshold the score decides; without
//     one, metrics that know right from wrong (equality, contains, starts_with,
//     numeric, regex, json_schema and those with bounds) give their own verdict,
//     and the others inform: they pass and do not count.
//   - Error: the metric itself failed, such as a ground_truth that is no
//     number, took longer than timeout_ms, or gave a score that is none. An
//     answer that the metric cannot read is not an error but Fail.
//   - Skipped: what it needs was expected and did not come.
//   - NotApplicable: the case never declared what it needs.
//
// NotApplicable never counts. Error counts against the case unless the metric
// says on_error: ignore, or fail_on_error: false in so many words. Skipped
// counts against the case unless the metric says on_missing: ignore, or it has
// no threshold and its score would only have informed. With --offline, which
// asks whether an agent's parts work together and not how good its answers
// are, a metric that needs a judge, or that this build cannot compute, is
// skipped and does not count.
//
// # What this build computes
//
// Every standard metric but those that ask a judge, and graders, which are in
// `grader/`. The others are skipped; [Check] says so at load.
//
// A new metric is a [scorer] and a case in newFamily: thresholds, response
// paths, missing input, errors, retries and time are handled once, in
// [Metric.Evaluate].
package eval
