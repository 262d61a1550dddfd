package config_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// server loads an agent with one MCP server.
func server(t *testing.T, dir string, environ ...string) *config.MCPTool {
	t.Helper()
	return mustLoad(t, dir, config.Options{Environ: environ}).Tools[0].(*config.MCPTool)
}

func TestAServerIsGivenEnvOverEnvFile(t *testing.T) {
	dir := folder(t, map[string]string{
		"conf/server.env": "# for the server\nexport BOTH=file\nQUOTED='a b' # and a comment\nONLY=\"file\"\n",
		"agent.yaml": head + `tools:
  - {type: mcp, name: s, description: d, command: uvx, env_file: conf/server.env, env: {BOTH: '${TOP}', LEVEL: x}, config: {root: [1, "ä"], allowed_tools: [read]}}
`})
	s := server(t, dir, "TOP=env", "ELSE=not given")
	got, err := s.Environment()
	want := map[string]string{"BOTH": "env", "QUOTED": "a b", "ONLY": "file", "LEVEL": "x", "MCP_CONFIG": `{"allowed_tools":["read"],"root":[1,"ä"]}`}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("environment = %v, %v; want %v", got, err, want)
	}
	if names, limited := s.AllowedTools(); !limited || !slices.Equal(names, []string{"read"}) {
		t.Errorf("allowed tools = %v, %v", names, limited)
	}
}

func TestWhatAnEnvFileSaysIsSecret(t *testing.T) {
	dir := folder(t, map[string]string{
		"server.env": "PLAIN=canary-value-123\n",
		"agent.yaml": head + "tools: [{type: mcp, name: s, description: d, command: uvx, env_file: server.env}]\n",
	})
	a := mustLoad(t, dir, config.Options{})
	if got := a.Redactor.String("it is canary-value-123"); strings.Contains(got, "canary") {
		t.Errorf("the redactor does not know what env_file says: %s", got)
	}
}

func TestAnEnvFileIsSaidToBeWrongWhereItIs(t *testing.T) {
	dir := folder(t, map[string]string{
		"server.env": "A=b\nSECRET='canary-value-123\n",
		"agent.yaml": head + "tools: [{type: mcp, name: s, description: d, command: uvx, env_file: server.env}]\n",
	})
	_, problems := load(t, dir, config.Options{})
	want(t, problems, "server.env:2: tools[0].env_file: is not a line of a .env file (write one NAME=value a line, and close every quote)")
}

func TestArgumentsOfAServerAreRelativeToTheAgentFile(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml": head + "tools: [{type: mcp, name: s, description: d, command: node, args: [./server.js, ../up, plain, 'a/../b', --dir=./x, .]}]\n",
	})
	got := server(t, dir).Arguments()
	want := []string{filepath.Join(dir, "server.js"), filepath.Join(filepath.Dir(dir), "up"), "plain", "a/../b", "--dir=./x", "."}
	if !slices.Equal(got, want) {
		t.Errorf("arguments = %q, want %q", got, want)
	}
}

func TestTheRequestTimeoutOfAServerBoundsItsCalls(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml": head + "tools: [{type: mcp, name: s, description: d, transport: http, url: 'http://localhost/', timeout: 2, request_timeout: 7}]\n",
	})
	s := server(t, dir)
	if s.Base().Timeout != 7 || s.ConnectTimeout == nil || *s.ConnectTimeout != 2 {
		t.Errorf("a call is bounded by %v s, connecting by %v", s.Base().Timeout, s.ConnectTimeout)
	}
}
