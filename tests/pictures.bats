load helpers

# Pictures that are measured from: framecat --colormap and shade --colour with colour bar, scale bar and
# axes, read back pixel by pixel. Labels are found by tests/labels.py, colours by tests/colormaps.py.

reader='
from labels import *
from colormaps import *
def place(f):
	return [int(v) for v in f.meta["picture_px"].split()]
def cut(f):
	x, y, w, h = place(f)
	return f.pixels[:, y:y + h, x:x + w]
def one(picture, text, scale=1, upright=False):
	found = find(picture, text, scale, upright)
	expect(len(found) == 1, text, found)
	return found[0]
'

# Letters of the built-in font, which tests/labels.py reads: a library that is none hides cairo. frameplot fails.
built_in_font() {
	mkdir -p hidden
	: >hidden/libcairo.so.2
	export LD_LIBRARY_PATH=$PWD/hidden
}

# ramp FILE W H LOW HIGH CHANNEL [KEY=VALUE ...]: a channel that grows from column to column.
ramp() {
	py '
file, w, h, low, high, name = sys.argv[1:7]
v = np.linspace(float(low), float(high), int(w), dtype="f4")[None].repeat(int(h), 0)
write_frames(file, Frame(v, [name], dict(k.split("=") for k in sys.argv[7:])))' "$@"
}

