load helpers

# The rig of tests/boards.py, as fringecal takes it; words before the last one are options.
board=(--board 11x8,15)
rig=("${board[@]}" --projector 1920x1080 --projector-points projector.nrrd)

# solve [OPTION ...]: the rig in camera.nrrd and projector.nrrd, into rig.json and report.txt.
solve() {
	fringecal "${rig[@]}" "$@" camera.nrrd -o rig.json >report.txt
}

# Python: errors(rig): errors over their stated sd, by name; rejected(json): points of all devices.
tools='
from boards import *
def errors(rig, path="rig.json"):
	value, sd, file = found(path)
	truth = rig.truth()
	return {k: (value[k] - truth[k]) / sd[k] for k in truth}
def rejected(file): return sum(d["rejected"] for d in file["devices"].values())
'

@test "fringecal: points without noise: the rig to the rounding of float tables" {
	py "$tools"'Rig(seed=1, noise=0).write("camera.nrrd", "projector.nrrd")'
	solve
	py "$tools"'
value, sd, file = found("rig.json")
truth = Rig(seed=1, noise=0).truth()
off = {k: value[k] - truth[k] for k in truth}
for k in off:
	name = k.split(".")[1]
	bar = {"f": 9.2e-5, "c": 3.9e-4, "r": 2.8e-7, "t": 7.8e-5, "p": 5.9e-8, "k1": 1.9e-6, "k2": 9.5e-5, "k3": 1.14e-3}
	expect(abs(off[k]) < bar.get(name, bar.get(name[0])), k, off[k])	# a fifth above the largest of each kind
expect(file["rms_px"] < 3e-5, file["rms_px"])	# 2.5e-5'
}

@test "fringecal: points without noise, u_low and v_low with what floats leave: 1e-11 px, angles to 5e-15" {
	for seed in 1 2 3; do
		py "$tools"'Rig(seed=int(sys.argv[1]), noise=0).write("camera.nrrd", "projector.nrrd", low=True)' $seed
		solve
		py "$tools"'
value, sd, file = found("rig.json")
truth = Rig(seed=int(sys.argv[1]), noise=0).truth()
for k in truth:
	off = abs(value[k] - truth[k])
	print(k, off)
	expect(off < {"f": 1e-11, "c": 1e-11, "r": 5e-15, "t": 2e-12, "p": 2.2e-15, "k": 3.8e-11}[k.split(".")[1][0]], k, off)' $seed
	done
	py "$tools"'
table = Rig(seed=1, noise=0).table(0, 0, low=True)
write_frames("half.nrrd", Frame(table.pixels[:6], table.names[:6], table.meta))'
	fails 1 "half.nrrd: has only one of the channels u_low and v_low" fringecal "${board[@]}" half.nrrd -o no.json
}

# CALIBRATION_SEEDS: how many rigs (make calibration); from 20 on the bars of the mean hold, and of the stated sd.
@test "fringecal: 0.05 px noise, 15 views: rms, errors within the stated sd, 3-D error in the volume" {
	: >all.json
	for ((seed = 0; seed < ${CALIBRATION_SEEDS:-3}; seed++)); do
		py "$tools"'Rig(seed=int(sys.argv[1])).write("camera.nrrd", "projector.nrrd")' $seed
		solve
		py "$tools"'
rig = Rig(seed=int(sys.argv[1]))
file, z = json.load(open("rig.json")), errors(rig)
before, after = volume_error(rig, "rig.json")
print("rms", file["rms_px"] / 2 ** 0.5, "before", before, "after", after, "largest", max(map(abs, z.values())))
# of 24 seeds, mean and three standard deviations: 0.0495 and 0.0005, 0.0091 and 0.0053, 0.24 and 0.11; 3 points; of 24
# parameters the largest is let be 4 sd off
expect(abs(file["rms_px"] / 2 ** 0.5 - 0.0495) < 0.001, file["rms_px"] / 2 ** 0.5)
expect(max(map(abs, z.values())) < 4, z)
expect(after <= 0.025 and before <= 0.58, before, after)
expect(rejected(file) <= 8, rejected(file))
print(json.dumps([file["rms_px"] / 2 ** 0.5, before, after, z]), file=open("all.json", "a"))' $seed
	done
	py "$tools"'
seen = [json.loads(line) for line in open("all.json")]
rms, before, after = np.mean([s[:3] for s in seen], 0)
z = np.array([list(s[3].values()) for s in seen])
pooled, each = np.sqrt((z ** 2).mean()), np.sqrt((z ** 2).mean(0))
print(len(seen), "seeds: rms", rms, "before", before, "after", after, "errors over sd", pooled, each.min(), each.max())
expect(abs(rms - 0.0495) < min(0.001, 0.0015 / len(seen) ** 0.5), rms)
expect(before <= 0.35 and after <= 0.012, before, after)
if len(seen) >= 20:
	expect(0.9 <= pooled <= 1.1, pooled)
	expect((0.52 <= each) & (each <= 1.48), each)	# of 20'
}

@test "fringecal --weights equal --reject 0: the figures of OpenCV and of mrcal from the same points" {
	py "$tools"'Rig(seed=0).write("camera.nrrd", "projector.nrrd")'
	solve --weights equal --reject 0
	py "$tools"'
value = found("rig.json")[0]
rows = [line.split() for line in open(sys.argv[1]) if line[0] != "#"]
for c, peer in ((1, "OpenCV"), (2, "mrcal")):
	figures = {r[0]: float(r[c]) for r in rows}
	expect(figures.keys() == value.keys(), figures.keys())
	for k in figures:
		if k.split(".")[1] in ("fx", "fy", "cx", "cy"):
			expect(abs(value[k] - figures[k]) < {"OpenCV": 7.8e-9, "mrcal": 5.6e-7}[peer], peer, k, value[k], figures[k])
	baseline = [np.linalg.norm([v["projector.t" + a] for a in "xyz"]) for v in (value, figures)]
	expect(abs(baseline[0] - baseline[1]) < 1.5e-9, peer, baseline)
	expect(abs(value["projector.k1"] - figures["projector.k1"]) < 6e-9, peer)' "$top/tests/fringecal_peers.txt"
}

