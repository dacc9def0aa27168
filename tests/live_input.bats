# Streams of cameras as they come: y4m, NUT, samples without a head, PNGs in a row, video by ffmpeg; folders that are
# followed. See frame(5), Streams of cameras, and fringepipe(7), --raw and --follow.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
}

# source FORMAT WIDTHxHEIGHT FRAMES: raw pictures of ffmpeg's test source in raw.FORMAT
source_of() {
	ffmpeg -v error -y -f lavfi -i "testsrc2=size=$2:rate=30,format=rgb24" -frames:v "$3" -pix_fmt "$1" -f rawvideo "raw.$1"
}

# coded FORMAT WIDTHxHEIGHT OPTION ...: the same pictures as ffmpeg writes them
coded() {
	local format=$1 size=$2
	shift 2
	ffmpeg -v error -f rawvideo -pix_fmt "$format" -s "$size" -r 30 -i "raw.$format" "$@" -strict -1 -flush_packets 1 -
}

# first_planes FILE FORMAT W H: the first plane of each frame, or r g b, is the source's to the byte
planes='
def same(path, kind, w, h, chroma=0):
	raw = open("raw." + kind, "rb").read()
	frames = read_frames(path)
	dtype = "<u2" if kind[-4:] in ("10le", "12le", "16le") else "u1"
	n = len(raw) // len(frames)
	for i, f in enumerate(frames):
		a = np.frombuffer(raw[i * n:(i + 1) * n], dtype)
		if kind == "rgb24":
			wanted = a.reshape(h, w, 3).transpose(2, 0, 1)
		elif "444" in kind:
			wanted = a.reshape(3, h, w)
		else:
			wanted = a[:w * h].reshape(1, h, w)
		expect(np.array_equal(f.pixels[:len(wanted)], wanted), path, kind, i)
	return frames
'

@test "live: every format gives the source's samples, of even and odd sizes" {
	for size in 34x18 7x5; do
		for format in gray gray10le gray16le yuv420p yuv444p12le rgb24; do
			source_of $format $size 3
			coded $format $size -c:v rawvideo -f nut | silent framecat -o "$size.$format.nut.nrrd"
			silent framecat --raw $size,$format - -o "$size.$format.raw.nrrd" <"raw.$format"
			if [ $format != rgb24 ]; then
				coded $format $size -f yuv4mpegpipe | silent framecat -o "$size.$format.y4m.nrrd"
			fi
			py "$planes"'
import glob
w, h = map(int, sys.argv[1].split("x"))
files = glob.glob("%s.%s.*.nrrd" % (sys.argv[1], sys.argv[2]))
expect(len(files) >= 2, files)
for path in files:
	frames = same(path, sys.argv[2], w, h)
	expect(len(frames) == 3, path, len(frames))
	bits = {"10le": "1023", "12le": "4095"}.get(sys.argv[2][-4:])
	expect(frames[0].meta.get("max_value") == bits, path, frames[0].meta)
	times = [f.meta.get("time_s") for f in frames]
	if ".nut." in path:
		expect(abs(float(times[2]) - 2 / 30) < 1e-6 and times[0] == "0", path, times)
	else:
		expect(times == [None] * 3, path, times)' $size $format
		done
	done
}

@test "live: colour planes of half resolution are those that a video file gives" {
	for format in yuv420p yuv422p; do	# ffmpeg 5.1 writes y4m of odd widths and 10 bits wrongly
		source_of $format 35x17 2
		coded $format 35x17 -c:v ffv1 -f matroska >file.mkv
		framecat file.mkv -q -o wanted.nrrd
		for how in "-f yuv4mpegpipe" "-c:v rawvideo -f nut" "-c:v ffv1 -f matroska" "-c:v ffv1 -f nut"; do
			# shellcheck disable=SC2086
			coded $format 35x17 $how | framecat -q -o got.nrrd
			framecmp wanted.nrrd got.nrrd
		done
	done
}

