#!/usr/bin/env python3
"""The table of Holoimages: what they lose, and how large they are, beside their peers.

   scripts/bench-holo.py RVL WORK [DATA] [--check TOP | --write TOP]

RVL: the program of scripts/bench-peers/rvl.c; WORK: a folder to write into; DATA: the folder with
meshes/bunny_depth_512_u16.png and meshes/igea.ply. Without them a simulated sphere with a relief takes
their place. The tools are found on PATH. --write puts the tables of man pages into those below TOP, --check fails
where a page has another. scripts/bench holo runs this.

Everywhere: rms over all pixels that are kept, spikes included; good: without the spikes, which are more than half
a fringe off; dropped: share of the object's pixels that are not in what is read back; lost: these and the spikes.
"""
import argparse
import os
import shutil
import subprocess
import sys

from bench_tools import *

try:
	from PIL import Image
except ImportError:	# the rows of yuv planes are left out
	Image = None

PITCHES = 32, 42, 52, 64
OBJ_OF_THESIS = 20935e3		# bytes of a 512 x 512 frame as OBJ [Karpinsky thesis, 6.3]


# ---- the table ----

def lossless():
	print("\n1. lossless, theta 30; rms in % of the sphere's diameter (limit: 1.03 times quantisation)")
	print("%-8s %-10s %-9s %6s %8s %10s %10s %8s %9s" % ("object", "stair", "rounding", "pitch", "bytes", "rms %", "limit %",
		"spikes", "dropped %"))
	for name, z, limits in ("sphere", sphere(), {"level": (0.0026, 0.0052, 0.0068), "angle": (0.00105, 0.0021, 0.00277)}), (
			"steps", steps(), None):
		put("in.nrrd", z)
		for stair, rounding in ((s, r) for s in ("composite", "cosine") for r in ("level", "angle")):
			for i, pitch in enumerate((16, 32, 42)):
				must("holoenc", "-P", pitch, "--stair", stair, "--rounding", rounding, "--depth-range", cube(z),
					"in.nrrd", "-o", "out.png")
				f = read_back(z, "out.png", pitch, extent=0.9 * W)
				print("%-8s %-10s %-9s %6d %8d %10.5f %10s %8d %9.3f" % (name, stair, rounding, pitch, size("out.png"),
					f.rms, limits[rounding][i] if limits else "", f.spikes, f.dropped))


DITHERS = "small", "bayer", "blue", "fs", "fs-serpentine", "best", "best --sigma 4"
DECODERS = ("papers'", ["--filter", "gauss"], ["--decode", "plain"]), ("gauss", ["--filter", "gauss"], []), (
	"undither3", [], [])
ON_PAGE = "small", "bayer", "fs", "best"
PUBLISHED = {"bayer": "0.33", "fs": "0.2"}	# fig. 8.3


def three_bits():
	"""Prints the table; returns that of fringepipe-holoimage(7)"""
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	z = sphere()
	inside = np.where(np.hypot(x, y) <= 0.45 * W - 6, z, np.nan)
	put("in.nrrd", z)
	must("holoenc", "-P", 42, "-K", 0, "--depth-range", cube(z), "in.nrrd", "-o", "out.nrrd")
	print("\n2. three bits a pixel, the sphere, P 42, K 0; in % of its diameter; inside: its boundary is over 6 px away")
	print("%-16s %-10s %8s %8s %8s %10s  %s" % ("dithering", "decoding", "rms %", "good %", "spikes", "dropped %",
		"inside: rms %, good %, spikes, dropped %"))
	page = ["               papers' decoder        undither3           inside  published",
		"method           rms   good spikes    rms spikes dropped      rms"]
	for dither in DITHERS:
		both = {}
		for name, options, decode in DECODERS:
			must("dither3", "-m", *dither.split(), "out.nrrd", "-o", "bits.nrrd")
			must("undither3", *options, "bits.nrrd", "-o", "levels.nrrd")
			must("holodec", *decode, "levels.nrrd", "-o", "back.nrrd")
			f, g = both[name] = [Figures(part, depth_of("back.nrrd"), 84, 0.9 * W) for part in (z, inside)]
			print("%-16s %-10s %8.4f %8.4f %8d %10.3f          %7.4f  %7.4f  %6d  %9.3f" % (dither, name, f.rms, f.rms_good,
				f.spikes, f.dropped, g.rms, g.rms_good, g.spikes, g.dropped))
		f, (g, deep) = both["papers'"][0], both["undither3"]
		if dither in ON_PAGE:
			page.append("%-14s %5.2f %6.3f %6d  %5.3f %6d %5.2f %%    %5.3f  %s" % (dither, f.rms, f.rms_good, f.spikes,
				g.rms, g.spikes, g.dropped, deep.rms, PUBLISHED.get(dither, "")))
	return [line.rstrip() for line in page]


