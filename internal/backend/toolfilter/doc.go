// Package toolfilter owns tool_filtering: which of an agent's many tools a turn
// offers to the model. It refuses to say which tools may be called: that is what
// permissions are for, and a tool that a turn does not offer is not forbidden.
//
// A turn offers
//
//   - the tools that always_include names,
//   - the tools that the session has called most, always_include_top_n_used of
//     them (3), so that a short question that goes on from the last one finds its
//     tools,
//   - the tools that fit the person's message best, top_k of them (5), none with a
//     score below similarity_threshold (0.3),
//
// in the order of the agent file. A message without words is offered all.
//
// # Scores
//
// A tool is compared by its name, its description and the names and descriptions
// of its arguments; a search tool, whose argument is that of all, without the
// last. Scores are those of package knowledge/index, from 0 to 1: of
// its keyword leg (search_method bm25), of its semantic leg (semantic, with the
// agent's embedder) or of both, fused (hybrid).
//
// # Replay
//
// What was chosen is recorded, and played by a replay, which asks no embedder.
package toolfilter
