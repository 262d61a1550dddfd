// Package grader owns graders: the user's own code that scores an answer. It says
// what code is told of a case and what its verdict means, the same for Python,
// programs, scripts and expressions. It refuses to run code, which is worker's,
// and to judge a verdict by a threshold, which is eval's.
//
// What a grader is told is a [Case], as JSON. In Python it is the GraderContext of
// the Python edition, whose first eight members have its names; the others are
// ours. A verdict is true or false, a score, or a score with more:
//
//	{"score": 0.5, "passed": false, "reason": "half of it", "details": {…}}
package grader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// Case is what a grader is told of a turn.
type Case struct {
	Input        string     `json:"turn_input" expr:"input"`
	Response     string     `json:"agent_response" expr:"response"`
	GroundTruth  *string    `json:"ground_truth" expr:"-"` // nil when the case declares none
	ToolCalls    []ToolCall `json:"tool_invocations" expr:"tool_calls"`
	Retrieval    []string   `json:"retrieval_context" expr:"retrieval_context"` // declared, else what was retrieved so far; nil is none
	TurnIndex    int        `json:"turn_index" expr:"turn_index"`               // from 0
	TestCaseName *string    `json:"test_case_name" expr:"-"`
	// TurnConfig is what the file says under turn_config.
	TurnConfig map[string]any `json:"turn_config" expr:"turn_config"`

	ExpectedTools []string        `json:"expected_tools" expr:"expected_tools"` // their names
	Structured    json.RawMessage `json:"structured_output" expr:"-"`           // the answer as a value, or null
	Usage         *Usage          `json:"token_usage" expr:"-"`                 // nil when no model was called
	CostUSD       *float64        `json:"cost_usd" expr:"-"`                    // nil when it is not known
	LatencyMS     float64         `json:"latency_ms" expr:"latency_ms"`         // of the agent
	Attempt       int             `json:"attempt" expr:"attempt"`               // from 1
	PriorTurns    []PriorTurn     `json:"prior_turns" expr:"prior_turns"`
	Files         []string        `json:"files" expr:"files"` // paths or addresses, as the case has them
}

// ToolCall is a call the agent made.
type ToolCall struct {
	Name       string         `json:"name" expr:"name"`
	Args       map[string]any `json:"args" expr:"args"`
	Result     string         `json:"result" expr:"result"`
	Bytes      int            `json:"bytes" expr:"bytes"` // of the result
	DurationMS int64          `json:"duration_ms" expr:"duration_ms"`
	Error      *string        `json:"error" expr:"error"` // nil when it went well
}

// Usage is the tokens of a turn.
type Usage struct {
	Prompt     int `json:"prompt_tokens" expr:"prompt_tokens"`
	Completion int `json:"completion_tokens" expr:"completion_tokens"`
	Total      int `json:"total_tokens" expr:"total_tokens"`
}

// PriorTurn is an earlier turn of a conversation.
type PriorTurn struct {
	Input    string `json:"input" expr:"input"`
	Response string `json:"response" expr:"response"`
}

// Verdict is what a grader made of an answer.
type Verdict struct {
	Score   float64         `json:"score"`
	Passed  *bool           `json:"passed"` // nil: the score decides
	Reason  string          `json:"reason"`
	Details json.RawMessage `json:"details"` // an object, or nothing
}

// Grader scores an answer. The error is ctx's, or says what went wrong in the
// grader.
type Grader interface {
	Grade(ctx context.Context, c *Case) (Verdict, error)
}

