package house_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// fake are marks by which a credential in the tree shows that it opens nothing.
var fake = regexp.MustCompile(`(?i)canary|example|abcdef|0123456789|aaaaaaaa|s3cret|password`)

// TestNoSecretsInTheTree looks for credentials by their shape in every text
// file of the checkout.
func TestNoSecretsInTheTree(t *testing.T) {
	var redactor *secret.Redactor // by shape only
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == ".holodeck" || name == "results" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return nil // not text
		}
		files++
		for i, line := range strings.Split(string(data), "\n") {
			if redactor.String(line) != line && !fake.MatchString(line) && !strings.Contains(line, "MustCompile(") && !strings.Contains(line, "form(\"") {
				t.Errorf("%s:%d holds what looks like a credential", file, i+1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("looked at %d files only", files)
	}
}
