load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# Frames of awkward sizes with holes; the formulas of depthcode(5) in float64.
shapes='
import depthcode_decoder as page
rng = np.random.default_rng(5)
def depths(w, h, low=100.0, high=300.0, holes=0.2):
	z = rng.uniform(low, high, (h, w)).astype("f4")
	if w > 1: z[rng.random((h, w)) < holes] = np.nan
	return z
def levels(z, keys):
	"""Planes before rounding; NaN in holes"""
	M = 2 ** int(keys["depthcode_bits"]) - 1
	low, high = map(float, keys["depthcode_range"].split())
	G = int(keys.get("depthcode_guard", 0))
	t = (z.astype(float) - low) / (high - low)
	A, n = (M + 1) / 2, int(keys.get("depthcode_fringes", 0))
	if keys["depthcode_layout"] == "fold":
		return [G + (1 - np.abs(n * t % 2 - 1)) * (M - G), t * M, A + 0 * t]
	return [G + t * (M - G), A + (A - 1) * np.sin(2 * np.pi * n * t), A + (A - 1) * np.cos(2 * np.pi * n * t)]
'

@test "depthenc: levels are those of depthcode(5), at awkward sizes; a decoder written from the page agrees" {
	py "$shapes"'
write_frames("in.nrrd", [Frame(depths(w, h), ["depth"]) for w, h in ((1, 1), (5, 7), (127, 1), (128, 64), (129, 65), (2049, 3))])'
	for options in "" "--bits 8" "--bits 12 --guard 1" "--mask track" "--layout mwd" "--layout mwd --bits 10 --fringes 9" \
		"--layout mwd --bits 12 --mask track --fringes 3" "--layout fold" "--layout fold --mask track --fringes 3 --bits 10" \
		"--layout fold --fringes 2 --bits 12"; do
		depthenc --depth-range 100,300 $options in.nrrd -o planes.nrrd
		depthdec planes.nrrd -o out.nrrd
		py "$shapes"'
for a, b, c in zip(read_frames("in.nrrd"), read_frames("planes.nrrd"), read_frames("out.nrrd")):
	z, track = a["depth"], "mask" in b.names
	hole = np.isnan(z)
	colours = ["chroma_u", "chroma_v"] if b.meta["depthcode_layout"] != "luma" else []
	fold = b.meta["depthcode_layout"] == "fold"
	expect(b.names == ["luma"] + colours + ["mask"] * track, b.names)
	for name, want in list(builtins.zip(["luma"] + colours, levels(z, b.meta))):
		off = np.abs(b[name] - want)[~hole]
		expect(off <= 0.502, sys.argv, name, off.max()) if off.size else None
		M = 2 ** int(b.meta["depthcode_bits"]) - 1
		if not track and name != "chroma_u" * fold and hole.any(): expect(b[name][hole] == (0 if name == "luma" else (M + 1) // 2))
	if track: expect(b["mask"] == ~hole)
	got = page.decode({name: b[name] for name in b.names}, b.meta)
	expect(np.isnan(got) == hole); expect(np.isnan(c["depth"]) == hole)
	if (~hole).any():
		# floats and doubles may choose differently at the tip of a fold
		off = np.abs(got - c["depth"])[~hole]
		if fold: expect((off > 1e-4).mean() < 0.005 or off.size < 1000, sys.argv, (off > 1e-4).mean())
		else: expect(off < 4.4e-5, sys.argv, np.nanmax(np.abs(got - c["depth"])))
		M, n = 2 ** int(b.meta["depthcode_bits"]) - 1, int(b.meta.get("depthcode_fringes", 0))
		# half a level; or half a level off the circle, in radius and angle, of the smaller waves
		if fold: M, n = (M - int(b.meta.get("depthcode_guard", 0))) * n, 0
		step = 200 * (np.sqrt(0.5) / ((M - 1) / 2) / (2 * np.pi * n) if n else 0.5 / (M - int(b.meta.get("depthcode_guard", 0)) * (not fold)))
		# at the tip of a fold coarse depth may name the other one, which is as near as its step
		if fold: step = max(step, 200 / (2 ** int(b.meta["depthcode_bits"]) - 1))
		expect(np.abs(c["depth"] - z)[~hole] <= 1.01 * step + 1e-4, sys.argv, np.nanmax(np.abs(c["depth"] - z)), step)' "$options"
	done
}

@test "depthenc: the pixels worked out in depthcode(5) are true" {
	py '
import re
text = open(sys.argv[1]).read().split(".Ss A pixel worked out")[1]
low, high, depth = map(float, re.search(r"LO ([\d.]+), HI ([\d.]+), depth ([\d.]+)", text).groups())
rows = [list(map(float, re.findall(r"(?<![a-z])-?\d+(?:\.\d+)?", line.split("  luma")[0].split("  z,")[0].split("  c,")[0].split("  f,")[0].split("  q,")[0].split(" of fold")[0] if "of fold" not in line else line)))
	for line in text.split(".Bd")[1].split(".Ed")[0].splitlines()[1:] if line and ":" not in line]
(luma,), (pixel,), (z, back), mwd, pixels, (c, r, k), (f, again), fold, folded, (q, coarse), last = rows
t = (depth - low) / (high - low)
expect(abs(64 + t * 959 - luma) < 1e-4); expect(abs((pixel - 64) / 959 - z) < 1e-6); expect(abs(low + z * (high - low) - back) < 1e-3)
want = [16 + t * 239] + [128 + 127 * wave(2 * np.pi * 4 * t) for wave in (np.sin, np.cos)]
expect(np.abs(np.array(want) - mwd) < 1e-4, want); expect(np.floor(np.array(mwd) + 0.5) == pixels)
expect(abs((pixels[0] - 16) / 239 - c) < 1e-6); expect(abs(np.arctan2(pixels[1] - 128, pixels[2] - 128) / 2 / np.pi - r) < 1e-6)
expect(np.floor(4 * c - r + 0.5) == k); expect(abs((k + r) / 4 - f) < 1e-6); expect(abs(low + f * (high - low) - again) < 1e-3)
expect(np.abs([16 + (1 - np.abs(8 * t % 2 - 1)) * 239 - fold[0], 255 * t - fold[1]]) < 1e-4)
expect(np.abs([(folded[0] - 16) / 239 - q, folded[1] / 255 - coarse, (4 - q) / 8 - last[0]]) < 1e-6)
expect(last[2] == 3 and abs(low + last[0] * (high - low) - last[1]) < 1e-3, last)
write_frames("in.nrrd", Frame(np.full((1, 1), depth, "f4"), ["depth"]))
np.save("pixels.npy", [pixel] + pixels + folded)' "$top/man/depthcode.5"
	depthenc --depth-range 100,300 in.nrrd -o luma.nrrd
	depthenc --depth-range 100,300 --guard 16 --layout mwd in.nrrd -o mwd.nrrd
	depthenc --depth-range 100,300 --guard 16 --layout fold in.nrrd -o xfold.nrrd
	py '
expect(np.concatenate([read_frame(f)["luma"].ravel() if f < "m" else read_frame(f).pixels.ravel() for f in ("luma.nrrd", "mwd.nrrd", "xfold.nrrd")]) == np.load("pixels.npy"))'
}

@test "depthenc: holes are filled smoothly, between the depths around them" {
	py '
y, x = np.mgrid[:96, :160]
plane = (100 + x + 0.5 * y).astype("f4")
holes = plane.copy(); holes[30:60, 40:100] = np.nan; holes[70:73, 20:23] = np.nan
write_frames("in.nrrd", [Frame(holes, ["depth"]), Frame(np.full((9, 9), np.nan, "f4"), ["depth"])])'
	depthenc --mask track --depth-range 100,400 in.nrrd -o planes.nrrd 2>messages
	py '
first, none = read_frames("planes.nrrd")
y, x = np.mgrid[:96, :160]
luma, mask = first["luma"].astype(float), first["mask"] == 1
want = (x + 0.5 * y) / 300 * 1023
expect(np.abs(luma - want)[mask] <= 0.51)
expect((luma[~mask] > luma[mask].min()) & (luma[~mask] < luma[mask].max()))
# no step into the hole: the plane rises by 3.4 levels a column
expect(np.abs(np.diff(luma, axis=1)).max() < 6, np.abs(np.diff(luma, axis=1)).max())
expect(np.abs(luma - want)[70:73, 20:23].max() < 1.61)
expect((none["mask"] == 0) & (none["luma"] == 512))'
}

@test "depthenc: holes have what push-pull makes of the depths, in double, at odd and very wide sizes" {
	py '
rng = np.random.default_rng(8)
def frame(w, h):
	z = rng.uniform(0, 1, (h, w)).astype("f4")
	z[rng.random((h, w)) < 0.4] = np.nan
	return Frame(z, ["depth"])
write_frames("in.nrrd", [frame(*s) for s in [(1, 1), (5, 7), (127, 1), (1, 129), (129, 65), (1025, 3), (1026, 2), (40001, 1)]])'
	depthenc --mask track --bits 12 --depth-range 0,1 in.nrrd -o planes.nrrd
	py '
def push_pull(z):
	h, w = z.shape
	if z.size == 1: return np.where(np.isnan(z), 0.5, z)
	padded = np.pad(z, ((0, h % 2), (0, w % 2)), constant_values=np.nan)
	four = padded.reshape((h + 1) // 2, 2, (w + 1) // 2, 2)
	n = (~np.isnan(four)).sum((1, 3))
	coarse = push_pull(np.where(n > 0, np.nansum(four, (1, 3)) / np.maximum(n, 1), np.nan))
	# the nearest coarser pixel counts 3/4, the one on the other side of this pixel 1/4
	for axis in 0, 1:
		at = np.arange(z.shape[axis])
		near = coarse.take(at // 2, axis)
		coarse = (3 * near + coarse.take(np.clip(at // 2 + at % 2 * 2 - 1, 0, coarse.shape[axis] - 1), axis)) / 4
	return np.where(np.isnan(z), coarse, z)
for given, got in zip(read_frames("in.nrrd"), read_frames("planes.nrrd")):
	z = given["depth"].astype(float)
	expect(got["mask"] == ~np.isnan(z), z.shape)
	expect(np.abs(got["luma"] - push_pull(z) * 4095) < 0.502, z.shape, np.abs(got["luma"] - push_pull(z) * 4095).max())'
}

@test "depthenc, holoenc: a range of which depths use a small share is said once, with the steps that it leaves" {
	py '
z = np.linspace(0, 39.87, 64 * 48).astype("f4").reshape(48, 64)
stray = z.copy(); stray[17, 23] = 1e6
write_frames("in.nrrd", [Frame(z, ["depth"]) for k in range(2)])
write_frames("one.nrrd", Frame(z, ["depth"]))
write_frames("flat.nrrd", Frame(0 * z + 7, ["depth"]))
write_frames("stray.nrrd", Frame(stray, ["depth"]))'
	question="is the range in the unit of the depths, and without stray ones?"
	# 40000 / (1023 - 64); 40000 / (2 pi 127 8); 40000 / 7 / (255 - 32)
	while read -r step options; do
		fails 0 "--depth-range: 99.9 % of the depths use 0.12 % of the range 0 to 40000, in steps of $step: $question" \
			depthenc --depth-range 0,40000 $options in.nrrd -o wide.nrrd
	done <<<"41.7
6.27 --layout mwd --fringes 8
25.6 --layout fold --fringes 7"
	depthenc --depth-range 0,40000 in.nrrd -o wide.nrrd
	depthdec wide.nrrd -o back.nrrd
	py 'v = np.unique(read_frames("back.nrrd")[0]["depth"]); expect(len(v) == 2 and abs(v[1] - 41.7) < 0.0122, v)'
	# a turn of the sine takes 32 of 64 columns / sin 30: 1 / (2 pi 127.5) of 40000
	fails 0 "--depth-range: 99.9 % of the depths use 0.12 % of the range 0 to 40000, in steps of 49.9: $question" \
		holoenc -P 32 -t 30 -S 20 --depth-range 0,40000 in.nrrd -o holo.nrrd
	fails 0 "of the range 0 to 1e+06, in steps of 1.04e+03" depthenc --depth-range file stray.nrrd -o n.nrrd
	fails 0 "of the range 0 to 1e+06" holoenc --depth-range file stray.nrrd -o n.nrrd
	# a twentieth is used on purpose; what is one depth has it exactly, in its own range
	silent depthenc --depth-range 0,800 in.nrrd -o n.nrrd
	silent depthenc --depth-range file flat.nrrd -o n.nrrd
	silent holoenc --depth-range file one.nrrd -o n.nrrd
}

@test "depthenc, holoenc: samples of a texture that are cut are counted and said" {
	py '
t = np.arange(100).reshape(10, 10) * 40.0
write_frames("in.nrrd", [Frame(np.stack([t, t - k]).astype("f4"), ["depth", "skin"]) for k in range(3)])
write_frames("white.nrrd", Frame(np.stack([t, t]).astype("f4"), ["depth", "skin"], {"max_value": "3960"}))'
	for tool in depthenc "depthenc --texture-place track" holoenc; do
		$tool --depth-range file --texture skin in.nrrd -o out.nrrd 2>messages
		[ "$(cat messages)" = "${tool%% *}: --texture: 93 of 100 samples of skin, which go from 0 to 3960, lie outside of 0 to 255 and are cut: is key max_value what white is?
${tool%% *}: --texture: in all 281 samples of 3 frames lay outside and were cut" ]
		silent $tool --depth-range file --texture skin white.nrrd -o n.nrrd
	done
}

@test "depthenc: depths outside of the range are counted and said; the range is the option's, the key's, or the file's" {
	py '
z = np.linspace(0, 99, 100).astype("f4").reshape(10, 10)
write_frames("in.nrrd", [Frame(z + k, ["depth"], {"depth_range": "0 200"}) for k in range(3)])
write_frames("bare.nrrd", Frame(z, ["depth"]))'
	depthenc --depth-range 10,49.5 in.nrrd -o out.nrrd 2>messages
	[ "$(head -1 messages)" = "depthenc: --depth-range: 60 of 100 depths, which go from 0 to 99, lie outside of 10 to 49.5 and are lost" ]
	[ "$(tail -1 messages)" = "depthenc: --depth-range: in all 180 depths of 3 frames lay outside and are lost" ]
	py '
for k, f in enumerate(read_frames("out.nrrd")):
	z = np.linspace(0, 99, 100).reshape(10, 10) + k
	expect((f["luma"] > 0) == ((z >= 10) & (z <= 49.5)), k)'
	[ "$(depthenc in.nrrd | frameinfo -k depthcode_range - | sort -u)" = "0 200" ]
	silent depthenc --depth-range file in.nrrd -o file.nrrd
	[ "$(frameinfo -k depthcode_range file.nrrd | sort -u)" = "0 101" ]
	silent depthenc bare.nrrd -o bare-file.nrrd
	depthenc --depth-range file bare.nrrd -o same.nrrd
	framecmp bare-file.nrrd same.nrrd
	nothing="nothing says the range of the depths: give --depth-range LO,HI, or --depth-range file"
	fails 1 "$nothing" depthenc -o n.nrrd <bare.nrrd
	fails 1 "$nothing" fringepipe framecat bare.nrrd , depthenc -o n.nrrd
	fails 2 "cannot be read twice" depthenc <(cat bare.nrrd) -o n.nrrd
	run depthenc --depth-range file -o n.nrrd < <(cat in.nrrd)
	[ "$status" -eq 2 ]
	[ ! -e n.nrrd ]
}

@test "depthenc: one thread equals seven, every band height alike, in a chain as in a pipe" {
	py "$shapes"'write_frames("in.nrrd", [Frame(depths(333, h), ["depth"]) for h in (100, 50)])'
	for options in "--mask track" "--layout mwd" "--layout fold"; do
		depthenc --depth-range 99,301 $options -j 1 in.nrrd >one.nrrd
		depthenc --depth-range 99,301 $options -j 7 in.nrrd >seven.nrrd
		FRINGEPIPE_BAND=1 depthenc --depth-range 99,301 $options -j 2 in.nrrd >band.nrrd
		cmp one.nrrd seven.nrrd
		cmp one.nrrd band.nrrd
		depthenc --depth-range 99,301 $options in.nrrd | depthdec >out.nrrd
		fringepipe depthenc --depth-range 99,301 $options in.nrrd , depthdec >chain.nrrd
		cmp out.nrrd chain.nrrd
	done
}

@test "depthenc: --texture is below the depth, whose planes stay, and depthdec takes both apart" {
	py "$shapes"'
y, x = np.mgrid[:37, :53].astype("f4")
def frame(k):
	t = 100 + 90 * np.sin(x / 5 + k) * np.cos(y / 7)
	t[3, 4] = np.nan; t[5, 6] = 250; t[7, 8] = -3
	return Frame(np.stack([depths(53, 37), t]), ["depth", "skin"], {"max_value": "200"})
write_frames("in.nrrd", [frame(k) for k in range(2)])'
	while read -r gain options; do
		options="--depth-range 100,300 $options"
		depthenc $options in.nrrd -o bare.nrrd
		depthenc $options --texture skin --texture-gain $gain in.nrrd -o planes.nrrd
		depthdec bare.nrrd -o want.nrrd
		depthdec planes.nrrd -o got.nrrd
		fringepipe depthenc $options --texture skin --texture-gain $gain in.nrrd , depthdec -o chain.nrrd
		py "$shapes"'
gain = float(sys.argv[1])
for s, a, b, w, g, c in zip(*(read_frames(f"{n}.nrrd") for n in ("in", "bare", "planes", "want", "got", "chain"))):
	M = 2 ** int(b.meta["depthcode_bits"]) - 1
	expect(b.pixels.shape == (len(a.names), 74, 53) and b.names == a.names and (b.pixels[:, :37] == a.pixels).all())
	expect((b.pixels[1:, 37:] == a.pixels[1:, 36:]).all()); expect(b.meta["depthcode_size"] == "53 37", b.meta)
	upper, skin = page.texture({name: b[name] for name in b.names}, b.meta)
	true = np.clip(np.nan_to_num(s["skin"], nan=0), 0, 200 / gain)
	expect(np.abs(skin - true) <= 0.501 * 200 / M / gain, np.abs(skin - true).max())
	expect(np.isnan(page.decode(upper, b.meta)) == np.isnan(s["depth"]))
	for d in g, c:
		expect(d.names == ["depth", "skin"] and np.array_equal(d["depth"], w["depth"], equal_nan=True), d.names)
		expect(np.abs(d["skin"] - skin) < 1.7e-5); expect(abs(float(d.meta["max_value"]) - 200) < 1e-6, d.meta)
		expect(not [key for key in d.meta if key.startswith("depthcode")], d.meta)' $gain
	done <<-END
	1
	0.5 --mask track
	1 --layout mwd
	0.25 --layout fold --mask track --bits 12
	END
	fails 1 "input has no channel hair, only: depth skin" depthenc --depth-range 0,1 --texture hair in.nrrd -o n.nrrd
	fails 2 "--texture-gain: is of a texture: give --texture CHANNEL" depthenc --depth-range 0,1 --texture-gain 0.5 in.nrrd -o n.nrrd
	# keys that were lost; rows that were cut
	depthenc --depth-range 100,300 --bits 8 --texture skin in.nrrd -o planes.nrrd
	py '
frames = read_frames("planes.nrrd")
write_frames("lost.nrrd", [Frame(f.pixels, f.names) for f in frames])
write_frames("odd.nrrd", [Frame(f.pixels[:, :73], f.names, f.meta) for f in frames])'
	depthdec --layout luma --bits 8 --depth-range 100,300 --mask gap --guard 32 --texture t lost.nrrd -o out.nrrd
	py '
f, b = read_frames("out.nrrd")[0], read_frames("planes.nrrd")[0]
expect(f.names == ["depth", "t"] and (f["t"] == b["luma"][37:]).all() and f.meta["max_value"] == "255", f.meta)'
	fails 1 "has an even number of rows, not 73" depthdec odd.nrrd -o n.nrrd
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	fringepipe depthenc --depth-range 100,300 --mask track --texture skin in.nrrd , framecat --lossless -o out.mp4
	depthenc --depth-range 100,300 --mask track --texture skin in.nrrd | depthdec >want.nrrd
	silent depthdec out.mp4 -o got.nrrd
	framecmp want.nrrd got.nrrd
}

@test "depthenc: a texture in colour costs the depth in a video nothing: --crf is 0, as with a grey one" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	fringesim -q -s 160x128 --scene relief --noise 1 --truth truth.nrrd -o set.nrrd
	py '
f = read_frame("truth.nrrd")
z = f["depth"]
colours = [np.rint(120 + 100 * np.sin(np.indices(z.shape)[k % 2] / (7 + k))) for k in range(3)]
write_frames("in.nrrd", Frame(np.stack([z, *colours]).astype("f4"), ["depth", "r", "g", "b"]))'
	range=$(py 'z = read_frame("in.nrrd")["depth"]; print("%g,%g" % (np.nanmin(z) - 1, np.nanmax(z) + 1))')
	for texture in g r,g,b; do
		for crf in "" "--crf 0" "--crf 18"; do
			# shellcheck disable=SC2086
			depthenc --depth-range "$range" --texture $texture in.nrrd | framecat -q $crf -o "$texture${crf: -2}.mkv"
		done
		framecmp "$texture.mkv" "$texture 0.mkv"
		fails 1 "" framecmp "$texture.mkv" "${texture}18.mkv"
		depthdec -q "$texture.mkv" -o "$texture.nrrd"
	done
	py '
z = read_frame("in.nrrd")["depth"].astype("f8")
rms = [100 * np.sqrt(np.nanmean((read_frame(name + ".nrrd")["depth"] - z) ** 2)) / np.ptp(z) for name in ("g", "r,g,b")]
print("%.3f %% of the range with grey, %.3f with colour" % tuple(rms))
expect(rms[1] < 1.2 * rms[0], rms)'
}

@test "depthenc: white of a stack is that of the texture's channel" {
	py '
write_frames("d.nrrd", Frame(np.ones((4, 8), "f4"), ["depth"]))
for k, white in enumerate((1000, 255)):
	write_frames("%d.nrrd" % k, Frame(np.full((4, 8), 50, "f4"), ["c%d" % k], {"max_value": str(white)}))'
	framecat --stack d.nrrd 0.nrrd 1.nrrd -o in.nrrd
	[ "$(frameinfo -k max_value in.nrrd)" = "- 1000 255" ]
	depthenc --bits 8 --depth-range 0,2 --texture c0 in.nrrd -o o.nrrd
	py 'expect(abs(float(read_frame("o.nrrd").meta["depthcode_texture_scale"]) - 1000 / 255) < 1e-9)'
}

@test "depthenc: colours below in 4:2:0 get no brighter, and the first row takes none from above" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py '
for h in 48, 47:
	y, x = np.mgrid[:h, :64]
	colours = [np.rint(120 + 90 * np.sin((x * a + y * b) / 30 + c)) for a, b, c in ((1, 2, 0), (2, -1, 1), (-1, 1, 2))]
	write_frames("in%d.nrrd" % h, Frame(np.stack([x + y, *colours]).astype("f4"), ["depth", "r", "g", "b"]))'
	for case in "luma 48" "mwd 48" "luma 47"; do
		depthenc --bits 8 --depth-range 0,111 --layout ${case% *} --texture r,g,b in${case#* }.nrrd |
			framecat -q --lossless --chroma 420 -f -o o.mkv
		silent depthdec o.mkv -o o.nrrd
		py 'f, g = read_frame(sys.argv[1]), read_frame("o.nrrd")
off = np.stack([g[c] - f[c] for c in "rgb"])
expect(abs(off[:, 0]).max() < 7 and abs(off.mean((1, 2))).max() < 0.05, abs(off[:, 0]).max(), off.mean((1, 2)))' in${case#* }.nrrd
	done
}

@test "depthenc: --texture-place track makes a channel of its own, of 8 bits, whose track depthdec takes back" {
	py "$shapes"'
y, x = np.mgrid[:37, :53]
whole = ((53 * y + x) % 256).astype("f4")
holed = whole + 0.25; holed[3, 4] = np.nan; holed[5, 6] = 300; holed[7, 8] = -3
write_frames("in.nrrd", [Frame(np.stack([depths(53, 37), whole]), ["depth", "skin"]) for k in range(2)])
write_frames("other.nrrd", Frame(np.stack([depths(53, 37), holed]), ["depth", "skin"], {"max_value": "511"}))'
	while read -r suffix cat options; do
		options="--depth-range 100,300 $options"
		depthenc $options in.nrrd -o bare.nrrd
		depthenc $options --texture skin --texture-place track in.nrrd -o planes.nrrd
		depthdec bare.nrrd -o want.nrrd
		depthdec planes.nrrd -o got.nrrd
		if command -v ffmpeg >/dev/null; then
			framecat -f ${cat//=/ } --lossless planes.nrrd -o out.$suffix
			depthdec out.$suffix -o video.nrrd
		else
			cp got.nrrd video.nrrd
		fi
		py '
for s, a, b, w, g, v in zip(*(read_frames(f"{n}.nrrd") for n in ("in", "bare", "planes", "want", "got", "video"))):
	expect(b.names == a.names + ["texture"] and (b.pixels[:-1] == a.pixels).all() and (b["texture"] == s["skin"]).all(), b.names)
	expect(b.meta["depthcode_texture_place"] == "track" and b.meta["depthcode_texture"] == "skin", b.meta)
	for d in g, v:
		expect(d.names == ["depth", "skin"] and np.array_equal(d["depth"], w["depth"], equal_nan=True), d.names)
		expect((d["skin"] == s["skin"]).all() and float(d.meta["max_value"]) == 255, d.meta)
		expect(not [key for key in d.meta if key.startswith("depthcode")], d.meta)'
	done <<-END
	mkv --video=h264
	mp4 --video=hevc --mask track --bits 12
	mkv --video=ffv1 --layout mwd --mask track
	mkv --video=h264 --layout fold
	END
	# the name that the user gives; a white of its own, and what no level holds
	depthdec --texture paint planes.nrrd | frameinfo -k channels - | sort -u >names
	[ "$(cat names)" = "depth paint" ]
	depthenc --depth-range 100,300 --texture skin --texture-place track other.nrrd -o planes.nrrd
	depthdec planes.nrrd -o out.nrrd
	py "$shapes"'
s, b, d = (read_frame(f"{n}.nrrd") for n in ("other", "planes", "out"))
true = np.clip(np.nan_to_num(s["skin"], nan=0), 0, 511)
expect(np.abs(d["skin"] - true) <= 1.003); expect(float(d.meta["max_value"]) == 511, d.meta)
expect(np.abs(page.texture({name: b[name] for name in b.names}, b.meta)[1] - d["skin"]) < 1.1e-5)
write_frames("none.nrrd", Frame(b.pixels[:1], ["luma"], b.meta))
scaled = b.pixels.copy(); scaled[1] *= 4
write_frames("scaled.nrrd", Frame(scaled, b.names, b.meta))
write_frames("word.nrrd", Frame(b.pixels, b.names, {**b.meta, "depthcode_texture_place": "beside"}))'
	fails 1 "there is no channel texture: the track of the video, or the file, that holds it is missing" depthdec none.nrrd -o n.nrrd
	fails 1 "a sample of the texture is " depthdec scaled.nrrd -o n.nrrd
	fails 1 "depthcode_texture_place: must be below or track, not 'beside'" depthdec word.nrrd -o n.nrrd
	fails 2 "--texture-place: is of a texture: give --texture CHANNEL" depthenc --depth-range 0,1 --texture-place track in.nrrd -o n.nrrd
	fails 2 "--texture-gain: is of a texture below the depth" \
		depthenc --depth-range 0,1 --texture skin --texture-place track --texture-gain 0.5 in.nrrd -o n.nrrd
	for name in "a b" "" depth nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn; do
		fails 2 "--texture: must be the name of a channel: one word of at most 31 bytes that is not depth" \
			depthdec --texture "$name" planes.nrrd -o n.nrrd
	done
	[ ! -e n.nrrd ]
}

@test "depthenc: errors" {
	py '
write_frames("z.nrrd", Frame(np.zeros((4, 4), "f4"), ["depth"]))
write_frames("image.nrrd", Frame(np.zeros((4, 4), "f4")))'
	fails 1 "input has no channel depth, only: image" depthenc --depth-range 0,1 image.nrrd -o n.nrrd
	fails 1 "--depth-range: the first depth must be less than the second, not 1 and 0" depthenc --depth-range 1,0 z.nrrd -o n.nrrd
	fails 1 "--depth-range: must be two finite depths, not 10 and inf" depthenc --depth-range 10,inf z.nrrd -o n.nrrd
	fails 2 "--depth-range: must be two numbers, not 1" depthenc --depth-range=-1 z.nrrd -o n.nrrd
	fails 1 "--bits: must be 8, 10 or 12 bits, not 9" depthenc --bits 9 --depth-range 0,1 z.nrrd -o n.nrrd
	fails 1 "--guard: must be 1 to 127 of 8 bits, not 200" depthenc --bits 8 --guard 200 --depth-range 0,1 z.nrrd -o n.nrrd
	fails 2 "--guard: there is no gap with --mask track" depthenc --mask track --guard 4 --depth-range 0,1 z.nrrd -o n.nrrd
	fails 2 "--fringes: the layout luma has none: mwd and fold do" depthenc --fringes 4 --depth-range 0,1 z.nrrd -o n.nrrd
	fails 2 "--fringes: of the layout fold must be 2 at least" depthenc --layout fold --fringes 1 --depth-range 0,1 z.nrrd -o n.nrrd
	fails 2 "--layout" depthenc --layout holo --depth-range 0,1 z.nrrd -o n.nrrd
	[ ! -e n.nrrd ]
}
