#!/usr/bin/env python3
"""The papers' tables of sizes and errors beside what the same ways make of objects that are to be had.

   scripts/bench-papers.py WORK MEASURED [--data DATA] --table NAME
   scripts/bench-papers.py WORK MEASURED --summary NAME ...

WORK: a folder to write into; MEASURED: the file that gets a line "key, figure, where" of all that was measured; DATA: the
folder with meshes/bunny_depth_512_u16.png and meshes/igea.ply. The papers'
scans are not public: the Stanford bunny and igea from the front, 512 x 512, stand in their place, a sphere of
0.45 W, and igea turning for their clips. What a scan shows decides its size as a PNG, so that ratios to other pictures
say little; the same method's row is printed in any case. The tools are found on PATH. scripts/bench papers runs this,
and times what the papers time.

rms: over all that is kept, spikes included, in % of the extent in depth (of the sphere: of its diameter);
good: without the spikes, which are more than half a fringe off; dropped: of the object's pixels.
"""
import argparse
import collections
import functools
import glob
import importlib
import os
import textwrap

from bench_tools import *

POINTS_AND_MASK = W * W * 13		# x, y, z as floats and a byte of mask [thesis, 5.4]
OURS = "%9s %9s %9s %10s"
HEAD = OURS % ("rms %", "good %", "spikes", "dropped %")
LEGEND = """rms: over all that is kept, spikes included, in % of the extent in depth (of the sphere: of its diameter); good: without
the spikes, more than half a fringe off; dropped: of the object's pixels"""

Figure = collections.namedtuple("Figure", "key place value unit better what alike")


def read_figures():
	with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench-papers.txt")) as file:
		rows = [line.rstrip("\n").split(" | ") for line in file if line.strip() and not line.startswith("#")]
	return {row[0]: Figure(*row) for row in rows}


PAPERS = read_figures()
measured = None


def published(key):
	return PAPERS[key].value


def record(key, value, where):
	assert key in PAPERS, key
	with open(measured, "a") as file:
		file.write("%s\t%s\t%s\n" % (key, value, where))


def table(title, stands="", heading=None):
	print("\n" + title)
	if stands:
		print("   " + stands)
	if heading:
		print(heading)


def errors(f):
	if f is None:
		return "  refused by holodec"
	return OURS % ("%.4f" % f.rms, "%.4f" % f.rms_good, f.spikes, "%.2f" % f.dropped)


def in_words(f):
	"""An error and what it is over"""
	if f is None:
		return "refused by holodec"
	return "rms %.4f %%, %s, %s %d pixels" % (f.rms, {0: "no spike", 1: "1 spike included"}.get(f.spikes, "%d spikes included" % f.spikes),
		"all" if f.dropped == 0 else "%.1f %% dropped of" % f.dropped, f.pixels)


def extent(name):
	return 0.9 * W if name == "sphere" else None


def encode(z, out, pitch, *options, deep=1):
	"""deep: the cube's depth over the object's, which lies at its far end"""
	put("in.nrrd", z)
	low, high = map(float, cube(z).split(","))
	must("holoenc", "-P", pitch, "--rounding", "level", "--depth-range", "%g,%g" % (low, low + deep * (high - low)), *options,
		"in.nrrd", "-o", out)


def encode_small(z, pitch, *options, deep=1):
	"""To out.png as small as PNG gets; returns what is read back of it"""
	encode(z, "out.nrrd", pitch, *options, deep=deep)
	must("framecat", "-f", "--level", 12, "out.nrrd", "-o", "out.png")
	must("holodec", "out.png", "-o", "back.nrrd")
	return Figures(z, depth_of("back.nrrd"), deep * pitch / np.sin(np.radians(30)))


def nearest(bytes_of, wanted, low, high):
	"""Of these whole numbers the one whose size is nearest; sizes grow with them"""
	while high - low > 1:
		middle = (low + high) // 2
		low, high = (middle, high) if bytes_of(middle) < wanted else (low, middle)
	return min((low, high), key=lambda number: abs(bytes_of(number) - wanted))


# ---- Karpinsky 2014: a flat plane ----

