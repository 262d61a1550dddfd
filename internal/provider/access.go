package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Route is an API, and how a request to it is addressed and signed. Some
// providers have several.
type Route string

// The routes.
const (
	OpenAI          Route = "openai"           // OpenAI, and servers that speak its API
	AzureV1         Route = "azure_v1"         // Azure, addressed as OpenAI is
	AzureDeployment Route = "azure_deployment" // Azure with a dated api-version
	Anthropic       Route = "anthropic"        // Anthropic, and servers that speak its API
	AnthropicVertex Route = "anthropic_vertex" // Claude on Google Vertex AI
	Gemini          Route = "gemini"           // Google AI Studio
	GoogleVertex    Route = "google_vertex"    // Gemini on Google Vertex AI
	Ollama          Route = "ollama"
)

// Access says how a model is reached.
type Access struct {
	Provider config.Provider
	Model    string // the model's name, or the deployment's
	Route    Route
	// URL is the base of every request, without a slash at its end. What an
	// adapter adds to it is the same for every endpoint of a route.
	URL string
	// Default says that nobody chose the endpoint: it is the provider's own.
	Default bool
	// Project and Region are where a model on Vertex AI runs.
	Project, Region string

	query   url.Values  // of every request
	header  http.Header // of every request: the key is here
	keyFrom string      // where the key comes from, such as OPENAI_API_KEY; empty without one
	keyName string      // the variable a key is usually in

	google          bool   // signed with Google's application default credentials
	credentialsFile string // where those are; empty lets the library look
}

// resolver reads a section.
type resolver struct {
	model    *config.Model
	getenv   func(string) string
	problems []config.Problem
}

// Resolve reads from a model section, and the variables getenv knows, how its
// model is reached. It reaches for nothing itself. The problems are errors: with
// any of them the Access is of no use. What is missing from the environment has
// the code config.CodeCredential.
func Resolve(m *config.Model, getenv func(name string) string) (Access, []config.Problem) {
	r := &resolver{model: m, getenv: getenv}
	a := Access{Provider: m.Provider, Model: m.Name, header: http.Header{}, query: url.Values{}}
	switch m.Provider {
	case config.ProviderOpenAI:
		r.openai(&a)
	case config.ProviderAzureOpenAI:
		r.azure(&a)
	case config.ProviderAnthropic:
		r.anthropic(&a)
	case config.ProviderGoogle:
		r.google(&a)
	case config.ProviderOllama:
		r.ollama(&a)
	default:
		r.problem("provider", config.CodeUnsupported, fmt.Sprintf("%s is no provider that is reached over the network", m.Provider), "")
	}
	return a, r.problems
}

func (r *resolver) problem(key, code, text, hint string) {
	r.problems = append(r.problems, r.model.Problem(config.SeverityError, key, code, text, hint))
}

// first returns the first of the variables that is set, and its name.
func (r *resolver) first(names ...string) (value, name string) {
	for _, name := range names {
		if v := strings.TrimSpace(r.getenv(name)); v != "" {
			return v, name
		}
	}
	return "", ""
}

// key returns the key of the section, or else of the first variable that is
// set, and where it comes from.
func (r *resolver) key(variables ...string) (value, from string) {
	value, from = strings.TrimSpace(r.model.APIKey.Reveal()), "api_key"
	if value == "" {
		value, from = r.first(variables...)
	} else if path := r.model.Path(); path != "" {
		from = path + "." + from
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c > unicode.MaxASCII || unicode.IsSpace(c) || unicode.IsControl(c) }) {
		r.problem("api_key", config.CodeValue, fmt.Sprintf("the key (from %s) holds a blank, a line break or another character no key has", from), "copy it again, on one line")
		return "", ""
	}
	return value, from
}

// missing says that there is no key.
func (r *resolver) missing(variable string) {
	r.problem("api_key", config.CodeCredential,
		fmt.Sprintf("%s model %s needs a key, and there is none", r.model.Provider, r.model.Name),
		fmt.Sprintf("set %s in the environment or in a .env file beside the agent file, or run with --offline", variable))
}

// endpoint returns the endpoint of the section, or else the variable's, or else
// the default, as a base without any of the tails.
func (r *resolver) endpoint(a *Access, variable, standard string, tails ...string) {
	text, key := "", "endpoint"
	if r.model.Endpoint != nil {
		text = strings.TrimSpace(*r.model.Endpoint)
	}
	if text == "" && variable != "" {
		text, key = strings.TrimSpace(r.getenv(variable)), variable
	}
	if text == "" {
		a.URL, a.Default = standard, true
		return
	}
	base, err := baseURL(text, tails...)
	switch {
	case err == nil:
		a.URL, a.Default = base, base == standard
	case key == variable:
		r.problem("", config.CodeValue, fmt.Sprintf("%s %v", variable, err), "write it as https://host/path")
	default:
		r.problem(key, config.CodeValue, err.Error(), "write it as https://host/path")
	}
}

