package config

import (
	"fmt"
	"strings"
)

// promptTool resolves the template of a prompt tool, and the model it asks.
func (l *loader) promptTool(a *Agent, t *PromptTool) {
	switch {
	case t.Template != nil:
		t.Text = *t.Template
	case t.File != nil:
		text, ok := l.readReference(t.Block, "file", *t.File, MaxPromptSize)
		if !ok {
			break
		}
		_, body, _ := splitFrontmatter(text)
		if t.Text = strings.TrimSpace(body); t.Text == "" {
			l.refuse(t.Block.File("file", *t.File), CodeValue, "holds no template", "write it below the frontmatter, if there is one")
		}
	}
	t.Chat = a.Model
	if t.Model != nil && a.Model != nil {
		*t.Model = l.replaced(a.Model, t.Model)
		t.Chat = t.Model
	}
}

// replaced returns a model with the keys that a section of another writes. Of a
// model at another provider stays what does not belong to the provider.
func (l *loader) replaced(m, by *Model) Model {
	out := *m
	if by.Wrote("provider") && by.Provider != m.Provider {
		out = Model{Temperature: m.Temperature, MaxTokens: m.MaxTokens, TopP: m.TopP}
		if !by.Wrote("name") {
			l.rep.add(by.Problem(SeverityError, "name", CodeMissing, fmt.Sprintf("is required with a provider other than the agent's, which is %s", m.Provider), ""))
		}
	}
	out.Block = by.Block
	for key, set := range map[string]func(){
		"provider":      func() { out.Provider = by.Provider },
		"name":          func() { out.Name = by.Name },
		"temperature":   func() { out.Temperature = by.Temperature },
		"max_tokens":    func() { out.MaxTokens = by.MaxTokens },
		"top_p":         func() { out.TopP = by.TopP },
		"endpoint":      func() { out.Endpoint = by.Endpoint },
		"api_key":       func() { out.APIKey = by.APIKey },
		"api_version":   func() { out.APIVersion = by.APIVersion },
		"auth_provider": func() { out.AuthProvider = by.AuthProvider },
		"api":           func() { out.API = by.API },
		"script":        func() { out.Script, out.ScriptFile = by.Script, nil },
		"script_file":   func() { out.Script, out.ScriptFile = nil, by.ScriptFile },
	} {
		if by.Wrote(key) {
			set()
		}
	}
	// Null is a way to say none.
	if by.Temperature == nil {
		out.Temperature = nil
	}
	if by.MaxTokens == nil {
		out.MaxTokens = nil
	}
	return out
}

// promptTool checks a prompt tool.
func (c *checker) promptTool(t *PromptTool) {
	c.exactlyOne(t.Block, "template", "file")
	if t.Model != nil && t.Chat != nil {
		c.model(t.Chat)
	}
}
