// Package chunk owns cutting a text into passages of bounded length. It refuses
// to change the text: the passages, without overlap, joined in order are the
// text, blank lines and indentation included.
//
// A length is given in tokens of four characters, the estimate agent files are
// written for. Passages are filled greedily with whole blocks: paragraphs,
// which blank lines part, and fenced code. A heading, or a line that ends in a
// colon, stays with what follows it. A block that does not fit into an empty
// passage is cut between lines, a line between sentences, a sentence between
// words, and a word anywhere.
package chunk
