//go:build noadk

package adk

import (
	"errors"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Open says that this build has no ADK, and how to make one that has.
func Open(_ *config.Agent, o loop.Options) (agent.Backend, error) {
	return nil, &agent.BackendInitError{Backend: o.Backend, Err: errors.New(Absent)}
}

// Absent says what this build lacks and how to get it; empty when it lacks nothing.
const Absent = "this build was made with the tag noadk and has no package google.golang.org/adk/v2; rebuild it without the tag: CGO_ENABLED=0 go build ./cmd/holodeck"
