package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// ReportWriter writes the report of a run as JSON, one case at a time: the
// TestReport of the Python edition, whose readers refuse a key they do not
// know. Every key is always there, null where there is no value.
//
// What that form has no key for is said in those it has: an unchecked case
// counts as passed, since it does not fail; a metric that was skipped has the
// score 0 and an error that begins with "skipped: "; one that did not apply has
// passed null and a reasoning that begins with "not applicable: ".
//
// Call Add for each case, in the order in which they are to stand, and then
// Close. After an error the report is incomplete, and every later call returns
// that error.
type ReportWriter struct {
	out    jsonWriter
	run    Run
	cases  int
	millis int64 // that the cases took
	// details are what graders had to say of cases of one message, by the place of
	// the case: its form has no key for them.
	details map[string]map[string]any
}

// NewReportWriter begins a report. The caller closes w after Close.
func NewReportWriter(w io.Writer, run Run) *ReportWriter {
	return &ReportWriter{out: jsonWriter{w: w}, run: run}
}

// Add writes a case.
func (r *ReportWriter) Add(c *Case) error {
	if r.cases == 0 {
		r.begin()
	} else {
		r.out.text(",")
	}
	result := newTestResult(c)
	if len(result.details) > 0 {
		if r.details == nil {
			r.details = map[string]map[string]any{}
		}
		r.details[strconv.Itoa(r.cases)] = result.details
	}
	r.cases++
	r.millis += result.ExecutionTimeMS
	r.out.line("    ")
	r.out.value("    ", result)
	return r.out.err
}

// Close writes the summary and ends the report.
func (r *ReportWriter) Close(s Summary) error {
	if r.cases == 0 {
		r.begin()
	} else {
		r.out.line("  ")
	}
	r.out.text("],")
	r.out.member("summary", newReportSummary(s, r.millis), ",")
	r.out.member("timestamp", timestamp(r.run.Started), ",") // a stored run is named after it
	r.out.member("holodeck_version", r.run.Version, ",")
	environment, err := r.environment()
	if err != nil && r.out.err == nil {
		r.out.err = err
	}
	r.out.member("environment", environment, "")
	r.out.line("}")
	if r.out.prefix == "" {
		r.out.text("\n")
	}
	if r.out.err == nil {
		r.out.err = errClosed
		return nil
	}
	return r.out.err
}

// environment returns the one free place of a report: texts by name. What graders
// had to say of cases of one message is there as JSON.
func (r *ReportWriter) environment() (map[string]string, error) {
	environment := map[string]string{}
	maps.Copy(environment, r.run.Environment)
	if len(r.details) > 0 {
		text, err := json.Marshal(r.details)
		if err != nil {
			return nil, fmt.Errorf("write report: details of graders: %w", err)
		}
		environment["grader_details"] = string(text)
	}
	return environment, nil
}

// errClosed is what a report returns that was closed before.
var errClosed = errors.New("write report: it is closed")

func (r *ReportWriter) begin() {
	r.out.text("{")
	r.out.member("agent_name", r.run.Agent, ",")
	r.out.member("agent_config_path", r.run.Path, ",")
	r.out.line(`  "results": [`)
}

// jsonWriter writes an object piece by piece. After an error it writes no more.
type jsonWriter struct {
	w      io.Writer
	prefix string // of every line after the first
	buf    bytes.Buffer
	err    error
}

// text writes s as it is.
func (j *jsonWriter) text(s string) {
	if j.err != nil {
		return
	}
	if _, err := io.WriteString(j.w, s); err != nil {
		j.err = fmt.Errorf("write report: %w", err)
	}
}

// line begins a line with s.
func (j *jsonWriter) line(s string) { j.text("\n" + j.prefix + s) }

// member writes a member of the object on a line of its own. end is a comma, or
// nothing after the last.
func (j *jsonWriter) member(key string, v any, end string) {
	j.line(fmt.Sprintf("  %q: ", key))
	j.value("  ", v)
	j.text(end)
}

