load helpers

# Python: cloud(name, p, n, ...) writes points as a table; mesh(name) reads a PLY of xyz2mesh; topology(mesh): vertices
# less edges plus triangles, pieces, borders; volume(mesh).
tools='
def cloud(name, p, n=None, keys=None, **more):
	planes = np.vstack([p.T] + ([n.T] if n is not None else []) + [v for v in more.values()])[:, None, :]
	names = ["x", "y", "z"] + (["nx", "ny", "nz"] if n is not None else []) + list(more)
	write_frames(name, Frame(planes.astype("f4"), names, {"points": str(len(p)), "length_unit": "mm", **(keys or {})}))
def mesh(name):
	data = open(name, "rb").read()
	head, body = data.split(b"end_header\n", 1)
	lines = head.decode().split("\n")
	points, faces = (int(next(l for l in lines if l.startswith("element " + k)).split()[2]) for k in ("vertex", "face"))
	fields = [(l.split()[2], {"float": "<f4", "uchar": "u1"}[l.split()[1]]) for l in lines
		if l.startswith("property") and "list" not in l]
	v = np.frombuffer(body, np.dtype(fields), points)
	t = np.frombuffer(body, np.dtype([("n", "u1"), ("i", "<i4", 3)]), faces, points * v.dtype.itemsize)
	expect(t["n"] == 3)
	return v, np.stack([v[k] for k in "xyz"], 1).astype(float), t["i"]
def pieces(edges):
	label = np.arange(edges.max() + 1 if len(edges) else 1)
	while True:
		# of edges in the order of their labels the first one of a vertex is the least
		least, before = label[edges].min(1), label.copy()
		order = np.argsort(least)[::-1]
		for k in 0, 1: label[edges[order, k]] = np.minimum(label[edges[order, k]], least[order])
		label = label[label]
		if (label == before).all(): return len(np.unique(label[edges]))
def topology(m):
	t = m[2]
	sides = np.vstack([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]).astype(np.int64)
	edges, count = np.unique(np.sort(sides, 1) @ [1 << 32, 1], return_counts=True)
	edges = np.stack([edges >> 32, edges & 0xffffffff], 1)
	expect(count.max() <= 2, "an edge of three triangles")
	expect(len(np.unique(sides @ [1 << 32, 1])) == len(sides), "neighbours that look to two sides")
	fans = np.bincount(edges.ravel()) - np.bincount(t.ravel())
	expect(fans.max() <= 1, "a pinched vertex")
	border = edges[count == 1]
	return len(np.unique(t)) - len(edges) + len(t), pieces(edges), pieces(border)
def volume(m):
	a, b, c = (m[1][m[2][:, k]] for k in range(3))
	return (a * np.cross(b, c)).sum() / 6
def sphere(rng, n, radius):
	p = rng.normal(size=(n, 3))
	p /= np.linalg.norm(p, axis=1)[:, None]
	return radius * p, p
def torus(rng, n, R, r):
	u, v, keep = rng.uniform(0, 2 * np.pi, 3 * n), rng.uniform(0, 2 * np.pi, 3 * n), rng.uniform(0, R + r, 3 * n)
	u, v = (a[keep < R + r * np.cos(v)][:n] for a in (u, v))
	n = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], 1)
	return np.stack([R * np.cos(u), R * np.sin(u), 0 * u], 1) + r * n, n
'

@test "xyz2mesh: a torus is a torus, at its place and of its volume; the same bytes for any threads and levels" {
	py "$tools"'
rng = np.random.default_rng(1)
p, n = torus(rng, 20000, 100, 40)
cloud("clean.nrrd", p, n)
cloud("noisy.nrrd", p + rng.normal(size=p.shape), n)'
	silent xyz2mesh clean.nrrd -o clean.ply
	silent xyz2mesh noisy.nrrd -o noisy.ply
	py "$tools"'
for name, rms, mean in ("clean", .02, .007), ("noisy", .26, .03):
	m = mesh(name + ".ply")
	expect(topology(m) == (0, 1, 0), name, topology(m))
	off = np.hypot(np.hypot(m[1][:, 0], m[1][:, 1]) - 100, m[1][:, 2]) - 40
	expect(np.sqrt((off ** 2).mean()) < rms, name, np.sqrt((off ** 2).mean()))
	expect(abs(off.mean()) < mean, name, off.mean())
	expect(abs(volume(m) / (2 * np.pi ** 2 * 100 * 1600) - 1) < .0035, name, volume(m))
	out = m[1] - 100 * m[1] * [1, 1, 0] / np.hypot(m[1][:, 0], m[1][:, 1])[:, None]
	out /= np.linalg.norm(out, axis=1)[:, None]
	n = np.stack([m[0]["n" + k] for k in "xyz"], 1)
	expect(np.abs(np.linalg.norm(n, axis=1) - 1) < 1e-6)
	expect((n * out).sum(1) > .98, name, (n * out).sum(1).min())'
	xyz2mesh -j 1 noisy.nrrd -o one.ply
	xyz2mesh -j 3 noisy.nrrd -o three.ply
	FRINGEPIPE_CPU=v2 xyz2mesh noisy.nrrd -o v2.ply
	cmp noisy.ply one.ply
	cmp noisy.ply three.ply
	cmp noisy.ply v2.ply
}

