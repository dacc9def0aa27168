load helpers

# Captures of known A, B and phase in float64, and how far a phase is off.
model='
def shifts(n):
	return [-2 * np.pi / 3, 0, 2 * np.pi / 3] if n == 3 else list(2 * np.pi * np.arange(n) / n)

def scene(h, w, seed=0, a=(80, 150), b=(30, 75)):
	rng = np.random.default_rng(seed)
	return (rng.uniform(*a, (h, w)), rng.uniform(*b, (h, w)), rng.uniform(-np.pi, np.pi, (h, w)))

def capture(s, d, sign=1, origin=0):
	a, b, phi = s
	return [a + b * np.cos(phi + origin + sign * x) for x in d]

def frames(images, dtype="f4", **meta):
	return [Frame(np.asarray(i).astype(dtype), meta={k: str(v) for k, v in meta.items()})
		for i in images]

def off(p, phi):
	return np.abs((p - phi + np.pi) % (2 * np.pi) - np.pi)

def check(file, s, tolerance=8e-7, name="phase", d=None):
	a, b, phi = s
	f = read_frame(file) if isinstance(file, str) else file
	expect(off(f[name], phi) <= tolerance, name, off(f[name], phi).max())
	expect(np.abs(f[name]) <= np.float32(np.pi), "range")
	return f
'

# of each number of steps
sizes='
sizes = {3: (129, 65), 4: (5, 7), 5: (1, 1), 6: (127, 1), **{n: (128, 64) for n in (7, 8, 9, 12, 13)}}
'

@test "phasewrap: noise-free float captures of N steps, phase within 8e-7 rad, at awkward sizes" {
	py "$model$sizes"'
for n, (w, h) in sizes.items():
	write_frames("in%d.nrrd" % n, frames(capture(scene(h, w, n), shifts(n))))'
	for n in 3 4 5 6 7 8 9 12 13; do
		phasewrap -n $n -p 60 in$n.nrrd -o out$n.nrrd
	done
	py "$model$sizes"'
for n, (w, h) in sizes.items():
	s = scene(h, w, n)
	f = check("out%d.nrrd" % n, s)
	expect(f.names == ["phase", "modulation", "texture"], f.names)
	expect(np.abs(f["modulation"] - s[1] / s[0]) < 4.2e-7)
	expect(np.abs(f["texture"] - (s[0] + s[1])) < 5.7e-5)
	expect(f.meta["period_px"] == "60" and f.meta["axis"] == "x" and f.meta["steps"] == str(n), f.meta)'
}

@test "phasewrap: exact phases at the quadrants, pi and never -pi" {
	py "$model"'
phi = np.array([[0, np.pi / 2, np.pi, -np.pi / 2]])
write_frames("in.nrrd", frames([np.round(100 + 50 * np.cos(phi + d)) for d in shifts(4)], "u1"))'
	phasewrap -n 4 in.nrrd -o out.nrrd
	py '
p = read_frame("out.nrrd")["phase"][0]
expect(p == np.array([0, np.pi / 2, np.pi, -np.pi / 2], "f4"), p)'
}

@test "phasewrap: 8-bit noise passes on as sqrt(2/N) sigma/B, sigma with the 1/12 of quantisation" {
	py "$model"'
for n in 3, 4, 6, 12:
	rng = np.random.default_rng(n)
	s = scene(200, 300, n, (110, 130), (60, 60))
	images = [np.clip(np.rint(i + rng.normal(0, 2, i.shape)), 0, 254) for i in capture(s, shifts(n))]
	write_frames("in%d.nrrd" % n, frames(images, "u1"))'
	for n in 3 4 6 12; do
		phasewrap -n $n in$n.nrrd -o out$n.nrrd
	done
	py "$model"'
for n in 3, 4, 6, 12:
	s = scene(200, 300, n, (110, 130), (60, 60))
	e = off(read_frame("out%d.nrrd" % n)["phase"], s[2])
	expect(not np.isnan(e).any())
	want = np.sqrt(2 / n * (4 + 1 / 12)) / 60
	expect(abs(np.sqrt(np.mean(e ** 2)) / want - 1) < 3 / np.sqrt(2 * e.size), n, np.sqrt(np.mean(e ** 2)) / want)'
}

@test "phasewrap: 2+1, with every place of the flat image, and its noise" {
	py "$model"'
a, b, phi = s = scene(60, 70)
sin, cos, flat = a + b * np.sin(phi), a + b * np.cos(phi), a
for name, images in (("3", [sin, cos, flat]), ("1", [flat, sin, cos]), ("2", [cos, flat, sin])):
	write_frames(name + ".nrrd", frames(images))
rng = np.random.default_rng(5)
a, b, phi = scene(300, 400, 9, (100, 110), (80, 80))
images = [i + rng.normal(0, 2, i.shape) for i in (a + b * np.sin(phi), a + b * np.cos(phi), a)]
write_frames("noisy.nrrd", frames(np.rint(images), "u1"))'
	for flat in 1 2 3; do
		phasewrap -k 2+1 --flat $flat $flat.nrrd -o out$flat.nrrd
	done
	phasewrap -k 2+1 3.nrrd -o last.nrrd
	phasewrap -k 2+1 --sign -1 --phase-origin 30 3.nrrd -o turned.nrrd
	phasewrap -k 2+1 noisy.nrrd -o noisy_out.nrrd
	py "$model"'
s = scene(60, 70)
for flat in "123":
	f = check("out" + flat + ".nrrd", s)
	expect(np.abs(f["modulation"] - s[1] / s[0]) < 4.2e-7)
	expect(np.abs(f["texture"] - s[0]) < 5.3e-5)
expect(read_frame("last.nrrd").pixels == read_frame("out3.nrrd").pixels)
a, b, phi = s
# foreign: sin = cos(phase - (-90 deg)), so that its phase is -phi where ours is phi + origin
f = read_frame("turned.nrrd")["phase"]
expect(off(np.cos(f + np.pi / 6 + np.pi / 2), np.sin(phi)) < 8.6e-7)
expect(off(np.cos(f + np.pi / 6), np.cos(phi)) < 5.7e-7)
a, b, phi = scene(300, 400, 9, (100, 110), (80, 80))
p = read_frame("noisy_out.nrrd")["phase"]
z = off(p, phi) / (np.sqrt(2 - np.sin(2 * phi)) * np.sqrt(4 + 1 / 12) / 80)
for lo in np.arange(-3, 3, 0.5):
	there = (phi >= lo) & (phi < lo + 0.5)
	expect(abs(np.sqrt(np.mean(z[there] ** 2)) - 1) < 3 / np.sqrt(2 * there.sum()), lo, np.sqrt(np.mean(z[there] ** 2)))'
}

