"""The frame stream in a few lines of NumPy, for tests: an independent reader and writer."""
import builtins
import importlib.util
import sys


class LazyParts:
	"""Parts of NumPy that few tests use, imported by their first use: a quarter of the time that Python takes to start."""
	names = {"numpy." + part for part in ("ctypeslib", "fft", "ma", "polynomial", "random")}

	@classmethod
	def find_spec(cls, name, path, target=None):
		if name in cls.names:
			cls.names.remove(name)
			spec = importlib.util.find_spec(name)
			spec.loader = importlib.util.LazyLoader(spec.loader)
			return spec


sys.meta_path.insert(0, LazyParts)
import numpy as np

TYPES = {"uchar": "u1", "ushort": "<u2", "float": "<f4"}


class Frame:
	"""pixels: array (C, H, W); names: channel names; meta: dict of strings, in order."""

	def __init__(self, pixels, names=None, meta=None):
		self.pixels = pixels if pixels.ndim == 3 else pixels[None]
		self.names = names or (["image"] if len(self.pixels) == 1
			else ["image%d" % (i + 1) for i in range(len(self.pixels))])
		self.meta = dict(meta or {})

	def __getitem__(self, name):
		return self.pixels[self.names.index(name)]


def read_frames(file):
	"""All frames of a stream: a path, or a binary file object."""
	if isinstance(file, str):
		with open(file, "rb") as opened:
			return read_frames(opened)
	frames = []
	while True:
		line = file.readline()
		if not line:
			assert frames, "no frame"
			return frames
		assert line.startswith(b"NRRD000"), line
		fields, meta = {}, {}
		while (line := file.readline().decode().rstrip("\n")):
			if line.startswith("#"):
				continue
			if ":=" in line and (": " not in line or line.index(":=") < line.index(": ")):
				key, value = line.split(":=", 1)
				meta[key] = value
			else:
				key, value = line.split(": ", 1)
				fields[key] = value
		assert fields["encoding"] == "raw"
		sizes = [int(s) for s in fields["sizes"].split()]
		dtype = np.dtype(TYPES[fields["type"]])
		shape = sizes[::-1] if len(sizes) == 3 else [1] + sizes[::-1]
		data = file.read(int(np.prod(shape)) * dtype.itemsize)
		names = meta.pop("channels", "image").split()
		frames.append(Frame(np.frombuffer(data, dtype).reshape(shape), names, meta))


def read_frame(file):
	frames = read_frames(file)
	assert len(frames) == 1, "%d frames" % len(frames)
	return frames[0]


def write_frames(file, frames):
	if isinstance(file, str):
		with open(file, "wb") as opened:
			return write_frames(opened, frames)
	for frame in frames if isinstance(frames, list) else [frames]:
		p = frame.pixels
		kind = {"u1": "uchar", "u2": "ushort", "f4": "float"}[p.dtype.str[1:]]
		sizes = [p.shape[2], p.shape[1]] + ([p.shape[0]] if len(p) > 1 else [])
		head = "NRRD0004\ntype: %s\ndimension: %d\nsizes: %s\nendian: little\nencoding: raw\n" % (
			kind, len(sizes), " ".join(map(str, sizes)))
		head += "channels:=%s\n" % " ".join(frame.names)
		head += "".join("%s:=%s\n" % kv for kv in frame.meta.items())
		file.write(head.encode() + b"\n" + np.ascontiguousarray(p, TYPES[kind]).tobytes())


def ulp(x):
	"""The distance of neighbouring floats at x."""
	return np.spacing(np.abs(np.asarray(x)).astype(np.float32)).astype(float)


def expect(condition, *seen):
	"""Fails and prints what was seen, unless all of the condition is true. Nothing to look at is a failure."""
	if np.size(condition) == 0 or not np.all(condition):
		print(*(seen or ["an expectation failed"]), *(["(of nothing)"] if np.size(condition) == 0 else []))
		sys.exit(1)


def zip(*lists, strict=True):
	"""As the built-in one, but of lists of the same length: no frame is left out unseen."""
	return builtins.zip(*lists, strict=strict)
