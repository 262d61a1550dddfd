package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
)

func newRunsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Look at test runs that were kept",
		Long: "Runs lists, shows, compares and removes the runs that holodeck test has kept.\n\n" +
			"PATH is an agent file, the folder of one, or a folder of results; left out, it is the\n" +
			"working folder. RUN is latest, latest~1 for the one before it, the beginning of a run's\n" +
			"time or id, or the path of its file.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunsListCmd(a), newRunsShowCmd(a), newRunsCompareCmd(a), newRunsRmCmd(a))
	return cmd
}

func newRunsListCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [PATH]",
		Aliases: []string{"ls"},
		Short:   "List the runs of an agent, the newest first",
		Example: "  holodeck runs list examples/support\n  holodeck runs list --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.storeAt(append(args, ".")[0])
			if err != nil {
				return err
			}
			return a.listRuns(store, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list")
	return cmd
}

func newRunsShowCmd(a *app) *cobra.Command {
	var (
		asJSON bool
		output []string
		format string
	)
	cmd := &cobra.Command{
		Use:   "show [PATH] [RUN]",
		Short: "Show a run: its counts and failures, or any report of it",
		Long: "Show prints what the run printed at its end; with -v, the checks of every case. RUN is\n" +
			"the newest when it is left out. Runs of the Python edition are read as far as they go.",
		Example: "  holodeck runs show\n  holodeck runs show examples/support latest~1 -v\n" +
			"  holodeck runs show latest --output report.html",
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := reportFiles(output, format)
			if err != nil {
				return err
			}
			if asJSON && len(files) > 0 {
				return &usageError{errors.New("--json prints the run and --output writes it down; give one of them")}
			}
			list, err := a.findRuns(args, runs.Latest)
			if err != nil {
				return err
			}
			if err := spareRun(files, list[0]); err != nil {
				return err
			}
			record, err := a.openRun(list[0])
			switch {
			case err != nil:
				return err
			case asJSON:
				return writeRun(a.Stdout, record)
			}
			return a.showRun(record, files)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object with every case")
	cmd.Flags().StringArrayVar(&output, "output", nil, "write a report to this `FILE`, in the format of its ending; may be given more than once")
	cmd.Flags().StringVar(&format, "format", "", "the `format` of the one --output, whatever its ending: "+strings.Join(report.FormatNames(), ", "))
	return cmd
}

func newRunsCompareCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare [PATH] [BASE [RUN]]",
		Short: "Compare two runs: verdicts that changed, averages of metrics",
		Long: "Compare says which cases have another verdict in RUN than in BASE, and how the averages\n" +
			"of metrics changed. Left out, RUN is the newest and BASE the one before it.",
		Example: "  holodeck runs compare\n  holodeck runs compare examples/support latest~3 latest",
		Args:    cobra.MaximumNArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := a.findRuns(args, runs.Latest+"~1", runs.Latest)
			if err != nil {
				return err
			}
			return a.compareRuns(list[0], list[1], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newRunsRmCmd(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:     "rm [PATH] RUN…",
		Short:   "Remove runs, with all that is kept of them",
		Example: "  holodeck runs rm latest\n  holodeck runs rm examples/support 2026-04-18 --yes",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := a.findRuns(args)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return &usageError{errors.New("which run is to be removed? give its time, its id or its file")}
			}
			return a.removeRuns(list, yes, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the removed runs as a JSON list")
	return cmd
}

// storeAt returns the store that path means: that of an agent, or a folder of
// results.
func (a *app) storeAt(path string) (*runs.Store, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return a.storeOf(path) // which says what is wrong
	}
	for _, name := range config.AgentFiles() {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return a.storeOf(path)
		}
	}
	store := runs.StoreAt(path)
	if list, err := store.List(); err == nil && len(list) > 0 {
		return store, nil
	}
	return nil, &usageError{fmt.Errorf("%s holds neither an agent nor the runs of one; give an agent file, its folder, or the folder of its results", path)}
}

// findRuns returns the runs that args name: a PATH, which may be left out, and
// RUNs. What is missing of the RUNs at the end is taken from otherwise, from the
// place of the first that is missing on.
func (a *app) findRuns(args []string, otherwise ...string) ([]runs.Stored, error) {
	path := "."
	if len(args) > 0 && isAgentPath(args[0]) {
		path, args = args[0], args[1:]
	}
	if n := len(otherwise); n > 0 && len(args) > n {
		return nil, &usageError{fmt.Errorf("%q is not the path of an agent, and %d runs are asked for where there is room for %d", args[0], len(args), n)}
	}
	refs := slices.Clone(args)
	if len(refs) < len(otherwise) {
		refs = append(refs, otherwise[len(refs):]...)
	}
	var store *runs.Store
	var list []runs.Stored
	passOver := a.passOver()
	for _, ref := range refs {
		if isRunPath(ref) {
			stored, err := runs.StoredAt(ref)
			if err != nil {
				return nil, &usageError{err}
			}
			list = append(list, stored)
			continue
		}
		if store == nil {
			var err error
			if store, err = a.storeAt(path); err != nil {
				return nil, err
			}
		}
		stored, err := store.Find(ref, passOver)
		switch {
		case errors.As(err, new(*runs.NotFoundError)):
			return nil, &usageError{err}
		case err != nil:
			return nil, err
		}
		list = append(list, stored)
	}
	return list, nil
}

