package toolfilter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
)

// tools are those of a lamp shop.
func tools() []agent.Definition {
	return []agent.Definition{
		{Name: "handbook_search", Source: "vectorstore", Description: "Search handbook: opening hours and the rules of the shop"},
		{Name: "order_status", Source: "function", Description: "Says where an order is", Schema: json.RawMessage(`{"type":"object","properties":{"tracking_code":{"type":"string","description":"The parcel's number"}}}`)},
		{Name: "refund", Source: "function", Description: "Pays money back to a customer"},
		{Name: "weather__forecast", Source: "mcp:weather", Description: "Tells whether it will rain or snow"},
		{Name: "weather__tides", Source: "mcp:weather", Description: "When the sea is high"},
	}
}

// section returns the defaults with a change.
func section(change func(*config.ToolFiltering)) *config.ToolFiltering {
	s := &config.ToolFiltering{Enabled: true, TopK: 5, SimilarityThreshold: 0.3, AlwaysIncludeTopUsed: 3, SearchMethod: config.SearchBM25}
	if change != nil {
		change(s)
	}
	return s
}

func TestSelect(t *testing.T) {
	const order = "Where is my order?"
	both := "Where is my order, and when do I get my money back?"
	tests := map[string]struct {
		change  func(*config.ToolFiltering)
		message string
		used    map[string]int
		want    []string
	}{
		"what fits":             {nil, order, nil, []string{"order_status"}},
		"by a word of its name": {nil, "a refund please", nil, []string{"refund"}},
		"by an argument":        {nil, "my parcel", nil, []string{"order_status"}},
		"several":               {nil, both, nil, []string{"order_status", "refund"}},
		"the best of several":   {func(s *config.ToolFiltering) { s.TopK = 1 }, both, nil, []string{"refund"}},
		"nothing":               {nil, "How old is the moon?", nil, nil},
		"no words":              {nil, " ", nil, []string{"handbook_search", "order_status", "refund", "weather__forecast", "weather__tides"}},
		"too weak":              {func(s *config.ToolFiltering) { s.SimilarityThreshold = 0.99 }, both, nil, nil},
		"weak enough":           {func(s *config.ToolFiltering) { s.SimilarityThreshold = 0 }, both, nil, []string{"order_status", "refund"}},
		"always, by the name of the model": {
			func(s *config.ToolFiltering) { s.AlwaysInclude = []string{"handbook_search"} }, order, nil, []string{"handbook_search", "order_status"},
		},
		"always, by the name of the file": {
			func(s *config.ToolFiltering) { s.AlwaysInclude = []string{"handbook"} }, order, nil, []string{"handbook_search", "order_status"},
		},
		"always, a server": {
			func(s *config.ToolFiltering) { s.AlwaysInclude = []string{"weather"} }, order, nil, []string{"order_status", "weather__forecast", "weather__tides"},
		},
		"always, a glob": {
			func(s *config.ToolFiltering) { s.AlwaysInclude = []string{"*__t*"} }, order, nil, []string{"order_status", "weather__tides"},
		},
		"what was used": {nil, order, map[string]int{"weather__tides": 1, "gone": 9}, []string{"order_status", "weather__tides"}},
		"what was used most": {
			func(s *config.ToolFiltering) { s.AlwaysIncludeTopUsed = 1 }, order, map[string]int{"weather__tides": 1, "refund": 2},
			[]string{"order_status", "refund"},
		},
		"not what was used": {
			func(s *config.ToolFiltering) { s.AlwaysIncludeTopUsed = 0 }, order, map[string]int{"weather__tides": 1}, []string{"order_status"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := New(section(tt.change), nil).Select(t.Context(), loop.Situation{Message: tt.message, Tools: tools(), Used: tt.used})
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("it offers %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// meanings is an embedder that knows what a few words mean.
type meanings struct {
	asked [][]string
	err   error
}

func (m *meanings) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.asked = append(m.asked, texts)
	if m.err != nil {
		return nil, m.err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v := []float32{1, 0, 0}
		for word, axis := range map[string]int{"rain": 1, "umbrella": 1, "money": 2, "reimburse": 2} {
			if strings.Contains(text, word) {
				v = []float32{0, 0, 0}
				v[axis] = 4 // not of length one
			}
		}
		vectors[i] = v
	}
	return vectors, nil
}

func (*meanings) Model() string   { return "meanings" }
func (*meanings) Dimensions() int { return 3 }
func (*meanings) Chance() float64 { return 0 }

func TestMethods(t *testing.T) {
	for method, want := range map[config.SearchMethod]map[string][]string{
		config.SearchSemantic: {"umbrella": {"weather__forecast"}, "reimburse my order": {"refund"}, "refund": {"handbook_search", "order_status", "weather__tides"}},
		config.SearchBM25:     {"umbrella": nil, "reimburse my order": {"order_status"}, "refund": {"refund"}},
		config.SearchHybrid:   {"umbrella": {"weather__forecast"}, "reimburse my order": {"order_status", "refund"}},
	} {
		for message, names := range want {
			var embedder embed.Embedder
			if method != config.SearchBM25 {
				embedder = &meanings{}
			}
			f := New(section(func(s *config.ToolFiltering) { s.SearchMethod = method }), embedder)
			got, err := f.Select(t.Context(), loop.Situation{Message: message, Tools: tools()})
			if err != nil || !slices.Equal(got, names) {
				t.Errorf("%s, %q: it offers %v, %v; want %v", method, message, got, err, names)
			}
		}
	}
}

func TestToolsAreEmbeddedOnce(t *testing.T) {
	m := &meanings{}
	f := New(section(func(s *config.ToolFiltering) { s.SearchMethod = config.SearchSemantic }), m)
	for i := range 3 {
		if _, err := f.Select(t.Context(), loop.Situation{Message: fmt.Sprintf("question %d", i), Tools: tools()[:2+i]}); err != nil {
			t.Fatal(err)
		}
	}
	var sizes []int
	for _, texts := range m.asked {
		sizes = append(sizes, len(texts))
	}
	if want := []int{3, 2, 2}; !reflect.DeepEqual(sizes, want) {
		t.Errorf("the embedder was given %v texts, want %v: the message, and what is new", sizes, want)
	}
}

func TestAnEmbedderThatFails(t *testing.T) {
	f := New(section(func(s *config.ToolFiltering) { s.SearchMethod = config.SearchHybrid }), &meanings{err: errors.New("no route")})
	if got, err := f.Select(t.Context(), loop.Situation{Message: "hi", Tools: tools()}); got != nil || err == nil || !strings.Contains(err.Error(), "no route") {
		t.Errorf("it offers %v, %v", got, err)
	}
}

func TestTheOfflineEmbedderFindsAToolByItsWords(t *testing.T) {
	f := New(section(func(s *config.ToolFiltering) { s.SearchMethod = config.SearchSemantic }), embed.NewHashing(0))
	got, err := f.Select(t.Context(), loop.Situation{Message: "Where is my order?", Tools: tools()})
	if err != nil || !slices.Contains(got, "order_status") || slices.Contains(got, "weather__tides") {
		t.Errorf("it offers %v, %v", got, err)
	}
}

func BenchmarkSelectOfFifty(b *testing.B) {
	var list []agent.Definition
	for i := range 50 {
		d := tools()[i%5]
		d.Name = fmt.Sprintf("%s%d", d.Name, i)
		list = append(list, d)
	}
	f := New(section(func(s *config.ToolFiltering) { s.SearchMethod = config.SearchHybrid }), embed.NewHashing(0))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Select(b.Context(), loop.Situation{Message: "Where is my order?", Tools: list}); err != nil {
			b.Fatal(err)
		}
	}
}
