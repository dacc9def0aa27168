load helpers

# What a stage may ask of the runner (common/run/stage.h, run.h), by stages of the tests' own
# (tests/stages): second inputs, state planes, flows that hold frames back, scratch memory, tables.
setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	PATH=$top/build/bin-stages:$PATH	# built by `make stages`
}

# pair_inputs TYPE TYPE TYPE: three frames each of in (17 x 9), ref (17 x 9) and right (5 x 9).
pair_inputs() {
	py '
kinds = {"uchar": "u1", "ushort": "<u2", "float": "<f4"}
rng = np.random.default_rng(3)
for name, kind, w in zip(("in", "ref", "right"), sys.argv[1:], (17, 17, 5)):
	write_frames(name + ".nrrd", [Frame(rng.integers(0, 200, (9, w)).astype(kinds[kind]))
		for i in range(3)])' "$@"
}

# pair_truth OUT: OUT is what testpair is to make of them.
pair_truth() {
	py '
a, b, c = (read_frames(name + ".nrrd") for name in ("in", "ref", "right"))
out = read_frames(sys.argv[1])
expect(len(out) == 3, "%d frames" % len(out))
for k, frame in enumerate(out):
	x = np.arange(17) % 5
	truth = (a[k].pixels[0].astype("f4") + np.float32(1000) * b[k].pixels[0].astype("f4")) + \
		np.float32(1e6) * c[k].pixels[0][:, x].astype("f4")
	expect(np.array_equal(frame["sum"], truth), "frame %d" % k)' "$1"
}

@test "interface: second inputs keep their own width, stride and type" {
	for left in uchar ushort float; do
		for other in uchar ushort float; do
			pair_inputs $left $other $left
			testpair --ref ref.nrrd --right right.nrrd in.nrrd -o out.nrrd
			pair_truth out.nrrd
			for words in "-j 1" "-j 7" --whole; do
				# shellcheck disable=SC2086
				testpair --ref ref.nrrd --right right.nrrd $words in.nrrd | framecmp - out.nrrd
			done
			for band in 1 2 7; do
				FRINGEPIPE_BAND=$band testpair --ref ref.nrrd --right right.nrrd in.nrrd | cmp - out.nrrd
			done
			fringepipe testpair --ref ref.nrrd --right right.nrrd , gauss -n 5 --on sum <in.nrrd >chain.nrrd
			testpair --ref ref.nrrd --right right.nrrd in.nrrd | gauss -n 5 --on sum | framecmp - chain.nrrd
		done
	done
}

@test "interface: second inputs on the device" {
	need_gpu
	export FRINGEPIPE_GPU_CHECK=1 XDG_CACHE_HOME=$work
	for types in "uchar ushort float" "float uchar ushort" "ushort float uchar"; do
		# shellcheck disable=SC2086
		pair_inputs $types
		for copy in 0 1; do
			for band in 100 4; do
				[ $copy = 0 ] || export FRINGEPIPE_GPU_COPY=1
				FRINGEPIPE_BAND=$band testpair -v -d gpu --ref ref.nrrd --right right.nrrd in.nrrd \
					-o out.nrrd 2>said
				grep -q 'frames on ' said
				pair_truth out.nrrd
				unset FRINGEPIPE_GPU_COPY
			done
		done
	done
}

@test "interface: an option may be given several times, each a stream of its own" {
	pair_inputs float float float
	py '
rng = np.random.default_rng(4)
for k in range(3):
	write_frames("view%d.nrrd" % (k + 1), [Frame(rng.integers(0, 9, (9, 3 + k)).astype("u1")) for i in range(3)])'
	testpair --ref ref.nrrd --right right.nrrd --view view1.nrrd --view view2.nrrd --view view3.nrrd in.nrrd -o out.nrrd
	py '
out = read_frames("out.nrrd")
for k, frame in enumerate(out):
	truth = sum(read_frames("view%d.nrrd" % (i + 1))[k].pixels[0][:, np.arange(17) % (3 + i)].astype("f4")
		for i in range(3))
	expect(np.array_equal(frame["views"], truth), "frame %d" % k)
expect("--view=view1.nrrd --view=view2.nrrd --view=view3.nrrd" in out[0].meta["cmd.1"], out[0].meta["cmd.1"])'
}

