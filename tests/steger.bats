load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# lines KIND W HEIGHT [NOISE [TYPE [N]]]: in.nrrd, straight lines of nine directions and two offsets.
lines() {
	py '
from lines import *
kind, w, h, noise, to, n = sys.argv[1], *map(float, sys.argv[2:5]), sys.argv[5], int(sys.argv[6])
rng = np.random.default_rng(11)
p = [h * line_image(n, a, o, kind, w) + rng.normal(0, noise, (n, n)) for a, o in DIRECTIONS]
write_frames("in.nrrd", [Frame(np.clip(np.rint(q), 0, 255).astype("u1") if to == "u1" else q.astype("f4")) for q in p])' \
		"$1" "$2" "$3" "${4:-0}" "${5:-f4}" "${6:-160}"
}

# rms MOST [N]: of the points of out.nrrd about the lines; all rows crossed, no point far away.
rms() {
	py '
from lines import *
n = int(sys.argv[2])
out = read_frames("out.nrrd")
near = [distances(f, n, a, o) for f, (a, o) in zip(out, DIRECTIONS)]
e = np.concatenate([d for d, _ in near])
print(len(e), "points, rms", np.sqrt(np.mean(e ** 2)), "bias", e.mean())
expect(np.sqrt(np.mean(e ** 2)) <= float(sys.argv[1]))
expect(all(np.abs(d).max() <= 0.9 for _, d in near), "far points")
rows = [crossed(f, n, a) for f, (a, o) in zip(out, DIRECTIONS)]
expect(np.mean(rows) >= 0.998, "rows crossed", rows)
expect([f["line"].max() for f in out] == [1] * len(out), "lines")' "$1" "${2:-160}"
}

@test "steger: lines without noise to 0.00036 px, of 8 bits to 0.0013 px, at sigma = w" {
	for w in 1 2 3; do
		lines gauss $w 150
		steger --sigma $w in.nrrd -o out.nrrd
		rms 0.000354			# 0.000104 0.000123 0.000295
	done
	lines bar 5 150
	steger --width 10 in.nrrd -o out.nrrd
	rms 0.000159				# 0.000132
	lines gauss 2 150 0 u1
	steger in.nrrd -o out.nrrd
	rms 0.00124				# 0.00103
}

# Aliasing of the sharp edges moves such a bar by up to 0.012 px where it runs along an axis, whatever the smoothing.
@test "steger: a bar of 3 px is where its pixels put it, in all directions, and to 0.001 px where it is aslant" {
	lines bar 1.5 150
	steger --sigma 1 in.nrrd -o out.nrrd
	py '
from lines import *
slanted = []
for image, f, (a, o) in zip(read_frames("in.nrrd"), read_frames("out.nrrd"), DIRECTIONS):
	u, v = f["u"][0].astype(float), f["v"][0].astype(float)
	inside = (np.minimum(u, v) > 20) & (np.maximum(u, v) < 139)
	off = ridge_steps(image.pixels[0].astype(float), 1, u[inside][::9], v[inside][::9])
	expect(np.abs(off).max() < 6.6e-5, a, o, np.abs(off).max())
	if min(abs(np.cos(a)), abs(np.sin(a))) > 0.3:
		slanted.append(distances(f, 160, a, o)[0])
slanted = np.concatenate(slanted)
expect(len(slanted) > 1000 and np.sqrt(np.mean(slanted ** 2)) <= 0.0009, np.sqrt(np.mean(slanted ** 2)))'
}

@test "steger: --sharp finds bars of 3 to 10 px to 0.001 px in all directions" {
	for w in 1.5 2 3 5; do
		lines bar $w 150
		steger --width "$(awk "BEGIN { print 2 * $w }")" --sharp in.nrrd -o out.nrrd
		rms 0.001
	done
	fails 2 "--sharp: needs the line's --width" steger --sharp in.nrrd
	fails 2 "--sharp: excludes --plain" steger --sharp --width 3 --plain in.nrrd
	fails 2 "--sharp: excludes --asymmetric" steger --sharp --width 3 --asymmetric in.nrrd
	fails 2 "--sharp: a line of 14 px needs no such correction" steger --sharp --width 14 in.nrrd
}

