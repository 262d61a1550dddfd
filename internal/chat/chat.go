package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/chat/screen"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// Options is what a conversation is held with.
type Options struct {
	Env     agent.Env
	Agent   *config.Agent
	Backend agent.Backend // closed by whoever opened it
	Screen  screen.Screen
	// Store keeps the conversation; nil keeps nothing.
	Store *Store
	// Resume is a conversation of the Store to continue; nil begins one.
	Resume *Record
	// Session returns the ids under which sessions are recorded; nil gives them
	// ids of their own.
	Session func() string
	// Mask masks the secrets in the events of a turn.
	Mask func(iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error]
	// Tools returns what the model may call at present.
	Tools func() []agent.Definition
	// OpenModel opens the agent with another model of its provider. Whoever made
	// the Options closes the backend.
	OpenModel func(ctx context.Context, name string) (*config.Agent, agent.Backend, error)
	// MaxMessages is how many messages may be sent; 0 is any number.
	MaxMessages int
	// Verbose shows thinking and long arguments as they are.
	Verbose bool
	// WorkDir and Home are what the paths of files are relative to.
	WorkDir, Home string
}

// Outcome is how a conversation went.
type Outcome struct {
	Heard      int // messages and commands
	Messages   int // that were sent
	Failed     int // turns that ended in an error
	Cancelled  int // turns that were interrupted
	Incomplete int // turns that ended in a limit or a refusal
	Refused    int // messages that were not sent
}

// Chat is a conversation. It belongs to the goroutine that runs it.
type Chat struct {
	Options
	record  Record
	session agent.Session
	leave   func() // gives up the conversation's folder; nil while nothing is kept
	kept    bool   // the conversation is kept as it is now
	unkept  bool   // the person was told that nothing is kept
	sent    int    // messages, over all conversations of this run
	outcome Outcome
	allowed approvals
}

// Run holds a conversation until the person leaves, and returns how it went. The
// error is [screen.ErrLeave] when they interrupted it, ctx's when that ended, or
// says what of the screen or the session went wrong.
func Run(ctx context.Context, o Options) (_ Outcome, err error) {
	c := &Chat{Options: o}
	defer func() { err = errors.Join(err, c.end()) }()
	if o.Resume != nil {
		err = c.resume(ctx, o.Resume)
	} else {
		err = c.begin(ctx)
	}
	if err != nil {
		return c.outcome, err
	}
	err = c.talk(ctx)
	return c.outcome, errors.Join(err, c.saveAtLast())
}

// saveAtLast tries again to keep a conversation that could not be kept before.
func (c *Chat) saveAtLast() error {
	if c.kept {
		return nil
	}
	if err := c.save(); err != nil {
		return fmt.Errorf("the conversation is not kept: %w", err)
	}
	return nil
}

// talk reads messages and answers them.
func (c *Chat) talk(ctx context.Context) error {
	for {
		said, err := c.Screen.Read(ctx)
		var tooLong *screen.TooLongError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &tooLong):
			c.refuse(err)
			continue
		case err != nil:
			return err
		}
		line := quotePasted(said)
		if strings.TrimSpace(line) != "" {
			c.outcome.Heard++
		}
		done, err := c.hear(ctx, line)
		if done || err != nil {
			return err
		}
	}
}

// hear answers what the person said, as they would have typed it, and reports
// whether they leave.
func (c *Chat) hear(ctx context.Context, said string) (done bool, err error) {
	said = strings.TrimSpace(strings.ToValidUTF8(said, "\ufffd"))
	switch word := strings.ToLower(said); {
	case said == "":
		return false, nil
	case word == "exit" || word == "quit":
		return true, nil
	case strings.HasPrefix(said, "//"):
		return false, c.turn(ctx, said[1:])
	case strings.HasPrefix(said, "/"):
		return c.command(ctx, unquote(said))
	}
	return false, c.turn(ctx, said)
}

