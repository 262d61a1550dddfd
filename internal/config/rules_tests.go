package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// testCase checks a case. ids and names are those of the cases before it.
func (c *checker) testCase(tc *TestCase, ids, names map[string]bool) {
	c.identity(tc, ids, names)
	if tc.Wrote("turns") {
		for _, key := range []string{"input", "ground_truth", "expected_tools", "files", "retrieval_context"} {
			if tc.Wrote(key) {
				c.fail(tc.Block, key, CodeConflict, "turns are given, too", "move it into a turn")
			}
		}
	} else if !tc.Wrote("input") {
		c.fail(tc.Block, "input", CodeMissing, "is required unless there are turns", "")
	}
	if err := tc.PassRule.Check(); err != nil && tc.known("pass_rule") {
		c.fail(tc.Block, "pass_rule", CodeValue, err.Error(), "")
	}
	if tc.Repeat <= 1 {
		c.idle(tc.Block, "the case runs once, unless --repeat says otherwise; give repeat", "pass_rule")
	}
	c.vars(tc)
	c.exchange(tc.ExpectedTools, tc.Files, tc.Evaluations)
	c.forbidden(tc.ExpectedTools, tc.ForbiddenTools)
	expects := len(tc.ExpectedTools) > 0
	for j := range tc.Turns {
		turn := &tc.Turns[j]
		c.exchange(turn.ExpectedTools, turn.Files, turn.Evaluations)
		c.forbidden(turn.ExpectedTools, slices.Concat(tc.ForbiddenTools, turn.ForbiddenTools))
		c.order(turn.Block, turn.ToolOrder, len(turn.ExpectedTools) > 0)
		expects = expects || len(turn.ExpectedTools) > 0
	}
	c.order(tc.Block, tc.ToolOrder, expects)
}

// identity checks that results can tell a case from those before it.
func (c *checker) identity(tc *TestCase, ids, names map[string]bool) {
	switch {
	case tc.ID != nil && ids[*tc.ID]:
		c.fail(tc.Block, "id", CodeConflict, fmt.Sprintf("another case has the id %q", *tc.ID), "give each case an id of its own")
	case tc.ID != nil:
		ids[*tc.ID] = true
	case tc.Name != nil && names[*tc.Name]:
		c.warn(tc.Block, "name", CodeConflict, fmt.Sprintf("another case is called %q; results tell them apart by their order alone", *tc.Name), "give it an id")
	case tc.Name != nil:
		names[*tc.Name] = true
	}
}

// forbidden warns of tools that are expected and forbidden: a name that holds
// the expected one holds every part of it, too.
func (c *checker) forbidden(expected []ExpectedTool, forbidden []string) {
	for i := range expected {
		e := &expected[i]
		for _, part := range forbidden {
			if part != "" && strings.Contains(e.Name, part) {
				c.warn(e.Block, "", CodeConflict, fmt.Sprintf("%s is expected, and forbidden_tools has %q; the case cannot pass", e.Name, part), "remove one of the two")
			}
		}
	}
}

// order warns of an order in which nothing is expected.
func (c *checker) order(b Block, order ToolOrder, expects bool) {
	if order != "" && order != OrderNone && !expects {
		c.idle(b, "no expected_tools are given", "tool_order")
	}
}

// exchange checks what a single-turn case and a turn have in common.
func (c *checker) exchange(tools []ExpectedTool, files []FileInput, metrics []Metric) {
	for i := range tools {
		t := &tools[i]
		c.matchers(t)
		if t.Max != nil && *t.Max < t.Count {
			c.fail(t.Block, "max", CodeConflict, fmt.Sprintf("is %d, which is less than count, %d", *t.Max, t.Count), "")
		}
	}
	for i := range files {
		c.fileInput(&files[i])
	}
	c.metrics(metrics)
}

// matchers checks the argument matchers of an expected tool. A mapping with
// the key fuzzy or regex is a matcher and holds nothing else.
func (c *checker) matchers(t *ExpectedTool) {
	for _, name := range sortedKeys(t.Args) {
		arg, ok := t.Args[name].(map[string]any)
		if !ok {
			continue
		}
		fail := func(text, hint string) {
			c.fail(t.Block, "args", CodeValue, fmt.Sprintf("argument %q: %s", name, text), hint)
		}
		for _, key := range []string{"fuzzy", "regex"} {
			value, ok := arg[key]
			if !ok {
				continue
			}
			if len(arg) > 1 {
				fail(fmt.Sprintf("a %s matcher has no other keys", key), "use one matcher an argument")
				break
			}
			pattern, ok := value.(string)
			if !ok {
				fail(key+" must be text", "put it in quotes")
			} else if key == "regex" {
				if err := CheckPattern(pattern); err != nil {
					fail(fmt.Sprintf("%q is not a regular expression: %v", pattern, err), "")
				}
			}
		}
	}
}

