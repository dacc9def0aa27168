load helpers

# Two cameras that are rectified already, f 500 px, 100 mm apart; a half sphere of 60 mm on a plane at 600 mm.
rig='
import json
K, w, h, f, b, far, radius = [[500, 0, 119.5], [0, 500, 79.5], [0, 0, 1]], 240, 160, 500, 100, 600, 60
PROJECTOR = dict(projector_K=[[900, 0, 400], [0, 910, 300], [0, 0, 1]], projector_dist=[.05, -.02, .001, -.0005, 0],
	R_cam_to_proj=[[.99500417, 0, .09983342], [0, 1, 0], [-.09983342, 0, .99500417]], T_cam_to_proj_mm=[-60, 30, 5],
	projector_size=[800, 600])
def write_rig(name, **more):
	rig = dict(K1=K, K2=K, R=np.eye(3).tolist(), T_mm=[-b, 0, 0], image_size=[w, h])
	rig.update(more)
	json.dump({k: v for k, v in rig.items() if v is not None}, open(name, "w"))
def seen(shift):
	"""Points on the rays of the camera at (shift, 0, 0): plane and half sphere, whose middle is before the left one."""
	y, x = np.mgrid[:h, :w].astype(float)
	d = np.stack([(x - 119.5) / f, (y - 79.5) / f, np.ones((h, w))])
	o = np.array([shift, 0, -far])[:, None, None] + 0 * d		# from the middle of the sphere
	A, B, C = (d * d).sum(0), (d * o).sum(0), (o * o).sum(0) - radius**2
	D = B * B - A * C
	t = (-B - np.sqrt(np.maximum(D, 0))) / A
	return np.where((D > 0) & (o[2] + t * d[2] < 0), t, far) * d + np.array([shift, 0, 0])[:, None, None]
def hidden(P, eye):
	"""Does the half sphere stand between the points and an eye?"""
	s, e = P - np.array([0, 0, far])[:, None, None], np.array(eye)[:, None, None] - P
	A, B, C = (e * e).sum(0), (s * e).sum(0), (s * s).sum(0) - radius**2
	D = B * B - A * C
	t = np.stack([(-B - np.sqrt(np.maximum(D, 0))) / A, (-B + np.sqrt(np.maximum(D, 0))) / A])
	return ((D > 0) & (t > 1e-7) & (t < 1)).any(0)
'

@test "fringesim --view: disparity f b / z, NaN where hidden from the other camera or outside of its picture" {
	py "$rig"'write_rig("rig.json", **PROJECTOR)'
	for side in left right; do
		silent fringesim --calib rig.json --view $side --distance 600 --scene sphere --radius 60 --truth $side.nrrd -o null:
	done
	py "$rig"'
center = -np.array(PROJECTOR["R_cam_to_proj"]).T @ np.array([-60, 30, 5])
for side, shift, other in ("left", 0, b), ("right", b, 0):
	got = read_frame(side + ".nrrd")
	expect(got.names == "absphase depth x y z mask disparity".split(), got.names)
	P = seen(shift)
	lit = got["mask"] == 1
	for k in range(3):
		expect(np.abs(got["xyz"[k]] - P[k])[lit] < 1e-3, side, "xyz"[k])
	want = f * b / P[2]
	u = (P[0] - other) / P[2] * f + 119.5
	both = lit & ~hidden(P, [other, 0, 0]) & (u >= -.5) & (u < w - .5)
	d = got["disparity"]
	expect((np.isfinite(d) != both).sum() <= 3, side, (np.isfinite(d) != both).sum())
	expect(np.nanmax(np.abs(d - want)) < 1e-4, np.nanmax(np.abs(d - want)))
	expect(hidden(P, [other, 0, 0]).sum() > 50, hidden(P, [other, 0, 0]).sum()); expect(np.isfinite(d).sum() > 15000, np.isfinite(d).sum())
	# the phase is the column of the projector of the file
	X = np.tensordot(np.array(PROJECTOR["R_cam_to_proj"]), P, 1) + np.array([-60, 30, 5])[:, None, None]
	x, y = X[0] / X[2], X[1] / X[2]
	r2 = x * x + y * y; c = 1 + r2 * (.05 - .02 * r2)
	column = 900 * (x * c + 2 * .001 * x * y - .0005 * (r2 + 2 * x * x)) + 400
	expect(np.abs(got["absphase"] - 2 * np.pi * column / 60)[lit] < 1e-4, np.abs(got["absphase"] - 2 * np.pi * column / 60)[lit].max())'
}

