"""Error bars against truth of NumPy: of every tool that uses or makes a sigma, what its results scatter by from draw to
draw over the sigma that it states (scatter), and how far their mean lies off the truth in that sigma (bias).

python3 tests/error_bars.py [--draws N] [--page FILE] [ROW ...] prints fringepipe-uncertainty(7)'s table; N is 40. Fails
where a scatter is not within 0.9 to 1.15 (by what so few values know of it), or a bias is above the row's bound, or a figure
is not that of the page."""
import argparse, builtins, io, json, os, subprocess, sys, tempfile
import numpy as np
from frames import Frame, read_frames, write_frames

os.environ["PATH"] = os.environ.get("FRINGEPIPE_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bin")) + ":" + \
	os.environ["PATH"]
LOW, HIGH = 0.9, 1.15
DRAWS = 40
ROWS = []


def row(name, bias=0.25, low=LOW, high=HIGH):
	"""A row of the table: a function that returns arrays of results, their sigmas and the truth, draws first; the largest
	bias; other limits of the scatter where the page gives a bound."""
	return lambda f: ROWS.append((name, f, bias, low, high)) or f


def tool(command, frames=None):
	"""Output of a command line, of frames to its standard input; messages are an error."""
	data = io.BytesIO()
	if frames is not None:
		write_frames(data, frames)
	done = subprocess.run(command, shell=True, input=data.getvalue(), capture_output=True)
	if done.returncode or done.stderr:
		sys.exit("%s: exit %d: %s" % (command, done.returncode, done.stderr.decode()))
	return done.stdout


def filtered(command, frames):
	return read_frames(io.BytesIO(tool(command, frames)))


def wrapped(a):
	return np.angle(np.exp(1j * np.asarray(a, float)))


def judge(value, sigma, truth):
	"""Scatter and bias in sigma, and the standard error of the scatter; NaN: no result."""
	value, sigma = np.asarray(value, float), np.asarray(sigma, float)
	n = np.isfinite(value).sum(0)
	use = n >= 0.7 * len(value)
	value, sigma, n = value[:, use], sigma[:, use], n[use]
	s = np.sqrt(np.nanmean(np.where(np.isfinite(value), sigma, np.nan) ** 2, 0))
	off = value - np.broadcast_to(truth, (len(value),) + use.shape)[:, use]
	ratio2 = np.mean(np.nanvar(off, 0, ddof=1) / s ** 2)
	bias2 = np.mean((np.nanmean(off, 0) / s) ** 2) - np.mean(ratio2 / n)
	return np.sqrt(ratio2), np.sqrt(max(bias2, 0)), 1 / np.sqrt(2 * (len(value) - 1) * use.sum())


# ---- fitshape ----

SIDE, PIXEL = 110, 0.25
X, Y = np.meshgrid(np.arange(SIDE) * PIXEL, np.arange(SIDE) * PIXEL)
MIDDLE = (SIDE - 1) / 2 * PIXEL
PLANE = 20 + 0.1 * X - 0.05 * Y
BALL = np.array([15, 12.4, 45, 30.])			# centre and radius: its nearer side
SPHERE = BALL[2] - np.sqrt(BALL[3] ** 2 - (X - BALL[0]) ** 2 - (Y - BALL[1]) ** 2)
PIPE = 45 - np.sqrt(20 ** 2 - (Y - 12.4) ** 2)		# of radius 20 along x


def depths(z, sigma, draws, seed, channel="depth"):
	rng = np.random.default_rng(seed)
	sigma = np.broadcast_to(sigma, z.shape)
	return [Frame(np.stack([z + sigma * rng.normal(size=z.shape), sigma]).astype("f4"), [channel, "sigma"])
		for _ in range(draws)]


