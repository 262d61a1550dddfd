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
	for i := range c.Turns {
		c.Turns[i].redact(r)
	}
}

func (t *Turn) redact(r *secret.Redactor) {
	t.Input = r.String(t.Input)
	t.Answer = r.String(t.Answer)
	t.Structured = redactJSON(r, t.Structured)
	if t.GroundTruth != nil {
		masked := r.String(*t.GroundTruth) // a copy: the text belongs to the agent file
		t.GroundTruth = &masked
	}
	if t.RetrievalContext != nil {
		masked := make([]string, len(t.RetrievalContext)) // likewise
		for i, text := range t.RetrievalContext {
			masked[i] = r.String(text)
		}
		t.RetrievalContext = masked
	}
	for i := range t.Files {
		t.Files[i].Content = r.String(t.Files[i].Content)
		t.Files[i].Err = r.String(t.Files[i].Err)
	}
	for i := range t.ToolCalls {
		call := &t.ToolCalls[i]
		call.Arguments = redactJSON(r, call.Arguments)
		call.Result = r.String(call.Result)
		call.Err = r.String(call.Err)
	}
	for i := range t.ToolChecks {
		check := &t.ToolChecks[i]
		check.Reason = r.String(check.Reason)
		if check.Expected.Args != nil {
			check.Expected.Args, _ = r.Any(check.Expected.Args).(map[string]any) // a copy, as above
		}
	}
	for i := range t.Metrics {
		t.Metrics[i].Reason = r.String(t.Metrics[i].Reason)
	}
	for i := range t.Errors {
		t.Errors[i] = r.String(t.Errors[i])
	}
}

// redactJSON masks the strings of a JSON value and returns doc itself when there
// is nothing to mask. What is no JSON becomes a JSON string.
func redactJSON(r *secret.Redactor, doc json.RawMessage) json.RawMessage {
	masked := r.String(string(doc))
	if masked == string(doc) && !bytes.ContainsRune(doc, '\\') { // no escape that may hide a secret
		return doc
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber() // numbers keep their digits
	var value any
	if err := dec.Decode(&value); err != nil {
		return encodeJSON(masked)
	}
	return encodeJSON(r.Any(value))
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
