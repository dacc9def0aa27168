load helpers

model='
def lamp(az, el):
	az, el = np.radians([az, el])
	return np.array([np.sin(az) * np.cos(el), -np.sin(el), -np.cos(az) * np.cos(el)])

def phong(n, az=-40, el=40, a=.15, d=.75, s=.2, p=20, albedo=.9):
	"""n: (..., 3) unit normals that face the viewer (nz < 0); albedo: a number, or one per pixel."""
	l = lamp(az, el); cosine = n @ l
	towards = l[2] - 2 * cosine * n[..., 2]
	return 255 * np.minimum(1, albedo * (a + d * (.6 * np.maximum(cosine, 0) - .4 * n[..., 2])) +
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
	for view in "" "--view 20,10"; do
		# shellcheck disable=SC2086
		for file in away towards; do shade -c depth $view $file.nrrd -o $file-colours.nrrd; done
		framecmp away-colours.nrrd towards-colours.nrrd
	done
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
near, far = (p == 255).sum(), ((p == 42) | (p == 43)).sum()		# 255 * 10 / 60 = 42.5
back = (p == 32).sum()
expect(near + far + back == p.size, np.unique(p))
rows = np.where((p == 255).any(1))[0]; cols = np.where((p == 255).any(0))[0]
ratio = len(cols) / len(rows)				# cos 30
expect(abs(ratio - np.cos(np.radians(30))) < 0.06, ratio)
# behind it a gap of the far plane is seen: the hole that the square left, partly covered
expect(back > 200 and far > 1000, near, far, back)'
}

@test "shade: a view along the rows: what stands in front hides what is behind it" {
	# Two ridges along y, 10 and 20 high: from the lower one the higher one is seen above it, from the higher one it alone.
	py '
x = np.arange(200.)
z = -10 * np.exp(-((x - 60) / 9) ** 2) - 20 * np.exp(-((x - 140) / 9) ** 2) + 0 * np.arange(120.)[:, None]
texture = np.where(x < 100, 60, 180) + 0 * np.arange(120.)[:, None]
write_frames("in.nrrd", Frame(np.stack([z, texture]).astype("f4"), ["depth", "texture"]))'
	for view in -90,0 -89.99,0 90,0; do
		shade --view $view -c texture -r 0,255 --ambient 1 --diffuse 0 --specular 0 --samples 1 --jump 100 in.nrrd -f -o $view.nrrd
	done
	py '
for view, front, behind in ("-90,0", 60, 180), ("-89.99,0", 60, 180), ("90,0", 180, None):
	p = read_frame(view + ".nrrd")["r"].astype(int)
	columns = np.where((p != 32).any(0))[0]
	levels = [set(np.unique(p[8:-8, c])) - {32} for c in columns]
	expect(all(len(l) <= 1 for l in levels), view, levels)
	seen = [l.pop() for l in levels if l]
	ends = seen[2], seen[-3]			# without the edge of the picture
	if behind is None:
		expect(set(seen) == {front}, view, seen)
	else:
		share = seen.count(front) / len(seen)
		expect(set(seen) == {front, behind} and set(ends) == {front, behind}, view, seen)
		expect(abs(share - 0.5) < 0.03, view, share)'
}

@test "shade: a turned view has no gaps, and the same bytes at every level and number of threads" {
	py '
rng = np.random.default_rng(5)
y, x = np.mgrid[:150, :203].astype(float)
z = 9 * np.sin(x / 20) * np.cos(y / 17)
write_frames("smooth.nrrd", Frame(z.astype("f4"), ["depth"], {"spacings": "1 1"}))
write_frames("flat.nrrd", Frame((0 * z + 50).astype("f4"), ["depth"]))
z += 60 * (np.hypot(x - 90, y - 70) < 30) + rng.normal(size=z.shape)
for share, value in (.01, np.nan), (.002, np.inf), (.002, -3e38), (.002, 1e9):
	z[rng.random(z.shape) < share] = value
n = rng.normal(size=(3,) + z.shape)
n[:, rng.random(z.shape) < .01] = np.nan
n[0, rng.random(z.shape) < .01] = np.nan
texture = 99 + 50 * np.sin(x / 5)
texture[rng.random(z.shape) < .01] = np.nan
write_frames("hostile.nrrd", Frame(np.stack([z, *n, texture]).astype("f4"), ["depth", "nx", "ny", "nz", "texture"]))
x[rng.random(z.shape) < .01] = np.nan
write_frames("points.nrrd", Frame(np.stack([x, y, z, texture]).astype("f4"), ["x", "y", "z", "texture"]))
# a sheet that lies on itself: equal depths and normals, other textures
f = np.abs(x - 100.5), y, 0 * x, 0 * x, 0 * x, 0 * x - 1
write_frames("folded.nrrd", Frame(np.nan_to_num(np.stack([*f, 50 * np.sin(x)])).astype("f4"), "x y z nx ny nz texture".split()))'
	levels=$(cpu_levels)
	for view in 0,0 30,20 180,0 90,0; do
		for surface in smooth flat; do
			[[ $view != 90,0 ]] || continue
			shade --view $view --samples 1 $surface.nrrd -f -o a.nrrd
			py '
drawn = (read_frame("a.nrrd").pixels != 32).any(0)
inside = drawn[:-2, 1:-1] & drawn[2:, 1:-1] & drawn[1:-1, :-2] & drawn[1:-1, 2:]
expect(drawn.sum() > 5000, drawn.sum())
expect(~(inside & ~drawn[1:-1, 1:-1]), sys.argv[1], (inside & ~drawn[1:-1, 1:-1]).sum())' "$view $surface"
		done
		for frame in hostile points folded; do
			for samples in 1 2 3; do
				for words in "-c none" "-c depth" "-c texture --jump 30"; do
					if [[ $words = "-c depth" && $frame != hostile ]]; then words="-c depth -r -9,70"; fi
					# shellcheck disable=SC2086
					shade --view $view --samples $samples $words -j 1 $frame.nrrd -f -o a.nrrd
					for level in $levels; do
						# shellcheck disable=SC2086
						FRINGEPIPE_CPU=$level shade --view $view --samples $samples $words -j 3 $frame.nrrd -f -o b.nrrd
						cmp a.nrrd b.nrrd || { echo "$frame $view $samples $words $level"; return 1; }
					done
				done
			done
		done
	done
}

