load helpers

# phase2depth --calibration-sigma: what a calibration's covariance does to points, by other formulas than its own, by
# draws from the covariance, and by many calibrations of one rig.

tools='
import json, os, subprocess
from boards import *
RIGHT = dict(CAMERA, K=(2090.0, 2091.0, 630.0, 515.0))

def rig_file(rig, name="rig.json", several=False):
	"""Calibrates a rig; its file."""
	names = ["left.nrrd", "right.nrrd", "projector.nrrd"] if several else ["left.nrrd", "projector.nrrd"]
	rig.write(*names)
	subprocess.run(["fringecal", "-q", "--board", "11x8,15", "--cameras", "left,right" if several else "left",
		"--projector", "1920x1080", "--projector-points", "projector.nrrd", *names[:-1], "-o", name],
		check=True, stdout=subprocess.DEVNULL)
	return json.load(open(name))

def bumpy(camera, w=160, h=128, bin=8):
	"""Pixels of the full frame, and the points of a bumpy surface there, in the first device, of a binned frame."""
	y, x = np.mgrid[0:h, 0:w]
	uv = np.stack([(x + 0.5) * bin - 0.5, (y + 0.5) * bin - 0.5], -1).reshape(-1, 2)
	z = 625 + 45 * np.sin(x / 23.) * np.cos(y / 17.)
	X = np.column_stack([undistort(camera, uv), np.ones(w * h)]) * z.reshape(-1, 1)
	return uv, (X - camera["T"]) @ camera["R"]

def column(projector, X, axis=0): return project(projector, X @ projector["R"].T + projector["T"])[:, axis]

def write_phase(name, code, axis=0, w=160, h=128, bin=8):
	write_frames(name, Frame((code * 2 * np.pi / 18).reshape(h, w).astype("f4"), ["absphase"],
		{"period_px": "18", "axis": "xy"[axis], "bin": str(bin)}))
'

@test "phase2depth --calibration-sigma: of each camera, axis and frame what derivatives by differences give" {
	py "$tools"'
rig = rig_file(Rig(seed=1, degrees=9, devices=[CAMERA, RIGHT, PROJECTOR]), several=True)
values, names = parameters(rig)
C = np.array(rig["covariance"])
expect(C.shape == (len(values),) * 2 and np.all(np.diag(C) > 0), C.shape)
some = np.arange(37, 160 * 128, 301)
volume = volume_points(rig)
cases = [("", "left", 0, "left"), ("--camera right", "right", 0, "left"), ("--frame projector", "left", 0, "projector"),
	("--frame right", "left", 1, "right"), ("--camera right --frame right", "right", 1, "right")]
for words, name, axis, frame in cases:
	camera, projector = (device_of(values, names, n) for n in (name, "projector"))
	uv, X = bumpy(camera)
	code = column(projector, X, axis)
	write_phase("phase.nrrd", code, axis)
	vuv = project(camera, volume @ camera["R"].T + camera["T"])
	vcode = column(projector, volume, axis)
	def by_differences(f):
		J = []
		for i in range(len(values)):
			e = np.zeros(len(values))
			e[i] = 1e-3 * np.sqrt(C[i, i])
			J.append((f(values + e) - f(values - e)) / (2 * e[i]))
		return np.stack(J, -1)
	both = np.concatenate([uv[some], vuv]), np.concatenate([code[some], vcode])
	def points(v):			# in the frame of the first device, and in the one that is asked for
		d, p, f = (device_of(v, names, n) for n in (name, "projector", frame))
		Y = triangulate(d, p, *both, axis)
		return np.concatenate([Y, Y @ f["R"].T + f["T"]])
	free, there, place, _ = np.split(by_differences(points), np.cumsum([len(some), len(volume), len(some)]))
	shape = np.stack([without_motion(volume, volume + there[..., i], X[some], X[some] + free[..., i])
		for i in range(len(values))], -1)
	for kind, J in ("shape", shape), ("place", place):
		subprocess.run(["phase2depth", "-q", "--calib", "rig.json", "--calibration-sigma", kind, *words.split(),
			"phase.nrrd", "-o", "out.nrrd"], check=True)
		out = read_frame("out.nrrd")
		expect(out.names == ["x", "y", "z", "sigma_calib"], out.names)
		ratio = out["sigma_calib"].ravel()[some] / np.sqrt(np.einsum("nki,ij,nkj->n", J, C, J))
		print(words, kind, ratio.min(), np.median(ratio), ratio.max())
		expect(abs(np.median(ratio) - 1) < 0.003 and np.abs(ratio - 1) < 0.08, words, kind, ratio.min(), ratio.max())
		expect(np.percentile(np.abs(ratio - 1), 90) < 0.03, words, kind)'
}

