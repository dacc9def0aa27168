load helpers

# Standard deviations from the images to millimetres: sigma, p_order.

# covers NAME ERROR SIGMA [MARGIN]: 68 and 95 % of errors within 1 and 2 sigma, and the mean square of their quotient
# is one. Errors may be arrays with NaN.
covers='
def covers(tag, error, sigma, margin=0.02):
	z = (np.asarray(error, float) / np.asarray(sigma, float)).ravel()
	valid = np.isfinite(np.asarray(error, float)).ravel()
	expect(np.isfinite(z[valid]), tag, "no sigma where there is a result")
	z = z[valid]
	one, two = (np.abs(z) < 1).mean(), (np.abs(z) < 2).mean()
	expect(z.size > 1000 and abs(one - 0.6827) < margin and abs(two - 0.9545) < margin, tag, z.size, one, two)
def wrapped(d): return np.angle(np.exp(1j * np.asarray(d, float)))
'

@test "uncertainty: phasewrap covers its errors, whatever N, from given noise and from what the fit leaves" {
	while IFS='|' read -r light given; do
		for steps in "-n 3" "-n 4" "-n 6" "-n 12" "-k 2+1" "-n 5 --shift 0,40,100,190,250"; do
			# shellcheck disable=SC2086
			{
				fringesim -q -s 100x80 -p 40,44 $steps $light --truth "$steps$given.truth.nrrd" -o set.nrrd
				silent phasewrap --sigma $given set.nrrd -o "$steps$given.given.nrrd"
			}
			if [[ $steps != "-n 3" && $steps != "-k"* ]]; then
				silent phasewrap --sigma set.nrrd -o "$steps$given.found.nrrd"
			fi
		done
	done <<'CASES'
--noise 1.2 --shot 0.03 --mean 100 --amplitude 60 --albedo checker|--read-noise 1.2 --gain 0.03
--noise 4 --bits 12 --mean 1500 --amplitude 900 --shot 0.5|--read-noise 4 --gain 0.5
CASES
	py "$covers"'
import glob
names = sorted(glob.glob("*.given.nrrd") + glob.glob("*.found.nrrd"))
expect(len(names) == 20, names)
for name in names:
	f, truth = read_frame(name), read_frame(name[:-10] + "truth.nrrd")["absphase"].astype(float)
	expect(f.names == ["phase1", "phase2", "modulation", "texture", "sigma1", "sigma2"], f.names)
	for k, ratio in (1, 1), (2, 40 / 44): covers((name, k), wrapped(f["phase%d" % k] - truth * ratio), f["sigma%d" % k])'
}

@test "uncertainty: sigma is what the noise of every image makes of the phase, in closed form" {
	py '
rng = np.random.default_rng(3)
a, b, phi = rng.uniform(60, 140, (9, 31)), rng.uniform(10, 50, (9, 31)), rng.uniform(-np.pi, np.pi, (9, 31))
def images(shifts): return [Frame((a + b * np.cos(phi + np.radians(s))).astype("f4")) for s in shifts]
write_frames("odd.nrrd", images([0, 50, 130, 200, 290]))
write_frames("three.nrrd", images([-120, 0, 120]))
write_frames("flat.nrrd", [Frame((a + b * f).astype("f4")) for f in (np.sin(phi), np.cos(phi), 0 * phi)])
np.savez("truth.npz", a=a, b=b, phi=phi)'
	noise="--read-noise 1.5 --gain 0.04 --black-level 8 --quantum 2"
	# shellcheck disable=SC2086
	{
		phasewrap -q -n 5 -p 20 --shift 0,50,130,200,290 --sigma $noise odd.nrrd -o odd_out.nrrd
		phasewrap -q -n 3 -p 20 --sigma $noise three.nrrd -o three_out.nrrd
		phasewrap -q -k 2+1 -p 20 --sigma $noise flat.nrrd -o flat_out.nrrd
		phasewrap -q -n 3 -p 20 --sigma $noise three.nrrd --as vector -o vector_out.nrrd
		phasewrap -q -k 2+1 -p 20 --sigma --read-noise 1 --quantum 0 flat.nrrd -o plain_out.nrrd
	}
	py '
t = np.load("truth.npz")
a, b, phi = t["a"], t["b"], t["phi"]
def theory(design):			# weights of the images, by the normal matrix; the noise of each
	design = np.array(design)
	w = np.linalg.pinv(design)		# A, B cos, B sin
	image = a + b * np.cos(phi) * design[:, 1, None, None] + b * np.sin(phi) * design[:, 2, None, None]
	turn = (np.cos(phi) * w[2][:, None, None] - np.sin(phi) * w[1][:, None, None]) / b
	return np.sqrt((turn ** 2 * (1.5 ** 2 + 4 / 12 + 0.04 * (image - 8))).sum(0))
def steps(d): return [[1, np.cos(np.radians(s)), -np.sin(np.radians(s))] for s in d]
for name, design in (("odd", steps([0, 50, 130, 200, 290])), ("three", steps([-120, 0, 120])),
		("flat", [[1, 0, 1], [1, 1, 0], [1, 0, 0]]), ("vector", steps([-120, 0, 120]))):
	sigma = read_frame(name + "_out.nrrd")["sigma"]
	expect(np.abs(sigma / theory(design) - 1) < 2e-5, name, np.abs(sigma / theory(design) - 1).max())
plain = read_frame("plain_out.nrrd")["sigma"]
expect(np.abs(plain * b / np.sqrt(2 - np.sin(2 * phi)) - 1) < 2e-5)'
}

@test "uncertainty: --sigma changes nothing else; invalid pixels have none; frames have noise of their own" {
	fringesim -q -s 129x65 -p 40 -n 4 -g half --noise 2 --albedo checker -o set.nrrd
	phasewrap --min-amplitude 60 set.nrrd -o plain.nrrd
	phasewrap --min-amplitude 60 --fit-residual --sigma set.nrrd -o sigma.nrrd
	fringesim -q -s 129x65 -p 40 -n 4 -g half --noise 6 --albedo checker -o more.nrrd
	phasewrap --min-amplitude 60 --fit-residual --sigma set.nrrd more.nrrd -o both.nrrd
	py '
plain, sigma, both = read_frame("plain.nrrd"), read_frame("sigma.nrrd"), read_frames("both.nrrd")
expect(sigma.names == ["phase", "modulation", "texture", "fit_residual", "sigma", "index"], sigma.names)
for name in plain.names: expect(plain[name].view("u4") == sigma[name].view("u4"), name)
expect(np.isnan(plain["phase"]).any() and np.isnan(sigma["sigma"]) == np.isnan(plain["phase"]))
expect(both[0].pixels.view("u4") == sigma.pixels.view("u4"))
ratio = np.nanmedian(both[1]["sigma"]) / np.nanmedian(both[0]["sigma"])
expect(2.5 < ratio < 3.5, ratio)'
	for j in 1 3; do
		FRINGEPIPE_BAND=7 phasewrap -j $j --min-amplitude 60 --fit-residual --sigma set.nrrd | cmp - sigma.nrrd
	done
}

