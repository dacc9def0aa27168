"""A rig of a camera and a projector before a board, by formulas of its own: points with their truth, for tests."""
import json
import numpy as np
from frames import Frame, write_frames

CAMERA = dict(size=(1280, 1024), K=(2100.0, 2098.0, 645.0, 505.0), dist=(-0.08, 0.11, 0.0006, -0.0004, 0.05))
PROJECTOR = dict(size=(1920, 1080), K=(2000.0, 2003.0, 950.0, 560.0), dist=(0.03, -0.05, -0.0003, 0.0005, 0.02))
SPACING = 15.0


def rotation(v):
	"""A rotation vector's matrix."""
	v = np.asarray(v, float)
	angle = np.linalg.norm(v)
	if angle < 1e-15:
		return np.eye(3)
	x, y, z = v / angle
	k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
	return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def vector(R):
	"""A rotation matrix's vector."""
	w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
	s, c = np.linalg.norm(w), (np.trace(R) - 1) / 2
	return w if s < 1e-15 else w / s * np.arctan2(s, c)


def project(device, X):
	"""Points (n, 3) of the device's frame to pixels (n, 2), OpenCV's model of 4, 5 or 8 numbers."""
	fx, fy, cx, cy = device["K"]
	k1, k2, p1, p2, k3, k4, k5, k6 = tuple(device["dist"]) + (0,) * (8 - len(device["dist"]))
	x, y = X[:, 0] / X[:, 2], X[:, 1] / X[:, 2]
	r = x * x + y * y
	radial = (1 + r * (k1 + r * (k2 + r * k3))) / (1 + r * (k4 + r * (k5 + r * k6)))
	return np.stack([fx * (x * radial + 2 * p1 * x * y + p2 * (r + 2 * x * x)) + cx,
		fy * (y * radial + p1 * (r + 2 * y * y) + 2 * p2 * x * y) + cy], 1)


def corners(w=11, h=8, spacing=SPACING, bend=0.0):
	"""i, j and the place of every corner; bend: z of the board's middle, shared by both directions."""
	j, i = np.mgrid[0:h, 0:w].reshape(2, -1)
	x, y = 2 * i / (w - 1) - 1, 2 * j / (h - 1) - 1
	return i, j, np.stack([i * spacing, j * spacing, bend * (0.6 * (1 - x * x) + 0.4 * (1 - y * y))], 1)