THREE = "%-18s %-7s %-8s %7d %7.2f %8.1f %8.1f"
THREE_METHODS = "fs", "bayer", "small", "best", "best --price 0.05"


def three_row(what, pack, texture, path, whole, meshes, f):
	print(THREE % (what, pack, texture, size(path), whole / size(path), meshes[0] / size(path),
		meshes[1] / size(path)), end="")
	print(" %9.4f %8.4f %8d %9.2f" % (f.rms, f.rms_good, f.spikes, f.dropped))


def three_bits_of(name, z):
	"""A scan in three bits, in every pack, without a texture and with one; returns its lines for fringepipe-holoimage(7)"""
	put("in.nrrd", z)
	must("framecat", "in.nrrd", "-o", "out.obj")
	must("framecat", "in.nrrd", "-o", "out.ply")
	meshes = size("out.obj"), size("out.ply")
	write_frames("lit.nrrd", Frame(np.stack([z, light(z)]).astype("f4"), ["depth", "texture"], {"z_axis": "towards"}))
	print("\n2b. %s in three bits, P 42, K 0, %d points: OBJ %d bytes, binary PLY %d; rms in %% of its extent\n"
		"in depth, boundary included; PNG:1: of 24 bits with the same texture"
		% (name, np.isfinite(z).sum(), *meshes))
	print("%-18s %-7s %-8s %7s %7s %8s %8s %9s %8s %8s %9s" % ("method", "pack", "texture", "bytes", "PNG:1", "OBJ:1",
		"PLY:1", "rms %", "good %", "spikes", "dropped %"))
	whole, figures, bytes_ = {}, {}, {}
	for texture, source, options in ("none", "in.nrrd", []), ("8 bits", "lit.nrrd", ["--texture", "texture"]):
		must("holoenc", "-P", 42, "-K", 0, "--rounding", "level", "--depth-range", cube(z), *options, source,
			"-o", source + ".png")
		whole[source] = size(source + ".png")
		figures[source] = read_back(z, source + ".png", 42)
		three_row("24 bits", "", texture, source + ".png", whole[source], meshes, figures[source])
	for texture, source, bits, methods in ("none", "in.nrrd", 0, THREE_METHODS), (
			"1 bit", "lit.nrrd", 1, ("small",)), ("8 bits", "lit.nrrd", 8, ("small",)):
		for method in methods:
			for pack in ("rgb",) if bits == 8 else ("msb", "planar"):
				must("dither3", "-m", *method.split(), "--texture", bits, "--pack", pack, source + ".png", "-o", "bits.png")
				must("undither3", "bits.png", "-o", "levels.nrrd")
				f = figures[method, bits] = read_back(z, "levels.nrrd", 42)
				bytes_[method, bits, pack] = size("bits.png")
				three_row(method, pack, texture, "bits.png", whole[source], meshes, f)

	def line(what, n, msb, planar, f):
		return "%-17s %6d %6s %6s %5.1f %5.3f %5.3f %6d %5.1f %%" % (what, n, msb, planar, meshes[0] / n, f.rms,
			f.rms_good, f.spikes, f.dropped)

	page = ["%-17s  bytes    msb planar   OBJ   rms  good spikes dropped" % name,
		line("24 bits", whole["in.nrrd"], "", "", figures["in.nrrd"])]
	for method in (method for method in THREE_METHODS if method in ON_PAGE):
		sizes = [bytes_[method, 0, pack] for pack in ("msb", "planar")]
		page.append(line(method, sizes[0], *["%.2f:1" % (whole["in.nrrd"] / n) for n in sizes], figures[method, 0]))
	return page


