load mistakes.bash

# Mistakes behind the phase: fringe orders, origins, calibrations.

# A calibration of 1280x960 px and an absolute phase that it measures.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	py 'import json
json.dump({"camera_K": [[1900, 0, 640], [0, 1900, 480], [0, 0, 1]], "projector_K": [[1400, 0, 600], [0, 1400, 400], [0, 0, 1]],
	"R_cam_to_proj": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T_cam_to_proj_mm": [-120, 0, 0],
	"camera_size": [1280, 960], "projector_size": [1200, 800]}, open("c.json", "w"))'
	fringesim -q --calib c.json --scene plane --distance 700 -p 60,63 -n 3 --noise 1 |
		phasewrap -q | unwrap2f -q -o a.nrrd
}

rig() {
	cp "$BATS_FILE_TMPDIR"/{c.json,a.nrrd} .
}

@test "mistakes: Gray planes in another order, another cell, origin or sign; periods exchanged: real sets" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray box=$data/weiyang_box_3freq_35_36_37
	decode() {	# PLANES [OPTION ...]
		local planes=$1
		shift
		# shellcheck disable=SC2086
		fringepipe phasewrap --min-amplitude 3 -n 12 -p 60 --gray 6 --gray-cell half --phase-origin 180 "$@" \
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
		right fringepipe phasewrap --min-amplitude 3 -n 4 -G 6 -p 64 --gray-cell half --phase-origin 180 \
			"$data/slsdk_david_stereo/$side"/phase_*.png "$data/slsdk_david_stereo/$side"/gray_*.png , unwrap2f -o a.nrrd
		mistake "--phase-origin" fringepipe phasewrap --min-amplitude 3 -n 4 -G 6 -p 64 --gray-cell half \
			"$data/slsdk_david_stereo/$side"/phase_*.png "$data/slsdk_david_stereo/$side"/gray_*.png , unwrap2f -o a.nrrd
	done
	right fringepipe phasewrap -n 8 -p 24.4,23.7222222,23.0810811 --sign -1 "$box"/f3[567]_*.png , unwrap2f -o a.nrrd
	mistake "wrong or swapped periods" fringepipe phasewrap -n 8 -p 23.7222222,24.4,23.0810811 --sign -1 \
		"$box"/f3[567]_*.png , unwrap2f -o a.nrrd
	for side in left right; do
		angel=$data/dtu_angel_2freq_rectified/$side
		right fringepipe phasewrap --min-amplitude 3 -n 8 -p 48,46.8292683 --sign -1 "$angel"/f4[01]_*.png , unwrap2f -u 1 -o a.nrrd
		mistake "periods" fringepipe phasewrap --min-amplitude 3 -n 8 -p 46.8292683,48 --sign -1 "$angel"/f4[01]_*.png , \
			unwrap2f -u 1 -o a.nrrd
		mistake "periods" fringepipe phasewrap --min-amplitude 3 -n 8 -p 48,45 --sign -1 "$angel"/f4[01]_*.png , unwrap2f -u 1 -o a.nrrd
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

@test "mistakes: frames and calibrations that do not belong together" {
	rig
	right phase2depth --calib c.json a.nrrd -o x.nrrd
	framecat --delete 'origin_px,bin' a.nrrd -o bare.nrrd
	right phase2depth --calib c.json bare.nrrd -o whole.nrrd
	framecat --bin 2 bare.nrrd | framecat --delete bin,origin_px -o half.nrrd
	mistake "say --bin 2" phase2depth --calib c.json half.nrrd -o x.nrrd
	right phase2depth --calib c.json --bin 2 half.nrrd -o half_x.nrrd
	mistake "640 x 480 px, is smaller than the calibration's camera of 1280 x 960 px: if it is cut out say where, by --origin" \
		phase2depth --calib c.json --bin 1 half.nrrd -o x.nrrd
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
	[[ $stderr == *"no pixel of x is valid"*"outside the projector's 1200 columns"* ]]
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
	mistake "counts in fringes of 120 px, but $eye/calib.json names fringe_period_projector_px 60" \
		phase2depth --calib "$eye/calib.json" --period 120 bare.nrrd -o x.nrrd
	sed 's/fringe_period_projector_px/another_key/' "$eye/calib.json" >keyless.json
	mistake "outside the projector's 1920 columns" phase2depth --calib keyless.json --period 120 bare.nrrd -o x.nrrd
}

@test "mistakes: a phase origin or --gray-offset some degrees beside the Gray code; cells seen in part are right" {
	for kind in "-p 50 --gray half" "-p 64 --gray column --noise 3" "-p 24 --gray half --noise 8"; do
		# shellcheck disable=SC2086
		fringesim -q -s 400x300 --projector 1200x800 -n 4 $kind -o set.nrrd
		right fringepipe phasewrap set.nrrd , unwrap2f -o a.nrrd
		phasewrap -q --phase-origin 20 set.nrrd -o off.nrrd
		mistake "degrees: subtract them from phasewrap --phase-origin (or use --gray-offset)" unwrap2f off.nrrd -o a.nrrd
		phasewrap -q --phase-origin -20 set.nrrd -o off.nrrd
		mistake "degrees: add them to phasewrap --phase-origin (or use --gray-offset)" unwrap2f off.nrrd -o a.nrrd
		phasewrap -q --phase-origin 5 set.nrrd -o off.nrrd	# too little to be told: man unwrap2f says so
		right unwrap2f off.nrrd -o a.nrrd
	done
	tr '\n' ' ' <"$top/man/unwrap2f.1" | has "misaligned by about 13 degrees or more"
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
	mistake "the surface as a whole is turned away by 79 degrees" phase2depth --calib c.json --origin 50,300 crop.nrrd -o x.nrrd
	fails 2 "--min-depth: 900 is more than --max-depth 100: no depth lies between" \
		phase2depth --calib c.json --min-depth 900 --max-depth 100 a.nrrd -o y.nrrd
	framecat --channels texture a.nrrd -o texture.nrrd
	plane=(phase2depth -c 1 -o y.nrrd)
	fails 1 "phase2depth: input has no channel absphase, only: texture" "${plane[@]}" --ref a.nrrd texture.nrrd
	[[ $stderr != *ref.* ]]
	fails 1 "the image of --ref is texture, wanted is absphase" "${plane[@]}" --ref texture.nrrd a.nrrd
	fringesim -q --calib c.json --scene plane --distance 710 -p 60,63 -n 3 --noise 1 |
		phasewrap -q | unwrap2f -q -o plate.nrrd
	right "${plane[@]}" --ref plate.nrrd a.nrrd
	framecat --channels absphase plate.nrrd | framecat --set channels=image -o image.nrrd
	right "${plane[@]}" --ref image.nrrd a.nrrd
	mistake "--ref: is the same absolute phase as the input, so that all depths are 0" "${plane[@]}" --ref a.nrrd a.nrrd
	first=$stderr
	py 'write_frames("step.nrrd", Frame(np.nan_to_num(read_frame("plate.nrrd")["absphase"]).astype("u1")))'
	framecat step.nrrd -o step.png
	mistake "--ref: holds whole numbers only, as captured images do" "${plane[@]}" --ref step.png a.nrrd
	cat a.nrrd a.nrrd >two.nrrd
	for run in "-j 1" "-j 5"; do		# once in a run
		FRINGEPIPE_BAND=7 mistake "$first" "${plane[@]}" $run --ref a.nrrd two.nrrd
	done
	mistake "fringepipe: phase2depth: --ref: is the same" fringepipe framecat a.nrrd , phase2depth --ref a.nrrd -c 1 -o y.nrrd
	right "${plane[@]}" --ref a.nrrd a.nrrd plate.nrrd	# a sequence that begins with the plane itself
}

# change FILE KEY VALUE: the rig's calibration with another entry.
change() {
	py 'import json
c = json.load(open("c.json")); c[sys.argv[2]] = json.loads(sys.argv[3]); json.dump(c, open(sys.argv[1], "w"))' "$@"
}

@test "mistakes: another period, another resolution, another projector, another order of lens terms" {
	rig
	framecat --delete 'origin_px,bin,projector_px' a.nrrd -o bare.nrrd
	framecat --delete period_px bare.nrrd -o periodless.nrrd
	change named.json fringe_period_projector_px 60
	right phase2depth --calib named.json a.nrrd -o x.nrrd
	right phase2depth --calib named.json --period 60 periodless.nrrd -o x.nrrd
	fails 1 "say --period PX (the calibration names fringe_period_projector_px 60)" \
		phase2depth --calib named.json periodless.nrrd -o y.nrrd
	for period in 59 61 30 120; do
		mistake "--period: counts in fringes of $period px, but named.json names fringe_period_projector_px 60" \
			phase2depth --calib named.json --period $period periodless.nrrd -o x.nrrd
	done
	framecat --set period_px=63 a.nrrd -o other.nrrd
	mistake "absphase: counts in fringes of 63 px, but named.json names" phase2depth --calib named.json other.nrrd -o x.nrrd
	change named.json fringe_period_projector_px 0
	fails 1 "named.json: fringe_period_projector_px: expected a period in pixels, found 0" phase2depth --calib named.json a.nrrd -o y.nrrd

	mistake "turned away by 57 degrees from the camera and by 75 from the projector: are --period" \
		phase2depth --calib c.json --period 30 periodless.nrrd -o x.nrrd
	first=$stderr
	FRINGEPIPE_BAND=7 mistake "$first" phase2depth -j 5 --calib c.json --period 30 periodless.nrrd -o x.nrrd
	change sizeless.json projector_size null
	right phase2depth --calib sizeless.json bare.nrrd -o x.nrrd
	mistake "outside the projector's some 1200 columns" phase2depth --calib sizeless.json --period 160 periodless.nrrd -o x.nrrd
	framecat --set 'projector_px=1920 1080' bare.nrrd -o other.nrrd
	right phase2depth --calib sizeless.json other.nrrd -o x.nrrd
	mistake "is of a projector of 1920 x 1080 px (projector_px), and that of c.json has 1200 x 800 px" \
		phase2depth --calib c.json other.nrrd -o x.nrrd

	change half.json camera_K "[[950, 0, 320], [0, 950, 240], [0, 0, 1]]"
	mistake "half.json: the camera's matrix has its principal point at 320,240, as a picture of 640 x 480 px would, and the camera has 1280 x 960 px" \
		phase2depth --calib half.json a.nrrd -o x.nrrd
	change double.json projector_K "[[2800, 0, 1190], [0, 2800, 820], [0, 0, 1]]"
	mistake "double.json: the projector's matrix has its principal point at 1190,820, as a picture of 2400 x 1600 px would" \
		phase2depth --calib double.json a.nrrd -o x.nrrd
	change aside.json projector_K "[[1400, 0, 2100], [0, 1400, 410], [0, 0, 1]]"
	mistake "aside.json: the projector's matrix has its principal point at 2100,410, outside of the projector's 1200 x 800 px" \
		phase2depth --calib aside.json a.nrrd -o x.nrrd
	for at in 320,480 640,240; do	# one number alone halved
		change alone.json camera_K "[[1900, 0, ${at%,*}], [0, 1900, ${at#*,}], [0, 0, 1]]"
		mistake "alone.json: the camera's matrix has its principal point at $at, far from the middle of its 1280 x 960 px" \
			phase2depth --calib alone.json a.nrrd -o x.nrrd
	done
	change shifted.json camera_K "[[1900, 0, 800], [0, 1900, 380], [0, 0, 1]]"	# an eighth off is let pass
	phase2depth --calib shifted.json a.nrrd -o x.nrrd 2>said
	run ! grep "principal point" said
	change first.json projector_dist "[0.0005, -0.04, -0.08, 0.05]"
	mistake "first.json: the projector's lens has p1 = -0.08 and p2 = 0.05, more than lenses have" \
		phase2depth --calib first.json a.nrrd -o x.nrrd
	change first.json projector_dist "[-0.08, 0.05, 0.02, -0.02]"
	phase2depth --calib first.json a.nrrd -o x.nrrd 2>said
	run ! grep "lens has p1" said
	change above.json projector_K "[[1400, 0, 590], [0, 1400, 1100], [0, 0, 1]]"	# a picture that is shifted up
	phase2depth --calib above.json a.nrrd -o x.nrrd 2>said
	run ! grep "principal point" said
	change skew.json camera_K "[[1900, 640, 640], [0, 1900, 480], [0, 0, 1]]"
	mistake "skew.json: the camera's matrix has a skew of 640 with a focal length of 1900 px, which no sensor has" \
		phase2depth --calib skew.json a.nrrd -o x.nrrd
	change folds.json projector_dist "[-2.4, 0, 0, 0, 0]"
	mistake "folds.json: the projector's lens folds back before the corner 0, 0 of its picture" phase2depth --calib folds.json a.nrrd -o x.nrrd
	sed 's/"projector_size": \[[^]]*\]/"note": 2/' folds.json >sizeless_folds.json
	mistake "sizeless_folds.json: the projector's lens folds back before the corner 0, 0" phase2depth --calib sizeless_folds.json a.nrrd -o x.nrrd
	sed 's/"camera_size": \[1280, 960\]/"note": 1/' half.json >small.json	# the frame's size stands in
	mistake "small.json: the camera's matrix has its principal point at 320,240" phase2depth --calib small.json bare.nrrd -o x.nrrd
	change turned.json projector_size "[800, 1200]"
	mistake "turned.json: the projector's matrix has its principal point at 600,400, and the projector has 800 x 1200 px: are width and height exchanged" \
		phase2depth --calib turned.json bare.nrrd -o x.nrrd
	change mm.json camera_K "[[12, 0, 4.1], [0, 12, 3.1], [0, 0, 1]]"
	mistake "mm.json: the camera's focal length of 12 px would see 178 degrees: are the numbers of its matrix pixels" \
		phase2depth --calib mm.json a.nrrd -o x.nrrd
	change unit.json length_unit '"m"'
	mistake "unit.json: camera and projector are 120 m apart: is T in m?" phase2depth --calib unit.json a.nrrd -o x.nrrd
	change none.json T_cam_to_proj_mm "[0, 0, 0]"
	fails 1 "none.json: camera and projector are in one place, T is 0" phase2depth --calib none.json a.nrrd -o y.nrrd
	change size.json projector_size "[-1200, 800]"
	fails 1 "size.json: projector_size: expected a size, w h, found -1200 800" phase2depth --calib size.json a.nrrd -o y.nrrd
	fails 1 "does not lie on the calibration's camera of 1280 x 960 px: are --origin, --bin and --calib right" \
		phase2depth --calib c.json --bin 2 bare.nrrd -o y.nrrd
	for lens in "[-0.1, 0.05, 1.8, 0.001, 0]" "[-0.1, 0.05, 0.001, -0.3]"; do
		change lens.json camera_dist "$lens"
		mistake "lens.json: the camera's lens has p1 = " phase2depth --calib lens.json a.nrrd -o x.nrrd
	done
	for K in "[[1400, 0, 560], [0, 1400, 800], [0, 0, 1]]" "[[1400, 0, 640], [0, 1400, 400], [0, 0, 1]]"; do	# lifted, moved
		change right.json projector_K "$K"
		fringesim -q --calib right.json --scene tilt --distance 700 -p 60,63 -n 3 --noise 1 |
			phasewrap -q --min-amplitude 8 | unwrap2f -q -o b.nrrd
		right phase2depth --calib right.json b.nrrd -o x.nrrd
	done
}

@test "mistakes: the eye with a pose or matrices that are exchanged, turned or of another size" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray
	fringepipe -q phasewrap -n 12 -p 60 --gray 6 --gray-cell half --phase-origin 180 --min-amplitude 8 \
		"$eye"/phase_*.png "$eye"/gray_*.png , unwrap2f -o a.nrrd
	py 'import json
c = json.load(open(sys.argv[1]))
K, P, R, T = (np.array(c[k]) for k in ("camera_K", "projector_K", "R_cam_to_proj", "T_cam_to_proj_mm"))
K[:2, 2] += c.pop("crop_x0_y0")
c["camera_K"] = K.tolist()
def put(name, **changes):
	json.dump({**c, **{k: getattr(v, "tolist", lambda: v)() for k, v in changes.items()}}, open(name + ".json", "w"))
half = np.diag([0.5, 0.5, 1])
put("right")
put("transposed", R_cam_to_proj=R.T)
put("negated", T_cam_to_proj_mm=-T)
put("center", T_cam_to_proj_mm=-R.T @ T)
put("matrices", camera_K=P, projector_K=K)
put("exchanged", camera_K=P, projector_K=K, R_cam_to_proj=R.T, T_cam_to_proj_mm=-R.T @ T)
put("camera_half", camera_K=half @ K)
put("camera_double", camera_K=np.linalg.inv(half) @ K)
put("projector_half", projector_K=half @ P)
put("projector_double", projector_K=np.linalg.inv(half) @ P)
put("across", T_cam_to_proj_mm=T[[1, 0, 2]])
put("inverse", R_cam_to_proj=R.T, T_cam_to_proj_mm=-R.T @ T)
put("ten", T_cam_to_proj_mm=10 * T)
put("lenses", camera_dist=c["projector_dist"], projector_dist=c["camera_dist"])' "$eye/calib.json"
	right phase2depth --calib right.json --origin 350,300 a.nrrd -o x.nrrd
	while read -r name words; do
		run --separate-stderr phase2depth --calib $name.json --origin 350,300 a.nrrd -o x.nrrd
		[[ $stderr == *"$words"* ]] || { echo "$name: $stderr"; return 1; }
	done <<-END
		transposed 100 % of the pixels with a phase have their point behind the camera or the projector
		negated 100 % of the pixels with a phase have their point behind the camera or the projector
		center 100 % of the pixels with a phase have their point behind the camera or the projector
		matrices the camera's matrix has its principal point at 990.3,547, far from the middle of its 1280 x 1024 px
		exchanged the camera's matrix has its principal point at 990.3,547, far from the middle of its 1280 x 1024 px
		camera_half the camera's matrix has its principal point at 322.7,264.7, as a picture of 640 x 512 px
		camera_double the camera's matrix has its principal point at 1291,1059, as a picture of 2560 x 2048 px
		projector_half the projector's matrix has its principal point at 495.2,273.5, as a picture of 960 x 540 px
		projector_double the projector's matrix has its principal point at 1981,1094, as a picture of 3840 x 2160 px
		across depth does not move a point across the projector's columns
	END
	# of these nothing tells, and the page says so
	for name in inverse ten lenses; do
		right phase2depth --calib $name.json --origin 350,300 a.nrrd -o x.nrrd
	done
	tr '\n' ' ' <"$top/man/phase2depth.1" | has "the pose the other way round (R transposed and T turned with it), which puts the projector on the camera's other side"
}

