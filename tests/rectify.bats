load helpers

# The rig, its rectification and the resampling again, in float64: rotations by Rodrigues' formula.
reference='
import json
def turn(x, y, z):
	c, s = np.cos([x, y, z]), np.sin([x, y, z])
	return (np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]]) @
		np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]]) @
		np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]]))
def rodrigues(v):
	a = np.linalg.norm(v)
	if a == 0: return np.eye(3)
	k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]]) / a
	return np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k
def vector(R):
	a = np.arccos((np.trace(R) - 1) / 2)
	return a / (2 * np.sin(a)) * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
def rotations(R, T):
	"""Half the relative rotation each, then the baseline to the x axis."""
	half = rodrigues(vector(R) / 2)
	t = half.T @ T
	e = -t / np.linalg.norm(t) * np.sign(-t[0])
	axis = np.cross(e, [1, 0, 0])
	W = rodrigues(axis / np.linalg.norm(axis) * np.arccos(e[0]))
	return [W @ half, W @ half.T], (W @ t)[0]
def lens(d, x, y):
	k1, k2, p1, p2, k3 = d
	r2 = x * x + y * y
	c = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
	return x * c + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * c + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
def places(K, d, R, f, cx, cy, w, h, origin=(0, 0), bin=1):
	"""Where in the frame the pixels of the rectified one come from."""
	y, x = np.mgrid[:h, :w].astype(float)
	ray = np.stack([(x - cx) / f, (y - cy) / f, np.ones((h, w))])
	ray = np.tensordot(R.T, ray, 1)
	a, b = lens(d, ray[0] / ray[2], ray[1] / ray[2])
	u, v = K[0][0] * a + K[0][1] * b + K[0][2], K[1][1] * b + K[1][2]
	return (u - origin[0] + .5) / bin - .5, (v - origin[1] + .5) / bin - .5
def keys(p):
	return [-.5 * p**3 + p**2 - .5 * p, 1.5 * p**3 - 2.5 * p**2 + 1, -1.5 * p**3 + 2 * p**2 + .5 * p, .5 * p**3 - .5 * p**2]
def weights(f, cubic):
	return keys(f) if cubic else [0 * f, 1 - f, f, 0 * f]
def samples(image, u, v, cubic=False):
	"""Of all 16 neighbours the values (NaN outside) and weights; near: a rounding of the place matters."""
	u, v = np.round(u * 65536) / 65536, np.round(v * 65536) / 65536
	iu, iv = np.floor(u).astype(int), np.floor(v).astype(int)
	wx, wy = weights(u - iu, cubic), weights(v - iv, cubic)
	h, w = image.shape
	out = []
	for j in range(4):
		for i in range(4):
			x, y = iu + i - 1, iv + j - 1
			inside = (x >= 0) & (y >= 0) & (x < w) & (y < h)
			out.append((wx[i] * wy[j], np.where(inside, image[np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)], np.nan)))
	return np.array([o[0] for o in out]), np.array([o[1] for o in out])
def resampled(image, u, v, cubic=False, step=np.inf, full=np.inf, kind="plain"):
	weight, value = samples(image.astype(float), u, v, cubic)
	used = weight != 0
	lost = (used & np.isnan(value)).any(0)
	some = np.where(used, value, np.nan)
	value = np.where(used, value, 0)
	with np.errstate(all="ignore"):
		import warnings; warnings.simplefilter("ignore")
		if kind == "wrapped":
			out = np.arctan2((weight * np.sin(value)).sum(0), (weight * np.cos(value)).sum(0))
			first = value[5]
			some = np.where(used, (value - first + np.pi) % (2 * np.pi) - np.pi, np.nan)
		elif kind == "sigma":
			out = np.sqrt((weight**2 * value**2).sum(0))
		else:
			out = (weight * value).sum(0)
		high, low = np.nanmax(some, 0), np.nanmin(some, 0)
		out = np.where(high >= full, high, out)
		return np.where(lost | (high - low > step), np.nan, out)
K1, D1 = [[400, 1, 62.], [0, 396, 40], [0, 0, 1]], [-.1, .05, .001, -.0005, .01]
K2, D2 = [[404, 0, 58.], [0, 405, 45], [0, 0, 1]], [.08, -.03, -.0008, .0006, 0]
R, T = turn(.02, .2, .03), np.array([-150., 4, 12])
def write_rig(name, size=(129, 97), **more):
	rig = dict(K1=K1, d1=D1, K2=K2, d2=D2, R=R.tolist(), T_mm=T.tolist(), image_size=size)
	rig.update(more)
	json.dump({k: v for k, v in rig.items() if v is not None}, open(name, "w"))
def own(frame):
	m = frame.meta
	f, cx, cy, b = (float(m["rect_" + k]) for k in ("f_px", "cx_px", "cy_px", "baseline_mm"))
	return f, cx, cy, b, np.array([float(n) for n in m["rect_rotation"].split()]).reshape(3, 3)
def alike(got, want, within, slack=0, *what):
	"""The same, but where a place lies so near to a sample that rounding decides which ones count."""
	odd = np.isnan(got) != np.isnan(want)
	expect(odd.mean() <= slack, "NaN", odd.sum(), *what)
	expect(np.nan_to_num(np.abs(got - want))[~odd] <= within, np.nanmax(np.abs(got - want)), *what)
'

