// Package llm owns the one model interface, its providers, and [Models], which
// is opened once per command and hands out a [Model] for a config.Model. What
// goes round every call, such as a retry or a record, is a [Decorator] here,
// shared by runtimes, judges and context generation. It refuses to run a
// conversation: it makes one call at a time and calls no tool.
//
// # Providers
//
// There is a file for each API: openai.go (Chat Completions, which many servers
// speak), openai_responses.go, anthropic.go, google.go and ollama.go. Each turns a
// Request into the API's own form, and the API's stream into chunks; reaching the
// endpoint, signing requests and reading refusals is package provider's. What a
// provider seals (thoughts, signatures) is carried in Part.Opaque and Call.Opaque,
// and goes back byte for byte, to that provider alone. A prompt that is longer
// than the model reads, or that a filter refused, is a Done that says so; all else
// that goes wrong is a *ProviderError, or the error of the context itself.
//
// The provider offline is a model that plays a script (package script) and
// otherwise answers from what it finds (package offline).
package llm