@test "phase2depth --calibration-sigma: 200 draws from the covariance scatter the points by that much" {
	py "$tools"'
rig = rig_file(Rig(seed=2))
values, names = parameters(rig)
camera, projector = (device_of(values, names, n) for n in ("left", "projector"))
uv, X = bumpy(camera)
code = column(projector, X)
write_phase("phase.nrrd", code)
some = np.flatnonzero((np.abs(uv - [640, 512]) < [420, 330]).all(1))[::211]
volume = volume_points(rig)
vuv, vcode = project(camera, volume), column(projector, volume)
rng = np.random.default_rng(5)
L = np.linalg.cholesky(np.array(rig["covariance"]))
seen = dict(shape=0, place=0)
for _ in range(200):
	v = values + L @ rng.normal(size=len(values))
	c, p = (device_of(v, names, n) for n in ("left", "projector"))
	Y = triangulate(c, p, np.concatenate([uv[some], vuv]), np.concatenate([code[some], vcode]))
	Y, moved = Y[:len(some)], Y[len(some):]
	seen["place"] = seen["place"] + ((Y - X[some]) ** 2).sum(1) / 200
	seen["shape"] = seen["shape"] + (without_motion(volume, moved, X[some], Y) ** 2).sum(1) / 200
for kind in seen:
	subprocess.run(["phase2depth", "-q", "--calib", "rig.json", "--calibration-sigma", kind, "phase.nrrd", "-o",
		kind + ".nrrd"], check=True)
	sigma = read_frame(kind + ".nrrd")["sigma_calib"].ravel()[some]
	ratio = sigma / np.sqrt(seen[kind])
	print(kind, sigma.min(), np.median(sigma), sigma.max(), np.sqrt(seen[kind].sum() / (sigma ** 2).sum()))
	expect(abs(np.sqrt(seen[kind].sum() / (sigma ** 2).sum()) - 1) < 0.1 and np.abs(ratio - 1) < 0.2, kind, ratio)'
}

@test "phase2depth --calibration-sigma shape: 30 calibrations of one rig, their points against its own" {
	py "$tools"'
squares, n = [], 0
for seed in range(30):
	true = Rig(seed=100 + seed)
	camera, projector = (dict(d, R=R, T=T) for d, (R, T) in zip(true.devices, true.poses))
	if seed == 0:
		uv, X = bumpy(camera)
		write_phase("phase.nrrd", column(projector, X))
		some = np.flatnonzero((np.abs(uv - [640, 512]) < [350, 270]).all(1))[::31]
	rig = rig_file(true)
	subprocess.run(["phase2depth", "-q", "--calib", "rig.json", "--calibration-sigma", "shape", "phase.nrrd", "-o",
		"out.nrrd"], check=True)
	out = read_frame("out.nrrd")
	Y = np.stack([out[c].ravel()[some] for c in "xyz"], 1).astype(float)
	c, p = (device_of(*parameters(rig), name) for name in ("left", "projector"))
	volume = volume_points(rig)
	moved = triangulate(c, p, project(camera, volume), column(projector, volume))
	rest = without_motion(volume, moved, X[some], Y)
	squares.append(((rest ** 2).sum(1) / out["sigma_calib"].ravel()[some] ** 2).mean())
ratio = np.sqrt(np.mean(squares))
print(ratio, np.median(squares))
expect(abs(ratio - 1) < 0.1, ratio, squares)'
}