# Two seeds are two captures of one scene: the checks do not depend on them.
@test "uncertainty: phasewrap covers its errors of exposures, of solved pixels, of two sets of three, of found shifts" {
	light="--noise 1.2 --shot 0.05 --albedo checker --mean 110 --amplitude 80"
	given="--read-noise 1.2 --gain 0.05"
	base="-q -s 112x90 -p 40,44"
	# shellcheck disable=SC2086
	{
		fringesim $base -n 4 $light --exposure 0.4 --seed 1 --truth truth.nrrd -o short.nrrd
		fringesim $base -n 4 $light --exposure 2 --seed 2 -o long.nrrd
		fringesim $base -n 6 --shift=-120,0,120,-60,60,180 $light --seed 4 -o six.nrrd
		fringesim $base -n 5 --shift=0,60,150,200,280 $light --seed 5 -o five.nrrd
		fringesim $base -n 12 $light --exposure 1.7 --seed 3 -o twelve.nrrd
	}
	while IFS='|' read -r words images; do
		for noise in "" $given; do
			[ -z "$noise" ] || noise=$given
			# shellcheck disable=SC2086
			phasewrap -q --sigma $noise $words $images -o "${words// /_}.${noise:+given}.nrrd"
		done
	done <<'CASES'
--exposures 2|short.nrrd long.nrrd
--exposures 2 --saturated solve|short.nrrd long.nrrd
--saturated solve|long.nrrd
--saturated solve --fit-residual|twelve.nrrd
-k double|six.nrrd
-s auto|five.nrrd
CASES
	py "$covers"'
import glob
truth, names = read_frame("truth.nrrd")["absphase"].astype(float), sorted(glob.glob("-*.nrrd"))
expect(len(names) == 12, names)
for name in names:
	f = read_frame(name)
	expect(np.isnan(f["sigma1"]) == np.isnan(f["phase1"]), name)
	parts = [(wrapped(f["phase%d" % k] - truth * ratio), f["sigma%d" % k]) for k, ratio in ((1, 1), (2, 40 / 44))]
	covers(name, *[np.concatenate(p) for p in zip(*parts)])'
}

@test "uncertainty: sigma of several exposures and of solved pixels in closed form; of two sets of three" {
	py '
rng = np.random.default_rng(7)
a, b, phi = rng.uniform(90, 140, (9, 31)), rng.uniform(10, 80, (9, 31)), rng.uniform(-np.pi, np.pi, (9, 31))
def images(shifts, light=1): return [Frame((5 + light * (a + b * np.cos(phi + np.radians(s)))).astype("f4")) for s in shifts]
steps = [0, 72, 144, 216, 288]
write_frames("short.nrrd", images(steps, 0.25))
write_frames("long.nrrd", images(steps))
write_frames("six.nrrd", images([-120, 0, 120, -60, 60, 180]))
np.savez("truth.npz", a=a, b=b, phi=phi)'
	noise="--sigma --read-noise 1.5 --gain 0.04 --black-level 5 --quantum 2 --max-value 200"
	# shellcheck disable=SC2086
	{
		phasewrap -q -n 5 -p 20 $noise --exposures 2 --exposure-time 1,4 short.nrrd long.nrrd -o both.nrrd
		phasewrap -q -n 5 -p 20 $noise --exposures 2 --exposure-time 1,4 --saturated solve short.nrrd long.nrrd -o solved.nrrd
		phasewrap -q -n 5 -p 20 $noise --saturated solve long.nrrd --as vector --max-value 130 -o alone.nrrd
		phasewrap -q -p 20 $noise -k double six.nrrd --max-value 300 -o double.nrrd
	}
	py '
t = np.load("truth.npz"); a, b, phi = t["a"], t["b"], t["phi"]
u = np.array([-np.sin(phi), np.cos(phi)])
def model(d): return np.array([np.cos(np.radians(d)), -np.sin(np.radians(d))])
def variance(image): return 1.5 ** 2 + 4 / 12 + 0.04 * (image - 5)
def theory(lights, least, most, steps=np.arange(5) * 72):
	F, parts, x = np.zeros((2, 2) + phi.shape), [], model(steps)
	for light in lights:
		image = 5 + light * (a + b * np.cos(phi + np.radians(steps)[:, None, None]))
		use = (image.astype("f4") < most) * 1.0
		use *= use.sum(0) >= least
		from_mean = (x[:, :, None, None] - (x[:, :, None, None] * use).sum(1)[:, None] / np.maximum(use.sum(0), 1)) * use
		F += light ** 2 * np.einsum("cnhw,dnhw->cdhw", from_mean, from_mean)
		parts.append((light * from_mean, variance(image)))
	bad = np.linalg.det(F.transpose(2, 3, 0, 1)) < 1e-3
	F[:, :, bad] = np.eye(2)[..., None]
	g = np.einsum("hwcd,dhw->chw", np.linalg.inv(F.transpose(2, 3, 0, 1)), u)
	return np.sqrt(sum((np.einsum("chw,cnhw->nhw", g, p) ** 2 * v).sum(0) for p, v in parts)) / b
for name, lights, least, most in ("both", (0.25, 1), 5, 200), ("solved", (0.25, 1), 3, 200), ("alone", (1,), 3, 130):
	sigma = read_frame(name + ".nrrd")["sigma"]
	valid = np.isfinite(sigma)
	off = np.abs(sigma / theory(lights, least, most) - 1)[valid]
	expect(off < 1e-4, name, off.max())
	expect(name != "both" or valid.all())
expect(0.2 < valid.mean() < 0.95, valid.mean())		# some pixels of one exposure have too few steps
# the mean of two phases: half the root of the sum of their variances
halves = []
for d in (-120, 0, 120), (-60, 60, 180):
	x = 2 / 3 * model(np.array(d))
	image = 5 + a + b * np.cos(phi + np.radians(d)[:, None, None])
	halves.append((np.einsum("chw,cn->nhw", u, x) ** 2 * variance(image)).sum(0))
sigma = read_frame("double.nrrd")["sigma"]
expect(np.abs(sigma / (np.sqrt(halves[0] + halves[1]) / 2 / b) - 1) < 2e-5)'
}

