//go:build noadk

package backend

import (
	"errors"
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