// refuse says why a message is not sent.
func (c *Chat) refuse(err error) {
	c.outcome.Refused++
	c.trouble("not sent: %v", err)
}

// turn sends a message and shows the answer. Its error is ctx's.
func (c *Chat) turn(ctx context.Context, said string) error {
	if c.MaxMessages > 0 && c.sent >= c.MaxMessages {
		c.refuse(fmt.Errorf("this was to be a conversation of at most %s (-m); leave with /exit, and continue it with %s --resume",
			plural(c.MaxMessages, "message"), commandLine(c.Agent, "chat")))
		return nil
	}
	files, err := attachments(said, c.WorkDir, c.Home)
	if err != nil {
		c.refuse(err)
		return nil
	}
	c.sent++
	c.outcome.Messages++
	said = unquote(said)
	e := Exchange{At: c.Env.Now().UTC(), Said: said}
	for _, f := range files {
		e.Files = append(e.Files, f.path)
		c.tellOf(f)
	}
	inner := c.Screen.Begin(ctx)
	shown := &turnScreen{screen: c.Screen, now: c.Env.Now, verbose: c.Verbose}
	e.Result, err = shown.show(c.masked(c.session.Send(inner, compose(said, files, c.fileName))))
	e.Elapsed = c.Env.Now().Sub(e.At)
	c.close(&e, err, shown.answered)
	c.Screen.End(c.summary(e))
	c.keep(ctx, e)
	return ctx.Err()
}

func (c *Chat) masked(turn iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	if c.Mask == nil {
		return turn
	}
	return c.Mask(turn)
}

// close tells how a turn ended that was not as it should be.
func (c *Chat) close(e *Exchange, err error, answered bool) {
	switch {
	case errors.Is(err, context.Canceled):
		c.outcome.Cancelled++
		e.Error = cancelled
		e.Result.IsError, e.Result.StopReason, e.Result.ErrorReason = true, agent.StopCancelled, "the turn was cancelled"
		c.Screen.Line(screen.Note, "cancelled; the conversation goes on from here")
	case err != nil:
		c.outcome.Failed++
		e.Error = c.redactor().String(err.Error())
		e.Result.IsError, e.Result.ErrorReason = true, e.Error
		c.trouble("%s", e.Error)
	case e.Result.IsError:
		c.outcome.Incomplete++
		c.trouble("the answer is not complete: %s", e.Result.ErrorReason)
	case e.Result.StopReason == agent.StopMaxTokens:
		c.note("the answer was cut at model.max_tokens")
	case !answered:
		c.note("the answer is empty: the model ended its turn (%s) without a word", e.Result.StopReason)
	}
}

// keep remembers an exchange and keeps the conversation.
func (c *Chat) keep(ctx context.Context, e Exchange) {
	c.record.Exchanges = append(c.record.Exchanges, e)
	c.record.Changed = c.Env.Now().UTC()
	if !c.Backend.Capabilities().Snapshot {
		c.unkeptBecause("this runtime cannot continue a conversation that has ended")
		return
	}
	snap, err := state(ctx, c.session)
	if err != nil {
		c.trouble("the state of the conversation cannot be had, so /undo does not go back to here: %v", err)
		return
	}
	c.record.keep(snap)
	if err := c.save(); err != nil {
		c.trouble("the conversation is not kept: %v; it goes on here, and /save tries again", err)
	}
}

// save keeps the conversation in its store.
func (c *Chat) save() (err error) {
	c.kept = false
	if c.Store == nil || len(c.record.Exchanges) == 0 || len(c.record.Snapshots) == 0 {
		return nil
	}
	if c.leave == nil {
		if c.leave, err = c.Store.enter(c.record.ID); err != nil {
			return err
		}
	}
	err = c.Store.save(&c.record)
	c.kept = err == nil
	return err
}

// unkeptBecause says once that nothing is kept, and why.
func (c *Chat) unkeptBecause(why string) {
	if !c.unkept {
		c.unkept = true
		c.note("this conversation is not kept: %s", why)
	}
}