def fits(shape, before, frames, words="--pixel %g" % PIXEL):
	"""Errors of a plane's middle and tilts, of a sphere's centre and radius, of a cylinder's radius; their stated sd."""
	value, sd = [], []
	for f in json.loads(tool(before + "fitshape -q %s --json %s" % (shape, words), frames))["results"]:
		f = f["parts"][0]
		if shape == "plane":
			n, true = np.array(f["normal"]), np.array([0.1, -0.05, -1]) / np.sqrt(1.0125)
			c = np.array(f["center"]) - [MIDDLE, MIDDLE, 20 + 0.05 * MIDDLE]
			tilt = np.degrees([np.cross(n, true)[k] for k in (0, 1)])
			value.append([c @ true, *tilt])
			sd.append([f["center_sd"]] + 2 * [f["normal_sd_deg"]])
		elif shape == "sphere":
			value.append(list(np.array(f["center"]) - BALL[:3]) + [f["radius"] - BALL[3]])
			sd.append(f["center_sd"] + [f["radius_sd"]])
		else:
			value.append([f["radius"] - 20])
			sd.append([f["radius_sd"]])
	return np.array(value), np.array(sd), 0


@row("fitshape plane")
def fit_plane(): return fits("plane", "", depths(PLANE, 0.05, 5 * DRAWS, 1))


@row("fitshape sphere", 1)			# noise along z bends a sphere by its square
def fit_sphere(): return fits("sphere", "", depths(SPHERE, 0.05, 5 * DRAWS, 2))


@row("gauss -n 11, fitshape plane")
def gauss_plane(): return fits("plane", "gauss --on depth | ", depths(PLANE, 0.05, 5 * DRAWS, 3))


@row("gauss -n 5, fitshape plane")
def gauss5_plane(): return fits("plane", "gauss -n 5 --on depth | ", depths(PLANE, 0.05, 5 * DRAWS, 4))


@row("gauss -n 11, fitshape sphere", 1)
def gauss_sphere(): return fits("sphere", "gauss --on depth | ", depths(SPHERE, 0.05, 5 * DRAWS, 5))


@row("gauss -n 11, fitshape cylinder", 4)	# the filter bends it
def gauss_pipe(): return fits("cylinder", "gauss --on depth | ", depths(PIPE, 0.05, 5 * DRAWS, 6))


@row("gauss -n 11, fitshape plane --robust")
def gauss_robust(): return fits("plane", "gauss --on depth | ", depths(PLANE, 0.05, 5 * DRAWS, 7), "--robust --pixel 0.25")


@row("gauss -n 11, fitshape plane, 40 % holes")
def gauss_holes():
	holes = np.where(np.random.default_rng(1000).random(PLANE.shape) < 0.4, np.nan, 0)
	return fits("plane", "gauss --on depth | ", depths(PLANE + holes, 0.05, 5 * DRAWS, 8))


@row("gauss -n 11, fitshape plane, strip of 80 x 12 pixels")
def gauss_strip():
	frames = depths(PLANE[49:61, 15:95], 0.05, 20 * DRAWS, 9)
	value, sd = [], []
	for f in json.loads(tool("gauss --on depth | fitshape -q plane --json --pixel 0.25", frames))["results"]:
		f = f["parts"][0]
		value.append(np.degrees(f["normal"][1] / f["normal"][2] - 0.05))	# the tilt across the strip
		sd.append(f["normal_sd_deg"])
	return np.array(value)[:, None], np.array(sd)[:, None], 0


# ---- mergexyz ----

def points(z, sigma, draws, seed, before=None):
	"""Frames x y z sigma over the pixels; noise along z."""
	frames = depths(z, sigma, draws, seed, "z")
	if before: frames = filtered(before, frames)
	return [Frame(np.stack([X, Y, f["z"], f["sigma"]]).astype("f4"), ["x", "y", "z", "sigma"], f.meta) for f in frames]


