#!/usr/bin/env python3
"""The table of fringepipe-accuracy(7): each figure beside theory and what is published, and whether that is like for like.

   scripts/bench-accuracy.py WORK [DATA] [--check PAGE | --write PAGE]

WORK: a folder to write into; DATA: the folder with meshes/bunny_depth_512_u16.png and meshes/igea.ply, without which
the rows of scans are left out. --write puts the table into the page, --check fails where the page says something else
of a row that can be measured here. The tools are found on PATH. scripts/bench accuracy runs this.

Truth is what fringesim simulated or a sphere by formula, compared in double precision over the pixels that the row
names. Seeds are fixed: the same build prints the same figures.
"""
import argparse
import collections
import os
import subprocess
import sys

from bench_tools import *

Row = collections.namedtuple("Row", "what here pixels theory published alike")
HEADINGS = "what", "here", "pixels", "theory", "published", "like for like?"

# ---- a flat plane ----

STEPS, AMPLITUDE, NOISE = 3, 100, 1	# images per period; grey levels
PERIODS = 60, 66			# projector px
WIDTH, HEIGHT, FIELD_MM = 800, 600, 100
SLOPE = 0.084				# rad of the 60 px fringes per camera pixel
FRINGE_MM = 2 * np.pi / SLOPE * FIELD_MM / WIDTH
ANGLES = 45, 30, 20			# degrees between the camera's axis and the light


def mm_per_rad(angle):
	"""Of height over a plane that the camera sees from straight above, light coming from this angle"""
	return FRINGE_MM / (2 * np.pi * np.tan(np.radians(angle)))


