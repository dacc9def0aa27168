load helpers

# The page of holoserve in a browser without a window: what it decodes against known truth, what it shows, what it says.

need_browser() {
	command -v chromium >/dev/null || skip "no browser: chromium is not here"
}

bodies='
import io, re, subprocess, zlib, struct
from PIL import Image
from live_server import *
from browser import *

def open_page(b, server):
	b.open("http://127.0.0.1:%d/" % server.port)

def shown(b, n=1):
	b.wait("window.fringepipe && fringepipe.count.shown >= %d" % n)

def words(b):
	return b.run("document.getElementById(\"state\").textContent")

def wait_words(b, part):
	b.wait("document.getElementById(\"state\")?.textContent.includes(%s)" % json.dumps(part))

def bytes_of(b, script):
	return base64.b64decode(b.run("""(() => { const u = %s; let t = "";
		for (let i = 0; i < u.length; i += 8192) t += String.fromCharCode(...u.subarray(i, i + 8192));
		return btoa(t); })()""" % script))

def depth_of(b, w, h):
	z = np.frombuffer(bytes_of(b, "new Uint8Array(fringepipe.read_depth().buffer)"), "<f4").reshape(h, w)
	return np.where(z < -1e29, np.nan, z)

def holo_keys(meta):
	return {k: v for k, v in meta.items() if k.startswith("holo_") or k in ("z_axis", "length_unit")}

def png(pixels):
	to = io.BytesIO()
	Image.fromarray(pixels).save(to, "PNG")
	return to.getvalue()

def clean(b, *servers):
	"""no error in the console, no request to anybody else"""
	own = {"127.0.0.1:%d" % server.port for server in servers}
	expect(b.errors == [], b.errors)
	expect(all(re.match("[a-z]+://([^/]*)/", r)[1] in own for r in b.requests), b.requests)
'

# A sphere before a plate: 129 x 65, depth 0 .. 60, a jump between them, a hole, a texture with black in it.
two_bodies() {
	py 'w, h = 129, 65
y, x = np.mgrid[:h, :w]
rr = 28.0 ** 2 - (x - 50) ** 2 - (y - 32) ** 2
z = np.where(rr > 60, 30 + np.sqrt(np.maximum(rr, 0)), 4 + 0.05 * x)
z[20:24, 100:110] = np.nan
texture = np.random.default_rng(1).integers(0, 256, (h, w)) * (x > 10)
write_frames("in.nrrd", Frame(np.stack([z, texture]).astype("f4"), ["depth", "texture"],
	{"z_axis": "towards", "length_unit": "mm"}))'
}

@test "holoserve_page: igea, 512x512, JPEG 90 444 and for fringes 79, P 42: the depth texture against the mesh; a picture; nobody else is asked" {
	need_data meshes
	need_browser
	mesh2depth -s 512x512 "$data/meshes/igea.ply" -o truth.nrrd
	holoenc -P 42 truth.nrrd -o holo.nrrd
	mkdir -p "$top/out"
	for words in "--jpeg-for eyes --quality 90" "--jpeg-for fringes --quality 79"; do
		framecat $words holo.nrrd -o holo.jpg
		py "$bodies"'
truth, meta = read_frame("truth.nrrd")["depth"], read_frame("holo.nrrd").meta
jpeg = open("holo.jpg", "rb").read()
server = Server([keys(holo_keys(meta), 512, 512, "jpeg"), picture(JPEG, 0, jpeg), picture(JPEG, 4, jpeg)])
with Browser() as b:
	open_page(b, server)
	shown(b, 2)
	z = depth_of(b, 512, 512)
	low, high = map(float, meta["holo_depth_range"].split())
	there, kept = np.isfinite(truth), np.isfinite(truth) & np.isfinite(z)
	error, turn = (z - truth)[kept] / (high - low), 42 / (512 * np.sin(np.radians(30)))
	spike = np.abs(error) > turn / 2
	share, rms = kept.sum() / there.sum(), np.sqrt(np.mean(error[~spike] ** 2))
	print("# %s: kept %.2f %% spikes %.3f %% rms %.4f %%" % (sys.argv[2], 100 * share, 100 * spike.mean(), 100 * rms))
	expect(share >= 0.97 and rms <= 0.0007 and spike.mean() <= 0.004, share, rms, spike.mean())
	expect((np.isfinite(z) & ~there).sum() == 0)
	b.wait("document.getElementById(\"dropped\").textContent === \"3\"")	# frames 1 to 3
	expect(words(b) == "live" and server.seen == ["can jpeg png h264 luma", "0", "4"], words(b), server.seen)
	b.screenshot(sys.argv[1])
	grey = np.array(Image.open(sys.argv[1]).convert("L")).astype(float)
	# the surface covers a quarter of the window, at about 170 of 255, and the rest is dark
	expect(45 < grey.mean() < 90 and 40 < grey.std() < 80, grey.mean(), grey.std())
	surface = grey[:620] > 60
	expect(0.15 < surface.mean() < 0.45, surface.mean())
	clean(b, server)
expect([path for path, _ in server.requests if path != "/favicon.ico"] == ["/", "/live"], server.requests)' "$top/out/holoserve_page.png" "$words" >&3
	done
}

