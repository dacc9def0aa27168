load mistakes.bash

# Mistakes that a second number at hand tells: what a calibration says twice, units that nothing
# states, distances of pixels and cubes in another unit.

# rigs: ok.json, and all that OpenCV keeps beside K1 K2 R T; the same with one thing changed.
rigs() {
	py 'import json
def cross(t): return np.array([[0, -t[2], t[1]], [t[2], 0, -t[0]], [-t[1], t[0], 0]])
K1 = np.array([[1900, 0, 640], [0, 1900, 480], [0, 0, 1.]])
K2 = np.array([[1400, 0, 600], [0, 1400, 400], [0, 0, 1.]])
a, b = -0.15, 0.02
R = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]]) @ \
	np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
C = np.array([120, 5, 10.])		# the projector, from the camera
T = -R @ C
E = cross(T) @ R
F = np.linalg.inv(K2).T @ E @ np.linalg.inv(K1)
x = C / np.linalg.norm(C)
y = np.cross([0, 0, 1], x) / np.linalg.norm(np.cross([0, 0, 1], x))
R1 = np.stack([x, y, np.cross(x, y)])
R2 = R1 @ R.T
f = 1600
P1 = np.array([[f, 0, 600, 0], [0, f, 450, 0], [0, 0, 1, 0.]])
P2 = P1.copy()
P2[0, 3] = f * (R2 @ T)[0]
Q = np.array([[1, 0, 0, -600], [0, 1, 0, -450], [0, 0, 0, f], [0, 0, -f / P2[0, 3], 0]])
kept = {"": {}, "E": {"E": E}, "F": {"F": F / F[2, 2]}, "R": {"R1": R1, "R2": R2, "P1": P1, "P2": P2}, "Q": {"Q": Q},
	"unit": {"E": -E / np.linalg.norm(T)}, "found": {"E": -E / np.linalg.norm(E)}}
half = np.diag([0.5, 0.5, 1])
pose = {"ok": {}, "cm": {"T": T / 10}, "turned": {"R": R.T}, "inverse": {"R": R.T, "T": -R.T @ T}, "minus": {"T": -T},
	"camera": {"K1": half @ K1}, "projector": {"K2": half @ K2}, "cy": {"K2": K2 - [[0, 0, 0], [0, 0, 180], [0, 0, 0]]},
	"swapped": {"K1": K2, "K2": K1}}
for k, entries in kept.items():
	for p, change in pose.items():
		c = {"K1": K1, "K2": K2, "R": R, "T": T, **entries, **change}
		names = {"K1": "camera_K", "K2": "projector_K", "R": "R_cam_to_proj", "T": "T_cam_to_proj"}
		rig = {names.get(n, n): np.round(v, 9).tolist() if np.abs(v).max() > 1 else v.tolist() for n, v in c.items()}
		json.dump({**rig, "projector_size": [1200, 800]}, open("%s%s.json" % (p, k), "w"))
		json.dump({**{n: np.array(v).tolist() for n, v in c.items()}, "image_size": [1280, 960]}, open("pair_%s%s.json" % (p, k), "w"))
	rig = {n: np.array(v).tolist() for n, v in {"camera_K": K1, "projector_K": K2, "R_cam_to_proj": R, "T_cam_to_proj": T / 1000,
		**{n: v / 1000 if n == "E" and k == "E" else v for n, v in entries.items()}}.items()}
	if k in ("", "E", "unit"): json.dump({**rig, "length_unit": "m"}, open("metres%s.json" % k, "w"))'
	fringesim -q --calib ok.json -s 1280x960 --scene relief --distance 700 -p 60 -n 4 -g half --noise 1 |
		phasewrap -q --min-amplitude 8 | unwrap2f -q | framecat --delete projector_px -o a.nrrd
}

