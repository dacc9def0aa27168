"""What the parts of scripts/bench that are written in Python share: tools, objects with known depth, figures.

Depth is in pixels of a cube with edge W. Of what is read back each pixel of the object is one of three: dropped
(NaN there), a spike (more than half a fringe off) or good. rms is over all that is kept, spikes included; rms_good
leaves the spikes out; lost are the dropped ones and the spikes.
"""
import difflib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
import numpy as np
from frames import Frame, read_frame, write_frames

W = 512


def tool(*words):
	return subprocess.run([str(w) for w in words], capture_output=True, text=True)


def must(*words):
	done = tool(*words)
	if done.returncode:
		sys.exit("scripts/bench: %s: %s" % (" ".join(map(str, words)), done.stderr))


def knows(name, option):
	"""Whether this build's tool has the option"""
	return option in tool(name, "--help").stdout


def size(path):
	return os.path.getsize(path)


def libpng_size(path):
	"""The bytes of a PNG written anew by libpng's default, through Pillow: what most programs would make of it"""
	from PIL import Image
	Image.open(path).save("libpng.png")
	return size("libpng.png")


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


def bunny(data):
	"""The Stanford bunny from the front; None where the folder of captures has none"""
	path = os.path.join(data or "", "meshes", "bunny_depth_512_u16.png")
	if not os.path.exists(path):
		return None
	must("framecat", "--invalid", 0, path, "-o", "scan.nrrd")
	return W - read_frame("scan.nrrd").pixels[0].astype(float) / 128	# it counts from the camera


def mesh(data, name, yaw=0, pitch=0):
	"""A mesh turned by these degrees, scaled to the cube as the bunny is; None where the mesh is missing"""
	path = os.path.join(data or "", "meshes", name)
	if not os.path.exists(path):
		return None
	must("mesh2depth", "--view", "%g,%g,0" % (yaw, pitch), path, "-o", "scan.nrrd")
	z = read_frame("scan.nrrd").pixels[0].astype(float)
	return (z - np.nanmin(z)) / np.ptp(z[np.isfinite(z)]) * W


def igea(data):
	"""From its front"""
	return mesh(data, "igea.ply")


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
	"""rms and rms_good in % of the extent; turn: the depth of a fringe"""

	def __init__(self, want, got, turn, extent=None):
		there, kept = np.isfinite(want), np.isfinite(want) & np.isfinite(got)
		error = (got - want)[kept]
		spike = np.abs(error) > turn / 2
		self.pixels = int(there.sum())
		self.spikes = int(spike.sum())
		self.spike_share = 100 * spike.mean() if spike.size else 0
		self.dropped = 100 * (1 - kept.sum() / there.sum())
		self.lost = 100 * (1 - (kept.sum() - spike.sum()) / there.sum())
		percent = 100 / (extent or np.ptp(want[there]))
		self.rms, self.rms_good = (percent * np.sqrt(np.mean(e ** 2)) if e.size else np.nan
			for e in (error, error[~spike]))
		self.want, self.turn = want, turn
		self.lost_pixels = there.copy()
		self.lost_pixels[kept] = spike

	def deep(self, jumps):
		"""The share of the object that is lost deeper than 6 px from its boundary, in %; jumps: also from where
		neighbours are more than 0.35 fringes apart"""
		there = np.isfinite(self.want)
		boundary = ~there
		for one, other in ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1])) if jumps else ():
			apart = np.abs(self.want[one] - self.want[other]) > 0.35 * self.turn
			boundary[one] |= apart
			boundary[other] |= apart
		h, w = there.shape
		edge = np.pad(boundary, 6, constant_values=True)
		near = np.max([edge[i:i + h, k:k + w] for i in range(13) for k in range(13)], 0)
		return 100 * (self.lost_pixels & ~near).sum() / there.sum()


def depth_of(path):
	return read_frame(path).pixels[0].astype(float)


def read_back(want, picture, pitch, *options, extent=None, theta=30):
	"""None where the picture is refused"""
	if tool("holodec", *options, picture, "-o", "back.nrrd").returncode:
		return None
	low, high = map(float, cube(want).split(","))
	turn = pitch / np.sin(np.radians(theta)) * (high - low) / W
	return Figures(want, depth_of("back.nrrd"), turn, extent)


# ---- tables in man pages ----

def replace_block(path, name, lines):
	"""Puts the lines between those of the file that hold "begin: NAME" and "end: NAME"; returns what stood there"""
	with open(path) as file:
		old = file.read().split("\n")
	first = next((i for i, line in enumerate(old) if "begin: " + name + "," in line), None)
	last = next((i for i, line in enumerate(old) if "end: " + name in line), None)
	if first is None or last is None or last < first:
		sys.exit("scripts/bench: %s: no lines \"begin: %s, ...\" and \"end: %s\"" % (path, name, name))
	if lines is not None:
		with open(path + ".new", "w") as file:
			file.write("\n".join(old[:first + 1] + lines + old[last:]))
		os.replace(path + ".new", path)
	return old[first + 1:last]


def check_block(path, name, lines):
	"""Prints what differs between the lines and those of the file; returns whether anything does"""
	there = replace_block(path, name, None)
	for line in difflib.unified_diff(there, lines, path, "measured", n=0, lineterm=""):
		print(line)
	return there != lines
