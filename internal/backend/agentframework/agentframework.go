package agentframework

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Open opens an agent. o is what is the same on every runtime; the agent's
// sections say the rest.
func Open(a *config.Agent, o loop.Options) (agent.Backend, error) {
	if a.UsesOpenAI() {
		s := a.OpenAI
		o.Limits.MaxTurns = s.MaxTurns
		if s.MaxBudgetUSD != nil {
			o.Limits.MaxSessionCostUSD = *s.MaxBudgetUSD
		}
		if s.Effort != nil {
			o.Sampling.Effort = string(*s.Effort)
		}
	}
	if s := a.AgentFramework; s != nil {
		if s.MaxToolRounds != nil {
			// The response that follows the last round is the answer.
			o.Limits = o.Limits.Tighten(agent.Limits{MaxTurns: *s.MaxToolRounds + 1})
		}
		if cannotSummarize(a) {
			text := "the offline model cannot summarize: the whole conversation is sent at every turn"
			o.Notices = append(o.Notices, agent.Notice{Code: agent.NoticeSubstitute, Text: text})
		} else {
			o.Compactor = compactor(s)
		}
	}
	b, err := loop.New(o)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// compactor returns what shortens conversations as the section says, or nil.
func compactor(s *config.AgentFramework) loop.Compactor {
	switch s.CompactionStrategy {
	case config.CompactionSlidingWindow:
		return slidingWindow{keep: s.KeepLastGroups}
	case config.CompactionSummarization:
		return summarization{keep: s.TargetCount, slack: s.Threshold}
	}
	return nil
}

// cannotSummarize reports whether summaries are asked for of a model that has
// none to give: the offline model has one only where a script says it.
func cannotSummarize(a *config.Agent) bool {
	m := a.Model
	return a.AgentFramework.CompactionStrategy == config.CompactionSummarization &&
		m.Provider == config.ProviderOffline && len(m.Script) == 0 && m.ScriptFile == nil
}

// Check warns of keys that do nothing in this agent.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	idle := func(b config.Block, key, why string) {
		if b.Wrote(key) {
			problems = append(problems, b.Problem(config.SeverityWarning, key, config.CodeNoEffect, "has no effect: "+why, ""))
		}
	}
	if a.UsesOpenAI() {
		o := a.OpenAI
		if !llm.HeedsEffort(a.Model) {
			idle(o.Block, "effort", a.Model.Name+" is not known as a model that thinks before it answers")
		}
		idle(o.Block, "i_understand_this_is_unsafe", "no key of this section is unsafe here")
		idle(o.Block, "disable_default_hooks", "secrets in tool output are always masked")
		idle(o.Block, "disable_subprocess_env_scrub", "it starts no child processes")
	}
	s := a.AgentFramework
	if s == nil {
		return problems
	}
	if s.CompactionStrategy != config.CompactionSlidingWindow {
		idle(s.Block, "keep_last_groups", "it is for compaction_strategy sliding_window")
	}
	if s.CompactionStrategy != config.CompactionSummarization {
		idle(s.Block, "target_count", "it is for compaction_strategy summarization")
		idle(s.Block, "threshold", "it is for compaction_strategy summarization")
	} else if cannotSummarize(a) {
		problems = append(problems, s.Problem(config.SeverityWarning, "compaction_strategy", config.CodeNoEffect,
			fmt.Sprintf("has no effect: the offline model cannot summarize unless its script says what (%s)", scripted),
			"use sliding_window, or script the summary"))
	}
	return problems
}

// scripted is the rule of a script that gives a summary.
const scripted = "when: {user: " + transcriptHead + "}"
