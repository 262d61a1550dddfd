package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// command is something a person asks of the program, not of the agent.
type command struct {
	name, args, help string
	run              func(c *Chat, ctx context.Context, arg string) error
}

// commands returns the commands in the order in which /help lists them.
func commands() []command {
	return []command{
		{"/help", "", "list the commands", (*Chat).help},
		{"/tools", "", "list what the model may call", (*Chat).listTools},
		{"/usage", "", "say what the conversation took: tokens, cost, time", (*Chat).showUsage},
		{"/thinking", "", "show the thinking behind the last answer", (*Chat).showThinking},
		{"/undo", "", "take the last message and its answer back", (*Chat).undo},
		{"/reset", "", "begin a new conversation; this one stays kept", (*Chat).reset},
		{"/resume", "[ID]", "continue a conversation that is kept; without ID, list them", (*Chat).resumeCommand},
		{"/save", "[FILE]", "write the conversation to FILE (.md to read, .json to continue); without FILE, say where it is kept", (*Chat).saveCommand},
		{"/model", "[NAME]", "continue with another model of the provider; without NAME, say which it is", (*Chat).switchModel},
		{"/case", "[last] [NAME]", "write the conversation, or its last exchange alone, as a test case into the agent's file", (*Chat).addCase},
		{"/exit", "", "leave; so do Ctrl-D, exit and quit", nil},
	}
}

// command runs a command, and reports whether the person leaves. An error of the
// command itself is shown; what is returned is ctx's.
func (c *Chat) command(ctx context.Context, line string) (done bool, err error) {
	name, arg, _ := strings.Cut(line, " ")
	name = strings.ToLower(name)
	if name == "/quit" {
		name = "/exit"
	}
	all := commands()
	i := slices.IndexFunc(all, func(cmd command) bool { return cmd.name == name })
	switch {
	case i < 0:
		c.outcome.Refused++
		c.trouble("there is no command %s; /help lists them, and //%s says it to the agent", screen.OneLine(name, 40), screen.OneLine(line[1:], 40))
		return false, nil
	case all[i].run == nil:
		return true, nil
	}
	if err := all[i].run(c, ctx, strings.TrimSpace(arg)); err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		c.outcome.Refused++
		c.trouble("%s: %v", name, err)
	}
	return false, nil
}

func (c *Chat) help(context.Context, string) error {
	var b strings.Builder
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "%-20s %s\n", strings.TrimSpace(cmd.name+" "+cmd.args), cmd.help)
	}
	b.WriteString("\n@FILE in a message shows the model a file: text, an image or a PDF. A line that\n" +
		"ends in \\ goes on in the next. Whatever else you write is said to the agent.\n")
	c.Screen.Say(b.String())
	return nil
}

func (c *Chat) listTools(context.Context, string) error {
	tools := c.Tools()
	if len(tools) == 0 {
		c.Screen.Say("This agent has no tools.")
		return nil
	}
	var b strings.Builder
	for _, t := range tools {
		fmt.Fprintf(&b, "%s: %s\n", t.Name, screen.OneLine(t.Description, 160))
	}
	c.Screen.Say(b.String())
	return nil
}

func (c *Chat) showUsage(context.Context, string) error {
	sum := c.record.spent()
	u := sum.Usage
	price := dollars(sum.CostUSD)
	switch {
	case sum.Messages == 0:
		price = "nothing yet"
	case sum.Unpriced:
		price = "not known"
	}
	messages := strconv.Itoa(len(c.record.Exchanges))
	if n := c.record.Undone.Messages; n > 0 {
		messages += fmt.Sprintf(", and %d taken back", n)
	}
	more := ""
	for _, share := range []struct {
		n    int
		what string
	}{{u.Cached, "from the cache"}, {u.CacheWrite, "written to the cache"}} {
		if share.n > 0 {
			more += fmt.Sprintf(", %d of them %s", share.n, share.what)
		}
	}
	reasoning := ""
	if u.Reasoning > 0 {
		reasoning = fmt.Sprintf(", %d of them thinking", u.Reasoning)
	}
	c.Screen.Say(fmt.Sprintf("messages    %s\ntool calls  %d\ntokens in   %d%s\ntokens out  %d%s\ncost        %s\ntime        %s\n",
		messages, sum.ToolCalls, u.Prompt, more, u.Completion, reasoning, price, round(sum.Elapsed)))
	return nil
}

