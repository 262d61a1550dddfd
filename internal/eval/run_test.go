package eval

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// scored is a scorer that a function stands for.
type scored func(ctx context.Context) (score, error)

func (f scored) score(ctx context.Context, _ sample) (score, error) { return f(ctx) }

// fake returns a metric whose scores come from f.
func fake(f scored) *Metric {
	return &Metric{name: "fake", scorer: f}
}

func TestAScoreThatIsNoneIsAnError(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.1, 1.1} {
		m := fake(func(context.Context) (score, error) { return score{value: value, pass: true}, nil })
		out := m.Evaluate(context.Background(), Input{Answer: "x"})
		if out.Status != Error || out.Score != nil || !out.Counts || !strings.Contains(out.Reason, "scores lie between 0 and 1") {
			t.Errorf("%v: %+v, want an error that counts", value, out)
		}
	}
}

func TestRetryOnFailure(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name           string
		retries, fails int
		want           Status
		tried          int
	}{
		{"no retry", 0, 1, Error, 1},
		{"the second time", 2, 1, Pass, 2},
		{"the last time", 2, 2, Pass, 3},
		{"never", 2, 9, Error, 3},
		{"at once", 3, 0, Pass, 1},
	} {
		tried := 0
		m := fake(func(context.Context) (score, error) {
			if tried++; tried <= tt.fails {
				return score{}, broken
			}
			return score{value: 1, pass: true}, nil
		})
		m.retries = tt.retries
		out := m.Evaluate(context.Background(), Input{Answer: "x"})
		if out.Status != tt.want || tried != tt.tried || out.Retries != tt.tried-1 {
			t.Errorf("%s: %s after %d tries, %d retries told; want %s after %d", tt.name, out.Status, tried, out.Retries, tt.want, tt.tried)
		}
	}
}

func TestNeitherAFailureNorWhatIsMissingIsRetried(t *testing.T) {
	for want, err := range map[Status]error{Fail: nil, Skipped: missingError("not there")} {
		tried := 0
		m := fake(func(context.Context) (score, error) { tried++; return score{}, err })
		m.retries = 3
		if out := m.Evaluate(context.Background(), Input{Answer: "x"}); out.Status != want || tried != 1 {
			t.Errorf("%s after %d tries, want %s after one", out.Status, tried, want)
		}
	}
}

func TestTimeoutMS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := fake(func(ctx context.Context) (score, error) {
			<-ctx.Done()
			return score{}, ctx.Err()
		})
		m.timeout = 250 * time.Millisecond
		out := EvaluateAll(context.Background(), []*Metric{m}, Input{Answer: "x"}, Conditions{})[0]
		if out.Status != Error || out.Reason != "it took longer than 250 ms (timeout_ms)" || out.Elapsed != 250*time.Millisecond {
			t.Errorf("got %+v", out)
		}
	})
}

func TestAMetricThatIgnoresItsTimeIsAnErrorAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := fake(func(context.Context) (score, error) {
			time.Sleep(time.Second)
			return score{value: 1, pass: true}, nil
		})
		m.timeout = 250 * time.Millisecond
		if out := m.Evaluate(context.Background(), Input{Answer: "x"}); out.Status != Error {
			t.Errorf("got %+v, want an error", out)
		}
	})
}

func TestMetricsRunSideBySide(t *testing.T) {
	const n = 5
	var together sync.WaitGroup // each waits until all are there
	together.Add(n)
	var metrics []*Metric
	for i := range n {
		metrics = append(metrics, fake(func(context.Context) (score, error) {
			together.Done()
			together.Wait()
			return score{value: float64(i) / n}, nil
		}))
	}
	for i, out := range EvaluateAll(context.Background(), metrics, Input{Answer: "x"}, Conditions{}) {
		if *out.Score != float64(i)/n {
			t.Errorf("outcome %d is that of another metric: %v", i, *out.Score)
		}
	}
	if out := EvaluateAll(context.Background(), nil, Input{}, Conditions{}); len(out) != 0 {
		t.Errorf("no metrics have %d outcomes", len(out))
	}
}

func TestSlotsBoundHowManyWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu            sync.Mutex
			working, most int
			slots         = make(chan struct{}, 2)
			metrics       []*Metric
		)
		for range 7 {
			metrics = append(metrics, fake(func(context.Context) (score, error) {
				mu.Lock()
				working++
				most = max(most, working)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				working--
				mu.Unlock()
				return score{value: 1}, nil
			}))
		}
		start := time.Now()
		EvaluateAll(context.Background(), metrics, Input{Answer: "x"}, Conditions{Slots: slots})
		if most != 2 || time.Since(start) != 4*time.Second {
			t.Errorf("%d worked at once and all took %s; want 2, and 4s", most, time.Since(start))
		}
	})
}

func TestACancelledRunLeavesNoMetricWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	slots := make(chan struct{}, 1)
	slots <- struct{}{} // all places are taken
	out := EvaluateAll(ctx, []*Metric{fake(nil), fake(nil)}, Input{Answer: "x"}, Conditions{Slots: slots})
	if out[0].Status != Error || out[1].Status != Error {
		t.Errorf("got %+v", out)
	}
}
