load helpers

# What every test below needs: frames of a channel, the steady state of the Riccati equation.
common='
def steady(q):				# P before a value over its variance, gain; q = (motion / sigma)^2
	before = (q + np.sqrt(q * q + 4 * q)) / 2
	return before, before / (before + 1)
def put(values, names=("depth",), meta=None):
	write_frames("in.nrrd", [Frame(np.asarray(v, "f4"), list(names), meta[k] if meta else None) for k, v in enumerate(values)])
def got(channel="depth", file="out.nrrd"):
	return np.stack([f[channel] for f in read_frames(file)])
'

@test "kalman: a still scene: noise falls with the root of the number of frames" {
	py "$common"'
rng = np.random.default_rng(1)
scene = rng.uniform(-5, 5, (100, 200))
np.save("scene.npy", scene)
put([scene + rng.normal(0, 0.03, scene.shape) for k in range(16)])'
	kalman --sigma 0.03 --motion 0 in.nrrd -o out.nrrd
	kalman --motion 0 in.nrrd -o measured.nrrd
	kalman in.nrrd -o all.nrrd
	py "$common"'
scene, n = np.load("scene.npy"), np.arange(1, 17)
theory = 0.03 / np.sqrt(n)
for file in "out.nrrd", "measured.nrrd", "all.nrrd":
	scatter = (got(file=file) - scene).std((1, 2))
	# four standard errors, 1/sqrt(2 * 20000), as 16 frames are asked
	expect(abs(scatter / theory - 1) < 0.02, file, scatter / theory)
expect(abs(np.median(got("sigma"), (1, 2)) / theory - 1) < 1e-7)		# 7.7e-8
sigma = np.median(got("sigma", "measured.nrrd"), (1, 2))
expect(np.isnan(sigma[0]) and (abs(sigma[1:] / theory[1:] - 1) < 0.015).all(), sigma / theory)'
}

@test "kalman: in the long run gain, noise, error and lag are those of the Riccati equation" {
	py "$common"'
rng = np.random.default_rng(2)
s, m, shape = 0.03, 0.01, (100, 200)
walk = rng.uniform(-5, 5, shape) + np.cumsum(rng.normal(0, m, (60, *shape)), 0)
ramp = np.full((60, *shape), 2.0) + m * np.arange(60)[:, None, None]
noise = rng.normal(0, s, (60, *shape))
np.save("truth.npy", np.stack([np.full(shape, 3.0), walk[-1], ramp[-1]]))
put(3 + noise); import os; os.rename("in.nrrd", "still.nrrd")
put(walk + noise); os.rename("in.nrrd", "walk.nrrd")
put(ramp + noise); os.rename("in.nrrd", "ramp.nrrd")'
	for scene in still walk ramp; do
		kalman -q --sigma 0.03 --motion 0.01 $scene.nrrd -o $scene.out.nrrd
	done
	kalman -q ramp.nrrd -o measured.out.nrrd
	py "$common"'
s, m = 0.03, 0.01
before, gain = steady((m / s) ** 2)
truth = np.load("truth.npy")
still, walk, ramp, measured = (read_frames(f + ".out.nrrd")[-1] for f in ("still", "walk", "ramp", "measured"))
near = lambda value, theory, part: expect(abs(value / theory - 1) < part, value, theory)
# three standard errors, of deviations 1/sqrt(2 * 20000), of shares sqrt(p (1 - p)/20000)
near((still["depth"] - truth[0]).std(), s * np.sqrt(gain / (2 - gain)), 0.015)
near(np.median(still["sigma"]), s * np.sqrt(gain), 1e-7)		# 5.4e-8
error = walk["depth"] - truth[1]
near(error.std(), s * np.sqrt(gain), 0.015)
for k, share in (1, 0.6827), (2, 0.9545):
	expect(abs((abs(error) < k * walk["sigma"]).mean() - share) < 3 * np.sqrt(share * (1 - share) / 20000), k)
near((truth[2] - ramp["depth"]).mean(), m * (1 - gain) / gain, 0.041)		# 1.034, of which noise makes 0.003
near((truth[2] - measured["depth"]).mean(), m * (1 - gain) / gain, 0.029)	# 0.024: the motion is measured'
}

