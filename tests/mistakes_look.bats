#!/usr/bin/env bats
# What users get wrong with the tools that look at surfaces, compare, convert and join them: one line tells them, and
# right runs get no word.

setup() {
	load mistakes
	cd "$BATS_TEST_TMPDIR" || exit 1
	relief
}

# relief: depth.nrrd, 0 to 40 mm over a plane that is exactly 0; plate.nrrd, a plate of 0.1 mm; points.nrrd of a camera.
relief() {
	fringesim -q -s 160x120 --scene relief --truth truth.nrrd -o null:
	framecat -c depth truth.nrrd -o depth.nrrd
	py '
f = read_frame("depth.nrrd")
y, x = np.mgrid[:120, :160].astype("f4")
f.pixels = np.random.default_rng(1).normal(-0.05, 0.05, f.pixels.shape).astype("f4"); write_frames("plate.nrrd", f)
z = 700 + 60 * np.exp(-((x - 80) ** 2 + (y - 60) ** 2) / 2000)
write_frames("points.nrrd", Frame(np.stack([(x - 80) / 200 * z, (y - 60) / 200 * z, z]), list("xyz"),
	{"length_unit": "mm", "z_axis": "away"}))'
}

@test "mistakes: shade: a range that shows one colour, of all frames, in all views" {
	for way in "" --bar "--view 20,10" "--view 20,10 --bar"; do
		# shellcheck disable=SC2086
		mistake "--range: 100 % of the surface lies far below 100 to 200, and nothing within" \
			shade -c depth -r 100,200 $way depth.nrrd -o x.png
	done
	mistake "lies far above -90 to -50" shade -c depth --range=-90,-50 depth.nrrd -o x.png
	mistake "far above 0.7 to 0.8" shade -c depth -r 0.7,0.8 points.nrrd -o x.png
	mistake "shade: --range: 100 % of the surface" fringepipe normals depth.nrrd , shade -c depth -r 100,200 -o x.png
	for way in "" --bar "--view 20,10"; do
		# shellcheck disable=SC2086
		mistake "all of the surface lies within 0 to 58.59, of 0 to 30000: it shows one colour" \
			shade -c depth -r 0,30000 $way depth.nrrd -o x.png
	done
	mistake "all of the surface lies within" shade -c depth --range=0,600000 depth.nrrd points.nrrd -o x%d.png
	# a box on a plane whose noise goes below the range, or a hole in one above it; the box fills the range
	py '
f = read_frame("depth.nrrd"); z = np.random.default_rng(1).normal(0, 0.01, f.pixels.shape); z[:, 40:80, 50:90] += 20
for name, sign in ("box", 1), ("hole", -1): f.pixels = (sign * z).astype("f4"); write_frames(name + ".nrrd", f)'
	mistake "all of the surface lies within 0 to 39.06, of 0 to 20000: it shows one colour" shade -c depth -r 0,20000 box.nrrd -o x.png
	first=$stderr
	FRINGEPIPE_BAND=7 mistake "$first" shade -j 5 -c depth -r 0,20000 box.nrrd -o x.png
	mistake "all of the surface lies within" shade -c depth --range=-20000,0 hole.nrrd -o x.png
	for range in 0,20 -1,30 0,1000; do right shade -c depth --range=$range box.nrrd -o x.png; done
	py 'f = read_frame("depth.nrrd"); f.pixels = f.pixels * 0; write_frames("flat.nrrd", f)'
	for range in 0,40 -1,1 0,30000; do right shade -c depth --range=$range flat.nrrd -o x.png; done
	right shade -c depth -r 0,30 plate.nrrd -o x.png
	# one frame of several shows more; a plate in the range of what stood on it; a part of the depths; no range
	right shade -c depth -r 700,800 depth.nrrd points.nrrd -o x%d.png
	right shade -c depth -r 0,40 plate.nrrd -o x.png
	for range in 0,40 5,20 38,60 0,1000 -100,1; do right shade -c depth --range=$range depth.nrrd -o x.png; done
	right shade -c depth depth.nrrd -o x.png
	right shade -c depth -r 700,800 --view 20,10 points.nrrd -o x.png
	py 'write_frames("none.nrrd", Frame(np.full((1, 20, 20), np.nan, "f4"), ["depth"]))'
	mistake "no pixel of" shade -c depth -r 0,1 none.nrrd -o x.png
}

