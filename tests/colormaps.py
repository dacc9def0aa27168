"""What the colour maps must be, from what others publish, for the tests of framecat and shade."""
import colorsys
import numpy as np
from frames import expect

STEPS = 780		# whole numbers of steps between the anchors of every map

# entries 0, 26, 51, ... 255 of the 256 of viridis (van der Walt and Smith 2015); tenths lie between two
VIRIDIS = [(68, 1, 84), (72, 37, 118), (65, 68, 135), (53, 95, 141), (42, 120, 142), (33, 145, 140),
	(34, 168, 132), (66, 190, 113), (122, 209, 81), (189, 223, 38), (253, 231, 37)]
# entries 16, 32, 47, 65, 81, 99, 114, 132, 150, 168, 186, 204, 222, 239 of turbo's 256 (Mikhailov
# 2019): ours leaves out the dark ends
TURBO = [(64, 64, 162), (70, 107, 227), (67, 147, 254), (38, 191, 232), (24, 223, 190), (58, 243, 142),
	(117, 254, 93), (176, 249, 55), (220, 226, 55), (248, 189, 57), (254, 142, 40), (240, 91, 18),
	(212, 51, 5), (172, 23, 1)]


def lightness(rgb):
	"""CIE L* of levels of sRGB."""
	share = np.asarray(rgb) / 255
	linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
	return 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16


def lab(rgb):
	"""CIE L*a*b* (D65) of levels of sRGB, last axis."""
	share = np.asarray(rgb) / 255
	linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
	xyz = linear @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
	f = np.cbrt(xyz / [0.9505, 1, 1.089])
	return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def value_of(table, rgb, hue=False):
	"""The share 0 to 1 whose colour comes nearest; table: colours of even steps from 0 to 1, levels;
	hue: whatever the light, by the ratios of r, g and b alone."""
	a, where = np.unique(np.asarray(table).astype(float), axis=0, return_inverse=True)
	where = where.ravel()		# of steps of one colour the middle
	share = np.bincount(where, np.arange(len(where))) / np.bincount(where) / (len(where) - 1)
	b = np.asarray(rgb).reshape(-1, 3).astype(float)
	if hue:
		a, b = (v / np.maximum(v.max(1, keepdims=True), 1) for v in (a, b))
	nearest = (b ** 2).sum(1)[:, None] - 2 * b @ a.T + (a ** 2).sum(1)
	return share[nearest.argmin(1)].reshape(np.asarray(rgb).shape[:-1])


def check_colormap(name, rgb):
	"""rgb: levels (STEPS + 1, 3) of the shares 0 to 1, in even steps."""
	rgb = np.asarray(rgb).astype(float)
	expect(rgb.shape == (STEPS + 1, 3), rgb.shape)
	last = {"gray": 1, "viridis": 10, "turbo": 13, "phase": 6, "deviation": 10}[name]
	anchors = rgb[::STEPS // last]
	for k in range(3):		# straight from anchor to anchor
		straight = np.interp(np.arange(STEPS + 1) * last / STEPS, np.arange(last + 1), anchors[:, k])
		expect(np.abs(rgb[:, k] - straight) <= 1, name, k, np.abs(rgb[:, k] - straight).max())
	if name == "gray":
		expect(anchors == [[0] * 3, [255] * 3], anchors)
	elif name == "viridis":
		expect(np.abs(anchors - VIRIDIS) <= 2, anchors - VIRIDIS)
	elif name == "turbo":
		expect(np.abs(anchors - TURBO) <= 9, anchors - TURBO)
	elif name == "deviation":	# from white in the middle both ways alike, in lightness and in chroma
		light, chroma = lab(anchors)[:, 0], np.hypot(*lab(anchors)[:, 1:].T)
		expect(np.ptp(anchors[5]) == 0 and light[5] > 94, anchors[5])
		expect(np.abs(light - light[::-1]) < 0.6, light)
		expect(np.abs(chroma - chroma[::-1]) < 1, chroma)
		expect(np.abs(np.diff(light[5:]) + 11.2) < 0.6, light)
		expect(np.abs(np.diff(chroma[5:]) - 11.6) < 0.6, chroma)
		expect((anchors[:5, 2] > anchors[:5, 0]) & (anchors[6:, 0] > anchors[6:, 2])[::-1], "blue, then red")
	else:				# once round the hues, alike in lightness, back to the first colour
		expect(anchors[0] == anchors[-1], anchors)
		hue = np.array([colorsys.rgb_to_hsv(*v)[0] for v in anchors / 255])
		turns = np.diff(hue) % 1
		expect((turns > 0.08) & (turns < 0.25), hue)
		expect(abs(turns.sum() - 1) < 1e-9, turns.sum())
		expect(np.ptp(lightness(anchors)) < 8, lightness(anchors))
		expect(np.ptp(anchors, axis=1) > 90, "pale", anchors)
