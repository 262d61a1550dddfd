// Package claudecode is a client of the Claude Code CLI: it starts the program
// and speaks stream-json and the control protocol with it. It owns the process,
// the frames and who answers which request, offers tools to the program through
// MCP servers that live in this process, and tells of a turn in a handful of
// message types. It refuses to know what an agent file is, and reads no settings
// or credentials: the environment of the program is what its caller gives.
//
// The protocol is that of CLI 2.1.328, as observed; 2.1.142 is the oldest version
// it works with. What the program sends and this package does not know is passed
// over, since new kinds of message come with patch releases.
package claudecode
