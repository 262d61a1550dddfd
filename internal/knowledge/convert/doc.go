// Package convert owns turning a source file into text, or into records. It
// refuses to cut, index or embed what it made.
//
// Text files are UTF-8, UTF-16 with a byte order mark, or else Windows-1252,
// which is told. Every file is within [Limits]; what is not, what is damaged and
// what is encrypted is an error that says what is wrong and what to do. No text is
// dropped but what the rooms below say:
//
//   - .md and .txt are taken as they are;
//   - .csv becomes one block a row, of lines "column: value";
//   - .json and .jsonl become lines "path: value", one block an element of a
//     list, where path is the dotted path of keys. Lists of plain values stand
//     in one line. Nulls and empty lists and objects say nothing and are left
//     out;
//   - .html becomes Markdown without scripts, navigation, forms and what is
//     hidden; links are their text;
//   - .docx, .xlsx and .pptx are read by package ooxml, and .pdf by package pdf.
//
// A [RecordFile] reads .csv, .json and .jsonl as records with named fields, one
// at a time. Plain values are written as Python writes them (True, 9.99), lists
// and objects as JSON; a null is no value.
package convert
