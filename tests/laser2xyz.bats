#!/usr/bin/env bats
# laser2xyz: points of a laser's line to points of the surface, against geometry computed in NumPy.
# Where nothing is random, bounds stand a fifth above what is measured.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# the paper's system 1 with a lens that distorts, tables of three frames in lines.nrrd, the truth in truth.npy
scan() {
	py '
from laser import *
n, m = int(sys.argv[1]), int(sys.argv[2])
camera = Camera(dist=(-0.086, 0.112, -0.0005, 0.0003, 0.01))
plane = np.array([-0.005, -0.873, 0.487, 283.815])
direction = [-0.011, 0.886, -0.463]
axis, point = np.array([0.1, 1, -0.3]), [12., -40., 600.]
camera.save("rig.json", laser_plane=plane, scan_direction=direction, axis_point_mm=point,
	axis_direction=axis, length_unit=0)
rng = np.random.default_rng(3)
frames, truth = [], []
for k in range(m):
	# points of the plane in front of the camera, which the stage has moved by 2.5 k
	x, z = rng.uniform(-80, 80, n), rng.uniform(560, 700, n)
	X = np.stack([x, -(plane[0] * x + plane[2] * z + plane[3]) / plane[1], z], -1)
	uv = camera.project(X)
	frames.append(table("line u v width", [np.arange(n), uv[:, 0], uv[:, 1], np.ones(n)],
		stage_mm="%g" % (2.5 * k)))
	truth.append(X)
write_frames("lines.nrrd", frames)
np.save("truth.npy", truth)
' "$@"
	sed -i 's/"length_unit": 0/"length_unit": "mm"/' rig.json
}

@test "laser2xyz: rays of a lens that distorts meet the plane; x y z stand behind the other channels" {
	scan 500 3
	silent laser2xyz --calib rig.json --pose-from none lines.nrrd -o xyz.nrrd
	py '
truth = np.load("truth.npy")
for k, f in enumerate(read_frames("xyz.nrrd")):
	expect(f.names == ["line", "u", "v", "width", "x", "y", "z"], f.names)
	expect(f.meta["points"] == "500" and f.meta["length_unit"] == "mm", f.meta)
	expect((f["line"][0] == np.arange(500)).all())
	X = np.stack([f["x"][0], f["y"][0], f["z"][0]], -1)
	# u and v are floats: 6e-5 px, 2e-5 mm across and 4 times that along the ray
	worst = np.abs(X - truth[k]).max()
	expect(worst < 9.6e-5, worst)	# 8.0e-5: floats of 700 mm
'
}

@test "laser2xyz: a stage that travels, from the key, from --step and from another key" {
	scan 200 3
	silent laser2xyz --calib rig.json lines.nrrd -o key.nrrd
	silent laser2xyz --calib rig.json --step 2.5 lines.nrrd -o step.nrrd
	framecat --set height_mm=7 --delete stage_mm lines.nrrd -o other.nrrd
	silent laser2xyz --calib rig.json --pose-from height_mm other.nrrd -o other-xyz.nrrd
	framecat --set step_mm=2.5 --delete stage_mm lines.nrrd | laser2xyz --calib rig.json -o stream.nrrd
	py '
truth, D = np.load("truth.npy"), np.array([-0.011, 0.886, -0.463])
key, step, other, stream = (read_frames(f) for f in ("key.nrrd", "step.nrrd", "other-xyz.nrrd", "stream.nrrd"))
for k in range(3):
	for frames, h in ((key, 2.5 * k), (step, 2.5 * k), (other, 7), (stream, 2.5 * k)):
		X = np.stack([frames[k][c][0] for c in "xyz"], -1)
		expect(np.abs(X - (truth[k] - h * D)).max() < 1e-4, k, h, X[0], truth[k][0] - h * D)
'
}

