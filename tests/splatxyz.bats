load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# A projector at the world's origin, its picture 64 x 48, f 100; cells of 1 mm are points of plane frames.
setup_file() {
	export one='{"camera_K": [[100,0,31.5],[0,100,23.5],[0,0,1]], "projector_K": [[100,0,31.5],[0,100,23.5],[0,0,1]],
		"projector_size": [64, 48], "R_cam_to_proj": [[1,0,0],[0,1,0],[0,0,1]], "T_cam_to_proj_mm": [0, 0, 0]}'
	export one_moved=${one/\"T_cam_to_proj_mm\": \[0, 0, 0\]/\"T_cam_to_proj_mm\": [0, 0, 5]}
}

# flat(h, w, z, **channels): points 1 mm apart, the middle before the projector. z: a number or an array.
points='
def flat(h, w, z, keys=None, dx=0, dy=0, **more):
	y, x = np.mgrid[:h, :w].astype(float)
	x, y = x - (w - 1) / 2 + dx, y - (h - 1) / 2 + dy
	planes = [x, y, z + 0 * x] + [v + 0 * x for v in more.values()]
	return Frame(np.array(planes, "f4"), ["x", "y", "z"] + list(more), {"length_unit": "mm", "z_axis": "away", **(keys or {})})
'
splat=(splatxyz --splat 20x16 --onto ortho --calib one.json --pixel 1 --center 0,0)

@test "splatxyz: one view on its own grid is itself; beside it, a plane's depth is that of the cell's centre" {
	echo "$one" >one.json
	py "$points"'
write_frames("same.nrrd", flat(16, 20, 600 + np.random.default_rng(1).normal(size=(16, 20)), texture=7, modulation=.5))
y, x = np.mgrid[:16, :20] + 0.
for name, dx, dy in ("a", .3, .4), ("b", -.45, .1):
	write_frames(name + ".nrrd", flat(16, 20, 600 + .5 * (x - 9.5 + dx) - .25 * (y - 7.5 + dy), dx=dx, dy=dy))'
	silent "${splat[@]}" same.nrrd -o out.nrrd
	silent "${splat[@]}" --view b.nrrd a.nrrd -o plane.nrrd
	py '
a, b = read_frame("same.nrrd"), read_frame("out.nrrd")
expect(b.names == ["x", "y", "z", "texture", "modulation"], b.names)
expect(np.abs(a.pixels - b.pixels) < 1e-4, np.nanmax(np.abs(a.pixels - b.pixels)))
p = read_frame("plane.nrrd")
y, x = np.mgrid[:16, :20] + 0.
expect(np.abs(p["x"] - (x - 9.5)) < 1e-5); expect(np.abs(p["y"] - (y - 7.5)) < 1e-5)
error = p["z"] - (600 + .5 * (x - 9.5) - .25 * (y - 7.5))
expect(np.abs(error) < 7.4e-5, np.nanmax(np.abs(error)), np.isnan(error).sum())'
}

