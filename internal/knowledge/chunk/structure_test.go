package chunk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
)

// structure cuts a text with everything extracted.
func structure(t testing.TB, text string, opts chunk.StructureOptions) chunk.Document {
	t.Helper()
	if opts.MaxTokens == 0 {
		opts.MaxTokens = 800
	}
	opts.Definitions, opts.References = true, true
	s, err := chunk.NewStructurer(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s.Split(text, nil)
}

// column returns one thing of every chunk.
func column[T any](d chunk.Document, of func(chunk.Chunk) T) []T {
	var out []T
	for _, c := range d.Chunks {
		out = append(out, of(c))
	}
	return out
}

func sectionID(c chunk.Chunk) string { return c.SectionID }
func kind(c chunk.Chunk) chunk.Kind  { return c.Kind }
func chain(c chunk.Chunk) string     { return strings.Join(c.ParentChain, " > ") }
func number(c chunk.Chunk) string    { return c.Number }

func TestStructureFollowsHeadings(t *testing.T) {
	d := structure(t, "Intro text.\n\n# A b!\n\nbody\n\n## C\n\n### D-e f\n\ntext d must do.\n\n# E\n", chunk.StructureOptions{})
	if got, want := column(d, sectionID), []string{"chunk_0", "h1_a_b", "h2_a_b_c", "h3_a_b_c_d_e_f", "h1_e"}; !slices.Equal(got, want) {
		t.Errorf("section ids %q, want %q", got, want)
	}
	if got, want := column(d, kind), []chunk.Kind{"content", "content", "header", "requirement", "header"}; !slices.Equal(got, want) {
		t.Errorf("kinds %q, want %q", got, want)
	}
	if got, want := column(d, chain), []string{"", "", "A b!", "A b! > C", ""}; !slices.Equal(got, want) {
		t.Errorf("chains %q, want %q", got, want)
	}
}

func TestHeadingsThatAreNone(t *testing.T) {
	text := "---\ntitle: x\n---\n# One\n\n```sh\n# a comment\n```\n\n~~~\n## another\n~~~\n\n#no space\n\n| a |\n|---|\n\nUnderlined\n---\n\nlast #\n"
	d := structure(t, text, chunk.StructureOptions{})
	if got, want := column(d, sectionID), []string{"chunk_0", "h1_one", "h2_one_underlined"}; !slices.Equal(got, want) {
		t.Errorf("section ids %q, want %q", got, want)
	}
}

func TestSectionsOfOneNameAreToldApart(t *testing.T) {
	d := structure(t, "# Lamp\n\n## Bulb\n\na\n\n## Bulb\n\nb\n\n# Лампа\n\nc\n", chunk.StructureOptions{})
	if got, want := column(d, sectionID), []string{"h1_lamp", "h2_lamp_bulb", "h2_lamp_bulb_2", "h1_лампа"}; !slices.Equal(got, want) {
		t.Errorf("section ids %q, want %q", got, want)
	}
}

func TestDomainsSplitOnTheirNumbers(t *testing.T) {
	for _, tt := range []struct {
		domain, text string
		ids, chains  []string
		subsections  [][]string
	}{
		{"us_legislative", "TITLE I—GENERAL\nSome text.\nSEC. 101. SHORT TITLE\n(a) IN GENERAL.—This Act\nmay be cited.\n(1) first item\n(A) sub item\n(i) a clause\n",
			[]string{"title_i_general", "section_i_general_101_short_title"}, []string{"", "(I) GENERAL"},
			[][]string{nil, {"subsection_i_general_101_short_title_a_in_general", "paragraph_i_general_101_short_title_1_first_item", "subparagraph_i_general_101_short_title_a_sub_item"}}},
		{"au_legislative", "Part 1 Preliminary\n\nDivision 2—Rules\n\n5 Definitions\n\n(1) In this Act:\n\n(a) one\n(b) two\n(i) roman\n(ii) more\n\n5A Lamps\n\nThey shine.\n",
			[]string{"part_1_preliminary", "division_1_preliminary_2_rules", "section_1_preliminary_2_rules_5_definitions", "section_1_preliminary_2_rules_5a_lamps"},
			[]string{"", "(1) Preliminary", "(1) Preliminary > (2) Rules", "(1) Preliminary > (2) Rules"},
			[][]string{nil, nil, {
				"subsection_1_preliminary_2_rules_5_definitions_1_in_this_act", "paragraph_1_preliminary_2_rules_5_definitions_a_one",
				"paragraph_1_preliminary_2_rules_5_definitions_b_two", "subparagraph_1_preliminary_2_rules_5_definitions_i_roman",
				"subparagraph_1_preliminary_2_rules_5_definitions_ii_more"}, nil}},
		{"academic", "# On Lamps\n\n## Abstract\n\nShort.\n\n## 1. Introduction\n\nWe list:\n\n1. First we look.\n2. Then we see.\n\n1.1 Scope\n\nText.\n\n1.1.1 Detail\n\nMore.\n",
			[]string{"h1_on_lamps", "h3_on_lamps_abstract", "section_on_lamps_1_introduction", "subsection_on_lamps_1_introduction_1_1_scope"},
			[]string{"", "On Lamps", "On Lamps", "On Lamps > 1. Introduction"},
			[][]string{nil, nil, nil, {"subsubsection_on_lamps_1_introduction_1_1_scope_1_1_1_detail"}}},
		{"technical", "Step 1: Unplug\n\nPull it.\n\n1.1 Wait\n\nFor ten minutes.\n\nWarning: hot\n\nNote that it is hot.\n\nStep 2\nOpen the case\n\nDone.\n",
			[]string{"step_1_unplug", "substep_1_unplug_1_1_wait", "step_2_open_the_case"}, []string{"", "(1) Unplug", ""},
			[][]string{nil, {"warning_1_unplug_warning_hot"}, nil}},
		{"legal_contract", "ARTICLE IV. PAYMENT\n\nSection 4.1 Fees.\n\nThe Client pays. Section 4 of the law applies.\n(a) monthly\n(b) yearly\n\n4.2 Late Fees\n\nOne percent.\n",
			[]string{"article_iv_payment", "section_iv_payment_4_1_fees", "section_iv_payment_4_2_late_fees"}, []string{"", "(IV) PAYMENT", "(IV) PAYMENT"},
			[][]string{nil, {"clause_iv_payment_4_1_fees_a_monthly", "clause_iv_payment_4_1_fees_b_yearly"}, nil}},
	} {
		t.Run(tt.domain, func(t *testing.T) {
			d := structure(t, tt.text, chunk.StructureOptions{Domain: tt.domain})
			if got := column(d, sectionID); !slices.Equal(got, tt.ids) {
				t.Errorf("section ids %q\nwant %q", got, tt.ids)
			}
			if got := column(d, chain); !slices.Equal(got, tt.chains) {
				t.Errorf("chains %q\nwant %q", got, tt.chains)
			}
			for i, c := range d.Chunks {
				if i < len(tt.subsections) && !slices.Equal(c.SubsectionIDs, tt.subsections[i]) {
					t.Errorf("subsections of %s: %q\nwant %q", c.SectionID, c.SubsectionIDs, tt.subsections[i])
				}
			}
			requireStructure(t, tt.text, chunk.StructureOptions{Domain: tt.domain, MaxTokens: 800})
		})
	}
}

func TestNumbersDecideWhatASectionIsIn(t *testing.T) {
	const contract = "# Supply\n\n## 4. Payment\n\nText.\n\n### 4.1 Late\n\nText.\n\n### 4.2 Early\n\nText.\n\n## 13. End\n\nText.\n\n### 13.1 Notice\n\nText.\n"
	const chains = "|Supply|Supply > 4. Payment|Supply > 4. Payment|Supply|Supply > 13. End"
	for _, tt := range []struct{ name, domain, text, chains string }{
		{"signs and numbers agree", "legal_contract", contract, chains},
		{"one odd heading", "legal_contract", contract + "\n## 14.2 Extra\n\nText.\n", chains + "|Supply"},
		{"one odd heading without a domain", "none", contract + "\n## 14.2 Extra\n\nText.\n", chains + "|Supply"},
		{"a small contract", "legal_contract", "# S\n\n## 4. Payment\n\n### 4.1 Late\n\nText.\n\n## 14.2 Extra\n\nText.\n", "|S|S > 4. Payment|S"},
		{"deeper than the domain", "technical", "# M\n\n## 1. Set up\n\nText.\n\n### 1.1 Unpack\n\nText.\n\n#### 1.1.1 Box\n\nText.\n\n##### Tape\n\nText.\n\n#### 1.1.2 Foil\n\nText.\n\n### 1.2 Plug\n\nText.\n",
			"|M|M > 1. Set up|M > 1. Set up > 1.1 Unpack|M > 1. Set up > 1.1 Unpack > 1.1.1 Box|M > 1. Set up > 1.1 Unpack|M > 1. Set up"},
		{"signs that are all the same", "none", "## 1 A\n\nText.\n\n## 1.1 B\n\nText.\n\n## 1.1.1 C\n\nText.\n\n## 1.2 D\n\nText.\n\n## 2 E\n\nText.\n", "|1 A|1 A > 1.1 B|1 A|"},
		{"steps inside a numbered section", "none", "## 2. Use\n\nText.\n\n### 1. Open\n\nText.\n\n### 2. Close\n\nText.\n", "|2. Use|2. Use"},
		{"sections of articles numbered on their own", "none", "# Article 4\n\nText.\n\n## 5.1 Fees\n\nText.\n", "|Article 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := structure(t, tt.text, chunk.StructureOptions{Domain: tt.domain})
			if got := strings.Join(column(d, chain), "|"); got != tt.chains {
				t.Errorf("chains %s\nwant   %s", got, tt.chains)
			}
			for i, c := range d.Chunks[1:] {
				if len(c.ParentChain) > len(d.Chunks[i].ParentChain) && c.Level <= d.Chunks[i].Level {
					t.Errorf("%s is in %s, of levels %d and %d", c.Title, d.Chunks[i].Title, c.Level, d.Chunks[i].Level)
				}
			}
		})
	}
}

