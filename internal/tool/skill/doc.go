// Package skill owns tools that hand a task to a child agent: what a model is
// told of such a tool, how one call of it becomes one turn of a session of its
// own, and how what the child does is told to the turn of its caller ([Tool]). A
// skill in a folder gives its child the folder's other files to read ([Files]).
//
// The package refuses to know how a child agent is made: it is opened with one,
// which is an agent.Backend like any other.
package skill
