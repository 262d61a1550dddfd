package knowledge_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// childVariable makes the test binary play an indexer that is to be killed.
const childVariable = "KNOWLEDGE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := indexUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

const generationFiles = 12

// writeGeneration makes every document one of generation n.
func writeGeneration(dir string, n int) error {
	for i := range generationFiles {
		text := strings.Repeat(fmt.Sprintf("generation %d lamp %d\n\n", n, i), 40)
		if err := os.WriteFile(filepath.Join(dir, "docs", fmt.Sprintf("%02d.txt", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// telling writes a line before every call of the embedder.
type telling struct {
	embed.Embedder
	w io.Writer
}

func (e telling) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	fmt.Fprintln(e.w, "embedding", len(texts))
	return e.Embedder.Embed(ctx, texts)
}

// indexUntilKilled indexes one generation after another, telling of each step.
// Generation 0 is there and indexed.
func indexUntilKilled(dir string) error {
	a, problems := config.Load(dir, config.Options{Environ: []string{}})
	if a == nil {
		return fmt.Errorf("%v", problems)
	}
	env := agent.SystemEnv(slog.New(slog.DiscardHandler))
	told := 0
	tool, err := knowledge.Open(context.Background(), env, a, a.Tools[0], telling{embed.NewHashing(0), os.Stdout}, knowledge.Options{
		Progress: func(p knowledge.Progress) {
			for ; told < p.Documents; told++ {
				fmt.Println("done", told+1)
			}
			told %= generationFiles
		},
	})
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		fmt.Println("writing", n)
		if err := writeGeneration(dir, n); err != nil {
			return err
		}
		fmt.Println("refreshing", n)
		if err := tool.Refresh(context.Background()); err != nil {
			return err
		}
	}
}

// TestAKilledIndexerLeavesACompleteIndex kills an indexer at points that differ
// from round to round: in every other round after some line or other, in the
// rest at some moment after the line before it commits.
func TestAKilledIndexerLeavesACompleteIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	for round := range 20 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			d := newDesk(t, map[string]string{"docs/": ""})
			if err := writeGeneration(d.dir, 0); err != nil {
				t.Fatal(err)
			}
			keys := docs + "\nchunk_size: 10"
			d.load(keys)
			first := round%3 == 0 // the child makes the first index
			if !first {
				if err := d.open(keys).Close(); err != nil {
					t.Fatal(err)
				}
			}
			k := kill{lines: 1 + r.IntN(60)}
			if round%2 == 0 {
				k = kill{lines: 1 + r.IntN(3), containing: fmt.Sprint("done ", generationFiles), spins: r.IntN(200_000)}
			}
			k.run(t, d.dir)
			requireOneGeneration(t, d, first)

			// And the next process goes on from there, with whole files.
			if err := writeGeneration(d.dir, 0); err != nil {
				t.Fatal(err)
			}
			d.write("docs/new.txt", "a copper kettle")
			tool := d.open(keys)
			if got := sources(t, tool, "kettle"); got != "docs/new.txt" {
				t.Errorf("after the kill: %q", got)
			}
			if s := tool.Stats(); s.Sources != generationFiles+1 || s.Rebuilt != "" {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// requireOneGeneration checks that what is stored is of one generation, whole.
// When the child was to make the first index there may be none.
func requireOneGeneration(t *testing.T, d *desk, first bool) {
	t.Helper()
	state, err := store.NewLocal(filepath.Dir(d.indexFile())).Load(t.Context())
	if first && errors.Is(err, store.ErrEmpty) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Sources) != generationFiles {
		t.Errorf("%d sources, want %d", len(state.Sources), generationFiles)
	}
	generations := map[string]int{}
	for _, s := range state.Sources {
		for _, p := range s.Parts {
			for _, passage := range p.Passages {
				generation, _, _ := strings.Cut(passage.Text, " lamp")
				generations[generation]++
			}
		}
	}
	if len(generations) != 1 {
		t.Errorf("the index holds passages of %v", generations)
	}
}

// kill says when the indexer is killed: after so many of its lines that contain
// a text, and then after so many hashes. 200,000 of them take somewhat longer
// than a commit.
type kill struct {
	lines      int
	containing string
	spins      int
}

// run starts the indexer in dir and kills it.
func (k kill) run(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; n < k.lines; {
		if !lines.Scan() {
			t.Fatalf("the indexer stopped: %v", cmd.Wait())
		}
		if strings.Contains(lines.Text(), k.containing) {
			n++
		}
	}
	sum := sha256.Sum256(nil)
	for range k.spins {
		sum = sha256.Sum256(sum[:])
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the indexer ended by itself")
	}
}
