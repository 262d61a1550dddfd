package knowledge

import (
	"encoding/json"
	"fmt"
	"os"
	slashpath "path"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
)

// settings is what a tool's section says, made ready for work.
type settings struct {
	name        string // as the agent file names it
	description string
	kind        config.ToolType
	block       config.Block
	source      string // as written
	path        string // what it names, unless it is an address
	pattern     string // of the files below path, or ""
	address     string // of a file that is fetched, or ""
	database    *config.Database
	chunks      chunk.Options
	records     *records                // nil: documents
	structure   *chunk.StructureOptions // nil: documents without structure
	cutter      *chunk.Structurer       // once the tool is opened
	contexts    *contextSettings        // nil: none are written
	// definitions and references say whether those are shown with a passage.
	definitions, references bool
	language                string
	analyzer                index.Analyzer
	ranking                 index.Ranking
	topK                    int
	threshold               float64
	dimensions              int // embedding_dimensions, or zero
	passages                int // most
	fileBytes               int64
}

// records is how the records of a source are read and shown.
type records struct {
	options convert.RecordOptions
	search  []string // fields that are searched
	id      string
	// show are the fields that are shown; nil means all others.
	show      []string
	separator string
}

// newSettings returns the settings of a retrieval tool, and the problems that
// keep this build from opening it or leave a key without effect.
func newSettings(a *config.Agent, t config.Tool) (settings, []config.Problem) {
	var s settings
	var problems []config.Problem
	var limits config.SearchLimits
	switch t := t.(type) {
	case *config.VectorstoreTool:
		s, problems = vectorstoreSettings(t)
		s.database, limits = t.Database, t.SearchLimits
	case *config.HierarchicalDocumentTool:
		s, problems = hierarchicalSettings(a, t)
		s.database, limits = t.Database, t.SearchLimits
	default:
		panic(fmt.Sprintf("knowledge: %T is not a retrieval tool", t))
	}
	base := t.Base()
	s.name, s.description, s.kind, s.block = base.Name, base.Description, base.Type, base.Block
	s.fileBytes = int64(limits.MaxFileMB) << 20
	s.passages, s.language = limits.MaxPassages, string(deref(limits.Language))
	s.analyzer, _ = index.NewAnalyzer(s.language) // config knows the languages
	problems = append(problems, checkDatabase(a, base.Block, s.database)...)
	return s, append(problems, s.locate()...)
}

func vectorstoreSettings(t *config.VectorstoreTool) (settings, []config.Problem) {
	s := settings{source: t.Source, topK: t.TopK, chunks: chunk.Options{Size: chunk.DefaultSize}}
	if t.MinSimilarityScore != nil {
		s.threshold = *t.MinSimilarityScore
	}
	if t.EmbeddingDimensions != nil {
		s.dimensions = *t.EmbeddingDimensions
	}
	if t.ChunkSize != nil {
		s.chunks.Size = *t.ChunkSize
	}
	if t.ChunkOverlap != nil {
		s.chunks.Overlap = *t.ChunkOverlap
	}
	var problems []config.Problem
	if len(t.VectorField) > 0 {
		s.records, problems = recordSettings(t)
	} else if s.chunks.Overlap >= s.chunks.Size {
		problems = append(problems, t.Problem(config.SeverityError, "chunk_overlap", config.CodeConflict,
			fmt.Sprintf("an overlap of %d tokens leaves no room in chunks of %d", s.chunks.Overlap, s.chunks.Size),
			"make chunk_overlap smaller than chunk_size"))
	}
	return s, problems
}

// recordSettings returns how records are read.
func recordSettings(t *config.VectorstoreTool) (*records, []config.Problem) {
	r := &records{search: t.VectorField, id: deref(t.IDField), show: t.MetaFields, separator: t.FieldSeparator}
	r.options.Path, r.options.RecordPrefix, r.options.MetaPrefix = deref(t.RecordPath), deref(t.RecordPrefix), deref(t.MetaPrefix)
	var problems []config.Problem
	if r.id == "" {
		problems = append(problems, t.Problem(config.SeverityError, "id_field", config.CodeMissing,
			"id_field is required when vector_field is specified (structured data mode)", "name the field that tells records apart"))
	}
	if d := deref(t.Delimiter); d != "" {
		var ok bool
		if r.options.Delimiter, ok = delimiter(d); !ok {
			problems = append(problems, t.Problem(config.SeverityError, "delimiter", config.CodeValue,
				fmt.Sprintf("%q is not a delimiter", d), `it is one character, such as ";" or "\t", and no quote or line end`))
		}
	}
	idle := func(key, why, hint string) {
		if t.Wrote(key) {
			problems = append(problems, t.Problem(config.SeverityWarning, key, config.CodeNoEffect, why, hint))
		}
	}
	const whole = "has no effect with vector_field: a record is never cut"
	idle("chunk_size", whole, "remove the key")
	idle("chunk_overlap", whole, "remove the key")
	if r.options.Path == "" {
		idle("meta_prefix", "has no effect without record_path: there is nothing around the records", "remove the key, or give record_path")
	}
	return r, problems
}

