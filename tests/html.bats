load helpers

# The manual as HTML: links and pictures, and its viewer in a browser without a window, over file://.

need_browser() {
	command -v chromium >/dev/null || skip "no browser: chromium is not here"
}

# The manual with two sections of the tutorial, which take a second: examples.bats runs all of them.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	export manual=$PWD/manual truth=$PWD/truth.nrrd
	cp -r "$top/man" pages
	awk 'BEGIN { keep = 1 }
		/^\.Sh/ { tutorial = /TUTORIAL/; keep = 1 }
		tutorial && /^\.Ss/ { keep = /With a manifest|Depth without a calibration/ }
		keep' "$top/man/fringepipe.7" >pages/fringepipe.7
	# what an older run left that was interrupted
	mkdir -p manual/pictures
	cp "$top/scripts/html/style.css" manual
	touch manual/old.1.html manual/pictures/old.png
	"$top/scripts/html/generate" pages manual
	fringesim -s 96x64 --scene relief --frames 4 --turn 20 --truth truth.nrrd -o captures.nrrd
}

bodies='
import re
from PIL import Image
from browser import *

def open_viewer(b, manual):
	b.open("file://" + manual + "/viewer.html")
	b.wait("window.fringepipe && document.readyState === \"complete\"")

def words(b):
	return b.run("document.getElementById(\"state\").textContent")

def give(b, path):
	"""as by the button: a File of the browser itself"""
	before = words(b)
	node = b.call("DOM.querySelector", nodeId=b.call("DOM.getDocument")["root"]["nodeId"], selector="#file")["nodeId"]
	b.call("DOM.setFileInputFiles", nodeId=node, files=[os.path.abspath(path)])
	b.wait("document.getElementById(\"state\").textContent.startsWith(%s)" % json.dumps(os.path.basename(path)))

def depth_of(b, frame):
	b.run("fringepipe.seek(%d)" % frame)
	b.wait("fringepipe.at() === %d" % frame)
	text = b.run("""(() => { const u = new Uint8Array(fringepipe.read_depth().buffer); let t = "";
		for (let i = 0; i < u.length; i += 8192) t += String.fromCharCode(...u.subarray(i, i + 8192));
		return btoa(t); })()""")
	w, h = b.run("[fringepipe.stream().w, fringepipe.stream().h]")
	z = np.frombuffer(base64.b64decode(text), "<f4").reshape(h, w)
	return np.where(z < -1e29, np.nan, z)

def exact(b):
	b.run("fringepipe.look.smooth && document.getElementById(\"smooth\").click()")

def offline(b):
	expect(b.errors == [], b.errors)
	expect(all(r.startswith("file:") for r in b.requests), b.requests)
'