@test "live: a mosaic keeps each sample at its place, and means its neighbours for the other colours" {
	py '
rng = np.random.default_rng(3)
np.save("mosaic.npy", m := rng.integers(0, 256, (2, 6, 8)).astype("u1"))
open("mosaic", "wb").write(m.tobytes())'
	silent framecat --raw 8x6,bayer_rggb8 mosaic -o got.nrrd
	py '
mosaic = np.load("mosaic.npy").astype(int)
colour = np.array([[0, 1], [1, 2]])[np.arange(6)[:, None] % 2, np.arange(8)[None] % 2]
for m, f in zip(mosaic, read_frames("got.nrrd")):
	expect(f.names == ["r", "g", "b"], f.names)
	for c in range(3):
		own = colour == c
		expect((f.pixels[c][own] == m[own]).all(), c)
		for y in range(1, 5):
			for x in range(1, 7):
				if own[y, x]:
					continue
				near = [(j, i) for j in (y - 1, y, y + 1) for i in (x - 1, x, x + 1) if own[j, i]]
				v = [m[at] for at in near]
				expect(f.pixels[c][y, x] == (2 * sum(v) + len(v)) // (2 * len(v)), c, x, y)'
}

@test "live: the first frame comes while the writer holds the pipe open" {
	source_of gray 64x48 40
	ffmpeg -v error -f rawvideo -pix_fmt gray -s 64x48 -i raw.gray -frames:v 40 -f image2pipe -c:v png pngs
	coded gray 64x48 -f yuv4mpegpipe >y4m
	coded gray 64x48 -c:v rawvideo -f nut >nut
	coded gray 64x48 -c:v ffv1 -f matroska -cluster_time_limit 1 >mkv
	coded gray 64x48 -c:v ffv1 -f nut >ffv1
	cp raw.gray raw
	for name in y4m nut raw pngs mkv ffv1; do
		py '
import os, subprocess
name = sys.argv[1]
os.mkfifo(name + ".pipe")
words = ["--raw", "64x48,gray"] if name == "raw" else []
tool = subprocess.Popen(["framecat", *words, name + ".pipe"], stdout=subprocess.PIPE)
with open(name + ".pipe", "wb") as pipe:
	pipe.write(open(name, "rb").read())	# and it stays open
	pipe.flush()
	head = tool.stdout.read(200)		# waits for ever where nothing comes
	expect(head.startswith(b"NRRD0004\n"), name, head)
rest = head + tool.stdout.read()
expect(tool.wait() == 0 and rest.count(b"NRRD0004\n") == 40, name, rest.count(b"NRRD0004\n"))' $name
	done
}

@test "live: as many frames come out of a pipe as went in, of five codings" {
	source_of yuv420p 128x96 50
	for coding in "libx264 -tune zerolatency" libx265 mjpeg libsvtav1 ffv1 "libx264 -bf 3"; do
		extra=()
		[[ $coding != libx265 ]] || extra=(-x265-params log-level=none)
		# shellcheck disable=SC2086
		coded yuv420p 128x96 -c:v $coding "${extra[@]}" -f matroska -cluster_time_limit 1 2>/dev/null | framecat -q -o got.nrrd
		frames=$(grep -ac NRRD0004 got.nrrd)
		echo "$coding: $frames of 50"
		[ "$frames" -eq 50 ]
	done
}

@test "live: a video of ours is the same from a pipe, with its mask and its keys, and a damaged one is told" {
	py '
rng = np.random.default_rng(5)
write_frames("in.nrrd", [Frame(np.stack([rng.integers(0, 256, (48, 64)), rng.integers(0, 2, (48, 64))]).astype("u1"),
	["luma", "mask"], {"time_s": str(2 + k / 30), "depth_range": "1 2"}) for k in range(9)])'
	framecat --lossless in.nrrd -o in.mkv
	framecat in.mkv -o file.nrrd
	cat in.mkv | silent framecat - -o pipe.nrrd
	framecmp file.nrrd pipe.nrrd
	py '
for a, b in zip(read_frames("file.nrrd"), read_frames("pipe.nrrd")):
	expect(abs(float(a.meta.pop("time_s")) - float(b.meta.pop("time_s"))) < 1e-3)
	for m in a.meta, b.meta:
		m.pop("cmd.2")
	expect(a.meta == b.meta and a.names == b.names, a.meta, b.meta)
data = bytearray(open("in.mkv", "rb").read())
data[len(data) // 2] ^= 1
open("bad.mkv", "wb").write(data)'
	told() { cat bad.mkv | framecat -q -o null:; }
	fails 1 "framecat: standard input: " told
}

@test "live: colours that are coded as YUV, and a texture in colour, are the same from a pipe and from NUT" {
	py '
y, x = np.mgrid[:48, :64]
planes = np.stack([2 * x + 20, 3 * y + 10, 250 - x - 2 * y, x + y])
for name, names in ("rgb", ["r", "g", "b"]), ("texture", ["luma", "texture", "texture_u", "texture_v"]):
	write_frames(name + ".nrrd", [Frame((planes[:len(names)] + k).astype("u1"), names, {"time_s": str(1 + k / 30)}) for k in range(5)])'
	for name in rgb texture; do
		framecat $name.nrrd -o $name.mkv
		framecat $name.mkv -o file.nrrd -f
		cat $name.mkv | silent framecat - -o pipe.nrrd -f
		silent framecmp file.nrrd pipe.nrrd
		ffmpeg -v error -y -i $name.mkv -map 0 -c copy $name.nut
		silent framecmp file.nrrd $name.nut
		cat $name.nut | silent framecat - -o pipe.nrrd -f
		silent framecmp file.nrrd pipe.nrrd
		py '
for a, b in zip(read_frames(sys.argv[1] + ".nrrd"), read_frames("pipe.nrrd"), strict=True):
	expect(a.names == b.names and abs(float(a.meta["time_s"]) - float(b.meta["time_s"])) < 1e-9, b.names, b.meta)
	off = np.abs(a.pixels.astype(int) - b.pixels)
	expect(off.max() <= 12 and off.mean() < 1.5, off.max(), off.mean())' $name
	done
	# raw pictures have no word for the matrix
	ffmpeg -v error -i rgb.mkv -c:v rawvideo raw.nut
	run -0 framecat raw.nut -o raw.nrrd
	[ "$output" = "framecat: raw.nut: does not say how its colours are coded as YUV: by BT.709 of limited range, it is assumed" ]
	framecat rgb.mkv -o file.nrrd -f
	silent framecmp file.nrrd raw.nrrd
}

@test "live: streams that are cut, damaged or make no sense end in one line" {
	source_of gray 64x48 3
	coded gray 64x48 -f yuv4mpegpipe >y4m
	coded gray 64x48 -c:v rawvideo -f nut >nut
	coded gray 64x48 -c:v ffv1 -f nut >ffv1
	coded gray 64x48 -c:v ffv1 -f matroska >mkv
	ffmpeg -v error -f rawvideo -pix_fmt gray -s 64x48 -i raw.gray -f image2pipe -c:v png pngs
	piped() { cat "$1" | framecat "${@:2}" -q -o null:; }
	for name in y4m nut ffv1 mkv pngs raw.gray; do
		words=()
		[ $name != raw.gray ] || words=(--raw 64x48,gray)
		size=$(stat -c %s $name)
		for cut in 45 $((size * 2 / 5)) $((size * 9 / 10)); do
			head -c "$cut" $name >cut
			fails 1 "standard input: " piped cut "${words[@]}"
			[ $name = mkv ] || fails 1 "cut: " framecat cut "${words[@]}" -q -o null:
		done
	done
	sed '1s/W64/W0/' y4m >bad
	fails 1 "standard input: is empty: 0 x 48" piped bad
	sed '1s/W64/W2147483648/' y4m >bad
	fails 1 "standard input: y4m has no valid size: W2147483648" piped bad
	sed '1s/W64 H48/W2147483647 H2147483647/' y4m >bad
	fails 1 "standard input: " piped bad
	sed '1s/W64/W65/' y4m >bad
	fails 1 "standard input: is damaged: FRAME does not stand before a picture of 65x48" piped bad
	sed '1s/ Ip/ It/' y4m >bad
	fails 1 "is an interlaced video" piped bad
	sed '1s/Cmono/C411/' y4m >bad
	fails 1 "has pictures of y4m's format 411, which is not read" piped bad
	source_of gray 32x48 1
	{ cat nut; coded gray 32x48 -c:v rawvideo -f nut; } >bad
	fails 1 "standard input: pictures are not 64x48 all through" piped bad
	{ head -c 700 pngs; printf 'rubbish!'; } >bad
	fails 1 "standard input: " piped bad
	py '
whole = bytearray(open("pngs", "rb").read())
second = whole.index(b"\x89PNG", 8)
whole[second + 2] ^= 1
open("bad", "wb").write(whole)
nut = bytearray(open("nut", "rb").read())
info = nut.index(bytes.fromhex("4e49ab68b596ba78"))
packet = nut[info : info + 9 + nut[info + 8]]
open("endless", "wb").write(nut[:info] + packet * ((16 << 20) // len(packet)))
open("number", "wb").write(nut[:33] + b"\xff" * 99)
nut[60] ^= 4
open("sum", "wb").write(nut)'
	fails 1 "standard input: has headers of more than 16777216 bytes" piped endless
	fails 1 "standard input: is damaged: a number of NUT cannot be" piped number
	fails 1 "standard input: is damaged: what follows image 1 is no PNG" piped bad
	cp bad bad.png
	fails 1 "bad.png: is damaged: what follows image 1 is no PNG" framecat bad.png -o x.nrrd
	fails 1 "standard input: is damaged: the check sum of a header of NUT cannot be" piped sum
}

@test "live: PNGs in a row are as many frames, from a file too" {
	source_of gray 20x10 4
	ffmpeg -v error -f rawvideo -pix_fmt gray -s 20x10 -i raw.gray -f image2pipe -c:v png pngs.png
	silent framecat pngs.png -o file.nrrd
	cat pngs.png | silent framecat - -o pipe.nrrd
	py "$planes"'
for path in "file.nrrd", "pipe.nrrd":
	expect(len(same(path, "gray", 20, 10)) == 4)'
}

@test "live: a damaged one among PNGs in a row costs its file's measurement, and the next keeps its step" {
	py '
for k in range(3):
	x = np.tile(np.rint(128 + 80 * np.cos(2 * np.pi * (np.arange(32) / 16 + k / 3))), (1, 8, 1))
	write_frames("%d.nrrd" % k, Frame(x.astype("u1")))'
	for k in 0 1 2; do
		framecat $k.nrrd -o $k.png
	done
	cat 0.png 1.png 2.png >good.png
	phasewrap -q -n 3 -p 16 --shift 0,120,240 good.png -o wanted.nrrd
	for bad in 0 1; do
		py '
k = sys.argv[1]
data = bytearray(open(k + ".png", "rb").read())
data[data.index(b"IDAT") + 8] ^= 1
open("damaged", "wb").write(data)
open("bad.png", "wb").write(b"".join(open("damaged" if i == k else i + ".png", "rb").read() for i in "012"))' $bad
		run --separate-stderr phasewrap --keep-going -n 3 -p 16 --shift 0,120,240 good.png bad.png good.png \
			-o 'got-%d.nrrd'
		[ "$status" -eq 1 ]
		[[ $stderr == *"measurement 1 is lost: bad.png"*"1 of 3 measurements was lost" ]]
		framecmp wanted.nrrd got-0.nrrd
		framecmp wanted.nrrd got-2.nrrd
		rm got-*
	done
}

@test "live: --raw and --follow say what they cannot do" {
	source_of gray 8x8 1
	fails 2 "framecat: --raw: must be WxH,FORMAT, as 800x600,gray10le, not '8x8'" framecat --raw 8x8 raw.gray -o null:
	fails 2 "there is no format 'grey', but gray" framecat --raw 8x8,grey raw.gray -o null:
	fails 1 "raw.gray: ends too early: 9 x 8 x 1 samples" framecat --raw 9x8,gray raw.gray -o null:
	framecat --raw 8x8,gray raw.gray -o a.png
	fails 1 "a.png: is a file of PNG, no raw pictures: leave --raw out" framecat --raw 8x8,gray a.png -o null:
	fails 2 "--follow: no operand is a folder" framecat --follow a.png -o null:
	fails 2 "--idle: is for --follow" framecat --idle 1 a.png -o null:
	fails 2 "--follow: framecmp reads its files itself" framecmp --follow a.png a.png
	mkdir empty
	for output in empty empty/ empty/x-%d.png empty/../empty/x.nrrd; do
		fails 2 "--follow: -o $output is in a folder that is followed" framecat --follow --idle 1 empty -o $output
	done
	(
		cd empty
		fails 2 "--follow: -o x.png is in a folder that is followed" framecat --follow --idle 1 . -o x.png
		fails 1 "no image came into the folder" framecat --follow --idle 0.2 . -o null:
	)
	fails 1 "no image came into the folder" framecat --follow --idle 0.2 empty -o x.png
	fails 1 "no image came into the folder" framecat --follow --idle 0.2 empty -o null:
}

@test "live: a folder is followed: what is there first, then what is closed, renamed or stays, once each" {
	mkdir folder
	for i in 0 1 2 3 4 5; do
		py 'write_frames("x.nrrd", Frame(np.full((1, 4, 4), int(sys.argv[1]), "u1")))' $i
		framecat x.nrrd -o "$i.png"
	done
	cp 1.png folder/img10.png
	cp 0.png folder/img9.png
	touch -d '1 minute ago' folder/*
	py '
import os, shutil, subprocess, time
tool = subprocess.Popen(["framecat", "--follow", "--idle", "5", "folder"], stdout=subprocess.PIPE)
def frame():
	head = b""
	while not head.endswith(b"\n\n"):
		byte = tool.stdout.read(1)
		expect(len(byte) == 1, head)
		head += byte
	return tool.stdout.read(16)[0]
expect([frame(), frame()] == [0, 1])
with open("folder/a.png", "wb") as f:		# counts when it is closed
	data = open("2.png", "rb").read()
	f.write(data[:20])
	f.flush()
	time.sleep(0.3)
	f.write(data[20:])
expect(frame() == 2)
shutil.copy("3.png", "folder/.hidden.png")
shutil.copy("3.png", "folder/b.part")
os.rename("folder/b.part", "folder/b.png")
expect(frame() == 3)
open("folder/notes.txt", "w").write("no image")
os.link("4.png", "folder/c.png")		# nobody closes it: its size stays
expect(frame() == 4)
shutil.copy("5.png", "folder/a.png")		# written anew
expect(frame() == 5)
tool.terminate()				# the end, in order
expect(tool.stdout.read() == b"" and tool.wait() == 0, tool.returncode)'
}
