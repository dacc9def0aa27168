#!/usr/bin/env bats
# framecmp --to: points against a nominal mesh, against distances that are known.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || exit 1
}

meshes='
from shapes import *
import struct
rng = np.random.default_rng(3)
def save_mesh(name, V, F):
	V = np.asarray(V, float)
	with open(name, "wb") as f:
		if name.endswith("obj"):
			f.write("".join(["v %.9g %.9g %.9g\n" % tuple(v) for v in V] + ["f %d %d %d\n" % tuple(np.add(t, 1)) for t in F]).encode())
		elif name.endswith("stl"):
			f.write(b"\0" * 80 + struct.pack("<I", len(F)) + b"".join(struct.pack("<12fH", 0, 0, 0, *V[list(t)].ravel(), 0) for t in F))
		else:
			f.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\nelement face %d\nproperty list uchar int vertex_indices\nend_header\n" % (len(V), len(F)))
			f.write(V.astype("<f8").tobytes() + b"".join(struct.pack("<B3i", 3, *t) for t in F))
def box(size):
	V = [[size[0] * (i & 1), size[1] * (i >> 1 & 1), size[2] * (i >> 2)] for i in range(8)]
	quads = (0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)
	return V, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
def box_distance(X, size):
	off = np.maximum(-X, X - size)
	return np.where((off > 0).any(1), np.linalg.norm(np.maximum(off, 0), axis=1), off.max(1))
def lens(n, radius=60, height=15):
	"""An open surface without symmetry: a bent sheet over a grid, z up, x y from 0 to 50."""
	g = np.linspace(0, 50, n)
	x, y = np.meshgrid(g, g)
	z = 6 * np.sin(x / 9) * np.cos(y / 13) + .002 * x * y
	k = np.arange(n * n).reshape(n, n)
	a, b, c, d = k[:-1, :-1].ravel(), k[:-1, 1:].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel()
	return np.stack([x, y, z], -1).reshape(-1, 3), [tuple(t) for t in np.concatenate([np.c_[a, b, d], np.c_[a, d, c]])]
def on(V, F, n):
	"""Points of a mesh and their normals."""
	V, F = np.asarray(V, float), np.asarray(F)
	a, b, c = (V[F[:, k]] for k in range(3))
	normal = np.cross(b - a, c - a)
	area = np.linalg.norm(normal, axis=1)
	t = rng.choice(len(F), n, p=area / area.sum())
	w = rng.dirichlet([1, 1, 1], n)
	return w[:, :1] * a[t] + w[:, 1:2] * b[t] + w[:, 2:] * c[t], (normal / area[:, None])[t]
'

# line NAME: the numbers of that line of the file report
line() {
	sed -n "s/^$1 *//p" report
}

