package runs

import (
	"io"
	"path/filepath"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
)

// WriteStored writes the stored form of a run from its journal: the EvalRun of
// the Python edition, whose readers refuse a key they do not know. The agent is
// the one the run began with. The file appears whole or not at all, and cases
// pass through memory one at a time.
func WriteStored(stored Stored, a *config.Agent) error {
	j, err := ReadJournal(stored.JournalFile())
	if err != nil {
		return err
	}
	return durable.Replace(stored.File(), 0o644, func(w io.Writer) error { return writeStored(w, j, a) })
}

func writeStored(w io.Writer, j *Journal, a *config.Agent) error {
	out := jsonWriter{w: w}
	out.text("{")
	out.line(`  "report": `)
	if out.err != nil {
		return out.err
	}
	report := &ReportWriter{out: jsonWriter{w: w, prefix: "  "}, run: j.Header.Run}
	s := j.emptySummary()
	for c, err := range j.Cases() {
		if err != nil {
			return err
		}
		s.Add(c)
		if err := report.Add(c); err != nil {
			return err
		}
	}
	if err := report.Close(s); err != nil {
		return err
	}
	out.text(",")
	out.line(`  "metadata": `)
	if out.err != nil {
		return out.err
	}
	if err := writeMetadata(w, j.Header, a); err != nil {
		return err
	}
	out.line("}\n")
	return out.err
}

// writeMetadata writes EvalRunMetadata of the Python edition.
func writeMetadata(w io.Writer, h Header, a *config.Agent) error {
	out := jsonWriter{w: w, prefix: "  "}
	out.text("{")
	out.line(`  "agent_config": `)
	if out.err != nil {
		return out.err
	}
	if err := a.WriteSnapshot(w, out.prefix+"  "); err != nil {
		return err
	}
	out.text(",")
	out.member("prompt_version", newPromptVersion(a), ",")
	out.member("holodeck_version", h.Version, ",")
	out.member("cli_args", orEmptyList(h.Args), ",")
	out.member("git_commit", orNull(h.Commit), "")
	out.line("}")
	return out.err
}

// promptVersion is PromptVersion of the Python edition.
type promptVersion struct {
	Version     string         `json:"version"`
	Author      *string        `json:"author"`
	Description *string        `json:"description"`
	Tags        []string       `json:"tags"`
	Source      string         `json:"source"` // file or inline
	FilePath    *string        `json:"file_path"`
	BodyHash    string         `json:"body_hash"` // 64 hex digits
	Extra       map[string]any `json:"extra"`
}

func newPromptVersion(a *config.Agent) promptVersion {
	p, r := a.Prompt, a.Redactor
	out := promptVersion{
		Version: r.String(p.Version), Author: orNull(r.String(p.Author)), Description: orNull(r.String(p.Description)),
		Tags: []string{}, Source: p.Source, BodyHash: p.BodyHash, Extra: map[string]any{},
	}
	for _, tag := range p.Tags {
		out.Tags = append(out.Tags, r.String(tag))
	}
	if extra, ok := r.Any(jsonSafe(orEmpty(p.Extra))).(map[string]any); ok {
		out.Extra = extra
	}
	if p.Source == "file" && a.Instructions != nil {
		path := a.Instructions.Block.File("file", p.FilePath)
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		out.FilePath = new(r.String(path))
	}
	return out
}

func orEmptyList(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
