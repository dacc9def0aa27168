load helpers

# Holoimages through JPEG, at full and at halved colour, and pictures that are damaged or foreign.

bodies='
W = 512
def sphere():
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	rr = (0.45 * W) ** 2 - x * x - y * y
	return np.where(rr >= 0, W / 2 + np.sqrt(np.maximum(rr, 0)), np.nan)
def eroded(z, n):
	hole = np.pad(np.isnan(z), n, mode="edge")
	size = z.shape
	near = np.max([hole[i:i + size[0], k:k + size[1]] for i in range(2 * n + 1) for k in range(2 * n + 1)], 0)
	return np.where(near, np.nan, z)
def write_depth(name, z, meta={}):
	write_frames(name, Frame(z.astype("f4"), ["depth"], {"z_axis": "towards", **meta}))
def compare(want, got, turn):
	"""% lost (not there, or over half a turn off), spikes %, rms of the others in % of the diameter"""
	there, kept = np.isfinite(want), np.isfinite(want) & np.isfinite(got)
	error = (got - want)[kept]
	spike = np.abs(error) > turn / 2
	return (100 * (1 - (kept.sum() - spike.sum()) / there.sum()), 100 * spike.mean(),
		100 * np.sqrt(np.mean(error[~spike] ** 2)) / 460.8)
'

# Chroma, quality, and a fifth above what is measured: rms and lost, in %. Nothing is random; other JPEG libraries may
# round other coefficients.
bounds() {
	printf '%s\n' "444 95 0.0356 0.026" "444 85 0.0627 0.082" "444 75 0.0832 0.185" "420 95 0.0476 0.071" \
		"420 85 0.0725 0.197" "420 75 0.0951 0.419"
}

@test "holorate: a sphere through JPEG 444 and 420, quality 95, 85, 75: rms and lost pixels are bounded" {
	py "$bodies"'write_depth("in.nrrd", sphere())'
	for stair in composite cosine; do
		holoenc -P 42 --stair $stair --depth-range 0,512 in.nrrd -o picture.nrrd
		while read -r chroma quality _; do
			framecat --chroma $chroma --quality $quality picture.nrrd -o picture.jpg
			holodec picture.jpg -o $stair.$chroma.$quality.nrrd
		done <<<"$(bounds)"
	done
	py "$bodies"'
whole, inner = sphere(), eroded(sphere(), 2)	# without what a lossy format mixes with the background
for line in sys.argv[1].split("\n"):
	chroma, quality, *bound = line.split()
	for stair in "composite", "cosine":
		got = read_frame("%s.%s.%s.nrrd" % (stair, chroma, quality))["depth"]
		lost, spikes, _ = compare(whole, got, 84)
		rms = compare(inner, got, 84)[2]
		print("%s %s: rms %.4f lost %.4f spikes %.4f" % (stair, line, rms, lost, spikes))
		expect(rms < float(bound[0]) and lost <= float(bound[1]), stair, line, rms, lost, spikes)' "$(bounds)"
}

@test "holorate: --decode region heals patches of wrong stairs that the median leaves" {
	py "$bodies"'write_depth("in.nrrd", sphere())'
	holoenc -P 42 --depth-range 0,512 in.nrrd | framecat --chroma 420 --quality 85 -o picture.jpg
	for decode in median region auto; do
		holodec --decode $decode picture.jpg -o $decode.nrrd
	done
	cmp <(tail -c 1048576 region.nrrd) <(tail -c 1048576 auto.nrrd)
	py "$bodies"'
spikes = [compare(sphere(), read_frame(d + ".nrrd")["depth"], 84)[1] for d in ("median", "region")]
expect(spikes[1] == 0 and abs(spikes[0] - 0.434) < 0.087, spikes)'
}

# A ball before a tilted plate with holes and slits, and a step: jumps of all heights, boundaries of all
# directions. near(): pixels so near to a mark.
plate='
def plate():
	y, x = np.mgrid[:W, :W].astype(float)
	z = 90 + 0.25 * x + 0.1 * y + np.where(y > 330, 60 * (x / W) ** 2 + 20, 0)
	q = 120 ** 2 - (x - 230) ** 2 - (y - 200) ** 2
	z = np.where(q > 0, 260 + np.sqrt(np.maximum(q, 0)), z)
	z[np.hypot(x - 250, y - 250) > 240] = np.nan
	for k in range(6):
		z[(abs(x - 380) < 2 + k) & (abs(y - 90 - 50 * k) < 15)] = np.nan
		z[np.hypot(x - 110, y - 330 - 18 * k) < k + 1.5] = np.nan
	return z
def near(mark, n):
	mark = np.pad(mark, n)
	return np.max([mark[i:i + W, k:k + W] for i in range(2 * n + 1) for k in range(2 * n + 1)], 0)