class Rig:
	"""The projector stands `degrees` to the right of the camera and looks at the same place, 620 mm away."""

	def __init__(self, seed=0, views=15, noise=0.05, bend=0.0, degrees=18.0, board=(11, 8), devices=None,
			print_error=0.0):
		rng = self.rng = np.random.default_rng(seed)
		self.devices = devices or [CAMERA, PROJECTOR]
		self.views, self.board, self.noise = views, board, noise
		self.poses = []
		for k in range(len(self.devices)):
			angle = np.radians(degrees) * k
			R = rotation([0.01 * k, angle, 0.02 * k])
			place = 620 * np.array([np.sin(angle), 0.02 * k, 1 - np.cos(angle)])
			self.poses.append((R, -R @ place))
		i, j, X = corners(*board, bend=bend)
		X[:, :2] += np.random.default_rng(8).normal(0, print_error, X[:, :2].shape)	# mm, of the print
		self.i, self.j = i, j
		middle = np.array([(board[0] - 1) / 2, (board[1] - 1) / 2, 0]) * SPACING
		self.true = [[] for _ in self.devices]
		self.boards = []
		while len(self.boards) < views:
			axis = rng.uniform(0, 2 * np.pi)
			tilt = np.radians(rng.uniform(8, 26))
			R = rotation([tilt * np.cos(axis), tilt * np.sin(axis), 0]) @ rotation([0, 0, rng.uniform(-0.3, 0.3)])
			T = np.array([rng.uniform(-60, 60), rng.uniform(-45, 45), rng.uniform(560, 680)])
			seen = (X - middle) @ R.T + T
			uv = [project(d, seen @ r.T + t) for d, (r, t) in zip(self.devices, self.poses)]
			if all((p > 5).all() and (p < np.array(d["size"]) - 6).all() for p, d in zip(uv, self.devices)):
				self.boards.append((R, T - R @ middle))
				for k, p in enumerate(uv):
					self.true[k].append(p)
		self.points = [[p + rng.normal(0, noise, p.shape) if noise else p for p in of] for of in self.true]

	def table(self, device, pose, sigma=None, low=False):
		p = self.points[device][pose]
		s = np.full(len(p), sigma or self.noise or 0.05)
		good = ~np.isnan(p[:, 0])
		names, data = ["u", "v", "sigma", "i", "j"], [p[:, 0], p[:, 1], s, self.i, self.j]
		if low:	# what floats leave
			names, data = names + ["u_low", "v_low"], data + [c - c.astype("f4") for c in p.T]
		data = np.stack(data)[:, good].astype("f4")
		w, h = self.devices[device]["size"]
		return Frame(data[:, None, :], names,
			{"points": str(data.shape[1]), "image_size_px": "%d %d" % (w, h)})

	def write(self, *names, low=False):
		for device, name in enumerate(names):
			write_frames(name, [self.table(device, k, low=low) for k in range(self.views)])

	def truth(self):
		"""The parameters by the names that fringecal prints, for devices called camera and projector."""
		out = {}
		for device, name, (R, T) in zip(self.devices, ["camera", "projector"], self.poses):
			values = dict(zip(["fx", "fy", "cx", "cy"], device["K"]))
			values.update(zip(["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"], device["dist"]))
			if name != "camera":
				values.update(zip(["rx", "ry", "rz", "tx", "ty", "tz"], [*vector(R), *T]))
			out.update({name + "." + k: v for k, v in values.items()})
		return out


def found(path):
	"""The file's parameters and their standard deviations, by name."""
	rig = json.load(open(path))
	value, sd = {}, {}
	first = np.array(next(iter(rig["devices"].values()))["R"])
	for name, device in rig["devices"].items():
		K, R = np.array(device["K"]), np.array(device["R"]).T
		T = -R @ np.array(device.get("T_mm", device.get("T")))
		named = dict(zip(["fx", "fy", "cx", "cy"], [K[0, 0], K[1, 1], K[0, 2], K[1, 2]]))
		named.update(zip(["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"], device["dist"]))
		named.update(zip(["rx", "ry", "rz", "tx", "ty", "tz"], [*vector(R), *T]))
		for key, deviation in device["sd"].items():
			value[name + "." + key] = named[key]
			sd[name + "." + key] = deviation
	return value, sd, rig


def undistort(device, uv):
	"""Pixels to x/z, y/z."""
	fx, fy, cx, cy = device["K"]
	goal = (uv - [cx, cy]) / [fx, fy]
	xy = goal.copy()
	unit = dict(device, K=(1.0, 1.0, 0.0, 0.0))
	for _ in range(50):
		xy += goal - project(unit, np.column_stack([xy, np.ones(len(xy))]))
	return xy


def volume_error(rig, path, steps=(7, 6, 5)):
	"""rms error in mm of points of the volume, triangulated from true pixels by the file's rig: as they are, and
	after the best rigid motion."""
	X = np.stack(np.meshgrid(np.linspace(-90, 90, steps[0]), np.linspace(-70, 70, steps[1]),
		np.linspace(560, 680, steps[2])), -1).reshape(-1, 3)
	uv = [project(d, X @ R.T + T) for d, (R, T) in zip(rig.devices, rig.poses)]
	file = json.load(open(path))["devices"]
	rows, right = [], []
	for p, device in zip(uv, file.values()):
		K = np.array(device["K"])
		d = dict(K=(K[0, 0], K[1, 1], K[0, 2], K[1, 2]), dist=device["dist"])
		R = np.array(device["R"]).T
		T = -R @ np.array(device["T_mm"])
		for c in range(2):
			xy = undistort(d, p)[:, c]
			rows.append(R[c] - xy[:, None] * R[2])
			right.append(xy * T[2] - T[c])
	A, b = np.stack(rows, 1), np.stack(right, 1)
	Y = np.linalg.solve(np.einsum("nki,nkj->nij", A, A), np.einsum("nki,nk->ni", A, b)[..., None])[..., 0]
	before = np.sqrt(((Y - X) ** 2).sum(1).mean())
	a, c = Y - Y.mean(0), X - X.mean(0)
	U, _, V = np.linalg.svd(a.T @ c)
	Q = U @ np.diag([1, 1, np.linalg.det(U @ V)]) @ V
	return before, np.sqrt(((a @ Q - c) ** 2).sum(1).mean())