@test "laser2xyz: a stage that turns, from --angle and from the key" {
	scan 200 3
	framecat --delete stage_mm lines.nrrd -o unposed.nrrd
	silent laser2xyz --calib rig.json --angle 12 unposed.nrrd -o angle.nrrd
	framecat --frames 2 --set stage_deg=24 --delete stage_mm lines.nrrd | laser2xyz --calib rig.json -o key.nrrd
	py '
from laser import rotation
truth, p, a = np.load("truth.npy"), np.array([12., -40., 600.]), [0.1, 1, -0.3]
for k, f in [*enumerate(read_frames("angle.nrrd")), (2, read_frame("key.nrrd"))]:
	X = np.stack([f[c][0] for c in "xyz"], -1)
	want = (truth[k] - p) @ rotation(a, np.radians(-12 * k)).T + p
	expect(np.abs(X - want).max() < 9.7e-5, k, X[0], want[0])
'
}

@test "laser2xyz: a camera with a pose in the world, and one of several devices" {
	py '
from laser import *
R, T = rotation([1, 2, -1], 0.7), np.array([30., -20., 900.])
camera = Camera(R=R, T=T, dist=(-0.1, 0.05, 0, 0, 0))
plane = np.array([0.6, 0.0, 0.8, -5.])
x, y = np.random.default_rng(1).uniform(-50, 50, (2, 100))
X = np.stack([x, y, (5 - 0.6 * x) / 0.8], -1)
uv = camera.project(X)
write_frames("points.nrrd", [table("u v", uv.T)])
np.save("X.npy", X)
camera.save("world.json", laser_plane=2 * plane)	# any length
with open("several.json", "w") as file:
	json.dump(dict(camera_K=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], laser_plane=plane.tolist(), devices=dict(head2=dict(
		kind="camera", K=camera.K.tolist(), dist=camera.dist.tolist(),
		R=R.T.tolist(), T_mm=(-R.T @ T).tolist()))), file)	# as fringecal has it: to the world
'
	silent laser2xyz --calib world.json points.nrrd -o a.nrrd
	silent laser2xyz --calib several.json --camera head2 points.nrrd -o b.nrrd
	framecmp a.nrrd b.nrrd
	py '
f, X = read_frame("a.nrrd"), np.load("X.npy")
expect(np.abs(np.stack([f[c][0] for c in "xyz"], -1) - X).max() < 3.9e-5)
'
	fails 1 "no device head3; its devices: head2" laser2xyz --calib several.json --camera head3 points.nrrd
}

@test "laser2xyz: crops and binned pictures lie where they were on the sensor" {
	scan 200 1
	py '
f = read_frame("lines.nrrd")
u, v = f["u"].astype("f8"), f["v"].astype("f8")
# as a crop at 100,50 of 2x2 binned pixels
write_frames("crop.nrrd", [Frame(np.stack([(u - 100 + 0.5) / 2 - 0.5, (v - 50 + 0.5) / 2 - 0.5]).astype("f4"),
	["u", "v"], dict(points="200", bin="2 2", origin_px="100 50"))])
'
	laser2xyz --calib rig.json --pose-from none lines.nrrd -o full.nrrd
	laser2xyz --calib rig.json crop.nrrd -o crop-xyz.nrrd
	framecat --delete origin_px crop.nrrd | laser2xyz --calib rig.json --origin 100,50 -o option.nrrd
	py '
full, crop, option = (read_frame(f) for f in ("full.nrrd", "crop-xyz.nrrd", "option.nrrd"))
for c in "xyz":
	expect((full[c] == crop[c]).all() and (crop[c] == option[c]).all())
'
}

@test "laser2xyz: what has no point is NaN, and counted" {
	py '
from laser import *
camera = Camera(f=1000., size=(1001, 1001))
# the plane x = 100: parallel to the ray of column 500, behind the camera left of it
camera.save("rig.json", laser_plane=[1, 0, 0, -100])
nan = np.nan
write_frames("p.nrrd", [table("u v", [[500, 300, nan, 600, 700, 1000, 510], [500, 100, 5, nan, 500, 400, 500]])])
'
	run -0 laser2xyz -v --calib rig.json --min-depth 300 --max-depth 5000 p.nrrd -o xyz.nrrd
	[[ $output == *"1 of 5 points have x y z; 0 without a ray, 1 along the plane, 1 behind the camera, 1 nearer"*"1 farther"* ]] ||
		{ echo "$output"; false; }
	py '
f = read_frame("xyz.nrrd")
expect(np.isnan(f["z"][0]).tolist() == [True, True, True, True, False, True, True], f["z"])
expect(np.allclose([f[c][0, 4] for c in "xyz"], [100, 0, 500]))
expect((np.isnan(f["x"]) == np.isnan(f["z"])).all())
'
	run -0 laser2xyz --calib rig.json --max-depth 10 p.nrrd -o xyz.nrrd
	[[ $output == *"none of 5 points has x y z"* ]]
}

