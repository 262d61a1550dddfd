#!/bin/sh
# Talk with an agent in a real terminal, of tmux: keys in, screen out, wide and
# narrow, resized, with pastes and interrupts and a hostile answer.
#
#   tmux.sh CACHE_DIR
#
# Pictures of the screen go to CACHE_DIR/terminal, to be looked at. Needs go, tmux
# and chromium.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 CACHE_DIR" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
for command in tmux chromium; do
	command -v "$command" >/dev/null || { echo "$0: needs $command" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$root" && CGO_ENABLED=0 go build -o "$work/holodeck" ./cmd/holodeck)
(cd "$root" && CGO_ENABLED=0 go build -o "$work/terminal" ./bench/peers/terminal)
"$work/terminal" "$work/holodeck" "$1/terminal"
