// Package text owns the scores that compare an answer with a reference text
// word by word or letter by letter: [BLEU], [ROUGE1], [ROUGE2], [ROUGEL],
// [METEOR], [F1] and [Levenshtein]. It refuses to know what a score is for:
// thresholds, verdicts, missing input and where the texts come from are the
// caller's.
//
// Every score is a pure function of two strings, safe to call from many
// goroutines at once. It lies between 0 and 1, where 1 is best. Callers hand
// over the texts as they are; each score prepares them in its own way:
//
//	score        words                              letter case
//	BLEU         mteval-v13a                        counts
//	ROUGE        runs of a-z and 0-9                ignored
//	METEOR       Treebank, within sentences         ignored
//	F1           between white space, without       ignored
//	             punctuation and articles
//	Levenshtein  none: code points                  counts
//
// # Against which implementations
//
// BLEU equals sacrebleu's sentence score, ROUGE rouge-score without stemming,
// METEOR nltk with an empty WordNet and an untrained Punkt sentence splitter,
// F1 the evaluation script of SQuAD 2.0, and Levenshtein 1 less nltk's edit
// distance over the longer length. testdata/golden.json holds texts with the
// scores that those packages gave, and the versions of the packages.
//
// BLEU, METEOR and F1 need words with white space between them, and ROUGE needs
// words of a-z. Chinese, Japanese and Thai texts score all or nothing with the
// former and nothing with ROUGE, as they do with the originals.
//
// Texts should be UTF-8. Bytes that are not do no harm, but what they count as
// is not promised.
//
// METEOR without WordNet finds no synonyms: "car" and "automobile" do not pair,
// and scores are mostly somewhat lower than with WordNet.
package text
