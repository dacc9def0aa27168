load helpers

# What fringesim projects: levels of 127 +- 100 of 255.
of_sim=(--mean 0.498039216 --amplitude 0.392156863)

# Python: the harmonics of ((m + b cos p)^g), blurred by sigma over the period, [k] from 0 on, by a sum of its own;
# the phase error of a measured phase (frame) against the truth's absphase.
tools='
def harmonics(g, m=127/255, b=100/255, blur=0, n=4096):
	p = 2 * np.pi * np.arange(n) / n
	f = np.fft.rfft((m + b * np.cos(p)) ** g).real[:12] / n
	k = np.arange(12)
	return f / f[1] * np.exp(-2 * np.pi ** 2 * (k * k - 1) * blur ** 2)
def error(path, truth="truth.nrrd", name="phase"):
	e = read_frame(path)[name].astype(float) - read_frame(truth)["absphase"]
	e = np.angle(np.exp(1j * e))
	expect(~np.isnan(e), path, "has invalid pixels")
	return np.sqrt((e ** 2).mean())
def table(path):
	rows = [l.split() for l in open(path) if l.strip() and l[0] != "#"]
	expect(rows[0] == "axis period_px harmonic cosine sine".split(), rows[0])
	return {int(r[2]): (float(r[3]), float(r[4])) for r in rows[1:]}
def report(path="report.json"):
	import json
	return json.load(open(path))["sets"]
'

# numbered OF: the images of the measurement OF, which say nothing about themselves, as image_00.png and so on.
numbered() {
	py '
from PIL import Image
for i, v in enumerate(read_frames(sys.argv[1])):
	Image.fromarray(v.pixels[0]).save("image_%02d.png" % i)' "$1"
}

@test "fringegamma: harmonics, gamma and blur of simulated fringes are those of the closed form" {
	for n in 4 5 7 12; do
		for blur in 0 3; do
			if [ $n$blur = 43 ] || [ $n$blur = 70 ]; then continue; fi
			fringesim -s 160x40 -p 40 -n $n -b float --gamma 2.2 --defocus $blur |
				fringegamma "${of_sim[@]}" --json --harmonics h.$n.$blur -o report.$n.$blur
		done
	done
	py "$tools"'
import glob
names = glob.glob("h.*")
expect(len(names) == 6, names)
for name in names:
	n, blur = map(int, name.split(".")[1:])
	h, found, s = table(name), harmonics(2.2, blur=blur / 40), report("report" + name[1:])[0]
	far = max(abs(h[k][0] - found[k]) for k in h), max(abs(h[k][1]) for k in h)
	print(n, blur, "harmonics off by", far, "gamma", s["gamma"], "blur", s["blur_px"])
	expect(sorted(h) == list(range(2, {7: 6}.get(n, 11))), sorted(h))
	expect(max(far) < {7: 1e-5, 12: 1e-6}.get(n, 2e-5), n, blur, far)
	expect(abs(s["gamma"] - 2.2) < 2e-4 and abs(s["blur_px"] - blur) < 0.03, s)
	expect(s["pixels_used"] == 160 * 40 and s["misfit"] < 1e-4 and s["unexplained"] < 1e-4, s)'
}

@test "fringegamma: other gammas, means, shifts, signs and origins" {
	fringesim -s 160x40 -p 40 -n 9 -b float --gamma 0.6 --mean 100 --amplitude 60 |
		fringegamma --mean 0.392156863 --amplitude 0.235294118 --json --harmonics h.txt -o report.json
	py "$tools"'
h, found = table("h.txt"), harmonics(0.6, 100 / 255, 60 / 255)
expect(max(abs(h[k][0] - found[k]) for k in h) < 1e-6, h, found)
expect(abs(report()[0]["gamma"] - 0.6) < 1e-4, report())'
	# harmonics with sines, of foreign images: I = A + B (cos p + ...), p = phase - shift + 0.7
	py "$tools"'
y, x = np.mgrid[0:90, 0:130]
phi = 2 * np.pi * (x / 31 + y / 57)
d = np.array([0, 47, 95, 140, 185, 230, 275, 322]) * np.pi / 180
p = [phi - a + 0.7 for a in d]
write_frames("in.nrrd", [Frame((100 + 60 * (np.cos(q) + .05 * np.cos(2 * q) - .03 * np.sin(2 * q) + .02 * np.sin(3 * q)
	- .01 * np.cos(5 * q))).astype("f4")) for q in p])
p = [phi - a + 0.7 for a in d[[0, 2, 5]]]
write_frames("three.nrrd", [Frame((100 + 60 * (np.cos(q) + .05 * np.cos(2 * q) - .03 * np.sin(2 * q) + .02 * np.sin(3 * q)
	- .01 * np.cos(5 * q))).astype("f4")) for q in p])
write_frames("truth.nrrd", Frame(phi.astype("f4"), ["absphase"]))'
	foreign=(-p 31 --sign -1 --phase-origin 40.1070456591576)
	fringegamma -n 8 --shift 0,47,95,140,185,230,275,322 "${foreign[@]}" --harmonics h.txt in.nrrd -o report.txt
	phasewrap -n 3 --shift 0,95,230 "${foreign[@]}" three.nrrd -o before.nrrd
	phasewrap -n 3 --shift 0,95,230 "${foreign[@]}" --harmonics h.txt three.nrrd -o after.nrrd
	py "$tools"'
h, want = table("h.txt"), {2: (.05, -.03), 3: (0, .02), 4: (0, 0), 5: (-.01, 0)}
expect(max(abs(np.subtract(h[k], want[k])).max() for k in want) < 2e-6, h)
print(error("before.nrrd"), error("after.nrrd"))
expect(error("after.nrrd") < 5e-6 < 0.03 < error("before.nrrd"))'
}

