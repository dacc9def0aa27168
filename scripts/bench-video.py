#!/usr/bin/env python3
"""The table of videos: what sequences of depth take and lose as ordinary video.

   scripts/bench-video.py WORK RVL [DATA] [--only TABLE ...]

WORK: a folder to write into; RVL: the program of scripts/bench-peers/rvl.c; DATA: the folder with meshes/igea.ply,
without which only the sphere is coded. TABLE: sphere, speed, room, face, scan or skin; all of them if none is named.
The tools and ffmpeg are found on PATH. scripts/bench video runs this.

Everywhere: bytes of a frame, keys and container included; OBJ:1, what an OBJ file of the first frame has for each of
them; rms over all pixels that are kept and off by at most 1 % of the range, spikes: the share of kept pixels that are
off by more; lost: share of the surface that is not read back; invented: pixels of the background that are.

Sequences, 512x512: sphere: radius 0.4 W, moving 20 px in a circle, 30 frames, its diameter is the range. face: igea.ply
turned by 28 sin(2 pi t/60) degrees in yaw and 8 sin(2 pi t/40) in pitch, 180 mm high, 0.4 mm a pixel, 30 frames,
range 165 mm. scan: the same through fringesim (periods of 36 and 38 px, 5 mm/rad, noise 2, shadow, albedo noise, the
frame's number for a seed), phasewrap --min-amplitude 6, unwrap2f and phase2depth. room: tsdf_depth_sequence, 30 frames of
640x480 of a real camera, range 939 to 3006 mm; 0 and more than 10000 are holes.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import time

from bench_tools import *
from frames import read_frames
from PIL import Image

FRAMES = 30


def sphere_sequence():
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	radius = 0.4 * W
	for t in range(FRAMES):
		a = 2 * np.pi * t / FRAMES
		square = radius ** 2 - (x - 20 * np.cos(a)) ** 2 - (y - 20 * np.sin(a)) ** 2
		yield np.where(square > 0, np.sqrt(np.maximum(square, 0)), np.nan)


def face_sequence(data):
	"""The mesh's unit is not mm: the head is scaled so that, seen from its front, it is 180 mm high"""
	mesh = os.path.join(data, "meshes/igea.ply")
	must("mesh2depth", "-s", f"{W}x{W}", mesh, "-o", "front.nrrd")
	pixel = float(tool("frameinfo", "-k", "scale_mm", "front.nrrd").stdout.split()[0]) * W / (180 / 0.4)
	frames = []
	for t in range(FRAMES):
		yaw, pitch = 28 * np.sin(2 * np.pi * t / 60), 8 * np.sin(2 * np.pi * t / 40)
		must("mesh2depth", "-s", f"{W}x{W}", "--view", f"{yaw:.6f},{pitch:.6f},0", "--scale", f"{pixel:.9g}", mesh, "-o",
			"turned.nrrd")
		frames.append(Frame(planes("turned.nrrd")[0].astype("f4") * np.float32(0.4 / pixel), ["depth"], {"z_axis": "towards"}))
	write_frames("face.nrrd", frames)


def scan_sequence():
	"""The face's depth as fringes measure it, with the holes that shadow leaves"""
	rig = ["-p", "36,38", "-c", 5, "--pixel", 0.4]
	must("fringepipe", "-q", "fringesim", "--scene", "plane", "-s", f"{W}x{W}", *rig, ",", "phasewrap", ",", "unwrap2f", "-o",
		"plane.nrrd")
	frames = []
	for k, frame in enumerate(read_frames("face.nrrd")):
		write_frames("one.nrrd", frame)
		must("fringepipe", "-q", "fringesim", "--depth", "one.nrrd", *rig, "--noise", 2, "--shadow", "--albedo", "noise", "--seed",
			k, ",", "phasewrap", "--min-amplitude", 6, ",", "unwrap2f", ",", "phase2depth", "--ref", "plane.nrrd", "-c", 5, "-o",
			"scanned.nrrd")
		frames.append(Frame(planes("scanned.nrrd")[0].astype("f4"), ["depth"], {"z_axis": "towards"}))
	write_frames("scan.nrrd", frames)


