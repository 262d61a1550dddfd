// Package pystr owns the text of JSON values as Python's str prints them:
// True, None, 1.0, 1e+20, ['a', {'b': 2}]. Test cases are written against that
// text, because the Python edition compares with it. It refuses to compare
// anything itself.
package pystr
