load helpers

@test "framecat --scale: tools that count in mm or rad refuse scaled samples and name --unscale" {
	fringesim -q -s 64x48 -p 20 --truth truth.nrrd -o images.nrrd
	framecat -c depth --scale auto --as ushort truth.nrrd -o scaled.png
	for tool in normals shade holoenc "phase2depth --ref ideal" unwrap2f unwrapq; do
		# shellcheck disable=SC2086 # its options
		fails 1 "samples are scaled (key sample_scale" $tool scaled.png -o out.tif
	done
	fails 1 "samples are scaled (key sample_scale" frameplot scaled.png -o out.svg
	framecat --unscale scaled.png | normals -o out.nrrd
}

# A depth map with holes, and a modulation.
scene='
def scene(w, h):
	y, x = np.mgrid[:h, :w]
	d = (np.sin(x / 9) * y / 4 - 0.1 * x).astype("f4")
	if w > 4:
		d[::3, 1::4] = np.nan
	return np.stack([d, np.abs(d) + 1])
'

@test "framecat: passes frames on to the bit, at awkward sizes and of every type" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		py "$scene"'
w, h = map(int, sys.argv[1].split("x"))
rng = np.random.default_rng(1)
write_frames("in.nrrd", [Frame(scene(w, h), ["depth", "modulation"], {"period_px": "60"}),
	Frame(rng.integers(0, 256, (3, h, w)).astype("u1"), ["r", "g", "b"]),
	Frame(rng.integers(0, 65536, (h, w)).astype("<u2"))])' $size
		framecat -o out.nrrd in.nrrd
		framecat <in.nrrd >piped.nrrd
		py '
a = read_frames("in.nrrd")
for name in "out.nrrd", "piped.nrrd":
	b = read_frames(name)
	expect(len(b) == 3, name, len(b))
	for p, q in zip(a, b):
		expect(p.pixels.tobytes() == q.pixels.tobytes() and p.names == q.names, name)
		expect(q.meta.pop("cmd.1").startswith("framecat") and q.meta == p.meta, q.meta)'
	done
}

@test "framecat: there and back through every format that holds the samples" {
	py "$scene"'
rng = np.random.default_rng(2)
meta = {"period_px": "60", "note": "a b"}
write_frames("float.nrrd", Frame(scene(33, 21)[0] * np.float32(1e30), ["depth"], meta))
write_frames("both.nrrd", Frame(scene(33, 21), ["depth", "modulation"], meta))
write_frames("ushort.nrrd", Frame(rng.integers(0, 65536, (21, 33)).astype("<u2"), None, meta))
write_frames("uchar.nrrd", Frame(rng.integers(0, 256, (21, 33)).astype("u1"), None, meta))
write_frames("rgb.nrrd", Frame(rng.integers(0, 256, (3, 21, 33)).astype("u1"), ["r", "g", "b"], meta))'
	for pair in float.{tif,pfm,npy,nrrd} both.{tif,npy,nrrd} ushort.{png,tif,pgm,npy,nrrd} \
		uchar.{png,tif,pgm,npy,nrrd} rgb.{png,tif,ppm,npy,nrrd}; do
		framecat "${pair%.*}.nrrd" -o "$pair"
		framecat "$pair" -o back.nrrd
		py 'a, b = read_frame(sys.argv[1]), read_frame("back.nrrd")
expect(a.pixels.tobytes() == b.pixels.tobytes(), sys.argv[2], a.pixels.shape, b.pixels.shape)
if sys.argv[2][-3:] in ("tif", "png", "rrd"):
	expect(a.names == b.names and b.meta["period_px"] == "60" and b.meta["note"] == "a b", sys.argv[2], b.meta)' \
			"${pair%.*}.nrrd" "$pair"
	done
}

@test "framecat: joins files; many frames into numbered files, one TIFF, a folder, and back" {
	py '
for i in range(12):
	write_frames("f%d.nrrd" % i, Frame(np.full((4, 6), i, "u1")))'
	framecat f{0..11}.nrrd -o all.nrrd
	framecat all.nrrd -o pages.tif
	framecat all.nrrd -o pages.npy
	framecat all.nrrd -o page%02d.png
	framecat all.nrrd -o folder/
	[ "$(echo page??.png | wc -w)" -eq 12 ]
	for back in pages.tif pages.npy folder "$(echo page??.png)"; do
		# shellcheck disable=SC2086
		framecat $back -o back.nrrd
		py '
f = read_frames("back.nrrd")
expect([int(g.pixels[0, 0, 0]) for g in f] == list(range(12)), sys.argv[1], len(f))' "$back"
	done
	fails 1 "one.png: PNG holds one frame, and a second one came; %04d in the name numbers the files, and a .nrrd file holds all" \
		framecat all.nrrd -o one.png
	[ ! -e one.png ]
}

@test "framecat: a sequence as one NPY array of frames, there and back, of one channel and of three" {
	py '
rng = np.random.default_rng(3)
for c in 1, 3:
	write_frames("in%d.nrrd" % c, [Frame(rng.standard_normal((c, 7, 9)).astype("f4"), list("xyz")[:c]) for i in range(5)])
write_frames("sizes.nrrd", [Frame(np.zeros((1, 7, 9 + i), "f4")) for i in range(2)])
np.save("pixels.npy", rng.integers(0, 256, (4, 8, 9, 3)).astype("u1"))
np.save("columns.npy", np.asfortranarray(np.zeros((2, 2, 7, 9))))'
	for c in 1 3; do
		framecat in$c.nrrd -o a.npy
		framecat a.npy -o file.nrrd
		framecat <a.npy -o pipe.nrrd
		py 'c = int(sys.argv[1])
a, want = np.load("a.npy"), np.stack([f.pixels for f in read_frames("in%d.nrrd" % c)])
expect(a.shape == (5, c, 7, 9) and np.array_equal(a, want), a.shape)
for name in "file.nrrd", "pipe.nrrd":
	expect(np.array_equal(np.stack([f.pixels for f in read_frames(name)]), want), name)' $c
	done
	framecat pixels.npy -o x.nrrd
	py 'expect(np.array_equal(np.stack([f.pixels for f in read_frames("x.nrrd")]), np.moveaxis(np.load("pixels.npy"), 3, 1)))'
	fails 1 "columns.npy: NPY of several frames is in Fortran order: numpy.ascontiguousarray changes that" framecat columns.npy -o x.nrrd
	head -c 2000 a.npy >cut.npy
	fails 1 "cut.npy: ends too early: 9 x 7 x 15 samples of 32 bits" framecat cut.npy -o x.nrrd
	rm a.npy
	fails 1 "a.npy: NPY holds frames of one size and type, and another one came" framecat sizes.nrrd -o a.npy
	[ ! -e a.npy ]
}