@test "pictures: without --scale colours run from the 1st to the 99th percentile, in deviation about zero" {
	py '
rng = np.random.default_rng(4)
v = rng.normal(1, 1, (40, 50)).astype("f4") ** 3; v[rng.random(v.shape) < .2] = np.nan
v[3, :2] = 1e9, np.inf
write_frames("in.nrrd", Frame(v, ["depth"]))
write_frames("same.nrrd", [Frame(np.full((4, 5), t, "f4"), ["depth"]) for t in (0, -3, 1e9, np.nan)])
write_frames("bytes.nrrd", Frame(np.arange(200, dtype="u1")[None]))'
	framecat --colormap gray in.nrrd -o gray.nrrd
	framecat --colormap deviation in.nrrd -o deviation.nrrd
	framecat --colormap deviation --scale auto --invalid inf in.nrrd -o auto.nrrd
	framecat --colormap deviation --scale=-1,3 in.nrrd -o given.nrrd
	framecat --colormap gray bytes.nrrd -o bytes.out.nrrd
	py '
v = read_frame("in.nrrd")["depth"].astype(float); there = np.sort(v[np.isfinite(v)])
low, high = there[there.size // 100], there[-1 - there.size // 100]
def ends(file): return [float(k) for k in read_frame(file).meta["colormap_range"].split()]
expect(ends("gray.nrrd") == [low, high], ends("gray.nrrd"), low, high)
want = np.where(np.isnan(v), [[[64]], [[80]], [[160]]], 255 * np.clip((v - low) / (high - low), 0, 1))
expect(np.abs(read_frame("gray.nrrd").pixels - want) <= 0.51)
most = max(abs(low), abs(high)); expect(ends("deviation.nrrd") == [-most, most], ends("deviation.nrrd"))
most = np.float32(1e9); expect(ends("auto.nrrd") == [-most, most]); expect(ends("given.nrrd") == [-1, 3])
expect(ends("bytes.out.nrrd") == [2, 197], ends("bytes.out.nrrd"))'
	framecat --colormap deviation same.nrrd -o out.nrrd
	framecat --colormap turbo same.nrrd -o turbo.nrrd
	py '
ranges = [f.meta["colormap_range"] for f in read_frames("out.nrrd")]
expect(ranges == ["-1 1", "-3 3", "-1000000000 1000000000", "-1 1"], ranges)
for f, white in zip(read_frames("out.nrrd"), (1, 0, 0, 0)):
	expect((np.ptp(f.pixels[:, 0, 0]) == 0 and f.pixels[0, 0, 0] > 240) == bool(white) and len(np.unique(f.pixels)) < 4)
expect(read_frames("out.nrrd")[3].pixels == 0)
for f in read_frames("turbo.nrrd"):
	low, high = [float(k) for k in f.meta["colormap_range"].split()]
	expect(np.float32(low) < np.float32(high), low, high)'
}

@test "pictures: --bar: the picture is untouched, colours and numbers of the bar are its own" {
	built_in_font
	ramp in.nrrd 320 240 0 10 z length_unit=mm origin_px='7 8'
	framecat --colormap viridis --scale 0,10 in.nrrd -o plain.nrrd
	framecat --colormap viridis --scale 0,10 --bar in.nrrd -o bar.nrrd
	framecat --colormap viridis --scale 10,0 --bar in.nrrd -o falls.nrrd
	framecat --set channels=phase in.nrrd | framecat --colormap phase --bar --nan-colour 9,8,7 -o phase.nrrd
	py "$reader"'
plain, bar = read_frame("plain.nrrd"), read_frame("bar.nrrd")
expect(plain.pixels == cut(bar)); expect("origin_px" not in bar.meta and plain.meta["origin_px"] == "7 8")
x, y, w, h = place(bar)
at = one(bar.pixels, "z (mm)")
left = at[0]; expect(left > x + w and at[1] + 7 < y)
column = bar.pixels[:, y:y + h, left + 5].T.astype(int)
share = 1 - (np.arange(h) + 0.5) / h
want = np.stack([np.interp(share * 10, np.arange(11), np.array(VIRIDIS)[:, k]) for k in range(3)], 1)
expect(np.abs(column - want) <= 3, np.abs(column - want).max())
expect((bar.pixels[:, y:y + h, left:left + 10] == bar.pixels[:, y:y + h, left:left + 1]), "even along a row")
def number(text, value):		# at its tick, which is where the value has its colour
	row = y + h * (1 - value / 10)
	found = [v for u, v in find(bar.pixels, text) if u == left + 15 and abs(v + 3.5 - row) <= 1.5]
	expect(len(found) == 1, text, found, row)
	expect(bar.pixels[:, min(found[0] + 3, y + h - 1), left + 11:left + 13] == INK, "tick", text)
for value in range(1, 10):
	number("%d" % value, value)
number("0.0", 0); number("10.0", 10)
u, v = one(bar.pixels, "NaN"); expect(bar.pixels[:, v + 3, left + 5] == 0); expect(v > y + h)
falls = read_frame("falls.nrrd"); expect(one(falls.pixels, "10.0")[1] > find(falls.pixels, "0.0")[0][1])
phase = read_frame("phase.nrrd"); one(phase.pixels, "phase (rad)"); one(phase.pixels, "-3.1"); expect(len(find(phase.pixels, "3.1")) == 2)
u, v = one(phase.pixels, "NaN"); expect(phase.pixels[:, v + 3, u - 10] == [9, 8, 7])'
}

@test "pictures: --axes in pixels and by spacings, --scale-bar by spacings and by points" {
	built_in_font
	ramp in.nrrd 320 240 0 1 image
	framecat --colormap gray --axes in.nrrd -o px.nrrd
	py '
text = open("in.nrrd", "rb").read()
y, x = np.mgrid[:240, :320].astype("f4")
x = 0.25 * x; x[:, 100:] += 50; x[50:60] = np.nan
write_frames("points.nrrd", Frame(np.stack([x, 0 * x + 0.5 * y, x]), ["x", "y", "z"], {"length_unit": "mm"}))'
	fringesim -s 320x240 --scene relief --truth truth.nrrd -o captures.nrrd		# 0.3125 mm a pixel
	framecat -c depth --colormap gray --axes --scale-bar truth.nrrd -o mm.nrrd
	framecat -c depth --colormap gray --scale-bar --bin 2 truth.nrrd -o bin.nrrd
	framecat -c z --colormap gray --scale-bar points.nrrd -o points.out.nrrd
	shade --scale-bar --axes points.nrrd -o shade.nrrd
	shade --scale-bar --view 60,0 -s 200x100 --samples 3 --jump 1e9 points.nrrd -o turned.nrrd
	py "$reader"'
def ticks(f, axis, numbers, spacing):
	x, y, w, h = place(f)
	for number in numbers:
		k = round(float(number) / spacing)		# the pixel, whose middle the tick points at
		found = find(f.pixels, number)
		if axis == 0:
			expect(any(abs(u + 3 * len(number) - (x + k)) <= 1.5 and v > y + h for u, v in found), number, found)
			expect(f.pixels[:, y + h + 1, x + k] == INK, "tick", number)
		else:
			expect(any(abs(v + 3 - (y + k)) <= 1 and u < x for u, v in found), number, found)
			expect(f.pixels[:, y + k, x - 3] == INK, "tick", number)
def bar(f, text, pixels):
	u, v = one(f.pixels, text)
	x, y, w, h = place(f)
	row = (f.pixels[:, v + 3] == INK).all(0)[:u - 2]
	expect(row.sum() == pixels and row[x:x + pixels].all() and v > y + h, text, row.sum())
px = read_frame("px.nrrd")
ticks(px, 0, ["0", "50", "100", "150", "300"], 1); ticks(px, 1, ["0", "20", "100", "220"], 1)
one(px.pixels, "column (px)"); one(px.pixels, "row (px)", upright=True)
mm = read_frame("mm.nrrd")
ticks(mm, 0, ["0", "10", "50", "90"], 0.3125); ticks(mm, 1, ["10", "70"], 0.3125)
one(mm.pixels, "x (mm)"); one(mm.pixels, "y (mm)", upright=True)
bar(mm, "20 mm", 64)
bar(read_frame("bin.nrrd"), "20 mm", 32)
bar(read_frame("points.out.nrrd"), "20 mm", 80)
bar(read_frame("shade.nrrd"), "20 mm", 80); one(read_frame("shade.nrrd").pixels, "column (px)")
# turned about the vertical axis: rows of a frame of 240 rows are 119.5 mm high
f = read_frame("turned.nrrd"); rows = np.nonzero((cut(f)[0] != 32).any(1))[0]
scale = np.ptp(rows) / 119.5
u, v = one(f.pixels, "50 mm"); pixels = (f.pixels[:, v + 3] == INK).all(0)[:u - 2].sum()
expect(abs(pixels - 50 * scale) < 1.5, pixels, scale)'
}

@test "pictures: tiny, wide, high, empty and even frames: labels are whole and frames of a stream alike" {
	built_in_font
	py '
def points(w, h):
	y, x = np.mgrid[:h, :w].astype("f4")
	return np.stack([x / 4, y / 4, 700 + x + y])
for w, h in ((1, 1), (5, 7), (127, 1), (20000, 2), (100, 2000), (960, 800)):
	write_frames("%dx%d.nrrd" % (w, h), Frame(points(w, h), ["x", "y", "z"], {"length_unit": "mm"}))
p = points(90, 60); p[2, 0, 0] = np.nan
write_frames("stream.nrrd", [Frame(np.stack([p[0] * s, p[1] * s, v]).astype("f4"), ["x", "y", "z"], {"length_unit": "mm"})
	for v, s in ((p[2], 1), (p[2] * 1e-7, 1), (p[2] * -1e9, 7), (p[2] * np.nan, np.nan), (p[2] * 0 - 3, 1e-6), (-p[2] * 100, 1))])'
	for size in 1x1 5x7 127x1 20000x2 100x2000 960x800; do
		framecat -c z --colormap gray --bar --axes --scale-bar $size.nrrd -o out.nrrd
		shade -c depth --bar --axes --scale-bar $size.nrrd -o shade.nrrd
		shade --view 9,9 --scale-bar -c depth --bar $size.nrrd -o turned.nrrd
		py "$reader"'
w, h = map(int, sys.argv[1].split("x"))
s = max(1, (min(w, h) + 160) // 320)
for file in "out.nrrd", "shade.nrrd", "turned.nrrd":
	f = read_frame(file); p = f.pixels
	expect(place(f)[2:] == [w, h])
	for edge in p[:, :2 * s], p[:, -2 * s:], p[:, :, :2 * s], p[:, :, -2 * s:]:	# nothing is cut off
		expect(edge == 255, file)
	one(p, "z (mm)", s); one(p, "NaN", s)
	if file != "turned.nrrd":
		one(p, "column (px)", s); one(p, "row (px)", s, upright=True)
		expect(len(find(p, "0", s)) >= 2)
if w == 20000:
	f = read_frame("out.nrrd"); x = place(f)[0]
	for k in range(0, 20000, 2000):
		expect(any(abs(u + 3 * len(str(k)) - x - k) <= 2 for u, v in find(f.pixels, str(k))), k)' $size
	done
	framecat -c z --colormap gray --bar --axes --scale-bar stream.nrrd -o out.nrrd
	py "$reader"'
frames = read_frames("out.nrrd"); p = [f.pixels for f in frames]
expect(len(frames) == 6 and len({f.pixels.shape for f in frames}) == 1 and len({f.meta["picture_px"] for f in frames}) == 1)
for k, power, unit, decimals in ((0, 1, "", 0), (1, 1e-6, "x 1e-6", 0), (2, 1e9, "x 1e9", 0), (5, 1, "", -3)):
	for end in frames[k].meta["colormap_range"].split():
		one(p[k], "%.*f" % (max(decimals, 0) + 1, float(end) / power))
	expect(not unit or one(p[k], unit))
one(p[3], "1.00"); one(p[4], "-3.00"); one(p[4], "-2.00")
expect(cut(frames[3]) == np.array([64, 80, 160])[:, None, None]); expect(cut(frames[4])[:, 1:] == 0)
one(p[0], "5 mm"); one(p[2], "50 mm"); one(p[4], "5e-06 mm")
expect(len(find(p[3], "5 mm")) == 0, "a length where nothing is known")'
}

@test "pictures: shade: unlit and softly lit colours lead back to the depth, NaN has its own colour" {
	built_in_font
	py '
y, x = np.mgrid[:90, :130].astype("f4")
z = 12 * np.sin(x / 20) * np.cos(y / 15); z[20:30, 40:60] = np.nan; z[25, 50] = 3
t = z.copy(); t[60:70, 40:60] = np.nan
for axis in "towards", "away":
	write_frames("in.nrrd" if axis == "towards" else "away.nrrd", Frame(np.stack([x, y, z, t]).astype("f4"),
		["x", "y", "z", "texture"], {"z_axis": axis}))'
	shade -c depth -m turbo --range=-13,13 --bar away.nrrd -o away-bar.nrrd
	for map in gray viridis turbo deviation; do
		for lighting in none soft; do
			[ $map-$lighting = gray-soft ] ||
				shade -c depth -m $map --range=-13,13 --lighting $lighting in.nrrd -o $map-$lighting.nrrd
		done
		shade -c depth -m $map --range=-13,13 --bar in.nrrd -o $map-bar.nrrd
	done
	shade -c texture --range=-13,13 away.nrrd -o texture.nrrd
	shade -c texture --range=-13,13 --lighting none -b 99 --nan-colour 200,0,200 away.nrrd -o marked.nrrd
	ramp steps.nrrd 2341 1 0 1 z
	for map in gray viridis turbo deviation; do
		framecat --colormap $map --scale 0,1 steps.nrrd -o steps-$map.nrrd
	done
	py "$reader"'
z = read_frame("in.nrrd")["z"]; share = (z + 13) / 26; there = ~np.isnan(z)
for name in "gray", "viridis", "turbo", "deviation":
	table = read_frame("steps-%s.nrrd" % name).pixels[:, 0].T
	back = [64, 80, 160] if name == "gray" else [0, 0, 0]
	for lighting in ("none", "bar") if name == "gray" else ("none", "soft", "bar"):
		f = read_frame("%s-%s.nrrd" % (name, lighting)); p = f.pixels if lighting != "bar" else cut(f)
		expect(p[:, ~there] == np.array(back)[:, None], name, lighting)
		expect((p[:, there] != np.array(back)[:, None]).any(0))
		hue = lighting != "none" and name != "gray"
		error = np.abs(value_of(table, p[:, there].T, hue) - share[there])
		# unlit: as fine as 8 bits are; lit: as fine as ratios of 8 bits are where the map hardly changes them
		limit = 1 / 255 if not hue else 0.02 if name == "deviation" else 0.025
		expect(np.quantile(error, 0.999) < limit, name, lighting, np.quantile(error, 0.999))
		if hue:		# the light takes a third of the brightness at most
			full = table[np.round(share[there] * 2340).astype(int)].max(1); ratio = p[:, there].max(0) / full
			expect((ratio > 0.69) & (ratio < 1.02), ratio.min(), ratio.max())
t = read_frame("texture.nrrd").pixels.astype(float)
hole = t[:, 61:69, 41:59]
expect((hole[2] > 1.8 * hole[1]) & (hole[1] > 1.1 * hole[0]), "lit, but blue")
expect(t[:, 21:29, 41:59] == 32, "no surface at a lone point")
m = read_frame("marked.nrrd").pixels
expect(m[:, 60:70, 40:60] == np.array([200, 0, 200])[:, None, None]); expect(m[:, 21:25, 41:59] == 99); expect(m[:, 25, 50] == 157)
expect(read_frame("turbo-bar.nrrd").meta["colormap_range"] == "-13 13")
f = read_frame("away-bar.nrrd"); expect(f.meta["colormap_range"] == "13 -13")
expect(one(f.pixels, "-13.0")[1] + 50 < max(v for u, v in find(f.pixels, "13.0")), "the nearest is on top")'
}

@test "pictures: letters of plots take the room of the built-in ones, and as much ink" {
	if ! command -v frameplot >/dev/null; then skip "built without cairo"; fi
	fringesim -s 320x240 --truth truth.nrrd -o captures.nrrd
	draw() { framecat -c depth --colormap gray --bar --axes --scale-bar truth.nrrd -o "$1"; }
	draw plots.nrrd
	built_in_font
	draw built_in.nrrd
	py "$reader"'
a, b = read_frame("plots.nrrd"), read_frame("built_in.nrrd")
expect(a.pixels.shape == b.pixels.shape and place(a) == place(b)); expect(cut(a) == cut(b))
x, y, w, h = place(a)
ink = [255 - f.pixels[0].astype(int) for f in (a, b)]
for i in ink: i[y:y + h, x:x + w] = 0
left, right, below = slice(0, x - 4), slice(x + w + 30, None), slice(y + h + 4, None)
for part in ((slice(None), left), (slice(None, y + h), right), (below, slice(x, x + w))):
	new, old = (i[part].sum() for i in ink)
	expect(0.5 * old < new < 1.5 * old, part, new, old)
expect(len(np.unique(a.pixels[0, :, :x - 4])) > 20, "letters have smooth edges")'
}

@test "pictures: with bars or not, threads and devices change nothing" {
	py '
rng = np.random.default_rng(1); v = rng.normal(size=(4, 65, 129)).astype("f4"); v[3, 3:9] = np.nan; v[2, 20:33, 20:40] = np.nan; v[2, 25, 30] = 1
write_frames("normals.nrrd", Frame(np.where(rng.random((6, 65, 129)) < .1, np.nan, rng.normal(size=(6, 65, 129))).astype("f4"),
	["x", "y", "z", "nx", "ny", "nz"]))
write_frames("in.nrrd", Frame(v, ["x", "y", "z", "texture"]))'
	device=cpu
	if shade -d gpu in.nrrd -o /dev/null 2>/dev/null; then device=gpu; fi
	for words in "shade -c texture --nan-colour 1,200,3" "shade -c texture" "shade -c depth -m deviation --lighting soft" \
		"shade -c depth -m gray --lighting none" "shade -c depth --bar --scale-bar" "framecat -c z --colormap deviation --bar --axes"; do
		$words -j 1 -d cpu in.nrrd -o a.nrrd
		$words -j 5 -d $device in.nrrd -o b.nrrd
		# shellcheck disable=SC2086
		fringepipe -d $device -j 2 $words in.nrrd -o c.nrrd
		cmp a.nrrd b.nrrd
		cmp a.nrrd c.nrrd
	done
	shade -c depth --lighting none --range=-9,9 -d cpu normals.nrrd -o a.nrrd
	shade -c depth --lighting none --range=-9,9 -d $device normals.nrrd -o b.nrrd
	cmp a.nrrd b.nrrd
	py 'f = read_frame("normals.nrrd").pixels; p = read_frame("a.nrrd").pixels
expect((p == 0).all(0) == np.isnan(f[:3]).any(0), "every point has its colour")'
}

@test "pictures: errors" {
	ramp in.nrrd 9 8 0 1 depth
	fails 2 "--bar: needs --colormap" framecat --bar in.nrrd -o x.png
	fails 2 "--axes: needs --colormap" framecat --axes in.nrrd -o x.png
	fails 2 "--scale-bar: needs --colormap" framecat --scale-bar in.nrrd -o x.png
	fails 2 "--nan-colour: needs --colormap" framecat --nan-colour 1,2,3 in.nrrd -o x.png
	fails 2 "--nan-colour: must be three numbers, not 2" framecat --colormap gray --nan-colour 1,2 in.nrrd -o x.png
	fails 2 "--nan-colour: wants whole numbers, not 2.5" framecat --colormap gray --nan-colour 1,2.5,3 in.nrrd -o x.png
	fails 2 "--nan-colour" framecat --colormap gray --nan-colour 1,256,3 in.nrrd -o x.png
	fails 2 "--nan-colour" framecat --colormap gray --nan-colour 1,nan,3 in.nrrd -o x.png
	fails 1 "--scale-bar: the length of a pixel is not known" framecat --colormap gray --scale-bar in.nrrd -o x.png
	fails 1 "--scale-bar: the length of a pixel is not known" shade --scale-bar in.nrrd -o x.png
	fails 1 "--scale-bar: the length of a pixel is not known" shade --view 3,3 --scale-bar in.nrrd -o x.png
	for words in "framecat --colormap deviation --scale=-1,2" "shade -c depth -m deviation --range=-1,2"; do
		run $words in.nrrd -o even.nrrd
		[ "$status" -eq 0 ]
		[[ $output == *": the white of the map deviation is 0.5 by these, not zero" ]]
		[ "$(wc -l <<<"$output")" -eq 1 ]
		silent ${words/2/1} in.nrrd -o even.nrrd
	done
	framecat --points in.nrrd -o table.csv
	fails 1 "--bar: is for images, the input is a table" framecat -c depth --colormap gray --bar table.csv -o x.png
	fails 2 "--bar: needs --colour depth or texture" shade --bar in.nrrd -o x.png
	fails 2 "--lighting: needs --colour depth or texture" shade --lighting soft in.nrrd -o x.png
	fails 2 "--nan-colour: needs --colour depth or texture" shade --nan-colour 1,2,3 in.nrrd -o x.png
	fails 2 "--nan-colour: must be three numbers" shade -c depth --nan-colour 1 in.nrrd -o x.png
	fails 2 "--lighting: must be one of full soft none" shade -c depth --lighting dim in.nrrd -o x.png
	fails 2 "--lighting: none has shares of its own" shade -c depth --lighting none --ambient 0.3 in.nrrd -o x.png
	fails 2 "--axes: a turned view has no columns and rows" shade --view 3,3 --axes in.nrrd -o x.png
	[ ! -e x.png ]
}

@test "pictures: a range that is too narrow for its numbers, or too wide, is refused; narrow ones are drawn" {
	py 'write_frames("in.nrrd", Frame(np.add.outer(np.arange(40.), np.arange(60.)).astype("f4"), ["depth"]))'
	for range in 1,1.0000000000000002 10000000000000000,10000000000000002 -1e308,1e308 0,1e-320; do
		fails 2 "is too narrow or too wide a range" timeout 20 framecat --colormap viridis --bar -s $range in.nrrd -o x.png
		fails 2 "is too narrow or too wide a range" timeout 20 shade --colour depth --bar --range=$range in.nrrd -o x.png
		for words in --map "--row 3"; do
			# shellcheck disable=SC2086
			fails 2 "is too narrow or too wide a range" timeout 20 frameplot $words --range=$range in.nrrd -o x.svg
		done
	done
	[ ! -e x.png ]
	[ ! -e x.svg ]
	for range in 1,1.00000000001 -1e300,1e300 0,1e-290; do
		timeout 20 framecat --colormap viridis --bar -s $range in.nrrd -o x.png
		timeout 20 frameplot --map --range=$range in.nrrd -o x.svg
		timeout 20 frameplot --row 3 --range=$range in.nrrd -o x.svg
	done
	timeout 20 framecat --colormap viridis --bar -s 1.00000000001,1 in.nrrd -o x.png
}
