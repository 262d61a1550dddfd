package knowledge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

const (
	// partSize is how many passages are kept in one piece.
	partSize = 4096
	// batchSize is how many texts an embedder is given at once.
	batchSize = 256
)

// Refresh implements Tool.
func (v *Vectorstore) Refresh(ctx context.Context) error {
	if err := v.refresh(ctx, false); err != nil {
		return fmt.Errorf("refresh the index of %s: %w", v.settings.name, err)
	}
	return nil
}

// refresh brings the index up to date and shows it to searches.
func (v *Vectorstore) refresh(ctx context.Context, force bool) error {
	v.refreshing.Lock()
	defer v.refreshing.Unlock()
	if v.closed {
		return v.notReady()
	}
	p, err := v.plan(ctx, force)
	if err != nil {
		return err
	}
	if !p.upToDate() {
		return v.update(ctx, force)
	}
	if err := v.publish(p.have, p); err != nil {
		return err
	}
	v.keepStamps(ctx, p)
	return nil
}

// update changes the index under a lease.
func (v *Vectorstore) update(ctx context.Context, force bool) (err error) {
	lease, err := v.store.Lock(ctx, v.waiting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release()) }()
	p, err := v.plan(ctx, force) // another process may have done the work
	if err != nil {
		return err
	}
	if p.upToDate() {
		return v.publish(p.have, p)
	}
	if err := v.carryOut(ctx, p, lease); err != nil {
		return err
	}
	now, err := v.load(ctx)
	if err != nil {
		return err
	}
	return v.publish(now, p)
}

// waiting tells that another process is indexing.
func (v *Vectorstore) waiting() {
	v.tell("another process is indexing %s; waiting for it to finish", v.settings.name)
}

// keepStamps stores the new time stamps of files whose content is the same, so
// that they need not be read again. It only saves time: where it cannot be done
// it is left undone.
func (v *Vectorstore) keepStamps(ctx context.Context, p *plan) {
	if len(p.touch) == 0 {
		return
	}
	err := v.tryKeepStamps(ctx, p)
	if err != nil && !errors.Is(err, durable.ErrLocked) {
		v.env.Log.Debug("the time stamps of unchanged sources were not kept", "tool", v.settings.name, "error", err)
	}
}

func (v *Vectorstore) tryKeepStamps(ctx context.Context, p *plan) (err error) {
	lease, err := v.store.TryLock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release()) }()
	now, err := v.store.Load(ctx) // another process may have changed it since
	if err != nil || now.Manifest != p.have.Manifest {
		return err
	}
	stamps := p.stamps(now.Sources, lease)
	if len(stamps) == 0 {
		return nil
	}
	return v.store.Commit(ctx, store.Change{Manifest: now.Manifest, Touch: stamps})
}

// carryOut makes what the plan asks for and commits it.
func (v *Vectorstore) carryOut(ctx context.Context, p *plan, lease store.Lease) error {
	if p.reason != "" && !p.fresh { // who asked for it knows
		v.tell("the index of %s is made anew: %s", v.settings.name, p.reason)
	}
	v.tellPassedOver(p.source)
	sources, err := v.read(ctx, p, lease)
	if err != nil {
		return err
	}
	if err := v.embed(ctx, p, sources); err != nil {
		return err
	}
	change := store.Change{Manifest: v.manifest(), Reset: p.reset, Remove: p.remove, Touch: p.stamps(p.have.Sources, lease)}
	for _, s := range sources {
		change.Put = append(change.Put, s.assemble())
	}
	if err := v.store.Commit(ctx, change); err != nil {
		return err
	}
	v.env.Log.Info("the index was brought up to date", "tool", v.settings.name, "index", v.store.Location(),
		"added", p.added, "changed", len(p.put)-p.added, "removed", len(p.remove), "unchanged", p.unchanged)
	return nil
}

// newSource is a file on its way into the index.
type newSource struct {
	file     store.File
	passages []store.Passage
	vectors  [][]float32
}

