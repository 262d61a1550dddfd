// Package store owns keeping what was indexed: the sources, their passages,
// words and vectors, and the [Manifest] that says how they were made. It refuses
// to search and to decide what is out of date.
//
// A [Store] changes from one complete state to the next, in [Store.Commit], and
// in no other way: whoever loads sees a state that was committed whole, also
// beside a writer and after a writer was killed. Store/storetest holds what
// every implementation must pass.
//
// [Local] keeps one SQLite database in a folder, in WAL mode, and a lock file
// beside it. [Memory] keeps a state as long as it lives. [Postgres] keeps states
// in tables of a database and is a [Searcher]: the vectors stay there, and are
// compared there.
package store
