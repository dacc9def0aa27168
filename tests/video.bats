# Videos as a file format, by ffmpeg as a child process; see frame(5), Files of video.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
}

tools='
def sequence(path, channels, bits=8, frames=3, w=64, h=64, most=True, names=None, **keys):
	rng = np.random.default_rng(channels * 100 + bits)
	y, x = np.mgrid[0:h, 0:w]
	out = []
	for k in range(frames):
		noise = rng.integers(0, 2 ** bits, (channels, h, w))
		smooth = ((np.sin(x / 9 + k) + np.cos(y / 7 - k)) / 4 + 0.5) * (2 ** bits - 1)
		pixels = np.where(x < w // 2, noise, np.round(smooth)).astype("u1" if bits == 8 else "u2")
		meta = {key: value[k] if isinstance(value, list) else value for key, value in keys.items()}
		if most and bits not in (8, 16):
			meta["max_value"] = str(2 ** bits - 1)
		out.append(Frame(pixels, names or {3: ["luma", "chroma_u", "chroma_v"], 4: ["r", "g", "b", "a"]}.get(channels), meta))
	write_frames(path, out)

def halved(plane, along_y):
	h, w = plane.shape
	padded = np.pad(plane.astype(int), ((0, h % 2), (0, w % 2)), mode="edge")
	left, right = padded[:, 0::2], padded[:, 1::2]
	up = np.indices(left[:h].shape if not along_y else left[0::2].shape).sum(0) % 2	# of halves every other one
	if not along_y:
		return ((left + right)[:h] + up) // 2
	return (left[0::2] + left[1::2] + right[0::2] + right[1::2] + 1 + up) // 4

def doubled(plane, h, w, along_y):
	"""Weights 3/4 and 1/4 along both axes, halves rounded up in odd columns."""
	def along(v, axis):
		v = np.moveaxis(v, axis, 0)
		out = np.empty((2 * len(v),) + v.shape[1:], int)
		out[0::2] = 3 * v + np.concatenate([v[:1], v[:-1]])
		out[1::2] = 3 * v + np.concatenate([v[1:], v[-1:]])
		return np.moveaxis(out, 0, axis)
	wide = along(plane, 1)
	both = along(wide, 0) if along_y else 4 * wide
	return ((both + 7 + np.arange(both.shape[1]) % 2) // 16)[:h, :w]
'

@test "video: without loss every sample comes back, of 8, 10, 12 and 16 bits" {
	py "$tools"'
for channels, bits in (1, 8), (1, 10), (1, 12), (1, 16), (3, 8), (3, 10), (3, 12), (4, 8):
	sequence(f"{channels}-{bits}.nrrd", channels, bits)
sequence("rgb-8.nrrd", 3, names=["r", "g", "b"])
sequence("rgb-10.nrrd", 3, 10, names=["r", "g", "b"])'
	for case in h264/{1-8,1-10,3-8,3-10,rgb-8} hevc/{1-8,1-10,1-12,3-8,3-12,rgb-10} ffv1/{1-8,1-10,1-12,1-16,3-8,3-12,4-8,rgb-8,rgb-10} \
		png/{1-8,1-16,4-8,rgb-8} av1/1-10; do
		silent framecat -f --video "${case%/*}" --lossless "${case#*/}.nrrd" -o o.mkv
		silent framecmp "${case#*/}.nrrd" o.mkv
	done
	silent framecat -f --video qtrle 4-8.nrrd -o o.mov
	silent framecmp 4-8.nrrd o.mov
}

@test "video: colour of half resolution is what means leave, and is read back by a triangle filter" {
	py "$tools"'
sequence("even.nrrd", 3)
sequence("odd.nrrd", 3, 10, w=63, h=37)'
	for case in h264/even/422 h264/even/420 h264/odd/420 hevc/odd/422 ffv1/odd/420; do
		IFS=/ read -r video name chroma <<<"$case"
		silent framecat -f --video "$video" --lossless --chroma "$chroma" "$name.nrrd" -o o.mkv
		framecat o.mkv >o.nrrd
		py "$tools"'
along_y = sys.argv[1] == "420"
for a, b in zip(read_frames(sys.argv[2]), read_frames("o.nrrd"), strict=True):
	assert a.names == b.names and a.pixels.shape == b.pixels.shape, b.pixels.shape
	assert (a["luma"] == b["luma"]).all()
	for name in "chroma_u", "chroma_v":
		h, w = a[name].shape
		expect((doubled(halved(a[name], along_y), h, w, along_y) == b[name]).all(), name)' "$chroma" "$name.nrrd"
	done
	# what a decoder that is not ours reads
	framecat -f --lossless --chroma 420 even.nrrd -o o.mp4
	[ "$(ffprobe -v error -of csv=p=0 -show_entries stream=pix_fmt,color_range,chroma_location o.mp4)" = yuvj420p,pc,center ]
	ffmpeg -v error -i o.mp4 -f rawvideo -pix_fmt yuvj420p o.yuv
	py "$tools"'
raw = np.fromfile("o.yuv", "u1").reshape(3, -1)
for k, frame in enumerate(read_frames("even.nrrd")):
	planes = [frame["luma"], halved(frame["chroma_u"], True), halved(frame["chroma_v"], True)]
	expect((np.concatenate([p.ravel() for p in planes]) == raw[k]).all(), k)'
}

@test "video: one channel has flat colour, so that browsers show it" {
	py "$tools"'sequence("one.nrrd", 1)'
	framecat --lossless one.nrrd -o o.mp4
	ffmpeg -v error -i o.mp4 -f rawvideo -pix_fmt yuvj420p o.yuv
	py 'raw = np.fromfile("o.yuv", "u1").reshape(3, -1)
for k, frame in enumerate(read_frames("one.nrrd")):
	expect((raw[k, :4096] == frame.pixels.ravel()).all() and (raw[k, 4096:] == 128).all(), k)'
}

@test "video: keys come back from all four containers, time from the speed, and those of the first frame once" {
	py "$tools"'
sequence("a.nrrd", 1, 10, 5, 63, 41, time_s=["%.9g" % (7 + k / 25) for k in range(5)], name=list("abcde"),
	holo_check=list("vwxyz"), period_px="36 41.5", note="a = b; c # d \\\\ e:f [g] \u00e9", **{"cmd.1": "fringesim --seed=1"})'
	for suffix in mkv mp4 mov nut; do
		framecat --lossless a.nrrd -o "o.$suffix"
		framecat "o.$suffix" >o.nrrd
		py '
for k, (a, b) in enumerate(zip(read_frames("a.nrrd"), read_frames("o.nrrd"), strict=True)):
	want = {key: v for key, v in a.meta.items() if k == 0 or key not in ("name", "holo_check")}
	got = {key: v for key, v in b.meta.items() if key not in ("cmd.2", "cmd.3")}
	expect(abs(float(want.pop("time_s")) - float(got.pop("time_s"))) < 1e-9, k)
	expect(want == got and a.names == b.names, want, got, b.names)
	assert (a.pixels == b.pixels).all()'
		[ "$(ffprobe -v error -of csv=p=0 -show_entries stream=r_frame_rate "o.$suffix")" = 25/1 ]
	done
	# a tag that somebody set is a key; a bare file has names by its planes
	ffmpeg -v error -i o.mkv -c copy -map_metadata -1 bare.mkv
	framecat bare.mkv --frames 0 >bare.nrrd
	py 'frame = read_frames("bare.nrrd")[0]
expect(frame.names == ["luma", "chroma_u", "chroma_v"] and frame.pixels.shape == (3, 42, 64), frame.names, frame.pixels.shape)'
	ffmpeg -v error -i bare.mkv -c copy -metadata Depth_Range="1 2" set.mkv
	[ "$(frameinfo -k depth_range set.mkv | sort -u)" = "1 2" ]
	# --fps comes before time_s
	framecat --fps 12.5 a.nrrd -o slow.mkv
	[ "$(ffprobe -v error -of csv=p=0 -show_entries stream=r_frame_rate slow.mkv)" = 25/2 ]
}

@test "video: a channel mask is a second track without loss, beside whatever the first one is coded as" {
	py '
rng = np.random.default_rng(3)
y, x = np.mgrid[:37, :63]
def masked(path, channels, bits):
	frames = []
	for k in range(5):
		planes = rng.integers(0, 2 ** bits, (channels, 37, 63))
		mask = (((x - 30 - k) ** 2 + (y - 18) ** 2 < 200) | (rng.random(x.shape) < 0.05))[None]
		frames.append(Frame(np.concatenate([planes, mask]).astype("u1" if bits == 8 else "u2"),
			["luma", "chroma_u", "chroma_v"][:channels] + ["mask"], {"max_value": str(2 ** bits - 1)} if bits > 8 else {}))
	write_frames(path, frames)
masked("1-8.nrrd", 1, 8); masked("1-10.nrrd", 1, 10); masked("1-12.nrrd", 1, 12); masked("3-8.nrrd", 3, 8)'
	for case in mkv/h264/1-8 mp4/h264/1-10 mov/hevc/1-10 nut/ffv1/1-12 mkv/hevc/1-12 mp4/av1/1-10 mkv/h264/3-8 mkv/hevc/3-8; do
		IFS=/ read -r suffix video name <<<"$case"
		silent framecat -f --video $video --lossless $name.nrrd -o o.$suffix
		silent framecmp $name.nrrd o.$suffix
	done
	framecat -f --crf 30 1-10.nrrd -o o.mkv
	framecat o.mkv >o.nrrd
	py '
for a, b in zip(read_frames("1-10.nrrd"), read_frames("o.nrrd")):
	expect(a["mask"] == b["mask"]); expect((a["luma"] != b["luma"]).any())'
	# players show the first track, and take the second one for none of theirs
	run -0 ffprobe -v error -of csv=p=0 -show_entries stream=width,height:stream_disposition=default o.mkv
	[ "${lines[0]}" = "64,38,1" ]
	[ "${lines[1]}" = "64,38,0" ]
	fails 1 "n.mkv: a mask goes beside h264, hevc, av1 and ffv1, not mjpeg" framecat --video mjpeg 1-8.nrrd -o n.mkv
	[ ! -e n.mkv ]
}

@test "video: a channel texture is a track of its own, alone and behind a mask, with a loss of its own" {
	py '
rng = np.random.default_rng(3)
y, x = np.mgrid[:37, :63]
for channels, bits, mask in (1, 8, 0), (1, 10, 1), (1, 12, 1), (3, 8, 1), (3, 10, 0):
	frames = []
	for k in range(4):
		planes = list(rng.integers(0, 2 ** bits, (channels, 37, 63))) + [rng.random(x.shape) < 0.5] * mask + [(63 * y + x + 9 * k) % 256]
		frames.append(Frame(np.stack(planes).astype("u1" if bits == 8 else "u2"), ["luma", "chroma_u", "chroma_v"][:channels] +
			["mask"] * mask + ["texture"], {"max_value": str(2 ** bits - 1)} if bits > 8 else {}))
	write_frames(f"{channels}-{bits}.nrrd", frames)
smooth = 128 + 90 * np.sin(x / 9) * np.cos(y / 7)
write_frames("smooth.nrrd", Frame(np.stack([500 + x, smooth]).astype("u2"), ["luma", "texture"], {"max_value": "1023"}))
write_frames("wide.nrrd", Frame(np.full((2, 4, 4), 256, "u2"), ["luma", "texture"], {"max_value": "1023"}))
write_frames("mask.nrrd", Frame(np.full((2, 4, 4), 2, "u1"), ["luma", "mask"]))'
	for case in mkv/h264/1-8 mp4/h264/1-10 mov/hevc/1-12 nut/ffv1/1-12 mkv/av1/1-10 mkv/hevc/3-8 mp4/h264/3-10; do
		IFS=/ read -r suffix video name <<<"$case"
		silent framecat -f --video $video --lossless $name.nrrd -o o.$suffix
		silent framecmp $name.nrrd o.$suffix
	done
	# what a decoder that is not ours reads
	framecat -f --lossless 1-10.nrrd -o o.mkv
	ffmpeg -v error -i o.mkv -map 0:v:2 -vf extractplanes=y -f rawvideo -pix_fmt gray o.gray
	py 'raw = np.fromfile("o.gray", "u1").reshape(-1, 38, 64)
for k, frame in enumerate(read_frames("1-10.nrrd")):
	expect(raw[k, :37, :63] == frame["texture"])'
	ffmpeg -v error -i o.mkv -map 0:v:0 -map 0:v:1 -c copy two.mkv
	fails 1 "two.mkv: the channel texture is missing: the video has no third track of the same size any more" framecat two.mkv -o null:
	# nor is a texture in colour grey when another program took the colours away
	py 'write_frames("coloured.nrrd", Frame(np.full((4, 38, 64), 90, "u1"), ["luma", "texture", "texture_u", "texture_v"]))'
	framecat coloured.nrrd -o coloured.mkv
	ffmpeg -v error -i coloured.mkv -map 0 -c copy -c:v:1 ffv1 -pix_fmt:v:1 gray grey.mkv
	fails 1 "grey.mkv: the second track, the texture in colour, was coded again without colours" framecat grey.mkv -o null:
	# the losses of both tracks are apart
	for crf in 0/0 0/40 30/0; do framecat --crf ${crf%/*} --texture-crf ${crf#*/} smooth.nrrd -o ${crf/\//-}.mkv; done
	py '
def read(path): return read_frame(path)
import subprocess
want = read("smooth.nrrd")
def off(path):
	subprocess.run(["framecat", "-f", path, "-o", "off.nrrd"], check=True)
	return [np.abs(read("off.nrrd")[name].astype(int) - want[name]).max() for name in want.names]
(a, b), (c, d), (e, f) = off("0-0.mkv"), off("0-40.mkv"), off("30-0.mkv")
expect(b == 0 and f == 0 and d > 8 and a == c and e > 2 * a, a, b, c, d, e, f)'
	fails 2 "--texture-crf: is of a channel texture beside luma" framecat --texture-crf 1 --channels luma smooth.nrrd -o n.mkv
	fails 2 "--texture-crf: and --lossless exclude each other" framecat --texture-crf 1 --lossless smooth.nrrd -o n.mkv
	fails 1 "n.mkv: a texture goes beside h264, hevc, av1 and ffv1, not png" framecat --video png 1-8.nrrd --channels luma,texture -o n.mkv
	fails 1 "n.mkv: frame 0 has a texture of up to 256, and its track holds up to 255" framecat wide.nrrd -o n.mkv
	fails 1 "n.mkv: frame 0 has a mask of up to 2, and its track holds up to 1" framecat mask.nrrd -o n.mkv
	[ ! -e n.mkv ]
}

@test "video: options reach the encoder, and each coding takes those that it has" {
	py "$tools"'
sequence("g.nrrd", 1, 10)
sequence("y.nrrd", 3)'
	for crf in -6 6 30; do framecat --crf "$crf" g.nrrd -o "g$crf.mkv"; done
	py 'import os
sizes = [os.path.getsize(f"g{crf}.mkv") for crf in (-6, 6, 30)]
expect(sizes[0] > 1.2 * sizes[1] > 1.5 * sizes[2], sizes)'
	framecat --preset ultrafast y.nrrd -o fast.mkv
	framecat --preset slow y.nrrd -o slow.mkv
	run ! cmp -s fast.mkv slow.mkv
	fails 2 "--crf: h264 of 8 bits takes 0 to 51, not -1" framecat --crf -1 y.nrrd -o n.mkv
	fails 2 "--crf: and --lossless exclude each other" framecat --crf 1 --lossless y.nrrd -o n.mkv
	fails 2 "--crf: ffv1 loses nothing, and has none" framecat --video ffv1 --crf 1 y.nrrd -o n.mkv
	fails 2 "--preset: ffv1 has none" framecat --video ffv1 --preset slow y.nrrd -o n.mkv
	fails 2 "--lossless: mjpeg cannot" framecat --video mjpeg --lossless y.nrrd -o n.mkv
	fails 2 "n.mkv: qtrle is held by .mov files alone" framecat --video qtrle y.nrrd -o n.mkv
	fails 2 "n.mp4: MP4 holds no ffv1: .mkv does" framecat --video ffv1 y.nrrd -o n.mp4
	fails 1 "n.mkv: ffmpeg: x264 [error]: invalid preset 'nosuch'" framecat --preset nosuch y.nrrd -o n.mkv
	[ ! -e n.mkv ]
}

@test "video: joined files are an error, and frames without times have none from files and pipes alike" {
	local suffix
	py "$tools"'sequence("a.nrrd", 1, frames=3)'
	for suffix in mkv mp4; do
		framecat --lossless a.nrrd -o a.$suffix
		ffmpeg -v error -i a.$suffix -c copy -map_metadata -1 bare.$suffix
		cat bare.$suffix bare.$suffix >two.$suffix
		fails 1 "two.$suffix: another file begins at byte $(wc -c <bare.$suffix), and would not be read: ffmpeg -f concat joins videos" \
			framecat two.$suffix -o null:
	done
	from_pipe() { cat "$1" | framecat -q -o null:; }
	fails 1 "standard input: another file begins at byte" from_pipe two.mkv
	(cat bare.mkv; seq 20) >behind.mkv
	fails 1 "standard input: bytes behind its end, from $(wc -c <bare.mkv) on, are no video" from_pipe behind.mkv
	fails 1 "behind.mkv: bytes behind its end" framecat behind.mkv -o null:
	for suffix in a bare; do
		framecat -q $suffix.mkv -o file.nrrd -f
		cat $suffix.mkv | framecat -q -o pipe.nrrd -f
		py 'for name in "file", "pipe":
	times = [f.meta.get("time_s") for f in read_frames(name + ".nrrd")]
	expect(times == ([None] * 3 if sys.argv[1] == "a" else times) and (len(set(times)) == 3) == (sys.argv[1] == "bare"), name, times)' $suffix
	done
}

@test "video: frames that no video holds are refused, with what does" {
	fringegen -k dither -n 3 -p 9 -s 32x32 --pack planes24 -o bits.nrrd
	fails 1 "bits.mkv: patterns of --pack planes24 are single bits, which a loss changes: give --lossless" framecat bits.nrrd -o bits.mkv
	framecat --lossless bits.nrrd -o bits.mkv
	py "$tools"'
sequence("y.nrrd", 3)
sequence("g12.nrrd", 1, 12)
sequence("g16.nrrd", 1, 16)
sequence("two.nrrd", 2)
sequence("small.nrrd", 1, 8, 1, 32, 32)
sequence("depths.nrrd", 1, holo_depth_range=["1 2", "1 2", "1 3"])
sequence("others.nrrd", 1, exposure_s=["1", "1", "2"])
sequence("above.nrrd", 1, 16, most=False, max_value="1023")
write_frames("f.nrrd", [Frame(np.zeros((1, 4, 4), "f4"))])'
	fails 1 "n.mkv: a video holds 8 to 16 bits a sample, not float" framecat f.nrrd -o n.mkv
	fails 1 "n.mkv: h264 holds no frames of 1 channels of 12 bits; ffv1 holds most" framecat g12.nrrd -o n.mkv
	fails 1 "framecat --set max_value=4095" framecat --video hevc g16.nrrd -o n.mkv
	fails 1 "a video's frames have one channel, or luma chroma_u chroma_v, or r g b, not 2 channels image1 ..." \
		framecat two.nrrd -o n.mkv
	fails 1 "frame 3 is 32x32, the first 64x64: one video has one size" framecat others.nrrd small.nrrd -q -o n.mkv
	fails 1 "frame 2 has another holo_depth_range than the first: one video has one" framecat depths.nrrd -o n.mkv
	fails 1 "frame 0 has samples up to 65" framecat above.nrrd -o n.mkv
	[ ! -e n.mkv ]
	# scenes of different depths, coded by one range
	py '
z = np.arange(96, dtype="f4").reshape(8, 12)
write_frames("scenes.nrrd", [Frame(z, ["depth"], {"depth_range": "0 %d" % (96 + k)}) for k in range(2)])'
	for coder in "depthenc depthdec" "holoenc holodec"; do
		read -r encode decode <<<"$coder"
		silent "$encode" --depth-range 0,97 scenes.nrrd -o scenes.mkv
		"$decode" scenes.mkv >scenes.back.nrrd
		run -0 --separate-stderr frameinfo -k depth_range scenes.back.nrrd
		[ "$output" = $'0 97\n0 97' ]
		[ -z "$stderr" ]
	done
	fails 1 "frame 1 has another depthcode_range than the first: one video has one" depthenc scenes.nrrd -o n.mkv
	framecat others.nrrd -o n.mkv 2>messages
	has "n.mkv: key exposure_s changes at frame 2: the video has that of its first frame for all" <messages
	framecat --set exposure_s=3 --frames 0 others.nrrd -o three.nrrd
	framecat three.nrrd others.nrrd -o n.mkv 2>messages
	has "n.mkv: key exposure_s differs from frame to frame: of such keys the video has those of its first frame, and later" <messages
}

@test "video: damaged files end in one line, and no made-up frame goes on unsaid" {
	py "$tools"'sequence("y.nrrd", 3, frames=12)'
	for suffix in mkv mp4 nut; do
		# NUT has no sum of its own: ffv1 has, h264 in it has none
		framecat --video "$([ "$suffix" = nut ] && echo ffv1 || echo h264)" y.nrrd -o "o.$suffix"
		size=$(stat -c %s "o.$suffix")
		for bytes in 0 5 40 $((size / 3)) $((size - 40)) $((size - 1)); do
			head -c "$bytes" "o.$suffix" >"cut.$suffix"
			fails 1 "cut.$suffix: " framecat "cut.$suffix" -o null:
		done
		# bytes in the middle of the pictures
		py 'data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) // 2 : len(data) // 2 + 200] = b"x" * 200
open(sys.argv[2], "wb").write(data)' "o.$suffix" "flipped.$suffix"
		fails 1 "flipped.$suffix: " framecat "flipped.$suffix" -o null:
		[ "$suffix" = nut ] || [[ $stderr == *"is damaged: its check sum is "* ]]
	done
	# the tag of the first frame's luma, as the page says it; a file that was cut begins with another picture
	framecat --video ffv1 y.nrrd -o f.mkv
	[ "$(ffprobe -v error -of csv=p=0 -show_entries format_tags=VIDEO_CHECK f.mkv)" = "$(py '
i = (2 * np.arange(8) + 1) * 64 // 16
print("".join("%02x" % v for v in read_frames("y.nrrd")[0]["luma"][np.ix_(i, i)].ravel()))')" ]
	ffmpeg -v error -ss 0.2 -i f.mkv -c copy late.mkv
	run -0 framecat late.mkv -o late.nrrd
	[ "$output" = "framecat: late.mkv: the first picture is not the one that was written: the video was cut, or another program changed its pictures" ]
	framecmp <(framecat --frames 6- y.nrrd) late.nrrd
	# players pass over the sum, and a copy that another program made has none
	ffmpeg -v error -xerror -i o.mkv -c copy copy.mkv
	silent framecmp o.mkv copy.mkv
	ffmpeg -v error -f lavfi -i anullsrc -t 0.1 -c:a flac sound.mkv
	fails 1 "sound.mkv: holds no pictures" framecat sound.mkv -o null:
}

@test "video: pictures that mean something else are refused or warned of" {
	# another size in the middle: two streams of MPEG-TS, copied into one file
	for size in 64x64 32x48; do
		ffmpeg -v error -f lavfi -i "testsrc=size=$size:rate=30" -frames:v 4 -c:v libx264 -x264-params repeat-headers=1 \
			-pix_fmt yuv420p "$size.ts"
	done
	cat 64x64.ts 32x48.ts >both.ts
	ffmpeg -v error -i both.ts -c copy both.mkv
	fails 1 "both.mkv: pictures are not 64x64" framecat -q both.mkv -o null:
	ffmpeg -v error -f lavfi -i testsrc=size=64x64:rate=30 -frames:v 3 -c:v libx264 -pix_fmt yuv420p -flags +ilme+ildct \
		-top 1 -x264-params tff=1 interlaced.mkv
	fails 1 "interlaced.mkv: is an interlaced video" framecat interlaced.mkv -o null:
	ffmpeg -v error -f lavfi -i testsrc=size=64x64:rate=30 -frames:v 3 -c:v libx265 -x265-params log-level=none \
		-pix_fmt yuv420p10le -color_trc smpte2084 hdr.mkv
	fails 1 "hdr.mkv: is an HDR video (smpte2084)" framecat hdr.mkv -o null:
	ffmpeg -v error -f lavfi -i testsrc=size=64x64:rate=30 -frames:v 3 -c:v ffv1 -pix_fmt yuv410p other.mkv
	fails 1 "other.mkv: has pictures of ffmpeg's format yuv410p, which is not read" framecat other.mkv -o null:
	ffmpeg -v error -f lavfi -i testsrc=size=64x64:rate=30 -frames:v 3 -c:v libx264 -pix_fmt yuv420p -color_range tv limited.mkv
	framecat limited.mkv -o null: 2>messages
	has "limited.mkv: the video's levels are of limited range (16 to 235 in 8 bits): they come as they are" <messages
	# a Holoimage whose levels somebody scaled
	py 'y, x = np.mgrid[0:96, 0:128]
square = 40 ** 2 - (x - 60) ** 2 - (y - 48) ** 2
write_frames("depth.nrrd", [Frame(np.where(square > 0, 100 - np.sqrt(np.maximum(square, 0)), np.nan).astype("f4"), ["depth"])])'
	holoenc -q --layout yuv depth.nrrd >holo.nrrd
	framecat holo.nrrd holo.nrrd -o holo.mkv
	holodec -q holo.mkv >kept.nrrd
	ffmpeg -v error -i holo.mkv -vf scale=in_range=pc:out_range=tv -pix_fmt yuv444p -c:v ffv1 scaled.mkv
	run ! holodec -q scaled.mkv -o n.nrrd
}

@test "video: a first picture that another program negated, turned or moved is told by the tag, and one of much loss is not" {
	py 'y, x = np.mgrid[0:96, 0:128]
def frame(k):
	return Frame(np.round(200 + 700 * x / 127 * (1 - y / 190) + 60 * np.sin((x + k) / 9)).astype("u2"), ["luma"], {"max_value": "1023"})
write_frames("a.nrrd", [frame(0), frame(1)])
square = [np.where((x - 40) ** 2 + (y - 50) ** 2 < 900, 900 - 3 * y, 0)]
write_frames("gap.nrrd", [Frame(p.astype("u2"), ["luma"], {"max_value": "1023"}) for p in square * 2])'
	for name in a gap; do
		for video in h264 hevc av1; do
			silent framecat -f --video $video --crf 51 $name.nrrd -o $name.mkv
			silent framecat $name.mkv -o null:
		done
		framecat -f --video ffv1 $name.nrrd -o $name.mkv
		silent framecat $name.mkv -o null:
	done
	turned="framecat: n.mkv: another program mirrored or turned the video's pictures: they come as they are"
	while IFS='|' read -r filter message; do
		ffmpeg -nostdin -v error -y -i a.mkv -vf "$filter" -c:v ffv1 n.mkv
		run -0 framecat n.mkv -o null:
		[ "$output" = "$message" ]
	done <<-EOF
		negate|framecat: n.mkv: another program negated the video's levels: they come as they are
		hflip|$turned
		vflip|$turned
		hflip,vflip|$turned
		transpose|$turned
		crop=64:96:64:0,pad=128:96|framecat: n.mkv: the first picture is not the one that was written: the video was cut, or another program changed its pictures
	EOF
	# the key with which depthdec refuses
	ffmpeg -v error -y -i a.mkv -vf negate -c:v ffv1 n.mkv
	framecat -q n.mkv -o n.nrrd
	head -c 1000 n.nrrd | has -a "^video_range:=negated"
}

@test "video: a copy that lost its tags gives the mask by what the second track holds, and warns of any other" {
	py 'y, x = np.mgrid[0:48, 0:64]
depth = [Frame(np.where((x - 30 - k) ** 2 + (y - 24) ** 2 < 300, 10.0 + y, np.nan).astype("f4"), ["depth"]) for k in range(3)]
write_frames("depth.nrrd", depth)
write_frames("texture.nrrd", [Frame(np.stack([x + y, 2 * x]).astype("u1"), ["luma", "texture"])] * 2)'
	depthenc --mask track --bits 10 --depth-range 0,80 depth.nrrd -o at.mkv
	ffmpeg -v error -i at.mkv -map 0 -c copy at.mp4
	how=(--layout luma --bits 10 --depth-range 0,80)
	told="depthdec: at.mp4: has no tags that name its tracks: the second one, of 0 and 1, is taken for the channel mask"
	run -0 depthdec "${how[@]}" --mask track at.mp4 -o track.nrrd
	[ "$output" = "$told" ]
	framecmp <(depthdec at.mkv) track.nrrd
	run -0 depthdec "${how[@]}" --mask gap --guard 8 at.mp4 -o gap.nrrd
	[ "${lines[0]}" = "$told" ]
	# the second track is no mask, or there is none
	framecat --lossless texture.nrrd -o texture.mkv
	ffmpeg -v error -i texture.mkv -map 0 -c copy texture.mp4
	run -0 framecat texture.mp4 -o null:
	[ "$output" = "framecat: texture.mp4: has another track of the same size, and no tags that name it: the first is read alone (ffmpeg -map 0:v:1 takes the second one out)" ]
	ffmpeg -v error -i at.mkv -map 0:v:0 -c copy one.mp4
	fails 1 "there is no channel mask: the video has no second track that is known for a mask" \
		depthdec "${how[@]}" --mask track one.mp4 -o n.nrrd
}

@test "video: stamps that do not rise, a rate that changes, and a cover beside the pictures" {
	py "$tools"'
sequence("fast.nrrd", 1, frames=9, time_s=["%.9g" % (1 + k / 2400) for k in range(9)])
sequence("slow.nrrd", 1, frames=9, time_s=["%.9g" % (1 + k / 30) for k in range(9)])'
	framecat --lossless fast.nrrd -o fast.mkv
	framecat --lossless slow.nrrd -o slow.mkv
	# every third frame is missing, and a cover is a second track of one picture
	ffmpeg -v error -i slow.mkv -vf 'select=mod(n\,3)' -fps_mode passthrough -c:v ffv1 uneven.mkv
	ffmpeg -v error -f lavfi -i color=red:size=64x64 -frames:v 1 cover.png
	ffmpeg -v error -i slow.mkv -i cover.png -map 0 -map 1 -c copy -movflags use_metadata_tags -disposition:v:1 attached_pic cover.mp4
	silent framecmp fast.nrrd fast.mkv
	silent framecmp slow.nrrd cover.mp4
	framecat -q uneven.mkv -o uneven.nrrd
	py '
times = [float(f.meta["time_s"]) for f in read_frames("uneven.nrrd")]
wanted = [1 + k / 30 - 1 / 30 for k in range(9) if k % 3]
expect(len(times) == 6 and np.abs(np.array(times) - wanted).max() < 2e-3, times)'
}

@test "video: ffmpeg is missing, named, killed or failing: one line, and no half file" {
	py "$tools"'sequence("y.nrrd", 3, frames=40)'
	fails 1 "o.mkv: a video needs ffmpeg, which is not there: install the package ffmpeg" \
		env PATH=/none "$(command -v framecat)" not-there.nrrd -o o.mkv
	fails 1 "o.mkv: ffmpeg is not there: FRINGEPIPE_FFMPEG is /none/ffmpeg" \
		env FRINGEPIPE_FFMPEG=/none/ffmpeg framecat y.nrrd -o o.mkv
	export FRINGEPIPE_FFMPEG=$PWD/ffmpeg
	fake() {
		printf '#!/bin/bash\n%s\n' "$1" >ffmpeg
		chmod +x ffmpeg
	}
	fake 'head -c 50000 >/dev/null; echo the first >&2; echo the last >&2; exit 3'
	fails 1 "o.mkv: ffmpeg: the first ... the last" framecat y.nrrd -o o.mkv
	fake 'head -c 50000 >/dev/null; kill -9 $$'
	fails 1 "o.mkv: ffmpeg was ended by signal 9 (Killed)" framecat y.nrrd -o o.mkv
	fake 'exit 1'
	fails 1 "o.mkv: ffmpeg failed with status 1, and without a message" framecat y.nrrd -o o.mkv
	# one that ends well and leaves no video
	fake 'cat >/dev/null'
	fails 1 "o.mkv: ffmpeg ended before the video" framecat y.nrrd -o o.mkv
	fails 1 "o.mp4: ffmpeg ended before the video" framecat y.nrrd -o o.mp4
	# its descriptors are its own: the pipes, the file and the keys
	with_others() { "$@" 7</dev/null 8</dev/null; }
	limited() { (ulimit -f 1 && framecat -f --video ffv1 y.nrrd -o o.mkv); }
	# shellcheck disable=SC2016
	fake 'for n in {0..60}; do [ -e /proc/$$/fd/$n ] && list+=" $n"; done; echo "has$list" >&2; cat >/dev/null; exit 1'
	fails 1 "ffmpeg: has 0 1 2 3 4" with_others framecat y.nrrd -o o.mkv
	[[ $stderr == *"has 0 1 2 3 4" ]]
	silent find . -name '*o.mkv*'
	unset FRINGEPIPE_FFMPEG
	run limited
	[ "$status" -ne 0 ]
	silent find . -name '*o.mkv*'
}

@test "video: an ffmpeg that hangs ends with the tool that a signal ends, and leaves no half file" {
	py "$tools"'sequence("y.nrrd", 1, frames=9)'
	framecat y.nrrd -o good.mkv
	# shellcheck disable=SC2016
	printf '#!/bin/bash\necho $$ >>pids\nexec sleep 1000\n' >ffmpeg
	chmod +x ffmpeg
	FRINGEPIPE_FFMPEG=$PWD/ffmpeg py '
import os, signal, subprocess, time
def started():
	return len(open("pids").read().split()) if os.path.exists("pids") else 0
n = 0
for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
	for words in ["y.nrrd", "-o", "o.mkv"], ["good.mkv", "-o", "o.nrrd"]:
		# bash lets what it starts in the background ignore SIGINT
		tool = subprocess.Popen(["framecat", *words], preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
		n += 1
		while started() < n:
			expect(tool.poll() is None, words)
			time.sleep(0.02)
		tool.send_signal(number)
		expect(tool.wait(20) == -number, number, words)
for pid in open("pids").read().split():
	expect(not os.path.exists("/proc/" + pid), subprocess.run(["ps", "-lp", pid], capture_output=True, text=True).stdout)'
	silent find . -name '*o.mkv*' -o -name '*o.nrrd*'
	# what a script leaves behind is not waited for, though it has the messages' pipe open
	# shellcheck disable=SC2016
	printf '#!/bin/bash\nsleep 1000 &\necho $! >behind\ncat >/dev/null\necho broken >&2\nexit 1\n' >ffmpeg
	FRINGEPIPE_FFMPEG=$PWD/ffmpeg fails 1 "o.mkv: ffmpeg: broken" framecat y.nrrd -o o.mkv
	kill "$(cat behind)"
}

@test "video: a playlist disguised as a video opens no other file" {
	py "$tools"'sequence("y.nrrd", 1, frames=5)'
	framecat y.nrrd -o o.mkv
	ffmpeg -v error -i o.mkv -c copy -movflags +dash secret.mp4
	# as a box, its first bytes are all of a file of 151,600,191 bytes
	py 'import os
text = "\t\t<?ftypjp2 x?><MPD profiles=%r type=%r mediaPresentationDuration=%r><Period><AdaptationSet mimeType=%r>" \
	"<Representation id=%r bandwidth=%r><BaseURL>file://%s</BaseURL></Representation></AdaptationSet></Period></MPD>\n" % (
	"urn:mpeg:dash:profile:isoff-main:2011", "static", "PT1S", "video/mp4", "1", "1000", os.path.abspath("secret.mp4"))
open("guise.mp4", "w").write(text)
os.truncate("guise.mp4", int.from_bytes(text[:4].encode(), "big"))'
	[[ $(ffprobe -v error -protocol_whitelist file,pipe guise.mp4 -show_entries stream=codec_name -of csv=p=0) == *h264* ]]
	fails 1 "framecat: guise.mp4: ffmpeg: " framecat guise.mp4 -o null:
	# nor a pipe, where it would wait for a writer
	rm secret.mp4
	mkfifo secret.mp4
	fails 1 "framecat: guise.mp4: ffmpeg: " timeout 20 framecat guise.mp4 -o null:
}

@test "video: an ffmpeg that gives nothing for 30 s ends the run" {
	py "$tools"'sequence("y.nrrd", 1, frames=5)'
	framecat y.nrrd -o o.mkv
	printf '#!/bin/bash\nexec sleep 1000\n' >hangs
	chmod +x hangs
	FRINGEPIPE_FFMPEG=$PWD/hangs fails 1 "framecat: o.mkv: ffmpeg does nothing for 30 s" timeout 60 framecat o.mkv -o null:
}

@test "video: a reader that stops early leaves no child, and a pipe is as good as a file" {
	py "$tools"'sequence("y.nrrd", 3, frames=90, w=256, h=256)'
	framecat --preset ultrafast y.nrrd -o o.mkv
	# shellcheck disable=SC2016
	printf '#!/bin/bash\n[[ "$*" == *rawvideo* ]] && echo $$ >>pids\nexec ffmpeg "$@"\n' >wrapper
	chmod +x wrapper
	FRINGEPIPE_FFMPEG=./wrapper framecat --frames 0-1 o.mkv -o two.nrrd
	mkfifo pipe
	head -c 100 <pipe >start &
	early() { FRINGEPIPE_FFMPEG=./wrapper framecat o.mkv >pipe; }
	run ! early
	wait
	for _ in {1..50}; do
		alive=
		while read -r pid; do
			if kill -0 "$pid" 2>/dev/null; then alive=$pid; fi
		done <pids
		[ "$alive" ] || break
		sleep 0.1
	done
	[ -z "$alive" ]
	[ "$(wc -l <pids)" -eq 2 ]
	framecmp <(framecat o.mkv) <(framecat - <o.mkv)
	framecmp <(framecat o.mkv) <(cat o.mkv | framecat -)
}

@test "video: pictures are H.264 High in 4:2:0 by BT.709, which every player takes; what codes numbers is not" {
	local file
	py '
y, x = np.mgrid[:65, :97]
flat = [np.stack([np.full((65, 97), v, "u1") for v in c]) for c in ((255, 0, 0), (0, 200, 30), (20, 40, 250), (250, 240, 10))]
ramp = np.stack([2 * x + 20, 3 * y + 10, 255 - x - 2 * y]).astype("u1")
for name, planes, keys in ("flat", flat, {}), ("ramp", [ramp] * 3, {"length_unit": "mm"}), ("role", [ramp] * 2, {"role": "phase"}), \
		("holo", [ramp] * 2, {"holo_pitch_px": "16"}), ("drawn", [ramp] * 2, {"period_px": "60", "cmd.1": "phase2depth -c 3", "cmd.2": "shade --view=1,2"}):
	write_frames(name + ".nrrd", [Frame(p, ["r", "g", "b"], keys) for p in planes])'
	for file in flat ramp drawn; do
		framecat $file.nrrd -o $file.mp4
		[ "$(ffprobe -v error -select_streams v -show_entries \
			stream=codec_name,profile,width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries -of csv=p=0 $file.mp4)" = \
			h264,High,98,66,yuv420p,tv,bt709,bt709,bt709 ]
		silent framecat $file.mp4 -o $file.back.nrrd
	done
	framecat --chroma 420 --crf 10 drawn.nrrd -o crf.mkv
	framecat --chroma 444 drawn.nrrd -o full.mkv
	framecat --lossless drawn.nrrd -o exact.mkv
	framecat role.nrrd -o role.mkv
	framecat holo.nrrd -o holo.mkv
	for file in full exact role holo; do
		[ "$(ffprobe -v error -show_entries stream=pix_fmt -of csv=p=0 $file.mkv)" = gbrp ]
	done
	framecat exact.mkv -o exact.nrrd
	fails 2 "--chroma: 420 has no effect on a video of r g b by h264" framecat --chroma 420 holo.nrrd -o x.mkv
	py '
for name, most in ("flat", 3), ("ramp", 12), ("drawn", 12):
	was, back = read_frames(name + ".nrrd"), read_frames(name + ".back.nrrd")
	expect(len(was) == len(back), len(back))
	for a, b in zip(was, back):
		expect(b.names == ["r", "g", "b"], b.names)
		expect(b.pixels.shape == a.pixels.shape, b.pixels.shape)
		off = np.abs(a.pixels.astype(float) - b.pixels)
		expect(off.max() <= most, name, off.max())
		expect(off.mean() <= 1.5, name, off.mean())
for a, b in zip(read_frames("drawn.nrrd"), read_frames("exact.nrrd")):
	expect(a.pixels == b.pixels)'
}
