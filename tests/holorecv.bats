load helpers

# holorecv against a server in Python (tests/live_server.py) that sends what is right, and what is wrong.

bodies='
import io, os, signal, subprocess
from PIL import Image
import live_client
from live_server import *

def holo_keys(meta):
	return {k: v for k, v in meta.items() if k.startswith("holo_") or k in ("z_axis", "length_unit")}

def png(frame):
	to = io.BytesIO()
	Image.fromarray(np.moveaxis(frame.pixels, 0, 2)).save(to, "PNG")
	return to.getvalue()

def command(server, *words):
	return ["holorecv", *words, "ws://127.0.0.1:%d" % server.port]

def received(server, *words, tail=(), **more):
	"""exit status, output, message"""
	done = subprocess.run([*command(server, *words), *tail], capture_output=True, timeout=60, **more)
	return done.returncode, done.stdout, done.stderr.decode()

def frames_of(out):
	return read_frames(io.BytesIO(out))
'

# holo.nrrd: 65 x 33 with texture, of a sphere before a plate; its depth and texture in in.nrrd
holoimage() {
	py 'w, h = 65, 33
y, x = np.mgrid[:h, :w]
rr = 14.0 ** 2 - (x - 25) ** 2 - (y - 16) ** 2
z = np.where(rr > 30, 15 + np.sqrt(np.maximum(rr, 0)), 2 + 0.05 * x)
z[10:12, 50:55] = np.nan
write_frames("in.nrrd", Frame(np.stack([z, 20 + 3 * x]).astype("f4"), ["depth", "texture"], {"z_axis": "towards"}))'
	holoenc -P 12 --depth-range 0,30 --texture texture in.nrrd -o holo.nrrd
}

@test "holorecv: PNG with texture in alpha arrives to the bit, with keys, numbers and times; what is missing is counted" {
	holoimage
	py "$bodies"'
holo = read_frame("holo.nrrd")
data, head = png(holo), keys(holo_keys(holo.meta), 65, 33, "png", "alpha")
server = Server([head, picture(PNG, 5, data, captured=1500000, sent=2000000), picture(PNG, 6, data), head,
	picture(PNG, 9, data), 1000])
code, out, message = received(server)
expect(code == 0 and message.count("\n") == 1 and "2 frames are missing beside the 3 that came" in message, code, message)
expect(server.seen == ["can jpeg png h264 luma", "5", "6", "9"], server.seen)
frames = frames_of(out)
expect(len(frames) == 3)
for frame, number in zip(frames, (5, 6, 9)):
	expect((frame.pixels == holo.pixels).all() and frame.names == ["r", "g", "b", "a"], frame.names)
	expect(frame.meta["frame_number"] == str(number) and frame.meta["cmd.1"].startswith("holorecv"), frame.meta)
	expect(all(frame.meta[k] == v for k, v in holo_keys(holo.meta).items()), frame.meta)
	expect(not {"encoding", "width", "height", "texture"} & set(frame.meta), frame.meta)
expect(frames[0].meta["time_s"] == "1.500000" and frames[0].meta["sent_s"] == "2.000000", frames[0].meta)
expect("time_s" not in frames[1].meta, frames[1].meta)
open("one.nrrd", "wb").write(received(server, "-q", "--frames", "1")[1])
wanted = subprocess.run(["holodec", "holo.nrrd"], capture_output=True, check=True).stdout
for words in (["fringepipe", *command(server, "--frames=1"), ",", "holodec"], ["holodec", "one.nrrd"]):
	got = read_frame(io.BytesIO(subprocess.run(words, capture_output=True, check=True).stdout))
	want = read_frame(io.BytesIO(wanted))
	expect((got.pixels.view("u4") == want.pixels.view("u4")).all() and got.names == want.names == ["depth", "texture"])
code, out, message = received(server, "-v", "--frames=2")
expect(code == 0 and "2 frames, none is missing" in message, message)
for address in ("http://127.0.0.1:%d/", "127.0.0.1:%d", "ws://localhost:%d/live", "LOCALHOST.:%d", "of-this.localhost:%d"):
	done = subprocess.run(["holorecv", "--frames=1", address % server.port], capture_output=True)
	expect(done.returncode == 0 and len(frames_of(done.stdout)) == 1, address, done.stderr)'
}

