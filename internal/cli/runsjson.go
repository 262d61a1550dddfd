package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// runJSON is a run as `runs list --json` prints it.
type runJSON struct {
	Run       string     `json:"run"`          // its name: the time at which it began
	ID        string     `json:"id,omitempty"` // none for a run of the Python edition
	Agent     string     `json:"agent"`
	State     runs.State `json:"state"`
	Started   time.Time  `json:"started"`
	Elapsed   int64      `json:"elapsed_ms"`
	Cases     int        `json:"cases"` // that were to run
	Passed    int        `json:"passed"`
	Failed    int        `json:"failed"`
	Unchecked int        `json:"unchecked"`
	// The share of the checked cases that passed, with its 95% interval; null
	// when nothing was checked.
	Rate    *rateJSON `json:"pass_rate"`
	Version string    `json:"version"`
	Commit  string    `json:"git_commit,omitempty"`
	Offline bool      `json:"offline"`
	File    string    `json:"file"`
}

type rateJSON struct {
	Value float64 `json:"value"` // between 0 and 1, as the others
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func newRunJSON(o runs.Overview) runJSON {
	out := runJSON{
		Run: o.Name, ID: o.ID, Agent: o.Agent, State: o.State, Started: o.Started, Elapsed: o.Elapsed.Milliseconds(),
		Cases: o.Cases, Passed: o.Passed, Failed: o.Failed, Unchecked: o.Unchecked,
		Version: o.Version, Commit: o.Commit, Offline: o.Offline, File: o.File(),
	}
	if rate := o.PassRate(); rate.Of > 0 {
		out.Rate = &rateJSON{rate.Value, rate.Low, rate.High}
	}
	return out
}

// comparisonJSON is what `runs compare --json` prints.
type comparisonJSON struct {
	Base    runJSON      `json:"base"`
	Run     runJSON      `json:"run"`
	Worse   []changeJSON `json:"worse"`
	Better  []changeJSON `json:"better"`
	Changed []changeJSON `json:"changed"`
	Added   []changeJSON `json:"added"`
	Removed []changeJSON `json:"removed"`
	Same    int          `json:"same"`
	Metrics []metricJSON `json:"metrics"`
}

type changeJSON struct {
	ID    string      `json:"id"`
	Title string      `json:"title"`
	Base  runs.Status `json:"base,omitempty"`
	Run   runs.Status `json:"run,omitempty"`
}

type metricJSON struct {
	Name string   `json:"name"`
	Kind string   `json:"kind"`
	Base *float64 `json:"base"`
	Run  *float64 `json:"run"`
}

func newComparisonJSON(c *runs.Comparison) comparisonJSON {
	changes := func(list []runs.Change) []changeJSON {
		out := make([]changeJSON, len(list))
		for i, v := range list {
			out[i] = changeJSON(v)
		}
		return out
	}
	out := comparisonJSON{
		Base: newRunJSON(c.Base), Run: newRunJSON(c.Run),
		Worse: changes(c.Worse), Better: changes(c.Better), Changed: changes(c.Other),
		Added: changes(c.Added), Removed: changes(c.Removed), Same: c.Same, Metrics: []metricJSON{},
	}
	for _, m := range c.Metrics {
		out.Metrics = append(out.Metrics, metricJSON{m.Name, string(m.Kind), m.Base, m.Run})
	}
	return out
}

// writeRun prints a run as one JSON object, one case at a time: what a list says
// of it, and every case in the form of its journal.
func writeRun(w io.Writer, record *runs.Record) error {
	out := bufio.NewWriter(w)
	head, err := json.Marshal(newRunJSON(record.Overview))
	if err != nil {
		return fmt.Errorf("print the run: %w", err)
	}
	fmt.Fprintf(out, "{\"run\": %s, \"cases\": [", head)
	separator := "\n"
	for c, err := range record.Each() {
		if err != nil {
			return err
		}
		text, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("print a case of the run: %w", err)
		}
		out.WriteString(separator)
		out.Write(text)
		separator = ",\n"
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// printJSON prints a value as indented JSON.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
