package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
)

// Options says how a retrieval tool is opened. Its functions may be called from
// the goroutine that opens or refreshes the tool.
type Options struct {
	// StateDir holds the indexes of the agent; empty means what
	// durable.StateDir returns for the agent folder.
	StateDir string
	// Getenv is asked for HOLODECK_STATE_DIR; nil means that it is not set.
	Getenv func(string) string
	// ForceIngest makes the index anew, and uses nothing that is there. Reindex makes
	// it anew with those vectors and contexts that are there for the same texts.
	// Without either, an index that was made in another way is an error, and stays,
	// where a provider is paid for making it.
	ForceIngest, Reindex bool
	// Progress, if set, is told how far the indexing is. It is not called when
	// there is nothing to do.
	Progress func(Progress)
	// Notice, if set, is told in whole sentences what a person should know: that
	// another process is indexing, that an index is made anew and why, and what of
	// a source the index leaves out. It is not called when nothing changes.
	Notice func(message string)
	// Writer opens the model that writes the contexts of passages; nil where there
	// is none.
	Writer func(*config.Model) (Writer, error)
	// HTTP fetches sources at addresses; nil is http.DefaultClient.
	HTTP *http.Client
	// Limits bounds what a source may hold; its zero fields mean the defaults.
	Limits Limits
}

// Limits bounds what a source may hold.
type Limits struct {
	// File bounds each file.
	File convert.Limits
	// Passages is the most passages of one tool: all are compared with each
	// query, and their vectors are kept in memory.
	Passages int
}

// DefaultLimits are 64 MiB a file, 256 MiB of text from it, and 250,000
// passages.
func DefaultLimits() Limits { return Limits{File: convert.DefaultLimits(), Passages: 250_000} }

// orDefault returns l with its zero fields filled in: by what the tool says, or
// else the defaults.
func (l Limits) orDefault(s settings) Limits {
	d := DefaultLimits()
	if s.passages != 0 {
		d.Passages = s.passages
	}
	if s.fileBytes != 0 {
		const growth = 4
		d.File = convert.Limits{FileBytes: s.fileBytes, TextBytes: growth * int(s.fileBytes)}
	}
	if l.File.FileBytes == 0 {
		l.File.FileBytes = d.File.FileBytes
	}
	if l.File.TextBytes == 0 {
		l.File.TextBytes = d.File.TextBytes
	}
	if l.Passages == 0 {
		l.Passages = d.Passages
	}
	return l
}

// Tool is an open retrieval tool. It is safe for concurrent use.
type Tool interface {
	agent.Tool

	// Search returns the best hits of a query, as Call does for a model.
	Search(ctx context.Context, query string) ([]Hit, error)

	// Refresh brings the index up to date with the source. Searches meanwhile
	// see the index as it was; when Refresh fails it stays so.
	Refresh(ctx context.Context) error

	// Stats describes the index that searches see.
	Stats() Stats

	// Close frees the index. It is idempotent; calls after it fail with a
	// *agent.BackendSessionError.
	Close() error
}

// Open brings the index of a retrieval tool up to date and opens it. emb is not
// asked, and may be nil, where [embed.Needed] says that the tool needs none. The error
// is an *agent.ToolError. When ctx is done, or the process is killed, the last
// complete index stays.
func Open(ctx context.Context, env agent.Env, a *config.Agent, t config.Tool, emb embed.Embedder, opts Options) (Tool, error) {
	v, err := open(ctx, env, a, t, emb, opts)
	if err != nil {
		return nil, &agent.ToolError{Tool: t.Base().Name + "_search", Err: err}
	}
	return v, nil
}

