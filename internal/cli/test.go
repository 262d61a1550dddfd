package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

// testOptions are the flags of test.
type testOptions struct {
	open   openOptions
	output []string // files
	format string   // of the only one of them, or empty
	// selection says which cases run. Its JSON form is in the journal of the run.
	selection testrun.Selection
	shard     string // as it was given
	failed    bool   // see --failed
	failFast  bool
	resume    string // a run, or empty
	noSave    bool
}

func newTestCmd(a *app) *cobra.Command {
	cmd := newTestRunCmd(a, "test [PATH]")
	cmd.AddCommand(newTestRunCmd(a, "run [PATH]"), newTestMergeCmd(a))
	return cmd
}

// newTestRunCmd returns the command that runs test cases; `test` and `test run`
// are the same.
func newTestRunCmd(a *app, use string) *cobra.Command {
	var (
		opts              testOptions
		timeout, parallel int
	)
	cmd := &cobra.Command{
		Use:   use,
		Short: "Run the test cases of an agent",
		Long: "Test runs the test cases of an agent file, several at once, and prints which passed and\n" +
			"why the others failed. PATH is an agent file or the folder of one; left out, it is the\n" +
			"working folder. Results are printed as cases finish; an interruption keeps them.\n\n" +
			"The exit code is 0 when no case failed, 1 when one did, 2 when the agent file has errors,\n" +
			"3 when the run could not be carried out, and 4 when cases failed only because a metric\n" +
			"ended in an error.",
		Example: "  holodeck test examples/support\n" +
			"  holodeck test --offline agents/triage\n" +
			"  holodeck test --only 'Returns*' --repeat 5\n" +
			"  holodeck test --limit 5 --output results.json\n" +
			"  holodeck test --output report.html --output junit.xml",
		Args: func(cmd *cobra.Command, args []string) error {
			if n := len(args); n > 0 && opts.resume == unfinished {
				if _, err := os.Stat(args[n-1]); err != nil {
					return fmt.Errorf("--resume takes a RUN behind an equals sign: --resume=%s", args[n-1])
				}
			}
			return cobra.MaximumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "."
			if len(args) == 1 {
				path = args[0]
			}
			if err := checkSelection(cmd, &opts); err != nil {
				return err
			}
			if err := checkResume(cmd, opts); err != nil {
				return err
			}
			if err := opts.open.checkTape(); err != nil {
				return err
			}
			if cmd.Flags().Changed("timeout") {
				opts.open.set("--timeout", "llm_timeout", strconv.Itoa(timeout))
			}
			if cmd.Flags().Changed("parallel-test-cases") {
				opts.open.set("--parallel-test-cases", "parallel_test_cases", strconv.Itoa(parallel))
			}
			return a.runTests(cmd.Context(), path, opts)
		},
	}
	cmd.Flags().StringArrayVar(&opts.output, "output", nil, "write a report to this `FILE`, in the format of its ending: .json, .md, .xml (JUnit), .html, .csv or .jsonl; may be given more than once")
	cmd.Flags().StringVar(&opts.format, "format", "", "the `format` of the one --output, whatever its ending: "+strings.Join(report.FormatNames(), ", "))
	cmd.Flags().IntVar(&timeout, "timeout", 0, "`seconds` a model call, and a turn, may take")
	cmd.Flags().IntVar(&parallel, "parallel-test-cases", 0, "how many cases run at once")
	cmd.Flags().StringArrayVar(&opts.selection.Only, "only", nil, "run the cases of that `name` or id, where * stands for any characters; may be given more than once")
	cmd.Flags().StringArrayVar(&opts.selection.Tags, "tag", nil, "run the cases that have the `tag`; may be given more than once")
	cmd.Flags().IntVarP(&opts.selection.Limit, "limit", "n", 0, "run the first so many cases")
	cmd.Flags().StringVar(&opts.shard, "shard", "", "run one part of the cases, such as `2/5`, the second of five")
	cmd.Flags().IntVar(&opts.selection.Repeat, "repeat", 0, "run each case so often, whatever it says itself")
	cmd.Flags().BoolVar(&opts.failed, "failed", false, "run the cases that failed in the newest run")
	cmd.Flags().BoolVar(&opts.failFast, "fail-fast", false, "start no further case once one has failed")
	cmd.Flags().StringVar(&opts.resume, "resume", "", "go on with a `RUN` that was interrupted, and repeat nothing; without a value, the newest that is not finished")
	cmd.Flags().Lookup("resume").NoOptDefVal = unfinished
	cmd.Flags().BoolVar(&opts.noSave, "no-save", false, "keep no results")
	cmd.Flags().BoolVar(&opts.open.offline, "offline", false, "run without any account: the built-in model and a local index stand in")
	cmd.Flags().BoolVarP(&opts.open.forceIngest, "force-ingest", "f", false, "index the sources of search tools anew")
	opts.open.tape.addFlags(cmd, "test")
	return cmd
}