@test "fringecal: points rougher than their sigma, some pictures more than others: found, and the stated sd hold" {
	: >all.json
	for ((seed = 0; seed < ${CALIBRATION_SEEDS:-2}; seed++)); do
		py "$tools"'
seed = int(sys.argv[1])
rig, rng = Rig(seed=seed, noise=0), np.random.default_rng(seed)
for device, name in enumerate(["camera.nrrd", "projector.nrrd"]):
	tables = []
	for k in range(15):
		t = rig.table(device, k)
		t.pixels = t.pixels.astype("f8")
		t.pixels[2] = rng.uniform(0.01, 0.06, t.pixels[2].shape)
		rough = 0.2 if k in (3, 8, 11) and device == 0 else 0.1
		t.pixels[:2] += rng.normal(0, np.hypot(t.pixels[2], rough), t.pixels[:2].shape)
		t.pixels = t.pixels.astype("f4")
		tables.append(t)
	write_frames(name, tables)' $seed
		solve
		py "$tools"'
file, z = json.load(open("rig.json")), errors(Rig(seed=int(sys.argv[1])))
of_views = []
for v in file["views"]:
	rough = 0.2 if v["pose"] in (4, 9, 12) and v["device"] == "camera" else 0.1
	of_views.append(v["excess_px"] / rough)
# of 10 seeds: 1.020 with a sd of 0.0116, and of a view 0.092; the devices 0.1135, 0.0025, and 0.0983, 0.0019 px
expect(abs(np.array(of_views) - 1) < 0.25, of_views)
expect(abs(np.mean(of_views) - 1.02) < 0.035, np.mean(of_views))
for name, excess, sd, over in ("camera", 0.1135, 0.0025, 4.875), ("projector", 0.0983, 0.0019, 4.112):
	d = file["devices"][name]
	expect(abs(d["excess_px"] - excess) < 3 * sd and abs(d["rms_over_sigma"] - over) < 0.39, d["excess_px"], d["rms_over_sigma"])
expect(max(map(abs, z.values())) < 4, z)
print(json.dumps([*z.values()]), file=open("all.json", "a"))' $seed
	done
	py "$tools"'
z = np.array([json.loads(line) for line in open("all.json")])
pooled = np.sqrt((z ** 2).mean())
print(len(z), "seeds: errors over sd", pooled)
if len(z) >= 20:
	expect(0.9 <= pooled <= 1.1, pooled)'
}

@test "fringecal: 10 % of wrong points are left out, and none of the others" {
	py "$tools"'
rig, rng = Rig(seed=1), np.random.default_rng(7)
wrong = 0
for points, device in zip(rig.points, rig.devices):
	for p in points:
		bad = rng.random(len(p)) < 0.1
		angle, far = rng.uniform(0, 2 * np.pi, bad.sum()), rng.uniform(5, 50, bad.sum())
		inward = np.sign(np.array(device["size"]) / 2 - p[bad])
		p[bad] += inward * np.abs(np.stack([far * np.cos(angle), far * np.sin(angle)], 1))
		wrong += bad.sum()
rig.write("camera.nrrd", "projector.nrrd")
print(wrong)' >wrong.txt
	solve 2>messages
	has "views lose more than a tenth of their points" <messages
	[ "$(wc -l <messages)" -eq 1 ]
	py "$tools"'
wrong, file = int(open("wrong.txt").read()), json.load(open("rig.json"))
expect(wrong <= rejected(file) <= wrong + 8, wrong, rejected(file))	# 1 of them, 3 of rigs without wrong ones
z = errors(Rig(seed=1))
expect(max(map(abs, z.values())) < 4, z)'
}

@test "fringecal: one wrong view of 15 changes nothing by more than 0.3 sd, and is named" {
	py "$tools"'Rig(seed=2).write("camera.nrrd", "projector.nrrd")'
	solve
	cp rig.json right.json
	for shift in 2,0 0,2 -1.4,1.4; do
		py "$tools"'
rig = Rig(seed=2)
rig.points[0][6] += [float(v) for v in sys.argv[1].split(",")]
rig.write("camera.nrrd", "projector.nrrd")' $shift
		solve 2>messages
		has "pose 7 of camera the most, 88 of 88" <messages
		has "view 7 of [a-z]* does not fit the others: its rms is [0-9.]* px, [0-9]* MAD above the median" <messages
		py "$tools"'
value, sd, file = found("rig.json")
right = found("right.json")[0]
z = {k: (value[k] - right[k]) / sd[k] for k in value}
expect(max(map(abs, z.values())) < 0.3, z)	# 0.24'
	done
}

@test "fringecal --warp: a board bent by 0.2 mm in the middle, and what it does without" {
	py "$tools"'Rig(seed=5, bend=0.2).write("camera.nrrd", "projector.nrrd")'
	solve
	cp rig.json flat.json
	solve --warp
	has '^board\.bend_x ' <report.txt
	py "$tools"'
rig, flat = json.load(open("rig.json")), json.load(open("flat.json"))
bend, sd = rig["board"]["bend"], rig["board"]["bend_sd"]
expect(abs(sum(bend) - 0.2) < 3 * np.hypot(*sd), bend, sd)
expect(abs(bend[0] - 0.12) < 3 * sd[0], bend, sd)
expect(flat["rms_px"] > 1.2 * rig["rms_px"], flat["rms_px"], rig["rms_px"])	# 1.244
right, wrong = (volume_error(Rig(seed=5), name)[1] for name in ("rig.json", "flat.json"))
expect(right < 0.025 and wrong > 0.073, right, wrong)	# 0.006, as of other seeds to 0.025; 0.088'
}

# Python: three devices, and tables whose corners are numbered from another corner of the board.
several='
RIGHT = dict(CAMERA, K=(2080.0, 2085.0, 630.0, 515.0), dist=(-0.05, 0.08, 0.0002, 0.0003, 0.01))
def check(rig, names, path="rig.json"):
	value, sd, file = found(path)
	for device, name, (R, T) in zip(rig.devices, names, rig.poses):
		truth = dict(zip(["fx", "fy", "cx", "cy"], device["K"]))
		truth.update(zip(["k1", "k2", "p1", "p2", "k3"], device["dist"]))
		truth.update(zip(["rx", "ry", "rz", "tx", "ty", "tz"], [*vector(R), *T]))
		for k in truth:
			if name + "." + k in sd:
				z = (value[name + "." + k] - truth[k]) / sd[name + "." + k]
				expect(abs(z) < 4, name, k, z)
	return file
def empty(table):
	table.pixels = np.full((5, 1, 1), np.nan, "f4")
	table.meta["points"] = "0"
	return table
'

@test "fringecal: two cameras and a projector in one solve, under the names of all tools" {
	py "$tools$several"'Rig(seed=1, degrees=8, devices=[CAMERA, RIGHT, PROJECTOR]).write("camera.nrrd", "right.nrrd",
	"projector.nrrd")'
	fringecal "${rig[@]}" --cameras left,right camera.nrrd right.nrrd -o rig.json >report.txt
	py "$tools$several"'
