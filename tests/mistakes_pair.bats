# What users of two cameras get wrong: each mistake is named, and what is right is passed in silence.
load mistakes

# scene [ROWS]: left.nrrd and right.nrrd, rectified, f 500 px, 40 mm apart: a plane with spots at 20 px of disparity, the
# right one that many rows too high.
scene() {
	py '
rng = np.random.default_rng(5)
h, w, rows = 150, 300, int(sys.argv[1])
spots = rng.normal(0, 1, (h + 40, w + 60))
for axis in 0, 1:
	for again in range(3): spots = spots + np.roll(spots, 1, axis) + np.roll(spots, -1, axis)
spots = 100 + 30 * spots / spots.std()
for side, at in ("left", 0), ("right", 20):
	phase = np.broadcast_to(0.2 * (np.arange(w) + at), (h, w)) + rng.normal(0, 0.01, (h, w))
	up = 20 + rows * (side == "right")
	texture = spots[up:up + h, at:at + w] * (1, 0.7)[side == "right"] + rng.normal(0, 2, (h, w))
	keys = dict(rect_f_px="500", rect_cx_px="150", rect_cy_px="75", rect_baseline_mm="40", rect_side=side,
		rect_rotation="1 0 0 0 1 0 0 0 1")
	write_frames(side + ".nrrd", Frame(np.array([phase, texture], "f4"), ["absphase", "texture"], keys))' "${1:-0}"
}

match() {
	phasematch --right right.nrrd "$@" left.nrrd -o out.nrrd
}

# rig NAME T [KEY VALUE]: two cameras of 640x480 pixels.
rig() {
	printf '{ "K1": [[900, 0, 320], [0, 900, 240], [0, 0, 1]], "K2": [[900, 0, 320], [0, 900, 240], [0, 0, 1]],
		"R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T": %s, "image_size": [640, 480]%s }\n' "$2" "${3:+, \"$3\": \"$4\"}" >"$1"
}

@test "two cameras: frames that are not rectified, or by the wrong side or calibration: their textures tell" {
	scene 0
	right match
	right match --assume-rectified
	for rows in 4 -9; do
		scene $rows
		mistake "the textures of points that match look alike in other rows" match
		[[ $status -eq 0 && $stderr =~ "rows differ by "(-?[0-9]+)")" ]]
		off=$((BASH_REMATCH[1] + rows))	# the right picture lies as much lower
		[ "$off" -ge -1 ]
		[ "$off" -le 1 ]
		framecat -c absphase right.nrrd -o bare.nrrd	# nothing tells
		right phasematch --right bare.nrrd left.nrrd -o out.nrrd
	done
	scene 9
	framecat right.nrrd right.nrrd -o both.nrrd	# of the first frame only
	mistake "textures" phasematch --right both.nrrd left.nrrd left.nrrd -o out.nrrd
	py '	# and no texture that tells from row to row: no word
for side in "left", "right":
	f = read_frame(side + ".nrrd")
	f.pixels = np.array([f["absphase"], np.broadcast_to(f["texture"][:1], f["texture"].shape)])
	write_frames(side + ".nrrd", f)'
	right match
	for side in left right; do framecat --crop 0,0,300,30 $side.nrrd -o low.$side.nrrd; done
	right phasematch --right low.right.nrrd low.left.nrrd -o out.nrrd
	for side in left right; do framecat --crop 0,0,20,150 $side.nrrd -o thin.$side.nrrd; done
	mistake "no pixel matches" phasematch --right thin.right.nrrd thin.left.nrrd -o out.nrrd
}

@test "two cameras: one file twice, other rows, a channel too few" {
	scene
	for side in left right; do
		framecat --delete rect_f_px,rect_cx_px,rect_cy_px,rect_baseline_mm,rect_side,rect_rotation $side.nrrd -o $side.bare.nrrd
		framecat --crop 0,20,300,100 $side.bare.nrrd -o $side.20.nrrd
	done
	framecat --crop 5,30,280,100 right.bare.nrrd -o right.30.nrrd
	mistake "left.bare.nrrd: has the same phase as the input in each pixel" \
		phasematch --assume-rectified --right left.bare.nrrd left.bare.nrrd -o out.nrrd
	right phasematch --assume-rectified --right right.20.nrrd left.20.nrrd -o out.nrrd
	fails 1 "right.30.nrrd: begins at row 30, the input at row 20 (key origin_px)" \
		phasematch --assume-rectified --right right.30.nrrd left.20.nrrd -o no.nrrd
	py '
for side in "left", "right":
	f = read_frame(side + ".nrrd")
	more = Frame(np.array([f["absphase"], f["absphase"], f["texture"]]), ["absphase1", "absphase2", "texture"], f.meta)
	more.meta["absphase_period_px"] = "60 66"
	write_frames(side + "2.nrrd", more)'
	fails 1 "right.nrrd: the image of --right has 2 channels and none is named absphase1" \
		phasematch --right right.nrrd left2.nrrd -o no.nrrd
	[ ! -e no.nrrd ]
}