func TestHeadingsAloneAreHeaders(t *testing.T) {
	d := structure(t, "Article 4 Fees\n\n4.1 Amount\n\nTen euros.\n\n4.2 The client pays late fees.\n\n4.3 Term\n", chunk.StructureOptions{Domain: "legal_contract"})
	if got, want := column(d, kind), []chunk.Kind{"header", "content", "content", "header"}; !slices.Equal(got, want) {
		t.Errorf("kinds %q, want %q", got, want)
	}
}

func TestDepthOfSubsections(t *testing.T) {
	text := "Article 1 Fees\n\nSection 1.1 Amount\n\n(a) monthly\n\n(1) in advance\n"
	for depth, want := range map[int][]string{
		0: {"article_1_fees", "section_1_fees_1_1_amount"},
		1: {"article_1_fees"},
		3: {"article_1_fees", "section_1_fees_1_1_amount", "clause_1_fees_1_1_amount_a_monthly"},
		4: {"article_1_fees", "section_1_fees_1_1_amount", "clause_1_fees_1_1_amount_a_monthly", "subclause_1_fees_1_1_amount_a_monthly_1_in_advance"},
	} {
		d := structure(t, text, chunk.StructureOptions{Domain: "legal_contract", Depth: depth})
		if got := column(d, sectionID); !slices.Equal(got, want) {
			t.Errorf("depth %d: %q, want %q", depth, got, want)
		}
	}
	for domain, want := range map[string]string{
		"legal_contract": "max_subsection_depth must be between 1 and 4 for the given patterns",
		"us_legislative": "max_subsection_depth must be between 1 and 6 for the given patterns",
		"none":           "max_subsection_depth has no effect with document_domain 'none', which numbers nothing",
	} {
		if err := chunk.CheckDepth(domain, 7); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", domain, err, want)
		}
	}
}

