package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml/ooxmltest"
)

// lease is a document with sections, a definition and a reference.
const lease = `# Lease

## 1. Definitions

"Premises" means the ground floor of Warehouse 7.

## 2. Rent

The rent of the Premises is due monthly. See section 3.1 for its end.

## 3. End

### 3.1 Notice

Either side may end the lease with nine months' notice.

### 3.2 Handing back

The Premises are handed back swept.
`

func leaseFiles() map[string]string {
	return map[string]string{"docs/lease.md": lease, "docs/other.md": "# Shop\n\nThe Premises are open from nine to six.\n"}
}

func TestSectionsAreShownAsThePythonEditionDoes(t *testing.T) {
	tool := newDesk(t, leaseFiles()).open(sections + "\nsearch_mode: exact\ntop_k: 1")
	result := search(t, tool, "section 2")
	want := `Score: 1.000 | Source: docs/lease.md
Location: Lease
Section: h2_lease_2_rent

## 2. Rent

The rent of the Premises is due monthly. See section 3.1 for its end.

Relevant definitions:
  - Premises: "Premises" means the ground floor of Warehouse 7.

Referenced sections:
  - section 3.1: ### 3.1 Notice Either side may end the lease with nine months' notice.`
	if got := result.Text(); got != want {
		t.Errorf("shown\n%s\nwant\n%s", got, want)
	}
	want = "map[section:h2_lease_2_rent]"
	if p := result.Passages[0]; fmt.Sprint(p.Metadata) != want || p.Source != "docs/lease.md" || p.Score != 1 || !strings.HasPrefix(p.Text, "## 2. Rent") {
		t.Errorf("passage %+v", p)
	}
}

func TestSeveralSectionsAreParted(t *testing.T) {
	tool := newDesk(t, map[string]string{"docs/a.md": "A lamp of brass.\n\n# Steel\n\nA lamp of steel.\n"}).open(sections + "\nsearch_mode: keyword")
	got := search(t, tool, "lamp").Text()
	want := "Location: Root\nSection: chunk_0\n\nA lamp of brass.\n---\nScore: "
	if !strings.Contains(got, want) {
		t.Errorf("shown\n%s\nwant in it\n%s", got, want)
	}
	if got := search(t, tool, "kettle").Text(); got != agent.NothingFound {
		t.Errorf("shown %q", got)
	}
}

func TestALongDefinitionIsCut(t *testing.T) {
	files := map[string]string{"docs/a.md": "# Terms\n\n\"Lamp\" means " + strings.Repeat("light ", 40) + ".\n\n# Use\n\nHang the lamp up.\n"}
	hits, err := newDesk(t, files).open(sections).Search(t.Context(), "hang")
	if err != nil || len(hits) == 0 || len(hits[0].Definitions) != 1 || len(hits[0].Definitions[0].Text) < 200 {
		t.Fatalf("%+v, %v", hits, err)
	}
	tool := newDesk(t, files).open(sections)
	_, after, _ := strings.Cut(search(t, tool, "hang").Text(), "  - Lamp: ")
	if line, _, _ := strings.Cut(after, "\n"); len(line) != 100 || !strings.HasSuffix(line, "...") {
		t.Errorf("shown %q", line)
	}
}

// TestDefinitionsAreThoseOfTheDocument holds that a contract's terms say nothing
// of another's, while a glossary is for all.
func TestDefinitionsAreThoseOfTheDocument(t *testing.T) {
	files := leaseFiles()
	definitions := func(d *desk, query, source string) string {
		hits, err := d.open(sections).Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if h.Source == source {
				return fmt.Sprint(h.Definitions)
			}
		}
		t.Fatalf("%s was not found", source)
		return ""
	}
	if got := definitions(newDesk(t, files), "open from nine to six", "docs/other.md"); got != "[]" {
		t.Errorf("definitions of another document: %s", got)
	}
	files["docs/Glossary.md"] = "# Glossary\n\n\"Premises\" means the shop.\n"
	if got := definitions(newDesk(t, files), "open from nine to six", "docs/other.md"); !strings.Contains(got, "means the shop") {
		t.Errorf("definitions of the glossary: %s", got)
	}
	if got := definitions(newDesk(t, files), "rent monthly", "docs/lease.md"); !strings.Contains(got, "Warehouse 7") || strings.Contains(got, "shop") {
		t.Errorf("definitions of the document itself: %s", got)
	}
}

