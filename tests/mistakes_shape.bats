load mistakes.bash

# Mistakes behind the phase: fringe orders, origins, calibrations.

@test "mistakes: Gray planes in another order, another cell, origin or sign; periods exchanged: real sets" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray box=$data/weiyang_box_3freq_35_36_37
	decode() {	# PLANES [OPTION ...]
		local planes=$1
		shift
		# shellcheck disable=SC2086
		fringepipe phasewrap -n 12 -p 60 --gray 6 --gray-cell half --phase-origin 180 "$@" \
			"$eye"/phase_*.png $planes , unwrap2f -o a.nrrd
	}
	gray="$eye/gray_0.png $eye/gray_1.png $eye/gray_2.png $eye/gray_3.png $eye/gray_4.png $eye/gray_5.png"
	right decode "$gray"
	right decode "$gray" --min-amplitude 8 --min-modulation 0.1
	mistake "the most significant first" decode "$(printf '%s\n' $gray | tac | tr '\n' ' ')"
	mistake "the most significant first" decode "$eye/gray_1.png $eye/gray_0.png ${gray#*gray_1.png}"
	mistake "the most significant first" decode "${gray/gray_2.png $eye\/gray_3/gray_3.png $eye\/gray_2}"
	mistake "--gray-cell" decode "$gray" --gray-cell period
	mistake "fringe orders" decode "$gray" --gray-cell column
	mistake "--phase-origin" decode "$gray" --phase-origin 0
	mistake "--sign" decode "$gray" --sign -1
	for side in left right; do
		right fringepipe phasewrap -n 4 -G 6 -p 64 --gray-cell half --phase-origin 180 \
			"$data/slsdk_david_stereo/$side"/phase_*.png "$data/slsdk_david_stereo/$side"/gray_*.png , unwrap2f -o a.nrrd
		mistake "--phase-origin" fringepipe phasewrap -n 4 -G 6 -p 64 --gray-cell half \
			"$data/slsdk_david_stereo/$side"/phase_*.png "$data/slsdk_david_stereo/$side"/gray_*.png , unwrap2f -o a.nrrd
	done
	right fringepipe phasewrap -n 8 -p 24.4,23.7222222,23.0810811 --sign -1 "$box"/f3[567]_*.png , unwrap2f -o a.nrrd
	mistake "wrong or swapped periods" fringepipe phasewrap -n 8 -p 23.7222222,24.4,23.0810811 --sign -1 \
		"$box"/f3[567]_*.png , unwrap2f -o a.nrrd
	for side in left right; do
		angel=$data/dtu_angel_2freq_rectified/$side
		right fringepipe phasewrap -n 8 -p 48,46.8292683 --sign -1 "$angel"/f4[01]_*.png , unwrap2f -u 1 -o a.nrrd
		mistake "periods" fringepipe phasewrap -n 8 -p 46.8292683,48 --sign -1 "$angel"/f4[01]_*.png , \
			unwrap2f -u 1 -o a.nrrd
		mistake "periods" fringepipe phasewrap -n 8 -p 48,45 --sign -1 "$angel"/f4[01]_*.png , unwrap2f -u 1 -o a.nrrd
	done
}

@test "mistakes: orders are right at edges of objects, in shadows and noise" {
	for scene in relief "steps --height 40" "sphere --radius 30" "tilt --height 60" "relief --shadow --height 60"; do
		for kind in "-p 60,63 -n 3" "-p 40,41 -n 4" "-p 50 -n 4 --gray half" "-p 32 -n 6 --gray period"; do
			# shellcheck disable=SC2086
			fringesim -q -s 400x300 --projector 1200x800 --scene $scene $kind --noise 1 -o set.nrrd
			right fringepipe phasewrap --min-amplitude 5 set.nrrd , unwrap2f -o a.nrrd
		done
	done
}

