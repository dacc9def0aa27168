#!/usr/bin/env bash
# What the papers time, beside ours on the same sizes: scripts/bench sources this for its part papers.
#
# Their machines are of 2006 to 2015 and named in each line; this one is named at the head. Which of their
# seconds belong to reading, copying and display they seldom say. Ours go from memory to memory; the share of the
# copy bandwidth of the same run is what stays the same on a slower machine, or one where others are at work.
#
# shellcheck disable=SC2034,SC2154 # rounds, cores, large_frames and the like are of scripts/bench
# shellcheck disable=SC2046,SC2086 # the words of a case are split where they stand without quotes

# paper PAPER-SAYS: what is published for the case that add named last
paper() {
	published[${#case[@]} - 1]=$1
}

# on_all LABEL CASE-WORD ...: the case on a thread, on all, and on the GPU where there is one
on_all() {
	local threads

	for threads in $(thread_counts); do
		add "$1, threads $threads" in_process "$threads" "${@:2}"
	done
	! has_gpu || add "$1, GPU" in_process "$cores" -d "gpu${FRINGEPIPE_GPU:+:$FRINGEPIPE_GPU}" "${@:2}"
}

# measure_papers PIXELS: a line for each case, and below it what is published
measure_papers() {
	local i

	measure
	for i in "${!case[@]}"; do
		line "$i" "${1:-0}" "$(must_move $(words_of "$i"))"
		[ -z "${published[i]:-}" ] || printf '    published: %s\n' "${published[i]}"
	done
	forget
	published=()
}

# Zhang 2006, table 1: x y z by the calibrated formula, normals, a picture of the turned surface.
papers_zhang() {
	local size cpu gpu

	heading "Zhang 2006, table 1: absolute phase to x y z, normals and a picture
   stands in its place: a simulated relief that fills the picture, seen by a camera without lens errors; pictures
   are as large as the frame (theirs: not stated), turned ones with 1 sample a pixel, always by the processor"
	while read -r size cpu gpu; do
		make_pinhole "$size"
		on_all "$size to points, normals" phase2depth --calib "$size.json" "$size.pinhole.nrrd" , normals
		on_all "$size to a picture" phase2depth --calib "$size.json" "$size.pinhole.nrrd" , normals , shade
		on_all "$size, turned" phase2depth --calib "$size.json" "$size.pinhole.nrrd" , normals , \
			shade --view 20,10 --samples 1
		paper "$cpu frames/s (Pentium 4, 3.4 GHz, drawn by a Quadro FX 3450), $gpu (all on that GPU)"
		measure_papers "$(pixels "$size")"
	done <<-END
		532x500 6.00 25.56
		266x250 23.15 102.81
		177x167 51.06 222.56
		133x125 89.93 372.82
	END
}

# Karpinsky 2014, section 3: its seven steps.
papers_karpinsky() {
	local size=800x600

	make_inputs "$size"
	heading "Karpinsky 2014, section 3: six images of 800x600, step by step, $cores threads
   stands in its place: a simulated relief (projector 1200x800, periods 60 and 63, noise of 1 grey level)"
	while IFS=/ read -r name words; do
		add "$name" in_process "$cores" ${words//SIZE/$size}
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
	on_all "1 to 6" $(chain "$size")
	on_all "1 to 7, turned" $(chain "$size") , shade --view 20,10 --samples 1
	on_all "1 to 7, the camera's view" $(chain "$size") , shade
	paper "30 frames/s, capture at 180 Hz and display included (Quadro NVS 5400M); no times of single steps"
	measure_papers "$(pixels "$size")"
}

# The thesis, chapter 6.
papers_holovideo() {
	local size=512x512

	make_inputs "$size"
	heading "Thesis, chapter 6: Holovideo frames of 512x512, $cores threads
   stands in its place: depth of a simulated relief that fills the picture"
	add "encode" in_process "$cores" holoenc "$size.height.nrrd"
	paper "18 frames/s (GeForce 9400M; 17 in its conclusion), from a mesh that is drawn"
	add "decode" in_process "$cores" holodec "$size.holo.nrrd"
	add "decode, normals, picture" in_process "$cores" holodec "$size.holo.nrrd" , normals , shade
	paper "28 frames/s (GeForce 9400M), with normals and display"
	add "decode after JPEG 85, normals, picture" in_process "$cores" holodec "$size.holo444.nrrd" , normals , shade
	measure_papers "$(pixels "$size")"
}

# Liu 2015, table II, phase calculation.
papers_liu() {
	local size=2549x1920 large_frames=10	# the first ones are slower: their memory is fresh

	[ -e "$size.twelve.nrrd" ] || fringesim -q -s "$size" -n 4 -p 35,36,37 --projector 1260x800 --noise 1 -o "$size.twelve.nrrd"
	heading "Liu 2015, table II: twelve images of $size to absolute phase (four steps, heterodyne of three)
   stands in its place: a simulated relief; periods 35, 36, 37, since theirs are not stated"
	on_all "wrap, unwrap" phasewrap "$size.twelve.nrrd" , unwrap2f --method heterodyne
	paper "1060 to 1090 ms by OpenMP, 2750 to 2830 without (Xeon E5-2603), 210 with a Quadro 4000; one camera or
    two is not said"
	measure_papers "$(pixels "$size")"
}

part_papers() {
	local published=() name words large_frames=3

	part_machine
	fringepipe --devices
	papers_zhang
	papers_karpinsky
	! have holoenc || ! have holodec || papers_holovideo
	papers_liu
	! have undither3 || {
		mkdir -p papers
		in_python papers papers ${data:+"$data"}
	}
}