@test "framecat: --frames, --channels" {
	py '
write_frames("in.nrrd", [Frame(np.stack([np.full((2, 3), 10 * i + c, "u1") for c in range(4)]),
	["a", "b", "7", "d"], {"step": "0 1 2 3", "origin_px": "5 6", "flat": "x"}) for i in range(15)])'
	framecat --frames 3,5-7,13- in.nrrd -o frames.nrrd
	framecat -c d,7,0 in.nrrd --frames 2 -o channels.nrrd
	framecat -c 0,b in.nrrd --frames 0 -o two.nrrd
	py '
expect([int(f["a"][0, 0]) for f in read_frames("frames.nrrd")] == [30, 50, 60, 70, 130, 140])
f = read_frame("channels.nrrd")
expect(f.names == ["d", "7", "a"] and f.pixels[:, 0, 0].tolist() == [23, 22, 20], f.names, f.pixels[:, 0, 0])
expect(f.meta["step"] == "3 2 0" and f.meta["origin_px"] == "5 6" and f.meta["flat"] == "x", f.meta)
f = read_frame("two.nrrd")
expect(f.meta["step"] == "0 1" and f.meta["origin_px"] == "5 6", f.meta)'
	framecat -c a two.nrrd -o one.nrrd
	py 'f = read_frame("one.nrrd"); expect(f.meta["step"] == "0" and f.meta["origin_px"] == "5 6", f.meta)'
	fails 1 "--frames: 20-30 chooses none of the 15 frames" framecat --frames 20-30 in.nrrd -o x.nrrd
	fails 2 "--frames: wants numbers from 0" framecat --frames 7-5 in.nrrd -o x.nrrd
	fails 2 "--frames: wants numbers from 0" framecat --frames 1,,2 in.nrrd -o x.nrrd
	fails 1 "--channels: input has no channel e, only: a b 7 d" framecat -c a,e in.nrrd -o x.nrrd
	fails 1 "--channels: there is no channel 4, the last is 3" framecat -c 4 in.nrrd -o x.nrrd
}