@test "phasewrap: --flat auto finds the smooth image in every measurement" {
	py "$model"'
y, x = np.mgrid[:50, :80]
a, b, phi = 120 + 0.1 * y, 60, 0.9 * x
sin, cos = a + b * np.sin(phi), a + b * np.cos(phi)
for dtype in "u1", "u2", "f4":
	images = [i for order in ([sin, cos, a], [a, sin, cos], [cos, a, sin], [sin, cos, a]) for i in order]
	write_frames(dtype + ".nrrd", frames(np.rint(images), dtype))
a[3, 4] = sin[9, 9] = np.nan
write_frames("hole.nrrd", frames([cos, a, sin]))'
	for type in u1 u2 f4; do
		phasewrap -k 2+1 --flat auto -j 1 $type.nrrd >out.nrrd
		phasewrap -k 2+1 --flat auto -j 7 $type.nrrd >seven.nrrd
		cmp out.nrrd seven.nrrd
		mv out.nrrd $type.out
	done
	phasewrap -k 2+1 --flat auto hole.nrrd -o out.nrrd
	py '
x = np.arange(80)
for type in "u1", "u2", "f4":
	f = read_frames(type + ".out")
	expect(len(f) == 4, len(f))
	for g in f:
		expect(g.pixels == f[0].pixels)
		expect(np.abs((g["phase"] - 0.9 * x + np.pi) % (2 * np.pi) - np.pi) < 0.026)
p = read_frame("out.nrrd").pixels
hole = np.isnan(p).any(axis=0)
expect(hole.sum() == 2 and hole[3, 4] and hole[9, 9] and np.isnan(p[:, hole]).all(), hole.sum())'
}

@test "phasewrap: unequal shifts are recovered, and their noise is that of the normal equations" {
	local shifts=(0,90,180 10,100,220 0,45,200,300 -120,0,120 0,30,60,90,120,150,180)
	py "$model"'
for words in sys.argv[1:]:
	d = np.radians([float(v) for v in words.split(",")])
	write_frames(words + ".nrrd", frames(capture(scene(30, 40), d)))
d = np.radians([0, 90, 180]); rng = np.random.default_rng(3)
s = scene(300, 300, 3, (110, 130), (60, 60))
write_frames("in.nrrd", frames([i + rng.normal(0, 1, i.shape) for i in capture(s, d)]))' "${shifts[@]}"
	for shift in "${shifts[@]}"; do
		phasewrap --shift=$shift -p 60 ./$shift.nrrd -o "out $shift.nrrd"
	done
	phasewrap --shift 0,90,180 in.nrrd -o out.nrrd
	py "$model"'
for words in sys.argv[1:]: check("out " + words + ".nrrd", scene(30, 40), 5.5e-7)
a, b, phi = scene(300, 300, 3, (110, 130), (60, 60))
d = np.radians([0, 90, 180])
m = np.linalg.inv((lambda x: x.T @ x)(np.stack([np.ones(3), np.cos(d), -np.sin(d)], 1)))
want = np.sqrt(m[1, 1] * np.sin(phi) ** 2 + m[2, 2] * np.cos(phi) ** 2 - m[1, 2] * np.sin(2 * phi)) / 60
z = off(read_frame("out.nrrd")["phase"], phi) / want
expect(abs(np.sqrt(np.mean(z ** 2)) - 1) < 3 / np.sqrt(2 * z.size), np.sqrt(np.mean(z ** 2)))' "${shifts[@]}"
}

