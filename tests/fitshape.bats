#!/usr/bin/env bats
# fitshape: planes, spheres, cylinders and distances, against closed forms and tests/shapes.py, which has the figures
# of the man page in NumPy.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || exit 1
}

shapes='
from shapes import *
import os
rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 1)
trials = int(os.environ.get("FITSHAPE_TRIALS", 30))	# of draws whose scatter is compared; make uncertainty: 100
'

@test "fitshape: points that floats hold exactly give plane, sphere and cylinder to 1e-9 mm, 1000 mm from the origin" {
	py "$shapes"'
g = np.arange(-75, 76)
lattice = np.stack(np.meshgrid(g, g, g), -1).reshape(-1, 3)
c = np.array([1000., -300, 1200])
ball = lattice[(lattice ** 2).sum(1) == 75 ** 2]
ball = ball[ball[:, 2] < 30]
write_frames("sphere.nrrd", table(ball + c))
circle = np.array([(p, q) for p in range(-65, 66) for q in range(-65, 66) if p * p + q * q == 65 * 65 and q < 40])
# 1/3 of these rows is a rotation: all coordinates are whole
M = np.array([[1, 2, 2], [2, 1, -2], [2, -2, 1]])
tube = np.concatenate([np.c_[circle, np.full(len(circle), h)] for h in range(-90, 91, 15)])
write_frames("cylinder.nrrd", table(tube @ M.T + c))
flat = lattice[::97, :2] @ M[:, :2].T
write_frames("plane.nrrd", table(flat + c))
[s] = fitshape("sphere", "sphere.nrrd")[0]["parts"]
expect(np.abs(s["center"] - c).max() < 1e-9 and abs(s["radius"] - 75) < 1e-9 and s["rms"] < 1e-9, s)
[t] = fitshape("cylinder", "cylinder.nrrd")[0]["parts"]
axis = M[:, 2] / 3 * np.sign(M[np.argmax(np.abs(M[:, 2])), 2])
expect(np.abs(np.abs(t["axis"]) - np.abs(axis)).max() < 1e-12 and abs(t["radius"] - 195) < 1e-9, t)
q = np.array(t["center"]) - c
expect(np.linalg.norm(q - (q @ axis) * axis) < 1e-9, q, "off the axis")
[p] = fitshape("plane", "plane.nrrd")[0]["parts"]
expect(np.abs(np.abs(np.array(p["normal"]) @ M[:, 2] / 3) - 1) < 1e-12 and abs(p["normal"] @ c + p["offset"]) < 1e-9 and p["normal"][2] < 0, p)
expect(p["rms"] < 1e-9 and abs(p["vdi_flatness"]) < 1e-9 and s["vdi_form"] < 1e-9, p)
for mode in "sphere", "cylinder", "plane":
	[a], [b] = (fitshape(mode, *o, mode + ".nrrd")[0]["parts"] for o in ([], ["--robust"]))
	expect(np.abs(np.array(a["center"]) - b["center"]).max() < 1e-8 and b["used"] == a["used"], a, b)'
}

@test "fitshape: coordinates that floats round, 1000 mm from the origin, give what NumPy makes of the same floats" {
	py "$shapes"'
def rounded(points): return points.astype("f4").astype(float)
c = np.array([1000., -300, 1200])
ball, cyl, flat = (rounded(p) for p in (cap(rng, 5000, c, 12.5, 60), tube(rng, 5000, c, (1, .3, .2), 8, 90, 120), patch(rng, 5000, c, (.1, .2, -1), 80)))
for name, points in ("sphere", ball), ("cylinder", cyl), ("plane", flat):
	write_frames(name + ".nrrd", table(points))
[s] = fitshape("sphere", "sphere.nrrd")[0]["parts"]
o = fit_sphere(ball)
expect(np.abs(s["center"] - o["center"]).max() < 1e-8 and abs(s["radius"] - o["radius"]) < 1e-8, s, o)
# a float is 1.2e-4 mm from the next one there: uniform errors, sd 3.5e-5 mm, of 5000 points
expect(np.abs(s["center"] - c).max() < 5e-6 and abs(s["radius"] - 12.5) < 5e-6 and s["rms"] < 4e-5, s)
[t] = fitshape("cylinder", "cylinder.nrrd")[0]["parts"]
o = fit_cylinder(cyl, (1, .3, .2))
expect(np.abs(t["center"] - o["center"]).max() < 1e-7 and np.abs(t["axis"] - o["axis"]).max() < 1e-10 and abs(t["radius"] - o["radius"]) < 1e-8, t, o)
[p] = fitshape("plane", "plane.nrrd")[0]["parts"]
o = fit_plane(flat)
expect(np.abs(p["center"] - o["center"]).max() < 1e-8 and np.abs(p["normal"] - o["normal"]).max() < 1e-10, p, o)
for got, want in (p, fit_plane(flat)), (s, fit_sphere(ball)), (t, fit_cylinder(cyl, (1, .3, .2))):
	d = want["d"]
	expect(np.abs(got["extremes"] - np.array([d.min(), d.max()])).max() < 1e-8, got["extremes"], d.min(), d.max())
	expect(np.abs(got["interval_95"] - np.array([quantile(d, .025), quantile(d, .975)])).max() < 1e-8, got)
	expect(abs(got["rms"] - np.sqrt((d * d).mean())) < 1e-9, got["rms"])'
}

