load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

@test "unwrap2f: depth per radian and the reference plane are those of the phase that is unwrapped" {
	for periods in 66,60 60,66; do
		fringesim -s 160x120 -p $periods -n 4 -c 2 --scene plane --height 10 | phasewrap | unwrap2f -o phase.nrrd
		phase2depth --ref ideal phase.nrrd -o depth.nrrd
		py '
z = read_frame("depth.nrrd")["depth"]
expect(np.abs(z - 10).max() < 0.0137, z.min(), z.max())'
	done
}

# A measurement of a plane or bump: u is the projector column that a camera pixel sees, known exactly;
# phases in float64, wrapped, with noise, then stored as float.
truth='
def column(w, h, field):
	"""u over the whole field, with a bump, from column 0 (the seam) to the last."""
	y, x = np.mgrid[:h, :w].astype(float)
	u = (x + 0.5) / w * field - 0.5 + 0.2 * np.sin(y)
	u += 3 * np.exp(-((x - w / 2) ** 2 + (y - h / 2) ** 2) / (0.02 * w * w + 1))
	return np.clip(u, -0.45, field - 0.55)

def wrapped(u, period, noise=0, seed=0):
	rng = np.random.default_rng([seed, int(period * 1000)])
	p = 2 * np.pi * u / period + noise * rng.normal(size=u.shape)
	return np.arctan2(np.sin(p), np.cos(p)).astype("f4")

def measurement(u, periods, noise=0, **meta):
	pixels = [wrapped(u, p, noise) for p in periods] + [u * 0 + 0.5, u * 0 + 100]
	names = ["phase%d" % (i + 1) for i in range(len(periods))] if len(periods) > 1 else ["phase"]
	meta = {"period_px": " ".join("%.17g" % p for p in periods),
		"axis": " ".join("x" for p in periods), "steps": "3"} | meta
	return Frame(np.array(pixels).astype("f4"), names + ["modulation", "texture"], meta)

def close(frame, u, period, tolerance):
	"""The absolute phase is 2 pi u/T everywhere, so no fringe order is wrong."""
	error = frame["absphase"] - 2 * np.pi * u / period
	expect(np.abs(error) < tolerance, np.abs(error).max(), np.argwhere(~(np.abs(error) < tolerance))[:5])
'

@test "unwrap2f: two frequencies, one fringe of the beat over the field, at awkward sizes" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		py "$truth"'
w, h = map(int, sys.argv[1].split("x"))
u = column(w, h, 640); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, [60, 66], projector_px="640 480"))' $size
		unwrap2f -o out.nrrd in.nrrd
		py "$truth"'
f, u = read_frame("out.nrrd"), np.load("u.npy")
expect(f.names == ["absphase", "residual", "modulation", "texture"], f.names)
expect(f.meta["period_px"] == "60" and f.meta["axis"] == "x", f.meta)
close(f, u, 60, 4.9e-6)
expect(np.abs(f["residual"]) < 2.3e-6, f["residual"])
expect(f["modulation"] == 0.5); expect(f["texture"] == 100)'
	done
}

@test "unwrap2f: noise at the seam costs no fringe, even where the beat is no wider than the field" {
	for periods in "60 66" "66 60" "57 69" "640 60"; do
		py "$truth"'
periods = [float(p) for p in sys.argv[1].split()]
a, b = periods
field = min(a * b / abs(a - b), 640) if 640 not in periods else 640
u = column(400, 60, field); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, periods, 0.03, projector_px="%.17g 480" % field))' "$periods"
		unwrap2f -o out.nrrd in.nrrd
		py "$truth"'
shortest = min(float(p) for p in sys.argv[1].split())
close(read_frame("out.nrrd"), np.load("u.npy"), shortest, 0.2)' "$periods"
	done
}

@test "unwrap2f: rows that reach the seam between rows that do not" {
	py "$truth"'
u = column(400, 60, 660) * 0.7 + 90
reach = np.arange(60) % 20 > 13
u[reach] = column(400, 60, 660)[reach]; np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, [60, 66], 0.03, projector_px="660 480"))'
	unwrap2f -o out.nrrd in.nrrd
	py "$truth"'close(read_frame("out.nrrd"), np.load("u.npy"), 60, 0.2)'
}

@test "unwrap2f: a beat wider than the field takes what is not used on both sides" {
	py "$truth"'
u = column(500, 40, 1000); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, [60, 63.5], 0.02, projector_px="1000 700"))'
	unwrap2f in.nrrd -o out.nrrd
	py "$truth"'close(read_frame("out.nrrd"), np.load("u.npy"), 60, 0.2)'
}

