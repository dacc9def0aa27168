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

@test "frameplot: errors" {
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 9), "f4"), ["depth"]))'
	fails 2 "needs -o FILE.svg or -o FILE.png" frameplot in.nrrd
	fails 2 "out.pdf: needs -o FILE.svg" frameplot in.nrrd -o out.pdf
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
