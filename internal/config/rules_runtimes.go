package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// runtimes checks the sections of the runtimes, whichever of them is used.
func (c *checker) runtimes() {
	if cl := c.agent.Claude; cl != nil {
		c.claude(cl)
	}
	if o := c.agent.OpenAI; o != nil {
		if p := o.Permissions; p != nil {
			for _, name := range p.AllowedTools {
				if slices.Contains(p.DisallowedTools, name) || slices.Contains(o.DisallowedTools, name) {
					c.fail(p.Block, "allowed_tools", CodeConflict, fmt.Sprintf("%q is allowed and disallowed", name), "keep one of the two")
				}
			}
		}
	}
}

// claude checks the claude section.
func (c *checker) claude(cl *Claude) {
	if slices.Contains(cl.SettingSources, "all") && len(cl.SettingSources) > 1 {
		c.fail(cl.Block, "setting_sources", CodeConflict, "all stands alone", "write [all], or name the sources")
	}
	if cl.PermissionMode == "acceptAll" && !cl.IUnderstandThisIsUnsafe {
		c.fail(cl.Block, "permission_mode", CodeConflict, "acceptAll lets the model do anything without asking", "add i_understand_this_is_unsafe: true if that is what you want")
	}
	if cl.ExtendedThinking != nil && cl.ExtendedThinking.Enabled && cl.Effort != nil {
		c.warn(cl.Block, "effort", CodeConflict, "extended_thinking is on, too, and both set how long the model thinks", "keep one of them")
	}
	if cl.WorkingDirectory != nil {
		c.folder(cl.Block, "working_directory", *cl.WorkingDirectory)
	}
	for _, name := range sortedKeys(cl.Agents) {
		sub := cl.Agents[name]
		c.exactlyOne(sub.Block, "prompt", "prompt_file")
		if sub.PromptFile == nil {
			continue
		}
		c.file(sub.Block, "prompt_file", *sub.PromptFile)
		if info, err := os.Stat(sub.File("prompt_file", *sub.PromptFile)); err == nil && info.Mode().IsRegular() && sub.known("prompt_file") {
			c.promptFile(sub)
		}
	}
}

// promptFile checks that the prompt of a sub-agent is text.
func (c *checker) promptFile(sub Subagent) {
	file := sub.File("prompt_file", *sub.PromptFile)
	src := &source{name: file, layer: LayerAgent}
	data, ok := readFile(src, file, MaxPromptSize, c.rep)
	if !ok {
		return
	}
	if text, ok := decodeText(src, data, c.rep); ok && strings.TrimSpace(text) == "" {
		c.fail(sub.Block, "prompt_file", CodeValue, absolute(file)+" is blank", "write the sub-agent's instructions into it")
	}
}
