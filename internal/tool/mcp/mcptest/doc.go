// Package mcptest has servers for the tests of MCP clients: [New] is a server with
// a tool for each thing a client must cope with, [Serve] runs it over stdio and
// [Listen] over the other transports. [Misbehave] is what servers do that do not
// keep to the protocol; it speaks in raw bytes, for no SDK would.
package mcptest
