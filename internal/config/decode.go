package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// decoder fills the typed view from a tree, reporting every value that does
// not fit. It goes on after a problem, so that one pass finds them all.
type decoder struct {
	shapes *shapes
	rep    *report
	// unset is how a variable without a value is reported; empty: not at all.
	unset Severity
	// secrets are the values of fields that are secret by their type.
	secrets []string
	// partial says that required keys may be absent: the section is one that
	// fills gaps of another.
	partial bool
	// toolType is the type of a tool whose type key is absent, or "".
	toolType ToolType
	// profiles are the names that may stand for a provider.
	profiles []string
	// prepare makes an entry of test_cases ready: variables and what config.yaml
	// adds. nil means that the tree is ready as it is.
	prepare func(item *node, rep *report) *node
	// eachCase is called with every test case, if it is set.
	eachCase func(*TestCase)
	// defaults caches the trees of default values by their text.
	defaults map[string]*node
}

// keyPath is the dotted path of a value, put together only when it is needed.
type keyPath struct {
	base  string
	key   string // "" for an element of a list
	index int
}

// String returns the dotted path.
func (p keyPath) String() string {
	switch {
	case p.key == "" && p.index >= 0:
		return p.base + "[" + strconv.Itoa(p.index) + "]"
	case p.base == "":
		return p.key
	}
	return p.base + "." + p.key
}

// rootPath is the path of a document.
func rootPath() keyPath { return keyPath{index: -1} }

// problem reports a problem of a value.
func (d *decoder) problem(n *node, at keyPath, code, text, hint string) {
	d.rep.add(Problem{Path: at.String(), Pos: n.pos(), Severity: SeverityError, Code: code, Text: text, Hint: hint})
}

// references reports what a scalar says of variables and cannot have.
func (d *decoder) references(n *node, at keyPath) {
	if n.refs == nil {
		return
	}
	if n.unresolved() && d.unset != "" {
		d.rep.add(unsetProblem(n, at.String(), d.unset))
	}
	if len(n.refs.odd) > 0 {
		d.rep.add(oddProblem(n, at.String()))
	}
}

// show returns a scalar for a message: text in quotes, cut, and secrets masked.
func show(n *node, isSecret bool) string {
	switch {
	case isSecret || n.secret:
		return secret.Mask
	case n.kind != kindText:
		return n.text
	}
	const longest = 60
	text := []rune(hide(n.text))
	if len(text) > longest {
		text = append(text[:longest], '…')
	}
	return strconv.Quote(string(text))
}

// mismatch reports a value of the wrong kind. It returns false.
func (d *decoder) mismatch(n *node, at keyPath, want string, isSecret bool) bool {
	hint := ""
	var text string
	switch n.kind {
	case kindNull:
		text = "has no value; it must be " + want
	case kindList, kindMap:
		text = fmt.Sprintf("is %s; it must be %s", n.kind, want)
	default:
		text = fmt.Sprintf("%s is %s; it must be %s", show(n, isSecret), n.kind, want)
		if want == "text" {
			hint = "put it in quotes"
		}
	}
	d.problem(n, at, CodeType, text, hint)
	return false
}

