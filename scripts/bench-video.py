#!/usr/bin/env python3
"""The table of videos: what sequences of depth take and lose as ordinary video.

   scripts/bench-video.py WORK [DATA]

WORK: a folder to write into; DATA: the folder with meshes/igea.ply, without which only the sphere is coded.
The tools and ffmpeg are found on PATH. scripts/bench video runs this.

Everywhere: bytes of a frame, keys and container included; rms over all pixels that are kept and off by at most 1 % of
the range, spikes: the share of kept pixels that are off by more; lost: share of the surface that is not read back;
invented: pixels of the background that are.

Sequences, 512x512: sphere: radius 0.4 W, moving 20 px in a circle, 30 frames, its diameter is the range. face: igea.ply
turned by 28 sin(2 pi t/60) degrees in yaw and 8 sin(2 pi t/40) in pitch, 190 mm high, 0.4 mm a pixel, 30 frames,
range 165 mm.
"""
import argparse
import os
import subprocess
import sys
import time

from bench_tools import *
from frames import read_frames

FRAMES = 30


def sphere_sequence():
	y, x = np.mgrid[:W, :W] - (W - 1) / 2
	radius = 0.4 * W
	for t in range(FRAMES):
		a = 2 * np.pi * t / FRAMES
		square = radius ** 2 - (x - 20 * np.cos(a)) ** 2 - (y - 20 * np.sin(a)) ** 2
		yield np.where(square > 0, np.sqrt(np.maximum(square, 0)), np.nan)


def face_sequence(data):
	"""The mesh's unit is not mm: the head is scaled so that, seen from its front, it is 190 mm high"""
	mesh = os.path.join(data, "meshes/igea.ply")
	must("mesh2depth", "-s", f"{W}x{W}", mesh, "-o", "front.nrrd")
	pixel = float(tool("frameinfo", "-k", "scale_mm", "front.nrrd").stdout.split()[0]) * W / (190 / 0.4)
	frames = []
	for t in range(FRAMES):
		yaw, pitch = 28 * np.sin(2 * np.pi * t / 60), 8 * np.sin(2 * np.pi * t / 40)
		must("mesh2depth", "-s", f"{W}x{W}", "--view", f"{yaw:.6f},{pitch:.6f},0", "--scale", f"{pixel:.9g}", mesh, "-o",
			"turned.nrrd")
		frames.append(Frame(planes("turned.nrrd")[0].astype("f4") * np.float32(0.4 / pixel), ["depth"], {"z_axis": "towards"}))
	write_frames("face.nrrd", frames)


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
	("holo 444 P42 crf 18", ["-P", 42, "--layout", "yuv"], ["--crf", 18], "mkv"),
	("holo 444 P42 crf 23", ["-P", 42, "--layout", "yuv"], ["--crf", 23], "mkv"),
	("holo 422 P42 crf 18", ["-P", 42, "--layout", "yuv"], ["--crf", 18, "--chroma", 422], "mkv"),
	("holo 420 P42 crf 23", ["-P", 42, "--layout", "yuv"], ["--crf", 23, "--chroma", 420], "mkv"),
	("holo 420 P42 crf 28", ["-P", 42, "--layout", "yuv"], ["--crf", 28, "--chroma", 420], "mkv"),
	("thesis 444 P42 K10 crf 18", ["-P", 42, "-K", 10, "--layout", "yuv"], ["--crf", 18], "mkv"),
	("thesis 422 P42 K10 crf 18", ["-P", 42, "-K", 10, "--layout", "yuv"], ["--crf", 18, "--chroma", 422], "mkv"),
	("RGB straight, crf 18", ["-P", 42], ["--crf", 18], "mkv"),
	("motion JPEG, q 2", ["-P", 42, "--layout", "yuv"], ["--video", "mjpeg"], "mkv"),
	("QTRLE", ["-P", 42], ["--video", "qtrle"], "mov"),
	("PNG", ["-P", 42], ["--video", "png"], "mkv"),
	("FFV1", ["-P", 42], ["--video", "ffv1"], "mkv"),
]


def table(name, path, low, high):
	truth = planes(path)
	print(f"\n{name}, {len(truth)} frames\n%-28s %8s %8s %9s %8s %9s" % ("layout", "bytes", "rms %", "spikes %", "lost %",
		"invented"))
	for label, holo, cat, suffix in HOLO:
		must("holoenc", *holo, "--depth-range", f"{low},{high}", path, "-o", "holo.nrrd")
		must("framecat", *cat, "holo.nrrd", "-o", f"out.{suffix}")
		must("holodec", f"out.{suffix}", "-o", "back.nrrd")
		loss = Loss(truth, planes("back.nrrd"), high - low)
		print("%-28s %8.0f %8.4f %9.3f %8.2f %9d" % (label, os.path.getsize(f"out.{suffix}") / len(truth), loss.rms, loss.spikes,
			loss.lost, loss.invented), flush=True)
	print("published [Karpinsky thesis, ch. 7]: sphere 0.204 % in 4:4:4, 0.415 % in 4:2:2; clip of a face 88 kB and 5.1 kB")


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
	words = f"-v error -y -f rawvideo -pix_fmt yuv420p10le -s {W}x{W} -r 30 -i luma.yuv -c:v libx264 -preset veryfast"
	bare = seconds(f"ffmpeg {words} -tune psnr -x264-params crf=0 bare.mkv")
	ours = seconds("framecat luma.nrrd --preset veryfast -o luma.mkv")
	bare_back = seconds("ffmpeg -v error -y -i luma.mkv -f rawvideo back.yuv")
	back = seconds("framecat luma.mkv -o luma.back.nrrd")
	holo = seconds(f"holoenc -P 42 --layout yuv --depth-range {low},{high} depths.nrrd | framecat --preset veryfast -o holo.mkv")
	holo_back = seconds("holodec holo.mkv -o null:")
	print(f"\nspeed, {n} frames of {W}x{W}, files in memory or cache, preset veryfast, frames/s (the least of 3 times)")
	for label, time_s, bar, peer in (("luma 10 bit, encode", ours, 120, bare), ("luma 10 bit, decode", back, 200, bare_back),
			("holoenc, encode", holo, 60, None), ("decode, holodec", holo_back, 80, None)):
		print("%-28s %8.1f  bar %d%s" % (label, n / time_s, bar, f", ffmpeg alone {n / peer:.1f}: {time_s / peer:.3f} of its time"
			if peer else ", thesis %d" % (17 if bar == 60 else 28)), flush=True)


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("work")
	parser.add_argument("data", nargs="?")
	arguments = parser.parse_args()
	data = arguments.data and os.path.abspath(arguments.data)
	os.chdir(arguments.work)
	frames = [Frame(z.astype("f4"), ["depth"]) for z in sphere_sequence()]
	write_frames("sphere.nrrd", frames)
	table("sphere", "sphere.nrrd", 0, 0.8 * W)
	speeds("sphere.nrrd", 0, 0.8 * W)
	if data and os.path.exists(os.path.join(data, "meshes/igea.ply")):
		face_sequence(data)
		z = planes("face.nrrd")
		middle = (np.nanmin(z) + np.nanmax(z)) / 2
		table("face", "face.nrrd", middle - 82.5, middle + 82.5)


if __name__ == "__main__":
	main()
