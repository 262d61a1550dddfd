package convert

import "fmt"

// said is an error that begins with the very words of the Python edition, which
// users search for.
type said string

// Error implements error.
func (s said) Error() string { return string(s) }

func sayf(format string, args ...any) error { return said(fmt.Sprintf(format, args...)) }

// ErrNoRecords says that a file of records has none.
const ErrNoRecords = said("No records found in source file; give it one at least")
