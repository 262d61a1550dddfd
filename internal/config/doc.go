// Package config owns what agent.yaml, config.yaml and .env say: the typed
// view of every key, its defaults and rules, loading, environment
// substitution, merging, and which runtime an agent resolves to. Every problem
// it finds carries a file, line and column. It refuses to know what a
// provider, store or runtime can do: that is said by their own rooms (see
// package check).
//
// The YAML tree is the truth and the types are a view of it. One set of struct
// tags drives the decoder, the JSON Schema and docs/keys.md:
//
//	key      the YAML key; "*" takes the keys that no other field has
//	default  the value when the key is absent, as a YAML scalar or flow value
//	rule     comma-separated: required, nonblank, strict (a truth
//	         value without quotes), name (a tool name), min=N, max=N, gt=N, minitems=N,
//	         maxitems=N, nullable (null is the default), partial (required
//	         keys below it may be absent), optional=KEY (that required key of
//	         the section may be absent), hidden (its values are never
//	         printed, but not looked for elsewhere)
//	ours     "true" when the Python edition does not know the key
//	doc      one sentence: what the key does
//
// A field of pointer type is nil when the key is absent or null and has no
// default.
package config
