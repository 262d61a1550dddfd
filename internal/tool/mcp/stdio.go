package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/proc"
)

// stdio returns the opener of a server that we start.
func (c *Client) stdio() (opener, error) {
	if c.config.Command == nil {
		return nil, c.wrong("command", "is required for stdio transport", "one of npx, node, uvx, docker")
	}
	text, err := c.encoding()
	if err != nil {
		return nil, err
	}
	ours, err := c.config.Environment()
	if err != nil {
		return nil, c.wrong("config", err.Error(), "")
	}
	env := proc.Inherited(c.opts.Lookup)
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		env = append(env, name+"="+ours[name]) // the last of one name counts
	}
	args := c.config.Arguments()
	path := ""
	return func(_ context.Context, s *session) (sdk.Connection, error) { // one at a time
		if path == "" {
			if path, err = c.program(); err != nil {
				return nil, err
			}
		}
		p, err := proc.Start(proc.Spec{
			Path: path, Args: args, Dir: c.opts.Dir, Env: env,
			OnStderr: func(line string) { c.log.Debug(plain(line), "stream", "stderr") },
		})
		if err != nil {
			return nil, &ConnectionError{Fault{Server: c.name, What: "could not be started", Err: err, Next: "see that " + path + " can be run"}}
		}
		s.proc, s.pipe = p, newPipeConn(p.Stdin(), p.Stdout(), text)
		return s.pipe, nil
	}, nil
}

// program returns the absolute path of the command.
func (c *Client) program() (string, error) {
	name := string(*c.config.Command)
	path, err := proc.Look(name, c.opts.Lookup)
	if err == nil {
		return path, nil
	}
	next := ""
	switch name {
	case "npx", "node":
		next = "install Node.js, which brings node and npx (nodejs.org), or add its folder to PATH"
	case "uvx":
		next = "install uv, which brings uvx (docs.astral.sh/uv), or add its folder to PATH"
	case "docker":
		next = "install Docker, or add its folder to PATH"
	}
	if !errors.Is(err, exec.ErrNotFound) {
		next = ""
	}
	return "", &ConnectionError{Fault{Server: c.name, What: "cannot be started, " + name + " is not installed", Err: err, Next: next}}
}

// encoding returns how the server writes text; nil is UTF-8.
func (c *Client) encoding() (encoding.Encoding, error) {
	if c.config.Encoding == nil || slices.Contains([]string{"", "utf-8", "utf8"}, strings.ToLower(*c.config.Encoding)) {
		return nil, nil
	}
	text, err := htmlindex.Get(*c.config.Encoding)
	if err != nil {
		return nil, c.wrong("encoding", fmt.Sprintf("%q is no text encoding", *c.config.Encoding), "such as utf-8, windows-1252, shift_jis or gb18030; absent is utf-8")
	}
	return text, nil
}

// commandLine returns the command of a stdio server as one would type it.
func (c *Client) commandLine() string {
	words := append([]string{string(*c.config.Command)}, c.config.Args...)
	for i, w := range words {
		if strings.ContainsAny(w, " \t\"'$&|;<>()*?") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(words, " ")
}

// wrong is the error of a key of the agent file.
func (c *Client) wrong(key, text, hint string) error {
	return &ConfigError{c.name, c.config.Problem(config.SeverityError, key, config.CodeValue, text, hint)}
}
