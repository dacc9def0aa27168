load helpers

# Clouds: tables of points through the tools that look at shapes, against closed forms and against the same points in order.

clouds='
rng = np.random.default_rng(1)
def cloud(name, p, names="x y z", **meta):
	p = np.asarray(p, "f4").reshape(-1, len(names.split()))
	n = len(p)
	write_frames(name, Frame((p if n else np.full((1, p.shape[1]), np.nan, "f4")).T[:, None], names.split(),
		{"points": str(n), "length_unit": "mm", **meta}))
def ball(n):
	d = rng.normal(size=(n, 3))
	d /= np.linalg.norm(d, axis=1)[:, None]
	return d, 30 * d + [0, 0, 300]
'

@test "clouds: shade draws discs in the points' colours, the nearer ones in front, the same bytes everywhere" {
	py "$clouds"'
x, y = rng.uniform(0, 100, (2, 6000))
front = np.c_[x, y, 0 * x + 500, 2 * x, 2 * y, 0 * x]
back = np.c_[x, y, 0 * x + 560, 2 * x, 2 * y, 0 * x + 255]
cloud("two.nrrd", rng.permutation(np.concatenate([front, back])), "x y z r g b")'
	for side in 0 180; do
		shade --view $side,0 -c rgb --lighting none -b 9 -s 300x240 two.nrrd -o $side.nrrd
		py '
p, side = read_frame(sys.argv[1] + ".nrrd"), int(sys.argv[1])
expect(p.pixels.shape == (3, 240, 300) and "points" not in p.meta, p.pixels.shape, p.meta)
r, g, b = p.pixels.astype(float)
inner = np.s_[20:220, 60:240]
drawn = np.flatnonzero((p.pixels != 9).any((0, 2)))
scale = (drawn[-1] - drawn[0] + 1) / (100 + 2 * 1.5 * 100 / np.sqrt(6000))	# rows by mm, with the discs
y, x = np.mgrid[:240, :300][:, 20:220, 60:240]
x, y = (x - 149.5) / scale * (1 if side == 0 else -1) + 50, (y - 119.5) / scale + 50
reach = 2 * 1.5 * 1.4 * 100 / np.sqrt(6000)
hole = b[inner] != (0 if side == 0 else 255)
expect(hole.mean() < 0.003, hole.mean())
expect(np.abs(r[inner] - 2 * x)[~hole].max() < reach + 1 and np.abs(g[inner] - 2 * y)[~hole].max() < reach + 1)
expect(abs(np.median(r[inner] - 2 * x)) < 1 and np.all(p.pixels[:, :, 0] == 9), np.median(r[inner] - 2 * x), p.pixels[:, 9, 0])' $side
	done
	py "$clouds"'
d, p = ball(3000)
cloud("ball.nrrd", np.c_[p, d], "x y z nx ny nz")
cloud("plain.nrrd", p)'
	for file in ball plain; do
		shade --view 30,20 -c depth -s 130x97 $file.nrrd -o one.nrrd
		for level in v2 v3 v4; do
			if ! FRINGEPIPE_CPU=$level shade plain.nrrd -f -o x.png 2>messages; then
				has "this machine has no $level" <messages
				continue
			fi
			FRINGEPIPE_CPU=$level shade -j 3 --view 30,20 -c depth -s 130x97 $file.nrrd | cmp - one.nrrd
		done
		shade -s 200x200 $file.nrrd -o $file.picture.nrrd
		# Phong on a sphere of radius 30, seen from afar; normals of neighbours are a few degrees off
		py '
got = np.moveaxis(read_frame(sys.argv[1] + ".picture.nrrd").pixels.astype(float), 0, -1)
drawn = np.flatnonzero((got[..., 0] != 32).any(1))
y, x = (np.mgrid[:200, :200] - 99.5) / ((drawn[-1] - drawn[0] + 1) / 2)
z = -np.sqrt(np.maximum(1 - x * x - y * y, 0))
a, e = np.radians([-40, 40])
l = np.array([np.sin(a) * np.cos(e), -np.sin(e), -np.cos(a) * np.cos(e)])
cosine = np.maximum(l[0] * x + l[1] * y + l[2] * z, 0)
shine = np.where(cosine > 0, 0.2 * np.maximum(2 * cosine * -z - l[2] * -1, 0) ** 20, 0)
want = 255 * np.minimum(0.9 * (0.15 + 0.75 * (0.6 * cosine - 0.4 * z)) + shine, 1)
off = np.abs(got[..., 0] - want)[x * x + y * y < 0.8]
expect(np.median(off) < (6 if sys.argv[1] == "ball" else 8) and np.percentile(off, 95) < 25, np.median(off), np.percentile(off, 95))' $file
	done
	fails 1 "--jump: is of images: the points of a table are drawn as discs" shade --jump 3 plain.nrrd -o x.nrrd
	fails 1 "--axes: is of images: the points of a table are drawn as discs" shade --axes plain.nrrd -o x.nrrd
}

