package durable_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/durable"
)

// childVariable makes the test binary play a writer that is to be killed.
const childVariable = "DURABLE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := writeUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

const (
	fileName    = "state.json"
	journalName = "log.jsonl"
	lockName    = "lock"
	contentSize = 1 << 20
)

type record struct {
	N    int    `json:"n"`
	Fill string `json:"fill"`
}

// writeUntilKilled holds the lock and writes without end, telling the parent
// of each round.
func writeUntilKilled(dir string) error {
	if _, err := durable.TryLock(filepath.Join(dir, lockName)); err != nil {
		return err
	}
	j, err := durable.OpenJournal(filepath.Join(dir, journalName), 0o600)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if err := j.Append(record{N: n, Fill: strings.Repeat("x", 10_000)}); err != nil {
			return err
		}
		content := bytes.Repeat([]byte{byte('a' + n%26)}, contentSize)
		if err := durable.WriteFile(filepath.Join(dir, fileName), content, 0o600); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestAKilledWriterSpoilsNothing(t *testing.T) {
	for round := range 8 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			dir := t.TempDir()
			killAfter(t, dir, 1+round)

			content, err := os.ReadFile(filepath.Join(dir, fileName))
			if err != nil {
				t.Fatal(err)
			}
			if len(content) != contentSize || len(bytes.Trim(content, string(content[:1]))) != 0 {
				t.Errorf("the file is a mixture or cut: %d bytes", len(content))
			}

			lock, err := durable.TryLock(filepath.Join(dir, lockName))
			if err != nil {
				t.Fatalf("the lock outlived its process: %v", err)
			}
			defer lock.Unlock()

			j, err := durable.OpenJournal(filepath.Join(dir, journalName), 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(j.Append(record{N: -1}), j.Close()); err != nil {
				t.Fatal(err)
			}
			got := readRecords(t, filepath.Join(dir, journalName))
			if len(got) < 2+round {
				t.Fatalf("%d records, want at least the %d the writer told of", len(got)-1, 1+round)
			}
			for i, r := range got[:len(got)-1] {
				if r.N != i {
					t.Fatalf("record %d is %d", i, r.N)
				}
			}
		})
	}
}

// killAfter runs the writer in dir and kills it once it told of n rounds.
func killAfter(t *testing.T, dir string, n int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range n {
		if !lines.Scan() {
			t.Fatalf("the writer stopped: %v", cmd.Wait())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
}

func readRecords(t *testing.T, path string) []record {
	t.Helper()
	var got []record
	for line, err := range durable.ReadJournal(path) {
		if err != nil {
			t.Fatal(err)
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	return got
}

func TestWriteFileReplacesContentAndMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, content := range []string{"first", "second, longer", ""} {
		if err := durable.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Fatalf("read %q, %v; want %q", got, err, content)
		}
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	requireOnly(t, path)
}

func TestReplaceThatFailsLeavesTheFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := durable.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("out of ideas")
	err := durable.Replace(path, 0o600, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v must name the path and wrap the cause", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file is now %q", got)
	}
	requireOnly(t, path)
}

func TestWriteFileIntoAMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "f")
	if err := durable.WriteFile(path, nil, 0o600); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

