// Package toolmatch owns whether the tool calls an agent made are the ones a
// test case expects: by name, by how often, by their arguments, by how they
// ended, and in which order. It refuses to decide what a missing call means for
// the case.
//
// # Names
//
// An expected name matches a call when it is part of the call's name, case
// included. Calls have canonical names; so that files written against another
// runtime keep working, the names under which other runtimes offer the same
// tool match as well: mcp__holodeck_tools__kb_search and vectorstore-kb for the
// tool kb_search, mcp__files__read and files-read for files__read. There the
// match must reach into the tool's own name, so that "tools" is not found in
// every one of them.
//
// # Arguments
//
// Each argument that is named must be there and match; others are free. What
// stands in the file decides how:
//
//	value              the same value: numbers by value (1 is 1.0), lists and
//	                   objects member by member, true is not 1
//	{fuzzy: "text"}    the same text once letter case, commas, underscores,
//	                   narrow spaces and runs of white space are gone, or the
//	                   same number to within 1e-9, where 5% is 0.05
//	{regex: "re"}      the whole text matches the expression, which is written
//	                   as for Python's re
//	{approx: 3.1}      a number at most abs (1e-6) away, or at most rel times the
//	                   expected one; abs and rel are further keys
//	{one_of: [...]}    one of several, each a value or a matcher
//	{contains: x}      a text with that text in it, a list with such an element,
//	                   or an object with such members
//	{not: x}           anything but that value or what that matcher matches
//	{any: true}        anything, as long as the argument is there
//	{type: string}     a value of that JSON type, or of one of a list of types
//	{schema: {...}}    a value that follows the JSON Schema
//	{literal: x}       the value x, whatever its keys look like
//
// fuzzy and regex look at the argument as Python's str prints it.
//
// An object with exactly these keys is a matcher, and any other is a value. A
// type that JSON does not have, and an any that is not true, make a value, too.
// An object with fuzzy or regex and something else is refused.
package toolmatch
