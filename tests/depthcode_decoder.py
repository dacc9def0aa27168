"""A decoder of frames of depthenc, written from man/depthcode.5 alone, with none of our code.

   decode(planes, keys) -> depth (NaN: a hole). planes: a dict of arrays by their names.
   texture(planes, keys) -> (planes of the depth alone, texture)
"""
import numpy as np


def decode(planes, keys):
	M = 2 ** int(keys["depthcode_bits"]) - 1
	low, high = map(float, keys["depthcode_range"].split())
	luma = planes["luma"].astype(float)
	if keys["depthcode_mask"] == "track":
		G, hole = 0, planes["mask"] == 0
	else:
		G = int(keys["depthcode_guard"])
		hole = luma < G / 2
	z = np.clip((luma - G) / (M - G), 0, 1)
	if keys["depthcode_layout"] == "mwd":
		n, A = int(keys["depthcode_fringes"]), (M + 1) / 2
		r = np.arctan2(planes["chroma_u"] - A, planes["chroma_v"] - A) / (2 * np.pi)
		f = (np.floor(n * z - r + 0.5) + r) / n
		z = np.clip(f, 0, 1)
	if keys["depthcode_layout"] == "fold":
		n, c = int(keys["depthcode_fringes"]), planes["chroma_u"] / M
		folds = np.stack([(k + z if k % 2 == 0 else k + 1 - z) / n for k in range(n)])
		z = np.take_along_axis(folds, np.abs(folds - c).argmin(0)[None], 0)[0]
	return np.where(hole, np.nan, low + z * (high - low))


def texture(planes, keys):
	scale = float(keys["depthcode_texture_scale"])
	if keys.get("depthcode_texture_place") == "track":
		return {name: plane for name, plane in planes.items() if name != "texture"}, planes["texture"] * scale
	h = len(planes["luma"]) // 2
	return {name: plane[:h] for name, plane in planes.items()}, planes["luma"][h:] * scale
