package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// Vectorstore searches files and records by meaning and by words. Open makes
// it.
type Vectorstore struct {
	settings settings
	backend  string
	agentDir string
	env      agent.Env
	embedder embed.Embedder
	store    store.Store
	progress func(tool string, done, total int)
	notice   func(message string)
	limits   Limits

	current atomic.Pointer[snapshot] // what searches see; nil when closed

	refreshing sync.Mutex // held while the index is brought up to date
	closed     bool       // guarded by refreshing
}

// Stats describes an index and how it came to be.
type Stats struct {
	// Location says where it is kept: a file, or "memory".
	Location string
	Sources  int
	Passages int
	// Added, Changed, Removed and Unchanged count the sources when the index was
	// last brought up to date.
	Added, Changed, Removed, Unchanged int
	// Rebuilt says why everything was made anew, when there was an index before.
	Rebuilt string
}

// snapshot is a complete index. It never changes.
type snapshot struct {
	index   *index.Index
	sources []string // of each part
	parts   []store.Part
	first   []int // number of the first passage of each part
	stats   Stats
}

// passage returns the passage with a number, and its source.
func (s *snapshot) passage(n int) (store.Passage, string) {
	part, exact := slices.BinarySearch(s.first, n)
	if !exact {
		part--
	}
	return s.parts[part].Passages[n-s.first[part]], s.sources[part]
}

// publish shows an index to searches. p is the plan that led to it.
func (v *Vectorstore) publish(l loaded, p *plan) error {
	s := &snapshot{stats: Stats{
		Location: v.store.Location(), Sources: len(l.Sources),
		Added: p.added, Changed: len(p.put) - p.added, Removed: len(p.remove), Unchanged: p.unchanged, Rebuilt: p.reason,
	}}
	parts := make([]index.Part, 0, len(l.words))
	var vectors [][]float32
	for _, source := range l.Sources {
		for _, part := range source.Parts {
			texts := make([]string, len(part.Passages))
			for i, p := range part.Passages {
				texts[i] = p.Text
			}
			parts = append(parts, index.Part{Words: l.words[len(parts)], Texts: texts})
			vectors = append(vectors, part.Vectors)
			part.Words, part.Vectors = nil, nil // the index has them
			s.sources = append(s.sources, source.Path)
			s.parts = append(s.parts, part)
			s.first = append(s.first, s.stats.Passages)
			s.stats.Passages += len(part.Passages)
		}
	}
	flat, err := index.NewFlat(l.Manifest.Dimensions, vectors...)
	if err == nil {
		s.index, err = index.New(parts, index.Options{Vectors: flat, Chance: v.embedder.Chance()})
	}
	if err != nil {
		return fmt.Errorf("make the index of %s ready: %w", v.settings.name, err)
	}
	v.current.Store(s)
	return nil
}

// tell tells a person something about the tool.
func (v *Vectorstore) tell(format string, args ...any) {
	if v.notice != nil {
		v.notice(fmt.Sprintf(format, args...))
	}
}

// tellPassedOver says which files of the source the index will not have.
func (v *Vectorstore) tellPassedOver(w *walk) {
	if kinds := w.kinds(); kinds != "" {
		v.tell("indexing %s: files of other kinds than %s are passed over: %s", v.settings.name, strings.Join(convert.Extensions(), " "), kinds)
	}
}

// Definition implements agent.Tool.
func (v *Vectorstore) Definition() agent.Definition { return v.settings.definition() }

// Stats implements Tool.
func (v *Vectorstore) Stats() Stats {
	if s := v.current.Load(); s != nil {
		return s.stats
	}
	return Stats{}
}

// Close implements Tool. It waits for a Refresh that is under way.
func (v *Vectorstore) Close() error {
	v.refreshing.Lock()
	defer v.refreshing.Unlock()
	v.closed = true
	v.current.Store(nil)
	return nil
}

// notReady says that the tool is not open.
func (v *Vectorstore) notReady() error {
	return &agent.BackendSessionError{Backend: v.backend, Err: said(fmt.Sprintf("Tool '%s' is not initialized", v.settings.name))}
}

// said is an error in the very words of the Python edition, which users search
// for.
type said string

// Error implements error.
func (s said) Error() string { return string(s) }

// errBlankQuery says that there is nothing to look for.
const errBlankQuery = said("Search query cannot be empty")

// Call implements agent.Tool: args is {"query": "…"}.
func (v *Vectorstore) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	s := v.current.Load()
	if s == nil {
		return agent.ToolResult{}, v.notReady()
	}
	var call struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(args, &call); err != nil {
		return agent.ToolResult{}, fmt.Errorf("read the arguments of %s: %w", v.settings.canonicalName(), err)
	}
	if strings.TrimSpace(call.Query) == "" {
		return agent.ToolResult{}, errBlankQuery
	}
	vectors, err := v.embedTexts(ctx, []string{call.Query})
	if err != nil {
		return agent.ToolResult{}, err
	}
	if vectors[0] == nil {
		return agent.ToolResult{}, fmt.Errorf("embedder %s gave no usable vector for the query", v.embedder.Model())
	}
	hits, err := s.index.Search(ctx, index.Query{Text: call.Query, Vector: vectors[0], Limit: v.settings.topK, Threshold: v.settings.threshold})
	if err != nil {
		return agent.ToolResult{}, err
	}
	return v.result(s, hits), nil
}

// result writes hits as the model reads them, and as passages.
func (v *Vectorstore) result(s *snapshot, hits []index.Hit) agent.ToolResult {
	if len(hits) == 0 {
		return agent.TextResult(agent.NothingFound)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Found %d result(s):\n", len(hits))
	passages := make([]agent.Passage, len(hits))
	for i, hit := range hits {
		p, source := s.passage(hit.Passage)
		passages[i] = agent.Passage{ID: p.ID, Text: p.Text, Source: source, Score: hit.Score}
		if v.settings.records == nil {
			fmt.Fprintf(&text, "\n[%d] Score: %.2f | Source: %s\n%s\n", i+1, hit.Score, source, p.Text)
			continue
		}
		fmt.Fprintf(&text, "\n[%d] ID: %s | Score: %.2f\nContent: %s\n", i+1, p.ID, hit.Score, p.Text)
		if len(p.Meta) == 0 {
			continue
		}
		passages[i].Metadata = make(map[string]string, len(p.Meta))
		pairs := make([]string, len(p.Meta))
		for j, f := range p.Meta {
			passages[i].Metadata[f.Name] = f.Value
			pairs[j] = f.Name + ": " + f.Value
		}
		fmt.Fprintf(&text, "Metadata: %s\n", strings.Join(pairs, ", "))
	}
	result := agent.TextResult(strings.TrimRight(text.String(), " \t\n"))
	result.Passages = passages
	return result
}
