load helpers

model='
def lamp(az, el):
	az, el = np.radians([az, el])
	return np.array([np.sin(az) * np.cos(el), -np.sin(el), -np.cos(az) * np.cos(el)])

def phong(n, az=-40, el=40, a=.15, d=.75, s=.2, p=20, albedo=.9):
	"""n: (..., 3) unit normals that face the viewer (nz < 0); albedo: a number, or one per pixel."""
	l = lamp(az, el); cosine = n @ l
	towards = l[2] - 2 * cosine * n[..., 2]
	return 255 * np.minimum(1, albedo * (a + d * np.maximum(cosine, 0)) +
		np.where((cosine > 0) & (towards > 0), s * np.maximum(towards, 1e-6) ** p, 0))

def sphere(h, w, r):
	y, x = np.mgrid[:h, :w].astype(float)
	x, y = x - (w - 1) / 2, y - (h - 1) / 2
	z = np.sqrt(np.maximum(r * r - x * x - y * y, 0))
	hole = x * x + y * y > (0.9 * r) ** 2
	return x, y, z, hole
'

@test "shade: a sphere with normals, against the closed form" {
	py "$model"'
x, y, z, hole = sphere(121, 161, 70.0)
n = np.stack([x, y, -z], -1) / 70.0
z[hole] = np.nan
write_frames("in.nrrd", Frame(np.stack([x, y, -z, n[..., 0], n[..., 1], n[..., 2]]).astype("f4"),
	["x", "y", "z", "nx", "ny", "nz"]))'
	shade in.nrrd -o out.nrrd
	shade in.nrrd -o plain.nrrd --light 20,10 --ambient 0.1 --diffuse 0.5 --specular 0.4 --shininess 5 -b 7
	py "$model"'
x, y, z, hole = sphere(121, 161, 70.0)
n = np.stack([x, y, -z], -1) / 70.0
for file, want, back in (("out.nrrd", phong(n), 32), ("plain.nrrd", phong(n, 20, 10, .1, .5, .4, 5), 7)):
	f = read_frame(file)
	expect(f.names == ["r", "g", "b"])
	p = f.pixels.astype(float)
	expect(p[:, hole] == back)
	expect(np.abs(p - want)[:, ~hole] <= 1, file, np.abs(p - want)[:, ~hole].max())'
}

@test "shade: normals of its own agree with given ones on a plane" {
	py '
y, x = np.mgrid[:60, :80]
write_frames("away.nrrd", Frame((0.3 * x - 0.2 * y).astype("f4"), ["depth"]))
write_frames("towards.nrrd", Frame((0.2 * y - 0.3 * x).astype("f4"), ["depth"], {"z_axis": "towards"}))'
	shade away.nrrd -o a.nrrd
	shade towards.nrrd -o b.nrrd
	py "$model"'
a, b = read_frame("a.nrrd").pixels, read_frame("b.nrrd").pixels
n = np.array([0.3, -0.2, -1]) / np.sqrt(1.13)
expect(a == b)
expect(np.abs(a.astype(float) - phong(n)) <= 1, a[0, 30, 40], phong(n))'
}

# Normals are summed by bands of 16 rows; where these begin must not show, nor rows without surface.
@test "shade: a turned surface looks the same wherever its rows lie in the frame" {
	for at in 0 5 37 60; do
		py '
y, x = np.mgrid[:100, :90]
z = np.full((160, 90), np.nan, "f4")
z[int(sys.argv[1]):][:100] = 5 * np.sin(x / 7) * np.cos(y / 6)
write_frames("in.nrrd", Frame(z, ["depth"]))' $at
		shade --view 30,20 --size 200x150 in.nrrd -f -o at$at.nrrd
	done
	py '
want = read_frame("at0.nrrd").pixels.astype(int)
expect(np.ptp(want) > 100, np.ptp(want))
for at in "5", "37", "60":
	off = np.abs(read_frame("at%s.nrrd" % at).pixels - want)
	expect(off <= 1, at, off.max(), (off > 1).sum())'
}

