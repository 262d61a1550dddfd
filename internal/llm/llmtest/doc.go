// Package llmtest owns a fake model server: it plays a script.Script in the wire
// formats of the providers, so that a test of an adapter, of a runtime or of the
// whole program speaks to what looks like OpenAI, Azure, Anthropic, Google or
// Ollama, and needs neither network nor account. It refuses to decide what a
// model says, which is the script's.
//
// It speaks, streamed or not:
//
//	OpenAI      …/chat/completions, …/responses, …/embeddings, at any base
//	Azure       /openai/v1/… and /openai/deployments/NAME/…
//	Anthropic   …/v1/messages, and …:rawPredict and …:streamRawPredict as on Vertex AI
//	Google      …/models/NAME:generateContent, :streamGenerateContent, :batchEmbedContents
//	            and, as on Vertex AI, :predict
//	Ollama      /api/chat and /api/embed, and /v1/messages as Anthropic's
//
// A script counts how often a rule was played in a session. A wire has no
// session: requests that carry the header [SessionHeader] belong to that one,
// and others to the conversation that begins with the same message of a person.
//
// A step Error before anything was said is a refusal with its status and
// Retry-After; after that it is the provider's way to report an error within a
// stream, or a connection that is reset when it has no status. Cut ends the
// response properly and too early. Garbage stands where the next piece of the
// response would.
package llmtest
