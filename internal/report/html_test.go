package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// shownCase is the part of a page's data that the tests look at.
type shownCase struct {
	Title, Why string
	Tags       []string
	Turns      []struct {
		Input, Answer string
		Truth         *string
		Calls         []struct{ Name, Args, Result, Error string }
		Checks        []struct{ Title, Reason string }
		Metrics       []struct{ Name, Status, Reason string }
		Errors        []string
	}
}

// block returns the content of the element with an id.
func block(t testing.TB, page, id string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, ` id="`+id+`">`)
	content, _, closed := strings.Cut(rest, "</script>")
	if !found || !closed {
		t.Fatalf("the page has no %s", id)
	}
	return content
}

// readPage returns the cases of a page, read as its script reads them.
func readPage(t testing.TB, page string) []shownCase {
	t.Helper()
	for _, id := range []string{"run-data", "summary-data"} {
		if data := block(t, page, id); !json.Valid([]byte(data)) {
			t.Fatalf("%s is not JSON: %s", id, data)
		}
	}
	var list []shownCase
	for _, line := range strings.Split(strings.Trim(block(t, page, "case-data"), "\n"), "\n") {
		if line == "" {
			continue
		}
		row, rest, _ := strings.Cut(line, "\t")
		var c shownCase
		for _, part := range []string{row, rest} {
			if err := json.Unmarshal([]byte(part), &c); err != nil {
				t.Fatalf("%v in %s", err, part)
			}
		}
		list = append(list, c)
	}
	return list
}

func TestThePageCarriesTheCases(t *testing.T) {
	list := readPage(t, written(t, report.HTML, whole()...))
	if len(list) != 7 {
		t.Fatalf("%d cases", len(list))
	}
	refund := list[1]
	turn := refund.Turns[0]
	if refund.Title != "Refund" || !strings.HasPrefix(refund.Why, "the turn ended early") || *turn.Truth != "within 30 days" {
		t.Errorf("got %+v", refund)
	}
	if turn.Calls[0].Args != `{"query":"return","n":12345678901234567890}` || turn.Calls[1].Error != "no such order" {
		t.Errorf("calls %+v", turn.Calls)
	}
	if turn.Metrics[0].Reason != `"30 days" is not in the answer` || turn.Checks[0].Reason == "" || list[0].Tags[0] != "smoke" {
		t.Errorf("checks %+v", turn)
	}
}

// A text is data in the page, whatever it says: the page has as many elements
// with it as without it.
func TestTextsNeverBecomeHTML(t *testing.T) {
	tags := func(page string) int { return strings.Count(page, "<") }
	run := demo()
	var out strings.Builder
	write(t, report.New(report.HTML, &out, nil), run, hostileCase(0, "plain"))
	want := tags(out.String())
	for _, text := range hostile {
		run.Agent, run.Path, run.Version, run.Environment = text, text, text, map[string]string{text: text}
		out.Reset()
		write(t, report.New(report.HTML, &out, nil), run, hostileCase(0, text))
		if i := strings.IndexFunc(out.String(), func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
			t.Errorf("the page of %q turns the direction of text at byte %d", text, i)
		}
		if got := tags(out.String()); got != want {
			t.Errorf("%d tags instead of %d with %q", got, want, text)
		}
		if len(text) > 1000 {
			continue
		}
		if got := readPage(t, out.String())[0].Turns[0].Answer; got != strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\u202e", "⟨U+202E⟩") {
			t.Errorf("the answer %q became %q", text, got)
		}
	}
}

// The policy lets the page's own script and style run, and nothing else; and
// nothing in the page points outside of it.
func TestThePageIsSelfContained(t *testing.T) {
	page := written(t, report.HTML, whole()...)
	for _, tag := range []string{"script", "style"} {
		content := regexp.MustCompile(`(?s)<` + tag + `>(.*)</` + tag + `>`).FindStringSubmatch(page)
		if content == nil {
			t.Fatalf("there is no <%s>", tag)
		}
		sum := sha256.Sum256([]byte(content[1]))
		if hash := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(page, hash) {
			t.Errorf("the policy has no %s", hash)
		}
	}
	if !strings.Contains(page, `content="default-src 'none';`) || strings.Contains(page, "unsafe") {
		t.Error("the policy is not tight")
	}
	frame := page[:strings.Index(page, "case-data")] + page[strings.Index(page, "summary-data"):]
	if outside := regexp.MustCompile(`(?i)(src|href)=["']?(https?:|//)|url\(|@import`).FindString(frame); outside != "" {
		t.Errorf("the page points outside: %s", outside)
	}
}

func TestThePageCutsWhatNobodyReads(t *testing.T) {
	long := strings.Repeat("ä", 100<<10)
	page := written(t, report.HTML, &runs.Case{Turns: []runs.Turn{{Input: "x", ToolCalls: []runs.ToolCall{{Name: "t", Result: long}}}}})
	result := readPage(t, page)[0].Turns[0].Calls[0].Result
	if len(result) > 70<<10 || !strings.HasSuffix(result, "\n… and 139264 more bytes") {
		t.Errorf("%d bytes, ending in %q", len(result), result[len(result)-40:])
	}
}

// BenchmarkPage writes the page of 10,000 cases, each with two tool calls, and
// reports its size.
func BenchmarkPage(b *testing.B) {
	text := strings.Repeat("some words ", 20)
	c := &runs.Case{Name: "A case with a name", Status: runs.Passed, Elapsed: time.Second, Turns: []runs.Turn{{
		Input: text, Answer: text, GroundTruth: &text, Status: runs.Passed,
		ToolCalls: []runs.ToolCall{{Name: "docs_search", Arguments: json.RawMessage(`{"query":"words"}`), Result: text}, {Name: "faq_search", Result: text}},
		Metrics:   []runs.Metric{{Name: "contains", Status: runs.MetricPass, Counts: true, Score: new(1.0)}},
	}}}
	var size counter
	b.ReportAllocs()
	for b.Loop() {
		size = 0
		w := report.New(report.HTML, &size, nil)
		if err := w.Begin(demo()); err != nil {
			b.Fatal(err)
		}
		for i := range 10_000 {
			c.Index = i
			if err := w.Case(c); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.End(runs.Summary{Total: 10_000, Passed: 10_000}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/1e6, "MB")
}

// counter counts what is written.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
