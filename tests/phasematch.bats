load helpers

# row_match(left, right, step, both_ways): what the page says, pixel by pixel and bracket by bracket: disparity, NaN where
# there is none. runs: the brackets of a row, each with the length of its run.
reference='
def runs(u, step):
	with np.errstate(invalid="ignore"):
		ok = (np.diff(u) > 0) & (np.diff(u) <= step)
	length, start = np.zeros(len(u), int), np.zeros(len(u), int)
	x = 0
	while x < len(ok):
		n = 0
		while x + n < len(ok) and ok[x + n]: n += 1
		length[x:x + n], start[x:x + n] = n, x
		x += n + 1
	return np.flatnonzero(ok), length, start

def find(u, at, length, start, v):
	held = at[(u[at] <= v) & (v <= u[at + 1])]
	if len(held) == 0: return np.nan, -1, 0
	# of runs that hold it the longest, then the left one; one that ends at the value only where no other does
	ends = np.array([v == u[start[x] + length[x]] for x in held])
	held = held[~ends] if not ends.all() else held
	x = min(held, key=lambda x: (-length[x], start[x]))
	return x + (v - u[x]) / (u[x + 1] - u[x]), x, (v - u[x]) / (u[x + 1] - u[x])

def row_match(left, right, step, both_ways=1, sign=1):
	left, right = sign * left.astype("f4"), sign * right.astype("f4")
	there, back = runs(right, np.float32(step)), runs(left, np.float32(step))
	out = np.full(len(left), np.nan)
	for x, v in enumerate(left):
		if not np.isfinite(v): continue
		at, first, t = find(right, *there, v)
		if first < 0: continue
		if both_ways:
			home, held, _ = find(left, *back, right[first + (t >= 0.5)])
			if held >= 0 and abs(home - x) > both_ways: continue
		out[x] = x - at
	return out

def supported(d, n, reach=1):
	p = np.pad(d, 1, constant_values=np.nan)
	with np.errstate(invalid="ignore"):
		like = sum((abs(p[1 + j:p.shape[0] - 1 + j, 1 + i:p.shape[1] - 1 + i] - d) <= reach).astype(int)
			for j in (-1, 0, 1) for i in (-1, 0, 1) if i or j)
	return np.where(like >= n, d, np.nan)
'

# write NAME FRAMES... is what a test calls a pair: left.nrrd and right.nrrd.
@test "phasematch: a known disparity, at awkward sizes, rising and falling, one phase and three" {
	py '
out = {}
for kind in "rise", "fall", "three":
	sides = [], []
	for w, h, other in (3, 1, 3), (5, 7, 9), (127, 1, 100), (128, 64, 140), (129, 65, 129):
		y, x = np.mgrid[:h, :w].astype(float)
		d = 0.7 + min(2.2, w / 9) * np.sin(x / 40 + y / 20)
		slope = -0.21 if kind == "fall" else 0.21		# projector px or rad per pixel
		phases = {"rise": [1], "fall": [1], "three": [60, 66, 72]}[kind]
		names = ["absphase"] if kind != "three" else ["absphase1", "absphase2", "absphase3"]
		for side, at in (0, x - d), (1, np.arange(other) + np.zeros((h, 1))):
			u = slope * at + 3
			planes = [u if kind != "three" else 2 * np.pi * 4 * u / t for t in phases]
			keys = {"absphase_period_px": "60 66 72"} if kind == "three" else {"period_px": "20", "axis": "x"}
			sides[side].append(Frame(np.array(planes, "f4"), names, keys))
	for side in 0, 1: write_frames("%s.%d.nrrd" % (kind, side), sides[side])'
	for kind in rise fall three; do
		silent phasematch --assume-rectified --support 0 --right $kind.1.nrrd $kind.0.nrrd -o $kind.nrrd
		py '
for f, left, right in zip(*(read_frames(sys.argv[1] + n) for n in (".nrrd", ".0.nrrd", ".1.nrrd")), strict=True):
	_, h, w = f.pixels.shape
	y, x = np.mgrid[:h, :w].astype(float)
	d = 0.7 + min(2.2, w / 9) * np.sin(x / 40 + y / 20)
	inside = (x - d >= 0.001) & (x - d <= right.pixels.shape[2] - 1.001)
	expect(f.names == ["disparity"] and "absphase_period_px" not in f.meta, f.names, f.meta)
	# the steps of floats, over the slope: 8.5e-6, of three phases 2.0e-5
	expect(np.abs(f["disparity"][inside] - d[inside]) < (2.4e-5 if sys.argv[1] == "three" else 1.03e-5), w, h, np.nanmax(np.abs(f["disparity"] - d)))
	expect(np.isnan(f["disparity"][(x - d < -0.001) | (x - d > right.pixels.shape[2] - 0.999)]) | (w < 4), w, h)' $kind
	done
}

