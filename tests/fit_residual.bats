load helpers

# phasewrap: what the fit leaves of the images, and how many pixels each test removes.

# The amplitude, and the fit's residual in grey levels.
read='
def read(name):
	f = read_frame(name)
	mean = f["texture"].astype(float) / (1 + f["modulation"])
	return f, mean * f["modulation"], f["fit_residual"].astype(float) * mean * f["modulation"]
'

@test "fit_residual: noise leaves sigma/B, whatever N is" {
	for n in 4 5 8 12; do
		fringesim -q -s 200x150 -p 40 -n $n --ref-plane 10,0.157,0 -c 5 --noise 2 --bits float -o set.nrrd
		silent phasewrap --fit-residual set.nrrd -o out.nrrd
		phasewrap set.nrrd -o plain.nrrd
		py "$read"'
n = int(sys.argv[1])
f, b, left = read("out.nrrd")
expect(f.names == ["phase", "modulation", "texture", "fit_residual"], f.names)
plain = read_frame("plain.nrrd")
for name in plain.names: expect(plain[name].view("u4") == f[name].view("u4"), name)
images = np.array([f.pixels[0] for f in read_frames("set.nrrd")]).astype(float)	# what is left, computed another way
d = 2 * np.pi * np.arange(n) / n
design = np.stack([d * 0 + 1, np.cos(d), -np.sin(d)], 1)
rest = images.reshape(n, -1) - design @ np.linalg.lstsq(design, images.reshape(n, -1), rcond=None)[0]
expect(np.abs(np.sqrt((rest ** 2).sum(0) / (n - 3)) - left.ravel()) < 2.1e-5)
rms = np.sqrt((left ** 2).mean())
expect(abs(rms / 2 - 1) < 3 / np.sqrt(2 * left.size * (n - 3)), n, rms)' $n
	done
}

# Of H cos(k phi) the fit leaves all where k is not 0 or 1 turned over by N: over all phases H/sqrt 2 of
# each image, and sqrt(N/(N - 3)) H/(B sqrt 2) as residual.
@test "fit_residual: a harmonic leaves sqrt(N/2(N - 3)) H/B, or nothing where it folds onto the wave" {
	for case in "4 2 yes" "5 2 yes" "8 3 yes" "12 5 yes" "8 7 no" "5 4 no"; do
		set -- $case
		py '
n, k = int(sys.argv[1]), int(sys.argv[2])
phi = np.linspace(-np.pi, np.pi, 720, endpoint=False)[None, :] * np.ones((20, 1))
write_frames("set.nrrd", [Frame((120 + 50 * np.cos(phi + 2 * np.pi * i / n) + 4 * np.cos(k * (phi + 2 * np.pi * i / n) + 1)).astype("f4"))
	for i in range(n)])' $1 $2
		phasewrap -q -n $1 -p 40 --fit-residual set.nrrd -o out.nrrd
		py "$read"'
n = int(sys.argv[1])
f, b, left = read("out.nrrd")
rms, theory = np.sqrt((left ** 2).mean()), 4 * np.sqrt(n / 2 / (n - 3))
expect(abs(rms / theory - 1) < 7.2e-8 if sys.argv[2] == "yes" else rms < 7.1e-6, rms, theory)' $1 $3
	done
}