@test "uncertainty: --harmonics stretches sigma as it stretches the phase; shot noise is that of the true fringes" {
	light="--mean 140 --amplitude 70 --gamma 1.8"
	noise="--noise 1.2 --shot 0.05 --albedo checker"
	# shellcheck disable=SC2086
	{
		fringesim -q -s 112x90 -p 40,44 -n 12 --bits float $light | fringegamma -q --harmonics h.txt >report
		for n in 3 4 5; do
			fringesim -q -s 112x90 -p 40,44 -n $n $light $noise --truth truth.nrrd -o set.nrrd
			phasewrap -q --sigma --read-noise 1.2 --gain 0.05 --harmonics h.txt set.nrrd -o $n.given.nrrd
			[ $n = 3 ] || phasewrap -q --sigma --as vector --harmonics h.txt set.nrrd -o $n.found.nrrd
			phasewrap -q --sigma --read-noise 1.2 --gain 0.05 set.nrrd -o $n.plain.nrrd
		done
	}
	py "$covers"'
truth = read_frame("truth.nrrd")["absphase"].astype(float)
for name in "3.given", "4.given", "5.given", "4.found", "5.found":
	f, parts = read_frame(name + ".nrrd"), []
	for k, ratio in (1, 1), (2, 40 / 44):
		phase = f["phase%d" % k] if "phase1" in f.names else np.arctan2(f["sin%d" % k], f["cos%d" % k])
		parts.append((wrapped(phase - truth * ratio), f["sigma%d" % k]))
	covers(name, *[np.concatenate(p) for p in zip(*parts)])
# without the correction sigma is a standard deviation of the same errors, less the harmonics
f, g = read_frame("3.given.nrrd"), read_frame("3.plain.nrrd")
stretch = f["sigma1"] / g["sigma1"]
expect(stretch.min() < 0.8 and stretch.max() > 1.3, stretch.min(), stretch.max())'
}

# Noise that the window has spread is alike within a period, so that 40000 pixels are 2000 of lines, and 200 in 2-D.
@test "uncertainty: fourierphase gives the noise that its window lets through, of one image and of three" {
	light="-q -s 320x160 -p 16 -n 3 -c 20 --scene relief --albedo checker --mean 120 --amplitude 80 --flats --bits float"
	for noise in "" "--noise 3 --shot 0.05"; do
		# shellcheck disable=SC2086
		fringesim $light $noise | framecat --frames 0,3,4 --as float -o "in_%d${noise:+n}.nrrd"
		for transform in 2d lines; do
			words="-q --carrier 16 --transform $transform --sigma --read-noise 3 --gain 0.05 --quantum 0"
			n=${noise:+n}
			# shellcheck disable=SC2086
			{
				fourierphase $words in_0$n.nrrd -o one.$transform.$n.nrrd
				fourierphase $words --flats 2 in_0$n.nrrd in_1$n.nrrd in_2$n.nrrd --as vector -o three.$transform.$n.nrrd
				fourierphase $words --flats 2 --flat-removal difference in_0$n.nrrd in_1$n.nrrd in_2$n.nrrd -o less.$transform.$n.nrrd
			}
		done
	done
	py "$covers"'
inner = np.s_[16:-16, 16:-16]
for name in "one", "three", "less":
	for transform in "2d", "lines":
		clean, noisy = (read_frame("%s.%s.%s.nrrd" % (name, transform, n)) for n in ("", "n"))
		phase = [f["phase"] if "phase" in f.names else np.arctan2(f["sin"], f["cos"]) for f in (clean, noisy)]
		error, sigma = wrapped(phase[1] - phase[0])[inner], noisy["sigma"][inner]
		if transform == "lines": covers((name, transform), error, sigma)
		else:
			z = np.sqrt(((error / sigma) ** 2).mean())
			expect(abs(z - 1) < 0.15, name, transform, z)
expect(float(noisy.meta["sigma_window_px"]) > 8, noisy.meta)'
	fails 1 "one image does not tell its noise: give --read-noise LEVELS" fourierphase --sigma in_0.nrrd -o out.nrrd
}

@test "uncertainty: what phasewrap --sigma refuses" {
	fringesim -q -s 60x40 -p 40 -n 3 --noise 1 -o three.nrrd
	fringesim -q -s 60x40 -p 40 -n 4 --bits float --noise 1 -o float.nrrd
	fails 1 "leaves nothing to find the noise from: give --read-noise LEVELS and --gain LEVELS/e" phasewrap --sigma three.nrrd -o out.nrrd
	fails 2 "--read-noise" phasewrap --sigma --read-noise=-1 three.nrrd -o out.nrrd
	fails 2 "--gain" phasewrap --sigma --gain nan three.nrrd -o out.nrrd
	fails 2 "is for --sigma" phasewrap --read-noise 1 three.nrrd -o out.nrrd
	fails 2 "is for --gain" phasewrap --sigma --read-noise 1 --black-level 3 three.nrrd -o out.nrrd
	fails 2 "is for --sigma" phasewrap --quantum 1 three.nrrd -o out.nrrd
	fails 1 "no less than the largest level" phasewrap --sigma --gain 1 --black-level 300 three.nrrd -o out.nrrd
	fails 2 "--gain" phasewrap --sigma --gain 1e30 three.nrrd -o out.nrrd
	fails 1 "no noise at all" phasewrap --sigma --read-noise 1e-30 --quantum 0 three.nrrd -o out.nrrd
	framecat --crop 0,0,5,7 float.nrrd -o small.nrrd
	fails 1 "the noise cannot be found: only 15 pixels are usable" phasewrap -q --sigma small.nrrd -o out.nrrd
	fails 1 "no noise at all" phasewrap --sigma --read-noise 0 --gain 0 --quantum 0 three.nrrd -o out.nrrd
	fails 1 "give --quantum LEVELS, 0 for none" phasewrap --sigma --read-noise 1 float.nrrd -o out.nrrd
	silent phasewrap --sigma --read-noise 1 --quantum 0 float.nrrd -o out.nrrd
	fringesim -q -s 60x40 -p 40 -g half --inverse -o gray.nrrd
	fails 1 "no fringe images" phasewrap -k gray --sigma --read-noise 1 gray.nrrd -o out.nrrd
	framecat --scale 0,255 --as ushort float.nrrd -o scaled.nrrd
	fails 1 "scaled" phasewrap --sigma --read-noise 1 scaled.nrrd -o out.nrrd
}