@test "phasematch: bracket by bracket in NumPy: noise, holes, steps back, values twice, both ways, support" {
	py '
rng = np.random.default_rng(3)
w, other, h = 150, 163, 24
def side(columns, shift):
	x = np.arange(columns) - shift + rng.normal(0, 1, (h, 1))
	u = 0.2 * x + np.where((np.arange(columns) > 60) & (np.arange(columns) < 90), 3, 0)	# two surfaces
	u[:, 120:130] = u[:, 20:30]		# seen twice
	u = u + rng.normal(0, 0.02, u.shape) + rng.normal(0, 0.3, (h, 1)) * rng.normal(0, 1, u.shape) * (rng.random((h, 1)) < 0.4)
	u[rng.random(u.shape) < 0.05] = np.nan
	return np.round(u * 64) / 64		# equal values, too
write_frames("left.nrrd", Frame(np.array([side(w, 0), rng.normal(0, 1, (h, w))], "f4"), ["absphase", "texture"]))
write_frames("right.nrrd", Frame(side(other, 5).astype("f4"), ["absphase"]))'
	base=(phasematch -q --assume-rectified --max-step 0.6 --right right.nrrd left.nrrd)
	"${base[@]}" --both-ways 0 --support 0 -o none.nrrd
	"${base[@]}" --both-ways 0.7 --support 0 -o back.nrrd
	"${base[@]}" --support-range 0.97 -o all.nrrd
	"${base[@]}" --both-ways 2 --support 3 --support-range 0.43 -o some.nrrd
	phasematch -q --assume-rectified --max-step 0.6 --right left.nrrd right.nrrd --support 0 -o swapped.nrrd
	py "$reference"'
left, right = read_frame("left.nrrd"), read_frame("right.nrrd")["absphase"]
def whole(both_ways, a=left["absphase"], b=right):
	return np.array([row_match(l, r, 0.6, both_ways) for l, r in zip(a, b)])
def same(name, want, most):
	got = read_frame(name)["disparity"]
	expect(np.isfinite(got) == np.isfinite(want), name, np.isfinite(got).sum(), np.isfinite(want).sum(),
		np.argwhere(np.isfinite(got) != np.isfinite(want))[:5])
	ok = np.isfinite(want)
	expect(ok.sum() > 250, name, ok.sum())
	expect(np.abs(got[ok] - want[ok]) < most, name, np.abs(got[ok] - want[ok]).max())		# 3.7e-6, with support 4.5e-7
same("none.nrrd", whole(0), 4.5e-6)
same("back.nrrd", whole(0.7), 4.5e-6)
same("all.nrrd", supported(whole(1), 4, 0.97), 5.4e-7)
same("some.nrrd", supported(whole(2), 3, 0.43), 5.4e-7)
same("swapped.nrrd", whole(1, right, left["absphase"]), 4.5e-6)
expect(read_frame("all.nrrd").names == ["disparity", "texture"])
expect(np.array_equal(read_frame("all.nrrd")["texture"], left["texture"]))'
}

@test "phasematch: several phases as one map: mean, spread, a phase that is missing, --max-residual, --vote" {
	py '
rng = np.random.default_rng(3)
T = np.array([60., 66, 71])
sides = []
for w in 120, 131:
	u = 1.7 * np.arange(w) + 40 + 4 * np.sin(np.arange(w) / 9) * (w == 131) + np.zeros((16, 1))
	p = 2 * np.pi * (u + rng.normal(0, 0.15, (3, 16, w))) / T[:, None, None]
	p[rng.random(p.shape) < 0.02] = np.nan
	p[1][rng.random(u.shape) < 0.02] += 2 * np.pi			# a wrong order
	sides.append(p)
keys = {"absphase_period_px": "60 66 71", "period_px": "60"}
for p, name in zip(sides, ("left", "right")):
	more = np.array([p[0], *p, p[0] * 0 + 3], "f4")
	write_frames(name + ".nrrd", Frame(more, ["absphase", "absphase1", "absphase2", "absphase3", "residual"], keys))'
	base=(phasematch -q --assume-rectified --max-step 0.4 --right right.nrrd left.nrrd --both-ways 0 --support 0)
	"${base[@]}" -o one.nrrd
	"${base[@]}" --max-residual 0.1 -o strict.nrrd
	"${base[@]}" --vote 0.5 -o vote.nrrd
	"${base[@]}" --vote 0.5 -v -o vote.nrrd 2>messages
	py "$reference"'
T = np.array([60., 66, 71])[:, None, None]
phases = [np.array([read_frame(n + ".nrrd")["absphase%d" % k].astype(float) for k in (1, 2, 3)]) for n in ("left", "right")]
step = 0.4 * 60 / (2 * np.pi)
def one_map(p, most):
	u, weight = T * p / (2 * np.pi), np.where(np.isfinite(p), 1 / T ** 2, 0)
	mean = np.nansum(u * weight, 0) / weight.sum(0)
	s = np.sqrt(np.nansum((u - mean) ** 2 * weight, 0) / weight.sum(0))
	return np.where(s <= most, mean, np.nan)
for name, most in ("one", 1), ("strict", 0.1):
	left, right = (one_map(p, most) for p in phases)
	want = np.array([row_match(l, r, step, 0) for l, r in zip(left, right)])
	got = read_frame(name + ".nrrd")
	expect(got.names == ["disparity", "residual"], got.names)
	ok = np.isfinite(want) & np.isfinite(got["disparity"])
	# the last bit of a float may decide about a pixel: here about none
	expect((np.isfinite(want) != np.isfinite(got["disparity"])).sum() <= 1, name)
	expect(ok.sum() > 200 and np.median(np.abs(got["disparity"] - want)[ok]) < 3.7e-6, ok.sum())	# 2.1e-6, 3.0e-6
each = np.array([[row_match(l, r, 0.4 * t / (2 * np.pi), 0) for l, r in zip(T[k] * phases[0][k] / 2 / np.pi, T[k] * phases[1][k] / 2 / np.pi)]
	for k, t in enumerate(T.ravel())])
def vote(v):
	v = np.sort(v[np.isfinite(v)])
	if len(v) == 3 and v[2] - v[0] <= 0.5: return v.mean()
	if len(v) < 2: return np.nan
	k = np.argmin(np.diff(v))
	return v[k:k + 2].mean() if v[k + 1] - v[k] <= 0.5 else np.nan
want = np.apply_along_axis(vote, 0, each)
got = read_frame("vote.nrrd")["disparity"]
expect((np.isfinite(want) != np.isfinite(got)).sum() <= 1)
expect(np.isfinite(want).sum() > 200 and np.nanmedian(np.abs(got - want)) < 1.5e-6, np.nanmedian(np.abs(got - want)), want[:2], got[:2])'
	has 'left pixels 19[0-9]*, matched [0-9]* ([0-9.]* %); lost by residual 0 (0.00 %), bracket .*, vote .*' <messages
}