// value writes v, whose lines after the first are indented by indent.
func (j *jsonWriter) value(indent string, v any) {
	if j.err != nil {
		return
	}
	j.buf.Reset()
	enc := json.NewEncoder(&j.buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(j.prefix+indent, "  ")
	if err := enc.Encode(v); err != nil {
		j.err = fmt.Errorf("write report: %w", err)
		return
	}
	if _, err := j.w.Write(bytes.TrimSuffix(j.buf.Bytes(), []byte("\n"))); err != nil {
		j.err = fmt.Errorf("write report: %w", err)
	}
}

// timestamp prints as Python's isoformat does in UTC.
func timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000000") + "+00:00"
}

// reportSummary is ReportSummary of the Python edition.
type reportSummary struct {
	TotalTests       int                `json:"total_tests"`
	Passed           int                `json:"passed"`
	Failed           int                `json:"failed"`
	PassRate         float64            `json:"pass_rate"` // 0 to 100
	TotalDurationMS  int64              `json:"total_duration_ms"`
	MetricsEvaluated map[string]int     `json:"metrics_evaluated"`
	AverageScores    map[string]float64 `json:"average_scores"`
}

func newReportSummary(s Summary, millis int64) reportSummary {
	out := reportSummary{
		TotalTests:       s.Attempts.Finished(),
		Passed:           s.Attempts.Finished() - s.Attempts.Failed,
		Failed:           s.Attempts.Failed,
		TotalDurationMS:  millis,
		MetricsEvaluated: map[string]int{},
		AverageScores:    map[string]float64{},
	}
	if out.TotalTests > 0 {
		out.PassRate = 100 * float64(out.Passed) / float64(out.TotalTests)
	}
	for _, m := range s.Metrics {
		if m.Attempts == 0 {
			continue
		}
		name := m.Name
		for n := 2; out.MetricsEvaluated[name] > 0; n++ { // one of another kind
			name = fmt.Sprintf("%s #%d", m.Name, n)
		}
		out.MetricsEvaluated[name] = m.Attempts
		out.AverageScores[name] = m.Mean
	}
	return out
}

// testResult is TestResult of the Python edition.
type testResult struct {
	TestName        *string          `json:"test_name"`
	TestInput       string           `json:"test_input"`
	ProcessedFiles  []processedFile  `json:"processed_files"`
	AgentResponse   *string          `json:"agent_response"`
	ToolCalls       []string         `json:"tool_calls"`
	ToolInvocations []toolInvocation `json:"tool_invocations"`
	ExpectedTools   []any            `json:"expected_tools"`
	ToolsMatched    *bool            `json:"tools_matched"`
	MetricResults   []metricResult   `json:"metric_results"`
	GroundTruth     *string          `json:"ground_truth"`
	Passed          bool             `json:"passed"`
	ExecutionTimeMS int64            `json:"execution_time_ms"`
	Errors          []string         `json:"errors"`
	Timestamp       string           `json:"timestamp"`
	TokenUsage      *tokenUsage      `json:"token_usage"`
	Turns           []turnResult     `json:"turns"`

	details map[string]any // of graders, in a case of one message
}

// turnResult is TurnResult of the Python edition.
type turnResult struct {
	TurnIndex       int              `json:"turn_index"`
	Input           string           `json:"input"`
	Response        *string          `json:"response"`
	GroundTruth     *string          `json:"ground_truth"`
	ExpectedTools   []any            `json:"expected_tools"`
	ToolCalls       []string         `json:"tool_calls"`
	ToolInvocations []toolInvocation `json:"tool_invocations"`
	ToolsMatched    *bool            `json:"tools_matched"`
	ArgMatchDetails []argMatch       `json:"arg_match_details"`
	MetricResults   []metricResult   `json:"metric_results"`
	Passed          bool             `json:"passed"`
	ExecutionTimeMS int64            `json:"execution_time_ms"`
	TokenUsage      *tokenUsage      `json:"token_usage"`
	Errors          []string         `json:"errors"`
	Skipped         bool             `json:"skipped"`
	GraderDetails   map[string]any   `json:"grader_details"`
}