# ---- what a calibration's covariance does to points of a camera's pixels and a projector's columns ----

def parameters(file):
	"""The numbers of a rig file in the order of its covariance, and their names."""
	value = {}
	first = file["devices"][file["parameters"][0].split(".")[0]]
	for name, device in file["devices"].items():
		K = np.array(device["K"])
		R = np.array(device["R"]).T @ np.array(first["R"])
		T = np.array(device["R"]).T @ (np.array(first["T_mm"]) - device["T_mm"])
		value.update(zip([name + "." + k for k in ("fx", "fy", "cx", "cy")], [K[0, 0], K[1, 1], K[0, 2], K[1, 2]]))
		value.update(zip([name + "." + k for k in ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")], device["dist"]))
		value.update(zip([name + "." + k for k in ("rx", "ry", "rz", "tx", "ty", "tz")], [*vector(R), *T]))
	return np.array([value[name] for name in file["parameters"]]), file["parameters"]


def device_of(values, names, name):
	"""A device as project() takes it, with R and T from the first device's frame."""
	v = dict(zip(names, values))
	get = lambda keys: tuple(v.get(name + "." + k, 0.0) for k in keys.split())
	return dict(K=get("fx fy cx cy"), dist=get("k1 k2 p1 p2 k3 k4 k5 k6"), R=rotation(get("rx ry rz")),
		T=np.array(get("tx ty tz")))


def triangulate(camera, projector, uv, code, axis=0):
	"""Points of the first device's frame that the camera sees at uv and the projector in its column (axis 1: row)
	code: along each ray by Newton's method with a numerical slope."""
	xy = undistort(camera, uv)
	ray = np.column_stack([xy, np.ones(len(xy))])
	point = lambda s: (s[:, None] * ray - camera["T"]) @ camera["R"]
	seen = lambda s: project(projector, point(s) @ projector["R"].T + projector["T"])[:, axis]
	s = np.full(len(uv), 620.0)
	for _ in range(12):
		slope = (seen(s + 0.01) - seen(s - 0.01)) / 0.02
		s = s - (seen(s) - code) / slope
	return point(s)


def volume_points(file):
	"""The 75 points of a rig file's volume, in the first device's frame."""
	first = next(iter(file["devices"].values()))
	K = np.array(first["K"])
	u, v, z = (np.linspace(*file["volume"][k], n) for k, n in zip("uvz", (5, 5, 3)))
	z, v, u = (a.ravel() for a in np.meshgrid(z, v, u, indexing="ij"))
	xy = undistort(dict(K=(K[0, 0], K[1, 1], K[0, 2], K[1, 2]), dist=first["dist"]), np.column_stack([u, v]))
	return np.column_stack([xy * z[:, None], z])


def without_motion(volume, moved, X, Y):
	"""Y - X less the small rigid motion that fits moved - volume best."""
	middle = volume.mean(0)
	motion = lambda P: np.stack([np.block([np.eye(3), -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])])
		for x, y, z in P - middle])
	m = np.linalg.lstsq(motion(volume).reshape(-1, 6), (moved - volume).ravel(), rcond=None)[0]
	return Y - X - motion(X) @ m
