load mistakes.bash

# Mistakes that nothing between two tools tells: what a phase, a value or an option means to the next one.

@test "mistakes: a phase of whole numbers, in steps, with zeros for holes" {
	py 'import json
json.dump({"camera_K": [[950, 0, 320], [0, 950, 240], [0, 0, 1]], "projector_K": [[1400, 0, 600], [0, 1400, 400], [0, 0, 1]],
	"R_cam_to_proj": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T_cam_to_proj_mm": [-120, 0, 0],
	"camera_size": [640, 480], "projector_size": [1200, 800]}, open("c.json", "w"))'
	fringesim -q --calib c.json --scene relief --distance 700 -p 60,63 -n 3 --noise 1 |
		phasewrap -q --min-amplitude 8 | unwrap2f -q -o a.nrrd
	right phase2depth --calib c.json a.nrrd -o x.nrrd
	right fringepipe median a.nrrd , phase2depth --calib c.json -o x.nrrd
	right phase2depth --ref ideal --ref-plane 1,0.1,0 -c 5 a.nrrd -o x.nrrd
	framecat -c absphase --as uchar a.nrrd | framecat --invalid 0 -o bytes.nrrd
	py '
a = read_frame("a.nrrd")
p = a["absphase"].astype(float)
for name, q in ("coarse", 0.4), ("fine", 0.2), ("whole", 1):
	write_frames(name + ".nrrd", Frame((np.rint(p / q) * q).astype("f4"), ["absphase"], a.meta))
write_frames("holes.nrrd", Frame(np.nan_to_num(p).astype("f4"), ["absphase"], a.meta))
u = np.arange(640) * np.ones((480, 1))
for name, plane in ("plane", 0.125 * u + 3), ("turned", 0.13 * u.T[:480, :1] * np.ones(640) + 3):
	write_frames(name + ".nrrd", Frame(plane.astype("f4"), ["absphase"], a.meta))'
	for way in "--calib c.json" "--ref ideal --ref-plane 1,0.1,0 -c 5"; do
		# shellcheck disable=SC2086
		for name in bytes whole; do
			mistake "the phase: holds whole numbers only" phase2depth $way $name.nrrd -o x.nrrd
			first=$stderr
			FRINGEPIPE_BAND=7 mistake "$first" phase2depth -j 5 $way $name.nrrd $name.nrrd -o y.nrrd
		done
		# shellcheck disable=SC2086
		for q in coarse:0.4 fine:0.2; do
			mistake "the phase: has steps of ${q#*:} rad" phase2depth $way ${q%:*}.nrrd -o x.nrrd
		done
		# shellcheck disable=SC2086
		mistake "the phase: is exactly 0 at " phase2depth $way holes.nrrd -o x.nrrd
	done
	# a plane that begins at 0: one column of 480 is 0
	fringesim -q -s 480x1000 -p 60,66,73 --scene plane | phasewrap -q | unwrap2f -q -o column.nrrd
	py 'p = read_frame("column.nrrd")["absphase"]; expect((p[:, 0] == 0).mean() > 0.9)'
	right phase2depth --ref ideal -c 5 column.nrrd -o x.nrrd
	right phase2depth --ref ideal --ref-plane 1,0.1,0 -c 5 plane.nrrd -o x.nrrd
	right phase2depth --ref ideal --ref-plane 1,0,0.1 -c 5 turned.nrrd -o x.nrrd
}

