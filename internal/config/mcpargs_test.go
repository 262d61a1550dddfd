package config

import "testing"

func TestArgumentsThatMakeAShell(t *testing.T) {
	const all = "all of them"
	for _, tt := range []struct {
		command MCPCommand
		args    []string
		arg     string // that is refused; empty: none
	}{
		{"npx", []string{"-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "./data"}, ""},
		{"npx", []string{"-y", "some-server", "-c", "config.json", "--call", "x"}, ""}, // the server's own
		{"npx", []string{"--package=some", "-y", "--", "some-server", "-c"}, ""},
		{"npx", []string{"-p", "some", "some-server"}, ""},
		{"npx", []string{"-c", "rm x"}, "-c"},
		{"npx", []string{"-yc", "rm x"}, "-yc"},
		{"npx", []string{"--call", "rm x"}, "--call"},
		{"npx", []string{"--call=rm x"}, "--call=rm x"},
		{"npx", []string{"-y", "--cal", "rm x"}, "--cal"},
		{"npx", []string{"-p", "some", "-c", "rm x"}, "-c"},
		{"npx", []string{"--registry", "https://r.example", "-c", "rm x"}, "-c"},
		{"npx", []string{"--shell", "/bin/evil", "some"}, "--shell"},
		{"npx", []string{"--script-shell=/bin/evil", "some"}, "--script-shell=/bin/evil"},
		{"npx", []string{"--node-options", "--import data:text/javascript,x", "some"}, "--node-options"},
		{"npx", []string{"-p", "some", "sh", "-c", "rm x"}, "sh"},
		{"npx", []string{"-p", "node", "node", "-e", "x"}, "node"},
		{"npx", nil, all},
		{"npx", []string{"-y"}, all},
		{"npx", []string{"-q", "--"}, all},
		{"npx", []string{"-p", "some"}, all},
		{"npx", []string{"-p", "-c", "rm x"}, "-c"}, // npx takes no flag for a value
		{"npx", []string{"--frobnicate", "some", "sh"}, "--frobnicate"},
		{"npx", []string{"-y", "npm", "exec", "-c", "rm x"}, "npm"},
		{"npx", []string{"npx@10", "-c", "rm x"}, "npx@10"},
		{"npx", []string{"-y", "deno", "eval", "x"}, "deno"},
		{"npx", []string{"-y", "tsx", "-e", "x"}, "tsx"},
		{"npx", []string{"-y", "tsx"}, "tsx"},
		{"npx", []string{"-y", "tsx@4", "./server.ts", "-e", "x"}, ""},
		{"npx", []string{"-yq", "--registry=https://r.example", "@sh/server"}, ""},

		{"uvx", []string{"mcp-server-git", "--repository", "./repo"}, ""},
		{"uvx", []string{"--from", "git+https://example.com/a", "server", "-c", "x"}, ""},
		{"uvx", []string{"--with", "x", "bash", "-c", "rm x"}, "bash"},
		{"uvx", []string{"-q", "/usr/bin/SH.exe"}, "/usr/bin/SH.exe"},
		{"uvx", []string{"python3.12", "-c", "print(1)"}, "python3.12"},
		{"uvx", []string{"python", "-m", "server"}, ""},
		{"uvx", []string{"--", "sh"}, "sh"},
		{"uvx", []string{"--from", "x", "perl", "-e", "x"}, "perl"},
		{"uvx", []string{"--frobnicate", "some", "sh"}, "--frobnicate"},
		{"uvx", []string{"-qp", "3.12", "bash"}, "bash"},
		{"uvx", []string{"-p3.12", "server"}, ""},
		{"uvx", []string{"python"}, "python"},
		{"uvx", []string{"python", "-"}, "python"},
		{"uvx", []string{"python", "server.py", "-c", "x"}, ""},

		{"node", []string{"./server.js", "-p", "8080", "-e", "production"}, ""},
		{"node", []string{"-r", "./loopback.cjs", "server.js", "--eval", "x"}, ""},
		{"node", []string{"--max-old-space-size=512", "server.js"}, ""},
		{"node", []string{"--", "-e"}, ""},
		{"node", []string{"-e", "x"}, "-e"},
		{"node", []string{"-p", "x"}, "-p"},
		{"node", []string{"-pe", "x"}, "-pe"},
		{"node", []string{"--eval=x"}, "--eval=x"},
		{"node", []string{"--print", "x"}, "--print"},
		{"node", []string{"-r", "./a.cjs", "-e", "x"}, "-e"},
		{"node", []string{"--title", "x", "--eval", "x"}, "--eval"},
		{"node", []string{"--import", "data:text/javascript,x", "a.js"}, "data:text/javascript,x"},
		{"node", []string{"--import=DATA:text/javascript,x", "a.js"}, "--import=DATA:text/javascript,x"},
		{"node", []string{"--experimental_loader", "data:x", "a.js"}, "data:x"},
		{"node", []string{"--run", "start"}, "--run"},
		{"node", nil, all},
		{"node", []string{"-"}, "-"},
		{"node", []string{"--frobnicate", "some", "-e", "x"}, "--frobnicate"},
		{"node", []string{"--enable-source-maps", "--no-warnings", "server.js"}, ""},

		{"docker", []string{"run", "-i", "--rm", "-v", "./data:/data", "image"}, ""},
		{"docker", []string{"run", "-i", "--mount", "type=bind,src=/srv/data,dst=/data", "image"}, ""},
		{"docker", []string{"run", "--privileged=false", "image"}, ""},
		{"docker", []string{"run", "--privileged", "image"}, "--privileged"},
		{"docker", []string{"run", "--privileged=true", "image"}, "--privileged=true"},
		{"docker", []string{"run", "-v", "/:/host", "image"}, "-v /:/host"},
		{"docker", []string{"run", "-iv", "//:/host:ro", "image"}, "-iv //:/host:ro"},
		{"docker", []string{"run", "-v/:/host", "image"}, "-v/:/host"},
		{"docker", []string{"run", "-v=/./:/host", "image"}, "-v=/./:/host"},
		{"docker", []string{"run", "--volume", "/a/..:/host", "image"}, "--volume /a/..:/host"},
		{"docker", []string{"run", "--volume=/:/host", "image"}, "--volume=/:/host"},
		{"docker", []string{"run", "--mount", "type=bind,source=/,target=/host", "image"}, "--mount type=bind,source=/,target=/host"},
		{"docker", []string{"run", "-v", `C:\:/host`, "image"}, `-v C:\:/host`},
		{"docker", []string{"run", "-v", `C:\data:/host`, "image"}, ""},
		{"docker", []string{"run", "-v"}, ""},
		{"docker", []string{"run", "-itv/:/host", "image"}, "-itv/:/host"},
		{"docker", []string{"run", "-itv", "/:/host", "image"}, "-itv /:/host"},
		{"docker", []string{"run", "-v", "../../..:/host", "image"}, "-v ../../..:/host"},
		{"docker", []string{"run", "-v", "..:/host", "image"}, ""},
		{"docker", []string{"run", "--mount", `type=bind,"source=/",target=/host`, "image"}, `--mount type=bind,"source=/",target=/host`},
		{"docker", []string{"run", "-v", "/var/run/docker.sock:/var/run/docker.sock", "image"}, "-v /var/run/docker.sock:/var/run/docker.sock"},
		{"docker", []string{"run", "--pid=host", "image"}, "--pid=host"},
		{"docker", []string{"run", "--pid", "host", "image"}, "--pid host"},
		{"docker", []string{"run", "--cap-add=ALL", "image"}, "--cap-add=ALL"},
		{"docker", []string{"run", "--device", "/dev/sda", "image"}, "--device /dev/sda"},
		{"docker", []string{"run", "-e", "KEY", "--network", "host", "image"}, ""},
	} {
		arg, why := shellArgument(tt.command, tt.args, "/srv/agent")
		switch {
		case why == "":
			arg = ""
		case arg == "":
			arg = all
		}
		if arg != tt.arg || (arg != "") != (why != "") {
			t.Errorf("%s %q: refused for %q (%s), want %q", tt.command, tt.args, arg, why, tt.arg)
		}
	}
}

func FuzzShellArgument(f *testing.F) {
	f.Add("npx", "-y", "--call=x", "-c")
	f.Add("docker", "run", "-v", "/:/x")
	f.Add("docker", "--mount", "\"source=/", "-itv")
	f.Add("node", "-r", "--import", "data:")
	f.Fuzz(func(_ *testing.T, command, a, b, c string) {
		shellArgument(MCPCommand(command), []string{a, b, c}, "/srv")
	})
}
