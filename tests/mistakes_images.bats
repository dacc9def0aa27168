load mistakes.bash

# Mistakes with images and lists of them: options against a manifest, names, Gray planes, saturation,
# background; and samples that framecat averages or clamps.

@test "mistakes: options against a manifest are refused, those that agree are not; operands in another order" {
	fringesim -q -s 100x80 --projector 320x200 -p 40,44 -n 6 --gray period -m list.vnl -o i_%02d.png
	for same in "-n 6" "-G 3" "-p 40,44" "-p 44,40" "-s 0,60,120,180,240,300" "-s 0,60,120,180,-120,660" "--sign 1" "-a x" \
		"--gray-cell period" "-F 0" "--phase-origin 30" "-n 6 -G 3 -p 40,44"; do
		# shellcheck disable=SC2086
		right phasewrap -m list.vnl -o w.nrrd $same
	done
	rm w.nrrd
	contradicts() {
		fails 2 "$1" phasewrap -m list.vnl -o w.nrrd "${@:2}"
		[ ! -e w.nrrd ]
	}
	contradicts "--steps: says 4 images of a period, and the manifest list.vnl has 6 of period 1" -n 4
	contradicts "--gray: says 5 planes, and the manifest list.vnl has 3" -G 5
	contradicts "--inverse: the manifest list.vnl has no role gray_inverse" -G 3 -i
	contradicts "--period: says 50 px, and the manifest list.vnl says period_px 40" -p 50,44
	contradicts "--period: says 46.8293 px, and the manifest list.vnl says period_px 40" --count 41,48 --field 1920
	contradicts "--sign: says -1, and the manifest list.vnl gives shift_rad with its sign" --sign -1
	contradicts "--shift: says -60 degrees for image 2 of a period, and the manifest list.vnl says shift_rad 1.0472 (60 degrees)" \
		-s 0,-60,-120,-180,-240,-300
	contradicts "--axis: says y, and the manifest list.vnl says axis x" -a y
	contradicts "--gray-cell: says half, and the manifest list.vnl says gray_cell period" --gray-cell half
	contradicts "--flats: says 2, and the manifest list.vnl has 0 flat images" -F 2
	mistake "--order: gray,phase does not count beside the manifest list.vnl" phasewrap -m list.vnl -o w.nrrd --order gray,phase
	sed 's/\([0-9]\) [0-9.]* - period$/\1 - - period/' list.vnl >bare.vnl	# what a list leaves open, an option says
	right phasewrap -m bare.vnl --sign -1 -o w.nrrd
	rm w.nrrd
	contradicts "image 1 is i_01.png, and the manifest says that it is i_00.png" i_01.png i_00.png i_0[2-9].png i_1*.png
	fringesim -q -s 100x80 --projector 320x200 -p 40,50 -n 6 --gray period -o other.nrrd
	mistake "list.vnl says that image 7 is phase step 0, period_px 44, and the image itself phase step 0, period_px 50" \
		phasewrap -m list.vnl other.nrrd -o w.nrrd
	fringesim -q -s 20x10 -p 40 -n 4 -o one.nrrd
	for step in 0 1 2 3 3 2 1 0; do echo "$step.png phase 40 $step"; done >rows
	{ echo "# file role period_px step"; cat rows; } >turned.vnl
	fails 1 "image 4 (3.png) and image 5 (3.png) are the same step, 3, of the period 40 px: several measurements must list their images in the same order" \
		phasewrap -m turned.vnl one.nrrd one.nrrd -o w.nrrd
}

