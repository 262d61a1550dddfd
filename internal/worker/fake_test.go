package worker_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// behaviour is the variable that makes this program, started anew, a fake
// interpreter or a command. Its value says how it behaves.
const behaviour = "HOLODECK_TEST_CHILD"

func TestMain(m *testing.M) {
	switch how := os.Getenv(behaviour); {
	case how == "":
		goleak.VerifyTestMain(m)
	case strings.HasPrefix(how, "command "):
		os.Exit(command(strings.TrimPrefix(how, "command ")))
	default:
		os.Exit(interpreter(how))
	}
}

// interpreter speaks the protocol of the worker without being Python: a call says
// in its arguments what is to be done.
func interpreter(how string) int {
	in := bufio.NewReader(os.Stdin)
	if err := skipSource(in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	switch how {
	case "old":
		fmt.Fprintln(os.Stderr, "SyntaxError: invalid syntax")
		return 1
	case "other":
		fmt.Println(`{"ready": "something/v9"}`)
		_, _ = io.Copy(io.Discard, in)
		return 0
	case "chatter":
		fmt.Println(`Python 2.7`)
		_, _ = io.Copy(io.Discard, in)
		return 0
	}
	fmt.Println(`{"ready": "holodeck.worker/v1"}`)
	var out sync.Mutex
	answer := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	requests, innocents, doomed := 0, 0, false
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var r struct {
			ID       uint64
			Op       string
			Module   string
			Function string
			Args     struct {
				Do   string
				Size int
			}
			Context json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 8
		}
		fmt.Fprintf(os.Stderr, "%s %s\n", r.Op, r.Function)
		requests++
		switch do := r.Args.Do; {
		case r.Op == "grade" && r.Function == "innocent" && requests > 1, r.Op == "grade" && r.Function == "culprit":
			if r.Function == "culprit" {
				doomed = true
			} else {
				innocents++
			}
			if doomed && (innocents == 3 || requests == 1) {
				return 3
			}
		case r.Op == "cancel" && how == "obedient":
			answer(`{"id": %d, "error": {"kind": "exception", "message": "CancelledError"}}`, r.ID)
		case r.Op == "cancel", do == "hang":
		case r.Op == "describe":
			answer(`{"id": %d, "result": {"type": "object", "title": %q}}`, r.ID, r.Function)
		case r.Op == "grade":
			answer(`{"id": %d, "result": {"score": 1, "details": %s}}`, r.ID, r.Context)
		case do == "die":
			fmt.Fprintln(os.Stderr, "Fatal Python error: it broke")
			return 3
		case do == "garbage":
			answer("hello from print")
		case do == "endless":
			fmt.Print(strings.Repeat("x", 70<<20))
		case do == "long":
			answer(`{"id": %d, "result": %q}`, r.ID, strings.Repeat("y", r.Args.Size))
		case do == "pid":
			answer(`{"id": %d, "result": %d}`, r.ID, os.Getpid())
		case do == "variables":
			names, _ := json.Marshal(os.Environ())
			answer(`{"id": %d, "result": %s}`, r.ID, names)
		case strings.HasPrefix(do, "{"):
			answer(`{"id": %d, "error": %s}`, r.ID, do)
		default:
			answer(`{"id": %d, "result": [%q, %q, %q]}`, r.ID, r.Module, r.Function, do)
		}
	}
}

// skipSource reads the program that a real interpreter would run. How long it is
// stands in the code that it is started with.
func skipSource(in io.Reader) error {
	for i, arg := range os.Args {
		if arg != "-c" {
			continue
		}
		_, rest, _ := strings.Cut(os.Args[i+1], ".read(")
		digits, _, _ := strings.Cut(rest, ")")
		n, err := strconv.Atoi(digits)
		if err != nil {
			return err
		}
		_, err = io.CopyN(io.Discard, in, int64(n))
		return err
	}
	return fmt.Errorf("started as %q", os.Args)
}

// command is a program of the user's.
func command(how string) int {
	switch how {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "text":
		fmt.Println("  plain \xff text ")
	case "nothing":
	case "fail":
		fmt.Println("half of it")
		fmt.Fprint(os.Stderr, "first\nno such order\n\n")
		return 2
	case "deaf": // it reads nothing, and there is more than a pipe holds
		fmt.Println(`"done"`)
	case "endless":
		for {
			fmt.Println(strings.Repeat("x", 1<<16))
		}
	case "hang":
		time.Sleep(time.Hour)
	case "variables":
		names, _ := json.Marshal(os.Environ())
		fmt.Println(string(names))
	case "folder":
		dir, _ := os.Getwd()
		fmt.Printf("%q\n", dir)
	case "child": // one that would outlive it
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), behaviour+"=command hang")
		c.Stdout = os.Stdout
		if err := c.Start(); err != nil {
			return 7
		}
		fmt.Println(c.Process.Pid)
	}
	return 0
}
