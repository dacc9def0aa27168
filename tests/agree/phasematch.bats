load ../agreement

# The two sides of a scene: phases that rise (or fall) with steps back, holes and noise, of awkward sizes; the right one
# is wider or narrower. pair NAMES KEYS SLOPE
pair() {
	py '
names, keys, slope = sys.argv[1].split(), dict(k.split("=") for k in sys.argv[2].split(";") if k), float(sys.argv[3])
rng = np.random.default_rng(5)
out = [], []
for w, h, other in (5, 7, 9), (127, 1, 100), (129, 65, 131), (1000, 3, 990), (64, 40, 64), (3, 5, 40):
	shift = min(2, w / 20) * rng.uniform(-1, 1, (h, 1)) + 3 * (rng.random((h, 1)) < 0.2)
	for side, columns in enumerate((w, other)):
		x = np.arange(columns) + (3 * np.sin(np.arange(columns) / 9) + shift) * side
		x = np.where((x > columns / 3) & (x < columns / 2), x + 4, x)
		planes = []
		for k, name in enumerate(names):
			if name.startswith("sigma"):
				planes.append(rng.uniform(0.01, 0.03, x.shape))
			else:
				planes.append(slope * x * 60 / (60 + 6 * k) + rng.normal(0, 0.03 + 0.08 * (h == 40), x.shape))
			planes[-1][rng.random(x.shape) < 0.03] = np.nan
		rect = {"rect_f_px": "900", "rect_cx_px": "%d" % (columns // 2), "rect_cy_px": "7", "rect_baseline_mm": "-80",
			"rect_side": ("left", "right")[side], "rect_rotation": "0.8 0 0.6 0 1 0 -0.6 0 0.8"}
		out[side].append(Frame(np.array(planes, "f4"), names, (rect if "rig" in keys else {}) | keys))
write_frames("in.nrrd", out[0])
write_frames("second.nrrd", out[1])' "$@"
}

@test "agree: phasematch" {
	pair "absphase sigma texture" "rig=1" -0.3
	agrees_on phasematch in.nrrd phasematch --right second.nrrd --support 3 --support-range 2
	pair "absphase1 sigma1 absphase2 sigma2" "rig=1;absphase_period_px=60 66" 0.15
	agrees_on phasematch in.nrrd phasematch --right second.nrrd --support 2 --frame left --max-depth 1e5
	[ -n "${AGREE_ALL-}" ] || return 0	# make agree-all
	pair "absphase" "" 0.2
	agrees_on phasematch in.nrrd phasematch --assume-rectified --right second.nrrd
	pair "absphase1 absphase2 absphase3" "absphase_period_px=60 66 72" -0.15
	agrees_on phasematch in.nrrd phasematch --assume-rectified --right second.nrrd --max-residual 0.6 --both-ways 0 --support 0
}