@test "unwrap2f: heterodyne, three and four periods, equal beats, fringe counts" {
	for counts in "35 36 37" "37 35 36" "28 31 32" "48 49 53 64"; do
		py "$truth"'
counts = [float(c) for c in sys.argv[1].split()]
u = column(600, 40, 1920); np.save("u.npy", u)
f = measurement(u, [1920 / c for c in counts], 0.02, projector_px="1920 1080")
write_frames("in.nrrd", f)
del f.meta["period_px"], f.meta["projector_px"]
write_frames("bare.nrrd", f)' "$counts"
		unwrap2f in.nrrd -o a.nrrd
		unwrap2f --method=heterodyne in.nrrd -o b.nrrd
		unwrap2f --count="${counts// /,}" --field 1920 bare.nrrd -o c.nrrd
		py "$truth"'
shortest = 1920 / max(float(c) for c in sys.argv[1].split())
for name in ["a.nrrd", "b.nrrd", "c.nrrd"]:
	close(read_frame(name), np.load("u.npy"), shortest, 0.15)' "$counts"
	done
}

@test "unwrap2f: an unknown field is as wide as the longest beat" {
	py "$truth"'
for name, periods, field in [("two", [60, 66], 660), ("three", [1920 / c for c in (35, 36, 37)], 1920)]:
	u = column(300, 20, field); np.save(name + ".npy", u)
	write_frames(name + ".nrrd", measurement(u, periods, 0.01))'
	unwrap2f two.nrrd -o two_out.nrrd
	unwrap2f three.nrrd -o three_out.nrrd
	py "$truth"'
close(read_frame("two_out.nrrd"), np.load("two.npy"), 60, 0.1)
close(read_frame("three_out.nrrd"), np.load("three.npy"), 1920 / 37, 0.1)'
}

@test "unwrap2f: hierarchical, coarse to fine, and --unwrap chooses the phase" {
	py "$truth"'
u = column(700, 30, 1780) + 70; np.save("u.npy", u)	# the seam is as uncertain as the longest period
write_frames("in.nrrd", measurement(u, [30, 1920, 240], 0.05, projector_px="1920 1080"))'
	unwrap2f --method=hierarchical in.nrrd -o a.nrrd
	unwrap2f in.nrrd -o b.nrrd
	unwrap2f -u 3 in.nrrd -o c.nrrd
	unwrap2f -u 2 in.nrrd -o d.nrrd
	py "$truth"'
u = np.load("u.npy")
for name, period in [("a", 30), ("b", 30), ("c", 240), ("d", 1920)]:
	f = read_frame(name + ".nrrd")
	expect(f.meta["period_px"] == str(period), f.meta)
	close(f, u, period, 0.3)'
}

@test "unwrap2f: one phase of a period that spans the field" {
	py "$truth"'
u = column(640, 20, 640); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, [640], projector_px="640 480"))'
	unwrap2f in.nrrd -o out.nrrd
	py "$truth"'
f = read_frame("out.nrrd"); close(f, np.load("u.npy"), 640, 1e-6); expect(f["residual"] == 0)'
}

@test "unwrap2f: Gray code of columns, periods and half periods" {
	for cell in column period half; do
		py "$truth"'
u = column(900, 30, 960); np.save("u.npy", u)
cell = {"column": 1, "period": 60, "half": 30}[sys.argv[1]]
index = np.floor((np.round(u) if sys.argv[1] != "column" else u + 0.5) / cell)
if sys.argv[1] != "column":	# the code changes half a projector pixel before the column
	index = np.floor((u + 0.5) / cell)
f = measurement(u, [60], gray_cell=sys.argv[1], gray_planes="6")
f.pixels = np.concatenate([f.pixels, index[None].astype("f4")]); f.names.append("index")
write_frames("in.nrrd", f)
f.pixels[-1] += np.random.default_rng(0).integers(-10, 11, u.shape) if cell == 1 else 0
near = np.abs((u + 0.5) / cell - np.round((u + 0.5) / cell)) < 0.45 * (cell == 30)
f.pixels[-1][near] = (np.round((u + 0.5) / cell) - np.random.default_rng(0).integers(0, 2, u.shape))[near]
write_frames("wrong.nrrd", f)' $cell
		unwrap2f in.nrrd -o a.nrrd
		unwrap2f -m gray --gray-cell $cell --gray-offset 3 wrong.nrrd -o b.nrrd
		py "$truth"'
a, b, u = read_frame("a.nrrd"), read_frame("b.nrrd"), np.load("u.npy")
expect(a.names == ["absphase", "residual", "modulation", "texture"], a.names)
expect("gray_cell" not in a.meta and "gray_planes" not in a.meta, a.meta)
expect(np.abs(a["residual"]) <= 0.5)
close(a, u, 60, 4.9e-6)
if sys.argv[1] == "half":
	expect(np.abs(a["residual"]) < 0.2501)
	close(b, u, 60, 4.9e-6)
if sys.argv[1] == "column":
	close(b, u, 60, 4.9e-6)' $cell
	done
}

