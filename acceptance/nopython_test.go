//go:build !python

package acceptance_test

// interpreter is what console blocks of the pages may need beside the program:
// nothing.
const interpreter = ""
