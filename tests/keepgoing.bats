# --keep-going: a bad image costs its measurement alone, and its number stays free.

setup_file() {
	load helpers
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir caps
	local m
	for m in 0 1 2 3 4 5; do
		fringesim -s 24x16 -p 12 -n 3 --noise "$m" -o "caps/m$m-%d.png"
	done
	phasewrap caps -o good-%04d.nrrd
}

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || return 1
	cp -r "$BATS_FILE_TMPDIR"/{caps,good-*} .
}

# keeps LOST TOTAL COMMAND ...: exit status 1, a line for each number in LOST, and the count.
keeps() {
	local lost=$1 total=$2 number n=0 word=${word:-measurement}
	shift 2
	run --separate-stderr "$@"
	[ "$status" -eq 1 ]
	for number in $lost; do
		grep -q ": $word $number is lost: " <<<"$stderr" || { echo "no line for $number: $stderr"; return 1; }
		n=$((n + 1))
	done
	[ "$(grep -c 'is lost: ' <<<"$stderr")" -eq "$n" ]
	[[ $(tail -n 1 <<<"$stderr") == *": $n of $total ${word}s $([ "$n" -eq 1 ] && echo was || echo were) lost" ]] ||
		{ echo "$stderr"; return 1; }
	[ "$(wc -l <<<"$stderr")" -eq $((n + 1)) ]
}

# two_lost: of caps/ the measurements 1 and 3 are lost, the others have the bytes of the good run.
two_lost() {
	keeps "1 3" 6 phasewrap --keep-going caps -o 'out-%04d.nrrd'
	[ "$(echo out-*)" = "out-0000.nrrd out-0002.nrrd out-0004.nrrd out-0005.nrrd" ]
	for m in 0 2 4 5; do cmp "out-000$m.nrrd" "good-000$m.nrrd"; done
}

@test "--keep-going without a bad image changes nothing" {
	silent phasewrap --keep-going caps -o out-%04d.nrrd
	for m in 0 1 2 3 4 5; do cmp "out-000$m.nrrd" "good-000$m.nrrd"; done
}

@test "--keep-going: empty files; the line names the file and the number, -v lists the numbers" {
	: >caps/m1-0.png
	: >caps/m3-2.png
	two_lost
	run --separate-stderr phasewrap --keep-going -v caps -o null:
	[[ $stderr == *"phasewrap: measurement 1 is lost: caps/m1-0.png: is empty"* ]]
	[[ $stderr == *"phasewrap: lost: 1 3"* ]]
}

@test "--keep-going: a truncated image, and two bad ones in one measurement" {
	for f in caps/m1-1.png caps/m3-0.png caps/m3-2.png; do truncate -s 200 $f; done
	two_lost
	[[ $stderr == *"measurement 3 is lost: caps/m3-0.png: "*" (and 1 more)"* ]]
}

@test "--keep-going: no image at all, and damaged bytes within one" {
	echo "This is a text" >caps/m1-2.png
	py 'f = open("caps/m3-1.png", "r+b"); f.seek(70); f.write(b"\xff" * 60)'
	two_lost
}

@test "--keep-going: an image of another size, and one of another type, than the others" {
	framecat --crop 0,0,20,16 caps/m1-1.png -o small.png
	mv small.png caps/m1-1.png
	framecat --as ushort caps/m3-2.png -o deep.png
	mv deep.png caps/m3-2.png
	two_lost
	[[ $stderr == *"lost: caps/m1-1.png: is 20 x 16 uchar, caps/m1-0.png before it 24 x 16 uchar"* ]]
}