@test "unwrap2f: a Gray code orders the first phase, that one a finer one; two axes" {
	py "$truth"'
u = column(700, 500, 960); v = column(500, 700, 600).T; np.save("u.npy", u); np.save("v.npy", v)
pixels = [wrapped(u, 60, 0.05), wrapped(u, 12, 0.05), wrapped(v, 50, 0.05), wrapped(v, 10, 0.05),
	np.floor((u + 0.5) / 30), np.floor((v + 0.5) / 25)]
write_frames("in.nrrd", Frame(np.array(pixels).astype("f4"), "phase1 phase2 phase3 phase4 index1 index2".split(),
	{"period_px": "60 12 50 10", "axis": "x x y y", "gray_cell": "half"}))'
	unwrap2f in.nrrd -o x.nrrd
	unwrap2f -a y in.nrrd -o y.nrrd
	unwrap2f -a y -u 3 in.nrrd -o y3.nrrd
	py "$truth"'
close(read_frame("x.nrrd"), np.load("u.npy"), 12, 0.3)
f = read_frame("y.nrrd")
expect(f.meta["axis"] == "y" and f.meta["period_px"] == "10" and f.names == ["absphase", "residual"], f.meta)
close(f, np.load("v.npy"), 10, 0.3)
close(read_frame("y3.nrrd"), np.load("v.npy"), 50, 0.3)'
}

@test "unwrap2f: best, and its residual tells wrong orders" {
	for periods in "60 66" "51.2 53.3 55.9" "30 32.3 37"; do
		py "$truth"'
periods = [float(p) for p in sys.argv[1].split()]
u = column(600, 30, 640); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, periods, 0.04, projector_px="640 480"))' "$periods"
		unwrap2f -m best in.nrrd -o out.nrrd
		py "$truth"'
f = read_frame("out.nrrd"); p = min(float(p) for p in sys.argv[1].split())
close(f, np.load("u.npy"), p, 0.25)
expect((f["residual"] >= 0) & (f["residual"] <= 0.5), f["residual"].max())' "$periods"
	done
	py "$truth"'
f = read_frame("in.nrrd"); f.pixels = f.pixels.copy()
f.pixels[2, 10:20] = np.random.default_rng(0).uniform(-3, 3, (10, 600))
write_frames("bad.nrrd", f)'
	unwrap2f -m best --max-residual 0.3 bad.nrrd -o out.nrrd
	py '
p = np.isnan(read_frame("out.nrrd")["absphase"])
expect(p[10:20].mean() > 0.3 and p[:10].mean() < 0.01, p[10:20].mean(), p[:10].mean())'
}

@test "unwrap2f: the residual means one thing: of two phases best leaves what their beat leaves" {
	py "$truth"'
u = column(600, 30, 640)
write_frames("in.nrrd", measurement(u, [66, 60], 0.06, projector_px="640 480"))'
	unwrap2f in.nrrd -o beat.nrrd
	unwrap2f -m best in.nrrd -o best.nrrd
	unwrap2f -m best --max-residual 0.3 in.nrrd -o some.nrrd
	py '
beat, best, some = (read_frame(n + ".nrrd") for n in ("beat", "best", "some"))
expect(beat["absphase"] == best["absphase"])
expect(np.abs(np.abs(beat["residual"]) - best["residual"]) < 2.1e-5)
expect(best["residual"].max() > 0.3)
expect(np.isnan(some["absphase"]) == ~(best["residual"] <= np.float32(0.3)))'
}

@test "unwrap2f: from three phases on, the orders of a brute-force search of maximum likelihood" {
	for set in "640 0.15 60 66 78" "650 0.2 18 23 31 650" "1920 0.05 60 66 78"; do
		py "$truth"'
field, noise, *periods = (float(v) for v in sys.argv[1].split())
u = np.random.default_rng(1).uniform(0, field - 1, (90, 400)); np.save("u.npy", u)
f = measurement(u, periods, noise, projector_px="%g 480" % field)
f.pixels = f.pixels.copy()
f.pixels[1, :9] = np.random.default_rng(2).uniform(-np.pi, np.pi, (9, 400))	# no order fits: any will do
write_frames("in.nrrd", f)' "$set"
		unwrap2f in.nrrd -o auto.nrrd
		unwrap2f -m best in.nrrd -o best.nrrd
		py '
field, noise, *periods = (float(v) for v in sys.argv[1].split())
auto, best, u = read_frame("auto.nrrd"), read_frame("best.nrrd"), np.load("u.npy")
expect(auto.pixels == best.pixels)
phase = read_frame("in.nrrd").pixels[:len(periods)].astype(float) / (2 * np.pi)
ratio = min(periods) / np.array(periods)[:, None, None]
orders = np.arange(-1, np.ceil(field / min(periods)) + 2)
base = phase[np.argmin(periods)]
def cost(k):
	v = base + k
	e = ratio * v - phase
	e -= np.round(e)
	out = np.maximum(-0.5 / min(periods) - v, v - (field - 0.5) / min(periods))
	return (e * e).sum(0) - (ratio * e).sum(0) ** 2 / (ratio ** 2).sum() + np.where(out > 0, 1e-4, 0) + (out > 0.25)
costs = np.array([cost(k) for k in orders])
k = orders[costs.argmin(0)]
found = np.round(auto["absphase"] / (2 * np.pi) - base)
expect((found != k).mean() < 1e-4, (found != k).mean())	# a draw but for rounding
wrong = (np.abs(auto["absphase"] / (2 * np.pi) - u / min(periods)) > 0.5)[9:].mean()
bound = {0.15: 0.00013, 0.2: 0.0068, 0.05: 0.00001}[noise]	# measured on 400000 pixels
three = 3 * np.sqrt(bound / u[9:].size)
expect(wrong <= bound + three, wrong, bound)' "$set"
	done
}

