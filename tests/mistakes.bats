load helpers

# Mistakes that users make, each with the words that it gets; and right sets, which get none.

# mistake "WORDS IN THE MESSAGE" COMMAND ...: it may end in any way, but says this in one line.
mistake() {
	local words=$1
	shift
	run --separate-stderr "$@"
	if [[ $stderr != *"$words"* ]] || [ "$(wc -l <<<"$stderr")" -ne 1 ]; then
		printf '%s\nprinted: %s\nwanted: %s\n' "$*" "$stderr" "$words"
		return 1
	fi
}

# right COMMAND ...: not a word.
right() {
	run --separate-stderr "$@"
	if [ "$status" -ne 0 ] || [ -n "$stderr" ]; then
		printf '%s\nexit %s, printed: %s\n' "$*" "$status" "$stderr"
		return 1
	fi
}

# images N [OPTION ...]: N steps as single files without keys, 1.png to N.png.
images() {
	local n=$1
	shift
	rm -f -- *.png
	fringesim -q -s 320x200 -p 40 -n "$n" --ref-plane 10,0.157,0 -c 5 --noise 1.5 "$@" |
		framecat --split --delete "*" -o %d.png
	for ((i = n; i > 0; i--)); do mv $((i - 1)).png "$i.png"; done
}

wrap() {
	phasewrap -p 40 -o wrapped.nrrd "$@"
}

@test "mistakes: right sets of 3 to 18 steps, noisy, dark, with harmonics, get no word" {
	for n in 3 4 5 6 7 8 9 12 18; do
		for look in "--noise 1.5" "--noise 12" "--gamma 2.2 --noise 1" "--mean 20 --amplitude 8 --noise 2" \
			"--albedo checker" "--defocus 3 --mean 150 --amplitude 90" "--bits 16" "--bits float --noise 0"; do
			# shellcheck disable=SC2086
			fringesim -q -s 320x200 -p 40 -n $n --ref-plane 10,0.157,0 -c 5 $look -o set.nrrd
			right phasewrap -o wrapped.nrrd set.nrrd
		done
	done
}

@test "mistakes: a duplicate, and the images exchanged, missing or turned round" {
	for n in 5 6 8 12 18; do
		images $n
		mapfile -t all < <(seq -f %.0f.png $n)
		right wrap -n $n "${all[@]}"
		mistake "image 2 and image 3 show the same" wrap -n $n 1.png 2.png 2.png "${all[@]:3}"
		mistake "seem to be exchanged" wrap -n $n 1.png 4.png 3.png 2.png "${all[@]:4}"
		[[ $n -lt 8 || $stderr == *"image 2 and image 4 seem"* ]]
		mistake "seem to be exchanged" wrap -n $n 2.png 1.png "${all[@]:2}"
		[[ $stderr == *"image 1 and image 2"* || $stderr == *"images 1 and 2"* ]]
		mistake "an image of $n seems to be missing behind image 3" wrap -n $((n - 1)) "${all[@]:0:3}" "${all[@]:4}"
		mistake "an image of $n seems to be missing behind image $((n - 1))" wrap -n $((n - 1)) "${all[@]:0:n-1}"
		right wrap -n $n "${all[@]:2}" 1.png 2.png
	done
}

@test "mistakes: names without zeros, another number of steps, a foreign image among the steps" {
	images 12
	run --separate-stderr wrap -n 12 [0-9]*.png
	[[ $stderr == *"12.png comes before 2.png, as a shell sorts"*"sorted as text, 1 10 11 2"* ]]
	mistake "12.png comes before 2.png" phasewrap -n 3 --shift 0,120,240 -p 40,44,48,52 [0-9]*.png -o w.nrrd
	mistake "taken for the shifts -120,0,120" phasewrap -n 3 -p 40,44,48,52 {1..12}.png -o w.nrrd
	right phasewrap -n 3 --shift -120,0,120 -p 40,44,48,52 {1..12}.png -o w.nrrd
	mistake "steps of 360/12 degrees" wrap -n 6 {1..6}.png
	mistake "steps of 360/12 degrees" wrap -n 4 {1..4}.png
	mistake "steps of 360/6 degrees" wrap -n 6 --shift 0,30,60,90,120,150 {1,3,5,7,9,11}.png
	mistake "steps of 360/6 degrees" wrap -n 12 {1,3,5,7,9,11}.png {1,3,5,7,9,11}.png
	fringesim -q -s 320x200 -p 63 -n 3 --ref-plane 10,0.1,0 -c 5 | framecat --split --delete "*" -o other%d.png
	mistake "image 7 does not fit the others" wrap -n 12 {1..6}.png other1.png {8..12}.png
	images 4
	mistake "do not fit 4 steps" wrap -n 4 1.png 3.png 2.png 4.png
	[[ $stderr == *"of the amplitude"* ]]
}

