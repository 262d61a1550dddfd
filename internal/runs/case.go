package runs

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Run is what is known of a run before its first case.
type Run struct {
	Agent   string    `json:"agent"`   // the agent's name
	Path    string    `json:"path"`    // the agent file, as the user named it
	Version string    `json:"version"` // of the program
	Started time.Time `json:"started"` // from Env.Now
	// Environment describes the circumstances, such as bounds and stand-ins.
	Environment map[string]string `json:"environment,omitempty"`
}

// Status is how a case or a turn ended.
type Status string

// The statuses.
const (
	// Passed: at least one check counted, and none failed.
	Passed Status = "passed"
	// Failed: a check failed, or there was an error.
	Failed Status = "failed"
	// Unchecked: nothing went wrong, and nothing was checked.
	Unchecked Status = "unchecked"
	// NotRun: the turn was given up because the turns before it failed. Only a
	// turn ends so, and it fails its case.
	NotRun Status = "not_run"
)

// Case is a finished attempt at a test case. Most cases have one attempt.
type Case struct {
	// Index is the case's place among all cases of the agent file, from 0. Each
	// combination of its vars is a case.
	Index int `json:"index"`
	// ID names the case in every run of the agent, unlike any other of its cases.
	ID string `json:"id"`
	// Name is the name the file gives it, or empty.
	Name string   `json:"name,omitempty"`
	Tags []string `json:"tags,omitempty"`
	// Pos is where it stands; zero when that is not known.
	Pos config.Pos `json:"pos,omitzero"`
	// Attempt is which of Repeats attempts this is, from 1. What came of all of
	// them together is in the Summary.
	Attempt int `json:"attempt"`
	Repeats int `json:"repeats"`
	// PassRule says how many of the attempts must pass; empty means all.
	PassRule config.PassRule `json:"pass_rule,omitempty"`
	// Conversation says that the file writes it as turns. Otherwise it has
	// exactly one turn.
	Conversation bool      `json:"conversation,omitempty"`
	Turns        []Turn    `json:"turns"`
	Status       Status    `json:"status"`
	Started      time.Time `json:"started"`
	// Elapsed is the wall-clock time of the whole case.
	Elapsed time.Duration `json:"elapsed_ns"`
}

// Turn is one message of a case and what came of it.
type Turn struct {
	Input       string  `json:"input"`
	Files       []File  `json:"files,omitempty"`
	GroundTruth *string `json:"ground_truth,omitempty"`
	// RetrievalContext is what the case gives metrics about retrieval to judge
	// by, instead of what was retrieved.
	RetrievalContext []string `json:"retrieval_context,omitempty"`
	// Answer is the agent's text, which may be partial when there are Errors.
	Answer     string          `json:"answer"`
	Structured json.RawMessage `json:"structured,omitempty"`
	ToolCalls  []ToolCall      `json:"tool_calls,omitempty"`
	// ToolChecks are nil when the case expects nothing of tools.
	ToolChecks []ToolCheck `json:"tool_checks,omitzero"`
	Metrics    []Metric    `json:"metrics,omitempty"`
	// Errors say what went wrong beside checks that failed: an error of the
	// agent, a limit it ran into, a file that could not be read, an answer that
	// is empty.
	Errors []string `json:"errors,omitempty"`
	Status Status   `json:"status"`
	// Usage is nil when no model call was made.
	Usage *agent.Usage `json:"usage,omitempty"`
	// CostUSD is nil when it is not known.
	CostUSD    *float64         `json:"cost_usd,omitempty"`
	StopReason agent.StopReason `json:"stop_reason,omitempty"`
	// AgentTime is how long the agent took, checks not included.
	AgentTime time.Duration `json:"agent_ns"`
}

// File is a file that went with an input.
type File struct {
	Input   config.FileInput `json:"input"`
	Content string           `json:"content"`         // what the agent was given of it
	Size    int64            `json:"size_bytes"`      // bytes of the file
	Err     string           `json:"error,omitempty"` // why it could not be read, or empty
	Elapsed time.Duration    `json:"elapsed_ns"`
}

