package agentframework

import (
	"context"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// slidingWindow keeps the end of a conversation and forgets the rest.
type slidingWindow struct{ keep int }

// Compact implements loop.Compactor.
func (w slidingWindow) Compact(_ context.Context, history []llm.Message, _ loop.Ask) ([]llm.Message, string, error) {
	groups := split(history)
	first := len(groups) - w.keep
	if first <= 0 {
		return nil, "", nil
	}
	var kept []group
	if turn := currentTurn(groups); turn < first {
		kept = append(kept, groups[turn])
	} else {
		for !groups[first].isPersons() { // a response whose question is gone
			first++
		}
	}
	kept = append(kept, groups[first:]...)
	gone := len(groups) - len(kept)
	if gone == 0 {
		return nil, "", nil
	}
	return join(kept), fmt.Sprintf("the conversation is long: the oldest %d of its %d message groups are forgotten (agent_framework.keep_last_groups is %d)", gone, len(groups), w.keep), nil
}
