package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// calls is a model whose every call is played by the next of its functions, and
// by the last of them from then on.
type calls struct {
	info  Info
	plays []func(ctx context.Context, yield func(Chunk, error) bool)
	times []time.Time // of the calls
	ended []string
}

func (m *calls) Info() Info           { return m.info }
func (m *calls) EndSession(id string) { m.ended = append(m.ended, id) }

func (m *calls) Stream(ctx context.Context, _ Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		n := len(m.times)
		m.times = append(m.times, time.Now())
		m.plays[min(n, len(m.plays)-1)](ctx, yield)
	}
}

// gaps are the times between the calls.
func (m *calls) gaps() []time.Duration {
	var list []time.Duration
	for i := range m.times[1:] {
		list = append(list, m.times[i+1].Sub(m.times[i]))
	}
	return list
}

// fails plays a call that says some words and then fails.
func fails(err error, words ...string) func(context.Context, func(Chunk, error) bool) {
	return func(_ context.Context, yield func(Chunk, error) bool) {
		for _, w := range words {
			if !yield(Text(w), nil) {
				return
			}
		}
		yield(nil, err)
	}
}

// says plays a call that answers.
func says(text string, u agent.Usage) func(context.Context, func(Chunk, error) bool) {
	return func(_ context.Context, yield func(Chunk, error) bool) {
		if yield(Text(text), nil) {
			yield(Done{Message: Message{Role: RoleAssistant, Parts: agent.Text(text).Parts}, Usage: u, Stop: agent.StopEnd}, nil)
		}
	}
}

func refusal(status int) *ProviderError {
	return &ProviderError{Provider: "openai", Model: "big", Status: status, Message: "no"}
}

// constant is a source of chance that always draws the same.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

func retry(m Model) Model {
	return &retrying{m, rand.New(constant(0)), (*secret.Redactor)(nil).String}
}

// notices returns the notices among chunks.
func notices(chunks []Chunk) (list []Notice) {
	for _, c := range chunks {
		if n, ok := c.(Notice); ok {
			list = append(list, n)
		}
	}
	return list
}

func TestACallThatMaySucceedLaterIsMadeAgain(t *testing.T) {
	for _, status := range []int{0, 408, 409, 429, 500, 502, 503, 504, 529} {
		synctest.Test(t, func(t *testing.T) {
			m := &calls{plays: []func(context.Context, func(Chunk, error) bool){
				fails(refusal(status)), fails(refusal(status)), says("Hello.", agent.Usage{}),
			}}
			chunks, done, err := collect(retry(m).Stream(t.Context(), asked("hi")))
			if err != nil || done == nil || len(m.times) != 3 {
				t.Fatalf("%d: after %d calls: %v", status, len(m.times), err)
			}
			told := notices(chunks)
			if len(told) != 2 || told[0].Code != agent.NoticeRetry || !strings.Contains(told[1].Text, "attempt 3 of 3 follows in 1s") {
				t.Errorf("%d: the notices are %q", status, told)
			}
			// Chance draws its least here, which is half of the pause.
			if got, want := fmt.Sprint(m.gaps()), "[500ms 1s]"; got != want {
				t.Errorf("%d: the pauses are %s, want %s", status, got, want)
			}
		})
	}
}

func TestTheThirdFailureIsTheCallsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &calls{plays: []func(context.Context, func(Chunk, error) bool){fails(refusal(503))}}
		_, _, err := collect(retry(m).Stream(t.Context(), asked("hi")))
		if refused, ok := errors.AsType[*ProviderError](err); !ok || refused.Status != 503 || len(m.times) != 3 {
			t.Errorf("after %d calls: %v", len(m.times), err)
		}
		if want := "openai model big: 503 Service Unavailable: no (tried 3 times)"; err.Error() != want {
			t.Errorf("the error is %q, want %q", err, want)
		}
	})
}

