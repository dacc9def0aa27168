#!/usr/bin/env bash
# The tables and headline figures of five papers beside ours on the same sizes: scripts/bench sources this for its part
# papers. What is published stands in scripts/bench-papers.txt alone, ours is measured here (times) and in
# scripts/bench-papers.py (sizes, errors); the summary at the end joins the two.
#
# Their machines are of 2006 to 2015 and named in each line; this one is named at the head. Which of their
# seconds belong to reading, copying and display they seldom say. Ours go from memory to memory.
#
# shellcheck disable=SC2034,SC2154 # rounds, cores, large_frames and the like are of scripts/bench
# shellcheck disable=SC2046,SC2086 # the words of a case are split where they stand without quotes

paper_tables=(zhang karpinsky ch3 ch5 ch6 ch7 ch8 ch9 liu2015 liu2016)

# figure_of KEY COLUMN: of the table of published figures; 2: place, 3: figure, 4: unit
figure_of() {
	awk -F ' [|] ' -v key="$1" -v column="$2" '$1 == key { print $column; found = 1 } END { exit !found }' \
		"$top/scripts/bench-papers.txt" || { echo "scripts/bench-papers.txt has no figure $1" >&2; return 1; }
}

# record KEY OURS WHERE: for the summary; OURS in the paper's unit
record() {
	printf '%s\t%s\t%s\n' "$@" >>"$measured"
}

# in_turn THREADS STAGE ... // STAGE ...: chains one after the other, the sum of their times
in_turn() {
	local threads=$1 words=() word

	for word in "${@:2}" //; do
		if [ "$word" != // ]; then
			words+=("$word")
			continue
		fi
		in_process "$threads" "${words[@]}" || exit
		words=()
	done | awk '{ sum += $1 } END { if (!NR) exit 1; printf "%.5f\n", sum }'
}

# row LABEL KEYS WORD ...: a line of the table that show_rows prints: the chain on one thread, on all, and on the GPU
# where there is one. KEYS: the published figures of this line, behind commas; -: none
row() {
	local threads

	rows+=("$1") row_keys+=("$2") row_first+=("${#case[@]}")
	for threads in $(thread_counts); do
		add "$1, threads $threads" in_turn "$threads" "${@:3}"
	done
	! has_gpu || add "$1, GPU" in_turn "$cores" -d "gpu${FRINGEPIPE_GPU:+:$FRINGEPIPE_GPU}" "${@:3}"
}

# in_unit UNIT MS: frames/s, or N: seconds of so many frames
in_unit() {
	awk -v unit="$1" -v ms="$2" 'BEGIN {
		v = unit == "frames/s" ? 1000 / ms : ms * unit / 1000
		printf v < 10 ? "%.4g" : "%.1f", v }'
}

