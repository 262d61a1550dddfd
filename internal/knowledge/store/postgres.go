package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	pgvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/holodeck-go/holodeck/internal/durable"
)

const (
	// postgresFormat is the version of the tables and of the encodings in them.
	postgresFormat = 1
	// connectTimeout bounds how long a server is waited for, unless the
	// connection string says otherwise.
	connectTimeout = 10 * time.Second
)

// Postgres keeps states in a PostgreSQL database with pgvector, and compares
// vectors there. Every agent that names the same index shares it.
type Postgres struct {
	pool *pgxpool.Pool
	sql  postgresSQL
	name string // of the index
	lock int64  // key of the advisory lock
}

// PostgresOptions says where an index is.
type PostgresOptions struct {
	// Connection is a connection string as libpq defines it, a URL or a list of
	// keywords and values.
	Connection string
	// Schema holds the tables; empty is "public". It is made when it is missing.
	Schema string
	// Index names the index among those of the database.
	Index string
}

// CheckConnection says what is wrong with a connection string, and no password.
func CheckConnection(text string) error {
	_, err := pgxpool.ParseConfig(text)
	return err
}

// connectError says once what is wrong with a server, which is tried with TLS and
// without.
type connectError struct{ err error }

func (e connectError) Error() string {
	var lines []string
	for line := range strings.Lines(e.err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Replace(strings.Join(lines, "; "), ":; ", ": ", 1)
}

func (e connectError) Unwrap() error { return e.err }

// OpenPostgres connects to a database and makes the tables that are missing.
func OpenPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	c, err := pgxpool.ParseConfig(o.Connection)
	if err != nil {
		return nil, fmt.Errorf("read the connection string: %w", err)
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectTimeout
	}
	if o.Schema == "" {
		o.Schema = "public"
	}
	p := &Postgres{sql: newPostgresSQL(o.Schema), name: o.Index, lock: advisoryKey(o)}
	if err := p.prepare(ctx, c.ConnConfig, o.Schema); err != nil {
		return nil, err
	}
	c.AfterConnect = pgvector.RegisterTypes
	if p.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", p.Location(), err)
	}
	return p, nil
}

// advisoryKey returns the number under which writers of an index keep one
// another out.
func advisoryKey(o PostgresOptions) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "holodeck index %q %q", o.Schema, o.Index)
	return int64(h.Sum64())
}

// prepare makes what is missing in the database. Processes that do so at once
// wait for each other.
func (p *Postgres) prepare(ctx context.Context, c *pgx.ConnConfig, schema string) (err error) {
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return fmt.Errorf("connect to the database of the index: %w; see that the server runs and connection_string names it", connectError{err})
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, advisoryKey(PostgresOptions{Schema: schema})); err != nil {
			return err
		}
		var hasVector, hasSchema, hasTables bool
		if err := tx.QueryRow(ctx, p.sql.there, schema).Scan(&hasVector, &hasSchema, &hasTables); err != nil {
			return fmt.Errorf("look for the tables of the index: %w", err)
		}
		if !hasVector {
			if _, err := tx.Exec(ctx, `CREATE EXTENSION vector`); err != nil {
				return fmt.Errorf("the database has no extension vector, and it cannot be made: %w; "+
					"install pgvector, and let a superuser run CREATE EXTENSION vector", err)
			}
		}
		if !hasSchema {
			if _, err := tx.Exec(ctx, p.sql.makeSchema); err != nil {
				return fmt.Errorf("make the schema %s: %w", schema, err)
			}
		}
		if !hasTables {
			if _, err := tx.Exec(ctx, p.sql.makeTables); err != nil {
				return fmt.Errorf("make the tables of the index in schema %s: %w", schema, err)
			}
		}
		return nil
	})
}

// Location implements Store.
func (p *Postgres) Location() string {
	if p.pool == nil {
		return "postgres"
	}
	c := p.pool.Config().ConnConfig
	return fmt.Sprintf("postgres %s:%d/%s, index %s", c.Host, c.Port, c.Database, p.name)
}

// Close implements Store.
func (p *Postgres) Close() error {
	p.pool.Close()
	return nil
}

