package report

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// schema names the form of the lines, which is that of a stored run.
const schema = "holodeck.run/v1"

// lines writes a run as one JSON object a line: the run, each attempt at a case,
// and the counts.
type lines struct{ out sink }

// Begin implements Writer.
func (l *lines) Begin(run runs.Run) error {
	return l.line(struct {
		Schema string `json:"schema"`
		Type   string `json:"type"`
		runs.Run
	}{schema, "run", run})
}

// Case implements Writer.
func (l *lines) Case(c *runs.Case) error {
	return l.line(struct {
		Type string `json:"type"`
		*runs.Case
	}{"case", c})
}

// End implements Writer.
func (l *lines) End(s runs.Summary) error {
	rate := s.PassRate()
	end := endLine{
		Type: "end", Cases: s.Total, Passed: s.Passed, Failed: s.Failed, Unchecked: s.Unchecked, Attempts: s.Attempts.Finished(),
		Rate: rate.Value, Low: rate.Low, High: rate.High, Stopped: s.Stopped, Notes: s.Notes, Elapsed: s.Elapsed,
		Prompt: s.Usage.Prompt, Completion: s.Usage.Completion, CostUSD: finite(s.CostUSD), Metrics: []metricLine{},
	}
	for _, m := range s.Metrics {
		end.Metrics = append(end.Metrics, metricLine{Name: m.Name, Kind: string(m.Kind), Attempts: m.Attempts, Mean: m.Mean, Skipped: m.Skipped})
	}
	return l.line(end)
}

// endLine counts what the run came to.
type endLine struct {
	Type       string        `json:"type"`
	Cases      int           `json:"cases"` // that were to run
	Passed     int           `json:"passed"`
	Failed     int           `json:"failed"`
	Unchecked  int           `json:"unchecked"`
	Attempts   int           `json:"attempts"`  // that finished
	Rate       float64       `json:"pass_rate"` // between 0 and 1, as its interval
	Low        float64       `json:"pass_rate_low"`
	High       float64       `json:"pass_rate_high"`
	Stopped    string        `json:"stopped,omitempty"`
	Notes      []string      `json:"notes,omitempty"`
	Elapsed    time.Duration `json:"elapsed_ns"`
	Prompt     int           `json:"prompt_tokens"`
	Completion int           `json:"completion_tokens"`
	CostUSD    *float64      `json:"cost_usd,omitempty"`
	Metrics    []metricLine  `json:"metrics"`
}

type metricLine struct {
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	Attempts int     `json:"attempts"` // that it scored
	Mean     float64 `json:"mean"`
	Skipped  int     `json:"skipped"`
}

func (l *lines) line(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write a line of JSON: %w", err)
	}
	l.out.print(string(data) + "\n")
	return l.out.err
}
