package config

// TestCase is a case: one input, or a conversation of turns.
type TestCase struct {
	Block
	Name             *string        `key:"name" rule:"nonblank" doc:"Its name in reports."`
	Input            *string        `key:"input" rule:"nonblank" doc:"What the person says. Required unless there are turns."`
	ExpectedTools    []ExpectedTool `key:"expected_tools" doc:"Tools that must be called: names, or objects."`
	GroundTruth      *string        `key:"ground_truth" rule:"nonblank" doc:"The right answer."`
	Files            []FileInput    `key:"files" rule:"maxitems=10" doc:"Files that go with the input."`
	RetrievalContext []string       `key:"retrieval_context" doc:"What retrieval metrics use instead of what was retrieved."`
	Evaluations      []Metric       `key:"evaluations" doc:"Metrics instead of the agent's; an empty list inherits them."`
	Turns            []Turn         `key:"turns" rule:"minitems=1" doc:"The turns of a conversation."`
	AllowEmpty       bool           `key:"allow_empty" ours:"true" default:"false" doc:"Whether an empty answer may pass."`
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
	AllowEmpty       bool           `key:"allow_empty" ours:"true" default:"false" doc:"Whether an empty answer may pass."`
}

// ExpectedTool is a tool call that must happen. In YAML it is an object, or a
// string that is its name.
type ExpectedTool struct {
	Block
	Name  string         `key:"name" rule:"required,nonblank" doc:"Part of the tool's name."`
	Args  map[string]any `key:"args" doc:"What each argument must be."`
	Count int            `key:"count" default:"1" rule:"min=1" doc:"Fewest calls that satisfy it."`
	// Bare says that it was written as a string.
	Bare bool `key:"-"`
}

// FileInput is a file that goes with an input.
type FileInput struct {
	Block
	Path        *string  `key:"path" doc:"A file, relative to the agent file; or url."`
	URL         *string  `key:"url" doc:"An address; or path."`
	Type        FileType `key:"type" rule:"required" doc:"What it is."`
	Description *string  `key:"description" doc:"Shown to people only."`
	Pages       []int    `key:"pages" rule:"min=1" doc:"Pages to read, counted from 1 (pdf, powerpoint)."`
	Sheet       *string  `key:"sheet" doc:"Sheet to read (excel)."`
	Range       *string  `key:"range" doc:"Cells to read, such as A1:C9 (excel)."`
	Cache       *bool    `key:"cache" doc:"Whether a url is fetched once; yes when absent."`
}

// FileType is what a file is.
type FileType string

// Values implements the enumeration.
func (FileType) Values() []string {
	return []string{"image", "pdf", "text", "excel", "word", "powerpoint", "csv"}
}