# show_rows UNIT: measures and prints
show_rows() {
	local unit=$1 threads r i ours names=() key figures

	read -ra threads < <(thread_counts)
	for i in "${threads[@]}"; do
		names+=("$i thread$([ "$i" = 1 ] || echo s)")
	done
	! has_gpu || names+=("GPU")
	measure
	case $unit in
	1) printf '%-44s %24s' seconds published ;;
	[0-9]*) printf '%-44s %24s' "seconds of $unit images" published ;;
	*) printf '%-44s %24s' "$unit" published ;;
	esac
	printf ' %12s' "${names[@]}"
	printf '\n'
	for r in "${!rows[@]}"; do
		figures='' ours=()
		for key in ${row_keys[r]//,/ }; do
			[ "$key" = - ] || figures+=", $(figure_of "$key" 3)"
		done
		for i in "${!names[@]}"; do
			ours+=("$(in_unit "$unit" "$(middle ${ms[row_first[r] + i]})")")
		done
		printf '%-44s %24s' "${rows[r]}" "${figures#, }"
		printf ' %12s' "${ours[@]}"
		printf '\n'
		for key in ${row_keys[r]//,/ }; do
			[ "$key" = - ] || [ -n "${not_the_size:-}" ] ||
				record "$key" "${ours[${#threads[@]} - 1]}" "${rows[r]}, $cores threads"
		done
	done
	forget
	rows=() row_keys=() row_first=()
}

papers_zhang() {
	local size pinhole

	heading "zhang: absolute phase to x y z, normals and a picture (table 1); the published figures: their processor, their GPU
   stands in its place: a simulated relief that fills the picture, seen by a camera without lens errors; pictures
   are as large as the frame (theirs: not stated), turned ones with 1 sample a pixel"
	for size in 532x500 266x250 177x167 133x125; do
		make_pinhole "$size"
		pinhole="phase2depth --calib $size.json $size.pinhole.nrrd , normals"
		row "$size to points, normals" - $pinhole
		row "$size, and a picture, the camera's view" - $pinhole , shade
		row "$size, and a picture, turned" zhang.$size.cpu,zhang.$size.gpu $pinhole , shade --view 20,10 --samples 1
	done
	show_rows frames/s
	size=532x500
	"$bin/fringesim" -q -s $size --calib $size.json -k 2+1 -p 60 --distance 300 --noise 1 -o two.nrrd
	heading "zhang: three images (2+1) of 532x500, Gaussian 5, spatial unwrapping, x y z, normals, a picture"
	pinhole="phasewrap two.nrrd , gauss -n 5 , unwrapq --ref $size.pinhole.nrrd , phase2depth --calib $size.json , normals"
	row "the camera's view" zhang.whole $pinhole , shade
	row "turned" zhang.whole $pinhole , shade --view 20,10 --samples 1
	show_rows frames/s
}

papers_karpinsky() {
	local size=800x600 name words

	make_inputs "$size"
	heading "karpinsky: six images of 800x600, step by step (section 3; no times of single steps are published)
   stands in its place: a simulated relief (projector 1200x800, periods 60 and 63, noise of 1 grey level)"
	while IFS=/ read -r name words; do
		row "$name" - ${words//SIZE/$size}
	done <<-END
		1 wrap, two sets of three/phasewrap --as vector SIZE.images.nrrd
		2 Gaussian 11 x 11/gauss SIZE.vectors.nrrd
		3 unwrap, two frequencies/unwrap2f SIZE.smooth.nrrd
		4 median 1 x 5/median SIZE.absolute.nrrd
		5 depth, measured plane/phase2depth --ref SIZE.mended.nrrd -c 5 SIZE.mended.nrrd
		6 normals/normals SIZE.depth.nrrd
		7 a picture, turned/shade --view 20,10 --samples 1 SIZE.normals.nrrd
		7 a picture, the camera's view/shade SIZE.normals.nrrd
	END
	row "1 to 6" - $(chain "$size")
	row "1 to 7, the camera's view" karpinsky.chain $(chain "$size") , shade
	row "1 to 7, turned" karpinsky.chain $(chain "$size") , shade --view 20,10 --samples 1
	show_rows frames/s
}

papers_ch3() {
	local size=640x480 points

	make_pinhole "$size"
	"$bin/fringesim" -q -s $size --calib $size.json -p 60 --distance 300 --noise 1 -o three.nrrd
	heading "ch3: three images of 640x480, spatial unwrapping, x y z, normals, a picture (fig. 3.11)"
	points="phasewrap three.nrrd , unwrapq --ref $size.pinhole.nrrd , phase2depth --calib $size.json , normals"
	row "the camera's view" ch3.whole $points , shade
	row "turned" ch3.whole $points , shade --view 20,10 --samples 1
	show_rows frames/s
}

papers_ch6() {
	local size=512x512

	make_inputs "$size"
	heading "ch6: Holovideo frames of 512x512
   stands in its place: depth of a simulated relief that fills the picture"
	row "encode" ch6.encode holoenc "$size.height.nrrd"
	row "decode" - holodec "$size.holo.nrrd"
	row "decode, normals, picture, turned" ch6.decode holodec "$size.holo.nrrd" , normals , shade --view 20,10 --samples 1
	row "decode, normals, picture, the camera's view" ch6.decode holodec "$size.holo.nrrd" , normals , shade
	row "decode after JPEG 85, normals, picture" - holodec "$size.holo444.nrrd" , normals , shade
	show_rows frames/s
}

# portal_camera SIDE: the words that make points of a camera's six images
portal_camera() {
	echo "phasewrap --min-amplitude 6 portal.$1.nrrd , gauss -n 7 , unwrap2f , median ," \
		"phase2depth --calib portal.json --camera $1 --frame beamer"
}

# The rig of the sample portal, its cameras 800x600. portal.SIDE.nrrd: six images; portal.true.SIDE.nrrd: true points.
make_portal() {
	local side

	sed -e 's/608/1520/g; s/159\.5/399.5/g; s/119\.5/299.5/g; s/\[320, 240\]/[800, 600]/' "$top/samples/portal.json" >portal.json
	for side in left right; do
		"$bin/fringesim" -q --calib portal.json --view $side --scene relief --height 50 --shadow --noise 1 -p 57,61 \
			--truth portal.whole.nrrd -o portal.$side.nrrd
		framecat -f -c x,y,z,absphase portal.whole.nrrd -o portal.true.$side.nrrd
		fringepipe -q $(portal_camera $side) -o portal.points.$side.nrrd
	done
	rm portal.whole.nrrd
}

papers_ch9() {
	local merge

	make_portal
	merge="splatxyz --splat 512x512 --onto ortho --calib portal.json --frame beamer --view portal.points.right.nrrd"
	heading "ch9: two cameras of 800x600 behind one projector, six images each, to one Holoimage with a texture
   stands in its place: a simulated relief with shadows; without the PNG and the network"
	row "a camera, six images to points" - $(portal_camera right)
	row "points of both, merged" - $merge portal.points.left.nrrd
	row "all: both cameras, merged, a Holoimage" ch9.whole $(portal_camera right) // $(portal_camera left) , $merge , \
		holoenc --texture texture
	show_rows frames/s
}

# record_clouds <TABLE: of cloud_table the rows whose noise is known
record_clouds() {
	local what points share single='' of_vote='' kept=''

	while IFS='|' read -r what points share; do
		case $what in
		"a single map")
			single=$points
			record liu2015.noise.single "$share" "simulated, noise of 2 grey levels" ;;
		"the paper's vote") kept=$points of_vote=$share ;;
		ours)
			record liu2015.noise.vote "$of_vote" "the paper's vote; phasematch as it is: $share %"
			record liu2015.kept "$(awk -v all="$single" -v kept="$kept" 'BEGIN { printf "%.1f", 100 * kept / all }')" \
				"the paper's vote; phasematch as it is: $(awk -v all="$single" -v kept="$points" 'BEGIN {
				printf "%.1f", 100 * kept / all }') %" ;;
		*,*)
			record liu2015.noise.vote "$share" "phasematch as it is, ${what%%,*}" ;;
		esac
	done < <(sed -nE -e 's/^(angel|david)(,.*), ours +([0-9]+) points, noise +([0-9.]+) %$/\1\2|\3|\4/p' -e 's/^simulated, noise 2, (.*[^ ]) +([0-9]+) points, noise +([0-9.]+) %$/\1|\2|\3/p')
}