@test "rectify: rotations, focal length, principal points and baseline against Rodrigues in NumPy" {
	py "$reference"'
write_rig("rig.json")
write_frames("in.nrrd", Frame(np.zeros((97, 129), "f4")))'
	for side in left right; do rectify --calib rig.json --side $side in.nrrd -o $side.nrrd; done
	py "$reference"'
want, t = rotations(R, T)
l, r = read_frame("left.nrrd"), read_frame("right.nrrd")
middle = []
for K, d, R_, frame, side in (K1, D1, want[0], l, "left"), (K2, D2, want[1], r, "right"):
	f, cx, cy, b, turned = own(frame)
	expect(np.abs(turned - R_) < 1e-12, turned - R_)
	expect(abs(f - (400 + 396 + 404 + 405) / 4) < 1e-9, f)
	expect(abs(b + t) < 1e-9, b, t)
	expect(frame.meta["rect_side"] == side)
	corner = []
	for u, v in (0, 0), (128, 0), (0, 96), (128, 96):
		ay = (v - K[1][2]) / K[1][1]; ax = (u - K[0][2] - K[0][1] * ay) / K[0][0]
		x, y = ax, ay
		for _ in range(100):
			gx, gy = lens(d, x, y)
			x, y = x + ax - gx, y + ay - gy
		p = R_ @ [x, y, 1]
		corner.append(p[:2] / p[2])
	middle.append(np.mean(corner, 0))
	expect(abs(cx + f * middle[-1][0] - 64) < 1e-6, cx)
	expect("%dx%d" % frame.pixels.shape[:0:-1] == "129x97")
expect(own(l)[2] == own(r)[2], "one row for both")
expect(abs(own(l)[2] + f * np.mean(middle, 0)[1] - 48) < 1e-6)'
}

@test "rectify: the definition in float64 at every size, linear and cubic, of each kind of channel" {
	local sizes=(1x1 5x7 127x1 128x64 129x65)
	py "$reference"'
for size in sys.argv[1:]:
	w, h = map(int, size.split("x"))
	rng = np.random.default_rng(w)
	write_rig(size + ".json", (w, h), K1=[[300, 1, w / 2], [0, 296, h / 2], [0, 0, 1]], K2=[[304, 0, w / 2], [0, 305, h / 2], [0, 0, 1]])
	y, x = np.mgrid[:h, :w].astype(float)
	u = .3 * x + .2 * y
	planes = np.array([100 * np.sin(u), np.arctan2(np.sin(u), np.cos(u)), u + 9 * (x > w / 2), .1 + .02 * np.cos(u), np.floor(u)])
	planes = planes.astype("f4")
	if w > 5: planes[:, rng.random((h, w)) < .01] = np.nan
	names = "modulation phase2 absphase sigma index".split()
	write_frames(size + ".nrrd", Frame(planes, names))' "${sizes[@]}"
	for size in "${sizes[@]}"; do
		for how in linear cubic; do
			may_be_empty rectify -q --calib $size.json --side right --interpolation $how $size.nrrd -o $size.$how.nrrd
			may_be_empty rectify -q --calib $size.json --side right --interpolation $how --max-step 1 --size 200x99 $size.nrrd -o $size.$how.1.nrrd
			framecat --channels phase2 $size.nrrd -o phase2.nrrd
			may_be_empty rectify -q --calib $size.json --side right --interpolation $how --max-step 0.4 phase2.nrrd \
				-o $size.$how.w.nrrd
		done
	done
	py "$reference"'
for size in sys.argv[1:]:
	w, h = map(int, size.split("x"))
	image = read_frame(size + ".nrrd").pixels
	K = [[304, 0, w / 2], [0, 305, h / 2], [0, 0, 1]]
	for how in "linear", "cubic":
		for suffix, step in (".nrrd", np.pi), (".1.nrrd", 1):
			got = read_frame(size + "." + how + suffix)
			f, cx, cy, b, turned = own(got)
			n, m = got.pixels.shape[:0:-1]
			u, v = places(K, D2, turned, f, cx, cy, n, m)
			cubic = how == "cubic"
			slack = 1e-3
			for k, kind, limit, within in (0, "plain", np.inf, 6e-4), (1, "wrapped", np.inf, 2e-5), (2, "plain", step, 6e-5), (3, "sigma", np.inf, 1e-6):
				want = resampled(image[k], u, v, cubic, limit, np.inf, kind)
				turns = got.pixels[k] - want
				if kind == "wrapped":
					want = want + 2 * np.pi * np.round(turns / (2 * np.pi))
				alike(got.pixels[k], want, within, slack, how, got.names[k], size)
			at = np.isfinite(got.pixels[4])
			want = image[4][np.clip(np.round(v), 0, h - 1).astype(int), np.clip(np.round(u), 0, w - 1).astype(int)]
			expect(((got.pixels[4] == want) | ~at | np.isnan(want)).mean() > .99)
		got = read_frame(size + "." + how + ".w.nrrd")
		u, v = places(K, D2, turned, f, cx, cy, *got.pixels.shape[:0:-1])
		want = resampled(image[1], u, v, cubic, .4, np.inf, "wrapped")
		odd = np.isnan(want) != np.isnan(got.pixels[0])
		expect(odd.mean() < 2e-3, "steps of a wrapped phase", odd.sum())
	expect(w < 100 or h < 60 or np.isfinite(read_frame(size + ".linear.nrrd").pixels[2]).mean() > .5)' "${sizes[@]}"
}