def room_sequence(data):
	frames = []
	for path in sorted(glob.glob(os.path.join(data, "tsdf_depth_sequence/depth_*.png"))):
		z = np.array(Image.open(path)).astype("f4")
		frames.append(Frame(np.where((z == 0) | (z > 10000), np.nan, z), ["depth"], {"z_axis": "away"}))
	write_frames("room.nrrd", frames)


class Loss:
	def __init__(self, truth, got, extent):
		error, valid, kept = (got - truth) / extent * 100, np.isfinite(truth), np.isfinite(got)
		error = error[valid & kept]
		spikes = np.abs(error) > 1
		self.rms = np.sqrt(np.mean(error[~spikes] ** 2))
		self.spikes = 100 * spikes.mean()
		self.lost = 100 * (valid & ~kept).sum() / valid.sum()
		self.invented = (kept & ~valid).sum()


def planes(path, channel="depth"):
	return np.stack([frame[channel] for frame in read_frames(path)]).astype(float)


HOLO = [	# label, words of holoenc, words of framecat, suffix
	("holo 444 P42 crf 10, slower", ["-P", 42, "--layout", "yuv"], ["--crf", 10, "--preset", "slower"], "mkv"),
	("holo 444 P42 crf 18", ["-P", 42, "--layout", "yuv"], ["--crf", 18], "mkv"),
	("holo 444 P42 crf 23", ["-P", 42, "--layout", "yuv"], ["--crf", 23], "mkv"),
	("holo 422 P42 crf 18", ["-P", 42, "--layout", "yuv"], ["--crf", 18, "--chroma", 422], "mkv"),
	("holo 420 P42 crf 23", ["-P", 42, "--layout", "yuv"], ["--crf", 23, "--chroma", 420], "mkv"),
	("holo 420 P42 crf 28", ["-P", 42, "--layout", "yuv"], ["--crf", 28, "--chroma", 420], "mkv"),
	("holo 420 P42 crf 23, slower", ["-P", 42, "--layout", "yuv"], ["--crf", 23, "--chroma", 420, "--preset", "slower"], "mkv"),
	("thesis 444 P42 K10 crf 18", ["-P", 42, "-K", 10, "--layout", "yuv"], ["--crf", 18], "mkv"),
	("thesis 422 P42 K10 crf 18", ["-P", 42, "-K", 10, "--layout", "yuv"], ["--crf", 18, "--chroma", 422], "mkv"),
	("RGB straight, crf 18", ["-P", 42], ["--crf", 18], "mkv"),
	("motion JPEG, q 2", ["-P", 42, "--layout", "yuv"], ["--video", "mjpeg"], "mkv"),
	("QTRLE", ["-P", 42], ["--video", "qtrle"], "mov"),
	("PNG", ["-P", 42], ["--video", "png"], "mkv"),
	("FFV1", ["-P", 42], ["--video", "ffv1"], "mkv"),
]
HOLO_AT = {	# of one sequence, at certain bytes a frame: 11840 and 9381 in 4:4:4, 6452 and 4662 in 4:2:0
	"face": [(f"holo {chroma} P42 crf {crf}", ["-P", 42, "--layout", "yuv"], ["--crf", crf, "--chroma", chroma], "mkv")
		for chroma, crf in ((444, 16.6), (444, 20.9), (420, 21.2), (420, 25.9))],
}


