//go:build python

package acceptance_test

import (
	"path/filepath"
	"testing"
)

// interpreter is what console blocks of the pages may need beside the program.
const interpreter = "python"

// TestPythonScripts runs the scripts that need a Python interpreter: make
// peer-python.
func TestPythonScripts(t *testing.T) { runScripts(t, filepath.Join("testdata", "python")) }
