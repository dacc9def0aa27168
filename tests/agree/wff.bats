load ../agreement

# Transforms of 8 to 512 samples: odd powers of 2 end in pairs; of 512, four lines fit shared memory together.
@test "agree: wff" {
	agrees wff <<'CASES'
float phase1:-3.14..3.14 texture:0..1 phase2:-1..1 | | wff --sigma 5 --noise 0.4 --threshold 0.5
float cos:-1..1 sin:-1..1 sigma:0..1 | | wff --threshold 2 --band=-0.5,1.2,-0.9,0.9
CASES
	[ -n "${AGREE_ALL-}" ] || return 0	# make agree-all
	agrees wff <<'CASES'
float phase:-3.14..3.14 | | wff --sigma 1 --threshold 1
float phase:0..1 | | wff --sigma 20 --turn 1 --threshold 2
float image:0..255 | | wff --sigma 64 --step 0.01228 --channel image --turn 256 --threshold 2
CASES
}

@test "agree: wff of holes, infinite and huge samples, single rows, columns and pixels" {
	py '
rng = np.random.default_rng(3)
y, x = np.mgrid[:31, :43]
phase = np.angle(np.exp(1j * (0.4 * x + 0.2 * y + rng.normal(0, 0.3, x.shape)))).astype("f4")
bad = phase.copy()
bad[rng.random(bad.shape) < 0.4] = np.nan
bad[::7, ::5] = np.inf
bad[3::7, ::5] = -np.inf
bad[5::9, 2::5] = 3e38
bad[10:20, 10:30] = np.nan
write_frames("in.nrrd", [Frame(p, ["phase"]) for p in (phase[:1], phase[:, :1], phase[:1, :1], bad, bad[10:20, 10:30], phase)])'
	agrees_on wff in.nrrd wff --sigma 3
}

@test "agree: wff of maps of real interferometers" {
	need_data fringeproc_wrapped
	for map in "$data"/fringeproc_wrapped/*.png; do
		framecat --crop 0,0,120,50 "$map" -o in.nrrd
		agrees_on wff in.nrrd wff --channel image --turn 256
		[ -n "${AGREE_ALL-}" ] || return 0	# make agree-all
	done
	# so wide a window that one row of them at a time has room
	framecat "$data/fringeproc_wrapped/espi4_wrapped.png" -o in.nrrd
	wff -d cpu --sigma 64 --channel image --turn 256 in.nrrd -o cpu.nrrd
	FRINGEPIPE_GPU_CHECK=1 wff -d gpu --sigma 64 --channel image --turn 256 in.nrrd | cmp - cpu.nrrd
}