@test "fitshape: noise and 10 % of wrong points: --robust stays within its standard deviations, plain does not" {
	py "$shapes"'
c = np.array([20., -30, 600])
truth = {"sphere": cap(rng, 4000, c, 12.5, 70), "cylinder": tube(rng, 4000, c, (1, .3, .2), 8, 60, 150), "plane": patch(rng, 4000, c, (.1, .2, -1), 80)}
for name, points in truth.items():
	points = points + rng.normal(0, .02, points.shape)
	wrong = rng.permutation(4000)[:400]
	points[wrong] += rng.uniform(-6, 6, (400, 3)) + [0, 0, 2]
	write_frames(name + ".nrrd", table(points))
def check(got, name):
	"""The largest deviation from the truth in standard deviations."""
	off = np.array(got["center"]) - c
	sd = np.array(got["center_sd"])
	if name == "sphere":
		return max(np.abs(off / sd).max(), abs(got["radius"] - 12.5) / got["radius_sd"])
	axis = np.array([.1, .2, -1] if name == "plane" else [1, .3, .2])
	axis /= np.linalg.norm(axis)
	seen = np.array(got["normal" if name == "plane" else "axis"])
	turn = np.degrees(np.linalg.norm(np.cross(seen, axis))) / got["normal_sd_deg" if name == "plane" else "axis_sd_deg"]
	away = abs(off @ axis) if name == "plane" else np.linalg.norm(off - (off @ axis) * axis)
	return max(turn, away / sd, abs(got["radius"] - 8) / got["radius_sd"] if name == "cylinder" else 0)
for name in truth:
	[plain], [robust] = (fitshape(name, *o, name + ".nrrd")[0]["parts"] for o in ([], ["--robust"]))
	expect(check(robust, name) < 4, name, robust)
	expect(3560 < robust["used"] < 3660 and .0195 < robust["rms"] < .0215 and plain["rms"] > .5, robust, plain)'
}

@test "fitshape: figures of VDI/VDE 2634 part 2 are those of a second implementation from the man page" {
	py "$shapes"'
c = [np.array([-80., 3, 700]), np.array([80., -3, 720])]
ball = [(cap(rng, n, k, 15, 65) + rng.normal(0, .03, (n, 3))).astype("f4").astype(float) for n, k in zip((3000, 2345), c)]
box = ["-100,-20,600,-60,20,800", "60,-20,600,100,20,800"]
write_frames("bar.nrrd", table(np.concatenate(ball)))
for trim in "3", "0", "50.5":
	[got] = fitshape("spheres", "--roi", ",".join(box), "--diameter", "30.002,29.99", "--distance", "161.3", "--trim", trim, "bar.nrrd")
	want = [vdi(fit_sphere, b, float(trim)) for b in ball]
	for g, w, d in zip(got["parts"], want, (30.002, 29.99)):
		expect(g["vdi_points"] == w["points"] and g["vdi_trimmed"] == w["trimmed"], g, w["points"])
		expect(abs(g["vdi_form"] - w["range"]) < 1e-8 and abs(g["vdi_size"] - (2 * w["radius"] - d)) < 1e-8, g, w)
	spacing = np.linalg.norm(want[1]["center"] - want[0]["center"])
	expect(abs(got["vdi_distance"] - spacing) < 1e-8 and abs(got["vdi_spacing"] - (spacing - 161.3)) < 1e-8, got, spacing)
# without --roi it finds both by itself, among much else: the same balls and distance
much = np.concatenate([patch(rng, 8000, (0, 0, 740), (0, .1, -1), 400), *ball, np.c_[rng.uniform(-80, 80, 1500), rng.uniform(-3, 3, (1500, 1)), rng.uniform(700, 706, (1500, 1))]])
write_frames("scene.nrrd", table(much))
[found] = fitshape("spheres", "--robust", "--diameter", "30", "scene.nrrd")
expect(abs(found["distance"] - np.linalg.norm(c[1] - c[0])) < 4 * found["distance_sd"] + .002, found)
expect(found["parts"][0]["center"][0] < 0 < found["parts"][1]["center"][0], found)
flat = (patch(rng, 2222, (5, 6, 700), (.1, .2, -1), 80) + rng.normal(0, .02, (2222, 3))).astype("f4").astype(float)
flat[:4] += [[0, 0, 3]] * 4	# of equal ones the earlier goes: none is equal here, 6 go
write_frames("flat.nrrd", table(flat))
[got] = fitshape("plane", "--robust", "flat.nrrd")[0]["parts"]
want = vdi(fit_plane, flat)
expect(got["vdi_trimmed"] == want["trimmed"] == 6 and abs(got["vdi_flatness"] - want["range"]) < 1e-8, got, want)'
}