# The same file serves every number of steps.
@test "phasewrap --harmonics: a gamma of 2.2 leaves rounding, of 3 and 4 steps, blurred or not, phase or vector" {
	for blur in 0 3; do
		fringesim -s 160x40 -p 40 -n 12 -b float --gamma 2.2 --defocus $blur |
			fringegamma "${of_sim[@]}" --harmonics h.txt -o report.txt
		for n in 3 4; do
			fringesim -s 160x120 -p 40 -n $n -b float --gamma 2.2 --defocus $blur --truth truth.nrrd -o in.nrrd
			phasewrap in.nrrd -o before.$n.$blur.nrrd
			phasewrap --harmonics h.txt in.nrrd -o after.$n.$blur.nrrd
			phasewrap --harmonics h.txt --as vector in.nrrd -o vector.$n.$blur.nrrd
		done
	done
	py "$tools"'
import glob
names = glob.glob("before.*")
expect(len(names) == 4, names)
for name in (n[6:] for n in names):
	before, after = error("before" + name), error("after" + name)
	v, f = read_frame("vector" + name), read_frame("after" + name)
	print(name, before, after)
	expect(after < 2e-6 and before > 0.001, before, after)
	expect(np.abs(np.angle(np.exp(1j * (np.arctan2(v["sin"], v["cos"]) - f["phase"])))) < 1e-6, "vector")
	expect(f.meta["phase_correction"] == v.meta["phase_correction"] == "h.txt", f.meta)
	expect(np.array_equal(f["modulation"], read_frame("before" + name)["modulation"]), "modulation")
	expect((f["phase"] <= np.float32(np.pi)) & (f["phase"] > -np.float32(np.pi)), "range")'
}

@test "fringegamma, phasewrap: with noise of a tenth of the amplitude a twentieth is left, in 8 bits of half of that" {
	for n in 3 4; do
		fringesim -s 160x120 -p 40 -n $n -b float --gamma 2.2 --defocus 2 --truth truth.nrrd -o in$n.nrrd
		phasewrap in$n.nrrd -o before$n.nrrd
	done
	for of in "-b float --noise 9" "-b 8 --noise 4.5 --ambient 20"; do
		# shellcheck disable=SC2086
		fringesim -s 240x160 -p 40 -n 12 --gamma 2.2 --defocus 2 $of |
			fringegamma "${of_sim[@]}" --harmonics h.txt --lut lut.txt --json -o report.json
		for n in 3 4; do
			phasewrap --harmonics h.txt in$n.nrrd -o after$n.nrrd
			fringesim -s 160x120 -p 40 -n $n -b float --gamma 2.2 --defocus 2 --lut lut.txt | phasewrap -o lut$n.nrrd
		done
		py "$tools"'
for n in 3, 4:
	before, after, lut = (error(name % n) for name in ("before%d.nrrd", "after%d.nrrd", "lut%d.nrrd"))
	print(sys.argv[1], n, before, "corrected 1 /", before / after, "through the table 1 /", before / lut)
	expect(20 * after < before and 20 * lut < before, n, before, after, lut)
s = report()[0]
expect(abs(s["gamma"] - 2.2) < 4 * s["gamma_error"] and abs(s["blur_px"] - 2) < 0.5, s)' "$of"
	done
}

