package proc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/proc"
)

// The test binary is its own child: the variable says which.
const childVariable = "PROC_TEST_CHILD"

func TestMain(m *testing.M) {
	if run, ok := children()[os.Getenv(childVariable)]; ok {
		run()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func children() map[string]func() {
	return map[string]func(){
		"echo":        func() { io.Copy(os.Stdout, os.Stdin) },
		"environment": func() { fmt.Println(strings.Join(os.Environ(), "\n")); wd, _ := os.Getwd(); fmt.Println("dir=" + wd) },
		"exit": func() {
			for i := range 30 {
				fmt.Fprintf(os.Stderr, "line %d\r\n", i+1)
			}
			os.Exit(7)
		},
		"long line": func() { fmt.Fprint(os.Stderr, strings.Repeat("x", 20<<10)) },
		"deaf":      func() { fmt.Println("up"); <-time.After(time.Hour) }, // the end of stdin is not heeded
		"stubborn": func() { // nor is TERM
			signal.Ignore(syscall.SIGTERM, os.Interrupt)
			fmt.Println("up")
			<-time.After(time.Hour)
		},
		"family":   func() { startGrandchild(); fmt.Println("up"); <-time.After(time.Hour) },
		"deserter": func() { startGrandchild(); fmt.Println("up") }, // ends and leaves its child behind
		"grandchild": func() {
			signal.Ignore(syscall.SIGTERM, os.Interrupt)
			conn, err := net.Dial("tcp", os.Getenv("PROC_TEST_ADDRESS"))
			if err != nil {
				panic(err)
			}
			fmt.Println("up")
			io.Copy(io.Discard, conn) // the test never ends it
		},
		"hog": func() {
			blocks := [][]byte{}
			for range 1 << 10 {
				block := make([]byte, 1<<20)
				for i := 0; i < len(block); i += 4 << 10 {
					block[i] = 1
				}
				blocks = append(blocks, block)
			}
			fmt.Println("had", len(blocks))
		},
	}
}

// startGrandchild starts a process that inherits stdout and stderr, and waits
// until it has connected to the test.
func startGrandchild() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=grandchild")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	bufio.NewReader(out).ReadString('\n')
}

// begin starts a child, to be ended with the test.
func begin(t *testing.T, child string, change ...func(*proc.Spec)) *proc.Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := proc.Spec{Path: self, Env: []string{childVariable + "=" + child}}
	for _, f := range change {
		f(&s)
	}
	p, err := proc.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := p.Stop(ctx, proc.Grace{}); err != nil {
			t.Error(err)
		}
	})
	return p
}

// waitUp reads the line by which a child says that it is ready.
func waitUp(t *testing.T, p *proc.Process) {
	t.Helper()
	if line, err := bufio.NewReader(p.Stdout()).ReadString('\n'); line != "up\n" {
		t.Fatalf("the child said %q, %v; its stderr: %q", line, err, p.Tail())
	}
}

// short is a grace that tests wait out; long is one they must never reach.
const (
	short = 20 * time.Millisecond
	long  = time.Hour
)

func TestTheEndOfStdinEndsAChild(t *testing.T) {
	p := begin(t, "echo")
	if _, err := io.WriteString(p.Stdin(), "hello\n"); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(p.Stdout())
	if line, err := out.ReadString('\n'); line != "hello\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	if err := p.Stop(t.Context(), proc.Grace{Stdin: long, Term: long}); err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err != nil {
		t.Errorf("the child ended in %v", err)
	}
	if err := p.Stop(t.Context(), proc.Grace{}); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}

func TestAChildThatIgnoresTheEndOfStdinIsTerminated(t *testing.T) {
	p := begin(t, "deaf")
	waitUp(t, p)
	if err := p.Stop(t.Context(), proc.Grace{Stdin: short, Term: long}); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) {
		t.Errorf("the child ended in %v, want a signal", p.Err())
	}
}

func TestAChildThatIgnoresTermIsKilled(t *testing.T) {
	p := begin(t, "stubborn")
	waitUp(t, p)
	if err := p.Stop(t.Context(), proc.Grace{Stdin: short, Term: short}); err != nil {
		t.Fatal(err)
	}
	if p.Err() == nil {
		t.Error("a killed child has no error")
	}
}

func TestTheEndOfTheContextSkipsTheWaits(t *testing.T) {
	p := begin(t, "stubborn")
	waitUp(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx, proc.Grace{Stdin: long, Term: long}); err != nil {
		t.Fatal(err)
	}
}

// family starts a child that starts one of its own, and returns the connection
// the grandchild holds as long as it is alive.
func family(t *testing.T, child string) (*proc.Process, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := begin(t, child, func(s *proc.Spec) { s.Env = append(s.Env, "PROC_TEST_ADDRESS="+l.Addr().String()) })
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return p, conn
}