@test "framecat: --crop and --bin keep origin_px and bin" {
	py "$scene"'
rng = np.random.default_rng(3)
write_frames("u.nrrd", Frame(rng.integers(0, 256, (2, 31, 45)).astype("u1"), ["a", "b"], {"origin_px": "100 200"}))
write_frames("f.nrrd", Frame(scene(45, 31), ["depth", "modulation"]))'
	framecat --crop 5,6,30,20 u.nrrd -o crop.nrrd
	framecat --crop 5,6,30,20 --bin 3 f.nrrd -o bin.nrrd
	framecat --bin 2 u.nrrd | framecat --crop 3,4,9,8 -o again.nrrd
	framecat --bin 2 --as float u.nrrd -o mean.nrrd
	py '
def cells(p, n):
	c, h, w = p.shape
	return p[:, :h // n * n, :w // n * n].astype(float).reshape(c, h // n, n, w // n, n)
u, f = read_frame("u.nrrd").pixels, read_frame("f.nrrd").pixels
c = read_frame("crop.nrrd")
expect(c.pixels == u[:, 6:26, 5:35]); expect(c.meta["origin_px"] == "105 206" and "bin" not in c.meta, c.meta)
b = read_frame("bin.nrrd")
want = np.nanmean(cells(f[:, 6:26, 5:35], 3), axis=(2, 4))
expect(b.pixels.shape == (2, 6, 10), b.pixels.shape)
expect(np.abs(b.pixels - want) <= ulp(want), np.nanmax(np.abs(b.pixels - want)))
expect(b.meta["origin_px"] == "5 6" and b.meta["bin"] == "3", b.meta)
want = cells(u, 2).mean(axis=(2, 4))
expect(read_frame("mean.nrrd").pixels == want)
a = read_frame("again.nrrd")
expect(a.pixels == np.floor(want + 0.5)[:, 4:12, 3:12])
expect(a.meta["origin_px"] == "106 208" and a.meta["bin"] == "2", a.meta)'
	place() {	# WANTED FILE: its origin_px and bin, none where it has none
		py 'f = read_frame(sys.argv[1]); seen = f.meta.get("origin_px", "none") + ", " + f.meta.get("bin", "none"); expect(seen == sys.argv[2], seen)' "$2" "$1"
	}
	for origin in "" "100 200"; do
		py 'o = sys.argv[1]; write_frames("o.nrrd", Frame(np.zeros((60, 80), "u1"), None, {"origin_px": o} if o else {}))' "$origin"
		framecat --bin 2 o.nrrd -o b.nrrd
		place "${origin:-none}, 2" b.nrrd
		framecat --bin 3 b.nrrd -o bb.nrrd
		place "${origin:-none}, 6" bb.nrrd
		framecat --crop 8,4,20,20 b.nrrd -o bc.nrrd
		framecat --crop 16,8,40,40 o.nrrd -o c.nrrd
		framecat --bin 2 c.nrrd -o cb.nrrd
		framecat --crop 16,8,40,40 --bin 2 o.nrrd -o both.nrrd
		framecat --crop 2,1,9,9 bc.nrrd -o bcc.nrrd
		if [ "$origin" ]; then at="116 208" then="120 210"; else at="16 8" then="20 10"; fi
		for file in bc cb both; do place "$at, 2" $file.nrrd; done
		place "$at, none" c.nrrd
		place "$then, 2" bcc.nrrd
	done
	py 'write_frames("uneven.nrrd", Frame(np.zeros((60, 80), "u1"), None, {"origin_px": "10 20", "bin": "2 3"}))'
	framecat --crop 5,6,30,20 uneven.nrrd | framecat --bin 2 -o x.nrrd
	place "20 38, 4 6" x.nrrd
	py 'write_frames("bad.nrrd", Frame(np.zeros((6, 8), "u1"), None, {"bin": "2 3 4"}))'
	fails 1 "bin: wants one or two numbers, not '2 3 4'" framecat --bin 2 bad.nrrd -o y.nrrd
	py 'p = np.full((2, 2), np.nan, "f4"); write_frames("nan.nrrd", Frame(p))
p[0, 1] = 7; write_frames("one.nrrd", Frame(p))'
	framecat --bin 2 nan.nrrd one.nrrd -o out.nrrd
	py 'a, b = read_frames("out.nrrd"); expect(np.isnan(a.pixels).all() and b.pixels.item() == 7)'
	fails 1 "--crop: 30 x 20 from 16,0 on does not lie within 45 x 31" framecat --crop 16,0,30,20 u.nrrd -o x.nrrd
	fails 2 "--crop: must be four numbers, not 3" framecat --crop 1,2,3 u.nrrd -o x.nrrd
	fails 2 "--crop: wants whole numbers" framecat --crop 1,2,3,0.5 u.nrrd -o x.nrrd
	fails 1 "--bin: no cell of 32 x 32 fits into 45 x 31" framecat --bin 32 u.nrrd -o x.nrrd
	fails 2 "--bin: must be 1 to 1024" framecat --bin 0 u.nrrd -o x.nrrd
	py 'write_frames("bad.nrrd", Frame(np.zeros((3, 3), "u1"), None, {"origin_px": "1"}))'
	fails 1 "origin_px: wants two numbers, not '1'" framecat --crop 0,0,1,1 bad.nrrd -o x.nrrd
}

@test "framecat: --as rounds, clamps, and is exact where it can be" {
	py '
v = np.array([[-1e30, -np.inf, -0.6, -0.5, 0, 0.49, 0.5, 1.5, 2.5, 254.5, 255.4, 255.5, 65534.5, 65536, 1e30, np.inf, np.nan]], "f4")
write_frames("v.nrrd", Frame(v))
write_frames("all.nrrd", Frame(np.arange(65536).reshape(256, 256).astype("<u2")))'
	framecat --as uchar v.nrrd -o a.nrrd
	framecat --as ushort v.nrrd -o b.nrrd
	framecat --as float all.nrrd -o c.nrrd
	framecat --as ushort c.nrrd -o d.nrrd
	framecat --as uchar all.nrrd -o e.nrrd
	py '
v = np.nan_to_num(read_frame("v.nrrd").pixels.astype(float), nan=0, posinf=1e30, neginf=-1e30)
expect(read_frame("a.nrrd").pixels == np.clip(np.floor(v + 0.5), 0, 255), read_frame("a.nrrd").pixels)
expect(read_frame("b.nrrd").pixels == np.clip(np.floor(v + 0.5), 0, 65535), read_frame("b.nrrd").pixels)
n = np.arange(65536).reshape(1, 256, 256)
c, d, e = (read_frame(x + ".nrrd").pixels for x in "cde")
expect(c.dtype == "f4" and d.dtype == "u2" and e.dtype == "u1")
expect((c == n) & (d == n) & (e == np.minimum(n, 255)))'
}

@test "framecat: --scale and --unscale give values back within half a step, NaN through --fill" {
	py "$scene"'
write_frames("in.nrrd", Frame(scene(129, 65), ["depth", "modulation"], {"period_px": "60"}))
write_frames("flat.nrrd", Frame(np.full((3, 3), 4.25, "f4")))
write_frames("void.nrrd", Frame(np.full((3, 3), np.nan, "f4")))'
	for type in uchar ushort; do
		framecat --as $type --scale auto --fill 0 in.nrrd -o t.nrrd
		framecat --unscale t.nrrd -o back.nrrd
		framecat --as $type --scale=-20,30 in.nrrd -o fixed.nrrd
		framecat --as $type --scale=40,-40 --fill 255 in.nrrd | framecat --unscale -o fall.nrrd
		py '
levels = {"uchar": 255, "ushort": 65535}[sys.argv[1]]
a, t, b = (read_frame(x)  for x in ("in.nrrd", "t.nrrd", "back.nrrd"))
expect("sample_scale" not in b.meta and "invalid" not in b.meta and b.meta["period_px"] == "60", b.meta)
for c in range(2):
	p, q, s = a.pixels[c].astype(float), b.pixels[c], t.pixels[c]
	step = (np.nanmax(p) - np.nanmin(p)) / levels
	near = (s == 1)		# kept apart from the fill, so up to one step and a half
	expect(np.isnan(p) == np.isnan(q)); expect((s == 0) == np.isnan(p))
	expect(np.nan_to_num(np.abs(p - q)) <= step * np.where(near, 1.01, 0.5001) + 1e-6, np.nanmax(np.abs(p - q)), step)
	expect(s.max() == levels)
	expect(np.isclose(float(t.meta["sample_scale"].split()[c]), step, rtol=1e-12), t.meta)
f = read_frame("fixed.nrrd"); p = a.pixels.astype(float)
want = np.clip(np.floor((np.nan_to_num(p, nan=-20) + 20) / 50 * levels + 0.5), 0, levels)
expect(np.abs(f.pixels - want) <= (f.pixels != want), f.pixels)
expect((f.pixels != want).mean() < 1e-3 and float(f.meta["sample_offset"]) == -20, f.meta)
q = read_frame("fall.nrrd").pixels
expect(np.isnan(q) == np.isnan(p)); expect(np.nan_to_num(np.abs(q - p)) < 1.51 * 80 / levels)' $type
	done
	framecat --scale auto flat.nrrd | framecat --unscale -o flat2.nrrd
	py 'expect(read_frame("flat2.nrrd").pixels == 4.25)'
	may_be_empty framecat --scale auto void.nrrd -o void2.nrrd
	py 'f = read_frame("void2.nrrd"); expect(f.pixels == 0); expect(f.pixels.dtype == "u1")'
	fails 1 "--unscale: input has no key sample_scale" framecat --unscale in.nrrd -o x.nrrd
	fails 1 "--scale: input has the key sample_scale already" framecat --scale auto t.nrrd -o x.nrrd
	fails 2 "--scale: wants auto or two numbers" framecat --scale 3,3 in.nrrd -o x.nrrd
	fails 2 "--scale: makes integers" framecat --as float --scale 0,1 in.nrrd -o x.nrrd
	fails 2 "--fill: must be a whole number from 0 to 255, not 300" framecat --as uchar --fill 300 in.nrrd -o x.nrrd
	py 'write_frames("bad.nrrd", Frame(np.zeros((2, 3, 3), "u1"), None, {"sample_scale": "1 2 3"}))'
	fails 1 "sample_scale: wants one number or 2, not '1 2 3'" framecat --unscale bad.nrrd -o x.nrrd
}

@test "framecat: a depth map through a 16-bit PNG keeps what it stands for" {
	py "$scene"'write_frames("in.nrrd", Frame(scene(64, 48)[0], ["depth"]))'
	framecat --scale=-20,20 --as ushort --fill 0 in.nrrd -o depth.png
	framecat --unscale depth.png -o back.nrrd
	py '
a, b = read_frame("in.nrrd"), read_frame("back.nrrd")
expect(np.isnan(a.pixels) == np.isnan(b.pixels)); expect(b.names == ["depth"], b.names)
expect(np.nanmax(np.abs(a.pixels - b.pixels)) <= 20 / 65535 + 1e-6)'
}

@test "framecat: --invalid makes holes, --fill closes them" {
	py '
write_frames("u.nrrd", Frame(np.array([[0, 1, 2, 0]], "<u2")))
write_frames("f.nrrd", Frame(np.array([[-9999, 1.5, np.nan, 0]], "f4")))'
	framecat --invalid 0 u.nrrd -o a.nrrd
	framecat --invalid=-9999 f.nrrd -o b.nrrd
	framecat --fill=-1 f.nrrd -o c.nrrd
	framecat --invalid 0 --fill 9 --as ushort u.nrrd -o d.nrrd
	py '
nan = np.nan
def check(name, want): expect(np.array_equal(read_frame(name).pixels[0, 0], want, equal_nan=True), name, read_frame(name).pixels)
check("a.nrrd", np.array([nan, 1, 2, nan])); check("b.nrrd", np.array([nan, 1.5, nan, 0]))
check("c.nrrd", np.array([-9999, 1.5, -1, 0], "f4")); check("d.nrrd", np.array([9, 1, 2, 9]))
expect(read_frame("d.nrrd").meta["invalid"] == "9")'
}

@test "framecat: max_value, where a camera saturates, goes with the samples" {
	py 'write_frames("in.nrrd", Frame(np.array([[0, 4095, 1000]], "<u2"), None, {"max_value": "4095"}))'
	framecat --scale 0,4095 in.nrrd -o eight.nrrd
	framecat --unscale eight.nrrd -o back.nrrd
	framecat --as uchar in.nrrd -o cut.nrrd
	[ "$(frameinfo --key max_value eight.nrrd back.nrrd cut.nrrd in.nrrd)" = "$(printf '%s\n' 255 4095 255 4095)" ]
}

@test "framecat: --colormap" {
	py '
y, x = np.mgrid[:5, :256]
ramp = (x / 255 * 4 - 1).astype("f4"); ramp[2, 9] = np.nan
turn = (np.linspace(-np.pi, np.pi, 257)[None] + [[0], [2 * np.pi]]).astype("f4")
write_frames("ramp.nrrd", Frame(np.stack([ramp, ramp]), ["depth", "more"], {"origin_px": "1 2"}))
write_frames("turn.nrrd", Frame(turn, ["phase"]))'
	framecat -c depth --colormap gray --scale auto ramp.nrrd -o gray.nrrd
	framecat -c depth --colormap gray --scale auto --nan-colour 0,0,0 ramp.nrrd -o black.nrrd
	framecat -c depth --colormap gray --scale 0,1 ramp.nrrd -o part.nrrd
	framecat -c depth --colormap viridis ramp.nrrd -o viridis.png
	framecat -c depth --colormap turbo ramp.nrrd -o turbo.png
	py 'from colormaps import *
write_frames("steps.nrrd", Frame(np.arange(200, 201 + STEPS, dtype="f4")[None].repeat(2, 0), ["depth"]))'
	for map in gray viridis turbo phase deviation; do
		framecat --colormap $map --scale 200,980 steps.nrrd -o out.nrrd
		py 'from colormaps import *
rgb = read_frame("out.nrrd").pixels
expect(rgb[:, 0] == rgb[:, 1])
check_colormap(sys.argv[1], rgb[:, 0].T)' $map
	done
	framecat --colormap phase turn.nrrd -o phase.nrrd
	framecat viridis.png turbo.png -o both.nrrd
	py '
g = read_frame("gray.nrrd")
want = np.tile(np.arange(256), (3, 5, 1)); want[:, 2, 9] = 64, 80, 160
expect(g.names == ["r", "g", "b"] and g.pixels.dtype == "u1", g.names)
expect(np.abs(g.pixels.astype(int) - want) <= 1); expect(g.meta["colormap_range"] == "-1 3" and g.meta["colormap"] == "gray", g.meta)
want[:, 2, 9] = 0; expect(np.abs(read_frame("black.nrrd").pixels.astype(int) - want) <= 1)
p = read_frame("part.nrrd").pixels[0, 0].astype(int)
expect(np.abs(p - np.clip((np.arange(256) / 255 * 4 - 1) * 255, 0, 255)) <= 1, p)
for f in read_frames("both.nrrd"):
	q = f.pixels.astype(int)
	expect(q[:, 2, 9] == 0); expect(np.abs(np.diff(q[:, 0], axis=1)) <= 8); expect(len(np.unique(q[:, 0], axis=1)[0]) > 150)
v = read_frames("both.nrrd")[0].pixels.astype(int)
expect(v[:, 0, 0].sum() < v[:, 0, 128].sum() < v[:, 0, 255].sum())
t = read_frame("phase.nrrd").pixels.astype(int)
expect(np.abs(t[:, 0] - t[:, 1]) <= 1); expect(np.abs(t[:, 0, 0] - t[:, 0, 256]) <= 1, t[:, 0, 0], t[:, 0, 256])'
	fails 1 "--colormap: paints one channel, the input has 2: choose with --channels" framecat --colormap gray ramp.nrrd -o x.png
	fails 2 "--colormap: makes r g b of type uchar" framecat --as ushort --colormap gray turn.nrrd -o x.png
	fails 2 "--colormap: must be one of gray viridis turbo phase deviation" framecat --colormap jet turn.nrrd -o x.png
}

@test "framecat: --stack and --split are each other's reverse" {
	py '
write_frames("in.nrrd", [Frame(np.full((3, 4), i, "u1"), ["image"], {"step": str(i), "name": "phase_%02d" % i, "steps": "3"}) for i in range(3)])
write_frames("other.nrrd", Frame(np.zeros((3, 5), "u1")))
write_frames("f.nrrd", Frame(np.zeros((2, 3, 4), "f4"), ["depth", "modulation"], {"name": "scan"}))
write_frames("n.nrrd", [Frame(np.full((3, 4), i, "u1"), ["phase1"]) for i in range(2)])'
	framecat --stack in.nrrd -o stack.nrrd
	framecat --split stack.nrrd -o split.nrrd
	framecat --split stack.nrrd -o folder/
	framecat --split f.nrrd -o floats/
	framecat --stack n.nrrd -o numbered.nrrd
	py '
s = read_frame("stack.nrrd")
expect(s.names == ["image1", "image2", "image3"] and s.pixels[:, 0, 0].tolist() == [0, 1, 2], s.names)
expect(s.meta["step"] == "0 1 2" and s.meta["steps"] == "3", s.meta)
b = read_frames("split.nrrd")
expect([f.meta["name"] for f in b] == ["phase_00", "phase_01", "phase_02"] and [f.meta["step"] for f in b] == ["0", "1", "2"])
expect([f.pixels.shape[0] for f in b] == [1, 1, 1] and b[2].pixels[0, 0, 0] == 2)
expect(read_frame("numbered.nrrd").names == ["phase1_1", "phase1_2"])'
	[ "$(ls folder)" = "$(printf 'phase_%s.png\n' 00 01 02)" ]
	[ "$(ls floats)" = "$(printf '%s\n' scan_depth.tif scan_modulation.tif)" ]
	fails 1 "images differ in size: 4 x 3, then 5 x 3" framecat --stack in.nrrd other.nrrd -o x.nrrd
	fails 2 "--stack: does not go with --split" framecat --stack --split in.nrrd -o x.nrrd
}

@test "framecat: --set and --delete" {
	py 'write_frames("in.nrrd", Frame(np.zeros((2, 3, 4), "u1"), ["a", "b"], {"step": "1", "step_px": "2", "note": "old"}))'
	framecat --delete 'step*,absent' --set 'note=a, b=c,period_px=60 66,channels=p q' in.nrrd -o out.nrrd
	py '
f = read_frame("out.nrrd"); f.meta.pop("cmd.1")
expect(f.names == ["p", "q"] and f.meta == {"note": "a, b=c", "period_px": "60 66"}, f.names, f.meta)'
	fails 2 "--set: wants key=value, not 'x'" framecat --set x in.nrrd -o x.nrrd
	fails 1 "--set: channels wants 2 names, not 'p'" framecat --set channels=p in.nrrd -o x.nrrd
	fails 1 "note: value cannot be kept as metadata" framecat --set 'note=a: b' in.nrrd -o x.nrrd
}

# Keys of fewer than five letters are left out there.
@test "framecat: the keys whose misspelling --set knows are those of frame(5) and holoimage(5)" {
	for page in frame holoimage; do
		sed -n '/^\.Ss Metadata/,/^\.S[sh] [^M]/s/^\.It Cm //p' "$top/man/$page.5"
	done | tr -d ',' | tr ' ' '\n' | grep -E '^[a-z_]{4,}[a-z]$' | sort -u >pages
	sed -n '/known_keys\[\] = {/,/};/p' "$top/tools/framecat/framecat.c" | grep -oE '"[a-z_]{5,}"' | tr -d '"' | sort >known
	diff pages known
}

@test "framecat: how files are written" {
	py "$scene"'
rng = np.random.default_rng(4)
write_frames("u.nrrd", Frame(rng.integers(0, 256, (64, 64)).astype("u1")))
a = (np.arange(300) - 150) ** 2	# a saddle repeats differently far, behind filters
write_frames("s.nrrd", Frame((32768 + np.subtract.outer(a, a) / 2).astype("u2")))
y, x = np.mgrid[:6, :8].astype("f4"); z = np.where(x > 3, 50, 1).astype("f4")
write_frames("xyz.nrrd", Frame(np.stack([x, y, z]), ["x", "y", "z"]))'
	framecat --quality 20 u.nrrd -o low.jpg
	framecat --quality 95 u.nrrd -o high.jpg
	[ "$(stat -c %s low.jpg)" -lt "$(stat -c %s high.jpg)" ]
	py 'write_frames("rgb.nrrd", Frame(np.random.default_rng(5).integers(0, 256, (3, 40, 50)).astype("u1"), list("rgb")))'
	for chroma in 444 422 420; do
		framecat --chroma $chroma rgb.nrrd -o $chroma.jpg
		framecat u.nrrd -o grey.jpg
		py '
def factors(name):
	data = open(name, "rb").read()
	at = data.index(b"\xff\xc0")	# SOF0: length, precision, height, width, components of id, factors, table
	return [data[at + 11 + 3 * i] for i in range(data[at + 9])]
got = factors(sys.argv[1] + ".jpg")
expect(got == [{"444": 0x11, "422": 0x21, "420": 0x22}[sys.argv[1]], 0x11, 0x11], got)
expect(factors("grey.jpg") == [0x11], factors("grey.jpg"))' $chroma
	done
	fails 2 "--chroma" framecat --chroma 411 rgb.nrrd -o x.jpg
	framecat --fast s.nrrd -o fast.png
	framecat s.nrrd -o small.png
	[ "$(stat -c %s small.png)" -lt "$(stat -c %s fast.png)" ]
	fails 2 "--level: does not go with --fast" framecat --fast --level 3 s.nrrd -o x.png
	framecat --ascii xyz.nrrd -o a.ply
	grep -q '^format ascii' a.ply
	framecat xyz.nrrd -o b.ply
	grep -aq '^format binary' b.ply
	faces() { sed -n 's/^element face //p' <(head -c 600 "$1" | tr -d '\0'); }
	framecat --ascii --jump 100 xyz.nrrd -o all.ply
	framecat --ascii --jump 10 xyz.nrrd -o cut.ply
	framecat --ascii --points xyz.nrrd -o points.ply
	[ "$(faces all.ply)" -eq 70 ]
	[ "$(faces cut.ply)" -eq 60 ]
	[ "$(faces points.ply)" = "" ] || [ "$(faces points.ply)" -eq 0 ]
	fails 2 "--quality: must be 1 to 100" framecat --quality 0 u.nrrd -o x.jpg
	fails 1 "x.png: PNG holds 8 or 16 bits a sample, not float" framecat -c x xyz.nrrd -o x.png
}

@test "framecat: one thread equals seven; over its own input; nothing half done" {
	py "$scene"'write_frames("in.nrrd", [Frame(scene(333, 100), ["depth", "modulation"])] * 2)'
	framecat -j 1 --bin 2 --scale auto --as ushort <in.nrrd >one.nrrd
	framecat -j 7 --bin 2 --scale auto --as ushort <in.nrrd >seven.nrrd
	cmp one.nrrd seven.nrrd
	cp in.nrrd own.nrrd
	framecat own.nrrd --frames 0 -o own.nrrd
	py 'expect(read_frame("own.nrrd").pixels.tobytes() == read_frames("in.nrrd")[0].pixels.tobytes())'
	head -c 150000 in.nrrd >short.nrrd
	fails 1 "short.nrrd: " framecat short.nrrd -o x.nrrd
	[ ! -e x.nrrd ]
	: >empty.nrrd
	fails 1 "empty.nrrd: is empty" framecat empty.nrrd -o x.nrrd
	fails 1 "standard input: is empty" framecat -o x.nrrd </dev/null
	fails 1 "standard output: cannot be written" bash -c 'framecat in.nrrd >/dev/full'
	fails 1 "/dev/full: cannot be written" framecat in.nrrd -o /dev/full
	silent find . -name '*.tmp'
}

@test "framecat: --points and --like are each other's reverse, at awkward sizes" {
	for size in 1x1 5x7 127x1 1x9 128x64 129x65; do
		py "$scene"'
w, h = map(int, sys.argv[1].split("x"))
p = scene(w, h)
p[1][np.isnan(p[0])] = np.nan
if p[1].size > 9:
	p[1, -1, -1] = np.nan		# a hole in the second channel only
write_frames("in.nrrd", Frame(p, ["depth", "modulation"], {"period_px": "60 66", "origin_px": "7 9", "note": "n"}))' $size
		framecat --points in.nrrd -o points.nrrd
		framecat --like in.nrrd points.nrrd -o back.nrrd
		framecat --points in.nrrd -o points.csv
		framecat -j 7 --like in.nrrd points.csv -o text.nrrd
		framecmp --meta in.nrrd back.nrrd
		framecmp --meta in.nrrd text.nrrd
		py '
a, t = read_frame("in.nrrd").pixels, read_frame("points.nrrd")
y, x = np.nonzero(~np.isnan(a[0]))
expect(t.names == ["depth", "modulation", "column", "row"] and t.meta["points"] == str(len(x)), t.names, t.meta)
expect(t.meta["origin_px"] == "7 9" and t.meta["period_px"] == "60 66", t.meta)
expect(np.array_equal(t.pixels[:, 0], np.array([a[0][y, x], a[1][y, x], x, y], "f4"), equal_nan=True))
expect(read_frame("back.nrrd").pixels.tobytes() == a.tobytes() or np.isnan(a).any())'
	done
}

@test "framecat: --points: the first channel says which pixels are valid; none are 0 points; other types" {
	py 'n = np.nan
p = np.array([[[1, n, 3], [n, n, 6]], [[n, 20, 30], [n, 50, n]]], "f4")
write_frames("in.nrrd", [Frame(p, ["a", "b"]), Frame(p * n, ["a", "b"])])
write_frames("u.nrrd", Frame(np.arange(6).reshape(2, 3).astype("u1")))
write_frames("spaced.nrrd", Frame(p, ["a", "b"]))'
	framecat --points in.nrrd -o a.nrrd
	framecat --points -c b,a in.nrrd -o b.nrrd
	framecat --points u.nrrd -o u_points.nrrd
	py '
n = np.nan
a, none = read_frames("a.nrrd")
expect(np.array_equal(a.pixels[:, 0].T, np.array([[1, n, 0, 0], [3, 30, 2, 0], [6, n, 2, 1]], "f4"), equal_nan=True), a.pixels)
expect(none.meta["points"] == "0" and none.pixels.shape == (4, 1, 1) and np.isnan(none.pixels).all(), none.pixels)
b = read_frames("b.nrrd")[0]
expect(np.array_equal(b.pixels[:, 0].T, np.array([[20, n, 1, 0], [30, 3, 2, 0], [50, n, 1, 1]], "f4"), equal_nan=True), b.pixels)
u = read_frame("u_points.nrrd")
expect(u.pixels.dtype == np.float32 and u.pixels[0, 0] == np.arange(6), u.pixels)'
	framecat --like in.nrrd a.nrrd -o back.nrrd	# a stream, in step
	py 'a, b = read_frames("in.nrrd"), read_frames("back.nrrd")
expect(np.isnan(b[1].pixels).all() and b[1].pixels.shape == (2, 2, 3))
want = a[0].pixels.copy(); want[:, np.isnan(want[0])] = np.nan
expect(np.array_equal(b[0].pixels, want, equal_nan=True), b[0].pixels)'
	framecat --like u.nrrd a.nrrd | framecmp - back.nrrd		# one for all
	framecat --points a.nrrd | framecmp - a.nrrd			# a table stays one
	framecat --like u.nrrd --bin 2 a.nrrd | frameinfo -s >said	# an image from there on
	[ "$(head -1 said)" = "0 1x1x2 float a b" ]
	framecat --points --crop 1,0,2,2 --fill -1 in.nrrd --frames 0 -o crop.nrrd
	py 'f = read_frame("crop.nrrd")
expect(f.pixels[:, 0].T == [[3, 30, 1, 0], [6, -1, 1, 1]], f.pixels)
expect(f.meta["origin_px"] == "1 0", f.meta)'
}

@test "framecat: --like takes the keys that the table lacks, but not what describes samples" {
	py 'write_frames("like.nrrd", Frame(np.zeros((2, 3), "u1"), None, {"a": "like", "b": "like", "sample_scale": "2",
	"invalid": "0", "max_value": "9", "cmd.1": "x", "cmd.2": "y", "cmd.3": "z"}))