@test "interface: second inputs end with the input, and the one that goes on is named" {
	pair_inputs float float float
	py '
for name in ("in", "ref", "right"):
	frames = read_frames(name + ".nrrd")
	for n in (1, 2):
		write_frames("%s%d.nrrd" % (name, n), frames[:n])'
	# one frame of --ref serves all; of --right it does not
	testpair --ref ref1.nrrd --right right.nrrd in.nrrd -o out.nrrd
	fails 1 "right1.nrrd: has only 1 frame for --right, the input has more" \
		testpair --ref ref.nrrd --right right1.nrrd in.nrrd -o out2.nrrd
	fails 1 "ref2.nrrd: has only 2 frames for --ref, the input has more" \
		testpair --ref ref2.nrrd --right right.nrrd in.nrrd -o out2.nrrd
	fails 1 "right.nrrd: has more frames for --right than the input, which ends after 2" \
		testpair --ref ref1.nrrd --right right.nrrd in2.nrrd -o out2.nrrd
	fails 1 "ref.nrrd: has more frames for --ref than the input, which ends after 2" \
		testpair --ref ref.nrrd --right right2.nrrd in2.nrrd -o out2.nrrd
	fails 1 "ref.nrrd: has more frames for --ref than the input, which ends after 1" \
		testpair --ref ref.nrrd --right right1.nrrd in1.nrrd -o out2.nrrd
	[ ! -e out2.nrrd ]
	head -c -7 right.nrrd >torn.nrrd
	fails 1 "torn.nrrd" testpair --ref ref.nrrd --right torn.nrrd in.nrrd -o out2.nrrd
	fails 1 "is 5 x 9, the input is 17 x 9" testpair --ref right.nrrd --right right.nrrd in.nrrd -o out2.nrrd
	fails 1 "none.nrrd: cannot be opened" testpair --ref ref.nrrd --right none.nrrd in.nrrd -o out2.nrrd
	: >empty.nrrd
	fails 1 "empty.nrrd: is empty" testpair --ref ref.nrrd --right empty.nrrd in.nrrd -o out2.nrrd
	fails 2 "standard input is wanted 2 times" testpair --ref ref.nrrd --right - - <in.nrrd
}

@test "interface: FRINGEPIPE_REPEAT takes second inputs through again, too" {
	pair_inputs uchar float ushort
	FRINGEPIPE_REPEAT=3 testpair --ref ref.nrrd --right right.nrrd in.nrrd -o three.nrrd
	testpair --ref ref.nrrd --right right.nrrd in.nrrd -o one.nrrd
	cat one.nrrd one.nrrd one.nrrd | cmp - three.nrrd
	py 'for name in ("in", "ref", "right"): write_frames(name + "1.nrrd", read_frames(name + ".nrrd")[:1])'
	FRINGEPIPE_REPEAT=2 testpair --ref ref1.nrrd --right right1.nrrd in1.nrrd -o two.nrrd
	testpair --ref ref1.nrrd --right right1.nrrd in1.nrrd >one.nrrd
	cat one.nrrd one.nrrd | cmp - two.nrrd
}

@test "interface: a second input is read ahead from a folder, and from a pipe" {
	pair_inputs uchar uchar uchar
	mkdir left right
	framecat in.nrrd -o left/%d.png
	framecat right.nrrd -o right/%d.png
	testpair --ref ref.nrrd --right right left | framecmp - <(testpair --ref ref.nrrd --right right.nrrd in.nrrd)
	cat right.nrrd | testpair --ref ref.nrrd --right - in.nrrd -o out.nrrd
	pair_truth out.nrrd
}

@test "interface: a second input that changes its size and type within the stream" {
	py '
rng = np.random.default_rng(5)
sizes, kinds = ((6, 3), (9, 3), (6, 5), (6, 5)), ("u1", "<f4", "<u2", "u1")
for name, dw in (("in", 0), ("ref", 0), ("right", 2)):
	write_frames(name + ".nrrd", [Frame(rng.integers(0, 99, (h, w + dw)).astype(k if dw else "<f4"))
		for (w, h), k in zip(sizes, kinds)])'
	testpair --ref ref.nrrd --right right.nrrd in.nrrd -o out.nrrd
	py '
a, b, c, out = (read_frames(n + ".nrrd") for n in ("in", "ref", "right", "out"))
for k in range(4):
	w = a[k].pixels.shape[2]
	truth = (a[k].pixels[0] + np.float32(1000) * b[k].pixels[0]) + np.float32(1e6) * c[k].pixels[0][:, :w].astype("f4")
	expect(np.array_equal(out[k]["sum"], truth), str(k))'
}

