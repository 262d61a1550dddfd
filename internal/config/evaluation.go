package config

// Evaluations says how answers are scored.
type Evaluations struct {
	Block
	Model     *Model     `key:"model" doc:"The judge; absent, the agent's model."`
	Metrics   []Metric   `key:"metrics" rule:"required,minitems=1" doc:"The metrics of every test case."`
	Optimizer *Optimizer `key:"optimizer" doc:"What holodeck test optimize changes and aims at."`
}

// Metric is one metric: a *StandardMetric, *GEvalMetric, *RAGMetric or
// *CodeMetric, chosen by its type key, which defaults to standard.
type Metric interface {
	// Base returns what every metric has.
	Base() *MetricBase
	// Name is the metric's name in reports.
	Name() string
}

// MetricBase is what every metric has.
type MetricBase struct {
	Block
	Type        MetricType `key:"type" default:"standard" doc:"The family of the metric."`
	Enabled     bool       `key:"enabled" default:"true" doc:"Whether it is computed."`
	FailOnError bool       `key:"fail_on_error" default:"false" doc:"Whether an error of the metric fails the case; written as false, it does not."`
	OnMissing   OnEvent    `key:"on_missing" ours:"true" default:"fail" doc:"What a metric counts as whose input was expected and did not come."`
	OnError     OnEvent    `key:"on_error" ours:"true" default:"fail" doc:"What a metric counts as that ended in an error."`
}

// Base implements Metric.
func (b *MetricBase) Base() *MetricBase { return b }

// OnEvent is what a metric counts as that gave no score.
type OnEvent string

// Values implements the enumeration.
func (OnEvent) Values() []string { return []string{"fail", "ignore"} }

// MetricType is the family of a metric.
type MetricType string

// The families.
const (
	MetricStandard MetricType = "standard"
	MetricGEval    MetricType = "geval"
	MetricRAG      MetricType = "rag"
	MetricCode     MetricType = "code"
)

// Values implements the enumeration.
func (MetricType) Values() []string { return []string{"standard", "geval", "rag", "code"} }

// StandardMetric compares the answer with what is known of it.
type StandardMetric struct {
	MetricBase
	Metric                    StandardName `key:"metric" rule:"required" doc:"Which one."`
	Title                     *string      `key:"name" ours:"true" rule:"nonblank" doc:"Its name in reports; absent, the metric's."`
	Threshold                 *float64     `key:"threshold" doc:"Lowest score that passes."`
	Scale                     *int         `key:"scale" rule:"gt=0" doc:"What the threshold is out of, such as 100; a judge's highest mark."`
	Model                     *Model       `key:"model" doc:"The judge of this metric."`
	RetryOnFailure            *int         `key:"retry_on_failure" rule:"min=1,max=3" doc:"How often an error is tried again."`
	TimeoutMS                 *int         `key:"timeout_ms" rule:"gt=0" doc:"Milliseconds the metric may take."`
	CustomPrompt              *string      `key:"custom_prompt" doc:"What the judge is told instead of the built-in text."`
	CaseInsensitive           bool         `key:"case_insensitive" default:"false" doc:"Letter case does not count (equality, contains, starts_with, levenshtein, regex)."`
	StripWhitespace           bool         `key:"strip_whitespace" default:"false" doc:"Runs of white space count as one blank (equality, contains, starts_with, levenshtein)."`
	StripPunctuation          bool         `key:"strip_punctuation" default:"false" doc:"ASCII punctuation does not count (equality, contains, starts_with, levenshtein)."`
	AbsoluteTolerance         float64      `key:"absolute_tolerance" default:"1e-6" rule:"min=0" doc:"Largest difference that passes (numeric)."`
	RelativeTolerance         float64      `key:"relative_tolerance" default:"0" rule:"min=0" doc:"Largest difference that passes, as a share of the expected value (numeric)."`
	AcceptPercent             bool         `key:"accept_percent" default:"false" doc:"5% reads as 0.05 (numeric)."`
	AcceptThousandsSeparators bool         `key:"accept_thousands_separators" default:"false" doc:"1,000 reads as 1000 (numeric)."`
	ResponsePath              *string      `key:"response_path" doc:"Path to a value inside a JSON answer, such as items[0].price."`

	Pattern *string         `key:"pattern" ours:"true" doc:"What the answer must hold, in the syntax of Python's re; absent, the ground_truth is the pattern (regex)."`
	Schema  *ResponseFormat `key:"schema" ours:"true" doc:"JSON Schema of the answer: the schema itself, or a path to a JSON file (json_schema)."`
	Min     *float64        `key:"min" ours:"true" rule:"min=0" doc:"Least that passes (length in characters, latency in milliseconds, cost in US dollars, tokens)."`
	Max     *float64        `key:"max" ours:"true" rule:"min=0" doc:"Most that passes, as for min."`

	// JSONSchema is the resolved schema, nil when there is none.
	JSONSchema []byte `key:"-"`
}

