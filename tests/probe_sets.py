"""Generated capture sets with their truth, and how much of it fringeprobe finds.

	probe_sets.py make FOLDER SETS SEED	FOLDER/000, 001 ... and their truth, 000.json ...; SETS: how many, or
						numbers from 0 with commas
	probe_sets.py score FOLDER		what fringeprobe says of them; fails below the bars

A set is right where all fringe sets (images, steps, axis) and the Gray code (planes in their order, inverses, all that
can be seen, cells in a fringe) are as made; wrong where anything false is said as found; else unsure.
"""
import json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from frames import Frame, write_frames

MIN_RIGHT, MAX_WRONG = .9, .01
TWO_PERIODS = (40, 41), (35, 36), (8, 9), (4, 5), (1, 4), (1, 8), (1, 16)


def blurred(image, sigma):
	"""With a Gaussian of sigma px, the border repeated."""
	if not sigma:
		return image
	r = int(4 * sigma)
	k = np.exp(-np.arange(-r, r + 1)**2 / (2 * sigma**2))
	for axis in range(2):
		padded = np.pad(image, [(r, r) if a == axis else (0, 0) for a in range(2)], "edge")
		n = image.shape[axis]
		image = sum(w * padded.take(range(i, i + n), axis) for i, w in enumerate(k / k.sum()))
	return image