VIEWS = (("stanford-bunny.obj", 90, 0), ("stanford-bunny.obj", 180, 0), ("stanford-bunny.obj", -45, 20),
	("stanford-bunny.obj", 45, 0), ("stanford-bunny.obj", 135, 10), ("stanford-bunny.obj", 225, 0),
	("stanford-bunny.obj", 270, -15), ("igea.ply", 60, 0), ("igea.ply", 180, 0), ("igea.ply", 30, 0),
	("igea.ply", 90, 10), ("igea.ply", 240, 0), ("igea.ply", 300, -15))


def other_views(data):
	"""Prints what other views of the meshes lose"""
	page = ["view          points bytes  msb planar   rms  good spikes lost deep deepest"]
	for name, yaw, pitch in VIEWS:
		z = mesh(data, name, yaw, pitch)
		if z is None:
			continue
		put("in.nrrd", z)
		must("holoenc", "-P", 42, "-K", 0, "--rounding", "level", "--depth-range", cube(z), "in.nrrd", "-o", "out.png")
		sizes = []
		for pack in "planar", "msb":
			must("dither3", "-m", "small", "--pack", pack, "out.png", "-o", "bits.png")
			sizes.append(size("bits.png"))
		must("undither3", "bits.png", "-o", "levels.nrrd")
		f = read_back(z, "levels.nrrd", 42)
		page.append("%-13s %6d %5d %5.2f %5.2f %5.3f %5.3f %6d %4.1f %4.2f %7.3f" % ("%s %d,%d" % (name.split(".")[0][-5:], yaw,
			pitch), f.pixels, sizes[1], *(size("out.png") / n for n in reversed(sizes)), f.rms, f.rms_good,
			f.spikes, f.dropped, f.deep(False), f.deep(True)))
	print("\n2c. other views by mesh2depth --view, dither3 -m small\n" + "\n".join(page))


def jpeg(z, pitch, stair, chroma, quality, **options):
	"""The size of in.nrrd as JPEG, and its figures."""
	must("framecat", "--quality", quality, "--chroma", chroma, "%s%d.nrrd" % (stair, pitch), "-o", "out.jpg")
	return size("out.jpg"), read_back(z, "out.jpg", pitch, **options)


def planes_jpeg(z, pitch, chroma, quality):
	"""As jpeg(), of the layout for video: stairs in Y, fringes in U and V, without a matrix on the way."""
	frame = read_frame("video%d.nrrd" % pitch)
	picture = Image.merge("YCbCr", [Image.fromarray(np.ascontiguousarray(p)) for p in frame.pixels])
	picture.save("out.jpg", quality=quality, subsampling={"444": 0, "420": 2}[chroma])
	back = Image.open("out.jpg")
	back.draft("YCbCr", None)
	if back.mode != "YCbCr":
		sys.exit("bench-holo: this PIL does not give the planes of a JPEG")
	write_frames("out.nrrd", Frame(np.moveaxis(np.asarray(back), 2, 0), frame.names, frame.meta))
	return size("out.jpg"), read_back(z, "out.nrrd", pitch)


def encode_all(z):
	for pitch in PITCHES:
		for name, options in ("composite", ["--stair", "composite"]), ("cosine", []), ("video", ["--layout", "yuv"]):
			must("holoenc", "-P", pitch, "--rounding", "level", *options, "--depth-range", cube(z), "in.nrrd",
				"-o", "%s%d.nrrd" % (name, pitch))