@test "steger: the plain point locks to pixels, and less so the wider the line" {
	py '
from lines import *
offsets = np.linspace(-0.4, 0.4, 9)
write_frames("in.nrrd", [Frame((150 * line_image(81, 0, o, "gauss", 1)).astype("f4")) for o in offsets])'
	steger --sigma 1 --plain in.nrrd -o plain.nrrd
	steger --sigma 1 in.nrrd -o out.nrrd
	py '
for name, least, most in ("plain.nrrd", 0.01, 0.05), ("out.nrrd", 0, 0.0005):
	e = np.concatenate([f["u"][0] - 40 - o for f, o in zip(read_frames(name), np.linspace(-0.4, 0.4, 9))])
	expect(least <= np.sqrt(np.mean(e ** 2)) <= most, name, np.sqrt(np.mean(e ** 2)))'
}

@test "steger: scatter with noise is that of theory within 8 %, no point far, no row lost" {
	for case in "2 2 10" "2 3 2"; do
		read -r w sigma noise <<<"$case"
		lines gauss "$w" 150 "$noise" f4 300
		steger --sigma "$sigma" in.nrrd -o out.nrrd
		rms "$(awk -v w="$w" -v s="$sigma" -v n="$noise" 'BEGIN {
			print 1.08 * n * (s * s + w * w) ^ 1.5 / (sqrt(8 * 3.14159265) * s * s * w * 150) }')" 300
	done
}

@test "steger: clipped lines are where they were" {
	for height in 200 2000; do
		lines gauss 2 $height 2 u1
		steger --sigma 3 in.nrrd -o out.nrrd
		rms 0.02
		py '
from lines import *
e = np.concatenate([distances(f, 160, a, o)[0] for f, (a, o) in zip(read_frames("out.nrrd"), DIRECTIONS)])
expect(abs(e.mean()) <= 0.0032, e.mean())'
	done
}

@test "steger: fields of the table, its order, its keys" {
	py '
y, x = np.mgrid[0:120, 0:160].astype(float)
g = lambda d, w: np.exp(-d * d / (2 * w * w))
p = 150 * g(x - 40 - 0.1 * y, 2) + 100 * g((y - 60) + 0.05 * x, 2) * (x > 75) + 0 * y
write_frames("in.nrrd", Frame(p.astype("f4"), None, {"stage_mm": "3", "spam": "x"}))'
	steger --keep-border --threshold 2 in.nrrd -o out.nrrd
	py '
f = read_frame("out.nrrd")
expect(f.names == "u v nu nv response width line".split(), f.names)
expect(f.pixels.shape == (7, 1, int(f.meta["points"])), f.pixels.shape)
expect((f.meta["spam"], f.meta["stage_mm"], f.meta["line_sigma_px"], f.meta["line_threshold"]) == ("x", "3", "2", "2"), f.meta)
expect("line_noise" not in f.meta and f.meta["cmd.1"] == "steger --threshold=2 --keep-border [1]", f.meta)
u, v, nu, nv, r, w, line = f.pixels[:, 0].astype(float)
expect(np.diff(line) >= 0, line)
expect(set(line) == {1, 2}, set(line))
a, b = line == 1, line == 2
expect(np.diff(v[a]) > 0, "down")
expect(np.diff(u[b]) > 0, "to the right")
s = np.hypot(1, 0.1)
expect(np.abs(nu[a][9:-9] - 1 / s) < 7.4e-6, nu[a])
expect(np.abs(nv[a][9:-9] + 0.1 / s) < 7.4e-5, nv[a])
expect(nv[b] < 0, "walking to the right the left is up", nv[b])
expect(np.abs(np.hypot(nu, nv) - 1) < 1.1e-7)
wide = 2 / s	# the line is cut aslant
expect(np.abs(w[a][9:-9] - np.sqrt(4 * wide ** 2 + 4 / 12)) < 0.0013, w[a])
expect(np.abs(r[a][9:-9] / (150 * wide / (4 + wide ** 2) ** 1.5) - 1) < 0.0182, r[a])
expect(r[a].max() > r[b].max())'
	steger --keep-border --per-row --threshold 2 in.nrrd -o rows.nrrd
	steger --keep-border --per-column --threshold 2 in.nrrd -o columns.nrrd
	py '
t, rows, columns = read_frame("out.nrrd"), read_frame("rows.nrrd"), read_frame("columns.nrrd")
expect((rows.pixels.shape, columns.pixels.shape) == ((7, 120, 1), (7, 1, 160)))
expect("points" not in rows.meta)
for f, axis, at in (rows, "v", rows.pixels[:, :, 0]), (columns, "u", columns.pixels[:, 0]):
	place = np.rint(t[axis][0])
	for k in range(at.shape[1]):
		here = np.flatnonzero(place == k)
		if len(here):
			best = here[t["response"][0][here].argmax()]
			expect(at[:, k] == t.pixels[:, 0, best], axis, k)
		else:
			expect(np.isnan(at[:, k]), axis, k)'
}

