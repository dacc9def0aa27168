"""Reads labels of pictures back: the letters of common/image/font.c, wherever they stand."""
import os
import re
import numpy as np

INK = 24


def glyphs():
	"""The rows of every character, (7, 5) booleans."""
	top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
	table = {}
	for rows, name in re.findall(r"\{ ((?:0x\w\w(?:, )?){7}) \},\s*/\* (.*?) \*/", open(top + "/common/image/font.c").read()):
		bits = [[int(v, 16) >> k & 1 for k in range(4, -1, -1)] for v in rows.split(", ")]
		table[{"space": " ", "micro sign": "\u00b5"}.get(name, name)] = np.array(bits, bool)
	return table


def draw(text, scale=1, table=glyphs()):
	"""The text as booleans, with an empty margin of `scale` pixels all around."""
	cells = [np.pad(table[letter], ((0, 0), (0, 1))) for letter in text]
	return np.pad(np.hstack(cells)[:, :-1], 1).repeat(scale, 0).repeat(scale, 1)


def find(picture, text, scale=1, upright=False):
	"""Where the text stands in levels (3, h, w): a list of the x, y of its left upper corner."""
	seen = (picture == INK).all(0)
	want = draw(text, scale)
	if upright:
		want = np.rot90(want)
	(h, w), places = want.shape, []
	y, x = np.nonzero(want)		# its first pixels rule out most places
	here = np.ones((seen.shape[0] - h + 1, seen.shape[1] - w + 1), bool)
	for k in range(0, len(y), max(1, len(y) // 20)):
		here &= seen[y[k]:y[k] + here.shape[0], x[k]:x[k] + here.shape[1]]
	for v, u in zip(*np.nonzero(here)):
		if (seen[v:v + h, u:u + w] == want).all():
			places.append((u + scale, v + scale))
	return places