# The projector of this test is NumPy's: fringegen's own patterns, a gamma, a blur of 2 px, a camera that is the
# projector's pixels.
@test "fringegamma: fringegen --lut makes the fringes of a gamma sinusoidal, of 3 and 4 steps" {
	project='
def project(frames, path):
	out = []
	for f in frames:
		light = (f.pixels[0].astype(float) / (255 if f.pixels.dtype == np.uint8 else 1)) ** 2.2
		w = light.shape[1]
		k = np.fft.rfftfreq(w)
		light = np.fft.irfft(np.fft.rfft(light, axis=1) * np.exp(-2 * (np.pi * k * 2) ** 2), w, axis=1)
		out.append(Frame((10 + 200 * light).astype("f4"), meta=f.meta))
	write_frames(path, out)
for patterns, path in zip(sys.argv[1::2], sys.argv[2::2]): project(read_frames(patterns), path)'
	fringegen -s 360x20 -p 40 -n 12 -b float -o patterns.nrrd
	fringegen -s 360x20 -p 40 -n 3 -b float -o plain.3.nrrd
	fringegen -s 360x20 -p 40 -n 4 -b float -o plain.4.nrrd
	py "$project" patterns.nrrd in.nrrd plain.3.nrrd plain.3.nrrd plain.4.nrrd plain.4.nrrd
	fringegamma --lut lut.txt in.nrrd -o report.txt
	has '^gamma: 2.200. +- 0.000., blur 2.00' <report.txt
	for bits in float 8; do
		for n in 3 4; do
			if [ $bits$n = 84 ]; then continue; fi
			fringegen -s 360x20 -p 40 -n $n -b $bits --lut lut.txt -o in.$bits.$n.nrrd
		done
	done
	py "$project" in.float.{3,3,4,4}.nrrd in.8.{3,3}.nrrd
	for name in float.3 float.4 8.3; do
		phasewrap plain.${name#*.}.nrrd -o before.$name.nrrd
		phasewrap in.$name.nrrd -o after.$name.nrrd
	done
	py "$tools"'
u = 2 * np.pi * np.arange(360) / 40
write_frames("truth.nrrd", Frame(np.tile(u, (20, 1)).astype("f4"), ["absphase"]))
for bits, n in ("float", 3), ("float", 4), ("8", 3):
	name = ".%s.%d.nrrd" % (bits, n)
	before, after = error("before" + name), error("after" + name)
	print(bits, n, before, after, before / after)
	# 8 bits of the patterns round to 0.3/122 of the amplitude: 0.0014 rad
	expect(20 * after < before if bits == "float" else after < 0.0025, bits, n, before, after)
	expect(read_frame("after" + name).meta["compensation"] == "lut.txt")'
}

@test "fringegamma: three steps give a gamma where the phases are even" {
	fringesim -s 320x240 -p 40 -n 3 --gamma 2.2 --noise 1 --ambient 10 --scene plane --ref-plane 0,0.157,0.01 \
		--projector 3000x2000 --truth truth.nrrd -o in.nrrd
	fringegamma "${of_sim[@]}" --json --harmonics h.txt in.nrrd -o report.json
	phasewrap in.nrrd -o before.nrrd
	phasewrap --harmonics h.txt in.nrrd -o after.nrrd
	py "$tools"'
s = report()[0]
print(s["gamma"], s["gamma_error"], s["gamma_by_density"], s["gamma_by_amplitude"], error("before.nrrd"), error("after.nrrd"))
expect(abs(s["gamma"] - 2.2) < 3 * s["gamma_error"] and s["gamma_error"] < 0.06, s)
expect(20 * np.sqrt(error("after.nrrd") ** 2 - 2 / 3 / 97 ** 2) < error("before.nrrd"), error("after.nrrd"))'
}

@test "fringegamma: flats give the response, as a gamma and as a curve" {
	py '
r = np.random.default_rng(1)
albedo = 0.5 + 0.4 * r.random((60, 80))
for i, level in enumerate(range(0, 256, 15)):
	s = level / 255
	for name, light in ("gamma", s ** 1.8), ("curve", 0.5 - 0.5 * np.cos(np.pi * (0.1 + 0.8 * s))):
		write_frames("%s_%02d.nrrd" % (name, i), Frame(np.rint(12 + 200 * albedo * light + r.normal(0, 1, albedo.shape)).astype("u1")))'
	levels=$(seq -s, 0 15 255)
	fringegamma --levels "$levels" --lut gamma.txt --json gamma_*.nrrd -o report.json
	fringegamma --levels "$levels" --lut curve.txt --harmonics h.txt curve_*.nrrd -o report.txt
	py "$tools"'
s = report()[0]
expect(abs(s["gamma"] - 1.8) < 4 * s["gamma_error"] < 0.02 and s["gamma_fits"], s)
lut = np.loadtxt("gamma.txt")
expect(lut.shape == (1025, 2) and np.abs(lut[:, 1] - lut[:, 0] ** (1 / 1.8)).max() < 2e-3, lut)
lut = np.loadtxt("curve.txt")
light = 0.5 - 0.5 * np.cos(np.pi * (0.1 + 0.8 * lut[:, 1]))
light = (light - light[0]) / (light[-1] - light[0])
expect(np.abs(light - lut[:, 0]).max() < 4e-3, np.abs(light - lut[:, 0]).max())
p = 2 * np.pi * np.arange(4096) / 4096
f = np.fft.rfft(-np.cos(np.pi * (0.1 + 0.8 * (0.5 + 0.48 * np.cos(p))))).real
h = table("h.txt")
expect(max(abs(h[k][0] - f[k] / f[1]) for k in h) < 2e-3, h, f[:11] / f[1])'
	has 'none fits' <report.txt
}

# Twelve steps are the truth: they cancel harmonics up to the tenth. Three and four steps of the twelve lose what
# harmonics make; what is left turns once and twice a fringe, and comes from two images, the sixth and the eleventh,
# which have 3 % less light and are 3 degrees off.
@test "fringegamma: the real eye's harmonics in the phase of 3 and 4 steps fall by five and more" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray
	framecat --crop 0,120,630,240 "$eye"/phase_*.png -o eye%02d.nrrd
	fringegamma -n 12 -p 60 --harmonics h.txt --json eye*.nrrd -o report.json
	phasewrap -n 12 -p 60 --min-amplitude 8 eye*.nrrd -o twelve.nrrd
	for first in 0 1 2 3; do
		for n in 3 4; do
			if [ $((first * n)) -ge 12 ]; then continue; fi
			step=$((12 / n))
			images=() shifts=
			for ((i = first; i < 12; i += step)); do
				images+=("eye$(printf %02d $i).nrrd")
				shifts+=${shifts:+,}$((30 * i))
			done
			for with in "" "--harmonics h.txt"; do
				# shellcheck disable=SC2086
				phasewrap -n $n -p 60 --shift=$shifts --min-amplitude 8 $with "${images[@]}" -o "phase$n$first${with:0:3}.nrrd"
			done
		done
	done
	py "$tools"'
true = read_frame("twelve.nrrd")["phase"].astype(float)
def wave(path, k):
	e = np.angle(np.exp(1j * (read_frame(path)["phase"] - true)))
	ok = ~np.isnan(e)
	return 2 * np.abs(np.mean(e[ok] * np.exp(-1j * k * true[ok])))
for n in 3, 4:
	for first in range(12 // n):
		name = "phase%d%d%%s.nrrd" % (n, first)
		before, after = ([wave(name % w, k * n) for k in (1, 2)] for w in ("", "--h"))
		once = wave(name % "--h", 1)
		print(n, first, "before", before, "after", after, "once a fringe", once)
		expect(5 * np.array(after) < before, n, first, before, after)
s = report()[0]
gain, shift = np.array(s["gain"]), np.array(s["shift"])
print(gain.round(4), shift.round(4))
expect((gain[[5, 10]] < -0.025) & (shift[[5, 10]] < -0.04), gain, shift)
expect(np.abs(np.delete(shift, [5, 10])) < 0.025, shift)
expect(not s["gamma_fits"] and s["unexplained"] < 0.015, s["gamma_fits"], s["unexplained"])'
	framecat --crop 160,160,300,120 "$eye"/phase_*.png -o part%02d.nrrd
	fails 1 'no table undoes them' fringegamma -n 12 -p 60 --lut lut.txt part*.nrrd
	[ ! -e lut.txt ]
}

# Harmonics of one period and one camera, in the phase of another period, and of the other camera; eight steps are the
# truth, which cancel harmonics up to the sixth.
@test "fringegamma: harmonics of a real set correct another period and another camera" {
	need_data dtu_angel_2freq_rectified
	angel=$data/dtu_angel_2freq_rectified
	fringegamma -n 8 -p 1280/40 --sign -1 --min-swing 20 "$angel"/left/f40_?.png --harmonics angel.txt -o report.txt
	phasewrap -q -n 8 -p 1280/41 --min-amplitude 8 "$angel"/right/f41_?.png -o eight.nrrd
	phasewrap -q -n 4 -p 1280/41 --min-amplitude 8 "$angel"/right/f41_{0,2,4,6}.png -o before.nrrd
	phasewrap -q -n 4 -p 1280/41 --min-amplitude 8 --harmonics angel.txt "$angel"/right/f41_{0,2,4,6}.png -o after.nrrd
	py "$tools"'
true = read_frame("eight.nrrd")["phase"].astype(float)
wave, rms = [], []
for name in "before", "after":
	e = np.angle(np.exp(1j * (read_frame(name + ".nrrd")["phase"] - true)))
	ok = ~np.isnan(e)
	wave.append(2 * np.abs(np.mean(e[ok] * np.exp(-4j * true[ok]))))
	rms.append(e[ok].std())
print("four waves a fringe", *wave, "rms", *rms)
expect(20 * wave[1] < wave[0] and 2.5 * rms[1] < rms[0], wave, rms)'
}

@test "fringegamma: flicker and shift errors are found, and do not disturb the harmonics" {
	py "$tools"'
y, x = np.mgrid[0:90, 0:130]
r = np.random.default_rng(2)
g, e = r.normal(0, 0.02, 9), r.normal(0, 0.02, 9)
h = harmonics(2.2)
images = []
for n in range(9):
	p = 2 * np.pi * (x / 23 + y / 91 + n / 9) + e[n]
	images.append(Frame(((1 + g[n]) * (110 + 60 * sum(h[k] * np.cos(k * p) for k in range(1, 12)))).astype("f4")))
write_frames("in.nrrd", images)
np.savetxt("errors.txt", [g - g.mean(), e - e.mean()])'
	fringegamma "${of_sim[@]}" -n 9 -p 40 --json --harmonics h.txt in.nrrd -o report.json
	py "$tools"'
g, e = np.loadtxt("errors.txt")
s, h, want = report()[0], table("h.txt"), harmonics(2.2)
# what a gain and a shift that go once round with the steps do alike cannot be told
basis = np.stack([f(2 * np.pi * np.arange(9) / 9) for f in (np.cos, np.sin)], 1) / np.sqrt(4.5)
def rest(v): return v - basis @ (basis.T @ v)
far = rest(np.array(s["gain"]) - g), rest(np.array(s["shift"]) - e)
print(far, [h[k][0] - want[k] for k in h])
expect(max(np.abs(f).max() for f in far) < 1.5e-3, far)
expect(max(abs(h[k][0] - want[k]) for k in h) < 3e-3, h)'
}

@test "fringegamma --vary: harmonics that are planes over the picture; phasewrap takes them, and light that differs" {
	py "$tools"'
y, x = np.mgrid[0:120, 0:160]
X, Y = x - 79.5, y - 59.5
phi = 2 * np.pi * (x / 9.3 + y / 41) + 0.3
planes = {2: (0.02, 0, 0, 0, 0, 0), 5: (0.03, 0.01, 2e-4, -1e-4, 0, 1e-4), 7: (0, -0.02, 0, 1e-4, 1e-4, 0)}
light = 1 + 0.03 * np.array([1, -1, 0.5, 0, 0, 0.5, -1, 1, -1, 0, 0, 0])
def images(n, gain):
	for i in range(n):
		p = phi + 2 * np.pi * i / n
		v = np.cos(p)
		for k, (c, s, cx, sx, cy, sy) in planes.items():
			v = v + (c + cx * X + cy * Y) * np.cos(k * p) + (s + sx * X + sy * Y) * np.sin(k * p)
		yield Frame((gain[i] * (110 + 60 * v)).astype("f4"))
write_frames("in.nrrd", list(images(12, light)))
write_frames("four.nrrd", list(images(4, light)))
write_frames("six.nrrd", list(images(6, np.ones(6))))
write_frames("truth.nrrd", Frame(np.angle(np.exp(1j * phi)).astype("f4"), ["absphase"]))
np.savetxt("planes.txt", [(k, *v) for k, v in planes.items()])
np.savetxt("light.txt", light)'
	fringegamma -n 12 -p 40 --highest 8 --vary --harmonics h.txt in.nrrd -o report.txt
	fringegamma -n 12 -p 40 --highest 8 --harmonics flat.txt in.nrrd >/dev/null
	phasewrap -n 6 -p 40 --harmonics h.txt six.nrrd -o six.out.nrrd
	phasewrap -n 6 -p 40 --harmonics flat.txt six.nrrd -o six.flat.nrrd
	phasewrap -n 4 -p 40 --harmonics h.txt --light 1.03,0.97,1.015,1 four.nrrd -o four.out.nrrd
	phasewrap -n 4 -p 40 --harmonics h.txt four.nrrd -o four.dark.nrrd
	py "$tools"'
rows = [l.split() for l in open("h.txt") if l[0] != "#"]
expect(rows[0][5:] == "cosine_x sine_x cosine_y sine_y".split(), rows[0])
want = {int(r[0]): r[1:] for r in np.loadtxt("planes.txt")}
for r in rows[1:]:
	off = np.array(r[3:], float) - want.get(int(r[2]), np.zeros(6))
	print(r[2], off)
	expect(np.abs(off[:2]).max() < 1e-4 and np.abs(off[2:]).max() < 1e-7, r, off)
words = [l for l in open("report.txt") if l.startswith("options for these images")][0].split()
found, light = np.array(words[words.index("--light") + 1].split(","), float), np.loadtxt("light.txt")
expect(np.abs(found - light).max() < 2e-3, found, light)
# six steps see harmonics 5 and 7 alone; four their light and 5 and 7, too
left = {n: error(n + ".nrrd") for n in ("six.out", "six.flat", "four.out", "four.dark")}
print(left)
expect(left["six.out"] < 1e-3 and left["six.flat"] > 8e-3 and left["four.out"] < 1.5e-3 and left["four.dark"] > 0.02, left)'
	# the correction stretches noise as it stretches the phase: that of images which are a little farther on
	py 'f = read_frames("six.nrrd")
a = read_frame("six.out.nrrd")["phase"]
write_frames("noisy.nrrd", [Frame(np.concatenate([f[i].pixels] * 40) + np.random.default_rng(i).normal(0, 1, (40, 120, 160)).astype("f4"),
	["image%d" % k for k in range(1, 41)]) for i in range(6)])'
	for k in 0 1; do
		py 'write_frames("one.nrrd", [Frame(f.pixels[int(sys.argv[1])]) for f in read_frames("noisy.nrrd")])' $k
		phasewrap -n 6 -p 40 --harmonics h.txt --sigma --read-noise 1 --quantum 0 one.nrrd -o noisy$k.nrrd
	done
	py 'z = [(np.angle(np.exp(1j * (f["phase"].astype(float) - read_frame("six.out.nrrd")["phase"]))) / f["sigma"]) for f in
	(read_frame("noisy%d.nrrd" % k) for k in (0, 1))]
expect(abs(np.std(z) - 1) < 0.015, np.std(z))'
}