@test "two cameras: another calibration than that of the frames" {
	rig rig.json "[-100, 0, 0]"
	sed 's/900/1800/g; s/320/640/g; s/240/480/g; s/640, 480/1280, 960/' rig.json >double.json
	rig turned.json "[-100, 0.5, 0]"
	rig metres.json "[-0.1, 0, 0]"
	py '
rng = np.random.default_rng(5)
x = np.arange(640) + rng.normal(0, 0.02, (480, 640))
for side, at in ("left", 0), ("right", 60): write_frames(side + ".nrrd", Frame((0.2 * (x + at)).astype("f4"), ["absphase"]))'
	for side in left right; do
		right rectify --calib rig.json --side $side $side.nrrd -o $side.r.nrrd
		mistake "the cameras are 0.1 mm apart: is T in metres?" rectify --calib metres.json --side $side $side.nrrd -o $side.m.nrrd
	done
	base=(phasematch --right right.r.nrrd left.r.nrrd)
	right "${base[@]}" -o out.nrrd
	right "${base[@]}" --calib rig.json -o again.nrrd
	framecmp out.nrrd again.nrrd
	# of the swapped pair the input is the right one, in the calibration too
	right phasematch --right left.r.nrrd right.r.nrrd -o swapped.nrrd
	right phasematch --right left.r.nrrd --calib rig.json right.r.nrrd -o swapped.again.nrrd
	framecmp swapped.nrrd swapped.again.nrrd
	fails 1 "double.json: would rectify to f 1800 px, centre 640 480, the keys of the input say f 900 px, centre 320 240" \
		"${base[@]}" --calib double.json -o no.nrrd
	fails 1 "turned.json: would" "${base[@]}" --calib turned.json -o no.nrrd
	# a wrong unit is put right
	right phasematch --right right.m.nrrd --calib rig.json left.m.nrrd -o metres.nrrd
	framecmp out.nrrd metres.nrrd
	# frames without keys
	for side in left right; do framecat --crop 0,0,600,480 $side.nrrd | framecat --delete origin_px -o $side.part.nrrd; done
	bare=(phasematch --assume-rectified --calib rig.json)
	right "${bare[@]}" --right right.nrrd left.nrrd -o bare.nrrd
	framecmp out.nrrd bare.nrrd
	mistake "the frame has 600 x 480 px, those that --calib rectifies 640 x 480" "${bare[@]}" --right right.part.nrrd left.nrrd -o out.nrrd
	mistake "the frame has 600 x 480 px, those that --calib rectifies 640 x 480" "${bare[@]}" --right right.nrrd left.part.nrrd -o out.nrrd
	[ ! -e no.nrrd ]
}

@test "two cameras: captures of half the size, crops that do not say where, a rig in another unit" {
	rig rig.json "[-100, 0, 0]"
	rig um.json "[-100000, 0, 0]"
	rig m.json "[-0.1, 0, 0]" length_unit m
	py '
image = np.random.default_rng(1).integers(0, 200, (480, 640)).astype("u1")
write_frames("image.nrrd", Frame(image))
write_frames("half.nrrd", Frame(image[::2, ::2]))
write_frames("crop.nrrd", Frame(image[100:400, 50:600]))'
	to=(rectify --side left -o out.nrrd --calib)
	right "${to[@]}" rig.json image.nrrd
	right "${to[@]}" m.json image.nrrd
	mistake "um.json: the cameras are 100 m apart: is T in micrometres?" "${to[@]}" um.json image.nrrd
	mistake "the frame is 2 times smaller than the calibration's cameras of 640 x 480 px: if its pixels are larger say so (framecat --set bin=2)" \
		"${to[@]}" rig.json half.nrrd
	framecat --set bin=2 half.nrrd -o binned.nrrd
	right "${to[@]}" rig.json binned.nrrd
	mistake "the frame, 550 x 300 px, is smaller than the calibration's cameras of 640 x 480 px: if it is cut out say where, by --origin" \
		"${to[@]}" rig.json crop.nrrd
	right "${to[@]}" rig.json --origin 50,100 crop.nrrd
	framecat --crop 50,100,550,300 image.nrrd -o keyed.nrrd
	right "${to[@]}" rig.json keyed.nrrd
}