@test "shade: colours of a turned view do not depend on threads where pixels of mixed samples are as many as the limit" {
	py '
rng = np.random.default_rng(1)
y, x = np.mgrid[:150, :200]
for k in range(600, 720, 4):
	z = 20 * np.sin(x / 30) * np.cos(y / 25)
	z[20:32, 100:160] += (rng.normal(size=720) * 6 * (np.arange(720) < k)).reshape(12, 60)
	write_frames("in%d.nrrd" % k, Frame(z.astype("f4"), ["depth"]))'
	for frame in in*.nrrd; do
		shade --view 20,10 -c depth --jump 1000 -s 400x300 -j 1 "$frame" -f -o one.nrrd
		shade --view 20,10 -c depth --jump 1000 -s 400x300 -j 16 "$frame" | cmp one.nrrd -
	done
}

@test "shade: a turned surface far from the origin, or with infinite normals, looks as it does near it or without them" {
	py '
rng = np.random.default_rng(2)
y, x = np.mgrid[:90, :120].astype(float)
z = 8 * np.sin(x / 5) * np.cos(y / 7)
for far in 0, 1e6:
	at = np.stack([x + far, y + far, np.round(z * 16) / 16 + far])
	write_frames("at%d.nrrd" % far, Frame(at.astype("f4"), ["x", "y", "z"]))
lost = rng.random(z.shape) < .02
for value in np.nan, np.inf, 1e30:
	n = np.where(lost, value, 0 * x), np.where(lost, value, 0 * x), np.where(lost, value, 0 * x - 1)
	write_frames("n%g.nrrd" % value, Frame(np.stack([x, y, 0 * x + 5, *n]).astype("f4"), "x y z nx ny nz".split()))'
	for view in 0,0 30,20 90,0; do
		for frame in at0 at1000000 nnan ninf n1e+30; do shade --view $view $frame.nrrd -f -o $frame.$view.nrrd; done
		py '
def picture(name):
	return read_frame("%s.%s.nrrd" % (name, sys.argv[1])).pixels.astype(int)
off = np.abs(picture("at0") - picture("at1000000")).max(0)
expect((off > 1).mean() < 1e-3, sys.argv[1], (off > 1).sum())
for name in "ninf", "n1e+30":
	expect(picture(name) == picture("nnan"), sys.argv[1], name)' $view
	done
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
write_frames("ramp.nrrd", Frame(d, ["depth"], {"z_axis": "towards"}))
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
seen = read_frame("turned.nrrd").pixels.reshape(3, -1).T.astype(int)
at = (0, 5) if sys.argv[1] in ("phase", "deviation") else (6, 1)		# sixths of the map: the near square, the plane
near, far, back = (np.abs(seen - v).max(1) <= 1 for v in (*(rgb[30 + STEPS * k // 6] for k in at), [77] * 3))
expect(near | far | back, np.unique(seen, axis=0))
expect(near.sum() > 300 and far.sum() > 1000 and back.sum() > 200, near.sum(), far.sum(), back.sum())
rows, columns = (near.reshape(200, 200).any(k).sum() for k in (1, 0))
expect(near.sum() > 0.95 * rows * columns, near.sum(), rows, columns)' $map
	done
	shade -c depth -r 200,980 "${flat[@]}" ramp.nrrd -o default.nrrd
	shade -c depth -m viridis -r 200,980 "${flat[@]}" ramp.nrrd -o viridis.nrrd
	py 'expect(read_frame("default.nrrd").pixels == read_frame("viridis.nrrd").pixels)'
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
share = np.clip((z - 20) / 50, 0, 1) * 10			# the nearest has the last colour
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
want = want if sys.argv[1] == "texture" else 255 - want		# the nearest is white
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

@test "shade: a turned view without a triangle gets one line" {
	py '
far = 1e10 * np.random.default_rng(1).random((30, 40))
write_frames("row.nrrd", [Frame(np.ones((1, 50), "f4"), ["depth"])] * 3)
write_frames("far.nrrd", Frame(far.astype("f4"), ["depth"]))
write_frames("some.nrrd", Frame(np.pad(np.ones((2, 2), "f4"), 9, constant_values=np.nan), ["depth"]))'
	for samples in 1 2 3; do
		for frame in row far; do
			fails 0 "--view: the picture is empty: no three neighbours make a triangle with a normal" \
				shade --view 30,20 --samples $samples $frame.nrrd -f -o $frame%d.png
		done
		silent shade --view 30,20 --samples $samples some.nrrd -f -o some.png
	done
}

@test "shade: errors" {
	py 'write_frames("in.nrrd", Frame(np.zeros((2, 3, 3), "f4"), ["phase", "modulation"]))'
	fails 1 "channels x y z, or one of z, depth, height" shade in.nrrd -o a.png
	fails 2 "--view: must be two numbers, not 1" shade --view 3 in.nrrd -o a.png
	fails 2 "--size: needs --view" shade -s 4x4 in.nrrd -o a.png
	fails 2 "--samples: needs --view" shade --samples 3 in.nrrd -o a.png
	fails 2 "--map: needs --colour depth" shade --map gray -c texture in.nrrd -o a.png
	fails 2 "--range: needs --colour depth, texture or rgb" shade -r 3,4 in.nrrd -o a.png
	fails 2 "--light: must be two numbers, not 1" shade --light 3 in.nrrd -o a.png
	fails 2 "--range: wants two numbers" shade -r 3,3 in.nrrd -o a.png
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"]))'
	fails 1 "input has no channel texture" shade -c texture in.nrrd -o a.png
	[ ! -e a.png ]
}

@test "shade: a surface in its own colours: red, green and blue are each the grey of a texture" {
	py '
y, x = np.mgrid[:40, :70].astype(float)
z = 100 - 0.02 * (x - 35) ** 2 - 0.01 * (y - 20) ** 2
colour = [3.5 * x, 255 - 6 * y, 2 * x + y]
colour[1][5:9, 5:9] = np.nan
write_frames("rgb.nrrd", Frame(np.stack([z] + colour).astype("f4"), ["depth", "r", "g", "b"], {"max_value": "300"}))
for name, v in zip("rgb", colour):
	write_frames(name + ".nrrd", Frame(np.stack([z, v]).astype("f4"), ["depth", "texture"]))'
	for view in "" "--view 20,10"; do
		# shellcheck disable=SC2086
		shade --colour rgb $view rgb.nrrd -o all.nrrd -f
		for c in r g b; do
			# shellcheck disable=SC2086
			shade --colour texture --range 0,300 $view $c.nrrd -f -o $c.out.nrrd
		done
		py '
all = read_frame("all.nrrd")
for c in "rgb":
	expect(all[c] == read_frame(c + ".out.nrrd")[c], c)'
	done
	fails 2 "--bar: a surface in its own colours has no scale" shade --colour rgb --bar rgb.nrrd -o x.png
	fails 1 "r" shade --colour rgb r.nrrd -o x.png
	# of a grey that no colour says: white is 255
	framecat --delete max_value rgb.nrrd | shade --colour rgb -o white.nrrd
	shade --colour rgb --range 0,255 rgb.nrrd -o range.nrrd
	framecmp white.nrrd range.nrrd
	# colours from 0 to 1, of an image and of a table
	py 'f = read_frame("rgb.nrrd"); p = f.pixels.copy(); p[1:] /= np.nanmax(p[1:]); y, x = np.mgrid[:40, :70]
write_frames("unit.nrrd", Frame(p, f.names))
write_frames("unit.ply.nrrd", Frame(np.stack([x.ravel(), y.ravel(), *p.reshape(4, -1)]).astype("f4")[:, None], list("xyzrgb"), {"points": "2800"}))'
	for input in unit.nrrd "--view 20,10 unit.nrrd" unit.ply.nrrd; do
		# shellcheck disable=SC2086
		fails 0 "samples of r g b go from 0 to 1, and white is 255: the texture becomes black" shade --colour rgb $input -o x.nrrd
	done
}
