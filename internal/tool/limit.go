package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// What one result may hold. A model's context is a few hundred kilobytes; a
// result beyond these would fail the next model call, or cost without use.
const (
	// MaxText is the most text of a result, in bytes, over all its parts. Its
	// structured value and its passages may each hold as much again.
	MaxText = 1 << 20
	// MaxData is the most bytes of images and documents, over all parts.
	MaxData = 8 << 20
)

// sizeLimit cuts a result to MaxText and MaxData and says in its place what
// was cut.
func sizeLimit(next Handler) Handler {
	return func(ctx context.Context, c Call) (agent.ToolResult, error) {
		result, err := next(ctx, c)
		if err != nil {
			return result, err
		}
		return limited(result), nil
	}
}

// limited returns r within the limits. r itself is not changed.
func limited(r agent.ToolResult) agent.ToolResult {
	text, data := MaxText, MaxData
	var parts []agent.Part
	for _, p := range r.Parts {
		size := len(p.Data) + len(p.Opaque)
		if size > data {
			parts = append(parts, agent.Part{Kind: agent.PartText, Text: fmt.Sprintf("… %s of %s left out: a result holds at most %s of images and documents",
				p.Kind, bytesOf(size), bytesOf(MaxData))})
			continue
		}
		data -= size
		if len(p.Text) > text {
			whole := len(p.Text)
			p.Text = cut(p.Text, text)
			p.Text += fmt.Sprintf("\n… cut: %s of %s are shown, the most a result holds is %s", bytesOf(len(p.Text)), bytesOf(whole), bytesOf(MaxText))
			text = 0
		} else {
			text -= len(p.Text)
		}
		parts = append(parts, p)
	}
	r.Parts = parts
	r.Passages = limitedPassages(r.Passages)
	if len(r.Structured) > MaxText {
		r.Structured = json.RawMessage(fmt.Sprintf(`{"cut": "the value has %s, the most a result holds is %s"}`, bytesOf(len(r.Structured)), bytesOf(MaxText)))
	}
	return r
}

// limitedPassages returns the passages, best first, that fit into MaxText.
func limitedPassages(passages []agent.Passage) []agent.Passage {
	left := MaxText
	for i, p := range passages {
		if len(p.Text) <= left {
			left -= len(p.Text)
			continue
		}
		kept := append([]agent.Passage(nil), passages[:i]...)
		if p.Text = cut(p.Text, left); p.Text != "" {
			kept = append(kept, p)
		}
		return kept
	}
	return passages
}

// cut returns at most n bytes of s. It prefers to end before a word: half a
// word could be half a secret, which redaction would no longer know.
func cut(s string, n int) string {
	const lookBack = 8 << 10 // bytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	head := s[:n]
	if space := strings.LastIndexAny(head, " \t\r\n"); space >= 0 && n-space <= lookBack {
		return head[:space]
	}
	return head
}

// bytesOf returns a size as a person reads it.
func bytesOf(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
