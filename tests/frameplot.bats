load helpers

# Reads the curves of an SVG back: the paths that are clipped to the axes and have the width of a curve.
curves='
import re
def curves(file):
	text = open(file).read()
	paths = re.findall(r"<path [^>]*>", text)
	out = []
	for path in paths:
		if "stroke-width:1.3" in path or "stroke-width=\"1.3\"" in path:
			d = re.search(r" d=\"([^\"]*)\"", path).group(1)
			out.append([(float(x), float(y)) for x, y in re.findall(r"[ML] ([-0-9.e]+) ([-0-9.e]+)", d)])
	return [np.array(c) for c in out]
LEFT, RIGHT, TOP, BOTTOM = 78, 800 - 22, 13, 450 - 54
'

@test "frameplot: the points of a row lie where the axes put them" {
	py '
x = np.arange(101); d = np.tile(np.sin(x / 10), (31, 1)).astype("f4"); d[:, 40] = np.nan
write_frames("in.nrrd", Frame(d, ["depth"]))'
	frameplot --range=-2,2 in.nrrd -o out.svg
	py "$curves"'
c, = curves("out.svg")
c = c[np.r_[True, (np.diff(c, axis=0) != 0).any(1)]]	# pen-down points are doubled
x = np.delete(np.arange(101), 40)
want = np.stack([LEFT + x / 100 * (RIGHT - LEFT), BOTTOM - (np.sin(x / 10) + 2) / 4 * (BOTTOM - TOP)], 1)
expect(c.shape == want.shape, c.shape, want.shape)
expect(np.abs(c - want) < 0.01, np.abs(c - want).max())'
	grep -q '<svg' out.svg
}

@test "frameplot: column, oblique section, difference, units, several frames" {
	py '
y, x = np.mgrid[:41, :61]
a = (2.0 * x + 3.0 * y).astype("f4")
write_frames("in.nrrd", [Frame(a, ["absphase"]), Frame(a + 5, ["absphase"])])'
	frameplot -x 7 --range 0,200 in.nrrd -o column.svg -l one,two -t title
	frameplot --from 0,0 --to 40,40 -c absphase --range 0,250 in.nrrd -o oblique.svg
	frameplot -D --range 0,10 -r 3 in.nrrd -o difference.svg -s 900x600
	frameplot --panels --range 0,200 -x 7 in.nrrd -o panels.svg
	fails 1 "a difference needs two frames" eval 'framecat --frames 0 in.nrrd | frameplot --panels -o x.svg'
	fails 2 "--panels: draws the differences, too: leave out --difference" frameplot --panels -D in.nrrd -o x.svg
	fails 2 "--panels and --abscissa are for curves" frameplot --map --panels in.nrrd -o x.svg
	# cairo leaves out points on a straight line, so each is compared at its place
	py "$curves"'
def check(c, top, bottom, right, length, low, high, want):
	t = (c[:, 0] - LEFT) / (right - LEFT) * length
	seen = low + (bottom - c[:, 1]) / (bottom - top) * (high - low)
	expect(np.abs(seen - want(t)) < 0.03, np.abs(seen - want(t)).max())
	expect(abs(t[0]) < 0.01 and abs(t[-1] - length) < 0.01, t)
one, two = curves("column.svg")
check(one, 33.8, BOTTOM, RIGHT, 40, 0, 200, lambda t: 14 + 3 * t)	# the title takes room
check(two, 33.8, BOTTOM, RIGHT, 40, 0, 200, lambda t: 19 + 3 * t)
check(curves("oblique.svg")[0], TOP, BOTTOM, RIGHT, 40 * 2 ** .5, 0, 250, lambda t: 5 * t / 2 ** .5)
upper, lower = curves("panels.svg")	# the first frame is drawn wider
check(upper, TOP, 216.8, RIGHT, 40, 0, 200, lambda t: 19 + 3 * t)
check(lower, 255.8, BOTTOM, RIGHT, 40, 4.5, 5.5, lambda t: 5 + 0 * t)
check(curves("difference.svg")[0], TOP, 546, 878, 60, 0, 10, lambda t: 5 + 0 * t)'
}