write_frames("t.nrrd", Frame(np.array([[[5]], [[1]], [[2]]], "f4"), ["row", "v", "column"], {"points": "1", "b": "table"}))'
	fails 1 "--like: point 0: row is 5, the image is 3 x 2" framecat --like like.nrrd t.nrrd -o x.nrrd
	printf '# b:=table\nrow,v,column\n1,7,2\n' >t.csv
	framecat --like like.nrrd t.csv -o out.nrrd
	py 'f = read_frame("out.nrrd")
expect({k: v for k, v in f.meta.items() if k != "cmd.1"} == {"b": "table", "a": "like"}, f.meta)
expect(f.meta["cmd.1"] == "framecat --like=like.nrrd [1]", f.meta)
expect(f.names == ["v"] and f.pixels[0, 1, 2] == 7 and np.isnan(f.pixels).sum() == 5, f.pixels)'
}

@test "framecat: errors of --points and --like, and of other options with tables" {
	printf 'column,row,v\n0,0,1\n1,1,2\n0,0,3\n' >twice.csv
	printf 'column,row,v\n0,0,1\n2.5,1,2\n' >half.csv
	printf 'column,row,v\n0,nan,1\n' >nan.csv
	printf 'column,row,v\n0,-1,1\n' >minus.csv
	printf 'column,row,v\n3,0,1\n' >right.csv
	printf 'column,v\n3,1\n' >norow.csv
	printf 'column,row\n1,1\n' >novalue.csv
	printf 'column,row,v\n1,1,5\n' >good.csv
	py 'write_frames("i.nrrd", Frame(np.zeros((2, 3), "f4"), ["depth"]))
write_frames("two.nrrd", [Frame(np.zeros((2, 3), "f4"), ["depth"])] * 2)
write_frames("has.nrrd", Frame(np.zeros((2, 2, 3), "f4"), ["depth", "row"]))'
	like() {
		fails 1 "$2" framecat --like i.nrrd "$1" -o x.nrrd
	}
	like twice.csv "--like: points 0 and 2 are both for column 0, row 0"
	like half.csv "--like: point 1: column is 2.5, not a whole number from 0"
	like nan.csv "--like: point 0: row is nan, not a whole number from 0"
	like minus.csv "--like: point 0: row is -1, not a whole number from 0"
	like right.csv "--like: point 0: column is 3, the image is 3 x 2"
	like norow.csv "--like: input has no channel row"
	like novalue.csv "--like: input has no channel but column and row"
	like i.nrrd "--like: wants a table, the input is an image of 3 x 2"
	fails 1 "good.csv: is a table, --like wants an image" framecat --like good.csv good.csv -o x.nrrd
	fails 1 "none.nrrd: cannot be opened" framecat --like none.nrrd good.csv -o x.nrrd
	fails 1 "two.nrrd: has more frames for --like than the input, which ends after 1" framecat --like two.nrrd good.csv -o x.nrrd
	fails 1 "two.nrrd: has only 2 frames for --like, the input has more" framecat --like two.nrrd good.csv good.csv good.csv -o x.nrrd
	fails 2 "--like: wants a file, not standard input" framecat --like - good.csv -o x.nrrd
	fails 2 "--like: does not go with --points" framecat --like i.nrrd --points good.csv -o x.nrrd
	fails 1 "--points: input has a channel row already" framecat --points has.nrrd -o x.nrrd
	fails 2 "--points: makes tables of float" framecat --points --as uchar i.nrrd -o x.nrrd
	fails 2 "--points: makes tables of float" framecat --points --scale auto i.nrrd -o x.nrrd
	fails 2 "--points: makes tables of float" framecat --points --colormap gray i.nrrd -o x.nrrd
	fails 1 "--crop: is for images, the input is a table of 1 points" framecat --crop 0,0,1,1 good.csv -o x.nrrd
	fails 1 "--bin: is for images, the input is a table of 1 points" framecat --bin 2 good.csv -o x.nrrd
	fails 1 "--stack: frame 1 has 1 points, the first one 2" framecat --stack half.csv good.csv -o x.nrrd
	fails 1 "--stack: frame 1 is an image, the first one is a table" framecat --stack good.csv i.nrrd -o x.nrrd
	fails 1 "--stack: frame 1 is a table, the first one is an image" framecat --stack i.nrrd good.csv -o x.nrrd
	fails 1 "points: is 7, the table has 1 columns" framecat --set points=7 good.csv -o x.nrrd
	[ ! -e x.nrrd ]
}