@test "holoserve_page: PNG with texture in alpha: depth to the rounding of levels, texture to the bit; PLY without a jump" {
	need_browser
	two_bodies
	for layout in rgb yuv; do
		holoenc -P 20 --stair composite --depth-range 0,60 --layout $layout --texture texture in.nrrd -o $layout.nrrd
	done
	py "$bodies"'
truth = read_frame("in.nrrd")
for layout in ("rgb", "yuv"):
	holo = read_frame(layout + ".nrrd")
	server = Server([keys(holo_keys(holo.meta), 129, 65, "png", "alpha"),
		picture(PNG, 7, png(np.moveaxis(holo.pixels, 0, 2)))])
	with Browser() as b:
		open_page(b, server)
		shown(b)
		z = depth_of(b, 129, 65)
		error = (z - truth["depth"])[np.isfinite(truth["depth"])] / 60 * 129 * 0.5 / 20	# turns
		print(layout, "rms %.2e most %.2e turns" % (np.sqrt(np.mean(error ** 2)), np.abs(error).max()))
		expect((np.isnan(z) == np.isnan(truth["depth"])).all())
		expect(np.sqrt(np.mean(error ** 2)) < 3.6e-4 and np.abs(error).max() < 2e-3)
		expect(b.run("fringepipe.look.mode") == 1)	# there is a texture: it is shown
		b.run("window.parts = fringepipe.ply_of_surface()")
		head = b.run("parts[0]")
		n, faces = (int(re.search("element %s (\\d+)" % v, head).group(1)) for v in ("vertex", "face"))
		points = np.frombuffer(bytes_of(b, "new Uint8Array(parts[1].buffer)"), np.dtype([("p", "<f4", 3), ("c", "u1", 3)]))
		faces_of = np.frombuffer(bytes_of(b, "new Uint8Array(parts[2].buffer)"), np.dtype([("n", "u1"), ("v", "<i4", 3)]))
		expect(n == len(points) == np.isfinite(z).sum() and faces == len(faces_of) and (faces_of["n"] == 3).all())
		y, x = np.nonzero(np.isfinite(z))
		expect((points["p"] == np.stack([x, -y, z[y, x]], 1).astype("f4")).all())	# x right, y up, z towards
		expect((points["c"] == holo.pixels[3][y, x][:, None]).all())
		corner = points["p"][faces_of["v"]]
		steps = np.abs(corner - np.roll(corner, 1, 1))
		expect((steps[..., 2] <= 6.001 * np.hypot(steps[..., 0], steps[..., 1])).all())
		normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
		expect((normal[:, 2] > 0).all())	# counter-clockwise from the front
		whole = np.isfinite(z[:-1, :-1] + z[1:, :-1] + z[:-1, 1:] + z[1:, 1:]).sum()
		expect(1.85 * whole < faces < 2 * whole, faces, whole)
		b.press("4")
		expect("element face 0" in b.run("fringepipe.ply_of_surface()[0]"))
		clean(b, server)' >&2
}

