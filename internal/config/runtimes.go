package config

// Claude is the claude section, used by the claude runtime.
type Claude struct {
	Block
	Runtime                   ClaudeRuntime       `key:"runtime" ours:"true" default:"auto" doc:"What runs the agent: the Claude Code CLI, our own loop over the provider's API, or whichever there is."`
	WorkingDirectory          *string             `key:"working_directory" doc:"Where the CLI runs, relative to the agent file; absent, the agent folder."`
	PermissionMode            PermissionMode      `key:"permission_mode" default:"manual" doc:"What may happen without asking."`
	MaxTurns                  *int                `key:"max_turns" rule:"min=1" doc:"Most model responses of a turn; 20 when absent."`
	MaxConcurrentSessions     *int                `key:"max_concurrent_sessions" rule:"min=1,max=500" doc:"Most sessions at once."`
	SessionMemoryEstimateMiB  int                 `key:"session_memory_estimate_mib" default:"500" rule:"min=50,max=2000" doc:"Memory of a session, in MiB."`
	ExtendedThinking          *ExtendedThinking   `key:"extended_thinking" doc:"Reasoning before the answer."`
	WebSearch                 bool                `key:"web_search" default:"false" doc:"Whether the built-in web search is offered."`
	Bash                      *Bash               `key:"bash" doc:"The built-in shell."`
	FileSystem                *FileSystem         `key:"file_system" doc:"The built-in file tools."`
	Agents                    map[string]Subagent `key:"agents" doc:"Sub-agents by name."`
	AllowedTools              []string            `key:"allowed_tools" doc:"Tools that are allowed beyond the declared ones."`
	DisallowedTools           []string            `key:"disallowed_tools" doc:"Tools that are refused."`
	Effort                    *Effort             `key:"effort" doc:"How hard the model thinks."`
	MaxBudgetUSD              *float64            `key:"max_budget_usd" rule:"gt=0" doc:"Most a turn may cost, in US dollars."`
	FallbackModel             *string             `key:"fallback_model" doc:"Model that takes over when the first is overloaded."`
	SettingSources            []SettingSource     `key:"setting_sources" doc:"Which settings files the CLI reads; none when absent."`
	IUnderstandThisIsUnsafe   bool                `key:"i_understand_this_is_unsafe" default:"false" doc:"Needed for acceptAll."`
	DisableDefaultHooks       bool                `key:"disable_default_hooks" default:"false" rule:"strict" doc:"Turns redaction of tool output off."`
	DisableSubprocessEnvScrub bool                `key:"disable_subprocess_env_scrub" default:"false" rule:"strict" doc:"Lets the CLI's children see its environment."`
	Hooks                     []Hook              `key:"hooks" ours:"true" doc:"The same list as the root's hooks."`
}

// ClaudeRuntime is what runs an agent whose backend is claude.
type ClaudeRuntime string

// The runtimes of claude.
const (
	ClaudeAuto ClaudeRuntime = "auto"
	ClaudeCLI  ClaudeRuntime = "cli"
	ClaudeAPI  ClaudeRuntime = "api"
)

// Values implements the enumeration.
func (ClaudeRuntime) Values() []string { return []string{"auto", "cli", "api"} }

// PermissionMode is what may happen without asking.
type PermissionMode string

// Values implements the enumeration.
func (PermissionMode) Values() []string { return []string{"manual", "acceptEdits", "acceptAll"} }

// ExtendedThinking is reasoning before the answer.
type ExtendedThinking struct {
	Block
	Enabled      bool `key:"enabled" default:"false" doc:"Whether it is on."`
	BudgetTokens int  `key:"budget_tokens" default:"10000" rule:"min=1000,max=100000" doc:"Most tokens of it."`
}

// Bash is the built-in shell.
type Bash struct {
	Block
	Enabled          bool     `key:"enabled" default:"false" doc:"Whether it is offered."`
	ExcludedCommands []string `key:"excluded_commands" default:"[]" doc:"Commands that are refused."`
	AllowUnsafe      bool     `key:"allow_unsafe" default:"false" doc:"Whether dangerous commands are allowed."`
}

// FileSystem is the built-in file tools.
type FileSystem struct {
	Block
	Read  bool `key:"read" default:"false" doc:"Whether files may be read."`
	Write bool `key:"write" default:"false" doc:"Whether files may be written."`
	Edit  bool `key:"edit" default:"false" doc:"Whether files may be changed."`
}

// Subagent is an agent the main one may delegate to.
type Subagent struct {
	Block
	Description string         `key:"description" rule:"required,nonblank" doc:"When it is to be used."`
	Prompt      *string        `key:"prompt" rule:"nonblank" doc:"Its instructions; or prompt_file."`
	PromptFile  *string        `key:"prompt_file" doc:"A file with them, relative to the agent file; or prompt."`
	Tools       []string       `key:"tools" doc:"Tools it may call; absent, all."`
	Model       *SubagentModel `key:"model" doc:"Its model."`
}

// SubagentModel is the model of a sub-agent.
type SubagentModel string

// Values implements the enumeration.
func (SubagentModel) Values() []string { return []string{"sonnet", "opus", "haiku", "inherit"} }

// Effort is how hard a model thinks.
type Effort string

// Values implements the enumeration.
func (Effort) Values() []string { return []string{"low", "medium", "high", "max"} }

// SettingSource is a settings file of the CLI.
type SettingSource string

// Values implements the enumeration.
func (SettingSource) Values() []string { return []string{"user", "project", "local", "all"} }

