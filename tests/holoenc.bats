load helpers

# The formulas of holoimage(5) in float64: levels of a depth in [0, 1] towards the camera.
encode='
def levels(z, W, P, deg, stair, S, K):
	t = (np.arange(z.shape[1]) * np.cos(np.radians(deg)) + z * W * np.sin(np.radians(deg))) / P
	k = np.floor(t)
	b = S * k + (0 if stair == "composite" else
		S / 2 - (S - 2) / 2 * np.cos(2 * np.pi * (K + 0.5) * (t - k)))
	return np.stack([127.5 + 127.5 * np.sin(2 * np.pi * t), 127.5 + 127.5 * np.cos(2 * np.pi * t), b]), t
def check(f, z, W, P, deg, stair, S, K, order=(0, 1, 2)):
	want, t = levels(z, W, P, deg, stair, S, K)
	sure = (np.abs(t - np.round(t)) > 1e-4) & np.isfinite(z)
	got = f.pixels[list(order)].astype(float)
	off = np.where(sure, np.abs(got - want), 0)
	expect(off <= 0.5 + 0.02 * (K + 1), sys.argv, off.max())
	expect((got == 0) | np.isfinite(z))
'

@test "holoenc: levels are those of the formulas, at awkward sizes, both stairs, every option" {
	for size in 1x1 5x7 127x1 1x127 128x64 129x65; do
		py '
w, h = map(int, sys.argv[1].split("x"))
z = np.random.default_rng(1).uniform(0, 1, (h, w)).astype("f4")
z[::5, 1::3] = np.nan
write_frames("in.nrrd", Frame(z, ["depth"], {"z_axis": "towards"}))' $size
		side=$((${size%x*} > ${size#*x} ? ${size%x*} : ${size#*x}))
		for stair in composite cosine; do
			holoenc -P $side -t 40 --stair $stair -S 9 -K 2 --rounding level --depth-range 0,1 in.nrrd -o out.nrrd
			py "$encode"'
f, W, stair = read_frame("out.nrrd"), int(sys.argv[1]), sys.argv[2]
expect(f.pixels.dtype == np.uint8 and f.names == ["r", "g", "b"])
check(f, read_frame("in.nrrd")["depth"].astype(float), W, W, 40, stair, 9, 2)' $side $stair
		done
	done
}

@test "holoenc: what is not given is chosen and written down; the highest stair fits" {
	py '
z = np.linspace(3, 7, 64 * 48).reshape(48, 64).astype("f4")
write_frames("in.nrrd", Frame(z, ["depth"], {"length_unit": "mm"}))'
	holoenc --rounding level in.nrrd -o out.nrrd
	py "$encode"'
f, z = read_frame("out.nrrd"), read_frame("in.nrrd")["depth"].astype(float)
want = {"length_unit": "mm", "holo_size": "64 48", "holo_pitch_px": "4", "holo_theta_deg": "30",
	"holo_stair": "cosine", "holo_stair_height": "11", "holo_stair_turns": "0", "holo_layout": "rgb",
	"holo_depth_range": "3 7", "holo_spacing": "1 1", "holo_corner": "0 0", "z_axis": "away",
	"cmd.1": "holoenc --rounding=level [1]"}
expect({k: v for k, v in f.meta.items() if k != "holo_check"} == want, f.meta)
expect(len(f.meta["holo_check"]) == 128)
check(f, (7 - z) / 4, 64, 4, 30, "cosine", 11, 0)'
	for theta in 1 30 45 89; do
		for stair in composite cosine; do
			holoenc -P 5 -t $theta --stair $stair --rounding level in.nrrd -o out.nrrd
			py "$encode"'
f, z = read_frame("out.nrrd"), read_frame("in.nrrd")["depth"].astype(float)
S = int(f.meta["holo_stair_height"])
check(f, (7 - z) / 4, 64, 5, float(sys.argv[1]), sys.argv[2], S, 0)' $theta $stair
		done
	done
}

@test "holoenc: holo_check says what the page says, at every kind of place" {
	py '
y, x = np.mgrid[:200, :240].astype("f4")
z = 0.3 + 0.1 * np.sin(x / 30) * np.cos(y / 25); z[:70] = np.nan; z[100:, 150:] += 0.4; z[150:155, 40:50] = np.nan
write_frames("in.nrrd", Frame(z.astype("f4"), ["depth"], {"z_axis": "towards"}))'
	holoenc -P 9 --depth-range 0,1 in.nrrd -o out.nrrd
	py "$encode"'
f, z = read_frame("out.nrrd"), read_frame("in.nrrd")["depth"].astype(float)
h, w = z.shape
t = levels(z, w, 9, 30, "cosine", 1, 0)[1]
written, kinds = f.meta["holo_check"], [0, 0, 0]
digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index
for n in range(64):
	j, i = divmod(n, 8)
	x, y = (2 * i + 1) * w // 16, (2 * j + 1) * h // 16
	v = 64 * digit(written[2 * n]) + digit(written[2 * n + 1])
	near = t[max(y - 4, 0):y + 5, max(x - 4, 0):x + 5]
	if np.isnan(t[max(y - 8, 0):y + 9, max(x - 8, 0):x + 9]).all():
		expect(v == 4095, x, y, v); kinds[0] += 1
	elif near.shape != (9, 9) or not (np.abs(np.diff(near)).max() < 0.1 and np.abs(np.diff(near, axis=0)).max() < 0.1):
		expect(v == 4094, x, y, v); kinds[1] += 1
	else:
		want = 128 * t[y - 2:y + 3, x - 2:x + 3].mean()
		expect(abs((v - want + 1984) % 3968 - 1984) < 0.51, x, y, v, want); kinds[2] += 1
expect(min(kinds) > 5, kinds)'
}

@test "holoenc: of the 5 x 5 pairs of levels around the ideal one takes the nearest in angle" {
	py '
z = np.random.default_rng(7).uniform(0, 1, (256, 300)).astype("f4")
z[:2] = np.linspace(0, 1, 600).reshape(2, 300); z[9, 9] = np.nan
write_frames("in.nrrd", Frame(z, ["depth"], {"z_axis": "towards"}))'
	for code in "--stair composite" "--stair cosine" "--layout yuv"; do
		holoenc -P 60 -S 20 --depth-range 0,1 $code in.nrrd -o out.nrrd
		py "$encode"'
f, z = read_frame("out.nrrd"), read_frame("in.nrrd")["depth"].astype(float)
expect(f.meta["holo_rounding"] == "angle")
yuv = "yuv" in sys.argv[1]
red, green, blue = (f.pixels[[1, 2, 0]] if yuv else f.pixels).astype(float)
want, t = levels(z, 300, 60, 30, sys.argv[1].split()[1] if not yuv else "cosine", 20, 0)
def off(r, g):
	return np.abs(np.angle(np.exp(1j * (np.arctan2(r - 127.5, g - 127.5) - 2 * np.pi * t))))
best = np.full(z.shape, 9.)
for i in range(-2, 3):
	for j in range(-2, 3):
		r, g = (np.clip(np.floor(want[c] + 0.5) + d, 0, 255) for c, d in ((0, i), (1, j)))
		best = np.fmin(best, off(r, g))
there = np.isfinite(z)
ours, level = off(red, green)[there], off(np.floor(want[0] + .5), np.floor(want[1] + .5))[there]
# the turns are floats: a pair may be nearer to what float arithmetic makes of them
expect(np.abs(ours - best[there]) < 3e-5, np.abs(ours - best[there]).max())
rms = [np.sqrt((e ** 2).mean()) for e in (ours, level)]
expect(rms[0] < 0.00095 and rms[0] < 0.42 * rms[1], rms)
expect(np.hypot(red - 127.5, green - 127.5)[there] - 127.5 < 3.4)
sure = there & (np.abs(t - np.round(t)) > 1e-4)
expect(np.where(sure, np.abs(blue - want[2]), 0) <= 0.52)
expect(f.pixels[:, 9, 9] == 0)' "$code"
	done
	fails 2 "--rounding" holoenc --rounding pair in.nrrd -o no.nrrd
}

@test "holoenc: layout yuv puts the stairs into luma" {
	py '
z = np.random.default_rng(2).uniform(0, 1, (20, 30)).astype("f4")
write_frames("in.nrrd", Frame(z, ["depth"], {"z_axis": "towards"}))'
	holoenc --layout yuv -P 9 -S 5 --rounding level --depth-range 0,1 in.nrrd -o out.nrrd
	py "$encode"'
f = read_frame("out.nrrd")
expect(f.names == ["luma", "chroma_u", "chroma_v"] and f.meta["holo_layout"] == "yuv", f.names)
check(f, read_frame("in.nrrd")["depth"].astype(float), 30, 9, 30, "cosine", 5, 0, (1, 2, 0))'
}

@test "holoenc: z away is z towards turned over; --z-axis wins; a range cuts off" {
	py '
z = np.random.default_rng(3).uniform(-2, 2, (20, 30)).astype("f4")
write_frames("away.nrrd", Frame(z, ["depth"], {"z_axis": "away"}))
write_frames("towards.nrrd", Frame(-z, ["depth"], {"z_axis": "towards"}))
write_frames("plain.nrrd", Frame(-z, ["depth"]))'
	holoenc --depth-range=-1,1 away.nrrd -o a.nrrd
	holoenc --depth-range=-1,1 towards.nrrd -o t.nrrd
	holoenc --depth-range=-1,1 --z-axis towards plain.nrrd -o p.nrrd
	py '
a, t, p = (read_frame(n + ".nrrd") for n in "atp")
z = read_frame("away.nrrd")["depth"]
expect(a.pixels == t.pixels); expect(t.pixels == p.pixels)
expect((a.pixels.max(0) == 0) == (np.abs(z) > 1))
expect(a.meta["z_axis"] == "away" and p.meta["z_axis"] == "towards")'
}

@test "holoenc: a depth_range in the metadata serves all frames of a stream, else each has its own" {
	py '
z = np.random.default_rng(4).uniform(1, 2, (2, 6, 9)).astype("f4"); z[1] *= 3
z[0, 0, 0], z[0, 5, 8], z[1, 0, 0], z[1, 5, 8] = 1, 2, 2.5, 6
z[0, 2, 2] = np.inf
for name, meta in ("own", {}), ("common", {"depth_range": "0 8"}):
	write_frames(name + ".nrrd", [Frame(z[i], ["depth"], meta) for i in range(2)])'
	holoenc own.nrrd -o a.nrrd
	holoenc common.nrrd -o b.nrrd
	py '
a, b = read_frames("a.nrrd"), read_frames("b.nrrd")
expect([f.meta["holo_depth_range"] for f in a] == ["1 2", "2.5 6"], a[0].meta, a[1].meta)
expect([f.meta["holo_depth_range"] for f in b] == ["0 8"] * 2)
expect(a[0].pixels[:, 2, 2] == 0)'
}

@test "holoenc: xyz on a regular grid gives spacing and corner; any other xyz is refused" {
	py '
y, x = np.mgrid[:40, :50].astype("f4")
z = np.random.default_rng(5).uniform(0, 1, (40, 50)).astype("f4")
p = np.stack([10 + 0.25 * x, 3 - 0.5 * y, z]); p[:, 7:9, 3] = np.nan
write_frames("in.nrrd", Frame(p, ["x", "y", "z"]))
p[0, 20, 30] += 0.1
write_frames("bad.nrrd", Frame(p, ["x", "y", "z"]))
write_frames("one.nrrd", Frame(p[:, :1, :1], ["x", "y", "z"]))'
	holoenc in.nrrd -o out.nrrd
	py '
m = read_frame("out.nrrd").meta
near = lambda key, want: expect(np.abs(np.array(m[key].split(), float) - want) < 1e-5, m[key])
near("holo_spacing", [0.25, -0.5]); near("holo_corner", [10, 3])'
	fails 1 "pixel (30, 20) lies 0.4 pixels off" holoenc bad.nrrd
	holoenc one.nrrd | holodec --xyz -o out.nrrd
	py 'expect(np.abs(read_frame("out.nrrd").pixels - read_frame("one.nrrd").pixels) < 1e-2)'
}

@test "holoenc: texture goes into alpha, scaled by max_value" {
	py '
t = np.arange(12, dtype="f4").reshape(3, 4) * 300; t[0, 0] = np.nan
write_frames("in.nrrd", Frame(np.stack([t * 0 + 1, t]), ["depth", "texture"], {"max_value": "4095"}))'
	holoenc --texture texture in.nrrd -o out.png
	framecat out.png -o out.nrrd
	py '
f = read_frame("out.nrrd")
t = np.arange(12).reshape(3, 4) * 300
expect(np.abs(f["a"].astype(float) - t * 255 / 4095) <= 0.5001, f["a"])
expect(f.meta["holo_texture"] == "texture" and "max_value" not in f.meta, f.meta)'
	fails 1 "input has no channel colour, only: depth texture" holoenc --texture colour in.nrrd
}

@test "holoenc: all NaN is all black; a flat depth and a single pixel are fine" {
	py '
write_frames("nan.nrrd", Frame(np.full((4, 5), np.nan, "f4"), ["depth"]))
write_frames("flat.nrrd", Frame(np.full((4, 5), 7, "f4"), ["depth"]))
write_frames("one.nrrd", Frame(np.full((1, 1), -3, "f4"), ["depth"]))'
	for name in nan flat one; do
		# a run without a valid pixel fails, and has written its picture
		holoenc $name.nrrd -o $name.png || [ $name = nan ]
		holodec $name.png -o out.nrrd || [ $name = nan ]
		py '
a, b = read_frame(sys.argv[1])["depth"], read_frame("out.nrrd")["depth"]
expect(np.isnan(a) == np.isnan(b)); expect((np.abs(a - b) < 1e-3) | np.isnan(a), b)' $name.nrrd
	done
}

@test "holoenc: threads, bands and instruction levels make no difference" {
	py '
z = np.random.default_rng(6).uniform(0, 1, (100, 333)).astype("f4"); z[::7] = np.nan
write_frames("in.nrrd", [Frame(np.stack([z, z * 200]), ["depth", "texture"]), Frame(z[:50], ["depth"])])
write_frames("first.nrrd", Frame(np.stack([z, z * 200]), ["depth", "texture"]))'
	holoenc -j 1 <in.nrrd >one.nrrd
	holoenc -j 7 <in.nrrd >seven.nrrd
	FRINGEPIPE_BAND=1 holoenc -j 2 <in.nrrd >band.nrrd
	cmp one.nrrd seven.nrrd
	cmp one.nrrd band.nrrd
	levels=$(cpu_levels)
	for level in $levels; do
		FRINGEPIPE_CPU=$level holoenc <in.nrrd >level.nrrd
		cmp one.nrrd level.nrrd
	done
	fringepipe holoenc first.nrrd , holodec >chain.nrrd
	holoenc first.nrrd | holodec >pipe.nrrd
	py 'a, b = read_frame("chain.nrrd"), read_frame("pipe.nrrd"); expect(a.pixels.tobytes() == b.pixels.tobytes())'
}

@test "holoenc: its JPEG is for fringes, of quality 94; --jpeg-for and --quality are framecat's; no other stage's file is" {
	py 'y, x = np.mgrid[:64, :96]; write_frames("in.nrrd", Frame((x + 9 * np.sin(y / 9)).astype("f4"), ["depth"]))'
	holoenc in.nrrd -o holo.nrrd
	same() { # the pictures in two JPEG files, whose keys tell different commands
		"$python" -c 'import sys
from PIL import Image
a, b = map(Image.open, sys.argv[1:])
assert a.quantization == b.quantization and a.tobytes() == b.tobytes()' "$@"
	}
	for words in "" "--quality 50" "--jpeg-for eyes" "--jpeg-for eyes --quality 30"; do
		holoenc $words in.nrrd -o one.jpg
		framecat --jpeg-for fringes --quality 94 $words holo.nrrd -o two.jpg
		same one.jpg two.jpg
	done
	fringepipe holoenc in.nrrd , holodec , shade -o shaded.jpg
	holodec holo.nrrd | shade -o alone.jpg
	same shaded.jpg alone.jpg
	fails 2 "--quality: must be 1 to 100" holoenc --quality 101 in.nrrd -o one.jpg
	fails 2 "--jpeg-for: must be one of eyes fringes" holoenc --jpeg-for ears in.nrrd -o one.jpg
}

@test "holoenc: refuses stairs that do not fit, with the numbers, and the pitch it names works" {
	py 'write_frames("in.nrrd", Frame(np.zeros((512, 512), "f4"), ["depth"]))'
	fails 1 "a pitch of 4 px makes 175 stairs on 512 x 512 pixels at theta 30 degrees; of 2 levels each, they do not fit into 256: give a pitch above 5.4" \
		holoenc -P 4 in.nrrd
	fails 1 "at most 12 levels, or a pitch above 40." holoenc -P 32 -t 18 -S 16 in.nrrd
	holoenc -P 5.5 in.nrrd -o out.nrrd
	holoenc -P 41 -t 18 -S 16 in.nrrd -o out.nrrd
	fails 1 "cosine stairs must be at least 2 levels high, not 1" holoenc -S 1 in.nrrd
}

@test "holoenc: errors" {
	py '
write_frames("in.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"]))
write_frames("phase.nrrd", Frame(np.zeros((3, 3), "f4"), ["absphase"]))
write_frames("axis.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"], {"z_axis": "up"}))
write_frames("range.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"], {"depth_range": "1 2 3"}))
write_frames("words.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"], {"depth_range": "near far"}))
write_frames("rgb.nrrd", Frame(np.stack([np.linspace(0, 2, 72, dtype="f4").reshape(8, 9)] * 4), ["depth", "r", "g", "b"]))
write_frames("white.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"], {"max_value": "0"}))'
	fails 1 "input has no channel depth, only: absphase" holoenc phase.nrrd
	fails 2 "--theta" holoenc -t 90 in.nrrd
	fails 2 "--theta" holoenc -t 0 in.nrrd
	fails 2 "--pitch" holoenc -P 0 in.nrrd
	fails 2 "--stair-height" holoenc -S 256 in.nrrd
	fails 2 "--stair-turns" holoenc -K 65 in.nrrd
	fails 2 "--stair: must be one of composite cosine" holoenc --stair flat in.nrrd
	fails 2 "--layout" holoenc --layout bgr in.nrrd
	fails 2 "--depth-range: must be two numbers, not 3" holoenc --depth-range 1,2,3 in.nrrd
	fails 1 "--depth-range: the first depth must be less than the second, not 2 and 1" \
		holoenc --depth-range 2,1 in.nrrd
	fails 1 "z_axis: must be towards or away, not 'up'" holoenc axis.nrrd
	fails 1 "depth_range: must be two numbers" holoenc range.nrrd
	fails 1 "depth_range" holoenc words.nrrd
	fails 1 "max_value: must be more than 0, not 0" holoenc --texture depth white.nrrd
	fails 0 "r g b: the frame's colours are dropped: --texture r,g,b --texture-place below keeps them" \
		holoenc --depth-range 0,2 rgb.nrrd rgb.nrrd -o r%d.png
	fails 0 "r g b: the frame's colours are dropped: --texture r,g,b keeps them" depthenc --depth-range 0,2 rgb.nrrd -o r.png
	framecat --set max_value=2 rgb.nrrd | silent holoserve --port 0 --depth-range 0,2 --encode luma
	fails 2 "--texture: alpha is one channel: a colour goes below (--texture-place below)" \
		holoenc --depth-range 0,2 --texture r,g,b rgb.nrrd -o x.png
	fails 2 "--texture: is one channel or three, not 'r,g'" holoenc --depth-range 0,2 --texture r,g rgb.nrrd -o x.png
	fails 2 "--texture: is one channel or three, not 'r,g,b,r'" depthenc --depth-range 0,2 --texture r,g,b,r rgb.nrrd -o x.png
	framecat --set max_value=2 rgb.nrrd | silent holoenc --depth-range 0,2 --texture g -o r.png
	silent holoserve --port 0 r0.png
	fails 1 "nothing.nrrd" holoenc nothing.nrrd
}