# Reads a PNG back. ink: how dark a pixel is, 0 to 1; the first curve alone has more blue than red, the
# second one more red than blue.
picture='
from PIL import Image
def picture(file):
	p = np.asarray(Image.open(file).convert("RGB")).astype(float)
	return 1 - p.mean(2) / 255, np.maximum(p[..., 2] - p[..., 0], 0) / 179, np.maximum(p[..., 0] - p[..., 2], 0) / 214
LEFT, RIGHT, TOP, BOTTOM = 78, 400 - 22, 13, 300 - 54
'

@test "frameplot: in a PNG the curve passes where the data says, between axes, ticks and labels" {
	py '
x = np.arange(101.); a = 5 + 4 * np.sin(x / 16); a[40:45] = np.nan
write_frames("in.nrrd", [Frame(v.astype("f4")[None].repeat(3, 0), ["depth"]) for v in (a, 9 - x * 0.08)])'
	framecat --frames 0 in.nrrd | frameplot --range 0,10 -s 400x300 -o one.png
	frameplot --range 0,10 -s 400x300 -l measured,true -t relief in.nrrd -o two.png
	py "$picture"'
def passes(curve, value, top, there):
	"""Column by column the curve is a line of width 1.3 whose centre is where the data say."""
	rows = np.arange(300)[:, None] + 0.5
	columns = np.arange(LEFT + 2, RIGHT - 2)
	x = (columns + 0.5 - LEFT) / (RIGHT - LEFT) * 100
	want = BOTTOM - value(x) / 10 * (BOTTOM - top)
	slope = np.gradient(want)
	c = curve[:, columns].copy(); c[:int(top)] = 0
	seen = there(x)
	weight, centre = c.sum(0), (c * rows).sum(0) / np.maximum(c.sum(0), 1e-9)
	expect(np.abs(centre - want)[seen] < 0.25, np.abs(centre - want)[seen].max())
	expect(np.abs(weight / np.hypot(1, slope) / 1.3 - 1)[seen] < 0.15, weight[seen])
	return weight
sine = lambda x: np.interp(x, np.arange(101), 5 + 4 * np.sin(np.arange(101) / 16))
def axes(ink, top):
	for at in LEFT, RIGHT:				# a line of 1 px half in either column
		expect(ink[int(top) + 1:BOTTOM, at - 1:at + 1].mean(1) > 0.3, at)
	for at in [BOTTOM] + [top] * (top == TOP):
		expect(ink[at - 1:at + 1, LEFT + 1:RIGHT].mean(0) > 0.3, at)
	for k in range(11):				# at 0, 10, .. and 0, 1, ..: a grey line and a number
		x, y = LEFT + 30 * k, BOTTOM - (BOTTOM - top) / 10 * k
		expect(ink[BOTTOM + 8:BOTTOM + 22, x - 9:x + 10].max() > 0.5, "number below", k)
		expect(k == 10 or ink[BOTTOM + 3:BOTTOM + 24, x + 14:x + 17].max() < 0.02, "between numbers", k)
		expect(ink[int(y) - 5:int(y) + 6, LEFT - 30:LEFT - 5].max() > 0.5, "number at the left", k)
		if 0 < k < 10:
			expect((ink[int(top) + 2:BOTTOM - 2, x - 1:x + 1].mean(1) > 0.02).mean() > 0.75, "grid", k)
	expect(ink[BOTTOM + 30:BOTTOM + 46, 150:306].max() > 0.5, "column (px)")
	expect(ink[:, 3:22].max() > 0.5 and ink[:70, 3:22].max() < 0.02, "depth (mm)")
ink, first, second = picture("one.png")
expect(ink.shape == (300, 400), ink.shape)
axes(ink, TOP)
weight = passes(first, sine, TOP, lambda x: (x < 38.5) | (x > 45.5))
expect(weight[(np.arange(LEFT + 2, RIGHT - 2) > LEFT + 3 * 39 + 2) & (np.arange(LEFT + 2, RIGHT - 2) < LEFT + 3 * 45 - 2)] == 0, "gap")
expect(second < 0.01)
expect(ink[:TOP - 1, 150:300] < 0.01, "no title")
ink, first, second = picture("two.png")
axes(ink, 33.8)
expect(ink[8:24, 190:270].max() > 0.5, "title")
# the names of the curves are at the upper right, with a piece of each
legend = slice(36, 84), slice(262, 400)
expect(first[legend].sum() > 20 and second[legend].sum() > 20, first[legend].sum(), second[legend].sum())
first[legend] = second[legend] = 0
fall = lambda x: 9 - x * 0.08
clear = lambda x: (x < 60) & (np.abs(sine(x) - fall(x)) > 1)	# of the names, and of the other curve
passes(first, sine, 33.8, lambda x: clear(x) & ((x < 38.5) | (x > 45.5)))
passes(second, fall, 33.8, clear)'
}

