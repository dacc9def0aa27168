load helpers

# Image files against other programs: NumPy, Pillow and a few lines of Python read what we write,
# and we read what they write. Every comparison is bit for bit, of known samples (codecs_peers.py).

peer() {
	"$python" "$top/tests/codecs_peers.py" "$@"
}

# ours_are_read KIND ...: framecat makes the files, the peer reads them.
ours_are_read() {
	local kind out=()
	for kind; do out+=("nrrd-${kind#*-}" "$kind.in.nrrd"); done
	peer write "${out[@]}"
	out=()
	for kind; do
		framecat "$kind.in.nrrd" -o "$kind.${kind%%-*}"
		out+=("$kind" "$kind.${kind%%-*}")
	done
	peer check "${out[@]}"
}

# theirs_are_read KIND[=KIND OF WHAT COMES OUT] ...: the peer makes the files, framecat reads them.
theirs_are_read() {
	local kind out=()
	for kind; do out+=("${kind%=*}" "${kind%=*}.${kind%%-*}"); done
	peer write "${out[@]}"
	out=()
	for kind; do
		framecat "${kind%=*}.${kind%%-*}" -o "${kind%=*}.out.nrrd"
		[[ $kind == *=* ]] || kind+="=nrrd-${kind#*-}"
		out+=("${kind#*=}" "${kind%=*}.out.nrrd")
	done
	peer check "${out[@]}"
}

@test "codecs: Pillow reads our PNG of 8 and 16 bits" {
	ours_are_read png-{u1-1,u1-3,u1-4,u2-1}
}

@test "codecs: the PNG of a symmetric Holoimage takes hardly more bytes than Pillow's, by libpng's way" {
	/usr/bin/python3 - sphere.nrrd <<-'END'
		import sys, numpy as np
		y, x = np.mgrid[:256, :256] - 127.5
		z = np.sqrt(np.maximum(115.0**2 - x * x - y * y, 0)).astype("<f4")
		z[z == 0] = np.nan
		open(sys.argv[1], "wb").write(b"NRRD0004\ntype: float\nendian: little\ndimension: 2\n"
		    b"sizes: 256 256\nencoding: raw\nchannels:=depth\n\n" + z.tobytes())
	END
	for rounding in level angle; do
		holoenc -P 16 --rounding $rounding --depth-range 0,256 sphere.nrrd -o ours.png
		/usr/bin/python3 -c 'import sys; from PIL import Image; Image.open("ours.png").save("theirs.png")'
		echo "$rounding: $(stat -c %s ours.png theirs.png | paste -sd' ')"
		(($(stat -c %s ours.png) * 100 <= $(stat -c %s theirs.png) * 112))
	done
}

@test "codecs: the PNG of maps that repeat their rows shifted takes no more bytes than Pillow's" {
	local sum
	for sum in "abs(x) + abs(y)" "abs(x) - abs(y) + 256"; do
		py '
y, x = np.mgrid[:512, :512] - 255.5
write_frames("map.nrrd", Frame(np.clip('"$sum"', 0, 255).astype("u1"), ["image"]))'
		framecat map.nrrd -o ours.png
		/usr/bin/python3 -c 'from PIL import Image; Image.open("ours.png").save("theirs.png")'
		echo "$sum: $(stat -c %s ours.png theirs.png | paste -sd' ')"
		(($(stat -c %s ours.png) <= $(stat -c %s theirs.png)))
	done
}

@test "codecs: Pillow reads our TIFF, also of float and of many pages" {
	ours_are_read tif-{u1-1,u1-3,u1-4,u2-1,f4-1,u1-1-pages,f4-1-pages}
}

@test "codecs: Pillow reads our PGM and PPM" {
	ours_are_read pgm-u1-1 ppm-u1-3 pgm-u2-1
}

@test "codecs: NumPy reads our NPY" {
	ours_are_read npy-{u1-1,u2-3,f4-1,f4-7}
}

@test "codecs: a reader of ten lines reads our PFM and our stream" {
	ours_are_read pfm-f4-1 pfm-f4-3 nrrd-u2-5 nrrd-f4-2-pages
}

@test "codecs: JPEG of a smooth picture comes back within 3 grey values" {
	py 'write_frames("in.nrrd", Frame((np.mgrid[:65, :129].sum(0)).astype("u1")))'
	framecat in.nrrd -o out.jpg
	framecat out.jpg -o back.nrrd
	"$python" -c '
import numpy as np
from PIL import Image
from frames import *
wanted = read_frame("in.nrrd").pixels[0].astype(int)
for got in np.array(Image.open("out.jpg")), read_frame("back.nrrd").pixels[0]:
	expect(abs(got - wanted) <= 3, abs(got - wanted).max())'
}

