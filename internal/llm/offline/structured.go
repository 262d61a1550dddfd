package offline

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/holodeck-go/holodeck/internal/embed/words"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// Bounds on building a value.
const (
	// mostTries is how many ways of choosing among alternatives are tried.
	mostTries = 16
	// deepest is how deep a value may go. Optional fields are left out below
	// deepestOptional, so that a schema that contains itself comes to an end.
	deepest, deepestOptional = 32, 4
	// mostValues bounds the values in a value, over all lists and objects.
	mostValues = 10_000
	// mostItems bounds the items of a list and the characters of a text that a
	// schema asks for.
	mostItems = 1000
)

// structured returns the answer as JSON that follows a schema, or else a
// sentence that says why there is none.
func structured(raw json.RawMessage, a answer, asked string) string {
	s, err := schema.Compile(raw)
	if err != nil {
		return unbuilt(err)
	}
	var reason error
	for try := range mostTries {
		b := &builder{schema: s, answer: a, text: a.text(), asked: asked, try: try}
		v, err := b.value(s.Root(), "", 0)
		if err == nil {
			err = s.CheckValue(v)
		}
		if err == nil {
			encoded, err := json.Marshal(v)
			if err != nil {
				return unbuilt(err)
			}
			return string(encoded)
		}
		reason = cmp.Or(reason, err)
		if !b.chose {
			break // another try would be the same
		}
	}
	return unbuilt(reason)
}

func unbuilt(err error) string {
	return "The offline model could not build an answer that follows the response format: " + err.Error()
}

// builder builds one value.
type builder struct {
	schema *schema.Schema
	answer answer
	text   string // the answer as text
	asked  string // what the person said
	built  int    // how many values there are so far
	try    int    // which alternatives are taken
	chose  bool   // there were any
}

var (
	errTooDeep  = errors.New("the schema asks for a value without end")
	errTooLarge = fmt.Errorf("the schema asks for more than %d values", mostValues)
)

// within says in what part of a value building failed. What is wrong with the
// value as a whole has no such place.
func within(part string, err error) error {
	if errors.Is(err, errTooDeep) || errors.Is(err, errTooLarge) {
		return err
	}
	return fmt.Errorf("%s: %w", part, err)
}

// value builds a value for node. name is the field it is for.
func (b *builder) value(node *jsonschema.Schema, name string, depth int) (any, error) {
	if b.built++; b.built > mostValues {
		return nil, errTooLarge
	}
	if depth > deepest {
		return nil, errTooDeep
	}
	node, err := b.flat(node, 0)
	if err != nil {
		return nil, err
	}
	switch {
	case node.Const != nil:
		return *node.Const, nil
	case len(node.Enum) > 0:
		return b.choice(node.Enum), nil
	}
	switch b.kind(node) {
	case "object":
		return b.object(node, depth)
	case "array":
		return b.list(node, name, depth)
	case "boolean":
		return len(b.answer.quotes) > 0 && isOneOf(name, "found", "answered", "success", "successful", "ok", "relevant", "grounded", "supported"), nil
	case "integer", "number":
		return b.number(node, name)
	case "null":
		return nil, nil
	}
	return b.string(node, name), nil
}

// kind returns the type to build: the only one, or the first that is not null,
// or the one whose keywords are used.
func (b *builder) kind(node *jsonschema.Schema) string {
	switch {
	case node.Type != "":
		return node.Type
	case len(node.Types) > 0:
		for _, t := range node.Types {
			if t != "null" {
				return t
			}
		}
		return "null"
	case node.Properties != nil || node.Required != nil || node.MinProperties != nil:
		return "object"
	case node.Items != nil || node.PrefixItems != nil || node.MinItems != nil || node.Contains != nil:
		return "array"
	case node.Minimum != nil || node.Maximum != nil || node.ExclusiveMinimum != nil || node.ExclusiveMaximum != nil || node.MultipleOf != nil:
		return "number"
	}
	return "string"
}

// flat returns one schema that says what node, what it refers to, all of its
// allOf and one of each of its alternatives say.
func (b *builder) flat(node *jsonschema.Schema, depth int) (*jsonschema.Schema, error) {
	if depth > deepest {
		return nil, errTooDeep
	}
	var parts []*jsonschema.Schema
	if node.Ref != "" {
		target, err := b.schema.Ref(node.Ref)
		if err != nil {
			return nil, err
		}
		parts = append(parts, target)
	}
	parts = append(parts, node.AllOf...)
	for _, alternatives := range [][]*jsonschema.Schema{node.AnyOf, node.OneOf} {
		if len(alternatives) > 0 {
			b.chose = b.chose || len(alternatives) > 1
			parts = append(parts, alternatives[b.try%len(alternatives)])
		}
	}
	if len(parts) == 0 {
		return node, nil
	}
	whole := *node
	for _, p := range parts {
		part, err := b.flat(p, depth+1)
		if err != nil {
			return nil, err
		}
		merge(&whole, part)
	}
	return &whole, nil
}

