package knowledge

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// schemaOption is the key of a postgres database that names the schema of its
// tables.
const schemaOption = "db_schema"

// checkDatabase says what of a database this build cannot do, and which of its
// keys have no effect.
func checkDatabase(a *config.Agent, b config.Block, db *config.Database) []config.Problem {
	if db == nil || db.Provider == "" || a.Offline { // without a provider loading has complained already
		return nil
	}
	known := []string{}
	switch db.Provider {
	case config.DatabaseLocal, config.DatabaseInMemory:
		if db.ConnectionString.Reveal() != "" {
			return []config.Problem{b.Problem(config.SeverityWarning, "database", config.CodeNoEffect,
				fmt.Sprintf("provider %s connects to nothing, and connection_string has no effect", db.Provider), "remove it")}
		}
	case config.DatabasePostgres:
		if db.ConnectionString.Reveal() == "" {
			return []config.Problem{b.Problem(config.SeverityError, "database", config.CodeMissing,
				"connection_string is required with provider postgres", "such as postgres://user:${PASSWORD}@host:5432/name")}
		}
		if err := store.CheckConnection(db.ConnectionString.Reveal()); err != nil {
			return []config.Problem{b.Problem(config.SeverityError, "database", config.CodeValue,
				fmt.Sprintf("connection_string: %v", err), "such as postgres://user:${PASSWORD}@host:5432/name")}
		}
		known = append(known, schemaOption)
	default:
		return []config.Problem{b.Problem(config.SeverityWarning, "database", config.CodeUnsupported,
			fmt.Sprintf("this build has no client for database provider %s yet", db.Provider),
			"local, in-memory and postgres work, and --offline uses the local index")}
	}
	var problems []config.Problem
	for _, key := range slices.Sorted(maps.Keys(db.Options)) {
		if slices.Contains(known, key) {
			if _, ok := db.Options[key].(string); !ok {
				problems = append(problems, b.Problem(config.SeverityError, "database", config.CodeType, key+" must be a text", ""))
			}
			continue
		}
		problems = append(problems, b.Problem(config.SeverityWarning, "database", config.CodeNoEffect,
			fmt.Sprintf("%s has no effect with provider %s", key, db.Provider), "remove it"))
	}
	return problems
}

// openStore returns where the tool's index is kept.
func openStore(ctx context.Context, a *config.Agent, s settings, opts Options) (store.Store, error) {
	db := s.database
	if db == nil || a.Offline && db.Provider != config.DatabaseInMemory {
		db = &config.Database{Provider: config.DatabaseLocal}
	}
	switch db.Provider {
	case config.DatabaseInMemory:
		return store.NewMemory(), nil
	case config.DatabasePostgres:
		schema, _ := db.Options[schemaOption].(string) // checked
		return store.OpenPostgres(ctx, store.PostgresOptions{
			Connection: db.ConnectionString.Reveal(), Schema: schema, Index: a.Name + "/" + s.name,
		})
	}
	state, err := stateDir(a, opts)
	if err != nil {
		return nil, err
	}
	// Agent files in one folder may have tools of one name.
	file := folderName(strings.TrimSuffix(filepath.Base(a.File), filepath.Ext(a.File)))
	if a.Offline {
		file += ".offline" // the vectors of a provider, once paid for, stay
	}
	return store.NewLocal(filepath.Join(state, "index", folderName(s.name), file)), nil
}