DEPTH = {	# of each sequence: words of depthenc, words of framecat
	"": [
		("luma", "--lossless"), ("luma", "--crf -6"), ("luma", "--crf 0"), ("luma", "--crf 4"), ("luma", "--crf 6"),
		("luma", "--crf 5 --preset veryslow"), ("luma", "--crf 6 --preset veryslow"), ("luma --mask track", "--lossless"),
		("luma --mask track", "--crf -2"), ("luma --mask track", "--crf 2"), ("luma --mask track", "--crf 8"),
		("luma --bits 12", "--video hevc --crf 0"), ("luma --bits 12", "--video hevc --crf 6"),
		("luma --bits 8", "--crf 10"),
		("mwd", "--crf 8"), ("mwd", "--crf 20"), ("mwd", "--crf 20 --chroma 420"), ("mwd --mask track", "--crf 20 --chroma 420"),
		("fold", "--crf 20 --chroma 420"), ("fold --fringes 4", "--crf 14 --chroma 420"),
	],
	"scan": [("luma", "--crf -4"), ("luma", "--crf 2")],
}
STILLS = {"face": (0.01, 0.05, 0.1), "scan": (0.05, 0.1, 0.5), "room": (0, 0.5), "sphere": (0.05,)}	# bounds in % of the range


def depth_rows(name, path, low, high, obj):
	truth = planes(path)
	truth = np.where((truth >= low) & (truth <= high), truth, np.nan)
	for encode, cat in DEPTH[""] + DEPTH.get(name, []):
		must("fringepipe", "-q", "depthenc", f"--depth-range={low},{high}", "--layout", *encode.split(), path, ",", "framecat", "-f",
			*cat.split(), "-o", "out.mkv")
		must("depthdec", "out.mkv", "-o", "back.nrrd")
		print_row(f"{encode} {cat}", "out.mkv", truth, low, high, obj)


def quantised(truth, low, high, bound):
	"""Whole numbers in steps of twice the bound (in % of the range), 0: no depth; bound 0: of whole units"""
	step = (high - low) * bound / 50 or 1
	levels = np.where(np.isfinite(truth), 1 + np.round((truth - low) / step), 0).astype("<u2")
	return levels, Loss(truth, np.where(levels > 0, low + (levels - 1.0) * step, np.nan), high - low)


def stills_rows(name, truth, low, high, obj):
	"""JPEG XL stills of 16 bits without loss, of depths in steps of twice the bound"""
	if not shutil.which("cjxl"):
		print("JPEG XL stills: cjxl is not here")
		return
	for bound in STILLS[name]:
		levels, loss = quantised(truth, low, high, bound)
		n = 0
		for v in levels:
			Image.fromarray(v).save("still.png")
			run("cjxl", "--quiet", "-x", "color_space=Gra_D65_Rel_Lin", "-d", "0", "-e", "7", "still.png", "still.jxl")
			n += size("still.jxl")
		print_loss(f"JPEG XL stills, bound {bound} %", n / len(truth), loss, obj)


def run(*words):
	subprocess.run(words, check=True, capture_output=True)


def peer_rows(truth, low, high, bound, rvl, obj):
	"""What keeps all levels of 16 bits, in steps of twice the bound"""
	levels, loss = quantised(truth, low, high, bound)
	n, h, w = levels.shape
	levels.tofile("levels.raw")
	run("ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray16le", "-s", f"{w}x{h}", "-i", "levels.raw",
		"-c:v", "ffv1", "-level", "3", "-context", "1", "levels.mkv")
	run("ffmpeg", "-v", "error", "-y", "-i", "levels.mkv", "-f", "rawvideo", "-pix_fmt", "gray16le", "levels.back")
	if open("levels.raw", "rb").read() != open("levels.back", "rb").read():
		sys.exit("scripts/bench: FFV1 has changed samples")
	png = 0
	for v in levels:
		Image.fromarray(v).save("still.png", compress_level=9)
		png += size("still.png")
	np.diff(levels, axis=0, prepend=np.zeros((1, h, w), "<u2")).tofile("levels.diff")
	run("zstd", "-q", "-f", "-19", "levels.diff", "-o", "levels.zst")
	of_rvl = int(subprocess.check_output([rvl, "levels.raw", "1"]).split()[0])
	for label, bytes_ in (("FFV1 gray16", size("levels.mkv")), ("RVL", of_rvl), ("PNG of 16 bits, level 9", png),
			("differences in time, zstd -19", size("levels.zst"))):
		print_loss(f"{label}, bound {bound} %", bytes_ / n, loss, obj)


