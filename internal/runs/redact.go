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
	t.Structured = r.JSON(t.Structured)
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
		call.Arguments = r.JSON(call.Arguments)
		call.Result = r.String(call.Result)
		call.Err = r.String(call.Err)
	}
	for i := range t.ToolChecks {
		check := &t.ToolChecks[i]
		check.Reason = r.String(check.Reason)
		check.Expected.Name = r.String(check.Expected.Name)
		if check.Expected.Args != nil {
			check.Expected.Args, _ = r.Any(check.Expected.Args).(map[string]any)
		}
	}
	for i := range t.Metrics {
		t.Metrics[i].Name = r.String(t.Metrics[i].Name)
		t.Metrics[i].Reason = r.String(t.Metrics[i].Reason)
		t.Metrics[i].Details = r.JSON(t.Metrics[i].Details)
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