@test "framecmp --to: signed distances from a box in PLY, OBJ and STL; limits; the channel deviation" {
	py "$meshes"'
size = np.array([30., 20, 5])
X = rng.uniform(-.15, 1.15, (5000, 3)) * size
X[7] = np.nan
for name in "box.ply", "box.obj", "box.stl":
	save_mesh(name, *box(size))
write_frames("cloud.nrrd", table(X))
write_frames("image.nrrd", Frame(X.T.reshape(3, 50, 100).astype("f4"), ["x", "y", "z"], {"length_unit": "mm"}))'
	for mesh in box.ply box.obj box.stl; do
		framecmp --to $mesh -j 1 cloud.nrrd --deviation dev.nrrd >report
		framecmp --to $mesh -j 7 cloud.nrrd --deviation seven.nrrd | cmp - report
		cmp dev.nrrd seven.nrrd
		py "$meshes"'
f, o = read_frame("cloud.nrrd"), read_frame("dev.nrrd")
X = f.pixels[:, 0].T.astype(float)
want = box_distance(X, np.array([30., 20, 5]))
got = o["deviation"][0]
expect(o.names == ["x", "y", "z", "deviation"] and np.array_equal(o.pixels[:3], f.pixels, equal_nan=True), o.names)
expect(np.isnan(got) == np.isnan(X[:, 0]), "holes")
expect(np.nanmax(np.abs(got - want)) < 2e-6, np.nanmax(np.abs(got - want)))
d = want[~np.isnan(want)]
said = {l.split()[0]: [float(w.strip(",")) for w in l.split()[1:] if w[0] in "-0123456789"] for l in open("report")}
expect(said["points"] == [4999, 4999] and abs(said["mean"][0] - d.mean()) < 1e-4 and abs(said["mean"][1] - d.std()) < 1e-4, said)
expect(abs(said["rms"][0] - np.sqrt((d * d).mean())) < 1e-4 and np.allclose(said["extremes"], [d.min(), d.max()], atol=1e-4), said)
expect(abs(said["median"][0] - quantile(d, .5)) < 1e-4 and np.allclose(said["interval_95"], [quantile(d, .025), quantile(d, .975)], atol=1e-4), said)'
	done
	framecmp --to box.ply image.nrrd --deviation image.dev.nrrd >/dev/null
	py 'expect(np.array_equal(read_frame("image.dev.nrrd")["deviation"].ravel(), read_frame("dev.nrrd")["deviation"].ravel(), equal_nan=True))'
	framecmp --to box.ply cloud.nrrd --deviation cloud.nrrd >/dev/null	# over its own input
	framecmp --to box.ply - <cloud.nrrd --deviation again.nrrd | cmp - report
	py 'expect(read_frame("again.nrrd").names == ["x", "y", "z", "deviation"])'
	# limits are those of |d|
	framecmp -q --to box.ply --max 6 cloud.nrrd
	run framecmp -q --to box.ply --max 3 cloud.nrrd
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	run framecmp --to box.ply --rms 1 --quantile 0.5,100 cloud.nrrd
	[ "$status" -eq 1 ]
	[[ $output == *"frame 0 deviation, rms "*" > 1, quantile 0.5 "*" <= 100"* ]] || { echo "$output"; false; }
	framecmp --to box.ply --table --within 1.5 cloud.nrrd >report
	py '
n = sum(int(l.split()[2]) for l in open("report") if l.strip().endswith("%"))
points = next(l.split() for l in open("report") if l.startswith("points"))
expect(str(n) == points[1] and "farther" in points and n + int(points[4]) == 4999, n, points)'
}

@test "framecmp --to: points beyond an open mesh do not count; the sign is the side that its faces show" {
	py "$meshes"'
V, F = lens(40)
save_mesh("open.ply", V, F)
X, n = on(V, F, 4000)
d = rng.choice([-.02, .05], 4000)
inside = ((X[:, :2] > 1) & (X[:, :2] < 49)).all(1)
X = X + d[:, None] * n
beyond = np.c_[rng.uniform(51, 60, 300), rng.uniform(0, 50, 300), rng.uniform(-1, 1, 300)]
write_frames("a.nrrd", table(np.concatenate([X[inside], beyond])))
np.save("d.npy", d[inside])
save_mesh("turned.ply", V, [t[::-1] for t in F])
save_mesh("torn.ply", np.concatenate([V[list(t)] for t in F]) + np.repeat(1e-7 * rng.normal(size=(len(F), 3)), 3, 0), [(3 * i, 3 * i + 1, 3 * i + 2) for i in range(len(F))])
mixed = [t if i % 3 else t[::-1] for i, t in enumerate(F)]
save_mesh("mixed.ply", V, mixed)'
	for mesh in open turned; do
		framecmp --to $mesh.ply a.nrrd --deviation dev.nrrd >report
		[[ $(line points) == *", 300 beyond the mesh's border" ]]
		py '
d, got = np.load("d.npy") * (1 if sys.argv[1] == "open" else -1), read_frame("dev.nrrd")["deviation"][0]
expect(np.isnan(got[len(d):]), "beyond")
# at a valley of the mesh another face may lie nearer by a little
expect(np.abs(got[:len(d)] - d) < 2e-3, np.abs(got[:len(d)] - d).max())' $mesh
	done
	framecmp --to mixed.ply a.nrrd 2>messages >/dev/null
	grep -q "mixed.ply: [0-9]* of [0-9]* edges join triangles that face to opposite sides: the sign of distances is not reliable" messages
	framecmp --to torn.ply a.nrrd 2>messages >/dev/null
	grep -q "torn.ply: 9126 of 9126 edges belong to one triangle only" messages
}