func TestLongSectionsAreCutAtTheirParts(t *testing.T) {
	var text strings.Builder
	text.WriteString("## Limits\n\n")
	for _, letter := range "abcdef" {
		text.WriteString("(" + string(letter) + ") " + strings.Repeat("a rule of some words ", 8) + "ends.\n")
	}
	d := structure(t, text.String(), chunk.StructureOptions{Domain: "us_legislative", MaxTokens: 120})
	for i, c := range d.Chunks {
		if i > 0 && !strings.HasPrefix(c.Text, "(") {
			t.Errorf("chunk %d begins inside a subsection: %q", i, c.Text)
		}
		if c.SectionID != "h2_limits" {
			t.Errorf("chunk %d is of section %s", i, c.SectionID)
		}
	}
	if len(d.Chunks) < 2 {
		t.Errorf("%d chunks, want several", len(d.Chunks))
	}
}

func TestDefinitions(t *testing.T) {
	text := "# Terms\n\n## Definitions\n\n\"Services\" means the work in Annex A,\nand nothing else.\n\n“Force Majeure” shall mean an event\nbeyond control.\n\n" +
		"- **Client**: who orders\n- Fee: what is paid\n\n# Glossary\n\n## Lamp\n\nA thing that shines.\n\n# Payment\n\nThe client pays fees for the Services, force majeure apart. \"Invoice\" means a bill.\n"
	d := structure(t, text, chunk.StructureOptions{})
	var terms []string
	for _, def := range d.Definitions {
		terms = append(terms, def.Term+" = "+def.Text)
	}
	want := []string{
		"Services = \"Services\" means the work in Annex A,\nand nothing else.",
		"Force Majeure = “Force Majeure” shall mean an event\nbeyond control.",
		"Client = - **Client**: who orders", "Fee = - Fee: what is paid", "Lamp = A thing that shines.",
		"Invoice = The client pays fees for the Services, force majeure apart. \"Invoice\" means a bill.",
	}
	if !slices.Equal(terms, want) {
		t.Errorf("got  %q\nwant %q", terms, want)
	}
	glossary := chunk.NewGlossary(d.Definitions)
	var used []string
	for _, i := range glossary.In(d.Chunks[len(d.Chunks)-1].Text) {
		used = append(used, d.Definitions[i].Term)
	}
	if want := []string{"Client", "Fee", "Services", "Force Majeure", "Invoice"}; !slices.Equal(used, want) {
		t.Errorf("terms used %q, want %q", used, want)
	}
	if got := d.Chunks[1]; got.Kind != chunk.KindDefinition || got.Term != "Services" {
		t.Errorf("the section of definitions is %s of %q", got.Kind, got.Term)
	}
}

