package hook

import (
	"encoding/json"
	"testing"
)

func FuzzMerge(f *testing.F) {
	f.Add(`{"a": {"b": 1}}`, `{"a": {"b": null, "c": 2}}`)
	f.Add(`{"a": 1}`, `{"a": {"b": {"c": null}}}`)
	f.Add(``, `{"a": 12345678901234567890}`)
	f.Add(`[1]`, `{"a": 1}`)
	f.Fuzz(func(t *testing.T, args, patch string) {
		var p map[string]any
		if json.Unmarshal([]byte(patch), &p) != nil {
			return
		}
		once, err := merged(json.RawMessage(args), p)
		if err != nil || len(p) == 0 {
			return
		}
		twice, err := merged(once, p)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%s with %s is %s, and then %s, %v", args, patch, once, twice, err)
		}
	})
}
