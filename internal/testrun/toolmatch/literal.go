package toolmatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
)

// literal matches a value that is the same.
type literal struct{ want any }

func (l literal) match(arg json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(arg))
	dec.UseNumber()
	var got any
	if err := dec.Decode(&got); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if !same(l.want, got) {
		return fmt.Errorf("is %s, want %s", show(arg), showValue(l.want))
	}
	return nil
}

// same reports whether a value of the file is the value got, which is decoded
// JSON. It compares kinds by reflection because the file's loader is free to
// choose among Go's number types.
func same(want, got any) bool {
	if w, ok := number(want); ok {
		g, ok := number(got)
		return ok && w.equal(g)
	}
	switch got := got.(type) {
	case nil:
		return want == nil
	case bool, string:
		return want == got
	case []any:
		w := reflect.ValueOf(want)
		if w.Kind() != reflect.Slice || w.Len() != len(got) {
			return false
		}
		for i, item := range got {
			if !same(w.Index(i).Interface(), item) {
				return false
			}
		}
		return true
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok || len(w) != len(got) {
			return false
		}
		for key, item := range got {
			wanted, ok := w[key]
			if !ok || !same(wanted, item) {
				return false
			}
		}
		return true
	}
	return false
}

// value is a number: an exact rational, or an infinity.
type value struct {
	rat *big.Rat
	inf float64
}

func (v value) equal(w value) bool {
	if v.rat == nil || w.rat == nil {
		return v.rat == nil && w.rat == nil && v.inf == w.inf
	}
	return v.rat.Cmp(w.rat) == 0
}

// number returns v as a number, if it is one.
func number(v any) (value, bool) {
	if n, ok := v.(json.Number); ok {
		if !strings.ContainsAny(n.String(), ".eE") {
			if i, ok := new(big.Int).SetString(n.String(), 10); ok {
				return value{rat: new(big.Rat).SetInt(i)}, true
			}
		}
		f, _ := n.Float64() // out of range is infinite
		return floatValue(f), true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return value{rat: new(big.Rat).SetInt64(r.Int())}, true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return value{rat: new(big.Rat).SetUint64(r.Uint())}, true
	case reflect.Float32, reflect.Float64:
		return floatValue(r.Float()), true
	}
	return value{}, false
}

func floatValue(f float64) value {
	switch {
	case math.IsNaN(f):
		return value{inf: f} // equal to nothing, itself included
	case math.IsInf(f, 0):
		return value{inf: f}
	}
	return value{rat: new(big.Rat).SetFloat64(f)}
}

// showLen is how many runes of a value a reason shows.
const showLen = 120

// show returns a JSON value on one line, cut to showLen runes.
func show(doc []byte) string {
	var buf bytes.Buffer
	text := string(doc)
	if json.Compact(&buf, doc) == nil {
		text = buf.String()
	}
	if runes := []rune(text); len(runes) > showLen {
		text = string(runes[:showLen-1]) + "…"
	}
	return text
}

// showValue shows a value of the file as JSON.
func showValue(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // such as .nan, which JSON has not
	}
	return show(doc)
}