rig = Rig(seed=1, degrees=8, devices=[CAMERA, RIGHT, PROJECTOR])
file = check(rig, ["left", "right", "projector"])
d = file["devices"]
expect([d[k]["kind"] for k in d] == ["camera", "camera", "projector"], d.keys())
for name, key, size in (("left", "camera", "camera_size"), ("projector", "projector", "projector_size")):
	expect(file[key + "_K"] == d[name]["K"] and file[key + "_dist"] == d[name]["dist"] and file[size] == d[name]["size"], key)
expect(file["K1"] == d["left"]["K"] and file["K2"] == d["right"]["K"] and file["d2"] == d["right"]["dist"], "pair")
for name, R, T in (("projector", "R_cam_to_proj", "T_cam_to_proj_mm"), ("right", "R", "T")):
	expect(np.abs(np.subtract(np.array(d[name]["R"]).T, file[R])).max() == 0, name)
	expect(np.abs(np.subtract(-np.array(d[name]["R"]).T @ d[name]["T_mm"], file[T])).max() < 3e-14, name)
expect(file["unit"] == "mm" and file["frame"] == "left" and file["image_size"] == [1280, 1024], file["unit"])
n = len(file["parameters"])
expect(np.array(file["covariance"]).shape == (n, n) and n == 3 * 9 + 12, n)
for i, name in enumerate(file["parameters"]):
	device, key = name.split(".")
	expect(np.isclose(file["covariance"][i][i] ** 0.5, d[device]["sd"][key], rtol=1e-6), name)
expect(len(file["views"]) == 45 and file["views"][16]["device"] == "right" and file["views"][16]["pose"] == 2, "views")'
	fringecal "${rig[@]}" --cameras left,right --frame projector camera.nrrd right.nrrd -o turned.json >report.txt
	py "$tools"'
a, b = (json.load(open(p)) for p in ("rig.json", "turned.json"))
P = a["devices"]["projector"]
for name in a["devices"]:
	A, B = a["devices"][name], b["devices"][name]
	R = np.array(P["R"]).T
	expect(np.abs(np.subtract(R @ A["R"], B["R"])).max() == 0, name)
	expect(np.abs(np.subtract(R @ (np.array(A["T_mm"]) - P["T_mm"]), B["T_mm"])).max() < 6e-14, name, B["T_mm"])
expect(b["frame"] == "projector" and a["R_cam_to_proj"] == b["R_cam_to_proj"], b["frame"])'
}

@test "fringecal: cameras that share views in a chain; one that shares none is an error" {
	py "$tools$several"'
rig = Rig(seed=4, degrees=8, views=20, devices=[CAMERA, RIGHT, CAMERA])
write_frames("a.nrrd", [rig.table(0, k) if k < 12 else empty(rig.table(0, k)) for k in range(20)])
write_frames("b.nrrd", [rig.table(1, k) for k in range(20)])
write_frames("c.nrrd", [rig.table(2, k) if k >= 12 else empty(rig.table(2, k)) for k in range(20)])
write_frames("d.nrrd", [rig.table(1, k) if k < 12 else empty(rig.table(1, k)) for k in range(20)])'
	fringecal "${board[@]}" --cameras one,two,three a.nrrd b.nrrd c.nrrd -o rig.json >report.txt
	py "$tools$several"'check(Rig(seed=4, degrees=8, views=20, devices=[CAMERA, RIGHT, CAMERA]), ["one", "two", "three"])'
	fails 1 "three: shares no pose of the board with one" \
		fringecal "${board[@]}" --cameras one,two,three a.nrrd d.nrrd c.nrrd -o no.json
	[ ! -e no.json ]
}

@test "fringecal: symmetric boards: the numbering of the second camera is found, or an error says that two are equal" {
	for case in 11x7,2 8x8,4; do
		py "$tools$several"'
w, h, turns = map(int, sys.argv[1].replace("x", ",").split(","))
rig, rng = Rig(seed=2, degrees=12, devices=[CAMERA, RIGHT], board=(w, h)), np.random.default_rng(0)
tables = []
for k in range(15):
	table = rig.table(1, k)
	table.pixels = table.pixels.copy()
	i, j = table.pixels[3].copy(), table.pixels[4].copy()
	turn = rng.integers(turns) * 4 // turns
	table.pixels[3], table.pixels[4] = [(i, j), (h - 1 - j, i), (w - 1 - i, h - 1 - j), (j, w - 1 - i)][turn]
	tables.append(table)
rig.write("left.nrrd")
write_frames("right.nrrd", tables)' $case
		fringecal --board "${case%,*},15" --cameras left,right left.nrrd right.nrrd -o rig.json >report.txt
		py "$tools$several"'
w, h = map(int, sys.argv[1].split(",")[0].split("x"))
check(Rig(seed=2, degrees=12, devices=[CAMERA, RIGHT], board=(w, h)), ["left", "right"])' $case
	done
	py "$tools$several"'
rig = Rig(seed=2, views=3, degrees=12, devices=[CAMERA, RIGHT], board=(11, 7))
for k in (1, 2):
	for points in rig.points:
		points[k] = points[0] + [k, 0]
rig.write("left.nrrd", "right.nrrd")'
	fails 1 "right: the board is symmetric, and two ways to number its corners fit left equally well" \
		fringecal --board 11x7,15 --cameras left,right left.nrrd right.nrrd -o no.json
}

