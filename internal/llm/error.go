package llm

import "github.com/holodeck-go/holodeck/internal/provider"

// ProviderError says that a provider refused a call or broke it off. Decorators
// decide by it whether to try again; a runtime wraps it in its own error.
type ProviderError = provider.Error