@test "mistakes: one warning a run, none with -q, the same for all threads, bands and devices" {
	images 8
	set -- 1.png 2.png 2.png {4..8}.png
	mistake "show the same" phasewrap -p 40 -n 8 -o wrapped.nrrd "$@" "$@" "$@"
	first=$stderr
	right phasewrap -q -p 40 -n 8 -o wrapped.nrrd "$@"
	for j in 1 2 5; do
		FRINGEPIPE_BAND=7 mistake "$first" phasewrap -j $j -p 40 -n 8 -o wrapped.nrrd "$@"
	done
	fringepipe --devices >devices
	if ! grep ^gpu: devices; then return 0; fi
	mistake "show the same" phasewrap -d gpu -p 40 -n 8 -o wrapped.nrrd "$@"
	[ "$stderr" = "$first" ]
}

@test "mistakes: real sets get no word, and the words when they are wrong" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray box=$data/weiyang_box_3freq_35_36_37
	angel=$data/dtu_angel_2freq_rectified lens=$data/hagen_lens_4step
	right wrap -n 12 "$eye"/phase_*.png
	right wrap -n 6 "$eye"/phase_{00,02,04,06,08,10}.png
	right wrap -n 4 "$eye"/phase_{00,03,06,09}.png
	right wrap -n 4 --sign -1 "$lens"/lens_crop_{000,090,180,270}.jpg
	for side in left right; do
		right phasewrap -n 8 -p 48,46.8292683 --sign -1 -o w.nrrd "$angel/$side"/f40_*.png "$angel/$side"/f41_*.png
	done
	three=(-n 8 -p 24.4,23.7222222,23.0810811 --sign -1 -o w.nrrd)
	right phasewrap "${three[@]}" "$box"/f3[567]_*.png
	right phasewrap -n 4 -o w.nrrd "$data"/slsdk_david_stereo/left/phase_*.png
	mistake "image 2 and image 3 seem to be exchanged" \
		phasewrap "${three[@]}" "$box"/f35_{0,2,1,3,4,5,6,7}.png "$box"/f3[67]_*.png
	mistake "an image of 12 seems to be missing behind image 5" wrap -n 11 "$eye"/phase_0[0-4].png \
		"$eye"/phase_0[6-9].png "$eye"/phase_1*.png
	mistake "4 images, but steps of 360/" wrap -n 4 "$eye"/phase_*.png	# of 8 to 12 a turn: harmonics hide it
}

@test "mistakes: cut-outs of right sets, of few periods and less, get no word" {
	need_data weiyang_box_3freq_35_36_37
	crops() {	# N SIGN FILE ...: 40 cut-outs of 12 to 200 px of the images
		local n=$1 sign=$2
		shift 2
		framecat --stack "$@" -o whole.nrrd
		py '
rng, whole, out = np.random.default_rng(int(sys.argv[1])), read_frame("whole.nrrd").pixels, []
for _ in range(40):
	w, h = np.minimum(rng.integers(12, 201, 2), whole.shape[:0:-1])
	x, y = (rng.integers(0, whole.shape[2] - w + 1), rng.integers(0, whole.shape[1] - h + 1))
	out.append(Frame(whole[:, y:y + h, x:x + w]))
write_frames("crops.nrrd", out)' 3
		right phasewrap -n "$n" -p 40 --sign "$sign" crops.nrrd -o w.nrrd
	}
	box=$data/weiyang_box_3freq_35_36_37/f36 eye=$data/slmaster_eye_12step_gray/phase angel=$data/dtu_angel_2freq_rectified/left
	crops 8 -1 "$box"_*.png
	crops 4 -1 "$box"_{0,2,4,6}.png
	crops 4 -1 "$box"_{1,3,5,7}.png
	crops 12 +1 "$eye"_*.png
	crops 6 +1 "$eye"_{01,03,05,07,09,11}.png
	crops 8 -1 "$angel"/f40_*.png
	crops 4 +1 "$data"/slsdk_david_stereo/left/phase_*.png
	crops 4 -1 "$data"/hagen_lens_4step/lens_crop_*.jpg
	framecat --crop 57,92,20,20 "$box"_*.png -o small.nrrd
	run --separate-stderr phasewrap -v -n 8 -p 40 --sign -1 small.nrrd -o w.nrrd
	[[ $stderr == *"too few phases occur"* ]]
}

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
	mistake "do --period" fringepipe phasewrap -n 8 -p 23.7222222,24.4,23.0810811 --sign -1 \
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
	right phase2depth --calib c.json bare.nrrd -o x.nrrd
	framecat --bin 2 bare.nrrd | framecat --delete bin,origin_px -o half.nrrd
	mistake "say --bin 2" phase2depth --calib c.json half.nrrd -o x.nrrd
	right phase2depth --calib c.json --bin 2 half.nrrd -o half_x.nrrd
	py '
