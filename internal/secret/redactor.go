package secret

import (
	"regexp"
	"slices"
	"strings"
)

// MinLength is the length in bytes below which a value is not redacted by
// value: masking every "on" or "8080" would spoil the text around it.
const MinLength = 8

// shapes are credentials that are recognised whoever configured them. The
// first group of a pattern, where there is one, is kept.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`sk-ant-[A-Za-z0-9_-]{20,}`),
	regexp.MustCompile(`sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}`),
	regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`),
	regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}`),
	regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{22,}`),
	regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`),
	regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}`),
	regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{20,}`),
	regexp.MustCompile(`(?i)(\b(?:AccountKey|SharedAccessKey|sig)=)[A-Za-z0-9+/%=]{20,}`),
	regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----`),
	regexp.MustCompile(`(\b[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@:"']*:[^\s/@"']+@`),
}

// Redactor masks secrets. It is a value made when the configuration is loaded
// and handed on; it is safe for concurrent use. A nil Redactor still masks by
// shape.
type Redactor struct {
	replacer *strings.Replacer
	count    int
}

// NewRedactor returns a Redactor that knows the given values. Values shorter
// than MinLength are left out.
func NewRedactor(values []string) *Redactor {
	var known []string
	for _, v := range values {
		for _, form := range []string{v, strings.TrimSpace(v)} {
			if len(form) >= MinLength && !slices.Contains(known, form) {
				known = append(known, form)
			}
		}
	}
	// The longest first, so that a value that contains another is masked whole.
	slices.SortFunc(known, func(a, b string) int { return len(b) - len(a) })
	r := &Redactor{count: len(known)}
	if len(known) > 0 {
		pairs := make([]string, 0, 2*len(known))
		for _, v := range known {
			pairs = append(pairs, v, Mask)
		}
		r.replacer = strings.NewReplacer(pairs...)
	}
	return r
}

// Len returns how many values the Redactor knows.
func (r *Redactor) Len() int {
	if r == nil {
		return 0
	}
	return r.count
}

// String returns s with every known value and every credential shape masked.
func (r *Redactor) String(s string) string {
	if r != nil && r.replacer != nil {
		s = r.replacer.Replace(s)
	}
	for _, shape := range shapes {
		if shape.NumSubexp() > 0 {
			s = shape.ReplaceAllString(s, "${1}"+Mask+suffix(shape))
			continue
		}
		s = shape.ReplaceAllString(s, Mask)
	}
	return s
}

// suffix returns what a pattern consumed after the secret and must give back.
func suffix(shape *regexp.Regexp) string {
	if strings.HasSuffix(shape.String(), "@") {
		return "@"
	}
	return ""
}

// Bytes is String for bytes.
func (r *Redactor) Bytes(b []byte) []byte { return []byte(r.String(string(b))) }

// Any returns v with the strings of its maps and lists redacted; keys and
// other kinds of value are untouched. It takes what encoding/json decodes to
// and does not change v.
func (r *Redactor) Any(v any) any {
	switch v := v.(type) {
	case string:
		return r.String(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = r.Any(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = r.Any(item)
		}
		return out
	}
	return v
}