@test "codecs: JPEG for fringes is RGB with the steps that the page says; Pillow and we read the same levels" {
	py '
y, x = np.mgrid[:65, :129]
write_frames("rgb.nrrd", Frame(np.stack([127.5 + 127.5 * np.sin(x / 7 + y / 31 + c) for c in range(3)]).astype("u1"), list("rgb")))
write_frames("grey.nrrd", Frame((x + y).astype("u1")))'
	for name in rgb grey; do
		for quality in 100 80 50 30; do
			framecat --jpeg-for fringes --quality $quality $name.nrrd -o out.jpg
			framecat out.jpg -o back.nrrd
			"$python" -c '
import sys
import numpy as np
from PIL import Image
from frames import *
quality, picture, f = int(sys.argv[2]), Image.open("out.jpg"), read_frame("back.nrrd")
got = np.array(picture)
expect(len(picture.quantization) == 1, picture.quantization)
v, u = np.mgrid[:8, :8]
steps = np.floor(40 + 20 / 7 * np.hypot(u, v) + 0.5)	# framecat(1), --jpeg-for
percent = 200 - 2 * quality if quality >= 50 else 5000 // quality
steps = np.clip((steps * percent + 50) // 100, 1, 255)
expect(list(picture.quantization.values())[0] == steps.astype(int).ravel().tolist(), picture.quantization)
expect((np.moveaxis(got.reshape(65, 129, -1), 2, 0) == f.pixels).all(), "not the same levels")
if sys.argv[1] == "rgb":	# no matrix: a plane by itself has the same levels
	data = open("out.jpg", "rb").read()
	at = data.index(b"\xff\xc0")
	expect(data[at + 10:at + 19:3] == b"RGB" and data[at + 11:at + 19:3] == b"\x11" * 3, data[at:at + 19])
	at = data.index(b"\xff\xee")
	expect(data[at + 4:at + 9] == b"Adobe" and data[at + 15] == 0, data[at:at + 16])
	want = read_frame("rgb.nrrd").pixels.astype(int)
	error = np.sqrt(np.mean((f.pixels - want) ** 2, (1, 2)))
	# rounding of coefficients to a step q is an error of q / sqrt(12) at most, but for that of levels
	expect((error < steps.mean() / 12 ** 0.5 + 0.5).all(), error)' $name $quality
		done
	done
	silent framecat --jpeg-for eyes rgb.nrrd -o eyes.jpg
	framecat rgb.nrrd -o default.jpg
	cmp eyes.jpg default.jpg
	fails 2 "--chroma: 420 does not go with --jpeg-for fringes" framecat --jpeg-for fringes --chroma 420 rgb.nrrd -o x.jpg
	fails 2 "--jpeg-for" framecat --jpeg-for ears rgb.nrrd -o x.jpg
	[ ! -e x.jpg ]
}

@test "codecs: JPEG with flipped bytes is refused, wherever they are; one written anew is not" {
	py '
y, x = np.mgrid[:96, :128]
write_frames("in.nrrd", Frame(np.stack([127.5 + 127 * np.sin(x / 5 + y / 9 + c) for c in range(3)]).astype("u1"),
	["r", "g", "b"], {"length_unit": "mm"}))'
	for purpose in fringes eyes; do
		framecat --jpeg-for $purpose in.nrrd -o whole.jpg
		framecat whole.jpg -o whole.nrrd
		py '
import subprocess
good, runs = open("whole.jpg", "rb").read(), []
want = read_frame("whole.nrrd").pixels
for seed in range(150):
	rng = np.random.default_rng(seed)
	bad = bytearray(good)
	for at in rng.choice(len(bad), rng.integers(1, 6), replace=False):
		bad[at] ^= int(rng.integers(1, 256))
	open("bad.jpg", "wb").write(bad)
	runs.append(subprocess.run(["framecat", "bad.jpg", "-o", "bad.nrrd"], capture_output=True))
	if runs[-1].returncode == 0:	# it was the sum itself, or its place, that was hit
		got = read_frame("bad.nrrd").pixels
		expect(got.shape == want.shape and (got == want).all(), "seed %d: damage in silence" % seed)
	else:
		expect(runs[-1].returncode == 1 and runs[-1].stderr.count(b"\n") == 1, seed, runs[-1].stderr)
# the library by itself takes some of them
expect(sum(b"not those that were written" in t.stderr for t in runs) > 10)
expect(b"jpeg_crc32" not in open("whole.nrrd", "rb").read())'
	done
	framecat <whole.jpg >pipe.nrrd
	cat whole.jpg | framecat >cat.nrrd
	cmp pipe.nrrd cat.nrrd
	"$python" -c '
from PIL import Image
picture = Image.open("whole.jpg")
picture.save("anew.jpg", comment=open("whole.jpg", "rb").read()[24:55], quality=80)
assert b"jpeg_crc32:=" in open("anew.jpg", "rb").read()'
	framecat anew.jpg -o anew.nrrd
}

@test "codecs: pixels are read as they are stored, and -v notes an orientation of Exif or TIFF" {
	py '
from PIL import Image
y, x = np.mgrid[:40, :60]
image = Image.fromarray((120 + 100 * np.cos(x / 5.0 + y / 40.0)).astype("u1"))
for turn in 1, 3, 6:
	exif = Image.Exif(); exif[0x010f] = "Maker"; exif[0x0112] = turn
	image.save("t%d.jpg" % turn, quality=98, exif=exif)
	image.save("t%d.tif" % turn, tiffinfo={274: turn})
image.save("plain.jpg", quality=98)
data = open("t6.jpg", "rb").read()
at = data.index(b"Exif\0\0") + 6
little = data[at:at + 2] == b"II"
expect(little or data[at:at + 2] == b"MM")
def number(v, n): return v.to_bytes(n, "little" if little else "big")
def patched(name, where, new): open(name, "wb").write(data[:at + where] + new + data[at + where + len(new):])
for k, (where, new) in enumerate([(4, number(0xffffffff, 4)), (4, number(4000, 4)), (8, number(0xffff, 2)), (18, number(77, 2))]):
	patched("bad%d.jpg" % k, where, new)'
	for turn in 3 6; do
		for file in t$turn.jpg t$turn.tif; do
			framecat -v $file -o x.nrrd 2>messages
			grep -qx "framecat: $file: its orientation, $turn of Exif, is not applied: the pixels are read as they are stored" messages
			silent framecat $file -o x.nrrd
			[ "$(frameinfo -s x.nrrd | grep -o 60x40x1)" = 60x40x1 ]
		done
		framecat t$turn.jpg | framecmp plain.jpg -
	done
	for file in plain.jpg t1.jpg t1.tif bad?.jpg; do
		framecat -v "$file" -o x.nrrd 2>messages
		if [[ $file != bad2.jpg && $file != bad3.jpg ]]; then [ "$(grep -c orientation messages)" -eq 0 ]; fi
	done
}

@test "codecs: NPY of every type, byte order and axis order is read" {
	local kind kinds=()
	for kind in u1-1 u2-1 f4-1 u2-1-big f4-5-big u1-3-last f4-4-last f4-7-fortran u2-1-fortran f8-1-fortran i2-1 i4-1-big i8-1 \
		f2-1 u4-1; do
		kinds+=("npy-$kind=nrrd-${kind:0:4}")
	done
	theirs_are_read "${kinds[@]}"
}

@test "codecs: PFM of either byte order is read" {
	theirs_are_read pfm-f4-1-big=nrrd-f4-1 pfm-f4-3-big=nrrd-f4-3 pfm-f4-1
}

@test "codecs: strips of TIFF that are not packed, however they lie in the file" {
	py '
import struct
def tiff(path, pixels, end, planar, strips, rows, fill=1):	# strips: the order in which they lie
	h, w, c = pixels.shape
	planes = [pixels] if planar == 1 else [pixels[:, :, k] for k in range(c)]
	data = [p[y:y + rows].astype(end + pixels.dtype.str[1:]).tobytes() for p in planes for y in range(0, h, rows)]
	if fill == 2:
		data = [bytes(int(format(b, "08b")[::-1], 2) for b in d) for d in data]
	body, place = b"", [0] * len(data)
	for i in strips(range(len(data))):
		place[i] = 8 + len(body)
		body += data[i]
	body += bytes(-len(body) % 2)
	lists, at = b"", 8 + len(body)
	def values(kind, v):
		nonlocal lists
		packed = b"".join(struct.pack(end + kind, x) for x in v)
		if len(packed) <= 4:
			return packed.ljust(4, b"\0")
		lists += packed + bytes(-len(packed) % 2)
		return struct.pack(end + "I", at + len(lists) - len(packed) - len(packed) % 2)
	size = pixels.dtype.itemsize
	tags = [(256, 3, "H", [w]), (257, 3, "H", [h]), (258, 3, "H", [8 * size] * c), (259, 3, "H", [1]),
		(262, 3, "H", [2 if c == 3 else 1]), (266, 3, "H", [fill]), (273, 4, "I", place), (277, 3, "H", [c]),
		(278, 3, "H", [rows]), (279, 4, "I", [len(d) for d in data]), (284, 3, "H", [planar]),
		(339, 3, "H", [3 if pixels.dtype.kind == "f" else 1] * c)]
	entries = b"".join(struct.pack(end + "HHI", t, n, len(v)) + values(k, v) for t, n, k, v in tags)
	with open(path, "wb") as file:
		file.write((b"II" if end == "<" else b"MM") + struct.pack(end + "HI", 42, at + len(lists)) + body + lists +
			struct.pack(end + "H", len(tags)) + entries + bytes(4))
orders = {"on": list, "back": lambda n: list(n)[::-1]}
count = 0
for w, h in (1, 1), (64, 40), (129, 65), (800, 30):
	for dtype in "u1", "u2", "f4":
		for c in 1, 3, 5:
			y, x, k = np.mgrid[:h, :w, :c]
			pixels = ((x * 7 + y * 13 + k * 29) % 251).astype(dtype)
			for end in "<>":
				for planar in (1, 2)[:1 + (c > 1)]:
					for order in orders:
						for rows in {h, 7 if h > 7 else 1}:
							tiff("t%04d.tif" % count, pixels, end, planar, orders[order], rows,
								2 if w == 64 and dtype == "u1" else 1)
							np.save("t%04d" % count, pixels)
							count += 1'
	framecat t*.tif -o all.nrrd
	py '
import glob
files = sorted(glob.glob("t*.npy"))
frames = read_frames("all.nrrd")
expect(len(files) == len(frames) > 200, len(files), len(frames))
for file, frame in zip(files, frames):
	wanted = np.load(file).transpose(2, 0, 1)
	expect(np.array_equal(frame.pixels.reshape(wanted.shape), wanted), file, wanted.shape, wanted.dtype)'
	# cut within the samples: refused, with the block that is lacking
	head -c 1000 t0200.tif >cut.tif
	fails 1 "cut.tif: " framecat cut.tif
}

@test "codecs: NRRD with big-endian gzip data is read" {
	theirs_are_read nrrd-f4-1-gzip=nrrd-f4-1
}

@test "codecs: Pillow's PNG, also of 16 bits and with a palette, is read" {
	theirs_are_read png-{u1-1,u1-3,u1-4,u2-1} png-u1-1-palette=nrrd-u1-3-palette
}

@test "codecs: key lines of a PNG with a wrong check sum are an error, and those behind the pixels are read" {
	fringesim -s 32x24 -p 16 -n 3 -q -o in.nrrd
	framecat --frames 0 in.nrrd -o in.png
	py '
data = open("in.png", "rb").read()
start = data.index(b"tEXtfringepipe") - 4
end = start + 12 + int.from_bytes(data[start:start + 4], "big")
open("bad.png", "wb").write(data[:end - 1] + bytes([data[end - 1] ^ 1]) + data[end:])
open("moved.png", "wb").write(data[:start] + data[end:-12] + data[start:end] + data[-12:])'
	fails 1 "frameinfo: bad.png: PNG: tEXt: CRC error" frameinfo bad.png
	framecat --delete cmd.2 in.png -o in.nrrd
	framecat --delete cmd.2 moved.png -o moved.nrrd
	cmp in.nrrd moved.nrrd
	frameinfo moved.png | has period
}

@test "codecs: what belongs to no pixel of a PNG, NPY or PFM is warned of; so are indices beyond a palette" {
	py '
import struct, zlib
def chunk(kind, data):
	return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(name, kind, rows, idat=b"", more=b"", end=b""):
	stream = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows)) + idat
	open(name, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 7, 8, kind, 0, 0, 0)) +
		(chunk(b"PLTE", bytes(range(12))) if kind else b"") + chunk(b"IDAT", stream) + more + chunk(b"IEND", b"") + end)