'

@test "holorate: a ball before a plate with holes: pixels beside jumps and boundaries stay, and --keep says how certain" {
	py "$bodies$plate"'write_depth("in.nrrd", plate())'
	holoenc -P 42 --rounding level --depth-range 0,512 in.nrrd -o picture.nrrd
	while read -r chroma quality lost deep spikes invented; do
		framecat --chroma $chroma --quality $quality picture.nrrd -o picture.jpg
		holodec picture.jpg -o out.nrrd
		holodec -e 2 picture.jpg -o edge.nrrd
		holodec --keep picture.jpg -o keep.nrrd
		holodec --certainty 0.95 picture.jpg -o sure.nrrd
		py "$bodies$plate"'
want, keep = plate(), read_frame("keep.nrrd")
there = np.isfinite(want)
inside = there & ~near(~there, 6)
def count(got):
	bad = there & ~(np.abs(got - want) <= 42)
	spikes = (bad & np.isfinite(got)).sum()
	return 100 * bad.sum() / there.sum(), 100 * (bad & inside).sum() / there.sum(), spikes, (np.isfinite(got) & ~there).sum()
new, edge, sure = (count(read_frame(n + ".nrrd")["depth"]) for n in ("out", "edge", "sure"))
print("# %s-%s: lost %.2f deep %.3f spikes %d invented %d; without 2 px lost %.2f spikes %d; certainty 0.95 lost %.2f spikes %d"
	% (*sys.argv[1:3], *new, edge[0], edge[2], sure[0], sure[2]))
expect(new[0] <= float(sys.argv[3]) and new[1] <= float(sys.argv[4]) and new[2] <= float(sys.argv[5]), new)
expect(new[0] < 0.32 * edge[0] and new[2] <= 0.28 * edge[2] and new[3] <= float(sys.argv[6]) and sure[2] <= new[2], new, edge, sure)
expect(keep.names == ["depth", "certainty"], keep.names)
c, d = keep["certainty"], keep["depth"]
expect(np.array_equal(np.isfinite(c), np.isfinite(d)) and np.nanmin(c) >= 0 and np.nanmax(c) <= 1)
# what is dropped is what is not certain
kept = np.isfinite(read_frame("out.nrrd")["depth"])
least = np.min(c[kept])
expect(np.array_equal(kept, c >= least) and np.max(c[~kept & np.isfinite(c)]) <= 0.93, least)
expect(least >= 0.93 and (~kept & np.isfinite(c)).sum() <= 0.011 * np.isfinite(c).sum(), least)
wrong = np.abs(d - want) > 42
shares = [(wrong & g).sum() / max((there & g).sum(), 1) for g in ((c > 0) & (c < 0.75), (c >= 0.75) & (c < 0.99), c >= 0.99)]
print("# wrong of those above 0 and below 0.75, below 0.99, above:", *shares)
expect(shares[0] > 2.6 * shares[1] and shares[1] > 190 * shares[2] and shares[2] < 3.6e-4, shares)' \
			$chroma $quality $lost $deep $spikes $invented >&3
	done <<-END
		444 85 0.29 0.18 15 0
		420 85 0.92 0.5 172 0
	END
	fails 2 "--certainty: must be 0 to 1, not '1.5'" holodec --certainty 1.5 picture.jpg
	fails 1 "give --decode region" holodec --keep --decode median picture.jpg
	fails 1 "give --decode region" holodec --certainty 0.9 --decode nearest picture.jpg
	holoenc -P 42 --depth-range 0,512 in.nrrd | holodec --keep --xyz -o xyz.nrrd
	py 'f = read_frame("xyz.nrrd"); c = f["certainty"]
expect(f.names == ["x", "y", "z", "certainty"] and np.array_equal(np.isnan(c), np.isnan(f["z"])) and np.nanmin(c) == 1)'
}

