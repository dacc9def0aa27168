# What every .bats file loads: tools on PATH, an empty folder to work in, NumPy.
bats_require_minimum_version 1.5.0
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=${FRINGEPIPE_BIN:-$top/bin}:$PATH
export PYTHONPATH=$top/tests LC_ALL=C
set -o pipefail

if python3 -c 'import numpy' 2>/dev/null; then python=python3; else python=/usr/bin/python3; fi

# py CODE [ARG ...]: runs Python with numpy as np and the helpers of tests/frames.py.
py() {
	local code=$1
	shift
	"$python" -c "import sys; import numpy as np; from frames import *
$code" "$@"
}

# fails CODE MESSAGE COMMAND ...: the command exits with CODE and says exactly one line, with MESSAGE in it.
fails() {
	local code=$1 message=$2
	shift 2
	run --separate-stderr "$@"
	# shellcheck disable=SC2154
	if [ "$status" -ne "$code" ] || [[ $stderr != *"$message"* ]] ||
		[ "$(wc -l <<<"$stderr")" -ne 1 ]; then
		printf 'exit %s, wanted %s; said: %s\nwanted: %s\n' "$status" "$code" "$stderr" "$message"
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

# FRINGEPIPE_DATA or skip.
need_data() {
	data=${FRINGEPIPE_DATA:-$top/../shared/data}
	[ -d "$data/${1:-}" ] || skip "no real captures at FRINGEPIPE_DATA"
}

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
}

teardown() {
	cd "$top" || return 1
	rm -rf "$work"
}

need_gpu() {
	FRINGEPIPE_GPU_CHECK=1 fringepipe --devices | grep -q '^gpu:' ||
		skip "no Vulkan device here"
}
