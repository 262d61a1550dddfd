// Package provider owns how the providers of models and embedders are reached:
// which endpoint, with whose key, and what their refusals mean. [Resolve] reads
// that from a model section and the environment, before any work is done;
// [Access.Client] makes an HTTP client that signs its requests and answers with
// an *[Error] whatever goes wrong. It refuses to know what is asked at the
// endpoint: each adapter speaks its provider's language itself.
package provider