def flat_plane(data):
	accuracy = importlib.import_module("bench-accuracy")
	table("karpinsky: a flat surface of %d x %d mm, rms of its height (fig. 5: %s mm)" % (accuracy.FIELD_MM,
		accuracy.FIELD_MM * accuracy.HEIGHT / accuracy.WIDTH, published("karpinsky.plane")),
		"no like for like: their angle, fringes and noise are not stated, nor what was taken off the surface. Here: %dx%d\n"
		"   pixels, simulated, noise of %d grey level, amplitude %d, fringes of %.2f mm, all pixels; the goal is theory"
		% (accuracy.WIDTH, accuracy.HEIGHT, accuracy.NOISE, accuracy.AMPLITUDE, accuracy.FRINGE_MM))
	for row in accuracy.plane():
		if "depth" in row.what:
			print("%s\n   %s; theory %s" % (row.what, row.here, row.theory))
			if "--fuse" in row.what:
				record("karpinsky.plane", row.here.split(",")[0], "%s pixels" % row.pixels)


# ---- chapter 5: the composite Holoimage ----

COMPOSITE = 16, "--stair", "composite", "-S", 5
FILLS = {1: "all of the cube", 2: "half of the cube"}


def formats(objects):
	table("ch5: a Holoimage in PNG against files of meshes, binary where the format is (table 5.1)",
		"theirs: one scan, 210 KB as PNG (a sphere is none, the summary has the best scan); MAT5 and DAE are not written by framecat; P 16, S 5, PNG of level 12; how much of\n"
		"   the picture and of the cube's depth their scan fills is not stated: both decide the size",
		"%-28s %9s %18s %18s %18s" % ("", "PNG", "PLY", "OBJ", "STL"))
	print("%-28s %9s %18s %18s %18s" % ("published", "210 KB", *(published("ch5." + suffix) + ":1" for suffix in ("ply", "obj", "stl"))))
	best = collections.defaultdict(list)
	for name, z in objects:
		for deep in 1, 2:
			label = "%s, %s" % (name, FILLS[deep])
			encode_small(z, *COMPOSITE, deep=deep)
			cells = []
			for suffix in "ply", "obj", "stl":
				must("framecat", "-f", "in.nrrd", "-o", "out." + suffix)
				ratio = size("out." + suffix) / size("out.png")
				cells.append("%.1f MB, %.1f:1" % (size("out." + suffix) / 1e6, ratio))
				if name != "sphere":
					best[suffix].append((ratio, label))
			print("%-28s %6.0f KB %18s %18s %18s" % (label, size("out.png") / 1e3, *cells))
	for suffix, seen in best.items():
		record("ch5." + suffix, "%.1f" % max(seen)[0], max(seen)[1])


def composite_sphere(z):
	table("ch5: a sphere through the composite Holoimage, P 16, S 5, theta 30 (fig. 5.5)",
		"theirs: 1.68e-4 of the diameter (printed as 0.03 %, which is of the radius); pixels not stated", "%-22s " % "" + HEAD)
	print("%-22s %9s" % ("published", published("ch5.sphere")))
	for rounding in "level", "angle":
		encode(z, "out.png", *COMPOSITE, "--rounding", rounding)
		f = read_back(z, "out.png", 16, extent=0.9 * W)
		print("%-22s " % ("--rounding " + rounding) + errors(f))
		if rounding == "level":
			record("ch5.sphere", "%.4f" % f.rms, "--rounding level, %s" % in_words(f))


COLOURS = ("r", "out_r.jpg"), ("g", "out_g.jpg"), ("b", "out_b.png")


def colours_apart(quality):
	"""R and G of out.nrrd as a grey JPEG each, B as a PNG: their bytes"""
	for name, path in COLOURS:
		lossy = ("--quality", quality) if path.endswith(".jpg") else ()
		must("framecat", "-f", "-c", name, *lossy, "out.nrrd", "-o", path)
	return sum(size(path) for _, path in COLOURS)


def colours_together(z, **options):
	"""What is read back of these files"""
	whole, planes = read_frame("out.nrrd"), []
	for _, path in COLOURS:
		must("framecat", path, "-o", "back.nrrd")
		planes.append(read_frame("back.nrrd").pixels[0])
	write_frames("planes.nrrd", Frame(np.stack(planes), whole.names, whole.meta))
	return read_back(z, "planes.nrrd", 16, **options)


