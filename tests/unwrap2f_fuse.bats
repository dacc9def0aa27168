load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# Phases whose noise is known, of a known column u, in a field of 640 px. Weights and scatter of the mean by
# theory: 1/(T sigma)^2, and T of the unwrapped phase taken out.
truth='
def measurement(u, periods, scatter, **meta):
	rng = np.random.default_rng(7)
	phases = [np.angle(np.exp(1j * (2 * np.pi * u / p + s * rng.normal(size=u.shape)))) for p, s in zip(periods, scatter)]
	meta = {"period_px": " ".join("%.17g" % p for p in periods), "axis": " ".join("x" for p in periods),
		"projector_px": "640 480"} | meta
	return Frame(np.array(phases).astype("f4"), ["phase%d" % (i + 1) for i in range(len(periods))], meta)

def theory(periods, scatter, unwrapped):
	return 1 / np.sqrt((1 / (np.array(periods) * scatter) ** 2).sum()) / unwrapped

def met(error, sigma, errors=3):
	"""The scatter is sigma within three standard errors, and the mean 0."""
	n = error.size
	expect(abs(error.std() / sigma - 1) < errors / np.sqrt(2 * n), error.std() / sigma, n)
	expect(abs(error.mean()) < errors * sigma / np.sqrt(n), error.mean())
	expect(np.abs(error).max() < 7 * sigma, np.abs(error).max() / sigma)

u = np.random.default_rng(3).uniform(20, 620, (100, 300))
'