@test "fit_residual: of several periods the largest; three images leave none; unequal shifts" {
	py '
x = np.arange(60.)[None, :] * np.ones((7, 1))
def images(p, shifts, off=0):
	i = [100 + 50 * np.cos(2 * np.pi * x / p + s) for s in shifts]
	i[2][3, 10:20] += off
	return [Frame(f.astype("f4")) for f in i]
four, three = np.arange(4) * np.pi / 2, np.arange(-1, 2) * 2 * np.pi / 3
write_frames("two.nrrd", images(20, four, 2) + images(30, four, 8))
write_frames("odd.nrrd", images(20, np.radians([0, 50, 130, 200, 290]), 3))
write_frames("three.nrrd", images(20, three, 30))
mixed = images(20, three, 30) + images(30, four, 8)
for i, f in enumerate(mixed):
	f.meta = {"role": "phase", "period_px": "20" if i < 3 else "30", "step": str(i % 3 if i < 3 else i - 3)}
write_frames("mixed.nrrd", mixed)'
	phasewrap -q -n 4 -p 20,30 --fit-residual two.nrrd -o two_out.nrrd
	phasewrap -q -n 7 --fit-residual mixed.nrrd -o mixed_out.nrrd
	phasewrap -q -n 5 -p 20 --shift 0,50,130,200,290 --fit-residual odd.nrrd -o odd_out.nrrd
	py '
two, mixed, odd = (read_frame(n + "_out.nrrd")["fit_residual"] for n in ("two", "mixed", "odd"))
# one image of four is off by 8: the fit leaves (8/4)(1, -1, 1, -1), and B is off by 4 at most
expect((two[3, 10:20] > 3.9 / 54) & (two[3, 10:20] < 4.1 / 46), two[3])
expect(np.delete(two, 3, 0) < 2.1e-7)
expect((mixed[3, 10:20] > 3.9 / 54) & (mixed[3, 10:20] < 4.1 / 46), mixed[3])
expect(odd[3, 10:20] > 0.01, odd[3])
expect(np.delete(odd, 3, 0) < 1.8e-7)'
	phasewrap -q -n 4 -p 20,30 --max-fit-residual 0.05 two.nrrd -o out.nrrd
	py '
f = read_frame("out.nrrd")
expect(f.names == ["phase1", "phase2", "modulation", "texture"], f.names)
expect(np.isnan(f["phase1"][3, 10:20]) & np.isnan(f["phase2"][3, 10:20]))
expect(np.isnan(f["phase1"]).sum() == 10 and np.isnan(f["modulation"]).sum() == 0)'
	fails 1 "phasewrap: the fit of three images leaves no residual: --fit-residual and --max-fit-residual want four or more of a period" \
		phasewrap -n 3 -p 20 --fit-residual three.nrrd -o out.nrrd
	fails 1 "the fit of three images leaves no residual" phasewrap -n 3 -p 20 --max-fit-residual 0.1 three.nrrd -o out.nrrd
	fails 1 "the fit of three images leaves no residual" phasewrap -k 2+1 -p 20 --fit-residual three.nrrd -o out.nrrd
	fails 1 "without fringe images there is no fit" phasewrap -k gray -G 2 -i --fit-residual \
		<(framecat two.nrrd --frames 0-3) -o out.nrrd
	fails 2 "--max-fit-residual" phasewrap -n 4 -p 20 --max-fit-residual nan two.nrrd -o out.nrrd
	fails 2 "--max-fit-residual" phasewrap -n 4 -p 20 --max-fit-residual -1 two.nrrd -o out.nrrd
}

@test "fit_residual: no amplitude, a missing sample: NaN; a masked pixel keeps it; with a Gray code, as vectors" {
	py '
i = np.array([[10, 20, 30, 20], [20, 10, 20, 30], [30, 20, 10, 20], [20, 31, 20, 10.]])[:, None, :]
i[:, 0, 1] = 7
i[2, 0, 2] = np.nan
write_frames("set.nrrd", [Frame(f.astype("f4")) for f in i])
write_frames("gray.nrrd", [Frame(np.array([[0, 40, 0, 40]], "f4")), Frame(np.array([[0, 0, 40, 40]], "f4"))])'
	phasewrap -q -n 4 -p 20 -G 2 --max-value 30.5 --fit-residual set.nrrd gray.nrrd -o out.nrrd
	phasewrap -q -n 4 -p 20 --as vector --fit-residual set.nrrd -o vector.nrrd
	py '
f, v = read_frame("out.nrrd"), read_frame("vector.nrrd")
expect(f.names == ["phase", "modulation", "texture", "fit_residual", "index"], f.names)
expect(v.names == ["cos", "sin", "modulation", "texture", "fit_residual"], v.names)
expect(np.isnan(f["fit_residual"][0]) == [0, 1, 1, 0], f.pixels)
expect(np.isnan(f["index"][0]) == [0, 1, 1, 0], f.pixels)
expect(f["fit_residual"][0][[0, 3]] == v["fit_residual"][0][[0, 3]])'
	if phasewrap -q -n 4 -p 20 --max-value 30 --max-fit-residual 0 --fit-residual set.nrrd -o out.nrrd; then false; fi
	py '
f = read_frame("out.nrrd")
expect(np.isnan(f["phase"][0]) & (np.isnan(f["fit_residual"][0]) == [0, 1, 1, 0]), f.pixels)'
}

