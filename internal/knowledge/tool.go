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
	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// searchTool searches files and records. Open makes it.
type searchTool struct {
	settings settings
	backend  string
	agentDir string
	// agentFile is the agent's file, for people.
	agentFile string
	env       agent.Env
	embedder  embed.Embedder // nil where no vectors are needed
	paid      bool           // a provider is paid for making the index
	store     store.Store
	writer    Writer // of contexts; nil where none are written
	tokens    *chunk.Tokens
	progress  func(Progress)
	notice    func(message string)
	limits    Limits
	pdfCache  func() string // where the reader of PDFs keeps its compiled form
	remote    *remote       // a source that is fetched, or nil

	current atomic.Pointer[snapshot] // what searches see; nil when closed

	refreshing sync.Mutex // held while the index is brought up to date
	closed     bool       // guarded by refreshing
	fetched    *walk      // guarded by refreshing; what was fetched for it

	mu   sync.Mutex
	done Progress // of the indexing under way
}

// Stats describes an index and how it came to be.
type Stats struct {
	// Location says where it is kept: a file, a database, or "memory".
	Location string
	Sources  int
	Passages int
	// Added, Changed, Removed and Unchanged count the sources when the index was
	// last brought up to date.
	Added, Changed, Removed, Unchanged int
	// Skipped says which files could not be read, and why.
	Skipped []string
	// Rebuilt says why everything was made anew, when there was an index before.
	Rebuilt string
	// Work is what the last indexing took; its counts are zero when there was
	// nothing to do.
	Work Progress
}

// snapshot is a complete index. It never changes.
type snapshot struct {
	index    *index.Index
	sources  []string // of each part
	parts    []store.Part
	first    []int // number of the first passage of each part
	begins   []int // number of the first passage of each part's source
	glossary *glossary
	width    int // of the vectors
	stats    Stats
}

// part returns the part that a passage is in.
func (s *snapshot) part(n int) int {
	part, exact := slices.BinarySearch(s.first, n)
	if !exact {
		part--
	}
	return part
}

// passage returns the passage with a number, and its source.
func (s *snapshot) passage(n int) (store.Passage, string) {
	part := s.part(n)
	return s.parts[part].Passages[n-s.first[part]], s.sources[part]
}

// publish shows an index to searches. p is the plan that led to it.
func (v *searchTool) publish(l loaded, p *plan) error {
	v.mu.Lock()
	work := v.done
	v.mu.Unlock()
	s := &snapshot{width: l.Manifest.Dimensions, stats: Stats{
		Location: v.store.Location(), Sources: len(l.Sources), Work: work,
		Added: p.added, Changed: len(p.put) - p.added, Removed: len(p.remove), Unchanged: p.unchanged, Rebuilt: p.reason, Skipped: p.skipped.texts(),
	}}
	vectors, err := v.vectors(l.State)
	if err != nil {
		return fmt.Errorf("make the index of %s ready: %w", v.settings.name, err)
	}
	parts := make([]index.Part, 0, len(l.words))
	for _, source := range l.Sources {
		begin := s.stats.Passages
		for _, part := range source.Parts {
			parts = append(parts, v.indexPart(part, l.words[len(parts)]))
			part.Words, part.Vectors = nil, nil // the index has them
			s.sources = append(s.sources, source.Path)
			s.parts = append(s.parts, part)
			s.first = append(s.first, s.stats.Passages)
			s.begins = append(s.begins, begin)
			s.stats.Passages += len(part.Passages)
		}
	}
	if v.settings.definitions {
		s.glossary = newGlossary(s)
	}
	options := index.Options{Analyzer: v.settings.analyzer, Vectors: vectors}
	if v.embedder != nil {
		options.Chance = v.embedder.Chance()
	}
	s.index, err = index.New(parts, options)
	if err != nil {
		return fmt.Errorf("make the index of %s ready: %w", v.settings.name, err)
	}
	v.current.Store(s)
	return nil
}

// vectors returns what compares the vectors of a state: the store, or memory. It
// is nil where none are compared.
func (v *searchTool) vectors(state store.State) (index.Vectors, error) {
	if v.embedder == nil {
		return nil, nil
	}
	if s, ok := v.store.(store.Searcher); ok {
		return s.Vectors(state), nil
	}
	var numbers [][]float32
	for _, source := range state.Sources {
		for _, part := range source.Parts {
			numbers = append(numbers, part.Vectors)
		}
	}
	return index.NewFlat(state.Manifest.Dimensions, numbers...)
}

// indexPart returns a part as the index takes it.
func (v *searchTool) indexPart(part store.Part, words *index.Segment) index.Part {
	p := index.Part{Words: words, Texts: make([]string, len(part.Passages))}
	if v.settings.records == nil {
		p.Own, p.Above = make([][]string, len(part.Passages)), make([][]string, len(part.Passages))
	}
	for i, passage := range part.Passages {
		p.Texts[i] = passage.Text
		if v.settings.records == nil {
			p.Own[i], p.Above[i] = headingsOf(passage)
		}
	}
	return p
}

// tell tells a person something about the tool.
func (v *searchTool) tell(format string, args ...any) {
	if v.notice != nil {
		v.notice(fmt.Sprintf(format, args...))
	}
}

// tellPassedOver says which files of the source the index will not have.
func (v *searchTool) tellPassedOver(w *walk) {
	if kinds := w.kinds(); kinds != "" {
		v.tell("indexing %s: files of other kinds than %s are passed over: %s", v.settings.name, strings.Join(convert.Extensions(), " "), kinds)
	}
}

// Definition implements agent.Tool.
func (v *searchTool) Definition() agent.Definition { return v.settings.definition() }

// Stats implements Tool.
func (v *searchTool) Stats() Stats {
	if s := v.current.Load(); s != nil {
		return s.stats
	}
	return Stats{}
}

// Close implements Tool. It waits for a Refresh that is under way.
func (v *searchTool) Close() error {
	v.refreshing.Lock()
	defer v.refreshing.Unlock()
	v.closed = true
	v.current.Store(nil)
	return v.store.Close()
}

// notReady says that the tool is not open.
func (v *searchTool) notReady() error {
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
func (v *searchTool) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	var call struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(args, &call); err != nil {
		return agent.ToolResult{}, fmt.Errorf("read the arguments of %s: %w", v.settings.canonicalName(), err)
	}
	hits, err := v.Search(ctx, call.Query)
	if err != nil {
		return agent.ToolResult{}, err
	}
	return v.settings.result(hits), nil
}

// Search implements Tool.
func (v *searchTool) Search(ctx context.Context, query string) ([]Hit, error) {
	s := v.current.Load()
	switch {
	case s == nil:
		return nil, v.notReady()
	case strings.TrimSpace(query) == "":
		return nil, errBlankQuery
	}
	q := index.Query{Text: query, Ranking: v.settings.ranking, Limit: v.settings.topK, Threshold: v.settings.threshold}
	if q.Ranking.NeedsVector() {
		vectors, err := v.embedTexts(ctx, []string{query}, s.width)
		if err != nil {
			return nil, err
		}
		if q.Vector = vectors[0]; q.Vector == nil {
			return nil, fmt.Errorf("embedder %s gave no usable vector for the query: it is zero, or holds what is no number", v.embedder.Model())
		}
	}
	found, err := s.index.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(found))
	for i, f := range found {
		hits[i] = v.hit(s, f)
	}
	return hits, nil
}
