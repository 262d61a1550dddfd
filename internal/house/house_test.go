package house_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/holodeck-go/holodeck/"

// forbidden are names a package must not have: they say nothing of what it holds.
var forbidden = []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "misc", "base"}

// law is what a room may import: other rooms, or anything.
type law struct {
	rooms    []string
	anything bool
}

func TestImportsKeepToTheTableOfRooms(t *testing.T) {
	root := filepath.Join("..", "..")
	laws := readTable(t, filepath.Join(root, "docs", "architecture.md"))
	packages := readImports(t, root)
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		room := roomOf(pkg)
		l, known := laws[room]
		if !known {
			t.Errorf("%s: the room %q is not in the table of docs/architecture.md", pkg, room)
			continue
		}
		for _, imported := range packages[pkg] {
			if why := breach(pkg, imported, l); why != "" {
				t.Errorf("%s imports %s: %s", pkg, imported, why)
			}
		}
	}
	for room := range laws {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(packages)), func(pkg string) bool { return roomOf(pkg) == room }) {
			t.Errorf("the table of docs/architecture.md names the room %q, which does not exist", room)
		}
	}
}

// breach says why pkg may not import imported, or returns "".
func breach(pkg, imported string, l law) string {
	switch {
	case strings.HasPrefix(pkg, imported+"/") && !strings.HasSuffix(pkg, "test"):
		return "a sub-room never imports its parent"
	case roomOf(imported) == roomOf(pkg), l.anything, slices.Contains(l.rooms, roomOf(imported)):
		return ""
	}
	return fmt.Sprintf("the table allows %v", l.rooms)
}

func TestPackagesAreNamedForWhatTheyHold(t *testing.T) {
	for pkg := range readImports(t, filepath.Join("..", "..")) {
		if slices.Contains(forbidden, path.Base(pkg)) {
			t.Errorf("%s: the name says nothing of what the package holds", pkg)
		}
	}
}

func TestEveryRoomSaysWhatItOwns(t *testing.T) {
	root := filepath.Join("..", "..")
	for pkg := range readImports(t, root) {
		if pkg == "cmd/holodeck" {
			continue
		}
		if doc := packageDoc(t, filepath.Join(root, filepath.FromSlash(pkg))); !strings.Contains(doc, "Package "+path.Base(pkg)+" ") && !strings.Contains(doc, "Command "+path.Base(pkg)+" ") {
			t.Errorf("%s has no package comment that says what it owns", pkg)
		}
	}
}

// readTable returns the law of each room in the table of an architecture page.
func readTable(t *testing.T, file string) map[string]law {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|.*\\| ([^|]*) \\|$")
	name := regexp.MustCompile("`([a-z]+)`")
	laws := map[string]law{}
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		l := law{anything: m[2] == "anything"}
		for _, n := range name.FindAllStringSubmatch(m[2], -1) {
			l.rooms = append(l.rooms, n[1])
		}
		if len(l.rooms) == 0 && !l.anything && m[2] != "nothing" {
			t.Errorf("%s: the row of %s allows %q, which is not understood", file, m[1], m[2])
		}
		laws[m[1]] = l
	}
	if len(laws) < 10 {
		t.Fatalf("%s: found %d rows of the table of rooms", file, len(laws))
	}
	return laws
}

// readImports returns, for each package of the module that has non-test code,
// what it imports of the module. Paths are relative to the module.
func readImports(t *testing.T, root string) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if d.Name() == "testdata" {
					return fs.SkipDir
				}
				return nil
			}
			if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return nil
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				return err
			}
			pkg := filepath.ToSlash(rel)
			packages[pkg] = append(packages[pkg], ours(parsed.Imports)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return packages
}

// roomOf returns the room of a package: the first folder under internal, or a
// command's path.
func roomOf(pkg string) string {
	rest, ok := strings.CutPrefix(pkg, "internal/")
	if !ok {
		return pkg
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}
