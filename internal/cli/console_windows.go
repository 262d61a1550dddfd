package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes makes a console obey escape sequences, which older ones do only
// when asked. It reports whether f obeys them now.
func enableEscapes(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
