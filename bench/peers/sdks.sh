#!/bin/sh
# Hold the fake model server to the providers' own Go modules: what they
# understand of it must be what its script says.
#
#   sdks.sh CACHE_DIR
#
# The modules are fetched once, into a module of its own in CACHE_DIR.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 CACHE_DIR" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
pins='github.com/openai/openai-go/v3@v3.99.0 github.com/anthropics/anthropic-sdk-go@v1.84.0 google.golang.org/genai@v1.77.0 github.com/ollama/ollama@v0.17.4'
module=$1/sdks-$(echo "$pins" | cksum | cut -d' ' -f1)

# The marker is written last, so that half a module is not taken for one.
if [ ! -e "$module/complete" ]; then
	rm -rf "$module"
	mkdir -p "$module"
	cd "$module"
	go mod init peers >/dev/null 2>&1
	# shellcheck disable=SC2086 # one word a module
	go get $pins >/dev/null 2>&1
	touch complete
fi

cat >"$module/rules.yaml" <<'YAML'
- when: {result: sunny}
  do: [{text: done}]
- do:
    - thinking: "Let me "
    - thinking: think.
    - text: "One "
    - text: two.
    - call: {id: c1, name: weather, args: {city: Oslo}}
    - usage: {prompt_tokens: 100, completion_tokens: 30, cached_tokens: 60, reasoning_tokens: 20}
YAML
cd "$root"
go build -o "$module/modelserver" ./bench/modelserver
grep -v '^//go:build ignore$' bench/peers/sdks/main.go >"$module/main.go"

rm -f "$module/address"
"$module/modelserver" "$module/rules.yaml" >"$module/address" &
server=$!
trap 'kill "$server"' EXIT
tries=0
until [ -s "$module/address" ]; do
	tries=$((tries + 1))
	if [ "$tries" -gt 100 ]; then
		echo "the fake model server does not start" >&2
		exit 1
	fi
	sleep 0.1
done
cd "$module"
go run -mod=mod . "$(cat address)"
