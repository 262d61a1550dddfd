package grader

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// expression is a one-liner over a case, in the language of expr-lang.org.
type expression struct{ program *vm.Program }

// scope is what an expression sees: the case, and as values that may be nil what
// the case may not have.
type scope struct {
	Case
	GroundTruth any `expr:"ground_truth"`
	Name        any `expr:"test_case_name"`
	Structured  any `expr:"structured"`
	Usage       any `expr:"usage"`
	CostUSD     any `expr:"cost_usd"`
}

// newExpression compiles an expression. The clock is left out: the same case has
// the same verdict.
func newExpression(text string) (*expression, error) {
	program, err := expr.Compile(text, expr.Env(scope{}), expr.DisableBuiltin("now"))
	if err != nil {
		return nil, fmt.Errorf("it is no expression: %s", oneLine(err))
	}
	if t := program.Node().Type(); t != nil {
		switch t.Kind() {
		case reflect.Bool, reflect.Int, reflect.Float64, reflect.Interface:
		default:
			return nil, fmt.Errorf("it gives a value of type %s; an expression gives true or false, or a score", t)
		}
	}
	return &expression{program}, nil
}

// Grade implements Grader.
func (e *expression) Grade(_ context.Context, c *Case) (Verdict, error) {
	s := scope{Case: *c}
	if c.GroundTruth != nil {
		s.GroundTruth = *c.GroundTruth
	}
	if c.TestCaseName != nil {
		s.Name = *c.TestCaseName
	}
	if c.Usage != nil {
		s.Usage = *c.Usage
	}
	if c.CostUSD != nil {
		s.CostUSD = *c.CostUSD
	}
	if len(c.Structured) > 0 {
		if err := json.Unmarshal(c.Structured, &s.Structured); err != nil {
			return Verdict{}, fmt.Errorf("read the answer: %w", err)
		}
	}
	value, err := expr.Run(e.program, s)
	if err != nil {
		return Verdict{}, fmt.Errorf("the expression failed: %s", oneLine(err))
	}
	switch value := value.(type) {
	case bool:
		return verdictOf(value), nil
	case int:
		return Verdict{Score: float64(value)}, nil
	case float64:
		return Verdict{Score: value}, nil
	}
	return Verdict{}, fmt.Errorf("the expression gave a value of type %T; it must be true or false, or a score", value)
}

// oneLine returns what an error of the language says, without the picture of the
// place that follows on lines of its own.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
