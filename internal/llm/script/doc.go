// Package script owns the format in which a model's behaviour is written down:
// rules that say what it answers to what, how they are read from YAML values,
// and which of them is played when. The offline model plays scripts from
// agent.yaml, and test suites play them through real wire formats. It refuses
// to know how a step is played.
//
// The format is described for users in docs/offline.md.
package script