// merge adds to a schema what another says.
func merge(into, from *jsonschema.Schema) {
	if into.Type == "" && into.Types == nil {
		into.Type, into.Types = from.Type, from.Types
	} else if from.Type != "" && into.Type != "integer" {
		into.Type, into.Types = from.Type, nil
	}
	into.Const = cmp.Or(into.Const, from.Const)
	switch {
	case into.Enum == nil:
		into.Enum = from.Enum
	case from.Enum != nil:
		into.Enum = common(into.Enum, from.Enum)
	}
	into.Minimum = tighter(into.Minimum, from.Minimum, math.Max)
	into.Maximum = tighter(into.Maximum, from.Maximum, math.Min)
	into.ExclusiveMinimum = tighter(into.ExclusiveMinimum, from.ExclusiveMinimum, math.Max)
	into.ExclusiveMaximum = tighter(into.ExclusiveMaximum, from.ExclusiveMaximum, math.Min)
	into.MultipleOf = cmp.Or(into.MultipleOf, from.MultipleOf)
	into.MinLength = tighter(into.MinLength, from.MinLength, larger)
	into.MaxLength = tighter(into.MaxLength, from.MaxLength, smaller)
	into.MinItems = tighter(into.MinItems, from.MinItems, larger)
	into.MaxItems = tighter(into.MaxItems, from.MaxItems, smaller)
	into.MinProperties = tighter(into.MinProperties, from.MinProperties, larger)
	into.Pattern = cmp.Or(into.Pattern, from.Pattern)
	into.Format = cmp.Or(into.Format, from.Format)
	into.Items = cmp.Or(into.Items, from.Items)
	into.Contains = cmp.Or(into.Contains, from.Contains)
	into.UniqueItems = into.UniqueItems || from.UniqueItems
	if into.PrefixItems == nil {
		into.PrefixItems = from.PrefixItems
	}
	into.AdditionalProperties = cmp.Or(into.AdditionalProperties, from.AdditionalProperties)
	into.Required = slices.Concat(into.Required, from.Required)
	if len(from.Properties) > 0 {
		all := maps.Clone(from.Properties)
		for key, own := range into.Properties {
			if other, ok := all[key]; ok {
				own = &jsonschema.Schema{AllOf: []*jsonschema.Schema{own, other}}
			}
			all[key] = own
		}
		into.Properties = all
	}
}

func larger(a, b int) int  { return max(a, b) }
func smaller(a, b int) int { return min(a, b) }

// tighter returns the narrower of two bounds, of which either may be absent.
func tighter[T any](a, b *T, narrow func(a, b T) T) *T {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	v := narrow(*a, *b)
	return &v
}

// common returns what is in both lists.
func common(a, b []any) []any {
	out := []any{}
	for _, v := range a {
		if slices.ContainsFunc(b, func(w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) }) {
			out = append(out, v)
		}
	}
	return out
}

// choice returns the entry of a list that shares most words with the question
// and, half as much, with the answer; the first of equals.
func (b *builder) choice(entries []any) any {
	asked, said := wordSet(b.asked), wordSet(b.text)
	best, most := entries[0], 0.0
	for _, e := range entries {
		name, ok := e.(string)
		if !ok {
			continue
		}
		points := 0.0
		for w := range words.All(spaced(name)) {
			if asked[string(w.Stem)] {
				points++
			}
			if said[string(w.Stem)] {
				points += 0.5
			}
		}
		if points > most {
			best, most = e, points
		}
	}
	return best
}

