load helpers

# counts FILE N ...: the key frames of each frame of a file.
counts() {
	py '
seen = [f.meta["frames"] for f in read_frames(sys.argv[1])]
expect(seen == sys.argv[2:], "counts", seen)' "$@"
}

@test "mergexyz: means of valid samples, at awkward sizes" {
	py '
rng = np.random.default_rng(1)
frames = []
for w, h in (1, 1), (5, 7), (127, 1), (128, 64), (129, 65):
	p = rng.uniform(1, 9, size=(5, 2, h, w)).astype("f4")
	p[1:4, 0, 0, 0] = np.nan
	p[:, 1, h // 2, w // 2] = np.nan
	frames += [Frame(v, ["image", "texture"]) for v in p]
write_frames("in.nrrd", frames)'
	mergexyz in.nrrd -o out.nrrd
	py '
a, b = read_frames("in.nrrd"), read_frames("out.nrrd")
expect(len(b) == 5, len(b), "frames")
for k, mean in enumerate(b):
	p = np.stack([f.pixels for f in a[5 * k:5 * k + 5]]).astype(float)
	there = ~np.isnan(p)
	n = there.sum(0)
	truth = np.where(n, np.where(there, p, 0).sum(0) / np.maximum(n, 1), np.nan)
	expect(mean.names == ["image", "texture"], mean.names)
	expect(np.isnan(mean.pixels) == np.isnan(truth), truth.shape, mean.pixels, truth)
	expect(~(np.abs(mean.pixels - truth) > 5 * ulp(truth)), truth.shape, mean.pixels, truth)'
}

@test "mergexyz: N frames make one, and what is left makes one too" {
	py 'write_frames("in.nrrd", [Frame(np.full((3, 4), k, "u1"), None, {"time_s": str(k)}) for k in range(7)])'
	mergexyz --frames 3 in.nrrd -o out.nrrd
	counts out.nrrd 3 3 1
	py '
seen = [(f.pixels[0, 0, 0], f.meta["time_s"]) for f in read_frames("out.nrrd")]
expect(seen == [(1, "0"), (4, "3"), (6, "6")], seen)'
	mergexyz --frames 1 in.nrrd -o same.nrrd
	py '
for a, b in zip(read_frames("in.nrrd"), read_frames("same.nrrd")):
	expect(a.pixels == b.pixels, b.pixels)'
}

@test "mergexyz: another size or other channels begin a new mean" {
	py '
def frame(h, name): return Frame(np.ones((h, 4), "f4"), [name])
write_frames("in.nrrd", [frame(3, "image"), frame(3, "image"), frame(5, "image"), frame(5, "depth"), frame(5, "depth")])'
	mergexyz in.nrrd -o out.nrrd
	counts out.nrrd 2 1 2
}

@test "mergexyz: command history, one thread equals seven, a pipe equals a chain" {
	py '
rng = np.random.default_rng(2)
write_frames("in.nrrd", [Frame(rng.normal(size=(100, 333)).astype("f4")) for k in range(5)])'
	mergexyz -n 2 -j 1 <in.nrrd >one.nrrd
	mergexyz -n 2 -j 7 <in.nrrd >seven.nrrd
	cmp one.nrrd seven.nrrd
	py '
for f in read_frames("one.nrrd"):
	expect(f.meta["cmd.1"] == "mergexyz --frames=2", f.meta)'
	mergexyz -n 2 <in.nrrd | mergexyz >pipe.nrrd
	fringepipe mergexyz -n 2 , mergexyz <in.nrrd | cmp - pipe.nrrd
}

@test "mergexyz: -v says why the processor does it" {
	need_gpu
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 3), "f4")))'
	mergexyz -v -d gpu in.nrrd -o out.nrrd 2>said
	grep -q "runs on the processor: a mean waits for all its frames" said
}

@test "mergexyz: errors" {
	py 'write_frames("in.nrrd", [Frame(np.zeros((3, 3), "f4"))] * 2)'
	fails 2 "--frames: wants a whole number, not '1.5'" mergexyz -n 1.5 in.nrrd
	fails 2 "--frames: must be 0 to 1000000, not '-1'" mergexyz -n -1 in.nrrd
	fails 1 "nothing.nrrd" mergexyz nothing.nrrd
	head -c -7 in.nrrd >torn.nrrd
	fails 1 "torn.nrrd" mergexyz torn.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
}
