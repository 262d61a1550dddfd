package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ours returns the imports that are packages of the module, relative to it.
func ours(specs []*ast.ImportSpec) []string {
	var list []string
	for _, spec := range specs {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the compiler will say so
		}
		if rel, ok := strings.CutPrefix(p, module); ok {
			list = append(list, rel)
		}
	}
	return list
}

// packageDoc returns the package comments of the non-test files of a folder.
func packageDoc(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var doc strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc != nil {
			doc.WriteString(parsed.Doc.Text())
		}
	}
	return doc.String()
}