def jpeg_and_png(objects):
	table("ch5: R and G as JPEG, B as PNG; ratios to x, y, z and a mask, %d bytes (fig. 5.9)" % POINTS_AND_MASK,
		"P 16, S 5, theta 30; PNG of level 12, of objects that fill all of the cube's depth, or half; JPEG: all of it, the\n"
		"   quality whose size is nearest to the published ratio; their errors are pictures",
		"%-10s %-24s %7s %8s %8s %11s " % ("", "", "quality", "bytes", ":1", "published") + HEAD)
	line = "%-10s %-24s %7s %8d %8.1f %11s "
	best = collections.defaultdict(list)
	for name, z in objects:
		for deep in 1, 2:
			f = encode_small(z, *COMPOSITE, deep=deep)
			ratio = POINTS_AND_MASK / size("out.png")
			print(line % (name, "PNG, " + FILLS[deep], "", size("out.png"), ratio, published("ch5.png")) + errors(f))
			best[deep].append((ratio, "%s, %s, %s" % (name, FILLS[deep], in_words(f))))
		encode(z, "out.nrrd", *COMPOSITE)
		bytes_of = functools.lru_cache(None)(colours_apart)
		for key in "ch5.jpg.b", "ch5.jpg.c", "ch5.jpg.d":
			quality = nearest(bytes_of, POINTS_AND_MASK / float(published(key)), 1, 100)
			n = colours_apart(quality)
			f = colours_together(z, extent=extent(name))
			print(line % (name, "R, G JPEG, B PNG", quality, n, POINTS_AND_MASK / n, published(key)) + errors(f))
			record(key, "%.1f" % (POINTS_AND_MASK / n), "%s, %s" % (name, in_words(f)))
	for seen in best.values():
		record("ch5.png", "%.1f" % max(seen)[0], max(seen)[1])


# ---- chapter 6: JPEG and run lengths ----

def jpeg_of_frames(objects):
	table("ch6: a Holovideo frame as JPEG, ratios to an OBJ file of its points (fig. 6.4)",
		"theirs: theta 18, P 32; good, slight loss, -, noticeable; no rms is given, and its OBJ has 20935 KB, ours 6 to 8 MB.\n"
		"   The best pitches and stairs at these ratios: scripts/bench holo",
		"%-10s %-28s %7s %8s %8s %10s " % ("", "", "quality", "bytes", "OBJ:1", "published") + HEAD)
	for name, z in objects:
		for what, pitch, theta, words in (("as the thesis", 32, 18, []), ("P 64, theta 30", 64, 30, []),
				("P 64, --jpeg-for fringes", 64, 30, ["--jpeg-for", "fringes"])):
			encode(z, "out.nrrd", pitch, "-t", theta)
			must("framecat", "in.nrrd", "-o", "out.obj")

			def jpeg(quality):
				must("framecat", "--quality", quality, "--chroma", "444", *words, "out.nrrd", "-o", "out.jpg")
				return size("out.jpg")

			for key in "ch6.jpeg.a", "ch6.jpeg.b", "ch6.jpeg.c", "ch6.jpeg.d":
				quality = nearest(jpeg, size("out.obj") / float(published(key)), 1, 100)
				n = jpeg(quality)
				f = read_back(z, "out.jpg", pitch, extent=extent(name), theta=theta)
				print("%-10s %-28s %7d %8d %8.1f %10s " % (name, what, quality, n, size("out.obj") / n, published(key)) + errors(f))
				if what == "as the thesis":
					record(key, "%.1f" % (size("out.obj") / n), "%s, %s" % (name, in_words(f)))


def composite_as_jpeg(z, name):
	"""The stair with steps through JPEG"""
	table("ch6: the composite stair as JPEG, P 16, S 5 (fig. 6.5: problematic at Photoshop's quality 12, lost at 10), %s" % name,
		"", "%7s %8s " % ("quality", "bytes") + HEAD)
	encode(z, "out.nrrd", *COMPOSITE)
	for quality in 98, 95, 90:
		must("framecat", "--quality", quality, "out.nrrd", "-o", "out.jpg")
		f = read_back(z, "out.jpg", 16, extent=extent(name))
		print("%7d %8d " % (quality, size("out.jpg")) + errors(f))
		record("ch6.stair", quality, "%s, %s" % (name, in_words(f)))


@functools.lru_cache(None)
def clip(data):
	"""igea turning, 30 frames of 512x512 in face.nrrd: its depth, its range and the bytes of an OBJ file of the first"""
	video = importlib.import_module("bench-video")
	video.face_sequence(data)
	truth = video.planes("face.nrrd")
	return video, truth, (np.nanmin(truth) + np.nanmax(truth)) / 2 + np.array([-82.5, 82.5]), video.obj_bytes("face.nrrd")


CLIP = """igea turning stands in its place: 30 frames of 512x512, 165 mm of depth, OBJ of its first frame %.1f MB (theirs 31.1 MB a
   frame); kB and OBJ:1 a frame, Mbit/s at 30 of them a second; rms over all that is kept and off by at most 1 %% of
   the range, spikes: the share of the rest"""
