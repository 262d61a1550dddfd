//go:build noadk

package backend

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

func TestABuildWithoutADKSaysHowToGetIt(t *testing.T) {
	a := load(t, "model: {provider: google, name: gemini-2.5-flash, api_key: k}\n")
	problems := Check(a)
	if len(problems) != 1 || problems[0].Severity != config.SeverityWarning || !strings.Contains(problems[0].Text, "noadk") {
		t.Errorf("the problems are %v", problems)
	}
	_, err := open(t, a)
	refused, ok := errors.AsType[*agent.BackendInitError](err)
	if !ok || refused.Backend != "google_adk" {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"google.golang.org/adk/v2", "noadk", "go build ./cmd/holodeck"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %q: %v", want, err)
		}
	}
}

func TestABuildWithoutADKRunsOfflineOnTheLoop(t *testing.T) {
	a := load(t, "backend: google_adk\nmodel: {provider: offline, name: x, script: [{do: [{text: Hello.}]}]}\n")
	a.Offline = true
	if need := OfflineNeeds(a); !strings.Contains(need, "noadk") {
		t.Errorf("what it needs is %q", need)
	}
	b, err := open(t, a)
	if err != nil {
		t.Fatal(err)
	}
	r, err := agent.RunOnce(t.Context(), b, agent.Text("hi"))
	if err != nil || r.Response != "Hello." {
		t.Errorf("it answers %+v, %v", r, err)
	}
	if !slices.ContainsFunc(r.Notices, func(n agent.Notice) bool {
		return n.Code == agent.NoticeSubstitute && strings.Contains(n.Text, "google_adk")
	}) {
		t.Errorf("the notices are %+v", r.Notices)
	}
}
