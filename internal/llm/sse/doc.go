// Package sse owns the reading of server-sent events, the form in which model
// APIs stream a response (WHATWG HTML, "Server-sent events"). It refuses to know
// what an event says, and to reconnect.
package sse