@test "frameplot: PNG has the size that was asked for; flat and empty curves are drawn too" {
	py '
write_frames("in.nrrd", [Frame(np.full((3, 9), 4, "f4")), Frame(np.full((1, 1), np.nan, "f4"))])'
	frameplot -s 400x300 in.nrrd -o out.png
	py '
from PIL import Image
im = Image.open("out.png"); expect(im.size == (400, 300), im.size)
expect(len(np.unique(np.asarray(im))) > 3)'
}

@test "frameplot: --abscissa points measures along the points themselves" {
	# 0.5 mm from column to column along a line that is turned by 2 rad, with 0.02 mm of noise across it, and
	# a bend in z alone; the second frame runs backwards, the third one has x but for its plotted values
	py '
rng = np.random.default_rng(1)
i = np.arange(101.); a, b = np.cos(2), np.sin(2)
s = 0.5 * i + 0.2 * np.sin(i / 9); n = 0.02 * rng.normal(size=101)
z = np.sin(i / 10)
x, y = 7 + a * s - b * n, 3 + b * s + a * n
frame = lambda x, y, z: Frame(np.stack([np.tile(v, (3, 1)) for v in (x, y, z, z)]).astype("f4"),
	["x", "y", "z", "texture"], {"length_unit": "cm"})
x[:5] = y[:5] = np.nan
write_frames("in.nrrd", frame(x, y, np.where(np.isnan(x), np.nan, z)))
write_frames("back.nrrd", frame(x[::-1], y[::-1], np.where(np.isnan(x), np.nan, z)[::-1]))
write_frames("texture.nrrd", frame(x, y, z))
write_frames("place.nrrd", frame(0 * i, 0 * i, z))
write_frames("gone.nrrd", frame(np.nan * i, np.nan * i, np.nan * z))
np.save("want.npy", np.stack([s, z])[:, 5:])'
	silent frameplot --abscissa points -c z --range=-2,2 in.nrrd -o in.svg
	silent frameplot --abscissa points -c z --range=-2,2 back.nrrd -o back.svg
	silent frameplot --abscissa points -c z in.nrrd -o in.pdf
	silent frameplot --abscissa points --from 0,1 --to 100,1 -c z --range=-2,2 in.nrrd -o oblique.svg
	fails 0 "z has no value on the line from 0,1 to 100,1" frameplot --abscissa points gone.nrrd -o gone.svg
	py "$curves"'
from pdftext import texts
s, z = np.load("want.npy")
for file, way, height in (("in.svg", s - s[0], z), ("back.svg", s[-1] - s[::-1], z[::-1]), ("oblique.svg", s - s[0], z)):
	c, = curves(file)
	c = c[np.r_[True, (np.diff(c, axis=0) != 0).any(1)]]
	want = np.stack([LEFT + way / way[-1] * (RIGHT - LEFT), BOTTOM - (height + 2) / 4 * (BOTTOM - TOP)], 1)
	expect(c.shape == want.shape and (np.abs(c - want) < 0.2).all(), file, c.shape, np.abs(c - want).max(0))
seen = texts("in.pdf"); expect("distance (cm)" in seen and "z (cm)" in seen, seen)
expect({"0", "5", "10", "40", "45"} < set(seen), seen)'
	run frameplot --abscissa points -c texture texture.nrrd -o out.svg
	[ "$status" -eq 0 ]
	[ "$output" = "frameplot: --abscissa: 5 of 101 values of texture have no x and y, and are not drawn" ]
	fails 1 "--abscissa: all points of the section are at one place" frameplot --abscissa points place.nrrd -o x.svg
	framecat -c z in.nrrd -o z.nrrd
	fails 1 "input has no channel x" frameplot --abscissa points z.nrrd -o x.svg
	[ ! -e x.svg ]
}