@test "fitshape length: two parallel faces, of a box and of pixels" {
	py "$shapes"'
n = np.array([.2, -.1, -1]) / np.linalg.norm([.2, -.1, -1])
low, high = patch(rng, 3000, (0, 0, 500), n, 30), patch(rng, 2000, np.array([35., 5, 500]) + n * (25 + (n @ [-35, -5, 0])), n, 20)
high += n * (25 - n @ (high.mean(0) - low.mean(0)))
points = np.concatenate([low, high]) + rng.normal(0, .01, (5000, 3))
write_frames("cloud.nrrd", table(points))
boxes = "-20,-20,400,20,20,600,20,-20,400,60,40,600"
[got] = fitshape("length", "--roi", boxes, "--distance", "25", "cloud.nrrd")
expect(abs(got["length_error"]) < 4 * got["distance_sd"] and .0001 < got["distance_sd"] < .002, got)
expect(np.abs(np.abs(got["normal"]) - np.abs(n)).max() < 1e-4 and got["angle_deg"] < .02, got)
# the definition again
a, b = (p.astype("f4").astype(float) for p in (points[:3000], points[3000:]))
scatter = sum((p - p.mean(0)).T @ (p - p.mean(0)) for p in (a, b))
least = np.linalg.eigh(scatter)[1][:, 0]
expect(abs(abs(least @ (b.mean(0) - a.mean(0))) - got["distance"]) < 1e-8, got)
y, x = np.mgrid[0:65, 0:129]
step = Frame(np.stack([x * .5, y * .5, 400 - 10.0 * (x >= 64)]).astype("f4"), ["x", "y", "z"])
write_frames("step.nrrd", step)
[got] = fitshape("length", "--roi", "0,0,64,65,64,0,65,65", "step.nrrd")
expect(abs(got["distance"] - 10) < 1e-9 and got["length_error"] is None, got)'
}

@test "fitshape: sigma weighs, and chi square is what is expected of it" {
	py "$shapes"'
n = 6000
centre = np.array([10., -40, 500])
exact = cap(rng, n, centre, 20, 60)
ray = exact / np.linalg.norm(exact, axis=1)[:, None]
sigma = rng.choice([.01, .1], n)
e = (sigma * rng.normal(size=n))[:, None]
write_frames("ray.nrrd", table(exact + e * ray, sigma=sigma))
write_frames("z.nrrd", table(exact + e * exact / exact[:, 2:], sigma=sigma))
write_frames("normal.nrrd", table(exact + e * (exact - centre) / 20, sigma=sigma))
disparity = table(exact + e * exact / exact[:, 2:], sigma=sigma, sigma_disparity=sigma)
write_frames("disparity.nrrd", disparity)
for along, words in ("ray", []), ("z", ["--along", "z"]), ("normal", ["--along", "normal"]), ("disparity", []), ("ray", ["--robust"]):
	[g] = fitshape("sphere", *words, along + ".nrrd")[0]["parts"]
	f = g["chi_square_expected"]
	expect(abs(g["chi_square"] - f) < 4.5 * np.sqrt(2 * f), along, words, g["chi_square"], f)
	off = np.abs(np.append((np.array(g["center"]) - centre) / g["center_sd"], (g["radius"] - 20) / g["radius_sd"]))
	expect(off.max() < 4, along, words, g)
	if along == "ray":
		[plain] = fitshape("sphere", "--no-weights", "ray.nrrd")[0]["parts"]
		expect(plain["radius_sd"] > 2.5 * g["radius_sd"] and "chi_square" not in plain, plain, g)
h, w = 40, 50
z = 300 + rng.normal(0, .05, (h, w))
flat = Frame(np.stack([z, np.full((h, w), .05)]).astype("f4"), ["depth", "sigma"], {"length_unit": "mm"})
write_frames("flat.nrrd", flat)
[g] = fitshape("plane", "--pixel", "0.1,0.2", "flat.nrrd")[0]["parts"]
expect(np.abs(g["center"][:2] - np.array([.1 * 24.5, .2 * 19.5])).max() < 1e-3, g["center"])
expect(abs(g["chi_square"] - 1997) < 4.5 * np.sqrt(2 * 1997) and abs(g["center_sd"] / (.05 / np.sqrt(2000)) - 1) < .01, g)'
}

