package eval_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
	scores "github.com/holodeck-go/holodeck/internal/eval/text"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// standard returns a standard metric with its default settings, changed by edit.
func standard(name config.StandardName, edit ...func(*config.StandardMetric)) *config.StandardMetric {
	m := &config.StandardMetric{
		MetricBase:        config.MetricBase{Type: config.MetricStandard, Enabled: true, OnMissing: "fail", OnError: "fail"},
		Metric:            name,
		AbsoluteTolerance: 1e-6,
	}
	for _, e := range edit {
		e(m)
	}
	return m
}

// only returns the one metric of a list of one.
func only(t *testing.T, entry config.Metric, opts eval.Options) *eval.Metric {
	t.Helper()
	metrics, err := eval.NewMetrics([]config.Metric{entry}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(metrics) != 1 {
		t.Fatalf("got %d metrics, want 1", len(metrics))
	}
	return metrics[0]
}

// check evaluates and compares the status; it returns the outcome.
func check(t *testing.T, entry config.Metric, in eval.Input, want eval.Status) eval.Outcome {
	t.Helper()
	out := only(t, entry, eval.Options{}).Evaluate(context.Background(), in)
	if out.Status != want {
		t.Errorf("answer %q: status %s (%s), want %s", in.Answer, out.Status, out.Reason, want)
	}
	return out
}

func text(answer, truth string) eval.Input { return eval.Input{Answer: answer, GroundTruth: &truth} }

func TestEquality(t *testing.T) {
	all := func(m *config.StandardMetric) {
		m.CaseInsensitive, m.StripWhitespace, m.StripPunctuation = true, true, true
	}
	fold := func(m *config.StandardMetric) { m.CaseInsensitive = true }
	space := func(m *config.StandardMetric) { m.StripWhitespace = true }
	punct := func(m *config.StandardMetric) { m.StripPunctuation = true }
	none := func(*config.StandardMetric) {}
	for _, tt := range []struct {
		name          string
		edit          func(*config.StandardMetric)
		answer, truth string
		want          eval.Status
	}{
		{"same", none, "Paris", "Paris", eval.Pass},
		{"case counts", none, "paris", "Paris", eval.Fail},
		{"white space counts", none, "Paris ", "Paris", eval.Fail},
		{"case", fold, "PARIS", "paris", eval.Pass},
		{"full case folding", fold, "STRASSE", "Straße", eval.Pass},
		{"final sigma", fold, "ΣΊΣΥΦΟΣ", "σίσυφος", eval.Pass},
		{"ligature", fold, "oﬃce", "OFFICE", eval.Pass},
		{"white space", space, " New\n\tYork ", "New York", eval.Pass},
		{"white space between words stays", space, "NewYork", "New York", eval.Fail},
		{"punctuation", punct, "It's $5!", "Its 5", eval.Pass},
		{"punctuation of other scripts stays", punct, "«a»", "a", eval.Fail},
		{"punctuation goes before white space", all, "a - b", "A B", eval.Pass},
		{"all", all, "  The ANSWER, is:  42. ", "the answer is 42", eval.Pass},
		{"different", all, "41", "42", eval.Fail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := check(t, standard("equality", tt.edit), text(tt.answer, tt.truth), tt.want)
			wantScore := 0.0
			if tt.want == eval.Pass {
				wantScore = 1
			}
			if out.Score == nil || *out.Score != wantScore || !out.Counts {
				t.Errorf("score %v, counts %v; want %v and true", out.Score, out.Counts, wantScore)
			}
		})
	}
}

