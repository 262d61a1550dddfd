package runs

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// GitCommit returns the commit that is checked out in the repository that dir
// belongs to, or "" when it belongs to none or the commit cannot be told. It
// reads git's files and starts no program.
func GitCommit(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if git := gitFolder(filepath.Join(dir, ".git")); git != "" {
			return head(git)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitFolder returns the folder that path is or, as in a work tree or a
// submodule, that the file there names.
func gitFolder(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return path
	}
	named, ok := strings.CutPrefix(firstLine(path), "gitdir: ")
	switch {
	case !ok:
		return ""
	case filepath.IsAbs(named):
		return named
	}
	return filepath.Join(filepath.Dir(path), filepath.FromSlash(named))
}

// head returns the commit that HEAD stands for.
func head(git string) string {
	ref, ok := strings.CutPrefix(firstLine(filepath.Join(git, "HEAD")), "ref: ")
	if !ok {
		return commitID(ref) // no branch is checked out
	}
	// The branches of a work tree are those of the repository it belongs to.
	folders := []string{git}
	if common := firstLine(filepath.Join(git, "commondir")); common != "" {
		if !filepath.IsAbs(common) {
			common = filepath.Join(git, filepath.FromSlash(common))
		}
		folders = append(folders, common)
	}
	for _, folder := range folders {
		if id := commitID(firstLine(filepath.Join(folder, filepath.FromSlash(ref)))); id != "" {
			return id
		}
		if id := packedRef(filepath.Join(folder, "packed-refs"), ref); id != "" {
			return id
		}
	}
	return ""
}

// packedRef looks a ref up in a packed-refs file.
func packedRef(file, ref string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if id, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref {
			return commitID(id)
		}
	}
	return ""
}

// firstLine returns the first line of a small file, or "".
func firstLine(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	return strings.TrimSpace(lines.Text())
}

// commitID returns s when it is a SHA-1 or SHA-256 in hex, else "".
func commitID(s string) string {
	if len(s) != 40 && len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}
