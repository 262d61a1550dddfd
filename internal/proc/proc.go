package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Spec says what to start.
type Spec struct {
	Path string // absolute, see [Look]
	Args []string
	Dir  string   // the working folder; empty is ours
	Env  []string // the whole environment, as KEY=VALUE; nothing is added, see [Inherited]
	// TailLines is how many lines of stderr [Process.Tail] keeps; 0 means 20.
	TailLines int
	// OnStderr, if set, is told each line of stderr, without its end, one at a
	// time. A line beyond 8 KiB comes in pieces.
	OnStderr func(line string)
	// MemoryLimit bounds the memory a process of the group may hold for itself, in
	// bytes; 0 is no bound. Where the system has no such bound (see
	// [CanLimitMemory]) Start fails with an error that is errors.ErrUnsupported.
	MemoryLimit int64
}

// Grace is how long [Process.Stop] waits between its steps.
type Grace struct {
	Stdin time.Duration // from the end of stdin to TERM; 0 means 2 s
	Term  time.Duration // from TERM to KILL; 0 means 2 s
}

const (
	defaultGrace = 2 * time.Second
	// drainGrace bounds the wait for the end of stderr once the group is gone: a
	// process that left the group may hold it open for ever.
	drainGrace = 500 * time.Millisecond
	// killGrace bounds the wait for a killed group. Only a process that hangs in
	// the kernel takes as long.
	killGrace = 5 * time.Second
)

// Process is a running child process. Whoever starts one stops it, also when it
// has ended by itself: that frees the pipe of its stdout. It is safe for
// concurrent use.
type Process struct {
	cmd    *exec.Cmd
	group  *group
	stdin  io.WriteCloser
	stdout *os.File
	stderr *tail
	done   chan struct{}
	err    error // set before done is closed
}

// Start starts a program.
func Start(s Spec) (*Process, error) {
	if s.MemoryLimit > 0 && !CanLimitMemory() {
		return nil, fmt.Errorf("start %s: a limit of memory: %w on this system", s.Path, errors.ErrUnsupported)
	}
	p := &Process{
		cmd:    &exec.Cmd{Path: s.Path, Args: append([]string{s.Path}, s.Args...), Dir: s.Dir, Env: s.Env},
		stderr: newTail(s.TailLines, s.OnStderr),
		done:   make(chan struct{}),
	}
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would be our own
	}
	// The pipes are ours and not made by exec: its Wait would close stdout under a
	// reader, and wait for stderr before the group can be ended.
	var files pipes
	stderr, err := files.open(p)
	if err != nil {
		files.closeAll()
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	if p.group, err = start(p.cmd, s.MemoryLimit); err != nil {
		files.closeAll()
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	files.closeChildEnds()
	go p.wait(stderr)
	return p, nil
}

// wait sees the process to its end and then ends what is left of its group.
func (p *Process) wait(stderr *os.File) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.stderr.read(stderr)
	}()
	p.err = p.cmd.Wait()
	// The number of the group is taken as long as one of its processes is alive,
	// so that this ends a stranger's group only if the system has given all other
	// numbers away since the line above.
	p.group.kill()
	p.group.close()
	select {
	case <-drained:
	case <-time.After(drainGrace):
	}
	stderr.Close() // ends the read if it has not ended
	<-drained
	p.stdin.Close()
	close(p.done)
}

// Stdin returns what the process reads. Closing it tells most programs to end.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout returns what the process writes. It ends when the process has ended and
// all is read, or with Stop. Whoever does not read it makes the process wait.
func (p *Process) Stdout() io.Reader { return p.stdout }

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the process has ended, its group
// has been ended, and stderr has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the process ended: nil for exit status 0, else an
// *exec.ExitError. It waits for Done.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Tail returns the last lines the process wrote to stderr.
func (p *Process) Tail() []string { return p.stderr.last() }

// Stop ends the process and its group: it closes stdin, after a while asks to
// terminate (TERM; CTRL-BREAK on Windows), after another while kills, and returns
// when all is over. The end of ctx skips the waits, not the steps. The error says
// that the process could not be killed; how it ended is told by Err. Stop may be
// called more than once.
func (p *Process) Stop(ctx context.Context, g Grace) error {
	defer p.stdout.Close()
	p.stdin.Close()
	if p.ends(ctx, g.Stdin) {
		return nil
	}
	p.group.terminate()
	if p.ends(ctx, g.Term) {
		return nil
	}
	p.group.kill()
	if p.ends(context.Background(), killGrace) {
		return nil
	}
	return fmt.Errorf("process %d (%s) does not end although it was killed", p.PID(), p.cmd.Path)
}

// ends waits for the end of the process, at most as long as d and ctx say.
func (p *Process) ends(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		d = defaultGrace
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// pipes are the six ends of the pipes of a child.
type pipes struct{ child, ours []*os.File }

// open makes the pipes, hands the child's ends to p.cmd and ours to p, and
// returns the end stderr is read from.
func (f *pipes) open(p *Process) (stderr *os.File, err error) {
	stdinRead, stdinWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f.add(stdinRead, stdinWrite)
	stdoutRead, stdoutWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f.add(stdoutWrite, stdoutRead)
	stderrRead, stderrWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f.add(stderrWrite, stderrRead)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdinRead, stdoutWrite, stderrWrite
	p.stdin, p.stdout = stdinWrite, stdoutRead
	return stderrRead, nil
}

func (f *pipes) add(child, ours *os.File) {
	f.child = append(f.child, child)
	f.ours = append(f.ours, ours)
}

func (f *pipes) closeChildEnds() {
	for _, file := range f.child {
		file.Close()
	}
}

func (f *pipes) closeAll() {
	f.closeChildEnds()
	for _, file := range f.ours {
		file.Close()
	}
}
