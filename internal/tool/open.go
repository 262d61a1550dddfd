package tool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool/hook"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// Options says how tools are opened. Its functions may be called from several
// goroutines at once.
type Options struct {
	// Getenv is asked for variables that no agent file names, such as
	// HOLODECK_STATE_DIR; nil means that none is set.
	Getenv func(name string) string
	// HTTP makes the requests of the embedder; nil is http.DefaultClient.
	HTTP *http.Client
	// Models hands out the models that tools ask; nil where no tool asks one.
	Models *llm.Models
	// Code runs the user's own code; nil where there is none.
	Code *worker.Pool
	// ForceIngest indexes the sources of search tools anew; Reindex does, and uses
	// vectors and contexts that are there for the same texts.
	ForceIngest, Reindex bool
	// Version is the program's, as servers are told.
	Version string
	// Degrade opens an agent, too, whose servers cannot be reached: its sessions
	// are told which, and they are tried again before each turn. Otherwise such an
	// agent is not opened, and no turn of it begins when a server was lost and cannot
	// be brought back, so that none is judged that lacks its tools.
	Degrade bool
	// Elicit asks a person what a server wants to know; nil refuses.
	Elicit func(context.Context, mcp.Question) (mcp.Answer, error)
	// Progress, if set, is told how far the indexing of each search tool is.
	Progress func(knowledge.Progress)
	// Notice, if set, is told in whole sentences what a person should know of the
	// opening: what is waited for, made anew or left out.
	Notice func(message string)
	// Observe, if set, watches every call, its permission and hooks included.
	Observe Observer
	// Recorder records every call; Player plays every call from a record, and no
	// tool is opened. At most one of them is set.
	Recorder *cassette.Recorder
	Player   *cassette.Player
}

// Open opens every tool of an agent but its skills, side by side: what a skill
// is done by needs the others, see [Set.WithSkill]. When one cannot be opened
// the others are closed, and the error, an *agent.ToolError, is that of the
// first in the file that failed by itself. What was indexed by then stays.
func Open(ctx context.Context, env agent.Env, a *config.Agent, opts Options) (*Set, error) {
	hooks, err := hook.Open(a, hook.Options{
		Now: env.Now, Log: env.Log, HTTP: opts.HTTP, Code: opts.Code, Redactor: a.Redactor,
		Recorder: opts.Recorder, Player: opts.Player,
	})
	if err != nil {
		return nil, err
	}
	if opts.Player != nil {
		s, err := replay(env, a, opts.Player, hooks)
		if err != nil {
			return nil, err
		}
		s.observe = opts.Observe
		return s, nil
	}
	o := &opener{env: env, agent: a, opts: opts}
	if slices.ContainsFunc(a.Tools, embed.Needed) {
		if o.embedder, err = openEmbedder(env, a, opts.HTTP); err != nil {
			return nil, err
		}
	}
	entries, err := openAll(ctx, a.Tools, o.open)
	if err != nil {
		return nil, err
	}
	o.done.Store(true)
	s := newSet(env, a)
	s.hooks, s.recorder, s.observe = hooks, opts.Recorder, opts.Observe
	s.needsServers = !opts.Degrade
	parts := make([]part, len(entries))
	for i, e := range entries {
		parts[i] = partOf(a.Tools[i], e)
		if e.closer != nil {
			s.closers = append(s.closers, e.closer)
		}
	}
	if err := s.begin(parts); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openEmbedder opens the embedder that all search tools of an agent share which
// need one.
func openEmbedder(env agent.Env, a *config.Agent, client *http.Client) (embed.Embedder, error) {
	choice, err := embed.Resolve(a)
	if err != nil {
		return nil, fmt.Errorf("choose an embedder: %w", err)
	}
	embedder, err := embed.Open(choice, embed.Options{Getenv: a.Variable, HTTP: client, Rand: env.Rand})
	if err != nil {
		var names []string
		for _, t := range a.Tools {
			if embed.Needed(t) {
				names = append(names, config.CanonicalName(t))
			}
		}
		return nil, fmt.Errorf("open the embedder of %s: %w", strings.Join(names, ", "), err)
	}
	return embedder, nil
}

// openAll opens the entries of an agent file side by side, in their order. The
// first failure cancels the rest.
func openAll(ctx context.Context, tools []config.Tool, open func(context.Context, config.Tool) (opened, error)) ([]opened, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	entries := make([]opened, len(tools))
	failed := make([]error, len(tools))
	var wg sync.WaitGroup
	for i, t := range tools {
		wg.Go(func() {
			if entries[i], failed[i] = open(ctx, t); failed[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	err := firstCause(failed)
	if err == nil {
		return entries, nil
	}
	for i, entry := range entries {
		if failed[i] == nil && entry.closer != nil {
			err = errors.Join(err, entry.closer.Close())
		}
	}
	return nil, err
}

// firstCause returns the first error that is not the echo of another's
// cancellation, or else the first.
func firstCause(errs []error) error {
	var echo error
	for _, err := range errs {
		switch {
		case err == nil:
		case !errors.Is(err, context.Canceled):
			return err
		case echo == nil:
			echo = err
		}
	}
	return echo
}