func TestContains(t *testing.T) {
	fold := func(m *config.StandardMetric) { m.CaseInsensitive = true }
	all := func(m *config.StandardMetric) {
		m.CaseInsensitive, m.StripWhitespace, m.StripPunctuation = true, true, true
	}
	for _, tt := range []struct {
		name          string
		edit          func(*config.StandardMetric)
		answer, truth string
		want          eval.Status
	}{
		{"inside", func(*config.StandardMetric) {}, "You have 30 days to return it.", "30 days", eval.Pass},
		{"absent", func(*config.StandardMetric) {}, "You have two weeks.", "30 days", eval.Fail},
		{"case counts", func(*config.StandardMetric) {}, "30 Days", "30 days", eval.Fail},
		{"case", fold, "30 Days", "30 days", eval.Pass},
		{"all", all, "within\n30   days, please", "30 days please", eval.Pass},
		{"nothing left to look for", all, "anything", "?!", eval.Error},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, standard("contains", tt.edit), text(tt.answer, tt.truth), tt.want)
		})
	}
}

func TestNumeric(t *testing.T) {
	type edit = func(*config.StandardMetric)
	plain := func(*config.StandardMetric) {}
	percent := func(m *config.StandardMetric) { m.AcceptPercent = true }
	separators := func(m *config.StandardMetric) { m.AcceptThousandsSeparators = true }
	within := func(abs, rel float64) edit {
		return func(m *config.StandardMetric) { m.AbsoluteTolerance, m.RelativeTolerance = abs, rel }
	}
	for _, tt := range []struct {
		name          string
		edit          edit
		answer, truth string
		want          eval.Status
	}{
		{"same", plain, "42", "42.0", eval.Pass},
		{"white space around", plain, "\n 42 ", "42", eval.Pass},
		{"exponent", plain, "1e3", "1000", eval.Pass},
		{"signs", plain, "+5", "5", eval.Pass},
		{"point without a whole part", plain, "-.5", "-0.5", eval.Pass},
		{"full-width digits", plain, "４２", "42", eval.Pass},
		{"arabic digits", plain, "٤٢", "42", eval.Pass},
		{"infinite", plain, "inf", "Infinity", eval.Pass},
		{"not infinite", within(1e300, 1), "5", "inf", eval.Fail},
		{"nan is no number's equal", plain, "nan", "nan", eval.Fail},
		{"out of range is infinite", plain, "1e999", "inf", eval.Pass},
		{"different", plain, "42.1", "42", eval.Fail},
		{"words", plain, "about 42", "42", eval.Fail},
		{"hexadecimal", plain, "0x10", "16", eval.Fail},
		{"two points", plain, "1.2.3", "1.2", eval.Fail},
		{"bare exponent", plain, "e5", "5", eval.Fail},
		{"exponent without digits", plain, "1e+", "1", eval.Fail},
		{"ground truth is no number", plain, "42", "about 42", eval.Error},
		{"absolute bound included", within(0.5, 0), "10.5", "10", eval.Pass},
		{"absolute bound passed", within(0.5, 0), "10.51", "10", eval.Fail},
		{"relative bound included", within(0, 0.1), "110", "100", eval.Pass},
		{"relative to the expected value", within(0, 0.1), "100", "111.2", eval.Fail},
		{"percent refused", plain, "5%", "0.05", eval.Fail},
		{"percent", percent, "5 %", "0.05", eval.Pass},
		{"percent on both sides", percent, "0.05", "5%", eval.Pass},
		{"separator refused", plain, "1,000", "1000", eval.Fail},
		{"underscore refused", plain, "1_000", "1000", eval.Fail},
		{"separators", separators, "1,234,567", "1\u00a0234\u202f567", eval.Pass},
		{"separators on both sides", separators, "1000", "1_000", eval.Pass},
		{"blank as a separator", separators, "1 000", "1000", eval.Fail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, standard("numeric", tt.edit), text(tt.answer, tt.truth), tt.want)
		})
	}
}