// begin begins a conversation.
func (c *Chat) begin(ctx context.Context) error {
	now := c.Env.Now().UTC()
	id := c.Env.NewID()
	if err := c.open(ctx, nil); err != nil {
		return err
	}
	c.enter(Record{Schema: RecordSchema, ID: id, About: c.about(), Began: now, Changed: now}, nil)
	return nil
}

// resume continues a conversation that was kept.
func (c *Chat) resume(ctx context.Context, r *Record) error {
	if err := r.fits(c.about()); err != nil {
		return fmt.Errorf("the conversation of %s cannot be continued: %w", when(r.Changed), err)
	}
	if r.ID == "" {
		r.ID = c.Env.NewID()
	}
	var leave func()
	if c.Store != nil {
		var err error
		if leave, err = c.Store.enter(r.ID); err != nil {
			return fmt.Errorf("continue the conversation %s: %w", r.ID, err)
		}
	}
	if err := c.open(ctx, r.state(len(r.Exchanges))); err != nil {
		if leave != nil {
			leave()
		}
		return fmt.Errorf("continue the conversation %s: %w", r.ID, err)
	}
	held := r.Model
	r.About = c.about()
	c.enter(*r, leave)
	c.note("continues the conversation of %s (%s); it ended with:", when(r.Changed), plural(len(r.Exchanges), "message"))
	last := r.Exchanges[len(r.Exchanges)-1]
	c.note("  you: %s", screen.OneLine(last.Said, 200))
	c.note("  %s: %s", r.Agent, screen.OneLine(last.Result.Response, 200))
	if held != r.Model {
		c.note("it was held with %s, and goes on with %s", held, r.Model)
	}
	return nil
}

// enter makes r the present conversation.
func (c *Chat) enter(r Record, leave func()) {
	if c.leave != nil {
		c.leave()
	}
	c.record, c.leave, c.kept = r, leave, leave != nil
	c.allowed.forget()
}

// open puts a session that continues from a state into the place of the present
// one, which stays when there is an error.
func (c *Chat) open(ctx context.Context, from []byte) error {
	s, err := c.newSession(ctx, c.Backend, from)
	if err != nil {
		return err
	}
	return c.replace(s)
}

// newSession opens a session that continues from a state.
func (c *Chat) newSession(ctx context.Context, b agent.Backend, from []byte) (agent.Session, error) {
	o := agent.SessionOptions{Mode: agent.ModeChat, Resume: from}
	if c.Session != nil {
		o.ID = c.Session()
	}
	if c.Screen.Attended() {
		o.Approver = c
	}
	return b.NewSession(ctx, o)
}

// replace makes s the session of the conversation.
func (c *Chat) replace(s agent.Session) error {
	old := c.session
	c.session = s
	if old == nil {
		return nil
	}
	if err := old.Close(); err != nil {
		c.trouble("the session before did not end as it should: %v", err)
	}
	return nil
}

// end closes what is open.
func (c *Chat) end() error {
	if c.leave != nil {
		c.leave()
	}
	if c.session == nil {
		return nil
	}
	return c.session.Close()
}

// about says what the conversation is held with.
func (c *Chat) about() About {
	a := c.Agent
	return About{Agent: a.Name, AgentFile: filepath.Base(a.File), Runtime: string(a.Runtime), Provider: string(a.Model.Provider), Model: a.Model.Name}
}

func (c *Chat) redactor() *secret.Redactor { return c.Agent.Redactor }

func (c *Chat) note(format string, args ...any) {
	c.Screen.Line(screen.Note, fmt.Sprintf(format, args...))
}

func (c *Chat) trouble(format string, args ...any) {
	c.Screen.Line(screen.Trouble, c.redactor().String(fmt.Sprintf(format, args...)))
}

// plural returns such as "1 message" or "2 messages".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// round returns a duration as people read it.
func round(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// when returns a time as people read it.
func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