// delimiter returns the one character of s, when a .csv can be parted by it.
func delimiter(s string) (rune, bool) {
	r, size := utf8.DecodeRuneInString(s)
	return r, size == len(s) && r != utf8.RuneError && r != 0 && !strings.ContainsRune("\"\r\n", r)
}

// locate finds the source, and says when this build cannot read its kind.
func (s *settings) locate() []config.Problem {
	switch scheme := config.SourceScheme(s.source); scheme {
	case "http", "https":
		s.address = s.source
		return nil
	case "", "file":
	default:
		return []config.Problem{s.block.Problem(config.SeverityWarning, "source", config.CodeUnsupported,
			fmt.Sprintf("this build reads no %s sources yet", scheme),
			"copy the files beside the agent file and name that folder, or run with --offline to leave the tool out")}
	}
	path, ok := config.SourcePath(s.block, s.source)
	if !ok {
		return nil // config says what is wrong
	}
	s.path, s.pattern = config.SplitPattern(path)
	if s.pattern != "" {
		return s.checkPattern()
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil // config says what is wrong, and so does the walk
	case info.IsDir() && s.records != nil:
		return []config.Problem{s.block.Problem(config.SeverityError, "source", config.CodeConflict,
			"is a folder, and vector_field needs one file of records", "name a .csv, .json or .jsonl file, or remove vector_field")}
	case info.IsDir():
		return nil
	}
	ext := convert.Extension(path)
	if s.records != nil {
		if err := convert.CheckRecords(ext, s.records.options); err != nil {
			return []config.Problem{s.block.Problem(config.SeverityError, "source", config.CodeConflict, err.Error(), "")}
		}
		return nil
	}
	if !convert.Readable(path) {
		return []config.Problem{s.block.Problem(config.SeverityWarning, "source", config.CodeUnsupported,
			fmt.Sprintf("this build reads no %s yet", filesOf(ext)), "it reads "+strings.Join(convert.Extensions(), " "))}
	}
	return nil
}

// checkPattern says what is wrong with the pattern of the source.
func (s *settings) checkPattern() []config.Problem {
	for _, part := range strings.Split(s.pattern, "/") {
		if _, err := slashpath.Match(part, ""); err != nil {
			return []config.Problem{s.block.Problem(config.SeverityError, "source", config.CodeValue,
				fmt.Sprintf("%q is not a pattern of file names", s.source), "such as docs/**/*.md")}
		}
	}
	if s.records != nil {
		return []config.Problem{s.block.Problem(config.SeverityError, "source", config.CodeConflict,
			"is a pattern, and vector_field needs one file of records", "name a .csv, .json or .jsonl file, or remove vector_field")}
	}
	return nil
}

// filesOf says what files have an extension.
func filesOf(ext string) string {
	if ext == "" {
		return "files without an extension"
	}
	return ext + " files"
}

// passagesVersion changes when passages are made, or counted, in another way.
const passagesVersion = "passages/3"

// fingerprint names how files become passages and words. Two indexes with the
// same are comparable.
func (s settings) fingerprint() string {
	form := struct {
		Versions  []string
		Chunks    *chunk.Options          `json:",omitempty"`
		Structure *chunk.StructureOptions `json:",omitempty"`
		Language  string                  `json:",omitempty"`
		Search    []string                `json:",omitempty"`
		ID        string                  `json:",omitempty"`
		Show      []string
		Sep       string
		Options   convert.RecordOptions
	}{Versions: []string{convert.Version, chunk.Version, index.Version, passagesVersion}, Language: s.language}
	switch r := s.records; {
	case r != nil:
		form.Search, form.ID, form.Show, form.Sep, form.Options = r.search, r.id, r.show, r.separator, r.options
	case s.structure != nil:
		form.Structure = s.structure
	default:
		form.Chunks = &s.chunks
	}
	b, err := json.Marshal(form)
	if err != nil {
		panic(err) // plain fields always encode
	}
	return string(b)
}

// canonicalName is the name events and reports know the tool by.
func (s settings) canonicalName() string { return s.name + "_search" }

// searchSchema is what a search may be called with.
const searchSchema = `{"type":"object","properties":{"query":{"type":"string","description":"What to look for, in words"}},"required":["query"],"additionalProperties":false}`

// definition is what the model is told of the tool.
func (s settings) definition() agent.Definition {
	const most, ellipsis = 200, "..."
	description := fmt.Sprintf("Search %s: %s", s.name, s.description)
	if runes := []rune(description); len(runes) > most {
		description = string(runes[:most-len(ellipsis)]) + ellipsis
	}
	return agent.Definition{
		Name: s.canonicalName(), Description: description, Schema: json.RawMessage(searchSchema),
		ReadOnly: true, Retrieval: true, Source: string(s.kind),
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
