package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/secret"
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

func TestATransformDoesNotPutMasksInThePlaceOfSecrets(t *testing.T) {
	h := &Hooks{options: Options{Redactor: secret.NewRedactor([]string{"hunter2hunter2"})}}
	const args = `{"auth":{"key":"hunter2hunter2","user":"u"},"list":["hunter2hunter2",1],"to":"anna"}`
	for _, tt := range []struct{ patch, want string }{
		{`{"to":"bert"}`, `{"auth":{"key":"hunter2hunter2","user":"u"},"list":["hunter2hunter2",1],"to":"bert"}`},
		{`{"to":"bert","auth":{"key":"[redacted]","user":"v"},"list":["[redacted]",1]}`, `{"auth":{"key":"hunter2hunter2","user":"v"},"list":["hunter2hunter2",1],"to":"bert"}`},
		{`{"auth":{"key":"[redacted]","user":"u"}}`, args},
		{`{"to":"[redacted]"}`, "it set to to a value with a masked secret in it"},
		{`{"list":["[redacted]",2]}`, "it set list to a value with a masked secret in it"},
		{`{"x":{"y":["a [redacted]"]}}`, "it set y to a value with a masked secret in it"},
		{`{"[redacted]":1}`, "whose name is masked"},
	} {
		got, err := h.transformed(json.RawMessage(args), object(json.RawMessage(tt.patch)))
		if said := string(got); err != nil && !strings.Contains(err.Error(), tt.want) || err == nil && said != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.patch, got, err, tt.want)
		}
	}
}
