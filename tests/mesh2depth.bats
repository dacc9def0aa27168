load helpers

# Meshes as files, in every format; and what a depth frame maps back to.
meshes='
import struct

def write_obj(path, V, F, C=None):
	with open(path, "w") as f:
		for i, v in enumerate(V):
			f.write("v %.17g %.17g %.17g" % tuple(v) + ("" if C is None else " %.9g %.9g %.9g" % tuple(C[i])) + "\n")
		for p in F:
			f.write("f " + " ".join(str(i + 1) for i in p) + "\n")

def ply_head(form, V, F, extra=""):
	return ("ply\nformat %s 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n%s"
		"element face %d\nproperty list uchar int vertex_indices\nend_header\n" % (form, len(V), extra, len(F))).encode()

def write_ply(path, V, F, order="<", C=None, S=None):
	form = {"<": "binary_little_endian", ">": "binary_big_endian", "a": "ascii"}[order]
	extra = "" if C is None else "property uchar red\nproperty uchar green\nproperty uchar blue\n"
	extra += "" if S is None else "property float quality\n"
	with open(path, "wb") as f:
		f.write(ply_head(form, V, F, extra))
		for i, v in enumerate(V):
			more = ([] if C is None else list(C[i])) + ([] if S is None else [S[i]])
			if order == "a":
				f.write((" ".join("%.9g" % x for x in [*v, *more]) + "\n").encode())
			else:
				f.write(struct.pack(order + "3f" + ("" if C is None else "3B") + ("" if S is None else "f"), *v, *more))
		for p in F:
			if order == "a":
				f.write((" ".join(map(str, [len(p), *p])) + "\n").encode())
			else:
				f.write(struct.pack(order + "B%di" % len(p), len(p), *p))

def write_stl(path, V, F, ascii=False):
	with open(path, "wb") as f:
		f.write(b"solid it\n" if ascii else b"a header".ljust(80) + struct.pack("<I", len(F)))
		for p in F:
			if ascii:
				f.write(("facet normal 0 0 0\n outer loop\n" + "".join("  vertex %.9g %.9g %.9g\n" % tuple(V[i]) for i in p)
					+ " endloop\nendfacet\n").encode())
			else:
				f.write(struct.pack("<3f", 0, 0, 0) + b"".join(struct.pack("<3f", *V[i]) for i in p) + b"\0\0")
		if ascii:
			f.write(b"endsolid it\n")

def numbers(f, key):
	return np.array(f.meta[key].split(), float)

# The points of the pixels in the coordinates of the model (h, w, 3), in double.
def back(f):
	h, w = f["depth"].shape
	R, c, s = numbers(f, "view_rotation").reshape(3, 3), numbers(f, "center_mm"), float(f.meta["scale_mm"])
	y, x = np.mgrid[:h, :w]
	v = np.stack([(x - (w - 1) / 2) * s, (y - (h - 1) / 2) * s, f["depth"].astype(float)], -1)
	return c + v @ R

def icosphere(n):
	g = (1 + 5 ** .5) / 2
	V = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
		(g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
	F = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
		(7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]
	V = [np.array(v, float) / np.linalg.norm(v) for v in V]
	for _ in range(n):
		known, G = {}, []
		def middle(a, b):
			k = (min(a, b), max(a, b))
			if k not in known:
				m = V[a] + V[b]
				V.append(m / np.linalg.norm(m))
				known[k] = len(V) - 1
			return known[k]
		for a, b, c in F:
			d, e, f = middle(a, b), middle(b, c), middle(c, a)
			G += [(a, d, f), (d, b, e), (f, e, c), (d, e, f)]
		F = G
	return np.array(V), F

def random_triangles(rng, W, H, n):
	# a rectangle cut by random points: each splits the triangle it lies in, then some edges are turned
	V, F = [(0, 0), (W, 0), (W, H), (0, H)], [(0, 1, 2), (0, 2, 3)]
	def area(a, b, c):
		return (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
	while len(V) < n:
		p = (rng.uniform(0, W), rng.uniform(0, H)) if rng.random() < .5 else (int(rng.integers(1, W)) , int(rng.integers(1, H)))
		for i, (a, b, c) in enumerate(F):
			if area(V[a], V[b], p) > 0 and area(V[b], V[c], p) > 0 and area(V[c], V[a], p) > 0:
				V.append(p)
				q = len(V) - 1
				F[i:i + 1] = [(a, b, q), (b, c, q), (c, a, q)]
				break
	return V, F
'

@test "mesh2depth: a pair of triangles in a plane, at every size; pixels map back onto the plane" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		for view in 0,0,0 20,-35,10 -60,5,170; do
			py "$meshes"'
w, h = map(int, sys.argv[1].split("x"))
V = np.array([(0, 0, 100), (3, 0, 101), (3, 2, 103), (0, 2, 102)]) + [1000, -500, 7]
write_obj("m.obj", V, [(0, 1, 2), (0, 2, 3)])' $size
			mesh2depth m.obj -s $size --view=$view -o d.nrrd
			py "$meshes"'
w, h = map(int, sys.argv[1].split("x"))
f = read_frame("d.nrrd")
d = f["depth"]
expect(d.shape == (h, w) and f.names == ["depth"], d.shape)
expect(np.isfinite(d).any(), "nothing hit", sys.argv)
p = back(f) - [1000, -500, 107]
# z = x / 3 + y
off = np.abs(p[..., 2] - p[..., 0] / 3 - p[..., 1])[np.isfinite(d)]
expect(off <= 2 * ulp(np.nanmax(np.abs(d))) + 1e-9, sys.argv, off.max())
n = f.meta
expect(n["z_axis"] == "towards" and n["length_unit"] == "mm" and n["name"] == "m", n)' $size
		done
	done
}

@test "mesh2depth: random triangulations of a rectangle cover each pixel exactly once" {
	py "$meshes"'
rng = np.random.default_rng(3)
for k in range(3):
	V, F = random_triangles(rng, 40, 30, 150)
	F = [tuple(np.roll(f, rng.integers(3))[::rng.choice([-1, 1])]) for f in F]
	F = [F[i] for i in rng.permutation(len(F))]
	P = [(x, y, 0) for x, y in V]
	write_obj("flat%d.obj" % k, P, F)
	# each triangle by itself, far in front of one another: how many cover a pixel is the number of frames with it
	for i, f in enumerate(F):
		write_obj("one%d_%03d.obj" % (k, i), [P[j] for j in f], [(0, 1, 2)])'
	for k in 0 1 2; do
		mesh2depth flat$k.obj -s 40x30 -o flat.nrrd
		mesh2depth -q -s 40x30 --scale 1 --center 20,15,0 one${k}_*.obj -o ones.nrrd
		mesh2depth -q -s 36x26 --scale 1 --center 20,15,0 one${k}_*.obj -o shifted.nrrd
		mesh2depth -q -s 111x131 --scale 0.27 --center 20,15,0 --view 0,0,33 one${k}_*.obj -o turned.nrrd
		mesh2depth -q -s 111x131 --scale 0.27 --center 20,15,0 --view 0,0,33 flat$k.obj -o whole.nrrd
		py '
expect(read_frame("flat.nrrd")["depth"] == 0, "gap")
for name in "ones.nrrd", "shifted.nrrd":
	n = sum(np.isfinite(f["depth"]).astype(int) for f in read_frames(name))
	expect(n == 1, name, np.unique(n, return_counts=True))
n = sum(np.isfinite(f["depth"]).astype(int) for f in read_frames("turned.nrrd"))
expect(n <= 1, "double")
expect((n == 1) == np.isfinite(read_frame("whole.nrrd")["depth"]), "gap")'
	done
}

@test "mesh2depth: rows and columns of pixel centres on the edges belong to the top and the left" {
	py "$meshes"'
# a square of 4 x 4 px whose edges run through pixel centres
write_obj("m.obj", [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2, 3)])'
	mesh2depth m.obj -s 9x9 --scale 1 --center 2,2,0 -o d.nrrd
	py '
d = np.isfinite(read_frame("d.nrrd")["depth"])
want = np.zeros((9, 9), bool)
want[2:6, 2:6] = True
expect(d == want, d)'
}

