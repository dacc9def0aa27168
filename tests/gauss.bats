load helpers

# The rule of methods §4 in NumPy, float64, neighbour by neighbour: it counts if it and its mirror image
# about the centre are in the image and not missing.
reference='
def kernel(n, sigma=None):
	j = np.arange(n) - n // 2
	w = np.exp(-0.5 * (j / (sigma or n / 6)) ** 2)
	return w / w.sum()

def mean(v, valid, n, sigma=None):
	"""Weighted mean of v (any dtype) over pairs of neighbours."""
	h, w = v.shape
	r, k = n // 2, kernel(n, sigma)
	v = np.pad(np.where(valid, v, 0), r); m = np.pad(valid, r).astype(float)
	total, weight = 0 * v[r:r + h, r:r + w], np.zeros((h, w))
	for y in range(n):
		for x in range(n):
			there, mirror = np.s_[y:y + h, x:x + w], np.s_[n - 1 - y:n - 1 - y + h, n - 1 - x:n - 1 - x + w]
			pair = k[y] * k[x] * m[there] * m[mirror]
			total += pair * v[there]
			weight += pair
	with np.errstate(invalid="ignore"):
		return np.where(valid, total / weight, np.nan * (1 + 1j) if np.iscomplexobj(v) else np.nan)

def filtered(phase, n, sigma=None):
	phase = phase.astype(float)
	return np.angle(mean(np.exp(1j * np.nan_to_num(phase)), ~np.isnan(phase), n, sigma))

def difference(a, b):
	return np.abs(np.angle(np.exp(1j * (a.astype(float) - b))))

def fringes(h, w, noise=0.2, seed=0):
	y, x = np.mgrid[:h, :w].astype(float)
	p = 0.31 * x + 0.07 * y + np.sin(x / 15) + noise * np.random.default_rng(seed).normal(size=(h, w))
	return np.angle(np.exp(1j * p)).astype("f4")
'

@test "gauss: the rule, at awkward sizes, whole and with 40 % of the pixels missing" {
	py "$reference"'
frames = []
for w, h in (1, 1), (5, 7), (127, 1), (1, 127), (128, 64), (129, 65), (300, 20):
	for holes in 0, 0.4:
		p = fringes(h, w)
		p[np.random.default_rng(1).random((h, w)) < holes] = np.nan
		frames.append(Frame(p, ["phase"]))
write_frames("in.nrrd", frames)'
	gauss in.nrrd -o out.nrrd
	py "$reference"'
for a, b in zip(read_frames("in.nrrd"), read_frames("out.nrrd"), strict=True):
	p, q = a["phase"], b["phase"]
	ok = ~np.isnan(p)
	expect(np.isnan(q) == ~ok, p.shape)
	strength = np.abs(mean(np.exp(1j * np.nan_to_num(p.astype(float))), ok, 11))
	far = difference(q, filtered(p, 11))[ok] * strength[ok]
	expect(far < 4e-7, p.shape, far.max() if far.size else 0)'
}

# Away from flat coherence the angle of the sum is only as good as its length: errors are taken per length.
strength='
def strength(p, n, sigma=None):
	return np.abs(mean(np.exp(1j * np.nan_to_num(p.astype(float))), ~np.isnan(p), n, sigma))
'

@test "gauss: every size and sigma, holes of all kinds" {
	py "$reference"'
rng = np.random.default_rng(4)
p = fringes(90, 150)
p[20:40, 30:70] = np.nan; p[rng.random(p.shape) < 0.02] = np.nan; p[:, 0] = np.nan; p[60, :] = np.nan
write_frames("in.nrrd", Frame(p, ["phase"]))'
	for args in "1 -" "3 -" "5 0.4" "7 2.333" "11 3" "21 -" "101 5"; do
		read -r n sigma <<<"$args"
		gauss -n "$n" $([ "$sigma" = - ] || echo "--sigma=$sigma") in.nrrd -o out.nrrd
		py "$reference$strength"'
p, q = read_frame("in.nrrd")["phase"], read_frame("out.nrrd")["phase"]
n, sigma = int(sys.argv[1]), None if sys.argv[2] == "-" else float(sys.argv[2])
ok = ~np.isnan(p)
expect(np.isnan(q) == ~ok)
if n == 101:	# the reference takes too long for all of it
	ok[:, 8:-8] = False
far = difference(q, filtered(p, n, sigma))[ok] * strength(p, n, sigma)[ok]
expect(far < 4e-7, sys.argv, far.max())' "$n" "$sigma"
	done
}