# A search of maximum likelihood in double precision: of all orders the one whose phases, at the position in the field
# that fits them best, are off by the least sum of squares. unwrap2f lets positions lie somewhat outside, which costs it
# some orders near the ends of a field that is known to the pixel: a share of `more` (measured on two million pixels) of
# those that the search gets wrong, within three standard errors.
@test "unwrap2f: from three phases on, as few wrong orders as a search of maximum likelihood, and fewer than by beats" {
	while read -r field noise more periods; do
		py "$truth"'
field, noise, *periods = (float(v) for v in sys.argv[1:])
u = np.random.default_rng(1).uniform(-0.5, field - 0.5, (200, 1000)); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, periods, noise, projector_px="%g 480" % field))' $field $noise $periods
		unwrap2f -q in.nrrd -o auto.nrrd
		rm -f beats.nrrd
		[ $field -gt 1225 ] || unwrap2f -q -m heterodyne in.nrrd -o beats.nrrd
		py '
import os
field, noise, more, *periods = (float(v) for v in sys.argv[1:])
u, turn = np.load("u.npy"), 2 * np.pi
phase = read_frame("in.nrrd").pixels[:len(periods)].astype(float)
T = np.array(periods)[:, None, None]
least, likely = np.full(u.shape, np.inf), 0
wrap = lambda p: p - turn * np.round(p / turn)
for k in range(-1, int(field / T[0, 0, 0]) + 2):
	at = (phase[0] / turn + k) * T[0]
	off = wrap(turn * at / T - phase)
	best = np.clip(at - (off / T).sum(0) / (turn / T ** 2).sum(0), -0.5, field - 0.5)
	cost = ((off + turn * (best - at) / T) ** 2).sum(0)
	likely = np.where(cost < least, k, likely)
	least = np.minimum(least, cost)
right = np.round(u / T[0] - phase[0] / turn)
order = lambda name: np.round((read_frame(name)["absphase"] - phase[0]) / turn)
wrong, beats = (order("auto.nrrd") != right).sum(), np.inf
if os.path.exists("beats.nrrd"):
	beats = (order("beats.nrrd") != right).sum()
search = (likely != right).sum()
print("# %s, scatter %g: of %d orders %d wrong, by the search %d, by beats %g" % (periods, noise, u.size, wrong, search, beats))
differ = ((order("auto.nrrd") != right) != (likely != right)).sum()
expect(wrong - search <= more * search + 3 * np.sqrt(differ) and wrong <= beats, wrong, search, beats, differ)' $field $noise $more $periods >&3
	done <<-END
		640 0.1 0 60 66 78
		640 0.15 0.04 60 66 78
		640 0.2 0.035 60 66 78
		1000 0.15 0.053 60 66 78
		1920 0.05 0 60 66 78
		650 0.1 0 18 23 31 650
		650 0.2 0.01 18 23 31 650
	END
}

@test "unwrap2f: best: a field that is stated 10 px too narrow at both ends costs no orders" {
	py "$truth"'
rng = np.random.default_rng(4)
u = rng.uniform(-0.5 - 10, -0.5, (100, 300)) + 650 * rng.integers(0, 2, (100, 300)); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, [60, 66, 78], 0.05, projector_px="640 480"))'
	unwrap2f -q in.nrrd -o out.nrrd
	py "$truth"'
u = np.load("u.npy")
expect((u < -9).any() and (u > 648).any())
close(read_frame("out.nrrd"), u, 60, 0.3)'
}

@test "unwrap2f: a sequence does not begin with a beat whose ends scatter reaches, where another is there" {
	py "$truth"'
u = np.random.default_rng(1).uniform(-0.4, 649.4, (100, 500)); np.save("u.npy", u)
write_frames("a.nrrd", measurement(u, [18, 23, 31, 650], 0.1, projector_px="650 480"))
u = u * 640 / 650
write_frames("b.nrrd", measurement(u, [60, 66, 78], 0.1, projector_px="640 480"))
u = u * 509.5 / 640 + 0.4; np.save("c.npy", u)	# the beat of 510 px has 8.5 fringes
write_frames("c.nrrd", measurement(u, [60, 68], 0.03, projector_px="511 480"))'
	unwrap2f -m heterodyne a.nrrd -o a_out.nrrd
	unwrap2f -m heterodyne b.nrrd -o b_out.nrrd
	unwrap2f c.nrrd -o c_out.nrrd
	py '
u = np.load("u.npy")
for name, u, period, most in [("a", u, 18, 1e-4), ("b", u * 640 / 650, 60, 1e-4), ("c", np.load("c.npy"), 60, 5e-4)]:
	wrong = np.abs(read_frame(name + "_out.nrrd")["absphase"] / (2 * np.pi) - u / period) > 0.5
	expect(wrong.mean() < most, name, wrong.mean())'
}

