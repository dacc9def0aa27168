# shellcheck disable=SC2016
load helpers

# All tests share one run of samples/Makefile; those that change something do so in the folder of their own.
setup_file() {
	built=$BATS_FILE_TMPDIR/built
	mkdir "$built"
	make -s -j2 -C "$top/samples" OUT="$built" BIN="$(dirname "$(command -v fringepipe)")" all table >"$built/table.txt"
}

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	cp -a "$BATS_FILE_TMPDIR/built/." .
	cp -r --preserve=timestamps "$top/samples/." own/
}

samples() {
	make -s -j2 -C "$work/own" OUT="$work" BIN="$(dirname "$(command -v fringepipe)")" "$@"
}

# remade SETS OF RESULTS: what make would make now, and then does
remade() {
	samples -n | grep -oE ' (-o|>)[^ ]* ?[^ ]*/(out|captures)/[^ ]+' | sed 's/.*[>o ][^ ]*\/\(out\|captures\)\//\1\//' | sort >list
	printf '%s\n' "$@" | sort | diff - list
}

results() {		# set file ...: by their paths
	local set=$1
	shift
	printf "out/$set/%s\n" "$@"
}

pictures="surface.png points.ply section.svg"

@test "samples: captures to results, errors as expected to 2 %, no wrong fringe order" {
	cat table.txt
	py '
import re
number = re.compile(r"[-0-9.e+]+")
for seen, want in zip(open("table.txt"), open(sys.argv[1]), strict=True):
	a, b = [[float(v) for v in number.findall(line) if v not in "e.-"] for line in (seen, want)]
	expect(seen.split(":")[0] == want.split(":")[0], seen, want)
	for x, y in zip(a, b, strict=True):
		expect(abs(x - y) <= 0.02 * abs(y), seen, want)' "$top/samples/expected/table.txt"
	py '
for sample in "face", "night":
	p, t = read_frame("out/%s/phase.nrrd" % sample), read_frame("captures/%s.truth.nrrd" % sample)
	P, T = float(p.meta["period_px"]), float(t.meta["period_px"].split()[0])
	d = p["absphase"] - t["absphase"] * T / P
	expect(np.abs(d) < np.pi, sample, (np.abs(d) >= np.pi).sum())'
}

@test "samples: pictures, meshes and sections are there; where nothing has changed nothing is made" {
	for sample in face block night; do
		for file in surface.png points.ply section.svg depth.tif; do
			[ -s out/$sample/$file ]
		done
	done
	silent samples -n
	silent samples
}

@test "samples: an image that is touched, added or removed makes its own results again, and no others" {
	face=$(results face phase.nrrd depth.tif $pictures)
	touch captures/face/phase1_01.png
	remade $face
	samples
	silent samples -n
	cp -a captures/night-plate/phase1_00.png captures/night-plate/phase1_00b.png
	remade out/night-plate/phase.nrrd $(results night depth.tif $pictures)
	rm captures/night-plate/phase1_00b.png
	rm captures/block/phase_00.png
	touch -d "1 hour ago" captures/face/phase1_01.png
	samples -n | has "out/block/points.tif"
	if samples -n | has "out/face/"; then return 1; fi
}

@test "samples: options, a recipe, a calibration that change make again what comes from them, and no more" {
	echo "--min-amplitude 11" >own/block.options
	remade $(results block points.tif depth.tif $pictures)
	samples
	silent samples -n
	touch own/face.options
	remade $(results face phase.nrrd depth.tif $pictures) out/face-plate/phase.nrrd
	samples
	# recipes by their text: touching the Makefile itself changes none
	touch own/Makefile
	silent samples -n
	sed -i 's/^\(recipe_section = frameplot\)/\1 --channel z/' own/Makefile
	remade out/face/section.svg out/block/section.svg out/night/section.svg
	sed -i 's/^\(recipe_section = frameplot\) --channel z/\1/; s/^\(recipe_phase = .*\) , median/\1/' own/Makefile
	remade $(results face phase.nrrd depth.tif $pictures) $(results night phase.nrrd depth.tif $pictures) \
		out/face-plate/phase.nrrd out/night-plate/phase.nrrd out/block/section.svg
	rm own/night.options
	run samples -n
	[ "$status" -ne 0 ]
	# make's own words are in the user's language
	[[ $output == *"night.options"* ]]
}

@test "samples: other tools make all results again, and leave the captures" {
	mkdir bin
	printf '#!/bin/sh\n[ "$1" = --version ] && exec echo "fringepipe 99"\nexec %q "$@"\n' "$(command -v fringepipe)" >bin/fringepipe
	chmod +x bin/fringepipe
	results=$(samples BIN="$work/bin" -n | grep -oE '/out/[^ ]+/(surface.png|points.ply|section.svg)' | sort -u | wc -l)
	[ "$results" -eq 9 ]
	if samples BIN="$work/bin" -n | has fringesim; then return 1; fi
}

@test "samples: thousands of images; a blank in a name is an error" {
	(cd captures/face && touch more_{1000..2999}.png "at 9:30")
	run samples -n
	[ "$status" -ne 0 ]
	[[ $output == *"captures/face/at 9:30: to make, a blank ends a name"* ]]
	mv "captures/face/at 9:30" captures/face/at_9:30.png
	remade $(results face phase.nrrd depth.tif $pictures)
	touch -d "1 hour ago" captures/face/*.png
	for file in phase.nrrd depth.tif $pictures; do touch out/face/$file; done
	silent samples -n
	touch captures/face/at_9:30.png
	remade $(results face phase.nrrd depth.tif $pictures)
}

@test "samples: images that no simulation made are never removed" {
	rm captures/night/done
	samples
	sed -i 's/^NIGHT := /&--exposure 1 /' own/Makefile
	run samples "$work/out/night/phase.nrrd"
	[ "$status" -ne 0 ]
	[[ $output == *"captures/night: has images that are not simulated"* ]]
	[ -s captures/night/phase1_00.png ]
	samples clean
	[ -s captures/night/phase1_00.png ]
	[ "$(ls captures)" = $'night\nnight.truth.nrrd' ]
	[ ! -e out ]
}