// metricResult is MetricResult of the Python edition.
type metricResult struct {
	MetricName       string            `json:"metric_name"`
	Kind             config.MetricType `json:"kind"`
	Score            float64           `json:"score"`
	Threshold        *float64          `json:"threshold"`
	Passed           *bool             `json:"passed"`
	Scale            string            `json:"scale"`
	Error            *string           `json:"error"`
	RetryCount       int               `json:"retry_count"`
	EvaluationTimeMS int64             `json:"evaluation_time_ms"`
	ModelUsed        *string           `json:"model_used"`
	Reasoning        *string           `json:"reasoning"`
}

// toolInvocation is ToolInvocation of the Python edition.
type toolInvocation struct {
	Name       string          `json:"name"`
	Args       json.RawMessage `json:"args"` // an object
	Result     any             `json:"result"`
	Bytes      int             `json:"bytes"` // length of the result as JSON
	DurationMS int64           `json:"duration_ms"`
	Error      *string         `json:"error"`
}

// argMatch is an entry of arg_match_details.
type argMatch struct {
	ExpectedTool     string  `json:"expected_tool"`
	ArgsAsserted     any     `json:"args_asserted"`
	MatchedCallIndex int     `json:"matched_call_index"`
	UnmatchedReason  *string `json:"unmatched_reason"`
}

// processedFile is ProcessedFileInput of the Python edition.
type processedFile struct {
	Original         fileInput      `json:"original"`
	MarkdownContent  string         `json:"markdown_content"`
	Metadata         map[string]any `json:"metadata"`
	CachedPath       *string        `json:"cached_path"`
	ProcessingTimeMS int64          `json:"processing_time_ms"`
	Error            *string        `json:"error"`
}

// fileInput is FileInput of the Python edition.
type fileInput struct {
	Path        *string         `json:"path"`
	URL         *string         `json:"url"`
	Type        config.FileType `json:"type"`
	Description *string         `json:"description"`
	Pages       []int           `json:"pages"`
	Sheet       *string         `json:"sheet"`
	Range       *string         `json:"range"`
	Cache       *bool           `json:"cache"`
}

// tokenUsage is TokenUsage of the Python edition.
type tokenUsage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	TotalTokens         int `json:"total_tokens"`
	CacheCreationTokens int `json:"cache_creation_tokens"`
	CacheReadTokens     int `json:"cache_read_tokens"`
}

// turnSeparator joins the inputs of a conversation.
const turnSeparator = "\n---\n"

// newTestResult rolls a case up as the Python edition does: answers and errors
// of the turns are joined, scores averaged.
func newTestResult(c *Case) testResult {
	out := testResult{
		TestName:        orNull(c.Name),
		ProcessedFiles:  []processedFile{},
		ToolCalls:       []string{},
		ToolInvocations: []toolInvocation{},
		MetricResults:   []metricResult{},
		Passed:          c.Status != Failed,
		ExecutionTimeMS: c.AgentTime().Milliseconds(),
		Errors:          []string{},
		TokenUsage:      newTokenUsage(c.Usage()),
	}
	if out.ExecutionTimeMS == 0 {
		out.ExecutionTimeMS = c.Elapsed.Milliseconds()
	}
	if !c.Conversation {
		out.rollUpSingle(c)
		return out
	}
	out.Timestamp = timestamp(c.Started)
	out.Turns = []turnResult{}
	inputs := make([]string, len(c.Turns))
	for i, t := range c.Turns {
		turn := newTurnResult(i, t)
		inputs[i] = t.Input
		out.AgentResponse = turn.Response
		out.ToolCalls = append(out.ToolCalls, turn.ToolCalls...)
		out.ToolInvocations = append(out.ToolInvocations, turn.ToolInvocations...)
		out.ToolsMatched = both(out.ToolsMatched, turn.ToolsMatched)
		for _, e := range turn.Errors {
			out.Errors = append(out.Errors, fmt.Sprintf("[turn %d] %s", i, e))
		}
		out.Turns = append(out.Turns, turn)
	}
	out.TestInput = strings.Join(inputs, turnSeparator)
	for _, s := range c.Scores() {
		m := metricResult{
			MetricName: s.Name, Kind: s.Kind, Score: s.Value, Threshold: s.Threshold, Scale: scale,
			EvaluationTimeMS: s.Elapsed.Milliseconds(),
		}
		if s.Counts {
			m.Passed = new(!s.Failed)
		}
		out.MetricResults = append(out.MetricResults, m)
	}
	return out
}

