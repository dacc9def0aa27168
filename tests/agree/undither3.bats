load ../agreement

# dithered WORDS ...: Holoimages of each size as packed bits.
dithered() {
	frames "uchar r:0..255 g:0..255 b:0..255 a:0..255" "" >levels.nrrd
	dither3 -m bayer "$@" levels.nrrd -o bits.nrrd
}

@test "agree: undither3" {
	for words in "" "--texture 1" "--pack planar" "--pack planar --texture 1" "--pack rgb --texture 8" \
		"--pack rgb --texture 1"; do
		dithered $words
		agrees_on undither3 bits.nrrd undither3 --filter gauss
		agrees_on undither3 bits.nrrd undither3 --filter gauss --layout yuv
	done
}