# rig WxH: a calibration of 1280x960 px and an absolute phase that it measures.
rig() {
	py 'import json
json.dump({"camera_K": [[1900, 0, 640], [0, 1900, 480], [0, 0, 1]], "projector_K": [[1400, 0, 600], [0, 1400, 400], [0, 0, 1]],
	"R_cam_to_proj": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T_cam_to_proj_mm": [-120, 0, 0],
	"camera_size": [1280, 960], "projector_size": [1200, 800]}, open("c.json", "w"))'
	fringesim -q --calib c.json --scene plane --distance 700 -p 60,63 -n 3 --noise 1 |
		phasewrap -q | unwrap2f -q -o a.nrrd
}

@test "mistakes: frames and calibrations that do not belong together" {
	rig
	right phase2depth --calib c.json a.nrrd -o x.nrrd
	framecat --delete 'origin_px,bin' a.nrrd -o bare.nrrd
	right phase2depth --calib c.json bare.nrrd -o whole.nrrd
	framecat --bin 2 bare.nrrd | framecat --delete bin,origin_px -o half.nrrd
	mistake "say --bin 2" phase2depth --calib c.json half.nrrd -o x.nrrd
	right phase2depth --calib c.json --bin 2 half.nrrd -o half_x.nrrd
	py '
whole, half = read_frame("whole.nrrd"), read_frame("half_x.nrrd")
expect(half.meta["bin"] == "2 2", half.meta)
# depth goes with 1/phase: values of 4 pixels that scatter by e mm have a mean that is off by e^2/700 mm,
# at e = 1 mm by 0.0014; half a pixel beside its place x and y would be off by 0.18 mm
four = {n: whole[n].astype(float).reshape(480, 2, 640, 2) for n in "xyz"}
seen = (np.abs(four["z"] - 700) < 1).all((1, 3))	# not beside the projected image
expect(seen.mean() > 0.8, seen.mean())
for n in "xyz": expect(np.abs(four[n].mean((1, 3)) - half[n])[seen] < 0.002, n)'
	framecat --crop 100,50,600,700 bare.nrrd | framecat --delete origin_px -o crop.nrrd
	mistake "by --origin" phase2depth --calib c.json crop.nrrd -o x.nrrd
	right phase2depth --calib c.json --origin 100,50 crop.nrrd -o x.nrrd
	mistake "does not lie on the calibration's camera of 1280 x 960" phase2depth --calib c.json --origin 900,50 crop.nrrd -o y.nrrd
	[ "$status" -eq 1 ]
	framecat --crop 100,50,600,700 bare.nrrd -o keyed.nrrd
	right phase2depth --calib c.json keyed.nrrd -o x.nrrd
	right phase2depth --calib c.json --origin 100,50 keyed.nrrd -o x.nrrd
	fails 1 "the frame itself says origin_px 100 50" phase2depth --calib c.json --origin 10,5 keyed.nrrd -o y.nrrd
	fails 1 "the frame itself says origin_px 100 50" phase2depth --ref ideal --ref-plane 1,0.1,0 -c 5 --origin 10,5 keyed.nrrd -o y.nrrd
	sed 's/120, 0, 0/0.12, 0, 0/' c.json >metres.json
	sed 's/-120, 0, 0/-120000, 0, 0/' c.json >um.json
	mistake "is T in micrometres" phase2depth --calib um.json a.nrrd -o x.nrrd
	mistake "is T in metres" phase2depth --calib metres.json a.nrrd -o x.nrrd
	fails 1 "only a phase that varies along x measures" phase2depth --calib c.json --axis y a.nrrd -o y.nrrd
	[ ! -e y.nrrd ]
}

@test "mistakes: phases outside the projector, and a camera for a projector" {
	rig
	framecat --delete period_px a.nrrd -o bare.nrrd
	mistake "outside the projector's 1200 columns" phase2depth --calib c.json --period 160 bare.nrrd -o x.nrrd
	run --separate-stderr phase2depth --calib c.json --centered a.nrrd -o x.nrrd
	[[ $stderr == *"outside the projector's 1200 columns"*"no pixel of x is valid"* ]]
	mistake "says 30 px, and the frame itself says period_px 60" phase2depth --calib c.json --period 30 a.nrrd -o x.nrrd
	need_data slsdk_david_stereo
	fails 1 "is of two cameras" phase2depth --calib "$data/slsdk_david_stereo/calib.json" a.nrrd -o y.nrrd
	[ ! -e y.nrrd ]
	phase2depth -q --calib "$data/slsdk_david_stereo/calib.json" --as-projector --origin 0,0 \
		<(framecat --crop 0,0,400,400 a.nrrd | framecat --delete origin_px) -o x.nrrd
}