@test "holorecv: JPEG with the texture below; keys that change; the last frame of a stream ends it" {
	holoimage
	framecat --channels r,g,b holo.nrrd -o rgb.nrrd
	py 'f = read_frame("in.nrrd")
write_frames("half.nrrd", Frame(f["depth"][None, ::2, ::2] / 2, ["depth"], f.meta))'
	holoenc -P 12 --depth-range 0,20 half.nrrd -o half-holo.nrrd
	py "$bodies"'
def jpeg(pixels):
	to = io.BytesIO()
	Image.fromarray(np.moveaxis(pixels, 0, 2).copy()).save(to, "JPEG", quality=95, subsampling=0)
	return to.getvalue()
holo, half, truth = read_frame("holo.nrrd"), read_frame("half-holo.nrrd"), read_frame("in.nrrd")
both = jpeg(np.concatenate([holo.pixels[:3], np.repeat(holo.pixels[:3, -1:], 7, 1), np.repeat(holo.pixels[3:], 3, 0)], 1))
meta = holo_keys(holo.meta)
server = Server([keys({**meta, "texture_row": 40}, 65, 33, "jpeg", "below"), picture(JPEG, 0, both),
	keys(holo_keys(half.meta), 33, 17, "jpeg"), picture(JPEG, 1, jpeg(half.pixels), flags=3), 3600.0])
code, out, message = received(server, "-o", "%d.nrrd")
expect(code == 0 and message == "", code, message)
first, second = read_frame("0.nrrd"), read_frame("1.nrrd")
expect(first.pixels.shape == (4, 33, 65) and second.pixels.shape == (3, 17, 33))
expect(np.abs(first.pixels[3].astype(int) - holo.pixels[3]).max() <= 4 and "texture_row" not in first.meta)
texture = {k: meta[k] for k in ("holo_texture", "holo_texture_scale") if k in meta}
expect(texture and all(first.meta[k] == v for k, v in texture.items()), first.meta)
depth = read_frame(io.BytesIO(subprocess.run(["holodec", "0.nrrd"], capture_output=True, check=True).stdout))
expect(depth.names == ["depth", "texture"])
error = np.abs(depth["depth"] - truth["depth"])[np.isfinite(depth["depth"]) & np.isfinite(truth["depth"])]
expect(np.isfinite(depth["depth"]).mean() > 0.8 and np.median(error) < 0.1, np.isfinite(depth["depth"]).mean(), np.median(error))'
}

