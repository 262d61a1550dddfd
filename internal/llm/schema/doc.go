// Package schema owns the check of what a model said against a JSON Schema:
// the arguments of a tool call, a structured answer. It compiles a schema once,
// decides with it, and says what is wrong in words a model can act on, always
// in the same order. It refuses to fetch anything: only references within the
// schema are followed.
//
// The drafts are 2020-12, which is assumed when $schema is absent, and 07.
package schema
