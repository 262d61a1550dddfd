package config

import "github.com/holodeck-go/holodeck/internal/secret"

// Model names a model at a provider, for chat, judging, embedding and
// reranking alike.
type Model struct {
	Block
	Provider     Provider      `key:"provider" rule:"required" doc:"Who runs the model, or the name of a provider profile in config.yaml."`
	Name         string        `key:"name" rule:"required,nonblank" doc:"Model id; on Azure the deployment name."`
	Temperature  *float64      `key:"temperature" default:"0.3" rule:"min=0,max=2" doc:"Sampling temperature; null leaves it to the provider."`
	MaxTokens    *int          `key:"max_tokens" default:"1000" rule:"gt=0" doc:"Longest answer in tokens; null leaves it to the provider."`
	TopP         *float64      `key:"top_p" rule:"min=0,max=1" doc:"Nucleus sampling."`
	Endpoint     *string       `key:"endpoint" doc:"Base URL. Required for azure_openai."`
	APIKey       secret.String `key:"api_key" doc:"The key; absent, the provider's usual variable is read."`
	APIVersion   *string       `key:"api_version" doc:"Azure API version."`
	AuthProvider *AuthProvider `key:"auth_provider" doc:"How an anthropic model is paid for."`
	API          *ModelAPI     `key:"api" ours:"true" doc:"Which of OpenAI's APIs is spoken. Absent, responses for the reasoning models of OpenAI and Azure, and chat for all others."`
	Script       []any         `key:"script" ours:"true" doc:"Rules the offline model plays (see docs/offline.md)."`
	ScriptFile   *string       `key:"script_file" ours:"true" rule:"nonblank" doc:"A YAML file of such rules, relative to the agent file."`
}

// Provider names who runs a model.
type Provider string

// The providers.
const (
	ProviderOpenAI      Provider = "openai"
	ProviderAzureOpenAI Provider = "azure_openai"
	ProviderAnthropic   Provider = "anthropic"
	ProviderOllama      Provider = "ollama"
	ProviderGoogle      Provider = "google"
	ProviderOffline     Provider = "offline"
)

// Values implements the enumeration.
func (Provider) Values() []string {
	return []string{"openai", "azure_openai", "anthropic", "ollama", "google", "offline"}
}

// AuthProvider is how an anthropic model is paid for.
type AuthProvider string

// Values implements the enumeration.
func (AuthProvider) Values() []string {
	return []string{"api_key", "oauth_token", "bedrock", "vertex", "foundry", "custom"}
}

// ModelAPI is one of OpenAI's APIs.
type ModelAPI string

// The APIs: Chat Completions, which many servers speak, and Responses.
const (
	APIChat      ModelAPI = "chat"
	APIResponses ModelAPI = "responses"
)

// Values implements the enumeration.
func (ModelAPI) Values() []string { return []string{"chat", "responses"} }