// ToolCall is a call the agent made.
type ToolCall struct {
	Name      string          `json:"name"` // canonical
	CallID    string          `json:"call_id,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    string          `json:"result"`
	Err       string          `json:"error,omitempty"` // why it failed, or empty
	Elapsed   time.Duration   `json:"elapsed_ns"`
}

// ToolCheck is something a case demands of the tool calls and whether it holds.
type ToolCheck struct {
	// Rule is the key that demands it.
	Rule ToolRule `json:"rule,omitempty"`
	// Expected is the entry of expected_tools. Under the other rules it is but a
	// name: of the forbidden tool, or the value of the rule.
	Expected config.ExpectedTool `json:"expected"`
	Matched  bool                `json:"matched"`
	// Call is the index in ToolCalls of the first call that satisfied the
	// check or, of a forbidden tool, that broke it; else -1.
	Call int `json:"call"`
	// Reason says what is missing; empty when the check matched.
	Reason string `json:"reason,omitempty"`
}

// ToolRule is the key of a case that demands something of the tool calls.
type ToolRule string

// The rules.
const (
	RuleExpected  ToolRule = "expected_tools"
	RuleForbidden ToolRule = "forbidden_tools"
	RuleMaxCalls  ToolRule = "max_calls"
	RuleOrder     ToolRule = "tool_order"
)

// Title names the check, such as "expected tool search".
func (c ToolCheck) Title() string {
	switch c.Rule {
	case RuleForbidden:
		return "forbidden tool " + c.Expected.Name
	case RuleMaxCalls, RuleOrder:
		return strings.TrimSpace(string(c.Rule) + " " + c.Expected.Name)
	}
	return "expected tool " + c.Expected.Name
}

// MetricStatus is how a metric ended.
type MetricStatus string

// The statuses of a metric.
const (
	MetricPass          MetricStatus = "pass"
	MetricFail          MetricStatus = "fail"
	MetricError         MetricStatus = "error"
	MetricSkipped       MetricStatus = "skipped"
	MetricNotApplicable MetricStatus = "not_applicable"
)

// Metric is what a metric made of a turn.
type Metric struct {
	Name   string            `json:"name"`
	Kind   config.MetricType `json:"kind"`
	Status MetricStatus      `json:"status"`
	// Counts says that the status takes part in the verdict.
	Counts bool `json:"counts"`
	// Score is between 0 and 1; nil when there is none.
	Score *float64 `json:"score,omitempty"`
	// Threshold is the lowest score that passes; nil when none is set.
	Threshold *float64 `json:"threshold,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	// Details are what a grader had to say beside, a JSON object.
	Details json.RawMessage `json:"details,omitempty"`
	// Retries is how often the metric was tried again after an error.
	Retries int           `json:"retries,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns"`
}

// Failed reports whether the metric fails its turn.
func (m Metric) Failed() bool {
	return m.Counts && m.Status != MetricPass && m.Status != MetricNotApplicable
}

// titleLen is how many runes of an input stand for a name.
const titleLen = 60

// Title returns the case's name or, when it has none, the beginning of its
// first input on one line.
func (c *Case) Title() string {
	if c.Name != "" || len(c.Turns) == 0 {
		return c.Name
	}
	return Title(c.Turns[0].Input)
}

// Title returns the beginning of an input on one line, for a case that has no
// name. It ends with a whole word where one ends nearby.
func Title(input string) string {
	line := strings.Join(strings.Fields(input), " ")
	runes := []rune(line)
	if len(runes) <= titleLen {
		return line
	}
	line = string(runes[:titleLen-1])
	if i := strings.LastIndexByte(line, ' '); i > len(line)*3/4 {
		line = line[:i]
	}
	return line + "…"
}

// AgentTime returns how long the agent took over all turns.
func (c *Case) AgentTime() time.Duration {
	var sum time.Duration
	for _, t := range c.Turns {
		sum += t.AgentTime
	}
	return sum
}

// Usage returns the tokens of all turns, or nil when no turn called a model.
func (c *Case) Usage() *agent.Usage {
	var sum *agent.Usage
	for _, t := range c.Turns {
		if t.Usage == nil {
			continue
		}
		if sum == nil {
			sum = new(agent.Usage)
		}
		*sum = sum.Add(*t.Usage)
	}
	return sum
}

// CostUSD returns the sum of the turns whose cost is known; nil when none is.
func (c *Case) CostUSD() *float64 {
	var sum *float64
	for _, t := range c.Turns {
		if t.CostUSD == nil {
			continue
		}
		if sum == nil {
			sum = new(float64)
		}
		*sum += *t.CostUSD
	}
	return sum
}

// FailedByMetricErrorsOnly reports whether nothing but metrics that ended in an
// error fails the case.
func (c *Case) FailedByMetricErrorsOnly() bool {
	return c.Status == Failed && !slices.ContainsFunc(c.Turns, func(t Turn) bool {
		return len(t.Errors) > 0 || t.Status == NotRun ||
			slices.ContainsFunc(t.ToolChecks, func(c ToolCheck) bool { return !c.Matched }) ||
			slices.ContainsFunc(t.Metrics, func(m Metric) bool { return m.Failed() && m.Status != MetricError })
	})
}
