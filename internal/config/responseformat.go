package config

import (
	"encoding/json"
	"strings"
)

// schemas resolves the schemas of the agent's answers and of its metrics.
func (l *loader) schemas(a *Agent) {
	a.Schema = l.schema(a.Block, "response_format", a.ResponseFormat)
	if a.Evaluations != nil {
		eachStandard(a.Evaluations.Metrics, func(m *StandardMetric) { m.JSONSchema = l.schema(m.Block, "schema", m.Schema) })
	}
}

// eachStandard calls fn with every standard metric of the case and its turns.
func (c *TestCase) eachStandard(fn func(*StandardMetric)) {
	eachStandard(c.Evaluations, fn)
	for i := range c.Turns {
		eachStandard(c.Turns[i].Evaluations, fn)
	}
}

func eachStandard(metrics []Metric, fn func(*StandardMetric)) {
	for _, metric := range metrics {
		if m, ok := metric.(*StandardMetric); ok {
			fn(m)
		}
	}
}

// schema resolves a JSON Schema, which is the value of key, to JSON with its keys
// in order. It returns nil when there is none, or none that can be read, which
// is reported. Whether it is a good schema is for those to say who check with it.
func (l *loader) schema(b Block, key string, rf *ResponseFormat) []byte {
	if rf == nil {
		return nil
	}
	schema := rf.Schema
	if rf.File != "" {
		text, ok := l.readReference(b, key, rf.File, MaxPromptSize)
		if !ok {
			return nil
		}
		file := b.File(key, rf.File)
		if err := json.Unmarshal([]byte(text), &schema); err != nil {
			l.rep.add(jsonProblem(file, text, err))
			return nil
		}
		if schema == nil {
			l.refuse(file, CodeType, "is null; it must be a JSON object", "")
			return nil
		}
	}
	if schema == nil {
		return nil
	}
	data, err := json.Marshal(schema)
	if err != nil {
		l.rep.add(b.Problem(SeverityError, key, CodeValue, "cannot be written as JSON: "+err.Error(), ""))
		return nil
	}
	return data
}

// jsonProblem says where a JSON file is wrong.
func jsonProblem(file, text string, err error) Problem {
	p := Problem{Pos: Pos{File: file}, Severity: SeverityError, Code: CodeSyntax, Text: "is not a JSON object: " + err.Error()}
	var offset int64
	switch e := err.(type) {
	case *json.SyntaxError:
		offset = e.Offset
	case *json.UnmarshalTypeError:
		offset = e.Offset
		p.Text = "is a JSON " + e.Value + "; it must be an object"
	}
	if offset > 0 && offset <= int64(len(text)) {
		before := text[:offset-1]
		p.Pos.Line = strings.Count(before, "\n") + 1
		p.Pos.Column = int(offset) - 1 - strings.LastIndexByte(before, '\n')
	}
	return p
}
