package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holodeck-go/holodeck/internal/durable"
)

const (
	// formatVersion is the version of the schema and of the encodings in it.
	formatVersion = 2
	// busyMillis is how long a statement waits for another connection that is
	// taking over or closing the database; no such moment takes long.
	busyMillis = 10_000

	databaseFile = "index.db"
	lockFile     = "index.lock"
)

// schema makes an empty database of formatVersion of any other.
const schema = `
DROP TABLE IF EXISTS parts;
DROP TABLE IF EXISTS sources;
DROP TABLE IF EXISTS manifest;
CREATE TABLE manifest (one INTEGER PRIMARY KEY CHECK (one = 1), json TEXT NOT NULL) STRICT;
CREATE TABLE sources (path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE parts (
	path TEXT NOT NULL REFERENCES sources (path) ON DELETE CASCADE,
	n INTEGER NOT NULL,
	passages BLOB NOT NULL,
	words BLOB NOT NULL,
	vectors BLOB NOT NULL,
	PRIMARY KEY (path, n)
) STRICT;
`

// Local keeps a state in a folder of its own. Nothing stays open between calls,
// so that the folder can be removed at any time.
type Local struct{ dir string }

// NewLocal returns the store in dir, which comes into being with the first
// lease.
func NewLocal(dir string) *Local { return &Local{dir: dir} }

// Location implements Store.
func (l *Local) Location() string { return l.database() }

func (l *Local) database() string { return filepath.Join(l.dir, databaseFile) }

// Lock implements Store.
func (l *Local) Lock(ctx context.Context, onWait func()) (Lease, error) {
	return l.lease(func(path string) (*durable.FileLock, error) {
		return durable.Lock(ctx, path, durable.LockOptions{OnWait: onWait})
	})
}

// TryLock implements Store.
func (l *Local) TryLock() (Lease, error) { return l.lease(durable.TryLock) }

func (l *Local) lease(take func(path string) (*durable.FileLock, error)) (Lease, error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return Lease{}, fmt.Errorf("make the folder of the index: %w; it must be a folder that can be written", err)
	}
	// Documents are kept whole, and the folder may be an older one. Where it is
	// another's, that is for its owner to decide.
	if err := os.Chmod(l.dir, 0o700); err != nil && !errors.Is(err, fs.ErrPermission) {
		return Lease{}, fmt.Errorf("keep the index to its owner: %w", err)
	}
	lock, err := take(filepath.Join(l.dir, lockFile))
	if err != nil {
		return Lease{}, err
	}
	began, err := fileTime(l.dir)
	if err != nil {
		return Lease{}, errors.Join(err, lock.Unlock())
	}
	return Lease{Began: began, release: lock.Unlock}, nil
}

// fileTime returns the time by the clock of the file system of dir.
func fileTime(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, ".clock.*.tmp")
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the file system for the time: %w", err)
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return time.Time{}, fmt.Errorf("ask the file system for the time: %w", err)
	}
	return info.ModTime(), nil
}

