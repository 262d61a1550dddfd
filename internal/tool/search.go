package tool

import (
	"context"
	"errors"
	"slices"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// OpenSearch opens the search tools of an agent, side by side and in their
// order, and no others: all of them, or those that only names. Whoever calls it
// closes them. Errors are as for [Open].
func OpenSearch(ctx context.Context, env agent.Env, a *config.Agent, opts Options, only func(config.Tool) bool) ([]knowledge.Tool, error) {
	var wanted []config.Tool
	for _, t := range a.Tools {
		if config.IsRetrieval(t) && only(t) {
			wanted = append(wanted, t)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	o := &opener{env: env, agent: a, opts: opts}
	if slices.ContainsFunc(wanted, embed.Needed) {
		var err error
		if o.embedder, err = openEmbedder(env, a, opts.HTTP); err != nil {
			return nil, err
		}
	}
	entries, err := openAll(ctx, wanted, o.open)
	if err != nil {
		return nil, err
	}
	tools := make([]knowledge.Tool, len(entries))
	for i, e := range entries {
		tools[i] = e.closer.(knowledge.Tool) // as search makes it
	}
	return tools, nil
}

// search opens a tool that searches documents.
func (o *opener) search(ctx context.Context, t config.Tool) (opened, error) {
	options := knowledge.Options{
		Getenv: o.opts.Getenv, HTTP: o.opts.HTTP, ForceIngest: o.opts.ForceIngest, Reindex: o.opts.Reindex,
		Progress: o.opts.Progress, Notice: o.opts.Notice,
	}
	if models := o.opts.Models; models != nil {
		options.Writer = func(c *config.Model) (knowledge.Writer, error) { return newWriter(models, c) }
	}
	s, err := knowledge.Open(ctx, o.env, o.agent, t, o.embedder, options)
	if err != nil {
		return opened{}, err
	}
	return opened{tools: []agent.Tool{s}, closer: s}, nil
}

// writer is a model that answers what is asked while an index is made.
type writer struct {
	model    llm.Model
	sampling llm.Sampling
}

// newWriter returns the model that c names.
func newWriter(models *llm.Models, c *config.Model) (*writer, error) {
	m, err := models.Model(c)
	if err != nil {
		return nil, err
	}
	w := &writer{model: m, sampling: llm.Sampling{TopP: c.TopP, Effort: "low"}}
	if c.Wrote("temperature") {
		w.sampling.Temperature = c.Temperature
	}
	return w, nil
}

// Name implements knowledge.Writer.
func (w *writer) Name() string {
	info := w.model.Info()
	return info.Provider + "/" + info.Name
}

// Write implements knowledge.Writer. Nothing of the agent's own conversation
// goes with it: what documents say reaches a model that has no tools.
func (w *writer) Write(ctx context.Context, p knowledge.Prompt) (knowledge.Answer, error) {
	req := llm.Request{
		Session: "index/" + p.Name, Turn: 1, Ordinal: 1, System: p.System,
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: []agent.Part{{Kind: agent.PartText, Text: p.Text}}}},
		Sampling: w.sampling,
	}
	req.Sampling.MaxTokens = &p.MaxTokens
	for chunk, err := range w.model.Stream(ctx, req) {
		if err != nil {
			return knowledge.Answer{}, err
		}
		if done, ok := chunk.(llm.Done); ok {
			llm.EndSession(w.model, req.Session)
			return knowledge.Answer{Text: agent.JoinText(done.Message.Parts), Usage: done.Usage, CostUSD: done.CostUSD}, nil
		}
	}
	return knowledge.Answer{}, errors.New("the model did not answer")
}
