package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// follows passes when the answer, as a value, follows a JSON Schema. Where a part
// of the schema cannot be checked, an answer that follows the rest is an error:
// nobody knows whether it follows the whole.
type follows struct{ schema *schema.Schema }

func newFollows(m *config.StandardMetric) (scorer, error) {
	if m.JSONSchema == nil {
		return nil, errors.New("schema is missing")
	}
	s, err := schema.Compile(m.JSONSchema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if broken := s.Broken(); len(broken) > 0 {
		return nil, fmt.Errorf("schema: %s", strings.Join(broken, "; "))
	}
	return follows{s}, nil
}

func (f follows) score(_ context.Context, s sample) (score, error) {
	if err := f.schema.Masking(s.in.Redactor.Any).Check(s.value); err != nil {
		return score{reason: fmt.Sprintf("%s does not follow the schema: %v", s.in.oneLine(string(s.in.Redactor.JSON(s.value))), err)}, nil
	}
	if doubts := f.schema.Doubts(s.value); len(doubts) > 0 {
		return score{}, fmt.Errorf("the answer follows what could be checked of the schema, and this could not be checked: %s", strings.Join(doubts, "; "))
	}
	return score{value: 1, pass: true}, nil
}
