package script

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// Problem is one thing that is wrong with a script.
type Problem struct {
	Path string // from the list of rules, such as "[2].do[0].call.name"
	// Line and Column count from 1; they are 0 where the place is not known,
	// as for rules that were not read from a file.
	Line, Column int
	Text         string // what is wrong
	Hint         string // what to do; may be empty
}

// String returns the problem as a person reads it, its place first.
func (p Problem) String() string {
	s := p.Text
	if p.Path != "" {
		s = p.Path + ": " + s
	}
	if p.Line > 0 {
		s = fmt.Sprintf("%d:%d: %s", p.Line, p.Column, s)
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Parse reads rules from what a YAML or JSON list decodes to: lists, maps with
// string keys, strings, numbers, booleans and nil. It returns every problem;
// the script is of use only when there is none.
func Parse(rules []any) (Script, []Problem) {
	var (
		p ruleReader
		s Script
	)
	for i, v := range rules {
		s.Rules = append(s.Rules, p.rule(fmt.Sprintf("[%d]", i), v))
	}
	return s, p.problems
}

// ruleReader collects the problems of a script while it is read.
type ruleReader struct{ problems []Problem }

func (p *ruleReader) problem(path, hint, format string, args ...any) {
	p.problems = append(p.problems, Problem{Path: path, Text: fmt.Sprintf(format, args...), Hint: hint})
}

var (
	ruleKeys  = []string{"when", "times", "do"}
	whenKeys  = []string{"user", "regex", "turn", "round", "result"}
	stepKeys  = []string{"text", "thinking", "call", "delay_ms", "block", "error", "cut", "garbage", "usage", "finish"}
	callKeys  = []string{"id", "name", "args"}
	errorKeys = []string{"status", "message", "retry_after_ms"}
	usageKeys = []string{"prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"}

	finishes = []string{FinishStop, FinishLength, FinishRefusal, FinishContentFilter}
)

func (p *ruleReader) rule(path string, v any) Rule {
	m := p.mapping(path, v, ruleKeys)
	if m == nil {
		return Rule{}
	}
	var r Rule
	if w, ok := m["when"]; ok {
		r.When = p.when(path+".when", w)
	}
	r.Times = p.count(path+".times", m, "times", 1)
	do, ok := m["do"]
	if !ok {
		p.problem(path, "add do with a list of steps", "a rule needs do: what the model does")
		return r
	}
	steps, ok := do.([]any)
	if !ok || len(steps) == 0 {
		p.problem(path+".do", "such as do: [{text: Hello}]", "is %s, want a list of at least one step", describe(do))
		return r
	}
	for i, v := range steps {
		at := fmt.Sprintf("%s.do[%d]", path, i)
		step := p.step(at, v)
		if step.ends() && i < len(steps)-1 {
			p.problem(fmt.Sprintf("%s.do[%d]", path, i+1), "remove it, or move it before the step that ends the call", "is never played: the step before it ends the call")
		}
		r.Steps = append(r.Steps, step)
	}
	return r
}

func (p *ruleReader) when(path string, v any) When {
	m := p.mapping(path, v, whenKeys)
	if m == nil {
		return When{}
	}
	w := When{
		User:   p.text(path+".user", m, "user"),
		Regex:  p.text(path+".regex", m, "regex"),
		Turn:   p.count(path+".turn", m, "turn", 1),
		Round:  p.count(path+".round", m, "round", 1),
		Result: p.text(path+".result", m, "result"),
	}
	if _, err := regexp.Compile(w.Regex); err != nil {
		p.problem(path+".regex", "the syntax is RE2: no lookaround, no backreferences", "is not a regular expression: %v", err)
	}
	return w
}

func (p *ruleReader) step(path string, v any) Step {
	m := p.mapping(path, v, stepKeys)
	if m == nil {
		return Step{}
	}
	if len(m) != 1 {
		p.problem(path, "write each on a list entry of its own", "a step is exactly one of %s; this has %d", strings.Join(stepKeys, ", "), len(m))
		return Step{}
	}
	s := Step{
		Text:     p.text(path+".text", m, "text"),
		Thinking: p.text(path+".thinking", m, "thinking"),
		Garbage:  p.text(path+".garbage", m, "garbage"),
		DelayMS:  p.count(path+".delay_ms", m, "delay_ms", 1),
	}
	for key, v := range m {
		at := path + "." + key
		switch key {
		case "call":
			s.Call = p.call(at, v)
		case "block":
			s.Block = p.truth(at, key, v)
		case "cut":
			s.Cut = p.truth(at, key, v)
		case "error":
			s.Error = p.error(at, v)
		case "usage":
			s.Usage = p.usage(at, v)
		case "finish":
			s.Finish = p.text(at, m, key)
			if s.Finish != "" && !slices.Contains(finishes, s.Finish) {
				p.problem(at, suggestion(s.Finish, finishes), "%q is not one of %s", s.Finish, strings.Join(finishes, ", "))
			}
		}
	}
	return s
}

// truth reads a step that is either there or not.
func (p *ruleReader) truth(path, key string, v any) bool {
	is, _ := v.(bool)
	if !is {
		p.problem(path, fmt.Sprintf("write %s: true, or remove the step", key), "is %s, want true", describe(v))
	}
	return is
}

func (p *ruleReader) call(path string, v any) *Call {
	m := p.mapping(path, v, callKeys)
	if m == nil {
		return nil
	}
	c := &Call{ID: p.text(path+".id", m, "id"), Name: p.text(path+".name", m, "name")}
	if _, ok := m["name"]; !ok {
		p.problem(path, "add name: the tool to call", "a call needs a name")
	}
	switch args := m["args"].(type) {
	case nil:
	case string: // JSON as the model writes it, which may be broken on purpose
		c.Args = args
	case map[string]any:
		data, err := json.Marshal(args)
		if err != nil {
			p.problem(path+".args", "", "cannot be written as JSON: %v", err)
			break
		}
		c.Args = string(data)
	default:
		p.problem(path+".args", `such as args: {query: refund}; a string is taken as JSON text`, "is %s, want a mapping", describe(args))
	}
	return c
}

func (p *ruleReader) error(path string, v any) *Error {
	m := p.mapping(path, v, errorKeys)
	if m == nil {
		return nil
	}
	e := &Error{
		Status:       p.count(path+".status", m, "status", 0),
		Message:      p.text(path+".message", m, "message"),
		RetryAfterMS: p.count(path+".retry_after_ms", m, "retry_after_ms", 1),
	}
	if _, ok := m["message"]; !ok {
		p.problem(path, "add message", "an error needs a message")
	}
	if e.Status != 0 && (e.Status < 400 || e.Status > 599) {
		p.problem(path+".status", "0, or absent, is a broken connection", "%d is not an HTTP error status, 400 to 599", e.Status)
	}
	return e
}

func (p *ruleReader) usage(path string, v any) *agent.Usage {
	m := p.mapping(path, v, usageKeys)
	if m == nil {
		return nil
	}
	count := func(key string) int { return p.count(path+"."+key, m, key, 0) }
	u := &agent.Usage{
		Prompt:     count("prompt_tokens"),
		Completion: count("completion_tokens"),
		Cached:     count("cached_tokens"),
		CacheWrite: count("cache_write_tokens"),
		Reasoning:  count("reasoning_tokens"),
	}
	u.Total = u.Prompt + u.Completion
	if u.Cached+u.CacheWrite > u.Prompt {
		p.problem(path, "raise prompt_tokens", "cached_tokens and cache_write_tokens are shares of prompt_tokens, and exceed it")
	}
	if u.Reasoning > u.Completion {
		p.problem(path, "raise completion_tokens", "reasoning_tokens is a share of completion_tokens, and exceeds it")
	}
	return u
}

// mapping returns v as a map with only the given keys, or nil when it is not a
// map. A key whose value is null is as good as absent.
func (p *ruleReader) mapping(path string, v any, keys []string) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		p.problem(path, "its keys are "+strings.Join(keys, ", "), "is %s, want a mapping", describe(v))
		return nil
	}
	out := make(map[string]any, len(m))
	unknown := make([]string, 0, len(m))
	for key, v := range m {
		switch {
		case !slices.Contains(keys, key):
			unknown = append(unknown, key)
		case v != nil:
			out[key] = v
		}
	}
	slices.Sort(unknown)
	for _, key := range unknown {
		hint := suggestion(key, keys)
		if hint == "" {
			hint = "the keys here are " + strings.Join(keys, ", ")
		}
		p.problem(path+"."+key, hint, "unknown key")
	}
	if len(unknown) > 0 && len(out) == 0 {
		return nil // what is missing is not worth a second problem
	}
	return out
}