@test "holoserve_page: JPEG with a colour texture below; size and range may change; a pause asks for nothing" {
	need_browser
	two_bodies
	holoenc -P 20 --stair composite --depth-range 0,60 in.nrrd -o a.nrrd
	py 'f = read_frame("in.nrrd")
write_frames("half.nrrd", Frame(f["depth"][None, ::2, ::2] / 2, ["depth"], f.meta))'
	holoenc -P 12 --depth-range -5,40 half.nrrd -o b.nrrd
	py "$bodies"'
def jpeg(pixels):
	to = io.BytesIO()
	Image.fromarray(pixels).save(to, "JPEG", quality=95, subsampling=0)
	return to.getvalue()
a, half = read_frame("a.nrrd"), read_frame("b.nrrd")
colours = np.zeros((65, 129, 3), "u1")
colours[:, :64], colours[:, 64:] = (200, 30, 30), (30, 30, 200)
both = jpeg(np.concatenate([np.moveaxis(a.pixels, 0, 2), colours]))
small = jpeg(np.moveaxis(half.pixels, 0, 2).copy())
server = Server([keys(holo_keys(a.meta), 129, 65, "jpeg", "below"), picture(JPEG, 0, both),
	keys(holo_keys(half.meta), 65, 33, "jpeg"), picture(JPEG, 1, small),
	lambda c: c.wait_answers(3) or go.wait(60) and None] + [picture(JPEG, 2 + i, small) for i in range(5)])
go = threading.Event()
with Browser() as b:
	held = Server(server.messages[:2])
	open_page(b, held)
	shown(b)
	z = depth_of(b, 129, 65)
	truth = read_frame("in.nrrd")["depth"]
	wrong = np.abs(z - truth)[np.isfinite(z) & np.isfinite(truth)] > 10
	expect(np.isfinite(z).mean() > 0.9 and wrong.mean() < 0.03, np.isfinite(z).mean(), wrong.mean())
	b.run("Object.assign(fringepipe.look, { yaw: 0, pitch: 0 }); fringepipe.redraw()")
	b.screenshot("colours.png")
	seen = np.array(Image.open("colours.png").convert("RGB")).astype(int)[:600]
	red, blue = (seen[..., 0] - seen[..., 2] > 60), (seen[..., 2] - seen[..., 0] > 60)
	column = np.arange(900)
	expect(red.sum() > 20000 and blue.sum() > 20000, red.sum(), blue.sum())
	expect((column * red.sum(0)).sum() / red.sum() + 100 < (column * blue.sum(0)).sum() / blue.sum())
	open_page(b, server)
	shown(b, 2)
	z = depth_of(b, 65, 33)
	truth = truth[::2, ::2] / 2
	wrong = np.abs(z - truth)[np.isfinite(z) & np.isfinite(truth)] > 5
	expect(np.isfinite(z).mean() > 0.85 and wrong.mean() < 0.05, np.isfinite(z).mean(), wrong.mean())
	expect(b.run("fringepipe.look.mode") == 0 and b.run("document.getElementById(\"texture\").disabled"))
	b.press(" ")
	go.set()
	wait_words(b, "paused")
	time.sleep(0.5)
	expect(b.run("fringepipe.count.shown") == 2 and server.seen == ["can jpeg png h264 luma", "0", "1"], server.seen)
	b.press(" ")
	shown(b, 7)
	expect(words(b) == "live" and server.seen[-1] == "6" and len(server.seen) == 8, server.seen)
	clean(b, server, held)'
}

