#!/bin/sh
# The user's own Python, run by a real interpreter: functions, graders, what goes
# wrong in them, and the pages that show them.
#
#   python.sh CACHE_DIR          the tests
#   python.sh CACHE_DIR bench    the figures of docs/performance.md
#
# pydantic is installed once, into CACHE_DIR. Needs python3 with venv.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: $0 CACHE_DIR [bench]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/bench/peers/venv.sh"
venv python 'pydantic==2.12.5' "$1"

# The pages show a machine on which python3 is on the PATH.
PATH=$venv/bin:$PATH
export PATH
cd "$root"
if [ "${2:-}" = bench ]; then
	exec go test -tags python -run '^$' -bench Python ./internal/worker
fi
go test -tags python -count=1 -run Python ./internal/worker
exec go test -tags python -count=1 -run 'TestPythonScripts|TestDocs' ./acceptance
