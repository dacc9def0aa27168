load helpers

# OpenCV's camera model in float64, and a rig of camera and projector with lens distortion on both sides.
rig='
rng = np.random.default_rng(7)

def distort(d, x, y):
	k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4 = np.pad(np.array(d, float), (0, 12 - len(d)))
	r2 = x * x + y * y
	c = (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1 + r2 * (k4 + r2 * (k5 + r2 * k6)))
	return (x * c + 2 * p1 * x * y + p2 * (r2 + 2 * x * x) + s1 * r2 + s2 * r2 * r2,
		y * c + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y + s3 * r2 + s4 * r2 * r2)

def undistort(d, x0, y0):
	x, y = x0, y0
	for i in range(200):
		a, b = distort(d, x, y)
		x, y = x + x0 - a, y + y0 - b
	return x, y

def rotation(v):
	a = np.linalg.norm(v); k = np.array(v) / a
	K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
	return np.eye(3) + np.sin(a) * K + (1 - np.cos(a)) * K @ K

class Rig:
	def __init__(self, w, h, cam_d=(), proj_d=(), axis="x"):
		self.w, self.h, self.cam_d, self.proj_d, self.axis = w, h, cam_d, proj_d, axis
		self.K = np.array([[1000., 0, w / 2 + 3], [0, 1005, h / 2 - 2], [0, 0, 1]])
		self.Kp = np.array([[1500., 0, 480], [0, 1510, 300], [0, 0, 1]])
		self.R = rotation([0.02, 0.2 if axis == "x" else 0.03, -0.01])
		self.T = np.array([-120., 4, 15] if axis == "x" else [5., -110, 15])

	def phase(self, period, place=None):
		"""absphase at each pixel of a random bumpy surface, and the truth."""
		v, u = np.mgrid[:self.h, :self.w].astype(float)
		if place:
			u, v = place(u, v)
		x, y = undistort(self.cam_d, (u - self.K[0, 2]) / self.K[0, 0], (v - self.K[1, 2]) / self.K[1, 1])
		z = 600 + 40 * np.sin(u / 17.) + 30 * np.cos(v / 11.) + rng.uniform(-1, 1, u.shape)
		X = np.stack([x * z, y * z, z])
		return self.seen(X) * 2 * np.pi / period, X

	def seen(self, X):
		q = np.tensordot(self.R, X, 1) + self.T[:, None, None]
		a, b = distort(self.proj_d, q[0] / q[2], q[1] / q[2])
		if self.axis == "x":
			return self.Kp[0, 0] * a + self.Kp[0, 2]
		return self.Kp[1, 1] * b + self.Kp[1, 2]

	def json(self, file, **more):
		import json
		keys = dict(camera_K=self.K.tolist(), camera_dist=list(self.cam_d), projector_K=self.Kp.tolist(),
			projector_dist=list(self.proj_d), R_cam_to_proj=self.R.tolist(),
			T_cam_to_proj_mm=self.T.tolist(), projector_size=[960, 600])
		keys.update(more)
		json.dump(keys, open(file, "w"), indent=1)

	def bound(self, phase, X, period):
		"""4 ulp of the phase times the derivative of x, y, z to it, 2 ulp (floats in, floats out), and 5e-10 of the
		distance (half a unit of the table of rays, of shifts below 2)."""
		up = 1e-3
		moved = self.seen(X * (1 + up)) * 2 * np.pi / period
		return 4 * ulp(phase) * np.abs(X * up / (moved - phase)) + 2 * ulp(X) + 5e-10 * X[2]
'
lens="0.08,-0.15,0.0012,-0.0007,0.05"
strong="-0.28,0.12,-0.0008,0.001,-0.02,0.05,0.01,0.002,0.0006,-0.0003,-0.0004,0.0002"

# shape_agrees CAMERA_LENS PROJECTOR_LENS AXIS SIZE MOST: the errors are at most this share of the page's bound
shape_agrees() {
	py "$rig"'
cam, proj = ([float(v) for v in a.split(",") if v] for a in sys.argv[1:3])
axis, size = sys.argv[3:5]
w, h = map(int, size.split("x"))
rig = Rig(w, h, cam, proj, axis)
phase, X = rig.phase(36)
rig.json("c.json")
f4 = phase.astype("f4")
write_frames("in.nrrd", Frame(np.stack([f4, f4 * 0 + 3]), ["absphase", "modulation"],
	{"period_px": "36", "axis": axis}))
np.savez("truth.npz", phase=phase, X=X, bound=rig.bound(phase, X, 36))' "$@"
	phase2depth --calib c.json in.nrrd -o out.nrrd
	py '
f, t = read_frame("out.nrrd"), np.load("truth.npz")
expect(f.names == ["x", "y", "z", "modulation"], f.names)
expect(f.meta["length_unit"] == "mm" and f.meta["z_axis"] == "away" and np.all(f["modulation"] == 3))
error = np.abs(f.pixels[:3] - t["X"])
expect(error <= float(sys.argv[5]) * t["bound"], sys.argv[1:], np.nanmax(error / t["bound"]), np.nanmax(error), np.isnan(error).sum())' "$@"
}

@test "phase2depth: --fit-c warns of a fit that is none: depths exchanged, a face in the place of a plane" {
	for z in 0 5 10; do
		fringesim -q -s 64x48 -p 24,26 -c 1 --scene plane --height $z | phasewrap | unwrap2f -o z$z.nrrd
	done
	silent phase2depth --ref z0.nrrd --fit-c 5,10 z5.nrrd z10.nrrd -o c.nrrd
	phase2depth --ref z0.nrrd --fit-c 10,5 z5.nrrd z10.nrrd -o c.nrrd 2>warnings
	grep -q -- "--fit-c: the fit leaves 4.7. mm (rms) of depths up to 10 mm" warnings
}

@test "phase2depth: calibrated, no lens, every size" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		shape_agrees "" "" x $size 0.19		# 0.160
	done
	shape_agrees "" "" y 129x65 0.3		# 0.248
}

@test "phase2depth: calibrated, lenses on either side and on both" {
	shape_agrees $lens "" x 129x65 0.19		# 0.157
	shape_agrees "" $lens x 129x65 0.19		# 0.156
	shape_agrees $lens $strong x 160x120 0.21	# 0.173
	shape_agrees $strong $lens y 160x120 0.29	# 0.245
	shape_agrees $strong $strong x 127x1 0.175	# 0.144
}

@test "phase2depth: strong lenses and a projector seen from its first column on, where phases are small" {
	py "$rig"'
strong = [float(v) for v in sys.argv[1].split(",")]
rig = Rig(600, 450, strong, strong)
rig.K = np.array([[500., 0, 303], [0, 502.5, 223], [0, 0, 1]]); rig.Kp = np.array([[1100., 0, 480], [0, 1110, 300], [0, 0, 1]])
phase, X = rig.phase(36)
rig.json("c.json")
write_frames("in.nrrd", Frame(phase.astype("f4"), ["absphase"], {"period_px": "36"}))
np.savez("truth.npz", phase=phase, X=X, bound=rig.bound(phase, X, 36))' $strong
	phase2depth -q --calib c.json in.nrrd -o out.nrrd
	py '
f, t = read_frame("out.nrrd"), np.load("truth.npz")
seen = (t["phase"] > 0)
share = (np.abs(f.pixels[:3] - t["X"]) / t["bound"])[:, seen]
expect(seen.mean() > 0.7 and t["phase"][seen].min() < 0.5, seen.mean(), t["phase"][seen].min())
expect(share < 0.3, share.max())		# 0.248'
}

