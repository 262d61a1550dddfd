package agentframework

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// summarization has the model put the beginning of a conversation into a few
// sentences.
type summarization struct {
	keep  int // groups that stay as they are
	slack int // how many more there may be
}

const (
	// summaryRequest tells the model what a summary is for.
	summaryRequest = "You sum up the beginning of a conversation for an assistant that goes on with it and reads your summary in its place. " +
		"Keep names, numbers, dates, what was decided, what is still open, and what tools found, with its sources. Leave out small talk. " +
		"Write in the language of the conversation. Answer with the summary and nothing else."
	// transcriptHead stands before the conversation that is to be summed up.
	transcriptHead = "Sum up this conversation"
	// summaryHead stands before a summary where the conversation goes on.
	summaryHead = "Summary of the conversation so far:\n"
)

// Compact implements loop.Compactor.
func (s summarization) Compact(ctx context.Context, history []llm.Message, ask loop.Ask) ([]llm.Message, string, error) {
	groups := split(history)
	before := ""
	if first := groups[0][0]; first.Auto && strings.HasPrefix(agent.JoinText(first.Parts), summaryHead) {
		before = agent.JoinText(first.Parts)
		groups = groups[1:]
	}
	if len(groups) <= s.keep+s.slack {
		return nil, "", nil
	}
	old, kept := groups[:len(groups)-s.keep], groups[len(groups)-s.keep:]
	if turn := currentTurn(groups); turn < len(old) {
		kept = append([]group{groups[turn]}, kept...)
		old = append(old[:turn:turn], old[turn+1:]...)
	}
	if len(old) == 0 {
		return nil, "", nil
	}
	text, err := ask(ctx, summaryRequest, agent.Text(transcriptHead+":\n\n"+transcript(before, old)))
	if err != nil {
		return nil, "", fmt.Errorf("ask for a summary: %w", err)
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, "", errors.New("the summary is empty")
	}
	summary := llm.Message{Role: llm.RoleUser, Auto: true, Parts: agent.Text(summaryHead + text).Parts}
	return append([]llm.Message{summary}, join(kept)...), fmt.Sprintf(
		"the conversation is long: the oldest %d of its %d message groups are summed up (agent_framework.target_count is %d)", len(old), len(groups), s.keep), nil
}

// transcript writes out what was said. Calls are text in it, since a provider
// takes calls only beside the tools they are of.
func transcript(before string, groups []group) string {
	var b strings.Builder
	if before != "" {
		b.WriteString(before + "\n\n")
	}
	say := func(who, what string) {
		if what != "" {
			fmt.Fprintf(&b, "%s: %s\n\n", who, what)
		}
	}
	for _, m := range join(groups) {
		switch m.Role {
		case llm.RoleUser:
			say("Person", words(m.Parts))
		case llm.RoleAssistant:
			say("Assistant", words(m.Parts))
			for _, c := range m.Calls {
				say("Call of "+c.Name, string(c.Arguments))
			}
		case llm.RoleTool:
			for _, r := range m.Results {
				say("Result of "+r.Name, words(r.Result.Parts))
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// words returns the text of parts, and names the images and documents among
// them.
func words(parts []agent.Part) string {
	var list []string
	for _, p := range parts {
		switch p.Kind {
		case agent.PartText:
			list = append(list, p.Text)
		case agent.PartImage, agent.PartDocument:
			list = append(list, strings.TrimSpace(fmt.Sprintf("[%s %s", p.Kind, p.Name))+"]")
		}
	}
	return strings.TrimSpace(strings.Join(list, "\n\n"))
}