rows = (np.arange(72).reshape(8, 9) * 7 % 256).astype("u1")
for kind, part, scale in (0, "g", 1), (3, "p", 0):
	level = rows * scale + (1 - scale) * (rows % 4)
	png("%s_ok.png" % part, kind, level[:7])
	png("%s_rows.png" % part, kind, level)
	png("%s_idat.png" % part, kind, level[:7], b"junk")
	png("%s_more.png" % part, kind, level[:7], more=chunk(b"IDAT", zlib.compress(level.tobytes(), 0)))
	png("%s_end.png" % part, kind, level[:7], end=b"junk")
level[2, 3], level[6, 8] = 4, 255
png("beyond.png", 3, level[:7])
level[2, 3] = 0
png("one.png", 3, level[:7])
np.save("a.npy", rows)
write_pfm = open("a.pfm", "wb").write(b"Pf\n9 8\n-1.0\n" + rows.astype("<f4").tobytes())'
	silent framecat g_ok.png p_ok.png a.npy a.pfm -o x.nrrd
	for part in g p; do
		for what in rows idat more; do
			fails 0 "${part}_$what.png: PNG: holds more image data than its 9 x 7 pixels; the rest is not read" \
				framecat ${part}_$what.png -o x.nrrd
			framecmp x.nrrd ${part}_ok.png
		done
		fails 0 "${part}_end.png: 4 bytes behind its end are not read" framecat ${part}_end.png -o x.nrrd
		framecmp x.nrrd ${part}_ok.png
		fails 0 "standard input: 4 bytes behind its end are not read" framecat -o x.nrrd <${part}_end.png
	done
	fails 0 "beyond.png: PNG: 2 pixels are black, as their indices are beyond the palette of 4 colours" \
		framecat beyond.png -o x.nrrd
	fails 0 "one.png: PNG: 1 pixel is black, as its index is beyond the palette of 4 colours" \
		framecat one.png -o y.nrrd
	py '
