package config_test

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

const fileHead = "name: a\nmodel: {provider: offline, name: offline}\ninstructions: {file: prompt.md}\n"

func TestPrompt(t *testing.T) {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	for _, tt := range []struct {
		name, agent, file string
		want              config.Prompt
	}{
		{"inline, as it is", strings.Replace(head, "Help.", "'---\n\n a: b\n\n ---\n\n Help. '", 1), "",
			config.Prompt{Text: "---\na: b\n---\nHelp. ", Source: "inline"}},
		{"a file", fileHead, "\nHelp.\n\n", config.Prompt{Text: "Help.", Source: "file", FilePath: "prompt.md"}},
		{"frontmatter", fileHead, "---\nversion: 1.10\nauthor: Ann\ndescription: d\ntags: [a, 2]\nreviewed: true\n---\n\nHelp.\n",
			config.Prompt{Text: "Help.", Version: "1.10", Author: "Ann", Description: "d", Tags: []string{"a", "2"}, Source: "file", FilePath: "prompt.md", Extra: map[string]any{"reviewed": true}}},
		{"one tag", fileHead, "---\ntags: a\n---\nHelp.", config.Prompt{Text: "Help.", Tags: []string{"a"}, Source: "file", FilePath: "prompt.md"}},
		{"empty frontmatter", fileHead, "---\n---\nHelp.", config.Prompt{Text: "Help.", Source: "file", FilePath: "prompt.md"}},
		{"a rule that is no fence", fileHead, "---\nHelp.", config.Prompt{Text: "---\nHelp.", Source: "file", FilePath: "prompt.md"}},
		{"variables stay", fileHead, "Say ${NAME}.", config.Prompt{Text: "Say ${NAME}.", Source: "file", FilePath: "prompt.md"}},
		{"Windows line ends", fileHead, "\xef\xbb\xbf---\r\nversion: 2\r\n---\r\none\r\ntwo\r\n", config.Prompt{Text: "one\ntwo", Version: "2", Source: "file", FilePath: "prompt.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"agent.yaml": tt.agent, "prompt.md": tt.file})
			got := mustLoad(t, dir, config.Options{}).Prompt
			tt.want.BodyHash = hash(tt.want.Text)
			if tt.want.Version == "" {
				tt.want.Version = "auto-" + tt.want.BodyHash[:8]
			}
			if tt.want.Tags == nil {
				tt.want.Tags = []string{}
			}
			if tt.want.Extra == nil {
				tt.want.Extra = map[string]any{}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestBadPrompts(t *testing.T) {
	for _, tt := range []struct {
		name, instructions string
		files              map[string]string
		want               []string
	}{
		{"missing", "file: prompt.md", nil, []string{"agent.yaml:3:22: instructions.file: there is no file prompt.md (the path is relative to the file that mentions it)"}},
		{"a folder", "file: prompt.md", map[string]string{"prompt.md/": ""}, []string{"agent.yaml:3:22: instructions.file: prompt.md is a folder, and a file is expected (the path is relative to the file that mentions it)"}},
		{"empty", "file: prompt.md", map[string]string{"prompt.md": "---\nversion: 1\n---\n\n"}, []string{"prompt.md: holds no prompt (write the instructions into it)"}},
		{"not text", "file: prompt.md", map[string]string{"prompt.md": "a\x00b"}, []string{"prompt.md:1:2: holds a NUL byte, so it is not a text file (is this the right file?)"}},
		{"bad frontmatter", "file: prompt.md", map[string]string{"prompt.md": "---\nversion: 1\nauthor: a: b\n---\nHelp."}, []string{`prompt.md:3:9: is not valid YAML: mapping value is not allowed in this context (a value that contains ": " must be in quotes)`}},
		{"frontmatter without an end", "file: prompt.md", map[string]string{"prompt.md": "---\nversion: 1\n\nHelp."}, []string{"prompt.md:1:1: warning: the frontmatter that begins here has no end, so all of it is part of the prompt (close it with a line --- of its own)"}},
		{"frontmatter that is a list", "file: prompt.md", map[string]string{"prompt.md": "---\n- a\n---\nHelp."}, []string{"prompt.md:2:1: the frontmatter is a list; it must be a mapping (write keys such as version: 1.2 between the --- lines)"}},
		{"frontmatter with a list for an author", "file: prompt.md", map[string]string{"prompt.md": "---\nauthor: [a]\n---\nHelp."}, []string{"prompt.md:2:9: author: is a list; it must be text"}},
		{"both", "inline: a, file: prompt.md", map[string]string{"prompt.md": "Help."}, []string{"agent.yaml:3:33: instructions.file: inline is given, too (keep one of the two)"}},
		{"neither", "", nil, []string{"agent.yaml:3:15: instructions: needs inline or file (give one of the two)"}},
		{"an unset variable", "file: '${P}'", nil, []string{"agent.yaml:3:22: instructions.file: variable P is not set (set it in the environment or in a .env file beside the agent file, or write ${P:-default})"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"agent.yaml": strings.Replace(fileHead, "file: prompt.md", tt.instructions, 1)}
			for name, text := range tt.files {
				files[name] = text
			}
			_, problems := load(t, folder(t, files), config.Options{})
			want(t, problems, tt.want...)
		})
	}
}

func TestResponseFormat(t *testing.T) {
	for _, tt := range []struct {
		name, format string
		files        map[string]string
		schema       string
		want         []string
	}{
		{"inline", "{type: object, required: [b], properties: {b: {type: string, enum: [x, y]}, a: {anyOf: [{type: integer, minimum: 1}, {type: 'null'}]}}}", nil,
			`{"properties":{"a":{"anyOf":[{"minimum":1,"type":"integer"},{"type":"null"}]},"b":{"enum":["x","y"],"type":"string"}},"required":["b"],"type":"object"}`, nil},
		{"a file", "schema.json", map[string]string{"schema.json": "{\n \"type\": \"object\"}"}, `{"type":"object"}`, nil},
		{"null", "null", nil, "", nil},
		{"a missing file", "schema.json", nil, "", []string{"agent.yaml:4:18: response_format: there is no file schema.json (the path is relative to the file that mentions it)"}},
		{"not JSON", "schema.json", map[string]string{"schema.json": "{\n\"type\": object}"}, "", []string{"schema.json:2:9: is not a JSON object: invalid character 'o' looking for beginning of value"}},
		{"a JSON list", "schema.json", map[string]string{"schema.json": "[]"}, "", []string{"schema.json:1:1: is a JSON array; it must be an object"}},
		{"a JSON null", "schema.json", map[string]string{"schema.json": "null"}, "", []string{"schema.json: is null; it must be a JSON object"}},
		{"a number", "5", nil, "", []string{"agent.yaml:4:18: response_format: 5 is a number; it must be a JSON Schema or the path of a JSON file"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"agent.yaml": head + "response_format: " + tt.format + "\n"}
			for name, text := range tt.files {
				files[name] = text
			}
			agent, problems := load(t, folder(t, files), config.Options{})
			if len(problems) != len(tt.want) || len(problems) == 1 && !strings.HasPrefix(problems[0], tt.want[0]) {
				t.Errorf("problems: %v\nwant %v", problems, tt.want)
			}
			if string(agent.Schema) != tt.schema {
				t.Errorf("schema %s\nwant   %s", agent.Schema, tt.schema)
			}
		})
	}
}
