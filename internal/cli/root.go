package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// Process is what a command has of the process it runs in. Tests make their own.
type Process struct {
	Version        string // empty: from the build information
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // as os.Environ
	Home, WorkDir  string   // the user's home and the working folder, absolute
	// These say that Stdout and Stderr are terminals: colours and moving lines
	// are welcome there.
	StdoutTerminal, StderrTerminal bool
}

// System returns the Process that the program runs in.
func System(version string) Process {
	home, _ := os.UserHomeDir() // without a home there is no user configuration
	workdir, err := os.Getwd()
	if err != nil {
		workdir = "." // the folder was removed; opening files there will say so
	}
	return Process{
		Version: version,
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Home: home, WorkDir: workdir,
		StdoutTerminal: isTerminal(os.Stdout), StderrTerminal: isTerminal(os.Stderr),
	}
}

// isTerminal reports whether f is a terminal that obeys escape sequences.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) && enableEscapes(f) }

// app is what the commands share: the process, the environment handed to every
// Open, and the flags of the root command.
type app struct {
	Process
	env     agent.Env
	args    []string // the command line, without the name of the program
	verbose int      // how often -v was given
	quiet   bool     // -q
	started bool     // flags and arguments were accepted
	masked  *maskedWriter
}

// mask lets r mask what goes to stderr from now on.
func (a *app) mask(r *secret.Redactor) { a.masked.redactor.Store(r) }

// interrupted is the cause of a context that a signal cancelled.
type interrupted struct{ signal os.Signal }

// Error implements error.
func (i interrupted) Error() string {
	switch i.signal {
	case syscall.SIGTERM:
		return "interrupted by SIGTERM"
	case syscall.SIGHUP:
		return "interrupted by SIGHUP: the terminal is gone"
	}
	return "interrupted by SIGINT"
}

// Main runs the command line args in p and returns the exit code. The first
// SIGINT, SIGTERM or SIGHUP cancels the work, which keeps what it has; a second one
// ends the process at once, unless it is the second SIGHUP of one lost terminal.
// What was started with SIGHUP ignored, as by nohup, goes on ignoring it.
func Main(args []string, p Process) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case s := <-signals:
			if s == syscall.SIGHUP {
				signal.Ignore(syscall.SIGHUP) // the shell passes on what the terminal has sent already
			}
			signal.Stop(signals) // the next one has its usual effect
			cancel(interrupted{s})
		case <-done:
			signal.Stop(signals)
		}
	}()
	return run(ctx, args, p)
}

// run is Main without the process's signals.
func run(ctx context.Context, args []string, p Process) int {
	masked := &maskedWriter{w: p.Stderr}
	p.Stderr = masked
	a := &app{Process: p, masked: masked, args: args}
	level := new(slog.LevelVar)
	a.env = agent.SystemEnv(slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level})))
	root := newRootCmd(a, level)
	root.SetArgs(args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started {
		err = &usageError{err}
	}
	if cause := context.Cause(ctx); errors.As(cause, new(interrupted)) && (err == nil || errors.Is(err, context.Canceled)) {
		err = errors.Join(cause, err)
	}
	printError(p.Stderr, err, a.verbose)
	return exitCode(err)
}

func newRootCmd(a *app, level *slog.LevelVar) *cobra.Command {
	root := &cobra.Command{
		Use:   "holodeck",
		Short: "Build, test, serve and ship agents described in an agent.yaml",
		Long: "HoloDeck turns an agent.yaml into an agent: it checks the file, runs the agent,\n" +
			"tests it against cases and metrics, and needs no account for a first run.",
		Version:       versionText(a.Version),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			a.started = true
			return setLogLevel(level, a)
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().CountVarP(&a.verbose, "verbose", "v", "say more; twice for logs of every step")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "say only what matters")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(commands(a)...)
	return root
}

// flagError says in plain words what is wrong with the value of a flag.
func flagError(err error) error {
	flag, cause, ok := strings.Cut(err.Error(), ": strconv.Parse")
	switch {
	case !ok:
		return err
	case strings.HasPrefix(cause, "Bool"):
		return fmt.Errorf("%s: give true or false", flag)
	case strings.HasSuffix(cause, strconv.ErrRange.Error()):
		return fmt.Errorf("%s: the number is too large", flag)
	case strings.HasPrefix(cause, "Float"):
		return fmt.Errorf("%s: give a number", flag)
	}
	return fmt.Errorf("%s: give a whole number", flag)
}

// versionText returns what `holodeck version` prints.
func versionText(version string) string {
	return fmt.Sprintf("holodeck %s (%s %s/%s)", versionNumber(version), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionNumber returns version or, when it is empty, what the build knows.
func versionNumber(version string) string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(a.Stdout, versionText(a.Version))
			return err
		},
	}
}