@test "mistakes: a manifest of patterns, whose captures are in a pipe or a file on standard input, or nowhere" {
	fringegen -p 40,44 -n 4 -g period --size 320x200 -o patterns/ -m patterns/list.txt
	fringesim -q -s 100x80 --projector 320x200 -p 40,44 -n 4 --gray period -o captures.nrrd
	fringesim -q -s 100x80 --projector 320x200 -p 40,44 -n 4 --gray period -o caps/ -m caps.txt
	right phasewrap -m patterns/list.txt captures.nrrd -o want.nrrd
	right phasewrap -m patterns/list.txt -o file.nrrd <captures.nrrd
	right phasewrap -m patterns/list.txt -o pipe.nrrd < <(cat captures.nrrd)
	right fringepipe phasewrap -m patterns/list.txt , gauss -o chain.nrrd < <(cat captures.nrrd)
	framecmp want.nrrd file.nrrd
	framecmp want.nrrd pipe.nrrd
	[ "$(frameinfo -s chain.nrrd | cut -d' ' -f2)" = "$(frameinfo -s want.nrrd | cut -d' ' -f2)" ]
	head -c 100000 /dev/urandom >noise
	fails 1 "standard input" phasewrap -m patterns/list.txt -o no.nrrd <noise
	fails 1 "standard input" fringegamma -m patterns/list.txt <noise
	fails 1 "standard input" fringeprobe -m patterns/list.txt <noise
	[ ! -e no.nrrd ]
	for tool in "phasewrap -o no.nrrd" fringegamma fringeprobe; do
		# shellcheck disable=SC2086
		mistake "patterns/list.txt: its images are the projected patterns, not captures: name the captures, or pipe them in" \
			$tool -m patterns/list.txt </dev/null
		# shellcheck disable=SC2086
		right $tool -q -m patterns/list.txt </dev/null
	done
	fringeprobe -m patterns/list.txt <captures.nrrd >report
	[ "$(tail -1 report)" = "fringepipe phasewrap -m patterns/list.txt - , unwrap2f" ]
	# formats without keys: what looks like a pattern is read, with a warning if captures may be meant
	mkdir bare
	for format in bmp npy; do
		fringegen -s 64x48 -p 16 -n 4 -o bare/%02d.$format -m bare/list.txt
		mistake "bare/list.txt: its images look like the projected patterns, and are read" phasewrap -m bare/list.txt -o no.nrrd <captures.nrrd
		right phasewrap -m bare/list.txt -o no.nrrd </dev/null
		fringesim -q -s 64x48 -p 16 -n 4 --noise 1 | framecat -o bare/%02d.$format
		right phasewrap -m bare/list.txt -o no.nrrd <captures.nrrd
	done
	# a manifest of captures is read, whatever standard input is; so are patterns whose list takes standard input
	right phasewrap -m caps.txt -o no.nrrd <noise
	mistake "its images are the projected patterns" phasewrap -m - -o no.nrrd < <(sed 's,^[a-z],patterns/&,' patterns/list.txt)
}

@test "mistakes: Gray planes without their inverses, in pairs or not, taken twice" {
	fringesim -q -s 320x200 --projector 640x400 -p 40 -n 4 --gray period --inverse --noise 1 |
		framecat --split --delete '*' -o %02d.png
	phases=(00.png 01.png 02.png 03.png) halves=(0[4-9].png 1*.png) pairs=()
	for i in 0 1 2 3; do pairs+=("${halves[i]}" "${halves[i + 4]}"); done
	gray() {
		phasewrap --min-amplitude 5 -n 4 -p 40 -o w.nrrd "$@"
	}
	right gray -G 4 -i "${phases[@]}" "${halves[@]}"
	right gray -G 4 -i --order phase,gray,pairs "${phases[@]}" "${pairs[@]}"
	right gray -G 4 "${phases[@]}" "${halves[@]:0:4}"
	mistake "image 5 (04.png), Gray plane 1 along x, and image 9 (06.png), taken for its inverse, are both bright or both dark at" \
		gray -G 4 -i "${phases[@]}" "${pairs[@]}"
	[[ $stderr == *"every plane is followed by its inverse, --order pairs"* ]]
	mistake "the inverses come behind all planes, not --order pairs" gray -G 4 -i --order phase,gray,pairs "${phases[@]}" "${halves[@]}"
	mistake "--gray: of the 8 Gray planes along x every later one shows the inverse of an earlier one: give --gray 4 --inverse" \
		gray -G 8 "${phases[@]}" "${halves[@]}"
	mistake "shows the inverse of the one before: give --gray 4 --inverse --order pairs" gray -G 8 "${phases[@]}" "${pairs[@]}"
	mistake "image 6 (05.png) and image 7 (05.png), Gray planes 2 and 3 along x, show the same" gray -G 4 "${phases[@]}" 04.png 05.png 05.png 07.png
	mistake "are the inverses in the order of the planes?" gray -G 4 -i "${phases[@]}" "${halves[@]:0:4}" 09.png 08.png 10.png 11.png
	fringesim -q -s 100x80 --projector 320x200 -p 40 -n 4 --gray period --inverse -o keyed.nrrd
	py '
frames = read_frames("keyed.nrrd")
names = [f.meta["role"] for f in frames]
first = [i for i, n in enumerate(names) if n == "gray_inverse"][1]
left = [Frame(f.pixels, f.names, dict(f.meta, set_images=str(len(frames) - 1))) for i, f in enumerate(frames) if i != first]
write_frames("lost.nrrd", left)'
	fails 1 "has no inverse" phasewrap lost.nrrd -o w.nrrd
}

