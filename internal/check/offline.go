package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/config"
)

// What stands in for the things that --offline replaces.
const (
	offlineModel    = "the offline model"
	offlineEmbedder = "the offline hashing embedder"
	localIndex      = "a local index"
	ownLoop         = "our own loop"
	leftOut         = "left out"
)

// rewrite is one --offline rewrite under way.
type rewrite struct {
	agent *config.Agent
	found []entry
	// excused are the paths below which a missing variable does not matter,
	// because what it would have set is not used.
	excused []string
}

// entry is something that was replaced or left out, and where it stands.
type entry struct {
	pos config.Pos
	config.LeftOut
}

// takeOffline makes an agent of one that needs accounts and servers that runs
// without: models and embedders become the offline ones, stores the local
// index, and what cannot run is left out. It records in agent.LeftOut what it
// did, in file order, and returns the paths that no longer matter.
func takeOffline(agent *config.Agent) (excused []string) {
	r := &rewrite{agent: agent, excused: []string{"providers", "vectorstores", "mcp_servers", "deployment", "observability"}}
	r.runtime()
	r.models()
	r.compaction()
	r.tools()
	r.hooks()
	r.telemetry()
	slices.SortStableFunc(r.found, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.pos.File, b.pos.File), cmp.Compare(a.pos.Line, b.pos.Line), cmp.Compare(a.pos.Column, b.pos.Column))
	})
	agent.Offline = true
	agent.LeftOut = make([]config.LeftOut, len(r.found))
	for i := range r.found {
		agent.LeftOut[i] = r.found[i].LeftOut
	}
	return r.excused
}

// excuse removes the problems of missing variables below the excused paths,
// and of files of variables that only what was left out would have read.
func excuse(problems []config.Problem, excused []string) []config.Problem {
	return slices.DeleteFunc(problems, func(p config.Problem) bool {
		if p.Code != config.CodeVariable && !strings.HasSuffix(p.Path, ".env_file") {
			return false
		}
		return slices.ContainsFunc(excused, func(path string) bool { return below(p.Path, path) })
	})
}

// note records what was done with a section.
func (r *rewrite) note(b config.Block, key, what, need, now string) {
	p := b.Problem("", key, "", "", "")
	r.excused = append(r.excused, p.Path)
	r.found = append(r.found, entry{p.Pos, config.LeftOut{Path: p.Path, What: what, Need: need, Now: now}})
}

// runtime notes the runtime that the loop stands in for, and what a runtime
// cannot do without its model. The others are what they are with or without an
// account.
func (r *rewrite) runtime() {
	a := r.agent
	if s := a.GoogleADK; a.Runtime == config.BackendGoogleADK && s != nil && s.CodeExecution {
		r.note(s.Block, "code_execution", "code execution", "Gemini, which executes it", leftOut)
		s.CodeExecution = false
	}
	need := backend.OfflineNeeds(a)
	if need == "" {
		return
	}
	r.note(a.Block, "backend", fmt.Sprintf("runtime %s", a.Runtime), need, ownLoop)
	if !a.Wrote("backend") && a.Model != nil { // whose provider chose it
		r.found[len(r.found)-1].pos = a.Model.Pos()
	}
}

// model replaces one model; nil is none.
func (r *rewrite) model(m *config.Model, role, now string) {
	if m == nil || m.Provider == config.ProviderOffline {
		return
	}
	if m.Name != "" { // that of an embedder may be left out
		role += " " + m.Name
	}
	r.note(m.Block, "", fmt.Sprintf("%s (%s)", role, m.Provider), account(m), now)
	replaceModel(m)
}

// replaceModel makes a model the offline one; nil is none.
func replaceModel(m *config.Model) {
	if m != nil && m.Provider != config.ProviderOffline {
		*m = config.Model{Block: m.Block, Provider: config.ProviderOffline, Name: "offline"}
	}
}

// account says what a model would have needed.
func account(m *config.Model) string {
	switch m.Provider {
	case config.ProviderOllama:
		return "an Ollama server with the model"
	case "":
		return "a model provider"
	}
	return fmt.Sprintf("an account with %s", m.Provider)
}

// models replaces every model of the agent.
func (r *rewrite) models() {
	a := r.agent
	needsEmbedder := a.EmbeddingProvider == nil && (slices.ContainsFunc(a.Tools, config.IsRetrieval) || a.ToolFiltering.Embeds())
	if m := a.Model; needsEmbedder && m != nil && m.Provider != config.ProviderOffline {
		r.note(a.Block, "embedding_provider", fmt.Sprintf("embedder of provider %s", m.Provider), account(m), offlineEmbedder)
		r.found[len(r.found)-1].pos = m.Pos()
	}
	r.model(a.Model, "model", offlineModel)
	r.model(a.EmbeddingProvider, "embedding model", offlineEmbedder)
	const judged = "metrics that need a judge are skipped"
	judge := func(m *config.Model) { r.model(m, "judge", judged) }
	if e := a.Evaluations; e != nil {
		judge(e.Model)
		eachJudge(e.Metrics, judge)
	}
	for _, c := range a.TestCases.Special() {
		caseJudges(c, judge)
	}
	// Cases are read anew whenever they are asked for.
	a.TestCases.Edit(func(c *config.TestCase) { caseJudges(c, replaceModel) })
}

// caseJudges calls fn with the model of every metric of a case that has its own.
func caseJudges(c *config.TestCase, fn func(*config.Model)) {
	eachJudge(c.Evaluations, fn)
	for i := range c.Turns {
		eachJudge(c.Turns[i].Evaluations, fn)
	}
}