@test "phase2depth: projector lenses that two steps do not undo in the whole picture" {
	for k in "-0.5,0" "-0.7,0.3" "-0.9,0.5"; do
		py "$rig"'
k = [*map(float, sys.argv[1].split(",")), 0, 0]
rig = Rig(600, 450, [], k)
rig.K = np.array([[500., 0, 303], [0, 502.5, 223], [0, 0, 1]]); rig.Kp = np.array([[800., 0, 480], [0, 810, 300], [0, 0, 1]])
phase, X = rig.phase(36)
rig.json("c.json")
q = np.tensordot(rig.R, X, 1) + rig.T[:, None, None]
r2 = (q[0] / q[2]) ** 2 + (q[1] / q[2]) ** 2
row = 810 * distort(k, q[0] / q[2], q[1] / q[2])[1] + 300
column = phase * 36 / (2 * np.pi)
bends = 1 + 3 * k[0] * r2 + 5 * k[1] * r2 ** 2		# 0: the lens folds back; in the part of the picture that is used:
seen = (column > -0.5) & (column < 959.5) & (row > -0.5) & (row < 599.5) & (r2 < (0.64 if k[1] == 0 else 9))
write_frames("in.nrrd", Frame(phase.astype("f4"), ["absphase"], {"period_px": "36"}))
np.savez("truth.npz", X=X, bound=rig.bound(phase, X, 36), seen=seen, bends=bends)' "$k"
		phase2depth -q --calib c.json in.nrrd -o out.nrrd
		py '
p, t = read_frame("out.nrrd").pixels, np.load("truth.npz")
seen = t["seen"]
expect(seen.mean() > 0.9 and 0.03 < t["bends"][seen].min() < 0.3, seen.mean(), t["bends"][seen].min())
expect(np.isfinite(p)[:, seen], sys.argv[1], np.isnan(p[2])[seen].mean())
share = (np.abs(p - t["X"]) / t["bound"])[:, seen]
expect(share < 0.2, sys.argv[1], share.max())		# 0.168 0.162 0.158' "$k"
		for level in $(cpu_levels); do
			FRINGEPIPE_CPU=$level phase2depth -q -j 3 --calib c.json in.nrrd | cmp - out.nrrd
		done
	done
}

@test "phase2depth: wide pictures, 45 to 60 degrees from either axis, where phases are small" {
	local wide=-0.45,0.17,0.01,-0.008,-0.02
	for rest in "x,no" "x,lens" "y,lens" "y,wider"; do
		py "$rig"'
wide = [float(v) for v in sys.argv[1].split(",")]
axis, camera = sys.argv[2].split(",")
rig = Rig(320, 240, [] if camera == "no" else wide, wide, axis)
f, fp, share = {"no": (156., 715., 1), "lens": (225., 715., 1), "wider": (190., 550., 0.4)}[camera]
rig.T *= share		# a narrow base makes small errors of the rays large ones of the points
rig.K = np.array([[f, 0, 163.3], [0, 1.005 * f, 117.9], [0, 0, 1]]); rig.Kp = np.array([[fp, 0, 480.3], [0, 1.007 * fp, 300.7], [0, 0, 1]])
phase, X = rig.phase(36)
rig.json("c.json")
q = np.tensordot(rig.R, X, 1) + rig.T[:, None, None]
a, b = distort(wide, q[0] / q[2], q[1] / q[2])
seen = (np.abs(fp * a) < 480) & (np.abs(1.007 * fp * b) < 300)
degrees = lambda x, y: np.degrees(np.arctan(np.hypot(x, y)))[seen].max()
write_frames("in.nrrd", Frame(phase.astype("f4"), ["absphase"], {"period_px": "36", "axis": axis}))
np.savez("truth.npz", phase=phase, X=X, bound=rig.bound(phase, X, 36), seen=seen,
	degrees=[degrees(X[0] / X[2], X[1] / X[2]), degrees(q[0] / q[2], q[1] / q[2])])' "$wide" "$rest"
		phase2depth -q --calib c.json in.nrrd -o out.nrrd
		py '
p, t = read_frame("out.nrrd").pixels[:3], np.load("truth.npz")
seen = t["seen"]
expect(seen.mean() > 0.4 and (t["degrees"] > (58 if "wider" in sys.argv[1] else 45)).all(), sys.argv[1], seen.mean(), t["degrees"])
expect((t["phase"][seen] < 3).sum() > 20, sys.argv[1], (t["phase"][seen] < 3).sum())
share = (np.abs(p - t["X"]) / t["bound"])[:, seen]
most = {"x,no": 0.26, "x,lens": 0.49, "y,lens": 0.5, "y,wider": 0.51}[sys.argv[1]]	# 0.217 0.408 0.418 0.427
expect(share < most, sys.argv[1], share.max())
' "$rest"
	done
}

@test "phase2depth: the world of two plain 3x4 matrices" {
	py "$rig"'
rig = Rig(60, 50)
phase, X = rig.phase(30)
W = rotation([0.1, -0.3, 0.2]); t = np.array([10., -20, 30])	# camera = W world + t
Pc = rig.K @ np.column_stack([W, t])
Pp = rig.Kp @ np.column_stack([rig.R @ W, rig.R @ t + rig.T])
world = np.tensordot(W.T, X - t[:, None, None], 1)
with open("c.txt", "w") as f:
	f.write("# camera\n"); np.savetxt(f, Pc); f.write("# projector\n"); np.savetxt(f, -2 * Pp)
write_frames("in.nrrd", Frame(phase.astype("f4"), ["absphase"]))
np.savez("truth.npz", X=world, bound=rig.bound(phase, X, 30).max(0) + 2 * ulp(world))'
	phase2depth --calib c.txt --period 30 in.nrrd -o out.nrrd
	py '
f, t = read_frame("out.nrrd"), np.load("truth.npz")
error = np.abs(f.pixels - t["X"])
expect(error <= 0.145 * t["bound"], np.nanmax(error / t["bound"]))'
}