@test "fitshape: images of awkward sizes with holes, regions, the channel deviation; every thread count alike" {
	py "$shapes"'
frames = []
for w, h in (5, 7), (127, 1), (128, 64), (129, 65):
	y, x = np.mgrid[0:h, 0:w].astype(float)
	p = np.stack([x * .1, y * .1 + .001 * x * x, 400 - .02 * x + .03 * y]) + rng.normal(0, .01, (3, h, w))
	p[:, 0, 1] = np.nan
	p[2, h - 1, w - 1] = np.inf
	frames.append(Frame(p.astype("f4"), ["x", "y", "z"], {"length_unit": "mm"}))
write_frames("in.nrrd", frames)'
	fitshape plane -j 1 <in.nrrd -o out.nrrd >report
	fitshape plane -j 7 <in.nrrd -o seven.nrrd >seven
	cmp out.nrrd seven.nrrd
	cmp report seven
	# behind other stages
	fringepipe framecat , fitshape plane -o chain.nrrd <in.nrrd >chain
	cmp chain report
	for level in $(cpu_levels); do
		FRINGEPIPE_CPU=$level fitshape plane in.nrrd >"$level"
		cmp report "$level"
	done
	py "$shapes"'
for f, o, r in zip(read_frames("in.nrrd"), read_frames("out.nrrd"), fitshape("plane", "in.nrrd")):
	points = f.pixels.reshape(3, -1).T.astype(float)
	there = np.isfinite(points).all(1)
	want = fit_plane(points[there])
	expect(o.names == ["x", "y", "z", "deviation"] and o.meta["fit_shape"] == "plane", o.names, o.meta)
	d = o["deviation"].ravel()
	expect(np.isnan(d) == ~there, "holes")
	expect(np.abs(d[there] - want["d"]).max() < 1e-6, "deviations")
	expect(r["parts"][0]["points"] == there.sum(), r)
	expect(np.array_equal(o.pixels[:3], f.pixels, equal_nan=True), "the channels pass")'
	py 'write_frames("last.nrrd", read_frames("in.nrrd")[3])'
	fitshape plane --roi 10,5,100,50 last.nrrd -o roi.nrrd >/dev/null
	fitshape plane --roi 1,0.5,0,11,5.5,1000 last.nrrd -o box.nrrd >/dev/null
	py "$shapes"'
f, o, b = (read_frame(n + ".nrrd") for n in ("last", "roi", "box"))
want = fit_plane(f.pixels[:, 5:55, 10:110].reshape(3, -1).T.astype(float))
expect(np.isnan(o["deviation"]).sum() == 129 * 65 - 5000 and np.abs(o["deviation"][5:55, 10:110].ravel() - want["d"]).max() < 1e-6, "roi")
inside = (f["x"] >= 1) & (f["x"] <= 11) & (f["y"] >= .5) & (f["y"] <= 5.5) & (f["z"] < 1000)
expect(np.isnan(b["deviation"]) == ~inside, "box")'
	# again over its own output: the deviation is replaced
	fitshape plane out.nrrd -o out.nrrd >/dev/null
	py 'expect(all(f.names == ["x", "y", "z", "deviation"] for f in read_frames("out.nrrd")))'
}

@test "fitshape: a plain text report; --fixed; sides of the normal" {
	py "$shapes"'
write_frames("ball.nrrd", table(cap(rng, 2000, (0, 0, 400), 10, 15) + rng.normal(0, .005, (2000, 3))))
y, x = np.mgrid[0:20, 0:30].astype(float)
bump = 300 - 1.0 * ((x > 10) & (x < 14) & (y > 5) & (y < 9))
write_frames("away.nrrd", Frame(np.stack([x, y, bump]).astype("f4"), ["x", "y", "z"]))
write_frames("towards.nrrd", Frame(np.stack([x, y, -bump]).astype("f4"), ["x", "y", "z"], {"z_axis": "towards"}))
[free], [fixed] = (fitshape("sphere", "--diameter", "20", *o, "ball.nrrd")[0]["parts"] for o in ([], ["--fixed"]))
expect(fixed["radius"] == 10 and fixed["radius_sd"] is None and fixed["vdi_size"] is None, fixed)
expect(fixed["center_sd"][2] < .05 * free["center_sd"][2] and abs(fixed["center"][2] - 400) < 4 * fixed["center_sd"][2], fixed, free)
for name in "away", "towards":
	[p] = fitshape("plane", "--robust", name + ".nrrd")[0]["parts"]
	expect(p["used"] == 600 - 9 and p["normal"][2] == (-1 if name == "away" else 1), p)'
	for name in away towards; do
		fitshape plane --robust $name.nrrd -o out.nrrd >/dev/null
		py 'expect(abs(read_frame("out.nrrd")["deviation"][7, 12] - 1) < 1e-6, "a bump is positive")'
	done
	fitshape sphere --diameter 20 ball.nrrd >report
	for line in "frame 0: sphere of 2000 points" "center  " "center_sd  " "radius  " "seen  " "rms  " "extremes  " "interval_95  " \
		"vdi_points      1994, 6 trimmed" "vdi_form  " "vdi_size  "; do
		has "^$line" <report || { cat report; false; }
	done
}