# Below quality 75 compression carries luma farther, and stairs are misread where orders are right.
@test "holorate: the ball before the plate at qualities of 50 and 60: few pixels are invented, and certainty holds" {
	py "$bodies$plate"'write_depth("in.nrrd", plate())'
	for stair in composite cosine; do
		holoenc -P 42 --stair $stair --rounding level --depth-range 0,512 in.nrrd -o picture.nrrd
		for chroma in 444 420; do
			for quality in 50 60; do
				framecat --chroma $chroma --quality $quality picture.nrrd -o picture.jpg
				holodec picture.jpg -o out.$stair.$chroma.$quality.nrrd
				holodec --keep picture.jpg -o keep.$stair.$chroma.$quality.nrrd
			done
		done
	done
	py "$bodies$plate"'
import glob
want, right, certain, invented = plate(), [], [], 0
for name in sorted(glob.glob("out.*.nrrd")):
	keep, there = read_frame(name.replace("out", "keep")), np.isfinite(want)
	invented += (np.isfinite(read_frame(name)["depth"]) & ~there).sum()
	c = keep["certainty"]
	asked = there & (c > 0) & (c < 0.85)
	right += list(np.abs(keep["depth"] - want)[asked] <= 42)
	certain += list(c[asked])
right, certain = np.array(right), np.array(certain)
off = [right[part].mean() - certain[part].mean() for part in (certain < 0.7, certain >= 0.7)]
print("# invented %d; %d pixels below 0.85, right above what is said, below 0.7 and above: %.3f %.3f" % (invented, len(right), *off))
expect(invented <= 9 and abs(off[0]) < 0.32 and abs(off[1]) < 0.08, invented, off)' >&3
}

# Regions must not show where the decoder cuts a picture into blocks of rows for its threads.
@test "holorate: a lossy picture moved by some rows decodes to the same, moved: depths and certainty, bit by bit" {
	py "$bodies$plate"'
y, x = np.mgrid[:W, :W]
write_depth("in.nrrd", np.where(np.hypot(x - 250, y - 250) > 200, np.nan, plate()))'
	while read -r pitch stair; do
		holoenc -P $pitch --stair $stair --rounding level --depth-range 0,512 in.nrrd |
			framecat --quality 75 --chroma 420 -o picture.jpg
		framecat picture.jpg -o still.nrrd
		holodec --keep still.nrrd -o want.nrrd
		for rows in -26 -20 8 14; do
			py '
f = read_frame("still.nrrd")
del f.meta["holo_check"]
write_frames("moved.nrrd", Frame(np.roll(f.pixels, int(sys.argv[1]), 1), f.names, f.meta))' $rows
			holodec --keep moved.nrrd -o got.nrrd
			py '
got, want = np.roll(read_frame("got.nrrd").pixels, -int(sys.argv[1]), 1), read_frame("want.nrrd").pixels
expect(got.tobytes() == want.tobytes(), sys.argv[1:], (~np.isclose(got[0], want[0], atol=1, equal_nan=True)).sum())' \
				$rows $pitch $stair
		done
	done <<-END
		64 cosine
		42 composite
	END
}

# QUALITY 0|1|2: the planes of picture.nrrd through a JPEG of 4:4:4, 4:2:2 or 4:2:0 without a matrix, in planes.nrrd.
planes_of_jpeg() {
	py '
from PIL import Image
f, (quality, colour) = read_frame("picture.nrrd"), map(int, sys.argv[1:])
Image.merge("YCbCr", [Image.fromarray(np.ascontiguousarray(p)) for p in f.pixels]).save(
	"picture.jpg", quality=quality, subsampling=colour)
back = Image.open("picture.jpg")
back.draft("YCbCr", None)
write_frames("planes.nrrd", Frame(np.moveaxis(np.asarray(back), 2, 0), f.names, f.meta))' "$@"
}

