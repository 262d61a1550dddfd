//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// holodeck builds the stripped binary and returns its path.
func holodeck(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "holodeck")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "../../cmd/holodeck")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// BenchmarkRemoteCases is holodeck's side of the comparison, without promptfoo.
func BenchmarkRemoteCases(b *testing.B) {
	c := comparison{holodeck: holodeck(b)}
	for _, bench := range []struct {
		name     string
		load     load
		parallel int
	}{
		{"1000/parallel=1", load{cases: 1000}, 1},
		{"1000/parallel=4", load{cases: 1000}, 4},
		{"1000/parallel=32", load{cases: 1000}, 32},
		{"200after100ms/parallel=32", load{cases: 200, delay: 100 * time.Millisecond}, 32},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var walls []time.Duration
			var peak int64
			for b.Loop() {
				u, err := once(b.Context(), bench.load, c.ours(bench.parallel))
				if err != nil {
					b.Fatal(err)
				}
				walls, peak = append(walls, u.wall), max(peak, u.peak)
			}
			slices.Sort(walls)
			b.ReportMetric(float64(walls[len(walls)/2].Microseconds())/1000, "wall-ms")
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// stamped notes when each word was sent.
type stamped struct {
	http.ResponseWriter
	wrote func(data []byte)
}

func (s stamped) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s stamped) Write(data []byte) (int, error) {
	s.wrote(data)
	return s.ResponseWriter.Write(data)
}

func (s stamped) Flush() { s.ResponseWriter.(http.Flusher).Flush() }

// BenchmarkTokenToScreen measures the time from the moment the server writes a
// word of a streamed answer to the moment that holodeck run has printed it.
func BenchmarkTokenToScreen(b *testing.B) {
	const words = 50
	path, dir := holodeck(b), b.TempDir()
	word := func(i int) []byte { return fmt.Appendf(nil, "word%03d", i) }
	var steps []script.Step
	for i := range words {
		steps = append(steps, script.Step{DelayMS: 5}, script.Step{Text: string(word(i)) + " "})
	}
	handler, err := llmtest.NewHandler(script.Script{Rules: []script.Rule{{Steps: steps}}}, llmtest.Options{Forget: true})
	if err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	sent := make([]time.Time, words)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(stamped{w, func(data []byte) {
			now := time.Now()
			mu.Lock()
			defer mu.Unlock()
			for i := range sent {
				if bytes.Contains(data, word(i)) {
					sent[i] = now
				}
			}
		}}, r)
	}))
	defer server.Close()
	defer handler.Close()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(agent(load{cases: 1}, server.URL+"/v1")), 0o644); err != nil {
		b.Fatal(err)
	}

	var delays []time.Duration
	for b.Loop() {
		shown, err := screen(b.Context(), path, dir, words, word)
		if err != nil {
			b.Fatal(err)
		}
		mu.Lock()
		for i := range shown {
			if sent[i].IsZero() || shown[i].Before(sent[i]) {
				b.Fatalf("word %d was not seen on its way", i)
			}
			delays = append(delays, shown[i].Sub(sent[i]))
		}
		clear(sent)
		mu.Unlock()
	}
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Nanoseconds())/1000, "median-µs")
	b.ReportMetric(float64(delays[len(delays)*99/100].Nanoseconds())/1000, "p99-µs")
	b.ReportMetric(0, "ns/op")
}

// screen asks the agent in dir and returns when each word of the answer came.
func screen(ctx context.Context, path, dir string, words int, word func(int) []byte) ([]time.Time, error) {
	cmd := exec.CommandContext(ctx, path, "run", "agent.yaml", "hello")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "OPENAI_API_KEY=dummy"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var shown []time.Time
	var text []byte
	buf := make([]byte, 4096)
	for {
		n, err := out.Read(buf)
		now := time.Now()
		text = append(text, buf[:n]...)
		for len(shown) < words && bytes.Contains(text, word(len(shown))) {
			shown = append(shown, now)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.String())
	}
	if len(shown) != words {
		return nil, fmt.Errorf("%d of %d words were printed: %s", len(shown), words, text)
	}
	return shown, nil
}
