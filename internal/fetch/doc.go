// Package fetch owns getting one file by its address over HTTP, and keeping it
// with what the server said of it, so that a file that has not changed is not
// sent again. It refuses to know what the file is for.
//
// A fetch follows at most five redirects, and none from https to http; the
// password and the header of the first address go to no other host. It is
// tried three times when the server or the network fails. A file over the limit
// is cut off and refused. When the server cannot be reached and the file was
// fetched before, that copy is used, and File.Stale says so.
package fetch
