package offline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/offline"
)

// corpus is a small library of one company, and questions to it.
type corpus struct {
	Records []struct{ ID, Source, Text, Topic string }
	// Questions without a source have no answer in the library.
	Questions []struct {
		Ask            []string
		Source, Phrase string
		First          bool // the line stands before all others
	}
	passages []agent.Passage
}

// loadCorpus reads a corpus. Each file is one passage and each record another,
// so that the model has the whole library before it, and not what a search
// would have chosen.
func loadCorpus(t testing.TB, name string) corpus {
	t.Helper()
	var c corpus
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join("testdata", name, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		c.passages = append(c.passages, agent.Passage{Text: string(text), Source: e.Name()})
	}
	for _, r := range c.Records {
		p := agent.Passage{ID: r.ID, Text: r.Text, Source: r.Source}
		if r.Topic != "" {
			p.Metadata = map[string]string{"topic": r.Topic}
		}
		c.passages = append(c.passages, p)
	}
	return c
}

func TestAnswersFromUnseenLibraries(t *testing.T) {
	for _, library := range []string{"ferry", "bees", "railway"} {
		t.Run(library, func(t *testing.T) { testLibrary(t, loadCorpus(t, library)) })
	}
}

func testLibrary(t *testing.T, c corpus) {
	for _, q := range c.Questions {
		t.Run(q.Ask[len(q.Ask)-1], func(t *testing.T) {
			got := offline.Respond(offline.Input{Users: q.Ask, Searched: true, Passages: c.passages}).Text
			t.Log(got)
			if q.Source == "" {
				if got != offline.NothingFound {
					t.Errorf("answered what the library does not know:\n%s", got)
				}
				return
			}
			lines := strings.Split(got, "\n")
			if len(lines) > offline.MostSentences {
				t.Errorf("%d sentences", len(lines))
			}
			if q.First {
				lines = lines[:1]
			}
			for _, line := range lines {
				if strings.Contains(line, q.Phrase) && strings.HasSuffix(line, "["+q.Source+"]") {
					return
				}
			}
			t.Errorf("no line with %q from %s in:\n%s", q.Phrase, q.Source, got)
		})
	}
}
