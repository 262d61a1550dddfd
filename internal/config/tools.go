package config

import "github.com/holodeck-go/holodeck/internal/secret"

// Tool is one entry of tools: a *VectorstoreTool, *HierarchicalDocumentTool,
// *FunctionTool, *MCPTool, *PromptTool or *SkillTool, chosen by its type key.
type Tool interface {
	// Base returns what every tool has.
	Base() *ToolBase
}

// ToolBase is what every tool has.
type ToolBase struct {
	Block
	Type         ToolType `key:"type" rule:"required" doc:"The kind of tool."`
	Name         string   `key:"name" rule:"required,name" doc:"Letters, digits, _ and -; unique among the agent's tools."`
	Description  string   `key:"description" rule:"required" doc:"What the model is told the tool is for."`
	DeferLoading bool     `key:"defer_loading" default:"true" doc:"Accepted for compatibility: tools are always offered."`
	Timeout      float64  `key:"timeout" ours:"true" default:"60" rule:"gt=0" doc:"Seconds one call may take; mcp has request_timeout instead, and a skill, where nothing is said, the time of the turn."`
}

// Base implements Tool.
func (b *ToolBase) Base() *ToolBase { return b }

// ToolType is the kind of a tool.
type ToolType string

// The kinds of tool.
const (
	ToolVectorstore  ToolType = "vectorstore"
	ToolHierarchical ToolType = "hierarchical_document"
	ToolFunction     ToolType = "function"
	ToolMCP          ToolType = "mcp"
	ToolPrompt       ToolType = "prompt"
	ToolSkill        ToolType = "skill"
)

// Values implements the enumeration.
func (ToolType) Values() []string {
	return []string{"vectorstore", "hierarchical_document", "function", "mcp", "prompt", "skill"}
}

// VectorstoreTool searches files by meaning and by words.
type VectorstoreTool struct {
	ToolBase
	Source              string       `key:"source" rule:"required,nonblank" doc:"A file or folder, relative to the agent file; or an s3, az, http, https or file URL."`
	VectorField         StringOrList `key:"vector_field" doc:"Fields of a .csv, .json or .jsonl record that are searched; turns structured mode on."`
	IDField             *string      `key:"id_field" doc:"Field that names a record. Required with vector_field."`
	MetaFields          []string     `key:"meta_fields" doc:"Fields that are shown with a record."`
	FieldSeparator      string       `key:"field_separator" default:"\"\\n\"" doc:"What joins several vector fields."`
	Delimiter           *string      `key:"delimiter" doc:"CSV delimiter; absent, it is found out."`
	RecordPath          *string      `key:"record_path" doc:"Dotted path to the records inside a JSON file."`
	RecordPrefix        *string      `key:"record_prefix" doc:"Put before the names of record fields."`
	MetaPrefix          *string      `key:"meta_prefix" doc:"Put before the names of metadata fields."`
	ChunkSize           *int         `key:"chunk_size" rule:"gt=0" doc:"Longest chunk, in tokens of four characters; 512 when absent."`
	ChunkOverlap        *int         `key:"chunk_overlap" rule:"min=0" doc:"Tokens repeated from the chunk before; none when absent."`
	EmbeddingModel      *string      `key:"embedding_model" doc:"Embedding model; all tools of an agent agree."`
	EmbeddingDimensions *int         `key:"embedding_dimensions" rule:"min=1,max=10000" doc:"Width of a vector; absent, the model's own."`
	Database            *Database    `key:"database" doc:"Where the index lives: absent is local, a name is one of config.yaml's vectorstores."`
	TopK                int          `key:"top_k" default:"5" rule:"min=1,max=100" doc:"Most results of a search."`
	MinSimilarityScore  *float64     `key:"min_similarity_score" rule:"min=0,max=1" doc:"Results that score less are dropped."`

	SearchLimits
}

// SearchLimits is what both search tools have of ours.
type SearchLimits struct {
	Language    *SearchLanguage `key:"language" ours:"true" doc:"Whose inflections and stop words a search by words knows; absent, light rules for English."`
	MaxPassages int             `key:"max_passages" ours:"true" default:"250000" rule:"gt=0" doc:"Most passages the index of a search tool may have."`
	MaxFileMB   int             `key:"max_file_mb" ours:"true" default:"64" rule:"gt=0,max=4096" doc:"Largest file a search tool reads, in MiB; of a file of records, the largest record. It may become four times that as text."`
}

