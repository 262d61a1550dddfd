// Package semantickernel owns the semantic_kernel runtime: an agent on our own
// loop whose model sees tools and answers as Semantic Kernel would show them. It
// refuses to run turns, which is the loop's.
//
// Semantic Kernel has no Go edition, so this is no binding to it. An agent file
// asks for it by name, and gets what it documents: tools under the names of their
// plugins, such as vectorstore-handbook, and a schema of the answer that bears
// the agent's name. Everywhere else, in events, reports and permissions, tools
// have their canonical names.
//
// Where the old runtime did less, this one follows the contract of all runtimes:
// answers are streamed, and the responses of a turn are counted.
package semantickernel
