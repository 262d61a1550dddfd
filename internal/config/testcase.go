package config

// MaxRepeat is how often a case may run; the rule of the key says so, too.
const MaxRepeat = 100_000

// TestCase is a case: one input, or a conversation of turns.
type TestCase struct {
	Block
	ID               *string        `key:"id" ours:"true" rule:"nonblank" doc:"What the case is known by in every run. Absent, its name, or else a hash of what is said."`
	Name             *string        `key:"name" rule:"nonblank" doc:"Its name in reports."`
	Tags             []string       `key:"tags" ours:"true" rule:"nonblank" doc:"Words by which --tag selects cases."`
	Vars             map[string]any `key:"vars" ours:"true" doc:"Values, or lists of values, for {{name}} in the texts of the case. Each combination is a case of its own."`
	Repeat           int            `key:"repeat" ours:"true" default:"1" rule:"min=1,max=100000" doc:"How often the case runs."`
	PassRule         PassRule       `key:"pass_rule" ours:"true" default:"all" doc:"How many of the attempts must pass: all, any, majority or rate>=x with x between 0 and 1."`
	TimeoutS         *float64       `key:"timeout_s" ours:"true" rule:"gt=0" doc:"Seconds the agent may take over all turns."`
	MaxCostUSD       *float64       `key:"max_cost_usd" ours:"true" rule:"gt=0" doc:"US dollars the agent's model calls may cost over all turns."`
	Input            *string        `key:"input" rule:"nonblank" doc:"What the person says. Required unless there are turns."`
	ExpectedTools    []ExpectedTool `key:"expected_tools" doc:"Tools that must be called: names, or objects."`
	GroundTruth      *string        `key:"ground_truth" rule:"nonblank" doc:"The right answer."`
	Files            []FileInput    `key:"files" rule:"maxitems=10" doc:"Files that go with the input."`
	RetrievalContext []string       `key:"retrieval_context" doc:"What retrieval metrics use instead of what was retrieved."`
	Evaluations      []Metric       `key:"evaluations" doc:"Metrics instead of the agent's; an empty list inherits them."`
	Turns            []Turn         `key:"turns" rule:"minitems=1" doc:"The turns of a conversation."`
	ForbiddenTools   []string       `key:"forbidden_tools" ours:"true" rule:"nonblank" doc:"Tools that must not be called in any turn, each by a part of its name."`
	MaxCalls         *int           `key:"max_calls" ours:"true" rule:"min=0" doc:"Most tool calls over all turns."`
	ToolOrder        ToolOrder      `key:"tool_order" ours:"true" default:"none" doc:"Whether expected_tools must be called in their order: as a subsequence of the calls, or strict: these calls and no others."`
	AllowEmpty       bool           `key:"allow_empty" ours:"true" default:"false" doc:"Whether an empty answer may pass."`
	TurnConfig       map[string]any `key:"turn_config" ours:"true" doc:"Handed to graders, as that of a turn."`
}

// Turn is one turn of a conversation.
type Turn struct {
	Block
	Input            string         `key:"input" rule:"required,nonblank" doc:"What the person says."`
	GroundTruth      *string        `key:"ground_truth" rule:"nonblank" doc:"The right answer."`
	ExpectedTools    []ExpectedTool `key:"expected_tools" doc:"As for a case."`
	Files            []FileInput    `key:"files" rule:"maxitems=10" doc:"As for a case."`
	RetrievalContext []string       `key:"retrieval_context" doc:"As for a case."`
	Evaluations      []Metric       `key:"evaluations" doc:"Metrics instead of the case's."`
	TurnConfig       map[string]any `key:"turn_config" doc:"Handed to graders."`
	ForbiddenTools   []string       `key:"forbidden_tools" ours:"true" rule:"nonblank" doc:"Tools that must not be called in this turn, besides those of the case."`
	MaxCalls         *int           `key:"max_calls" ours:"true" rule:"min=0" doc:"Most tool calls in this turn."`
	ToolOrder        ToolOrder      `key:"tool_order" ours:"true" doc:"As for a case; absent, the case's."`
	AllowEmpty       bool           `key:"allow_empty" ours:"true" default:"false" doc:"Whether an empty answer may pass."`
}

// ExpectedTool is a tool call that must happen. In YAML it is an object, or a
// string that is its name. Its JSON form is that of results.
type ExpectedTool struct {
	Block
	Name  string         `key:"name" json:"name" rule:"required,nonblank" doc:"Part of the tool's name."`
	Args  map[string]any `key:"args" json:"args,omitzero" doc:"What each argument must be."`
	Count int            `key:"count" json:"count,omitzero" default:"1" rule:"min=1" doc:"Fewest calls that satisfy it."`
	Max   *int           `key:"max" json:"max,omitzero" ours:"true" rule:"min=1" doc:"Most calls that satisfy it."`
	// Status is empty when it does not matter how the calls ended.
	Status ToolStatus `key:"status" json:"status,omitzero" ours:"true" doc:"How the calls must have ended."`
	// Bare says that it was written as a string.
	Bare bool `key:"-" json:"bare,omitzero"`
}

// ToolOrder says whether the order of tool calls matters.
type ToolOrder string

// The orders.
const (
	OrderNone        ToolOrder = "none"
	OrderSubsequence ToolOrder = "subsequence"
	OrderStrict      ToolOrder = "strict"
)

// Values implements the enumeration.
func (ToolOrder) Values() []string { return []string{"none", "subsequence", "strict"} }

// ToolStatus is how a tool call ended.
type ToolStatus string

// The statuses.
const (
	ToolOK    ToolStatus = "ok"
	ToolError ToolStatus = "error"
)

// Values implements the enumeration.
func (ToolStatus) Values() []string { return []string{"ok", "error"} }

// FileInput is a file that goes with an input. Its JSON form is that of results.
type FileInput struct {
	Block
	Path        *string  `key:"path" json:"path,omitzero" doc:"A file, relative to the agent file; or url."`
	URL         *string  `key:"url" json:"url,omitzero" doc:"An address; or path."`
	Type        FileType `key:"type" json:"type,omitzero" rule:"required" doc:"What it is."`
	Description *string  `key:"description" json:"description,omitzero" doc:"Shown to people only."`
	Pages       Pages    `key:"pages" json:"pages,omitzero" doc:"Pages to read, counted from 1, such as [1, 3-5] (pdf, powerpoint)."`
	Sheet       *string  `key:"sheet" json:"sheet,omitzero" doc:"Sheet to read (excel)."`
	Range       *string  `key:"range" json:"range,omitzero" doc:"Cells to read, such as A1:C9 (excel)."`
	Cache       *bool    `key:"cache" json:"cache,omitzero" doc:"Whether a url is fetched once; yes when absent."`
}

// FileType is what a file is.
type FileType string

// Values implements the enumeration.
func (FileType) Values() []string {
	return []string{"image", "pdf", "text", "excel", "word", "powerpoint", "csv"}
}
