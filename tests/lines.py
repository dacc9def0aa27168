"""Images of straight laser lines with known places, for tests."""
import math
import numpy as np

STEP = 0.002
GRID = np.arange(-4500, 4501) * STEP
ERF = np.array([math.erf(x) for x in GRID])


def erf(x):
	"""To 1e-9: from the nearest entry of a table, by two terms of its series."""
	x = np.clip(x, GRID[0], GRID[-1])
	i = np.rint((x - GRID[0]) / STEP).astype(int)
	d = x - GRID[i]
	return ERF[i] + 2 / np.sqrt(np.pi) * np.exp(-GRID[i] ** 2) * d * (1 - GRID[i] * d)


def profile(d, kind, w):
	"""Antiderivative of a line of height 1 at distance d: a Gaussian of sd w, or a bar of half width w."""
	return w * np.sqrt(np.pi / 2) * erf(d / w / np.sqrt(2)) if kind == "gauss" else np.clip(d, -w, w)


def line_image(n, angle, offset, kind, w, points=5):
	"""n x n pixels, each the mean over its area; the normal at that angle, the line `offset` from the middle."""
	nu, nv = np.cos(angle), np.sin(angle)
	y, x = np.mgrid[0:n, 0:n] - (n - 1) / 2
	d = x * nu + y * nv - offset
	a, b = (nu, nv) if abs(nu) >= abs(nv) else (nv, nu)
	p = np.zeros((n, n))
	for t, share in zip(*np.polynomial.legendre.leggauss(points)):
		p += share / 2 * (profile(d + b * t / 2 + a / 2, kind, w) - profile(d + b * t / 2 - a / 2, kind, w)) / a
	return p


DIRECTIONS = [(np.radians(a), o) for a in (0, 7, 20, 33, 45, 58, 71, 84, 90) for o in (0, 0.37)]


def distances(frame, n, angle, offset, margin=15):
	"""Of the points from the true line: of those `margin` px from the border, and of all."""
	u, v = frame["u"][0].astype(float), frame["v"][0].astype(float)
	d = (u - (n - 1) / 2) * np.cos(angle) + (v - (n - 1) / 2) * np.sin(angle) - offset
	return d[(np.minimum(u, v) > margin) & (np.maximum(u, v) < n - 1 - margin)], d


def crossed(frame, n, angle):
	"""The share of rows (columns, for a flat line) that have a point; corners, where a line leaves, do not count."""
	at = frame["v" if abs(np.cos(angle)) >= abs(np.sin(angle)) - 1e-9 else "u"][0]
	return np.isin(np.arange(6, n - 6), np.rint(at)).mean()
