package config

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// checker checks what the rules of a single key cannot express. Each rule looks
// only at values that were decoded, so that one mistake is one problem.
type checker struct {
	rep    *report
	agent  *Agent
	strict bool
}

// check runs all rules over the agent but those of its test cases, which are
// checked as they are decoded.
func (l *loader) check(a *Agent) {
	c := l.checker(a)
	c.models()
	c.tools()
	c.embedding()
	c.evaluations()
	c.runtimes()
	c.hooks(a.Hooks)
	c.permissions()
	c.observability()
	c.deployment()
}

// checker returns a checker of the agent.
func (l *loader) checker(a *Agent) *checker {
	return &checker{rep: &l.rep, agent: a, strict: l.opts.Strict}
}

// fail reports an error of a section's key.
func (c *checker) fail(b Block, key, code, text, hint string) {
	c.rep.add(b.Problem(SeverityError, key, code, text, hint))
}

// warn reports a warning of a section's key.
func (c *checker) warn(b Block, key, code, text, hint string) {
	c.rep.add(b.Problem(SeverityWarning, key, code, text, hint))
}

// idle warns of keys that the user wrote and that do nothing there.
func (c *checker) idle(b Block, why string, keys ...string) {
	for _, key := range keys {
		if b.Wrote(key) {
			c.warn(b, key, CodeNoEffect, "has no effect: "+why, "")
		}
	}
}

// exactlyOne requires one of two keys that exclude each other.
func (c *checker) exactlyOne(b Block, first, second string) {
	switch {
	case b.Wrote(first) && b.Wrote(second):
		c.fail(b, second, CodeConflict, first+" is given, too", "keep one of the two")
	case !b.Wrote(first) && !b.Wrote(second):
		c.fail(b, "", CodeMissing, fmt.Sprintf("needs %s or %s", first, second), "give one of the two")
	}
}

// known reports whether a key was written with a value whose variables are all
// set, so that a rule may judge it.
func (b Block) known(key string) bool {
	k := b.key(key)
	return k != nil && !k.unset
}

// models checks every model section of the agent.
func (c *checker) models() {
	a := c.agent
	c.model(a.Model)
	c.model(a.EmbeddingProvider)
	if m := a.EmbeddingProvider; m != nil && m.Provider == ProviderAnthropic {
		c.fail(m.Block, "provider", CodeConflict, "anthropic has no embedding models", "use openai, azure_openai, ollama, google or offline")
	}
	if a.Evaluations != nil {
		c.model(a.Evaluations.Model)
	}
	for _, tool := range a.Tools {
		if t, ok := tool.(*HierarchicalDocumentTool); ok {
			c.model(t.ContextModel)
			c.model(t.RerankerModel)
		}
	}
}

// model checks one model section; nil is none.
func (c *checker) model(m *Model) {
	if m == nil || m.Provider == "" {
		return
	}
	blankEndpoint := m.Endpoint == nil || strings.TrimSpace(*m.Endpoint) == ""
	if m.Provider == ProviderAzureOpenAI && blankEndpoint {
		c.fail(m.Block, "endpoint", CodeMissing, "is required with provider azure_openai", "such as https://NAME.openai.azure.com")
	}
	if m.AuthProvider != nil {
		switch {
		case m.Provider != ProviderAnthropic && m.Provider != ProviderOllama:
			c.idle(m.Block, "it is for provider anthropic", "auth_provider")
		case *m.AuthProvider == "custom" && blankEndpoint:
			c.warn(m.Block, "auth_provider", CodeConflict, "custom has no endpoint to talk to", "give endpoint")
		}
	}
	if m.Provider != ProviderAzureOpenAI {
		c.idle(m.Block, "it is for provider azure_openai", "api_version")
	}
	if m.Provider != ProviderOpenAI && m.Provider != ProviderAzureOpenAI {
		c.idle(m.Block, "it is for providers openai and azure_openai", "api")
	}
	for _, key := range []string{"script", "script_file"} {
		if m.Wrote(key) && m.Provider != ProviderOffline {
			c.fail(m.Block, key, CodeConflict, "is only for provider offline", "remove it, or set provider: offline")
		}
	}
	if m.Wrote("script") && m.Wrote("script_file") {
		c.fail(m.Block, "script_file", CodeConflict, "script is given, too", "keep one of the two")
	}
	if m.ScriptFile != nil {
		c.file(m.Block, "script_file", *m.ScriptFile)
	}
}

// embedding checks that retrieval tools have something to embed with (D3 of
// the design: literal under strict).
func (c *checker) embedding() {
	a := c.agent
	if a.Model == nil || a.EmbeddingProvider != nil || a.Wrote("embedding_provider") || a.Runtime == "" {
		return
	}
	if !slices.ContainsFunc(a.Tools, IsRetrieval) {
		return
	}
	required := a.Model.Provider == ProviderGoogle || a.Model.Provider == ProviderAnthropic
	if c.strict {
		required = required || a.Runtime == BackendGoogleADK || a.Runtime == BackendClaude
	}
	if !required {
		return
	}
	c.fail(a.Block, "embedding_provider", CodeMissing,
		fmt.Sprintf("embedding_provider is required when using vectorstore or hierarchical_document tools with the %s backend", a.Runtime),
		"such as embedding_provider: {provider: openai, name: text-embedding-3-small}")
}

// permissions checks the patterns by which sections name tools and their calls.
func (c *checker) permissions() {
	a := c.agent
	if f := a.ToolFiltering; f != nil {
		for _, pattern := range f.AlwaysInclude {
			c.glob(f.Block, "always_include", pattern)
		}
	}
	if p := a.Permissions; p != nil {
		c.toolPatterns(p.Block, "allowed_tools", p.AllowedTools)
		c.toolPatterns(p.Block, "disallowed_tools", p.DisallowedTools)
		c.toolPatterns(p.Block, "ask", p.Ask)
	}
	if o := a.OpenAI; o != nil {
		c.toolPatterns(o.Block, "disallowed_tools", o.DisallowedTools)
		if p := o.Permissions; p != nil {
			c.toolPatterns(p.Block, "allowed_tools", p.AllowedTools)
			c.toolPatterns(p.Block, "disallowed_tools", p.DisallowedTools)
		}
	}
}

// toolPatterns reports patterns of calls that are none.
func (c *checker) toolPatterns(b Block, key string, patterns []string) {
	for _, pattern := range patterns {
		if _, err := ParseToolPattern(pattern); err != nil {
			c.fail(b, key, CodeValue, fmt.Sprintf("%q is not a pattern", pattern), err.Error())
		}
	}
}

// glob reports a pattern that is not one.
func (c *checker) glob(b Block, key, pattern string) {
	if _, err := path.Match(pattern, ""); err != nil {
		c.fail(b, key, CodeValue, fmt.Sprintf("%q is not a pattern", pattern), "close the [ in it")
	}
}
