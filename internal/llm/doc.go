// Package llm owns the one model interface, its providers, and [Models], which
// is opened once per command and hands out a [Model] for a config.Model. What
// goes round every call, such as a retry or a record, is a [Decorator] here,
// shared by runtimes, judges and context generation. It refuses to run a
// conversation: it makes one call at a time and calls no tool.
//
// In this build the one provider is offline: a model that plays a script
// (package script) and otherwise answers from what it finds (package offline).
package llm