func TestResponsePath(t *testing.T) {
	const doc = `{"total": 12.50, "n": 3, "ok": true, "none": null, "big": 12345678901234567890123,
		"name": "Ada", "items": [{"price": 5, "tags": ["a", "b"]}, {"price": 1e20}], "x-y": "z"}`
	for _, tt := range []struct {
		name, path, answer, want string
		status                   eval.Status
	}{
		{"text", "name", doc, "Ada", eval.Pass},
		{"integer", "n", doc, "3", eval.Pass},
		{"float as Python prints it", "total", doc, "12.5", eval.Pass},
		{"truth value as Python prints it", "ok", doc, "True", eval.Pass},
		{"null as Python prints it", "none", doc, "None", eval.Pass},
		{"big integer exact", "big", doc, "12345678901234567890123", eval.Pass},
		{"inside a list", "items[1].price", doc, "1e+20", eval.Pass},
		{"two indexes apart", "items[0].tags[1]", doc, "b", eval.Pass},
		{"hyphen", "x-y", doc, "z", eval.Pass},
		{"fenced", "name", "Here it is:\n```json\n" + doc + "\n```\nAnything else?", "Ada", eval.Pass},
		{"fenced with tildes, the second block", "name", "~~~\nnot json\n~~~\n\n~~~~ json\n" + doc + "\n~~~~", "Ada", eval.Pass},
		{"fence never closed", "name", "```\n" + doc, "Ada", eval.Pass},
		{"not JSON", "name", "Ada", "Ada", eval.Fail},
		{"no such key", "title", doc, "x", eval.Fail},
		{"no such element", "items[2].price", doc, "x", eval.Fail},
		{"key of a list", "items.price", doc, "x", eval.Fail},
		{"index of an object", "items[0].price[0]", doc, "x", eval.Fail},
		{"not one value", "items[0]", doc, "x", eval.Fail},
		{"another value", "items[0].price", doc, "6", eval.Fail},
		{"list on top", "name", `[1]`, "x", eval.Fail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := standard("equality", func(m *config.StandardMetric) { m.ResponsePath = &tt.path })
			out := check(t, m, text(tt.answer, tt.want), tt.status)
			if tt.status == eval.Fail && !strings.Contains(out.Reason, tt.path) {
				t.Errorf("the reason %q does not name the path", out.Reason)
			}
		})
	}
}

func TestResponsePathPrefersTheStructuredAnswer(t *testing.T) {
	path := "city"
	m := standard("equality", func(m *config.StandardMetric) { m.ResponsePath = &path })
	in := text("I think it is Paris.", "Paris")
	in.Structured = json.RawMessage(`{"city": "Paris"}`)
	check(t, m, in, eval.Pass)
}

