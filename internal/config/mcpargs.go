package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// shellArgument returns the argument by which one of the allowed commands would
// run any command line or program text, or reach all of this machine, and says
// so. An empty why means that there is none.
//
// It keeps honest files honest. It is no sandbox: a package that npx or uvx
// fetches may do what it likes.
func shellArgument(command MCPCommand, args []string) (arg, why string) {
	switch command {
	case "npx":
		return npxShell(args)
	case "uvx":
		return uvxShell(args)
	case "node":
		return nodeShell(args)
	case "docker":
		return dockerShell(args)
	}
	return "", ""
}

// What the reasons are.
const (
	runsCommands = "runs any command"
	runsText     = "runs any program text"
	ownsMachine  = "gives the container all of this machine"
)

// Flags that take no value of their own, which tells where the flags of a
// command end and the server's begin. Others take the argument after them.
var (
	npxSwitches = [...]string{"y", "yes", "no", "n-o", "q", "quiet", "s", "silent", "d", "dd", "ddd", "verbose", "offline", "prefer-offline",
		"prefer-online", "no-install", "ignore-existing", "always-spawn", "no-yes", "ignore-scripts", "foreground-scripts", "workspaces", "include-workspace-root"}
	uvxSwitches = [...]string{"q", "quiet", "v", "verbose", "offline", "no-cache", "n", "isolated", "no-config", "native-tls", "refresh", "U", "upgrade",
		"reinstall", "no-index", "no-build", "no-binary", "managed-python", "no-managed-python", "no-python-downloads", "no-env-file", "no-progress", "no-sources", "system-certs"}
	nodeValues = [...]string{"r", "require", "import", "C", "conditions", "loader", "experimental-loader", "env-file", "env-file-if-exists",
		"input-type", "title", "icu-data-dir", "openssl-config", "disable-warning", "max-http-header-size", "stack-trace-limit", "unhandled-rejections"}
)

// flag splits an argument into the name and the value of a flag. ok is false
// for what is no flag.
func flag(arg string) (name, value string, ok bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return "", "", false
	}
	name, value, _ = strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name, value, true
}

// npxShell looks at the flags before the package: what follows is the server's.
func npxShell(args []string) (arg, why string) {
	for i := 0; i < len(args); i++ {
		name, value, ok := flag(args[i])
		switch {
		case args[i] == "--" || !ok:
			if args[i] == "--" {
				i++
			}
			return shellNamed(args[i:])
		case strings.HasPrefix("call", name), isShort(args[i]) && strings.Contains(name, "c"):
			return args[i], runsCommands // npm knows a flag by its beginning, and short ones together
		case name == "shell" || strings.HasPrefix("script-shell", name) && len(name) > len("script-"):
			return args[i], runsCommands
		case name == "node-options" && strings.Contains(value+strings.Join(args[i+1:min(i+2, len(args))], ""), "data:"):
			return args[i], runsText
		case value == "" && !slices.Contains(npxSwitches[:], name):
			i++
		}
	}
	return "", ""
}

// uvxShell looks at the flags before the package, and at the command after them.
func uvxShell(args []string) (arg, why string) {
	for i := 0; i < len(args); i++ {
		name, value, ok := flag(args[i])
		switch {
		case args[i] == "--":
			return shellNamed(args[i+1:])
		case !ok:
			return shellNamed(args[i:])
		case value == "" && !slices.Contains(uvxSwitches[:], name):
			i++
		}
	}
	return "", ""
}

// isShort reports whether arg is short flags written together, such as -yc.
func isShort(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && !strings.Contains(arg, "=")
}

// shellNamed tells when what a runner starts is a shell, or an interpreter that
// is handed its program.
func shellNamed(args []string) (arg, why string) {
	if len(args) == 0 {
		return "", ""
	}
	name := strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(args[0]))), ".exe")
	switch {
	case slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "powershell", "pwsh"}, name):
		return args[0], runsCommands
	case name == "node":
		_, why = nodeShell(args[1:])
		return args[0], why
	case strings.HasPrefix(name, "python") && slices.ContainsFunc(args[1:], func(a string) bool { return isShort(a) && strings.HasSuffix(a, "c") }):
		return args[0], runsText
	}
	return "", ""
}

// nodeShell looks at the flags before the script: what follows is the server's.
func nodeShell(args []string) (arg, why string) {
	for i := 0; i < len(args); i++ {
		name, value, ok := flag(args[i])
		if !ok || args[i] == "--" {
			return "", ""
		}
		switch name = strings.ReplaceAll(name, "_", "-"); name {
		case "e", "eval", "p", "print", "pe", "ep", "i", "interactive":
			return args[i], runsText
		case "run":
			return args[i], runsCommands
		}
		if slices.Contains(nodeValues[:], name) {
			if value == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			if strings.HasPrefix(strings.ToLower(strings.TrimSpace(value)), "data:") {
				return args[i], runsText
			}
		}
	}
	return "", ""
}

// dockerShell looks at every argument: where the image stands among them only
// docker knows.
func dockerShell(args []string) (arg, why string) {
	for i, a := range args {
		name, value, ok := flag(a)
		if !ok {
			continue
		}
		if value == "" && i+1 < len(args) && name != "privileged" {
			value = args[i+1]
		}
		switch {
		case name == "privileged" && value != "false":
			return a, ownsMachine
		case name == "mount":
			for option := range strings.SplitSeq(value, ",") {
				key, source, _ := strings.Cut(option, "=")
				if (key == "source" || key == "src") && isRoot(source) {
					return a + " " + value, ownsMachine
				}
			}
		case name == "volume", isShort(strings.TrimSuffix(a, "="+value)) && strings.HasSuffix(name, "v"):
			if isRoot(volumeSource(value)) {
				return a + " " + value, ownsMachine
			}
		case isShort(a) && strings.HasPrefix(name, "v") && isRoot(volumeSource(name[1:])): // -v/:/host
			return a, ownsMachine
		}
	}
	return "", ""
}

// volumeSource returns the path on this machine of a volume, which may begin
// with the letter of a drive.
func volumeSource(volume string) string {
	if hasDrive(volume) {
		rest, _, _ := strings.Cut(volume[2:], ":")
		return volume[:2] + rest
	}
	source, _, _ := strings.Cut(volume, ":")
	return source
}

// isRoot reports whether a path is the root of a file system or of a drive.
func isRoot(p string) bool {
	p = strings.ReplaceAll(p, `\`, "/")
	if hasDrive(p) {
		p = p[2:]
	}
	return strings.HasPrefix(p, "/") && path.Clean(p) == "/"
}

// hasDrive reports whether a path begins with the letter of a drive.
func hasDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\') && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
}
