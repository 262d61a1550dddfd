package check_test

import (
	"path/filepath"
	"testing"

	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

// TestTheExamplesOfADKLoadWithoutAKey holds that nobody needs an account to look
// at them, or to try them offline.
func TestTheExamplesOfADKLoadWithoutAKey(t *testing.T) {
	for name, model := range map[string]config.Provider{"adk-gemini": config.ProviderGoogle, "adk-openai": config.ProviderOpenAI, "adk-streaming": config.ProviderGoogle} {
		dir := filepath.Join("..", "..", "examples", name)
		opts := config.Options{WorkDir: dir}
		a, problems := config.Load(dir, opts)
		if len(problems) > 0 || a.Runtime != config.BackendGoogleADK || a.Model.Provider != model {
			t.Errorf("%s is of runtime %s with a model of %s: %v", name, a.Runtime, a.Model.Provider, problems)
		}
		a, problems = check.Load(dir, check.Options{Options: opts, Offline: true})
		if len(problems) > 0 || a.Runtime != config.BackendGoogleADK {
			t.Errorf("offline, %s is of runtime %s: %v", name, a.Runtime, problems)
		}
		if name == "adk-streaming" && a.GoogleADK.StreamingMode != config.StreamingSSE {
			t.Errorf("%s does not stream", name)
		}
	}
}