@test "xyz2mesh: true holes stay, each with one border; --close fills them; --reach and --cell; stray points have no surface" {
	py "$tools"'
rng = np.random.default_rng(2)
p, n = sphere(rng, 20000, 100)
keep = np.all([np.linalg.norm(p - 100 * np.array(c), axis=1) > 15 for c in ([1, 0, 0], [0, 1, 0], [0, 0, -1])], 0)
p, n = p[keep], n[keep]
stray = rng.uniform(-150, 150, (40, 3))
stray = stray[np.abs(np.linalg.norm(stray, axis=1) - 100) > 20]
cloud("holes.nrrd", np.vstack([p, stray, [[1e9, 0, 0], [0, np.nan, 0]]]), np.vstack([n, stray / 100, [[1, 0, 0], [0, 1, 0]]]))'
	silent xyz2mesh holes.nrrd -o holes.ply
	silent xyz2mesh --close holes.nrrd -o closed.ply
	silent xyz2mesh --cell 4.5 holes.nrrd -o coarse.ply
	silent xyz2mesh --cell 4.5 --reach 4.5 holes.nrrd -o near.ply
	py "$tools"'
holes, closed, coarse, near = (mesh(k + ".ply") for k in ("holes", "closed", "coarse", "near"))
expect(topology(holes) == (-1, 1, 3), topology(holes))
expect(topology(closed) == (2, 1, 0), topology(closed))
expect(np.abs(np.linalg.norm(holes[1], axis=1) - 100) < .6, np.abs(np.linalg.norm(holes[1], axis=1) - 100).max())
expect(abs(volume(closed) / (4e6 / 3 * np.pi) - 1) < .003, volume(closed))
expect(len(coarse[1]) < .7 * len(holes[1]), len(coarse[1]), len(holes[1]))
def opening(m):
	sides = np.sort(np.vstack([m[2][:, [0, 1]], m[2][:, [1, 2]], m[2][:, [2, 0]]]), 1)
	edges, count = np.unique(sides, axis=0, return_counts=True)
	at = np.unique(edges[count == 1])
	at = m[1][at][m[1][at][:, 0] > 90]
	return np.hypot(at[:, 1], at[:, 2]).mean()
for m, reach in (coarse, 1.75 * 4.5), (near, 4.5):
	# to the last whole cell: the surface ends up to 1.2 of one before its reach
	expect(15 - reach - .5 < opening(m) < 15 - reach + 1.2 * 4.5, opening(m), reach)
expect(topology(near) == (-1, 1, 3), topology(near))'
}

@test "xyz2mesh: a scan in a chain, its sides by seen_from_mm; colours; OBJ, STL and text; a mesh of each frame" {
	echo '{"camera_K": [[700,0,159.5],[0,700,119.5],[0,0,1]], "camera_size": [320, 240], "projector_K": [[900,0,400],[0,900,300],[0,0,1]],
		"projector_size": [800, 600], "R_cam_to_proj": [[1,0,0],[0,1,0],[0,0,1]], "T_cam_to_proj_mm": [-60, 0, 0]}' >rig.json
	fringesim --calib rig.json --scene relief --distance 450 --height 20 --frames 2 -p 60 --gray half --albedo noise |
		fringepipe phasewrap , unwrap2f , phase2depth --calib rig.json -o scan.nrrd
	silent xyz2mesh scan.nrrd -o "mesh%d.ply"
	silent fringepipe framecat scan.nrrd --frames 0 , normals , xyz2mesh -o own.obj
	silent fringepipe framecat scan.nrrd --frames 0 , xyz2mesh --ascii -o text.stl
	[ "$(head -c 5 text.stl)" = solid ]
	fails 2 "one.ply: is the name of one mesh: name%04d.ply takes one of each frame" xyz2mesh scan.nrrd -o one.ply
	py "$tools"'