@test "mistakes: a pose or matrices beside the file's own E, F, R1 R2 P1 P2 or Q" {
	rigs
	for k in "" E F R Q unit found; do
		right phase2depth --calib ok$k.json a.nrrd -o x.nrrd
	done
	for k in "" E unit; do
		right phase2depth --calib metres$k.json a.nrrd -o x.nrrd
	done
	tell() { # WORDS CALIBRATION: the first line, as points may be missing altogether behind it
		run --separate-stderr phase2depth --calib "$2.json" a.nrrd -o x.nrrd
		[[ ${stderr%%$'\n'*} == *"$2.json: $1"* ]] || { printf '%s: %s\n' "$2" "$stderr"; return 1; }
		[[ $stderr != *$'\n'* || $stderr == *$'\n'*"no pixel of x is valid"* || $status -eq 1 ]]
	}
	for k in E R; do
		tell "T is 12.052 long, and by " cm$k
		tell "R and T are not the pose that " minus$k
		tell "R and T are not the pose that " turned$k
		tell "R and T are not the pose that " inverse$k
	done
	tell "T is 12.052 long, and by Q of the same file 120.52: is it in another unit" cmQ
	tell "R and T are not the pose that F of the same file belongs to" turnedF
	tell "R and T are not the pose that F" inverseF
	tell "R and T are not the pose that E" turnedunit
	tell "R and T are not the pose that E" turnedfound
	for p in camera projector cy swapped; do
		tell "the matrices of both devices are not those that F of the same file belongs to" ${p}F
	done
	mistake "pair_camera.json: the camera's matrix has its principal point at " \
		phase2depth --calib pair_camera.json --as-projector a.nrrd -o x.nrrd
	# two cameras
	framecat --channels texture a.nrrd -o t.nrrd
	right rectify --calib pair_ok.json --side left t.nrrd -o r.nrrd
	right rectify --calib pair_okF.json --side left t.nrrd -o r.nrrd
	mistake "pair_inverseF.json: R and T are not the pose that F" rectify --calib pair_inverseF.json --side left t.nrrd -o r.nrrd
	run --separate-stderr rectify --calib pair_projectorF.json --side left t.nrrd -o r.nrrd
	[[ $stderr == "rectify: pair_projectorF.json: the matrices of both devices"* ]]
	# entries of these names that are something else
	py 'import json
c = json.load(open("ok.json"))
c.update(E=[[1, 2, 3], [4, 5, 6], [7, 8, 10]], F=list(range(5)), Q=1, R1=np.eye(3).tolist(), R2=c["R_cam_to_proj"],
	P1=np.eye(3, 4).tolist(), P2=np.hstack([c["R_cam_to_proj"], np.reshape(c["T_cam_to_proj"], (3, 1))]).tolist())
json.dump(c, open("others.json", "w"))'
	right phase2depth --calib others.json a.nrrd -o x.nrrd
}

@test "mistakes: T in cm or in squares of a board, whose unit nothing states" {
	rigs
	words="taken for mm as nothing says the unit of T: is it cm, or squares of a board?"
	mistake "cm.json: camera and projector are 12.1 apart and the points 5" phase2depth --calib cm.json a.nrrd -o x.nrrd
	[[ $stderr == *"$words"* ]]
	first=$stderr
	FRINGEPIPE_BAND=7 mistake "$first" phase2depth -j 5 --calib cm.json a.nrrd -o x.nrrd
	change() { # FILE [KEY VALUE]: T in squares of 25 mm
		py 'import json
c = json.load(open("ok.json"))
T = c.pop("T_cam_to_proj")
c[sys.argv[2] if sys.argv[2] == "T_cam_to_proj_mm" else "T_cam_to_proj"] = [t / 25 for t in T]
if sys.argv[2] == "length_unit": c["length_unit"] = sys.argv[3]
json.dump(c, open(sys.argv[1], "w"))' "$@"
	}
	change squares.json "" ""
	mistake "$words" phase2depth --calib squares.json a.nrrd -o x.nrrd
	# who states the unit means it: a rig as small as that of a dentist
	change small.json length_unit mm
	right phase2depth --calib small.json a.nrrd -o x.nrrd
	change small.json T_cam_to_proj_mm mm
	right phase2depth --calib small.json a.nrrd -o x.nrrd
	change small.json length_unit cm
	right phase2depth --calib small.json a.nrrd -o x.nrrd
}

@test "mistakes: distances of pixels and cubes in another unit" {
	fringesim -q -s 160x120 -p 24 -g half -n 4 --ref-plane 10,0.26,0 -c 1 --scene relief --height 20 |
		phasewrap -q | unwrap2f -q | phase2depth --ref ideal -c 1 -o depth.nrrd
	own=$(frameinfo depth.nrrd | awk '/spacing/ { print $2; exit }')
	metres=$(awk "BEGIN { print $own / 1000 }")
	for tool in "normals -o x.nrrd" "fitshape plane"; do
		run -0 --separate-stderr $tool --pixel "$own" depth.nrrd
		[ -z "$stderr" ]
		run --separate-stderr $tool --pixel 3 depth.nrrd
		[ "$stderr" = "${tool%% *}: --pixel: says that columns are 3 apart, the frame itself $own mm: the option counts" ]
	done
	mistake "says that columns are $metres apart" normals --pixel "$metres" depth.nrrd -o x.nrrd
	py '
rng = np.random.default_rng(2)
for name in "points", "more":
	xyz = rng.uniform(-100, 100, (3, 60, 80)).astype("f4")
	write_frames(name + ".nrrd", Frame(xyz, ["x", "y", "z"], {"length_unit": "mm"}))'
	mistake "--pixel is not used: x and y say where pixels are" normals --pixel 5 points.nrrd -o x.nrrd
	for grid in 1 5; do
		right mergexyz --grid $grid points.nrrd -o x.ply
	done
	mistake "--grid: cubes of 0.001 are small for a cloud 200 long: 4800 of its 4800 points are left" \
		mergexyz --grid 0.001 points.nrrd -o x.ply
	mistake "--grid: cubes of 0.001 are small" mergexyz --grid 0.001 points.nrrd more.nrrd -o x.ply
}
