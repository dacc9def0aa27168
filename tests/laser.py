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


def on_plane(camera, plane, v, u0, u1):
	"""World points of the plane that pixels (u, v) see, for undistorted cameras."""
	u = np.linspace(u0, u1, len(v)) if np.ndim(u0) == 0 else u0
	ray = np.stack([(u - camera.K[0, 2]) / camera.K[0, 0], (v - camera.K[1, 2]) / camera.K[1, 1],
		np.ones_like(u)], -1) @ camera.R
	centre = -camera.R.T @ camera.T
	t = -(plane[:3] @ centre + plane[3]) / (ray @ plane[:3])
	return centre + t[:, None] * ray