x, y = (read_frame(f).pixels for f in ("x.nrrd", "y.nrrd"))
index = np.arange(63).reshape(7, 9) * 7 % 256 % 4
wanted = np.stack([3 * index + c for c in range(3)])
wanted[:, 6, 8] = 0
wanted[:, 2, 3] = (0, 1, 2)
expect(np.array_equal(y, wanted), y)
wanted[:, 2, 3] = 0
expect(np.array_equal(x, wanted), x)'
	for s in npy pfm; do
		cat a.$s a.$s >b.$s
		fails 0 "b.$s: $(wc -c <a.$s) bytes behind its end are not read" framecat b.$s -o x.nrrd
		framecmp x.nrrd a.$s
	done
}

@test "codecs: what stands behind a BMP, JPEG or TIFF is warned of, but for filling and what cameras put there" {
	py '
from PIL import Image
rng = np.random.default_rng(5)
image = Image.fromarray(rng.integers(0, 256, (300, 400), dtype="u1"))
for s in "bmp", "jpg", "tif":
	image.save("a." + s)
	data = open("a." + s, "rb").read()
	open("twice." + s, "wb").write(data + data)
	open("filled." + s, "wb").write(data + bytes(5000))
	open("word." + s, "wb").write(data + b"\r\n")
def jpeg(name, marker, text):
	data = open("a.jpg", "rb").read()
	open(name, "wb").write(data[:2] + b"\xff" + marker + (len(text) + 2).to_bytes(2, "big") + text + data[2:] + data)
jpeg("exif.jpg", b"\xe1", b"Exif\0\0MM")
jpeg("mpf.jpg", b"\xe2", b"MPF\0MM")
jpeg("profile.jpg", b"\xe2", b"ICC_PROFILE\0\1\1")
image.save("pages.tif", save_all=True, append_images=[image, image], compression="tiff_lzw")
open("tags.tif", "wb").write(open("a.tif", "rb").read() + rng.bytes(60000))'
	for s in bmp jpg; do
		fails 0 "twice.$s: $(wc -c <a.$s) bytes behind its end are not read" framecat twice.$s -o x.nrrd
		framecmp x.nrrd a.$s
		fails 0 "standard input: $(wc -c <a.$s) bytes behind its end" framecat -o x.nrrd <twice.$s
	done
	fails 0 "profile.jpg: $(wc -c <a.jpg) bytes behind its end" framecat profile.jpg -o x.nrrd
	fails 0 "twice.tif: TIFF: $(wc -c <a.tif) bytes behind the samples of its 1 page, as many as a page has" \
		framecat twice.tif -o x.nrrd
	framecmp x.nrrd a.tif
	for f in a.bmp a.jpg a.tif filled.* word.* exif.jpg mpf.jpg pages.tif tags.tif; do
		silent framecat "$f" -o x.nrrd
	done
	# what our own tools write, of one page and of many: the tags of 600 pages stand behind them
	py '
from PIL import Image
Image.new("L", (128, 96)).save("small.tif", save_all=True, append_images=[Image.new("L", (128, 96), 7)] * 599)'
	silent framecat small.tif -o x.nrrd
	framecat --crop 0,0,64,48 $(yes a.tif | head -300) -o small.tif
	silent framecat small.tif -o x.nrrd
	fringesim -s 320x240 -p 16 -n 3 -q -o in.nrrd
	framecat in.nrrd -o x.tif
	framecat --split in.nrrd -o x-%d.jpg
	silent framecat x.tif -o y.nrrd
	silent framecat x-0.jpg x-1.jpg -o y.nrrd
}

@test "codecs: Pillow's TIFF, compressed and of many pages, is read" {
	local kind kinds=()
	for kind in u1-1 u1-3 u2-1 f4-1; do
		kinds+=("tif-$kind"{,-tiff_lzw,-tiff_adobe_deflate,-packbits}"=nrrd-$kind")
	done
	theirs_are_read "${kinds[@]}" tif-{u1-1,u1-3,f4-1}-pages tif-u1-1-palette=nrrd-u1-3-palette
}

@test "codecs: Pillow's BMP is read" {
	theirs_are_read bmp-u1-1 bmp-u1-3 bmp-u1-1-palette=nrrd-u1-3-palette
}

@test "codecs: BMP of grey, colour and one bit is what Pillow reads, and comes back" {
	py '
rng = np.random.default_rng(6)
for w, h in (1, 1), (5, 7), (127, 1), (130, 65):
	for c in 1, 3:
		write_frames("%dx%d-%d.nrrd" % (w, h, c), Frame(rng.integers(0, 256, (c, h, w)).astype("u1"),
			["r", "g", "b"] if c == 3 else None))
	write_frames("%dx%d-bit.nrrd" % (w, h), Frame(rng.integers(0, 2, (1, h, w)).astype("u1"), meta={"bits": "1"}))'
	for f in *.nrrd; do
		framecat "$f" -o "${f%.nrrd}.bmp"
		framecat "${f%.nrrd}.bmp" -o "back.$f"
	done
	py '
import glob, os
from PIL import Image
names = glob.glob("[0-9]*.nrrd")
expect(len(names) == 12, names)
for name in names:
	f = read_frame(name).pixels
	image = Image.open(name[:-5] + ".bmp")
	expect(image.mode == ("1" if "bit" in name else "RGB" if len(f) == 3 else "L"), name, image.mode)
	wanted = f * np.uint8(255) if "bit" in name else f
	pixels = np.array(image.convert("L") if "bit" in name else image)
	expect(pixels.reshape(f.shape[1:] + (-1,)) == np.moveaxis(wanted, 0, -1), name)
	expect(read_frame("back." + name).pixels == wanted, name)'
	py 'write_frames("two.nrrd", Frame(np.zeros((2, 3, 4), "u1"))); write_frames("f.nrrd", Frame(np.zeros((1, 3, 4), "f4")))'
	fails 1 "x.bmp: BMP holds 1 or 3 channels of uchar, not 2 of uchar" framecat two.nrrd -o x.bmp
	fails 1 "x.bmp: BMP holds 1 or 3 channels of uchar, not 1 of float" framecat f.nrrd -o x.bmp
	[ ! -e x.bmp ]
}

