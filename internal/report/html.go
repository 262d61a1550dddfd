package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// The parts of the page. The script builds what is shown from the data that the
// page carries, and only of what is looked at, so that a page of many cases
// opens at once.
var (
	//go:embed page/page.html
	pageFrame string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

// page writes a run as one HTML file that needs nothing else.
//
// Texts of the agent and of the file reach the page as JSON in a data block and
// are put in place as text, never as HTML. Beside that, the page's policy lets
// nothing run but its own script and lets nothing be fetched.
type page struct {
	out  sink
	tail string // of the frame, from the summary on
}

// Begin implements Writer.
func (p *page) Begin(run runs.Run) error {
	head, rest, _ := strings.Cut(pageFrame, "{{cases}}\n")
	p.tail = rest
	p.out.print(strings.NewReplacer(
		"{{policy}}", policy(),
		"{{title}}", html.EscapeString(visible(run.Agent)),
		"{{style}}", pageStyle,
		"{{run}}", string(encode(newPageRun(run))),
	).Replace(head))
	return p.out.err
}

// Case implements Writer. A case is a line: what the list shows of it, a tab,
// and the rest.
func (p *page) Case(c *runs.Case) error {
	p.out.print(string(encode(newPageRow(c))) + "\t" + string(encode(newPageCase(c))) + "\n")
	return p.out.err
}

// End implements Writer.
func (p *page) End(s runs.Summary) error {
	p.out.print(strings.NewReplacer(
		"{{summary}}", string(encode(newPageSummary(s))),
		"{{counts}}", html.EscapeString(passRate(s)),
		"{{script}}", pageScript,
	).Replace(p.tail))
	return p.out.err
}

// policy is the page's content security policy: its own style and script, and
// nothing else.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; style-src " + hash(pageStyle) + "; script-src " + hash(pageScript) +
		"; base-uri 'none'; form-action 'none'"
}

// encode returns JSON on one line that can stand in a script element: the signs
// that HTML acts on are escaped.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return []byte("null") // cannot happen: the page's values are texts and finite numbers
	}
	return markDirections(data)
}