// Lock implements Store.
func (p *Postgres) Lock(ctx context.Context, onWait func()) (Lease, error) {
	lease, err := p.tryLock(ctx)
	if err == nil || !errors.Is(err, durable.ErrLocked) {
		return lease, err
	}
	if onWait != nil {
		onWait()
	}
	conn, err := p.pool.Acquire(ctx)
	if err == nil {
		if _, err = conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, p.lock); err != nil {
			conn.Release()
		}
	}
	if err != nil {
		return Lease{}, p.failed(ctx, "wait for", err)
	}
	return p.lease(conn), nil
}

// TryLock implements Store.
func (p *Postgres) TryLock() (Lease, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	return p.tryLock(ctx)
}

func (p *Postgres) tryLock(ctx context.Context) (Lease, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return Lease{}, p.failed(ctx, "lock", err)
	}
	var granted bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, p.lock).Scan(&granted); err != nil {
		conn.Release()
		return Lease{}, p.failed(ctx, "lock", err)
	}
	if !granted {
		conn.Release()
		return Lease{}, fmt.Errorf("%s is %w", p.Location(), durable.ErrLocked)
	}
	return p.lease(conn), nil
}

// lease returns the lease that conn holds. When it was granted is not known by
// the clock that stamps files: machines that share an index stamp their copies
// of a file differently, so files are told apart by their content.
func (p *Postgres) lease(conn *pgxpool.Conn) Lease {
	return Lease{release: sync.OnceValue(func() error {
		defer conn.Release()
		ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, p.lock); err != nil {
			// The lock ends with the connection.
			return errors.Join(p.failed(ctx, "unlock", err), conn.Conn().Close(ctx))
		}
		return nil
	})}
}

// failed says what was being done with the index when err happened.
func (p *Postgres) failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s %s: %w", doing, p.Location(), err)
}

// Load implements Store. The vectors stay where they are.
func (p *Postgres) Load(ctx context.Context) (State, error) {
	var state State
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly} // one committed state
	err := pgx.BeginTxFunc(ctx, p.pool, options, func(tx pgx.Tx) (err error) {
		var id int64
		if id, state.Manifest, err = p.manifest(ctx, tx); err != nil {
			return err
		}
		if state.Sources, err = p.sources(ctx, tx, id); err != nil {
			return err
		}
		return p.parts(ctx, tx, id, &state)
	})
	if err != nil {
		return State{}, p.failed(ctx, "load", err)
	}
	return state, nil
}

// manifest returns the id and the manifest of the index.
func (p *Postgres) manifest(ctx context.Context, tx pgx.Tx) (id int64, m Manifest, err error) {
	var format int
	var text []byte
	err = tx.QueryRow(ctx, p.sql.manifest, p.name).Scan(&id, &format, &text)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, m, ErrEmpty
	case err != nil:
		return 0, m, err
	case format != postgresFormat:
		return 0, m, fmt.Errorf("%w: it has format %d, this program writes %d", ErrUnusable, format, postgresFormat)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return 0, m, fmt.Errorf("%w: damaged manifest: %w", ErrUnusable, err)
	}
	return id, m, nil
}

func (p *Postgres) sources(ctx context.Context, tx pgx.Tx, index int64) ([]Source, error) {
	rows, err := tx.Query(ctx, p.sql.sources, index)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (s Source, err error) {
		var hash []byte
		if err := row.Scan(&s.Path, &s.Size, &s.Modified, &hash); err != nil {
			return s, err
		}
		if len(hash) != len(s.Hash) {
			return s, fmt.Errorf("%w: damaged hash of %s", ErrUnusable, s.Path)
		}
		copy(s.Hash[:], hash)
		return s, nil
	})
}

// parts reads the parts of the state's sources.
func (p *Postgres) parts(ctx context.Context, tx pgx.Tx, index int64, state *State) error {
	rows, err := tx.Query(ctx, p.sql.parts, index)
	if err != nil {
		return err
	}
	defer rows.Close()
	at := 0
	for rows.Next() {
		var path string
		var passages []byte
		var part Part
		if err := rows.Scan(&path, &passages, &part.Words); err != nil {
			return err
		}
		for at < len(state.Sources) && state.Sources[at].Path != path {
			at++
		}
		if at == len(state.Sources) {
			return fmt.Errorf("%w: passages without a source: %s", ErrUnusable, path)
		}
		if part.Passages, err = decodePassages(passages); err != nil {
			return err
		}
		state.Sources[at].Parts = append(state.Sources[at].Parts, part)
	}
	return rows.Err()
}
