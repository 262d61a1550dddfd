package mcptest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// ServerVariable makes of a test binary that calls [Main] a stdio server: the name
// of one that [New] returns, or "bad " and one of the ways of [Misbehave].
const ServerVariable = "MCPTEST_SERVER"

// Main is called first in a TestMain. It does not return where the binary was
// started as a server.
func Main() {
	name := os.Getenv(ServerVariable)
	if name == "" {
		return
	}
	err := run(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(name string) error {
	var way string
	if _, err := fmt.Sscanf(name, "bad %s", &way); err == nil {
		return Misbehave(way)
	}
	return Serve(New(name))
}

// Path returns a folder in which the commands that may start a server, npx among
// them, are the test binary: the value of PATH for a test.
func Path(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"npx", "node", "uvx", "docker"} {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := link(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// link makes a file another name of a program, or a copy where that cannot be had.
func link(program, name string) error {
	if os.Symlink(program, name) == nil || os.Link(program, name) == nil {
		return nil
	}
	in, err := os.Open(program)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