// rollUpSingle fills in what a case of one message has of its only turn.
func (out *testResult) rollUpSingle(c *Case) {
	out.Timestamp = timestamp(c.Started.Add(c.Elapsed))
	for _, t := range c.Turns {
		turn := newTurnResult(0, t)
		out.TestInput = t.Input
		out.AgentResponse = turn.Response
		out.ToolCalls, out.ToolInvocations = turn.ToolCalls, turn.ToolInvocations
		out.ExpectedTools, out.ToolsMatched = turn.ExpectedTools, turn.ToolsMatched
		out.MetricResults, out.details = turn.MetricResults, turn.GraderDetails
		out.GroundTruth = turn.GroundTruth
		out.Errors = turn.Errors
		for _, f := range t.Files {
			out.ProcessedFiles = append(out.ProcessedFiles, newProcessedFile(f))
		}
	}
}

func newTurnResult(index int, t Turn) turnResult {
	out := turnResult{
		TurnIndex:       index,
		Input:           t.Input,
		GroundTruth:     t.GroundTruth,
		ToolCalls:       []string{},
		ToolInvocations: []toolInvocation{},
		MetricResults:   []metricResult{},
		Passed:          t.Status == Passed || t.Status == Unchecked,
		ExecutionTimeMS: t.AgentTime.Milliseconds(),
		TokenUsage:      newTokenUsage(t.Usage),
		Errors:          append([]string{}, t.Errors...),
		Skipped:         t.Status == NotRun,
	}
	if t.Answer != "" || len(t.Errors) == 0 {
		out.Response = new(t.Answer)
	}
	for _, call := range t.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, call.Name)
		out.ToolInvocations = append(out.ToolInvocations, newToolInvocation(call))
	}
	if t.ToolChecks != nil {
		out.ToolsMatched = new(true)
		if len(t.ToolChecks) == 0 {
			out.ExpectedTools = []any{}
		}
	}
	for _, check := range t.ToolChecks {
		out.addToolCheck(check)
	}
	for _, m := range t.Metrics {
		out.MetricResults = append(out.MetricResults, newMetricResult(m))
		out.addDetails(m)
	}
	return out
}

// addDetails keeps what a grader had to say. A second one of its name gets a
// number.
func (out *turnResult) addDetails(m Metric) {
	if len(m.Details) == 0 {
		return
	}
	if out.GraderDetails == nil {
		out.GraderDetails = map[string]any{}
	}
	name := m.Name
	for n := 2; out.GraderDetails[name] != nil; n++ {
		name = fmt.Sprintf("%s #%d", m.Name, n)
	}
	out.GraderDetails[name] = m.Details
}

