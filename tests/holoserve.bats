load helpers

# A viewer written from holoserve(5) alone (tests/live_client.py) against the server.
common='
import io, signal, subprocess, threading, types
from live_client import *
from PIL import Image
import holoimage_decoder
def bell(w, h, k=0.0):
	y, x = np.mgrid[:h, :w]
	z = 40 * np.exp(-((x - w / 2 + 3 * k) ** 2 + (y - h / 2) ** 2) / (w * h / 12))
	z[(x < 4) | (y < 3)] = np.nan
	return z.astype("f4")
def bytes_of(frames):
	data = io.BytesIO()
	write_frames(data, frames)
	return data.getvalue()
def pixels(frame):
	return np.array(Image.open(io.BytesIO(frame["picture"])))
def depth(image, keys):
	w, h = map(int, keys["holo_size"].split())
	t = holoimage_decoder.turns(image, keys)
	theta = np.radians(float(keys["holo_theta_deg"]))
	z = (t * float(keys["holo_pitch_px"]) - np.arange(w) * np.cos(theta)) / (max(w, h) * np.sin(theta))
	low, high = map(float, keys["holo_depth_range"].split())
	return low + z * (high - low) if keys["z_axis"] == "towards" else high - z * (high - low)
def off(got, want):
	"""rms of the depths, after the whole turns that a lossy format may take; share that is kept"""
	both = np.isfinite(got) & np.isfinite(want)
	error = np.sort(np.abs(got - want)[both])
	return np.sqrt(np.mean(error[:int(0.99 * len(error))] ** 2)), both.sum() / np.isfinite(want).sum()
'

@test "holoserve: a frame comes as PNG and as JPEG, with its texture, and decodes to its depth" {
	py "$common"'
rng = np.random.default_rng(1)
z, texture = bell(160, 117), np.zeros((117, 160), "f4")	# black beside the colours of the depth, and coarse noise
texture[8:] = np.kron(rng.integers(0, 4096, (28, 40)), np.ones((4, 4)))[3:]
frame = Frame(np.stack([z, texture]), ["depth", "texture"],
	{"z_axis": "away", "max_value": "- 4095", "length_unit": "mm", "time_s": "12.5"})
server = Server("--linger --depth-range -5,45 --quality 95 -P 40")
server.put(bytes_of(frame))
for kind, h, limit in ("png", 117, 0.01), ("jpeg", 237, 0.2):
	viewer = Viewer(server.url, "can h265 " + kind)
	got = viewer.frame()
	expect(got["kind"] == kind and got["number"] == 0 and got["captured_us"] == 12500000, got)
	expect(abs(got["received_us"] - got["sent_us"]) < 30e6, got["sent_us"])
	keys = viewer.keys
	expect(keys["width"] == "160" and keys["height"] == "117" and keys["holo_size"] == "160 117", keys)
	expect(keys["texture"] == {"png": "alpha", "jpeg": "below"}[kind], keys)
	expect(keys["holo_depth_range"] == "-5 45" and keys["depth_range_mm"] == "-5 45", keys)
	expect(keys["length_unit"] == "mm", keys)
	image = pixels(got)
	expect(image.shape == (h, 160, {"png": 4, "jpeg": 3}[kind]), image.shape)
	rms, kept = off(depth(image[:117, :, :3], keys), z)
	expect(rms < limit and kept > 0.99, kind, rms, kept)
	if kind == "jpeg":	# for fringes: no matrix, one table
		file = Image.open(io.BytesIO(got["picture"]))
		expect(list(file.quantization) == [0] and file.quantization[0][0] == 4, file.quantization)
	grey = image[..., 3] if kind == "png" else image[120:, :, 1]
	error = np.abs(grey * float(keys["holo_texture_scale"]) - texture) / 4095
	# the rows between hold the depth away from the texture: no level of it comes through
	expect(keys.get("texture_row") == {"jpeg": "120"}.get(kind) and error[:8].max() < 0.005, keys, error[:8].max())
	expect(error.max() < 0.003 if kind == "png" else error.mean() < 0.02, kind, error.max(), error.mean())
	viewer.close()
expect(server.end(signal.SIGINT) == (0, ""))'
}

@test "holoserve: points on a grid; Holoimages as they are; frames made smaller" {
	py "$common"'
z = bell(128, 96)
y, x = np.mgrid[:96, :128].astype("f4")
grid = Frame(np.stack([0.5 * x + 3, 0.25 * y - 1, z]), ["x", "y", "z"], {"z_axis": "towards"})
server = Server("--linger --encode png")
server.put(bytes_of(grid))
viewer = Viewer(server.url)
image, keys = pixels(viewer.frame()), viewer.keys
expect(np.allclose([float(v) for v in keys["holo_spacing"].split()], [0.5, 0.25], atol=1e-5), keys)
expect(np.allclose([float(v) for v in keys["holo_corner"].split()], [3, -1], atol=1e-4), keys)
rms, kept = off(depth(image, keys), z)
expect(rms < 0.01 and kept == 1 and keys["texture"] == "none", rms, kept)
expect(server.end(signal.SIGTERM) == (0, ""))
write_frames("grid.nrrd", grid)
write_frames("depth.nrrd", Frame(z, ["depth"]))'
	holoenc -P 20 depth.nrrd -o holo.nrrd
	py "$common"'
holo = read_frame("holo.nrrd")
server = Server("--encode png --linger holo.nrrd", files=True)
viewer = Viewer(server.url)
expect(np.array_equal(pixels(viewer.frame()), np.moveaxis(holo.pixels, 0, -1)))
expect(all(viewer.keys[key] == value for key, value in holo.meta.items() if key.startswith("holo_")
	and key != "holo_check"), viewer.keys)
server.end(signal.SIGINT)
server = Server("--encode png --linger --size 70x30 grid.nrrd", files=True)
viewer = Viewer(server.url)
image, keys = pixels(viewer.frame()), viewer.keys
expect(image.shape == (24, 32, 3) and keys["holo_size"] == "32 24", image.shape)
expect(np.allclose([float(v) for v in keys["holo_spacing"].split()], [2, 1], atol=1e-4), keys)
expect(np.allclose([float(v) for v in keys["holo_corner"].split()], [3.75, -0.625], atol=1e-3), keys)
z = read_frame("grid.nrrd")["z"]
boxes = z.reshape(24, 4, 32, 4).swapaxes(1, 2).reshape(24, 32, 16)
few = np.isfinite(boxes).sum(-1) < 8
with np.errstate(all="ignore"):
	import warnings
	warnings.simplefilter("ignore")
	want = np.where(few, np.nan, np.nanmean(boxes, -1))
rms, kept = off(depth(image, keys), want)
expect(rms < 0.05 and kept == 1, rms, kept)
server.end(signal.SIGINT)'
	fails 1 "cannot be made smaller" holoserve --port 0 --size 70x70 holo.nrrd
}

