package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/price"
	"github.com/holodeck-go/holodeck/internal/netclient"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func newIndexCmd(a *app) *cobra.Command {
	var opts openOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "index PATH",
		Short: "Bring the indexes of an agent's search tools up to date",
		Long: "Index reads the sources of an agent's search tools and brings their indexes up to\n" +
			"date, all of them side by side, and says what changed. Opening the agent does the\n" +
			"same; index does it ahead of time.",
		Example: "  holodeck index agents/support\n  holodeck index agents/support --force --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSearch(cmd.Context(), args[0], "", opts, func(_ context.Context, file string, tools []knowledge.Tool) error {
				if err := printIndexes(a.Stdout, file, tools, asJSON); err != nil {
					return fmt.Errorf("write the result: %w", err)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&opts.offline, "offline", false, "use the offline embedder and local indexes")
	cmd.Flags().BoolVarP(&opts.forceIngest, "force", "f", false, "make every index anew, and use nothing that is there")
	cmd.Flags().BoolVar(&opts.reindex, "reindex", false, "make every index anew, and keep vectors and contexts of the same texts")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newSearchCmd(a *app) *cobra.Command {
	var opts openOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search PATH TOOL QUERY",
		Short: "Search with one of an agent's search tools, as its model would",
		Long: "Search brings the index of a search tool up to date, and prints what the tool finds\n" +
			"for a query: each hit with its score, and what each kind of search says of it.",
		Example: "  holodeck search agents/support manuals \"How do I change the bulb?\"\n" +
			"  holodeck search agents/legal contract 'section 4.2' --json",
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[2]) == "" {
				return &usageError{errors.New("the query is empty; say what to look for")}
			}
			return a.withSearch(cmd.Context(), args[0], args[1], opts, func(ctx context.Context, _ string, tools []knowledge.Tool) error {
				name := tools[0].Definition().Name
				hits, err := tools[0].Search(ctx, args[2])
				if err != nil {
					return fmt.Errorf("search with %s: %w", name, err)
				}
				if err := printHits(a.Stdout, a.StdoutTerminal, name, args[2], hits, asJSON); err != nil {
					return fmt.Errorf("write the result: %w", err)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&opts.offline, "offline", false, "use the offline embedder and a local index")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// withSearch opens the search tools of the agent at path, or the one of that
// name, and nothing else of it, and hands them to fn.
func (a *app) withSearch(ctx context.Context, path, name string, opts openOptions, fn func(ctx context.Context, file string, tools []knowledge.Tool) error) (err error) {
	opts.searchOnly = true
	loaded, err := a.loadAgent(path, opts)
	if err != nil {
		return err
	}
	only, err := searchToolsOf(loaded, name)
	if err != nil {
		return err
	}
	client, err := netclient.New(loaded.Variable)
	if err != nil {
		return &config.Error{Problems: []config.Problem{{Severity: config.SeverityError, Code: config.CodeValue, Text: err.Error()}}}
	}
	defer client.CloseIdleConnections()
	prices, err := price.Open(a.variable, a.Home)
	if err != nil {
		return err
	}
	progress := &indexProgress{w: a.Stderr, terminal: a.StderrTerminal && a.escapes(), quiet: a.quiet}
	tools, err := tool.OpenSearch(ctx, a.env, loaded, tool.Options{
		Getenv: a.variable, HTTP: client, ForceIngest: opts.forceIngest, Reindex: opts.reindex, Progress: progress.report, Notice: progress.say,
		Models: llm.Open(a.env, llm.Options{Getenv: loaded.Variable, HTTP: client, Prices: prices, Redactor: loaded.Redactor}),
	}, only)
	progress.done()
	if err != nil {
		if ctx.Err() != nil {
			return &cutShort{"the index of every tool is the last that was complete", err}
		}
		return fmt.Errorf("open the search tools of %s: %w", loaded.File, err)
	}
	defer func() {
		for _, t := range tools {
			err = errors.Join(err, t.Close())
		}
	}()
	return fn(ctx, loaded.File, tools)
}

// withoutUnusedKeys leaves out that a key is missing of what search tools do not
// ask: the agent's model, where it neither embeds nor writes contexts, and the
// models of evaluations.
func withoutUnusedKeys(a *config.Agent, problems []config.Problem) []config.Problem {
	asked := []string{"tools", "embedding_provider"}
	if slices.ContainsFunc(a.Tools, func(t config.Tool) bool {
		h, ok := t.(*config.HierarchicalDocumentTool)
		return ok && h.ContextualEmbeddings && h.ContextModel == nil || embed.Needed(t) && a.EmbeddingProvider == nil
	}) {
		asked = append(asked, "model")
	}
	return slices.DeleteFunc(problems, func(p config.Problem) bool {
		section, _, _ := strings.Cut(p.Path, ".")
		section, _, _ = strings.Cut(section, "[")
		return p.Code == config.CodeCredential && !slices.Contains(asked, section)
	})
}

// searchToolsOf returns which tools are meant: all search tools, or the one of
// that name.
func searchToolsOf(a *config.Agent, name string) (func(config.Tool) bool, error) {
	var names []string
	for _, t := range a.Tools {
		if config.IsRetrieval(t) {
			names = append(names, t.Base().Name)
		}
	}
	if len(names) == 0 {
		return nil, &usageError{fmt.Errorf("%s has no search tools; they are of type vectorstore or hierarchical_document", a.File)}
	}
	found := false
	only := func(t config.Tool) bool {
		return name == "" || name == t.Base().Name || name == config.CanonicalName(t)
	}
	for _, t := range a.Tools {
		found = found || config.IsRetrieval(t) && only(t)
	}
	if !found {
		hint := "they are " + strings.Join(names, ", ")
		if best := config.Nearest(name, names); best != "" {
			hint = fmt.Sprintf("did you mean %q?", best)
		}
		return nil, &usageError{fmt.Errorf("%s has no search tool %q; %s", a.File, name, hint)}
	}
	return only, nil
}

// indexed is what index says of a tool. Its JSON form is what --json prints.
type indexed struct {
	Tool      string `json:"tool"`
	Location  string `json:"location"`
	Documents int    `json:"documents"`
	Passages  int    `json:"passages"`
	Added     int    `json:"added"`
	Changed   int    `json:"changed"`
	Removed   int    `json:"removed"`
	Unchanged int    `json:"unchanged"`
	Rebuilt   string `json:"rebuilt,omitempty"` // why everything was made anew
	// Skipped are the files that could not be read, and why.
	Skipped  []string `json:"skipped,omitempty"`
	Contexts int      `json:"contexts,omitempty"`
	Tokens   int      `json:"tokens,omitempty"`
	CostUSD  float64  `json:"cost_usd,omitempty"`
}

// printIndexes prints what became of the index of each tool.
func printIndexes(w io.Writer, file string, tools []knowledge.Tool, asJSON bool) error {
	list := make([]indexed, len(tools))
	for i, t := range tools {
		s := t.Stats()
		list[i] = indexed{
			Tool: strings.TrimSuffix(t.Definition().Name, "_search"), Location: s.Location, Documents: s.Sources, Passages: s.Passages,
			Added: s.Added, Changed: s.Changed, Removed: s.Removed, Unchanged: s.Unchanged, Rebuilt: s.Rebuilt, Skipped: s.Skipped,
			Contexts: s.Work.Contexts, Tokens: s.Work.Tokens, CostUSD: s.Work.CostUSD,
		}
	}
	if asJSON {
		return printJSON(w, struct {
			File  string    `json:"file"`
			Tools []indexed `json:"tools"`
		}{file, list})
	}
	for _, t := range list {
		skipped := ""
		if n := len(t.Skipped); n > 0 {
			skipped = fmt.Sprintf(", %d left out", n)
		}
		_, err := fmt.Fprintf(w, "%s: %s of %s (%d added, %d changed, %d removed, %d unchanged%s), kept in %s\n",
			t.Tool, plural(t.Passages, "passage"), plural(t.Documents, "document"), t.Added, t.Changed, t.Removed, t.Unchanged, skipped, t.Location)
		if err != nil {
			return err
		}
	}
	return nil
}

// printHits prints what a search found. A terminal is not given what steers it,
// whatever documents say.
func printHits(w io.Writer, terminal bool, name, query string, hits []knowledge.Hit, asJSON bool) error {
	if asJSON {
		if hits == nil {
			hits = []knowledge.Hit{}
		}
		return printJSON(w, struct {
			Tool  string          `json:"tool"`
			Query string          `json:"query"`
			Hits  []knowledge.Hit `json:"hits"`
		}{name, query, hits})
	}
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, "No results found.")
		return err
	}
	for i, h := range hits {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		text := hitText(i+1, h)
		if terminal {
			text = printable(text)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// hitText writes the hit with a number.
func hitText(n int, h knowledge.Hit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] Score: %.2f | Source: %s\n", n, h.Score, h.Source)
	legs := make([]string, len(h.Legs))
	for i, l := range h.Legs {
		legs[i] = fmt.Sprintf("%s %.2f", l.Name, l.Score)
	}
	fmt.Fprintf(&b, "    %s\n", strings.Join(legs, ", "))
	if h.Title != "" {
		fmt.Fprintf(&b, "    %s\n", strings.Join(append(h.Location[:len(h.Location):len(h.Location)], h.Title), " > "))
	}
	if h.Page > 0 {
		fmt.Fprintf(&b, "    page %d\n", h.Page)
	}
	if h.Context != "" {
		fmt.Fprintf(&b, "    %s\n", h.Context)
	}
	fmt.Fprintln(&b, h.Text)
	for _, d := range h.Definitions {
		fmt.Fprintf(&b, "    %s is defined: %s\n", d.Name, oneLine(d.Text))
	}
	for _, r := range h.References {
		fmt.Fprintf(&b, "    %s is: %s\n", r.Text, oneLine(r.Title))
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
