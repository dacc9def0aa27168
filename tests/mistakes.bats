load mistakes.bash

# Mistakes that users make, each with the words that it gets; and right sets, which get none.

@test "mistakes: right sets of 3 to 18 steps, noisy, dark, with harmonics, get no word" {
	for n in 3 4 5 6 7 8 9 10 11 12 18; do
		for look in "--noise 1.5" "--noise 12" "--gamma 2.2 --noise 1" "--mean 20 --amplitude 8 --noise 2" \
			"--albedo checker" "--defocus 3 --mean 150 --amplitude 90" "--bits 16" "--bits float --noise 0"; do
			# shellcheck disable=SC2086
			fringesim -q -s 200x120 -p 40 -n $n --ref-plane 10,0.157,0 -c 5 $look
		done >sets.nrrd
		right phasewrap -o wrapped.nrrd sets.nrrd
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
		mistake "an image of $n seems to be missing after image 3" wrap -n $((n - 1)) "${all[@]:0:3}" "${all[@]:4}"
		mistake "an image of $n seems to be missing after image $((n - 1))" wrap -n $((n - 1)) "${all[@]:0:n-1}"
		right wrap -n $n "${all[@]:2}" 1.png 2.png
	done
}

@test "mistakes: names without zeros, another number of steps, a foreign image among the steps" {
	images 12
	run --separate-stderr wrap -n 12 [0-9]*.png
	[[ $stderr == *"12.png comes before 2.png, as a shell sorts"*"sorted as text, 1 10 11 2"* ]]
	mistake "12.png comes before 2.png" phasewrap -n 3 --shift 0,120,240 -p 40,44,48,52 [0-9]*.png -o w.nrrd
	mistake "no shifts are stated for three images, -120,0,120 is assumed" phasewrap -n 3 -p 40,44,48,52 {1..12}.png -o w.nrrd
	right phasewrap -n 3 --shift -120,0,120 -p 40,44,48,52 {1..12}.png -o w.nrrd
	mistake "steps of about 360/12 degrees" wrap -n 6 {1..6}.png
	mistake "steps of about 360/12 degrees" wrap -n 4 {1..4}.png
	mistake "steps of about 360/6 degrees" wrap -n 6 --shift 0,30,60,90,120,150 {1,3,5,7,9,11}.png
	mistake "steps of about 360/6 degrees" wrap -n 12 {1,3,5,7,9,11}.png {1,3,5,7,9,11}.png
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
	right wrap --min-amplitude 3 -n 12 "$eye"/phase_*.png
	right wrap --min-amplitude 3 -n 6 "$eye"/phase_{00,02,04,06,08,10}.png
	right wrap --min-amplitude 3 -n 4 "$eye"/phase_{00,03,06,09}.png
	right wrap --min-amplitude 3 -n 4 --sign -1 "$lens"/lens_crop_{000,090,180,270}.jpg
	for side in left right; do
		right phasewrap --min-amplitude 3 -n 8 -p 48,46.8292683 --sign -1 -o w.nrrd "$angel/$side"/f40_*.png "$angel/$side"/f41_*.png
	done
	three=(--min-amplitude 3 -n 8 -p 24.4,23.7222222,23.0810811 --sign -1 -o w.nrrd)
	right phasewrap "${three[@]}" "$box"/f3[567]_*.png
	right phasewrap --min-amplitude 3 -n 4 -o w.nrrd "$data"/slsdk_david_stereo/left/phase_*.png
	mistake "image 2 and image 3 seem to be exchanged" \
		phasewrap "${three[@]}" "$box"/f35_{0,2,1,3,4,5,6,7}.png "$box"/f3[67]_*.png
	mistake "an image of 12 seems to be missing after image 5" wrap --min-amplitude 3 -n 11 "$eye"/phase_0[0-4].png \
		"$eye"/phase_0[6-9].png "$eye"/phase_1*.png
	mistake "4 images, but steps of about 360/" wrap --min-amplitude 3 -n 4 "$eye"/phase_*.png	# of 8 to 12 a turn: harmonics hide it
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
		right phasewrap --min-amplitude 1 -n "$n" -p 40 --sign "$sign" crops.nrrd -o w.nrrd
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
	fails 2 "--field: needs --count" phasewrap --field 1920 bare.nrrd
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

@test "mistakes: no word where little is seen: coarse fringes, one column, a small object; unlit frames" {
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
	right phasewrap --min-amplitude 3 -n 12 -p 60 small.nrrd -o w.nrrd
	mistake "image 5 and image 9 seem to be exchanged" phasewrap --min-amplitude 3 -n 12 -p 60 wrong.nrrd -o w.nrrd
	mistake "there are no fringes: phases are random" phasewrap -n 4 -p 60 dark.nrrd -o w.nrrd
	need_data weiyang_box_3freq_35_36_37
	box=$data/weiyang_box_3freq_35_36_37
	right phasewrap --min-amplitude 3 -n 4 -p 24.4 --sign -1 "$box"/f35_{0,2,4,6}.png -o w.nrrd
	right phasewrap --min-amplitude 3 -n 4 -p 24.4 --sign -1 "$box"/f35_{1,3,5,7}.png -o w.nrrd
}

@test "mistakes: options against what the images say themselves" {
	fringesim -q -s 100x80 --projector 320x200 -p 40 -n 4 --gray period -o set.nrrd
	keyed=(phasewrap set.nrrd -o w.nrrd)
	for same in "-G 3" "-p 40" "-s 0,90,180,-90" "--phase-origin 360" "--sign 1" "--gray-cell period" "-a x"; do
		# shellcheck disable=SC2086
		right "${keyed[@]}" $same
	done
	mistake "--period: says 50 px, and the images themselves say period_px 40: the option counts" "${keyed[@]}" -p 50
	mistake "--gray: says 4 planes, and of the images 3 say that they are some: the images count" "${keyed[@]}" -G 4
	mistake "--sign: says -1, and by the images' own keys it is +1: the option counts" "${keyed[@]}" --sign -1
	mistake "--phase-origin: says 30 degrees, and by the images' own keys it is 0: the option counts" "${keyed[@]}" --phase-origin 30
	mistake "--gray-cell: says half, and the images themselves say gray_cell period: the option counts" "${keyed[@]}" --gray-cell half
	mistake "--axis: says y, and the images themselves say axis x: the option counts" "${keyed[@]}" -a y
	mistake "--shift: says 90.2 degrees for image 2 of a period, and the image itself says shift_rad 1.5708 (90 degrees)" \
		"${keyed[@]}" -s 0,90.2,180,270
	right "${keyed[@]}" -q --sign -1
	right "${keyed[@]}" -n 4 -p 40 -G 3 --order phase,gray --sign -1	# their keys do not count
	mistake "--period: says 50 px" phasewrap -p 50 set.nrrd set.nrrd set.nrrd -o w.nrrd
	fails 1 "a measurement is 3 images by the options and 7 by the key set_images" "${keyed[@]}" -n 3
}

@test "mistakes: steps of 45 degrees taken for 40, and the other way; a manifest of several measurements" {
	images 8
	mistake "image 1 and image 9 show the same" wrap -n 9 {1..8}.png 1.png
	images 9
	mistake "an image of 9 seems to be missing after image 8" wrap -n 8 {1..8}.png
	fringesim -q -s 100x80 -p 40,44 -n 3 --frames 3 --motion 2 -m list.vnl -o all%02d.png
	fringesim -q -s 100x80 -p 40,44 -n 3 --frames 3 --motion 2 -o all.nrrd
	right phasewrap -m list.vnl -o a.nrrd
	right phasewrap all.nrrd -o b.nrrd
	right phasewrap -m list.vnl all.nrrd -o c.nrrd
	framecmp a.nrrd b.nrrd
	framecmp a.nrrd c.nrrd
	py 'expect(len(read_frames("a.nrrd")) == 3)'
	head -n 16 list.vnl >short.vnl
	fails 1 "image 9 (all08.png) and image 15 (all14.png) are the same step, 2, of the period 40 px" phasewrap -m short.vnl -o d.nrrd
	images 8	# a list that says no steps is one measurement
	{ echo "# file role"; for i in 1 2 3 4 5 6 7 8; do echo "$i.png phase"; done; } >bare.vnl
	right phasewrap -m bare.vnl -p 40 -o d.nrrd
	right wrap -n 8 {1..8}.png
	framecmp d.nrrd wrapped.nrrd
}

@test "mistakes: a black, dim or bright image among the steps" {
	for n in 4 5 8 12; do
		fringesim -q -s 320x240 -p 60 -n $n --noise 1 --amplitude 46 --mean 118 | framecat -q --delete '*' -o set.nrrd
		for share in 0 0.25 0.5 1.5; do
			py '
share = float(sys.argv[1])
write_frames("dim.nrrd", [Frame(np.minimum(f.pixels * (share if i == 2 else 1.), 255).astype("u1"), f.names)
	for i, f in enumerate(read_frames("set.nrrd"))])' $share
			mistake "image 3 does not fit the others" phasewrap -n $n -p 60 dim.nrrd -o w.nrrd
		done
	done
	need_data slmaster_eye_12step_gray
	# shellcheck disable=SC2154
	eye=$data/slmaster_eye_12step_gray
	framecat -q --scale 0,2000 --as uchar "$eye/phase_03.png" -o dim.png
	mistake "does not fit the others" phasewrap --min-amplitude 3 -n 12 -p 60 "$eye"/phase_0[0-2].png dim.png "$eye"/phase_0[4-9].png \
		"$eye"/phase_1*.png -o w.nrrd
}

@test "mistakes: a single image of fringes, images of a laser's line: the line names the tool for them" {
	fringesim -q -s 320x240 -p 16 -n 3 | framecat --frames 0 --delete '*' -o one.png
	fails 1 "fourierphase takes single images of fringes, steger those of a laser's line" phasewrap one.png -o a.nrrd
	fails 2 "--steps: must be 3 to 1000, not '1': fourierphase takes a single image of fringes" phasewrap -n 1 one.png -o a.nrrd
	fails 2 "--steps: must be 3 to 1000, not '2'" phasewrap -n 2 one.png -o a.nrrd
	right fourierphase one.png -p 16 -o a.nrrd
	echo "camera_K: [ 550, 0, 159.5, 0, 550, 119.5, 0, 0, 1 ]
laser_plane: [ 0.883, 0, 0.4695, -234.75 ]
scan_direction: [ 0.998, 0.02, 0.06 ]" >laser.yml
	for noise in 0 1 3; do
		fringesim -q --laser --calib laser.yml -s 320x240 --noise $noise --thickness 1 --scene sphere --radius 30 --ambient 5 \
			--frames 4 --stage-start -6 --stage-step 4 | framecat --delete '*' -o scan.nrrd
		run --separate-stderr phasewrap --strict -n 4 scan.nrrd -o a.nrrd
		[[ $stderr == *"a narrow bright line: images of a laser's line are for steger"* ]] || [ $noise = 0 ]
	done
	silent steger scan.nrrd -o points.nrrd
	# an unlit picture has none
	fringesim -q -s 320x240 -p 30 -n 4 --amplitude 0 --noise 2 | framecat --delete '*' -o dark.nrrd
	mistake "there are no fringes: phases are random" phasewrap -n 4 dark.nrrd -o a.nrrd
}
