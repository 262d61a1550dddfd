package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// shapes reads the struct tags of the typed view (see doc.go) into what the
// decoder, the JSON Schema and docs/keys.md work from. The zero value is ready;
// a value is not safe for concurrent use.
type shapes struct {
	blocks map[reflect.Type]*blockShape
}

// blockShape is a section: a struct that embeds Block.
type blockShape struct {
	fields []*fieldShape
	rest   *fieldShape // takes the keys that no field has, or nil
	block  []int       // index of the embedded Block
}

// fieldShape is a key of a section.
type fieldShape struct {
	key        string
	index      []int
	typ        reflect.Type
	doc        string
	fallback   string // the default as YAML, when hasDefault
	hasDefault bool
	ours       bool
	rules      rules
}

// rules are the bounds of a value.
type rules struct {
	required, nonblank, strict, nullable, name, partial, hidden bool

	min, max, gt       *float64
	minItems, maxItems int    // 0 is no bound
	optional           string // key of a section that is required elsewhere and not here
}

// variant is one type of a union, chosen by the value of the type key.
type variant struct {
	name     string
	typ      reflect.Type
	marker   string // key that only this variant has, where type may be absent
	optional string // key that is required elsewhere and not here
	// forms are the sets of keys of which it must have one; nil where there is none.
	forms [][]string
}

// The Go types the decoder treats by name.
var (
	blockType    = reflect.TypeFor[Block]()
	secretType   = reflect.TypeFor[secret.String]()
	toolType     = reflect.TypeFor[Tool]()
	metricType   = reflect.TypeFor[Metric]()
	formatType   = reflect.TypeFor[ResponseFormat]()
	modelType    = reflect.TypeFor[Model]()
	databaseType = reflect.TypeFor[Database]()
	expectedType = reflect.TypeFor[ExpectedTool]()
	oneOrMany    = reflect.TypeFor[StringOrList]()
	pagesType    = reflect.TypeFor[Pages]()
	anyType      = reflect.TypeFor[any]()
	casesType    = reflect.TypeFor[Cases]()
)

// enumeration is a type whose values are listed.
type enumeration interface{ Values() []string }

// values returns the values of an enumeration, or nil for another type.
func values(t reflect.Type) []string {
	if t.Kind() != reflect.String {
		return nil
	}
	if e, ok := reflect.Zero(t).Interface().(enumeration); ok {
		return e.Values()
	}
	return nil
}

// variants returns the types of a union, or nil for another type.
func variants(t reflect.Type) []variant {
	switch t {
	case toolType:
		return []variant{
			{name: string(ToolVectorstore), typ: reflect.TypeFor[VectorstoreTool]()},
			{name: string(ToolHierarchical), typ: reflect.TypeFor[HierarchicalDocumentTool]()},
			{name: string(ToolFunction), typ: reflect.TypeFor[FunctionTool](), forms: [][]string{{"file", "function"}, {"command"}, {"script"}}},
			{name: string(ToolMCP), typ: reflect.TypeFor[MCPTool]()},
			{name: string(ToolPrompt), typ: reflect.TypeFor[PromptTool]()},
			{name: string(ToolSkill), typ: reflect.TypeFor[SkillTool](), optional: "description"},
		}
	case metricType:
		return []variant{
			{name: string(MetricStandard), typ: reflect.TypeFor[StandardMetric](), marker: "metric"},
			{name: string(MetricGEval), typ: reflect.TypeFor[GEvalMetric](), marker: "criteria"},
			{name: string(MetricRAG), typ: reflect.TypeFor[RAGMetric](), marker: "metric_type"},
			{name: string(MetricCode), typ: reflect.TypeFor[CodeMetric](), marker: "grader", forms: [][]string{{"grader"}, {"command"}, {"script"}, {"expr"}}},
		}
	}
	return nil
}

// isBlock reports whether t is a section.
func isBlock(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == secretType || t == formatType {
		return false
	}
	_, ok := t.FieldByName("Block")
	return ok
}

// of returns the shape of a section.
func (s *shapes) of(t reflect.Type) *blockShape {
	if b, ok := s.blocks[t]; ok {
		return b
	}
	b := &blockShape{}
	b.collect(t, nil)
	if s.blocks == nil {
		s.blocks = map[reflect.Type]*blockShape{}
	}
	s.blocks[t] = b
	return b
}

// collect adds the fields of t. A key of an outer struct hides the same key of
// the struct it embeds.
func (b *blockShape) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int{}, index...), i)
		if f.Anonymous {
			if f.Type == blockType {
				b.block = at
			} else {
				b.collect(f.Type, at)
			}
			continue
		}
		key := f.Tag.Get("key")
		switch {
		case key == "" || key == "-" || b.field(key) != nil && len(b.field(key).index) < len(at):
			continue
		case key == "*":
			b.rest = &fieldShape{key: key, index: at, typ: f.Type}
			continue
		}
		shape := &fieldShape{
			key: key, index: at, typ: writtenType(f.Type),
			doc: f.Tag.Get("doc"), ours: f.Tag.Get("ours") == "true", rules: parseRules(f.Tag.Get("rule")),
		}
		shape.fallback, shape.hasDefault = f.Tag.Lookup("default")
		if hidden := b.field(key); hidden != nil {
			*hidden = *shape
			continue
		}
		b.fields = append(b.fields, shape)
	}
}

// writtenType returns the type as which a field is written in YAML.
func writtenType(t reflect.Type) reflect.Type {
	if t == casesType {
		return reflect.TypeFor[[]TestCase]()
	}
	return t
}

// field returns the shape of a key, or nil.
func (b *blockShape) field(key string) *fieldShape {
	for _, f := range b.fields {
		if f.key == key {
			return f
		}
	}
	return nil
}

// keys returns the keys of the section.
func (b *blockShape) keys() []string {
	out := make([]string, len(b.fields))
	for i, f := range b.fields {
		out[i] = f.key
	}
	return out
}

// parseRules reads a rule tag. A tag that is wrong is a mistake in this
// package, so it panics; every type is read by the tests.
func parseRules(tag string) rules {
	var r rules
	for tag != "" {
		var word string
		word, tag, _ = strings.Cut(tag, ",")
		name, value, _ := strings.Cut(word, "=")
		number := func() *float64 {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				panic(fmt.Sprintf("config: rule %q: %v", word, err))
			}
			return &v
		}
		switch name {
		case "required":
			r.required = true
		case "nonblank":
			r.nonblank = true
		case "strict":
			r.strict = true
		case "nullable":
			r.nullable = true
		case "name":
			r.name = true
		case "partial":
			r.partial = true
		case "optional":
			r.optional = value
		case "hidden":
			r.hidden = true
		case "min":
			r.min = number()
		case "max":
			r.max = number()
		case "gt":
			r.gt = number()
		case "minitems":
			r.minItems = int(*number())
		case "maxitems":
			r.maxItems = int(*number())
		default:
			panic(fmt.Sprintf("config: unknown rule %q", word))
		}
	}
	return r
}