@test "laser2xyz: tables of no point, ordered frames, any number of threads, many points" {
	scan 5000 1
	py '
from laser import *
write_frames("none.nrrd", [table("u v", np.zeros((2, 0)))])
f = read_frame("lines.nrrd")
ordered = np.stack([f["u"][0, :640], f["v"][0, :640]])[:, :, None].copy()
ordered[:, 7] = np.nan
write_frames("ordered.nrrd", [Frame(ordered, ["u", "v"])])
'
	silent laser2xyz --calib rig.json none.nrrd -o none-xyz.nrrd
	silent laser2xyz --calib rig.json ordered.nrrd -o ordered-xyz.nrrd
	laser2xyz -j 1 --calib rig.json lines.nrrd -o one.nrrd
	laser2xyz -j 4 --calib rig.json lines.nrrd -o four.nrrd
	cmp one.nrrd four.nrrd
	py '
f = read_frame("none-xyz.nrrd")
expect(f.meta["points"] == "0" and f.pixels.shape == (5, 1, 1) and np.isnan(f.pixels).all(), f.meta, f.pixels)
f, full = read_frame("ordered-xyz.nrrd"), read_frame("one.nrrd")
expect(f.pixels.shape == (5, 640, 1) and np.isnan(f["z"][7, 0]))
expect(np.delete(f["z"][:, 0] == full["z"][0, :640], 7))
'
}

@test "laser2xyz --join: one table of all slices, as PLY too" {
	scan 40 3
	py '
fs = read_frames("lines.nrrd")
p = fs[1].pixels.copy(); p[1, 0, 5] = np.nan; fs[1].pixels = p
write_frames("lines.nrrd", fs)
'
	silent laser2xyz --calib rig.json lines.nrrd -o slices.nrrd
	silent laser2xyz --join --calib rig.json lines.nrrd -o cloud.nrrd
	silent laser2xyz --join --calib rig.json lines.nrrd -o cloud.ply
	py '
slices, cloud = read_frames("slices.nrrd"), read_frame("cloud.nrrd")
expect(cloud.meta["points"] == "119" and "stage_mm" not in cloud.meta, cloud.meta)
for c in "xyz":
	all = np.concatenate([s[c][0] for s in slices])
	expect((cloud[c][0] == all[~np.isnan(all)]).all())
expect((cloud["frame"][0] == np.repeat([0, 1, 2], [40, 39, 40])).all())
'
	frameinfo -k points cloud.ply | has 119
}

