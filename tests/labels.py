"""Reads labels of pictures back: the letters of common/image/annotate.c, wherever they stand."""
import os
import re
import numpy as np

INK = 24


def glyphs():
	"""The rows of every character, (7, 5) booleans."""
	top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
	table = {}
	for rows, name in re.findall(r"\{ ((?:0x\w\w(?:, )?){7}) \},\s*/\* (.*?) \*/", open(top + "/common/image/annotate.c").read()):
		bits = [[int(v, 16) >> k & 1 for k in range(4, -1, -1)] for v in rows.split(", ")]
		table[{"space": " ", "micro sign": "\u00b5"}.get(name, name)] = np.array(bits, bool)
	return table


def draw(text, scale=1, table=glyphs()):
	"""The text as booleans, with an empty margin of `scale` pixels all around."""
	cells = [np.pad(table[letter], ((0, 0), (0, 1))) for letter in text]
	return np.pad(np.hstack(cells)[:, :-1], 1).repeat(scale, 0).repeat(scale, 1)


def find(picture, text, scale=1, upright=False):
	"""Where the text stands in levels (3, h, w): a list of the x, y of its left upper corner."""
	seen = (picture[0] == INK) & (picture[1] == INK) & (picture[2] == INK)
	want = draw(text, scale)
	if upright:
		want = np.rot90(want)
	(h, w), places = want.shape, []
	y, x = np.nonzero(want)
	v, u = np.nonzero(seen)		# ink is rare: where its first pixel may be, then the others
	v, u = v - y[0], u - x[0]
	keep = (v >= 0) & (u >= 0) & (v + h <= seen.shape[0]) & (u + w <= seen.shape[1])
	v, u = v[keep], u[keep]
	for k in range(1, len(y), max(1, len(y) // 20)):
		keep = seen[v + y[k], u + x[k]]
		v, u = v[keep], u[keep]
	for b, a in zip(v, u):
		if (seen[b:b + h, a:a + w] == want).all():
			places.append((a + scale, b + scale))
	return places