@test "mistakes: --jump that cuts all of a surface" {
	for tool in "shade --view 20,10 -o x.png" "shade -o x.png" "framecat -o x.ply" "mesh2depth -o x.nrrd"; do
		# shellcheck disable=SC2086
		run $tool --jump 0.01 points.nrrd
		[ "$(grep -c -e "--jump: 0.01 cuts 9. % of the slopes" <<<"$output")" -eq 1 ]
		for jump in 0.9 5 1000; do
			# shellcheck disable=SC2086
			right $tool --jump $jump points.nrrd
		done
	done
	# all steps of a flat staircase are its jumps
	py 'x = np.arange(160) // 40 * 20 + np.zeros((120, 1))
write_frames("stairs.nrrd", Frame(x[None].astype("f4"), ["depth"]))'
	right shade --jump 1 stairs.nrrd -o x.png
	right framecat --jump 1 stairs.nrrd -o x.ply
}

@test "mistakes: frameplot of nothing, and beside all" {
	py 'f = read_frame("depth.nrrd"); f.pixels = f.pixels.copy(); f.pixels[:, 59] = np.nan; write_frames("hole.nrrd", f)'
	mistake "frame 0: depth has no value on the line from 0,59 to 159,59" frameplot hole.nrrd -o x.svg
	mistake "frame 1: depth has no value on the line" frameplot depth.nrrd hole.nrrd hole.nrrd -o x.svg
	right frameplot -r 60 hole.nrrd -o x.svg
	right frameplot -x 80 hole.nrrd -o x.svg
	mistake "--range: no value lies within 100 to 200: they go from 0 to 3" frameplot --range 100,200 depth.nrrd -o x.svg
	mistake "--range: no value lies within 100 to 200: they go from 0 to" frameplot --map --range 100,200 depth.nrrd -o x.png
	right frameplot --range 30,200 depth.nrrd -o x.svg
	right frameplot --map --range 30,200 depth.nrrd -o x.png
}

@test "mistakes: framecmp with limits that nothing exceeds, or of hardly a pixel" {
	mistake "--relative: 1 allows any two numbers of the same sign" framecmp --relative 1 depth.nrrd depth.nrrd
	right framecmp --relative 0.5 depth.nrrd depth.nrrd
	fails 2 "--relative: of 2 allows everything" framecmp --relative 2 depth.nrrd depth.nrrd
	fails 2 "--max: of 4 allows everything: with --turns no difference is larger than pi" framecmp -t --max 4 depth.nrrd depth.nrrd
	fails 2 "--rms: of 3.15 allows" framecmp -t --rms 3.15 depth.nrrd depth.nrrd
	fails 2 "--quantile: of 5 allows" framecmp -t --quantile 0.5,0.1,0.9,5 depth.nrrd depth.nrrd
	mistake "--turns: is for phases, and channel depth is a length" framecmp -t --max 3.1 depth.nrrd depth.nrrd
	framecat --set channels=absphase depth.nrrd -o phase.nrrd
	right framecmp -t --max 3.1 phase.nrrd phase.nrrd
	py '
f = read_frame("depth.nrrd"); p = f.pixels
def save(name, keep):
	f.pixels = np.where(keep, p, np.nan).astype("f4"); write_frames(name, f)
y, x = np.mgrid[:120, :160]
save("left.nrrd", x < 80); save("right.nrrd", x >= 78); save("line.nrrd", x == 50); save("one.nrrd", (x == 5) & (y == 5))'
	mistake "only 240 pixels of depth are numbers in both, of 9600 in A and 9840 in B" \
		framecmp --nan ignore --max 1 left.nrrd right.nrrd
	mistake "only 1 pixels of depth are numbers in both" framecmp --nan ignore --max 1 depth.nrrd one.nrrd
	right framecmp --nan ignore --max 1 depth.nrrd line.nrrd
	right framecmp --nan ignore --max 1 left.nrrd depth.nrrd
}