@test "laser2xyz --join: slices with a point per row keep their order, so that tools of ordered views take them" {
	py '
camera = "camera_K: [ 1000, 0, 80, 0, 1000, 60, 0, 0, 1 ]\nlaser_plane: [ 1, 0, 1, -300 ]\n"
open("rig.yml", "w").write(camera + "scan_direction: [ 1, 0, 0 ]\naxis_point_mm: [ 0, 0, 300 ]\naxis_direction: [ 0, 1, 0 ]\n")
v = np.arange(120.)
def frame(h, surface, key):
	z = np.full(120, 300.)
	for _ in range(60): z += 0.5 * (surface(300 - z, (v - 60) / 1000 * z, h) - z)
	u = 1000 * (300 - z) / z + 80
	u[7] = np.nan
	return Frame(np.stack([u, v])[:, :, None].astype("f4"), ["u", "v"], {key: "%g" % h, "step_mm": "1", "time_s": "%g" % h})
wave = lambda x, y, h: 300 + 3 * np.sin((x - h) / 9) * np.cos(y / 7)
for name, steps in ("on", range(60)), ("back", range(60, 0, -1)): write_frames(name + ".nrrd", [frame(h, wave, "stage_mm") for h in steps])
# a can of radius 30 about the axis, with a groove along it: round once
can = lambda x, y, h: 300 - np.sqrt(np.maximum((30 + np.cos(np.radians(5 * h))) ** 2 - x * x, 1))
write_frames("round.nrrd", [frame(h, can, "stage_deg") for h in range(0, 360, 4)])'
	for name in on back round; do
		silent laser2xyz --join --calib rig.yml $name.nrrd -o $name.joined.nrrd
		silent laser2xyz --calib rig.yml $name.nrrd -o slices.nrrd
		silent normals $name.joined.nrrd -o $name.normals.nrrd
		py '
name = sys.argv[1]
slices, f, n = read_frames("slices.nrrd"), read_frame(name + ".joined.nrrd"), read_frame(name + ".normals.nrrd")
expect(f.names == ["u", "v", "x", "y", "z", "frame"] and f["x"].shape == (120, len(slices)), f.names, f["x"].shape)
expect(f.meta["step_mm"] == "1" and "stage_mm" not in f.meta and "points" not in f.meta, f.meta)
for k, column in enumerate(f["frame"][60].astype(int)):
	for c in "xyz": expect(np.array_equal(f[c][:, k], slices[column][c][:, 0], equal_nan=True))
expect(np.isnan(f["x"][7]).all() and not np.isnan(np.delete(f["x"], 7, 0)).any())
# normals look to where each slice was seen from; the first slice at travel 0 from 0
expect(name != "on" or slices[5].meta["seen_from_mm"] == "-5 0 0", slices[5].meta)
seen = np.array([slices[int(k)].meta["seen_from_mm"].split() for k in f["frame"][60]], float)
towards = sum(n["n" + c] * (seen[:, i] - f[c]) for i, c in enumerate("xyz"))
expect((towards[~np.isnan(towards)] > 0).all() and (~np.isnan(towards)).mean() > 0.95, (towards > 0).mean())
# one place for all, where it tells the sides
expect(("seen_from_mm" in f.meta) == (name != "round"), f.meta)' $name
	done
	silent fringepipe laser2xyz --join --calib rig.yml on.nrrd , shade -o on.png
	# a stage that goes there and back
	cat on.nrrd back.nrrd >both.nrrd
	fails 0 "--join: the stage turns back 1 time" laser2xyz --join --calib rig.yml both.nrrd -o both.joined.nrrd
	# a line along the rows: slices are rows
	py '
fs = read_frames("on.nrrd")
for f in fs: f.pixels = f.pixels.transpose(0, 2, 1).copy()
write_frames("rows.nrrd", fs)'
	silent laser2xyz --join --calib rig.yml rows.nrrd -o rows.joined.nrrd
	py 'expect(read_frame("rows.joined.nrrd")["x"].shape == (60, 120))'
	fails 1 "--join: frame 60 has 1x9 points in their order, the first one 120" \
		laser2xyz --join --calib rig.yml <(cat on.nrrd; framecat --crop 0,0,1,9 --delete origin_px on.nrrd) -o x.nrrd
}

@test "laser2xyz: slices of a stage that nobody names get a word" {
	scan 10 3
	framecat --delete stage_mm lines.nrrd -o bare.nrrd
	run -0 laser2xyz --calib rig.json bare.nrrd -o xyz.nrrd
	[[ $output == *"neither --step nor --angle"* && $(wc -l <<<"$output") -eq 1 ]] || { echo "$output"; false; }
	silent laser2xyz --calib rig.json --pose-from none bare.nrrd -o xyz.nrrd
	silent laser2xyz --calib rig.json <(framecat --frames 0 bare.nrrd) -o xyz.nrrd
}

# words TEXT COMMAND ...: it succeeds, and one line of standard error has the text.
words() {
	run -0 --separate-stderr "${@:2}"
	[[ $stderr == *"$1"* ]] || { echo "printed: $stderr; wanted: $1"; return 1; }
}

