//go:build peer

package knowledge_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// postgres returns the database key of an index that no other test has.
func postgres(t *testing.T) string {
	return fmt.Sprintf("\ndatabase: {provider: postgres, connection_string: %q, db_schema: t%d}", os.Getenv("HOLODECK_PEER_POSTGRES"), time.Now().UnixNano())
}

func TestPostgresFindsWhatMemoryDoes(t *testing.T) {
	for name, keys := range parityTools() {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, contracts(t))
			memory := d.open(keys + "\ndatabase: {provider: in-memory}")
			there := keys + postgres(t)
			sameHits(t, memory, d.open(there), parityQueries(name)...)
			sameHits(t, memory, d.open(there), parityQueries(name)...) // that was there already
		})
	}
}

func TestPostgresTakesUpChanges(t *testing.T) {
	d := newDesk(t, docsFiles())
	keys := docs + postgres(t)
	first := d.open(keys)
	if s := first.Stats(); s.Added != 2 || !strings.HasPrefix(s.Location, "postgres 127.0.0.1:") || !strings.HasSuffix(s.Location, "index desk/kb") {
		t.Errorf("stats %+v", s)
	}
	d.emb.counted()
	if s := d.open(keys).Stats(); s.Unchanged != 2 || s.Added+s.Changed+s.Removed != 0 || d.emb.counted() != 0 {
		t.Errorf("unchanged: stats %+v", s)
	}
	d.write("docs/new.txt", "a copper kettle\n\n"+strings.TrimSpace(opening))
	d.write("docs/shop/opening.txt", opening+" And a copper lamp.")
	second := d.open(keys)
	if s := second.Stats(); s.Added != 1 || s.Changed != 1 || s.Unchanged != 1 {
		t.Errorf("changed: stats %+v", s)
	}
	if n := d.emb.counted(); n != 2 {
		t.Errorf("%d texts were embedded, want those of two passages", n)
	}
	if got := sources(t, second, "kettle"); got != "docs/new.txt" {
		t.Errorf("found %s", got)
	}
	// The first tool has the words of what it opened; what is gone meanwhile is
	// like nothing, and the rest is found.
	if got := sources(t, first, "return a lamp"); got != "docs/returns.md" {
		t.Errorf("the older tool found %s", got)
	}
	if err := first.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := sources(t, first, "kettle"); got != "docs/new.txt" {
		t.Errorf("after a refresh: %s", got)
	}
}

func TestPostgresToolsAndAgentsAreApart(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.write("others/a.txt", "a copper kettle")
	where := postgres(t)
	kb := d.open(docs + where)
	d.rename = true
	other := d.open("name: other\ntype: vectorstore\nsource: others" + where)
	if got := search(t, kb, "kettle").Text(); got != agent.NothingFound {
		t.Errorf("found what is another tool's: %s", got)
	}
	if got := sources(t, other, "kettle"); got != "others/a.txt" {
		t.Errorf("found %s", got)
	}
}

func TestPostgresToolThatIsClosed(t *testing.T) {
	d := newDesk(t, docsFiles())
	tool := d.open(docs + postgres(t))
	if err := tool.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Search(t.Context(), "lamp"); err == nil {
		t.Error("a closed tool searches")
	}
}

func BenchmarkPostgresSearch10k(b *testing.B) {
	d, keys := benchDesk(b)
	keys += fmt.Sprintf("\ndatabase: {provider: postgres, connection_string: %q, db_schema: t%d}", os.Getenv("HOLODECK_PEER_POSTGRES"), time.Now().UnixNano())
	tool := d.open(keys)
	requirePassages(b, tool)
	for b.Loop() {
		if _, err := tool.Search(b.Context(), "where do I find the cedi of a baba and how many gugu are in the modi"); err != nil {
			b.Fatal(err)
		}
	}
}
