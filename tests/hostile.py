"""Hostile files, each made by a recipe: heads that lie, bombs, cut and flipped files, and every
file that a fuzzer ever found. Python's own library is enough.

hostile.py write FOLDER    writes them
hostile.py replay FOLDER [MIB]   gives each file to its tool, as a file and through a pipe: it ends with 0,
	or with 1 and one line, and takes no more memory than its size and its picture allow, and MIB (48)
"""
import functools
import itertools
import multiprocessing.pool
import os
import struct
import subprocess
import sys
import threading
import zlib

MIB = 1 << 20
# What a tool may take beyond what an empty picture takes: so many MiB, and so often the bytes of the file
# and of the picture that its head states (frame(5)).
SPARE = 48
TIMES = 12


class File:
	"""picture: bytes that a head states which the file may honestly hold; tool: who reads it."""

	def __init__(self, name, data, picture=0, tool="frameinfo", refused=True):
		self.name, self.data, self.picture, self.tool = name, data, picture, tool
		self.refused = refused


def bits(seed):
	"""A stream of pseudo-random 32-bit numbers."""
	state = zlib.crc32(seed.encode()) or 1
	while True:
		state ^= state << 13 & 0xffffffff
		state ^= state >> 17
		state ^= state << 5 & 0xffffffff
		yield state


# ---- PNG ----

def chunk(kind, data, claim=None, crc=None):
	return struct.pack(">I", len(data) if claim is None else claim) + kind + data + \
		struct.pack(">I", zlib.crc32(kind + data) if crc is None else crc)


def png(extra=b"", w=8, h=8, depth=8, colour=0, interlace=0, rows=None, after=b""):
	pixels = (b"\0" + bytes(w * depth // 8)) * h if rows is None else rows
	return b"\x89PNG\r\n\x1a\n" + \
		chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, colour, 0, 0, interlace)) + extra + \
		chunk(b"IDAT", zlib.compress(pixels, 9)) + after + chunk(b"IEND", b"")