// SearchLanguage is a language of documents; none has neither inflections nor
// stop words.
type SearchLanguage string

// Values implements the enumeration.
func (SearchLanguage) Values() []string {
	return []string{"none", "english", "french", "hungarian", "norwegian", "russian", "spanish", "swedish"}
}

// HierarchicalDocumentTool searches documents by their structure.
type HierarchicalDocumentTool struct {
	ToolBase
	Source                 string           `key:"source" rule:"required,nonblank" doc:"As for vectorstore."`
	ChunkingStrategy       ChunkingStrategy `key:"chunking_strategy" default:"structure" doc:"Chunks follow the headings, or are of even length."`
	MaxChunkTokens         int              `key:"max_chunk_tokens" default:"800" rule:"min=100,max=2000" doc:"Longest chunk in tokens."`
	ChunkOverlap           int              `key:"chunk_overlap" default:"50" rule:"min=0,max=200" doc:"Tokens repeated from the chunk before."`
	DocumentDomain         DocumentDomain   `key:"document_domain" default:"none" doc:"Whose numbering of subsections is recognised."`
	MaxSubsectionDepth     *int             `key:"max_subsection_depth" rule:"min=1" doc:"Deepest subsection that becomes a chunk of its own."`
	SearchMode             SearchMode       `key:"search_mode" default:"hybrid" doc:"By meaning, by words, both, or exactly."`
	TopK                   int              `key:"top_k" default:"10" rule:"min=1,max=100" doc:"Most results of a search."`
	MinScore               *float64         `key:"min_score" rule:"min=0,max=1" doc:"Results that score less are dropped."`
	SemanticWeight         float64          `key:"semantic_weight" default:"0.5" rule:"min=0,max=1" doc:"Weight of meaning in hybrid mode."`
	KeywordWeight          float64          `key:"keyword_weight" default:"0.3" rule:"min=0,max=1" doc:"Weight of words in hybrid mode."`
	ExactWeight            float64          `key:"exact_weight" default:"0.2" rule:"min=0,max=1" doc:"Weight of exact matches in hybrid mode."`
	Fusion                 SearchFusion     `key:"fusion" ours:"true" default:"rrf" doc:"How hybrid mode makes one score: of the ranks in each search, or of its scores."`
	RRFK                   int              `key:"rrf_k" default:"60" rule:"min=1" doc:"Constant of reciprocal rank fusion."`
	ContextualEmbeddings   bool             `key:"contextual_embeddings" default:"true" doc:"A model writes a line of context for each chunk before it is embedded."`
	ContextMaxTokens       int              `key:"context_max_tokens" default:"100" rule:"min=50,max=200" doc:"Longest such line."`
	ContextConcurrency     int              `key:"context_concurrency" default:"10" rule:"min=1,max=50" doc:"How many are written at once."`
	ContextModel           *Model           `key:"context_model" doc:"The model that writes them; absent, the agent's."`
	EmbeddingModel         *string          `key:"embedding_model" doc:"As for vectorstore."`
	ExtractDefinitions     bool             `key:"extract_definitions" default:"true" doc:"Definitions are found and shown with passages that need them."`
	ExtractCrossReferences bool             `key:"extract_cross_references" default:"true" doc:"References between sections are followed."`
	EnableReranking        bool             `key:"enable_reranking" default:"false" doc:"A model orders the results anew."`
	RerankerModel          *Model           `key:"reranker_model" doc:"That model. Required with enable_reranking."`
	Database               *Database        `key:"database" doc:"As for vectorstore."`
	KeywordIndex           *KeywordIndex    `key:"keyword_index" doc:"Where the keyword index lives."`

	SearchLimits
}

// ChunkingStrategy is how a hierarchical document is cut.
type ChunkingStrategy string

// Values implements the enumeration.
func (ChunkingStrategy) Values() []string { return []string{"structure", "token"} }

// DocumentDomain names a convention of numbering subsections.
type DocumentDomain string