// requireOnly fails when anything but path is in its folder.
func requireOnly(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestOpenJournalCutsATornTail(t *testing.T) {
	long := strings.Repeat("y", 200_000)
	for _, tt := range []struct {
		name, content string
		want          []int
	}{
		{"empty", "", nil},
		{"whole", `{"n":1}` + "\n" + `{"n":2}` + "\n", []int{1, 2}},
		{"torn", `{"n":1}` + "\n" + `{"n":2`, []int{1}},
		{"torn after the value", `{"n":1}` + "\n" + `{"n":2}`, []int{1}},
		{"only a torn line", `{"n"`, nil},
		{"torn over many blocks", `{"n":1,"fill":"` + long + `"}` + "\n" + `{"n":2,"fill":"` + long, []int{1}},
		{"zeros from a crash of the system", `{"n":1}` + "\n\x00\x00\x00\x00", []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			j, err := durable.OpenJournal(path, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(j.Append(record{N: 99}), j.Sync(), j.Close(), j.Close()); err != nil {
				t.Fatal(err)
			}
			got := readRecords(t, path)
			if len(got) != len(tt.want)+1 || got[len(got)-1].N != 99 {
				t.Fatalf("records %v", got)
			}
			for i, n := range tt.want {
				if got[i].N != n {
					t.Errorf("record %d is %d, want %d", i, got[i].N, n)
				}
			}
		})
	}
}

func TestJournalRefusesAfterClose(t *testing.T) {
	j, err := durable.OpenJournal(filepath.Join(t.TempDir(), "j"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
}

func TestJournalKeepsRecordsApartUnderConcurrency(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := durable.OpenJournal(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for n := range 50 {
				if err := j.Append(record{N: n}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(readRecords(t, path)); got != 400 {
		t.Errorf("%d records, want 400", got)
	}
}

func TestReadJournalTellsOfDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(path, []byte("1\nnot json\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var values []string
	var last error
	for value, err := range durable.ReadJournal(path) {
		if err != nil {
			last = err
			continue
		}
		values = append(values, string(value))
	}
	if len(values) != 1 || last == nil || !strings.Contains(last.Error(), "line 2") || !strings.Contains(last.Error(), path) {
		t.Errorf("values %v, error %v", values, last)
	}
	for _, err := range durable.ReadJournal(path + ".absent") {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing journal: %v", err)
		}
	}
}

func FuzzOpenJournal(f *testing.F) {
	f.Add([]byte("{}\n[1]\n{"))
	f.Add([]byte("\n\n"))
	f.Add([]byte("\x00\xff"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := durable.OpenJournal(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Append("end"), j.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		complete := content[:bytes.LastIndexByte(content, '\n')+1]
		if want := string(complete) + "\"end\"\n"; string(got) != want {
			t.Errorf("file %q, want %q", got, want)
		}
		for _, err := range durable.ReadJournal(path) {
			if err != nil {
				break // a damaged line ends the reading, and is told
			}
		}
	})
}

func TestLockWaitsAndTellsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) {
		held, err := durable.TryLock(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := durable.TryLock(path); !errors.Is(err, durable.ErrLocked) {
			t.Fatalf("a second TryLock: %v", err)
		}
		waits := 0
		taken := make(chan error)
		go func() {
			second, err := durable.Lock(t.Context(), path, durable.LockOptions{OnWait: func() { waits++ }})
			if err == nil {
				err = second.Unlock()
			}
			taken <- err
		}()
		time.Sleep(10 * durable.DefaultPoll) // the bubble's clock, not the wall's
		select {
		case err := <-taken:
			t.Fatalf("the lock was taken twice: %v", err)
		default:
		}
		if err := errors.Join(held.Unlock(), held.Unlock()); err != nil {
			t.Fatal(err)
		}
		if err := <-taken; err != nil {
			t.Fatal(err)
		}
		if waits != 1 {
			t.Errorf("OnWait was called %d times", waits)
		}
	})
}

func TestLockGivesUpWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) {
		held, err := durable.TryLock(path)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := durable.Lock(ctx, path, durable.LockOptions{}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v", err)
		}
	})
}

func TestStateDir(t *testing.T) {
	variable := func(value string) func(string) string {
		return func(name string) string {
			if name != durable.StateVariable {
				t.Errorf("%s was asked for", name)
			}
			return value
		}
	}
	t.Run("in the agent folder", func(t *testing.T) {
		agent := t.TempDir()
		dir, err := durable.StateDir(agent, variable(""))
		if err != nil || dir != filepath.Join(agent, ".holodeck") {
			t.Fatalf("%q, %v", dir, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(got) != "*\n" {
			t.Errorf(".gitignore holds %q", got)
		}
	})
	t.Run("the variable moves it, one folder an agent", func(t *testing.T) {
		one, two, root := filepath.Join(t.TempDir(), "agent"), filepath.Join(t.TempDir(), "agent"), t.TempDir()
		a, errA := durable.StateDir(one, variable(root))
		b, errB := durable.StateDir(two, variable(root))
		again, errC := durable.StateDir(one, variable(root))
		if err := errors.Join(errA, errB, errC); err != nil {
			t.Fatal(err)
		}
		if a == b || a != again || filepath.Dir(a) != root || !strings.HasPrefix(filepath.Base(a), "agent-") {
			t.Errorf("folders %q, %q, %q", a, b, again)
		}
		if _, err := os.Stat(filepath.Join(one, ".holodeck")); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the agent folder was written to")
		}
	})
	t.Run("neither can be written", func(t *testing.T) {
		// A file where a folder is needed stops even the superuser.
		agent, root := t.TempDir(), filepath.Join(t.TempDir(), "file")
		for _, path := range []string{filepath.Join(agent, ".holodeck"), root} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, value := range []string{"", root} {
			_, err := durable.StateDir(agent, variable(value))
			if err == nil || !strings.Contains(err.Error(), durable.StateVariable) || !strings.Contains(err.Error(), filepath.Join(agent, ".holodeck")) {
				t.Errorf("with %q: error %v must name both places", value, err)
			}
		}
	})
}

func BenchmarkJournalAppend(b *testing.B) {
	j, err := durable.OpenJournal(filepath.Join(b.TempDir(), "j"), 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	r := record{N: 1, Fill: strings.Repeat("x", 500)}
	b.ReportAllocs()
	for b.Loop() {
		if err := j.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}

// Several files at once: each takes its place, or not, on its own.
func TestFilesSideBySide(t *testing.T) {
	dir := t.TempDir()
	create := func(name string) *durable.File {
		f, err := durable.Create(filepath.Join(dir, name), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, "new "+name); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if err := durable.WriteFile(filepath.Join(dir, "b"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := create("a"), create("b")
	if err := errors.Join(a.Commit(), b.Discard(), a.Discard(), b.Discard()); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("content that was given up was committed: %v", err)
	}
	for name, want := range map[string]string{"a": "new a", "b": "old"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("the folder holds %v", entries)
	}
}

// A journal whose file is removed or renamed under the writer is written anew
// with every record, and never over what another has put in its place.
func TestADisplacedJournalIsRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j, err := durable.OpenJournal(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	appendTo := func(record int) {
		t.Helper()
		if err := j.Append(record); err != nil {
			t.Fatal(err)
		}
	}
	appendTo(1)
	if j.Displaced() {
		t.Error("it is in its place")
	}
	if err := os.Remove(path); err != nil {
		return // this system keeps files that are open
	}
	appendTo(2)
	if !j.Displaced() {
		t.Error("it was removed, and is not displaced")
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.Restore(0o600); !errors.Is(err, fs.ErrExist) || !j.Displaced() {
		t.Errorf("restored over the file of another: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file of another is %q, %v", text, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := j.Restore(0o600); err != nil || j.Displaced() {
		t.Errorf("not restored: %v", err)
	}
	appendTo(3)
	if text, err := os.ReadFile(path); err != nil || string(text) != "1\n2\n3\n" {
		t.Errorf("the journal holds %q, %v", text, err)
	}
}
