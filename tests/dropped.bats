load helpers

# Images that a camera has dropped: phasewrap goes on with the next measurement.

# Five measurements of 2 x 3 images; what comes of each of them alone is good-K.nrrd.
setup() {
	load helpers
	work=$(mktemp -d)
	cd "$work" || exit 1
	fringesim -s 40x24 -p 12,14 -n 3 --frames 5 --scene plane --motion 0.02 -c 1 -o all.nrrd
	framecat --delete '*' all.nrrd | phasewrap -q -n 3 -p 12,14 -o good-%d.nrrd
}

# drop HOW NUMBERS [NUMBERS ...]: in.nrrd holds the other images, which tell by HOW when they were taken; the next ones
# in1.nrrd, and so on.
drop() {
	py '
how = sys.argv[1]
for i, numbers in enumerate(sys.argv[2:]):
	gone, out = [int(k) for k in numbers.split()], []
	for k, f in enumerate(read_frames("all.nrrd")):
		meta = {"keys": dict(f.meta), "time": {"time_s": repr(round(k / 60 + 0.001 * (k * 7 % 3 - 1), 4))},
			"burst": {"time_s": repr(round(k / 60 + k // 6 * 0.123, 4))},
			"number": {"frame_number": str(k + 17)}, "file": {}, "none": {}}[how]
		if k not in gone:
			out.append(Frame(f.pixels, f.names, meta))
			if how == "file": write_frames("img%03d.nrrd" % (k + 5), out[-1])
	write_frames("in%s.nrrd" % (i or ""), out)' "$@"
}

# lost NUMBERS WORDS ...: phasewrap --keep-going loses these measurements, and the others are right.
lost() {
	local numbers=$1 k
	shift
	run phasewrap -q -n 3 -p 12,14 --keep-going "$@" -o out-%d.nrrd
	if [ -z "$numbers" ]; then
		[ "$status$output" = 0 ] || { echo "$output"; return 1; }
	else
		[ "$status" -eq 1 ] || return 1
		[ "$(grep -c ' is lost: ' <<<"$output")" -eq "$(wc -w <<<"$numbers")" ] || { echo "$output"; return 1; }
		[[ ${lines[-1]} =~ "of 5 measurements "(was|were)" lost"$ ]] || { echo "$output"; return 1; }
	fi
	for k in 0 1 2 3 4; do
		if [[ " $numbers " == *" $k "* ]]; then
			[ ! -e out-$k.nrrd ] || return 1
			grep -q "measurement $k is lost: " <<<"$output" || { echo "$output"; return 1; }
		else
			framecmp -c phase1,phase2 good-$k.nrrd out-$k.nrrd || { echo "$output"; return 1; }
		fi
	done
	rm -f out-*
}

@test "dropped: keys, times and numbers tell which measurement an image belongs to" {
	local how i gone=("" 8 12 "5 14" "7 8 25") bad=("" 1 2 "0 2" "1 4")
	for how in keys time burst number; do
		drop $how "${gone[@]}"
		mv in.nrrd in0.nrrd
		for i in "${!gone[@]}"; do
			lost "${bad[i]}" in$i.nrrd || { echo "$how, without ${gone[i]}"; return 1; }
		done
	done
	drop time "7 8 9 10 11 12"
	lost "1 2" in.nrrd
}

@test "dropped: without --keep-going it is an error, and nothing is written" {
	drop time 8
	fails 1 "phasewrap: in.nrrd: begins another measurement after 5 of 6 images of measurement 1: images were dropped, --keep-going goes on without that one" \
		phasewrap -q -n 3 -p 12,14 in.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
	fringepipe -q --keep-going phasewrap -n 3 -p 12,14 in.nrrd , unwrap2f -o out-%d.nrrd || [ $? -eq 1 ]
	[ "$(echo out-*)" = "out-0.nrrd out-2.nrrd out-3.nrrd out-4.nrrd" ]
	# nobody asks: as they come
	phasewrap -q -n 3 -p 12,14 --dropped no --keep-going in.nrrd -o out-%d.nrrd || [ $? -eq 1 ]
	[ -e out-1.nrrd ]
}

@test "dropped: numbers in files' names count where they are told to, else a line says so" {
	drop file "8 17"
	lost "1 2" --dropped number img*.nrrd
	run phasewrap --dropped images -n 3 -p 12,14 --shift=-120,0,120 img*.nrrd -o out.nrrd
	[[ $output == *"images 7 to 16, by what they look like, are of measurements that lack images"* ]]
	# too small to be compared
	py 'import glob
for p in glob.glob("img*.nrrd"):
	write_frames(p, [Frame(f.pixels[:, :, :12], f.names, f.meta) for f in read_frames(p)])'
	run phasewrap -n 3 -p 12,14 --shift=-120,0,120 img*.nrrd -o out.nrrd
	[[ $output == *"phasewrap: the files' numbers jump from 12 to 14, with measurements of 6 images: was one dropped? --dropped number goes by these numbers"* ]]
	[ "$(grep -c 'was one dropped' <<<"$output")" -eq 1 ]
	# a measurement that was deleted is none that lacks images, nor are angles, nor an unreadable file
	rm img*.nrrd
	drop file "6 7 8 9 10 11"
	silent phasewrap -n 3 -p 12,14 --shift=-120,0,120 img*.nrrd -o out.nrrd
	for k in 0 1 2; do cp img00$((k + 5)).nrrd a_$((120 * k)).nrrd; done
	silent phasewrap -n 3 -p 12 --shift=-120,0,120 a_0.nrrd a_120.nrrd a_240.nrrd -o out.nrrd -f
	: >img007.nrrd
	run phasewrap -n 3 -p 12,14 --shift=-120,0,120 --keep-going img*.nrrd -o out.nrrd
	[[ $output != *dropped* && $output == *"measurement 0 is lost: img007.nrrd: is empty"* ]]
	cp img005.nrrd a.nrrd
	fails 1 "a.nrrd: --dropped number wants the key frame_number, or a number in the file's name" \
		phasewrap -n 3 -p 12 --dropped number --shift=-120,0,120 a.nrrd -o out.nrrd -f
}

@test "dropped: a pause between two measurements, times by hand, and no times" {
	drop time 6
	run phasewrap -n 3 -p 12,14 --shift=-120,0,120 --keep-going in.nrrd -o out.nrrd
	[[ $output == *"phasewrap: between two measurements there was time for 1 more image: it is taken for a pause; --dropped time or number takes them for dropped"* ]]
	lost 1 --dropped time in.nrrd
	py '
for k, f in enumerate(read_frames("all.nrrd")):
	write_frames("h%02d.nrrd" % k, Frame(f.pixels, f.names, {"time_s": str(k * k % 17 + 20 * k)}))'
	cat h*.nrrd >in.nrrd
	lost "" in.nrrd
	fails 1 "the times are too uneven to count images by" phasewrap -q -n 3 -p 12,14 --dropped time in.nrrd -o out.nrrd -f
	drop none 8
	fails 1 "in.nrrd: --dropped time wants the key time_s" phasewrap -q -n 3 -p 12,14 --dropped time in.nrrd -o out.nrrd -f
	fails 2 "--dropped: must be one of auto time number no images" phasewrap --dropped some in.nrrd
}

@test "dropped: four steps of two periods show that they do not fit" {
	fringesim -s 40x24 -p 12,14 -n 4 --frames 3 | framecat --delete '*' -o four.nrrd
	py 'write_frames("in.nrrd", [f for k, f in enumerate(read_frames("four.nrrd")) if k != 9])'
	run phasewrap --dropped images -n 4 -p 12,14 --keep-going in.nrrd -o out.nrrd
	[[ $output == *"phasewrap: measurement 1 is lost: images 9 to 15, by what they look like, are of a measurement that lacks images: some were lost"* ]]
	run phasewrap -n 4 -p 12,14 --dropped no --keep-going in.nrrd -o out.nrrd -f
	[[ $output == *"phasewrap: measurement 1: the period "*" px: "* ]]
}

# What the images look like: nothing else tells where sets begin, nor that one is lost.

# stream WORDS OF FRINGESIM -- IMAGES: these images of a stream without keys into in.nrrd; good-K.nrrd is set K.
stream() {
	local words=()
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	fringesim -s 160x120 --frames 8 --scene relief --height 10 --albedo noise --noise 2 --motion 0.1 "${words[@]}" -o full.nrrd
	phasewrap -q full.nrrd -o good-%d.nrrd
	py 'write_frames("in.nrrd", [Frame(f.pixels) for k, f in enumerate(read_frames("full.nrrd"))
	if any(a <= k < b for a, b in (map(int, r.split(":")) for r in sys.argv[1:]))])' "${@:2}"
}

# sets NUMBERS: exactly these outputs out-K.nrrd are there, with the pixels of good-K.nrrd.
sets() {
	[ "$(find . -name 'out-*.nrrd' | tr -dc '0-9\n' | sort -n | tr '\n' ' ')" = "$*${1:+ }" ] || { ls; return 1; }
	for k in "$@"; do
		py 'a, b = (read_frame(p).pixels.tobytes() for p in sys.argv[1:])
expect(a == b)' out-"$k".nrrd good-"$k".nrrd || return 1
	done
}

@test "dropped: a wrong number of steps of a stream is told as that of files is, and no image as lost" {
	fringesim -q -s 320x200 -p 40 -n 12 --ref-plane 10,0.157,0 -c 5 --noise 1.5 | framecat --split --delete "*" -o %02d.png
	for n in 4 6; do
		cat ./??.png ./??.png | phasewrap -n $n -p 40 -o $n-%d.nrrd 2>messages
		has "$n images, but steps of about 360/12 degrees" <messages
		run ! grep "left out\|ends after" messages
		[ -e $n-$((24 / n - 1)).nrrd ]
	done
}

@test "dropped: a stream that begins late and lacks an image, by what the images look like" {
	stream -n 3 -p 30,36 -- 4:15 16:48
	run phasewrap -n 3 --shift=-120,0,120 -p 30,36 -o out-%d.nrrd < <(cat in.nrrd)
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} == "phasewrap: 2 of 8 measurements left out: images were lost" ]]
	sets 1 3 4 5 6 7
	rm out-*
	run phasewrap -n 3 --shift=-120,0,120 -p 30,36 --strict -o out-%d.nrrd < <(cat in.nrrd)
	[ "$status" -eq 1 ]
	# a folder that is followed is a stream, too
	rm -f out-*
	mkdir inbox
	framecat in.nrrd -o inbox/%03d.tif
	run phasewrap --follow --idle 0.5 -n 3 --shift=-120,0,120 -p 30,36 inbox -o out-%d.nrrd
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} == "phasewrap: 2 of 8 measurements left out: images were lost" ]]
	sets 1 3 4 5 6 7
	# of files it is an error
	rm -f out-*
	fails 1 "images 1 to 2, by what they look like, are of a measurement that lacks images: some were lost, --keep-going goes on without, --dropped no takes them as they come" \
		phasewrap --dropped images -n 3 --shift=-120,0,120 -p 30,36 in.nrrd -o out-%d.nrrd
	run phasewrap --keep-going --dropped images -n 3 --shift=-120,0,120 -p 30,36 in.nrrd -o out-%d.nrrd
	[ "$status" -eq 1 ]
	sets 1 3 4 5 6 7
	rm -f out-*
	phasewrap -q --dropped no -n 3 -p 30,36 in.nrrd -o out-%d.nrrd || [ $? -eq 1 ]
	[ -e out-0.nrrd ]
}

