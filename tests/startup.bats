# What a process loads before it does anything: runs of a Makefile are many and short.
load helpers

# loaded WORD ...: the libraries of a run.
loaded() {
	LD_DEBUG=files "$@" 2>&1 >/dev/null | sed -n 's,.*calling init: .*/\(lib[^/]*\)$,\1,p'
}

@test "start-up: libraries for TIFF, plots and the GPU are loaded only where they are needed" {
	if sanitized; then skip "sanitized tools: they bring libraries of their own"; fi
	images=image.pgm
	printf 'P5 2 2 255\nabcd' >"$images"
	for words in "fringepipe --version" "fringepipe framecat $images" "frameplot --version" "gauss --version" "holoserve --version"; do
		libraries=$(loaded $words)
		[[ $libraries == *libc.so* ]]
		run ! grep -E 'isal|tiff|cairo|fontconfig|X11|stdc|vulkan' <<<"$libraries"
		[ "$(wc -l <<<"$libraries")" -le 9 ]
	done
}

@test "start-up: what reads TIFF or draws loads its library then" {
	if sanitized; then skip "sanitized tools: they bring libraries of their own"; fi
	printf 'P5 2 2 255\nabcd' | framecat -o image.tif
	loaded framecat image.tif | grep libtiff
	if ! command -v frameplot >/dev/null; then skip "no frameplot: built without cairo"; fi
	loaded frameplot image.tif -f -o plot.svg | grep libcairo
}

@test "start-up: a library that is missing is an error that names it" {
	if sanitized; then skip "sanitized tools: they bring libraries of their own"; fi
	printf 'P5 2 2 255\nabcd' | framecat -o image.tif
	# a folder that the loader searches first, where the name is a file of no bytes
	name=$(loaded framecat image.tif | grep libtiff)
	mkdir none
	: >none/"$name"
	LD_LIBRARY_PATH=none run -1 framecat image.tif -o copy.pgm
	[[ $output == "framecat: $name: cannot be loaded: "*"file too short" ]]
	[ ! -e copy.pgm ]
}

@test "start-up: PNG files of noise are read with igzip and, where it is missing, without" {
	if sanitized; then skip "sanitized tools: they bring libraries of their own"; fi
	fringesim -s 64x48 -p 16 -n 3 --noise 3 -q -o noise.nrrd
	framecat --frames 0 noise.nrrd -o noise.png
	framecat noise.png -o with.nrrd
	if ! grep -q libisal.so "$(command -v framecat)"; then skip "built without ISA-L"; fi
	loaded framecat noise.png | grep libisal
	mkdir none
	: >none/libisal.so.2
	LD_LIBRARY_PATH=none framecat noise.png -o without.nrrd
	run ! grep isal <<<"$(LD_LIBRARY_PATH=none loaded framecat noise.png)"
	cmp with.nrrd without.nrrd
}
