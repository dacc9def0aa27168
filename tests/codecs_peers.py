"""Image files written and read by NumPy and Pillow, for tests/codecs.bats.

codecs_peers.py write KIND FILE ...   writes files of known samples
codecs_peers.py check KIND FILE ...   compares files' samples, bit for bit, with the same known ones

KIND is FORMAT-TYPE-CHANNELS[-VARIANT], for example npy-f8-1-fortran.
"""
import gzip
import sys
import numpy as np
from PIL import Image, ImageSequence
from frames import Frame, expect, read_frames, write_frames

H, W = 65, 129
PAGES = 3


def known(kind, channels, page=0):
	"""Samples (C, H, W); those of float types are exact in 32 bits, one is NaN."""
	rng = np.random.default_rng(100 * channels + page)
	if kind == "b1":
		return rng.integers(0, 2, (channels, H, W)).astype("u1")
	if kind in ("u1", "u2"):
		return rng.integers(0, 256 ** int(kind[1]), (channels, H, W)).astype(kind)
	samples = rng.integers(-2000, 2000, (channels, H, W)).astype(kind)
	if kind[0] == "f":
		samples = samples / np.array(8, kind)
		samples[0, 3, 5] = np.nan
	return samples


def picture(samples):
	"""The Pillow image of samples (C, H, W)."""
	if len(samples) == 1:
		return Image.fromarray(samples[0])
	return Image.fromarray(np.moveaxis(samples, 0, -1).copy())


def write_pfm(samples, path, order):
	with open(path, "wb") as file:
		file.write(b"%s\n%d %d\n%s\n" % (b"Pf" if len(samples) == 1 else b"PF", W, H,
			b"1.0" if order == ">" else b"-1.0"))
		file.write(np.moveaxis(samples, 0, -1)[::-1].astype(order + "f4").tobytes())


def read_pfm(path):
	with open(path, "rb") as file:
		channels = {b"PF": 3, b"Pf": 1}[file.readline().strip()]
		w, h = map(int, file.readline().split())
		order = "<" if float(file.readline()) < 0 else ">"
		samples = np.frombuffer(file.read(), order + "f4").reshape(h, w, channels)
	return np.moveaxis(samples[::-1], -1, 0)


def write_nrrd_gzip(samples, path):
	head = "NRRD0004\ntype: float\ndimension: 2\nsizes: %d %d\nendian: big\nencoding: gzip\n\n"
	with open(path, "wb") as file:
		file.write((head % (W, H)).encode())
		file.write(gzip.compress(samples.astype(">f4").tobytes()))


def write(form, kind, channels, variant, path):
	samples = known(kind, channels)
	if form == "nrrd" and variant == "gzip":
		write_nrrd_gzip(samples, path)
	elif form == "nrrd":
		write_frames(path, [Frame(known(kind, channels, page))
			for page in range(PAGES if variant == "pages" else 1)])
	elif form == "pfm":
		write_pfm(samples, path, ">" if variant == "big" else "<")
	elif form == "npy":
		array = samples[0] if channels == 1 else samples
		array = np.moveaxis(array, 0, -1) if variant == "last" else array
		array = array.astype(array.dtype.newbyteorder(">" if variant == "big" else "<"))
		order = np.asfortranarray if variant == "fortran" else np.ascontiguousarray
		np.save(path, order(array))
	elif variant == "palette":
		image = Image.fromarray(samples[0] % 4, "P")
		image.putpalette([9, 8, 7, 6, 5, 4, 3, 2, 1, 200, 100, 0])
		image.save(path)
	elif form == "tif" and variant == "pages":
		pages = [picture(known(kind, channels, page)) for page in range(PAGES)]
		pages[0].save(path, save_all=True, append_images=pages[1:])
	elif form == "tif" and variant:
		picture(samples).save(path, compression=variant)
	else:
		picture(samples).save(path)


def palette_samples():
	colours = np.array([[9, 8, 7], [6, 5, 4], [3, 2, 1], [200, 100, 0]], "u1")
	return np.moveaxis(colours[known("u1", 1)[0] % 4], -1, 0)


def pages_of(form, path):
	if form == "nrrd":
		return [frame.pixels for frame in read_frames(path)]
	if form == "npy":
		array = np.load(path)
		return [array if array.ndim == 3 else array[None]]
	if form == "pfm":
		return [read_pfm(path)]
	arrays = [np.array(page) for page in ImageSequence.Iterator(Image.open(path))]
	return [a[None] if a.ndim == 2 else np.moveaxis(a, -1, 0) for a in arrays]


def check(form, kind, channels, variant, path):
	pages = pages_of(form, path)
	expect(len(pages) == (PAGES if variant == "pages" else 1), path, len(pages), "pages")
	for page, got in enumerate(pages):
		wanted = palette_samples() if variant == "palette" else known(kind, channels, page)
		if kind not in ("b1", "u1", "u2"):
			wanted = wanted.astype("f4")
		expect(got.shape == wanted.shape, path, got.shape, wanted.shape)
		if got.dtype == np.int32:	# Pillow's way to hold 16 bits
			got = got.astype("u2")
		got = got.astype("u1") * 255 if got.dtype == bool else got
		expect(got.dtype.str[1:] == wanted.dtype.str[1:], path, got.dtype, wanted.dtype)
		same = (got == wanted) | ((got != got) & (wanted != wanted))
		expect(same, path, "page", page, np.argwhere(~same)[:3], got[~same][:3],
			wanted[~same][:3])


if __name__ == "__main__":
	act = {"write": write, "check": check}[sys.argv[1]]
	for kind, path in zip(sys.argv[2::2], sys.argv[3::2]):
		form, sample, channels, *variant = kind.split("-")
		act(form, sample, int(channels), variant[0] if variant else "", path)