@test "framecmp --to: a closed mesh that faces inwards says so, and no number is a negative zero" {
	py "$meshes"'
V, F = box((20, 10, 5))
save_mesh("box.stl", V, F)
save_mesh("inwards.stl", V, [t[::-1] for t in F])
X, n = on(V, F, 500)
write_frames("out.nrrd", table(X + .5 * n))
write_frames("on.nrrd", table(np.round(X * 64) / 64 * [[1, 1, 0]]))'
	silent framecmp -q --to box.stl out.nrrd
	framecmp --to inwards.stl out.nrrd 2>messages >report
	grep -qx "framecmp: inwards.stl: is a closed mesh whose faces look inwards: distances are positive inside" messages
	[[ $(line mean) == "-0."* ]]
	framecmp --to inwards.stl on.nrrd 2>/dev/null >report
	[ "$(grep -cE -- " -0( |$)" report)" -eq 0 ]
}

@test "framecmp --to --icp: a known motion is found, and noise is what remains" {
	py "$meshes"'
V, F = lens(60)
save_mesh("part.stl", V, F)
X, n = on(V, F, 20000)
X = X[((X[:, :2] > 4) & (X[:, :2] < 46)).all(1)]
X = X + rng.normal(0, .02, X.shape)
X[::11] += rng.uniform(-1, 1, X[::11].shape) * 3	# wrong points
R, T = rotation([1, 2, 3], np.radians(4)), np.array([2., -1, 1.5])
write_frames("moved.nrrd", table((X - 25) @ R.T + 25 + T))
np.savez("truth.npz", R=R, T=T + 25 - R @ [25, 25, 25])'
	framecmp --to part.stl --icp -j 1 moved.nrrd >report
	framecmp --to part.stl --icp -j 5 moved.nrrd | cmp - report
	py "$meshes"'
truth = np.load("truth.npz")
pose = np.array(next(l for l in open("report") if l.startswith("pose")).split()[1:], float).reshape(3, 4)
R = pose[:, :3] @ truth["R"]
turn = np.degrees(np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1)))
g = np.array([[x, y, 0] for x in (5, 45) for y in (5, 45)], float)
off = (g @ truth["R"].T + truth["T"]) @ pose[:, :3].T + pose[:, 3] - g
expect(turn < .01 and np.abs(off).max() < .01, turn, off)
icp = next(l for l in open("report") if l.startswith("icp"))
rms = float(icp.split("rms")[1].split(",")[0])
expect(abs(rms / .02 - 1) < .1, icp)'
}

