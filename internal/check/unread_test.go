package check_test

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

func TestWhatNoRoomReadsIsSaid(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": `name: a
model: {provider: offline, name: m}
instructions: {inline: Help.}
evaluations:
  metrics: [{metric: contains}]
  optimizer: {loss: {contains: 1}}
deployment:
  registry: {url: r.example.com, repository: a}
  target: {provider: aws, aws: {region: eu-central-1}}
openai: {max_concurrent_sessions: 2, session_memory_estimate_mib: 90}
claude: {max_concurrent_sessions: 2, session_memory_estimate_mib: 90}
`})
	load := func(offline bool) []string {
		_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: offline})
		return codes(problems)
	}
	want := []string{
		"warning unsupported evaluations.optimizer", "warning unsupported deployment",
		"warning unsupported openai.max_concurrent_sessions", "warning unsupported openai.session_memory_estimate_mib",
		"warning unsupported claude.max_concurrent_sessions", "warning unsupported claude.session_memory_estimate_mib",
	}
	if got := load(false); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := load(true); len(got) > 0 {
		t.Errorf("with --offline: %q", got)
	}
}

// TestSessionsOfTheClaudeCLIAreBounded holds that no warning denies what the
// process pool of the Claude Code CLI does.
func TestSessionsOfTheClaudeCLIAreBounded(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for route, warned := range map[string]bool{"cli": false, "api": true} {
		dir := folder(t, map[string]string{"agent.yaml": `name: a
model: {provider: anthropic, name: claude-sonnet-4-5, api_key: k}
instructions: {inline: Help.}
claude: {runtime: ` + route + `, max_concurrent_sessions: 2}
`})
		_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir, Environ: []string{"HOLODECK_CLAUDE_CLI=" + exe}}})
		if got := slices.Contains(codes(problems), "warning unsupported claude.max_concurrent_sessions"); got != warned {
			t.Errorf("on the %s it is warned of: %t", route, got)
		}
	}
}