def sphere_through_jpeg():
	"""The first table of fringepipe-holoimage(7)"""
	z = sphere()
	put("in.nrrd", z)
	page = ["P                  16               32                       42",
		"                  rms      rms   good  spikes       rms   good  spikes"]
	cases = [("PNG, " + r, r, None, None) for r in ("angle", "level")] + [("JPEG %d, %s" % (q, c), "level", q, c)
		for c in ("444", "420") for q in (95, 85, 75)]
	for name, rounding, quality, chroma in cases:
		cells = []
		for pitch in (16, 32, 42) if quality is None else (32, 42):
			must("holoenc", "-P", pitch, "--stair", "cosine", "--rounding", rounding, "--depth-range", cube(z), "in.nrrd",
				"-o", "cosine%d.nrrd" % pitch)
			if quality is None:
				must("framecat", "cosine%d.nrrd" % pitch, "-o", "out.png")
				f = read_back(z, "out.png", pitch, extent=0.9 * W)
				cells.append("%.4f" % f.rms if pitch == 16 else "%-21.4f" % f.rms)
			else:
				f = jpeg(z, pitch, "cosine", chroma, quality, extent=0.9 * W)[1]
				cells.append("%.4f  %.3f %.3f %% " % (f.rms, f.rms_good, f.spike_share))
		page.append(("%-14s %6s   " % (name, "" if quality else cells.pop(0)) + "   ".join(cells)).rstrip())
	print("\n3. the sphere through JPEG, cosine stairs, all that is kept\n" + "\n".join(page))
	return page


ROW = "%-22s %5s %7s %8d %9.1f %11.1f"


def page_row(label, n, obj, *cells):
	return ("%-29s %7d %6.1f" % (label, n, obj / n) + " %7s %7s %7s %6s" % cells).rstrip()


def page_of(label, chroma, quality, n, obj, f):
	return page_row(label % (quality, chroma), n, obj, "%.3f" % f.rms, "%.3f" % f.rms_good, "%.2f %%" % f.spike_share,
		"%.2f %%" % f.dropped)


def show(label, chroma, quality, n, obj, f):
	print(ROW % (label, chroma, quality, n, obj / n, OBJ_OF_THESIS / n), end="")
	print(" refused" if f is None else " %9.4f %9.4f %9.4f %8.2f %8.2f" % (f.rms, f.rms_good, f.spike_share, f.dropped,
		f.lost))


def heading():
	print("%-22s %5s %7s %8s %9s %11s %9s %9s %9s %8s %8s" % ("", "colour", "quality", "bytes", "OBJ:1",
		"thesis' OBJ", "rms %", "good %", "spikes %", "dropped", "lost %"))


def qualities(z, obj):
	heading()
	for pitch in 32, 42, 64:
		for chroma in "444", "420":
			for quality in 95, 85, 75, 50:
				n, f = jpeg(z, pitch, "cosine", chroma, quality)
				show("JPEG, cosine, P %d" % pitch, chroma, quality, n, obj, f)
	for chroma in ("444", "420") if Image else ():
		for quality in 95, 85, 75, 50:
			n, f = planes_jpeg(z, 42, chroma, quality)
			show("JPEG, yuv planes, P 42", chroma, quality, n, obj, f)


def at_size(z, pitch, stair, chroma, wanted):
	"""Of all qualities the one whose size is nearest."""
	low, high = 1, 100
	while high - low > 1:
		quality = (low + high) // 2
		if jpeg(z, pitch, stair, chroma, quality)[0] < wanted:
			low = quality
		else:
			high = quality
	return min(((quality, *jpeg(z, pitch, stair, chroma, quality)) for quality in (low, high)),
		key=lambda row: abs(row[1] - wanted))


