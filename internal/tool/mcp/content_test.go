package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
)

func text(s string) agent.Part { return agent.Part{Kind: agent.PartText, Text: s} }

// a returns a tool for a mapping.
func a(retrieval bool) *tool {
	return &tool{listed: listed{raw: "t", def: agent.Definition{Name: "s__t", Retrieval: retrieval, Source: "mcp:s"}}}
}

// decoded returns a result as it comes over the wire.
func decoded(t testing.TB, result string) *sdk.CallToolResult {
	t.Helper()
	r := new(sdk.CallToolResult)
	if err := json.Unmarshal([]byte(result), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestContentBecomesParts(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		want    []agent.Part
	}{
		"text":  {`{"type":"text","text":"words"}`, []agent.Part{text("words")}},
		"image": {`{"type":"image","mimeType":"image/png","data":"iVBO"}`, []agent.Part{{Kind: agent.PartImage, MIME: "image/png", Data: []byte("\x89PN")}}},
		"an image no model looks at": {
			`{"type":"image","mimeType":"image/tiff","data":"SUkq"}`,
			[]agent.Part{text("[image, image/tiff, 3 bytes]"), {Kind: agent.PartData, MIME: "image/tiff", Data: []byte("II*")}},
		},
		"a drawing":   {`{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zy8+"}`, []agent.Part{text("image:\n<svg/>")}},
		"empty image": {`{"type":"image","mimeType":"image/png","data":""}`, []agent.Part{text("[image, image/png, 0 bytes]"), {Kind: agent.PartData, MIME: "image/png", Data: []byte{}}}},
		"audio": {
			`{"type":"audio","mimeType":"audio/wav","data":"UklG"}`,
			[]agent.Part{text("[audio, audio/wav, 3 bytes]"), {Kind: agent.PartData, MIME: "audio/wav", Data: []byte("RIF")}},
		},
		"embedded text": {`{"type":"resource","resource":{"uri":"file:///a.txt","text":"words"}}`, []agent.Part{text("Resource file:///a.txt:\nwords")}},
		"embedded PDF": {
			`{"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","blob":"JVBE"}}`,
			[]agent.Part{{Kind: agent.PartDocument, Name: "file:///a.pdf", MIME: "application/pdf", Data: []byte("%PD")}},
		},
		"embedded JSON bytes": {
			`{"type":"resource","resource":{"uri":"file:///a.json","mimeType":"application/json; charset=utf-8","blob":"e30="}}`,
			[]agent.Part{text("resource file:///a.json:\n{}")},
		},
		"embedded bytes": {
			`{"type":"resource","resource":{"uri":"file:///a","blob":"AAEC"}}`,
			[]agent.Part{text("[resource file:///a, application/octet-stream, 3 bytes]"), {Kind: agent.PartData, Name: "file:///a", MIME: "application/octet-stream", Data: []byte{0, 1, 2}}},
		},
		"link": {
			`{"type":"resource_link","uri":"https://example.com/x","name":"x","description":"the thing"}`,
			[]agent.Part{text("Resource https://example.com/x (x): the thing")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := a(false).result(decoded(t, `{"content":[`+tt.content+`]}`))
			if !slices.EqualFunc(got.Parts, tt.want, samePart) {
				t.Errorf("got %+v, want %+v", got.Parts, tt.want)
			}
		})
	}
}

func samePart(x, y agent.Part) bool {
	return x.Kind == y.Kind && x.Text == y.Text && x.Name == y.Name && x.MIME == y.MIME && bytes.Equal(x.Data, y.Data)
}

func TestStructuredContentKeepsItsNumbers(t *testing.T) {
	for name, tt := range map[string]struct{ result, want string }{
		"alone":        {`{"content":[],"structuredContent":{"b":1,"a":[true,null]}}`, `{"a":[true,null],"b":1}`},
		"as text, too": {`{"content":[{"type":"text","text":"{\"b\":9007199254740993,\"a\":1}"}],"structuredContent":{"b":9007199254740993,"a":1}}`, `{"b":9007199254740993,"a":1}`},
		"another text": {`{"content":[{"type":"text","text":"{\"b\":2}"}],"structuredContent":{"b":1}}`, `{"b":1}`},
		"none":         {`{"content":[{"type":"text","text":"{\"b\":2}"}]}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if got := a(false).result(decoded(t, tt.result)); string(got.Structured) != tt.want {
				t.Errorf("got %s, want %s", got.Structured, tt.want)
			}
		})
	}
}

func TestAStructuredResultIsReadWithoutAText(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[],"structuredContent":{"sum":5}}`:                                                      `{"sum":5}`,
		`{"content":[{"type":"image","mimeType":"image/png","data":"iVBO"}],"structuredContent":{"sum":5}}`: `{"sum":5}`,
		`{"content":[{"type":"text","text":"five"}],"structuredContent":{"sum":5}}`:                         `five`,
	} {
		if got := a(false).result(decoded(t, result)); got.Text() != want {
			t.Errorf("%s is read as %q, want %q", result, got.Text(), want)
		}
	}
}

func TestARetrievalServerGivesPassages(t *testing.T) {
	one := agent.Passage{ID: "7", Text: "Paris is a city.", Source: "docs/paris.md", Score: 0.5}
	for name, tt := range map[string]struct {
		result string
		want   []agent.Passage
	}{
		"structured": {
			`{"content":[{"type":"text","text":"1 hit"}],"structuredContent":{"results":[{"id":7,"text":"Paris is a city.","source":"docs/paris.md","score":0.5}]}}`,
			[]agent.Passage{one},
		},
		"JSON as text":             {`{"content":[{"type":"text","text":"[{\"id\":\"7\",\"page_content\":\"Paris is a city.\",\"metadata\":{\"source\":\"docs/paris.md\"},\"similarity\":0.5}]"}]}`, []agent.Passage{one}},
		"texts":                    {`{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`, []agent.Passage{{Text: "one", Source: "mcp:s"}, {Text: "two", Source: "mcp:s"}}},
		"an embedded text":         {`{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"one"}}]}`, []agent.Passage{{Text: "one", Source: "file:///a"}}},
		"a list of texts":          {`{"content":[],"structuredContent":{"passages":["one"]}}`, []agent.Passage{{Text: "one", Source: "mcp:s"}}},
		"a score that is none":     {`{"content":[],"structuredContent":{"hits":[{"text":"one","score":17}]}}`, []agent.Passage{{Text: "one", Source: "mcp:s"}}},
		"a list of something else": {`{"content":[{"type":"text","text":"[1,2]"}]}`, []agent.Passage{{Text: "[1,2]", Source: "mcp:s"}}},
		"nothing found":            {`{"content":[],"structuredContent":{"results":[]}}`, nil},
		"an error":                 {`{"content":[{"type":"text","text":"no index"}],"isError":true}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := a(true).result(decoded(t, tt.result))
			if !slices.EqualFunc(got.Passages, tt.want, func(x, y agent.Passage) bool {
				return x.ID == y.ID && x.Text == y.Text && x.Source == y.Source && x.Score == y.Score
			}) {
				t.Errorf("got %+v, want %+v", got.Passages, tt.want)
			}
			if got := a(false).result(decoded(t, tt.result)); got.Passages != nil {
				t.Errorf("a server that does not search gives %+v", got.Passages)
			}
		})
	}
}

func TestAResultIsNeverEmpty(t *testing.T) {
	if got := a(true).result(decoded(t, `{"content":[]}`)).Text(); got != agent.NothingFound {
		t.Errorf("a search that found nothing says %q", got)
	}
	if got := a(false).result(decoded(t, `{"content":[]}`)).Text(); got == "" {
		t.Error("a tool that returned nothing says nothing")
	}
	if got := promptResult(&sdk.GetPromptResult{}).Text(); got == "" {
		t.Error("an empty prompt says nothing")
	}
}

func TestAPromptOfSeveralMessagesSaysWhose(t *testing.T) {
	got := promptResult(&sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
		{Role: "user", Content: &sdk.TextContent{Text: "Hello"}}, nil,
		{Role: "assistant", Content: &sdk.TextContent{Text: "Good day"}},
	}}).Text()
	if got != "user:\n\nHello\n\nassistant:\n\nGood day" {
		t.Errorf("got %q", got)
	}
}

func TestNamesAreWhatEveryProviderTakes(t *testing.T) {
	long := strings.Repeat("a", 100)
	for tool, want := range map[string]string{
		"echo":      "files__echo",
		"read.file": "files__read-file",
		"größe/x y": "files__gr--e-x-y",
		"":          "files__",
	} {
		if got := canonicalName("files", tool); got != want {
			t.Errorf("%q is %q, want %q", tool, got, want)
		}
	}
	first, second := canonicalName("files", long+"1"), canonicalName("files", long+"2")
	if len(first) != 64 || len(second) != 64 || first == second || !strings.HasPrefix(first, "files__aaaa") {
		t.Errorf("long names are %q and %q", first, second)
	}
	if exact := canonicalName("files", long[:57]); exact != "files__"+long[:57] {
		t.Errorf("a name of 64 is %q", exact)
	}
}

func FuzzContent(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"{\"results\":[{\"text\":\"x\",\"score\":0.5}]}"}],"structuredContent":{"a":1}}`,
		`{"content":[{"type":"image","mimeType":"image/png","data":"iVBO"},{"type":"audio","mimeType":"x","data":""}],"isError":true}`,
		`{"content":[{"type":"resource","resource":{"uri":"u","blob":"AAEC"}},{"type":"resource"},{"type":"resource_link","uri":"u"}]}`,
		`{"content":[],"structuredContent":[{"text":"\ud800"}]}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, retrieval bool) {
		r := new(sdk.CallToolResult)
		if json.Unmarshal(data, r) != nil {
			return
		}
		got := a(retrieval).result(r)
		if len(got.Parts) == 0 && len(got.Structured) == 0 {
			t.Error("the result is empty")
		}
		if got.Structured != nil && !json.Valid(got.Structured) {
			t.Errorf("the structured content is no JSON: %q", got.Structured)
		}
		for i, p := range got.Parts {
			if !utf8.ValidString(p.Text) {
				t.Errorf("a text is not UTF-8: %q", p.Text)
			}
			if p.Kind == agent.PartData && (i == 0 || got.Parts[i-1].Kind != agent.PartText) {
				t.Error("no text says what the bytes are")
			}
		}
		for _, p := range got.Passages {
			if p.Text == "" || p.Source == "" || p.Score < 0 || p.Score > 1 || !utf8.ValidString(p.Text) {
				t.Errorf("a passage is %+v", p)
			}
		}
	})
}

func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
		"\r\n[{\"jsonrpc\":\"2.0\",\"method\":\"x\"},{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":1,\"message\":\"m\"}}]\r\n{}",
		"log\n", "[]\n", "[1]\n", "{\"jsonrpc\":\"2.0\",\"id\":1", strings.Repeat("x", 300) + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 200
		frames := newFrames(bytes.NewReader(data), most)
		for range len(data) + 2 {
			m, err := frames.next()
			var garbage *messageError
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &garbage):
				if !utf8.ValidString(garbage.Error()) || len(garbage.Error()) > 1000 || garbage.next == "" {
					t.Errorf("the error is %q", garbage.Error())
				}
				return
			case err != nil:
				t.Fatalf("the error is %v", err)
			case m == nil:
				t.Fatal("there is neither a message nor an error")
			}
		}
		t.Error("there are more messages than bytes")
	})
}

func TestFramesNameTheLine(t *testing.T) {
	for stream, want := range map[string]string{
		"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nStarting\n": `line 3 of its stdout is no message: "Starting"`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}} {}\n":          "line 1",
		"{\"a\":1}\n":                   "line 1",
		"[]":                            "",
		strings.Repeat("é", 200) + "\n": "…",
	} {
		frames := newFrames(strings.NewReader(stream), 1<<20)
		var err error
		for err == nil {
			_, err = frames.next()
		}
		var garbage *messageError
		switch {
		case want == "" && !errors.Is(err, io.EOF):
			t.Errorf("%q ends in %v", stream, err)
		case want != "" && (!errors.As(err, &garbage) || !strings.Contains(err.Error(), want)):
			t.Errorf("%q ends in %v, want %s", stream, err, want)
		}
	}
}