func open(ctx context.Context, env agent.Env, a *config.Agent, t config.Tool, emb embed.Embedder, opts Options) (*searchTool, error) {
	if !config.IsRetrieval(t) {
		return nil, fmt.Errorf("a tool of type %s is not a retrieval tool", t.Base().Type)
	}
	s, problems := newSettings(a, t)
	for _, p := range problems {
		if p.Code != config.CodeNoEffect {
			return nil, refusal(p)
		}
	}
	if !embed.Needed(t) {
		emb = nil
	}
	if emb != nil && s.dimensions != 0 && s.dimensions != emb.Dimensions() && !a.Offline {
		return nil, fmt.Errorf("embedding_dimensions is %d, but the vectors of %s have %d; remove the key or make them equal",
			s.dimensions, emb.Model(), emb.Dimensions())
	}
	v := &searchTool{
		backend: string(a.Runtime), agentDir: a.Dir, env: env, embedder: emb, tokens: &chunk.Tokens{},
		progress: opts.Progress, notice: opts.Notice, limits: opts.Limits.orDefault(s),
		pdfCache: func() string { return cacheDir(a, opts, "pdfium") }, agentFile: a.File,
	}
	var err error
	if s.structure != nil {
		if s.cutter, err = chunk.NewStructurer(*s.structure); err != nil {
			return nil, err
		}
	}
	if v.writer, err = openWriter(&s, opts); err != nil {
		return nil, err
	}
	if v.remote, err = newRemote(a, s, opts, v.limits); err != nil {
		return nil, err
	}
	v.settings, v.paid = s, paid(a, s, emb != nil)
	if v.store, err = openStore(ctx, a, s, opts); err != nil {
		return nil, err
	}
	if err := v.refresh(ctx, opts.extent()); err != nil {
		return nil, errors.Join(err, v.store.Close())
	}
	return v, nil
}

// extent returns how much is made besides what changed.
func (o Options) extent() extent {
	switch {
	case o.ForceIngest:
		return everythingAnew
	case o.Reindex:
		return everything
	}
	return whatChanged
}

// paid reports whether a provider charges for making the index of a tool. The
// offline embedder and what runs on a machine of one's own do not.
func paid(a *config.Agent, s settings, embeds bool) bool {
	charges := func(p config.Provider) bool { return p != config.ProviderOffline && p != config.ProviderOllama }
	if s.contexts != nil && charges(s.contexts.model.Provider) {
		return true
	}
	choice, err := embed.Resolve(a)
	return embeds && err == nil && charges(choice.Model.Provider)
}

// openWriter returns the model that writes contexts, or nil where none are
// written. One that was not asked for and cannot be had is done without, which
// is told.
func openWriter(s *settings, opts Options) (Writer, error) {
	if s.contexts == nil {
		return nil, nil
	}
	var w Writer
	err := errors.New("no model is at hand")
	if opts.Writer != nil {
		w, err = opts.Writer(s.contexts.model)
	}
	switch {
	case err == nil:
		return w, nil
	case s.block.Wrote("contextual_embeddings"), s.block.Wrote("context_model"):
		return nil, fmt.Errorf("open the model that writes the contexts of passages: %w", err)
	}
	s.contexts = nil
	if opts.Notice != nil {
		opts.Notice(fmt.Sprintf("indexing %s: passages get no contexts: %v; contextual_embeddings: false says that this is meant", s.name, err))
	}
	return nil, nil
}

// refusal returns a problem as an error. What opens an agent prints no
// positions, so the key is named.
func refusal(p config.Problem) error {
	text := p.Text
	if i := strings.LastIndexByte(p.Path, '.'); p.Path != "" {
		text = p.Path[i+1:] + ": " + text
	}
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return errors.New(text)
}

// folderName returns name as a folder that is its own on every system. Some
// file systems do not tell upper from lower case or refuse names, and then a
// hash makes the difference.
func folderName(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	if plain == name && name != "" && !reservedOnWindows(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return plain + "-" + hex.EncodeToString(sum[:4])
}

// reservedOnWindows reports whether a lower-case name is a device there.
func reservedOnWindows(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	device := strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")
	return device && len(name) == len("com1")
}
