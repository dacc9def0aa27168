#!/usr/bin/env python3
"""The table of Holoimages: what they lose, and how large they are, beside their peers.

   scripts/bench-holo.py RVL WORK [DATA]

RVL: the program of scripts/bench-peers/rvl.c; WORK: a folder to write into; DATA: the folder with
meshes/bunny_depth_512_u16.png and meshes/igea.ply. Without them a simulated sphere with a relief takes
their place. The tools are found on PATH. scripts/bench holo runs this. Lost: not in what is read back, or more than
half a fringe off; rms: of the others, in % of the object's extent in depth.
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
import numpy as np
from frames import Frame, read_frame, write_frames

try:
	from PIL import Image
except ImportError:	# the rows of yuv planes are left out
	Image = None

W = 512
PITCHES = 32, 42, 52, 64
OBJ_OF_THESIS = 20935e3		# bytes of a 512 x 512 frame as OBJ [Karpinsky thesis, 6.3]


def tool(*words):
	return subprocess.run([str(w) for w in words], capture_output=True, text=True)


def must(*words):
	done = tool(*words)
	if done.returncode:
		sys.exit("bench-holo: %s: %s" % (" ".join(map(str, words)), done.stderr))


def size(path):
	return os.path.getsize(path)


# ---- objects, in pixels ----

def sphere():
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	rr = (0.45 * W) ** 2 - x * x - y * y
	return np.where(rr >= 0, W / 2 + np.sqrt(np.maximum(rr, 0)), np.nan)


def steps():
	z = np.kron(np.random.default_rng(3).uniform(0.04, 0.96, (8, 8)), np.ones((W // 8, W // 8))) * W
	y, x = np.mgrid[:W, :W]
	return z + 3 * np.sin(x / 40) + 3 * np.cos(y / 30)


def relief():
	y, x = np.mgrid[:W, :W]
	return sphere() + 12 * np.sin(x / 19) * np.cos(y / 23)


def scan(data):
	path = os.path.join(data, "meshes", "bunny_depth_512_u16.png") if data else ""
	if not os.path.exists(path):
		return "simulated relief", relief()
	must("framecat", "--invalid", 0, path, "-o", "scan.nrrd")
	z = read_frame("scan.nrrd").pixels[0].astype(float) / 128
	return os.path.basename(path), W - z	# it counts from the camera


def mesh(path):
	"""A mesh from its front, scaled to the cube as the bunny is; None where a tool or the mesh is missing"""
	if not os.path.exists(path) or tool("mesh2depth", path, "-o", "scan.nrrd").returncode:
		return None
	z = read_frame("scan.nrrd").pixels[0].astype(float)
	return (z - np.nanmin(z)) / np.ptp(z[np.isfinite(z)]) * W


def put(name, z):
	write_frames(name, Frame(z.astype("f4"), ["depth"], {"z_axis": "towards"}))


def light(z):
	"""What a lamp beside the camera makes of z: a texture from 0 to 255"""
	down, right = np.gradient(np.where(np.isnan(z), 0, z))
	return np.where(np.isnan(z), np.nan, 255 / np.sqrt(1 + down ** 2 + right ** 2))


def cube(z):
	return "%g,%g" % (min(0, np.floor(np.nanmin(z))), max(W, np.ceil(np.nanmax(z))))


# ---- figures ----

class Figures:
	def __init__(self, want, got, turn, extent=None):
		there, kept = np.isfinite(want), np.isfinite(want) & np.isfinite(got)
		error = (got - want)[kept]
		spike = np.abs(error) > turn / 2
		self.spikes = int(spike.sum())
		self.spike_share = 100 * spike.mean() if spike.size else 0
		self.lost = 100 * (1 - (kept.sum() - spike.sum()) / there.sum())
		good = error[~spike]
		self.rms = 100 * np.sqrt(np.mean(good ** 2) if good.size else np.nan) / (extent or np.ptp(want[there]))


def read_back(want, picture, pitch, *options, extent=None):
	"""None where the picture is refused"""
	if tool("holodec", *options, picture, "-o", "back.nrrd").returncode:
		return None
	low, high = map(float, cube(want).split(","))
	turn = 2 * pitch * (high - low) / W	# theta 30: 1 / sin theta
	return Figures(want, read_frame("back.nrrd").pixels[0].astype(float), turn, extent)


# ---- the table ----

def lossless():
	print("\n1. lossless, theta 30; rms in % of the sphere's diameter (limit: 1.03 times quantisation)")
	print("%-8s %-10s %-9s %6s %8s %10s %10s %8s" % ("object", "stair", "rounding", "pitch", "bytes", "rms %", "limit %",
		"spikes"))
	for name, z, limits in ("sphere", sphere(), {"level": (0.0026, 0.0052, 0.0068), "angle": (0.00105, 0.0021, 0.00277)}), (
			"steps", steps(), None):
		put("in.nrrd", z)
		for stair, rounding in ((s, r) for s in ("composite", "cosine") for r in ("level", "angle")):
			for i, pitch in enumerate((16, 32, 42)):
				must("holoenc", "-P", pitch, "--stair", stair, "--rounding", rounding, "--depth-range", cube(z),
					"in.nrrd", "-o", "out.png")
				f = read_back(z, "out.png", pitch, extent=0.9 * W)
				print("%-8s %-10s %-9s %6d %8d %10.5f %10s %8d" % (name, stair, rounding, pitch, size("out.png"), f.rms,
					limits[rounding][i] if limits else "", f.spikes))


def three_bits():
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	z = sphere()
	inside = np.where(np.hypot(x, y) <= 0.45 * W - 6, z, np.nan)
	put("in.nrrd", z)
	must("holoenc", "-P", 42, "-K", 0, "--depth-range", cube(z), "in.nrrd", "-o", "out.nrrd")
	print("\n2. three bits a pixel, the sphere eroded by 6 px, P 42, K 0; rms in % of its diameter")
	print("%-16s %-10s %10s %8s %8s" % ("dithering", "decoding", "rms %", "spikes", "lost %"))
	for dither in "bayer", "small", "fs", "fs-serpentine", "blue", "best", "best --sigma 4":
		for name, options, decode in ("papers'", ["--filter", "gauss"], ["--decode", "plain"]), (
				"gauss", ["--filter", "gauss"], []), ("default", [], []):
			must("dither3", "-m", *dither.split(), "out.nrrd", "-o", "bits.nrrd")
			must("undither3", *options, "bits.nrrd", "-o", "levels.nrrd")
			must("holodec", *decode, "levels.nrrd", "-o", "back.nrrd")
			f = Figures(inside, read_frame("back.nrrd").pixels[0].astype(float), 84, 0.9 * W)
			print("%-16s %-10s %10.4f %8d %8.3f" % (dither, name, f.rms, f.spikes, f.lost))


THREE = "%-18s %-7s %-8s %7d %7.2f %8.1f %8.1f"


def three_row(what, pack, texture, path, whole, meshes, f):
	print(THREE % (what, pack, texture, size(path), whole / size(path), meshes[0] / size(path),
		meshes[1] / size(path)), end="")
	print(" %9.4f %8d %8.2f" % (f.rms, f.spikes, f.lost))


def three_bits_of(name, z):
	"""A scan in three bits, in every pack, without a texture and with one."""
	put("in.nrrd", z)
	must("framecat", "in.nrrd", "-o", "out.obj")
	must("framecat", "in.nrrd", "-o", "out.ply")
	meshes = size("out.obj"), size("out.ply")
	write_frames("lit.nrrd", Frame(np.stack([z, light(z)]).astype("f4"), ["depth", "texture"], {"z_axis": "towards"}))
	print("\n2b. %s in three bits, P 42, K 0, %d points: OBJ %d bytes, binary PLY %d; rms in %% of its extent\n"
		"in depth, boundary included, of all that is kept but spikes; :1 PNG: of 24 bits with the same texture"
		% (name, np.isfinite(z).sum(), *meshes))
	print("%-18s %-7s %-8s %7s %7s %8s %8s %9s %8s %8s" % ("method", "pack", "texture", "bytes", "PNG:1", "OBJ:1",
		"PLY:1", "rms %", "spikes", "lost %"))
	for texture, source, options in ("none", "in.nrrd", []), ("8 bits", "lit.nrrd", ["--texture", "texture"]):
		must("holoenc", "-P", 42, "-K", 0, "--rounding", "level", "--depth-range", cube(z), *options, source,
			"-o", source + ".png")
		whole = size(source + ".png")
		three_row("24 bits", "", texture, source + ".png", whole, meshes, read_back(z, source + ".png", 42))
	for texture, source, bits, methods in ("none", "in.nrrd", 0, ("small", "bayer", "fs", "best", "best --price 0.05")), (
			"1 bit", "lit.nrrd", 1, ("small",)), ("8 bits", "lit.nrrd", 8, ("small",)):
		for method in methods:
			for pack in ("rgb",) if bits == 8 else ("msb", "planar"):
				must("dither3", "-m", *method.split(), "--texture", bits, "--pack", pack, source + ".png", "-o", "bits.png")
				must("undither3", "bits.png", "-o", "levels.nrrd")
				three_row(method, pack, texture, "bits.png", size(source + ".png"), meshes,
					read_back(z, "levels.nrrd", 42))


def jpeg(z, pitch, stair, chroma, quality):
	"""The size of in.nrrd as JPEG, and its figures."""
	must("framecat", "--quality", quality, "--chroma", chroma, "%s%d.nrrd" % (stair, pitch), "-o", "out.jpg")
	return size("out.jpg"), read_back(z, "out.jpg", pitch)


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


ROW = "%-22s %5s %7s %8d %9.1f %11.1f"


def show(label, chroma, quality, n, obj, f):
	print(ROW % (label, chroma, quality, n, obj / n, OBJ_OF_THESIS / n), end="")
	print(" refused" if f is None else " %9.4f %9.4f %8.2f" % (f.rms, f.spike_share, f.lost))


def heading():
	print("%-22s %5s %7s %8s %9s %11s %9s %9s %8s" % ("", "colour", "quality", "bytes", "OBJ:1",
		"thesis' OBJ", "rms %", "spikes %", "lost %"))


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

	def row(label, bytes_, share):
		rms = 100 * np.sqrt(np.nanmean((share - (z - low) / (high - low)) ** 2))
		print("%-30s %7s %7d %9.1f %11.1f %9.4f" % (label, "", bytes_, obj / bytes_, OBJ_OF_THESIS / bytes_, rms))

	for bits in (10, 8, 7, 6) if shutil.which("cwebp") else ():
		levels = 2 ** bits - 2
		code = np.where(np.isnan(z), 0, np.round((z - low) / (high - low) * levels) + 1).astype(int)
		Image.fromarray(np.stack([code & 255, code >> 8, 0 * code], -1).astype("u1")).save("code.png")
		subprocess.run(["cwebp", "-quiet", "-lossless", "-exact", "-z", "9", "code.png", "-o", "code.webp"], check=True)
		row("WebP lossless, %d bits" % bits, size("code.webp"), np.where(code > 0, (code - 1) / levels, np.nan))
	share = np.clip((filled(z) - low) / (high - low), 0, 1)
	write_frames("filled.nrrd", Frame(np.round(share * 65535).astype("u2")))
	must("framecat", "filled.nrrd", "-o", "filled.png")
	for ratio in (10, 16, 24, 32, 48) if shutil.which("opj_compress") else ():
		run = dict(check=True, stdout=subprocess.DEVNULL)
		subprocess.run(["opj_compress", "-i", "filled.png", "-o", "out.jp2", "-r", str(ratio), "-I"], **run)
		subprocess.run(["opj_decompress", "-i", "out.jp2", "-o", "back.png"], **run)
		must("framecat", "back.png", "-o", "back.nrrd")
		back = np.where(np.isnan(z), np.nan, read_frame("back.nrrd").pixels[0].astype(float) / 65535)
		row("JPEG 2000, 16 bits, and mask", size("out.jp2") + size("mask.png"), back)


def peers(z, obj, rvl):
	print("%-22s %15s %7s %9s %11s %9s  ms to encode, decode" % ("", "", "bytes", "OBJ:1", "thesis' OBJ",
		"rms %"))
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
	if Image:
		other_codecs(z, obj)
	for stair in "composite", "cosine":
		must("framecat", stair + "42.nrrd", "-o", "out.png")
		show("Holoimage PNG, P 42", "", stair, size("out.png"), obj, read_back(z, "out.png", 42))


def main(rvl, work, data=None):
	rvl = os.path.abspath(rvl)
	os.chdir(work)
	lossless()
	if tool("dither3", "--help").returncode == 0 and tool("undither3", "--help").returncode == 0:
		three_bits()
	name, z = scan(data)
	if tool("dither3", "--help").returncode == 0 and tool("undither3", "--help").returncode == 0:
		three_bits_of(name, z)
		igea = mesh(os.path.join(data, "meshes", "igea.ply")) if data else None
		if igea is not None:
			three_bits_of("igea.ply", igea)
	put("in.nrrd", z)
	must("framecat", "in.nrrd", "-o", "out.obj")
	must("framecat", "in.nrrd", "-o", "out.ply")
	obj = size("out.obj")
	print("\n3, 4. %s, 512 x 512, %d points: OBJ %d bytes, binary PLY %d; the thesis' OBJ is %d" % (name,
		np.isfinite(z).sum(), obj, size("out.ply"), OBJ_OF_THESIS))
	print("rms in % of its extent in depth, without the boundary of 2 pixels; lost: that boundary too")
	encode_all(z)
	qualities(z, obj)
	print("\nthe best of cosine and composite, P 42, 52 and 64, at the thesis' ratios (its own: 104:1 good, 174:1 "
		"slight loss, 310:1 noticeable)")
	thesis_ratios(z, obj)
	print("\nwithout loss, and peers on the same depth map")
	peers(z, obj, rvl)


if __name__ == "__main__":
	if len(sys.argv) not in (3, 4):
		sys.exit(__doc__)
	main(*sys.argv[1:])
