load helpers

shapes='
def bowls(w=96, h=64, frames=3):
	"""A bowl that moves over a slope, with holes in it"""
	y, x = np.mgrid[:h, :w]
	for k in range(frames):
		square = 900 - (x - w / 2 - 2 * k) ** 2 - (y - h / 2) ** 2
		z = 100 + 0.2 * x + np.where(square > 0, np.sqrt(np.maximum(square, 0)), 0)
		yield np.where((square > 0) | (x > 0.8 * w), z, np.nan).astype("f4")
def write(path, **size):
	write_frames(path, [Frame(z, ["depth"], {"z_axis": "away"}) for z in bowls(**size)])
'

@test "depthdec: every layout comes back from videos without loss as from a stream, with and without a mask's track" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py "$shapes"'write("in.nrrd"); write("odd.nrrd", w=63, h=37)'
	while read -r name video chroma suffix options; do
		depthenc --depth-range 90,150 $options $name.nrrd -o planes.nrrd
		silent framecat -f --video $video --chroma $chroma --lossless planes.nrrd -o o.$suffix
		silent depthdec o.$suffix -o video.nrrd
		depthdec planes.nrrd -o stream.nrrd
		framecmp stream.nrrd video.nrrd
		[ "$(frameinfo -k z_axis video.nrrd | sort -u)" = away ]
		for key in depthcode_layout depthcode_bits depthcode_mask max_value video_range video_size; do
			fails 1 "$key: there is no such key" frameinfo -k $key video.nrrd
		done
	done <<-END
	in h264 444 mkv --bits 8
	in h264 420 mkv
	in hevc 420 mkv --bits 12
	in ffv1 444 nut --bits 12
	odd h264 420 mp4
	odd hevc 420 mkv --mask track --bits 12
	odd h264 420 mp4 --mask track
	in ffv1 444 mkv --mask track --bits 12
	in h264 444 mkv --layout mwd
	in hevc 444 mkv --layout mwd --bits 12 --fringes 7
	in h264 444 mov --layout mwd --mask track
	odd h264 444 mkv --layout mwd --mask track --bits 10
	in h264 444 mkv --layout fold
	odd hevc 444 mp4 --layout fold --mask track --bits 12
	END
}

@test "depthdec: luma of mwd may err by nearly half a wave, and colour by its amplitude" {
	py '
y, x = np.mgrid[:64, :96]
write_frames("in.nrrd", Frame((50 + 40 * np.sin(x / 20) * np.cos(y / 30)).astype("f4"), ["depth"]))'
	depthenc --layout mwd --depth-range 0,100 in.nrrd -o planes.nrrd
	depthdec planes.nrrd -o good.nrrd
	py '
f = read_frame("planes.nrrd")
p, rng = f.pixels.astype(float), np.random.default_rng(2)
p[0] += rng.uniform(-0.11, 0.11, p[0].shape) * 223
p[1:] = 128 + 0.3 * (p[1:] - 128)
write_frames("off.nrrd", Frame(np.round(np.clip(p, 17, 255)).astype("u1"), f.names, f.meta))'
	depthdec off.nrrd -o off.depth.nrrd
	py '
a, b = read_frame("good.nrrd")["depth"], read_frame("off.depth.nrrd")["depth"]
# half a level of 38: 1 / 54 rad, of 4 waves over 100
expect(np.abs(a - b).max() <= 1.1 * 100 / 4 * (0.71 / 38 + 0.71 / 127) / (2 * np.pi), np.abs(a - b).max())'
}

@test "depthdec: what was lost is named; options give it, and win with a line" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py "$shapes"'write("in.nrrd")'
	depthenc --depth-range 90,150 in.nrrd -o o.mkv
	ffmpeg -v error -i o.mkv -c copy -map_metadata -1 bare.mkv
	fails 1 "(no depthcode_ keys: is it depthenc's, and were a video's tags kept?); give --layout --bits --depth-range --mask --guard --fringes (mwd, fold)" \
		depthdec bare.mkv -o n.nrrd
	fails 1 "does not say all of how it was encoded; give --depth-range --guard" \
		depthdec --layout luma --bits 10 --mask gap bare.mkv -o n.nrrd
	silent depthdec --layout luma --bits 10 --mask gap --guard 64 --depth-range 90,150 bare.mkv -o bare.nrrd
	depthdec o.mkv -o o.nrrd
	framecmp o.nrrd bare.nrrd
	run -0 depthdec --depth-range 0,150 --guard 32 o.mkv -o n.nrrd
	[ "${lines[0]}" = "depthdec: depthcode_guard: the picture says 64, the option's 32 is used" ]
	[ "${lines[1]}" = "depthdec: depthcode_range: the picture says 90 to 150, the option's 0 to 150 is used" ]
	[ "${#lines[@]}" -eq 2 ]
	depthenc --layout mwd --depth-range 90,150 in.nrrd -o rgb.png --frames 0 2>/dev/null ||
		framecat --frames 0 in.nrrd | depthenc --layout mwd --depth-range 90,150 -o rgb.png
	framecat --frames 0 in.nrrd | depthenc --layout mwd --depth-range 90,150 | depthdec -o a.nrrd
	depthdec rgb.png -o b.nrrd
	framecmp a.nrrd b.nrrd
}