func (b *builder) object(node *jsonschema.Schema, depth int) (any, error) {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(node.Properties)) {
		required := slices.Contains(node.Required, key)
		if !required && depth >= deepestOptional {
			continue
		}
		v, err := b.value(node.Properties[key], key, depth+1)
		switch {
		case err == nil:
			out[key] = v
		case required:
			return nil, within(key, err)
		}
	}
	open := node.AdditionalProperties
	if open == nil {
		open = &jsonschema.Schema{}
	}
	missing := slices.Clone(node.Required)
	for n := 1; node.MinProperties != nil && n <= min(*node.MinProperties, mostItems); n++ {
		missing = append(missing, fmt.Sprintf("field%d", n))
	}
	for i, key := range missing {
		if _, ok := out[key]; ok || i >= len(node.Required) && len(out) >= *node.MinProperties {
			continue
		}
		v, err := b.value(open, key, depth+1)
		if err != nil {
			return nil, within(key, err)
		}
		out[key] = v
	}
	return out, nil
}

func (b *builder) list(node *jsonschema.Schema, name string, depth int) (any, error) {
	least, most := 0, mostItems
	if node.MinItems != nil {
		least = min(*node.MinItems, mostItems)
	}
	if node.MaxItems != nil {
		most = min(*node.MaxItems, mostItems)
	}
	out := []any{}
	for _, text := range b.texts(node, name) {
		if len(out) < most {
			out = append(out, text)
		}
	}
	item := node.Items
	if item == nil {
		item = cmp.Or(node.Contains, &jsonschema.Schema{})
	}
	if node.Contains != nil {
		least = max(least, 1)
	}
	for i := len(out); i < max(least, len(node.PrefixItems)) && i < most; i++ {
		sub := item
		if i < len(node.PrefixItems) {
			sub = node.PrefixItems[i]
		}
		v, err := b.value(sub, name, depth+1)
		if err != nil {
			return nil, within(fmt.Sprintf("item %d", i), err)
		}
		if node.UniqueItems {
			v = b.another(sub, v, i)
		}
		out = append(out, v)
	}
	return out, nil
}

// texts returns what a list of strings of that name holds: the sources, or the
// sentences of the answer.
func (b *builder) texts(node *jsonschema.Schema, name string) []string {
	if node.Items == nil {
		return nil
	}
	item, err := b.flat(node.Items, 0)
	if err != nil || item.Type != "string" || item.Enum != nil || item.Const != nil || item.Pattern != "" || item.Format != "" {
		return nil
	}
	switch {
	case isOneOf(name, "sources", "source", "citations", "references", "documents", "files"):
		return b.answer.sources()
	case isOneOf(name, "points", "key_points", "facts", "findings", "highlights", "sentences", "quotes", "steps", "evidence"):
		var list []string
		for _, q := range b.answer.quotes {
			list = append(list, q.text)
		}
		return list
	}
	return nil
}

// another returns a value unlike the i values that were built alike before it.
func (b *builder) another(node *jsonschema.Schema, v any, i int) any {
	node, err := b.flat(node, 0)
	if err != nil || i == 0 {
		return v
	}
	switch v := v.(type) {
	case string:
		if len(node.Enum) > 0 {
			return node.Enum[i%len(node.Enum)]
		}
		return fmt.Sprintf("%s %d", v, i+1)
	case float64:
		step := 1.0
		if node.MultipleOf != nil {
			step = *node.MultipleOf
		}
		return v + step*float64(i)
	case bool:
		return i%2 == 0 == v
	}
	return v
}

// number returns the overlap where a number speaks of confidence, and else the
// one nearest to zero that the schema allows.
func (b *builder) number(node *jsonschema.Schema, name string) (any, error) {
	v := 0.0
	whole := node.Type == "integer" || slices.Contains(node.Types, "integer")
	if isOneOf(name, "confidence", "score", "certainty", "relevance", "probability") && !whole {
		v = math.Round(b.answer.overlap*100) / 100
	}
	step := 1.0
	if node.MultipleOf != nil && *node.MultipleOf > 0 {
		step = *node.MultipleOf
	}
	if !whole && node.MultipleOf == nil && node.ExclusiveMinimum != nil && node.ExclusiveMaximum != nil {
		step = (*node.ExclusiveMaximum - *node.ExclusiveMinimum) / 2
	}
	if node.Minimum != nil {
		v = math.Max(v, *node.Minimum)
	}
	if node.ExclusiveMinimum != nil && v <= *node.ExclusiveMinimum {
		v = *node.ExclusiveMinimum + step
	}
	if node.Maximum != nil {
		v = math.Min(v, *node.Maximum)
	}
	if node.ExclusiveMaximum != nil && v >= *node.ExclusiveMaximum {
		v = *node.ExclusiveMaximum - step
	}
	if whole || node.MultipleOf != nil {
		rounded := math.Round(v/step) * step
		if low := cmp.Or(node.Minimum, node.ExclusiveMinimum); low != nil && rounded < *low {
			rounded += step
		}
		if high := cmp.Or(node.Maximum, node.ExclusiveMaximum); high != nil && rounded > *high {
			rounded -= step
		}
		v = rounded
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, errors.New("no number is within the bounds")
	}
	return v, nil
}