# Facets of 73 pixels, some of which lie a whole turn before the next: a region of many facets must not take one in
# row by row.
@test "holorate: facets beyond jumps of about a whole turn keep their order" {
	py "$bodies"'
y, x = np.mgrid[:W, :W]
z = np.random.default_rng(8).uniform(0.05, 0.95, (8, 8))[y * 7 // W, x * 7 // W] * W
z += 3 * np.sin(x / 37) + 3 * np.cos(y / 29)
write_depth("in.nrrd", z - z.min())'
	holoenc -P 64 --rounding level --depth-range 0,512 in.nrrd -o picture.nrrd
	for quality in 85 75; do
		framecat --chroma 420 --quality $quality picture.nrrd -o picture.jpg
		holodec picture.jpg -o out.nrrd
		py "$bodies"'
lost, spikes, _ = compare(read_frame("in.nrrd")["depth"], read_frame("out.nrrd")["depth"], 128)
print("# quality %s: lost %.3f, spikes %.3f %%" % (sys.argv[1], lost, spikes))
expect(lost < (0.49 if sys.argv[1] == "85" else 0.65), lost)' $quality >&3
	done
}

# Stairs of 11 levels are misread in patches of more than 128 pixels, which are to be joined with what is around.
@test "holorate: patches of misread low stairs are healed" {
	py "$bodies"'write_depth("in.nrrd", sphere())'
	holoenc -P 32 --rounding level --depth-range 0,512 in.nrrd | framecat --chroma 420 --quality 75 -o picture.jpg
	holodec picture.jpg -o out.nrrd
	py "$bodies"'
lost, spikes, _ = compare(sphere(), read_frame("out.nrrd")["depth"], 64)
print("# lost %.3f, spikes %.4f %%" % (lost, spikes))
expect(lost < 0.64 and spikes == 0, lost, spikes)' >&3
}

# The lowest stair of composite ones has no luma; of this ball, whose stairs are 25 levels high, it is 2 to 8 pixels wide.
@test "holorate: the lowest stair beside the next one is no background at halved colour" {
	py "$bodies"'
y, x = np.mgrid[:300, :300] - 149.5
rr = 141.0 ** 2 - x * x - y * y
write_depth("in.nrrd", np.where(rr > 0, np.sqrt(np.maximum(rr, 0)), np.nan))'
	holoenc -P 42 --layout yuv --stair composite --rounding level --depth-range 0,300 in.nrrd -o picture.nrrd
	for quality in 75 95; do
		for colour in 1 2; do	# 4:2:2, 4:2:0
			planes_of_jpeg $quality $colour
			holodec planes.nrrd -o out.nrrd
			py "$bodies"'
want, got = read_frame("in.nrrd")["depth"], read_frame("out.nrrd")["depth"]
there, bad = np.isfinite(want), np.isfinite(want) & ~(np.abs(got - want) <= 42)
lost, deep = (100 * (bad & part).sum() / there.sum() for part in (there, np.isfinite(eroded(want, 6))))
print("# %s %s: lost %.3f, deep %.4f %%" % (*sys.argv[1:], lost, deep))
expect(lost < 0.86 and deep < 0.0077 and not (np.isfinite(got) & ~there).any(), lost, deep)' $quality $colour >&3
		done
	done
}

# A leaf on the lowest stairs, whose luma is that of the background; the planes of the layout yuv without a matrix.
@test "holorate: on the lowest stairs, which luma does not tell from black, no pixel is invented at halved colour" {
	py "$bodies"'
y, x = np.mgrid[:W, :W]
r = ((x - 44) / 40) ** 2 + ((y - 256) / 220) ** 2
write_depth("in.nrrd", np.where(r < 1, 50 * np.sqrt(np.maximum(1 - r, 0)), np.nan))'
	for stair in composite cosine; do
		holoenc -P 42 --layout yuv --stair $stair --rounding level --depth-range 0,512 in.nrrd -o picture.nrrd
		for quality in 75 95; do
			for colour in 1 2; do	# 4:2:2, 4:2:0
				planes_of_jpeg $quality $colour
				holodec planes.nrrd -o out.nrrd
				holodec --keep planes.nrrd -o keep.nrrd
				py '
want, got, keep = read_frame("in.nrrd")["depth"], read_frame("out.nrrd")["depth"], read_frame("keep.nrrd")
there, kept = np.isfinite(want), np.isfinite(got)
lost = 100 * (there & ~(np.abs(got - want) <= 42)).sum() / there.sum()
print("# %s %s %s: lost %.2f %%, invented %d; of certainty 0 %d"
	% (*sys.argv[1:], lost, (kept & ~there).sum(), (keep["certainty"] == 0).sum()))
expect(not (kept & ~there).any() and lost <= (3.2 if sys.argv[1] == "composite" else 1.54), lost)
expect((there & (keep["certainty"] == 0) & ~kept).sum() > 214)' $stair $quality $colour >&3
			done
		done
	done
}

# Holes of one to four pixels, 7 to 9 columns and rows apart, at all places of the blocks of 8 x 8, some at the border.
@test "holorate: small holes in a surface do not come back as depth: at quality 75 a twentieth of those of one pixel, less of others" {
	py "$bodies"'
y, x = np.mgrid[:W, :W].astype(float)
z = 120 + 0.3 * x + 0.2 * y + 40 * np.sin(x / 60) * np.cos(y / 45)
z[:, 500:] = np.nan
k = 0
for v in range(0, W, 9):
	for u in range(v % 7, 490, 16):
		k += 1
		z[v : v + 1 + (k % 4 > 1), u : u + 1 + (k % 2)] = np.nan
write_depth("in.nrrd", z)'
	while read -r stair chroma quality one others lost; do
		holoenc -P 42 --stair $stair --rounding level --depth-range 0,512 in.nrrd |
			framecat --chroma $chroma --quality $quality -o picture.jpg
		holodec picture.jpg -o out.nrrd
		holodec --keep picture.jpg -o keep.nrrd
		py "$bodies"'
want, got, keep = read_frame("in.nrrd")["depth"], read_frame("out.nrrd")["depth"], read_frame("keep.nrrd")
there, kept = np.isfinite(want), np.isfinite(got)
alone = ~there
alone[:, 498:] = False
for v, u in ((0, 1), (1, 0)):
	for to in 1, -1:
		alone &= np.roll(there, (to * v, to * u), (0, 1)) | ~np.roll(alone, (to * v, to * u), (0, 1))
one = alone & kept
filled = ~there & np.isfinite(keep["depth"])
lost = 100 * (there & ~(np.abs(got - want) <= 42)).sum() / there.sum()
print("# %s %s %s: one pixel: %d of %d, others %d; filled %d, certainty 0 of %d; lost %.3f %%" % (*sys.argv[1:4], one.sum(),
	alone.sum(), (kept & ~there & ~one).sum(), filled.sum(), (filled & (keep["certainty"] == 0)).sum(), lost))
expect(one.sum() <= float(sys.argv[4]) and (kept & ~there & ~one).sum() <= float(sys.argv[5]) and lost <= float(sys.argv[6]))
expect((filled & (keep["certainty"] == 0)).sum() > 0.94 * filled.sum() and filled.sum() > 1000, filled.sum())' \
			$stair $chroma $quality $one $others $lost >&3
	done <<-END
		composite 420 75 109 16 0.86
		cosine 420 75 105 19 0.91
		cosine 444 75 73 4 0.474
		cosine 420 85 15 1 0.7
	END
}

# Of scans: lost is all that is not there or over half a fringe off, in % of the surface; deep, farther than 6 px from
# its boundary and from jumps (0.35 fringes from pixel to pixel); spikes are held against those of -e 2.
@test "holorate: scans and a sphere at qualities 75 and 90: lost at most 2 %, deep 0.0125 %, spikes bounded, nothing invented" {
	need_data meshes
	framecat --invalid 0 "$data/meshes/bunny_depth_512_u16.png" -o bunny.nrrd
	mesh2depth --view 270,-15,0 "$data/meshes/stanford-bunny.obj" -o turned.nrrd
	mesh2depth "$data/meshes/igea.ply" -o igea.nrrd
	py "$bodies"'
write_depth("sphere.nrrd", sphere())
for name in "bunny", "turned", "igea":
	z = read_frame(name + ".nrrd").pixels[0].astype(float) * (-1 if name == "bunny" else 1)
	write_depth(name + ".nrrd", (z - np.nanmin(z)) / np.ptp(z[np.isfinite(z)]) * W)'
	for name in bunny turned igea sphere; do
		holoenc -P 42 --rounding level --depth-range 0,512 $name.nrrd -o picture.nrrd
		for quality in 75 90; do
			for chroma in 444 420; do
				framecat --quality $quality --chroma $chroma picture.nrrd -o picture.jpg
				holodec picture.jpg -o $name-$quality-$chroma.nrrd
				holodec -e 2 picture.jpg -o $name-$quality-$chroma-edge.nrrd
			done
		done
	done
	py "$bodies"'
for name in "bunny", "turned", "igea", "sphere":
	z = read_frame(name + ".nrrd")["depth"].astype(float)
	there = np.isfinite(z)
	boundary = ~there
	for one, other in (np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1]):
		jump = np.abs(z[one] - z[other]) > 0.35 * 84
		boundary[one] |= jump
		boundary[other] |= jump
	inside = np.isfinite(eroded(np.where(np.pad(boundary, 1, constant_values=True), np.nan, 0), 6)[1:-1, 1:-1])
	for quality in "75", "90":
		for chroma in "444", "420":
			d, edge = (read_frame("%s-%s-%s%s.nrrd" % (name, quality, chroma, end))["depth"] for end in ("", "-edge"))
			bad = there & ~(np.abs(d - z) <= 42)
			lost, deep = 100 * bad.sum() / there.sum(), 100 * (bad & inside).sum() / there.sum()
			spikes, before = ((there & (np.abs(e - z) > 42)).sum() for e in (d, edge))
			invented = (np.isfinite(d) & ~there).sum()
			print("# %-6s %s %s: lost %.2f %% deep %.4f %% spikes %d (-e 2: %d) invented %d"
				% (name, quality, chroma, lost, deep, spikes, before, invented))
			# the bar of 2 %, and a fifth above what is measured
			bars = {"bunny": (1.84, 0.0012), "turned": (2, 0.0087), "igea": (2, 0.0125), "sphere": (0.403, 0)}[name]
			expect(lost <= bars[0] and deep <= bars[1] and invented == 0, name, quality, chroma)
			expect(spikes <= 0.6 * before, name, quality, chroma)' >&3
}