def print_loss(label, bytes_, loss, obj):
	print("%-44s %8.0f %7.0f %8.4f %9.4f %8.2f %9d" % (label, bytes_, obj / bytes_, loss.rms, loss.spikes, loss.lost,
		loss.invented), flush=True)


def print_row(label, path, truth, low, high, obj):
	print_loss(label, size(path) / len(truth), Loss(truth, planes("back.nrrd"), high - low), obj)


def obj_bytes(path):
	"""Of the first frame as a mesh with normals"""
	must("framecat", "-f", "--frames", 0, path, "-o", "first.obj")
	return size("first.obj")


def table(name, path, low, high, rvl):
	truth, obj = planes(path), obj_bytes(path)
	print(f"\n{name}, {len(truth)} frames; OBJ of the first {obj} bytes\n%-44s %8s %7s %8s %9s %8s %9s" % ("layout", "bytes", "OBJ:1",
		"rms %", "spikes %", "lost %", "invented"))
	for label, holo, cat, suffix in HOLO + HOLO_AT.get(name, []):
		must("holoenc", *holo, "--depth-range", f"{low},{high}", path, "-o", "holo.nrrd")
		must("framecat", "-f", *cat, "holo.nrrd", "-o", f"out.{suffix}")
		must("holodec", f"out.{suffix}", "-o", "back.nrrd")
		print_row(label, f"out.{suffix}", truth, low, high, obj)
	depth_rows(name, path, low, high, obj)
	stills_rows(name, truth, low, high, obj)
	peer_rows(truth, low, high, 0 if name == "room" else 0.05, rvl, obj)
	print("published [Karpinsky thesis, ch. 6, 7]: sphere 0.204 % in 4:4:4, 0.415 % in 4:2:2; clip of a face 88 kB (352:1) and "
		"5.1 kB (6086:1)\na frame, JPEG 42:1 and QTRLE 134:1, of OBJ files of 31.1 MB")


def skin(path, to):
	"""A skin that turns with the face: waves of 25 to 57 mm on the head's own axes, grey levels of 85 to 215; 0 behind it"""
	frames = read_frames(path)
	for t, frame in enumerate(frames):
		z = frame["depth"].astype(float)
		yaw, pitch = np.radians(28 * np.sin(2 * np.pi * t / 60)), np.radians(8 * np.sin(2 * np.pi * t / 40))
		y, x = (np.mgrid[:W, :W] - (W - 1) / 2) * 0.4
		near = z - np.nanmean(z)
		across, through = x * np.cos(yaw) - near * np.sin(yaw), x * np.sin(yaw) + near * np.cos(yaw)
		down = y * np.cos(pitch) - through * np.sin(pitch)
		grey = 150 + 45 * np.sin(across / 9) * np.cos(down / 7) + 20 * np.sin(across / 4 + down / 5)
		frames[t] = Frame(np.stack([z, np.where(np.isfinite(z), grey, 0)]).astype("f4"), ["depth", "skin"], frame.meta)
	write_frames(to, frames)