@test "rectify: cameras that are rectified already keep their pixels to the bit" {
	py "$reference"'
K = [[1000, 0, 63.5], [0, 1000, 48], [0, 0, 1]]
write_rig("rig.json", K1=K, d1=None, K2=K, d2=None, R=np.eye(3).tolist(), T_mm=[-200, 0, 0])
rng = np.random.default_rng(1)
p = rng.normal(0, 3, (3, 97, 129)).astype("f4"); p[2] = np.abs(p[2]); p[rng.random(p.shape) < .03] = np.nan
write_frames("in.nrrd", Frame(p, ["texture", "absphase", "sigma"], {"name": "a"}))
write_frames("image.nrrd", Frame(rng.integers(0, 256, (97, 129)).astype("u1")))'
	for side in left right; do
		for how in linear cubic; do
			rectify --calib rig.json --side $side --interpolation $how --max-step 100 in.nrrd -o out.$side.$how.nrrd
			rectify --calib rig.json --side $side --interpolation $how image.nrrd -o image.$side.$how.nrrd
		done
	done
	py '
for of in "left.linear", "left.cubic", "right.linear", "right.cubic":
	a, b = read_frame("in.nrrd"), read_frame("out.%s.nrrd" % of)
	expect(np.array_equal(a.pixels, b.pixels, equal_nan=True), of)
	expect(b.meta["rect_cx_px"] == "63.5" and b.meta["rect_f_px"] == "1000" and b.meta["rect_baseline_mm"] == "200", b.meta)
	expect(b.meta["name"] == "a")
	a, b = read_frame("image.nrrd"), read_frame("image.%s.nrrd" % of)
	expect(np.array_equal(a.pixels, b.pixels), of); expect(b.pixels.dtype == "f4" and b.meta["max_value"] == "255", b.meta)'
}

@test "rectify: a part of a saturated sample saturates a pixel, in 8 and 16 bits and by max_value" {
	py "$reference"'
write_rig("rig.json")
rng = np.random.default_rng(2)
p = rng.random((97, 129)); p[40:60, 50:90] = 2
for name, top, kind, meta in ("a", 255, "u1", {}), ("b", 65535, "<u2", {}), ("c", 4095, "<u2", {"max_value": "4095"}), ("d", 200, "f4", {"max_value": "200"}):
	write_frames(name + ".nrrd", Frame(np.minimum(p * .99 * top, top).astype(kind), ["image"], meta))'
	for name in a b c d; do
		rectify -q --calib rig.json --side left $name.nrrd -o $name.l.nrrd
		rectify -q --calib rig.json --side left --interpolation cubic $name.nrrd -o $name.c.nrrd
	done
	py "$reference"'
for name, top in ("a", 255), ("b", 65535), ("c", 4095), ("d", 200):
	image = read_frame(name + ".nrrd").pixels[0]
	for how in "lc":
		got = read_frame("%s.%s.nrrd" % (name, how))
		f, cx, cy, b, turned = own(got)
		want = resampled(image, *places(K1, D1, turned, f, cx, cy, 129, 97), how == "c", np.inf, top)
		alike(got.pixels[0], want, 2e-4 * top, 1e-3, name, how)
		full = got.pixels[0] == top
		expect(full == (want == top)); expect(full.sum() > 500, full.sum())
		expect(float(got.meta["max_value"]) == top)'
}

@test "rectify: crops and binned frames lie where their keys say, --origin says it too" {
	py "$reference"'
write_rig("rig.json", (128, 96))
y, x = np.mgrid[:96, :128].astype("f4")
image = np.sin(x / 9) * np.cos(y / 7) * 100
write_frames("whole.nrrd", Frame(image))
write_frames("crop.nrrd", Frame(image[20:70, 31:111], None, {"origin_px": "31 20"}))
write_frames("bare.nrrd", Frame(image[20:70, 31:111]))
write_frames("bin.nrrd", Frame(image[20:70, 30:110].reshape(25, 2, 40, 2).mean((1, 3)), None, {"origin_px": "30 20", "bin": "2"}))'
	for f in whole crop bin; do rectify -q --calib rig.json --side left $f.nrrd -o $f.out.nrrd; done
	rectify -q --calib rig.json --side left --origin 31,20 bare.nrrd -o bare.out.nrrd
	py "$reference"'
whole, crop, bare, two = (read_frame(n + ".out.nrrd") for n in ("whole", "crop", "bare", "bin"))
at = np.isfinite(crop.pixels)
expect(3000 < at.sum() < 5000, at.sum())
expect(np.abs(whole.pixels - crop.pixels)[at] < 1e-3); expect(np.array_equal(crop.pixels, bare.pixels, equal_nan=True))
expect("origin_px" not in crop.meta and "bin" not in two.meta)
expect(two.pixels.shape == (1, 48, 64))
a, b = own(whole), own(two)
expect(np.isclose(b[0], a[0] / 2) and np.isclose(b[1], (a[1] + .5) / 2 - .5) and np.isclose(b[2], (a[2] + .5) / 2 - .5), a, b)
image = read_frame("bin.nrrd").pixels[0]
u, v = places(K1, D1, b[4], 2 * b[0], 2 * b[1] + .5, 2 * b[2] + .5, 128, 96)
u, v = (places(K1, D1, b[4], b[0], b[1], b[2], 64, 48, (30, 20), 2))
alike(two.pixels[0], resampled(image, u, v), 2e-3, 1e-3)
smooth = whole.pixels[0].reshape(48, 2, 64, 2).mean((1, 3))
expect(np.nanmax(np.abs(smooth - two.pixels[0])) < 2, np.nanmax(np.abs(smooth - two.pixels[0])))'
}

