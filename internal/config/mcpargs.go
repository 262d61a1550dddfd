package config

import (
	"encoding/csv"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// shellArgument returns the argument by which one of the allowed commands would
// run any command line or program text, or reach all of this machine, and says
// so. An empty why means that there is none. dir is the folder that relative paths
// in the arguments start from.
//
// It keeps honest files honest. It is no sandbox: a package that npx or uvx
// fetches may do what it likes.
func shellArgument(command MCPCommand, args []string, dir string) (arg, why string) {
	switch command {
	case "npx":
		return npxShell(args)
	case "uvx":
		return uvxShell(args)
	case "node":
		return nodeShell(args)
	case "docker":
		return dockerShell(args, dir)
	}
	return "", ""
}

// What the reasons are.
const (
	runsCommands = "runs any command"
	runsText     = "runs any program text"
	runsInput    = "without a package runs what it is sent as commands"
	runsScript   = "without a script runs what it is sent as a program"
	ownsMachine  = "gives the container all of this machine"
	unknownFlag  = "is a flag that is not known here, and so what is started cannot be told"
)

// flags are the flags of a command before what it starts. Those of values take the
// argument after them, unless theirs stands behind a "=".
type flags struct{ switches, values []string }

// flagsOfNpx, flagsOfUvx and flagsOfNode return the flags that are known not to
// run anything by themselves.
func flagsOfNpx() flags {
	return flags{
		[]string{"y", "yes", "no", "n", "q", "quiet", "s", "silent", "d", "dd", "ddd", "verbose", "offline", "prefer-offline",
			"prefer-online", "no-install", "ignore-existing", "no-yes", "ignore-scripts", "workspaces", "include-workspace-root", "no-audit", "no-fund", "no-update-notifier"},
		[]string{"p", "package", "registry", "cache", "userconfig", "w", "workspace", "loglevel", "prefix", "C", "fetch-timeout", "fetch-retries"},
	}
}

func flagsOfUvx() flags {
	return flags{
		[]string{"q", "quiet", "v", "verbose", "offline", "no-cache", "n", "isolated", "no-config", "native-tls", "refresh", "U", "upgrade",
			"reinstall", "no-index", "no-build", "no-binary", "managed-python", "no-managed-python", "no-python-downloads", "no-env-file", "no-progress", "no-sources", "system-certs"},
		[]string{"from", "w", "with", "with-editable", "with-requirements", "p", "python", "index", "default-index", "i", "index-url", "extra-index-url", "f", "find-links",
			"index-strategy", "keyring-provider", "cache-dir", "directory", "project", "config-file", "c", "constraints", "b", "build-constraints", "overrides", "env-file",
			"link-mode", "prerelease", "resolution", "exclude-newer", "P", "upgrade-package", "refresh-package", "reinstall-package", "color", "allow-insecure-host"},
	}
}

func flagsOfNode() flags {
	return flags{
		[]string{"no-warnings", "enable-source-maps", "trace-warnings", "trace-deprecation", "trace-uncaught", "no-deprecation", "pending-deprecation", "throw-deprecation",
			"experimental-strip-types", "experimental-transform-types", "experimental-vm-modules", "experimental-sqlite", "experimental-websocket", "preserve-symlinks",
			"preserve-symlinks-main", "expose-gc", "permission", "use-system-ca", "use-openssl-ca", "use-bundled-ca", "no-experimental-strip-types", "no-node-snapshot",
			"insecure-http-parser", "abort-on-uncaught-exception", "force-fips", "enable-fips", "allow-fs-read", "allow-child-process", "allow-worker"},
		[]string{"r", "require", "import", "C", "conditions", "loader", "experimental-loader", "env-file", "env-file-if-exists", "input-type", "title", "icu-data-dir",
			"openssl-config", "disable-warning", "max-http-header-size", "stack-trace-limit", "unhandled-rejections", "max-old-space-size"},
	}
}

// known says whether arg is among the flags, and whether its value is the argument
// after it. Short ones may stand together, and one with a value ends them.
func (f flags) known(arg string) (next, ok bool) {
	name, _, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	switch {
	case slices.Contains(f.switches, name):
		return false, true
	case slices.Contains(f.values, name):
		return !has, true
	case !isShort(arg):
		return false, false
	}
	for i := range len(name) {
		if slices.Contains(f.values, name[i:i+1]) {
			return i == len(name)-1, true
		}
		if !slices.Contains(f.switches, name[i:i+1]) {
			return false, false
		}
	}
	return false, true
}

// flag splits an argument into the name and the value of a flag. ok is false
// for what is no flag.
func flag(arg string) (name, value string, ok bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return "", "", false
	}
	name, value, _ = strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name, value, true
}

