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
//     one equality, contains and numeric give their own verdict.
//   - Error: the metric itself failed, such as a ground_truth that is no
//     number. An answer that the metric cannot read is not an error but Fail.
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
// equality, contains and numeric. bleu, rouge, meteor, f1, the metrics that ask
// a judge and graders are skipped; [Check] says so at load.
//
// A new metric is a [scorer] and a line in newScorer: thresholds, response
// paths, missing input and errors are handled once, in [Metric.Evaluate].
package eval