@test "steger: the same bytes with and without skipping, on one thread and many, at all levels" {
	py '
from lines import *
rng = np.random.default_rng(3)
y, x = np.mgrid[0:203, 0:331].astype(float)
p = 20 + 120 * np.exp(-(x - 100 - 30 * np.sin(y / 40)) ** 2 / 8) + rng.normal(0, 2, x.shape)
q = np.where(np.hypot(x - 250, y - 100) < 30, np.nan, p)
write_frames("a.nrrd", [Frame(np.clip(np.rint(p), 0, 255).astype("u1")), Frame(np.rint(p * 9).astype("u2")), Frame(q.astype("f4"))])
write_frames("b.nrrd", Frame(np.full(x.shape, 19, "u1")))'
	for options in "" "--sigma 1 --threshold 6" "--sigma 5 --threshold 0.5 --asymmetric" "--plain" \
		"--background b.nrrd --low 1 --roi 33,17,100,111"; do
		for level in $(cpu_levels); do
			for more in "-j 1" "-j 3 --no-skip"; do
				# shellcheck disable=SC2086
				FRINGEPIPE_CPU=$level steger $options $more a.nrrd -o out.nrrd
				framecat --delete 'cmd*' out.nrrd -o "$level$more.nrrd"
				cmp "$level$more.nrrd" "$(cpu_levels | head -1)-j 1.nrrd"
			done
		done
	done
}

@test "steger: small images, borders, invalid pixels" {
	for size in 1x1 5x7 127x1 1x127; do
		py '
w, h = map(int, sys.argv[1].split("x"))
write_frames("in.nrrd", Frame(np.full((h, w), 7, "u1")))' $size
		fails 1 "no point in any image" steger in.nrrd -o out.nrrd
	done
	py '
y, x = np.mgrid[0:64, 0:128].astype(float)
g = 150 * np.exp(-(x - 60.3) ** 2 / 8)
holes = g.copy(); holes[20, 60] = np.nan; holes[40, 66] = np.nan; holes[50, 3] = np.inf
edge = 150 * np.exp(-(x - 0.2) ** 2 / 8) + 150 * np.exp(-(x - 127.4) ** 2 / 8)
write_frames("in.nrrd", [Frame(p.astype("f4")) for p in (g, holes, g[:, 40:41] * 0 + 1 + 0 * x, edge)])'
	steger --keep-border --threshold 2 in.nrrd -o out.nrrd
	py '
a, b, c, d = read_frames("out.nrrd")
u, v = a["u"][0], a["v"][0]
expect(len(u) == 64 and np.abs(u - 60.3).max() < 0.000165, u)
expect(np.sort(np.rint(v)) == np.arange(64), v)
u, v = b["u"][0], b["v"][0]
far = np.array([k for k in range(64) if abs(k - 20) > 9 and abs(k - 40) > 9 and k != 30])
expect(np.isin(far, np.rint(v)) & (np.abs(u - 60.3).max() < 0.000165), u, v)
expect(~np.isin(np.arange(13, 28), np.rint(v)), "points beside a NaN")
expect((c.meta["points"], c.pixels.shape) == ("0", (7, 1, 1)) and np.isnan(c.pixels), c.meta)
u = d["u"][0]
expect(np.isnan(u) | (np.abs(u - 0.2) < 3) | (np.abs(u - 127.4) < 3), u)'
}