# state_truth: the running means of in.nrrd, computed by NumPy, are in out.nrrd.
state_truth() {
	py '
last = None
for k, (frame, out) in enumerate(zip(read_frames("in.nrrd"), read_frames("out.nrrd"))):
	v = frame.pixels[0]
	if last is None or last.shape != v.shape:
		last, seen = np.full_like(v, np.nan), 0
	seen += 1
	mean = last + np.float32(0.5) * (v - last)
	last = np.where(np.isnan(v), last, np.where(np.isnan(last), v, mean))
	expect(np.array_equal(out["mean"], last, equal_nan=True), "frame %d" % k)
	expect((out["count"] == seen).all(), "count of frame %d" % k)' 
}

@test "interface: state planes remember pixels from frame to frame, in bands of any height" {
	py '
rng = np.random.default_rng(6)
sizes = [(37, 23)] * 5 + [(8, 40)] * 3 + [(37, 23)] * 2 + [(1, 1)] * 3
frames = []
for k, (w, h) in enumerate(sizes):
	v = rng.normal(size=(h, w)).astype("f4")
	v[rng.random(v.shape) < 0.2] = np.nan
	frames.append(Frame(v, meta={"time_s": str(k)}))	# metadata that change keep the state
write_frames("in.nrrd", frames)'
	teststate in.nrrd -o out.nrrd
	state_truth
	# a filter behind it wants rows beyond the band, which two threads then make
	fringepipe teststate in.nrrd , gauss -n 9 --on mean -j 1 >filtered.nrrd
	for band in 1 2 3 7 50; do
		for j in 1 2 7; do
			FRINGEPIPE_BAND=$band teststate -j $j in.nrrd | cmp - out.nrrd
			FRINGEPIPE_BAND=$band fringepipe teststate in.nrrd , gauss -n 9 --on mean -j $j |
				cmp - filtered.nrrd
		done
	done
	for i in 1 2 3 4 5; do
		fringepipe teststate in.nrrd , gauss -n 9 --on mean -j 5 | cmp - filtered.nrrd
	done
}

@test "interface: state planes on the device" {
	need_gpu
	py '
rng = np.random.default_rng(7)
frames = []
for w, h in [(37, 23)] * 5 + [(8, 40)] * 3 + [(37, 23)] * 2:
	v = rng.normal(size=(h, w)).astype("f4")
	v[rng.random(v.shape) < 0.2] = np.nan
	frames.append(Frame(v))
write_frames("in.nrrd", frames)'
	export FRINGEPIPE_GPU_CHECK=1 XDG_CACHE_HOME=$work
	fringepipe teststate in.nrrd , gauss -n 9 --on mean -d cpu >filtered.nrrd
	for copy in 0 1; do
		for band in 100 5; do
			[ $copy = 0 ] || export FRINGEPIPE_GPU_COPY=1
			FRINGEPIPE_BAND=$band teststate -v -d gpu in.nrrd -o out.nrrd 2>said
			grep -q 'frames on ' said
			state_truth
			FRINGEPIPE_BAND=$band fringepipe -d gpu teststate in.nrrd , gauss -n 9 --on mean | cmp - filtered.nrrd
			FRINGEPIPE_BAND=$band fringepipe teststate -d cpu in.nrrd , gauss -n 9 --on mean -d gpu | cmp - filtered.nrrd
			unset FRINGEPIPE_GPU_COPY
		done
	done
}

