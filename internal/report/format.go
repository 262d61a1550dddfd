package report

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a form in which a report is written to a file.
type Format string

// The formats.
const (
	JSON     Format = "json"     // the report of the Python edition
	Markdown Format = "markdown" // for people, in a text file
	JUnit    Format = "junit"    // JUnit's XML, which build servers read
	HTML     Format = "html"     // one page that needs nothing else
	CSV      Format = "csv"      // one row a check
	JSONL    Format = "jsonl"    // one JSON object a line, one line a case
)

// names are what the format is called on the command line, which are the endings
// of its files as well. The usual ending comes first.
func (f Format) names() []string {
	switch f {
	case Markdown:
		return []string{"md", "markdown"}
	case JUnit:
		return []string{"xml", "junit"}
	case HTML:
		return []string{"html", "htm"}
	case JSONL:
		return []string{"jsonl", "ndjson"}
	}
	return []string{string(f)}
}

// formats returns every format, in the order in which they are listed.
func formats() []Format { return []Format{JSON, Markdown, JUnit, HTML, CSV, JSONL} }

// FormatNames returns the names of the formats, for usage lines.
func FormatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, string(f))
	}
	return names
}

// ParseFormat returns the format of a name, such as "junit" or "md".
func ParseFormat(name string) (Format, error) {
	if f, ok := format(name); ok {
		return f, nil
	}
	return "", fmt.Errorf("%q is not a format; use %s", name, strings.Join(FormatNames(), ", "))
}

// FormatOf returns the format that the ending of a file's name stands for.
func FormatOf(path string) (Format, error) {
	ext := filepath.Ext(path)
	if f, ok := format(strings.TrimPrefix(ext, ".")); ok && ext != "" {
		return f, nil
	}
	var endings []string
	for _, f := range formats() {
		endings = append(endings, "."+f.names()[0])
	}
	return "", fmt.Errorf("%q stands for no format; end the name in one of %s, or name the format with --format", ext, strings.Join(endings, " "))
}

func format(name string) (Format, bool) {
	for _, f := range formats() {
		for _, n := range f.names() {
			if strings.EqualFold(n, name) {
				return f, true
			}
		}
	}
	return "", false
}