def textured(path, low, high):
	"""Depth and a skin in one file"""
	skin(path, "skin.nrrd")
	truth, grey = planes("skin.nrrd"), planes("skin.nrrd", "skin")
	print("\nface with a skin, one file, preset veryslow; Holoimages P 42, 4:2:0\n%-28s %8s %8s %9s %8s  %s" % ("", "bytes", "rms %",
		"spikes %", "lost %", "texture, dB over all pixels, over the surface"))
	holo = [(f"gain {gain}, crf {crf}", crf, ["--chroma", 420], "holodec", ["holoenc", "-P", 42, "--layout", "yuv",
		"--texture-place", "below", "--texture-gain", gain]) for gain, crf in ((1, 24), (0.8, 23), (0.5, 23))]
	luma = [(f"luma, gain {gain}, crf {crf}", crf, [], "depthdec", ["depthenc", "--texture-gain", gain])
		for gain, crf in ((0.3, 5), (0.2, 6), (0.15, 6), (0.1, 6))]
	tracks = [(f"luma, two tracks, crf {crf}, {of_texture}", crf, ["--texture-crf", of_texture], "depthdec", ["depthenc", "--texture-place",
		"track"]) for crf, of_texture in ((6, 28), (6, 30))]
	must("holoenc", "-P", 42, f"--depth-range={low},{high}", "--texture", "skin", "skin.nrrd", "-o", "coded.nrrd")
	must("framecat", "-f", "--video", "png", "coded.nrrd", "-o", "out.mkv")
	n = size("out.mkv") / len(truth)
	print("Holoimage as PNG, texture in alpha: %.0f bytes, %.1f Mbit/s at 30 frames/s; published [ch. 9, other scenes, on "
		"average] 14 Mbit/s" % (n, n * 240e-6))
	for label, crf, chroma, decoder, encoder in holo + luma + tracks:
		must(*encoder, f"--depth-range={low},{high}", "--texture", "skin", "skin.nrrd", "-o", "coded.nrrd")
		must("framecat", "--preset", "veryslow", *chroma, "--crf", crf, "coded.nrrd", "-o", "out.mkv")
		must(decoder, "out.mkv", "-o", "back.nrrd")
		loss = Loss(truth, planes("back.nrrd"), high - low)
		square = (planes("back.nrrd", "skin") - grey) ** 2
		decibels = [10 * np.log10(255 ** 2 / part.mean()) for part in (square, square[np.isfinite(truth)])]
		print("%-28s %8.0f %8.4f %9.3f %8.2f  %.1f, %.1f" % (label, size("out.mkv") / len(truth),
			loss.rms, loss.spikes, loss.lost, *decibels), flush=True)


# ---- speed ----

def seconds(words, rounds=3):
	"""The least time of a few runs, of one program or of a pipe in a shell"""
	best = np.inf
	for _ in range(rounds):
		start = time.perf_counter()
		if subprocess.run(words, shell=isinstance(words, str), capture_output=True).returncode:
			sys.exit(f"scripts/bench: {words} failed")
		best = min(best, time.perf_counter() - start)
	return best


