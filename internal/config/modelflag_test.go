package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestModelFlag(t *testing.T) {
	dir := t.TempDir()
	text := "name: a\nmodel: {provider: offline, name: m, temperature: 0.5}\ninstructions: {inline: Help.}\n"
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(dir, config.Options{WorkDir: dir, Model: "other"})
	if len(problems) > 0 || a.Model.Name != "other" || *a.Model.Temperature != 0.5 || a.Model.LayerOf("name") != config.LayerFlag {
		t.Errorf("%v, %+v from %s", problems, a.Model.Name, a.Model.LayerOf("name"))
	}
	if _, problems = config.Load(dir, config.Options{WorkDir: dir, Model: " "}); !config.HasErrors(problems) {
		t.Error("a blank model was taken")
	}
}
