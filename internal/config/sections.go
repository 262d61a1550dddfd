package config

// UsesOpenAI reports whether the openai section counts: its own runtime runs an
// OpenAI model, or, under --offline, what stands in for one.
func (a *Agent) UsesOpenAI() bool {
	if a.OpenAI == nil || a.Model == nil || a.Runtime != BackendAgentFramework {
		return false
	}
	return a.Offline || a.Model.Provider == ProviderOpenAI || a.Model.Provider == ProviderAzureOpenAI
}

// FallbackModel returns the name of the model that takes over when the agent's
// own is overloaded, as the section of its runtime says, or "".
func (a *Agent) FallbackModel() string {
	var name *string
	switch {
	case a.UsesOpenAI():
		name = a.OpenAI.FallbackModel
	case a.Runtime == BackendClaude && a.Claude != nil:
		name = a.Claude.FallbackModel
	}
	if name == nil {
		return ""
	}
	return *name
}

// Embeds reports whether choosing tools needs an embedder.
func (f *ToolFiltering) Embeds() bool {
	return f != nil && f.Enabled && f.SearchMethod != SearchBM25
}
