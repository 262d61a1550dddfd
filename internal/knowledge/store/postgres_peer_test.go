//go:build peer

package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge/store"
	"github.com/holodeck-go/holodeck/internal/knowledge/store/storetest"
)

// openPostgres returns the index of a name in the database that the peer script
// has started.
func openPostgres(t *testing.T, name string) *store.Postgres {
	t.Helper()
	s, err := store.OpenPostgres(t.Context(), store.PostgresOptions{
		Connection: os.Getenv("HOLODECK_PEER_POSTGRES"), Schema: "odd \"schema", Index: name,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPostgres(t *testing.T) {
	run := sha256.Sum256([]byte(t.TempDir()))
	storetest.Run(t, func(t *testing.T) store.Store { return openPostgres(t, t.Name()+hex.EncodeToString(run[:])) })
}
