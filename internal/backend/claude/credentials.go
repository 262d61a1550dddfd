package claude

import (
	"cmp"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// credentials is how the CLI reaches its model: variables of its environment.
type credentials struct {
	env     []string // KEY=VALUE
	missing []missing
}

// missing is something an agent needs of its environment.
type missing struct{ key, text, hint string }

// credentialsOf reads the model section of an agent.
func credentialsOf(a *config.Agent) credentials {
	c := credentials{}
	m := a.Model
	get := a.Variable
	set := func(name, value string) { c.env = append(c.env, name+"="+value) }
	take := func(names ...string) bool {
		found := false
		for _, name := range names {
			if value := get(name); value != "" {
				set(name, value)
				found = true
			}
		}
		return found
	}
	lack := func(key, text, hint string) { c.missing = append(c.missing, missing{key, text, hint}) }
	endpoint := ""
	if m.Endpoint != nil {
		endpoint = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(*m.Endpoint), "/"), "/v1")
	}
	if m.Provider == config.ProviderOllama {
		// Ollama speaks the API of Anthropic, and asks for no key. The small model
		// that the CLI asks for errands must be one that is there.
		access, _ := provider.Resolve(m, get) // what is wrong with it loading has said
		set("ANTHROPIC_BASE_URL", access.URL)
		set("ANTHROPIC_AUTH_TOKEN", cmp.Or(m.APIKey.Reveal(), "ollama"))
		for _, name := range []string{"ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"} {
			set(name, m.Name)
		}
		set("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "1")
		return c
	}
	how := config.AuthProvider("api_key")
	if m.AuthProvider != nil {
		how = *m.AuthProvider
	}
	key := m.APIKey.Reveal()
	base := cmp.Or(endpoint, get("ANTHROPIC_BASE_URL"))
	switch how {
	case "api_key":
		switch {
		case key != "":
			set("ANTHROPIC_API_KEY", key)
		case !take("ANTHROPIC_API_KEY"):
			lack("api_key", "the Claude Code CLI needs a key, and there is none", "set ANTHROPIC_API_KEY in the environment or in a .env file beside the agent file, or run with --offline")
		}
		if base != "" {
			set("ANTHROPIC_BASE_URL", base)
		}
	case "custom":
		switch {
		case key != "":
			set("ANTHROPIC_AUTH_TOKEN", key)
		case !take("ANTHROPIC_AUTH_TOKEN"):
			lack("auth_provider", "custom needs a token, and there is none", "set ANTHROPIC_AUTH_TOKEN")
		}
		if base != "" {
			set("ANTHROPIC_BASE_URL", base)
		}
	case "oauth_token":
		if !take("CLAUDE_CODE_OAUTH_TOKEN") {
			lack("auth_provider", "oauth_token needs a token, and there is none", "make one with claude setup-token and set CLAUDE_CODE_OAUTH_TOKEN")
		}
	case "bedrock":
		set("CLAUDE_CODE_USE_BEDROCK", "1")
		if !take("AWS_REGION", "AWS_DEFAULT_REGION") {
			lack("auth_provider", "bedrock needs a region, and there is none", "set AWS_REGION")
		}
		take("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
			"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE",
			"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "ANTHROPIC_BEDROCK_BASE_URL")
	case "vertex":
		set("CLAUDE_CODE_USE_VERTEX", "1")
		if !take("CLOUD_ML_REGION") {
			lack("auth_provider", "vertex needs a region, and there is none", "set CLOUD_ML_REGION")
		}
		if !take("ANTHROPIC_VERTEX_PROJECT_ID", "GCLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS") {
			lack("auth_provider", "vertex needs a project, and there is none", "set ANTHROPIC_VERTEX_PROJECT_ID")
		}
		take("CLOUDSDK_CONFIG", "ANTHROPIC_VERTEX_BASE_URL")
	case "foundry":
		set("CLAUDE_CODE_USE_FOUNDRY", "1")
		if !take("ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL") {
			lack("auth_provider", "foundry needs to know the resource, and does not", "set ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE_URL")
		}
		if key != "" {
			set("ANTHROPIC_FOUNDRY_API_KEY", key)
		} else {
			take("ANTHROPIC_FOUNDRY_API_KEY")
		}
	}
	return c
}