@test "interface: a stage that holds frames back is flushed before another head is planned" {
	py '
frames = []
for k, (w, h) in enumerate([(3, 2)] * 3 + [(4, 2)] * 2 + [(3, 2)]):
	frames.append(Frame(np.full((h, w), k, "f4"), meta={"time_s": str(k)}))
write_frames("in.nrrd", frames)'
	testhold in.nrrd -o out.nrrd
	py '
expect([int(f.pixels[0, 0, 0]) for f in read_frames("out.nrrd")] == [2, 1, 0, 4, 3, 5], "order")
expect([f.meta["flushes"] for f in read_frames("out.nrrd")] == list("111223"), "flushes")'
	testhold --strict in.nrrd -o out.nrrd
	py 'expect([int(f.pixels[0, 0, 0]) for f in read_frames("out.nrrd")] == list(range(6)), "strict")'
	fringepipe gauss -n 1 --on image in.nrrd , testhold , gauss -n 1 --on image >out.nrrd
	py 'expect([int(f.pixels[0, 0, 0]) for f in read_frames("out.nrrd")] == [2, 1, 0, 4, 3, 5], "chain")'
}

@test "interface: scratch memory is carried over within a band, and begins anew with the next" {
	py 'write_frames("in.nrrd", [Frame(np.zeros((h, 300), "f4")) for h in (200, 1, 77)])'
	for j in 1 2 5; do
		testrows -j $j in.nrrd -o out.nrrd
		py '
for frame in read_frames("out.nrrd"):
	rows = frame["rows"][:, 0]
	expect(rows[0] == 0, "first row")
	# each row follows the one above in its band, or begins a band
	expect(((np.diff(rows) == 1) | (rows[1:] == 0)).all(), str(rows))'
	done
	FRINGEPIPE_BAND=10 testrows -j 1 in.nrrd -o out.nrrd
	py '
for frame in read_frames("out.nrrd"):
	rows = frame["rows"][:, 0]
	expect(rows.max() < 10 and (rows == 0).sum() == -(-len(rows) // 10), "bands of 10", rows)'
}

@test "interface: 60000 channels are gathered in sets of three, on a small stack" {
	py '
v = np.random.default_rng(1).integers(0, 200, (60000, 1, 4)).astype("u1")
write_frames("in.nrrd", Frame(v))
np.save("v.npy", v)'
	(ulimit -s 256 && phasewrap -q -n 3 --period 60 in.nrrd -o out.nrrd)
	py '
v = np.load("v.npy").astype("f8")
out = read_frames("out.nrrd")
expect(len(out) == 20000, len(out))
for k in (0, 1, 7, 12345, 19999):
	a, b, c = v[3 * k:3 * k + 3]
	truth = np.arctan2(np.sqrt(3) * (a - c), 2 * b - a - c)
	phase = out[k]["phase"]
	valid = ~np.isnan(phase)
	expect(np.abs(np.angle(np.exp(1j * (phase - truth)))[valid]).max(initial=0) < 1e-5, k)'
}

@test "interface: tables are shared out by columns, and more rows are no new plan" {
	py '
rng = np.random.default_rng(8)
frames = []
for n in (3, 0, 10000, 1, 4096, 4097, 5000, 0):
	v = rng.normal(size=(1, 1, max(n, 1))).astype("f4")
	if n == 0: v[:] = np.nan
	frames.append(Frame(v, ["x"], {"points": str(n)}))
write_frames("in.nrrd", frames)'
	for j in 1 3; do
		fringepipe testrows in.nrrd , testrows -j $j -o out.nrrd
		py '
for a, b in zip(read_frames("in.nrrd"), read_frames("out.nrrd")):
	expect(a.meta["points"] == b.meta["points"], "points")
	expect(a.pixels.shape[2] == b.pixels.shape[2], "width")
	truth = np.float32(2) * (np.float32(2) * a.pixels[0] + np.float32(1)) + np.float32(1)
	expect(np.array_equal(b["double"], truth, equal_nan=True), "values")
	middle = np.float32(2) * a.pixels[0] + np.float32(1)
	expect(np.array_equal(b["same"], middle, equal_nan=True), "handed on")'
	done
	fails 1 "input is a table of 3 points, not an image" teststate in.nrrd -o no.nrrd
	fails 1 "teststate: input is a table of 3 points, not an image" \
		fringepipe testrows in.nrrd , teststate -o no.nrrd
	py 'write_frames("bad.nrrd", [Frame(np.zeros((1, 1, 4), "f4"), ["x"], {"points": sys.argv[1]})])' 5
	fails 1 "points: is 5, the table has 4 columns" testrows bad.nrrd -o no.nrrd
	[ ! -e no.nrrd ]
}
