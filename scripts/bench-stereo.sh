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
# absolute phases) and .rectified (three) of both cameras; SIZE.textures, both pictures without fringes.
make_stereo() {
	local size=$1 side

	make_rig "${size%x*}" "${size#*x}"
	for side in left right; do
		"$bin/fringesim" -q -s "$size" --calib rig.json --view $side --distance 900 --scene sphere --shadow \
			--albedo noise --noise 2 --projector 1920x1440 -p 27.42857143,30,32.54237288 -n 4 -o "$size.$side.images.nrrd"
		phasewrap -q "$size.$side.images.nrrd" -o "$size.$side.all.nrrd"
		framecat --channels phase1,phase2 "$size.$side.all.nrrd" -o "$size.$side.wrapped.nrrd"
		unwrap2f -q --all "$size.$side.all.nrrd" | framecat --channels absphase1,absphase2 -o "$size.$side.phases.nrrd"
		unwrap2f -q --all "$size.$side.all.nrrd" | rectify -q --calib rig.json --side $side -o "$size.$side.whole.nrrd"
		framecat --channels absphase1,absphase2,absphase3 "$size.$side.whole.nrrd" -o "$size.$side.rectified.nrrd"
		framecat --channels absphase "$size.$side.whole.nrrd" -o "$size.$side.one.nrrd"
		framecat --channels texture "$size.$side.whole.nrrd" -o "$size.$side.texture.nrrd"
	done
	framecat "$size.left.texture.nrrd" "$size.right.texture.nrrd" -o "$size.textures.nrrd"
}

# matching SIZE WORD ...: phasematch of three maps.
add_matching() {
	add "$2" in_process 1 phasematch "${@:3}" --right "$1.right.rectified.nrrd" "$1.left.rectified.nrrd"
}