@test "rectify: R1 R2 P1 P2 of the file, XML and YAML and plain numbers, other units; both together if they agree" {
	py "$reference"'
write_rig("rig.json")
write_frames("in.nrrd", Frame(np.random.default_rng(1).random((97, 129)).astype("f4")))
Rs, t = rotations(R, T)
P = [[[500, 0, 70, 0], [0, 500, 50, 0], [0, 0, 1, 0]], [[500, 0, 60, 500 * t], [0, 500, 50, 0], [0, 0, 1, 0]]]
given = dict(R1=Rs[0].tolist(), R2=Rs[1].tolist(), P1=P[0], P2=P[1])
write_rig("both.json", **given)
write_rig("alone.json", R=None, T_mm=None, **given)
write_rig("turned.json", R1=given["R1"], R2=given["R2"])
write_rig("cm.json", T_mm=None, T=(T / 10).tolist(), length_unit="cm")
write_rig("unknown.json", length_unit="furlong")
write_rig("off.json", **dict(given, P2=(np.array(P[1]) + [[0, 0, 0, 40], [0] * 4, [0] * 4]).tolist()))
write_rig("rows.json", R=(turn(.0005, 0, 0) @ R).tolist(), **given)
def numbers(m): return " ".join(repr(float(v)) for v in np.array(m).ravel())
names = dict(M1=K1, D1=D1, M2=K2, D2=D2, R=R, T=T)
with open("rig.yml", "w") as f:
	f.write("%YAML:1.0\n---\n")
	for k, m in names.items():
		m = np.atleast_2d(np.array(m))
		f.write("%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ %s ]\n" % (k, *m.shape, numbers(m).replace(" ", ", ")))
	f.write("image_size: [ 129, 97 ]\n")
with open("rig.xml", "w") as f:
	f.write("<?xml version=\"1.0\"?>\n<opencv_storage>\n")
	for k, m in names.items(): f.write("<%s type_id=\"opencv-matrix\"><rows>%d</rows><cols>%d</cols><dt>d</dt><data>%s</data></%s>\n" % (k, *np.atleast_2d(m).shape, numbers(m), k))
	f.write("<image_size>129 97</image_size></opencv_storage>\n")
A = np.array(K1) @ np.eye(3, 4); B = np.array(K2) @ np.c_[R, T]
W = np.eye(4); W[:3, :3] = turn(.3, .1, -.2); W[:3, 3] = 5, 6, 7
open("plain.txt", "w").write("# two cameras\n" + numbers(A @ W) + "\n" + numbers(B @ W) + "\n")
write_rig("ideal.json", d1=None, d2=None, image_size=None)'
	for f in rig.json both.json alone.json turned.json cm.json rig.yml rig.xml plain.txt ideal.json; do
		rectify -q --calib $f --side right in.nrrd -o $f.nrrd || { echo "$f"; return 1; }
	done
	for f in turned.json cm.json rig.yml rig.xml; do framecmp --max 1e-4 rig.json.nrrd $f.nrrd; done
	framecmp --max 1e-4 both.json.nrrd alone.json.nrrd
	framecmp --max 1e-3 plain.txt.nrrd ideal.json.nrrd
	py "$reference"'
got = read_frame("both.json.nrrd")
f, cx, cy, b, turned = own(got)
expect((f, cx, cy) == (500, 60, 50), f, cx, cy); expect(abs(b + rotations(R, T)[1]) < 1e-9)
alike(got.pixels[0], resampled(read_frame("in.nrrd").pixels[0], *places(K2, D2, turned, 500, 60, 50, 129, 97)), 1e-4, 1e-3)
expect(abs(own(read_frame("cm.json.nrrd"))[3] - own(read_frame("rig.json.nrrd"))[3]) < 1e-9)'
	fails 1 "off.json: R T and R1 R2 P1 P2 disagree by 0.1" rectify --calib off.json --side left in.nrrd
	fails 1 "rows.json: R T and R1 R2 P1 P2 disagree by" rectify --calib rows.json --side left in.nrrd
	fails 1 "unknown.json: length_unit: expected mm, cm, m, um or in, found furlong" rectify --calib unknown.json --side left in.nrrd
}

@test "rectify: cameras one above the other become rows, exchanged cameras have a negative baseline" {
	py "$reference"'
K = [[1000, 0, 64], [0, 1000, 48], [0, 0, 1]]
write_rig("above.json", K1=K, K2=K, d1=None, d2=None, R=np.eye(3).tolist(), T_mm=[0, -200, 0])
write_rig("back.json", K1=K, K2=K, d1=None, d2=None, R=np.eye(3).tolist(), T_mm=[200, 0, 0])
write_frames("in.nrrd", Frame(np.random.default_rng(1).random((97, 129)).astype("f4")))'
	rectify --calib above.json --side left in.nrrd -o above.nrrd
	rectify --calib back.json --side right in.nrrd -o back.nrrd
	py "$reference"'
image = read_frame("in.nrrd").pixels[0]
above, back = read_frame("above.nrrd"), read_frame("back.nrrd")
expect(np.abs(above.pixels[0][:, :] - image.T[::-1]) < 1e-5)		# what lies below comes to the right
expect(own(above)[3] == 200 and own(back)[3] == -200)
expect(np.array_equal(back.pixels[0], image))'
}

@test "rectify: where the lens model folds back there is nothing" {
	py "$reference"'
K = [[60, 0, 64], [0, 60, 48], [0, 0, 1]]
write_rig("rig.json", K1=K, K2=K, d1=[-.3, 0, 0, 0, 0], d2=[-.3, 0, 0, 0, 0], R=np.eye(3).tolist(), T_mm=[-200, 0, 0])
write_frames("in.nrrd", Frame(np.ones((97, 129), "f4")))'
	rectify -q --calib rig.json --side left --size 400x97 in.nrrd -o out.nrrd
	py "$reference"'
got = read_frame("out.nrrd")
f, cx, cy, b, turned = own(got)
y, x = np.mgrid[:97, :400]
r = np.hypot(x - cx, y - cy) / f
fold = 1 / np.sqrt(.9)
seen = np.isfinite(got.pixels[0])
expect(~seen[r > fold + .01]); expect(seen[(r < fold - .05) & (np.abs(y - 48) < 20)])
expect(seen.sum() > 2000)'
}

