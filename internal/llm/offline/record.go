package offline

import (
	"slices"
	"strings"
)

// pair is a field of a record.
type pair struct{ key, value string }

// fields cuts the text of a table's passage: blocks of lines "key: value" are
// records, and everything else is text.
func (c *cutter) fields(text string) {
	for _, block := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if record := readRecord(block); record != nil {
			c.record(record, "")
			continue
		}
		c.markdown(block)
	}
}

// readRecord reads a block of lines "key: value". A value may go on over lines
// that have no key. It returns nil for a block that begins otherwise or has
// but one field: text may hold a colon too.
func readRecord(block string) []pair {
	var record []pair
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, ": ")
		switch {
		case line == "":
		case ok && isKey(key):
			record = append(record, pair{key[strings.LastIndexByte(key, '.')+1:], strings.TrimSpace(value)})
		case len(record) == 0:
			return nil
		default:
			record[len(record)-1].value += " " + line
		}
	}
	if len(record) < 2 {
		return nil
	}
	return record
}

// isKey reports whether what stands before a colon may be the name of a field:
// a dotted path, or up to four words without a mark that only sentences have.
func isKey(s string) bool {
	n := len(strings.Fields(s))
	return n == 1 || n > 1 && n <= 4 && !strings.ContainsAny(s, `.!?,;"(`)
}

// record makes units of a record: each sentence of a field that is prose, with
// the rest of the record as context, and one of all other fields together,
// which speaks for itself.
func (c *cutter) record(record []pair, more string) {
	c.question = ""
	var names, prose, short []pair
	for _, p := range record {
		switch {
		case strings.HasSuffix(p.value, "?"):
			c.question = p.value
		case isName(p.key):
			names = append(names, p)
		case isProse(p.value):
			prose = append(prose, p)
		default:
			short = append(short, p)
		}
	}
	context := []string{more}
	for _, p := range slices.Concat(names, short) {
		context = append(context, p.value)
	}
	for _, p := range prose {
		for _, s := range sentences(plain(p.value)) {
			c.add(shortened(finished(s)), append(slices.Clone(context), spaced(p.key))...)
		}
	}
	if len(short) > 0 || len(names) > 0 && len(prose) == 0 {
		text := shortened(finished(joinPairs(slices.Concat(names, short))))
		c.units = append(c.units, unit{text: text, question: c.question})
	}
	c.question = ""
}

// isName reports whether a field of that name says what its record is about.
func isName(key string) bool {
	switch strings.ToLower(key) {
	case "question", "q", "title", "heading", "subject", "topic", "name":
		return true
	}
	return false
}

// isProse reports whether a value is a text of its own, not a name or number.
func isProse(value string) bool {
	const least = 5 // words
	return len(strings.Fields(value)) >= least
}

// joinPairs writes fields as a person does: "Plan: Pro, price: 29".
func joinPairs(record []pair) string {
	var b strings.Builder
	for i, p := range record {
		if i > 0 {
			b.WriteString(", ")
		}
		key := spaced(p.key)
		if i == 0 {
			key = capitalised(key)
		}
		if key != "" {
			b.WriteString(key + ": ")
		}
		b.WriteString(plain(p.value))
	}
	return b.String()
}

// spaced returns a key as words: order_status and order-status are order status.
func spaced(key string) string {
	return plain(strings.NewReplacer("_", " ", "-", " ").Replace(key))
}
