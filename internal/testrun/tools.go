package testrun

import (
	"fmt"
	"strconv"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun/toolmatch"
)

// checkTools compares what was called with what the case demands. It returns nil
// when the case says nothing of tools.
func (r *runner) checkTools(made []runs.ToolCall, j judgement) []runs.ToolCheck {
	calls := make([]toolmatch.Call, len(made))
	for i, call := range made {
		calls[i] = toolmatch.Call{Name: call.Name, Arguments: call.Arguments, Failed: call.Err != ""}
	}
	var checks []runs.ToolCheck
	if j.turn.ExpectedTools != nil {
		checks = r.checkExpected(calls, j)
	}
	for _, forbidden := range [][]string{j.tc.ForbiddenTools, j.turn.ForbiddenTools} {
		for _, name := range forbidden {
			checks = append(checks, r.checkForbidden(name, calls))
		}
	}
	if j.turn.MaxCalls != nil {
		checks = append(checks, checkMaxCalls(*j.turn.MaxCalls, 0, calls))
	}
	// The bound of the case is checked once: where it is broken, or at the end.
	if most := j.tc.MaxCalls; most != nil && j.callsBefore <= *most && (j.last || j.callsBefore+len(calls) > *most) {
		checks = append(checks, checkMaxCalls(*most, j.callsBefore, calls))
	}
	return checks
}

// checkExpected makes the checks of expected_tools and of their order.
func (r *runner) checkExpected(calls []toolmatch.Call, j judgement) []runs.ToolCheck {
	checks := make([]runs.ToolCheck, 0, len(j.turn.ExpectedTools)+1)
	var compiled []*toolmatch.Expectation
	for _, e := range j.turn.ExpectedTools {
		check := runs.ToolCheck{Rule: runs.RuleExpected, Expected: e, Call: -1}
		x, err := toolmatch.Compile(e, r.agent.Redactor)
		if err != nil {
			check.Reason = err.Error()
		} else {
			res := x.Check(r.names, calls)
			check.Matched, check.Call, check.Reason = res.Met, res.Call, res.Reason
			compiled = append(compiled, x)
		}
		checks = append(checks, check)
	}
	order := j.turn.ToolOrder
	if order == "" {
		order = j.tc.ToolOrder
	}
	if order == "" || order == config.OrderNone || len(compiled) == 0 || len(compiled) < len(j.turn.ExpectedTools) {
		return checks
	}
	why := toolmatch.CheckOrder(order, r.names, compiled, calls)
	return append(checks, runs.ToolCheck{Rule: runs.RuleOrder, Expected: named(string(order)), Matched: why == "", Call: -1, Reason: why})
}

// named returns an expectation that is but a name.
func named(name string) config.ExpectedTool {
	return config.ExpectedTool{Name: name, Count: 1, Bare: true}
}

func (r *runner) checkForbidden(name string, calls []toolmatch.Call) runs.ToolCheck {
	check := runs.ToolCheck{Rule: runs.RuleForbidden, Expected: named(name), Call: toolmatch.Forbidden(r.names, name, calls)}
	check.Matched = check.Call < 0
	if !check.Matched {
		check.Reason = fmt.Sprintf("it was called (call %d, %s)", check.Call+1, calls[check.Call].Name)
	}
	return check
}

// checkMaxCalls checks how many calls were made, those of the turns before
// included.
func checkMaxCalls(most, before int, calls []toolmatch.Call) runs.ToolCheck {
	check := runs.ToolCheck{Rule: runs.RuleMaxCalls, Expected: named(strconv.Itoa(most)), Matched: true, Call: -1}
	if total := before + len(calls); total > most {
		check.Matched, check.Call = false, most-before
		made := "1 was"
		if total > 1 {
			made = fmt.Sprintf("%d were", total)
		}
		check.Reason = fmt.Sprintf("%s made, the first beyond it %s", made, calls[check.Call].Name)
	}
	return check
}