@test "fitshape: points that determine no shape, and other mistakes, give one line" {
	py "$shapes"'
t = rng.uniform(0, 2 * np.pi, 1000)
e = rng.normal(0, .01, (1000, 3))
circle = np.c_[10 * np.cos(t), 10 * np.sin(t), 500 + 0 * t]
line = np.c_[t, 2 * t, 500 + 3 * t]
flat = patch(rng, 1000, (0, 0, 500), (.1, .2, -1), 50)
small = cap(rng, 1000, (0, 0, 500), 12.5, 4)
ball = cap(rng, 1000, (0, 0, 500), 12.5, 60)
for name, p in dict(circle=circle, line=line, flat=flat, small=small, ball=ball).items():
	write_frames(name + ".nrrd", table(p + e))
	write_frames(name + "0.nrrd", table(p))
write_frames("metres.nrrd", table(ball / 1000, "m"))
write_frames("nothing.nrrd", table(np.full((3, 3), np.nan)))
write_frames("three.nrrd", table(ball[:3]))
write_frames("pixels.nrrd", table(ball, "px"))
write_frames("depth.nrrd", Frame(np.zeros((9, 9), "f4"), ["depth"]))
write_frames("image.nrrd", Frame(np.zeros((9, 9), "u1")))
write_frames("sigma.nrrd", table(ball, sigma=0 * t))
write_frames("one.nrrd", Frame(np.ones((3, 1, 1), "f4"), ["x", "y", "z"]))'
	for name in circle circle0 flat flat0 line line0; do
		fails 1 "they lie on a circle or in a plane" fitshape sphere $name.nrrd
		fails 1 "the points do not determine a sphere" fitshape sphere --robust $name.nrrd
	done
	fails 1 "the points do not determine a sphere" fitshape sphere small.nrrd
	fails 1 "the points do not determine a sphere" fitshape sphere --robust small.nrrd
	for name in line line0; do
		fails 1 "they lie on a line" fitshape plane $name.nrrd
		fails 1 "the points do not determine a plane" fitshape plane --robust $name.nrrd
		fails 1 "the points do not determine a cylinder" fitshape cylinder $name.nrrd
	done
	fails 1 "the points do not determine a cylinder" fitshape cylinder flat.nrrd
	fails 1 "no point: all are NaN" fitshape sphere nothing.nrrd
	fails 1 "3 points: a sphere of 4 unknowns needs 4" fitshape sphere three.nrrd
	fails 1 "1 point: a plane of 3 unknowns needs 3" fitshape plane one.nrrd
	fails 1 "the diameter is 0.025 m, 0.001 times --diameter 25: are the coordinates in another unit?" fitshape sphere --diameter 25 metres.nrrd
	fails 1 "the diameter is 25 mm, twice --diameter 12.5: is that the radius?" fitshape sphere --diameter 12.5 ball0.nrrd
	fails 1 "the diameter is 25 mm, twice --diameter 12.5: is that the radius?" fitshape sphere --fixed --diameter 12.5 ball0.nrrd
	fails 1 "not anywhere near --diameter 50" fitshape sphere --fixed --diameter 50 ball0.nrrd
	fails 1 "0.001 times --diameter 25000: are the coordinates in another unit?" fitshape sphere --fixed --diameter 25000 ball0.nrrd
	fitshape sphere --fixed --diameter 25 small.nrrd >/dev/null	# too small a cap for a radius
	printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >mesh.obj
	fails 1 "mesh.obj: OBJ files are written, but not read here: mesh2depth reads meshes" fitshape plane mesh.obj
	fails 2 "--roi: must be a finite number" fitshape plane --roi 0,0,nan,9 ball.nrrd
	fails 1 "not anywhere near --diameter 8" fitshape sphere --diameter 8 ball0.nrrd
	fails 1 "length_unit: is px: a shape wants coordinates in mm" fitshape sphere pixels.nrrd
	fails 1 "depth without x and y, whose pixels have no known distance" fitshape plane depth.nrrd
	fails 1 "needs channels x y z" fitshape plane image.nrrd
	fails 1 "sigma: is 0 at pixel 0 0" fitshape sphere sigma.nrrd
	fails 1 "--roi: the input is a table, which has no pixels" fitshape plane --roi 0,0,5,5 ball.nrrd
	fails 1 "--roi: 5,5,5,5 reaches beyond the 9 x 9 pixels" fitshape plane --roi 5,5,5,5 --pixel 1 depth.nrrd
	fails 1 "--pixel: the input has x and y" fitshape plane --pixel 1 ball.nrrd
	fails 2 "--pixel: must be one or two numbers, not 3" fitshape plane --pixel 1,2,3 depth.nrrd
	fails 1 "no ball of --diameter 3 mm among the points" fitshape spheres --diameter 3 flat.nrrd
	fails 1 "ball 2: no point" fitshape spheres --roi=-50,-50,0,50,50,900,100,100,100,110,110,110 ball.nrrd
	fails 1 "the same ball twice?" fitshape spheres --roi=-50,-50,0,50,50,900,-51,-51,0,50,50,900 ball.nrrd
	fails 2 "wants plane, sphere, cylinder, spheres or length as its first word" fitshape ball.nrrd
	fails 2 "--roi: is needed: the two faces" fitshape length ball.nrrd
	fails 2 "--roi: is needed: the two balls, or --diameter" fitshape spheres ball.nrrd
	fails 2 "--roi: has 5 numbers: x,y,w,h are 4" fitshape plane --roi 1,2,3,4,5 ball.nrrd
	fails 2 "--roi: has 4 numbers: two rectangles" fitshape length --roi 1,2,3,4 ball.nrrd
	fails 2 "--roi: 1.5 is no whole number of pixels" fitshape plane --roi 1.5,2,3,4 ball.nrrd
	fails 2 "--roi: is empty" fitshape plane --roi 1,2,0,4 ball.nrrd
	fails 2 "--roi: a box from 5 to 4 is empty" fitshape plane --roi 1,2,5,4,5,4 ball.nrrd
	fails 2 "--diameter: has no meaning for fitshape plane" fitshape plane --diameter 3 ball.nrrd
	fails 2 "--distance: has no meaning for fitshape sphere" fitshape sphere --distance 3 ball.nrrd
	fails 2 "--fixed: wants --diameter" fitshape sphere --fixed ball.nrrd
	fails 2 "--trim: must be 0 to 500" fitshape sphere --trim 501 ball.nrrd
	fails 2 "standard output has the report" fitshape sphere -o - ball.nrrd
	fails 2 "takes its input from the stage before, not from 'flat.nrrd'" fringepipe framecat ball.nrrd , fitshape sphere flat.nrrd
	fails 2 "wants plane, sphere" fringepipe framecat ball.nrrd , fitshape
	fails 2 "gives no frames, so it can only be the last stage" fringepipe fitshape plane ball.nrrd , framecat
}

