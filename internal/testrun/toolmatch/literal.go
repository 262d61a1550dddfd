package toolmatch

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
)

// literal matches a value that is the same.
type literal struct {
	want any
	like string // the key of the matcher that want looks like; empty for none
}

func (l literal) match(q quoter, arg json.RawMessage) []difference {
	got, err := decode(arg)
	if err != nil {
		return differ("%v", err)
	}
	return q.diff(l.want, got)
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
		w, ok := want.([]any)
		return ok && len(quoter{}.diffLists(w, got)) == 0
	case map[string]any:
		w, ok := want.(map[string]any)
		return ok && len(quoter{}.diffObjects(w, got)) == 0
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

// float returns the nearest float.
func (v value) float() float64 {
	if v.rat == nil {
		return v.inf
	}
	f, _ := v.rat.Float64()
	return f
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