func TestWhatCannotSucceedIsNotTriedAgain(t *testing.T) {
	usedUp := refusal(429)
	usedUp.Permanent = true
	for name, failure := range map[string]error{
		"401": refusal(401), "404": refusal(404), "400": refusal(400), "a used-up account": usedUp,
		"something else": errors.New("a broken script"),
	} {
		m := &calls{plays: []func(context.Context, func(Chunk, error) bool){fails(failure)}}
		chunks, _, err := collect(retry(m).Stream(t.Context(), asked("hi")))
		if !errors.Is(err, failure) || err.Error() != failure.Error() || len(m.times) != 1 || len(chunks) != 0 {
			t.Errorf("%s: after %d calls and %q: %v", name, len(m.times), chunks, err)
		}
	}
}

func TestACutStreamIsNotBegunAgain(t *testing.T) {
	m := &calls{plays: []func(context.Context, func(Chunk, error) bool){fails(refusal(0), "Once ", "upon")}}
	chunks, _, err := collect(retry(m).Stream(t.Context(), asked("hi")))
	if len(m.times) != 1 || len(chunks) != 2 || len(notices(chunks)) != 0 {
		t.Errorf("%d calls gave %q", len(m.times), chunks)
	}
	if _, ok := errors.AsType[*ProviderError](err); !ok || !strings.HasSuffix(err.Error(), "(part of the response was shown, so it is not asked for again)") {
		t.Errorf("the error is %v", err)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	slow := refusal(429)
	slow.RetryAfter = 20 * time.Second
	play := func() *calls {
		return &calls{plays: []func(context.Context, func(Chunk, error) bool){fails(slow), says("Hello.", agent.Usage{})}}
	}
	synctest.Test(t, func(t *testing.T) {
		for name, chance := range map[string]rand.Source{"least": constant(0), "most": constant(1<<64 - 1)} {
			m := play()
			_, _, err := collect((&retrying{m, rand.New(chance), (*secret.Redactor)(nil).String}).Stream(t.Context(), asked("hi")))
			if gap := m.gaps()[0]; err != nil || gap < 20*time.Second || gap > 22*time.Second {
				t.Errorf("%s: the pause took %s, %v", name, gap, err)
			}
		}

		// A pause that would outlast the call is not begun.
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		m, begin := play(), time.Now()
		_, _, err := collect(retry(m).Stream(ctx, asked("hi")))
		if refused, ok := errors.AsType[*ProviderError](err); !ok || refused.Status != 429 || time.Since(begin) != 0 {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		if !strings.HasSuffix(err.Error(), "try again after 20s (that is longer than the call may take)") {
			t.Errorf("the error is %q", err)
		}
		slow.RetryAfter = time.Hour
		if _, _, err := collect(retry(play()).Stream(t.Context(), asked("hi"))); err == nil || time.Since(begin) != 0 {
			t.Errorf("an hour was waited: %v", err)
		}
	})
}

func TestAPauseEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &calls{plays: []func(context.Context, func(Chunk, error) bool){fails(refusal(503))}}
		begin := time.Now()
		time.AfterFunc(100*time.Millisecond, cancel)
		_, _, err := collect(retry(m).Stream(ctx, asked("hi")))
		if !errors.Is(err, context.Canceled) || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		// Who leaves at the notice is asked nothing more.
		for range retry(m).Stream(t.Context(), asked("hi")) {
			break
		}
		if len(m.times) != 2 {
			t.Errorf("%d calls were made", len(m.times))
		}
	})
}

func TestNoticesHoldNoSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leaky := refusal(503)
		leaky.Message = "key canary-canary is overloaded"
		mask := secret.NewRedactor([]string{"canary-canary"}).String
		big := &calls{plays: []func(context.Context, func(Chunk, error) bool){fails(leaky)}}
		small := &calls{plays: []func(context.Context, func(Chunk, error) bool){says("Hello.", agent.Usage{})}}
		m := &fallback{&retrying{big, rand.New(constant(0)), mask}, small, mask}
		chunks, _, err := collect(m.Stream(t.Context(), asked("hi")))
		told := notices(chunks)
		if err != nil || len(told) != 3 || strings.Contains(fmt.Sprint(told), "canary") {
			t.Errorf("the notices are %q, %v", told, err)
		}
	})
}