@test "holorecv: a texture in colour arrives in colour, of every encoding" {
	py "$bodies"'
from live_client import Server as Holoserve
w, h = 66, 40
y, x = np.mgrid[:h, :w].astype("f4")
truth = Frame(np.stack([15 + 10 * np.sin(x / 30), 40 + x, 200 - 2 * y, 60 + x + y]), ["depth", "r", "g", "b"],
	{"z_axis": "towards", "length_unit": "mm"})
to = io.BytesIO()
write_frames(to, truth)
for kind, most in ("png", 0.51), ("jpeg", 2), ("h264", 4), ("luma", 1.5):
	served = Holoserve("-P 40 --depth-range 0,30 --encode " + kind)
	tool = ["fringepipe", "holorecv", "--frames=1", served.url, ",", "depthdec" if kind == "luma" else "holodec"]
	child = subprocess.Popen(tool, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	for k in range(12):
		served.put(to.getvalue())
		time.sleep(0.1)
	served.end()
	out, message = child.communicate(timeout=60)
	expect(child.returncode == 0, kind, message)
	frame = frames_of(out)[0]
	expect(frame.names == ["depth", "r", "g", "b"] and "texture_matrix" not in frame.meta, frame.names, frame.meta)
	off = [np.nanmean(np.abs(frame[c] - truth[c])) for c in "rgb"]
	print("#", kind, off)
	expect(max(off) <= most, kind, off)'
}

@test "holorecv: luma and h264 by ffmpeg: depth and texture, all that came however the decoder keeps them back" {
	py "$bodies"'
from live_client import Server as Holoserve
w, h = 65, 33
y, x = np.mgrid[:h, :w]
texture = (20 + 3 * x).astype("f4")
def surface(k):
	z = 15 + 10 * np.sin(x / 12 + k / 4) * np.cos(y / 10)
	z[10:14, 50:55] = np.nan
	return z.astype("f4")
def stream(k):
	to = io.BytesIO()
	write_frames(to, Frame(np.stack([surface(k), texture]), ["depth", "texture"],
		{"z_axis": "towards", "length_unit": "mm", "time_s": str(k + 1)}))
	return to.getvalue()
for kind, decoder, rms_most, most, kept in ("luma", "depthdec", 0.06, 0.4, 1), ("h264", "holodec", 0.15, 2, 0.9):
	served = Holoserve("--crf 4 -P 24 --depth-range 0,30 --encode " + kind)
	child = subprocess.Popen(["fringepipe", "holorecv", served.url, ",", decoder, "-o", kind + ".nrrd"], stderr=subprocess.PIPE)
	for k in range(40):		# slower at first, while ffmpeg starts
		served.put(stream(k))
		time.sleep(0.1 if k < 20 else 0.03)
	expect(served.end() == (0, ""))
	_, message = child.communicate(timeout=60)
	expect(child.returncode == 0 and message.count(b"\n") <= 1 and (not message or b"missing beside" in message), message)
	frames = read_frames(kind + ".nrrd")
	numbers = [int(f.meta["frame_number"]) for f in frames]
	expect(numbers == sorted(set(numbers)) and numbers[-1] == 39 and len(numbers) > 5, numbers)
	for f in frames:
		k = int(f.meta["frame_number"])
		z, truth = f["depth"], surface(k)
		both = np.isfinite(z) & np.isfinite(truth)
		error, share = np.abs(z - truth)[both], both.sum() / np.isfinite(truth).sum()
		off = np.sqrt(np.mean(error ** 2))
		expect(off < rms_most and error.max() < most and share >= kept and (np.isfinite(z) & ~np.isfinite(truth)).sum() <= 4,
			kind, k, off, error.max(), share)
		expect(np.abs(f["texture"] - texture)[both].mean() < 3 and float(f.meta["time_s"]) == k + 1, f.meta)
		expect(not {"codec", "encoding", "texture_row"} & set(f.meta), f.meta)
	print(kind, len(frames), "frames, the last one rms %.4f most %.3f of 30 kept %.3f" % (off, error.max(), share))
frames = []
served = Holoserve("--depth-range 0,30 --encode luma --linger")
viewer = live_client.Viewer(served.url, "can luma")
for k in range(3):
	served.put(stream(k))
	frames.append(picture(LUMA, k, viewer.frame()["picture"], flags=int(k == 0)))
served.end(signal.SIGINT)
head = keys({k: v for k, v in viewer.keys.items() if k not in ("encoding", "width", "height", "texture")}, 65, 33, "luma", "below")
server = Server([head, *frames, 1000])
code, out, message = received(server)
expect(code == 0 and [f.meta["frame_number"] for f in frames_of(out)] == ["0", "1", "2"], message)
expect(frames_of(out)[0].pixels.shape == (1, 66, 65) and frames_of(out)[0].names == ["luma"])
for messages, part in (([head, frames[1], 1000], "frame 1: it needs one that has not come"),
		([head, picture(LUMA, 0, b"rubbish" * 100), 1000], "frame 0: ffmpeg"),
		([head, picture(H264, 0, b""), 1000], "frame 0: it is of kind 3, but the stream is luma"),
		([head.replace("width: 65", "width: 75"), frames[0], 1000], "frame 0: it is not of 76 x 82 pixels"),
		([head.replace("below", "alpha"), 1000], "cannot be alpha in a video")):
	code, out, message = received(Server(messages))
	expect(code == 1 and message.count("\n") == 1 and part in message, part, code, message)
server = Server([keys({}, 65, 33, "png"), 1000])
received(server, env={**os.environ, "FRINGEPIPE_FFMPEG": "/none"})
expect(server.seen == ["can jpeg png"], server.seen)' >&2
}

@test "holorecv: a lost connection is made again, what was missed is counted, the frame that is served again is not doubled" {
	holoimage
	py "$bodies"'
holo = read_frame("holo.nrrd")
data, head = png(holo), keys(holo_keys(holo.meta), 65, 33, "png", "alpha")
rounds = []
def cut(c):		# in the middle of a frame
	c.wait_answers(3)
	server.messages = [head, picture(PNG, 1, data), picture(PNG, 4, data), lambda c: setattr(server, "messages", [1001]), 1001]
	c.sock.sendall(b"\x82\x7e\x40\x00" + data[:300])
	return "end"
server = Server([head, picture(PNG, 0, data), picture(PNG, 1, data), cut])
def again(c):
	if len(rounds) == 0:
		rounds.append(1)
		return "end"
server.messages.insert(0, again)		# the first connection ends at once
code, out, message = received(server, "--retries", "2", "--keep-going")
numbers = [f.meta["frame_number"] for f in frames_of(out)]
expect(numbers == ["0", "1", "4"], numbers)
expect("it was cut; trying again, 2 times at most" in message and "2 frames are missing beside the 3" in message, message)
expect(code == 1 and "the server was stopped; given up after 3 tries, 3 frames came" in message, code, message)
server.messages = [head, picture(PNG, 0, data), 1000]
code, out, message = received(server)		# one that was started anew
expect(code == 0 and message == "" and len(frames_of(out)) == 1, message)'
}

@test "holorecv: an interruption ends it as the stream would, and what came is kept" {
	holoimage
	py "$bodies"'
holo = read_frame("holo.nrrd")
data, head = png(holo), keys(holo_keys(holo.meta), 65, 33, "png", "alpha")
signal.signal(signal.SIGINT, signal.default_int_handler)		# ignored, and so by children, where tests run behind an &
for number in (signal.SIGINT, signal.SIGTERM):
	server = Server([head, picture(PNG, 0, data), picture(PNG, 1, data), 3600.0])
	child = subprocess.Popen(["fringepipe", *command(server), ",", "holodec", "-o", "kept.nrrd"], stderr=subprocess.PIPE)
	end = time.monotonic() + 30
	while len(server.seen) < 3 and time.monotonic() < end:
		time.sleep(0.02)
	child.send_signal(number)
	_, message = child.communicate(timeout=30)
	expect(child.returncode == 0 and message == b"", child.returncode, message)
	expect(len(read_frames("kept.nrrd")) == 2)
	os.remove("kept.nrrd")
dead = socket.create_server(("127.0.0.1", 0))		# it never answers
child = subprocess.Popen(["holorecv", "127.0.0.1:%d" % dead.getsockname()[1]], stderr=subprocess.PIPE)
time.sleep(0.3)
child.send_signal(signal.SIGINT)
_, message = child.communicate(timeout=30)
expect(child.returncode == 1 and b"no frame came" in message, child.returncode, message)'
}

@test "holorecv: servers that are none, refuse, fall silent or break the protocol: one line, exit 1" {
	holoimage
	py "$bodies"'
holo = read_frame("holo.nrrd")
meta = holo_keys(holo.meta)
data, head = png(holo), keys(meta, 65, 33, "png", "alpha")
good = picture(PNG, 0, data)
def fails(messages, part, *words, frames=0):
	server = Server(messages)
	code, out, message = received(server, "--retries", "0", *words)
	expect(code == 1 and message.count("\n") == 1 and part in message, part, code, message)
	expect(message.startswith("holorecv: 127.0.0.1:%d: " % server.port), message)
	expect(len(frames_of(out) if out and frames else []) == frames, part)
raw = lambda data: lambda c: c.sock.sendall(data)
fails([1000], "no frame came")
fails([head, 1000], "no frame came")
fails([lambda c: c.send_frame(8, struct.pack(">H", 1008) + b"too many messages") or "end"], "code 1008, too many messages")
fails([good], "a picture before the key lines")
fails([head, b"FP4L" + good[4:]], "without the head of holoserve(5)")
fails([head, good[:20]], "without the head of holoserve(5)")
fails([head, picture(JPEG, 0, data)], "frame 0: it is of kind 1, but the stream is png")
fails([head, picture(PNG, 7, b"rubbish")], "frame 7: it is no png")
fails([head, picture(PNG, 7, b"")], "frame 7: it is no png")
fails([head, good[:-200]], "frame 0: ")
fails([keys(meta, 64, 33, "png", "alpha"), good], "frame 0: it has 65 x 33 pixels, not 64 x 33")
fails([keys(meta, 65, 33, "png", "below"), good], "not 65 x 66")
fails([keys({**meta, "texture_row": 32}, 65, 33, "jpeg", "below"), good], "texture_row: must be 33 to 97, not 32")
fails([keys(meta, 65, 33, "png"), good], "it has 4 channels of uchar, not 3")
fails([keys(meta, 65, 33, "gif")], "encoding: cannot be")
fails([head.replace("encoding: png\n", "")], "encoding: is missing")
fails([keys(meta, 0, 33, "png")], "width: must be a whole number")
fails([keys(meta, "1e9", 33, "png")], "width: must be a whole number")
fails(["no line\n"], "a key line is")
fails(["a: b\0\n"], "key lines with zeros")
fails(["a: b\n" * 20000], "too long a message")
fails([head, raw(b"\x82\x7f" + b"\x3f" + b"\xff" * 7 + b"x")], "too long a message")
fails([raw(b"\xc2\x00")], "reserved bits are set")
fails([raw(b"\x82\x80\0\0\0\0")], "a masked frame")
fails([raw(b"\x80\x01a")], "out of order")
fails([raw(b"\x01\x01a\x82\x01a")], "out of order")
fails([raw(b"\x83\x01a")], "a frame of unknown kind")
fails([raw(b"\x09\x01a")], "control frame")
fails([raw(b"\x89\x7e\x01\x00")], "control frame")
fails([lambda c: "end"], "it was cut; given up after 1 try")
def keeps_sending(message):
	def send(c):
		while not c.closed:
			c.send_frame(*message)
			time.sleep(0.02)
		return "end"
	return send
for more in (3600.0, keeps_sending((1, head.encode())), keeps_sending((9, b"ping")), keeps_sending((10, b""))):
	fails([head, good, more], "no picture came in 0.5 s; given up after 1 try, 1 frames came", "--silence", "0.5")
fails([keeps_sending((10, b""))], "no picture came in 0.5 s", "--silence", "0.5")
# parts of a message, with a ping between them, are well
parts = [head, lambda c: c.send_frame(2, good[:500], False), lambda c: c.send_frame(9, b"ping"),
	lambda c: c.send_frame(0, good[500:900], False), lambda c: c.send_frame(0, good[900:]), 1000]
server = Server(parts)
code, out, message = received(server)
expect(code == 0 and (frames_of(out)[0].pixels == holo.pixels).all(), message)
# a broken picture costs itself alone, if so wished
server = Server([head, good, picture(PNG, 1, data[:-200]), picture(PNG, 2, data), 1000])
code, out, message = received(server, "--keep-going")
expect(code == 1 and [f.meta["frame_number"] for f in frames_of(out)] == ["0", "2"] and "frame 1: " in message, code, message)
# what is no such server
def switches(request, *more):
	accept = base64.b64encode(hashlib.sha1(re.search(rb"(?i)Sec-WebSocket-Key: *(\S+)", request)[1] + live_client.GUID).digest())
	return b"\r\n".join((b"HTTP/1.1 101 Switching", b"Upgrade: websocket", b"Sec-WebSocket-Accept: " + accept) + more + (b"", b""))
for answer, part in ((b"SSH-2.0-rubbish\r\n\r\n", "not HTTP"), (b"HTTP/1.1 404 Not Found\r\n\r\n", "answers 404"),
		(b"HTTP/1.1 503 Busy\r\nRetry-After: 5\r\n\r\n", "503, it is busy; given up"), (b"x" * 5000, "too long a head"),
		(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: no\r\n\r\n", "no WebSocket server"),
		(b"", "it was cut"), (lambda request: switches(request, b"Sec-WebSocket-Protocol: chat"), "does not speak fringepipe.1"),
		(lambda request: switches(request, b"Sec-WebSocket-Protocol: fringepipe.1", b"Sec-WebSocket-Extensions: permessage-deflate"),
			"an extension of WebSocket that was not asked for")):
	listening = socket.create_server(("127.0.0.1", 0))
	def once():
		sock, _ = listening.accept()
		request = sock.recv(65536)
		sock.sendall(answer(request) if callable(answer) else answer)
		sock.close()
	threading.Thread(target=once, daemon=True).start()
	done = subprocess.run(["holorecv", "--retries", "0", "127.0.0.1:%d" % listening.getsockname()[1]], capture_output=True)
	expect(done.returncode == 1 and part in done.stderr.decode() and done.stderr.count(b"\n") == 1, part, done.stderr)
	expect(done.stderr.startswith(b"holorecv: 127.0.0.1:%d: " % listening.getsockname()[1]), done.stderr)
# one that never ends its answer, or takes none
for sent in b"", b"HTTP/1.1 101 Switching\r\n", "bytes":
	listening = socket.create_server(("127.0.0.1", 0))
	def slowly():
		sock, _ = listening.accept()
		try:
			while sent == "bytes":
				sock.sendall(b"H")
				time.sleep(0.1)
			sock.sendall(sent)
			time.sleep(60)
		except OSError:
			pass
	threading.Thread(target=slowly, daemon=True).start()
	begun = time.monotonic()
	done = subprocess.run(["holorecv", "--retries", "0", "127.0.0.1:%d" % listening.getsockname()[1]], capture_output=True)
	expect(done.returncode == 1 and b"no handshake came in 5 s; given up" in done.stderr, done.stderr)
	expect(4 < time.monotonic() - begun < 20, time.monotonic() - begun)'
	fails 1 "no connection: Connection refused; given up after 1 try" holorecv --retries 0 127.0.0.1:1
	fails 1 "no such host" holorecv nowhere.invalid:80
	fails 1 "no such host" holorecv nolocalhost.invalid:80
}

@test "holorecv: usage" {
	fails 2 "takes one address" holorecv
	fails 2 "takes one address" holorecv 127.0.0.1:1 127.0.0.1:2
	fails 2 "encrypted connections are not made here" holorecv wss://127.0.0.1/
	fails 2 "is no address of a stream" holorecv ftp://127.0.0.1/
	fails 2 "is no address of a stream" holorecv 'ws://a b:80/'
	fails 2 "is no address of a stream" holorecv $'ws://a:80/x\r\ny'
	fails 2 "is no address of a stream" holorecv 'ws://[::1:80/'
	fails 2 "is no address of a stream" holorecv 'ws://:80/'
	fails 2 "ports are from 1 to 65535" holorecv 127.0.0.1:65536
	fails 2 "takes its input from the stage before" fringepipe fringegen , holorecv 127.0.0.1:1
	fails 2 "silence" holorecv --silence 0 127.0.0.1:1
}
