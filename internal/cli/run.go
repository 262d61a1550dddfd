package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// maxQuestion bounds a question that is read from standard input, in bytes.
const maxQuestion = 1 << 20

// runOptions are the flags of run.
type runOptions struct {
	asJSON, asJSONL bool
	open            openOptions
}

func newRunCmd(a *app) *cobra.Command {
	var (
		opts    runOptions
		timeout int
	)
	cmd := &cobra.Command{
		Use:   `run [PATH] "question"`,
		Short: "Ask an agent one question and print its answer",
		Long: "Run asks an agent one question and prints the answer as it comes, and then the sources\n" +
			"it drew on. PATH is an agent file or the folder of one; left out, it is the working\n" +
			"folder. A question of - , or none, is read from standard input.\n\n" +
			"The exit code is 1 when the agent ended in a limit or a refusal, and 3 when it failed.",
		Example: "  holodeck run examples/support \"How do I return a lamp?\"\n" +
			"  echo \"How do I return a lamp?\" | holodeck run examples/support --json\n" +
			"  holodeck run --offline agents/triage \"Where does this go?\"",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.asJSON && opts.asJSONL {
				return &usageError{errors.New("--json and --jsonl are two forms of the output; give one of them")}
			}
			if err := opts.open.checkTape(); err != nil {
				return err
			}
			if cmd.Flags().Changed("timeout") {
				opts.open.set("--timeout", "llm_timeout", strconv.Itoa(timeout))
			}
			return a.runAgent(cmd.Context(), args, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.asJSON, "json", false, "print the whole result as one JSON object")
	cmd.Flags().BoolVar(&opts.asJSONL, "jsonl", false, "print every event as a line of JSON as it happens")
	cmd.Flags().BoolVar(&opts.open.offline, "offline", false, "run without any account: the built-in model and a local index stand in")
	cmd.Flags().IntVar(&timeout, "timeout", 0, "seconds a model call, and the whole turn, may take (default: as the agent file says)")
	opts.open.tape.addFlags(cmd, "run")
	return cmd
}

// runAgent opens the agent, asks it the question and prints what it says.
func (a *app) runAgent(ctx context.Context, args []string, opts runOptions) (err error) {
	path, question, err := a.question(args)
	if err != nil {
		return err
	}
	opened, err := a.openAgent(ctx, path, opts.open)
	if err != nil {
		return err
	}
	defer func() { err = afterwards(err, opened.Close()) }()
	session, err := opened.backend.NewSession(ctx, agent.SessionOptions{ID: opened.tape.session(), Mode: agent.ModeRun})
	if err != nil {
		return err
	}
	defer func() { err = afterwards(err, session.Close()) }()

	var show presenter
	switch {
	case opts.asJSON:
		show = &jsonPresenter{out: a.Stdout, redactor: opened.config.Redactor}
	case opts.asJSONL:
		show = &jsonlPresenter{out: a.Stdout}
	default:
		show = &textPresenter{out: a.Stdout, notes: a.Stderr, quiet: a.quiet, verbose: a.verbose > 0, terminal: a.StdoutTerminal, offline: opts.open.offline}
	}
	result, err := present(show, maskTurn(opened.config.Redactor, session.Send(ctx, agent.Text(question))))
	opened.tape.whole = ctx.Err() == nil
	if opts.open.offline && !a.quiet {
		err = errors.Join(err, printLeftOut(a.Stderr, opened.config.LeftOut))
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &cutShort{opts.leftOf(result), err}
	case err != nil:
		return err
	case result.IsError:
		fmt.Fprintf(a.Stderr, "holodeck: the answer is not complete: %s\n", result.ErrorReason)
		return exitStatus(exitFailed)
	}
	return nil
}

// leftOf says what is left of a turn that was interrupted.
func (o *runOptions) leftOf(r agent.Result) string {
	switch {
	case o.asJSON:
		return "the result so far stands above"
	case o.asJSONL:
		return "the events so far stand above"
	case r.Response != "":
		return "the answer so far stands above"
	}
	return "the model had said nothing yet"
}

// question returns the agent's path and the question from the arguments and,
// where they leave the question out, from standard input.
func (a *app) question(args []string) (path, question string, err error) {
	path = "."
	switch len(args) {
	case 2:
		path, question = args[0], args[1]
	case 1:
		question = args[0]
		if _, err := os.Stat(args[0]); err == nil {
			path, question = args[0], "-"
		}
	case 0:
		question = "-"
	}
	if question == "-" {
		if question, err = a.readQuestion(); err != nil {
			return "", "", err
		}
	}
	question = strings.TrimSpace(question)
	switch {
	case question == "":
		return "", "", &usageError{errors.New(`the question is empty; ask one, such as: holodeck run PATH "How do I return a lamp?"`)}
	case !utf8.ValidString(question):
		return "", "", &usageError{errors.New("the question is not UTF-8 text")}
	}
	return path, question, nil
}

// readQuestion reads the question from standard input.
func (a *app) readQuestion() (string, error) {
	if f, ok := a.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return "", &usageError{errors.New(`there is no question; ask one, such as: holodeck run PATH "How do I return a lamp?"`)}
	}
	data, err := io.ReadAll(io.LimitReader(a.Stdin, maxQuestion+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the question from standard input: %w", err)
	case len(data) > maxQuestion:
		return "", &usageError{fmt.Errorf("the question on standard input is longer than %d bytes", maxQuestion)}
	}
	return string(data), nil
}

// presenter shows a turn while it runs.
type presenter interface {
	// event shows an event.
	event(agent.Event) error
	// end shows what the turn came to; failed is the error it ended in, or nil.
	end(result agent.Result, failed error) error
}

// present runs a turn and shows it. The error is the turn's, or of showing it.
func present(show presenter, turn func(func(agent.Event, error) bool)) (agent.Result, error) {
	var (
		folder agent.Folder
		failed error
	)
	for e, err := range turn {
		if err != nil {
			failed = err
			break
		}
		folder.Add(e)
		if err := show.event(e); err != nil {
			return folder.Result(), fmt.Errorf("write the answer: %w", err)
		}
	}
	result := folder.Result()
	if err := show.end(result, failed); err != nil {
		return result, errors.Join(failed, fmt.Errorf("write the answer: %w", err))
	}
	return result, failed
}

// jsonPresenter prints the result as one JSON object.
type jsonPresenter struct {
	out      io.Writer
	redactor *secret.Redactor
}

func (*jsonPresenter) event(agent.Event) error { return nil }

func (p *jsonPresenter) end(r agent.Result, failed error) error {
	if failed != nil {
		r.IsError, r.ErrorReason = true, p.redactor.String(failed.Error())
		if errors.Is(failed, context.Canceled) {
			r.StopReason, r.ErrorReason = agent.StopCancelled, "the turn was cancelled"
		}
	}
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// jsonlPresenter prints every event as a line of JSON.
type jsonlPresenter struct{ out io.Writer }

func (p *jsonlPresenter) event(e agent.Event) error {
	line, err := agent.MarshalEvent(e)
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(line, '\n'))
	return err
}

func (*jsonlPresenter) end(agent.Result, error) error { return nil }

// textPresenter prints the answer as it comes, and then its sources. What else
// happens goes to notes.
type textPresenter struct {
	out, notes     io.Writer
	quiet, verbose bool
	terminal       bool
	offline        bool // what was replaced is listed at the end
	inText         bool // a response with text is under way
	written        bool // some text was written
}

func (p *textPresenter) event(e agent.Event) error {
	switch e := e.(type) {
	case agent.TextDelta:
		if e.Head.Parent != "" {
			return nil // a sub-agent's words are its caller's, not the answer
		}
		text := e.Text
		if p.terminal {
			text = printable(text)
		}
		if p.written && !p.inText {
			text = "\n\n" + text
		}
		p.inText, p.written = true, true
		_, err := io.WriteString(p.out, text)
		return err
	case agent.ModelCall:
		p.inText = p.inText && e.Head.Parent != ""
	case agent.Notice:
		if e.Code != agent.NoticeSubstitute || !p.offline {
			p.note("note: %s", e.Text)
		}
	case agent.ToolCallStarted:
		if p.verbose {
			p.note("calling %s %s", e.Name, e.Arguments)
		}
	case agent.ToolCallFinished:
		if p.verbose && e.Arguments != nil {
			p.note("hooks made that %s %s", e.Name, e.Arguments)
		}
		if e.Err != "" {
			p.note("tool %s failed: %s", e.Name, e.Err)
		}
	}
	return nil
}

// note tells something beside the answer.
func (p *textPresenter) note(format string, args ...any) {
	if !p.quiet {
		fmt.Fprintf(p.notes, format+"\n", args...)
	}
}

func (p *textPresenter) end(r agent.Result, failed error) error {
	if !p.written && r.Response != "" {
		if _, err := io.WriteString(p.out, r.Response); err != nil {
			return err
		}
		p.written = true
	}
	if p.written {
		if _, err := io.WriteString(p.out, "\n"); err != nil {
			return err
		}
	}
	if r.StopReason == agent.StopMaxTokens && !r.IsError {
		p.note("note: the answer was cut at model.max_tokens")
	}
	if failed != nil || r.IsError {
		return nil
	}
	return p.sources(r)
}

// sources lists where the answer comes from: the sources it names, in the order
// in which it names them, or, when it names none, those of everything that was
// found. They stand under the answer, but beside one that is a value: that is
// for a program to read.
func (p *textPresenter) sources(r agent.Result) error {
	found := foundSources(r)
	cited := slices.DeleteFunc(slices.Clone(found), func(source string) bool { return !strings.Contains(r.Response, source) })
	slices.SortStableFunc(cited, func(a, b string) int {
		return cmp.Compare(strings.Index(r.Response, a), strings.Index(r.Response, b))
	})
	heading, list := "Sources:", cited
	if len(cited) == 0 {
		heading, list = "Found, but not cited:", found
	}
	if len(list) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s\n  %s", heading, strings.Join(list, "\n  "))
	if r.Structured != nil {
		p.note("%s", text)
		return nil
	}
	_, err := fmt.Fprintf(p.out, "\n%s\n", text)
	return err
}

// foundSources returns the sources of what the turn's searches found, each
// once, in the order of the calls.
func foundSources(r agent.Result) []string {
	passages := map[string][]agent.Passage{}
	for _, result := range r.ToolResults {
		passages[result.CallID] = result.Passages
	}
	var list []string
	for _, call := range r.ToolCalls {
		for _, passage := range passages[call.CallID] {
			if passage.Source != "" && !slices.Contains(list, passage.Source) {
				list = append(list, passage.Source)
			}
		}
	}
	return list
}

// printable returns text without the control characters by which a terminal is
// steered; what a model or a document says must not steer it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\n' && r != '\t') || (r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, text)
}
