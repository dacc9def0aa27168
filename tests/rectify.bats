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
R, T = turn(.02, -.2, .03), np.array([-150., 4, 12])
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
	for size in 1x1 5x7 127x1 128x64 129x65; do
		py "$reference"'
w, h = map(int, sys.argv[1].split("x"))
rng = np.random.default_rng(w)
write_rig("rig.json", (w, h), K1=[[300, 1, w / 2], [0, 296, h / 2], [0, 0, 1]], K2=[[304, 0, w / 2], [0, 305, h / 2], [0, 0, 1]])
y, x = np.mgrid[:h, :w].astype(float)
u = .3 * x + .2 * y
planes = np.array([100 * np.sin(u), np.arctan2(np.sin(u), np.cos(u)), u + 9 * (x > w / 2), .1 + .02 * np.cos(u), np.floor(u)])
planes = planes.astype("f4")
if w > 5: planes[:, rng.random((h, w)) < .01] = np.nan
names = "modulation phase2 absphase sigma index".split()
write_frames("in.nrrd", Frame(planes, names))' $size
		for how in linear cubic; do
			rectify -q --calib rig.json --side right --interpolation $how in.nrrd -o $how.nrrd
			rectify -q --calib rig.json --side right --interpolation $how --max-step 1 --size 200x99 in.nrrd -o $how.1.nrrd
			framecat --channels phase2 in.nrrd | rectify -q --calib rig.json --side right --interpolation $how --max-step 0.4 -o $how.w.nrrd
		done
		py "$reference"'
w, h = map(int, sys.argv[1].split("x"))
image = read_frame("in.nrrd").pixels
K = [[304, 0, w / 2], [0, 305, h / 2], [0, 0, 1]]
for how in "linear", "cubic":
	for suffix, step in (".nrrd", np.pi), (".1.nrrd", 1):
		got = read_frame(how + suffix)
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
			alike(got.pixels[k], want, within, slack, how, got.names[k], sys.argv[1])
		at = np.isfinite(got.pixels[4])
		want = image[4][np.clip(np.round(v), 0, h - 1).astype(int), np.clip(np.round(u), 0, w - 1).astype(int)]
		expect(((got.pixels[4] == want) | ~at | np.isnan(want)).mean() > .99)
	got = read_frame(how + ".w.nrrd")
	u, v = places(K, D2, turned, f, cx, cy, *got.pixels.shape[:0:-1])
	want = resampled(image[1], u, v, cubic, .4, np.inf, "wrapped")
	odd = np.isnan(want) != np.isnan(got.pixels[0])
	expect(odd.mean() < 2e-3, "steps of a wrapped phase", odd.sum())
expect(w < 100 or h < 60 or np.isfinite(read_frame("linear.nrrd").pixels[2]).mean() > .5)' $size
	done
}
