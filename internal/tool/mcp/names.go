package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// longestName is the most characters of a name that every provider takes.
const longestName = 64

// separator stands between the server's and the tool's part of a name.
const separator = "__"

// canonicalName returns the name under which a tool of a server is known:
// <server>__<tool>, with every character that is no letter, digit, _ or - turned
// into -. A name that is too long is cut and ends in 6 hex digits of the SHA-256 of
// the whole, so that it stays the name of one tool.
func canonicalName(server, tool string) string {
	full := server + separator + tool
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, full)
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(full))
	digits := hex.EncodeToString(sum[:3])
	return name[:longestName-len(digits)] + digits
}

// filter is the list of the tools and prompts that are offered: config.allowed_tools.
type filter struct {
	all   bool
	names []string // as the server has them, or canonical
}

// allows says whether a tool of the server is offered.
func (f filter) allows(raw, canonical string) bool {
	return f.all || slices.Contains(f.names, raw) || slices.Contains(f.names, canonical)
}

// without returns the names of the list that none of the tools bears.
func (f filter) without(tools []listed) []string {
	var missing []string
	for _, name := range f.names {
		if !slices.ContainsFunc(tools, func(t listed) bool { return t.raw == name || t.def.Name == name }) {
			missing = append(missing, name)
		}
	}
	return missing
}