@test "fringecal: one camera, its lens models, what --fix holds, equal weights, a board of unknown spacing" {
	py "$tools"'Rig(seed=3).write("camera.nrrd")'
	for model in pinhole:0 opencv4:4 opencv5:5 opencv8:8; do
		fringecal "${board[@]}" --model ${model%:*} camera.nrrd -o rig.json >report.txt 2>messages
		py "$tools"'
file, n = json.load(open("rig.json")), int(sys.argv[1])
d = file["devices"]["camera"]
expect(len([k for k in d["sd"] if k[0] in "kp"]) == n and len(d["dist"]) == max(n, 4), d["dist"])
expect("projector_K" not in file and "K1" not in file, list(file))
# 0.05 sqrt 2 px less what 90 numbers of poses and 9 of the camera take, three standard errors; a pinhole 0.159
expect(abs(file["rms_px"] - 0.0694) < 0.0029 if n else file["rms_px"] > 0.133, file["rms_px"])
if n:
	expect(abs(d["K"][0][0] - 2100) < 3 * d["sd"]["fx"], d["K"], d["sd"])' ${model#*:}
	done
	has "these points do not tell camera.k1.* apart" <messages
	fringecal "${board[@]}" --fix camera.center,aspect,tangential,k3 camera.nrrd -o rig.json >report.txt
	py "$tools"'
d = json.load(open("rig.json"))["devices"]["camera"]
expect(d["K"][0][0] == d["K"][1][1] and d["K"][0][2] == 639.5 and d["K"][1][2] == 511.5, d["K"])
expect(d["dist"][2:] == [0, 0, 0] and d["dist"][0] != 0, d["dist"])
expect(d["sd"]["cx"] == 0 and d["sd"]["k3"] == 0 and d["sd"]["fx"] == d["sd"]["fy"] > 0, d["sd"])'
	# asymmetric circles, numbered as OpenCV does
	py "$tools"'
rng, tables = np.random.default_rng(3), []
j, i = np.mgrid[0:11, 0:4].reshape(2, -1)
X = np.stack([(2 * i + j % 2) * 15.0 - 52, j * 15.0 - 75, 0.0 * i], 1)
for k in range(15):
	place = [rng.uniform(-50, 50), rng.uniform(-30, 30), rng.uniform(550, 680)]
	p = project(CAMERA, X @ rotation(rng.uniform(-0.4, 0.4, 3)).T + place) + rng.normal(0, 0.05, (44, 2))
	tables.append(Frame(np.stack([*p.T, i, j]).astype("f4")[:, None], ["u", "v", "i", "j"],
		{"points": "44", "image_size_px": "1280 1024"}))
write_frames("circles.nrrd", tables)'
	fringecal --board 4x11,15 --kind acircles circles.nrrd -o rig.json >report.txt
	py "$tools"'
d = json.load(open("rig.json"))["devices"]["camera"]
expect(abs(d["K"][0][0] - 2100) < 3 * d["sd"]["fx"] < 4.2 and abs(d["rms_px"] - 0.068) < 0.0041, d["K"], d["rms_px"])'
	fringecal --board 11x8 camera.nrrd -o rig.json >report.txt 2>messages
	has "has no spacing: lengths are in spacings of the board" <messages
	py "$tools"'
file = json.load(open("rig.json"))
expect(file["unit"] == "board" and "T" in file["devices"]["camera"], file["unit"])'
	# sigma says which points count: one view has ten times the noise and says so
	py "$tools"'
rig = Rig(seed=3)
rig.points[0][4] += rig.rng.normal(0, 0.5, rig.points[0][4].shape)
write_frames("camera.nrrd", [rig.table(0, k, 0.5025 if k == 4 else 0.05) for k in range(15)])'
	fringecal "${board[@]}" camera.nrrd -o rig.json >report.txt
	fringecal "${board[@]}" --weights equal --reject 0 camera.nrrd -o equal.json >report.txt
	py "$tools"'
a, b = (json.load(open(p))["devices"]["camera"] for p in ("rig.json", "equal.json"))
expect(a["rejected"] <= 6 and b["rejected"] == 0, a["rejected"])	# 2: three standard errors of a count
expect(abs(a["rms_over_sigma"] - 0.981) < 0.042, a["rms_over_sigma"])
expect(b["sd"]["fx"] > 2.15 * a["sd"]["fx"], a["sd"], b["sd"])	# 2.58'
}

@test "fringecal --diameter: centres of ellipses, by the conic of a pinhole, to those of circles" {
	# the centre of the ellipse is the last column of H Q H^T, Q = r^2 diag(1, 1, 0) - c c^T, H = K (r1 r2 T)
	py "$tools"'
rng, camera, projector = np.random.default_rng(3), [], []
j, i = np.mgrid[0:7, 0:7].reshape(2, -1)
K = lambda d: np.array([[d["K"][0], 0, d["K"][2]], [0, d["K"][1], d["K"][3]], [0, 0, 1]])
side, away = rotation([0.01, 0.3, 0.02]), np.array([-200.0, 5, 30])
for k in range(12):
	axis, tilt = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 0.6)
	R = rotation([tilt * np.cos(axis), tilt * np.sin(axis), 0]) @ rotation([0, 0, rng.uniform(-0.3, 0.3)])
	T = np.array([rng.uniform(-40, 40), rng.uniform(-30, 30), rng.uniform(700, 800)]) - R @ [112.5, 112.5, 0]
	H = K(CAMERA) @ np.column_stack([R[:, :2], T])
	uv, shown = [], []
	for x, y in zip(37.5 * i, 37.5 * j):
		c = np.array([x, y, 1])
		e = H @ (9.375 ** 2 * np.diag([1, 1, 0]) - np.outer(c, c)) @ H.T[:, 2]
		at = np.linalg.solve(H, e)
		X = R[:, :2] @ (at[:2] / at[2]) + T
		p = K(PROJECTOR) @ (side @ X + away)
		uv.append(e[:2] / e[2])
		shown.append(p[:2] / p[2])
	for tables, points, size in (camera, uv, "1280 1024"), (projector, shown, "1920 1080"):
		tables.append(Frame(np.stack([*np.array(points).T, i, j]).astype("f4")[:, None], ["u", "v", "i", "j"],
			{"points": "49", "image_size_px": size, "board_kind": "circles", "board_size": "7 7", "board_spacing_mm": "37.5"}))
write_frames("circles.nrrd", camera)
write_frames("shown.nrrd", projector)'
	circles=(fringecal --model pinhole --projector 1920x1080 --projector-points shown.nrrd circles.nrrd)
	"${circles[@]}" --diameter 18.75 -o rig.json >report.txt 2>messages
	[ ! -s messages ]
	"${circles[@]}" -o points.json >report.txt 2>messages
	has "the circles are taken for points" <messages
	py "$tools"'
file, d = json.load(open("rig.json")), [json.load(open(p))["devices"] for p in ("rig.json", "points.json")]
for name, device in ("camera", CAMERA), ("projector", PROJECTOR):
	off = [np.abs(np.array(f[name]["K"])[[0, 1, 0, 1], [0, 1, 2, 2]] - device["K"]).max() for f in d]
	expect(off[0] < 2.7e-4 and off[1] > 0.265, name, off)	# 2.2e-4, what floats leave; 0.32, 0.36
	expect(d[0][name]["rms_px"] < 3.6e-5, name, d[0][name]["rms_px"])
expect(file["board"]["diameter"] == 18.75, file["board"])
place = np.array(d[0]["projector"]["R"]).T @ d[0]["projector"]["T_mm"]
expect(np.abs(-place - [-200, 5, 30]).max() < 8.5e-5, place)	# 7.0e-5'
	fails 2 "--diameter: circles of 40 mm would touch: their neighbours are 37.5 mm apart" "${circles[@]}" --diameter 40
	fails 2 "--diameter: is for circles, and the board is a chessboard" fringecal --board 7x7,37.5 --diameter 9 \
		<(py "$tools"'Rig(board=(7, 7)).write("/dev/stdout")')
}

