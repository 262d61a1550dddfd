package store

import (
	"reflect"
	"testing"
)

func FuzzDecodePassages(f *testing.F) {
	f.Add(encodePassages(nil))
	f.Add(encodePassages([]Passage{{ID: "a", Text: "b", Meta: []Field{{"c", "d"}, {"e", ""}}}, {}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		passages, err := decodePassages(b)
		if err != nil {
			return
		}
		again, err := decodePassages(encodePassages(passages))
		if err != nil || !reflect.DeepEqual(again, passages) {
			t.Errorf("%v became %v, %v", passages, again, err)
		}
	})
}