def thesis_ratios(z, obj):
	heading()
	page = ["                                 bytes  OBJ:1     rms   good spikes dropped"]
	for ratio in 104, 174, 237, 310:
		for chroma in "444", "420":
			rows = [(stair, pitch, *at_size(z, pitch, stair, chroma, obj / ratio))
				for stair in ("cosine", "composite") for pitch in (42, 52, 64)]
			rows = [row for row in rows if row[4] is not None]
			nearest = min(abs(obj / row[3] / ratio - 1) for row in rows) if rows else 0
			rows = [row for row in rows if abs(obj / row[3] / ratio - 1) < max(0.015, 1.001 * nearest)]
			if not rows:
				print("%d:1 with colour %s: none" % (ratio, chroma))
				continue
			stair, pitch, quality, n, f = min(rows, key=lambda row: row[4].lost)
			show("%d:1, %s, P %d" % (ratio, stair, pitch), chroma, quality, n, obj, f)
			if ratio in (104, 310):
				page.append(page_of("JPEG %%d, %%s, %s, P %d" % (stair, pitch), chroma, quality, n, obj, f))
	return page


def filled(z):
	"""The background becomes a smooth continuation of the surface, which wavelets code in few bits"""
	missing, at = np.isnan(z), np.where(np.isnan(z), np.nanmean(z), z)
	for step in (64, 32, 16, 8, 4, 2, 1):
		for _ in range(8):
			around = [np.roll(at, step * s, axis) for axis in (0, 1) for s in (-1, 1)]
			at = np.where(missing, sum(around) / 4, at)
	return at


def other_codecs(z, obj):
	"""The plain depth map in codecs that people have; the points' mask beside it as a PNG of one bit a pixel"""
	low, high = np.nanmin(z), np.nanmax(z)
	Image.fromarray(np.isfinite(z)).save("mask.png", optimize=True)

	page = []

	def row(label, bytes_, share, on_page):
		rms = 100 * np.sqrt(np.nanmean((share - (z - low) / (high - low)) ** 2))
		print("%-30s %7s %7d %9.1f %11.1f %9.4f" % (label, "", bytes_, obj / bytes_, OBJ_OF_THESIS / bytes_, rms))
		if on_page:
			page.append(page_row(label, bytes_, obj, "%.3f" % rms, "", "", ""))

	for bits in (10, 8, 7, 6) if shutil.which("cwebp") else ():
		levels = 2 ** bits - 2
		code = np.where(np.isnan(z), 0, np.round((z - low) / (high - low) * levels) + 1).astype(int)
		Image.fromarray(np.stack([code & 255, code >> 8, 0 * code], -1).astype("u1")).save("code.png")
		subprocess.run(["cwebp", "-quiet", "-lossless", "-exact", "-z", "9", "code.png", "-o", "code.webp"], check=True)
		row("WebP lossless, %d bits" % bits, size("code.webp"), np.where(code > 0, (code - 1) / levels, np.nan), bits >= 8)
	share = np.clip((filled(z) - low) / (high - low), 0, 1)
	write_frames("filled.nrrd", Frame(np.round(share * 65535).astype("u2")))
	must("framecat", "filled.nrrd", "-o", "filled.png")
	for ratio in (10, 16, 24, 32, 48) if shutil.which("opj_compress") else ():
		run = dict(check=True, capture_output=True)
		subprocess.run(["opj_compress", "-i", "filled.png", "-o", "out.jp2", "-r", str(ratio), "-I"], **run)
		subprocess.run(["opj_decompress", "-i", "out.jp2", "-o", "back.png"], **run)
		must("framecat", "back.png", "-o", "back.nrrd")
		back = np.where(np.isnan(z), np.nan, read_frame("back.nrrd").pixels[0].astype(float) / 65535)
		row("JPEG 2000, 16 bits, and mask", size("out.jp2") + size("mask.png"), back, ratio in (10, 24, 48))
	return page


