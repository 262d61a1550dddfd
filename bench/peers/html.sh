#!/bin/sh
# Open HTML reports in headless Chromium and use them as a person does: filter,
# search, move by keys, print, on a wide and on a narrow screen, in light and in
# dark, with hostile texts and with 10,000 cases.
#
#   html.sh CACHE_DIR
#
# Screenshots go to CACHE_DIR/html-report, to be looked at. Needs go, chromium
# and python3.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 CACHE_DIR" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
for command in chromium python3; do
	command -v "$command" >/dev/null || { echo "$0: needs $command" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$root" && CGO_ENABLED=0 go build -o "$work/holodeck" ./cmd/holodeck)
mkdir -p "$1/html-report"
python3 "$root/bench/peers/htmlpage.py" "$work" "$1/html-report"