// value decodes n into v. It reports whether v has a value: false means that n
// does not fit, which is reported.
func (d *decoder) value(n *node, at keyPath, v reflect.Value, r rules) bool {
	if d.rep.settled[n] {
		return false
	}
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		p := reflect.New(t.Elem())
		if n.kind == kindNull || !d.value(n, at, p.Elem(), r) {
			v.SetZero()
			return n.kind == kindNull
		}
		v.Set(p)
		return true
	}
	d.references(n, at)
	if n.kind == kindText && n.unresolved() {
		switch {
		case t == secretType:
			v.Set(reflect.ValueOf(secret.New(n.text)))
			return true
		case t.Kind() == reflect.String && values(t) == nil:
			v.SetString(n.text)
			return true
		}
		return false
	}
	switch t {
	case secretType:
		text, ok := d.text(n, at, r, true)
		if ok {
			v.Set(reflect.ValueOf(secret.New(text)))
			if !r.hidden {
				d.secrets = append(d.secrets, text)
			}
		}
		return ok
	case formatType:
		return d.format(n, at, v)
	case casesType:
		return d.cases(n, v)
	case expectedType:
		return d.expected(n, at, v)
	case pagesType:
		if n.kind != kindNull {
			return d.pages(n, at, v)
		}
	case oneOrMany:
		if n.kind != kindList {
			text, ok := d.text(n, at, r, false)
			if ok {
				v.Set(reflect.ValueOf(StringOrList{text}))
			}
			return ok
		}
	case anyType:
		if got := d.free(n, at); got != nil {
			v.Set(reflect.ValueOf(got))
		}
		return true
	}
	if vs := variants(t); vs != nil {
		return d.union(n, at, v, vs)
	}
	if allowed := values(t); allowed != nil {
		return d.enum(n, at, v, allowed)
	}
	switch t.Kind() {
	case reflect.String:
		text, ok := d.text(n, at, r, false)
		if ok {
			v.SetString(text)
		}
		return ok
	case reflect.Bool:
		return d.boolean(n, at, v, r)
	case reflect.Int:
		return d.integer(n, at, v, r)
	case reflect.Float64:
		return d.number(n, at, v, r)
	case reflect.Slice:
		return d.list(n, at, v, r)
	case reflect.Map:
		return d.dict(n, at, v, r)
	case reflect.Struct:
		return d.block(n, at, v, r.optional)
	}
	panic("config: no rule for " + t.String())
}

// text returns the text of a scalar that must be text.
func (d *decoder) text(n *node, at keyPath, r rules, isSecret bool) (string, bool) {
	if n.kind != kindText {
		return "", d.mismatch(n, at, "text", isSecret)
	}
	switch {
	case r.nonblank && strings.TrimSpace(n.text) == "":
		d.problem(n, at, CodeValue, "is blank", "give it a value or remove the key")
	case r.name && !isToolName(n.text):
		d.problem(n, at, CodeValue, fmt.Sprintf("%s is not a name: letters, digits, _ and - only", show(n, isSecret)), "")
	}
	return n.text, true
}

// isToolName reports whether s may be the name of a tool.
func isToolName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != ""
}

// enum decodes one of a list of words.
func (d *decoder) enum(n *node, at keyPath, v reflect.Value, allowed []string) bool {
	if n.kind == kindList || n.kind == kindMap || n.kind == kindNull {
		return d.mismatch(n, at, "one of "+strings.Join(allowed, ", "), false)
	}
	if slices.Contains(allowed, n.text) {
		v.SetString(n.text)
		return true
	}
	list := strings.Join(allowed, ", ")
	if v.Type() == reflect.TypeFor[Provider]() && len(d.profiles) > 0 {
		list += ", or a profile of config.yaml: " + strings.Join(d.profiles, ", ")
		allowed = append(allowed, d.profiles...)
	}
	hint := ""
	if best := Nearest(n.text, allowed); best != "" && !n.secret {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	shown := show(n, false)
	if n.kind != kindText && !n.secret {
		shown = strconv.Quote(n.text)
	}
	d.problem(n, at, CodeValue, fmt.Sprintf("%s is not one of %s", shown, list), hint)
	return false
}

// boolean decodes true or false; the words of YAML 1.1 and 0 and 1 count, too.
// A strict field takes no number and nothing in quotes: there, yes is the truth
// value that YAML 1.1 makes of it, and "yes" is text.
func (d *decoder) boolean(n *node, at keyPath, v reflect.Value, r rules) bool {
	word := strings.ToLower(strings.TrimSpace(n.text))
	switch {
	case n.kind == kindBool:
		v.SetBool(word == "true")
		return true
	case n.kind == kindText && r.strict && !n.plain, n.kind == kindInt && r.strict:
	case n.kind == kindText || n.kind == kindInt:
		switch word {
		case "true", "yes", "on", "1", "y", "t":
			v.SetBool(true)
			return true
		case "false", "no", "off", "0", "n", "f":
			v.SetBool(false)
			return true
		}
	}
	return d.mismatch(n, at, "true or false", false)
}

// integer decodes a whole number: an integer, a float without a fraction, or
// text that is one of them.
func (d *decoder) integer(n *node, at keyPath, v reflect.Value, r rules) bool {
	text := strings.TrimSpace(n.text)
	switch n.kind {
	case kindInt, kindFloat, kindText:
		if i, ok := parseInt(text); ok {
			v.SetInt(i)
			d.bounds(n, at, float64(i), r)
			return true
		}
		if f, ok := parseFloat(text); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			v.SetInt(int64(f))
			d.bounds(n, at, f, r)
			return true
		}
		reason := " is not a whole number"
		if f, ok := parseFloat(text); ok && f == math.Trunc(f) {
			reason = " is too large a number"
		}
		d.problem(n, at, CodeType, show(n, false)+reason, "")
		return false
	}
	return d.mismatch(n, at, "a whole number", false)
}

