load helpers

# Captures of known phase in float64 at several exposures: images of a measurement, one set after another.
model='
def scene(h, w, seed=0):
	y, x = np.mgrid[:h, :w]
	albedo = 10 ** (-0.85 * (1 - np.cos(x / 12) * np.cos(y / 15)))
	return 125 * albedo, 100 * albedo, 0.2 * x + 0.05 * y + seed

def shifts(n):
	return 2 * np.pi * (np.arange(n) - (n == 3)) / n

def capture(s, n, gain, read=0, shot=0, seed=0, black=0):
	rng = np.random.default_rng(seed)
	light = [gain * (s[0] + s[1] * np.cos(s[2] + d)) + black for d in shifts(n)]
	return [v + rng.normal(size=v.shape) * np.sqrt(read ** 2 + shot * np.maximum(v, 0)) for v in light]

def store(images, dtype="u1", most=255, **meta):
	return [Frame(np.clip(np.round(i) if dtype != "f4" else i, 0, most).astype(dtype), meta=meta) for i in images]

def error(p, phi):
	return np.angle(np.exp(1j * (p - phi)))

def rms(v):
	return np.sqrt(np.mean(v[np.isfinite(v)] ** 2))
'

@test "exposures: the scatter of the fused phase is that of weights by light, below that of the largest alone" {
	py "$model"'
for t in (1, 2, 4):
	write_frames("e%d.nrrd" % t, store(capture(scene(120, 160), 4, t * 0.7, 1, 0, t)))'
	cat e1.nrrd e2.nrrd e4.nrrd | silent phasewrap --exposures 3 -n 4 --exposure-map -o out.nrrd
	py "$model"'
s, f = scene(120, 160), read_frame("out.nrrd")
e = error(f["phase"], s[2])
expect(f.names == ["phase", "modulation", "texture", "exposure"], f.names)
full = np.array([np.round(s[0] * t * 0.7 + s[1] * t * 0.7) < 250 for t in (1, 2, 4)])	# surely unsaturated
none = np.array([s[0] * t * 0.7 + s[1] * t * 0.7 * 0.7 > 259 for t in (1, 2, 4)])	# surely saturated
expect(np.isfinite(e).mean() == 1, np.isfinite(e).mean())
light = np.array([1, 2, 4])[:, None, None]
sure = (full | none).all(0) & (s[1] * 2.8 > 15)
variance = (1 + 1 / 12) * 2 / 4 / (np.sum(full * (0.7 * light) ** 2, 0) * s[1] ** 2)
z = (e / np.sqrt(variance))[sure]
largest = (1 + 1 / 12) * 2 / 4 / (np.max(full * 0.7 * light, 0) * s[1]) ** 2
expect(sure.mean() > 0.5 and abs(rms(z) - 1) < 0.03, sure.mean(), rms(z))
expect(rms((e / np.sqrt(largest))[sure & (full.sum(0) > 1)]) < 0.9)
expect(f["exposure"][sure] == full.sum(0)[sure])
texture = (s[0] + s[1]) * 2.8		# grey levels of the longest exposure
expect(np.abs(f["texture"] / texture - 1)[sure] < 0.15, np.abs(f["texture"] / texture - 1)[sure].max())
expect(abs(np.nanmedian(f["texture"] / texture) - 1) < 0.003)'
}

@test "exposures: without noise exact, whatever the black level, in sets and by steps, of 3 to 12 steps" {
	py "$model"'
for n in 3, 4, 5, 12:
	sets = [store(capture(scene(41, 67), n, g, black=7), "f4", 255) for g in (0.6, 3, 11)]
	write_frames("set%d.nrrd" % n, sum(sets, []))
	write_frames("step%d.nrrd" % n, [i for step in zip(*sets) for i in step])'
	for n in 3 4 5 12; do
		shifts=$(awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "%s%d", i ? "," : "", (i - (n == 3)) * 360 / n }')
		phasewrap -n $n --exposures 3 --shift="$shifts" --max-value 255 set$n.nrrd -o set.out$n.nrrd
		phasewrap -n $n --exposures 3 --shift="$shifts" --max-value 255 --exposure-order step step$n.nrrd -o step.out.nrrd
		framecmp set.out$n.nrrd step.out.nrrd
	done
	py "$model"'
for n in 3, 4, 5, 12:
	s = scene(41, 67); f = read_frame("set.out%d.nrrd" % n)
	expect(np.abs(error(f["phase"], s[2])) < 3e-5, n, np.abs(error(f["phase"], s[2])).max())'
}