# What the left and the right view see of one place, as rectified frames: the world's y, x and z at matched points.
@test "rectify: a simulated pair with lenses, turned cameras: points lie on equal rows, at their disparity" {
	py "$reference"'
write_rig("rig.json", (320, 240), K1=[[700, 0, 160.], [0, 702, 118]] + [[0, 0, 1]], K2=[[705, 0, 155.], [0, 704, 121], [0, 0, 1]])'
	for side in left right; do
		fringesim --calib rig.json --view $side --distance 700 --scene sphere --radius 90 --shadow --bits float -p 40 -n 3 --truth $side.nrrd -o null:
		rectify -q --calib rig.json --side $side $side.nrrd -o $side.r.nrrd
	done
	py "$reference"'
l, r = read_frame("left.r.nrrd"), read_frame("right.r.nrrd")
d, y, x = l["disparity"].astype(float), *np.mgrid[:240, :320]
at = np.where(np.isfinite(d), x - d, 0)
i = np.floor(at).astype(int); ok = np.isfinite(d) & (i >= 0) & (i < 319); i = np.clip(i, 0, 318); at = at - i
def right(name, row=0):
	p = np.roll(r[name].astype(float), -row, 0)
	return (1 - at) * np.take_along_axis(p, i, 1) + at * np.take_along_axis(p, i + 1, 1)
rows = (right("y") - l["y"]) / ((right("y", 1) - right("y", -1)) / 2)
columns = (right("disparity") - d)
good = ok & np.isfinite(rows) & (y > 0) & (y < 239)
expect(good.sum() > 20000, good.sum())
expect(np.percentile(np.abs(rows[good]), 50) < 1e-3 and np.percentile(np.abs(rows[good]), 95) < .02, np.percentile(np.abs(rows[good]), (50, 95)))
both = good & np.isfinite(columns)
expect(np.percentile(np.abs(columns[both]), 95) < .01, np.percentile(np.abs(columns[both]), 95))
f, cxl, cy, b, turned = own(l); cxr = own(r)[1]
expect(own(r)[2] == cy and own(r)[0] == f)
X = np.tensordot(turned, np.stack([l[k].astype(float) for k in "xyz"]), 1)
z = f * b / (d - (cxl - cxr))
expect(np.nanpercentile(np.abs(z - X[2]), 99) < .02, np.nanpercentile(np.abs(z - X[2]), 99))
expect(np.nanpercentile(np.abs(X[0] / X[2] * f + cxl - x), 99) < .01)'
}

# Points of a pair's absolute phases by NumPy: each row of the right frame is searched for the left one's phases.
points='
def points(l, r, only=None):
	L, P = l["absphase"].astype(float), r["absphase"].astype(float)
	f, cxl, cy, b, turned = own(l); cxr = own(r)[1]
	out = np.full((3,) + L.shape, np.nan)
	for y in range(L.shape[0]):
		at = np.flatnonzero(np.isfinite(P[y]))
		if len(at) < 2: continue
		p = P[y][at]
		good = np.isfinite(L[y])
		k = np.clip(np.searchsorted(np.maximum.accumulate(p), L[y][good]), 1, len(at) - 1)
		step = p[k] - p[k - 1]
		fit = (step > 0) & (step < 1) & (at[k] - at[k - 1] == 1) & (L[y][good] >= p[k - 1]) & (L[y][good] <= p[k])
		with np.errstate(all="ignore"): xr = at[k - 1] + (L[y][good] - p[k - 1]) / step
		x = np.flatnonzero(good)[fit]; d = x - xr[fit]
		z = f * b / (d - (cxl - cxr))
		out[:, y, x] = (x - cxl) / f * z, (y - cy) / f * z, z
	return out
def sphere(X):
	"""Centre and radius by least squares, and the rms distance from it."""
	A = np.c_[2 * X.T, np.ones(X.shape[1])]
	s = np.linalg.lstsq(A, (X**2).sum(0), rcond=None)[0]
	for _ in range(5):
		v = X.T - s[:3]; n = np.linalg.norm(v, axis=1)
		if _ == 0: radius = n.mean()
		J = np.c_[-v / n[:, None], -np.ones(len(n))]
		step = np.linalg.lstsq(J, -(n - radius), rcond=None)[0]
		s[:3] += step[:3]; radius += step[3]
	v = np.linalg.norm(X.T - s[:3], axis=1) - radius
	return radius, np.sqrt((v * v).mean()), s[:3]
'

# STEREO_ROWS, as every night: wrapped phases and cubic interpolation of each as well.
@test "rectify: captures or phases, linear or cubic: spheres fitted to a simulated pair agree within 5 % in rms" {
	py "$reference"'
write_rig("rig.json", (400, 300), K1=[[1100, 0, 200.], [0, 1102, 148], [0, 0, 1]], K2=[[1105, 0, 195.], [0, 1104, 151], [0, 0, 1]])'
	for side in left right; do
		fringesim --calib rig.json --view $side --distance 700 --scene sphere --radius 100 --field 260 --noise 1 \
			--projector 1800x1200 -p 60,62 -n 4 -o $side.nrrd
		for how in linear cubic; do
			rectify -q --calib rig.json --side $side --interpolation $how $side.nrrd | phasewrap -q | unwrap2f -q -o $side.captures.$how.nrrd
			[ $how = linear ] || [ -n "${STEREO_ROWS-}" ] || continue
			phasewrap -q $side.nrrd | unwrap2f -q | rectify -q --calib rig.json --side $side --interpolation $how -o $side.phases.$how.nrrd
			[ -n "${STEREO_ROWS-}" ] || continue
			phasewrap -q $side.nrrd | rectify -q --calib rig.json --side $side --interpolation $how | unwrap2f -q -o $side.wrapped.$how.nrrd
		done
	done
	py "$reference$points"'
ways = [(what, how) for how in ("linear", "cubic") for what in ("captures", "phases", "wrapped")]
if sys.argv[1] == "few": ways = [("captures", "linear"), ("phases", "linear"), ("captures", "cubic")]
every = {}
for what, how in ways:
	l, r = (read_frame("%s.%s.%s.nrrd" % (s, what, how)) for s in ("left", "right"))
	every[what, how] = points(l, r)
first = every["captures", "linear"]
radius, _, centre = sphere(first[:, np.isfinite(first[2]) & (first[2] < np.nanmedian(first[2]) - 30)])
common = np.all([np.isfinite(p[2]) for p in every.values()], 0)
away = np.linalg.norm((first - centre[:, None, None])[:2], axis=0)
common &= (away < 75) & (np.abs(np.linalg.norm(first - centre[:, None, None], axis=0) - radius) < 10)
expect(common.sum() > 8000, common.sum())
fits = {k: sphere(p[:, common]) for k, p in every.items()}
expect(np.abs(np.array([f[0] for f in fits.values()]) - 100) < .2, fits)
for how in "linear", "cubic":
	rms = np.array([fit[1] for way, fit in fits.items() if way[1] == how])
	expect(rms.max() / rms.min() < 1.05, how, rms)
# sqrt(2/3^2 + 1/2 2/3) of linear weights, of left and matched right pixels, and so of cubic ones
more = fits["captures", "cubic"][1] / fits["captures", "linear"][1]
expect(abs(more / (1.0675 / 0.8819) - 1) < 0.05, more)' "${STEREO_ROWS:-few}"
}

