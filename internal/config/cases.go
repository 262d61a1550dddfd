package config

import (
	"iter"
	"maps"
	"reflect"
	"slices"
)

// Cases are the test cases of an agent. They are kept as the file has them and
// decoded when they are asked for, so that thousands cost little memory. A
// Cases is safe for concurrent use once loading has ended.
type Cases struct {
	made  []TestCase // of NewCases
	read  *caseList  // of a file
	edits []func(*TestCase)
}

// NewCases returns cases that no file holds.
func NewCases(cases ...TestCase) Cases { return Cases{made: cases} }

// Len returns how many cases there are.
func (c Cases) Len() int {
	if c.read != nil {
		return c.read.node.length()
	}
	return len(c.made)
}

// All yields the cases in file order with their places, counted from 0. Each is
// the caller's own. A case that cannot be decoded, which loading has reported,
// is left out.
func (c Cases) All() iter.Seq2[int, *TestCase] {
	return func(yield func(int, *TestCase) bool) {
		source := c.read.decoded
		if c.read == nil {
			source = func(yield func(int, *TestCase) bool) {
				for i, tc := range c.made {
					if !yield(i, &tc) {
						return
					}
				}
			}
		}
		for i, tc := range source {
			for _, edit := range c.edits {
				edit(tc)
			}
			if !yield(i, tc) {
				return
			}
		}
	}
}

// Special yields what All does, and nothing when no case has metrics, files or
// expected tools of its own: then a check that looks at those has nothing to do.
func (c Cases) Special() iter.Seq2[int, *TestCase] {
	if c.read != nil && !c.read.special {
		return func(func(int, *TestCase) bool) {}
	}
	return c.All()
}

// special reports whether the case has metrics, files or expected tools.
func (c *TestCase) special() bool {
	if len(c.Evaluations) > 0 || len(c.Files) > 0 || len(c.ExpectedTools) > 0 {
		return true
	}
	return slices.ContainsFunc(c.Turns, func(t Turn) bool {
		return len(t.Evaluations) > 0 || len(t.Files) > 0 || len(t.ExpectedTools) > 0
	})
}

// Edit has every case changed by fn before it is handed out.
func (c *Cases) Edit(fn func(*TestCase)) { c.edits = append(slices.Clip(c.edits), fn) }

// caseList is a list of cases in a tree.
type caseList struct {
	node     *node
	prepare  func(item *node, rep *report) *node
	profiles []string
	special  bool // one of them at least has metrics, files or tools of its own
}

// decoded yields the cases. Problems were reported when the list was loaded.
func (l *caseList) decoded(yield func(int, *TestCase) bool) {
	rep := &report{}
	d := &decoder{shapes: &shapes{}, rep: rep, unset: SeverityError, profiles: l.profiles}
	for i, item := range l.node.entries(rep) {
		tc := new(TestCase)
		if d.value(l.prepare(item, rep), keyPath{base: casesKey, index: i}, reflect.ValueOf(tc).Elem(), rules{}) && !yield(i, tc) {
			return
		}
	}
}

// casesKey is the key under which the test cases stand.
const casesKey = "test_cases"

// cases checks every entry of a list of cases and keeps the list.
func (d *decoder) cases(n *node, v reflect.Value) bool {
	if n.kind == kindNull {
		return true
	}
	at := keyPath{base: "", key: casesKey, index: -1}
	if n.kind != kindList {
		return d.mismatch(n, at, "a list", false)
	}
	prepare := d.prepare
	if prepare == nil {
		prepare = func(item *node, _ *report) *node { return item }
	}
	list := &caseList{node: n, prepare: prepare, profiles: d.profiles}
	for i, item := range n.entries(&report{}) {
		at := keyPath{base: casesKey, index: i}
		if item.kind == kindNull {
			d.problem(item, at, CodeType, "is empty", "give it a value, or remove it from the list")
			continue
		}
		var tc TestCase
		if !d.value(prepare(item, d.rep), at, reflect.ValueOf(&tc).Elem(), rules{}) {
			continue
		}
		list.special = list.special || tc.special()
		if d.eachCase != nil {
			d.eachCase(&tc)
		}
	}
	v.Set(reflect.ValueOf(Cases{read: list}))
	return true
}

// longItems are the items of a list that is kept as text, because its tree would
// be large.
type longItems interface {
	// length returns how many there are.
	length() int
	// substitutes reports whether variables are put into them; otherwise a ${ is
	// text.
	substitutes() bool
	// each yields them with their places. It reports to rep what it finds, and
	// yields -1 where the text cannot be read.
	each(rep *report) iter.Seq2[int, *node]
}

// pieces is a block list of YAML that is kept as text.
type pieces struct {
	src     *source
	text    string
	line    int // lines of the file before the text
	indent  int // of the entries
	size    int // of a piece, in bytes
	count   int // of entries
	anchors map[string]*node
	sizes   map[*node]int
}

// length implements longItems.
func (p *pieces) length() int { return p.count }

// substitutes implements longItems.
func (p *pieces) substitutes() bool { return true }

// each implements longItems. Once the text has been read without a failure, what
// it reports is known already.
func (p *pieces) each(rep *report) iter.Seq2[int, *node] {
	return func(yield func(int, *node) bool) {
		c := newConverter(p.src, rep)
		c.anchors, c.sizes = maps.Clone(p.anchors), maps.Clone(p.sizes)
		n := 0
		for begin, line := 0, p.line; begin < len(p.text); {
			end, lines := pieceEnd(p.text[begin:], p.indent, p.size)
			c.line = line
			piece := c.document(p.text[begin : begin+end])
			if piece == nil || piece.kind != kindList {
				c.failed = true
			}
			if c.failed {
				yield(-1, nil)
				return
			}
			for _, item := range piece.items {
				if !yield(n, item) {
					return
				}
				n++
			}
			begin, line = begin+end, line+lines
		}
	}
}

// measure reads the whole text once, reporting to rep, and counts the entries.
// It reports whether every piece could be read.
func (p *pieces) measure(rep *report) bool {
	p.count = 0
	for i := range p.each(rep) {
		if i < 0 {
			return false
		}
		p.count++
	}
	return true
}

// length returns how many entries a list has.
func (n *node) length() int {
	if n.long != nil {
		return n.long.length()
	}
	return len(n.items)
}

// entries yields the entries of a list. What reading them finds again is
// reported to rep.
func (n *node) entries(rep *report) iter.Seq2[int, *node] {
	if n.long != nil {
		return n.long.each(rep)
	}
	return slices.All(n.items)
}
