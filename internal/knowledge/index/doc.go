// Package index owns finding passages: an inverted index of their words, exact
// phrases and sections, the comparison of vectors, and one score made of all. It
// refuses to read files, to embed, and to store; an [Index] never changes once
// it is made.
//
// A search goes down up to three legs. Every leg gives a passage a score from 0
// to 1 that means the same for every query, index and tool.
//
// # Keyword leg
//
// Words are those of an [Analyzer]. The weight of a word that n of N passages
// have is BM25's, in the variant that is never negative (Lucene's):
//
//	idf = ln(1 + (N - n + 0.5) / (n + 0.5))
//
// and a passage of dl words, where the mean is avgdl, has
//
//	BM25 = Σ idf · tf / (tf + k1·(1 - b + b·dl/avgdl))    k1 = 0.9, b = 0.4
//
// over the distinct words of the query (Robertson and Zaragoza, The
// Probabilistic Relevance Framework: BM25 and Beyond, 2009; Kamphuis et al.,
// Which BM25 Do You Mean?, ECIR 2020, for the variants). Stop words of the query
// count only when it has no others, and then half: "how are you" asks for
// nothing.
//
// BM25 has no upper bound that a threshold could mean anything against, so the
// leg's score is how much of the query a passage covers, by weight:
//
//	coverage = min(1, Σ idf of the words it has / Σ of the query's FullMatch largest weights)
//	keyword  = coverage · (0.8 + 0.2·BM25 / Σ idf of the words it has)
//
// The last quotient, between 0 and 1, is how firmly it has them. No more than
// FullMatch words make a full match, so that a long question is not held against
// a passage. A word that no passage has weighs half of what a word of one
// passage does: it tells of another topic, but the index does not know how
// rare it is.
//
// # Semantic leg
//
// The cosine of the vectors, with the embedder's share of chance taken away:
//
//	semantic = max(0, (cosine - chance) / (1 - chance))
//
// # Exact leg
//
// It is asked when the query has a phrase in quotation marks, or names a section
// by its number ("section 4.2", "§ 4.2", "Article IX", and "4.2" where there is
// such a section), or is three words or more that a passage has one after
// another. A passage with the phrase, word by word and in the same forms, has 1; so
// has one in the section, one of a section below has 0.9, and one that names the
// section 0.5. Of several demands the mean counts.
//
// # Score
//
// A search in one mode has the score of its leg. A hybrid search makes one of
// all, by its [Fusion]:
//
//	strongest   hi + (1 - hi)·lo/4, with hi the larger and lo the smaller of the
//	            semantic leg and the better of the two others
//	minmax      Σ weight·score / Σ weight
//	rrf         Σ weight·(k + 1)/(k + rank) / Σ weight
//
// over the legs that were asked. Under rrf and minmax a passage that meets one of
// the exact leg's demands with 0.9 or more is what the query asks for to the letter.
// Where there is one, it comes before those that only resemble it, however little
// the leg weighs; a weight of 0 takes the leg away:
//
//	score' = 1 - (1 - score)·(1 - 0.9·met)    of such a passage
//	score' = 0.8·score                        of the others
//
// Strongest and minmax mean the same for every query: a threshold cuts likeness.
// Reciprocal ranks (Cormack et al., Reciprocal
// Rank Fusion outperforms Condorcet, SIGIR 2009) are given as a share of the best
// possible, and say how high the legs rank a passage among the others, not how
// well it fits: 1 is the first everywhere. Each leg ranks its 150 best passages,
// or ten times as many as are asked for; equal scores share a rank. An exact
// match has no better or worse: it counts by its score.
//
// Where scores count and not ranks, the result is as if every passage were
// scored: a search looks further down the legs until no passage that it has not
// seen can be among the best (Fagin et al., Optimal Aggregation Algorithms for
// Middleware, 2003).
//
// Scores are rounded to six decimals. Equal ones are ordered by the place of the
// passage.
package index
