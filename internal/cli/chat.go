package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/chat"
	"github.com/holodeck-go/holodeck/internal/chat/screen"
	"github.com/holodeck-go/holodeck/internal/chat/term"
	"github.com/holodeck-go/holodeck/internal/config"
)

// newestChat is the value of a --resume that names no conversation.
const newestChat = "newest"

// chatOptions are the flags of chat.
type chatOptions struct {
	open         openOptions
	resume       string // newestChat, or what names a conversation
	list, asJSON bool
	maxMessages  int
}

func newChatCmd(a *app) *cobra.Command {
	var opts chatOptions
	cmd := &cobra.Command{
		Use:   "chat [PATH]",
		Short: "Talk with an agent",
		Long: "Chat opens an agent and talks with it, turn by turn; /help says what else can be asked\n" +
			"for. PATH is an agent file or the folder of one; left out, it is the working folder.\n\n" +
			"Every conversation is kept in the agent's state folder; --list lists them and --resume\n" +
			"continues one. In a pipe, every line of standard input is a message, and answers alone\n" +
			"go to standard output.",
		Example: "  holodeck chat examples/support\n  holodeck chat --resume\n" +
			"  printf 'Hello.\\nWhat do you sell?\\n' | holodeck chat examples/support",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := append(args, ".")[0]
			if err := opts.check(cmd); err != nil {
				return err
			}
			if opts.resume == newestChat && !a.exists(path) {
				return &usageError{fmt.Errorf("there is no agent %s; if it is a conversation, write --resume=%s", path, path)}
			}
			opts.open.degrade = true // a person is there who reads what is missing
			if opts.list {
				return a.listChats(path, opts)
			}
			return a.chat(cmd.Context(), path, opts)
		},
	}
	cmd.Flags().IntVarP(&opts.maxMessages, "max-messages", "m", 0, "send at most so many messages, and say so at the limit (default: any number)")
	cmd.Flags().StringVar(&opts.open.model, "model", "", "talk with this `MODEL` of the provider in place of the file's")
	cmd.Flags().StringVar(&opts.resume, "resume", "", "continue the conversation with that `ID`, or in that file; without a value, the last one")
	cmd.Flags().Lookup("resume").NoOptDefVal = newestChat
	cmd.Flags().BoolVar(&opts.list, "list", false, "list the conversations that are kept, the last one used first, and leave")
	cmd.Flags().BoolVar(&opts.asJSON, "json", false, "with --list: print a JSON list")
	cmd.Flags().BoolVar(&opts.open.offline, "offline", false, "talk without any account: the built-in model and a local index stand in")
	cmd.Flags().BoolVarP(&opts.open.forceIngest, "force-ingest", "f", false, "index the sources of search tools anew")
	opts.open.tape.addFlags(cmd, "chat")
	return cmd
}

// check refuses flags that do not go together.
func (o *chatOptions) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case changed("max-messages") && o.maxMessages < 1:
		return &usageError{errors.New("--max-messages: give a number above 0")}
	case changed("model") && strings.TrimSpace(o.open.model) == "":
		return &usageError{errors.New("--model: give the name of a model")}
	case changed("resume") && o.resume == "":
		return &usageError{errors.New("--resume: give the ID of a conversation, or leave the value out for the last one")}
	case o.asJSON && !o.list:
		return &usageError{errors.New("--json goes with --list; holodeck run --json prints an answer as JSON")}
	case o.list && o.resume != "":
		return &usageError{errors.New("--list lists conversations and --resume continues one; give one of them")}
	case o.resume != "" && (o.open.tape.record != "" || o.open.tape.replay != ""):
		return &usageError{errors.New("--resume continues what is not in a record; --record and --replay begin a conversation of their own")}
	}
	return o.open.checkTape()
}

// exists reports whether there is something at a path.
func (a *app) exists(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.WorkDir, path)
	}
	_, err := os.Stat(path)
	return err == nil
}

