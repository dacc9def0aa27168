# bench-live.py FRAMECAT: writes streams at 30 frames/s to framecat and to cat, and prints when frames come out of the
# one behind those of the other, in frames: in the middle, at the worst after the first second, and of the first one.
import os
import subprocess
import sys
import threading
import time

SIZE, FRAMES, RATE = "640x480", 150, 30
CASES = (
	("y4m, own reader", 1, "-pix_fmt gray -f yuv4mpegpipe"),
	("raw NUT, own reader", 1, "-pix_fmt gray -c:v rawvideo -f nut"),
	("raw, --raw", 1, "-pix_fmt gray -f rawvideo"),
	("PNG, own reader", 1, "-pix_fmt gray -c:v png -f image2pipe"),
	("ffv1 in Matroska", 3, "-pix_fmt gray -c:v ffv1 -f matroska -cluster_time_limit 1"),
	("h264 in Matroska", 3, "-pix_fmt yuv420p -c:v libx264 -preset ultrafast -tune zerolatency -f matroska -cluster_time_limit 1"),
	("mjpeg in NUT", 3, "-pix_fmt yuvj420p -c:v mjpeg -f nut"),
)

def ends(stream, words):
	"""Where each frame of a stream ends."""
	if words.endswith("-f rawvideo"):
		return [len(stream) // FRAMES * (k + 1) for k in range(FRAMES)]
	if "yuv4mpegpipe" in words or "image2pipe" in words:
		mark = b"FRAME\n" if "yuv4mpegpipe" in words else b"\x89PNG\r\n"
		starts, at = [], stream.find(mark)
		while at >= 0:
			starts.append(at)
			at = stream.find(mark, at + 1)
		return starts[1:] + [len(stream)]
	open("live.stream", "wb").write(stream)
	packets = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pos,size",
		"-of", "csv=p=0", "live.stream"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
	pairs = sorted((int(at), int(size)) for size, at in (p.strip(",").split(",")[:2] for p in packets))
	return [at + size for at, size in pairs]

def outputs(tool, note):
	while True:
		piece = os.read(tool.stdout.fileno(), 1 << 20)
		if not piece:
			return
		note(piece, time.monotonic())

def measure(framecat, words):
	writer = subprocess.Popen(["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=%s:rate=%d" % (SIZE, RATE),
		"-frames:v", str(FRAMES), *words.split(), "-flush_packets", "1", "-"], stdout=subprocess.PIPE)
	raw = ["--raw", SIZE + ",gray"] if words.endswith("-f rawvideo") else []
	tools = [subprocess.Popen(t, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
		for t in (["cat"], [framecat, "-q", "-j", "1", *raw])]
	stream, seen, came, tail = bytearray(), [], [], [b""]

	def of_cat(piece, now):
		stream.extend(piece)
		seen.append((len(stream), now))

	def of_tool(piece, now):
		came.extend([now] * (tail[0] + piece).count(b"NRRD0004\n"))
		tail[0] = piece[-8:]

	threads = [threading.Thread(target=outputs, args=a) for a in ((tools[0], of_cat), (tools[1], of_tool))]
	for thread in threads:
		thread.start()
	while True:
		piece = writer.stdout.read1(1 << 20)
		if not piece:
			break
		for tool in tools:
			tool.stdin.write(piece)
	for tool in tools:
		tool.stdin.close()
	for thread in threads:
		thread.join()
	lags, at = [], 0
	for end, now in zip(ends(bytes(stream), words), came):
		while seen[at][0] < end:
			at += 1
		lags.append((now - seen[at][1]) * RATE)
	return lags, len(came)

print("%-24s %8s %8s %8s %8s  %s" % ("stream", "middle", "worst", "first", "frames", "bar"))
for name, bar, words in CASES:
	lags, frames = measure(sys.argv[1], words)
	later = sorted(lags[RATE:])
	print("%-24s %8.2f %8.2f %8.1f %4d/%3d  %d" % (name, later[len(later) // 2], later[-1], lags[0], frames, FRAMES, bar), flush=True)