@test "shade: a turned view hides what lies behind" {
	# A near square hides a part of a far plane; turned by 30 degrees it covers another part of it.
	py '
d = np.full((100, 100), 50, "f4"); d[40:60, 40:60] = 0
write_frames("in.nrrd", Frame(d, ["depth"]))'
	shade in.nrrd --view 30,0 --colour depth --map gray --range 0,60 --ambient 1 --diffuse 0 --specular 0 \
		--samples 1 --jump 10 -s 200x200 -o out.nrrd
	py '
p = read_frame("out.nrrd")["r"]
near, far = (p == 0).sum(), (p == 213).sum()		# 255 * 50 / 60 = 212.5
back = (p == 32).sum()
expect(near + far + back == p.size, np.unique(p))
rows = np.where((p == 0).any(1))[0]; cols = np.where((p == 0).any(0))[0]
ratio = len(cols) / len(rows)				# cos 30
expect(abs(ratio - np.cos(np.radians(30))) < 0.06, ratio)
# behind it a gap of the far plane is seen: the hole that the square left, partly covered
expect(back > 200 and far > 1000, near, far, back)'
}

@test "shade: sizes, colours, threads" {
	for size in 1x1 5x7 127x1 129x65; do
		py '
w, h = map(int, sys.argv[1].split("x"))
rng = np.random.default_rng(3)
p = rng.normal(size=(2, h, w)).astype("f4"); p[0, rng.random((h, w)) < .2] = np.nan
write_frames("in.nrrd", Frame(p, ["depth", "texture"]))' $size
		for by in none depth texture; do
			shade -c $by -j 1 in.nrrd -o a.nrrd
			shade -c $by -j 7 in.nrrd -o b.nrrd
			cmp a.nrrd b.nrrd
			shade -c $by --view 10,20 -j 1 in.nrrd -o a.nrrd
			shade -c $by --view 10,20 -j 7 in.nrrd -o b.nrrd
			cmp a.nrrd b.nrrd
		done
	done
}