@test "fringecal: tables of boardfind say board and picture; rows without a corner, views without a board" {
	py "$tools$several"'
rig = Rig(seed=0)
tables = [rig.table(0, k) for k in range(15)]
tables[3] = empty(tables[3])
for t in tables:
	t.meta.update(board_kind="chess", board_size="11 8", board_spacing_mm="15")
tables[5].pixels = tables[5].pixels.copy()
tables[5].pixels[:2, 0, :40] = np.nan
write_frames("camera.nrrd", tables)
for k in (0, 1, 2, 4):
	write_frames("pose%d.nrrd" % k, tables[k])'
	fringecal camera.nrrd -o rig.json >report.txt
	py "$tools"'
file = json.load(open("rig.json"))
expect([v["points"] for v in file["views"]] == [88] * 4 + [48] + [88] * 9, file["views"])
expect(file["views"][3]["pose"] == 5 and file["unit"] == "mm", file["views"][3])
expect(abs(file["devices"]["camera"]["K"][0][0] - 2100) < 3 * file["devices"]["camera"]["sd"]["fx"], file["devices"]["camera"])'
	fringecal <camera.nrrd -o piped.json >report.txt
	cmp rig.json piped.json
	fringecal pose0.nrrd pose1.nrrd pose2.nrrd pose4.nrrd >report.txt
	[ "$(grep -c '^[1-4] .*camera .*88' report.txt)" -eq 4 ]
	fails 1 "pose 1 is of a board of 11x8 corners, not 10x8" fringecal --board 10x8,15 camera.nrrd
	fails 1 "pose 1 is of a board of chess, not circles" fringecal --board 11x8,15 --kind circles camera.nrrd
	# centimetres for millimetres: --board counts, with a line; a spacing that tables do not have is none in mm
	fringecal --board 11x8,1.5 camera.nrrd -o rig.json 2>messages >report.txt
	has "camera.nrrd: is of a board with a spacing of 15 mm: the 1.5 mm of --board are taken" <messages
	[ "$(grep -c . messages)" -eq 1 ]
	fringecal --board 11x8 camera.nrrd -o named.json >report.txt 2>messages
	fringecal --board 11x8,15 camera.nrrd -o known.json >report.txt 2>>messages
	[ ! -s messages ]
	py "$tools"'
def spacing(path):
	file = json.load(open(path))
	return file["unit"], file["board"]["spacing"]
expect(spacing("rig.json") == ("mm", 1.5), spacing("rig.json"))
expect(spacing("named.json") == spacing("known.json") == ("mm", 15), spacing("named.json"))
tables = read_frames("camera.nrrd")
for k, t in enumerate(tables):
	t.meta["board_spacing_mm"] = "14" if k == 7 else "15"
write_frames("mixed.nrrd", tables)
for t in tables:
	del t.meta["board_spacing_mm"]
	t.meta["length_unit"] = "board"
write_frames("bare.nrrd", tables)'
	fails 1 "mixed.nrrd: pose 8 is of a board with a spacing of 14 mm, and others of 15 mm" fringecal mixed.nrrd -o no.json
	[ ! -e no.json ]
	fringecal bare.nrrd -o bare.json 2>messages >report.txt
	has "has no spacing: lengths are in spacings of the board, not in mm" <messages
	py "$tools"'
file = json.load(open("bare.json"))
expect(file["unit"] == "board" and file["board"]["spacing"] == 1 and "T_mm" not in file["devices"]["camera"], file["unit"])'
	fails 2 "camera.nrrd: has the corners of 15 poses, and there are other files" fringecal camera.nrrd pose0.nrrd
	py "$tools"'
t = read_frames("pose0.nrrd")[0]
t.meta["image_size_px"] = "1281 1024"
write_frames("other.nrrd", t)'
	fails 1 "is of a picture of 1281x1024, and camera has 1280x1024" fringecal pose0.nrrd other.nrrd
}

@test "fringecal: the file into fringesim and phase2depth: a sphere of 20 mm, by each camera, in each frame" {
	py "$tools$several"'Rig(seed=1, degrees=8, devices=[CAMERA, RIGHT, PROJECTOR]).write("camera.nrrd", "right.nrrd",
	"projector.nrrd")'
	fringecal "${rig[@]}" --cameras left,right camera.nrrd right.nrrd -o rig.json >report.txt
	local crop=(-s 500x500 --origin 390,262)	# with the key origin_px, which phase2depth reads
	fringesim --calib rig.json "${crop[@]}" --scene sphere --radius 20 --height 20 -p 18 -n 9 -g period |
		fringepipe phasewrap , unwrap2f -o phase.nrrd
	phase2depth --calib rig.json phase.nrrd -o seen_left.nrrd
	phase2depth --calib rig.json --camera left --frame left phase.nrrd -o same.nrrd
	phase2depth --calib rig.json --frame projector phase.nrrd -o seen_projected.nrrd
	fringesim --calib rig.json --camera right "${crop[@]}" --scene sphere --radius 20 --height 20 -p 18 -n 9 -g period \
		--truth truth.nrrd |
		fringepipe phasewrap , unwrap2f , phase2depth --calib rig.json --camera right -o seen_right.nrrd
	py "$tools"'