@test "unwrap2f: three phases: a pixel that lacks one that no sequence needs keeps its order; --unwrap of any" {
	py "$truth"'
u = column(300, 40, 640); np.save("u.npy", u)
f = measurement(u, [60, 66, 60], 0.04, projector_px="640 480")	# the third says nothing more
f.pixels[2, :20] = np.nan
write_frames("in.nrrd", f)
write_frames("four.nrrd", measurement(u, [66, 60, 400, 78], 0.05, projector_px="640 480"))'
	unwrap2f in.nrrd -o auto.nrrd
	unwrap2f -m best in.nrrd -o best.nrrd
	for k in 1 2 3 4; do
		unwrap2f -u $k four.nrrd -o u$k.nrrd
	done
	py "$truth"'
u = np.load("u.npy")
close(read_frame("auto.nrrd"), u, 60, 0.3)
best = read_frame("best.nrrd")["absphase"]
expect(np.isnan(best[:20])); expect(best[20:] == read_frame("auto.nrrd")["absphase"][20:])
for k, period in enumerate([66, 60, 400, 78]):
	f = read_frame("u%d.nrrd" % (k + 1))
	expect(f.meta["period_px"] == str(period)); close(f, u, period, 0.3)'
}

@test "unwrap2f: best, a beat as wide as the field: positions in the field win over those before it" {
	py "$truth"'
u = column(660, 20, 660); np.save("u.npy", u)	# the last quarter of a period fits before column 0 too
write_frames("in.nrrd", measurement(u, [60, 66], 0.002))'
	unwrap2f -m best --field 660 in.nrrd -o out.nrrd
	py "$truth"'close(read_frame("out.nrrd"), np.load("u.npy"), 60, 0.01)'
}

@test "unwrap2f: a line orders a beat that repeats, and --fit-line finds it from two planes" {
	for axis in x y; do
		py "$truth"'
# The camera sees 1.5 projector pixels per pixel; near and far planes lie 500 projector pixels apart.
def view(z, w=800, h=60):
	y, x = np.mgrid[:h, :w].astype(float)
	return 1.5 * x + 20 + 500 * z + 0.05 * y
flip = (lambda f: Frame(f.pixels.transpose(0, 2, 1), f.names, f.meta | {"axis": "y y"})) if sys.argv[1] == "y" else (lambda f: f)
rng = np.random.default_rng(3)
z = 0.5 + 0.5 * np.sin(np.mgrid[:60, :800][1] / 90.0)
np.save("u.npy", view(z))
for name, at in [("near", 0), ("middle", 0.5), ("far", 1), ("shape", z)]:
	f = measurement(view(at), [60, 66], 0.03)
	f.pixels[0][rng.random(z.shape) < 0.2] = np.nan
	write_frames(name + ".nrrd", flip(f))' $axis
		unwrap2f --fit-line near.nrrd middle.nrrd far.nrrd >line
		unwrap2f --fit-line -o line.txt near.nrrd middle.nrrd far.nrrd
		cmp line line.txt
		unwrap2f "$(cat line)" shape.nrrd -o out.nrrd
		py "$truth"'
p, b = (float(v) for v in open("line").read().strip().split("=")[1].split(","))
expect(abs(p - 440) < 0.0113, p)
expect(abs(b - np.degrees(2 * np.pi * (20 + 1.5 + 250) / 660 - np.pi)) < 0.0186, b)
f, u = read_frame("out.nrrd"), np.load("u.npy")
a = f["absphase"] if sys.argv[1] == "x" else f["absphase"].T
there = ~np.isnan(a)
expect(there.mean() > 0.7)
error = np.abs(a - 2 * np.pi * u / 60)[there]
expect(error < 0.159, error.max())' $axis
	done
}

@test "unwrap2f: a line is one of the sensor, wherever the image lies on it" {
	py "$truth"'
u = 1.5 * np.mgrid[:20, :800][1].astype(float) + 270
f = measurement(u, [60, 66], 0.02)
write_frames("whole.nrrd", f)
write_frames("crop.nrrd", Frame(f.pixels[:, :, 300:700], f.names, f.meta | {"origin_px": "300 0"}))'
	unwrap2f --line=440,-31.8 whole.nrrd -o whole_out.nrrd
	unwrap2f --line=440,-31.8 crop.nrrd -o crop_out.nrrd
	py "$truth"'
a, b = read_frame("whole_out.nrrd")["absphase"], read_frame("crop_out.nrrd")["absphase"]
expect(a[:, 300:700] == b)'
}