@test "mesh2depth: a cube at angles, against the closed form" {
	py "$meshes"'
V = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
F = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
write_ply("cube.ply", V, F)'
	for view in 0,0,0 45,0,0 30,20,0 -50,70,15 90,0,0 0,180,0; do
		mesh2depth cube.ply -s 101x93 --scale 0.04 --view=$view --center 0,0,0 -o d.nrrd
		mesh2depth cube.ply -s 101x93 --scale 0.04 --view=$view --center 0,0,0 --away -o a.nrrd
		py "$meshes"'
f, a = read_frame("d.nrrd"), read_frame("a.nrrd")
d = f["depth"]
yaw, pitch, roll = np.radians(np.array(sys.argv[1].split(","), float))
c, s = np.cos, np.sin
# x right, y down, z away, as in shade
Y = np.array([[c(yaw), 0, s(yaw)], [0, 1, 0], [-s(yaw), 0, c(yaw)]])
P = np.array([[1, 0, 0], [0, c(pitch), -s(pitch)], [0, s(pitch), c(pitch)]])
Z = np.array([[c(roll), -s(roll), 0], [s(roll), c(roll), 0], [0, 0, 1]])
R = Z @ P @ Y @ np.diag([1, -1, -1])
Ra = numbers(a, "view_rotation").reshape(3, 3)
expect(np.abs(Ra - R) < 1e-12, sys.argv[1], Ra, R)
expect(np.abs(numbers(f, "view_rotation").reshape(3, 3) - np.diag([1, 1, -1]) @ R) < 1e-12)
y, x = np.mgrid[:93, :101]
u = np.stack([(x - 50) * .04, (y - 46) * .04, np.zeros(x.shape)], -1)
o, n = u @ R, R[2]			# the line of sight, in the coordinates of the cube
with np.errstate(all="ignore"):
	t = np.stack([(-np.sign(n[k]) - o[..., k]) / n[k] if abs(n[k]) > 1e-9 else np.full(x.shape, -9) for k in range(3)])
	e = np.stack([(np.sign(n[k]) - o[..., k]) / n[k] if abs(n[k]) > 1e-9 else np.full(x.shape, 9) for k in range(3)])
	inside = np.all([(abs(n[k]) > 1e-9) | (np.abs(o[..., k]) <= 1) for k in range(3)], 0)
near, far = t.max(0), e.min(0)
hit = inside & (near < far)
sure = np.abs(far - near) > 1e-6
for k in range(3):
	if abs(n[k]) <= 1e-9:
		sure &= np.abs(np.abs(o[..., k]) - 1) > 1e-6
expect((np.isfinite(d) == hit) | ~sure, sys.argv[1], (np.isfinite(d) != hit).sum())
both = np.isfinite(d) & hit
expect(np.abs(-d - near)[both] < 1e-6, np.abs(-d - near)[both].max())
expect((a["depth"] == -d) | np.isnan(d))
expect(a.meta["z_axis"] == "away" and f.meta["z_axis"] == "towards")' $view
	done
}