@test "codecs: the same frames through every format that keeps metadata lose none" {
	py 'write_frames("in.nrrd", Frame(np.arange(600, dtype="u1").reshape(3, 10, 20),
		["phase1", "phase2", "mask"], {"period_px": "60 66.5", "note": "a (b) #c"}))'
	for format in png tif ppm jpg; do
		framecat in.nrrd -o out.$format
		framecat out.$format -o back.nrrd
		py '
a, b = read_frame("in.nrrd"), read_frame("back.nrrd")
expect(a.names == b.names, sys.argv[1], b.names)
expect(all(b.meta.get(k) == v for k, v in a.meta.items()), sys.argv[1], b.meta)' $format
	done
}

# Our meshes, read without our code.
mesh_reader='
def ply(path):
	raw = open(path, "rb").read()
	head, body = raw.split(b"end_header\n", 1)
	words = [line.split() for line in head.decode().splitlines()]
	V, F = [int(w[2]) for w in words if w[0] == "element"]
	kind = {"float": "<f4", "uchar": "u1"}
	fields = [(w[2], kind[w[1]]) for w in words if w[0] == "property" and w[1] != "list"]
	if words[1][1] == "ascii":
		rows = body.decode().split("\n")
		v = np.array([list(map(float, r.split())) for r in rows[:V]])
		f = np.array([list(map(int, r.split())) for r in rows[V:V + F]])
		return {name: v[:, i] for i, (name, _) in enumerate(fields)}, f[:, 1:]
	v = np.frombuffer(body, fields, V)
	f = np.frombuffer(body, [("n", "u1"), ("i", "<i4", 3)], F, v.nbytes)
	expect(len(body) == v.nbytes + f.nbytes and (f["n"] == 3).all(), path, len(body))
	return v, f["i"]

def outside(points, towards):			# the side that is seen faces the camera
	a, b, c = np.moveaxis(points.astype(float), -2, 0)
	n = np.cross(b - a, c - a)
	expect((n[..., 2] > 0) == towards, (n[..., 2] > 0).mean())

def check(image, towards):
	there = ~np.isnan(image[0]) * 1
	corners = there[1:, 1:] + there[1:, :-1] + there[:-1, 1:] + there[:-1, :-1]
	p = image.reshape(7, -1)[:, there.ravel() == 1].T
	xyz = p[:, :3]
	for path in "b.ply", "a.ply":
		v, f = ply(path)
		for i, name in enumerate(["x", "y", "z", "nx", "ny", "nz"]):
			expect(np.float32(v[name]) == p[:, i], path, name)
		grey = np.asarray(v["red"], float)
		expect(np.asarray(v["green"]) == grey, path); expect(np.asarray(v["blue"]) == grey, path)
		order = np.argsort(p[:, 6])
		expect((np.diff(grey[order]) >= 0).all() and np.ptp(grey) > 200, path, grey.min(), grey.max())
		outside(xyz[f], towards)
		expect(len(f) == np.maximum(corners - 2, 0).sum(), path, len(f))
	lines = [l.split() for l in open("b.obj")]
	v = np.array([list(map(float, l[1:4])) for l in lines if l and l[0] == "v"])
	expect(np.float32(v) == xyz, "obj")
	o = np.array([[int(k.split("/")[0]) - 1 for k in l[1:]] for l in lines if l and l[0] == "f"])
	expect(o == f, "obj faces")
	stl = np.frombuffer(open("b.stl", "rb").read()[84:], [("n", "<f4", 3), ("p", "<f4", (3, 3)), ("a", "<u2")])
	expect(stl["p"] == xyz[f], "stl")
	outside(stl["p"], towards)
'

@test "codecs: a reader of a few lines reads our PLY, OBJ and STL: every point, normal, grey value and side" {
	py '
rng = np.random.default_rng(7)
y, x = np.mgrid[:13, :17].astype("f4")
z = 500 + x / 8 - y / 4
p = np.stack([x / 2, y / 2, z, x / 32, y / 32, -np.ones_like(x), np.floor(rng.random(x.shape) * 256)]).astype("f4")
p[:3, 4, 5] = np.nan; p[:3, 0, :3] = np.nan
names = ["x", "y", "z", "nx", "ny", "nz", "texture"]
write_frames("away.nrrd", Frame(p, names, {"z_axis": "away"}))
p[[2, 5]] *= -1
write_frames("towards.nrrd", Frame(p, names, {"z_axis": "towards"}))'
	for way in away towards; do
		framecat $way.nrrd -o b.ply
		framecat --ascii $way.nrrd -o a.ply
		framecat $way.nrrd -o b.obj
		framecat $way.nrrd -o b.stl
		py "$mesh_reader"'
towards = sys.argv[1] == "towards"
p = read_frame(sys.argv[1] + ".nrrd").pixels
check(p, towards)' $way
	done
}

@test "codecs: meshes end at steps of 8 times the pixel, or of 10 times the noise, whichever is larger" {
	for case in "0 7 360" "0 9 342" "2 17 360" "2 23 342"; do
		read -r noise step faces <<<"$case"
		py '
noise, step = map(float, sys.argv[1:])
y, x = np.mgrid[:10, :21].astype("f4")
z = noise * ((x + y) % 2) + step * (x > 9)
write_frames("in.nrrd", Frame(np.stack([x, y, z]).astype("f4"), ["x", "y", "z"]))' $noise $step
		framecat --ascii in.nrrd -o out.ply
		grep -qx "element face $faces" out.ply || { echo "$case"; grep face out.ply; return 1; }
	done
}

@test "codecs: float is refused where it does not fit" {
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 4), "f4")))'
	fails 1 "out.png: PNG holds 8 or 16 bits a sample, not float" framecat in.nrrd -o out.png
	fails 1 "out.jpg: JPEG holds 8 bits a sample, not float" framecat in.nrrd -o out.jpg
	fails 1 "out.pgm: PNM holds 8 or 16 bits a sample, not float" framecat in.nrrd -o out.pgm
	[ "$(ls)" = in.nrrd ]
}