@test "fitshape --json: a frame that fails takes nothing from those before it" {
	py "$shapes"'
ball = table(rng.normal(size=(500, 3)) * [5, 5, 0] + [0, 0, 500])
write_frames("three.nrrd", [ball, ball, table(np.full((3, 3), np.nan))])'
	for words in "" "| cat"; do
		run --separate-stderr bash -o pipefail -c "fitshape plane --json three.nrrd $words"
		[ "$status" -eq 1 ]
		# shellcheck disable=SC2154
		[[ $stderr == *"frame 2: "* ]]
		py 'import json; expect(len(json.loads(sys.argv[1])["results"]) == 2)' "$output"
	done
	# of no frame there is nothing
	py "$shapes"'write_frames("none.nrrd", table(np.full((3, 3), np.nan)))'
	run --separate-stderr fitshape plane --json none.nrrd
	[ "$status" -eq 1 ]
	[ -z "$output" ]
}

@test "fitshape cylinder: a ring is too short for an axis, or its axis has the stated sd" {
	py "$shapes"'
axis = np.array([1, .3, .2]) / np.linalg.norm([1, .3, .2])
for height in 0, .02, .1, .2, .6, 1:
	rings = trials if height > .5 else 1
	write_frames("ring%g.nrrd" % height, [table(tube(rng, 600, (3, 4, 500), axis, 10, height, 360) + rng.normal(0, .01, (600, 3))) for _ in range(rings)])
for height in .6, 1:
	parts = [f["parts"][0] for f in fitshape("cylinder", "ring%g.nrrd" % height)]
	tilt = np.degrees([np.cross(p["axis"], axis) for p in parts])
	worst = np.sqrt(np.linalg.eigvalsh(tilt.T @ tilt / len(parts))[-1] / np.mean([p["axis_sd_deg"] ** 2 for p in parts]))
	expect(1 - 1.8 / trials ** .5 < worst < 1 + 2.7 / trials ** .5, height, worst)'
	for ring in ring0 ring0.02 ring0.1 ring0.2; do
		fails 1 "the points do not determine a cylinder" fitshape cylinder $ring.nrrd
		fails 1 "the points do not determine a cylinder" fitshape cylinder --robust $ring.nrrd
	done
}