@test "splatxyz: weights, the nearest surface, texture, normals, sigma" {
	echo "$one" >one.json
	py "$points"'
for name, z, s, m in ("near", 600, .1, 1), ("far", 601, .2, 3):
	write_frames(name + ".nrrd", flat(16, 20, z, modulation=m, texture=100 * m, nx=.6 if m > 1 else -.6, ny=0, nz=-.8))
	write_frames(name + "_sigma.nrrd", flat(16, 20, z, sigma=s, modulation=m))'
	for how in modulation none; do "${splat[@]}" --weight $how --view far.nrrd near.nrrd -o $how.nrrd; done
	silent "${splat[@]}" --view far.nrrd near.nrrd -o auto.nrrd
	cmp <(frameinfo --crc auto.nrrd 2>/dev/null | tail -8) <(frameinfo --crc modulation.nrrd 2>/dev/null | tail -8)
	silent "${splat[@]}" --view far_sigma.nrrd near_sigma.nrrd -o sigma.nrrd
	silent "${splat[@]}" --jump 0.9 --view far.nrrd near.nrrd -o jump.nrrd
	silent "${splat[@]}" --jump 0.9 --view near.nrrd far.nrrd -o pmuj.nrrd
	fails 1 "view 2 has no channel sigma" "${splat[@]}" --weight sigma --view far.nrrd near_sigma.nrrd -o x.nrrd
	py '
f = {n: read_frame(n + ".nrrd") for n in "modulation none auto sigma jump pmuj".split()}
inner = np.s_[1:-1, 4:-4]		# the edges of a surface weigh less, here in both views
def is_all(a, v, by=1e-4): expect(np.abs(a[inner] - v) < by, a[inner].ravel()[:5], v)
expect(f["none"].names == "x y z nx ny nz texture modulation".split(), f["none"].names)
is_all(f["none"]["z"], 600.5); is_all(f["modulation"]["z"], 600.75); is_all(f["auto"]["z"], 600.75)
is_all(f["modulation"]["texture"], 250); is_all(f["none"]["texture"], 200); is_all(f["modulation"]["modulation"], 2.5)
n = np.array([.25 * -.6 + .75 * .6, -.8]); n /= np.linalg.norm(n)
is_all(f["modulation"]["nx"], n[0]); is_all(f["modulation"]["nz"], n[1]); is_all(f["none"]["nx"], 0)
for n in "jump", "pmuj":
	is_all(f[n]["z"], 600); is_all(f[n]["texture"], 100); is_all(f[n]["nx"], -.6)
# points on the cells: 1/sigma^2 is 100 and 25 but for the slant of the rays from far away
s = f["sigma"]["sigma"]
expect(f["sigma"].names[:4] == ["x", "y", "z", "sigma"], f["sigma"].names)
is_all(f["sigma"]["z"], 600.2, .002); is_all(s, np.sqrt(1 / 125), .002)'
}

@test "splatxyz: holes of one cell are closed, larger ones are not; points too far apart leave holes" {
	echo "$one" >one.json
	py "$points"'
f = flat(16, 20, 600., texture=9)
f.pixels[:, 5, 5] = np.nan; f.pixels[:, 5, 15] = np.nan; f.pixels[:, 10, 6:9] = np.nan
f.pixels[:, 11, 6:9] = np.nan; f.pixels[:, 12, 6:9] = np.nan
write_frames("holes.nrrd", f)
for step in 2, 6:
	f = flat(16, 20, 600.); f.pixels[:2] *= step; write_frames("step%d.nrrd" % step, f)'
	silent "${splat[@]}" holes.nrrd -o out.nrrd
	grid=(splatxyz --onto ortho --calib one.json --pixel 1 --center 0,0)
	silent "${grid[@]}" --splat 40x32 step2.nrrd -o s2.nrrd
	fails 0 "--splat: most points lie 6 cells and more apart: holes are left" "${grid[@]}" --splat 120x96 step6.nrrd -o s6.nrrd
	py '
f = read_frame("out.nrrd"); bad = np.argwhere(np.isnan(f["z"])).tolist()
expect(bad == [[11, 7]] or len(bad) == 9, bad)
expect(f["z"][5, 5] == 600 and f["texture"][5, 15] == 9 and f["x"][5, 5] == -4.5, f.pixels[:, 5, 5])
expect(np.isnan(f["z"][11, 7]))
two, six = read_frame("s2.nrrd"), read_frame("s6.nrrd")
expect(np.isfinite(two["z"][2:-2, 2:-2])); expect(np.abs(two["z"] - 600)[2:-2, 2:-2] < 1e-4)
expect(np.isnan(six["z"]).mean() > .1)'
}

@test "splatxyz: a --pixel far too coarse or too fine gets a line, others none" {
	echo "$one" >one.json
	py "$points"'write_frames("in.nrrd", flat(16, 20, 600.))'
	grid=(splatxyz --splat 40x32 --onto ortho --calib one.json)
	silent "${grid[@]}" in.nrrd -o out.nrrd
	for pixel in 0.5 1 3.5; do silent "${grid[@]}" --pixel $pixel in.nrrd -o out.nrrd; done
	fails 0 "--pixel: 5 mm is coarse: the points cover 4 x 3 of 40 x 32 cells, which 0.52 mm would fill" \
		"${grid[@]}" --pixel 5 in.nrrd -o out.nrrd
	fails 0 "--splat: most points lie 8 cells and more apart: holes are left" \
		splatxyz --splat 160x128 --onto ortho --calib one.json --pixel 0.12 in.nrrd -o out.nrrd
}