func TestBadResponsePaths(t *testing.T) {
	for _, path := range []string{"", ".", "a..b", "[0]", "a[", "a[]", "a[-1]", "a[0]b", "a[x]", "0a", "a b", "a[99999999999]", "a.[0]"} {
		m := standard("equality", func(m *config.StandardMetric) { m.ResponsePath = &path })
		if _, err := eval.NewMetrics([]config.Metric{m}, eval.Options{}); err == nil {
			t.Errorf("path %q was accepted", path)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// bounded returns an edit that sets bounds; less than nothing is none.
func bounded(least, most float64) func(*config.StandardMetric) {
	return func(m *config.StandardMetric) {
		if least >= 0 {
			m.Min = &least
		}
		if most >= 0 {
			m.Max = &most
		}
	}
}

func TestMetricsThatJudgeThemselves(t *testing.T) {
	type edit = func(*config.StandardMetric)
	fold := func(m *config.StandardMetric) { m.CaseInsensitive = true }
	find := func(pattern string) edit { return func(m *config.StandardMetric) { m.Pattern = &pattern } }
	follow := func(schema string) edit { return func(m *config.StandardMetric) { m.JSONSchema = []byte(schema) } }
	path := func(p string) edit { return func(m *config.StandardMetric) { m.ResponsePath = &p } }
	person := `{"type": "object", "required": ["name"], "properties": {"age": {"type": "integer"}}}`
	used := eval.Input{Answer: "x", AgentTime: 1500 * time.Millisecond, Usage: &agent.Usage{Prompt: 90, Completion: 10, Total: 100}, CostUSD: ptr(0.02)}
	for _, tt := range []struct {
		name   string
		metric *config.StandardMetric
		in     eval.Input
		want   eval.Status
		reason string
	}{
		{"begins", standard("starts_with"), text("Dear Ada, no.", "Dear"), eval.Pass, ""},
		{"does not begin", standard("starts_with"), text("Oh dear", "Dear"), eval.Fail, `the answer "Oh dear" does not begin with "Dear"`},
		{"begins but for its case", standard("starts_with", fold), text("DEAR Ada", "dear"), eval.Pass, ""},

		{"pattern", standard("regex", find(`\bA-\d+\b`)), eval.Input{Answer: "Order A-17 is on its way."}, eval.Pass, ""},
		{"no match", standard("regex", find(`^A-\d+$`)), eval.Input{Answer: "Order A-17"}, eval.Fail, `"^A-\\d+$" matches nowhere in "Order A-17"`},
		{"look-around", standard("regex", find(`(?<!not )shipped`)), eval.Input{Answer: "not shipped"}, eval.Fail, ""},
		{"letter case", standard("regex", find(`SHIPPED`), fold), eval.Input{Answer: "shipped"}, eval.Pass, ""},
		{"the ground truth is the pattern", standard("regex"), text("A-17", `A-\d+`), eval.Pass, ""},
		{"the ground truth is no pattern", standard("regex"), text("A-17", `(`), eval.Error, `ground_truth: regex "("`},
		{"no pattern and no ground truth", standard("regex"), eval.Input{Answer: "x"}, eval.NotApplicable, "no ground_truth"},
		{"inside JSON", standard("regex", find(`^\d+$`), path("n")), eval.Input{Answer: `{"n": 5}`}, eval.Pass, ""},

		{"follows", standard("json_schema", follow(person)), eval.Input{Answer: `{"name": "Ada", "age": 36}`}, eval.Pass, ""},
		{"does not follow", standard("json_schema", follow(person)), eval.Input{Answer: `{"age": "x"}`}, eval.Fail, `{"age": "x"} does not follow the schema: name is missing; age is the string "x", want integer`},
		{"fenced", standard("json_schema", follow(person)), eval.Input{Answer: "Here:\n```json\n{\"name\": \"Ada\"}\n```"}, eval.Pass, ""},
		{"structured", standard("json_schema", follow(person)), eval.Input{Structured: json.RawMessage(`{"name": "Ada"}`)}, eval.Pass, ""},
		{"no JSON at all", standard("json_schema", follow(person)), eval.Input{Answer: "Ada"}, eval.Fail, `the answer "Ada" is not JSON`},
		{"a part of it", standard("json_schema", follow(person), path("people[0]")), eval.Input{Answer: `{"people": [{"name": "Ada"}]}`}, eval.Pass, ""},
		{"a part that is not there", standard("json_schema", follow(person), path("people[1]")), eval.Input{Answer: `{"people": []}`}, eval.Fail, "people of the answer has 0 elements"},

		{"long enough", standard("length", bounded(3, -1)), eval.Input{Answer: "été"}, eval.Pass, "the answer has 3 characters"},
		{"too short", standard("length", bounded(4, -1)), eval.Input{Answer: "été"}, eval.Fail, "the answer has 3 characters, at least 4 characters wanted"},
		{"too long", standard("length", bounded(-1, 2)), eval.Input{Answer: "été"}, eval.Fail, "at most 2 characters allowed"},
		{"an empty answer has no length", standard("length", bounded(-1, 2)), eval.Input{}, eval.Skipped, "the answer is empty"},
		{"fast", standard("latency", bounded(-1, 1500)), used, eval.Pass, "the agent took 1500 ms"},
		{"slow", standard("latency", bounded(-1, 1499)), used, eval.Fail, "at most 1499 ms allowed"},
		{"slow and empty", standard("latency", bounded(-1, 1)), eval.Input{AgentTime: time.Second}, eval.Fail, "at most 1 ms allowed"},
		{"cheap", standard("cost", bounded(-1, 0.02)), used, eval.Pass, "the model calls cost 0.02 USD"},
		{"dear", standard("cost", bounded(-1, 0.01)), used, eval.Fail, "at most 0.01 USD allowed"},
		{"cost not known", standard("cost", bounded(-1, 1)), eval.Input{Answer: "x"}, eval.Skipped, "the cost is not known"},
		{"few tokens", standard("tokens", bounded(1, 100)), used, eval.Pass, "the model calls took 100 tokens"},
		{"many tokens", standard("tokens", bounded(-1, 99)), used, eval.Fail, "at most 99 tokens allowed"},
		{"no model", standard("tokens", bounded(-1, 99)), eval.Input{Answer: "x"}, eval.Skipped, "no model was called"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := check(t, tt.metric, tt.in, tt.want)
			if !strings.Contains(out.Reason, tt.reason) {
				t.Errorf("reason %q, want %q", out.Reason, tt.reason)
			}
			if out.Counts != (tt.want != eval.NotApplicable) {
				t.Errorf("%s, counts %v", out.Status, out.Counts)
			}
		})
	}
}

// The scores themselves are held against the originals in package text.
func TestTextScores(t *testing.T) {
	const answer, truth = "the cat sat on the mat", "the cat is on the mat"
	for name, want := range map[config.StandardName]float64{
		"bleu": scores.BLEU(answer, truth), "rouge1": scores.ROUGE1(answer, truth), "rouge2": scores.ROUGE2(answer, truth),
		"rougeL": scores.ROUGEL(answer, truth), "meteor": scores.METEOR(answer, truth), "levenshtein": scores.Levenshtein(answer, truth),
		"f1": scores.F1(answer, truth), "f1_score": scores.F1(answer, truth), "rouge": scores.ROUGEL(answer, truth),
	} {
		out := check(t, standard(name), text(answer, truth), eval.Pass)
		if out.Score == nil || *out.Score != want || want == 0 || want == 1 {
			t.Errorf("%s: score %v, want %v", name, out.Score, want)
		}
		if out.Counts {
			t.Errorf("%s counts although it has no threshold", name)
		}
		path := "text"
		inside := standard(name, func(m *config.StandardMetric) { m.ResponsePath, m.Threshold = &path, &want })
		if out := check(t, inside, text("```\n{\"text\": \""+answer+"\"}\n```", truth), eval.Pass); !out.Counts || *out.Score != want {
			t.Errorf("%s inside JSON: %+v, want %v", name, out, want)
		}
	}
	fold := standard("levenshtein", func(m *config.StandardMetric) { m.CaseInsensitive = true })
	if out := check(t, fold, text("ABC", "abc"), eval.Pass); *out.Score != 1 {
		t.Errorf("levenshtein of ABC and abc is %v without letter case", *out.Score)
	}
}

func TestTrapT02RougeIsRougeL(t *testing.T) {
	half := 0.5
	out := check(t, standard("rouge", func(m *config.StandardMetric) { m.Threshold = &half }), text("a b c x", "a b c y"), eval.Pass)
	if *out.Score != 0.75 {
		t.Errorf("score %v, want 0.75", *out.Score)
	}
	check(t, standard("rouge", func(m *config.StandardMetric) { m.Threshold = &half }), text("x y z", "a b c"), eval.Fail)
}

func TestScale(t *testing.T) {
	forty := func(m *config.StandardMetric) { m.Threshold, m.Scale = ptr(40.0), ptr(100) }
	out := check(t, standard("f1", forty), text("x b", "b c"), eval.Pass)
	if *out.Threshold != 0.4 || *out.Score != 0.5 {
		t.Errorf("threshold %v, score %v; want 0.4 and 0.5", *out.Threshold, *out.Score)
	}
	out = check(t, standard("f1", func(m *config.StandardMetric) { m.Threshold, m.Scale = ptr(60.0), ptr(100) }), text("x b", "b c"), eval.Fail)
	if !out.Counts {
		t.Error("a failure does not count")
	}
}

// A threshold decides alone, whatever the metric would say itself.
func TestThresholdDecides(t *testing.T) {
	at := func(v float64) func(*config.StandardMetric) {
		return func(m *config.StandardMetric) { m.Threshold = &v }
	}
	check(t, standard("equality", at(0)), text("a", "b"), eval.Pass)
	check(t, standard("equality", at(1)), text("a", "a"), eval.Pass)
	check(t, standard("equality", at(1.5)), text("a", "a"), eval.Fail)
}

func TestNotApplicableNeverCounts(t *testing.T) {
	rag := func(name config.RAGMetricType) config.Metric {
		return &config.RAGMetric{MetricBase: standard("").MetricBase, MetricType: name}
	}
	geval := &config.GEvalMetric{
		MetricBase: standard("").MetricBase, Title: "Accuracy",
		EvaluationParams: []config.GEvalParam{"actual_output", "expected_output"},
	}
	for _, tt := range []struct {
		name   string
		metric config.Metric
		in     eval.Input
	}{
		{"no ground truth", standard("equality"), eval.Input{Answer: "x"}},
		{"no ground truth for bleu", standard("bleu"), eval.Input{Answer: "x"}},
		{"no ground truth for a judge that is to see it", geval, eval.Input{Answer: "x"}},
		{"nothing retrieved and nothing to retrieve with", rag("faithfulness"), eval.Input{Answer: "x"}},
		{"recall without ground truth", rag("contextual_recall"), eval.Input{Answer: "x", Retrieval: true}},
		{"empty, as allowed", standard("equality"), func() eval.Input { in := text("", "x"); in.AllowEmpty = true; return in }()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if out := check(t, tt.metric, tt.in, eval.NotApplicable); out.Counts || out.Score != nil || out.Reason == "" {
				t.Errorf("got %+v, want no count, no score and a reason", out)
			}
		})
	}
}

func TestWhatThisBuildCannotComputeIsSkippedAndCounts(t *testing.T) {
	base := standard("").MetricBase
	half := 0.5
	threshold := func(m *config.StandardMetric) { m.Threshold = &half }
	for _, tt := range []struct {
		name, reason  string
		metric        config.Metric
		counts        bool
		offlineReason string
	}{
		{"judge that only informs", "cannot compute fluency yet", standard("fluency"), false, "needs a judge"},
		{"judge", "cannot compute relevance yet", standard("relevance", threshold), true, "needs a judge"},
		{"geval", "cannot compute geval metrics yet", &config.GEvalMetric{MetricBase: base, Title: "Tone"}, true, "needs a judge"},
		{"rag", "cannot compute faithfulness yet", &config.RAGMetric{MetricBase: base, MetricType: "faithfulness", Threshold: 0.5}, true, "needs a judge"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := text("answer", "truth")
			in.Retrieval = true
			out := check(t, tt.metric, in, eval.Skipped)
			if out.Counts != tt.counts || !strings.Contains(out.Reason, tt.reason) || out.Score != nil {
				t.Errorf("got %+v, want counts=%v and %q", out, tt.counts, tt.reason)
			}
			out = only(t, tt.metric, eval.Options{Offline: true}).Evaluate(context.Background(), in)
			if out.Status != eval.Skipped || out.Counts || !strings.Contains(out.Reason, tt.offlineReason) {
				t.Errorf("offline got %+v, want skipped without counting, and %q", out, tt.offlineReason)
			}
		})
	}
}