@test "laser2xyz: travel in metres is told by all of it, beside the distance" {
	scan 10 30
	framecat --delete stage_mm lines.nrrd -o bare.nrrd
	words "the stage travels by 0.0725 mm in 30 frames, before points up to 700 mm away: is that in metres?" \
		laser2xyz --calib rig.json --step 0.0025 bare.nrrd -o xyz.nrrd
	for step in 2.5 -2.5 0.05; do
		silent laser2xyz --calib rig.json --step $step bare.nrrd -o xyz.nrrd
	done
	framecat --frames 0-9 bare.nrrd | silent laser2xyz --calib rig.json --step 0.0025 -o xyz.nrrd
}

@test "laser2xyz: frames whose stages differ, and options that the frames contradict" {
	scan 3 3
	laser=(laser2xyz --calib rig.json)
	framecat --delete stage_mm lines.nrrd -o none.nrrd
	framecat --set stage_deg=5 none.nrrd -o turned.nrrd
	framecat --frames 0 none.nrrd -o first.nrrd
	framecat --frames 1-2 lines.nrrd -o rest.nrrd
	fails 1 "in frame 1 the stage travels" "${laser[@]}" first.nrrd rest.nrrd -o out.nrrd
	fails 1 "nothing says where the stage stood" "${laser[@]}" rest.nrrd first.nrrd -o out.nrrd
	fails 1 "in frame 2 the stage turns" "${laser[@]}" rest.nrrd turned.nrrd -o out.nrrd
	silent "${laser[@]}" --step 2.5 lines.nrrd -o out.nrrd
	words "moves the stage by 0.25 mm to frame 1, the frames' key stage_mm by 2.5" \
		"${laser[@]}" --step 0.25 lines.nrrd -o out.nrrd
	words "by -2.5 mm" "${laser[@]}" --step -2.5 lines.nrrd -o out.nrrd
	words "not the frames' key stage_mm" "${laser[@]}" --angle 2 lines.nrrd -o out.nrrd
	for _ in {1..12}; do cat first.nrrd; done >many.nrrd
	words "in radians?" "${laser[@]}" --angle 0.5236 many.nrrd -o out.nrrd
	silent "${laser[@]}" --angle 30 many.nrrd -o out.nrrd
	framecat --frames 0-3 many.nrrd -o few.nrrd
	words "which is 5 degrees in radians" "${laser[@]}" --angle 0.0872665 few.nrrd -o out.nrrd
	words "which is 45 degrees in radians" "${laser[@]}" --angle 0.7854 few.nrrd -o out.nrrd
	for angle in 0.1 0.9 1.8 0.0879 0.087890625 0.45 -0.36; do	# and steps of motors
		silent "${laser[@]}" --angle=$angle few.nrrd -o out.nrrd
	done
}

@test "laser2xyz: a calibration of another picture, or in another unit" {
	scan 3 2
	framecat --set 'image_size_px=1292 964' --delete origin_px lines.nrrd -o sized.nrrd
	change() {
		py '
import json
keys = json.load(open("rig.json"))
keys.update(eval(sys.argv[1]))
json.dump(keys, open("other.json", "w"))' "$1"
	}
	try=(laser2xyz --calib other.json sized.nrrd -o out.nrrd)
	change '{"camera_size": [1292, 964]}'
	silent "${try[@]}"
	change '{"camera_size": [646, 482]}'
	fails 1 "does not lie on the calibration's camera of 646x482 px" "${try[@]}"
	change '{"camera_size": [2584, 1928]}'
	words "smaller than the calibration's camera" "${try[@]}"
	change '{"camera_K": [4470, 0, 1300, 0, 4470, 963, 0, 0, 1]}'
	words "principal point, 1300,963, is far from the middle of the picture" "${try[@]}"
	change '{"camera_K": [-2235, 0, 645.5, 0, 2235, 481.5, 0, 0, 1]}'
	fails 1 "expected positive focal lengths, found -2235 2235" "${try[@]}"
	change '{"laser_plane": [x * k for x, k in zip(keys["laser_plane"], (1, 1, 1, 0.001))]}'
	words "is laser_plane in another unit" "${try[@]}"
	change '{"length_unit": "m"}'
	words "scan_direction: takes points" "${try[@]}"
	change '{"laser_plane": [1.02 * x for x in keys["laser_plane"]]}'
	words "length 1.02" "${try[@]}"
}

