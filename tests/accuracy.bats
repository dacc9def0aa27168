load helpers

# Against known truth and against theory, through the whole pipeline. Bounds stand a fifth above what is measured, or
# at three standard errors where there is noise. The noise has a fixed seed and every step gives the same bits at all
# levels of instructions: only a C library with other sines would change anything, by its last digit.

@test "accuracy: noise-free float captures, absolute phase within 1 ulp of the largest" {
	local sets=(		# the largest error in 1e-6 rad: 7.63, 15.26 where phases reach 200, 3.81
		"9.1 -p 60,66 -n 3"
		"9.1 -p 60,66 -n 4"
		"9.1 -p 35,36,37 -n 5"
		"18.2 -p 20,150,650 -n 3"
		"9.1 -p 60 -n 4 --gray half"
		"4.57 -p 60 -n 6 --gray period --inverse"
		"9.1 -p 60 -n 12 --gray column"
	)
	for set in "${sets[@]}"; do
		local most=${set%% *}
		set=${set#* }
		# shellcheck disable=SC2086
		fringesim -s 640x120 -c 2 --projector 650x480 $set --bits float --truth truth.nrrd |
			fringepipe phasewrap , unwrap2f >out.nrrd
		py '
t, p = read_frame("truth.nrrd")["absphase"], read_frame("out.nrrd")["absphase"]
T, P = [float(read_frame(f).meta["period_px"].split()[0]) for f in ("truth.nrrd", "out.nrrd")]
t = t.astype(float) * T / P			# the phase of the period that was unwrapped
error = np.abs(p - t)
expect(error <= 1e-6 * float(sys.argv[2]), sys.argv[1], error.max(), np.isnan(p).sum())' "$set" "$most"
	done
}

@test "accuracy: depth over an ideal plane, and xyz through a calibration, from noise-free captures" {
	fringesim -s 640x120 -p 60,66 -c 2 --projector 650x480 --bits float --truth truth.nrrd |
		fringepipe phasewrap , unwrap2f >phase.nrrd
	phase2depth --ref ideal phase.nrrd -o out.nrrd
	py '
t, z = read_frame("truth.nrrd"), read_frame("out.nrrd")["depth"]
phase, derivative = t["absphase"], 2.0
allowed = 4 * ulp(phase) * derivative + 2 * ulp(t["depth"])		# what man phase2depth states
error = np.abs(z - t["depth"].astype(float))
expect(error <= 0.439 * allowed, (error / allowed).max(), error.max())		# 0.366'
	fringesim -s 320x240 --projector 1280x800 --calib "$top/samples/block.yml" --bits float \
		-n 4 --gray half -p 40 --scene relief --truth truth.nrrd |
		fringepipe phasewrap , unwrap2f >phase.nrrd
	phase2depth --calib "$top/samples/block.yml" phase.nrrd -o out.nrrd
	# the derivative of the coordinates to the phase: from the same tool on a phase that is shifted
	py '
f = read_frame("phase.nrrd"); p = f.pixels.copy(); p[f.names.index("absphase")] += np.float32(2 ** -7)
write_frames("shifted.nrrd", Frame(p, f.names, f.meta))'
	phase2depth --calib "$top/samples/block.yml" shifted.nrrd -o shifted.out.nrrd
	py '
t, o, s = [read_frame(f) for f in ("truth.nrrd", "out.nrrd", "shifted.out.nrrd")]
phase = t["absphase"]
for c, most in ("x", 0.327), ("y", 0.394), ("z", 0.267):		# 0.273 0.329 0.223
	derivative = np.abs(s[c].astype(float) - o[c]) * 2 ** 7
	allowed = 4 * ulp(phase) * derivative + 2 * ulp(t[c])
	error = np.abs(o[c].astype(float) - t[c])
	valid = t["mask"] == 1
	expect((error <= most * allowed)[valid], c, np.nanmax((error / allowed)[valid]), np.nanmax(error[valid]))
	expect(np.isnan(o[c][~valid]), c)'
}

@test "accuracy: noise of the wrapped phase within 0.62 % of sqrt(2/N) sigma/B, 8 bits" {
	for n in 3 4 6 12; do
		fringesim -s 400x300 -p 37 -n $n --scene plane --noise 2 --amplitude 60 --mean 120 \
			--truth truth.nrrd --seed $n | phasewrap >out.nrrd
		py '
n = int(sys.argv[1])
t, p = read_frame("truth.nrrd")["absphase"].astype(float), read_frame("out.nrrd")["phase"]
d = (p - t + np.pi) % (2 * np.pi) - np.pi
theory = np.sqrt(2 / n) * np.sqrt(2 ** 2 + 1 / 12) / 60
ratio, mean = d.std() / theory, d.mean() / theory * np.sqrt(d.size)
print("# N %2d: scatter %+.2f %% beside theory, mean %+.2f standard errors" % (n, 100 * (ratio - 1), mean))
expect(abs(ratio - 1) < 3 / np.sqrt(2 * d.size) and abs(mean) < 3, n, ratio, mean)' $n >&3
	done
}

# Fringes of 9.35 mm, light from 30 degrees: c = 9.35/(2 pi tan 30).
@test "accuracy: a flat plane 100 x 75 mm at 800x600, rms after gauss 11 as in theory, within three standard errors" {
	fringesim -s 800x600 -p 60,66 --amplitude 100 --noise 1 -c 2.577 --scene plane \
		--ref-plane 0,0.084,0 --projector 650x600 --field 100 |
		fringepipe phasewrap --as vector , gauss -n 11 , unwrap2f , median , \
		phase2depth --ref ideal >out.nrrd
	py '
z = read_frame("out.nrrd")["depth"].astype(float)
j = np.arange(-5, 6); w = np.exp(-j ** 2 / 2 / (11 / 6) ** 2)
def gain(n):					# sum of squared weights at each place; mirrored pairs only
	g = np.empty(n)
	for i in range(n):
		k = w[np.abs(j) <= min(i, n - 1 - i)]
		g[i] = (k ** 2).sum() / k.sum() ** 2
	return g
sigma = np.sqrt(2 / 3) * np.sqrt(1 + 1 / 12) / 100 * 2.577
theory = sigma * np.sqrt(np.mean(gain(600)[:, None] * gain(800)[None]))
rms = np.sqrt(np.mean(z ** 2))
shared = np.correlate(w, w, "full")[:, None] * np.correlate(w, w, "full") / (w ** 2).sum() ** 2
error = np.sqrt((shared ** 2).sum() / z.size / 2)	# standard error: the filter makes neighbours alike
print("# rms %.3e mm, theory %.3e, %+.2f standard errors of %.2f %%" % (rms, theory, (rms / theory - 1) / error, 100 * error))
expect(abs(rms / theory - 1) < 3 * error, rms, theory, error)' >&3
}
