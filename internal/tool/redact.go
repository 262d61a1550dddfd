package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// redaction masks secrets in what a call returned, its error included. Opaque
// parts and the bytes of images and documents are left as they are.
func redaction(r *secret.Redactor) Link {
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			result, err := next(ctx, c)
			if err != nil {
				return agent.ToolResult{}, errors.New(r.String(err.Error()))
			}
			return redacted(result, r), nil
		}
	}
}

// redacted returns result with its secrets masked. result itself is not
// changed: a tool may keep what it returned.
func redacted(result agent.ToolResult, r *secret.Redactor) agent.ToolResult {
	result.Parts = slices.Clone(result.Parts)
	for i := range result.Parts {
		p := &result.Parts[i]
		p.Text, p.Name = r.String(p.Text), r.String(p.Name)
	}
	result.Passages = slices.Clone(result.Passages)
	for i := range result.Passages {
		p := &result.Passages[i]
		p.ID, p.Text, p.Source = r.String(p.ID), r.String(p.Text), r.String(p.Source)
		p.Metadata = maps.Clone(p.Metadata)
		for key, value := range p.Metadata {
			p.Metadata[key] = r.String(value)
		}
	}
	result.Structured = redactedJSON(result.Structured, r)
	return result
}

// redactedJSON masks the strings of a JSON value. A value without secrets
// keeps its bytes; what is no JSON is masked as text and becomes a string.
func redactedJSON(raw json.RawMessage, r *secret.Redactor) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	var v any = string(raw)
	if json.Valid(raw) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber() // no digit may change
		if err := dec.Decode(&v); err != nil {
			return nil // what is valid can be decoded
		}
	}
	clean := r.Any(v)
	if reflect.DeepEqual(clean, v) && json.Valid(raw) {
		return raw
	}
	encoded, err := json.Marshal(clean)
	if err != nil { // what was decoded can be encoded
		return nil
	}
	return encoded
}
