package testrun

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Selection says which test cases run, and how often. Its parts narrow one
// another in the order in which they stand here; the zero value is all cases.
type Selection struct {
	// Only are names, ids, or patterns of them in which * stands for any
	// characters and ? for one. A case runs that one of them matches.
	Only []string `json:"only,omitempty"`
	// Tags are tags one of which a case has.
	Tags []string `json:"tags,omitempty"`
	// IDs are the ids of cases; nil means any. An id that no case has is passed
	// over.
	IDs []string `json:"ids,omitempty"`
	// Limit is how many cases run, the first ones; 0 means all.
	Limit int `json:"limit,omitempty"`
	// Shard is one of several parts of the cases.
	Shard Shard `json:"shard,omitzero"`
	// Repeat is how often each case runs; 0 means as often as the case says.
	Repeat int `json:"repeat,omitempty"`
}

// Shard is the i-th of n parts, counted from 1, into which cases are dealt like
// cards: the first case to the first part, and so on. The zero value is the
// whole.
type Shard struct {
	Index int `json:"index"`
	Count int `json:"count"`
}

// ParseShard reads i/n.
func ParseShard(text string) (Shard, error) {
	first, second, ok := strings.Cut(text, "/")
	index, errIndex := strconv.Atoi(strings.TrimSpace(first))
	count, errCount := strconv.Atoi(strings.TrimSpace(second))
	if !ok || errIndex != nil || errCount != nil || index < 1 || count < index {
		return Shard{}, fmt.Errorf("%q is not a part such as 2/5: the part, from 1, and how many there are", text)
	}
	return Shard{index, count}, nil
}

// has reports whether the n-th case, counted from 0, is in the shard.
func (s Shard) has(n int) bool { return s.Count == 0 || n%s.Count == s.Index-1 }

// filter picks cases one by one, in the order of the file.
type filter struct {
	sel     Selection
	ids     map[string]bool
	matched []bool // of sel.Only: a case was matched
	tagged  []bool // of sel.Tags: a case has it
	picked  int    // before shard
}

func newFilter(sel Selection) *filter {
	f := &filter{sel: sel, matched: make([]bool, len(sel.Only)), tagged: make([]bool, len(sel.Tags))}
	if sel.IDs != nil {
		f.ids = make(map[string]bool, len(sel.IDs))
		for _, id := range sel.IDs {
			f.ids[id] = true
		}
	}
	return f
}

// picks reports whether a case runs.
func (f *filter) picks(c *testCase) bool {
	// All parts look at every case, so that what nothing matches is known.
	only := f.matches(f.sel.Only, f.matched, func(pattern string) bool {
		return slices.ContainsFunc(c.names(), func(name string) bool { return wildcard(pattern, name) })
	})
	tags := f.matches(f.sel.Tags, f.tagged, func(tag string) bool { return slices.Contains(c.tc.Tags, tag) })
	if !only || !tags || f.ids != nil && !f.ids[c.id] {
		return false
	}
	f.picked++
	return (f.sel.Limit <= 0 || f.picked <= f.sel.Limit) && f.sel.Shard.has(f.picked-1)
}

// done reports that no further case can be picked, and that every part of the
// selection has matched something.
func (f *filter) done() bool {
	return f.sel.Limit > 0 && f.picked >= f.sel.Limit && !slices.Contains(f.matched, false) && !slices.Contains(f.tagged, false)
}

// matches reports whether one of the entries holds, noting which do. No entries
// hold.
func (f *filter) matches(entries []string, noted []bool, holds func(string) bool) bool {
	any := len(entries) == 0
	for i, entry := range entries {
		if holds(entry) {
			noted[i], any = true, true
		}
	}
	return any
}

// unmatched says which part of the selection no case has, or returns nil.
func (f *filter) unmatched(a *config.Agent) error {
	if i := slices.Index(f.matched, false); i >= 0 {
		return fmt.Errorf("no test case has the name or id %q; %s", f.sel.Only[i], known("there is", firstNames(a)))
	}
	if i := slices.Index(f.tagged, false); i >= 0 {
		return fmt.Errorf("no test case has the tag %q; %s", f.sel.Tags[i], known("tags are", allTags(a)))
	}
	return nil
}

// maxKnown is how many names or tags a message lists.
const maxKnown = 10

func known(lead string, list []string) string {
	if len(list) == 0 {
		return "there are none"
	}
	rest := ""
	if more := len(list) - maxKnown; more > 0 {
		list, rest = list[:maxKnown], " and more"
	}
	return lead + " " + strings.Join(list, ", ") + rest
}

// firstNames returns what the first cases are called.
func firstNames(a *config.Agent) []string {
	var names []string
	for c := range testCases(a) {
		if names = append(names, c.title); len(names) > maxKnown {
			break
		}
	}
	return names
}

// allTags returns the tags of all cases, in order.
func allTags(a *config.Agent) []string {
	var tags []string
	for c := range testCases(a) {
		for _, tag := range c.tc.Tags {
			if tag = a.Redactor.String(tag); !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	slices.Sort(tags)
	return tags
}

// wildcard reports whether a pattern matches a text as a whole: * stands for any
// characters, ? for one, and a pattern matches itself.
func wildcard(pattern, text string) bool {
	if pattern == text {
		return true
	}
	p, t := []rune(pattern), []rune(text)
	star, from := -1, 0 // the last * and where its characters began
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i, j = i+1, j+1
		case star >= 0: // the * takes one more
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// names returns what --only may call a case.
func (c *testCase) names() []string {
	names := []string{c.id, c.title}
	if c.written != "" {
		names = append(names, c.written)
	}
	return names
}