papers_liu2015() {
	local size=2549x1920 large_frames=10 rounds=3 not_the_size=''	# the first frames are slower: their memory is fresh

	if [ "$target_ms" -lt 300 ]; then
		size=800x600 not_the_size=yes
	fi
	make_stereo "$size"
	heading "liu2015: twelve images of $size to absolute phase (four steps, three periods), and matching (table II)
   stands in its place: a simulated sphere on a plane, albedo and shadows; the published figures: a core of a Xeon
   E5-2603, all by OpenMP, with a Quadro 4000, the quicker one of their two objects"
	[ -z "$not_the_size" ] || echo "   --quick: not their size, 2549x1920; the summary leaves these out"
	row "wrap, unwrap by heterodyne" liu2015.phase.cpu,liu2015.phase.openmp,liu2015.phase.cuda \
		phasewrap "$size.left.images.nrrd" , unwrap2f --method heterodyne
	row "match a single map" liu2015.single.cpu,liu2015.single.openmp,liu2015.single.cuda \
		phasematch --right "$size.right.one.nrrd" "$size.left.one.nrrd"
	row "match three maps, their vote" liu2015.vote.cpu,liu2015.vote.openmp,liu2015.vote.cuda \
		phasematch --vote 0.5 --both-ways 0 --support 0 --right "$size.right.rectified.nrrd" "$size.left.rectified.nrrd"
	row "match three maps, as one coordinate" - \
		phasematch --right "$size.right.rectified.nrrd" "$size.left.rectified.nrrd"
	show_rows 1
	if /usr/bin/python3 -c 'import cv2, scipy' 2>/dev/null; then
		cloud_table | tee clouds
		record_clouds <clouds
	else
		echo "table I, noise points: OpenCV and SciPy are not here; scripts/bench --peers papers liu2015 installs them"
	fi
}