@test "html: every page is there, links and pictures resolve, only our own pages are links" {
	py 'import glob, html.parser, os, re
class Reader(html.parser.HTMLParser):
	def __init__(self, path):
		super().__init__()
		self.ids, self.links, self.pictures, self.text, self.stack = set(), [], [], [], []
		self.feed(open(path, encoding="utf-8").read())
	def handle_starttag(self, tag, found):
		found = dict(found)
		self.ids.add(found.get("id"))
		if tag == "a" and "href" in found or tag == "link":
			self.links.append((found["href"], found.get("class")))
		if tag == "img":
			self.pictures.append(found["src"])
folder, man = sys.argv[1:]
pages = {os.path.basename(path): Reader(path) for path in glob.glob(folder + "/*.html")}
ours = {os.path.basename(path) + ".html" for path in glob.glob(man + "/*.[157]")}
expect(set(pages) == ours | {"index.html", "viewer.html"}, set(pages) ^ ours)
for name, page in pages.items():
	for link, kind in page.links:
		to, _, place = link.partition("#")
		if kind in ("Lk", "RsU"):		# another site that the page itself names
			continue
		expect(not re.match("[a-z]+:", link), name, link)
		expect(os.path.isfile(os.path.join(folder, to or name)), name, link)
		expect(not place or place in pages[to or name].ids, name, link)
		expect(kind != "Xr" or to in ours, name, link)
	for picture in page.pictures:
		expect(os.path.getsize(os.path.join(folder, picture)) > 500, name, picture)
listed = {link.partition("#")[0] for link, _ in pages["index.html"].links}
expect(ours <= listed, "not in the index:", ours - listed)
tutorial = pages["fringepipe.7.html"].pictures
expect(tutorial == ["pictures/tutorial-face.png", "pictures/tutorial-section.svg"], tutorial)
expect(len(pages["index.html"].pictures) == 6, pages["index.html"].pictures)
expect("depthcode.5.html" in {link for link, _ in pages["depthenc.1.html"].links})
' "$manual" "$top/man"
	has 'class="Xr">ffmpeg(1)</span>' <"$manual/frame.5.html"
	run -1 grep -nE "(https?|wss?)://[a-z]|@import|url\(|@include| src=" "$manual/viewer.html"
	# a folder of somebody else is left alone
	mkdir other
	touch other/letter
	run ! "$top/scripts/html/generate" "$top/man" other
	[[ $output == *"has files that are no manual"* ]]
	[ "$(ls other)" = letter ]
	touch other/style.css		# one of another page
	run ! "$top/scripts/html/generate" "$top/man" other
	[[ $output == *"has files that are no manual"* ]]
	[ ! -e "$manual/pictures/old.png" ]
	# a run that fails changes nothing
	mkdir pages broken
	cp "$BATS_FILE_TMPDIR/pages/fringepipe.7" pages
	printf '#!/bin/sh\nexit 1\n' >broken/fringesim
	chmod +x broken/fringesim
	run ! env PATH="$PWD/broken:$PATH" "$top/scripts/html/generate" pages half
	[[ $output == *"generate: the tutorial failed"* ]]
	[ ! -e half ]
	# empty text is text
	mkdir texts
	: >texts/none
	printf '<\n@include none\n>\n' >page
	[ "$("$top/common/live/embed" page texts)" = "$(printf '<\n>')" ]
	run -1 "$top/common/live/embed" page
	[[ $output == *"embed: there is no "*/none* ]]
	[ "$(make -C "$top" -n html HTML="$PWD/there" | grep -c "scripts/html/generate man \"$PWD/there\"")" -eq 1 ]
}

@test "html: pages read well at the width of a phone" {
	need_browser
	py "$bodies"'
with Browser(size=(360, 640)) as b:
	b.resize(360, 640, True)
	for page in "index.html", "fringepipe.7.html", "depthenc.1.html", "frame.5.html", "fringepipe-accuracy.7.html":
		b.open("file://" + sys.argv[1] + "/" + page)
		b.wait("document.readyState === \"complete\" && location.pathname.endsWith(%s)" % json.dumps(page))
		expect(b.run("document.documentElement.scrollWidth") <= 360, page, b.run("document.documentElement.scrollWidth"))
		expect(b.run("[...document.images].every(v => !v.complete || v.naturalWidth > 0)"), page)
	offline(b)' "$manual"
}