@test "splatxyz --onto projector: cells are the projector's pixels, through its lens" {
	py '
import json
from splat_rig import Rig
Rig(64, 48, beams=(96, 72), lens=(-.12, .05, .002, -.001, .01)).write("rig.json")'
	for side in left right; do silent fringesim --calib rig.json --view $side --scene tilt --height 30 --truth $side.nrrd -o null:; done
	silent splatxyz --splat 48x36 --onto projector --calib rig.json --view right.nrrd left.nrrd -o out.nrrd
	py '
import json
r = json.load(open("rig.json")); k1, k2, p1, p2, k3 = r["projector_dist"]; K = np.array(r["projector_K"])
f = read_frame("out.nrrd"); ok = np.isfinite(f["z"])
expect(ok.mean() > .5, ok.mean())
x, y = f["x"] / f["z"], f["y"] / f["z"]
r2 = x * x + y * y; c = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
u = K[0, 0] * (x * c + 2 * p1 * x * y + p2 * (r2 + 2 * x * x)) + K[0, 2]
v = K[1, 1] * (y * c + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y) + K[1, 2]
j, i = np.mgrid[:36, :48]
expect(np.abs(u - ((i + .5) * 2 - .5))[ok] < 9.2e-6); expect(np.abs(v - ((j + .5) * 2 - .5))[ok] < 9.2e-6)
# the tilted plane, in the frame of the left camera: one plane through all points but the outermost, whose slopes
# are those of one side
ok &= ~np.any([np.roll(~ok, s, (0, 1)) for s in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1))], axis=0)
ok[[0, -1]] = False; ok[:, [0, -1]] = False
P = (np.array(r["R_cam_to_proj"]).T @ (np.array([f[n][ok] for n in "xyz"], float) - np.array(r["T_cam_to_proj_mm"])[:, None]))
A = np.c_[P[:2].T, np.ones(ok.sum())]
rest = P[2] - A @ np.linalg.lstsq(A, P[2], rcond=None)[0]
expect(np.abs(rest) < 3.5e-3, np.abs(rest).max())'
}

# see SCENE: captures of both cameras to points, with sigma; on one grid, together and alone.
see() {
	local side seed=0 words=("$@")

	for side in left right; do
		seed=$((seed + 7))
		fringesim --seed $seed --calib rig.json --view $side "${words[@]}" --shadow -n 4 -p 20 -g half --noise 2 --truth true_$side.nrrd |
			fringepipe phasewrap --sigma --read-noise 2 --gain 0 --min-amplitude 8 , unwrap2f , \
				phase2depth --calib rig.json --camera $side -o $side.nrrd
	done
	grid=(splatxyz --splat 320x240 --onto ortho --calib rig.json --pixel 1.1 --center -12,0)
	silent "${grid[@]}" --view right.nrrd left.nrrd -o both.nrrd
	for side in left right; do silent "${grid[@]}" $side.nrrd -o only_$side.nrrd; done
	for f in both only_left only_right; do normals $f.nrrd -o $f.n.nrrd; done
}

# The errors of the three along the normal of the true surface, heights h(x, y) over 600 mm before the left camera.
judge='
import json
rig = json.load(open("rig.json")); R, T = np.array(rig["R_cam_to_proj"]), np.array(rig["T_cam_to_proj_mm"])
def to_left(f):
	return (R.T @ (np.array([f[n].ravel() for n in "xyz"], float) - T[:, None])).reshape(3, *f["x"].shape)
def slopes(h, x, y, e=1e-2):
	return (h(x + e, y) - h(x - e, y)) / 2 / e, (h(x, y + e) - h(x, y - e)) / 2 / e
def error(f, h):
	x, y, z = to_left(f); a, b = slopes(h, x, y)
	return (600 - h(x, y) - z) / np.sqrt(1 + a * a + b * b)
