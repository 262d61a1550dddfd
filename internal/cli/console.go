//go:build !windows

package cli

import "os"

// enableEscapes reports whether a terminal obeys escape sequences.
func enableEscapes(*os.File) bool { return true }
