"""Frames on a pipe, to NumPy and back; see fringepipe-interop(7). As a program it copies its input, frame by frame."""
import re
import sys
import numpy as np

TYPES = {"uchar": "u1", "ushort": "<u2", "float": "<f4"}
FIELDS = "type dimension sizes endian encoding kinds spacings units".split()


def read(file):
	"""The next frame: planes[channel, row, column] and a dictionary of its header; None at the end."""
	magic = file.readline()
	if magic and not magic.startswith(b"NRRD"):
		raise ValueError(magic.decode(errors="replace"))		# "FAILED: the writer of this stream failed"
	lines = iter(lambda: file.readline().decode().rstrip("\n"), "")
	head = dict(re.split(":[= ]", line, maxsplit=1) for line in lines if not line.startswith("#"))
	if not magic:
		return None
	size = [int(n) for n in head["sizes"].split()]
	kind = np.dtype(TYPES[head["type"]])
	return np.frombuffer(file.read(int(np.prod(size)) * kind.itemsize), kind).reshape(-1, size[1], size[0]), head


def write(file, planes, head):
	"""Writes planes[channel, row, column] of uint8, uint16 or float32; head["channels"] names them, as "x y z"."""
	c, h, w = planes.shape
	kind = next(name for name, code in TYPES.items() if np.dtype(code) == planes.dtype)
	lines = ["NRRD0004", f"type: {kind}", f"dimension: {2 + (c > 1)}", f"sizes: {w} {h}" + f" {c}" * (c > 1),
		"endian: little", "encoding: raw"]
	for name, none in ("spacings", " NaN"), ("units", ' ""'):
		if name in head:
			lines.append(f"{name}: " + " ".join(head[name].split()[:2]) + none * (c > 1))
	lines += [f"{key}:={value}" for key, value in head.items() if key not in FIELDS]
	file.write("\n".join(lines + ["", ""]).encode() + planes.tobytes())


if __name__ == "__main__":
	while (frame := read(sys.stdin.buffer)) is not None:
		write(sys.stdout.buffer, *frame)