@test "holoserve: who has the last picture before the input ends hears of the end" {
	py "$common"'
unknown = Frame(bell(64, 48), ["phase"])	# cannot be shown
for encoding, more in ("png", []), ("jpeg", [unknown]), ("luma", []):
	server = Server(f"--linger --depth-range -5,45 --encode {encoding}")
	server.put(bytes_of(Frame(bell(64, 48), ["depth"])))
	viewer = Viewer(server.url, "can jpeg png h264 luma")
	receiver = subprocess.Popen(["holorecv", "-q", server.url.replace("http", "ws"), "-o", f"{encoding}%d.nrrd"])
	frame = viewer.frame()
	expect(frame["number"] == 0 and not frame["flags"] & 2 and not viewer.ended, frame)
	time.sleep(0.3)
	expect(receiver.poll() is None)
	for item in more:
		server.put(bytes_of(item))
	server.process.stdin.close()
	opcode, message = viewer.message()
	while len(message) > 32:
		opcode, message = viewer.message()
	expect(opcode == 2 and message[:4] == b"FP3L" and message[5] & 2, message)
	expect(receiver.wait(20) == 0 and os.path.exists(f"{encoding}0.nrrd"))
	server.process.stdin = None
	expect(server.end(signal.SIGINT)[0] == 0)'
}

@test "holoserve: the newest frame comes, what is dropped is counted, two are on their way at most" {
	py "$common"'
server = Server("--encode png -v")
frames = [bytes_of(Frame(bell(64, 48, k), ["depth"])) for k in range(10)]
viewer = Viewer(server.url)
server.put(frames[0])
first = viewer.frame(shows=False)
expect(first["number"] == 0)
server.put(frames[1])
second = viewer.frame(shows=False)
expect(second["number"] == 1)
for frame in frames[2:9]:		# nothing of these may be sent
	server.put(frame)
viewer.socket.settimeout(1)
try:
	viewer.frame()
	expect(False, "a third picture came")
except TimeoutError:
	viewer.socket.settimeout(20)
viewer.say("1")				# both
third = viewer.frame()
expect(third["number"] == 8, third["number"])
rms, kept = off(depth(pixels(third), viewer.keys), bell(64, 48, 8))
expect(rms < 0.02 and kept == 1, rms, kept)
server.put(frames[9])
rest, code = [], None
end = threading.Thread(target=lambda: results.append(server.end()))
results = []
end.start()
rest, code = drain(viewer)
end.join()
expect([f["number"] for f in rest] == [9] and code == 1000, rest, code)
expect(results[0][0] == 0 and "10 frames, 4 pictures encoded; 1 viewers got 4 pictures and missed 6" in results[0][1],
	results)'
}

@test "holoserve: another size or range brings other keys first; the range only grows" {
	py "$common"'
server = Server("--encode png --linger")
viewer = Viewer(server.url)
flat = Frame(np.full((20, 30), 7, "f4"), ["depth"])
seen = []
for frame in Frame(bell(64, 48), ["depth"]), Frame(bell(64, 48) / 2, ["depth"]), Frame(bell(64, 48) * 2, ["depth"]), flat:
	viewer.keys = {"encoding": "png"}
	server.put(bytes_of(frame))
	got = viewer.frame()
	seen.append(len(viewer.keys) > 1)
	if seen[-1]:
		keys = viewer.keys
	rms, kept = off(depth(pixels(got), keys), frame["depth"])
	expect(rms < 0.05 and kept == 1 and pixels(got).shape[:2] == frame["depth"].shape, rms, kept)
expect(seen == [True, False, True, True], seen)
expect(server.end(signal.SIGINT) == (0, ""))
expect(drain(viewer)[1] == 1001)'
}

# HOLOSERVE_FRAMES=600: ten seconds instead of two (make live)
@test "holoserve: at 60 frames/s a frozen, a killed and two rubbish viewers cost neither the pipeline nor the good one anything" {
	py "$common"'
total = int(sys.argv[1])
data = [bytes_of(Frame(bell(256, 256, k), ["depth"])) for k in range(8)]
for kind in "jpeg", "luma":
	server = Server("-P 42 --depth-range -5,45 --encode " + kind)
	can = "can " + kind
	good, frozen, killed = (Viewer(server.url, can) for i in range(3))
	tiny = Viewer(server.url, can, buffer=4096)
	rubbish, unmasked = Viewer(server.url, can), Viewer(server.url, can)
	got = []
	reader = threading.Thread(target=lambda: got.append(drain(good)))
	reader.start()
	begun = time.monotonic()
	for i in range(total):
		time.sleep(max(0, begun + i / 60 - time.monotonic()))
		server.put(data[i % 8])
		if i == 20:
			killed.socket.recv(1000)	# a part of a picture
			killed.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
			killed.close()
		if i == 40:
			rubbish.socket.sendall(np.random.default_rng(2).bytes(5000))
			unmasked.send(1, b"0", masked=False)
	rate = (total - 1) / (time.monotonic() - begun)
	status, messages = server.end()
	reader.join()
	frames, code = got[0]
	numbers = [f["number"] for f in frames]
	print("%s: fed %d at %.1f frames/s, the good viewer got %d" % (kind, total, rate, len(frames)))
	expect((status, messages, code) == (0, "", 1000), status, messages, code)
	expect(numbers == sorted(set(numbers)) and numbers[-1] == total - 1 and len(numbers) > total / 10, numbers)
	if kind == "jpeg":
		rms, kept = off(depth(pixels(frames[-1]), good.keys), bell(256, 256, (total - 1) % 8))
		expect(rms < 0.3 and kept > 0.99, rms, kept)
	else:	# each keyframe begins what follows: nothing that depends on a dropped one was sent
		expect(frames[0]["flags"] & 1)
		raw = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-err_detect", "explode", "-f", "h264", "-i", "pipe:0",
			"-fps_mode", "passthrough", "-f", "rawvideo", "pipe:1"], input=b"".join(f["picture"] for f in frames),
			capture_output=True)
		expect(raw.returncode == 0 and raw.stderr == b"", raw.stderr)
		y = np.frombuffer(raw.stdout, "<u2").reshape(-1, 3 * 256 * 128)[:, :65536].reshape(-1, 256, 256)
		expect(len(y) == len(frames), len(y), len(frames))
		for i, number in enumerate(numbers):
			z = bell(256, 256, number % 8)
			wanted = np.where(np.isnan(z), 0, np.floor(64 + (z + 5) / 50 * 959 + 0.5))
			error = np.sqrt(np.mean((y[i] - wanted) ** 2))
			expect(error < 1, number, error)
	for viewer in frozen, tiny:
		held = []
		try:
			while True:
				held.append(viewer.frame(shows=False))
		except (Closed, OSError):
			pass
		expect(len(held) <= 2, len(held))' "${HOLOSERVE_FRAMES:-120}" >&2
}