@test "holoserve_page: mouse, wheel, two fingers and keys turn, shift and zoom; windows large and small" {
	need_browser
	two_bodies
	holoenc -P 20 --stair composite --depth-range 0,60 in.nrrd -o a.nrrd
	py "$bodies"'
a = read_frame("a.nrrd")
server = Server([keys(holo_keys(a.meta), 129, 65, "png"), picture(PNG, 0, png(np.moveaxis(a.pixels, 0, 2)))])
with Browser() as b:
	open_page(b, server)
	shown(b)
	look = lambda: b.run("({ ...fringepipe.look })")
	def changed(act, *names):
		before = look()
		act()
		now = look()
		numbers = {k for k in ("yaw", "pitch", "x", "y", "distance", "mode", "points", "height") if now[k] != before[k]}
		expect(numbers == set(names), numbers, names)
	def drag(button, mask, dx, dy):
		b.mouse("mousePressed", 300, 300, button, mask, clickCount=1)
		b.mouse("mouseMoved", 300 + dx, 300 + dy, button, mask)
		b.mouse("mouseReleased", 300 + dx, 300 + dy, button, 0, clickCount=1)
	changed(lambda: drag("left", 1, 50, 0), "yaw")
	changed(lambda: drag("left", 1, 0, 50), "pitch")
	changed(lambda: drag("right", 2, 50, 20), "x", "y")
	changed(lambda: b.mouse("mouseWheel", 300, 300, "none", 0, deltaX=0, deltaY=-120), "distance")
	changed(lambda: b.press("ArrowLeft"), "yaw")
	changed(lambda: b.press("+"), "distance")
	changed(lambda: b.press("3"), "mode")
	changed(lambda: b.press("4"), "points")
	changed(lambda: b.press("]"), "height")
	changed(lambda: b.press("2"))	# there is no texture
	def pinch():
		touch = lambda kind, points: b.call("Input.dispatchTouchEvent", type=kind,
			touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])
		touch("touchStart", [(300, 300), (400, 300)])
		touch("touchMove", [(280, 300), (420, 300)])
		touch("touchEnd", [])
	before = look()["distance"]
	pinch()
	expect(look()["distance"] < 0.95 * before, look(), before)
	b.press("0")
	expect(abs(look()["distance"] - 4) < 1e-9)
	b.press("h")
	expect(b.run("!document.getElementById(\"help\").hidden"))
	b.press("Escape")
	for w, h in ((320, 480), (1600, 900), (300, 200)):
		b.resize(w, h)
		b.screenshot("w.png")
		expect(b.run("document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(\"button\")].every(" +
			"v => v.getBoundingClientRect().right <= innerWidth && v.getBoundingClientRect().bottom <= innerHeight)"), w, h)
		expect(b.run("document.getElementById(\"view\").width") == w)
	clean(b, server)'
}

@test "holoserve_page: pictures and keys that are wrong are said in words; a stream that ends or breaks is asked for again" {
	need_browser
	two_bodies
	holoenc -P 20 --stair composite --depth-range 0,60 in.nrrd -o a.nrrd
	py "$bodies"'
a = read_frame("a.nrrd")
good, meta = png(np.moveaxis(a.pixels, 0, 2)), holo_keys(a.meta)
head = keys(meta, 129, 65, "png")
def chunk(name, data):
	return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
def made(w, h, lines, depth=8, kind=2):
	return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, kind, 0, 0, 0)) +
		chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))