// Offline changes nothing for the metrics that this build computes.
func TestOfflineStillCountsWhatCanBeComputed(t *testing.T) {
	out := only(t, standard("equality"), eval.Options{Offline: true}).Evaluate(context.Background(), text("a", "b"))
	if out.Status != eval.Fail || !out.Counts {
		t.Errorf("got %+v, want a failure that counts", out)
	}
}

func TestGEvalThresholdIsAHalfWhenAbsent(t *testing.T) {
	out := check(t, &config.GEvalMetric{MetricBase: standard("").MetricBase, Title: "Tone"}, eval.Input{Answer: "x"}, eval.Skipped)
	if out.Threshold == nil || *out.Threshold != 0.5 {
		t.Errorf("threshold %v, want 0.5", out.Threshold)
	}
}

func TestTrapT07EmptyAnswerIsSkippedNotPassed(t *testing.T) {
	for _, answer := range []string{"", " \n"} {
		out := check(t, standard("equality"), text(answer, "x"), eval.Skipped)
		if !out.Counts {
			t.Error("a metric that an empty answer skipped does not count against the case")
		}
	}
	ignore := standard("equality", func(m *config.StandardMetric) { m.OnMissing = "ignore" })
	if out := check(t, ignore, text("", "x"), eval.Skipped); out.Counts {
		t.Error("on_missing: ignore still counts")
	}
}