@test "mistakes: the eye's calibration gives no word, but for what is wrong with it" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray
	fringepipe -q phasewrap -n 12 -p 60 --gray 6 --gray-cell half --phase-origin 180 "$eye"/phase_*.png \
		"$eye"/gray_*.png , unwrap2f -o a.nrrd
	right phase2depth --calib "$eye/caliInfo_original_full_frame.yml" --origin 350,300 a.nrrd -o x.nrrd
	right phase2depth --calib "$eye/calib.json" a.nrrd -o x.nrrd
	mistake "by --origin" phase2depth --calib "$eye/caliInfo_original_full_frame.yml" a.nrrd -o x.nrrd
	framecat --delete period_px a.nrrd -o bare.nrrd
	mistake "outside the projector" phase2depth --calib "$eye/calib.json" --period 120 bare.nrrd -o x.nrrd
}

@test "mistakes: a phase origin or --gray-offset some degrees beside the Gray code; cells seen in part are right" {
	for kind in "-p 50 --gray half" "-p 64 --gray column --noise 3" "-p 24 --gray half --noise 8"; do
		# shellcheck disable=SC2086
		fringesim -q -s 400x300 --projector 1200x800 -n 4 $kind -o set.nrrd
		right fringepipe phasewrap set.nrrd , unwrap2f -o a.nrrd
		phasewrap -q --phase-origin 20 set.nrrd -o off.nrrd
		mistake "degrees beside each other: a phasewrap --phase-origin that is smaller by as much fits" unwrap2f off.nrrd -o a.nrrd
		phasewrap -q --phase-origin -20 set.nrrd -o off.nrrd
		mistake "--phase-origin that is larger" unwrap2f off.nrrd -o a.nrrd
		phasewrap -q --phase-origin 5 set.nrrd -o off.nrrd	# too little to be told: man unwrap2f says so
		right unwrap2f off.nrrd -o a.nrrd
	done
	man -l "$top/man/unwrap2f.1" | tr -s ' \n' ' ' | grep -q "below 13 degrees nothing is told"
	for period in 300 900; do	# a cell is as large as the picture, or larger
		fringesim -q -s 400x300 --projector 1200x800 -n 4 -p $period --gray half -o set.nrrd
		for crop in 0,0,400,300 50,50,100,80 200,50,90,80; do
			framecat --crop $crop set.nrrd -o part.nrrd
			right fringepipe phasewrap part.nrrd , unwrap2f -o a.nrrd
		done
	done
}

@test "mistakes: fringe orders along y" {
	for kind in "-p 60,63 -n 3" "-p 50 -n 4 --gray half" "-p 32 -n 6 --gray period"; do
		for scene in relief "steps --height 40" "relief --shadow --height 60"; do
			# shellcheck disable=SC2086
			fringesim -q -s 400x300 --projector 1200x800 --axis y --scene $scene $kind --noise 1 -o set.nrrd
			right fringepipe phasewrap --min-amplitude 5 set.nrrd , unwrap2f -o a.nrrd
		done
	done
	fringesim -q -s 400x300 --projector 1200x800 --axis y -p 32 -n 6 --gray period | framecat --split --delete '*' -o %02d.png
	gray=(-a y -n 6 -p 32 -G 5 --gray-cell period 0[0-5].png)
	right fringepipe phasewrap "${gray[@]}" 06.png 07.png 08.png 09.png 10.png , unwrap2f -o a.nrrd
	mistake "the most significant first" fringepipe phasewrap "${gray[@]}" 07.png 06.png 08.png 09.png 10.png , unwrap2f -o a.nrrd
	words=(phasewrap "${gray[@]}" 10.png 09.png 08.png 07.png 06.png , unwrap2f -o a.nrrd)
	mistake "the most significant first" fringepipe "${words[@]}"
	first=$stderr
	for band in 3 7 50; do
		FRINGEPIPE_BAND=$band mistake "$first" fringepipe -j 3 "${words[@]}"
	done
}