// nameOf returns a flag without its value, which may be secret.
func nameOf(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	return name
}

// npxShell looks at the flags before the package: what follows is the server's.
func npxShell(args []string) (arg, why string) {
	known := flagsOfNpx()
	for i := 0; i < len(args); i++ {
		name, _, ok := flag(args[i])
		next, fine := known.known(args[i])
		switch {
		case args[i] == "--":
			return packageNamed(args[i+1:])
		case !ok:
			return packageNamed(args[i:])
		case fine:
			if next && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") { // npx takes no flag for a value
				i++
			}
		case strings.HasPrefix("call", name), isShort(args[i]) && strings.Contains(name, "c"): // npm knows a flag by its beginning
			return args[i], runsCommands
		case name == "shell", strings.HasPrefix("script-shell", name):
			return args[i], runsCommands
		case name == "node-options":
			return args[i], runsText
		default:
			return nameOf(args[i]), unknownFlag
		}
	}
	return packageNamed(nil)
}

// packageNamed is programNamed for npx, which without a package is a shell.
func packageNamed(args []string) (arg, why string) {
	if len(args) == 0 || args[0] == "" {
		return "", runsInput
	}
	return programNamed(args)
}

// uvxShell looks at the flags before the package, and at the command after them.
func uvxShell(args []string) (arg, why string) {
	known := flagsOfUvx()
	for i := 0; i < len(args); i++ {
		next, fine := known.known(args[i])
		switch _, _, ok := flag(args[i]); {
		case args[i] == "--":
			return programNamed(args[i+1:])
		case !ok:
			return programNamed(args[i:])
		case !fine:
			return nameOf(args[i]), unknownFlag
		case next:
			i++
		}
	}
	return "", ""
}

// isShort reports whether arg is short flags written together, such as -yc.
func isShort(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-'
}

// programNamed tells when what a runner starts is a shell, a runner of others, or
// an interpreter that is handed its program.
func programNamed(args []string) (arg, why string) {
	if len(args) == 0 {
		return "", ""
	}
	name := strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(args[0]))), ".exe")
	if at := strings.IndexByte(name, '@'); at > 0 {
		name = name[:at] // the version
	}
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "cmd", "powershell", "pwsh", "nu", "busybox", "env", "sudo", "xargs", "nohup", "timeout",
		"npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg", "bun", "bunx", "corepack", "uv", "uvx", "pipx", "docker", "make", "concurrently", "shx", "zx", "cross-env-shell", "execa-cli":
		return args[0], runsCommands
	case "perl", "ruby", "php", "lua", "luajit", "deno", "osascript", "awk", "gawk", "tclsh", "rscript", "ipython":
		return args[0], runsText
	case "node", "tsx", "ts-node", "nodejs":
		_, why = nodeShell(args[1:])
		return args[0], why
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		return args[0], pythonShell(args[1:])
	}
	return "", ""
}

