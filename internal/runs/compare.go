package runs

import (
	"fmt"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Comparison is what became of the cases of one run in another.
type Comparison struct {
	Base, Run Overview
	// Better passed in the run only, Worse in the base only. Other are those
	// whose verdict changed in another way: they were checked in one of the two.
	Better, Worse, Other []Change
	// Same is how many have the same verdict in both.
	Same int
	// Added are the cases of the run alone, Removed those of the base alone.
	Added, Removed []Change
	// Metrics are those that both have scores of, and then those of one.
	Metrics []MetricChange
}

// Change is a case and its verdicts.
type Change struct {
	ID, Title string
	// Base and Run are the verdicts; empty where the case has none.
	Base, Run Status
}

// MetricChange is a metric and its averages over all cases it scored.
type MetricChange struct {
	Name string
	Kind config.MetricType
	// Base and Run are nil where it scored no case.
	Base, Run *float64
}

// Compare compares two runs. Cases are told by their ids or, where a run has
// none, by their names, of which several may be alike: then by their order, too.
func Compare(base, run *Record) (*Comparison, error) {
	ids := base.journal != nil && run.journal != nil
	before, err := verdicts(base, ids)
	if err != nil {
		return nil, err
	}
	after, err := verdicts(run, ids)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Base: base.Overview, Run: run.Overview}
	known := map[string]Status{}
	for _, v := range before {
		known[v.ID] = v.Run
	}
	for _, v := range after {
		was, ok := known[v.ID]
		if !ok {
			c.Added = append(c.Added, v)
			continue
		}
		delete(known, v.ID)
		v.Base = was
		switch {
		case v.Base == v.Run:
			c.Same++
		case v.Base == Passed && v.Run == Failed:
			c.Worse = append(c.Worse, v)
		case v.Base == Failed && v.Run == Passed:
			c.Better = append(c.Better, v)
		default:
			c.Other = append(c.Other, v)
		}
	}
	for _, v := range before {
		if _, ok := known[v.ID]; ok {
			c.Removed = append(c.Removed, Change{ID: v.ID, Title: v.Title, Base: v.Run})
		}
	}
	c.metrics(base.summary.Metrics, run.summary.Metrics)
	return c, nil
}

// verdicts returns the verdict on each case that finished, as the Run of a
// Change, under its id or its title.
func verdicts(r *Record, ids bool) ([]Change, error) {
	var list []Change
	var s Summary
	seen := map[string]int{}
	for c, err := range r.Each() {
		if err != nil {
			return nil, err
		}
		verdict, last := s.Add(c)
		if !last {
			continue
		}
		v := Change{ID: c.ID, Title: c.Title(), Run: verdict}
		if !ids {
			v.ID = numbered(seen, v.Title)
		}
		list = append(list, v)
	}
	return list, nil
}

// numbered returns the name, with a number behind it when it was seen before.
func numbered(seen map[string]int, name string) string {
	if seen[name]++; seen[name] > 1 {
		return fmt.Sprintf("%s#%d", name, seen[name])
	}
	return name
}

// metrics puts the averages side by side.
func (c *Comparison) metrics(base, run []MetricSummary) {
	add := func(m MetricSummary) *MetricChange {
		i := slices.IndexFunc(c.Metrics, func(have MetricChange) bool { return have.Name == m.Name && have.Kind == m.Kind })
		if i < 0 {
			i = len(c.Metrics)
			c.Metrics = append(c.Metrics, MetricChange{Name: m.Name, Kind: m.Kind})
		}
		return &c.Metrics[i]
	}
	for _, m := range base {
		if m.Attempts > 0 {
			add(m).Base = new(m.Mean)
		}
	}
	for _, m := range run {
		if m.Attempts > 0 {
			add(m).Run = new(m.Mean)
		}
	}
}