def rms(e): return np.sqrt(np.mean(np.square(e)))
def near(m, by): return np.any([np.roll(m, (dy, dx), (0, 1)) for dy in range(-by, by + 1) for dx in range(-by, by + 1)], axis=0)
def judge(h):
	both, left, right = (read_frame(n + ".n.nrrd") for n in ("both", "only_left", "only_right"))
	eb, el, er = (error(f, h) for f in (both, left, right))
	X, Y, _ = to_left(both); a, b = slopes(h, X, Y)
	rim = near(np.hypot(a, b) > 3, 3)		# where the surface turns away from all, its normal is no measure
	common = np.isfinite(el) & np.isfinite(er) & ~rim
	expect(common.sum() > 20000, common.sum()); expect(np.isfinite(eb)[common])
	expect(rms(eb[common]) <= min(rms(el[common]), rms(er[common])), rms(eb[common]), rms(el[common]), rms(er[common]))
	# what either camera sees: cells on which a true point of theirs lies
	seen = np.zeros(eb.shape, bool)
	for side in "left", "right":
		t = read_frame("true_%s.nrrd" % side); k = t["mask"] == 1
		P = R @ np.array([t[n][k] for n in "xyz"], float) + T[:, None]
		i, j = np.rint((P[0] + 12) / 1.1 + 159.5).astype(int), np.rint(P[1] / 1.1 + 119.5).astype(int)
		k = (i >= 0) & (j >= 0) & (i < 320) & (j < 240); seen[j[k], i[k]] = True
	expect((seen & np.isfinite(eb)).sum() >= .98 * seen.sum(), (seen & np.isfinite(eb)).sum(), seen.sum())
	# one surface: next to nothing is farther away than noise is
	far = np.abs(eb) > 6 * rms(el[common])
	expect((far & ~rim).sum() <= 2e-4 * np.isfinite(eb).sum(), (far & ~rim).sum(), far.sum(), np.nanmax(np.abs(eb)))
	# along the borders between what one and what both see, on the plane and where the surface is smooth
	n = R @ np.array([-a, -b, -np.ones_like(a)]).reshape(3, -1); n /= np.linalg.norm(n, axis=0)
	n = n.reshape(3, *a.shape)
	measured = np.array([both["n" + c] for c in "xyz"])
	off = np.sqrt(((measured - n * np.sign((measured * n).sum(0))) ** 2).sum(0))
	one = np.isfinite(eb) & ~common
	inside = ~near(~np.isfinite(eb), 6) & np.isfinite(off) & ~near(np.hypot(a, b) > 1.2, 4) & ~rim
	seam = near(common, 2) & near(one, 2) & inside
	alone = ~near(common, 5) & inside
	expect(seam.sum() > 300 and alone.sum() > 300, seam.sum(), alone.sum())
	expect(rms(off[seam]) <= 1.05 * rms(off[alone]), rms(off[seam]), rms(off[alone]))
	print("merged %.4f left %.4f right %.4f seam %.5f alone %.5f" % (rms(eb[common]), rms(el[common]), rms(er[common]), rms(off[seam]), rms(off[alone])))
	return both, eb
'

@test "splatxyz: two cameras 30 degrees apart on a sphere: complete, better than either, no seam" {
	py '
from splat_rig import Rig
Rig(320, 240).write("rig.json")'
	see --scene sphere --radius 60
	py "$judge"'
both, e = judge(lambda x, y: np.sqrt(np.maximum(3600 - x * x - y * y, 0)))
# sigma is that of the depth: on the plane, the error along the axis of the projector by the angle between
X, Y, _ = to_left(both); k = np.isfinite(e) & (np.hypot(X, Y) > 68)
z = (e / R[2, 2] / both["sigma"])[k]
expect(.9 < rms(z) < 1.15, rms(z)); expect(.62 < np.mean(np.abs(z) < 1) < .73, np.mean(np.abs(z) < 1))'
}

