// Command kill tests that a run of test cases survives the end of its process.
// It starts the real program on small suites, kills it after a random time,
// resumes, kills again, until so many kills have been made, and looks after each
// at what is left: every case that was shown as finished is kept, none is there
// twice, and once a run is let finish it has every case. It prints what it did
// and ends with 1 when a result was lost.
//
//	kill [-kills N] [-seed N] BINARY
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// cases is how many cases a suite has.
const cases = 12

// agent is a suite whose cases take a few milliseconds each, two at a time.
const agent = `name: Kill
instructions: {inline: Be brief.}
model:
  provider: offline
  name: scripted
  script: [{do: [{delay_ms: 4}, {text: Done.}]}]
evaluations: {metrics: [{metric: contains}]}
execution: {parallel_test_cases: 2}
test_cases:
`

func main() {
	kills := flag.Int("kills", 1000, "how many processes are killed")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments at which they are")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: kill [-kills N] [-seed N] BINARY")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *kills, *seed); err != nil {
		fmt.Fprintf(os.Stderr, "kill: seed %d: %v\n", *seed, err)
		os.Exit(1)
	}
}

// tester kills processes until there were enough.
type tester struct {
	binary string
	left   atomic.Int64 // kills to make
	runs   atomic.Int64 // that were let finish
	shown  atomic.Int64 // cases that were shown as finished
}

func run(w io.Writer, binary string, kills int, seed uint64) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	t := &tester{binary: binary}
	t.left.Store(int64(kills))
	root, err := os.MkdirTemp("", "holodeck-kill-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	start := time.Now()
	workers := 2 * runtime.NumCPU()
	errs := make([]error, workers)
	var all sync.WaitGroup
	for n := range workers {
		all.Go(func() {
			chance := rand.New(rand.NewPCG(seed, uint64(n)))
			for suite := 0; errs[n] == nil && t.left.Load() > 0; suite++ {
				errs[n] = t.suite(filepath.Join(root, fmt.Sprintf("%d-%d", n, suite)), chance)
			}
			if errs[n] != nil {
				t.left.Store(0) // the others need not go on
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d kills in %.0fs: none of the %d cases that had been shown was lost, and none ran twice; %d runs of %d cases came to their end (seed %d)\n",
		kills, time.Since(start).Seconds(), t.shown.Load(), t.runs.Load(), cases, seed)
	return nil
}

// suite makes an agent in dir and kills runs of it until one finishes.
func (t *tester) suite(dir string, chance *rand.Rand) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var text strings.Builder
	text.WriteString(agent)
	for i := range cases {
		fmt.Fprintf(&text, "  - {name: case-%d, input: hello, ground_truth: Done}\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text.String()), 0o600); err != nil {
		return err
	}
	shown := map[string]bool{} // cases of the run under way
	for begun := false; ; {
		if t.left.Load() <= 0 {
			return nil // there were enough
		}
		killed, err := t.kill(dir, begun, chance, shown)
		if err != nil {
			return err
		}
		have, err := kept(dir)
		if err != nil {
			return err
		}
		for name := range shown {
			if have[name] == 0 {
				return fmt.Errorf("%s was shown as finished and is lost; kept are %v", name, have)
			}
		}
		for name, n := range have {
			if n != 1 {
				return fmt.Errorf("%s is kept %d times", name, n)
			}
		}
		begun = have != nil
		if killed && begun {
			if killed, err = unfinished(dir); err != nil {
				return err
			}
		}
		if !killed {
			if len(have) != cases {
				return fmt.Errorf("a run that finished has %d of %d cases", len(have), cases)
			}
			t.runs.Add(1)
			return t.stored(dir)
		}
	}
}

// kill starts a run, or goes on with the one that was begun, and kills it after
// a random time. It adds the cases that were shown as finished to shown, and
// reports false when the run finished before.
func (t *tester) kill(dir string, begun bool, chance *rand.Rand, shown map[string]bool) (bool, error) {
	args := []string{"test", "."}
	if begun {
		args = append(args, "--resume")
	}
	cmd := exec.Command(t.binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return false, err
	}
	// Most kills come while cases run, a few milliseconds after one was shown;
	// some come at any time, and so while the program starts or ends.
	wait, within := chance.IntN(cases), 6*time.Millisecond
	if chance.IntN(5) == 0 {
		wait, within = 0, 150*time.Millisecond
	}
	delay := time.Duration(chance.Int64N(int64(within)))
	timer := time.AfterFunc(time.Hour, func() { cmd.Process.Kill() })
	if wait == 0 {
		timer.Reset(delay)
	}
	seen := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, name, ok := strings.Cut(lines.Text(), "] PASS "); ok {
			shown[name] = true
			t.shown.Add(1)
			if seen++; seen == wait {
				timer.Reset(delay)
			}
		}
	}
	err = cmd.Wait()
	timer.Stop()
	switch {
	case err == nil:
		return false, nil
	case cmd.ProcessState.ExitCode() == -1: // by a signal
		t.left.Add(-1)
		return true, nil
	}
	return false, fmt.Errorf("%v: %w\n%s", args, err, said.String())
}

// kept returns how often each case is in the journal; nil when no run has begun.
func kept(dir string) (map[string]int, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "results", "kill", ".holodeck", "*", "journal.jsonl"))
	if err != nil {
		return nil, err
	}
	var have map[string]int
	for _, path := range paths {
		j, err := runs.ReadJournal(path)
		if err != nil {
			continue // it was killed before its first line
		}
		if have != nil {
			return nil, fmt.Errorf("there are two runs: %v", paths)
		}
		have = map[string]int{}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for c, err := range j.Cases() {
			if err != nil {
				return nil, err
			}
			have[c.Name] = strings.Count(string(text), fmt.Sprintf(`"id":%q,`, c.ID))
		}
	}
	return have, nil
}

// unfinished reports whether the run that was killed has not said that it ended:
// the kill may have come after that.
func unfinished(dir string) (bool, error) {
	list, err := runs.StoreAt(filepath.Join(dir, "results", "kill")).List()
	if err != nil {
		return false, err
	}
	for _, stored := range list {
		record, err := stored.Open()
		if err != nil {
			return false, err
		}
		if record.State == runs.Finished {
			return false, nil
		}
	}
	return true, nil
}

// stored checks the file of a run that finished.
func (t *tester) stored(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "results", "kill", "*.json"))
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("the results are %v", files)
	}
	hidden, err := filepath.Glob(filepath.Join(dir, "results", "kill", ".*.tmp"))
	if err != nil || len(hidden) > 0 {
		return fmt.Errorf("left behind: %v, %v", hidden, err)
	}
	record, err := runs.Stored{Folder: filepath.Dir(files[0]), Name: strings.TrimSuffix(filepath.Base(files[0]), ".json")}.Open()
	if err != nil {
		return err
	}
	if record.State != runs.Finished || record.Passed != cases {
		return fmt.Errorf("the run is %s, and %d of %d cases passed", record.State, record.Passed, cases)
	}
	return nil
}