@test "mesh2depth: an icosphere's facets, point by point" {
	py "$meshes"'
V, F = icosphere(3)
write_ply("s.ply", V * 10, F)
np.savez("s.npz", V=V.astype("f8"), F=F)'
	mesh2depth s.ply -s 120x120 --margin 2 --view 11,22,33 -o d.nrrd
	py "$meshes"'
s, f = np.load("s.npz"), read_frame("d.nrrd")
V, F = (s["V"] * 10).astype("f4").astype(float), s["F"]
d, p = f["depth"], back(f)
away = -numbers(f, "view_rotation").reshape(3, 3)[2]
a, b, c = V[F[:, 0]], V[F[:, 1]], V[F[:, 2]]
n = np.cross(b - a, c - a)
n /= np.linalg.norm(n, axis=1)[:, None]
n *= np.sign((n * a).sum(1))[:, None]
# the sphere of facets is convex: a point on it lies on the plane of one, and outside of none
level = p.reshape(-1, 3) @ n.T - (a * n).sum(1)
worst = level.max(1).reshape(d.shape)
hit = np.isfinite(d)
expect(np.abs(worst[hit]) < 4e-6, np.abs(worst[hit]).max())
y, x = np.mgrid[:120, :120]
r = np.hypot(x - 59.5, y - 59.5) * float(f.meta["scale_mm"])
expect(hit[r < 9.8] & True, "hole")
expect(~hit[r > 10.0001], "beyond")
# its front is seen, with the margin that --margin gives
expect(p[hit] @ away < 2, "the back")
expect(hit[60, 60] and d[60, 60] > 9.9, "the front", d[60, 60])
expect(~hit[:2].any() and ~hit[-2:].any() and ~hit[:, :2].any() and ~hit[:, -2:].any())
expect(hit[2:4].any() or hit[:, 2:4].any())'
}

@test "mesh2depth: every format gives the same bytes, from files and from a pipe" {
	py "$meshes"'
V, F = icosphere(2)
V = np.round(V * 512) / 256
S = [tuple(np.roll(p, 1)[::-1]) for p in F]
write_ply("m.ascii.ply", V, F, "a")
write_ply("m.le.ply", V, F, "<")
write_ply("m.be.ply", V, F, ">")
write_obj("m.obj", V, F)
write_stl("m.ascii.stl", V, F, True)
write_stl("m.bin.stl", V, F)
# other corners first, other senses, other order of the triangles
write_ply("m.turned.ply", V, S[::-1])
# a byte order mark before the first vertex
open("m.mark.obj", "wb").write(b"\xef\xbb\xbf" + b"".join(l for l in open("m.obj", "rb") if l[:1] != b"#"))
# negative indices, texture and normal numbers, continued lines, carriage returns
with open("m.odd.obj", "w", newline="\r\n") as f:
	f.write("# a comment\nmtllib none.mtl\no thing\n")
	for v in V:
		f.write("v %.9g %.9g \\\n %.9g\nvt 0 0\nvn 0 0 1\n" % tuple(v))
	f.write("g all\ns off\n")
	for i, p in enumerate(F):
		q = [[str(j + 1), "%d/%d" % (j + 1, j + 1), "%d//%d" % (j + 1, j + 1), "%d/1/1" % (j - len(V))][i % 4] for j in p]
		f.write("f " + " ".join(q) + "\n")
# doubles, properties in another order, an element that nobody knows, faces before vertices
with open("m.odd.ply", "wb") as f:
	f.write(("ply\r\nformat binary_big_endian 1.0\r\ncomment faces first\r\nobj_info nothing\r\nelement face %d\r\n"
		"property uchar flags\r\nproperty list ushort uint vertex_index\r\nproperty list uchar float texcoord\r\n"
		"element note 2\r\nproperty list int short words\r\nproperty double w\r\nelement vertex %d\r\n"
		"property double z\r\nproperty double y\r\nproperty float nx\r\nproperty list uchar uchar l\r\nproperty double x\r\n"
		"end_header\r\n" % (len(F), len(V))).encode())
	for p in F:
		f.write(struct.pack(">BHIIIBff", 7, 3, *p, 2, .5, .5))
	f.write(struct.pack(">ihhd", 2, 1, 2, 3.5) + struct.pack(">id", 0, 1))
	for v in V:
		f.write(struct.pack(">ddfBBBd", v[2], v[1], 1, 2, 9, 9, v[0]))
# strips of one triangle each, and one longer strip over the first two of a fan
with open("m.strips.ply", "wb") as f:
	words = [i for p in F for i in [*p, -1]]
	f.write(ply_head("binary_little_endian", V, []).replace(b"element face 0\nproperty list uchar int vertex_indices\n",
		b"element tristrips 1\nproperty list int int vertex_indices\n"))
	f.write(b"".join(struct.pack("<3f", *v) for v in V) + struct.pack("<i%di" % len(words), len(words), *words))'
	for m in m.le.ply m.ascii.ply m.be.ply m.obj m.ascii.stl m.bin.stl m.turned.ply m.mark.obj m.odd.obj m.odd.ply m.strips.ply; do
		mesh2depth $m -s 90x70 --view 5,6,7 -o d.nrrd
		py 'f = read_frame("d.nrrd"); sys.stdout.buffer.write(f.pixels.tobytes() +
	" ".join(f.meta[k] for k in ("center_mm", "scale_mm", "view_rotation")).encode())' >$m.pixels
		cmp $m.pixels m.le.ply.pixels
		cat $m | mesh2depth -s 90x70 --view 5,6,7 - >piped.nrrd
		py 'expect(read_frame("d.nrrd").pixels.tobytes() == read_frame("piped.nrrd").pixels.tobytes(), sys.argv)' $m
	done
}

