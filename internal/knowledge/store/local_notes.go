package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// notesTable is apart from the format, and there while something is remembered.
const notesTable = `CREATE TABLE IF NOT EXISTS notes (key BLOB PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID`

// Remember implements Store.
func (l *Local) Remember(ctx context.Context, notes []Note) error {
	err := l.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, notesTable); err != nil {
			return err
		}
		for _, n := range notes {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO notes VALUES (?, ?)`, n.Key[:], n.Text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep notes in index %s: %w", l.database(), classify(err))
	}
	return nil
}

// Notes implements Store.
func (l *Local) Notes(ctx context.Context) (notes []Note, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the notes in index %s: %w", l.database(), classify(err))
		}
	}()
	if info, err := os.Stat(l.database()); err != nil || !info.Mode().IsRegular() {
		return nil, nil // what is wrong with it, Load tells
	}
	db, err := l.open("rw")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var there int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'notes'`).Scan(&there); err != nil || there == 0 {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT key, text FROM notes`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n Note
		var key []byte
		if err := rows.Scan(&key, &n.Text); err != nil {
			return nil, err
		}
		copy(n.Key[:], key)
		notes = append(notes, n)
	}
	return notes, rows.Err()
}