// open returns the database for one use. mode is SQLite's: rw refuses to create
// a file, rwc does not.
func (l *Local) open(mode string) (*sql.DB, error) {
	path, err := filepath.Abs(l.database())
	if err != nil {
		return nil, err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	query := url.Values{"mode": {mode}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyMillis),
		"page_size(16384)", // vectors are long; this counts only when the file is made
		"foreign_keys(1)",
	}}
	if mode == "rwc" {
		query.Add("_pragma", "journal_mode(WAL)")
		query.Add("_pragma", "synchronous(NORMAL)") // never corrupt, and a lost commit is made again
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Load implements Store.
func (l *Local) Load(ctx context.Context) (State, error) {
	state, err := l.load(ctx)
	if err != nil {
		return State{}, fmt.Errorf("load index %s: %w", l.database(), classify(err))
	}
	return state, nil
}

func (l *Local) load(ctx context.Context) (state State, err error) {
	switch info, err := os.Stat(l.database()); {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, ErrEmpty
	case err == nil && !info.Mode().IsRegular():
		return State{}, errors.New("a folder, or what is no file, stands in its place; remove it, and the index is made anew")
	}
	db, err := l.open("rw")
	if err != nil {
		return State{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil) // one transaction is one committed state
	if err != nil {
		return State{}, err
	}
	defer tx.Rollback()
	if err := checkFormat(ctx, tx); err != nil {
		return State{}, err
	}
	var manifest string
	if err := tx.QueryRowContext(ctx, `SELECT json FROM manifest`).Scan(&manifest); err != nil {
		return State{}, err
	}
	if err := json.Unmarshal([]byte(manifest), &state.Manifest); err != nil {
		return State{}, fmt.Errorf("%w: damaged manifest: %w", ErrUnusable, err)
	}
	if state.Sources, err = loadSources(ctx, tx); err != nil {
		return State{}, err
	}
	return state, loadParts(ctx, tx, &state)
}

// checkFormat reports whether the database is one that Commit made.
func checkFormat(ctx context.Context, tx *sql.Tx) error {
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	switch version {
	case formatVersion:
		return nil
	case 0: // its writer was stopped before the first commit
		return ErrEmpty
	}
	return fmt.Errorf("%w: it has format %d, this program writes %d", ErrUnusable, version, formatVersion)
}

func loadSources(ctx context.Context, tx *sql.Tx) ([]Source, error) {
	rows, err := tx.QueryContext(ctx, `SELECT path, size, modified, hash FROM sources ORDER BY path`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sources []Source
	for rows.Next() {
		var s Source
		var hash []byte
		if err := rows.Scan(&s.Path, &s.Size, &s.Modified, &hash); err != nil {
			return nil, err
		}
		if len(hash) != len(s.Hash) {
			return nil, fmt.Errorf("%w: damaged hash of %s", ErrUnusable, s.Path)
		}
		copy(s.Hash[:], hash)
		sources = append(sources, s)
	}
	return sources, rows.Err()
}

// loadParts reads the parts of the state's sources.
func loadParts(ctx context.Context, tx *sql.Tx, state *State) error {
	rows, err := tx.QueryContext(ctx, `SELECT path, passages, words, vectors FROM parts ORDER BY path, n`)
	if err != nil {
		return err
	}
	defer rows.Close()
	at := 0
	for rows.Next() {
		var path string
		var passages, words, vectors sql.RawBytes
		if err := rows.Scan(&path, &passages, &words, &vectors); err != nil {
			return err
		}
		for at < len(state.Sources) && state.Sources[at].Path != path {
			at++
		}
		if at == len(state.Sources) {
			return fmt.Errorf("%w: passages without a source: %s", ErrUnusable, path)
		}
		p := Part{Words: append([]byte(nil), words...)}
		if p.Passages, err = decodePassages(passages); err != nil {
			return err
		}
		if p.Vectors, err = decodeVectors(vectors); err != nil {
			return err
		}
		if len(p.Vectors) != len(p.Passages)*state.Manifest.Dimensions {
			return fmt.Errorf("%w: vectors that do not fit their passages: %s", ErrUnusable, path)
		}
		state.Sources[at].Parts = append(state.Sources[at].Parts, p)
	}
	return rows.Err()
}

// Commit implements Store.
func (l *Local) Commit(ctx context.Context, c Change) error {
	err := classify(l.commit(ctx, c))
	if c.Reset && errors.Is(err, ErrUnusable) {
		// What is there is no database any more: begin with a new file.
		if err = l.remove(); err == nil {
			err = classify(l.commit(ctx, c))
		}
	}
	if err != nil {
		return fmt.Errorf("commit to index %s: %w", l.database(), err)
	}
	return nil
}

func (l *Local) commit(ctx context.Context, c Change) error {
	return l.write(ctx, func(tx *sql.Tx) error {
		if c.Reset {
			if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d", formatVersion)); err != nil {
				return err
			}
		}
		if err := checkFormat(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DROP TABLE IF EXISTS notes`); err != nil {
			return err
		}
		return apply(ctx, tx, c)
	})
}

// write runs fn in a transaction on the database, which is made when there is
// none.
func (l *Local) write(ctx context.Context, fn func(tx *sql.Tx) error) (err error) {
	// SQLite gives the files beside the database the permissions of the database.
	f, err := os.OpenFile(l.database(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := l.open("rwc")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Close implements Store.
func (l *Local) Close() error { return nil }

// apply makes the change in tx.
func apply(ctx context.Context, tx *sql.Tx, c Change) error {
	manifest, err := json.Marshal(c.Manifest)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO manifest VALUES (1, ?)`, string(manifest)); err != nil {
		return err
	}
	remove := c.Remove
	for _, s := range c.Put {
		remove = append(remove[:len(remove):len(remove)], s.Path)
	}
	for _, path := range remove {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sources WHERE path = ?`, path); err != nil {
			return err
		}
	}
	for _, s := range c.Put {
		if err := put(ctx, tx, s); err != nil {
			return err
		}
	}
	for _, f := range c.Touch {
		if _, err := tx.ExecContext(ctx, `UPDATE sources SET size = ?, modified = ?, hash = ? WHERE path = ?`,
			f.Size, f.Modified, f.Hash[:], f.Path); err != nil {
			return err
		}
	}
	return nil
}

// put adds a source that is not there.
func put(ctx context.Context, tx *sql.Tx, s Source) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO sources VALUES (?, ?, ?, ?)`, s.Path, s.Size, s.Modified, s.Hash[:]); err != nil {
		return err
	}
	for n, p := range s.Parts {
		if _, err := tx.ExecContext(ctx, `INSERT INTO parts VALUES (?, ?, ?, ?, ?)`,
			s.Path, n, encodePassages(p.Passages), p.Words, encodeVectors(p.Vectors)); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the files of the database.
func (l *Local) remove() error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(l.database() + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// classify returns err as ErrUnusable where SQLite found the file damaged or cut
// short, or a table or column missing.
func classify(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		if e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ {
			return fmt.Errorf("%w: it is cut short (%w)", ErrUnusable, err)
		}
		switch e.Code() & 0xff { // the rest of an extended code says more of the same
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR:
			return fmt.Errorf("%w: %w", ErrUnusable, err)
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: no manifest", ErrUnusable)
	}
	return err
}