@test "mistakes: names of Gray code and phases, GC_ and PS_ as well; text order beside Gray planes" {
	fringesim -q -s 100x80 --projector 320x200 -p 40 -n 12 -g period | framecat --split --delete '*' -o %d.png
	mkdir foreign papers rooms rooms/gray rooms/phase plain
	for i in 0 1 2; do
		cp $((i + 12)).png foreign/GC_$i.png
		cp $((i + 12)).png papers/gray_$i.png
		cp $((i + 12)).png rooms/gray/$i.png
		cp $((i + 12)).png plain/gray_$((i + 1)).png
	done
	for i in {0..11}; do
		cp "$i.png" "foreign/PS_$i.png"
		cp "$i.png" "papers/fringe_$i.png"
		cp "$i.png" "rooms/phase/$i.png"
		cp "$i.png" "plain/phase_$((i + 1)).png"
	done
	decode=(phasewrap -n 12 -p 40 -G 3 -o w.nrrd)
	fails 2 "phase images are taken first, but GC_0.png stands before them: give --order gray,phase" "${decode[@]}" foreign
	fails 2 "but gray stands before them" "${decode[@]}" rooms/gray rooms/phase
	right "${decode[@]}" papers
	right "${decode[@]}" rooms/phase rooms/gray
	right "${decode[@]}" --order gray,phase foreign
	run --separate-stderr "${decode[@]}" --order gray,phase papers
	[[ $stderr == *"--order: gray,phase takes Gray images first, but fringe_0.png stands before them: are they in this order?"* ]]
	right "${decode[@]}" plain/phase_{1..12}.png plain/gray_*.png
	right "${decode[@]}" --sign -1 plain/phase_{12..1}.png plain/gray_*.png
	run --separate-stderr "${decode[@]}" plain/phase_*.png plain/gray_*.png
	[[ $stderr == *"phase_12.png comes before "*"phase_2.png, as a shell sorts"* ]]
}

@test "mistakes: 8-bit images that end below 255; crests, square fringes and small sets that do not" {
	for n in 3 4 6 12; do
		for noise in 0 1 3; do
			fringesim -q -s 200x150 -p 40 -n $n --scene relief --mean 140 --amplitude 100 --noise $noise -o set.nrrd
			right phasewrap set.nrrd -o w.nrrd
			py '
for most in 220, 200:
	write_frames("%d.nrrd" % most, [Frame(np.minimum(f.pixels, most), f.names, f.meta) for f in read_frames("set.nrrd")])'
			for most in 220 200; do
				mistake "samples are exactly $most, and none is above: if the camera saturates there give --max-value $most" \
					phasewrap $most.nrrd -o w.nrrd
			done
			run --separate-stderr phasewrap --max-value 220 220.nrrd -o w.nrrd
			[[ $stderr != *exactly* ]]
		done
	done
	py '
x = np.arange(240) * np.ones((160, 1))
def save(name, n, period, shape):
	write_frames(name + ".nrrd", [Frame(np.rint(shape(2 * np.pi * (x / period + i / n))).astype("u1")) for i in range(n)])
for n in 3, 4, 5, 8:
	for period in 8, 10, 16, 37:
		save("%d_%d" % (n, period), n, period, lambda phi: 120 + 80 * np.cos(phi))
save("square", 8, 24, lambda phi: 120 + 80 * np.sign(np.cos(phi + 1e-3)))
save("low", 4, 37.3, lambda phi: 20 + 6 * np.cos(phi))'
	for n in 3 4 5 8; do
		for period in 8 10 16 37; do right phasewrap -p 40 -n $n --shift "$(seq -s, 0 $((360 / n)) 359)" ${n}_$period.nrrd -o w.nrrd; done
	done
	right phasewrap -p 40 -n 8 square.nrrd -o w.nrrd
	right phasewrap -p 40 -n 4 low.nrrd -o w.nrrd
}

