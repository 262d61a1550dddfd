package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
)

// tapeOptions are the flags by which a run is recorded or replayed.
type tapeOptions struct {
	command        string // that has the flags
	record, replay string // folders, or empty
}

// addFlags gives a command the flags.
func (o *tapeOptions) addFlags(cmd *cobra.Command, command string) {
	o.command = command
	cmd.Flags().StringVar(&o.record, "record", "", "record what models and tools say into this `FOLDER`")
	cmd.Flags().StringVar(&o.replay, "replay", "", "play models and tools from the record in this `FOLDER`, and open none")
}

// check refuses flags that exclude one another.
func (o *openOptions) checkTape() error {
	switch {
	case o.tape.record != "" && o.tape.replay != "":
		return &usageError{errors.New("--record makes a record and --replay plays one; give one of them")}
	case o.tape.replay != "" && o.forceIngest:
		return &usageError{errors.New("--force-ingest indexes sources anew, and --replay opens none; give one of them")}
	}
	return nil
}

// tape is what a run is recorded on, or played from. One that is neither does
// nothing.
type tape struct {
	app      *app
	dir      string
	recorder *cassette.Recorder
	player   *cassette.Player
	whole    bool // the run came to its end, and the recording is to be kept
}

// openTape begins the recording or the replay that the flags ask for.
func (a *app) openTape(loaded *config.Agent, o tapeOptions) (*tape, error) {
	t := &tape{app: a, dir: o.record}
	var err error
	switch {
	case o.record != "":
		t.recorder, err = cassette.Record(o.record, cassette.About{
			Agent: loaded.Name, Command: o.command, Version: versionNumber(a.Version),
			Offline: loaded.Offline, Recorded: a.env.Now().UTC(),
		}, loaded.Redactor)
	case o.replay != "":
		if t.player, err = cassette.Replay(o.replay, loaded.Redactor); err == nil {
			err = fits(t.player, loaded, o)
		}
	}
	if errors.Is(err, cassette.ErrOccupied) {
		return nil, &usageError{err}
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// fits refuses a record that was made in another way than it is to be played.
func fits(p *cassette.Player, loaded *config.Agent, o tapeOptions) error {
	about := p.About()
	switch {
	case about.Command != o.command:
		return &usageError{fmt.Errorf("the cassette in %s was recorded by holodeck %s; replay it with that", o.replay, about.Command)}
	case about.Offline && !loaded.Offline:
		return &usageError{fmt.Errorf("the cassette in %s was recorded with --offline; replay it with that", o.replay)}
	case loaded.Offline && !about.Offline:
		return &usageError{fmt.Errorf("the cassette in %s was recorded without --offline; replay it so", o.replay)}
	}
	return nil
}

// env returns base with the times and ids of the record.
func (t *tape) env(base agent.Env) agent.Env {
	switch {
	case t.recorder != nil:
		return t.recorder.Env(base)
	case t.player != nil:
		return t.player.Env(base)
	}
	return base
}

// session returns the id of the only session of a run: one by which a record is
// found again, or none, which makes a new one.
func (t *tape) session() string {
	if t.recorder == nil && t.player == nil {
		return ""
	}
	return "run"
}

// Close keeps the recording of a run that came to its end, and gives up any
// other.
func (t *tape) Close() error {
	if t.recorder == nil {
		return nil
	}
	if !t.whole {
		t.app.tell("the run did not come to its end, so its recording is not kept; %s is as it was", t.dir)
		return t.recorder.Discard()
	}
	sessions, err := t.recorder.Commit()
	if err == nil {
		t.app.tell("recorded %s in %s", plural(sessions, "session"), t.dir)
	}
	return err
}
