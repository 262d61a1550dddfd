package config

import "github.com/holodeck-go/holodeck/internal/secret"

// Agent is an agent file, loaded. Fields with a key are the file's own; the
// rest are what loading made of them.
type Agent struct {
	Block
	Name              string          `key:"name" rule:"required,nonblank" doc:"The agent's name; reports and the results folder use it."`
	Description       *string         `key:"description" rule:"nonblank" doc:"What the agent is for. Shown to people only."`
	Author            *string         `key:"author" rule:"nonblank" doc:"Who wrote the agent. Shown to people only."`
	Model             *Model          `key:"model" rule:"required" doc:"The chat model, and by its provider the runtime."`
	Backend           *Backend        `key:"backend" ours:"true" doc:"The runtime. Absent, the provider decides."`
	Instructions      *Instructions   `key:"instructions" rule:"required" doc:"The system prompt."`
	ResponseFormat    *ResponseFormat `key:"response_format" doc:"JSON Schema of the answer: the schema itself, or a path to a JSON file."`
	EmbeddingProvider *Model          `key:"embedding_provider" rule:"optional=name" doc:"The embedding model of the retrieval tools; without a name, the provider's usual one. Absent, it is derived from model where that provider can embed."`
	Tools             []Tool          `key:"tools" doc:"What the model may call."`
	Evaluations       *Evaluations    `key:"evaluations" doc:"The metrics every test case is scored by."`
	TestCases         Cases           `key:"test_cases" rule:"nullable" doc:"What holodeck test runs."`
	TestCasesFile     *string         `key:"test_cases_file" doc:"A file of test cases instead of test_cases: YAML, or a dataset in .csv or .jsonl."`
	Execution         Execution       `key:"execution" rule:"nullable" doc:"Timeouts, cache, parallelism."`
	Hooks             []Hook          `key:"hooks" ours:"true" doc:"What happens around tool calls and turns."`
	Permissions       *Permissions    `key:"permissions" ours:"true" doc:"Which tools the model may call."`
	Claude            *Claude         `key:"claude" doc:"Settings of the claude runtime."`
	OpenAI            *OpenAI         `key:"openai" doc:"Settings of the agent_framework runtime with an OpenAI model."`
	GoogleADK         *GoogleADK      `key:"google_adk" ours:"true" doc:"Settings of the google_adk runtime."`
	AgentFramework    *AgentFramework `key:"agent_framework" ours:"true" doc:"Settings of the agent_framework runtime."`
	ToolFiltering     *ToolFiltering  `key:"tool_filtering" ours:"true" doc:"Which of the tools a turn offers to the model."`
	Observability     *Observability  `key:"observability" doc:"Traces, metrics and logs."`
	Deployment        *Deployment     `key:"deployment" doc:"The container and where it runs."`

	// File is the agent file and Dir its folder, both as the user named them,
	// cleaned.
	File, Dir string `key:"-"`
	// Prompt is the system prompt, resolved from Instructions.
	Prompt Prompt `key:"-"`
	// Schema is the resolved response format as JSON, nil when none is asked for.
	Schema []byte `key:"-"`
	// Runtime is the backend the agent resolves to (D1), never empty.
	Runtime Backend `key:"-"`
	// Offline says that the --offline rewrite was applied; LeftOut is what it
	// replaced or left out, in file order.
	Offline bool      `key:"-"`
	LeftOut []LeftOut `key:"-"`
	// Replay says that the agent is played from a record: nothing outside of its
	// file is opened or asked.
	Replay bool `key:"-"`
	// Redactor knows every secret value that was loaded.
	Redactor *secret.Redactor `key:"-"`

	env *environment
}

// Variable returns a variable as the files of the agent see it: from the process
// environment, or else from the .env files. It is "" when it is not set, and in
// an Agent that was not loaded.
func (a *Agent) Variable(name string) string {
	if a.env == nil {
		return ""
	}
	value, _ := a.env.lookup(name)
	return value
}

// LeftOut is something the --offline rewrite replaced or left out.
type LeftOut struct {
	Path string `json:"path"` // of the key, such as "tools[3]"
	What string `json:"what"` // such as "mcp server memory"
	Need string `json:"need"` // what it would have needed
	Now  string `json:"now"`  // what stands in for it, or "left out"
}

// Backend names a runtime.
type Backend string

// The runtimes. BackendOpenAIAgents is another spelling of
// BackendAgentFramework and is resolved to it.
const (
	BackendSemanticKernel Backend = "semantic_kernel"
	BackendClaude         Backend = "claude"
	BackendGoogleADK      Backend = "google_adk"
	BackendAgentFramework Backend = "agent_framework"
	BackendOpenAIAgents   Backend = "openai_agents"
)

// Values implements the enumeration.
func (Backend) Values() []string {
	return []string{"semantic_kernel", "claude", "google_adk", "agent_framework", "openai_agents"}
}

// Instructions is the system prompt: exactly one of its keys.
type Instructions struct {
	Block
	Inline *string `key:"inline" rule:"nonblank" doc:"The prompt itself."`
	File   *string `key:"file" rule:"nonblank" doc:"A text file with the prompt, relative to the agent file. YAML frontmatter is read and not sent."`
}

// Prompt is a resolved system prompt and its version.
type Prompt struct {
	Text        string         `json:"-"`           // what the model sees: frontmatter stripped
	Version     string         `json:"version"`     // from the frontmatter, else "auto-" and 8 hex digits of BodyHash
	Author      string         `json:"author"`      // from the frontmatter
	Description string         `json:"description"` // from the frontmatter
	Tags        []string       `json:"tags"`        // from the frontmatter
	Source      string         `json:"source"`      // "file" or "inline"
	FilePath    string         `json:"file_path"`   // as the agent file says it; empty when inline
	BodyHash    string         `json:"body_hash"`   // SHA-256 of Text, in hex
	Extra       map[string]any `json:"extra"`       // other frontmatter keys
}

// ResponseFormat is a JSON Schema, inline or in a file.
type ResponseFormat struct {
	Schema map[string]any
	File   string // relative to the agent file; empty when inline
}
