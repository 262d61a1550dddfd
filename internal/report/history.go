package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// History prints runs that are over.
type History struct {
	Out io.Writer
	// Color allows colours.
	Color bool
}

// List prints one run a line.
func (h History) List(list []runs.Overview) error {
	table := tabwriter.NewWriter(h.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tSTATE\tCASES\tPASSED\tFAILED\tPASS RATE\tDURATION")
	for _, r := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n",
			strings.TrimSuffix(printable(r.Name), utc), printable(string(r.State)), finished(r), r.Passed, r.Failed, rate(r.PassRate()), duration(r.Elapsed))
	}
	return table.Flush()
}

// utc ends the names of runs; their times are all of one zone.
const utc = "+00-00"

// finished returns how many cases of a run have finished, such as "4 of 9", or
// "4" when all have.
func finished(o runs.Overview) string {
	if n := o.Passed + o.Failed + o.Unchecked; n < o.Cases {
		return fmt.Sprintf("%d of %d", n, o.Cases)
	}
	return fmt.Sprint(o.Cases)
}

// rate returns such as "80.0% (37.6 to 96.4%)".
func rate(r runs.Rate) string {
	if r.Of == 0 {
		return "nothing checked"
	}
	return fmt.Sprintf("%s%% (%s to %s%%)", percent(r.Value), percent(r.Low), percent(r.High))
}

// duration returns such as "12.34s".
func duration(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }

// Heading says what run it is that is shown.
func (h History) Heading(r *runs.Record) error {
	ink := ink(h.Color)
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, %s\n", ink.bold("Run "+printable(r.Name)), printable(r.Agent), printable(string(r.State)))
	about := []string{"holodeck " + printable(r.Version)}
	if r.ID != "" {
		about = append(about, "id "+printable(r.ID))
	}
	if r.Commit != "" {
		about = append(about, "commit "+printable(r.Commit))
	}
	if r.Offline {
		about = append(about, "offline")
	}
	fmt.Fprintf(&b, "  %s\n", strings.Join(about, ", "))
	if len(r.Args) > 0 {
		fmt.Fprintf(&b, "  holodeck %s\n", excerpt(strings.Join(r.Args, " ")))
	}
	if r.Reason != "" {
		fmt.Fprintf(&b, "  %s\n", reason(r.Reason))
	}
	_, err := io.WriteString(h.Out, b.String())
	return err
}

// Comparison prints what became of the cases of one run in another.
func (h History) Comparison(c *runs.Comparison) error {
	ink := ink(h.Color)
	var b strings.Builder
	for _, side := range []struct {
		label string
		run   runs.Overview
	}{{"Base", c.Base}, {"Run ", c.Run}} {
		fmt.Fprintf(&b, "%s  %s  %s of %s passed, %s\n", side.label, printable(side.run.Name),
			fmt.Sprint(side.run.Passed), count(side.run.Passed+side.run.Failed, "checked case"), rate(side.run.PassRate()))
	}
	for _, part := range []struct {
		label   string
		changes []runs.Change
	}{
		{"Worse", c.Worse}, {"Better", c.Better}, {"Changed otherwise", c.Other},
		{"Only in the run", c.Added}, {"Only in the base", c.Removed},
	} {
		ink.changes(&b, part.label, part.changes)
	}
	if c.Same > 0 {
		fmt.Fprintf(&b, "\n%s as before\n", count(c.Same, "case"))
	}
	if len(c.Metrics) > 0 {
		b.WriteString("\n" + ink.bold("Metrics") + "\n")
		table := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		for _, m := range c.Metrics {
			fmt.Fprintf(table, "  %s\t%s → %s\t%s\n", printable(m.Name), number(m.Base), number(m.Run), difference(m.Base, m.Run))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(h.Out, b.String())
	return err
}

// MaxChanges is how many cases each part of a comparison names.
const MaxChanges = 50

// changes lists cases and their verdicts.
func (i ink) changes(b *strings.Builder, label string, list []runs.Change) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%d)\n", i.bold(label), len(list))
	for n, c := range list {
		if n == MaxChanges {
			fmt.Fprintf(b, "  … and %d more\n", len(list)-n)
			return
		}
		verdict, verdicts := c.Run, fmt.Sprintf("%s → %s", c.Base, c.Run)
		switch {
		case c.Base == "":
			verdicts = string(c.Run)
		case c.Run == "":
			verdict, verdicts = c.Base, string(c.Base)
		}
		fmt.Fprintf(b, "  %s %s: %s\n", i.mark(verdict), excerpt(c.Title), verdicts)
	}
}

// difference returns by how much an average changed.
func difference(base, run *float64) string {
	if base == nil || run == nil {
		return ""
	}
	if d := *run - *base; math.Abs(d) >= 0.005 {
		return fmt.Sprintf("%+.2f", d)
	}
	return "the same"
}
