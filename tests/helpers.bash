# What every .bats file loads: tools on PATH, an empty folder to work in, NumPy.
bats_require_minimum_version 1.5.0
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=${FRINGEPIPE_BIN:-$top/bin}:$PATH
export PYTHONPATH=$top/tests LC_ALL=${FRINGEPIPE_LOCALE:-C}
export FRINGEPIPE_SYNC=no		# nobody wants these files after a power cut
set -o pipefail

# a Python with NumPy and Pillow: the first one in PATH, else Debian's (scripts/setup). bats reads a file once before
# its tests: they take what was found there.
if [ -z "${FRINGEPIPE_PYTHON:-}" ]; then
	FRINGEPIPE_PYTHON=/usr/bin/python3
	if python3 -c 'import numpy, PIL' 2>/dev/null; then FRINGEPIPE_PYTHON=python3; fi
	export FRINGEPIPE_PYTHON
fi
python=$FRINGEPIPE_PYTHON

# words before a command that another user is to run; root may do that, and sudo without a password
other_user=(setpriv --reuid 65534 --clear-groups env "PATH=$PATH")
[ "$EUID" -eq 0 ] || other_user=(sudo -n "${other_user[@]}")

# py CODE [ARG ...]: runs Python with sys, numpy as np and the helpers of tests/frames.py.
py() {
	local code=$1
	shift
	"$python" -c "from frames import *
$code" "$@"
}

# has [OPTION OF GREP ...] PATTERN: standard input has such a line. Reads all of it: `grep -q` stops at the first
# one, its writer dies by SIGPIPE if it is not through by then, and pipefail makes that the pipe's status.
has() {
	[ "$(grep -c "$@")" -gt 0 ]
}

# fails CODE MESSAGE COMMAND ...: the command exits with CODE and prints exactly one message, with MESSAGE in it.
fails() {
	local code=$1 message=$2
	shift 2
	run --separate-stderr "$@"
	# shellcheck disable=SC2154
	if [ "$status" -ne "$code" ] || [[ $stderr != *"$message"* ]] ||
		[ "$(wc -l <<<"$stderr")" -ne 1 ]; then
		printf 'exit %s, wanted %s; printed: %s\nwanted: %s\n' "$status" "$code" "$stderr" "$message"
		return 1
	fi
}

# may_be_empty COMMAND ...: the command writes its frames, whether a pixel of them is valid or not.
may_be_empty() {
	run --separate-stderr "$@"
	if [ "$status" -ne 0 ] && [[ $status != 1 || $stderr != *"no "*" valid"* ]]; then
		printf 'exit %s; printed: %s\n' "$status" "$stderr"
		return 1
	fi
}

# silent COMMAND ...: the command exits with 0 and prints nothing.
silent() {
	run "$@"
	if [ "$status" -ne 0 ] || [ -n "$output" ]; then
		printf '%s\nexit %s, wanted 0 and nothing printed; printed: %s\n' "$*" "$status" "$output"
		return 1
	fi
}

# cpu_levels: the levels of instructions that this machine has, by their names in FRINGEPIPE_CPU.
cpu_levels() {
	local level message
	for level in v2 v3 v4 plain; do
		if message=$(FRINGEPIPE_CPU=$level median --version 2>&1); then
			echo "$level"
		elif [[ $message != *"names no instruction level"* && $message != *"this machine has no"* ]]; then
			echo "$level: $message" >&2
			return 1
		fi
	done
}

# A test may be skipped for want of captures, of a GPU, of a program to compare with (OpenCV, Octave) or of another user,
# and of nothing else: tests/run compares the reason with the machine. What else a test needs, scripts/setup installs.

# have_data FOLDER: sets data to the folder of the captures; false without one. A folder of captures
# that lacks FOLDER is an error.
have_data() {
	data=${FRINGEPIPE_DATA:-$top/../shared/data}
	[ -d "$data" ] || return 1
	if [ ! -d "$data/$1" ]; then
		echo "$data has no folder $1"
		exit 1
	fi
}

need_data() {
	if ! have_data "$1"; then skip "no captures: $data"; fi
}

need_other_user() {
	[ "$EUID" -eq 0 ] || sudo -n true 2>/dev/null || skip "not root: nothing can be run as another user"
}

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
}

teardown() {
	cd "$top" || return 1
	rm -rf "$work"
}

# sanitized: the tools are built with a sanitizer (make SAN=...).
sanitized() {
	nm "$(command -v fringepipe)" | grep '__[at]san_init' >/dev/null
}

# memory_limit KIB COMMAND ...: the command within so much address space. A sanitizer reserves terabytes
# of it; there the limit is one of memory in use, which the sanitizer itself watches.
memory_limit() {
	local kib=$1
	shift
	if sanitized; then
		ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}hard_rss_limit_mb=$((kib / 1024 + 200)) "$@"
	else
		(ulimit -v "$kib" && exec "$@")
	fi
}

# what tests/files_shim.c takes from the environment holds for COMMAND in: shimmed COMMAND ...
make_shim() {
	if sanitized; then return 1; fi
	gcc -O1 -shared -fPIC -o "$work/shim.so" "$top/tests/files_shim.c" -ldl
}

need_shim() {
	make_shim || skip "sanitized tools: their runtime must be loaded first"
}

shimmed() {
	LD_PRELOAD=$work/shim.so "$@"
}

need_gpu() {
	local devices
	devices=$(fringepipe --devices)
	[[ $devices == *$'\ngpu:'* ]] || skip "no GPU: fringepipe --devices lists none"
}

# Leaves only the driver that computes on the processor, whatever other devices the machine has.
use_llvmpipe() {
	local drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
	export VK_DRIVER_FILES=${drivers[0]} VK_ICD_FILENAMES=${drivers[0]}
}
