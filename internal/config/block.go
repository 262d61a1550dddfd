package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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
// and which of its keys the user wrote. The zero Block is a section that was
// not loaded.
type Block struct{ origin *origin }

// origin is where a section stands in its file.
type origin struct {
	path string
	at   place
	keys []keyOrigin // in file order
}

// place is a position within a source.
type place struct {
	src       *source
	line, col int32
}

// keyOrigin is where the value of a key of a section stands.
type keyOrigin struct {
	key    string
	at     place
	secret bool
	unset  bool  // a variable in it has no value
	free   *node // the value, where its shape is the user's choice
}

// pos returns the place as a position.
func (p place) pos() Pos {
	if p.src == nil {
		return Pos{}
	}
	return Pos{File: p.src.name, Line: int(p.line), Column: int(p.col)}
}

// key returns the origin of a key, or nil when the user did not write it.
func (b Block) key(key string) *keyOrigin {
	if b.origin == nil {
		return nil
	}
	for i := range b.origin.keys {
		if b.origin.keys[i].key == key {
			return &b.origin.keys[i]
		}
	}
	return nil
}

// Path returns the dotted path of the section, such as "tools[2].database".
func (b Block) Path() string {
	if b.origin == nil {
		return ""
	}
	return b.origin.path
}

// Pos returns where the section begins, or where its parent does when nobody
// wrote it.
func (b Block) Pos() Pos {
	if b.origin == nil {
		return Pos{}
	}
	return b.origin.at.pos()
}

// Wrote reports whether the user wrote the key, in any file and with any
// value but null.
func (b Block) Wrote(key string) bool { return b.key(key) != nil }

// PosOf returns where the value of key stands, or where the section does when
// the key is absent.
func (b Block) PosOf(key string) Pos {
	if k := b.key(key); k != nil {
		return k.at.pos()
	}
	return b.Pos()
}

// PosWithin returns where a value below that of key stands. path leads to it
// from there, such as "[2].args.city"; where it leads nowhere, the last value on
// the way counts. Only keys whose values have a shape of the user's choice have
// values below them; elsewhere PosWithin is PosOf.
func (b Block) PosWithin(key, path string) Pos {
	k := b.key(key)
	if k == nil || k.free == nil {
		return b.PosOf(key)
	}
	return k.free.below(path).pos()
}

// LayerOf returns where the value of key comes from: LayerDefault when nobody
// wrote it.
func (b Block) LayerOf(key string) Layer {
	if k := b.key(key); k != nil {
		return k.at.src.layer
	}
	return LayerDefault
}

// File returns the file that path, the value of key, names: ~ is the home
// folder, and a relative path is relative to the file that mentions it.
func (b Block) File(key, path string) string {
	var src *source
	if k := b.key(key); k != nil {
		src = k.at.src
	} else if b.origin != nil {
		src = b.origin.at.src
	}
	if src == nil {
		return filepath.Clean(path)
	}
	return src.resolve(path)
}

// resolve returns the file that a path in the source names.
func (s *source) resolve(path string) string {
	path = filepath.FromSlash(path)
	if rest, ok := strings.CutPrefix(path, "~"); ok && s.home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(s.home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.dir, path)
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
