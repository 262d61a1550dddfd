// Package knowledge owns retrieval: the search tools of an agent, which find
// passages of files and records. It refuses to call models other than
// embedders, and to know what becomes of what it found.
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
// # Under --offline
//
// A hierarchical_document tool is searched like a vectorstore of plain
// documents, with its own top_k, min_score, max_chunk_tokens and, when written,
// chunk_overlap; its other keys shape an index this build does not have. Open
// says so in the log.
package knowledge