f, m = read_frames("scan.nrrd")[0], mesh("mesh0.ply")
expect(f.meta["seen_from_mm"].split() == ["0", "0", "0"], f.meta["seen_from_mm"])
expect(topology(m)[1] == 1, topology(m))
expect((np.stack([m[0]["n" + k] for k in "xyz"], 1) * m[1]).sum(1) < 0, "normals look away from the camera")
p = f.pixels[[f.names.index(k) for k in "xyz"]].reshape(3, -1).T
p = p[np.isfinite(p).all(1)]
far = [np.linalg.norm(p - v, axis=1).min() for v in m[1][::97]]
expect(np.median(far) < .5, np.median(far))
expect(m[0]["red"].std() > 5)
lines = open("own.obj").read().split("\n")
expect(sum(l.startswith("v ") for l in lines) > 10000)
expect(sum(l.startswith("f ") for l in lines) > 20000)'
	mesh2depth -s 100x100 mesh0.ply -o look.nrrd
	mesh2depth -s 100x100 text.stl -o look.nrrd
}

@test "xyz2mesh: what is no surface, or does not tell its sides, has a line" {
	py "$tools"'
rng = np.random.default_rng(3)
p, n = sphere(rng, 3000, 50)
cloud("equal.nrrd", 0 * p + 1, n)
cloud("line.nrrd", p * [1, 0, 0])
cloud("three.nrrd", p[:3], n[:3])
cloud("none.nrrd", p * np.nan, n)
cloud("zero.nrrd", p, 0 * n)
cloud("turned.nrrd", p, n * rng.choice([-1, 1], (3000, 1)))
cloud("inside.nrrd", p, -n)
cloud("bare.nrrd", p)
cloud("bad.nrrd", p, keys={"seen_from_mm": "1 2"})
cloud("some.nrrd", p, np.where(p[:, :1] > 0, n, np.nan))
cloud("twice.nrrd", np.vstack([p, p]), np.vstack([n, n]))'
	fails 1 "all 3000 points are at fewer than 9 places" xyz2mesh equal.nrrd -o x.ply
	fails 1 "the points lie on lines, or too far from each other" xyz2mesh --normals-towards 0,0,9 line.nrrd -o x.ply
	fails 1 "points with a normal: 3, too few for a surface" xyz2mesh three.nrrd -o x.ply
	fails 1 "points with a normal: 0, too few for a surface" xyz2mesh none.nrrd -o x.ply
	fails 1 "points with a normal: 0, too few for a surface" xyz2mesh zero.nrrd -o x.ply
	fails 1 "% of the normals of neighbouring points look to opposite sides" xyz2mesh turned.nrrd -o x.ply
	fails 1 "--normals-towards: is needed: neither channels nx ny nz nor the key seen_from_mm" xyz2mesh bare.nrrd -o x.ply
	fails 1 "seen_from_mm: has 2 numbers, not three" xyz2mesh bad.nrrd -o x.ply
	fails 2 "--normals-towards: must be three numbers, not 2" xyz2mesh --normals-towards 1,2 bare.nrrd -o x.ply
	fails 2 "needs -o FILE.ply, FILE.obj or FILE.stl" xyz2mesh bare.nrrd
	fails 2 "x.png: needs -o FILE.ply, FILE.obj or FILE.stl" xyz2mesh bare.nrrd -o x.png
	fails 1 "--reach: must be" xyz2mesh --reach 100 twice.nrrd -o x.ply
	fails 1 "no triangle: cells of 400 are too large for these points, or too small (--cell)" xyz2mesh --cell 400 twice.nrrd -o x.ply
	[ ! -e x.ply ]
	run xyz2mesh inside.nrrd -o inside.ply
	[ "$status" = 0 ]
	[[ $output == *"nx: the surface is closed, and its normals look inwards"* ]]
	silent xyz2mesh --no-check inwards inside.nrrd -o inside.ply
	run xyz2mesh some.nrrd -o some.ply
	[ "$status" = 0 ]
	[[ $output == *"% of the points have no surface: they have no normal"* ]]
	silent xyz2mesh twice.nrrd -o twice.ply
	py "$tools"'
expect(topology(mesh("twice.ply")) == (2, 1, 0), topology(mesh("twice.ply")))'
}