# Quality 80 against 85 for eyes: measured 0.72 to 0.77 of the bytes at 0.90 to 0.96 of the rms; holoenc's own against 95
# for eyes: 0.82 to 0.86 at 0.69 to 0.77. The rest is left for other libraries.
@test "holorate: JPEG for fringes takes fewer bytes than that for eyes, at less error, lost pixels and spikes" {
	need_data meshes
	mesh2depth --view 240,0,0 "$data/meshes/igea.ply" -o igea.nrrd
	mesh2depth --view 135,10,0 "$data/meshes/stanford-bunny.obj" -o bunny.nrrd
	py "$bodies$plate"'
write_depth("sphere.nrrd", sphere())
write_depth("plate.nrrd", plate())
for name in "igea", "bunny":
	z = read_frame(name + ".nrrd").pixels[0].astype(float)
	write_depth(name + ".nrrd", (z - np.nanmin(z)) / np.ptp(z[np.isfinite(z)]) * W)'
	for name in igea bunny sphere plate; do
		holoenc -P 42 --depth-range 0,512 $name.nrrd -o picture.nrrd
		framecat --quality 85 picture.nrrd -o eyes.jpg
		framecat --jpeg-for fringes --quality 80 picture.nrrd -o fringes.jpg
		framecat picture.nrrd -o older.jpg
		holoenc -P 42 --depth-range 0,512 $name.nrrd -o default.jpg
		for kind in eyes fringes older default; do
			holodec $kind.jpg -o $kind.nrrd
		done
		py "$bodies"'
import os
name, want = sys.argv[1], read_frame(sys.argv[1] + ".nrrd")["depth"].astype(float)
for new, old, *bar in ("fringes", "eyes", 0.8, 1), ("default", "older", 0.99, 0.8):
	n, m = os.path.getsize(new + ".jpg"), os.path.getsize(old + ".jpg")
	f, g = (compare(want, read_frame(k + ".nrrd")["depth"], 84) for k in (new, old))
	print("# %-6s %-7s %6d for %6d bytes (%.3f), rms %.4f for %.4f (%.3f), lost %.2f for %.2f %%, spikes %.3f for %.3f %%"
		% (name, new, n, m, n / m, f[2], g[2], f[2] / g[2], f[0], g[0], f[1], g[1]))
	expect(n / m < bar[0] and f[2] / g[2] < bar[1] and f[0] <= g[0] and f[1] <= g[1], name, new)' \
			$name >&3
	done
}