@functools.lru_cache
def zeros(n):
	"""n zeros packed by deflate."""
	packer, out = zlib.compressobj(9), []
	for _ in range(n // MIB):
		out.append(packer.compress(bytes(MIB)))
	return b"".join(out) + packer.flush()


def png_files():
	for kind in (b"tEXt", b"zTXt", b"iTXt", b"iCCP", b"sPLT", b"eXIf", b"pCAL", b"PLTE", b"hIST",
			b"prVt", b"IDAT"):
		name = kind.decode()
		yield File("png-claim-%s.png" % name, png(chunk(kind, b"x" * 1200, 0x3fffffff)))
		yield File("png-claim-after-%s.png" % name,
			png(after=chunk(kind, b"x" * 1200, 0x7fffffff)))
	text = zlib.compress(b"a" * 7900000, 9)
	yield File("png-ztxt-100.png", png(chunk(b"zTXt", b"fringepipe\0\0" + text) * 100))
	yield File("png-itxt-100.png", png(chunk(b"iTXt", b"fringepipe\0\1\0\0\0" + text) * 100))
	keys = b"".join(b"k%d:=\n" % i for i in range(700000))
	yield File("png-ztxt-keys.png", png(chunk(b"zTXt", b"fringepipe\0\0" + zlib.compress(keys))))
	yield File("png-ztxt-300m.png", png(chunk(b"zTXt", b"fringepipe\0\0" + zeros(300 * MIB))))
	yield File("png-iccp-300m.png", png(chunk(b"iCCP", b"p\0\0" + zeros(300 * MIB))), refused=False)
	yield File("png-huge.png", png(w=0x7fffffff, h=0x7fffffff, rows=b"\0"))
	yield File("png-wide.png", png(w=0x7fffffff, h=1, rows=b"\0"))
	yield File("png-high.png", png(w=1, h=0x7fffffff, rows=b"\0"))
	yield File("png-interlaced.png", png(w=30000, h=30000, interlace=1, rows=b"\0" * 100000))
	yield File("png-crc.png", png(chunk(b"tEXt", b"fringepipe\0a:=b", crc=1))[:-20])


# ---- TIFF ----

def tiff(tags, data=b"", order="<", big=False):
	"""A page: tags are (tag, type, values or raw offset, count or None); data lie behind them."""
	sizes = {1: "B", 2: "B", 3: "H", 4: "I", 16: "Q"}
	entry = 20 if big else 12
	start = 16 if big else 8
	head = (b"II" if order == "<" else b"MM") + (struct.pack(order + "HHHQ", 43, 8, 0, 16)
		if big else struct.pack(order + "HI", 42, 8))
	word = "Q" if big else "I"
	tail = start + (8 if big else 2) + entry * len(tags) + (8 if big else 4)
	rows, pool = b"", b""
	for tag, kind, values, count in tags:
		packed = struct.pack(order + "%d%s" % (len(values), sizes[kind]), *values)
		n = len(values) if count is None else count
		if len(packed) > (8 if big else 4) or count is not None:
			place = struct.pack(order + word, tail + len(pool))
			pool += packed
		else:
			place = packed.ljust(8 if big else 4, b"\0")
		rows += struct.pack(order + "HH" + word, tag, kind, n) + place
	return head + struct.pack(order + ("Q" if big else "H"), len(tags)) + rows + \
		bytes(8 if big else 4) + pool + data


def page(w=8, h=8, bits_=8, compression=1, samples=1, rows=None, offsets=(8,), counts=(64,), more=()):
	return sorted([(256, 4, [w], None), (257, 4, [h], None), (258, 3, [bits_], None),
		(259, 3, [compression], None), (262, 3, [1], None), (273, 4, list(offsets), None),
		(277, 3, [samples], None), (278, 4, [h if rows is None else rows], None),
		(279, 4, list(counts), None)] + list(more), key=lambda tag: tag[0])


def tiff_files():
	top = 0x7fffffff
	for name, code in (("none", 1), ("lzw", 5), ("ojpeg", 6), ("jpeg", 7), ("deflate", 8), ("packbits", 32773),
			("pixarlog", 32909), ("lzma", 34925), ("zstd", 50000), ("webp", 50001), ("lerc", 34887),
			("fax", 4), ("next", 32766), ("thunder", 32809), ("log", 34676)):
		for w, h, rows in ((top, top, top), (top, 1, 1), (1, top, 1), (1, top, top), (60000, 60000, 60000),
				(60000, 60000, 1)):
			yield File("tiff-%s-%d-%d-%d.tif" % (name, w, h, rows),
				tiff(page(w, h, compression=code, rows=rows), bytes(2000)))
		# the largest image that the check of sizes lets through in such a file
		yield File("tiff-%s-most.tif" % name, tiff(page(8000, 8000, compression=code), bytes(2000)),
			picture=64000000)
		yield File("tiff-%s-bytes.tif" % name, tiff(page(compression=code, counts=(0x7fffffff,)), bytes(2000)),
			refused=code != 1)
	for tag in (270, 273, 279, 320, 324, 338, 347, 34675, 50000):
		for kind in (2, 3, 4):
			tags = [t for t in page() if t[0] != tag]
			tags = sorted(tags + [(tag, kind, [0] * 40, 0x3fffffff)], key=lambda t: t[0])
			yield File("tiff-tag-%d-%d.tif" % (tag, kind), tiff(tags, bytes(500)), refused=False)
	for tag in (270, 273, 279):
		tags = sorted([t for t in page() if t[0] != tag] + [(tag, 2 if tag == 270 else 16, [0] * 40,
			1 << 40)], key=lambda t: t[0])
		yield File("tiff-big-%d.tif" % tag, tiff(tags, bytes(500), big=True), refused=False)
	yield File("tiff-samples.tif", tiff(page(samples=65535), bytes(500)))
	yield File("tiff-tiles.tif", tiff(page(more=[(322, 4, [top & ~15], None), (323, 4, [top & ~15], None),
		(324, 4, [8], None), (325, 4, [64], None)]), bytes(500)))
	yield File("tiff-circle.tif", tiff(page(), bytes(64))[:-68] + struct.pack("<I", 8) + bytes(64), refused=False)


# ---- NRRD and the rest ----

def nrrd(fields, data=b"", version=4):
	return b"NRRD000%d\n" % version + fields.encode() + b"\n\n" + data


def head(sizes, kind="uchar", more="", encoding="raw"):
	return "type: %s\ndimension: %d\nsizes: %s\nendian: little\nencoding: %s%s" % (kind, len(sizes.split()),
		sizes, encoding, more)


def nrrd_files():
	top = 2 ** 63 - 1
	for sizes in ("%d %d" % (top, top), "%d 1" % top, "1 %d" % top, "1 1 %d" % top, "100000 100000",
			"1 1 1000000000", "2147483647 2147483647 4"):
		for kind in ("uchar", "float", "double"):
			yield File("nrrd-%s-%s.nrrd" % (kind, sizes.replace(" ", "x")), nrrd(head(sizes, kind), b"x" * 64))
		yield File("nrrd-gzip-%s.nrrd" % sizes.replace(" ", "x"),
			nrrd(head(sizes, encoding="gzip"), zlib.compress(bytes(1000))))
		yield File("nrrd-text-%s.nrrd" % sizes.replace(" ", "x"), nrrd(head(sizes, encoding="ascii"), b"1 2 3"))
	yield File("nrrd-channels.nrrd", nrrd(head("1 1 4000000"), bytes(4000000)), picture=4000000)
	yield File("nrrd-keys.nrrd", nrrd(head("1 1") + "".join("\nk%d:=" % i for i in range(700000)), b"x"))
	yield File("nrrd-header.nrrd", b"NRRD0004\n" + b"#" * (17 * MIB))
	yield File("nrrd-value.nrrd", nrrd(head("1 1", more="\na:=" + "b" * (17 * MIB)), b"x"))
	yield File("nrrd-gzip-bomb.nrrd", nrrd(head("4 4", encoding="gzip"),
		b"\x1f\x8b\x08\0\0\0\0\0\0\3" + zeros(300 * MIB)[2:-4] + bytes(8)), refused=False)
	yield File("nrrd-spacings.nrrd", nrrd(head("1 1", more="\nspacings: " + "1 " * 200000), b"x"), refused=False)


def other_files():
	top = 2 ** 31 - 1
	for magic in ("P1", "P2", "P3", "P4", "P5", "P6"):
		for w, h in ((top, top), (top, 1), (1, top), (100000, 100000), (2 ** 63 - 1, 2)):
			yield File("pnm-%s-%dx%d.pnm" % (magic, w, h), b"%s\n%d %d\n%s" % (magic.encode(), w, h,
				b"" if magic in ("P1", "P4") else b"255\n") + b"1 2 3")
	yield File("pam.pam", b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA\nENDHDR\nabc" % (top, top))
	yield File("pam-depth.pam", b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH %d\nMAXVAL 255\nENDHDR\nabc" % top)
	yield File("pnm-comment.pgm", b"P5\n#" + b"c" * (4 * MIB) + b"\n1 1\n255\nx", refused=False)
	for w, h in ((top, top), (top, 1), (1, top)):
		yield File("pfm-%dx%d.pfm" % (w, h), b"PF\n%d %d\n-1.0\nabcdefgh" % (w, h))
		yield File("bmp-%dx%d.bmp" % (w, h), b"BM" + struct.pack("<IHHI", 100, 0, 0, 54) +
			struct.pack("<IiiHHIIiiII", 40, w, h, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(50))
		yield File("npy-%dx%d.npy" % (w, h), b"\x93NUMPY\1\0" + struct.pack("<H", 80) +
			(b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (h, w)).ljust(79) + b"\n" + bytes(64))
	yield File("npy-header.npy", b"\x93NUMPY\2\0" + struct.pack("<I", 0xfffffff0) + b"{" * 100)
	yield File("npy-channels.npy", b"\x93NUMPY\1\0" + struct.pack("<H", 80) +
		b"{'descr': '|u1', 'fortran_order': False, 'shape': (4000000, 1, 1), }".ljust(79) + b"\n" + bytes(4000000),
		picture=4000000)


def table_files():
	yield File("csv-columns.csv", b",".join(b"a%d" % i for i in range(600000)) + b"\n" + b"1," * 599999 + b"1\n")
	yield File("csv-rows.csv", b"x,y\n" + b",\n" * 500000, refused=False)
	yield File("csv-keys.csv", b"".join(b"# k%d:=\n" % i for i in range(700000)) + b"x,y,z\n1,2,3\n")
	yield File("csv-line.csv", b"x,y\n1," + b"1" * (20 * MIB) + b"\n")
	yield File("csv-names.csv", b"x,y," + b"n" * (20 * MIB) + b"\n1,2,3\n")
	yield File("vnl-columns.vnl", b"# " + b" ".join(b"a%d" % i for i in range(600000)) + b"\n" + b"1 " * 600000 + b"\n")
	yield File("pts-count.pts", b"4000000000\n" + b"1 2 3\n" * 1000)
	yield File("pcd-size.pcd", b"VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 3000000000\nHEIGHT 3000000000\nDATA binary\n" + bytes(5000))
	yield File("vnl-rows.vnl", b"# x\n" + b"-\n" * 500000, refused=False)
	form = b"ply\nformat %s 1.0\n"
	for words in (b"ascii", b"binary_little_endian", b"binary_big_endian"):
		name = words.decode()
		yield File("ply-vertices-%s.ply" % name, form % words + b"element vertex %d\nproperty float x\nproperty float y\n"
			b"property float z\nend_header\n1 2 3\n" % top)
		for tool in ("frameinfo", "mesh2depth"):
			yield File("ply-faces-%s-%s.ply" % (name, tool), form % words + b"element vertex 1\nproperty float x\n"
				b"property float y\nproperty float z\nelement face %d\nproperty list int int vertex_indices\n"
				b"end_header\n0 0 0\n2147483647 0 0 0\n" % top, tool=tool)
	yield File("ply-nothing.ply", form % b"ascii" + b"element nothing %d\nelement vertex 1\nproperty float x\n"
		b"end_header\n1\n" % (10 ** 15), tool="mesh2depth")
	yield File("stl-claim.stl", bytes(80) + struct.pack("<I", 0xffffffff) + bytes(100), tool="mesh2depth")
	yield File("obj-polygon.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf" + b" 1 2 3" * 100000 + b"\n", tool="mesh2depth", refused=False)
	yield File("obj-line.obj", b"v 0 0 0\n#" + b"f" * (20 * MIB), tool="mesh2depth")


top = 2 ** 31 - 1


# ---- cut and flipped files of the tools' own ----

SUFFIXES = ("png", "tif", "jpg", "pgm", "pfm", "npy", "nrrd")


def own_files(folder):
	"""Files that framecat writes, cut and with flipped bytes."""
	for suffix in SUFFIXES:
		path = os.path.join(folder, "own." + suffix)
		kind = "PF" if suffix == "pfm" else "P5"
		source = nrrd(head("9 7", "float" if suffix == "pfm" else "uchar", "\nrole:=phase\nperiod_px:=60"),
			bytes(i * 37 & 0x3f for i in range(63 * (4 if suffix == "pfm" else 1))))
		subprocess.run(["framecat", "-q", "-o", path], input=source, check=True)
		with open(path, "rb") as file:
			data = file.read()
		random = bits(suffix)
		for n in range(0, len(data), max(1, len(data) // 12)):
			yield File("cut-%d.%s" % (n, suffix), data[:n], refused=False)
		for i in range(16):
			at = next(random) % len(data)
			changed = bytearray(data)
			changed[at] ^= 1 << next(random) % 8 if i % 2 else 0xff
			if suffix == "png":
				changed = mend(bytes(changed))
			yield File("flip-%d.%s" % (i, suffix), bytes(changed), picture=1 << 16, refused=False)


def mend(data):
	"""A PNG whose chunks have their right check sums again."""
	out, at = bytearray(data), 8
	while at + 12 <= len(out):
		n = struct.unpack_from(">I", out, at)[0]
		if at + 12 + n > len(out):
			break
		struct.pack_into(">I", out, at + 8 + n, zlib.crc32(bytes(out[at + 4:at + 8 + n])))
		at += 12 + n
	return bytes(out)


def jpeg_files(folder):
	path = os.path.join(folder, "own.jpg")
	with open(path, "rb") as file:
		data = file.read()
	at = data.index(b"\xff\xc0")
	for name, code in (("baseline", 0xc0), ("progressive", 0xc2), ("arithmetic", 0xc9), ("lossless", 0xc3)):
		for w, h in ((65500, 65500), (65500, 1), (1, 65500), (2000, 2000)):
			changed = bytearray(data)
			changed[at + 1] = code
			struct.pack_into(">HH", changed, at + 5, h, w)
			yield File("jpeg-%s-%dx%d.jpg" % (name, w, h), bytes(changed), picture=w * h if w * h < 10 ** 7 else 0)
	yield File("jpeg-comments.jpg", data[:2] + b"\xff\xfe\xff\xff" * 5000)
	yield File("jpeg-scans.jpg", progressive(1024, 1024, 883), picture=1024 * 1024)
	yield File("jpeg-scans-few.jpg", progressive(1024, 1024, 99), picture=1024 * 1024, refused=False)


def progressive(w, h, scans):
	"""A grey progressive JPEG, all of whose blocks are empty, in so many scans: one for the averages,
	the others for a bit of one coefficient each, a run of empty blocks."""
	blocks = (w // 8) * (h // 8)
	table = lambda kind, code: b"\xff\xc4" + struct.pack(">HB", 20, kind) + bytes([1] + [0] * 15 + [code])
	out = b"\xff\xd8\xff\xdb" + struct.pack(">HB", 67, 0) + bytes([1] * 64)
	out += b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, h, w, 1) + b"\1\x11\0"
	out += table(0x00, 0) + table(0x10, 0xe0)	# both codes are the bit 0; a run of 2^14 + 14 bits
	out += b"\xff\xda" + struct.pack(">HB", 8, 1) + b"\1\0\0\0\0" + bytes((blocks + 7) // 8)
	run = bytes((15 * ((blocks + 16383) // 16384) + 7) // 8)
	for i in range(scans - 1):
		k, low = 1 + i // 14, 13 - i % 14
		high = 0 if low == 13 else low + 1
		out += b"\xff\xda" + struct.pack(">HB", 8, 1) + bytes([1, 0, k, k, high << 4 | low]) + run
	return out + b"\xff\xd9"


# ---- what fuzzers found, each as a recipe ----

def found_files():
	yield File("found-mark.csv", b"\n\xef\xbb\xbf", refused=False)
	yield File("found-names.vnl", b" # \x0f #  \xed", refused=False)
	yield File("found-beyond.bmp", b"BM" + struct.pack("<IHHI", 100, 0, 0, 0x73656400) +
		struct.pack("<IiiHHIIiiII", 40, top, 1, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(40))
	yield File("found-claim.pgm", b"P1\n2147483647 1\n1 2 3")


def all_files(folder):
	return itertools.chain(png_files(), tiff_files(), nrrd_files(), other_files(), table_files(),
		own_files(folder), jpeg_files(folder), found_files())


ARGUMENTS = {"frameinfo": [], "mesh2depth": ["--size", "8x8", "-o", "/dev/null"]}


def run(command, path=None):
	"""Exit status, text of standard error, greatest resident memory in bytes. A child's memory begins
	with its parent's, so that this process holds no file; path: the file comes through a pipe."""
	feeder = subprocess.Popen(["cat", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) if path else None
	child = subprocess.Popen(command, stdin=feeder.stdout if feeder else subprocess.DEVNULL,
		stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
	if feeder:
		feeder.stdout.close()
	watch = threading.Timer(20, child.kill)
	watch.start()
	message = child.stderr.read(100000).decode(errors="replace")
	child.stderr.close()
	_, status, usage = os.wait4(child.pid, 0)
	child.returncode = os.waitstatus_to_exitcode(status)
	watch.cancel()
	if feeder:
		feeder.wait()
	return child.returncode, message, usage.ru_maxrss * 1024


def judge(bytes_, picture, refused, status, message, memory, base):
	lines = [line for line in message.splitlines() if "warning" not in line]
	if status not in (0, 1):
		return "exit %d: %s" % (status, message[-300:])
	if status == 1 and len(lines) != 1:
		return "%d lines: %s" % (len(lines), message[:300])
	if refused and status == 0:
		return "was not refused"
	if memory > base + TIMES * (bytes_ + picture):
		return "took %d MiB for a file of %d bytes and a picture of %d" % (memory // MIB, bytes_, picture)
	return None


def write(folder):
	"""The files, and a line on each: its name, picture, tool and whether it must be refused."""
	with open(os.path.join(folder, "list"), "w") as lines:
		for file in all_files(folder):
			with open(os.path.join(folder, file.name), "wb") as out:
				out.write(file.data)
			print(file.name, file.picture, file.tool, int(file.refused), file=lines)


def replay(folder, spare=SPARE):
	with open(os.path.join(folder, "list")) as lines:
		files = [line.split() for line in lines]
	base = {}
	for tool, text in PLAIN.items():
		plain = os.path.join(folder, "plain")
		with open(plain, "wb") as file:
			file.write(text)
		status, message, base[tool] = run([tool] + ARGUMENTS[tool] + [plain])
		assert status == 0, message

	def one(name, picture, tool, refused, pipe):
		path = os.path.join(folder, name)
		got = run([tool] + ARGUMENTS[tool] + ["-" if pipe else path], path if pipe else None)
		why = judge(os.path.getsize(path), int(picture), int(refused), *got, base[tool] + int(spare) * MIB)
		return why and "%s%s: %s" % (name, " (pipe)" if pipe else "", why)

	# cut and flipped files come as files only
	jobs = [file + [pipe] for file in files for pipe in (False, True)
		if not (pipe and file[0].startswith(("cut", "flip")))]
	with multiprocessing.pool.ThreadPool(os.cpu_count()) as pool:
		bad = [line for line in pool.starmap(one, jobs) if line]
	print("\n".join(bad + ["%d runs, %d bad" % (len(jobs), len(bad))]))
	return len(bad)


PLAIN = {"frameinfo": b"P5\n1 1\n255\nx", "mesh2depth": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"}

if __name__ == "__main__":
	if sys.argv[1] == "write":
		write(sys.argv[2])
	else:
		sys.exit(replay(*sys.argv[2:]) > 0)