@test "gauss: a linear phase stays what it is, at borders and round holes too" {
	local slopes='slopes = (0.1, 0.02), (1, 0), (0, 1), (0.6, -0.5), (-0.3, 0.9)
y, x = np.mgrid[:60, :80].astype(float)
'
	py "$slopes"'
frames = []
for a, b in slopes:
	p = np.angle(np.exp(1j * (a * x + b * y))).astype("f4")
	frames.append(Frame(p.copy(), ["phase"]))
	if abs(a) + abs(b) < 0.2:
		p[np.random.default_rng(0).random(p.shape) < 0.4] = np.nan; p[20:30, 30:50] = np.nan
	else:
		p[20:22, 30:31] = np.nan
	frames.append(Frame(p, ["phase"]))
write_frames("in.nrrd", frames)'
	gauss in.nrrd -o out.nrrd
	py "$reference$slopes"'
for k, f in enumerate(read_frames("out.nrrd")):
	a, b = slopes[k // 2]
	far = difference(f["phase"], a * x + b * y)
	far = far[~np.isnan(far)]
	expect(far < 4.5e-7, a, b, k, far.max())
expect(k == 9, k)'
}

@test "gauss: noise goes down as theory has it, and no more of it comes through at the border than must" {
	py "$reference"'
rng = np.random.default_rng(7)
y, x = np.mgrid[:400, :500]
write_frames("in.nrrd", Frame(np.angle(np.exp(1j * (0.1 * x + 0.05 * rng.normal(size=x.shape)))).astype("f4"), ["phase"]))'
	gauss in.nrrd -o out.nrrd
	py "$reference"'
q = read_frame("out.nrrd")["phase"].astype(float)
y, x = np.mgrid[:400, :500]
error = np.angle(np.exp(1j * (q - 0.1 * x)))
k = kernel(11); gain = (k ** 2).sum()	# along one axis; the square root of its square is the gain of both
expect(abs(error[6:-6, 6:-6].std() / (0.05 * gain) - 1) < 0.022, error[6:-6, 6:-6].std(), 0.05 * gain)
edge = np.sqrt(gain)			# one axis is not filtered at all
expect(abs(error[6:-6, 0].std() / (0.05 * edge) - 1) < 0.1, error[6:-6, 0].std(), 0.05 * edge)
expect(abs(error.mean()) < 3 * 0.05 / np.sqrt(error.size))'
}

@test "gauss: vectors in, vectors out, and several phases side by side" {
	py "$reference"'
p, q = fringes(95, 300, seed=1), fringes(95, 300, seed=2)
p[10:12, 100:103] = np.nan
names = ["phase1", "phase2", "modulation", "texture"]
rest = [q * 0 + 0.5, np.arange(q.size, dtype="f4").reshape(q.shape)]
write_frames("phases.nrrd", Frame(np.array([p, q] + rest), names, {"period_px": "60 66"}))
length = np.random.default_rng(1).uniform(0.5, 1, p.shape)
v = [np.cos(p) * length, np.sin(p) * length, np.cos(q), np.sin(q)]
# holes in each of the four rows that may come in at once, after rows without
v[1][5, 5] = v[0][40, 20] = v[1][61, 40] = v[0][83, 60] = np.nan
write_frames("vectors.nrrd", Frame(np.array(v + rest).astype("f4"), ["cos1", "sin1", "cos2", "sin2", "modulation", "texture"]))
write_frames("one.nrrd", Frame(np.array([v[3], rest[0], v[2]]).astype("f4"), ["sin", "mask", "cos"]))'
	gauss phases.nrrd -o a.nrrd
	gauss --as vector phases.nrrd -o b.nrrd
	gauss vectors.nrrd -o c.nrrd
	gauss --as vector vectors.nrrd -o d.nrrd
	gauss one.nrrd -o e.nrrd
	py "$reference"'
a, b, c, d, e = (read_frame(n + ".nrrd") for n in "abcde")
p, v = read_frame("phases.nrrd"), read_frame("vectors.nrrd")
rest = ["modulation", "texture"]
expect(a.names == c.names == ["phase1", "phase2"] + rest and a.meta["period_px"] == "60 66", a.names, c.names)
expect(b.names == d.names == ["cos1", "sin1", "cos2", "sin2"] + rest, b.names)
expect(e.names == ["mask", "phase"], e.names)
for f in [a, b, c, d]:
	for n in rest:
		expect(f[n] == p[n])
def near(got, want, tolerance=3.1e-7):
	expect(np.isnan(got) == np.isnan(want))
	expect(np.nan_to_num(np.abs(got - want)) < tolerance, np.nanmax(np.abs(got - want)))
for n in "12":
	phase = p["phase" + n]
	z = mean(np.exp(1j * np.nan_to_num(phase.astype(float))), ~np.isnan(phase), 11)
	near(b["cos" + n], z.real); near(b["sin" + n], z.imag)
	near(a["phase" + n].astype(float), np.where(np.isnan(z), np.nan, np.angle(z)), 3.9e-7)
	there = ~np.isnan(v["cos" + n] + v["sin" + n])
	z = mean(np.nan_to_num(v["cos" + n].astype(float)) + 1j * np.nan_to_num(v["sin" + n].astype(float)), there, 11)
	near(d["cos" + n], z.real); near(d["sin" + n], z.imag)
expect(np.isnan(c["phase1"][[5, 40, 61, 83], [5, 20, 40, 60]]))
far = difference(e["phase"], c["phase2"])
expect(far < 1e-6, far.max(), np.argwhere(far >= 1e-6)[:5])'
}

@test "gauss: other channels plainly" {
	py "$reference"'
d = np.random.default_rng(0).normal(800, 20, (50, 290)).astype("f4"); d[::7, ::5] = np.nan
write_frames("in.nrrd", Frame(np.array([d, d * 2, d * 0 + 1, np.cos(d)]), ["depth", "modulation", "phase", "cos"]))'
	gauss --on depth,cos in.nrrd -o out.nrrd
	gauss --on phase in.nrrd -o only.nrrd
	py "$reference"'
i, o = read_frame("in.nrrd"), read_frame("out.nrrd")
expect(o.names == ["depth", "modulation", "phase", "cos"], o.names)
for n in ["depth", "cos"]:
	want = mean(np.nan_to_num(i[n].astype(float)), ~np.isnan(i[n]), 11)
	expect(np.isnan(o[n]) == np.isnan(want))
	far = np.nan_to_num(np.abs(o[n] - want))
	expect(far < 4.1e-7 * np.nanmax(np.abs(i[n])), n, far.max())
for n in ["modulation", "phase"]:
	expect(o[n].tobytes() == i[n].tobytes())
only = read_frame("only.nrrd")
expect(only["depth"].tobytes() == i["depth"].tobytes())
expect(np.isnan(only["phase"]) == np.isnan(i["phase"]))
expect((np.abs(only["phase"] - 1) < 1.5e-7) | np.isnan(i["phase"]))'
}

@test "gauss: one thread, seven, every band height and instruction set give the same bytes" {
	py "$reference"'
p = fringes(70, 333); p[np.random.default_rng(0).random(p.shape) < 0.01] = np.nan; p[30:40, 100:300] = np.nan
write_frames("in.nrrd", [Frame(np.array([p, p[::-1]]), ["phase1", "phase2"]), Frame(np.array([fringes(9, 20)] * 2), ["phase1", "phase2"])])'
	for args in "" "-n 21 --as vector" "-n 51 --on phase2" "-n 101"; do
		# shellcheck disable=SC2086
		gauss -j 1 $args <in.nrrd >one.nrrd
		# shellcheck disable=SC2086
		gauss -j 7 $args <in.nrrd | cmp - one.nrrd
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=1 gauss -j 2 $args <in.nrrd | cmp - one.nrrd
		levels=$(cpu_levels)
		for level in $levels; do
			# shellcheck disable=SC2086
			FRINGEPIPE_CPU=$level gauss $args <in.nrrd | cmp - one.nrrd
		done
	done
	gauss -n 7 -s 2.5 in.nrrd -o out.nrrd
	py '
f = read_frames("out.nrrd")
expect(len(f) == 2 and f[0].meta["cmd.1"] == "gauss --size=7 --sigma=2.5 [1]", f[0].meta)'
}

# Kinds side by side, with holes and without, in frames of several sizes, so that gauss plans anew.
sizes_and_kinds="$reference"'
rng = np.random.default_rng(2)
frames = []
for w, h in [(333, 70), (1, 1), (600, 131), (20, 9), (1, 90), (272, 40), (600, 131)]:
	p, q, z = fringes(h, w, seed=1), fringes(h, w, seed=2), np.exp(1j * fringes(h, w, seed=3))
	p[rng.random(p.shape) < 0.01] = np.nan; p[h // 3:h // 2, w // 3:w // 2] = np.nan
	sine, depth = z.imag.copy(), rng.normal(size=p.shape)
	sine[h // 2:h // 2 + 1, w // 2:] = np.nan; depth[h // 4:h // 3, ::3] = np.nan
	frames.append(Frame(np.array([p, q, z.real, sine, depth, np.cos(p)]).astype("f4"), ["phase1", "phase2", "cos3", "sin3", "depth", "texture"]))
write_frames("in.nrrd", frames)
for i, f in enumerate(frames):
	write_frames(f"in{i}.nrrd", f)'

@test "gauss: rows that go on with the last ones' windows are those of short bands, which begin anew" {
	py "$sizes_and_kinds"
	for args in "-n 3" "-n 5 --as vector" "-n 11" "-n 31 --on phase1,cos3,depth" "-n 101 --on phase1,cos3,depth --as vector"; do
		# shellcheck disable=SC2086
		gauss -j 1 $args <in.nrrd >steps.nrrd	# a band: continues after 24 to 64 rows
		for band in 1 7 23 64; do
			for threads in $((band > 9 ? 3 : 1)) ${AGREE_ALL:+$((band > 9 ? 1 : 3))}; do	# both by make agree-all
				# shellcheck disable=SC2086
				FRINGEPIPE_BAND=$band gauss -j $threads $args <in.nrrd | cmp - steps.nrrd
			done
		done
	done
	# in a chain the input is a window of rows, which moves
	fringepipe -j 1 gauss -n 7 --as vector , gauss -n 31 --as vector , gauss -n 5 <in.nrrd >chain.nrrd
	gauss -n 7 --as vector <in.nrrd | gauss -n 31 --as vector | gauss -n 5 | cmp - chain.nrrd
	FRINGEPIPE_BAND=5 fringepipe gauss -n 7 --as vector , gauss -n 31 --as vector , gauss -n 5 <in.nrrd | cmp - chain.nrrd
}

@test "gauss: a frame of another size in the middle of a stream gets what it gets alone" {
	py "$sizes_and_kinds"
	for n in 5 31; do
		gauss -j 1 -n $n --on phase1,cos3,depth <in.nrrd >stream.nrrd
		for i in 0 1 2 3 4 5 6; do
			gauss -j 1 -n $n --on phase1,cos3,depth <in$i.nrrd
		done | cmp - stream.nrrd
	done
}

@test "gauss: windows too large to be kept give the same bytes" {
	py "$reference"'
write_frames("wide.nrrd", Frame(fringes(60, 20000), ["phase"]))'	# 75 tiles of 101 rows
	gauss -n 101 -j 1 wide.nrrd >wide_out.nrrd
	FRINGEPIPE_BAND=16 gauss -n 101 wide.nrrd | cmp - wide_out.nrrd
	framecat --crop 0,0,600,60 wide.nrrd -o left.nrrd
	gauss -n 101 -j 1 left.nrrd -o left_out.nrrd
	py '
whole, left = read_frame("wide_out.nrrd")["phase"], read_frame("left_out.nrrd")["phase"]
expect(whole[:, :550].tobytes() == left[:, :550].tobytes())'
}

@test "gauss: a small stack is enough" {
	py "$sizes_and_kinds"
	for n in 3 45 101 ${AGREE_ALL:+17 31 59 73 87}; do	# make agree-all
		for args in "" "--as vector" "--on phase1,cos3,depth"; do
			# shellcheck disable=SC2086
			gauss -n $n $args <in.nrrd >usual.nrrd
			# shellcheck disable=SC2016,SC2086
			bash -c 'ulimit -s 512; exec gauss "$@"' _ -j 2 -n $n $args <in.nrrd | cmp - usual.nrrd
		done
	done
}

@test "gauss: errors" {
	py 'write_frames("in.nrrd", Frame(np.zeros((2, 3, 3), "f4"), ["phase", "depth"]))
write_frames("depth.nrrd", Frame(np.zeros((2, 3, 3), "f4"), ["depth", "cos"]))'
	fails 2 "--size: must be odd, not 4" gauss -n 4 in.nrrd
	fails 2 "--size" gauss -n 103 in.nrrd
	fails 2 "--sigma" gauss -s 0 in.nrrd
	fails 2 "--as: must be one of phase vector" gauss --as angle in.nrrd
	fails 1 "input has no phase to filter, only: depth cos" gauss depth.nrrd
	fails 1 "input has no channel modulation, only: phase depth" gauss --on depth,modulation in.nrrd
}