@test "phase2depth: --origin, bin, --centered, --projector, --axis and their keys" {
	py "$rig"'
rig = Rig(400, 300, [float(v) for v in sys.argv[1].split(",")])
full, X = rig.phase(36)
rig.json("c.json")
rig.json("nosize.json", projector_size=None)
crop = full[40:100, 70:170].astype("f4")
write_frames("crop.nrrd", Frame(crop, ["absphase"], {"period_px": "36"}))
write_frames("keyed.nrrd", Frame(crop, ["absphase"], {"period_px": "36", "origin_px": "70 40"}))
write_frames("centered.nrrd", Frame(crop - np.float32(480 * 2 * np.pi / 36), ["absphase"], {"period_px": "36"}))
np.save("X.npy", X[:, 40:100, 70:170])
rig.h, rig.w = 50, 60
binned, X = rig.phase(36, lambda u, v: (70 + (u + 0.5) * 2 - 0.5, 40 + (v + 0.5) * 3 - 0.5))
write_frames("binned.nrrd", Frame(binned.astype("f4"), ["absphase"],
	{"period_px": "36", "origin_px": "70 40", "bin": "2 3"}))
np.save("XB.npy", X)' $lens
	phase2depth --calib c.json --origin 70,40 crop.nrrd -o a.nrrd
	phase2depth --calib c.json keyed.nrrd -o b.nrrd
	phase2depth --calib c.json --origin 70,40 --centered centered.nrrd -o c.nrrd
	phase2depth --calib nosize.json --projector 960,600 --origin 70,40 --centered centered.nrrd -o d.nrrd
	phase2depth --calib c.json --axis x binned.nrrd -o e.nrrd
	py '
a, b, c, d, e = (read_frame(f + ".nrrd") for f in "abcde")
X = np.load("X.npy")
expect(np.abs(a.pixels - X) < 1.01e-4, np.abs(a.pixels - X).max())
expect(a.pixels == b.pixels)
expect(np.abs(c.pixels - X) < 1.2e-4)
expect(c.pixels == d.pixels)
expect(np.abs(e.pixels - np.load("XB.npy")) < 1e-4, np.abs(e.pixels - np.load("XB.npy")).max())
expect(a.meta["origin_px"] == "70 40", a.meta)'
	fails 1 "--centered needs the projector's size: say --projector W,H" \
		phase2depth --calib nosize.json --centered crop.nrrd
}

@test "phase2depth: missing phases, points behind, limits of depth" {
	py "$rig"'
rig = Rig(40, 30)
phase, X = rig.phase(36)
phase[0, 0] = np.nan; phase[1, 1] = np.inf; phase[2, 2] = 1e9; phase[3, 3] = 500
rig.json("c.json")
write_frames("in.nrrd", Frame(phase.astype("f4"), ["absphase"], {"period_px": "36"}))
np.save("X.npy", X)'
	phase2depth --calib c.json in.nrrd -o a.nrrd
	phase2depth --calib c.json --min-depth 580 --max-depth 620 in.nrrd -o b.nrrd
	py '
a, b, X = read_frame("a.nrrd").pixels, read_frame("b.nrrd").pixels, np.load("X.npy")
bad = np.zeros((30, 40), bool); bad[0, 0] = bad[1, 1] = bad[2, 2] = bad[3, 3] = True
expect(np.isnan(a) == bad, np.argwhere(np.isnan(a).any(0) != bad))
z = np.where(bad, 0, a[2])
keep = (z >= 580) & (z <= 620)
expect(np.isnan(b) == ~keep); expect((a == b) | ~keep)
expect(keep.any() and not keep.all())'
}

@test "phase2depth: YAML and JSON of a real calibration give the same" {
	need_data slmaster_eye_12step_gray
	folder=$data/slmaster_eye_12step_gray
	py '
y, x = np.mgrid[:560, :630]
write_frames("in.nrrd", Frame((75 + 0.07 * x + 0.5 * np.sin(y / 50.)).astype("f4"), ["absphase"],
	{"period_px": "60"}))'
	phase2depth --calib "$folder/calib.json" in.nrrd -o json.nrrd
	phase2depth --calib "$folder/caliInfo_original_full_frame.yml" --origin 350,300 in.nrrd -o yml.nrrd
	py '
a, b = read_frame("json.nrrd").pixels, read_frame("yml.nrrd").pixels
expect(np.isfinite(a)); expect(np.abs(a - b) <= ulp(a), np.abs(a - b).max())
expect(a[2] > 300, a[2].min())'
}

@test "phase2depth: a real capture has the depth that its source names" {
	need_data slmaster_eye_12step_gray
	folder=$data/slmaster_eye_12step_gray
	py '
from PIL import Image
def load(name): return np.asarray(Image.open(sys.argv[1] + "/" + name), float)
I = [load("phase_%02d.png" % k) for k in range(12)]
C = sum(i * np.cos(2 * np.pi * k / 12) for k, i in enumerate(I))
S = sum(i * np.sin(2 * np.pi * k / 12) for k, i in enumerate(I))
A, B = sum(I) / 12, np.hypot(C, S) / 6
V = np.zeros(A.shape, int); bit = V
for k in range(6):
	bit = bit ^ (load("gray_%d.png" % k) > A); V = 2 * V + bit
p = (np.arctan2(-S, C) - np.pi) % (2 * np.pi)
phase = p + 2 * np.pi * np.round(((V + 0.5) * np.pi - p) / (2 * np.pi))
phase[(B <= 8) | (B <= 0.1 * A)] = np.nan
write_frames("in.nrrd", Frame(phase.astype("f4"), ["absphase"], {"period_px": "60"}))' "$folder"
	phase2depth --calib "$folder/calib.json" in.nrrd -o out.nrrd
	py '
z = read_frame("out.nrrd")["z"]; z = z[np.isfinite(z)]
expect(z.size > 200000, z.size)
seen = np.percentile(z, [1, 25, 50, 75, 99])
expect(np.abs(seen - [694.4, 708.3, 727.4, 741.3, 772.9]) < 1, seen)'
}