@test "mistakes: a mirrored phase, a pose or a projector that cannot be, depths without any, another kind of reference" {
	rig
	fringesim -q --calib c.json --scene relief --distance 700 -p 60,63 -n 3 --noise 1 -o set.nrrd
	right fringepipe phasewrap set.nrrd , unwrap2f , phase2depth --calib c.json -o x.nrrd
	framecat --delete '*' set.nrrd -o foreign.nrrd
	foreign=(phasewrap -n 3 -p 60,63 --shift -120,0,120 foreign.nrrd)
	right fringepipe "${foreign[@]}" --sign +1 , unwrap2f -o a.nrrd
	run --separate-stderr fringepipe -v "${foreign[@]}" --sign -1 , unwrap2f -o mirrored.nrrd
	[[ $stderr == *"fringepipe: phasewrap: three images of a period fit in any order: nothing in them tells"* ]]
	[[ $stderr == *"fringepipe: unwrap2f: nothing in these phases tells whether they are mirrored (phasewrap --sign)"* ]]
	mistake "falls from pixel to pixel (100 %) where this calibration has the projector's columns rise: is phasewrap --sign right" \
		phase2depth --calib c.json mirrored.nrrd -o x.nrrd
	sed 's/-120, 0, 0/120, 0, 0/' c.json >behind.json
	mistake "% of the pixels with a phase have their point behind the camera or the projector" phase2depth --calib behind.json a.nrrd -o x.nrrd
	first=$stderr
	FRINGEPIPE_BAND=7 mistake "$first" phase2depth -j 5 --min-depth 10 --calib behind.json a.nrrd -o x.nrrd
	sed 's/1400, 400/1400, 1400/' c.json >below.json
	mistake "% of the points lie where the projector's 800 rows do not reach" phase2depth --calib below.json a.nrrd -o x.nrrd
	framecat --crop 900,50,300,400 a.nrrd | framecat --delete origin_px -o crop.nrrd
	right phase2depth --calib c.json --origin 900,50 crop.nrrd -o x.nrrd
	mistake "does not lie on the calibration's camera" phase2depth --calib c.json --origin 50,900 crop.nrrd -o y.nrrd
	framecat --crop 300,50,300,400 a.nrrd | framecat --delete origin_px -o crop.nrrd	# both lie on it
	right phase2depth --calib c.json --origin 50,300 crop.nrrd -o x.nrrd
	man -l "$top/man/phase2depth.1" | tr -s ' \n' ' ' | grep -q "its two numbers exchanged, say), of a wrong phase origin, of a wrong period that keeps the phases on the projector, or of a pose that is turned round or of another scale. Nothing tells of these"
	fails 2 "--min-depth: 900 is more than --max-depth 100: no depth lies between" \
		phase2depth --calib c.json --min-depth 900 --max-depth 100 a.nrrd -o y.nrrd
	framecat --channels texture a.nrrd -o texture.nrrd
	plane=(phase2depth -c 1 -o y.nrrd)
	fails 1 "phase2depth: input has no channel absphase, only: texture" "${plane[@]}" --ref a.nrrd texture.nrrd
	[[ $stderr != *ref.* ]]
	fails 1 "the image of --ref is texture, wanted is absphase" "${plane[@]}" --ref texture.nrrd a.nrrd
	right "${plane[@]}" --ref a.nrrd a.nrrd
	framecat --channels absphase a.nrrd | framecat --set channels=image -o image.nrrd
	right "${plane[@]}" --ref image.nrrd a.nrrd
}