@test "framecmp --to: mistakes get one line" {
	py "$meshes"'
save_mesh("box.ply", *box([30, 20, 5]))
save_mesh("flat.ply", [[0, 0, 0], [50, 0, 0], [0, 50, 0], [50, 50, 0]], [(0, 1, 2), (1, 3, 2)])
save_mesh("line.ply", [[0, 0, 0], [50, 0, 0], [25, 0, 0]], [(0, 1, 2)])
X = np.c_[rng.uniform(1, 49, (3000, 2)), rng.normal(0, .02, 3000)]
write_frames("flat.nrrd", table(X))
write_frames("metres.nrrd", table(X / 1000, "m"))
write_frames("far.nrrd", table(X + 5000))
write_frames("beyond.nrrd", table(X + [100, 0, 0]))
write_frames("few.nrrd", table(X[:50]))
write_frames("nothing.nrrd", table(np.full((3, 3), np.nan)))
write_frames("depth.nrrd", Frame(np.zeros((9, 9), "f4"), ["depth"]))
C = on(*box([60, 40, 10]), 3000)[0]
write_frames("twice.nrrd", table(C - [15, 10, 2.5]))
write_frames("image.nrrd", Frame(np.zeros((9, 9), "u1")))
open("cloud.ply", "w").write("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n")'
	fails 2 "--icp: wants --to" framecmp --icp flat.nrrd flat.nrrd
	fails 2 "--deviation: wants --to" framecmp --deviation o.nrrd flat.nrrd flat.nrrd
	fails 2 "--within: wants --to" framecmp --within 3 flat.nrrd flat.nrrd
	fails 2 "with --to wants one file A, not 2" framecmp --to box.ply flat.nrrd flat.nrrd
	for option in --turns "--channels x" "--margin 2" --meta "--ulp 3" "--relative 0.1"; do
		# shellcheck disable=SC2086 # an option and its value
		fails 2 "${option%% *}: does not go with --to" framecmp --to box.ply $option flat.nrrd
	done
	fails 2 "--quantile: wants a share" framecmp --to box.ply --quantile 3,1 flat.nrrd
	fails 2 "--deviation: standard output has the text" framecmp --to box.ply --deviation - flat.nrrd
	fails 2 "--deviation: is the file of --output" framecmp --to box.ply --deviation o.nrrd -o o.nrrd flat.nrrd
	fails 2 "image.nrrd: is no mesh: --to wants PLY, OBJ or STL" framecmp --to image.nrrd flat.nrrd
	fails 2 "nowhere.ply" framecmp --to nowhere.ply flat.nrrd
	fails 2 "cloud.ply: holds no triangles" framecmp --to cloud.ply flat.nrrd
	fails 2 "line.ply: has no triangle with an area" framecmp --to line.ply flat.nrrd
	fails 2 "no point: all are NaN" framecmp --to box.ply nothing.nrrd
	fails 2 "depth without x and y, whose pixels have no known distance: --to wants x y z" framecmp --to box.ply depth.nrrd
	fails 2 "image without x and y, whose pixels have no known distance" framecmp --to box.ply image.nrrd
	head -c 300 box.ply >torn.ply
	fails 2 "torn.ply: ends" framecmp --to box.ply torn.ply
	fails 2 "torn.ply: ends" framecmp --to torn.ply flat.nrrd
	fails 2 "away, by the median, from a mesh of 36.4: another place, or another unit" framecmp --to box.ply far.nrrd
	fails 2 "from a mesh of 36.4: another place, or another unit" framecmp --to box.ply twice.nrrd
	fails 2 "no point lies on the mesh: 3000 beyond its border" framecmp --to flat.ply beyond.nrrd
	fails 2 "no point lies on the mesh: 0 beyond its border, 3000 farther than --within" framecmp --to box.ply --within 1 far.nrrd
	fails 2 "--icp: 50 points lie on the mesh: it needs 1000" framecmp --to box.ply --icp few.nrrd
	fails 2 "is free: the mesh does not hold the points there" framecmp --to flat.ply --icp flat.nrrd
	run --separate-stderr framecmp --to flat.ply metres.nrrd
	# shellcheck disable=SC2154
	[[ $stderr == *"the points span 0.06"*", the mesh 70.71: are they in the same unit?" ]]
	cp flat.nrrd keep.nrrd
	fails 2 "away, by the median" framecmp --to box.ply far.nrrd --deviation keep.nrrd
	cmp flat.nrrd keep.nrrd
}

@test "framecmp --to: scanned meshes: strips face to one side; the points of a mesh are its own" {
	need_data meshes
	silent framecmp -q --to "$data/meshes/igea.ply" --max 1e-9 "$data/meshes/igea.ply"
	framecmp --to "$data/meshes/igea.ply" "$data/meshes/igea.ply" >report
	[ "$(line points)" = "134345 of 134345" ]
	# a cloud in PLY is read as one
	need_data horus_laser
	run framecmp --to "$data/meshes/igea.ply" "$data/horus_laser/laser_plane_points.ply"
	[ "$status" -eq 2 ]
	[[ $output == *"points          5975 of 5975"*"another place, or another unit"* ]]
}

