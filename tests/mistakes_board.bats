# What users who calibrate get wrong: each mistake is named, and what is right is passed in silence.
load mistakes

board=(--board 11x8,15)
projector=(--projector 1920x1080 --projector-points)

# edited NAME PYTHON: projector.nrrd, each table t, its points p, changed.
edited() {
	py 'tables = read_frames("projector.nrrd")
for t in tables:
	p = t.pixels = t.pixels.copy()
	exec(sys.argv[2])
write_frames(sys.argv[1], tables)' "$@"
}

@test "calibration: fringes along one axis counted by another period, a picture that is scaled along one side" {
	py 'from boards import *
Rig(seed=3).write("camera.nrrd", "projector.nrrd")'
	right fringecal "${board[@]}" "${projector[@]}" projector.nrrd camera.nrrd -o rig.json
	edited period.nrrd 'p[0] *= 18 / 20'
	mistake "projector: fx is 0.89" fringecal "${board[@]}" "${projector[@]}" period.nrrd camera.nrrd -o rig.json
	[[ $stderr == *"pixels are square: is the period of one axis wrong, or does the projector scale"* ]]
	edited both.nrrd 'p[:2] *= 19 / 20'
	right fringecal "${board[@]}" "${projector[@]}" both.nrrd camera.nrrd -o rig.json
	# mirrors in diagonal rows: half as many columns
	edited diagonal.nrrd 'p[0] = (p[0] - 0.5) / 2; t.meta["image_size_px"] = "960 1080"'
	right fringecal "${board[@]}" --projector 960x1080 --projector-points diagonal.nrrd camera.nrrd -o rig.json
	py '
tables = read_frames("camera.nrrd")
for t in tables: t.pixels = t.pixels.copy(); t.pixels[1] *= 0.75; t.meta["image_size_px"] = "1280 768"
write_frames("scaled.nrrd", tables)'
	mistake "camera: fx is 1.33" fringecal "${board[@]}" scaled.nrrd -o rig.json
	# few views that do not tell: no word of it
	py '
tables = read_frames("camera.nrrd")
write_frames("few.nrrd", tables[:4])'
	right fringecal "${board[@]}" few.nrrd -o rig.json
}

@test "calibration: a board in cm, and small rigs before fine boards" {
	py 'from boards import *
rig = Rig(seed=0, degrees=9, devices=[CAMERA, dict(CAMERA, K=(2110.0, 2107.0, 630.0, 515.0))])
rig.write("left.nrrd", "right.nrrd")'
	pair=(--cameras "left,right" left.nrrd right.nrrd -o rig.json)
	right fringecal --board 11x8,15 "${pair[@]}"
	mistake "has its points 1.5 mm from each other, which puts the devices 9.8" fringecal --board 11x8,1.5 "${pair[@]}"
	[[ $stderr == *"mm away: is that cm, or no length at all? Lengths are mm" ]]
	right fringecal --board 11x8,0.5 "${pair[@]}"
	right fringecal --board 11x8,1.5 left.nrrd -o rig.json		# lengths of one camera say nothing
	mistake "has no spacing" fringecal --board 11x8 "${pair[@]}"
}

@test "calibration: a corner at the border, of which its sigma says how unsure it is, makes no view doubtful" {
	py 'from boards import *
rig = Rig(seed=3)
rig.points[0][5][87] += [0.9, -1.3]
tables = [rig.table(0, k) for k in range(15)]
write_frames("wrong.nrrd", tables)
tables[5].pixels = tables[5].pixels.copy()
tables[5].pixels[2, 0, 87] = 1.2
write_frames("unsure.nrrd", tables)
rig.points[0][5] = rig.true[0][5] + np.random.default_rng(1).normal(0, 0.4, (88, 2))
tables = [rig.table(0, k) for k in range(15)]
tables[5].pixels = tables[5].pixels.copy()
tables[5].pixels[2] = 0.4
write_frames("blurred.nrrd", tables)'
	right fringecal "${board[@]}" unsure.nrrd -o rig.json
	for view in wrong blurred; do
		mistake "view 6 of camera does not fit the others" fringecal "${board[@]}" $view.nrrd -o rig.json
	done
}

@test "boards: asymmetric circles of a row or a column too many" {
	py 'import json
json.dump({"camera_K": [[1050, 0, 319.5], [0, 1050, 255.5], [0, 0, 1]], "camera_dist": [-.1, .05, 0, 0, 0],
	"projector_K": [[2000, 0, 959.5], [0, 2000, 539.5], [0, 0, 1]], "R_cam_to_proj": [[.95, 0, .3], [0, 1, 0], [-.3, 0, .95]],
	"T_cam_to_proj_mm": [-190, 0, 30]}, open("rig.json", "w"))'
	fringesim -q -s 640x512 -n 3 --mean 0 --amplitude 0 --ambient 220 --calib rig.json --scene board --board-kind acircles \
		--board 5x8,15 --board-pose 20,-15,10,0,0,620 --noise 2 | framecat -q --frames 0 --delete '*' -o pose.nrrd
	find=(boardfind --kind acircles pose.nrrd -o found.csv --board)
	right "${find[@]}" 5x8,15
	for size in 5x9 6x8; do
		mistake "no picture shows more than 5x8 of its $size points: is the size right?" "${find[@]}" $size,15
	done
}
