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
		"""4 ulp of the phase times the derivative of x, y, z to it, and 2 ulp (floats in, floats out)."""
		up = 1e-3
		moved = self.seen(X * (1 + up)) * 2 * np.pi / period
		return 4 * ulp(phase) * np.abs(X * up / (moved - phase)) + 2 * ulp(X)
'
lens="0.08,-0.15,0.0012,-0.0007,0.05"
strong="-0.28,0.12,-0.0008,0.001,-0.02,0.05,0.01,0.002,0.0006,-0.0003,-0.0004,0.0002"

# shape_agrees CAMERA_LENS PROJECTOR_LENS AXIS SIZE
shape_agrees() {
	py "$rig"'
cam, proj = ([float(v) for v in a.split(",") if v] for a in sys.argv[1:3])
axis, size = sys.argv[3:]
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
expect(f.meta["length_unit"] == "mm" and np.all(f["modulation"] == 3))
error = np.abs(f.pixels[:3] - t["X"])
expect(error <= t["bound"], sys.argv[1:], np.nanmax(error / t["bound"]), np.nanmax(error), np.isnan(error).sum())' "$@"
}

@test "phase2depth: calibrated, no lens, every size" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		shape_agrees "" "" x $size
	done
	shape_agrees "" "" y 129x65
}

@test "phase2depth: calibrated, lenses on either side and on both" {
	shape_agrees $lens "" x 129x65
	shape_agrees "" $lens x 129x65
	shape_agrees $lens $strong x 160x120
	shape_agrees $strong $lens y 160x120
	shape_agrees $strong $strong x 127x1
}
