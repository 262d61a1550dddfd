package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/knowledge"
)

func systemEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

func TestOpenSearches(t *testing.T) {
	a := load(t, offlineModel+"permissions: {disallowed_tools: [orders_search]}")
	if err := os.WriteFile(filepath.Join(a.Dir, "a.md"), []byte("The harbour is four metres deep."), 0o600); err != nil {
		t.Fatal(err)
	}
	var told atomic.Int32
	s, err := Open(t.Context(), systemEnv(), a, Options{Progress: func(knowledge.Progress) { told.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	if defs := s.Definitions(); len(defs) != 1 || defs[0].Name != "docs_search" || !defs[0].Retrieval {
		t.Errorf("Definitions = %+v", defs)
	}
	if told.Load() == 0 {
		t.Error("no progress was told")
	}
	got := s.Call(t.Context(), Call{Name: "docs_search", Arguments: json.RawMessage(`{"query": "how deep is the harbour"}`)})
	if got.Err != "" || len(got.Result.Passages) != 1 || got.Result.Passages[0].Source != "a.md" {
		t.Errorf("Call = %+v", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestSearchToolsShareVectors(t *testing.T) {
	var mu sync.Mutex
	var texts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Input) != 1 {
			t.Errorf("asked for the vectors of %q, %v; want those of one text", body.Input, err)
		}
		mu.Lock()
		texts = append(texts, body.Input...)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data": [{"index": 0, "embedding": [1, 2, 3]}]}`)
	}))
	defer server.Close()
	a := load(t, openAIModel)
	a.Model.Endpoint = &server.URL
	for _, tool := range a.Tools { // both have the source a.md
		width := 3
		tool.(*config.VectorstoreTool).EmbeddingDimensions = &width
	}
	s, err := Open(t.Context(), systemEnv(), a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(texts, []string{"Text."}) {
		t.Errorf("the embedder was sent %q, want the passage once", texts)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		change     func(a *config.Agent)
		want       string
	}{
		{"a hook's script without anything to run it", offlineModel + "hooks: [{event: PreToolUse, action: script, command: [./guard]}]", func(*config.Agent) {},
			"hooks[0]: there is nothing that could run its code"},
		{"an embedder without an address", openAIModel, func(a *config.Agent) { nowhere := "nowhere"; a.Model.Endpoint = &nowhere }, "endpoint: is not an http or https address"},
		{"a source that went away", offlineModel, func(a *config.Agent) { _ = os.Remove(filepath.Join(a.Dir, "a.md")) }, "docs_search"},
		{"two tools of one name", offlineModel, func(a *config.Agent) { a.Tools[1].Base().Name = "docs" },
			"tools[0] and tools[1] are both called docs_search; rename one of them"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := load(t, tt.yaml)
			tt.change(a)
			s, err := Open(t.Context(), systemEnv(), a, Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Open = %v, want %q in it", err, tt.want)
			}
		})
	}
}

// closing counts its closings.
type closing struct{ closed *atomic.Int32 }

func (c closing) Close() error { c.closed.Add(1); return nil }

func TestOneToolThatFailsEndsTheOpeningOfAll(t *testing.T) {
	tools := load(t, offlineModel).Tools
	broken := errors.New("the source is gone")
	var closed atomic.Int32
	ready := make(chan struct{})
	entries, err := openAll(t.Context(), append(tools, tools[0]), func(ctx context.Context, c config.Tool) (opened, error) {
		switch {
		case c == tools[1]:
			<-ready
			return opened{}, broken
		default:
			select {
			case ready <- struct{}{}: // this one opens, and then the second fails
				return opened{closer: closing{&closed}}, nil
			case <-ctx.Done(): // and this one is cancelled
				return opened{}, ctx.Err()
			}
		}
	})
	if entries != nil || !errors.Is(err, broken) || errors.Is(err, context.Canceled) {
		t.Errorf("openAll = %v, %v", entries, err)
	}
	if closed.Load() != 1 {
		t.Errorf("%d tools were closed", closed.Load())
	}
}

func TestOpenIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, systemEnv(), load(t, offlineModel), Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v", err)
	}
}