@test "holorate: cut files are refused, at any length" {
	py "$bodies"'write_depth("in.nrrd", sphere()[::4, ::4] / 4)'
	for suffix in png jpg; do
		holoenc -P 20 in.nrrd -o whole.$suffix
		size=$(stat -c %s whole.$suffix)
		for part in 0 1 2 4 7 9 11; do
			head -c $((size * part / 12)) whole.$suffix >cut.$suffix
			fails 1 "cut.$suffix" holodec cut.$suffix
		done
		head -c $((size - 3)) whole.$suffix >cut.$suffix
		fails 1 "cut.$suffix" holodec cut.$suffix
	done
}

@test "holorate: pictures that are none are refused, from PNG and JPEG, whatever is said of them" {
	py "$bodies"'write_depth("in.nrrd", sphere())'
	holoenc -P 42 --depth-range 0,512 in.nrrd -o good.nrrd
	py "$bodies"'
f = read_frame("good.nrrd"); p = f.pixels; y, x = np.mgrid[:W, :W]
def put(name, *planes):
	planes = [np.broadcast_to(np.asarray(v, float), (W, W)) for v in planes]
	write_frames(name + ".nrrd", Frame(np.clip(planes, 0, 255).astype("u1"), list("rgb"), f.meta))
put("noise", *np.random.default_rng(1).integers(0, 256, (3, W, W)))
put("ramps", x / 2, y / 2, 255 - x / 2)
put("photo", *[127 + 80 * np.sin(x / (40 + 9 * i) + i) * np.cos(y / (60 - 9 * i)) for i in range(3)])
put("white", 255, 255, 255)
put("orange", 255, 128, 20)
put("rainbow", 127.5 + 127.5 * np.sin(x / 20), 127.5 + 127.5 * np.cos(x / 20), 127 + 100 * np.sin(y / 30))
put("mirrored", *p[:, :, ::-1])
put("turned", *np.rot90(p, 1, (1, 2)))
put("exchanged", p[1], p[0], p[2])
put("negative", *(255 - p.astype(int)))
put("darker", *(0.6 * p))
put("gamma", *(255 * (p / 255) ** 0.55))
put("stairless", p[0], p[1], 80)'
	for name in noise ramps photo white orange rainbow mirrored turned exchanged negative darker gamma \
		stairless; do
		for suffix in png jpg; do
			framecat $name.nrrd -o picture.$suffix
			fails 1 "holodec: " holodec picture.$suffix
		done
	done
	py 'write_frames("black.nrrd", Frame(np.zeros((3, 40, 50), "u1"), list("rgb"), {
		k: v for k, v in read_frame("good.nrrd").meta.items() if k != "holo_size"}))'
	fails 1 "holodec: no pixel of depth is valid" holodec black.nrrd -o out.nrrd
	py 'expect(np.isnan(read_frame("out.nrrd")["depth"]))'
}