@test "exposures: images in the wrong order are refused, in the right words; equal exposures are told" {
	py "$model"'
s = scene(40, 60)
sets = [store(capture(s, 4, g)) for g in (0.6, 3)]
write_frames("set.nrrd", sum(sets, []))
write_frames("step.nrrd", [i for step in zip(*sets) for i in step])
write_frames("same.nrrd", sum([sets[0], sets[0]], []))'
	fails 1 "each step is there in all exposures before the next: give --exposure-order step" \
		phasewrap -n 4 --exposures 2 step.nrrd -o out.nrrd
	fails 1 "whole sets of one exposure follow each other: give --exposure-order set" \
		phasewrap -n 4 --exposures 2 --exposure-order step set.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
	run phasewrap -n 4 --exposures 2 same.nrrd -o out.nrrd
	[[ $output == *"exposures 1 and 2 are about equally bright"* || $output == *"exposures 2 and 1 are about equally bright"* ]]
	run phasewrap -n 4 --exposures 2 --exposure-time 5,1 set.nrrd -o times.nrrd
	[[ $output == *"exposure 2 has 0.2 times the light of exposure 1 by the times, and 5"*" times by the images: the times count"* ]]
	fails 2 "is for --exposures 2 and more" phasewrap -n 4 --exposure-time 1,2 set.nrrd
	fails 2 "is for --exposures 2 and more" phasewrap -n 4 --exposure-map set.nrrd
	fails 2 "3 times for 2 exposures" phasewrap -n 4 --exposures 2 --exposure-time 1,2,3 set.nrrd
	fails 2 "2 is there twice" phasewrap -n 4 --exposures 2 --exposure-time 2,2 set.nrrd
	fails 2 "--exposures" phasewrap -n 4 --exposures 0 set.nrrd
	fails 2 "--exposures" phasewrap -n 4 --exposures 9 set.nrrd
	fails 2 "auto is for one exposure" phasewrap -k 2+1 --flat auto --exposures 2 set.nrrd
	fails 2 "the exposures come one after another" phasewrap --rgb --exposures 2 --exposure-order step set.nrrd
	fails 1 "" phasewrap -n 4 --exposures 3 set.nrrd -o out.nrrd
	fails 2 "is for --kind step and 2+1" phasewrap -k gray -G 2 -i --exposures 2 set.nrrd -o out.nrrd
	framecat --select 0-6 set.nrrd -o short.nrrd 2>/dev/null || head -c "$(($(stat -c %s set.nrrd) * 7 / 8))" set.nrrd >short.nrrd
	run phasewrap -n 4 --exposures 2 short.nrrd -o out2.nrrd
	[ "$status" -eq 1 ]
}