@test "fitshape: the scatter of all parameters in trials is the stated one, plain and robust, with and without wrong points" {
	py "$shapes"'
c, n = np.array([10., -20, 300]), 300
way = dict(plane=np.array([.1, .2, -1]), cylinder=np.array([1, .3, .2]))
for kind in "plane", "sphere", "cylinder":
	for wrong in 0, 30:
		frames = []
		for _ in range(trials):
			p = patch(rng, n, c, way[kind], 40) if kind == "plane" else cap(rng, n, c, 12.5, 60) if kind == "sphere" else tube(rng, n, c, way[kind], 12.5, 40, 150)
			p = p + rng.normal(0, .02, p.shape)
			p[:wrong] += rng.uniform(-5, 5, (wrong, 3))
			frames.append(table(p))
		write_frames("trials.nrrd", frames)
		for words in ([["--robust"]] if wrong else [[], ["--robust"]]):
			parts = [f["parts"][0] for f in fitshape(kind, *words, "trials.nrrd")]
			off, seen = np.array([q["center"] for q in parts]) - c, {}
			if kind == "sphere":
				sd = np.array([q["center_sd"] for q in parts])
				seen["centre"] = np.sqrt((off ** 2).mean(0) / (sd ** 2).mean(0))
			else:
				a = way[kind] / np.linalg.norm(way[kind])
				turn = np.degrees([np.cross(q["normal" if kind == "plane" else "axis"], a) for q in parts])
				sd = np.array([q["normal_sd_deg" if kind == "plane" else "axis_sd_deg"] for q in parts])
				seen["tilt"] = np.sqrt(np.linalg.eigvalsh(turn.T @ turn / trials)[-1] / (sd ** 2).mean())
				# a plane is compared where its points are, a cylinder across its axis
				across = off @ a if kind == "plane" else off - np.outer(off @ a, a)
				worst = (across ** 2).mean() if kind == "plane" else np.linalg.eigvalsh(across.T @ across / trials)[-1]
				seen["centre"] = np.sqrt(worst / np.mean([q["center_sd"] ** 2 for q in parts]))
			if kind != "plane":
				seen["radius"] = np.sqrt(np.mean([(q["radius"] - 12.5) ** 2 for q in parts]) / np.mean([q["radius_sd"] ** 2 for q in parts]))
			print(kind, words, wrong, seen)
			expect(all(np.all(np.abs(v - 1) < 2.2 / trials ** .5) for v in seen.values()), kind, words, wrong, seen)'
}

@test "fitshape: four wrong points of 4000 name --robust, which mends the radius; good points and --robust are silent" {
	py "$shapes"'
c = np.array([20., -30, 600])
points = cap(rng, 4000, c, 12.5, 70) + rng.normal(0, .02, (4000, 3))
write_frames("good.nrrd", table(points))
points[::1000] += .2 * (points[::1000] - c)	# 2.5 mm outside
write_frames("bad.nrrd", table(points))
write_frames("exact.nrrd", table(cap(rng, 4000, c, 12.5, 70)))'
	for file in good exact; do
		run -0 --separate-stderr fitshape sphere $file.nrrd
		[ -z "$stderr" ]
	done
	run -0 --separate-stderr fitshape sphere --robust bad.nrrd
	[ -z "$stderr" ]
	run -0 --separate-stderr fitshape sphere bad.nrrd
	echo "$stderr"
	[[ $stderr == "fitshape: 4 of 4000 points are more than 5 times as far from the shape as the usual scatter of 0.0"*": --robust leaves them out" ]]
	run -0 --separate-stderr fitshape sphere bad.nrrd -o deviation.nrrd
	[[ $stderr == "fitshape: 4 of 4000 points are "* ]]
	run -0 --separate-stderr fitshape sphere --no-check outliers bad.nrrd
	[ -z "$stderr" ]
}

@test "fitshape: a tenth of the points off to one side by 8 scatters names --robust; noise of any kind, curves and filters do not" {
	py '
rng = np.random.default_rng(5)
y, x = np.mgrid[0:90, 0:110] * 0.25
shapes = {"plane": 20 + 0.1 * x - 0.05 * y, "sphere": 45 - np.sqrt(900 - (x - 13) ** 2 - (y - 12) ** 2), "cylinder": 45 - np.sqrt(400 - (y - 12) ** 2)}
normal = rng.normal(size=x.shape)
noises = {"normal": normal, "laplace": rng.laplace(size=x.shape), "uneven": normal * np.exp(0.4 * rng.normal(size=x.shape)),
	"skew": rng.gamma(4, size=x.shape) / 2, "wave": np.sin(x / 2) + 0.3 * normal}
bad = {"side": normal + 8 * (rng.random(x.shape) < 0.1), "half": normal + 8 * (rng.random(x.shape) < 0.25),
	"corner": normal + 8 * ((x < 8) & (y < 8))}
for kind, z in shapes.items():
	for file, all in ("good", noises), ("bad", bad):
		sigma = np.full_like(z, 0.02)
		write_frames("%s_%s.nrrd" % (kind, file), [Frame(np.stack([z + 0.02 * e, sigma]).astype("f4"), ["depth", "sigma"]) for e in all.values()])'
	for kind in plane sphere cylinder; do
		for words in "" "--no-weights"; do
			# shellcheck disable=SC2086
			run -0 --separate-stderr fitshape $kind --pixel 0.25 $words ${kind}_good.nrrd
			echo "$kind $words: $stderr"
			[ -z "$stderr" ]
		done
		gauss --on depth ${kind}_good.nrrd | fitshape $kind --pixel 0.25 >/dev/null 2>line
		[ ! -s line ]
		for which in 0 1 2; do
			framecat --frames $which ${kind}_bad.nrrd >one.nrrd
			run -0 --separate-stderr fitshape $kind --pixel 0.25 one.nrrd
			echo "$kind $which: $stderr"
			[[ $stderr == "fitshape: about "*" % of the points are off the shape that fits the others, and move the fit by 0.0"*" mm: --robust leaves them out" ]]
			run -0 --separate-stderr fitshape $kind --pixel 0.25 --robust one.nrrd
			[ -z "$stderr" ]
		done
	done
}

