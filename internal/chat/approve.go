package chat

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// approvals are the tools that a person allows for the rest of a conversation.
type approvals struct {
	mu    sync.Mutex
	tools map[string]bool
}

func (a *approvals) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools = map[string]bool{}
}

// Approve implements agent.Approver: the person is asked, one call at a time.
func (c *Chat) Approve(ctx context.Context, r agent.ApprovalRequest) error {
	c.allowed.mu.Lock()
	defer c.allowed.mu.Unlock()
	if c.allowed.tools[r.Tool] {
		return nil
	}
	const yes, always, no = "yes", "always in this conversation", "no"
	question := fmt.Sprintf("May %s be called with %s? (%s)", r.Tool, string(c.redactor().JSON(r.Arguments)), r.Reason)
	answer, err := c.Screen.Ask(ctx, question, yes, always, no)
	switch {
	case err != nil:
		return err
	case answer == yes:
		return nil
	case answer == always:
		c.allowed.tools[r.Tool] = true
		return nil
	}
	return errors.New("the person said no")
}