CLIP_HEAD = "%-40s %8s %8s %10s %9s %8s %9s" % ("", "kB", "OBJ:1", "rms %", "spikes %", "lost %", "Mbit/s")


def clip_row(what, path, data):
	"""Of what depthdec or holodec has left in back.nrrd; returns kB, OBJ:1, and that in words"""
	video, truth, (low, high), obj = clip(data)
	loss = video.Loss(truth, video.planes("back.nrrd"), high - low)
	n = size(path) / len(truth)
	print("%-40s %8.2f %8.1f %10.4f %9.4f %8.2f %9.2f" % (what, n / 1e3, obj / n, loss.rms, loss.spikes, loss.lost, n * 240e-6),
		flush=True)
	return n / 1e3, obj / n, "%s: rms %.3f %%, spikes %.3f %%, lost %.2f %%" % (what, loss.rms, loss.spikes, loss.lost)


def published_row(key, extra=""):
	print("%-40s %8s %8s" % ("published" + extra, published(key + ".bytes"), published(key)))


def holo_clip(what, data, words, cat, out):
	low, high = clip(data)[2]
	must("holoenc", *words, "--depth-range=%g,%g" % (low, high), "face.nrrd", "-o", "coded.nrrd")
	must("framecat", "-f", *cat, "coded.nrrd", "-o", out)
	must("holodec", out, "-o", "back.nrrd")
	return clip_row(what, out, data)


def run_lengths(data):
	video, _, (low, high), obj = clip(data)
	table("ch6: a clip, its frames through JPEG, in QTRLE (no visible loss)", CLIP % (obj / 1e6), CLIP_HEAD)
	published_row("ch6.qtrle")
	must("holoenc", "-P", 32, "-t", 18, "--depth-range=%g,%g" % (low, high), "face.nrrd", "-o", "coded.nrrd")
	for quality in 98, 95, 85:
		must("framecat", "-f", "--quality", quality, "coded.nrrd", "-o", "frame_%04d.jpg")
		must("framecat", "-f", "--video", "qtrle", *sorted(glob.glob("frame_*.jpg")), "-o", "out.mov")
		must("holodec", "out.mov", "-o", "back.nrrd")
		n, ratio, words = clip_row("P 32, theta 18, JPEG %d, QTRLE" % quality, "out.mov", data)
		if quality == 95:
			record("ch6.qtrle", "%.1f" % ratio, words)
			record("ch6.qtrle.bytes", "%.1f" % n, words)
	n, ratio, words = holo_clip("P 32, theta 18, H.264 4:4:4, crf 10", data, ["-P", 32, "-t", 18, "--layout", "yuv"], ["--crf", 10],
		"out.mkv")
	record("ch6.qtrle", "%.1f" % ratio, words)
	record("ch6.qtrle.bytes", "%.1f" % n, words)


# ---- chapter 7: H.264 ----

OF_THESIS = ["-P", 42, "-K", 10, "--layout", "yuv", "--rounding", "level"]	# P1 = 42/10.5 = 4


def sphere_as_video(z):
	table("ch7: a sphere through H.264 (fig. 7.7); P 42, theta 30, one frame, in the papers' way and in ours",
		"theirs: fringes in U and V, stairs of P1 4 in Y; which settings, and of what the error is a share, is not stated",
		"%-40s %8s " % ("", "bytes") + HEAD)
	for key in "444", "422":
		print("%-40s %8s %9s" % ("published, %s" % ":".join(key), "", published("ch7.sphere." + key)))
	put("in.nrrd", z)
	of_thesis = ["-K", 10, "--rounding", "level"]
	for what, words, cat, key in (("P1 4, 4:4:4, lossless", of_thesis, ["--lossless"], None),
			("P1 4, 4:4:4, crf 18", of_thesis, ["--crf", 18], "444"),
			("P1 4, 4:2:2, crf 18", of_thesis, ["--crf", 18, "--chroma", 422], None),
			("P1 4, 4:2:2, crf 23", of_thesis, ["--crf", 23, "--chroma", 422], "422"),
			("holoenc's own stairs, 4:4:4, crf 18", [], ["--crf", 18], None),
			("holoenc's own stairs, 4:2:0, crf 23", [], ["--crf", 23, "--chroma", 420], None)):
		must("holoenc", "-P", 42, *words, "--layout", "yuv", "--depth-range", cube(z), "in.nrrd", "-o", "out.nrrd")
		must("framecat", "-f", *cat, "out.nrrd", "-o", "out.mkv")
		f = read_back(z, "out.mkv", 42, extent=0.9 * W)
		print("%-40s %8d " % (what, size("out.mkv")) + errors(f))
		if key:
			record("ch7.sphere." + key, "%.3f" % f.rms, "%s, %s" % (what, in_words(f)))


