package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/worker"
)

func TestCommands(t *testing.T) {
	p := fakePool(t)
	args := json.RawMessage(`{"city":"Zürich","n":9007199254740993}`)
	for how, want := range map[string]string{
		"echo":    string(args),
		"text":    `"plain ` + "\uFFFD" + ` text"`,
		"nothing": `""`,
		"deaf":    `"done"`,
	} {
		in := args
		if how == "deaf" {
			in = json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
		}
		if got, err := p.Command(self(t), as("command "+how)).Call(t.Context(), in); string(got) != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", how, got, err, want)
		}
	}
}

func TestCommandsThatFail(t *testing.T) {
	p := fakePool(t)
	for how, want := range map[string]string{
		"fail":    "ended with exit status 2: no such order",
		"endless": "wrote more than 16777216 bytes, and was ended",
	} {
		if got, err := p.Command(self(t), as("command "+how)).Call(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %.50s, %v, want %q", how, got, err, want)
		}
	}
	for _, line := range [][]string{{"no-such-program-here"}, {"./no-such-program"}} {
		if _, err := p.Command(line, nil).Call(t.Context(), nil); err == nil || !strings.Contains(err.Error(), line[0][2:]) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestCommandsEndWithTheirContext(t *testing.T) {
	p := fakePool(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := p.Command(self(t), as("command hang")).Call(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestWhatACommandLeavesBehindIsEnded(t *testing.T) {
	p := fakePool(t)
	got, err := p.Command(self(t), as("command child")).Call(t.Context(), nil)
	if err != nil || len(got) == 0 {
		t.Errorf("%s, %v", got, err)
	}
}

func TestCommandsRunInTheAgentsFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := worker.New(worker.Options{Dir: dir})
	defer p.Close()
	got, err := p.Command(self(t), as("command folder")).Call(t.Context(), nil)
	var said string
	if err != nil || json.Unmarshal(got, &said) != nil || said != dir {
		t.Errorf("%s, %v, want %s", got, err, dir)
	}
}
