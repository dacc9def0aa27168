load helpers

# A measurement of a plane or bump: u is the projector column that a camera pixel sees, known exactly;
# phases in float64, wrapped, with noise, then stored as float.
truth='
def column(w, h, field):
	"""u over the whole field, with a bump, from column 0 (the seam) to the last."""
	y, x = np.mgrid[:h, :w].astype(float)
	u = (x + 0.5) / w * field - 0.5 + 0.2 * np.sin(y)
	u += 3 * np.exp(-((x - w / 2) ** 2 + (y - h / 2) ** 2) / (0.02 * w * w + 1))
	return np.clip(u, -0.45, field - 0.55)

def wrapped(u, period, noise=0, seed=0):
	rng = np.random.default_rng([seed, int(period * 1000)])
	p = 2 * np.pi * u / period + noise * rng.normal(size=u.shape)
	return np.arctan2(np.sin(p), np.cos(p)).astype("f4")

def measurement(u, periods, noise=0, **meta):
	pixels = [wrapped(u, p, noise) for p in periods] + [u * 0 + 0.5, u * 0 + 100]
	names = ["phase%d" % (i + 1) for i in range(len(periods))] if len(periods) > 1 else ["phase"]
	meta = {"period_px": " ".join("%.17g" % p for p in periods),
		"axis": " ".join("x" for p in periods), "steps": "3"} | meta
	return Frame(np.array(pixels).astype("f4"), names + ["modulation", "texture"], meta)

def close(frame, u, period, tolerance):
	"""The absolute phase is 2 pi u/T everywhere, so no fringe order is wrong."""
	error = frame["absphase"] - 2 * np.pi * u / period
	expect(np.abs(error) < tolerance, np.abs(error).max(), np.argwhere(~(np.abs(error) < tolerance))[:5])
'

@test "unwrap2f: two frequencies, one fringe of the beat over the field, at awkward sizes" {
	for size in 1x1 5x7 127x1 128x64 129x65; do
		py "$truth"'
w, h = map(int, sys.argv[1].split("x"))
u = column(w, h, 640); np.save("u.npy", u)
write_frames("in.nrrd", measurement(u, [60, 66], projector_px="640 480"))' $size
		unwrap2f -o out.nrrd in.nrrd
		py "$truth"'
f, u = read_frame("out.nrrd"), np.load("u.npy")
expect(f.names == ["absphase", "residual", "modulation", "texture"], f.names)
expect(f.meta["period_px"] == "60" and f.meta["axis"] == "x", f.meta)
close(f, u, 60, 1e-5)
expect(np.abs(f["residual"]) < 1e-5, f["residual"])
expect(f["modulation"] == 0.5); expect(f["texture"] == 100)'
	done
}