def handing_over(words, coded, frames=(120, 480), turns=11):
	"""What a frame costs more where framecat has it in memory and ffmpeg reads it from a pipe than where ffmpeg reads a file
	in memory: both in turns, medians, and the median of the ratios of each turn"""
	cases, few, many = {}, *frames
	for n in frames:
		with open(f"luma{n}.yuv", "wb") as to:
			for _ in range(n // 120):
				with open("luma.yuv", "rb") as luma:
					shutil.copyfileobj(luma, to)
		cases["bare", n] = f"{words} -i luma{n}.yuv {coded}"
		cases["ours", n] = f"FRINGEPIPE_REPEAT={n // 30} framecat luma30.nrrd --preset veryfast -o luma.mkv"
	times = {case: [] for case in cases}
	for k in range(turns):
		for case in list(cases)[::1 if k % 2 else -1]:
			times[case].append(seconds(cases[case], 1))
	bare, ours = ((np.median(times[who, many]) - np.median(times[who, few])) / (many - few) * 1e3 for who in ("bare", "ours"))
	print("handing over, a frame: %.2f ms, ffmpeg alone %.2f: %.3f of its time; %d frames with both starts: %.3f (%d turns)" % (ours,
		bare, ours / bare, many, np.median(np.divide(times["ours", many], times["bare", many])), turns), flush=True)
	os.remove(f"luma{many}.yuv")


def speeds(path, low, high, repeat=4):
	"""Frames a second of the sequence, several times over; ffmpeg alone codes the same samples, which lie in a file"""
	z = planes(path)
	levels = np.where(np.isfinite(z), 96 + np.round((z - low) / (high - low) * 927), 0).astype("<u2")
	n = repeat * len(z)
	write_frames("luma.nrrd", [Frame(v, ["luma"], {"max_value": "1023"}) for v in levels] * repeat)
	write_frames("depths.nrrd", [Frame(v.astype("f4"), ["depth"]) for v in z] * repeat)
	with open("luma.yuv", "wb") as raw:
		for v in list(levels) * repeat:
			raw.write(v.tobytes() + np.full(v.size // 2, 512, "<u2").tobytes())
	must("framecat", "luma.nrrd", "--preset", "veryfast", "-o", "luma.mkv")
	must("framecat", "--frames", f"0-{len(z) - 1}", "luma.nrrd", "-o", "luma30.nrrd")
	words = f"ffmpeg -v error -y -f rawvideo -pix_fmt yuv420p10le -s {W}x{W} -r 30"
	coded = "-c:v libx264 -preset veryfast -tune psnr -x264-params crf=0 bare.mkv"
	bare = seconds(f"{words} -i luma.yuv {coded}")
	piped = seconds(f"cat luma.yuv | {words} -i - {coded}")
	ours = seconds("framecat luma.nrrd --preset veryfast -o luma.mkv")
	bare_back = seconds("ffmpeg -v error -y -i luma.mkv -f rawvideo back.yuv")
	back = seconds("framecat luma.mkv -o luma.back.nrrd")
	depth = seconds(f"fringepipe depthenc --depth-range {low},{high} depths.nrrd , framecat -f --preset veryfast -o depth.mkv")
	depth_back = seconds("depthdec depth.mkv -o null:")
	holo = seconds(f"holoenc -P 42 --layout yuv --depth-range {low},{high} depths.nrrd | framecat --preset veryfast -o holo.mkv")
	holo_back = seconds("holodec holo.mkv -o null:")
	print(f"\nspeed, {n} frames of {W}x{W}, files in memory or cache, preset veryfast, frames/s (the least of 3 times)")
	print("%-28s %8.1f" % ("ffmpeg behind cat, encode", n / piped))
	for label, time_s, bar, peer in (("luma 10 bit, encode", ours, 120, bare), ("luma 10 bit, decode", back, 200, bare_back),
			("depthenc, encode", depth, 120, bare), ("decode, depthdec", depth_back, 200, bare_back),
			("holoenc, encode", holo, 60, None), ("decode, holodec", holo_back, 80, None)):
		print("%-28s %8.1f  bar %d%s" % (label, n / time_s, bar, f", ffmpeg alone {n / peer:.1f}: {time_s / peer:.3f} of its time"
			if peer else ", thesis %d" % (17 if bar == 60 else 28)), flush=True)
	handing_over(words, coded)


TABLES = ("sphere", "speed", "room", "face", "scan", "skin")


def of_mesh(data, wanted, rvl):
	face_sequence(data)
	z = planes("face.nrrd")
	low, high = (np.nanmin(z) + np.nanmax(z)) / 2 + [-82.5, 82.5]
	if "face" in wanted:
		table("face", "face.nrrd", low, high, rvl)
	if "scan" in wanted:
		scan_sequence()
		table("scan", "scan.nrrd", low, high, rvl)
	if "skin" in wanted:
		textured("face.nrrd", low, high)


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("work")
	parser.add_argument("rvl")
	parser.add_argument("data", nargs="?")
	parser.add_argument("--only", nargs="+", choices=TABLES, default=TABLES)
	arguments = parser.parse_args()
	data = arguments.data and os.path.abspath(arguments.data)
	rvl, wanted = os.path.abspath(arguments.rvl), arguments.only
	os.chdir(arguments.work)
	write_frames("sphere.nrrd", [Frame(z.astype("f4"), ["depth"]) for z in sphere_sequence()])
	if "sphere" in wanted:
		table("sphere", "sphere.nrrd", 0, 0.8 * W, rvl)
	if "speed" in wanted:
		speeds("sphere.nrrd", 0, 0.8 * W)
	if "room" in wanted and data and os.path.exists(os.path.join(data, "tsdf_depth_sequence")):
		room_sequence(data)
		table("room", "room.nrrd", 939, 3006, rvl)
	if {"face", "scan", "skin"} & set(wanted) and data and os.path.exists(os.path.join(data, "meshes/igea.ply")):
		of_mesh(data, wanted, rvl)


if __name__ == "__main__":
	main()
