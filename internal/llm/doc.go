// Package llm owns the one model interface, its providers, and [Models], which
// is opened once per command and hands out a [Model] for a config.Model. What
// every call needs (retries, limits, prices, recording, spans) is middleware
// here, shared by runtimes, judges and context generation. It refuses to run a
// conversation: it makes one call at a time and calls no tool.
package llm