// number decodes a finite number, or text that is one.
func (d *decoder) number(n *node, at keyPath, v reflect.Value, r rules) bool {
	switch n.kind {
	case kindInt, kindFloat, kindText:
		f, ok := parseFloat(strings.TrimSpace(n.text))
		if !ok {
			var i int64
			if i, ok = parseInt(strings.TrimSpace(n.text)); ok {
				f = float64(i)
			}
		}
		switch {
		case !ok:
			d.problem(n, at, CodeType, fmt.Sprintf("%s is not a number", show(n, false)), "")
		case math.IsInf(f, 0) || math.IsNaN(f):
			d.problem(n, at, CodeValue, fmt.Sprintf("%s is not a finite number", show(n, false)), "")
		default:
			v.SetFloat(f)
			d.bounds(n, at, f, r)
			return true
		}
		return false
	}
	return d.mismatch(n, at, "a number", false)
}

// bounds reports a number out of its bounds.
func (d *decoder) bounds(n *node, at keyPath, f float64, r rules) {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	var text string
	switch {
	case r.min != nil && f < *r.min:
		text = "is less than the minimum of " + number(*r.min)
	case r.max != nil && f > *r.max:
		text = "is more than the maximum of " + number(*r.max)
	case r.gt != nil && f <= *r.gt:
		text = "must be more than " + number(*r.gt)
	default:
		return
	}
	shown := n.text
	if n.secret {
		shown = secret.Mask
	}
	d.problem(n, at, CodeValue, shown+" "+text, "")
}

// list decodes a list; rules of numbers and text are those of its elements.
func (d *decoder) list(n *node, at keyPath, v reflect.Value, r rules) bool {
	if n.kind == kindNull {
		return true
	}
	if n.kind != kindList {
		return d.mismatch(n, at, "a list", false)
	}
	d.count(n, at, len(n.items), "entries", r)
	r.minItems, r.maxItems = 0, 0 // of this list, not of lists in it
	out := reflect.MakeSlice(v.Type(), 0, len(n.items))
	base := at.String()
	for i, item := range n.items {
		at := keyPath{base: base, index: i}
		elem := reflect.New(v.Type().Elem()).Elem()
		if item.kind == kindNull && elem.Kind() != reflect.Interface {
			d.problem(item, at, CodeType, "is empty", "give it a value, or remove it from the list")
			continue
		}
		if d.value(item, at, elem, r) {
			out = reflect.Append(out, elem)
		}
	}
	v.Set(out)
	return true
}

