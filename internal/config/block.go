package config

import "fmt"

// Pos is a place in a file. Line and Column count from 1; a zero Line means
// the file as a whole.
type Pos struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line:column, leaving out what is not known.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Block is what every section of the configuration embeds: where it stands,
// and which of its keys the user wrote. The zero Block is a section that
// nobody wrote.
type Block struct{ origin *origin }

// origin is where a section stands in its file.
type origin struct {
	path string
	pos  Pos
	keys map[string]keyOrigin
}

// keyOrigin is where a key of a section stands and which layer set it.
type keyOrigin struct {
	pos   Pos    // of the value
	layer string // such as "agent.yaml", "config.yaml" or "default"
}

// Path returns the dotted path of the section, such as "tools[2].database".
func (b Block) Path() string {
	if b.origin == nil {
		return ""
	}
	return b.origin.path
}

// Pos returns where the section begins.
func (b Block) Pos() Pos {
	if b.origin == nil {
		return Pos{}
	}
	return b.origin.pos
}

// Wrote reports whether the user wrote the key, in any file and with any
// value but null.
func (b Block) Wrote(key string) bool {
	if b.origin == nil {
		return false
	}
	_, ok := b.origin.keys[key]
	return ok
}

// PosOf returns where the value of key stands, or where the section does when
// the key is absent.
func (b Block) PosOf(key string) Pos {
	if b.origin != nil {
		if k, ok := b.origin.keys[key]; ok {
			return k.pos
		}
	}
	return b.Pos()
}

// Problem returns a problem of the section's key; an empty key means the
// section itself.
func (b Block) Problem(sev Severity, key, code, text, hint string) Problem {
	path := b.Path()
	switch {
	case key != "" && path != "":
		path += "." + key
	case key != "":
		path = key
	}
	return Problem{Path: path, Pos: b.PosOf(key), Severity: sev, Code: code, Text: text, Hint: hint}
}