@test "mistakes: no word of right rigs, many of them" {
	py 'import json
rng = np.random.default_rng(11)
def turn(a, b):			# the rotation that takes direction a to b
	v, c = np.cross(a, b), a @ b
	k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
	return np.eye(3) + k + k @ k / (1 + c)
for n in range(40):
	(w, h), (W, H) = [(640, 480), (1280, 1024), (480, 640)][n % 3], [(1280, 800), (912, 1140), (1920, 1080), (1024, 768)][n % 4]
	y = n % 5 == 0		# the projector above the camera
	f, F = w / 2 / np.tan(np.radians(rng.uniform(9, 30))), W / 2 / np.tan(np.radians(rng.uniform(9, 25)))
	K = np.array([[f, 0, w * rng.normal(0.5, 0.015)], [0, f, h * rng.normal(0.5, 0.015)], [0, 0, 1]])
	P = np.array([[F, 0, W * rng.normal(0.5, 0.015)], [0, F, H * rng.choice([0.5, 0.9])], [0, 0, 1]])
	z = rng.uniform(200, 2000)
	C = z * rng.uniform(0.08, 0.6) * rng.choice([-1, 1]) * np.array([rng.normal(0, 0.1), 1, 0.1] if y else [1, rng.normal(0, 0.1), 0.1])
	to = np.array([0, 0, z * rng.uniform(0.7, 1.5)]) - C
	middle = np.linalg.solve(P, [W / 2, H / 2, 1])
	R = turn(to / np.linalg.norm(to), middle / np.linalg.norm(middle))
	T = -R @ C
	s = w // 128
	v, u = np.mgrid[:h // s, :w // s] * float(s) + (s - 1) / 2
	a, b = (u - K[0, 2]) / K[0, 0], (v - K[1, 2]) / K[1, 1]
	tilt, way = np.tan(np.radians(rng.uniform(0, 35))), rng.uniform(0, 6.3)
	depth = z / (1 + tilt * (np.cos(way) * a + np.sin(way) * b)) * (1 + rng.choice([0, 0.03]) * np.sin(25 * a) * np.cos(20 * b))
	q = np.tensordot(R, np.stack([a * depth, b * depth, depth]), 1) + T[:, None, None]
	column, row = F * q[0] / q[2] + P[0, 2], F * q[1] / q[2] + P[1, 2]
	lit = (column > 0) & (column < W - 1) & (row > 0) & (row < H - 1)
	phase = np.where(lit, (row if y else column) + rng.normal(0, 0.1, lit.shape), np.nan) * 2 * np.pi / 30
	c = dict(camera_K=K.tolist(), projector_K=P.tolist(), R_cam_to_proj=R.tolist(), T_cam_to_proj_mm=T.tolist())
	if n % 3: c["camera_size"] = [w, h]
	if n % 4: c["projector_size"] = [W, H]
	json.dump(c, open("%d.json" % n, "w"))
	write_frames("%d.nrrd" % n, Frame(phase.astype("f4"), ["absphase"],
		{"period_px": "30", "axis": "xy"[y], "origin_px": "0 0", "bin": str(s)}))'
	for n in {0..39}; do
		right phase2depth --calib $n.json $n.nrrd -o x.nrrd
	done
}

@test "mistakes: a reference of the other axis or sign, c in another unit; right ones of steep surfaces" {
	plane() {	# FILE OPTION ...
		local to=$1
		shift
		fringesim -q -s 400x300 --projector 640x480 -p 60,66 -n 4 --noise 1 "$@" | phasewrap -q --min-amplitude 5 | unwrap2f -q |
			framecat --delete 'axis,c_mm_per_rad,ref_plane_rad' -o "$to"
	}
	depth=(phase2depth -o z.nrrd)
	for axis in x y; do
		plane $axis.nrrd -a $axis --scene plane
		for scene in relief "tilt --height 200" "tilt --height -60" "sphere --radius 30" "relief --shadow --height 200"; do
			for c in 1 5 30 -5; do
				# shellcheck disable=SC2086
				plane a.nrrd -a $axis --scene $scene -c $c --seed 3
				right "${depth[@]}" -c $c --ref $axis.nrrd a.nrrd
			done
		done
	done
	plane a.nrrd --scene relief
	mistake "absphase: and the reference rise in directions that are 90 degrees apart" "${depth[@]}" -c 5 --ref y.nrrd a.nrrd
	first=$stderr
	FRINGEPIPE_BAND=7 mistake "$first" "${depth[@]}" -j 5 -c 5 --ref y.nrrd a.nrrd
	cat a.nrrd a.nrrd >two.nrrd
	mistake "$first" phase2depth -c 5 --ref y.nrrd two.nrrd -o z%d.nrrd
	py '
f = read_frame("x.nrrd")
write_frames("mirrored.nrrd", Frame(-f["absphase"], ["absphase"], f.meta))'
	mistake "180 degrees apart: are both of the same axis, sign and camera?" "${depth[@]}" -c 5 --ref mirrored.nrrd a.nrrd
	right "${depth[@]}" -c 5 --ref-plane 0,0.1047,0 a.nrrd
	right "${depth[@]}" -c 5 --ref-plane 0,0.1047,0.1 a.nrrd
	mistake "90 degrees apart" "${depth[@]}" -c 5 --ref-plane 0,0,0.1047 a.nrrd
	mistake "180 degrees apart" "${depth[@]}" -c 5 --ref-plane 42,-0.1047,0 a.nrrd
	# frames of pixels of 0.25 mm
	for c in 0.5 50 -50; do
		right "${depth[@]}" -c $c --ref x.nrrd a.nrrd
	done
	for c in 0.005 5000 -0.005; do
		mistake "--c: ${c#-} mm for a radian, of which the reference has 0.419 in a mm" "${depth[@]}" -c $c --ref x.nrrd a.nrrd
	done
	py '
for n in "ax": write_frames("bare_" + n + ".nrrd", Frame(read_frame(n + ".nrrd")["absphase"], ["absphase"]))'
	right "${depth[@]}" -c 0.005 --ref bare_x.nrrd bare_a.nrrd	# nothing tells, and the page says so
	tr '\n' ' ' <"$top/man/phase2depth.1" | has "another unit where the frame states no distance of pixels"
}
