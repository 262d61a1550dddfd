package offline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/offline"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

func searchTool(name, schema string) agent.Definition {
	return agent.Definition{Name: name, Schema: json.RawMessage(schema), Retrieval: true}
}

const oneQuery = `{"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}`

func TestSearchesFirst(t *testing.T) {
	books, films := searchTool("books_search", oneQuery), searchTool("films_search",
		`{"type": "object", "properties": {"text": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["text"]}`)
	for _, tt := range []struct {
		name  string
		users []string
		tools []agent.Definition
		want  string // the calls, or the text
	}{
		{"every search tool at once", []string{"Who wrote the\n first novel?"}, []agent.Definition{books, {Name: "add"}, films},
			`books_search {"query":"Who wrote the first novel?"} films_search {"text":"Who wrote the first novel?"}`},
		{"the turn before helps a short one", []string{"What do cabins to Norway cost in winter?", "And in summer?"}, []agent.Definition{books},
			`books_search {"query":"What do cabins to Norway cost in winter? And in summer?"}`},
		{"a full question stands alone", []string{"What do cabins cost?", "Which papers does my old dog need abroad?"}, []agent.Definition{books},
			`books_search {"query":"Which papers does my old dog need abroad?"}`},
		{"a tool that wants more is passed over", []string{"What about novels?"},
			[]agent.Definition{books, searchTool("two", `{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}`),
				searchTool("number", `{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}`), searchTool("broken", `{"type": 1}`)},
			`books_search {"query":"What about novels?"}`},
		{"nothing to search", []string{"Hello you"}, []agent.Definition{{Name: "add"}}, offline.NothingToSearch + `"Hello you"`},
		{"an empty message", []string{" \n"}, []agent.Definition{books}, offline.NothingSaid},
		{"no message", nil, []agent.Definition{books}, offline.NothingSaid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := offline.Respond(offline.Input{Users: tt.users, Tools: tt.tools})
			got := []string{}
			for _, c := range out.Calls {
				got = append(got, c.Name+" "+string(c.Args))
			}
			if out.Text != "" {
				got = append(got, out.Text)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestSearchesThatFoundNothing(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   offline.Input
		want string
	}{
		{"no passages", offline.Input{Users: []string{"lamps?"}, Searched: true}, offline.NothingFound},
		{"passages about something else", offline.Input{Users: []string{"lamps?"}, Searched: true,
			Passages: []agent.Passage{{Text: "We sell chairs.", Source: "a.md"}}}, offline.NothingFound},
		{"passages without a word", offline.Input{Users: []string{"lamps?"}, Searched: true,
			Passages: []agent.Passage{{Text: "---\n***\n", Source: "a.md"}, {}}}, offline.NothingFound},
		{"all failed", offline.Input{Users: []string{"lamps?"}, Searched: true, Failures: []string{"Error: the index is\ngone"}},
			"I could not search: the index is gone"},
		{"one failed", offline.Input{Users: []string{"chairs?"}, Searched: true, Failures: []string{"Error: x"},
			Passages: []agent.Passage{{Text: "We sell chairs.", Source: "a.md"}}}, "We sell chairs. [a.md]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := offline.Respond(tt.in).Text; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestReadsWell asks one question of one passage.
func TestReadsWell(t *testing.T) {
	for _, tt := range []struct{ name, source, text, ask, want string }{
		{"wrapped text", "a.txt", "The harbour light is green on the left side and red\non the right side.\n", "colour of the harbour light",
			"The harbour light is green on the left side and red on the right side."},
		{"abbreviations", "a.md", "Mr. J. Smith repairs clocks, e.g. those of approx. 1900. He is away.", "who repairs clocks",
			"Mr. J. Smith repairs clocks, e.g. those of approx. 1900."},
		{"numbers", "a.md", "A disc of 3.5 inches costs 1.20 euros. Bags are free.", "what does a disc cost",
			"A disc of 3.5 inches costs 1.20 euros."},
		{"quotations", "a.md", `The sign says "Mind the step!" Nobody reads the sign.`, "step", `The sign says "Mind the step!"`},
		{"emphasis, code and links", "a.md", "Use the **blue** key, *not* the `red` one; see [the __manual__](https://example.com/m) and ![photo](p.png).", "key",
			"Use the blue key, not the red one; see the manual and ."},
		{"stars and underscores that mean themselves", "a.md", "The area is 3*4 metres and the key is order_id_2.", "area of the key",
			"The area is 3*4 metres and the key is order_id_2."},
		{"entities and tags", "a.md", "Smith &amp; Sons<br>sell <b>rope</b>, write to <rope@example.com>.", "rope",
			"Smith & Sons sell rope, write to rope@example.com."},
		{"short words stay with what follows", "a.md", "Is rope sold? Yes. By the metre.", "rope sold", "Yes. By the metre."},
		{"a list and its lead-in", "a.md", "To moor a boat you need:\n\n- two ropes\n- a **fender**;\n* patience.\n\nThat is all.", "what do I need to moor a boat",
			"To moor a boat you need: two ropes; a fender; patience."},
		{"numbered steps under a heading", "a.md", "## Mooring a boat\n\n1. Slow down.\n2. Throw the rope.\n   Then wait.\n3. Tie it.\n", "mooring a boat",
			"Mooring a boat: 1) Slow down; 2) Throw the rope. Then wait; 3) Tie it."},
		{"a long list is cut", "a.md", "Rules of the harbour:\n\n- " + strings.Repeat("Keep the speed low and look out for swimmers. ", 3) + "\n- " + strings.Repeat("Dogs stay on a lead at all times. ", 4) + "\n- swimming near ferries is forbidden\n- " + strings.Repeat("x", 90), "swimming near ferries",
			"Swimming near ferries is forbidden."},
		{"a table", "a.md", "| Boat | Length |\n|---|---:|\n| *Gull* | 7 m |\n| Tern | 9 m |\n", "how long is the tern",
			"Boat: Tern, Length: 9 m."},
		{"a table without a header", "a.md", "| | |\n|---|---|\n| Draught | 2 m |\n| Beam | 4 m |\n", "what is the beam", "Beam: 4 m."},
		{"a heading is context", "a.md", "# Fuel\n\nThe pump is open until eight.\n\n# Water\n\nThe tap is open until ten.\n", "When is the water open?",
			"The tap is open until ten."},
		{"an underlined heading", "a.txt", "Fuel\n====\n\nThe pump is open until eight.\n\nWater\n-----\n\nThe tap is open until ten.\n", "When is the water open?",
			"The tap is open until ten."},
		{"a title by its looks", "a.txt", "FUEL\n\nThe pump is open until eight.\n\nWATER\n\nThe tap is open until ten.\n", "When is the water open?",
			"The tap is open until ten."},
		{"a title that is the answer", "faq.csv", "How deep is the harbour?\nFour metres", "how deep is the harbour", "Four metres."},
		{"frontmatter is not said", "a.md", "---\ntitle: The harbour\ndepth: secret\n---\nThe harbour is four metres deep.", "how deep is the harbour", "The harbour is four metres deep."},
		{"questions and answers", "a.md", "Q: How deep is the harbour?\nA: It is four metres deep at low water, and six at high water.\n\nQ: Who owns it?\nA: The town.\n", "how deep is the harbour",
			"It is four metres deep at low water, and six at high water."},
		{"other links", "a.md", "The [key][1] hangs there[^2], see <https://example.com/k?a=1> or [nothing\\].", "key",
			"The key hangs there, see https://example.com/k?a=1 or [nothing]."},
		{"marks that mean themselves", "a.md", "A & B < C, 5 > 4: keys, ~2 m [sic] a * b \\n", "keys",
			"A & B < C, 5 > 4: keys, ~2 m [sic] a * b \\n."},
		{"tasks", "a.md", "- [ ] buy keys\n- [x] paint iPad covers\n", "keys", "Buy keys."},
		{"names with a capital inside", "a.md", "- iPad covers are blue\n- keys are red\n", "iPad covers", "iPad covers are blue."},
		{"rules and quotes", "a.md", "***\n> The harbour is closed in storms.\n\n---\n", "harbour", "The harbour is closed in storms."},
		{"records of a file", "boats.json", "name: Gull\nlength: 7 m\n\nname: Tern\nlength: 9 m\nnote: The Tern was built in 1931 and restored twice.\n", "length of the tern",
			"Name: Tern, length: 9 m."},
		{"a record's prose", "boats.json", "name: Gull\nlength: 7 m\n\nname: Tern\nlength: 9 m\nnote: The Tern was built in 1931 and restored twice.\n", "when was the tern built",
			"The Tern was built in 1931 and restored twice."},
		{"a path is its last key", "boats.json", "fleet.boats.name: Tern\nfleet.boats.max_speed: 9 kn\n", "speed of tern", "Name: Tern, max speed: 9 kn."},
		{"German", "a.md", "Der Hafen ist, z.B. bei Sturm, geschlossen. Die Kasse öffnet um acht Uhr.", "Wann öffnet die Kasse?",
			"Die Kasse öffnet um acht Uhr."},
		{"Japanese", "a.md", "港は毎日開いています。駐車場は無料です。", "駐車場は無料ですか", "駐車場は無料です。"},
		{"a text without an end", "a.md", "rope " + strings.Repeat("and more ", 100), "rope", "rope " + strings.TrimSpace(strings.Repeat("and more ", 66)) + "…"},
		{"code", "a.md", "Start it so:\n\n```sh\nengine --start slow\n```\n", "how do I start the engine", "engine --start slow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := offline.Respond(offline.Input{Users: []string{tt.ask}, Searched: true,
				Passages: []agent.Passage{{Text: tt.text, Source: tt.source}}}).Text
			if want := tt.want + " [" + tt.source + "]"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestSaysNothingTwice(t *testing.T) {
	got := offline.Respond(offline.Input{Users: []string{"How long is the warranty on ropes?"}, Searched: true, Passages: []agent.Passage{
		{Text: "The warranty on ropes is two years.", Source: "a.md"},
		{Text: "Ropes have a warranty: the warranty on ropes is two years.", Source: "b.md"},
		{Text: "The warranty on ropes is void after a fire.", Source: "c.md"},
	}}).Text
	if want := "The warranty on ropes is two years. [a.md]\nThe warranty on ropes is void after a fire. [c.md]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFieldsBesideAText(t *testing.T) {
	passages := []agent.Passage{
		{Text: "Aurora desk lamp with warm light", Source: "lamps.csv", Metadata: map[string]string{"price": "49", "care": "Wipe it with a dry cloth, never with water."}},
		{Text: "Borealis floor lamp", Source: "lamps.csv", Metadata: map[string]string{"price": "99"}},
	}
	for _, tt := range []struct{ ask, want string }{
		{"How do I wipe the aurora lamp?", "Aurora desk lamp with warm light. [lamps.csv]\nWipe it with a dry cloth, never with water. [lamps.csv]"},
		{"aurora", "Aurora desk lamp with warm light. [lamps.csv]"},
	} {
		got := offline.Respond(offline.Input{Users: []string{tt.ask}, Searched: true, Passages: passages}).Text
		if got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.ask, got, tt.want)
		}
	}
}

func TestTheSameInputGivesTheSameOutput(t *testing.T) {
	c := loadCorpus(t, "ferry")
	for _, q := range c.Questions {
		in := offline.Input{Users: q.Ask, Searched: true, Passages: c.passages}
		first := offline.Respond(in)
		for range 5 {
			if again := offline.Respond(in); again.Text != first.Text {
				t.Fatalf("%s\nfirst %s\nthen  %s", q.Ask, first.Text, again.Text)
			}
		}
	}
}

func TestFollowsAResponseFormat(t *testing.T) {
	in := offline.Input{
		Users: []string{"How deep is the harbour?"}, Searched: true,
		Passages: []agent.Passage{{Text: "The harbour is four metres deep.", Source: "harbour.md"}},
	}
	const answer = `"The harbour is four metres deep. [harbour.md]"`
	for _, tt := range []struct{ name, schema, want string }{
		{"answer and sources", `{"type": "object", "properties": {"answer": {"type": "string"}, "sources": {"type": "array", "items": {"type": "string"}}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["answer"], "additionalProperties": false}`,
			`{"answer":` + answer + `,"confidence":1,"sources":["harbour.md"]}`},
		{"a string", `{"type": "string"}`, answer},
		{"anything", `{}`, answer},
		{"a short string", `{"type": "string", "maxLength": 16}`, `"The harbour is"`},
		{"a long string", `{"type": "object", "properties": {"code": {"type": "string", "minLength": 9}}}`, `{"code":"unknown.."}`},
		{"a list of facts", `{"type": "object", "properties": {"key_points": {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true}}}`,
			`{"key_points":["The harbour is four metres deep.","unknown 2"]}`},
		{"a choice by the question", `{"enum": ["weather", "harbour_depth", "fuel"]}`, `"harbour_depth"`},
		{"a choice without a clue", `{"type": "object", "properties": {"mood": {"enum": ["sunny", "rainy"]}}}`, `{"mood":"sunny"}`},
		{"constants and nulls", `{"type": "object", "properties": {"v": {"const": 2}, "n": {"type": "null"}, "m": {"type": ["null", "integer"]}}}`, `{"m":0,"n":null,"v":2}`},
		{"numbers within bounds", `{"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "integer", "exclusiveMaximum": -2}, "c": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "d": {"type": "integer", "minimum": 11, "multipleOf": 5}}}`,
			`{"a":3,"b":-3,"c":0.5,"d":15}`},
		{"formats", `{"type": "object", "properties": {"on": {"type": "string", "format": "date"}, "mail": {"type": "string", "format": "email"}}}`, `{"mail":"nobody@example.com","on":"2000-01-01"}`},
		{"a pattern", `{"type": "object", "properties": {"id": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"}, "s": {"type": "string", "pattern": "^a*(b|c)+$", "minLength": 4}}}`, `{"id":"AA-000","s":"aabb"}`},
		{"references", `{"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"text": {"$ref": "#/$defs/b"}}}, "b": {"type": "string"}}}`, `{"text":` + answer + `}`},
		{"all of", `{"allOf": [{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}, {"properties": {"n": {"type": "integer", "minimum": 1}, "text": {"maxLength": 3}}}]}`, `{"n":1,"text":"The"}`},
		{"any of", `{"type": "object", "properties": {"x": {"anyOf": [{"type": "null"}, {"type": "string"}]}}}`, `{"x":null}`},
		{"one of, the second fits", `{"oneOf": [{"type": "string", "maxLength": 0, "minLength": 1}, {"type": "boolean"}]}`, `false`},
		{"a tree comes to an end", `{"type": "object", "properties": {"text": {"type": "string"}, "child": {"$ref": "#"}}, "required": ["text"]}`,
			`{"child":{"child":{"child":{"child":{"text":` + answer + `},"text":` + answer + `},"text":` + answer + `},"text":` + answer + `},"text":` + answer + `}`},
		{"required without properties", `{"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}}`, `{"a":0}`},
		{"a number of fields", `{"type": "object", "minProperties": 2, "additionalProperties": {"type": "boolean"}}`, `{"field1":false,"field2":false}`},
		{"a pair", `{"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}`, `[` + answer + `,0]`},
		{"bounds of all of", `{"type": "object", "properties": {"n": {"allOf": [{"type": "number", "minimum": 2, "maximum": 9}, {"type": "integer", "minimum": 4, "maximum": 5}]}, "text": {"allOf": [{"type": "string", "minLength": 1, "maxLength": 9}, {"minLength": 2, "maxLength": 5}]}, "l": {"allOf": [{"type": "array", "minItems": 1}, {"minItems": 2, "items": {"type": "null"}}]}}}`,
			`{"l":[null,null],"n":4,"text":"The"}`},
		{"a choice of both", `{"allOf": [{"enum": ["a", "b", "c"]}, {"enum": ["b", "c"]}]}`, `"b"`},
		{"types by their keywords", `{"type": "object", "properties": {"o": {"properties": {}}, "l": {"items": {"type": "integer"}}, "n": {"maximum": -1}}}`, `{"l":[],"n":-1,"o":{}}`},
		{"nothing twice", `{"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer", "multipleOf": 5}, "minItems": 2, "uniqueItems": true}, "b": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": true}, "e": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 2, "uniqueItems": true}}}`,
			`{"b":[false,true],"e":["x","y"],"n":[0,5]}`},
		{"a list that must hold something", `{"type": "array", "contains": {"const": 7}}`, `[7]`},
		{"the question and its source", `{"type": "object", "properties": {"question": {"type": "string"}, "source": {"type": "string"}}}`, `{"question":"How deep is the harbour?","source":"harbour.md"}`},
		{"all formats", `{"type": "object", "properties": {"a": {"format": "time"}, "b": {"format": "date-time"}, "c": {"format": "duration"}, "d": {"format": "uri"}, "e": {"format": "hostname"}, "f": {"format": "ipv4"}, "g": {"format": "ipv6"}, "h": {"format": "uuid"}}}`,
			`{"a":"00:00:00Z","b":"2000-01-01T00:00:00Z","c":"PT0S","d":"https://example.com/","e":"example.com","f":"192.0.2.1","g":"2001:db8::1","h":"00000000-0000-4000-8000-000000000000"}`},
		{"patterns", `{"type": "object", "properties": {"a": {"pattern": "^(x|y)?z.$"}, "b": {"pattern": "^\\W{2}$"}, "c": {"pattern": "h"}}}`, `{"a":"za","b":"--","c":"h"}`},
		{"flags", `{"type": "object", "properties": {"found": {"type": "boolean"}, "urgent": {"type": "boolean"}}}`, `{"found":true,"urgent":false}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := in
			in.Schema = json.RawMessage(tt.schema)
			got := offline.Respond(in).Text
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			s, err := schema.Compile(in.Schema)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check([]byte(got)); err != nil {
				t.Errorf("the answer does not follow the schema: %v", err)
			}
		})
	}
}

func TestSaysThatAResponseFormatCannotBeFollowed(t *testing.T) {
	for _, tt := range []struct{ name, schema, want string }{
		{"nothing fits", `{"type": "string", "minLength": 5, "maxLength": 3}`, "characters"},
		{"without end", `{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}`, "without end"},
		{"no schema", `{"type": 3}`, "type"},
		{"false", `false`, "not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := offline.Respond(offline.Input{Users: []string{"x"}, Schema: json.RawMessage(tt.schema)}).Text
			if !strings.HasPrefix(got, "The offline model could not build an answer") || !strings.Contains(got, tt.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func FuzzRespond(f *testing.F) {
	f.Add("How deep is the harbour?", "before", "# Harbour\n\nIt is **four** metres deep.\n\n1. a\n2. b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "a.md", `{"type": "object", "properties": {"answer": {"type": "string", "pattern": "^(a|b*)+$"}}}`)
	f.Add("a", "", "a: b\nc: d\n\n\"x\": [1, 2", "b.json", `{"anyOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"type": "array", "minItems": 3, "uniqueItems": true}}}`)
	f.Add("港", "", "```\n<!-- -->\n&amp\\", "c", `{"type": "object", "minProperties": 100000}`)
	f.Add("x", "y", "- a\n\n  - b\n---\n--- ---\n?\n:\n|", "", `{"multipleOf": 1e-300, "minimum": 1e300}`)
	f.Fuzz(func(t *testing.T, now, before, text, source, format string) {
		in := offline.Input{Users: []string{before, now}, Searched: true,
			Passages: []agent.Passage{{Text: text, Source: source, Metadata: map[string]string{"k": text}}}}
		out := offline.Respond(in)
		if out.Text == "" || len(out.Calls) > 0 {
			t.Errorf("text %q, calls %v", out.Text, out.Calls)
		}
		if lines := strings.Count(out.Text, "\n") + 1; lines > offline.MostSentences && !strings.Contains(source, "\n") {
			t.Errorf("%d lines", lines)
		}
		in.Schema = json.RawMessage(format)
		out = offline.Respond(in)
		if out.Text == "" {
			t.Error("an empty structured answer")
		}
		s, err := schema.Compile(in.Schema)
		if err != nil || strings.HasPrefix(out.Text, "The offline model could not build") {
			return
		}
		if err := s.Check([]byte(out.Text)); err != nil {
			t.Errorf("%s does not follow the schema: %v", out.Text, err)
		}
	})
}

func BenchmarkRespond(b *testing.B) {
	c := loadCorpus(b, "ferry")
	in := offline.Input{Users: []string{"Can I get a refund if I cancel three weeks before departure?"}, Searched: true, Passages: c.passages}
	size := 0
	for _, p := range c.passages {
		size += len(p.Text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		offline.Respond(in)
	}
}
