package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/proc"
)

// Command is a program that is started for each call.
type Command struct {
	pool *Pool
	line []string
	env  Env
}

// Command returns a program with its arguments. A name is looked for on PATH; a
// path, and the working folder, are those of the agent's folder. No shell reads
// the line.
func (p *Pool) Command(line []string, env Env) *Command {
	return &Command{pool: p, line: line, env: env}
}

// Exit is how a program ended, and what it said until then.
type Exit struct {
	Code   int    // 0 when all went well
	Stdout []byte // at most MaxResult bytes
	// LastLine is the last line of stderr that is not blank, or empty.
	LastLine string
}

// Call runs the program with args, a JSON object, on stdin, and returns what it
// wrote to stdout: as it is when it is JSON, else as a JSON string. An exit status
// other than 0 is an error with the last line of stderr.
func (c *Command) Call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	exit, err := c.Run(ctx, args)
	if err != nil {
		return nil, err
	}
	if exit.Code != 0 {
		return nil, exit.Err(c.line[0])
	}
	return exit.Value()
}

// Value returns what the program wrote to stdout: as it is when it is JSON, else
// as a JSON string.
func (e Exit) Value() (json.RawMessage, error) {
	out := bytes.TrimSpace(e.Stdout)
	if json.Valid(out) {
		return out, nil
	}
	text, err := json.Marshal(strings.ToValidUTF8(string(out), "\uFFFD"))
	if err != nil {
		return nil, fmt.Errorf("encode what the program wrote: %w", err)
	}
	return text, nil
}

// Err is the error of a program of that name which ended with a Code other than 0.
// It has the last line of stderr, or else of stdout, for some say there what is
// wrong.
func (e Exit) Err(name string) error {
	said := e.LastLine
	if said == "" {
		said = lastLine(strings.Split(strings.ToValidUTF8(string(e.Stdout), "\uFFFD"), "\n"))
	}
	const longest = 1000 // runes
	if runes := []rune(said); len(runes) > longest {
		said = string(runes[:longest]) + "…"
	}
	return fmt.Errorf("%s ended with exit status %d%s", name, e.Code, after(": ", said))
}

// Run runs the program and says how it ended. The error says that it could not
// be started, was killed, or wrote more than MaxResult bytes; or it is ctx's. What
// the program had written by then is there all the same, if it is not too much.
func (c *Command) Run(ctx context.Context, stdin []byte) (Exit, error) {
	if c.pool.open.Err() != nil {
		return Exit{}, ErrClosed
	}
	name := c.line[0]
	path, err := c.pool.program(name)
	if err != nil {
		return Exit{}, fmt.Errorf("command %s: %w", name, err)
	}
	child, err := proc.Start(proc.Spec{
		Path: path, Args: c.line[1:], Dir: c.pool.opts.Dir, Env: c.pool.environment(c.env), MemoryLimit: c.pool.opts.MemoryLimit,
		OnStderr: func(line string) { c.pool.opts.Log.Debug("command", "name", name, "line", line) },
	})
	if err != nil {
		return Exit{}, fmt.Errorf("command %s: %w", name, err)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.pool.open, stop)()

	var pipes sync.WaitGroup
	pipes.Go(func() {
		_, _ = child.Stdin().Write(stdin) // a program need not read it
		child.Stdin().Close()
	})
	var out []byte
	var readErr error
	read := make(chan struct{})
	pipes.Go(func() {
		defer close(read)
		if out, readErr = readAll(child.Stdout()); readErr != nil {
			stop()
		}
	})
	select {
	case <-child.Done():
		drained(read)
	case <-running.Done():
	}
	killed := running.Err() != nil
	_ = child.Stop(running, proc.Grace{Stdin: time.Second, Term: time.Second}) // one that cannot be killed is left behind
	pipes.Wait()
	switch {
	case ctx.Err() != nil:
		return Exit{Stdout: out}, ctx.Err()
	case errors.Is(readErr, errTooLong):
		return Exit{}, fmt.Errorf("%s wrote more than %d bytes, and was ended", name, MaxResult)
	case killed:
		return Exit{}, ErrClosed
	}
	exit := Exit{Stdout: out, LastLine: lastLine(child.Tail())}
	var ended *exec.ExitError
	switch err := child.Err(); {
	case err == nil:
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		exit.Code = ended.ExitCode()
	default:
		return Exit{Stdout: out}, fmt.Errorf("%s ended with %w%s", name, err, after(": ", exit.LastLine))
	}
	return exit, nil
}

var errTooLong = errors.New("the output is too long")

// readAll reads at most MaxResult bytes.
func readAll(r io.Reader) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, MaxResult+1))
	if len(out) > MaxResult {
		return nil, errTooLong
	}
	return out, err
}

// drained waits until what a program wrote is read, once it has ended. Somebody
// who left its group may hold the pipe open for ever.
func drained(read <-chan struct{}) {
	const grace = 500 * time.Millisecond
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
	}
}

// lastLine returns the last line that is not blank.
func lastLine(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// after returns s behind a separator, or "" when there is no s.
func after(separator, s string) string {
	if s == "" {
		return ""
	}
	return separator + s
}
