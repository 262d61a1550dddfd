#!/bin/sh
# Compute the scores of internal/knowledge/index/testdata/bm25.json again with
# the package that they came from; exit 1 where one differs by more than 1e-6.
#
#   bm25.sh CACHE_DIR
#
# The package is installed once, into CACHE_DIR. Needs python3 with venv.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 CACHE_DIR" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/bench/peers/venv.sh"
venv bm25 'bm25s==0.3.16 numpy==2.4.6' "$1"

exec "$venv/bin/python" - "$root/internal/knowledge/index/testdata" <<'PY'
import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
recorded = json.loads((folder / "bm25.json").read_text())
computed = json.loads(subprocess.check_output([sys.executable, str(folder / "bm25.py")]))
if recorded["passages"] != computed["passages"]:
    sys.exit(f"{folder}/bm25.json: the passages differ from those that bm25.py makes")
scores = 0
for want, got in zip(recorded["queries"], computed["queries"], strict=True):
    for a, b in zip(want["scores"], got["scores"], strict=True):
        scores += 1
        if abs(a - b) > 1e-6:
            sys.exit(f"query {want['query']!r}: recorded {a}, bm25s computes {b}")
print(f"{folder}/bm25.json: {scores} scores agree with bm25s 0.3.16")
PY
