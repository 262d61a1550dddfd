package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
)

// addCase writes the conversation, or its last exchange alone, as a test case into
// the file that holds the agent's cases. An answer holds after what was said before
// it, so that goes with it unless the person says otherwise.
func (c *Chat) addCase(_ context.Context, arg string) error {
	if _, err := c.last(); err != nil {
		return err
	}
	exchanges := c.record.Exchanges
	if first, rest, _ := strings.Cut(arg, " "); first == "last" {
		exchanges, arg = exchanges[len(exchanges)-1:], strings.TrimSpace(rest)
	}
	draft := config.CaseDraft{Name: arg}
	for _, e := range exchanges {
		if e.Result.IsError {
			return fmt.Errorf("an exchange that ended in an error (%s) says nothing of what is right; take it back with /undo, or write the last exchange alone with /case last", e.Result.ErrorReason)
		}
		draft.Turns = append(draft.Turns, c.turnDraft(e))
	}
	file, err := c.Agent.CasesFile()
	if err != nil {
		return err
	}
	if err := appendCase(file, draft); err != nil {
		return err
	}
	c.Screen.Say(fmt.Sprintf("written to %s; look at what it expects, and run it with %s", file, commandLine(c.Agent, "test")))
	return nil
}

// turnDraft returns an exchange as a turn of a test case. Secrets are masked, for
// the file is read by others.
func (c *Chat) turnDraft(e Exchange) config.TurnDraft {
	t := config.TurnDraft{Input: c.redactor().String(e.Said), GroundTruth: c.redactor().String(strings.TrimSpace(e.Result.Response))}
	for _, call := range e.Result.ToolCalls {
		known := slices.ContainsFunc(c.Tools(), func(d agent.Definition) bool { return d.Name == call.Name })
		if known && !slices.Contains(t.ExpectedTools, call.Name) {
			t.ExpectedTools = append(t.ExpectedTools, call.Name)
		}
	}
	for _, path := range e.Files {
		kind := "text"
		if a, err := attach(path); err == nil {
			kind = a.kind
		}
		t.Files = append(t.Files, config.FileDraft{Path: c.fileName(path), Type: kind})
	}
	return t
}

// fileName returns the path of a file as the agent file would name it.
func (c *Chat) fileName(path string) string {
	if dir, err := filepath.Abs(c.Agent.Dir); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// appendCase adds a case to a file of cases, whole or not at all. A link stays a
// link.
func appendCase(file string, draft config.CaseDraft) error {
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fmt.Errorf("add the case: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("add the case: %w", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("add the case: %w", err)
	}
	changed, err := config.AddCase(file, data, draft)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("add the case to %s: %w", file, &fs.PathError{Op: "write", Path: path, Err: errors.New("the file is read-only")})
	}
	return durable.WriteFile(path, changed, info.Mode().Perm())
}
