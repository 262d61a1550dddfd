package backend

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheTableOfRuntimesIsHeld holds that each test and script that docs/backends.md
// names is there.
func TestTheTableOfRuntimesIsHeld(t *testing.T) {
	page, err := os.ReadFile("../../docs/backends.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+|[a-z_]+\\.txtar)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 17 {
		t.Fatalf("the page names %d tests and scripts", len(named))
	}
	scripts, err := filepath.Glob("../../acceptance/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "../*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(data)
		}
	}
	for _, n := range named {
		there := strings.Contains(code.String(), "\nfunc "+n[1]+"(t ")
		if strings.HasSuffix(n[1], ".txtar") {
			there = slices.Contains(scripts, filepath.Join("../../acceptance/testdata", n[1]))
		}
		if !there {
			t.Errorf("docs/backends.md names %s, which there is not", n[1])
		}
	}
}
