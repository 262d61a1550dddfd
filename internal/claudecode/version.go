package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/proc"
)

// Version is a version of the CLI.
type Version struct{ Major, Minor, Patch int }

// Oldest is the oldest version that this package works with, and Tested the one
// that its tests run.
var (
	Oldest = Version{2, 1, 142}
	Tested = Version{2, 1, 328}
)

// promptSnapshots is the first version that records the system prompt of a
// session, and knows the flag that stops it.
var promptSnapshots = Version{2, 1, 328}

// String implements fmt.Stringer.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Before reports whether v is older than w.
func (v Version) Before(w Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	if v.Minor != w.Minor {
		return v.Minor < w.Minor
	}
	return v.Patch < w.Patch
}

// ParseVersion reads a version at the beginning of a text such as
// "2.1.328 (Claude Code)".
func ParseVersion(text string) (Version, error) {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	parts := strings.SplitN(word, ".", 3)
	if len(parts) != 3 {
		return Version{}, fmt.Errorf("%q is no version", text)
	}
	parts[2], _, _ = strings.Cut(parts[2], "-")
	var numbers [3]int
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return Version{}, fmt.Errorf("%q is no version", text)
		}
		numbers[i] = n
	}
	return Version{numbers[0], numbers[1], numbers[2]}, nil
}

// versionGrace bounds how long the program may take to tell its version.
const versionGrace = 20 * time.Second

// AskVersion asks the program at path for its version. A version that is older
// than Oldest is an error that says so.
func AskVersion(ctx context.Context, path string, env []string) (Version, error) {
	p, err := proc.Start(proc.Spec{Path: path, Args: []string{"--version"}, Env: env})
	if err != nil {
		return Version{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, versionGrace)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { p.Stop(ctx, proc.Grace{}) })
	text, readErr := io.ReadAll(io.LimitReader(p.Stdout(), 4<<10))
	stop()
	if err := errors.Join(p.Stop(ctx, proc.Grace{}), ctx.Err()); err != nil {
		return Version{}, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	if err := errors.Join(readErr, p.Err()); err != nil {
		return Version{}, fmt.Errorf("ask %s for its version: %w%s", path, err, tailOf(p))
	}
	v, err := ParseVersion(string(text))
	if err != nil {
		return Version{}, fmt.Errorf("%s --version: %w", path, err)
	}
	if v.Before(Oldest) {
		return v, fmt.Errorf("%s is Claude Code %s, which is too old: install %s or newer", path, v, Oldest)
	}
	return v, nil
}

// tailOf returns the last lines of stderr, for an error message.
func tailOf(p *proc.Process) string {
	lines := p.Tail()
	if len(lines) == 0 {
		return ""
	}
	return "; it wrote:\n  " + strings.Join(lines, "\n  ")
}

// Program is the name of the CLI.
const Program = "claude"

// Find returns the path of the CLI: the first that is there of Program in the
// folders of PATH and in the places where its installers put it.
func Find(home string, lookup func(string) (string, bool)) (string, error) {
	path, err := proc.Look(Program, lookup)
	if err == nil {
		return path, nil
	}
	places := []string{"/usr/local/bin"}
	if home != "" {
		for _, folder := range []string{".local/bin", ".npm-global/bin", "node_modules/.bin", ".claude/local"} {
			places = append(places, filepath.Join(home, filepath.FromSlash(folder)))
		}
	}
	for _, folder := range places {
		found, err := proc.Look(Program, func(string) (string, bool) { return folder, true })
		if err == nil {
			return found, nil
		}
	}
	return "", err
}
