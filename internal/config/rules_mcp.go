package config

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// The keys that only one family of MCP transports uses.
var (
	stdioKeys = [...]string{"command", "args", "env", "env_file", "encoding"}
	urlKeys   = [...]string{"url", "headers", "timeout", "sse_read_timeout", "terminate_on_close"}
)

// mcp checks an MCP tool.
func (c *checker) mcp(t *MCPTool) {
	switch t.Transport {
	case "":
		return
	case MCPStdio:
		c.mcpStdio(t)
	default:
		c.mcpRemote(t)
	}
	for _, root := range t.Roots {
		c.folder(t.Block, "roots", root)
	}
	if !t.LoadTools && !t.LoadPrompts {
		c.warn(t.Block, "load_tools", CodeNoEffect, "the server offers nothing: load_prompts is off, too", "turn one of them on, or remove the tool")
	}
	if allowed, ok := t.Config[allowedTools]; ok {
		list, isList := allowed.([]any)
		if !isList || slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok }) {
			c.fail(t.Block, "config", CodeType, "allowed_tools must be a list of tool names", "")
		} else if t.Wrote("load_tools") && !t.LoadTools {
			c.warn(t.Block, "config", CodeNoEffect, "allowed_tools has no effect: load_tools is off", "")
		}
	}
}

// mcpStdio checks a server that is started.
func (c *checker) mcpStdio(t *MCPTool) {
	if !t.Wrote("command") {
		c.fail(t.Block, "command", CodeMissing, "is required for stdio transport", "one of npx, node, uvx, docker; or set transport and url")
	}
	c.idle(t.Block, "it is not for the stdio transport", append(urlKeys[:], "oauth")...)
	if t.EnvFile != nil {
		c.file(t.Block, "env_file", *t.EnvFile)
	}
	for _, name := range sortedKeys(t.Env) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			c.fail(t.Block, "env", CodeValue, fmt.Sprintf("%q is not the name of a variable", name), "")
		}
	}
	if t.Encoding != nil && t.known("encoding") {
		if _, err := htmlindex.Get(*t.Encoding); err != nil {
			c.fail(t.Block, "encoding", CodeValue, fmt.Sprintf("%q is not the name of an encoding", *t.Encoding), "such as utf-8, windows-1252, shift_jis or gb18030")
		}
	}
	if t.Command == nil || !t.known("command") || t.Wrote("args") && !t.known("args") || t.Understood {
		return
	}
	if arg, why := shellArgument(*t.Command, t.Args, absolute(t.File("args", "."))); why != "" {
		key := "args"
		if !t.Wrote(key) {
			key = "command"
		}
		text := strings.Join(strings.Fields(fmt.Sprint(*t.Command, " ", arg, " ", why)), " ")
		c.fail(t.Block, key, CodeConflict, text, "add i_understand_this_is_unsafe: true if that is what you want")
	}
}

// mcpRemote checks a server that has a URL.
func (c *checker) mcpRemote(t *MCPTool) {
	if !t.Wrote("url") {
		c.fail(t.Block, "url", CodeMissing, fmt.Sprintf("is required for %s transport", t.Transport), "")
	} else if t.URL != nil && t.known("url") {
		c.mcpURL(t)
	}
	idle := append(stdioKeys[:], "i_understand_this_is_unsafe")
	switch t.Transport {
	case MCPSSE:
		idle = append(idle, "terminate_on_close", "oauth")
	case MCPWebsocket:
		idle = append(idle, "terminate_on_close", "sse_read_timeout", "oauth")
	}
	c.idle(t.Block, fmt.Sprintf("it is not for the %s transport", t.Transport), idle...)
	for _, key := range sortedKeys(t.Config) {
		if key != allowedTools {
			c.warn(t.Block, "config", CodeNoEffect, fmt.Sprintf("key %q has no effect: only a stdio server is passed it", key), "")
		}
	}
}

// mcpURL checks that the URL of an MCP server fits its transport. Only this
// machine may be spoken to without TLS.
func (c *checker) mcpURL(t *MCPTool) {
	scheme, host := splitURL(*t.URL)
	plain, secure := "http", "https"
	if t.Transport == MCPWebsocket {
		plain, secure = "ws", "wss"
	}
	switch {
	case host == "":
		c.fail(t.Block, "url", CodeValue, "is not a URL", fmt.Sprintf("such as %s://example.com/mcp", secure))
	case scheme == secure:
	case scheme != plain:
		c.fail(t.Block, "url", CodeConflict, fmt.Sprintf("scheme %s does not fit the %s transport", scheme, t.Transport),
			fmt.Sprintf("use %s://, or %s:// for localhost", secure, plain))
	case !isLoopback(host):
		c.fail(t.Block, "url", CodeValue, fmt.Sprintf("host %s is not this machine, and %s is for localhost only", host, plain), fmt.Sprintf("use %s://", secure))
	}
}
