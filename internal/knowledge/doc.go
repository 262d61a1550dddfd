// Package knowledge owns retrieval: the search tools of an agent, which find
// passages of files and records. It refuses to know how models are
// reached, and what becomes of what it found.
//
// [Open] reads a tool's source, brings its index up to date and returns the
// tool. Its rooms are convert (files to text and records), chunk (text to
// passages), index (finding, and what a score means) and store (keeping).
//
// # What is read
//
// A source is a file, a folder, which is walked to its end, a pattern of files,
// or an address, at which one file is fetched. Of a folder, files of kinds that
// can be read are taken and others are counted and told; names that begin with a
// dot are passed over. Symbolic links are followed, each file is taken once, and
// a link that leads out of both the agent folder and the source is an error. A
// file that cannot be read is left out, and told each time the tool is opened,
// with what is wrong with it; where nothing else is there, that is the error.
//
// # How an index changes
//
// Sources are compared by size and time stamp, then by content. What changed is
// read anew, what went is removed, and passages whose text was embedded before
// keep their vectors. Another embedding model, or another way of cutting, makes
// the index anew. A change becomes visible as a whole: searches meanwhile, here
// and in other processes, see the last complete index, and a process that is
// killed leaves it. A second process that finds changes waits for the first.
//
// # Sections
//
// A hierarchical_document tool cuts documents along their structure. A passage
// is found by its own text, the titles above it and, where a model writes one,
// its context: a sentence or two on where it stands. Definitions and references
// of a document go with its passages, so that what a hit needs is shown with it.
//
// # Contexts
//
// The model that writes them is handed in as a [Writer]. A context belongs to a
// passage's text and place and to the way it is written, not to the rest of the
// document. What was written before the work failed is kept as notes in the
// store, until the index is committed.
package knowledge