@test "codecs: files that end too early fail and say so" {
	py 'noise = np.random.default_rng(1).integers(0, 256, (50, 50)).astype("u1")
write_frames("in.nrrd", Frame(noise))'
	for format in png tif jpg pgm npy; do
		framecat in.nrrd -o whole.$format
		head -c 1500 whole.$format >cut.$format
		fails 1 "cut.$format: " framecat cut.$format -o out.nrrd
	done
}

# float_colours: frames of three and four floats, colours and others, as TIFF; wide ones are of many strips.
float_colours() {
	py '
rng = np.random.default_rng(3)
for name, channels, shape in (("rgb", "r g b", (65, 129)), ("rgba", "r g b a", (7, 5)), ("xyz", "x y z", (65, 129)),
		("four", "x y z sigma", (1, 1)), ("wide", "r g b", (5, 100000))):
	v = rng.normal(size=(len(channels.split()), *shape)).astype("f4")
	v[0, 0, 0] = np.nan
	write_frames(name + ".nrrd", Frame(v, channels.split(), {"period_px": "60"}))'
	for name in rgb rgba xyz four wide; do
		framecat $name.nrrd -o $name.tif
		framecat $name.tif | framecmp - $name.nrrd
		[ "$(frameinfo -k period_px $name.tif)" = 60 ]
	done
}

