// Package pdf owns reading the text of PDF files as Markdown. It refuses to
// recognise letters in pictures: a page without text has none.
//
// PDFium reads the files, as WebAssembly inside this process: it sees no file
// and no network but the bytes it is given, and a file that breaks it breaks
// nothing else. It is made ready with the first file, which takes seconds where
// its compiled form is not in the cache folder yet, and a fraction of one where
// it is.
//
// # What is kept
//
// Lines become paragraphs, as the space between them says; a word that a hyphen
// parts at the end of a line is joined. Headings are the lines the bookmarks
// name, where there are bookmarks and at least three in ten are found on their
// pages, and otherwise short lines that are larger than most of the text, or bold
// and by themselves. Lines whose words stand in columns, two or more below one
// another, are a table. Lines in a typewriter font are code. A line that stands at
// the same place in the head or foot of most pages, the same but for the number of
// the page, stays on the first of them only; a page number by itself goes. What
// differs in anything else, such as the number of an invoice, stays.
package pdf
