package config

import (
	"fmt"
	"slices"
)

// hooks checks that each hook has what its action needs and nothing else.
func (c *checker) hooks(hooks []Hook) {
	if a := c.agent; a.Wrote("hooks") && a.Claude != nil && a.Claude.Wrote("hooks") {
		c.fail(a.Claude.Block, "hooks", CodeConflict, "the agent's hooks are given, too, and are the same list", "keep one of the two")
	}
	for i := range hooks {
		h := &hooks[i]
		c.hookKeys(h)
		c.hookEvent(h)
		c.hookCode(h)
		if h.URL != nil && h.known("url") {
			if scheme, host := splitURL(*h.URL); host == "" || scheme != "https" && (scheme != "http" || !isLoopback(host)) {
				c.fail(h.Block, "url", CodeValue, "is not an https URL (http works for localhost only)", "")
			}
		}
	}
}

// hookKeys reports keys that the action of a hook lacks, and those of others.
func (c *checker) hookKeys(h *Hook) {
	required := map[HookAction]string{HookModify: "transform", HookNotify: "url"}[h.Action]
	takes, ok := map[HookAction][]string{
		HookLog:    {"message", "level"},
		HookReject: {"message"},
		HookModify: {"transform"},
		HookNotify: {"url", "headers", "message", "timeout", "on_failure"},
		HookScript: {"command", "script", "file", "function", "env", "timeout", "on_failure"},
	}[h.Action]
	if !ok {
		return
	}
	if required != "" && !h.Wrote(required) {
		c.fail(h.Block, required, CodeMissing, fmt.Sprintf("is required with action %s", h.Action), "")
	}
	for _, key := range []string{"message", "level", "url", "headers", "command", "script", "file", "function", "env", "transform", "timeout", "on_failure"} {
		if h.Wrote(key) && !slices.Contains(takes, key) {
			c.fail(h.Block, key, CodeConflict, fmt.Sprintf("is not a key of action %s", h.Action), "remove it")
		}
	}
}

// hookEvent reports what does not fit the event of a hook.
func (c *checker) hookEvent(h *Hook) {
	if h.Event == "" {
		return
	}
	if h.Event != HookPreToolUse {
		if h.Action == HookReject || h.Action == HookModify {
			c.fail(h.Block, "action", CodeConflict, fmt.Sprintf("%s comes too late at %s", h.Action, h.Event), "use event PreToolUse")
		}
		if h.Wrote("on_failure") {
			c.fail(h.Block, "on_failure", CodeConflict, fmt.Sprintf("there is nothing to reject at %s", h.Event), "remove it, or use event PreToolUse")
		}
	}
	for _, key := range []string{"tool", "arguments"} {
		if !h.Event.AboutTool() && h.Wrote(key) {
			c.fail(h.Block, key, CodeConflict, fmt.Sprintf("event %s is not about a tool", h.Event), "remove it")
		}
	}
	if h.Tool != nil {
		c.glob(h.Block, "tool", *h.Tool)
	}
	if _, err := NewToolPattern("", h.Arguments); err != nil {
		c.fail(h.Block, "arguments", CodeValue, err.Error(), "")
	}
}

// hookCode checks the code of a hook.
func (c *checker) hookCode(h *Hook) {
	if h.Action != HookScript {
		return
	}
	c.oneForm(h.Block, "command", "script", "file")
	c.file(h.Block, "script", h.Script)
	c.file(h.Block, "file", h.File)
	c.command(h.Block, h.Command)
	c.variables(h.Block, h.Env)
	if h.Wrote("file") && !h.Wrote("function") {
		c.fail(h.Block, "function", CodeMissing, "is required with file", "name the function in it")
	}
	if h.Wrote("command") {
		c.idle(h.Block, "it is for file and script", "function")
	}
	if h.Wrote("script") {
		c.idle(h.Block, "a script sees no variables", "env")
	}
}