// read reads the files of the plan. When any of them cannot be read, all those
// are named.
func (v *Vectorstore) read(ctx context.Context, p *plan, lease store.Lease) ([]newSource, error) {
	var sources []newSource
	var problems problemList
	passages, blank := 0, 0
	for _, f := range p.put {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read source %s: %w", v.settings.source, context.Cause(ctx))
		}
		c, err := v.settings.read(f, v.limits.File)
		if err != nil {
			problems.add(f.name, err)
			continue
		}
		passages += len(c.passages)
		blank += c.blank
		sources = append(sources, newSource{file: stamp(f, c.hash, lease), passages: c.passages, vectors: make([][]float32, len(c.passages))})
	}
	if err := problems.of(v.settings.source); err != nil {
		return nil, err
	}
	replaced := p.replaced()
	for _, s := range p.have.Sources {
		if !replaced(s.Path) {
			passages += countPassages(s)
		}
	}
	switch {
	case passages == 0:
		return nil, fmt.Errorf("source %s holds no text; put documents with text there", v.settings.source)
	case passages > v.limits.Passages:
		return nil, fmt.Errorf("source %s makes %d passages, more than the %d a tool may have; raise chunk_size, or split the source over several tools",
			v.settings.source, passages, v.limits.Passages)
	}
	if blank > 0 {
		v.tell("indexing %s: Skipped %d records with empty vector field content", v.settings.name, blank)
	}
	return sources, nil
}

func countPassages(s store.Source) (n int) {
	for _, p := range s.Parts {
		n += len(p.Passages)
	}
	return n
}

// embed gives every passage its vector. A text is embedded once, however many
// passages have it, and not at all when the index knows its vector.
func (v *Vectorstore) embed(ctx context.Context, p *plan, sources []newSource) error {
	vectors := v.knownVectors(p, sources) // by text; nil when it is yet to come
	type place struct{ source, passage int }
	var open []place                   // the first passage of every text without a vector
	waits := make([]int, len(sources)) // how many of open each source waits for
	for i, s := range sources {
		for j, passage := range s.passages {
			if _, ok := vectors[passage.Text]; !ok {
				vectors[passage.Text] = nil
				open = append(open, place{i, j})
			}
		}
		waits[i] = len(open)
	}
	embedded, done := 0, 0
	tell := func() {
		for ; done < len(sources) && waits[done] <= embedded; done++ {
			if v.progress != nil {
				v.progress(v.settings.name, done+1, len(sources))
			}
		}
	}
	tell()
	for batch := range slices.Chunk(open, batchSize) {
		texts := make([]string, len(batch))
		for i, at := range batch {
			texts[i] = sources[at.source].passages[at.passage].Text
		}
		got, err := v.embedTexts(ctx, texts)
		if err != nil {
			return err
		}
		for i, at := range batch {
			if got[i] == nil {
				return fmt.Errorf("embedder %s gave no usable vector for passage %s", v.embedder.Model(), sources[at.source].passages[at.passage].ID)
			}
			vectors[texts[i]] = got[i]
		}
		embedded += len(batch)
		tell()
	}
	for _, s := range sources {
		for j, passage := range s.passages {
			s.vectors[j] = vectors[passage.Text]
		}
	}
	return nil
}

// knownVectors returns the vectors that the index has for texts of sources, by
// text: much of a changed file is as it was, and a file that is new may have had
// another name.
func (v *Vectorstore) knownVectors(p *plan, sources []newSource) map[string][]float32 {
	known := map[string][]float32{}
	m := p.have.Manifest
	if p.fresh || m.Embedder != v.embedder.Model() || m.Dimensions != v.embedder.Dimensions() {
		return known
	}
	wanted := map[string]bool{}
	for _, s := range sources {
		for _, passage := range s.passages {
			wanted[passage.Text] = true
		}
	}
	for _, s := range p.have.Sources {
		for _, part := range s.Parts {
			for i, passage := range part.Passages {
				if wanted[passage.Text] {
					known[passage.Text] = part.Vectors[i*m.Dimensions : (i+1)*m.Dimensions]
				}
			}
		}
	}
	return known
}

// assemble returns the source, whose passages have their vectors, as it is
// kept.
func (s newSource) assemble() store.Source {
	out := store.Source{File: s.file}
	for first := 0; first < len(s.passages); first += partSize {
		end := min(first+partSize, len(s.passages))
		part := store.Part{Passages: s.passages[first:end], Vectors: slices.Concat(s.vectors[first:end]...)}
		texts := make([]string, 0, end-first)
		for _, p := range part.Passages {
			texts = append(texts, p.Text)
		}
		part.Words = index.Analyzer{}.Analyze(texts).Append(nil)
		out.Parts = append(out.Parts, part)
	}
	return out
}

// embedTexts returns the vectors of texts, scaled to length one. A vector that
// cannot be scaled, because it is zero or holds what is no number, is nil.
func (v *Vectorstore) embedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", v.embedder.Model(), err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("embedder %s gave %d vectors for %d texts", v.embedder.Model(), len(vectors), len(texts))
	}
	for i, vector := range vectors {
		if len(vector) != v.embedder.Dimensions() {
			return nil, fmt.Errorf("embedder %s gave a vector of %d numbers, want %d", v.embedder.Model(), len(vector), v.embedder.Dimensions())
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
