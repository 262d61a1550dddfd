package house_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestADKIsImportedInOnePlace holds that a build with the tag noadk is without it:
// no package of it but internal/backend/adk imports it or its data types, and there no
// file that such a build has.
func TestADKIsImportedInOnePlace(t *testing.T) {
	root := filepath.Join("..", "..")
	found := 0
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range parsed.Imports {
				p, _ := strconv.Unquote(spec.Path.Value)
				if !strings.HasPrefix(p, "google.golang.org/adk/") && !strings.HasPrefix(p, "google.golang.org/genai") {
					continue
				}
				found++
				if filepath.ToSlash(filepath.Dir(path)) != "../../internal/backend/adk" || !bytes.HasPrefix(text, []byte("//go:build !noadk\n")) {
					t.Errorf("%s imports %s, which is for files of internal/backend/adk that begin with //go:build !noadk", path, p)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("nothing imports ADK, so this holds nothing")
	}
}
