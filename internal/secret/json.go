package secret

import (
	"bytes"
	"encoding/json"
)

// JSON returns a JSON value with the strings in it masked, the names of fields
// included: a model may have put a secret anywhere. A value without secrets keeps
// its bytes, and numbers keep their digits. What is no JSON is masked as text and
// becomes a JSON string; empty stays empty.
func (r *Redactor) JSON(doc json.RawMessage) json.RawMessage {
	masked := r.String(string(doc))
	switch {
	case len(doc) == 0:
		return doc
	case !json.Valid(doc):
		return encode(masked)
	case masked == string(doc) && !bytes.ContainsRune(doc, '\\'): // no escape that may hide a secret
		return doc
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return encode(masked) // cannot happen: it is valid
	}
	value, changed := r.maskedValue(value)
	if !changed {
		return doc
	}
	return encode(value)
}

// maskedValue returns v with every string masked, and whether one was.
func (r *Redactor) maskedValue(v any) (masked any, changed bool) {
	switch v := v.(type) {
	case string:
		s := r.String(v)
		return s, s != v
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			m, c := r.maskedValue(item)
			list[i], changed = m, changed || c
		}
		return list, changed
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, item := range v {
			m, c := r.maskedValue(item)
			masked := r.String(name)
			fields[masked], changed = m, changed || c || masked != name
		}
		return fields, changed
	}
	return v, false
}

// encode encodes what was decoded from JSON, or a string.
func encode(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage(`null`) // cannot happen for such values
	}
	return bytes.TrimSpace(buf.Bytes())
}
