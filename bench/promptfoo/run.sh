#!/bin/sh
# Run the same cases with holodeck and with promptfoo, against the same fake
# model server on this machine, and print a table of time and memory.
#
#   run.sh CACHE_DIR [FLAGS]     flags: go run ./bench/promptfoo -h
#
# promptfoo is installed once, into CACHE_DIR. Needs node 20.20 or newer and npm.
set -eu

if [ $# -lt 1 ]; then
	echo "usage: $0 CACHE_DIR [FLAGS]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
promptfoo=0.121.20
libsql=0.5.29
mkdir -p "$1"
cache=$(cd "$1" && pwd)
shift
# Of the optional packages only the database is needed, in the build for this
# machine; the others are clients of services, and a browser.
case $(node -p 'process.platform + "-" + process.arch') in
linux-x64) database=@libsql/linux-x64-gnu ;;
linux-arm64) database=@libsql/linux-arm64-gnu ;;
darwin-x64) database=@libsql/darwin-x64 ;;
darwin-arm64) database=@libsql/darwin-arm64 ;;
*)
	echo "promptfoo's database has no known build for this machine" >&2
	exit 1
	;;
esac
module=$cache/promptfoo-$promptfoo-libsql-$libsql

# The marker is written last, so that half an installation is not taken for one.
if [ ! -e "$module/complete" ]; then
	rm -rf "$module"
	mkdir -p "$module"
	cd "$module"
	echo '{"private": true}' >package.json
	npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional \
		"promptfoo@$promptfoo" "libsql@$libsql" "$database@$libsql"
	touch complete
fi

cd "$root"
CGO_ENABLED=0 go build -ldflags '-s -w' -o "$module/holodeck" ./cmd/holodeck
CGO_ENABLED=0 go build -o "$module/compare" ./bench/promptfoo
exec "$module/compare" -holodeck "$module/holodeck" -promptfoo "$module/node_modules/.bin/promptfoo" "$@"