// TestDomainsAreFoundByTheirSections asks for a section of each domain by its
// number.
func TestDomainsAreFoundByTheirSections(t *testing.T) {
	for domain, tt := range map[string]struct{ text, query, want string }{
		"us_legislative": {"TITLE I—GENERAL\n\nSEC. 101. SHORT TITLE\n\nThis may be cited as the Lamp Act.\n\nSEC. 102. FINDINGS\n\nCongress finds much.\n", "section 101", "Lamp Act"},
		"au_legislative": {"Part 1 Preliminary\n\nDivision 1 Opening\n\n1 Name\n\nThis is the Lamp Act.\n\n2 Commencement\n\nIt commences now.\n", "section 2", "commences now"},
		"academic":       {"1. Introduction\n\nLamps are studied.\n\n1.1 Methods\n\nWe lit them.\n\n2. Results\n\nThey shone.\n", "1.1", "We lit them"},
		"technical":      {"Step 1 Unplug\n\nPull the plug.\n\nStep 2 Open\n\nTurn the screw.\n", "step 2", "Turn the screw"},
		"legal_contract": {"Article I Parties\n\nThe parties are two.\n\nArticle II Price\n\nSection 2.1 Amount\n\nIt is ten.\n", "Article II", "Price"},
		"none":           {"# 1 Parties\n\nTwo.\n\n# 2 Price\n\nIt is ten.\n", "section 2", "It is ten"},
	} {
		d := newDesk(t, map[string]string{"docs/a.txt": tt.text})
		result := search(t, d.open(sections+"\ntop_k: 1\ndocument_domain: "+domain), tt.query)
		if !strings.Contains(result.Text(), tt.want) {
			t.Errorf("%s: %q found\n%s", domain, tt.query, result.Text())
		}
	}
}

// TestAHeadingAloneIsNoHit holds that a heading whose text is below is found with
// that text.
func TestAHeadingAloneIsNoHit(t *testing.T) {
	tool := newDesk(t, leaseFiles()).open(sections)
	hits, err := tool.Search(t.Context(), "End")
	if err != nil || len(hits) == 0 {
		t.Fatalf("%v, %v", hits, err)
	}
	for _, h := range hits {
		if strings.TrimSpace(h.Text) == "## 3. End" {
			t.Errorf("found the heading: %+v", h)
		}
	}
	if !strings.HasPrefix(hits[0].Section, "h3_lease_3_end") {
		t.Errorf("found %+v", hits[0])
	}
}

// sameHits fails unless two tools find the same for every query.
func sameHits(t *testing.T, a, b knowledge.Tool, queries ...string) {
	t.Helper()
	for _, query := range queries {
		first, err := a.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		second, err := b.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", first) != fmt.Sprintf("%+v", second) {
			t.Errorf("%q found\n%+v in %s and\n%+v in %s", query, first, a.Stats().Location, second, b.Stats().Location)
		}
		if len(first) == 0 {
			t.Errorf("%q found nothing", query)
		}
	}
}

// TestPlainDocumentsAreFoundByTheirHeadings holds that a vectorstore tool, too,
// answers for a section by its number and for a phrase.
func TestPlainDocumentsAreFoundByTheirHeadings(t *testing.T) {
	tool := newDesk(t, leaseFiles()).open(docs + "\nchunk_size: 20\ntop_k: 1")
	for query, want := range map[string]string{
		"What does section 3.2 say?": "### 3.2 Handing back", "§ 3.1": "### 3.1 Notice", `"open from nine to six"`: "The Premises are open",
	} {
		result := search(t, tool, query)
		if len(result.Passages) != 1 || !strings.Contains(result.Passages[0].Text, want) || result.Passages[0].Score < 0.99 {
			t.Errorf("%s: found %+v", query, result.Passages)
		}
	}
}

// TestPagesGoWithTheirPassages holds that a passage of slides or a PDF tells its
// page, in a document with structure and in a plain one.
func TestPagesGoWithTheirPassages(t *testing.T) {
	deck := ooxmltest.Deck{Slides: []string{
		ooxmltest.Shape("title", "Lamps") + ooxmltest.Shape("body", "A lamp of brass."),
		ooxmltest.Shape("title", "Kettles") + ooxmltest.Shape("body", "A kettle of copper."),
	}}
	d := newDesk(t, map[string]string{"docs/shop.pptx": string(deck.Bytes())})
	for _, keys := range []string{docs + "\nchunk_size: 10", sections} {
		hits, err := d.open(keys).Search(t.Context(), "kettle copper")
		if err != nil || len(hits) == 0 || hits[0].Page != 2 || hits[0].Metadata["page"] != "2" {
			t.Errorf("%s: %+v, %v", keys, hits, err)
		}
	}
}

// A heading without text is no passage; what its line says more than its title
// stays with the first passage under it.
func TestHeadingsWithoutTextAreNoPassages(t *testing.T) {
	files := map[string]string{"docs/a.txt": "ARTICLE IV. PAYMENT\n\nSection 4.1 Fees\n\nThe Client pays a fee.\n\nSection 4.2 Late Fees\n\nOne per cent.\n\nSection 4.3 Reserved\n"}
	tool := newDesk(t, files).open(sections + "\nsearch_mode: keyword\ntop_k: 9\ndocument_domain: legal_contract")
	var got []string
	for _, p := range search(t, tool, "article payment fees reserved").Passages {
		got = append(got, strings.Join(strings.Fields(p.Text), " "))
	}
	slices.Sort(got)
	want := []string{"ARTICLE IV. PAYMENT Section 4.1 Fees The Client pays a fee.", "Section 4.2 Late Fees One per cent.", "Section 4.3 Reserved"}
	if !slices.Equal(got, want) {
		t.Errorf("passages %q\nwant %q", got, want)
	}
}
