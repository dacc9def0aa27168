load helpers

# A colour camera beside a camera; r, g and b of its float picture are its columns, its rows and their sum, so that
# bilinear interpolation gives the place itself.
ramp='
from colour_rig import *
rig = Rig()
def ramp(size=COLOUR_SIZE, origin=(0, 0), bin=(1, 1)):
	y, x = np.mgrid[:size[1], :size[0]].astype("f4")
	x, y = origin[0] + (x + .5) * bin[0] - .5, origin[1] + (y + .5) * bin[1] - .5
	return np.stack([x, y, x + y]).astype("f4")
def inner(mask, n):		# pixels that are n pixels away from others, and from the border
	padded = np.pad(mask, n, constant_values=False)
	return np.lib.stride_tricks.sliding_window_view(padded, (2 * n + 1, 2 * n + 1)).all((2, 3))
def points(w, h, **more): return Frame(plane(w, h, **more), list("xyz"), {"length_unit": "mm"})
'

@test "texmap: the place in the picture, through the lens, at awkward sizes; other channels pass" {
	py "$ramp"'
rig.save("rig.json")
write_frames("ramp.nrrd", Frame(ramp(), list("rgb")))
frames = []
for w, h in (2, 2), (5, 7), (128, 64), (129, 65):
	P = plane(w, h)
	P[:, h // 2, w // 2] = np.nan if w > 2 else P[:, h // 2, w // 2]
	more = np.arange(2 * w * h, dtype="f4").reshape(2, h, w)
	frames.append(Frame(np.concatenate([more[:1], P, more[1:]]), ["sigma", "x", "y", "z", "mine"], {"length_unit": "mm"}))
write_frames("points.nrrd", frames)'
	silent texmap --calib rig.json --camera colour --image ramp.nrrd points.nrrd -o out.nrrd
	py "$ramp"'
for a, b in zip(read_frames("points.nrrd"), read_frames("out.nrrd")):
	expect(b.names == a.names + ["r", "g", "b"], b.names)
	expect((a.pixels == b.pixels[:5]) | np.isnan(a.pixels), "channels that pass")
	P = np.stack([a[k] for k in "xyz"]).astype(float)
	u, v = rig.project(P)
	inside = (u >= 0) & (v >= 0) & (u <= COLOUR_SIZE[0] - 1) & (v <= COLOUR_SIZE[1] - 1)
	expect(inside.sum() > .9 * inside.size - 2, inside.mean())
	lone = np.isnan(P[0])
	expect(np.isnan(b["r"]) == np.isnan(b["g"])); expect(np.isnan(b["r"][lone]) if lone.any() else True)
	e = np.abs(np.stack([b["r"] - u, b["g"] - v, b["b"] - u - v]))
	# at the border of the surface, and of its hole, only the pixels that see it count
	whole = inside & inner(~lone, 2)
	expect(e[:, whole] < 2e-4 if whole.any() else True, a.pixels.shape, e[:, whole].max(initial=0), np.isnan(e[:, whole]).sum())
	expect(e[:, inside & ~lone] < 2, a.pixels.shape, np.nanmax(e[:, inside & ~lone]))
	expect(b.meta["max_value"] == "255", b.meta)'
}

@test "texmap: pictures that were cut out and binned; the border pixels reach to their outer edges" {
	py "$ramp"'
rig.save("rig.json")
write_frames("cut.nrrd", Frame(ramp((70, 50), (60, 50), (2, 2)), list("rgb"), {"origin_px": "60 50", "bin": "2"}))
write_frames("bare.nrrd", Frame(ramp((140, 100), (60, 50)), list("rgb")))
write_frames("points.nrrd", points(120, 90, step=3))'
	silent texmap --calib rig.json --camera colour --image cut.nrrd points.nrrd -o cut.out.nrrd
	silent texmap --calib rig.json --camera colour --image bare.nrrd --origin 60,50 points.nrrd -o bare.out.nrrd
	fails 1 "--image: the picture, 140x100 px, has another size than the calibration's camera, 240x180 px: if it is cut out say where, by --origin" \
		texmap --calib rig.json --camera colour --image bare.nrrd points.nrrd -o no.nrrd
	fails 1 "does not lie on the calibration's camera" texmap --calib rig.json --camera colour --image bare.nrrd --origin 160,50 points.nrrd
	fails 1 "says 6,5, and the frame itself says origin_px 60 50" \
		texmap --calib rig.json --camera colour --image cut.nrrd --origin 6,5 points.nrrd
	py "$ramp"'
P = read_frame("points.nrrd").pixels.astype(float)
u, v = rig.project(P)
for name, bin in ("cut", 2), ("bare", 1):
	b = read_frame(name + ".out.nrrd")
	has = np.isfinite(b["r"])
	inside = (u > 59.5) & (u < 199.5) & (v > 49.5) & (v < 149.5)
	expect(has == inside, name, (has != inside).sum(), inside.sum())
	low, high = np.array([60, 50]) + bin / 2 - .5, np.array([200, 150]) - bin / 2 - .5
	e = np.hypot(b["r"] - np.clip(u, low[0], high[0]), b["g"] - np.clip(v, low[1], high[1]))[has]
	far = inner(np.isfinite(u), 3)[has]		# from the border of the surface
	expect(e[far] < 2e-4, name, e[far].max()); expect(far.sum() > 1000)'
}

@test "texmap: a checker on relief, sphere and steps, seen by a third camera: colours away from edges, none on the hidden side" {
	py "$ramp"'
rig.save("left.json")
Rig((330, 30, 10)).save("right.json")'
	for case in relief:left: sphere:left:--radius=60 steps:right:; do
		IFS=: read -r scene side more <<<"$case"
		file=$side.json
		# shellcheck disable=SC2206 # an option or none
		sim=(fringesim --calib "$file" --scene "$scene" --distance 600 --field 380 --height 60 $more --paint checker)
		silent "${sim[@]}" --view cam --truth $scene.nrrd -o null:
		silent "${sim[@]}" --view colour --picture -o $scene.png
		silent texmap --calib "$file" --camera colour --image $scene.png $scene.nrrd -o $scene.out.nrrd
		texmap --calib "$file" --camera colour --image $scene.png $scene.nrrd -j 1 | cmp - $scene.out.nrrd
	done
	py "$ramp"'
from PIL import Image
for scene, center in ("relief", (-220, 30, 10)), ("sphere", (-220, 30, 10)), ("steps", (330, 30, 10)):
	rig = Rig(center)
	t, o = read_frame(scene + ".nrrd"), read_frame(scene + ".out.nrrd")
	P = np.stack([t[k] for k in "xyz"]).astype(float)
	u, v = rig.project(P)
	got, true = (np.stack([f[k] for k in "rgb"]).astype(float) for f in (o, t))
	has = np.isfinite(got[0])
	y, x = np.mgrid[:SIZE[1], :SIZE[0]].astype(float)
	picture = np.asarray(Image.open(scene + ".png")).astype(float)[:, :, 0]
	low, high = around(picture, u, v, 1)
	near, far = around(true[0], x, y, 1)
	away = has & (low == high) & (near == far)		# from edges of the paint, in the picture and on the surface
	away[:2] = away[-2:] = False			# what hides these may lie outside of the frame
	e = np.abs(got - 200 * true).max(0)
	expect(away.sum() > 8000, scene, away.sum()); expect(e[away] <= 2, scene, e[away].max(), (e[away] > 2).sum())
	inside = (u >= 0) & (v >= 0) & (u <= COLOUR_SIZE[0] - 1) & (v <= COLOUR_SIZE[1] - 1)
	# the scene is 380 mm wide about the axis, its heights count from the plane at 600 mm towards the camera
	d = np.array(center)[:, None, None] - P
	hidden = np.zeros(has.shape, bool)
	if scene == "steps":
		for i in range(1, 5):
			s = ((i / 5 - .5) * 380 - P[0]) / d[0]
			height = 600 - P[2] - s * d[2]
			hidden |= (s > 1e-9) & (s < 1) & (height > 15 * (i - 1) + 1e-6) & (height < 15 * i - 1e-6)
	if scene == "sphere":		# a half sphere of 60 mm on the plane
		s = P - np.array([0, 0, 600])[:, None, None]
		A, B, C = (d * d).sum(0), (s * d).sum(0), (s * s).sum(0) - 60**2
		root = B * B - A * C
		t = (-B + np.sqrt(np.maximum(root, 0))) / A
		hidden = (root > 0) & (t > 1e-6) & (t < 1)
	hidden[:2] = hidden[-2:] = False
	expect(scene == "relief" or hidden.sum() > 150, scene, hidden.sum())
	expect((hidden & has).sum() == 0, scene, "hidden points with a colour", (hidden & has).sum(), "of", hidden.sum())
	expect(has[inside & ~hidden].mean() > .9, scene, has[inside & ~hidden].mean())'
}

@test "texmap: no hidden point of steps has a colour, from any side; of those in sight 96 % and more have one" {
	for center in 244,-110,-97 233,72,16 280,100,-50 -223,79,-70; do
		py "from colour_rig import *
Rig(($center), scale=2).save('rig.json')
write_frames('picture.nrrd', Frame(np.full((1, 360, 480), 128, 'u1')))"
		silent fringesim --calib rig.json --view cam --scene steps --distance 600 --field 380 --height 60 --truth steps.nrrd -o null:
		silent texmap --calib rig.json --camera colour --image picture.nrrd steps.nrrd -o out.nrrd
		py "center = ($center)"'
t, o = read_frame("steps.nrrd"), read_frame("out.nrrd")
P = np.stack([t[k] for k in "xyz"]).astype(float)
d = np.array(center)[:, None, None] - P
hidden = np.zeros(P[0].shape, bool)
for i in range(1, 5):		# risers 15 mm high, 380 mm / 5 apart
	s = ((i / 5 - .5) * 380 - P[0]) / d[0]
	height = 600 - P[2] - s * d[2]
	hidden |= (s > 1e-9) & (s < 1) & (height > 15 * (i - 1) + 1e-6) & (height < 15 * i - 1e-6)
inner = np.s_[6:-6]		# what hides the outer rows may lie outside of the frame
has, hidden = np.isfinite(o["r"])[inner], hidden[inner]
expect((hidden & has).sum() == 0, (hidden & has).sum(), "of", hidden.sum(), "hidden points have a colour")
expect(hidden.sum() > 3000 if center[0] > 0 else hidden.sum() == 0, hidden.sum())
expect(has[~hidden].mean() > .96, has[~hidden].mean())'
	done
}

@test "texmap: a cloud without order: colours as of the paint, no hidden point has one, whatever lies alone hides nothing" {
	for case in steps:280,100,-50:.92 sphere:-220,30,10:.98; do
		IFS=: read -r scene center least <<<"$case"
		more=(); [ $scene != sphere ] || more=(--radius 60)
		py "from colour_rig import *
Rig(($center), scale=2).save('rig.json')"
		sim=(fringesim --calib rig.json --scene $scene --distance 600 --field 380 --height 60 "${more[@]}" --paint checker)
		silent "${sim[@]}" --view cam --truth truth.nrrd -o null:
		silent "${sim[@]}" --view colour --picture -o picture.png
		# half of the points, noise of 0.1 mm along the rays, one row in ten not a point, and ten far off, before the surface
		py 'rng = np.random.default_rng(3)
f = read_frame("truth.nrrd")
p = np.stack([f[c][6:-6].ravel() for c in "xyzrgb"]).astype(float)
p = p[:, rng.permutation(p.shape[1])[:32000]]
np.save("good.npy", p)
p[:3] *= 1 + rng.normal(0, .1, p.shape[1]) / np.linalg.norm(p[:3], axis=0)
p[:, ::10] = np.nan
p[:3, :10] = np.stack([np.linspace(-90, 90, 10), rng.uniform(-60, 60, 10), rng.uniform(300, 400, 10)])
write_frames("cloud.nrrd", Frame(p[:3, None].astype("f4"), list("xyz"), {"points": str(p.shape[1]), "length_unit": "mm"}))'
		silent texmap --calib rig.json --camera colour --image picture.png cloud.nrrd -o out.nrrd
		texmap -j 1 --calib rig.json --camera colour --image picture.png cloud.nrrd | cmp - out.nrrd
		py "scene, center, least = '$scene', ($center), $least"'
from PIL import Image
from colour_rig import *
rig = Rig(center, scale=2)
p, o = np.load("good.npy"), read_frame("out.nrrd")
P, got = p[:3], np.stack([o[c].ravel() for c in "rgb"]).astype(float)
has = np.isfinite(got[0])
expect(not has[:10].any() and not has[::10].any(), has[:10], has[::10].sum())
there = np.ones(len(has), bool); there[:10] = there[::10] = False
u, v = rig.project(P)
d = np.array(center)[:, None] - P
hidden = np.zeros(len(has), bool)
if scene == "steps":
	for i in range(1, 5):
		s = ((i / 5 - .5) * 380 - P[0]) / d[0]
		height = 600 - P[2] - s * d[2]
		hidden |= (s > 1e-9) & (s < 1) & (height > 15 * (i - 1) + 1e-6) & (height < 15 * i - 1e-6)
else:
	s = P - np.array([0, 0, 600])[:, None]
	A, B, C = (d * d).sum(0), (s * d).sum(0), (s * s).sum(0) - 60**2
	t = (-B + np.sqrt(np.maximum(B * B - A * C, 0))) / A
	hidden = (B * B > A * C) & (t > 1e-6) & (t < 1)
w, h = rig.colour_size
inside = there & (u >= 0) & (v >= 0) & (u <= w - 1) & (v <= h - 1)
picture = np.asarray(Image.open("picture.png")).astype(float)[:, :, 0]
i, j = np.clip(np.floor(u), 1, w - 3).astype(int), np.clip(np.floor(v), 1, h - 3).astype(int)
around = np.stack([picture[j + a, i + b] for a in range(-1, 3) for b in range(-1, 3)])
away = has & inside & (around.min(0) == around.max(0))
e = np.abs(got - 200 * p[3:]).max(0)
expect(away.sum() > 10000 and (e[away] > 2).sum() <= 1, scene, away.sum(), (e[away] > 2).sum())
# a hole that every tenth point leaves may show one
expect(hidden[there].sum() > 250 and (hidden & has).sum() <= 1, scene, (hidden & has).sum(), "of", hidden.sum())
expect(has[inside & ~hidden].mean() > least, scene, has[inside & ~hidden].mean())'
	done
}

@test "texmap: a cloud of all sides: none of the far side is coloured; normals of the table; tables that tell nothing" {
	py 'rng = np.random.default_rng(1)
n = rng.normal(size=(3, 40000)); n /= np.linalg.norm(n, axis=0)
p = 60 * n + np.array([0, 0, 600])[:, None]
def save(name, p, names): write_frames(name, Frame(p[:, None].astype("f4"), names, {"points": str(p.shape[1])}))
save("ball.nrrd", p, list("xyz")); save("normals.nrrd", np.r_[p, n], "x y z nx ny nz".split())
# the same points again are no neighbours, and zeros for holes say nothing
save("thrice.nrrd", np.tile(p, 3)[:, rng.permutation(120000)], list("xyz"))
save("zeros.nrrd", np.c_[p, np.zeros((3, 50000))], list("xyz"))
spot = np.r_[rng.normal(0, .01, (2, 20000)), np.full((1, 20000), 600)]
wide = np.r_[rng.uniform(-100, 100, (2, 6000)), np.full((1, 6000), 600)]
save("uneven.nrrd", np.c_[spot, wide], list("xyz"))
save("inward.nrrd", np.r_[p, -n], "x y z nx ny nz".split()); save("few.nrrd", p[:, :8], list("xyz"))
save("line.nrrd", np.array([np.linspace(-50, 50, 500), 0 * np.arange(500), 600 + 0 * np.arange(500)]), list("xyz"))
write_frames("picture.nrrd", Frame(np.full((3, 240, 320), 70, "u1"), list("rgb")))
open("camera.json", "w").write("{\"camera_K\": [500,0,159.5, 0,500,119.5, 0,0,1], \"camera_size\": [320,240]}")'
	map=(texmap --calib camera.json --image picture.nrrd)
	for name in ball normals thrice zeros; do silent "${map[@]}" $name.nrrd -o $name.out.nrrd; done
	py '
for name in "ball", "normals", "thrice", "zeros":
	f = read_frame(name + ".out.nrrd")
	p = np.stack([f[c].ravel() for c in "xyz"]).astype(float)
	is_point = p.any(0)
	p, has = p[:, is_point], np.isfinite(f["r"].ravel())[is_point]
	n = (p - np.array([0, 0, 600])[:, None]) / 60
	cosine = -(n * p).sum(0) / np.linalg.norm(p, axis=0)
	expect(not has[cosine < .05].any(), name, has[cosine < 0].sum(), cosine[has].min())
	expect(has[cosine > .3].mean() > .999, name, has[cosine > .3].mean())'
	"${map[@]}" uneven.nrrd -o uneven.out.nrrd 2>&1 | has "of 26000 points have too few others around them"
	fails 1 "the camera sees none of 40000 points: " "${map[@]}" inward.nrrd -o x.nrrd
	fails 1 "8 points are too few to tell how dense they are" "${map[@]}" few.nrrd -o x.nrrd
	fails 1 "500 without neighbours" "${map[@]}" line.nrrd -o x.nrrd
	fails 1 "--supersample: wants ordered points" "${map[@]}" --supersample ball.nrrd -o x.nrrd
	fails 1 "--image: is a table, not a picture" texmap --calib camera.json --image ball.nrrd ball.nrrd -o x.nrrd
	[ ! -e x.nrrd ]
	py 'write_frames("none.nrrd", Frame(np.full((3, 1, 1), np.nan, "f4"), list("xyz"), {"points": "0"}))'
	"${map[@]}" none.nrrd -o none.out.nrrd
	frameinfo none.out.nrrd | has "points:=0"
}

@test "texmap: pictures of 8, 12 and 16 bits, of floats, grey ones and alpha; PLY and OBJ take them as vertex colours" {
	py "$ramp"'
from PIL import Image
rig.save("rig.json")
x = np.linspace(0, 1, COLOUR_SIZE[0])[None] + np.zeros(COLOUR_SIZE[::-1])[..., None][:, :, 0] * 0
p = np.stack([x, 1 - x, x / 2])
def save(name, pixels, names, **meta): write_frames(name + ".nrrd", Frame(pixels, names, meta))
save("u8", np.round(255 * p).astype("u1"), list("rgb"))
save("u16", np.round(65535 * p).astype("<u2"), list("rgb"))
save("u12", np.round(4095 * p).astype("<u2"), list("rgb"), max_value="4095")
save("f1", p.astype("f4"), list("rgb"))
save("f255", (255 * p).astype("f4"), list("rgb"))
save("f2", (2 * p).astype("f4"), list("rgb"))
save("grey", np.round(255 * p[:1]).astype("u1"), ["image"])
save("veiled", np.concatenate([np.round(255 * p[:1]), np.full_like(p[:1], 255)]).astype("u1"), ["image", "a"])
hole = p.astype("f4"); hole[1, :, 100:120] = np.nan
save("nan", hole, list("rgb"))
alpha = np.where(np.arange(COLOUR_SIZE[0]) // 20 == 5, 0, 9) + np.zeros(p.shape[1:])
save("alpha", np.concatenate([np.round(255 * p), alpha[None]]).astype("u1"), list("rgba"))
write_frames("points.nrrd", Frame(plane(60, 50, step=3), list("xyz"), {"length_unit": "mm", "max_value": "4095"}))'
	for name in u8 u16 u12 f1 f255 grey veiled alpha nan; do
		silent texmap --calib rig.json --camera colour --image $name.nrrd points.nrrd -o $name.out.nrrd
		framecat --ascii $name.out.nrrd -o $name.ply
		framecat $name.out.nrrd -o $name.obj
	done
	silent texmap --calib rig.json --camera colour --image f2.nrrd --max-value 2 points.nrrd -o f2.out.nrrd
	framecat --ascii f2.out.nrrd -o f2.ply
	framecat f2.out.nrrd -o f2.obj
	py "$ramp"'
u, v = rig.project(read_frame("points.nrrd").pixels.astype(float))
want = np.stack([u, COLOUR_SIZE[0] - 1 - u, u / 2]) / (COLOUR_SIZE[0] - 1)
for name, white in dict(u8=255, u16=65535, u12=4095, f1=1, f255=255, grey=255, veiled=255, alpha=255, nan=1, f2=2).items():
	o = read_frame(name + ".out.nrrd")
	expect(o.meta["max_value"] == str(white), name, o.meta["max_value"])
	got, true = np.stack([o[k] for k in "rgb"]), white * (want if name not in ("grey", "veiled") else want[[0, 0, 0]])
	has = np.isfinite(got[0])
	expect(np.isnan(got) == ~has)
	whole = inner(has, 2) & ((u < 97) | (u > 122))
	expect(np.abs(got - true)[:, whole] <= .51 + 1e-4 * white if white > 2 else np.abs(got - true)[:, whole] < .02,
		name, np.abs(got - true)[:, whole].max())
	blank = (u > 100) & (u < 119) if name in ("alpha", "nan") else np.zeros(u.shape, bool)
	expect(~has[blank] if blank.any() else True, name); expect(has[~blank & (np.abs(u - 109.5) > 12)].all(), name)
	level = np.where(has, np.clip(true / white, 0, 1), 0).reshape(3, -1).T
	lines = open(name + ".ply").read().split("end_header\n")[1].splitlines()[:u.size]
	ply = np.array([l.split()[3:6] for l in lines], float)
	obj = np.array([l.split()[4:7] for l in open(name + ".obj") if l.startswith("v ")], float)
	sure = (inner(~has, 1) | whole).ravel()
	expect(np.abs(ply - 255 * level)[sure] <= 2.2, name, np.abs(ply - 255 * level)[sure].max())
	expect(np.abs(obj - level)[sure] <= .01, name, np.abs(obj - level)[sure].max())'
	grep -q '^property uchar red' u16.ply
}

@test "texmap --supersample: the mean over a point's piece of the surface" {
	py "$ramp"'
rig = Rig(dist=[0] * 5, f=900)
rig.save("rig.json")
rng = np.random.default_rng(3)
x = np.arange(COLOUR_SIZE[0])
noise = (100 + 20 * rng.normal(size=(3,) + COLOUR_SIZE[::-1])).astype("f4")
write_frames("noise.nrrd", Frame(noise, list("rgb")))
write_frames("ramp.nrrd", Frame(ramp(), list("rgb")))
write_frames("points.nrrd", points(30, 24, step=4))
write_frames("fine.nrrd", points(300, 240, step=.4))'
	for picture in noise ramp; do
		silent texmap --calib rig.json --camera colour --image $picture.nrrd points.nrrd -o $picture.plain.nrrd
		silent texmap --calib rig.json --camera colour --image $picture.nrrd --supersample points.nrrd -o $picture.super.nrrd
	done
	texmap --calib rig.json --camera colour --image noise.nrrd --supersample fine.nrrd | framecmp - \
		<(texmap --calib rig.json --camera colour --image noise.nrrd fine.nrrd)
	py "$ramp"'
rig = Rig(dist=[0] * 5, f=900)
P = read_frame("points.nrrd").pixels.astype(float)
u, v = rig.project(P)
inner = (u > 8) & (u < COLOUR_SIZE[0] - 9) & (v > 8) & (v < COLOUR_SIZE[1] - 9)
inner[0] = inner[-1] = False; inner[:, 0] = inner[:, -1] = False
a, b = read_frame("ramp.plain.nrrd"), read_frame("ramp.super.nrrd")
expect(inner.sum() > 300, inner.sum())
expect(np.abs(a["r"] - b["r"])[inner] < .1, np.abs(a["r"] - b["r"])[inner].max())
a, b = (np.stack([read_frame("noise.%s.nrrd" % k)[c][inner] for c in "rgb"]) for k in ("plain", "super"))
pixels = 6 * 6		# a point has some 6 x 6 pixels of the picture
expect(a.std() > 8, a.std()); expect(b.std() < 1.3 * 20 / np.sqrt(pixels), b.std()); expect(abs(b.mean() - 100) < 1, b.mean())'
}

@test "texmap --grazing and --jump; normals that ride along; what faces away" {
	py "$ramp"'
rig = Rig((0, 0, 0), dist=[0] * 5, f=200)
rig.save("rig.json")
write_frames("ramp.nrrd", Frame(ramp(), list("rgb")))
def wall(degrees):		# a plane turned about the y axis
	y, x = np.mgrid[:40, :40].astype(float); t = np.radians(degrees)
	return np.stack([(x - 20) * 2 * np.cos(t), (y - 20) * 2, 600 + (x - 20) * 2 * np.sin(t)]).astype("f4")
for d in 0, 60, 70, 100: write_frames("wall%d.nrrd" % d, Frame(wall(d), list("xyz")))
n = np.zeros((3, 40, 40), "f4"); n[2] = -1; n[2, :, 20:] = 1
write_frames("normals.nrrd", Frame(np.concatenate([wall(0), n]), ["x", "y", "z", "nx", "ny", "nz"]))
# a small plate 15 mm before a plane
p = wall(0); p[:, 15:25, 15:25] *= 585 / 600
write_frames("plate.nrrd", Frame(p, list("xyz")))'
	map=(texmap --calib rig.json --camera colour --image ramp.nrrd)
	silent "${map[@]}" wall70.nrrd -o wall70.out.nrrd
	fails 1 "sees none of 1600 points: 0 behind it or beyond its lens, 0 outside of its picture, 0 without neighbours, 1600 face away or are grazed, 0 hidden" \
		"${map[@]}" wall100.nrrd -o no.nrrd
	fails 1 "1600 face away or are grazed" "${map[@]}" --grazing 50 wall60.nrrd -o no.nrrd
	silent "${map[@]}" --grazing 70 wall60.nrrd -o wall60.out.nrrd
	silent "${map[@]}" normals.nrrd -o normals.out.nrrd
	py "$ramp"'Rig((150, 0, 0), dist=[0] * 5, f=200).save("side.json")'
	silent texmap --calib side.json --camera colour --image ramp.nrrd plate.nrrd -o plate.out.nrrd
	silent texmap --calib side.json --camera colour --image ramp.nrrd --jump 20 plate.nrrd -o loose.out.nrrd
	py '
expect(np.isfinite(read_frame("wall70.out.nrrd")["r"])); expect(np.isfinite(read_frame("wall60.out.nrrd")["r"]))
got = np.isfinite(read_frame("normals.out.nrrd")["r"])
expect(got[:, :20]); expect(~got[:, 20:])
strict, loose = (np.isfinite(read_frame(n)["r"]) for n in ("plate.out.nrrd", "loose.out.nrrd"))
expect(loose); hidden = ~strict
expect(hidden[16:24, 13:15], np.argwhere(hidden))	# beside the plate, away from the camera
for part in hidden[:12], hidden[28:], hidden[:, :11], hidden[16:24, 16:24], hidden[:, 28:]:
	expect(~part, np.argwhere(hidden))'
}

@test "texmap: one picture for all frames, or a stream in step" {
	py "$ramp"'
rig.save("rig.json")
write_frames("points.nrrd", [points(20, 16 + k) for k in range(3)])
write_frames("one.nrrd", Frame(np.full((1,) + COLOUR_SIZE[::-1], 7, "u1")))
write_frames("three.nrrd", [Frame(np.full((1,) + COLOUR_SIZE[::-1], k, "u1")) for k in range(3)])
write_frames("two.nrrd", [Frame(np.full((1,) + COLOUR_SIZE[::-1], k, "u1")) for k in range(2)])
write_frames("four.nrrd", [Frame(np.full((1,) + COLOUR_SIZE[::-1], k, "u1")) for k in range(4)])'
	map=(texmap --calib rig.json --camera colour)
	silent "${map[@]}" --image one.nrrd points.nrrd -o one.out.nrrd
	silent "${map[@]}" --image three.nrrd points.nrrd -o three.out.nrrd
	"${map[@]}" --image three.nrrd -j 1 points.nrrd | cmp - three.out.nrrd
	"${map[@]}" --image three.nrrd <points.nrrd >piped.nrrd
	fringepipe -j 7 "${map[@]}" --image three.nrrd <points.nrrd | cmp - piped.nrrd
	fails 1 "two.nrrd: has only 2 frames for --image, the input has more" "${map[@]}" --image two.nrrd points.nrrd -o no.nrrd
	fails 1 "four.nrrd: has more frames for --image than the input, which ends after 3" "${map[@]}" --image four.nrrd points.nrrd -o no.nrrd
	[ ! -e no.nrrd ]
	py '
for name, levels in ("one", [7, 7, 7]), ("three", [0, 1, 2]):
	for f, level in zip(read_frames(name + ".out.nrrd"), levels):
		expect(np.abs(f["g"] - level) < 1e-5, name, level, f["g"])'
}

@test "texmap: two cameras of different sizes in one pair" {
	py "$ramp"'
rig.save("sizes.json", devices=None, camera_size=None, image_size1=SIZE, image_size2=COLOUR_SIZE)
rig.save("one.json", devices=None)		# camera_size is that of both
rig.save("devices.json")
write_frames("picture.nrrd", Frame(ramp(), list("rgb")))
write_frames("points.nrrd", points(20, 16))
write_frames("small.nrrd", Frame(ramp(SIZE), list("rgb")))'
	silent texmap --calib sizes.json --camera right --image picture.nrrd points.nrrd -o out.nrrd
	silent texmap --calib sizes.json --camera left --image small.nrrd points.nrrd -o out.nrrd
	fails 1 "has another size than the calibration's camera, 240x180 px" \
		texmap --calib sizes.json --camera right --image small.nrrd points.nrrd -o no.nrrd
	fails 1 "has another size than the calibration's camera, 160x120 px" \
		texmap --calib one.json --camera right --image picture.nrrd points.nrrd -o no.nrrd
	silent texmap --calib devices.json --camera colour --image picture.nrrd points.nrrd -o out.nrrd
	# rectify takes the right camera's size from its device
	py 'write_frames("right.nrrd", Frame(np.ones((1, 180, 240), "f4")))'
	rectify --calib devices.json --side right right.nrrd -o rectified.nrrd
}

@test "texmap: a picture of another camera gets a line where the surface shows edges, and none where it has no print" {
	py "$ramp"'
rig.save("rig.json")
Rig((330, 30, 10)).save("other.json"); Rig((-180, 30, 10)).save("near.json")'
	for paint in checker none; do
		sim=(fringesim --calib rig.json --scene relief --distance 600 --field 380 --height 60 --paint $paint)
		[ $paint = checker ] || sim=("${sim[@]:0:9}")
		"${sim[@]}" --view cam -n 4 -p 60 --gray half --noise 1 | fringepipe -q phasewrap --min-amplitude 8 , unwrap2f , \
			phase2depth --calib rig.json -o $paint.nrrd
		"${sim[@]}" --view colour --picture -o $paint.png
		silent texmap --calib rig.json --camera colour --image $paint.png $paint.nrrd -o out.nrrd
	done
	for calib in other near; do
		fails 0 "--image: shows other edges on the surface than the points' own picture (correlation 0." \
			texmap --calib $calib.json --camera colour --image checker.png checker.nrrd -o out.nrrd
	done
	silent texmap --calib other.json --camera colour --image none.png none.nrrd -o out.nrrd
}

@test "texmap: errors" {
	py "$ramp"'
rig.save("rig.json")
rig.save("metres.json", length_unit="m")
rig.save("pair.json", devices=None)
json.dump(dict(camera_K=[250, 0, 80, 0, 250, 60, 0, 0, 1], camera_size=[160, 120]), open("single.json", "w"))
json.dump(dict(camera_K=[250, 0, 80, 0, 250, 60, 0, 0, 1], camera_size=COLOUR_SIZE, camera_R=np.eye(3).ravel().tolist(),
	camera_T_mm=[0, 0, -900]), open("away.json", "w"))
write_frames("picture.nrrd", Frame(ramp(), list("rgb")))
write_frames("two.nrrd", Frame(ramp()[:2], ["u", "v"]))
write_frames("points.nrrd", points(20, 16))
write_frames("row.nrrd", points(20, 1))
write_frames("table.nrrd", Frame(plane(20, 1), list("xyz"), {"points": "20"}))
write_frames("depth.nrrd", Frame(np.ones((4, 4), "f4"), ["depth"]))
write_frames("empty.nrrd", Frame(plane(4, 4) * np.nan, list("xyz")))
write_frames("scaled.nrrd", Frame(plane(4, 4), list("xyz"), {"sample_scale": "2"}))'
	fails 2 "--calib: is needed" texmap --image picture.nrrd points.nrrd
	fails 2 "--image: is needed" texmap --calib rig.json points.nrrd
	fails 2 "--origin: must be two numbers, not 1" texmap --calib rig.json --camera colour --image picture.nrrd --origin 3 points.nrrd
	fails 2 "--grazing: must be 1 to 90" texmap --calib rig.json --camera colour --image picture.nrrd --grazing 100 points.nrrd
	fails 1 "rig.json: has 2 cameras, cam, colour: say which one took the picture, by --camera" texmap --calib rig.json --image picture.nrrd points.nrrd
	fails 1 "rig.json: has no device color; its devices: cam, projector, colour" texmap --calib rig.json --camera color --image picture.nrrd points.nrrd
	fails 1 "rig.json: projector is a projector" texmap --calib rig.json --camera projector --image picture.nrrd points.nrrd
	fails 1 "pair.json: has two cameras: say which one took the picture, by --camera left or right" texmap --calib pair.json --image picture.nrrd points.nrrd
	fails 1 "pair.json: has no camera colour: its two are left and right" texmap --calib pair.json --camera colour --image picture.nrrd points.nrrd
	fails 1 "single.json: has no camera colour: its only camera has no name" texmap --calib single.json --camera colour --image picture.nrrd points.nrrd
	fails 1 "has another size than the calibration's camera, 160x120 px" texmap --calib single.json --image picture.nrrd points.nrrd
	fails 1 "the points are in mm (key length_unit), the calibration's lengths in m" texmap --calib metres.json --camera colour --image picture.nrrd points.nrrd
	fails 1 "sees none of 320 points: 320 behind it" texmap --calib away.json --image picture.nrrd points.nrrd
	fails 1 "sees none of 20 points" texmap --calib rig.json --camera colour --image picture.nrrd row.nrrd
	fails 1 "20 without neighbours" texmap --calib rig.json --camera colour --image picture.nrrd table.nrrd
	fails 1 "depth" texmap --calib rig.json --camera colour --image picture.nrrd depth.nrrd
	fails 1 "scale" texmap --calib rig.json --camera colour --image picture.nrrd scaled.nrrd
	fails 1 "--image: has 2 channels, u v: wanted are r g b, or a single one, and alpha" texmap --calib rig.json --camera colour --image two.nrrd points.nrrd
	fails 1 "nothing.json" texmap --calib nothing.json --camera colour --image picture.nrrd points.nrrd
	fails 1 "nothing.nrrd" texmap --calib rig.json --camera colour --image nothing.nrrd points.nrrd
	head -c -7 points.nrrd >torn.nrrd
	fails 1 "torn.nrrd" texmap --calib rig.json --camera colour --image picture.nrrd torn.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
}

@test "texmap: beyond the reach of the lens model, which folds back, nothing is seen" {
	py "$ramp"'
rig = Rig((0, 0, 0), dist=[-.4, 0, 0, 0, 0], f=330)
rig.save("rig.json")
write_frames("ramp.nrrd", Frame(ramp(), list("rgb")))
P = plane(400, 20, step=5, slope=0)
write_frames("points.nrrd", Frame(P, list("xyz")))
u, v = rig.project(P.astype(float))
X = np.tensordot(rig.R, P.astype(float), 1) + rig.T[:, None, None]
r = np.hypot(X[0], X[1]) / X[2]
inside = (u >= 0) & (u < COLOUR_SIZE[0] - 1) & (v >= 0) & (v < COLOUR_SIZE[1] - 1)
expect((inside & (r > .92)).sum() > 100, "the model folds into the picture")'
	silent texmap --calib rig.json --camera colour --image ramp.nrrd points.nrrd -o out.nrrd
	py "$ramp"'
rig = Rig((0, 0, 0), dist=[-.4, 0, 0, 0, 0], f=330)
P = read_frame("points.nrrd").pixels.astype(float)
X = np.tensordot(rig.R, P, 1) + rig.T[:, None, None]
r = np.hypot(X[0], X[1]) / X[2]
has = np.isfinite(read_frame("out.nrrd")["r"])
expect(has.sum() > 500, has.sum()); expect(r[has].max() < .6, r[has].max())'
}

@test "texmap: points in the axes of a rectified left picture, and turned back, get the same colours" {
	py "$ramp"'
rig.save("pair.json", devices=None, camera_size=None)
write_frames("ramp.nrrd", Frame(ramp(), list("rgb")))
R, f, cx, cy = turn(2, -9, 3), 240., 31., 41.
y, x = np.mgrid[:80, :100].astype(float)
rectified = np.stack([(x - cx) / f, (y - cy) / f, np.ones(x.shape)]) * (600 + 20 * np.sin(x / 15))
left = np.tensordot(R.T, rectified, 1)
keys = {"rect_f_px": "240", "rect_cx_px": "31", "rect_cy_px": "41", "rect_baseline_mm": "220", "rect_side": "left",
	"rect_rotation": " ".join("%.17g" % v for v in R.ravel()), "length_unit": "mm"}
write_frames("rectified.nrrd", Frame(rectified.astype("f4"), list("xyz"), keys))
write_frames("left.nrrd", Frame(left.astype("f4"), list("xyz"), keys))
write_frames("bare.nrrd", Frame(left.astype("f4"), list("xyz")))'
	for points in rectified left; do
		framecat --points $points.nrrd -o $points.table.nrrd
	done
	py 'f = read_frame("rectified.table.nrrd"); f.pixels = f.pixels + np.random.default_rng(1).normal(size=f.pixels.shape).astype("f4")
write_frames("noisy.nrrd", f)'
	fails 1 "the table does not tell whether its points are in the axes of the rectified picture" \
		texmap --calib pair.json --camera right --image ramp.nrrd noisy.nrrd -o x.nrrd
	for points in rectified left bare rectified.table left.table; do
		silent texmap --calib pair.json --camera right --image ramp.nrrd $points.nrrd -o $points.out.nrrd
	done
	py "$ramp"'
u, v = rig.project(read_frame("left.nrrd").pixels.astype(float))
for name in "rectified", "left", "bare":
	o = read_frame(name + ".out.nrrd")
	has = inner(np.isfinite(o["r"]), 3)
	expect(has.sum() > 2500, name, has.sum()); expect(np.hypot(o["r"] - u, o["g"] - v)[has] < 5e-4, name, np.hypot(o["r"] - u, o["g"] - v)[has].max())
for name in "rectified.table", "left.table":
	o = read_frame(name + ".out.nrrd")
	u, v = rig.project(np.stack([read_frame("left.table.nrrd")[c] for c in "xyz"]).astype(float))
	has = np.isfinite(o["r"]); expect(has.sum() > 2500, name, has.sum()); expect((np.hypot(o["r"] - u, o["g"] - v)[has] < 5e-4).mean() > .98, name)'
}