// runTests runs the cases of the agent at path and prints and stores the results.
func (a *app) runTests(ctx context.Context, path string, opts testOptions) (err error) {
	files, err := reportFiles(opts.output, opts.format)
	if err != nil {
		return err
	}
	var resumed *resumedRun
	if opts.resume != "" {
		if resumed, err = a.resume(path, &opts); err != nil {
			return err
		}
	}
	loaded, err := a.loadAgent(path, opts.open)
	if err != nil {
		return err
	}
	if err := spareInputs(files, loaded); err != nil {
		return err
	}
	if resumed != nil {
		if err := checkUnchanged("--resume", resumed.journal.Header, resumed.stored.Name, loaded, versionNumber(a.Version)); err != nil {
			return err
		}
	}
	if loaded.TestCases.Len() == 0 {
		where := "under test_cases"
		if loaded.TestCasesFile != nil {
			where = "to " + *loaded.TestCasesFile
		}
		_, err := fmt.Fprintf(a.Stdout, "%s has no test cases; add them %s\n", loaded.File, where)
		return err
	}
	if opts.failed {
		found, err := a.selectFailed(loaded, &opts.selection)
		if err != nil || !found {
			return err
		}
	}
	plan, err := a.plan(loaded, opts)
	if err != nil || plan.Cases == 0 {
		return err
	}
	// What parsing a long file leaves behind would otherwise let the heap of the
	// run grow to twice its size before it is collected.
	runtime.GC()
	opts.open.parallel = true
	opened, err := a.open(ctx, loaded, opts.open)
	if err != nil {
		return err
	}
	defer func() { err = afterwards(err, opened.Close()) }()
	if text := backend.Substitute(loaded); text != "" && !loaded.Offline { // else it is in the list at the end
		a.tell("note: %s", text)
	}
	if plan.Cases < plan.All {
		a.tell("running %d of %s", plan.Cases, plural(plan.All, "case"))
	}

	t := &testRun{
		app: a, opened: opened, selection: opts.selection, plan: plan, failFast: opts.failFast,
		resumed: resumed, noSave: opts.noSave,
	}
	err = t.run(ctx, files)
	if opts.open.offline && !a.quiet {
		err = errors.Join(err, printLeftOut(a.Stderr, loaded.LeftOut))
	}
	if err != nil {
		return err
	}
	return testStatus(t.summary)
}

// checkSelection checks the flags that say which cases run, and reads them.
func checkSelection(cmd *cobra.Command, opts *testOptions) error {
	sel := &opts.selection
	if cmd.Flags().Changed("limit") && sel.Limit < 1 {
		return &usageError{fmt.Errorf("--limit is %d; give the number of cases to run", sel.Limit)}
	}
	if cmd.Flags().Changed("repeat") && sel.Repeat < 1 {
		return &usageError{fmt.Errorf("--repeat is %d; give how often each case is to run", sel.Repeat)}
	}
	if sel.Repeat > config.MaxRepeat {
		return &usageError{fmt.Errorf("--repeat is %d; a case may run %d times at most", sel.Repeat, config.MaxRepeat)}
	}
	if cmd.Flags().Changed("shard") {
		shard, err := testrun.ParseShard(opts.shard)
		if err != nil {
			return &usageError{fmt.Errorf("--shard: %w", err)}
		}
		sel.Shard = shard
	}
	return nil
}

// plan returns what runs of the agent's cases, and says so when that is nothing.
func (a *app) plan(loaded *config.Agent, opts testOptions) (*testrun.Plan, error) {
	plan, err := testrun.NewPlan(loaded, opts.selection)
	if err != nil {
		return nil, &usageError{err}
	}
	if plan.Cases == 0 {
		_, err = fmt.Fprintf(a.Stdout, "none of the %s of %s is selected; nothing ran\n", plural(plan.All, "case"), loaded.File)
	}
	return plan, err
}

// checkResume refuses flags that do not go together with --resume.
func checkResume(cmd *cobra.Command, opts testOptions) error {
	if opts.resume == "" {
		return nil
	}
	for _, other := range []struct{ flag, why string }{
		{"only", "a run goes on with the cases it began with"},
		{"tag", "a run goes on with the cases it began with"},
		{"failed", "a run goes on with the cases it began with"},
		{"limit", "a run goes on with the cases it began with"},
		{"shard", "a run goes on with the cases it began with"},
		{"repeat", "a run goes on with the cases it began with"},
		{"no-save", "what a run goes on with is kept"},
		{"record", "a record is of a whole run"},
		{"replay", "a record is of a whole run"},
	} {
		if cmd.Flags().Changed(other.flag) {
			return &usageError{fmt.Errorf("--resume and --%s do not go together: %s", other.flag, other.why)}
		}
	}
	return nil
}

// testStatus returns the exit status of a run that came to its end.
func testStatus(s runs.Summary) error {
	switch {
	case s.Failed == 0:
		return nil
	case s.Failed == s.MetricErrors:
		return exitStatus(exitJudge)
	}
	return exitStatus(exitFailed)
}

