load helpers

# A ramp with whole-turn spikes: what must come back is the ramp, to the bit where there was no spike.
ramp='
def ramp(h, w, axis="x"):
	y, x = np.mgrid[:h, :w]
	return (0.3 * (x if axis == "x" else y) + 0.01 * (y if axis == "x" else x)).astype("f4")
'

@test "median: isolated spikes go, everything else stays, at awkward sizes" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		py "$ramp"'
w, h = map(int, sys.argv[1].split("x"))
clean = ramp(h, w)
bad = clean.copy()
if w >= 5:
	bad[::3, 2::5] += np.float32(2 * np.pi)
	bad[1::3, 4::7] -= np.float32(4 * np.pi)
write_frames("in.nrrd", Frame(bad, ["absphase"], {"axis": "x"}))
np.save("clean.npy", clean)' $size
		median -o out.nrrd in.nrrd
		py '
out, clean = read_frame("out.nrrd")["absphase"], np.load("clean.npy")
# 0.495 ulp of the spike: half of one, which the sum and the difference may each round
expect(np.abs(out - clean) <= 0.594 * ulp(np.abs(clean) + 4 * np.pi), sys.argv[1], np.abs(out - clean).max())' $size
	done
}

@test "median: the phase is never replaced by the median" {
	py '
rng = np.random.default_rng(1)
noisy = (rng.normal(0, 0.4, (50, 60)) + np.arange(60) * 0.3).astype("f4")
write_frames("in.nrrd", Frame(noisy, ["absphase"]))
np.save("noisy.npy", noisy)'
	for shape in row column box; do
		median --shape $shape in.nrrd -o out.nrrd
		py '
turns = (read_frame("out.nrrd")["absphase"] - np.load("noisy.npy")) / (2 * np.pi)
expect(np.abs(turns - np.round(turns)) < 1e-5, turns)'
	done
}

@test "median: NaN stays NaN and does no harm beside" {
	py '
p = np.full((9, 9), 5, "f4"); p[4, 3:6] = [np.nan, 5 + 2 * np.pi, np.nan]; p[0, 0] = np.nan
write_frames("in.nrrd", Frame(np.stack([p, p * 0 + 7]), ["absphase", "modulation"]))'
	for shape in row column box; do
		median -s $shape in.nrrd -o out.nrrd
		py '
f = read_frame("out.nrrd"); p = f["absphase"]
hole = np.zeros((9, 9), bool); hole[4, 3] = hole[4, 5] = hole[0, 0] = True
expect(np.isnan(p) == hole, p)
expect(np.abs(p[~hole] - 5) < 5.8e-7, p)
expect(f.names == ["absphase", "modulation"], f.names)'
	done
}

@test "median: fringes along y take a column by themselves" {
	py "$ramp"'
p = ramp(40, 30, "y") * 4; p[7, 5] += 2 * np.pi
write_frames("in.nrrd", Frame(p, ["absphase"], {"axis": "y"}))'
	median in.nrrd -o a.nrrd
	median --shape column in.nrrd -o b.nrrd
	py '
a, b = read_frame("a.nrrd"), read_frame("b.nrrd")
expect(a.pixels == b.pixels)
expect(abs(a["absphase"][7, 5] - 4 * (0.3 * 7 + 0.05)) < 4.7e-7)'
}

@test "median: command history, one thread equals seven, every band height alike" {
	py '
rng = np.random.default_rng(2)
p = (rng.integers(0, 2, (100, 333)) * 2 * np.pi + np.arange(333) * 0.2).astype("f4")
write_frames("in.nrrd", [Frame(p, ["absphase"]), Frame(p[:50], ["absphase"])])'
	median -s box -j 1 <in.nrrd >one.nrrd
	median -s box -j 7 <in.nrrd >seven.nrrd
	FRINGEPIPE_BAND=1 median -s box -j 2 <in.nrrd >band.nrrd
	cmp one.nrrd seven.nrrd
	cmp one.nrrd band.nrrd
	py '
f = read_frames("one.nrrd")
expect(len(f) == 2 and f[0].meta["cmd.1"] == "median --shape=box", f[0].meta)'
}

# As the page has it, pixel by pixel. Values are whole and half turns and a little: medians tie, windows have holes.
@test "median: in images of 1 to 4 rows and columns, holes and equal numbers to both sides, as the page says" {
	py '
rng, frames = np.random.default_rng(5), []
for h in range(1, 6):
	for w in range(1, 6):
		for k in range(8):
			p = (rng.integers(0, 3, (h, w)) * 2 * np.pi + rng.integers(0, 5, (h, w)) * 0.3).astype("f4")
			p[rng.random((h, w)) < 0.2 * (k > 3)] = np.nan
			frames.append(Frame(p, ["absphase"]))
write_frames("in.nrrd", frames)'
	for shape in row column box; do
		median --shape $shape in.nrrd -o out.nrrd
		py '
def place(i, by, n):
	return i + by if 0 <= i + by < n else i - by if 0 <= i - by < n else i
window = {"row": [(0, k) for k in range(-2, 3)], "column": [(k, 0) for k in range(-2, 3)],
	"box": [(j, k) for j in (-1, 0, 1) for k in (-1, 0, 1)]}[sys.argv[1]]
mended = kept = 0
for f, g in zip(read_frames("in.nrrd"), read_frames("out.nrrd"), strict=True):
	p, got = f["absphase"], g["absphase"]
	h, w = p.shape
	for y in range(h):
		for x in range(w):
			seen = np.sort([v for j, k in window if not np.isnan(v := p[place(y, j, h), place(x, k, w)])])
			turns = 0 if np.isnan(p[y, x]) else np.floor((p[y, x] - seen[len(seen) // 2]) / (2 * np.pi) + 0.5)
			want = p[y, x] - turns * 2 * np.pi
			near = np.isnan(got[y, x]) if np.isnan(want) else abs(got[y, x] - want) < 2e-6
			expect(near, sys.argv[1], p, y, x, got[y, x], want)
			n, i = (h, y) if sys.argv[1] == "column" else (w, x)
			if sys.argv[1] != "box" and (n < 3 or (n, i) == (3, 1)) and not np.isnan(p[y, x]):
				kept += 1
				expect(got[y, x] == p[y, x], sys.argv[1], p, y, x)
			mended += turns != 0
expect(mended > 300 and (kept > 100) == (sys.argv[1] != "box"), mended, kept)' $shape
	done
}

@test "median: half a turn above the median goes, half a turn below stays" {
	py '
p = np.zeros((3, 9), "f4"); p[0, 4], p[1, 4], p[2, 4] = np.pi, -np.pi, np.pi - 1e-6
write_frames("in.nrrd", Frame(p, ["absphase"]))'
	median in.nrrd -o out.nrrd
	py '
p = read_frame("out.nrrd")["absphase"][:, 4]
expect(p == np.array([-np.pi, -np.pi, np.pi - 1e-6], "f4"), p)'
}

@test "median: errors" {
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 3), "f4"), ["depth"]))'
	fails 1 "input has no channel absphase, only: depth" median in.nrrd
	fails 2 "--shape: must be one of auto row column box, not 'disc'" median -s disc in.nrrd
	fails 1 "nothing.nrrd" median nothing.nrrd
}