@test "mistakes: framecat: frames that did not come, keys that are misspelt, scales of another unit" {
	mistake "--frames: there is no frame 5: 1 came, from 0 to 0" framecat --frames 0,5-9 depth.nrrd -o x.nrrd
	right framecat --frames 0-9,12- depth.nrrd -o x.nrrd
	mistake "--delete: there is no key lenght_unit (is it length_unit?)" framecat --delete lenght_unit depth.nrrd -o x.nrrd
	mistake "(is it period_px?)" framecat --delete z_axis,period depth.nrrd depth.nrrd -o x.nrrd
	right framecat --delete 'length_unit,cmd.9,phase_sign,sample_scale,origin_px,*px' depth.nrrd -o x.nrrd
	mistake "--set: no tool reads the key lenght_unit (is it length_unit?)" framecat --set lenght_unit=mm depth.nrrd depth.nrrd -o x.nrrd
	mistake "(is it phase_sign?)" framecat --set z_axis=away,phase_sgn=1 depth.nrrd -o x.nrrd
	right framecat --set 'length_unit=mm,lot=7,operator=A, B,my_unit=3,time=1,bins=2' depth.nrrd -o x.nrrd
	framecat --set note_a=x,phase_sign=1 depth.nrrd | framecat --delete length_unit -o own.nrrd
	right framecat --set phase_sign=1,period_px=3 own.nrrd -o x.nrrd
	# every key of the pages, without its last letter but one, unless that is another one
	for key in $(sed -n '/^\.It Cm role/,/^\.Ss Gathering/s/^\.It Cm //p' "$BATS_TEST_DIRNAME/../man/frame.5" | tr -d ',' | tr ' ' '\n' |
		grep -E '^[a-z_]{6,}[a-z]$'); do
		mistake "no tool reads the key ${key::-2}${key: -1} (is it " framecat --set "${key::-2}${key: -1}=1" depth.nrrd -o x.nrrd
	done
	mistake "--scale: channel depth goes from 0 to 3" framecat --as ushort -s 0,1000000 depth.nrrd -o x.png
	right framecat --as ushort -s 0,1000 depth.nrrd -o x.png
	right framecat --as ushort -s 0,40 plate.nrrd -o x.png
	right framecat -s 0,40 plate.nrrd -o x.png
}

@test "mistakes: framecat: holes that become 0 beside values that do" {
	py '
f = read_frame("depth.nrrd"); f.pixels = f.pixels.copy()
def save(name, hole):
	g = f.pixels.copy(); g[:, hole] = np.nan; write_frames(name + ".nrrd", Frame(g, f.names, f.meta))
y, x = np.mgrid[:120, :160]
save("holes", y < 20); save("few", (y == 0) & (x < 40))
f.pixels = f.pixels + np.float32(5); save("above", y < 20)
f.names = ["texture"]; f.pixels -= np.float32(5); save("texture", y < 20)'
	for words in "--as ushort -s 0,40" "--as ushort -s auto" "--as uchar" "--as uchar -s auto"; do
		# shellcheck disable=SC2086
		mistake "of channel depth are NaN and become 0, as" framecat $words holes.nrrd holes.nrrd -o x%d.png
		# shellcheck disable=SC2086
		right framecat $words --fill 0 holes.nrrd -o x.png
		# shellcheck disable=SC2086
		right framecat $words texture.nrrd -o x.png
		# shellcheck disable=SC2086
		right framecat $words few.nrrd -o x.png
	done
	right framecat --as ushort --scale=-1,40 holes.nrrd -o x.png
	right framecat --as ushort -s 40,0 holes.nrrd -o x.png
	right framecat --as ushort -s 0,50 above.nrrd -o x.png
	right framecat --colormap viridis holes.nrrd -o x.png
}