@test "fit_residual: -v counts what each test removes, the same for threads, bands and devices" {
	py '
rng = np.random.default_rng(3)
h, w = 90, 130
phi, a, b = rng.uniform(-3, 3, (h, w)), rng.uniform(20, 230, (h, w)), rng.uniform(0, 60, (h, w))
d = np.arange(5) * 2 * np.pi / 5
i = np.clip(np.rint([a + b * np.cos(phi + s) + rng.normal(0, 2, (h, w)) for s in d]), 0, 255)
write_frames("set.nrrd", [Frame(f.astype("u1")) for f in i])
write_frames("float.nrrd", [Frame(np.where(rng.random((h, w)) < 0.01, np.nan, f).astype("f4")) for f in i])
for name in "set", "float":
	i = np.array([f.pixels[0] for f in read_frames(name + ".nrrd")]).astype(float)
	design = np.stack([d * 0 + 1, np.cos(d), -np.sin(d)], 1)
	bare = np.nan_to_num(i).reshape(5, -1)
	x = np.linalg.lstsq(design, bare, rcond=None)[0]
	A, B = x[0], np.hypot(x[1], x[2])
	left = np.sqrt(((bare - design @ x) ** 2).sum(0) / 2) / B
	tests = [("missing", np.isnan(i).any(0).ravel()), ("saturation", bare.max(0) >= 255), ("darkness", A < 40 - 1e-9),
		("modulation", B / A < 0.1), ("amplitude", B < 12), ("residual", left > 0.12)]
	rest, count = np.ones(h * w, bool), {}
	for test, bad in tests:
		count[test] = (rest & bad).sum()
		rest &= ~bad
	open(name + ".counts", "w").write("of %d pixels %d are invalid: " % (h * w, h * w - rest.sum()) + ", ".join(
		"%s %d" % (t, count[t]) for t in ("saturation", "darkness", "modulation", "amplitude", "residual", "missing")))'
	for name in set float; do
		limits=(--max-value 255 --dark 40 --min-modulation 0.1 --min-amplitude 12 --max-fit-residual 0.12)
		for words in "-j 1" "-j 5" "-d gpu"; do
			if [ "$words" = "-d gpu" ] && [[ $(fringepipe --devices) != *$'\ngpu:'* ]]; then continue; fi
			# shellcheck disable=SC2086
			FRINGEPIPE_BAND=7 run --separate-stderr phasewrap -v $words -n 5 -p 20 "${limits[@]}" $name.nrrd $name.nrrd -o out.nrrd
			[ "$(grep -c 'are invalid' <<<"$stderr")" = 1 ]
			grep -F "phasewrap: $(cat $name.counts)" <<<"$stderr" || { echo "$words: $stderr"; cat $name.counts; return 1; }
		done
		py 'counts = open(sys.argv[1] + ".counts").read(); expect(read_frames("out.nrrd")[0]["phase"].size - np.isfinite(read_frames("out.nrrd")[0]["phase"]).sum() == int(counts.split()[3]), counts)' $name
	done
}