@test "codecs: three and four floats are the pixels of one page in TIFF, r g b as colours; planes are read as before" {
	float_colours
	py '
import struct
def page(data):		# {tag: its values}
	at, = struct.unpack("<I", data[4:8])
	n, = struct.unpack("<H", data[at:at + 2])
	tags = {}
	for i in range(n):
		tag, kind, count = struct.unpack("<HHI", data[at + 2 + 12 * i:at + 10 + 12 * i])
		size = {2: 1, 3: 2, 4: 4}[kind] * count
		where = at + 10 + 12 * i
		if size > 4:
			where, = struct.unpack("<I", data[where:where + 4])
		tags[tag] = struct.unpack("<%d%s" % (count, {2: "c", 3: "H", 4: "I"}[kind]), data[where:where + size])
	return tags
for name, colours in ("rgb", 3), ("rgba", 3), ("xyz", 1), ("four", 1), ("wide", 3):
	data, wanted = open(name + ".tif", "rb").read(), read_frame(name + ".nrrd").pixels
	tags, c = page(data), len(wanted)
	expect(tags[284] == (1,) and tags[277] == (c,) and tags[262] == ((2,) if colours == 3 else (1,)), name, tags)
	expect(tags.get(338, ()) == ((2,) if name == "rgba" else (0,) * (c - colours)), name, tags)
	strips = b"".join(data[a:a + n] for a, n in zip(tags[273], tags[279]))
	expect(strips == np.moveaxis(wanted, 0, -1).tobytes(), name)
	expect(len(tags[273]) == (5 if name == "wide" else 1), name, tags[273])
# the same samples as planes, as we wrote them before, keep their values
data = bytearray(open("rgb.tif", "rb").read())
wanted = read_frame("rgb.nrrd").pixels
tags = page(data)
at, n = tags[273][0], tags[279][0]
data[at:at + n] = wanted.tobytes()
h = wanted.shape[1]
entry, = struct.unpack("<I", data[4:8])
tail = len(data) + len(data) % 2
data += bytes(len(data) % 2) + struct.pack("<3I", *(at + i * n // 3 for i in range(3))) + struct.pack("<3I", *[n // 3] * 3)
for i in range(struct.unpack("<H", data[entry:entry + 2])[0]):
	here = entry + 2 + 12 * i
	tag, = struct.unpack("<H", data[here:here + 2])
	if tag in (273, 279):
		data[here + 4:here + 12] = struct.pack("<II", 3, tail if tag == 273 else tail + 12)
	elif tag == 284:
		data[here + 8] = 2
open("planes.tif", "wb").write(data)'
	framecat planes.tif | framecmp - rgb.nrrd
}

@test "codecs: OpenCV reads our TIFF of three and four floats, blue first as it has colours" {
	/usr/bin/python3 -c 'import cv2' 2>/dev/null || skip "no OpenCV: it is not here"
	float_colours
	/usr/bin/python3 -c '
import cv2
from frames import *
for name in "rgb", "rgba", "xyz", "four", "wide":
	wanted = read_frame(name + ".nrrd").pixels
	wanted = np.moveaxis(wanted[[2, 1, 0] + [3] * (len(wanted) - 3)], 0, -1)
	got = cv2.imread(name + ".tif", cv2.IMREAD_UNCHANGED)
	expect(got is not None and got.dtype == np.float32 and got.shape == wanted.shape, name)
	expect(np.array_equal(got, wanted, equal_nan=True), name)'
}

@test "codecs: NPY, PNM, PFM and BMP whose rows lie otherwise than in a frame, as files, cut, and on a pipe" {
	py '
import struct
rng = np.random.default_rng(4)
def samples(kind, shape):
	if kind == "b1":
		return rng.integers(0, 2, shape).astype("?")
	if kind[0] == "f":
		return (rng.integers(-2000, 2000, shape) / 8).astype(kind)
	return rng.integers(0 if kind[0] == "u" else -100, 100 if kind[1] == "1" else 60000 if kind == "u2" else 30000, shape).astype(kind)
def put(name, head, body, wanted):	# wanted: (C, H, W)
	open(name, "wb").write(head + body)
	np.save("wanted." + name, wanted)
def planes(v):
	return v[None] if v.ndim == 2 else np.moveaxis(v, -1, 0)
sizes = (1, 1), (5, 7), (65, 129), (40, 2100), (1500, 33), (3, 50000), (1100, 540)
for h, w in sizes:
	large = h * w > 10000
	for kind in ("u1", "u2", "f4", "f8") if large else ("b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"):
		for order in "<>" if kind[1] != "1" else "<":
			for c in (1, 3) if large else (1, 2, 3, 5):
				v = samples(kind, (h, w, c)).astype(order + kind)
				kept = v.astype("u1" if kind == "b1" else kind if kind in ("u1", "u2") else "f4")
				for layout, stored in ("pixels", v), ("planes", np.moveaxis(v, -1, 0)), ("columns", np.asfortranarray(v)):
					if c == 1:
						stored = stored.reshape(h, w)
					last = c > 1 and stored.shape[2] <= 4 and stored.shape[0] > 4 and stored.shape[1] > 4
					want = stored if c == 1 else np.moveaxis(stored, -1, 0) if last else stored
					want = want.astype(kept.dtype)
					name = "%dx%d-%s%s-%d-%s.npy" % (w, h, kind, "be" if order == ">" else "", c, layout)
					np.save(name, stored if layout != "planes" else np.ascontiguousarray(stored))
					np.save("wanted." + name, want if want.ndim == 3 else want[None])
	for c in 1, 3, 4:
		for top in 255, 65535, 4095:
			v = samples("u2", (h, w, c)) % (top + 1)
			v = v.astype("u1" if top == 255 else "u2")
			head = b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nENDHDR\n" % (w, h, c, top) if c == 4 else \
				b"P%d # a comment\n%d %d\n%d\n" % (5 if c == 1 else 6, w, h, top)
			put("%dx%d-%d-%d.pnm" % (w, h, c, top), head, v.astype(v.dtype.newbyteorder(">")).tobytes(), planes(v))
	for c in 1, 3:
		for order in "<>":
			v = samples("f4", (h, w, c)).astype(order + "f4")
			put("%dx%d-%d-%s.pfm" % (w, h, c, "le" if order == "<" else "be"), b"P%s\n%d %d\n%s1.0\n" %
				(b"f" if c == 1 else b"F", w, h, b"-" if order == "<" else b""), v[::-1].tobytes(), planes(v).astype("f4"))
	for bits in 8, 24, 32:
		for up in 1, -1:
			v = rng.integers(0, 256, (h, w, bits // 8)).astype("u1")
			for table in (range(256), range(255, -1, -1)) if bits == 8 else (None,):
				grey = b"" if bits > 8 else b"".join(bytes((i, i, i, 0)) for i in table)
				head = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 0, 0, 0, 54 + len(grey), 40, w, up * h, 1, bits, 0, 0, 0, 0, 0, 0)
				rows = np.zeros((h, -(-w * bits // 32) * 4), "u1")
				rows[:, :w * bits // 8] = v.reshape(h, -1)
				want = np.array(table, "u1")[v] if bits == 8 else v[:, :, 2::-1]
				put("%dx%d-%d%s%s.bmp" % (w, h, bits, "up" if up > 0 else "down", "" if bits > 8 or table[0] == 0 else "n"),
					head + grey, (rows[::-1] if up > 0 else rows).tobytes(), planes(want))'
	# hundreds of files: one process for all
	printf '%s\n' *.npy *.pnm *.pfm *.bmp | grep -v ^wanted >names
	mapfile -t files <names
	[ ${#files[@]} -gt 700 ]
	framecat -q "${files[@]}" -o all.nrrd
	local compared='
frames = iter_frames(sys.argv[1])
n = 0
for name in open(sys.argv[2]).read().split():
	frame, wanted = next(frames), np.load("wanted." + name + ("" if name.endswith(".npy") else ".npy"))
	expect(frame.pixels.dtype == wanted.dtype and frame.pixels.shape == wanted.shape and
		frame.pixels.tobytes() == wanted.tobytes(), name, frame.pixels.dtype, frame.pixels.shape, wanted.dtype, wanted.shape)
	n += 1
expect(next(frames, None) is None and n > 30, n)'
	py "iter_frames = lambda path: iter(read_frames(path))$compared" all.nrrd names
	# a stream gives the same; a byte less is refused, a byte more is warned of, as on a pipe and before
	grep -E '^(129x65|33x1500|7x5)' names | awk 'NR % 9 == 0' >some
	[ "$(wc -l <some)" -gt 30 ]
	for file in $(<some); do
		framecat -q <$file
	done >streamed.nrrd
	py "iter_frames = lambda path: iter(read_frames(path))$compared" streamed.nrrd some
	for file in 129x65-{u2be-3-pixels,f4-1-planes,i4-1-planes}.npy 129x65-{1-255,3-4095}.pnm 129x65-{1-le,3-be}.pfm \
		129x65-{8up,24down}.bmp; do
		head -c -1 $file >cut.${file##*.}
		fails 1 "cut.${file##*.}: ends too early" framecat cut.${file##*.}
		(cat $file && printf 12345) >more.${file##*.}
		case $file in
		*.pnm) fails 1 "more.pnm: is no PNM image: starts with byte 0x31" framecat more.pnm ;;
		*) fails 0 "more.${file##*.}: 5 bytes behind its end are not read" framecat more.${file##*.} -o more.nrrd ;;
		esac
	done
	# a PFM header that is cut anywhere is no table with a column PF; with a whole row it is one
	for ((n = 3; n < 20; n++)); do
		head -c $n 129x65-3-be.pfm >cut.pfm
		fails 1 "cut.pfm: ends too early" framecat cut.pfm -o cut.nrrd
		[ ! -e cut.nrrd ]
	done
	printf 'PF\n129\n' >column.csv
	[ "$(frameinfo -k channels column.csv)" = PF ]
}

@test "codecs: two channels, or more than four, are a page each in TIFF, which Pillow opens; one frame again" {
	py '
for c in 2, 5, 7:
	for kind in "f4", "u2", "u1":
		write_frames("%s-%d.nrrd" % (kind, c), [Frame((np.arange(c * 35).reshape(c, 5, 7) % 200 + k).astype(kind),
			["c%d" % i for i in range(c)], {"period_px": "60"}) for k in range(2)])'
	for file in f4-{2,5} u2-{2,7} u1-5; do
		framecat $file.nrrd -o $file.tif
		framecat $file.tif | framecmp - $file.nrrd
		[ "$(frameinfo -k period_px $file.tif)" = $'60\n60' ]
		framecat --one-page $file.nrrd -o one.tif
		framecat one.tif | framecmp - $file.nrrd
	done
	"$python" -c '
import glob
from PIL import Image, ImageSequence
from frames import *
for name in sorted(glob.glob("[fu]?-?.tif")):
	wanted = [plane for frame in read_frames(name[:-3] + "nrrd") for plane in frame.pixels]
	got = [np.array(page) for page in ImageSequence.Iterator(Image.open(name))]
	expect(len(got) == len(wanted) > 3, name, len(got))
	for a, b in zip(got, wanted):
		expect(a.dtype == b.dtype and np.array_equal(a, b), name, a, b)'
	run framecat --one-page f4-5.nrrd -o one.tif
	[ "$output" = "framecat: one.tif: 5 channels in one page, which Pillow and OpenCV do not open; --split makes a file of each" ]
	silent framecat -q --one-page f4-5.nrrd -o one.tif
	# three and four channels are one page, as before
	framecat -c 0,1,2 f4-5.nrrd -o a.tif
	framecat -c 0,1,2 f4-5.nrrd | framecat --one-page -o b.tif
	framecat a.tif | framecmp - b.tif
	[ "$(stat -c %s a.tif)" -lt "$((2 * 3 * 35 * 4 + 1200))" ]
}

@test "codecs: pages of channels that were taken out of a TIFF are frames of their own; some missing is an error" {
	py 'write_frames("in.nrrd", Frame(np.arange(5 * 35).reshape(5, 5, 7).astype("f4"), list("abcde"), {"period_px": "60"}))'
	framecat in.nrrd -o whole.tif
	py '
data = bytearray(open("whole.tif", "rb").read())
at, ends, starts = 4, [], []
while True:
	start = int.from_bytes(data[at:at + 4], "little")
	if not start:
		break
	starts.append(start)
	at = start + 2 + 12 * int.from_bytes(data[start:start + 2], "little")
	ends.append(at)
def cut(name, first, last):
	copy = bytearray(data)
	copy[4:8] = starts[first].to_bytes(4, "little")
	copy[ends[last]:ends[last] + 4] = bytes(4)
	open(name, "wb").write(copy)
cut("first.tif", 0, 0)
cut("third.tif", 2, 2)
cut("behind.tif", 2, 3)
cut("cut.tif", 0, 3)
data[ends[1]:ends[1] + 4] = starts[3].to_bytes(4, "little")
cut("gap.tif", 0, 4)'
	[ "$(frameinfo -s first.tif)" = "0 7x5x1 float a" ]
	framecat -c a in.nrrd | framecmp - first.tif
	[ "$(frameinfo -s third.tif)" = "0 7x5x1 float c" ]
	framecat -c c in.nrrd | framecmp - third.tif
	[ "$(frameinfo -s behind.tif)" = $'0 7x5x1 float c\n1 7x5x1 float d' ]
	fails 1 "cut.tif: TIFF page 5 is not channel 5 of 5" framecat cut.tif -o x.nrrd
	fails 1 "gap.tif: TIFF page 3 is not channel 3 of 5" framecat gap.tif -o x.nrrd
	# two cut-outs in one file: neither takes the other for its own
	framecat first.tif third.tif -o two.tif
	[ "$(frameinfo -s two.tif)" = $'0 7x5x1 float a\n1 7x5x1 float c' ]
}

@test "codecs: BMP of 15 to 32 bits with and without masks; what is none is refused" {
	py '
import struct
def bmp(name, bits, compression, masks, pixels, size=40, w=3, h=2, start=None):
	rows = [row + b"\0" * (-len(row) % 4) for row in pixels]
	extra = b"".join(struct.pack("<I", m) for m in masks)
	head = struct.pack("<IiiHHIIiiII", size, w, h, 1, bits, compression, 0, 0, 0, 0, 0) + extra
	head += b"\0" * max(0, size - len(head))
	at = 14 + len(head) if start is None else start
	open(name, "wb").write(b"BM" + struct.pack("<IHHI", 0, 0, 0, at) + head + b"".join(rows))
rgb = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[255, 255, 255], [0, 0, 0], [132, 66, 197]]])
def packed(kind, shifts, tops):
	return [b"".join(struct.pack(kind, sum(int(v) * t // 255 << s for v, s, t in zip(p, shifts, tops))) for p in row)
		for row in rgb[::-1]]		# from below
def want(tops):
	v = np.stack([(rgb[..., c] * t // 255 * 255 + t // 2) // t for c, t in enumerate(tops)])
	return v.astype("u1")
five, green = (31, 31, 31), (31, 63, 31)
bmp("555.bmp", 16, 0, [], packed("<H", (10, 5, 0), five))
bmp("565.bmp", 16, 3, [0xf800, 0x7e0, 0x1f], packed("<H", (11, 5, 0), green))
bmp("565v4.bmp", 16, 3, [0xf800, 0x7e0, 0x1f], packed("<H", (11, 5, 0), green), size=108)
bmp("888.bmp", 32, 3, [0xff, 0xff00, 0xff0000], packed("<I", (0, 8, 16), (255,) * 3))
for name, tops in (("555", five), ("565", green), ("565v4", green), ("888", (255,) * 3)):
	write_frames(name + ".want", Frame(want(tops), ["r", "g", "b"]))
bmp("alpha.bmp", 32, 6, [0xff0000, 0xff00, 0xff, 0xff000000],
	[struct.pack("<3I", *[0x80000000 | i for i in range(3)])] * 2)
write_frames("alpha.want", Frame(np.stack([np.full((2, 3), v) if v != 1 else np.tile(np.arange(3), (2, 1))
	for v in (0, 0, 1, 128)]).astype("u1"), ["r", "g", "b", "a"]))
bmp("masks.bmp", 24, 3, [1, 2, 4], [b"\0" * 9] * 2)
bmp("header.bmp", 24, 0, [], [b"\0" * 9] * 2, size=12)
bmp("inside.bmp", 24, 0, [], [b"\0" * 9] * 2, start=20)
bmp("bits.bmp", 48, 0, [], [b"\0" * 18] * 2)
bmp("none.bmp", 24, 0, [], [], w=0)'
	for name in 555 565 565v4 888 alpha; do
		framecat --delete 'cmd*' $name.bmp | framecmp - $name.want
	done
	fails 1 "masks.bmp: BMP has bit masks for 24 bits" framecat masks.bmp
	fails 1 "header.bmp: BMP header of 12 bytes is not known" framecat header.bmp
	fails 1 "inside.bmp: BMP pixels are said to begin inside the header, at 20" framecat inside.bmp
	fails 1 "bits.bmp: BMP of 48 bits a pixel is not known" framecat bits.bmp
	fails 1 "none.bmp: BMP has no valid size: 0 x 2" framecat none.bmp
}
