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
	# cairo leaves out points on a straight line, so each is compared where it stands
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