whole, half = read_frame("x.nrrd"), read_frame("half_x.nrrd")
expect(half.meta["bin"] == "2 2", half.meta)'
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

@test "mistakes: options that are misspelt, signs without a plus, periods that contradict each other" {
	fringesim -q -s 100x80 -p 40 -n 4 -o set.nrrd
	fails 2 "--min-modulaton: unknown or ambiguous option (is it --min-modulation?)" phasewrap --min-modulaton 3 set.nrrd
	fails 2 "(is it --min-modulation or --min-amplitude?)" phasewrap --min 3 set.nrrd
	fails 2 "--colourmap=depth: unknown or ambiguous option (is it --colormap?)" framecat --colourmap=depth set.nrrd
	fails 2 "gauss: --sigam: unknown or ambiguous option (is it --sigma?)" fringepipe median , gauss --sigam 2 , median
	fails 2 "median: --nonsense: unknown or ambiguous option, see --help" median --nonsense set.nrrd
	framecat --delete 'period_px,phase_sign' set.nrrd -o bare.nrrd
	right phasewrap --sign 1 -p 40 bare.nrrd -o a.nrrd
	right phasewrap --sign +1 -p 40 bare.nrrd -o b.nrrd
	framecmp a.nrrd b.nrrd
	right phasewrap -p 1920/41 bare.nrrd -o a.nrrd
	right phasewrap --count 41 --field 1920 bare.nrrd -o b.nrrd
	right phasewrap --count 41 --field 1920 -p 46.8292683 bare.nrrd -o c.nrrd
	py '
for name in "a", "b":
	expect(float(read_frame(name + ".nrrd").meta["period_px"]) == 1920 / 41)'
	fails 2 "--period: 48 px is not 1920 px / 41 fringes = 46.8293 px" phasewrap --count 41 --field 1920 -p 48 bare.nrrd
	fails 2 "--count: has 2 numbers, --period 1" phasewrap --count 40,41 --field 1920 -p 48 bare.nrrd
	fails 2 "--count: wants --field beside it" phasewrap --count 41 bare.nrrd
	fails 2 "--field: wants --count beside it" phasewrap --field 1920 bare.nrrd
	fails 2 "--period: " phasewrap -p 1920/0 bare.nrrd
	fails 2 "--period: wants numbers" phasewrap -p 1920/ bare.nrrd
}

@test "mistakes: a warning in a chain names its stage, and which one where two have the same name" {
	images 8
	mistake "fringepipe: phasewrap: the period 40 px: image 2 and image 3 show the same" \
		fringepipe phasewrap -p 40 -n 8 1.png 2.png 2.png {4..8}.png , gauss -o w.nrrd
	py 'write_frames("a.nrrd", Frame(np.ones((20, 30), "f4"), ["absphase"], {"c_mm_per_rad": "1", "ref_plane_rad": "0 0 0"}))'
	mistake "fringepipe: phase2depth (stage 2): no pixel of depth is valid" fringepipe framecat a.nrrd , \
		phase2depth --ref ideal --min-depth 5 , framecat --set channels=absphase , phase2depth --ref ideal -o z.nrrd
	run --separate-stderr fringepipe -v phasewrap -p 40 -n 8 {1..8}.png , gauss -o w.nrrd
	[[ $stderr == *"fringepipe: phasewrap: the period 40 px: the fit is off by 0.0"* ]]
	[[ $stderr == *"fringepipe: phasewrap: of 64000 pixels 0 are invalid"* ]]
}

