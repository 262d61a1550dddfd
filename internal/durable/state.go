package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// StateVariable is the environment variable that moves an agent's state out of
// its folder.
const StateVariable = "HOLODECK_STATE_DIR"

// stateFolder is where state lives inside the agent folder.
const stateFolder = ".holodeck"

// StateDir returns the folder that holds what is kept for the agent in
// agentDir (indexes, journals, caches), having made sure that it exists and
// can be written.
//
// When HOLODECK_STATE_DIR is set, that is a folder of its own inside it, named
// after the agent folder and a hash of its full path so that agents do not
// meet there. Otherwise it is .holodeck in the agent folder. When the folder
// cannot be written the error names both places. getenv is os.Getenv or stands
// in for it.
//
// A .gitignore inside keeps the state out of version control.
func StateDir(agentDir string, getenv func(string) string) (string, error) {
	dir, err := StatePath(agentDir, getenv)
	if err != nil {
		return "", err
	}
	own := filepath.Join(agentDir, stateFolder)
	if root := getenv(StateVariable); root != "" {
		if err := makeWritable(dir); err != nil {
			return "", fmt.Errorf("cannot keep state in %s (%s): %w; make it writable, or unset %[2]s to use %[4]s",
				root, StateVariable, err, own)
		}
		return dir, nil
	}
	if err := makeWritable(own); err != nil {
		return "", fmt.Errorf("cannot keep state in %s: %w; make it writable, or set %s to a folder that is",
			own, err, StateVariable)
	}
	return own, nil
}

// StatePath is StateDir for a look: it makes and proves nothing.
func StatePath(agentDir string, getenv func(string) string) (string, error) {
	root := getenv(StateVariable)
	if root == "" {
		return filepath.Join(agentDir, stateFolder), nil
	}
	full, err := filepath.Abs(agentDir)
	if err != nil {
		return "", fmt.Errorf("state folder of %s: %w", agentDir, err)
	}
	sum := sha256.Sum256([]byte(full))
	return filepath.Join(root, filepath.Base(full)+"-"+hex.EncodeToString(sum[:4])), nil
}

// makeWritable creates dir and proves that a file can be written in it.
func makeWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".probe.*.tmp")
	if err != nil {
		return err
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return WriteFile(ignore, []byte("*\n"), 0o644)
}