def peers(z, obj, rvl):
	print("%-22s %15s %7s %9s %11s %9s  ms to encode, decode" % ("", "", "bytes", "OBJ:1", "thesis' OBJ",
		"rms %"))
	page = []
	low, high = np.nanmin(z), np.nanmax(z)
	for bits in 16, 12, 10, 8, 7, 6:
		levels = 2 ** bits - 2
		code = np.where(np.isnan(z), 0, np.round((z - low) / (high - low) * levels) + 1)
		rms = 100 * np.sqrt(np.nanmean((np.where(code > 0, (code - 1) / levels, np.nan)
			- (z - low) / (high - low)) ** 2))
		write_frames("code.nrrd", Frame(code.astype("u1" if bits <= 8 else "u2")))
		code.astype("<u2").tofile("code.raw")
		must("framecat", "code.nrrd", "-o", "code.png")
		n, encode, decode = subprocess.check_output([rvl, "code.raw", "20"], text=True).split()
		for label, bytes_, took in ("PNG, %d bits" % bits, size("code.png"), ""), (
				"RVL, %d bits" % bits, int(n), "  %s %s" % (encode, decode)):
			print("%-22s %15s %7d %9.1f %11.1f %9.4f%s" % (label, "", bytes_, obj / bytes_,
				OBJ_OF_THESIS / bytes_, rms, took))
			if label.startswith("PNG") and bits in (16, 10, 8):
				page.append(page_row(label, bytes_, obj, "%.4f" % rms if rms < 0.001 else "%.3f" % rms, "", "", ""))
	if Image:
		page += other_codecs(z, obj)
	for stair in "composite", "cosine":
		must("framecat", stair + "42.nrrd", "-o", "out.png")
		n, f = size("out.png"), read_back(z, "out.png", 42)
		show("Holoimage PNG, P 42", "", stair, n, obj, f)
	return page


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("rvl")
	parser.add_argument("work")
	parser.add_argument("data", nargs="?")
	parser.add_argument("--check", metavar="TOP")
	parser.add_argument("--write", metavar="TOP")
	options = parser.parse_args()
	rvl, top = os.path.abspath(options.rvl), os.path.abspath(options.write or options.check or "")
	os.chdir(options.work)
	lossless()
	scans = [(name, z) for name, z in (("bunny", bunny(options.data)), ("igea", igea(options.data))) if z is not None]
	if (options.write or options.check) and len(scans) < 2:
		sys.exit("bench-holo: the bunny or igea is missing, FRINGEPIPE_DATA is to name their folder")
	name, z = (scans or [("simulated relief", relief())])[0]
	tables = {"dithers": three_bits()}
	scanned = [three_bits_of(*scan) for scan in scans or [(name, z)]]
	tables["scans"] = scanned[0]
	other_views(options.data)
	tables["sphere"] = sphere_through_jpeg()
	put("in.nrrd", z)
	must("framecat", "in.nrrd", "-o", "out.obj")
	must("framecat", "in.nrrd", "-o", "out.ply")
	obj = size("out.obj")
	print("\n4. %s, 512 x 512, %d points: OBJ %d bytes, binary PLY %d; the thesis' OBJ is %d" % (name,
		np.isfinite(z).sum(), obj, size("out.ply"), OBJ_OF_THESIS))
	print("in % of its extent in depth; dropped: of JPEG the boundary of 2 pixels, too")
	encode_all(z)
	qualities(z, obj)
	print("\nthe best of cosine and composite, P 42, 52 and 64, at the thesis' ratios (its own: 104:1 good, 174:1 "
		"slight loss, 310:1 noticeable)")
	ratios = thesis_ratios(z, obj)
	print("\nwithout loss, and peers on the same depth map")
	tables["ratios"] = ratios + peers(z, obj, rvl)
	wrong, path = 0, os.path.join(top, "man", "fringepipe-holoimage.7")
	for block, lines in tables.items() if options.write or options.check else ():
		lines = [".Bd -literal"] + lines + [".Ed"]
		if options.write:
			replace_block(path, block, lines)
		else:
			wrong += check_block(path, block, lines)
	if options.check:
		print("%d tables of man pages, %d wrong" % (len(tables), wrong))
	return 1 if wrong else 0


if __name__ == "__main__":
	sys.exit(main())
