package llm

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
)

const pdf = "application/pdf"

// mediaType returns the media type of an image or a document, without
// parameters; where the part does not say it is told from its bytes.
func mediaType(p agent.Part) string {
	media, _, err := mime.ParseMediaType(cmp.Or(p.MIME, http.DetectContentType(p.Data)))
	if err != nil {
		return "application/octet-stream"
	}
	return media
}

// dataURL returns the bytes of a part as a URL.
func dataURL(p agent.Part) string {
	return "data:" + mediaType(p) + ";base64," + base64Of(p)
}

func base64Of(p agent.Part) string { return base64.StdEncoding.EncodeToString(p.Data) }

// documentText returns a document that is text, under its name.
func documentText(p agent.Part) (text string, ok bool) {
	media := mediaType(p)
	if !utf8.Valid(p.Data) || !strings.HasPrefix(media, "text/") && media != "application/json" && media != "application/xml" && media != "application/yaml" {
		return "", false
	}
	return fmt.Sprintf("File: %s\n%s", p.Name, p.Data), true
}

// unreadable is the error of a document that a model cannot be given.
func (i Info) unreadable(p agent.Part) error {
	return fmt.Errorf("%s model %s reads documents that are PDF or text, and %s is %s; send the message without it",
		i.Provider, i.Name, cmp.Or(p.Name, "one"), mediaType(p))
}

// seenIn returns what a tool's result has beside text, as the model can be given
// it. Of a document it cannot read it is told: no person chose to send that, and it
// must not end the turn.
func (i Info) seenIn(r Result) []agent.Part {
	var list []agent.Part
	for _, p := range r.Result.Parts {
		switch p.Kind {
		case agent.PartImage:
		case agent.PartDocument:
			if _, readable := documentText(p); !readable && (mediaType(p) != pdf || !i.Capabilities.Documents) {
				p = agent.Part{Kind: agent.PartText, Text: fmt.Sprintf("[%s, %s, %d bytes: you cannot read it]", cmp.Or(p.Name, "a document"), mediaType(p), len(p.Data))}
			}
		default:
			continue
		}
		list = append(list, p)
	}
	return list
}

// resultText returns what a model is told of a tool's result.
func resultText(r Result) string {
	if text := r.Result.Text(); text != "" || len(r.Result.Structured) == 0 {
		return text
	}
	return string(r.Result.Structured)
}