@test "exposures: exposures that share no pixel want their times, by option or key" {
	py "$model"'
s = scene(40, 60)
sets = [store(capture((s[0] * 0 + 125, s[1] * 0 + 100, s[2]), 4, g)) for g in (0.6, 8)]
write_frames("in.nrrd", sum(sets, []))
for i, f in enumerate(sum(sets, [])): f.meta["exposure_time_s"] = "0.0%d" % (1 + i // 4)
keyed = sum(sets, [])
write_frames("keyed.nrrd", keyed)
write_frames("mixed.nrrd", [keyed[i] for i in (4, 0, 1, 5, 6, 2, 7, 3)])'
	fails 1 "too few pixels have fringes that are unsaturated in exposures 2 and 1 both" \
		phasewrap -n 4 --exposures 2 in.nrrd -o out.nrrd
	silent phasewrap -n 4 -p 31 --exposures 2 --exposure-time 3,40 in.nrrd -o option.nrrd
	silent phasewrap -n 4 -p 31 --exposures 2 keyed.nrrd -o key.nrrd
	silent phasewrap -n 4 -p 31 --exposures 2 mixed.nrrd -o mixed.out.nrrd	# by the times, whatever the order
	py "$model"'
s = scene(40, 60)
for name in "option.nrrd", "key.nrrd", "mixed.out.nrrd":
	f = read_frame(name)
	expect(np.abs(error(f["phase"], s[2])) < 0.02, name, np.abs(error(f["phase"], s[2])).max())
	expect("exposure_time_s" not in f.meta)'
	fails 1 "images of exposure 1 differ in it" phasewrap -n 4 --exposures 2 --exposure-order step keyed.nrrd
}

@test "exposures: described captures in any order, two periods, Gray planes that saturate" {
	for t in 1 6; do
		fringesim -s 160x120 -n 4 -p 20,23 --gray half --inverse --albedo checker --exposure "0.$t" --noise 0.5 --seed "$t" \
			--truth truth.nrrd >"e$t.nrrd"
	done
	for t in 0 1; do
		fringesim -s 160x120 -n 4 -p 20,23 --gray half --albedo checker --exposure "$t.3" --seed $t >"g$t.nrrd"
	done
	cat e6.nrrd e1.nrrd | silent phasewrap --exposures 2 --min-amplitude 1 -o out.nrrd
	py "$model"'
f, t = read_frame("out.nrrd"), read_frame("truth.nrrd")
expect(np.abs(error(f["phase1"], t["absphase"])) < 0.2)
expect(np.abs(error(f["phase2"], t["absphase"] * 20 / 23)) < 0.2)
expect(f.meta["period_px"] == "20 23" and f.meta["steps"] == "4", f.meta)'
	silent unwrap2f out.nrrd -o abs.nrrd
	py "$model"'
f, t = read_frame("abs.nrrd"), read_frame("truth.nrrd")
good = np.isfinite(f["absphase"])
expect(good.mean() > 0.99 and np.abs(f["absphase"] - t["absphase"])[good].max() < 0.2, good.mean())'
	# thresholds from the fringe images, white at 255 in the longer one
	cat g0.nrrd g1.nrrd | phasewrap --exposures 2 2>messages | unwrap2f -o abs.nrrd
	py "$model"'
f, t = read_frame("abs.nrrd"), read_frame("truth.nrrd")
good = np.isfinite(f["absphase"])
expect(good.sum() > 1000 and np.abs(f["absphase"] - t["absphase"])[good].max() < 0.2, good.sum())'
}

@test "exposures: a manifest of one exposure, and one of all" {
	fringesim -s 64x48 -n 4 -p 20 --exposure 0.3 -m m.txt -o 'a_%02d.png'
	fringesim -s 64x48 -n 4 -p 20 --exposure 1.1 -o 'b_%02d.png'
	for f in a b; do phasewrap "$f"_*.png -o $f.nrrd; done 2>/dev/null
	phasewrap -m m.txt --exposures 2 a_*.png b_*.png -o one.nrrd
	{ cat m.txt; grep phase m.txt | grep -v '#' | sed 's/a_/b_/'; } >all.txt
	phasewrap -m all.txt --exposures 2 -o all.nrrd
	phasewrap -n 4 -p 20 --order phase --exposures 2 a_*.png b_*.png -o bare.nrrd
	framecmp one.nrrd all.nrrd
	framecmp one.nrrd bare.nrrd
	grep '#' m.txt >pairs.txt
	for i in 0 1 2 3; do grep "a_0$i" m.txt; grep "a_0$i" m.txt | sed 's/a_/b_/'; done >>pairs.txt
	phasewrap -m pairs.txt --exposures 2 -o pairs.nrrd
	framecmp one.nrrd pairs.nrrd
}

@test "saturated pixels: solved from the steps that are left, within their own larger sigma" {
	py "$model"'
for n in 4, 6, 12: write_frames("in%d.nrrd" % n, store(capture(scene(150, 200), n, 1.6, 1, 0, n)))'
	for n in 4 6 12; do
		phasewrap -n $n in$n.nrrd -o strict$n.nrrd 2>/dev/null
		phasewrap -n $n --saturated solve --fit-residual in$n.nrrd -o out$n.nrrd 2>/dev/null
	done
	py "$model"'
for n in 4, 6, 12:
	s = scene(150, 200)
	a, f, images = read_frame("strict%d.nrrd" % n), read_frame("out%d.nrrd" % n), np.array([i.pixels[0] for i in read_frames("in%d.nrrd" % n)])
	e, more = error(f["phase"], s[2]), np.isnan(a["phase"]) & np.isfinite(f["phase"])
	old = np.isfinite(a["phase"])
	expect(np.abs(error(f["phase"], a["phase"]))[old] < 1e-5)
	expect(more.mean() > 0.03, more.mean())
	# the variance by the normal equations of each pixel, here in float64
	use = (images < 255).astype(float)
	d = shifts(n)[:, None, None] * np.ones_like(use)
	x = np.array([np.ones_like(d), np.cos(d), -np.sin(d)])
	m = np.einsum("aihw,bihw,ihw->hwab", x, x, use)[more]
	v = np.linalg.inv(m)[:, 1:, 1:]
	u = np.array([-np.sin(s[2]), np.cos(s[2])])[:, more]
	variance = np.einsum("ap,pab,bp->p", u, v, u)
	sigma = np.sqrt((1 + 1 / 12) * variance) / (1.6 * s[1][more])
	expect(np.sqrt(variance) <= 5.01 * np.sqrt(2 / n), np.sqrt(variance).max())
	z = e[more] / sigma
	expect(abs(rms(z) - 1) < 0.06, n, rms(z), more.sum())
	# what is left without a phase: fewer than three steps, or too uncertain
	none = np.isnan(f["phase"])
	v = np.linalg.pinv(np.einsum("aihw,bihw,ihw->hwab", x, x, use)[none])
	u = np.array([0 * s[2], -np.sin(s[2]), np.cos(s[2])])[:, none]
	variance = np.einsum("ap,pab,bp->p", u, v, u)
	expect(np.all((use.sum(0)[none] < 3) | (variance > 24 * 2 / n)), n)
	expect(np.isfinite(f["texture"]))
	if n > 4: expect(np.abs(rms(f["fit_residual"][more] * s[1][more] * 1.6) / np.sqrt(1 + 1 / 12) - 1) < 0.05)'
}

@test "saturated pixels: with exposures, on any number of threads, in 8 and 16 bits and float, at odd sizes" {
	sizes="1x1 5x7 127x1 449x3"
	py "$model"'
for size in sys.argv[1].split():
	for name, kind, most in ("u1", "u1", 255), ("u2", "<u2", 65535), ("f4", "f4", 255):
		w, h = map(int, size.split("x"))
		s = scene(h, w)
		s = (s[0] * most / 255, s[1] * most / 255, s[2])
		frames = sum([store(capture(s, 5, g), kind, most) for g in (0.9, 3)], [])
		if kind == "f4" and w > 5: frames[7].pixels[0, 0, 3] = np.nan
		write_frames("%s.%s.nrrd" % (size, name), frames)' "$sizes"
	for size in $sizes; do
		for type in u1 u2 f4; do
			for j in 1 3; do
				fringepipe -j $j phasewrap -n 5 --exposures 2 --exposure-time 9,30 \
					--max-value "$([ $type = u2 ] && echo 65535 || echo 255)" --saturated solve --as vector \
					$size.$type.nrrd -o $size.$type.$j.nrrd 2>/dev/null
			done
			cmp $size.$type.1.nrrd $size.$type.3.nrrd
		done
	done
	py "$model"'
for size in sys.argv[1].split():
	for kind in "u1", "u2", "f4":
		w, h = map(int, size.split("x"))
		s, f = scene(h, w), read_frame("%s.%s.1.nrrd" % (size, kind))
		e = error(np.arctan2(f["sin"], f["cos"]), s[2])
		if kind == "f4" and w > 5:
			expect(np.isnan(f.pixels[:, 0, 3])); e[0, 3] = 0
		expect(np.abs(e) < 0.1, size, kind, np.abs(e).max())' "$sizes"
}