@test "fringesim --view: left is what camera and projector see without it, right has noise of its own" {
	py "$rig"'
write_rig("rig.json", **PROJECTOR)
json.dump(dict(camera_K=K, camera_size=[w, h], **PROJECTOR), open("one.json", "w"))'
	sim=(fringesim --distance 600 --scene sphere --radius 60 --shadow --albedo noise --noise 2 -p 400 -n 3)
	"${sim[@]}" --calib one.json -o one.nrrd
	"${sim[@]}" --calib rig.json --view left -o left.nrrd
	"${sim[@]}" --calib rig.json --view right -o right.nrrd
	"${sim[@]}" --calib rig.json --view right -j 1 --noise 0 --bits float --truth truth.nrrd -o clean.nrrd
	"${sim[@]}" --calib rig.json --view left --noise 0 --bits float --truth ltruth.nrrd -o lclean.nrrd
	framecmp one.nrrd left.nrrd
	py "$rig"'
l, r, lc, rc = (read_frames(n + ".nrrd") for n in ("left", "right", "lclean", "clean"))
a, c = l[0].pixels[0] - lc[0].pixels[0], r[0].pixels[0] - rc[0].pixels[0]
expect(abs(np.corrcoef(a.ravel(), c.ravel())[0, 1]) < .03); expect(1.8 < a.std() < 2.2 and 1.8 < c.std() < 2.2)
# one scene, one paint: at matched points both cameras see the same light
d = read_frame("ltruth.nrrd")["disparity"].astype(float)
y, x = np.mgrid[:h, :w]; ok = np.isfinite(d); at = np.where(ok, x - d, 0)
i = np.clip(np.floor(at).astype(int), 0, w - 2); at = at - i
R = rc[0].pixels[0].astype(float)
gap = ((1 - at) * np.take_along_axis(R, i, 1) + at * np.take_along_axis(R, i + 1, 1) - lc[0].pixels[0])[ok]
expect(np.median(np.abs(gap)) < .1 and ok.sum() > 15000, np.median(np.abs(gap)), ok.sum())'
}

@test "fringesim --view: without a projector one stands midway, looks midway, and lights what both cameras see" {
	py "$rig"'
write_rig("rig.json")
write_rig("meet.json", R=[[.98, 0, .19899749], [0, 1, 0], [-.19899749, 0, .98]], T_mm=[-117.6, 0, 23.879699])'
	fringesim --calib rig.json --view left --distance 600 --scene plane --projector 1000x800 -p 50 --truth left.nrrd -o null:
	for side in left right; do
		fringesim --calib meet.json --view $side --scene plane -p 50 --truth meet.$side.nrrd -o null:
	done
	py "$rig"'
got = read_frame("left.nrrd")
fp = min(1000 / w * f, 800 / h * f) / 1.25
y, x = np.mgrid[:h, :w]
X = (x - 119.5) / f * far - b / 2
want = 2 * np.pi / 50 * (X / far * fp + 499.5)
expect(got["mask"].mean() > .9, got["mask"].mean()); lit = got["mask"] == 1
expect(np.abs(got["absphase"] - want)[lit] < 1e-3, np.abs(got["absphase"] - want)[lit].max())
for side in "left", "right":
	got = read_frame("meet.%s.nrrd" % side)
	both = np.isfinite(got["disparity"])
	expect(both.mean() > .8, both.mean()); expect(got["mask"][20:-20, 20:-20].mean() > .9, got["mask"][20:-20, 20:-20].mean())
# the default distance: where the axes meet
z = read_frame("meet.left.nrrd")["depth"]
expect(np.ptp(z[np.isfinite(z)]) < 1e-3, np.ptp(z[np.isfinite(z)]))
expect(abs(np.nanmean(z) - 590.97) < .02, np.nanmean(z))'
}

@test "fringesim --view: cameras by the names of a file, errors" {
	py "$rig"'
def device(kind): return dict(kind=kind, size=[w, h], K=K, dist=[0] * 5, R=np.eye(3).tolist(), T_mm=[0, 0, 0])
write_rig("named.json", **PROJECTOR, devices=dict(west=device("camera"), beamer=device("projector"), east=device("camera"), top=device("camera")))
write_rig("rig.json", **PROJECTOR)
json.dump(dict(camera_K=K, **PROJECTOR), open("one.json", "w"))
write_frames("paint.nrrd", Frame(np.ones((h, w), "f4")))'
	sim=(fringesim --distance 600 --scene sphere --radius 60 -p 60)
	"${sim[@]}" --calib rig.json --view right -o right.nrrd
	"${sim[@]}" --calib named.json --view east -o east.nrrd
	framecmp right.nrrd east.nrrd
	fails 1 "named.json: has no camera beamer: its pair is left and right, or the first two devices" "${sim[@]}" --calib named.json --view beamer
	fails 1 "named.json: top is no part of the pair, which are its first two cameras" "${sim[@]}" --calib named.json --view top
	fails 1 "rig.json: has no camera top: its pair is left and right" "${sim[@]}" --calib rig.json --view top
	fails 2 "--view: is only for --calib" fringesim --view left
	fails 1 "one.json: expected two cameras" "${sim[@]}" --calib one.json --view left
	fails 2 "--albedo: an image is of one view" "${sim[@]}" --calib rig.json --view left --albedo paint.nrrd
	fails 2 "the axes meet nowhere: --distance is needed" fringesim --calib rig.json --view left
}

