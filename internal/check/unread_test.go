package check_test

import (
	"reflect"
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
