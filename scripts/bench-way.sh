# The part `way` of scripts/bench: from files to files, in memory's file system: what a process of its own costs that
# takes one set, and how well decoding, computing and writing overlap. Sourced by it.
# shellcheck shell=bash disable=SC2034,SC2154	# its variables

part_way() {
	local size sets=60 times=11 folder

	[ "$target_ms" -ge 300 ] || { sets=6 times=3; }	# --quick
	folder=$(mktemp -d -p /dev/shm 2>/dev/null) || folder=$(mktemp -d)
	# shellcheck disable=SC2064	# it is this folder
	trap "rm -rf '$work' '$folder'" EXIT
	mkdir "$folder/rig" "$folder/640x480" "$folder/800x600"
	calibration 640x480 0,0,0,0,0 >"$folder/rig.json"
	simulate 640x480 --calib "$folder/rig.json" --distance 300 --noise 1 -o "$folder/rig/%02d.png"
	for size in 640x480 800x600; do
		make_images $size
		framecat -q $size.images.nrrd -o "$folder/$size/%02d.png"
	done
	in_python way "$folder" "$times" "$sets"
}