@test "mistakes: --order lsb-first, pairs or by-step do not say where phases and Gray planes stand" {
	fringesim -q -s 100x80 --projector 320x200 -p 40 -n 4 -g period | framecat --split --delete '*' -o %d.png
	mkdir folder
	for i in 0 1 2; do cp $((i + 4)).png folder/gray_$i.png; done
	for i in 0 1 2 3; do cp $i.png folder/phase_$i.png; done
	fails 2 "give --order gray,phase,lsb-first" phasewrap -n 4 -p 40 -G 3 --order lsb-first folder
	fails 2 "give --order gray,phase" phasewrap -n 4 -p 40 -G 3 folder
	right phasewrap -n 4 -p 40 -G 3 --order gray,phase folder -o w.nrrd
	right phasewrap -n 4 -p 40 -G 3 --order lsb-first folder/phase_* folder/gray_* -o w.nrrd
}

@test "mistakes: one name for two files, grey images as --rgb" {
	mkdir d
	for name in same.nrrd ./same.nrrd d/../same.nrrd; do
		fails 2 "--truth: is the file that -o writes" fringesim -s 20x10 -p 12 -o same.nrrd --truth $name
		fails 2 "--manifest: is a file that -o or --truth writes" fringesim -s 20x10 -p 12 -o same.nrrd -m $name
		fails 2 "--manifest: is the file that -o writes" fringegen -s 20x10 -p 12 -o same.nrrd -m $name
	done
	[ ! -e same.nrrd ]
	fringesim -q -s 100x80 -p 60 -n 3 --motion 5 --frames 3 -o grey.nrrd
	fails 1 "--rgb: image is not in colour" phasewrap --rgb -p 60 grey.nrrd -o w.nrrd
}

@test "mistakes: no word where little is seen: coarse fringes, one column, a small object, unlit frames" {
	for n in 4 6 8 12; do
		fringesim -q -s 200x150 -n $n -p 1920,120,30 --scene plane -o set.nrrd
		right phasewrap -o w.nrrd set.nrrd
		fringesim -q -s 200x150 -n $n -p 60 --scene plane --ref-plane 0.78,0.003,0 -o set.nrrd
		right phasewrap -o w.nrrd set.nrrd
		fringesim -q -s 1x200 -n $n -p 60 -o set.nrrd
		right phasewrap -o w.nrrd set.nrrd
	done
	py '
rng = np.random.default_rng(1)
y, x = np.mgrid[:300, :320]
lit = (x > 100) & (x < 180) & (y > 90) & (y < 170)
sets = np.array([np.round(lit * (120 + 60 * np.cos(x / 5. + 2 * np.pi * i / 12)) + rng.integers(0, 4, x.shape)) for i in range(12)]).astype("u1")
write_frames("small.nrrd", Frame(sets, ["image"] * 12))
write_frames("wrong.nrrd", Frame(sets[[0, 1, 2, 3, 8, 5, 6, 7, 4, 9, 10, 11]], ["image"] * 12))
write_frames("dark.nrrd", Frame(rng.integers(0, 4, (4,) + x.shape).astype("u1"), ["image"] * 4))'
	right phasewrap -n 12 -p 60 small.nrrd -o w.nrrd
	mistake "image 5 and image 9 seem to be exchanged" phasewrap -n 12 -p 60 wrong.nrrd -o w.nrrd
	right phasewrap -n 4 -p 60 dark.nrrd -o w.nrrd
	need_data weiyang_box_3freq_35_36_37
	box=$data/weiyang_box_3freq_35_36_37
	right phasewrap -n 4 -p 24.4 --sign -1 "$box"/f35_{0,2,4,6}.png -o w.nrrd
	right phasewrap -n 4 -p 24.4 --sign -1 "$box"/f35_{1,3,5,7}.png -o w.nrrd
}
