// Package convert owns turning a source file into text, or into records. It
// refuses to cut, index or embed what it made.
//
// A file must be UTF-8, with or without a byte order mark, and within
// [Limits]; what is not is an error that says what is wrong and what to do. No
// text is dropped:
//
//   - .md and .txt are taken as they are;
//   - .csv becomes one block a row, of lines "column: value";
//   - .json and .jsonl become lines "path: value", one block an element of a
//     list, where path is the dotted path of keys. Lists of plain values stand
//     in one line. Nulls and empty lists and objects say nothing and are left
//     out.
//
// [Records] reads .csv, .json and .jsonl as records with named fields. Plain
// values are written as Python writes them (True, 9.99), lists and objects as
// JSON; a null is no value.
package convert
