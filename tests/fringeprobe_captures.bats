#!/usr/bin/env bats
# fringeprobe beyond one set of captures: two cameras of one projector, several captures in a folder, calibrations and
# other files next to the images, the folder or a pattern in the command, images that other tools take. Every
# command that is printed is run.

load helpers

# bare FOLDER OPTIONS OF FRINGESIM ...: images without a word of their own in FOLDER/00.nrrd, 01.nrrd and so on; the
# same with it in FOLDER.images.nrrd.
bare() {
	local folder=$1
	shift
	mkdir -p "$folder"
	fringesim -q --noise 1 "$@" -o "$folder.images.nrrd"
	framecat --split --delete '*' "$folder.images.nrrd" -o "$folder/%02d.nrrd"
}

# pair OPTIONS ...: captures of two cameras of a rig, in left and right.
pair() {
	cat >pair.json <<-END
	{ "K1": [[450, 0, 160], [0, 450, 120], [0, 0, 1]], "d1": [-0.1, 0.02, 0, 0, 0],
	  "K2": [[450, 0, 160], [0, 450, 120], [0, 0, 1]], "d2": [-0.1, 0.02, 0, 0, 0],
	  "R": [[0.98, 0, 0.199], [0, 1, 0], [-0.199, 0, 0.98]], "T_mm": [-120, 0, 12], "image_size": [320, 240] }
	END
	rm -rf left right
	bare left --calib pair.json --view left --scene relief "$@"
	bare right --calib pair.json --view right --scene relief "$@"
}

# last: the command of the report, with placeholders replaced by VALUE.
last() {
	tail -1 report | sed -E "s/\b(PERIOD|FIELD|WIDTH)\b/$1/g"
}

# shows PATTERN ...: the report has a line for each.
shows() {
	local pattern
	for pattern; do
		grep -Eq -- "$pattern" report || { echo "no line with: $pattern"; cat report; return 1; }
	done
}

@test "fringeprobe: two folders are two cameras of one projector: one origin, and the whole way to points" {
	pair -p 60 -n 4 --gray half
	fringeprobe left right >report 2>problems
	[ ! -s problems ]
	shows "^left camera left: " "^right camera right: "
	[ "$(grep -Ec -- '--phase-origin 0 +found +.* by the left camera, .* by the right one: ' report)" = 2 ]
	[[ $(tail -1 report) == *" left , unwrap2f , rectify --calib pair.json --side left -o left.nrrd && "* ]]
	eval "$(last 60) -q -o points.nrrd"
	# as the images' own words decode them
	for side in left right; do
		fringepipe -q phasewrap $side.images.nrrd , unwrap2f , rectify --calib pair.json --side $side -o $side.known.nrrd
	done
	phasematch -q --right right.known.nrrd left.known.nrrd -o known.nrrd
	framecmp --quantile 0.999,1e-3 --nan ignore -c disparity points.nrrd known.nrrd
	# the operands' order is not the cameras', where the folders are named
	fringeprobe right left >report
	shows "^right camera right: " "^left camera left: "
	eval "$(last 60) -q -o other.nrrd"
	framecmp -c disparity points.nrrd other.nrrd
	fringeprobe --json left right -o pair.json.out
	py '
import json
p = json.load(open("pair.json.out"))
expect(len(p["captures"]) == 2 and "phasematch --right right.nrrd left.nrrd" in p["command"], p["command"])'
	# no calibration: the rows are taken to correspond
	rm pair.json
	fringeprobe left right >report
	[[ $(tail -1 report) == *" && phasematch --assume-rectified --right right.nrrd left.nrrd" ]]
}

