package knowledge_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge"
)

// labelled is a question with words of the passage that answers it. None is a
// question that no passage answers.
type labelled struct{ query, answer string }

const none = ""

// labelledQueries are questions to the documents of both examples: some in their
// words, some in others, some for a section or a phrase, some for nothing there.
func labelledQueries() []labelled {
	return []labelled{
		{"What does error E7 mean?", "the lamp is not connected"},
		{"the display shows E4", "the water sensor is dirty"},
		{"How often should I add plant food?", "one cap of plant food every two weeks"},
		{"When do I get my money back?", "refund the full price to the card"},
		{"how do I send something back", "open *My orders* in the shop"},
		{"Can I cancel my subscription at any time?", "Cancel the subscription at any time"},
		{"what does a delivery cost", "free from €50"},
		{"Do you ship to Norway?", "to Norway and to Switzerland"},
		{"How long is the guarantee?", "warranty of three years"},
		{"My tomato flowers fall off without fruit", "Shake the flowering stems"},
		{"How much basil may I cut?", "never more than a third of the plant"},
		{"there are tiny black insects around the plants", "fungus gnats"},
		{"brown tips on leaves", "too much plant food"},
		{"The pump makes a gurgling noise", "hums loudly or gurgles"},
		{"how heavy is the Sill", "weighs 2.1 kg"},
		{"How much electricity does the Tower use?", "one kilowatt-hour"},
		{"Which plants can I grow?", "Herbs: basil, parsley"},
		{"May I put the tank in the dishwasher?", "the heat warps the lids"},
		{"how do I pair my phone", "Turn on Bluetooth"},
		{"delete my account", "customer account deleted"},
		{"We go on holiday for three weeks", "the lamp shines for eight hours only"},
		{"screws for mounting on the wall", "The wall bracket"},
		{"how long do pods keep", "keep for two years"},
		{"white lime on roots", "mix it half and half with filtered water"},
		{"section 4.3", "Interest of eight per cent"},
		{"What does section 2.2 of the supply agreement say?", "within twenty working days of the Order"},
		{"§ 6.1", "price of the Goods ordered in that year"},
		{"Article III", "keeps roof, walls and heating"},
		{"appendix A", "Desk lamp, brass"},
		{"section 7.2", "breaches it gravely"},
		{`"swept, without its goods"`, "swept, without its goods"},
		{`where does it say "intent or gross negligence"`, "intent or gross negligence"},
		{`"each working day"`, none},
		{"How soon must a leak of customer data be reported?", "thirty-six hours"},
		{"Who repairs the roof?", "keeps roof, walls and heating"},
		{"Can the landlord come in without asking?", "when there is fire or flood"},
		{"How much is the deposit?", "deposit of three months' rent"},
		{"When may the supplier raise its prices?", "index of consumer prices"},
		{"how long does secrecy last", "lasts for five years"},
		{"What happens in a war?", "can neither foresee nor prevent"},
		{"penalty for late lamps", "keep back one per cent"},
		{"when must an invoice be paid", "within thirty days of the date"},
		{"which companies see personal data besides the processor", "Northern Vault"},
		{"price of a spare bulb", "Spare bulb"},
		{"notice to end the lease", "nine months' notice"},
		{"Who won the football match yesterday?", none},
		{"How do I bake bread with rye?", none},
		{"What is the capital of Mongolia?", none},
	}
}

