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
	# the steps of floats, over the slope
	expect(np.abs(f["disparity"][inside] - d[inside]) < 2e-4, w, h, np.nanmax(np.abs(f["disparity"] - d)))
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
def same(name, want):
	got = read_frame(name)["disparity"]
	expect(np.isfinite(got) == np.isfinite(want), name, np.isfinite(got).sum(), np.isfinite(want).sum(),
		np.argwhere(np.isfinite(got) != np.isfinite(want))[:5])
	ok = np.isfinite(want)
	expect(ok.sum() > 250, name, ok.sum())
	expect(np.abs(got[ok] - want[ok]) < 1e-4, name, np.abs(got[ok] - want[ok]).max())
same("none.nrrd", whole(0))
same("back.nrrd", whole(0.7))
same("all.nrrd", supported(whole(1), 4, 0.97))
same("some.nrrd", supported(whole(2), 3, 0.43))
same("swapped.nrrd", whole(1, right, left["absphase"]))
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
	# the last bit of a float decides about a pixel now and then
	expect((np.isfinite(want) != np.isfinite(got["disparity"])).mean() < 2e-3, name)
	expect(ok.sum() > 200 and np.median(np.abs(got["disparity"] - want)[ok]) < 1e-4, ok.sum())
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
expect((np.isfinite(want) != np.isfinite(got)).mean() < 2e-3)
expect(np.isfinite(want).sum() > 200 and np.nanmedian(np.abs(got - want)) < 1e-4, np.nanmedian(np.abs(got - want)), want[:2], got[:2])'
	has 'left pixels 19[0-9]*, matched [0-9]* ([0-9.]* %); lost by residual 0 (0.00 %), bracket .*, vote .*' <messages
}
