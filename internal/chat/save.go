package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/holodeck-go/holodeck/internal/durable"
)

// saveCommand writes the conversation to a file, or says where it is kept.
func (c *Chat) saveCommand(_ context.Context, file string) error {
	if _, err := c.last(); err != nil {
		return err
	}
	if file != "" {
		return c.export(file)
	}
	if c.Store == nil || len(c.record.Snapshots) == 0 {
		return errors.New("this conversation is not kept; give a FILE to write it to")
	}
	if err := c.save(); err != nil {
		return err
	}
	c.Screen.Say(fmt.Sprintf("kept as %s in %s; %s --resume=%s continues it", c.record.ID, c.Store.dir, c.Store.chat, c.record.ID))
	return nil
}

// export writes the conversation to a new file, in the form of its ending.
func (c *Chat) export(file string) error {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.WorkDir, path)
	}
	var data []byte
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md":
		data = []byte(c.redactor().String(c.record.markdown()))
	case ".json":
		if len(c.record.Snapshots) == 0 {
			return errors.New("this conversation cannot be continued, so it is not written as .json; .md is to read")
		}
		var err error
		if data, err = c.record.masked(c.redactor()); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s ends in neither .md, for people, nor .json, to continue it", file)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already; give another name", file)
	}
	if err := durable.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	c.Screen.Say("written to " + path)
	return nil
}

// markdown returns the conversation as a page to read.
func (r *Record) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\nWith %s (%s), on %s.\n", r.Agent, when(r.Began), r.Model, r.Provider, r.Runtime)
	for _, e := range r.Exchanges {
		fmt.Fprintf(&b, "\n## You\n\n%s\n", e.Said)
		for _, f := range e.Files {
			fmt.Fprintf(&b, "\n(with the file %s)\n", f)
		}
		fmt.Fprintf(&b, "\n## %s\n", r.Agent)
		for _, call := range e.Result.ToolCalls {
			fmt.Fprintf(&b, "\n- called `%s` with `%s`\n", call.Name, call.Arguments)
		}
		if e.Result.Response != "" {
			fmt.Fprintf(&b, "\n%s\n", e.Result.Response)
		}
		if e.Result.IsError {
			fmt.Fprintf(&b, "\n(%s)\n", e.Result.ErrorReason)
		}
	}
	return b.String()
}
