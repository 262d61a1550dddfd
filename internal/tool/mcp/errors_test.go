package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
)

func TestErrorsKeepToTheirHierarchy(t *testing.T) {
	cause := errors.New("the cause")
	fault := mcp.Fault{Server: "files", What: "failed", Next: "try harder", Stderr: []string{"one", "two"}, Err: cause}
	type kinds struct{ config, tool, base, connection, timeout, protocol bool }
	for name, tt := range map[string]struct {
		err  error
		text string
		want kinds
	}{
		"MCPError":           {&mcp.Error{Fault: fault}, "", kinds{tool: true, base: true}},
		"MCPConnectionError": {&mcp.ConnectionError{Fault: fault}, "", kinds{tool: true, base: true, connection: true}},
		"MCPTimeoutError":    {&mcp.TimeoutError{Fault: fault, After: time.Second}, "", kinds{tool: true, base: true, connection: true, timeout: true}},
		"MCPProtocolError":   {&mcp.ProtocolError{Fault: fault, Code: 7}, "", kinds{tool: true, base: true, protocol: true}},
		"MCPConfigError": {
			&mcp.ConfigError{Server: "files", Problem: config.Problem{Path: "tools[0].url", Text: "is wrong", Hint: "mend it"}},
			"MCPConfigError: tools[0].url: is wrong (mend it)", kinds{config: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := tt.text
			if want == "" {
				want = name + ": server files failed: the cause; try harder; the last it wrote to stderr:\n  one\n  two"
			}
			if tt.err.Error() != want {
				t.Errorf("the error says %q, want %q", tt.err, want)
			}
			wrapped := fmt.Errorf("open: %w", tt.err)
			got := kinds{
				config:     errors.As(wrapped, new(*config.Error)),
				tool:       errors.As(wrapped, new(*agent.ToolError)),
				base:       errors.As(wrapped, new(*mcp.Error)),
				connection: errors.As(wrapped, new(*mcp.ConnectionError)),
				timeout:    errors.As(wrapped, new(*mcp.TimeoutError)),
				protocol:   errors.As(wrapped, new(*mcp.ProtocolError)),
			}
			if got != tt.want {
				t.Errorf("it is %+v, want %+v", got, tt.want)
			}
			if tt.want.base && !errors.Is(wrapped, cause) {
				t.Error("it does not wrap its cause")
			}
			if errors.Is(wrapped, context.DeadlineExceeded) != tt.want.timeout {
				t.Error("only what took too long is a passed deadline")
			}
		})
	}
}
