package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// rawOf returns v in JSON, with every secret masked. What is not masked keeps its
// bytes and its order.
func rawOf(v any, r *secret.Redactor) (json.RawMessage, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	return masked(text, r), nil
}

// valueOf returns what v is in JSON, with every secret masked: maps, lists,
// strings, numbers, truth values and nil. Equal values are equal requests.
func valueOf(v any, r *secret.Redactor) (any, error) {
	raw, err := rawOf(v, r)
	if err != nil {
		return nil, err
	}
	return decode(raw)
}

// decode decodes JSON and changes no digit.
func decode(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// masked returns JSON with the secrets in its strings masked, keys included. A
// number that is a secret as a whole becomes the mask.
func masked(data []byte, r *secret.Redactor) []byte {
	var out bytes.Buffer
	for i := 0; i < len(data); {
		end := i + 1
		switch c := data[i]; {
		case c == '"':
			end = endOfString(data, i)
			out.Write(maskedString(data[i:end], r))
		case c == '-' || '0' <= c && c <= '9':
			for end < len(data) && strings.IndexByte("0123456789+-.eE", data[end]) >= 0 {
				end++
			}
			if number := data[i:end]; r.String(string(number)) == secret.Mask {
				out.WriteString(`"` + secret.Mask + `"`)
			} else {
				out.Write(number)
			}
		default:
			out.WriteByte(c)
		}
		i = end
	}
	return out.Bytes()
}

// endOfString returns where the string that begins at start ends.
func endOfString(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// maskedString returns a JSON string with the secrets in its text masked.
func maskedString(literal []byte, r *secret.Redactor) []byte {
	var text string
	if err := json.Unmarshal(literal, &text); err != nil {
		return literal // cannot happen in what was encoded
	}
	clean := r.String(text)
	if clean == text {
		return literal
	}
	encoded, err := encode(clean)
	if err != nil {
		return []byte(`"` + secret.Mask + `"`) // cannot happen for a string
	}
	return encoded
}

// encode returns a value as JSON on one line, with the keys of maps sorted.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// requestOf returns the fields of a request as an object, with every secret
// masked. A field without a value is left out.
func requestOf(fields []Field, r *secret.Redactor) (map[string]any, error) {
	request := make(map[string]any, len(fields))
	for _, f := range fields {
		v, err := valueOf(f.Value, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if v != nil {
			request[f.Name] = v
		}
	}
	return request, nil
}

// shortest is the length, in bytes of JSON, from which a value of a request is
// written once and referred to.
const shortest = 200

// reference is the only key of an object that stands for a value.
const reference = "$value"

// idOf returns the id of a value that is encoded as text.
func idOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// isReference reports whether v has the form of a reference.
func isReference(v any) (id string, ok bool) {
	object, ok := v.(map[string]any)
	if !ok || len(object) != 1 {
		return "", false
	}
	id, ok = object[reference].(string)
	return id, ok
}

// pack replaces the long values of a request, and the long elements of its
// lists, by references. define is told of each.
func pack(request map[string]any, define func(id string, text []byte) error) (map[string]any, error) {
	one := func(v any) (any, error) {
		text, err := encode(v)
		if err != nil {
			return nil, err
		}
		if _, alike := isReference(v); len(text) < shortest && !alike {
			return v, nil
		}
		id := idOf(text)
		return map[string]any{reference: id}, define(id, text)
	}
	return mapValues(request, one)
}

// unpack puts the values in the place of their references.
func unpack(packed map[string]any, values map[string]any) (map[string]any, error) {
	one := func(v any) (any, error) {
		id, ok := isReference(v)
		if !ok {
			return v, nil
		}
		value, ok := values[id]
		if !ok {
			return nil, fmt.Errorf("it refers to value %s, which the file does not have", id)
		}
		return value, nil
	}
	return mapValues(packed, one)
}

// mapValues returns a request with each value, and each element of its lists,
// replaced by what one makes of it.
func mapValues(request map[string]any, one func(any) (any, error)) (map[string]any, error) {
	out := make(map[string]any, len(request))
	for name, v := range request {
		list, ok := v.([]any)
		if !ok {
			var err error
			if out[name], err = one(v); err != nil {
				return nil, err
			}
			continue
		}
		items := make([]any, len(list))
		for i := range list {
			var err error
			if items[i], err = one(list[i]); err != nil {
				return nil, err
			}
		}
		out[name] = items
	}
	return out, nil
}
