package worker_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/holodeck-go/holodeck/internal/worker"
)

func BenchmarkScript(b *testing.B) {
	file := filepath.Join(b.TempDir(), "money.star")
	if err := os.WriteFile(file, []byte(scriptText), 0o644); err != nil {
		b.Fatal(err)
	}
	p := worker.New(worker.Options{Dir: filepath.Dir(file)})
	defer p.Close()
	s := p.Script(file, "convert")
	args := json.RawMessage(`{"amount": 10, "currency": "USD"}`)
	for b.Loop() {
		if _, err := s.Call(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommand is mostly the start of a program.
func BenchmarkCommand(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p := worker.New(worker.Options{Dir: b.TempDir()})
	defer p.Close()
	c := p.Command([]string{self}, as("command echo"))
	for b.Loop() {
		if _, err := c.Call(b.Context(), json.RawMessage(`{}`)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProtocol is a call of an interpreter that takes no time: pipes, JSON and
// what is kept of calls under way.
func BenchmarkProtocol(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p := worker.New(worker.Options{Dir: b.TempDir(), Lookup: lookup(map[string]string{"HOLODECK_PYTHON": self})})
	defer p.Close()
	f := p.Function("tool.py", "f", "m", as("plain"))
	for b.Loop() {
		if _, err := f.Call(b.Context(), json.RawMessage(`{"do":"x"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
