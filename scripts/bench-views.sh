# The part `views` of scripts/bench: views to one cloud, beside NumPy and SciPy (cKDTree) on the same input, in turns.
# Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

part_views() {
	mkdir -p views
	/usr/bin/python3 -c 'import scipy' 2>/dev/null || install python3-scipy
	heading "views to one cloud; times of a run less those of one that only reads and writes"
	in_python views "$bin" views "$rounds"
	heading "two cameras behind one projector to one ordered frame"
	in_python splat "$bin" views "$rounds"
	in_python shapes "$bin" views "$rounds"
}