def clip_as_video(data):
	video, _, (low, high), obj = clip(data)
	table("ch7: a clip in H.264 (fig. 7.8)", CLIP % (obj / 1e6), CLIP_HEAD)
	published_row("ch7.clip.444", ", 4:4:4, lossless_max")
	published_row("ch7.clip.422", ", 4:2:2, baseline")
	n, ratio, words = holo_clip("P 42, P1 4, 4:4:4, lossless", data, OF_THESIS, ["--lossless"], "out.mkv")
	record("ch7.clip.444", "%.1f" % ratio, words)
	record("ch7.clip.444.bytes", "%.1f" % n, words)
	must("holoenc", *OF_THESIS, "--depth-range=%g,%g" % (low, high), "face.nrrd", "-o", "coded.nrrd")

	def at(source, decoder, chroma, wanted):
		"""The crf whose frames are nearest to so many kB"""
		def coded(quality):
			must("framecat", "-f", "--crf", 51 - quality, "--chroma", chroma, source, "-o", "out.mkv")
			return size("out.mkv") / len(clip(data)[1]) / 1e3
		crf = 51 - nearest(coded, wanted, 0, 51)
		coded(51 - crf)
		must(decoder, "out.mkv", "-o", "back.nrrd")
		return crf

	wanted = float(published("ch7.clip.422.bytes"))
	crf = at("coded.nrrd", "holodec", 422, wanted)
	n, ratio, words = clip_row("P 42, P1 4, 4:2:2, crf %d" % crf, "out.mkv", data)
	record("ch7.clip.422", "%.1f" % ratio, words)
	record("ch7.clip.422.bytes", "%.2f" % n, words)
	must("holoenc", "-P", 42, "--layout", "yuv", "--depth-range=%g,%g" % (low, high), "face.nrrd", "-o", "coded.nrrd")
	clip_row("holoenc's own stairs, 4:2:0, crf %d" % at("coded.nrrd", "holodec", 420, wanted), "out.mkv", data)
	must("depthenc", "--depth-range=%g,%g" % (low, high), "face.nrrd", "-o", "coded.nrrd")
	clip_row("depthenc, crf %d" % at("coded.nrrd", "depthdec", 420, wanted), "out.mkv", data)
	must("framecat", "-f", "--lossless", "coded.nrrd", "-o", "out.mkv")
	must("depthdec", "out.mkv", "-o", "back.nrrd")
	n, ratio, words = clip_row("depthenc, lossless", "out.mkv", data)
	record("ch7.clip.444", "%.1f" % ratio, words)
	record("ch7.clip.444.bytes", "%.1f" % n, words)


def video_speed():
	video = importlib.import_module("bench-video")
	frames = [Frame(z.astype("f4"), ["depth"]) for z in video.sphere_sequence()] * 2
	write_frames("depths.nrrd", frames)
	table("ch7: frames/s to H.264 and back, 512x512, %d frames of a moving sphere, preset veryfast, all cores, with both starts" % len(frames))
	for key, what, words in (("ch7.encode", "holoenc, framecat -o holo.mkv",
			"holoenc -P 42 --layout yuv --depth-range 0,409.6 depths.nrrd | framecat -f --preset veryfast -o holo.mkv"),
			("ch7.decode", "holodec holo.mkv, normals, shade", "fringepipe -q holodec holo.mkv , normals , shade -o null:")):
		rate = len(frames) / video.seconds(words)
		print("%-40s %8.1f, published %s" % (what, rate, published(key)))
		record(key, "%.1f" % rate, what)


# ---- chapter 8: three bits a pixel ----