func TestReferences(t *testing.T) {
	text := "# Section 4.1 Fees\n\nAs Section 4.2(b) and §  9 say; see \"Late Fees\" and [the end](#end). Under Section 4.2(b) again.\n\n# 4.2 Late Fees\n\nOne percent, Article IV.\n\n# the end\n\nEnd.\n"
	d := structure(t, text, chunk.StructureOptions{})
	want := []chunk.Reference{
		{Text: "Section 4.2(b)", Number: "4.2(b)", Target: 1}, {Text: "§ 9", Number: "9", Target: -1},
		{Text: "Late Fees", Target: -1}, {Text: "the end", Target: 2},
	}
	if got := d.Chunks[0].References; !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, want := column(d, number), []string{"4.1", "4.2", ""}; !slices.Equal(got, want) {
		t.Errorf("numbers %q, want %q", got, want)
	}
}

func TestPages(t *testing.T) {
	text := "# A\n\none\n\ntwo\n\n# B\n\nthree\n"
	s, err := chunk.NewStructurer(chunk.StructureOptions{MaxTokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	d := s.Split(text, []int{0, strings.Index(text, "two"), strings.Index(text, "# B")})
	if a, b := d.Chunks[0], d.Chunks[1]; a.Page != 1 || a.LastPage != 2 || b.Page != 3 || b.LastPage != 3 {
		t.Errorf("pages %d-%d and %d-%d, want 1-2 and 3-3", a.Page, a.LastPage, b.Page, b.LastPage)
	}
}

func TestEvenChunksKnowTheirSection(t *testing.T) {
	text := "# A\n\n" + strings.Repeat("word of a ", 60) + "\n\n## B\n\n" + strings.Repeat("word of b ", 60) + "\n"
	d := structure(t, text, chunk.StructureOptions{Even: true, MaxTokens: 250})
	if got, want := column(d, sectionID), []string{"h1_a", "h2_a_b"}; !slices.Equal(got, want) {
		t.Errorf("sections %q, want %q", got, want)
	}
	d = structure(t, text, chunk.StructureOptions{Even: true, MaxTokens: 1000})
	if len(d.Chunks) != 1 || !slices.Equal(d.Chunks[0].SubsectionIDs, []string{"h2_a_b"}) {
		t.Errorf("a text that fits: %+v", d.Chunks)
	}
}

func TestOverlapStaysInItsSection(t *testing.T) {
	text := "# A\n\n" + strings.Repeat("Alpha beta gamma delta. ", 20) + "\n\n# B\n\nEnd.\n"
	d := structure(t, text, chunk.StructureOptions{MaxTokens: 60, Overlap: 8})
	for i, c := range d.Chunks {
		own := text[c.Start:c.End]
		overlap := strings.TrimSuffix(c.Text, own)
		if want := i > 0 && c.Title == "A"; (overlap != "") != want {
			t.Errorf("chunk %d of %s repeats %q", i, c.Title, overlap)
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	for _, opts := range []chunk.StructureOptions{
		{MaxTokens: 1}, {MaxTokens: 100, Overlap: 100}, {MaxTokens: 100, Overlap: -1}, {MaxTokens: 100, Domain: "academic", Depth: 5},
	} {
		if _, err := chunk.NewStructurer(opts); err == nil {
			t.Errorf("%+v: no error", opts)
		}
	}
}

// requireStructure checks what holds for every text.
func requireStructure(t testing.TB, text string, opts chunk.StructureOptions) {
	t.Helper()
	s, err := chunk.NewStructurer(opts)
	if err != nil {
		t.Fatal(err)
	}
	d := s.Split(text, nil)
	var tokens chunk.Tokens
	end := 0
	for i, c := range d.Chunks {
		if c.Ordinal != i || c.Start != end || c.End <= c.Start {
			t.Fatalf("chunk %d (%d) covers [%d,%d), the one before ended at %d", i, c.Ordinal, c.Start, c.End, end)
		}
		end = c.End
		if n := tokens.Count(strings.TrimSpace(c.Text)); n > opts.MaxTokens {
			t.Fatalf("chunk %d has %d tokens, limit %d: %q", i, n, opts.MaxTokens, c.Text)
		}
		if strings.TrimSpace(c.Text) == "" || c.SectionID == "" || c.Kind == "" {
			t.Fatalf("chunk %d is without words, section or kind: %+v", i, c)
		}
		if !strings.Contains(c.Text, strings.TrimSpace(text[c.Start:c.End])) {
			t.Fatalf("chunk %d lacks some of its own text", i)
		}
	}
	if strings.TrimSpace(text[end:]) != "" {
		t.Fatalf("the text from %d on is in no chunk: %q", end, text[end:])
	}
	again := s.Split(text, nil)
	if !slices.Equal(column(d, sectionID), column(again, sectionID)) {
		t.Fatal("section ids differ from one time to the next")
	}
	for _, def := range d.Definitions {
		if def.Ordinal < 0 || def.Ordinal >= len(d.Chunks) || def.Key() == "" {
			t.Fatalf("definition %+v of %d chunks", def, len(d.Chunks))
		}
	}
}

func TestStructureLosesNoText(t *testing.T) {
	manual := "before all\n\n# Manual\n\nIntro. With two sentences!\n\n1. Introduction\n\n(a) one\n(b) two\n\n## Install\n\n```sh\nmake\n```\n\n" +
		strings.Repeat("that goes on and on, ", 80) + "\n\n\n\n### Empty\n\n| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 90) + "\nLast line without end"
	for _, domain := range []string{"none", "us_legislative", "au_legislative", "academic", "technical", "legal_contract"} {
		for _, text := range []string{"", "\n\n \n", "\n\n# a", manual, strings.Repeat("词", 999), strings.Repeat("# h\n", 300), strings.Repeat("x", 5000), strings.Repeat(" ", 5000) + "a", manual + "\xff\xfe" + manual} {
			for _, opts := range []chunk.StructureOptions{{MaxTokens: 8}, {MaxTokens: 100, Overlap: 20}, {MaxTokens: 100, Even: true, Overlap: 10}, {MaxTokens: 800}} {
				opts.Domain, opts.Definitions, opts.References = domain, true, true
				requireStructure(t, text, opts)
			}
		}
	}
}

func FuzzStructure(f *testing.F) {
	domains := []string{"none", "us_legislative", "au_legislative", "academic", "technical", "legal_contract"}
	f.Add("TITLE I—X\nSEC. 1. Y\n(a) z\n(i) q\n\"T\" means t, see Section 1(a).\n", 10, 2, 1, false)
	f.Add("# A\n\n```\nx\n```\n\n- **T**: u\n\nB\n===\n", 20, 0, 0, true)
	f.Fuzz(func(t *testing.T, text string, size, overlap, domain int, even bool) {
		if size < 8 || size > 1000 || overlap < 0 || overlap > size-8 || domain < 0 || domain >= len(domains) || len(text) > 1<<16 {
			return
		}
		requireStructure(t, text, chunk.StructureOptions{
			MaxTokens: size, Overlap: overlap, Even: even, Domain: domains[domain], Definitions: true, References: true,
		})
	})
}

func BenchmarkStructure(b *testing.B) {
	text := strings.Repeat("## 4.2 Section\n\n"+strings.Repeat("The Client shall pay a sum that says little, see Section 3(a). ", 12)+"\n\n", 300)
	s, err := chunk.NewStructurer(chunk.StructureOptions{MaxTokens: 800, Domain: "legal_contract", Definitions: true, References: true})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Split(text, nil)
	}
}

// A line that never ends must take time in proportion to its length.
func TestLongLines(t *testing.T) {
	const most, some, counted = 50 << 20, 6 << 20, 1 << 20
	for name, line := range map[string]string{
		"words": strings.Repeat("lamp ", most/5), "no blanks": strings.Repeat("lamp", some/4), "wide": strings.Repeat("灯", some/3),
	} {
		n := 0
		for _, p := range chunk.Split(line, chunk.Options{Size: chunk.DefaultSize}) {
			n += p.End - p.Start
		}
		if n != len(line) {
			t.Errorf("%s: %d of %d bytes", name, n, len(line))
		}
		part := line[:counted/12*12] // real tokens take longer to count
		requireStructure(t, part, chunk.StructureOptions{MaxTokens: 800})
	}
}
