package hook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// maxReply is how much of the reply to a notification is read, in bytes, so that
// the connection can serve the next.
const maxReply = 64 << 10

// notify returns what posts a report to the URL of a hook. A redirection is a
// failure: the headers are meant for this address.
func (h *Hooks) notify(c *config.Hook) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	client := http.DefaultClient
	if h.options.HTTP != nil {
		client = h.options.HTTP
	}
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context, report json.RawMessage) (json.RawMessage, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, *c.URL, bytes.NewReader(report))
		if err != nil {
			return nil, fmt.Errorf("notify: %w", err)
		}
		req.Header.Set("Content-Type", "application/json")
		for name, value := range c.Headers {
			req.Header.Set(name, value.Reveal())
		}
		resp, err := direct.Do(req)
		if err != nil {
			return nil, fmt.Errorf("notify: %w", err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxReply)) // only so that the connection can be used again
		if resp.StatusCode/100 != 2 {
			return nil, fmt.Errorf("notify: %s answered %s", req.URL.Host, resp.Status)
		}
		return nil, nil
	}
}

// moduleOf returns what the Python module of a file is called: hooks of one file
// share its state.
func moduleOf(file string) string {
	sum := sha256.Sum256([]byte(file))
	return "holodeck_hook_" + hex.EncodeToString(sum[:6])
}

// script returns what runs the code of a hook: a program has the report on stdin,
// a function has it as its one argument, event.
func script(pool *worker.Pool, c *config.Hook) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	env := worker.Env{}
	for name, value := range c.Env {
		env[name] = value.Reveal()
	}
	if len(c.Command) > 0 {
		line := append([]string(nil), c.Command...)
		if strings.ContainsAny(line[0], `/\`) {
			line[0] = c.Block.File("command", line[0])
		}
		return func(ctx context.Context, report json.RawMessage) (json.RawMessage, error) {
			exit, failed := pool.Command(line, env).Run(ctx, report)
			if failed == nil && exit.Code != 0 {
				failed = exit.Err(line[0])
			}
			answer, err := exit.Value()
			return answer, errors.Join(failed, err)
		}
	}
	var call func(context.Context, json.RawMessage) (json.RawMessage, error)
	if c.Script != "" {
		call = pool.Script(c.Block.File("script", c.Script), c.Entry()).Call
	} else {
		file := c.Block.File("file", c.File)
		call = pool.Function(file, c.Function, moduleOf(file), env).Call
	}
	return func(ctx context.Context, report json.RawMessage) (json.RawMessage, error) {
		args, err := json.Marshal(map[string]json.RawMessage{"event": report})
		if err != nil {
			return nil, fmt.Errorf("encode the report: %w", err)
		}
		return call(ctx, args)
	}
}