@test "mesh2depth: polygons are fans, strips are strips" {
	py "$meshes"'
V = [(np.cos(t), np.sin(t), 0) for t in np.arange(7) * 2 * np.pi / 7]
write_obj("p.obj", V, [tuple(range(7))])
write_obj("t.obj", V, [(0, i, i + 1) for i in range(1, 6)])
G = [(i // 2, i % 2, i * .1) for i in range(8)] + [(9, 9, 0), (10, 9, 0), (9, 10, 0)]
with open("s.ply", "w") as f:
	f.write("ply\nformat ascii 1.0\nelement vertex 11\nproperty float x\nproperty float y\nproperty float z\n"
		"element tristrips 1\nproperty list int int vertex_indices\nend_header\n")
	f.write("".join("%.9g %.9g %.9g\n" % v for v in G) + "12 0 1 2 3 4 5 6 7 -1 8 9 10\n")
write_ply("q.ply", G, [(i, i + 1, i + 2) for i in range(6)] + [(8, 9, 10)])'
	mesh2depth p.obj t.obj -s 64x64 -o a.nrrd
	mesh2depth s.ply q.ply -s 64x64 -o b.nrrd
	py '
for name in "a.nrrd", "b.nrrd":
	p, q = read_frames(name)
	expect(np.isfinite(p["depth"]).any() and p.pixels.tobytes() == q.pixels.tobytes(), name)'
}

@test "mesh2depth: colours and other values at the points become texture" {
	py "$meshes"'
V = [(0, 0, 0), (16, 0, 0), (16, 16, 0), (0, 16, 0)]
F = [(0, 1, 2), (0, 2, 3)]
C = [(0, 0, 0), (160, 160, 160), (240, 240, 240), (80, 80, 80)]	# 10 x + 5 y
write_ply("c.ply", V, F, C=C)
write_ply("ca.ply", V, F, "a", C=C)
write_ply("s.ply", V, F, ">", S=[0, 1600, 2400, 800])
write_ply("cs.ply", V, F, "<", C=C, S=[1, 2, 3, 4])
write_obj("c.obj", V, F, np.array(C) / 255)
write_obj("c255.obj", V, F, C)
write_ply("luma.ply", V, F, C=[(200, 100, 50)] * 4)
write_obj("some.obj", V, F, np.array(C) / 255)
text = open("some.obj").read().split("\n")
text[2] = "v 16 16 0"
open("some.obj", "w").write("\n".join(text))'
	mesh2depth -s 16x16 c.ply ca.ply s.ply cs.ply c.obj c255.obj luma.ply some.obj -o t.nrrd
	py '
f = read_frames("t.nrrd")
y, x = np.mgrid[:16, :16] + .5
want = 10 * x + 5 * (16 - y)
for i, scale in enumerate([1, 1, 10, 1, 1, 1]):
	expect(f[i].names == ["depth", "texture"], f[i].names)
	expect(np.abs(f[i]["texture"] - scale * want) < 2e-4 * scale, i, np.abs(f[i]["texture"] - scale * want).max())
expect(np.abs(f[6]["texture"] - (.299 * 200 + .587 * 100 + .114 * 50)) < 1e-4)
expect(np.isnan(f[7]["texture"]).all() and np.isfinite(f[7]["depth"]).all())'
	# seven numbers: a weight before the colour, or an opacity behind it
	awk '$1 == "v" { $4 = $4 " 1" } 1' c255.obj >weight.obj
	awk '$1 == "v" { $7 = $7 " 1" } 1' c255.obj >opacity.obj
	mesh2depth -s 16x16 c255.obj -o six.nrrd
	mesh2depth -s 16x16 weight.obj | framecmp - six.nrrd
	fails 0 "opacity.obj: line 1: a vertex of seven numbers is read as x y z r g b and an opacity" \
		mesh2depth -s 16x16 opacity.obj -o seven.nrrd
	framecmp seven.nrrd six.nrrd
}

@test "mesh2depth: views by directions, scale, center and margin" {
	py "$meshes"'
# a box with a pin on each of three faces; x to 4, y to 2, z to 1
V = [(x, y, z) for z in (0, 1) for y in (0, 2) for x in (0, 4)]
F = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
write_obj("m.obj", V, F)'
	mesh2depth m.obj -s 40x20 -o front.nrrd
	mesh2depth m.obj -s 40x20 --forward 0,-3,0 --up 0,0,-7 -o top.nrrd
	mesh2depth m.obj -s 40x20 --view 0,90,0 -o pitch.nrrd
	mesh2depth m.obj -s 40x20 --forward=-1,0,0 --up 5,1,0 -o right.nrrd
	mesh2depth m.obj -s 40x20 --margin 3 -o margin.nrrd
	mesh2depth m.obj -s 40x20 --scale 0.25 --center 4,2,0 -o corner.nrrd
	mesh2depth m.obj -s 40x20 --center 4,1,0.5 -o side.nrrd
	py "$meshes"'
f = {n: read_frame(n + ".nrrd") for n in "front top pitch right margin corner side".split()}
def box(name):
	y, x = np.nonzero(np.isfinite(f[name]["depth"]))
	return x.min(), x.max(), y.min(), y.max()
expect(box("front") == (0, 39, 0, 19) and f["front"].meta["scale_mm"] == "0.1", box("front"))
expect(f["front"]["depth"] == np.float32(.5))
expect(f["front"].meta["center_mm"] == "2 1 0.5", f["front"].meta)
expect(box("top") == (0, 39, 5, 14), box("top"))
expect(np.nanmax(np.abs(f["top"]["depth"] - 1)) == 0)
expect(numbers(f["top"], "view_rotation") == [1, 0, 0, 0, 0, 1, 0, 1, 0], f["top"].meta)
expect(box("pitch") == (0, 39, 5, 14), box("pitch"))
expect(box("right") == (15, 24, 0, 19), box("right"))
expect(numbers(f["right"], "view_rotation") == [0, 0, -1, 0, -1, 0, 1, 0, 0], f["right"].meta)
expect(box("margin") == (6, 33, 3, 16), box("margin"))
s = float(f["margin"].meta["scale_mm"])
expect(abs(s - max(4 / 34, 2 / 14)) < 1e-12, s)
expect(box("corner") == (4, 19, 10, 17) and np.nanmax(f["corner"]["depth"]) == 1, box("corner"))
expect(box("side") == (0, 19, 5, 14), box("side"))'
	fails 2 "parallel" mesh2depth m.obj --forward 0,1,0 -o x.nrrd
}

@test "mesh2depth: frames of points and of depth, as the camera saw them; and written meshes likewise" {
	py '
y, x = np.mgrid[:40, :50].astype("f4")
z = 100 + 0.1 * x + 0.05 * y
t = (x * 3 + y).astype("f4")
write_frames("xyz.nrrd", Frame(np.stack([x * 2, y * 2, z, t]), ["x", "y", "z", "texture"],
	{"z_axis": "away", "length_unit": "cm", "origin_px": "3 4", "remark": "kept"}))
write_frames("towards.nrrd", Frame(np.stack([x * 2, y * 2, -z, t]), ["x", "y", "z", "texture"], {"z_axis": "towards"}))
write_frames("depth.nrrd", Frame(z, ["depth"]))'
	for frame in xyz towards; do
		mesh2depth $frame.nrrd -s 98x78 --scale 1 --away -o d.nrrd
		py "$meshes"'
f = read_frame("d.nrrd")
d, t = f["depth"], f["texture"]
expect(f.names == ["depth", "texture"] and np.isfinite(d).all(), np.isfinite(d).mean())
p = back(f)
sign = 1 if sys.argv[1] == "xyz" else -1
expect(np.abs(sign * p[..., 2] - 100 - .05 * p[..., 0] - .025 * p[..., 1]) < 1e-5)
y, x = np.mgrid[:78, :98] + .5
expect(np.abs(p[..., 0] - x) < 1e-5, "columns are x")
expect(np.abs(p[..., 1] - y) < 1e-5, "rows are y")
expect(np.abs(t - (1.5 * x + .5 * y)) < 1e-4, np.abs(t - (1.5 * x + .5 * y)).max())
expect(np.abs(d - d.mean() - .05 * (x - 49) - .025 * (y - 39)) < 1e-5, "depth grows away")
if sign > 0:
	expect(f.meta["length_unit"] == "cm" and f.meta["remark"] == "kept" and "origin_px" not in f.meta, f.meta)' $frame
		for suffix in ply obj stl; do
			framecat $frame.nrrd -f -o m.$suffix
			mesh2depth m.$suffix -s 98x78 --scale 1 --away -o e.nrrd
			py '
d, e = read_frame("d.nrrd"), read_frame("e.nrrd")
expect(np.abs(d["depth"] - e["depth"]) < 1e-5, sys.argv)
expect(d.meta["view_rotation"] == e.meta["view_rotation"], e.meta)' $suffix
		done
	done
	mesh2depth xyz.nrrd towards.nrrd -s 30x20 -o a.nrrd
	cat xyz.nrrd towards.nrrd | mesh2depth -s 30x20 -o b.nrrd
	fringepipe framecat xyz.nrrd towards.nrrd , mesh2depth -s 30x20 -o c.nrrd
	py '
a, b, c = (read_frames(n) for n in ("a.nrrd", "b.nrrd", "c.nrrd"))
for i in range(2):
	expect(a[i].pixels.tobytes() == b[i].pixels.tobytes() == c[i].pixels.tobytes())
	expect(a[i]["depth"].shape == (20, 30))'
	fails 1 "no frame has a valid pixel" mesh2depth depth.nrrd --jump 0.01 -s 9x9 -o none.nrrd -q
	py 'expect(np.isnan(read_frame("none.nrrd")["depth"]))'
}

@test "mesh2depth: ascii and binary STL hold the same mesh, with unit normals" {
	py '
y, x = np.mgrid[:9, :11].astype("f4")
z = (100 + x * 0.25 - y * 0.5).astype("f4"); z[4, 4] = np.nan
write_frames("z.nrrd", Frame(z, ["depth"], {"z_axis": "towards"}))
write_frames("xyz.nrrd", Frame(np.stack([x, y, z]), ["x", "y", "z"], {"z_axis": "towards"}))'
	framecat z.nrrd -o b.stl
	framecat z.nrrd --ascii -o a.stl
	mesh2depth a.stl b.stl -s 33x27 -o d.nrrd
	py '
import re
p, q = read_frames("d.nrrd")
expect(p.pixels.tobytes() == q.pixels.tobytes())
data = open("b.stl", "rb").read()
n = int.from_bytes(data[80:84], "little")
expect(len(data) == 84 + 50 * n and n == 2 * 80 - 4, n, len(data))	# the hole takes one from each of four pairs
t = np.frombuffer(data[84:], np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
m = np.cross(t["v"][:, 1] - t["v"][:, 0], t["v"][:, 2] - t["v"][:, 0])
m /= np.linalg.norm(m, axis=1)[:, None]
expect(np.abs(m - t["n"]) < 1e-6)
expect(t["n"][:, 2] > 0, "towards the viewer")
expect(open("a.stl").read().count("endfacet") == n)'
	for suffix in ply csv vnl; do
		framecat --points xyz.nrrd | framecat -c x,y,z -o "cloud.$suffix"
		fails 1 "p.stl: STL files hold triangles, not points: .ply and .obj do" framecat "cloud.$suffix" -o p.stl
	done
	fails 1 "p.stl: STL files hold triangles, not points: .ply and .obj do" framecat z.nrrd --points -o p.stl
	[ ! -e p.stl ]
	silent framecat cloud.ply -o p.obj
	silent framecat cloud.ply -o p.ply
	[ "$(grep -c '^v ' p.obj)" -eq 98 ]
	fails 0 "p.stl: no triangle was written: none has three valid corners within --jump" framecat --set z_axis=towards --crop 0,0,1,9 z.nrrd -o p.stl
}

@test "mesh2depth: threads and the order of triangles change nothing; history" {
	py "$meshes"'
rng = np.random.default_rng(5)
V = rng.uniform(-1, 1, (3000, 3))
F = rng.integers(0, 3000, (900, 3))
write_ply("soup.ply", V, F)
write_ply("mixed.ply", V, [tuple(np.roll(p, rng.integers(3))[::rng.choice([-1, 1])]) for p in F[rng.permutation(900)]])'
	mesh2depth -j 1 soup.ply -s 333x1111 -o a.nrrd
	mesh2depth -j 7 soup.ply -s 333x1111 -o b.nrrd
	cmp a.nrrd b.nrrd
	mesh2depth mixed.ply -s 333x1111 -o c.nrrd
	py '
a, c = read_frame("a.nrrd"), read_frame("c.nrrd")
expect(a.pixels.tobytes() == c.pixels.tobytes())
expect(a.meta["cmd.1"] == "mesh2depth --size=333x1111 [1]", a.meta)'
}

@test "mesh2depth: several meshes are several frames, in a folder under their names; units" {
	py "$meshes"'
for n in "one", "two":
	write_obj(n + ".obj", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])'
	mesh2depth one.obj two.obj -s 8x8 -o out/
	[ -e out/one.tif ]
	[ -e out/two.tif ]
	mesh2depth one.obj --unit m -s 8x8 -o d.nrrd
	py 'expect(read_frame("d.nrrd").meta["length_unit"] == "m")'
	grep -a -q '^units: "m" "m"$' d.nrrd
}

@test "mesh2depth: points that are not finite, or far off, or all alike" {
	py "$meshes"'
V = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (np.nan, 5, 5), (np.inf, 0, 0), (900, 900, 900)]
write_ply("n.ply", V, [(0, 1, 2), (0, 2, 3), (0, 1, 4), (1, 2, 5)])
write_ply("allnan.ply", V, [(0, 1, 4), (1, 2, 5)])
write_obj("huge.obj", [(0, 0, 0), (1e308, 0, 0), (0, -1e308, 0)], [(0, 1, 2)])
write_obj("point.obj", [(5, 5, 5)] * 3, [(0, 1, 2)])
write_obj("line.obj", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])
write_obj("tiny.obj", [(0, 0, 0), (1e-320, 0, 0), (0, 1e-320, 0)], [(0, 1, 2)])
write_obj("ok.obj", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])'
	mesh2depth n.ply -s 6x6 -o d.nrrd
	py 'expect(read_frame("d.nrrd")["depth"] == 0)'
	fails 1 "allnan.ply: has no triangle whose points are finite" mesh2depth allnan.ply
	fails 1 "huge.obj: coordinates are too large" mesh2depth huge.obj
	for m in point line tiny; do
		fails 1 "$m.obj: no pixel is hit" mesh2depth $m.obj -s 5x5 -o x.nrrd
	done
	fails 1 "ok.obj: reaches further than 1e+09 px" mesh2depth ok.obj --scale 1e-12
	fails 1 "no pixel is hit" mesh2depth ok.obj --center 99,99,99 --scale 1 -s 5x5 -o x.nrrd
}