@test "mistakes: files in the order of a shell's text; variables that no tool reads" {
	for i in 1 2 3 9 10 11; do cp depth.nrrd d$i.nrrd; done
	mistake "d11.nrrd comes before d2.nrrd, as a shell sorts numbers without zeros" framecat d*.nrrd -o x.nrrd
	mistake "fringepipe: d11.nrrd comes before d2.nrrd" fringepipe framecat d*.nrrd , normals -o x.nrrd
	right framecat d1.nrrd d2.nrrd d10.nrrd -o x.nrrd
	right framecat d10.nrrd d2.nrrd -o x.nrrd
	right frameplot d*.nrrd -o x.svg
	for i in 0.25 0.5 0.75; do cp depth.nrrd s_$i.nrrd; done
	right framecat s_*.nrrd -o x.nrrd
	mkdir -p folder
	cp d*.nrrd folder
	right framecat folder -o x.nrrd
	for name in SYNK GPU_CHEK CPUS HANDOVERS FFMPG; do
		mistake "no tool reads the variable FRINGEPIPE_$name (is it FRINGEPIPE_" env FRINGEPIPE_$name=1 frameinfo depth.nrrd
	done
	# the user's own, and those that are read
	for name in DATA BIN PYTHON MY_CAMERA GPU OTHER SYNC=no HANDOVER=no BAND; do
		[[ $name == *=* ]] || name=$name=1
		right env "FRINGEPIPE_$name" frameinfo depth.nrrd
	done
	# every variable of the manual is known
	# shellcheck disable=SC2154
	sed -n 's/^.It Ev FRINGEPIPE_//p' "$top/man/fringepipe.1" >names
	[ "$(wc -l <names)" -gt 8 ]
	while read -r name; do
		grep "\"$name\"" "$top/common/base/process.c"
	done <names
}

@test "mistakes: warnings about files come in the order of the files" {
	framecat -s 0,40 depth.nrrd -o good.png
	for i in 1 2 3 4 5 6 7 8 9; do
		cp good.png $i.png
		((i % 2)) || echo more >>$i.png
	done
	for i in 1 2 3; do
		for j in 1 2 3 8; do
			framecat -j $j [1-9].png -o x.nrrd 2>said
			[ "$(sed 's/.*: \([0-9]\).png: .*/\1/' said | tr -d '\n')" = 2468 ]
		done
	done
}

@test "mistakes: mesh2depth: a camera's mesh from behind, a scale of another unit" {
	framecat points.nrrd -o own.ply
	LC_ALL=C sed '/^comment/d' own.ply >foreign.ply
	mistake "foreign.ply: is seen from behind: it lies from 700 to 760 before a camera in 0,0,0 that looks along z" \
		mesh2depth foreign.ply -o x.nrrd
	right mesh2depth own.ply -o x.nrrd
	right mesh2depth --forward 0,0,1 --up 0,-1,0 foreign.ply -o x.nrrd
	framecat depth.nrrd -o heights.ply
	LC_ALL=C sed '/^comment/d' heights.ply >relief.ply
	right mesh2depth relief.ply -o x.nrrd
	mistake "--scale: 1000 a pixel: own.ply is " mesh2depth --scale 1000 own.ply -o x.nrrd
	mistake "--scale: 0.001 a pixel: own.ply is " mesh2depth --scale 0.001 own.ply -o x.nrrd
	for scale in 0.1 1 15; do right mesh2depth --scale $scale own.ply -o x.nrrd; done
	right mesh2depth --scale 0.001 --center 0,0,760 own.ply -o x.nrrd
	# the unit that the file's comment says
	py 'f = read_frame("points.nrrd"); f.pixels = f.pixels / np.float32(1000); f.meta["length_unit"] = "m"; write_frames("metres.nrrd", f)'
	for suffix in ply obj; do
		framecat metres.nrrd -o metres.$suffix
		right mesh2depth metres.$suffix -o x.nrrd
		frameinfo x.nrrd | has "length_unit:=m$"
		right mesh2depth --unit m metres.$suffix -o x.nrrd
		mistake "--unit: says mm, and metres.$suffix itself length_unit m: the option counts" \
			mesh2depth --unit mm metres.$suffix -o x.nrrd
	done
	right mesh2depth --forward 0,0,1 --up 0,-1,0 --unit in foreign.ply -o x.nrrd
	right mesh2depth relief.ply -o x.nrrd
	frameinfo x.nrrd | has "length_unit:=mm$"
}