@test "phase2depth --calibration-sigma: beside sigma, in crops, without points; the same bytes on any thread and level" {
	py "$tools"'
rig = rig_file(Rig(seed=1))
values, names = parameters(rig)
camera, projector = (device_of(values, names, n) for n in ("left", "projector"))
uv, X = bumpy(camera, 320, 256, 4)
code = column(projector, X).reshape(256, 320)
code[20:24, 30:50] = np.nan
code[100:110, 100:110] += 500			# far outside of where the board was
meta = {"period_px": "18", "axis": "x", "bin": "4"}
phase = (code * 2 * np.pi / 18).astype("f4")
frame = lambda p, **more: Frame(np.stack([p, p * 0 + 0.01]), ["absphase", "sigma"], dict(meta, **more))
write_frames("in.nrrd", [frame(phase), frame(phase[64:192, 80:240], origin_px="320 256")])'
	phase2depth -q -j 1 --calib rig.json --calibration-sigma shape in.nrrd -o one.nrrd
	phase2depth -q --calib rig.json in.nrrd -o without.nrrd
	py '
(whole, crop), plain = read_frames("one.nrrd"), read_frames("without.nrrd")[0]
expect(whole.names == ["x", "y", "z", "sigma", "sigma_calib"], whole.names)
for name in plain.names: expect(plain[name].view("u4") == whole[name].view("u4"), name)
expect(np.isnan(whole["sigma_calib"][20:24, 30:50]))
expect(~np.isnan(whole["x"][100:110, 100:110]) & np.isnan(whole["sigma_calib"][100:110, 100:110]))
expect(np.isnan(whole["sigma_calib"]).sum() == 80 + 100, np.isnan(whole["sigma_calib"]).sum())
a, b = whole["sigma_calib"][64:192, 80:240], crop["sigma_calib"]
expect(np.nanmax(np.abs(a / b - 1)) < 0.02, np.nanmax(np.abs(a / b - 1)))	# another grid'
	for j in 2 7; do FRINGEPIPE_BAND=1 phase2depth -q -j $j --calib rig.json --calibration-sigma shape in.nrrd | cmp - one.nrrd; done
	for level in $(cpu_levels); do
		FRINGEPIPE_CPU=$level phase2depth -q --calib rig.json --calibration-sigma shape in.nrrd | cmp - one.nrrd
	done
}

@test "phase2depth --calibration-sigma: files that cannot say it are one line" {
	py "$tools"'
rig = rig_file(Rig(seed=1, views=6))
write_phase("phase.nrrd", np.full(160 * 128, 900.0))
def without(name, *keys, **other):
	json.dump(dict({k: v for k, v in rig.items() if k not in keys}, **other), open(name, "w"))
without("plain.json", "covariance")
without("old.json", "volume")
without("cut.json", covariance=rig["covariance"][:-1])
without("bare.json", "devices")
without("behind.json", volume=dict(rig["volume"], z=[-5, 3]))'
	fails 2 "--calibration-sigma: is only for --calib" phase2depth --calibration-sigma shape --ref ideal -c 1 phase.nrrd
	fails 2 "must be one of shape place, not 'all'" phase2depth --calibration-sigma all --calib rig.json phase.nrrd
	fails 1 "plain.json: has no covariance, which --calibration-sigma needs: fringecal writes it" \
		phase2depth --calibration-sigma shape --calib plain.json phase.nrrd
	fails 1 "old.json: has no volume.u, which --calibration-sigma needs: calibrate again with this fringecal" \
		phase2depth --calibration-sigma shape --calib old.json phase.nrrd
	fails 1 "cut.json: covariance: expected 24 x 24 numbers, found 552" \
		phase2depth --calibration-sigma shape --calib cut.json phase.nrrd
	fails 1 "bare.json: has a covariance, and no camera and projector that it is of" \
		phase2depth --calibration-sigma place --calib bare.json phase.nrrd
	fails 1 "behind.json: volume.z: expected distances, found -5 3" \
		phase2depth --calibration-sigma place --calib behind.json phase.nrrd
	phase2depth -q --calib old.json phase.nrrd -o null:
}
