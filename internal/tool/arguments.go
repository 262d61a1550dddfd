package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// schemaCheck lets only arguments through that follow the tool's schema. What an
// error quotes is masked before it is cut: half a secret cannot be told any more.
func schemaCheck(s *schema.Schema, r *secret.Redactor) Link {
	s = s.Masking(r.Any)
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			// What is no JSON arrives as a JSON string of what the model said.
			var said string
			if json.Unmarshal(c.Arguments, &said) == nil {
				return agent.ToolResult{}, fmt.Errorf("the arguments of %s are not a JSON object: %s", c.Name, excerpt(r.String(said)))
			}
			if err := s.Check(c.Arguments); err != nil {
				return agent.ToolResult{}, fmt.Errorf("the arguments of %s do not fit: %w", c.Name, err)
			}
			return next(ctx, c)
		}
	}
}

// excerpt quotes the beginning of s.
func excerpt(s string) string {
	const longest = 120 // runes
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
