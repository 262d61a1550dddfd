package tool

import (
	"context"
	"errors"
	"maps"
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
			return Redacted(result, r), nil
		}
	}
}

// Redacted returns result with its secrets masked. result itself is not
// changed: a tool may keep what it returned.
func Redacted(result agent.ToolResult, r *secret.Redactor) agent.ToolResult {
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
	result.Structured = r.JSON(result.Structured)
	return result
}