def three_bits(objects):
	table("ch8: three bits a pixel, theta 30, 12 fringes; sizes as PNG in KB, :1 to the PNG of 24 bits (fig. 8.3 to 8.5)",
		"the papers' decoder is a Gaussian of 7 x 7 and the median; what became of its spikes, and how many cosine turns\n"
		"   their stairs have, is not stated; 24 bits of their sphere: 62 KB x 3.9 = 242",
		"%-10s %-22s %9s %16s %16s  %-12s" % ("", "", "24 bits", "msb", "planar", "decoder") + HEAD)
	line = "%-10s %-22s %9s %16s %16s  %-12s"
	sphere_fs = published("ch8.sphere.msb"), "%s, %s:1" % (published("ch8.sphere.planar"), published("ch8.sphere.ratio"))
	david_fs = "%s, %s:1" % (published("ch8.david.bytes"), published("ch8.david.ratio")), ""
	for what, whole, cells, key in (("sphere, Bayer", "", ("", ""), "ch8.sphere.bayer"),
			("sphere, Floyd-Steinberg", "", sphere_fs, "ch8.sphere.fs"), ("David, Bayer", "320", ("", ""), "ch8.david.bayer"),
			("David, Floyd-Steinberg", "320", david_fs, "ch8.david.fs")):
		print(line % ("published", what, whole, *cells, "papers'") + "%9s" % published(key))
	for name, z in objects:
		encode(z, "out.png", W / 12, "-K", 0)
		for method in "bayer", "fs", "small":
			cells, bytes_ = [], {}
			for pack in "msb", "planar":
				must("dither3", "-m", method, "--pack", pack, "out.png", "-o", "bits.png")
				bytes_[pack] = size("bits.png")
				cells.append("%.0f, %.2f:1" % (bytes_[pack] / 1e3, size("out.png") / bytes_[pack]))
			of_decoder = {}
			for decoder, filters, decode in ("papers'", ["--filter", "gauss"], ["--decode", "plain"]), (
					"undither3", [], []):
				must("undither3", *filters, "bits.png", "-o", "levels.nrrd")
				f = of_decoder[decoder] = read_back(z, "levels.nrrd", W / 12, *decode, extent=extent(name))
				print(line % (name, method, "%.0f" % (size("out.png") / 1e3), *cells, decoder) + errors(f))
			record_three(name, method, size("out.png"), bytes_, of_decoder)


def record_three(name, method, whole, bytes_, of_decoder):
	"""David's figures beside those of the last scan"""
	paper, ours = of_decoder["papers'"], of_decoder["undither3"]
	key = "ch8.sphere." if name == "sphere" else "ch8.david."
	if method in ("bayer", "fs"):
		record(key + method, "%.3f" % ours.rms, "%s, %s; the papers' decoder %.3f %% without its %d spikes" % (name, in_words(ours),
			paper.rms_good, paper.spikes))
	if method in ("fs", "small"):
		pack, what = "planar" if name == "sphere" else "msb", "%s, dither3 -m %s" % (name, method)
		record(key + "ratio", "%.2f" % (whole / bytes_[pack]), "%s, 24 bits: %.0f KB" % (what, whole / 1e3))
		for key in (["ch8.sphere.msb", "ch8.sphere.planar"] if name == "sphere" else ["ch8.david.bytes"]):
			record(key, "%.0f" % (bytes_["planar" if key.endswith("planar") else "msb"] / 1e3), what)


def with_texture(z, out, *options):
	write_frames("lit.nrrd", Frame(np.stack([z, light(z)]).astype("f4"), ["depth", "texture"], {"z_axis": "towards"}))
	must("holoenc", "--rounding", "level", "--depth-range", cube(z), "--texture", "texture", *options, "lit.nrrd", "-o", out)


def textures(objects):
	table("ch8: three bits and a texture as PNG, KB (fig. 8.6)",
		"theirs: David and its texture; ours: light from the side", "%-10s %16s %16s" % ("", "texture 8 bits", "1 bit"))
	print("%-10s %16s %16s" % ("published", published("ch8.texture8"), published("ch8.texture1")))
	for name, z in objects:
		with_texture(z, "out.png", "-P", W / 12, "-K", 0)
		sizes = []
		for bits, pack in (8, "rgb"), (1, "msb"):
			must("dither3", "-m", "fs", "--texture", bits, "--pack", pack, "out.png", "-o", "bits.png")
			sizes.append("%.0f" % (size("bits.png") / 1e3))
			record("ch8.texture%d" % bits, sizes[-1], name)
		print("%-10s %16s %16s" % (name, *sizes))


# ---- chapter 9: two cameras, and a stream ----

