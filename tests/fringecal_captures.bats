load helpers

# fringecal from pictures: captures of a board under fringes, in the rig of a calibration, to that calibration.

board=(--board "9x6,18" --model opencv4)

# capture FOLDER POSE SEED OPTION ...: what the camera sees of the board in this pose.
capture() {
	local folder=$1 pose=$2 seed=$3
	shift 3
	mkdir -p "$folder"
	fringesim -q -s 358x287 --calib rig.json --scene board --board 9x6,18 --board-pose="$pose" -a both -g half \
		--seed "$seed" --corners "$folder.csv" "$@" -o "$folder/camera/"
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	py 'import json
a, s = np.radians(18), 0.28
R = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
C = 620 * np.array([np.sin(a), 0, 1 - np.cos(a)])
json.dump({"camera_K": [[2100 * s, 0, 178.7], [0, 2100 * s, 142.86], [0, 0, 1]], "camera_dist": [-0.1, 0.05, 5e-4, -3e-4, 0],
	"projector_K": [[2000 * s, 0, 268.3], [0, 2000 * s, 150.7], [0, 0, 1]], "projector_dist": [-0.05, 0.02, 0, 0, 0],
	"R_cam_to_proj": R.tolist(), "T_cam_to_proj_mm": (-R @ C).tolist(), "camera_size": [358, 287],
	"projector_size": [538, 302]}, open("rig.json", "w"))'
	local n=0 pose
	for pose in 20,5,3,-15,-8,600 -18,12,-5,10,5,640 6,-24,8,-5,10,590 -8,22,-12,15,-6,650 -22,-18,10,-10,8,580; do
		n=$((n + 1))
		capture poses/p$n $pose $n -p 12 -n 4 --noise 2
		[ $n -gt 3 ] || capture dim/p$n $pose $n -p 12 -n 3 --noise 1 --gamma 2.2
	done
}

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	ln -s "$BATS_FILE_TMPDIR"/{poses,dim,rig.json} .
}

# the points of a report against the truth of the simulation, pose by pose: rms of a coordinate, over its sigma
tools='
from boards import *
def rows(path):
	lines = [l.strip().split(",") for l in open(path) if l[0] != "#"]
	return [dict(zip(lines[0], map(float, l))) for l in lines[1:]]
def errors(device, names, folder="poses/p%d.csv"):
	out, pulls = [], []
	for pose in range(1, 6):
		true = {(r["i"], r["j"]): r for r in rows(folder % pose)}
		for p in rows("report/points.csv"):
			if p["pose"] == pose and p["device"] == device:
				for k, s, n in zip("uv", ["sigma_u", "sigma_v"], names):
					out.append(p[k] - true[p["i"], p["j"]][n])
					pulls.append(out[-1] / p[s])
	return np.sqrt(np.mean(np.square(out))), np.sqrt(np.mean(np.square(pulls))), len(out)
class Known:
	def __init__(self, path="rig.json"):
		f = json.load(open(path))
		K = lambda m: (m[0][0], m[1][1], m[0][2], m[1][2])
		self.devices = [dict(size=f[n + "_size"], K=K(f[n + "_K"]), dist=f[n + "_dist"]) for n in ("camera", "projector")]
		self.poses = [(np.eye(3), np.zeros(3)), (np.array(f["R_cam_to_proj"]), np.array(f["T_cam_to_proj_mm"]))]
'

@test "fringecal: captures in folders to a rig: corners, projector coordinates and points in space within their bars" {
	fringecal -q "${board[@]}" --poses poses/p? -o found.json --report report >table.txt 2>messages
	[ ! -s messages ]
	py "$tools"'
rms, pull, n = errors(1, "uv")
# 1080 coordinates: three standard errors are 9 %; measured 0.0047 px, 1.03 and 0.0052 px, 0.99
expect(rms < 0.0051 and 0.91 < pull < 1.09 and n == 540, "corners", rms, pull, n)
rms, pull, n = errors(2, ["projector_u", "projector_v"])
expect(rms < 0.0056 and 0.91 < pull < 1.09 and n == 540, "projector", rms, pull, n)
error = volume_error(Known(), "found.json")
expect(error[0] < 0.6 and error[1] < 0.0125, error)	# 0.30, 0.0085: of some 3 and 20 numbers that are random'
	has "^p[1-5] projector 54 0 " <report/views.txt
	for picture in residuals coverage uncertainty; do
		frameinfo report/$picture.png | has "1680 x"
	done
	frameinfo report/volume.csv | has "75 points"
}

