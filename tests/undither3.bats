load helpers

# A sphere of radius 0.45 W as a Holoimage (methods §12): P 42, theta 30, K 0; and what is left of it.
sphere='
def sphere(W=512):
	y, x = np.mgrid[:W, :W].astype(float)
	c, R = (W - 1) / 2, 0.45 * W
	q = R * R - (x - c) ** 2 - (y - c) ** 2
	z = np.where(q >= 0, W / 2 + np.sqrt(np.maximum(q, 0)), np.nan)
	return z, np.hypot(x - c, y - c) <= R - 6
def spikes(e, P=42.0):
	turn = P / np.sin(np.radians(30))
	return np.round(e / turn), e - turn * np.round(e / turn)
'
make_sphere() {
	py "$sphere"'write_frames("z.nrrd", Frame(sphere()[0].astype("f4"), ["depth"], {"z_axis": "towards"}))'
	holoenc -P 42 -t 30 -K 0 --depth-range 0,512 z.nrrd -o holo.png
}

@test "undither3: the sphere by the papers' decoder and by ours" {
	make_sphere
	for case in "fs 0.15 0.045" "fs-serpentine 0.15 0.055" "bayer 0.2 0.16" "blue 0.2 0.15" "best 0.15 0.036"; do
		set -- $case
		dither3 -m $1 holo.png -o three.png
		undither3 --filter gauss three.png | holodec --decode plain -o plain.nrrd
		undither3 three.png | holodec -o ours.nrrd
		py "$sphere"'
z, inner = sphere()
turns, rest = spikes((read_frame("plain.nrrd")["depth"] - z)[inner])
rms = 100 * np.sqrt(np.nanmean(rest ** 2)) / 460.8
print("# %s: papers %.4f %% beside %d spikes" % (sys.argv[1], rms, (turns != 0).sum()))
expect(rms <= float(sys.argv[2]), sys.argv, rms)
d = read_frame("ours.nrrd")["depth"]
e = (d - z)[inner]
lost, e = np.isnan(e).mean(), e[~np.isnan(e)]
rms = 100 * np.sqrt((e ** 2).mean()) / 460.8
print("# %s: ours %.4f %%, lost %.3f %%" % (sys.argv[1], rms, 100 * lost))
expect(spikes(e)[0] == 0, "spikes", (spikes(e)[0] != 0).sum())
expect(rms <= float(sys.argv[3]) and lost < 0.001, sys.argv, rms, lost)
expect(np.isnan(d[np.isnan(z)]), "no surface beside the sphere")
expect((np.isnan(d) & np.isfinite(z)).sum() < 0.03 * np.isfinite(z).sum())' $1 $2 $3 >&3
	done
}

@test "undither3: both stairs, video layout, NaN in the depth, options instead of metadata" {
	py '
y, x = np.mgrid[:150, :200]
z = 100 + 30 * np.sin(x / 30) + 20 * np.cos(y / 25)
z[40:90, 60:110] = np.nan
write_frames("z.nrrd", Frame(z.astype("f4"), ["depth"], {"z_axis": "towards"}))'
	for code in "--stair cosine --layout rgb" "--stair composite --layout rgb" "--stair cosine --layout yuv"; do
		holoenc -P 40 -t 35 -K 0 -S 20 $code --depth-range 0,200 z.nrrd -o holo.png
		dither3 holo.png -o three.png
		undither3 three.png | holodec -o d.nrrd
		py '
z, d = (read_frame(n)["depth"] for n in ("z.nrrd", "d.nrrd"))
e = np.abs(d - z)[6:-6, 6:-6]
expect(np.isfinite(e).sum() > 0.9 * np.isfinite(z[6:-6, 6:-6]).sum(), np.isfinite(e).sum())
expect(np.nanmax(e) < 6 and np.sqrt(np.nanmean(e ** 2)) < 0.7, sys.argv, np.nanmax(e), np.sqrt(np.nanmean(e ** 2)))
expect(np.isnan(d[45:85, 65:105]))' $code
		py 'f = read_frame(sys.argv[1]); write_frames("bare.nrrd", Frame(f.pixels))' <(framecat three.png)
		undither3 -P 40 -t 35 -K 0 -S 20 $code --depth-range 0,200 --z-axis towards --pack msb \
			-m best --sigma 3 --texture 0 bare.nrrd | holodec -o e.nrrd
		py 'expect(np.array_equal(*(read_frame(n)["depth"] for n in ("d.nrrd", "e.nrrd")), equal_nan=True))'
	done
}

