# The part `cluster` of scripts/bench: an archive of captures through fringebatch over a Slurm cluster of this machine
# alone, beside make, GNU parallel and Snakemake, which do the same sets by the same recipe. Sourced by it.
# shellcheck shell=bash disable=SC2034,SC2154	# its variables

cluster_sets=1000 cluster_rounds=3

# Sets of 6 images of 320 x 240: eight are simulated, the others are links to them.
make_archive() {
	local i

	mkdir archive archive/captures
	cp "$top/samples/recipe.mk" archive/
	for i in {1..8}; do
		fringesim -s 320x240 -p 60,66 -c 2 --noise 1 --seed "$i" -q -f -o "archive/captures/set$i/"
	done
	for ((i = 9; i <= cluster_sets; i++)); do
		cp -rl "archive/captures/set$((i % 8 + 1))" "archive/captures/set$i"
	done
	cat >archive/Snakefile <<'END'
import os
rule all:
    input: expand("out/{set}/depth.tif", set=os.listdir("captures"))
rule depth:
    input: "captures/{set}"
    output: "out/{set}/depth.tif"
    shell: "make -s -f recipe.mk RECIPE_IS_WRITTEN=1 -B {output}"
END
}

# Each leaves all of out/ made; SECONDS of the whole, with what the engine itself takes.
by_make() { make -s -f recipe.mk -j "$cores"; }
by_array() { fringebatch --wait --jobs 8 recipe.mk; }
by_parallel() {
	make -s -f recipe.mk stale |
		OMP_NUM_THREADS=1 parallel -j "$cores" make -s -f recipe.mk RECIPE_IS_WRITTEN=1 out/{}/depth.tif
}
# out/recipe is there before, as for the others' tasks
by_snakemake() {
	make -s -f recipe.mk stale >list
	OMP_NUM_THREADS=1 snakemake -q -j "$cores"
}

# engine NAME: its seconds
engine() {
	local start

	rm -rf archive/out archive/.snakemake
	sync
	start=$EPOCHREALTIME
	(cd archive && "by_$1") >"$1.log" 2>&1 || {
		echo "scripts/bench: $1 failed:" >&2
		tail -n 3 "$1.log" >&2
		return 1
	}
	awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", to - from }'
	[ "$(find archive/out -name depth.tif | wc -l)" -eq "$cluster_sets" ] || { cat "$1.log" >&2; return 1; }
}

# Seconds from the submission of an empty array to its first task: Slurm's own, which no array does without.
empty_array() {
	local start

	rm -f began
	start=$EPOCHREALTIME
	timeout 60 sbatch -Q --array=0-7 --output=/dev/null --wrap ": >'$PWD/began'" || return
	for _ in {1..6000}; do
		[ ! -e began ] || break
		sleep 0.01
	done
	awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf " %.2f", to - from }'
	timeout 60 scancel --name=wrap
	sleep 1.3	# its scheduler looks once a second
}

stop_cluster() { "$top/tests/slurm/down" "$work/cluster"; }

part_cluster() {
	local name round engines=(make)

	PATH=$top/scripts:$PATH
	heading "$cluster_sets sets of 6 images of 320 x 240, $cores cores: engines in turns, least of $cluster_rounds"
	make_archive
	if command -v sbatch >/dev/null; then
		trap 'stop_cluster; rm -rf "$work"' EXIT
		eval "$("$top/tests/slurm/up" "$work/cluster")"
		engines+=(array)
		echo "an empty array, from its submission to its first task:$(for round in {1..5}; do empty_array; done) s;" \
			"Slurm's scheduler looks once a second here, every 3 to 60 where a site has left it as it comes"
	fi
	for name in parallel snakemake; do
		if command -v "$name" >/dev/null; then engines+=("$name"); fi
	done
	for ((round = 0; round < cluster_rounds; round++)); do
		for name in "${engines[@]}"; do
			engine "$name" >>"$name.seconds"
		done
	done
	for name in "${engines[@]}"; do
		awk -v name="$name" -v sets="$cluster_sets" -v make="$(sort -g make.seconds | head -n 1)" '
			NR == 1 || $1 < least { least = $1 }
			{ all = all " " $1 }
			END {
				printf "%-12s %8.2f s, %6.1f sets/s, of make %.2f times", name, least, sets / least, least / make
				if (name == "array") printf ", bar 1.15: %s", least <= 1.15 * make ? "met" : "missed"
				print " (" substr(all, 2) ")"
			}' "$name.seconds"
	done
	heading "what is stale, nothing stale"
	for name in list nothing; do
		(cd archive && { [ "$name" = nothing ] || rm -rf out; } && /usr/bin/time -f "$name: %e s, %M kB" fringebatch \
			--dry-run recipe.mk >/dev/null) 2>&1 | tail -n 1
		[ "$name" = nothing ] || (cd archive && by_make) >/dev/null
	done
}