@test "fringegamma --vary, phasewrap --light: what is refused, and saturated samples" {
	fringesim -s 96x72 -p 16 -n 7 --gamma 2.2 --noise 1 -o in.nrrd
	fringesim -s 96x72 -p 16,18 -n 4 -o four.nrrd
	fails 2 "is for the table of --harmonics" fringegamma --vary in.nrrd
	fails 1 "needs 7 steps or more, these are 4" fringegamma --vary --harmonics h.txt four.nrrd
	fails 2 "flats show no change over the picture" fringegamma --levels 1,2,3,4 --vary --harmonics h.txt in.nrrd
	fringegamma --vary --harmonics h.txt in.nrrd >/dev/null
	framecat --crop 0,0,90,72 in.nrrd -o crop.nrrd
	framecat --delete role,period_px,axis in.nrrd -o bare.nrrd
	fails 1 "change over the picture, of 96 x 72 pixels, and these images have 90 x 72" phasewrap --harmonics h.txt crop.nrrd -o o.nrrd
	fails 1 "which --as vector does not do" phasewrap --as vector --harmonics h.txt in.nrrd -o o.nrrd
	sed 's/ [^ ]*$//' h.txt >short.txt
	fails 1 "is no table of harmonics" phasewrap --harmonics short.txt in.nrrd -o o.nrrd
	sed '/^x.* 3 /s/ [^ ]*$//' h.txt >short.txt
	fails 1 "has not the nine columns" phasewrap --harmonics short.txt in.nrrd -o o.nrrd
	sed '/^x.* 3 /s/ [^ ]*$/ 3/' h.txt >steep.txt
	fails 1 "slopes must be from -1 to 1 a pixel, not 3" phasewrap --harmonics steep.txt in.nrrd -o o.nrrd
	sed /size_px/d h.txt >nowhere.txt
	fails 1 "no line '# size_px:=WIDTH HEIGHT' says over what picture" phasewrap --harmonics nowhere.txt in.nrrd -o o.nrrd
	# one line, though the slopes are of the same fringes as what they change
	fails 0 "the harmonics of a period of 16 px are taken for" phasewrap -p 20 -a x --harmonics h.txt bare.nrrd -o o.nrrd
	fails 1 "3 values for 4 images of each period" phasewrap --light 1,1,1 four.nrrd -o o.nrrd
	fails 2 "must be 0.5 to 2" phasewrap --light 0,1,1,1 four.nrrd -o o.nrrd
	fails 2 "--light: unknown" fourierphase --light 1 four.nrrd -o o.nrrd
	fails 2 "is for --kind step" phasewrap -k 2+1 --light 1,1,1 four.nrrd -o o.nrrd
	fails 2 "does not correct phases by --shift auto" phasewrap --shift auto --light 1,1,1,1 four.nrrd -o o.nrrd
	fringesim -s 96x72 -p 20 -k 2+1 -o two.nrrd
	fails 1 "these are 2+1 images" phasewrap --light 1,1,1 two.nrrd -o o.nrrd
	# even light changes no bit; what a period has may be said once or for each; saturated stays saturated
	py 'f = read_frames("four.nrrd")
for g in f:
	g.pixels = g.pixels.copy()
	g.pixels[:, 20:30, 40:60] = 255
write_frames("clipped.nrrd", f)'
	phasewrap --sigma --fit-residual clipped.nrrd -o plain.nrrd
	for light in 1,1,1,1 1,1,1,1,1,1,1,1; do
		phasewrap --sigma --fit-residual --light $light clipped.nrrd -o even.nrrd
		framecmp plain.nrrd even.nrrd
	done
	phasewrap --light 1.02,0.98,1,1 clipped.nrrd -o light.nrrd
	py 'a, b = read_frame("plain.nrrd")["phase1"], read_frame("light.nrrd")["phase1"]
expect(np.array_equal(np.isnan(a), np.isnan(b)) and np.isnan(a).sum() == 200)
expect(0.005 < np.nanmax(np.abs(np.angle(np.exp(1j * (a - b))))) < 0.1)'
}

