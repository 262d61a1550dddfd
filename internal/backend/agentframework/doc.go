// Package agentframework owns the agent_framework runtime: what its section, and
// the openai section beside an OpenAI model, make of an agent on our own loop,
// and how a long conversation is shortened. It refuses to run turns, which is
// the loop's.
//
// Microsoft's Agent Framework for Go is a preview that cannot be had as a
// module. So this is no binding to it: agents run on our loop over the providers'
// APIs, with the behaviour that the framework documents.
//
// # Compaction
//
// A conversation is counted in groups: a message of a person's, or a response of
// the model with the results of the tools it called. A group is never split, and
// the message of the turn under way always stays.
//
// sliding_window keeps the last keep_last_groups of them (20) and forgets the
// rest. What is kept begins with a person's message, for which it may forget a
// few more.
//
// summarization begins when there are more than target_count + threshold groups
// (4 + 2, the framework's own defaults). The model is asked to put all but the
// last target_count into a few sentences, and reads those in their place from
// then on. The next summary takes in the one before. When it cannot be had, the
// conversation stays whole for the turn.
package agentframework
