// Package embed owns turning text into vectors: the [Embedder] interface, which
// embedder an agent uses ([Resolve]), and the embedders. It refuses to store or
// compare vectors.
//
// # Embedders of providers
//
// OpenAI, Azure, Ollama and Google (AI Studio and Vertex AI) are asked over the
// wire, in batches, up to four at once, and again where that may help. An open one
// remembers 32 MiB of vectors by the SHA-256 of their texts, so that tools of one
// agent that share a document, or are asked the same, pay for it once. A vector
// that is zero, of another width or no vector at all is an error: what has a
// wrong vector could not be found, and nobody would know.
//
// # The offline embedder
//
// [NewHashing] needs no key, network or weights, and gives the same vector for
// the same text on every machine. It hashes features of the text into signed
// buckets (Weinberger et al., Feature Hashing for Large Scale Multitask
// Learning, ICML 2009):
//
//   - every distinct word, as package words cuts and stems it, with the weight
//     1 + ln(tf), where tf is how often it occurs, spread over four buckets so
//     that two words that meet in one by accident are not taken for each
//     other; stop words only in a text that has no others;
//   - the character trigrams of every such word of a to z and longer than three
//     letters, its ends marked, each with 0.3 times the word's weight: they
//     bring spellings and compounds near one another;
//   - in a text without any word, its characters, so that no text has a zero
//     vector.
//
// A feature's 64-bit FNV-1a hash, mixed once more, chooses the bucket and the
// sign. The vector is scaled to length one. Two texts without a common word
// have a cosine that is chance alone, with a standard deviation of 1/√D for D
// buckets; [Hashing.Chance] is three of them.
//
// It compares words, not meanings: "car" and "automobile" are strangers to it.
package embed