# Reads a map in a PNG back: where pixels of a colour are.
maps='
from PIL import Image
from pdftext import texts
def picture(file): return np.asarray(Image.open(file).convert("RGB")).astype(int)
def box(p, rgb, most=1):
	y, x = np.nonzero(np.abs(p - rgb).max(2) <= most)
	return x.min(), x.max() + 1, y.min(), y.max() + 1, len(x)
BLUE, WHITE, RED = [4, 92, 187], [244, 244, 244], [173, 48, 50]
'

@test "frameplot: several channels, one curve each" {
	py '
i = np.arange(51.)
frame = lambda k: Frame(np.stack([np.tile(v + k, (3, 1)) for v in (i, 2 * i, 60 - i)]).astype("f4"), ["x", "z", "absphase"], {"length_unit": "mm"})
write_frames("in.nrrd", frame(0)); write_frames("two.nrrd", [frame(0), frame(3)])'
	silent frameplot -c x,absphase,z --range 0,100 in.nrrd -o in.svg
	silent frameplot -c x,absphase in.nrrd -o in.pdf
	silent frameplot -c x,z -D --range 0,10 two.nrrd -o difference.svg
	silent frameplot -c z,x two.nrrd -o two.pdf
	silent frameplot -c z,x -l a,b,c two.nrrd -o named.pdf
	silent frameplot -c z,x -D two.nrrd -o difference.pdf
	py "$curves"'
from pdftext import texts
t = np.arange(51.)
def levels(c, high):
	return np.interp(t, (c[:, 0] - LEFT) / (RIGHT - LEFT) * 50, (BOTTOM - c[:, 1]) / (BOTTOM - TOP) * high)
for c, want in zip(curves("in.svg"), (t, 60 - t, 2 * t)):
	expect(np.abs(levels(c, 100) - want) < 0.03)
expect(len(curves("in.svg")) == 3)
one, two = curves("difference.svg")
expect(np.abs(levels(one, 10) - 3) < 0.01); expect(np.abs(levels(two, 10) - 3) < 0.01)
def shows(file, *names):
	seen = texts(file)
	for name in names:
		expect(seen.count(name) == 1, file, name, seen)
shows("in.pdf", "x (mm), absphase (rad)", "x", "absphase")
shows("two.pdf", "z, x (mm)", "z 1", "x 1", "z 2", "x 2")
shows("named.pdf", "a", "b", "c", "x 2")
shows("difference.pdf", "z, x difference (mm)", "z 2", "x 2")'
	# of a hundred curves the legend names as many as there is room for
	py 'write_frames("many.nrrd", [Frame(np.full((1, 3), k, "f4"), ["z"]) for k in range(100)])'
	silent frameplot many.nrrd -o many.pdf
	fails 0 "--range: no value lies within 1000 to 2000: they go from 0 to 99" \
		frameplot --range 1000,2000 -s 200x150 many.nrrd -o many.png
	py 'from pdftext import texts
seen = texts("many.pdf")
expect("and 80 more" in seen or "and 81 more" in seen, seen)'
	py "$maps"'
p = picture("many.png"); expect(p[-3:] == 255); expect(p[98:102, 90:170] > 60, "the legend ends above the axis")'
	fails 1 "input has no channel w" frameplot -c x,w in.nrrd -o x.svg
	fails 2 "--channel: wants names with commas between, not 'x,,z'" frameplot -c x,,z in.nrrd -o x.svg
	fails 2 "--channel: wants names" frameplot -c "" in.nrrd -o x.svg
	fails 1 "--labels: 3 names for 2 curves" frameplot -c x,z -l a,b,c in.nrrd -o x.svg
	fails 1 "a difference needs two frames" frameplot -c x,z -D in.nrrd -o x.svg
	[ ! -e x.svg ]
}