def sphere(X):
	"""centre and radius of the points that stand 2 mm and more above the plane of the others"""
	flat = X[::37]
	for _ in range(20):
		n = np.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][2]
		flat = X[np.abs((X - flat.mean(0)) @ n) < 0.5]
		flat = flat[::max(1, len(flat) // 3000)]
	off = (X - flat.mean(0)) @ n
	Y = all = X[np.abs(off) > 2]
	for limit in (9, 3, 1, 0.3, 0.3, 0.3):	# pixels on the edge see something between
		A = np.column_stack([2 * (Y - Y.mean(0)), np.ones(len(Y))])
		c = np.linalg.lstsq(A, ((Y - Y.mean(0)) ** 2).sum(1), rcond=None)[0]
		radius = np.sqrt(c[3] + c[:3] @ c[:3])
		centre, n = Y.mean(0) + c[:3], len(Y)
		Y = all[np.abs(np.linalg.norm(all - centre, axis=1) - radius) < limit]
	return centre, radius, n
def points(name):
	X = np.stack([read_frame(name)[c] for c in "xyz"], -1).reshape(-1, 3).astype(float)
	return X[~np.isnan(X[:, 0])]
file = json.load(open("rig.json"))["devices"]
seen = {}
for name in ("left", "right", "projected"):
	seen[name] = sphere(points("seen_" + name + ".nrrd"))
	print(name, *seen[name])
	expect(abs(seen[name][1] - 20) < 1.7e-4, name, seen[name])	# 1.4e-4
	expect(seen[name][2] > 14700, seen[name][2])	# 14950, 14763
expect((read_frame("seen_left.nrrd").pixels.view("u4") == read_frame("same.nrrd").pixels.view("u4")), "--camera left --frame left")
P = file["projector"]
there = np.array(P["R"]).T @ (seen["left"][0] - P["T_mm"])
expect(np.abs(there - seen["projected"][0]).max() < 1.3e-7, there, seen["projected"][0])	# 1.1e-7
a, b = read_frame("seen_right.nrrd"), read_frame("truth.nrrd")
off = np.stack([a[c] - b[c] for c in "xyz"])
far = np.abs(off).max(0)
expect(np.nanmedian(far) < 0.0064, np.nanmedian(far))'
	fails 1 "rig.json: has no device middle; its devices: left, right, projector" \
		phase2depth --calib rig.json --camera middle phase.nrrd -o no.nrrd
	fails 1 "rig.json: projector is a projector" phase2depth --calib rig.json --camera projector phase.nrrd -o no.nrrd
	fails 1 "has no device above" phase2depth --calib rig.json --frame above phase.nrrd -o no.nrrd
	fails 1 "has no device middle" fringesim --calib rig.json --camera middle -o no.nrrd
	fails 2 "--camera: is only for --calib" phase2depth --camera left --ref ideal -c 1 phase.nrrd -o no.nrrd
	fails 2 "--camera: is only for --calib" fringesim --camera left -o no.nrrd
	fails 2 "--as-projector: does not go with --camera" phase2depth --calib rig.json --camera left --as-projector phase.nrrd -o no.nrrd
	# two cameras alone are no rig for phase2depth
	fringecal "${board[@]}" --cameras left,right camera.nrrd right.nrrd -o pair.json >report.txt
	fails 1 "is of two cameras" phase2depth --calib pair.json phase.nrrd -o no.nrrd
	fails 1 "has no device of kind projector" phase2depth --calib pair.json --camera right phase.nrrd -o no.nrrd
}

@test "fringecal --models: camera models of mrcal, which the tools read as the file of the same rig" {
	py "$tools$several"'Rig(seed=1, degrees=8, devices=[CAMERA, RIGHT, PROJECTOR]).write("camera.nrrd", "right.nrrd",
	"projector.nrrd")'
	for frame in left projector; do
		fringecal "${rig[@]}" --cameras left,right --frame $frame --models models_$frame camera.nrrd right.nrrd -o $frame.json \
			>report.txt
		# Python reads a model as a literal, as mrcal does; its formula by hand
		py "$tools"'
import ast
file = json.load(open(sys.argv[1] + ".json"))["devices"]
X = np.random.default_rng(0).uniform(-80, 80, (100, 3)) + [0, 0, 600]
X = X @ np.array(file["left"]["R"]).T + file["left"]["T_mm"]
for name, d in file.items():
	m = ast.literal_eval(open("models_%s/%s.cameramodel" % (sys.argv[1], name)).read())
	expect(m["lensmodel"] == "LENSMODEL_OPENCV5" and m["imagersize"] == d["size"] and m["kind"] == d["kind"], m)
	rt, v = np.array(m["extrinsics"]), m["intrinsics"]
	seen = project(dict(K=v[:4], dist=v[4:]), X @ rotation(rt[:3]).T + 1000 * rt[3:])
	K = np.array(d["K"])
	wanted = project(dict(K=K[[0, 1, 0, 1], [0, 1, 2, 2]], dist=d["dist"]), (X - d["T_mm"]) @ np.array(d["R"]))
	expect(np.abs(seen - wanted).max() < 2e-12, name, np.abs(seen - wanted).max())	# 1.25e-12, 5 ulp' $frame
	done
	models() {
		printf '%s' "models_left/$1.cameramodel"
		shift
		if [ $# -gt 0 ]; then
			printf ,
			models "$@"
		fi
	}
	local crop=(-s 160x120 --origin 560,452) all
	all=$(models left right projector)
	fringesim --calib left.json "${crop[@]}" --scene sphere --radius 20 --height 20 -p 18 -n 9 -g period |
		fringepipe phasewrap , unwrap2f -o phase.nrrd
	for words in "" "--camera right --frame projector"; do
		# shellcheck disable=SC2086 # words
		phase2depth --calib left.json $words phase.nrrd -o a.nrrd
		# shellcheck disable=SC2086
		phase2depth --calib "$all" $words phase.nrrd -o b.nrrd
		framecmp --max 1e-4 a.nrrd b.nrrd
	done
	phase2depth --calib "$(models left projector)" phase.nrrd -o c.nrrd
	phase2depth --calib left.json phase.nrrd -o a.nrrd
	framecmp --max 1e-4 a.nrrd c.nrrd
	for calib in left.json "$(models left right)"; do
		rectify --calib "$calib" --side left phase.nrrd -o "$(basename "$calib").nrrd"
	done
	framecmp --max 1e-4 left.json.nrrd right.cameramodel.nrrd
	no() {
		fails 1 "$1" phase2depth --calib "$2" phase.nrrd -o no.nrrd
		[ ! -e no.nrrd ]
	}
	no "found none among its" "$(models left)"
	no "is of two cameras" "$(models left right)"
	no "names left a second time" "$(models left left)"
	no "none.cameramodel: cannot open" "$(models left none)"
	no "left.json: is no camera model by its name" "left.json,$(models projector)"
	edit() { sed "$1" models_left/projector.cameramodel >models_left/bad.cameramodel; }
	# as mrcal writes them: what the solve came from, in one line, and no kind
	cp models_left/projector.cameramodel models_left/theprojector.cameramodel
	sed -i -e '/kind/d' -e "\$i\    'optimization_inputs': b'ab]#{}:c','valid_intrinsics_region': [[1,2],[3,4]," -e '$i\ ],' \
		models_left/theprojector.cameramodel
	phase2depth --calib "$(models left theprojector)" phase.nrrd -o c.nrrd
	framecmp --max 1e-4 a.nrrd c.nrrd
	for change in "s/OPENCV5/SPLINED_STEREOGRAPHIC_order=3_Nx=30_Ny=20_fov_x_deg=120/ lensmodel: expected LENSMODEL_PINHOLE" \
		"s/OPENCV5/CAHVOR/ found LENSMODEL_CAHVOR" "s/OPENCV5/OPENCV8/ expected the numbers of intrinsics, found 9 numbers" \
		"/lensmodel/d is no camera model" "/extrinsics/d expected rotation and translation of extrinsics, found no entry" \
		"s/1920/0/ imagersize: expected w h, found 0 1080" "s/'projector'/'lamp'/ kind: expected camera or projector" \
		"s/[0-9][0-9.]*,/nan,/ expected"; do
		edit "${change%% *}"
		no "${change#* }" "$(models left bad)"
	done
	py "$tools"'
xyz = np.random.default_rng(0).uniform(-50, 50, (3, 200))
xyz[2] = 400 + 0.3 * xyz[0]
write_frames("plane.nrrd", Frame(xyz.astype("f4")[:, None], ["x", "y", "z"], {"points": "200"}))'
	fails 1 "which has no place for more" lasercal plane --calib "$(models left)" -o rig.json plane.nrrd
	fails 1 "nobody knows the board's spacing" fringecal --board 11x8 "${rig[@]:2}" --models odd camera.nrrd
	fails 2 "models_left/: folder is not empty" fringecal "${rig[@]}" --models models_left camera.nrrd
	fails 2 "--models: is an empty name" fringecal "${rig[@]}" --models "" camera.nrrd
	fails 2 "left.json: is no folder" fringecal "${rig[@]}" --models left.json camera.nrrd
}

@test "fringecal: eight real views of a board: rms and parameters of the camera that took them" {
	need_data horus_laser
	boardfind --board 11x6,13 "$data"/horus_laser/calib_*.jpg -o corners.nrrd
	for how in "" "--weights equal --reject 0"; do
		# shellcheck disable=SC2086 # words
		fringecal $how corners.nrrd -o rig.json >report.txt
		py "$tools"'
d = json.load(open("rig.json"))["devices"]["camera"]
(fx, _, cx), (_, fy, cy), _ = d["K"]
print(d["rms_px"], fx, fy, cx, cy)
expect(d["points"] == 8 * 66 and d["rms_px"] <= 0.20, d["points"], d["rms_px"])
# SOURCE.md has the pictures turned: fx there is fy here
expect(abs(fy - 1430.4) < 3 and abs(fx - 1429.7) < 3, fx, fy)
expect(abs(cy - (1279 - 636.4)) < 4.7 and abs(cx - 478.0) < 2.7, cx, cy)	# 3.9, 2.2'
	done
}

@test "fringecal: each error is one line, and nothing is written" {
	py "$tools$several"'
rig = Rig(seed=0)
rig.write("camera.nrrd", "projector.nrrd")
write_frames("two.nrrd", [rig.table(0, 0), rig.table(0, 1)])
bare = [Frame(t.pixels, t.names, {"points": "88"}) for t in (rig.table(0, k) for k in range(15))]
write_frames("bare.nrrd", bare)
def changed(name, change):
	other = Rig(seed=0)
	change(other.points)
	other.write(name + ".nrrd", name + "_projector.nrrd")
def mirror(p): p[:, 0] = 1279 - p[:, 0]
def mirror_projector(p): p[:, 0] = 1919 - p[:, 0]
changed("mirrored", lambda points: [mirror(p) for p in points[0]])
changed("sign", lambda points: [mirror_projector(p) for p in points[1]])
# what boardfind makes of mirrored pictures: boards that are numbered clockwise, as others
flipped = Rig(seed=0)
for p in flipped.points[0]: mirror(p)
flipped.i = 10 - flipped.i
flipped.write("flipped.nrrd", "flipped_projector.nrrd")
pair = Rig(seed=0, degrees=9, devices=[CAMERA, RIGHT])
pair.write("left.nrrd")
for p in pair.points[1]: mirror(p)
pair.i = 10 - pair.i
pair.write("rest.nrrd", "right.nrrd")
changed("reversed", lambda points: points[1].reverse())
changed("mixed", lambda points: np.random.default_rng(1).shuffle(points[0][2]))
line = Rig(seed=0)
line.points[0][3][line.j > 0] = np.nan
line.write("line.nrrd")
for name, channel, value in (("zero", 2, 0), ("nosigma", 2, np.nan), ("beyond", 3, 11), ("between", 3, 2.5),
		("outside", 0, 1e6), ("infinite", 1, np.inf)):
	tables = [rig.table(0, k) for k in range(15)]
	tables[2].pixels = tables[2].pixels.copy()
	tables[2].pixels[channel, 0, 7] = value
	write_frames(name + ".nrrd", tables)
tables = [rig.table(0, k) for k in range(15)]
tables[2].pixels = tables[2].pixels.copy()
tables[2].pixels[3:, 0, 7] = tables[2].pixels[3:, 0, 8]
write_frames("twice.nrrd", tables)
write_frames("unnumbered.nrrd", Frame(rig.table(0, 0).pixels[:2, :, 1:], ["u", "v"], {"points": "87", "image_size_px": "1280 1024"}))
write_frames("image.nrrd", Frame(np.zeros((4, 5), "f4")))
write_frames("copied.nrrd", [rig.table(0, k) for k in [*range(14), 2]])
# poses that are turned about the line of sight alone, or tilted by half a degree
i, j, X = corners()
for name, noise in (("parallel", 0), ("noisy", 0.05)):
	flat, rng = Rig(seed=3), np.random.default_rng(1)
	for k in range(15):
		place = [rng.uniform(-110, -70), rng.uniform(-75, -30), rng.uniform(560, 680)]
		tilt = rotation([rng.uniform(-0.2, 0.2) * noise, rng.uniform(-0.2, 0.2) * noise, 0])
		p = project(CAMERA, X @ (tilt @ rotation([0, 0, rng.uniform(-0.3, 0.3)])).T + place)
		flat.points[0][k] = p + rng.normal(0, noise, p.shape)
	flat.write(name + ".nrrd")'
	: >empty.nrrd
	no() {
		fails "$@" -o no.json
		[ ! -e no.json ]
	}
	no 1 "camera: has 2 views of the board, and at least 3 are needed" fringecal "${board[@]}" two.nrrd
	no 1 "pose 15 of camera: has the very points of pose 3 of camera: is a picture there twice?" \
		fringecal "${board[@]}" copied.nrrd
	no 1 "these poses do not determine camera.fx, camera.fy (condition" fringecal "${board[@]}" parallel.nrrd
	no 1 "is not determined: its standard deviation is" fringecal "${board[@]}" noisy.nrrd
	no 1 "pose 1 of camera: shows the board mirrored" fringecal "${board[@]}" mirrored.nrrd
	no 1 "pose 1 of projector: shows the board mirrored: the phase of x or of y runs the wrong way" \
		fringecal "${board[@]}" --projector 1920x1080 --projector-points sign_projector.nrrd camera.nrrd
	no 1 "they are exchanged, or the camera's pictures are mirrored" \
		fringecal "${board[@]}" --projector 1920x1080 --projector-points flipped_projector.nrrd flipped.nrrd
	no 1 "a camera whose pictures are mirrored" fringecal "${board[@]}" --cameras left,right left.nrrd right.nrrd
	no 1 "poses that are not in the same order for all devices" \
		fringecal "${board[@]}" --projector 1920x1080 --projector-points reversed_projector.nrrd camera.nrrd
	no 1 "pose 3 of camera: its points do not lie as those of a board of 11x8" fringecal "${board[@]}" mixed.nrrd
	no 1 "pose 4 of camera: its 11 points lie on a line" fringecal "${board[@]}" line.nrrd
	no 1 "pose 1 has 88 corners, and the board 80 (10x8)" fringecal --board 10x8,15 camera.nrrd
	no 1 "pose 3: corner 7 0 has sigma 0" fringecal "${board[@]}" zero.nrrd
	no 1 "pose 3: corner 7 0 has sigma nan" fringecal "${board[@]}" nosigma.nrrd
	no 1 "pose 3: corner 11 0 (i j) is none of a board of 11x8" fringecal "${board[@]}" beyond.nrrd
	no 1 "pose 3: corner 2.5 0 (i j) is none" fringecal "${board[@]}" between.nrrd
	no 1 "lies outside of camera, 1280x1024 px" fringecal "${board[@]}" outside.nrrd
	no 1 "lies outside of camera, 1280x1024 px" fringecal "${board[@]}" infinite.nrrd
	no 1 "pose 3: corner 8 0 is there twice" fringecal "${board[@]}" twice.nrrd
	no 1 "pose 1 has 87 corners, and the board 88 (11x8); which ones they are, channels i j say" \
		fringecal "${board[@]}" unnumbered.nrrd
	no 1 "image.nrrd: is an image of 5x4, not a table of corners" fringecal "${board[@]}" image.nrrd
	no 1 "empty.nrrd: is empty" fringecal "${board[@]}" empty.nrrd
	no 1 "give --board WxH,MM" fringecal camera.nrrd
	no 1 "give --sizes WxH" fringecal "${board[@]}" bare.nrrd
	no 1 "lies outside of projector, 640x480 px" \
		fringecal "${board[@]}" --projector 640x480 --projector-points projector.nrrd camera.nrrd
	no 1 "two.nrrd: has 2 poses and camera 15" \
		fringecal "${board[@]}" --projector 1920x1080 --projector-points two.nrrd camera.nrrd
	no 1 "left has 15 poses and right 2: one table for each pose" \
		fringecal "${board[@]}" --cameras left,right camera.nrrd two.nrrd
	no 1 "right: stands where left does, turned alike: are these the same corners twice?" \
		fringecal "${board[@]}" --cameras left,right camera.nrrd camera.nrrd
	no 2 "wants one file of corners for each of 2 cameras, not 1" fringecal "${board[@]}" --cameras left,right camera.nrrd
	no 2 "--projector: WxH is needed for --projector-points" fringecal "${board[@]}" --projector-points projector.nrrd camera.nrrd
	no 2 "--projector: wants the projector's points" fringecal "${board[@]}" --projector 1920x1080 camera.nrrd
	no 2 "--fix: 'foo' is none of center, aspect, tangential, k3 and lens" fringecal "${board[@]}" --fix foo camera.nrrd
	no 2 "--fix: 'k3' is none of center, aspect, tangential, k3 and lens that --model has" \
		fringecal "${board[@]}" --model opencv4 --fix k3 camera.nrrd
	no 2 "--fix: 'left.center' begins with no device's name" fringecal "${board[@]}" --fix left.center camera.nrrd
	fails 1 "x.png: has the suffix of a format for frames: the calibration is JSON" \
		fringecal "${board[@]}" camera.nrrd -o x.png
	[ ! -e x.png ]
	no 2 "--frame: left is none of the devices" fringecal "${board[@]}" --frame left camera.nrrd
	no 2 "--cameras: names a twice" fringecal "${board[@]}" --cameras a,a camera.nrrd camera.nrrd
	no 2 "--cameras: 'a b' is no name" fringecal "${board[@]}" --cameras "a b" camera.nrrd
	no 2 "--sizes: has 2 sizes for 1 cameras" fringecal "${board[@]}" --sizes 1280x1024,640x480 camera.nrrd
	no 2 "--board: the distance of the points must be 1e-6 to 1e6 mm, not '0'" fringecal --board 11x8,0 camera.nrrd
	no 2 "--board: wants the points along both sides and their distance, as 11x8,15, not '11'" fringecal --board 11 camera.nrrd
	no 2 "--board: -11 points along a side: a board has 3 to 100" fringecal --board=-11x8,15 camera.nrrd
	no 2 "--board: 2 points along a side: a board has 3 to 100" fringecal --board 2x2,15 camera.nrrd
	no 2 "--kind: wants --board" fringecal --kind circles camera.nrrd
	# a named board that is larger than the one seen is no error; with -f a bad result is written
	fringecal --board 12x9,15 camera.nrrd -o large.json 2>messages >report.txt
	has "has 12x9 corners, and no pose shows more than 11x8 of them: is the size right?" <messages
	py "$tools"'
other = Rig(seed=0, noise=3)
other.noise = 0.05
other.write("rough.nrrd")'
	no 1 "the rms is " fringecal "${board[@]}" --reject 0 rough.nrrd
	fringecal --board 11x8,0.015 camera.nrrd -o metres.json 2>messages >report.txt
	has "has its points 0.015 mm from each other: are these metres?" <messages
	# fringe orders of every other pose are wrong: what is left fits, and is far off
	py "$tools"'
other = Rig(seed=0)
for k in range(0, 15, 2):
	other.points[1][k][:, 0] += 18
other.write("camera.nrrd", "projector.nrrd")'
	solve 2>messages
	has "camera: .* of its 1320 points contradict the others: do not trust the result; --report says" <messages
	has "projector: .* of its 1320 points contradict the others" <messages
	fails 1 "px, more than 2: wrong corners, or the wrong --board" \
		fringecal "${board[@]}" --reject 0 -f rough.nrrd -o forced.json
	[ -s forced.json ]
}