// baseURL checks an endpoint and returns it without a slash, or one of the
// tails, at its end.
func baseURL(text string, tails ...string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("is not an http or https address")
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("has a query or a fragment, which an endpoint has not")
	}
	base := strings.TrimRight(text, "/")
	for _, tail := range tails {
		if cut, ok := strings.CutSuffix(base, tail); ok {
			return strings.TrimRight(cut, "/"), nil
		}
	}
	return base, nil
}

// openAIURL is where OpenAI's API is.
const openAIURL = "https://api.openai.com/v1"

func (r *resolver) openai(a *Access) {
	const variable = "OPENAI_API_KEY"
	a.Route, a.keyName = OpenAI, variable
	r.endpoint(a, "OPENAI_BASE_URL", openAIURL)
	key, from := r.key(variable)
	switch {
	case key != "":
		a.header.Set("Authorization", "Bearer "+key)
		a.keyFrom = from
	case a.Default && len(r.problems) == 0:
		r.missing(variable) // a server of one's own may want none
	}
	if org, _ := r.first("OPENAI_ORG_ID"); org != "" && a.Default {
		a.header.Set("OpenAI-Organization", org)
	}
	if project, _ := r.first("OPENAI_PROJECT_ID"); project != "" && a.Default {
		a.header.Set("OpenAI-Project", project)
	}
}

func (r *resolver) azure(a *Access) {
	const variable = "AZURE_OPENAI_API_KEY"
	a.Route, a.keyName = AzureV1, variable
	r.endpoint(a, "", "", "/openai/v1", "/openai", "/v1")
	if a.URL == "" && len(r.problems) == 0 && r.model.Path() == "" { // of one that was loaded, config says so
		r.problem("endpoint", config.CodeMissing, "is required with provider azure_openai", "such as https://NAME.openai.azure.com")
	}
	version := ""
	if r.model.APIVersion != nil {
		version = strings.TrimSpace(*r.model.APIVersion)
	}
	switch {
	case version == "":
		a.URL += "/openai/v1"
	case version[0] >= '0' && version[0] <= '9': // a date: the older way of addressing
		a.Route = AzureDeployment
		a.URL += "/openai/deployments/" + url.PathEscape(a.Model)
		a.query.Set("api-version", version)
	default: // such as preview
		a.URL += "/openai/v1"
		a.query.Set("api-version", version)
	}
	key, from := r.key(variable)
	if key == "" {
		r.missing(variable)
		return
	}
	a.header.Set("Api-Key", key)
	a.keyFrom = from
}

// anthropicURL is where Anthropic's API is.
const anthropicURL = "https://api.anthropic.com"

func (r *resolver) anthropic(a *Access) {
	a.Route, a.keyName = Anthropic, "ANTHROPIC_API_KEY"
	how := config.AuthProvider("api_key")
	if r.model.AuthProvider != nil {
		how = *r.model.AuthProvider
	}
	switch how {
	case "api_key", "custom":
		r.anthropicKey(a, how == "custom")
	case "bedrock":
		r.bedrock(a)
	case "vertex":
		r.claudeOnVertex(a)
	case "foundry":
		r.foundry(a)
	case "oauth_token":
		r.problem("auth_provider", config.CodeCredential, "a token of a Claude subscription is honoured from the Claude CLI alone, not over the API",
			"set auth_provider to api_key, custom, bedrock, vertex or foundry")
	}
}

// anthropicKey is access with a key, or with a token where an endpoint of one's
// own wants that (custom).
func (r *resolver) anthropicKey(a *Access, custom bool) {
	const token = "ANTHROPIC_AUTH_TOKEN"
	r.endpoint(a, "ANTHROPIC_BASE_URL", anthropicURL, "/v1")
	if !custom {
		if key, from := r.key("ANTHROPIC_API_KEY"); key != "" {
			a.header.Set("X-Api-Key", key)
			a.keyFrom = from
			return
		}
	}
	bearer, from := r.key(token)
	switch {
	case bearer != "":
		a.header.Set("Authorization", "Bearer "+bearer)
		a.keyFrom, a.keyName = from, token
	case custom:
		r.missing(token)
	case a.Default && len(r.problems) == 0:
		r.missing("ANTHROPIC_API_KEY") // a gateway may want none
	}
}

// bedrock is Claude on Amazon Bedrock, through its endpoint that speaks the
// Messages API. It takes Bedrock's own keys; requests signed with AWS
// credentials need a library as large as all the rest.
func (r *resolver) bedrock(a *Access) {
	const variable = "AWS_BEARER_TOKEN_BEDROCK"
	a.keyName = variable
	region, _ := r.first("AWS_REGION", "AWS_DEFAULT_REGION")
	if region == "" {
		r.problem("auth_provider", config.CodeCredential, "bedrock needs a region, and there is none", "set AWS_REGION")
	}
	r.endpoint(a, "", "https://bedrock-mantle."+region+".api.aws/anthropic", "/v1")
	key, from := r.key(variable)
	if key == "" {
		r.problem("auth_provider", config.CodeCredential, "bedrock needs a key of Amazon Bedrock, and there is none; other AWS credentials are not used",
			"make one in the console of Amazon Bedrock and set "+variable)
		return
	}
	a.header.Set("Authorization", "Bearer "+key)
	a.keyFrom = from
}