@test "steger: a background that is subtracted, one or one for each; a dark line" {
	py '
y, x = np.mgrid[0:80, 0:100].astype(float)
line = lambda u: 80 * np.exp(-(x - u) ** 2 / 8)
b = 60 + 80 * (x > 50.5)
q = lambda p: Frame(np.rint(p).astype("u1"))
write_frames("in.nrrd", [q(b + line(50)), q(b + 20 + line(50.4))])
write_frames("b.nrrd", q(b))
write_frames("bb.nrrd", [q(b), q(b + 20)])
write_frames("float.nrrd", [Frame((b + k).astype("f4")) for k in (0, 20)])
write_frames("dark.nrrd", q(220 - line(50)))
write_frames("narrow.nrrd", q(b[:, 1:]))
write_frames("three.nrrd", [q(b)] * 3)'
	for background in b bb float; do
		steger --keep-border --threshold 4 --background $background.nrrd in.nrrd -o out.nrrd
		py '
for f, u in zip(read_frames("out.nrrd"), (50, 50.4)):
	expect(len(f["u"][0]) == 80 and np.abs(f["u"][0] - u).max() < 0.0077, f["u"][0])'
	done
	steger --threshold 4 in.nrrd -o out.nrrd
	py 'expect(np.median(read_frames("out.nrrd")[0]["u"][0]) - 50 > 0.3, "the step moves it")'
	steger --dark dark.nrrd -o out.nrrd
	py 'expect(np.abs(read_frame("out.nrrd")["u"][0] - 50).max() < 1e-6)'
	fails 1 "no point in any image" steger dark.nrrd --threshold 9 -o out.nrrd
	fails 1 "narrow.nrrd: is 99 x 80, the input is 100 x 80" steger --background narrow.nrrd in.nrrd -o out.nrrd
	fails 1 "background" steger --background three.nrrd in.nrrd -o out.nrrd
}

@test "steger: thresholds from the noise, hysteresis, length, region" {
	py '
rng = np.random.default_rng(2)
y, x = np.mgrid[0:200, 0:200].astype(float)
h = np.where(y < 100, 100, 40)
p = h * np.exp(-(x - 50) ** 2 / 8) + 40 * np.exp(-(x - 150) ** 2 / 8) + rng.normal(0, 2, x.shape) + 50
write_frames("in.nrrd", Frame(p.astype("f4")))'
	steger in.nrrd -o out.nrrd
	py '
f = read_frame("out.nrrd")
noise = float(f.meta["line_noise"])
expect(abs(noise - 2) < 0.3, noise)	# slopes of the lines count, too
expect(abs(float(f.meta["line_threshold"]) - 9 * 0.484 * noise / 4) < 1.1e-6, f.meta)
expect(set(f["line"][0]) == {1, 2}, "both lines, whole, and nothing else")
expect(np.bincount(f["line"][0].astype(int))[1:] >= 188, np.bincount(f["line"][0].astype(int)))'
	steger --threshold 6 in.nrrd -o high.nrrd
	steger --threshold 6 --low 2 in.nrrd -o low.nrrd
	steger --low 1 --min-length 150 in.nrrd -o long.nrrd
	steger --roi 100,50,100,60 in.nrrd -o roi.nrrd
	py '
high, low, full, roi = [read_frame(n + ".nrrd") for n in ("high", "low", "long", "roi")]
expect((high["v"][0] < 103) & (np.abs(high["u"][0] - 50) < 0.0256), "the strong half")
expect(len(low["v"][0]) >= 188 and np.all(np.abs(low["u"][0] - 50) < 0.073), "the whole line, and not the other one")
expect((low.meta["line_low"], low.meta["line_threshold"]) == ("2", "6"), low.meta)
expect(set(full["line"][0]) == {1, 2}, "no short lines")
u, v = roi["u"][0], roi["v"][0]
expect((u > 99) & (v > 49) & (v < 110.6), u, v)
t = read_frame("out.nrrd")
# the bend at a point is that of the line within 4 sigma
inside = (t["u"][0] > 99) & (t["v"][0] > 49.6 + 9) & (t["v"][0] < 109.4 - 9)
expect(np.isin(t["u"][0][inside], u) & (inside.sum() >= 40), "the same points as without")'
}

@test "steger: --asymmetric halves what unlike sides do, and raises the scatter by half at most" {
	py '
rng = np.random.default_rng(7)
x = np.arange(90.)[:, None] + (np.arange(64) + 0.5) / 64 - 0.5
frames = []
for noise in 0, 2:
	for kind in 0, 1:
		for a in 0, 0.1, 0.2, 0.4, 0.6:
			d = x - 44.7
			g = np.exp(-d * d / 8)
			f = np.where(d > 0, g + a if kind == 0 else a + (1 - a) * g, g).mean(1)
			frames.append(Frame((150 * f + rng.normal(0, noise, (200, 90))).astype("f4")))
write_frames("in.nrrd", frames)'
	steger --threshold 2 in.nrrd -o out.nrrd
	steger --threshold 2 --asymmetric in.nrrd -o mended.nrrd
	py '
e, m = [[f["u"][0] - 44.7 for f in read_frames(n)] for n in ("out.nrrd", "mended.nrrd")]
theory = [0, 0.225, 0.446, 0.862, 1.23, 0, 0.12, 0.26, 0.58, 1.04]
for k, want in enumerate(theory):
	before, after = e[k].mean(), m[k].mean()
	expect(abs(before - want) <= 0.0278, k, before, want)
	expect(abs(after) <= abs(before) / 2 + 1e-3, k, before, after)
	scatter = e[k + 10].std(), m[k + 10].std()
	expect(scatter[1] <= 1.6 * scatter[0], k, scatter)'
}