@test "fringeprobe: cameras that differ in origin, sign or frequencies: both are told, nothing is found" {
	pair -p 60 -n 4 --gray half
	# the right camera's steps begin with the second image
	mv right/00.nrrd x
	for k in 1 2 3; do mv right/0$k.nrrd right/0$((k - 1)).nrrd; done
	mv x right/03.nrrd
	fringeprobe left right >report 2>problems
	grep -Eq "one projector has one origin of the phase: -?[0-3]\.[0-9] \+- .* by the left camera, -?(8[5-9]|9[0-5])\.[0-9] .* they differ; for both" problems
	shows "--phase-origin .* guessed "
	run ! grep -E -- "--phase-origin .* found " report
	# beats know the origin within their errors
	pair -p 60,63 -n 8
	fringeprobe left right >report 2>problems
	[ ! -s problems ]
	shows "--phase-origin 0 +(found|guessed) .* by the left camera"
	# a set of other frequencies
	rm -r right
	bare right --calib pair.json --view right --scene relief -p 60,66 -n 8
	fringeprobe left right >report 2>problems
	grep -q "the left camera's fringes are 21,20, the right one's 11,10, of one projector: neither is found" problems
	shows "-p PERIOD1,PERIOD2 +unknown"
	# folders that are parts of one capture
	bare left --scene plane -s 320x200 -p 40 -n 4 --gray half
	rm -rf steps planes
	mkdir steps planes
	mv left/0[0-3].nrrd steps
	mv left/*.nrrd planes
	fringeprobe steps planes >report
	shows "^11 images" "^Gray code along x"
}

@test "fringeprobe: three folders, which are no two cameras: one line says that they were looked at as one capture" {
	pair -p 60,63 -n 4
	mkdir none
	mv left right none
	mkdir none/third
	fails 1 "none: holds no images itself, but folders: probe one of left, right, third" fringeprobe none
	rmdir none/third
	mv none/right "none/right one"
	fails 1 "none: holds no images itself, but two folders: if they are two cameras', fringeprobe none/left 'none/right one'" \
		fringeprobe none
	mkdir third
	py '
rng = np.random.default_rng(1)
for k in range(3):
	write_frames("third/%d.nrrd" % k, Frame(rng.integers(0, 255, (240, 320)).astype("u1")))'
	fringeprobe none/left "none/right one" third >report 2>problems
	grep -q "3 folders are looked at as one capture: if each is one, name one, or two of two cameras" problems
}

@test "fringeprobe: a Gray code alone: the command goes on to points, and runs as it is printed" {
	code() {	# OPTIONS FRAMES: these images in code, all in all.nrrd
		# shellcheck disable=SC2086
		fringesim -q -s 160x120 -n 3 -p 40 --gray column --projector 320x200 --noise 1 $1 --scene steps -o all.nrrd
		rm -rf code
		mkdir code
		framecat --split --frames "$2" --delete '*' all.nrrd -o code/%02d.nrrd
		fringeprobe code >report 2>problems
		line=$(tail -1 report)
	}
	# with inverses: edges
	code --inverse 3-
	[[ $line == "fringepipe phasewrap -k gray -G 9 -i --edges --gray-cell column code , unwrap2f" ]]
	shows "--gray-cell column +guessed"
	eval "$line -q -o got.nrrd"
	fringepipe -q phasewrap -k gray --edges all.nrrd , unwrap2f -o want.nrrd
	framecmp -c absphase got.nrrd want.nrrd
	# the projector's size is known: nothing is guessed; wider cells
	echo '{ "projector_width": 320, "projector_height": 200 }' >code/rig.json
	fringeprobe code >report
	shows "--gray-cell column +found +512 cells of 1 px take all of the projector's 320, by code/rig.json"
	echo '{ "projector_width": 1280, "projector_height": 800 }' >code/rig.json
	fringeprobe code >report
	[[ $(tail -1 report) == *" --gray-cell period code , unwrap2f -p 4" ]]
	eval "$(tail -1 report) -q -o wide.nrrd"
	[ "$(frameinfo -k period_px wide.nrrd)" = 4 ]
	# white and black instead of inverses; then without one, and without both
	code --flats 3-
	[[ $line == "fringepipe phasewrap -k gray -G 9 -F 2 --gray-cell column code , unwrap2f" ]]
	eval "$line -q -o got.nrrd"
	fringepipe -q phasewrap -k gray all.nrrd , unwrap2f -o want.nrrd
	framecmp -c absphase got.nrrd want.nrrd
	mv code/10.nrrd code/09.nrrd .
	mv 09.nrrd code
	fringeprobe code >report
	[[ $(tail -1 report) == *" -F 2 --gray-cell column code/0[0-8].nrrd code/09.nrrd BLACK , unwrap2f" ]] ||
		[[ $(tail -1 report) == *" BLACK , unwrap2f" ]]
	shows "-F 2 +unknown .*BLACK is missing"
	eval "$(tail -1 report | sed 's/BLACK/10.nrrd/') -q -o got.nrrd"
	framecmp -c absphase got.nrrd want.nrrd
	mv code/09.nrrd .
	fringeprobe code >report
	[[ $(tail -1 report) == *" -F 2 --gray-cell column code WHITE BLACK , unwrap2f" ]]
	eval "$(tail -1 report | sed 's/WHITE/09.nrrd/; s/BLACK/10.nrrd/') -q -o got.nrrd"
	framecmp -c absphase got.nrrd want.nrrd
	# both axes
	code "--inverse --axis both" 6-
	[[ $line == *" -k gray -G 9,8 -i --edges --gray-cell column code , unwrap2f" ]]
	eval "$line -q -o got.nrrd"
	# a calibration: points
	fringesim -q -s 640x480 -n 3 -p 40 --gray column --inverse --projector 1280x800 --calib "$top/samples/block.yml" \
		--scene steps --noise 1 --truth truth.nrrd -o all.nrrd
	rm -r code
	framecat --frames 3- --delete '*' all.nrrd -o code/
	cp "$top/samples/block.yml" code
	fringeprobe code >report
	line=$(tail -1 report)
	[[ $line == *" -G 11 -i --edges --gray-cell column code , unwrap2f , phase2depth --calib code/block.yml" ]]
	eval "$line -q -o points.nrrd"
	framecmp --quantile 0.95,1 --max 2.1 --nan ignore -c z points.nrrd truth.nrrd
}

@test "fringeprobe: a lost file of two frequencies: the incomplete set is named, the other one is found" {
	need_data dtu_angel_2freq_rectified
	for lost in 40_3 41_0; do
		rm -rf s
		mkdir s
		cp "$data"/dtu_angel_2freq_rectified/left/*.png s
		rm s/f$lost.png
		fringeprobe s >report 2>problems
		grep -q "the steps that begin with f${lost%_*}_[01].png are 7 of 8: 1 missing" problems
		grep -q "the 7 images that begin with f${lost%_*}_[01].png have other steps than the other sets, and are left out" problems
		[ "$(wc -l <problems)" = 2 ]
		shows "-n 8 +found"
		[[ $(tail -1 report) == *" s/f4$((1 - ${lost:1:1}))_*.png , unwrapq" ]]
	done
}

@test "phasematch: phases that were decoded with another sign or origin are refused" {
	pair -p 60 -n 4 --gray half
	for side in left right; do
		fringepipe -q phasewrap -n 4 -p 60 -G 6 --gray-cell half --phase-origin 20 --sign +1 $side/*.nrrd , unwrap2f , \
			rectify --calib pair.json --side $side -o $side.done.nrrd
	done
	[ "$(frameinfo -k decoded_origin_rad left.done.nrrd)" = "$(frameinfo -k decoded_origin_rad right.done.nrrd)" ]
	phasematch -q --right right.done.nrrd left.done.nrrd -o points.nrrd
	framecat --delete decoded_origin_rad right.done.nrrd -o zero.nrrd
	fails 1 "zero.nrrd: was decoded with --phase-origin 0, the input with 20 (key decoded_origin_rad)" \
		phasematch --right zero.nrrd left.done.nrrd -o none.nrrd
	framecat --set decoded_sign=-1 right.done.nrrd -o sign.nrrd
	fails 1 "sign.nrrd: was decoded with --sign -1, the input with +1 (key decoded_sign)" \
		phasematch --right sign.nrrd left.done.nrrd -o none.nrrd
	[ ! -e none.nrrd ]
	fourierphase --sign -1 left/00.nrrd -o f.nrrd
	[ "$(frameinfo -k decoded_sign f.nrrd)" = -1 ]
	phasewrap -q left.images.nrrd -o default.nrrd
	run ! frameinfo -k decoded_sign default.nrrd
}

@test "fringeprobe: captures of several scenes in one folder are split by their names; frequencies are not" {
	for scene in sphere relief steps; do bare $scene -s 320x200 -p 40 -n 4 --gray half --scene $scene; done
	mkdir both
	for scene in sphere relief steps; do
		for f in "$scene"/*.nrrd; do cp "$f" "both/my ${scene}_$(basename "$f")"; done
	done
	fringeprobe both >report 2>problems
	[ ! -s problems ]
	shows "^capture my relief: 11 images" "^capture my sphere: 11 images" "^capture my steps: 11 images"
	[[ $(tail -1 report) == *"both/my relief_'"*".nrrd , unwrap2f -o 'my relief.nrrd' && fringepipe "* ]]
	eval "$(last 40)"
	for scene in sphere relief steps; do
		fringepipe -q phasewrap $scene.images.nrrd , unwrap2f -o known.nrrd
		framecmp --quantile 0.999,1e-4 --nan ignore -c absphase "my $scene.nrrd" known.nrrd
	done
	# names that end with the scene
	mkdir ends
	for scene in sphere relief; do
		for f in "$scene"/*.nrrd; do cp "$f" "ends/$(basename "$f" .nrrd)-$scene.nrrd"; done
	done
	fringeprobe ends >report
	shows "^capture relief: 11 images" "^capture sphere: 11 images"
	# three frequencies of one scene, steps of two axes: one capture
	bare three -s 320x200 -p 60,63,66 -n 4
	bare two -s 320x200 -p 40 -n 4 --axis both
	mkdir f p
	for k in {0..11}; do cp "three/$(printf %02d "$k").nrrd" f/f$((k / 4))_$((k % 4)).nrrd; done
	for k in {0..7}; do cp "two/$(printf %02d "$k").nrrd" p/"$( ((k < 4)) && echo h || echo v)$((k % 4))".nrrd; done
	fringeprobe f >report
	shows "^12 images" "--count 231,220,210 "
	fringeprobe p >report
	shows "^8 images" "-a x,y"
}

@test "fringeprobe: files next to the images say what images cannot" {
	bare s -s 320x200 -p 40 -n 4 --gray half
	fringeprobe s >report
	shows "-p PERIOD +unknown"
	echo '{ "scanner": { "fringe_period_px": 40, "projector_width": 640, "projector_height": 400 }, "note": "a rig" }' >s/rig.json
	fringeprobe s >report
	shows "-p 40 +certain +the fringe period, by s/rig.json"
	run ! grep "left out: s/rig.json" report
	eval "$(tail -1 report) -o got.nrrd"
	fringepipe -q phasewrap s.images.nrrd , unwrap2f -o known.nrrd
	framecmp --quantile 0.999,1e-4 --nan ignore -c absphase got.nrrd known.nrrd
	# another one that says something else; one that cannot be read; text
	printf '%%YAML:1.0\nfringe_period: 50\n' >s/other.yml
	fringeprobe s >report
	shows "-p PERIOD +unknown"
	rm s/other.yml
	echo '{ broken' >s/broken.json
	echo 'fringe_period_px: 50' >s/note.txt
	fringeprobe s >report
	shows "-p 40 +certain" "left out: s/broken.json: no image" "left out: s/note.txt: no image"
	# the projector's width, for beats and for counts that names say
	bare w -s 320x200 -p 60,66 -n 4
	echo '{ "projector_size": [640, 400] }' >w/rig.json
	fringeprobe w >report
	shows "--field 640 +certain +the projector's size, by w/rig.json"
	# XML, and a Gray code of columns that contradicts
	bare c -s 320x200 -p 32 -n 4 --gray column
	echo '<?xml version="1.0"?><opencv_storage><fringe_period>64</fringe_period></opencv_storage>' >c/rig.xml
	fringeprobe c >report 2>problems
	grep -q "c/rig.xml says a period of 64 px, and the Gray code counts 32 columns in one" problems
}

@test "fringeprobe: a calibration next to the images: the command goes on to points" {
	bare s --calib "$top/samples/block.yml" -s 640x480 --scene relief -p 40 -n 4 --gray half
	cp "$top/samples/block.yml" s
	fringeprobe s >report
	shows "phase2depth --calib s/block.yml +found"
	eval "$(last 40) -q -o got.nrrd"
	fringepipe -q phasewrap s.images.nrrd , unwrap2f , phase2depth --calib "$top/samples/block.yml" -o known.nrrd
	framecmp --quantile 0.99,1e-3 --nan ignore -c z got.nrrd known.nrrd
	# of another camera
	bare t -s 160x120 -p 40 -n 4 --gray half
	cp "$top/samples/block.yml" t
	fringeprobe t >report
	shows "left out: t/block.yml: calibration of images of 640 x 480, these have 160 x 120"
	run ! grep "phase2depth" report
	# one phase without an index
	bare u -s 160x120 -p 40 -n 4
	fringeprobe u >report
	shows "^ +unwrapq +found"
	eval "$(last 40) -o got.nrrd"
	[[ $(frameinfo -k channels got.nrrd) == *absphase* ]]
}

@test "fringeprobe: real captures: the command to points is the pages' own (eye, david, angel)" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray david=$data/slsdk_david_stereo angel=$data/dtu_angel_2freq_rectified
	fringeprobe "$eye" >report 2>problems
	[ ! -s problems ]
	shows "left out: .*full_frame.yml: calibration of images of 1280 x 1024, these have 630 x 560"
	[[ $(tail -1 report) != *\ [A-Z]* ]]
	eval "$(tail -1 report) -q -o eye.nrrd"
	fringepipe -q phasewrap -n 12 -p 60 --gray 6 --gray-cell half --phase-origin 180 --min-amplitude 8 "$eye"/phase_*.png \
		"$eye"/gray_*.png , unwrap2f , phase2depth --calib "$eye/calib.json" -o known.nrrd
	framecmp --nan ignore -c x,y,z eye.nrrd known.nrrd
	py 'z, known = (read_frame(f + ".nrrd")["z"] for f in ("eye", "known"))
expect((np.isnan(z) != np.isnan(known)).mean() < 2e-3)	# any limit between the unlit (4.2) and the lit (15) will do
low, mid, high = np.nanpercentile(z, [1, 50, 99])
expect(abs(low - 694.4) < 3 and abs(mid - 727.4) < 1 and abs(high - 772.9) < 3, low, mid, high)	# its SOURCE.md'
	fringeprobe "$david"/{left,right} >report 2>problems
	[ ! -s problems ]
	[ "$(grep -Ec -- '--phase-origin 180 +found .* by the left camera' report)" = 2 ]
	eval "$(last 64) -q -o david.nrrd"
	py 'z = read_frame("david.nrrd")["z"]
low, mid, high = np.nanpercentile(z, [1, 50, 99])
expect(np.isfinite(z).sum() > 180000 and abs(low - 1088) < 3 and abs(mid - 1125) < 3 and abs(high - 1344) < 5, low, mid, high)'
	fringeprobe "$angel"/{left,right} >report 2>problems
	[ ! -s problems ]
	shows "--phase-origin 0 +guessed .* by the left camera, .* by the right one"
	eval "$(last 1920) -q -o angel.nrrd"
	py 'd = read_frame("angel.nrrd")["disparity"]
low, mid, high = np.nanpercentile(d, [1, 50, 99])
expect(np.isfinite(d).sum() > 165000 and abs(low + 26.9) < 2 and abs(mid - 5) < 1 and abs(high - 41.1) < 2, low, mid, high)'
}

@test "fringeprobe: the folder or a pattern stands in the command, and gives just these files" {
	bare s -s 160x100 -p 40 -n 12
	check() {	# WORDS OPERANDS ...: these words are printed, and the shell makes the files of the report of them
		local want=$1 line files
		shift
		fringeprobe "$@" >"$work/report" 2>/dev/null
		fringeprobe --json "$@" -o "$work/probe.json" 2>/dev/null
		line=$(tail -1 "$work/report")
		[[ $line == *" --phase-origin 0 $want , unwrapq" ]] || { echo "$line"; echo "wanted: $want"; return 1; }
		line=${line/PERIOD/40}
		files=$(py 'import json, shlex
for i in json.load(open(sys.argv[1]))["images"]:
	if i["kind"] == "fringes": print(shlex.quote(i["file"]), end=" ")' "$work/probe.json")
		eval "$line -o $work/short.nrrd"
		eval "${line%"$want , unwrapq"} $files , unwrapq -o $work/long.nrrd"
		framecmp "$work/short.nrrd" "$work/long.nrrd"
		# of a pattern all bytes; a folder is one word in the history
		[[ $want != *.nrrd ]] || cmp "$work/short.nrrd" "$work/long.nrrd"
	}
	check s s
	check s s/*.nrrd
	# another image in the folder, in another order of names
	cp s/00.nrrd s/x.nrrd
	check 's/??.nrrd' s/[01]*.nrrd
	mv s/x.nrrd s/xx.nrrd
	check 's/0[0-9].nrrd s/10.nrrd s/11.nrrd' s/[01]*.nrrd
	rm s/xx.nrrd
	# some of a folder's files; names without zeros; blanks, quotes and pattern letters in names
	bare g -s 160x100 -p 40 -n 4 --gray half
	check 'g/0[0-3].nrrd' g/0[0-3].nrrd
	mkdir plain "it's [1]"
	for k in {0..11}; do
		cp "s/$(printf %02d "$k").nrrd" "plain/$k.nrrd"
		cp "s/$(printf %02d "$k").nrrd" "it's [1]/a *$(printf %02d "$k").nrrd"
	done
	check plain plain
	cp s/00.nrrd plain/whole.nrrd
	check 'plain/?.nrrd plain/10.nrrd plain/11.nrrd' plain/?.nrrd plain/1?.nrrd
	check "'it'\\''s [1]'" "it's [1]"
	cp s/00.nrrd "it's [1]/z.nrrd"
	check "'it'\\''s [1]/a *'*.nrrd" "it's [1]"/a*.nrrd
	cd s
	# shellcheck disable=SC2035	# no dashes there
	check '*.nrrd' ??.nrrd
}

@test "fringeprobe: boards, laser lines and single fringe images are pointed to the tools that take them" {
	# a board
	mkdir boards
	for k in 0 1 2 3; do
		fringesim -q --calib "$top/samples/block.yml" --scene board --board 11x8,15 --board-pose $((10 + 2 * k)),-15,$k,0,0,500 \
			--flats -p 40 -n 3 -o b.nrrd
		framecat --split --delete '*' b.nrrd -o b%d.nrrd
		framecat "$(find . -maxdepth 1 -name 'b[0-9].nrrd' | sort | tail -2 | head -1)" -o boards/board$k.png
		rm b?.nrrd
	done
	fringeprobe boards >report 2>problems || { cat problems; false; }
	shows "chessboards" "boardfind --board 11x8 +guessed"
	[ "$(tail -1 report)" = "boardfind --board 11x8 boards" ]
	eval "$(tail -1 report) -o corners.nrrd"
	[ "$(frameinfo -k board_size corners.nrrd | head -1)" = "11 8" ]
	# a laser's line
	py '
from laser import *
a = np.radians(28)
plane = np.array([np.cos(a), 0, np.sin(a), -600 * np.sin(a)])
Camera(f=800., size=(320, 200)).save("straight.json", laser_plane=plane, image_size=[320, 200])'
	mkdir lines
	fringesim -q --laser --calib straight.json --scene sphere --height 20 --noise 2 --thickness 1.5 --ambient 10 -o line.nrrd
	for k in 0 1 2 3; do framecat --delete '*' line.nrrd -o lines/$k.png; done
	fringeprobe lines/0.png >report
	[ "$(tail -1 report)" = "steger lines/0.png" ]
	eval "$(tail -1 report) -o points.nrrd"
	py 'expect(read_frame("points.nrrd").pixels.shape[-1] > 150)'
	# one fringe image, and a wrapped phase, which is none
	bare one -s 320x200 -p 20 -n 4 --scene relief
	fringeprobe one/00.nrrd >report
	[ "$(tail -1 report)" = "fringepipe fourierphase one/00.nrrd , unwrapq" ]
	eval "$(tail -1 report) -q -o got.nrrd"
	phasewrap -q one.images.nrrd -o four.nrrd
	py 'a, b = read_frame("got.nrrd")["absphase"][20:-20, 20:-20], read_frame("four.nrrd")["phase"][20:-20, 20:-20]
d = np.angle(np.exp(1j * (a - b)))
d = np.angle(np.exp(1j * (d - np.median(d))))
expect(np.median(np.abs(d)) < 0.1, np.median(np.abs(d)))'
	framecat -c phase --delete '*' --scale=-3.2,3.2 four.nrrd -o saw.png
	fails 1 "saw.png: no fringe images: 1 image" fringeprobe saw.png
	if have_data horus_laser; then
		horus=$data/horus_laser
		fringeprobe "$horus" >report
		[ "$(tail -1 report)" = "boardfind --board 11x6 $horus/calib_*.jpg" ]
		fringeprobe "$horus/laser_bust.png" >report
		[ "$(tail -1 report)" = "steger --channel red $horus/laser_bust.png" ]
		fringeprobe "$data/slmaster_eye_12step_gray/phase_00.png" >report
		shows "single fringe images" "^fringepipe fourierphase .* , unwrapq"
	fi
}