@test "fringecal: phases from the other tools, and crops of them, give the same rig" {
	local n
	for n in 1 2 3 4 5; do phasewrap -q --sigma poses/p$n/camera; done >wrapped.nrrd
	unwrap2f -q -a x wrapped.nrrd -o x.nrrd
	unwrap2f -q -a y wrapped.nrrd -o y.nrrd
	boardfind --board 9x6,18 --channel texture wrapped.nrrd -o corners.nrrd
	fringecal -q --model opencv4 --projector 538x302 --phase-x x.nrrd --phase-y y.nrrd corners.nrrd -o one.json >/dev/null
	fringecal -q "${board[@]}" --poses poses/p? -o all.json >/dev/null
	framecat --crop 20,10,320,270 x.nrrd -o cx.nrrd
	framecat --crop 20,10,320,270 y.nrrd -o cy.nrrd
	fringecal -q --model opencv4 --projector 538x302 --phase-x cx.nrrd --phase-y cy.nrrd corners.nrrd -o crop.json >/dev/null
	py "$tools"'
for other, bar in ("all.json", 0.0018), ("crop.json", 0):	# 0.0015 sd
	a, b = found("one.json"), found(other)
	for k in a[0]:
		expect(abs(a[0][k] - b[0][k]) <= bar * a[1][k], other, k, a[0][k], b[0][k], a[1][k])'
}

@test "fringecal: fringes that are no sinusoids are told, with the tool that mends them" {
	run --separate-stderr fringecal "${board[@]}" --poses dim/p? -o found.json --report report
	[ "$status" -eq 0 ]
	[[ $stderr == *"fringes along x are no sinusoids: errors that repeat 3 times a fringe"*"fringegamma"* ]]
	has "fringes along y .*no sinusoids; fringegamma" <report/report.txt
	run --separate-stderr fringecal "${board[@]}" --poses poses/p? -o found.json
	[[ $stderr != *sinusoids* ]]
}

