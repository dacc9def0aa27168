# The part `build` of scripts/bench: processor time of a clean `make -j2 all` of the last commit, and of the commits
# that are named after it, in turns: `scripts/bench build COMMIT`. Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

part_build() {
	local commit spent turn turns=2 TIMEFORMAT='%U %S'

	[ "$target_ms" -ge 300 ] || turns=1	# --quick
	heading "make -j2 all: user + sys of all processes, in seconds, without ccache"
	for ((turn = 0; turn < turns; turn++)); do
		for commit in HEAD "${wanted[@]}"; do
			rm -rf tree
			mkdir tree
			git -C "$top" archive "$commit" | tar -x -C tree
			spent=$({ time make -C tree -j2 all >/dev/null 2>&1; } 2>&1)
			[ -x tree/bin/fringepipe ] || { echo "scripts/bench: $commit: make all failed" >&2; exit 1; }
			awk -v commit="$(git -C "$top" log -1 --format='%h %cs' "$commit")" '{ printf "  %-22s %6.0f s\n", commit, $1 + $2 }' \
				<<<"$spent"
		done
	done
}
