package testrun_test

import (
	"context"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

func TestARunNamesServersThatSeveralCasesMayHaveChanged(t *testing.T) {
	a := load(t, "  - input: write\n  - input: write twice\n  - input: read\n  - input: write once\n")
	b := &fake{turn: func(_ context.Context, _ *session, _ int, said string) ([]agent.Event, error) {
		switch said {
		case "write":
			return calls("done", "memory__create", "{}"), nil
		case "write twice":
			return calls("done", "memory__create", "{}", "memory__delete", "{}"), nil
		case "write once":
			return calls("done", "files__write", "{}"), nil
		}
		return calls("done", "memory__read", "{}"), nil
	}}
	serverOf := func(tool string) string {
		if strings.HasSuffix(tool, "__read") {
			return ""
		}
		server, _, _ := strings.Cut(tool, "__")
		return server
	}
	s, err := testrun.Run(t.Context(), testEnv(), a, b, testrun.Options{Shared: serverOf})
	want := "MCP server memory is shared, and 2 cases called tools that may change it (memory__create, memory__delete): " +
		"one may have seen what another did; scope: session gives each its own"
	if err != nil || len(s.Notes) != 1 || s.Notes[0] != want {
		t.Errorf("the notes are %q, %v; want %q", s.Notes, err, want)
	}
	if s, err = testrun.Run(t.Context(), testEnv(), a, b, testrun.Options{}); err != nil || len(s.Notes) > 0 {
		t.Errorf("without shared servers the notes are %q, %v", s.Notes, err)
	}
}
