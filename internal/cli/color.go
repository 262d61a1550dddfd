package cli

// colors reports whether a terminal may be written to in colours: NO_COLOR,
// where it is set to anything, forbids them (no-color.org).
func (a *app) colors() bool {
	no, _ := a.getenv("NO_COLOR")
	return no == "" && a.escapes()
}

// escapes reports whether a terminal understands the sequences that move its
// cursor.
func (a *app) escapes() bool {
	kind, _ := a.getenv("TERM")
	return kind != "dumb"
}
