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
expect(np.nan_to_num(np.abs(got - want)) < 4.8e-7, np.nanmax(np.abs(got - want)))
expect(np.array_equal(f.pixels[:4], read_frame("in.nrrd").pixels, equal_nan=True))' $size
	done
}

@test "normals: a tilted plane and a sphere have their closed forms and face the viewer" {
	py '
y, x = np.mgrid[:65, :129].astype(float)
P = np.stack([0.5 * x, 0.5 * y, 500 + 0.1 * x - 0.2 * y])
R = 200.; X, Y = (x - 64) * 0.5, (y - 32) * 0.5
S = np.stack([X, Y, 700 - np.sqrt(R * R - X * X - Y * Y)])
write_frames("plane.nrrd", Frame(P.astype("f4"), ["x", "y", "z"]))
write_frames("sphere.nrrd", Frame(S.astype("f4"), ["x", "y", "z"]))
np.save("S.npy", S)'
	normals plane.nrrd -o a.nrrd
	normals sphere.nrrd -o b.nrrd
	py '
a, b, S = read_frame("a.nrrd").pixels[3:], read_frame("b.nrrd").pixels[3:], np.load("S.npy")
want = np.array([0.2, -0.4, -1]) / np.sqrt(1.2)		# z = 500 + 0.2 X - 0.4 Y
expect(np.abs(a - want[:, None, None]) < 6.1e-5, np.abs(a - want[:, None, None]).max())
want = (S - np.array([0, 0, 700.])[:, None, None]) / 200
expect(np.abs(b - want)[:, 1:-1, 1:-1] < 2.7e-5, np.abs(b - want)[:, 1:-1, 1:-1].max())
expect(b[2] < 0)'
}

@test "normals: heights on a grid, --pixel, spacing, holes" {
	py "$reference"'
rng = np.random.default_rng(3)
z = (np.sin(np.arange(129) / 9.) * 4 + np.cos(np.arange(65) / 7.)[:, None] * 3).astype("f4")
z[rng.uniform(size=z.shape) < 0.05] = np.nan
write_frames("in.nrrd", Frame(np.stack([z, z]), ["depth", "nx"], {"z_axis": "towards"}))
write_frames("away.nrrd", Frame(-z, ["depth"]))
np.save("want1.npy", heights(z)); np.save("want2.npy", heights(z, 0.25, 0.5))'
	run --separate-stderr normals in.nrrd -o a.nrrd
	[ "$status" -eq 0 ]
	[ "$stderr" = "normals: the distance of pixels is not known, 1 is taken: say --pixel MM" ]
	normals -p 0.25,0.5 in.nrrd -o b.nrrd
	normals -p 0.25,0.5 away.nrrd -o d.nrrd
	sed 's/^encoding: raw/&\nspacings: 0.25 0.5 nan/' in.nrrd | normals -o c.nrrd
	py '
a, b, c, d = (read_frame(f + ".nrrd") for f in "abcd")
expect(a.names == "depth nx ny nz".split(), a.names)
for got, want in [(a, "want1.npy"), (b, "want2.npy"), (c, "want2.npy")]:
	got, want = got.pixels[1:], np.load(want)
	expect(np.isnan(got) == np.isnan(want))
	expect(np.nan_to_num(np.abs(got - want)) < 4.8e-7, np.nanmax(np.abs(got - want)))
	expect(np.nan_to_num(got[2], nan=1) > 0)
mirrored = d.pixels[1:] * np.array([1, 1, -1])[:, None, None]
expect(np.array_equal(mirrored, b.pixels[1:], equal_nan=True))'
}

@test "normals: one thread equals seven, every band height and instruction level alike" {
	py '
rng = np.random.default_rng(4)
p = rng.normal(0, 1, (3, 150, 531)).astype("f4"); p[:, rng.uniform(size=p.shape[1:]) < 0.02] = np.nan
write_frames("in.nrrd", [Frame(p, ["x", "y", "z"]), Frame(p[2:, :70], ["depth"])])'
	normals -q -j 1 <in.nrrd >one.nrrd
	normals -q -j 7 <in.nrrd >seven.nrrd
	FRINGEPIPE_BAND=1 normals -q -j 2 <in.nrrd >band.nrrd
	cmp one.nrrd seven.nrrd
	cmp one.nrrd band.nrrd
	levels=$(cpu_levels)
	for level in $levels; do
		FRINGEPIPE_CPU=$level normals -q <in.nrrd | cmp one.nrrd
	done
}

@test "normals: missing, infinite and degenerate points" {
	py '
y, x = np.mgrid[:3, :3].astype("f4")
one = np.full((3, 3, 3), np.nan, "f4"); one[:, 1, 1] = 5
same = np.full((3, 3, 3), 7, "f4")
far = np.stack([x, y, x * 0 + 5]); far[2, 0, 0] = np.inf; far[0, 2, 2] = 2e9
write_frames("in.nrrd", [Frame(p, ["x", "y", "z"]) for p in (one, same, far)])'
	normals in.nrrd -o out.nrrd
	py '
one, same, far = (f.pixels[3:] for f in read_frames("out.nrrd"))
expect(np.isnan(one)); expect(np.isnan(same))
hole = np.zeros((3, 3), bool); hole[0, 0] = hole[2, 2] = True
expect(np.isnan(far) == hole, far)
expect(np.abs(far[:, 1, 1] - [0, 0, -1]) < 7.3e-8, far[:, 1, 1])'
}

@test "normals: errors" {
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 3), "f4"), ["absphase"]))
write_frames("odd.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"], {"z_axis": "up"}))
write_frames("xy.nrrd", Frame(np.zeros((2, 3, 3), "f4"), ["x", "y"]))'
	fails 1 "input has no channel x, only: absphase" normals in.nrrd
	fails 1 "key z_axis must be away or towards, not 'up'" normals odd.nrrd
	fails 1 "input has no channel z, only: x y" normals xy.nrrd
	fails 2 "--pixel: must be one or two numbers, not 3" normals --pixel 1,2,3 in.nrrd
	fails 2 "--pixel" normals --pixel -1 in.nrrd
}