@test "mistakes: images of float that are saturated, and a plateau without noise" {
	for n in 3 4 8; do
		fringesim -q -s 200x150 -p 37 -n $n --scene relief --mean 150 --amplitude 120 --noise 1 -o set.nrrd
		may_be_empty phasewrap -q set.nrrd -o w.nrrd
		framecat --as float set.nrrd -o float.nrrd
		may_be_empty phasewrap -q float.nrrd -o f.nrrd
		framecat --delete max_value float.nrrd -o foreign.nrrd
		mistake "samples are exactly 255, and none is above: if the camera saturates there give --max-value 255" \
			phasewrap foreign.nrrd -o g.nrrd
		first=$stderr
		FRINGEPIPE_BAND=7 mistake "$first" phasewrap -j 5 foreign.nrrd -o g.nrrd
		py '
write_frames("unit.nrrd", [Frame((f.pixels / np.float32(255)).astype("f4"), f.names, f.meta) for f in read_frames("set.nrrd")])
w, f = read_frame("w.nrrd"), read_frame("f.nrrd")
expect(np.isnan(w["phase"]).mean() > 0.1)
for name in "phase", "modulation": expect(np.array_equal(w[name], f[name], equal_nan=True), name)'
		mistake "samples are exactly 1, and none is above" phasewrap unit.nrrd -o g.nrrd
		may_be_empty phasewrap -q --max-value 1 unit.nrrd -o g.nrrd
		py '
w, g = read_frame("w.nrrd"), read_frame("g.nrrd")
expect(np.array_equal(np.isnan(w["phase"]), np.isnan(g["phase"])))'
	done
	framecat --as float -c modulation w.nrrd -o modulation.nrrd
	py 'expect("max_value" not in read_frame("modulation.nrrd").meta)'
	for n in 3 4 6 12; do
		for scene in plane relief; do
			fringesim -q -s 200x150 -p 40 -n $n --scene $scene --mean 140 --amplitude 90 --noise 0 -o set.nrrd
			right phasewrap set.nrrd -o w.nrrd
			framecat --as float --delete max_value set.nrrd -o float.nrrd
			right phasewrap float.nrrd -o w.nrrd
			fringesim -q -s 200x150 -p 37 -n $n --scene $scene --mean 140 --amplitude 115 --noise 0 -o set.nrrd
			py 'write_frames("flat.nrrd", [Frame(np.minimum(f.pixels, 235), f.names, f.meta) for f in read_frames("set.nrrd")])'
			mistake "samples are exactly 235, and none is above" phasewrap flat.nrrd -o w.nrrd
		done
	done
}

@test "mistakes: a kind of images that the manifest, or the images themselves, do not have" {
	fringesim -q -s 100x80 --projector 320x200 -p 40 -n 6 --gray period --inverse -m steps.vnl -o steps.nrrd
	fringesim -q -s 100x80 -p 40 --kind 2+1 -m two.vnl -o two.nrrd
	for m in steps.vnl two.vnl; do framecat --delete '*' ${m%.vnl}.nrrd -o ${m%.vnl}_bare.nrrd; done
	right phasewrap -m steps.vnl -k step steps_bare.nrrd -o w.nrrd
	right phasewrap -m steps.vnl -k gray steps_bare.nrrd -o w.nrrd
	right phasewrap -m two.vnl -k 2+1 two_bare.nrrd -o w.nrrd
	rm w.nrrd
	fails 2 "--kind: says 2+1, and the manifest steps.vnl has fringes of equal steps (role phase)" phasewrap -m steps.vnl -k 2+1 steps_bare.nrrd -o w.nrrd
	fails 2 "--kind: says step, and the manifest two.vnl has 2+1 images (roles sin, cos, flat)" phasewrap -m two.vnl -k step two_bare.nrrd -o w.nrrd
	fails 2 "--kind: says gray, and the manifest two.vnl has no Gray planes" phasewrap -m two.vnl -k gray two_bare.nrrd -o w.nrrd
	fails 1 "--kind: says 2+1, and none of the images says that it is one (roles sin, cos, flat)" phasewrap -k 2+1 steps.nrrd -o w.nrrd
	[ ! -e w.nrrd ]
}