// markDirections replaces the controls of the direction of text by marks that are
// seen, such as ⟨U+202E⟩: they make a text read as another than it is. In JSON
// they stand in strings alone.
func markDirections(doc []byte) []byte {
	if bytes.IndexFunc(doc, isDirection) < 0 {
		return doc
	}
	var out bytes.Buffer
	for _, r := range string(doc) {
		if isDirection(r) {
			fmt.Fprintf(&out, "⟨%U⟩", r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}

func isDirection(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// pageRun is what the page shows of the run as a whole.
type pageRun struct {
	Agent       string      `json:"agent"`
	Path        string      `json:"path"`
	Version     string      `json:"version"`
	Started     time.Time   `json:"started"`
	Environment [][2]string `json:"environment"` // in the order of the keys
}

func newPageRun(run runs.Run) pageRun {
	out := pageRun{Agent: run.Agent, Path: run.Path, Version: run.Version, Started: run.Started.UTC()}
	for _, key := range environment(run) {
		out.Environment = append(out.Environment, [2]string{key, run.Environment[key]})
	}
	return out
}

// pageRow is what the list of cases shows of an attempt, and filters by.
type pageRow struct {
	Status  runs.Status `json:"status"`
	Title   string      `json:"title"`
	Tags    []string    `json:"tags,omitempty"`
	Attempt int         `json:"attempt,omitempty"` // 0 when the case ran once
	Repeats int         `json:"repeats,omitempty"`
	Millis  float64     `json:"ms"`
	Tokens  int         `json:"tokens,omitempty"`
	Cost    *float64    `json:"cost,omitempty"`
	Why     string      `json:"why,omitempty"` // the first reason of a failure
}

func newPageRow(c *runs.Case) pageRow {
	row := pageRow{
		Status: c.Status, Title: cut(printable(c.Title()), excerptLen), Tags: c.Tags,
		Millis: millis(c.Elapsed), Cost: finite(c.CostUSD()),
	}
	if c.Repeats > 1 {
		row.Attempt, row.Repeats = c.Attempt, c.Repeats
	}
	if u := c.Usage(); u != nil {
		row.Tokens = u.Total
	}
	if why := caseReasons(c); len(why) > 0 && c.Status == runs.Failed {
		row.Why = excerpt(why[0])
	}
	return row
}

// pageCase is the rest of an attempt.
type pageCase struct {
	ID           string     `json:"id,omitempty"`
	Where        string     `json:"where,omitempty"` // file:line
	PassRule     string     `json:"rule,omitempty"`
	Conversation bool       `json:"conversation,omitempty"`
	Turns        []pageTurn `json:"turns"`
}

type pageTurn struct {
	Status     runs.Status  `json:"status"`
	Input      string       `json:"input"`
	Files      []pageFile   `json:"files,omitempty"`
	Context    []string     `json:"context,omitempty"`
	Calls      []pageCall   `json:"calls,omitempty"`
	Answer     string       `json:"answer"`
	Structured string       `json:"structured,omitempty"`
	Truth      *string      `json:"truth,omitempty"`
	Why        []string     `json:"why,omitempty"` // it failed: all of errors, checks and metrics that did
	Errors     []string     `json:"errors,omitempty"`
	Checks     []pageCheck  `json:"checks,omitempty"`
	Metrics    []pageMetric `json:"metrics,omitempty"`
	Millis     float64      `json:"ms"`
	Prompt     int          `json:"prompt,omitempty"`
	Completion int          `json:"completion,omitempty"`
	Cost       *float64     `json:"cost,omitempty"`
	Stop       string       `json:"stop,omitempty"` // only when it is not the usual end
}

type pageFile struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes"`
	Error string `json:"error,omitempty"`
}

type pageCall struct {
	Name      string  `json:"name"`
	Arguments string  `json:"args,omitempty"`
	Result    string  `json:"result,omitempty"`
	Error     string  `json:"error,omitempty"`
	Millis    float64 `json:"ms"`
}

type pageCheck struct {
	Title  string `json:"title"`
	Passed bool   `json:"passed"`
	Reason string `json:"reason,omitempty"`
}

type pageMetric struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind,omitempty"`
	Status    string   `json:"status"`
	Counts    bool     `json:"counts"`
	Failed    bool     `json:"failed,omitempty"`
	Score     *float64 `json:"score,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Millis    float64  `json:"ms,omitempty"`
}

func newPageCase(c *runs.Case) pageCase {
	out := pageCase{ID: c.ID, Where: where(c), PassRule: string(c.PassRule), Conversation: c.Conversation, Turns: []pageTurn{}}
	if c.ID == c.Name {
		out.ID = ""
	}
	for n := range c.Turns {
		out.Turns = append(out.Turns, newPageTurn(&c.Turns[n]))
	}
	return out
}

func newPageTurn(t *runs.Turn) pageTurn {
	out := pageTurn{
		Status: t.Status, Input: shown(t.Input), Answer: shown(t.Answer), Truth: t.GroundTruth, Errors: t.Errors,
		Millis: millis(t.AgentTime), Cost: finite(t.CostUSD),
	}
	if len(t.Structured) > 0 {
		out.Structured = shown(indented(t.Structured))
	}
	if t.Usage != nil {
		out.Prompt, out.Completion = t.Usage.Prompt, t.Usage.Completion
	}
	if t.StopReason != "end" {
		out.Stop = string(t.StopReason)
	}
	for _, why := range reasons(t) {
		out.Why = append(out.Why, shown(why))
	}
	for _, text := range t.RetrievalContext {
		out.Context = append(out.Context, shown(text))
	}
	for _, f := range t.Files {
		out.Files = append(out.Files, pageFile{Name: fileName(f), Type: string(f.Input.Type), Bytes: f.Size, Error: f.Err})
	}
	for _, call := range t.ToolCalls {
		out.Calls = append(out.Calls, pageCall{
			Name: call.Name, Arguments: shown(indented(call.Arguments)), Result: shown(indented([]byte(call.Result))),
			Error: shown(call.Err), Millis: millis(call.Elapsed),
		})
	}
	for _, check := range t.ToolChecks {
		out.Checks = append(out.Checks, pageCheck{Title: check.Title(), Passed: check.Matched, Reason: check.Reason})
	}
	for _, m := range t.Metrics {
		out.Metrics = append(out.Metrics, pageMetric{
			Name: m.Name, Kind: string(m.Kind), Status: metricWord(m), Counts: m.Counts, Failed: m.Failed(),
			Score: finite(m.Score), Threshold: finite(m.Threshold), Reason: shown(m.Reason), Millis: millis(m.Elapsed),
		})
	}
	return out
}

// pageSummary is what the page shows of the counts of a run. What could be
// counted from the cases, the page counts itself.
type pageSummary struct {
	Total      int              `json:"total"` // cases
	Passed     int              `json:"passed"`
	Failed     int              `json:"failed"`
	Unchecked  int              `json:"unchecked"`
	Left       int              `json:"left"` // that did not finish
	Rate       string           `json:"rate"` // such as 81.2, in per cent
	Low        string           `json:"low"`  // of its 95% interval
	High       string           `json:"high"`
	Stopped    string           `json:"stopped,omitempty"`
	Repeats    string           `json:"repeats,omitempty"`
	Notes      []string         `json:"notes,omitempty"`
	Millis     float64          `json:"ms"`
	Prompt     int              `json:"prompt"`
	Completion int              `json:"completion"`
	Cost       *float64         `json:"cost,omitempty"`
	Metrics    []pageMetricMean `json:"metrics"`
}

type pageMetricMean struct {
	Name     string  `json:"name"`
	Kind     string  `json:"kind,omitempty"`
	Attempts int     `json:"attempts"`
	Mean     float64 `json:"mean"`
	Skipped  int     `json:"skipped,omitempty"`
	Why      string  `json:"why,omitempty"` // it was skipped
}

func newPageSummary(s runs.Summary) pageSummary {
	rate := s.PassRate()
	out := pageSummary{
		Total: s.Total, Passed: s.Passed, Failed: s.Failed, Unchecked: s.Unchecked, Left: s.Total - s.Finished(),
		Rate: percent(rate.Value), Low: percent(rate.Low), High: percent(rate.High), Stopped: s.Stopped, Notes: s.Notes, Millis: millis(s.Elapsed),
		Prompt: s.Usage.Prompt, Completion: s.Usage.Completion, Cost: finite(s.CostUSD), Metrics: []pageMetricMean{},
	}
	if s.Repeats.Cases() > 0 {
		out.Repeats = repeats(s.Repeats)
	}
	for _, m := range s.Metrics {
		out.Metrics = append(out.Metrics, pageMetricMean{
			Name: m.Name, Kind: string(m.Kind), Attempts: m.Attempts, Mean: *cmp.Or(finite(&m.Mean), new(float64)), Skipped: m.Skipped, Why: m.SkipReason,
		})
	}
	return out
}

// maxPageText is the length in bytes to which the page cuts a text. The JSON
// report has the whole.
const maxPageText = 64 << 10

// shown returns a text as the page carries it.
func shown(s string) string {
	if len(s) <= maxPageText {
		return s
	}
	left := len(s) - maxPageText
	return strings.ToValidUTF8(s[:maxPageText], "") + fmt.Sprintf("\n… and %d more bytes", left)
}

// finite returns f, or nil where JSON has no number for it.
func finite(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}

// millis returns a duration in milliseconds, to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// indented returns a JSON object or list on several lines when it is too long
// for one, and any other text as it is. Numbers keep their digits.
func indented(doc []byte) string {
	doc = bytes.TrimSpace(doc)
	var b bytes.Buffer
	switch {
	case len(doc) == 0 || doc[0] != '{' && doc[0] != '[' || !json.Valid(doc):
		return string(doc)
	case len(doc) <= lineWidth:
		return string(doc)
	}
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return string(doc) // cannot happen: it is valid
	}
	return b.String()
}
