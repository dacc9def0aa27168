"""Cameras, laser planes and stages in NumPy, for tests: independent of the tools' code."""
import json
import numpy as np
from frames import Frame, write_frames


def rotation(axis, angle):
	"""About a unit vector, right-handed (Rodrigues)."""
	x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
	K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
	return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Camera:
	"""OpenCV's model with 5 coefficients; x = R X + T."""

	def __init__(self, f=2235., size=(1292, 964), dist=(0, 0, 0, 0, 0), R=np.eye(3), T=(0, 0, 0)):
		self.K = np.array([[f, 0, (size[0] - 1) / 2], [0, f, (size[1] - 1) / 2], [0, 0, 1]])
		self.size, self.dist = size, np.array(dist, float)
		self.R, self.T = np.asarray(R, float), np.asarray(T, float)

	def project(self, X):
		x = np.asarray(X) @ self.R.T + self.T
		a, b = x[..., 0] / x[..., 2], x[..., 1] / x[..., 2]
		k1, k2, p1, p2, k3 = self.dist
		r = a * a + b * b
		c = 1 + r * (k1 + r * (k2 + r * k3))
		u = a * c + 2 * p1 * a * b + p2 * (r + 2 * a * a)
		v = b * c + p1 * (r + 2 * b * b) + 2 * p2 * a * b
		return np.stack([self.K[0, 0] * u + self.K[0, 2], self.K[1, 1] * v + self.K[1, 2]], -1)

	def keys(self):
		keys = dict(camera_K=self.K.tolist(), camera_dist=self.dist.tolist())
		if (self.R != np.eye(3)).any() or self.T.any():
			keys.update(camera_R=self.R.tolist(), camera_T_mm=self.T.tolist())
		return keys

	def save(self, path, **more):
		keys = self.keys()
		keys.update({k: np.asarray(v).tolist() for k, v in more.items()})
		with open(path, "w") as file:
			json.dump(keys, file, indent=1)


def table(names, columns, **meta):
	"""A table as frame(5) defines it, of rows or none."""
	columns = np.atleast_2d(np.asarray(columns, float))
	n = columns.shape[1]
	pixels = columns if n else np.full((len(columns), 1), np.nan)
	return Frame(pixels.astype("f4")[:, None, :], names.split(), dict(meta, points=str(n)))


def board(w, h, square):
	"""Corners i (along w, fastest), j and their places in mm, (w h, 3)."""
	j, i = np.mgrid[:h, :w]
	return i.ravel(), j.ravel(), np.stack([i.ravel() * square, j.ravel() * square, 0 * i.ravel()], -1)


def corners(path, camera, poses, shape=(11, 8, 15.), sigma=0, rng=None, keys=None):
	"""A stream of tables u v i j: a board at poses (R, t), X = R b + t in the world."""
	i, j, b = board(*shape)
	out = []
	for k, (R, t) in enumerate(poses):
		uv = camera.project(b @ R.T + t)
		if sigma:
			uv = uv + rng.normal(0, sigma, uv.shape)
		out.append(table("u v i j", [uv[:, 0], uv[:, 1], i, j], **(keys[k] if keys else {})))
	write_frames(path, out)


def board_line(pose, plane, shape=(11, 8, 15.), n=200):
	"""World points where the plane crosses the board, within its corners' hull."""
	R, t = pose
	w, h, s = shape
	# n . (R (x, y, 0) + t) + D = 0: a x + b y + c = 0
	a, b = plane[:3] @ R[:, 0], plane[:3] @ R[:, 1]
	c = plane[:3] @ t + plane[3]
	y = np.linspace(0, (h - 1) * s, n)
	if abs(a) > abs(b):
		x = -(c + b * y) / a
	else:
		x = np.linspace(0, (w - 1) * s, n)
		y = -(c + a * x) / b
	inside = (x >= 0) & (x <= (w - 1) * s) & (y >= 0) & (y <= (h - 1) * s)
	return np.stack([x, y, 0 * x], -1)[inside] @ R.T + t


BAR = 149.12	# mm between the centres of the paper's ball bar


def heads():
	"""Two heads, to the left and to the right of the stage, in one world: camera, plane; and the stage's direction."""
	out = []
	direction = np.array([0.01, 0.999, -0.03])
	for side in -1, 1:
		R = rotation([0, 1, 0], side * np.radians(35)) @ rotation([1, 0, 0], np.radians(-8))
		camera = Camera(dist=(-0.086, 0.112, -0.0005, 0.0003, 0), R=R, T=np.array([0, 0, 1000.]))
		# a horizontal sheet of light, 28 degrees from the camera's axis, through the middle of the world
		n = R.T @ rotation([1, 0, 0], np.radians(28)) @ [0, 1, 0]
		out.append((camera, np.r_[n, 0.]))
	return out, direction


