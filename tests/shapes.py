"""fitshape's results computed again in NumPy, from the words of its man page alone; and shapes to try it on."""
import json
import math
import subprocess
import numpy as np
from frames import Frame, write_frames


def table(points, unit="mm", **more):
	"""A table of points (N, 3), with more channels (sigma=...)."""
	channels = [*np.asarray(points, float).T, *more.values()]
	return Frame(np.array(channels).astype("f4")[:, None, :], ["x", "y", "z", *more],
		{"points": str(len(points)), "length_unit": unit})


def fitshape(*words):
	"""The results of fitshape --json."""
	return json.loads(subprocess.run(["fitshape", *words, "--json"], check=True, stdout=subprocess.PIPE).stdout)["results"]


# ---- shapes ----

def rotation(axis, angle):
	axis = np.asarray(axis, float) / np.linalg.norm(axis)
	k = np.cross(np.eye(3), -axis)
	return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def cap(rng, n, centre, radius, degrees):
	"""Points of a ball that a camera at 0 sees: up to so many degrees from the direction of -z."""
	z = -rng.uniform(math.cos(math.radians(degrees)), 1, n)
	a, s = rng.uniform(0, 2 * math.pi, n), np.sqrt(1 - z * z)
	return centre + radius * np.c_[s * np.cos(a), s * np.sin(a), z]


def tube(rng, n, centre, axis, radius, length, degrees):
	"""Points of a cylinder, over an arc of so many degrees."""
	axis = np.asarray(axis, float) / np.linalg.norm(axis)
	v = np.cross(axis, [0, 1, 0])
	v /= np.linalg.norm(v)
	a = np.radians(rng.uniform(-degrees / 2, degrees / 2, n))
	u = np.cross(v, axis)
	return centre + np.outer(rng.uniform(-length / 2, length / 2, n), axis) + radius * (
		np.outer(np.cos(a), u) + np.outer(np.sin(a), v))


def patch(rng, n, centre, normal, size):
	"""Points of a plane."""
	normal = np.asarray(normal, float) / np.linalg.norm(normal)
	u = np.cross(normal, [0, 1, 0])
	u /= np.linalg.norm(u)
	return centre + size * (np.outer(rng.uniform(-.5, .5, n), u) + np.outer(rng.uniform(-.5, .5, n), np.cross(normal, u)))


# ---- the man page's figures ----

def fit_plane(points):
	mean = points.mean(0)
	n = np.linalg.svd(points - mean, full_matrices=False)[2][2]
	n = n if n[2] < 0 else -n
	return {"center": mean, "normal": n, "d": (points - mean) @ n}


def fit_sphere(points):
	about = points.mean(0)
	x = points - about
	linear = np.linalg.lstsq(np.c_[2 * x, np.ones(len(x))], (x * x).sum(1), rcond=None)[0]
	c, r = linear[:3], math.sqrt(linear[3] + linear[:3] @ linear[:3])
	for _ in range(50):
		q = x - c
		length = np.linalg.norm(q, axis=1)
		step = np.linalg.lstsq(np.c_[q / length[:, None], np.ones(len(x))], length - r, rcond=None)[0]
		c, r = c + step[:3], r + step[3]
	return {"center": c + about, "radius": r, "d": np.linalg.norm(x - c, axis=1) - r}


def fit_cylinder(points, axis):
	"""From an axis that is nearly right: the circle across it, then all of it by differences."""
	about = points.mean(0)
	x = points - about
	axis = np.asarray(axis, float) / np.linalg.norm(axis)
	u = np.linalg.svd(axis[None])[2][1]
	v = np.cross(axis, u)

	def d(p):
		a = axis + p[0] * u + p[1] * v
		a /= np.linalg.norm(a)
		q = x - p[2] * u - p[3] * v
		return np.linalg.norm(q - np.outer(q @ a, a), axis=1) - p[4]
	two = np.c_[x @ u, x @ v]
	linear = np.linalg.lstsq(np.c_[2 * two, np.ones(len(x))], (two * two).sum(1), rcond=None)[0]
	p = np.r_[0, 0, linear[:2], math.sqrt(linear[2] + linear[:2] @ linear[:2])]
	h = 1e-6 * np.array([1, 1, p[4], p[4], p[4]])
	for _ in range(30):
		J = np.stack([(d(p + h * (np.arange(5) == k)) - d(p - h * (np.arange(5) == k))) / (2 * h[k])
			for k in range(5)], 1)
		p = p - np.linalg.lstsq(J, d(p), rcond=None)[0]
	a = axis + p[0] * u + p[1] * v
	a /= np.linalg.norm(a)
	c = p[2] * u + p[3] * v
	return {"center": about + c - (c @ a) * a, "axis": a * np.sign(a[np.argmax(np.abs(a))]), "radius": p[4], "d": d(p)}


def trimmed(fit, points, per_mille=3):
	"""The second fit, of all but the k points farthest from the first one."""
	k = math.floor(per_mille * len(points) / 1000 + 1e-9)
	order = np.argsort(-np.abs(fit(points)["d"]), kind="stable")
	return fit(np.delete(points, order[:k], 0)), k


def vdi(fit, points, per_mille=3):
	second, k = trimmed(fit, points, per_mille)
	return {"points": len(points) - k, "trimmed": k, "range": np.ptp(second["d"]), **second}


def quantile(d, share):
	"""The least value that this share of all does not exceed."""
	d = np.sort(d)
	return d[max(0, math.ceil(share * len(d) - 1e-9) - 1)]