def cubes(surface, z, sigma, size, before=None, seed=11, views=1):
	"""Distances along z of the points of cubes from the surface z(x, y), by the cube."""
	seen = {}
	frames = points(z, sigma, views * DRAWS, seed, before)
	for d in range(DRAWS):
		out = filtered("mergexyz -q --grid %g" % size, frames[views * d:views * (d + 1)])[0]
		x, y, z_, s = (out[n][0].astype(float) for n in ("x", "y", "z", "sigma"))
		for k, e, own in builtins.zip(cube_of(x, y, z_, size), z_ - surface(x, y), s):
			seen.setdefault(k, ([np.nan] * DRAWS, [np.nan] * DRAWS))
			seen[k][0][d], seen[k][1][d] = e, own
	return np.array([v[0] for v in seen.values()]).T, np.array([v[1] for v in seen.values()]).T, 0


def cube_of(x, y, z, size):
	return [tuple(k) for k in np.floor(np.stack([x, y, z], 1) / size).astype(int)]


def plane(x, y): return 20 + 0.1 * x - 0.05 * y
def sphere(x, y): return BALL[2] - np.sqrt(BALL[3] ** 2 - (x - BALL[0]) ** 2 - (y - BALL[1]) ** 2)


@row("mergexyz --grid, plane", 0.5)
def grid_plane(): return cubes(plane, PLANE, 0.01, 1)


@row("mergexyz --grid, noise 0.3 of a cube", 2.5, 0.5)
def grid_noise(): return cubes(plane, PLANE, 0.3, 1)


@row("mergexyz --grid, sphere of radius 30 cubes", 1)
def grid_bend(): return cubes(sphere, SPHERE, 0.02, 1)


@row("mergexyz --grid, sphere of radius 10 cubes", 15)
def grid_bend3(): return cubes(sphere, SPHERE, 0.02, 3)


@row("gauss -n 11, mergexyz --grid")
def gauss_grid(): return cubes(plane, PLANE, 0.05, 2, "gauss --on z")


@row("gauss -n 11, mergexyz --grid of two views")
def gauss_grid2(): return cubes(plane, PLANE, 0.05, 2, "gauss --on z", views=2)


def merged(before, merge, seed, sigma=0.05):
	"""Planes fitted to clouds of two frames each."""
	frames = points(PLANE, sigma, 4 * DRAWS, seed, before)
	value, sd = [], []
	for d in range(2 * DRAWS):
		v, s, _ = fits("plane", "mergexyz -q %s | " % merge, frames[2 * d:2 * d + 2], "--along z")
		value.append(v[0])
		sd.append(s[0])
	return np.array(value), np.array(sd), 0


@row("mergexyz, fitshape plane")
def merged_plane(): return merged(None, "", 21)


@row("gauss -n 11, mergexyz, fitshape plane")
def merged_gauss(): return merged("gauss --on z", "", 22)


@row("gauss -n 11, mergexyz --grid, fitshape plane")
def merged_grid(): return merged("gauss --on z", "--grid 1", 23)


# ---- phases ----

def phases(periods, sigma, draws, seed, slope=1.7, w=160, h=48, shift=0, field=400):
	"""Phases of a plane that the projector columns slope * x + shift meet, with noise of their own."""
	rng = np.random.default_rng(seed)
	u = slope * np.arange(w) + shift + 0.05 * np.arange(h)[:, None]
	meta = {"period_px": " ".join("%.17g" % p for p in periods), "projector_px": "%d 100" % field}
	frames = []
	for _ in range(draws):
		p = [wrapped(2 * np.pi * u / t + sigma * rng.normal(size=u.shape)) for t in periods]
		frames.append(Frame(np.stack(p + [np.full_like(u, sigma)] * len(periods)).astype("f4"),
			[n + str(k + 1) for n in ("phase", "sigma") for k in range(len(periods))], meta))
	return frames, u


def disparities(before, all, sigma=0.02):
	with tempfile.TemporaryDirectory() as folder:
		right, _ = phases((60, 66), sigma, DRAWS, 32)
		left, _ = phases((60, 66), sigma, DRAWS, 31, shift=12.3 * 1.7)
		name = os.path.join(folder, "right.nrrd")
		chain = before + "unwrap2f -q " + all
		with open(name, "wb") as f: f.write(tool(chain, right))
		out = filtered("%s | phasematch -q --assume-rectified --right %s" % (chain, name), left)
	inner = np.s_[10:-10, 10:-25]
	return (np.array([f["disparity"][inner] for f in out]), np.array([f["sigma_disparity"][inner] for f in out]), -12.3)