@test "unwrap2f: the absolute phase is within 2 ulp up to a thousand fringes" {
	py '
rng = np.random.default_rng(0)
k = rng.integers(-20, 1024, (64, 1000)); phase = rng.uniform(-np.pi, np.pi, k.shape).astype("f4")
phase[0] = np.float32(np.pi); phase[1] = -np.float32(np.pi)
write_frames("in.nrrd", Frame(np.array([phase, k * 30.0 + 15]).astype("f4"), ["phase", "index"],
	{"period_px": "30", "gray_cell": "column"}))'
	unwrap2f in.nrrd -o out.nrrd
	py '
phase, out = read_frame("in.nrrd")["phase"].astype(float), read_frame("out.nrrd")["absphase"]
k = np.round((out - phase) / (2 * np.pi))
true = phase + 2 * np.pi * k
expect(np.abs(out - true) <= 0.74 * ulp(true), (np.abs(out - true) / ulp(true)).max())'
}

@test "unwrap2f: missing pixels stay missing, doubtful ones become so" {
	py "$truth"'
u = column(100, 40, 640)
f = measurement(u, [60, 66, 5], 0.02, projector_px="640 480")
f.pixels[0, :5] = np.nan; f.pixels[1, 5:10] = np.nan; f.pixels[3, 10:15] = np.nan
write_frames("in.nrrd", f)'
	unwrap2f -u 1 in.nrrd -o a.nrrd
	unwrap2f -u 1 --max-residual 0.01 in.nrrd -o b.nrrd
	py '
a, b = read_frame("a.nrrd"), read_frame("b.nrrd")
rows = np.arange(40)[:, None] + np.zeros(100)
expect(np.isnan(a["absphase"]) == (rows < 10)); expect(np.isnan(a["residual"]) == (rows < 10))
expect(np.isnan(a["modulation"]) == ((rows >= 10) & (rows < 15)))
expect(np.isnan(b["absphase"]) == ~(np.abs(a["residual"]) <= np.float32(0.01)))
expect(np.isnan(b["absphase"]).mean() > 0.4, np.isnan(b["absphase"]).mean())'
}

@test "unwrap2f: the table of three phases gives the orders that the search gives" {
	py "$truth"'
rng = np.random.default_rng(8)
u = column(300, 60, 640)
for name, periods, scatter, keys in [("lit", [60, 66, 78], 0.05, {"projector_px": "640 480"}),
    ("noisy", [60, 66, 78], 0.4, {}), ("dark", [48, 56, 64], 9, {"projector_px": "512 512"}),
    ("many", [9, 10, 10.9], 0.3, {"projector_px": "640 480"})]:
	f = measurement(u, periods, scatter, **keys)
	f.pixels[0, 20:30, 50:90] = np.nan; f.pixels[1, 25:35, 60:270] = np.nan; f.pixels[2, :5] = np.nan
	write_frames(name + ".nrrd", f)
	f.pixels[1, :, [0, 299]] += 30 * np.pi	# no wrapped phase: the table is for those
	write_frames(name + "_search.nrrd", f)'
	for name in lit noisy dark many; do
		unwrap2f -q $name.nrrd -o t.nrrd
		unwrap2f -q ${name}_search.nrrd -o s.nrrd
		py "name = '$name'"'
t, s = read_frame("t.nrrd"), read_frame("s.nrrd")
for c in "absphase", "residual":
	a, b = t[c][:, 1:299], s[c][:, 1:299]
	expect(a.view("u4") == b.view("u4"), name, c, (a.view("u4") != b.view("u4")).sum())
expect(np.isfinite(t["absphase"]).mean() > 0.3, name)'
	done
}

@test "unwrap2f: one thread, seven, every band height and instruction set give the same bytes" {
	py "$truth"'
rng = np.random.default_rng(5)
u = column(333, 70, 640)
f = measurement(u, [60, 66, 71], 0.5, projector_px="640 480")
f.pixels[0][rng.random(u.shape) < 0.2] = np.nan
write_frames("a.nrrd", [f, measurement(u[:20], [60, 66], 0.1, projector_px="640 480")])
g = Frame(np.array([f.pixels[0], f.pixels[1], np.floor((u + 0.5) / 30)]).astype("f4"), ["phase1", "phase2", "index"],
	{"period_px": "60 66", "axis": "x x", "gray_cell": "half"})
write_frames("g.nrrd", g)
g.meta["gray_cell"] = "period"; write_frames("p.nrrd", g)
write_frames("l.nrrd", Frame(f.pixels[:2], ["phase1", "phase2"], {"period_px": "60 66", "axis": "x x"}))'
	for run in "a.nrrd" "-m best a.nrrd" "--fuse --all a.nrrd" "--fuse g.nrrd" "p.nrrd" "--line=200,-20 l.nrrd"; do
		# shellcheck disable=SC2086
		unwrap2f -j 1 $run >one.nrrd
		# shellcheck disable=SC2086
		unwrap2f -j 7 $run | cmp - one.nrrd
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=1 unwrap2f -j 2 $run | cmp - one.nrrd
		levels=$(cpu_levels)
		for level in $levels; do
			# shellcheck disable=SC2086
			FRINGEPIPE_CPU=$level unwrap2f $run | cmp - one.nrrd
		done
	done
	unwrap2f a.nrrd -m heterodyne -r 0.25 -o m.nrrd
	py '
f = read_frames("m.nrrd")
expect(len(f) == 2 and f[0].meta["cmd.1"] == "unwrap2f --method=heterodyne --max-residual=0.25 [1]", f[0].meta)'
}

