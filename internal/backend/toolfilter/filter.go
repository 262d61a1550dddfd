package toolfilter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
)

// Filter chooses tools. It is safe for concurrent use.
type Filter struct {
	settings *config.ToolFiltering
	embedder embed.Embedder // nil where words alone count

	mu      sync.Mutex
	vectors map[string][]float32 // of what describes a tool
}

// mostVectors bounds how many tools a Filter remembers: callers may bring tools
// of their own to every session.
const mostVectors = 1000

// New returns a Filter of a section. embedder is nil when the section needs none.
func New(s *config.ToolFiltering, embedder embed.Embedder) *Filter {
	return &Filter{settings: s, embedder: embedder, vectors: map[string][]float32{}}
}

// Select implements loop.Selector.
func (f *Filter) Select(ctx context.Context, s loop.Situation) ([]string, error) {
	chosen := make([]bool, len(s.Tools))
	if strings.TrimSpace(s.Message) == "" {
		for i := range chosen {
			chosen[i] = true
		}
		return namesOf(s.Tools, chosen), nil
	}
	for i, d := range s.Tools {
		chosen[i] = slices.ContainsFunc(f.settings.AlwaysInclude, func(glob string) bool { return means(glob, d) })
	}
	for _, i := range mostUsed(s, f.settings.AlwaysIncludeTopUsed) {
		chosen[i] = true
	}
	fit, err := f.fitting(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, i := range fit {
		chosen[i] = true
	}
	return namesOf(s.Tools, chosen), nil
}

// namesOf returns the names of the chosen tools.
func namesOf(tools []agent.Definition, chosen []bool) []string {
	var names []string
	for i, d := range tools {
		if chosen[i] {
			names = append(names, d.Name)
		}
	}
	return names
}

// mostUsed returns which tools the session has called most, at most n.
func mostUsed(s loop.Situation, n int) []int {
	var used []int
	for i, d := range s.Tools {
		if s.Used[d.Name] > 0 {
			used = append(used, i)
		}
	}
	slices.SortStableFunc(used, func(a, b int) int { return cmp.Compare(s.Used[s.Tools[b].Name], s.Used[s.Tools[a].Name]) })
	return used[:min(n, len(used))]
}

// fitting returns which tools fit the message.
func (f *Filter) fitting(ctx context.Context, s loop.Situation) ([]int, error) {
	texts := make([]string, len(s.Tools))
	for i, d := range s.Tools {
		texts[i] = describe(d)
	}
	q := index.Query{Text: s.Message, Limit: f.settings.TopK, Threshold: f.settings.SimilarityThreshold}
	var o index.Options
	if f.embedder != nil {
		var vectors []float32
		var err error
		if q.Vector, vectors, err = f.embed(ctx, s.Message, texts); err != nil {
			return nil, err
		}
		if o.Vectors, err = index.NewFlat(len(q.Vector), vectors); err != nil {
			return nil, fmt.Errorf("compare tools: %w", err)
		}
		o.Chance = f.embedder.Chance()
	}
	if f.settings.SearchMethod == config.SearchSemantic {
		q.Text = ""
	}
	ix, err := index.New([]index.Part{{Words: o.Analyzer.Analyze(texts)}}, o)
	if err != nil {
		return nil, fmt.Errorf("compare tools: %w", err)
	}
	hits, err := ix.Search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("compare tools: %w", err)
	}
	var fit []int
	for _, hit := range hits {
		fit = append(fit, hit.Passage)
	}
	return fit, nil
}

// embed returns the vector of the message and those of the texts, one after the
// other.
func (f *Filter) embed(ctx context.Context, message string, texts []string) (query, vectors []float32, err error) {
	known := f.known(texts)
	ask := []string{message}
	for _, text := range texts {
		if known[text] == nil && !slices.Contains(ask[1:], text) {
			ask = append(ask, text)
		}
	}
	got, err := f.embedder.Embed(ctx, ask)
	if err != nil {
		return nil, nil, fmt.Errorf("embed the message and %d tools: %w", len(ask)-1, err)
	}
	for i := range got {
		got[i] = normalised(got[i])
	}
	fresh := map[string][]float32{}
	for i, text := range ask[1:] {
		fresh[text] = got[i+1]
	}
	f.remember(fresh)
	maps.Copy(known, fresh)
	for _, text := range texts {
		vectors = append(vectors, known[text]...)
	}
	return got[0], vectors, nil
}

// known returns the vectors of the texts that are known.
func (f *Filter) known(texts []string) map[string][]float32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := map[string][]float32{}
	for _, text := range texts {
		if v, ok := f.vectors[text]; ok {
			known[text] = v
		}
	}
	return known
}

// remember keeps vectors for the turns that follow.
func (f *Filter) remember(fresh map[string][]float32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.vectors)+len(fresh) > mostVectors {
		clear(f.vectors)
	}
	maps.Copy(f.vectors, fresh)
}

// normalised returns v with a length of one. No embedder gives a zero vector.
func normalised(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return v
	}
	length := math.Sqrt(sum)
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / length)
	}
	return unit
}

// describe returns what a tool is compared by. What all search tools have in
// common tells none of them from the others, and is left out.
func describe(d agent.Definition) string {
	spaced := strings.NewReplacer("_", " ", "-", " ")
	name := nameInFile(d)
	if isSearch(d) {
		return spaced.Replace(name) + "\n" + strings.TrimPrefix(d.Description, "Search "+name+": ")
	}
	var b strings.Builder
	b.WriteString(spaced.Replace(d.Name) + "\n" + d.Description)
	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	// A schema that cannot be read says nothing of the tool.
	if json.Unmarshal(d.Schema, &schema) == nil {
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			b.WriteString("\n" + spaced.Replace(name) + " " + schema.Properties[name].Description)
		}
	}
	return b.String()
}

// isSearch reports whether a tool is one of the agent file's search tools.
func isSearch(d agent.Definition) bool {
	kind := config.ToolType(d.Source)
	return kind == config.ToolVectorstore || kind == config.ToolHierarchical
}

// nameInFile returns the name that a tool, or the server it is of, has in the
// agent file.
func nameInFile(d agent.Definition) string {
	if isSearch(d) {
		return strings.TrimSuffix(d.Name, "_search")
	}
	if server, ok := strings.CutPrefix(d.Source, "mcp:"); ok {
		return server
	}
	return d.Name
}

// means reports whether a glob of always_include means a tool: by its canonical
// name, or by its name in the agent file.
func means(glob string, d agent.Definition) bool {
	for _, name := range []string{d.Name, nameInFile(d)} {
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}