func (out *turnResult) addToolCheck(check ToolCheck) {
	if !check.Matched {
		out.ToolsMatched = new(false)
		out.Errors = append(out.Errors, check.Title()+": "+check.Reason)
	}
	if check.Rule != RuleExpected && check.Rule != "" {
		return
	}
	expected := check.Expected
	out.ExpectedTools = append(out.ExpectedTools, expectedTool(expected))
	if len(expected.Args) == 0 && expected.Count <= 1 {
		return // matched by its name alone
	}
	call := -1
	if check.Matched {
		call = check.Call
	}
	out.ArgMatchDetails = append(out.ArgMatchDetails, argMatch{
		ExpectedTool:     expected.Name,
		ArgsAsserted:     jsonSafe(orEmpty(expected.Args)),
		MatchedCallIndex: call,
		UnmatchedReason:  orNull(check.Reason),
	})
}

// expectedTool returns an expectation as the file writes it: a name, or an
// object.
func expectedTool(e config.ExpectedTool) any {
	if e.Bare {
		return e.Name
	}
	object := map[string]any{"name": e.Name}
	if e.Args != nil {
		object["args"] = jsonSafe(e.Args)
	}
	if e.Count > 1 {
		object["count"] = e.Count
	}
	return object
}

// scale is the range of every score.
const scale = "0-1"

// These begin the texts of metrics that the form has no status for.
const (
	skippedPrefix       = "skipped: "
	notApplicablePrefix = "not applicable: "
)

func newMetricResult(m Metric) metricResult {
	out := metricResult{
		MetricName: m.Name, Kind: m.Kind, Threshold: m.Threshold, Scale: scale,
		EvaluationTimeMS: m.Elapsed.Milliseconds(), RetryCount: m.Retries,
	}
	if m.Score != nil {
		out.Score = *m.Score
	}
	if m.Counts {
		out.Passed = new(!m.Failed())
	}
	switch m.Status {
	case MetricError:
		out.Error = new(m.Reason)
	case MetricSkipped:
		out.Error = new(skippedPrefix + m.Reason)
	case MetricNotApplicable:
		out.Reasoning = new(notApplicablePrefix + m.Reason)
	default:
		out.Reasoning = orNull(m.Reason)
	}
	return out
}

func newToolInvocation(call ToolCall) toolInvocation {
	out := toolInvocation{
		Name:       call.Name,
		Args:       json.RawMessage(`{}`),
		Result:     call.Result,
		Bytes:      len(encodeJSON(call.Result)),
		DurationMS: call.Elapsed.Milliseconds(),
		Error:      orNull(call.Err),
	}
	if args := bytes.TrimSpace(call.Arguments); len(args) > 0 && args[0] == '{' && json.Valid(args) {
		out.Args = args
	}
	return out
}

func newProcessedFile(f File) processedFile {
	in := f.Input
	metadata := map[string]any{"size_bytes": f.Size, "type": in.Type}
	if in.Path != nil {
		metadata["path"] = *in.Path
	}
	if in.URL != nil {
		metadata["url"] = *in.URL
	}
	return processedFile{
		Original: fileInput{
			Path: in.Path, URL: in.URL, Type: in.Type, Description: in.Description,
			Pages: in.Pages.List(), Sheet: in.Sheet, Range: in.Range, Cache: in.Cache,
		},
		MarkdownContent:  f.Content,
		Metadata:         metadata,
		ProcessingTimeMS: f.Elapsed.Milliseconds(),
		Error:            orNull(f.Err),
	}
}

func newTokenUsage(u *agent.Usage) *tokenUsage {
	if u == nil {
		return nil
	}
	return &tokenUsage{
		PromptTokens: u.Prompt, CompletionTokens: u.Completion, TotalTokens: u.Total,
		CacheCreationTokens: u.CacheWrite, CacheReadTokens: u.Cached,
	}
}

// both is the conjunction of two verdicts either of which may be unknown.
func both(a, b *bool) *bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(*a && *b)
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// jsonSafe returns a value of an agent file with the numbers that JSON does not
// have as texts, so that one .nan does not spoil a report.
func jsonSafe(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = jsonSafe(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = jsonSafe(item)
		}
		return out
	}
	return v
}