# covers OPTION ...: the per cent that framecmp --to OPTION ... prints; "nothing" where no surface faces the camera.
covers() {
	framecmp --to "$@" 2>/dev/null | sed -n 's/^covers \([^ :]*\).*/\1/p'
}

# within LEAST MOST NUMBER
within() {
	awk -v low="$1" -v high="$2" -v at="$3" 'BEGIN { exit !(at != "" && at >= low && at <= high) }' ||
		{ echo "$3 is not within $1 .. $2"; return 1; }
}

@test "framecmp --to --coverage: half of a plane is missing, whatever its triangles and their sides are" {
	py "$meshes"'
V, F = [[-100, -75, 500], [100, -75, 500], [-100, 75, 500], [100, 75, 500]], [(0, 2, 1), (1, 2, 3)]
g = np.stack(np.meshgrid(np.linspace(-100, 100, 41), np.linspace(-75, 75, 31)), -1).reshape(-1, 2)
k = np.arange(1271).reshape(31, 41)
a, b, c, d = k[:-1, :-1].ravel(), k[:-1, 1:].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel()
fine = [tuple(t) for t in np.concatenate([np.c_[a, c, b], np.c_[b, c, d]])]
save_mesh("two.ply", V, F)
save_mesh("turned.stl", V, [t[::-1] for t in F])
save_mesh("mixed.stl", V, [F[0], F[1][::-1]])
save_mesh("fine.ply", np.c_[g, np.full(1271, 500.)], fine)
save_mesh("tilted.ply", [[-100, -75, 450], [100, -75, 550], [-100, 75, 450], [100, 75, 550]], F)
x, y = np.meshgrid(np.linspace(-100, 100, 320), np.linspace(-75, 75, 240))
p = np.stack([x, y, np.full_like(x, 500)]).astype("f4")
keys = {"length_unit": "mm"}
write_frames("full.nrrd", Frame(p, list("xyz"), keys))
half = p.copy(); half[:, :, 160:] = np.nan
write_frames("half.nrrd", Frame(half, list("xyz"), keys))
write_frames("table.nrrd", table(half.reshape(3, -1).T[::-1][rng.permutation(76800)]))
write_frames("none.nrrd", Frame(np.full_like(p, np.nan), list("xyz"), keys))
write_frames("off.nrrd", Frame((p + [[[0]], [[0]], [[3]]]).astype("f4"), list("xyz"), keys))
# over pixels the mesh begins at 0 0, and the camera looks along z, whose sign has no effect
V = np.array(V) + [100, 75, 0]
save_mesh("pixels.ply", V, F)
for name, of in ("depth", p), ("depth_half", half):
	for axis in "towards", "away":
		with open(f"{name}_{axis}.nrrd", "wb") as f:
			f.write(f"NRRD0004\ntype: float\ndimension: 2\nsizes: 320 240\nspacings: {200 / 319} {150 / 239}\nendian: little\nencoding: raw\nchannels:=depth\nz_axis:={axis}\n\n".encode() + of[2].tobytes())'
	for mesh in two.ply turned.stl mixed.stl fine.ply; do
		[ "$(covers $mesh full.nrrd)" = 100 ]
		[ "$(covers $mesh full.nrrd --within 0.5)" = 100 ]
		# up to two spacings of 0.627 mm from column 159, which lies at -0.314: 0.5 + 0.94 / 200
		within 50.3 50.6 "$(covers $mesh half.nrrd)"
		within 50.3 50.6 "$(covers $mesh table.nrrd)"
		# up to 10 mm: 0.5 + 9.69 / 200
		within 54.7 55 "$(covers $mesh half.nrrd --within 10)"
		# less than the points are apart: circles of 0.2 mm on a grid of 0.627, 3.14 * 0.04 / 0.394
		within 31.5 32.3 "$(covers $mesh full.nrrd --within 0.2)"
	done
	for axis in towards away; do
		[ "$(covers pixels.ply depth_$axis.nrrd)" = 100 ]
		within 50.3 50.6 "$(covers pixels.ply depth_half_$axis.nrrd)"
	done
	framecmp --to two.ply half.nrrd >report
	grep -qx 'covers 50.[345] % of the surface that faces the camera, a point within 1.26 mm' report
	framecmp --to two.ply half.nrrd -j 5 | cmp - report
	# the limit, and exit status; without points the share is 0
	framecmp -q --to two.ply --coverage 1 full.nrrd
	framecmp -q --to two.ply --coverage 0.5 half.nrrd
	run framecmp --to two.ply --coverage 0.9 half.nrrd
	[ "$status" -eq 1 ]
	grep -q '^frame 0 coverage 0.50[345][0-9]* < 0.9$' <<<"$output"
	run framecmp -q --to two.ply --coverage 0.9 half.nrrd
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	run framecmp --to two.ply --coverage 0.9 none.nrrd --deviation dev.nrrd
	[ "$status" -eq 1 ]
	[[ $output == *"covers 0 % of the surface"*"frame 0 coverage 0 < 0.9"* ]]
	py 'expect(np.isnan(read_frame("dev.nrrd")["deviation"]).all())'
	# 3 mm off: more than two spacings, and a deviation that --within allows
	run framecmp --to two.ply --coverage 0.9 off.nrrd
	[ "$status" -eq 1 ]
	[[ $output == *"covers 0 % of the surface"* ]]
	[ "$(covers two.ply off.nrrd --within 3.5)" = 100 ]
	run framecmp --to two.ply --coverage 0.9 --within 1 off.nrrd
	[ "$status" -eq 1 ]
	[[ $output == *"76800 farther than --within"*"covers 0 % of the surface"* ]]
	# mistakes
	fails 2 "--coverage: wants --to" framecmp --coverage 0.9 full.nrrd full.nrrd
	for share in 1.5 50 0 -1 x; do
		fails 2 "--coverage" framecmp --to two.ply --coverage $share full.nrrd
	done
	py "$meshes"'
save_mesh("plane0.ply", [[0, 0, 0], [9, 0, 0], [0, 9, 0]], [(0, 1, 2)])
write_frames("plane0.nrrd", table(np.c_[rng.uniform(1, 4, (500, 2)), np.zeros(500)]))'
	grep -qx 'covers nothing: no surface faces the camera, at 0 0 0' <(framecmp --to plane0.ply plane0.nrrd)
	fails 2 "--coverage: no surface of the mesh faces the camera, at 0 0 0: are the points in a camera's coordinates?" \
		framecmp -q --to plane0.ply --coverage 0.5 plane0.nrrd
}