@test "frameplot: PDF has the labels as text, and the same bytes whenever it is written" {
	py '
write_frames("in.nrrd", Frame(np.arange(60, dtype="f4").reshape(3, 20), ["depth"]))'
	frameplot -t "A (title)" in.nrrd -o a.PDF
	frameplot -t "A (title)" -j 3 in.nrrd -o b.pdf
	cmp a.PDF b.pdf
	head -c 5 a.PDF | has '%PDF-'
	grep -aq 'CreationDate (.*19700101000000' a.PDF
	grep -aq 'MediaBox \[ *0 0 800 450' a.PDF
	py 'from pdftext import texts
seen = texts("a.PDF")
for name in "A (title)", "column (px)", "depth (mm)", "0", "20", "38":
	expect(name in seen, name, seen)'
}

@test "frameplot: --map: pixels, colours, histogram and statistics are those of the difference" {
	py '
a = np.full((30, 60), 100, "f4"); b = a.copy()
b[:, :30] -= 1; b[:, 30:] += 1; b[:, 28:32] = 100; b[10:20, 50:55] = np.nan; b[0, 59] = 100 + 50
write_frames("a.nrrd", Frame(a, ["depth"])); write_frames("b.nrrd", Frame(b, ["depth"], {"length_unit": "um"}))
write_frames("both.nrrd", [Frame(a, ["depth"]), Frame(b, ["depth"], {"length_unit": "um"})])'
	silent frameplot --map -D --nan-colour 0,255,0 -t deviation both.nrrd -o map.png
	silent frameplot --map -D -t deviation a.nrrd b.nrrd -o map.pdf
	silent frameplot --map -D -t deviation both.nrrd -o again.pdf
	silent frameplot --map -D both.nrrd -o map.svg
	silent frameplot --map --colormap gray --range 90,110 b.nrrd -o gray.pdf
	cmp map.pdf again.pdf
	grep -q '<image' map.svg
	py "$maps"'
p = picture("map.png"); expect(p.shape == (450, 800, 3))
x0, x1, y0, y1, n = box(p[:, :608], BLUE)		# left of the bar
u0, u1, v0, v1, m = box(p[:, :608], RED)
scale = (u1 - x0) / 60; width = 30 * scale
expect(abs((y1 - y0) - 30 * scale) <= 2 and abs((v1 - v0) - 30 * scale) <= 2, "square pixels", x0, x1, y0, y1)
expect(abs((x1 - x0) / scale - 28) < 0.3 and abs((u1 - u0) / scale - 28) < 0.3 and abs((u0 - x1) / scale - 4) < 0.3)
g0, g1, h0, h1, k = box(p, [0, 255, 0], 0)		# the hole, at columns 50 to 54 and rows 10 to 19
for seen, want in ((g0, x0 + 50 * scale), (g1, x0 + 55 * scale), (h0, y0 + 10 * scale), (h1, y0 + 20 * scale)):
	expect(abs(seen - want) <= 1.5, seen, want)
right = p[:, round(u1 + 5):]				# the bar, red at the top, and the histogram
ends = [box(right, c, 6) for c in (RED, BLUE)]
expect(ends[0][3] < ends[1][2] and abs(ends[0][0] - ends[1][0]) <= 1 and ends[0][1] - ends[0][0] >= 12, ends)
bars = np.abs(right - 140).max(2) <= 1; rows = bars.sum(1).max()
lengths = sorted((bars[y].sum() for y in range(450) if bars[y].sum() > 3), reverse=True)
# bins at the ends and in the middle have 840, 840 - 51 and 120 pixels of 1750
groups = [round(lengths[0] * f) for f in (1, 789 / 840, 120 / 840)]
for length in groups:
	expect(sum(abs(l - length) <= 1.5 for l in lengths) >= 3, length, lengths)
seen = texts("map.pdf")
v = np.r_[-np.ones(840), np.ones(789), np.zeros(120), 50].astype(float); assert v.size == 1750
stat = "mean %.6g   rms %.6g   median %.6g   95 %% within %.6g um   1750 of 1800 pixels" % (v.mean(), np.sqrt((v ** 2).mean()), 0, 1)
expect(stat in seen, stat, seen)
for name in "deviation", "depth difference (um)", "column (px)", "row (px)", "-1.0", "0.0", "1.0", "%.3g %%" % (100 * 840 / 1750), "50", "25":
	expect(name in seen, name, seen)
seen = texts("gray.pdf"); expect({"depth (um)", "90", "110"} < set(seen), seen)'
}