// compaction leaves out summaries of the conversation: the offline model has none
// to give but those of a script.
func (r *rewrite) compaction() {
	a := r.agent
	s := a.AgentFramework
	if s == nil || s.CompactionStrategy != config.CompactionSummarization || a.Runtime != config.BackendAgentFramework {
		return
	}
	if m := a.Model; m == nil || len(m.Script) > 0 || m.ScriptFile != nil {
		return
	}
	r.note(s.Block, "compaction_strategy", "summaries of the conversation", "a model that can sum up", "the whole conversation is sent")
}

// eachJudge calls fn with the model of every metric that has its own.
func eachJudge(metrics []config.Metric, fn func(*config.Model)) {
	for _, metric := range metrics {
		switch m := metric.(type) {
		case *config.StandardMetric:
			fn(m.Model)
		case *config.GEvalMetric:
			fn(m.Model)
		case *config.RAGMetric:
			fn(m.Model)
		}
	}
}

// tools replaces the stores of the retrieval tools and leaves out the tools
// that cannot run.
func (r *rewrite) tools() {
	r.agent.Tools = slices.DeleteFunc(r.agent.Tools, func(tool config.Tool) bool {
		b := tool.Base()
		switch t := tool.(type) {
		case *config.VectorstoreTool:
			if r.remote(b, t.Source) {
				return true
			}
			r.store(b, &t.Database)
			r.embeddingModel(b, &t.EmbeddingModel)
			return false
		case *config.HierarchicalDocumentTool:
			if r.remote(b, t.Source) {
				return true
			}
			r.store(b, &t.Database)
			r.embeddingModel(b, &t.EmbeddingModel)
			r.hierarchical(t)
			return false
		case *config.MCPTool:
			r.note(b.Block, "", "MCP server "+b.Name, mcpNeeds(t), leftOut)
		case *config.FunctionTool:
			return false // the user's own code needs no account
		case *config.PromptTool:
			r.note(b.Block, "", "prompt "+b.Name, "a model that follows instructions", leftOut)
		case *config.SkillTool:
			r.note(b.Block, "", "skill "+b.Name, "a model that follows instructions", leftOut)
		}
		return true
	})
}

// remote notes a retrieval tool whose documents are elsewhere.
func (r *rewrite) remote(b *config.ToolBase, source string) bool {
	switch config.SourceScheme(source) {
	case "", "file":
		return false
	}
	r.note(b.Block, "", fmt.Sprintf("tool %s over %s", b.Name, r.agent.Redactor.String(source)), "access to that address", leftOut)
	return true
}

// store replaces a store that is a server.
func (r *rewrite) store(b *config.ToolBase, db **config.Database) {
	d := *db
	if d == nil || d.Provider == config.DatabaseLocal || d.Provider == config.DatabaseInMemory {
		return
	}
	name := string(d.Provider)
	if d.Ref != "" && d.Ref != name {
		name = fmt.Sprintf("%s (%s)", d.Ref, d.Provider)
	}
	r.note(b.Block, "database", "store "+name, "that store and its credentials", localIndex)
	*db = nil
}

// embeddingModel drops the name of an embedding model, which the offline
// embedder does not have. The embedder itself is noted once, for the agent.
func (r *rewrite) embeddingModel(b *config.ToolBase, model **string) {
	if *model != nil {
		r.excused = append(r.excused, b.Problem("", "embedding_model", "", "", "").Path)
	}
	*model = nil
}

// hierarchical replaces what a hierarchical_document tool asks of models and
// servers.
func (r *rewrite) hierarchical(t *config.HierarchicalDocumentTool) {
	r.model(t.ContextModel, "context model", leftOut)
	t.ContextModel, t.ContextualEmbeddings = nil, false
	r.model(t.RerankerModel, "reranker", leftOut)
	t.RerankerModel, t.EnableReranking = nil, false
	if k := t.KeywordIndex; k != nil && k.Provider != "in-memory" {
		r.note(t.Block, "keyword_index", "keyword index "+string(k.Provider), "that server and its credentials", localIndex)
		t.KeywordIndex = nil
	}
}

// mcpNeeds says what an MCP server would have needed.
func mcpNeeds(t *config.MCPTool) string {
	if t.Transport != "stdio" {
		return fmt.Sprintf("the server, over %s", t.Transport)
	}
	if t.Command == nil {
		return "a command to start it"
	}
	var names []string
	for name := range t.Env {
		names = append(names, name)
	}
	slices.Sort(names)
	need := fmt.Sprintf("%s to start it", *t.Command)
	if len(names) > 0 {
		need += ", with " + strings.Join(names, ", ")
	}
	return need
}

// hooks leaves out the hooks that tell somebody elsewhere. The others are the
// user's own, and some of them say what tools must not do.
func (r *rewrite) hooks() {
	a := r.agent
	a.Hooks = slices.DeleteFunc(slices.Clone(a.Hooks), func(h config.Hook) bool {
		if h.Action != config.HookNotify {
			return false
		}
		r.note(h.Block, "", fmt.Sprintf("hook %s (%s)", h.Event, h.Action), "access to that address", leftOut)
		return true
	})
	if a.Claude != nil && a.Claude.Wrote("hooks") {
		a.Claude.Hooks = a.Hooks
	}
}

// telemetry leaves out what would be sent to a collector.
func (r *rewrite) telemetry() {
	a := r.agent
	if o := a.Observability; o != nil && o.Enabled {
		r.note(o.Block, "", "telemetry", "a collector", leftOut)
	}
	a.Observability = nil
}
