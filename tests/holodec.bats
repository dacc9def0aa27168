load helpers

# A sphere in a cube of edge W, as in the thesis; how far a decoded depth is off.
bodies='
def sphere(W, share=0.45):
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	rr = (share * W) ** 2 - x * x - y * y
	return np.where(rr >= 0, W / 2 + np.sqrt(np.maximum(rr, 0)), np.nan)
def steps(W):
	z = np.kron(np.random.default_rng(3).uniform(0.04, 0.96, (8, 8)), np.ones((W // 8, W // 8))) * W
	y, x = np.mgrid[:W, :W]
	return z + 3 * np.sin(x / 40) + 3 * np.cos(y / 30)
def write_depth(name, z, meta={}):
	write_frames(name, Frame(z.astype("f4"), ["depth"], {"z_axis": "towards", **meta}))
def report(want, got, turn):
	"""share of pixels kept, of ghosts, of spikes (over half a turn off), rms of the others"""
	kept = np.isfinite(want) & np.isfinite(got)
	error = (got - want)[kept]
	spike = np.abs(error) > turn / 2
	return (kept.sum() / np.isfinite(want).sum(), (np.isfinite(got) & np.isnan(want)).mean(),
		spike.mean(), np.sqrt(np.mean(error[~spike] ** 2)))
'

@test "holodec: sphere, W 512, lossless, bare PNG: quantisation is all the error, no spike, both stairs" {
	py "$bodies"'write_depth("sphere.nrrd", sphere(512))'
	for stair in composite cosine; do
		while read -r pitch limit; do
			holoenc -P $pitch --stair $stair --depth-range 0,512 sphere.nrrd -o sphere.png
			holodec sphere.png -o out.nrrd
			py "$bodies"'
P, limit = float(sys.argv[1]), float(sys.argv[2])
want, got = sphere(512), read_frame("out.nrrd")["depth"]
expect(np.isnan(want) == np.isnan(got))
kept, ghosts, spikes, rms = report(want, got, 2 * P)
expect(spikes == 0 and 100 * rms / 460.8 <= 1.03 * limit, sys.argv, spikes, 100 * rms / 460.8)' \
				$pitch $limit
		done <<<"16 0.0026
32 0.0052
42 0.0068"
	done
}

@test "holodec: steps of many periods come back, at any S, K and theta, both layouts" {
	py "$bodies"'write_depth("steps.nrrd", steps(256))'
	for options in "-P 8" "-P 8 --stair composite" "-P 16 -K 5" "-P 16 -S 4 -K 1" "-P 16 -S 2" \
		"-P 16 --stair composite -S 1" "-P 32 -t 60 -K 20" "-P 16 -t 18 --layout yuv"; do
		holoenc --depth-range=-10,266 $options steps.nrrd | holodec >out.nrrd
		py "$bodies"'
want, got = steps(256), read_frame("out.nrrd")["depth"]
expect(np.abs(got - want) < 0.5, sys.argv, np.abs(got - want).max())' "$options"
	done
}

@test "holodec: awkward sizes, NaN, a depth far from zero, z away, units, other keys" {
	for size in 1x1 5x7 127x1 1x127 128x64 129x65 1025x3; do
		py '
w, h = map(int, sys.argv[1].split("x"))
z = 1000 + np.random.default_rng(1).uniform(0, 50, (h, w)).astype("f4")
z[::5, 1::3] = np.nan
write_frames("in.nrrd", Frame(z, ["depth"], {"length_unit": "mm", "z_axis": "away"}))' $size
		for decode in auto nearest; do
			holoenc in.nrrd | holodec --decode $decode >out.nrrd
			py '
a, f = read_frame("in.nrrd"), read_frame("out.nrrd")
want, got = a["depth"], f["depth"]
expect(np.isnan(want) == np.isnan(got))
expect(np.abs(got - want)[np.isfinite(want)] < 50 / 8 * 2e-3, sys.argv, got - want)
keys = {k: v for k, v in f.meta.items() if not k.startswith("cmd")}
expect(keys == a.meta, keys)' $size
		done
	done
}

@test "holodec: the pixel and the formulas of holoimage(5) are true" {
	py "$bodies"'
page = open(sys.argv[1]).read().replace("\\-", "-")
def row(word):
	return [line.split()[1:] for line in page.splitlines() if line.startswith(word + " ")][0]
W, P, theta, S, K, x, z = (float(v) for v in row("given"))
t = (x * np.cos(np.radians(theta)) + z * W * np.sin(np.radians(theta))) / P
k, rest = np.floor(t), t - np.floor(t)
near = lambda got, want: expect(abs(float(got) - want) < 6e-5, got, want)
near(row("turns")[0], t); near(row("turns")[1], k); near(row("turns")[2], rest)
levels = (127.5 + 127.5 * np.sin(2 * np.pi * rest), 127.5 + 127.5 * np.cos(2 * np.pi * rest),
	S * k + S / 2 - (S - 2) / 2 * np.cos(2 * np.pi * (K + 0.5) * rest))
for got, want in zip(row("levels"), levels): expect(abs(float(got) - want) < 6e-3, got, want)
pixel = [int(v) for v in row("pixel")]
expect(pixel == [int(np.floor(v + 0.5)) for v in levels], pixel, levels)
# and back, by the page
r = np.arctan2(pixel[0] - 127.5, pixel[1] - 127.5) / (2 * np.pi) % 1
model = S / 2 - (S - 2) / 2 * np.cos(2 * np.pi * (K + 0.5) * r)
order = np.round((pixel[2] - model) / S)
back = ((order + r) * P - x * np.cos(np.radians(theta))) / (W * np.sin(np.radians(theta)))
near(row("back")[0], r); near(row("back")[1], model); near(row("back")[2], order); near(row("back")[3], back)
depth = np.full((int(W), int(W)), np.nan, "f4"); depth[3, int(x)] = z
write_depth("in.nrrd", depth)
open("options", "w").write("-P %g -t %g -S %d -K %d" % (P, theta, S, K))
np.save("pixel.npy", pixel)' "$top/man/holoimage.5"
	holoenc $(cat options) --depth-range 0,1 in.nrrd -o out.nrrd
	py 'expect(read_frame("out.nrrd").pixels[:, 3, 100] == np.load("pixel.npy"))'
}

@test "holodec: a decoder written from holoimage(5) alone agrees" {
	py "$bodies"'write_depth("in.nrrd", sphere(200) * 0.25 - 7, {"z_axis": "away"})'
	for options in "--stair composite" "-K 0" "-K 3 -t 50" "--layout yuv -P 40"; do
		holoenc $options in.nrrd -o picture.nrrd && holodec picture.nrrd -o out.nrrd
		py '
f, got = read_frame("picture.nrrd"), read_frame("out.nrrd")["depth"]
m = f.meta
R, G, B = (f.pixels if m["holo_layout"] == "rgb" else f.pixels[[1, 2, 0]]).astype(float)
P, S = float(m["holo_pitch_px"]), float(m["holo_stair_height"])
theta = np.radians(float(m["holo_theta_deg"]))
W = max(map(int, m["holo_size"].split()))
lo, hi = map(float, m["holo_depth_range"].split())
rest = np.arctan2(R - 127.5, G - 127.5) / (2 * np.pi) % 1
stair = 0
if m["holo_stair"] == "cosine":
	K = float(m["holo_stair_turns"])
	stair = S / 2 - (S - 2) / 2 * np.cos(2 * np.pi * (K + 0.5) * rest)
order = np.floor((B - stair) / S + 0.5)
x = np.arange(R.shape[1])
z = ((order + rest) * P - x * np.cos(theta)) / (W * np.sin(theta))
depth = lo + z * (hi - lo) if m["z_axis"] == "towards" else hi - z * (hi - lo)
depth[R + G < 38.25] = np.nan
expect(np.isnan(depth) == np.isnan(got))
expect(np.abs(depth - got)[np.isfinite(got)] < 1e-4 * (hi - lo), sys.argv)' "$options"
	done
}

@test "holodec: JPEG through quality 95 and 85: no spikes, boundary dropped by itself and by --edge" {
	py "$bodies"'write_depth("sphere.nrrd", sphere(512))'
	for stair in composite cosine; do
		holoenc -P 42 --stair $stair --depth-range 0,512 sphere.nrrd -o picture.nrrd
		while read -r quality edge limit; do
			framecat --quality $quality picture.nrrd -o picture.jpg
			holodec ${edge:+${edge/auto/}} picture.jpg -o out.nrrd
			py "$bodies"'
want, got = sphere(512), read_frame("out.nrrd")["depth"]
kept, ghosts, spikes, rms = report(want, got, 84)
edge = 2 if sys.argv[2] == "auto" else int(sys.argv[2].split("=")[1])
hole = np.isnan(np.pad(want, edge, mode="edge"))
near = np.max([hole[i:i + 512, k:k + 512] for i in range(2 * edge + 1) for k in range(2 * edge + 1)], 0)
print("quality %s edge %s: kept %.4f spikes %.4f %% rms %.4f %%" % (sys.argv[1], sys.argv[2], kept,
	100 * spikes, rms / 4.608))
expect(ghosts == 0 and spikes == 0 and 100 * rms / 460.8 < float(sys.argv[3]), ghosts, spikes, rms)
# what lies near the background as the JPEG has it, give or take a pixel that it moved
expect((np.isnan(got) != near).mean() < 0.005, (np.isnan(got) != near).mean())' $quality $edge $limit
		done <<<"95 auto 0.035
85 auto 0.06
85 --edge=4 0.055"
	done
}

@test "holodec: steps through JPEG, each pixel by itself, the papers' way, and the default" {
	py "$bodies"'write_depth("steps.nrrd", steps(512))'
	holoenc -P 42 --depth-range=-10,522 steps.nrrd -o picture.jpg
	for decode in nearest median plain auto; do
		holodec --decode $decode picture.jpg -o $decode.nrrd
	done
	py "$bodies"'
want = steps(512)
spikes = {d: report(want, read_frame(d + ".nrrd")["depth"], 84 * 532 / 512)[2]
	for d in ("nearest", "median", "plain", "auto")}
print(spikes)
expect(spikes["auto"] == spikes["median"] < 1e-3 and spikes["plain"] > 10 * spikes["median"], spikes)
expect(spikes["nearest"] < 0.02, spikes)'
}

@test "holodec: --decode plain takes out single spikes of a lossless picture, as the papers do" {
	py "$bodies"'write_depth("sphere.nrrd", sphere(256))'
	holoenc -P 32 --stair composite --depth-range 0,256 sphere.nrrd -o picture.nrrd
	py '
f = read_frame("picture.nrrd"); p = f.pixels.copy(); S = int(f.meta["holo_stair_height"])
p[2, 60:200:5, 60:200:7] += S
write_frames("spiky.nrrd", Frame(p, f.names, f.meta))'
	holodec --decode plain spiky.nrrd -o plain.nrrd && holodec --decode nearest spiky.nrrd -o nearest.nrrd
	py "$bodies"'
want, inside = sphere(256), np.isfinite(sphere(256, 0.44))
plain, nearest = (read_frame(n)["depth"] for n in ("plain.nrrd", "nearest.nrrd"))
expect(np.abs(plain - want)[inside] < 0.1, np.nanmax(np.abs(plain - want)))
expect(np.nanmax(np.abs(nearest - want)[inside]) > 60)'
}

@test "holodec: --blur knows the stair that a Gaussian has smoothed" {
	py "$bodies"'write_depth("plane.nrrd", np.zeros((60, 512)) + 100)'
	holoenc -P 32 -K 5 --depth-range 0,512 plane.nrrd -o picture.nrrd
	py '
f = read_frame("picture.nrrd"); sigma = 2.0
x = np.arange(-8, 9); g = np.exp(-x * x / 2 / sigma ** 2); g /= g.sum()
pad = np.pad(f.pixels.astype(float), ((0, 0), (0, 0), (8, 8)), mode="edge")
blurred = sum(w * pad[:, :, i:i + 512] for i, w in enumerate(g))
blurred[2] += np.random.default_rng(1).uniform(-4, 4, (60, 512))
write_frames("blurred.nrrd", Frame(blurred.astype("f4"), f.names, f.meta))'
	for sigma in 0 2; do
		holodec --decode nearest --edge 0 --blur $sigma blurred.nrrd -o out$sigma.nrrd
	done
	py '
off = [~(np.abs(read_frame("out%d.nrrd" % s)["depth"][:, 16:-16] - 100) < 30) for s in (0, 2)]
expect(off[0].mean() > 0.01 and off[1].sum() == 0, [o.mean() for o in off])'
}

@test "holodec: --xyz gives back the points; texture comes back; spacing and corner as options" {
	py '
y, x = np.mgrid[:60, :80].astype("f4")
z = 5 * np.sin(x / 9) + y / 7; z[10:20, 30:40] = np.nan
t = np.round(x + y)
write_frames("in.nrrd", Frame(np.stack([4 + 0.5 * x, 9 - 0.25 * y, z, t]), ["x", "y", "z", "texture"]))'
	holoenc --texture texture in.nrrd -o picture.png && holodec --xyz picture.png -o out.nrrd
	holodec picture.png -o depth.nrrd
	holodec --xyz --spacing 2,3 --corner=-1,-2 picture.png -o other.nrrd
	py '
a, b, d, o = (read_frame(n + ".nrrd") for n in ("in", "out", "depth", "other"))
hole = np.isnan(a["z"])
expect(b.names == ["x", "y", "z", "texture"] and d.names == ["depth", "texture"])
for c in "xyz":
	expect(np.isnan(b[c]) == hole); expect(np.abs(b[c] - a[c])[~hole] < 0.01, c)
expect(b["texture"] == a["texture"]); expect(d["texture"] == a["texture"])
expect(np.abs(o["x"][~hole] - (2 * np.mgrid[:60, :80][1] - 1)[~hole]) < 1e-5)
expect(np.abs(o["y"][~hole] - (3 * np.mgrid[:60, :80][0] - 2)[~hole]) < 1e-5)'
}

@test "holodec: --xyz of what mesh2depth made is in the mesh's own coordinates" {
	py '
rng = np.random.default_rng(7)
q = np.linalg.qr(rng.normal(size=(3, 3)))[0]; q *= np.linalg.det(q)	# a rotation
R = np.stack([q[0], q[1], -q[2]])
c, s, d = np.array([3, -5, 8]), 0.25, rng.uniform(-4, 4, (30, 40)).astype("f4")
d[3, 4] = np.nan
row, column = np.mgrid[:30, :40]
p = c + ((column - 19.5) * s)[..., None] * R[0] + ((row - 14.5) * s)[..., None] * R[1] + d[..., None] * R[2]
np.save("points.npy", p)
words = lambda v: " ".join(map(repr, map(float, np.ravel(v))))
open("in.nrrd", "wb").write(("NRRD0004\ntype: float\ndimension: 2\nsizes: 40 30\nendian: little\n"
	"encoding: raw\nspacings: 0.25 0.25\nchannels:=depth\nz_axis:=towards\nscale_mm:=0.25\n"
	"center_mm:=%s\nview_rotation:=%s\n\n" % (words(c), words(R))).encode() + d.tobytes())'
	holoenc in.nrrd -o picture.png && holodec --xyz picture.png -o out.nrrd
	holodec picture.png -o depth.nrrd
	py '
f, d, want = read_frame("out.nrrd"), read_frame("depth.nrrd"), np.load("points.npy")
got = np.stack([f[c] for c in "xyz"], -1)
expect(np.isnan(got) == np.isnan(want)); expect(np.nanmax(np.abs(got - want)) < 0.01)
expect(f.meta["z_axis"] == "away" and "view_rotation" not in f.meta, f.meta)
expect(d.meta["z_axis"] == "towards" and "view_rotation" in d.meta, d.meta)'
}

@test "holodec: without metadata the options decode the same; --z-axis turns the result over" {
	py "$bodies"'write_depth("in.nrrd", sphere(100))'
	holoenc -P 10 -t 35 -S 7 -K 1 --depth-range 0,100 in.nrrd -o picture.nrrd
	py 'f = read_frame("picture.nrrd"); write_frames("bare.nrrd", Frame(f.pixels, f.names))'
	options="-P 10 -t 35 --stair cosine -S 7 -K 1 --depth-range 0,100"
	holodec picture.nrrd -o a.nrrd
	holodec $options --z-axis towards bare.nrrd -o b.nrrd
	holodec $options bare.nrrd -o c.nrrd
	py '
a, b, c = (read_frame(n + ".nrrd")["depth"] for n in "abc")
expect(a.tobytes() == b.tobytes()); expect(np.nanmax(np.abs(100 - b - c)) < 1e-4)'
	fails 1 "(no holo_ keys: is it a Holoimage?); give --pitch --theta --stair --stair-height --stair-turns --depth-range" \
		holodec bare.nrrd
	fails 1 "give --depth-range" holodec -P 10 -t 35 --stair composite -S 7 bare.nrrd
}

@test "holodec: damaged and foreign pictures are refused, in words" {
	py "$bodies"'write_depth("in.nrrd", sphere(128))'
	holoenc -P 8 -S 5 in.nrrd -o good.png && framecat good.png -o good.nrrd
	head -c 3000 good.png >cut.png
	fails 1 "cut.png" holodec cut.png
	py '
f = read_frame("good.nrrd"); p, m = f.pixels, f.meta
def put(name, pixels, names=f.names, meta=m): write_frames(name, Frame(pixels, names, meta))
put("plane.nrrd", p[:1], ["image"])
put("grey.nrrd", np.stack([p[0]] * 3))
put("small.nrrd", p[:, ::2, ::2])
put("photo.nrrd", np.random.default_rng(1).integers(90, 200, p.shape).astype("u1"))
put("swapped.nrrd", p[::-1])
put("ushort.nrrd", p.astype("u2") * 257)
put("five.nrrd", np.concatenate([p, p[:2]]), ["r", "g", "b", "c", "d"])
for key, value in ("holo_pitch_px", "wide"), ("holo_theta_deg", "0"), ("holo_stair", "spiral"), (
		"holo_stair_height", "5.5"), ("holo_layout", "cmyk"), ("holo_depth_range", "2 1"), (
		"holo_size", "128"), ("holo_spacing", "a b"), ("holo_stair_turns", "-1"):
	put(key + ".nrrd", p, meta={**m, key: value})
put("turns.nrrd", p, meta={k: v for k, v in m.items() if k != "holo_stair_turns"})'
	fails 1 "a Holoimage has the channels r g b (is this one of its planes, or a grey copy?), not: image" holodec plane.nrrd
	fails 1 "the picture is grey" holodec grey.nrrd
	fails 1 "the picture is 64 x 64, but was encoded as 128 x 128" holodec small.nrrd
	fails 1 "the picture is no Holoimage" holodec photo.nrrd
	fails 1 "the picture is no Holoimage" holodec swapped.nrrd
	fails 1 "8 bits a sample, not 16" holodec ushort.nrrd
	fails 1 "the stairs are not those of the picture" holodec -S 4 good.png
	fails 1 "depths outside of the range: wrong --pitch or --theta?" holodec -P 20 good.png
	fails 1 "holo_pitch_px" holodec holo_pitch_px.nrrd
	fails 1 "holo_theta_deg: must lie in 1 to 89, not 0" holodec holo_theta_deg.nrrd
	fails 1 "holo_stair: must be composite or cosine, not 'spiral'" holodec holo_stair.nrrd
	fails 1 "holo_stair_height: must be a whole number from 1 to 255, not 5.5" holodec holo_stair_height.nrrd
	fails 1 "holo_layout: must be rgb or yuv, not 'cmyk'" holodec holo_layout.nrrd
	fails 1 "holo_depth_range: the first depth must be less" holodec holo_depth_range.nrrd
	fails 1 "holo_size: must be two numbers, not '128'" holodec holo_size.nrrd
	fails 1 "holo_spacing" holodec holo_spacing.nrrd
	fails 1 "holo_stair_turns: must be a whole number from 0 to 64, not -1" holodec holo_stair_turns.nrrd
	fails 1 "does not say all of how it was encoded; give --stair-turns" holodec turns.nrrd
	fails 1 "do not fit into 256" holodec -S 200 good.png
	fails 2 "--edge" holodec -e 65 good.png
	fails 2 "--decode" holodec --decode best good.png
	fails 2 "--blur" holodec --blur=-1 good.png
	fails 2 "--spacing: must be two numbers, not 1" holodec --spacing 1 good.png
	fails 2 "--corner: must be two numbers, not 3" holodec --corner 1,2,3 good.png
}

@test "holodec: samples that are no levels, and single damaged pixels, hurt only themselves" {
	py "$bodies"'write_depth("in.nrrd", sphere(128))'
	holoenc -P 8 in.nrrd -o picture.nrrd
	py '
f = read_frame("picture.nrrd"); p = f.pixels.astype("f4")
for i, v in enumerate((np.nan, np.inf, -np.inf, 1e30)): p[i % 3, 60, 60 + i] = v
write_frames("odd.nrrd", Frame(p, f.names, f.meta))
q = f.pixels.copy(); q[:, 50, 50] = 130, 130, 7
write_frames("dot.nrrd", Frame(q, f.names, f.meta))'
	for name in odd dot; do
		for decode in auto nearest median plain; do
			holodec --edge 0 --decode $decode $name.nrrd -o out.nrrd
			py "$bodies"'
got, want = read_frame("out.nrrd")["depth"], sphere(128)
bad = ~(np.abs(got - want) < 0.3) & np.isfinite(sphere(128, 0.4))
bad[60, 58:66] = False; bad[50, 48:53] = False
expect(bad.sum() == 0 or sys.argv[2] == "plain", sys.argv, np.argwhere(bad)[:5])' $name $decode
		done
	done
}

@test "holodec: threads, bands and instruction levels make no difference" {
	py "$bodies"'z = sphere(150); write_depth("in.nrrd", z)'
	holoenc -P 20 in.nrrd -o picture.png && holoenc -P 20 in.nrrd -o picture.jpg
	for options in "picture.png" "picture.jpg" "--decode plain --xyz picture.jpg" "--edge 7 picture.png" \
		"--decode median picture.png"; do
		holodec -j 1 $options >one.nrrd
		holodec -j 7 $options >seven.nrrd
		FRINGEPIPE_BAND=1 holodec -j 2 $options >band.nrrd
		FRINGEPIPE_BAND=13 holodec -j 2 $options >more.nrrd
		cmp one.nrrd seven.nrrd
		cmp one.nrrd band.nrrd
		cmp one.nrrd more.nrrd
		for level in v2 v3 v4; do
			FRINGEPIPE_CPU=$level holodec $options >level.nrrd || continue
			cmp one.nrrd level.nrrd
		done
	done
}
