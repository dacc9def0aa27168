"""A decoder of Holoimages in PNG files, written from man/holoimage.5 alone, with none of our code.

   decode(path) -> depth (NaN: none), metadata;  check_values(meta) -> the places and values of holo_check
"""
import numpy as np
from PIL import Image

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def metadata(picture):
	lines = "\n".join(v for v in picture.text.values() if ":=" in v).splitlines()
	return dict(line.split(":=", 1) for line in lines if ":=" in line)


def smooth(bits):
	k = np.exp(-0.5 * (np.arange(-3, 4) / (7 / 3)) ** 2)
	k /= k.sum()
	wide = np.pad(bits * 255.0, 3)
	wide = sum(v * wide[:, i:wide.shape[1] - 6 + i] for i, v in enumerate(k))
	return sum(v * wide[i:wide.shape[0] - 6 + i] for i, v in enumerate(k))


def planes(pixels, meta):
	"""R, G, B as levels; whether they were smoothed"""
	w = int(meta["holo_size"].split()[0])
	pack = meta.get("holo_pack")
	if pack is None:
		order = (0, 1, 2) if meta["holo_layout"] == "rgb" else (1, 2, 0)
		return [pixels[..., c].astype(float) for c in order], False
	if pack == "planar":
		return [smooth(pixels[:, c * w:(c + 1) * w] > 0) for c in range(3)], True
	grey = pixels[..., 0] if pack == "rgb" else pixels
	return [smooth(grey & bit > 0) for bit in (128, 64, 32)], True


def stair(rest, S, K):
	return S / 2 - (S / 2 - 1) * np.cos(2 * np.pi * (K + 0.5) * rest)


def turns(pixels, meta):
	(R, G, B), smoothed = planes(pixels, meta)
	w, h = map(int, meta["holo_size"].split())
	P, S = float(meta["holo_pitch_px"]), float(meta["holo_stair_height"])
	theta, W = np.radians(float(meta["holo_theta_deg"])), max(w, h)
	k_most = np.floor(((w - 1) * np.cos(theta) + W * np.sin(theta)) / P)
	rest = np.arctan2(R - 127.5, G - 127.5) / (2 * np.pi)
	rest += rest < 0
	b = stair(rest, S, float(meta["holo_stair_turns"])) if meta["holo_stair"] == "cosine" else 0
	k = np.clip(np.floor((B - b) / S + 0.5), 0, k_most)
	return np.where(R + G < 38.25, np.nan, k + rest)


def decode(path):
	picture = Image.open(path)
	meta = metadata(picture)
	t = turns(np.array(picture), meta)
	w, h = map(int, meta["holo_size"].split())
	theta, W = np.radians(float(meta["holo_theta_deg"])), max(w, h)
	z = (t * float(meta["holo_pitch_px"]) - np.arange(w) * np.cos(theta)) / (W * np.sin(theta))
	low, high = map(float, meta["holo_depth_range"].split())
	depth = low + z * (high - low) if meta["z_axis"] == "towards" else high - z * (high - low)
	return depth, t, meta


def check_values(meta):
	"""(x, y, value) of the 64 places"""
	w, h = map(int, meta["holo_size"].split())
	text = meta["holo_check"]
	for n in range(64):
		j, i = divmod(n, 8)
		value = 64 * DIGITS.index(text[2 * n]) + DIGITS.index(text[2 * n + 1])
		yield (2 * i + 1) * w // 16, (2 * j + 1) * h // 16, value