// Name implements Metric: the title, or the metric's name.
func (m *StandardMetric) Name() string {
	if m.Title != nil {
		return *m.Title
	}
	return string(m.Metric)
}

// StandardName is a standard metric.
type StandardName string

// Values implements the enumeration.
func (StandardName) Values() []string {
	return []string{
		"groundedness", "relevance", "coherence", "fluency",
		"bleu", "rouge", "rouge1", "rouge2", "rougeL", "meteor", "f1", "f1_score", "levenshtein",
		"equality", "numeric", "contains", "starts_with", "regex", "json_schema",
		"length", "latency", "cost", "tokens",
	}
}

// GEvalMetric asks a judge by criteria.
type GEvalMetric struct {
	MetricBase
	Title            string       `key:"name" rule:"required,nonblank" doc:"Its name in reports."`
	Criteria         string       `key:"criteria" rule:"required,nonblank" doc:"What is judged."`
	EvaluationSteps  []string     `key:"evaluation_steps" doc:"How; absent, the judge writes the steps."`
	EvaluationParams []GEvalParam `key:"evaluation_params" default:"[actual_output]" rule:"minitems=1" doc:"What the judge sees."`
	StrictMode       bool         `key:"strict_mode" default:"false" doc:"Only 0 or 1."`
	Threshold        *float64     `key:"threshold" rule:"min=0,max=1" doc:"Lowest score that passes; 0.5 when absent."`
	Model            *Model       `key:"model" doc:"The judge of this metric."`
}

// Name implements Metric.
func (m *GEvalMetric) Name() string { return m.Title }

// GEvalParam is something a judge may see.
type GEvalParam string

// Values implements the enumeration.
func (GEvalParam) Values() []string {
	return []string{"input", "actual_output", "expected_output", "context", "retrieval_context"}
}

// RAGMetric judges an answer by what was retrieved for it.
type RAGMetric struct {
	MetricBase
	MetricType    RAGMetricType `key:"metric_type" rule:"required" doc:"Which one."`
	Threshold     float64       `key:"threshold" default:"0.5" rule:"min=0,max=1" doc:"Lowest score that passes."`
	IncludeReason bool          `key:"include_reason" default:"true" doc:"Whether the judge says why."`
	Model         *Model        `key:"model" doc:"The judge of this metric."`
}

// Name implements Metric.
func (m *RAGMetric) Name() string { return string(m.MetricType) }

// RAGMetricType is a retrieval metric.
type RAGMetricType string

// Values implements the enumeration.
func (RAGMetricType) Values() []string {
	return []string{"faithfulness", "contextual_relevancy", "contextual_precision", "contextual_recall", "answer_relevancy"}
}

// Optimizer says what is tuned and towards what.
type Optimizer struct {
	Block
	Loss         map[string]float64 `key:"loss" rule:"required,minitems=1,gt=0" doc:"Weight of each metric in the loss."`
	Axes         Axes               `key:"axes" doc:"What may be changed."`
	MaxCycles    int                `key:"max_cycles" default:"3" rule:"gt=0" doc:"Most rounds of both phases."`
	NumericPhase Phase              `key:"numeric_phase" default:"{max_trials: 10, patience: 5}" doc:"Bounds of the numeric phase."`
	TextualPhase Phase              `key:"textual_phase" default:"{max_trials: 5, patience: 3}" doc:"Bounds of the textual phase."`
	MinDelta     float64            `key:"min_delta" default:"0.01" rule:"min=0" doc:"Least gain that counts."`
	Seed         int                `key:"seed" default:"42" doc:"Seed of the search."`
}

// Axes lists what the optimizer may change.
type Axes struct {
	Block
	Numeric []NumericAxis `key:"numeric" default:"[]" doc:"Numbers and choices."`
	Textual []TextualAxis `key:"textual" default:"[]" doc:"Texts."`
}

// NumericAxis is a number or choice that may be changed.
type NumericAxis struct {
	Block
	Path  string   `key:"path" rule:"required,nonblank" doc:"Key, such as tools[name=kb].top_k."`
	Type  AxisType `key:"type" rule:"required" doc:"What it is."`
	Range []any    `key:"range" rule:"required,minitems=1" doc:"[low, high], or the choices."`
}

// AxisType is what a numeric axis is.
type AxisType string

// Values implements the enumeration.
func (AxisType) Values() []string { return []string{"float", "int", "categorical"} }

// TextualAxis is a text that may be changed.
type TextualAxis struct {
	Block
	Path     string `key:"path" rule:"required,nonblank" doc:"Key, such as instructions.inline."`
	MaxChars int    `key:"max_chars" default:"8000" rule:"gt=0" doc:"Longest text, in characters."`
}

// Phase bounds a phase of the optimizer.
type Phase struct {
	Block
	MaxTrials int `key:"max_trials" rule:"required,gt=0" doc:"Most trials."`
	Patience  int `key:"patience" rule:"required,gt=0" doc:"Trials without gain before it ends."`
}
