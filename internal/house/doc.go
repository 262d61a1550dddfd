// Package house owns the test that holds the table of rooms in
// docs/architecture.md against the import graph. It has no code of its own.
package house
