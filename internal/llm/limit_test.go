package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/provider"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// crowd is a model whose calls take a second, and that refuses those that find
// more than bears others under way.
type crowd struct {
	bears int // 0: any number

	mu            sync.Mutex
	underWay, top int
	refused       int
}

func (m *crowd) Info() Info { return Info{Provider: "openai", Name: "big"} }

func (m *crowd) Stream(ctx context.Context, _ Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		m.mu.Lock()
		m.underWay++
		m.top = max(m.top, m.underWay)
		full := m.bears > 0 && m.underWay > m.bears
		if full {
			m.refused++
		}
		m.mu.Unlock()
		err := provider.Sleep(ctx, time.Second)
		m.mu.Lock()
		m.underWay--
		m.mu.Unlock()
		switch {
		case err != nil:
			yield(nil, err)
		case full:
			yield(nil, refusal(429))
		default:
			yield(Done{Stop: agent.StopEnd}, nil)
		}
	}
}

// flood makes n calls at once and waits for them. It returns their errors.
func flood(ctx context.Context, m Model, n int) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, _, errs[i] = collect(m.Stream(ctx, asked("hi"))) })
	}
	wg.Wait()
	return errs
}

func failures(errs []error) (n int) {
	for _, err := range errs {
		if err != nil {
			n++
		}
	}
	return n
}

func TestNoMoreCallsAreUnderWayThanTheLimitSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{}
		m := &limited{c, &limiter{limit: 3}}
		begin := time.Now()
		if n := failures(flood(t.Context(), m, 9)); n > 0 || c.top != 3 || time.Since(begin) != 3*time.Second {
			t.Errorf("%d failed, %d were under way at once, it took %s", n, c.top, time.Since(begin))
		}
		if l := m.limiter; l.underWay != 0 || len(l.waiting) != 0 {
			t.Errorf("afterwards %d are under way and %d wait", l.underWay, len(l.waiting))
		}
	})
}

func TestARefusalHalvesTheLimitOnceAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{bears: 1}
		m := &limited{c, &limiter{limit: 16}}
		for _, want := range []int{8, 4, 2, 1, 1} {
			flood(t.Context(), m, m.limiter.limit) // all but one are refused at once
			if m.limiter.limit != want {
				t.Fatalf("the limit is %d, want %d", m.limiter.limit, want)
			}
		}
	})
}

func TestWithoutALimitTheFirstRefusalSetsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{bears: 30}
		m := &limited{c, &limiter{}}
		flood(t.Context(), m, 40)
		if l := m.limiter.limit; l != 20 || c.top != 40 {
			t.Errorf("after %d at once the limit is %d, want 20", c.top, l)
		}
	})
}

func TestALimitFarAboveWhatIsUnderWayIsHalvedFromThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &limited{&crowd{bears: 5}, &limiter{limit: 1000}}
		flood(t.Context(), m, 8)
		if m.limiter.limit != 4 {
			t.Errorf("the limit is %d, want 4", m.limiter.limit)
		}
	})
}

func TestTenSuccessesRaiseTheLimitByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &limited{&crowd{}, &limiter{limit: 2}}
		for i, want := range []int{2, 3, 4, 5} {
			flood(t.Context(), m, 5+i%2*5) // 5, 15, 20, 30 in all
			if m.limiter.limit != want {
				t.Errorf("after flood %d the limit is %d, want %d", i+1, m.limiter.limit, want)
			}
		}
	})
}

func TestARunFindsWhatTheProviderBears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{bears: 6}
		ms := &limiters{start: 32}
		m := retry(&limited{c, ms.at(endpoint{provider: config.ProviderOpenAI})})
		var (
			failed atomic.Int32
			wg     sync.WaitGroup
		)
		cases := make(chan int)
		for range 32 {
			wg.Go(func() {
				for range cases {
					if _, _, err := collect(m.Stream(t.Context(), asked("hi"))); err != nil {
						failed.Add(1)
					}
				}
			})
		}
		for i := range 300 {
			cases <- i
		}
		close(cases)
		wg.Wait()
		if failed.Load() > 20 || c.refused > 100 {
			t.Errorf("%d of 300 calls failed in the end, %d attempts were refused", failed.Load(), c.refused)
		}
	})
}

func TestWaitingIsSaidAndEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &limiter{limit: 1}
		m := &limited{&crowd{}, l}
		var first sync.WaitGroup
		first.Go(func() { flood(t.Context(), m, 1) })
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		chunks, _, err := collect(m.Stream(ctx, asked("hi")))
		told := notices(chunks)
		if len(told) != 1 || told[0].Code != agent.NoticeWaiting || !strings.Contains(told[0].Text, "openai") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it says %q and ends in %v", told, err)
		}
		for range m.Stream(t.Context(), asked("hi")) { // who leaves at the notice has left the queue
			break
		}
		if len(l.waiting) != 0 {
			t.Errorf("%d still wait", len(l.waiting))
		}
		first.Wait()
		if l.underWay != 0 {
			t.Errorf("%d are under way", l.underWay)
		}
	})
}

func TestAPlaceThatComesTooLateIsPassedOn(t *testing.T) {
	l := &limiter{limit: 1}
	if turn, _ := l.begin(); turn != nil {
		t.Fatal("the first has to wait")
	}
	late, _ := l.begin()
	next, _ := l.begin()
	l.end(0, success)
	<-late
	l.leave(late) // its ctx ended at that very moment
	<-next
	l.end(0, nothing)
	if l.underWay != 0 {
		t.Errorf("%d are under way", l.underWay)
	}
}

func TestALimitIsThatOfAnEndpointAndAKey(t *testing.T) {
	url := "https://models.example"
	model := func(provider config.Provider, endpoint *string, key string) *config.Model {
		return &config.Model{Provider: provider, Name: "x", Endpoint: endpoint, APIKey: secret.New(key)}
	}
	same := limiters{start: 1}
	a := same.at(endpointOf(model("openai", nil, "k1")))
	seen := map[*limiter]string{a: "openai k1"}
	for name, m := range map[string]*config.Model{
		"another provider": model("anthropic", nil, "k1"), "another endpoint": model("openai", &url, "k1"), "another key": model("openai", nil, "k2"),
	} {
		l := same.at(endpointOf(m))
		if other, ok := seen[l]; ok {
			t.Errorf("%s shares the limit of %s", name, other)
		}
		seen[l] = name
	}
	if same.at(endpointOf(model("openai", nil, "k1"))) != a {
		t.Error("two models of one endpoint have a limit each")
	}
}

func BenchmarkAroundACall(b *testing.B) {
	ms := Open(testEnv(), Options{Parallel: 4})
	bare := &calls{plays: []func(context.Context, func(Chunk, error) bool){says("Hello.", agent.Usage{})}}
	wrapped := retry(&limited{bare, ms.limiters.at(endpoint{})})
	for name, m := range map[string]Model{"bare": bare, "wrapped": wrapped} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bare.times = bare.times[:0]
				for _, err := range m.Stream(b.Context(), Request{}) {
					if err != nil {
						b.Fatal(fmt.Errorf("the call failed: %w", err))
					}
				}
			}
		})
	}
}
