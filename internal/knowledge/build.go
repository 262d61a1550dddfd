package knowledge

import (
	"context"
	"fmt"
	"slices"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// partSize is how many passages are kept in one piece.
const partSize = 4096

// newSource is a file on its way into the index.
type newSource struct {
	file     store.File
	text     string // where contexts are written
	passages []store.Passage
	vectors  [][]float32
}

// read reads the files of the plan. Those that cannot be read are left out of the
// index, and told; when nothing is left, they are the error.
func (v *searchTool) read(ctx context.Context, p *plan, lease store.Lease) ([]newSource, error) {
	conv := convert.New(v.pdfCache())
	defer conv.Close() // what it has is read
	var sources []newSource
	var problems problemList
	passages, blank := 0, 0
	for _, f := range p.put {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read source %s: %w", v.settings.source, context.Cause(ctx))
		}
		c, err := v.settings.read(ctx, conv, f, v.limits.File)
		if err != nil {
			problems.add(f.name, err)
			continue
		}
		if c.note != "" {
			v.tell("indexing %s: %s %s", v.settings.name, f.name, c.note)
		}
		passages += len(c.passages)
		blank += c.blank
		s := newSource{file: stamp(f, c.hash, lease), passages: c.passages, vectors: make([][]float32, len(c.passages))}
		if v.settings.contexts != nil {
			s.text = c.text
		}
		sources = append(sources, s)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read source %s: %w", v.settings.source, context.Cause(ctx))
	}
	replaced := p.replaced()
	for _, s := range p.have.Sources {
		if !replaced(s.Path) {
			passages += countPassages(s)
		}
	}
	switch {
	case passages == 0 && len(problems) > 0:
		return nil, problems.of(v.settings.source)
	case passages == 0:
		return nil, fmt.Errorf("source %s holds no text; put documents with text there", v.settings.source)
	case passages > v.limits.Passages:
		return nil, fmt.Errorf("source %s makes %d passages, more than the %d a tool may have; raise max_passages, make passages longer, or split the source over several tools",
			v.settings.source, passages, v.limits.Passages)
	}
	if blank > 0 {
		v.tell("indexing %s: Skipped %d records with empty vector field content", v.settings.name, blank)
	}
	p.skip(problems)
	for _, problem := range problems {
		v.tell("indexing %s: %v; the index goes without it", v.settings.name, problem)
	}
	return sources, nil
}

func countPassages(s store.Source) (n int) {
	for _, p := range s.Parts {
		n += len(p.Passages)
	}
	return n
}

// assemble returns the source, whose passages have their vectors, as it is
// kept.
func (s newSource) assemble(analyzer index.Analyzer) store.Source {
	out := store.Source{File: s.file}
	for first := 0; first < len(s.passages); first += partSize {
		end := min(first+partSize, len(s.passages))
		part := store.Part{Passages: s.passages[first:end], Vectors: slices.Concat(s.vectors[first:end]...)}
		texts := make([]string, 0, end-first)
		for _, p := range part.Passages {
			texts = append(texts, searched(p))
		}
		part.Words = analyzer.Analyze(texts).Append(nil)
		out.Parts = append(out.Parts, part)
	}
	return out
}
