load helpers

# The scenes again, in NumPy: heights z over (x, y) in mm from the centre of a field w wide and l long.
scenes='
BUMPS = [(0, 0, .36, .375, .62, 0), (0, -.16, .26, .17, .10, 0), (.09, -.085, .11, .04, .035, 1),
	(.105, -.045, .085, .055, -.075, 1), (.105, -.045, .05, .03, .035, 1), (0, .005, .06, .13, .13, 0),
	(0, .07, .065, .06, .15, 0), (.045, .085, .04, .035, .045, 1), (.15, .05, .12, .12, .06, 1),
	(0, .148, .09, .024, .04, 0), (0, .184, .075, .026, .042, 0), (0, .262, .11, .07, .11, 0)]
def bump(x, y, cx, cy, rx, ry, rise):
	return rise * np.maximum(0, 1 - ((x - cx) / rx)**2 - ((y - cy) / ry)**2)**3
def scene(kind, x, y, w, l):
	if kind == "plane":
		return 0 * x
	if kind == "tilt":
		return .2 * w * (.5 + .5 * (x / w + y / l))
	if kind == "steps":
		return .2 * w * np.clip(np.floor((x / w + .5) * 5), 0, 4) / 4
	if kind == "sphere":
		return np.sqrt(np.maximum(0, (.3 * w)**2 - x**2 - y**2))
	x, y = x / w, y / w
	return .4 * w * 1.274 * sum(bump(x, y, *b[:5]) + (bump(-x, y, *b[:5]) if b[5] else 0) for b in BUMPS)
def pixels(w, h, mm):
	y, x = np.mgrid[:h, :w].astype(float)
	return x, y, (x - (w - 1) / 2) * mm, (y - (h - 1) / 2) * mm
def near(a, b, *what, ulps=.51, slack=0):
	good = np.abs(a.astype(float) - b) <= ulps * ulp(b) + slack
	expect(good, *what, np.abs(a - b).max(), a[~good][:3], np.broadcast_to(b, a.shape)[~good][:3])
'

# A camera and a projector with lenses, as JSON, and the same in NumPy.
rigs='
import json
def turn(x, y, z):
	c, s = np.cos([x, y, z]), np.sin([x, y, z])
	return (np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]]) @
		np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]]) @
		np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]]))
CAMERA = [[375, 0, 82.], [0, 372, 59], [0, 0, 1]], [-.1, .05, .001, -.0005, .01]
PROJECTOR = [[2200, 0, 950.], [0, 2210, 600], [0, 0, 1]], [.08, -.03, -.0008, .0006, 0]
R, T = turn(.02, -.3, .01), np.array([150., 5, 20])
def write_calib(path):
	json.dump({"cameraMatrix1": CAMERA[0], "distCoeffs1": CAMERA[1], "cameraMatrix2": PROJECTOR[0],
		"distCoeffs2": PROJECTOR[1], "R": R.tolist(), "T": T.tolist(), "image_size": [160, 120],
		"projector_size": [1920, 1080]}, open(path, "w"))
def project(device, X):
	K, (k1, k2, p1, p2, k3) = np.array(device[0]), device[1]
	x, y = X[0] / X[2], X[1] / X[2]
	r = x * x + y * y
	c = 1 + r * (k1 + r * (k2 + r * k3))
	return (K[0, 0] * (x * c + 2 * p1 * x * y + p2 * (r + 2 * x * x)) + K[0, 2],
		K[1, 1] * (y * c + p1 * (r + 2 * y * y) + 2 * p2 * x * y) + K[1, 2])
def in_projector(X):
	return project(PROJECTOR, np.tensordot(R, X, 1) + T[:, None, None])
'