@test "kalman: what moves faster than it is told lags as far as the page says" {
	py "$common"'
rng = np.random.default_rng(8)
for u in 0.1, 1:
	put([u * max(0, k - 60) + rng.normal(0, 1, (40, 50)) for k in range(120)])
	import os; os.rename("in.nrrd", "u%g.nrrd" % u)'
	for u in 0.1 1; do kalman -q --sigma 1 --motion 0.05 u$u.nrrd -o u$u.out.nrrd; done
	py "$common"'
for u, lag, rms in (0.1, 1.4, 1.7), (1, 1.6, 2.2):
	error = (u * np.arange(40, 60)[:, None, None] - got(file="u%g.out.nrrd" % u)[100:])
	expect(abs(error.mean() - lag) < 0.053 and abs(np.sqrt((error ** 2).mean()) - rms) < 0.056, u, error.mean(), np.sqrt((error ** 2).mean()))
	expect(np.percentile(error, 99) < 3 + 2 * u, u, np.percentile(error, 99))'
}

# The filter in doubles, as the page has it.
@test "kalman: spikes, changes, missing pixels and times, against the formulas in NumPy" {
	py "$common"'
rng = np.random.default_rng(3)
frames, meta, time = [], [], 0.0
for w, h in (5, 7), (127, 1), (129, 65):
	scene = rng.uniform(-5, 5, (h, w))
	for k in range(14):
		scene = np.where(rng.random((h, w)) < 0.05, rng.uniform(-5, 5, (h, w)), scene)	# changes
		v = scene + rng.normal(0, 0.1, (h, w))
		v[rng.random((h, w)) < 0.1] += 3		# spikes
		v[rng.random((h, w)) < 0.3] = np.nan
		if k in (5, 6, 7, 8):
			v[:, :3] = np.nan
		time += 0.1 if k != 9 else 0.2
		frames.append(v)
		meta.append({"time_s": repr(round(time, 3))})
put(frames, meta=meta)
write_frames("sigma.nrrd", [Frame(np.stack([v, np.where(np.isnan(v), 0.1, np.abs(rng.normal(0.1, 0.02, v.shape)))]).astype("f4"), ["depth", "sigma"], m) for v, m in zip(frames, meta)])
write_frames("phase.nrrd", [Frame(np.angle(np.exp(1j * v)).astype("f4"), ["phase"], m) for v, m in zip(frames, meta)])'
	kalman --sigma 0.1 --speed 0.5 --keep 3 in.nrrd -o out.nrrd
	kalman --speed 0.5 --keep 3 --gate 4 --repeat 3 sigma.nrrd -o sigma.out.nrrd
	kalman --sigma 0.1 --motion 0.05 --keep 3 phase.nrrd -o phase.out.nrrd
	kalman -q --sigma 0.1 --motion 0.05 --keep 1000 --repeat 1 in.nrrd -o once.out.nrrd
	py "$common"'
def reference(file, channel, speed=0.5, gate=3, repeat=2, keep=3):
	shape, out = None, []
	for f in read_frames(file):
		z = f[channel].astype(float)
		r = f["sigma"].astype(float) ** 2 if "sigma" in f.names else np.full(z.shape, float(np.float32(0.1)) ** 2)
		now = float(f.meta["time_s"])
		if z.shape != shape:
			x, p, away, far, shape, last = *(np.full(z.shape, np.nan) for _ in range(4)), z.shape, now - 0.1
		away = np.nan_to_num(away) + now - last
		last = now
		d = z - np.nan_to_num(x)
		if channel == "phase":
			d = np.remainder(d + np.pi, 2 * np.pi) - np.pi
		before = p + (speed * away) ** 2
		there = ~np.isnan(z)
		fresh = np.isnan(p) | (away > (keep + 1.5) * 0.1)
		outside = ~fresh & (d * d > gate ** 2 * (before + r))
		restart = there & (fresh | outside & (np.nan_to_num(far) + 1 >= repeat))
		taken = there & ~outside & ~restart
		gain = before / (before + r)
		shown = np.where(restart, r, np.where(taken, gain * r, before))
		x = np.where(restart, z, np.where(taken, x + gain * d, x))
		if channel == "phase":
			x = np.remainder(x + np.pi, 2 * np.pi) - np.pi
		p = np.where(restart | taken, shown, p)
		far = np.where(restart | taken, 0, np.nan_to_num(far) + (there & outside))
		away = np.where(restart | taken, 0, away)
		out.append((np.where(there, x, np.nan), np.where(there, np.sqrt(shown), np.nan)))
	return out
def check(file, result, channel, **options):
	n = 0
	for (x, s), f in zip(reference(file, channel, **options), read_frames(result)):
		off = f[channel] - x
		if channel == "phase":
			off = np.remainder(off + np.pi, 2 * np.pi) - np.pi
		expect(np.array_equal(np.isnan(x), np.isnan(f[channel])) and np.array_equal(np.isnan(x), np.isnan(f["sigma"])))
		same = np.isnan(x) | ((abs(off) < 1e-5) & (abs(f["sigma"] / s - 1) < 1e-4))
		n += (~same).sum()
	expect(n <= 2, file, n)			# an innovation at the gate may fall on either side
check("in.nrrd", "out.nrrd", "depth")
check("sigma.nrrd", "sigma.out.nrrd", "depth", gate=4, repeat=3)
check("phase.nrrd", "phase.out.nrrd", "phase")
check("in.nrrd", "once.out.nrrd", "depth", repeat=1, keep=1000)'
}