@row("phasematch")
def match(): return disparities("", "")


@row("phasematch, two phases")
def match_all(): return disparities("", "--all")


@row("gauss -n 5, phasematch")
def match_gauss5(): return disparities("gauss -n 5 | ", "")


@row("gauss -n 11, phasematch")
def match_gauss(): return disparities("gauss | ", "")


@row("gauss -n 11, phasematch, two phases")
def match_gauss_all(): return disparities("gauss | ", "--all")


def orders(before, periods, sigma, draws=DRAWS):
	"""The share of wrong orders over the stated one."""
	frames, u = phases(periods, sigma, draws, 41, slope=2.1)
	out = filtered(before + "unwrap2f -q", frames)
	wrong = np.array([np.abs(f["absphase"] - 2 * np.pi * u / float(f.meta["period_px"])) > np.pi for f in out])
	inner = np.s_[:, 8:-8, 8:-8]
	p = np.array([f["p_order"] for f in out])
	return wrong[inner].mean() / p[inner].mean()


# ---- kalman ----

def still(words, frames=60, moves=0.):
	"""The last frames of a still scene, or of one that moves at random, against the truth; pixels are draws of one."""
	rng = np.random.default_rng(51)
	truth = np.cumsum(moves * rng.normal(size=(frames, 60, 80)), 0)
	out = filtered("kalman -q " + words, [Frame((100 + t + rng.normal(size=t.shape)).astype("f4"), ["depth"]) for t in truth])
	value = np.array([out[-1]["depth"] - 100 - truth[-1]]).reshape(DRAWS, -1)
	return value, out[-1]["sigma"].reshape(DRAWS, -1), 0


@row("kalman, still scene, 10 frames")
def kalman_short(): return still("", 10)


@row("kalman, still scene, 80 frames")
def kalman_still(): return still("", 80)


@row("kalman, scene that moves by 0.1 noise")
def kalman_slow(): return still("", 80, 0.1)


@row("kalman --motion 0.3, scene that moves")
def kalman_moves(): return still("--motion 0.3", 40, 0.3)


# ---- phasewrap --sigma of noise that it finds ----

def images(sigma, draws, seed, steps=4, camera=None, shot=0., plain=False, gamma=1, relief=0., moves=0.):
	"""Fringes of 8 bits over a texture; camera: what becomes of an image. Draws share the texture, and the phase but for
	some of `moves` rad."""
	rng = np.random.default_rng(1000)
	h, w = 96, 128
	y, x = np.mgrid[0:h, 0:w]
	phase = 2 * np.pi * x / 23.7 + 0.013 * y + 0.1 * np.sin(y / 17)
	phase = phase + relief * np.exp(-((x - 60) ** 2 + (y - 50) ** 2) / 800)
	albedo = 0.7 + 0.1 * np.sin(x / 19 + 1) + 0.1 * np.cos(y / 13)
	if plain:			# nothing changes along the fringes but where they bend
		phase, albedo = 2 * np.pi * x / 23.7 + 0.002 * y, 1
	rng = np.random.default_rng(seed)
	frames, truth = [], phase + (rng.uniform(0, moves, (draws, 1, 1)) if moves else 0)
	for phase in np.broadcast_to(truth, (draws, h, w)):
		for s in range(steps):
			I = albedo * (120 + 70 * np.cos(phase + 2 * np.pi * s / steps))
			if gamma != 1: I = 255 * (I / 255) ** gamma
			I = I + np.sqrt(sigma ** 2 + shot * I) * rng.normal(size=I.shape)
			I = camera(I) if camera else np.rint(I)
			frames.append(Frame(np.clip(np.rint(I), 0, 255).astype("u1")))
	return frames, truth