@test "shade: every colour map at known depths, in the camera's view and turned" {
	# The shares 0 to 1 of a range from 200 to 980, in steps of a 780th; 30 depths before it and behind it.
	py '
from colormaps import *
d = np.arange(200 - 30, 200 + STEPS + 31, dtype="f4")[None].repeat(3, 0); d[1, 40] = np.nan
write_frames("ramp.nrrd", Frame(d, ["depth"]))
d = np.full((100, 100), 50, "f4"); d[40:60, 40:60] = 0
write_frames("square.nrrd", Frame(d, ["depth"]))'
	flat=(--ambient 1 --diffuse 0 --specular 0 --background 77)
	for map in gray viridis turbo phase deviation; do
		shade -c depth -m $map -r 200,980 "${flat[@]}" ramp.nrrd -o ramp.out.nrrd
		shade -c depth -m $map -r 0,60 "${flat[@]}" --view 30,0 --samples 1 --jump 10 -s 200x200 square.nrrd \
			-o turned.nrrd
		py '
from colormaps import *
rgb = read_frame("ramp.out.nrrd").pixels.astype(int)
expect(rgb[:, 1, 40] == 77, rgb[:, 1, 40])
expect(rgb[:, 0] == rgb[:, 2])
rgb = rgb[:, 0].T
check_colormap(sys.argv[1], rgb[30:-30])
expect((rgb[:30] == rgb[30]) & (rgb[-30:] == rgb[-31]), "beyond the range")
seen, first, fifth = read_frame("turned.nrrd").pixels.reshape(3, -1).T.astype(int), rgb[30], rgb[30 + STEPS * 5 // 6]
near, far, back = (np.abs(seen - v).max(1) <= 1 for v in (first, fifth, [77] * 3))
expect(near | far | back, np.unique(seen, axis=0))
expect(near.sum() > 300 and far.sum() > 1000 and back.sum() > 200, near.sum(), far.sum(), back.sum())
rows, columns = (near.reshape(200, 200).any(k).sum() for k in (1, 0))
expect(near.sum() > 0.95 * rows * columns, near.sum(), rows, columns)' $map
	done
	shade -c depth -r 200,980 "${flat[@]}" ramp.nrrd -o default.nrrd
	shade -c depth -m turbo -r 200,980 "${flat[@]}" ramp.nrrd -o turbo.nrrd
	py 'expect(read_frame("default.nrrd").pixels == read_frame("turbo.nrrd").pixels)'
}

@test "shade: colours are lit: depth and texture on a sphere of known normals" {
	py "$model"'
x, y, z, hole = sphere(121, 161, 70.0)
n = np.stack([x, y, -z], -1) / 70.0
z[hole] = np.nan
texture = 40 + x + 0.5 * y
write_frames("in.nrrd", Frame(np.stack([x, y, -z, n[..., 0], n[..., 1], n[..., 2], texture]).astype("f4"),
	["x", "y", "z", "nx", "ny", "nz", "texture"]))'
	shade -c depth -m viridis --range=-70,-20 in.nrrd -o depth.nrrd
	shade -c texture --range=-30,120 --light 20,10 in.nrrd -o texture.nrrd
	py "$model"'
from colormaps import *
x, y, z, hole = sphere(121, 161, 70.0)
n = np.stack([x, y, -z], -1) / 70.0
share = np.clip((70 - z) / 50, 0, 1) * 10
viridis = np.stack([np.interp(share, np.arange(11), np.array(VIRIDIS)[:, k] / 255) for k in range(3)])
grey = np.clip((40 + x + 0.5 * y + 30) / 150, 0, 1)
for file, want in (("depth.nrrd", phong(n, albedo=viridis)), ("texture.nrrd", phong(n, 20, 10, albedo=grey)[None])):
	p = read_frame(file).pixels.astype(float)
	expect(p[:, hole] == 32)
	expect(np.abs(p - want)[:, ~hole] <= 3, file, np.abs(p - want)[:, ~hole].max())'
}

@test "shade: without --range the colours run from the 1st to the 99th percentile of what is there" {
	py '
rng = np.random.default_rng(4)
d = rng.normal(0, 1, (40, 50)).astype("f4") ** 3; d[rng.random(d.shape) < 0.2] = np.nan
write_frames("in.nrrd", Frame(np.stack([d, -d]), ["depth", "texture"]))'
	for by in "depth -m gray" texture; do
		# shellcheck disable=SC2086
		shade -c $by --ambient 1 --diffuse 0 --specular 0 --jump 1e9 in.nrrd -o out.nrrd
		py '
v = read_frame("in.nrrd")[sys.argv[1].split()[0]].astype(float); p = read_frame("out.nrrd")["r"].astype(float)
there = np.sort(v[~np.isnan(v)])
low, high = there[there.size // 100], there[-1 - there.size // 100]
want = 255 * np.clip((v - low) / (high - low), 0, 1)
lit = ~np.isnan(v) & (p != 32)			# a point without a triangle has no normal
expect(lit.sum() > 1000 and (p[np.isnan(v)] == 32).all(), lit.sum())
expect(np.abs(p - want)[lit] <= 0.51, np.abs(p - want)[lit].max())
expect((p[lit] == 0).sum() >= there.size // 100 and (p[lit] == 255).sum() >= there.size // 100)' "$by"
	done
}

@test "shade: nothing but NaN is all background" {
	py 'write_frames("in.nrrd", Frame(np.full((5, 6), np.nan, "f4"), ["depth"]))'
	may_be_empty shade in.nrrd -o a.nrrd
	may_be_empty shade --view 10,10 in.nrrd -o b.nrrd
	py 'expect(read_frame("a.nrrd").pixels == 32); expect(read_frame("b.nrrd").pixels == 32)'
}

@test "shade: errors" {
	py 'write_frames("in.nrrd", Frame(np.zeros((2, 3, 3), "f4"), ["phase", "modulation"]))'
	fails 1 "channels x y z, or one of z, depth, height" shade in.nrrd -o a.png
	fails 2 "--view: wants two angles" shade --view 3 in.nrrd -o a.png
	fails 2 "--size: needs --view" shade -s 4x4 in.nrrd -o a.png
	fails 2 "--samples: needs --view" shade --samples 3 in.nrrd -o a.png
	fails 2 "--map: needs --colour depth" shade --map gray -c texture in.nrrd -o a.png
	fails 2 "--range: needs --colour depth or texture" shade -r 3,4 in.nrrd -o a.png
	fails 2 "--light: wants two angles" shade --light 3 in.nrrd -o a.png
	fails 2 "--range: wants two numbers" shade -r 3,3 in.nrrd -o a.png
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"]))'
	fails 1 "input has no channel texture" shade -c texture in.nrrd -o a.png
	[ ! -e a.png ]
}
