package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
)

// engine is an index of texts with the offline embedder.
type engine struct {
	t  testing.TB
	ix *index.Index
}

func newEngine(t testing.TB, parts ...[]string) engine {
	t.Helper()
	e := embed.NewHashing(0)
	var built []index.Part
	var vectors [][]float32
	for _, texts := range parts {
		got, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, index.Part{Words: index.Analyzer{}.Analyze(texts), Texts: slices.Concat([]string{}, texts)})
		vectors = append(vectors, slices.Concat(got...))
	}
	flat, err := index.NewFlat(e.Dimensions(), vectors...)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.New(built, index.Options{Vectors: flat, Chance: e.Chance()})
	if err != nil {
		t.Fatal(err)
	}
	return engine{t, ix}
}

func (e engine) search(query string, limit int, threshold float64) []index.Hit {
	e.t.Helper()
	return e.rank(index.Ranking{}, query, limit, threshold)
}

func (e engine) rank(r index.Ranking, query string, limit int, threshold float64) []index.Hit {
	e.t.Helper()
	hits, err := e.ix.Search(context.Background(), index.Query{
		Text: query, Vector: vector(e.t, query), Ranking: r, Limit: limit, Threshold: threshold,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return hits
}

func vector(t testing.TB, text string) []float32 {
	t.Helper()
	v, err := embed.NewHashing(0).Embed(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// helpDesk is a small collection of passages on different topics.
var helpDesk = []string{
	"Refunds reach your card within five working days of the day we receive the return. Shipping costs are refunded for faulty goods only.",
	"To reset your password, open the sign-in page and choose Forgot password. The link in the mail is good for one hour.",
	"The Pro plan allows ten thousand API calls a day. Beyond that, requests are answered with status 429 until midnight UTC.",
	"Our phone lines are open Monday to Friday from nine to six. Chat is answered around the clock.",
	"To connect Slack, open Settings, then Integrations, choose Slack and authorise the workspace. Pick the channel for alerts.",
	"Invoices are sent on the first of the month. You can change the billing address and the tax number in the account settings.",
	"Batteries must not be posted by air. Pack each battery on its own and mark the parcel.",
	"You may cancel the subscription at any time; it stays active until the end of the billing period you paid for.",
}

func TestSearchFindsWhatPeopleAskFor(t *testing.T) {
	e := newEngine(t, helpDesk[:3], helpDesk[3:])
	for _, tt := range []struct {
		query   string
		passage int
		least   float64
	}{
		{"How do I reset my password?", 1, 0.75},
		{"When will I get my refund?", 0, 0.75},
		{"What are the API call limits of the Pro plan?", 2, 0.7},
		{"How do I connect Slack to my account?", 4, 0.6},
		{"I want to cancel my subscription", 7, 0.75},
		{"Can I send a battery by air?", 6, 0.6},
		{"When are the phone lines open?", 3, 0.75},
		{"change billing address", 5, 0.75},
		{"pasword resett", 1, 0.1}, // by the letters alone
		{helpDesk[5], 5, 0.99},     // the passage itself
	} {
		t.Run(tt.query, func(t *testing.T) {
			hits := e.search(tt.query, 3, 0)
			if len(hits) == 0 {
				t.Fatal("nothing was found")
			}
			if hits[0].Passage != tt.passage || hits[0].Score < tt.least || hits[0].Score > 1 {
				t.Errorf("found %v, want passage %d with at least %.2f", hits, tt.passage, tt.least)
			}
		})
	}
}

func TestSearchScoresTheIrrelevantLow(t *testing.T) {
	e := newEngine(t, helpDesk)
	for _, tt := range []struct {
		query string
		most  float64
	}{
		{"What is the airspeed velocity of an unladen swallow?", 0.15},
		{"Who won the football match yesterday?", 0.15},
		{"Bitte sagen Sie mir das Wetter", 0.15},
		{"Do you open new shops in Antarctica?", 0.5},
		{"How are you?", 0.5},
		{"Thanks, and hello again", 0.5},
	} {
		if hits := e.search(tt.query, 3, 0); len(hits) > 0 && hits[0].Score > tt.most {
			t.Errorf("%q: the best of %d hits has %.2f, want at most %.2f", tt.query, len(hits), hits[0].Score, tt.most)
		}
	}
}

func TestALongQuestionIsNotHeldAgainstAPassage(t *testing.T) {
	e := newEngine(t, helpDesk)
	hits := e.search("Good morning. Last week my daughter tried several times to sign in from her new tablet at school, "+
		"sadly she forgot her password again, and the reset link in your mail seems to be dead. Kind regards, Ann", 2, 0)
	if len(hits) == 0 || hits[0].Passage != 1 || hits[0].Score < 0.6 {
		t.Errorf("found %v, want passage 1 with 0.6", hits)
	}
}

func TestThresholdAndLimit(t *testing.T) {
	e := newEngine(t, helpDesk)
	all := e.search("billing account settings", 10, 0)
	if len(all) < 3 {
		t.Fatalf("only %d hits", len(all))
	}
	for i, h := range all[1:] {
		if h.Score > all[i].Score {
			t.Errorf("hits are not in order: %v", all)
		}
	}
	if got := e.search("billing account settings", 2, 0); !reflect.DeepEqual(got, all[:2]) {
		t.Errorf("limit 2: %v, want %v", got, all[:2])
	}
	if got := e.search("billing account settings", 10, all[1].Score); !reflect.DeepEqual(got, all[:2]) {
		t.Errorf("a threshold equal to a score must keep it: %v, want %v", got, all[:2])
	}
	if got := e.search("billing", 0, 0); got != nil {
		t.Errorf("limit 0: %v", got)
	}
}

func TestEqualScoresKeepTheOrderOfPassages(t *testing.T) {
	texts := slices.Repeat([]string{"the same words"}, 9)
	hits := newEngine(t, texts).search("same words", 4, 0)
	for i, h := range hits {
		if h.Passage != i {
			t.Fatalf("hits %v", hits)
		}
	}
	if len(hits) != 4 {
		t.Errorf("%d hits", len(hits))
	}
}

func TestPartsDoNotChangeScores(t *testing.T) {
	one := newEngine(t, helpDesk)
	many := newEngine(t, helpDesk[:1], nil, helpDesk[1:5], helpDesk[5:])
	for _, query := range []string{"refund", "billing settings", "open Monday", "of the"} {
		if a, b := one.search(query, 8, 0), many.search(query, 8, 0); !reflect.DeepEqual(a, b) {
			t.Errorf("%q: %v in one part, %v in many", query, a, b)
		}
	}
}

func TestSearchInOtherScripts(t *testing.T) {
	e := newEngine(t, []string{"商品可在收到后十四天内退货。", "我们的客服每天九点到十八点在线。", "Возврат денег занимает пять дней.", "환불은 5일 이내에 처리됩니다."})
	for query, want := range map[string]int{"怎么退货": 0, "客服在线时间": 1, "возврат денег": 2, "환불 기간": 3} {
		if hits := e.search(query, 1, 0.2); len(hits) != 1 || hits[0].Passage != want {
			t.Errorf("%s: %v, want passage %d", query, hits, want)
		}
	}
}

func TestAnEmptyIndexFindsNothing(t *testing.T) {
	for _, parts := range [][][]string{nil, {nil}, {{"", " "}}} {
		if hits := newEngine(t, parts...).search("anything at all", 5, 0); len(hits) != 0 {
			t.Errorf("found %v", hits)
		}
	}
	if hits := newEngine(t, helpDesk).search("?!", 5, 0); len(hits) != 0 {
		t.Errorf("a query without words found %v", hits)
	}
}

func TestVectorsOfAnotherWidthAreRefused(t *testing.T) {
	for dimensions, numbers := range map[int]int{3: 4, 0: 0, -1: 0} {
		if _, err := index.NewFlat(dimensions, make([]float32, numbers)); err == nil {
			t.Errorf("%d numbers in %d dimensions: no error", numbers, dimensions)
		}
	}
	flat, err := index.NewFlat(2, []float32{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := flat.Nearest(t.Context(), []float32{1}, 1); err == nil {
		t.Errorf("a query of another width found %v", n)
	}
}

func TestSegmentSurvivesItsBytes(t *testing.T) {
	for _, texts := range [][]string{nil, {""}, helpDesk, {"a a a b", "", "b c 退货"}} {
		s := index.Analyzer{}.Analyze(texts)
		b := s.Append(nil)
		back, err := index.ParseSegment(b)
		if err != nil {
			t.Fatal(err)
		}
		if back.Len() != len(texts) || string(back.Append(nil)) != string(b) {
			t.Errorf("%d texts came back as %d", len(texts), back.Len())
		}
		for n := range b {
			if _, err := index.ParseSegment(b[:n]); err == nil {
				t.Fatalf("%d of %d bytes are taken for a segment", n, len(b))
			}
		}
	}
}

func FuzzParseSegment(f *testing.F) {
	f.Add(index.Analyzer{}.Analyze(helpDesk[:2]).Append(nil))
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := index.ParseSegment(b)
		if err != nil {
			return
		}
		ix, err := index.New([]index.Part{{Words: s}}, index.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Search(t.Context(), index.Query{Text: "open the account", Limit: 5}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSearchIsSafeForConcurrentUse(t *testing.T) {
	e := newEngine(t, helpDesk)
	want := e.search("billing", 3, 0)
	var searches sync.WaitGroup
	for range 16 {
		searches.Go(func() {
			if got := e.search("billing", 3, 0); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	searches.Wait()
}

// corpus returns n passages of about 80 words, whose words are as unevenly
// frequent as those of a language.
func corpus(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.2, 8, 30_000)
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 80 {
			fmt.Fprintf(&b, "w%d ", zipf.Uint64())
		}
		texts[i] = b.String()
	}
	return texts
}

func BenchmarkSearch10k(b *testing.B) {
	e := newEngine(b, corpus(10_000))
	q := index.Query{Text: "w12 w345 w9 w2048 w77", Limit: 5, Threshold: 0.3}
	q.Vector = vector(b, q.Text)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.ix.Search(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAnalyze(b *testing.B) {
	texts := corpus(200)
	b.ReportAllocs()
	for b.Loop() {
		index.Analyzer{}.Analyze(texts)
	}
}
