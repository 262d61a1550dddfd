package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// The protocol has no form for what a search found. These are the fields by which
// servers that search, and the libraries they are built on, name the parts of a
// hit; the first that is there counts.
func listFields() []string {
	return []string{"results", "passages", "documents", "hits", "matches", "chunks", "items", "data"}
}

func textFields() []string {
	return []string{"text", "content", "page_content", "pageContent", "passage", "chunk", "snippet", "document", "body"}
}

func sourceFields() []string {
	return []string{"source", "uri", "url", "path", "file", "link", "title"}
}

func scoreFields() []string { return []string{"score", "similarity", "relevance"} }

// passages returns what a search of the server found. Hits are read from the
// structured content, or else from a text that is JSON; failing both, each text and
// each embedded text is a passage. What has no source has that of its server.
func (t *tool) passages(r *sdk.CallToolResult) []agent.Passage {
	if found := t.hits(r.StructuredContent); found != nil {
		return found
	}
	var all []agent.Passage
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			var value any
			if json.Unmarshal([]byte(c.Text), &value) == nil {
				if found := t.hits(value); found != nil {
					all = append(all, found...)
					continue
				}
			}
			if c.Text != "" {
				all = append(all, agent.Passage{Text: textPart(c.Text).Text, Source: t.def.Source})
			}
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				all = append(all, agent.Passage{Text: textPart(c.Resource.Text).Text, Source: c.Resource.URI})
			}
		}
	}
	return all
}

// hits returns the passages of a value that is a list of hits, or has one in a
// field. A value that is neither has none: nil. An empty list of hits is empty and
// not nil.
func (t *tool) hits(value any) []agent.Passage {
	if object, ok := value.(map[string]any); ok {
		for _, field := range listFields() {
			if list, ok := object[field].([]any); ok {
				value = list
				break
			}
		}
	}
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	found := make([]agent.Passage, 0, len(list))
	for _, item := range list {
		p, ok := t.hit(item)
		if !ok {
			return nil // a list of something else
		}
		found = append(found, p)
	}
	return found
}

// hit returns one hit: a text, or an object with one.
func (t *tool) hit(item any) (agent.Passage, bool) {
	p := agent.Passage{Source: t.def.Source}
	switch item := item.(type) {
	case string:
		p.Text = item
	case map[string]any:
		metadata, _ := item["metadata"].(map[string]any)
		p.Text, _ = firstString(textFields(), item)
		if source, ok := firstString(sourceFields(), item, metadata); ok {
			p.Source = source
		}
		p.ID, _ = firstString([]string{"id"}, item)
		for _, field := range scoreFields() {
			if score, ok := item[field].(float64); ok && score >= 0 && score <= 1 {
				p.Score = score
				break
			}
		}
	}
	return p, p.Text != ""
}

// firstString returns the first of the fields that an object has as text.
func firstString(fields []string, objects ...map[string]any) (string, bool) {
	for _, object := range objects {
		for _, field := range fields {
			switch v := object[field].(type) {
			case string:
				if v != "" {
					return v, true
				}
			case float64:
				return strconv.FormatFloat(v, 'f', -1, 64), true
			case bool:
				return fmt.Sprint(v), true
			}
		}
	}
	return "", false
}
