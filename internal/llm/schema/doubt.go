package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/dlclark/regexp2"
	"github.com/google/jsonschema-go/jsonschema"
)

// Broken names the patterns of the schema that are no regular expressions in any
// common syntax: whoever wrote them meant something else.
func (s *Schema) Broken() []string { return s.broken }

// Doubts names why it may mean nothing that Check accepted a JSON text: what
// Unchecked names, and a whole number that the schema compares and a double, in
// which Check has numbers, cannot hold.
func (s *Schema) Doubts(value []byte) []string {
	if !s.comparesNumbers {
		return s.unchecked
	}
	number := inexact(value)
	if number == "" {
		return s.unchecked
	}
	return append(s.unchecked[:len(s.unchecked):len(s.unchecked)], "the number "+number+", which has too many digits to be compared")
}

// isPattern reports whether some common syntax has the pattern.
func isPattern(pattern string) bool {
	if isRE2(pattern) {
		return true
	}
	for _, options := range []regexp2.RegexOptions{regexp2.None, regexp2.ECMAScript} {
		if _, err := regexp2.Compile(pattern, options); err == nil {
			return true
		}
	}
	return false
}

// passedOver returns what a schema says that means nothing in its draft: lists
// that the other draft writes in another way, and keywords that no draft knows.
// Keywords that only describe are none of those.
func (s *Schema) passedOver(node *jsonschema.Schema) []string {
	var out []string
	seventh := strings.Contains(s.root.Schema, "draft-07")
	switch {
	case seventh && node.PrefixItems != nil:
		out = append(out, "prefixItems, which draft 07 does not know (it writes a list under items)")
	case !seventh && node.ItemsArray != nil:
		out = append(out, "a list under items, which is of draft 07 (write prefixItems, or name the draft in $schema)")
	}
	if !seventh && node.AdditionalItems != nil {
		out = append(out, "additionalItems, which is of draft 07 (write items, or name the draft in $schema)")
	}
	for _, key := range sortedKeys(node.Extra) {
		if key != "example" && !strings.HasPrefix(key, "x-") && !strings.HasPrefix(key, "$") {
			out = append(out, "the keyword "+key+", which is not known")
		}
	}
	return out
}

// comparesNumbers reports whether a schema looks at the value of a number.
func comparesNumbers(node *jsonschema.Schema) bool {
	if node.UniqueItems || node.Const != nil || node.Enum != nil {
		return true
	}
	for _, bound := range []*float64{node.Minimum, node.Maximum, node.ExclusiveMinimum, node.ExclusiveMaximum, node.MultipleOf} {
		if bound != nil {
			return true
		}
	}
	return false
}

// noteNumbers notes whether the schema compares numbers, and one of its own that
// a double cannot hold.
func (s *Schema) noteNumbers(raw []byte) {
	for _, node := range s.byPointer {
		s.comparesNumbers = s.comparesNumbers || comparesNumbers(node)
	}
	if number := inexact(raw); number != "" && s.comparesNumbers {
		s.unchecked = append(s.unchecked, fmt.Sprintf("the schema: the number %s, which has too many digits to be compared", number))
	}
}

// exactDigits is how many digits every whole number may have that a double holds
// exactly.
const exactDigits = 15

// inexact returns the first whole number in a JSON text that a double cannot
// hold, or "".
func inexact(doc []byte) string {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return ""
		}
		number, ok := tok.(json.Number)
		if !ok || len(number) <= exactDigits || strings.ContainsAny(number.String(), ".eE") {
			continue
		}
		exact, ok := new(big.Int).SetString(number.String(), 10)
		if !ok {
			continue
		}
		if _, accuracy := new(big.Float).SetInt(exact).Float64(); accuracy != big.Exact {
			return number.String()
		}
	}
}
