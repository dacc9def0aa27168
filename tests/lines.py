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


def profile(d, w):
	"""Antiderivative of a Gaussian line of height 1 and sd w at distance d."""
	return w * np.sqrt(np.pi / 2) * erf(d / w / np.sqrt(2))


def below(d, a, b):
	"""The part of a pixel's area less than d from its middle, along the normal (a, b): exact."""
	a, b = max(abs(a), abs(b)), min(abs(a), abs(b))
	if b < 1e-9:
		return np.clip(d / a + 0.5, 0, 1)
	half = lambda x: np.maximum(x, 0) ** 2 / 2
	return (half(d + (a + b) / 2) - half(d + (a - b) / 2) - half(d - (a - b) / 2) + half(d - (a + b) / 2)) / (a * b)


def line_image(n, angle, offset, kind, w, points=5):
	"""n x n pixels, each the mean over its area; the normal at that angle, the line `offset` from the middle."""
	nu, nv = np.cos(angle), np.sin(angle)
	y, x = np.mgrid[0:n, 0:n] - (n - 1) / 2
	d = x * nu + y * nv - offset
	if kind == "bar":
		return below(w - d, nu, nv) - below(-w - d, nu, nv)
	a, b = (nu, nv) if abs(nu) >= abs(nv) else (nv, nu)
	p = np.zeros((n, n))
	for t, share in zip(*np.polynomial.legendre.leggauss(points)):
		p += share / 2 * (profile(d + b * t / 2 + a / 2, w) - profile(d + b * t / 2 - a / 2, w)) / a
	return p


def ridge_steps(image, sigma, u, v, steps=5):
	"""How far along (u, v) each point is from where the image, smoothed by a Gaussian whose derivatives are integrated
	over pixels, has no slope across the line: Newton steps with sums over all pixels within 6 sigma, in doubles."""
	n = int(np.ceil(6 * sigma)) + 1
	j = np.arange(-n, n + 1)
	out = []

	def kernels(t):
		g = lambda x: np.exp(-x * x / (2 * sigma * sigma)) / (sigma * np.sqrt(2 * np.pi))
		phi = lambda x: np.array([math.erf(k / (sigma * math.sqrt(2))) for k in x]) / 2
		a, b = t - 0.5, t + 0.5
		return phi(b) - phi(a), g(b) - g(a), (a * g(a) - b * g(b)) / sigma ** 2

	for at in zip(u, v):
		x, y = at
		for _ in range(steps):
			i, k = int(np.rint(x)), int(np.rint(y))
			kx, ky = kernels(x - i - j), kernels(y - k - j)
			window = image[k - n:k + n + 1, i - n:i + n + 1]
			rx, ry, rxx, rxy, ryy = (ky[b] @ window @ kx[a] for a, b in ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2)))
			values, vectors = np.linalg.eigh([[rxx, rxy], [rxy, ryy]])
			nu, nv = vectors[:, 0]
			t = -(nu * rx + nv * ry) / values[0]
			x, y = x + t * nu, y + t * nv
		out.append((x - at[0], y - at[1]))
	return np.array(out)


DIRECTIONS = [(np.radians(a), o) for a in (0, 7, 20, 33, 45, 58, 71, 84, 90) for o in (0, 0.37)]


def distances(frame, n, angle, offset, margin=15):
	"""Of the points from the true line: of those `margin` px from the border, and of all."""
	u, v = frame["u"][0].astype(float), frame["v"][0].astype(float)
	d = (u - (n - 1) / 2) * np.cos(angle) + (v - (n - 1) / 2) * np.sin(angle) - offset
	return d[(np.minimum(u, v) > margin) & (np.maximum(u, v) < n - 1 - margin)], d


def crossed(frame, n, angle):
	"""The share of rows (columns, for a flat line) that have a point; corners, where a line leaves, do not count."""
	at = frame["v" if abs(np.cos(angle)) >= abs(np.sin(angle)) - 1e-9 else "u"][0]
	return np.isin(np.arange(15, n - 15), np.rint(at)).mean()