// OpenAI is the openai section, used by agent_framework with an OpenAI model.
type OpenAI struct {
	Block
	MaxConcurrentSessions     *int               `key:"max_concurrent_sessions" rule:"min=1,max=500" doc:"Most sessions at once."`
	SessionMemoryEstimateMiB  int                `key:"session_memory_estimate_mib" default:"100" rule:"min=50,max=2000" doc:"Memory of a session, in MiB."`
	MaxTurns                  int                `key:"max_turns" default:"20" rule:"min=1" doc:"Most model responses of a turn."`
	Effort                    *Effort            `key:"effort" doc:"How hard the model thinks."`
	MaxBudgetUSD              *float64           `key:"max_budget_usd" rule:"gt=0" doc:"Most a session may cost, in US dollars."`
	FallbackModel             *string            `key:"fallback_model" doc:"Model that takes over when the first fails."`
	DisallowedTools           []string           `key:"disallowed_tools" doc:"Tools that are refused."`
	Permissions               *OpenAIPermissions `key:"permissions" doc:"Which tools the model may call."`
	IUnderstandThisIsUnsafe   bool               `key:"i_understand_this_is_unsafe" default:"false" doc:"Acknowledges unsafe settings."`
	DisableDefaultHooks       bool               `key:"disable_default_hooks" default:"false" rule:"strict" doc:"Turns redaction of tool output off."`
	DisableSubprocessEnvScrub bool               `key:"disable_subprocess_env_scrub" default:"false" rule:"strict" doc:"Lets child processes see the environment."`
}

// OpenAIPermissions says which tools the model may call.
type OpenAIPermissions struct {
	Block
	AllowedTools    []string `key:"allowed_tools" doc:"Only these."`
	DisallowedTools []string `key:"disallowed_tools" doc:"Not these."`
}

// GoogleADK is the google_adk section.
type GoogleADK struct {
	Block
	StreamingMode StreamingMode `key:"streaming_mode" default:"none" doc:"How text is shown: sse as it is made, none each response at once."`
	CodeExecution bool          `key:"code_execution" default:"false" doc:"Whether Gemini may run code at Google; for models of google."`
	MaxIterations *int          `key:"max_iterations" rule:"min=1" doc:"Most model responses of a turn; 20 when absent."`
	OutputKey     string        `key:"output_key" default:"output" doc:"Key of ADK's session state that the answer is read from."`
}

// StreamingMode is how google_adk streams.
type StreamingMode string

// The modes.
const (
	StreamingNone StreamingMode = "none"
	StreamingSSE  StreamingMode = "sse"
)

// Values implements the enumeration.
func (StreamingMode) Values() []string { return []string{"none", "sse"} }

// AgentFramework is the agent_framework section.
type AgentFramework struct {
	Block
	CompactionStrategy CompactionStrategy `key:"compaction_strategy" default:"none" doc:"How a long conversation is shortened: sliding_window forgets the oldest of it, summarization has the model put it into a few sentences."`
	KeepLastGroups     int                `key:"keep_last_groups" default:"20" rule:"min=1" doc:"Message groups that sliding_window keeps. A group is a message, or a response with the results of its tool calls."`
	TargetCount        int                `key:"target_count" default:"4" rule:"min=1" doc:"Message groups that summarization keeps as they are."`
	Threshold          int                `key:"threshold" default:"2" rule:"min=0" doc:"How many more there may be before summarization begins."`
	MaxToolRounds      *int               `key:"max_tool_rounds" rule:"min=1" doc:"Most rounds of tool calls of a turn."`
}

// CompactionStrategy is how a long conversation is shortened.
type CompactionStrategy string

// The strategies.
const (
	CompactionNone          CompactionStrategy = "none"
	CompactionSlidingWindow CompactionStrategy = "sliding_window"
	CompactionSummarization CompactionStrategy = "summarization"
)

// Values implements the enumeration.
func (CompactionStrategy) Values() []string {
	return []string{"none", "sliding_window", "summarization"}
}

// Permissions says which tools the model may call. Names are globs over
// canonical tool names, and may speak of arguments (see [ToolPattern]); deny wins
// over ask, and ask over allow.
type Permissions struct {
	Block
	AllowedTools    []string `key:"allowed_tools" ours:"true" doc:"Only these may be called; absent, all."`
	DisallowedTools []string `key:"disallowed_tools" ours:"true" doc:"These may not be called."`
	Ask             []string `key:"ask" ours:"true" doc:"A person is asked before these are called; where nobody can be asked they are refused."`
}

// ToolFiltering chooses which tools a turn offers to the model, for agents that
// have many. It is a section that the Python edition once had.
type ToolFiltering struct {
	Block
	Enabled              bool         `key:"enabled" ours:"true" default:"false" doc:"Whether a turn offers only the tools that its message is about; else all are offered."`
	TopK                 int          `key:"top_k" ours:"true" default:"5" rule:"min=1,max=50" doc:"Most tools that are offered because they fit the message."`
	SimilarityThreshold  float64      `key:"similarity_threshold" ours:"true" default:"0.3" rule:"min=0,max=1" doc:"Least score of a tool that fits, from 0 to 1."`
	AlwaysInclude        []string     `key:"always_include" ours:"true" doc:"Tools that every turn offers: names or globs, as in permissions."`
	AlwaysIncludeTopUsed int          `key:"always_include_top_n_used" ours:"true" default:"3" rule:"min=0,max=20" doc:"How many of the tools the session has called most are offered as well."`
	SearchMethod         SearchMethod `key:"search_method" ours:"true" default:"semantic" doc:"What a message and a tool are compared by: meaning (with the agent's embedder), words, or both."`
}

// SearchMethod is how tool_filtering compares.
type SearchMethod string

// The methods.
const (
	SearchSemantic SearchMethod = "semantic"
	SearchBM25     SearchMethod = "bm25"
	SearchHybrid   SearchMethod = "hybrid"
)

// Values implements the enumeration.
func (SearchMethod) Values() []string { return []string{"semantic", "bm25", "hybrid"} }