class Captures:
	"""The images of one set, as a camera sees them, in the order in which they are taken."""

	def __init__(self, rng, w, h):
		self.rng, self.images, self.fringes, self.codes = rng, [], [], []
		self.y, self.x = np.mgrid[:h, :w].astype(float)
		x, y = self.x * 320 / w, self.y * 240 / h
		self.albedo = 1 - .3 * x / 320 + .05 * np.sin(x / 23) * np.sin(y / 31)
		self.shadow = np.zeros((h, w), bool)
		self.shine = np.zeros((h, w))
		self.relief = .02 * self.y
		if rng.integers(2):	# an object with a step, a shadow, a dark, a checkered and a shining part
			ball = ((x - 170) / 80)**2 + ((y - 120) / 70)**2
			self.relief = self.relief + 14 * np.sqrt(np.maximum(0, 1 - ball)) * (ball < 1)
			self.shadow = (x > 245) & (x < 290) & (abs(y - 120) < 60) | (y < 18)
			self.albedo *= np.where((abs(x - 60) < 25) & (abs(y - 170) < 30), .25, 1)
			self.albedo *= np.where((x // 40 + y // 40) % 5 == 0, .7, 1)
			self.shine = 1.6 * np.exp(-((x - 150) / 14)**2 - ((y - 90) / 12)**2)

	def choose(self, *of):
		return of[self.rng.integers(len(of))]

	def take(self, light, kind, name, step=0, **truth):
		seen = np.where(self.shadow, 1.5 + .01 * light, blurred(light, self.blur) * (self.albedo + .9 * self.shine))
		seen = seen + self.noise * self.rng.standard_normal(seen.shape)
		self.images.append(dict(truth, kind=kind, name=name, step=step, pixels=np.clip(np.rint(seen), 0, 255).astype("u1")))

	def position(self, axis):
		"""Where each pixel looks along an axis, in px of the camera."""
		if axis not in self.at:
			at = self.x + self.relief if axis == "x" else self.y + .6 * self.relief
			self.at[axis] = at + self.rng.uniform(5, 20)
		return self.at[axis]

	def steps(self, axis, period, n):
		at, origin, sign = 2 * np.pi * self.position(axis) / period, self.choose(0, 0, 90, 180), self.choose(1, 1, -1)
		first = -1 if n == 3 and self.rng.integers(2) else 0
		for k in range(n):
			wave = .5 + .5 * np.cos(at + np.deg2rad(origin) + 2 * np.pi * (k + first) / n * sign)
			self.take(self.mean + self.peak * (wave**self.gamma - .5), "fringes", "wave_" + axis + "ab"[len(self.fringes) % 2], k,
				set=len(self.fringes))
		self.fringes.append(dict(axis=axis, steps=n, flat=False, period=period))

	def two_plus_one(self, axis, period):
		at = 2 * np.pi * self.position(axis) / period
		for k, wave in enumerate((np.sin(at), np.cos(at), 0 * at)):
			self.take(self.mean + self.peak / 2 * wave, "fringes", "wave_" + axis, k, set=len(self.fringes))
		self.fringes.append(dict(axis=axis, steps=3, flat=True, period=period))

	def gray(self, axis, width, planes, period, inverse, lsb):
		"""Cells of so many px of the camera."""
		cell = np.floor(self.position(axis) / width).astype(int) % 2**planes
		code, taken = cell ^ cell >> 1, []
		for plane in range(planes):
			bit = (code >> planes - 1 - plane & 1).astype(float)
			ok = ~self.shadow
			both = ok[:, 1:] & ok[:, :-1] if axis == "x" else ok[1:] & ok[:-1]
			edges = (np.diff(bit, axis=axis == "x") != 0)[both].any()
			contrast = np.percentile(abs(2 * blurred(bit, self.blur) - 1), 86)
			taken.append((bit, dict(code=len(self.codes), plane=plane, edges=bool(edges), contrast=float(contrast))))
		if lsb:
			taken.reverse()
		shots = [(bit, "gray", truth) for bit, truth in taken]
		if inverse == "block":
			shots += [(1 - bit, "inverse", truth) for bit, truth in taken]
		elif inverse:
			shots = [(1 - bit if k else bit, "inverse" if k else "gray", truth) for bit, truth in taken
				for k in ((0, 1) if inverse == "pairs" else (1, 0))]
		for k, (bit, kind, truth) in enumerate(shots):
			self.take(self.low + self.swing * bit, kind, "gray_" + axis if kind == "gray" or inverse != "block" else "inv_" + axis, k,
				**truth)
		self.codes.append(dict(axis=axis, planes=planes, inverses=bool(inverse), cells=period / width if period else None))


def make_set(rng, w, h):
	"""Captures and what is true of them."""
	c = Captures(rng, w, h)
	choose, c.at = c.choose, {}
	kind = choose(*["steps, gray"] * 6, "gray", "gray", "steps", "two", "two, gray", "axes, gray", "2+1, gray")
	n = choose(3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	c.swing, c.low = choose(80., 120., 160.), choose(8., 20., 40.)
	c.peak = c.swing * choose(.2, .3, .4, .6, .8, 1., 1.2, 1.5)	# from dark to bright of the fringes
	c.mean = c.low + c.swing / 2 + c.swing * choose(0, .15, .3) * choose(-1, 1)
	c.mean = min(max(c.mean, c.peak / 2 + 4), 250 - c.peak / 2)
	c.gamma, c.noise, c.blur = choose(1, 1, 2.2), choose(.5, 1, 2, 4, 8), choose(0, 0, 1, 2, 3)
	inverse, lsb = choose(None, None, "block", "pairs", "inverse first"), choose(False, False, True)
	flats, foreign = choose(0, 1, 2, 2), choose(None, None, None, "laser", "dark", "board")
	cells, planes, period = choose(.25, .5, 2 / 3, 1, 1, 1, 2, 2), rng.integers(2, 13), rng.uniform(9, 32)
	span = w + 10.
	if kind == "gray":
		planes = min(max(planes, 3), 11)
		width = max(span / 2**planes * rng.uniform(1, 1.6), 1.2)
	elif rng.integers(5) == 0:	# columns
		width = choose(1., 2.)
		planes = int(np.ceil(np.log2(span / width * 1.3)))
	else:
		width = period / cells
		if 2**planes * width < span:	# no code repeats in view: wider fringes or more planes
			if planes >= 3 and span / 2**planes * cells < 70:
				width = span / 2**planes * rng.uniform(1, 1.3)
				period = width * cells
			else:
				planes = max(int(np.ceil(np.log2(span / width))), 2)
		while planes > 2 and 2**planes * width > 16 * span:	# few planes without an edge in view
			planes -= 1
	other = choose(*TWO_PERIODS) if kind.startswith("two") else None
	for axis in "xy" if kind.startswith("axes") else choose("x", "x", "x", "y"):
		if kind.startswith("2+1"):
			c.two_plus_one(axis, period)
		elif kind != "gray":
			c.steps(axis, period, n)
		if other:
			c.steps(axis, period * other[1] / other[0], n)
		if "gray" in kind:
			c.gray(axis, width, planes, None if kind == "gray" else period, inverse, lsb)
	if rng.integers(3) == 0:	# the code first
		c.images.sort(key=lambda image: image["kind"] == "fringes")
	before, c.images = c.images, []
	flat = np.ones((h, w))
	for k in range(flats):
		c.take(flat * (c.low if k else c.low + c.swing), "black" if k else "white", "flat", k)
	c.images = before + c.images if rng.integers(2) else c.images + before
	if foreign == "laser":
		c.take(4 + 200 * np.exp(-((c.x - w / 2 - .1 * c.y - c.relief) / 2)**2), "other", "extra")
	elif foreign:
		c.take(flat * 2 if foreign == "dark" else np.where((c.x // 26 + c.y // 26) % 2 == 0, 160, 60.), "other", "extra")
	names = choose("run", "radians", "degrees", "letters", "clock", "random")
	for k, image in enumerate(c.images):
		step, clock = image["step"], 12 * 3600 + 59 * 60 + 40 + 4 * k
		angle = step / n if image["kind"] == "fringes" else None
		image["file"] = {"run": "pat%03d" % k, "letters": image["name"] + "_" + chr(97 + step),
			"radians": image["name"] + "_%r" % (step if angle is None else angle * 2 * np.pi),
			"degrees": image["name"] + "_%d" % (step if angle is None else angle * 360),
			"clock": "%02d-%02d-%02d" % (clock // 3600, clock // 60 % 60, clock % 60),
			"random": "%08x" % rng.integers(2**32)}[names] + ".nrrd"
	about = dict(kind=kind, n=int(n), swing=c.swing, low=c.low, peak=c.peak, mean=c.mean, gamma=c.gamma, noise=c.noise, blur=c.blur,
		inverse=inverse, lsb=lsb, flats=flats, foreign=foreign, names=names, period=period, other=other, width=width)
	return c, about


def make(folder, sets, seed, w=320, h=240):
	for k in sets:
		c, about = make_set(np.random.default_rng([seed, k]), w, h)
		os.makedirs("%s/%03d" % (folder, k), exist_ok=True)
		for image in c.images:
			write_frames("%s/%03d/%s" % (folder, k, image["file"]), Frame(image.pop("pixels")))
		with open("%s/%03d.json" % (folder, k), "w") as f:
			json.dump(dict(about, images=c.images, fringes=c.fringes, codes=c.codes), f, default=lambda v: v.item())


def check_fringes(truth, said):
	"""How many fringe sets are as made; what is false, and said as found."""
	made = [(s["axis"], s["steps"], s["flat"], {i["file"] for i in truth["images"] if i.get("set") == k})
		for k, s in enumerate(truth["fringes"])]
	right, false = 0, []
	for s in said["sets"]:
		claim = s["axis"], s["steps"], s["flat"] is not None, set(s["images"])
		if claim in made and (claim[2] or s["turn"] == s["steps"]):
			right += 1
		elif s["sure"] == "found":
			false.append("%d steps" % s["steps"])
		else:
			right -= 100
	return right == len(made), false


def check_codes(truth, said):
	"""The same of the Gray codes: a plane that shows nothing may be left out."""
	right, false = len(said["gray"]) == len(truth["codes"]), []
	sure = {w["word"].split()[0]: w["sure"] == "found" for w in said["words"]}
	for code in said["gray"]:
		found = sure.get("-G", sure.get("-k", False))
		made = [k for k, t in enumerate(truth["codes"]) if t["axis"] == code["axis"]]
		if not made:
			right = False
			false += ["a Gray code"] * found
			continue
		t = truth["codes"][made[0]]
		rows = {kind: {i["plane"]: i for i in truth["images"] if i.get("code") == made[0] and i["kind"] == kind}
			for kind in ("gray", "inverse")}
		names = [rows["gray"][p]["file"] for p in range(t["planes"])]
		seen = [rows["gray"][p]["file"] for p in range(t["planes"]) if rows["gray"][p]["edges"] and rows["gray"][p]["contrast"] > .75]
		order = [names.index(f) if f in names else -1 for f in code["planes"]]
		good = -1 not in order and order == sorted(order) and set(seen) <= set(code["planes"])
		if t["inverses"]:
			good = good and code["inverses"] == [rows["inverse"][p]["file"] for p in order]
		if not good:
			right = False
			false += ["the order of Gray planes"] * found
			continue
		if t["cells"]:
			# of any of the sets along the axis: --gray-of says which
			cells = (code["cells_per_period"] or 0) * 2**(t["planes"] - 1 - order[-1])
			fits = [k for k in (t["cells"] * s["period"] / truth["period"] for s in truth["fringes"] if s["axis"] == t["axis"])
				if abs(cells / k - 1) < .06]
			word = {1: "period", 2: "half"}.get(round(fits[0], 6), "column") if fits else None
			right = right and bool(fits)
			if sure.get("--gray-cell") and order[-1] == t["planes"] - 1 and (not fits or (word != "column" and code["cell"] != word)):
				false.append("the cell")
	return right, false


def score_one(folder, k):
	with open("%s/%s.json" % (folder, k)) as f:
		truth = json.load(f)
	run = subprocess.run(["fringeprobe", "--json", "%s/%s" % (folder, k)], capture_output=True, text=True)
	if run.returncode:
		return k, truth, False, False, [] if run.returncode == 1 and "no fringe images" in run.stderr else ["exit %d: %s" % (
			run.returncode, run.stderr)]
	said = json.loads(run.stdout)
	fringes, false = check_fringes(truth, said)
	codes, others = check_codes(truth, said)
	return k, truth, fringes, codes, false + others


def score(folder):
	names = sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".json"))
	with ThreadPoolExecutor(2) as pool:
		results = list(pool.map(lambda k: score_one(folder, k), names))
	n = len(results)
	for k, truth, fringes, codes, false in results:
		if not (fringes and codes) or false:
			print(k, "WRONG" if false else "unsure", "" if fringes else "fringes", "" if codes else "code", "; ".join(false),
				{key: v for key, v in truth.items() if key not in ("images", "fringes", "codes")})
	right = sum(fringes and codes and not false for _, _, fringes, codes, false in results)
	wrong = sum(bool(false) for *_, false in results)
	print("%d sets: %d right (%.1f %%), %d unsure, %d wrong and found (%.1f %%); fringe sets right in %d, codes in %d" % (n, right,
		100 * right / n, n - right - wrong, wrong, 100 * wrong / n, sum(r[2] for r in results), sum(r[3] for r in results)))
	return right >= MIN_RIGHT * n and wrong <= MAX_WRONG * n


if __name__ == "__main__":
	if sys.argv[1] == "make":
		sets = [int(k) for k in sys.argv[3].split(",") if k] if "," in sys.argv[3] else range(int(sys.argv[3]))
		make(sys.argv[2], sets, int(sys.argv[4]), *map(int, sys.argv[5:]))
	elif not score(sys.argv[2]):
		sys.exit("fewer right, or more wrong, than they should be")
