package store

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// postgresSQL are the statements for the tables of one schema.
type postgresSQL struct {
	there, makeSchema, makeTables     string
	manifest, sources, parts          string
	putManifest, dropSources, dropAll string
	putSource, touch                  string
	remember, notes, forget           string
	nearest, cosines, fetch           string
	partsTable, vectorsTable          pgx.Identifier
}

// newPostgresSQL returns the statements for the tables of a schema.
func newPostgresSQL(schema string) postgresSQL {
	in := func(text string) string {
		return strings.ReplaceAll(text, "@", pgx.Identifier{schema}.Sanitize()+".holodeck_")
	}
	return postgresSQL{
		partsTable: pgx.Identifier{schema, "holodeck_parts"}, vectorsTable: pgx.Identifier{schema, "holodeck_vectors"},
		there: `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'),
	EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
	EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'holodeck_notes')`,
		makeSchema: `CREATE SCHEMA ` + pgx.Identifier{schema}.Sanitize(),
		makeTables: in(`
CREATE TABLE @indexes (id bigserial PRIMARY KEY, name text NOT NULL UNIQUE, format integer NOT NULL, manifest jsonb NOT NULL);
CREATE TABLE @sources (id bigserial PRIMARY KEY, index_id bigint NOT NULL REFERENCES @indexes ON DELETE CASCADE,
	path text NOT NULL, size bigint NOT NULL, modified bigint NOT NULL, hash bytea NOT NULL, UNIQUE (index_id, path));
CREATE TABLE @parts (source_id bigint NOT NULL REFERENCES @sources ON DELETE CASCADE,
	n integer NOT NULL, passages bytea NOT NULL, words bytea NOT NULL, PRIMARY KEY (source_id, n));
CREATE TABLE @vectors (source_id bigint NOT NULL REFERENCES @sources ON DELETE CASCADE,
	passage integer NOT NULL, vector vector NOT NULL, PRIMARY KEY (source_id, passage));
CREATE TABLE @notes (index_name text NOT NULL, key bytea NOT NULL, text text NOT NULL, PRIMARY KEY (index_name, key));`),
		manifest: in(`SELECT id, format, manifest FROM @indexes WHERE name = $1`),
		sources:  in(`SELECT path, size, modified, hash FROM @sources WHERE index_id = $1 ORDER BY path COLLATE "C"`),
		parts: in(`SELECT s.path, p.passages, p.words FROM @parts p JOIN @sources s ON s.id = p.source_id
	WHERE s.index_id = $1 ORDER BY s.path COLLATE "C", p.n`),
		putManifest: in(`INSERT INTO @indexes (name, format, manifest) VALUES ($1, $2, $3)
	ON CONFLICT (name) DO UPDATE SET format = excluded.format, manifest = excluded.manifest RETURNING id`),
		dropSources: in(`DELETE FROM @sources WHERE index_id = $1 AND path = ANY ($2)`),
		dropAll:     in(`DELETE FROM @sources WHERE index_id = $1`),
		putSource:   in(`INSERT INTO @sources (index_id, path, size, modified, hash) VALUES ($1, $2, $3, $4, $5) RETURNING id`),
		touch:       in(`UPDATE @sources SET size = $3, modified = $4, hash = $5 WHERE index_id = $1 AND path = $2`),
		remember:    in(`INSERT INTO @notes VALUES ($1, $2, $3) ON CONFLICT (index_name, key) DO UPDATE SET text = excluded.text`),
		notes:       in(`SELECT key, text FROM @notes WHERE index_name = $1`),
		forget:      in(`DELETE FROM @notes WHERE index_name = $1`),
		nearest: in(`SELECT s.path, s.hash, v.passage, -(v.vector <#> $2) FROM @vectors v
	JOIN @sources s ON s.id = v.source_id JOIN @indexes i ON i.id = s.index_id
	WHERE i.name = $1 AND i.manifest = $3 ORDER BY v.vector <#> $2, s.path COLLATE "C", v.passage LIMIT $4`),
		cosines: in(`SELECT w.n, -(v.vector <#> $2) FROM unnest($4::text[], $5::bytea[], $6::integer[]) WITH ORDINALITY AS w (path, hash, passage, n)
	JOIN @indexes i ON i.name = $1 AND i.manifest = $3
	JOIN @sources s ON s.index_id = i.id AND s.path = w.path AND s.hash = w.hash
	JOIN @vectors v ON v.source_id = s.id AND v.passage = w.passage`),
		fetch: in(`SELECT w.n, v.vector FROM unnest($3::text[], $4::bytea[], $5::integer[]) WITH ORDINALITY AS w (path, hash, passage, n)
	JOIN @indexes i ON i.name = $1 AND i.manifest = $2
	JOIN @sources s ON s.index_id = i.id AND s.path = w.path AND s.hash = w.hash
	JOIN @vectors v ON v.source_id = s.id AND v.passage = w.passage`),
	}
}
