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

# surfaces WORDS ...: Holoimages of surfaces with holes and steps, dithered.
surfaces() {
	py '
out = []
for w, h in ((1, 1), (5, 7), (80, 35)):
	y, x = np.mgrid[:h, :w]
	z = 0.5 + 0.1 * np.sin(x / 19) * np.cos(y / 17) + 0.2 * (x // 37 % 2)
	z += 0.2 * (np.random.default_rng(1).random(z.shape) < 0.1)
	z[(x - 20) ** 2 + (y - 20) ** 2 < 80] = np.nan
	out.append(Frame(np.stack([z, 100 + x]).astype("f4"), ["depth", "texture"], {}))
write_frames("depth.nrrd", out)'
	holoenc -P 24 --texture texture --depth-range 0,1 "${@:2}" depth.nrrd | eval dither3 "$1" -o bits.nrrd
}

@test "agree: undither3, the fit" {
	surfaces "-m bayer --texture 1" -K 0
	agrees_on undither3 bits.nrrd undither3
	surfaces "-m blue --pack rgb --texture 8" -K 1 --layout yuv
	agrees_on undither3 bits.nrrd undither3 --keep
	surfaces "-m fs --pack planar" --stair composite
	agrees_on undither3 bits.nrrd undither3
	surfaces "-m best --sigma 4" -K 0
	agrees_on undither3 bits.nrrd undither3
}
