// Package ooxml owns reading the text of Office files: documents (.docx),
// workbooks (.xlsx) and presentations (.pptx), as Markdown. It refuses to follow
// links out of a file, and to unpack more than it is allowed.
//
// Of a document, headings, paragraphs, lists, tables, text boxes and notes are
// kept. Numbers that Word makes up when it shows a document are written out, so
// that "see section 4.2" leads somewhere. Notes stand after what refers to them.
// What was deleted under tracked changes, comments, the table of contents and
// what stands at the top and bottom of pages are left out.
//
// Of a workbook, each sheet is a table of what its cells show: results of
// formulas, and dates as 2006-01-02. Of a presentation, each slide is a section
// under its title, with its tables and the speaker's notes.
package ooxml