@test "framecat: tables through --channels, --as, --scale, --colormap, --stack, --split, --set, --delete" {
	printf '# key:=v\nx,y\n1.4,300\nnan,-2\n' >a.csv
	printf 'x,z\n5,6\n7,8\n' >b.csv
	printf 'x,y\n' >none.csv
	framecat -c 1,x a.csv -o chosen.csv
	framecat --as uchar a.csv -o whole.csv
	framecat --scale 0,255 -c x a.csv --fill 0 -o scaled.nrrd
	framecat --unscale scaled.nrrd -o unscaled.csv
	framecat -c y --colormap gray a.csv -o colours.csv
	framecat --stack a.csv b.csv -o both.csv
	framecat --split a.csv -o single%d.csv
	framecat --delete '*' a.csv -o bare.csv
	framecat --set key=w,channels='u v' a.csv -o named.csv
	framecat --as ushort none.csv -o none_whole.csv
	rows() { grep -v '^#' "$1" | tr '\n' ' '; }
	[ "$(rows chosen.csv)" = "y,x 300,1.39999998 -2,nan " ]
	[ "$(rows whole.csv)" = "x,y 1,255 0,0 " ]
	[ "$(rows unscaled.csv)" = "x 1 nan " ]
	[ "$(rows colours.csv)" = "r,g,b 255,255,255 0,0,0 " ]
	[ "$(rows both.csv)" = "x1,y,x2,z 1.39999998,300,5,6 nan,-2,7,8 " ]
	[ "$(rows single0.csv)$(rows single1.csv)" = "x 1.39999998 nan y 300 -2 " ]
	[ "$(rows bare.csv)" = "x,y 1.39999998,300 nan,-2 " ]
	[ "$(grep '^#' bare.csv)" = "# cmd.1:=framecat --delete=* [1]" ]
	[ "$(rows named.csv)" = "u,v 1.39999998,300 nan,-2 " ]
	grep -qx '# key:=w' named.csv
	[ "$(rows none_whole.csv)" = "x,y " ]
	framecat a.csv -o a.tif		# an image format keeps it as an image with the key
	framecat a.tif | framecmp - a.csv
	framecat --set points=3 <(py 'write_frames(sys.stdout.buffer, Frame(np.ones((1, 3), "f4"), ["x"]))') -o made.csv
	[ "$(rows made.csv)" = "x 1 1 1 " ]
}