@test "depthdec: a video that another program coded again is refused where that shows" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py "$shapes"'write("in.nrrd", w=256, h=192)'
	depthenc --depth-range 90,160 in.nrrd -o o.mkv
	ffmpeg -v error -i o.mkv -pix_fmt yuvj420p -c:v libx264 -qp 0 8.mkv
	fails 1 "has 8 bits a sample, and was encoded with 10: another program coded it again (if it did nothing but shift them, --bits 8 --guard 16)" \
		depthdec 8.mkv -o n.nrrd
	# ffmpeg makes them limited range, and does not say it
	ffmpeg -v error -i 8.mkv -pix_fmt yuv420p10le -color_range pc -c:v libx264 -qp 0 again.mkv
	fails 1 "the video's levels are of limited range" depthdec -q again.mkv -o n.nrrd
	ffmpeg -v error -i again.mkv -c copy -metadata VIDEO_CHECK= unsaid.mkv
	fails 1 "the levels are those of 8 bits, and were encoded with 10: another program has cut them" depthdec unsaid.mkv -o n.nrrd
	for way in "p << 2" "p << 2 | p >> 6" "np.round(p * 1023 / 255)" "np.round(64 + p * 876 / 255)"; do
		framecat -f 8.mkv -o 8.nrrd
		py '
out = []
for f in read_frames("8.nrrd"):
	p = f.pixels.astype(int)
	out.append(Frame((eval(sys.argv[1])).astype("u2"), ["luma"], {**f.meta, "max_value": "1023"}))
write_frames("again.nrrd", out)' "$way"
		fails 1 "the levels are those of 8 bits, and were encoded with 10" depthdec again.nrrd -o n.nrrd
	done
	ffmpeg -v error -i o.mkv -vf scale=in_range=pc:out_range=tv -color_range tv -c:v libx264 -qp 0 limited.mkv
	fails 1 "the video's levels are of limited range" depthdec -q limited.mkv -o n.nrrd
	ffmpeg -v error -i o.mkv -vf negate -c:v ffv1 negated.mkv
	fails 1 "the video's levels were negated" depthdec -q negated.mkv -o n.nrrd
	# what the file says of its range and what its levels are: apart, and both ways
	for suffix in mkv mp4; do
		depthenc --depth-range 90,160 in.nrrd -o say.$suffix
		copy() { ffmpeg -v error -y -i say.$suffix -movflags use_metadata_tags "$@" again.$suffix; }
		copy -vf scale=in_range=pc:out_range=tv,setrange=pc -color_range pc -c:v libx264 -crf 10
		[ "$(ffprobe -v error -of csv=p=0 -show_entries stream=color_range again.$suffix)" = pc ]
		fails 1 "the video's levels are of limited range" depthdec -q again.$suffix -o n.nrrd
		copy -vf scale=in_range=tv:out_range=pc,setrange=pc -color_range pc -c:v libx264 -crf 10
		fails 1 "the video's levels were stretched" depthdec -q again.$suffix -o n.nrrd
		copy -c copy -bsf:v h264_metadata=video_full_range_flag=0
		[ "$(ffprobe -v error -of csv=p=0 -show_entries stream=color_range again.$suffix)" = tv ]
		run -0 depthdec -f again.$suffix -o again.nrrd
		[ "$output" = "depthdec: again.$suffix: says that its levels are of limited range, but they are those that were written, of full range" ]
		framecmp <(depthdec say.$suffix) again.nrrd
	done
	ffmpeg -v error -i o.mkv -vf scale=128:96 -c:v libx264 -qp 0 small.mkv
	fails 1 "the picture is 128 x 96, but was encoded as 256 x 192: scaled or cut" depthdec -q small.mkv -o n.nrrd
	framecat -f --set max_value=65535 o.mkv -o 16.nrrd
	fails 1 "has 16 bits a sample, and was encoded with 10" depthdec 16.nrrd -o n.nrrd
	# two tracks
	depthenc --mask track --depth-range 90,160 in.nrrd -o two.mkv
	ffmpeg -v error -i two.mkv -c copy one.mkv
	fails 1 "one.mkv: the channel mask is missing: the video has no second track of the same size any more" depthdec one.mkv -o n.nrrd
	ffmpeg -v error -i two.mkv -map 0:1 -map 0:0 -c copy turned.mkv
	fails 1 "has no second track of the same size any more, or tracks in another order" depthdec turned.mkv -o n.nrrd
	ffmpeg -v error -i two.mkv -map 0 -c:v:0 copy -c:v:1 libx264 lossy.mkv
	fails 1 "lossy.mkv: the second track, the mask, was coded again, maybe with loss" depthdec lossy.mkv -o n.nrrd
	ffmpeg -v error -i two.mkv -map 0 -c copy -c:v:1 ffv1 ffv1.mkv
	fails 1 "ffv1.mkv: the second track, the mask, has a sample of 17, and must be 0 or 1" depthdec ffv1.mkv -o n.nrrd
	ffmpeg -v error -i two.mkv -map 0 -c copy -filter:v:1 extractplanes=y -c:v:1 ffv1 gray.mkv
	framecmp <(depthdec two.mkv) <(depthdec gray.mkv)
	ffmpeg -v error -i two.mkv -frames:v:1 2 -map 0:0 -map 0:1 -c copy fewer.mkv
	fails 1 "fewer.mkv: its second track, the mask, has fewer frames than the first" depthdec fewer.mkv -o n.nrrd
	[ ! -e n.nrrd ]
}

