load helpers

# The definition, pixel by pixel in float64: eight cross products of neighbouring difference vectors.
reference='
def normals(P):
	"""P (3, H, W): x right, y down, z away."""
	h, w = P.shape[1:]
	pad = np.full((3, h + 2, w + 2), np.nan); pad[:, 1:-1, 1:-1] = P
	ring = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]
	d = [pad[:, 1 + y:1 + y + h, 1 + x:1 + x + w] - P for y, x in ring]
	total = np.zeros(P.shape)
	with np.errstate(all="ignore"):
		for k in range(8):
			c = np.cross(d[k], d[(k + 1) % 8], axis=0)
			total += np.nan_to_num(c / np.sqrt((c * c).sum(0)))
		return np.where(np.isfinite(P).all(0), total / np.sqrt((total * total).sum(0)), np.nan)

def heights(z, px=1, py=1):
	y, x = np.mgrid[:z.shape[0], :z.shape[1]].astype(float)
	return normals(np.stack([x * px, y * py, -z.astype(float)]))* np.array([1, 1, -1])[:, None, None]
'

@test "normals: of points, at every size, as the definition in float64" {
	for size in 1x1 5x7 127x1 128x64 129x65 600x20; do
		py "$reference"'
w, h = map(int, sys.argv[1].split("x"))
rng = np.random.default_rng(w)
y, x = np.mgrid[:h, :w]
P = np.stack([0.3 * x, 0.3 * y, 700 + 3 * np.sin(x / 7.) + 2 * np.cos(y / 5.) + rng.normal(0, 0.1, x.shape)])
P = P.astype("f4")
holes = rng.uniform(size=x.shape) < 0.1
P[rng.integers(0, 3), holes] = np.nan
write_frames("in.nrrd", Frame(np.concatenate([P, P[:1]]), ["x", "y", "z", "texture"]))
np.save("want.npy", normals(P.astype(float)))' $size
		normals in.nrrd -o out.nrrd
		py '
f, want = read_frame("out.nrrd"), np.load("want.npy")
got = f.pixels[4:]
expect(f.names == "x y z texture nx ny nz".split(), f.names)
expect(np.isnan(got) == np.isnan(want), sys.argv[1], np.isnan(got).sum(), np.isnan(want).sum())
expect(np.nan_to_num(np.abs(got - want)) < 2e-6, np.nanmax(np.abs(got - want)))
expect((f.pixels[:4] == read_frame("in.nrrd").pixels) | np.isnan(f.pixels[:4]))' $size
	done
}
