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

@test "mistakes: --across: a rig that was knocked between two frames" {
	rigs
	both
	for axis in x y; do mv $axis.nrrd ok_$axis.nrrd; done
	both --calib direction.json
	for axis in x y; do cat ok_$axis.nrrd ok_$axis.nrrd $axis.nrrd >all_$axis.nrrd; done
	right phase2depth ok_x.nrrd ok_x.nrrd -o p.nrrd --calib ok.json --across <(cat ok_y.nrrd ok_y.nrrd)
	mistake "frame 2: --across: puts the pixels " phase2depth all_x.nrrd -o p.nrrd --calib ok.json --across all_y.nrrd
	FRINGEPIPE_BAND=7 mistake "frame 2: --across: puts the pixels " phase2depth -j 3 all_x.nrrd -o p.nrrd --calib ok.json --across all_y.nrrd
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

# error_mm WHAT LIMIT: the rms error of p.nrrd's z against t.nrrd's, and whether it is as the limit says.
error_mm() {
	py 'z, t = (read_frame(name)["z"].astype(float) for name in ("p.nrrd", "t.nrrd"))
print("%s: %.3f mm rms" % (sys.argv[1], np.sqrt(np.nanmean((z - t) ** 2))))
expect(eval("%r %s" % (np.sqrt(np.nanmean((z - t) ** 2)), sys.argv[2])), "z")' "$1" "$2"
}

@test "mistakes: --across names a wrong period, and with the period that it names the points are right" {
	rigs
	both --truth t.nrrd
	for axis in x y; do framecat --set period_px=61.5 $axis.nrrd -o wrong_$axis.nrrd; done
	run --separate-stderr phase2depth --calib ok.json wrong_x.nrrd -o p.nrrd
	[ -z "$stderr" ]	# one axis cannot tell
	error_mm "period 61.5 for 60" "> 15"
	mistake "as where the fringe period is 60 px, not 61.5" phase2depth --calib ok.json wrong_x.nrrd --across wrong_y.nrrd -o p.nrrd
	run --separate-stderr phase2depth -v --calib ok.json wrong_x.nrrd --across wrong_y.nrrd -o p.nrrd
	[ "$(grep -c "epipolar lines" <<<"$stderr")" = 2 ]	# also the line that the first one explains
	period=$(grep -oP 'the fringe period is \K[0-9.]+' <<<"$stderr")
	# a check that is switched off explains nothing
	run --separate-stderr phase2depth --no-check rig-fault --calib ok.json wrong_x.nrrd --across wrong_y.nrrd -o p.nrrd
	[[ $stderr == *"epipolar lines"* && $stderr != *"as where"* ]]
	for axis in x y; do framecat --set period_px=$period wrong_$axis.nrrd -o right_$axis.nrrd; done
	right phase2depth --calib ok.json right_x.nrrd --across right_y.nrrd -o p.nrrd
	error_mm "period $period" "< 0.3"
	# the period of the other phase alone
	mistake "as where the fringe period of the phase of --across is 60 px, not 61.5" \
		phase2depth --calib ok.json x.nrrd --across wrong_y.nrrd -o p.nrrd
}

@test "mistakes: --across names a focal length that is half a percent wrong, and of other faults none" {
	rigs
	both --truth t.nrrd
	for factor in 0.995 1.005; do
		sed "s/1400[.]0/$(py 'print(1400 * float(sys.argv[1]))' $factor)/g" ok.json >focal.json
		right phase2depth --calib focal.json x.nrrd -o p.nrrd
		error_mm "focal length $factor" "> 1"
		mistake "a focal length of --calib is wrong by 0.5 %: the projector's would be 1400 px instead of" \
			phase2depth --calib focal.json x.nrrd --across y.nrrd -o p.nrrd
		named=$(grep -oP "the projector's would be \K[0-9.]+" <<<"$stderr")
		sed "s/$(py 'print(1400 * float(sys.argv[1]))' $factor)/$named/g" focal.json >cured.json
		right phase2depth --calib cured.json x.nrrd --across y.nrrd -o p.nrrd
		error_mm "focal length $named" "< 0.3"
	done
	for name in lenses shifted turned direction; do
		run --separate-stderr phase2depth --calib $name.json x.nrrd --across y.nrrd -o p.nrrd
		[[ $stderr == *"epipolar lines"* && $stderr != *"as where"* ]]
	done
	# noise does not hide it, nor is it taken for a fault
	both --noise 4
	right phase2depth --calib ok.json x.nrrd --across y.nrrd -o p.nrrd
	mistake "a focal length of --calib is wrong by 0." phase2depth --calib focal.json x.nrrd --across y.nrrd -o p.nrrd
}

@test "mistakes: --across names the other camera of a rig where the two are swapped" {
	for side in left right; do
		fringesim -q --calib "$top/samples/portal.json" --view $side --scene relief --height 50 -a both -n 4 -p 20 -g half \
			--noise 1 --truth t_$side.nrrd | phasewrap -q --min-amplitude 8 -o w.nrrd
		unwrap2f -q w.nrrd -o x_$side.nrrd
		unwrap2f -q -a y w.nrrd -o y_$side.nrrd
	done
	points=(phase2depth --calib "$top/samples/portal.json" -o p.nrrd)
	while read -r side wrong; do
		cp t_$side.nrrd t.nrrd
		right "${points[@]}" --camera $wrong x_$side.nrrd	# one axis cannot tell
		error_mm "$side as $wrong" "> 50"
		mistake "by camera $side of the calibration: are the cameras swapped (--camera)?" \
			"${points[@]}" --camera $wrong x_$side.nrrd --across y_$side.nrrd
		named=$(grep -oP 'by camera \K\w+' <<<"$stderr")
		right "${points[@]}" --camera $named x_$side.nrrd --across y_$side.nrrd
		error_mm "$side as $named" "< 0.3"
	done <<-END
		left right
		right left
	END
	# the first camera, where none is named
	mistake "by camera right" "${points[@]}" x_right.nrrd --across y_right.nrrd
}

@test "mistakes: a period that puts points behind the camera: the range that the line names holds the true one" {
	rigs
	for scene in relief "sphere --radius 60" "tilt --height 100"; do
		# shellcheck disable=SC2086
		both --scene $scene
		for period in 30 100 120; do
			framecat --set period_px=$period x.nrrd -o wrong.nrrd
			run --separate-stderr phase2depth --calib ok.json wrong.nrrd -o p.nrrd
			range=$(grep -oP 'With --period from \K.*(?= px the points would)' <<<"$stderr")
			py 'low, high = (float(v) for v in sys.argv[2].split(" to "))
print("%s: %s, the true one is 60" % tuple(sys.argv[1:]))
expect(low < 60 < high and not low < float(sys.argv[1]) < high, "range")' $period "$range"
		done
	done
	# nor need the projector's size be known
	sed 's/, "projector_size": \[1200, 800\]//' ok.json >sizeless.json
	run --separate-stderr phase2depth --calib sizeless.json wrong.nrrd -o p.nrrd
	[[ $stderr == *"With --period from"* ]]
	# what is wrong is the pose: no period is named
	sed 's/"T_cam_to_proj_mm": \[-/"T_cam_to_proj_mm": [/' ok.json >behind.json
	run --separate-stderr phase2depth --calib behind.json x.nrrd -o p.nrrd
	[[ $stderr == *"behind the camera or the projector"* && $stderr != *"With --period"* ]]
}
