package config

// check reports what a key's own rules cannot express.
func (l *loader) check(a *Agent) {}
