// Package secret owns secret values: a string type that never prints itself,
// and the Redactor that masks every secret the process knows, by value and by
// shape, in whatever leaves it. It refuses to decide what is a secret in an
// agent file; the config room does that.
package secret

import (
	"encoding/json"
	"log/slog"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// String is a secret value. It prints, logs and encodes as Mask; only Reveal
// gives the value.
type String struct{ value string }

// New returns s as a secret.
func New(s string) String { return String{value: s} }

// Reveal returns the value. Call it where the value is used, never to print it.
func (s String) Reveal() string { return s.value }

// IsZero reports whether there is no value.
func (s String) IsZero() bool { return s.value == "" }

// String implements fmt.Stringer.
func (s String) String() string {
	if s.value == "" {
		return ""
	}
	return Mask
}

// GoString implements fmt.GoStringer.
func (s String) GoString() string { return s.String() }

// MarshalJSON implements json.Marshaler.
func (s String) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue implements slog.LogValuer.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }
