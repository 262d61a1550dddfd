package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// storedRun is what a stored run says beside its results.
type storedRun struct {
	agent, path, timestamp, version string
	environment                     map[string]string
	args                            []string
	commit                          *string
	// unknown are keys that the form does not have, such as "results[].mood".
	unknown map[string]bool
}

// walkStored reads a stored run, or a report on its own, and hands on one
// result after the other. Keys it does not know are noted and otherwise passed
// over, and a missing key has no value; only what cannot be a run is an error.
func walkStored(r io.Reader, each func(*Case) error) (*storedRun, error) {
	w := &storedWalk{dec: json.NewDecoder(r), each: each, seen: map[string]int{}, run: &storedRun{unknown: map[string]bool{}}}
	if err := w.object("", w.top); err != nil {
		return nil, err
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the run")
	}
	if !w.results {
		return nil, errors.New("it has no results: it is not a stored run")
	}
	return w.run, nil
}

// storedWalk is a walk through a stored run.
type storedWalk struct {
	dec     *json.Decoder
	each    func(*Case) error
	run     *storedRun
	results bool // they have been seen
	cases   int
	seen    map[string]int // ids, and how many cases have had them
}

// object reads an object, calling member for each of its keys. member reads the
// value, or returns false and leaves it.
func (w *storedWalk) object(path string, member func(key string) (bool, error)) error {
	if err := w.delim('{'); err != nil {
		return err
	}
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		known, err := member(key)
		if err != nil {
			return fmt.Errorf("%s: %w", path+key, err)
		}
		if !known {
			w.run.unknown[path+key] = true
			if err := w.dec.Decode(new(json.RawMessage)); err != nil {
				return err
			}
		}
	}
	return w.delim('}')
}

func (w *storedWalk) delim(want json.Delim) error {
	token, err := w.dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case token != want:
		return fmt.Errorf("there is %v where %v should be", token, want)
	}
	return nil
}

// top reads a member of the run, or of a report that stands on its own.
func (w *storedWalk) top(key string) (bool, error) {
	switch key {
	case "report":
		return true, w.object("report.", w.report)
	case "metadata":
		return true, w.object("metadata.", w.metadata)
	}
	return w.report(key)
}

func (w *storedWalk) report(key string) (bool, error) {
	switch key {
	case "agent_name":
		return true, w.dec.Decode(&w.run.agent)
	case "agent_config_path":
		return true, w.dec.Decode(&w.run.path)
	case "timestamp":
		return true, w.dec.Decode(&w.run.timestamp)
	case "holodeck_version":
		return true, w.dec.Decode(&w.run.version)
	case "environment":
		return true, w.dec.Decode(&w.run.environment)
	case "summary": // the counts are those of the results
		return true, w.dec.Decode(new(json.RawMessage))
	case "results":
		w.results = true
		return true, w.eachResult()
	}
	return false, nil
}

func (w *storedWalk) metadata(key string) (bool, error) {
	switch key {
	case "cli_args":
		return true, w.dec.Decode(&w.run.args)
	case "git_commit":
		return true, w.dec.Decode(&w.run.commit)
	case "agent_config", "prompt_version", "holodeck_version":
		return true, w.dec.Decode(new(json.RawMessage))
	}
	return false, nil
}

func (w *storedWalk) eachResult() error {
	if err := w.delim('['); err != nil {
		return err
	}
	for w.dec.More() {
		var raw json.RawMessage
		if err := w.dec.Decode(&raw); err != nil {
			return err
		}
		var result testResult
		if err := json.Unmarshal(raw, &result); err != nil {
			return fmt.Errorf("result %d: %w", w.cases, err)
		}
		var free any
		if err := json.Unmarshal(raw, &free); err != nil {
			return err
		}
		unknownKeys(free, reflect.TypeFor[testResult](), "results[]", w.run.unknown)
		c := result.toCase(w.cases)
		c.ID = numbered(w.seen, c.ID)
		w.cases++
		if err := w.each(c); err != nil {
			return err
		}
	}
	return w.delim(']')
}

// unknownKeys notes the keys of v that the type t has no field for.
func unknownKeys(v any, t reflect.Type, path string, unknown map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
			for _, item := range v {
				unknownKeys(item, t.Elem(), path, unknown)
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return
		}
		fields := map[string]reflect.StructField{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = f
		}
		for key, item := range v {
			f, ok := fields[key]
			if !ok {
				unknown[path+"."+key] = true
				continue
			}
			below := path + "." + key
			if f.Type.Kind() == reflect.Slice {
				below += "[]"
			}
			unknownKeys(item, f.Type, below, unknown)
		}
	}
}

