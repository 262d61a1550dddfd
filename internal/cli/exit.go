package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"

	"github.com/holodeck-go/holodeck/internal/config"
)

// The exit codes. Where several apply, the first of 129/130/143, 2, 3, 1, 4 wins.
const (
	exitOK         = 0   // done, all cases passed
	exitFailed     = 1   // a case failed, or run ended in an error result
	exitUsage      = 2   // usage or configuration: nothing ran
	exitNotCarried = 3   // it could not be carried out
	exitJudge      = 4   // cases failed only because a judge or grader ended in an error
	exitHangup     = 129 // SIGHUP; results kept
	exitInterrupt  = 130 // SIGINT; results kept
	exitTerminated = 143 // SIGTERM; results kept
)

// exitStatus is an outcome whose report has been printed: it carries a code and
// is not printed again.
type exitStatus int

// Error implements error.
func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// afterwards returns what a command ends in that came to err, and then to later
// while it closed what it had opened. An outcome that was reported does not hide
// that something went wrong after it.
func afterwards(err, later error) error {
	if later != nil && errors.As(err, new(exitStatus)) {
		return later
	}
	return errors.Join(err, later)
}

// usageError is a command line that was not understood.
type usageError struct{ err error }

// Error implements error.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.err }

// cutShort is the error of work that was interrupted and has to say what became
// of it.
type cutShort struct {
	left string // what is left of the work, such as "the answer so far stands above"
	err  error
}

// Error implements error.
func (e *cutShort) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *cutShort) Unwrap() error { return e.err }

// exitCode is the one function from errors to exit codes.
func exitCode(err error) int {
	var (
		stop   interrupted
		usage  *usageError
		conf   *config.Error
		status exitStatus
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &stop):
		switch stop.signal {
		case syscall.SIGHUP:
			return exitHangup
		case syscall.SIGTERM:
			return exitTerminated
		}
		return exitInterrupt
	case errors.As(err, &usage), errors.As(err, &conf):
		return exitUsage
	case errors.As(err, &status):
		return int(status)
	}
	return exitNotCarried
}

// printError tells a person what went wrong. Details of wrapped errors are in
// the text already; -vv adds their types, for reports of defects.
func printError(w io.Writer, err error, verbose int) {
	var (
		status exitStatus
		usage  *usageError
		conf   *config.Error
	)
	switch {
	case err == nil:
		return
	case errors.As(err, new(interrupted)):
		printInterruption(w, err)
	case errors.As(err, &status):
		return
	case errors.As(err, &conf):
		fmt.Fprintln(w, conf.Error())
		fmt.Fprintf(w, "holodeck: %s; nothing was run\n", countProblems(conf.Problems))
	case errors.As(err, &usage):
		fmt.Fprintf(w, "holodeck: %s\nRun 'holodeck --help' for usage.\n", usage)
	default:
		fmt.Fprintf(w, "holodeck: %s\n", err)
	}
	if verbose > 1 {
		for e := err; e != nil; e = errors.Unwrap(e) {
			fmt.Fprintf(w, "  %T\n", e)
		}
	}
}

// printInterruption tells what became of work that was interrupted, and what else
// went wrong. How the interruption reached the work says nothing to a person.
func printInterruption(w io.Writer, err error) {
	left := ""
	if short, ok := errors.AsType[*cutShort](err); ok {
		left = "; " + short.left
	}
	fmt.Fprintf(w, "holodeck: interrupted%s\n", left)
	for _, other := range besideInterruption(err) {
		fmt.Fprintf(w, "holodeck: %s\n", other)
	}
}

// besideInterruption returns those of the errors joined in err that do not come
// of the interruption and have not been printed.
func besideInterruption(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var others []error
		for _, e := range joined.Unwrap() {
			others = append(others, besideInterruption(e)...)
		}
		return others
	}
	if errors.Is(err, context.Canceled) || errors.As(err, new(interrupted)) || errors.As(err, new(exitStatus)) {
		return nil
	}
	return []error{err}
}

// countProblems returns such as "2 errors, 1 warning".
func countProblems(problems []config.Problem) string {
	var errs, warnings int
	for _, p := range problems {
		if p.Severity == config.SeverityError {
			errs++
		} else {
			warnings++
		}
	}
	text := plural(errs, "error")
	if warnings > 0 {
		text += ", " + plural(warnings, "warning")
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// setLogLevel sets the level of the log from -v, -q and HOLODECK_LOG_LEVEL, in
// that order of precedence. The log is quiet by default.
func setLogLevel(level *slog.LevelVar, a *app) error {
	level.Set(slog.LevelWarn)
	if name, ok := a.getenv("HOLODECK_LOG_LEVEL"); ok && name != "" {
		switch strings.ToUpper(name) {
		case "DEBUG":
			level.Set(slog.LevelDebug)
		case "INFO":
			level.Set(slog.LevelInfo)
		case "WARN", "WARNING":
			level.Set(slog.LevelWarn)
		case "ERROR", "CRITICAL":
			level.Set(slog.LevelError)
		default:
			return &usageError{fmt.Errorf("HOLODECK_LOG_LEVEL is %q; use DEBUG, INFO, WARNING or ERROR", name)}
		}
	}
	switch {
	case a.verbose > 1:
		level.Set(slog.LevelDebug)
	case a.quiet:
		level.Set(slog.LevelError)
	}
	return nil
}

// getenv returns a variable of the process's environment. As in os.Environ,
// the last of two settings wins.
func (a *app) getenv(name string) (string, bool) {
	for i := len(a.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(a.Environ[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}
