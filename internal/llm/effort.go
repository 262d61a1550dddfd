package llm

import "github.com/holodeck-go/holodeck/internal/config"

// HeedsEffort reports whether the model that c names is told of Sampling.Effort.
// OpenAI's other models than those that think refuse a call that says it, and so
// do older ones of Anthropic's.
func HeedsEffort(c *config.Model) bool {
	switch c.Provider {
	case config.ProviderOpenAI, config.ProviderAzureOpenAI:
		return isReasoning(c.Name)
	case config.ProviderAnthropic:
		return claudeHeedsEffort(c.Name)
	case config.ProviderOffline:
		return false
	}
	return true
}