@test "mistakes: mergexyz: poses in micrometres" {
	echo "1 0 0 0  0 1 0 0  0 0 1 0" >identity.txt
	py '
a = np.radians(15); R = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
T = np.array([0, 0, 700]) - R @ [0, 0, 700]
for name, unit in ("true", 1), ("um", 1000):
	np.savetxt(name + ".txt", np.c_[R.T, -R.T @ T * unit], fmt="%.12g")
f = read_frame("points.nrrd"); p = f.pixels.astype(float).reshape(3, -1)
f.pixels = ((R @ p) + T[:, None]).reshape(f.pixels.shape).astype("f4"); write_frames("other.nrrd", f)'
	mistake "frame 1 of view 1 and frame 1 of view 2 are 1.8" \
		mergexyz points.nrrd --view other.nrrd --pose identity.txt --pose um.txt -o x.ply
	right mergexyz points.nrrd --view other.nrrd --pose identity.txt --pose true.txt -o x.ply
}

@test "mistakes: mergexyz: poses that put no view into the picture of the other camera" {
	echo "1 0 0 0  0 1 0 0  0 0 1 0" >identity.txt
	py '
y, x = np.mgrid[:120, :160].astype("f8")
d = np.stack([(x - 80) / 200, (y - 60) / 200, np.ones_like(x)], -1)
for angle in 0, 25, 90, 180:
	a = np.radians(angle); R = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
	T = np.array([0, 0, 700]) - R @ [0, 0, 700]		# of the pose from camera to world; a ball of 80 mm in the middle
	e, c = d @ R.T, T - [0, 0, 700]
	A, B, C = (e * e).sum(-1), (e * c).sum(-1), c @ c - 80.0 ** 2
	root = B * B - A * C
	z = (-B - np.sqrt(np.where(root > 0, root, np.nan))) / A
	write_frames("%d.nrrd" % angle, Frame(np.moveaxis(d * z[..., None], -1, 0).astype("f4"), list("xyz"), {"length_unit": "mm", "z_axis": "away"}))
	for name, t in ("right", T), ("cm", T / 10), ("minus", -T), ("inverse", -R.T @ T):
		np.savetxt("%s_%d.txt" % (name, angle), np.c_[R, t], fmt="%.12g")'
	merge=(mergexyz 0.nrrd -o x.ply --pose identity.txt)
	for angle in 25 90 180; do
		right "${merge[@]}" --view $angle.nrrd --pose right_$angle.txt
		for wrong in cm minus; do
			mistake "no point of frame 1 of view 1 and frame 1 of view 2 lies in the picture of the other one's camera" \
				"${merge[@]}" --view $angle.nrrd --pose ${wrong}_$angle.txt
		done
	done
	mistake "lies in the picture of the other one's camera" "${merge[@]}" --view 25.nrrd --pose inverse_25.txt
	right "${merge[@]}" --view 90.nrrd --view 180.nrrd --pose right_90.txt --pose right_180.txt
	right "${merge[@]}" -q --view 25.nrrd --pose minus_25.txt
}

@test "mistakes: fitshape: a sphere or cylinder through a plane" {
	py '
y, x = np.mgrid[:120, :160].astype("f8")
for name, z in ("plane", 750 - 0.1 * x - 0.13 * y), ("ball", 700 - np.sqrt(150.0 ** 2 - (x - 80) ** 2 - (y - 60) ** 2)):
	write_frames(name + ".nrrd", Frame(np.stack([x - 80, y - 60, z]).astype("f4"), list("xyz"), {"length_unit": "mm"}))'
	for shape in sphere cylinder; do
		for how in "" --robust; do
			# shellcheck disable=SC2086
			fails 1 "the points do not determine a $shape" fitshape $how $shape plane.nrrd
		done
	done
	right fitshape --robust sphere ball.nrrd
	right fitshape sphere ball.nrrd
	right fitshape plane plane.nrrd
}