func (c *Chat) showThinking(context.Context, string) error {
	last, err := c.last()
	if err != nil {
		return err
	}
	if strings.TrimSpace(last.Result.Thinking) == "" {
		return errors.New("the model told of no thinking behind its last answer")
	}
	c.Screen.Say(last.Result.Thinking)
	return nil
}

// last returns the last exchange.
func (c *Chat) last() (*Exchange, error) {
	if len(c.record.Exchanges) == 0 {
		return nil, errors.New("nothing was said yet")
	}
	return &c.record.Exchanges[len(c.record.Exchanges)-1], nil
}

// undo goes back to the state before the last message. What it took stays spent.
func (c *Chat) undo(ctx context.Context, _ string) error {
	last, err := c.last()
	if err != nil {
		return err
	}
	if !c.Backend.Capabilities().Snapshot {
		return errors.New("this runtime cannot go back in a conversation")
	}
	said, before := last.Said, len(c.record.Exchanges)-1
	from := c.record.state(before)
	if before > 0 && from == nil {
		return errors.New("the state before the last message is no longer kept, so the conversation cannot go back further")
	}
	if err := c.open(ctx, from); err != nil {
		return err
	}
	c.record.truncate(before)
	c.note("taken back: %s", screen.OneLine(said, 60))
	if before == 0 && c.Store != nil {
		return c.Store.forget(c.record.ID)
	}
	return c.save()
}

func (c *Chat) reset(ctx context.Context, _ string) error {
	was := ""
	if c.kept {
		was = fmt.Sprintf("; /resume %s goes back to the one before", c.record.ID)
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.note("a new conversation%s", was)
	return nil
}

func (c *Chat) resumeCommand(ctx context.Context, ref string) error {
	if c.Store == nil {
		return errors.New("no conversations are kept here")
	}
	if ref == "" {
		list, damaged, err := c.Store.List()
		if err != nil {
			return err
		}
		for _, err := range damaged {
			c.trouble("%v; it is left out", err)
		}
		c.Screen.Say(c.Store.Table(list))
		return nil
	}
	r, err := c.Store.Find(ref)
	if err != nil {
		return err
	}
	if r.ID == c.record.ID {
		return errors.New("that is this conversation")
	}
	return c.resume(ctx, r)
}

// Table returns a list of conversations as people read it.
func (s *Store) Table(list []Overview) string {
	if len(list) == 0 {
		return fmt.Sprintf("no conversation is kept; %s begins one\n", s.chat)
	}
	var b strings.Builder
	for _, o := range list {
		fmt.Fprintf(&b, "%s  %s  %-11s  %s\n", o.ID, when(o.Changed),
			plural(o.Messages, "message"), screen.OneLine(o.Title, 50))
	}
	return b.String()
}

// switchModel continues the conversation with another model of the provider: the
// session goes on from where it is.
func (c *Chat) switchModel(ctx context.Context, name string) error {
	if name == "" {
		a := c.about()
		c.Screen.Say(fmt.Sprintf("%s (%s), on %s", a.Model, a.Provider, a.Runtime))
		return nil
	}
	var from []byte
	if len(c.record.Exchanges) > 0 {
		if !c.Backend.Capabilities().Snapshot {
			return errors.New("this runtime cannot take a conversation to another model; /reset begins a new one, or leave and give --model")
		}
		snap, err := state(ctx, c.session)
		if err != nil {
			return err
		}
		from = snap
	}
	changed, opened, err := c.OpenModel(ctx, name)
	if err != nil {
		return fmt.Errorf("%w; the conversation goes on with %s", err, c.about().Model)
	}
	s, err := c.newSession(ctx, opened, from)
	if err != nil {
		return fmt.Errorf("%w; the conversation goes on with %s", err, c.about().Model)
	}
	c.Agent, c.Backend = changed, opened
	c.record.About = c.about()
	c.note("the conversation goes on with %s", c.about().Model)
	return c.replace(s)
}
