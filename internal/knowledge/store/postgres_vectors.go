package store

import (
	"context"
	"encoding/json"
	"slices"
	"sort"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/holodeck-go/holodeck/internal/knowledge/index"
)

// Vectors implements Searcher.
func (p *Postgres) Vectors(s State) index.Vectors {
	v := &postgresVectors{store: p, paths: map[string]int{}}
	v.manifest, _ = json.Marshal(s.Manifest) // strings and numbers always encode
	passages := 0
	for i, source := range s.Sources {
		v.paths[source.Path] = i
		v.sources = append(v.sources, source.File)
		v.first = append(v.first, passages)
		for _, part := range source.Parts {
			passages += len(part.Passages)
		}
	}
	v.passages = passages
	return v
}

// postgresVectors are the vectors of one state. The server may have another by
// now: rows count that belong to a source with the same content, indexed in the
// same way, and so have the same passages.
type postgresVectors struct {
	store    *Postgres
	manifest []byte
	sources  []File
	paths    map[string]int // number of each source
	first    []int          // number of its first passage
	passages int
}

// number returns the number of a passage, and false for one of another state.
func (v *postgresVectors) number(path string, hash []byte, passage int) (int, bool) {
	source, ok := v.paths[path]
	if !ok || string(hash) != string(v.sources[source].Hash[:]) {
		return 0, false
	}
	end := v.passages
	if source+1 < len(v.first) {
		end = v.first[source+1]
	}
	n := v.first[source] + passage
	return n, n < end
}

// Nearest implements index.Vectors. Without an index on them, the server
// compares all vectors.
func (v *postgresVectors) Nearest(ctx context.Context, query []float32, n int) ([]index.Neighbor, error) {
	rows, err := v.store.pool.Query(ctx, v.store.sql.nearest, v.store.name, pgvector.NewVector(query), v.manifest, n)
	if err != nil {
		return nil, v.store.failed(ctx, "search", err)
	}
	found := make([]index.Neighbor, 0, n)
	var path string
	var hash []byte
	var passage int
	var cosine float64
	_, err = pgx.ForEachRow(rows, []any{&path, &hash, &passage, &cosine}, func() error {
		if number, ok := v.number(path, hash, passage); ok {
			found = append(found, index.Neighbor{Passage: number, Cosine: index.Round(cosine)})
		}
		return nil
	})
	if err != nil {
		return nil, v.store.failed(ctx, "search", err)
	}
	slices.SortFunc(found, index.Neighbor.Compare) // rounded, some are equal
	return found, nil
}

// Cosines implements index.Vectors.
func (v *postgresVectors) Cosines(ctx context.Context, query []float32, passages []int) ([]float64, error) {
	cosines := make([]float64, len(passages))
	paths, hashes, numbers := v.rows(passages)
	rows, err := v.store.pool.Query(ctx, v.store.sql.cosines, v.store.name, pgvector.NewVector(query), v.manifest, paths, hashes, numbers)
	if err != nil {
		return nil, v.store.failed(ctx, "search", err)
	}
	var at int
	var cosine float64
	if _, err := pgx.ForEachRow(rows, []any{&at, &cosine}, func() error {
		cosines[at-1] = index.Round(cosine)
		return nil
	}); err != nil {
		return nil, v.store.failed(ctx, "search", err)
	}
	return cosines, nil
}

// rows returns what names passages in the database.
func (v *postgresVectors) rows(passages []int) (paths []string, hashes [][]byte, numbers []int) {
	for _, passage := range passages {
		source := sort.SearchInts(v.first, passage+1) - 1
		paths = append(paths, v.sources[source].Path)
		hashes = append(hashes, v.sources[source].Hash[:])
		numbers = append(numbers, passage-v.first[source])
	}
	return paths, hashes, numbers
}

// Fetch implements Searcher.
func (p *Postgres) Fetch(ctx context.Context, s State, passages []int) ([][]float32, error) {
	v := p.Vectors(s).(*postgresVectors)
	vectors := make([][]float32, len(passages))
	paths, hashes, numbers := v.rows(passages)
	rows, err := p.pool.Query(ctx, p.sql.fetch, p.name, v.manifest, paths, hashes, numbers)
	if err != nil {
		return nil, p.failed(ctx, "read vectors of", err)
	}
	var at int
	var vector pgvector.Vector
	if _, err := pgx.ForEachRow(rows, []any{&at, &vector}, func() error {
		vectors[at-1] = slices.Clone(vector.Slice())
		return nil
	}); err != nil {
		return nil, p.failed(ctx, "read vectors of", err)
	}
	return vectors, nil
}