// listChats prints the conversations that are kept.
func (a *app) listChats(path string, opts chatOptions) error {
	loaded, problems := a.lookAt(path)
	if loaded == nil {
		return &config.Error{Problems: problems}
	}
	store, err := chat.StoreFor(loaded, a.variable)
	if err != nil {
		return err
	}
	list, damaged, err := store.List()
	if err != nil {
		return err
	}
	for _, err := range damaged {
		a.tell("%v; it is left out", err)
	}
	if opts.asJSON {
		return printJSON(a.Stdout, append([]chat.Overview{}, list...))
	}
	_, err = fmt.Fprint(a.Stdout, store.Table(list))
	return err
}

// lookAt loads an agent that is not to be opened. What is wrong with it does not
// matter, but that it cannot be read does.
func (a *app) lookAt(path string) (*config.Agent, []config.Problem) {
	return config.Load(path, a.loadOptions().Options)
}

// chat opens the agent and holds a conversation with it.
func (a *app) chat(ctx context.Context, path string, opts chatOptions) (err error) {
	loaded, err := a.loadAgent(path, opts.open)
	if err != nil {
		return err
	}
	o := chat.Options{
		Env: a.env, Agent: loaded, MaxMessages: opts.maxMessages, Verbose: a.verbose > 0, WorkDir: a.WorkDir, Home: a.Home,
		Mask: func(turn iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
			return maskTurn(loaded.Redactor, turn)
		},
	}
	if opts.open.tape.replay == "" {
		o.Store, err = chat.OpenStore(loaded, a.variable)
		switch {
		case err != nil && opts.resume != "":
			return err
		case err != nil:
			a.tell("this conversation is not kept: %v", err)
		}
	}
	if opts.resume != "" {
		if o.Resume, err = findChat(o.Store, opts.resume); err != nil {
			return err
		}
	}
	if a.inTerminal() {
		opts.open.elicitor = new(elicitor)
	}
	told := a.tellLater(fmt.Sprintf("opening %s: its models and tools", loaded.Name))
	opened, err := a.open(ctx, loaded, opts.open)
	told()
	if err != nil {
		return err
	}
	models := &otherModels{app: a, path: path, opts: opts.open, opened: opened}
	defer func() { err = afterwards(err, errors.Join(models.Close(), opened.Close())) }()
	o.Env, o.Backend, o.Tools, o.OpenModel = opened.env, opened.backend, opened.set.Definitions, models.open
	if opened.tape.recorder != nil || opened.tape.player != nil {
		sessions := 0
		o.Session = func() string { sessions++; return fmt.Sprintf("chat-%d", sessions) }
	}
	if opts.open.offline && !a.quiet {
		if err := printLeftOut(a.Stderr, loaded.LeftOut); err != nil {
			return err
		}
	}
	if a.inTerminal() {
		outcome, err := a.chatInTerminal(ctx, o, opts.open.elicitor)
		a.endTape(opened.tape, outcome, err == nil || ctx.Err() == nil && errors.As(err, new(interrupted)))
		return err
	}
	o.Screen = screen.NewPlain(a.Stdin, a.Stdout, a.Stderr, screen.PlainOptions{Prompt: a.prompt(), Quiet: a.quiet, Verbose: a.verbose > 0})
	outcome, err := chat.Run(ctx, o)
	a.endTape(opened.tape, outcome, err == nil)
	return a.chatEnd(ctx, outcome, err)
}

// tellLater tells what is under way once that takes half a second, unless it is
// over by then.
func (a *app) tellLater(what string) (over func()) {
	if a.quiet {
		return func() {}
	}
	const patience = 500 * time.Millisecond
	told := make(chan struct{})
	timer := time.AfterFunc(patience, func() {
		defer close(told)
		if a.StderrTerminal && a.escapes() {
			what = "\r\x1b[K" + what // in place of the line of the index
		}
		fmt.Fprintln(a.Stderr, what)
	})
	return func() {
		if !timer.Stop() {
			<-told
		}
	}
}