@test "fringesim: every scene's truth and float captures are the closed form, at awkward sizes" {
	for scene in plane tilt steps sphere relief; do
		for size in 1x1 5x7 127x1 128x64 129x65; do
			fringesim --scene $scene -s $size -b float -p 60,66 --truth t$scene$size.nrrd -o c$scene$size.nrrd
		done
	done
	py "$scenes"'
def check(kind, size):
	w, h = map(int, size.split("x"))
	x, y, X, Y = pixels(w, h, 100 / w)
	z = scene(kind, X, Y, 100, 100 * h / w)
	t, c = read_frame("t" + kind + size + ".nrrd"), read_frames("c" + kind + size + ".nrrd")
	u = x + z / 5 * 60 / (2 * np.pi)
	lit = (u >= -.5) & (u < 1919.5)
	expect(t.names == ["absphase", "depth", "x", "y", "z", "mask"])
	expect((t["mask"] == lit).all() and lit.any(), kind, size)
	for name, wanted in [("absphase", 2 * np.pi * u / 60), ("depth", z), ("z", z),
		("x", x * 100 / w), ("y", y * 100 / w)]:
		near(t[name], wanted, kind, size, name, slack=1e-14)
	expect(len(c) == 6, len(c))
	for i, f in enumerate(c):
		phase = 2 * np.pi * u / [60, 66][i // 3] + 2 * np.pi * (i % 3 - 1) / 3
		near(f["image"], 127 + 100 * np.cos(phase), kind, size, i, slack=2e-12)
for kind in ["plane", "tilt", "steps", "sphere", "relief"]:
	for size in ["1x1", "5x7", "127x1", "128x64", "129x65"]:
		check(kind, size)'
}

@test "fringesim: the heights, radii and fields that are asked for" {
	fringesim -s 60x40 --pixel 0.5 --scene sphere --radius 12 --height 4 --truth t.nrrd >c.nrrd
	fringesim -s 60x40 --field 30 --scene sphere --radius 12 --height 4 >same.nrrd
	cmp <(tail -c 2400 c.nrrd) <(tail -c 2400 same.nrrd)
	fringesim -s 60x40 --pixel 0.5 --field 15 --scene tilt --height -3 --truth tilt.nrrd >/dev/null
	py "$scenes"'
x, y, X, Y = pixels(60, 40, .5)
near(read_frame("t.nrrd")["z"], np.maximum(0, np.sqrt(144 - np.minimum(144, X**2 + Y**2)) - 8), slack=1e-14)
t = read_frame("tilt.nrrd")
lit = t["mask"] > 0
near(t["z"][lit], (-3 * (.5 + .5 * (X / 15 + Y / 10)))[lit], slack=1e-14)
expect(lit.mean() > .9, lit.mean())'
}

@test "fringesim: reference plane, c, and what lies outside the projector" {
	fringesim -s 90x50 --scene plane --height 3 -p 20 -c -2 --ref-plane 1.5,-0.2,0.03 -b float --ambient 5 \
		--projector 100x30 --truth t.nrrd -o c.nrrd
	py "$scenes"'
x, y, X, Y = pixels(90, 50, 1)
phase = 1.5 - .2 * x + .03 * y - 3 / 2
u = phase * 20 / (2 * np.pi)
lit = (u >= -.5) & (u < 99.5)
t, c = read_frame("t.nrrd"), read_frames("c.nrrd")
expect(0 < lit.mean() < 1 and (t["mask"] == lit).all())
near(t["absphase"][lit], phase[lit], slack=1e-14)
for name in t.names[:5]:
	expect(np.isnan(t[name]) == ~lit, name)
expect(c[0]["image"][~lit] == 5)
near(c[1]["image"][lit], 132 + 100 * np.cos(phase[lit]), slack=1e-12)
m = c[0].meta
expect(m["ref_plane_rad"] == "1.5 -0.2 0.03" and m["c_mm_per_rad"] == "-2" and m["projector_px"] == "100 30", m)'
}

@test "fringesim: fringes along y, and along both" {
	fringesim -s 30x50 --axis y --scene tilt -b float --truth ty.nrrd -o y.nrrd
	fringesim -s 30x50 --axis both --gray period --scene tilt -b float --truth tb.nrrd -o b.nrrd
	py "$scenes"'
x, y, X, Y = pixels(30, 50, 100 / 30)
z = scene("tilt", X, Y, 100, 500 / 3)
v = y + z / 5 * 60 / (2 * np.pi)
t = read_frame("ty.nrrd")
near(t["absphase"], 2 * np.pi * v / 60, slack=1e-14)
expect(t.meta["axis"] == "y" and t.meta["period_px"] == "60")
b, c = read_frames("b.nrrd"), read_frames("y.nrrd")
axes = [f.meta["axis"] for f in b]
expect(axes == ["x"] * 3 + ["y"] * 3 + ["x"] * 5 + ["y"] * 5, axes)
for n in range(3):
	expect(b[3 + n].pixels == c[n].pixels)
near(read_frame("tb.nrrd")["absphase"], 2 * np.pi * (x + v - y) / 60, slack=1e-14)'
}

@test "fringesim: metadata says what each image is, in the order of a measurement" {
	fringesim -s 9x9 -p 60,66 -n 4 --gray half --inverse --flats -o c.nrrd
	fringesim -s 9x9 --kind 2+1 -b 12 -o d.nrrd
	fringesim -s 9x9 --shift 0,90,200,280 -o e.nrrd
	py '
c, d, e = (read_frames(f + ".nrrd") for f in "cde")
def key(frames, name):
	return [f.meta.get(name) for f in frames]
expect(key(c, "role") == ["phase"] * 8 + ["gray"] * 6 + ["gray_inverse"] * 6 + ["white", "black"], key(c, "role"))
expect(key(c, "period_px")[:8] == ["60"] * 4 + ["66"] * 4 and key(c, "step")[:8] == list("01230123"))
expect(np.allclose([float(s) for s in key(c, "shift_rad")[:4]], np.arange(4) * np.pi / 2, atol=1e-15))
expect(key(c, "bit") == ["-"] * 8 + list("543210543210") + ["-"] * 2, key(c, "bit"))
expect(set(key(c, "set_images")) == {"22"} and set(key(c, "gray_cell")) == {"half"} and set(key(c, "steps")) == {"4"})
expect(len(set(key(c, "name"))) == 22 and set(key(c, "projector_px")) == {"1920 1080"})
expect(set(key(c, "cmd.1")) == {"fringesim --size=9x9 --period=60,66 --steps=4 --gray=half --inverse --flats"}, c[0].meta)
expect(not any("bits" in f.meta for f in c + d + e))
expect(key(d, "role") == ["sin", "cos", "flat"] and set(key(d, "max_value")) == {"4095"}, d[0].meta)
expect(np.allclose([float(s) for s in key(e, "shift_rad")], np.deg2rad([0, 90, 200, 280])))'
}

@test "fringesim: 2+1, Gray planes and flats have the right levels" {
	fringesim -s 300x3 --scene plane --kind 2+1 -p 40 --projector 300x200 -b float --flats -o s.nrrd
	for cell in column period half; do
		fringesim -s 300x3 --scene plane -p 40 --projector 300x200 --gray $cell --inverse -o $cell.nrrd
	done
	py "$scenes"'
u = np.arange(300)
f = [g["image"][1] for g in read_frames("s.nrrd")]
near(f[0], 127 + 100 * np.sin(2 * np.pi * u / 40), slack=2e-12)
near(f[1], 127 + 100 * np.cos(2 * np.pi * u / 40), slack=2e-12)
for i, level in [(2, 127), (3, 227), (4, 27)]:
	expect(f[i] == level, i, f[i])
for cell, size, planes in [("column", 1, 9), ("period", 40, 3), ("half", 20, 4)]:
	g = [g["image"][1] for g in read_frames(cell + ".nrrd")][3:]
	expect(len(g) == 2 * planes, cell, len(g))
	v = u // size
	for i in range(planes):
		bit = (v ^ (v >> 1)) >> (planes - 1 - i) & 1
		expect(g[i] == 27 + 200 * bit, cell, i)
		expect(g[planes + i] == 227 - 200 * bit, cell, i)'
}

@test "fringesim: 8, 12 and 16 bits are the float captures rounded, and clip" {
	fringesim -s 80x20 -b float --albedo noise -o f.nrrd
	fringesim -s 80x20 -b 8 --albedo noise -o 8.nrrd
	fringesim -s 80x20 -b float --exposure 1.4 --ambient 3 -o hot.nrrd
	fringesim -s 80x20 -b 8 --exposure 1.4 --ambient 3 -o clipped.nrrd
	for bits in 12 16; do fringesim -s 80x20 -b $bits --albedo noise -o $bits.nrrd; done
	py '
f, hot = read_frames("f.nrrd"), read_frames("hot.nrrd")
for n in range(3):
	for bits, full, dtype in [("8", 255, "u1"), ("12", 4095, "u2"), ("16", 65535, "u2")]:
		p = read_frames(bits + ".nrrd")[n].pixels
		wanted = np.floor(f[n].pixels.astype(float) * full / 255 + .5)
		expect(p.dtype == dtype and np.abs(p - wanted).max() <= (bits == "16"), bits)
		expect((p == wanted).mean() > .9992)		# .99937: halves of the 16-bit ones
	clipped = read_frames("clipped.nrrd")[n].pixels
	expect(hot[n].pixels.max() > 300, hot[n].pixels.max())
	expect(clipped == np.minimum(255, np.floor(hot[n].pixels.astype(float) + .5)))
	expect("max_value" not in read_frames("16.nrrd")[n].meta)'
}

@test "fringesim: ambient light, mean, amplitude, albedo" {
	py 'write_frames("paint.nrrd", Frame(np.arange(120, dtype="u1").reshape(8, 15) * 2))'
	fringesim -s 15x8 --scene plane -b float --ambient 11 --mean 60 --amplitude 50 --albedo paint.nrrd -o p.nrrd
	fringesim -s 200x40 --scene plane -b float --albedo checker -o c.nrrd
	fringesim -s 200x40 --scene plane -b float --albedo noise --flats -o n.nrrd
	fringesim -s 200x40 --scene plane -b float --albedo noise --flats --seed 1 -o n1.nrrd
	py "$scenes"'
share = np.arange(120).reshape(8, 15) * 2 / 255
wave = np.cos(2 * np.pi * np.arange(15) / 60)
near(read_frames("p.nrrd")[1]["image"], np.float32(share) * (71 + 50 * wave), ulps=2)
x, y, X, Y = pixels(200, 40, .5)
square = np.where((np.floor(X / 5) + np.floor(Y / 5)) % 2 == 0, 1, .4)
near(read_frames("c.nrrd")[1]["image"], square * (127 + 100 * np.cos(2 * np.pi * x / 60)), slack=2e-12)
n = read_frames("n.nrrd")[3]["image"] / 227.
expect(n.min() >= .3 and n.max() <= 1 and n.std() > .05 and np.abs(np.diff(n)).max() < .3, n.std())
expect(np.abs(n - read_frames("n1.nrrd")[3]["image"] / 227.).max() > .1)'
}

@test "fringesim: noise has the sigma that is asked for, is white, and never the same" {
	plane="--scene plane -s 256x200 -b float --amplitude 0 --mean 100"
	fringesim $plane --noise 3 --frames 2 -o a.nrrd
	fringesim $plane --noise 3 --seed 1 -o b.nrrd
	fringesim $plane --noise 3 --seed 1 -o again.nrrd
	fringesim $plane --shot 0.5 --noise 2 -o s.nrrd
	fringesim --scene plane -s 256x200 --amplitude 0 --mean 100 --noise 3 -o u8.nrrd
	cmp b.nrrd again.nrrd
	py '
a = [f["image"] - 100. for f in read_frames("a.nrrd") + read_frames("b.nrrd")]
n = a[0].size
for e in a:
	# three standard errors, here and below
	expect(abs(e.mean()) < 3 * 3 / n**.5 and abs(e.std() / 3 - 1) < 3 / (2 * n)**.5, e.mean(), e.std())
	expect(abs((e**4).mean() / 81 - 3) < 3 * (96 / n)**.5 and np.abs(e).max() < 18, (e**4).mean() / 81)
	for dy, dx in [(0, 1), (1, 0), (1, 1), (0, 2), (3, 5)]:
		r = (e[dy:, dx:] * e[:200 - dy, :256 - dx]).mean() / 9
		expect(abs(r) < 3 / n**.5, dy, dx, r)
for i in range(len(a)):
	for j in range(i):
		expect(abs((a[i] * a[j]).mean() / 9) < 4.5 / n**.5, i, j)	# 36 of them, one at 4.03; 2556 pairs of 72 images have a deviation of 1.01
s = read_frames("s.nrrd")[0]["image"] - 100.
expect(abs(s.var() / (4 + .5 * 100) - 1) < 3 * (2 / n)**.5, s.var())
u = read_frames("u8.nrrd")[0]["image"] - 100.
expect(abs(u.var() / (9 + 1 / 12) - 1) < 3 * (2 / n)**.5, u.var())'
}

@test "fringesim: the variance of shot noise is its gain times the signal" {
	rig=(-s 400x300 --scene plane --bits float --mean 100 --amplitude 80 -p 60)
	fringesim "${rig[@]}" -o clean.nrrd
	fringesim "${rig[@]}" --shot 0.5 -o shot.nrrd
	py '
a, b = [np.stack([f.pixels[0] for f in read_frames(n)]).astype(float) for n in ("clean.nrrd", "shot.nrrd")]
for low, high in (20, 40), (90, 110), (160, 180):
	here = (a >= low) & (a <= high)
	ratio = (b - a)[here].var() / (0.5 * a[here].mean())
	expect(abs(ratio - 1) < 3 * (2 / here.sum())**.5, low, ratio)		# three standard errors: 1.1 and 1.6 %'
}

@test "fringesim: gamma" {
	fringesim -s 90x2 --scene plane -b float --gamma 2.2 --flats --gray half -o g.nrrd
	py "$scenes"'
g = [f["image"] for f in read_frames("g.nrrd")]
def out(v):
	return 255 * (v / 255.)**2.2
for n in range(3):
	near(g[n][0], out(127 + 100 * np.cos(2 * np.pi * np.arange(90) / 60 + 2 * np.pi * (n - 1) / 3)), slack=1e-11)
expect(np.isin(g[5], np.float32([out(27), out(227)])))
near(g[-2], out(227.)); near(g[-1], out(27.))'
}

@test "fringesim: defocus takes the amplitude that a Gaussian leaves, and blurs Gray edges truly" {
	fringesim -s 400x2 --scene plane -p 30 -b float --defocus 4 --gray half -o d.nrrd
	fringesim -s 400x2 --scene plane -p 30 -b float --defocus 3 --gamma 2.2 -o g.nrrd
	fringesim -s 300x2 --scene plane -p 30 -b float --defocus 0.01 --gray column --inverse -o sharp.nrrd
	fringesim -s 300x2 --scene plane -p 30 -b float --gray column --inverse -o none.nrrd
	py "$scenes"'
from math import erf
d = [f["image"][1] for f in read_frames("d.nrrd")]
u = np.arange(400.)
left = np.exp(-2 * np.pi**2 * 16 / 900)
near(d[1], 127 + 100 * left * np.cos(2 * np.pi * u / 30), slack=2e-12)
cell = np.arange(-200, 2000) // 15
step = np.array([.5 * erf(e / (4 * 2**.5)) for e in np.arange(-2200, 2200) + .5])
for i in range(7):
	v = np.maximum(cell, 0)
	bit = (v ^ (v >> 1)) >> (6 - i) & 1
	want = [(bit * (step[2200 + np.arange(-200, 2000) - x] - step[2199 + np.arange(-200, 2000) - x])).sum()
		for x in range(400)]
	near(d[3 + i], 27 + 200 * np.array(want), i, slack=1e-10)
# the response first, then the blur: by an FFT over one period
t = np.arange(3000) / 3000
for n in range(3):
	F = np.fft.rfft(255 * ((127 + 100 * np.cos(2 * np.pi * t + 2 * np.pi * (n - 1) / 3)) / 255)**2.2)
	F *= np.exp(-2 * np.pi**2 * np.arange(len(F))**2 * 9 / 900)
	near(read_frames("g.nrrd")[n]["image"][0], np.resize(np.fft.irfft(F)[::100], 400), n, slack=1e-9)
for a, b in zip(read_frames("sharp.nrrd")[3:], read_frames("none.nrrd")[3:]):
	expect(a.pixels == b.pixels)'
}

@test "fringesim: square and dithered patterns are what fringegen makes, blurred" {
	erf='
import math
erf = np.vectorize(math.erf)
def weights(at, n, sigma):			# of n pixels in the light at each place
	edge = np.arange(n - 1) + 0.5 - at.reshape(-1, 1)
	cut = 0.5 * (1 + erf(edge / (sigma * 2 ** 0.5))) if sigma else (edge > 0).astype(float)
	return np.diff(np.concatenate([np.zeros((at.size, 1)), cut, np.ones((at.size, 1))], 1), axis=1)'
	for axis in x y; do
		plane=5,0.003,0.2
		if [ $axis = x ]; then plane=5,0.2,0.003; fi
		for sigma in 0 3; do
			for kind in square dither; do
				fringesim -q -s 53x41 --projector 120x96 -a $axis -k $kind -n 4 -p 21 -b float --ref-plane $plane \
					--ambient 3 --mean 100 --amplitude 80 --defocus $sigma --truth truth.nrrd -o seen.nrrd
				size=120x96
				if [ "$kind" != square ] && [ $axis = x ]; then size=120x41; fi
				if [ "$kind" != square ] && [ $axis = y ]; then size=53x96; fi
				fringegen -a $axis -k $kind -n 4 -p 21 -s $size -b 1 -o shown.nrrd
				py "$erf"'
axis, sigma = sys.argv[1], float(sys.argv[2])
u = read_frame("truth.nrrd")["absphase"].astype(float) * 21 / (2 * np.pi)
ok = np.isfinite(u) & (u > 20) & (u < 75) & (np.abs(u - np.round(u)) < 0.499)
y, x = np.nonzero(ok)
for seen, shown in zip(read_frames("seen.nrrd"), read_frames("shown.nrrd")):
	bits = shown.pixels[0].astype(float)
	h, w = bits.shape
	col, row = (u[ok], y) if axis == "x" else (x, u[ok])
	share = np.einsum("ij,ik,jk->i", weights(row.astype(float), h, sigma), weights(col.astype(float), w, sigma), bits, optimize=True)
	# 6.6e-5, some units of floats; sharp ones exactly
	expect(np.abs(seen.pixels[0][ok] - (3 + 20 + 160 * share)) <= (8e-5 if sigma else 0), np.abs(seen.pixels[0][ok] - (23 + 160 * share)).max())
expect(ok.sum() > 500, ok.sum())' $axis $sigma
			done
		done
	done
	# two levels go through the projector as they are: a gamma changes the contrast alone
	fringesim -q -s 160x8 -k square -n 3 -p 24 -b float --scene plane --gamma 2.2 --defocus 5 | phasewrap -o gamma.nrrd
	fringesim -q -s 160x8 -k square -n 3 -p 24 -b float --scene plane --defocus 5 | phasewrap -o straight.nrrd
	framecmp --channels phase --max 2e-6 gamma.nrrd straight.nrrd
}

@test "fringesim: the page's table of binary patterns out of focus, and its theory" {
	while read -r kind n t sigma; do
		fringesim -q -s 400x64 -k $kind -n $n -p $t -b float --scene tilt -c 2 --height 31 --defocus $sigma \
			--truth truth.nrrd | phasewrap -q -o phase.nrrd
		py '
import re
page, kind, N, T, sigma = sys.argv[1:2] + sys.argv[2:3] + [int(v) for v in sys.argv[3:]]
d = read_frame("phase.nrrd")["phase"].astype(float) - read_frame("truth.nrrd")["absphase"]
d = np.angle(np.exp(1j * d))
rows = [re.split(" Ta ", l[4:].strip()) for l in open(page) if re.match(r"\.It (square|dither) Ta|\.It theory Ta", l)]
at = [i for i, r in enumerate(rows) if r[0] == kind and str(N) in r[1].split(", ") and r[2] == str(T)]
expect(len(at) == 1, at)
column = [1, 2, 3, 4, 6, 8].index(sigma) + 3
expect(abs(1e3 * np.std(d) - float(rows[at[0]][column])) < 0.06, 1e3 * np.std(d), rows[at[0]])
if kind == "square" and T % N == 0:
	m = np.arange(1, 400.)
	a = np.where(m % 2, (-1) ** ((m - 1) // 2) / m, 0) * np.exp(-2 * np.pi ** 2 * sigma ** 2 * m ** 2 / T ** 2)
	k = np.arange(1, 60)
	rms = 1e3 * np.sqrt(0.5 * np.sum(((a[k * N] - a[k * N - 2]) / a[0]) ** 2))
	shown = rows[at[0] + 1]
	expect(abs(rms - float(shown[-6:][column - 3])) < 0.06, rms, shown)
	expect(abs(rms - 1e3 * np.std(d)) < 0.01 * rms + 0.06, rms, np.std(d))
	expect(abs(np.mean(d) - (np.pi / T if T % 4 == 0 else 0)) < 3e-4, np.mean(d))' "$top/man/fringepipe-simulation.7" $kind $n $t $sigma
	done <<-CASES
	square 3 36 2
	square 6 36 3
	square 4 18 4
	square 4 36 4
	dither 3 36 3
	CASES
	fails 0 "--period: square waves of 18 px would move by 4.5 px: columns are whole" fringegen -k square -n 4 -p 18 -o null:
	fails 0 "square waves of 50 px would move by 16.6667 px" fringesim -s 60x3 -k square -p 50 -o null:
	silent fringegen -k square -n 3 -p 18,60 -a both -o null:
}

@test "fringesim: motion, turning, several measurements" {
	fringesim -s 40x30 -p 30 --scene relief -b float --frames 2 --motion 0.25 --turn 20 --truth t.nrrd -o m.nrrd
	py "$scenes"'
x, y, X, Y = pixels(40, 30, 2.5)
t, m = read_frames("t.nrrd"), read_frames("m.nrrd")
expect(len(t) == 2 and len(m) == 6)
for i, f in enumerate(m):
	a = np.deg2rad(20) * (i // 3)
	z = scene("relief", np.cos(a) * X + np.sin(a) * Y, np.cos(a) * Y - np.sin(a) * X, 100, 75) + .25 * i
	phase = 2 * np.pi * x / 30 + z / 5
	near(f["image"], 127 + 100 * np.cos(phase + 2 * np.pi * (i % 3 - 1) / 3), i, slack=1e-11)
	if i % 3 == 0:
		near(t[i // 3]["absphase"], phase, i, slack=1e-14)
names = [f.meta["name"] for f in m]
expect(len(set(names)) == 6 and names == sorted(names), names)'
}

@test "fringesim: orthographic shadows lie where geometry puts them" {
	fringesim -s 200x20 --scene steps --height -30 --pixel 0.5 -c 2 -p 40 --shadow --ambient 4 -b float --truth t.nrrd -o c.nrrd
	fringesim -s 200x150 --scene sphere --pixel 0.5 -c 1 -p 40 --shadow --truth s.nrrd >/dev/null
	fringesim -s 150x200 --scene sphere --pixel 0.5 --field 100 -c 1 -p 40 --axis y --shadow --truth sy.nrrd >/dev/null
	py "$scenes"'
# a projector ray moves d pixels to the left per mm that it rises; the terraces fall to the right
x, y, X, Y = pixels(200, 20, .5)
d = 40 / (2 * np.pi * 2)
z = -30 * np.floor((X / 100 + .5) * 5) / 4
dark = np.zeros(x.shape, bool)
for i in range(1, 5):
	edge = (i / 5 - .5) * 200 + 99.5
	top = -30 * (i - 1) / 4
	dark |= (x >= edge) & (x - (top - z) * d < edge)
t, c = read_frame("t.nrrd"), read_frames("c.nrrd")
lit = ~dark & (x + z * d >= -.5)
expect((t["mask"] == lit) | (np.abs((x - edge) % 1) < 1e-6), (t["mask"] != lit).sum())
expect(.1 < dark.mean() < .9 and (c[0]["image"][dark] == 4).all())
# a sphere: the ray towards the light must not come nearer to the centre than R
def sphere(X, Y):
	z = scene("sphere", X, Y, 100, 75)
	d = np.array([-.5 * 40 / (2 * np.pi), 0, 1])
	P = np.stack([X, Y, z], -1)
	s = -(P @ d) / (d @ d)
	gap = np.linalg.norm(P + s[..., None] * d, axis=-1) - 30
	return z, (s > 0) & (gap < 0), np.minimum(np.abs(gap), np.abs(s)) < 1e-6
x, y, X, Y = pixels(200, 150, .5)
z, dark, edge = sphere(X, Y)
mask = read_frame("s.nrrd")["mask"]
lit = ~dark & (x + z * 40 / (2 * np.pi) > -.5)
expect((mask == lit) | edge, (mask != lit).sum())
expect(dark.mean() > .05)
expect((read_frame("sy.nrrd")["mask"] == mask.T) | edge.T)'
}

@test "fringesim: a pinhole rig: truth projects to its own pixel and to its phase" {
	py "$rigs"'write_calib("c.json")'
	py 'y, x = np.mgrid[:30, :40]; z = 4 * np.sin(x / 5.) + .2 * y; z[10:13, 20:24] = np.nan
write_frames("d.nrrd", Frame(np.float32(z), ["depth"]))'
	local n=0
	for args in "--scene plane" "--scene tilt" "--scene steps" "--scene sphere --shadow" "--scene relief" \
		"--depth d.nrrd --field 220" "--scene relief --origin 50,30 -s 60x40 --distance 450" \
		"--scene relief --axis y"; do
		fringesim --calib c.json $args -p 40 -b float --truth t$n.nrrd -o c$n.nrrd
		n=$((n + 1))
	done
	py "$rigs$scenes"'
for n in range(8):
	t, c = read_frame("t%d.nrrd" % n), read_frames("c%d.nrrd" % n)
	ox, oy = map(float, t.meta["origin_px"].split())
	lit = t["mask"] > 0
	X = np.stack([t["x"], t["y"], t["z"]]).astype(float)
	y, x = np.mgrid[:lit.shape[0], :lit.shape[1]]
	u, v = project(CAMERA, X)
	expect(lit.mean() > .8 and np.isnan(X[0]).sum() == (~lit).sum(), n, lit.mean())
	off = np.hypot(u - x - ox, v - y - oy)[lit]
	expect(off < 7.6e-6, n, off.max())		# 6.4e-6
	u = in_projector(X)[t.meta["axis"] == "y"]
	phase = t["absphase"].astype(float)
	off = np.abs(u * 2 * np.pi / 40 - phase)[lit]
	expect(off < 1.67e-5, n, off.max())		# 1.39e-5
	expect(t["depth"][lit] == t["z"][lit])
	near(c[1]["image"][lit], (127 + 100 * np.cos(phase))[lit], n, slack=2e-3)
	expect("c_mm_per_rad" not in t.meta and t.meta["length_unit"] == "mm")'
}

@test "fringesim: pinhole points lie on the scene" {
	py "$rigs"'write_calib("c.json")'
	for kind in plane tilt steps sphere relief; do
		fringesim --calib c.json --distance 480 --field 100 --scene $kind --truth $kind.nrrd >/dev/null
	done
	py "$scenes"'
for kind in ["plane", "tilt", "steps", "sphere", "relief"]:
	t = read_frame(kind + ".nrrd")
	x, y, z = t["x"].astype(float), t["y"].astype(float), 480 - t["z"].astype(float)
	off = np.abs(z - scene(kind, x, y, 100, 75))
	wall = {"steps": np.abs(x / 20 + .5 - np.round(x / 20 + .5)) < 1e-5,
		"sphere": x * x + y * y > 29.9**2}.get(kind, False)
	expect((off < 2.1e-5) | wall, kind, np.nanmax(off[~wall]), np.isnan(off).sum())
	expect(kind == "plane" or z.max() > 15, kind)'
}

@test "fringesim: pinhole shadows: no lit point has the scene between itself and the light" {
	py "$rigs"'write_calib("c.json")'
	fringesim --calib c.json --distance 480 --field 100 --scene relief --height 60 --shadow --truth t.nrrd >/dev/null
	fringesim --calib c.json --distance 480 --field 100 --scene relief --height 60 --truth all.nrrd >/dev/null
	py "$rigs$scenes"'
t, a = read_frame("t.nrrd"), read_frame("all.nrrd")
P = np.stack([a["x"], a["y"], 480 - a["z"]]).astype(float)
C = -R.T @ T
C = np.array([C[0], C[1], 480 - C[2]])[:, None, None]
gap = np.full(a["mask"].shape, np.inf)
for s in np.arange(1, 300) / 1000:
	Q = P + s * (C - P)
	gap = np.minimum(gap, Q[2] - 1.5 * scene("relief", Q[0], Q[1], 100, 75))
lit, seen = t["mask"] > 0, a["mask"] > 0
expect(gap[lit] > 0, gap[lit].min())
expect(gap[seen & ~lit] < .0064, gap[seen & ~lit].max())		# .0053, of 300 steps on the way
expect((seen & ~lit).sum() > 30, (seen & ~lit).sum())'
}

@test "fringesim: a depth image as scene: its heights to the bit, its holes dark" {
	py '
rng = np.random.default_rng(3)
z = rng.normal(0, 3, (20, 31)).astype("f4") + 5; z[4:6, 7:9] = np.nan
write_frames("d.nrrd", Frame(np.stack([z * 0, z]), ["phase", "depth"]))
np.save("z.npy", z)'
	fringesim --depth d.nrrd --ambient 9 --truth t.nrrd -o c.nrrd
	fringesim --depth d.nrrd --scene file -s 31x20 --ambient 9 -o same.nrrd
	py '
z, t = np.load("z.npy"), read_frame("t.nrrd")
hole = np.isnan(z)
u = np.arange(31) + z / 5. * 60 / (2 * np.pi)
lit = ~hole & (u >= -.5)
expect(t["mask"] == lit)
expect(t["depth"][lit] == z[lit])
for a, b in zip(read_frames("c.nrrd"), read_frames("same.nrrd")):
	expect(a.pixels == b.pixels)
	expect(a["image"][hole] == 0)'
}

@test "fringesim: no phase is lost: four steps give the truth back" {
	fringesim -s 64x48 -n 4 -p 24 -b float --truth t.nrrd -o c.nrrd
	py '
I = [f["image"].astype(float) for f in read_frames("c.nrrd")]
phase = np.arctan2(I[3] - I[1], I[0] - I[2])
off = np.angle(np.exp(1j * (phase - read_frame("t.nrrd")["absphase"])))
expect(np.abs(off) < 1.09e-6, np.abs(off).max())'		# 9.1e-7
}

@test "fringesim: one thread equals seven, one instruction level the others" {
	py "$rigs"'write_calib("c.json")'
	set -- -s 67x33 --noise 2 --shot 0.1 --gray half --defocus 2 --gamma 1.5 --albedo noise --shadow --frames 2 --motion 1
	for rig in "" "--calib c.json"; do
		for j in 1 7; do
			fringesim "$@" $rig -j $j --truth t.nrrd >$j.nrrd
			mv t.nrrd t$j.nrrd
		done
		FRINGEPIPE_CPU=v2 fringesim "$@" $rig --truth t.nrrd >v2.nrrd
		cmp t1.nrrd t7.nrrd
		cmp t1.nrrd t.nrrd
		cmp 1.nrrd 7.nrrd
		cmp 1.nrrd v2.nrrd
	done
}

@test "fringesim: into a folder, with a manifest that names every image" {
	fringesim -s 32x24 --gray period --frames 2 -o set/ --manifest set.vnl
	py '
import os
rows = [r.split() for r in open("set.vnl") if not r.startswith("#")]
expect(len(rows) == 16 and [r[1] for r in rows[:8]] == ["phase"] * 3 + ["gray"] * 5, rows)
expect(all(os.path.exists(r[0]) for r in rows) and len({r[0] for r in rows}) == 16, rows)'
}

@test "fringesim: errors" {
	fails 2 "--defocus: is at most 64 px for dithered patterns, not 65" fringesim -k dither --defocus 65
	fails 2 "--dither: needs --kind dither" fringesim -k square --dither fs
	fails 2 "--kind: 2+1 takes neither --steps nor --shift" fringesim -k 2+1 -n 4
	fails 2 "fringesim: --turn: turns the scene between measurements: give --frames" fringesim --turn 5
	fails 2 "--scene: must be one of" fringesim --scene cube
	fails 2 "--scene: file needs --depth" fringesim --scene file
	fails 1 "nothing.nrrd" fringesim --depth nothing.nrrd
	py 'write_frames("d.nrrd", Frame(np.zeros((3, 4), "f4"), ["depth"]))
write_frames("two.nrrd", Frame(np.zeros((2, 3, 4), "f4"), ["a", "b"]))
write_frames("one.nrrd", Frame(np.zeros((1, 4), "f4"), ["depth"]))'
	fails 1 "d.nrrd: is 4x3, --size is 5x3" fringesim --depth d.nrrd -s 5x3
	fails 1 "two.nrrd: has several channels and none is named depth" fringesim --depth two.nrrd
	fails 2 "--depth: is only for --scene file" fringesim --depth d.nrrd --scene plane
	fails 2 "--height: the heights of a depth image are taken as they are" fringesim --depth d.nrrd --height 3
	fails 2 "--radius: is only for --scene sphere" fringesim --radius 3
	fails 2 "--height: a cap is at most its radius 5 high, not 6" fringesim --scene sphere --radius 5 --height 6
	py "$rigs"'write_calib("c.json"); open("bad.txt", "w").write("1 2 3\n")
open("parallel.txt", "w").write("100 0 50 0 0 100 50 0 0 0 1 0\n100 0 50 9 0 100 50 0 0 0 1 0\n")'
	fails 2 "--ref-plane: has no meaning with --calib" fringesim --calib c.json --ref-plane 0,1,0
	fails 2 "--c: has no meaning with --calib" fringesim --calib c.json -c 2
	fails 2 "--pixel: has no meaning with --calib" fringesim --calib c.json --pixel 2
	fails 2 "--origin: is only for --calib" fringesim --origin 1,1
	fails 2 "--distance: is only for --calib" fringesim --distance 100
	fails 2 "--origin: must be two numbers, not 3" fringesim --calib c.json --origin 1,2,3
	fails 2 "--origin: lies outside the 160x120 camera" fringesim --calib c.json --origin 160,0
	fails 2 "--size: 100x20 px from 70,0 on do not lie on the calibration's camera of 160x120 px" \
		fringesim --calib c.json --size 100x20 --origin 70,0
	fails 2 "--origin: 180x120 px from -20,0 on do not lie on the calibration's camera of 160x120 px" \
		fringesim --calib c.json --origin -20,0
	fails 0 "--size: 80x60 px are the upper left part of the calibration's camera of 160x120 px: leave --size out for the whole picture, or say where the part lies, by --origin" \
		fringesim --calib c.json --size 80x60 -o crop.nrrd
	silent fringesim --calib c.json --size 80x60 --origin 0,0 -o crop.nrrd
	silent fringesim --calib c.json --size 160x120 -o whole.nrrd
	fails 0 "--projector: says 100x80 px, and the calibration's projector has" fringesim --calib c.json --projector 100x80 -o whole.nrrd
	sed 's/"image_size": \[160, 120\], //' c.json >sizeless.json
	fails 0 "sizeless.json: the camera's matrix has its principal point at 82,59, as a picture of 160 x 120 px would" \
		fringesim --calib sizeless.json --size 80x60 -o crop.nrrd
	silent fringesim --calib sizeless.json --size 80x60 --origin 0,0 -o crop.nrrd
	fails 1 "bad.txt" fringesim --calib bad.txt
	fails 2 "--calib: the axes meet nowhere: --distance is needed" fringesim --calib parallel.txt --size 100x100
	fails 1 "one.nrrd: is 4x1, rays need at least 2x2 heights" fringesim --calib c.json --depth one.nrrd
	fails 2 "--ref-plane: must be three numbers, not 2" fringesim --ref-plane 0,1
	fails 2 "--ref-plane: is for fringes along one axis" fringesim --ref-plane 0,1,0 --axis both
	fails 2 "--c: must not be 0" fringesim -c 0
	fails 2 "--shadow: needs a --ref-plane that is not level" fringesim --ref-plane 1,0,0 --shadow
	fails 2 "--noise" fringesim --noise -1
	fails 2 "--shot" fringesim --shot -1
	fails 2 "--amplitude: must not exceed the mean 50, is 60" fringesim --mean 50 --amplitude 60
	fails 2 "--gamma" fringesim --gamma 0
	fails 2 "--bits: must be one of 8 12 16 float, not '10'" fringesim -b 10
	fails 1 "d.nrrd: is 4x3 with 1 channels, wanted 640x480 with one" fringesim --albedo d.nrrd
	fails 2 "--kind: 2+1 takes neither --steps nor --shift" fringesim --kind 2+1 -n 4
	fails 2 "--shift: has 4 shifts for 3 steps" fringesim --shift 0,90,180,270 -n 3
	fails 2 "--inverse: needs --gray" fringesim --inverse
	fails 2 "--manifest: wants files to name" fringesim --manifest m
	fails 2 "--period" fringesim -p 5000
	fails 2 "takes no operands" fringesim in.nrrd
	fails 1 "no/t.nrrd" fringesim -s 3x3 --truth no/t.nrrd -o c.nrrd
}