// dict decodes a mapping with keys of the user's choice.
func (d *decoder) dict(n *node, at keyPath, v reflect.Value, r rules) bool {
	if n.kind == kindNull {
		return true
	}
	if n.kind != kindMap {
		return d.mismatch(n, at, "a mapping", false)
	}
	d.count(n, at, len(n.fields), "keys", r)
	r.minItems, r.maxItems = 0, 0 // of this mapping, not of mappings in it
	out := reflect.MakeMapWithSize(v.Type(), len(n.fields))
	base := at.String()
	for _, f := range n.fields {
		if isHolder(f.key) && isBlock(v.Type().Elem()) {
			continue
		}
		at := keyPath{base: base, key: f.key}
		elem := reflect.New(v.Type().Elem()).Elem()
		if f.value.kind == kindNull && elem.Type() != anyType {
			d.problem(f.value, at, CodeType, "has no value", "give it one, or remove the key")
			continue
		}
		if d.value(f.value, at, elem, r) {
			out.SetMapIndex(reflect.ValueOf(f.key), elem)
		}
	}
	v.Set(out)
	return true
}

// count reports a list or mapping with too few or too many entries.
func (d *decoder) count(n *node, at keyPath, have int, what string, r rules) {
	switch {
	case r.minItems > 0 && have < r.minItems:
		d.problem(n, at, CodeValue, "is empty", "give it at least one entry, or remove the key")
	case r.maxItems > 0 && have > r.maxItems:
		d.problem(n, at, CodeValue, fmt.Sprintf("has %d %s, and at most %d are allowed", have, what, r.maxItems), "")
	}
}

// block decodes a section. The key named optional may be absent although its
// rule says required.
func (d *decoder) block(n *node, at keyPath, v reflect.Value, optional string) bool {
	if n.kind != kindMap {
		return d.mismatch(n, at, "a mapping", false)
	}
	shape := d.shapes.of(v.Type())
	base := at.String()
	org := &origin{path: base, at: place{n.src, n.line, n.col}, keys: make([]keyOrigin, 0, len(n.fields))}
	v.FieldByIndex(shape.block).Set(reflect.ValueOf(Block{org}))
	if v.Type() == databaseType {
		v.FieldByName("Ref").SetString(n.text)
	}
	have := make(map[string]bool, len(n.fields))
	var rest map[string]any
	for _, f := range n.fields {
		at := keyPath{base: base, key: f.key, index: -1}
		fs := shape.field(f.key)
		switch {
		case fs == nil && isHolder(f.key):
			continue
		case fs == nil && shape.rest != nil:
			if rest == nil {
				rest = map[string]any{}
			}
			rest[f.key] = d.free(f.value, at)
		case fs == nil:
			d.unknown(f, at, shape, v.Type())
			continue
		default:
			have[f.key] = true
			if !d.key(fs, f, at, v, optional) {
				continue
			}
		}
		if f.value.src.layer == LayerDefault {
			continue
		}
		k := keyOrigin{key: f.key, at: place{f.value.src, f.value.line, f.value.col}, secret: f.value.secret, unset: f.value.unresolved()}
		if fs == nil || isFree(fs.typ) {
			k.free = f.value
		}
		org.keys = append(org.keys, k)
	}
	if rest != nil {
		v.FieldByIndex(shape.rest.index).Set(reflect.ValueOf(rest))
	}
	for _, fs := range shape.fields {
		if have[fs.key] {
			continue
		}
		if fs.rules.required && fs.key != optional && !d.partial {
			if v.Type() == modelType && isUnknownProfile(n.get("provider")) {
				continue // the profile that is meant may have it
			}
			d.problem(n, keyPath{base: base, key: fs.key, index: -1}, CodeMissing, "is required", "")
			continue
		}
		d.absent(fs, n, base, v)
	}
	return true
}

// isUnknownProfile reports whether the value of a provider key is neither a
// provider nor anything like one.
func isUnknownProfile(provider *node) bool {
	known := Provider("").Values()
	return provider.isText() && !slices.Contains(known, provider.text) && Nearest(provider.text, known) == ""
}

// isFree reports whether values of a type have a shape of the user's choice.
func isFree(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return isFree(t.Elem())
	}
	return t == anyType
}

// isHolder reports whether a key is one that only holds an anchor, or anything
// else that is not for us.
func isHolder(key string) bool { return strings.HasPrefix(key, "x-") }