@test "unwrap2f: warns where the residuals are those of wrong orders, once" {
	py "$truth"'
u = column(600, 80, 640)
two = measurement(u, [60, 66], 0.05, projector_px="640 480")
write_frames("two.nrrd", [two, two])
write_frames("three.nrrd", measurement(u, [51.2, 53.3, 55.9], 0.05, projector_px="640 480"))
f = measurement(u, [60, 66], 0.05, projector_px="640 480")
f.pixels[:2] = np.angle(np.exp(1j * (f.pixels[:2] + np.pi / 2)))
write_frames("origin.nrrd", f)
code = lambda phase: write_frames("code.nrrd", Frame(np.array([phase, np.floor((u + 0.5) / 30)]).astype("f4"),
	["phase", "index"], {"period_px": "60", "gray_cell": "half"}))
code(np.angle(np.exp(1j * (2 * np.pi * u / 60 - np.pi))))
rng = np.random.default_rng(7)
write_frames("dark.nrrd", measurement(rng.uniform(0, 1e6, u.shape), [60, 66], 3, projector_px="640 480"))'
	random="residual: as large as from random fringe orders"
	fails 0 "unwrap2f: $random" unwrap2f -p 66,60 two.nrrd -o out.nrrd
	fails 0 "$random" unwrap2f -m best -p 66,60 two.nrrd -o out.nrrd
	fails 0 "all lie alike far from the best order" unwrap2f -m best -p 53.3,51.2,55.9 three.nrrd -o out.nrrd
	fails 0 "$random" unwrap2f dark.nrrd -o out.nrrd
	fails 0 "unwrap2f: residual: all are off by about -0.25 turns: do --period and phasewrap --phase-origin" \
		unwrap2f origin.nrrd -o out.nrrd
	fails 0 "all are off by about half a turn: give phasewrap --phase-origin 180" unwrap2f code.nrrd -o out.nrrd
	fails 0 "fringepipe: unwrap2f: $random" fringepipe unwrap2f -p 66,60 two.nrrd , framecat --channels absphase -o out.nrrd
	for run in "-j 1" "-j 2" "-j 7"; do
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=3 fails 0 "about -0.25 turns" unwrap2f $run origin.nrrd -o out.nrrd
	done
	silent unwrap2f -q -p 66,60 two.nrrd -o out.nrrd
}

@test "unwrap2f: a field that nothing states is named where three phases have wrong orders" {
	py "$truth"'
u = column(320, 40, 320)
write_frames("wide.nrrd", measurement(u, [60, 66, 73], 0.02))
write_frames("short.nrrd", measurement(u, [20, 22, 24.5], 0.02))'
	fails 0 "random fringe orders: no --field, so that orders were looked for over 16060 px" \
		unwrap2f wide.nrrd -o out.nrrd
	silent unwrap2f --field 330 wide.nrrd -o out.nrrd
	fails 0 "is more than 220 px of the projector seen? Their number (--field), a Gray code or --line tells" \
		unwrap2f short.nrrd -o out.nrrd
	silent unwrap2f --field 330 short.nrrd -o out.nrrd
}

@test "unwrap2f: no warning where orders are right, however noisy, dark around, or few" {
	py "$truth"'
u = column(600, 80, 640)
def save(name, f):
	write_frames(name + ".nrrd", f)
save("noisy", measurement(u, [60, 66], 0.09, projector_px="640 480"))
save("fine", measurement(u, [640, 30, 240], 0.1, projector_px="640 480"))
save("three", measurement(u, [1920 / c for c in (35, 36, 37)], 0.04, projector_px="1920 1080"))
f = measurement(u, [60, 66], 0.02, projector_px="640 480")
rng = np.random.default_rng(7)
f.pixels[:2, :60] = rng.uniform(-np.pi, np.pi, (2, 60, 600))	# three quarters are background
save("around", f)
few = measurement(u[:15, :15], [66, 60], 0.02, projector_px="640 480")
save("few", few)
del few.meta["period_px"]
save("bare", few)
for cell, size in [("column", 1), ("period", 60), ("half", 30)]:
	g = measurement(u, [60], 0.05, gray_cell=cell)
	g.pixels = np.concatenate([g.pixels, np.floor((u + 0.5) / size)[None].astype("f4")]); g.names.append("index")
	save(cell, g)'
	for run in noisy "noisy -m best" fine three "three -m best" around few "bare -p 60,66" column period half; do
		# shellcheck disable=SC2086
		set -- $run
		silent unwrap2f "$1.nrrd" "${@:2}" -o out.nrrd
	done
}