line = b"\0" + bytes(129 * 3)
wrong = [(picture(PNG, 1, b"rubbish, and not a picture"), "does not begin as PNG"),
	(picture(PNG, 1, good[:-300]), "cut"),
	(picture(PNG, 1, made(128, 65, line * 65)), "128 x 65 pixels, not 129 x 65"),
	(picture(PNG, 1, made(129, 65, line * 64)), "cut"),
	(picture(PNG, 1, made(129, 65, bytes(1 << 26))), "more than its picture"),
	(picture(PNG, 1, made(129, 65, b"\7" + line[1:] + line * 64)), "filter"),
	(picture(PNG, 1, made(129, 65, line * 65, 16)), "no plain PNG"),
	(picture(JPEG, 1, good), "its kind is 1"),
	(picture(PNG, 1, good, magic=b"FP4L"), "not understood"),
	(b"short", "not understood"),
	(keys({**meta, "holo_pitch_px": "0"}, 129, 65, "png"), "holo_pitch_px must lie in 0.001"),
	(keys({k: v for k, v in meta.items() if k != "holo_stair"}, 129, 65, "png"), "holo_stair must be cosine or composite"),
	(keys({**meta, "holo_depth_range": "3 3"}, 129, 65, "png"), "must rise"),
	(keys(meta, 129, 66, "png"), "holo_size is 129 x 65"),
	(keys(meta, 129, 65, "gif"), "encoding must be jpeg or png"),
	(keys({**meta, "holo_size": "5000 65"}, 5000, 65, "png"), "too large"),
	(keys({**meta, "holo_pack": "msb"}, 129, 65, "png"), "three bits")]
old = """const old = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (p) { return p === this.MAX_TEXTURE_SIZE ? 4096 : old.call(this, p); };"""
steps = [threading.Event() for _ in range(2 * len(wrong))]
messages = []
for i, (message, _) in enumerate(wrong):
	if isinstance(message, bytes):
		messages.append(head)
	messages += [lambda c, i=i: steps[2 * i].wait(60) and None, lambda c, m=message: c.send(m),
		lambda c, i=i: steps[2 * i + 1].wait(60) and None, head, lambda c: c.send(picture(PNG, 2, good))]
server = Server([head, lambda c: c.send(picture(PNG, 0, good))] + messages + [1001])
with Browser() as b:
	b.call("Page.addScriptToEvaluateOnNewDocument", source=old)	# a graphics processor that holds no more
	open_page(b, server)
	for i, (_, part) in enumerate(wrong):
		wait_words(b, "live")
		steps[2 * i].set()
		wait_words(b, part)
		steps[2 * i + 1].set()
	server.messages = [head, picture(PNG, 3, good), 1000]
	b.wait("document.getElementById(\"state\").textContent.includes(\"the stream has ended\")")
	expect(sum(path == "/live" for path, _ in server.requests) >= 2)
	server.messages = [lambda c: c.send_frame(8, struct.pack(">H", 1008) + b"too many messages") or "end"]
	wait_words(b, "refused this page: too many messages")
	clean(b, server)
	for source, part in (("WebGL2RenderingContext.prototype.getExtension = () => null;", "EXT_color_buffer_float is missing"),
			("HTMLCanvasElement.prototype.getContext = () => null;", "has no WebGL 2")):
		b.call("Page.addScriptToEvaluateOnNewDocument", source=source)
		open_page(b, server)
		wait_words(b, part)
	expect(b.errors == [], b.errors)'
}

@test "holoserve_page: from holoserve itself: depth and texture to the bit, a stream that goes on, its end" {
	need_browser
	two_bodies
	py "$bodies"'
from live_client import Server as Holoserve
import signal
class At:			# what clean() and open_page() ask of a server
	def __init__(self, url):
		self.port = int(url.rstrip("/").split(":")[-1])
with open("in.nrrd", "rb") as file:
	data = file.read()
truth = read_frame("in.nrrd")
for encode, most, kept in (("png", 2e-3, 1), ("jpeg", 0.5, 0.9)):
	served = Holoserve("-P 20 --stair composite --depth-range 0,60 --encode " + encode)
	at = At(served.url)
	with Browser() as b:
		open_page(b, at)
		served.put(data)
		shown(b)
		z = depth_of(b, 129, 65)
		there = np.isfinite(truth["depth"])
		error = np.abs(z - truth["depth"])[there & np.isfinite(z)] / 60 * 129 * 0.5 / 20	# turns
		share = (error < most).sum() / there.sum()
		print(encode, "kept %.4f median %.2e turns" % (share, np.median(error)))
		expect(share >= kept and (np.isfinite(z) & ~there).mean() < 0.01, encode, share)
		expect(b.run("fringepipe.look.mode") == 1 and words(b) == "live", words(b))
		if encode == "png":
			b.run("window.parts = fringepipe.ply_of_surface()")
			points = np.frombuffer(bytes_of(b, "new Uint8Array(parts[1].buffer)"), np.dtype([("p", "<f4", 3), ("c", "u1", 3)]))
			y, x = np.nonzero(np.isfinite(z))
			expect((points["c"][:, 0] == np.maximum(truth["texture"], 0)[y, x]).all())
		for i in range(2, 5):		# more frames than may be unanswered
			served.put(data)
			shown(b, i)
		if encode == "png":
			expect(served.end() == (0, ""))
			wait_words(b, "the stream has ended")
		else:
			expect(served.end(signal.SIGINT) == (0, ""))
			b.wait("document.getElementById(\"state\").textContent !== \"live\"")
		expect(np.array_equal(depth_of(b, 129, 65), z, equal_nan=True))	# the last picture stays
		# a browser itself notes in its console that nobody listens any more
		b.errors = [e for e in b.errors if "ERR_CONNECTION_REFUSED" not in e]
		clean(b, at)'
}