@test "clouds: mesh2depth and holoserve show a cloud from afar: a tilted plane to its depth" {
	py "$clouds"'
x, y = rng.uniform(0, 100, (2, 5000))
cloud("plane.nrrd", np.c_[x, y, 500 + 0.3 * x - 0.2 * y, x], "x y z texture")'
	framecat plane.nrrd -o plane.ply
	for file in plane.nrrd plane.ply; do
		mesh2depth --away --scale 1 --center 50,50,505 -s 80x80 $file -o depth.nrrd
		py '
f = read_frame("depth.nrrd")
y, x = np.mgrid[:80, :80] - 39.5
d, t = f["depth"], f["texture"]
hole = np.isnan(d)
expect(hole.mean() < 0.002 and "points" not in f.meta and f.meta["length_unit"] == "mm", hole.mean(), f.meta)
expect(np.nanmax(np.abs(d - (0.3 * x - 0.2 * y))) < 1e-3, np.nanmax(np.abs(d - (0.3 * x - 0.2 * y))))
expect(np.nanmax(np.abs(t - x - 50)) < 5)'
	done
	mesh2depth --margin 8 plane.nrrd | frameinfo | has 'depth '
	py '
import io, subprocess
from live_client import Viewer
for input in "plane.nrrd", "depth.nrrd":
	if input == "depth.nrrd":
		subprocess.run("mesh2depth plane.nrrd --margin 8 -o depth.nrrd", shell=True, check=True)
	server = subprocess.Popen(["holoserve", "--port", "0", "--print-url", "--linger", "--encode", "png", input], stdout=subprocess.PIPE)
	viewer = Viewer(server.stdout.readline().decode(), "can png")
	picture = viewer.frame()["picture"]
	expect(viewer.keys["width"] == "512" and viewer.keys["height"] == "512", viewer.keys)
	expect(input == "plane.nrrd" or picture == first, "other pictures")
	first = picture
	server.terminate()
	server.wait()'
}

