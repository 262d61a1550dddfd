package knowledge

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// settling is how old a file must be for its time stamp to tell of a change:
// the coarsest stamps of file systems in use are two seconds.
const settling = 2 * time.Second

// loaded is a stored state with its words parsed, part by part.
type loaded struct {
	store.State
	words []*index.Segment
}

// load returns the state that was committed last. Besides what store.Load
// says, damaged words are a store.ErrUnusable.
func (v *searchTool) load(ctx context.Context) (loaded, error) {
	state, err := v.store.Load(ctx)
	if err != nil {
		return loaded{}, err
	}
	l := loaded{State: state}
	for _, source := range state.Sources {
		for _, part := range source.Parts {
			words, err := index.ParseSegment(part.Words)
			if err == nil && words.Len() != len(part.Passages) {
				err = fmt.Errorf("words of %d passages, want %d", words.Len(), len(part.Passages))
			}
			if err != nil {
				return loaded{}, fmt.Errorf("%w: %s: %w", store.ErrUnusable, source.Path, err)
			}
			l.words = append(l.words, words)
		}
	}
	return l, nil
}

// plan is what must be done to bring an index up to date.
type plan struct {
	source *walk
	have   loaded // the index the plan is for
	reset  bool   // everything is made anew
	fresh  bool   // and nothing that is there is used again
	reason string // why, when there was an index before
	asked  bool   // somebody asked for it
	put    []sourceFile
	added  int // how many of put are new
	remove []string
	touch  []touched
	// skipped says of the files that could not be read what is wrong with them.
	skipped problemList
	// unchanged counts the files whose content is that of the index.
	unchanged int
}

// touched is a file that has another time stamp than the index says, and the
// same content.
type touched struct {
	file sourceFile
	hash [sha256.Size]byte
}

// upToDate reports whether the passages of the index are those of the source.
func (p *plan) upToDate() bool { return !p.reset && len(p.put)+len(p.remove) == 0 }

// extent is how much of an index is made, besides what changed.
type extent int

const (
	whatChanged    extent = iota
	everything            // with what the index has of vectors and contexts
	everythingAnew        // with nothing that the index has
)