@test "html: the viewer shows its sample: depth is depthdec's, it plays, turns, and asks nobody" {
	need_browser
	sed -n '/id="sample"/,/<\/script>/p' "$manual/viewer.html" | sed '1d;$d' | base64 -d >sample.mp4
	depthdec sample.mp4 -o sample.nrrd
	py "$bodies"'
truth = read_frames("sample.nrrd")
with Browser(size=(640, 480)) as b:
	open_viewer(b, sys.argv[1])
	b.wait("fringepipe.count.shown >= 3")		# it plays
	expect(words(b) == "sample.mp4: 320 x 240, depthcode mwd, H.264", words(b))
	z = depth_of(b, 5)
	expect(b.run("document.getElementById(\"pause\").textContent") == "Play")
	smooth = np.abs(z - truth[5]["depth"])
	expect(np.median(smooth) < 0.05 and np.isfinite(z).all(), np.median(smooth))
	exact(b)
	for frame in 5, 23, 0, 11:
		error = np.abs(depth_of(b, frame) - truth[frame]["depth"])
		print(frame, error.max(), error.mean())
		expect(error.max() < 1e-3, frame, error.max())
	yaw = b.run("document.getElementById(\"slider\").focus(), fringepipe.look.yaw")
	b.call("Input.dispatchKeyEvent", type="rawKeyDown", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
	b.wait("fringepipe.at() === 12")
	expect(b.run("document.activeElement.blur(), fringepipe.look.yaw") == yaw)
	expect(", and ." in b.run("document.getElementById(\"help\").textContent"))
	b.screenshot("a.png")
	seen = np.array(Image.open("a.png").convert("L")).astype(float)[60:400]
	expect(0.1 < (seen > 90).mean() < 0.8 and seen.std() > 40, (seen > 90).mean(), seen.std())
	b.mouse("mousePressed", 300, 200, clickCount=1)
	b.mouse("mouseMoved", 360, 200)
	b.mouse("mouseReleased", 360, 200, buttons=0, clickCount=1)
	b.screenshot("b.png")
	expect((np.array(Image.open("b.png").convert("L")).astype(float)[60:400] != seen).mean() > 0.1)
	shown = b.run("fringepipe.count.shown")
	b.press(" ")
	b.wait("fringepipe.count.shown >= %d" % (shown + 3))
	b.press(" ")
	b.press(".")
	for w, h in (320, 560), (1200, 800):
		b.resize(w, h)
		expect(b.run("document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(\"button\")].every(" +
			"v => v.getBoundingClientRect().right <= innerWidth && v.getBoundingClientRect().bottom <= innerHeight)"), w, h)
	offline(b)' "$manual"
}

@test "html: the viewer shows what depthenc and holoenc write: layouts, bits, colour planes, tracks, textures" {
	need_browser
	py 'out = []
for k, frame in enumerate(read_frames(sys.argv[1])):
	z = frame["depth"][:63, :95].copy()
	y, x = np.mgrid[:63, :95]
	z[(x - 60) ** 2 + (y - 30) ** 2 < 80] = np.nan
	r, g, b = 40 + x, 200 - 2 * y, 60 + 80 * (x > 40)
	out.append(Frame(np.stack([z, r, r, g, b]).astype("f4"), ["depth", "texture", "r", "g", "b"],
		{"z_axis": "towards", "length_unit": "mm"}))
write_frames("in.nrrd", out)' "$truth"
	write() {		# NAME ENCODER "OPTIONS" "OPTIONS OF FRAMECAT"
		# shellcheck disable=SC2086
		"$2" --depth-range file $3 in.nrrd 2>>messages | framecat $4 -o "$1.mp4" 2>>messages
		"${2/enc/dec}" "$1.mp4" -o "$1.nrrd" 2>>messages
	}
	write luma10 depthenc "" "--lossless"
	write luma8 depthenc "--bits 8" ""
	write track depthenc "--mask track" ""
	write mwd10 depthenc "--layout mwd --bits 10" ""
	write mwd420 depthenc "--layout mwd" "--chroma 420"
	write fold422 depthenc "--layout fold --mask track" "--chroma 422"
	write below depthenc "--texture texture" "--crf 0"
	write colours depthenc "--layout mwd --texture r,g,b" "--crf 8"
	write skin depthenc "--texture r,g,b --texture-place track" "--crf 0"
	write holo holoenc "-P 20" "--lossless"
	write holo420 holoenc "-P 40 --layout yuv" "--chroma 420 --crf 10"
	write holotex holoenc "-P 20 --texture r,g,b --texture-place below" "--lossless"
	py "$bodies"'
close = 3e-3		# mm of 40: single precision, of different programs
with Browser(size=(480, 400)) as b:
	open_viewer(b, sys.argv[1])
	b.wait("fringepipe.count.shown >= 1")
	exact(b)
	for name, most, share in (("luma10", close, 1), ("luma8", close, 1), ("track", close, 1), ("mwd10", close, 1),
			("mwd420", close, 0.995), ("fold422", close, 0.99), ("below", close, 1), ("colours", close, 0.995), ("skin", close, 1),
			("holo", 0.1, 0.97), ("holo420", 1, 0.85), ("holotex", 0.1, 0.97)):
		give(b, name + ".mp4")
		expect(b.run("fringepipe.stream() !== null"), name, words(b))
		frames = read_frames(name + ".nrrd")
		expect(b.run("document.getElementById(\"frame\").textContent").endswith("of %d" % len(frames)), name)
		for k in 2, 0:
			z, truth = depth_of(b, k), frames[k]["depth"]
			there, both = np.isfinite(truth), np.isfinite(truth) & np.isfinite(z)
			near = (np.abs(z - truth)[both] <= most).sum() / there.sum()
			print(name, k, "near %.4f, extra %d, median %.2g" % (near, (np.isfinite(z) & ~there).sum(), np.median(np.abs(z - truth)[both])))
			expect(near >= share and (np.isfinite(z) & ~there).sum() <= (0 if share == 1 else 120), name, near)
		textured = len(frames[0].names) > 1
		expect(b.run("fringepipe.stream().textured") == textured and b.run("fringepipe.look.mode") == int(textured), name)
		if textured:
			b.run("window.parts = fringepipe.ply_of_surface()")
			text = b.run("btoa(String.fromCharCode(...new Uint8Array(parts[1].buffer)))")
			points = np.frombuffer(base64.b64decode(text), np.dtype([("p", "<f4", 3), ("c", "u1", 3)]))
			y, x = np.nonzero(np.isfinite(z))
			names = "rgb" if "r" in frames[0].names else ["texture"] * 3
			off = [np.abs(points["c"][:, i].astype(float) - frames[0][c][y, x]).mean() for i, c in enumerate(names)]
			print(name, "texture", off)
			expect(max(off) < 1.5, name, off)
	offline(b)' "$manual"
}

@test "html: the viewer says in a line what cannot be shown: other files, cut ones, codecs, an old browser" {
	need_browser
	depthenc --depth-range file "$truth" -o good.mp4
	head -c 3000 good.mp4 >cut.mp4
	ffmpeg -v error -i good.mp4 -map 0:0 -c copy -map_metadata -1 plain.mp4
	ffmpeg -v error -i good.mp4 -map 0:0 -vf scale=48:32 -pix_fmt yuv420p10 -movflags use_metadata_tags scaled.mp4
	ffmpeg -v error -i good.mp4 -map 0:0 -pix_fmt yuv420p -color_range pc -movflags use_metadata_tags eight.mp4
	tagged() {		# NAME TAG VALUE
		ffmpeg -v error -i good.mp4 -map 0:0 -c copy -metadata "$2=$3" -movflags use_metadata_tags "$1.mp4"
	}
	tagged large depthcode_size "8000 8000"
	tagged huge depthcode_size "16000 16000"
	tagged broken depthcode_size "96.5 64"
	tagged long depthcode_layout "$(printf '%05000d' 1)"
	ffmpeg -v error -i good.mp4 -map 0:0 -c copy -movflags +frag_keyframe+empty_moov pieces.mp4
	depthenc --bits 8 --depth-range file "$truth" | framecat --video mjpeg -o mjpeg.mp4
	depthenc --depth-range file "$truth" -o video.mkv
	framecat "$top/samples/pictures/fringes.png" -o picture.jpg
	cp "$top/samples/pictures/fringes.png" picture.png
	echo "a letter" >letter.txt
	: >nothing.mp4
	head -c 5000 /dev/urandom | sed '1s/^/\x01\x02/' >noise.mp4
	# 300 bytes whose index states more pictures than memory holds
	py 'import struct
def box(name, *parts):
	return struct.pack(">I4s", 8 + len(b"".join(parts)), name) + b"".join(parts)
long = lambda *v: struct.pack(">%dI" % len(v), *v)
for name, n in ("many", 0xffffffff), ("outside", 1 << 20):
	stbl = box(b"stbl", box(b"stsd", long(0, 1), box(b"avc1", bytes(78))), box(b"stsz", long(0, 1, n)),
		box(b"stsc", long(0, 1, 1, 0xffffffff, 1)), box(b"stco", long(0, 1, 0)))
	trak = box(b"trak", box(b"mdia", box(b"mdhd", bytes(24)), box(b"hdlr", bytes(8), b"vide"), box(b"minf", stbl)))
	open(name + ".mp4", "wb").write(box(b"moov", trak))
open("tracks.mp4", "wb").write(box(b"moov", 9 * trak))'
	py "$bodies"'
lines = {"cut.mp4": "it is cut", "plain.mp4": "a video without depth", "scaled.mp4": "48 x 32 pixels, not 96 x 64: it was scaled or cut",
	"eight.mp4": "its levels have 8 bits here, not 10", "pieces.mp4": "it is a fragmented MP4", "mjpeg.mp4": "this browser does not decode",
	"video.mkv": "it is a Matroska or WebM video; framecat", "picture.jpg": "it is a JPEG picture", "picture.png": "it is a PNG picture",
	"large.mp4": "96 x 64 pixels, not 8000 x 8000: it was scaled or cut", "huge.mp4": "are too large for this",
	"broken.mp4": "width must be a whole number, not 96.5", "long.mp4": "depthcode_layout must be luma or mwd or fold, not",
	"many.mp4": "its index is damaged", "outside.mp4": "a picture lies outside of the file", "tracks.mp4": "it has 9 tracks",
	"letter.txt": "it is a text", "nothing.mp4": "it is an empty file", "noise.mp4": "it is a file of a kind"}
drop = """(async text => { const u = Uint8Array.from(atob(text), c => c.charCodeAt(0)), data = new DataTransfer();
	data.items.add(new File([u], "dropped.mp4"));
	document.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }));
	const hint = !document.getElementById("drop").hidden;
	document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	return hint && document.getElementById("drop").hidden; })("%s")"""
with Browser(size=(480, 400)) as b:
	open_viewer(b, sys.argv[1])
	b.wait("fringepipe.count.shown >= 1")
	for name, part in lines.items():
		give(b, name)
		print(words(b))
		expect(words(b).startswith(name + " cannot be shown: ") and part in words(b) and words(b).count("\n") == 0 and
			len(words(b)) <= 303, name, words(b))
		expect(b.run("fringepipe.stream() === null && document.getElementById(\"ply\").disabled"), name)
	with open("good.mp4", "rb") as file:
		expect(b.run(drop % base64.b64encode(file.read()).decode()))
	b.wait("document.getElementById(\"state\").textContent.startsWith(\"dropped.mp4: 96 x 64\")")
	expect(np.isfinite(depth_of(b, 3)).all())
	# an error goes away with the next frame
	b.run("window.slice = Blob.prototype.slice, Blob.prototype.slice = () => new Blob([]), fringepipe.seek(0)")
	b.wait("document.getElementById(\"state\").textContent.includes(\"frame 1: it is cut\")")
	b.run("Blob.prototype.slice = window.slice")
	depth_of(b, 1)
	expect(words(b).startswith("dropped.mp4: 96 x 64"), words(b))
	offline(b)
	# each is added to those before it
	for source, part in (("VideoDecoder.isConfigSupported = async () => ({ supported: false });", "this browser does not decode H.264 (avc1.64"),
			("delete window.VideoDecoder;", "this browser has no WebCodecs"),
			("HTMLCanvasElement.prototype.getContext = () => null;", "has no WebGL 2")):
		b.call("Page.addScriptToEvaluateOnNewDocument", source=source)
		open_viewer(b, sys.argv[1])
		b.wait("document.getElementById(\"state\").textContent.includes(%s)" % json.dumps(part))
	offline(b)' "$manual"
}