# In NumPy, over all pairs, of a phase with holes, of a vector, of a depth.
@test "uncertainty: gauss gives the error of the mean vector, pair by pair" {
	py '
rng = np.random.default_rng(5)
phase = np.angle(np.exp(1j * (np.arange(70) * 0.45 + rng.normal(0, 0.1, (40, 70))))).astype("f4")
sigma, length = rng.uniform(0.02, 0.2, (2, 40, 70)).astype("f4")
phase[rng.random(phase.shape) < 0.1] = np.nan
phase[10:20, 30:45] = np.nan
unknown = sigma.copy()
unknown[30, 50] = np.nan
phase[30, 50] = 1
write_frames("phase.nrrd", [Frame(np.stack([phase, sigma]), ["phase", "sigma"])])
write_frames("unknown.nrrd", [Frame(np.stack([phase, unknown]), ["phase", "sigma"])])
write_frames("vector.nrrd", [Frame(np.stack([sigma, length * np.cos(phase), length * np.sin(phase)]), ["sigma1", "cos1", "sin1"])])
write_frames("depth.nrrd", [Frame(np.stack([phase, sigma]), ["depth", "sigma"])])'
	gauss -n 7 phase.nrrd -o phase_out.nrrd
	gauss -n 7 unknown.nrrd -o unknown_out.nrrd
	gauss -n 7 vector.nrrd -o vector_out.nrrd
	gauss -n 7 --on depth depth.nrrd -o depth_out.nrrd
	framecat --set sigma_window_px=0.5 depth.nrrd | gauss -n 7 --on depth -o shared_out.nrrd
	py '
def theory(p, sigma, linear):	# the error of an angle moves its vector by the sine of it
	h, w = p.shape
	there = np.isfinite(p)
	P, V, S = (np.pad(np.where(there, f, 0), 3) for f in (p, there, sigma.astype(float)))
	out = np.zeros((3, h, w), complex)
	pairs = []
	for k in range(-3, 4):
		for j in range(-3, 4):
			at = slice(3 + k, 3 + k + h), slice(3 + j, 3 + j + w)
			other = slice(3 - k, 3 - k + h), slice(3 - j, 3 - j + w)
			pairs.append((np.exp(-(k * k + j * j) / 2 / (7 / 6) ** 2) * V[at] * V[other], P[at], S[at]))
	mean = sum(q * v for q, v, s in pairs)
	square = sum((q * (v * mean.conj()).real) ** 2 * (s ** 2 if linear else np.tanh(s ** 2)) for q, v, s in pairs)
	with np.errstate(invalid="ignore"): result = np.sqrt(square) / np.abs(mean) ** 2
	return np.where(there, result, np.nan)
phase, vector, depth, unknown = (read_frame(n + "_out.nrrd") for n in ("phase", "vector", "depth", "unknown"))
before = read_frame("phase.nrrd")
z = np.exp(1j * before["phase"].astype(float))
length = read_frame("vector.nrrd")["cos1"].astype(float) + 1j * read_frame("vector.nrrd")["sin1"]
ones = np.where(np.isfinite(before["phase"]), 1 + 0j, np.nan)
for f, name, p in ((phase, "sigma", z), (vector, "sigma1", length), (depth, "sigma", ones)):
	expected = theory(p, before["sigma"], f is depth)
	expect(np.isnan(expected) == np.isnan(f[name]), name)
	expect(np.nanmax(np.abs(f[name] / expected - 1)) < 1e-5, name, np.nanmax(np.abs(f[name] / expected - 1)))
expect(vector.names == ["sigma1", "phase1"], vector.names)
expect(float(phase.meta["sigma_window_px"]) == float("%.17g" % (7 / 6)), phase.meta)
shared, i = read_frame("shared_out.nrrd"), np.arange(-3, 4)
k = np.exp(-i * i / 2 / (7 / 6) ** 2)
ratio = np.sum(k * k[:, None] * np.exp(-(i - i[:, None]) ** 2.)) / np.sum(k * k)
expect(np.nanmax(np.abs(shared["sigma"] / depth["sigma"] / ratio - 1)) < 1e-5, ratio)
expect(abs(float(shared.meta["sigma_window_px"]) - np.hypot(0.5, 7 / 6)) < 1e-12, shared.meta)
lost = np.isnan(unknown["sigma"]) & ~np.isnan(phase["sigma"])
expect(20 < lost.sum() <= 49 and not np.delete(lost, slice(27, 34), 0).any(), lost.sum())
expect(np.abs(unknown["phase"] - phase["phase"])[np.isfinite(phase["phase"])] == 0)'
}

@test "uncertainty: gauss covers its errors; fringes that turn within the window" {
	while IFS='|' read -r fringes light noise given; do
		for seed in 1 2 3; do
			# shellcheck disable=SC2086
			fringesim -q -s 160x160 $fringes $light $noise --seed $seed | phasewrap -q --sigma $given
		done | gauss -n 7 -o smooth.nrrd
		# shellcheck disable=SC2086
		fringesim -q -s 160x160 $fringes $light --bits float | phasewrap -q | gauss -n 7 -o "clean $fringes.nrrd"
		mv smooth.nrrd "smooth $fringes.nrrd"
	done <<'CASES'
-p 18 -n 4|--albedo checker|--noise 3 --shot 0.03|--read-noise 3 --gain 0.03
-p 12 -n 3|--mean 1500 --amplitude 900|--noise 25 --shot 0.5 --bits 12|--read-noise 25 --gain 0.5
CASES
	py "$covers"'
for fringes in "-p 18 -n 4", "-p 12 -n 3":
	clean, frames = read_frame("clean " + fringes + ".nrrd"), read_frames("smooth " + fringes + ".nrrd")
	covers(fringes, [wrapped(f["phase"] - clean["phase"].astype(float)) for f in frames], [f["sigma"] for f in frames])'
}

@test "uncertainty: a sigma that would no longer hold is refused or left out" {
	fringesim -q -s 60x40 -p 20,22 -n 4 --noise 2 -o set.nrrd
	phasewrap --sigma set.nrrd -o wrapped.nrrd
	gauss wrapped.nrrd -o once.nrrd
	silent gauss --on modulation once.nrrd -o twice.nrrd
	fails 1 "goes with what it is the standard deviation of" gauss --on sigma1 wrapped.nrrd -o twice.nrrd
	gauss --on phase1 wrapped.nrrd -o one.nrrd
	framecat -c modulation,sigma1 wrapped.nrrd -o quality.nrrd
	fails 1 "channel sigma1 is of single pixels" framecat --bin 2 quality.nrrd -o twice.nrrd
	py '
wrapped, one, twice = (read_frame(n + ".nrrd") for n in ("wrapped", "one", "twice"))
expect(wrapped["sigma2"] == one["sigma2"])
expect(np.median(wrapped["sigma1"]) > 5 * np.median(one["sigma1"]))
expect(twice["sigma1"] == read_frame("once.nrrd")["sigma1"])
a = np.zeros((6, 9), "f4"); a[3, 4] = 2 * np.pi
write_frames("abs.nrrd", [Frame(np.stack([a * 0 + 0.5, a, a + 1]), ["p_order", "absphase", "sigma"])])'
	for d in cpu auto; do
		median -d $d abs.nrrd -o median.nrrd
		py '
f = read_frame("median.nrrd")
expect(f.names == ["absphase", "sigma"] and (f["absphase"] == 0).all(), f.names)
expect(f["sigma"] == read_frame("abs.nrrd")["sigma"])'
	done
}

# Phases of a known position, each with a noise of its own at every pixel, so much that orders are wrong: 0.5 to 1.5
# times S rad.
absolute='
def noisy(name, periods, field, s, seed=0, drop=None):
	rng = np.random.default_rng(seed)
	u = rng.uniform(0, field - 1, (250, 400))
	sigma = s * rng.uniform(0.5, 1.5, (len(periods), 250, 400))
	phase = wrapped(2 * np.pi * u / np.array(periods)[:, None, None] + sigma * rng.normal(size=sigma.shape))
	names = [w + str(k + 1) for w in ("phase", "sigma") for k in range(len(periods))]
	write_frames(name, [Frame(np.concatenate([phase, sigma]).astype("f4"), names,
		{"period_px": " ".join("%.17g" % p for p in periods), "projector_px": "%d 100" % field})])
	np.save(name + ".npy", u)