@test "fringesim --paint, --picture: one colour at one place of the surface, in both views; the size of each device" {
	py "$rig"'
def device(size, T): return dict(kind="camera", size=size, K=np.ravel(K).tolist(), R=np.eye(3).ravel().tolist(), T_mm=T)
write_rig("rig.json", devices=dict(one=device([w, h], [0, 0, 0]), two=device([260, 170], [b, 0, 0])), **PROJECTOR)'
	sim=(fringesim --calib rig.json --distance 600 --scene sphere --radius 60)
	for view in one two; do
		for paint in checker waves; do
			silent "${sim[@]}" --view $view --paint $paint --picture -b 16 --truth $view.$paint.truth.nrrd -o $view.$paint.png
		done
	done
	silent "${sim[@]}" --view one --paint waves --mean 0 --amplitude 0 --ambient 90 -b float -o grey.nrrd
	silent "${sim[@]}" --view one --picture --ambient 90 --albedo checker -o plain.png
	silent "${sim[@]}" --view one --paint waves --picture --blur 1 --noise 2 --frames 2 --turn 3 -o many.nrrd
	"${sim[@]}" --view one --paint waves --picture --blur 1 --noise 2 --frames 2 --turn 3 -j 1 | cmp - many.nrrd
	fails 2 "--paint: takes the place of --albedo noise: give one" "${sim[@]}" --view one --paint waves --albedo noise
	fails 2 "--steps: has no meaning with --picture" "${sim[@]}" --view one --picture -n 4
	fails 2 "--stage-angle: has no meaning with --picture" "${sim[@]}" --view one --picture --stage-angle 5
	fails 2 "--gray: has no meaning with --picture" "${sim[@]}" --view one --picture --gray half
	fails 2 "--picture: has no meaning with --laser" fringesim --laser --calib rig.json --picture
	fails 2 "--paint: must be one of checker waves" "${sim[@]}" --view one --paint red
	framecat one.waves.png -o waves.nrrd
	framecat one.checker.png -o checker.nrrd
	framecat two.waves.png -o two.nrrd
	framecat plain.png -o plain.nrrd
	py "$rig"'
width = 240 / 500 * 600
def paint(P, kind):
	x, y = P[0], P[1]
	if kind == "checker":
		odd = (np.floor(x / (width / 20)) + np.floor(y / (width / 20))) % 2
		return np.where(odd == 0, np.array([1, .4, .1])[:, None, None], np.array([.2, .55, .95])[:, None, None])
	return np.stack([.5 + .2 * (np.sin(k * 2 * np.pi * x / width) + np.cos(k * 2 * np.pi * y / width)) for k in (5, 7, 11)])
for view, size in ("one", (240, 160)), ("two", (260, 170)):
	for kind in "checker", "waves":
		t = read_frame("%s.%s.truth.nrrd" % (view, kind))
		expect(t.pixels.shape[1:] == size[::-1], t.pixels.shape)
		expect(t.names == "absphase depth x y z mask disparity r g b".split(), t.names)
		lit = t["mask"] == 1
		e = np.abs(np.stack([t[c] for c in "rgb"]) - paint(np.stack([t[c] for c in "xyz"]).astype(float), kind))[:, lit]
		expect((e > 1e-5).mean() < 1e-4, view, kind, e.max(), (e > 1e-5).mean())	# the squares'"'"' very edges
		if view == "one":
			got = np.stack([read_frame(kind + ".nrrd")[c] for c in "rgb"])[:, lit]
			true = np.stack([t[c] for c in "rgb"])[:, lit] * 65535 * 200 / 255
			expect(np.abs(got - true) <= .51, kind, np.abs(got - true).max())
t = read_frame("one.waves.truth.nrrd")
grey = read_frames("grey.nrrd")
expect(len(grey) == 3); expect(np.abs(grey[0].pixels[0] - 90 * np.stack([t[c] for c in "rgb"]).mean(0)) < 1e-4)
expect(read_frame("two.nrrd").pixels.shape == (3, 170, 260))
expect(set(np.unique(read_frame("plain.nrrd").pixels)) == {36, 90}, np.unique(read_frame("plain.nrrd").pixels))
many = read_frames("many.nrrd")
expect(len(many) == 2 and many[0].names == list("rgb")); expect(many[0].pixels.std() > 10)
expect(np.corrcoef((many[0].pixels.astype(float) - many[1].pixels)[:2].reshape(2, -1))[0, 1] < .9)'
}