@test "laser2xyz: names and syntaxes of calibrations" {
	scan 20 1
	laser2xyz --calib rig.json --pose-from none lines.nrrd -o want.nrrd
	cat >rig.yml <<-'END'
		%YAML:1.0
		---
		camera_matrix: !!opencv-matrix
		   rows: 3
		   cols: 3
		   dt: d
		   data: [ 2235., 0., 645.5, 0., 2235., 481.5, 0., 0., 1. ]
		distortion_coefficients: [ -0.086, 0.112, -0.0005, 0.0003, 0.01 ]
		laser_plane: [ -0.005, -0.873, 0.487, 283.815 ]
	END
	cat >rig.xml <<-'END'
		<opencv_storage>
		<cameraMatrix>2235 0 645.5 0 2235 481.5 0 0 1</cameraMatrix>
		<distCoeffs>-0.086 0.112 -0.0005 0.0003 0.01</distCoeffs>
		<laser_plane>-0.005 -0.873 0.487 283.815</laser_plane>
		</opencv_storage>
	END
	for file in rig.yml rig.xml; do
		laser2xyz --calib "$file" --pose-from none lines.nrrd -o got.nrrd
		framecmp want.nrrd got.nrrd
	done
}

@test "laser2xyz: errors" {
	scan 10 2
	fails 2 "--calib" laser2xyz lines.nrrd
	fails 1 "nothing.json: cannot open" laser2xyz --calib nothing.json lines.nrrd
	for key in laser_plane scan_direction; do
		py 'import json; k = json.load(open("rig.json")); del k[sys.argv[1]]; json.dump(k, open("less.json", "w"))' $key
		fails 1 "less.json: has no $key" laser2xyz --calib less.json lines.nrrd
	done
	py 'import json; k = json.load(open("rig.json")); del k["axis_point_mm"]; json.dump(k, open("less.json", "w"))'
	fails 1 "has axis_direction but no axis_point_mm" laser2xyz --calib less.json lines.nrrd
	py 'import json; k = json.load(open("rig.json")); k["laser_plane"] = [0, 0, 0, 1]; json.dump(k, open("less.json", "w"))'
	fails 1 "laser_plane: expected a direction, found zeros" laser2xyz --calib less.json lines.nrrd
	py 'import json; k = json.load(open("rig.json")); k["laser_plane"] = [0, 1, 1]; json.dump(k, open("less.json", "w"))'
	fails 1 "laser_plane: expected 4 numbers, found 3" laser2xyz --calib less.json lines.nrrd
	echo '{"a": 1}' >less.json
	fails 1 "expected a camera matrix called camera_K" laser2xyz --calib less.json lines.nrrd
	fails 2 "--pose-from" laser2xyz --calib rig.json --pose-from time_s lines.nrrd
	fails 1 "no key height_mm" laser2xyz --calib rig.json --pose-from height_mm lines.nrrd
	fails 2 "two stages" laser2xyz --calib rig.json --step 1 --angle 1 lines.nrrd
	fails 2 "both say" laser2xyz --calib rig.json --step 1 --pose-from stage_mm lines.nrrd
	fails 2 "not below" laser2xyz --calib rig.json --min-depth 5 --max-depth 5 lines.nrrd
	fails 2 "must be two numbers" laser2xyz --calib rig.json --origin 5 lines.nrrd
	framecat --set stage_deg=3 lines.nrrd -o both.nrrd
	fails 1 "stage_mm and stage_deg" laser2xyz --calib rig.json both.nrrd
	framecat --set stage_mm=left lines.nrrd -o bad.nrrd
	fails 1 "stage_mm" laser2xyz --calib rig.json bad.nrrd
	framecat -c line,v lines.nrrd -o less.nrrd
	fails 1 "u" laser2xyz --calib rig.json less.nrrd
	laser2xyz --calib rig.json lines.nrrd -o xyz.nrrd
	fails 1 "has a channel x already" laser2xyz --calib rig.json xyz.nrrd
	fails 1 "other channels" laser2xyz --join --calib rig.json <(cat lines.nrrd; framecat -c u,v lines.nrrd)
}