def turns_off(f, name):
	u = np.load(name + ".npy")
	off = f["absphase"].astype(float) - 2 * np.pi * u / float(f.meta["period_px"])
	return off, np.abs(off) > np.pi
'

@test "uncertainty: unwrap2f: p_order is the share of wrong orders, of all and where it is large" {
	py "$covers$absolute"'
noisy("two.nrrd", [60, 66], 600, 0.15)
noisy("three.nrrd", [60, 66, 78], 640, 0.25)
noisy("coarse.nrrd", [20, 640], 640, 0.1)
noisy("four.nrrd", [18, 23, 31, 650], 650, 0.25)'
	for name in two three coarse four; do
		silent unwrap2f -q $name.nrrd -o $name.out.nrrd
	done
	py "$covers$absolute"'
for name in "two", "three", "coarse", "four":
	f = read_frame(name + ".out.nrrd")
	expect(f.names == ["absphase", "residual", "sigma", "p_order"], f.names)
	p = f["p_order"].astype(float)
	off, wrong = turns_off(f, name + ".nrrd")
	expect(abs(p.mean() / wrong.mean() - 1) < 0.1 and wrong.mean() > 0.01, name, p.mean(), wrong.mean())
	for lo, hi in (0.001, 0.02), (0.02, 0.1), (0.1, 0.3), (0.3, 0.5):
		k = (p >= lo) & (p < hi)
		spread = 4 * np.sqrt(p[k].mean() / k.sum())
		expect(k.sum() > 300 and abs(p[k].mean() - wrong[k].mean()) < 0.12 * p[k].mean() + spread, name, lo, k.sum(), p[k].mean(), wrong[k].mean())'
}

# The turns of the beat come from the neighbours: only orders within half a beat compete.
# Positions at both ends of the beat, which is the field where nothing says it, and of a field that reaches no end.
@test "uncertainty: unwrap2f: p_order knows of the beat that an end of the field is taken for the other by" {
	py '
r = np.random.default_rng(3)
u = np.concatenate([r.uniform(-0.5, 9.5, (200, 300)), r.uniform(649.5, 659.5, (200, 300))], 1)
s = r.uniform(0.5, 1.5, (2, 200, 600)) * 0.03
p = [np.angle(np.exp(1j * (2 * np.pi * u / t + r.normal(size=u.shape) * v))) for t, v in zip((60, 66), s)]
write_frames("ends.nrrd", Frame(np.stack([*p, *s]).astype("f4"), ["phase1", "phase2", "sigma1", "sigma2"], {"period_px": "60 66", "axis": "x x"}))
np.save("u.npy", u)'
	unwrap2f -q ends.nrrd -o out.nrrd
	unwrap2f -q --field 600 ends.nrrd -o field.nrrd
	py '
u, f = np.load("u.npy"), read_frame("out.nrrd")
turns = np.round(f["absphase"].astype(float) / (2 * np.pi) - u / 60)
p = f["p_order"].astype(float)
wrong = turns != 0
print(wrong.sum(), "wrong", np.unique(turns), p.sum(), "expected")
expect((np.abs(turns[wrong]) >= 10).mean() > 0.99)
expect(wrong.sum() > 1000 and abs(p.sum() / wrong.sum() - 1) < 0.05, wrong.sum(), p.sum())
for lo, hi in (0.02, 0.1), (0.1, 0.3), (0.3, 0.6):
	k = (p > lo) & (p <= hi)
	expect(abs(wrong[k].mean() / p[k].mean() - 1) < 0.12, lo, wrong[k].mean(), p[k].mean(), k.sum())
# a field that ends before the beat does has one place for each position
g = read_frame("field.nrrd")["p_order"][:, :300]
expect(np.nanmax(g) < 0.01, np.nanmax(g))'
}

@test "uncertainty: unwrap2f --coarse spatial: p_order is the share of wrong orders of the ladder behind it" {
	py "$covers$absolute"'
def even(name, periods, s):		# as noisy(), of a plane
	noisy(name, periods, 600, s)
	f, u = read_frame(name), np.linspace(0.5, 599, 400) * np.ones((250, 1))
	more = 2 * np.pi * (u - np.load(name + ".npy")) / np.array(periods)[:, None, None]
	f.pixels = f.pixels.copy()
	f.pixels[:len(periods)] = wrapped(f.pixels[:len(periods)] + more)
	write_frames(name, [f])
	np.save(name + ".npy", u)
	open("anchor", "w").write("200,100,%.6f" % (2 * np.pi * u[100, 200] / periods[0]))
even("one.nrrd", [20], 0.12)
even("two.nrrd", [20, 24], 0.25)'
	silent unwrap2f -q --coarse spatial --anchor "$(cat anchor)" two.nrrd -o two.out.nrrd
	py "$covers$absolute"'
f = read_frame("two.out.nrrd")
expect(f.names == ["absphase", "residual", "sigma", "p_order", "label"], f.names)
p = f["p_order"].astype(float)
off, wrong = turns_off(f, "two.nrrd")
expect(abs(p.mean() / wrong.mean() - 1) < 0.1 and wrong.mean() > 0.005, p.mean(), wrong.mean())'
	unwrap2f -q --coarse spatial one.nrrd -o one.out.nrrd
	py 'expect(read_frame("one.out.nrrd").names == ["absphase", "residual", "sigma", "label"], read_frame("one.out.nrrd").names)'
}

@test "uncertainty: unwrap2f: sigma of one phase, of the mean that the sigmas weigh, of given weights" {
	py "$covers$absolute"'
noisy("two.nrrd", [66, 60], 640, 0.03)
noisy("three.nrrd", [60, 66, 78], 640, 0.06)'
	for name in two three; do
		for words in "" "--fuse" "--fuse --unwrap 2" "--fuse --sigma $([ $name = two ] && echo 1,2 || echo 1,2,3)" "--fuse --all"; do
			# shellcheck disable=SC2086
			silent unwrap2f -q $words $name.nrrd -o "$name $words.out.nrrd"
		done
	done
	py "$covers$absolute"'
import glob
outs = glob.glob("*.out.nrrd")
expect(len(outs) == 10, outs)
for out in outs:
	name, words = out[:-9].split(" ", 1)
	name += ".nrrd"
	f, before = read_frame(out), read_frame(name)
	off, wrong = turns_off(f, name)
	covers(out, np.where(wrong, np.nan, off), f["sigma"])
	periods = np.array([float(p) for p in before.meta["period_px"].split()])[:, None, None]
	spread = before.pixels[len(periods):].astype(float) * periods	# of a position
	own = f["sigma"].astype(float) * float(f.meta["period_px"])
	if "--sigma" in words: w = 1 / (np.arange(1, len(periods) + 1)[:, None, None] * periods) ** 2
	elif "--fuse" in words: w = 1 / spread ** 2
	else: w = np.arange(len(periods))[:, None, None] == np.argmin(periods)
	expected = np.sqrt((w ** 2 * spread ** 2).sum(0)) / w.sum(0)
	expect(np.abs(own / expected - 1) < 1e-5, out, np.abs(own / expected - 1).max())
	if "--all" in words:
		expect(f.names[-len(periods):] == ["sigma%d" % (k + 1) for k in range(len(periods))], f.names)
		for k in range(len(periods)): expect(f["sigma%d" % (k + 1)] == before["sigma%d" % (k + 1)])'
}

