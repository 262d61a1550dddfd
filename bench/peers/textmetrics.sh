#!/bin/sh
# Compute the scores of internal/eval/text/testdata/golden.json again with the
# packages that they came from; exit 1 where one differs by more than 1e-6.
#
#   textmetrics.sh CACHE_DIR         check the file
#   textmetrics.sh CACHE_DIR write   write the file anew, after adding inputs
#
# The packages are installed once, into CACHE_DIR. Needs python3 with venv.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: $0 CACHE_DIR [check|write]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/bench/peers/venv.sh"
venv textmetrics 'sacrebleu==2.6.0 rouge-score==0.1.2 nltk==3.10.4 regex==2026.11.19 numpy==2.4.6' "$1"

exec "$venv/bin/python" "$root/bench/peers/textmetrics.py" "${2:-check}" "$root/internal/eval/text/testdata/golden.json"
