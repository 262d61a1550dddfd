package llm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// successesPerStep is how many calls must succeed in a row before one more may
// be under way at once.
const successesPerStep = 10

// endpoint is where calls go and who pays for them: what a provider counts when
// it says that there are too many.
type endpoint struct {
	provider config.Provider
	url      string
	key      [sha256.Size]byte
}

func endpointOf(c *config.Model) endpoint {
	e := endpoint{provider: c.Provider, key: sha256.Sum256([]byte(c.APIKey.Reveal()))}
	if c.Endpoint != nil {
		e.url = *c.Endpoint
	}
	return e
}

// limiters are the limits of the endpoints of one command.
type limiters struct {
	start int // of each; 0 is none

	mu sync.Mutex
	of map[endpoint]*limiter
}

// at returns the limiter of an endpoint.
func (l *limiters) at(e endpoint) *limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[endpoint]*limiter{}
	}
	if l.of[e] == nil {
		l.of[e] = &limiter{limit: l.start}
	}
	return l.of[e]
}

// limiter bounds how many calls of one endpoint are under way at once. The
// bound follows what the provider bears, by additive increase and
// multiplicative decrease: it is halved when a call is refused as one too many,
// and rises by one after every successesPerStep successes.
//
// A provider that has had enough refuses all calls that it was just sent, which
// is one message and not many. So the bound is halved at most once a window: a
// call that began before it was last halved neither halves nor raises it.
type limiter struct {
	mu        sync.Mutex
	limit     int // 0: none, until a call is refused
	underWay  int
	waiting   []chan struct{} // the longest first; each is closed when it is its turn
	window    int             // counts how often limit was halved
	most      int             // calls that were under way at once in the window
	successes int             // of calls that began in the window, since limit last changed
}

// begin takes a place for a call. When there is none the call has to wait for
// the channel to be closed, and calls leave if it does not.
func (l *limiter) begin() (turn chan struct{}, limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hasRoom() && len(l.waiting) == 0 {
		l.enter()
		return nil, l.limit
	}
	turn = make(chan struct{})
	l.waiting = append(l.waiting, turn)
	return turn, l.limit
}

func (l *limiter) hasRoom() bool { return l.limit == 0 || l.underWay < l.limit }

func (l *limiter) enter() {
	l.underWay++
	l.most = max(l.most, l.underWay)
}

// leave gives up waiting.
func (l *limiter) leave(turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, turn); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.underWay-- // its turn came at that moment
	l.admit()
}

// present returns the window of a call that begins now.
func (l *limiter) present() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.window
}

// verdict is what the end of a call says of the limit.
type verdict int

const (
	nothing verdict = iota
	success
	tooMany
)

// end gives back the place of a call that began in a window.
func (l *limiter) end(window int, v verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case window != l.window: // it says nothing of the present limit
	case v == tooMany:
		if l.limit == 0 || l.most < l.limit {
			l.limit = l.most // so many were too many, whatever was allowed
		}
		l.limit = max(1, l.limit/2)
		l.window++
		l.most, l.successes = l.underWay, 0
	case v == success && l.limit > 0:
		if l.successes++; l.successes == successesPerStep {
			l.limit++
			l.successes = 0
		}
	}
	l.underWay--
	l.admit()
}

// admit gives free places to those who wait.
func (l *limiter) admit() {
	for len(l.waiting) > 0 && l.hasRoom() {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.enter()
	}
}

// limited makes a call wait while as many as its endpoint bears are under way.
type limited struct {
	Model
	limiter *limiter
}

// Unwrap returns the model that is called.
func (m *limited) Unwrap() Model { return m.Model }

// Stream implements Model.
func (m *limited) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if ok := m.wait(ctx, yield); !ok {
			return
		}
		window, v := m.limiter.present(), nothing
		defer func() { m.limiter.end(window, v) }()
		_, reading, err := relay(m.Model.Stream(ctx, req), yield)
		switch refused, ok := errors.AsType[*ProviderError](err); {
		case !reading:
			return
		case err == nil:
			v = success
			return
		case ok && refused.Status == http.StatusTooManyRequests && refused.Retryable():
			v = tooMany
		}
		yield(nil, err)
	}
}

// wait returns when the call may begin, or false when it is over.
func (m *limited) wait(ctx context.Context, yield func(Chunk, error) bool) bool {
	turn, limit := m.limiter.begin()
	if turn == nil {
		return true
	}
	n := Notice{Code: agent.NoticeWaiting, Text: fmt.Sprintf("waiting for a call to %s to end: it takes no more than %d at once at present", m.Info().Provider, limit)}
	if !yield(n, nil) {
		m.limiter.leave(turn)
		return false
	}
	select {
	case <-turn:
		return true
	case <-ctx.Done():
		m.limiter.leave(turn)
		yield(nil, ctx.Err())
		return false
	}
}