@test "uncertainty: unwrap2f: Gray codes, lines, missing sigmas, holes; without sigmas nothing changes" {
	fringesim -q -s 129x65 -p 40 -n 4 -g half --noise 3 -o gray.nrrd
	fringesim -q -s 129x65 -p 60,66 -n 4 --noise 3 -o two.nrrd
	phasewrap --sigma gray.nrrd | unwrap2f -o gray_out.nrrd
	phasewrap --sigma two.nrrd -o wrapped.nrrd
	unwrap2f --line 660,-30 wrapped.nrrd -o line.nrrd
	framecat -c phase1,phase2,sigma2 wrapped.nrrd -o one.nrrd
	fails 1 "phase1 has no channel sigma1" unwrap2f --field 640 one.nrrd -o out.nrrd
	framecat -c phase1,phase2,modulation,texture wrapped.nrrd | unwrap2f --field 640 -o plain.nrrd
	unwrap2f --field 640 wrapped.nrrd -o sigma.nrrd
	for j in 1 3; do
		FRINGEPIPE_BAND=7 unwrap2f -j $j --field 640 wrapped.nrrd | cmp - sigma.nrrd
	done
	py '
gray, line, plain, sigma, w = (read_frame(n + ".nrrd") for n in ("gray_out", "line", "plain", "sigma", "wrapped"))
expect(gray.names == ["absphase", "residual", "sigma", "modulation", "texture"], gray.names)
expect(line.names == ["absphase", "residual", "sigma", "p_order", "modulation", "texture"], line.names)
expect(line["p_order"] < 1e-3, line["p_order"].max())
for name in plain.names: expect(plain[name].view("u4") == sigma[name].view("u4"), name)
expect(sigma["sigma"] == w["sigma1"])
holes = w.pixels.copy()
holes[0, 5, 5] = holes[w.names.index("sigma2"), 7, 7] = np.nan
write_frames("holes.nrrd", [Frame(holes, w.names, w.meta)])'
	unwrap2f --field 640 --fuse holes.nrrd -o out.nrrd
	py '
f, w = read_frame("out.nrrd"), read_frame("wrapped.nrrd")
expect(np.isnan([f[n][5, 5] for n in ("absphase", "sigma", "p_order")]))
expect(abs(f["sigma"][7, 7] / w["sigma1"][7, 7] - 1) < 1e-5 and np.isfinite(f["absphase"][7, 7]))
expect(np.isnan(f["sigma"]).sum() == 1)'
}

