package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// program builds the stripped binary and returns its path.
func program(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "holodeck.exe")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "../cmd/holodeck")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// usage is what a finished process used.
type usage struct {
	cpu, wall time.Duration
	peak      int64 // bytes; 0 where the system does not say
}

// run runs the program in dir and fails the benchmark unless it exits with 0.
func run(b *testing.B, dir, path string, args ...string) usage {
	b.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("holodeck %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	s := cmd.ProcessState
	return usage{cpu: s.UserTime() + s.SystemTime(), wall: time.Since(start), peak: peakMemory(s)}
}

// report runs the program b.N times and reports medians.
func report(b *testing.B, dir, path string, args ...string) usage {
	b.Helper()
	var cpu, wall []time.Duration
	var peak int64
	for b.Loop() {
		u := run(b, dir, path, args...)
		cpu, wall, peak = append(cpu, u.cpu), append(wall, u.wall), max(peak, u.peak)
	}
	slices.Sort(cpu)
	slices.Sort(wall)
	u := usage{cpu: cpu[len(cpu)/2], wall: wall[len(wall)/2], peak: peak}
	b.ReportMetric(float64(u.cpu.Microseconds())/1000, "cpu-ms")
	b.ReportMetric(float64(u.wall.Microseconds())/1000, "wall-ms")
	b.ReportMetric(float64(u.peak)/1e6, "peak-MB")
	b.ReportMetric(0, "ns/op")
	return u
}

func BenchmarkVersion(b *testing.B) {
	report(b, b.TempDir(), program(b), "version")
}

func BenchmarkVersionFlag(b *testing.B) {
	report(b, b.TempDir(), program(b), "--version")
}

// BenchmarkValidate validates the support example, or the agent named by
// HOLODECK_AGENT.
func BenchmarkValidate(b *testing.B) {
	agent, err := filepath.Abs("../examples/support")
	if err != nil {
		b.Fatal(err)
	}
	if named := os.Getenv("HOLODECK_AGENT"); named != "" {
		agent = named
	}
	report(b, b.TempDir(), program(b), "validate", agent)
}

// BenchmarkCases runs offline cases that call no tool: what is left is the
// runner, the loop and the offline model.
func BenchmarkCases(b *testing.B) {
	path := program(b)
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			writeAgent(b, dir, n)
			u := report(b, dir, path, "test", "-q", "--output", "out.json", ".")
			b.ReportMetric(float64(n)/u.wall.Seconds(), "cases/s")
		})
	}
}

// writeAgent writes an agent with n cases.
func writeAgent(b *testing.B, dir string, n int) {
	b.Helper()
	var doc strings.Builder
	doc.WriteString(`name: bench
model:
  provider: offline
  name: scripted
  script:
    - when: {user: hello}
      do: [{text: "The answer is 42."}]
instructions: {inline: Answer.}
evaluations:
  metrics:
    - {type: standard, metric: contains}
test_cases:
`)
	for i := range n {
		fmt.Fprintf(&doc, "  - {name: case %d, input: \"hello %d\", ground_truth: \"42\"}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(doc.String()), 0o644); err != nil {
		b.Fatal(err)
	}
}