// inTerminal reports whether a person sits before both ends of the process.
func (a *app) inTerminal() bool {
	in, ok := a.Stdin.(*os.File)
	return ok && xterm.IsTerminal(int(in.Fd())) && a.StdoutTerminal && a.escapes()
}

// prompt returns what asks for a message where a person types into a plain line,
// and nothing in a pipe.
func (a *app) prompt() string {
	if in, ok := a.Stdin.(*os.File); ok && xterm.IsTerminal(int(in.Fd())) {
		return "> "
	}
	return ""
}

// chatInTerminal holds a conversation in a terminal. What goes wrong in a turn is
// seen there, and does not count at the end.
func (a *app) chatInTerminal(ctx context.Context, o chat.Options, servers *elicitor) (outcome chat.Outcome, err error) {
	s := term.Open(term.Options{
		In: a.Stdin, Out: a.Stdout, Environ: a.Environ, Color: a.colors(), Quiet: a.quiet,
		Footer:   fmt.Sprintf("%s · %s · /help · Ctrl-D leaves", o.Agent.Name, o.Agent.Model.Name),
		History:  said(o.Store),
		Complete: func(line string) []string { return chat.Complete(line, a.WorkDir, a.Home) },
	})
	restore := a.masked.redirect(s)
	defer func() {
		restore()
		err = errors.Join(err, s.Close())
	}()
	o.Screen = s
	servers.show(s)
	defer servers.show(nil)
	outcome, err = chat.Run(ctx, o)
	switch {
	case errors.Is(err, screen.ErrLeave):
		return outcome, interrupted{os.Interrupt}
	case err != nil && ctx.Err() != nil:
		return outcome, &cutShort{"the conversation so far is kept", err}
	}
	return outcome, err
}

// endTape says whether a recording is whole, and what no replay can do.
func (a *app) endTape(t *tape, o chat.Outcome, whole bool) {
	t.whole = whole
	if whole && t.recorder != nil && o.Cancelled > 0 {
		a.tell("%s of this recording was cancelled, which no replay does: it ends in an error there", plural(o.Cancelled, "turn"))
	}
}

// said returns what the arrow keys go back to.
func said(store *chat.Store) []string {
	if store == nil {
		return nil
	}
	return store.Said()
}

// chatEnd returns what a conversation in a pipe ends in: nobody has seen what
// went wrong in its turns, so the exit code tells.
func (a *app) chatEnd(ctx context.Context, o chat.Outcome, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return &cutShort{"the conversation so far is kept", err}
	case err != nil:
		return err
	case o.Heard == 0 && o.Refused == 0:
		a.tell("standard input ended before anything was said")
	case o.Failed > 0:
		return exitStatus(exitNotCarried)
	case o.Incomplete > 0 || o.Refused > 0:
		return exitStatus(exitFailed)
	}
	return nil
}

// findChat returns the conversation that --resume names.
func findChat(store *chat.Store, ref string) (*chat.Record, error) {
	if ref == newestChat {
		ref = ""
	}
	r, err := store.Find(ref)
	if errors.As(err, new(*chat.NotFoundError)) {
		return nil, &usageError{err}
	}
	return r, err
}

// otherModels opens the agent of a conversation with other models.
type otherModels struct {
	app      *app
	path     string
	opts     openOptions
	opened   *openedAgent
	backends []agent.Backend
}

// open opens the agent with another model of its provider. Its tools are those
// that are open.
func (m *otherModels) open(ctx context.Context, name string) (*config.Agent, agent.Backend, error) {
	opts := m.opts
	opts.model = name
	loaded, err := m.app.loadAgent(m.path, opts)
	if err != nil {
		return nil, nil, err
	}
	b, err := m.opened.openBackend(ctx, loaded)
	if err != nil {
		return nil, nil, err
	}
	m.backends = append(m.backends, b)
	return loaded, b, nil
}

// Close closes what was opened.
func (m *otherModels) Close() error {
	var errs []error
	for _, b := range m.backends {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
