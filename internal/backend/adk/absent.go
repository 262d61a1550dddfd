//go:build noadk

package adk

import (
	"errors"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Open says that this build has no ADK, and how to make one that has. Under
// --offline, where nothing is what it will be, our own loop stands in for it.
func Open(a *config.Agent, o loop.Options) (agent.Backend, error) {
	if !a.Offline {
		return nil, &agent.BackendInitError{Backend: o.Backend, Err: errors.New(Absent)}
	}
	if s := a.GoogleADK; s != nil && s.MaxIterations != nil {
		o.Limits.MaxTurns = *s.MaxIterations
	}
	o.Notices = append(o.Notices, agent.Notice{
		Code: agent.NoticeSubstitute,
		Text: "HoloDeck's own loop stands in for backend google_adk, which this build was made without",
	})
	b, err := loop.New(o)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Absent says what this build lacks and how to get it; empty when it lacks nothing.
const Absent = "this build was made with the tag noadk and has no package google.golang.org/adk/v2; rebuild it without the tag: CGO_ENABLED=0 go build ./cmd/holodeck"