// text returns the string at key, or "" when it is absent.
func (p *ruleReader) text(path string, m map[string]any, key string) string {
	v, ok := m[key]
	if !ok {
		return ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		p.problem(path, "put it in quotes", "is %s, want a string", describe(v))
	case s == "":
		p.problem(path, "remove it, or say something", "is empty")
	}
	return s
}

// count returns the whole number at key, at least least, or 0 when it is absent.
func (p *ruleReader) count(path string, m map[string]any, key string, least int) int {
	v, ok := m[key]
	if !ok {
		return 0
	}
	n, ok := integer(v)
	switch {
	case !ok:
		p.problem(path, "", "is %s, want a whole number", describe(v))
		return 0
	case n < least:
		p.problem(path, "", "is %d, want %d or more", n, least)
		return 0
	}
	return n
}

// integer returns v when it is a whole number of at most 32 bits, in whichever
// type a decoder put it.
func integer(v any) (int, bool) {
	var f float64
	switch n := v.(type) {
	case int:
		f = float64(n)
	case int64:
		f = float64(n)
	case uint64:
		f = float64(n)
	case float64:
		f = n
	default:
		return 0, false
	}
	if f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// describe says what v is, for a person.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "empty"
	case string:
		return fmt.Sprintf("the string %q", v)
	case bool:
		return fmt.Sprintf("%t", v)
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprint(v)
}

// suggestion returns a hint with the option nearest to word, or "".
func suggestion(word string, options []string) string {
	best, least := "", len(word)/2+1
	for _, o := range options {
		if d := distance(word, o); d < least {
			best, least = o, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance is the Levenshtein distance of two words, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
