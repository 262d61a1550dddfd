package offline

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// unit is a piece of a passage that can be answered with.
type unit struct {
	// text is what is shown: whole, on one line, without markup.
	text string
	// question is what the unit answers, and context what else it stands under:
	// headings, the line that leads a list in, the name of the file. They are
	// compared and never shown.
	question string
	context  []string
	// aside says that the unit is the fields beside a text: they describe it
	// more than they answer, and count as context does.
	aside bool
	// leans says that the unit begins with a pronoun for something in the
	// sentence before it.
	leans   bool
	source  string
	passage int // index of the passage
	place   int // in the passage
}

// units cuts passages into units, in their order.
func units(passages []agent.Passage) []unit {
	var all []unit
	for i, p := range passages {
		c := &cutter{lineByLine: isTable(p.Source)}
		if name := fileWords(p.Source); name != "" {
			c.name = []string{name}
		}
		if c.lineByLine {
			c.fields(p.Text)
		} else {
			c.markdown(p.Text)
		}
		c.endTitle()
		c.metadata(p)
		for place, u := range c.units {
			u.source, u.passage, u.place = p.Source, i, place
			all = append(all, u)
		}
	}
	return all
}

// isTable reports whether the passages of a file are records, whose lines are
// fields and not wrapped text.
func isTable(source string) bool {
	switch strings.ToLower(path.Ext(source)) {
	case ".csv", ".tsv", ".json", ".jsonl":
		return true
	}
	return false
}

// fileWords returns what the name of a file says.
func fileWords(source string) string {
	base := path.Base(strings.TrimRight(source, "/"))
	return strings.TrimSuffix(base, path.Ext(base))
}

// cutter cuts one passage.
type cutter struct {
	units      []unit
	lineByLine bool
	name       []string  // what the file's name says
	headings   []heading // that the line under way stands below
	question   string    // that the text under way answers
	leadIn     string    // the line before a list that introduces it
	title      string    // a line that looks like a title, while nothing stands below it
	titleAsked string    // the question that line would answer if it were none
}

type heading struct {
	level int
	text  string
}

// titleLevel is the level of a line that is a heading by its looks: it stands
// below every real heading, and the next such line takes its place.
const titleLevel = 7

// add adds a unit. Questions become context of what follows.
func (c *cutter) add(text string, more ...string) {
	if text == "" {
		return
	}
	c.title = ""
	if strings.HasSuffix(text, "?") {
		c.question = text
		return
	}
	context := slices.Clone(c.name)
	for _, h := range c.headings {
		context = append(context, h.text)
	}
	c.units = append(c.units, unit{text: text, question: c.question, context: append(context, more...)})
}

// under enters a heading.
func (c *cutter) under(level int, text string) {
	c.endTitle()
	c.titleAsked = c.question
	c.question, c.leadIn = "", ""
	for len(c.headings) > 0 && c.headings[len(c.headings)-1].level >= level {
		c.headings = c.headings[:len(c.headings)-1]
	}
	switch {
	case strings.HasSuffix(text, "?"):
		c.question = text
	case text != "":
		c.headings = append(c.headings, heading{level, text})
	}
}

// endTitle makes a unit of a title that nothing stood below: it was none.
func (c *cutter) endTitle() {
	if c.title == "" {
		return
	}
	text := c.title
	c.headings = c.headings[:len(c.headings)-1]
	c.question = c.titleAsked
	c.add(finished(text))
}

// metadata adds what the fields of a passage say that its text does not.
func (c *cutter) metadata(p agent.Passage) {
	var prose, short []pair
	for _, key := range slices.Sorted(maps.Keys(p.Metadata)) {
		value := strings.TrimSpace(p.Metadata[key])
		switch {
		case value == "" || strings.Contains(p.Text, value):
		case isProse(value):
			prose = append(prose, pair{key, value})
		default:
			short = append(short, pair{key, value})
		}
	}
	if len(prose) > 0 {
		c.record(prose, firstLine(p.Text))
	}
	if len(short) > 0 {
		c.units = append(c.units, unit{text: shortened(finished(joinPairs(short))), aside: true})
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return plain(line)
}