@test "clouds: fitshape, framecmp --to and texmap give the points of a table what they give those of a frame" {
	py '
rng = np.random.default_rng(1)
y, x = np.mgrid[:90, :120].astype(float)
X, Y = (x - 60) * .5, (y - 45) * .5
Z = 500 - np.sqrt(np.maximum(40 ** 2 - X ** 2 - Y ** 2, 1)) + rng.normal(size=X.shape) * .01
Z[rng.random(Z.shape) < .05] = np.nan
write_frames("f.nrrd", Frame(np.stack([X, Y, Z]).astype("f4"), list("xyz"), {"length_unit": "mm"}))
y, x = np.mgrid[:120, :160]
write_frames("picture.nrrd", Frame(np.stack([x, 2 * y, 0 * x + 7]).astype("u1"), list("rgb")))
open("camera.json", "w").write("""{"camera_K": [[800, 0, 80], [0, 800, 60], [0, 0, 1]], "camera_size": [160, 120]}""")'
	framecat --points f.nrrd -o t.nrrd
	framecat f.nrrd -o mesh.ply
	for words in sphere "sphere --robust" "sphere --roi=-10,-10,400,10,10,600" plane; do
		fitshape $words --json f.nrrd >f.json
		fitshape $words --json t.nrrd >t.json
		cmp f.json t.json
	done
	for words in "" --icp "--within 1 --table"; do
		framecmp --to mesh.ply $words --deviation f.dev.nrrd -f f.nrrd >f.txt
		framecmp --to mesh.ply $words --deviation t.dev.nrrd -f t.nrrd >t.txt
		cmp f.txt t.txt
		framecat --points -c deviation f.dev.nrrd -o f.table.nrrd
		framecat -c deviation t.dev.nrrd | framecat -o t.table.nrrd
		py 'a, b = (read_frame(n + ".table.nrrd")["deviation"][0] for n in "ft")
expect(np.array_equal(np.sort(a), np.sort(b[~np.isnan(b)])))'
	done
	for name in f t; do texmap --calib camera.json --image picture.nrrd $name.nrrd -o $name.colours.nrrd; done
	framecat --like f.nrrd t.colours.nrrd -o back.nrrd
	py '
a, b = read_frame("f.colours.nrrd"), read_frame("back.nrrd")
both = ~np.isnan(a["r"]) & ~np.isnan(b["r"])
valid = ~np.isnan(a["z"])
expect(both.sum() > 0.97 * (valid & ~np.isnan(a["r"])).sum() and both.sum() > 0.5 * valid.sum(), both.sum(), valid.sum())
same = np.all([a[c][both] == b[c][both] for c in "rgb"], 0)	# but for pixels beside an edge, of which fewer see a disc
off = max(np.abs(a[c][both] - b[c][both]).max() for c in "rgb")
expect(same.mean() > 0.95 and off < 2, same.mean(), off)'
}

@test "clouds: all equal, on a line, NaN, three points, copies, one far out, none: a line or the right answer" {
	py "$clouds"'
d, p = ball(3000)
far = np.concatenate([p, [[1e9, 1e9, 1e9]]])
for name, points in {"equal": [[1, 2, 500]] * 100, "nan": [[np.nan] * 3] * 50, "three": [[0, 0, 500], [9, 0, 500], [0, 9, 500]], "none": [],
		"line": np.outer(np.arange(100), [1, 2, 3]) + [0, 0, 500], "copies": np.repeat(p, 3, 0), "far": far, "ball": p,
		"holes": np.concatenate([p, [[np.nan, 0, 0]] * 500, [[np.inf, 0, 0]]])}.items():
	cloud(name + ".nrrd", points)'
	for tool in "shade -s 64x64" "mesh2depth -s 64x64"; do
		fails 1 "all 100 points are at fewer than 9 places" $tool equal.nrrd -o x.nrrd
		fails 1 "3 points are too few to tell how dense they are" $tool three.nrrd -o x.nrrd
		for name in nan none; do fails 1 "no point: all are NaN" $tool $name.nrrd -o x.nrrd; done
		[ ! -e x.nrrd ]
		for name in line copies far holes ball; do silent $tool $name.nrrd -o $name.out.nrrd; done
		framecmp --max 0 ball.out.nrrd holes.out.nrrd
		py '
a, b, c, line = (read_frame(n + ".out.nrrd").pixels[0].astype(float) for n in ("ball", "far", "copies", "line"))
for other in b, c:	# the scale is that of one disc more or less at the border
	expect(np.nanmedian(np.abs(a - other)) < 2 and np.isnan(a).mean() - np.isnan(other).mean() < 0.02, np.nanmedian(np.abs(a - other)))
seen = ~np.isnan(line) if np.isnan(line).any() else line != line[0, 0]
expect(0.01 < seen.mean() < 0.5, seen.mean())'
	done
	for words in "fitshape plane" "fitshape sphere --robust"; do
		fails 1 "do not determine" $words equal.nrrd
		fails 1 "do not determine" $words line.nrrd
		for name in nan none; do fails 1 "no point: all are NaN" $words $name.nrrd; done
	done
	for name in copies holes "--robust far"; do
		fitshape sphere --json $name.nrrd >sphere.json
		py 'import json
[s] = json.load(open("sphere.json"))["results"][0]["parts"]
expect(abs(s["radius"] - 30) < 1e-6 and np.abs(np.array(s["center"]) - [0, 0, 300]).max() < 1e-5, s)'
	done
}