@test "fringegamma: two periods along x and y, a chain, a manifest, any number of threads" {
	fringesim -s 64x50 -p 40,31 -a both -n 7 -b float --gamma 2.2 --defocus 3 --noise 1 -o in.nrrd
	fringegamma -j 1 "${of_sim[@]}" --harmonics h1.txt in.nrrd -o r1.txt
	fringegamma -j 3 "${of_sim[@]}" --harmonics h2.txt in.nrrd -o r2.txt
	cmp h1.txt h2.txt
	cmp r1.txt r2.txt
	[ "$(grep -c '^[xy] ' h1.txt)" = "$(grep -cE '^(x 40|x 31|y 40|y 31) [0-9]+ ' h1.txt)" ]
	phasewrap --harmonics h1.txt in.nrrd -o after.nrrd
	fringepipe fringesim -s 64x50 -p 40,31 -a both -n 7 -b float --gamma 2.2 --defocus 3 --noise 1 , \
		fringegamma "${of_sim[@]}" --harmonics h3.txt >/dev/null
	cmp h1.txt h3.txt
	fringesim -s 120x90 -p 40 -n 7 --gamma 2.2 --ambient 5 -g half -m set/list.txt -o set/
	fringegamma "${of_sim[@]}" set/*.png -o r1.txt
	fringegamma "${of_sim[@]}" -m set/list.txt -o r2.txt
	cmp r1.txt r2.txt
}

@test "phasewrap --harmonics: one correction only, and of the patterns that were measured" {
	fringesim -s 64x48 -p 20 -n 12 -b float --gamma 2.2 | fringegamma "${of_sim[@]}" --harmonics h.txt --lut lut.txt -o r.txt
	fringesim -s 64x48 -p 20 -n 12 -b float --gamma 2.2 --lut lut.txt -o in.nrrd
	fails 1 'were projected through lut.txt, those that h.txt was measured from without' phasewrap --harmonics h.txt in.nrrd -o out.nrrd
	fails 1 'compensated already (lut.txt)' fringegamma --lut again.txt in.nrrd
	# what is left behind the table may be measured and corrected
	fringegamma --harmonics rest.txt in.nrrd -o r.txt
	has '^# compensation:=lut.txt' <rest.txt
	phasewrap --harmonics rest.txt in.nrrd -o out.nrrd
	fringesim -s 64x48 -p 20 -n 12 -b float --gamma 2.2 -o plain.nrrd
	fails 1 'projected without compensation, those that rest.txt was measured from through lut.txt' \
		phasewrap --harmonics rest.txt plain.nrrd -o out.nrrd
	py 'f = read_frames("plain.nrrd")
for g in f: g.meta["phase_correction"] = "other.txt"
write_frames("twice.nrrd", f)'
	fails 1 'is corrected already, by other.txt' phasewrap --harmonics h.txt twice.nrrd -o out.nrrd
	fails 1 'corrected already' fringegamma twice.nrrd
}

@test "phasewrap --harmonics: files that are none, and sets that it does not serve" {
	fringesim -s 32x24 -p 20 -n 3 -b float -o in.nrrd
	head='axis period_px harmonic cosine sine\n'
	bad() {
		# shellcheck disable=SC2059
		printf "$2" >h.txt
		fails 1 "$1" phasewrap --harmonics h.txt in.nrrd -o out.nrrd
	}
	bad 'has no harmonics' ''
	bad 'has no harmonics' "$head"
	bad 'is no table of harmonics' '2 0.1 0\n'
	bad 'line 2 has not the five columns' "${head}- - 2 0.1\n"
	bad 'line 2 has not the five columns' "${head}- - 2 0.1 0 0\n"
	bad 'axis must be x, y or -' "${head}z - 2 0.1 0\n"
	bad 'period_px must be positive' "${head}x -3 2 0.1 0\n"
	bad 'harmonic must be 2 to 1000' "${head}x 20 1 0.1 0\n"
	bad 'shares of the fundamental' "${head}x 20 2 nan 0\n"
	bad 'shares of the fundamental' "${head}x 20 2 0 inf\n"
	bad 'twice' "${head}x 20 2 0.1 0\nx 20 2 0.1 0\n"
	bad 'so large that 3 steps' "${head}x 20 2 0.9 0\n"
	fails 1 'cannot be opened' phasewrap --harmonics absent.txt in.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
	# shellcheck disable=SC2059
	printf "${head}x 40 2 0.1 0\n" >h.txt
	run --separate-stderr phasewrap --harmonics h.txt in.nrrd -o out.nrrd
	[ "$status" = 0 ]
	has 'the harmonics of a period of 40 px are taken for the period 20 px' <<<"$stderr"
	# shellcheck disable=SC2059
	printf "${head}x 20 2 0.1 0\nx 30 2 0.1 0\n" >h.txt
	py 'write_frames("bare.nrrd", [Frame(f.pixels) for f in read_frames("in.nrrd")])'
	fails 1 'give --period' phasewrap -n 3 --harmonics h.txt bare.nrrd -o out.nrrd
	fringesim -s 32x24 -p 20 -k 2+1 -o two.nrrd
	fails 1 'the flat one of 2+1 is none' phasewrap --harmonics h.txt two.nrrd -o out.nrrd
	fringegen -k gray -s 64x8 -o gray.nrrd
	fringegen -k gray -s 64x8 --inverse -o gray.nrrd
	fails 1 'there are no fringes to correct' phasewrap --harmonics h.txt -k gray gray.nrrd -o out.nrrd
}

@test "fringegamma: images that do not serve get one line each" {
	fringesim -s 96x72 -p 40 -n 12 --gamma 2.2 --ambient 10 --noise 1 -o in.nrrd
	numbered in.nrrd
	of() {
		images=()
		for i; do images+=("image_$i.png"); done
	}
	of 00 01 02 04 03 05 06 07 08 09 10 11
	fails 1 'image 4 is 30 degrees off its step' fringegamma -n 12 -p 40 "${images[@]}" --harmonics h.txt
	of 00 01 02 07 04 05 06 03 08 09 10 11
	fails 1 'does not settle: images are exchanged' fringegamma -n 12 -p 40 "${images[@]}"
	of 00 01 02 03 05 06 07 08 09 10 11
	fails 1 'off its step' fringegamma -n 11 -p 40 "${images[@]}"
	of 00 00 02 03 04 05 06 07 08 09 10 11
	fails 1 'off its step' fringegamma -n 12 -p 40 "${images[@]}"
	of 00 06 03 09
	fails 1 'or are exchanged' fringegamma -n 4 -p 40 "${images[@]}"
	[ ! -e h.txt ]
	fails 1 'which tell harmonics up to 10' fringegamma --highest 11 in.nrrd
	of 00 04 08
	fails 1 'at least 4 are needed' fringegamma --highest 2 -n 3 -p 40 "${images[@]}"
	fails 1 'takes one measurement' fringegamma -n 12 -p 40 image_*.png image_*.png
	fringesim -s 96x72 -p 40 -n 7 --gamma 2.2 --exposure 2.5 -o bad.nrrd
	fails 1 'are saturated at 255, image' fringegamma bad.nrrd
	for n in 3 7; do
		fringesim -s 96x72 -p 40 -n $n --amplitude 0 --noise 2 -o bad.nrrd
		fails 1 "no fringes of $n steps" fringegamma bad.nrrd
	done
	fringesim -s 96x72 -p 40 -n 7 --amplitude 0 -o bad.nrrd
	fails 1 '0 of 6912 pixels change' fringegamma bad.nrrd
	fringesim -s 30x120 -p 400 -n 7 --scene plane -o bad.nrrd
	fails 1 'parts of the circle out' fringegamma bad.nrrd
	fringesim -s 64x48 -p 20 -k 2+1 -o bad.nrrd
	fails 1 'show no harmonics: take steps' fringegamma bad.nrrd
	fringegen -k gray -s 64x8 -o bad.nrrd
	fails 1 'there are no fringe images' fringegamma bad.nrrd
	py 'f = read_frames("in.nrrd")
f = [Frame(g.pixels.astype("f4"), meta=g.meta) for g in f]
for g in f: g.pixels[:, 20:60, 30:90] = np.nan
f[3].pixels[0, 0, 0] = np.inf
write_frames("holes.nrrd", f)'
	fringegamma "${of_sim[@]}" holes.nrrd -o report.txt
	has '^pixels: 4511 of 6912 took part' <report.txt
	fails 1 'is empty' fringegamma </dev/null
	fails 2 'wants a file' fringegamma --lut - in.nrrd
	fails 2 'is the file that -o writes' fringegamma --harmonics ./a -o a in.nrrd
	fails 2 'is the file that --lut writes' fringegamma --harmonics ./a --lut a in.nrrd
	fails 2 'is not within 0 to 1' fringegamma --mean 0.2 --amplitude 0.3 in.nrrd
	py 'for i, v in enumerate([10, 30, 20, 60]): write_frames("flat%d.nrrd" % i, Frame(np.full((20, 20), v, "u1")))'
	fails 1 'do not rise: level 50 gives 30.00, level 100 gives 20.00' fringegamma --levels 0,50,100,150 flat?.nrrd
	fails 1 '--levels: has 50 twice' fringegamma --levels 0,50,100,50 flat0.nrrd flat1.nrrd flat3.nrrd flat2.nrrd
	fails 2 'needs 4 levels' fringegamma --levels 0,50,100 flat?.nrrd
	fails 2 '300 is above full scale' fringegamma --levels 0,50,100,300 flat?.nrrd
	fails 2 'says that the images are flat' fringegamma -n 4 --levels 0,50,100,150 flat?.nrrd
	fails 1 'the flats do not reach from' fringegamma --levels 0,50,25,150 --harmonics h.txt flat0.nrrd flat1.nrrd flat2.nrrd flat3.nrrd
	fringegamma --levels 0,51,25.5,153 flat0.nrrd flat1.nrrd flat2.nrrd flat3.nrrd -o of255.txt
	fringegamma --full 1 --levels 0,0.2,0.1,0.6 flat0.nrrd flat1.nrrd flat2.nrrd flat3.nrrd | cmp - of255.txt
}