@test "kalman: a lone spike neither passes nor resets, a change passes one frame late" {
	py "$common"'
flat = np.full((3, 4), 2.0)
put([flat, flat, flat + 9, flat, flat + 0.1, flat + 5, flat + 5, flat + 5])'
	kalman --sigma 0.1 --motion 0 in.nrrd -o out.nrrd
	kalman --sigma 0.1 --motion 0 --repeat 3 in.nrrd -o three.nrrd
	py "$common"'
value, sigma = got()[:, 1, 1], got("sigma")[:, 1, 1]
expect(np.allclose(value[:5], [2, 2, 2, 2, 2.025], atol=1e-6), value)
expect(np.allclose(value[5:], [2.025, 7, 7], atol=1e-6), value)
expect(np.allclose(sigma, np.sqrt([0.01, 0.005, 0.005, 0.01 / 3, 0.0025, 0.0025, 0.01, 0.005]), rtol=1e-5), sigma)
expect(np.allclose(got(file="three.nrrd")[5:, 1, 1], [2.025, 2.025, 7], atol=1e-6))'
}

@test "kalman: points stay on their ray; other channels pass" {
	py "$common"'
rng = np.random.default_rng(4)
ray = np.stack([np.full((20, 30), 0.3), np.full((20, 30), -0.2), np.ones((20, 30))]) * (1 + np.arange(30) / 50)
texture = rng.random((9, 20, 30))
np.save("texture.npy", texture)
put([np.concatenate([ray * (5 + rng.normal(0, 0.1, (20, 30))), t[None]]) for t in texture], ("x", "y", "z", "texture"))'
	kalman in.nrrd -o out.nrrd
	kalman --channel z in.nrrd -o z.nrrd
	framecmp out.nrrd z.nrrd
	py "$common"'
f = read_frames("out.nrrd")
expect(f[0].names == ["x", "y", "z", "texture", "sigma"], f[0].names)
expect(np.array_equal(np.stack([g["texture"] for g in f]), np.load("texture.npy").astype("f4")))
z, length = f[-1]["z"], (1 + np.arange(30) / 50)
expect(abs(f[-1]["x"] - 0.3 * z) < 5.8e-7); expect(abs(f[-1]["y"] + 0.2 * z) < 2.9e-7)	# 4.8e-7 2.4e-7
# a third of what one frame has, three standard errors of 600 pixels to each side, and 1.5 % by the lengths
expect(0.3 < (z - 5 * length).std() / (0.1 * length.mean()) < 0.368)'
	fails 1 "--channel: x y z are one point, whose ray --channel z keeps" kalman --channel x in.nrrd
}