// string returns the text of a field, within the bounds of the schema.
func (b *builder) string(node *jsonschema.Schema, name string) string {
	least, most := 0, -1
	if node.MinLength != nil {
		least = min(*node.MinLength, mostItems)
	}
	if node.MaxLength != nil {
		most = *node.MaxLength
	}
	text := b.words(node, name)
	if node.Pattern != "" {
		if re, err := regexp.Compile(node.Pattern); err != nil || !re.MatchString(text) {
			text = matching(node.Pattern, least)
		}
		return text // padding or cutting would break the match
	}
	if n := utf8.RuneCountInString(text); n < least {
		text += strings.Repeat(".", least-n)
	}
	if most >= 0 && utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
		if space := strings.LastIndexByte(text, ' '); space > 0 && utf8.RuneCountInString(text[:space]) >= least {
			text = text[:space]
		}
	}
	return text
}

// words returns what a string field says, by its format and its name.
func (b *builder) words(node *jsonschema.Schema, name string) string {
	switch node.Format {
	case "date":
		return "2000-01-01"
	case "time":
		return "00:00:00Z"
	case "date-time":
		return "2000-01-01T00:00:00Z"
	case "duration":
		return "PT0S"
	case "email", "idn-email":
		return "nobody@example.com"
	case "uri", "url", "iri", "uri-reference":
		return "https://example.com/"
	case "hostname":
		return "example.com"
	case "ipv4":
		return "192.0.2.1"
	case "ipv6":
		return "2001:db8::1"
	case "uuid":
		return "00000000-0000-4000-8000-000000000000"
	}
	switch {
	case isOneOf(name, "question", "query", "input", "request"):
		return b.asked
	case isOneOf(name, "source", "citation", "reference", "document", "file"):
		return strings.Join(b.answer.sources(), ", ")
	case name == "", isOneOf(name, "answer", "response", "reply", "text", "message", "content", "output", "result", "summary",
		"explanation", "reasoning", "rationale", "reason", "justification", "analysis", "conclusion", "description", "details", "comment", "note", "notes"):
		return b.text
	}
	return "unknown"
}

// isOneOf reports whether the last word of a field's name is one of names, or
// the name as a whole is.
func isOneOf(name string, names ...string) bool {
	name = strings.ToLower(name)
	last := name[strings.LastIndexAny(name, "_-")+1:]
	return slices.Contains(names, name) || slices.Contains(names, last)
}

// matching returns a short text that matches a pattern, if it is a plain one,
// and otherwise an empty one. least is how many characters it needs.
func matching(pattern string, least int) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return ""
	}
	re = re.Simplify()
	for repeat := range min(least, mostRepeats) + 2 {
		g := generator{repeat: repeat}
		g.write(re)
		if text := g.out.String(); compiled.MatchString(text) && utf8.RuneCountInString(text) >= least {
			return text
		}
	}
	return ""
}

// generator writes a text that a regular expression matches.
type generator struct {
	out    strings.Builder
	repeat int // how often a repetition that may be left out is taken
	steps  int
}

// Bounds on what a pattern may cost: how often a repetition is taken, and how
// many parts of the pattern are written in all.
const mostRepeats, mostSteps = 64, 10_000

func (g *generator) write(re *syntax.Regexp) {
	if g.steps++; g.steps > mostSteps {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		g.out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		g.out.WriteRune(firstOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		g.out.WriteByte('a')
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			g.write(sub)
		}
	case syntax.OpAlternate:
		g.write(re.Sub[0])
	case syntax.OpQuest:
		g.times(min(g.repeat, 1), re.Sub[0])
	case syntax.OpStar:
		g.times(g.repeat, re.Sub[0])
	case syntax.OpPlus:
		g.times(max(g.repeat, 1), re.Sub[0])
	}
}

func (g *generator) times(n int, re *syntax.Regexp) {
	for i := 0; i < n && g.steps <= mostSteps; i++ {
		g.write(re)
	}
}

// firstOf returns a character of a class, a letter or digit where there is one.
func firstOf(ranges []rune) rune {
	for _, nice := range "a0A-_ " {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= nice && nice <= ranges[i+1] {
				return nice
			}
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}