// fileInput checks a file that goes with an input.
func (c *checker) fileInput(f *FileInput) {
	c.exactlyOne(f.Block, "path", "url")
	if f.Path != nil {
		if strings.TrimSpace(*f.Path) == "" {
			c.fail(f.Block, "path", CodeValue, "is blank", "")
		}
		c.file(f.Block, "path", *f.Path)
		c.idle(f.Block, "it is for url", "cache")
	}
	if f.URL != nil && f.known("url") {
		if scheme, host := splitURL(*f.URL); host == "" || scheme != "https" && scheme != "http" {
			c.fail(f.Block, "url", CodeValue, "is not an http or https URL", "")
		}
	}
	if f.Type != "" && f.Type != "pdf" && f.Type != "powerpoint" {
		c.idle(f.Block, "it is for type pdf or powerpoint", "pages")
	}
	if f.Type != "" && f.Type != "excel" {
		c.idle(f.Block, "it is for type excel", "sheet", "range")
	}
}

// evaluations checks the evaluations section.
func (c *checker) evaluations() {
	e := c.agent.Evaluations
	if e == nil {
		return
	}
	c.metrics(e.Metrics)
	if o := e.Optimizer; o != nil {
		for i := range o.Axes.Numeric {
			c.axis(&o.Axes.Numeric[i])
		}
	}
}

// metrics checks a list of metrics.
func (c *checker) metrics(metrics []Metric) {
	for _, metric := range metrics {
		switch m := metric.(type) {
		case *StandardMetric:
			c.model(m.Model)
			if m.ResponsePath != nil && m.known("response_path") && !isResponsePath(*m.ResponsePath) {
				c.fail(m.Block, "response_path", CodeValue, fmt.Sprintf("%q is not a path into a JSON answer", *m.ResponsePath), "such as items[0].price")
			}
			c.parameters(m)
		case *GEvalMetric:
			c.model(m.Model)
		case *RAGMetric:
			c.model(m.Model)
		case *CodeMetric:
			c.grader(m)
		}
	}
}

// parameters checks what a standard metric must be told.
func (c *checker) parameters(m *StandardMetric) {
	switch m.Metric {
	case "json_schema":
		if m.Schema == nil && !m.Wrote("schema") {
			c.fail(m.Block, "schema", CodeMissing, "is required with metric json_schema", "a JSON Schema, or the path of one")
		}
	case "length", "latency", "cost", "tokens":
		if !m.Wrote("min") && !m.Wrote("max") {
			c.fail(m.Block, "", CodeMissing, fmt.Sprintf("metric %s needs min or max", m.Metric), "give one of the two, or both")
		}
	}
	if m.Min != nil && m.Max != nil && *m.Min > *m.Max {
		c.fail(m.Block, "max", CodeConflict, "is less than min", "")
	}
	if m.Pattern != nil && m.known("pattern") {
		if err := CheckPattern(*m.Pattern); err != nil {
			c.fail(m.Block, "pattern", CodeValue, fmt.Sprintf("%q is not a regular expression: %v", *m.Pattern, err), "")
		}
	}
}

// isResponsePath reports whether s is names of letters, digits, _ and -, each
// followed by any number of [n], joined by dots.
func isResponsePath(s string) bool {
	for _, segment := range strings.Split(s, ".") {
		name, indexes, _ := strings.Cut(segment, "[")
		if indexes != "" || strings.Contains(segment, "[") {
			for _, index := range strings.Split(indexes, "[") {
				digits, ok := strings.CutSuffix(index, "]")
				if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
					return false
				}
			}
		}
		if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' || !isToolName(name) {
			return false
		}
	}
	return true
}

// axis checks a numeric axis of the optimizer.
func (c *checker) axis(a *NumericAxis) {
	if a.Type != "int" && a.Type != "float" || !a.Wrote("range") || len(a.Range) == 0 {
		return
	}
	bounds := make([]float64, 0, 2)
	for _, v := range a.Range {
		switch v := v.(type) {
		case int:
			bounds = append(bounds, float64(v))
		case float64:
			if a.Type == "int" && v != float64(int(v)) {
				continue
			}
			bounds = append(bounds, v)
		}
	}
	if len(a.Range) != 2 || len(bounds) != 2 || bounds[0] >= bounds[1] {
		number := "two numbers"
		if a.Type == "int" {
			number = "two whole numbers"
		}
		c.fail(a.Block, "range", CodeValue, fmt.Sprintf("must be [low, high], %s with low below high", number), "for a list of choices use type categorical")
	}
}

// sortedKeys returns the keys of a mapping in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