@test "framecmp --to --coverage: the cap of a ball that a camera sees; what is hidden does not count" {
	py "$meshes"'
def ball(centre, radius, n=90):	# a ring of triangles ends at 60 degrees
	t, a = np.linspace(0, np.pi, n + 1)[:, None], np.linspace(0, 2 * np.pi, 2 * n, endpoint=False)
	V = np.stack(np.broadcast_arrays(np.sin(t) * np.cos(a), np.sin(t) * np.sin(a), np.cos(t)), -1).reshape(-1, 3)
	k = np.arange(len(V)).reshape(n + 1, 2 * n)
	r = np.roll(k, -1, 1)
	a, b, c, d = k[:-1].ravel(), r[:-1].ravel(), k[1:].ravel(), r[1:].ravel()
	return np.round(centre + radius * V, 9), [tuple(t) for t in np.concatenate([np.c_[a, c, d], np.c_[a, d, b]])]
V, F = ball([0, 0, 100], 50)
save_mesh("ball.ply", V, F)
save_mesh("inwards.ply", V, [t[::-1] for t in F])
save_mesh("around.ply", *ball([0, 0, 0], 50, 20))
# seen from 100 with radius 50: up to 60 degrees, half of its front; up to 40 degrees (1 - cos 40) / (1 - cos 60)
write_frames("cap60.nrrd", table(cap(rng, 60000, [0, 0, 100], 50, 60)))
write_frames("cap40.nrrd", table(cap(rng, 60000, [0, 0, 100], 50, 40)))
write_frames("around.nrrd", table(cap(rng, 60000, [0, 0, 0], 50, 180)))
# a plate of 40 x 40 x 2 at 250 before a plane of 200 x 200 at 500 hides 80 x 80 of it
B, G = box([40., 40, 2])
save_mesh("scene.ply", np.r_[np.array(B) - [20, 20, -250], [[-100, -100, 500], [100, -100, 500], [-100, 100, 500], [100, 100, 500]]],
	[*G, (8, 10, 9), (9, 10, 11)])
g = np.stack(np.meshgrid(*2 * [np.arange(-99.75, 100, .5)]), -1).reshape(-1, 2)
seen = g[(np.abs(g) > 40).any(1)]
plate = g[(np.abs(g) < 20).all(1)]
write_frames("seen.nrrd", table(np.r_[np.c_[seen, np.full(len(seen), 500)], np.c_[plate, np.full(len(plate), 250)]]))
write_frames("plane.nrrd", table(np.c_[seen, np.full(len(seen), 500)]))'
	for mesh in ball inwards; do
		within 99.8 100 "$(covers $mesh.ply cap60.nrrd --within 1)"
		# and up to 1 mm more along the ball: (1 - cos 41.146) / (1 - cos 60) = 49.4 %
		within 48.9 49.5 "$(covers $mesh.ply cap40.nrrd --within 1)"
	done
	[ "$(covers around.ply around.nrrd)" = nothing ]	# no camera looks from within a solid
	[ "$(covers scene.ply seen.nrrd)" = 100 ]
	framecmp -q --to scene.ply --coverage 0.999 seen.nrrd
	# 33600 of the plane's 40000 are seen, 1600 of the plate
	within 95.2 95.7 "$(covers scene.ply plane.nrrd)"
}