# time_of FRAMES WORD ...: seconds of all cores, with the system's.
time_of() {
	local TIMEFORMAT='%U %S'

	{ time FRINGEPIPE_REPEAT=$1 "$bin/fringepipe" -q -j 1 -o null: "${@:2}" >rest 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

# cpu_line LABEL BAR WORD ...: milliseconds of a core per frame, of 9 frames less 1, without the reading of files; the
# least of three.
cpu_line() {
	local i took=()

	for i in 1 2 3; do
		took+=("$(awk -v one="$(time_of 1 "${@:3}")" -v all="$(time_of 9 "${@:3}")" 'BEGIN { print 1000 * (all - one) / 8 }')")
	done
	awk -v label="$1" -v bar="$2" -v ms="$(least "${took[*]}")" 'BEGIN {
		printf "%-38s %9.1f ms of a core, bar %g: %s\n", label, ms, bar, ms <= bar ? "met" : "missed" }'
}

# Matching and the whole process.
match_lines() {
	local size=$1 i

	heading "$size, matching, 1 core: three maps, both ways and support unless it says less; cores' time is the bar's"
	add_matching "$size" "phasematch, three maps"
	add_matching "$size" "  without both ways, support" --both-ways 0 --support 0
	add_matching "$size" "  the paper's vote, without these" --vote 0.5 --both-ways 0 --support 0
	add "phasematch, one map" in_process 1 phasematch --right "$size.right.one.nrrd" "$size.left.one.nrrd"
	add "  OpenCV StereoSGBM, white images" peer_one block_matching "$size.textures.nrrd"
	add "left: 12 images to points" in_process 1 phasewrap "$size.left.images.nrrd" , unwrap2f --all , \
		rectify --calib rig.json --side left , phasematch --right "$size.right.whole.nrrd"
	add "right: 12 images to rectified phases" in_process 1 phasewrap "$size.right.images.nrrd" , unwrap2f --all , \
		rectify --calib rig.json --side right
	measure
	for i in "${!case[@]}"; do
		line "$i" "$(pixels "$size")" 0
	done
	printf '%-38s %9.3f ms, 1 core\n' "the whole process: the last two" \
		"$(awk -v a="$(middle ${ms[5]})" -v b="$(middle ${ms[6]})" 'BEGIN { print a + b }')"
	[ "$size" != 2549x1920 ] ||
		cpu_line "phasematch, three maps" 150 phasematch --right "$size.right.rectified.nrrd" "$size.left.rectified.nrrd"
	[ "$size" != 2549x1920 ] || cat <<-END
		  Liu 2015, 2549x1920, Xeon E5-2603 and Quadro 4000: phases 2.83 s on the CPU, 0.21 s on the GPU; matching of three
		  maps 10 to 15 s on one core, 4.6 to 8.9 s by OpenMP, 0.76 s on the GPU
	END
	forget
}

# Table I of Liu 2015: cloud LABEL FILE
cloud_line() {
	/usr/bin/python3 "$top/scripts/bench-peers/stereo_noise.py" "$2" |
		awk -v label="$1" '{ printf "%-50s %9d points, noise %6.2f %%\n", label, $1, $2 }'
}

# cloud_lines LABEL OPTION ...: of SIDE.cloud.nrrd and SIDE.single.nrrd.
cloud_lines() {
	local label=$1

	shift
	phasematch -q "$@" --both-ways 0 --support 0 --right right.single.nrrd left.single.nrrd -o cloud.nrrd
	cloud_line "$label, a single map" cloud.nrrd
	if phasematch -q "$@" --vote 0.5 --both-ways 0 --support 0 --right right.cloud.nrrd left.cloud.nrrd -o cloud.nrrd 2>vote; then
		cloud_line "$label, the paper's vote" cloud.nrrd
	fi
	phasematch -q "$@" --right right.cloud.nrrd left.cloud.nrrd -o cloud.nrrd
	cloud_line "$label, ours" cloud.nrrd
}

cloud_table() {
	local noise side set

	heading "Liu 2015, table I: points and noise by the k-neighbourhood; there $(figure_of liu2015.noise.single 3) % by a single map, $(
		figure_of liu2015.noise.vote 3) % by its vote, which keeps $(figure_of liu2015.kept 3) % of the points"
	make_rig 800 600
	for noise in 2 5; do
		for side in left right; do
			"$bin/fringesim" -q -s 800x600 --calib rig.json --view $side --distance 900 --scene sphere --shadow --albedo noise \
				--noise $noise --projector 1920x1440 -p 27.42857143,30,32.54237288 -n 4 -o images.nrrd
			fringepipe -q phasewrap --min-amplitude 5 images.nrrd , unwrap2f --all , rectify --calib rig.json --side $side -o $side.cloud.nrrd
			framecat --channels absphase,texture $side.cloud.nrrd -o $side.single.nrrd
		done
		cloud_lines "simulated, noise $noise"
	done
	[ -n "$data" ] || return 0
	for side in left right; do
		set=$data/dtu_angel_2freq_rectified/$side
		fringepipe -q phasewrap -n 8 -p 1920/40,1920/41 --sign -1 --min-amplitude 5 "$set"/f40_*.png "$set"/f41_*.png , \
			unwrap2f --all -o $side.cloud.nrrd
		framecat --channels absphase,texture $side.cloud.nrrd -o $side.single.nrrd
	done
	cloud_lines "angel, two frequencies" --assume-rectified
	sed 's/_uncropped_half"/"/' "$data/slsdk_david_stereo/calib.json" >david.json
	for side in left right; do
		set=$data/slsdk_david_stereo/$side
		fringepipe -q rectify --calib david.json --side $side --size 1024x768 "$set"/phase_*.png "$set"/gray_*.png , \
			phasewrap -n 4 -p 64 -G 6 --gray-cell half --phase-origin 180 --min-amplitude 9 , unwrap2f -o $side.cloud.nrrd
		cp $side.cloud.nrrd $side.single.nrrd
	done
	cloud_lines "david, Gray code"
}

# One core; what OpenCV does starts from maps that it has made before, as ours does from the second frame on.
part_stereo() {
	local size i ours partner=() moved=() sizes=(800x600)

	[ "$rounds" -le 3 ] || sizes+=(2549x1920)
	# the first frame is slower; the loads of 26 cases are large
	local rounds=3 target_ms=$((2 * target_ms))

	install_peers
	for size in "${sizes[@]}"; do
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
		match_lines "$size"
	done
	cloud_table
}

peer_one() {
	/usr/bin/python3 "$top/scripts/bench-peers/peers.py" "$1" "$frames" 1 "$2"
}
