# The part `stereo` of scripts/bench: two cameras, from captures to disparity, beside what OpenCV needs for the same
# on the same input, in turns. Sourced by it.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154	# its variables and words

# make_rig W H: rig.json, two cameras with lenses that are turned towards each other, 200 mm apart.
make_rig() {
	awk -v w="$1" -v h="$2" 'BEGIN {
		f = w * 2000 / 2549
		printf "{\"K1\": [[%g, 0, %g], [0, %g, %g], [0, 0, 1]], \"d1\": [-0.1, 0.02, 0.0001, 0.0002, 0.01],\n", f, w / 2, f, h / 2
		printf " \"K2\": [[%g, 0, %g], [0, %g, %g], [0, 0, 1]], \"d2\": [-0.09, 0.02, 0.0001, 0.0002, 0.01],\n", \
			f * 1.005, w / 2 - 4, f * 1.005, h / 2 + 3
		print " \"R\": [[0.97517033, 0.0, 0.22145624], [0, 1, 0], [-0.22145624, 0, 0.97517033]], \"T_mm\": [-200, 3, 10],"
		printf " \"image_size\": [%d, %d]}\n", w, h }' >rig.json
}

# make_stereo SIZE: SIZE.SIDE.images (8 bits, three frequencies x 4 steps), .wrapped (two phases), .phases (two
# absolute phases) and .rectified of both cameras.
make_stereo() {
	local size=$1 side

	make_rig "${size%x*}" "${size#*x}"
	for side in left right; do
		"$bin/fringesim" -q -s "$size" --calib rig.json --view $side --distance 900 --scene sphere --shadow \
			--albedo noise --noise 2 --projector 1920x1440 -p 27.42857143,30,32.54237288 -n 4 -o "$size.$side.images.nrrd"
		phasewrap -q "$size.$side.images.nrrd" -o "$size.$side.all.nrrd"
		framecat --channels phase1,phase2 "$size.$side.all.nrrd" -o "$size.$side.wrapped.nrrd"
		unwrap2f -q --all "$size.$side.all.nrrd" | framecat --channels absphase1,absphase2 -o "$size.$side.phases.nrrd"
	done
}

# One core; what OpenCV does starts from maps that it has made before, as ours does from the second frame on.
part_stereo() {
	local size i ours partner=() moved=() target_ms=$((5 * target_ms))	# the first frame is slower

	install_peers
	for size in 800x600 2549x1920; do
		[ "$size" = 800x600 ] || [ "$rounds" -gt 3 ] || continue
		make_stereo "$size"
		heading "$size, two cameras, 1 core: times of ours and of OpenCV, which take the same input"
		for i in phases wrapped; do
			ours=${#case[@]}
			add "rectify, two $i" in_process 1 rectify --calib rig.json --side left "$size.left.$i.nrrd"
			partner[ours]='' moved[ours]=$(must_move rectify --calib rig.json --side left "$size.left.$i.nrrd")
			partner[${#case[@]}]=$ours
			add "  OpenCV remap, two planes" peer_one remap "$size.left.$i.nrrd"
		done
		ours=${#case[@]}
		add "rectify, two phases, cubic" in_process 1 rectify --calib rig.json --side left --interpolation cubic \
			"$size.left.phases.nrrd"
		partner[ours]='' moved[ours]=${moved[0]}
		partner[${#case[@]}]=$ours
		add "  OpenCV remap, two planes, cubic" peer_one remap_cubic "$size.left.phases.nrrd"
		measure
		for i in "${!case[@]}"; do
			if [ -z "${partner[i]}" ]; then
				line "$i" "$(pixels "$size")" "${moved[i]}"
			else
				ratio_line "$i" 0
			fi
		done
		forget
	done
}

peer_one() {
	/usr/bin/python3 "$top/scripts/bench-peers/peers.py" "$1" "$frames" 1 "$2"
}
