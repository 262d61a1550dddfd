// Package pystr owns how Python prints JSON values as text (True, None, 1.0,
// 1e+20, ['a', {'b': 2}]), reads numbers from text and lower-cases it. Test cases are written
// against that text, because the Python edition compares with it. It refuses to
// compare anything itself.
package pystr