// pythonShell looks at the flags before the script or module.
func pythonShell(args []string) (why string) {
	for i, a := range args {
		switch {
		case a == "-":
			return runsScript
		case !isShort(a):
			if strings.HasPrefix(a, "--") {
				return unknownFlag
			}
			return ""
		case strings.HasPrefix(a, "-m"):
			return ""
		case strings.ContainsAny(a, "ci"):
			return runsText
		case strings.ContainsAny(a, "WX") && i+1 < len(args):
			return unknownFlag
		}
	}
	return runsScript
}

// nodeShell looks at the flags before the script: what follows is the server's.
func nodeShell(args []string) (arg, why string) {
	known := flagsOfNode()
	for i := 0; i < len(args); i++ {
		name, value, ok := flag(args[i])
		switch {
		case args[i] == "-", args[i] == "--" && i+1 == len(args):
			return args[i], runsScript
		case !ok, args[i] == "--":
			return "", ""
		}
		switch name = strings.ReplaceAll(name, "_", "-"); name {
		case "e", "eval", "p", "print", "pe", "ep", "i", "interactive":
			return args[i], runsText
		case "run":
			return args[i], runsCommands
		}
		next, fine := known.known(strings.ReplaceAll(args[i], "_", "-"))
		switch {
		case !fine && !strings.Contains(args[i], "="), name == "entry-url":
			return nameOf(args[i]), unknownFlag
		case next && i+1 < len(args):
			i++
			value = args[i]
		}
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(value)), "data:") {
			return args[i], runsText
		}
	}
	return "", runsScript
}

// dockerShell looks at every argument: where the image stands among them only
// docker knows.
func dockerShell(args []string, dir string) (arg, why string) {
	for i, a := range args {
		name, value, ok := dockerFlag(a)
		if !ok {
			continue
		}
		shown := a
		if !strings.Contains(a, "=") && value == "" && name != "privileged" && i+1 < len(args) {
			value = args[i+1]
			shown += " " + value
		}
		if dockerReaches(name, value, dir) {
			return shown, ownsMachine
		}
	}
	return "", ""
}

// dockerFlag splits a flag of docker, also one that stands together with switches
// and its value, such as -itv/data:/data.
func dockerFlag(arg string) (name, value string, ok bool) {
	name, value, ok = flag(arg)
	if !ok || !isShort(arg) {
		return name, value, ok
	}
	if rest := strings.TrimLeft(arg[1:], "ditPq"); strings.HasPrefix(rest, "v") {
		return "volume", strings.TrimPrefix(rest[1:], "="), true
	}
	return name, value, true
}

// dockerReaches says whether a flag of docker hands all of this machine over.
func dockerReaches(name, value, dir string) bool {
	switch name {
	case "privileged":
		on, err := strconv.ParseBool(value)
		return err != nil || on
	case "pid":
		return value == "host"
	case "cap-add":
		switch strings.TrimPrefix(strings.ToUpper(value), "CAP_") {
		case "ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "DAC_READ_SEARCH":
			return true
		}
	case "device":
		return strings.Contains(value, "/")
	case "mount":
		options, err := csv.NewReader(strings.NewReader(value)).Read()
		return err == nil && slices.ContainsFunc(options, func(option string) bool {
			key, source, _ := strings.Cut(option, "=")
			key = strings.ToLower(strings.TrimSpace(key))
			return (key == "source" || key == "src") && ownsAll(source, dir)
		})
	case "volume":
		return ownsAll(volumeSource(value), dir)
	}
	return false
}

// ownsAll says whether who may write to a path of this machine has all of it: the
// root, or where docker itself is spoken to.
func ownsAll(p, dir string) bool {
	p = strings.ReplaceAll(p, `\`, "/")
	if strings.HasPrefix(p, ".") {
		p = filepath.ToSlash(dir) + "/" + p
	}
	if isRoot(p) || strings.HasSuffix(p, "docker_engine") {
		return true
	}
	switch clean := path.Clean(p); clean {
	case "/run", "/var", "/var/run", "/proc", "/dev", "/sys":
		return true
	default:
		return strings.HasPrefix(clean, "/") && strings.HasSuffix(clean, "/docker.sock")
	}
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
