package secret

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// MinLength is the length in bytes below which a value is not redacted by
// value: masking every "on" or "8080" would spoil the text around it.
const MinLength = 8

// shape is a form of credential that is recognised whoever configured it.
type shape struct {
	// hint is a literal, lower-cased, without which the pattern cannot match.
	// It spares ordinary text the pattern.
	hint    string
	pattern *regexp.Regexp
	// with is what replaces a match; ${1} keeps what is no secret.
	with string
}

// privateKey is the form of a private key in PEM, the one credential that has
// lines.
const privateKey = `(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----`

// shapes returns the forms of credential, compiled when first asked for.
var shapes = sync.OnceValue(func() []shape {
	form := func(hint, pattern, with string) shape {
		return shape{hint: hint, pattern: regexp.MustCompile(pattern), with: with}
	}
	return []shape{
		// First, while its lines are whole.
		form("private key", privateKey, Mask),
		form("sk-ant-", `sk-ant-[A-Za-z0-9_-]{20,}`, Mask),
		form("sk-", `\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}`, Mask),
		form("akia", `\bAKIA[0-9A-Z]{16}\b`, Mask),
		form("gh", `\bgh[pousr]_[A-Za-z0-9]{36,}`, Mask),
		form("github_pat_", `\bgithub_pat_[A-Za-z0-9_]{22,}`, Mask),
		form("aiza", `\bAIza[0-9A-Za-z_-]{35}`, Mask),
		form("xox", `\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, Mask),
		form("eyj", `\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}`, Mask),
		form("bearer", `(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{20,}`, "${1}"+Mask),
		form("key=", `(?i)(\b(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/%=]{20,}`, "${1}"+Mask),
		form("sig=", `(\b[Ss][Ii][Gg]=)[A-Za-z0-9+/%=]{20,}`, "${1}"+Mask),
		form("://", `(\b[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@:"']*:[^\s/@"']+@`, "${1}"+Mask+"@"),
	}
})

// Redactor masks secrets. It is a value made when the configuration is loaded
// and handed on; it is safe for concurrent use. A nil Redactor still masks by
// shape.
type Redactor struct {
	known    []string // the values, the longest first
	replacer *strings.Replacer
}

// NewRedactor returns a Redactor that knows the given values. Values shorter
// than MinLength are left out.
func NewRedactor(values []string) *Redactor {
	var known []string
	for _, v := range values {
		// Within JSON, a value stands in the form that JSON gives it.
		quoted := string(encode(v))
		escaped := quoted[1 : len(quoted)-1]
		for _, form := range []string{v, strings.TrimSpace(v), escaped} {
			if len(form) >= MinLength && !slices.Contains(known, form) {
				known = append(known, form)
			}
		}
	}
	// The longest first, so that a value that contains another is masked whole.
	slices.SortFunc(known, func(a, b string) int { return len(b) - len(a) })
	r := &Redactor{known: known}
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
	return len(r.known)
}

// String returns s with every known value and every credential shape masked.
func (r *Redactor) String(s string) string { return r.maskShapes(r.maskValues(s)) }

// maskValues masks the known values.
func (r *Redactor) maskValues(s string) string {
	if r == nil || r.replacer == nil {
		return s
	}
	return r.replacer.Replace(s)
}

// maskShapes masks the credentials that are known by their shape.
func (*Redactor) maskShapes(s string) string {
	lower := strings.ToLower(s)
	for _, shape := range shapes() {
		if strings.Contains(lower, shape.hint) {
			s = shape.pattern.ReplaceAllString(s, shape.with)
		}
	}
	return s
}

// Bytes is String for bytes.
func (r *Redactor) Bytes(b []byte) []byte { return []byte(r.String(string(b))) }

// Any returns v with every string in it masked, the keys of its maps included. It
// takes what encoding/json decodes to and does not change v; other kinds of value
// are untouched.
func (r *Redactor) Any(v any) any {
	masked, _ := r.maskedValue(v)
	return masked
}