@test "fringecal: captures that are not as they should be, each with one line" {
	fails 2 "--poses: wants --board" fringecal --poses poses/p1
	fails 2 "--poses: wants the folders" fringecal "${board[@]}" --poses
	fails 2 "--manifest: is only for --poses" fringecal "${board[@]}" --manifest m.txt poses/p1
	fails 2 "--phase-x: is given 1 times, and --phase-y 0 times" fringecal "${board[@]}" --projector 538x302 --phase-x a b
	fails 2 "--projector: WxH is needed for --phase-x" fringecal "${board[@]}" --phase-x a --phase-y b c
	fails 2 "--poses: finds the projector's points by itself" fringecal "${board[@]}" --poses --phase-x a --phase-y b c
	fails 1 "missing: cannot be read" fringecal "${board[@]}" --poses missing
	fails 1 "rig.json: is no folder of a pose" fringecal "${board[@]}" --poses rig.json
	mkdir empty
	run --separate-stderr fringecal "${board[@]}" --poses empty -o found.json
	[ "$status" -eq 1 ]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"empty: phasewrap cannot take the captures (phasewrap: "* ]]
	fails 1 "poses/p1/camera: is of patterns for a projector of 538 302 px (key projector_px), not 800x600" \
		fringecal "${board[@]}" --projector 800x600 --poses poses/p?
	# fringes along one axis alone
	for axis in x y; do
		mkdir -p one/$axis
		fringesim -q -s 358x287 --calib rig.json --scene board --board 9x6,18 --board-pose=20,5,3,-15,-8,600 -a $axis \
			-g half -p 12 -n 4 --noise 2 -o one/$axis/camera/
		run --separate-stderr fringecal "${board[@]}" --poses one/$axis -o found.json
		[ "$status" -eq 1 ]
		other=$([ $axis = x ] && echo y || echo x)
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[[ $stderr == *"one/$axis/camera: no absolute phase of fringes along $other, and a projector's points need both axes (unwrap2f: "* ]]
	done
	# captures without keys: the manifest of the patterns says how large they are
	fringegen -s 538x302 -a both -g half -p 12 -n 4 -o patterns/ -m patterns/list.txt
	head -n 1 patterns/list.txt | has "^## projector_px:=538 302$"
	for n in 1 2 3 4; do
		mkdir -p bare/p$n
		framecat --delete '*' poses/p$n/camera -o bare/p$n/camera/
	done
	bare=("${board[@]}" --poses --manifest patterns/list.txt)
	fringecal -q "${bare[@]}" bare/p? -o bare.json >table.txt
	has '"projector_size": \[538, 302\]' <bare.json
	fails 1 "patterns/list.txt: is of patterns for a projector of 538x302 px, not 800x600" \
		fringecal --projector 800x600 "${bare[@]}" bare/p?
	# two pictures of a pose exchanged
	mkdir -p swapped/p2
	cp -r bare/p2/camera swapped/p2/
	cp bare/p2/camera/0001.png swapped/p2/camera/0002.png
	cp bare/p2/camera/0002.png swapped/p2/camera/0001.png
	fringecal "${bare[@]}" bare/p1 swapped/p2 bare/p[34] >table.txt 2>messages
	has "fringecal: 54 of 216 corners have no projector point: .*; pose p2 has the most of them, 54" <messages
	has "view p2 of camera does not fit the others" <messages
	sed -i '1s/538 302/538/' patterns/list.txt
	fails 1 "patterns/list.txt line 1: projector_px: expected width and height, found 538" fringecal "${bare[@]}" bare/p?
	sed -i 1d patterns/list.txt
	fails 2 "do not name the projector's size" fringecal "${bare[@]}" bare/p?
	fringecal --projector 1920x1080 "${bare[@]}" bare/p? >table.txt 2>messages
	has "projector: the principal point 2.. 1.. is far from the middle of 1920x1080 px, of which the points take . %" <messages
	[ "$(grep -c "^fringecal: projector: " messages)" -eq 1 ]
	fails 1 "poses/p1: has no folder left, but others" fringecal "${board[@]}" --cameras left --poses poses/p?
	for n in 1 2 3; do
		mkdir -p pair/p$n
		ln -s "$PWD/poses/p$n/camera" pair/p$n/left
		ln -s "$PWD/poses/p$n/camera" pair/p$n/right
	done
	fails 1 "pose 1 of projector through right: has the very points of pose 1 of projector through left: is a picture" \
		fringecal -q "${board[@]}" --cameras left,right --poses pair/p?
	fails 1 "no pose shows the board" fringecal -q --board 7x6,18 --poses poses/p1
	fails 1 "missing/rig.json: cannot be created: No such file or directory" \
		fringecal "${board[@]}" --poses poses/p1 -o missing/rig.json
	[ ! -e found.json ]
	mkdir report
	touch report/mine
	fails 2 "report/: folder is not empty; -f writes into it" fringecal "${board[@]}" --poses --report report poses/p?

	phasewrap -q --sigma poses/p1/camera | unwrap2f -q -a x >x.nrrd
	phasewrap -q --sigma poses/p1/camera | tee wrapped.nrrd | unwrap2f -q -a y >y.nrrd
	boardfind --board 9x6,18 --channel texture wrapped.nrrd -o corners.nrrd
	phases() { fringecal --model opencv4 --projector "$1" --phase-x "$2" --phase-y "$3" "${4:-corners.nrrd}"; }
	fails 1 "y.nrrd: is a phase along y (key axis), and one along x is wanted" phases 538x302 y.nrrd x.nrrd
	fails 1 "x.nrrd: has fewer phases than there are poses, 2" phases 538x302 x.nrrd y.nrrd <(cat corners.nrrd corners.nrrd)
	fails 1 "has more phases than there are poses, 1" phases 538x302 <(cat x.nrrd x.nrrd) y.nrrd
	fails 1 "x.nrrd: is of patterns for a projector of 538 302 px (key projector_px), not 100x302" phases 100x302 x.nrrd y.nrrd
	framecat --delete projector_px x.nrrd -o px.nrrd
	framecat --delete projector_px y.nrrd -o py.nrrd
	fails 1 "of the projector, outside of its 100x302 px" phases 100x302 px.nrrd py.nrrd
	fails 1 "has no channel absphase" phases 538x302 wrapped.nrrd y.nrrd
	framecat --channels absphase x.nrrd -o bare.nrrd
	fails 1 "bare.nrrd: has neither sigma nor modulation and texture" phases 538x302 bare.nrrd y.nrrd
	framecat --delete period_px x.nrrd -o keyless.nrrd
	fails 1 "keyless.nrrd: lacks the key period_px" phases 538x302 keyless.nrrd y.nrrd
	framecat --delete origin_px --crop 5,5,300,200 x.nrrd | framecat --delete origin_px -o cut.nrrd
	fails 1 "a crop needs the key origin_px" phases 538x302 cut.nrrd cut.nrrd
}
