package report

import (
	"encoding/json"
	"fmt"

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
	return l.line(struct {
		Type string `json:"type"`
		runs.Summary
	}{"end", s})
}

func (l *lines) line(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write a line of JSON: %w", err)
	}
	l.out.print(string(data) + "\n")
	return l.out.err
}