@test "undither3: every pack gives the same; textures of 1 and 8 bits" {
	py '
y, x = np.mgrid[:64, :90]
z = 40 + 8 * np.sin(x / 15) + y * 0.2
t = 100 + 80 * np.sin(x / 20 + y / 25)
write_frames("z.nrrd", Frame(np.stack([z, t]).astype("f4"), ["depth", "texture"], {"z_axis": "towards"}))'
	holoenc -P 30 -K 0 --depth-range 0,90 --texture texture z.nrrd -o holo.png
	for c in "msb 0" "msb 1" "planar 0" "planar 1" "rgb 0" "rgb 1" "rgb 8"; do
		set -- $c
		dither3 -m fs --pack $1 --texture $2 holo.png -o three.png
		undither3 three.png -o "$1$2.nrrd"
		undither3 --filter gauss three.png -o "gauss$1$2.nrrd"
		py '
f, g = read_frame(sys.argv[1] + ".nrrd"), read_frame("gauss" + sys.argv[1] + ".nrrd")
for frame, first in (f, "msb0.nrrd"), (g, "gaussmsb0.nrrd"):
	expect(frame.pixels[:3] == read_frame(first).pixels, sys.argv)
expect(f.names == ["r", "g", "b", "a"][:3 + (sys.argv[2] != "0")], f.names)
expect("holo_pack" not in f.meta and "bits" not in f.meta and "holo_dither" not in f.meta, f.meta)
if sys.argv[2] != "0":
	t = read_frame("z.nrrd")["texture"][8:-8, 8:-8]
	off = np.abs(f["a"][8:-8, 8:-8] - t)
	expect(off.max() < (45 if sys.argv[2] == "1" else 0.51), off.max())' $1$2 $2
	done
	undither3 three.png | holodec -o d.nrrd
	py 'expect(read_frame("d.nrrd").names == ["depth", "texture"])'
}

@test "undither3: the Gaussian is that of the papers" {
	py 'write_frames("in.nrrd", Frame((np.random.default_rng(3).integers(0, 8, (21, 33)) * 32).astype("u1"), None, {"holo_pack": "msb"}))'
	undither3 --filter gauss in.nrrd -o out.nrrd
	py '
v = read_frame("in.nrrd").pixels[0]
k = np.exp(-0.5 * (np.arange(-3, 4) / (7 / 3)) ** 2); k /= k.sum()
for c, bit in enumerate((128, 64, 32)):
	p = np.pad(255.0 * ((v & bit) > 0), 3)
	want = sum(k[i] * k[j] * p[i:i + 21, j:j + 33] for i in range(7) for j in range(7))
	got = read_frame("out.nrrd").pixels[c]
	expect(np.abs(got - want) < 1e-3, c, np.abs(got - want).max())'
}

