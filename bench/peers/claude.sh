#!/bin/sh
# Agents on a real Claude Code CLI, with an API of the test's own behind it: the
# protocol, the contract of every runtime, and the example.
#
#   claude.sh CACHE_DIR          the tests
#   claude.sh CACHE_DIR bench    the figures of docs/performance.md
#
# The CLI comes from npm, once, into CACHE_DIR, without its install scripts. Where
# the system permits, the tests run in a network of their own that has the
# loopback alone. Needs go and npm.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: $0 CACHE_DIR [bench]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
for command in go npm; do
	command -v "$command" >/dev/null || { echo "$0: needs $command" >&2; exit 1; }
done
version=2.1.328
case $(uname -s)-$(uname -m) in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64) platform=linux-arm64 ;;
Darwin-arm64) platform=darwin-arm64 ;;
Darwin-x86_64) platform=darwin-x64 ;;
*)
	echo "$0: there is no Claude Code CLI on npm for this machine" >&2
	exit 1
	;;
esac
mkdir -p "$1"
cache=$(cd "$1" && pwd)
folder=$cache/claude-$version
program=$folder/node_modules/@anthropic-ai/claude-code-$platform/claude

# The marker is written last, so that half an installation is not taken for one.
if [ ! -e "$folder/complete" ]; then
	rm -rf "$folder"
	mkdir -p "$folder/home"
	echo '{"private": true}' >"$folder/package.json"
	(cd "$folder" && HOME=$folder/home npm_config_cache=$folder/npm npm install --silent --no-audit --no-fund --ignore-scripts -E "@anthropic-ai/claude-code-$platform@$version")
	touch "$folder/complete"
fi
HOLODECK_CLAUDE_CLI=$program
export HOLODECK_CLAUDE_CLI

# The tests are built before the network is gone.
cd "$root"
tests=$(mktemp -d)
trap 'rm -rf "$tests"' EXIT
for package in claudecode backend; do
	go test -c -tags peers -o "$tests/$package" "./internal/$package"
done
go test -c -tags peers -o "$tests/acceptance" ./acceptance
alone=
if [ "$(uname -s)" = Linux ] && unshare -rn ip link set lo up 2>/dev/null; then
	alone='unshare -rn sh -c'
	echo "without a network"
fi

# run FOLDER BINARY FLAGS… runs a test binary where its package is.
run() {
	cd "$root/$1"
	binary=$tests/$2
	shift 2
	if [ -n "$alone" ]; then
		$alone 'ip link set lo up && exec "$@"' sh "$binary" "$@"
	else
		"$binary" "$@"
	fi
}
if [ "${2:-}" = bench ]; then
	run internal/backend backend -test.run '^$' -test.bench TheRealCLI -test.benchtime 10x
	exit
fi
run internal/claudecode claudecode -test.run TheReal -test.timeout 5m
run internal/backend backend -test.run TheRealCLI -test.timeout 15m -test.parallel 2
run acceptance acceptance -test.run TestClaudeScripts -test.timeout 5m