# A rectified rig's keys: f 2000 px, 200 mm, cx 320 and 300.
keys='
def rig(side, **more):
	return {"rect_f_px": "2000", "rect_cx_px": ("320", "300")[side == "right"], "rect_cy_px": "20", "rect_baseline_mm": "200",
		"rect_side": side, "rect_rotation": "0.96 0 0.28 0 1 0 -0.28 0 0.96", "period_px": "20", "axis": "x"} | more
'

@test "phasematch: points of a plane, --frame left, crops and bins, depth limits, the right camera as the input" {
	py "$keys"'
h, w = 40, 640
y, x = np.mgrid[:h, :w].astype(float)
n, c = np.array([0.3, -0.2, 1]), 900		# n X = c
def side(right):
	# the point of pixel x, y of a side, then the projector column at 1.1 px per mm of x in the left frame
	ray = np.stack([(x - (300 if right else 320)) / 2000, (y - 20) / 2000, np.ones_like(x)])
	shift = 200 * right
	z = (c - n[0] * shift) / np.tensordot(n, ray, 1)
	X = z * ray[0] + shift
	return 0.33 * X + 50, X, z * ray[1], z
for right, name in enumerate(("left", "right")):
	f = Frame(np.array([side(right)[0], np.full((h, w), 0.02), x], "f4"), ["absphase", "sigma", "texture"], rig(name))
	write_frames(name + ".nrrd", f)
	part = f.pixels[:, 6:30, (100, 90)[right]:(600, 610)[right]]
	write_frames(name + ".part.nrrd", Frame(part, f.names, f.meta | {"origin_px": "%d 6" % (100, 90)[right]}))
	binned = f.pixels[:, :, :].reshape(3, h // 2, 2, w // 2, 2).mean((2, 4)).astype("f4")
	write_frames(name + ".bin.nrrd", Frame(binned, f.names, f.meta | {"bin": "2"}))
np.save("truth.npy", np.array(side(0)[1:]))'
	for part in "" .part .bin; do
		silent phasematch --right right$part.nrrd left$part.nrrd -o out$part.nrrd
	done
	phasematch --frame left --right right.nrrd left.nrrd -o turned.nrrd
	phasematch --right left.nrrd right.nrrd -o other.nrrd
	phasematch --frame left --right left.nrrd right.nrrd -o other_turned.nrrd
	phasematch --min-depth 865 --max-depth 877 --right right.nrrd left.nrrd -o limited.nrrd
	py "$keys"'
truth = np.load("truth.npy")
out = read_frame("out.nrrd")
expect(out.names == "disparity sigma_disparity x y z sigma texture".split(), out.names)
expect(out.meta["length_unit"] == "mm" and out.meta["z_axis"] == "away" and out.meta["rect_side"] == "left", out.meta)
def close(got, want, most):
	ok = np.isfinite(got[0])
	expect(ok.mean() > 0.05, ok.mean())
	expect(np.abs(got - want)[:, ok] < most, np.abs(got - want)[:, ok].max(1))
xyz = lambda f: np.array([f[k] for k in "xyz"], float)
# a fifth above what is left
close(xyz(out), truth, 2.6e-4)
close(xyz(read_frame("out.part.nrrd")), truth[:, 6:30, 100:600], 2.3e-4)
# the mean of four depths is that of their middle but for 1e-4 mm
close(xyz(read_frame("out.bin.nrrd")), truth.reshape(3, 20, 2, 320, 2).mean((2, 4)), 5.4e-4)
R = np.array([[0.96, 0, 0.28], [0, 1, 0], [-0.28, 0, 0.96]])
close(xyz(read_frame("turned.nrrd")), np.tensordot(R.T, truth, 1), 2.7e-4)
# on the plane, whichever camera is the input; z by the disparity
other, turned = read_frame("other.nrrd"), read_frame("other_turned.nrrd")
n = np.array([0.3, -0.2, 1])
P = xyz(other) + np.array([200, 0, 0])[:, None, None]
close(np.tensordot(n, P, 1)[None], 900, 2.3e-4)
close(xyz(turned), np.tensordot(R.T, P, 1), 9.6e-5)
# sigma of both: (1/f b) z^2 sigma_d, and sigma_d of the phases over the step
d, z = out["disparity"].astype(float), out["z"].astype(float)
ok = np.isfinite(d)
expect(np.isfinite(out["sigma"]) == ok)
expect(np.abs(z - 2000 * 200 / (d - 20))[ok] < 3.7e-5)		# 3.0e-5
expect(np.abs(out["sigma"] / (z ** 2 / 4e5 * out["sigma_disparity"]) - 1)[ok] < 1.6e-7)	# 1.3e-7
step = np.nanmedian(np.diff(read_frame("right.nrrd")["absphase"]))
low, high = 0.02 / step * np.sqrt(1.5), 0.02 / step * np.sqrt(2)
# 0.906 and 0.951 times these
expect((out["sigma_disparity"] > 0.89 * low)[ok] & (out["sigma_disparity"] < high)[ok], low, high, out["sigma_disparity"][ok].min())
limited = read_frame("limited.nrrd")
inside = ok & (z >= 865) & (z <= 877)
expect(np.isfinite(limited["z"]) == inside); expect(np.isfinite(limited["disparity"]) == inside)
expect(np.isfinite(limited["sigma"]) == inside); expect(np.isfinite(limited["x"]) == inside)
expect(0.03 < inside.mean() < 0.9 * ok.mean(), inside.mean(), ok.mean())'
	# the same from a calibration, with frames that no key describes
	for side in left right; do
		py 'f = read_frame(sys.argv[1] + ".nrrd"); write_frames(sys.argv[1] + ".bare.nrrd", Frame(f.pixels, f.names))' $side
	done
	cat >rig.json <<-'END'
	{ "K1": [[2000, 0, 320], [0, 2000, 20], [0, 0, 1]], "d1": [0, 0, 0, 0, 0],
	"K2": [[2000, 0, 300], [0, 2000, 20], [0, 0, 1]], "d2": [0, 0, 0, 0, 0],
	"R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T_mm": [-200, 0, 0],
	"R1": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "R2": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
	"P1": [[2000, 0, 320, 0], [0, 2000, 20, 0], [0, 0, 1, 0]],
	"P2": [[2000, 0, 300, -400000], [0, 2000, 20, 0], [0, 0, 1, 0]] }
	END
	phasematch --assume-rectified --calib rig.json --right right.bare.nrrd left.bare.nrrd -o bare.nrrd
	framecmp out.nrrd bare.nrrd
}

@test "phasematch: the noise of a disparity is what theory and sigma say" {
	py '
rng = np.random.default_rng(11)
h, w, slope, scatter = 100, 400, 0.13, 0.01
for name, shift in ("left", 0), ("right", 7.3):
	x = np.arange(w) + shift + np.zeros((h, 1))
	# a disparity that changes slowly: matches lie anywhere in their brackets
	x = x * (1 if name == "left" else 1.0137)
	p = slope * x + rng.normal(0, scatter, (h, w))
	write_frames(name + ".nrrd", Frame(np.array([p, np.full_like(p, scatter)], "f4"), ["absphase", "sigma"]))
T, s = np.array([60., 66, 72]), np.array([0.01, 0.015, 0.012])
for name, shift in ("left", 0), ("right", 7.3):
	u = 1.3 * (np.arange(w) + shift + np.zeros((h, 1))) * (1 if name == "left" else 1.0137)
	p = 2 * np.pi * u / T[:, None, None] + rng.normal(0, 1, (3, h, w)) * s[:, None, None]
	planes = [*p, *(np.full((h, w), v) for v in s)]
	write_frames(name + "3.nrrd", Frame(np.array(planes, "f4"), ["absphase1", "absphase2", "absphase3", "sigma1", "sigma2", "sigma3"],
		{"absphase_period_px": "60 66 72"}))'
	for k in "" 3; do
		silent phasematch --assume-rectified --support 0 --both-ways 0 --right right$k.nrrd left$k.nrrd -o out$k.nrrd
	done
	py '
x = np.arange(400)
truth = x - (x / 1.0137 - 7.3)
T, s = np.array([60., 66, 72]), np.array([0.01, 0.015, 0.012])
weight = 1 / T ** 2 / (1 / T ** 2).sum()
single = 0.01 / (0.13 * 1.0137), 0
fused = np.sqrt(((weight * T / 2 / np.pi * s) ** 2).sum()) / (1.3 * 1.0137)
for name, per_side in ("out", single[0]), ("out3", fused):
	f = read_frame(name + ".nrrd")
	d = (f["disparity"] - truth)[:, 20:380]
	theory = per_side * np.sqrt(1 + 2 / 3)
	# three standard errors, 1/sqrt(2 * 36000), 1 % more as neighbours share right pixels
	expect(abs(d.std() / theory - 1) < 0.0113, name, d.std(), theory)
	# sigma of each pixel: its errors over it have a deviation of 1
	scaled = d / f["sigma_disparity"][:, 20:380]
	expect(abs(scaled.std() - 1) < 0.026, name, scaled.std())	# 1.022 (more than noise makes), 1.007'
}

@test "phasematch: sphere, bar and plane before two cameras: shares, gross errors and scatter by noise; both ways round" {
	# shellcheck disable=SC2154	# helpers.bash sets it
	page=$top/man/phasematch.1 rows=${STEREO_ROWS:-196 236}		# make stereo takes all rows of the scene
	# shellcheck disable=SC2086	# two numbers
	py 'import stereo_scene as scene
for side in "left", "right":
	for noise in 0, 2, 5:
		images, disparity = scene.images(side, range(*map(int, sys.argv[1:])), noise)
		write_frames("%s.%d.nrrd" % (side, noise), Frame(images, None, {"projector_px": "1280 800"}))
	np.save(side + ".npy", disparity)' $rows
	for noise in 0 2 5; do
		for side in left right; do
			fringepipe -q phasewrap -n 4 -p 1280/70,1280/64,1280/59 --min-amplitude 8 $side.$noise.nrrd , unwrap2f --all -o $side.nrrd
			framecat -c absphase $side.nrrd -o $side.one.nrrd
		done
		phasematch --assume-rectified --right right.nrrd left.nrrd -o out.$noise.nrrd
		phasematch --assume-rectified --right left.nrrd right.nrrd -o swapped.$noise.nrrd
		base=(phasematch --assume-rectified --both-ways 0 --support 0)
		"${base[@]}" --vote 0.5 --right right.nrrd left.nrrd -o vote.$noise.nrrd
		"${base[@]}" --right right.one.nrrd left.one.nrrd -o one.$noise.nrrd
	done
	# noise, method; the bars of share, gross errors and scatter; and the page has what comes out
	py '
# the other way round: minus the same at the right pixel
for noise in 0, 2, 5:
	out, swapped = (read_frame("%s.%d.nrrd" % (n, noise))["disparity"].astype(float) for n in ("out", "swapped"))
	y, x = np.nonzero(np.isfinite(out))
	total = out[y, x] + swapped[y, np.rint(x - out[y, x]).astype(int)]
	total = total[np.isfinite(total)]
	expect(len(total) > 0.989 * len(x)); expect(noise > 0 or np.median(abs(total)) <= 0.01, np.median(abs(total)))
page = open(sys.argv[1]).read()
for noise, name, title, *bars in ((0, "out", "one map (the default)", 97, 0.005, 0.017),
		(2, "out", "one map (the default)", 92.5, 0.005, 0.1), (5, "out", "one map (the default)", 62, 0.01, 0.18),
		(2, "vote", "Fl -vote No 0.5, unfiltered", 0, 1, 1), (5, "vote", "Fl -vote No 0.5, unfiltered", 0, 1, 1),
		(2, "one", "finest, unfiltered", 0, 1, 1), (5, "one", "finest, unfiltered", 0, 1, 1)):
	out = read_frame("%s.%d.nrrd" % (name, noise))["disparity"].astype(float)
	truth = np.load("left.npy")
	seen = np.isfinite(truth)
	error = (out - truth)[seen]
	error = error[np.isfinite(error)]
	within, off = (100 * n.sum() / seen.sum() for n in (abs(error) <= 0.5, abs(error) > 5))
	mad = 1.4826 * np.median(abs(error - np.median(error)))
	# what is seen from one side alone is not matched
	extra = (np.isfinite(out) & ~seen).sum()
	expect(name != "out" or extra <= 5e-5 * seen.sum(), extra)	# one pixel of 73396: three standard errors of a count
	expect(within >= bars[0] and off <= bars[1] and mad <= bars[2], noise, name, within, off, mad)
	if sys.argv[2] != "196 236": continue		# the rows of the page
	expect(seen.sum() == 73396, seen.sum())
	row = [l for l in page.split("\n") if l.startswith(".It %d Ta %s Ta" % (noise, title))]
	expect(len(row) == 1, row, title)
	said = [float(v.split()[0]) for v in row[0].split(" Ta ")[2:]]
	expect(np.abs(np.array(said) - [within, off, mad]) < [0.03, 0.006, 0.002], row, within, off, mad)' "$page" "$rows"
}

@test "phasematch: the same bytes for any threads, band heights and instructions, as a pipe and as a chain, frame by frame" {
	py "$keys"'
rng = np.random.default_rng(2)
for name, w in ("left", 333), ("right", 350):
	frames = []
	for k in range(3):
		u = 2 * np.arange(w) + rng.normal(0, 0.4, (100, w)) + 9 * rng.random((100, 1))
		p = np.array([2 * np.pi * u / 60, 2 * np.pi * u / 66, u * 0 + 0.02, u * 0 + 0.03, u])
		p[:2][rng.random((2, 100, w)) < 0.02] = np.nan
		frames.append(Frame(p.astype("f4"), ["absphase1", "absphase2", "sigma1", "sigma2", "texture"],
			rig(name, absphase_period_px="60 66", rect_cx_px=("290", "300")[name == "right"])))
	write_frames(name + ".nrrd", frames)'
	phasematch -j 1 --right right.nrrd <left.nrrd >one.nrrd
	phasematch -j 7 --right right.nrrd <left.nrrd | cmp - one.nrrd
	for band in 1 7 64; do
		FRINGEPIPE_BAND=$band phasematch -j 2 --right right.nrrd <left.nrrd | cmp - one.nrrd
	done
	for level in $(cpu_levels); do
		FRINGEPIPE_CPU=$level phasematch --right right.nrrd <left.nrrd | cmp - one.nrrd
	done
	phasematch --vote 1 -j 1 --right right.nrrd <left.nrrd >vote.nrrd
	FRINGEPIPE_BAND=1 phasematch --vote 1 -j 5 --right right.nrrd <left.nrrd | cmp - vote.nrrd
	framecat left.nrrd | phasematch --right right.nrrd | normals -o pipe.nrrd
	fringepipe framecat left.nrrd , phasematch --right right.nrrd , normals -o chain.nrrd
	cmp pipe.nrrd chain.nrrd
	for k in 0 1 2; do
		framecat --frames $k left.nrrd -o l.nrrd
		framecat --frames $k right.nrrd -o r.nrrd
		phasematch --right r.nrrd l.nrrd -o $k.nrrd
		framecat --frames $k one.nrrd -o single.nrrd
		framecmp single.nrrd $k.nrrd
	done
	py 'expect([f.meta["cmd.1"] for f in read_frames("one.nrrd")] == ["phasematch --right=right.nrrd"] * 3)'
}

@test "phasematch: wrapped phases under the name of absolute ones are an error; single fringes are not" {
	py "$keys"'
rng = np.random.default_rng(4)
h, w = 40, 400
x = np.arange(w) + np.zeros((h, 1))
wrap = lambda p: (p + np.pi) % (2 * np.pi) - np.pi
def pair(name, slope, noise, fold, more=lambda p: p):
	for side, shift in ("left", 0), ("right", 7.3):
		p = slope * (x + shift) + rng.normal(0, noise, (h, w))
		write_frames("%s_%s.nrrd" % (side, name), Frame(more(fold(p)).astype("f4"), ["absphase"], rig(side, rect_cx_px=("290", "300")[side == "right"])))
def holes(p):	# as rectify leaves them at steps, and some more
	p = p.copy()
	p[:, 1:][np.abs(np.diff(p)) > np.pi] = np.nan
	return p
pair("three", 6 * np.pi / w, 0.05, wrap)
pair("many", 0.3, 0.2, lambda p: p % (2 * np.pi))
pair("falling", -0.3, 0.2, wrap)
pair("holes", 0.3, 0.05, wrap, holes)
pair("coarse", 2 * np.pi / (w + 8), 0.003, lambda p: p)
pair("begun", 2 * np.pi / (w + 8), 0.003, lambda p: (p + 2) % (2 * np.pi))
pair("noisy", 2 * np.pi / (w + 8), 0.2, lambda p: (p + 2) % (2 * np.pi))
pair("fine", 0.3, 0.02, lambda p: p)
def edge(p):	# things before a wall, farther apart than half a fringe
	q = p * 0.1
	q[:, 100:160] += 5.2
	q[:, 220:300] += 5.2
	return q
pair("edges", 2 * np.pi / (w + 8), 0.0005, lambda p: p, edge)'
	for name in three many falling holes; do
		fails 1 "absphase stays within one turn and jumps by one " phasematch --right right_$name.nrrd left_$name.nrrd -o out.nrrd
		[ ! -e out.nrrd ]
	done
	fails 1 "right_many.nrrd: absphase stays within one turn" phasematch --right right_many.nrrd left_fine.nrrd -o out.nrrd
	for name in coarse begun fine edges; do
		silent phasematch --right right_$name.nrrd left_$name.nrrd -o out.nrrd
	done
	may_be_empty phasematch -q --right right_noisy.nrrd left_noisy.nrrd -o out.nrrd	# little is left of it
}

@test "phasematch: what cannot be matched is an error of one line" {
	py "$keys"'
def frame(name, w=30, h=4, slope=0.3, names=["absphase"], drop=(), **more):
	u = slope * np.arange(w) + np.zeros((len(names), h, 1))
	side = "right" if name.startswith("right") else "left"
	keys = rig(side, rect_cx_px=("290", "300")[side == "right"]) | more
	write_frames(name + ".nrrd", Frame(u.astype("f4"), names, {k: v for k, v in keys.items() if k not in drop}))
frame("left"); frame("right"); frame("right_high", h=5); frame("right_period", period_px="21"); frame("right_fall", slope=-0.3)
frame("right_wrapped", names=["phase"]); frame("right_wide", w=44)
bare = [k for k in rig("left") if k.startswith("rect")]
frame("bare", drop=bare); frame("right_bare", drop=bare); frame("right_half", drop=["rect_cx_px"])
frame("right_focal", rect_f_px="1990"); frame("right_base", rect_baseline_mm="199"); frame("right_row", rect_cy_px="21")
frame("right_crop", origin_px="0 2"); frame("zero", rect_baseline_mm="0"); frame("right_zero", rect_baseline_mm="0")
three = ["absphase1", "absphase2"]
frame("two", names=three, absphase_period_px="60 66"); frame("right_two", names=three, absphase_period_px="60 66")
frame("two_none", names=three); frame("right_none", names=three); frame("right_other", names=three, absphase_period_px="60 67")
frame("two_many", names=three, absphase_period_px="60 66 70"); frame("right_many", names=three, absphase_period_px="60 66 70")
frame("two_zero", names=three, absphase_period_px="60 0"); frame("right_twozero", names=three, absphase_period_px="60 0")
frame("right_y", axis="y"); frame("right_relative", phase_anchor="none"); frame("right_flat", slope=0)
f = read_frame("right.nrrd")
write_frames("right_far.nrrd", Frame(f.pixels + 100, f.names, f.meta))
write_frames("right_empty.nrrd", Frame(f.pixels * np.nan, f.names, f.meta))
write_frames("right_inf.nrrd", Frame(f.pixels + np.inf, f.names, f.meta))
write_frames("more.nrrd", [Frame(f.pixels, f.names, f.meta)] * 2)
write_frames("left_column.nrrd", Frame(f.pixels[:, :, :1], f.names, f.meta | rig("left")))
f = read_frame("left.nrrd")
write_frames("sigma.nrrd", Frame(np.concatenate([f.pixels, f.pixels]), ["absphase", "sigma"], f.meta))'
	m() { phasematch "$@" -o out.nrrd; }
	fails 2 "--right: is needed" m left.nrrd
	fails 2 "--min-depth: 3 is more than --max-depth 2" m --right right.nrrd --min-depth 3 --max-depth 2 left.nrrd
	fails 2 "--support" m --right right.nrrd --support 9 left.nrrd
	fails 2 "--both-ways" m --right right.nrrd --both-ways=-1 left.nrrd
	fails 2 "--max-step" m --right right.nrrd --max-step 0 left.nrrd
	fails 2 "--frame" m --right right.nrrd --frame top left.nrrd
	fails 1 "right_high.nrrd: has 5 rows, the input 4" m --right right_high.nrrd left.nrrd
	fails 1 "right.nrrd: has only 1 frame for --right, the input has more" m --right right.nrrd left.nrrd left.nrrd
	fails 1 "more.nrrd: has more frames for --right than the input" m --right more.nrrd left.nrrd
	fails 1 "absphase" m --right right_wrapped.nrrd left.nrrd
	fails 1 "input has no channel absphase, only: phase" m --right right.nrrd right_wrapped.nrrd
	fails 1 "right_period.nrrd: period_px is 21, that of the input 20" m --right right_period.nrrd left.nrrd
	fails 1 "right_fall.nrrd: the phase falls from left to right, that of the input rises" m --right right_fall.nrrd left.nrrd
	fails 1 "not rectified (no key rect_f_px): rectify makes them so; --assume-rectified" m --right right_bare.nrrd bare.nrrd
	fails 1 "right_bare.nrrd: is not rectified (no key rect_f_px), the input is" m --right right_bare.nrrd left.nrrd
	fails 1 "the input is not rectified (no key rect_f_px), --right is" m --assume-rectified --right right.nrrd bare.nrrd
	fails 1 "right_half.nrrd: the frame has other keys of a rectified one, but no rect_cx_px" m --right right_half.nrrd left.nrrd
	fails 1 "left.nrrd: is of the left camera, as the input is" m --right left.nrrd left.nrrd
	fails 1 "right_focal.nrrd: has a focal length of 1990 px, the input of 2000 px" m --right right_focal.nrrd left.nrrd
	fails 1 "right_base.nrrd: has a baseline of 199 mm, the input of 200 mm" m --right right_base.nrrd left.nrrd
	fails 1 "right_row.nrrd: lies 1 rows off the input" m --right right_row.nrrd left.nrrd
	fails 1 "right_crop.nrrd: lies -2 rows off the input" m --right right_crop.nrrd left.nrrd
	fails 1 "key rect_baseline_mm must not be 0" m --right right_zero.nrrd zero.nrrd
	fails 1 "there are several phases, but no key absphase_period_px" m --right right_none.nrrd two_none.nrrd
	fails 1 "right_other.nrrd: absphase_period_px is 60 67, that of the input 60 66" m --right right_other.nrrd two.nrrd
	fails 1 "key absphase_period_px has 3 periods for 2 phases" m --right right_many.nrrd two_many.nrrd
	fails 1 "key absphase_period_px: 0 is no period" m --right right_twozero.nrrd two_zero.nrrd
	fails 1 "absphase1" m --right right.nrrd two.nrrd
	fails 1 "--vote: there is one phase" m --vote 0.5 --right right.nrrd left.nrrd
	fails 1 "right_y.nrrd: the phase runs along y" m --right right_y.nrrd left.nrrd
	fails 1 "right_relative.nrrd: absphase is known up to whole turns only" m --right right_relative.nrrd left.nrrd
	fails 1 "right_flat.nrrd: the phase is the same along a row" m --right right_flat.nrrd left.nrrd
	fails 1 "right_far.nrrd: no pixel matches: the phase of 100.0 % of the input's pixels is not in the same row (is it" \
		m --right right_far.nrrd left.nrrd
	fails 1 "no pixel matches: the phase of 0.0 % of the input's pixels is not in the same row; neighbours differ by more than --max-step" \
		m --max-step 0.1 --right right.nrrd left.nrrd
	fails 1 "right_empty.nrrd: no two neighbours in a row have a phase" m --right right_empty.nrrd left.nrrd
	fails 1 "right_inf.nrrd: no two neighbours in a row have a phase" m --right right_inf.nrrd left.nrrd
	fails 1 "no two neighbours in a row have a phase" m --right right.nrrd left_column.nrrd
	fails 1 "--frame: needs the rig" m --assume-rectified --frame left --right right_bare.nrrd bare.nrrd
	fails 1 "--max-depth: needs the rig" m --assume-rectified --max-depth 9 --right right_bare.nrrd bare.nrrd
	fails 1 "no.json" m --calib no.json --right right.nrrd left.nrrd
	fails 1 "no.nrrd" m --right no.nrrd left.nrrd
	[ ! -e out.nrrd ]
	m --right right_wide.nrrd left.nrrd
	m --right right.nrrd sigma.nrrd 2>messages
	has "phasematch: right.nrrd: the right phase has no channel sigma, the other one has: no sigma comes out" <messages
	[ "$(wc -l <messages)" -eq 1 ]
}

# A near sphere over a long base, whose disparities change by up to 4 px from pixel to pixel; the rays and the projector's
# columns in NumPy.
@test "phasematch: support is judged about a local plane: a steep sphere stays whole, its radius right" {
	py '
f, b, z0, R, w, h = 900., 300., 420., 60., 400, 300
for side, at, cx in ("left", 0, w / 2 - f * b / z0 / 2), ("right", b, w / 2 + f * b / z0 / 2):
	x, y = np.meshgrid(np.arange(w), np.arange(h))
	ray = np.stack([(x - cx) / f, (y - h / 2) / f, np.ones((h, w))])
	c = np.array([at - b / 2, 0, -z0])
	A, B = (ray ** 2).sum(0), (ray * c[:, None, None]).sum(0)
	root = B ** 2 - A * (c @ c - R * R)
	X = np.array([at, 0, 0])[:, None, None] + ray * (-B - np.sqrt(np.where(root > 0, root, np.nan))) / A
	phase = 314 * (X[0] - b / 2) / (X[2] + 50) + 200 + 0.01 * np.random.default_rng(at > 0).normal(size=(h, w))
	write_frames(side + ".nrrd", Frame(phase[None].astype("f4"), ["absphase"], {"absphase_period_px": "20", "axis": "x",
		"rect_f_px": "900", "rect_cx_px": "%.17g" % cx, "rect_cy_px": "150", "rect_side": side, "rect_baseline_mm": "300",
		"rect_rotation": "1 0 0 0 1 0 0 0 1"}))'
	phasematch --right right.nrrd left.nrrd -o out.nrrd
	phasematch --support 0 --right right.nrrd left.nrrd -o all.nrrd
	py '
out, all = read_frame("out.nrrd"), read_frame("all.nrrd")
kept, matched = np.isfinite(out["z"]), np.isfinite(all["z"])
off = np.sqrt((out["x"] - 150.) ** 2 + out["y"] ** 2. + (out["z"] - 420.) ** 2) - 60
print(kept.sum(), "of", matched.sum(), "within", np.nanmax(np.abs(off)))
expect(kept.sum() > 0.96 * matched.sum() and matched.sum() > 40000, kept.sum(), matched.sum())
expect(np.nanmax(np.abs(off)) < 0.15, np.nanmax(np.abs(off)))'
	fitshape sphere --json out.nrrd >fit.json
	py '
import json
p = json.load(open("fit.json"))["results"][0]["parts"][0]
expect(abs(p["radius"] - 60) < 4 * p["radius_sd"], p["radius"], p["radius_sd"])'
}