# points_an_image FILE: those that steger finds
points_an_image() {
	steger -q "$1" | frameinfo -q | awk '/table of/ { n += $5; k++ } END { printf "%d", n / k }'
}

# Two images each of the paper's first head (table 1; the plane's distance with the sign that puts it before the camera):
# cylinders with waves that give as many points an image as its quickest scan and as its slowest, 243099 and 551879 in
# 640 images, and a relief whose line crosses the picture.
papers_liu2016() {
	local options=(--noise 2 --frames 2 --stage-step 2) few=few.nrrd many=many.nrrd full=full.nrrd

	cat >head.json <<-'END'
		{ "camera_K": [[2235.868, 0, 634.303], [0, 2235.772, 484.661], [0, 0, 1]], "camera_size": [1292, 964],
		"camera_dist": [-0.086, 0.112, -0.0005, 0.0003, 0], "laser_plane": [-0.005, -0.873, 0.487, -283.815],
		"scan_direction": [-0.011, 0.886, -0.463] }
	END
	"$bin/fringesim" -q --laser --calib head.json --scene cylinder --radius 37 "${options[@]}" -o $few
	"$bin/fringesim" -q --laser --calib head.json --scene cylinder --radius 107 "${options[@]}" -o $many
	"$bin/fringesim" -q --laser --calib head.json --scene relief --height 50 "${options[@]}" -o $full
	heading "liu2016: centres of the laser's line in 640 images of 1292x964, sigma 2 (table 2)
   stand in their place: simulated lines of the paper's head 1, noise of 2 grey levels; published: 380 points an image
   in panda, the quickest scan, 862 in human, the slowest; i7-3770, GTX TITAN X"
	row "steger, $(points_an_image $few) points an image" liu2016.cpu,liu2016.gpu.least steger $few
	row "steger, $(points_an_image $many) points an image" liu2016.gpu.most steger $many
	row "steger, $(points_an_image $full), a line across each image" - steger $full
	row "the same --plain, the paper's point" - steger --plain $full
	row "the same --no-skip, every tile is filtered" - steger --no-skip $full
	show_rows 640
}

part_papers() {
	local measured=$work/papers.measured rows=() row_keys=() row_first=() name large_frames=3 tables=("${paper_names[@]}")
	local rounds=$((rounds < 5 ? rounds : 5))

	[ ${#tables[@]} -gt 0 ] || tables=("${paper_tables[@]}")
	mkdir -p papers
	: >"$measured"
	part_machine
	fringepipe --devices
	[ "$target_ms" -ge 300 ] || echo "--quick: few frames, whose memory is fresh: the times below are too long, the rest is right"
	for name in "${tables[@]}"; do
		! declare -F "papers_$name" >/dev/null || "papers_$name"
		in_python papers papers "$measured" ${data:+--data "$data"} --table "$name"
	done
	in_python papers papers "$measured" --summary "${tables[@]}"
}
