package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"reflect"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// result returns what a call returned, as a model and everybody else sees it:
//
//   - text is a text part;
//   - an image a model can look at is an image part;
//   - audio and other bytes are a data part, and a text part that says what it is,
//     for no model is given such bytes;
//   - an embedded resource is its text under its URI, or as its bytes are above;
//   - a link to a resource is its URI, with what is said of it;
//   - structured content is the result as a value, and its text where there is no
//     other.
//
// Sizes are bounded by what every result may hold, in the dispatch chain, after
// the bound of a message.
func (t *tool) result(r *sdk.CallToolResult) agent.ToolResult {
	var out agent.ToolResult
	for _, c := range r.Content {
		out.Parts = append(out.Parts, partsOf(c)...)
	}
	out.IsError = r.IsError
	if r.StructuredContent != nil {
		out.Structured = structured(r)
	}
	if t.def.Retrieval && !r.IsError {
		out.Passages = t.passages(r)
		if len(out.Passages) == 0 && out.Text() == "" && len(out.Structured) == 0 {
			out.Parts = agent.TextResult(agent.NothingFound).Parts
		}
	}
	if out.Text() == "" && len(out.Structured) > 0 {
		out.Parts = append(out.Parts, textPart(string(out.Structured)))
	}
	if len(out.Parts) == 0 {
		out.Parts = agent.TextResult("The tool returned nothing.").Parts
	}
	return out
}

// structured returns the structured content as JSON. Decoding has rounded numbers
// beyond 2⁵³ and lost the order of fields; servers send the same value as text, too
// (specification 2025-06-18, server/tools), and where they do that is taken.
func structured(r *sdk.CallToolResult) json.RawMessage {
	for _, c := range r.Content {
		text, ok := c.(*sdk.TextContent)
		if !ok {
			continue
		}
		var value any
		raw := bytes.TrimSpace([]byte(text.Text))
		if json.Unmarshal(raw, &value) == nil && reflect.DeepEqual(value, r.StructuredContent) {
			return raw
		}
	}
	return encoded(r.StructuredContent)
}

// partsOf returns a piece of content as parts.
func partsOf(c sdk.Content) []agent.Part {
	switch c := c.(type) {
	case *sdk.TextContent:
		return []agent.Part{textPart(c.Text)}
	case *sdk.ImageContent:
		return dataParts("image", "", c.MIMEType, c.Data)
	case *sdk.AudioContent:
		return dataParts("audio", "", c.MIMEType, c.Data)
	case *sdk.ResourceLink:
		return []agent.Part{textPart(linkText(c))}
	case *sdk.EmbeddedResource:
		return resourceParts(c.Resource)
	}
	return []agent.Part{textPart(fmt.Sprintf("[content of a kind that is not known here: %T]", c))}
}

// resourceParts returns an embedded resource as parts.
func resourceParts(r *sdk.ResourceContents) []agent.Part {
	if r == nil {
		return []agent.Part{textPart("[a resource without content]")}
	}
	if r.Blob == nil {
		return []agent.Part{textPart("Resource " + r.URI + ":\n" + r.Text)}
	}
	return dataParts("resource", r.URI, r.MIMEType, r.Blob)
}

// dataParts returns bytes as parts. what and name say what they are.
func dataParts(what, name, mimeType string, data []byte) []agent.Part {
	media, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		media = "application/octet-stream"
	}
	switch {
	case isPicture(media) && len(data) > 0:
		return []agent.Part{{Kind: agent.PartImage, Name: name, MIME: media, Data: data}}
	case media == "application/pdf" && len(data) > 0:
		return []agent.Part{{Kind: agent.PartDocument, Name: name, MIME: media, Data: data}}
	case isText(media) && utf8.Valid(data):
		return []agent.Part{textPart(strings.TrimSpace(what+" "+name) + ":\n" + string(data))}
	}
	note := fmt.Sprintf("[%s, %s, %d bytes]", strings.TrimSpace(what+" "+name), media, len(data))
	return []agent.Part{textPart(note), {Kind: agent.PartData, Name: name, MIME: media, Data: data}}
}

// isPicture says whether models look at a media type. Others, such as SVG, would
// fail the model call.
func isPicture(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// isText says whether bytes of a media type are text.
func isText(media string) bool {
	switch media {
	case "application/json", "application/xml", "application/yaml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(media, "text/")
}

// linkText returns what is told of a link to a resource.
func linkText(l *sdk.ResourceLink) string {
	text := "Resource " + l.URI
	if l.Name != "" && l.Name != l.URI {
		text += " (" + l.Name + ")"
	}
	if l.Description != "" {
		text += ": " + l.Description
	}
	return text
}

func textPart(s string) agent.Part {
	return agent.Part{Kind: agent.PartText, Text: strings.ToValidUTF8(s, "\uFFFD")}
}

// promptResult returns a prompt as the result of a tool: its messages, each under
// who says it where there are several.
func promptResult(r *sdk.GetPromptResult) agent.ToolResult {
	var out agent.ToolResult
	for _, m := range r.Messages {
		if m == nil || m.Content == nil {
			continue
		}
		if len(r.Messages) > 1 {
			out.Parts = append(out.Parts, textPart(string(m.Role)+":"))
		}
		out.Parts = append(out.Parts, partsOf(m.Content)...)
	}
	if len(out.Parts) == 0 {
		out.Parts = agent.TextResult("The prompt is empty.").Parts
	}
	return out
}