@test "undither3: awkward sizes, nothing but background, and nothing but noise, go through" {
	for size in 1x1 5x7 127x1 1x127 129x65 600x3; do
		for what in 0 1; do
			py '
w, h = map(int, sys.argv[1].split("x"))
p = (np.random.default_rng(5).integers(0, 8, (h, w)) * 32 * int(sys.argv[2])).astype("u1")
write_frames("in.nrrd", Frame(p))' $size $what
			side=$((${size%x*} > ${size#*x} ? ${size%x*} : ${size#*x}))
			for keep in "" --keep; do
				undither3 $keep --pack msb -P $side -t 30 --stair cosine -K 0 -S 20 --depth-range 0,1 in.nrrd -o out.nrrd
				py '
f = read_frame("out.nrrd"); w, h = map(int, sys.argv[1].split("x"))
expect(f.pixels.shape == (3, h, w) and np.isfinite(f.pixels).all() and (f.pixels >= 0).all() and (f.pixels <= 255.5).all(), f.pixels.shape)
expect(sys.argv[2] == "1" or (f.pixels == 0).all())
expect("--keep" not in sys.argv or sys.argv[2] == "0" or f.pixels.any())' $size $what $keep
			done
		done
	done
}

@test "undither3: a jump of many periods; what is beside it is dropped or right" {
	py '
z = np.full((160, 200), 30.0); z[:, 100:] = 153.7
write_frames("z.nrrd", Frame(z.astype("f4"), ["depth"], {"z_axis": "towards"}))'
	holoenc -P 40 -K 0 --depth-range 0,200 z.nrrd -o holo.png
	for method in fs best bayer; do
		dither3 -m $method holo.png -o three.png
		undither3 three.png | holodec -o d.nrrd
		undither3 --keep three.png | holodec -o keep.nrrd
		py '
z, d, k = (read_frame(n)["depth"] for n in ("z.nrrd", "d.nrrd", "keep.nrrd"))
far = np.abs(np.arange(200) - 99.5) > 10
expect(np.isfinite(d[8:-8, 8:-8][:, far[8:-8]]))
expect(np.abs(d - z)[np.isfinite(d)] < 8, sys.argv, np.nanmax(np.abs(d - z)))
expect(np.isfinite(k).sum() > np.isfinite(d).sum())' $method
	done
}

@test "undither3: one thread equals seven, every instruction set alike" {
	make_sphere
	dither3 -m fs holo.png -o three.nrrd
	undither3 -j 1 three.nrrd -o one.nrrd
	undither3 -j 7 three.nrrd -o seven.nrrd
	FRINGEPIPE_CPU=v2 undither3 three.nrrd -o plain.nrrd
	cmp one.nrrd seven.nrrd
	cmp one.nrrd plain.nrrd
}

@test "undither3: a real scan in three bits; sizes and errors of the table in dither3(1)" {
	need_data meshes
	py '
from PIL import Image
a = np.array(Image.open(sys.argv[1])).astype(float)
write_frames("z.nrrd", Frame(np.where(a > 0, (65535 - a) / 65534, np.nan).astype("f4"), ["depth"], {"z_axis": "towards"}))
' "$data/meshes/bunny_depth_512_u16.png"
	holoenc -P 42 -K 0 --depth-range 0,1 z.nrrd -o holo.png
	for method in bayer fs "best" "best --price 0.05"; do
		dither3 -m $method holo.png -o msb.png
		dither3 -m $method --pack planar holo.png -o planar.png
		undither3 msb.png -o levels.nrrd
		undither3 planar.png | framecmp - levels.nrrd
		holodec levels.nrrd -o d.nrrd
		py '
import os
z, d = (read_frame(n)["depth"].astype(float) for n in ("z.nrrd", "d.nrrd"))
e = (d - z)[np.isfinite(d) & np.isfinite(z)]
size = [os.path.getsize(n + ".png") for n in ("holo", "msb", "planar")]
rms, lost = 100 * np.sqrt((e ** 2).mean()), 100 * (1 - len(e) / np.isfinite(z).sum())
print("# %-18s msb %d (%.2f:1) planar %d (%.2f:1) rms %.3f %% lost %.1f %%" % (sys.argv[1],
	size[1], size[0] / size[1], size[2], size[0] / size[2], rms, lost))
expect(rms < 0.25 and lost < 8, rms, lost)
if "price" in sys.argv[1]:
	expect(size[0] / size[1] >= 8.2 and rms <= 0.17, size, rms)' "$method" >&3
	done
}

@test "undither3: errors and damaged pictures" {
	py '
keys = {"holo_pack": "msb"}
write_frames("plain.nrrd", Frame(np.zeros((4, 6), "u1")))
write_frames("msb.nrrd", Frame(np.zeros((4, 6), "u1"), None, keys))
write_frames("odd.nrrd", Frame(np.full((4, 6), 33, "u1"), None, keys))
write_frames("rgb.nrrd", Frame(np.zeros((3, 4, 6), "u1"), ["r", "g", "b"], keys))
write_frames("float.nrrd", Frame(np.zeros((4, 6), "f4"), None, keys))
write_frames("planar.nrrd", Frame(np.zeros((4, 7), "u1"), None, {"holo_pack": "planar"}))
write_frames("cut.nrrd", Frame(np.zeros((4, 6), "u1"), None, {"holo_pack": "msb", "holo_size": "8 4"}))
write_frames("new.nrrd", Frame(np.zeros((4, 6), "u1"), None, {"holo_pack": "lsb"}))
write_frames("sigma.nrrd", Frame(np.zeros((4, 6), "u1"), None, {"holo_pack": "msb", "holo_sigma_px": "100"}))
write_frames("bits.nrrd", Frame(np.zeros((4, 6), "u1"), None, {"holo_pack": "msb", "holo_texture_bits": "3"}))
write_frames("eight.nrrd", Frame(np.zeros((4, 6), "u1"), None, {"holo_pack": "msb", "holo_texture_bits": "8"}))'
	fails 1 "give --pack" undither3 plain.nrrd
	fails 1 "give --pitch" undither3 msb.nrrd
	fails 1 "pixel (0, 0) is 33" undither3 --filter gauss odd.nrrd
	fails 1 "has 1 channel, not 3" undither3 rgb.nrrd
	fails 1 "samples of 8 bits, not float" undither3 float.nrrd
	fails 1 "cannot be 7 columns wide" undither3 planar.nrrd
	fails 1 "was encoded as 8 x 4" undither3 cut.nrrd
	fails 1 "holo_pack: must be one that this program knows, such as msb, not 'lsb'" undither3 new.nrrd
	fails 1 "holo_sigma_px: must be from 0.5 to 8, not 100" undither3 sigma.nrrd
	fails 1 "holo_texture_bits: must be 0, 1 or 8, not 3" undither3 bits.nrrd
	fails 1 "packed as rgb only, not msb" undither3 eight.nrrd
	fails 2 "--filter: must be one of fit gauss" undither3 --filter median msb.nrrd
	py 'write_frames("z.nrrd", Frame(np.full((20, 30), 5, "f4"), ["depth"]))'
	holoenc -P 30 -K 0 z.nrrd | dither3 -m fs -o three.png
	head -c 300 three.png >short.png
	run undither3 short.png
	[ "$status" -eq 1 ]
}