@test "fuse: the scatter of all phases' weighted mean, by theory: two, three, hierarchical, Gray code" {
	for set in "60 66|" "66 60|" "60 66|-u 2" "60 66 78|" "60 66 78|-m heterodyne" "60 66 78|-u 3" \
		"20 120 640|-m hierarchical" "60 66|--line=1000000,1" "60 66|-m best" "60 24 66|-m gray"; do
		py "$truth"'
periods = [float(p) for p in sys.argv[1].split()]
f = measurement(u, periods, [0.03] * len(periods))
if "gray" in sys.argv[2]:
	f = Frame(np.concatenate([f.pixels, np.floor((u[None] + 0.5) / 30)]).astype("f4"), f.names + ["index"],
		f.meta | {"gray_cell": "half"})
if "line" in sys.argv[2]:
	u = u * 0.9; f = measurement(u, periods, [0.03, 0.03])
write_frames("in.nrrd", f)' "${set%|*}" "${set#*|}"
		# shellcheck disable=SC2086
		unwrap2f -q --fuse in.nrrd ${set#*|} -o out.nrrd
		# shellcheck disable=SC2086
		unwrap2f -q in.nrrd ${set#*|} -o single.nrrd
		py "$truth"'
periods = [float(p) for p in sys.argv[1].split()]
f, single = read_frame("out.nrrd"), read_frame("single.nrrd")
if "line" in sys.argv[2]: u = u * 0.9
period = float(f.meta["period_px"])
expect(f.meta["period_px"] == single.meta["period_px"])
met(f["absphase"] - 2 * np.pi * u / period, theory(periods, 0.03, period))
met(single["absphase"] - 2 * np.pi * u / period, 0.03)
expect(("-u" in sys.argv[2]) | (f["residual"] == single["residual"]))' "${set%|*}" "${set#*|}" || { echo "$set"; false; }
	done
	py "$truth"'
ratio = theory([60, 66], 0.03, 60) / 0.03
expect(abs(ratio - 0.74) < 0.0005, ratio)'
}

@test "fuse: --sigma, or the numbers of steps, weigh phases of unequal scatter" {
	py "$truth"'
write_frames("in.nrrd", measurement(u, [60, 66], [0.04, 0.02]))
write_frames("steps.nrrd", measurement(u, [60, 66], [0.06 / 3 ** 0.5, 0.06 / 12 ** 0.5], steps="3 12"))'
	unwrap2f --fuse --sigma 4,2 in.nrrd -o out.nrrd
	unwrap2f --fuse in.nrrd -o alike.nrrd
	unwrap2f --fuse steps.nrrd -o steps_out.nrrd
	py "$truth"'
sigma = np.array([0.04, 0.02])
met(read_frame("out.nrrd")["absphase"] - 2 * np.pi * u / 60, theory([60, 66], sigma, 60))
w = np.array([1 / 60 ** 2, 1 / 66 ** 2]); w /= w.sum()
met(read_frame("alike.nrrd")["absphase"] - 2 * np.pi * u / 60, np.hypot(*(w * sigma * [1, 1.1])))
met(read_frame("steps_out.nrrd")["absphase"] - 2 * np.pi * u / 60, theory([60, 66], 0.06 / np.array([3, 12]) ** 0.5, 60))'
}

@test "fuse: --all gives every phase its own order; a phase that is missing does not count" {
	py "$truth"'
f = measurement(u, [78, 60, 66], [0.03] * 3)
f = Frame(np.concatenate([f.pixels, [u, u]]).astype("f4"), f.names + ["phase4", "texture"],
	f.meta | {"period_px": "78 60 66 50", "axis": "x x x y"})
write_frames("in.nrrd", f)
f.pixels[2] = np.nan
write_frames("no.nrrd", f)
g = Frame(f.pixels[[0, 2, 3]], ["phase1", "phase2", "index"], {"period_px": "78 66", "axis": "x x", "gray_cell": "half"})
g.pixels[1, 50:] = np.nan; g.pixels[0] = measurement(u, [60], [0.03]).pixels
g.pixels[1, :50] = measurement(u, [78, 66], [0, 0.03]).pixels[1, :50]
g.pixels[2] = np.floor((u + 0.5) / 30)
g.meta["period_px"] = "60 66"
write_frames("gray.nrrd", g)'
	unwrap2f --all in.nrrd -o all.nrrd
	unwrap2f --all --fuse -m heterodyne in.nrrd -o both.nrrd
	unwrap2f in.nrrd -o plain.nrrd
	unwrap2f --fuse gray.nrrd -o gray_out.nrrd
	fails 1 "no frame has a valid pixel" unwrap2f -q --all no.nrrd -o no_out.nrrd
	py "$truth"'
f, both, plain = (read_frame(n + ".nrrd") for n in ("all", "both", "plain"))
names = ["absphase", "residual", "absphase1", "absphase2", "absphase3", "texture"]
expect(f.names == names, f.names); expect(both.names == names, both.names)
expect(f.meta["period_px"] == "60" and f.meta["absphase_period_px"] == "78 60 66", f.meta)
expect("absphase_period_px" not in plain.meta)
expect(f["absphase"] == plain["absphase"]); expect(f["absphase"] == f["absphase2"])
for k, period in enumerate([78, 60, 66]):
	met(f["absphase%d" % (k + 1)] - 2 * np.pi * u / period, 0.03)
met(both["absphase"] - 2 * np.pi * u / 60, theory([78, 60, 66], 0.03, 60))
expect(both.pixels[2:5] == f.pixels[2:5]); expect(f["texture"] == u.astype("f4"))
gray = read_frame("gray_out.nrrd")["absphase"] - 2 * np.pi * u / 60
met(gray[:50], theory([60, 66], 0.03, 60)); met(gray[50:], 0.03)
expect(np.isnan(read_frame("no_out.nrrd").pixels[:5]))'
	fails 1 "3 periods for 2 phases" unwrap2f --fuse -p 1,2,3 gray.nrrd
	py "$truth"'
f = measurement(u, [640], [0.03])
write_frames("one.nrrd", Frame(f.pixels, ["phase"], f.meta))'
	fails 0 "--fuse: there is one phase along x: nothing to fuse" unwrap2f --fuse one.nrrd -o out.nrrd
	unwrap2f one.nrrd -o single.nrrd
	framecmp --channels absphase out.nrrd single.nrrd
}

@test "fuse: noise of the images: 60 and 66 px give 0.74 of the scatter of 60" {
	fringesim -q -p 60,66 --noise 2 --seed 3 -s 300x200 --projector 640x480 --scene plane -o set.nrrd --truth truth.nrrd
	fringepipe -q phasewrap set.nrrd , unwrap2f -o one.nrrd
	fringepipe -q phasewrap set.nrrd , unwrap2f --fuse -o fused.nrrd
	py '
one, fused = (read_frame(n + ".nrrd")["absphase"].astype(float) for n in ("one", "fused"))
y, x = np.mgrid[:one.shape[0], :one.shape[1]]
def scatter(p):
	there = ~np.isnan(p)
	a = np.stack([np.ones(there.sum()), x[there], y[there]], 1)
	return (p[there] - a @ np.linalg.lstsq(a, p[there], rcond=None)[0]).std()
ratio = scatter(fused) / scatter(one)
expect(abs(ratio - 0.74) < 0.74 * 3 / np.sqrt(2 * one.size) + 0.001, ratio)'
}