@test "depthdec: levels within the gap are warned of where they are many, and are not where coding lost little" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py "$shapes"'
rng = np.random.default_rng(7)
frames = []
for z in bowls(w=256, h=192, frames=4):
	z = z + rng.normal(0, 0.1, z.shape).astype("f4")
	for _ in range(60):
		y, x = rng.integers(0, 190), rng.integers(0, 250)
		z[y : y + 2, x : x + 5] = np.nan
	frames.append(Frame(z.astype("f4"), ["depth"]))
write_frames("in.nrrd", frames)
# what coding does to a step, made here: a pixel in n of a depth
levels = np.full((100, 100), 700, "u2"); levels[:, 50:] = 0
keys = {"depthcode_layout": "luma", "depthcode_bits": "10", "depthcode_range": "0 1", "depthcode_mask": "gap", "depthcode_guard": "64", "max_value": "1023"}
few, many = levels.copy(), levels.copy()
few[:5, 50] = 31; few[5:50, 50] = 15; few[50:, 50] = 48
many[:4, 50] = 16; many[4:8, 50] = 47
write_frames("few.nrrd", [Frame(few, ["luma"], keys)] * 2)
write_frames("many.nrrd", [Frame(f, ["luma"], keys) for f in (few, many, many)])'
	silent depthdec few.nrrd -o few.depth.nrrd
	run -0 depthdec many.nrrd -o n.nrrd
	[[ ${lines[0]} == "depthdec: frame 1: 8 samples, 0.16 for each hundred depths, are neither a depth nor none: the video was coded with much loss, maybe again by another program"* ]]
	[ "${lines[1]}" = "depthdec: 2 of 3 frames have such samples" ]
	[ "${#lines[@]}" -eq 2 ]
	for crf in -6 0 6; do
		fringepipe depthenc --depth-range 90,160 in.nrrd , framecat -f --crf $crf -o o.mkv
		silent depthdec o.mkv -o o.nrrd
	done
	for crf in 18 28; do
		ffmpeg -v error -y -i o.mkv -c:v libx264 -crf $crf again.mkv
		run -0 depthdec again.mkv -o n.nrrd
		has "are neither a depth nor none" <<<"$output"
	done
}

