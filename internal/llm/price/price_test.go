package price

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// getenv returns a getenv that knows one file of prices.
func getenv(file string) func(string) string {
	return func(name string) string {
		if name == Variable {
			return file
		}
		return ""
	}
}

func builtInTable(t testing.TB) *Table {
	t.Helper()
	table, err := Open(getenv(""), "")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestCost(t *testing.T) {
	table := builtInTable(t)
	for name, tt := range map[string]struct {
		provider, model string
		usage           agent.Usage
		want            float64
	}{
		"nothing":                   {"openai", "gpt-4o", agent.Usage{}, 0},
		"input and output":          {"openai", "gpt-5", agent.Usage{Prompt: 1e6, Completion: 1e6}, 11.25},
		"cached input":              {"openai", "gpt-5", agent.Usage{Prompt: 1e6, Cached: 4e5}, 0.6*1.25 + 0.4*0.125},
		"reasoning is output":       {"openai", "o3", agent.Usage{Completion: 1e6, Reasoning: 9e5}, 8},
		"a cache that is written":   {"anthropic", "claude-sonnet-4-5", agent.Usage{Prompt: 1e6, Cached: 2e5, CacheWrite: 5e5}, 0.3*3 + 0.2*0.3 + 0.5*3.75},
		"no price for cached input": {"openai", "gpt-5-pro", agent.Usage{Prompt: 1e6, Cached: 1e6}, 15},
		"a short prompt":            {"google", "gemini-2.5-pro", agent.Usage{Prompt: 200_000, Completion: 1000}, 0.25 + 0.01},
		"a long prompt":             {"google", "gemini-2.5-pro", agent.Usage{Prompt: 200_001, Completion: 1000}, 200_001*2.5/1e6 + 0.015},
		"a long prompt, cached":     {"google", "gemini-2.5-pro", agent.Usage{Prompt: 400_000, Cached: 400_000}, 0.1},
		"shares beyond the whole":   {"openai", "gpt-4o", agent.Usage{Prompt: 10, Cached: 1e6}, 1.25},
		"one's own machine":         {"ollama", "llama3.2", agent.Usage{Prompt: 1e6, Completion: 1e6}, 0},
	} {
		p, ok := table.Of(tt.provider, tt.model)
		if got := p.Cost(tt.usage); !ok || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", name, got, tt.want)
		}
	}
}

func TestAModelWithADateHasThePriceOfTheOneWithout(t *testing.T) {
	table := builtInTable(t)
	for _, tt := range []struct {
		provider, model string
		want            float64 // of input; below zero: not known
	}{
		{"openai", "gpt-4o", 2.5},
		{"openai", "gpt-4o-2024-08-06", 2.5},
		{"openai", "gpt-4o-2024-05-13", 5}, // has its own
		{"anthropic", "claude-haiku-4-5-20251001", 1},
		{"anthropic", "claude-3-5-haiku-latest", 0.8},
		{"openai", "gpt-4o-turbo", -1},
		{"openai", "gpt-4o-2024-08", -1},
		{"azure_openai", "gpt-4o", -1}, // a deployment's name says nothing of its model
		{"openai", "", -1},
	} {
		p, ok := table.Of(tt.provider, tt.model)
		if ok != (tt.want >= 0) || ok && p.Input != tt.want {
			t.Errorf("%s/%s: %g, %t, want %g", tt.provider, tt.model, p.Input, ok, tt.want)
		}
	}
	if _, ok := (*Table)(nil).Of("openai", "gpt-4o"); ok {
		t.Error("no table knows a price")
	}
}