// labelledFiles are the documents of both examples.
func labelledFiles(t testing.TB) map[string]string {
	t.Helper()
	files := contracts(t)
	root := "../../examples/support/docs"
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files["contracts/"+filepath.Base(path)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// quality is how well a tool answers the labelled questions.
type quality struct {
	first, topFive float64 // shares of the questions with an answer
	reciprocal     float64 // mean of 1/rank of the answer
	// apart is how well scores tell answers from the rest: the share of pairs of an
	// answer and a best hit for a question without any where the answer scores
	// higher.
	apart float64
}

// measure asks a tool the labelled questions.
func measure(t testing.TB, tool knowledge.Tool) quality {
	t.Helper()
	var q quality
	var answers, others []float64
	asked := 0.0
	for _, l := range labelledQueries() {
		hits, err := tool.Search(t.Context(), l.query)
		if err != nil {
			t.Fatal(err)
		}
		if l.answer == none {
			best := 0.0
			if len(hits) > 0 {
				best = hits[0].Score
			}
			others = append(others, best)
			continue
		}
		asked++
		rank := 0
		for i, h := range hits {
			if strings.Contains(h.Text, l.answer) {
				rank = i + 1
				answers = append(answers, h.Score)
				break
			}
		}
		if rank == 0 {
			continue
		}
		q.reciprocal += 1 / float64(rank)
		if rank == 1 {
			q.first++
		}
		if rank <= 5 {
			q.topFive++
		}
	}
	q.first, q.topFive, q.reciprocal = q.first/asked, q.topFive/asked, q.reciprocal/asked
	for _, a := range answers {
		for _, o := range others {
			if a > o {
				q.apart += 1 / float64(len(answers)*len(others))
			}
		}
	}
	return q
}

// TestFusionsAnswerTheLabelledQuestions holds what docs/retrieval.md says of the
// modes and fusions; run with -v it prints the figures.
func TestFusionsAnswerTheLabelledQuestions(t *testing.T) {
	d := newDesk(t, labelledFiles(t))
	got := map[string]quality{}
	for _, tt := range []struct{ name, keys string }{
		{"semantic", "\nsearch_mode: semantic"}, {"keyword", "\nsearch_mode: keyword"},
		{"rrf", ""}, {"minmax", "\nfusion: minmax"},
	} {
		got[tt.name] = measure(t, d.open("type: hierarchical_document\nsource: contracts"+tt.keys))
		q := got[tt.name]
		t.Logf("%-9s first %.2f  top five %.2f  reciprocal rank %.3f  apart %.3f", tt.name, q.first, q.topFive, q.reciprocal, q.apart)
	}
	for _, fusion := range []string{"rrf", "minmax"} {
		if got[fusion].topFive < 0.8 || got[fusion].apart < 0.8 {
			t.Errorf("%s: %+v", fusion, got[fusion])
		}
		for _, single := range []string{"semantic", "keyword"} {
			if got[fusion].reciprocal < got[single].reciprocal {
				t.Errorf("%s ranks worse than %s alone: %+v, %+v", fusion, single, got[fusion], got[single])
			}
		}
	}
}

// numberedContract is a contract of thirty articles of ten sections that say
// nearly the same.
func numberedContract() string {
	goods := []string{"delivery of goods", "payment of invoices", "termination", "liability", "warranty"}
	var b strings.Builder
	b.WriteString("# Contract\n\n")
	for article := 1; article <= 30; article++ {
		fmt.Fprintf(&b, "## § %d Article on %s\n\n", article, goods[article%len(goods)])
		for n := 1; n <= 10; n++ {
			fmt.Fprintf(&b, "### § %d.%d Notice\n\nWritten notice is required for %s, see § %d.%d. It is given on form %d-%d.\n\n",
				article, n, goods[(article+n)%len(goods)], 31-article, n, article, n)
		}
	}
	return b.String()
}

// TestWhatIsAskedForToTheLetterLeads holds that a section or a phrase that is
// asked for within a question leads among many passages that have more of its
// words, in both fusions and by default, and no longer with exact_weight 0.
func TestWhatIsAskedForToTheLetterLeads(t *testing.T) {
	d := newDesk(t, map[string]string{"contract.md": numberedContract()})
	questions := []struct {
		query string
		want  []string // titles of the first hits, in any order
	}{
		{"Which written notice does § 22.9 require for delivery of goods?", []string{"§ 22.9 Notice"}},
		{"§ 7.3", []string{"§ 7.3 Notice"}},
		{`Where is "on form 12-4" required for delivery of goods by written notice?`, []string{"§ 12.4 Notice"}},
		{"Which notice do § 4.2 and § 19.7 require for payment of invoices?", []string{"§ 4.2 Notice", "§ 19.7 Notice"}},
		{`What do § 5.5 and "form 21-1" say on warranty?`, []string{"§ 5.5 Notice", "§ 21.1 Notice"}},
		{"it is given on form 17-6", []string{"§ 17.6 Notice"}},
	}
	for _, keys := range []string{"", "\nfusion: minmax", "\nexact_weight: 0\nkeyword_weight: 0.1\nsemantic_weight: 0.9"} {
		off := strings.Contains(keys, "exact_weight: 0")
		tool := d.open("type: hierarchical_document\nsource: contract.md" + keys)
		led := 0
		for _, q := range questions {
			hits, err := tool.Search(t.Context(), q.query)
			if err != nil {
				t.Fatal(err)
			}
			var titles []string
			for _, h := range hits[:min(len(hits), len(q.want))] {
				titles = append(titles, h.Title)
			}
			if slices.Equal(slices.Sorted(slices.Values(titles)), slices.Sorted(slices.Values(q.want))) {
				led++
			} else if !off {
				t.Errorf("%q %s: the first are %q, want %q", keys, q.query, titles, q.want)
			}
		}
		if off && led == len(questions) {
			t.Errorf("exact_weight: 0 turns nothing off: all %d lead", led)
		}
	}
}
