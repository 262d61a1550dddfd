package runs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// scored is a case with a score.
func scored(index int, status runs.Status, metric string, score float64) *runs.Case {
	c := numbered(index, status)
	c.Turns[0].Metrics = []runs.Metric{{Name: metric, Kind: config.MetricStandard, Status: runs.MetricPass, Counts: true, Score: &score}}
	return c
}

func TestCompare(t *testing.T) {
	d := newDesk(t)
	flaky := func(attempt int, status runs.Status) *runs.Case {
		c := numbered(6, status)
		c.Attempt, c.Repeats, c.PassRule = attempt, 2, config.PassAny
		return c
	}
	base := open(t, d.run(
		scored(0, runs.Passed, "bleu", 1), scored(1, runs.Failed, "bleu", 0), scored(2, runs.Passed, "old", 0.5),
		numbered(3, runs.Unchecked), numbered(4, runs.Failed), numbered(5, runs.Passed), flaky(1, runs.Failed), flaky(2, runs.Failed),
	))
	run := open(t, d.run(
		scored(0, runs.Failed, "bleu", 0), scored(1, runs.Passed, "bleu", 0.5), scored(2, runs.Passed, "new", 0.75),
		numbered(3, runs.Passed), numbered(4, runs.Failed), flaky(1, runs.Passed), flaky(2, runs.Failed), numbered(7, runs.Passed),
	))
	c, err := runs.Compare(base, run)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(changes []runs.Change) string {
		var list []string
		for _, v := range changes {
			list = append(list, fmt.Sprintf("%s %s>%s", strings.TrimPrefix(v.ID, "case-"), v.Base, v.Run))
		}
		return strings.Join(list, ", ")
	}
	for _, tt := range []struct{ name, got, want string }{
		{"better", ids(c.Better), "1 failed>passed, 6 failed>passed"},
		{"worse", ids(c.Worse), "0 passed>failed"},
		{"other", ids(c.Other), "3 unchecked>passed"},
		{"added", ids(c.Added), "7 >passed"},
		{"removed", ids(c.Removed), "5 passed>"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	if c.Same != 2 {
		t.Errorf("%d are the same, want 2", c.Same)
	}
	var metrics []string
	show := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	for _, m := range c.Metrics {
		metrics = append(metrics, m.Name+" "+show(m.Base)+" "+show(m.Run))
	}
	if want := []string{"bleu 0.5 0.25", "old 0.5 -", "new - 0.75"}; !slices.Equal(metrics, want) {
		t.Errorf("metrics %v, want %v", metrics, want)
	}
}

// A run of the Python edition has no ids. Its cases are told by their names, and
// those of one name by their order.
func TestCompareWithAForeignRun(t *testing.T) {
	d := newDesk(t)
	a, b, c := numbered(0, runs.Passed), numbered(1, runs.Failed), numbered(2, runs.Passed)
	a.Name, b.Name, c.Name = "t1", "t1", ""
	c.Turns[0].Input = "unnamed"
	ours := open(t, d.run(a, b, c))
	got, err := runs.Compare(open(t, d.foreignRun("x", foreign)), ours)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Better) != 1 || got.Better[0].ID != "t1" || len(got.Worse) != 1 || got.Worse[0].ID != "t1#2" || got.Same != 1 || len(got.Added)+len(got.Removed) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestFingerprint(t *testing.T) {
	const base = `name: a
instructions: {inline: hi}
model: {provider: offline, name: m}
tools: [{name: kb, type: vectorstore, description: d, source: docs.md}]
evaluations: {metrics: [{metric: contains}]}
test_cases: [{name: one, input: x}, {name: two, input: y}]
`
	d := newDesk(t)
	if err := os.WriteFile(filepath.Join(d.dir, "docs.md"), []byte("# Docs"), 0o644); err != nil {
		t.Fatal(err)
	}
	was := runs.NewFingerprint(d.load(base))
	for _, tt := range []struct {
		name, old, new string
		want           string
	}{
		{"nothing", "", "", ""},
		{"a comment", "name: a", "# new\nname: a", ""},
		{"another way to write it", "{inline: hi}", "\n  inline: 'hi'", ""},
		{"a description", "name: a", "name: a\ndescription: new", ""},
		{"the bounds of the work", "name: a", "name: a\nexecution: {parallel_test_cases: 9, llm_timeout: 5}", ""},
		{"a prompt", "inline: hi", "inline: hello", "instructions"},
		{"a model", "name: m}", "name: n}", "model"},
		{"a setting of a tool", "source: docs.md}", "source: docs.md, top_k: 3}", "tools"},
		{"a metric", "metric: contains", "metric: equality", "evaluations"},
		{"a case", "input: y", "input: z", "test_cases"},
		{"the order of cases", "{name: one, input: x}, {name: two, input: y}", "{name: two, input: y}, {name: one, input: x}", "test_cases"},
		{"a section more", "name: a", "name: a\nresponse_format: {type: object}\nbackend: google_adk", "backend, response_format"},
	} {
		is := runs.NewFingerprint(d.load(strings.Replace(base, tt.old, tt.new, 1)))
		if got := strings.Join(was.Changed(is), ", "); got != tt.want {
			t.Errorf("%s: changed %q, want %q", tt.name, got, tt.want)
		}
		if got := strings.Join(is.Changed(was), ", "); got != tt.want {
			t.Errorf("%s, the other way: changed %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestGitCommit(t *testing.T) {
	const (
		one = "0123456789abcdef0123456789abcdef01234567"
		two = "fedcba9876543210fedcba9876543210fedcba98"
	)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no repository", nil, ""},
		{"a branch", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": one + "\n"}, one},
		{"a branch with a slash", map[string]string{".git/HEAD": "ref: refs/heads/a/b\n", ".git/refs/heads/a/b": one + "\n"}, one},
		{"no branch", map[string]string{".git/HEAD": one + "\n"}, one},
		{"packed", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": "# pack-refs\n" + two + " refs/heads/other\n" + one + " refs/heads/main\n"}, one},
		{"newer than packed", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": one, ".git/packed-refs": two + " refs/heads/main\n"}, one},
		{"no commit yet", map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, ""},
		{"a work tree", map[string]string{
			".git": "gitdir: ../repo/.git/worktrees/w\n", "../repo/.git/worktrees/w/HEAD": "ref: refs/heads/w\n",
			"../repo/.git/worktrees/w/commondir": "../..\n", "../repo/.git/refs/heads/w": one + "\n",
		}, one},
		{"nonsense", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": "not a commit\n"}, ""},
		{"a file that names nothing", map[string]string{".git": "nothing\n"}, ""},
	} {
		root := filepath.Join(t.TempDir(), "agent")
		deep := filepath.Join(root, "a", "b")
		if err := os.MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range tt.files {
			path := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := runs.GitCommit(deep); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