@test "steger: lines of the other sign, and backgrounds that are not the image's, get a line" {
	py '
rng = np.random.default_rng(1)
x, y = np.meshgrid(np.arange(200.), np.arange(150.))
scene = 60 + 40 * np.sin(x / 9) * np.cos(y / 7)
light = 120 * np.exp(-(x - 90 - 0.2 * y) ** 2 / 8)
for name, image in dict(on=scene + light, off=scene, long=1.5 * scene, dark=160 - light, flat=0 * x + 160).items():
	write_frames(name + ".nrrd", [Frame(np.clip(np.rint(image + rng.normal(0, 1, x.shape)), 0, 255).astype("u1"))])
'
	words() {
		run -0 --separate-stderr "${@:2}"
		[[ $stderr == *"$1"* ]] || { echo "printed: $stderr; wanted: $1"; return 1; }
	}
	silent steger --background off.nrrd on.nrrd -o points.nrrd
	fails 1 "is --background the image?" steger --background on.nrrd off.nrrd -o points.nrrd
	fails 1 "that of a bright line" steger --dark --background off.nrrd on.nrrd -o points.nrrd
	words "same view, exposure" steger --background long.nrrd on.nrrd -o points.nrrd
	py '
x, y = np.meshgrid(np.arange(200.), np.arange(150.))
on = np.rint(60 + 40 * np.sin(x / 9) * np.cos(y / 7) + 100 * np.exp(-(x - 90 - 0.2 * y) ** 2 / 8))
for factor in 1, 16, 256, 257:		# levels of 8 bits in 16
	for name, image in dict(on=on, near=on - 2, far=on - 9).items():
		image = image if name == "on" else image - np.rint(100 * np.exp(-(x - 90 - 0.2 * y) ** 2 / 8))
		write_frames("%s%d.nrrd" % (name, factor), Frame((image * factor).astype("u2")))'
	for factor in 1 16 256 257; do
		silent steger --background near$factor.nrrd on$factor.nrrd -o points.nrrd
		words "same view, exposure" steger --background far$factor.nrrd on$factor.nrrd -o points.nrrd
	done
	silent steger --dark dark.nrrd -o points.nrrd
	fails 1 "that of a dark line" steger dark.nrrd -o points.nrrd
}