@test "mesh2depth: damaged files" {
	py "$meshes"'
V, F = icosphere(1)
write_ply("le.ply", V, F)
write_ply("as.ply", V, F, "a")
write_stl("b.stl", V, F)
write_stl("a.stl", V, F, True)
for n in "le.ply", "as.ply", "b.stl", "a.stl":
	data = open(n, "rb").read()
	open("cut_" + n, "wb").write(data[:len(data) * 2 // 3])
le = open("le.ply", "rb").read()
def altered(name, a, b):
	assert a in le
	open(name, "wb").write(le.replace(a, b, 1))
altered("many.ply", b"vertex 42", b"vertex 4200000000")
altered("more.ply", b"face 80", b"face 99999999999")
altered("minus.ply", b"face 80", b"face -80")
altered("type.ply", b"property float y", b"property real y")
altered("noy.ply", b"property float y", b"property float w")
altered("twice.ply", b"property float y", b"property float x")
altered("format.ply", b"little_endian", b"middle_endian")
altered("end.ply", b"end_header", b"end_of_header")
altered("real.ply", b"uchar int vertex", b"uchar float vertex")
altered("nolist.ply", b"vertex_indices", b"corners")
write_ply("index.ply", V, F[:-1] + [(0, 1, 42)])
write_ply("negative.ply", V, [(0, 1, -2)] + F)
write_ply("none.ply", V, [])
open("word.ply", "w").write(open("as.ply").read().replace("3 0 ", "3 zero ", 1))
stl = bytearray(open("b.stl", "rb").read())
stl[80:84] = struct.pack("<I", 4000000000)
open("lie.stl", "wb").write(stl)
ascii = open("a.stl").read()
open("noend.stl", "w").write(ascii.replace("endsolid it", ""))
open("two.stl", "w").write(ascii.replace("  vertex", " #", 1))
open("four.stl", "w").write(ascii.replace(" endloop", "  vertex 0 0 0\n endloop", 1))
def obj(name, text):
	open(name, "w").write("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + text)
obj("zero.obj", "f 0 1 2\n")
obj("far.obj", "f 1 2 4\n")
obj("back.obj", "f -1 -2 -4\n")
obj("text.obj", "f 1 2 three\n")
obj("short.obj", "f 1 2\n")
obj("v.obj", "v 1 2\nf 1 2 3\n")
obj("nof.obj", "")
obj("number.obj", "v 1 2 x\nf 1 2 3\n")
obj("huge.obj", "f 1 2 99999999999999999999\n")
obj("five.obj", "v 1 2 3 0.5 0.5\nf 1 2 3\n")
obj("cut_v.obj", "f 1 2 3\nv 1 2 3.12")
obj("cut_f.obj", "f 1 2 3\nf 1 2 3")
obj("note.obj", "f 1 2 3\n# end")
def counted(name, vertices, faces):
	open(name, "w").write("# Vertices: %d\n# Faces: %d\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\n" % (vertices, faces))
counted("one.obj", 4, 1)
counted("two.obj", 4, 2)
counted("vertex.obj", 5, 2)
counted("face.obj", 4, 3)
text = open("as.ply", "rb").read()
open("whole.ply", "wb").write(text[:-1])
head, rows = text.split(b"end_header\n")
open("points.ply", "wb").write(head + b"end_header\n" + b"".join(l + b"\n" for l in rows.split(b"\n")[:19]) + b"0.5 0.2")
open("byte.ply", "wb").write(le[:-1])
write_frames("z.nrrd", Frame(np.ones((4, 5), "f4"), ["depth"]))
open("empty.ply", "w"), open("junk.bin", "wb").write(bytes(range(256)) * 4)
open("junk.stl", "wb").write(b"abc")'
	fails 1 "cut_le.ply: ends too early, after $((($(sed '1,/end_header/d' cut_le.ply | wc -c) - 42 * 12) / 13)) of 80 entries of element face" mesh2depth cut_le.ply
	fails 1 "cut_as.ply: ends too early, after $(($(sed '1,/end_header/d' cut_as.ply | wc -l) - 42)) of 80 entries of element face" mesh2depth cut_as.ply
	fails 1 "byte.ply: ends too early, after 79 of 80 entries of element face" mesh2depth byte.ply
	fails 1 "points.ply: ends too early, after 19 of 42 entries of element vertex" mesh2depth points.ply
	fails 0 "whole.ply: line 131, the last one, has no newline: its last number may be cut off" \
		mesh2depth whole.ply as.ply -s 9x9 -o d.nrrd
	framecat --frames 0 d.nrrd | framecmp - <(framecat --frames 1 d.nrrd)
	fails 1 "80 triangles cannot lie in the" mesh2depth cut_b.stl
	fails 1 "ends too early" mesh2depth cut_a.stl
	fails 1 "ends too early" mesh2depth - <cut_b.stl
	run bash -o pipefail -c 'cat cut_b.stl | mesh2depth'
	[ "$status" -eq 1 ]
	[[ $output == *"standard input: ends too early"* ]]
	fails 1 "ends too early" mesh2depth many.ply
	fails 1 "ends too early" mesh2depth more.ply
	fails 1 "wanted an element's name and number, not '-80'" mesh2depth minus.ply
	fails 1 "wanted a type of PLY, not 'real'" mesh2depth type.ply
	fails 1 "no property y" mesh2depth noy.ply
	fails 1 "wanted each property once, not 'x'" mesh2depth twice.ply
	fails 1 "binary_middle_endian" mesh2depth format.ply
	fails 1 "header line 9: wanted format" mesh2depth end.ply
	fails 1 "wanted whole numbers" mesh2depth real.ply
	fails 1 "element face has no list vertex_indices" mesh2depth nolist.ply
	fails 1 "triangle 79 has point 42, but there are 42 points" mesh2depth index.ply
	fails 1 "triangle 0 has point -2" mesh2depth negative.ply
	fails 1 "holds no triangles, only 42 points" mesh2depth <none.ply
	fails 1 "wanted a number, not 'zero'" mesh2depth word.ply
	fails 1 "4000000000 triangles cannot lie in the" mesh2depth lie.stl
	fails 1 "before endsolid" mesh2depth noend.stl
	fails 1 "line 7: a facet has 2 corners" mesh2depth two.stl
	fails 1 "a facet has more than 3 corners" mesh2depth four.stl
	fails 1 "line 4: there is no vertex 0" mesh2depth zero.obj
	fails 1 "triangle 0 has point 3, but there are 3 points" mesh2depth far.obj
	fails 1 "line 4: there is no vertex -4" mesh2depth back.obj
	fails 1 "line 4: wanted a vertex's number, not 'three'" mesh2depth text.obj
	fails 1 "line 4: a face has 2 corners" mesh2depth short.obj
	py '
open("polygon.obj", "w").write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf" + " 1 2 3" * 3000000 + "\n")
with open("polygon.ply", "wb") as f:
	f.write(b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
		b"element face 1\nproperty list uint uchar vertex_indices\nend_header\n")
	f.write(np.array([0, 0, 0, 1, 0, 0, 0, 1, 0], "<f4").tobytes() + np.uint32(9000000).tobytes() + b"\0\1\2" * 3000000)'
	fails 1 "polygon.obj: line 4: a face has more than 65536 corners" prlimit --cpu=1 mesh2depth polygon.obj -o null:
	fails 1 "polygon.ply: triangle 0 begins a face of 9000000 corners, more than 65536" prlimit --cpu=1 mesh2depth polygon.ply -o null:
	fails 1 "line 4: a vertex has 2 coordinates" mesh2depth v.obj
	fails 1 "holds no triangles" mesh2depth nof.obj
	fails 1 "line 4: wanted a number, not 'x'" mesh2depth number.obj
	fails 1 "more than a mesh can have" mesh2depth huge.obj
	fails 1 "five.obj: line 4: a vertex has 5 numbers" mesh2depth five.obj
	fails 0 "cut_v.obj: line 5, the last one, has no newline" mesh2depth -s 5x5 cut_v.obj -o d.nrrd
	fails 0 "cut_f.obj: line 5, the last one, has no newline" mesh2depth -s 5x5 cut_f.obj -o d.nrrd
	mesh2depth -q -s 5x5 note.obj -o d.nrrd
	mesh2depth -q -s 5x5 one.obj two.obj -o d.nrrd		# a polygon is one face, or its triangles
	fails 1 "vertex.obj: ends too early, with 4 of the 5 vertices that its comments name" mesh2depth vertex.obj
	fails 1 "face.obj: ends too early, with 2 triangles for the 3 faces that its comments name" mesh2depth face.obj
	framecat z.nrrd -o z.obj
	head -n -1 z.obj >cut_z.obj
	fails 1 "cut_z.obj: ends too early, with 23 triangles for the 24 faces" mesh2depth cut_z.obj
	framecat --points z.nrrd -o z.obj
	fails 1 "z.obj: holds no triangles, only 20 points" mesh2depth z.obj
	fails 1 "empty.ply: is empty" mesh2depth empty.ply
	fails 1 "not a known image format" mesh2depth junk.bin
	fails 1 "an STL file has 84 at least" mesh2depth junk.stl
	fails 1 "absent.ply: cannot be opened" mesh2depth absent.ply
}

@test "mesh2depth: what stands behind a mesh is refused as text, and warned of as bytes" {
	py '
write_frames("z.nrrd", Frame(np.mgrid[:4, :5].sum(0).astype("f4")[None], ["depth"]))'
	for to in "a.ply --ascii" b.ply "a.stl --ascii" b.stl c.obj; do
		# shellcheck disable=SC2086
		framecat z.nrrd -o $to
		file=${to%% *}
		printf '\n \n' >"more_$file"
		cat "$file" "more_$file" >"blank_$file"
		(cat "$file" && echo 3 0 1 3) >"more_$file"
	done
	mesh2depth -s 9x9 a.ply -o want.nrrd
	silent mesh2depth -s 9x9 blank_a.ply blank_a.stl blank_c.obj -o d.nrrd
	fails 1 "more_a.ply: line $(($(wc -l <a.ply) + 1)): '3' stands behind the 24 entries of element face" \
		mesh2depth more_a.ply
	fails 1 "more_a.stl: line $(($(wc -l <a.stl) + 1)): '3' stands behind endsolid" mesh2depth more_a.stl
	for file in more_b.ply more_b.stl; do
		fails 0 "$file: 8 bytes behind its end are not read" mesh2depth -s 9x9 $file -o d.nrrd
		framecmp d.nrrd want.nrrd
	done
	(cat b.ply && printf x) >one.ply
	fails 0 "one.ply: 1 byte behind its end is not read" mesh2depth -s 9x9 one.ply -o d.nrrd
	(cat a.stl a.stl) >two.stl	# two solids
	silent mesh2depth -s 9x9 two.stl -o d.nrrd
	# statements of OBJ that make no triangles are none of these
	(cat more_c.obj && printf 'V 1 2 3\nvn 0 0 1\nusemtl a\nmg 0\ncall a b\n# a\n') >d.obj
	fails 0 "d.obj: line $(($(wc -l <c.obj) + 1)): '3' begins no statement of OBJ" mesh2depth -s 9x9 d.obj -o d.nrrd
	framecmp d.nrrd want.nrrd
	(cat c.obj && printf 'vn 0 0 1\nusemtl a\nmg 0\ncall a b\ns off\no\n# a\n') >d.obj
	silent mesh2depth -s 9x9 d.obj -o d.nrrd
	# clouds
	py 'write_frames("p.nrrd", Frame(np.zeros((3, 1, 2), "f4"), ["x", "y", "z"], {"points": "2"}))'
	framecat p.nrrd -o p.ply
	(cat p.ply && printf xy) >q.ply
	fails 0 "q.ply: 2 bytes behind its end are not read" framecat q.ply -o d.nrrd
}

@test "mesh2depth: errors of options" {
	py 'write_frames("in.nrrd", Frame(np.zeros((2, 3, 3), "f4"), ["phase", "modulation"]))'
	fails 1 "a mesh needs channels x y z" mesh2depth in.nrrd
	fails 2 "--view: must be three numbers, not 2" mesh2depth --view 1,2 in.nrrd
	fails 2 "--up: must be three numbers" mesh2depth --up 1 in.nrrd
	fails 2 "--forward: must be three numbers" mesh2depth --forward 1,2,3,4 in.nrrd
	fails 2 "--center: must be three numbers" mesh2depth --center 1,2 in.nrrd
	fails 2 "--up: is parallel" mesh2depth --up 0,0,1 --forward 0,0,2 in.nrrd
	fails 2 "must have a length" mesh2depth --up 0,0,0 --forward 0,0,2 in.nrrd
	fails 2 "--margin: 4 px on each side leave nothing of 8 x 9" mesh2depth -s 8x9 --margin 4 in.nrrd
	fails 2 "--unit" mesh2depth --unit "a b" in.nrrd
	fails 2 "--scale" mesh2depth --scale 0 in.nrrd
}

@test "mesh2depth: the bunny and igea; the bunny's depth against one that was made elsewhere" {
	need_data meshes
	mesh2depth "$data/meshes/stanford-bunny.obj" "$data/meshes/igea.ply" -o both.nrrd
	py '
bunny, igea = read_frames("both.nrrd")
expect(0.4 < np.isfinite(bunny["depth"]).mean() < 0.7 and 0.3 < np.isfinite(igea["depth"]).mean() < 0.8)
expect(igea.meta["name"] == "igea", igea.meta)'
	# its view, found by fitting: the mean of the points, a quarter of a pixel off, 4/5 of the picture
	framecat "$data/meshes/bunny_depth_512_u16.png" -o ref.nrrd
	read -r scale center < <(py '
V = np.array([l.split()[1:4] for l in open(sys.argv[1]) if l.startswith("v ")], float)
s = np.ptp(V, 0).max() / 409.6
print("%.9g %.9g,%.9g,0" % (s, *(V.mean(0)[:2] + 0.25 * s)))' "$data/meshes/stanford-bunny.obj")
	mesh2depth "$data/meshes/stanford-bunny.obj" --away --scale $scale --center=$center -o d.nrrd
	py '
d, r = read_frame("d.nrrd")["depth"].astype(float), read_frame("ref.nrrd").pixels[0].astype(float)
both = np.isfinite(d) & (r > 0)
agree = (np.isfinite(d) == (r > 0)).mean()
c = np.corrcoef(d[both], r[both])[0, 1]
expect(agree > 0.99 and c > 0.999, "agree", agree, "correlation", c)'
}

@test "mesh2depth: other tools say who reads meshes" {
	py 'write_frames("in.nrrd", Frame(np.ones((4, 5), "f4"), ["depth"]))'
	framecat in.nrrd -o mesh.ply
	fails 1 "mesh.ply: is a mesh, and only points are read of PLY files: mesh2depth reads meshes" framecat mesh.ply
}

@test "mesh2depth: an OBJ of ours with a long history is no table" {
	py 'y, x = np.mgrid[:24, :32]
write_frames("d.nrrd", Frame(np.sin(x / 5.).astype("f4"), ["depth"], {"cmd.%d" % i: "a tool --with=%s" % ("words" * 20) for i in range(1, 12)}))'
	framecat d.nrrd -o d.obj
	head -c 600 d.obj >start
	run ! grep '^v' start
	mesh2depth -s 32x24 d.obj -o back.nrrd
	py 'expect(np.isfinite(read_frame("back.nrrd")["depth"]).sum() > 300)'
}