func TestGrandchildrenEndWithTheirParent(t *testing.T) {
	for _, child := range []string{"family", "deserter"} {
		t.Run(child, func(t *testing.T) {
			p, conn := family(t, child)
			waitUp(t, p)
			if child == "family" {
				if err := p.Stop(t.Context(), proc.Grace{Stdin: short, Term: short}); err != nil {
					t.Fatal(err)
				}
			}
			<-p.Done()
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Error("the grandchild is alive")
			}
		})
	}
}

func TestTheLastLinesOfStderrAreKept(t *testing.T) {
	var told []string
	p := begin(t, "exit", func(s *proc.Spec) { s.TailLines, s.OnStderr = 3, func(line string) { told = append(told, line) } })
	<-p.Done()
	if got, want := p.Tail(), []string{"line 28", "line 29", "line 30"}; !slices.Equal(got, want) {
		t.Errorf("the tail is %q, want %q", got, want)
	}
	if len(told) != 30 || told[0] != "line 1" {
		t.Errorf("told %q", told)
	}
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) || exit.ExitCode() != 7 {
		t.Errorf("the child ended in %v, want exit status 7", p.Err())
	}
	if n := len(begin20(t)); n != 20 {
		t.Errorf("%d lines are kept when nobody says how many, want 20", n)
	}
}

func begin20(t *testing.T) []string {
	p := begin(t, "exit")
	<-p.Done()
	return p.Tail()
}

func TestALineWithoutEndIsKeptInPieces(t *testing.T) {
	p := begin(t, "long line")
	<-p.Done()
	if got := strings.Join(p.Tail(), ""); got != strings.Repeat("x", 20<<10) {
		t.Errorf("%d bytes are kept, want %d", len(got), 20<<10)
	}
	for _, piece := range p.Tail() {
		if len(piece) > 8<<10 {
			t.Errorf("a piece has %d bytes", len(piece))
		}
	}
}

func TestAChildSeesOnlyTheEnvironmentItIsGiven(t *testing.T) {
	t.Setenv("PROC_TEST_SECRET", "not-to-be-seen")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := begin(t, "environment", func(s *proc.Spec) { s.Env, s.Dir = append(s.Env, "A=b"), dir })
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A=b\n", "dir=" + dir + "\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the child does not see %q in %q", want, out)
		}
	}
	if strings.Contains(string(out), "not-to-be-seen") {
		t.Errorf("the child sees our environment: %q", out)
	}
}

func TestAMemoryLimitEndsWhoeverHoldsMore(t *testing.T) {
	limit := func(s *proc.Spec) { s.MemoryLimit = 256 << 20 }
	if !proc.CanLimitMemory() {
		self, _ := os.Executable()
		s := proc.Spec{Path: self}
		limit(&s)
		if _, err := proc.Start(s); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v, want that the limit is not supported", err)
		}
		return
	}
	p := begin(t, "hog", limit)
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	if p.Err() == nil || len(out) > 0 {
		t.Errorf("the child held a gigabyte: %q, %v", out, p.Err())
	}
}

func TestWhatCannotStartIsAnError(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := proc.Start(proc.Spec{Path: missing}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v, want an error that names %s", err, missing)
	}
}

func TestLookFindsProgramsInAbsoluteFoldersOfPath(t *testing.T) {
	empty, dir := t.TempDir(), t.TempDir()
	name, file := "npx", "npx"
	if runtime.GOOS == "windows" {
		file = "npx.cmd"
	}
	if err := os.WriteFile(filepath.Join(dir, file), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(empty, file), 0o755); err != nil { // a folder is no program
		t.Fatal(err)
	}
	path := func(dirs ...string) func(string) (string, bool) {
		return func(v string) (string, bool) { return strings.Join(dirs, string(filepath.ListSeparator)), v == "PATH" }
	}
	got, err := proc.Look(name, path("", ".", empty, dir))
	if err != nil || !strings.EqualFold(got, filepath.Join(dir, file)) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := proc.Look(name, path(empty)); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), name) {
		t.Errorf("got %q, %v, want that npx is not found", got, err)
	}
	t.Chdir(dir)
	if got, err := proc.Look(name, path(".")); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program of the working folder was found: %q, %v", got, err)
	}
	if got, err := proc.Look("./npx", path(dir)); err == nil {
		t.Errorf("a path was taken for a name: %q", got)
	}
}

func TestInheritedIsTheShortList(t *testing.T) {
	t.Setenv("npm_config_cache", "/c")
	t.Setenv("NPM_CONFIG_REGISTRY", "https://r.invalid")
	t.Setenv("PROC_TEST_SECRET", "not-to-be-seen")
	t.Setenv("HTTPS_PROXY", "http://p.invalid")
	t.Setenv("LANG", "C.UTF-8")
	got := proc.Inherited(os.LookupEnv)
	for _, want := range []string{"npm_config_cache=/c", "NPM_CONFIG_REGISTRY=https://r.invalid", "HTTPS_PROXY=http://p.invalid", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.EqualFold(s, want) }) {
			t.Errorf("%q is not inherited: %q", want, got)
		}
	}
	for _, entry := range got {
		if strings.Contains(entry, "not-to-be-seen") {
			t.Errorf("%q is inherited", entry)
		}
	}
}