def scan_balls(camera, plane, direction, centres, radius, sigma, rng, step=1., most=80):
	"""Tables of a head's slices, with stage_mm: up to `most` points of each ball that camera and laser both see."""
	eye = -camera.R.T @ camera.T
	a = np.cross(plane[:3], [1., 0, 0])
	a /= np.linalg.norm(a)
	b = np.cross(plane[:3], a)
	laser = eye + 2 * (-(eye @ plane[:3] + plane[3])) * plane[:3] / 1.	# the camera's mirror image
	laser -= plane[:3] * (laser @ plane[:3] + plane[3])
	reach = [(-(c @ plane[:3]) - plane[3]) / (direction @ plane[:3]) for c in centres]
	out = []
	for h in np.arange(min(reach) - 1.2 * radius, max(reach) + 1.2 * radius, step):
		points = np.zeros((0, 2))
		for c in centres:
			at = c + h * direction
			off = at @ plane[:3] + plane[3]
			if abs(off) >= radius * 0.98:
				continue
			middle, r = at - off * plane[:3], np.sqrt(radius**2 - off**2)
			t = np.linspace(0, 2 * np.pi, 4 * most, endpoint=False)
			X = middle + r * (np.cos(t)[:, None] * a + np.sin(t)[:, None] * b)
			n = (X - at) / radius
			seen = np.minimum(((eye - X) / np.linalg.norm(eye - X, axis=1)[:, None] * n).sum(1),
				((laser - X) / np.linalg.norm(laser - X, axis=1)[:, None] * n).sum(1)) > 0.35
			uv = camera.project(X[seen])
			points = np.concatenate([points, uv[:: max(1, len(uv) // most)]])
		if len(points):
			out.append(table("u v", (points + rng.normal(0, sigma, points.shape)).T, stage_mm="%.9g" % h))
	return out


def fit_sphere(X):
	A = np.c_[2 * X, np.ones(len(X))]
	s = np.linalg.lstsq(A, (X**2).sum(1), rcond=None)[0]
	return s[:3], np.sqrt(s[3] + s[:3] @ s[:3])


def bar_pose(rng, radius=20.):
	axis = rotation([0, 0, 1], rng.uniform(-.9, .9)) @ rotation([0, 1, 0], rng.uniform(-.5, .5)) @ np.array([1., 0, 0])
	middle = rng.uniform(-15, 15, 3)
	return middle - axis * BAR / 2, middle + axis * BAR / 2


def calibration_tables(name, camera, plane, direction, rng, sigma=.05, shape=(11, 8, 40.)):
	"""NAME-corners, NAME-lines (8 views) and NAME-stops (21 of 5 mm) for lasercal, noisy."""
	w, h, s = shape
	middle = np.array([(w - 1) * s / 2, (h - 1) * s / 2, 0])
	normal = camera.R @ plane[:3]
	poses = []
	for k in range(8):
		phi, z = rng.uniform(0, 2 * np.pi), 900 + 200 * k / 7
		R = rotation([np.cos(phi), np.sin(phi), 0], 0.5)
		x = np.array([0, 0, z])		# moved across the axis onto the plane
		x[1] -= (normal @ (x - camera.T)) / normal[1]
		poses.append((camera.R.T @ R, camera.R.T @ (x - R @ middle - camera.T)))
	corners(name + "-corners.nrrd", camera, poses, shape, sigma, rng)
	lines = []
	for pose in poses:
		uv = camera.project(board_line(pose, plane, shape, 88))
		lines.append(table("u v", (uv + rng.normal(0, sigma, uv.shape)).T))
	write_frames(name + "-lines.nrrd", lines)
	R = rotation([1, 0, 0], .4) @ rotation([0, 1, 0], .2)
	start = camera.R.T @ (np.array([0, 0, 1000.]) - R @ middle - camera.T)
	corners(name + "-stops.nrrd", camera, [(camera.R.T @ R, start + (5. * k - 50) * direction) for k in range(21)],
		shape, sigma, rng, keys=[dict(stage_mm="%g" % (5. * k - 50)) for k in range(21)])