// cacheDir returns where files of test cases are kept once they were fetched:
// where a file or the environment says, or with the agent's other state.
func (a *app) cacheDir(loaded *config.Agent) string {
	dir := loaded.Execution.CacheDir
	state, err := durable.StatePath(loaded.Dir, a.variable)
	if err != nil || !sameFolder(dir, filepath.Join(loaded.Dir, ".holodeck", "cache")) {
		return dir
	}
	return filepath.Join(state, "cache")
}

// sameFolder reports whether two paths name one folder.
func sameFolder(a, b string) bool {
	full, err := filepath.Abs(a)
	other, otherErr := filepath.Abs(b)
	return err == nil && otherErr == nil && full == other
}

// tell says something beside the results.
func (a *app) tell(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.Stderr, format+"\n", args...)
	}
}

// testRun is a run of test cases under way.
type testRun struct {
	app       *app
	opened    *openedAgent
	selection testrun.Selection
	plan      *testrun.Plan
	failFast  bool
	resumed   *resumedRun // nil for a new run
	noSave    bool
	kept      keptRun
	summary   runs.Summary
}

// run runs the cases, prints the results and writes the reports. A run that was
// interrupted has its reports, too, unless no case finished: then the files stay
// as they were.
func (t *testRun) run(ctx context.Context, files []reportFile) (err error) {
	reports, err := t.app.openReports(files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reports.Close()) }()
	reports.addGitHub(t.app)
	run := t.describe()
	if err := t.keep(run); err != nil {
		return err
	}
	screen := t.screen()
	begun := errors.Join(screen.Begin(run), reports.Begin(run))
	summary, ended := testrun.Run(ctx, t.opened.env, t.opened.config, t.opened.backend, testrun.Options{
		Plan:     t.plan,
		Code:     t.opened.code,
		HTTP:     t.opened.http,
		NoFetch:  t.opened.config.Offline || t.opened.tape.player != nil,
		CacheDir: t.app.cacheDir(t.opened.config),
		FailFast: t.failFast,
		Progress: screen,
		Earlier:  t.kept.earlier,
		Finished: t.kept.add,
		Shared:   sharedServers(t.opened.config, t.opened.set),
		Results: func(c *runs.Case) error {
			return errors.Join(screen.Case(c), reports.Case(c))
		},
	})
	summary.Elapsed += t.kept.before()
	t.summary = summary
	kept := t.kept.finish(summary, ended)
	t.opened.tape.whole = ended == nil
	err = errors.Join(begun, screen.End(summary))
	if ended == nil || summary.Attempts.Finished() > 0 {
		err = errors.Join(err, reports.End(summary))
	}
	t.kept.say()
	if errors.As(ended, new(interrupted)) {
		ended = &cutShort{t.left(), ended}
	}
	return errors.Join(ended, kept, err)
}

// left says what is left of a run that was interrupted.
func (t *testRun) left() string {
	switch {
	case t.kept.kept:
		return "--resume goes on with this run"
	case t.summary.Attempts.Finished() > 0:
		return "what had finished stands above"
	}
	return "no case had finished"
}

// screen returns what prints the run.
func (t *testRun) screen() *report.Terminal {
	a := t.app
	opts := report.Options{
		Out:      a.Stdout,
		Terminal: a.StdoutTerminal,
		Actions:  a.inActions(),
		Color:    a.StdoutTerminal && a.colors(),
		Verbose:  a.verbose > 0,
		Quiet:    a.quiet,
		Total:    t.plan.Attempts - t.kept.done(),
	}
	if a.StdoutTerminal && a.StderrTerminal && a.escapes() {
		opts.Live = a.Stderr
	}
	return report.NewTerminal(opts)
}

// describe returns what the report says of the run as a whole.
func (t *testRun) describe() runs.Run {
	if t.resumed != nil {
		return t.resumed.journal.Header.Run
	}
	loaded := t.opened.config
	mask := loaded.Redactor.String
	environment := map[string]string{
		"execution_config": mask(executionText(loaded.Execution)),
		"runtime":          string(loaded.Runtime),
	}
	if loaded.Offline {
		environment["offline"] = "true"
	}
	return runs.Run{
		Agent:       mask(loaded.Name),
		Path:        mask(loaded.File),
		Version:     versionNumber(t.app.Version),
		Started:     t.opened.env.Now(),
		Environment: environment,
	}
}

// executionText returns the execution section as the text of a JSON object.
func executionText(e config.Execution) string {
	text, err := json.Marshal(map[string]any{
		"file_timeout":        e.FileTimeout,
		"llm_timeout":         e.LLMTimeout,
		"turn_timeout":        e.TurnTimeout,
		"download_timeout":    e.DownloadTimeout,
		"cache_enabled":       e.CacheEnabled,
		"cache_dir":           e.CacheDir,
		"verbose":             e.Verbose,
		"quiet":               e.Quiet,
		"parallel_test_cases": e.ParallelTestCases,
	})
	if err != nil {
		return "" // cannot happen for numbers, truth values and a string
	}
	return string(text)
}
