package index_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
)

// contract is sections of a contract, under their headings.
var contract = []struct {
	headings []string
	text     string
}{
	{[]string{"Supply Agreement", ""}, "This agreement is between Harbour Lamps and the Buyer."},
	{[]string{"Supply Agreement", "4. Payment"}, "## 4. Payment\n\nThe Buyer pays within thirty days of the invoice."},
	{[]string{"Supply Agreement", "4. Payment", "4.2 Late payment"}, "### 4.2 Late payment\n\nInterest is due at two per cent a month."},
	{[]string{"Supply Agreement", "ARTICLE IX — Termination"}, "Either party may end this agreement as section 4.2 says, by notice in writing."},
	{[]string{"Supply Agreement", "Appendix C"}, "The price list, in force majeure as in peace."},
}

// newContract returns an index of the contract.
func newContract(t testing.TB, language string) engine {
	t.Helper()
	analyzer, err := index.NewAnalyzer(language)
	if err != nil {
		t.Fatal(err)
	}
	var part index.Part
	for _, s := range contract {
		part.Texts = append(part.Texts, s.text)
		part.Above = append(part.Above, s.headings[:len(s.headings)-1])
		part.Own = append(part.Own, s.headings[len(s.headings)-1:])
	}
	searched := slices.Clone(part.Texts)
	searched[2] += "\nSection 4.2" // as documents with structure are counted
	part.Words = analyzer.Analyze(searched)
	e := embed.NewHashing(0)
	vectors, err := e.Embed(t.Context(), searched)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := index.NewFlat(e.Dimensions(), slices.Concat(vectors...))
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.New([]index.Part{part}, index.Options{Analyzer: analyzer, Vectors: flat, Chance: e.Chance()})
	if err != nil {
		t.Fatal(err)
	}
	return engine{t, ix}
}

// found writes the passages of hits and their scores.
func found(hits []index.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, strconv.Itoa(h.Passage)+"="+strconv.FormatFloat(h.Score, 'g', 3, 64))
	}
	return strings.Join(out, " ")
}