@test "dropped: square waves out of focus: a third harmonic of a fifth that moves is no lost image" {
	stream -n 3 -p 60 -k square --defocus 3.4 --motion 0.5 -- 0:4 5:24
	run phasewrap -n 3 -p 60 -o out-%d.nrrd < <(cat in.nrrd)
	[[ ${lines[-1]} == "phasewrap: 1 of 8 measurements left out: images were lost" ]]
	sets 0 2 3 4 5 6 7
}

@test "dropped: an ordered stream, a single set and what cannot be told stay as they are" {
	stream -n 3 -p 30,36 -- 0:48
	silent phasewrap -n 3 --shift=-120,0,120 -p 30,36 -o out-%d.nrrd < <(cat in.nrrd)
	sets 0 1 2 3 4 5 6 7
	rm out-*
	stream -n 3 -p 30,36 -- 3:9
	silent phasewrap -n 3 --shift=-120,0,120 -p 30,36 in.nrrd -o out.nrrd
	stream -n 3 -p 60,60.5 -- 3:48
	run phasewrap -n 3 --shift=-120,0,120 -p 60,60.5 -o out-%d.nrrd < <(cat in.nrrd)
	[[ $output == *"nothing in the images tells which period comes first: they could not be told apart in this field; the first image is taken as a set's first; begin with a set's first image, or project fringegen --lead black"* ]]
	local coarse
	for coarse in 1 8; do	# fringes of 9 and of 73 camera pixels, from the second image on
		py '
y, x = np.mgrid[:72, :96]
rng = np.random.default_rng(1)
write_frames("in.nrrd", [Frame((120 + 75 * np.cos(2 * np.pi * (1.75 * x / int(sys.argv[1]) / (16, 18)[t // 3 % 2] + t / 3))
	+ rng.normal(0, 1, x.shape)).astype("u1")) for t in range(1, 36)])' $coarse
		run phasewrap -n 3 --shift=-120,0,120 -p 16,18 -o /dev/null < <(cat in.nrrd)
		echo "$output"
		if [ $coarse = 1 ]; then
			[ "$status$output" = "0phasewrap: 1 of 6 measurements left out: images were lost" ]
		else
			[[ $status = 1 && $output == *"they could not be told apart in this field; no set is formed"* ]]
		fi
	done
	stream -n 4 -p 60 -- 0:12
	run phasewrap -n 4 -p 60 -o one-%d.nrrd < <(cat in.nrrd)
	[[ $output == *"nothing in the images tells which of them begins a set"* ]]
	fails 0 "nothing in the images tells which of them begins a set" phasewrap -n 4 -p 60 --dropped images in.nrrd -o file-%d.nrrd
	silent phasewrap -n 4 -p 60 in.nrrd -o one-%d.nrrd -f
	# one set alone, where no image could be moved
	framecat --frames 0-3 in.nrrd | silent phasewrap -n 4 -p 60 -o single.nrrd
	framecmp one-0.nrrd single.nrrd
}

@test "dropped: where no set of a pipe is whole, the number of steps is asked for, and the run fails" {
	need_data hagen_lens_4step
	framecat --delete '*' "$data"/hagen_lens_4step/lens_crop_*.jpg -o set.nrrd
	cat set.nrrd set.nrrd set.nrrd set.nrrd set.nrrd set.nrrd >lens.nrrd
	for tail in "" ", unwrapq"; do
		# shellcheck disable=SC2086 # a chain
		fails 1 "all 5 measurements left out: images were lost, or is the number of --steps another one?" \
			fringepipe phasewrap -n 8 -p 25 --sign -1 - $tail -o none.nrrd < <(cat lens.nrrd)
		[ ! -e none.nrrd ]
	done
	phasewrap -q -n 4 -p 25 --sign -1 -o out-%d.nrrd < <(cat lens.nrrd)
	[ -e out-5.nrrd ]
}

@test "dropped: a black frame before each set shows where it begins" {
	fringegen -s 480x120 -n 3 -p 60 --lead black -m set.txt -o set/
	[ "$(sed 1d set.txt | grep -v '^#' | head -n 1 | cut -d' ' -f2)" = black ]
	stream -n 3 -p 60 --lead black -- 2:9 10:32
	silent phasewrap -q -m set.txt -o out-%d.nrrd < <(cat in.nrrd)
	sets 1 3 4 5 6 7
	fails 2 "--lead: black may look like a Gray plane: give both" fringegen -g half --lead black -o x/
	fails 2 "--lead: must be the only dark or light image: leave out --flats" fringegen --flats --lead both -o x/
}

@test "dropped: streams cut anywhere, a quick share of make nightly's" {
	"$top/tests/nightly/streams" 0 7 "3 steps, black" "3 steps, 60 66" "2+1" "3 steps, 5 planes" >&2
}