@test "unwrap2f: errors" {
	py "$truth"'
u = column(20, 10, 640)
write_frames("two.nrrd", measurement(u, [60, 66], projector_px="1280 800"))
write_frames("one.nrrd", measurement(u, [60]))
write_frames("three.nrrd", measurement(u, [60, 66, 70]))
f = measurement(u, [60, 66])
def save(name, **meta):
	write_frames(name, Frame(f.pixels, f.names, {k: v for k, v in (f.meta | meta).items() if v}))
save("bare.nrrd", period_px="")
save("short.nrrd", period_px="60")
save("word.nrrd", period_px="sixty 66")
save("zero.nrrd", period_px="0 66")
save("axis.nrrd", axis="x z")
save("axes.nrrd", axis="x y x")
save("same.nrrd", period_px="60 60")
save("wide.nrrd", projector_px="1280")
g = Frame(f.pixels[:2], ["phase", "index"], {"period_px": "60"})
write_frames("nocell.nrrd", g)
write_frames("cell.nrrd", Frame(g.pixels, g.names, g.meta | {"gray_cell": "turn"}))
write_frames("depth.nrrd", Frame(f.pixels[:1], ["depth"]))'
	fails 1 "no phase or beat spans the field of 1280 px, the longest 660 px" unwrap2f two.nrrd
	fails 1 "no beat spans the field" unwrap2f -m two two.nrrd
	fails 1 "no phase spans the field of 1280 px, the longest 66 px" unwrap2f -m hierarchical two.nrrd
	fails 1 "field of unknown width: give --field" unwrap2f one.nrrd
	fails 1 "--method=two is for two phases, the input has 3" unwrap2f -m two three.nrrd
	fails 1 "--line is for two phases, the input has 3" unwrap2f --line=9,9 three.nrrd
	fails 1 "--fit-line is for two phases, the input has 1" unwrap2f --fit-line one.nrrd
	fails 1 "wants a plane at both ends" unwrap2f --fit-line two.nrrd
	fails 2 "--line: must be two numbers, not 1" unwrap2f --line=9 two.nrrd
	fails 2 "--line or --fit-line, not both" unwrap2f --line=9,9 --fit-line two.nrrd
	fails 1 "input has no key period_px: give --period" unwrap2f bare.nrrd
	fails 1 "1 periods for 2 phases" unwrap2f short.nrrd
	fails 1 "period_px" unwrap2f word.nrrd
	fails 1 "0 is no fringe period" unwrap2f zero.nrrd
	fails 1 "axis: must be x or y, not 'x z'" unwrap2f axis.nrrd
	fails 1 "axis: 3 words for 2 phases" unwrap2f axes.nrrd
	fails 1 "no phase or beat" unwrap2f --field 640 same.nrrd
	fails 1 "projector_px: wants width and height, not 1" unwrap2f wide.nrrd
	fails 1 "no phase runs along y" unwrap2f -a y two.nrrd
	fails 1 "--unwrap 3: there is no such phase along x" unwrap2f -u 3 two.nrrd
	fails 1 "input has no channel index" unwrap2f -m gray two.nrrd
	fails 1 "no key gray_cell: give --gray-cell" unwrap2f nocell.nrrd
	fails 1 "gray_cell: must be column, period or half, not 'turn'" unwrap2f cell.nrrd
	fails 1 "no channel phase or phase1, only: depth" unwrap2f depth.nrrd
	fails 1 "--method=best needs the width of the field" unwrap2f -m best short.nrrd -p 60,66
	fails 1 "all phases repeat after 660 px of the field of 1280 px" unwrap2f -m best two.nrrd
	fails 1 "is for several phases" unwrap2f -m best one.nrrd --field 60
	fails 1 "all phases repeat after 4620 px of the field of 5000 px" unwrap2f --field 5000 three.nrrd
	# where they repeat but a beat spans the field, auto takes beats, and -v says so
	unwrap2f -v -p 60,60.1,60.2 --field 30000 three.nrrd -o beats.nrrd 2>said
	has "by beats, not by the best orders: all phases repeat after 60 px of the field of 30000 px" <said
	fails 1 "all phases repeat after 60 px" unwrap2f -m best -p 60,60.1,60.2 --field 30000 three.nrrd
	fails 2 "--sigma: is for --fuse" unwrap2f --sigma 1,1 two.nrrd --field 640
	fails 1 "--sigma: 3 numbers for 2 phases" unwrap2f --fuse --sigma 1,1,1 two.nrrd --field 640
	fails 2 "--sigma" unwrap2f --fuse --sigma 0,1 two.nrrd --field 640
	fails 2 "give --fit-line or --fuse, not both" unwrap2f --fit-line --fuse two.nrrd
	fails 2 "give --fit-line or --all, not both" unwrap2f --fit-line --all two.nrrd
	fails 1 "--count needs the width of the field" unwrap2f --count 3,4 bare.nrrd
	fails 2 "--period or --count, not both" unwrap2f --count 3,4 -p 5,6 two.nrrd
	fails 2 "--max-residual" unwrap2f -r 0.7 two.nrrd
	fails 2 "--method: must be one of" unwrap2f -m three two.nrrd
}
