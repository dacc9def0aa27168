"""A pair of rectified cameras and a projector between them before a sphere, a bar and a tilted plane, ray by ray in
NumPy: fringe images of both cameras, and the disparity that is true. Rows are the same in both; lengths are mm."""
import functools

import numpy as np

F, BASELINE = 2000., 200.		# px, mm
W = 2549
PROJECTOR = np.array([100., 0, -30]), 1280, 1400.	# centre, columns, focal length in px
COUNTS = 70, 64, 59
SPHERE = np.array([40., 0, 930]), 110.
BAR = (210., 235.), 830.		# x from to, at this z
PLANE = np.array([0.18, 0.1, 1.]), 985.	# normal . X = this


def rays(side, rows, w=W):
	"""Centre and directions (z = 1) of a camera's pixels, rows around the middle one."""
	x, y = np.meshgrid((np.arange(w) - (w - 1) / 2) / F, np.asarray(rows) / F)
	return np.array([BASELINE * (side == "right"), 0, 0]), np.stack([x, y, np.ones_like(x)], -1)


def hit(centre, ray):
	"""Distance along each ray, in its own lengths, to the first surface, and which it is; inf where it meets none."""
	n, c = PLANE
	plane = (c - n @ centre) / (ray @ n)
	plane[plane <= 1e-6] = np.inf
	(x0, x1), z = BAR
	bar = (z - centre[2]) / ray[..., 2]
	at = centre[0] + bar * ray[..., 0]
	bar = np.where((bar > 1e-6) & (at > x0) & (at < x1), bar, np.inf)
	to, r = SPHERE
	a, b, g = (ray ** 2).sum(-1), ray @ (to - centre), ((to - centre) ** 2).sum() - r * r
	root = b * b - a * g
	with np.errstate(invalid="ignore"):
		sphere = (b - np.sqrt(root)) / a
	sphere = np.where((root > 0) & (sphere > 1e-6), sphere, np.inf)
	all_three = np.stack([plane, bar, sphere])
	return all_three.min(0), all_three.argmin(0)


def sees(centre, points):
	"""Is nothing between the centre and the points?"""
	t, _ = hit(centre, points - centre)
	return t > 1 - 1e-6


@functools.lru_cache
def view(side, rows, w=W):
	"""rows: a range. points, projector column (NaN where unlit or outside), and the column of the other camera (NaN where hidden)"""
	centre, ray = rays(side, rows, w)
	t, what = hit(centre, ray)
	points = centre + t[..., None] * ray
	at, columns, focal = PROJECTOR
	away = points - at
	u = focal * away[..., 0] / away[..., 2] + (columns - 1) / 2
	lit = sees(at, points) & (u > -0.5) & (u < columns - 0.5)
	other = np.array([BASELINE * (side == "left"), 0, 0])
	column = F * (points[..., 0] - other[0]) / points[..., 2] + (w - 1) / 2
	seen = sees(other, points) & (column >= 0) & (column <= w - 1)
	albedo = 0.575 + 0.325 * np.sin(points[..., 0] / 23) * np.cos(points[..., 1] / 17 + points[..., 2] / 29)
	return points, np.where(lit, u, np.nan), np.where(seen & lit, column, np.nan), albedo


def images(side, rows, noise, w=W, counts=COUNTS, steps=4, bits=8, seed=1):
	"""Images of all phases, and disparity: x - column of the other camera, NaN where it does not see the point."""
	rng = np.random.default_rng(seed + (side == "right"))
	_, u, column, albedo = view(side, rows, w)
	out = []
	for n in counts:
		for k in range(steps):
			fringe = np.where(np.isfinite(u), 127.5 + 120 * np.cos(2 * np.pi * (n * u / PROJECTOR[1] - k / steps)), 5)
			image = albedo * fringe + rng.normal(0, noise, u.shape) if noise else albedo * fringe
			out.append(np.clip(np.round(image), 0, 255).astype("u1") if bits == 8 else image.astype("f4"))
	return np.array(out), np.arange(w) - column
