package eval

import (
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval/text"
)

// family is what a standard metric is.
type family struct {
	scorer scorer // nil when this build cannot compute it
	needs  needs
	// verdict says that it decides itself, without a threshold, whether an
	// answer passes.
	verdict bool
	// keys are the settings that mean something to it, beside those of every
	// metric.
	keys []string
}

// newFamily returns what a standard metric is. The error says which setting
// cannot be used.
func newFamily(m *config.StandardMetric) (family, error) {
	norm := normalizer{
		foldCase:         m.CaseInsensitive,
		dropPunctuation:  m.StripPunctuation,
		collapseWhiteSpc: m.StripWhitespace,
	}
	normKeys := []string{"case_insensitive", "strip_punctuation", "strip_whitespace", "response_path"}
	pathKey := []string{"response_path"}
	bounds := within{min: m.Min, max: m.Max}
	boundKeys := []string{"min", "max"}
	toTruth := needs{groundTruth: true}
	switch m.Metric {
	case "equality":
		return family{scorer: equality{norm}, needs: toTruth, verdict: true, keys: normKeys}, nil
	case "contains":
		return family{scorer: contains{norm}, needs: toTruth, verdict: true, keys: normKeys}, nil
	case "starts_with":
		return family{scorer: startsWith{norm}, needs: toTruth, verdict: true, keys: normKeys}, nil
	case "levenshtein":
		return family{scorer: overlap{text.Levenshtein, norm}, needs: toTruth, keys: normKeys}, nil
	case "bleu":
		return family{scorer: overlap{measure: text.BLEU}, needs: toTruth, keys: pathKey}, nil
	case "rouge1":
		return family{scorer: overlap{measure: text.ROUGE1}, needs: toTruth, keys: pathKey}, nil
	case "rouge2":
		return family{scorer: overlap{measure: text.ROUGE2}, needs: toTruth, keys: pathKey}, nil
	case "rouge", "rougeL":
		return family{scorer: overlap{measure: text.ROUGEL}, needs: toTruth, keys: pathKey}, nil
	case "meteor":
		return family{scorer: overlap{measure: text.METEOR}, needs: toTruth, keys: pathKey}, nil
	case "f1", "f1_score":
		return family{scorer: overlap{measure: text.F1}, needs: toTruth, keys: pathKey}, nil
	case "numeric":
		n := numeric{
			absolute:   m.AbsoluteTolerance,
			relative:   m.RelativeTolerance,
			percent:    m.AcceptPercent,
			separators: m.AcceptThousandsSeparators,
		}
		keys := []string{"absolute_tolerance", "relative_tolerance", "accept_percent", "accept_thousands_separators", "response_path"}
		return family{scorer: n, needs: toTruth, verdict: true, keys: keys}, nil
	case "regex":
		s, err := newPattern(m)
		return family{
			scorer: s, needs: needs{groundTruth: m.Pattern == nil}, verdict: true,
			keys: []string{"pattern", "case_insensitive", "response_path"},
		}, err
	case "json_schema":
		s, err := newFollows(m)
		return family{scorer: s, needs: needs{value: true}, verdict: true, keys: []string{"schema", "response_path"}}, err
	case "length":
		return family{scorer: length{bounds}, verdict: true, keys: append(boundKeys, "response_path")}, nil
	case "latency":
		return family{scorer: latency{bounds}, needs: needs{noAnswer: true}, verdict: true, keys: boundKeys}, nil
	case "cost":
		return family{scorer: cost{bounds}, needs: needs{noAnswer: true}, verdict: true, keys: boundKeys}, nil
	case "tokens":
		return family{scorer: tokens{bounds}, needs: needs{noAnswer: true}, verdict: true, keys: boundKeys}, nil
	}
	return family{keys: []string{"model", "custom_prompt", "response_path"}}, nil // a judge
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
	case *config.StandardMetric:
		return string(m.Metric)
	case *config.GEvalMetric:
		return "geval metrics"
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
