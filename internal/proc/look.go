package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Look returns the absolute path of a program: name is looked for in the folders
// of the PATH that lookup knows, on Windows with the endings of PATHEXT, so that
// npx finds npx.cmd. Folders that are not absolute are passed over: what they
// mean depends on where we stand. The error is exec.ErrNotFound.
func Look(name string, lookup func(string) (string, bool)) (string, error) {
	if filepath.Base(name) != name {
		return "", fmt.Errorf("%q is a path, not the name of a program", name)
	}
	path, _ := lookup("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("%q is in no folder of PATH: %w", name, exec.ErrNotFound)
}

// inherited are the variables a program of somebody else may see of ours: where
// things are, how text is written, and how the network is reached. None is meant
// to hold a credential, although the address of a proxy may.
var inherited = [...]string{
	"PATH", "HOME", "TMPDIR", "LANG",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}

// inheritedOnWindows are the same things by the names Windows has for them, and
// what its programs do not start without.
var inheritedOnWindows = [...]string{
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP",
}

// npmPrefix begins the names by which npm and npx are configured, in any case.
const npmPrefix = "npm_config_"

// Inherited returns what of the environment that lookup knows a program of
// somebody else starts with, as KEY=VALUE: PATH, HOME, TMPDIR, LANG, the variables
// of proxies and certificates, npm_config_*, and on Windows what stands for them
// there.
func Inherited(lookup func(string) (string, bool)) []string {
	names := slices.Clone(inherited[:])
	if runtime.GOOS == "windows" {
		names = append(names, inheritedOnWindows[:]...)
	}
	for _, entry := range os.Environ() { // lookup cannot list its names
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(strings.ToLower(name), npmPrefix) {
			names = append(names, name)
		}
	}
	var env []string
	for _, name := range names {
		if value, ok := lookup(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