@test "fitshape: points that determine no sphere because some are wrong name --robust, which finds it; a plane does not" {
	py "$shapes"'
c = np.array([20., -30, 600])
points = cap(rng, 900, c, 12.5, 25) + rng.normal(0, .02, (900, 3))
points[::9, 2] += rng.uniform(-40, -2, 100)	# outside of it
write_frames("bad.nrrd", table(points))
write_frames("flat.nrrd", table(patch(rng, 900, c, (.1, .2, -1), 30) + rng.normal(0, .02, (900, 3))))'
	run -1 --separate-stderr fitshape sphere bad.nrrd
	echo "$stderr"
	[[ $stderr == "fitshape: the points do not determine a sphere: within their scatter of "*": without "*" of 900 points, which are far off, they do: --robust leaves them out" ]]
	fitshape sphere --robust --json bad.nrrd >fit.json
	py '
import json
p = json.load(open("fit.json"))["results"][0]["parts"][0]
expect(abs(p["radius"] - 12.5) < 4 * p["radius_sd"], p)'
	run -1 --separate-stderr fitshape sphere flat.nrrd
	echo "$stderr"
	[[ $stderr == *"they lie on a circle or in a plane" ]]
}

@test "fitshape: the laser plane of a real scanner has the rms of its page" {
	need_data horus_laser
	fitshape plane --json "$data/horus_laser/laser_plane_points.ply" >report
	py '
import json
[p] = json.load(open("report"))["results"][0]["parts"]
expect(p["points"] == 5975 and abs(p["rms"] - .0884) < 5e-5, p)
expect(np.abs(np.abs(p["normal"]) - [.85111, .00123, .52499]).max() < 1e-5 and abs(abs(p["offset"]) - 159.527) < 1e-3, p)'
}

@test "fitshape: what it refuses is one line on standard error and nothing on standard output, through a pipe, too" {
	py "$shapes"'write_frames("sphere.nrrd", table(cap(rng, 400, np.array([20., -30, 600]), 12.5, 70)))'
	for words in "sphere --bad" "sphere --trim x" "sphere --trim 900" "sphere --roi 1,2,3" "ball" "plane --diameter 3" "--json" \
		"sphere -o -" "sphere --json nothing.nrrd"; do
		for program in "" fringepipe "fringepipe framecat ,"; do
			# it has no file of its own there
			if [[ $program == *, && $words == *nothing* ]]; then continue; fi
			# shellcheck disable=SC2086
			status=0; $program fitshape $words <sphere.nrrd 2>line | cat >out || status=$?
			expected=2; [[ $words != *nothing* ]] || expected=1
			echo "$program fitshape $words: $status, $(cat line out)"
			[ "$status" -eq "$expected" ]
			[ ! -s out ]
			[ "$(wc -l <line)" -eq 1 ]
		done
	done
}

@test "fitshape: behind gauss chi square is what is expected of errors that neighbours share; without sigma there is no key" {
	py '
r = np.random.default_rng(8)
y, x = np.mgrid[0:90, 0:120] * 0.25
for n in range(8):
	z = 20 + 0.1 * x + 0.05 * r.normal(size=x.shape)
	write_frames("z%d.nrrd" % n, Frame(np.stack([z, np.full_like(z, 0.05)]).astype("f4"), ["depth", "sigma"]))'
	cat z?.nrrd | gauss --on depth | fitshape plane --pixel 0.25 --json >fits.json
	framecat -c depth z0.nrrd | gauss --on depth | fitshape plane --pixel 0.25 --json >bare.json
	py '
import json
for f in json.load(open("fits.json"))["results"]:
	p = f["parts"][0]
	s = 11 / 6
	expect(abs(p["shared_errors"] / (4 * np.pi * s * s) - 1) < 0.06, p["shared_errors"])	# borders have fewer neighbours
	expect(abs(p["chi_square"] - p["chi_square_expected"]) < 4.5 * p["chi_square_sd"], p)
	expect(abs(p["chi_square_sd"] / np.sqrt(2 * 10800 * 2 * np.pi * s * s) - 1) < 0.06, p["chi_square_sd"])
bare = json.load(open("bare.json"))["results"][0]["parts"][0]
expect("shared_errors" not in bare and bare["center_sd"] < p["center_sd"] / 4, bare)'
}
