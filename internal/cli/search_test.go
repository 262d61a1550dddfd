package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADocumentDoesNotSteerTheTerminal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agent.yaml": "name: desk\nmodel: {provider: offline, name: offline}\ninstructions: {inline: Help.}\n" +
			"tools:\n  - {type: hierarchical_document, name: kb, description: d, source: a.md}\n",
		"a.md": "# Lamps \x1b]0;owned\x07\n\nThe lamp \x1b[2J\u009b31mis brass.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, terminal := range []bool{true, false} {
		var out, errs bytes.Buffer
		run(context.Background(), []string{"search", dir, "kb", "lamp"}, Process{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Home: t.TempDir(), WorkDir: dir, StdoutTerminal: terminal,
		})
		if !strings.Contains(out.String(), "is brass.") {
			t.Fatalf("found %q, %s", out.String(), errs.String())
		}
		if steered := strings.ContainsAny(out.String(), "\x1b\x07\u009b"); steered == terminal {
			t.Errorf("on a terminal (%t) it prints %q", terminal, out.String())
		}
	}
}
