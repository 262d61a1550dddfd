package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// table writes a run as comma-separated values with a head: one row a check.
// What was checked nothing of, or ended in an error, has a row as well, so that
// no turn is missing. Every row stands for itself: the texts and sums of a turn
// are repeated in each.
type table struct {
	w       *csv.Writer
	agent   string
	started string
}

func newTable(w io.Writer) *table { return &table{w: csv.NewWriter(w)} }

// columns are the head of the table.
func columns() []string {
	return []string{
		"agent", "started", "case", "id", "name", "tags", "attempt", "case_status", "turn", "turn_status",
		"check", "kind", "status", "counts", "score", "threshold", "reason",
		"input", "answer", "ground_truth", "agent_ms", "prompt_tokens", "completion_tokens", "cost_usd",
	}
}

// Begin implements Writer.
func (t *table) Begin(run runs.Run) error {
	t.agent, t.started = cell(run.Agent), run.Started.UTC().Format(time.RFC3339)
	return t.w.Write(columns())
}

// Case implements Writer.
func (t *table) Case(c *runs.Case) error {
	for n := range c.Turns {
		turn := &c.Turns[n]
		left := []string{
			t.agent, t.started, strconv.Itoa(c.Index + 1), cell(c.ID), cell(c.Title()), cell(strings.Join(c.Tags, ";")),
			strconv.Itoa(max(c.Attempt, 1)), string(c.Status), strconv.Itoa(n + 1), string(turn.Status),
		}
		prompt, completion := "", ""
		if turn.Usage != nil {
			prompt, completion = strconv.Itoa(turn.Usage.Prompt), strconv.Itoa(turn.Usage.Completion)
		}
		truth := ""
		if turn.GroundTruth != nil {
			truth = cell(*turn.GroundTruth)
		}
		right := []string{
			cell(turn.Input), cell(turn.Answer), truth, strconv.FormatInt(turn.AgentTime.Milliseconds(), 10),
			prompt, completion, optional(turn.CostUSD),
		}
		for _, check := range checkCells(turn) {
			row := append(append(append(make([]string, 0, len(left)+len(check)+len(right)), left...), check...), right...)
			if err := t.w.Write(row); err != nil {
				return err
			}
		}
	}
	t.w.Flush()
	return t.w.Error()
}

// End implements Writer.
func (t *table) End(runs.Summary) error {
	t.w.Flush()
	return t.w.Error()
}

// checkCells returns the cells from check to reason: of each error, demand on
// tools and metric, or of none.
func checkCells(t *runs.Turn) [][]string {
	var rows [][]string
	for _, e := range t.Errors {
		rows = append(rows, []string{"", "error", string(runs.MetricError), "true", "", "", cell(e)})
	}
	for _, check := range t.ToolChecks {
		status := runs.MetricFail
		if check.Matched {
			status = runs.MetricPass
		}
		rows = append(rows, []string{cell(check.Title()), "tools", string(status), "true", "", "", cell(check.Reason)})
	}
	for _, m := range t.Metrics {
		rows = append(rows, []string{
			cell(m.Name), string(m.Kind), string(m.Status), fmt.Sprint(m.Counts),
			optional(m.Score), optional(m.Threshold), cell(m.Reason),
		})
	}
	if len(rows) == 0 {
		rows = append(rows, make([]string, 7))
	}
	return rows
}

// optional returns a number, or nothing.
func optional(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}

// cell returns a text that no spreadsheet takes for a formula: what begins as
// one, and is no number, begins with an apostrophe.
func cell(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}
