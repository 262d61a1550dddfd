#!/bin/sh
# Hold the Postgres store to a real PostgreSQL 17 with pgvector.
#
#   postgres.sh CACHE_DIR
#
# The server comes from Debian 13, which has pgvector, and is unpacked once into
# CACHE_DIR (690 MB); the mirror is the one this machine's own packages come
# from. It runs in that folder, listens on this machine alone, and ends with the
# tests. Needs root and the Debian package debootstrap.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 CACHE_DIR" >&2
	exit 2
fi
project=$(cd "$(dirname "$0")/../.." && pwd)
root=$1/postgres-17-trixie
if [ "$(id -u)" != 0 ]; then
	echo "$0: a Debian folder can be made and entered by root alone; run it as root" >&2
	exit 1
fi

# One installs, others wait. The marker is written last, so that half an
# installation is not taken for one.
mkdir -p "$1"
exec 9>"$1/postgres-17-trixie.lock"
flock 9
if [ ! -e "$root/complete" ]; then
	if ! command -v debootstrap >/dev/null; then
		echo "$0: debootstrap is missing; install it with apt-get install debootstrap" >&2
		exit 1
	fi
	# shellcheck disable=SC2016 # apt fills it in
	mirror=$(apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		sed -n 's|^Debian/Debian ||p' | head -n 1)
	if [ -z "$mirror" ]; then
		echo "$0: this machine's apt knows no Debian mirror; run apt-get update first" >&2
		exit 1
	fi
	rm -rf "$root"
	quick=$(command -v eatmydata || true) # nothing here need outlive a crash
	$quick debootstrap --variant=minbase --include=postgresql-17,postgresql-17-pgvector \
		trixie "$root" "$mirror" >"$1/postgres-17-trixie.log" 2>&1 || {
		tail -n 20 "$1/postgres-17-trixie.log" >&2
		exit 1
	}
	touch "$root/complete"
fi
exec 9>&- # what runs from here on shares nothing

inside() {
	chroot --userspec=postgres:postgres "$root" \
		env -i PATH=/usr/lib/postgresql/17/bin:/usr/bin:/bin LC_ALL=C.UTF-8 "$@"
}
chmod 1777 "$root/tmp"
chmod 666 "$root/dev/null"
data=/tmp/data.$$
stop() {
	inside pg_ctl -D "$data" -m immediate -w stop >/dev/null 2>&1 || true
	rm -rf "${root:?}$data" "${root:?}$data.log"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
inside initdb -D "$data" -A trust -U postgres --no-sync >/dev/null
# No fsync: the data is thrown away. Shared memory by mmap: the folder has no /dev/shm.
start() {
	port=$(shuf -i 20000-29999 -n 1)
	inside pg_ctl -D "$data" -w -l "$data.log" -o "-p $port -h 127.0.0.1 -k /tmp \
		-c dynamic_shared_memory_type=mmap -c fsync=off -c full_page_writes=off -c jit=off" start >/dev/null
}
# A port may be another's: then the next is tried.
start || start || start || {
	cat "$root$data.log" >&2
	exit 1
}

cd "$project"
go vet -tags peer ./internal/knowledge/...
HOLODECK_PEER_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres" \
	go test -count=1 -tags peer -run Postgres "${PEER_FLAGS:--v}" ./internal/knowledge/...
