package text

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// golden is testdata/golden.json: texts with what the packages named in it gave
// for them. bench/peers/textmetrics.sh computes it.
type golden struct {
	Cases []struct {
		Name, Hypothesis, Reference string
		Scores                      map[string]float64
	}
	Texts []struct {
		Text     string
		Words13a []string
		Treebank []string
	}
	Stems map[string]string
}

func readGolden(t testing.TB) golden {
	t.Helper()
	doc, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(doc, &g); err != nil {
		t.Fatalf("read testdata/golden.json: %v", err)
	}
	if len(g.Cases) < 60 || len(g.Texts) == 0 || len(g.Stems) == 0 {
		t.Fatalf("testdata/golden.json holds %d cases, %d texts, %d stems", len(g.Cases), len(g.Texts), len(g.Stems))
	}
	return g
}

// scores are all that the package computes, by the names in the golden file.
func scores() map[string]func(hypothesis, reference string) float64 {
	return map[string]func(hypothesis, reference string) float64{
		"bleu":        BLEU,
		"rouge1":      ROUGE1,
		"rouge2":      ROUGE2,
		"rougeL":      ROUGEL,
		"meteor":      METEOR,
		"f1":          F1,
		"levenshtein": Levenshtein,
	}
}

func TestScoresEqualThoseOfTheOriginals(t *testing.T) {
	for _, c := range readGolden(t).Cases {
		t.Run(c.Name, func(t *testing.T) {
			for name, score := range scores() {
				want, ok := c.Scores[name]
				if !ok {
					t.Errorf("the golden file has no %s", name)
				}
				if got := score(c.Hypothesis, c.Reference); !(math.Abs(got-want) <= 1e-6) {
					t.Errorf("%s = %.9f, want %.9f\nhypothesis %q\nreference  %q", name, got, want, c.Hypothesis, c.Reference)
				}
			}
		})
	}
}

func TestWordsEqualThoseOfTheOriginals(t *testing.T) {
	for _, c := range readGolden(t).Texts {
		if got := words13a(c.Text); !slices.Equal(got, c.Words13a) {
			t.Errorf("words13a(%q)\n got %q\nwant %q", c.Text, got, c.Words13a)
		}
		if got := treebankWords(c.Text); !slices.Equal(got, c.Treebank) {
			t.Errorf("treebankWords(%q)\n got %q\nwant %q", c.Text, got, c.Treebank)
		}
	}
}

func TestStemsEqualThoseOfNLTK(t *testing.T) {
	for word, want := range readGolden(t).Stems {
		if got := porterStem(word); got != want {
			t.Errorf("porterStem(%q) = %q, want %q", word, got, want)
		}
	}
}
