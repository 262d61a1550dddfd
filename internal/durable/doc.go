// Package durable owns writing that a crash cannot spoil: replacing a file
// whole or not at all ([WriteFile], [Replace], [File]), an append-only journal
// that survives a torn tail ([Journal]), a lock between processes ([Lock]), and
// the folder such files live in ([StateDir]). It refuses to know what is
// written.
//
// Everything here holds when the process is killed at any instruction. It
// holds for a loss of power as far as the file system keeps its promises about
// fsync.
package durable