# Of independent noise a place at f keeps the sum of its weights' squares: 2/3 on average of linear weights, 0.814 of cubic
# ones with a = -1/2 (0.857 with -3/4, as OpenCV has them), each along both axes.
@test "rectify: linear and cubic: alike within 4 % without noise; of noise they leave what their weights say" {
	py "$reference"'
write_rig("rig.json", (400, 300), K1=[[1100, 0, 200.], [0, 1102, 148], [0, 0, 1]], K2=[[1105, 0, 195.], [0, 1104, 151], [0, 0, 1]])
write_frames("noise.nrrd", Frame(np.random.default_rng(1).normal(100, 10, (300, 400)).astype("f4")))'
	for how in linear cubic; do
		rectify -q --calib rig.json --side left --interpolation $how noise.nrrd -o $how.nrrd
	done
	for side in left right; do
		fringesim --calib rig.json --view $side --distance 700 --scene sphere --radius 100 --field 260 -b float \
			--projector 1800x1200 -p 60,62 -n 4 -o $side.nrrd
		for how in linear cubic; do
			rectify -q --calib rig.json --side $side --interpolation $how $side.nrrd | phasewrap -q | unwrap2f -q -o $side.captures.$how.nrrd
		done
	done
	py "$reference$points"'
for how, each in ("linear", 2 / 3), ("cubic", 0.8143):
	left = read_frame(how + ".nrrd").pixels[0]
	left = left[np.isfinite(left)]
	expect(len(left) > 50000 and abs(left.std() / (10 * each) - 1) < 0.02, how, left.std())
both = [points(*(read_frame("%s.captures.%s.nrrd" % (s, how)) for s in ("left", "right"))) for how in ("linear", "cubic")]
first = both[0]
_, _, centre = sphere(first[:, np.isfinite(first[2]) & (first[2] < np.nanmedian(first[2]) - 30)])
common = np.isfinite(both[0][2]) & np.isfinite(both[1][2]) & (np.linalg.norm((first - centre[:, None, None])[:2], axis=0) < 75)
common &= np.abs(np.linalg.norm(first - centre[:, None, None], axis=0) - 100) < 10
rms = [sphere(p[:, common])[1] for p in both]
expect(common.sum() > 8000 and max(rms) / min(rms) < 1.04, common.sum(), rms)'
}

@test "rectify: one thread equals seven, every instruction level, a pipe and a chain alike" {
	py "$reference"'
write_rig("rig.json")
rng = np.random.default_rng(4)
p = rng.normal(0, 1, (4, 97, 129)).astype("f4"); p[:, rng.random((97, 129)) < .02] = np.nan; p[3] = np.abs(p[3])
write_frames("in.nrrd", [Frame(p, ["phase1", "phase2", "texture", "sigma1"]), Frame(p[:1], ["absphase"])])
write_frames("images.nrrd", [Frame(rng.integers(0, 256, (97, 129)).astype("u1"), None, {"period_px": "20", "shift_rad": str(s * 2.0943951)}) for s in range(3)])'
	rectify=(rectify -q --calib rig.json --side left)
	for how in linear cubic; do
		"${rectify[@]}" --interpolation $how -j 1 <in.nrrd >one.nrrd
		"${rectify[@]}" --interpolation $how -j 7 <in.nrrd | cmp one.nrrd
		for level in $(cpu_levels); do
			FRINGEPIPE_CPU=$level "${rectify[@]}" --interpolation $how <in.nrrd | cmp one.nrrd
		done
	done
	"${rectify[@]}" images.nrrd | phasewrap -q -n 3 >pipe.nrrd
	fringepipe -q rectify --calib rig.json --side left images.nrrd , phasewrap -n 3 | cmp pipe.nrrd
	frameinfo -k rect_side pipe.nrrd | has left
}

@test "rectify: sigma is the standard deviation of what noise leaves" {
	py "$reference"'
write_rig("rig.json", (400, 300), K1=[[1100, 0, 200.], [0, 1102, 148], [0, 0, 1]], K2=[[1105, 0, 195.], [0, 1104, 151], [0, 0, 1]])
noise = np.random.default_rng(5).normal(0, .1, (300, 400))
write_frames("in.nrrd", Frame(np.stack([noise, noise, 0 * noise + .1]).astype("f4"), ["absphase", "phase", "sigma"]))'
	for how in linear cubic; do
		rectify -q --calib rig.json --side left --interpolation $how in.nrrd | py '
got = read_frame(sys.stdin.buffer)
for name in "absphase", "phase":
	over = got[name] / got["sigma"]
	expect(abs(np.nanstd(over) - 1) < .01, np.nanstd(over))
expect(got.meta["sigma_window_px"] == "0.5")'
	done
	framecat --set sigma_window_px=1.8 in.nrrd | rectify -q --calib rig.json --side left | py '
got = read_frame(sys.stdin.buffer)
expect(np.abs(got["sigma"] - .1)[np.isfinite(got["sigma"])] < 1e-6); expect(got.meta["sigma_window_px"] == "1.8")'
}