@test "--keep-going: an image in colour among grey ones" {
	py 'from PIL import Image
for n in ("m1-0", "m3-1"):
    a = np.array(Image.open(f"caps/{n}.png")); Image.fromarray(np.stack([a, a // 2, a], 2)).save(f"caps/{n}.png")'
	two_lost
	[[ $stderr == *"measurement 3 is lost: caps/m3-1.png: image is in colour"* ]]
}

@test "--keep-going: operands that are missing or cannot be read, the very first among them" {
	rm caps/m0-0.png
	mkdir folder
	mv caps/m4-1.png x
	ln -s nowhere caps/m4-1.png
	keeps "0 4" 6 phasewrap --keep-going caps/m0-{0,1,2}.png caps/m{1,2,3,4,5}-{0,1,2}.png -o 'out-%04d.nrrd'
	[ "$(echo out-*)" = "out-0001.nrrd out-0002.nrrd out-0003.nrrd out-0005.nrrd" ]
	fails 1 "folder: folder holds no images; it is not known how many images are lost with it" \
		phasewrap --keep-going folder caps/m1-{0,1,2}.png -o null:
}

@test "--keep-going: a whole measurement and more is lost, and the end of the input" {
	for f in caps/m0-{0,1,2}.png caps/m1-0.png caps/m5-2.png; do : >$f; done
	keeps "0 1 5" 6 phasewrap --keep-going caps -o 'out-%04d.nrrd'
	[ "$(echo out-*)" = "out-0002.nrrd out-0003.nrrd out-0004.nrrd" ]
	rm caps/m5-2.png
	keeps "0 1 5" 6 phasewrap --keep-going caps -o null:
	for f in caps/*; do : >"$f"; done
	run --separate-stderr phasewrap --keep-going -n 3 -p 12 caps -o none.nrrd
	[ "$status" -eq 1 ]
	[ ! -e none.nrrd ]
}

@test "--keep-going: measurements in folders of their own, one of which lacks an image" {
	for m in 0 1 2 3 4 5; do
		mkdir "m$m"
		cp caps/m$m-* "m$m"
	done
	rm m1/m1-1.png m3/*
	keeps "1 3" 6 phasewrap --keep-going m? -o 'out-%04d.nrrd'
	[[ $stderr == *"m1/m1-2.png: a measurement is 3 images, the folder ends after 2 of one"* ]]
	for m in 0 2 4 5; do
		phasewrap "m$m" -o one.nrrd
		framecmp --meta "out-000$m.nrrd" one.nrrd
	done
}

@test "--keep-going: files of several images, equally many or not; a stream ends where it breaks" {
	for m in 0 1 2 3 4 5; do framecat caps/m$m-* -o "m$m.nrrd"; done
	truncate -s -5 m1.nrrd
	truncate -s 10 m3.nrrd
	keeps "1 3" 6 phasewrap --keep-going m?.nrrd -o 'out-%04d.nrrd'
	[[ $stderr == *"m1.nrrd: truncated"*"the file ends there"* ]]
	for m in 0 2 4 5; do framecmp "out-000$m.nrrd" "good-000$m.nrrd"; done
	: >m0.nrrd
	keeps "0 1 3" 6 phasewrap --keep-going m?.nrrd -o null:
	# as many measurements as they like
	framecat caps/m{0,1}-* -o two.nrrd
	keeps "3" 5 phasewrap --keep-going two.nrrd m2.nrrd m1.nrrd m4.nrrd -o null:
	# a measurement of several such files, unequal ones: where the next begins is not known
	framecat caps/m0-{0,1}.png -o a.nrrd
	framecat caps/m0-2.png -o b.nrrd
	fails 1 "it is not known how many images are lost with it" \
		phasewrap --keep-going a.nrrd b.nrrd m1.nrrd a.nrrd b.nrrd -o null:
	# standard input
	cat m2.nrrd m4.nrrd m1.nrrd | keeps "2" 3 phasewrap --keep-going -o 'in-%d.nrrd'
	[ "$(echo in-*)" = "in-0.nrrd in-1.nrrd" ]
}

@test "--keep-going: what is in one file or a stream has the bytes of a run without the bad ones" {
	: >caps/m1-0.png
	: >caps/m3-1.png
	keeps "1 3" 6 phasewrap --keep-going caps -o all.nrrd
	phasewrap caps/m{0,2,4,5}-* >wanted.nrrd
	framecmp --meta all.nrrd wanted.nrrd
	cat good-000{0,2,4,5}.nrrd >wanted.nrrd
	phasewrap --keep-going caps >stream.nrrd 2>errors || status=$?
	[ "$status" -eq 1 ]
	cmp stream.nrrd wanted.nrrd
	# the process behind it sees an ordinary end
	silent bash -c 'phasewrap --keep-going caps 2>errors | framecat -o behind.nrrd'  ||
		[ "$status" -eq 1 ]
	cmp behind.nrrd <(framecat <wanted.nrrd)
}

@test "--keep-going: numbers in a folder keep the gap" {
	: >caps/m1-0.png
	: >caps/m3-1.png
	keeps "1 3" 6 phasewrap --keep-going caps -o out/
	[ "$(echo out/*)" = "out/0000.tif out/0002.tif out/0004.tif out/0005.tif" ]
}

@test "--keep-going in a chain, on the processor and on a device" {
	: >caps/m1-0.png
	: >caps/m3-1.png
	fringepipe -o wanted-%04d.nrrd phasewrap "$BATS_FILE_TMPDIR/caps" , gauss -n 3 , gauss -n 5
	for d in cpu gpu; do
		fringepipe --devices >devices
		if ! grep "^$d" devices; then continue; fi
		keeps "1 3" 6 fringepipe -d $d --keep-going -o "$d-%04d.nrrd" phasewrap caps , gauss -n 3 , gauss -n 5
		for m in 0 2 4 5; do framecmp --meta --max 1e-5 "wanted-000$m.nrrd" "$d-000$m.nrrd"; done
		[ "$(echo $d-* | wc -w)" -eq 4 ]
	done
	# frames that a stage before has read, gathered by the next one
	keeps "1 3" 6 fringepipe --keep-going -o 'far-%04d.nrrd' framecat caps , phasewrap
	[ "$(echo far-*)" = "far-0000.nrrd far-0002.nrrd far-0004.nrrd far-0005.nrrd" ]
	keeps "1 3" 6 fringepipe -o null: phasewrap caps , gauss -n 3 --keep-going
}

@test "--keep-going: second inputs stay in step, whichever side is bad" {
	mkdir phases refs
	for m in 0 1 2 3 4 5; do
		framecat --set 'channels=absphase modulation texture' good-000$m.nrrd -o "phases/p$m.nrrd"
		framecat --set 'channels=absphase modulation texture' good-000$((5 - m)).nrrd -o "refs/r$m.nrrd"
	done
	pair() { phase2depth -c 5 --ref refs "$@"; }
	pair phases -o wanted-%d.nrrd
	truncate -s 900 phases/p1.nrrd
	: >refs/r3.nrrd
	word=frame keeps "1 3" 6 pair --keep-going phases -o 'out-%d.nrrd'
	[ "$(echo out-*)" = "out-0.nrrd out-2.nrrd out-4.nrrd out-5.nrrd" ]
	for m in 0 2 4 5; do cmp wanted-$m.nrrd out-$m.nrrd; done
	[[ $stderr == *"frame 3 is lost: "*"refs/r3.nrrd: is empty"* ]]
	# the first of them, and an only one, which serves all
	: >refs/r0.nrrd
	word=frame keeps "0 1 3" 6 pair --keep-going phases -o null:
	fails 1 "refs/r0.nrrd: is empty" phase2depth -c 5 --keep-going --ref refs/r0.nrrd phases/p[02345].nrrd -o null:
	# the input breaks: the other one may go on
	cat phases/p[02345].nrrd | head -c -9 >cut.nrrd
	word=frame keeps "4" 5 phase2depth -c 5 --keep-going --ref refs/r2.nrrd cut.nrrd -o null:
	cat refs/r[245].nrrd refs/r[245].nrrd >many.nrrd
	word=frame keeps "4" 5 phase2depth -c 5 --keep-going --ref many.nrrd cut.nrrd -o null:
	# the other one breaks: the inputs without one are lost
	word=frame keeps "2 3 4" 5 phase2depth -c 5 --keep-going --ref <(cat refs/r[245].nrrd | head -c -9) \
		phases/p[02345].nrrd -o null:
}

@test "--keep-going: what a stage remembers is that of the last good frame" {
	for m in 0 1 2 3; do cp good-000$m.nrrd s$m.nrrd; done
	stage=(fringepipe teststate)
	if [ -x "$top/build/bin-stages/fringepipe" ]; then stage=("$top/build/bin-stages/fringepipe" teststate); fi
	"${stage[@]}" --help >/dev/null 2>&1 || stage=(fringepipe gauss)
	"${stage[@]}" s0.nrrd s2.nrrd s3.nrrd >wanted.nrrd
	: >s1.nrrd
	word=frame keeps "1" 4 "${stage[@]}" --keep-going s0.nrrd s1.nrrd s2.nrrd s3.nrrd -o out.nrrd
	framecmp wanted.nrrd out.nrrd
}

@test "--keep-going: a frame that a stage cannot take" {
	local m
	for m in 0 1 3 5; do
		framecat --set 'channels=absphase modulation texture' good-000$m.nrrd -o "p$m.nrrd"
	done
	framecat --crop 0,0,8,8 p1.nrrd -o small.nrrd
	framecat -c modulation p1.nrrd -o lacks.nrrd
	word=frame keeps "1 2" 4 phase2depth -c 5 --ref p5.nrrd --keep-going \
		p0.nrrd small.nrrd lacks.nrrd p3.nrrd -o 'out-%d.nrrd'
	[ "$(echo out-*)" = "out-0.nrrd out-3.nrrd" ]
	[[ $stderr == *"frame 1 is lost: small.nrrd: "* ]]
}

@test "--keep-going: framecat counts lost frames for --frames and --split, and makes no stack without them" {
	: >caps/m1-0.png
	word=frame keeps "3" 18 framecat --keep-going --frames 2-4 caps -o 'f-%d.png'
	[ "$(echo f-*)" = "f-0.png f-2.png" ]
	: >good-0001.nrrd
	word=frame keeps "1" 3 framecat --keep-going --split good-000{0,1,2}.nrrd -o 's-%d.nrrd'
	[ "$(echo s-?.nrrd)" = "s-0.nrrd s-1.nrrd s-2.nrrd s-6.nrrd s-7.nrrd s-8.nrrd" ]
	run --separate-stderr framecat --keep-going --stack caps -o stack.nrrd
	[ "$status" -eq 1 ]
	[[ $stderr == *"--stack: 1 frame of the stack is lost"* ]]
	[ ! -e stack.nrrd ]
}

@test "--keep-going: frameinfo keeps the numbers, framecmp compares the rest and exits with 2" {
	cp -r caps bad
	: >bad/m0-0.png
	truncate -s 100 bad/m1-0.png
	run --separate-stderr frameinfo --keep-going -s bad
	[ "$status" -eq 1 ]
	[ "$(wc -l <<<"$output")" -eq 16 ]
	[[ $output == "1 24x16x1"*$'\n'"4 24x16x1"*$'\n'"17 24x16x1 uchar image" ]]
	run --separate-stderr framecmp --keep-going caps bad
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == *"frame 0 is lost: bad/m0-0.png"*"frame 3 is lost: bad/m1-0.png"*"framecmp: 2 of 18 frames were lost" ]]
	cp bad/m2-0.png bad/m2-1.png
	run --separate-stderr framecmp --keep-going bad caps
	[ "$status" -eq 2 ]
	[[ $output == "frame 7 "* ]]
}

@test "--keep-going: a mesh that cannot be read" {
	printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >a.obj
	printf 'v 0 0 0\nf 1 2 3\n' >b.obj
	word=frame keeps "1" 3 mesh2depth --keep-going -s 8x8 a.obj b.obj a.obj -o 'z-%d.tif'
	[ "$(echo z-*)" = "z-0.tif z-2.tif" ]
}

@test "--keep-going does not survive a full disk, a wrong option, or an unknown number of steps" {
	: >caps/m3-0.png
	run --separate-stderr bash -c 'phasewrap --keep-going caps >/dev/full'
	[ "$status" -eq 1 ]
	[[ $stderr == *"No space left on device"* ]]
	fails 2 "--period: " phasewrap --keep-going -p 0 caps -o null:
	fails 2 "stand before the first stage or in the last" \
		fringepipe phasewrap caps --keep-going , gauss -o null:
	for f in caps/m[12]*; do framecat --delete '*' "$f" -o "plain-$(basename "$f")"; done
	fails 1 "nothing says how many steps there are" phasewrap --keep-going plain-* -o null:
}

@test "--keep-going has no effect where FRINGEPIPE_REPEAT times a run" {
	: >caps/m1-0.png
	FRINGEPIPE_REPEAT=2 fails 1 "caps/m1-0.png: is empty" phasewrap --keep-going caps -o null:
}

@test "without --keep-going the first bad image ends the run" {
	: >caps/m1-0.png
	fails 1 "phasewrap: caps/m1-0.png: is empty" phasewrap caps -o 'out-%04d.nrrd'
	[ "$(echo out-*)" = "out-0000.nrrd" ]
}

@test "--keep-going: a folder that is missing, and a link that leads nowhere, cost their measurement alone" {
	for m in 0 1 2 3 4 5; do
		mkdir "m$m"
		cp caps/m$m-* "m$m"
	done
	rm -r m2
	keeps "2" 6 phasewrap --keep-going m0 m1 m2 m3 m4 m5 -o 'out-%04d.nrrd'
	ln -s gone m2
	keeps "2" 6 phasewrap --keep-going m0 m1 m2 m3 m4 m5 -o 'out-%04d.nrrd'
	rm caps/m1-2.png
	ln -s /gone caps/m1-2.png
	keeps "1" 6 phasewrap --keep-going caps -o 'out-%04d.nrrd'
	fails 1 "caps/m1-2.png: cannot be opened" phasewrap caps -o none.nrrd
}