@test "mistakes: background without a limit, and no word where all is lit" {
	for n in 3 4 8 12; do
		fringesim -q -s 240x180 --projector 160x140 -p 20 -n $n --noise 1 --scene plane -o part.nrrd
		mistake "of the pixels that have a phase are unlit, and it is noise" phasewrap part.nrrd -o w.nrrd
		[[ $stderr =~ "give --min-amplitude "([0-9.]+)$ ]]
		limit=${BASH_REMATCH[1]}
		right phasewrap --min-amplitude "$limit" part.nrrd -o w.nrrd
		py '
f, limit = read_frame("w.nrrd"), float(sys.argv[1])
right = np.isfinite(f["phase"])
expect(2 < limit < 20 and 0.3 < right.mean() < 0.8, limit, right.mean())
inside = right[:130, :150]
expect(inside.mean() > 0.97, inside.mean())' "$limit"
		for other in "--min-modulation 0.1" "--dark 20" -q; do
			# shellcheck disable=SC2086
			right phasewrap $other part.nrrd -o w.nrrd
		done
		for look in "--noise 12" "--noise 4 --mean 20 --amplitude 14" "--albedo checker --noise 1" "--noise 0"; do
			# shellcheck disable=SC2086
			fringesim -q -s 240x180 -p 20 -n $n $look -o lit.nrrd
			right phasewrap lit.nrrd -o w.nrrd
		done
	done
	mistake "unlit" phasewrap part.nrrd part.nrrd part.nrrd -o w.nrrd
	first=$stderr
	for j in 1 3; do FRINGEPIPE_BAND=7 mistake "$first" phasewrap -j $j part.nrrd -o w.nrrd; done
}

@test "mistakes: a fault in a later measurement names it, and its file" {
	fringesim -q -s 100x80 -p 40 -n 8 --frames 3 -c 5 --ref-plane 10,0.157,0 | framecat --split --delete '*' -o a%02d.png
	all=(a*.png)
	right wrap -n 8 "${all[@]}"
	all[18]=a17.png
	mistake "phasewrap: measurement 2: the period 40 px: image 2 (a17.png) and image 3 (a17.png) show the same" wrap -n 8 "${all[@]}"
	framecat a*.png -o all.nrrd
	py '
write_frames("light.nrrd", [Frame(np.minimum(f.pixels * np.where((np.arange(100) < 50) & (i >= 8), 2.5, 1.), 255).astype("u1")) for i, f in enumerate(read_frames("all.nrrd"))])'
	mistake "phasewrap: measurement 1: " wrap -n 8 light.nrrd
	[[ $stderr == *"lost to saturation"* ]]
}

@test "mistakes: a set that began late: unwrap2f sees an offset, or -v says that nothing does" {
	fringesim -q -s 320x200 --projector 1200x800 -p 60,63 -n 6 --noise 1 | framecat --split --delete '*' -o %02d.png
	mistake "residual: all are off by" fringepipe phasewrap --min-amplitude 5 -n 6 -p 60,63 \
		00.png 01.png 02.png 03.png 04.png 05.png 07.png 08.png 09.png 10.png 11.png 06.png , unwrap2f -o u.nrrd
	run --separate-stderr phasewrap -v -n 6 -p 60,63 -o w.nrrd {00..11}.png
	[[ $stderr == *"the period 60 px: nothing in the images tells whether they began 3 of 6 late, or early: fringe orders would be off by 10"* ]]
	need_data dtu_angel_2freq_rectified
	# shellcheck disable=SC2154
	angel=$data/dtu_angel_2freq_rectified/left
	run --separate-stderr phasewrap -v --min-amplitude 5 -n 8 -p 48,46.8292683 --sign -1 -o w.nrrd "$angel"/f4[01]_*.png
	[[ $stderr == *"nothing in the images tells whether they began 1 of 8 late"* ]]
	fringesim -q -s 100x80 -p 60,63 -n 6 -o keyed.nrrd
	run --separate-stderr phasewrap -v keyed.nrrd -o w.nrrd
	[[ $stderr != *late* ]]
}