func TestOnErrorIgnore(t *testing.T) {
	m := standard("numeric", func(m *config.StandardMetric) { m.OnError = "ignore" })
	if out := check(t, m, text("1", "one"), eval.Error); !out.Counts {
		t.Error("on_error that nobody wrote is in force")
	}
}

func TestTrapT05EachEntryKeepsItsOwnSettings(t *testing.T) {
	loose := standard("numeric", func(m *config.StandardMetric) { m.AbsoluteTolerance = 1 })
	exact := standard("numeric", func(m *config.StandardMetric) { m.AbsoluteTolerance = 0 })
	metrics, err := eval.NewMetrics([]config.Metric{loose, exact, loose}, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []eval.Status{eval.Pass, eval.Fail, eval.Pass} {
		if got := metrics[i].Evaluate(context.Background(), text("10.5", "10")).Status; got != want {
			t.Errorf("entry %d: %s, want %s", i, got, want)
		}
	}
}

func TestTrapT06DisabledMetricsAreNotComputed(t *testing.T) {
	off := func(m *config.StandardMetric) { m.Enabled = false }
	metrics, err := eval.NewMetrics([]config.Metric{standard("equality", off), standard("contains"), standard("bleu", off)}, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(metrics) != 1 || metrics[0].Evaluate(context.Background(), text("a", "a")).Name != "contains" {
		t.Errorf("got %d metrics, want contains alone", len(metrics))
	}
}

// A secret that a reason would cut in two is masked, wherever the cut falls.
func TestASecretIsMaskedBeforeItIsCut(t *testing.T) {
	const canary = "canary-0123456789-abcdefghij"
	redactor := secret.NewRedactor([]string{canary})
	path := func(m *config.StandardMetric) { m.ResponsePath = ptr("a") }
	metrics := []*config.StandardMetric{
		standard("equality"), standard("contains"), standard("starts_with"), standard("numeric"), standard("equality", path),
		standard("regex", func(m *config.StandardMetric) { m.Pattern = ptr("^x$") }),
		standard("json_schema", func(m *config.StandardMetric) { m.JSONSchema = json.RawMessage(`{"properties": {"a": {"const": 1}}}`) }),
	}
	for _, m := range metrics {
		for before := range 180 {
			text := strings.Repeat("a", before) + canary
			for _, in := range []eval.Input{
				{Answer: text, GroundTruth: ptr("x")}, {Answer: "x", GroundTruth: ptr(text)},
				{Answer: `{"a": "` + text + `"}`, GroundTruth: ptr("x")},
			} {
				in.Redactor = redactor
				out := only(t, m, eval.Options{}).Evaluate(t.Context(), in)
				if strings.Contains(redactor.String(out.Reason), canary[:4]) {
					t.Fatalf("%s, %d characters before the secret: %s", m.Metric, before, out.Reason)
				}
			}
		}
	}
}

// A bound of a latency is compared with all of the time, not with whole
// milliseconds of it.
func TestLatencyCountsFractionsOfAMillisecond(t *testing.T) {
	m := standard("latency", bounded(0, 5))
	out := check(t, m, eval.Input{AgentTime: 5*time.Millisecond + 900*time.Microsecond}, eval.Fail)
	if !strings.Contains(out.Reason, "5.9 ms, at most 5 ms") {
		t.Errorf("reason %q", out.Reason)
	}
	check(t, m, eval.Input{AgentTime: 5 * time.Millisecond}, eval.Pass)
}

func FuzzResponsePath(f *testing.F) {
	f.Add("items[0].price", "```json\n{\"items\":[{\"price\":1}]}\n```")
	f.Add("a", "[")
	f.Add("a[0][1]", `{"a":[[1,"x"]]}`)
	f.Fuzz(func(t *testing.T, path, answer string) {
		m := standard("equality", func(m *config.StandardMetric) { m.ResponsePath = &path })
		metrics, err := eval.NewMetrics([]config.Metric{m}, eval.Options{})
		if err != nil {
			return
		}
		out := metrics[0].Evaluate(context.Background(), text(answer, "x"))
		if out.Status == eval.Error {
			t.Errorf("path %q on %q: %s", path, answer, out.Reason)
		}
	})
}

func TestAMetricWithANameOfItsOwn(t *testing.T) {
	out := check(t, standard("numeric", func(m *config.StandardMetric) { m.Title = ptr("the price") }), text("1", "1"), eval.Pass)
	if out.Name != "the price" {
		t.Errorf("it is called %q", out.Name)
	}
}

func TestRegexKeepsToTimeoutMS(t *testing.T) {
	m := standard("regex", func(m *config.StandardMetric) { m.Pattern, m.TimeoutMS = ptr(`(\w|\w\w)*[!?]$`), ptr(20) })
	start := time.Now()
	out := check(t, m, eval.Input{Answer: strings.Repeat("a", 200)}, eval.Error)
	if !out.Counts || !strings.Contains(out.Reason, "took longer than 20") {
		t.Errorf("got %+v", out)
	}
	if took := time.Since(start); took > 5*time.Second { // a slow machine; without a limit it would take years
		t.Errorf("it took %s", took)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`(a+)+$`, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")
	f.Add(`(?P<x>.)(?P=x)`, "aa")
	f.Fuzz(func(t *testing.T, expr, answer string) {
		m := standard("regex", func(m *config.StandardMetric) { m.Pattern, m.TimeoutMS = &expr, ptr(1) })
		metrics, err := eval.NewMetrics([]config.Metric{m}, eval.Options{})
		if err == nil {
			metrics[0].Evaluate(context.Background(), eval.Input{Answer: answer})
		}
	})
}

func FuzzNumeric(f *testing.F) {
	f.Add("1,000.5%", "-1e9")
	f.Fuzz(func(t *testing.T, answer, truth string) {
		m := standard("numeric", func(m *config.StandardMetric) {
			m.AcceptPercent, m.AcceptThousandsSeparators = true, true
		})
		only(t, m, eval.Options{}).Evaluate(context.Background(), text(answer, truth))
	})
}

func BenchmarkContains(b *testing.B) {
	m := standard("contains", func(m *config.StandardMetric) {
		m.CaseInsensitive, m.StripWhitespace, m.StripPunctuation = true, true, true
	})
	metrics, err := eval.NewMetrics([]config.Metric{m}, eval.Options{})
	if err != nil {
		b.Fatal(err)
	}
	in := text(strings.Repeat("You have thirty days to send it back, unworn. ", 20)+"Ask us first.", "ask us first")
	b.ReportAllocs()
	for b.Loop() {
		if metrics[0].Evaluate(context.Background(), in).Status != eval.Pass {
			b.Fatal("it should pass")
		}
	}
}
