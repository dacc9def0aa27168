load ../agreement

# The frames are no larger than the cameras; their heights are less than, the same as and more than the result's.
@test "agree: rectify" {
	cat >rig.json <<'END'
{"K1": [[800, 1, 500], [0, 790, 30], [0, 0, 1]], "d1": [-0.1, 0.05, 0.001, -0.0005, 0.01],
 "K2": [[800, 0, 480], [0, 805, 33], [0, 0, 1]], "d2": [0.08, -0.03, -0.0008, 0.0006, 0],
 "R": [[0.98006658, 0, 0.19866933], [0, 1, 0], [-0.19866933, 0, 0.98006658]], "T_mm": [-150, 4, 12]}
END
	agrees rectify <<'CASES'
float absphase:0..3 phase:-3..3 texture:0..100 sigma:0.1..0.2 label:0..3 | | rectify -q --calib rig.json --side left --size 1000x40 --max-step 2.5
ushort phase:0..6 image:0..4000 | max_value:=3900 | rectify -q --calib rig.json --side right --size 900x65 --interpolation cubic
CASES
	[ -n "${AGREE_ALL-}" ] || return 0	# make agree-all: each alone
	agrees rectify <<'CASES'
float absphase:0..3 texture:0..100 sigma:0.1..0.2 label:0..3 | | rectify -q --calib rig.json --side left --size 1000x40
float phase:-3..3 depth:5..6 | | rectify -q --calib rig.json --side right --size 1000x65 --max-step 2.5
float absphase:0..3 phase:-3..3 sigma:0..1 | | rectify -q --calib rig.json --side left --interpolation cubic --size 600x65
uchar phase:0..6 image:0..200 | | rectify -q --calib rig.json --side left --size 900x65
ushort image:0..4000 | max_value:=3900 | rectify -q --calib rig.json --side right --size 900x65 --interpolation cubic
CASES
}