def demosaic(I):
	"""Green by bilinear interpolation of a Bayer pattern's: half of the pixels are means of four neighbours."""
	y, x = np.mgrid[0:I.shape[0], 0:I.shape[1]]
	p = np.pad(np.rint(I), 1, mode="reflect")
	mean = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4
	return np.where((x + y) % 2, I, mean)


def neighbours(own, row, column):
	"""A camera's filter: weights of the pixel, of each of the two next to it in its row, and in its column."""
	def camera(I):
		p = np.pad(np.rint(I), 1, mode="reflect")
		return own * p[1:-1, 1:-1] + row * (p[1:-1, :-2] + p[1:-1, 2:]) + column * (p[:-2, 1:-1] + p[2:, 1:-1])
	return camera


def jpeg(quality):
	def camera(I):
		from PIL import Image
		data = io.BytesIO()
		Image.fromarray(np.clip(np.rint(I), 0, 255).astype("u1")).save(data, "JPEG", quality=quality)
		return np.asarray(Image.open(data), float)
	return camera


def found(sigma, steps=4, *camera, after="", **scene):
	frames, phase = images(sigma, DRAWS, 61, steps, *camera, **scene)
	out = filtered("phasewrap -q --sigma -n %d -p 24 --order phase%s" % (steps, after), frames)
	inner = np.s_[:, 8:-8, 8:-8]
	return wrapped(np.array([f["phase"] for f in out]) - phase)[inner], np.array([f["sigma"] for f in out])[inner], 0


@row("phasewrap --sigma, found, 4 steps")
def found_plain(): return found(2., shot=0.03)


@row("phasewrap --sigma, found, 4 steps, gauss -n 11")	# independent noise has no window
def found_plain_gauss(): return found(2., shot=0.03, after=" | gauss")


@row("phasewrap --sigma, found, gamma 1.6, relief of 14 rad")
def found_gamma(): return found(2., gamma=1.6, relief=14.)


@row("phasewrap --sigma, found, demosaicked")
def found_demosaic(): return found(3., 4, demosaic)


@row("phasewrap --sigma, found, demosaicked, 8 steps")
def found_demosaic8(): return found(3., 8, demosaic)


@row("phasewrap --sigma, found, demosaicked, gauss -n 11")
def found_gauss(): return found(3., 4, demosaic, after=" | gauss")


@row("phasewrap --sigma, found, JPEG 90")
def found_jpeg90(): return found(3., 4, jpeg(90))


@row("phasewrap --sigma, found, JPEG 90, gauss -n 11")
def found_jpeg_gauss(): return found(3., 4, jpeg(90), after=" | gauss")


@row("phasewrap --sigma, found, JPEG 90, noise 4, gauss -n 11")	# shared by too little to show in pairs
def found_jpeg_gauss4(): return found(4., 4, jpeg(90), after=" | gauss")


@row("phasewrap --sigma, found, blurred along rows, gauss -n 11")	# which differences along a column do not show
def found_blurred(): return found(3., 4, neighbours(0.5, 0.25, 0), after=" | gauss")


@row("phasewrap --sigma, found, sharpened")
def found_sharp(): return found(2., 4, neighbours(2, -0.25, -0.25))


@row("phasewrap --sigma, found, sharpened, gauss -n 11", low=0.5)	# errors cancel: no window does that
def found_sharp_gauss(): return found(2., 4, neighbours(2, -0.25, -0.25), after=" | gauss")


@row("phasewrap --sigma, found, JPEG 75", 1)
def found_jpeg75(): return found(3., 4, jpeg(75))


# Rounding is the same in all draws of a still surface: here each is moved by a part of a fringe.

@row("phasewrap --sigma, found, noise 0.2 levels")
def found_low(): return found(0.2, moves=0.3)


@row("phasewrap --sigma, found, noise 0.1 levels")
def found_lowest(): return found(0.1, moves=0.3)


@row("phasewrap --sigma, found, even wall, noise 0.3 levels")
def found_wall3(): return found(0.3, plain=True, moves=0.3)


# its mean brightness of 120.0 levels rounds opposite images by opposite amounts
@row("phasewrap --sigma, found, even wall, noise 0.2 levels", high=1.25)
def found_wall(): return found(0.2, plain=True, moves=0.3)