@test "framecmp --to --coverage: agrees with NumPy on a bent sheet with holes, also where --icp moves points and camera" {
	py "$meshes"'
V, F = lens(110)
V = V + [-25, -25, 100]
save_mesh("part.ply", V, F)
X, n = on(V, F, 6000)
X = X[~((X[:, 0] > 3) & (X[:, 1] < 2 * X[:, 0])) | (rng.random(len(X)) < .02)]
write_frames("a.nrrd", table(X))
R, T = rotation([1, 2, 3], np.radians(3)), np.array([1., -1, 1])
write_frames("moved.nrrd", table((X - [0, 0, 100]) @ R.T + [0, 0, 100] + T))
# all of it is seen: of each triangle the middle, and its area
a, b, c = (V[np.array(F)[:, k]] for k in range(3))
area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
middle = (a + b + c) / 3
near = np.array([(((X - m) ** 2).sum(1) < 1.5 ** 2).any() for m in middle])
print(100 * area[near].sum() / area.sum())' >share
	share=$(cat share)
	within 50 80 "$share"
	got=$(covers part.ply a.nrrd --within 1.5)
	echo "NumPy $share, framecmp $got"
	within -0.4 0.4 "$(awk "BEGIN { print $share - $got }")"
	framecmp --to part.ply --icp --within 1.5 moved.nrrd >report
	within -0.4 0.4 "$(awk "BEGIN { print $share - $(sed -n 's/^covers \([0-9.]*\).*/\1/p' report) }")"
	framecmp --to part.ply --icp --within 1.5 moved.nrrd -j 5 | cmp - report
}
