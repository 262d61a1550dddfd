package knowledge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// batchSize is how many texts an embedder is given at once.
const batchSize = 256

// embed gives every passage its vector. A text is embedded once, however many
// passages have it, and not at all when the index knows its vector.
func (v *searchTool) embed(ctx context.Context, p *plan, sources []newSource) error {
	switch {
	case len(sources) == 0:
		return nil // what went needs nothing
	case v.embedder == nil:
		v.report(func(p *Progress) {
			p.DocumentsTotal = len(sources)
			for _, s := range sources {
				p.PassagesTotal += len(s.passages)
			}
			p.Documents, p.Passages = p.DocumentsTotal, p.PassagesTotal
		})
		return nil
	}
	texts := make([][]string, len(sources)) // of each source's passages
	for i, s := range sources {
		for _, passage := range s.passages {
			texts[i] = append(texts[i], searched(passage))
		}
	}
	if err := v.measure(ctx, p, texts); err != nil {
		return err
	}
	vectors, err := v.knownVectors(ctx, p, texts) // by text; nil when it is yet to come
	if err != nil {
		return err
	}
	width := 0 // of the vectors that stay
	if len(vectors) > 0 || !p.reset {
		width = p.have.Manifest.Dimensions
	}
	type place struct{ source, passage int }
	var open []place                   // the first passage of every text without a vector
	waits := make([]int, len(sources)) // how many of open each source waits for
	total := 0
	for i := range sources {
		for j, text := range texts[i] {
			if _, ok := vectors[text]; !ok {
				vectors[text] = nil
				open = append(open, place{i, j})
			}
		}
		total += len(texts[i])
		waits[i] = len(open)
	}
	v.report(func(p *Progress) { p.DocumentsTotal, p.PassagesTotal = len(sources), total })
	embedded := 0
	tell := func(tokens int) {
		v.report(func(p *Progress) {
			p.Tokens += tokens
			for ; p.Documents < len(sources) && waits[p.Documents] <= embedded; p.Documents++ {
				p.Passages += len(texts[p.Documents])
			}
		})
	}
	tell(0)
	for batch := range slices.Chunk(open, batchSize) {
		some, characters := make([]string, len(batch)), 0
		for i, at := range batch {
			some[i] = texts[at.source][at.passage]
			characters += utf8.RuneCountInString(some[i])
		}
		got, err := v.embedTexts(ctx, some, width)
		if err != nil {
			return err
		}
		for i, at := range batch {
			if got[i] == nil {
				return fmt.Errorf("embedder %s gave no usable vector for passage %s: it is zero, or holds what is no number", v.embedder.Model(), sources[at.source].passages[at.passage].ID)
			}
			vectors[some[i]] = got[i]
		}
		embedded += len(batch)
		tell(characters / chunk.RunesPerToken)
	}
	for i, s := range sources {
		for j, text := range texts[i] {
			s.vectors[j] = vectors[text]
		}
	}
	return nil
}

// measure finds out the width of the vectors by the first text, where everything
// is made and nothing else tells whether those that are there are as wide.
func (v *searchTool) measure(ctx context.Context, p *plan, texts [][]string) error {
	if !p.reset || v.embedder.Dimensions() != 0 {
		return nil
	}
	for _, list := range texts {
		if len(list) > 0 {
			_, err := v.embedTexts(ctx, list[:1], 0)
			return err
		}
	}
	return nil
}

// knownVectors returns the vectors that the index has for texts, by text: much
// of a changed file is as it was, and a file that is new may have had another
// name.
func (v *searchTool) knownVectors(ctx context.Context, p *plan, texts [][]string) (map[string][]float32, error) {
	known := map[string][]float32{}
	m := p.have.Manifest
	if p.fresh || m.Embedder == "" || !sameVectors(m, v.manifest()) {
		return known, nil
	}
	wanted := map[string]bool{}
	for _, list := range texts {
		for _, text := range list {
			wanted[text] = true
		}
	}
	searcher, elsewhere := v.store.(store.Searcher)
	var there []int // passages whose vectors are to be fetched
	var theirs []string
	n := 0
	for _, s := range p.have.Sources {
		for _, part := range s.Parts {
			for i, passage := range part.Passages {
				text := searched(passage)
				switch {
				case !wanted[text]:
				case elsewhere:
					there, theirs = append(there, n), append(theirs, text)
				default:
					known[text] = part.Vectors[i*m.Dimensions : (i+1)*m.Dimensions]
				}
				n++
			}
		}
	}
	if len(there) == 0 {
		return known, nil
	}
	vectors, err := searcher.Fetch(ctx, p.have.State, there)
	for i, vector := range vectors {
		if vector != nil {
			known[theirs[i]] = vector
		}
	}
	return known, err
}

// embedTexts returns the vectors of texts, scaled to length one. A vector that
// cannot be scaled, because it is zero or holds what is no number, is nil. width
// is that of the vectors that they are compared with, or 0.
func (v *searchTool) embedTexts(ctx context.Context, texts []string, width int) ([][]float32, error) {
	vectors, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", v.embedder.Model(), err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("embedder %s gave %d vectors for %d texts", v.embedder.Model(), len(vectors), len(texts))
	}
	for i, vector := range vectors {
		if n := v.embedder.Dimensions(); len(vector) != n {
			return nil, fmt.Errorf("embedder %s gave a vector of %d numbers, want %d", v.embedder.Model(), len(vector), n)
		}
		if width != 0 && len(vector) != width {
			return nil, fmt.Errorf("embedder %s gives vectors of %d numbers, and those of the index have %d; run 'holodeck index %s --reindex' to make it anew",
				v.embedder.Model(), len(vector), width, v.agentFile)
		}
		vectors[i] = unit(vector)
	}
	return vectors, nil
}

// unit returns v scaled to length one, or nil when that is not possible.
func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	scale := 1 / math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) * scale)
	}
	return out
}