@test "two cameras: each side decoded with the other's name, a real pair (david)" {
	need_data slsdk_david_stereo
	sed 's/_uncropped_half"/"/' "$data/slsdk_david_stereo/calib.json" >david.json
	decoded() {	# CAPTURES SIDE NAME
		local set=$data/slsdk_david_stereo/$1
		fringepipe -q rectify --calib david.json --side "$2" --size 1024x768 "$set"/phase_*.png "$set"/gray_*.png , \
			phasewrap -n 4 -p 64 -G 6 --gray-cell half --phase-origin 180 --min-amplitude 8 , unwrap2f -o "$3.nrrd"
	}
	decoded left left left
	decoded right right right
	decoded right left wrong_left
	decoded left right wrong_right
	right match
	right phasematch --right left.nrrd right.nrrd -o out.nrrd
	for pair in "wrong_left wrong_right" "wrong_left right" "left wrong_right"; do
		mistake "the textures of points that match look alike in other rows" \
			phasematch --right "${pair#* }.nrrd" "${pair% *}.nrrd" -o out.nrrd
	done
}

# toed NAME [PYTHON]: two cameras of 640x480 pixels, 120 mm apart, that look at one point 600 mm away, with what the code
# makes of the entries r.
toed() {
	py 'import json
r = dict(K1=[[900, 0, 320], [0, 900, 240], [0, 0, 1]], d1=[-0.1, 0.02, 0, 0, 0], K2=[[900, 0, 318], [0, 900, 243], [0, 0, 1]],
	R=[[0.98, 0, 0.199], [0, 1, 0], [-0.199, 0, 0.98]], T=[-120, 0, 12], image_size=[640, 480])
R, T = np.array(r["R"]), np.array(r["T"])
exec(sys.argv[2])
json.dump(r, open(sys.argv[1], "w"))' "$1" "${2:-}"
}

@test "two cameras: matrices and lenses of other pictures, a pose that looks apart, cm, names exchanged" {
	py 'write_frames("image.nrrd", Frame(np.random.default_rng(1).integers(0, 200, (480, 640)).astype("u1")))'
	framecat --set "origin_px=0 0" image.nrrd -o placed.nrrd
	framecat --crop 200,100,300,300 image.nrrd -o crop.nrrd
	to=(rectify --side left -o out.nrrd --calib)
	toed ok.json
	toed cropped.json 'r["image_size"] = [300, 300]; r["K1"][0][2] -= 200; r["K1"][1][2] -= 100; r["K2"][0][2] -= 400; r["K2"][1][2] -= 100'
	toed bare.json 'del r["image_size"]'
	toed inverse.json 'r["R"], r["T"] = R.T.tolist(), (-R.T @ T).tolist()'	# the second camera stands left
	toed parallel.json 'r["R"] = np.eye(3).tolist()'
	toed apart.json 'r["R"] = [[0.998, 0, -0.06], [0, 1, 0], [0.06, 0, 0.998]]'	# by 3.4 degrees
	toed small.json 'r["T_mm"] = [-12, 0, 1.2]; del r["T"]'
	toed unit.json 'r["T"] = [-12, 0, 1.2]; r["length_unit"] = "cm"'
	for rig in ok inverse parallel apart small unit; do right "${to[@]}" $rig.json image.nrrd; done
	right "${to[@]}" ok.json placed.nrrd
	right "${to[@]}" ok.json crop.nrrd
	right "${to[@]}" bare.json image.nrrd
	right "${to[@]}" bare.json crop.nrrd
	right "${to[@]}" cropped.json --size 400x400 <(framecat --delete origin_px crop.nrrd)
	toed minus.json 'r["T"] = [120, 0, -12]'
	toed turned.json 'r["R"] = R.T.tolist()'
	for rig in minus turned; do mistake "$rig.json: the cameras look apart, by 1" "${to[@]}" $rig.json image.nrrd; done
	toed cm.json 'r["T"] = [-12, 0, 1.2]'
	mistake "cm.json: the cameras are 12.1 apart and look at a point 61 away, taken for mm as nothing says the unit of T" \
		"${to[@]}" cm.json image.nrrd
	toed order.json 'r["d1"] = [-0.1, 0.02, 0.15, 0, 0]'
	mistake "the left camera's lens has p1 = 0.15 and p2 = 0, more than lenses have" "${to[@]}" order.json image.nrrd
	toed exchanged.json 'r["K2"] = [[900, 0, 240], [0, 900, 320], [0, 0, 1]]'
	mistake "the right camera's matrix has its principal point at 240,320, and the right camera has 640 x 480 px: are width and height" \
		"${to[@]}" exchanged.json image.nrrd
	toed large.json 'r["K2"] = [[1800, 0, 640], [0, 1800, 480], [0, 0, 1]]'
	mistake "as a picture of 1280 x 960 px would, and the right camera has 640 x 480 px: is it of another resolution?" \
		"${to[@]}" large.json image.nrrd
	toed half.json 'r["K1"] = r["K2"] = [[450, 0, 160], [0, 450, 120], [0, 0, 1]]; del r["image_size"]'
	mistake "as a picture of 320 x 240 px would, and the left camera has 640 x 480 px" "${to[@]}" half.json image.nrrd
	toed double.json 'r["K1"] = r["K2"] = [[1800, 0, 640], [0, 1800, 480], [0, 0, 1]]; r["image_size"] = [1280, 960]'
	mistake "the frame is 2 times smaller than the calibration's cameras of 1280 x 960 px" "${to[@]}" double.json placed.nrrd
	toed names.json 'r["devices"] = {n: dict(kind="camera", size=[640, 480]) for n in ("right", "left")}'
	mistake "names.json: calls its first camera right and its second left: --side left is the first one" "${to[@]}" names.json image.nrrd
	toed named.json 'r["devices"] = {n: dict(kind="camera", size=[640, 480]) for n in ("left", "right")}'
	right "${to[@]}" named.json image.nrrd
}

