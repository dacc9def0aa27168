"""A body scanned by four laser heads, and shapes that slide along themselves, for mergexyz --icp: in NumPy."""
import numpy as np
from frames import Frame, read_frame, write_frames

SECTOR = np.radians(45 * 1.25)	# heads are 90 degrees apart: neighbours share a quarter of that


def ellipse(X, a, b):
	"""Nearly the distance from an upright elliptic cylinder; no more than that."""
	return (np.hypot(X[0] / a, X[1] / b) - 1) * 0.6 * np.minimum(a, b)


def capsule(X, a, b, r):
	d = np.subtract(b, a)
	t = np.clip(np.tensordot(d, X - np.reshape(a, (3, 1)), 1) / (d @ d), 0, 1)
	return np.linalg.norm(X - np.reshape(a, (3, 1)) - d[:, None] * t, axis=0) - r * (1 - 0.3 * t)


def body(X):
	z = X[2]
	trunk = ellipse(X, 160 + 30 * np.sin(z / 120), 130 + 25 * np.cos(z / 90))
	trunk = np.maximum(trunk, z - 1230)
	arms = [capsule(X, (s * 215, 10, 1180), (s * 330, -60 * s, 620), 55) for s in (-1, 1)]
	shoulders = capsule(X, (-200, 10, 1190), (200, 10, 1190), 65)
	head = (np.linalg.norm((X - [[0], [10], [1370]]) / [[80], [100], [130]], axis=0) - 1) * 0.6 * 80
	return np.minimum.reduce([trunk, shoulders, head, *arms])


SHAPES = {
	"body": body,
	"torso": lambda X: ellipse(X, 170, 110),
	"cylinder": lambda X: np.hypot(X[0], X[1]) - 150,
	"sphere": lambda X: np.linalg.norm(X - [[0], [0], [750]], axis=0) - 300,
	"plane": lambda X: np.abs(X[1]) - 60,
}


def rotation(axis, angle):
	x, y, z = axis / np.linalg.norm(axis)
	K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
	return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def normals(f, X):
	n = np.stack([f(X + 1e-3 * e[:, None]) - f(X - 1e-3 * e[:, None]) for e in np.eye(3)])
	return n / np.linalg.norm(n, axis=0)


def turned(n, azimuth):
	"""How far normals look aside of a head at that azimuth, which stands before the axis."""
	return np.abs(np.angle(np.exp(1j * (np.arctan2(n[1], n[0]) + np.pi / 2 - azimuth))))


def view(shape, azimuth, rng, slices=400, rays=300, pinhole=False):
	"""What a head, or a camera, at that azimuth sees: points and normals, 3 x rays x slices, NaN for none."""
	f = SHAPES[shape]
	away = np.array([-np.sin(azimuth), np.cos(azimuth), 0.])	# from the head through the axis
	right = np.array([np.cos(azimuth), np.sin(azimuth), 0.])
	z, fan = np.meshgrid(np.linspace(5, 1495, slices) + rng.uniform(-2, 2), np.linspace(-0.34, 0.34, rays) + rng.uniform(-.002, .002))
	start = -1000 * away[:, None] + np.array([[0], [0], [1]]) * z.ravel()
	ray = np.cos(fan.ravel()) * away[:, None] + np.sin(fan.ravel()) * right[:, None]
	if pinhole:
		start = (-1900 * away + [0, 0, 750])[:, None]
		ray = away[:, None] + 0.88 * np.tan(fan.ravel()) * right[:, None] + np.outer([0, 0, 1], (z.ravel() - 750) / 1900)
		ray /= np.linalg.norm(ray, axis=0)
	X = start + (1300 if pinhole else 550) * ray
	for _ in range(70 + 20 * pinhole): X += ray * f(X)
	X[:, ~(np.abs(f(X)) < 1e-3)] = np.nan
	n = normals(f, X)
	lost = ~((turned(n, azimuth) < SECTOR) & ((n * ray).sum(0) < -0.2))
	X[:, lost] = np.nan
	return X.reshape(3, rays, slices), n.reshape(3, rays, slices)


def scan(name, shape="body", seed=1, noise=0.5, degrees=1.0, mm=2.0, **size):
	"""Writes name.0.nrrd to name.3.nrrd, ordered slices in a world that each head's pose gets wrong, and the truth."""
	rng = np.random.default_rng(seed)
	truth, normal, poses = [], [], []
	for k in range(4):
		X, n = view(shape, np.pi / 2 * k, rng, **size)
		R, t = np.eye(3), np.zeros(3)
		if k:
			axis, shift = rng.normal(size=(2, 3))
			R = rotation(axis, np.radians(degrees))
			t = np.array([0, 0, 750]) - R @ [0, 0, 750] + mm * shift / np.linalg.norm(shift)
		p = X + n * rng.normal(0, noise, X.shape[1:])
		p = np.tensordot(R, p, 1) + t[:, None, None]
		write_frames("%s.%d.nrrd" % (name, k), Frame(p.astype("f4"), ["x", "y", "z"], {"length_unit": "mm", "z_axis": "away"}))
		truth.append(X)
		normal.append(n)
		poses.append((R, t))
	np.savez(name + ".npz", X=truth, n=normal, R=[p[0] for p in poses], t=[p[1] for p in poses])


def errors(name, found):
	"""rms over all points of what the found poses leave, and rms over the four pairs of the mean along the normal."""
	truth = np.load(name + ".npz")
	moved = []
	for k in range(4):
		P = np.loadtxt(found[k]).reshape(4, 4)
		X = truth["X"][k].reshape(3, -1)
		R = P[:3, :3] @ truth["R"][k]
		t = P[:3, :3] @ truth["t"][k] + P[:3, 3]
		moved.append((R, t, X[:, ~np.isnan(X[0])]))
	off = np.concatenate([R @ X + t[:, None] - X for R, t, X in moved], 1)
	seams = []
	for k in range(4):
		(R, t, X), (Q, u, _) = moved[k], moved[(k + 1) % 4]
		n = truth["n"][k].reshape(3, -1)[:, ~np.isnan(truth["X"][k][0].ravel())]
		both = turned(n, np.pi / 2 * (k + 1)) < SECTOR
		X, n = X[:, both], n[:, both]
		seams.append(((R @ X + t[:, None] - Q @ X - u[:, None]) * n).sum(0).mean())
	return np.sqrt((off ** 2).sum(0).mean()), np.sqrt(np.mean(np.square(seams)))
