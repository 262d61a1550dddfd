package runs

import (
	"bytes"
	"encoding/json"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// Redact masks every secret in the case's texts, in place. It is called once a
// case is judged and before anybody sees it.
func (c *Case) Redact(r *secret.Redactor) {
	c.ID = r.String(c.ID)
	c.Name = r.String(c.Name)
	c.Tags = redactList(r, c.Tags)
	c.Pos.File = r.String(c.Pos.File)
	for i := range c.Turns {
		c.Turns[i].redact(r)
	}
}

func (t *Turn) redact(r *secret.Redactor) {
	t.Input = r.String(t.Input)
	t.Answer = r.String(t.Answer)
	t.Structured = redactJSON(r, t.Structured)
	t.GroundTruth = redactText(r, t.GroundTruth)
	t.RetrievalContext = redactList(r, t.RetrievalContext)
	for i := range t.Files {
		f := &t.Files[i]
		f.Content = r.String(f.Content)
		f.Err = r.String(f.Err)
		in := &f.Input
		for _, text := range []**string{&in.Path, &in.URL, &in.Description, &in.Sheet, &in.Range} {
			*text = redactText(r, *text)
		}
	}
	for i := range t.ToolCalls {
		call := &t.ToolCalls[i]
		call.Name = r.String(call.Name)
		call.CallID = r.String(call.CallID)
		call.Arguments = redactJSON(r, call.Arguments)
		call.Result = r.String(call.Result)
		call.Err = r.String(call.Err)
	}
	for i := range t.ToolChecks {
		check := &t.ToolChecks[i]
		check.Reason = r.String(check.Reason)
		check.Expected.Name = r.String(check.Expected.Name)
		if check.Expected.Args != nil {
			check.Expected.Args, _ = redactValue(r, check.Expected.Args).(map[string]any)
		}
	}
	for i := range t.Metrics {
		t.Metrics[i].Name = r.String(t.Metrics[i].Name)
		t.Metrics[i].Reason = r.String(t.Metrics[i].Reason)
	}
	for i := range t.Errors {
		t.Errors[i] = r.String(t.Errors[i])
	}
}

// redactText masks a text, in a copy: it belongs to the agent file.
func redactText(r *secret.Redactor, s *string) *string {
	if s == nil {
		return nil
	}
	masked := r.String(*s)
	return &masked
}

// redactList masks texts, in a copy.
func redactList(r *secret.Redactor, list []string) []string {
	if list == nil {
		return nil
	}
	masked := make([]string, len(list))
	for i, s := range list {
		masked[i] = r.String(s)
	}
	return masked
}

// redactValue masks the strings of a value, and the keys of its mappings, in a
// copy: a model may have put a secret anywhere.
func redactValue(r *secret.Redactor, v any) any {
	switch v := v.(type) {
	case []any:
		masked := make([]any, len(v))
		for i, item := range v {
			masked[i] = redactValue(r, item)
		}
		return masked
	case map[string]any:
		masked := make(map[string]any, len(v))
		for key, item := range v {
			masked[r.String(key)] = redactValue(r, item)
		}
		return masked
	}
	return r.Any(v)
}

// redactJSON masks the strings of a JSON value and returns doc itself when there
// is nothing to mask. What is no JSON becomes a JSON string.
func redactJSON(r *secret.Redactor, doc json.RawMessage) json.RawMessage {
	masked := r.String(string(doc))
	switch {
	case len(doc) == 0:
		return doc
	case !json.Valid(doc):
		return encodeJSON(masked)
	case masked == string(doc) && !bytes.ContainsRune(doc, '\\'): // no escape that may hide a secret
		return doc
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber() // numbers keep their digits
	var value any
	if err := dec.Decode(&value); err != nil {
		return encodeJSON(masked) // cannot happen: it is valid
	}
	return encodeJSON(redactValue(r, value))
}

// encodeJSON encodes what was decoded from JSON, or a string.
func encodeJSON(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage(`null`) // cannot happen for such values
	}
	return bytes.TrimSpace(buf.Bytes())
}