@test "splatxyz: the same on a relief" {
	py '
from splat_rig import Rig
Rig(320, 240).write("rig.json")'
	# its heights over the plane, from the same scene seen without a camera
	fringesim -s 1279x959 --field "$(py 'print(600 / 1.9)')" --scene relief --height 50 --truth heights.nrrd -o null:
	see --scene relief --height 50
	py "$judge"'
t = read_frame("heights.nrrd")["depth"].astype(float); step = 600 / 1.9 / 1279
def h(x, y):
	u, v = np.clip(np.nan_to_num(x / step + 639), 0, 1277), np.clip(np.nan_to_num(y / step + 479), 0, 957)
	i, j = u.astype(int), v.astype(int); a, b = u - i, v - j
	return (t[j, i] * (1 - a) + t[j, i + 1] * a) * (1 - b) + (t[j + 1, i] * (1 - a) + t[j + 1, i + 1] * a) * b
judge(h)'
}

@test "splatxyz: a set that one stream lacks is dropped in all, with a count" {
	echo "$one" >one.json
	py "$points"'
def stream(name, times, z): write_frames(name, [flat(16, 20, z + 10 * t, dict(time_s="%.4f" % t)) for t in times])
stream("a.nrrd", [0, .1, .2, .3], 600); stream("b.nrrd", [.1, .2, .3, .4], 602); stream("c.nrrd", [0, .1, .3, .4], 602)
stream("near.nrrd", [.001, .101, .199, .3], 602); stream("other.nrrd", [5, 6, 7, 8], 602); stream("short.nrrd", [0, .1, .2], 602)
stream("back.nrrd", [0, .1, .05, .3], 602)
write_frames("plain.nrrd", [flat(16, 20, 600)] * 4)'
	silent "${splat[@]}" --view near.nrrd a.nrrd -o all.nrrd
	fails 0 "2 sets dropped, 3 made" "${splat[@]}" --view b.nrrd a.nrrd -o ab.nrrd
	fails 0 "2 sets dropped, 3 made" "${splat[@]}" --view c.nrrd a.nrrd -o ac.nrrd
	fails 0 "6 sets dropped, 1 made" "${splat[@]}" --late 0.0005 --view near.nrrd a.nrrd -o few.nrrd
	fails 0 "some frames have the key time_s and others do not: all were taken in step" "${splat[@]}" --view plain.nrrd a.nrrd -o x.nrrd
	rm x.nrrd
	fails 1 "no time that all streams have" "${splat[@]}" --view other.nrrd a.nrrd -o x.nrrd
	fails 1 "key time_s falls" "${splat[@]}" --view back.nrrd a.nrrd -o x.nrrd
	fails 1 "short.nrrd: has only 3 frames for --view, the input has more" "${splat[@]}" --view short.nrrd a.nrrd -o x.nrrd
	fails 1 "has more frames for --view than the input" "${splat[@]}" --view a.nrrd short.nrrd -o x.nrrd
	py '
for name, times in ("all", [0, .1, .2, .3]), ("ab", [.1, .2, .3]), ("ac", [0, .1, .3]):
	got = read_frames(name + ".nrrd")
	expect([float(f.meta["time_s"]) for f in got] == times, [f.meta["time_s"] for f in got])
	for f, t in zip(got, times):
		expect(np.abs(f["z"][1:-1, 4:-4] - 601 - 10 * t) < .006, name, t, f["z"][8, 8])'
}

