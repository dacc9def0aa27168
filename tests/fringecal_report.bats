load helpers

# What fringecal --report says of a calibration, against rigs that are known.

rig=(--board "11x8,15" --projector 1920x1080 --projector-points projector.nrrd)

# report [OPTION ...]: the rig in camera.nrrd and projector.nrrd, into rig.json and report/.
report() {
	fringecal "${rig[@]}" "$@" camera.nrrd -o rig.json --report report -f >table.txt
}

@test "fringecal --report: the view whose corners are off by 2 px is named first" {
	py 'from boards import *
rig = Rig(seed=3)
rig.points[0][6] = rig.points[0][6] + [2, 0]
rig.write("camera.nrrd", "projector.nrrd")'
	report 2>messages
	has "view 7 of camera does not fit the others" <messages
	grep -v "^#" report/views.txt | head -n 1 | has "^7 camera 88 .* doubtful$"
	has "^worst view  *7 of camera" <report/report.txt
	[ "$(grep -vc "^#" report/views.txt)" -eq 30 ]
	frameinfo report/points.csv | has "2640 points"
	for picture in residuals coverage uncertainty; do frameinfo report/$picture.png | has "1680 x"; done
}

@test "fringecal --report: nothing is doubtful in a rig that is as it should be, and its uncertainty is right" {
	for seed in 0 1 2; do
		py 'from boards import *; Rig(seed=int(sys.argv[1])).write("camera.nrrd", "projector.nrrd")' $seed
		report -q
		[ "$(grep -c doubtful report/views.txt)" -eq 1 ]		# the line that explains it
		py 'from boards import *
stated = float([l for l in open("report/report.txt") if l.startswith("sd of a measured point")][0].split()[7])
error = volume_error(Rig(seed=int(sys.argv[1])), "rig.json")
print(stated, *error)' $seed >>errors
	done
	# of a single rig the error is within a factor, of several their rms
	py 'e = np.loadtxt("errors")
rms = np.sqrt(np.mean(e**2, axis=0))
expect(0.5 < rms[2] / rms[0] < 2, e)'
}

@test "fringecal --report: the uncertainty of pixels without rigid motions is far below the one with them" {
	py 'from boards import *; Rig(seed=5).write("camera.nrrd", "projector.nrrd")'
	report -q
	py 'import re
for line in open("report/report.txt"):
	if "sd of a projected point" in line:
		numbers = [float(v) for v in re.findall(r"([0-9.]+) px", line)]
		expect(numbers[0] < 0.0065 and numbers[1] > 86 * numbers[0], line)	# 0.0054, 104 times'
	[ "$(grep -c "sd of a projected point" report/report.txt)" -eq 2 ]
	py 'table = np.genfromtxt("report/volume.csv", delimiter=",", names=True, skip_header=1)
expect(len(table) == 75 and (table["sigma"] < table["sigma_with_motion"]).all() and (table["sigma"] > 0.0025).all(), table)
expect(np.allclose(table["sigma"], np.sqrt(table["sigma_x"]**2 + table["sigma_y"]**2 + table["sigma_z"]**2), rtol=1e-3))'
}

@test "fringecal --report: pictures that are not filled, boards that are not tilted" {
	py 'from boards import *; Rig(seed=1).write("camera.nrrd", "projector.nrrd")'
	report 2>messages
	has "camera: the points take 4. % of the picture: beyond them the lens is a guess" <messages
	has "projector: the points take 2. % of the picture" <messages
	py 'from boards import *
rig = Rig(seed=2)
i, j, X = corners()
rng = np.random.default_rng(1)
for k in range(15):
	R = rotation([np.radians(rng.uniform(-5, 5)), np.radians(rng.uniform(-5, 5)), rng.uniform(-0.4, 0.4)])
	Y = (X - X.mean(0)) @ R.T + [rng.uniform(-60, 60), rng.uniform(-45, 45), rng.uniform(560, 680)]
	rig.points[0][k] = project(CAMERA, Y) + rng.normal(0, 0.02, (88, 2))
rig.write("camera.nrrd")'
	fringecal --board 11x8,15 --model opencv4 camera.nrrd -o rig.json >table.txt 2>messages
	has "camera: no view is tilted by more than .* degrees.*tilt the board by 20 to 40 degrees" <messages
	[ "$(wc -l <messages)" -eq 1 ]
	fringecal -q --board 11x8,15 --model opencv4 camera.nrrd --report single >table.txt
	frameinfo single/residuals.png | has "840 x"
	[ ! -e single/volume.csv ]
}

@test "fringecal without --report: a picture that the points hardly take, a principal point at its side" {
	py 'from boards import *
Rig(seed=1, devices=[dict(CAMERA, size=(2900, 1024)), PROJECTOR]).write("camera.nrrd", "projector.nrrd")'
	fringecal "${rig[@]}" camera.nrrd >table.txt 2>messages
	has "camera: the principal point 6[0-9]* 5[0-9]* is far from the middle of 2900x1024 px, of which" <messages
	[ "$(wc -l <messages)" -eq 1 ]
	py 'from boards import *
CAMERA["size"], CAMERA["K"] = (2600, 2100), (2100.0, 2098.0, 1295.0, 1045.0)
rig = Rig(seed=1)
rig.write("camera.nrrd", "projector.nrrd")'
	fringecal "${rig[@]}" camera.nrrd >table.txt 2>messages
	has "^fringecal: camera: the points take 1. % of the picture: beyond them the lens is a guess$" <messages
	[ "$(wc -l <messages)" -eq 1 ]
}

@test "fringecal --report: what repeats at the same corners in all views is the board, not noise" {
	py 'from boards import *; Rig(seed=2).write("camera.nrrd", "projector.nrrd")'
	report -q
	has "^repeats at the same corners  *0[.0-9]* of 0.049 px a coordinate$" <report/report.txt
	py 'from boards import *; Rig(seed=2, bend=0.2).write("camera.nrrd", "projector.nrrd")'
	report -q
	has "^repeats at the same corners .* or the board is bent (--warp)$" <report/report.txt
	report -q --warp
	[ "$(grep -c "corners are off" report/report.txt)" -eq 0 ]
	# a print with corners off by 0.02 mm rms along both sides
	py 'from boards import *; Rig(seed=2, print_error=0.02).write("camera.nrrd", "projector.nrrd")'
	report -q
	has "^repeats at the same corners .*: the board.s corners are off by 0.0\(19\|2\|21\) mm along a side" <report/report.txt
}

@test "fringecal --report: correlated parameters are named, with an advice" {
	py 'from boards import *; Rig(seed=1, views=5).write("camera.nrrd", "projector.nrrd")'
	report -q
	has "camera.k2 camera.k3 -0.9.*smaller --model" <report/report.txt
	has "camera.fx camera.fy +0.99" <report/report.txt
}

@test "fringecal --report: folders that cannot be written" {
	py 'from boards import *; Rig(seed=1, views=3).write("camera.nrrd", "projector.nrrd")'
	touch file
	fails 2 "file: is no folder" fringecal "${rig[@]}" camera.nrrd --report file
	fails 2 "--report: is an empty name" fringecal "${rig[@]}" camera.nrrd --report ""
	for option in --report --models; do
		fails 1 "no/such/: cannot be created: there is no folder no (mkdir -p makes it)" \
			fringecal -q "${rig[@]}" camera.nrrd -o rig.json $option no/such
		# a folder that nobody can make a folder in, root neither
		fails 1 "/proc/new: cannot be made: " fringecal -q "${rig[@]}" camera.nrrd -o rig.json $option /proc/new
		[ ! -e rig.json ]
	done
	fringecal -q "${rig[@]}" camera.nrrd --models models --report models/report >/dev/null
	[ -s models/report/report.txt ]
	mkdir full
	touch full/a
	fails 2 "full/: folder is not empty; -f writes into it" fringecal "${rig[@]}" camera.nrrd --report full
	[ "$(ls full)" = a ]
	fringecal -q "${rig[@]}" camera.nrrd --report new/ >/dev/null
	[ -s new/report.txt ]
}
