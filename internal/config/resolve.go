package config

import (
	"fmt"
	"slices"
	"strings"
)

// defaultBackend returns the runtime of a provider when the file names none.
func defaultBackend(p Provider) Backend {
	switch p {
	case ProviderAnthropic, ProviderOllama:
		return BackendClaude
	case ProviderGoogle:
		return BackendGoogleADK
	}
	return BackendAgentFramework
}

// Providers returns the providers a runtime works with. Offline is among them
// on every runtime.
func (b Backend) Providers() []Provider {
	switch b {
	case BackendSemanticKernel:
		return []Provider{ProviderOpenAI, ProviderAzureOpenAI, ProviderOllama, ProviderOffline}
	case BackendClaude:
		return []Provider{ProviderAnthropic, ProviderOllama, ProviderOffline}
	case BackendGoogleADK:
		return []Provider{ProviderGoogle, ProviderOpenAI, ProviderAzureOpenAI, ProviderAnthropic, ProviderOllama, ProviderOffline}
	case BackendAgentFramework, BackendOpenAIAgents:
		return []Provider{ProviderOpenAI, ProviderAzureOpenAI, ProviderAnthropic, ProviderOllama, ProviderOffline}
	}
	return nil
}

// ModelName returns what the runtime's traces and reports call a model: google_adk,
// to which Gemini is what a model is, names the provider of any other before it,
// where there is one.
func (b Backend) ModelName(p Provider, name string) string {
	if b != BackendGoogleADK {
		return name
	}
	switch p {
	case ProviderGoogle, ProviderOffline, "":
		return name
	case ProviderAzureOpenAI:
		return "azure/" + name
	}
	return string(p) + "/" + name
}

// Resolve returns the runtime of an agent: the explicit one where the file
// names one (empty otherwise), else the provider's default. Openai_agents is
// another spelling of agent_framework. A runtime that does not work with the
// provider is an error that names both and the providers that do.
func Resolve(p Provider, explicit Backend) (Backend, error) {
	if explicit == "" {
		return defaultBackend(p), nil
	}
	works := explicit.Providers()
	if works == nil {
		return "", fmt.Errorf("%q is not a backend: it must be one of %s", explicit, strings.Join(explicit.Values(), ", "))
	}
	if !slices.Contains(works, p) {
		names := make([]string, len(works))
		for i := range works {
			names[i] = string(works[i])
		}
		err := fmt.Errorf("backend %s does not work with provider %s, only with %s", explicit, p, strings.Join(names, ", "))
		if p == ProviderGoogle {
			err = fmt.Errorf("%w; for google use backend google_adk", err)
		}
		return "", err
	}
	if explicit == BackendOpenAIAgents {
		return BackendAgentFramework, nil
	}
	return explicit, nil
}