@test "phasewrap: foreign sign and origin, by option and by key, the option wins" {
	py "$model"'
for sign in 1, -1:
	images = capture(scene(20, 30), shifts(4), sign, np.radians(50))
	write_frames("opt%d.nrrd" % sign, frames(images))
	write_frames("key%d.nrrd" % sign, frames(images, phase_sign=sign, phase_origin_rad=np.radians(50)))
	write_frames("bad%d.nrrd" % sign, frames(images, phase_sign=-sign, phase_origin_rad=2))'
	for sign in 1 -1; do
		word=${sign/#1/+1}
		phasewrap -n 4 --sign $word --phase-origin 50 opt$sign.nrrd -o a$sign.nrrd
		phasewrap -n 4 key$sign.nrrd -o b$sign.nrrd
		phasewrap -n 4 --sign $word --phase-origin 50 bad$sign.nrrd -o c$sign.nrrd
	done
	py "$model"'
for name in "a1", "b1", "c1", "a-1", "b-1", "c-1":
	f = check(name + ".nrrd", scene(20, 30))
	expect("phase_sign" not in f.meta and "phase_origin_rad" not in f.meta, f.meta)'
}

@test "phasewrap: several periods, by period and by step, and their metadata" {
	py "$model"'
sets = [capture(scene(33, 44, k), shifts(4)) for k in range(3)]
write_frames("period.nrrd", frames([i for s in sets for i in s]))
write_frames("step.nrrd", frames([s[n] for n in range(4) for s in sets]))'
	phasewrap -n 4 -p 60,66,70.5 period.nrrd -o a.nrrd
	phasewrap -n 4 -p 60,66,70.5 --order by-step step.nrrd -o b.nrrd
	phasewrap -n 4 -p 60,66,70.5 --axis x,y,x --as vector period.nrrd -o c.nrrd
	py "$model"'
a, b, c = [read_frame(n + ".nrrd") for n in "abc"]
expect(a.names == ["phase1", "phase2", "phase3", "modulation", "texture"], a.names)
expect(a.pixels == b.pixels)
expect(a.meta["period_px"] == "60 66 70.5" and a.meta["axis"] == "x x x", a.meta)
expect(c.meta["axis"] == "x y x" and c.meta["steps"] == "4", c.meta)
expect(c.names == ["cos1", "sin1", "cos2", "sin2", "cos3", "sin3", "modulation", "texture"], c.names)
s = [scene(33, 44, k) for k in range(3)]
for k in range(3):
	check(a, s[k], name="phase%d" % (k + 1))
	expect(np.abs(c["cos%d" % (k + 1)] - np.cos(s[k][2])) < 2.5e-7)
	expect(np.abs(c["sin%d" % (k + 1)] - np.sin(s[k][2])) < 2.4e-7)
expect(np.abs(a["modulation"] - np.min([t[1] / t[0] for t in s], axis=0)) < 1.7e-7)
expect(np.abs(a["texture"] - np.mean([t[1] + t[0] for t in s], axis=0)) < 3.9e-5)
expect(c["modulation"] == a["modulation"])'
}

# A measurement whose images are described by their own metadata, in some order.
tagged='
def tagged(order=None, seed=0, dtype="f4"):
	out, s = [], {}
	for axis, period in (("x", 60), ("x", 66), ("y", 40)):
		s[axis, period] = scene(20, 30, seed + period)
		for n, image in enumerate(capture(s[axis, period], shifts(5))):
			out.append(Frame(image.astype(dtype), meta=dict(role="phase", axis=axis, period_px=str(period),
				step=str(n), shift_rad=repr(shifts(5)[n]), bit="-")))
	for axis, planes in (("x", 4), ("y", 3)):
		v = np.arange(30)[None].repeat(20, 0) % 16 if axis == "x" else np.arange(20)[:, None].repeat(30, 1) % 8
		for role in "gray", "gray_inverse":
			for bit in range(planes - 1, -1, -1):
				on = (v ^ (v >> 1)) >> bit & 1
				on = on if role == "gray" else 1 - on
				out.append(Frame((40 + 150 * on).astype(dtype), meta=dict(role=role, axis=axis, period_px="-",
					step="-", shift_rad="-", bit=str(bit))))
	for role, level in ("white", 200), ("black", 30):
		out.append(Frame(np.full((20, 30), level).astype(dtype), meta=dict(role=role, axis="-", period_px="-",
			step="-", shift_rad="-", bit="-")))
	for n, f in enumerate(out):
		f.meta.update(steps="5", gray_cell="half", set_images=str(len(out)), name="image_%d" % n)
	if order is not None:
		out = [out[i] for i in order(len(out))]
	return out, s

def check_tagged(f, s, periods):
	names = ["phase%d" % (k + 1) for k in range(3)] + ["modulation", "texture", "index1", "index2"]
	expect(f.names == names, f.names)
	for k, key in enumerate(periods):
		expect(off(f["phase%d" % (k + 1)], s[key][2]) < 4.3e-7, key)
	expect(f.meta["period_px"] == " ".join(str(p) for a, p in periods), f.meta)
	expect(f.meta["axis"] == " ".join(a for a, p in periods), f.meta)
	expect(f.meta["steps"] == "5" and f.meta["gray_cell"] == "half" and f.meta["gray_planes"] == "4 3", f.meta)
	for key in "role", "step", "shift_rad", "bit", "name", "set_images":
		expect(key not in f.meta, key)
	expect(f["index1"] == np.arange(30)[None] % 16, f["index1"])
	expect(f["index2"] == np.arange(20)[:, None] % 8, f["index2"])
'

@test "phasewrap: images that say what they are, in any order and grouping" {
	py "$model$tagged"'
rng = np.random.default_rng(1)
plain, s = tagged()
write_frames("plain.nrrd", plain)
write_frames("mixed.nrrd", tagged(lambda n: rng.permutation(n))[0])
write_frames("twice.nrrd", tagged()[0] + tagged(seed=5)[0])'
	framecat --stack plain.nrrd -o stack.nrrd
	phasewrap plain.nrrd -o plain_out.nrrd
	phasewrap stack.nrrd -o stack_out.nrrd
	phasewrap mixed.nrrd -p 60,66,40 -o mixed_out.nrrd
	phasewrap twice.nrrd -o twice_out.nrrd
	cat stack.nrrd plain.nrrd | phasewrap >both_out.nrrd
	py "$model$tagged"'
s = tagged()[1]
periods = [("x", 60), ("x", 66), ("y", 40)]
check_tagged(read_frame("plain_out.nrrd"), s, periods)
check_tagged(read_frame("stack_out.nrrd"), s, periods)
check_tagged(read_frame("mixed_out.nrrd"), s, periods)
a, b = read_frames("twice_out.nrrd")
check_tagged(a, s, periods)
check_tagged(b, tagged(seed=5)[1], periods)
for f in read_frames("both_out.nrrd"):
	check_tagged(f, s, periods)'
}

@test "phasewrap: --kind picks what is used, options win over what images say" {
	py "$model$tagged"'write_frames("in.nrrd", tagged()[0])'
	phasewrap -k gray in.nrrd -o gray.nrrd
	phasewrap -k step -p 61,67,41 --axis y --shift 0,72,144,216,300 --gray-cell column in.nrrd -o step.nrrd
	py "$model$tagged"'
f = read_frame("gray.nrrd"); plain, s = tagged()
expect(f.names == ["index1", "index2"] and f.meta["axis"] == "x y" and "period_px" not in f.meta, f.meta)
expect(f["index1"] == np.arange(30)[None] % 16)
f = read_frame("step.nrrd")
expect(f.meta["period_px"] == "61 67 41" and f.meta["axis"] == "y y y" and f.meta["gray_cell"] == "column", f.meta)
e = off(f["phase1"], s["x", 60][2])
expect(e.max() > 0.01)'
	# every third of twelve steps, by their shifts and by their steps
	py "$model"'
for key in "shift_rad", "step":
	out = []
	for n in 0, 4, 8:
		meta = dict(role="phase", steps="12", step=str(n), set_images="18", axis="x", period_px="60")
		if key == "shift_rad":
			meta["shift_rad"] = repr(shifts(12)[n])
		out += frames([capture(scene(9, 9), [shifts(12)[n]])[0]], **meta)
	write_frames(key + ".nrrd", out[::-1])'
	phasewrap -n 3 -p 60 shift_rad.nrrd -o out.nrrd
	py "$model"'check("out.nrrd", scene(9, 9))'
	phasewrap -n 3 -p 60 --shift 0,120,240 step.nrrd -o out.nrrd
	py "$model"'check("out.nrrd", scene(9, 9))'
}

@test "phasewrap: keys of a set without roles" {
	py "$model"'
write_frames("in.nrrd", frames(capture(scene(9, 9, 1), shifts(5)) + capture(scene(9, 9, 2), shifts(5)),
	steps=5, period_px="60 66"))'
	phasewrap in.nrrd -o out.nrrd
	py "$model"'
f = read_frame("out.nrrd")
check(f, scene(9, 9, 1), name="phase1")
check(f, scene(9, 9, 2), name="phase2")
expect(f.meta["period_px"] == "60 66" and f.meta["steps"] == "5", f.meta)'
}

gray='
def planes(v, n, lo=20, hi=180):
	return [lo + (hi - lo) * ((v ^ (v >> 1)) >> b & 1) for b in range(n - 1, -1, -1)]
v = np.random.default_rng(8).integers(0, 1 << 11, (40, 50))
'

@test "phasewrap: Gray codes by their inverses, by white and black, by a flat image, by the fringes" {
	py "$model$gray"'
g = planes(v, 11); inverse = [200 - i for i in g]
half = np.full(v.shape, 100)
lsb = [i for pair in zip(g[::-1], inverse[::-1]) for i in pair]
fringes = capture((np.full(v.shape, 100.), 50., v * 0.01), shifts(4))
for type in "u1", "u2", "f4":
	write_frames("inverse_%s.nrrd" % type, frames(g + inverse, type))
	write_frames("pairs_%s.nrrd" % type, frames(lsb, type))
	write_frames("white_%s.nrrd" % type, frames(g + [half * 2, half * 0], type))
	write_frames("half_%s.nrrd" % type, frames(g + [half], type))
	write_frames("fringe_%s.nrrd" % type, frames(fringes + g, type))
	write_frames("first_%s.nrrd" % type, frames([half * 2, half * 0] + g + fringes, type))
w = v % 7
write_frames("two.nrrd", frames(planes(v, 11) + planes(w, 3) + [np.full(v.shape, 200), 0 * v], "u1"))
dim = np.where(np.arange(50) < 10, 60, 200)[None].repeat(40, 0)
write_frames("dim.nrrd", frames(planes(v, 11, 0, 59) + [dim, dim * 0 + 40], "u1"))'
	for type in u1 u2 f4; do
		phasewrap -k gray -G 11 -i --gray-cell column inverse_$type.nrrd -o inverse.$type.nrrd
		phasewrap -k gray -G 11 -i --order pairs,lsb-first pairs_$type.nrrd -o pairs.$type.nrrd
		phasewrap -k gray -G 11 -F 2 white_$type.nrrd -o white.$type.nrrd
		phasewrap -k gray -G 11 -F 1 half_$type.nrrd -o half.$type.nrrd
		phasewrap -n 4 -p 60 -G 11 fringe_$type.nrrd -o fringe.$type.nrrd
		phasewrap -n 4 -p 60 -G 11 -F 2 --order flat,gray,phase first_$type.nrrd -o first.$type.nrrd
	done

	phasewrap -k gray -G 11,3 -F 2 two.nrrd -o two_out.nrrd
	phasewrap -k gray -G 11 --axis y -F 2 --min-amplitude 10.5 dim.nrrd -o dim_out.nrrd
	py "$gray"'
for type in "u1", "u2", "f4":
	of = {n: read_frame("%s.%s.nrrd" % (n, type)) for n in ("inverse", "pairs", "white", "half", "fringe", "first")}
	for name, f in of.items():
		expect(f["index"] == v, name)
		expect(f.meta["gray_planes"] == "11", f.meta)
	expect(of["inverse"].meta["gray_cell"] == "column" and of["inverse"].names == ["index"])
	expect(of["fringe"].names == ["phase", "modulation", "texture", "index"])
	expect(of["fringe"].pixels == of["first"].pixels)
	expect("gray_cell" not in of["pairs"].meta)
f = read_frame("two_out.nrrd")
expect(f.names == ["index1", "index2"] and f.meta["axis"] == "x y", f.names)
expect(f["index1"] == v)
expect(f["index2"] == v % 7)
f = read_frame("dim_out.nrrd")
expect(np.isnan(f["index"]) == (np.arange(50)[None].repeat(40, 0) < 10))
expect(f.meta["axis"] == "y")'
}

@test "phasewrap: a sample on a threshold: saturation, dark, amplitude, modulation" {
	# four steps of A = 100, B = 50 at phase 0: 150 100 50 100
	py "$model"'
base = np.array([150, 100, 50, 100])[:, None, None] + np.zeros((4, 1, 6))
for name, dtype, most in (("u1", "u1", 255), ("u2", "u2", 65535), ("key", "u2", 4095), ("f4", "f4", 4095)):
	i = base.copy()
	i[0, 0, 0], i[0, 0, 1], i[2, 0, 2], i[1, 0, 3] = most, most - 1, most, most
	meta = {"max_value": most} if name == "key" else {}
	write_frames(name + ".nrrd", frames(i, dtype, **meta))
	if name == "f4":
		i[0, 0, 4] = 1e9
		write_frames("none.nrrd", frames(i, dtype))
d = np.array([[100, 99.75, 100.25]])
write_frames("dark.nrrd", frames([d + 50, d, d - 50, d]))
write_frames("dark3.nrrd", frames([[[10, 10]], [[20, 20]], [[30, 29]]], "u1"))
b = np.array([[50, 49.9375, 50.0625]])
write_frames("amplitude.nrrd", frames([100 + b, 0 * b + 100, 100 - b, 0 * b + 100]))
write_frames("flat.nrrd", frames([[[7, 0]]] * 4, "u1"))'
	for name in u1 u2 key; do phasewrap -n 4 $name.nrrd -o out_$name.nrrd; done
	phasewrap -n 4 --max-value 4095 f4.nrrd -o out_f4.nrrd
	phasewrap -n 4 none.nrrd -o out_none.nrrd
	phasewrap -n 4 --max-value 4096 key.nrrd -o out_above.nrrd
	phasewrap -n 4 --dark 100 dark.nrrd -o out_dark.nrrd
	phasewrap -n 3 --dark 20 dark3.nrrd -o out_dark3.nrrd
	phasewrap -n 4 --min-amplitude 50 amplitude.nrrd -o out_amplitude.nrrd
	phasewrap -n 4 --min-modulation 0.5 amplitude.nrrd -o out_modulation.nrrd
	if phasewrap -n 4 flat.nrrd -o out_flat.nrrd; then false; fi
	py '
for name, lost in dict(u1=[1, 0, 1, 1, 0, 0], u2=[1, 0, 1, 1, 0, 0], key=[1, 0, 1, 1, 0, 0], f4=[1, 0, 1, 1, 0, 0],
		none=[0] * 6, above=[0] * 6, dark=[0, 1, 0], dark3=[0, 1], amplitude=[0, 1, 0], modulation=[0, 1, 0],
		flat=[1, 1]).items():
	f = read_frame("out_" + name + ".nrrd")
	expect(np.isnan(f["phase"][0]) == lost, name, f["phase"])
	if name in ("u1", "u2", "key"):
		expect(~np.isnan(f["modulation"]) & ~np.isnan(f["texture"]), name, f.pixels)
expect(f["modulation"] == 0, f.pixels)
expect(f["texture"][0] == [7, 0], f.pixels)'
}

@test "phasewrap: saturation in some places of a row, and the rest of it" {
	# four steps of A = 100, B = 50 at the phase x/10
	py "$model"'
x = np.arange(1000)
base = [np.round(100 + 50 * np.cos(x / 10 + d)) + np.zeros((5, 1)) for d in shifts(4)]
places = [[], [0], [63, 64], [130, 511, 512, 831, 832], [999]]
for name, most in (("u1", 255), ("u2", 65535)):
	i = np.array(base)
	write_frames(name + "_right.nrrd", frames(i, name))
	for y, columns in enumerate(places):
		for c in columns:
			i[(y + c) % 4, y, c] = most
	write_frames(name + ".nrrd", frames(i, name))'
	for name in u1 u2; do
		phasewrap -n 4 $name.nrrd -o out_$name.nrrd
		phasewrap -n 4 ${name}_right.nrrd -o right_$name.nrrd
	done
	py '
for name in ("u1", "u2"):
	f, right = read_frame("out_" + name + ".nrrd")["phase"], read_frame("right_" + name + ".nrrd")["phase"]
	lost = np.zeros(f.shape, bool)
	for y, columns in enumerate([[], [0], [63, 64], [130, 511, 512, 831, 832], [999]]):
		lost[y, columns] = True
	expect(np.isnan(f) == lost, name, np.argwhere(np.isnan(f) != lost)[:5])
	expect(f[~lost] == right[~lost], name)
	expect(np.abs(np.angle(np.exp(1j * (right - np.arange(1000) / 10)))) < 0.0142, name)	# sqrt(0.5)/B of rounding'
}

@test "phasewrap: modulation above 1 is a fact, not an error; one bad period spoils all; vectors too" {
	py "$model"'
write_frames("clip.nrrd", frames([[[1]], [[0]], [[0]], [[0]], [[0]], [[0]]], "u1"))
i = np.array(capture(scene(4, 5, 1, (100, 100), (50, 50)), shifts(3)) * 2)
i[4, 2, 3] = 255
write_frames("sets.nrrd", frames(np.rint(i), "u1"))'
	phasewrap -n 6 clip.nrrd -o out.nrrd
	py '
f = read_frame("out.nrrd")
expect(abs(f["modulation"] - 2) < 1.5e-7 and f["phase"] == 0, f.pixels)'
	phasewrap -n 3 -p 60,66 sets.nrrd -o out.nrrd
	phasewrap -n 3 -p 60,66 --as vector sets.nrrd -o vector.nrrd
	py '
for name, phases in ("out", 2), ("vector", 4):
	p = read_frame(name + ".nrrd").pixels
	hole = np.zeros((4, 5), bool); hole[2, 3] = True
	for c in p[:phases]:
		expect(np.isnan(c) == hole)
	expect(~np.isnan(p[phases:]))'
}

@test "phasewrap: a missing sample is missing in all channels, its neighbours are not" {
	py "$model"'
i = np.array(capture(scene(7, 300), shifts(5)) * 2 + [np.full((7, 300), 100.)] * 3)
bad = ((0, 0, 0, np.nan), (7, 1, 17, np.inf), (4, 2, 299, -np.inf), (11, 5, 44, np.nan))
for n, y, x, v in bad:
	i[n, y, x] = v
write_frames("in.nrrd", frames(i))'
	phasewrap -n 5 -p 60,66 -G 3 in.nrrd -o out.nrrd
	py "$model"'
f = read_frame("out.nrrd"); hole = np.zeros((7, 300), bool)
for y, x in (0, 0), (1, 17), (2, 299), (5, 44):
	hole[y, x] = True
for c in f.pixels:
	expect(np.isnan(c) == hole, f.names)
expect(off(f["phase1"], scene(7, 300)[2])[~hole] < 3.9e-7)'
}

@test "phasewrap: uchar, ushort of 12 bit and float give the same phase" {
	py "$model"'
i = np.rint(capture(scene(65, 129, 2, (100, 120), (50, 60)), shifts(6)))
for type in "u1", "u2", "f4":
	write_frames(type + ".nrrd", frames(i, type))
write_frames("12.nrrd", frames(np.rint(np.array(capture(scene(65, 129), shifts(6))) * 16), "u2", max_value=4095))'
	for type in u1 u2 f4; do phasewrap -n 6 $type.nrrd -o out_$type.nrrd; done
	cmp out_u1.nrrd out_u2.nrrd
	cmp out_u1.nrrd out_f4.nrrd
	phasewrap -n 6 12.nrrd -o out.nrrd
	py "$model"'check("out.nrrd", scene(65, 129), 2e-3)'
}

@test "phasewrap: 16-bit captures that end at the most of fewer bits are told, once" {
	py "$model"'
i = np.array(capture(scene(80, 100, 2, (160, 200), (90, 150)), shifts(4)))
def save(name, i, **meta):
	f = frames(i, "u2", **meta)
	write_frames(name + ".nrrd", f + f)
save("12", np.minimum(np.rint(i * 16), 4095))
save("10above", np.minimum(np.rint(i * 4), 1023) * 64)
save("keyed", np.minimum(np.rint(i * 16), 4095), max_value=4095)
save("whole", np.minimum(np.rint(i * 257), 65535))
save("other", np.minimum(np.rint(i * 16), 4000))
save("once", np.where(np.arange(i.size).reshape(i.shape) == 700, 4095, np.minimum(np.rint(i * 8), 3000)))
save("eight", np.minimum(np.rint(i), 255))'
	for threads in 1 2 7; do
		FRINGEPIPE_BAND=3 fails 0 "phasewrap: many samples are 4095, the 12-bit maximum, and none is above: if the camera saturates there give --max-value 4095" \
			phasewrap -j $threads -n 4 12.nrrd -o out.nrrd
	done
	fails 0 "many samples are 65472, the 10-bit maximum" phasewrap -n 4 10above.nrrd -o out.nrrd
	fails 0 "many samples are 255, the 8-bit maximum" phasewrap -n 4 eight.nrrd -o out.nrrd
	fails 0 "of the fringe images' samples are exactly 4000, and none is above" phasewrap -n 4 other.nrrd -o out.nrrd
	silent phasewrap -n 4 once.nrrd -o out.nrrd
	for name in keyed whole "--max-value 4095 12"; do	# only what is so: pixels are lost
		# shellcheck disable=SC2086
		fails 0 "lost to saturation" phasewrap -n 4 $name.nrrd -o out.nrrd
	done
	silent phasewrap -n 4 -q 12.nrrd -o out.nrrd
}

@test "phasewrap: names that put Gray planes before the phases call for --order" {
	mkdir cam
	py "$model"'
for i in range(3): write_frames("cam/phase_%d.nrrd" % i, frames(capture(scene(5, 6), shifts(3))[i:i + 1]))
for i in range(2): write_frames("cam/gray_%d.nrrd" % i, frames([np.full((5, 6), 60 * i + 60.0)]))'
	options=(-n 3 -p 4 -G 2 --gray-cell period)
	message="phasewrap: --order: not given, phase images are taken first, but gray_0.nrrd stands before them: give --order gray,phase"
	fails 2 "$message" phasewrap "${options[@]}" cam -o out.nrrd
	fails 2 "$message" phasewrap "${options[@]}" cam/* -o out.nrrd
	[ ! -e out.nrrd ]
	phasewrap "${options[@]}" cam/phase* cam/gray* -o want.nrrd
	phasewrap "${options[@]}" --order gray,phase cam -o out.nrrd
	framecmp want.nrrd out.nrrd
	phasewrap "${options[@]}" --order phase,gray cam -o other.nrrd
	fringesim -s 32x16 -p 8 -n 3 -g period -o own/
	for file in own/plane_*; do mv "$file" "${file/plane/gray}"; done
	phasewrap own -o out.nrrd
}

@test "phasewrap: colour: three steps in one image, one channel of it, equal planes" {
	py "$model"'
i = [np.rint(x) for x in capture(scene(10, 12, 4), shifts(3))]
write_frames("rgb.nrrd", Frame(np.array(i).astype("u1"), ["r", "g", "b"]))
write_frames("rgba.nrrd", [Frame(np.array(i + [i[0] * 0]).astype("u1"), ["r", "g", "b", "a"],
	dict(role="phase", step="0", steps="3", period_px=p, set_images="2")) for p in ("60", "66")])
j = [np.rint(x).astype("u1") for x in capture(scene(10, 12, 4), shifts(4))]
write_frames("green.nrrd", [Frame(np.array([0 * x, x, 0 * x]), ["r", "g", "b"]) for x in j])
write_frames("grey.nrrd", [Frame(np.array([x, x, x]), ["r", "g", "b"]) for x in j])
write_frames("mono.nrrd", frames(j, "u1"))'
	phasewrap --rgb rgb.nrrd -o a.nrrd
	phasewrap --rgb rgba.nrrd -o b.nrrd
	py "$model"'
check("a.nrrd", scene(10, 12, 4), 0.02)
f = read_frame("b.nrrd")
check(f, scene(10, 12, 4), 0.02, "phase1")
expect(f["phase1"] == f["phase2"])
expect(f.meta["period_px"] == "60 66" and f.meta["steps"] == "3", f.meta)'
	phasewrap -n 4 mono.nrrd -o mono_out.nrrd
	phasewrap -n 4 --channel g green.nrrd -o green_out.nrrd
	phasewrap -n 4 grey.nrrd -o grey_out.nrrd
	py '
want = read_frame("mono_out.nrrd").pixels
expect(read_frame("green_out.nrrd").pixels == want)
expect(read_frame("grey_out.nrrd").pixels == want)'
	fails 1 "image is in colour: name one with --channel, or say --rgb" phasewrap -n 4 green.nrrd
	fails 2 "--channel: takes one colour, --rgb all three" phasewrap --rgb --channel r rgb.nrrd
}

@test "phasewrap: folders in natural order, pages of a TIFF, a manifest that reads its own files" {
	py "$model"'
import os; os.mkdir("set")
i = [np.rint(x).astype("u1") for x in capture(scene(10, 12), shifts(12))]
for n, x in enumerate(i):
	write_frames("set/i%d.nrrd" % n, Frame(x))
write_frames("all.nrrd", [Frame(x) for x in i])
with open("m.vnl", "w") as m:
	print("# file role axis period_px step shift_rad bit", file=m)
	for n in (np.arange(12) * 5 + 3) % 12:
		print("set/i%d.nrrd phase y 48 %d %r -" % (n, n, float(shifts(12)[n])), file=m)
with open("pages.vnl", "w") as m:
	print("# file role axis period_px step shift_rad bit", file=m)
	for n in range(12):
		print("all.tif phase y 48 %d - -" % n, file=m)'
	framecat all.nrrd -o all.tif
	phasewrap -n 12 -p 48 all.nrrd -o want.nrrd
	phasewrap -n 12 -p 48 set -o folder.nrrd
	phasewrap -n 12 -p 48 all.tif -o tiff.nrrd
	phasewrap -m m.vnl -o manifest.nrrd
	phasewrap -m pages.vnl -o pages.nrrd
	phasewrap -m pages.vnl - <all.nrrd >stdin.nrrd
	phasewrap --manifest pages.vnl all.tif all.nrrd -o two.nrrd
	py '
want = read_frame("want.nrrd").pixels
for name in "folder", "tiff", "manifest", "pages", "stdin":
	f = read_frame(name + ".nrrd")
	expect(np.abs(f.pixels - want) < 1e-5 * np.abs(want) + 1e-6, name)
	if name in ("manifest", "pages"):
		expect(f.meta["axis"] == "y" and f.meta["period_px"] == "48" and f.meta["steps"] == "12", f.meta)
expect(read_frame("manifest.nrrd").meta["cmd.1"] == "phasewrap --manifest=m.vnl [12]")
expect(len(read_frames("two.nrrd")) == 2)'
	fails 1 "a measurement is 12 images, the input ends after 11 of one" \
		phasewrap -m m.vnl set/i?.nrrd set/i10.nrrd
}

@test "phasewrap: one thread equals seven, every band height, every level of instructions" {
	py "$model"'
i = np.array(capture(scene(60, 333), shifts(6)) * 2)
i[3, 7, 9] = np.nan
write_frames("f.nrrd", frames(list(i) + [i[0]] * 3) * 2)
write_frames("u.nrrd", frames(np.nan_to_num(np.rint(list(i) + [i[0]] * 3)), "u1"))'
	for file in f u; do
		set -- -n 6 -p 60,66 -G 3 --min-modulation 0.3 $file.nrrd
		phasewrap -j 1 "$@" >want.nrrd
		phasewrap -j 7 "$@" >got.nrrd
		cmp want.nrrd got.nrrd
		FRINGEPIPE_BAND=1 phasewrap -j 2 "$@" >got.nrrd
		cmp want.nrrd got.nrrd
		levels=$(cpu_levels)
		for level in $levels; do
			FRINGEPIPE_CPU=$level phasewrap "$@" >got.nrrd
			cmp want.nrrd got.nrrd
		done
	done
}

@test "phasewrap: errors of the command line" {
	py "$model"'write_frames("in.nrrd", frames(capture(scene(3, 3), shifts(3))))'
	fails 2 "--shift: 2 values for 3 steps" phasewrap -n 3 --shift 0,90 in.nrrd
	fails 2 "--shift: three or more shifts give a phase, not 2" phasewrap --shift 0,90 in.nrrd
	fails 2 "--steps: 2+1 images are 3, not 4" phasewrap -k 2+1 -n 4 in.nrrd
	fails 2 "--shift: 2+1 images are a sine, a cosine and a flat one" phasewrap -k 2+1 -s 0,90,1 in.nrrd
	fails 2 "--steps: a Gray code alone has no steps" phasewrap -k gray -n 3 -G 3 in.nrrd
	fails 2 "--flat: is for --kind 2+1" phasewrap --flat 1 -n 3 in.nrrd
	fails 2 "--order: must be made of phase gray flat by-step pairs lsb-first, not 'up'" \
		phasewrap -n 3 --order gray,up in.nrrd
	fails 2 "--order: names gray twice" phasewrap -n 3 --order gray,phase,gray in.nrrd
	fails 2 "--axis: must be x or y, or one per period, not 'z'" phasewrap -n 3 -a z in.nrrd
	fails 2 "--gray: must be one or two numbers, not 3" phasewrap -n 3 -G 1,2,3 in.nrrd
	fails 2 "--gray: 2.5 is no number of planes" phasewrap -n 3 -G 2.5 in.nrrd
	fails 2 "--inverse: needs the number of planes: give --gray" phasewrap -n 3 -i in.nrrd
	fails 2 "--steps: must be" phasewrap -n 2 in.nrrd
	fails 2 "--kind: must be one of auto step 2+1 gray double, not 'four'" phasewrap -k four in.nrrd
	fails 1 "none.vnl" phasewrap -m none.vnl
}

@test "phasewrap: errors of the input" {
	py "$model$tagged"'
write_frames("in.nrrd", frames(capture(scene(3, 3), shifts(4))))
write_frames("same.nrrd", frames(capture(scene(3, 3), shifts(3)), role="phase", step=1, set_images=3))
write_frames("text.nrrd", frames(capture(scene(3, 3), shifts(3)), phase_sign="up"))
write_frames("sign.nrrd", frames(capture(scene(3, 3), shifts(3)), phase_sign=2))
write_frames("most.nrrd", frames(capture(scene(3, 3), shifts(3)), max_value="many"))
write_frames("role.nrrd", frames(capture(scene(3, 3), shifts(3)), role="picture", set_images=3))
write_frames("part.nrrd", frames(capture(scene(3, 3), shifts(3)), set_images="few"))
write_frames("half.nrrd", frames(capture(scene(3, 3), shifts(3)), set_images=2.5))
write_frames("wide.nrrd", frames(capture(scene(3, 3), shifts(3))[:2]) + frames([np.zeros((3, 4))]))
all = tagged()[0]
write_frames("all.nrrd", all)
gone = [f for f in all if f.meta["role"] != "gray_inverse" or f.meta["bit"] != "1"]
bits = [f for f in all if f.meta["role"] not in ("gray", "gray_inverse") or f.meta["bit"] != "1"]
for name, set in ("gone", gone), ("bits", bits):
	for f in set: f.meta = dict(f.meta, set_images=str(len(set)))
	write_frames(name + ".nrrd", set)
pair = [Frame(f.pixels, meta=dict(f.meta, set_images="2")) for f in all[:2]]
write_frames("pair.nrrd", pair)
sine = [Frame(f.pixels, meta=dict(f.meta, role=r, set_images="3")) for f, r in zip(all[:3], ("sin", "cos", "cos"))]
write_frames("sine.nrrd", sine)'
	phasewrap -n 4 in.nrrd -o done.nrrd
	fails 1 "nothing says how many steps there are: give --steps, or --manifest" phasewrap in.nrrd
	fails 1 "nothing says how many Gray planes there are: give --gray" phasewrap -k gray in.nrrd
	fails 1 "a measurement is 3 images, the input ends after 1 of one" phasewrap -n 3 -s -120,0,120 in.nrrd
	fails 1 "input holds phases already, captured images are wanted" phasewrap -n 3 done.nrrd
	fails 1 "a measurement is 5 images by the options and 31 by the key set_images: give --period" \
		phasewrap -n 5 all.nrrd
	fails 1 "nothing tells dark from bright in the Gray planes" phasewrap -k gray -G 4 in.nrrd
	fails 1 "without fringe images --min-amplitude, --min-modulation and --dark need white and black" \
		phasewrap -k gray -G 2 -F 1 --dark 3 in.nrrd
	fails 1 "the shifts of the period 60 px do not determine a phase" \
		phasewrap --shift 0,90,90,360 -p 60 in.nrrd
	fails 1 "--axis has 2 letters for 1 periods" phasewrap -n 4 -a x,y in.nrrd
	fails 1 "image 2 and image 3 are the same step, 1, of the period along x" phasewrap same.nrrd
	fails 1 "phase_sign" phasewrap -n 3 text.nrrd
	fails 1 "phase_sign: must be 1 or -1, not 2" phasewrap -n 3 sign.nrrd
	fails 1 "max_value" phasewrap -n 3 most.nrrd
	fails 1 "picture" phasewrap role.nrrd
	fails 1 "set_images" phasewrap part.nrrd
	fails 1 "set_images: 2.5 is no number of images" phasewrap half.nrrd
	fails 1 "4 x 3" phasewrap -n 3 wide.nrrd
	fails 1 "4 Gray planes along x, but 3 inverse ones" phasewrap gone.nrrd
	fails 1 "is bit 3 of the Gray code along x, which has 3 planes, none of them bit " phasewrap bits.nrrd
	fails 1 "the period 60 px has 2 images, a phase needs 3" phasewrap pair.nrrd
	fails 1 "2+1 images of the period 60 px must be sin, cos and flat, there are 3" phasewrap sine.nrrd
	fails 1 "2 periods are given, the images have 3" phasewrap -p 60,66 all.nrrd
	fails 1 "4 shifts for 5 images of the period 60 px" phasewrap --shift 0,90,180,270 -p 1,2,3 -G 4,3 -i -F 2 all.nrrd
	fails 1 "the measurement has neither fringe images nor Gray planes of that kind" \
		phasewrap -k 2+1 pair.nrrd
}

@test "phasewrap: the alpha plane of grey images is no capture" {
	py '
rng = np.random.default_rng(5)
grey = rng.integers(20, 200, (3, 9, 11)).astype("u1")
opaque = np.full((9, 11), 255, "u1")
write_frames("grey.nrrd", [Frame(g) for g in grey])
write_frames("alpha.nrrd", [Frame(np.stack([g, opaque]), ["image", "a"]) for g in grey])'
	phasewrap -n 3 grey.nrrd -o a.nrrd
	phasewrap -n 3 alpha.nrrd -o b.nrrd
	framecmp a.nrrd b.nrrd
}

@test "phasewrap: saturated floats are seen as well where they are near the largest that there are" {
	py '
phase = 2 * np.pi * np.arange(64) / 16
images = np.array([np.tile(100 + 120 * np.cos(phase - 2 * np.pi * k / 3), (48, 1)) for k in range(3)])
images = (images + np.random.default_rng(1).normal(0, 1, images.shape)).clip(1, 200)
for name, scale in ("usual", 2.0 ** -20), ("large", 2.0 ** 118):
	write_frames(name + ".nrrd", Frame((images * scale).astype("f4"), ["image"] * 3))'
	for level in $(cpu_levels); do
		for name in usual large; do
			FRINGEPIPE_CPU=$level may_be_empty phasewrap -n 3 -p 16 $name.nrrd -o out.nrrd
			echo "$stderr" >messages
			sed -n 's/samples are exactly [^,]*/samples are exactly V/; s/ there give .*//; /exactly/p' messages >$name
		done
		grep 'samples are exactly V, and none is above: if the camera saturates' usual
		diff usual large
	done
}

@test "phasewrap: --texture-from max, mean and flat" {
	py "$model"'
rng = np.random.default_rng(3)
for n, dtype in ((4, "u1"), (5, "f4")):
	s = scene(7, 33, n)
	write_frames("in%d.nrrd" % n, frames([np.rint(i) for i in capture(s, shifts(n)) + capture(s, shifts(n), 1, 1)], dtype))
write_frames("three.nrrd", frames([rng.integers(1, 255, (7, 33)) for i in range(6)], "u1"))'
	phasewrap -n 4 -p 20,30 --texture-from mean in4.nrrd -o mean4.nrrd
	phasewrap -n 5 -p 20,30 --texture-from mean --as vector in5.nrrd -o mean5.nrrd
	phasewrap -k 2+1 three.nrrd -o flat.nrrd
	phasewrap -k 2+1 -p 20,30 --texture-from max three.nrrd -o max.nrrd
	phasewrap -k 2+1 -p 20,30 three.nrrd -o both.nrrd
	py '
for n in 4, 5:
	images = np.mean([f.pixels[0].astype(float) for f in read_frames("in%d.nrrd" % n)], axis=0)
	expect(np.abs(read_frame("mean%d.nrrd" % n)["texture"] - images) < 3e-5, n)
three = [f.pixels[0].astype("f8") for f in read_frames("three.nrrd")]
first = read_frames("flat.nrrd")
expect(len(first) == 2)
expect(first[0]["texture"] == three[2])
expect(first[1]["texture"] == three[5])
expect(read_frame("both.nrrd")["texture"] == (three[2] + three[5]) / 2)
b = [np.hypot(three[k] - three[k + 2], three[k + 1] - three[k + 2]) for k in (0, 3)]
expect(np.abs(read_frame("max.nrrd")["texture"] - (three[2] + b[0] + three[5] + b[1]) / 2) < 1e-4)'
	fails 1 "--texture-from: flat is for 2+1 images: mean takes the fringes out of these" \
		phasewrap -n 4 --texture-from flat in4.nrrd -o none.nrrd
	fails 1 "--texture-from: there are no fringe images" \
		phasewrap -k gray -G 4 -i --texture-from mean in4.nrrd -o none.nrrd
	[ ! -e none.nrrd ]
}

@test "phasewrap: of a camera's video in YUV luma is the image, and no colour plane" {
	need_data hagen_lens_4step
	framecat --delete '*' "$data"/hagen_lens_4step/lens_crop_*.jpg -o grey.nrrd
	py '
frames = read_frames("grey.nrrd")
h, w = frames[0].pixels.shape[1:]
with open("raw", "wb") as raw, open("set.y4m", "wb") as y4m:
	y4m.write(b"YUV4MPEG2 W%d H%d F30:1 Ip C420jpeg XCOLORRANGE=FULL\n" % (w, h))
	for k, f in enumerate(frames):
		chroma = (np.arange(h * w // 2) * (k + 3) % 251).astype("u1")
		picture = f.pixels.tobytes() + chroma.tobytes()
		raw.write(picture)
		y4m.write(b"FRAME\n" + picture)
print("%dx%d" % (w, h))' >size
	options=(-n 4 -p 25 --sign -1)
	phasewrap "${options[@]}" grey.nrrd -o want.nrrd
	for more in "set.y4m" "--channel luma set.y4m" "--raw $(cat size),yuv420p raw"; do
		# shellcheck disable=SC2086 # options
		silent phasewrap "${options[@]}" $more -f -o got.nrrd
		framecmp want.nrrd got.nrrd
	done
	run phasewrap -v "${options[@]}" set.y4m -f -o got.nrrd
	[ "$(grep -c "of images luma chroma_u chroma_v the luma is taken" <<<"$output")" -eq 1 ]
	for tool in "phasewrap -n 4 -p 25" "fourierphase -p 25"; do
		# shellcheck disable=SC2086
		fails 1 "--channel: image has the channels luma chroma_u chroma_v, and none of this name" $tool --channel r set.y4m -o none.nrrd
	done
	framecat --frames 0 --set max_value=255 set.y4m -o yuv.nrrd
	py 'write_frames("rgb.nrrd", Frame(read_frame("yuv.nrrd").pixels, ["r", "g", "b"]))'
	fails 1 "--channel: image has the channels r g b, and none of this name" phasewrap -n 4 -p 25 --channel luma rgb.nrrd -o none.nrrd
	[ ! -e none.nrrd ]
}
