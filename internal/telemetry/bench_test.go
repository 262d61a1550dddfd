package telemetry_test

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/telemetry"
	"github.com/holodeck-go/holodeck/internal/telemetry/telemetrytest"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// BenchmarkTurn is a turn of one model call against a model server that takes no
// time, without telemetry and with all three signals going to a collector.
func BenchmarkTurn(b *testing.B) {
	handler, err := llmtest.NewHandler(script.Script{Rules: []script.Rule{{Steps: []script.Step{{Text: "It is the third door on the left."}}}}}, llmtest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(handler)
	b.Cleanup(func() {
		handler.Close()
		server.Close()
	})
	receiver := telemetrytest.New(b)
	for name, section := range map[string]string{
		"off": "", "on": "observability: {enabled: true, exporters: {otlp: {endpoint: " + receiver.URL + ", protocol: http}}}\n",
	} {
		b.Run(name, func(b *testing.B) {
			ctx, env := b.Context(), agent.SystemEnv(slog.New(slog.DiscardHandler))
			a := loadFor(b, server.URL, section)
			tel, err := telemetry.Open(ctx, env, a, telemetry.Options{})
			if err != nil {
				b.Fatal(err)
			}
			set, err := tool.New(env)
			if err != nil {
				b.Fatal(err)
			}
			models := llm.Open(env, llm.Options{Decorators: []llm.Decorator{tel.Model}})
			opened, err := backend.Open(ctx, env, a, set, models, backend.Options{})
			if err != nil {
				b.Fatal(err)
			}
			opened = tel.Backend(opened)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := agent.RunOnce(ctx, opened, agent.Text("Where is the map room?")); err != nil {
					b.Fatal(err)
				}
			}
			opened.Close()
			tel.Close()
		})
	}
}

func loadFor(b *testing.B, server, section string) *config.Agent {
	b.Helper()
	dir := b.TempDir()
	text := "name: guide\nbackend: agent_framework\ninstructions: {inline: Be brief.}\nmodel: {provider: ollama, name: llama3.1, endpoint: " + server + "}\n" + section
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	a, problems := config.Load(filepath.Join(dir, "agent.yaml"), config.Options{WorkDir: dir})
	if config.HasErrors(problems) {
		b.Fatal(&config.Error{Problems: problems})
	}
	return a
}
