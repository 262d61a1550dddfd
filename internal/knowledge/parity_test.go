package knowledge_test

import (
	"os"
	"path/filepath"
	"testing"
)

// parityQueries ask by section, by phrase and by meaning; of a tool that searches
// to the letter, by what it can find.
func parityQueries(tool string) []string {
	queries := []string{
		"section 4.3", "What does section 4.2 of the lease say?", `"swept, without its goods"`, "How soon must a leak of customer data be reported?",
		"late payment interest", "Who repairs the roof?", "force majeure", "price of the growing lamp", "termination for cause", "deposit",
		"how long does the warranty last", "erasure of personal data", "Article II", "may the landlord come in", "confidential",
	}
	if tool == "exact" {
		const toTheLetter = 3
		return queries[:toTheLetter]
	}
	return queries
}

// parityTools are ways of searching the same documents.
func parityTools() map[string]string {
	return map[string]string{
		"documents": "type: vectorstore\nsource: contracts\nchunk_size: 60\ntop_k: 5",
		"rrf":       "type: hierarchical_document\nsource: contracts\ntop_k: 5",
		"minmax":    "type: hierarchical_document\nsource: contracts\ntop_k: 5\nfusion: minmax",
		"semantic":  "type: hierarchical_document\nsource: contracts\ntop_k: 5\nsearch_mode: semantic",
		"keyword":   "type: hierarchical_document\nsource: contracts\ntop_k: 5\nsearch_mode: keyword",
		"exact":     "type: hierarchical_document\nsource: contracts\ntop_k: 5\nsearch_mode: exact",
	}
}

// contracts returns the documents of the example.
func contracts(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob("../../examples/legal/contracts/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no contracts: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files["contracts/"+filepath.Base(path)] = string(data)
	}
	return files
}

func TestAnIndexInMemoryFindsWhatOneOnDiskDoes(t *testing.T) {
	for name, keys := range parityTools() {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, contracts(t))
			memory := d.open(keys + "\ndatabase: {provider: in-memory}")
			sameHits(t, memory, d.open(keys), parityQueries(name)...)
			sameHits(t, memory, d.open(keys), parityQueries(name)...) // that was there already
		})
	}
}