func TestOnesOwnPricesLieOverTheBuiltIn(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".holodeck"), 0o755); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(home, ".holodeck", "prices.json")
	named := filepath.Join(home, "other.json")
	for file, text := range map[string]string{
		own:   `{"models": {"openai/gpt-4o": {"input": 1, "output": 2}, "azure_openai/mine": {"input": 3, "output": 4}}}`,
		named: "\ufeff" + `{"date": "2026-01-31", "models": {"openai/gpt-4o": {"input": 9, "output": 9}}}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		file, home string
		gpt4o      float64
		mine       bool
	}{
		"none":        {"", t.TempDir(), 2.5, false},
		"of the home": {"", home, 1, true},
		"named":       {named, home, 9, false}, // instead of that of the home folder
	} {
		table, err := Open(getenv(tt.file), tt.home)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := table.Of("openai", "gpt-4o")
		_, mine := table.Of("azure_openai", "mine")
		if p.Input != tt.gpt4o || mine != tt.mine {
			t.Errorf("%s: gpt-4o costs %g, mine is known: %t", name, p.Input, mine)
		}
		if _, ok := table.Of("anthropic", "claude-sonnet-4-5"); !ok {
			t.Errorf("%s: the built-in prices are gone", name)
		}
	}
}

func TestABadFileSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "is empty or cut off",
		`{"models": {`:                        "is empty or cut off",
		"{\n \"models\": {\n  oops}}":         "line 3: invalid character 'o'",
		`{"model": {}}`:                       `unknown field "model"`,
		`{"models": {"openai/x": {"in": 1}}}`: `unknown field "in"`,
		`{"models": {"openai/x": {"input": "1"}}}`:         "is a JSON string, want a number",
		`{"models": {"openai/x": 1}}`:                      "is a JSON number, want an object",
		`{"models": {}} {}`:                                "something follows the object",
		`{"date": "June"}`:                                 `date is "June"; write it as 2025-12-31`,
		`{"models": {"gpt-4o": {"input": 1}}}`:             `"gpt-4o" is not provider/model`,
		`{"models": {"acme/gpt-4o": {"input": 1}}}`:        "the providers are openai, azure_openai",
		`{"models": {"openai/x": {"input": -1}}}`:          "a price of -1 is below zero",
		`{"models": {"openai/x": {"long": {"above": 0}}}}`: "long.above is 0",
	} {
		file := filepath.Join(t.TempDir(), "prices.json")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(getenv(file), "")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: the error is %v, want %q", text, err, want)
		}
	}
	if _, err := Open(getenv(filepath.Join(t.TempDir(), "gone.json")), ""); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("a file that is named and not there: %v", err)
	}
	huge := filepath.Join(t.TempDir(), "huge.json")
	if err := os.WriteFile(huge, make([]byte, maxFile+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(getenv(huge), ""); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a huge file: %v", err)
	}
}

// load loads an agent file.
func load(t *testing.T, text string) *config.Agent {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte("name: x\ninstructions: {inline: Hi.}\n"+text), fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(dir, config.Options{WorkDir: dir})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	return a
}

func TestABudgetNeedsAPrice(t *testing.T) {
	for name, tt := range map[string]struct {
		yaml string
		want []string // parts of the problems
	}{
		"no budget":           {"model: {provider: openai, name: ours}", nil},
		"a known price":       {"model: {provider: openai, name: gpt-4o}\nopenai: {max_budget_usd: 1}", nil},
		"an unknown price":    {"model: {provider: openai, name: ours}\nopenai: {max_budget_usd: 1}", []string{"openai model ours"}},
		"an unknown fallback": {"model: {provider: openai, name: gpt-4o}\nopenai: {max_budget_usd: 1, fallback_model: ours}", []string{"openai model ours"}},
		"both":                {"model: {provider: openai, name: ours}\nopenai: {max_budget_usd: 1, fallback_model: yours}", []string{"model ours", "model yours"}},
		"another runtime's":   {"model: {provider: anthropic, name: ours}\nopenai: {max_budget_usd: 1}", nil},
		"claude":              {"model: {provider: anthropic, name: ours}\nclaude: {max_budget_usd: 1}", []string{"anthropic model ours"}},
		"claude, known":       {"model: {provider: anthropic, name: claude-sonnet-4-5}\nclaude: {max_budget_usd: 1}", nil},
		"a deployment of Azure, whatever its name": {
			"model: {provider: azure_openai, name: gpt-4o, endpoint: 'https://r.example'}\nopenai: {max_budget_usd: 1}", []string{"azure_openai model gpt-4o"},
		},
		"a model that is free":    {"model: {provider: ollama, name: llama3.2}\nclaude: {max_budget_usd: 1}", nil},
		"the model without a key": {"model: {provider: offline, name: x}\nbackend: claude\nclaude: {max_budget_usd: 1}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			problems := Check(load(t, tt.yaml+"\n"), builtInTable(t))
			if len(problems) != len(tt.want) {
				t.Fatalf("the problems are %v", problems)
			}
			for i, p := range problems {
				if p.Severity != config.SeverityError || !strings.Contains(p.Text, tt.want[i]) || !strings.HasSuffix(p.Path, ".max_budget_usd") || p.Pos.Line == 0 {
					t.Errorf("problem %d is %s", i, p)
				}
			}
		})
	}
	a := load(t, "model: {provider: openai, name: ours}\nopenai: {max_budget_usd: 1}\n")
	a.Offline = true
	if problems := Check(a, builtInTable(t)); problems != nil {
		t.Errorf("offline: %v", problems)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"date": "2025-12-01", "models": {"openai/x": {"input": 1, "output": 2, "long": {"above": 1, "input": 1, "output": 1}}}}`))
	f.Add([]byte(`{"models": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parse(data)
		if err != nil {
			return
		}
		for name, p := range got.Models {
			if cost := p.Cost(agent.Usage{Prompt: 7, Cached: 3, CacheWrite: 2, Completion: 5}); cost < 0 {
				t.Errorf("%s costs %g", name, cost)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(getenv(""), ""); err != nil {
			b.Fatal(err)
		}
	}
}