@test "kalman: sigma is that of the first of depth, z, absphase, phase; others have none" {
	py "$common"'
rng = np.random.default_rng(5)
put(rng.normal(5, 0.1, (3, 4, 8, 9)), ("depth", "absphase", "sigma", "texture"))
import os; os.rename("in.nrrd", "four.nrrd")
rng = np.random.default_rng(5)
put(rng.normal(1, 0.1, (3, 3, 8, 9)), ("phase1", "phase2", "sigma2"))'
	for channel in absphase texture; do
		kalman -q --sigma 0.1 --motion 0 --channel $channel four.nrrd -o $channel.nrrd
	done
	kalman -q --motion 0 --channel phase2 in.nrrd -o out.nrrd
	kalman -q --motion 0 --channel phase1 in.nrrd -o one.nrrd
	py "$common"'
for c in "absphase", "texture":
	a, b = read_frames("four.nrrd")[-1], read_frames(c + ".nrrd")[-1]
	expect(b.names == a.names, b.names)
	for name in a.names:
		expect(np.array_equal(a[name], b[name]) == (name != c), c, name)
a, b, one = (read_frames(f)[-1] for f in ("in.nrrd", "out.nrrd", "one.nrrd"))
expect(b.names == a.names and one.names == ["phase1", "phase2", "sigma2", "sigma1"], b.names, one.names)
expect(np.array_equal(a["phase1"], b["phase1"]) and np.array_equal(a["sigma2"], one["sigma2"]))
expect((b["sigma2"] < 0.7 * a["sigma2"]).all())'
}

@test "kalman: values without a standard deviation, infinite and absurd ones are invalid" {
	py "$common"'
v = np.full((3, 2, 2, 4), 0.5)
v[1, 0, 0] = [np.inf, 1e30, -np.inf, np.nan]
v[1, 1, 1] = [0, -1, np.nan, np.inf]
put(v, ("depth", "sigma"))'
	kalman -q --motion 0 in.nrrd -o out.nrrd
	py "$common"'
expect(np.isnan(got()[1]) == [[True] * 4] * 2)
expect((got()[2] == 0.5).all() and np.isnan(got("sigma")[1]).all())
expect(abs(got("sigma")[2] - 0.5 / np.sqrt(2)) < 1e-6)'
}

@test "kalman: begins anew where size or meaning changes" {
	py "$common"'
flat = np.full((3, 4), 1.0)
put([flat, flat, flat + 0.1, flat], ("absphase",), [{"period_px": "60"}] * 2 + [{"period_px": "66"}] * 2)'
	kalman -q --sigma 0.1 --motion 0 in.nrrd -o out.nrrd
	py "$common"'
expect(np.allclose(got("absphase")[:, 0, 0], [1, 1, 1.1, 1.05], atol=1e-6), got("absphase")[:, 0, 0])'
}