@test "rectify: a rectified frame is not measured through the camera itself" {
	py "$reference"'
write_rig("rig.json")
json.dump(dict(camera_K=K1, projector_K=K2, R_cam_to_proj=R.tolist(), T_cam_to_proj=T.tolist()), open("projector.json", "w"))
write_frames("in.nrrd", Frame(np.ones((97, 129), "f4"), ["absphase"], {"period_px": "20"}))'
	rectify -q --calib rig.json --side left in.nrrd -o out.nrrd
	fails 1 "the frame is rectified (rect_side left)" phase2depth --calib projector.json out.nrrd
}

@test "rectify: errors and warnings" {
	py "$reference"'
write_rig("rig.json", (128, 96))
write_frames("in.nrrd", Frame(np.zeros((96, 128), "f4")))
write_frames("big.nrrd", Frame(np.zeros((96, 129), "f4")))
write_frames("long.nrrd", Frame(np.zeros((1, 40000), "f4")))
write_frames("flat.nrrd", Frame(np.zeros((48, 128), "f4"), None, {"bin": "1 2"}))
write_frames("scaled.nrrd", Frame(np.zeros((96, 128), "u1"), None, {"sample_scale": "2"}))
write_frames("value.nrrd", Frame(np.zeros((96, 128), "u1"), None, {"max_value": "much"}))
write_rig("zero.json", T_mm=[0, 0, 0])
write_rig("axis.json", R=np.eye(3).tolist(), T_mm=[10, 0, -200])
write_rig("crop.json", crop_x0_y0=[3, 4])
write_rig("half.json", R1=np.eye(3).tolist())
write_rig("nopose.json", R=None, T_mm=None)
write_rig("noR.json", R=None)
write_rig("mirror.json", R=np.diag([1, 1, -1]).tolist())
write_rig("turned.json", R=np.diag([-1, 1, -1]).tolist())
write_rig("minus.json", K2=[[-404, 0, 58], [0, 405, 45], [0, 0, 1]])
P = [[500, 0, 70, 0], [0, 500, 50, 0], [0, 0, 1, 0]]
I = np.eye(3).tolist()
def P2(**k): m = np.array(P, float); m[0, 3] = k.get("b", -9e4); m[1, 3] = k.get("y", 0); m[1, 2] = k.get("cy", 50); m[1, 1] = k.get("f", 500); return m.tolist()
write_rig("p2.json", R=None, T_mm=None, R1=I, R2=I, P1=P, P2=P2(cy=51))
write_rig("pz.json", R=None, T_mm=None, R1=I, R2=I, P1=P, P2=P2(b=0))
write_rig("py.json", R=None, T_mm=None, R1=I, R2=I, P1=P, P2=P2(b=0, y=-9e4))
write_rig("pf.json", R=None, T_mm=None, R1=I, R2=I, P1=P, P2=P2(f=510))
write_rig("pc.json", size=None, K1=[[400, 0, -62], [0, 400, 40], [0, 0, 1]])
json.dump(dict(camera_K=K1, projector_K=K2, R_cam_to_proj=R.tolist(), T_cam_to_proj=T.tolist()), open("projector.json", "w"))
json.dump(dict(R1=I, R2=I, P1=P, P2=P2()), open("extrinsics.json", "w"))
json.dump(dict(a=[1, 2]), open("other.json", "w"))'
	fails 2 "--calib: is needed" rectify --side left in.nrrd
	fails 2 "--side: is needed" rectify --calib rig.json in.nrrd
	fails 2 "--side" rectify --calib rig.json --side top in.nrrd
	fails 2 "--size: is at most 32767x32767" rectify --calib rig.json --side left --size 40000x10 in.nrrd
	fails 2 "--origin: must be two numbers, not 1" rectify --calib rig.json --side left --origin 3 in.nrrd
	fails 1 "none.json" rectify --calib none.json --side left in.nrrd
	left() { rectify --calib "$1.json" --side left "${2:-in.nrrd}" -o out.nrrd; }
	fails 1 "T: the baseline is zero" left zero
	fails 1 "T: the baseline runs along the cameras' axes" left axis
	fails 1 "crop_x0_y0: is the crop of one camera" left crop
	fails 1 "R1 R2 P1 P2 belong together, found only R1" left half
	fails 1 "expected the right camera's pose, R and T, found neither" left nopose
	fails 1 "expected a 3x3 rotation called R, found none" left noR
	fails 1 "R: expected a rotation" left mirror
	fails 1 "R: the cameras look into opposite directions" left turned
	fails 1 "K2|M2: expected positive focal lengths, found -404 405" left minus
	fails 1 "P1 and P2: expected one focal length and one row of the principal point, found 500 and 500, 50 and 51" left p2
	fails 1 "P2: the baseline is zero" left pz
	fails 1 "P2: the cameras stand one above the other" left py
	fails 1 "P2: expected square pixels, found focal lengths 500 510" left pf
	fails 1 "names no image_size, and the left camera's principal point -62 40 lies outside" left pc
	fails 1 "expected two cameras (K1 d1 K2 d2 R T), found a camera and a projector (projector_K)" left projector
	fails 1 "found R1 P1 without K1: join it with" left extrinsics
	fails 1 "expected two cameras" left other
	fails 1 "rig.json: its cameras have 128x96 pixels, the frame reaches from 0,0 to 129,96" left rig big.nrrd
	fails 1 "at most 32767x32767" left rig long.nrrd
	fails 1 "key bin is 1 2: the pixels of a rectified frame are square" left rig flat.nrrd
	fails 1 "scale" left rig scaled.nrrd
	fails 1 "max_value" left rig value.nrrd
	rectify -q --calib rig.json --side left in.nrrd -o out.nrrd
	fails 1 "the frame is rectified already (rect_side left)" rectify -q --calib rig.json --side right out.nrrd
	run --separate-stderr rectify --calib rig.json --side left --size 60x50 in.nrrd -o out.nrrd
	[ "$status" -eq 0 ]
	[[ $stderr == *" of the frame fall outside of the rectified one: --size "*" would hold what lies right of or below its 60x50" ]]
}