@test "holorate: grey copies, alpha, other sizes, lost keys, options that contradict the picture" {
	py "$bodies"'write_depth("in.nrrd", sphere()[::4, ::4] / 4)'
	holoenc -P 20 --depth-range 0,128 in.nrrd -o good.png
	framecat good.png -o good.nrrd
	py '
f = read_frame("good.nrrd"); p, m = f.pixels, f.meta
write_frames("grey.nrrd", Frame(p.mean(0).astype("u1"), ["image"], m))
write_frames("alpha.nrrd", Frame(np.concatenate([p, p[:1]]), list("rgba"), m))
write_frames("small.nrrd", Frame(p[:, ::2, ::2], list("rgb"), m))
write_frames("bare.nrrd", Frame(p, list("rgb")))'
	framecat grey.nrrd -o grey.jpg
	framecat grey.nrrd -o grey.png
	fails 1 "a Holoimage has the channels r g b" holodec grey.jpg
	fails 1 "a Holoimage has the channels r g b" holodec grey.png
	framecat alpha.nrrd -o alpha.png
	holodec alpha.png -o out.nrrd
	holodec good.png -o want.nrrd
	py '
f, g = read_frame("out.nrrd"), read_frame("want.nrrd")
expect(f.names == ["depth", "texture"] and f["depth"].tobytes() == g["depth"].tobytes(), f.names)'
	framecat small.nrrd -o small.jpg
	fails 1 "scaled or cut" holodec small.jpg
	framecat bare.nrrd -o bare.jpg
	fails 1 "is it a Holoimage?" holodec bare.jpg
	options="-P 20 -t 30 --stair cosine -S $(py 'print(read_frame("good.nrrd").meta["holo_stair_height"])') -K 0"
	holodec $options --z-axis towards --depth-range 0,128 bare.jpg -o out.nrrd
	py "$bodies"'expect(compare(eroded(sphere()[::4, ::4] / 4, 3), read_frame("out.nrrd")["depth"], 40)[0] == 0)'
	for wrong in "-P 9" "-P 33" "-t 20" "--layout yuv"; do
		fails 1 "holodec: " holodec $wrong good.png
	done
	fails 1 "do not fit into 256" holodec -S 100 good.png
}

@test "holorate: no points at all, and pictures of one pixel, through PNG and JPEG" {
	py '
write_frames("none.nrrd", Frame(np.full((20, 30), np.nan, "f4"), ["depth"]))
write_frames("one.nrrd", Frame(np.full((1, 1), 7, "f4"), ["depth"]))
write_frames("hole.nrrd", Frame(np.full((1, 1), np.nan, "f4"), ["depth"]))'
	for suffix in png jpg; do
		for name in none one hole; do
			valid=$([ $name = one ] || echo 1)	# nothing in them is, and they are written
			run -"${valid:-0}" holoenc $name.nrrd -o picture.$suffix
			run -"${valid:-0}" holodec --edge 0 picture.$suffix -o out.nrrd
			py '
got, want = (read_frame(n + ".nrrd")["depth"] for n in ("out", sys.argv[1]))
expect(got.shape == want.shape and np.array_equal(np.isnan(got), np.isnan(want)), got)
expect(np.nan_to_num(np.abs(got - want)) < 9.4e-5, got)		# 7.8e-5, both' $name $suffix
		done
	done
}