func TestSectionsAndPhrasesAreFoundExactly(t *testing.T) {
	e := newContract(t, "")
	for _, tt := range []struct{ query, want string }{
		{"What does section 4.2 say?", "2=1 3=0.5"},
		{"§ 4.2", "2=1 3=0.5"},
		{"4.2", "2=1 3=0.5"},
		{"section 4", "1=1 2=0.9"},
		{"Article IX", "3=1"},
		{"article 9", "3=1"},
		{"appendix C", "4=1"},
		{"appendix 100", ""},
		{"section 9", ""}, // that is an article
		{"section 17", ""},
		{`"within thirty days"`, "1=1"},
		{`"WITHIN  thirty
			days"`, "1=1"},
		{`"thirty within days"`, ""},
		{`"day"`, ""}, // in the form that is asked for
		{`"force majeure" in appendix C`, "4=1"},
		{`"force majeure" in section 4.2`, "2=0.5 4=0.5 3=0.25"},
		{"interest is due at", "2=1"}, // no quotation marks: the whole is a phrase
		{"interest is owed", ""},
		{"§\u00a04.2", "2=1 3=0.5"}, // a blank that does not break
		{"§ ４．２", "2=1 3=0.5"},
		{"article Ⅸ", "3=1"},
		{"\"with\u00adin thirty days\"", "1=1"},
		{"“ﬁ”", ""},
		{"“force majeure\u0301”", ""}, // another word
		{`"" § `, ""},
	} {
		if got := found(e.rank(index.Ranking{Mode: index.Exact}, tt.query, 5, 0)); got != tt.want {
			t.Errorf("%s: found %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestAnExactMatchComesFirstInEveryFusion(t *testing.T) {
	e := newContract(t, "")
	for _, r := range []index.Ranking{
		{},
		{Fusion: index.RRF, Semantic: 0.5, Keyword: 0.3, Exact: 0.2, K: 60},
		{Fusion: index.MinMax, Semantic: 0.5, Keyword: 0.3, Exact: 0.2},
	} {
		for query, want := range map[string]int{"section 4.2": 2, `payment "force majeure"`: 4, "What does article IX say?": 3} {
			hits := e.rank(r, query, 5, 0)
			if len(hits) == 0 || hits[0].Passage != want {
				t.Errorf("%s: %s found %s, want %d first", r.Fusion, query, found(hits), want)
			}
		}
	}
}

func TestModesAskTheirLegsAlone(t *testing.T) {
	e := newContract(t, "")
	for mode, want := range map[index.Mode]string{
		index.Semantic: "semantic", index.Keyword: "keyword", index.Exact: "exact", index.Hybrid: "semantic keyword exact",
	} {
		hits := e.rank(index.Ranking{Mode: mode}, `"thirty days"`, 1, 0)
		if len(hits) != 1 || hits[0].Passage != 1 {
			t.Fatalf("%s: found %s", mode, found(hits))
		}
		var legs []string
		for _, l := range hits[0].Legs {
			legs = append(legs, l.Name)
			if l.Score <= 0 || l.Score > 1 {
				t.Errorf("%s: leg %s scores %v", mode, l.Name, l.Score)
			}
		}
		if got := strings.Join(legs, " "); got != want {
			t.Errorf("%s: legs %s, want %s", mode, got, want)
		}
		if mode != index.Hybrid && hits[0].Score != hits[0].Legs[0].Score {
			t.Errorf("%s: score %v is not the leg's", mode, hits[0])
		}
	}
	if _, err := e.ix.Search(t.Context(), index.Query{Text: "x", Limit: 1, Ranking: index.Ranking{Mode: "loud"}}); err == nil {
		t.Error("an unknown mode is no error")
	}
}

// TestReciprocalRanksAsPublished compares with values that another
// implementation gave for k 60 and the weights 0.5 and 0.3.
func TestReciprocalRanksAsPublished(t *testing.T) {
	// By their vectors a then b; by their words b then c.
	texts := []string{"zinc", "lamp lamp lamp", "lamp and more to read"}
	flat, err := index.NewFlat(2, []float32{1, 0, 0.6, 0.8, -1, 0})
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.New([]index.Part{{Words: index.Analyzer{}.Analyze(texts)}}, index.Options{Vectors: flat})
	if err != nil {
		t.Fatal(err)
	}
	r := index.Ranking{Fusion: index.RRF, Semantic: 0.5, Keyword: 0.3, K: 60}
	hits, err := ix.Search(t.Context(), index.Query{Text: "lamp", Vector: []float32{1, 0}, Ranking: r, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	if got := found(hits); got != "1=0.99 0=0.625 2=0.369" {
		t.Errorf("found %s", got)
	}
	r.K = 1 // the first ranks stand out
	hits, err = ix.Search(t.Context(), index.Query{Text: "lamp", Vector: []float32{1, 0}, Ranking: r, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	if got := found(hits); got != "1=0.792 0=0.625 2=0.25" {
		t.Errorf("with k 1: found %s", got)
	}
}

func TestMinMaxIsTheWeightedMean(t *testing.T) {
	e := newContract(t, "")
	r := index.Ranking{Fusion: index.MinMax, Semantic: 0.6, Keyword: 0.4}
	for _, h := range e.rank(r, "late payment interest", 5, 0) {
		want := 0.6*h.Legs[0].Score + 0.4*h.Legs[1].Score
		if d := h.Score - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("passage %d: %v of legs %v, want %v", h.Passage, h.Score, h.Legs, want)
		}
	}
}

// TestSearchIsExact compares searches that look at the best of each leg first
// with ones that score every passage.
func TestSearchIsExact(t *testing.T) {
	texts := corpus(6000)
	e := newEngine(t, texts[:5000], texts[5000:])
	r := rand.New(rand.NewPCG(3, 4))
	for _, ranking := range []index.Ranking{{}, {Fusion: index.MinMax, Semantic: 0.5, Keyword: 0.5}, {Mode: index.Keyword}, {Mode: index.Semantic}} {
		for range 12 {
			query := strings.Join(strings.Fields(texts[r.IntN(len(texts))])[:1+r.IntN(6)], " ") + " w3 w5"
			want := e.rank(ranking, query, len(texts), 0)
			got := e.rank(ranking, query, 7, 0)
			if !reflect.DeepEqual(got, want[:min(7, len(want))]) {
				t.Errorf("%+v %q:\n%v, want\n%v", ranking, query, found(got), found(want[:7]))
			}
		}
	}
}

func TestLanguages(t *testing.T) {
	for _, tt := range []struct{ language, text, query, foreign string }{
		{"", "two refunds", "refunded", "le remboursement"},
		{"english", "the generous donations", "donation", "refunds"},
		{"french", "les remboursements sont rapides", "un remboursement rapide", "refund"},
		{"spanish", "las devoluciones", "la devolución", "refund"},
		{"russian", "возвраты денег", "возврат", "refund"},
		{"swedish", "återbetalningarna", "återbetalning", "refund"},
		{"norwegian", "tilbakebetalingene", "tilbakebetaling", "refund"},
		{"hungarian", "visszatérítések", "visszatérítés", "refund"},
		{"none", "refunds", "refunds", "refund"},
	} {
		analyzer, err := index.NewAnalyzer(tt.language)
		if err != nil {
			t.Fatal(err)
		}
		ix, err := index.New([]index.Part{{Words: analyzer.Analyze([]string{tt.text, "退货政策"})}}, index.Options{Analyzer: analyzer})
		if err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]int{tt.query: 1, tt.foreign: 0, "退货": 1} {
			hits, err := ix.Search(t.Context(), index.Query{Text: query, Limit: 5})
			if err != nil || len(hits) != want {
				t.Errorf("%s: %q found %v (%v), want %d", tt.language, query, hits, err, want)
			}
		}
	}
	if _, err := index.NewAnalyzer("klingon"); err == nil || !strings.Contains(err.Error(), "swedish") {
		t.Errorf("an unknown language: %v", err)
	}
}

func TestStopWordsOfALanguageWeighNothing(t *testing.T) {
	french, err := index.NewAnalyzer("french")
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.New([]index.Part{{Words: french.Analyze([]string{"dans le avec pour une", "la lampe"})}}, index.Options{Analyzer: french})
	if err != nil {
		t.Fatal(err)
	}
	hits, err := ix.Search(t.Context(), index.Query{Text: "une lampe avec le pour dans", Limit: 5})
	if err != nil || len(hits) != 1 || hits[0].Passage != 1 {
		t.Errorf("found %v, %v", hits, err)
	}
}

// FuzzSearch asks anything in every mode: scores stay between 0 and 1, in order.
func FuzzSearch(f *testing.F) {
	for _, q := range []string{"section 4.2", `"thirty days" § IX`, "«»“„”\"\x00", "article (ix)(a)", "退货 4.2.2.2.2", strings.Repeat("section 4 ", 50)} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		e := newContract(t, "")
		for _, r := range []index.Ranking{
			{}, {Mode: index.Exact}, {Mode: index.Keyword}, {Fusion: index.RRF, Semantic: 0.5, Keyword: 0.3, Exact: 0.2, K: 1},
			{Fusion: index.MinMax, Semantic: 0.5, Keyword: 0.3, Exact: 0.2},
		} {
			last := 1.0
			for _, h := range e.rank(r, query, 5, 0) {
				if !(h.Score > 0 && h.Score <= last) {
					t.Errorf("%+v %q: score %v after %v", r, query, h.Score, last)
				}
				last = h.Score
			}
		}
	})
}

// TestTheLetterComesBeforeTheLikeness holds that a section that is asked for
// stands before passages with more of the question's words, unless exact matches
// weigh nothing.
func TestTheLetterComesBeforeTheLikeness(t *testing.T) {
	texts := []string{"The lamp article says how the lamp is lit, article by article.", "It is ten."}
	part := index.Part{Words: index.Analyzer{}.Analyze(texts), Texts: texts, Own: [][]string{{"Lamps"}, {"Article II"}}}
	ix, err := index.New([]index.Part{part}, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, fusion := range []index.Fusion{index.RRF, index.MinMax} {
		for weight, want := range map[float64]int{0.01: 1, 0: 0} {
			r := index.Ranking{Fusion: fusion, Semantic: 0.5, Keyword: 0.5 - weight, Exact: weight, K: 60}
			hits, err := ix.Search(t.Context(), index.Query{Text: "lamp in article II", Ranking: r, Limit: 5})
			if err != nil || len(hits) == 0 || hits[0].Passage != want {
				t.Errorf("%s with weight %v: found %v, %v; want %d first", fusion, weight, hits, err, want)
			}
		}
	}
}
