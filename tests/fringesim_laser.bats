#!/usr/bin/env bats
# fringesim --laser: where the line is, how bright, what moves it, against geometry computed in NumPy.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || exit 1
	py '
from laser import *
a = np.radians(28)
camera = Camera(f=800., size=(320, 200), dist=(-0.1, 0.05, 0.001, 0.0005, 0))
plane = np.array([np.cos(a), 0, np.sin(a), -600 * np.sin(a)])
camera.save("rig.json", laser_plane=plane, scan_direction=[-0.8, 0.02, 0.05], axis_point_mm=[0, 0, 600.],
	axis_direction=[0, 1, 0], image_size=[320, 200])
Camera(f=800., size=(320, 200)).save("straight.json", laser_plane=plane, image_size=[320, 200])
'
}

@test "fringesim --laser: on a plane the line is where plane and surface meet, as bright as its profile" {
	silent fringesim --laser --calib straight.json --scene plane --height 20 -b float --thickness 1.5 --ambient 10 \
		--amplitude 200 --truth truth.nrrd -o line.nrrd
	py '
from laser import *
f, t = read_frame("line.nrrd"), read_frame("truth.nrrd")
expect(f["image"].shape == (200, 320) and t.meta["points"] == "200", t.meta)
a = np.radians(28)
# the surface z = 580 meets the plane at x = (600 - 580) tan a
x = 20 * np.tan(a)
u = 800 * x / 580 + 159.5
expect(np.abs(t["u"][0] - u).max() < 1e-4 and (t["v"][0] == np.arange(200)).all(), t["u"][0][:5], u)
expect(np.abs(t["x"][0] - x).max() < 1e-4 and np.abs(t["z"][0] - 580).max() < 1e-4)
expect(np.abs(t["y"][0] - (np.arange(200) - 99.5) * 580 / 800).max() < 1e-4)
# brightness: distance from the plane, averaged over the pixel
fine = (np.arange(320 * 50) + .5) / 50 - .5
d = ((fine - 159.5) / 800 * 580 - x) * np.cos(a)
want = 10 + 200 * np.exp(-.5 * (d / 1.5)**2).reshape(320, 50).mean(1)
expect(np.abs(f["image"] - want).max() < 0.02, np.abs(f["image"] - want).max())
'
}

@test "fringesim --laser: steger finds the line where it is, laser2xyz the points, with a lens and a stage" {
	silent fringesim --laser --calib rig.json --scene sphere --radius 40 --distance 620 --thickness 0.7 -b float \
		--frames 3 --stage-step 10 --truth truth.nrrd -o line.nrrd
	silent fringesim --laser --calib rig.json --scene tilt --height 60 --distance 620 --thickness 0.7 -b float \
		--frames 3 --stage-angle 20 --truth turned-truth.nrrd -o turned.nrrd
	for name in line turned; do
		steger --sigma 1 $name.nrrd | laser2xyz --calib rig.json -o $name-xyz.nrrd
	done
	py '
for file, truth, key in ("line-xyz.nrrd", "truth.nrrd", "stage_mm"), ("turned-xyz.nrrd", "turned-truth.nrrd", "stage_deg"):
	for k, (f, t) in enumerate(zip(read_frames(file), read_frames(truth))):
		expect(float(f.meta[key]) == float(t.meta[key]) == k * (10 if key == "stage_mm" else 20), f.meta)
		P, T = (np.stack([g[c][0] for c in "xyz"], -1) for g in (f, t))
		# the nearest point of the polyline of the truth
		i = np.argmin(np.linalg.norm(P[:, None] - T[None], axis=2), 1).clip(1, len(T) - 2)
		a = T[i + 1] - T[i - 1]
		a /= np.linalg.norm(a, axis=1)[:, None]
		d = P - T[i]
		off = np.linalg.norm(d - (d * a).sum(1)[:, None] * a, axis=1)
		# light of some thickness on a slope that changes is brighter on one side: 0.02 mm on the sphere
		print(file, k, np.median(off), np.percentile(off, 80))
		expect(len(P) > 150 and np.median(off) < (0.03 if "line" in file else 0.005), file, k, np.median(off))
# a sphere stays one: with the stage undone all slices lie on it
for t in read_frames("truth.nrrd"):
	X = np.stack([t[c][0] for c in "xyz"], -1)
	on = X[:, 2] < 619.99
	expect(on.sum() > 50 and np.abs(np.linalg.norm(X[on] - [0, 0, 620], axis=1) - 40).max() < 1e-3)
'
}