@test "holoserve: only its own page and programs may read: Host, Origin, paths, methods" {
	py "$common"'
write_frames("depth.nrrd", Frame(bell(64, 48), ["depth"]))
server = Server("--linger --host lab.example.org --origin https://friend.example --clients 2 depth.nrrd", files=True)
url = server.url
here = "%s:%d" % place(url)
def status(path="/", **more):
	return int((get(url, path, **more) + b"  0").split(b" ")[1] or 0)
head, page = get(url).split(b"\r\n\r\n", 1)
lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
expect(lines["Content-Security-Policy"].startswith("default-src \x27none\x27;"), lines)
expect(lines["X-Content-Type-Options"] == "nosniff" and not any("Access-Control" in k for k in lines), lines)
expect(page.startswith(b"<!DOCTYPE html>") and len(page) < 60000 and int(lines["Content-Length"]) == len(page))
for element in "script", "style":		# each may run because of its hash
	for text in re.findall(rb"<%s\b[^>]*>(.*?)</%s>" % (element.encode(), element.encode()), page, re.S):
		digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
		policy = re.search(element + r"-src ([^;]*);", lines["Content-Security-Policy"]).group(1)
		expect("\x27sha256-" + digest + "\x27" in policy, element, policy)
expect(status("/favicon.ico") == 204 and status("/live") == 426)
for path in "/page.html", "/x", "/?a", "/live?a", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fetc", "http://127.0.0.1/", "//etc":
	expect(400 <= status(path) < 500, path, get(url, path))
for path in "/..%2f", "/%2e%2e/", "/..", "/favicon.ico/..", "/../live", "//live", "/./live", "/%6cive", "/x/../live", "/LIVE":
	expect(status(path) == 404, path, get(url, path))
for path in "/\0", "/%00":
	answer = get(url, path)
	expect(answer == b"" or b" 40" in answer, path, answer)
for host in "localhost", here, "127.0.0.1", "[::1]:1", "LAB.example.org:443":
	expect(status(host=host) == 200, host)
for host in "evil.example", "127.0.0.1.evil.example", "lab.example.org.evil", "localhost.evil:80", "[::1", "127.0.0.1@evil", "127.0.0.1:x", ":80":
	expect(status(host=host) == 403, host, get(url, host=host))
for method in "POST", "PUT", "HEAD", "OPTIONS", "DELETE":
	answer = http(url, f"{method} / HTTP/1.1\r\nHost: {here}\r\nContent-Length: 0\r\n\r\n".encode())
	expect(b" 405 " in answer, method, answer)
def refused(**words):
	try:
		Viewer(url, **words).frame()
	except Refused as refusal:
		return refusal.args[0][9:12]
	except Closed as closed:
		return closed.args
for words in dict(origin="http://evil.example"), dict(origin="null"), dict(origin="http://" + here + ".evil"), dict(host="evil.example"), dict(origin="http://evil.example", host="evil.example"):
	expect(refused(**words) == b"403", words, refused(**words))
for path in "/", "/live/", "/live?a", "/../live", "//live", "/%6cive", "/x/../live":
	expect(refused(path=path) == b"404", path)
upgrade = "GET /%s HTTP/1.1\r\nHost: " + here + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\n%s\r\n"
expect(b" 400 " in http(url, (upgrade % ("", "h2c", "HTTP2-Settings: AAMAAABkAAQAAP__\r\n")).encode()))
expect(b" 426 " in http(url, (upgrade % ("live", "websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	"Sec-WebSocket-Protocol: fringepipe.1\r\nSec-WebSocket-Version: 8\r\n")).encode()))
for protocol in None, "http", "fringepipe.2", "fringepipe.11":
	expect(refused(protocol=protocol) == b"400", protocol)
live = "GET /live HTTP/1.1\r\nHost: " + here + "\r\nConnection: %s\r\nUpgrade: websocket\r\nSec-WebSocket-Key: %s\r\n" \
	"Sec-WebSocket-Protocol: x, fringepipe.1\r\nSec-WebSocket-Version: 13\r\n\r\n"
key = "dGhlIHNhbXBsZSBub25jZQ=="
for connection, wrong in ("close", key), ("upgraded", key), ("Upgrade", key[:-1]), ("Upgrade", "!" + key[1:]), ("Upgrade", key + "=="), ("Upgrade", ""):
	expect(b"HTTP/1.1 400 " == http(url, (live % (connection, wrong)).encode())[:13], connection, wrong)
sock = socket.create_connection(place(url), 10)
sock.sendall((live % ("keep-alive, Upgrade", key)).encode())
answer = sock.recv(4096)
expect(answer.startswith(b"HTTP/1.1 101 ") and b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in answer, answer)
sock.close()
host = "Host: " + here + "\r\n"
for code, text in ((400, "GET / HTTP/1.0\r\n" + host), (400, "GET  / HTTP/1.1\r\n" + host), (400, "GET / / HTTP/1.1\r\n" + host),
		(400, "GET / HTTP/1.1 \r\n" + host), (400, "GET /\r\n" + host), (400, " / HTTP/1.1\r\n" + host), (400, host),
		(400, "\r\nGET / HTTP/1.1\r\n" + host), (400, "GET / HTTP/1.1\r\n" + host + host), (403, "GET / HTTP/1.1\r\n"),
		(400, "GET / HTTP/1.1\r\nHost : localhost\r\n"), (400, "GET / HTTP/1.1\r\n: x\r\n" + host),
		(400, "GET / HTTP/1.1\r\n" + host + "A: b\r\n c\r\n"), (400, "GET / HTTP/1.1\r\n" + host + "A\r\n"),
		(400, "GET / HTTP/1.1\r\n" + host + "A: b\nC: d\r\n"), (400, "GET / HTTP/1.1\r\n" + host + "A: \0\r\n"),
		(400, "GET / HTTP/1.1\r\n" + host + "A: b\rc\r\n"), (200, "GET / HTTP/1.1\r\nhOST:\t" + here + " \t\r\nOrigin:\r\n")):
	answer = http(url, (text + "\r\n").encode())
	expect(answer.startswith(b"HTTP/1.1 %d " % code), text, answer[:80])
expect(http(url, ("GET / HTTP/1.1\r\n" + host + "\r\nmore").encode()).startswith(b"HTTP/1.1 400 "))
for n, code in (4096, 200), (4097, 431):
	text = "GET / HTTP/1.1\r\n" + host + "X: "
	text += "a" * (n - len(text) - 4) + "\r\n\r\n"
	expect(len(text) == n and http(url, text.encode()).startswith(b"HTTP/1.1 %d " % code), n)
for words in dict(), dict(origin="http://" + here), dict(origin="https://friend.example"), \
		dict(host="lab.example.org", origin="https://lab.example.org"):
	viewer = Viewer(url, **words)
	expect(viewer.frame()["number"] == 0, words)
	viewer.close()
time.sleep(0.5)
two = [Viewer(url) for i in range(2)]
try:
	Viewer(url)
	expect(False, "a third viewer of two")
except Refused as refusal:
	expect(b" 503 " in refusal.args[0] and b"Retry-After: " in refusal.args[0], refusal.args)
expect(server.end(signal.SIGINT) == (0, ""))'
}

@test "holoserve: what a viewer must not send closes its connection, and no other" {
	py "$common"'
server = Server("--encode png --linger --depth-range -5,45")
good = Viewer(server.url)
data = [bytes_of(Frame(bell(64, 48, k), ["depth"])) for k in range(4)]
shown = 0
def goes_on():
	global shown
	server.put(data[shown % 4])
	expect(good.frame()["number"] == shown)
	shown += 1
def breaks(does, can="can png"):
	"""the code with which the server closes, after the stream to the good viewer has gone on"""
	viewer = Viewer(server.url, can=can)
	viewer.socket.settimeout(10)
	try:
		does(viewer)
		goes_on()
		while True:
			viewer.message()
	except Closed as closed:
		return closed.args[0] if closed.args else "closed"
	except (ConnectionResetError, BrokenPipeError):
		return "closed"
for name, code, does in (
		("65 bytes", 1009, lambda v: v.say("1" * 65)),
		("1 MB", 1009, lambda v: v.say("1" * 1000000)),
		("a head that claims 2^63 bytes", 1002, lambda v: v.socket.sendall(b"\x81\xff" + b"\xff" * 12)),
		("a head that claims 2^62 bytes", 1009, lambda v: v.socket.sendall(b"\x81\xff\x40" + b"\0" * 11 + b"1")),
		("a length in more bytes than it needs", 1002, lambda v: v.socket.sendall(b"\x81\xfe\0\x01aaaa0")),
		("no number", 1008, lambda v: v.say("1.5")),
		("an empty one", 1008, lambda v: v.say("")),
		("too large a number", 1008, lambda v: v.say("18446744073709551616")),
		("binary", 1008, lambda v: v.send(2, b"0")),
		("not masked", 1002, lambda v: v.send(1, b"0", masked=False)),
		("a ping that is not masked", 1002, lambda v: v.send(9, b"", masked=False)),
		("a fragment", 1008, lambda v: v.send(1, b"0", final=False)),
		("a continuation of nothing", 1002, lambda v: v.send(0, b"0")),
		("a reserved opcode", 1002, lambda v: v.send(5, b"0")),
		("a reserved control opcode", 1002, lambda v: v.send(11, b"0")),
		("a reserved bit", 1002, lambda v: v.send(0x41, b"0")),
		("a reserved bit of a ping", 1002, lambda v: v.send(0x19, b"0")),
		("a long ping", 1002, lambda v: v.send(9, b"0" * 126)),
		("a ping in parts", 1002, lambda v: v.send(9, b"0", final=False)),
		("401 at once", 1008, lambda v: [v.say("0") for i in range(401)]),
		("401 pings at once", 1008, lambda v: [v.send(9, b"") for i in range(401)]),
		("401 pongs at once", 1008, lambda v: [v.send(10, b"x") for i in range(401)]),
		("400 of each kind", 1008, lambda v: [v.send(k, b"0") for i in range(400) for k in (1, 9, 10)])):
	got = breaks(does)
	print(name, got)
	expect(got == code, name, got)
for first in "hello", "can", "cannot png", "can p\tng", "0":
	expect(breaks(lambda v: v.say(first), can=None) == 1008, first)
expect(breaks(lambda v: None, can="can h266") == 1008)
expect(breaks(lambda v: v.send(8, struct.pack(">H", 1000))) == 1000)
# pings up to the limit are answered, the last of them at least
viewer = Viewer(server.url)
viewer.frame()
for i in range(190):
	viewer.send(9, b"%03d" % i + b"x" * 122)
while viewer.take(2) != b"\x8a\x7d" or viewer.take(125)[:3] != b"189":
	pass
expect(server.end(signal.SIGINT) == (0, ""))'
}

@test "holoserve: half-open connections, long headers and slow ones take neither memory nor the stream" {
	limit=40000
	if sanitized; then limit=400000; fi	# memory that was freed is kept for a while
	py "$common"'
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
server = Server("--encode png --linger --depth-range -5,45")
good = Viewer(server.url)
data = [bytes_of(Frame(bell(64, 48, k), ["depth"])) for k in range(4)]
number = 0
def goes_on():
	global number
	server.put(data[number % 4])
	expect(good.frame()["number"] == number)
	number += 1
goes_on()
before = server.memory()
slow = socket.create_connection(place(server.url))
begun = time.time()
for turn in range(10):
	many = []
	for i in range(500):
		s = socket.socket()
		s.connect(place(server.url))
		if i % 3:
			s.sendall(b"GET /" if i % 3 == 1 else b"GET / HTTP/1.1\r\nHost: local")
		many.append(s)
	goes_on()
	for s in many:
		s.close()
	goes_on()
for text in b"GET / HTTP/1.1\r\nX: " + b"a" * 1000000, b"GET /" + b"a" * 1000000, b"\r\n" * 5000, b"\0" * 5000, \
		np.random.default_rng(3).bytes(100000), b"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: " + b"a" * 5000 + b"\r\n\r\n":
	answer = http(server.url, text)
	expect(answer == b"" or re.match(rb"HTTP/1.[01] 4", answer), text[:20], answer[:80])
	goes_on()
try:				# a byte a second is not fast enough
	for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\n":
		slow.sendall(bytes([byte]))
		slow.settimeout(0.5)
		try:
			if slow.recv(1000) == b"":
				break
		except TimeoutError:
			pass
except (ConnectionResetError, BrokenPipeError):
	pass
else:
	expect(time.time() - begun < 60, "never closed")
goes_on()
expect(Viewer(server.url).frame()["number"] == number - 1)
expect(server.memory() - before < int(sys.argv[1]), server.memory(), before)
expect(server.end(signal.SIGINT) == (0, ""))' $limit
}

@test "holoserve: where connections or descriptors are short, the oldest without a request gives way to a viewer" {
	py "$common"'
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
data = bytes_of(Frame(bell(64, 48), ["depth"]))
for descriptors in min(4096, most), 40:
	resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, most))	# the server inherits it
	server = Server("--encode png --linger --depth-range -5,45")
	resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))
	server.put(data)
	first = Viewer(server.url)
	first.frame()
	many = [socket.create_connection(place(server.url)) for i in range(700)]
	viewer = Viewer(server.url)
	expect(viewer.frame()["number"] == 0)
	many[0].settimeout(5)
	expect(many[0].recv(1) == b"")
	many[-1].setblocking(False)
	try:
		expect(not many[-1].recv(1), "the newest is closed")
	except BlockingIOError:
		pass
	server.put(data)
	expect(first.frame()["number"] == 1 and viewer.frame()["number"] == 1)
	expect(server.end(signal.SIGINT) == (0, ""))
	for s in many:
		s.close()'
}

