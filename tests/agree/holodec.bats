load ../agreement

# pictures FILE TYPE NOISE WORDS ...: Holoimages of surfaces with holes and steps, of each size, their
# levels off by noise, as samples of a type.
pictures() {
	local file=$1 type=$2 noise=$3
	shift 3
	py '
rng, out = np.random.default_rng(5), []
for w, h in ((1, 1), (5, 7), (127, 1), (129, 65), (1000, 3), (64, 40), (200, 150)):
	y, x = np.mgrid[:h, :w]
	z = 0.5 + 0.2 * np.sin(x / 9) * np.cos(y / 7) + 0.2 * (x // 23 % 2)
	z[rng.random(z.shape) < (0.03 if w < 200 else 0)] = np.nan	# the last one has pixels far from any
	out.append(Frame(np.stack([z, rng.uniform(0, 255, z.shape)]).astype("f4"), ["depth", "texture"], {}))
write_frames("depth.nrrd", out)'
	holoenc --texture texture --depth-range 0,1 "$@" depth.nrrd -o levels.nrrd
	py '
rng, out = np.random.default_rng(6), []
for f in read_frames("levels.nrrd"):
	level = f.pixels + rng.normal(0, float(sys.argv[3]), f.pixels.shape) * (f.pixels > 0)
	level = np.clip(np.round(level) if sys.argv[2] == "u1" else level, 0, 255).astype(sys.argv[2])
	f.meta.pop("holo_check")
	out.append(Frame(level, f.names, f.meta))
write_frames(sys.argv[1], out)' "$file" "$type" "$noise"
}

@test "agree: holodec" {
	pictures clean.nrrd u1 0 -P 40
	for words in "" "--xyz" "--xyz --decode plain --spacing 0.5,0.25 --corner=-3,7" "-e 3" "-e 64"; do
		agrees_on holodec clean.nrrd holodec $words
	done
	pictures noisy.nrrd u1 3 -P 40 --stair composite --z-axis away
	pictures floats.nrrd '<f4' 3 -P 30 -K 2 --layout yuv
	for file in noisy.nrrd floats.nrrd; do
		for words in "--decode median" "--decode plain -e 0" "--decode nearest --blur 1" \
			"--xyz --decode median -e 5"; do
			agrees_on holodec $file holodec $words
		done
	done
}

@test "agree: holodec --decode region is the processor's, and says so" {
	need_gpu
	pictures all.nrrd u1 3 -P 40
	py 'write_frames("noisy.nrrd", read_frames("all.nrrd")[3:4])'
	fringepipe -v -d gpu holodec noisy.nrrd >gpu.nrrd 2>messages || { cat messages; return 1; }
	grep 'holodec runs on the processor: regions' messages
	fringepipe -d cpu holodec noisy.nrrd | cmp - gpu.nrrd
}
