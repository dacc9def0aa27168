"""Wrapped phases of the kinds that the literature of phase unwrapping tests with, and their truth."""
import numpy as np

TURN = 2 * np.pi

def smooth_noise(rng, h, w, cut, power=0.0):
	"""Gaussian field of deviation 1: amplitudes fall as f^-power above `cut` cycles/px low pass."""
	fy, fx = np.fft.fftfreq(h)[:, None], np.fft.fftfreq(w)[None]
	f = np.hypot(fy, fx)
	a = np.exp(-(f / cut) ** 2) if power == 0 else 1 / np.maximum(f, 2 / max(h, w)) ** power * np.exp(-(f / cut) ** 2)
	a[0, 0] = 0
	n = np.fft.ifft2(np.fft.fft2(rng.normal(size=(h, w))) * a).real
	return n / n.std()

def boxed(v, k):
	return v.reshape(v.shape[0] // k, k, v.shape[1] // k, k).mean((1, 3))

def circular(rng, shape):
	return (rng.normal(size=shape) + 1j * rng.normal(size=shape)) / np.sqrt(2)

def interferogram(rng, phi, coherence, looks=3):
	"""Multi-looked phase and its estimated coherence, of looks x looks independent samples."""
	h, w = phi.shape
	up = lambda v: np.repeat(np.repeat(v, looks, 0), looks, 1)
	a, b = circular(rng, (h * looks, w * looks)), circular(rng, (h * looks, w * looks))
	g = up(coherence)
	s2 = g * a + np.sqrt(1 - g * g) * b
	ifg = boxed(a * np.conj(s2), looks) * np.exp(1j * phi)
	est = np.abs(ifg) / np.sqrt(boxed(np.abs(a) ** 2, looks) * boxed(np.abs(s2) ** 2, looks))
	return np.angle(ifg), est

def terrain(seed, relief, ambiguity, size=192, looks=3):
	"""SAR: fractal hills seen from the left; layover and shadow by geometry; speckle, decorrelation."""
	rng = np.random.default_rng(seed)
	fine, over = size * looks, 3		# slant samples before looks; ground cells per sample
	pad, theta = fine // 4, np.radians(35)
	z = np.maximum(smooth_noise(rng, fine, fine + 2 * pad, 0.03, 1.8), -0.8) * 42 * looks * relief
	x = np.arange((fine + 2 * pad) * over) / over
	z = np.stack([np.interp(x, np.arange(fine + 2 * pad), row) for row in z])
	slant, across = x * np.sin(theta) - z * np.cos(theta), x * np.cos(theta) + z * np.sin(theta)
	lit = across >= np.maximum.accumulate(across, 1)
	cell = np.floor((slant - pad * np.sin(theta)) / np.sin(theta)).astype(int)
	phi = TURN * z / (ambiguity * looks)
	inside = (cell >= 0) & (cell < fine)
	at = cell + np.arange(fine)[:, None] * fine
	laid = inside & (np.gradient(slant, axis=1) <= 0)

	def binned(which, v):
		return np.bincount(at[which], v[which], fine * fine).reshape(fine, fine)
	seen = lit & inside
	count = binned(seen, np.ones_like(phi))
	a = circular(rng, phi.shape)
	b = a * np.exp(-1j * phi)
	one = binned(seen, a.real) + 1j * binned(seen, a.imag)
	two = binned(seen, b.real) + 1j * binned(seen, b.imag)
	some = np.maximum(count, 1)
	mean = binned(seen, phi) / some
	spread = np.sqrt(np.maximum(binned(seen, phi ** 2) / some - mean ** 2, 0))
	kept = np.clip(0.85 + 0.25 * smooth_noise(rng, fine, fine, 0.02), 0.02, 0.97)
	two = kept * two + np.sqrt((1 - kept ** 2) * count) * circular(rng, one.shape)
	one, two = one + 0.3 * circular(rng, one.shape), two + 0.3 * circular(rng, one.shape)
	ifg = boxed(one * np.conj(two), looks)
	est = np.abs(ifg) / np.sqrt(boxed(np.abs(one) ** 2, looks) * boxed(np.abs(two) ** 2, looks))
	bad = boxed((count == 0) + binned(laid, np.ones_like(phi)), looks) > 0
	truth = boxed(mean, looks)
	return np.angle(ifg), truth, ~bad & (boxed(kept, looks) > 0.3) & (boxed(spread, looks) < 0.6), est

def shear(seed, h=192, w=192, turns=6.0, noise=0.3, band=3):
	"""A hill with a fault along a wavy line, from nothing at its end to `turns`; a band of low correlation around it."""
	rng = np.random.default_rng(seed)
	y, x = np.mgrid[0:h, 0:w]
	line = w * (0.5 + 0.05 * np.sin(y / h * 7 + rng.uniform(0, 6)) + rng.uniform(-.1, .1))
	grow = np.clip((y / h - 0.25) / 0.75, 0, 1)
	hill = TURN * (6 * np.exp(-((x / w - .4) ** 2 + (y / h - .5) ** 2) * 8) + rng.uniform(-3, 3) * x / w)
	side = 1 / (1 + np.exp(np.clip((x - line) / (w * .12), -50, 50)))
	truth = hill + np.where(x < line, TURN * turns * grow * (side - .5) * 2, 0)
	d = np.abs(x - line)
	coh = np.where((d < band) & (grow > 0), 0.15, 0.95) 
	p, est = interferogram(rng, truth, coh)
	mask = ~((d < band + 1) & (grow > 0))
	return p, truth, mask, est

def spiral(seed, h=192, w=192, arms=2.5, turns=5.3, noise=.3, band=2, power=1.0):
	"""One arm that winds around the middle; the phase grows along it; the windings are a band of low correlation apart."""
	rng = np.random.default_rng(seed)
	y, x = np.mgrid[0:h, 0:w]
	x0, y0 = w / 2 + rng.uniform(-8, 8), h / 2 + rng.uniform(-8, 8)
	r, th = np.hypot(x - x0, y - y0), np.arctan2(y - y0, x - x0) + rng.uniform(0, TURN)
	th %= TURN
	pitch = min(h, w) / 2 / arms
	u = r / pitch - th / TURN
	k = np.floor(u)
	wound = k + 1 + th / TURN		# windings from the middle
	truth = TURN * turns * np.maximum(wound, 0) ** power * rng.choice([-1, 1])
	d = np.minimum(u - k, 1 - (u - k)) * pitch
	coh = np.where(d < band, 0.1, 0.95)
	coh = np.where(wound < 0.8, 0.1, coh)
	p, est = interferogram(rng, truth, coh)
	mask = (d >= band + 1) & (wound > 1.0)
	return p, truth, mask, est

def islands(seed, h=192, w=192, cover=0.45, turns=8, lake=0.3):
	"""Ground in islands of good correlation, some of them touching by narrow necks, noise (water) around."""
	rng = np.random.default_rng(seed)
	s = smooth_noise(rng, h, w, 0.02)
	land = s > np.quantile(s, 1 - cover)
	truth = TURN * turns / 4 * smooth_noise(rng, h, w, 0.012)
	coh = np.where(land, 0.9, 0.03)
	p, est = interferogram(rng, truth, coh)
	return p, truth, land, est

def decorrelated(seed, h=192, w=192, turns=10):
	"""Smooth ground whose correlation falls from place to place to nothing."""
	rng = np.random.default_rng(seed)
	truth = TURN * turns / 4 * smooth_noise(rng, h, w, 0.015)
	coh = np.clip(0.55 + 0.35 * smooth_noise(rng, h, w, 0.03), 0.02, 0.98)
	p, est = interferogram(rng, truth, coh)
	return p, truth, coh > 0.35, est

def opened(mask):
	"""Without parts that are less than 3 pixels wide."""
	for least in True, False:
		padded = np.pad(mask, 1, constant_values=False)
		shifted = [padded[y:y + mask.shape[0], x:x + mask.shape[1]] for y in range(3) for x in range(3)]
		mask = np.logical_and.reduce(shifted) if least else np.logical_or.reduce(shifted)
	return mask


def solvable(mask, truth):
	"""The mask without pixels whose true phase steps by more than half a turn, and without necks."""
	mask = mask.copy()
	for axis in 0, 1:
		far = np.abs(np.diff(truth, axis=axis)) > np.pi
		one, two = (np.s_[1:], np.s_[:-1]) if axis == 0 else (np.s_[:, 1:], np.s_[:, :-1])
		mask[one] &= ~far
		mask[two] &= ~far
	return opened(mask)


def regions(mask):
	"""Numbers of the mask's regions of neighbours in rows and columns, from 1 on; 0 outside."""
	number = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
	while True:
		before = number
		padded = np.pad(number, 1)
		number = np.where(mask, np.max([padded[1:-1, 1:-1], padded[:-2, 1:-1], padded[2:, 1:-1],
			padded[1:-1, :-2], padded[1:-1, 2:]], 0), 0)
		if (number == before).all():
			return number


def wrong(unwrapped, truth, mask):
	"""The share of the mask whose turns are not their region's most frequent ones off the truth."""
	off, number, right = np.rint((unwrapped - truth) / TURN), regions(mask), 0
	for k in np.unique(number[mask]):
		right += np.unique(off[number == k], return_counts=True)[1].max()
	return 1 - right / mask.sum()


KINDS = dict(terrain=lambda s: terrain(s, .45, 30), steep=lambda s: terrain(s, .55, 18),
	dense=lambda s: terrain(s, .35, 10), shear=shear, spiral=spiral, islands=islands, decorrelated=decorrelated)