def merged_surface():
	"""Of portal.points.SIDE and portal.true.SIDE, which papers_ch9 has made: the splat of both, measured and true"""
	def splat(kind):
		words = ["--splat", "512x512", "--onto", "ortho", "--calib", "../portal.json", "--pixel", 0.7, "--center", "0,0", "--weight",
			"none"]
		frame_of = ["--frame", "beamer"] if kind == "points" else []
		sides = ["../portal.%s.%s.nrrd" % (kind, side) for side in ("left", "right")]
		must("splatxyz", *words, *frame_of, "--view", sides[1], sides[0], "-o", "merged.nrrd")
		frame = read_frame("merged.nrrd")
		return frame["z"].astype(float)
	got, want = splat("points"), splat("true")
	there = np.isfinite(got) & np.isfinite(want)
	error = np.abs((got - want)[there])
	rms, within = np.sqrt(np.mean(error ** 2)), np.percentile(error, 99)
	table("ch9: depth of the merged surface (theirs: \"a depth resolution of %s mm\")" % published("ch9.depth"),
		"here: simulated, two cameras of 800x600, 600 mm away, noise of 1 grey level, cells of 0.7 mm; against the splat of true\n"
		"   points, over all cells that both have, edges included")
	print("rms %.3f mm, 99 %% within %.3f mm, %d cells; of the true ones %.2f %% are missing" % (rms, within, there.sum(),
		100 * (1 - there.sum() / np.isfinite(want).sum())))
	record("ch9.depth", "%.3f" % rms, "rms of %d cells, edges included; 99 %% within %.3f mm" % (there.sum(), within))


def stream(objects, data):
	table("ch9: Holoimages with a texture as PNG, 30 a second, P 42",
		"theirs: %s Mbit/s on average of live people, who cover a part of the picture that is not stated" % published("ch9.png"),
		"%-40s %10s %10s" % ("", "KB a frame", "Mbit/s"))
	rates = []
	for name, z in objects:
		with_texture(z, "out.png", "-P", 42)
		n = size("out.png") / 1e3
		rates.append((n * 0.24, "%s, %.0f %% of the picture" % (name, 100 * np.isfinite(z).mean())))
		print("%-40s %10.1f %10.1f" % (rates[-1][1], n, n * 0.24))
	record("ch9.png", "%.1f" % min(rates)[0], min(rates)[1])
	if not has_clip(data):
		return
	video, truth, (low, high), _ = clip(data)
	video.skin("face.nrrd", "skin.nrrd")
	table("ch9: the clip of ch7 with a skin", "", CLIP_HEAD)
	for what, coder, cat, decoder in (
			("Holoimages as PNG", ["holoenc", "-P", 42], ["--video", "png"], "holodec"),
			("depthenc, crf -6; skin, crf 18", ["depthenc", "--texture-place", "track"], ["--crf", -6, "--texture-crf", 18], "depthdec"),
			("depthenc, crf 6; skin, crf 28", ["depthenc", "--texture-place", "track"], ["--crf", 6, "--texture-crf", 28], "depthdec")):
		must(*coder, "--depth-range=%g,%g" % (low, high), "--texture", "skin", "skin.nrrd", "-o", "coded.nrrd")
		must("framecat", "-f", *cat, "coded.nrrd", "-o", "out.mkv")
		must(decoder, "out.mkv", "-o", "back.nrrd")
		n, _, words = clip_row(what, "out.mkv", data)
		if decoder == "depthdec":
			record("ch9.video", "%.2f" % (n * 0.24), words)


# ---- Liu 2016: a bar of two balls ----

def ball_bar(poses=5):
	"""The length of the paper's bar from what two simulated heads see of it"""
	import laser
	both, direction = laser.heads()
	for k, (camera, plane) in enumerate(both):
		laser.calibration_tables("head%d" % k, camera, plane, direction, np.random.default_rng(100 + k))
		rig = "head%d.json" % k
		camera.save(rig)
		must("lasercal", "plane", "--board", "11x8,40", "--calib", rig, "-o", rig, "--corners", "head%d-corners.nrrd" % k,
			"head%d-lines.nrrd" % k)
		must("lasercal", "direction", "--board", "11x8,40", "--calib", rig, "-o", rig, "head%d-stops.nrrd" % k)
	lengths = []
	for pose in range(poses):
		rng = np.random.default_rng(pose)
		balls, X = laser.bar_pose(rng), []
		for k, (camera, plane) in enumerate(both):
			write_frames("slices.nrrd", laser.scan_balls(camera, plane, direction, balls, 20., .05, rng))
			must("laser2xyz", "--join", "--calib", "head%d.json" % k, "slices.nrrd", "-o", "points.nrrd")
			f = read_frame("points.nrrd")
			X.append(np.stack([f[c][0] for c in "xyz"], -1).astype(float))
		X = np.concatenate(X)
		near = np.linalg.norm(X - balls[0], axis=1) < np.linalg.norm(X - balls[1], axis=1)
		lengths.append(np.linalg.norm(laser.fit_sphere(X[near])[0] - laser.fit_sphere(X[~near])[0]))
	error = np.array(lengths) - laser.BAR
	table("liu2016: the length of a bar of two balls, %g mm (fig. 11: within %s mm)" % (laser.BAR, published("liu2016.bar")),
		"here: two simulated heads of 1292x964, calibrated by lasercal; noise of 0.05 px in lines, corners and calibration")
	print("%d poses: off by %s mm" % (poses, ", ".join("%.4f" % e for e in error)))
	record("liu2016.bar", "%.4f" % np.abs(error).max(), "the largest error of %d poses" % poses)


