package eval

import (
	"fmt"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
)

// newScorer returns what computes a standard metric, or nil when this build
// cannot.
func newScorer(m *config.StandardMetric) scorer {
	norm := normalizer{
		foldCase:         m.CaseInsensitive,
		dropPunctuation:  m.StripPunctuation,
		collapseWhiteSpc: m.StripWhitespace,
	}
	switch m.Metric {
	case "equality":
		return equality{norm}
	case "contains":
		return contains{norm}
	case "numeric":
		return numeric{
			absolute:   m.AbsoluteTolerance,
			relative:   m.RelativeTolerance,
			percent:    m.AcceptPercent,
			separators: m.AcceptThousandsSeparators,
		}
	}
	return nil
}

// ownVerdict reports whether a metric says itself, without a threshold, whether
// an answer passes.
func ownVerdict(m *config.StandardMetric) bool {
	return slices.Contains([]config.StandardName{"equality", "contains", "numeric"}, m.Metric)
}

// isJudge reports whether a metric asks a model for its opinion.
func isJudge(entry config.Metric) bool {
	switch m := entry.(type) {
	case *config.GEvalMetric, *config.RAGMetric:
		return true
	case *config.StandardMetric:
		return slices.Contains([]config.StandardName{"groundedness", "relevance", "coherence", "fluency"}, m.Metric)
	}
	return false
}

// describe names what a metric would compute, for "cannot compute …".
func describe(entry config.Metric) string {
	switch m := entry.(type) {
	case *config.GEvalMetric:
		return "geval metrics"
	case *config.CodeMetric:
		return fmt.Sprintf("graders (%s)", m.Grader)
	}
	return entry.Name()
}

// gevalNeeds returns what a case must declare for the parameters a judge is to
// see.
func gevalNeeds(m *config.GEvalMetric) needs {
	return needs{
		groundTruth: slices.Contains(m.EvaluationParams, "expected_output"),
		retrieval:   slices.Contains(m.EvaluationParams, "retrieval_context"),
	}
}

// ragNeeds returns what a case must declare for a retrieval metric. Only
// answer_relevancy does without what was retrieved.
func ragNeeds(m *config.RAGMetric) needs {
	return needs{
		groundTruth: m.MetricType == "contextual_precision" || m.MetricType == "contextual_recall",
		retrieval:   m.MetricType != "answer_relevancy",
	}
}
