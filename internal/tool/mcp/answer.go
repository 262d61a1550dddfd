package mcp

//lint:file-ignore SA1019 protocol 2026-07-28 deprecates roots, sampling and logging; servers of the versions before live on them

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// speaker returns the SDK's client for a session: what it tells the server of us,
// and what answers the server's requests and notifications.
func (s *session) speaker() *sdk.Client {
	c := s.client
	version := c.opts.Version
	if version == "" {
		version = "dev"
	}
	options := &sdk.ClientOptions{
		Logger:                   c.log,
		Capabilities:             &sdk.ClientCapabilities{},
		ToolListChangedHandler:   func(context.Context, *sdk.ToolListChangedRequest) { c.changed() },
		PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { c.changed() },
		LoggingMessageHandler:    func(_ context.Context, r *sdk.LoggingMessageRequest) { c.logged(r.Params) },
	}
	if len(c.opts.Roots) > 0 {
		options.Capabilities.RootsV2 = &sdk.RootCapabilities{}
	}
	if c.opts.Elicit != nil {
		options.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
		options.ElicitationHandler = s.elicit
	}
	if c.opts.Model != nil {
		options.CreateMessageHandler = s.sample
	}
	speaker := sdk.NewClient(&sdk.Implementation{Name: "holodeck", Version: version}, options)
	for _, root := range c.opts.Roots {
		u := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(root), "/")}
		speaker.AddRoots(&sdk.Root{URI: u.String(), Name: filepath.Base(root)})
	}
	if len(c.opts.Roots) == 0 {
		speaker.AddReceivingMiddleware(refuseRoots)
	}
	return speaker
}

// refuseRoots answers a request for roots, of which the server was told that we
// have none, as one for a method that we do not know. The SDK would send an empty
// list, which to some servers means that they may touch nothing.
func refuseRoots(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "roots/list" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client has no roots"}
		}
		return next(ctx, method, req)
	}
}

// elicit asks a person what the server wants to know.
func (s *session) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	ctx, cancel := s.until(ctx)
	defer cancel()
	defer s.pauseCalls()()
	q := Question{Server: s.client.name, Message: r.Params.Message, URL: r.Params.URL}
	if r.Params.RequestedSchema != nil {
		q.Schema = encoded(r.Params.RequestedSchema)
	}
	a, err := s.client.opts.Elicit(ctx, q)
	if err != nil {
		return nil, err
	}
	result := &sdk.ElicitResult{Action: string(a.Action)}
	if a.Action == Accept {
		result.Content = a.Content
	}
	return result, nil
}

// until returns a context that also ends with the session: nothing else ends what
// answers a server that has gone.
func (s *session) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// levels are the protocol's levels of log messages that ours tell apart.
func levels() []struct {
	name  sdk.LoggingLevel
	level slog.Level
} {
	return []struct {
		name  sdk.LoggingLevel
		level slog.Level
	}{{"debug", slog.LevelDebug}, {"info", slog.LevelInfo}, {"warning", slog.LevelWarn}, {"error", slog.LevelError}}
}

// logLevel returns the least level at which our log takes messages.
func (c *Client) logLevel() sdk.LoggingLevel {
	for _, l := range levels() {
		if c.log.Enabled(c.ctx, l.level) {
			return l.name
		}
	}
	return "emergency"
}

// setLogLevel tells the server which of its log messages we take. That it does not
// know how is no reason to do without it.
func (s *session) setLogLevel(ctx context.Context) {
	init := s.sdk.InitializeResult()
	if init.Capabilities == nil || init.Capabilities.Logging == nil || init.ProtocolVersion > string(defaultProtocol) {
		return
	}
	err := s.request(ctx, "did not set its log level", func(ctx context.Context) error {
		return s.sdk.SetLoggingLevel(ctx, &sdk.SetLoggingLevelParams{Level: s.client.logLevel()})
	})
	if err != nil {
		s.client.log.Debug("the log level could not be set", "error", err)
	}
}

// logLevelMeta is how the log level is told from protocol 2026-07-28 on: with
// every request.
func (s *session) logLevelMeta() sdk.Meta {
	if s.sdk.InitializeResult().ProtocolVersion <= string(defaultProtocol) {
		return nil
	}
	return sdk.Meta{sdk.MetaKeyLogLevel: s.client.logLevel()}
}

// logged writes a server's log message to our log. The levels above error are
// errors in ours.
func (c *Client) logged(p *sdk.LoggingMessageParams) {
	level := slog.LevelError
	switch p.Level {
	case "debug":
		level = slog.LevelDebug
	case "info", "notice":
		level = slog.LevelInfo
	case "warning":
		level = slog.LevelWarn
	}
	text, ok := p.Data.(string)
	if !ok {
		data, err := json.Marshal(p.Data)
		if err != nil {
			data = fmt.Append(nil, p.Data)
		}
		text = string(data)
	}
	var attrs []any
	if p.Logger != "" {
		attrs = append(attrs, "logger", plain(p.Logger))
	}
	const longest = 4 << 10
	c.log.Log(c.ctx, level, plain(cut(text, longest)), attrs...)
}