// Open returns the grader of a metric. Nothing of the user's code runs; the error
// says why an expression is none.
func Open(pool *worker.Pool, m *config.CodeMetric) (Grader, error) {
	env := worker.Env{}
	for name, value := range m.Env {
		env[name] = value.Reveal()
	}
	switch {
	case m.Expr != "":
		return newExpression(m.Expr)
	case m.Script != "":
		return script{pool.Script(m.Block.File("script", m.Script), m.Function)}, nil
	case len(m.Command) > 0:
		line := append([]string(nil), m.Command...)
		if strings.ContainsAny(line[0], `/\`) {
			line[0] = m.Block.File("command", line[0])
		}
		return command{line[0], pool.Command(line, env)}, nil
	}
	module, callable, _ := strings.Cut(m.Grader, ":")
	return python{pool.Grader(module, callable, env)}, nil
}

// Check finds what is wrong with a metric's grader without running it; the key is
// that of the metric which is wrong.
func Check(m *config.CodeMetric) (key string, err error) {
	switch {
	case m.Expr != "":
		_, err = newExpression(m.Expr)
		return "expr", err
	case m.Script != "":
		return "script", worker.CheckScript(m.Block.File("script", m.Script), m.Function)
	}
	return "", nil
}

// python is a callable of the user's.
type python struct{ callable *worker.Grader }

func (g python) Grade(ctx context.Context, c *Case) (Verdict, error) {
	told, err := c.encode()
	if err != nil {
		return Verdict{}, err
	}
	result, err := g.callable.Call(ctx, told)
	if err != nil {
		return Verdict{}, err
	}
	return parseVerdict(result)
}

// script is a function of a Starlark file, which is given the case as a dict.
type script struct{ function *worker.Script }

func (g script) Grade(ctx context.Context, c *Case) (Verdict, error) {
	told, err := c.encode()
	if err != nil {
		return Verdict{}, err
	}
	named, err := json.Marshal(map[string]json.RawMessage{"ctx": told})
	if err != nil {
		return Verdict{}, fmt.Errorf("encode the case: %w", err)
	}
	result, err := g.function.Call(ctx, named)
	if err != nil {
		return Verdict{}, err
	}
	return parseVerdict(result)
}

// command is a program. Without a word, exit status 0 passes and 1 fails.
type command struct {
	name    string
	program *worker.Command
}

func (g command) Grade(ctx context.Context, c *Case) (Verdict, error) {
	told, err := c.encode()
	if err != nil {
		return Verdict{}, err
	}
	exit, err := g.program.Run(ctx, append(told, '\n'))
	if err != nil {
		return Verdict{}, err
	}
	out := bytes.TrimSpace(exit.Stdout)
	switch {
	case exit.Code <= 1 && len(out) == 0:
		passed := exit.Code == 0
		v := verdictOf(passed)
		if !passed {
			v.Reason = exit.LastLine
		}
		return v, nil
	case exit.Code != 0:
		return Verdict{}, exit.Err(g.name)
	}
	return parseVerdict(out)
}

// encode returns what a grader is told: lists are lists, also when they are empty.
func (c *Case) encode() (json.RawMessage, error) {
	whole := *c
	whole.ToolCalls = append([]ToolCall{}, c.ToolCalls...)
	whole.ExpectedTools = append([]string{}, c.ExpectedTools...)
	whole.PriorTurns = append([]PriorTurn{}, c.PriorTurns...)
	whole.Files = append([]string{}, c.Files...)
	if whole.TurnConfig == nil {
		whole.TurnConfig = map[string]any{}
	}
	told, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("encode the case: %w", err)
	}
	return told, nil
}

// verdictOf returns the verdict of a grader that says no more than yes or no.
func verdictOf(passed bool) Verdict {
	v := Verdict{Passed: &passed}
	if passed {
		v.Score = 1
	}
	return v
}

// wanted says what a verdict is, for messages.
const wanted = "a verdict is true or false, a score, or an object with score, passed, reason and details"

// parseVerdict reads a verdict.
func parseVerdict(value json.RawMessage) (Verdict, error) {
	value = bytes.TrimSpace(value)
	var passed bool
	if json.Unmarshal(value, &passed) == nil && !bytes.Equal(value, []byte("null")) {
		return verdictOf(passed), nil
	}
	if len(value) == 0 || value[0] != '{' {
		var v Verdict
		if len(value) == 0 || value[0] == 'n' || json.Unmarshal(value, &v.Score) != nil {
			return Verdict{}, fmt.Errorf("the grader said %s; %s", excerpt(value), wanted)
		}
		return v, nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	var said struct {
		Score   json.RawMessage `json:"score"`
		Passed  *bool           `json:"passed"`
		Reason  *string         `json:"reason"`
		Details json.RawMessage `json:"details"`
	}
	if err := d.Decode(&said); err != nil {
		return Verdict{}, fmt.Errorf("the grader said %s: %w; %s", excerpt(value), err, wanted)
	}
	v := Verdict{Passed: said.Passed}
	if said.Reason != nil {
		v.Reason = *said.Reason
	}
	if len(said.Details) > 0 && !bytes.Equal(said.Details, []byte("null")) {
		if said.Details[0] != '{' {
			return Verdict{}, fmt.Errorf("the details of the verdict are %s, and must be an object", excerpt(said.Details))
		}
		v.Details = said.Details
	}
	switch {
	case len(said.Score) > 0:
		if whole, err := parseVerdict(said.Score); err != nil || said.Score[0] == '{' {
			return Verdict{}, fmt.Errorf("the score of the verdict is %s, and must be a number", excerpt(said.Score))
		} else {
			v.Score = whole.Score
		}
	case v.Passed != nil:
		v.Score = verdictOf(*v.Passed).Score
	default:
		return Verdict{}, errors.New("the verdict has neither score nor passed")
	}
	return v, nil
}

// excerpt quotes the beginning of what a grader said.
func excerpt(value []byte) string {
	const longest = 80 // runes
	if len(value) == 0 {
		return "nothing"
	}
	runes := []rune(strings.ToValidUTF8(string(value), "\uFFFD"))
	if len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return string(runes)
}