@test "mistakes: framecat: means of wrapped phases, values that whole numbers do not hold" {
	fringesim -q -s 100x80 --projector 320x200 -p 40,44 -n 4 --gray period --noise 1 --truth truth.nrrd -o set.nrrd
	phasewrap --min-amplitude 5 set.nrrd -o w.nrrd
	fails 1 "framecat: --bin: channel phase1 is a wrapped phase, whose mean is wrong where it wraps: bin the images, or cos and sin (phasewrap --as vector), or leave it out (--channels)" \
		framecat --bin 2 w.nrrd -o b.nrrd
	fails 1 "--bin: channel index is the index of a Gray code, which has no mean" framecat -c modulation,index --bin 2 w.nrrd -o b.nrrd
	framecat -c phase1 --scale auto --as ushort w.nrrd -o scaled.nrrd
	fails 1 "channel phase1 is a wrapped phase" framecat --bin 2 scaled.nrrd -o b.nrrd
	[ ! -e b.nrrd ]
	right framecat -c modulation,texture --bin 2 w.nrrd -o b.nrrd
	right framecat --bin 1 w.nrrd -o b.nrrd
	right framecat --bin 2 set.nrrd -o b.nrrd
	phasewrap --min-amplitude 5 --as vector set.nrrd | framecat -c cos1,sin1 --bin 2 -o b.nrrd
	py '
z = np.linspace(690, 712, 8000).reshape(80, 100)
write_frames("z.nrrd", Frame(np.stack([z, z / 1000, z - 600]).astype("f4"), ["z", "ratio", "low"]))
write_frames("wide.nrrd", Frame((z * 70 * np.ones((2, 1, 1))).astype("u2"), ["a", "b"]))'
	mistake "framecat: --as: about 100 % of channel z, which goes from 690 to 712, lie outside 0 to 255 and are clamped: --scale LO,HI" \
		framecat -c z --as uchar z.nrrd -o b.nrrd
	mistake "--as: channel ratio goes from 0.69 to 0.712, of which whole numbers leave nothing" framecat -c ratio --as uchar z.nrrd -o b.nrrd
	mistake "--scale: about 100 % of channel z, which goes from 690 to 712, lie outside 0 to 1 and are clamped" \
		framecat -c z --scale 0,1 --as uchar z.nrrd z.nrrd -o b.nrrd
	mistake "of channel a, which goes from 4.83e+04 to 4.984e+04, lie outside 0 to 255" framecat --as uchar wide.nrrd -o b.nrrd
	right framecat -c z --scale auto --as uchar z.nrrd -o b.nrrd
	right framecat -c z --scale 600,800 --as ushort z.nrrd -o b.nrrd
	right framecat -c low,z --as ushort z.nrrd -o b.nrrd
	right framecat -c low --as uchar z.nrrd -o b.nrrd
	right framecat -q -c z --as uchar z.nrrd -o b.nrrd
	gauss --as vector w.nrrd 2>/dev/null | framecat -c texture --as uchar -o b.nrrd
}