@test "depthdec: coarse and fine depth that disagree are warned of: other fringes, and far too much loss" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py "$shapes"'write("in.nrrd", w=192, h=128, frames=2)'
	words="% of the depths disagree with themselves, coarse with fine: the video was coded with much loss"
	while read -r layout mask fringes other; do
		depthenc --layout $layout --mask $mask --fringes $fringes --depth-range 90,170 in.nrrd -o planes.nrrd
		framecat -f --crf 20 --chroma 420 planes.nrrd -o right.mkv
		silent depthdec right.mkv -o n.nrrd
		run -0 depthdec -f --fringes $other right.mkv -o n.nrrd
		[[ ${lines[0]} == *"depthcode_fringes"* ]]
		[[ ${lines[1]} =~ ^"depthdec: "([6-9][0-9]|100)" $words, maybe again by another program, or its --fringes is not $other," ]]
		[ "${#lines[@]}" -eq 2 ]
		framecat -f --crf 51 --chroma 420 planes.nrrd -o bad.mkv
		run -0 depthdec bad.mkv -o n.nrrd
		[[ ${lines[0]} == "depthdec: "[1-9][0-9]" $words"* && ${#lines[@]} -eq 1 ]]
	done <<-END
	mwd gap 4 5
	mwd track 8 4
	fold gap 8 4
	END
	# a frame without depths says nothing; the next one is looked at, and none after it
	py '
a, b = read_frames("planes.nrrd")
none = Frame(0 * a.pixels, a.names, a.meta)
off = a.pixels.copy()
off[1] = off[1] // 2
write_frames("off.nrrd", [none, Frame(off, a.names, a.meta), Frame(off, a.names, a.meta)])
write_frames("later.nrrd", [none, a, Frame(off, a.names, a.meta)])'
	run -0 depthdec off.nrrd -o n.nrrd
	[ "$(grep -c "$words" <<<"$output")" -eq 1 ]
	run -0 depthdec -f later.nrrd -o n.nrrd
	[ "$(grep -c "$words" <<<"$output")" -eq 0 ]
}

@test "depthdec: samples that are no levels, masks that are none, channels that are not there" {
	keys='{"depthcode_layout": "luma", "depthcode_bits": "10", "depthcode_range": "0 1", "depthcode_mask": "track", "max_value": "1023"}'
	py "keys = $keys"'
luma, mask = np.full((8, 8), 700, "u2"), np.ones((8, 8), "u2")
write_frames("none.nrrd", Frame(luma, ["luma"], keys))
write_frames("mask.nrrd", Frame(np.stack([luma, 2 * mask]), ["luma", "mask"], keys))
write_frames("above.nrrd", Frame(np.stack([luma + 400, mask]), ["luma", "mask"], keys))
write_frames("word.nrrd", Frame(luma, ["luma"], {**keys, "depthcode_layout": "holo"}))
write_frames("range.nrrd", Frame(luma, ["luma"], {**keys, "depthcode_range": "1 1"}))
write_frames("mwd.nrrd", Frame(luma, ["luma"], {**keys, "depthcode_mask": "gap", "depthcode_guard": "64", "depthcode_layout": "mwd", "depthcode_fringes": "4"}))'
	fails 1 "there is no channel mask" depthdec none.nrrd -o n.nrrd
	fails 1 "the mask is 2 somewhere, and must be 0 or 1" depthdec mask.nrrd -o n.nrrd
	fails 1 "a sample is 1100, and 10 bits have levels up to 1023: were they scaled?" depthdec above.nrrd -o n.nrrd
	fails 1 "depthcode_layout: must be luma or mwd or fold, not 'holo'" depthdec word.nrrd -o n.nrrd
	fails 1 "depthcode_range: the first depth must be less than the second, not 1 and 1" depthdec range.nrrd -o n.nrrd
	fails 1 "input has no channel chroma_u, only: luma" depthdec mwd.nrrd -o n.nrrd
	fails 2 "--guard: there is no gap with --mask track" depthdec --guard 4 none.nrrd -o n.nrrd
	[ ! -e n.nrrd ]
}

@test "depthdec: mwd of a picture without colour is refused; none valid is no defect of an input of holes" {
	py '
z = np.linspace(1, 39, 64 * 48).astype("f4").reshape(48, 64)
write_frames("in.nrrd", Frame(z, ["depth"]))
write_frames("holes.nrrd", Frame(0 * z + np.nan, ["depth"]))'
	depthenc --depth-range 0,40 in.nrrd | framecat --crf 6 -o luma.mkv -
	ffmpeg -v error -i luma.mkv -map_metadata -1 -pix_fmt yuv420p10le -c:v libx264 -crf 6 bare.mkv
	code="--bits 10 --guard 64 --mask gap --depth-range 0,40"
	fails 1 "--layout: mwd has sine and cosine in its colour planes, and 3072 of 3072 samples have neither" \
		depthdec --layout mwd --fringes 8 $code bare.mkv -o n.nrrd
	silent depthdec --layout luma $code bare.mkv -o out.nrrd
	for crf in -6 28; do
		depthenc --layout mwd --bits 10 --depth-range 0,40 in.nrrd | framecat -f --crf $crf -o mwd.mkv -
		silent depthdec mwd.mkv -o out.nrrd
	done
	may_be_empty depthenc --depth-range 0,40 holes.nrrd -o holes-luma.nrrd
	fails 1 "no pixel of depth is valid" depthdec holes-luma.nrrd -o out.nrrd
	[[ $stderr != *though* ]]
}

# Ties whose numbers single precision holds: M - G is 128, and 3 c is 1 or 2.
@test "depthdec: of two folds as near the one of even k, of two waves the higher, at G / 2 a depth" {
	py '
meta = {"depthcode_bits": "8", "depthcode_range": "0 1", "depthcode_mask": "gap", "depthcode_size": "129 2"}
level = np.tile(np.arange(127, 256), (2, 1))
fold = np.stack([level, np.tile([[85], [170]], 129), level * 0 + 128]).astype("u1")
names = "luma chroma_u chroma_v".split()
write_frames("fold.nrrd", Frame(fold, names, {**meta, "depthcode_layout": "fold", "depthcode_guard": "127", "depthcode_fringes": "3"}))
# of four waves luma says 1/2, 3/2, 5/2, 7/2 and the colours none and half of one; the last wave is the range
waves = np.stack([[[127 + 16 + 32 * k for k in range(4)]] * 2, [[128] * 4] * 2, [[255] * 4, [1] * 4]]).astype("u1")
meta["depthcode_size"] = "4 2"
write_frames("waves.nrrd", Frame(waves, names, {**meta, "depthcode_layout": "mwd", "depthcode_guard": "127", "depthcode_fringes": "4"}))
meta["depthcode_size"] = "4 1"
write_frames("gap.nrrd", Frame(np.array([[[62, 63, 126, 255]]], "u1"), ["luma"], {**meta, "depthcode_layout": "luma", "depthcode_guard": "126"}))'
	for f in fold waves gap; do depthdec -q $f.nrrd -o $f.out.nrrd; done
	py '
q, got = np.arange(129) / 128, read_frame("fold.out.nrrd")["depth"]
want = np.stack([np.where(q == 0, 2, q), 2 + q]) / 3		# folds 0 and 1 are as near, or 0 and 2; folds 2 and 1
expect(abs(got - want) < 7.2e-8, got)
got = read_frame("waves.out.nrrd")["depth"]
expect(abs(got - np.array([[1, 2, 3, 4], [0.5, 1.5, 2.5, 3.5]]) / 4) < 1e-8, got)
got = read_frame("gap.out.nrrd")["depth"][0]
expect(np.isnan(got[0]) and list(got[1:]) == [0, 0, 1], got)'
}

@test "depthdec: halves go upward, and a depth just outside of the range is its end" {
	py 'write_frames("in.nrrd", Frame(np.array([[0.5, -9e-6, -2e-5, 0, 1, 1 + 9e-6, 1 + 2e-5]], "f4"), ["depth"]))'
	depthenc -q --layout luma --bits 8 --guard 16 --depth-range 0,1 in.nrrd -o out.nrrd
	py '
level = read_frame("out.nrrd")["luma"][0]
expect(list(level) == [136, 16, 0, 16, 255, 255, 0], level)'
}

@test "depthdec: a texture in colour below, of a video without keys: three names find it, one is refused" {
	py '
y, x = np.mgrid[:48, :64].astype("f4")
write_frames("in.nrrd", Frame(np.stack([1500 + 9 * x, 4 * x, 5 * y, 0 * x + 60]), ["depth", "r", "g", "b"], {"z_axis": "away"}))'
	depthenc --depth-range 900,3000 --texture r,g,b in.nrrd -o code.nrrd
	py '
f = read_frame("code.nrrd")
write_frames("bare.nrrd", Frame(f.pixels, f.names, {"max_value": f.meta["max_value"]}))'
	keys="--layout luma --bits 10 --depth-range 900,3000 --mask gap --guard 64"
	depthdec code.nrrd -o want.nrrd
	# shellcheck disable=SC2086
	{
		depthdec $keys --texture r,g,b bare.nrrd -o out.nrrd
		fails 1 "--texture: the texture below is in colour, of levels from " depthdec $keys --texture tex bare.nrrd -o x.nrrd
		framecat --crop 0,0,64,96 bare.nrrd -o cut.nrrd
		fails 2 "--texture: must be the name of a channel" depthdec $keys --texture r,r,b bare.nrrd -o x.nrrd
		fails 1 "--texture: a picture of 96 rows has no texture in colour below" depthdec $keys --texture r,g,b cut.nrrd -o x.nrrd
	}
	framecmp want.nrrd out.nrrd
	fails 2 "--texture: must be the name of a channel" depthdec --texture r,g bare.nrrd -o x.nrrd
}
