package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

func newTestMergeCmd(a *app) *cobra.Command {
	var output []string
	var format string
	cmd := &cobra.Command{
		Use:   "merge [PATH] RUN…",
		Short: "Put the parts of a run (--shard) together",
		Long: "Merge makes one run of the parts that holodeck test --shard made, here or on other\n" +
			"machines, keeps it, and ends as a run of all the cases would have. RUN is a run of the\n" +
			"agent (see holodeck runs) or the path of one: its file, or the folder of its journal.\n\n" +
			"The parts must be of one state of the agent file, and no case may be in two of them.\n" +
			"Cases that are in none are named, and the exit code is 3; --resume runs them.",
		Example: "  holodeck test merge examples/support latest latest~1\n" +
			"  holodeck test merge parts/*/results/support/*.json --output report.html",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := reportFiles(output, format)
			if err != nil {
				return err
			}
			return a.merge(args, files)
		},
	}
	cmd.Flags().StringArrayVar(&output, "output", nil, "write a report to this `FILE`, in the format of its ending; may be given more than once")
	cmd.Flags().StringVar(&format, "format", "", "the `format` of the one --output, whatever its ending: "+strings.Join(report.FormatNames(), ", "))
	return cmd
}

// merge merges the runs that args name, after the PATH of their agent.
func (a *app) merge(args []string, files []reportFile) error {
	stored, err := a.findRuns(args)
	if err != nil {
		return err
	}
	path := "."
	if isAgentPath(args[0]) {
		path = args[0]
	}
	parts, err := readParts(stored)
	if err != nil {
		return err
	}
	loaded, err := a.loadAgent(path, openOptions{offline: parts[0].Header.Offline})
	if err != nil {
		return err
	}
	if err := spareInputs(files, loaded); err != nil {
		return err
	}
	plan, header, err := a.whole(loaded, stored, parts)
	if err != nil {
		return err
	}
	store, err := a.store(loaded)
	if err != nil {
		return err
	}
	merged, err := runs.Merge(a.env, store, loaded, header, parts)
	switch {
	case errors.As(err, new(*runs.DuplicateError)):
		return &usageError{err}
	case err != nil:
		return err
	}
	record, err := a.openRun(merged)
	if err != nil {
		return err
	}
	if err := a.showRun(record, files); err != nil {
		return err
	}
	a.tell("the merged run is kept in %s", filepath.ToSlash(merged.File()))
	if missing := missingCases(plan, parts); missing != "" {
		return fmt.Errorf("not in any of the runs: %s; holodeck test --resume runs what is missing", missing)
	}
	return testStatus(record.Summary())
}

// readParts reads the journals of runs.
func readParts(stored []runs.Stored) ([]*runs.Journal, error) {
	if len(stored) < 2 {
		return nil, &usageError{fmt.Errorf("%s cannot be merged; give two or more", plural(len(stored), "run"))}
	}
	var parts []*runs.Journal
	for _, s := range stored {
		j, err := runs.ReadJournal(s.JournalFile())
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(s.File()); err == nil {
				return nil, &usageError{fmt.Errorf("%s has no journal in %s, which a merge needs; copy that folder with it (it is hidden, so that an upload may have left it out)",
					s.File(), filepath.Dir(s.JournalFile()))}
			}
		}
		if err != nil {
			return nil, &usageError{err}
		}
		parts = append(parts, j)
	}
	return parts, nil
}

// whole returns the plan that runs are the parts of, and the header of the run
// that they make together.
func (a *app) whole(loaded *config.Agent, stored []runs.Stored, parts []*runs.Journal) (*testrun.Plan, runs.Header, error) {
	refuse := func(err error) (*testrun.Plan, runs.Header, error) { return nil, runs.Header{}, err }
	var sel testrun.Selection
	var chosen []byte
	for i, part := range parts {
		if err := checkUnchanged("merge", part.Header, stored[i].Name, loaded, versionNumber(a.Version)); err != nil {
			return refuse(err)
		}
		sel = testrun.Selection{}
		if err := json.Unmarshal(part.Header.Selection, &sel); err != nil {
			return refuse(fmt.Errorf("the run %s says in a way unknown to this build which cases it was to run: %w", stored[i].Name, err))
		}
		sel.Shard = testrun.Shard{}
		text, err := json.Marshal(sel)
		if err != nil {
			return refuse(fmt.Errorf("compare the selections of cases: %w", err))
		}
		if chosen == nil {
			chosen = text
		}
		if string(text) != string(chosen) {
			return refuse(&usageError{fmt.Errorf("the runs %s and %s are not parts of one: their flags chose other cases beside --shard", stored[0].Name, stored[i].Name)})
		}
	}
	plan, err := testrun.NewPlan(loaded, sel)
	if err != nil {
		return refuse(&usageError{err})
	}
	run := parts[0].Header.Run
	run.Path, run.Version, run.Started = loaded.File, versionNumber(a.Version), a.env.Now()
	return plan, runs.Header{Run: run, Args: a.args, Selection: chosen, Cases: plan.Cases, Attempts: plan.Attempts}, nil
}

// maxMissing is how many missing cases are named.
const maxMissing = 20

// missingCases names the cases of which an attempt is in none of the runs.
func missingCases(plan *testrun.Plan, parts []*runs.Journal) string {
	has := func(index, attempt int) bool {
		for _, part := range parts {
			if part.Has(index, attempt) {
				return true
			}
		}
		return false
	}
	var names []string
	more := 0
	for title := range plan.Missing(has) {
		if len(names) == maxMissing {
			more++
			continue
		}
		names = append(names, title)
	}
	text := strings.Join(names, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
