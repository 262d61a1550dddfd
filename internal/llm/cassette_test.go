package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// recordCalls records what the model makes of requests, and returns the folder.
func recordCalls(t *testing.T, m Model, r *secret.Redactor, reqs ...Request) string {
	t.Helper()
	dir := t.TempDir()
	rec, err := cassette.Record(dir, cassette.About{}, r)
	if err != nil {
		t.Fatal(err)
	}
	m = newRecorded(m, rec)
	for _, req := range reqs {
		_, _, _ = collect(m.Stream(t.Context(), req))
	}
	if _, err := rec.Commit(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fromTape returns the model of a cassette.
func fromTape(t *testing.T, dir string, r *secret.Redactor, c *config.Model) Model {
	t.Helper()
	p, err := cassette.Replay(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(testEnv(), Options{Player: p}).Model(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var small = config.Model{Provider: config.ProviderOffline, Name: "small"}

// in returns a request of one message at a place of a session.
func in(session string, turn, ordinal int, text string) Request {
	req := asked(text)
	req.Session, req.Turn, req.Ordinal = session, turn, ordinal
	return req
}

func TestAReplayGivesTheChunksOfTheModel(t *testing.T) {
	m := scripted(t,
		script.Step{Thinking: "Hm. "}, script.Step{Thinking: "Well."}, script.Step{Text: "One "}, script.Step{Text: "two."}, script.Step{Thinking: "Yes."},
		script.Step{Call: &script.Call{ID: "c1", Name: "lookup", Args: `{"z":1,"query":"<x> & y"}`}},
		script.Step{Call: &script.Call{Name: "broken", Args: `{"query": `}},
		script.Step{Finish: script.FinishLength},
	)
	told := &beforehand{m, Notice{Code: agent.NoticeRetry, Text: "again"}}
	req := in("s", 1, 1, "hi")
	dir := t.TempDir()
	rec, err := cassette.Record(dir, cassette.About{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantChunks, want, err := collect(newRecorded(told, rec).Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Commit(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m := fromTape(t, dir, nil, &small)
		chunks, done, err := collect(m.Stream(t.Context(), req))
		if err != nil || !reflect.DeepEqual(chunks, wantChunks) {
			t.Errorf("the chunks are %q, %v, want %q", chunks, err, wantChunks)
		}
		if !reflect.DeepEqual(done, want) {
			t.Errorf("got  %+v\nwant %+v", done, want)
		}
		if !m.Info().Capabilities.Cost || m.Info().Name != "small" {
			t.Errorf("the model is %+v", m.Info())
		}
	}
}

// beforehand is a model that tells something before each response.
type beforehand struct {
	Model
	notice Notice
}

func (m *beforehand) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if yield(m.notice, nil) {
			m.Model.Stream(ctx, req)(yield)
		}
	}
}

func TestAReplayFailsAsTheModelDid(t *testing.T) {
	m := scripted(t, script.Step{Text: "partial"}, script.Step{Error: &script.Error{Status: 429, Message: "slow down", RetryAfterMS: 1500}})
	dir := recordCalls(t, retry(m), nil, in("s", 1, 1, "hi"))
	chunks, _, err := collect(fromTape(t, dir, nil, &small).Stream(t.Context(), in("s", 1, 1, "hi")))
	refused, ok := errors.AsType[*ProviderError](err)
	if !ok || refused.Status != 429 || refused.RetryAfter != 1500*time.Millisecond || !reflect.DeepEqual(chunks, []Chunk{Text("partial")}) {
		t.Errorf("after %q came %v", chunks, err)
	}
	if !strings.HasSuffix(err.Error(), "(part of the response was shown, so it is not asked for again)") {
		t.Errorf("the error is %q", err)
	}
}

func TestADeadlineThatPassedPassesAgain(t *testing.T) {
	over := &agent.BackendTimeoutError{Backend: "b", What: "model call (limit 1s)", Err: context.DeadlineExceeded}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		rec, err := cassette.Record(dir, cassette.About{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := newRecorded(scripted(t, script.Step{Text: "Well"}, script.Step{Block: true}), rec)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, over)
		defer cancel()
		if _, _, err := collect(m.Stream(ctx, in("s", 1, 1, "hi"))); err == nil {
			t.Error("it answered")
		}
		late, end := context.WithTimeout(t.Context(), time.Second) // the caller's own
		defer end()
		if _, _, err := collect(m.Stream(late, in("s", 1, 2, "hi"))); err == nil {
			t.Error("it answered")
		}
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if _, _, err := collect(m.Stream(gone, in("s", 2, 1, "hi"))); err == nil {
			t.Error("it answered")
		}
		if _, err := rec.Commit(); err != nil {
			t.Fatal(err)
		}
	})
	m := fromTape(t, dir, nil, &small)
	chunks, _, err := collect(m.Stream(t.Context(), in("s", 1, 1, "hi")))
	if timeout, ok := errors.AsType[*agent.BackendTimeoutError](err); !ok || timeout.What != over.What || len(chunks) != 1 {
		t.Errorf("after %q came %v", chunks, err)
	}
	_, _, err = collect(m.Stream(t.Context(), in("s", 1, 2, "hi")))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "turn (deadline of its caller)") {
		t.Errorf("the caller's deadline: %v", err)
	}
	// The call that its person gave up was not recorded.
	_, _, err = collect(m.Stream(t.Context(), in("s", 2, 1, "hi")))
	if _, ok := errors.AsType[*cassette.Missing](err); !ok {
		t.Errorf("a cancelled call gave %v", err)
	}
}

func TestAnotherRequestIsNamedByWhatDiffers(t *testing.T) {
	half, tenth := 0.5, 0.1
	request := func(change func(*Request)) Request {
		req := in("s", 1, 1, "hi")
		req.System = "Be brief."
		req.Tools = []agent.Definition{{Name: "lookup", Description: "Looks things up.", Schema: json.RawMessage(`{"type": "object"}`)}}
		req.Sampling.Temperature = &half
		req.Schema = json.RawMessage(`{"type": "object", "required": ["a"]}`)
		if change != nil {
			change(&req)
		}
		return req
	}
	dir := recordCalls(t, scripted(t, script.Step{Text: "Hello."}), nil, request(nil))
	for want, change := range map[string]func(*Request){
		"":                          func(r *Request) { r.Schema = json.RawMessage(`{"required":["a"],"type":"object"}`) }, // the same in another order
		"system":                    func(r *Request) { r.System = "Be long." },
		"tools[0].description":      func(r *Request) { r.Tools[0].Description = "Looks." },
		"tools is now 2 long":       func(r *Request) { r.Tools = append(r.Tools, agent.Definition{Name: "more"}) },
		"schema.required[0]":        func(r *Request) { r.Schema = json.RawMessage(`{"type": "object", "required": ["b"]}`) },
		"sampling.temperature":      func(r *Request) { r.Sampling.Temperature = &tenth },
		"sampling.max_tokens":       func(r *Request) { n := 5; r.Sampling.MaxTokens = &n },
		"messages[0].parts[0].text": func(r *Request) { r.Messages = asked("ho").Messages },
	} {
		_, done, err := collect(fromTape(t, dir, nil, &small).Stream(t.Context(), request(change)))
		if want == "" {
			if err != nil || done == nil {
				t.Errorf("the recorded request: %v", err)
			}
			continue
		}
		if _, ok := errors.AsType[*cassette.Difference](err); !ok || !strings.Contains(err.Error(), ": "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p, err := cassette.Replay(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(testEnv(), Options{Player: p}).Model(&config.Model{Provider: config.ProviderOpenAI, Name: "gpt-4o"})
	if want := "has no calls of openai/gpt-4o; it was recorded with offline/small"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("another model: %v", err)
	}
}

func TestASecretThatIsSpreadOverChunksIsMasked(t *testing.T) {
	const canary = "canary-canary"
	r := secret.NewRedactor([]string{canary})
	m := scripted(t,
		script.Step{Thinking: "can"}, script.Step{Text: "It is cana"}, script.Step{Thinking: "ary-canary"}, script.Step{Text: "ry-can"}, script.Step{Text: "ary, sir."},
		script.Step{Call: &script.Call{ID: "c", Name: "tell", Args: `{"key": "canary-canary"}`}},
	)
	dir := recordCalls(t, m, r, in("s", 1, 1, "the key is "+canary))
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"cana", "ry-can", "ary"} {
			if strings.Contains(string(data), part) {
				t.Errorf("%s holds %q:\n%s", e.Name(), part, data)
			}
		}
	}
	chunks, done, err := collect(fromTape(t, dir, r, &small).Stream(t.Context(), in("s", 1, 1, "the key is "+canary)))
	want := []Chunk{Thinking(secret.Mask), Text("It is " + secret.Mask + ", sir."), Thinking(""), Text(""), Text("")}
	if err != nil || !reflect.DeepEqual(chunks, want) || len(done.Message.Calls) != 1 {
		t.Errorf("the chunks are %q, %v", chunks, err)
	}
}