@test "holoserve: the kernel holds about two pictures of a viewer, as large as the largest so far" {
	py "$common"'
import ctypes
PIDFD_OPEN, PIDFD_GETFD = 434, 438		# the same on all machines
def call(*numbers):
	got = ctypes.CDLL(None, use_errno=True).syscall(*map(ctypes.c_long, numbers))
	expect(got >= 0, numbers, os.strerror(ctypes.get_errno()))
	return got
def buffer_of(viewer):
	process = call(PIDFD_OPEN, server.process.pid, 0)
	for name in os.listdir(f"/proc/{server.process.pid}/fd"):
		if os.readlink(f"/proc/{server.process.pid}/fd/{name}").startswith("socket:"):
			with socket.socket(fileno=call(PIDFD_GETFD, process, int(name), 0)) as end:
				if not end.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and end.getpeername() == viewer.socket.getsockname():
					os.close(process)
					return end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
rng = np.random.default_rng(1)
server = Server("--encode png --linger --depth-range -5,45")
viewer = Viewer(server.url)
for side in 16, 150, 155, 190:
	server.put(bytes_of(Frame(rng.uniform(0, 40, (side, side)).astype("f4"), ["depth"])))
	n = 32 + len(viewer.frame()["picture"])
	if side != 155:				# hardly larger: nothing changes
		wanted = 2 * max(n, 16384)	# the kernel doubles it
	expect(n < 212992 and buffer_of(viewer) == wanted, side, n, wanted, buffer_of(viewer))
expect(server.end(signal.SIGINT) == (0, ""))'
}