@test "xyz2mesh: -v tells the noise; two sheets and small cells have a line; a lid's normals look up" {
	py "$tools"'
rng = np.random.default_rng(4)
p, n = sphere(rng, 20000, 50)
for noise in .25, 1, 2: cloud("noise%g.nrrd" % noise, p + noise * rng.normal(size=p.shape), n)
cloud("sphere.nrrd", p, n)
sheets = np.c_[rng.uniform(-30, 30, (20000, 2)), np.repeat([0, 2.5], 10000)]
cloud("sheets.nrrd", sheets, 0 * sheets + [0, 0, 1])
turn = rng.uniform(0, 2 * np.pi, 10000)
p, n = (np.c_[k * np.cos(turn), k * np.sin(turn), 0 * turn] for k in (30, 1))
p[:, 2] = rng.uniform(-30, 30, 10000)
cloud("tube.nrrd", p, n)'
	for noise in 0.25 1 2; do
		run xyz2mesh -v "noise$noise.nrrd" -o noise.ply
		[ "$status" = 0 ]
		found=${output#*noise }
		awk -v found="${found%%,*}" -v noise="$noise" 'BEGIN { exit !(found > 0.92 * noise && found < 1.1 * noise) }'
	done
	run xyz2mesh sheets.nrrd -o sheets.ply
	[[ $output == *"nx: 3"?" % of the triangles look against the normals of their points: views are not aligned"* ]]
	run xyz2mesh --close sheets.nrrd -o sheets.ply
	[[ $output == *"nx: 3"?" % of the triangles look against"* ]]
	run xyz2mesh --cell 0.6 sphere.nrrd -o torn.ply
	[[ $output == *"--cell: 0.6 is small for points 1.2"*" apart: the surface may have holes"* ]]
	silent xyz2mesh --cell 1.3 sphere.nrrd -o whole.ply
	silent xyz2mesh --close tube.nrrd -o tube.ply
	py "$tools"'
m = mesh("tube.ply")
top = (m[1][:, 2] > 29) & (np.hypot(m[1][:, 0], m[1][:, 1]) < 26)
expect(topology(m) == (2, 1, 0), topology(m))
expect(top.sum() > 100)
expect(m[0]["nz"][top] > .9, m[0]["nz"][top].min())'
}

@test "xyz2mesh: two sheets that become one, and an object from all around behind --normals-towards, have a line" {
	py "$tools"'
rng = np.random.default_rng(5)
xy = rng.uniform(-30, 30, (8000, 2))
twice = (xy[:, 0] > 10) & (rng.random(8000) < .5)	# one part of three
for off in .9, 1.8:	# 0.7 and 1.4 cells
	p = np.c_[xy, off * twice + .1 * rng.normal(size=8000)]
	cloud("sheets%g.nrrd" % off, p, 0 * p + [0, 0, 1])
cloud("noise.nrrd", np.c_[xy, .9 * rng.normal(size=8000)], 0 * p + [0, 0, 1])
p, n = sphere(rng, 20000, 50)
p += .3 * rng.normal(size=p.shape)
cloud("around.nrrd", p)
cloud("front.nrrd", p[n[:, 2] > .05])
cloud("key.nrrd", p, keys={"seen_from_mm": "0 0 900"})'
	for off in 0.9 1.8; do
		run xyz2mesh "sheets$off.nrrd" -o sheets.ply
		[[ $output == *"xyz2mesh: at "[12]?" % of the places the points lie in two sheets less than 2.5 cells of 1."* ]]
	done
	silent xyz2mesh noise.nrrd -o noise.ply
	fails 0 " % of the surface is inside out: the points were seen from other places" \
		xyz2mesh --normals-towards 0,0,90000 around.nrrd -o around.ply
	# shellcheck disable=SC2154
	[[ $stderr == "xyz2mesh: --normals-towards: "[45]?" %"* ]]
	fails 0 "seen_from_mm: " xyz2mesh key.nrrd -o around.ply
	[[ $stderr == "xyz2mesh: seen_from_mm: "[345]?" % of the surface is inside out"* ]]
	silent xyz2mesh --normals-towards 0,0,90000 front.nrrd -o front.ply
}

@test "xyz2mesh: a side of few points that falls to pieces has a line, and larger cells join it; stray points have none" {
	py "$tools"'
rng = np.random.default_rng(6)
p, n = sphere(rng, 20000, 50)
keep = (p[:, 0] < 0) | (rng.random(20000) < 1 / 16)
cloud("half.nrrd", p[keep], n[keep])
stray = rng.uniform(-75, 75, (400, 3))
stray = stray[np.abs(np.linalg.norm(stray, axis=1) - 50) > 10]
cloud("stray.nrrd", np.vstack([p, stray]), np.vstack([n, stray / 50]))'
	fails 0 "xyz2mesh: --cell: at 3" xyz2mesh half.nrrd -o half.ply
	[[ $stderr == *" % of the places the points are too far apart for cells of "*": the surface falls to pieces there"* ]]
	silent xyz2mesh --cell 6 half.nrrd -o half.ply
	silent xyz2mesh stray.nrrd -o stray.ply
	py "$tools"'
expect(topology(mesh("half.ply"))[1] == 1, topology(mesh("half.ply")))'
}

@test "xyz2mesh: igea with three holes and noise of 0.1 % of its diagonal" {
	need_data meshes
	py "$tools"'
data = open("'"$data"'/meshes/igea.ply", "rb").read()
head, body = data.split(b"end_header\n", 1)
n = int(head.split(b"element vertex ")[1].split()[0])
end = ">" if b"big" in head else "<"
v = np.frombuffer(body, end + "f4", 3 * n).reshape(n, 3).astype(float)
strips = np.frombuffer(body, end + "i4", -1, 12 * n)[1:]
at = np.arange(len(strips) - 2)
begins = np.zeros(len(strips), int)
cut = np.nonzero(strips < 0)[0]
begins[cut[:-1] + 1] = cut[:-1] + 1
begins = np.maximum.accumulate(begins)
t = np.stack([strips[:-2], strips[1:-1], strips[2:]], 1)
flip = (at - begins[:-2]) % 2 == 1
t[flip] = t[flip][:, [1, 0, 2]]
t = t[(t >= 0).all(1) & (t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 0] != t[:, 2])]
v /= np.linalg.norm(v.max(0) - v.min(0)) / 1000
a, b, c = (v[t[:, k]] for k in range(3))
N = np.cross(b - a, c - a)
area = np.linalg.norm(N, axis=1)
np.save("truth.npy", (a * np.cross(b, c)).sum() / 6)
rng = np.random.default_rng(7)
k = rng.choice(len(t), 100000, p=area / area.sum())
u = rng.random((100000, 2))
u = np.where(u.sum(1)[:, None] > 1, 1 - u, u)
p = a[k] + u[:, :1] * (b - a)[k] + u[:, 1:] * (c - a)[k]
n = N[k] / area[k][:, None]
noisy = p + rng.normal(size=p.shape)
keep = np.all([np.linalg.norm(p - p[i], axis=1) > 30 for i in (10, 2000, 30000)], 0)
turned = n + .06 * rng.normal(size=n.shape)
cloud("igea.nrrd", noisy[keep], turned[keep])
np.savez("on.npz", p=p[keep], n=n[keep])'
	silent xyz2mesh igea.nrrd -o igea.ply
	silent xyz2mesh --close igea.nrrd -o closed.ply
	py "$tools"'
m, closed = mesh("igea.ply"), mesh("closed.ply")
expect(topology(m) == (-1, 1, 3), topology(m))
expect(topology(closed) == (2, 1, 0), topology(closed))
expect(abs(volume(closed) / np.load("truth.npy") - 1) < .003, volume(closed), np.load("truth.npy"))
on = np.load("on.npz")
rng = np.random.default_rng(8)
off = []
for w in m[1][rng.choice(len(m[1]), 800)]:
	d = ((on["p"] - w) ** 2).sum(1)
	i = d.argpartition(5)[:6]	# the six nearest
	if d[i].min() < 9: off.append(np.median(((w - on["p"][i]) * on["n"][i]).sum(1)))
off = np.array(off)
expect(len(off) > 700, len(off))
expect(np.sqrt((off ** 2).mean()) < .32, np.sqrt((off ** 2).mean()))
expect((np.abs(off) < 2.5).mean() >= .999, (np.abs(off) < 2.5).mean())'
}
