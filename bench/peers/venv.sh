# Sourced by the checks that need packages of Python.
#
#   venv NAME PINS CACHE_DIR
#
# makes the variable venv the folder of an environment that has the packages. It
# is made once, in CACHE_DIR, and needs python3 with venv.
venv() {
	venv=$3/$1-$(echo "$2" | cksum | cut -d' ' -f1)
	# The marker is written last, so that half an installation is not taken for one.
	if [ ! -e "$venv/complete" ]; then
		rm -rf "$venv"
		mkdir -p "$3"
		python3 -m venv "$venv"
		# shellcheck disable=SC2086 # one word a package
		"$venv/bin/pip" install --quiet --disable-pip-version-check $2
		touch "$venv/complete"
	fi
}