// toCase turns a result back into a case, as far as it goes: what only a
// journal holds is not there.
func (r *testResult) toCase(index int) *Case {
	c := &Case{Index: index, Attempt: 1, Repeats: 1, Status: passedOrFailed(r.Passed), Elapsed: milliseconds(r.ExecutionTimeMS)}
	if r.TestName != nil {
		c.Name = *r.TestName
	}
	if t, err := time.Parse(time.RFC3339Nano, r.Timestamp); err == nil {
		c.Started = t
	}
	if r.Turns != nil {
		c.Conversation = true
		for i := range r.Turns {
			c.Turns = append(c.Turns, r.Turns[i].toTurn())
		}
	} else {
		c.Started = c.Started.Add(-c.Elapsed) // single cases are stamped at their end
		whole := turnResult{
			Input: r.TestInput, Response: r.AgentResponse, GroundTruth: r.GroundTruth, ExpectedTools: r.ExpectedTools,
			ToolCalls: r.ToolCalls, ToolInvocations: r.ToolInvocations, ToolsMatched: r.ToolsMatched,
			MetricResults: r.MetricResults, Passed: r.Passed, ExecutionTimeMS: r.ExecutionTimeMS,
			TokenUsage: r.TokenUsage, Errors: r.Errors,
		}
		turn := whole.toTurn()
		for _, f := range r.ProcessedFiles {
			turn.Files = append(turn.Files, f.toFile())
		}
		c.Turns = []Turn{turn}
	}
	if c.ID = c.Title(); c.ID == "" {
		c.ID = fmt.Sprintf("case %d", index+1)
	}
	return c
}

func (r *turnResult) toTurn() Turn {
	t := Turn{
		Input: r.Input, GroundTruth: r.GroundTruth, Status: passedOrFailed(r.Passed), AgentTime: milliseconds(r.ExecutionTimeMS),
		ToolChecks: r.toolChecks(),
	}
	if r.Skipped {
		t.Status = NotRun
	}
	if r.Response != nil {
		t.Answer = *r.Response
	}
	titles := map[string]bool{}
	for _, check := range t.ToolChecks {
		titles[check.Title()+": "+check.Reason] = true
	}
	for _, e := range r.Errors {
		if !titles[e] { // a check that failed is not an error beside it
			t.Errors = append(t.Errors, e)
		}
	}
	for _, call := range r.ToolInvocations {
		t.ToolCalls = append(t.ToolCalls, call.toCall())
	}
	if len(r.ToolInvocations) == 0 {
		for _, name := range r.ToolCalls {
			t.ToolCalls = append(t.ToolCalls, ToolCall{Name: name})
		}
	}
	for _, stored := range r.MetricResults {
		m := stored.toMetric()
		if details, ok := r.GraderDetails[m.Name]; ok {
			m.Details = encodeJSON(details)
		}
		t.Metrics = append(t.Metrics, m)
	}
	if u := r.TokenUsage; u != nil {
		t.Usage = &agent.Usage{
			Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.TotalTokens,
			CacheWrite: u.CacheCreationTokens, Cached: u.CacheReadTokens,
		}
	}
	return t
}

// toolChecks returns what became of the expected tools. Of some only the verdict
// on all of them is stored: then one is taken to be missing when an error says
// so or no call has its name.
func (r *turnResult) toolChecks() []ToolCheck {
	if r.ToolsMatched == nil {
		return nil
	}
	checks := []ToolCheck{}
	details, errs := slices.Clone(r.ArgMatchDetails), slices.Clone(r.Errors)
	explained := false
	for _, e := range r.ExpectedTools {
		check := ToolCheck{Rule: RuleExpected, Expected: toExpected(e), Matched: true, Call: -1}
		name := check.Expected.Name
		ofTool := func(d argMatch) bool { return !check.Expected.Bare && d.ExpectedTool == name }
		ofCheck := func(e string) bool { return strings.HasPrefix(e, check.Title()+": ") }
		if i := slices.IndexFunc(details, ofTool); i >= 0 {
			check.Call = details[i].MatchedCallIndex
			if why := details[i].UnmatchedReason; why != nil {
				check.Matched, check.Reason = false, *why
			}
			details = slices.Delete(details, i, i+1)
		} else if i := slices.IndexFunc(errs, ofCheck); i >= 0 && !*r.ToolsMatched {
			check.Matched, check.Reason = false, strings.TrimPrefix(errs[i], check.Title()+": ")
			errs = slices.Delete(errs, i, i+1)
		} else if !*r.ToolsMatched && !slices.ContainsFunc(r.ToolCalls, func(called string) bool { return strings.Contains(called, name) }) {
			check.Matched, check.Reason = false, "it was not called"
		}
		explained = explained || !check.Matched
		checks = append(checks, check)
	}
	if !*r.ToolsMatched && !explained && len(errs) == 0 {
		for i := range checks {
			checks[i].Matched, checks[i].Reason = false, "the calls are not those that were expected; the file does not say in what"
		}
	}
	return checks
}

