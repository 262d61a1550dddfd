//go:build unix

// Command promptfoo runs the same test cases with holodeck and with promptfoo,
// against one fake model server on this machine, and prints what each took.
// run.sh installs promptfoo and starts it.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

func main() {
	var c comparison
	flag.StringVar(&c.holodeck, "holodeck", "", "the holodeck `program`")
	flag.StringVar(&c.promptfoo, "promptfoo", "", "the promptfoo `program`")
	cases := flag.Int("cases", 1000, "how many cases are answered at once")
	slow := flag.Int("slow-cases", 200, "how many cases are answered after -delay")
	delay := flag.Duration("delay", 100*time.Millisecond, "the wait before a slow answer")
	flag.IntVar(&c.repeat, "repeat", 3, "how often each run is made; the median time and the highest peak are printed")
	flag.Parse()
	if c.holodeck == "" || c.promptfoo == "" || flag.NArg() > 0 || c.repeat < 1 || *cases < 1 || *slow < 1 {
		fmt.Fprintln(os.Stderr, "promptfoo: -holodeck and -promptfoo are needed, and numbers above 0")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.print(ctx, []load{{cases: *cases}, {cases: *slow, delay: *delay}})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "promptfoo:", err)
		os.Exit(1)
	}
}

// comparison is the two programs, and how often each run is made.
type comparison struct {
	holodeck, promptfoo string
	repeat              int
}

// load is a number of cases, and how long the model waits before each answer.
type load struct {
	cases int
	delay time.Duration
}

// used is what a run took: wall time from start to exit, and peak memory of the
// process in bytes.
type used struct {
	wall time.Duration
	peak int64
}

// print makes all runs and prints a row for each as soon as it is known.
func (c comparison) print(ctx context.Context, loads []load) error {
	fmt.Println("| cases | at once | holodeck | peak memory | promptfoo | peak memory | ratio of time | ratio of memory |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, l := range loads {
		for _, parallel := range []int{1, 4, 32} {
			ours, err := c.measure(ctx, l, c.ours(parallel))
			if err != nil {
				return fmt.Errorf("holodeck, %d at once: %w", parallel, err)
			}
			theirs, err := c.measure(ctx, l, c.theirs(parallel))
			if err != nil {
				return fmt.Errorf("promptfoo, %d at once: %w", parallel, err)
			}
			answered := "answered at once"
			if l.delay > 0 {
				answered = fmt.Sprintf("answered after %v", l.delay)
			}
			fmt.Printf("| %d, %s | %d | %.2f s | %d MB | %.2f s | %d MB | %.1f | %.1f |\n",
				l.cases, answered, parallel,
				ours.wall.Seconds(), ours.peak/1e6, theirs.wall.Seconds(), theirs.peak/1e6,
				theirs.wall.Seconds()/ours.wall.Seconds(), float64(theirs.peak)/float64(ours.peak))
		}
	}
	return nil
}

// program is how one of the two is started on the cases of a load.
type program struct {
	file  string // the name of the file of cases
	write func(l load, endpoint string) string
	args  []string
}

func (c comparison) ours(parallel int) program {
	return program{"agent.yaml", agent, []string{c.holodeck, "test", "-q", "--no-save",
		"--parallel-test-cases", strconv.Itoa(parallel), "."}}
}

func (c comparison) theirs(parallel int) program {
	return program{"promptfooconfig.yaml", promptfooConfig, []string{c.promptfoo, "eval", "-c", "promptfooconfig.yaml",
		"--no-cache", "--no-write", "--no-table", "--no-share", "--no-progress-bar",
		"--max-concurrency", strconv.Itoa(parallel)}}
}

// measure runs a program as often as asked.
func (c comparison) measure(ctx context.Context, l load, p program) (used, error) {
	var walls []time.Duration
	var peak int64
	for range c.repeat {
		u, err := once(ctx, l, p)
		if err != nil {
			return used{}, err
		}
		walls, peak = append(walls, u.wall), max(peak, u.peak)
	}
	slices.Sort(walls)
	return used{wall: walls[len(walls)/2], peak: peak}, nil
}

// once runs a program in a folder of its own that is its home, too, against a
// server of its own. A run counts only when all cases passed and each of them
// was one call of the model.
func once(ctx context.Context, l load, p program) (used, error) {
	steps := []script.Step{{Text: "The answer "}, {Text: "is 42."}}
	if l.delay > 0 {
		steps = append([]script.Step{{DelayMS: int(l.delay.Milliseconds())}}, steps...)
	}
	handler, err := llmtest.NewHandler(script.Script{Rules: []script.Rule{{Steps: steps}}}, llmtest.Options{Forget: true})
	if err != nil {
		return used{}, err
	}
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer handler.Close()

	dir, err := os.MkdirTemp("", "holodeck-promptfoo-*")
	if err != nil {
		return used{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, p.file), []byte(p.write(l, server.URL+"/v1")), 0o644); err != nil {
		return used{}, err
	}
	cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	cmd.Dir = dir
	// Nothing of the caller's: no keys, no proxies, no settings.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "OPENAI_API_KEY=dummy",
		"PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1",
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err = cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return used{}, cmp.Or(ctx.Err(), fmt.Errorf("%w\n%s", err, tail(out.String())))
	}
	if n := calls.Load(); n != int64(l.cases) {
		return used{}, fmt.Errorf("the model was called %d times for %d cases\n%s", n, l.cases, tail(out.String()))
	}
	peak, err := peakMemory(cmd.ProcessState)
	return used{wall: wall, peak: peak}, err
}

// tail is the end of what a program printed.
func tail(s string) string { return s[max(0, len(s)-2000):] }

// peakMemory is the most memory a finished process held at once, in bytes.
func peakMemory(s *os.ProcessState) (int64, error) {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("the system does not say how much memory a process used")
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss), nil
	}
	return int64(u.Maxrss) * 1024, nil // other systems count in KiB
}

// agent writes the cases as holodeck reads them.
func agent(l load, endpoint string) string {
	var doc strings.Builder
	fmt.Fprintf(&doc, `name: bench
model: {provider: openai, name: gpt-4o-mini, endpoint: %q}
instructions: {inline: Answer.}
evaluations:
  metrics:
    - {type: standard, metric: contains}
test_cases:
`, endpoint)
	for i := range l.cases {
		fmt.Fprintf(&doc, "  - {name: case %d, input: \"hello %d\", ground_truth: \"42\"}\n", i, i)
	}
	return doc.String()
}

// promptfooConfig writes the same cases as promptfoo reads them.
func promptfooConfig(l load, endpoint string) string {
	var doc strings.Builder
	fmt.Fprintf(&doc, `description: bench
providers:
  - {id: "openai:chat:gpt-4o-mini", config: {apiBaseUrl: %q}}
prompts:
  - '[{"role": "system", "content": "Answer."}, {"role": "user", "content": "{{question}}"}]'
tests:
`, endpoint)
	for i := range l.cases {
		fmt.Fprintf(&doc, "  - {description: case %d, vars: {question: \"hello %d\"}, assert: [{type: contains, value: \"42\"}]}\n", i, i)
	}
	return doc.String()
}