@test "kalman: gaps in time and lost frames count; times that do not rise are named" {
	py "$common"'
flat = np.zeros((3, 4))
put([flat, flat + 1, flat, flat], meta=[{"time_s": t} for t in ("1", "1.5", "2 2.5 3", "4")])
import os
os.rename("in.nrrd", "gaps.nrrd")
for k, meta in enumerate(([{"time_s": "7"}] * 3, [{"time_s": "7"}, {}, {}], [{"time_s": "noon"}] * 3, None)):
	put([np.eye(3) + k for k in range(3)], **({"meta": meta} if meta else {}))
	os.rename("in.nrrd", "in%d.nrrd" % k)
for k in 1, 2, 3: write_frames("f%d.nrrd" % k, Frame(np.zeros((3, 4), "f4"), ["depth"]))'
	kalman -q --sigma 1 --speed 2 gaps.nrrd -o speed.nrrd
	kalman -q --sigma 1 --motion 1 gaps.nrrd -o frames.nrrd
	run kalman in0.nrrd -o out.nrrd
	[ "$status" -eq 0 ]
	[ "$output" = "kalman: key time_s does not rise from frame to frame, 7 s behind 7 s: counted as one frame later" ]
	fails 1 "some frames have the key time_s, and some do not" kalman in1.nrrd -o no.nrrd
	fails 1 "time_s" kalman in2.nrrd -o no.nrrd
	fails 1 "--speed: the frames have no key time_s" kalman --speed 1 in3.nrrd -o no.nrrd
	[ ! -e no.nrrd ]
	# of three frames the second cannot be read: the third is two frames behind the first
	echo no >f2.nrrd
	run kalman -q --keep-going --sigma 1 --motion 1 f1.nrrd f2.nrrd f3.nrrd -o out.nrrd
	[ "$status" -eq 1 ]
	py "$common"'
p = 1.0
for k, t in (1, 0.5), (2, 1.0), (3, 1.5):
	before = p + (2 * t) ** 2
	p = before / (before + 1)
	expect(abs(got("sigma", "speed.nrrd")[k, 0, 0] - np.sqrt(p)) < 1e-5, k, got("sigma", "speed.nrrd")[:, 0, 0], p)
p = 1.0
for k, t in (1, 1.0), (2, 2.0), (3, 1.5):	# the median of 0.5, of 0.5 and 1, of 0.5, 1 and 1.5
	before = p + t ** 2
	p = before / (before + 1)
	expect(abs(got("sigma", "frames.nrrd")[k, 0, 0] - np.sqrt(p)) < 1e-5, k, got("sigma", "frames.nrrd")[:, 0, 0], p)
expect(abs(got("sigma")[1] - np.sqrt(5 / 6)) < 1e-6, got("sigma"))'
}

@test "kalman: what is given is held against what the frames show" {
	py "$common"'
rng = np.random.default_rng(6)
put(rng.normal(5, 0.01, (8, 60, 60)))
write_frames("sigma.nrrd", [Frame(np.stack([v, np.full_like(v, 0.1)]).astype("f4"), ["depth", "sigma"]) for v in rng.normal(5, 0.01, (8, 60, 60))])
write_frames("twice.nrrd", [Frame(v.astype("f4"), ["depth"]) for v in np.repeat(rng.normal(5, 0.01, (4, 60, 60)), 2, 0)])'
	silent kalman --sigma 0.02 in.nrrd -o out.nrrd
	run kalman --sigma 0.1 in.nrrd -o out.nrrd -f
	[[ $output =~ ^"kalman: the noise of depth is 0.0"[01][0-9]*", --sigma is 0.1"$ ]]
	run kalman sigma.nrrd -o out.nrrd
	[[ $output =~ ^"kalman: the noise of depth is 0."[01][0-9]*" times its channel sigma"$ ]]
	run kalman twice.nrrd -o out.nrrd
	[[ $output == "kalman: a frame has the values of the one before it, bit by bit: does the sequence hold it twice?" ]]
	kalman -v in.nrrd -o out.nrrd 2>messages
	grep -E 'kalman: depth: noise 0.0(1|0[89])[0-9]*, motion 0.000[45][0-9]* a frame; in the long run gain 0.0488, noise of a still pixel times 0.158, delay 19.5 frames' messages
	kalman -v --motion 0 in.nrrd -o out.nrrd 2>messages
	grep -E 'motion 0 a frame: the mean of all frames' messages
}

@test "kalman: threads, bands and a chain give the same bytes" {
	py "$common"'
rng = np.random.default_rng(7)
v = rng.normal(5, 0.1, (6, 90, 333))
v[rng.random(v.shape) < 0.1] = np.nan
put(v)'
	kalman -j 1 in.nrrd >one.nrrd
	kalman -j 7 in.nrrd | cmp - one.nrrd
	FRINGEPIPE_BAND=7 kalman -j 2 in.nrrd | cmp - one.nrrd
	framecat --delete none in.nrrd >copy.nrrd
	framecat --delete none in.nrrd | kalman >piped.nrrd
	fringepipe framecat --delete none in.nrrd , kalman | cmp - piped.nrrd
	for level in $(cpu_levels); do
		FRINGEPIPE_CPU=$level kalman in.nrrd | cmp - one.nrrd
	done
}

