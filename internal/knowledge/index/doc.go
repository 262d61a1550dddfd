// Package index owns finding passages: an inverted index of their words, flat
// comparison of their vectors, and one score made of both. It refuses to read
// files, to embed, and to store; an [Index] never changes once it is made.
//
// # Keyword leg
//
// Words are those of package words. The weight of a word that n of N passages
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
// # Score
//
// With hi the larger of the two legs and lo the smaller,
//
//	score = hi + (1 - hi)·lo/4
//
// rounded to six decimals. It lies between 0 and 1 and means the same for every
// query, index and tool: a threshold that was set for cosines still cuts cosines
// there, a passage that has all the words of a question scores 0.8 or more
// whatever the embedder, and one that has none of them and no likeness scores 0.
// Two legs that agree rank above one. Equal scores are ordered by the place of
// the passage.
package index