@test "holorate: an option that contradicts the picture is used, but not in silence" {
	py '
y, x = np.mgrid[:128, :128]
write_frames("depth.nrrd", Frame((0.2 * x + 0.1 * y).astype("f4"), ["depth"]))'
	holoenc -t 30 depth.nrrd -o picture.png
	run --separate-stderr holodec -t 80 picture.png -o wrong.nrrd
	[ "$status" -eq 0 ]
	[[ $stderr == *"holo_theta_deg: the picture says 30, the option's 80 is used"* ]]
	run --separate-stderr holodec -t 30 picture.png -o right.nrrd
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

# Levels that another program changed, and pictures that it turned, all without the keys that would tell. What is refused has
# a message of its own; the rest must have one of these warnings. A vertical flip is a Holoimage again, of the flipped surface.
@test "holorate: without keys, changed levels and mirrored or turned pictures are refused or warned of, as PNG and JPEG" {
	py "$bodies"'
y, x = np.mgrid[:W, :W]
write_depth("sphere.nrrd", sphere())
r = ((x - 255) / 60) ** 2 + ((y - 255) / 90) ** 2
write_depth("narrow.nrrd", np.where(r < 1, 230 + 40 * np.sqrt(np.maximum(1 - r, 0)), np.nan))'
	options="-P 42 -t 30 --stair composite -S 15 --z-axis towards --depth-range 0,512"
	for name in sphere narrow; do
		holoenc -P 42 --stair composite --rounding level --depth-range 0,512 $name.nrrd -o $name-picture.nrrd
		py '
f = read_frame(sys.argv[1] + "-picture.nrrd")
expect(f.meta["holo_stair_height"] == "15")
p = f.pixels.astype(float)
def put(name, pixels):
	write_frames("%s-%s.nrrd" % (sys.argv[1], name), Frame(np.clip(np.round(pixels), 0, 255).astype("u1"), f.names))
for k, v in {"none": p, "brighter": p + 10, "darker": p - 10, "gamma": 255 * (p / 255) ** 0.9, "gamma2": 255 * (p / 255) ** 1.25,
		"contrast": 127.5 + 0.9 * (p - 127.5), "contrast2": 127.5 + 1.1 * (p - 127.5), "gain": 0.95 * p, "gain2": 1.05 * p,
		"mirrored": p[:, :, ::-1], "upside": p[:, ::-1, ::-1], "quarter": np.rot90(p, 1, (1, 2)),
		"quarter3": np.rot90(p, 3, (1, 2)), "transposed": p.transpose(0, 2, 1), "flipped": p[:, ::-1]}.items():
	put(k, p if k == "none" else v)' $name
		while read -r kind words; do
			framecat $name-$kind.nrrd -o out.png
			framecat --quality 75 --chroma 420 $name-$kind.nrrd -o out.jpg
			for picture in out.png out.jpg; do
				run --separate-stderr holodec $options $picture -o back.nrrd
				echo "$name $kind $picture: $status: $stderr"
				case $words in
				silent) [[ $status -eq 0 && -z $stderr ]] ;;
				*) [[ $status -eq 1 || ($status$stderr == 0*"$words"* && ${#stderr_lines[@]} -eq 1) ]] ;;
				esac
				warned=$((${warned:-0} + (status == 0 && ${#stderr_lines[@]} == 1)))
			done
		done <<-END
			none silent
			flipped silent
			brighter levels were changed
			darker levels were changed
			gamma levels were changed
			gamma2 levels were changed
			contrast levels were changed
			contrast2 levels were changed
			gain levels were changed
			gain2 levels were changed
			mirrored seems to be mirrored or turned
			upside seems to be mirrored or turned
			quarter turned by a quarter or transposed
			quarter3 turned by a quarter or transposed
			transposed turned by a quarter or transposed
		END
	done
	echo "# $warned with a warning" >&3
	[ $warned -ge 30 ]
}

@test "holorate: pictures as encoded, through JPEG of quality 50 to 95 and as the planes of video, have no word of changes" {
	py "$bodies$plate"'
y, x = np.mgrid[:W, :W]
write_depth("sphere.nrrd", sphere())
write_depth("plate.nrrd", plate())
write_depth("ramp.nrrd", np.abs(y - 256) * 2.0)
write_depth("away.nrrd", 512.0 - x)'
	for name in sphere plate ramp away; do
		while read -r pitch stair layout; do
			holoenc -P $pitch --stair $stair --layout $layout --rounding level --depth-range 0,512 $name.nrrd -o picture.nrrd
			height=$(py 'print(read_frame("picture.nrrd").meta["holo_stair_height"])')
			py '
import io
from PIL import Image
f, mode = read_frame("picture.nrrd"), {"rgb": "RGB", "yuv": "YCbCr"}[sys.argv[1]]
write_frames("png.nrrd", Frame(f.pixels, f.names))
for quality, colour in (95, 0), (75, 2), (50, 0), (50, 2):
	b = io.BytesIO()
	Image.merge(mode, [Image.fromarray(np.ascontiguousarray(p)) for p in f.pixels]).save(b, "jpeg", quality=quality, subsampling=colour)
	back = Image.open(b)
	if mode == "YCbCr":
		back.draft(mode, None)
	write_frames("%d-%d.nrrd" % (quality, colour), Frame(np.moveaxis(np.asarray(back), 2, 0), f.names))' $layout
			for picture in png 95-0 75-2 50-0 50-2; do
				run --separate-stderr holodec -P $pitch -t 30 --stair $stair -S $height -K 0 --layout $layout \
					--z-axis towards --depth-range 0,512 $picture.nrrd -o back.nrrd
				echo "$name $pitch $stair $layout $picture: $status: $stderr"
				[ "$status" -eq 0 ]
				[ -z "$stderr" ]
			done
		done <<-END
			42 cosine rgb
			64 composite yuv
			32 cosine yuv
		END
	done
}