@test "kalman: errors" {
	py "$common"'
put(np.zeros((1, 2, 3, 4)), ("u", "v"))
write_frames("cos.nrrd", Frame(np.zeros((4, 3, 4), "f4"), ["cos", "sin", "label", "index2"]))
write_frames("scaled.nrrd", Frame(np.zeros((3, 4), "f4"), ["depth"], {"sample_scale": "0 1"}))'
	fails 1 "nothing says which channel to filter, say --channel: input has u v" kalman in.nrrd
	fails 1 "input has no channel depth" kalman --channel depth in.nrrd
	fails 1 "cos is a part of a direction: filter the phase, or the depth before its normals" kalman --channel cos cos.nrrd
	fails 1 "label counts or names something: there is no mean of it" kalman --channel label cos.nrrd
	fails 1 "index2 counts or names something: there is no mean of it" kalman --channel index2 cos.nrrd
	fails 1 "samples are scaled" kalman scaled.nrrd
	fails 2 "--speed: says what --motion says: give one of them" kalman --speed 1 --motion 1 in.nrrd
	fails 2 "--sigma: must be more than 0" kalman --sigma 0 in.nrrd
	fails 2 "--motion: must be at least 0" kalman --motion -1 in.nrrd
	fails 2 "--gate: must be 1 to 1000" kalman --gate 0.5 in.nrrd
	fails 2 "--repeat: must be 1 to 1000" kalman --repeat 0 in.nrrd
	fails 2 "--keep: must be 0 to 1000000" kalman --keep -1 in.nrrd
	: >empty
	fails 1 "empty" kalman empty
	fails 1 "is a table" kalman <(py 'write_frames(sys.stdout.buffer, Frame(np.zeros((1, 1, 5), "f4"), ["depth"], {"points": "5"}))')
}

@test "kalman: behind phase2depth, on simulated captures" {
	fringesim -s 160x120 -p 24,27 --projector 216x160 -c 1 --noise 2 --height 8 --frames 12 --truth truth.nrrd -o captures.nrrd
	fringepipe -q phasewrap captures.nrrd , unwrap2f , phase2depth --ref ideal -o raw.nrrd
	fringepipe -q phasewrap captures.nrrd , unwrap2f , phase2depth --ref ideal , kalman --motion 0 -o out.nrrd
	py "$common"'
truth = got(file="truth.nrrd")
raw, steady = got(file="raw.nrrd") - truth, got() - truth
near = np.median(abs(raw[-1])) / np.median(abs(steady[-1]))
expect(abs(near / np.sqrt(12) - 1) < 0.036, near)		# three standard errors of two medians of 19200 pixels: 1.011'
}

@test "kalman: what is known of one frame's orders alone is left out, and no other channel" {
	py '
rng = np.random.default_rng(2)
names = ["residual", "absphase", "p_order", "texture", "sigma"]
write_frames("in.nrrd", [Frame(rng.normal(50, 1, (5, 9, 17)).astype("f4"), names) for i in range(6)])
write_frames("plain.nrrd", [Frame(f.pixels[[1, 3, 4]], ["absphase", "texture", "sigma"]) for f in read_frames("in.nrrd")])'
	kalman -q --motion 0.1 in.nrrd -o out.nrrd
	kalman -q --motion 0.1 plain.nrrd -o plain_out.nrrd
	kalman -q --motion 0.1 --channel texture in.nrrd -o texture.nrrd
	py '
for f, g in zip(read_frames("out.nrrd"), read_frames("plain_out.nrrd")):
	expect(f.names == ["absphase", "texture", "sigma"] == g.names, f.names)
	expect(f.pixels.view("u4") == g.pixels.view("u4"), "values")
names = read_frames("texture.nrrd")[0].names
expect(names == ["residual", "absphase", "p_order", "texture", "sigma"], names)'
}