@test "fit_residual: 3 % of the pixels lost to saturation are said without -v, once; fewer are not" {
	py '
x = np.arange(200.)[None, :] * np.ones((150, 1))
def save(name, part, white=0.):
	gain = np.where(x < 200 * part, 2., 1.)
	i = [np.clip(gain * (90 + 60 * np.cos(x / 5 + s)), 0, 255) for s in np.arange(4) * np.pi / 2]
	i = [np.where(x >= 200 * (1 - white), 255, f) for f in i]
	write_frames(name + ".nrrd", [Frame(np.rint(f).astype("u1")) for f in i] * 2)
save("few", 0.02)	# all its phases reach 255 in one of four images
save("some", 0.05)
save("many", 0.3)
save("white", 0, 0.3)
i = [np.where(x < 60, np.clip(250 + 10 * np.cos(x / 5 + s), 0, 255), 90 + 60 * np.cos(x / 5 + s)) for s in np.arange(4) * np.pi / 2]
write_frames("pale.nrrd", [Frame(np.rint(f).astype("u1")) for f in i])'
	right=(phasewrap -n 4 -p 20 -o out.nrrd)
	silent "${right[@]}" few.nrrd
	fails 0 "5 % of the pixels that pass all other limits are lost to saturation" "${right[@]}" some.nrrd
	for words in "-j 1" "-j 3 --min-modulation 0.1"; do
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=11 fails 0 "% of the pixels that pass all other limits are lost to saturation, at 255 or above in some image (--max-value): less light" "${right[@]}" $words many.nrrd
	done
	fails 0 "phasewrap: 30 % of the pixels that pass all other limits are lost to saturation" "${right[@]}" white.nrrd
	silent "${right[@]}" -q many.nrrd
	# a band of 3.3 % of the height, wherever it lies; of 2 % none
	py '
y, x = np.mgrid[:480, :320]
for name, rows in ("band", 16), ("narrow", 10):
	for k in range(12):
		light = np.where((y >= 37 * k + 5) & (y < 37 * k + 5 + rows), 120, 0)
		i = [np.clip(110 + light + 60 * np.cos(x / 5 + s), 0, 255) for s in np.arange(4) * np.pi / 2]
		write_frames(f"{name}{k}.nrrd", [Frame(np.rint(f).astype("u1")) for f in i])'
	for k in {0..11}; do
		fails 0 "phasewrap: 3 % of the pixels that pass all other limits are lost to saturation" "${right[@]}" band$k.nrrd
		silent "${right[@]}" narrow$k.nrrd
	done
	silent "${right[@]}" --max-value 1e30 many.nrrd
	# near the limit every pixel counts, in a pipe and on a device too
	py '
y, x = np.mgrid[:240, :320]
spots = [y == 0] + [np.hypot(y - 60 - 4 * i, x - 90 - 9 * i) < r for r in (26.5, 27.3) for i in range(6)]
for i, spot in enumerate(spots):
	write_frames("spot.%d.nrrd" % i, [Frame(np.rint(np.where(spot, 255, 120 + 90 * np.cos(x / 5 + s))).astype("u1"))
		for s in np.arange(4) * np.pi / 2])
expect(0.028 < spots[1].mean() < 0.03 < spots[7].mean() < 0.031)'
	for i in {0..6}; do silent "${right[@]}" "spot.$i.nrrd"; done
	for i in {7..12}; do fails 0 "phasewrap: 3 % of the pixels that pass" "${right[@]}" "spot.$i.nrrd"; done
	fails 0 "measurement 7: 3 % of the pixels that pass" "${right[@]}" spot.{0..9}.nrrd
	if fringepipe --devices | has '^gpu:'; then
		silent "${right[@]}" -d gpu spot.0.nrrd
		fails 0 "measurement 7: 3 % of the pixels that pass" "${right[@]}" -d gpu spot.{0..9}.nrrd
	fi
	# what another limit removes as well is not lost to saturation
	fails 0 "lost to saturation" "${right[@]}" pale.nrrd
	silent "${right[@]}" --min-modulation 0.2 pale.nrrd
}