@test "fringesim --laser: a line along the rows, a board, a bar" {
	py '
from laser import *
Camera(f=800., size=(320, 200)).save("rows.json", laser_plane=[0.1, 0.88, 0.47, -282.])
'
	fringesim --laser --calib rows.json -s 320x200 --scene plane -b float --profile bar --thickness 1.5 --truth truth.nrrd -o bar.nrrd
	fringesim --laser --calib straight.json --scene board --board 7x5,15 --board-pose 5,20,3,0,0,600 --ambient 60 \
		-b float --truth board-truth.nrrd -o board.nrrd
	py '
t, f = read_frame("truth.nrrd"), read_frame("bar.nrrd")
expect(t.meta["points"] == "320" and (t["u"][0] == np.arange(320)).all(), t.meta)
# the centre of mass of every column, of a bar that ends within pixels: to 0.03 px; its breadth
v = (f["image"] * np.arange(200.)[:, None]).sum(0) / f["image"].sum(0)
expect(np.abs(v - t["v"][0]).max() < 0.03 and abs((v - t["v"][0]).mean()) < 1e-3, np.abs(v - t["v"][0]).max())
expect(np.abs(f["image"].sum(0) / 150 - 3 / 0.88 * 800 / 600 * np.hypot(np.hypot(.1, .88), .47)).max() < 0.03)
expect(abs(f["image"].max() - 150) < 1e-3)
t, f = read_frame("board-truth.nrrd"), read_frame("board.nrrd")
X = np.stack([t[c][0] for c in "xyz"], -1)
expect(len(X) > 90)
p = np.linalg.svd(X - X.mean(0), full_matrices=False)[1]
expect(p[1] < 3e-3, p)		# a plane and a plane: a straight line
expect(f["image"].max() > 190 and f["image"][0, 0] == 0)
'
	boardfind --board 7x5,15 <(framecat --set x=1 board.nrrd) | frameinfo -k points | has 35
}

@test "fringesim --laser: cut-off levels, speckle, a reflection, the laser off, shadows" {
	common=(--laser --calib straight.json --scene plane --thickness 2)
	fringesim "${common[@]}" --amplitude 2000 -o cut.png
	fringesim "${common[@]}" -b float --speckle 0.3 --seed 3 -o speckle.nrrd
	fringesim "${common[@]}" -b float -o clean.nrrd
	fringesim "${common[@]}" -b float --reflection 0.25,30 -o second.nrrd
	fringesim "${common[@]}" -b float --amplitude 0 --ambient 20 -o off.nrrd
	fringesim "${common[@]}" -j 1 --noise 2 -o one.png
	fringesim "${common[@]}" -j 4 --noise 2 -o four.png
	cmp one.png four.png
	py '
from PIL import Image
cut = np.asarray(Image.open("cut.png"))
expect(cut.dtype == np.uint8 and cut.max() == 255 and (cut == 255).sum(1).min() > 6)
clean, speckle, second, off = (read_frame(f + ".nrrd")["image"].astype("f8") for f in ("clean", "speckle", "second", "off"))
r = (speckle / clean)[clean > 1]
expect(abs(r.mean() - 1) < 0.02 and abs(r.std() - 0.3) < 0.03 and r.min() > 0, r.mean(), r.std())
extra = second - clean
u = np.argmax(clean[100]) + 30 / np.cos(np.radians(28)) * 800 / 600
expect(abs(extra.max() / clean.max() - 0.25) < 0.01 and abs(np.argmax(extra[100]) - u) < 2, np.argmax(extra[100]), u)
expect((off == 20).all())
'
	# light from the right at the sphere: the plane behind it is dark in the truth
	fringesim --laser --calib straight.json --scene sphere --radius 40 --distance 620 --truth all.nrrd -o null:
	fringesim --laser --calib straight.json --scene sphere --radius 40 --distance 620 --shadow --laser-from 319.02,0,0 \
		--truth seen.nrrd -o null:
	[ "$(frameinfo -k points seen.nrrd)" -le "$(frameinfo -k points all.nrrd)" ]
}