// isAgentPath reports whether an argument names an agent, or the folder of one
// or of its results, rather than a run.
func isAgentPath(arg string) bool {
	if isRunPath(arg) {
		return false
	}
	if ext := filepath.Ext(arg); ext == ".yaml" || ext == ".yml" {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && info.IsDir()
}

// isRunPath reports whether an argument is the path of a run.
func isRunPath(arg string) bool {
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return false
	case info.IsDir():
		_, err := os.Stat(filepath.Join(arg, "journal.jsonl"))
		return err == nil
	}
	ext := filepath.Ext(arg)
	return ext == ".json" || ext == ".jsonl"
}

// spareRun returns a *usageError when a report would replace the run itself.
func spareRun(files []reportFile, stored runs.Stored) error {
	for _, f := range files {
		output, err := os.Stat(f.path)
		if err != nil {
			continue // there is nothing to replace
		}
		for _, kept := range []string{stored.File(), stored.JournalFile()} {
			if info, err := os.Stat(kept); err == nil && os.SameFile(info, output) {
				return &usageError{fmt.Errorf("--output %s: is the run itself, which the report would replace; give another name", f.path)}
			}
		}
	}
	return nil
}

// openRun opens a run, and says what of it could not be read.
func (a *app) openRun(stored runs.Stored) (*runs.Record, error) {
	record, err := stored.Open()
	if err != nil {
		return nil, err
	}
	for _, note := range record.Notes {
		a.tell("%s: %s", stored.Name, note)
	}
	return record, nil
}

func (a *app) listRuns(store *runs.Store, asJSON bool) error {
	stored, err := store.List()
	if err != nil {
		return err
	}
	list := []runs.Overview{}
	for _, s := range stored {
		o, err := s.Overview()
		if err != nil {
			a.tell("%v; it is left out", err)
			continue
		}
		list = append(list, o)
	}
	switch {
	case asJSON:
		out := make([]runJSON, len(list))
		for i, r := range list {
			out[i] = newRunJSON(r)
		}
		return printJSON(a.Stdout, out)
	case len(list) == 0:
		_, err := fmt.Fprintln(a.Stdout, "no runs are kept; holodeck test makes one")
		return err
	}
	return a.history().List(list)
}

func (a *app) history() report.History {
	return report.History{Out: a.Stdout, Color: a.StdoutTerminal && a.colors()}
}

// showRun prints a run as it was printed at its end, and writes reports of it.
func (a *app) showRun(record *runs.Record, files []reportFile) (err error) {
	reports, err := a.openReports(files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reports.Close()) }()
	history := a.history()
	screen := report.NewTerminal(report.Options{
		Out: a.Stdout, Terminal: a.StdoutTerminal, Color: history.Color,
		Verbose: a.verbose > 0, Quiet: a.verbose == 0, Total: record.Summary().Attempts.Total,
	})
	err = errors.Join(history.Heading(record), screen.Begin(record.Run), reports.Begin(record.Run))
	for c, broken := range record.Each() {
		if broken != nil {
			err = errors.Join(err, broken)
			break
		}
		if a.verbose > 0 {
			screen.CaseFinished(c.Index, c)
		}
		err = errors.Join(err, screen.Case(c), reports.Case(c))
	}
	if err = errors.Join(err, screen.End(record.Summary())); err != nil {
		return err
	}
	return reports.End(record.Summary())
}

func (a *app) compareRuns(base, run runs.Stored, asJSON bool) error {
	was, err := a.openRun(base)
	if err != nil {
		return err
	}
	is, err := a.openRun(run)
	if err != nil {
		return err
	}
	c, err := runs.Compare(was, is)
	switch {
	case err != nil:
		return err
	case asJSON:
		return printJSON(a.Stdout, newComparisonJSON(c))
	}
	return a.history().Comparison(c)
}

// removeRuns removes runs, each after asking.
func (a *app) removeRuns(list []runs.Stored, yes, asJSON bool) error {
	in := bufio.NewReader(a.Stdin)
	removed := []string{}
	for _, stored := range list {
		o, err := stored.Overview()
		if _, gone := os.Stat(stored.JournalFile()); err != nil && gone != nil {
			return &usageError{fmt.Errorf("%s is no run (%w); if it is to go, remove it by hand", stored.File(), err)}
		}
		if !yes {
			about := fmt.Sprintf("%s, %d of %s passed", o.State, o.Passed, plural(o.Cases, "case"))
			if err != nil {
				about = "damaged: " + err.Error()
			}
			fmt.Fprintf(a.Stderr, "remove the run %s (%s), with all that is kept of it? [y/N] ", stored.Name, about)
			answer, err := in.ReadString('\n')
			if errors.Is(err, io.EOF) && strings.TrimSpace(answer) == "" {
				return &usageError{errors.New("there is nobody to ask; --yes removes without asking")}
			}
			if word := strings.ToLower(strings.TrimSpace(answer)); word != "y" && word != "yes" {
				a.tell("%s is kept", stored.Name)
				continue
			}
		}
		if err := stored.Remove(); err != nil {
			return err
		}
		removed = append(removed, stored.Name)
		a.tell("removed the run %s", stored.Name)
	}
	if asJSON {
		return printJSON(a.Stdout, removed)
	}
	return nil
}