@test "mistakes: a sign that nothing states, and the phase falls" {
	falls="--sign: is not stated, and with +1 the phase falls from"
	for scene in plane "relief --shadow --height 60" "tilt --height 60" "sphere --radius 30 --noise 5"; do
		for axis in x y; do
			for crop in 0,0,320,200 100,60,90,70; do
				# shellcheck disable=SC2086
				fringesim -q -s 320x200 --projector 640x480 -a $axis -p 40 -n 4 --scene $scene | framecat --crop $crop |
					framecat --delete '*' -o set.nrrd
				decode=(phasewrap -n 4 -p 40 -a $axis set.nrrd -o w.nrrd)
				right "${decode[@]}"
				way="left to right"
				[ $axis = x ] || way="top to bottom"
				mistake "$falls $way" "${decode[@]}" --shift 0,-90,-180,-270
				right "${decode[@]}" --shift 0,-90,-180,-270 --sign +1
				right "${decode[@]}" --sign -1
			done
		done
	done
	first=$("${decode[@]}" --shift 0,-90,-180,-270 2>&1)
	FRINGEPIPE_BAND=7 mistake "$first" "${decode[@]}" -j 5 --shift 0,-90,-180,-270 --as vector
	cat set.nrrd set.nrrd >two.nrrd
	mistake "$first" phasewrap -n 4 -p 40 -a y --shift 0,-90,-180,-270 two.nrrd -o w%d.nrrd
	# few fringes, or none: noise has no direction
	fringesim -q -s 100x80 --projector 6400x480 -p 6400 -n 4 --noise 3 --ref-plane 0,0.001,0 | framecat --delete '*' -o set.nrrd
	right phasewrap -n 4 -p 6400 set.nrrd -o w.nrrd
	# a camera on its side
	fringesim -q -s 200x200 -p 40 -n 4 --ref-plane 0,-0.05,-0.2 | framecat --delete '*' -o set.nrrd
	right phasewrap -n 4 -p 40 set.nrrd -o w.nrrd
	# images that say it themselves
	fringesim -q -s 200x200 -p 40 -n 4 --ref-plane 30,-0.15,0 -o set.nrrd
	right phasewrap set.nrrd -o w.nrrd
}

@test "mistakes: a sign that nothing states, real sets" {
	need_data dtu_angel_2freq_rectified
	for side in left right; do
		angel=("$data/dtu_angel_2freq_rectified/$side"/f4[01]_*.png)
		mistake "falls from left to right of the picture (100 %): give --sign -1" \
			phasewrap --min-amplitude 3 -n 8 -p 48,46.8292683 "${angel[@]}" -o w.nrrd
		right phasewrap --min-amplitude 3 -n 8 -p 48,46.8292683 --sign -1 "${angel[@]}" -o w.nrrd
		right phasewrap --min-amplitude 3 -n 4 -p 64 "$data/slsdk_david_stereo/$side"/phase_*.png -o w.nrrd
	done
	right phasewrap --min-amplitude 3 -n 12 -p 60 "$data"/slmaster_eye_12step_gray/phase_*.png -o w.nrrd
	mistake "falls from left to right" phasewrap --min-amplitude 25 -n 8 --count 35,36,37 --field 854 \
		"$data"/weiyang_box_3freq_35_36_37/f3[567]_*.png -o w.nrrd
}

@test "mistakes: --max-value of a camera with more bits" {
	images 4
	for level in 1023 4095 65535; do
		mistake "max_value is $level (--max-value, key max_value), and samples of 8 bits end at 255" \
			wrap -n 4 --max-value $level ./?.png
	done
	for level in 200 255 256 1e30; do
		run --separate-stderr wrap -n 4 --max-value $level ./?.png
		[[ $stderr != *"looked for"* ]]
	done
	fringesim -q -s 100x80 -p 40 -n 4 -b 12 -o set.nrrd
	right phasewrap --max-value 4095 set.nrrd -o w.nrrd
}

@test "mistakes: NPY of more than four channels, which are the last axis" {
	py '
for name, shape in ("five", (64, 70, 5)), ("sixteen", (480, 64, 16)), ("first", (5, 64, 70)), ("three", (64, 70, 3)), \
		("seventeen", (64, 70, 17)), ("low", (63, 70, 5)), ("narrow", (64, 63, 5)):
	np.save(name + ".npy", np.zeros(shape, "f4"))
np.save("columns.npy", np.zeros((64, 70, 5), "f4", "F"))'
	mistake "five.npy: is read as 64 channels of 5 x 70 pixels: of more than four channels NPY files have these first" \
		framecat five.npy -o a.nrrd
	mistake "columns.npy: is read as 64 channels of 5 x 70 pixels" framecat columns.npy -o a.nrrd
	mistake "sixteen.npy: is read as 480 channels of 16 x 64 pixels" framecat sixteen.npy -o a.nrrd
	for name in first three seventeen low narrow; do
		right framecat $name.npy -o a.nrrd
	done
}
