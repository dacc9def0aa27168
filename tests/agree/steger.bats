load ../agreement

# line: line.nrrd, a bright line that is cut, with noise; so few points that the device's short list holds them.
line() {
	py '
rng = np.random.default_rng(5)
y, x = np.mgrid[0:203, 0:331].astype(float)
p = 20 + 120 * np.exp(-(x - 100 - 30 * np.sin(y / 40)) ** 2 / 8) + rng.normal(0, 2, x.shape)
q = np.where(np.hypot(x - 110, y - 100) < 8, np.nan, p)
q[5, 5] = np.inf
write_frames("line.nrrd", [Frame(np.clip(np.rint(p), 0, 255).astype("u1")), Frame(np.rint(p.T * 9).astype("u2")), Frame(q.astype("f4"))])'
}

@test "agree: steger" {
	line
	agrees_on steger line.nrrd steger
	agrees_on steger line.nrrd steger --roi 33,17,100,111 --asymmetric --sigma 3 --threshold 1
	agrees_on steger line.nrrd steger --sigma 8.75 --threshold 0.3
	fringepipe -v -d gpu steger --sigma 9 --threshold 0.3 line.nrrd -o wide.nrrd 2>messages
	grep -q "steger runs on the processor: its sigma is above 8.75 px" messages
	fringepipe -d cpu steger --sigma 9 --threshold 0.3 line.nrrd | cmp - wide.nrrd
	agrees steger <<'CASES'
uchar image:0..200 | | steger --threshold 0.3 --sigma 5 --plain --min-length 1
ushort image:0..4000 | | steger --dark --threshold 60 --sigma 1 --background second.nrrd | uchar image:0..200
float image:0..200 | | steger --threshold 20 --sigma 0.8 --min-length 1
CASES
	[ -n "${AGREE_ALL-}" ] || return 0	# make agree-all: each alone
	agrees steger <<'CASES'
float image:0..200 | | steger --width 4 --sharp --threshold 20 --min-length 1
float image:0..200 | | steger --plain --dark --threshold 20 --sigma 0.8 --min-length 1
uchar image:0..200 | | steger --threshold 3 --asymmetric --min-length 2 --background second.nrrd | float image:0..100
CASES
}