@test "mistakes: options against what a Holoimage, or its three bits, say of themselves" {
	py '
y, x = np.mgrid[:128, :160]
write_frames("z.nrrd", Frame((20 * np.exp(-((x - 80) ** 2 + (y - 64) ** 2) / 900)).astype("f4"), ["depth"]))'
	holoenc -P 32 --depth-range -5,30 z.nrrd -o z.png
	for same in "-P 32" "-t 30" "--stair cosine" "-K 0" "--layout rgb" "--depth-range=-5,30" "--z-axis away" "--rounding angle"; do
		# shellcheck disable=SC2086
		right holodec $same z.png -o d.nrrd
	done
	mistake "holodec: holo_depth_range: the picture says -5 to 30, the option's 0 to 30 is used" holodec --depth-range 0,30 z.png -o d.nrrd
	cp z.png y.png
	mistake "holo_depth_range: the picture says -5 to 30" holodec --depth-range 0,30 z.png y.png -o d.nrrd
	mistake "z_axis: the picture says away, the option's towards is used" holodec --z-axis towards z.png -o d.nrrd
	mistake "fringepipe: holodec: z_axis: the picture says away" fringepipe holodec --z-axis towards z.png , framecat -o d.nrrd
	holoenc -P 32 -K 0 --depth-range -5,30 z.nrrd | dither3 -m bayer -o three.png
	right undither3 -m bayer --pack msb --texture 0 -P 32 three.png -o u.nrrd
	mistake "holo_dither: the picture says bayer, the option's fs is used" undither3 -m fs three.png -o u.nrrd
	mistake "holo_dither: the picture says bayer" undither3 --filter gauss -m blue three.png -o u.nrrd
	mistake "holo_pitch_px: the picture says 32, the option's 34 is used" undither3 -P 34 three.png -o u.nrrd
	mistake "holo_depth_range: the picture says -5 to 30, the option's 0 to 1 is used" undither3 --depth-range 0,1 three.png -o u.nrrd
	mistake "z_axis: the picture says away" undither3 --z-axis towards three.png -o u.nrrd
	# the wrong stair, and what comes of it
	run --separate-stderr undither3 --stair composite three.png -o u.nrrd
	[[ ${#stderr_lines[@]} -eq 2 && ${stderr_lines[0]} == *"holo_stair: the picture says cosine, the option's composite is used" &&
		${stderr_lines[1]} == *"the bits agree with the thresholds of bayer at "*" % of the surface only"* ]]
}

@test "mistakes: factors of another period, or of another place on the sensor; errors of --fit-c print no frames" {
	plane() {	# PERIODS HEIGHT FILE
		fringesim -q -s 90x60 -p "$1" -c 1 --scene plane --height "$2" | phasewrap -q --as vector | gauss -q | unwrap2f -q -o "$3"
	}
	plane 24,26 0 ref.nrrd
	plane 24,26 5 five.nrrd
	plane 24,26 10 ten.nrrd
	plane 30,33 0 ref30.nrrd
	plane 30,33 5 five30.nrrd
	fit=(phase2depth --ref ref.nrrd --fit-c)
	right "${fit[@]}" 5,10 five.nrrd ten.nrrd -o c.nrrd
	right phase2depth --ref ref.nrrd --c-map c.nrrd five.nrrd -o z.nrrd
	rm z.nrrd
	fails 1 "--c-map: does not go with the input: its period_px is 24, the input's 30" \
		phase2depth --ref ref30.nrrd --c-map c.nrrd five30.nrrd -o z.nrrd
	for file in ref five c; do framecat --crop 10,10,50,40 $file.nrrd -o $file.part.nrrd; done
	framecat --crop 20,20,50,40 c.nrrd -o c.other.nrrd
	right phase2depth --ref ref.part.nrrd --c-map c.part.nrrd five.part.nrrd -o y.nrrd
	fails 1 "--c-map: does not go with the input: its origin_px is 20 20, the input's 10 10" \
		phase2depth --ref ref.part.nrrd --c-map c.other.nrrd five.part.nrrd -o z.nrrd
	[ ! -e z.nrrd ]
	right "${fit[@]}" 5,10 five.nrrd ten.nrrd
	[[ $output == c_mm_per_rad:=*fit_rms_mm:=* ]]
	fails 1 "--fit-c names 3 depths, the input has 2 measurements" "${fit[@]}" 5,10,15 five.nrrd ten.nrrd
	[ -z "$output" ]
	fails 1 "--fit-c names 2 depths, the input has more measurements" "${fit[@]}" 5,10 five.nrrd ten.nrrd ten.nrrd
	[ -z "$output" ]
	fails 2 "phase2depth: gives no frames, so it can only be the last stage" fringepipe framecat five.nrrd ten.nrrd , "${fit[@]}" 5,10 , gauss -o z.nrrd
}

@test "mistakes: a mesh, or a table, of scaled samples" {
	py 'write_frames("z.nrrd", Frame(np.random.default_rng(1).random((20, 30)).astype("f4") + 5, ["depth"], {"z_axis": "towards"}))'
	framecat --scale 0,10 --as ushort z.nrrd -o z16.tif
	for suffix in ply obj stl; do
		right framecat --unscale z16.tif -o z.$suffix
		rm z.$suffix
		fails 1 "z.$suffix: a mesh of samples that are scaled (key sample_scale" framecat z16.tif -o z.$suffix
		[ ! -e z.$suffix ]
	done
	fails 1 "--points: samples are scaled (key sample_scale" framecat --points z16.tif -o z.csv
	right framecat --points --unscale z16.tif -o z.csv
}

@test "mistakes: fringeprobe names the images of a set that it refuses; 2+1 in the dark; origin of three steps" {
	fringesim -q -s 320x240 --scene relief -p 60 -n 4 --gray half --noise 1 | framecat --split --delete '*' -o %02d.png
	right fringeprobe .
	rm 02.png
	fails 1 "no three of them show the same fringes moved, and there is no Gray code; by their values 3 images from 00.png to 03.png may be fringes and 6 images from 04.png to 09.png a Gray code: is one missing, exchanged or of another measurement?" fringeprobe .
	disc() {	# OPTION ...: lit within a circle
		rm -rf disc
		mkdir disc
		fringesim -q -s 320x240 --noise 1 "$@" -o set.nrrd
		py '
rng, (y, x) = np.random.default_rng(1), np.mgrid[:240, :320]
lit = (x - 160) ** 2 + (y - 120) ** 2 < 100 ** 2
write_frames("disc.nrrd", [Frame(np.where(lit, f.pixels, np.clip(np.rint(4 + rng.normal(0, 1, lit.shape)), 0, 255)).astype("u1")) for f in read_frames("set.nrrd")])'
		framecat --split disc.nrrd -o disc/%02d.png
		fringeprobe disc >words.txt
	}
	disc -p 30 --kind 2+1
	has -e '-k 2+1 .*--min-amplitude 2[0-9] ' <words.txt
	phasewrap -q -k 2+1 -p 40 --min-amplitude 22 disc -o w.nrrd
	py '
y, x = np.mgrid[:240, :320]
lit = (x - 160) ** 2 + (y - 120) ** 2 < 100 ** 2
expect((np.isfinite(read_frame("w.nrrd")["phase"]) == lit).mean() > 0.999)'
	disc -p 40,44 -n 3
	has -e '--phase-origin 0 *found *the phases meet at -1[12][0-9].[0-9] +- [0-9.]* degrees of the first image, which has -120 in --shift' <words.txt
}

@test "mistakes: an input without a valid pixel" {
	py '
n = np.full((40, 50), np.nan, "f4")
write_frames("phase.nrrd", Frame(np.stack([n, n]), ["phase", "modulation"], {"period_px": "20"}))
write_frames("depth.nrrd", Frame(n, ["depth"], {"z_axis": "towards"}))
some = n.copy(); some[20, 20:30] = 1
write_frames("some.nrrd", Frame(some, ["depth"], {"z_axis": "towards"}))'
	fails 1 "no pixel of the input is valid" framecat -c phase --set channels=absphase phase.nrrd -o absphase.nrrd
	for command in "unwrapq phase.nrrd" "gauss phase.nrrd" "median absphase.nrrd" "framecat depth.nrrd" "normals -p 1 depth.nrrd"; do
		# shellcheck disable=SC2086
		mistake "${command%% *}: no pixel of the input is valid" $command -o out.nrrd
	done
	mistake "shade: no pixel of the input is valid" shade depth.nrrd -o out.png
	mistake "fringepipe: gauss: no pixel of the input is valid" fringepipe gauss phase.nrrd , framecat -o out.nrrd
	right framecat some.nrrd -o out.nrrd
	mistake "framecat: no pixel of the input is valid in frame 1" framecat some.nrrd depth.nrrd -o out.nrrd
	mistake "framecat: no pixel of depth is valid, though the input has some" framecat --crop 0,0,10,10 some.nrrd -o out.nrrd
}

@test "mistakes: messages name what counts: Gray planes under a manifest, beats, a curved response" {
	fringesim -q -s 320x200 --projector 640x400 -p 40 -n 4 --gray period --inverse --noise 1 -m list.vnl -o %02d.png
	framecat --delete '*' 0[0-3].png 04.png 08.png 05.png 09.png 06.png 10.png 07.png 11.png -o pairs.nrrd
	mistake "every plane is followed by its inverse, which is not the order that the manifest, or the images' keys, say" \
		phasewrap -m list.vnl pairs.nrrd -o w.nrrd
	framecat --delete '*' 0[0-3].png 08.png 09.png 10.png 11.png 0[4-7].png -o inverted.nrrd
	mistake "and not inverted (phasewrap --order, or the rows of its manifest)?" \
		fringepipe phasewrap -m list.vnl inverted.nrrd , unwrap2f -o u.nrrd
	fringesim -q -s 320x240 --projector 1200x800 -p 40,44 -n 3 -o set.nrrd
	fails 1 "no beat spans the field of 900 px, the longest 440 px" fringepipe phasewrap set.nrrd , unwrap2f -m heterodyne --field 900 -o u.nrrd
	fringesim -q -s 320x240 --projector 2000x800 -p 40,1000 -n 3 -o set.nrrd
	fails 1 "no beat spans the field of 2000 px, the longest 41.6667 px" fringepipe phasewrap set.nrrd , unwrap2f -m heterodyne --field 2000 -o u.nrrd
	fringesim -q -s 320x240 --projector 1200x800 -p 60,63 -n 3 --gamma 2.2 --noise 1 -o set.nrrd
	mistake "or a curved response (gamma) of few steps a period" fringepipe phasewrap set.nrrd , unwrap2f -o u.nrrd
}

@test "mistakes: labels as colours: distinct, 0 and NaN grey, no values in between" {
	py '
y, x = np.mgrid[:40, :80]
label = (x // 10 + 8 * (y // 10)).astype("f4")
label[:10, 70:] = np.nan
write_frames("label.nrrd", Frame(label, ["label"]))
write_frames("half.nrrd", Frame(label + 0.5, ["label"]))
write_frames("bytes.nrrd", Frame(np.nan_to_num(label).astype("u1"), ["label"]))'
	right framecat --colormap labels label.nrrd -o l.nrrd
	right framecat --colormap labels bytes.nrrd -o b.nrrd
	right framecat --colormap labels --axes --nan-colour 0,0,0 label.nrrd -o axes.png
	py '
label, rgb = read_frame("label.nrrd")["label"], read_frame("l.nrrd").pixels.astype(int)
expect((read_frame("b.nrrd").pixels == rgb).all())
grey = np.isnan(label) | (label == 0)
expect((rgb[:, grey] == 128).all())
colours = {k: rgb[:, label == k].T for k in range(1, 32) if (label == k).any()}
expect(all((c == c[0]).all() for c in colours.values()))
first = np.array([c[0] for c in colours.values()] + [[128] * 3])
away = np.abs(first[:, None] - first).max(2)[~np.eye(len(first), dtype=bool)]
expect(away.min() > 5, away.min())'
	fails 1 "labels are whole numbers from 0 on, and pixel (0, 0) of label is 0.5" framecat --colormap labels half.nrrd -o h.png
	fails 2 "--bar: does not go with --colormap labels" framecat --colormap labels --bar label.nrrd -o h.png
	fails 2 "--scale: does not go with --colormap labels" framecat --colormap labels --scale 0,9 label.nrrd -o h.png
	[ ! -e h.png ]
}

@test "mistakes: curves have the names of their files, where these tell them apart" {
	py '
for name in "plane", "face": write_frames(name + ".nrrd", Frame(np.random.default_rng(1).random((8, 9)).astype("f4"), ["depth"]))'
	mkdir other
	cp plane.nrrd other/plane.nrrd
	right frameplot plane.nrrd face.nrrd -o a.svg
	right frameplot plane.nrrd other/plane.nrrd -o b.svg
	right frameplot -o c.pdf face.nrrd plane.nrrd
	right frameplot -o d.pdf plane.nrrd other/plane.nrrd
	py 'from pdftext import texts
expect({"face", "plane"} <= set(texts("c.pdf")), texts("c.pdf"))
expect({"1", "2"} <= set(texts("d.pdf")) and "plane" not in texts("d.pdf"), texts("d.pdf"))'
}

@test "mistakes: radians for degrees, a period for a slope, metres for millimetres, nothing to compare" {
	fringesim -q -s 60x40 -p 40 -n 4 | framecat --split --delete '*' -o %d.png
	fails 1 "do not determine a phase: they look like radians, --shift takes degrees" phasewrap -n 4 -p 40 -s 0,1.5708,3.1416,4.7124 [0-3].png -o w.nrrd
	py '
z = 690 + 90 * np.random.default_rng(1).random((40, 60))
write_frames("z.nrrd", Frame(z.astype("f4"), ["depth"], {"length_unit": "mm"}))
write_frames("m.nrrd", Frame(z.astype("f4"), ["depth"], {"length_unit": "m"}))
write_frames("nan.nrrd", Frame((z * np.nan).astype("f4"), ["depth"], {"length_unit": "mm"}))
write_frames("phase.nrrd", Frame(z.astype("f4"), ["absphase"]))'
	right holoenc --depth-range 690,780 z.nrrd -o h.png
	mistake "lie outside 690 to 720 and become background" holoenc --depth-range 690,720 z.nrrd -o h.png
	[[ $stderr != *unit* ]]
	right holoenc --depth-range 690.05,780 z.nrrd -o h.png		# one stray depth of 2400
	right holoenc z.nrrd -o h.png
	mistake "holoenc: --depth-range: 100 % of the depths, which go from 690 to 78" holoenc --depth-range 0.6,0.8 z.nrrd z.nrrd -o h%d.png
	[[ $stderr == *"lie outside 0.6 to 0.8 and become background: is it in the unit of the depths?" ]]
	right framecmp --rms 1 z.nrrd z.nrrd
	right framecmp nan.nrrd nan.nrrd
	mistake "length_unit: A has mm, B m: numbers are compared as they are" framecmp z.nrrd m.nrrd
	mistake "framecmp: frame 0: no pixel of depth is a number in both, so that no limit says anything" framecmp --rms 1 nan.nrrd nan.nrrd
	fails 2 "--ref-plane: 60 rad from pixel to pixel are fringes of less than two" \
		phase2depth --ref-plane 1,60,0 -c 1 phase.nrrd -o d.nrrd
	right phase2depth --ref-plane 1,0.1,0 -c 1 phase.nrrd -o d.nrrd
}

@test "mistakes: what stands beside another phase: a reference, a marker's place, a table, a second filter" {
	base="-s 160x120 --projector 216x160 -c 1 --height 8"
	fringesim $base -p 24 -n 4 --noise 2 --marker -q -o marked.nrrd
	fringesim $base -p 24 -n 4 --noise 2 -q -o set.nrrd
	phasewrap set.nrrd -o phase.nrrd
	framecat --frames 0 set.nrrd -o image.png
	fails 1 "--ref: holds an image, not an absolute phase" unwrapq --ref image.png phase.nrrd -o out.nrrd
	phasewrap marked.nrrd -o marked_phase.nrrd
	fails 1 "--marker-at: 5000 lies outside the projector's 216 pixels" unwrapq --marker-at 5000 marked_phase.nrrd
	mistake "--marker-at: 131.5 wins over the key marker_px, 107.5" unwrapq --marker-at 131.5 marked_phase.nrrd -o out.nrrd
	# harmonics of the other axis
	fringesim $base -p 24 -n 8 -a y --gamma 1.8 -q | fringegamma --harmonics y.txt >report
	fails 1 "has no harmonics of fringes along x" phasewrap --harmonics y.txt set.nrrd
	# a reference without sigma; a filter twice
	phasewrap --sigma --read-noise 2 set.nrrd | unwrapq --anchor 80,60,20 -o absolute.nrrd
	fringesim $base -p 24 -n 4 --noise 2 --seed 7 -q --scene plane | phasewrap -q | unwrapq -q --anchor 80,60,20 |
		framecat --channels absphase -o plain.nrrd
	mistake "--ref: has no channel sigma" phase2depth --ref plain.nrrd -c 1 absolute.nrrd -o depth.nrrd
	phase2depth --ref ideal -c 1 absolute.nrrd | kalman --motion 0.1 -o once.nrrd
	fails 1 "sigma is that of values which a filter has mixed over frames" kalman --motion 0.1 once.nrrd
	# images that one channel of a frame is no phase of
	fails 1 "--channel: modulation is no wrapped phase" wff --channel modulation phase.nrrd
}

@test "mistakes: numbers at hand tell: other steps as exposures, --steps, --turn, images in kalman, sets as --marker" {
	fringesim -q -s 120x90 --projector 120x90 -p 24 -n 12 --noise 1 -o set.nrrd
	py 'write_frames("bare.nrrd", [Frame(f.pixels) for f in read_frames("set.nrrd")])'
	for words in "-n 6 --exposures 2" "-n 4 --exposures 3" "-n 3 --exposures 4"; do
		# shellcheck disable=SC2086
		fails 1 "do not show the same fringes" phasewrap $words bare.nrrd -o out.nrrd
	done
	fringesim -q -s 120x90 --projector 120x90 -p 24 -n 4 --marker -o marked.nrrd
	mistake "--steps: says 5 images of a period, and of the images themselves 4" phasewrap -n 5 marked.nrrd -o five.nrrd
	silent phasewrap marked.nrrd -o four.nrrd
	framecmp five.nrrd four.nrrd
	mistake "images of patterns (key role: phase)" kalman set.nrrd -o out.nrrd
	# a whole set holds the marker; four of its images do not
	framecat --stack marked.nrrd -o stack.nrrd
	framecat --frames 0,1,2,3 --stack marked.nrrd -o fringes.nrrd
	framecat --channels phase,modulation,texture four.nrrd -o phase.nrrd
	unwrapq -q --marker stack.nrrd phase.nrrd -o one.nrrd
	unwrapq -q four.nrrd -o own.nrrd
	py 'expect(read_frame("one.nrrd")["absphase"].view("u4") == read_frame("own.nrrd")["absphase"].view("u4"), "marker")'
	fails 1 "is no marker along x" unwrapq --marker fringes.nrrd phase.nrrd
	fails 1 "its first image is no marker along x, but has the role phase" unwrapq --marker marked.nrrd phase.nrrd
	# of 256 levels a turn
	py '
f = read_frame("phase.nrrd")["phase"]
write_frames("levels.nrrd", [Frame(np.floor((f + np.pi) / (2 * np.pi) * 256).clip(0, 255).astype("u1"), ["image"])])'
	silent unwrapq --channel image --turn 256 levels.nrrd -o out.nrrd
	mistake "--turn: is 270, and the samples jump by no more than 25" unwrapq --channel image --turn 270 levels.nrrd -o out.nrrd
}

@test "mistakes: a Holoimage saved with a palette" {
	fringesim -s 200x150 -p 60,63 -n 3 -q --truth truth.nrrd -o set.nrrd
	framecat --channels depth truth.nrrd | holoenc -P 16 --depth-range -50,50 -o holo.png
	/usr/bin/python3 - <<-'END'
		from PIL import Image
		picture = Image.open("holo.png").convert("RGB")
		picture.quantize(256).save("palette.png")
		picture.save("bare.png")
		picture.save("lossy.jpg", quality=85)
	END
	keys="-P 16 -t 30 --stair cosine -S 14 -K 0 --depth-range -50,50 --z-axis towards"
	mistake " colours, as a palette leaves: its depths are far off" holodec $keys palette.png -o depth.nrrd
	right holodec $keys bare.png -o depth.nrrd
	right holodec $keys lossy.jpg -o depth.nrrd
}