@test "two cameras: points behind the cameras: a wrong sign of the baseline, a crop that does not say where it lies" {
	scene
	right match
	for side in left right; do framecat --set rect_baseline_mm=-40 $side.nrrd -o $side.minus.nrrd; done
	run --separate-stderr phasematch --right right.minus.nrrd left.minus.nrrd -o out.nrrd
	[[ $stderr == *"phasematch: right.minus.nrrd: 100 % of the points lie behind the cameras: are left and right exchanged"* ]]
	framecat --crop 30,0,270,150 left.nrrd -o crop.nrrd
	right phasematch --right right.nrrd crop.nrrd -o out.nrrd
	framecat --delete origin_px,texture crop.nrrd -o bare.nrrd
	run --separate-stderr phasematch --right right.nrrd bare.nrrd -o out.nrrd
	[[ $stderr == *"% of the points lie behind the cameras: "*"do crops say where they lie"* ]]
	# a tilted plane a third of which lies behind
	py '
x, y = np.meshgrid(np.arange(300.), np.arange(150.))
for side, at in ("left", 0), ("right", (200 - x) / 20):
	keys = dict(rect_f_px="500", rect_cx_px="150", rect_cy_px="75", rect_baseline_mm="40", rect_side=side, rect_rotation="1 0 0 0 1 0 0 0 1")
	write_frames("tilted." + side + ".nrrd", Frame((0.2 * (x + at))[None].astype("f4"), ["absphase"], keys))'
	mistake "3" phasematch --right tilted.right.nrrd tilted.left.nrrd -o out.nrrd
	[[ $stderr == *" % of the points lie behind the cameras"* ]]
}

@test "two cameras: phases that one camera counts from another place: their textures tell" {
	scene
	right match
	for rad in -2.6 -0.8 0.8 3; do	# 5 pixels a radian
		py 'f = read_frame("right.nrrd")
f.pixels = f.pixels + np.array([float(sys.argv[1]), 0], "f4")[:, None, None]
write_frames("off.nrrd", f)' $rad
		mistake "off.nrrd: the textures of points that match look alike in other columns" \
			phasematch --right off.nrrd left.nrrd -o out.nrrd
		framecat -c absphase off.nrrd -o bare.nrrd
		right phasematch --right bare.nrrd left.nrrd -o out.nrrd
	done
}

@test "two cameras: each side decoded with another phase origin, a real pair (david)" {
	need_data slsdk_david_stereo
	sed 's/_uncropped_half"/"/' "$data/slsdk_david_stereo/calib.json" >david.json
	decoded() {	# SIDE DEGREES NAME
		local set=$data/slsdk_david_stereo/$1
		fringepipe -q rectify --calib david.json --side "$1" --size 1024x768 "$set"/phase_*.png "$set"/gray_*.png , \
			phasewrap -n 4 -p 64 -G 6 --gray-cell half --phase-origin "$2" --min-amplitude 5 , unwrap2f -o "$3.nrrd"
	}
	decoded left 135 left
	decoded right 135 right
	decoded right 180 other
	right match
	fails 1 "other.nrrd: was decoded with --phase-origin 180, the input with 135 (key decoded_origin_rad)" \
		phasematch --right other.nrrd left.nrrd -o out.nrrd
	framecat --delete decoded_origin_rad other.nrrd -o foreign.nrrd
	framecat --delete decoded_origin_rad left.nrrd -o left_foreign.nrrd
	mistake "foreign.nrrd: the textures of points that match look alike in other columns" \
		phasematch --right foreign.nrrd left_foreign.nrrd -o out.nrrd
}
