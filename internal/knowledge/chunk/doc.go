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
//
// # Structure
//
// A [Structurer] follows the headings of a document instead, and counts tokens
// as cl100k_base does. Headings are those of Markdown, and lines that the
// numbering of a document_domain begins with. Each heading begins a chunk, but
// for the inner half of a domain's kinds of part, which stay in the section
// around them; a section that is too long is cut first where such parts begin,
// and then as above. Its chunks carry the titles around them, id and number of
// their section, the pages they are on, and what they refer to; a [Document] has
// the terms that are defined, and a [Glossary] finds them in other passages.
package chunk
