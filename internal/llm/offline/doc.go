// Package offline owns the answers of the model that needs no account: what it
// searches for, and which sentences of what was found it answers with. It is a
// pure function of its [Input]: no key, network, weights, chance or clock, so
// an agent's first run, its tests and its documentation work on a bare machine
// and give the same answer everywhere. It refuses to reason: it finds and
// quotes. Scripts, streaming and token counts belong to package llm.
//
// # Search
//
// The query is the person's words of this turn. With fewer than four content
// words ([FewWords]) the turn before is put in front of them, because "and to
// Norway?" says too little alone. Every tool that is marked Retrieval and takes
// one string is called with it, all in one step.
//
// # Answer
//
// The passages are cut into units: sentences, list items with the line that
// leads them in, table rows, records. A unit stands in a context: its headings,
// the question it follows, the words of its file's name. A question is context
// and never an answer.
//
// A word of the query weighs ln(1 + N/(1+n)), where n of the N units hold it,
// and half of that if neither a unit nor a context has it ([AbsentWeight]). A
// word of the turn before weighs half ([EarlierWeight]), and so does one that
// questions are made with whatever they are about, such as "bring" or "allowed"
// ([LightWeight]). The overlap of a unit
// is the weight of the query's words in it, divided by the weight of all. A word
// that stands only in the question the unit answers counts 0.9
// ([QuestionWeight]), one that stands only in the rest of its context half
// ([ContextWeight]). A unit that begins with a pronoun for something in the
// sentence before has 0.8 of its overlap ([LeaningWeight]).
//
// The answer is the unit with the most overlap and up to two more
// ([MostSentences]) that have at least 0.75 of it ([RelativeOverlap]) and do
// not repeat what was said ([SameWords]). Each is followed by its source in
// brackets. They stand in order of relevance, but neighbours in one text stand
// as they do there.
//
// Nothing was found, and the answer is the one sentence [NothingFound], when
// the best overlap is under 0.25 ([LeastOverlap]); when it rests on a single
// word of several and is under 0.5 ([LeastOverlapOfOne]); or when no word of
// this turn occurs at all. The last does not hold for a turn of a single word
// that no unit has, or of none: "and in which month?" asks about what the turn
// before was about.
//
// Words are compared without case and without the common English endings;
// numbers and codes are words. English function words, modals and pronouns carry
// no weight: a question of nothing else finds nothing. Other languages have no
// such list: there rarity alone tells words apart. Chinese and Japanese, which
// put no blanks between words, are compared by pairs of characters.
//
// # Structured answers
//
// With a JSON Schema the answer is a value that follows it. Strings whose name
// speaks of text (answer, summary, …) hold the answer, lists of sources the
// sources, numbers called confidence or score the overlap; a choice from a list
// is the entry that shares most words with the question and the answer, and
// everything else is the plainest value that the schema allows. When no such
// value is found the answer says so, in plain text.
package offline