// key decodes the value of a known key and reports whether the user gave one.
func (d *decoder) key(fs *fieldShape, f field, at keyPath, v reflect.Value, optional string) bool {
	target := v.FieldByIndex(fs.index)
	if f.value.kind == kindNull {
		switch {
		case fs.rules.required && fs.key != optional && !d.partial:
			d.problem(f.value, at, CodeMissing, "is required and has no value", "")
		case target.Kind() == reflect.Pointer, target.Type() == secretType:
			target.SetZero() // also where the key has a default: null is a way to say none
		case fs.rules.nullable, target.Kind() == reflect.Slice, target.Kind() == reflect.Map:
			d.absent(fs, f.value, at.base, v)
		default:
			d.problem(f.value, at, CodeType, "has no value", "give it one, or remove the key to have the default")
		}
		return false
	}
	partial := d.partial
	d.partial = partial || fs.rules.partial
	d.value(f.value, at, target, fs.rules)
	d.partial = partial
	return true
}

// absent gives a field its default.
func (d *decoder) absent(fs *fieldShape, parent *node, base string, v reflect.Value) {
	target := v.FieldByIndex(fs.index)
	at := keyPath{base: base, key: fs.key, index: -1}
	switch {
	case fs.hasDefault:
		n, ok := d.defaults[fs.fallback]
		if !ok {
			n = defaultNode(fs.fallback)
			if d.defaults == nil {
				d.defaults = map[string]*node{}
			}
			d.defaults[fs.fallback] = n
		}
		d.value(n, at, target, rules{})
		if isBlock(target.Type()) {
			d.forget(target, at, parent)
		}
	case target.Kind() == reflect.Struct && isBlock(target.Type()):
		// Nobody wrote the section: all of it is defaults.
		d.block(&node{kind: kindMap, src: parent.src, line: parent.line, col: parent.col}, at, target, "")
	}
}

// forget makes a section that was decoded from a default one that nobody wrote.
func (d *decoder) forget(v reflect.Value, at keyPath, parent *node) {
	org := &origin{path: at.String(), at: place{parent.src, parent.line, parent.col}}
	v.FieldByIndex(d.shapes.of(v.Type()).block).Set(reflect.ValueOf(Block{org}))
}

// defaultNode returns the tree of a default: a plain scalar, or else a YAML
// flow value. A default that is not YAML is a mistake in this package.
func defaultNode(text string) *node {
	src := &source{name: "default", layer: LayerDefault}
	if text != "" && !strings.ContainsAny(text, "[{\"'") {
		return &node{kind: plainKind(text), plain: true, text: text, src: src}
	}
	var rep report
	n := parseYAML(src, []byte(text), &rep)
	if n == nil {
		panic(fmt.Sprintf("config: default %q: %v", text, rep.problems))
	}
	return n
}

// unknown reports a key that a section does not have.
func (d *decoder) unknown(f field, at keyPath, shape *blockShape, t reflect.Type) {
	hint := didYouMean(f.key, shape.keys())
	for _, union := range []reflect.Type{toolType, metricType} {
		vs := variants(union)
		if !slices.ContainsFunc(vs, func(v variant) bool { return v.typ == t }) || Nearest(f.key, shape.keys()) != "" {
			continue
		}
		for _, v := range vs {
			if d.shapes.of(v.typ).field(f.key) != nil {
				hint = "it is a key of type " + v.name
				break
			}
		}
	}
	if t == reflect.TypeFor[Claude]() && f.key == "subagents" {
		hint = "sub-agents stand under agents, by name; how many run at once is execution.parallel_test_cases"
	}
	d.rep.add(Problem{Path: at.String(), Pos: f.keyPos(), Severity: SeverityError, Code: CodeUnknownKey, Text: "unknown key", Hint: hint})
}