# ---- a Gray code's edges ----

def edges(blur, texture, wave, cell=8., planes=7):
	"""A code of periods and its inverses on a surface that NumPy knows; every draw lies elsewhere in its cells, so that what an
	edge's unknown blur leaves open is scatter, too. In rad of a cell."""
	rng = np.random.default_rng(71)
	h, w = 40, 160
	y, x = np.mgrid[0:h, 0:w]
	albedo = 0.75 + texture * np.sin(x / 1.7 + y / 3) * np.cos(y / 2.3)
	# a pixel sees 1.1 px of the projector, under a Gaussian of `blur`
	u, off = np.arange(0, 300, 0.01), np.arange(-4, 4.005, 0.01)
	weight = np.convolve(np.exp(-0.5 * (off / blur) ** 2), np.ones(110), "same")
	code = np.floor(u / cell).astype(int)
	stripes = [np.convolve((code ^ code >> 1) >> bit & 1, weight / weight.sum(), "same") for bit in range(planes - 1, -1, -1)]
	value, sigma, truth = [], [], []
	for _ in range(DRAWS):
		at = 40 + rng.uniform(0, cell) + 1.1 * x + wave * np.sin(x / 29 + y / 17) + 0.07 * y
		frames = []
		for inverse in 0, 1:
			for stripe in stripes:
				I = albedo * (20 + 180 * abs(inverse - np.interp(at, u, stripe)))
				frames.append(Frame(np.clip(np.rint(I + rng.normal(0, 2, I.shape)), 0, 255).astype("u1")))
		out = filtered("phasewrap -k gray -G %d -i --gray-cell period --edges | unwrap2f -p %g --gray-offset 0" % (planes, cell), frames)[0]
		inner = np.s_[:, 16:-16]
		value.append(out["absphase"][inner]); sigma.append(out["sigma"][inner]); truth.append(2 * np.pi * (at / cell)[inner])
	return np.array(value), np.array(sigma), np.array(truth)


@row("phasewrap --edges, unwrap2f, plane")
def edges_plane(): return edges(0.5, 0., 0.)


@row("phasewrap --edges, unwrap2f, wave, texture")
def edges_wave(): return edges(0.7, 0.1, 6.)


def main():
	global DRAWS
	parse = argparse.ArgumentParser()
	parse.add_argument("--draws", type=int, default=DRAWS)
	parse.add_argument("--page", help="whose table must have these figures")
	parse.add_argument("row", nargs="*", help="rows whose names hold one of these; all if none is given")
	options = parse.parse_args()
	DRAWS, bad, page = options.draws, 0, {}
	if options.page:
		lines = [l[4:].split(" Ta ") for l in open(options.page) if l.startswith(".It ") and l.count(" Ta ") == 2]
		page = {l[0]: l[1] for l in lines if l[1].replace(".", "").isdigit()}
	for name, f, most, low, high in ROWS:
		if options.row and not any(r in name for r in options.row): continue
		scatter, bias, error = judge(*f())
		wrong = not (low - 2 * error < scatter < high + 2 * error and bias < most)
		wrong |= bool(page) and not abs(scatter - float(page.get(name, "nan"))) < 0.05 + (DRAWS < 40) * 3 * error
		bad += wrong
		print(".It %s Ta %.2f Ta %.2f%s" % (name, scatter, bias, "\t<- wanted %g to %g, bias below %g" % (low, high, most) if wrong else ""), flush=True)
	for before, sigma in ("", 0.15), ("gauss -n 11", 1.0):
		name = before + ", " * bool(before) + "unwrap2f p_order"
		if options.row and not any(r in name for r in options.row): continue
		ratio = orders(before + " | " * bool(before), (60, 66), sigma)
		bad += not LOW < ratio < HIGH
		print(".It %s Ta %.2f Ta -" % (name, ratio), flush=True)
	sys.exit(bad > 0)


if __name__ == "__main__":
	main()