# Slanted stripes are where libdeflate's level 6 without a filter loses most against libpng: twice the bytes.
@test "framecat: PNG of few levels takes hardly more bytes than by libpng, but for slanted stripes" {
	py '
from PIL import Image
y, x = np.mgrid[:400, :640]
noise = np.random.default_rng(1).random((400, 640))
pictures = {"columns": x // 9 % 2, "rows": y // 9 % 2, "slope": (x + 3 * y) // 40 % 2,
	"dither": noise < 0.5 + 0.4 * np.sin(x / 9), "labels": (x // 50 + y // 50) % 16 / 15}
for name, v in pictures.items():
	Image.fromarray(np.uint8(np.round(v * 255))).save(name + ".png")'
	for name in columns rows slope dither labels; do
		for option in "" --fast "--level 6"; do
			framecat $option $name.png -o ours.png
			framecat ours.png --delete "*" -o ours.pgm
			framecat $name.png --delete "*" -o theirs.pgm
			cmp ours.pgm theirs.pgm
			ours=$(stat -c %s ours.png) theirs=$(stat -c %s $name.png)
			echo "$name $option: $ours, libpng $theirs"
			[ "$option" != --fast ] || theirs=$((theirs * 2))
			[ $name != slope ] || theirs=$((theirs * 2))
			[ "$ours" -le $((theirs * 21 / 20 + 350)) ]	# our key lines
		done
	done
}

@test "framecat: options for files of another format than the output's are refused; so is --chroma of one channel" {
	py 'write_frames("grey.nrrd", Frame(np.zeros((8, 8), "u1")))
write_frames("rgb.nrrd", Frame(np.zeros((3, 8, 8), "u1"), ["r", "g", "b"]))
write_frames("z.nrrd", Frame(np.arange(64, dtype="f4").reshape(8, 8), ["depth"]))'
	for words in "--chroma 420" "--quality 50" "--jpeg-for fringes" "--lossless" "--one-page" "--ascii" "--jump 3"; do
		# shellcheck disable=SC2086
		fails 2 "framecat: ${words%% *}: has no effect on x.png" framecat $words rgb.nrrd -o x.png
		# shellcheck disable=SC2086
		fails 2 "framecat: ${words%% *}: has no effect on a stream: give -o FILE" framecat $words rgb.nrrd
	done
	fails 2 "--fast: has no effect on x.jpg" framecat --fast rgb.nrrd -o x.jpg
	fails 2 "--chroma: has no effect on a folder's PNG and TIFF files" framecat --chroma 420 rgb.nrrd -o out/
	fails 2 "--level: has no effect on %d.tif" framecat --level 3 rgb.nrrd -o %d.tif
	[ "$(find . -name '*.png' -o -name '*.jpg' -o -name '*.tif' | wc -l)" -eq 0 ]
	silent framecat --level 3 --one-page rgb.nrrd -f -o out/
	fails 2 "--chroma: has no effect on x.png" framecat --chroma 444 rgb.nrrd -o x.png
	silent framecat --chroma 420 rgb.nrrd -o x.jpg
	fails 2 "fringepipe: framecat (stage 2): --chroma: stands in an earlier stage, which does not write the file: give it to this one" \
		fringepipe framecat --chroma 420 rgb.nrrd , framecat -o x2.jpg
	[ ! -e x2.jpg ]
	silent fringepipe framecat rgb.nrrd , framecat --chroma 420 -o x2.jpg
	silent framecat --points z.nrrd -o z.csv
	silent framecat --points z.nrrd -o z.ply
	fails 2 "--chroma: 420 has no effect on a picture of one channel, which has no colour" framecat --chroma 420 grey.nrrd -o x.jpg
	fails 2 "holoenc: --quality: has no effect on x.png" holoenc --depth-range 0,64 --quality 50 z.nrrd -o x.png
	fails 2 "dither3: --level: has no effect on x.tif" dither3 -q --level 3 rgb.nrrd -o x.tif
	silent dither3 -q rgb.nrrd -o x.tif
	fails 2 "--chroma: 420 has no effect on a video of r g b by ffv1: luma chroma_u chroma_v have planes of colour" \
		framecat --video ffv1 --chroma 420 rgb.nrrd -o x.mkv
	silent framecat --video h264 --chroma 420 rgb.nrrd -o x.mkv
	silent framecat --chroma 420 grey.nrrd -o x.mkv		# h264 keeps planes of colour for it, of half the resolution
	fails 2 "--chroma: 422 has no effect on a video of one channel by h264" framecat --chroma 422 grey.nrrd -o x.mkv
}