@test "splatxyz: poses, frames of a device, threads and instructions" {
	echo "$one" >one.json
	echo "$one_moved" >moved.json
	py "$points"'
write_frames("a.nrrd", flat(16, 20, 600 + np.random.default_rng(1).normal(size=(16, 20)), texture=7))
write_frames("b.nrrd", flat(16, 20, 595 + np.random.default_rng(1).normal(size=(16, 20)), texture=7))'
	echo 1 0 0 0  0 1 0 0  0 0 1 0 >identity.txt
	echo 1 0 0 0  0 1 0 0  0 0 1 5 >shift.txt
	silent "${splat[@]}" --view a.nrrd a.nrrd -o out.nrrd
	# the spelling of the time when it was a part of mergexyz
	silent mergexyz "${splat[@]:1}" --view a.nrrd a.nrrd -o old.nrrd
	cmp out.nrrd old.nrrd
	silent "${splat[@]}" --pose identity.txt --pose shift.txt --view b.nrrd a.nrrd -o posed.nrrd
	framecmp --max 1e-3 out.nrrd posed.nrrd
	silent "${splat[@]/one.json/moved.json}" --view b.nrrd b.nrrd -o moved.nrrd
	framecmp --max 1e-3 out.nrrd moved.nrrd
	# two cameras and a projector beside them: the projector is not the second camera
	echo '{"K1": [[9,0,9],[0,9,9],[0,0,1]], "K2": [[8,0,9],[0,8,9],[0,0,1]], "R": [[1,0,0],[0,1,0],[0,0,1]], "T": [-90, 0, 0],
		"image_size": [19, 19], '"${one#*, }" >pair.json
	silent "${splat[@]/one.json/pair.json}" --view a.nrrd a.nrrd -o pair.nrrd
	framecmp out.nrrd pair.nrrd
	for level in $(cpu_levels); do FRINGEPIPE_CPU=$level "${splat[@]}" -j 1 --view b.nrrd a.nrrd -o $level.nrrd; done
	"${splat[@]}" -j 7 --view b.nrrd a.nrrd -o threads.nrrd
	for level in $(cpu_levels); do framecmp $level.nrrd threads.nrrd; done
}

@test "splatxyz: points of another camera's frame, and one file given twice, get a line" {
	py '
from splat_rig import Rig
import json
Rig(160, 120, lens=(-.1, .02, 0, 0, 0)).write("rig.json")
r = json.load(open("rig.json")); del r["devices"], r["camera_K"]; json.dump(r, open("pair.json", "w"))'
	for side in left right; do fringesim --calib rig.json --view $side --scene sphere --radius 60 --truth $side.nrrd -o null:; done
	py '
import json
r = json.load(open("rig.json")); R, T = np.array(r["R"]), np.array(r["T_mm"])
for side in "left", "right":
	f = read_frame(side + ".nrrd")
	P = np.einsum("ij,jhw->ihw", R, np.stack([f[c] for c in "xyz"])) + T[:, None, None]
	write_frames(side + "_in_right.nrrd", Frame(P.astype("f4"), ["x", "y", "z"], {"length_unit": "mm", "z_axis": "away"}))'
	grid=(splatxyz --splat 160x120 --onto ortho --pixel 2.2 -o out.nrrd --calib)
	for calib in rig pair; do silent "${grid[@]}" $calib.json --view right.nrrd left.nrrd; done
	silent "${grid[@]}" rig.json --frame right --view right_in_right.nrrd left_in_right.nrrd
	framecat --crop 20,10,100,90 left.nrrd -o cut.nrrd
	silent "${grid[@]}" rig.json --view right.nrrd cut.nrrd
	# in the left camera's frame, and said to be in the right one's
	run --separate-stderr "${grid[@]}" rig.json --frame right --view right.nrrd left.nrrd
	# shellcheck disable=SC2154
	[[ $stderr == *"rig.json: none of its cameras sees the points of view 2 where they are in the frame, "*" px off: are they in the frame of right?" ]] ||
		{ echo "$stderr"; false; }
	for calib in rig pair; do
		fails 0 "$calib.json: views 1 and 2 are both where its camera left sees them: is one in a frame of its own?" \
			"${grid[@]}" $calib.json --view right_in_right.nrrd left.nrrd
	done
	run --separate-stderr "${grid[@]}" rig.json --view left.nrrd left.nrrd
	[[ $stderr == *"left.nrrd: has the same points as the input in each pixel: is it another view?"* ]]
}