// toExpected reads an expectation: a name, or an object.
func toExpected(v any) config.ExpectedTool {
	switch v := v.(type) {
	case string:
		return config.ExpectedTool{Name: v, Bare: true, Count: 1}
	case map[string]any:
		e := config.ExpectedTool{Count: 1}
		e.Name, _ = v["name"].(string)
		e.Args, _ = v["args"].(map[string]any)
		if count, ok := v["count"].(float64); ok {
			e.Count = int(count)
		}
		return e
	}
	return config.ExpectedTool{Name: fmt.Sprint(v), Count: 1}
}

// kindOf tells the kind of a metric in files from before the kind was stored.
func kindOf(metric string) config.MetricType {
	switch metric {
	case "faithfulness", "answer_relevancy", "contextual_relevancy", "contextual_precision", "contextual_recall":
		return config.MetricRAG
	case "bleu", "rouge", "meteor", "exact_match", "f1_score", "equality", "numeric":
		return config.MetricStandard
	}
	return config.MetricGEval
}

func (r *metricResult) toMetric() Metric {
	m := Metric{
		Name: r.MetricName, Kind: r.Kind, Threshold: r.Threshold, Elapsed: milliseconds(r.EvaluationTimeMS), Retries: r.RetryCount,
		Counts: r.Passed != nil, Status: MetricPass,
	}
	if r.Reasoning != nil {
		m.Reason = *r.Reasoning
	}
	if m.Kind == "" {
		m.Kind = kindOf(m.Name)
	}
	if r.Passed != nil && !*r.Passed {
		m.Status = MetricFail
	}
	notApplicable, isNotApplicable := strings.CutPrefix(m.Reason, notApplicablePrefix)
	switch {
	case r.Error != nil:
		m.Reason = *r.Error
		if rest, ok := strings.CutPrefix(m.Reason, skippedPrefix); ok {
			m.Status, m.Reason = MetricSkipped, rest
		} else {
			m.Status = MetricError
		}
	case isNotApplicable && r.Passed == nil:
		m.Status, m.Reason = MetricNotApplicable, notApplicable
	default:
		m.Score = new(r.Score)
	}
	return m
}

func (r *toolInvocation) toCall() ToolCall {
	call := ToolCall{Name: r.Name, Arguments: r.Args, Elapsed: milliseconds(r.DurationMS)}
	switch result := r.Result.(type) {
	case nil:
	case string:
		call.Result = result
	default:
		call.Result = string(encodeJSON(result))
	}
	if r.Error != nil {
		call.Err = *r.Error
	}
	return call
}

func (r *processedFile) toFile() File {
	in := r.Original
	var pages config.Pages
	for _, n := range in.Pages {
		pages = append(pages, config.PageRange{First: n, Last: n})
	}
	f := File{
		Input: config.FileInput{
			Path: in.Path, URL: in.URL, Type: in.Type, Description: in.Description,
			Pages: pages, Sheet: in.Sheet, Range: in.Range, Cache: in.Cache,
		},
		Content: r.MarkdownContent, Elapsed: milliseconds(r.ProcessingTimeMS),
	}
	if size, ok := r.Metadata["size_bytes"].(float64); ok {
		f.Size = int64(size)
	}
	if r.Error != nil {
		f.Err = *r.Error
	}
	return f
}

func passedOrFailed(passed bool) Status {
	if passed {
		return Passed
	}
	return Failed
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// readStored reads the run in a file.
func readStored(path string, each func(*Case) error) (*storedRun, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	defer f.Close()
	run, err := walkStored(f, each)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", path, err)
	}
	return run, nil
}

// notes says what of a stored run was passed over.
func (r *storedRun) notes() []string {
	if len(r.unknown) == 0 {
		return nil
	}
	return []string{"keys that are not part of the form were passed over: " + strings.Join(slices.Sorted(maps.Keys(r.unknown)), ", ")}
}