@test "fringesim --laser: errors" {
	fails 2 "--calib" fringesim --laser -o null:
	fails 1 "has no laser_plane" fringesim --laser --calib <(echo 'camera_K: [800,0,160,0,800,100,0,0,1]') -o null:
	fails 1 "scan_direction" fringesim --laser --calib straight.json --frames 2 --stage-step 1 -o null:
	fails 1 "axis_point_mm" fringesim --laser --calib straight.json --frames 2 --stage-angle 1 -o null:
	fails 2 "--frames" fringesim --laser --calib rig.json --stage-step 1 -o null:
	fails 2 "two stages" fringesim --laser --calib rig.json --frames 2 --stage-step 1 --stage-angle 1 -o null:
	fails 2 "--reflection" fringesim --laser --calib rig.json --reflection 1 -o null:
	fails 2 "off the laser" fringesim --laser --calib rig.json --laser-from 100,0,0 -o null:
	fails 2 "--laser-from" fringesim --laser --calib rig.json --shadow -o null:
	for option in --gray=half --flats --marker --steps=4 --motion=1 --mean=3 --kind=2+1; do
		fails 2 "has no meaning with --laser" fringesim --laser --calib rig.json $option -o null:
	done
	for option in --reflection=1,2 --speckle=0.1 --thickness=1 --stage-step=3 --profile=bar --stage-start=3; do
		fails 2 "is only for --laser" fringesim $option -o null:
	done
}

@test "fringesim --laser: far beside a face, rays that meet the flat ground at a few degrees meet it where a plane is" {
	while read -r size thickness; do
		py '
from laser import *
size = tuple(map(int, sys.argv[1].split("x")))
Camera(f=800., size=size).save("wide.json", laser_plane=[0.6, 0.6, 0.28 ** 0.5, -600 * 0.28 ** 0.5], image_size=size)' "$size"
		for scene in "relief --height 50" "plane --height 0"; do
			# shellcheck disable=SC2086
			silent fringesim --laser --calib wide.json --scene $scene --distance 600 --thickness $thickness --ambient 10 \
				--amplitude 200 -b float -o "${scene%% *}.nrrd"
		done
		py '
face, plane = read_frame("relief.nrrd")["image"], read_frame("plane.nrrd")["image"]
h, w = face.shape
y, x = np.mgrid[:h, :w] - np.array([(h - 1) / 2, (w - 1) / 2])[:, None, None]
# the face, 0.36 and 0.375 widths to each side of the middle, hides a twelfth more behind it
away = (np.abs(x) > 0.4 * w) | (np.abs(y) > 0.42 * w)
expect(away.sum() > 0.15 * w * h and np.ptp(plane[away]) > 10, away.sum(), np.ptp(plane[away]))
expect(np.abs(face - plane)[away] < 1e-4, sys.argv, np.abs(face - plane)[away].max())
expect(np.abs(face - plane).max() > 0.002, "no face", np.abs(face - plane).max())' "$size"
	done <<-END
		8000x3 2000
		3x8000 1000
		65535x1 20000
	END
}