@test "steger: every mistake has its line" {
	py '
y, x = np.mgrid[0:60, 0:80].astype(float)
p = np.rint(150 * np.exp(-(x - 40) ** 2 / 8)).astype("u1")
write_frames("in.nrrd", Frame(p))
write_frames("rgb.nrrd", Frame(np.stack([p, p // 2, p // 4]), ["r", "g", "b"]))
write_frames("grey.nrrd", Frame(np.stack([p, p, p]), ["r", "g", "b"]))
write_frames("two.nrrd", Frame(np.stack([p, p]).astype("f4"), ["depth", "texture"]))
write_frames("bar.nrrd", Frame(np.rint(100. * (np.abs(x - 40) < 12)).astype("u1")))
write_frames("wide.nrrd", Frame(np.rint(100. * (np.abs(x - 40) < 12) + 20 * np.exp(-(np.abs(x - 40) - 8) ** 2 / 8)).astype("u1")))
write_frames("apart.nrrd", Frame(np.rint(100 * (np.exp(-(x - 30) ** 2 / 8) + np.exp(-(x - 45) ** 2 / 8))).astype("u1")))'
	fails 2 "--sigma: 0.79 px is below 0.8" steger --sigma 0.79 in.nrrd
	fails 2 "--width: 2 px asks for sigma 0.58, below 0.8" steger --width 2 in.nrrd
	fails 2 "--width: asks for a sigma, and --sigma gives another one" steger --width 9 --sigma 2 in.nrrd
	fails 2 "--sigma" steger --sigma 65 in.nrrd
	fails 2 "--low: 3 is above --threshold 2" steger --threshold 2 --low 3 in.nrrd
	fails 1 "--low: 300 is above the threshold that the noise" steger --low 300 in.nrrd -o out.nrrd
	fails 2 "--threshold: much is neither a number nor auto" steger --threshold much in.nrrd
	fails 2 "--threshold: nan is neither a number nor auto" steger --threshold nan in.nrrd
	fails 2 "--threshold: -1 is not above 0" steger --threshold -1 in.nrrd
	fails 2 "--roi: must be four numbers, not 3" steger --roi 1,2,3 in.nrrd
	fails 2 "--roi: 1.5 is no whole number" steger --roi 1.5,2,3,4 in.nrrd
	fails 2 "--roi: is empty" steger --roi 1,2,0,4 in.nrrd
	fails 1 "--roi: 70,0,20,20 is not within the image of 80x60" steger --roi 70,0,20,20 in.nrrd -o out.nrrd
	fails 2 "--per-column: excludes --per-row" steger --per-row --per-column in.nrrd
	fails 2 "--asymmetric: excludes --plain" steger --plain --asymmetric in.nrrd
	fails 2 "--min-length" steger --min-length 0 in.nrrd
	fails 1 "the input has the channels depth texture: name one with --channel" steger two.nrrd -o out.nrrd
	fails 1 "no point in any image: the strongest response is 13.1 grey levels per px^2, --threshold 14" \
		steger --threshold 14 in.nrrd -o out.nrrd
	fails 1 "fewer than 100 points; --min-length" steger --min-length 100 in.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
	fails 1 "no point in any image: the strongest response is 0 " steger --channel red --background rgb.nrrd rgb.nrrd -o out.nrrd
	silent steger grey.nrrd -o a.nrrd
	silent steger --channel red rgb.nrrd -o b.nrrd
	silent steger --channel texture two.nrrd -o c.nrrd
	for k in a b c; do framecat --delete 'line_*' $k.nrrd | framecat --delete 'cmd*' -o $k.points.nrrd; done
	cmp a.points.nrrd b.points.nrrd
	cmp a.points.nrrd c.points.nrrd
	fails 1 "at the edges of something wider than 6.93 px; --sigma" steger bar.nrrd -o out.nrrd
	steger wide.nrrd -o wide.out.nrrd 2>said
	has "points come in pairs .* px apart, as at the edges of a line that is too wide for sigma 2: try --sigma" <said
	sigma=$(sed 's/.*--sigma //' said)
	silent steger --sigma "$sigma" wide.nrrd -o out.nrrd
	py 'expect(np.abs(read_frame("out.nrrd")["u"][0] - 40).max() < 1e-6)'
	silent steger apart.nrrd -o out.nrrd
}

# A Gaussian line along a circle, pixels as means over their areas, at sigma = w: its points are where it is, whichever
# way it bends; smoothing alone moves them inwards by (sigma^2 + 1/6)/2r and more, 0.142 px at r 15 and sigma 2.
@test "steger: arcs of radius 15 to 200 px are found to 0.004 px; a bend leaves the straight lines beside it" {
	py '
t, share = np.polynomial.legendre.leggauss(5)
frames = []
for w in 1, 2, 4:
	for r, u in (15, 60.3), (30, 60.3), (200, -120.4):
		y, x = np.mgrid[0:121, 0:121].astype(float)
		p = sum(a * b / 4 * np.exp(-(np.hypot(x + s / 2 - u, y + q / 2 - 59.6) - r) ** 2 / (2 * w * w))
			for s, a in zip(t, share) for q, b in zip(t, share))
		write_frames("arc-%d-%d.nrrd" % (w, r), Frame((150 * p).astype("f4")))
y, x = np.mgrid[0:400, 0:400] / 4 - 0.375
f = lambda v: 40.2 + 0.3 * np.abs(v - 50)	# a corner
d = np.minimum(*[np.where(side(y + sign * 0.3 * (x - f(y)) / 1.09), np.abs(x - f(50) - sign * 0.3 * (y - 50)) / np.sqrt(1.09),
	np.hypot(x - f(50), y - 50)) for sign, side in ((1, lambda v: v > 50), (-1, lambda v: v < 50))])
write_frames("corner.nrrd", Frame((150 * np.exp(-d ** 2 / 8)).reshape(100, 4, 100, 4).mean((1, 3)).astype("f4")))'
	for w in 1 2 4; do
		for r in 15 30 200; do
			# an arc's sides differ in the picture, and are alike in the line
			for words in "" --asymmetric; do
				# shellcheck disable=SC2086
				steger -q --sigma $w --threshold $((18 / w / w)) $words arc-$w-$r.nrrd -o out.nrrd
				py '
w, r, words = sys.argv[1:]
f = read_frame("out.nrrd")
e = np.hypot(f["u"][0] - (-120.4 if r == "200" else 60.3), f["v"][0] - 59.6) - int(r)
print(w, r, words, len(e), "points off by", e.mean(), np.abs(e).max())
expect(len(e) > 60 and np.abs(e).max() < (0.012 if words else 0.004), w, r, words, e)' $w $r "$words"
			done
		done
	done
	steger -q --sigma 2 --plain --threshold 4 arc-2-15.nrrd -o plain.nrrd
	steger -q --threshold 4 corner.nrrd -o out.nrrd
	py '
f = read_frame("plain.nrrd")
e = np.mean(np.hypot(f["u"][0] - 60.3, f["v"][0] - 59.6) - 15)
expect(abs(e + 0.142) < 0.003, "without the correction", e)
f = read_frame("out.nrrd")
u, v = f["u"][0].astype(float), f["v"][0].astype(float)
e = (u - 40.2 - 0.3 * np.abs(v - 50)) / np.sqrt(1.09)
far = np.abs(v - 50) > 7
print("beside the corner", np.abs(e[far]).max())
expect(far.sum() > 60 and np.abs(e[far]).max() < 0.003, e[far])'
}

@test "steger: slanted lines are right up to 3 sigma from the border, nearer points come with --keep-border" {
	lines gauss 2 150
	steger in.nrrd -o out.nrrd
	steger --keep-border in.nrrd -o all.nrrd
	py '
from lines import *
for name, least, most in ("out", 0, 0.03), ("all", 0.3, 0.9):
	worst, near = 0, 160
	for f, (a, o) in zip(read_frames(name + ".nrrd"), DIRECTIONS):
		worst = max(worst, np.abs(distances(f, 160, a, o)[1]).max())
		u, v = f["u"][0], f["v"][0]
		near = min(near, np.minimum(np.minimum(u, v), 159 - np.maximum(u, v)).min())
	print(name, "off by up to", worst, "points", near, "px from the outer pixels")
	expect(least <= worst <= most and (near >= 5.4) == (name == "out"), name, worst, near)'
	py '
y, x = np.mgrid[0:60, 0:80].astype(float)
write_frames("edge.nrrd", Frame(np.rint(150 * np.exp(-(x - 3) ** 2 / 8)).astype("u1")))'
	fails 1 "stronger ones lie within 3 sigma of the border: --keep-border" steger edge.nrrd -o out.nrrd
	steger --keep-border edge.nrrd -o out.nrrd
	fails 1 "no point in any image" steger --sigma 12 --roi 0,0,20,20 edge.nrrd -o out.nrrd
}

# A green laser; red sees a saturated lamp and noise, blue a fringe of the line.
@test "steger: of a picture in colour the channel that sees the line is chosen, and named with the others' figures" {
	py '
rng = np.random.default_rng(4)
y, x = np.mgrid[0:150, 0:200].astype(float)
line = np.exp(-(x - 90.3 - 0.2 * y) ** 2 / 8)
def picture(line):
	red = 40 + 215 * (np.hypot(x - 160, y - 80) < 15) + rng.normal(0, 9, x.shape)
	green, blue = [30 + h * line + rng.normal(0, 1, x.shape) for h in (150, 25)]
	return Frame(np.clip(np.rint(np.stack([red, green, blue])), 0, 255).astype("u1"), ["r", "g", "b"])
write_frames("rgb.nrrd", [picture(0 * line), picture(line), picture(line)])
write_frames("off.nrrd", picture(0 * line))'
	for background in "" "--background off.nrrd"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr steger $background rgb.nrrd -o out.nrrd
		echo "$stderr"
		[[ $stderr == *"--channel green: 13"*" points in long lines"*"; the others: red "*"; blue "* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
		py '
f = read_frames("out.nrrd")
expect(f[0].meta["points"] == "0", f[0].meta)
for g in f[1:]:
	e = (g["u"][0] - 90.3 - 0.2 * g["v"][0]) / np.hypot(1, 0.2)
	expect(len(e) > 130 and np.abs(e).max() < 0.03, len(e), np.abs(e).max())'
		# shellcheck disable=SC2086
		silent steger --channel green $background rgb.nrrd -o green.nrrd
		framecat --delete 'cmd*' out.nrrd -o a.nrrd
		framecat --delete 'cmd*' green.nrrd | framecmp - a.nrrd
	done
}

@test "steger: after an image with pairs the next one is looked at" {
	py '
y, x = np.mgrid[0:60, 0:80].astype(float)
wide = 100. * (np.abs(x - 40) < 12) + 20 * np.exp(-(np.abs(x - 40) - 8) ** 2 / 8)
light = 60 + 20 * np.exp(-(x - 60) ** 2 / 8) - 50 * np.exp(-(x - 30) ** 2 / 8)
write_frames("two.nrrd", [Frame(np.rint(p).astype("u1")) for p in (wide, light)])'
	run -0 --separate-stderr steger -v two.nrrd -o out.nrrd		# -v: pairs explain the other line
	echo "$stderr"
	[[ $stderr == *"points come in pairs"*"frame 1: dark lines answer up to"* ]]
}

@test "steger: two lasers on a real board, and one on a bust" {
	need_data horus_laser
	horus=$data/horus_laser
	steger --sigma 3 --channel red --threshold 2.5 --min-length 100 --background "$horus/laser_pattern_background.png" \
		"$horus/laser_pattern.png" -o board.nrrd
	steger --sigma 3 --channel red --background "$horus/laser_bust_background.png" "$horus/laser_bust.png" -o bust.nrrd
	run -0 --separate-stderr steger --sigma 3 --channel green --background "$horus/laser_bust_background.png" \
		"$horus/laser_bust.png" -o green.nrrd
	[[ $stderr == *"or is --channel that of the laser's colour?" ]]
	py '
from PIL import Image
for name in "", "_background":
	red = np.asarray(Image.open(sys.argv[1] + "/laser_bust" + name + ".png"))[..., 0]
	for factor in 1, 16, 256, 257:		# levels of 8 bits in 16
		write_frames("bust%s%d.nrrd" % (name, factor), Frame(red.astype("u2") * np.uint16(factor)))' "$horus"
	for factor in 1 16 256 257; do
		run -0 --separate-stderr steger --sigma 3 --background bust_background$factor.nrrd bust$factor.nrrd -o $factor.nrrd
		[[ $stderr == *" of 4335 points are in lines of less than 30"* ]]
		py 'expect(read_frame("bust.nrrd")["u"].size == 4335 == read_frame(sys.argv[1] + ".nrrd")["u"].size)' $factor
	done
	py '
from PIL import Image
def undistorted(u, v):
	x0, y0 = (1279 - v - 636.40) / 1430.39, (u - 478.03) / 1429.66
	k1, k2, p1, p2, k3 = 0.02719, -0.23099, -0.0000713, 0.000869, 0.50892
	x, y = x0, y0
	for _ in range(30):
		r = x * x + y * y
		c = 1 + r * (k1 + r * (k2 + r * k3))
		x, y = (x0 - 2 * p1 * x * y - p2 * (r + 2 * x * x)) / c, (y0 - p1 * (r + 2 * y * y) - 2 * p2 * x * y) / c
	return np.stack([x, y], 1) * 1430
f = read_frame("board.nrrd")
u, v, line = [f[n][0].astype(float) for n in ("u", "v", "line")]
expect(set(line) == {1, 2}, set(line))
for k in 1, 2:
	p = undistorted(u[line == k], v[line == k])
	rows = len(np.unique(np.rint(v[line == k])))
	p -= p.mean(0)
	along, across = p @ np.linalg.svd(p, full_matrices=False)[2].T[:, 0], p @ np.linalg.svd(p, full_matrices=False)[2].T[:, 1]
	across = across[along.argsort()]
	scatter, straight = np.diff(across).std() / np.sqrt(2), across.std()
	print("rows", rows, "scatter", scatter, "straight", straight)
	expect(rows >= 550 and scatter <= 0.0696 and straight <= 0.43, rows, scatter, straight)
red = [np.asarray(Image.open(sys.argv[1] + n))[..., 0].astype(int) for n in ("/laser_bust.png", "/laser_bust_background.png")]
light = (red[0] - red[1])[:, 510:779].max(1) > 60
f = read_frame("bust.nrrd")
u, v = f["u"][0], f["v"][0]
found = np.isin(np.arange(1280), np.rint(v[(u > 500) & (u < 790)]))
expect(light.sum() == 1074 and (light & found).sum() >= 1040, light.sum(), (light & found).sum())' "$horus"
}