// plan compares the source with the index, and says what is to be made.
func (v *searchTool) plan(ctx context.Context, much extent) (*plan, error) {
	source, err := v.collect(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{source: source, asked: much != whatChanged, fresh: much == everythingAnew}
	p.have, err = v.load(ctx)
	switch have, want := p.have.Manifest, v.manifest(); {
	case errors.Is(err, store.ErrEmpty):
		p.reset = true
	case errors.Is(err, store.ErrUnusable):
		p.reset, p.reason = true, err.Error()
	case err != nil:
		return nil, err
	case p.fresh:
		p.reset, p.reason = true, "it was asked for"
	case otherwise(have, want) != "":
		p.reset, p.reason = true, otherwise(have, want)
		if v.paid && !p.asked {
			return nil, fmt.Errorf("the index was made otherwise: %s; making it anew is charged for, so run 'holodeck index %s --reindex' if that is meant",
				p.reason, v.agentFile)
		}
	case p.asked:
		p.reset, p.reason = true, "it was asked for"
	}
	if p.reset {
		p.put, p.added = source.files, len(source.files)
		return p, nil
	}
	if err := v.compare(ctx, p); err != nil {
		return nil, err
	}
	switch have := p.have.Manifest; {
	case v.embedder == nil && have.Embedder != "" && !p.upToDate():
		v.resetFor(p, "it is searched without vectors now")
	case v.embedder != nil && have.Embedder == "":
		v.resetFor(p, "it is searched by vectors now")
	}
	return p, nil
}

// sameVectors reports whether the vectors of two ways to make an index can be
// compared. A width that is not known yet is any.
func sameVectors(have, want store.Manifest) bool {
	return have.Embedder == want.Embedder && (want.Dimensions == 0 || have.Dimensions == want.Dimensions)
}

// otherwise says in what way an index was made that it would not be now, or is
// empty. An index with vectors where none are needed, or without where some are,
// is as good as far as it goes.
func otherwise(have, want store.Manifest) string {
	switch {
	case have.Embedder != "" && want.Embedder != "" && !sameVectors(have, want):
		reason := fmt.Sprintf("the embedding model was %s (%d dimensions) and is %s", have.Embedder, have.Dimensions, want.Embedder)
		if want.Dimensions != 0 {
			reason += fmt.Sprintf(" (%d)", want.Dimensions)
		}
		return reason
	case have.Pipeline != want.Pipeline:
		return "the way sources are read or cut has changed"
	case have.Context != want.Context:
		return "the way contexts of passages are written has changed"
	}
	return ""
}

// resetFor has everything made anew.
func (v *searchTool) resetFor(p *plan, reason string) {
	*p = plan{source: p.source, have: p.have, reset: true, reason: reason, put: p.source.files, added: len(p.source.files)}
}

// skip takes files that could not be read out of the plan: what the index had of
// them goes.
func (p *plan) skip(problems problemList) {
	p.skipped = problems
	known := make(map[string]bool, len(p.have.Sources))
	for _, s := range p.have.Sources {
		known[s.Path] = true
	}
	for _, problem := range problems {
		p.put = slices.DeleteFunc(slices.Clone(p.put), func(f sourceFile) bool { return f.name == problem.name })
		if p.reset || !known[problem.name] {
			p.added--
			continue
		}
		p.remove = append(p.remove, problem.name)
	}
}

// manifest says how this tool makes its index. Its width is 0 where it is not
// known yet.
func (v *searchTool) manifest() store.Manifest {
	m := store.Manifest{Pipeline: v.settings.fingerprint(), Context: v.settings.contexts.fingerprint()}
	if v.embedder != nil {
		m.Embedder, m.Dimensions = v.embedder.Model(), v.embedder.Dimensions()
	}
	return m
}

// compare fills in what differs between the source and the index.
func (v *searchTool) compare(ctx context.Context, p *plan) error {
	left := make(map[string]store.File, len(p.have.Sources))
	for _, s := range p.have.Sources {
		left[s.Path] = s.File
	}
	for _, f := range p.source.files {
		if ctx.Err() != nil {
			return fmt.Errorf("compare source %s with its index: %w", v.settings.source, context.Cause(ctx))
		}
		have, ok := left[f.name]
		delete(left, f.name)
		switch {
		case !ok:
			p.put = append(p.put, f)
			p.added++
		case have.Size != f.info.Size():
			p.put = append(p.put, f)
		case have.Modified != 0 && have.Modified == f.info.ModTime().UnixNano():
			p.unchanged++
		default:
			// A file that cannot be read is found to be so when it is read.
			if hash, err := convert.Hash(f.path); err == nil && hash == have.Hash {
				p.touch = append(p.touch, touched{f, hash})
				p.unchanged++
			} else {
				p.put = append(p.put, f)
			}
		}
	}
	for _, s := range p.have.Sources { // in order, unlike the map
		if _, gone := left[s.Path]; gone {
			p.remove = append(p.remove, s.Path)
		}
	}
	return nil
}

// replaced reports which sources of the index the plan takes away or replaces.
func (p *plan) replaced() func(path string) bool {
	paths := map[string]bool{}
	for _, f := range p.put {
		paths[f.name] = true
	}
	for _, path := range p.remove {
		paths[path] = true
	}
	return func(path string) bool { return p.reset || paths[path] }
}

// stamps returns what the index is to know of the touched files, where it
// differs from what have says.
func (p *plan) stamps(have []store.Source, lease store.Lease) []store.File {
	stored := make(map[string]store.File, len(have))
	for _, s := range have {
		stored[s.Path] = s.File
	}
	var files []store.File
	for _, t := range p.touch {
		f := stamp(t.file, t.hash, lease)
		if old, ok := stored[f.Path]; ok && old.Hash == f.Hash && old != f {
			files = append(files, f)
		}
	}
	return files
}

// stamp identifies a file and its content. A file so young that it can change
// without a new time stamp has none.
func stamp(f sourceFile, hash [sha256.Size]byte, lease store.Lease) store.File {
	id := store.File{Path: f.name, Size: f.info.Size(), Hash: hash}
	if f.info.ModTime().Before(lease.Began.Add(-settling)) {
		id.Modified = f.info.ModTime().UnixNano()
	}
	return id
}