@test "frameplot: --map chooses its colours by the values, and axes by the spacings" {
	fringesim -s 64x48 --scene relief --truth truth.nrrd -o captures.nrrd	# 1.5625 mm
	silent frameplot --map -c depth truth.nrrd -o depth.pdf
	py '
y, x = np.mgrid[:48, :64].astype("f4")
write_frames("signs.nrrd", Frame(x - 20, ["residual"])); write_frames("one.nrrd", Frame(x + 3, ["residual"]))
write_frames("same.nrrd", [Frame(x, ["z"]), Frame(x, ["z"])]); write_frames("none.nrrd", Frame(x * np.nan, ["z"]))'
	silent frameplot --map signs.nrrd -o signs.png
	silent frameplot --map one.nrrd -o one.png
	silent frameplot --map -D same.nrrd -o same.png
	fails 0 "--map: z has no value" frameplot --map none.nrrd -o none.png
	silent frameplot --map --range=-4,60 signs.nrrd -o uneven.png
	silent frameplot --map --range=-40,40 one.nrrd -o even.png
	silent frameplot --map --colormap turbo signs.nrrd -o turbo.png
	run frameplot --map --colormap deviation --range=-1,3 signs.nrrd -o x.png
	[ "$status" -eq 0 ]
	[ "$output" = "frameplot: --range: the white of the map deviation is 1 by these, not zero" ]
	fails 0 "--map: z has no value" frameplot --map none.nrrd -o none.pdf
	py "$maps"'
def has(file, rgb): return (np.abs(picture(file + ".png") - rgb).max(2) <= 6).sum() > 20
YELLOW = [253, 231, 37]				# the end of viridis
for file, diverges in (("signs", 1), ("one", 0), ("same", 1), ("none", 0), ("uneven", 0), ("even", 1)):
	expect(has(file, RED) == bool(diverges) and has(file, YELLOW) != bool(diverges), file)
expect(has("turbo", [173, 21, 1]))
expect(has("same", WHITE), "no difference is white")
p = picture("signs.png"); x0, x1, y0, y1, n = box(p[:, :520], [244, 244, 244], 1)	# zero is at column 20
a0, a1, b0, b1, m = box(p[:, :520], RED, 1); c0 = a1 - (a1 - x0) * 64 / 44
expect(abs((x0 - c0) / (a1 - c0) - 20 / 64) < 0.01, x0, c0, a1)
seen = texts("depth.pdf"); expect({"x (mm)", "y (mm)", "0", "20", "80", "depth (mm)"} < set(seen), seen)
expect("no value in any of 3072 pixels" in texts("none.pdf"))'
}

@test "frameplot: --map of tiny, wide, high and large images stays within its picture" {
	for size in 1x1 5x7 20000x1 40000x3 100x2000 1900x1200; do
		py '
w, h = map(int, sys.argv[1].split("x"))
y, x = np.mgrid[:h, :w].astype("f4")
write_frames("in.nrrd", Frame(-1e5 + x / w + y / h * 1e-3, ["long_name_of_a_channel"]))' $size
		silent frameplot --map -s 320x240 -t "a title that is longer than the picture is wide, by a few words" in.nrrd -o small.png
		silent frameplot --map in.nrrd -o usual.png
		py "$maps"'
for file, size in (("small.png", (240, 320)), ("usual.png", (450, 800))):
	p = picture(file); expect(p.shape[:2] == size)
	for edge in p[:3], p[-3:], p[:, :3], p[:, -3:]:
		expect(edge == 255, file, sys.argv[1])
	expect(len(np.unique(p.reshape(-1, 3), axis=0)) > 20)' $size
	done
}

