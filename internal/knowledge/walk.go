package knowledge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
)

// sourceFile is a file that is to be indexed.
type sourceFile struct {
	path string // to open it
	name string // as results show it: relative to the agent folder, with slashes
	info fs.FileInfo
	// extension says what it is; an address need not end in one.
	extension string
}

// walk is the collecting of the files of one source.
type walk struct {
	agentDir string   // absolute
	roots    []string // resolved folders that links must stay in
	root     string   // the folder that is walked
	pattern  []string // that files below root must match, part by part; nil is any
	files    []sourceFile
	passed   map[string]int  // extensions of files that cannot be read, and how many
	links    []string        // symbolic links that were not followed yet
	seen     map[string]bool // resolved paths of folders and files that were visited
	problems problemList
}

// collect returns the files of the source at path, sorted by name. A pattern, if
// it is not empty, is what the files below path must match.
func collect(agentDir, source, path, pattern string) (*walk, error) {
	agentDir, err := filepath.Abs(agentDir)
	if err != nil {
		return nil, fmt.Errorf("find the agent folder: %w", err)
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find source %s: %w", source, err)
	}
	w := &walk{agentDir: agentDir, root: path, passed: map[string]int{}, seen: map[string]bool{}}
	if pattern != "" {
		w.pattern = strings.Split(pattern, "/")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, said(fmt.Sprintf("Source path does not exist: %s (configured source: %s, base_dir: %s)", path, source, agentDir))
	case err != nil:
		return nil, fmt.Errorf("source %s cannot be opened: %w", path, err)
	}
	real, err := w.enter(path)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", source, err)
	}
	if info.IsDir() {
		w.roots = append(w.roots, real)
		w.folder(path, real)
		w.follow()
	} else {
		w.file(path, real, info)
	}
	slices.SortFunc(w.files, func(a, b sourceFile) int { return strings.Compare(a.name, b.name) })
	if err := w.problems.of(source); err != nil {
		return nil, err
	}
	if len(w.files) == 0 {
		err := fmt.Errorf("source %s holds no file that this build reads (%s)", source, strings.Join(convert.Extensions(), " "))
		if kinds := w.kinds(); kinds != "" {
			err = fmt.Errorf("%w; found %s", err, kinds)
		}
		return nil, err
	}
	return w, nil
}

// enter returns the resolved path of the source. A source that the agent file
// says is inside the agent folder must be inside it.
func (w *walk) enter(path string) (string, error) {
	agentReal, err := filepath.EvalSymlinks(w.agentDir)
	if err != nil {
		return "", fmt.Errorf("find the agent folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	w.roots = []string{agentReal}
	if inside(w.agentDir, path) && !inside(agentReal, real) {
		return "", fmt.Errorf("a symbolic link leads out of the agent folder, to %s; write that path in source if it is meant", real)
	}
	return real, nil
}

// inside reports whether path is dir or below it. Both are absolute.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// folder visits a folder, whose resolved path is real.
func (w *walk) folder(path, real string) {
	if w.seen[real] {
		return
	}
	w.seen[real] = true
	entries, err := os.ReadDir(path)
	if err != nil {
		w.problems.add(w.name(path), fmt.Errorf("cannot be listed: %w", withoutPath(err)))
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		below, belowReal := filepath.Join(path, e.Name()), filepath.Join(real, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			w.links = append(w.links, below)
		case e.IsDir():
			w.folder(below, belowReal)
		default:
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // it went meanwhile
			}
			if err != nil {
				w.problems.add(w.name(below), fmt.Errorf("cannot be opened: %w", withoutPath(err)))
				continue
			}
			w.file(below, belowReal, info)
		}
	}
}

// follow visits what links lead to, after everything that is there itself, so
// that a file that can be reached twice has its own name.
func (w *walk) follow() {
	for len(w.links) > 0 {
		links := w.links
		w.links = nil
		for _, l := range links {
			w.target(l)
		}
	}
}

// target visits what the link at path leads to.
func (w *walk) target(path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		w.problems.add(w.name(path), fmt.Errorf("is a symbolic link that leads nowhere: %w", withoutPath(err)))
		return
	}
	if !slices.ContainsFunc(w.roots, func(root string) bool { return inside(root, real) }) {
		w.problems.add(w.name(path), fmt.Errorf("is a symbolic link out of the agent folder, to %s; copy what it leads to, or remove it", real))
		return
	}
	info, err := os.Stat(path)
	if err != nil {
		w.problems.add(w.name(path), fmt.Errorf("cannot be opened: %w", withoutPath(err)))
		return
	}
	if info.IsDir() {
		w.folder(path, real)
		return
	}
	w.file(path, real, info)
}

// file takes a file, or counts it where it cannot be read.
func (w *walk) file(path, real string, info fs.FileInfo) {
	if w.seen[real] || !w.matches(path) {
		return
	}
	w.seen[real] = true
	if !convert.Readable(path) {
		w.passed[convert.Extension(path)]++
		return
	}
	w.files = append(w.files, sourceFile{path: path, name: w.name(path), info: info, extension: convert.Extension(path)})
}

// matches reports whether a file is one that the pattern asks for.
func (w *walk) matches(file string) bool {
	if w.pattern == nil {
		return true
	}
	rel, err := filepath.Rel(w.root, file)
	return err == nil && matchParts(w.pattern, strings.Split(filepath.ToSlash(rel), "/"))
}

// matchParts reports whether the parts of a path match those of a pattern, of
// which ** is any number of folders.
func matchParts(pattern, parts []string) bool {
	if len(pattern) == 0 {
		return len(parts) == 0
	}
	if pattern[0] == "**" {
		for skip := range len(parts) + 1 {
			if matchParts(pattern[1:], parts[skip:]) {
				return true
			}
		}
		return false
	}
	if len(parts) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], parts[0])
	return err == nil && ok && matchParts(pattern[1:], parts[1:])
}

// name returns the path as results show it.
func (w *walk) name(path string) string {
	if rel, err := filepath.Rel(w.agentDir, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// kinds says what kinds of file were passed over, or is empty.
func (w *walk) kinds() string {
	var kinds []string
	for _, ext := range slices.Sorted(maps.Keys(w.passed)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", w.passed[ext], cmp.Or(ext, "without extension")))
	}
	return strings.Join(kinds, ", ")
}

// withoutPath returns the cause of a file system error, whose path the caller
// names in its own way.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// problemList gathers what is wrong with the files of a source.
type problemList []fileProblem

// fileProblem is what is wrong with a file.
type fileProblem struct {
	name string
	err  error
}

// Error implements error.
func (p fileProblem) Error() string { return p.name + ": " + p.err.Error() }

// Unwrap returns the error without the name of the file.
func (p fileProblem) Unwrap() error { return p.err }

// add records that something is wrong with the file.
func (l *problemList) add(name string, err error) { *l = append(*l, fileProblem{name, err}) }

// texts returns the problems as texts.
func (l problemList) texts() []string {
	out := make([]string, 0, len(l))
	for _, p := range l {
		out = append(out, p.Error())
	}
	return out
}

// of returns all problems of the source as one error, or nil. The first ten
// are spelt out.
func (l problemList) of(source string) error {
	const most = 10
	if len(l) == 0 {
		return nil
	}
	var shown []error
	for _, p := range l[:min(len(l), most)] {
		shown = append(shown, p)
	}
	if n := len(l) - most; n > 0 {
		shown = append(shown, fmt.Errorf("and %d more", n))
	}
	return fmt.Errorf("source %s cannot be indexed:\n%w", source, errors.Join(shown...))
}
