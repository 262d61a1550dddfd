// Package netclient owns how the program speaks HTTP to the outside: through
// which proxy, and whose certificates it trusts. Every client of a model, an
// embedder, a store or a server of tools comes from [New], so that what a
// company's network asks for is set once. It refuses to know whom is spoken to,
// and sets no deadline: that is the caller's context.
package netclient