// Values implements the enumeration.
func (DocumentDomain) Values() []string {
	return []string{"none", "us_legislative", "au_legislative", "academic", "technical", "legal_contract"}
}

// SearchMode is how a hierarchical document is searched.
type SearchMode string

// Values implements the enumeration.
func (SearchMode) Values() []string { return []string{"semantic", "keyword", "exact", "hybrid"} }

// SearchFusion is how the scores of a hybrid search become one.
type SearchFusion string

// Values implements the enumeration.
func (SearchFusion) Values() []string { return []string{"rrf", "minmax"} }

// Database says where an index lives. In YAML it is an object, or a string
// that names one of config.yaml's vectorstores and is resolved at load.
type Database struct {
	Block
	Provider         DatabaseProvider `key:"provider" rule:"required" doc:"The kind of store."`
	ConnectionString secret.String    `key:"connection_string" rule:"nonblank" doc:"How to reach it."`

	// Options are the keys that only the store knows.
	Options map[string]any `key:"*"`
	// Ref is the name by which the agent file referred to it, if it did.
	Ref string `key:"-"`
}

// DatabaseProvider is a kind of store.
type DatabaseProvider string

// The stores that are built in.
const (
	DatabaseLocal    DatabaseProvider = "local"
	DatabaseInMemory DatabaseProvider = "in-memory"
	DatabasePostgres DatabaseProvider = "postgres"
)

// Values implements the enumeration.
func (DatabaseProvider) Values() []string {
	return []string{
		"local", "in-memory", "postgres", "azure-ai-search", "qdrant", "weaviate", "chromadb", "faiss",
		"azure-cosmos-mongo", "azure-cosmos-nosql", "sql-server", "pinecone",
	}
}

// KeywordIndex says where a keyword index lives.
type KeywordIndex struct {
	Block
	Provider       KeywordProvider `key:"provider" default:"in-memory" doc:"The kind of index."`
	Endpoint       *string         `key:"endpoint" doc:"URL. Required for opensearch."`
	IndexName      *string         `key:"index_name" doc:"Index. Required for opensearch."`
	Username       *string         `key:"username" doc:"User of basic authentication."`
	Password       secret.String   `key:"password" doc:"Password of basic authentication."`
	APIKey         secret.String   `key:"api_key" doc:"API key."`
	VerifyCerts    bool            `key:"verify_certs" default:"true" doc:"Whether TLS certificates are checked."`
	TimeoutSeconds int             `key:"timeout_seconds" default:"10" rule:"min=1,max=120" doc:"Seconds a request may take."`
	Options        map[string]any  `key:"*"`
}

// KeywordProvider is a kind of keyword index.
type KeywordProvider string

// Values implements the enumeration.
func (KeywordProvider) Values() []string { return []string{"in-memory", "opensearch"} }

// PromptTool asks a model with a template.
type PromptTool struct {
	ToolBase
	Template   *string                   `key:"template" rule:"nonblank" doc:"The template; or file."`
	File       *string                   `key:"file" rule:"nonblank" doc:"A file with it, relative to the agent file; or template."`
	Parameters map[string]map[string]any `key:"parameters" rule:"required,minitems=1" doc:"JSON Schema of each parameter."`
	Model      *Model                    `key:"model" rule:"partial" doc:"Keys of the agent's model to replace."`

	// Text is the template, resolved from Template or File.
	Text string `key:"-"`
	// Chat is the model that is asked: Model, which loading completes from the
	// agent's, or the agent's itself.
	Chat *Model `key:"-"`
}

// SkillTool is a child agent the model may delegate to.
type SkillTool struct {
	ToolBase
	Instructions *string  `key:"instructions" ours:"true" rule:"nonblank" doc:"What the child agent of a skill is told; or path."`
	Path         *string  `key:"path" ours:"true" rule:"nonblank" doc:"The folder of a skill with its SKILL.md, relative to the agent file; or instructions."`
	AllowedTools []string `key:"allowed_tools" ours:"true" doc:"Which of the agent's other tools a skill may call; none when absent."`

	// Prompt is what the child agent is told, resolved from Instructions or from
	// the SKILL.md of Folder, which is empty for a skill without one.
	Prompt string `key:"-"`
	Folder string `key:"-"`
}

// StringOrList is a list that may be written as one string.
type StringOrList []string