# ---- the summary ----

def compared(figure, ours):
	"""How many times better ours is; None where nothing is compared"""
	if figure.better == "equal":
		return None
	times = float(ours) / float(figure.value)
	return times if figure.better == "more" else 1 / times


def say(words, indent="  "):
	print(textwrap.fill(words, 118, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False))


def verdict(times):
	return "" if times is None else ": %.3g times" % times if times >= 1 else ": not reached, %.2g times" % times


def read_measured():
	seen = collections.defaultdict(list)
	with open(measured) as file:
		for line in file:
			key, value, where = line.rstrip("\n").split("\t")
			seen[key].append((value, where))
	return seen


def summary(tables):
	seen = read_measured()
	figures = [figure for figure in PAPERS.values() if figure.key.split(".")[0] in tables]
	table("summary: every figure of the papers, ours, and whether that is like for like",
		"times: how many times better ours is (below 1 the published figure is the better one)")
	groups, alike = collections.defaultdict(list), ""
	for figure in figures:
		if figure.alike != "as above":
			alike = figure.alike
		print()
		say("%s: %s: %s" % (figure.key, figure.place, figure.what), "")
		said = "no figure" if figure.value == "-" else "published %s %s" % (figure.value, figure.unit)
		if figure.better == "no":
			groups["not answered"].append(figure.key)
			say("%s; not answered: %s" % (said, alike))
			continue
		if not seen[figure.key]:
			groups["not measured in this run"].append(figure.key)
			say("%s; not measured in this run" % said)
			continue
		say(said)
		all_times = [compared(figure, value) for value, _ in seen[figure.key]]
		for (value, where), times in zip(seen[figure.key], all_times):
			say("ours %s %s (%s)%s" % (value, figure.unit, where, verdict(times)))
		say("like for like? %s" % alike)
		groups["beside ours, nothing is compared" if figure.better == "equal" else "reached" if min(all_times) >= 1 else
			"not reached" if max(all_times) < 1 else "reached in one way, not in another"].append(figure.key)
	print("\n%d figures" % len(figures))
	for name in ("reached", "reached in one way, not in another", "not reached", "beside ours, nothing is compared", "not answered",
			"not measured in this run"):
		if groups[name]:
			say("%s, %d: %s" % (name, len(groups[name]), ", ".join(groups[name])), "")


# ---- all ----

def has_clip(data):
	return mesh_is_here(data, "igea.ply")


def mesh_is_here(data, name):
	return os.path.exists(os.path.join(data or "", "meshes", name))


def of_table(name, data):
	scans = [(name, z) for name, z in (("bunny", bunny(data)), ("igea", igea(data))) if z is not None]
	ball = "sphere", sphere()
	if name in ("ch5", "ch6", "ch8", "ch9"):
		if not scans:
			print("\nno folder of captures: a simulated relief stands for the scans, and nothing for their clips")
			scans = [("relief", relief())]
		print("\n" + LEGEND)
	if name == "karpinsky":
		flat_plane(data)
	elif name == "ch5":
		formats([ball] + scans)
		composite_sphere(ball[1])
		jpeg_and_png(scans)
	elif name == "ch6":
		jpeg_of_frames(scans)
		composite_as_jpeg(scans[-1][1], scans[-1][0])
		if has_clip(data):
			run_lengths(data)
	elif name == "ch7":
		sphere_as_video(ball[1])
		if has_clip(data):
			clip_as_video(data)
		video_speed()
	elif name == "ch8":
		three_bits([ball] + scans)
		textures(scans)
	elif name == "ch9":
		merged_surface()
		stream(scans, data)
	elif name == "liu2016":
		ball_bar()


def main():
	global measured
	parser = argparse.ArgumentParser()
	parser.add_argument("work")
	parser.add_argument("measured")
	parser.add_argument("--data")
	parser.add_argument("--table")
	parser.add_argument("--summary", nargs="+")
	options = parser.parse_args()
	measured = os.path.abspath(options.measured)
	data = options.data and os.path.abspath(options.data)
	os.chdir(options.work)
	if options.summary:
		summary(options.summary)
	else:
		of_table(options.table, data)


if __name__ == "__main__":
	main()
