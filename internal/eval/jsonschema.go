package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// follows passes when the answer, as a value, follows a JSON Schema.
type follows struct{ schema *schema.Schema }

func newFollows(m *config.StandardMetric) (scorer, error) {
	if m.JSONSchema == nil {
		return nil, errors.New("schema is missing")
	}
	s, err := schema.Compile(m.JSONSchema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return follows{s}, nil
}

func (f follows) score(_ context.Context, s sample) (score, error) {
	if err := f.schema.Masking(s.in.Redactor.Any).Check(s.value); err != nil {
		return score{reason: fmt.Sprintf("%s does not follow the schema: %v", s.in.oneLine(string(s.in.Redactor.JSON(s.value))), err)}, nil
	}
	return score{value: 1, pass: true}, nil
}
