package worker

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/holodeck-go/holodeck/internal/proc"
)

// program returns the absolute path of a program: a name is looked for on PATH,
// and a path is relative to the agent's folder.
func (p *Pool) program(name string) (string, error) {
	if !strings.ContainsAny(name, `/\`) {
		return proc.Look(name, p.opts.Lookup)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.opts.Dir, filepath.FromSlash(name))
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s cannot be run: %w", name, cause(err))
	}
	return path, nil
}

// cause returns what exec says went wrong, without the name, which it repeats.
func cause(err error) error {
	if e, ok := err.(*exec.Error); ok {
		return e.Err
	}
	return err
}

// pythonNames returns what the interpreter is called on PATH.
func pythonNames() []string {
	if runtime.GOOS == "windows" {
		return []string{"python3", "python"}
	}
	return []string{"python3"}
}
