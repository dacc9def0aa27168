load ../agreement

# Streams of several frames of one size: the states cross from frame to frame.
kalman_agrees() {
	local channels=$1
	shift
	py '
rng = np.random.default_rng(9)
names, out = sys.argv[1].split(), []
for w, h in (1, 1), (5, 7), (127, 1), (129, 65), (1000, 3):
	still = rng.uniform(-3, 3, (len(names), h, w))
	for k in range(5):
		still[:, rng.random((h, w)) < 0.1] += 1
		v = np.clip(still + rng.normal(0, 0.05, still.shape), -3.14, 3.14)
		if "sigma" in names: v[names.index("sigma")] = abs(v[names.index("sigma")]) / 30
		if w > 1: v[rng.random(v.shape) < 0.05] = np.nan
		out.append(Frame(v.astype("f4"), names, {"time_s": str(len(out) + (k > 3))}))
write_frames("in.nrrd", out)' "$channels"
	agrees_on kalman in.nrrd "$@" || return 1
}

@test "agree: kalman" {
	kalman_agrees "depth texture" kalman -q
	kalman_agrees "texture depth" kalman -q --sigma 0.05 --motion 0 --repeat 1
	kalman_agrees "depth sigma" kalman -q --speed 0.01 --keep 1
	kalman_agrees "x y z texture" kalman -q --sigma 0.1 --gate 2
	kalman_agrees "texture phase1 phase2" kalman -q --channel phase2 --sigma 0.05
}