@test "splatxyz: sizes, empty frames, errors" {
	echo "$one" >one.json
	echo "${one/\"projector_size\": \[64, 48\],/}" >unsized.json
	py "$points"'
write_frames("a.nrrd", flat(16, 20, 600)); write_frames("inch.nrrd", flat(16, 20, 600, dict(length_unit="in")))
f = flat(16, 20, 600, dx=195 - .5); write_frames("wide.nrrd", f)
write_frames("none.nrrd", flat(16, 20, np.nan)); write_frames("beside.nrrd", flat(16, 20, 600, dx=18))
write_frames("depth.nrrd", Frame(np.ones((16, 20), "f4"), ["depth"]))
write_frames("table.nrrd", Frame(np.ones((3, 1, 4), "f4"), ["x", "y", "z"], dict(points="4")))
# five by seven points between the cells claim those on both sides
write_frames("some.nrrd", [flat(16, 20, 600), flat(16, 20, np.nan), flat(7, 5, 600)])
for h, w in (1, 1), (7, 5), (1, 127), (65, 129): write_frames("%dx%d.nrrd" % (w, h), flat(h, w, 600))'
	for size in 1x1 5x7 127x1 129x65; do
		# its camera sees the points in their pixels
		sed "s/{\"camera_K\": [^ ]* /{\"camera_K\": [[600,0,$(((${size%x*} - 1) / 2))],[0,600,$(((${size#*x} - 1) / 2))],[0,0,1]], /" \
			<<<"$one" >sized.json
		silent splatxyz --splat $size --onto ortho --calib sized.json --pixel 1 --center 0,0 $size.nrrd -o out.nrrd
		py 'a, b = read_frame(sys.argv[1] + ".nrrd"), read_frame("out.nrrd"); expect(a.pixels == b.pixels, a.pixels, b.pixels)' $size
	done
	fails 0 "no pixel of x is valid in frame 1" "${splat[@]}" some.nrrd -o out.nrrd
	py 'f = read_frames("out.nrrd"); expect([int(np.isfinite(g["z"]).sum()) for g in f] == [320, 0, 48], [np.isfinite(g["z"]).sum() for g in f])'
	fails 1 "view 1: 90 % of its 320 points lie beside the grid: are they in the world of --calib, are --pixel and --center right?" "${splat[@]}" beside.nrrd -o x.nrrd
	fails 1 "view 2: 90 % of its 320 points" "${splat[@]}" --view beside.nrrd a.nrrd -o x.nrrd
	fails 1 "view 2 is in in, the calibration in mm" "${splat[@]}" --view inch.nrrd a.nrrd -o x.nrrd
	fails 1 "view 1 has no channel x" "${splat[@]}" depth.nrrd -o x.nrrd
	fails 1 "view 1 is a table" "${splat[@]}" table.nrrd -o x.nrrd
	fails 1 "the points lie in one place, or there are none: say --pixel and --center" splatxyz --splat 20x16 --onto ortho --calib one.json none.nrrd -o x.nrrd
	fails 1 "does not say how large the projector's picture is" splatxyz --splat 20x16 --onto projector --calib unsized.json a.nrrd -o x.nrrd
	fails 1 "missing.json: cannot open" splatxyz --splat 20x16 --onto ortho --calib missing.json a.nrrd
	py 'from splat_rig import Rig
Rig(64, 48).write("rig.json")'
	fails 1 "rig.json: has no device tower" splatxyz --splat 20x16 --onto ortho --calib rig.json --frame tower a.nrrd
	fails 0 "the projector's picture misses 45 % of the points: are they in the world of --calib?" splatxyz --splat 20x16 --onto ortho --calib one.json wide.nrrd -o wide.nrrd
	fails 2 "--splat: wants --onto ortho or --onto projector" splatxyz --splat 20x16 --calib one.json a.nrrd
	fails 2 "--splat: wants --calib" splatxyz --splat 20x16 --onto ortho a.nrrd
	fails 2 "--pixel: is only for --onto ortho" splatxyz --splat 20x16 --onto projector --pixel 1 --calib one.json a.nrrd
	fails 2 "--center: must be two numbers, not 1" splatxyz --splat 20x16 --onto ortho --center 1 --calib one.json a.nrrd
	fails 2 "--splat: is needed: the columns and rows of the grid" splatxyz --jump 3 a.nrrd
	fails 2 "--jump: is for splatxyz" mergexyz --jump 3 a.nrrd
	fails 2 "--grid: is for mergexyz" "${splat[@]}" --grid 1 a.nrrd
	[ ! -e x.nrrd ]
}
