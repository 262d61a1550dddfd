package config

import (
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// readLongJSON reads a long JSON list of test cases without its tree, which
// would be large. It returns nil, having reported nothing, when the file is to
// be read as what it mostly is, YAML: because it is short, or no JSON list, or
// has something wrong, which is said better there.
func (l *loader) readLongJSON(src *source) *node {
	if info, err := os.Stat(src.name); err != nil || info.Size() < splitFrom {
		return nil
	}
	trial := &report{}
	data, ok := readFile(src, src.name, MaxFileSize, trial)
	if !ok {
		return nil
	}
	text, ok := decodeText(src, data, trial)
	if !ok || strings.Contains(text, `"<<"`) { // which merges mappings in YAML
		return nil
	}
	list := &jsonList{src: src, text: text}
	for i := range list.each(trial) {
		if i < 0 {
			return nil
		}
		list.count++
	}
	start := textPlace{line: 1, col: 1}.advance(text, skipBlank(text, 0))
	return &node{kind: kindList, src: src, line: int32(start.line), col: int32(start.col), long: list}
}

// isJSON reports whether a file is named as JSON is.
func isJSON(name string) bool { return strings.EqualFold(filepath.Ext(name), ".json") }

// jsonList is a JSON list that is kept as text.
type jsonList struct {
	src   *source
	text  string
	count int
}

// length implements longItems.
func (j *jsonList) length() int { return j.count }

// substitutes implements longItems.
func (j *jsonList) substitutes() bool { return true }

// each implements longItems.
func (j *jsonList) each(*report) iter.Seq2[int, *node] {
	return func(yield func(int, *node) bool) {
		dec := json.NewDecoder(strings.NewReader(j.text))
		if open, err := dec.Token(); err != nil || open != json.Delim('[') {
			yield(-1, nil)
			return
		}
		at := textPlace{line: 1, col: 1}
		n := 0
		for dec.More() {
			begin := skipBlank(j.text, int(dec.InputOffset()))
			at = at.advance(j.text, begin)
			var raw json.RawMessage
			if dec.Decode(&raw) != nil {
				yield(-1, nil)
				return
			}
			item, err := parseJSON(j.src, string(raw), at.line, at.col)
			if err != nil {
				yield(-1, nil)
				return
			}
			if !yield(n, item) {
				return
			}
			n++
		}
		// What follows the list would be lost.
		if _, err := dec.Token(); err != nil || strings.TrimSpace(j.text[dec.InputOffset():]) != "" {
			yield(-1, nil)
		}
	}
}
