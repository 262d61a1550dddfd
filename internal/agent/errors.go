package agent

import (
	"fmt"
	"strings"
)

// BackendInitError says that an agent could not be opened: a missing binary or
// credential, a tool that did not start, an option the runtime refuses.
type BackendInitError struct {
	Backend string // the runtime, as agent.yaml names it
	Err     error
}

// Error implements error.
func (e *BackendInitError) Error() string {
	return fmt.Sprintf("open backend %s: %v", e.Backend, e.Err)
}

// Unwrap returns the cause.
func (e *BackendInitError) Unwrap() error { return e.Err }

// BackendSessionError says that a turn or a session failed while it ran.
type BackendSessionError struct {
	Backend string
	Err     error
}

// Error implements error.
func (e *BackendSessionError) Error() string {
	return fmt.Sprintf("backend %s: %v", e.Backend, e.Err)
}

// Unwrap returns the cause.
func (e *BackendSessionError) Unwrap() error { return e.Err }

// BackendTimeoutError says that a deadline passed. It wraps
// context.DeadlineExceeded.
type BackendTimeoutError struct {
	Backend string
	What    string // what was under way, such as "model call", and the bound
	Err     error
}

// Error implements error.
func (e *BackendTimeoutError) Error() string {
	return fmt.Sprintf("backend %s: %s timed out", e.Backend, e.What)
}

// Unwrap returns the cause.
func (e *BackendTimeoutError) Unwrap() error { return e.Err }

// BackendBudgetError says that a turn's cost limit was reached. Callers of a
// Session never see it: there it is an error result with StopBudget.
type BackendBudgetError struct {
	Backend            string
	CostUSD, BudgetUSD float64
}

// Error implements error.
func (e *BackendBudgetError) Error() string {
	return fmt.Sprintf("backend %s: cost %s USD reached the budget of %s USD", e.Backend, amount(e.CostUSD), amount(e.BudgetUSD))
}

// amount writes a sum of money with four decimals, and up to eight where there is
// more to say: the cost of a small call is far below a cent.
func amount(usd float64) string {
	s := fmt.Sprintf("%.8f", usd)
	least := len(s) - 4
	return s[:least] + strings.TrimRight(s[least:], "0")
}

// ToolsLostError says that an agent that needs all of its tools lost some while it
// ran. What it would answer without them says nothing about it.
type ToolsLostError struct {
	Err error // which, and why
}

// Error implements error.
func (e *ToolsLostError) Error() string {
	return fmt.Sprintf("the agent lost tools that it needs: %v", e.Err)
}

// Unwrap returns the cause.
func (e *ToolsLostError) Unwrap() error { return e.Err }

// ToolError says that a tool could not be opened or adapted, or that a call of
// it failed.
type ToolError struct {
	Tool string // canonical name
	Err  error
}

// Error implements error.
func (e *ToolError) Error() string { return fmt.Sprintf("tool %s: %v", e.Tool, e.Err) }

// Unwrap returns the cause.
func (e *ToolError) Unwrap() error { return e.Err }
