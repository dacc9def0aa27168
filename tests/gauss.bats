load helpers

# The rule of methods §4 in NumPy, float64, neighbour by neighbour: it counts if it and its mirror image
# about the centre are in the image and not missing.
reference='
def kernel(n, sigma=None):
	j = np.arange(n) - n // 2
	w = np.exp(-0.5 * (j / (sigma or n / 6)) ** 2)
	return w / w.sum()

def mean(v, valid, n, sigma=None):
	"""Weighted mean of v (any dtype) over pairs of neighbours."""
	h, w = v.shape
	r, k = n // 2, kernel(n, sigma)
	v = np.pad(np.where(valid, v, 0), r); m = np.pad(valid, r).astype(float)
	total, weight = 0 * v[r:r + h, r:r + w], np.zeros((h, w))
	for y in range(n):
		for x in range(n):
			there, mirror = np.s_[y:y + h, x:x + w], np.s_[n - 1 - y:n - 1 - y + h, n - 1 - x:n - 1 - x + w]
			pair = k[y] * k[x] * m[there] * m[mirror]
			total += pair * v[there]
			weight += pair
	with np.errstate(invalid="ignore"):
		return np.where(valid, total / weight, np.nan)

def filtered(phase, n, sigma=None):
	phase = phase.astype(float)
	return np.angle(mean(np.exp(1j * np.nan_to_num(phase)), ~np.isnan(phase), n, sigma))

def difference(a, b):
	return np.abs(np.angle(np.exp(1j * (a.astype(float) - b))))

def fringes(h, w, noise=0.2, seed=0):
	y, x = np.mgrid[:h, :w].astype(float)
	p = 0.31 * x + 0.07 * y + np.sin(x / 15) + noise * np.random.default_rng(seed).normal(size=(h, w))
	return np.angle(np.exp(1j * p)).astype("f4")
'

@test "gauss: the rule, at awkward sizes, whole and with 40 % of the pixels missing" {
	for size in 1x1 5x7 127x1 1x127 128x64 129x65 300x20; do
		for holes in 0 0.4; do
			py "$reference"'
w, h = map(int, sys.argv[1].split("x"))
p = fringes(h, w)
p[np.random.default_rng(1).random((h, w)) < float(sys.argv[2])] = np.nan
write_frames("in.nrrd", Frame(p, ["phase"]))' $size $holes
			gauss in.nrrd -o out.nrrd
			py "$reference"'
p, q = read_frame("in.nrrd")["phase"], read_frame("out.nrrd")["phase"]
ok = ~np.isnan(p)
expect(np.isnan(q) == ~ok, sys.argv)
valid = ok
strength = np.abs(mean(np.exp(1j * np.nan_to_num(p.astype(float))), ok, 11))
far = difference(q, filtered(p, 11))[ok] * strength[ok]
expect(far < 2e-6, sys.argv, far.max() if far.size else 0)' $size $holes
		done
	done
}
