package worker

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/proc"
)

//go:embed python/*.py
var pythonFiles embed.FS

// workerSource returns what the interpreter runs: the files are one program.
func workerSource() []byte {
	var b bytes.Buffer
	for _, name := range []string{"schema", "result", "grader", "main"} {
		part, err := pythonFiles.ReadFile("python/" + name + ".py")
		if err != nil {
			panic(err) // it is part of this program
		}
		b.Write(part)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// protocol is what an interpreter says first.
const protocol = "holodeck.worker/v1"

// hangGrace is how long a call may go on in the interpreter that nobody waits
// for any more, before it counts as one that hangs.
const hangGrace = 2 * time.Second

// request is what the interpreter is asked.
type request struct {
	ID       uint64          `json:"id"`
	Op       string          `json:"op"`
	File     string          `json:"file,omitempty"`
	Module   string          `json:"module,omitempty"`
	Function string          `json:"function,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Context  json.RawMessage `json:"context,omitempty"`
}

// response is what it answers; Ready is its first word.
type response struct {
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
	Ready  string          `json:"ready"`
	Prefix string          `json:"prefix"`
}

// process is a running interpreter.
type process struct {
	child *proc.Process
	path  string // of the interpreter
	send  chan []byte
	gone  chan struct{} // closed when no answer will come any more
	kill  chan struct{} // closed when nothing useful is left in it
	hung  sync.Once     // closes kill

	mu      sync.Mutex
	calls   map[uint64]*call
	last    uint64 // id of the newest call
	retired bool   // it takes no more calls
	err     error  // why it is gone
	culprit string // the function that said it would end it
}

// kindEnds is the kind of a failure after which the interpreter ends.
const kindEnds = "ends"

// call is a call under way.
type call struct {
	name   string // of the function
	answer chan response
	timer  *time.Timer // set once nobody waits for the answer
	hangs  bool        // the timer went off
}

// startProcess starts an interpreter and waits until it is ready.
func (p *Pool) startProcess(env Env) (*process, error) {
	path, err := p.Python()
	if err != nil {
		return nil, err
	}
	source := workerSource()
	boot := fmt.Sprintf("import sys; sys.version_info >= (3, 9) or sys.exit('it is Python ' + sys.version.split()[0]); "+
		"exec(compile(sys.stdin.buffer.read(%d), 'holodeck worker', 'exec'))", len(source))
	child, err := proc.Start(proc.Spec{
		Path: path, Args: []string{"-I", "-X", "utf8", "-c", boot, p.opts.Dir, strconv.Itoa(MaxResult)},
		Dir: p.opts.Dir, Env: p.environment(env), MemoryLimit: p.opts.MemoryLimit,
		OnStderr: func(line string) { p.opts.Log.Debug("python", "line", line) },
	})
	if err != nil {
		return nil, fmt.Errorf("start the Python interpreter: %w", err)
	}
	w := &process{
		child: child, path: path, calls: map[uint64]*call{},
		send: make(chan []byte, 64), gone: make(chan struct{}), kill: make(chan struct{}),
	}
	ctx, cancel := context.WithTimeout(p.open, startTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { w.end() })
	defer stop()
	answers := bufio.NewReaderSize(child.Stdout(), 64<<10)
	_, err = child.Stdin().Write(source)
	var first response
	if err == nil {
		first, err = readResponse(answers)
	}
	if err == nil && first.Ready != protocol {
		err = fmt.Errorf("it said %q", first.Ready)
	}
	if err != nil {
		w.end()
		return nil, fmt.Errorf("%s cannot be used as Python 3.9 or later: %s", path, w.lastWords(err))
	}
	go w.write()
	go w.read(answers)
	return w, nil
}

// end kills the interpreter and all it started.
func (w *process) end() {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.child.Stop(cancelled, proc.Grace{}) // nothing is left to do about one that cannot be killed
}

// lastWords says how the interpreter ended, from what it wrote last.
func (w *process) lastWords(err error) string {
	why := "exit status 0"
	select {
	case <-w.child.Done():
		if err := w.child.Err(); err != nil {
			why = err.Error()
		}
	default:
		why = err.Error()
	}
	if line := lastLine(w.child.Tail()); line != "" {
		why += "; the last that was written to stderr is: " + line
	}
	return why
}

// supervise stays with the interpreter until it is gone: because it ended, hangs,
// or open is over.
func (w *process) supervise(open context.Context) {
	select {
	case <-w.child.Done():
		drained(w.gone)
	case <-w.gone:
	case <-w.kill:
	case <-open.Done():
		// It ends by itself at the end of stdin, unless a thread of its own keeps it.
		_ = w.child.Stop(context.Background(), proc.Grace{Stdin: 500 * time.Millisecond, Term: 500 * time.Millisecond})
	}
	w.end()
	<-w.gone
}

// write writes what is to be sent: a pipe that is full must not hold up callers.
func (w *process) write() {
	for {
		select {
		case line := <-w.send:
			if _, err := w.child.Stdin().Write(line); err != nil {
				return // read sees the end, too
			}
		case <-w.gone:
			return
		}
	}
}

// read hands on the answers, and at their end tells those who wait.
func (w *process) read(answers *bufio.Reader) {
	var err error
	for {
		var r response
		if r, err = readResponse(answers); err != nil {
			break
		}
		w.answered(r)
	}
	w.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retired = true
	w.err = errors.New(w.lastWords(err))
	for _, c := range w.calls {
		if c.timer != nil {
			c.timer.Stop()
		}
	}
	close(w.gone)
}

// readResponse reads one answer.
func readResponse(r *bufio.Reader) (response, error) {
	line, err := readLine(r)
	if err != nil {
		return response{}, err
	}
	var answer response
	if err := json.Unmarshal(line, &answer); err != nil {
		return response{}, fmt.Errorf("it does not keep to the protocol: %w", err)
	}
	return answer, nil
}

// longestLine is more than an answer of MaxResult characters takes in UTF-8.
const longestLine = 4*MaxResult + 4096

// readLine reads one line of bounded length.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if err == nil && line == nil {
			return part, nil
		}
		line = append(line, part...)
		switch {
		case len(line) > longestLine:
			return nil, fmt.Errorf("it does not keep to the protocol: a line of more than %d bytes", longestLine)
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

func (w *process) answered(r response) {
	r.Result = bytes.Clone(r.Result)
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.calls[r.ID]
	if c == nil {
		return
	}
	delete(w.calls, r.ID)
	if r.Error != nil && r.Error.Kind == kindEnds {
		w.retired, w.culprit = true, c.name
	}
	if c.timer != nil {
		c.timer.Stop()
	} else {
		c.answer <- r // has room for it
	}
	w.killIfUseless()
}

// takesCalls reports whether a call can be made.
func (w *process) takesCalls() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.retired
}

// errRetired is the error of a call that was not made, since the interpreter had
// just stopped taking them.
var errRetired = errors.New("the interpreter takes no more calls")

// do makes a call. Its error is ctx's, errRetired, or says what became of the
// call.
func (w *process) do(ctx context.Context, r request) (json.RawMessage, error) {
	w.mu.Lock()
	if w.retired {
		w.mu.Unlock()
		return nil, errRetired
	}
	w.last++
	r.ID = w.last
	c := &call{name: r.Function, answer: make(chan response, 1)}
	w.calls[r.ID] = c
	w.mu.Unlock()

	line, err := json.Marshal(r)
	if err != nil {
		w.forget(r.ID)
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	select {
	case w.send <- append(line, '\n'):
	case <-w.gone:
		return nil, w.died(r.ID)
	case <-ctx.Done():
		w.forget(r.ID)
		return nil, ctx.Err()
	}
	select {
	case a := <-c.answer:
		if a.Error != nil {
			a.Error.python = w.path
			return nil, a.Error
		}
		return a.Result, nil
	case <-w.gone:
		return nil, w.died(r.ID)
	case <-ctx.Done():
		w.abandon(r.ID)
		return nil, ctx.Err()
	}
}

// forget drops a call that was not sent.
func (w *process) forget(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, id)
	w.killIfUseless()
}

// abandon says that nobody waits for a call any more. It is cancelled; if it goes
// on for all that, the interpreter is given up.
func (w *process) abandon(id uint64) {
	w.mu.Lock()
	c := w.calls[id]
	if c == nil {
		w.mu.Unlock()
		return // it was answered at the last moment
	}
	c.timer = time.AfterFunc(hangGrace, func() { w.overdue(id) })
	w.mu.Unlock()
	select {
	case w.send <- fmt.Appendf(nil, "{\"id\":%d,\"op\":\"cancel\"}\n", id):
	default: // it reads nothing: overdue will end it
	}
}

// overdue gives the interpreter up: a call in it hangs.
func (w *process) overdue(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.calls[id]; c != nil {
		c.hangs = true
		w.retired = true
		w.killIfUseless()
	}
}

// killIfUseless has a retired interpreter killed when no call is left in it but
// those that hang. The caller holds w.mu.
func (w *process) killIfUseless() {
	if !w.retired {
		return
	}
	for _, c := range w.calls {
		if !c.hangs {
			return
		}
	}
	w.hung.Do(func() { close(w.kill) })
}

// deathError is the error of a call whose interpreter ended before it answered.
type deathError struct {
	why     error
	culprit string   // the function that ended it; empty when that is not known
	beside  []string // functions that ran at that time beside the call's own
}

// alone reports whether nothing else ran in the interpreter.
func (e *deathError) alone() bool { return e.culprit == "" && len(e.beside) == 0 }

// Error implements error.
func (e *deathError) Error() string {
	who := ""
	switch {
	case e.culprit != "":
		who = fmt.Sprintf(" by %s, which ran beside it,", e.culprit)
	case len(e.beside) > 0:
		who = fmt.Sprintf(" while %s ran beside it", listed(e.beside))
	}
	return fmt.Sprintf("the Python interpreter was ended%s during the call (%v), which may have taken effect; the next call starts another", who, e.why)
}

// listed names the first of functions.
func listed(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) > 3 {
		names = append(names[:3], "others")
	}
	return strings.Join(names, ", ")
}

// died is the error of a call whose interpreter ended before it answered.
func (w *process) died(id uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &deathError{why: w.err, culprit: w.culprit}
	for other, c := range w.calls {
		if other != id {
			e.beside = append(e.beside, c.name)
		}
	}
	return e
}
