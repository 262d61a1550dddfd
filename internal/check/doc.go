// Package check owns [Load], the only way a command obtains an agent: it loads
// the file, applies the --offline rewrite where that is asked for, and then
// lets every room say what it cannot do with the agent. It refuses to know
// those limits itself, but for a list of what no room of this build reads, and it
// opens, starts and contacts nothing.
package check