// union decodes one of several section types. A wrong type key is one problem,
// and the rest of the section is not looked at.
func (d *decoder) union(n *node, at keyPath, v reflect.Value, vs []variant) bool {
	if n.kind != kindMap {
		hint := ""
		if n.kind == kindText && v.Type() == metricType && !n.unresolved() {
			hint = fmt.Sprintf("write it as {metric: %s}", n.text)
		}
		d.rep.add(Problem{Path: at.String(), Pos: n.pos(), Severity: SeverityError, Code: CodeType,
			Text: fmt.Sprintf("is %s; it must be a mapping", n.kind), Hint: hint})
		return false
	}
	names := make([]string, len(vs))
	for i := range vs {
		names[i] = vs[i].name
	}
	chosen := ""
	switch t := n.get("type"); {
	case t == nil && v.Type() == toolType && d.toolType != "":
		chosen = string(d.toolType)
	case t == nil && v.Type() == metricType:
		chosen = vs[0].name
		for _, m := range vs {
			if n.get(m.marker) != nil {
				chosen = m.name
				break
			}
		}
	case t == nil || t.kind == kindNull:
		d.problem(n, keyPath{base: at.String(), key: "type", index: -1}, CodeMissing, "is required", "one of "+strings.Join(names, ", "))
		return false
	case t.kind == kindText && t.unresolved():
		d.references(t, keyPath{base: at.String(), key: "type", index: -1})
		return false
	default:
		typed := reflect.New(reflect.TypeFor[string]()).Elem()
		if !d.enum(t, keyPath{base: at.String(), key: "type", index: -1}, typed, names) {
			return false
		}
		chosen = typed.String()
	}
	if n.get("type") == nil {
		n = n.with("type", defaultNode(chosen)) // it is of this type although no key says so
	}
	for _, variant := range vs {
		if variant.name == chosen {
			p := reflect.New(variant.typ)
			d.block(n, at, p.Elem(), variant.optional)
			v.Set(p)
		}
	}
	return true
}

// expected decodes an expected tool: its name, or a section.
func (d *decoder) expected(n *node, at keyPath, v reflect.Value) bool {
	if n.kind == kindMap {
		return d.block(n, at, v, "")
	}
	text, ok := d.text(n, at, rules{nonblank: true}, false)
	if !ok {
		return false
	}
	org := &origin{path: at.String(), at: place{n.src, n.line, n.col}}
	v.Set(reflect.ValueOf(ExpectedTool{Block: Block{org}, Name: text, Count: 1, Bare: true}))
	return true
}

// format decodes a response format: a path, or the schema itself.
func (d *decoder) format(n *node, at keyPath, v reflect.Value) bool {
	switch n.kind {
	case kindText:
		text, ok := d.text(n, at, rules{nonblank: true}, false)
		if ok {
			v.Set(reflect.ValueOf(ResponseFormat{File: text}))
		}
		return ok
	case kindMap:
		schema, _ := d.free(n, at).(map[string]any)
		v.Set(reflect.ValueOf(ResponseFormat{Schema: schema}))
		return true
	}
	return d.mismatch(n, at, "a JSON Schema or the path of a JSON file", false)
}

// free decodes a value of any shape as encoding/json would, except that whole
// numbers are int.
func (d *decoder) free(n *node, at keyPath) any {
	switch n.kind {
	case kindBool:
		return strings.EqualFold(n.text, "true")
	case kindInt:
		i, _ := parseInt(n.text)
		return int(i)
	case kindFloat:
		f, _ := parseFloat(n.text)
		if math.IsInf(f, 0) || math.IsNaN(f) {
			d.problem(n, at, CodeValue, fmt.Sprintf("%s is not a finite number", n.text), "put it in quotes if it is text")
		}
		return f
	case kindText:
		d.references(n, at)
		return n.text
	case kindList:
		base := at.String()
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = d.free(item, keyPath{base: base, index: i})
		}
		return out
	case kindMap:
		base := at.String()
		out := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			out[f.key] = d.free(f.value, keyPath{base: base, key: f.key, index: -1})
		}
		return out
	}
	return nil
}
