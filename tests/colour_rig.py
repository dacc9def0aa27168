"""A camera, a projector and a colour camera beside them, for tests of texmap: their file, and projection in NumPy."""
import json
import numpy as np

SIZE, COLOUR_SIZE = (160, 120), (240, 180)


def turn(rx, ry, rz):
	(cx, sx), (cy, sy), (cz, sz) = ((np.cos(a), np.sin(a)) for a in np.radians([rx, ry, rz]))
	return (np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]]) @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]) @
		np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]))


def matrix(f, size):
	return [[f, 0, size[0] / 2 + 1.5], [0, 1.01 * f, size[1] / 2 - 2], [0, 0, 1]]


class Rig:
	"""The world is the camera; the colour camera stands at `center` and looks at (0, 0, 600), rolled by 8 degrees. Both
	have `scale` times as many columns and rows."""

	def __init__(self, center=(-220, 30, 10), f=330, dist=(-.12, .05, .001, -.0008, .01), scale=1):
		self.size, self.colour_size = ([scale * n for n in size] for size in (SIZE, COLOUR_SIZE))
		self.center, self.dist, self.K = np.array(center, float), list(dist), np.array(matrix(scale * f, self.colour_size))
		self.camera_K = matrix(scale * 250, self.size)
		z = np.array([0, 0, 600]) - self.center
		z /= np.linalg.norm(z)
		x = np.cross([0, 1, 0], z)
		x /= np.linalg.norm(x)
		self.R = (np.stack([x, np.cross(z, x), z], 1) @ turn(0, 0, 8)).T	# world to camera
		self.T = -self.R @ self.center

	def save(self, name, **more):
		def device(kind, size, K, R=np.eye(3), center=np.zeros(3), dist=()):
			return dict(kind=kind, size=size, K=np.ravel(K).tolist(), dist=list(dist), R=R.T.tolist(), T_mm=list(center))
		camera = device("camera", self.size, self.camera_K, dist=[-.1, .03, 0, 0])
		projector = device("projector", [1024, 768], matrix(1200, [1024, 768]), turn(0, 14, 0), [150, 0, 0])
		colour = device("camera", self.colour_size, self.K, self.R, self.center.tolist(), self.dist)
		R = turn(0, 14, 0)
		file = dict(camera_K=camera["K"], camera_dist=camera["dist"], camera_size=self.size, projector_K=projector["K"],
			projector_size=[1024, 768], R_cam_to_proj=R.tolist(), T_cam_to_proj_mm=(-R @ [150, 0, 0]).tolist(),
			K1=camera["K"], d1=camera["dist"], K2=colour["K"], d2=self.dist, R=self.R.tolist(), T_mm=self.T.tolist(),
			devices=dict(cam=camera, projector=projector, colour=colour))
		file.update(more)
		json.dump({k: v for k, v in file.items() if v is not None}, open(name, "w"))

	def project(self, P):
		"""Points (3, ...) of the world to column and row of the colour camera's full frame."""
		X = np.tensordot(self.R, P, 1) + self.T.reshape(3, *[1] * (np.ndim(P) - 1))
		x, y = X[0] / X[2], X[1] / X[2]
		k1, k2, p1, p2, k3 = self.dist
		r2 = x * x + y * y
		c = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
		x, y = x * c + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * c + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
		return self.K[0, 0] * x + self.K[0, 2], self.K[1, 1] * y + self.K[1, 2]


def plane(w, h, step=2., z=600., slope=.3):
	"""x y z of an ordered plane about (0, 0, z)."""
	y, x = np.mgrid[:h, :w].astype(float)
	x, y = (x - (w - 1) / 2) * step, (y - (h - 1) / 2) * step
	return np.stack([x, y, z + slope * x]).astype("f4")


def around(values, u, v, reach):
	"""The least and the largest value of an image (H, W) within `reach` pixels of places, as far as there are pixels."""
	h, w = values.shape
	low, high = np.full(np.shape(u), np.inf), np.full(np.shape(u), -np.inf)
	for dy in range(1 - reach, reach + 1):
		for dx in range(1 - reach, reach + 1):
			near = values[np.clip(np.floor(v).astype(int) + dy, 0, h - 1), np.clip(np.floor(u).astype(int) + dx, 0, w - 1)]
			low, high = np.minimum(low, near), np.maximum(high, near)
	return low, high
