load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# the phase of the page's table: x, y, F, B
scene='
def scene(F, B, w=320, h=256):
	y, x = np.mgrid[:h, :w].astype(float)
	return F * x + 0.3 * F * y + B * np.exp(-((x - w / 2) ** 2 + (y - h / 2) ** 2) / (2 * (w / 8) ** 2))
def wrapped(phase):
	return np.angle(np.exp(1j * phase)).astype("f4")
def error(got, truth):
	d = np.angle(np.exp(1j * (got.astype(float) - truth)))
	return d[np.isfinite(d)]
'

@test "wff: the sum over windows and frequencies, in float64, at awkward sizes" {
	py "$scene"'
rng = np.random.default_rng(4)
frames = []
for w, h in (1, 1), (5, 7), (127, 1), (128, 64), (129, 65):
	phase = wrapped(scene(0.7, 9, w, h) + rng.normal(0, 0.4, (h, w)))
	if w > 5:
		phase[rng.random(phase.shape) < 0.1] = np.nan
		phase[h // 3:h // 2, w // 4:w // 2] = np.nan
	frames.append(Frame(np.stack([phase, phase + 7]), ["phase", "texture"]))
write_frames("in.nrrd", frames)'
	wff -q --sigma 5 --noise 0.4 --threshold 2.5 in.nrrd -o out.nrrd
	wff -q --sigma 5 --noise 0.4 --threshold 2.5 --band=-0.5,1.2,-0.9,0.9 in.nrrd -o band.nrrd
	py '
sigma, n, hop = 5, 32, 5
reach = n // 2 - 1		# 3.2 sigma would be 16
at = np.arange(-reach, reach + 1)
g = np.exp(-at ** 2 / (2. * sigma ** 2))
window = np.pad(np.outer(g, g), ((0, n - len(g)), (0, n - len(g))))
k = 2 * np.pi * np.fft.fftfreq(n)
half = np.pi / n + 1e-9
inside = ((k >= -0.9 - half) & (k <= 0.9 + half))[:, None] & ((k >= -0.5 - half) & (k <= 1.2 + half))[None]
def filtered(phase, keep):
	h, w = phase.shape
	padded = np.zeros((h + 2 * n, w + 2 * n), complex)
	padded[reach:reach + h, reach:reach + w] = np.nan_to_num(np.exp(1j * phase.astype(float)))
	total = np.zeros_like(padded)
	for y in range(0, h, hop):
		for x in range(0, w, hop):
			y0, x0 = min(y + 2, h - 1), min(x + 2, w - 1)
			part = padded[y0:y0 + n, x0:x0 + n] * window
			c = np.fft.fft2(part)
			c[~((np.abs(c) ** 2 > 2.5 ** 2 * (1 - np.exp(-0.16)) * (np.abs(part) ** 2).sum()) & keep)] = 0
			total[y0:y0 + n, x0:x0 + n] += np.fft.ifft2(c) * window
	return total[reach:reach + h, reach:reach + w] / ((g ** 2).sum() ** 2 / hop ** 2)
for name, keep in (("out", True), ("band", inside)):
	for f, got in zip(read_frames("in.nrrd"), read_frames(name + ".nrrd")):
		expect(got.names == ["phase", "texture"] and np.array_equal(got["texture"], f["texture"], equal_nan=True), got.names)
		want = filtered(f["phase"], keep)
		ok = np.isfinite(got["phase"])
		near = np.abs(np.abs(want) - 0.003) < 1e-5
		expect((ok == (np.isfinite(f["phase"]) & (np.abs(want) > 0.003))) | near, want.shape, name)
		d = np.angle(np.exp(1j * got["phase"].astype(float)) * np.exp(-1j * np.angle(want)))[ok]
		# a frequency next to the threshold may fall to the other side of it
		expect(want.size < 40 or d.size > 0.3 * want.size, d.size)
		expect(d.size == 0 or np.sqrt(np.mean(d ** 2)) < 1.8e-7, want.shape, name, np.sqrt(np.mean(d ** 2)))'
}

@test "wff: the page's table of noise, beside gauss" {
	local cases=(20,0.05,0.1 20,0.6,0.7 60,0.2,1.2)
	py "$scene"'
for case in sys.argv[1:]:
	B, F, noise = map(float, case.split(","))
	truth = scene(F, B)
	write_frames(case + ".nrrd", Frame(wrapped(truth + np.random.default_rng(1).normal(0, noise, truth.shape)), ["phase"]))' "${cases[@]}"
	for case in "${cases[@]}"; do
		gauss "$case.nrrd" -o "$case.gauss.nrrd"
		silent wff "$case.nrrd" -o "$case.wff.nrrd"
	done
	py "$scene"'
for case in sys.argv[2:]:
	B, F, noise = case.split(",")
	row = [l[4:].split(" Ta ") for l in open(sys.argv[1]) if l.startswith(".It %s Ta %s Ta %s Ta " % (B, F, noise))]
	expect(len(row) == 1, row)
	truth = scene(float(F), float(B))
	for name, column in (("gauss", 3), ("wff", 5)):
		p = read_frame(case + "." + name + ".nrrd")["phase"]
		rms = 1e3 * np.sqrt(np.mean(error(p, truth) ** 2))
		expect(np.isfinite(p)); expect(abs(rms - float(row[0][column])) <= 0.51, name, rms, row[0])
	expect(float(row[0][5]) < 0.9 * float(row[0][4].split()[0]), row)' "$top/man/fringepipe-phase.7" "${cases[@]}"
}

@test "wff: a linear phase stays, at borders and holes; what is missing stays missing" {
	py "$scene"'
y, x = np.mgrid[:120, :160].astype(float)
out = []
for holes in "none", "random", "disc":
	for F, G in (0.1, 0.05), (0.13, -0.41), (1, 0.7), (2.9, 0.3):
		p = wrapped(F * x + G * y + 0.3)
		if holes == "disc": p[(x - 100) ** 2 + (y - 50) ** 2 < 900] = np.nan
		if holes == "random": p[np.random.default_rng(2).random(p.shape) < 0.4] = np.nan
		out.append(Frame(p, ["phase"], {"holes": holes}))
write_frames("in.nrrd", out)'
	silent wff in.nrrd -o out.nrrd
	py "$scene"'
# 3.13e-4 0.00929, 0.00714 0.0489, 9.03e-4 0.0111
bounds = {"none": (3.76e-4, 0.0112), "random": (0.00857, 0.0587), "disc": (1.09e-3, 0.0133)}
for i, o in zip(read_frames("in.nrrd"), read_frames("out.nrrd")):
	expect(np.isnan(o["phase"]) == np.isnan(i["phase"]))
	d = error(o["phase"], i["phase"].astype(float))
	rms, most = bounds[i.meta["holes"]]
	expect(np.sqrt(np.mean(d ** 2)) < rms and np.abs(d).max() < most, i.meta, np.sqrt(np.mean(d ** 2)), np.abs(d).max())'
}

@test "wff: transforms of every size bring back what passes whole" {
	py "$scene"'
rng = np.random.default_rng(9)
p = rng.uniform(-np.pi, np.pi, (67, 131)).astype("f4")
p[rng.random(p.shape) < 0.2] = np.nan
write_frames("in.nrrd", Frame(p, ["phase"]))'
	for sigma in 1 2 3.7 5 10 20 40 64; do
		silent wff --threshold 0 --sigma $sigma in.nrrd -o out-$sigma.nrrd
	done
	py "$scene"'
p = read_frame("in.nrrd")["phase"]
for sigma in "1", "2", "3.7", "5", "10", "20", "40", "64":
	q = read_frame("out-" + sigma + ".nrrd")["phase"]
	expect(np.isnan(p) == np.isnan(q))
	expect(np.abs(error(q, p.astype(float))) < 1.2e-6, sigma, np.abs(error(q, p.astype(float))).max())'
}

@test "wff: noise is found in each window, and pure noise becomes invalid" {
	py "$scene"'
rng = np.random.default_rng(5)
truth = scene(0.3, 0, 400, 200)
noise = np.where(np.arange(400) < 200, 0.2, 0.9)
write_frames("in.nrrd", Frame(wrapped(truth + rng.normal(0, 1, truth.shape) * noise), ["phase"]))
write_frames("noise.nrrd", Frame(rng.uniform(-np.pi, np.pi, (300, 300)).astype("f4"), ["phase"]))'
	wff in.nrrd -o found.nrrd
	wff --noise 0.2 in.nrrd -o low.nrrd
	wff --noise 0.9 in.nrrd -o high.nrrd
	wff --step 0.04 in.nrrd -o fine.nrrd
	fails 0 "% of the valid pixels show no frequency above the noise and become invalid: see --threshold and --band" \
		wff noise.nrrd -o lost.nrrd
	wff -v noise.nrrd -o null: 2>&1 | has "phase: .* % of the valid pixels show no frequency"
	wff -v in.nrrd -o null: 2>&1 | has "phase: 0 of 80000 valid pixels show no frequency"
	py "$scene"'
truth = scene(0.3, 0, 400, 200)
rms = lambda name, cut: np.sqrt(np.mean(error(read_frame(name + ".nrrd")["phase"][:, cut], truth[:, cut]) ** 2))
quiet, loud = slice(20, 160), slice(240, 380)
expect(rms("found", quiet) < 1.1 * rms("low", quiet) and rms("found", loud) < 1.1 * rms("high", loud),
	[(rms(n, quiet), rms(n, loud)) for n in ("found", "low", "high")])
expect(rms("low", loud) > 10.9 * rms("found", loud))		# 13.1
expect(abs(rms("fine", quiet) / rms("found", quiet) - 1) < 0.0029, rms("fine", quiet), rms("found", quiet))
expect(np.isnan(read_frame("lost.nrrd")["phase"]).mean() > 0.85)'
}

@test "wff: vectors, several phases, grey levels of a picture, a band" {
	py "$scene"'
rng = np.random.default_rng(6)
p = [wrapped(scene(F, 5, 90, 70) + rng.normal(0, 0.3, (70, 90))) for F in (0.2, 0.5)]
p[1][30:33, 40:50] = np.nan
mod = rng.uniform(0.1, 2, p[0].shape).astype("f4")
write_frames("two.nrrd", Frame(np.stack([p[0], mod, mod, p[1], mod]), ["phase1", "modulation", "sigma1", "phase2", "sigma2"], {"period_px": "60 66"}))
for k in 0, 1:
	write_frames("%d.nrrd" % (k + 1), Frame(p[k], ["phase"]))
write_frames("vector.nrrd", Frame(np.stack([3 * np.cos(p[0]), mod, 3 * np.sin(p[0])]).astype("f4"), ["cos", "modulation", "sin"]))
grey = np.floor(np.mod(p[0], 2 * np.pi) * 256 / (2 * np.pi)).astype("u1")
write_frames("grey.nrrd", Frame(grey))
write_frames("same.nrrd", Frame(wrapped(grey * (2 * np.pi / 256)), ["phase"]))
y, x = np.mgrid[:70, :90]
write_frames("halves.nrrd", Frame(wrapped(np.where(x < 45, 0.3, -1.2) * (x - 45.)), ["phase"]))
write_frames("other.nrrd", Frame(wrapped(-1.2 * x + rng.normal(0, 0.3, x.shape)), ["phase"]))'
	for input in two 1 2 vector same halves; do wff -q $input.nrrd -o $input.out.nrrd; done
	wff --channel image --turn 256 grey.nrrd -o grey.out.nrrd
	wff --channel phase2 two.nrrd -o second.nrrd
	wff -q --band 0,0.6,-0.3,0.3 halves.nrrd -o band.nrrd
	wff -q --band 0,0.6,-0.3,0.3 other.nrrd -o none.nrrd
	py "$scene"'
r = lambda n: read_frame(n + ".nrrd")
two = r("two.out")
expect(two.names == ["phase1", "phase2", "modulation"] and two.meta["period_px"] == "60 66", two.names)
for k in "1", "2":
	expect(np.array_equal(two["phase" + k], r(k + ".out")["phase"], equal_nan=True), k)
expect(two["modulation"] == r("two")["modulation"])
second = r("second")
expect(second.names == ["phase2", "phase1", "modulation", "sigma1"], second.names)
expect(np.array_equal(second["phase2"], two["phase2"], equal_nan=True) and np.array_equal(second["phase1"], r("two")["phase1"]))
expect(r("vector.out").names == ["phase", "modulation"])
expect(np.sqrt(np.mean(error(r("vector.out")["phase"], two["phase1"]) ** 2)) < 8.2e-8)
expect(r("grey.out").names == ["phase"])
expect(np.sqrt(np.mean(error(r("grey.out")["phase"], r("same.out")["phase"]) ** 2)) < 7.8e-8)
x = np.arange(90)
expect(np.isnan(r("none")["phase"]).mean() > 0.74, np.isnan(r("none")["phase"]).mean())
expect(np.sqrt(np.mean(error(r("band")["phase"][:, x < 25], (0.3 * (x - 45.))[x < 25]) ** 2)) < 0.0042)'
}

@test "wff: one thread equals seven, every instruction level, many frames; a pipe equals a chain into unwrapq" {
	py "$scene"'
rng = np.random.default_rng(7)
write_frames("in.nrrd", [Frame(wrapped(scene(0.3, b, w, 150) + rng.normal(0, 0.9, (150, w))), ["phase"], {"period_px": "30"})
	for b, w in ((20, 401), (30, 401), (0, 33))])'
	wff -j 1 <in.nrrd >one.nrrd
	wff -j 7 <in.nrrd | cmp one.nrrd
	levels=$(cpu_levels)
	for level in $levels; do
		FRINGEPIPE_CPU=$level wff <in.nrrd | cmp one.nrrd
	done
	unwrapq <one.nrrd >piped.nrrd
	fringepipe wff , unwrapq <in.nrrd | cmp piped.nrrd
	py "$scene"'
for f, (b, w) in zip(read_frames("piped.nrrd"), ((20, 401), (30, 401), (0, 33))):
	expect(f.names == ["absphase", "label"] and f.meta["cmd.1"] == "wff", f.names, f.meta)
	d = f["absphase"] - scene(0.3, b, w, 150)
	expect(np.abs(d - np.median(d)) < 0.397, np.abs(d - np.median(d)).max())'		# without wff it has cuts
}

@test "wff: a map of a real interferometer has the residues of the page" {
	need_data fringeproc_wrapped
	framecat "$data/fringeproc_wrapped/espi4_wrapped.png" -o in.nrrd
	wff --channel image --turn 256 in.nrrd -o out.nrrd
	py '
row = [l[4:].split(" Ta ") for l in open(sys.argv[1]) if l.startswith(".It espi4 Ta")][0]
def residues(p):
	w = lambda d: d - 2 * np.pi * np.round(d / (2 * np.pi))
	a, b, c, d = p[:-1, :-1], p[:-1, 1:], p[1:, 1:], p[1:, :-1]
	return int((np.abs(np.nan_to_num(w(b - a) + w(c - b) + w(d - c) + w(a - d))) > 1).sum())
p = read_frame("out.nrrd")["phase"].astype(float)
expect(residues(read_frame("in.nrrd")["image"].astype(float) * 2 * np.pi / 256) == int(row[1]), row)
expect(residues(p) == int(row[2]), residues(p), row)
expect(abs(100 * np.isnan(p).mean() - float(row[3].split()[0])) <= 0.05, row)' "$top/man/fringepipe-phase.7"
}

@test "wff: errors, and phases that are none" {
	py '
flat = np.zeros((3, 3), "f4")
write_frames("phase.nrrd", Frame(flat + 1, ["phase"]))
write_frames("image.nrrd", Frame(flat, ["image"]))
write_frames("half.nrrd", Frame(flat, ["cos"]))
write_frames("nan.nrrd", Frame(flat * np.nan, ["phase"]))
write_frames("wide.nrrd", Frame(np.arange(9, dtype="f4").reshape(3, 3), ["phase"]))
write_frames("turns.nrrd", Frame(np.arange(9, dtype="f4").reshape(3, 3) / 8, ["phase"]))
huge = np.ones((9, 9), "f4"); huge[0, 0] = np.inf; huge[0, 1] = 3e38
write_frames("huge.nrrd", Frame(huge, ["phase"]))'
	fails 1 "input has no phase to filter (--channel names one), only: image" wff image.nrrd
	fails 1 "input has no phase to filter (--channel names one), only: cos" wff half.nrrd
	fails 1 "input has no channel texture" wff --channel texture phase.nrrd
	fails 1 "phase goes from 0 to 8, but a wrapped phase over one turn at most, which is 6.28319 (--turn)" wff wide.nrrd
	fails 0 "phase goes from 0 to 8, a small part of --turn 256: is that what a whole turn is in its samples?" \
		wff --turn 256 wide.nrrd -o null:
	fails 0 "phase goes from 0 to 1 rad: if those are turns, give --turn 1" wff turns.nrrd -o null:
	fails 2 "--band: must be four numbers, not 2" wff --band 0,1 phase.nrrd
	fails 2 "--band: 1 to 0 is no range: the lower end comes first" wff --band 1,0,0,1 phase.nrrd
	fails 2 "--sigma" wff --sigma 0 phase.nrrd
	fails 2 "--sigma" wff --sigma nan phase.nrrd
	fails 2 "--step" wff --step 0.001 phase.nrrd
	fails 2 "--turn" wff --turn 0 phase.nrrd
	fails 2 "--noise" wff --noise -1 phase.nrrd
	fails 1 "no pixel of the input is valid" wff nan.nrrd -o out.nrrd
	silent wff --sigma 64 --step 0.01228 phase.nrrd -o out.nrrd
	silent wff --noise 0 phase.nrrd -o out.nrrd
	silent wff huge.nrrd -o out.nrrd		# what is no phase is missing
	py '
p = read_frame("out.nrrd")["phase"]
expect(np.isnan(p).sum() == 2 and np.isnan(p[0, :2]).all() and np.all(np.abs(p[1:] - 1) < 1.5e-7), p)'
}
