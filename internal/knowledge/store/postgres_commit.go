package store

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
)

// Commit implements Store.
func (p *Postgres) Commit(ctx context.Context, c Change) error {
	err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return p.apply(ctx, tx, c) })
	if err != nil {
		return p.failed(ctx, "commit to", err)
	}
	return nil
}

// apply makes the change in tx.
func (p *Postgres) apply(ctx context.Context, tx pgx.Tx, c Change) error {
	if !c.Reset {
		if _, _, err := p.manifest(ctx, tx); err != nil {
			return err
		}
	}
	manifest, err := json.Marshal(c.Manifest)
	if err != nil {
		return err
	}
	var id int64
	if err := tx.QueryRow(ctx, p.sql.putManifest, p.name, postgresFormat, manifest).Scan(&id); err != nil {
		return err
	}
	if err := p.drop(ctx, tx, id, c); err != nil {
		return err
	}
	for _, s := range c.Put {
		if err := p.put(ctx, tx, id, s, c.Manifest.Dimensions); err != nil {
			return err
		}
	}
	for _, f := range c.Touch {
		if _, err := tx.Exec(ctx, p.sql.touch, id, f.Path, f.Size, f.Modified, f.Hash[:]); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, p.sql.forget, p.name)
	return err
}

// drop removes what goes or is replaced.
func (p *Postgres) drop(ctx context.Context, tx pgx.Tx, id int64, c Change) error {
	if c.Reset {
		_, err := tx.Exec(ctx, p.sql.dropAll, id)
		return err
	}
	gone := append([]string{}, c.Remove...)
	for _, s := range c.Put {
		gone = append(gone, s.Path)
	}
	_, err := tx.Exec(ctx, p.sql.dropSources, id, gone)
	return err
}

// put adds a source that is not there.
func (p *Postgres) put(ctx context.Context, tx pgx.Tx, id int64, s Source, dimensions int) error {
	var source int64
	if err := tx.QueryRow(ctx, p.sql.putSource, id, s.Path, s.Size, s.Modified, s.Hash[:]).Scan(&source); err != nil {
		return err
	}
	var parts, vectors [][]any
	for n, part := range s.Parts {
		parts = append(parts, []any{source, n, encodePassages(part.Passages), part.Words})
		if dimensions == 0 {
			continue // nobody compares them
		}
		for i := range part.Passages {
			vector := part.Vectors[i*dimensions : (i+1)*dimensions]
			vectors = append(vectors, []any{source, len(vectors), pgvector.NewVector(vector)})
		}
	}
	if _, err := tx.CopyFrom(ctx, p.sql.partsTable, []string{"source_id", "n", "passages", "words"}, pgx.CopyFromRows(parts)); err != nil {
		return err
	}
	_, err := tx.CopyFrom(ctx, p.sql.vectorsTable, []string{"source_id", "passage", "vector"}, pgx.CopyFromRows(vectors))
	return err
}

// Remember implements Store.
func (p *Postgres) Remember(ctx context.Context, notes []Note) error {
	var batch pgx.Batch
	for _, n := range notes {
		batch.Queue(p.sql.remember, p.name, n.Key[:], n.Text)
	}
	if err := p.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return p.failed(ctx, "keep notes in", err)
	}
	return nil
}

// Notes implements Store.
func (p *Postgres) Notes(ctx context.Context) ([]Note, error) {
	rows, err := p.pool.Query(ctx, p.sql.notes, p.name)
	if err == nil {
		var notes []Note
		notes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n Note, err error) {
			var key []byte
			err = row.Scan(&key, &n.Text)
			copy(n.Key[:], key)
			return n, err
		})
		if err == nil {
			return notes, nil
		}
	}
	return nil, p.failed(ctx, "read the notes in", err)
}