@test "phase2depth: a reference plane that was measured, at every size" {
	for size in 1x1 5x7 127x1 128x64 129x65 1100x3; do
		py '
w, h = map(int, sys.argv[1].split("x"))
rng = np.random.default_rng(5)
y, x = np.mgrid[:h, :w]
ref = (20 + 0.1 * x + 0.01 * y).astype("f4")
phase = (ref + rng.uniform(-3, 3, ref.shape)).astype("f4")
phase[h // 2, w // 2] = np.nan; ref[0, w - 1] = np.nan
write_frames("in.nrrd", Frame(np.stack([phase, phase, ref, ref]), ["absphase", "residual", "modulation", "texture"]))
write_frames("ref.nrrd", Frame(np.stack([ref, ref]), ["absphase", "modulation"]))' $size
		may_be_empty phase2depth --ref ref.nrrd -c -0.2 in.nrrd -o a.nrrd	# of one pixel
		may_be_empty phase2depth -r ref.nrrd -c 0.2,-0.01,0.003 --min-depth -0.5 in.nrrd -o b.nrrd
		py '
a, b, i, r = (read_frame(f + ".nrrd") for f in ("a", "b", "in", "ref"))
expect(a.names == ["depth", "modulation", "texture"], a.names)
expect(a.meta["length_unit"] == "mm" and a.meta["z_axis"] == "towards")
p = i["absphase"].astype(float); d = p - r["absphase"]
ok = np.isfinite(d)
expect(np.isnan(a["depth"]) == ~ok)
expect((np.abs(a["depth"] + 0.2 * d) <= 4.3e-8) | ~ok, np.nanmax(np.abs(a["depth"] + 0.2 * d)))
z = 0.2 * d - 0.01 * d ** 2 + 0.003 * d ** 3
expect((np.abs(b["depth"] - z) <= 7.7e-8) | ~(ok & (z > -0.499)))
expect(np.isnan(b["depth"]) | ~(ok & (z < -0.501)))' $size
	done
}

@test "phase2depth: --ref-roi: the plane of a wall in view, in each frame, without its strays" {
	py '
rng = np.random.default_rng(3)
y, x = np.mgrid[:60, :80].astype(float)
frames, depths = [], []
for a, b, c in (20, 0.3, -0.05), (-4, -0.2, 0.11):
	depth = np.where((x > 30) & (y > 20), 0.4 * (1 + 0.01 * x), 0)
	phase = a + b * x + c * y + depth / 0.4 + rng.normal(0, 0.01, x.shape)
	phase[3, 5:9] += 40; phase[7, 2] = np.nan		# strays of the wall, and a hole
	depth[3, 5:9] += 16; depth[7, 2] = np.nan
	frames.append(Frame(phase.astype("f4"), ["absphase"])); depths.append(depth)
write_frames("in.nrrd", frames); np.save("depths.npy", depths)
bent = frames[0].pixels.copy(); bent[0] += 0.002 * (x - 40) ** 2
write_frames("bent.nrrd", Frame(bent, ["absphase"]))
write_frames("hole.nrrd", Frame(np.where(x < 30, np.nan, bent[0]).astype("f4"), ["absphase"]))'
	wall=(phase2depth --ref-roi 0,0,80,20 -c 0.4)
	silent "${wall[@]}" in.nrrd -o out.nrrd
	py '
for f, want in zip(read_frames("out.nrrd"), np.load("depths.npy"), strict=True):
	off = f["depth"] - want
	expect(np.isnan(off).sum() == 1 and np.nanmax(np.abs(off)) < 0.4 * 0.055, np.nanmax(np.abs(off)))
	expect(abs(np.nanmean(off)) < 0.4 * 0.001, np.nanmean(off))'
	for j in 1 5; do "${wall[@]}" -j $j in.nrrd | cmp - out.nrrd; done
	[ "$("${wall[@]}" -v in.nrrd -o null: 2>&1 | grep -c 'off that by 0\.0')" = 2 ]
	fails 0 "--ref-roi: the phase there is off a plane by 0.95 rad (rms): is it one flat wall?" "${wall[@]}" bent.nrrd -o null:
	fails 1 "--ref-roi: has no pixels with a phase that lie on a plane" phase2depth --ref-roi 0,0,29,60 -c 1 hole.nrrd
	fails 1 "--ref-roi: has no pixels with a phase that lie on a plane" phase2depth --ref-roi 40,0,1,60 -c 1 in.nrrd
	fails 1 "--ref-roi: leaves the image of 80 x 60" phase2depth --ref-roi 60,0,21,60 -c 1 in.nrrd
	for wrong in 0,0,5 0,0,0,5 0.5,0,5,5 -1,0,5,5; do
		fails 2 "--ref-roi: " phase2depth --ref-roi=$wrong -c 1 in.nrrd
	done
	fails 2 "--ref-roi: finds the plane of an absolute phase: it cannot go with" phase2depth --ref in.nrrd --ref-roi 0,0,5,5 -c 1 in.nrrd
	fails 2 "--ref-roi: gives depth over a reference plane" phase2depth --calib c.json --ref-roi 0,0,5,5 in.nrrd
	need_gpu
	"${wall[@]}" -d gpu in.nrrd -o gpu.nrrd
	framecmp --max 1e-5 gpu.nrrd out.nrrd
}

@test "phase2depth: the ideal plane, from options and from keys, with a crop" {
	py '
y, x = np.mgrid[:30, :700].astype(float)
phase = (5 + 0.1 * (x + 350) - 0.02 * (y + 300) + 0.5).astype("f4")
write_frames("in.nrrd", Frame(phase, ["absphase"]))
write_frames("keys.nrrd", Frame(phase, ["absphase"],
	{"ref_plane_rad": "5 0.1 -0.02", "c_mm_per_rad": "0.4", "origin_px": "350 300"}))
binned = (5 + 0.1 * (350 + 2 * x + 0.5) - 0.02 * (300 + 2 * y + 0.5) + 0.5).astype("f4")
write_frames("bin.nrrd", Frame(binned, ["absphase"],
	{"ref_plane_rad": "5 0.1 -0.02", "c_mm_per_rad": "0.4", "origin_px": "350 300", "bin": "2"}))'
	phase2depth --ref ideal --ref-plane 5,0.1,-0.02 --origin 350,300 -c 0.4 in.nrrd -o a.nrrd
	phase2depth --ref ideal keys.nrrd -o b.nrrd
	phase2depth --ref-plane 5,0.1,-0.02 --origin 350,300 -c 0.4 in.nrrd -o c.nrrd
	phase2depth --ref ideal bin.nrrd -o d.nrrd
	py '
a, b, c, d = (read_frame(f + ".nrrd").pixels for f in "abcd")
expect(np.abs(a - 0.2) < 0.58 * ulp(np.array(100.)) * 0.4, np.abs(a - 0.2).max())
expect(a == b); expect(a == c)
expect(np.abs(d - 0.2) < 0.58 * ulp(np.array(200.)) * 0.4, np.abs(d - 0.2).max())'
}

@test "phase2depth: --fit-c finds c and its powers; --c-map uses them" {
	py '
rng = np.random.default_rng(6)
y, x = np.mgrid[:40, :70]
ref = 30 + 0.2 * x
c1, c2 = 0.5 + 0.002 * x, -0.003 + 0.00003 * y
steps = []
for z in (2, 4, 6, 9):
	d = (-c1 + np.sqrt(c1 * c1 + 4 * c2 * z)) / (2 * c2)
	steps.append(Frame((ref + d).astype("f4"), ["absphase"], {"time_s": str(z)}))
steps[1].pixels[0, 3, 4] = np.nan
write_frames("steps.nrrd", steps)
write_frames("linear.nrrd", [Frame((ref + z / 0.5).astype("f4"), ["absphase"]) for z in (2, 4, 6)])
write_frames("ref.nrrd", Frame(ref.astype("f4"), ["absphase"]))
np.save("c.npy", np.stack([c1, c2 + 0 * c1]))'
	phase2depth --ref ref.nrrd --fit-c 2,4,6,9 --degree 2 steps.nrrd -o map.nrrd
	phase2depth --ref ref.nrrd --fit-c 2,4,6 linear.nrrd >text
	grep -qE '^c_mm_per_rad:=(0\.5000000|0\.4999999)' text
	grep -q '^fit_rms_mm:=' text
	[ "$(wc -l <text)" -eq 2 ]
	phase2depth --ref ref.nrrd --c-map map.nrrd steps.nrrd -o depth.nrrd
	phase2depth -j 7 --ref ref.nrrd --fit-c 2,4,6,9 --degree 2 steps.nrrd -o seven.nrrd
	cmp map.nrrd seven.nrrd
	py '
m, c = read_frame("map.nrrd"), np.load("c.npy")
expect(m.names == ["c1", "c2"], m.names)
expect(np.abs(m["c1"] - c[0]) < 7.5e-7, np.abs(m["c1"] - c[0]).max())
expect(np.abs(m["c2"] - c[1]) < 4.6e-8, np.abs(m["c2"] - c[1]).max())
expect(len(m.meta["c_mm_per_rad"].split()) == 2 and "fit_rms_mm" in m.meta, m.meta)
for f, z in zip(read_frames("depth.nrrd"), (2, 4, 6, 9)):
	bad = np.zeros((40, 70), bool); bad[3, 4] = z == 4
	expect(np.isnan(f["depth"]) == bad)
	expect(np.abs(f["depth"] - z)[~bad] < 2.4e-6, np.nanmax(np.abs(f["depth"] - z)))'
	fails 1 "--fit-c names 5 depths, the input has 4 measurements" \
		phase2depth --ref ref.nrrd --fit-c 2,4,6,9,11 steps.nrrd
	fails 1 "--fit-c names 3 depths, the input has more measurements" \
		phase2depth --ref ref.nrrd --fit-c 2,4,6 steps.nrrd
	fails 2 "--fit-c: needs 3 depths or more for --degree 3, not 2" \
		phase2depth --ref ref.nrrd --fit-c 2,4 --degree 3 steps.nrrd
	fails 2 "0 is the depth of the reference itself" phase2depth --ref ref.nrrd --fit-c 0 steps.nrrd
	py 'write_frames("none.nrrd", Frame(np.full((40, 70), np.nan, "f4"), ["absphase"]))'
	fails 1 "the phases do not determine c" phase2depth --ref ref.nrrd --fit-c 5 none.nrrd
	fails 1 "--fit-c: measurement 5, at 11 mm, is the reference itself, whose depth is 0" \
		phase2depth --ref ref.nrrd --fit-c 2,4,6,9,11 steps.nrrd ref.nrrd
}

@test "phase2depth: --wrapped: the difference of wrapped phases, half a turn either way, at every size" {
	for size in 1x1 5x7 127x1 128x64 129x65 1100x3; do
		py '
w, h = map(int, sys.argv[1].split("x"))
rng = np.random.default_rng(5)
y, x = np.mgrid[:h, :w]
d = rng.uniform(-3.1, 3.1, x.shape)
ref = 7 + 0.1 * x + 0.01 * y
wrap = lambda p: np.pi - np.mod(np.pi - p, 2 * np.pi)		# (-pi, pi]
phase, ref = wrap(ref + d).astype("f4"), wrap(ref).astype("f4")
phase[0, 0] = np.float32(np.pi); ref[0, 0] = 0			# half a turn exactly: the positive one
phase[h // 2, w // 2] = np.nan; ref[0, w - 1] = np.nan
write_frames("in.nrrd", Frame(np.stack([phase, phase]), ["phase", "modulation"]))
write_frames("ref.nrrd", Frame(np.stack([ref, ref]), ["phase", "modulation"]))
write_frames("positive.nrrd", Frame(np.where(phase < 0, phase + 2 * np.pi, phase).astype("f4"), ["phase"]))' $size
		may_be_empty phase2depth -q --wrapped --ref ref.nrrd -c -0.2,0.01 in.nrrd -o a.nrrd
		may_be_empty phase2depth -q --wrapped --ref ref.nrrd -c -0.2,0.01 positive.nrrd -o b.nrrd	# wrapped into [0, 2 pi)
		may_be_empty phase2depth -q --wrapped --ref-plane 700,0.1,-0.3 -c 0.5 in.nrrd -o c.nrrd
		py '
a, b, c, i, r = (read_frame(f + ".nrrd") for f in ("a", "b", "c", "in", "ref"))
y, x = np.mgrid[:a["depth"].shape[0], :a["depth"].shape[1]]
expect(a.names == ["depth", "modulation"], a.names)
wrap = lambda p: np.pi - np.mod(np.pi - p, 2 * np.pi)
p = i["phase"].astype(float)
def check(got, d, z, slope):		# rounding may take what lies next to half a turn to its other side
	ok = np.isfinite(d) & (np.pi - np.abs(d) > 1e-4)
	expect(np.isnan(got) == np.isnan(d))
	if ok.any():
		expect(np.abs(got - z)[ok] <= 0.39 * (4 * ulp(2 * np.pi) * slope + 2 * ulp(z[ok])), np.abs(got - z)[ok].max())
d = wrap(p - r["phase"])
check(a["depth"], d, -0.2 * d + 0.01 * d ** 2, 0.27)
check(b["depth"], d, -0.2 * d + 0.01 * d ** 2, 0.27)
d = wrap(p - (700 + 0.1 * x - 0.3 * y))
check(c["depth"], d, 0.5 * d, 0.5)
if a["depth"].size > 1:
	expect(np.abs(a["depth"][0, 0] - (-0.2 * np.pi + 0.01 * np.pi ** 2)) < 1e-8, a["depth"][0, 0])' $size
	done
}

@test "phase2depth: --wrapped gives the depth of a scene within half a turn from one set, and warns beyond" {
	sim() { fringesim -q -s 160x120 -p 24 -b float -c 2 "$@"; }
	sim --scene plane | phasewrap -o plate.nrrd
	for height in 6 9; do			# half a turn is 6.28 mm
		sim --scene relief --height $height --truth truth.nrrd | phasewrap -o face.nrrd
		phase2depth --wrapped --ref plate.nrrd face.nrrd -o depth$height.nrrd 2>warnings$height
		phase2depth --wrapped --ref ideal face.nrrd -o ideal$height.nrrd 2>>warnings$height
		framecat --channels depth truth.nrrd -o truth$height.nrrd
	done
	[ ! -s warnings6 ] || { cat warnings6; false; }
	[ "$(grep -c "phase2depth: --wrapped: 0.* % of neighbours are a whole turn apart: the difference to the reference exceeds half a turn" warnings9)" = 2 ]
	py '
for name in ("depth", "ideal"):
	for height in (6, 9):
		z = read_frame("%s%d.nrrd" % (name, height))["depth"]
		t = read_frame("truth%d.nrrd" % height)["depth"]
		beyond = t > 2 * np.pi
		expect(beyond.any() == (height == 9))
		# the part beyond half a turn has no depth, nor have specks at its border
		expect(np.all(np.isnan(z[beyond])))
		expect(np.isnan(z[~beyond]).mean() < (0.002 if height == 9 else 1e-9), np.isnan(z[~beyond]).mean())
		expect(np.nanmax(np.abs(z - t)) < 1.6e-6, np.nanmax(np.abs(z - t)))'
	# jumps of noise are none of half a turn: unlit pixels have any phase
	py '
rng = np.random.default_rng(3)
f = read_frame("face.nrrd"); p = np.array(f["phase"]) * 0.01
p[rng.random(p.shape) < 0.3] = 9; n = p == 9; p[n] = rng.uniform(-3.14, 3.14, n.sum())
write_frames("noise.nrrd", Frame(p.astype("f4"), ["phase"]))'
	silent phase2depth --wrapped --ref-plane 0,0,0 -c 1 noise.nrrd -o null:
	fails 1 "--fit-c: the difference to the reference exceeds half a turn" \
		phase2depth --wrapped --ref plate.nrrd --fit-c 9 face.nrrd
	# in a batch the line counts the frames
	fails 0 "% of neighbours are a whole turn apart in 2 of 3 frames: " phase2depth --wrapped --ref plate.nrrd \
		--max-depth 99 face.nrrd plate.nrrd face.nrrd -o null:
}

@test "phase2depth: --wrapped: a surface most of which is beyond half a turn: where the plate is seen, or refused" {
	py '
y, x = np.mgrid[:160, :160]
r = np.hypot(x - 79.5, y - 79.5)
d = np.clip((78 - r) / 7, 0, 1) * 4.5	# a table with steep sides, 62 % of the picture beyond half a turn
np.save("d.npy", d)
wrap = lambda p: (np.pi - np.mod(np.pi - p, 2 * np.pi)).astype("f4")
write_frames("plate.nrrd", Frame(wrap(5 + 0.2 * x), ["phase"]))
p = wrap(5 + 0.2 * x + d)
write_frames("seen.nrrd", Frame(p, ["phase"]))
write_frames("alone.nrrd", Frame(np.where(r < 77, p, np.nan).astype("f4"), ["phase"]))
# a slope from a turn below to a turn above: nothing tells which of its parts is within
write_frames("slope.nrrd", Frame(wrap(5 + 0.2 * x + (x - 80) * 0.09), ["phase"]))'
	phase2depth --wrapped --ref plate.nrrd -c 1 seen.nrrd -o depth.nrrd 2>warnings
	has "all parts but the one on the reference, 6. % of the pixels, have no depth" <warnings
	py '
z, d = read_frame("depth.nrrd")["depth"], np.load("d.npy")
expect((d > np.pi).mean() > 0.6, (d > np.pi).mean())
expect(np.isnan(z[d > np.pi]))
expect(np.isnan(z[d < np.pi]).mean() < 0.01, np.isnan(z[d < np.pi]).mean())
expect(np.nanmax(np.abs(z - d)) < 5.8e-7, np.nanmax(np.abs(z - d)))'
	for f in alone slope; do
		fails 1 "% of the pixels nothing tells which lies within: have the reference seen beside them, or unwrap both phases" \
			phase2depth --wrapped --ref plate.nrrd -c 1 $f.nrrd -o no.nrrd
		[ ! -e no.nrrd ]
	done
}

@test "phase2depth: --fit-c finds c for each pixel, and its powers, from wrapped phases of a pinhole rig" {
	# at 10 to 60 mm over the plane, where the phase is up to 2.7 rad above it: c differs by pixel, and z is no
	# straight line of the phase
	sim() { fringesim -q -s 160x120 -p 90 -b float --calib "$top/samples/block.yml" --origin 240,180 "$@"; }
	sim --scene plane --truth plane.nrrd | phasewrap -o plate.nrrd
	for z in 10 22 35 48 60; do
		sim --scene plane --height $z | phasewrap
	done >steps.nrrd
	for degree in 1 2 3; do
		phase2depth --wrapped --ref plate.nrrd --fit-c 10,22,35,48,60 --degree $degree steps.nrrd -o c$degree.nrrd
	done
	sim --scene sphere --radius 90 --height 55 --truth truth.nrrd | phasewrap -o ball.nrrd
	for degree in 1 2 3; do
		phase2depth --wrapped --ref plate.nrrd --c-map c$degree.nrrd ball.nrrd -o depth$degree.nrrd
	done
	py '
plane, truth = read_frame("plane.nrrd"), read_frame("truth.nrrd")
t = plane["depth"].astype(float) - truth["depth"]		# distances from the camera
d = (truth["absphase"] - plane["absphase"])
c1 = np.abs(read_frame("c1.nrrd")["c1"])
expect(np.nanmax(np.abs(d)) < np.pi and np.nanmax(np.abs(d)) > 1.5, np.nanmax(np.abs(d)))
expect(np.nanmax(c1) / np.nanmin(c1) > 1.01, np.nanmin(c1), np.nanmax(c1))
rms = []
for degree in (1, 2, 3):
	z = read_frame("depth%d.nrrd" % degree)["depth"]
	ok = np.isfinite(z) & (t > 5)
	rms.append(np.sqrt(np.mean((z - t)[ok] ** 2)))
print(rms)
expect(rms[0] > 5 * rms[1] > 5 * rms[2] and rms[2] < 2e-4, rms)'
}

@test "phase2depth: --wrapped: errors, and phases of which one is absolute" {
	py '
flat = np.zeros((3, 3), "f4")
for name in ("phase", "absphase", "image"):
	write_frames(name + ".nrrd", Frame(flat, [name]))
	write_frames(name + "2.nrrd", Frame(flat[None].repeat(2, 0) + 1, [name, "modulation"]))
write_frames("several.nrrd", Frame(flat[None].repeat(2, 0), ["phase1", "phase2"]))
write_frames("vector.nrrd", Frame(flat[None].repeat(2, 0), ["cos", "sin"]))
write_frames("degrees.nrrd", Frame(np.arange(9, dtype="f4").reshape(3, 3) * 40, ["phase"]))
write_frames("turns.nrrd", Frame(np.arange(9, dtype="f4").reshape(3, 3) / 8, ["phase"]))
write_frames("half_turns.nrrd", Frame(np.arange(9, dtype="f4").reshape(3, 3) / 8 - 0.5, ["phase"]))
write_frames("inf.nrrd", Frame(flat + np.float32(np.inf), ["phase"]))
write_frames("60.nrrd", Frame(flat, ["phase"], {"period_px": "60"}))
write_frames("66.nrrd", Frame(flat, ["phase"], {"period_px": "66"}))'
	for second in "" 2; do
		fails 1 "--ref: has a wrapped phase, the input an absolute one: unwrap both alike" \
			phase2depth -c 1 --ref phase$second.nrrd absphase.nrrd
		fails 1 "--ref: has an absolute phase, but --wrapped takes wrapped ones: leave --wrapped out, or unwrap neither" \
			phase2depth -c 1 --wrapped --ref absphase$second.nrrd phase.nrrd
	done
	fails 1 "input has no channel absphase" phase2depth -c 1 --ref phase.nrrd phase.nrrd
	fails 1 "phase2depth: has an absolute phase" phase2depth -c 1 --wrapped --ref phase.nrrd absphase.nrrd
	fails 1 "input has no channel phase, only: image" phase2depth -c 1 --wrapped --ref phase.nrrd image.nrrd
	fails 1 "has phase1 and others: --wrapped takes a single phase" phase2depth -c 1 --wrapped --ref phase.nrrd several.nrrd
	fails 1 "--ref: has phase1 and others" phase2depth -c 1 --wrapped --ref several.nrrd phase.nrrd
	fails 1 "has cos and sin: gauss makes a phase of them" phase2depth -c 1 --wrapped --ref phase.nrrd vector.nrrd
	fails 1 "phase goes from 0 to 320, but a wrapped phase over one turn at most, in radians" \
		phase2depth -c 1 --wrapped --ref phase.nrrd degrees.nrrd
	fails 1 "--ref: phase goes from 0 to 320" phase2depth -c 1 --wrapped --ref degrees.nrrd phase.nrrd
	fails 1 "phase goes from 0 to 320" phase2depth --wrapped --ref phase.nrrd --fit-c 1 degrees.nrrd
	fails 1 "phase goes from inf to inf" phase2depth -c 1 --wrapped --ref phase.nrrd inf.nrrd
	fails 0 "phase goes from 0 to 1: are those radians?" phase2depth -c 1 --wrapped --ref-plane 0.5,0,0 turns.nrrd turns.nrrd -o null:
	fails 0 "phase goes from -0.5 to 0.5: are those radians?" phase2depth -c 1 --wrapped --ref-plane 0.5,0,0 half_turns.nrrd -o null:
	fails 0 "--ref: is the same wrapped phase as the input" phase2depth -c 1 --wrapped --ref phase.nrrd phase.nrrd -o null:
	fails 1 "its period_px is 66, the input's 60" phase2depth -c 1 --wrapped --ref 66.nrrd 60.nrrd
	fails 2 "--wrapped: is only for --ref" phase2depth --wrapped --calib c.json phase.nrrd
	fails 2 "say --ref FILE" phase2depth --wrapped phase.nrrd
}

@test "phase2depth: one thread equals seven, every band height and instruction level alike" {
	py "$rig"'
cam, proj = ([float(v) for v in a.split(",")] for a in sys.argv[1:3])
rig = Rig(531, 90, cam, proj)
phase = rig.phase(36)[0].astype("f4"); phase[5:9, 100:200] = np.nan
rig.json("c.json")
write_frames("in.nrrd", [Frame(phase, ["absphase"], {"period_px": "36"}),
	Frame(phase[:40], ["absphase"], {"period_px": "36"})])' $lens $strong
	py '
wrap = lambda p: (np.pi - np.mod(np.pi - p, 2 * np.pi)).astype("f4")
frames = read_frames("in.nrrd")
for f in frames:	# a hill, a part of which is beyond half a turn, over the plane of the second mode
	y, x = np.mgrid[:f.pixels.shape[-2], :f.pixels.shape[-1]]
	f.pixels = np.where(np.isnan(f.pixels), np.nan, 20 + 0.1 * x + 0.01 * y + 4.5 * np.exp(-((x - 300) ** 2 + (y - 20) ** 2) / 300))
write_frames("wrapped.nrrd", [Frame(wrap(f.pixels), ["phase"], f.meta) for f in frames])'
	for mode in "--calib c.json" "--ref-plane 20,0.1,0.01 -c 0.2,0.01" "-q --wrapped --ref-plane 20,0.1,0.01 -c 0.2,0.01 wrapped.nrrd"; do
		# shellcheck disable=SC2086
		phase2depth $mode -j 1 <in.nrrd >one.nrrd
		# shellcheck disable=SC2086
		phase2depth $mode -j 7 <in.nrrd | cmp one.nrrd
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=1 phase2depth $mode -j 2 <in.nrrd | cmp one.nrrd
		levels=$(cpu_levels)
		for level in $levels; do
			# shellcheck disable=SC2086
			FRINGEPIPE_CPU=$level phase2depth $mode <in.nrrd | cmp one.nrrd
		done
	done
}

@test "phase2depth: a lens that folds back: every pixel within the fold is found, none on its far side" {
	py "
import json
k1, k2, k3, f = 0.185, 0.201, -0.173, 151.0	# folds at 50.8 degrees
json.dump({'camera_K': [[f, 0, 159.5], [0, f, 119.5], [0, 0, 1]], 'camera_dist': [k1, k2, 0, 0, k3],
	'projector_K': [[400, 0, 1000], [0, 400, 400], [0, 0, 1]], 'R_cam_to_proj': np.eye(3).tolist(),
	'T_cam_to_proj_mm': [100, 0, 0], 'camera_size': [320, 240], 'projector_size': [2000, 800]}, open('c.json', 'w'))
r = np.linspace(0, np.tan(np.radians(48)), 100001)
y, x = (np.mgrid[0:240, 0:320] - np.array([119.5, 159.5])[:, None, None]) / f
far = np.hypot(x, y)
ray = np.interp(far, r * (1 + k1 * r**2 + k2 * r**4 + k3 * r**6), r, right=np.nan) / np.maximum(far, 1e-9)
u = 400 * (500 * x * ray + 100) / 500 + 1000
write_frames('in.nrrd', Frame((2 * np.pi * u / 20).astype('f4'), ['absphase'], {'period_px': '20', 'axis': 'x'}))
"
	phase2depth -q --calib c.json in.nrrd -o out.nrrd
	py '
phase, z = read_frame("in.nrrd").pixels[0], read_frame("out.nrrd")["z"]
expect(np.isfinite(phase).sum() > 70000 and (np.isfinite(z) == np.isfinite(phase)).all(), np.isfinite(z).sum(), np.isfinite(phase).sum())
expect(np.abs(z[np.isfinite(z)] - 500).max() < 0.01, np.nanmax(np.abs(z - 500)))'
}

@test "phase2depth: a projector's lens that folds back in its picture: what it shows once is found, nothing beyond" {
	for lens in "-0.5,0,0,0" "-0.6,0.1,0.002,0.002" "0.185,0.201,0,0,-0.173"; do
		py "$rig"'
k = [float(v) for v in sys.argv[1].split(",")]
k1, k2, k3 = k[0], k[1], (k + [0])[4]
fold = np.sqrt(min(r.real for r in np.roots([7 * k3, 5 * k2, 3 * k1, 1]) if abs(r.imag) < 1e-9 and r.real > 0))
rig = Rig(320, 240, [], k, "y")
f, fp = 125., 456 / distort(k, fold, 0)[0]
rig.K = np.array([[f, 0, 163.3], [0, f, 117.9], [0, 0, 1]]); rig.Kp = np.array([[fp, 0, 480.3], [0, fp, 300.7], [0, 0, 1]])
phase, X = rig.phase(36)
rig.json("c.json")
q = np.tensordot(rig.R, X, 1) + rig.T[:, None, None]
x, y = q[:2] / q[2]
a, b = distort(k, x, y)
seen = (np.abs(fp * a) < 480) & (np.abs(fp * b) < 300)
write_frames("in.nrrd", Frame(phase.astype("f4"), ["absphase"], {"period_px": "36", "axis": "y"}))
np.savez("truth.npz", X=X, bound=rig.bound(phase, X, 36), seen=seen, far=np.hypot(x, y) / fold, R=rig.R, T=rig.T, fold=fold)' "$lens"
		phase2depth -q --calib c.json in.nrrd -o out.nrrd
		py '
p, t = read_frame("out.nrrd").pixels[:3].astype(float), np.load("truth.npz")
within, beyond = t["seen"] & (t["far"] < 0.99), t["seen"] & (t["far"] > 1.01)
expect(within.sum() > 15000 and beyond.sum() > 4000, within.sum(), beyond.sum())
expect(np.isfinite(p[:, within]), np.isnan(p[2, within]).sum())
share = (np.abs(p - t["X"]) / t["bound"])[:, within]
expect(share < 0.29, share.max())		# 0.242 0.241 0.241
expect(np.isnan(p[2, beyond]), np.isfinite(p[2, beyond]).sum())
q = np.tensordot(t["R"], p, 1) + t["T"][:, None, None]
far = np.hypot(q[0], q[1]) / q[2] / t["fold"]
expect(np.nanmax(far) < 1.0008, np.nanmax(far))		# 1.0006: at the fold itself a point may be 0.1 px off'
	done
}

@test "phase2depth: calibrations: a value that is no number keeps its place and is told; so is a lens of another name" {
	local word
	py "$rig"'
rig = Rig(16, 12, [-0.1, 0.02, 0, 0, 0], [], "x")
write_frames("in.nrrd", Frame(rig.phase(36)[0].astype("f4"), ["absphase"], {"period_px": "36", "axis": "x"}))
rig.json("indented.json")
import json
json.dump(json.load(open("indented.json")), open("c.json", "w"))'
	phase2depth -q --calib c.json in.nrrd -o out.nrrd
	grep -q '"camera_dist": \[-0.1, ' c.json
	for word in null NaN '"-0.1"' true abc 1e999; do
		sed "s/\"camera_dist\": \[-0.1, /\"camera_dist\": [$word, /" c.json >bad.json
		fails 1 "camera_dist: expected numbers, value 1 is none" phase2depth --calib bad.json in.nrrd
	done
	sed 's/"camera_dist"/"camera_distorsion"/' c.json >bad.json
	phase2depth --calib bad.json in.nrrd -o out.nrrd 2>said
	grep -q "camera_distorsion, 5 numbers, is not read: a lens is called camera_dist" said
	printf '%s\n' 'cameraMatrix: [20, 0, 8, 0, 20, 6, 0, 0, 1]' 'projectorMatrix: [20, 0, 8, 0, 20, 6, 0, 0, 1]' \
		'R: [1, 0, 0, 0, 1, 0, 0, 0, 1]' 'T: [1, 0, 0]' >start
	for word in '-0.3; 0.1; 0; 0' '.nan 0.1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'; do
		{ cat start; echo "distCoeffs: $word"; } >bad.yml
		fails 1 "distCoeffs: expected lens distortion, found '" phase2depth --calib bad.yml in.nrrd
	done
	{ cat start; printf '%s\n' 'distCoeffs:' '  - -0.3f' '  - 0.1' '  - 0' '  - 0' '  - 0'; } >bad.yml
	fails 1 "distCoeffs: expected numbers, value 1 is none" phase2depth --calib bad.yml in.nrrd
	{ cat start; printf '%s\n' 'distCoeffs:' '  rows: 1' '  cols: 5' '  data: [-0.3, 0.1, 0, 0]'; } >bad.yml
	fails 1 "distCoeffs.data: expected 1 x 5 numbers, as rows and cols say, found 4" phase2depth --calib bad.yml in.nrrd
	{ cat start; printf '%s\n' 'distCoeffs:' '  rows: 1' '  cols: 5' '  data: []'; } >bad.yml
	fails 1 "distCoeffs.data: expected 1 x 5 numbers, as rows and cols say, found 0" phase2depth --calib bad.yml in.nrrd
	{ cat start; printf '%s\n' 'distCoeffs:' '  rows: 2' '  cols: 1' '  dt: "2d"' '  data: [-0.3, 0.1, 0, 0]'; } >good.yml
	phase2depth -q --calib good.yml in.nrrd -o out.nrrd
	sed 's/rows: 2/rows: 4/' good.yml >bad.yml
	fails 1 "distCoeffs.data: expected 4 x 1 times 2 numbers, as rows, cols and dt say, found 4" phase2depth --calib bad.yml in.nrrd
	sed 's/^R: .*/R: {rows: 9, cols: 9, data: [1, 0, 0, 0, 1, 0, 0, 0, 1]}/' start >bad.yml
	fails 1 "R.data: expected 9 x 9 numbers, as rows and cols say, found 9" phase2depth --calib bad.yml in.nrrd
}

@test "phase2depth: errors" {
	py "$rig"'
Rig(3, 3).json("c.json")
flat = np.zeros((3, 3), "f4")
write_frames("in.nrrd", Frame(flat, ["absphase"]))
write_frames("other.nrrd", Frame(flat, ["depth"]))
write_frames("big.nrrd", Frame(np.zeros((4, 4), "f4"), ["absphase"]))
bad = {"c_mm_per_rad": "x", "ref_plane_rad": "1 2", "period_px": "-3", "origin_px": "1", "bin": "0", "axis": "z"}
for key, value in bad.items():
	meta = {"period_px": "36"}; meta[key] = value
	write_frames(key + ".nrrd", Frame(flat, ["absphase"], meta))
write_frames("placed.nrrd", Frame(flat, ["absphase"],
	{"period_px": "60", "axis": "x", "origin_px": "4 0", "bin": "1"}))
write_frames("two.nrrd", Frame(np.zeros((2, 3, 3), "f4"), ["a", "b"]))'
	fails 2 "say --ref FILE (the absolute phase of a plane), --ref ideal (a plane by formula) or --calib FILE" phase2depth in.nrrd
	for option in "--ref ideal" "--ref-plane 1,2,3" "-c 1" "--c-map in.nrrd" "--fit-c 1"; do
		name=${option% *}
		# shellcheck disable=SC2086
		fails 2 "${name/#-c/--c}: gives depth over a reference plane, --calib coordinates without one: say one of them" \
			phase2depth --calib c.json $option in.nrrd
	done
	for option in "-p 36" "-a x" --centered "--projector 9,9" "--bin 2" --as-projector; do
		# shellcheck disable=SC2086
		fails 2 ": is only for --calib" phase2depth --ref-plane 1,2,3 -c 1 $option in.nrrd
	done
	fails 2 "--ref-plane is the ideal plane" phase2depth --ref in.nrrd --ref-plane 1,2,3 in.nrrd
	fails 2 "--ref-plane: must be three numbers, not 2" phase2depth --ref-plane 1,2 in.nrrd
	fails 2 "--c, --c-map and --fit-c exclude one another" phase2depth -r ideal -c 1 --fit-c 1 in.nrrd
	fails 2 "--c: 0 makes all depths 0" phase2depth -r ideal -c 0,0 in.nrrd
	fails 2 "--ref-plane: wants numbers separated by commas, not '1,nan,2'" phase2depth --ref-plane 1,nan,2 -c 1 in.nrrd
	fails 2 "--c: at most 8 coefficients, not 9" phase2depth -r ideal -c 1,2,3,4,5,6,7,8,9 in.nrrd
	fails 2 "--origin: must be two numbers, not 1" phase2depth --calib c.json --origin 1 in.nrrd
	fails 2 "--projector: must be two numbers, not 1" phase2depth --calib c.json --projector 9 in.nrrd
	fails 1 "the fringe period is not known: say --period PX" phase2depth --calib c.json in.nrrd
	fails 1 "the reference plane is not known: say --ref FILE" phase2depth -r ideal in.nrrd
	fails 1 "depth per radian is not known: say --c" phase2depth --ref in.nrrd in.nrrd
	fails 1 "input has no channel absphase" phase2depth --calib c.json other.nrrd
	fails 1 "big.nrrd: is 4 x 4, the input is 3 x 3" phase2depth --ref big.nrrd -c 1 in.nrrd
	fails 1 "the image of --ref has 2 channels and none is named absphase" \
		phase2depth --ref two.nrrd -c 1 in.nrrd
	for wrong in period_px=66 axis=y origin_px=3\ 0 bin=2; do
		framecat --set "$wrong" placed.nrrd -o wrong.nrrd
		fails 1 "the reference does not go with the input: its ${wrong%=*} is ${wrong#*=}, the input's" \
			phase2depth --ref wrong.nrrd -c 1 placed.nrrd
	done
	phase2depth --ref in.nrrd -c 1 placed.nrrd -o null:		# a reference without keys is accepted
	phase2depth --ref wrong.nrrd -c 1 in.nrrd -o null:
	fails 1 "c_mm_per_rad" phase2depth --ref in.nrrd c_mm_per_rad.nrrd
	fails 1 "key ref_plane_rad must be three numbers, not 2" phase2depth -r ideal ref_plane_rad.nrrd
	fails 1 "key period_px must be positive, not -3" phase2depth --calib c.json period_px.nrrd
	fails 1 "key origin_px must be two numbers, not 1" phase2depth --calib c.json origin_px.nrrd
	fails 1 "key bin must be one or two positive numbers" phase2depth --calib c.json bin.nrrd
	fails 1 "key axis must be x or y, not 'z': say --axis" phase2depth --calib c.json axis.nrrd
	fails 1 "none.json: cannot open" phase2depth --calib none.json in.nrrd
	echo '{"K1": 3}' >short.json
	fails 1 "short.json: K1: expected the camera's 3x3 matrix, found 1 number" phase2depth --calib short.json in.nrrd
}