def gauss_gain(n, window=11):
	"""What is left of a variance at each of n places: the sum of squared weights, of mirrored pairs only"""
	j = np.arange(-(window // 2), window // 2 + 1)
	w = np.exp(-j ** 2 / 2 / (window / 6) ** 2)
	kept = [w[np.abs(j) <= min(i, n - 1 - i)] for i in range(n)]
	return np.array([(k ** 2).sum() / k.sum() ** 2 for k in kept])


def rms(error):
	return np.sqrt(np.mean(np.asarray(error, float) ** 2))


def plane():
	must("fringesim", "-s", "%dx%d" % (WIDTH, HEIGHT), "-p", "%d,%d" % PERIODS, "-n", STEPS, "--amplitude", AMPLITUDE,
		"--noise", NOISE, "-c", mm_per_rad(30), "--scene", "plane", "--field", FIELD_MM, "--ref-plane",
		"0,%g,0" % SLOPE, "--projector", "650x600", "-o", "plane.nrrd", "--truth", "truth.nrrd")
	truth = read_frame("truth.nrrd")["absphase"].astype(float)
	must("phasewrap", "plane.nrrd", "-o", "phases.nrrd")
	error = read_frame("phases.nrrd")["phase1"] - truth
	error = (error + np.pi) % (2 * np.pi) - np.pi
	scatter = np.sqrt(2 / STEPS) * np.sqrt(NOISE ** 2 + 1 / 12) / AMPLITUDE
	everywhere = "all %d" % error.size
	yield Row("plane, wrapped phase: scatter", "%.2f mrad" % (1e3 * rms(error)), everywhere,
		"%.2f mrad: sqrt(2/N) sigma/B" % (1e3 * scatter), "none", "")
	smooth = scatter * np.sqrt(np.mean(gauss_gain(HEIGHT)[:, None] * gauss_gain(WIDTH)[None]))
	yield from unwrapped(truth, smooth, everywhere)
	if knows("unwrap2f", "--fuse"):
		fused = smooth / np.sqrt(1 + (PERIODS[0] / PERIODS[1]) ** 2)
		yield from unwrapped(truth, fused, everywhere, "--fuse")


def unwrapped(truth, theory, everywhere, *options):
	"""Absolute phase of 60 px fringes against truth, and what it makes in mm"""
	must("fringepipe", "phasewrap", "--as", "vector", "plane.nrrd", ",", "gauss", ",", "unwrap2f", *options, ",",
		"median", "-o", "absphase.nrrd")
	frame = read_frame("absphase.nrrd")
	to_first = float(frame.meta["period_px"].split()[0]) / PERIODS[0]
	error = frame["absphase"].astype(float) * to_first - truth
	with_ = "`%s`" % " ".join(("unwrap2f",) + options)
	yield Row("plane, absolute phase by gauss 11, %s, median: scatter" % with_,
		"%.2f mrad" % (1e3 * rms(error)), everywhere, "%.2f mrad" % (1e3 * theory), "none", "")
	heights = []
	for angle in ANGLES:
		must("phase2depth", "--ref", "ideal", "-c", mm_per_rad(angle) * to_first, "absphase.nrrd", "-o", "height.nrrd")
		heights.append(rms(read_frame("height.nrrd")["depth"]))
	yield Row("plane, its depth (%s), light from %s degrees: rms" % (with_, ", ".join(map(str, ANGLES))),
		"%s mm" % ", ".join("%.4f" % h for h in heights), everywhere,
		"%s mm" % ", ".join("%.4f" % (theory * mm_per_rad(a)) for a in ANGLES), "none", "")


# ---- Holoimages ----

def rounding_error(reach):
	"""rms in rad of the angle of R and G as whole levels: of all pairs so far around the rounded one the nearest"""
	angle = 2 * np.pi * (np.arange(100000) + 0.5) / 100000
	r, g = 127.5 * np.sin(angle), 127.5 * np.cos(angle)
	nearest = np.full(angle.shape, np.pi)
	for i in range(-reach, reach + 1):
		for j in range(-reach, reach + 1):
			r_whole, g_whole = (np.round(v + 127.5) + k - 127.5 for v, k in ((r, i), (g, j)))
			error = np.abs((np.arctan2(r_whole, g_whole) - angle + np.pi) % (2 * np.pi) - np.pi)
			there = (np.abs(r_whole) < 128) & (np.abs(g_whole) < 128)
			nearest = np.where(there & (error < nearest), error, nearest)
	return rms(nearest)


def kept(f):
	"""Which pixels an rms is over"""
	return "%s %d, %s" % ("all" if f.dropped == 0 else "%.1f %% dropped of" % f.dropped, f.pixels,
		"no spike" if f.spikes == 0 else "%d spikes included" % f.spikes)


def holoimage_sphere():
	z, pitch = sphere(), 16
	put("in.nrrd", z)
	for rounding, reach, alike in ("level", 0, ""), ("angle", 2, "no, this encoder rounds better"):
		must("holoenc", "-P", pitch, "--stair", "composite", "--rounding", rounding, "--depth-range", "0,%d" % W,
			"in.nrrd", "-o", "out.png")
		f = read_back(z, "out.png", pitch, extent=0.9 * W)
		limit = 100 * rounding_error(reach) / (2 * np.pi) * pitch / np.sin(np.radians(30)) / (0.9 * W)
		yield Row("sphere, composite Holoimage, pitch 16, `--rounding %s`: rms" % rounding,
			"%.4f %%" % f.rms, kept(f), "%.4f %%: R and G as whole levels" % limit, "0.017 % (fig. 5.5)", alike)


def three_bit_sphere():
	z = sphere()
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	inside = np.where(np.hypot(x, y) <= 0.45 * W - 6, z, np.nan)
	put("in.nrrd", z)
	must("holoenc", "-P", 42, "-K", 0, "--depth-range", "0,%d" % W, "in.nrrd", "-o", "out.nrrd")
	for name, method, published in ("Bayer", "bayer", 0.33), ("Floyd-Steinberg", "fs", 0.2):
		must("dither3", "-m", method, "out.nrrd", "-o", "bits.png")
		must("undither3", "bits.png", "-o", "levels.nrrd")
		must("holodec", "levels.nrrd", "-o", "back.nrrd")
		for where, part in ("", z), (", 6 px and more from its boundary", inside):
			f = Figures(part, depth_of("back.nrrd"), 84, 0.9 * W)
			yield Row("sphere, 3 bits, %s%s: rms" % (name, where), "%.3f %%" % f.rms, kept(f),
				"none", "%g %% (fig. 8.3)" % published, "")


def three_bit_scans(data):
	methods = (("fs", "Floyd-Steinberg", "David 8.2:1, 0.34 % (8.4)",
			"no, another object, whose 24-bit PNG is 320 KB (here %.0f by libpng)"),
		("small", "`dither3 -m small`", "none", ""))
	table = {method[0]: [] for method in methods}
	for name, z in ("bunny", bunny(data)), ("igea", igea(data)):
		if z is None:
			continue
		put("in.nrrd", z)
		must("holoenc", "-P", 42, "-K", 0, "--rounding", "level", "--depth-range", cube(z), "in.nrrd", "-o", "out.png")
		for method, what, published, alike in methods:
			must("dither3", "-m", method, "--pack", "msb", "out.png", "-o", "bits.png")
			must("undither3", "bits.png", "-o", "levels.nrrd")
			f = read_back(z, "levels.nrrd", 42)
			ratios = ["%.2f:1" % (of("out.png") / of("bits.png")) for of in (size, libpng_size)]
			table[method].append(Row("%s, 3 bits, %s: PNG of 24 bits to that of 3, rms"
				% (name, what), "%s (libpng %s), %.3f %%" % (*ratios, f.rms), kept(f), "none", published,
				alike and alike % (libpng_size("out.png") / 1e3)))
	for part in table.values():
		yield from part


# ---- the table ----

SCANS = "bunny", "igea"
LEGEND = """The plane: %d x %d mm in %dx%d pixels of 8 bits, %d steps, amplitude %d, noise of %d grey level, fringes of %d and %d
projector pixels, the former %.2f mm wide.
The light comes at an angle to the camera's axis; sigma^2 of theory includes 1/12 for rounding.
.Pp
The sphere is a formula, 0.9 of the width of 512x512 pixels; its rms is in %% of its diameter.
Bunny and igea are scans from the front, 512x512; their rms is in %% of their extent in depth.
.Pp
3 bits a pixel are Holoimages of pitch 42,
.Ql -K 0
(scans:
.Ql --rounding level ) ,
packed as msb and decoded by
.Ql undither3 .
Ratios are of two PNG files, both by this project, or both by libpng's default (Pillow).
Published figures are of Karpinsky's thesis 2013: encoding and dithering are the same, the decoder is ours.
The thesis does not state the size and the pixels of its sphere.
.Bl -tag -width Ds""" % (FIELD_MM, FIELD_MM * HEIGHT / WIDTH, WIDTH, HEIGHT, STEPS, AMPLITUDE, NOISE, *PERIODS, FRINGE_MM)

def rows(data):
	yield from plane()
	yield from holoimage_sphere()
	yield from three_bit_sphere()
	yield from three_bit_scans(data)


def item(row):
	"""A row as an entry of a list of mdoc, on two lines"""
	cells = ["%s: %s" % (heading, cell) if heading in ("pixels", "theory", "published") else
		"Like for like: %s" % cell if heading.startswith("like") else cell
		for heading, cell in zip(HEADINGS[1:], row[1:]) if cell and cell != "none"]
	return [".It " + row.what.replace("`", ""), "; ".join(cells[:2] + [c[0].lower() + c[1:] for c in cells[2:]]) + "."]


def show(row):
	print("\n" + row.what)
	for heading, cell in list(zip(HEADINGS, row))[1:]:
		if cell:
			print("  %-15s %s" % (heading, cell))


def items(lines):
	"""The lines before the first entry, and those of each entry by what it is of"""
	at = [i for i, line in enumerate(lines) if line.startswith(".It ")] + [len(lines)]
	return lines[:at[0]], {lines[i]: lines[i:end] for i, end in zip(at, at[1:])}


def check(lines, table):
	"""The page's rows against those that were measured; rows that need what is not here are named"""
	legend, there = items([line for line in lines if line != ".El"])
	wrong = 0
	if legend != LEGEND.split("\n"):
		wrong += 1
		print("the page's legend is another:\n" + LEGEND)
	for row in table:
		line = item(row)
		if there.pop(line[0], None) != line:
			wrong += 1
			print("the page does not have this row: %s" % " ".join(line))
	for key, line in there.items():
		if key[4:].startswith(SCANS) and not any(row.what.startswith(SCANS) for row in table):
			print("not measured, no scans here: %s" % key[4:])
		else:
			wrong += 1
			print("the page has a row more: %s" % " ".join(line))
	print("%d rows measured, %d wrong" % (len(table), wrong))
	return wrong


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("work")
	parser.add_argument("data", nargs="?")
	parser.add_argument("--check", metavar="PAGE")
	parser.add_argument("--write", metavar="PAGE")
	options = parser.parse_args()
	page = os.path.abspath(options.check or options.write or "")
	there = replace_block(page, "accuracy", None) if options.check or options.write else []
	os.chdir(options.work)
	if options.write and (bunny(options.data) is None or igea(options.data) is None):
		sys.exit("bench-accuracy: no scans, FRINGEPIPE_DATA is to name their folder: the page stays as it was")
	table = list(rows(options.data))
	if options.check:
		sys.exit(1 if check(there, table) else 0)
	print("\n" + LEGEND.rstrip())
	for row in table:
		show(row)
	if options.write:
		replace_block(page, "accuracy", LEGEND.split("\n") + [line for row in table for line in item(row)] + [".El"])


if __name__ == "__main__":
	main()