# By what a small step of the phase does to the point, in NumPy, through lenses, powers and maps of c.
@test "uncertainty: phase2depth turns sigma into mm along the ray, or along z, by the derivative" {
	sed -e 's/-0.03, 0.02, 0., 0., 0./-0.3, 0.1, 0.002, -0.001, 0./' "$top/samples/block.yml" >strong.yml
	py '
rng = np.random.default_rng(4)
write_frames("c.nrrd", [Frame(rng.uniform(1, 2, (2, 60, 80)).astype("f4") * np.array([1, 0.02], "f4")[:, None, None], ["c1", "c2"])])'
	cases=("--projector 1280x800 -p 40 --calib $top/samples/block.yml|--calib $top/samples/block.yml"
		"--projector 1280x800 -p 40 -a y --calib strong.yml|--calib strong.yml"
		"--projector 1280x800 -p 40 --calib strong.yml|--calib strong.yml"
		"-p 20|--ref ideal --c=-3,0.05,0.002" "-p 20|--ref ideal --c-map c.nrrd")
	for i in "${!cases[@]}"; do
		# shellcheck disable=SC2086
		fringesim -q -s 80x60 ${cases[i]%|*} -n 4 -g half --inverse --noise 2 | phasewrap --min-amplitude 20 --sigma --read-noise 2 |
			unwrap2f -q -o "abs$i.nrrd"
	done
	py '
for i in range(5):
	f = read_frame("abs%d.nrrd" % i)
	for k, step in (1, 0.05), (2, -0.05):
		p = f.pixels.copy()
		p[0] += step
		write_frames("abs%d_%d.nrrd" % (i, k), [Frame(p, f.names, f.meta)])'
	for i in "${!cases[@]}"; do
		for k in "" _1 _2; do
			# shellcheck disable=SC2086
			phase2depth -q ${cases[i]#*|} "abs$i$k.nrrd" -o "out$i$k.nrrd"
		done
	done
	py '
for i in range(5):
	f, before, a, b = (read_frame(n % i) for n in ("out%d.nrrd", "abs%d.nrrd", "out%d_1.nrrd", "out%d_2.nrrd"))
	result = ["x", "y", "z"] if "x" in f.names else ["depth"]
	expect(f.names == result + ["sigma", "modulation", "texture"], f.names)
	n = len(result)
	slope = np.sqrt(((a.pixels[:n].astype(float) - b.pixels[:n]) ** 2).sum(0)) / 0.1
	ratio = f["sigma"] / (slope * before["sigma"])
	expect(np.isfinite(f["sigma"]) == np.isfinite(f[result[-1]]))
	expect(np.isfinite(ratio).sum() > 2000 and np.nanmax(np.abs(ratio - 1)) < 2e-3, i, np.nanmax(np.abs(ratio - 1)))'
}

@test "uncertainty: phase2depth adds the sigma of a measured reference; without sigmas nothing changes" {
	for n in 1 2; do
		fringesim -q -s 80x60 -p 20 -n 4 -g half --noise 2 --seed $n --height $((10 * n - 10)) --scene plane |
			phasewrap --sigma --read-noise 2 | unwrap2f -q -o abs$n.nrrd
	done
	framecat -c absphase,residual,modulation,texture abs1.nrrd -o plain1.nrrd
	framecat -c absphase,residual,modulation,texture abs2.nrrd -o plain2.nrrd
	phase2depth --ref abs1.nrrd -c 5 abs2.nrrd -o both.nrrd
	phase2depth --ref plain1.nrrd -c 5 abs2.nrrd -o own.nrrd
	phase2depth --ref abs1.nrrd -c 5 plain2.nrrd -o none.nrrd
	phase2depth --ref plain1.nrrd -c 5 plain2.nrrd -o plain.nrrd
	py "$covers"'
a, b, both, own, none, plain = (read_frame(n + ".nrrd") for n in ("abs1", "abs2", "both", "own", "none", "plain"))
expect(none.names == ["depth", "modulation", "texture"] and plain.names == none.names, none.names)
for f in both, own, none: expect(f["depth"].view("u4") == plain["depth"].view("u4"))
expect(np.abs(both["sigma"] / (5 * np.hypot(a["sigma"], b["sigma"])) - 1) < 1e-6)
expect(np.abs(own["sigma"] / (5 * b["sigma"]) - 1) < 1e-6)
covers("both", both["depth"] - 10, both["sigma"])'
}

# The whole chain: images of two rigs, through a calibration by a Gray code and two fused periods, and over a plane by two
# periods; against the simulated truth or, filtered, against what the chain makes of images without noise. The nightly
# run takes more and larger images.
# Here each number of steps with one rig and one filter; every night (UNCERTAINTY_REPEATS) with both.
@test "uncertainty: coverage through the whole chain, 3, 4, 6 and 12 steps, two rigs" {
	repeats=${UNCERTAINTY_REPEATS:-3} size=${UNCERTAINTY_SIZE:-120x90}
	calib="--calib $top/samples/block.yml"
	for n in 3 4 6 12; do
		filters=("$([[ $n == [36] ]] && echo "gauss -n 5" || echo framecat)")
		rigs=("$([[ $n == [36] ]] && echo "$calib" || echo "--ref ideal")")
		[[ $n != [46] ]] || filters=("gauss -n 5")
		if [ -n "${UNCERTAINTY_REPEATS-}" ]; then filters=(framecat "gauss -n 5") rigs=("$calib" "--ref ideal"); fi
		while IFS='|' read -r rig quiet noise given unwrap depth; do
			[[ " ${rigs[*]} " == *" $depth "* ]] || continue
			if [ $n -gt 3 ]; then given=; fi
			# shellcheck disable=SC2086
			{
				fringesim -q -s $size -n $n $rig $quiet --truth truth.nrrd -o clean.nrrd
				fringesim -q -s $size -n $n $rig $noise --frames $repeats -o noisy.nrrd
				for filter in "${filters[@]}"; do
					name="$n.${filter%% *}.${depth:2:3}"
					phasewrap -q --min-amplitude 20 clean.nrrd | $filter | unwrap2f -q $unwrap | phase2depth -q $depth -o "$name.truth.nrrd"
					if [ "$filter" = framecat ]; then cp truth.nrrd "$name.truth.nrrd"; fi
					phasewrap -q --min-amplitude 20 --sigma $given noisy.nrrd | $filter | unwrap2f -q $unwrap |
						phase2depth -q $depth -o "$name.out.nrrd"
				done
			}
		done <<-CASES
			--projector 1280x800 $calib -p 16,18 -g half --inverse|--bits float|--noise 1.5 --shot 0.04|--read-noise 1.5 --gain 0.04|--fuse|$calib
			-p 40,44 --albedo noise --mean 1600 --amplitude 1200 --scene steps|--bits float|--bits 12 --noise 6 --shot 0.3|--read-noise 6 --gain 0.3|--field 440|--ref ideal
		CASES
	done
	py "$covers"'
import glob
outs = sorted(glob.glob("*.out.nrrd"))
expect(len(outs) == int(sys.argv[1]), outs)
for out in outs:
	truth, frames = read_frame(out[:-8] + "truth.nrrd"), read_frames(out)
	result = ["x", "y", "z"] if "x" in frames[0].names else ["depth"]
	true = np.stack([truth[n] for n in result]).astype(float)
	along = true / np.sqrt((true ** 2).sum(0)) if len(result) == 3 else np.ones_like(true)
	off = np.array([((np.stack([f[n] for n in result]) - true) * along).sum(0) for f in frames])
	sigma = np.array([f["sigma"] for f in frames])
	z = off / sigma
	print("%-16s %8d %6.2f %6.2f" % (out[:-9], np.isfinite(z).sum(), *(100 * (np.abs(z[np.isfinite(z)]) < k).mean() for k in (1, 2))))
	covers(out, np.where(np.isfinite(off), off, np.nan), sigma)' $((4 * ${#filters[@]} * ${#rigs[@]}))
}

# Twelve steps of a real relief: the phases of the even and of the odd steps share nothing but the surface. Without
# correction they differ by 1.8 times their sigmas.
@test "uncertainty: slmaster_eye, even and odd steps differ by what their sigmas say, after their harmonics" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray
	limits="--min-amplitude 8 --min-modulation 0.1 --sigma"
	read -r _ light _ shift < <(fringegamma -n 12 -p 60 --vary --harmonics h.txt "$eye"/phase_*.png |
		sed -n 's/^options for these images: //p' | tr '=' ' ')
	# every second of a list, from the first or the second on
	half() { tr , '\n' <<<"$2" | sed -n "$1~2p" | paste -sd,; }
	even=("$eye"/phase_0[02468].png "$eye"/phase_10.png) odd=("$eye"/phase_0[13579].png "$eye"/phase_11.png)
	# shellcheck disable=SC2086
	{
		phasewrap -q -n 6 -p 60 --shift 0,60,120,180,240,300 $limits "${even[@]}" -o even.nrrd
		phasewrap -q -n 6 -p 60 --shift 30,90,150,210,270,330 $limits "${odd[@]}" -o odd.nrrd
		phasewrap -q -n 12 -p 60 $limits "$eye"/phase_*.png -o all.nrrd
		phasewrap -q -n 6 -p 60 $limits --harmonics h.txt --light "$(half 1 "$light")" --shift="$(half 1 "$shift")" \
			"${even[@]}" -o even.mended.nrrd
		phasewrap -q -n 6 -p 60 $limits --harmonics h.txt --light "$(half 2 "$light")" --shift="$(half 2 "$shift")" \
			"${odd[@]}" -o odd.mended.nrrd
	}
	# what the tools make of it: harmonics that change over the picture, light and shifts of each image
	py "$covers"'
a, b = (read_frame(n + ".mended.nrrd") for n in ("even", "odd"))
z = wrapped(a["phase"].astype(float) - b["phase"]) / np.hypot(a["sigma"].astype(float), b["sigma"])
ratio = np.sqrt(np.nanmean(z ** 2))
print(np.isfinite(z).sum(), "pixels, rms of the difference over its sigma", ratio)
expect(np.isfinite(z).sum() > 210000 and abs(ratio - 1) < 0.2, ratio)'
	py "$covers"'
even, odd, all = (read_frame(n + ".nrrd") for n in ("even", "odd", "all"))
d, phi = wrapped(even["phase"].astype(float) - odd["phase"]), all["phase"].astype(float)
sigma = np.hypot(even["sigma"], odd["sigma"])
rest, seen = np.full(d.shape, np.nan), np.isfinite(d) & np.isfinite(phi)
for y in range(0, 560, 80):		# harmonics change with the focus
	for x in range(0, 630, 90):
		at = slice(y, y + 80), slice(x, x + 90)
		k, p = seen[at], phi[at][seen[at]]
		if k.sum() < 1500: continue
		waves = np.stack([np.ones(k.sum())] + [f(m * p) for m in range(1, 13) for f in (np.cos, np.sin)], 1)
		rest[at][k] = d[at][k] - waves @ np.linalg.lstsq(waves, d[at][k], rcond=None)[0]
ratio = np.sqrt(np.nanmean((rest / sigma) ** 2))
expect(np.isfinite(rest).sum() > 200000 and abs(ratio - 1) < 0.2, ratio)
# what changes smoothly along the fringes is no noise
noise = (rest[:-2] - 2 * rest[1:-1] + rest[2:]) / np.sqrt(6)
covers("across", noise, sigma[1:-1])'
}