// foundry is Claude on Microsoft Foundry.
func (r *resolver) foundry(a *Access) {
	const variable = "ANTHROPIC_FOUNDRY_API_KEY"
	a.keyName = variable
	resource, _ := r.first("ANTHROPIC_FOUNDRY_RESOURCE")
	standard := ""
	if resource != "" {
		standard = "https://" + resource + ".services.ai.azure.com/anthropic"
	}
	r.endpoint(a, "ANTHROPIC_FOUNDRY_BASE_URL", standard, "/v1")
	if a.URL == "" && len(r.problems) == 0 {
		r.problem("auth_provider", config.CodeCredential, "foundry needs to know the resource, and does not", "set ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE_URL")
	}
	key, from := r.key(variable)
	if key == "" {
		r.missing(variable)
		return
	}
	a.header.Set("X-Api-Key", key)
	a.keyFrom = from
}

// claudeOnVertex is Claude on Google Vertex AI.
func (r *resolver) claudeOnVertex(a *Access) {
	a.Route = AnthropicVertex
	a.Region, _ = r.first("CLOUD_ML_REGION")
	a.Project, _ = r.first("ANTHROPIC_VERTEX_PROJECT_ID", "GCLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT")
	if a.Region == "" {
		r.problem("auth_provider", config.CodeCredential, "vertex needs a region, and there is none", "set CLOUD_ML_REGION")
	}
	if a.Project == "" {
		r.problem("auth_provider", config.CodeCredential, "vertex needs a project, and there is none", "set ANTHROPIC_VERTEX_PROJECT_ID")
	}
	r.endpoint(a, "ANTHROPIC_VERTEX_BASE_URL", vertexURL(a.Region), "/v1")
	r.applicationDefault(a)
}

// vertexURL is where Vertex AI is in a region.
func vertexURL(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu": // a continent rather than a place in it
		return "https://aiplatform." + region + ".rep.googleapis.com"
	}
	return "https://" + region + "-aiplatform.googleapis.com"
}

func (r *resolver) google(a *Access) {
	const variable = "GOOGLE_API_KEY"
	a.Route, a.keyName = Gemini, variable
	if on, _ := r.first("GOOGLE_GENAI_USE_VERTEXAI"); r.model.APIKey.IsZero() && (on == "1" || strings.EqualFold(on, "true")) {
		r.geminiOnVertex(a)
		return
	}
	r.endpoint(a, "", "https://generativelanguage.googleapis.com", "/v1beta", "/v1")
	key, from := r.key(variable, "GEMINI_API_KEY")
	switch {
	case key != "":
		a.header.Set("X-Goog-Api-Key", key)
		a.keyFrom = from
	case a.Default && len(r.problems) == 0:
		r.missing(variable)
	}
}

// geminiOnVertex is Gemini on Google Vertex AI.
func (r *resolver) geminiOnVertex(a *Access) {
	a.Route = GoogleVertex
	a.Project, _ = r.first("GOOGLE_CLOUD_PROJECT")
	a.Region, _ = r.first("GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION")
	if a.Project == "" {
		r.problem("provider", config.CodeCredential, "GOOGLE_GENAI_USE_VERTEXAI is set, and there is no project", "set GOOGLE_CLOUD_PROJECT")
	}
	if a.Region == "" {
		r.problem("provider", config.CodeCredential, "GOOGLE_GENAI_USE_VERTEXAI is set, and there is no location", "set GOOGLE_CLOUD_LOCATION")
	}
	r.endpoint(a, "", vertexURL(a.Region), "/v1beta1", "/v1")
	r.applicationDefault(a)
}

// applicationDefault lets requests be signed with Google's application default
// credentials. They are looked for at the first request: on Google's machines
// that takes one of its own.
func (r *resolver) applicationDefault(a *Access) {
	a.google = true
	a.credentialsFile, _ = r.first("GOOGLE_APPLICATION_CREDENTIALS")
	a.keyFrom = "Google's application default credentials"
}

func (r *resolver) ollama(a *Access) {
	const variable = "OLLAMA_API_KEY"
	a.Route, a.keyName = Ollama, variable
	standard, err := ollamaHost(r.getenv("OLLAMA_HOST"))
	if err != nil && r.model.Endpoint == nil {
		r.problem("endpoint", config.CodeValue, fmt.Sprintf("OLLAMA_HOST %v", err), "write it as host:port, or set endpoint")
		return
	}
	r.endpoint(a, "", standard, "/v1", "/api")
	if key, from := r.key(variable); key != "" {
		a.header.Set("Authorization", "Bearer "+key)
		a.keyFrom = from
	}
}
