package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// relativeHint is what a message about a missing file adds.
const relativeHint = "the path is relative to the file that mentions it"

// file reports a key whose file cannot be read.
func (c *checker) file(b Block, key, path string) {
	if !b.known(key) || strings.TrimSpace(path) == "" {
		return
	}
	c.readable(b, key, b.File(key, path))
}

// readable reports a file, named by key, that cannot be read.
func (c *checker) readable(b Block, key, file string) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		c.fail(b, key, CodeReference, notAFile(file, info, err), relativeHint)
		return
	}
	f, err := os.Open(file)
	if err != nil {
		c.fail(b, key, CodeReference, notAFile(file, info, err), "check its permissions")
		return
	}
	f.Close()
}

// folder reports a key that does not name a folder.
func (c *checker) folder(b Block, key, path string) bool {
	if !b.known(key) {
		return false
	}
	dir := b.File(key, path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.fail(b, key, CodeReference, "there is no folder "+absolute(dir), relativeHint)
	case err != nil:
		c.fail(b, key, CodeReference, fmt.Sprintf("%s cannot be opened: %s", absolute(dir), cause(err)), "")
	case !info.IsDir():
		c.fail(b, key, CodeReference, absolute(dir)+" is a file, and a folder is expected", "")
	default:
		return true
	}
	return false
}

// sourceSchemes are the schemes that the source of a retrieval tool may have.
const sourceSchemes = "az, file, http, https, s3"

// SourceScheme returns the scheme of a source in lower case, or "" when the
// source is a path.
func SourceScheme(source string) string {
	scheme, _, ok := strings.Cut(source, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// SourcePath returns the file or folder that the source of a retrieval tool
// names, or false when the source is remote.
func SourcePath(b Block, source string) (string, bool) {
	switch SourceScheme(source) {
	case "":
		return b.File("source", source), true
	case "file":
		u, err := url.Parse(source)
		if err != nil {
			return "", false
		}
		path := u.Path
		if u.Host != "" && u.Host != "localhost" {
			path = u.Host + path // file://docs/a.md, meant as a relative path
		}
		return b.File("source", path), true
	}
	return "", false
}

// SplitPattern parts a path that holds *, ? or [ and names nothing as it stands
// into the folder that is there for sure and the pattern of what is below it,
// with slashes. The pattern is empty for any other path.
func SplitPattern(path string) (folder, pattern string) {
	if _, err := os.Lstat(path); err == nil || !strings.ContainsAny(path, "*?[") {
		return path, ""
	}
	parts := strings.Split(filepath.ToSlash(path), "/")
	first := slices.IndexFunc(parts, func(p string) bool { return strings.ContainsAny(p, "*?[") })
	folder = filepath.FromSlash(strings.Join(parts[:first], "/"))
	if folder == "" && first > 0 {
		folder = string(filepath.Separator)
	}
	return folder, strings.Join(parts[first:], "/")
}

// source reports the source of a retrieval tool when there is nothing to read.
func (c *checker) source(b Block, source string) {
	if !b.known("source") || strings.TrimSpace(source) == "" {
		return
	}
	switch scheme := SourceScheme(source); scheme {
	case "", "file":
	case "s3", "az", "http", "https":
		return
	default:
		c.fail(b, "source", CodeValue, fmt.Sprintf("%q is not a scheme of a source", scheme), "the schemes are "+sourceSchemes)
		return
	}
	path, ok := SourcePath(b, source)
	if !ok {
		c.fail(b, "source", CodeValue, "is not a file URL", "write a path instead")
		return
	}
	path, _ = SplitPattern(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.fail(b, "source", CodeReference, "there is no file or folder "+absolute(path), relativeHint)
	case err != nil:
		c.fail(b, "source", CodeReference, fmt.Sprintf("%s cannot be opened: %s", absolute(path), cause(err)), "")
	case info.IsDir():
		c.sourceFolder(b, path)
	default:
		c.readable(b, "source", path)
	}
}

// errFound ends a walk that found what it looked for.
var errFound = errors.New("found")

// sourceFolder reports a folder that holds no file or cannot be listed.
func (c *checker) sourceFolder(b Block, dir string) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return errFound
		}
		return nil
	})
	switch {
	case errors.Is(err, errFound):
	case err != nil:
		c.fail(b, "source", CodeReference, fmt.Sprintf("%s cannot be listed: %s", absolute(dir), cause(err)), "check its permissions")
	default:
		c.fail(b, "source", CodeReference, fmt.Sprintf("folder %s holds no files", absolute(dir)), "put documents into it, or remove the tool")
	}
}

// splitURL returns the scheme and the host of a URL; the host is empty when
// the text is not a URL with one.
func splitURL(text string) (scheme, host string) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return "", ""
	}
	return strings.ToLower(u.Scheme), u.Hostname()
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