@test "holoserve_page: luma and h264 by WebCodecs: the samples that ffmpeg gives, depth and texture, a stream that changes" {
	need_browser
	two_bodies
	py "$bodies"'
from live_client import Server as Holoserve, Viewer
class At:
	def __init__(self, url):
		self.port = int(url.rstrip("/").split(":")[-1])
def stream(k, h, w):
	f = read_frame("in.nrrd")
	z = np.roll(f["depth"], k, 1)[:h, :w]
	to = io.BytesIO()
	write_frames(to, Frame(np.stack([z, f["texture"][:h, :w]]), ["depth", "texture"], f.meta))
	return z, f["texture"][:h, :w], to.getvalue()
def planes(pictures, w, h, wide):
	raw = subprocess.run(["ffmpeg", "-v", "error", "-f", "h264", "-i", "pipe:0", "-fps_mode", "passthrough", "-f", "rawvideo",
		"-pix_fmt", "yuv420p10le" if wide else "yuvj420p", "pipe:1"], input=b"".join(pictures), capture_output=True, check=True).stdout
	n = w * h * (2 if wide else 1)
	last = raw[-n * 3 // 2:]
	return last[:n], last[n:n * 5 // 4], last[n * 5 // 4:]
for kind, rms_most, most_most, kept in ("luma", 0.1, 0.5, 1), ("h264", 1, 6, 0.97):
	served = Holoserve("-P 20 --stair composite --depth-range 0,60 --encode " + kind)
	at, other = At(served.url), Viewer(served.url, "can " + kind)
	with Browser() as b:
		open_page(b, at)
		n = 0
		for h, w in (65, 129), (48, 80):
			got = []
			for k in range(4):
				truth, texture, data = stream(n, h, w)
				if n == 0:
					b.wait("document.getElementById(\"state\")?.textContent.includes(\"waiting for a frame\")")
				served.put(data)
				got.append(other.frame()["picture"])
				n += 1
				shown(b, n)
			expect(b.run("fringepipe.stream().encoding") == kind and words(b) == "live", words(b))
			rows, wide, even = int(other.keys["texture_row"]) + h, kind == "luma", lambda v: v + v % 2
			for i, plane in enumerate(planes(got, even(w), even(rows), wide)):
				pw, ph = (even(w) * (1 + wide), even(rows)) if i == 0 else (even(w) * (1 + wide) // 2, even(rows) // 2)
				stride = b.run("fringepipe.planes()[%d].stride" % i)
				own = bytes_of(b, "fringepipe.planes()[%d].bytes" % i)
				own = b"".join(own[y * stride:y * stride + pw] for y in range(ph))
				expect(own == plane, kind, "plane", i, "is not what ffmpeg gives")
			z = depth_of(b, w, h)
			both, there = np.isfinite(z) & np.isfinite(truth), np.isfinite(truth)
			error = np.sort(np.abs(z - truth)[both])[:int(0.99 * both.sum())]
			rms, share, extra = np.sqrt(np.mean(error ** 2)), both.sum() / there.sum(), (np.isfinite(z) & ~there).sum()
			b.run("window.parts = fringepipe.ply_of_surface()")
			points = np.frombuffer(bytes_of(b, "new Uint8Array(parts[1].buffer)"), np.dtype([("p", "<f4", 3), ("c", "u1", 3)]))
			y, x = np.nonzero(np.isfinite(z))
			tone = np.abs(points["c"][:, 0] - np.maximum(texture, 0)[y, x]).mean()
			print(kind, w, h, "kept %.3f extra %d rms %.3f most %.2f of 60, texture %.2f" % (share, extra, rms, error.max(), tone))
			expect(share >= kept and extra <= 12 and rms < rms_most and error.max() < most_most and tone < 12)
		expect(served.end() == (0, ""))
		wait_words(b, "the stream has ended")
		b.errors = [e for e in b.errors if "ERR_CONNECTION_REFUSED" not in e]
		clean(b, at)' >&2
}

@test "holoserve_page: one file of less than 60 KB that names no other host" {
	page=page.html
	"$top/common/live/embed" "$top/tools/holoserve/page/page.html" >"$page"
	[ "$(wc -c <"$page")" -lt 61440 ]
	run -1 grep -nE "(https?|wss?)://[a-z]|@import|url\(| src=| href=" "$page"
	[ "$(grep -c '<script>' "$page")" -eq 1 ]
	[ "$(grep -c '<style>' "$page")" -eq 1 ]
	run -1 grep -nE ' (style|on[a-z]+)="' "$page"		# the policy forbids them
}

@test "holoserve_page: a surface in its own colours, by PNG to the bit, by JPEG, h264 and luma" {
	need_browser
	# 17 skipped rows between depth and colours of h264: 64 rows are whole blocks
	py 'w, h = 130, 64
y, x = np.mgrid[:h, :w].astype(float)
z = 20 + 10 * np.sin(x / 40) + 8 * np.cos(y / 30)
z[20:24, 100:110] = np.nan
r, g, b = 40 + x, 200 - 2 * y, 60 + 80 * (x > 60)
r[30:50, 20:50] = 230
write_frames("in.nrrd", Frame(np.stack([z, r, g, b]).astype("f4"), ["depth", "r", "g", "b"], {"z_axis": "towards", "length_unit": "mm"}))'
	py "$bodies"'
from live_client import Server as Holoserve
class At:
	def __init__(self, url):
		self.port = int(url.rstrip("/").split(":")[-1])
with open("in.nrrd", "rb") as file:
	data = file.read()
truth = read_frame("in.nrrd")
for encode, most in (("png", 0), ("jpeg", 2), ("h264 --crf 18", 3), ("luma", 2)):
	served = Holoserve("-P 40 --depth-range 0,40 --encode " + encode)
	at = At(served.url)
	with Browser() as b:
		open_page(b, at)
		served.put(data)
		shown(b)
		z = depth_of(b, 130, 64)
		y, x = np.nonzero(np.isfinite(z))
		expect(len(y) > 0.9 * 130 * 64, encode, len(y))
		expect(np.median(np.abs(z - truth["depth"])[y, x]) < 0.3, encode)
		expect(b.run("fringepipe.look.mode") == 1, encode)
		b.run("window.parts = fringepipe.ply_of_surface()")
		points = np.frombuffer(bytes_of(b, "new Uint8Array(parts[1].buffer)"), np.dtype([("p", "<f4", 3), ("c", "u1", 3)]))
		off = np.mean([np.abs(points["c"][:, k] - truth[c][y, x]) for k, c in enumerate("rgb")], axis=1)
		print("#", encode, off)
		expect(off.max() <= most, encode, off)
		expect(served.end() == (0, ""))
		b.errors = [e for e in b.errors if "ERR_CONNECTION_REFUSED" not in e]
		clean(b, at)'
}
