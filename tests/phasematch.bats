load helpers

# images NAME TYPE SIZE ...: frames of these sizes, some samples of float NaN.
images() {
	py '
kind = {"uchar": "u1", "ushort": "<u2", "float": "<f4"}[sys.argv[2]]
rng = np.random.default_rng(len(sys.argv[1]))
frames = []
for size in sys.argv[3:]:
	w, h = map(int, size.split("x"))
	p = rng.uniform(0, 200, (h, w)).astype(kind)
	if kind == "<f4": p[rng.random((h, w)) < 0.1] = np.nan
	frames.append(Frame(p))
write_frames(sys.argv[1], frames)' "$@"
}

@test "phasematch: the difference, of all types and at awkward sizes" {
	for type in uchar ushort float; do
		images left.$type.nrrd $type 1x1 5x7 127x1 128x64 129x65
		images right.$type.nrrd $type 1x1 5x7 127x1 128x64 129x65
	done
	for left in uchar ushort float; do
		for right in uchar ushort float; do
			phasematch --right right.$right.nrrd left.$left.nrrd -o $left-$right.nrrd
		done
	done
	py '
kinds = "uchar", "ushort", "float"
for a, b in ((a, b) for a in kinds for b in kinds):
	names = "left.%s.nrrd" % a, "right.%s.nrrd" % b, "%s-%s.nrrd" % (a, b)
	for p, q, out in zip(*(read_frames(name) for name in names), strict=True):
		truth = p["image"].astype("f4") - q["image"].astype("f4")
		expect(out.names == ["difference"], out.names)
		expect(np.array_equal(out["difference"], truth, equal_nan=True), names, out["difference"], truth)'
}

@test "phasematch: command history, one thread equals seven, every band height alike" {
	images in.nrrd ushort 333x100 50x60
	images right.nrrd uchar 333x100 50x60
	phasematch -r right.nrrd -j 1 <in.nrrd >one.nrrd
	phasematch -r right.nrrd -j 7 <in.nrrd >seven.nrrd
	FRINGEPIPE_BAND=1 phasematch -r right.nrrd -j 2 <in.nrrd >band.nrrd
	cmp one.nrrd seven.nrrd
	cmp one.nrrd band.nrrd
	py '
for f in read_frames("one.nrrd"):
	expect(f.meta["cmd.1"] == "phasematch --right=right.nrrd", f.meta)'
}

@test "phasematch: errors" {
	images in.nrrd uchar 6x4 6x4
	images one.nrrd uchar 6x4
	images other.nrrd uchar 6x4 5x4
	images more.nrrd float 6x4 6x4 6x4
	py 'write_frames("depth.nrrd", [Frame(np.zeros((2, 4, 6), "f4"), ["depth", "mask"])] * 2)'
	fails 2 "--right: is needed" phasematch in.nrrd -o out.nrrd
	fails 1 "other.nrrd: is 5 x 4, the input is 6 x 4" phasematch -r other.nrrd in.nrrd -o out.nrrd
	fails 1 "one.nrrd: has only 1 frame for --right" phasematch -r one.nrrd in.nrrd -o out.nrrd
	fails 1 "more.nrrd: has more frames for --right" phasematch -r more.nrrd in.nrrd -o out.nrrd
	fails 1 "input has no channel image, only: depth mask" phasematch -r in.nrrd depth.nrrd -o out.nrrd
	fails 1 "the image of --right has 2 channels and none is named image" phasematch -r depth.nrrd in.nrrd -o out.nrrd
	fails 1 "nothing.nrrd" phasematch -r nothing.nrrd in.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
}
