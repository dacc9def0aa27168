load helpers

@test "skeleton: every sample times the gain, at awkward sizes" {
	py '
rng = np.random.default_rng(1)
frames = []
for w, h in (1, 1), (5, 7), (127, 1), (128, 64), (129, 65):
	p = rng.normal(size=(2, h, w)).astype("f4")
	p[1, 0, 0] = np.nan
	frames.append(Frame(p, ["image", "texture"]))
write_frames("in.nrrd", frames)'
	skeleton -g 1.7 in.nrrd -o out.nrrd
	py '
for a, b in zip(read_frames("in.nrrd"), read_frames("out.nrrd"), strict=True):
	truth = np.float32(1.7) * a.pixels
	expect(b.names == a.names, b.names)
	expect(np.array_equal(b.pixels, truth, equal_nan=True), truth.shape, b.pixels, truth)'
}

@test "skeleton: the option, else the key, else 1" {
	py '
p = np.full((3, 4), 5, "u1")
write_frames("in.nrrd", [Frame(p), Frame(p, None, {"gain": "3"}), Frame(p)])'
	skeleton in.nrrd -o key.nrrd
	skeleton --gain 2 in.nrrd -o option.nrrd
	py '
expect([f.pixels[0, 0, 0] for f in read_frames("key.nrrd")] == [5, 15, 5])
expect([f.pixels[0, 0, 0] for f in read_frames("option.nrrd")] == [10, 10, 10])'
}

@test "skeleton: command history, one thread equals seven, every band height alike" {
	py '
rng = np.random.default_rng(2)
write_frames("in.nrrd", [Frame(rng.normal(size=(h, 333)).astype("f4")) for h in (100, 50)])'
	skeleton -g 3 -j 1 <in.nrrd >one.nrrd
	skeleton -g 3 -j 7 <in.nrrd >seven.nrrd
	FRINGEPIPE_BAND=1 skeleton -g 3 -j 2 <in.nrrd >band.nrrd
	cmp one.nrrd seven.nrrd
	cmp one.nrrd band.nrrd
	py '
for f in read_frames("one.nrrd"):
	expect(f.meta["cmd.1"] == "skeleton --gain=3", f.meta)'
}

@test "skeleton: errors" {
	for gain in -1 2000 nan; do
		py 'write_frames("in.nrrd", Frame(np.zeros((3, 3), "f4"), None, {"gain": sys.argv[1]}))' $gain
		fails 1 "key gain must be 0 to 1000, not $gain" skeleton in.nrrd -o out.nrrd
	done
	fails 2 "--gain: wants a number, not 'much'" skeleton -g much in.nrrd
	fails 2 "--gain: must be 0 to 1000, not '-1'" skeleton -g -1 in.nrrd
	fails 1 "nothing.nrrd" skeleton nothing.nrrd
	[ ! -e out.nrrd ]
}