@test "holoenc: --depth-range file is that of all frames, from files, a folder and a redirected file" {
	py '
y, x = np.mgrid[:24, :40].astype("f4")
def at(k):
	z = (x + y + 10 * k).astype("f4")
	z[:3] = np.nan
	return z
frames = [Frame(at(k), ["depth"], {"depth_range": "0 1"}) for k in range(4)]
frames[2] = Frame(np.full((24, 40), np.nan, "f4"), ["depth"])
write_frames("all.nrrd", frames)
import os
os.mkdir("folder")
for k in range(4):
	write_frames("folder/%d.nrrd" % k, frames[k])
write_frames("later.nrrd", [Frame(np.stack([x, y, at(9)]), ["x", "y", "z"]), Frame((500 - x - y).astype("u2"), ["depth"])])'
	holoenc --depth-range 3,92 all.nrrd -o given.nrrd
	holoenc --depth-range file all.nrrd -o one.nrrd
	holoenc --depth-range file folder -o two.nrrd
	holoenc --depth-range file <all.nrrd >three.nrrd
	holoenc --depth-range file - <all.nrrd >four.nrrd
	py '
want = read_frames("given.nrrd")
for name in "one", "two", "three", "four":
	for a, b in zip(want, read_frames(name + ".nrrd"), strict=True):
		expect(a.meta["holo_depth_range"] == b.meta["holo_depth_range"] == "3 92", name, b.meta)
		expect(a.pixels.tobytes() == b.pixels.tobytes(), name)
expect("--depth-range=file" in read_frames("one.nrrd")[0].meta["cmd.1"])'
	# grid points and whole numbers count as well
	holoenc --depth-range file all.nrrd later.nrrd -o more.nrrd
	py 'expect({f.meta["holo_depth_range"] for f in read_frames("more.nrrd")} == {"3 500"}, [f.meta for f in read_frames("more.nrrd")])'
	fails 2 "--depth-range: file: standard input cannot be read twice" holoenc --depth-range file < <(cat all.nrrd)
	fails 2 "cannot be read twice: give a file, or the two depths" holoenc --depth-range file <(cat all.nrrd)
	fails 2 "--depth-range: file: frames of another stage cannot be read twice: give the two depths" \
		fringepipe framecat all.nrrd , holoenc --depth-range file
	fails 2 "--depth-range: wants numbers separated by commas" holodec --depth-range file one.nrrd
	fails 1 "nothing.nrrd" holoenc --depth-range file nothing.nrrd
	head -c 3000 all.nrrd >cut.nrrd
	fails 1 "cut.nrrd" holoenc --depth-range file cut.nrrd -o cut.png
	[ ! -e cut.png ]
	holoenc --depth-range file all.nrrd cut.nrrd --keep-going -o kept.nrrd || [ $? -eq 1 ]
	py 'expect({f.meta["holo_depth_range"] for f in read_frames("kept.nrrd")} == {"3 92"})'
}

