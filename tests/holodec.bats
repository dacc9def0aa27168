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
		while read -r pitch rounding limit; do
			holoenc -P $pitch --stair $stair --rounding $rounding --depth-range 0,512 sphere.nrrd -o sphere.png
			holodec sphere.png -o out.nrrd
			py "$bodies"'
P, limit = float(sys.argv[1]), float(sys.argv[2])
want, got = sphere(512), read_frame("out.nrrd")["depth"]
expect(np.isnan(want) == np.isnan(got))
kept, ghosts, spikes, rms = report(want, got, 2 * P)
expect(spikes == 0 and 100 * rms / 460.8 <= 1.03 * limit, sys.argv, spikes, 100 * rms / 460.8)' \
				$pitch $limit
		done <<<"16 level 0.0026
32 level 0.0052
42 level 0.0068
16 angle 0.00105
32 angle 0.0021
42 angle 0.00277"
	done
}

@test "holodec: steps of many periods come back, at any S, K and theta, both layouts" {
	py "$bodies"'write_depth("steps.nrrd", steps(256))'
	# what rounding leaves, by the period and theta: 0.0107, 0.0215, 0.0248, 0.0347
	while read -r most options; do
		# shellcheck disable=SC2086
		holoenc --depth-range=-10,266 $options steps.nrrd | holodec >out.nrrd
		py "$bodies"'
want, got = steps(256), read_frame("out.nrrd")["depth"]
expect(np.abs(got - want) < float(sys.argv[1]), sys.argv, np.abs(got - want).max())' $most "$options"
	done <<-END
		0.0129 -P 8
		0.0129 -P 8 --stair composite
		0.0258 -P 16 -K 5
		0.0258 -P 16 -S 4 -K 1
		0.0258 -P 16 -S 2
		0.0258 -P 16 --stair composite -S 1
		0.0298 -P 32 -t 60 -K 20
		0.0417 -P 16 -t 18 --layout yuv
	END
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

@test "holodec: medians and regions of smooth surfaces with holes are what each pixel says, at any size" {
	for size in 1x1 5x7 127x1 1x127 128x64 129x65 1025x3 1100x40; do
		py '
w, h = map(int, sys.argv[1].split("x"))
y, x = np.mgrid[:h, :w]
z = 20 * np.sin(x / 90) * np.cos(y / 70) + 0.05 * x
z[(x // 30 + y // 20) % 3 == 2] = np.nan
write_frames("in.nrrd", Frame(z.astype("f4"), ["depth"]))' $size
		holoenc in.nrrd -o picture.nrrd
		for decode in nearest median region; do
			holodec --decode $decode picture.nrrd | framecat --delete "cmd*" >$decode.nrrd
		done
		cmp nearest.nrrd median.nrrd
		cmp nearest.nrrd region.nrrd
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
for got, want in zip(row("levels")[:3], levels): expect(abs(float(got) - want) < 6e-3, got, want)
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
		holoenc $options in.nrrd -o picture.nrrd
		holodec picture.nrrd -o out.nrrd
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

@test "holodec: a decoder of PNG files written from holoimage(5) alone agrees, of 24 bits and of three" {
	py "$bodies"'
y, x = np.mgrid[:240, :256]
z = sphere(256)[:240] + 6 * np.sin(x / 17) * np.cos(y / 21)
write_frames("in.nrrd", Frame(np.stack([z, x]).astype("f4"), ["depth", "texture"], {"z_axis": "away"}))'
	page='
import sys; import numpy as np; from frames import *; import holoimage_decoder as page
want = read_frame(sys.argv[2])["depth"].astype(float)
got, t, meta = page.decode(sys.argv[1])
lo, hi = map(float, meta["holo_depth_range"].split())'
	for options in "--stair composite -P 20" "-K 0" "-K 2 -t 40 --texture texture" "--layout yuv -P 30"; do
		holoenc $options in.nrrd -o picture.png
		holodec picture.png -o out.nrrd
		"$python" -c "$page"'
expect(np.isnan(got) == np.isnan(want)); expect(np.nanmax(np.abs(got - want)) < 1e-4 * (hi - lo))
kinds = [0, 0, 0]
for x, y, v in page.check_values(meta):
	around = t[max(y - 2, 0):y + 3, max(x - 2, 0):x + 3]
	kinds[0 if v == 4095 else 1 if v == 4094 else 2] += 1
	if v == 4095: expect(np.isnan(t[max(y - 8, 0):y + 9, max(x - 8, 0):x + 9]))
	elif v != 4094:
		off = np.abs((128 * (t[y, x] + np.mean(around - t[y, x])) - v + 1984) % 3968 - 1984)
		expect(off < 1.5, x, y, off)
expect(min(kinds) > 0, kinds)' picture.png out.nrrd
	done
	for options in "--pack msb" "--pack planar --texture 1" "--pack rgb --texture 8" "-m fs --pack planar"; do
		holoenc -P 42 -K 0 --texture texture in.nrrd | dither3 $options -o three.png
		undither3 --filter gauss three.png | holodec --decode nearest --edge 0 -o out.nrrd
		"$python" -c "$page"'
both, ghosts = np.isfinite(got) & np.isfinite(want), np.isfinite(got) & np.isnan(want)
off = np.abs(got - want)[both] > 1e-3 * (hi - lo)
expect(both.mean() > 0.4 and off.mean() < 0.001, sys.argv, both.mean(), off.mean())
expect((np.isnan(got) & np.isfinite(want)).mean() < 0.001)
# ours drops what is outside of the range
expect(((got < lo) | (got > hi))[ghosts], ghosts.sum())' three.png out.nrrd
	done
}

# damage KIND: moves or changes the pixels of picture.nrrd into damaged.nrrd, whose metadata stay.
damage() {
	py '
f = read_frame("picture.nrrd"); p, n = f.pixels, int(sys.argv[2])
p = {"roll-x": lambda: np.roll(p, n, 2), "roll-y": lambda: np.roll(p, n, 1), "mirror": lambda: p[:, :, ::-1],
	"upside-down": lambda: p[:, ::-1], "turn": lambda: p[:, ::-1, ::-1], "transpose": lambda: p.transpose(0, 2, 1),
	"crop": lambda: np.pad(p[:, n:, n:], ((0, 0), (0, n), (0, n))),
	"zoom": lambda: p[:, np.round(np.linspace(n, 255 - n, 256)).astype(int)][:, :, np.round(np.linspace(n, 255 - n, 256)).astype(int)],
	"swap": lambda: np.concatenate([p[:, n:], p[:, :n]], 1),
	"brighter": lambda: np.concatenate([p[:, :150], np.where(p[:, 150:].sum(0) > 0, np.clip(p[:, 150:].astype(int) + [[[0]], [[0]], [[n]]], 0, 255), 0).astype("u1")], 1),
	"none": lambda: p}[sys.argv[1]]()
write_frames("damaged.nrrd", Frame(np.ascontiguousarray(p), f.names, f.meta))' "$1" "$2"
}

@test "holodec: pictures that were moved, turned over, resampled or exchanged are refused" {
	py "$bodies"'
y, x = np.mgrid[:256, :256]
write_depth("in.nrrd", sphere(256) + 5 * np.sin(x / 17 + 1) * np.cos(y / 21) + 0.1 * y)'
	for quality in 100 85 60; do
		holoenc -P 26 --depth-range 0,300 in.nrrd -o whole.nrrd
		framecat --quality $quality whole.nrrd -o picture.jpg
		framecat picture.jpg -o picture.nrrd
		[ $quality -lt 100 ] || cp whole.nrrd picture.nrrd
		while read -r kind n message; do
			damage $kind $n
			fails 1 "$message" holodec damaged.nrrd || { echo "$quality $kind $n"; return 1; }
		done <<<"roll-x 1 moved or resampled
roll-x -1 moved or resampled
roll-x 2 holo_check
roll-y 1 moved or resampled
roll-y -2 holo_check
roll-y 5 holodec: 
roll-x 9 holodec: 
roll-x 128 holodec: 
mirror 0 holodec: 
upside-down 0 holodec: 
turn 0 holodec: 
transpose 0 holodec: 
crop 2 holodec: 
zoom 2 holodec: 
swap 100 holodec: "
		damage none 0
		holodec damaged.nrrd -o out.nrrd
	done
	# lossy coding may turn whole fringes: here half of the picture, by two stairs
	damage brighter 16
	holodec --decode median damaged.nrrd -o out.nrrd
	fails 1 "whole fringes off what was encoded" holodec damaged.nrrd
	# another frame of the same sequence; no key, no comparison
	py "$bodies"'write_depth("other.nrrd", sphere(256) + 4)'
	holoenc -P 26 --depth-range 0,300 other.nrrd -o other.png
	framecat other.png -o other.nrrd
	py '
f, g = read_frame("picture.nrrd"), read_frame("other.nrrd")
write_frames("exchanged.nrrd", Frame(g.pixels, f.names, f.meta))
write_frames("bad.nrrd", Frame(f.pixels, f.names, {**f.meta, "holo_check": "AB-"}))'
	fails 1 "holo_check: the picture is not what was encoded" holodec exchanged.nrrd
	framecat --delete holo_check exchanged.nrrd | holodec >out.nrrd
	fails 1 "holo_check: must be 128 letters, digits, + and /" holodec bad.nrrd
}

@test "holodec: what was compressed or dithered only is not refused" {
	py "$bodies"'
y, x = np.mgrid[:256, :256]
write_depth("sphere.nrrd", sphere(256)); write_depth("steps.nrrd", steps(256)); write_depth("flat.nrrd", 0 * x + 100.)
write_depth("tilt.nrrd", 20 + 0.5 * x + 0.2 * y); write_depth("waves.nrrd", 128 + 40 * np.sin(x / 19) * np.cos(y / 15))'
	for object in sphere steps flat tilt waves; do
		for options in "-P 32" "-P 32 --stair composite" "-P 48 -K 2"; do
			holoenc $options --depth-range=-20,276 $object.nrrd -o picture.nrrd
			for quality in 100 85 60 30; do
				for chroma in 444 422 420; do
					framecat --quality $quality --chroma $chroma picture.nrrd -o picture.jpg
					holodec --decode median picture.jpg -o out.nrrd || { echo "$object $options $quality $chroma"; return 1; }
				done
			done
			[[ $options != *"-K 2" ]] || continue
			for method in bayer fs fs-serpentine blue best; do
				dither3 -m $method picture.nrrd -o three.png
				undither3 three.png | holodec >out.nrrd || { echo "$object $options $method"; return 1; }
				undither3 --filter gauss three.png | holodec --decode plain >out.nrrd || { echo "$object $options $method gauss"; return 1; }
			done
		done
	done
}

@test "holodec: JPEG with flipped bytes never makes another surface without a word" {
	py "$bodies"'write_depth("in.nrrd", sphere(192))'
	holoenc -P 24 in.nrrd -o whole.nrrd
	for options in "--quality 90" "--quality 70 --chroma 420"; do
		framecat $options whole.nrrd -o whole.jpg
		holodec whole.jpg -o want.nrrd
		py '
import subprocess
good, want = open("whole.jpg", "rb").read(), read_frame("want.nrrd")["depth"]
for seed in range(120):
	rng, bad = np.random.default_rng(seed), bytearray(good)
	for at in rng.choice(len(bad), rng.integers(1, 9), replace=False):
		bad[at] ^= 1 << int(rng.integers(8))
	open("bad.jpg", "wb").write(bad)
	result = subprocess.run(["holodec", "bad.jpg", "-o", "got.nrrd"], capture_output=True)
	expect(result.returncode in (0, 1) and result.stderr.count(b"\n") == (result.returncode == 1), seed, result)
	if result.returncode == 0:	# only where the damage left all levels as they were
		got = read_frame("got.nrrd")["depth"]
		expect(((got == want) | np.isnan(want) & np.isnan(got)).all(), "seed %d: silence" % seed)'
	done
}

@test "holodec: JPEG through quality 95 and 85: no spikes, the boundary stays, or is dropped by --edge" {
	py "$bodies"'write_depth("sphere.nrrd", sphere(512))'
	for stair in composite cosine; do
		holoenc -P 42 --stair $stair --depth-range 0,512 sphere.nrrd -o picture.nrrd
		while read -r quality edge limit; do
			framecat --quality $quality picture.nrrd -o picture.jpg
			holodec ${edge:+${edge/auto/}} picture.jpg -o out.nrrd
			py "$bodies"'
want, got = sphere(512), read_frame("out.nrrd")["depth"]
kept, ghosts, spikes, rms = report(want, got, 84)
edge = 0 if sys.argv[2] == "auto" else int(sys.argv[2].split("=")[1])
hole = np.isnan(np.pad(want, edge, mode="edge"))
near = np.max([hole[i:i + 512, k:k + 512] for i in range(2 * edge + 1) for k in range(2 * edge + 1)], 0)
print("quality %s edge %s: kept %.4f spikes %.4f %% rms %.4f %%" % (sys.argv[1], sys.argv[2], kept,
	100 * spikes, rms / 4.608))
expect(ghosts == 0 and spikes == 0 and 100 * rms / 460.8 < float(sys.argv[3]), ghosts, spikes, rms)
# missing: what is near the background in the JPEG, which may have moved it by a pixel
expect(edge > 0 or kept > 0.9985, kept)
expect((np.isnan(got) != near).mean() < 0.005, (np.isnan(got) != near).mean())' $quality $edge $limit
		done <<<"95 auto 0.038
85 auto 0.076
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
	holodec --decode plain spiky.nrrd -o plain.nrrd
	holodec --decode nearest spiky.nrrd -o nearest.nrrd
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
	holoenc --texture texture in.nrrd -o picture.png
	holodec --xyz picture.png -o out.nrrd
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
	holoenc in.nrrd -o picture.png
	holodec --xyz picture.png -o out.nrrd
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
	options="-P 10 -t 35 --stair cosine -S 7 -K 1 --rounding angle --depth-range 0,100"
	holodec picture.nrrd -o a.nrrd
	holodec $options --z-axis towards bare.nrrd -o b.nrrd
	holodec $options bare.nrrd -o c.nrrd
	py '
a, b, c = (read_frame(n + ".nrrd")["depth"] for n in "abc")
expect(a.tobytes() == b.tobytes()); expect((np.abs(100 - b - c) < 1e-4) | np.isnan(a)); expect(np.isfinite(a).mean() > 0.5)'
	fails 1 "(no holo_ keys: is it a Holoimage?); give --pitch --theta --stair --stair-height --stair-turns --depth-range" \
		holodec bare.nrrd
	fails 1 "give --depth-range" holodec -P 10 -t 35 --stair composite -S 7 bare.nrrd
}

@test "holodec: damaged and foreign pictures are refused, in words" {
	py "$bodies"'write_depth("in.nrrd", sphere(128))'
	holoenc -P 8 -S 5 in.nrrd -o good.png
	framecat good.png -o good.nrrd
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
		"holo_rounding", "up"), ("holo_size", "128"), ("holo_spacing", "a b"), ("holo_stair_turns", "-1"):
	put(key + ".nrrd", p, meta={**m, key: value})
put("turns.nrrd", p, meta={k: v for k, v in m.items() if k != "holo_stair_turns"})'
	fails 1 "a Holoimage has the channels r g b (is this one of its planes, or a grey copy?), not: image" holodec plane.nrrd
	fails 1 "the picture is grey" holodec grey.nrrd
	fails 1 "the picture is 64 x 64, but was encoded as 128 x 128" holodec small.nrrd
	fails 1 "the picture is no Holoimage" holodec photo.nrrd
	fails 1 "the picture is no Holoimage" holodec swapped.nrrd
	fails 1 "8 bits a sample, not 16" holodec ushort.nrrd
	fails 1 "the stairs are not those of the picture" holodec -S 4 good.png
	fails 1 "holo_rounding: must be level or angle, not 'up'" holodec holo_rounding.nrrd
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
	holoenc -P 20 in.nrrd -o picture.png
	holoenc -P 20 in.nrrd -o picture.jpg
	for options in "picture.png" "picture.jpg" "--decode plain --xyz picture.jpg" "--edge 7 picture.png" \
		"--decode median picture.png"; do
		holodec -j 1 $options >one.nrrd
		holodec -j 7 $options >seven.nrrd
		FRINGEPIPE_BAND=1 holodec -j 2 $options >band.nrrd
		FRINGEPIPE_BAND=13 holodec -j 2 $options >more.nrrd
		cmp one.nrrd seven.nrrd
		cmp one.nrrd band.nrrd
		cmp one.nrrd more.nrrd
		levels=$(cpu_levels)
		for level in $levels; do
			FRINGEPIPE_CPU=$level holodec $options >level.nrrd
			cmp one.nrrd level.nrrd
		done
	done
}

@test "holodec: --on-refusal: a refused frame behind a decoded one is NaN with a warning, or left out, or the end" {
	py "$bodies"'write_depth("in.nrrd", sphere(96))
rng = np.random.default_rng(1)
z = read_frame("in.nrrd")
z = Frame(np.stack([z["depth"], rng.uniform(0, 255, (96, 96))]).astype("f4"), ["depth", "t"], z.meta)
write_frames("all.nrrd", [z] * 9)'
	holoenc -P 12 --texture t all.nrrd -o good.nrrd
	py 'rng = np.random.default_rng(2)
frames = read_frames("good.nrrd")
for k in (2, 3, 5, 6, 7, 8):
	frames[k] = Frame(np.concatenate([rng.integers(0, 256, (3, 96, 96), "u1"), frames[k].pixels[3:]]), frames[k].names, frames[k].meta)
write_frames("bad.nrrd", frames)
write_frames("first.nrrd", frames[2:5])'
	for options in "" "--keep" "--xyz"; do
		holodec -q $options good.nrrd -o want.nrrd
		run --separate-stderr holodec $options bad.nrrd -o nan.nrrd
		[ "$status" -eq 0 ]
		[ "$(grep -c "is NaN: " <<<"$stderr")" -eq 5 ]
		[[ $stderr == *"holodec: frame 2: is NaN: the picture is no Holoimage"* ]]
		[[ $stderr == *"6 of 9 frames were refused" ]]
		py '
for k, (a, b) in enumerate(zip(read_frames("want.nrrd"), read_frames("nan.nrrd"), strict=True)):
	expect(a.names == b.names and (a["t"] == b["t"]).all(), k)
	for name in a.names:
		want = a[name] if k in (0, 1, 4) or name == "t" else np.full_like(a[name], np.nan)
		expect(np.array_equal(want, b[name], equal_nan=True), k, name)'
	done
	holodec -q good.nrrd -o want.nrrd
	holodec -q --on-refusal skip bad.nrrd -o skip.nrrd
	py 'a, b = read_frames("want.nrrd"), read_frames("skip.nrrd")
expect(len(b) == 3)
for k, i in enumerate((0, 1, 4)):
	expect(np.array_equal(a[i].pixels, b[k].pixels, equal_nan=True), i)'
	fails 1 "the picture is no Holoimage" holodec --on-refusal stop bad.nrrd -o none.nrrd
	fails 1 "the picture is no Holoimage" holodec first.nrrd -o none.nrrd
	[ ! -e none.nrrd ]
	holodec -q --on-refusal nan first.nrrd -o three.nrrd
	py 'expect([bool(np.isfinite(f["depth"]).any()) for f in read_frames("three.nrrd")] == [False, False, True])'
	run ! holodec -q --keep-going bad.nrrd -o kept.nrrd
	py 'expect(len(read_frames("kept.nrrd")) == 3)'
	# as a word in the chain, skipped frames are none for what follows
	fringepipe -q holodec --on-refusal skip bad.nrrd , normals -o chain.nrrd
	py 'expect(len(read_frames("chain.nrrd")) == 3)'
	framecat -q --frames 2,3 bad.nrrd -o refused.nrrd
	fails 1 "--on-refusal: skip leaves nothing: every picture was refused" \
		holodec -q --on-refusal skip refused.nrrd -o none.nrrd
	[ ! -e none.nrrd ]
	fails 2 "--on-refusal: must be one of nan skip stop" holodec --on-refusal no bad.nrrd
}

# What other programs make and leave: PNG without keys. W 128, so that stairs of S 4, 11 and 20 fit.
@test "holodec: without keys, levels tell whether something was lost, how they were rounded, and of other stairs" {
	py "$bodies"'write_depth("steps.nrrd", steps(128))'
	keys="-P 16 -t 30 --depth-range=-10,138 --z-axis towards"
	# holo S OPTION ...: bare.png and bare.jpg
	holo() {
		# shellcheck disable=SC2086
		holoenc -P 16 --depth-range=-10,138 -S "$@" steps.nrrd -o keyed.png
		/usr/bin/python3 -c 'from PIL import Image; Image.open("keyed.png").save("bare.png"); Image.open("keyed.png").save("bare.jpg", quality=98, subsampling=0)'
		framecat --delete "*" bare.png -o bare.png
	}
	# same OPTION ...: the depths are those that the keys lead to
	same() {
		holodec keyed.png -o want.nrrd
		# shellcheck disable=SC2086
		silent holodec $keys "$@" bare.png -o got.nrrd
		py 'expect(read_frame("got.nrrd")["depth"].view("u4") == read_frame("want.nrrd")["depth"].view("u4"), "depth")'
	}
	for rounding in angle level; do
		holo 11 -K 2 --rounding $rounding
		same --stair cosine -S 11 -K 2
		for turns in 0 1 3 9; do
			# shellcheck disable=SC2086
			fails 1 "--stair-turns: the stairs of the picture have 2 turns, not $turns" holodec $keys --stair cosine -S 11 -K $turns bare.png
		done
		# shellcheck disable=SC2086
		fails 1 "--stair-height: the stairs of the picture are 11 levels high, not 10" holodec $keys --stair cosine -S 10 -K 2 bare.png
		# shellcheck disable=SC2086
		fails 1 "--stair: the stairs of the picture are cosine, of 2 turns, not composite" holodec $keys --stair composite -S 11 bare.png
		holo 4 --stair composite --rounding $rounding
		same --stair composite -S 4
		# shellcheck disable=SC2086
		fails 1 "--stair: the stairs of the picture are composite, not cosine" holodec $keys --stair cosine -S 4 -K 0 bare.png
		# a picture that is lossy stays one: with --rounding level, which asks nothing, it decodes alike
		holo 11 --rounding $rounding
		# shellcheck disable=SC2086
		silent holodec $keys --stair cosine -S 11 -K 0 bare.jpg -o got.nrrd
		# shellcheck disable=SC2086
		silent holodec $keys --stair cosine -S 11 -K 0 --rounding level bare.jpg -o want.nrrd
		py 'expect(read_frame("got.nrrd")["depth"].view("u4") == read_frame("want.nrrd")["depth"].view("u4"), "lossy")'
	done
}

@test "holodec: levels that another program has cut are no loss; depths that no encoder makes are warned of" {
	py "$bodies"'
from PIL import Image
W, P, S, lo, hi = 256, 16, 11, 128, 243.2
x, z = np.arange(W)[None], sphere(W)
t = (x * np.cos(np.pi / 6) + (z - lo) / (hi - lo) * W / 2) / P
k, turn = np.floor(t), 2 * np.pi * t
levels = np.stack([127.5 * (1 + np.sin(turn)), 127.5 * (1 + np.cos(turn)),
	S * k + S / 2 - (S - 2) / 2 * np.cos(np.pi * (t - k))], -1)
picture = Image.fromarray(np.nan_to_num(levels).astype("u1"))
picture.save("cut.png")
picture.crop((8, 0, W + 8, W)).save("moved.png")'
	keys="-S 11 -K 0 --stair cosine --depth-range 128,243.2 --z-axis towards"
	# shellcheck disable=SC2086
	silent holodec $keys -P 16 -t 30 cut.png -o out.nrrd
	# a level that was cut moves the angle by up to 1/127.5 times the root of 2
	py "$bodies"'
want, got = sphere(256), read_frame("out.nrrd")["depth"]
expect(np.isnan(want) == np.isnan(got))
inside = np.isfinite(want)
expect(np.abs(got - want)[inside] < 1.02 * 2 ** 0.5 / 127.5 / (2 * np.pi) * 16 / 128 * 115.2, np.abs(got - want)[inside].max())'
	for wrong in "-P 16.5 -t 30 cut.png" "-P 16 -t 29 cut.png" "-P 16 -t 30 moved.png"; do
		# shellcheck disable=SC2086
		run --separate-stderr holodec $keys $wrong -o out.nrrd
		[ "$status" -eq 0 ]
		[[ "$stderr" == *"% of the picture, of which nothing was lost, decode to depths outside of the range"* ]]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}