@test "frameplot: --map errors" {
	py '
write_frames("in.nrrd", Frame(np.zeros((2, 3, 9), "f4"), ["depth", "z"])); write_frames("other.nrrd", Frame(np.zeros((3, 8), "f4"), ["depth"]))
write_frames("texture.nrrd", Frame(np.zeros((3, 9), "f4"), ["texture"]))'
	framecat --points in.nrrd -o table.csv
	fails 2 "--map: draws the whole image" frameplot --map -r 1 in.nrrd -o x.png
	fails 2 "--map: draws the whole image" frameplot --map --from 1,1 --to 2,2 in.nrrd -o x.png
	fails 2 "--map: --labels, --panels and --abscissa are for curves" frameplot --map -l a in.nrrd -o x.png
	fails 2 "--map: --labels, --panels and --abscissa are for curves" frameplot --map --abscissa points in.nrrd -o x.png
	fails 2 "--map: draws one channel, not depth,z" frameplot --map -c depth,z in.nrrd -o x.png
	fails 2 "--colormap: needs --map" frameplot --colormap gray in.nrrd -o x.png
	fails 2 "--nan-colour: needs --map" frameplot --nan-colour 1,2,3 in.nrrd -o x.png
	fails 2 "--nan-colour: must be three numbers, not 2" frameplot --map --nan-colour 1,2 in.nrrd -o x.png
	fails 2 "--size: must be 320x240 at least for a map" frameplot --map -s 300x240 in.nrrd -o x.png
	fails 1 "--map: draws one frame, and more came: framecat --frames chooses" frameplot --map in.nrrd in.nrrd -o x.png
	fails 1 "--map: draws one frame minus another, and more came" frameplot --map -D in.nrrd in.nrrd in.nrrd -o x.png
	fails 1 "a difference needs two frames" frameplot --map -D in.nrrd -o x.png
	fails 1 "--difference: the first frame has 9 x 3 pixels, the other one 8 x 3" frameplot --map -D -c depth in.nrrd other.nrrd -o x.png
	fails 1 "input has no channel depth" frameplot --map -D -c depth in.nrrd texture.nrrd -o x.png
	fails 1 "input has no channel texture" frameplot --map -D in.nrrd texture.nrrd -c texture -o x.png
	fails 1 "--map: is for images, the input is a table" frameplot --map table.csv -o x.png
}

@test "frameplot: errors" {
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 9), "f4"), ["depth"]))'
	fails 2 "needs -o FILE.svg, FILE.png or FILE.pdf" frameplot in.nrrd
	fails 2 "out.eps: needs -o FILE.svg" frameplot in.nrrd -o out.eps
	fails 1 "leaves the image of 9 x 3" frameplot -r 3 in.nrrd -o out.svg
	fails 2 "one of --row, --column, --from" frameplot -r 1 -x 2 in.nrrd -o out.svg
	fails 2 "--from: and --to want X,Y each" frameplot --from 1,2 in.nrrd -o out.svg
	fails 2 "--range: wants two numbers" frameplot --range 2,1 in.nrrd -o out.svg
	fails 2 "--size: must be" frameplot -s 10x10 in.nrrd -o out.svg
	fails 1 "a difference needs two frames" frameplot -D in.nrrd -o out.svg
	framecat --crop 0,0,7,3 in.nrrd -o narrow.nrrd
	fails 1 "same length, not 9 and 7 samples" frameplot -D in.nrrd narrow.nrrd -o out.svg
	fails 1 "--labels: 3 names for 2 frames" frameplot -l a,b,c in.nrrd narrow.nrrd -o out.svg
	fails 1 "input has no channel z, only: depth" frameplot -c z in.nrrd -o out.svg
	[ ! -e out.svg ]
}