@test "rectify: david's captures: the published rectification, equal phases on equal rows, matched points and depths" {
	need_data slsdk_david_stereo
	py "$reference"'
rig = json.load(open(sys.argv[1]))
write = {k: rig[k] for k in "K1 d1 K2 d2 R T_mm image_size".split()}
json.dump(write, open("own.json", "w"))
write.update({k: rig[k] for k in ("R1", "R2")}, P1=rig["P1_uncropped_half"], P2=rig["P2_uncropped_half"])
json.dump(write, open("rig.json", "w"))' "$data/slsdk_david_stereo/calib.json"
	for side in left right; do
		david=$data/slsdk_david_stereo/$side
		fringepipe rectify --calib rig.json --side $side --size 1024x768 "$david"/phase_?.png "$david"/gray_?.png , \
			phasewrap -n 4 -p 64 -G 6 --gray-cell half --phase-origin 176.76 --min-amplitude 5 , unwrap2f -o $side.nrrd
		rectify -q --calib own.json --side $side "$david/phase_0.png" -o $side.own.nrrd
	done
	# phases lose what is beside an invalid pixel: 2 % here by linear weights, 5 % by cubic ones
	david=$data/slsdk_david_stereo/left
	for how in linear cubic; do
		[ $how = linear ] || fringepipe rectify --calib rig.json --side left --size 1024x768 --interpolation cubic "$david"/phase_?.png \
			"$david"/gray_?.png , phasewrap -n 4 -p 64 -G 6 --gray-cell half --phase-origin 176.76 --min-amplitude 5 , \
			unwrap2f -o cubic.nrrd
		fringepipe phasewrap -n 4 -p 64 -G 6 --gray-cell half --phase-origin 176.76 --min-amplitude 5 "$david"/phase_?.png "$david"/gray_?.png , \
			unwrap2f , rectify -q --calib rig.json --side left --size 1024x768 --interpolation $how -o phases.$how.nrrd
	done
	py '
n = lambda name: np.isfinite(read_frame(name + ".nrrd")["absphase"]).sum()
more = [n("left") / n("phases.linear"), n("cubic") / n("phases.cubic")]
expect(1.015 < more[0] < 1.025 and 1.045 < more[1] < 1.06, more)'
	# OpenCV's two files of the whole sensor, one behind the other: half their pixels, cropped, are these
	cat "$data"/slsdk_david_stereo/original_full_frame_{intrinsic,extrinsic}.yml >full.yml
	rectify --calib rig.json --side right --size 1024x768 "$data/slsdk_david_stereo/right/phase_0.png" -o part.nrrd
	framecat --set bin=2 "$data/slsdk_david_stereo/right/phase_0.png" | framecat --set 'origin_px=960 260' |
		rectify --calib full.yml --side right --size 1024x768 | framecmp --max 0.05 part.nrrd -
	py "$reference$points"'
l, r = read_frame("left.nrrd"), read_frame("right.nrrd")
for a, b in (l, "left"), (r, "right"):		# OpenCV gave R1 R2 from R T: ours are the same
	expect(np.abs(own(read_frame(b + ".own.nrrd"))[4] - own(a)[4]) < 1e-9)
X = points(l, r)
f, cxl, cy, b, _ = own(l); cxr = own(r)[1]
z = X[2]; seen = np.isfinite(z)
expect(204000 <= seen.sum() <= 209000, seen.sum())
expect(np.abs(np.nanpercentile(z, (1, 50, 99)) - (1088, 1125, 1344)) < 3, np.nanpercentile(z, (1, 50, 99)))
# rows: how far the textures at equal phases are apart up and down, by least squares over blocks of 32x32
h, w = z.shape
y, x = np.mgrid[:h, :w]
with np.errstate(all="ignore"): at = x - (f * b / z + cxl - cxr)
ok = seen & (at >= 0) & (at < w - 1); i = np.where(ok, np.floor(np.where(ok, at, 0)), 0).astype(int); at = np.where(ok, at - i, 0)
L, P = (np.log(np.maximum(np.nan_to_num(t["texture"].astype(float)), 1)) for t in (l, r))
def warped(by):
	q = np.roll(P, -by, 0)
	return (1 - at) * np.take_along_axis(q, i, 1) + at * np.take_along_axis(q, i + 1, 1)
slope, gap = (warped(1) - warped(-1)) / 2, L - warped(0)
rows = []
for v in range(100, h - 32, 32):
	for u in range(500, w - 32, 32):
		s = np.s_[v:v + 32, u:u + 32]; m = ok[s]
		if m.sum() < 800: continue
		q, p = np.mgrid[:32, :32]
		A = np.c_[slope[s][m], np.ones(m.sum()), p[m], q[m]]
		fit = np.linalg.lstsq(A, gap[s][m], rcond=None)[0]
		if np.sqrt(np.linalg.inv(A.T @ A)[0, 0]) * (gap[s][m] - A @ fit).std() < .1: rows.append(fit[0])
expect(len(rows) > 80, len(rows)); expect(abs(np.median(rows)) < .1, np.median(rows))
expect(np.median(np.abs(rows)) < .3, np.median(np.abs(rows)))'
}