# Every figure of the page's table, by the estimator that it defines; the noise of one set in NumPy by phasewrap's page.
@test "uncertainty: second differences along the fringes of real captures are the page's multiples of their sigmas" {
	need_data weiyang_box_3freq_35_36_37
	sed -n '/^.It Sy capture/,/^.El/p' "$top/man/fringepipe-uncertainty.7" | sed -n 's/^.It \(.*\)$/\1/p' |
		sed '1d; s/ Ta /,/g' >table.txt
	declare -A files=([eye]="slmaster_eye_12step_gray/phase_*.png" [hagen]="hagen_lens_4step/lens_crop_*.jpg"
		["david left"]="slsdk_david_stereo/left/phase_*.png" ["david right"]="slsdk_david_stereo/right/phase_*.png"
		["dtu left 40"]="dtu_angel_2freq_rectified/left/f40_*.png" ["dtu right 41"]="dtu_angel_2freq_rectified/right/f41_*.png")
	while IFS=, read -r name of amplitude _; do
		# shellcheck disable=SC2206
		case $name in
		weiyang*) set=("$data"/weiyang_box_3freq_35_36_37/f"${name#* }"_?.png) ;;
		*) set=("$data"/${files[$name]}) ;;
		esac
		n=${#set[@]} even=() odd=()
		for ((i = 0; i < n; i += 2)); do even+=("${set[i]}") odd+=("${set[i + 1]}"); done
		if [ "$of" = all ]; then
			phasewrap -q -n $n -p 60 --sigma --min-amplitude "$amplitude" "${set[@]}" -o "$name.all.nrrd"
		else
			phasewrap -q -n $((n / 2)) -p 60 --sigma --min-amplitude "$amplitude" "${even[@]}" -o "$name.even.nrrd" \
				--shift "$(seq -s, 0 $((720 / n)) 359)"
			phasewrap -q -n $((n / 2)) -p 60 --sigma --min-amplitude "$amplitude" "${odd[@]}" -o "$name.odd.nrrd" \
				--shift "$(seq -s, $((360 / n)) $((720 / n)) 359)"
		fi
	done <table.txt
	py "$covers"'
rows = [l.strip().split(",") for l in open("table.txt")]
expect(len(rows) == 12, rows)
for name, of, _, pixels, ratio in rows:
	f = [read_frame("%s.%s.nrrd" % (name, p)) for p in (["all"] if of == "all" else ["even", "odd"])]
	p = f[0]["phase"].astype(float) - (f[1]["phase"] if len(f) > 1 else 0)
	v = sum(g["sigma"].astype(float) ** 2 for g in f)
	z = wrapped(p[2:] - 2 * p[1:-1] + p[:-2]) / np.sqrt(v[2:] + 4 * v[1:-1] + v[:-2])
	z = np.abs(z[np.isfinite(z)])
	print(name, of, len(z), np.median(z) / 0.67449)
	expect(len(z) == int(pixels) and abs(np.median(z) / 0.67449 - float(ratio)) < 0.006, name, of, len(z), np.median(z) / 0.67449)'
	# a sensor with colour filters: what is found is the noise of all pixels, not of one colour, over the distance from
	# which on neighbours share none
	phasewrap -v -n 8 -p 60 --sigma --min-amplitude 25 "$data"/weiyang_box_3freq_35_36_37/f35_?.png -o w.nrrd 2>messages
	WEIYANG=$data/weiyang_box_3freq_35_36_37 py '
import os, re
from PIL import Image
a, b, L = (float(v) for v in re.search(r"variance of a sample: (\S+) \+ (\S+) level.* over (\d) pixels", open("messages").read()).groups())
L = int(L)
I = np.stack([np.asarray(Image.open(os.environ["WEIYANG"] + "/f35_%d.png" % k), float) for k in range(8)])
d = 2 * np.pi * np.arange(8) / 8
fit = np.stack([np.ones(8), np.cos(d), -np.sin(d)], 1)
A, c, s = np.tensordot(np.linalg.pinv(fit), I, 1)
left, B = I - np.tensordot(fit, np.stack([A, c, s]), 1), np.hypot(c, s)
good = (I.max(0) < 255) & (I.min(0) > 0) & (B >= 25)
good = good[2 * L:] & good[L:-L] & good[:-2 * L]
share = [B[L:-L] / np.maximum(v, 1e-9) for v in (B[:-2 * L], B[L:-L], B[2 * L:])]
share[1] = -2 * share[1]
weight = sum(v ** 2 for v in share)
variance = (sum(v * left[:, k * L:k * L + 270 - 2 * L] for k, v in enumerate(share)) ** 2).sum(0) / weight / 5
level = (share[0] ** 2 * A[:-2 * L] + 4 * A[L:-L] + share[2] ** 2 * A[2 * L:]) / weight
own, level = variance[good], level[good]
own, level = own[own < 12 * own.mean()], level[own < 12 * own.mean()]
print("mean variance", own.mean(), "by the line", a + b * level.mean())
expect(abs((a + b * level.mean()) / own.mean() - 1) < 0.05)'
}

@test "uncertainty: unwrapq gives the standard deviation of phaseN as that of its absolute phase" {
	fringesim -s 64x48 -n 4 -p 16,60 -c 2 --noise 2 -q -o set.nrrd
	phasewrap --sigma --read-noise 2 set.nrrd -o phases.nrrd
	unwrapq --channel phase2 --anchor 32,24,10 phases.nrrd -o two.nrrd
	py '
p, u = read_frame("phases.nrrd"), read_frame("two.nrrd")
expect("sigma" in u.names and "sigma1" in u.names and "sigma2" not in u.names, u.names)
expect(np.array_equal(u["sigma"], p["sigma2"], equal_nan=True) and np.array_equal(u["sigma1"], p["sigma1"], equal_nan=True))'
	phase2depth --ref ideal -c 0.1 two.nrrd | framecat --channels depth,sigma -o depth.nrrd
}

# The rows of the page's table that take least; every night all of them, with more draws.
@test "uncertainty: error bars behind filters, on truth of NumPy: what results scatter by over their sigma, as on the page" {
	"$python" "$top/tests/error_bars.py" --draws 10 --page "$top/man/fringepipe-uncertainty.7" "gauss -n 11, fitshape plane" \
		"gauss -n 11, mergexyz --grid" phasematch kalman "JPEG 90" "found, demosaicked" "4 steps, gauss" "sharpened" "blurred" "gamma" "phasewrap --edges" p_order
	"$python" "$top/tests/error_bars.py" --draws 2 nothing >none	# rows that are not there are none
	[ ! -s none ]
}
