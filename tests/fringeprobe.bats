load helpers

# images "OPTIONS OF FRINGESIM" [N ...]: set.nrrd, and its images without metadata as s/1.nrrd, s/2.nrrd ...,
# all of them or those of these numbers (from 1), in this order.
images() {
	local k=0 i
	# shellcheck disable=SC2086
	fringesim -q -s 320x200 --projector 640x400 --noise 1.5 $1 -o set.nrrd
	shift
	rm -rf all s
	mkdir all s
	framecat --split --delete '*' set.nrrd -o all/%d.nrrd
	[ $# -gt 0 ] || eval "set -- {1..$(find all -type f | wc -l)}"
	for i; do cp all/$((i - 1)).nrrd s/$((++k)).nrrd; done
}

# filled PERIODS LINE: the line, its placeholders replaced by what is true.
filled() {
	local line=$2 counts k
	local -a period
	IFS=, read -ra period <<<"$1"
	if [[ $line =~ --count\ ([0-9]+) ]]; then
		counts=${BASH_REMATCH[1]}
		line=${line/ FIELD / $(awk "BEGIN { printf \"%.17g\", $counts * ${period[0]} }") }
	fi
	for ((k = ${#period[@]}; k > 0; k--)); do line=${line/PERIOD$k/${period[k - 1]}}; done
	line=${line/WIDTH/640}
	echo "${line/PERIOD/${period[0]}}"
}

# same FILE: got.nrrd has the phases of that file, but for rounding.
same() {
	local channel=absphase
	[[ $(frameinfo -k channels "$1") == *absphase* ]] || channel=phase
	framecmp --turns --quantile 0.999,1e-4 --nan ignore --channels $channel got.nrrd "$1" || return 1
	framecmp --quantile 0.99,1e-2 --nan ignore --channels $channel got.nrrd "$1"
}

# decodes PERIODS WORDS OPERANDS ...: fringeprobe prints a line with these words, which decodes like the images'
# metadata do. What unwrapq makes of a single phase has tests of its own.
decodes() {
	local periods=$1 words=$2 line unwrap=''
	shift 2
	fringeprobe "$@" >report 2>problems || { cat problems; return 1; }
	line=$(tail -1 report)
	if [[ " $line " != *" $words "* ]]; then
		cat report
		echo "wanted: $words"
		return 1
	fi
	[[ $line != *unwrap2f* ]] || unwrap=', unwrap2f'
	# shellcheck disable=SC2086
	fringepipe -q phasewrap set.nrrd $unwrap -o want.nrrd
	line=${line/ , unwrapq/}
	eval "$(filled "$periods" "$line") -o got.nrrd" 2>messages || { echo "$line"; cat messages; return 1; }
	same want.nrrd || { cat report; return 1; }
}

@test "fringeprobe: real captures: what they are, and a line that decodes them as the known one does" {
	need_data slmaster_eye_12step_gray
	# shellcheck disable=SC2154
	eye=$data/slmaster_eye_12step_gray box=$data/weiyang_box_3freq_35_36_37
	lens=$data/hagen_lens_4step
	probe() {	# PERIODS WORDS FOLDER-OR-FILES ... -- KNOWN COMMAND
		local periods=$1 words=$2 line
		local -a operands=()
		shift 2
		while [ "$1" != -- ]; do operands+=("$1"); shift; done
		shift
		line=$(fringeprobe "${operands[@]}" 2>problems | tail -1)
		[ ! -s problems ]
		[[ $line == "fringepipe phasewrap $words "* ]] || { echo "$line"; return 1; }
		line=${line/ , unwrapq/}
		line=${line/ , phase2depth --calib */}
		eval "$(filled "$periods" "$line") -o got.nrrd"
		"$@" -o want.nrrd
		same want.nrrd
	}
	probe 60 "-n 12 -p 60 --sign +1 --phase-origin 180 -G 6 --gray-cell half" "$eye" -- \
		fringepipe phasewrap -n 12 -p 60 --gray 6 --gray-cell half --phase-origin 180 "$eye"/phase_*.png \
		"$eye"/gray_*.png , unwrap2f
	for side in left right; do
		david=$data/slsdk_david_stereo/$side
		probe 64 "-n 4 -p PERIOD --sign +1 --phase-origin 180 -G 6 --gray-cell half" "$david" -- \
			fringepipe phasewrap -n 4 -G 6 -p 64 --gray-cell half --phase-origin 180 "$david"/phase_*.png \
			"$david"/gray_*.png , unwrap2f
		angel=$data/dtu_angel_2freq_rectified/$side
		probe 48 "-n 8 --count 40,41 --field FIELD --sign -1 --phase-origin 0" "$angel" -- \
			fringepipe phasewrap -n 8 -p 48,46.829268292682926 --sign -1 "$angel"/f4[01]_*.png , unwrap2f
	done
	probe 24.4 "-n 8 --count 35,36,37 --field FIELD --sign -1 --phase-origin 0" "$box" -- \
		fringepipe phasewrap -n 8 -p 24.4,23.722222222222221,23.081081081081081 --sign -1 "$box"/f3[567]_*.png , unwrap2f
	for view in crop orig; do
		probe 20 "-n 4 -p PERIOD --sign -1 --phase-origin 0" "$lens"/lens_${view}_*.jpg -- \
			phasewrap -n 4 -p 20 --sign -1 "$lens"/lens_${view}_{000,090,180,270}.jpg
	done
	fringeprobe "$eye"/*.png >report
	grep -q 'period 41.. px on the camera' report
	grep -q -- '--sign +1 .*found' report
	grep -q -- '-p 60 .*certain .*calib.json' report
	fringeprobe "$lens"/lens_crop_*.jpg >report
	grep -q -- '--sign -1 .*guessed' report
}

@test "fringeprobe: real images that are no captures of fringes are refused in one line" {
	need_data horus_laser
	for set in fringeproc_wrapped meshes tsdf_depth_sequence; do
		fails 1 "$set: no fringe images: " fringeprobe "$data/$set"
	done
	angel=$data/dtu_angel_2freq_rectified
	fails 1 "$angel: holds no images itself, but two folders: if they are two cameras', fringeprobe $angel/left $angel/right" \
		fringeprobe "$angel"
	fails 1 "no fringe images: " fringeprobe "$data"/fringeproc_wrapped/{plume,espi,insar}*
	py '
rng = np.random.default_rng(1)
for k in range(6):
	write_frames("noise%d.nrrd" % k, Frame(rng.integers(0, 255, (90, 100)).astype("u1")))
	write_frames("dark%d.nrrd" % k, Frame(np.zeros((90, 100), "u1")))
	write_frames("one%d.nrrd" % k, Frame(np.full((1, 1), 40 * k, "u1")))
	write_frames("nan%d.nrrd" % k, Frame(np.full((9, 9), np.nan, "f4")))
	write_frames("thin%d.nrrd" % k, Frame(rng.integers(0, 255, (127, 1)).astype("u1")))'
	for name in noise dark one nan thin; do
		fails 1 "no fringe images: 6 images" fringeprobe "$name"*.nrrd
	done
}

@test "fringeprobe: simulated sets of 3 to 12 steps without a word of their own" {
	images "-p 40 -n 3"
	decodes 40 "-n 3 -p PERIOD --shift -120,0,120 --sign +1 --phase-origin 0" s
	images "-p 40 -n 4 --gray half"
	decodes 40 "-n 4 -p PERIOD --sign +1 --phase-origin 0 -G 5 --gray-cell half" s
	images "-p 32 -n 5 --gray column --inverse --flats"
	decodes 32 "-n 5 -p 32 --sign +1 --phase-origin 0 -G 10 -i --gray-cell column" s
	images "-p 20 -n 6 --gray period --axis y"
	decodes 20 "-n 6 -p PERIOD -a y --sign +1 --phase-origin 0 -G 5 --gray-cell period" s
	images "-p 20 -n 7 --gray half --flats --bits 16"
	decodes 20 "-G 6 --gray-cell half -F 2" s
	images "-p 20 -n 8 --gray period --inverse --bits float"
	decodes 20 "-G 5 -i --gray-cell period" s
	images "-p 20 -n 3 --gray period --inverse --axis both"
	decodes 20,20 "-n 3 -p PERIOD1,PERIOD2 -a x,y --shift -120,0,120 --sign +1 --phase-origin 0 -G 5,5 -i" s
	images "-p 16,20 -n 9 --gray half"
	decodes 16,20 "--count 5,4 --field FIELD" s
	images "-p 60,63 -n 10"
	decodes 60,63 "-n 10 --count 21,20 --field FIELD --sign +1 --phase-origin 0" s
	images "-p 60,66 -n 3"
	decodes 60,66 "--count 11,10 --field FIELD --shift -120,0,120" s
	images "-p 35,36,37 -n 4 --scene steps"
	decodes 35,36,37 "--count 1332,1295,1260 --field FIELD --sign +1 --phase-origin 0" s
	[[ $(tail -1 report) == *", unwrap2f --field WIDTH" ]]
	images "-p 640,80,20 -n 3 -c 300 --ref-plane 0,0.00981748,0"
	decodes 640,80,20 "--count 1,8,32 --field FIELD" s
	images "-p 640,160,40 -n 6 -c 300 --ref-plane 0,0.00981748,0"
	decodes 640,160,40 "--count 1,4,16 --field FIELD" s
	images "-p 18 -n 11 --gray column --noise 6 --mean 60 --amplitude 30"
	decodes 18 "-n 11 -p 18 --sign +1 --phase-origin 0 -G 10 --gray-cell column" s
	images "-p 25 -n 4 --gray period --gamma 2.2 --shot .05 --albedo checker"
	decodes 25 "-n 4 -p PERIOD --sign +1 --phase-origin 0 -G 5 --gray-cell period" s
	images "-p 60 -n 80 --bits float --noise 0"
	fringeprobe s >report
	grep -q "80 steps of 4.5 degrees" report
	images "-p 60 -n 6 --gray half --shift 0,50,120,170,230,300"
	decodes 60 "-n 6 -p PERIOD --shift 0,50,120,170,230,300 --sign +1 --phase-origin 0" s
	images "-p 60 -n 6 --bits 12 --mean 1800 --amplitude 1800 --exposure 1.4 --albedo noise --gray column"
	decodes 60 "--max-value 4095" s
}

@test "fringeprobe: hierarchical sets, whose widest fringes are wider than the view or not many in it" {
	# a relief on which the finer fringes run back and forth
	images "-p 480,60 --projector 480x400"
	decodes 480,60 "-n 3 --count 1,8 --field FIELD --shift -120,0,120" s
	images "-p 480,60 -n 4 -c 50 --projector 480x400"
	decodes 480,60 "-n 4 --count 1,8" s
	images "-p 480,60 -s 480x300 -c 20 --scene steps --projector 480x400"
	decodes 480,60 "-n 3 --count 1,8" s
	images "-p 1920,240,30 -n 3 --projector 1920x1080 -s 480x120 -c 100"
	decodes 1920,240,30 "-n 3 --count 1,8,64" s
	# no set has fringes enough to count them
	images "-p 480,240,120 -n 3 -s 160x120 --scene plane --projector 480x400"
	decodes 480,240,120 "-n 3 --count 1,2,4" s
	images "-p 600,200 -n 4 -s 160x120 --scene plane --projector 600x400"
	decodes 600,200 "-n 4 --count 1,3" s
	images "-p 320,64 -n 4 --axis both -s 640x400 -c 30"
	fringeprobe s >report 2>problems
	[[ $(tail -1 report) == *" -a x,x,y,y "* ]]
	[ ! -s problems ]
	# one wide set before other images
	images "-p 320 -n 4 --gray column"
	fringeprobe s >report 2>problems
	grep -q -- "-n 4 *found" report
}

@test "fringeprobe: sine, cosine and flat images" {
	images "-p 40 -k 2+1"
	decodes 40 "fringepipe phasewrap -k 2+1 -p PERIOD --sign +1 --phase-origin 0" s
	images "-p 60,66 -k 2+1 --albedo checker"
	decodes 60,66 "-k 2+1 --count 11,10 --field FIELD --sign +1 --phase-origin 0" s
	images "-p 40 -k 2+1 --gray half --flats"
	decodes 40 "-k 2+1 -p PERIOD --sign +1 --phase-origin 0 -G 5 --gray-cell half -F 2" s
	# three images fit three equal steps, whatever they are
	images "-p 32 -k 2+1 -a y --scene relief -c 9 --gamma 2.2 --ref-plane 0,0,0.196349541"
	fringeprobe s >report
	grep -q -- "-n 3 *guessed .* three images fit whatever they are" report
	images "-p 40 -k 2+1 --gray half" 3 1 2 {4..8}
	decodes 40 "-k 2+1 --flat 1 -p PERIOD --sign +1 --phase-origin 0" s
	images "-p 40 -k 2+1 --gray half" 2 1 {3..8}
	decodes 40 "-k 2+1 -p PERIOD --sign -1 --phase-origin -90" s
	images "-p 40 -n 3"
	framecat s --stack -o three.nrrd
	framecat --set 'channels=r g b' three.nrrd -o three.png
	fails 1 "three of one size is the least; red, green and blue of each may be three steps" fringeprobe three.png
}

@test "fringeprobe: pixels without fringes, and the amplitude that keeps them out" {
	images "-p 60,63 -n 8 --projector 200x200 --scene plane"
	fringeprobe s >report
	grep -q -- "--min-amplitude 1[0-9] *found *3[678].* % of the pixels show weak fringes" report
	eval "$(filled 60,63 "$(tail -1 report)") -o got.nrrd" 2>messages
	py '
phase = read_frame("got.nrrd")["absphase"]
share = np.isnan(phase).mean()
expect(abs(share - .375) < .01, share)'
	# a response that is steep leaves pixels dark in most images, which are no pixels without fringes
	for set in "-p 60 -n 4" "-p 45 -n 3 -a y --gray half --gamma 2.2 --shadow -c 7 --ref-plane 0,0,0.14"; do
		images "$set"
		fringeprobe s >report
		run ! grep -q -- "--min-amplitude" report
	done
}

@test "fringeprobe: noise of 0.2 to 0.4 of the amplitude" {
	images "-p 40 -n 4 --noise 20"
	fringeprobe s >report 2>problems
	grep -q "^noisy: looked at as means of 5 pixels" report
	grep -q -- "-n 4 *found" report
	[ ! -s problems ]
	images "-p 40 -n 3 --noise 35"
	fringeprobe s >report
	grep -q -- "-n 3 *found" report
	images "-p 40 -n 4 --gray half --noise 40"
	fringeprobe s >report 2>problems
	grep -q -- "--sign +1 *found" report
	[[ $(tail -1 report) == *" -G 5 --gray-cell half "* ]]
	grep -Eq "off a sine by (37|38|39)[.0-9]* levels \(0.4" report
	[ ! -s problems ]
	images "-p 32 -n 8 --gray column --noise 40"
	fringeprobe s >report 2>problems
	[[ $(tail -1 report) == *" -n 8 -p 32 --sign +1 --phase-origin 0 -G 10 --gray-cell column "* ]]
}

@test "fringeprobe: an object that fills a part of the view: few fringes, which tell no more than they show" {
	# disc PERIODS N RADIUS GAMMA PX: images of a disc on which a camera pixel is so many projector pixels
	disc() {
		rm -rf s
		mkdir s
		py '
periods, n, radius, gamma, px = "'"$*"'".split()
n, k, rng = int(n), 0, np.random.default_rng(5)
y, x = np.mgrid[:240, :320].astype(float)
inside = np.hypot(x - 160, y - 120) < float(radius)
for period in map(float, periods.split(",")):
	for step in range(n):
		shift = 2 * np.pi * (step - (n == 3)) / n
		wave = .5 + .45 * np.cos(2 * np.pi * (40 + float(px) * x) / period + shift)
		light = 4 + 200 * np.where(inside, 1, .1) * wave ** float(gamma)
		k += 1
		write_frames("s/%d.nrrd" % k, Frame(np.clip(light + rng.normal(0, 2, x.shape), 0, 255).astype("u1")))'
		fringeprobe s >report 2>problems
	}
	disc 60,66 3 80 1 2
	grep -q -- "-n 3 *found" report
	grep -q -- "--count 11,10 *found" report
	# three steps of light that is not linear, over two or three fringes: the ratio is not known well
	disc 48,54 3 80 2.2 0.5
	grep -q -- "-n 3 *found" report
	run ! grep -q -- "--count" report
	grep -q -- "-p PERIOD1,PERIOD2 *unknown" report
	# two periods that are one but for a part of a fringe over all that is seen
	disc 40,41 3 110 1 0.5
	grep -q -- "-n 3 *found" report
	grep -q -- "-p PERIOD1,PERIOD2 *unknown" report
	# three in a hundred pixels
	disc 20,22 4 28 1 1.5
	grep -q -- "-n 4 *found" report
}

@test "fringeprobe: Gray planes and steps in other orders" {
	images "-p 40 -n 4 --gray half" {1..4} {9..5}
	decodes 40 "-G 5 --gray-cell half" s
	grep -q "the least significant first" report
	images "-p 40 -n 4 --gray half --inverse" {1..4} 5 10 6 11 7 12 8 13 9 14
	decodes 40 "-G 5 -i" s
	images "-p 40 -n 4 --gray half --inverse --flats" {1..4} 9 14 8 13 7 12 6 11 5 10 15 16
	decodes 40 "-G 5 -i" s
	images "-p 40 -n 4 --gray half --flats" {5..11} {1..4}
	decodes 40 "-G 5 --gray-cell half -F 2" s
	images "-p 40 -n 4 --gray half --flats" 10 11 {1..9}
	decodes 40 "-G 5 --gray-cell half -F 2" s
	images "-p 60,63,66 -n 4" 1 5 9 2 6 10 3 7 11 4 8 12
	decodes 60,63,66 "--count 231,220,210" s
	images "-p 60 -n 12 --gray half" {12..1} {13..17}
	decodes 60 "-n 12 -p PERIOD --sign -1 --phase-origin -30" s
	images "-p 60 -n 5 --gray half" 4 5 1 2 3 {6..9}
	decodes 60 "--sign +1 --phase-origin -144" s
	# the projector's columns run to the left
	images "-p 60 -n 4 --gray half --ref-plane 40,-0.1,0"
	decodes 60 "-n 4 -p PERIOD --sign +1 --phase-origin 0 -G 5" s
	images "-p 60 -n 4 --ref-plane 40,-0.1,0"
	fringeprobe s >report
	grep -q -- "--sign -1 .*guessed" report
}

@test "fringeprobe: images exchanged, missing, twice, among others; the line decodes what is left" {
	exact="-p 60 -n 12 --gray half --bits float --noise 0"
	images "$exact" 1 2 3 6 5 4 {7..17}
	decodes 60 "-n 12 -p PERIOD" s
	grep -q "4.nrrd and 6.nrrd seem to be exchanged" problems
	grep -q "^problem: 4.nrrd and 6.nrrd" report
	images "$exact" {1..5} {7..17}
	decodes 60 "-n 11 -p PERIOD --shift 0,30,60,90,120,180,210,240,270,300,330" s
	grep -q "are 11 of 12: 1 missing, the first behind 5.nrrd" problems
	images "$exact" {1..5} 5 {7..17}
	decodes 60 "-n 11 -p PERIOD --shift 0,30,60,90,120,180,210,240,270,300,330" s
	grep -q "6.nrrd shows the same as 5.nrrd" problems
	images "-p 60,63 -n 8" 1 3 2 {4..16}
	decodes 60,63 "--count 21,20" s
	grep -q "2.nrrd and 3.nrrd seem to be exchanged" problems
	images "-p 40 -n 4 --gray half" {1..5} 7 6 8 9
	decodes 40 "-G 5" s
	grep -q "the Gray planes 6.nrrd and 7.nrrd seem to be exchanged" problems
	images "-p 40 -n 4 --gray half" {1..4} 6 8 5 7 9
	decodes 40 "-G 5" s
	grep -q "neither with the most nor with the least significant first" problems
	images "$exact" {1..7} {13..17}
	decodes 60 "-n 7 -p PERIOD --shift 0,30,60,90,120,150,180" s
	images "$exact" {1..4} {13..17}
	fringeprobe s >report 2>problems
	grep -Eq "lie within (9.|10.) degrees of a turn, and are found about only" problems
	grep -Eq -- "--shift 0,3.,[67].,(9|10). *guessed" report
	# of a period of 4, 8, 16 columns the blur leaves 1e-5, 0.06, 0.5: none, and a trace that is followed
	images "-p 32 -n 4 --gray column --defocus 3"
	decodes 32 "-p 32 --sign +1 --phase-origin 0 -G 10" s
	grep -q "2 of the Gray planes, the finest from 12.nrrd on, are weak" problems
	grep -q "1 of the Gray planes, the finest, shows no stripes" problems
	grep -q -- "-p 32 *guessed" report
	# three planes, the finest, are blurred, but are no three steps of wide fringes
	images "-p 32,36 -n 3 --gray column --defocus 2 --bits 16 --noise 1 --albedo noise --scene plane -s 320x240" {1..6} {16..7}
	fringeprobe s >report
	[ "$(grep -c "^fringes along x: 3 steps" report)" = 2 ]
	# two measurements: the first one
	images "-p 60 -n 4" 1 2 3 4 1 2 3 4
	decodes 60 "s/[1-4].nrrd" s
	grep -q "the first of 2 measurements" report
	py '
four = [read_frame("s/%d.nrrd" % i) for i in range(1, 5)]
write_frames("many.nrrd", [four[i % 4] for i in range(204)])'
	fringeprobe many.nrrd >report 2>problems
	grep -q "204 images: only the first 200 are looked at" problems
	grep -q "the first of 50 measurements" report
	py '
write_frames("four.nrrd", [read_frame("s/%d.nrrd" % i) for i in range(1, 5)])'
	while cat four.nrrd; do :; done 2>cat.err | timeout 60 fringeprobe >report 2>problems || cat problems
	grep -q "more than 1000 images: only the first 200 are looked at" problems
	mkdir copies
	for i in {1..420}; do ln "s/$((i % 4 + 1)).nrrd" copies/"$i".nrrd; done
	fringeprobe -j 1 copies >report 2>problems
	grep -q "420 images: only the first 200 are looked at" problems
}

# inverted N ...: makes images s/N.nrrd dark where they are bright.
inverted() {
	py '
for n in "'"$*"'".split():
	frame = read_frame("s/%s.nrrd" % n)
	write_frames("s/%s.nrrd" % n, Frame((254 - frame.pixels.clip(0, 254)).astype("u1")))'
}

@test "fringeprobe: Gray planes exchanged, inverted, missing: each is named, and nothing is found by them" {
	column="-p 32 -n 4 --gray column"
	# the most significant planes have no stripes to be sorted by; half of the view shows half of them
	images "$column" {1..7} 9 8 {10..14}
	decodes 32 "-n 4 -p 32 --sign +1 --phase-origin 0 -G 10" s
	grep -q "the Gray planes 8.nrrd and 9.nrrd seem to be exchanged" problems
	grep -q -- "-p 32 *guessed" report
	missing() {	# WHAT
		fringeprobe s >report 2>problems
		grep -q "$1" problems || { cat report; return 1; }
		run ! grep -E "^(Gray|white|black)|-G |fits neither|--sign .*found" report
	}
	images "$column" {1..7} {9..14}
	missing "a Gray plane is missing between 7.nrrd and 8.nrrd: all 9 planes are left out"
	images "-p 40 -n 4 --gray half" 1 2 3 4 5 7 8 9
	missing "a Gray plane is missing, as the code turns back where the phase does not"
	images "-p 20 -n 4 --gray period" {1..8}
	missing "the Gray plane that is finer than 8.nrrd is missing, as a cell holds 2.0. fringes"
	# a file that was lost, where the value turns back in two cells only; one without an edge, which the numbers tell
	images "-p 30 -n 4 --gray period"
	mkdir lost
	for k in {1..5} {7..9}; do cp "s/$k.nrrd" lost/; done
	fringeprobe lost >report 2>problems
	grep -q "turns back where the phase does not: all 4 planes are left out; by .* missing between 5.nrrd and 7.nrrd" problems
	mv s/6.nrrd lost/
	rm lost/5.nrrd
	fringeprobe lost >report
	grep -q -- "-G 4 *guessed *by their numbers an image is missing between 4.nrrd and 6.nrrd" report
	images "-p 20 -n 4 --gray period"
	inverted 7
	fringeprobe s >report 2>problems
	grep -q "the Gray plane 7.nrrd is inverted" problems
	# nothing tells an inverted first plane that has no edge in view from a white image
	images "-p 40 -n 4 --gray half"
	inverted 5
	fringeprobe s >report
	grep -q -- "-G 4 *guessed" report
	# nor one that has an edge from a projector whose columns run to the left
	images "-p 40 -n 4 --gray half" {1..4} {6..9}
	inverted 5
	fringeprobe s >report
	grep -q -- "--sign -1 *guessed *the Gray code falls to the right" report
	images "-p 40 -n 4 --gray half"
	inverted 8
	fringeprobe s >report 2>problems
	grep -q "the Gray plane 8.nrrd is inverted" problems
	grep -q "FILES *unknown *8.nrrd is inverted" report
	[[ $(tail -1 report) == *" -G 5 --gray-cell half FILES , unwrap2f" ]]
	inverted 5 6 7 9
	fringeprobe s >report 2>problems
	[ "$(grep -c "is inverted: it is bright" problems)" = 4 ]	# all that have edges
	images "-p 40 -n 4 --gray half --inverse" {1..7} 13 9 10 11 12 8 14
	decodes 40 "-G 5 -i" s
	grep -q "1 of the Gray planes has changed place with its inverse" problems
}

@test "fringeprobe: a Gray code whose finest planes are too fine for the camera: all are found, the weak ones named" {
	cp "$top/samples/block.yml" .
	fringesim -q -s 160x120 -n 3 -p 40 --gray column --inverse --projector 1280x800 --calib block.yml \
		--scene steps --noise 1 -o all.nrrd
	framecat --frames 3- --delete '*' all.nrrd -o code/
	fringeprobe code >report 2>problems
	grep -q "1 of the Gray planes, the finest from 0010.png on, is weak" problems
	grep -q -- "-G 11 *found" report
	[[ $(tail -1 report) == "fringepipe phasewrap -k gray -G 11 -i --edges --gray-cell column code , unwrap2f" ]]
	seen=$(grep -A1 "^without the Gray planes that are weak" report | tail -1)
	[[ $seen == *"phasewrap -k gray -G 10 -i --edges --gray-cell period code/000[0-9].png code/001[1-9].png code/0020.png , unwrap2f -p 2" ]]
	fringepipe -q phasewrap -k gray --edges all.nrrd , unwrap2f -o want.nrrd
	eval "$(tail -1 report) -q -o got.nrrd"
	framecmp --channels absphase got.nrrd want.nrrd
	# two columns are one cell: within one of them
	eval "$seen -q -o seen.nrrd"
	py '
seen, want = read_frame("seen.nrrd")["absphase"] * 2, read_frame("want.nrrd")["absphase"]
off = abs(seen - want) / (2 * np.pi)
expect(np.nanmean(off < 1) > 0.98, np.nanmean(off < 1), np.nanmax(off))'
}

@test "fringeprobe: a Gray code of the second set's periods, which hold one and a half of the first's" {
	fringesim -q -s 320x200 --projector 640x400 --noise 1.5 -p 66.666666666666667 -n 4 -o fine.nrrd
	fringesim -q -s 320x200 --projector 640x400 --noise 1.5 -p 100 -n 4 --gray period -o set.nrrd
	mkdir s
	framecat --split --delete '*' fine.nrrd -o s/a%d.nrrd
	framecat --split --delete '*' set.nrrd -o s/b%d.nrrd
	fringeprobe s >report 2>problems
	[ ! -s problems ]
	grep -q -- "--gray-cell period *found" report
	grep -q -- "--gray-of 2 *found" report
	[[ $(tail -1 report) == *" , unwrap2f --gray-of 2" ]]
}

@test "fringeprobe: names without zeros, photos, files that are no images, other sizes" {
	images "-p 60 -n 12"
	decodes 60 "--phase-origin 0 s , unwrapq" s/*.nrrd
	grep -q "the files came as text sorts them" report
	decodes 60 "--phase-origin 0 s , unwrapq" s
	run ! grep -q "as text" report
	py '
rng = np.random.default_rng(2)
y, x = np.mgrid[:200, :320]
photo = 120 + 60 * np.sin(x / 50.) * np.cos(y / 37.) + rng.normal(0, 2, x.shape)
write_frames("photo.nrrd", Frame(photo.astype("u1")))
write_frames("small.nrrd", Frame(photo[:100].astype("u1")))
write_frames("colour.nrrd", Frame(np.stack([photo, photo * .7, photo * .5]).astype("u1"), ["r", "g", "b"]))'
	images "-p 40 -n 4 --gray half"
	for name in photo small colour; do framecat $name.nrrd -o "s/$name.png"; done
	echo "a note" >s/note.txt
	head -c 3000 s/photo.png >s/torn.png
	mkdir s/more
	ln -s more s/link
	decodes 40 "-G 5 --gray-cell half" s
	grep -q "photo.png fits neither fringes nor a Gray code" problems
	grep -q "left out: s/small.png: is 320 x 100 uchar, not 320 x 200 uchar" report
	grep -q "left out: s/colour.png: is in colour" report
	grep -q "left out: s/note.txt: no image" report
	grep -q "left out: s/torn.png: " report
	grep -q "s/torn.png: is left out: " problems
	run ! grep -q "left out: s/link" report
	mkdir empty
	fails 1 "empty: folder holds no images" fringeprobe empty
	fails 1 "empty: folder holds no images" fringeprobe s empty
	fails 1 "none.png: cannot be opened" fringeprobe none.png
	fails 1 "photo.png: no fringe images: 1 image of 320 x 200 uchar, and three of one size is the least" \
		fringeprobe s/photo.png
	fails 1 "note.txt: not a known image format" fringeprobe s/note.txt
	fails 1 "is empty" fringeprobe </dev/null
	mv s "it's, a \$folder"
	decodes 40 "-G 5 --gray-cell half" "it's, a \$folder"
	cd "it's, a \$folder"
	mv 1.nrrd -- "-n 3.nrrd"
	mv 2.nrrd ,
	mv 4.nrrd $'4\xc2\x9b1m\xc3\x80.nrrd'
	cp ../set.nrrd ../want.nrrd .
	line=$(fringeprobe -- *.nrrd , 2>../err | tail -1) || { cat ../err; false; }
	[[ $line == *" './-n 3.nrrd' "* && $line == *" ./, "* &&
		$line == *" \$'4\\xc2\\x9b1m"$'\xc3\x80'".nrrd' "* ]] || { echo "$line"; false; }
}

@test "fringeprobe: a stream, pages of a file, channels of a frame, and the words of their order" {
	fringesim -q -s 320x200 --projector 640x400 -p 60,63 -n 4 --gray half -o set.nrrd
	framecat --delete '*' set.nrrd -o pages.tif
	decodes 60,63 "--gray-cell half pages.tif" pages.tif
	framecat --delete '*' --stack set.nrrd -o channels.nrrd
	decodes 60,63 "--gray-cell half channels.nrrd" channels.nrrd
	fringeprobe <pages.tif >report
	[[ $(tail -1 report) == *"--gray-cell half - , unwrap2f" ]]
	images "-p 60,63 -n 4 --gray half --flats" {13..9} 14 15 1 5 2 6 3 7 4 8
	framecat s -o ordered.tif
	decodes 60,63 "--order gray,flat,phase,by-step,lsb-first" ordered.tif
	images "-p 60 -n 4" 1 3 2 4
	framecat s -o wrong.tif
	fringeprobe wrong.tif >report 2>problems
	grep -q -- "--order ORDER .*unknown" report
}

@test "fringeprobe: images and manifests that say what they are, and are held against what they show" {
	fringesim -q -s 320x200 --projector 640x400 -p 60,63 -n 4 --gray half -o set.nrrd -m m.vnl
	fringesim -q -s 320x200 --projector 640x400 -p 60,63 -n 4 --gray half -o caps/ -m caps.vnl
	decodes 60 "fringepipe phasewrap set.nrrd , unwrap2f" set.nrrd
	decodes 60 "fringepipe phasewrap -m caps.vnl , unwrap2f" -m caps.vnl
	grep -q -- "-m caps.vnl *certain" report
	[ ! -s problems ]
	framecat --delete '*' caps -f -o caps/
	decodes 60 "fringepipe phasewrap -m caps.vnl , unwrap2f" -m caps.vnl
	[ ! -s problems ]
	# images beside the manifest are in the line, too: without them the manifest's own would be decoded
	mkdir bare
	n=10
	while read -r file _; do
		[ "${file#\#}" = "$file" ] || continue
		cp "$file" bare/$n.png
		n=$((n + 1))
	done <caps.vnl
	fringeprobe -m caps.vnl bare >report
	[[ "$(tail -1 report)" == "fringepipe phasewrap -m caps.vnl bare , unwrap2f" ]]
	mv caps/phase1_02.png x.png
	mv caps/phase1_01.png caps/phase1_02.png
	mv x.png caps/phase1_01.png
	fringeprobe -m caps.vnl >report 2>problems
	grep -q "the period 60 px: the images have other shifts than they say, by 90 degrees" problems
	mv caps/plane_03.png x.png
	mv caps/plane_02.png caps/plane_03.png
	mv x.png caps/plane_02.png
	fringeprobe -m caps.vnl >report 2>problems
	grep -q "the Gray planes along x are not in the order that they say" problems
	sed 's/ 63 / 70 /' caps.vnl >other.vnl
	fringeprobe -m other.vnl >report 2>problems
	grep -q "the images' periods have the ratio 0.9524, not 0.8571" problems
	fails 1 "none.vnl" fringeprobe -m none.vnl
}

@test "fringeprobe: described images: several measurements, images that say nothing, parts of files" {
	fringesim -q -s 100x80 -p 40,44 -n 4 --frames 3 --motion .1 -m list.vnl -o all%02d.png
	mkdir folder
	cp all*.png folder
	framecat folder -o all.nrrd
	for input in "-m list.vnl" folder all.nrrd; do
		# shellcheck disable=SC2086
		fringeprobe $input >report 2>problems
		grep -q "the first of 3 measurements" report
		[ ! -s problems ]
	done
	framecat --delete '*' all00.png -o silent.png
	cp silent.png folder/all08a.png
	mv folder/all03.png folder/all02a.png
	cp silent.png folder/all00a.png
	fringeprobe folder >report 2>problems
	grep -q "all00a.png does not say what it is" problems
	[[ $(tail -1 report) == "fringepipe phasewrap folder/all0[0-2].png folder/all02a.png folder/all0[4-7].png , unwrap2f" ]]
	framecat --set 'step=4 4' all03.png -o folder/all02a.png -f
	fails 1 "all02a.png: step is no whole number" fringeprobe folder
	# the first image of a file is of another size, or says nothing
	fringesim -q -s 90x80 -p 40 -n 3 -o other%d.png
	framecat other0.png all0[0-7].png -o mixed.nrrd
	framecat --delete '*' mixed.nrrd -o bare.nrrd
	for file in mixed bare; do
		fringeprobe $file.nrrd >report 2>problems
		grep -q -- "FILES .*unknown .*framecat --split" report
		[[ $(tail -1 report) == *" FILES , unwrap2f"* ]]
	done
}

@test "fringeprobe: small pictures of few steps, in which little is found, are no problem" {
	for words in "-p 60,66 -c 2" "-p 60"; do
		# shellcheck disable=SC2086
		fringesim -q -s 160x120 $words -f -o one/
		run -0 --separate-stderr fringeprobe one
		[[ $output == *"the images say themselves what they are"* ]]
		[ "$stderr" = "" ]
		rm -r one
	done
}

@test "fringeprobe: JSON, the same for any number of threads" {
	images "-p 40 -n 4 --gray half" {1..4} 4 {5..9}
	echo "a note" >$'s/quote" \\ \t.txt'
	fringeprobe --json s >a.json 2>problems
	fringeprobe --json -j 1 s -q -o b.json
	fringeprobe --json -j 7 s -q -o c.json
	cmp a.json b.json
	cmp a.json c.json
	fringeprobe s 2>/dev/null | tail -1 >line
	py '
import json
p = json.load(open("a.json"))
expect(p["command"] == open("line").read().strip(), p["command"])
expect(len(p["images"]) == 10 and p["images"][4]["kind"] == "duplicate", p["images"])
expect(p["sets"][0]["images"] == ["%d.nrrd" % i for i in range(1, 5)], p["sets"])
expect(np.abs(np.array(p["sets"][0]["shift_deg"]) - [0, 90, 180, 270]) < 1, p["sets"])
expect(abs(p["sets"][0]["camera_period_px"] - 40) < 0.5 and p["gray"][0]["cell"] == "half", p)
expect(p["left_out"][0]["file"].endswith("quote\" \\ \t.txt"), p["left_out"])
expect(p["unlit"] == 0 and not p["smoothed"] and p["sets"][0]["flat"] is None, p)
expect(len(p["problems"]) == 1 and p["white"] is None, p)
sure = {w["word"].split()[0]: w["sure"] for w in p["words"]}
expect(sure["-n"] == "found" and sure["-p"] == "unknown", sure)'
	fails 2 "--jsn" fringeprobe --jsn s
	fails 2 "./s: is named twice" fringeprobe s ./s
	fails 1 "cannot" fringeprobe s -q -o none/a.txt
}

@test "fringeprobe: generated sets of all kinds: 17 of 20 are as they were made, none is wrong and found" {
	"$python" "$top/tests/probe_sets.py" make made 20 31
	run --separate-stderr "$python" "$top/tests/probe_sets.py" score made	# its own bars are those of 200
	echo "$output" >score
	cat score
	# of 20 few are right by chance: 17 at least, none wrong; 200 nightly have bars of their own
	[[ $(tail -1 score) =~ \ ([0-9]+)\ right.*\ ([0-9]+)\ wrong ]]
	right=${BASH_REMATCH[1]} wrong=${BASH_REMATCH[2]}
	[ "$right" -ge 17 ]
	[ "$wrong" -eq 0 ]
}

@test "fringeprobe: generated sets that were taken for others: dim fringes beside bright planes, blurred planes, few fringes" {
	# full steps beside planes that are five times as bright; two sets of 35 and 36 fringes
	"$python" "$top/tests/probe_sets.py" make dim 27,40 90210
	# less than two fringes of light that is not linear; four steps of it among planes and inverses; a laser's line that may be
	# a plane; 35 and 36 fringes of which eleven are in view
	"$python" "$top/tests/probe_sets.py" make few 43,65,88,114,121 770077
	# two blurred planes and their inverses, which are no four steps of wide fringes
	"$python" "$top/tests/probe_sets.py" make blurred 16, 31
	for folder in dim few blurred; do
		"$python" "$top/tests/probe_sets.py" score $folder >score || { cat score; false; }
		cat score
		grep -q "(100.0 %), 0 unsure, 0 wrong" score
	done
}