@test "holoenc: a video whose depth range differs from frame to frame is not written" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py '
y, x = np.mgrid[:48, :64].astype("f4")
write_frames("all.nrrd", [Frame((x + y + k).astype("f4"), ["depth"]) for k in range(3)])'
	fails 1 "one video has one (for depth, --depth-range" holoenc --layout yuv all.nrrd -o out.mkv
	[ ! -e out.mkv ]
	holoenc --layout yuv --depth-range file all.nrrd -o out.mkv
}

@test "holoenc: --texture-place below is one frame of double height, which holodec takes apart by its keys" {
	py '
y, x = np.mgrid[:49, :67].astype("f4")
def frame(k):
	z = np.where((x - 33) ** 2 + (y - 24 - k) ** 2 < 20 ** 2, 9 + np.sin(x / 9) + k, np.nan)
	t = 100 + 90 * np.sin(x / 5) * np.cos(y / 7)
	t[3, 4] = np.nan
	return Frame(np.stack([z, t]).astype("f4"), ["depth", "t"], {"z_axis": "towards", "max_value": "200"})
write_frames("in.nrrd", [frame(k) for k in range(3)])'
	for layout in rgb yuv; do
		for gain in 1 0.5; do
			options="-P 9 --layout $layout --depth-range 5,15 --texture t --texture-gain $gain"
			holoenc $options in.nrrd -o alpha.nrrd
			holoenc $options --texture-place below in.nrrd -o below.nrrd
			holodec alpha.nrrd -o want.nrrd
			holodec below.nrrd -o got.nrrd
			holoenc $options --texture-place below in.nrrd | holodec >pipe.nrrd
			fringepipe holoenc $options --texture-place below in.nrrd , holodec --xyz -o chain.nrrd
			py '
layout, gain = sys.argv[1], float(sys.argv[2])
luma = 1 if layout == "rgb" else 0
for a, b in zip(read_frames("alpha.nrrd"), read_frames("below.nrrd"), strict=True):
	expect(b.pixels.shape == (3, 98, 67) and (b.pixels[:, :49] == a.pixels[:3]).all())
	expect((b.pixels[luma, 49:] == a["a"]).all())
	rest = [c for c in range(3) if c != luma]
	expect((b.pixels[rest, 49:] == (b.pixels[luma, 49:] if luma else a.pixels[rest, 48:49])).all())
	expect(b.meta["holo_size"] == "67 49" and b.meta["holo_texture_place"] == "below", b.meta)
source = read_frames("in.nrrd")
for k, names in ("got", ["depth", "t"]), ("pipe", ["depth", "t"]), ("chain", ["x", "y", "z", "t"]):
	for s, a, b in zip(source, read_frames("want.nrrd"), read_frames(k + ".nrrd"), strict=True):
		expect(b.names == names and b.pixels.shape[1:] == (49, 67), b.names)
		expect(np.array_equal(a["depth"], b[names[-2]], equal_nan=True) and np.array_equal(a["t"], b["t"]), k)
		expect(abs(np.where(np.isnan(s["t"]), 0, s["t"]) - b["t"]).max() <= 0.501 * 200 / 255 / gain)
		expect(abs(float(b.meta["max_value"]) - 200) < 1e-9 and not [m for m in b.meta if m.startswith("holo_")], b.meta)' \
				$layout $gain
		done
	done
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	for chroma in 444 420; do
		holoenc -P 40 --layout yuv --depth-range 5,15 --texture t --texture-place below in.nrrd |
			framecat -f --crf 10 --chroma $chroma -o below.mp4
		holodec below.mp4 -o out.nrrd
		py '
for a, b in zip(read_frames("in.nrrd"), read_frames("out.nrrd"), strict=True):
	expect(b.names == ["depth", "t"] and b.pixels.shape[1:] == (49, 67))
	off = np.where(np.isfinite(a["t"]), a["t"], 0) - b["t"]
	expect(np.sqrt((off ** 2).mean()) < 5, off)'
	done
}

@test "holoenc, holodec, dither3: a texture below that cannot be is refused" {
	py '
write_frames("in.nrrd", Frame(np.ones((2, 12, 16), "f4"), ["depth", "t"]))'
	fails 2 "--texture-place: is of a texture: give --texture CHANNEL" holoenc --texture-place below in.nrrd
	fails 2 "--texture-gain: is of a texture" holoenc --texture-gain 0.5 in.nrrd
	fails 2 "--texture-gain" holoenc --texture t --texture-gain 2 in.nrrd
	fails 2 "--texture-place: must be one of alpha below" holoenc --texture t --texture-place above in.nrrd
	holoenc --depth-range 0,2 --texture t --texture-place below in.nrrd -o whole.png
	framecat whole.png --crop 0,0,16,23 -o odd.png
	fails 1 "has an even number of rows, not 23" holodec odd.png
	framecat whole.png --crop 0,0,16,20 -o cut.png
	fails 1 "scaled or cut" holodec cut.png
	framecat whole.png --set holo_texture_place=left -o word.png
	fails 1 "holo_texture_place: must be alpha or below, not 'left'" holodec word.png
	fails 1 "holo_texture_place: the texture lies below the picture" dither3 whole.png
}
