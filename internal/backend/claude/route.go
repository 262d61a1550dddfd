package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/claudecode"
	"github.com/holodeck-go/holodeck/internal/config"
)

// pathVariable names the Claude Code CLI where it is not in one of its usual
// places.
const pathVariable = "HOLODECK_CLAUDE_CLI"

// pathOff is the value of pathVariable with which none is looked for.
const pathOff = "off"

// UsesCLI reports whether an agent of this runtime runs on the Claude Code CLI:
// its file asks for it, or leaves it open and the CLI is there.
func UsesCLI(a *config.Agent) bool {
	if a.Runtime != config.BackendClaude || a.Offline || a.Model == nil || a.Model.Provider == config.ProviderOffline || a.Model.Provider == "" {
		return false
	}
	switch way(a) {
	case config.ClaudeAPI:
		return false
	case config.ClaudeCLI:
		return true
	}
	_, err := find(a)
	return err == nil
}

// describedCLI is the kind under which a cassette says that the CLI was at work.
const describedCLI = "claude_cli"

// OnCLI is UsesCLI for an agent that is opened: in a replay, p, it is as it was
// recorded.
func OnCLI(a *config.Agent, p *cassette.Player) bool {
	if p == nil {
		return UsesCLI(a)
	}
	found := false
	if a.Runtime == config.BackendClaude {
		_ = p.Described(describedCLI, func(string, func(any) error) error {
			found = true
			return nil
		})
	}
	return found
}

// way returns claude.runtime.
func way(a *config.Agent) config.ClaudeRuntime {
	if a.Claude == nil {
		return config.ClaudeAuto
	}
	return a.Claude.Runtime
}

// find returns the path of the CLI.
func find(a *config.Agent) (string, error) {
	switch path := a.Variable(pathVariable); path {
	case "":
	case pathOff:
		return "", fmt.Errorf("%s is %s, so no Claude Code CLI is looked for", pathVariable, pathOff)
	default:
		if !filepath.IsAbs(path) {
			return "", fmt.Errorf("%s is %q, which is no absolute path", pathVariable, path)
		}
		info, err := os.Stat(path)
		if err == nil && (info.IsDir() || info.Mode()&0o111 == 0 && filepath.Ext(path) != ".exe") {
			err = errors.New("it is no program")
		}
		if err != nil {
			return "", fmt.Errorf("%s names %s: %w", pathVariable, path, plain(err))
		}
		return path, nil
	}
	path, err := claudecode.Find(a.Variable("HOME"), lookup(a))
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("the Claude Code CLI is not there; install it, or name it in %s", pathVariable)
	}
	return path, err
}

// plain returns an error of a file without its path.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// lookup finds the variables of an agent.
func lookup(a *config.Agent) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value := a.Variable(name)
		return value, value != ""
	}
}