@test "holoserve: a viewer that takes nothing of a picture larger than the socket holds is given up, and not waited for in a loop" {
	py "$common"'
z = np.random.default_rng(1).uniform(0, 40, (2, 1700, 1700)).astype("f4")
server = Server("--encode png --linger --clients 1 --depth-range -5,45")
frozen = Viewer(server.url, "can png", buffer=4096)
for i in range(2):
	server.put(bytes_of(Frame(z[i], ["depth"])))
frozen.take(2)
def processor_s():
	return sum(map(int, open(f"/proc/{server.process.pid}/stat").read().split()[13:15])) / os.sysconf("SC_CLK_TCK")
time.sleep(5)				# for the pictures
spent, begun = processor_s(), time.time()
while True:
	try:
		later = Viewer(server.url, None)
		break
	except Refused as refusal:
		expect(b" 503 " in refusal.args[0] and time.time() - begun < 60, refusal)
	time.sleep(1)
expect(processor_s() - spent < 1, processor_s() - spent)
expect(server.end(signal.SIGINT) == (0, ""))'
}

@test "holoserve: luma and h264 are videos: to the levels that were meant, joined at keyframes, what depends on a dropped one is not sent" {
	py "$common"'
w, h, below = 129, 97, 112		# odd sides are coded as even ones; the texture begins at a block of 16
rng = np.random.default_rng(1)
texture = np.kron(rng.integers(0, 4096, (25, 33)), np.ones((4, 4)))[:h, :w].astype("f4")
meta = {"z_axis": "towards", "max_value": "4095"}
data = [bytes_of(Frame(np.stack([bell(w, h, k), texture]), ["depth", "texture"], meta)) for k in range(40)]
def double(a):		# each sample lies in the middle of two pixels
	a = np.pad(a.astype(float), ((1, 1), (0, 0)), "edge")
	return np.stack([3 * a[1:-1] + a[:-2], 3 * a[1:-1] + a[2:]], 1).reshape(-1, a.shape[1]) / 4
def planes(pictures, wide):
	done = subprocess.run(["ffmpeg", "-v", "error", "-f", "h264", "-i", "pipe:0", "-fps_mode", "passthrough", "-f", "rawvideo",
		"-pix_fmt", "yuv420p10le" if wide else "yuvj420p", "pipe:1"], input=b"".join(pictures), capture_output=True)
	expect(done.returncode == 0 and done.stderr == b"", done.stderr)
	n, size = (w + 1) * (below + h + 1), "<u2" if wide else "u1"
	all = np.frombuffer(done.stdout, size).reshape(-1, n * 3 // 2)
	u, v = (all[:, n + i * n // 4:n + (i + 1) * n // 4].reshape(-1, (below + h + 1) // 2, (w + 1) // 2) for i in range(2))
	return all[:, :n].reshape(-1, below + h + 1, w + 1), u, v
for kind, crf in ("luma", 0), ("luma", -11), ("h264", 10):
	server = Server(f"--encode {kind} --crf {crf} --depth-range -5,45 -P 40")
	good, plain = Viewer(server.url, "can luma h264 jpeg"), Viewer(server.url, "can png jpeg")
	got = []
	for i in range(24):
		server.put(data[i])
		got.append(good.frame())
		expect(plain.frame()["kind"] == "png")		# one that decodes no video has its own
	keys = good.keys
	expect([f["number"] for f in got] == list(range(24)) and {f["kind"] for f in got} == {kind}, got)
	expect([i for i, f in enumerate(got) if f["flags"] & 1] == [0, 15], [f["flags"] for f in got])
	profile = {"luma": "6E", "h264": "64"}[kind]
	expect(re.fullmatch("avc1." + profile + "00[0-9A-F]{2}", keys["codec"]), keys)
	expect((keys["width"], keys["height"], keys["texture"], keys["texture_row"]) == ("129", "97", "below", "112"), keys)
	y, u, v = planes([f["picture"] for f in got], kind == "luma")
	if kind == "luma":
		guard, scale = int(keys["depthcode_guard"]), float(keys["depthcode_texture_scale"])
		expect((keys["depthcode_range"], keys["depthcode_bits"], keys["depthcode_mask"]) == ("-5 45", "10", "gap"), keys)
		for i in 0, 14, 23:
			z = bell(w, h, i)
			wanted = np.where(np.isnan(z), 0, np.floor(guard + (z + 5) / 50 * (1023 - guard) + 0.5))
			error = np.abs(y[i, :h, :w] - wanted)
			off_by = np.sqrt(np.mean(error ** 2)), error.max()
			tone = np.abs(y[i, below:below + h, :w] * scale - texture).max()
			print(kind, crf, i, "levels rms %.2f most %d, texture %.0f of 4095" % (*off_by, tone))
			expect(off_by[0] < 0.3 and off_by[1] <= 2 and tone <= 12 if crf == -11 else off_by[0] < 1 and off_by[1] < 8 and tone < 40, off_by, tone)
	else:
		for i in 0, 23:
			wide = lambda plane: np.floor(double(double(plane[i]).T).T[:h, :w] + 0.5).astype("u1")
			image = np.stack([wide(u), wide(v), y[i, :h, :w]], -1)		# as layout yuv: stairs in Y
			expect(keys["holo_layout"] == "yuv", keys)
			rms, kept = off(depth(image, {**keys, "holo_layout": "rgb"}), bell(w, h, i))
			tone = np.abs(y[i, below:below + h, :w] * float(keys["holo_texture_scale"]) - texture).mean()
			print(kind, i, "rms %.3f kept %.4f texture %.0f" % (rms, kept, tone))
			expect(rms < 0.4 and kept > 0.97 and tone < 40, rms, kept, tone)
	slow = Viewer(server.url, "can " + kind)	# comes in the middle of a group
	for i in range(24, 32):
		server.put(data[i])
		good.frame()
		plain.frame()
	got = slow.frame(shows=False)
	expect(got["number"] == 30 and got["flags"] & 1, got["number"], got["flags"])
	got = slow.frame(shows=False)
	expect(got["number"] == 31 and not got["flags"] & 1)
	for i in 32, 33, 34:			# these the slow one cannot have
		server.put(data[i])
		good.frame()
	slow.say("31")
	server.put(data[35])
	good.frame()
	late = slow.frame()			# the next is not 35, but begins anew, since no frame comes
	expect(late["number"] == 35 and late["flags"] & 1, late["number"], late["flags"])
	server.put(data[36])
	both = good.frame(), slow.frame()	# and so does the one after it, for the others
	expect([(f["number"], f["flags"] & 1) for f in both] == [(36, 1)] * 2, both)
	server.put(data[37])
	both = good.frame(), slow.frame()
	expect([(f["number"], f["flags"] & 1) for f in both] == [(37, 0)] * 2, both)
	last = Viewer(server.url, "can " + kind)
	ends = []
	end = threading.Thread(target=lambda: ends.append(server.end()))
	end.start()
	frames, code = drain(last)
	end.join()
	expect(ends == [(0, "")] and code == 1000 and [(f["number"], f["flags"]) for f in frames] == [(37, 3)], ends, code, frames)' >&2
}

# The rates of man/fringepipe-video.7 are those of 30 frames a second, whenever these come.
@test "holoserve: a hill of 512x512 at 30 frames/s: 12 Mbit/s as JPEG, 2 as h264, and what its pictures decode to; --bitrate" {
	py "$common"'
def hill(k, w=512):
	y, x = np.mgrid[:w, :w]
	a = 2 * np.pi * k / 60
	z = 200 * np.exp(-((x - w / 2 - 20 * np.sin(a)) ** 2 + (y - w / 2) ** 2) / 40000) + 3 * np.sin(x / 9 + a)
	z[z < 20] = np.nan
	return z.astype("f4")
hills = [hill(k) for k in range(30)]
def pictures(words, which, kind):
	server = Server("-P 42 --depth-range 0,220 --encode " + words)
	viewer, got = Viewer(server.url, "can " + kind), []
	for k in which:
		server.put(bytes_of(Frame(hills[k], ["depth"])))
		got.append(viewer.frame())
		expect(got[-1]["kind"] == kind, got[-1]["kind"])
	expect(server.end() == (0, ""))
	return [f["picture"] for f in got], viewer.keys
def rate(pictures):
	return 8 * 30 * sum(map(len, pictures)) / len(pictures)
got, keys = pictures("jpeg", (0, 14, 29), "jpeg")
rms, kept = off(depth(np.array(Image.open(io.BytesIO(got[2]))), keys), hills[29])
print("# jpeg %.2f Mbit/s, kept %.2f %%, rms of 99 %% %.4f %% of the range" % (1e-6 * rate(got), 100 * kept, 100 * rms / 220), file=sys.stderr)
expect(rate(got) < 12e6 and kept > 0.999 and rms < 0.0008 * 220, rate(got), rms, kept)
got, keys = pictures("h264", range(30), "h264")
done = subprocess.run(["ffmpeg", "-v", "error", "-f", "h264", "-i", "pipe:0", "-fps_mode", "passthrough", "-f", "rawvideo",
	"-pix_fmt", "yuvj420p", "pipe:1"], input=b"".join(got), capture_output=True, check=True)
n = 512 * 512
last = np.frombuffer(done.stdout, "u1").reshape(30, -1)[29].astype(float)
y, u, v = last[:n].reshape(512, 512), last[n:n * 5 // 4].reshape(256, 256), last[n * 5 // 4:].reshape(256, 256)
def double(a):	# rows, by weights of 3/4 and 1/4
	a = np.pad(a, ((1, 1), (0, 0)), mode="edge")
	return np.stack([3 * a[1:-1] + a[:-2], 3 * a[1:-1] + a[2:]], 1).reshape(-1, a.shape[1]) / 4
image = np.stack([np.floor(double(double(p).T).T + 0.5) for p in (u, v)] + [y], -1).astype("u1")
rms, kept = off(depth(image, {**keys, "holo_layout": "rgb"}), hills[29])
print("# h264 %.2f Mbit/s, kept %.2f %%, rms of 99 %% %.4f %% of the range" % (1e-6 * rate(got), 100 * kept, 100 * rms / 220), file=sys.stderr)
expect(rate(got) < 2e6 and kept > 0.999 and rms < 0.0008 * 220, rate(got), rms, kept)
# at most that many bits, and those of a group of 15 that the encoder may be ahead
free = 8 * sum(map(len, got))
for words, most in ("--bitrate 0.4", 0.4e6), ("--bitrate 0.4 --fps 60", 0.4e6 * 30 / 60):
	bits = 8 * sum(map(len, pictures("h264 " + words, range(30), "h264")[0]))
	print("#", words, bits, "bits for", free, file=sys.stderr)
	expect(most / 2 < bits < most * (30 + 15) / 30, words, bits, free)' >&3 2>&3
	fails 2 "--bitrate: is of --encode h264 and luma" holoserve --port 0 --bitrate 2 in.nrrd
	fails 2 "--bitrate" holoserve --port 0 --encode luma --bitrate 0 in.nrrd
}

@test "holoserve: a video without an ffmpeg, with one that fails, or of a Holoimage" {
	fringesim -s 64x48 --scene relief --truth truth.nrrd -o captures.nrrd
	FRINGEPIPE_FFMPEG=/none fails 1 "ffmpeg is not there: FRINGEPIPE_FFMPEG is /none" holoserve --port 0 --encode luma truth.nrrd
	FRINGEPIPE_FFMPEG=/none fails 1 "ffmpeg is not there" holoserve --port 0 --encode h264 missing.nrrd
	fails 2 "is of --encode h264 and luma" holoserve --port 0 --crf 3 truth.nrrd
	fails 2 "of h264 is 0 to 51" holoserve --port 0 --encode h264 --crf -1 truth.nrrd
	holoenc truth.nrrd -o holo.nrrd
	fails 1 "the input is a Holoimage" holoserve --port 0 --encode luma holo.nrrd
	printf "#!/bin/sh\necho >>started\necho no such encoder >&2\nexit 1\n" >ffmpeg
	chmod +x ffmpeg
	# not tried with every frame: a viewer gets what else it can, or is closed
	FRINGEPIPE_FFMPEG=$PWD/ffmpeg py "$common"'
for kind in "luma", "h264":
	server = Server("--encode %s --depth-range -5,45" % kind)
	viewer, video, plain = (Viewer(server.url, "can " + can) for can in (kind + " png", kind, "jpeg"))
	for i in range(4):
		server.put(bytes_of(Frame(bell(64, 48, i), ["depth"])))
		expect(plain.frame()["kind"] == "jpeg")
		frame = viewer.frame()
		expect(frame["kind"] == "png" and frame["number"] == i, frame)
	expect(drain(video) == ([], 1011))
	late = Viewer(server.url, "can %s jpeg" % kind)
	expect(late.frame()["kind"] == "jpeg")
	try:
		Viewer(server.url, "can " + kind).frame()
		expect(False, "a picture")
	except Closed as closed:
		expect(closed.args[0] == 1008, closed.args)
	status, messages = server.end()
	expect((status, messages) == (0, "holoserve: %s is given up, viewers get jpeg or png: --encode: ffmpeg has ended: no such encoder\n" % kind), messages)'
	[ "$(wc -l <started)" = 2 ]
}

@test "holoserve: a video whose ffmpeg hangs or dies: once more, then viewers get pictures, and holorecv all that came" {
	# the second one does not begin a video; the first one lasts for as long as there are pictures
	# shellcheck disable=SC2016 # the script's own words
	printf '#!/bin/sh\necho >>started\n[ "$(wc -l <started)" = 1 ] || exec sleep 1000\nexec ffmpeg "$@"\n' >ffmpeg
	chmod +x ffmpeg
	: >started
	FRINGEPIPE_FFMPEG=$PWD/ffmpeg py "$common"'
server = Server("--encode luma --depth-range -5,45")
env = {k: v for k, v in os.environ.items() if k != "FRINGEPIPE_FFMPEG"}
receiver = subprocess.Popen(["holorecv", server.url, "-o", "out%d.nrrd"], stderr=subprocess.PIPE, env=env)
viewer, plain = Viewer(server.url, "can luma png"), Viewer(server.url, "can jpeg")
for viewer_ in viewer, plain:
	viewer_.socket.settimeout(60)
def child():
	own = server.process.pid
	return [int(c) for task in os.listdir(f"/proc/{own}/task") for c in open(f"/proc/{own}/task/{task}/children").read().split()]
kinds = []
for i in range(6):
	server.put(bytes_of(Frame(bell(64, 48, i), ["depth"])))
	kinds.append(plain.frame()["kind"])
	if i == 3:	# its ffmpeg was killed: this frame is lost for those who want the video
		time.sleep(0.5)
		continue
	frame = viewer.frame()
	expect(frame["number"] == i, i, frame["number"])
	kinds.append(frame["kind"])
	if i == 2:
		for _ in range(100):	# holorecv has asked for luma, too
			time.sleep(0.02)
		os.kill(child()[0], signal.SIGKILL)
expect(kinds == ["jpeg", "luma"] * 3 + ["jpeg"] + ["jpeg", "png"] * 2, kinds)
status, messages = server.end()
lines = messages.splitlines()
expect(status == 0 and len(lines) == 2 and "frame 3 cannot be shown: --encode: ffmpeg has ended" in lines[0]
	and "luma is given up, viewers get jpeg or png: --encode: " in lines[1] and "10 s" in lines[1], messages)
status = receiver.wait(30)
names = sorted(f for f in os.listdir(".") if f.startswith("out"))
got = [read_frame(f) for f in names]
numbers = [int(f.meta["frame_number"]) for f in got]
expect(status == 0 and numbers[-2:] == [4, 5] and set(numbers) <= {0, 1, 2, 4, 5}, status, numbers)
for frame, number in zip(got, numbers):	# what holoenc makes, or depthenc
	expect(frame.names == (["r", "g", "b"] if number > 3 else ["luma"]), number, frame.names)'
	[ "$(wc -l <started)" = 2 ]
}

@test "holoserve: --pass hands frames on as they came; --fps; the input ends for nobody" {
	fringesim -s 64x48 --scene relief --truth truth.nrrd -o captures.nrrd
	framecat truth.nrrd truth.nrrd -o two.nrrd
	framecat --delete cmd.2 <(holoserve --port 0 --pass <two.nrrd) | framecmp - two.nrrd
	holoserve --port 0 --pass two.nrrd -o copy.nrrd
	framecmp copy.nrrd two.nrrd
	fringepipe framecat two.nrrd , holoserve --port 0 --pass , frameinfo >/dev/null
	silent holoserve --port 0 two.nrrd
	silent fringepipe framecat two.nrrd , holoserve --port 0
	py "$common"'
server = Server("--fps 20 --encode png --depth-range -5,45")
viewer = Viewer(server.url)
viewer.socket.settimeout(60)
data = [bytes_of(Frame(bell(64, 48, k), ["depth"])) for k in range(4)]
def feed():
	for i in range(300):
		server.put(data[i % 4])
		time.sleep(0.003)
	server.end()
feeder = threading.Thread(target=feed)
begun = time.time()
feeder.start()
frames, code = drain(viewer)
feeder.join()
most = 20 * (time.time() - begun) + 2
expect(code == 1000 and 2 <= len(frames) <= most, code, len(frames), most)'
}

@test "holoserve: a viewer may show more than 200 pictures a second" {
	py "$common"'
server = Server("--encode png --depth-range -5,45")
viewer = Viewer(server.url)
data = [bytes_of(Frame(bell(16, 16, k), ["depth"])) for k in range(2)]
for i in range(500):
	server.put(data[i % 2])
	expect(viewer.frame()["number"] == i)
viewer.send(9, b"")			# and may say other things besides
for i in range(190):
	viewer.say("0")
viewer.answer(9, b"end")
while viewer.take(2) != b"\x8a\x03":
	pass
expect(viewer.take(3) == b"end" and server.end() == (0, ""))'
}

@test "holoserve: signals end it, but one that was ignored at its start" {
	fringesim -s 64x48 --scene relief --truth truth.nrrd -o captures.nrrd
	py "$common"'
ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
server = Server("--linger truth.nrrd", files=True, before=ignore)
viewer = Viewer(server.url)
expect(viewer.frame()["number"] == 0)
server.process.send_signal(signal.SIGINT)
time.sleep(0.3)
expect(Viewer(server.url).frame()["number"] == 0)
expect(server.end(signal.SIGTERM) == (0, "") and drain(viewer)[1] == 1001)
for number, before in (signal.SIGINT, heed_interrupts), (signal.SIGTERM, heed_interrupts), (signal.SIGTERM, ignore):
	# the input goes on: what was written is not whole
	process = subprocess.Popen("holoserve --port 0 --pass --print-url".split(), stdin=subprocess.PIPE,
		stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=before)
	expect(process.stderr.readline().startswith(b"http://"))
	process.send_signal(number)
	expect(process.wait(30) == -number, number, process.returncode)'
}

@test "holoserve: an interruption from the terminal reaches its ffmpeg too, which ends after it, and without a word" {
	py "$common"'
server = Server("--encode luma --linger", before=lambda: (os.setsid(), heed_interrupts()))
viewer = Viewer(server.url, "can luma")
server.put(bytes_of(Frame(bell(64, 48), ["depth"])))
expect(viewer.frame()["number"] == 0)
own = server.process.pid
tasks = [child for task in os.listdir(f"/proc/{own}/task") for child in open(f"/proc/{own}/task/{task}/children").read().split()]
expect(len(tasks) == 1, tasks)
os.killpg(own, signal.SIGINT)
expect(server.end() == (0, "") and drain(viewer) == ([], 1001))
for _ in range(100):
	if not os.path.exists("/proc/" + tasks[0]):
		break
	time.sleep(0.1)
expect(not os.path.exists("/proc/" + tasks[0]) or "Z" in open(f"/proc/{tasks[0]}/stat").read().split()[2])'
}

@test "holoserve: a camera's picture is the texture of a plane; 16 bits without the key camera may be a depth map" {
	py "$common"'
rng = np.random.default_rng(1)
level = rng.integers(0, 4096, (48, 64))
camera = {"camera": "cam", "max_value": "4095"}
for image, meta, most in ((level >> 4).astype("u1"), {}, 255), (level.astype("u2"), camera, 4095), (level.astype("f4"), camera, 4095):
	server = Server("--linger --encode png")
	server.put(bytes_of(Frame(image, ["image"], meta)))
	viewer = Viewer(server.url)
	got = pixels(viewer.frame())
	expect(viewer.keys["plane"] == "yes" and viewer.keys["texture"] == "alpha", viewer.keys)
	expect(np.abs(got[..., 3] / 255 - image / most).max() < 0.51 / 255, meta)
	expect(np.abs(depth(got[..., :3], viewer.keys)).max() < 0.01)
	viewer.close()
	expect(server.end(signal.SIGINT) == (0, ""))
server = Server()
server.put(bytes_of(Frame(level.astype("u2"), ["image"])))
status, messages = server.end()
expect(status == 1 and "without depth" in messages, status, messages)'
}

@test "holoserve: errors are one line, and a frame without depth is passed over" {
	fringesim -s 64x48 --scene relief --truth truth.nrrd -o captures.nrrd
	py "$common"'
server = Server("--linger truth.nrrd", files=True)
print(place(server.url)[1])
open("port", "w").write(str(place(server.url)[1]))
import subprocess
second = subprocess.run(["holoserve", "--port", str(place(server.url)[1]), "truth.nrrd"], capture_output=True)
expect(second.returncode == 1 and second.stderr.count(b"\n") == 1 and b"Address already in use" in second.stderr, second)
server.end(signal.SIGINT)
for can in "can png", "can jpeg":			# the input fails: viewers hear of it
	server = Server("--linger")
	viewer = Viewer(server.url, can)
	server.put(bytes_of(Frame(bell(64, 48), ["depth"])) + b"NRRD0004\nrubbish\n\n")
	status, messages = server.end()
	frames, code = drain(viewer)
	expect(status == 1 and messages.count("\n") == 1 and code == 1011, status, messages, code)
server = Server("--encode png")
viewer = Viewer(server.url)
odd = bytes_of(Frame(np.zeros((5, 6), "f4"), ["phase"]))
server.put(odd + odd + bytes_of(Frame(bell(64, 48), ["depth"])))
expect(viewer.frame()["number"] == 0)
status, messages = server.end()
expect(status == 0 and messages.count("\n") == 1 and "without depth" in messages, messages)'
	fails 1 "no address of this machine" holoserve --port 0 --bind 192.0.2.1 truth.nrrd
	fails 1 "no address" holoserve --port 0 --bind no.such.name.invalid truth.nrrd
	fails 2 "needs --pass" holoserve --port 0 truth.nrrd -o out.nrrd
	fails 2 "can only be the last stage" fringepipe framecat truth.nrrd , holoserve --port 0 , frameinfo
	fails 2 "--port" holoserve --port 70000 truth.nrrd
	fails 1 "pitch" holoserve --port 0 -P 0.2 truth.nrrd
	holoserve --port 0 --bind 0.0.0.0 truth.nrrd 2>said
	grep -q "no password: everybody who reaches 0.0.0.0" said
}
