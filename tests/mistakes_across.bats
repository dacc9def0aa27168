load mistakes.bash

# The phase of the other axis: what nothing tells of where one axis measures alone.

# rigs: ok.json, and the same with one thing changed.
rigs() {
	py 'import json
K1 = np.array([[950, 0, 320], [0, 950, 240], [0, 0, 1.]])
K2 = np.array([[1400, 0, 600], [0, 1400, 400], [0, 0, 1.]])
a, b, c = 0.15, 0.02, np.radians(1)
R = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]]) @ \
	np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
T = -R @ [120, 5, 10.]
up = np.array([[1, 0, 0], [0, np.cos(c), -np.sin(c)], [0, np.sin(c), np.cos(c)]])
D1, D2 = [-0.12, 0.08, 0.0005, -0.0003, 0], [0.08, -0.05, -0.0004, 0.0006, 0]
ok = dict(camera_K=K1, projector_K=K2, R_cam_to_proj=R, T_cam_to_proj_mm=T, camera_dist=D1, projector_dist=D2)
def put(name, **changes):
	json.dump({**{k: np.asarray(v).tolist() for k, v in {**ok, **changes}.items()}, "camera_size": [640, 480],
		"projector_size": [1200, 800]}, open(name + ".json", "w"))
put("ok")
put("lenses", camera_dist=D2, projector_dist=D1)
put("shifted", projector_K=K2 - [[0, 0, 0], [0, 0, 10], [0, 0, 0]])
put("turned", R_cam_to_proj=up @ R)
put("direction", T_cam_to_proj_mm=T + [0, 10, 0])
put("long", T_cam_to_proj_mm=1.5 * T)'
}

# both [OPTION ...]: x.nrrd and y.nrrd, one capture's phases along both axes.
both() {
	fringesim -q --calib ok.json --scene relief --distance 700 -p 60,63 -n 4 -a both --noise 1 "$@" |
		phasewrap -q --min-amplitude 8 -o w.nrrd
	unwrap2f -q w.nrrd -o x.nrrd
	unwrap2f -q -a y w.nrrd -o y.nrrd
}

@test "mistakes: the phase of the other axis tells of a calibration of another lens, place or pose" {
	rigs
	both
	points=(phase2depth x.nrrd -o p.nrrd --calib)
	right "${points[@]}" ok.json
	cp p.nrrd alone.nrrd
	right "${points[@]}" ok.json --across y.nrrd
	py 'expect(read_frame("p.nrrd").pixels.view("u4") == read_frame("alone.nrrd").pixels.view("u4"), "points")'
	run --separate-stderr "${points[@]}" ok.json --across y.nrrd -v
	has -E "puts the pixels 0\.0[0-9]+ px \(rms\) off their epipolar lines" <<<"$stderr"
	for name in lenses shifted turned direction; do
		right "${points[@]}" $name.json
		mistake "px (rms) off their epipolar lines on the projector" "${points[@]}" $name.json --across y.nrrd
		first=$stderr
		run --separate-stderr "${points[@]}" $name.json --across y.nrrd -v
		[ "$(grep -c "off their epipolar lines" <<<"$stderr")" -eq 1 ]
	done
	FRINGEPIPE_BAND=7 mistake "$first" "${points[@]}" direction.json -j 5 --across y.nrrd
	right "${points[@]}" long.json --across y.nrrd		# lies on the same lines; the page says so
	# the other phase: of another period, origin or sign
	framecat --set period_px=57.5 y.nrrd -o period.nrrd
	framecat --channels absphase y.nrrd -o plain.nrrd
	py 'f = read_frame("plain.nrrd")
write_frames("origin.nrrd", Frame(f.pixels + np.float32(0.35), f.names, f.meta))
write_frames("mirrored.nrrd", Frame(np.float32(2 * np.pi * 800 / 60) - f.pixels, f.names, f.meta))'
	for name in period origin mirrored; do
		mistake "px (rms) off their epipolar lines on the projector" "${points[@]}" ok.json --across $name.nrrd
	done
}

@test "mistakes: --across: what is wrong is told where a device computes, too" {
	need_gpu
	rigs
	both
	mistake "px (rms) off their epipolar lines on the projector" \
		phase2depth -d gpu x.nrrd -o p.nrrd --calib direction.json --across y.nrrd
}

@test "mistakes: --across: no word of right captures; what cannot go with the input" {
	rigs
	for kind in "--seed 2" "--noise 8" "--scene sphere --radius 60" "--scene tilt --height 100" "--scene steps --height 40"; do
		# shellcheck disable=SC2086
		both $kind
		right phase2depth --calib ok.json --across y.nrrd x.nrrd -o p.nrrd
		framecat --crop 200,100,200,240 x.nrrd -o part.nrrd
		framecat --crop 200,100,200,240 y.nrrd | right phase2depth --calib ok.json --across - part.nrrd -o p.nrrd
	done
	fails 1 "--across: does not go with the input: its origin_px is 100 50, the input's 200 100" \
		phase2depth --calib ok.json --across <(framecat --crop 100,50,200,240 y.nrrd) part.nrrd -o q.nrrd
	fails 1 "--across: is of the same axis, x, as the input" phase2depth --calib ok.json --across x.nrrd x.nrrd -o q.nrrd
	framecat --delete period_px y.nrrd -o bare.nrrd
	fails 1 "--across: has no key period_px" phase2depth --calib ok.json --across bare.nrrd x.nrrd -o q.nrrd
	fails 2 "--across: is only for --calib" phase2depth --ref y.nrrd --across y.nrrd x.nrrd -o q.nrrd
	[ ! -e q.nrrd ]
}
