"""holoserve beside its aims: 60 frames/s with one viewer that reads nothing, then as fast as they can be fed with
three such viewers. Times are of one clock: a frame's number tells when it was handed over.

bench-serve.py ROUNDS [MESH]: 3 or fewer are quick; the mesh is one that sways, for its bit rates."""
import io, subprocess, sys, threading, time
import numpy as np
from frames import Frame, read_frame, write_frames
from live_client import Closed, Server, Viewer

quick = int(sys.argv[1]) <= 3


def surface(k, w=512):
	y, x = np.mgrid[:w, :w]
	z = 200 * np.exp(-((x - w / 2 - 20 * np.sin(k)) ** 2 + (y - w / 2) ** 2) / 40000) + 3 * np.sin(x / 9 + k)
	z[z < 20] = np.nan
	return z.astype("f4")


def stream_of(depth):
	data = io.BytesIO()
	write_frames(data, Frame(depth, ["depth"]))
	return data.getvalue()


def stream(k):
	return stream_of(surface(k))


def swaying_mesh(path):
	"""Its depth map of 512 x 512, its depths from 0 to 220, moved by 10 pixels and back in two seconds."""
	done = subprocess.run(["mesh2depth", "-s", "512x512", path], capture_output=True, check=True)
	z = read_frame(io.BytesIO(done.stdout))["depth"]
	z = 1 + 218 * (z - np.nanmin(z)) / (np.nanmax(z) - np.nanmin(z))
	return [stream_of(np.roll(z, int(round(10 * np.sin(2 * np.pi * k / 60))), 1).astype("f4")) for k in range(60)]


frames = [stream(k) for k in range(8)]
sway = [stream(2 * np.pi * k / 60) for k in range(60)]		# 40 pixels and back in two seconds, at 30 frames/s
words = "-P 42 --depth-range 0,220 --encode "


def look(viewer, got):
	try:
		while True:
			frame = viewer.frame()
			got.append((frame["number"], time.perf_counter(), len(frame["picture"])))
	except Closed:
		pass


def paced(n, rate, kind, frames, aims, name=None):
	name = name or kind
	server = Server(words + kind)
	can = "can " + kind
	viewer, dead = Viewer(server.url, can), Viewer(server.url, can)
	got, handed = [], []
	reader = threading.Thread(target=look, args=(viewer, got))
	reader.start()
	server.put(frames[-1])		# an encoder of video takes a while to start
	time.sleep(1)
	begun = time.perf_counter()
	for i in range(n):
		time.sleep(max(0, begun + i / rate - time.perf_counter()))
		handed.append(time.perf_counter())
		server.put(frames[i % len(frames)])
	real = (n - 1) / (handed[-1] - begun)
	server.end()
	reader.join()
	got = [g for g in got if g[0] > 0]
	late = np.array([1e3 * (at - handed[k - 1]) for k, at, _ in got])
	bits = 8 * sum(bytes for _, _, bytes in got) / (n / rate) * n / len(got)
	print(f"  {name}: fed {n} at {real:.1f} frames/s: {len(got)} shown ({100 * len(got) / n:.1f} %), writing it to last byte "
		f"{np.median(late):.1f} ms median, {np.percentile(late, 95):.1f} ms p95, {bits / 1e6:.2f} Mbit/s if all are shown{aims}")


def fed(n, viewers):
	server = Server(words + "jpeg")
	dead = [Viewer(server.url) for _ in range(viewers)]
	time.sleep(0.3)
	begun = time.perf_counter()
	for i in range(n):
		server.put(frames[i % 8])
	took = time.perf_counter() - begun
	server.end()
	return took


n = 120 if quick else 600
paced(n, 60, "jpeg", frames, " (aims: 95 %, 5 ms, 15 ms)")
paced(n // 2, 30, "jpeg", sway, " (aim: 12)")
paced(n // 2, 30, "h264", sway, " (aim: 2)")
paced(n // 2, 30, "luma", sway, "")
for kind, aims in (("jpeg", " (aim: 12)"), ("h264", " (aim: 2)"), ("luma", "")) if len(sys.argv) > 2 else ():
	paced(n // 2, 30, kind, swaying_mesh(sys.argv[2]), aims, "mesh, " + kind)
n, rounds = (300, 3) if quick else (2000, 7)
times = np.array([[fed(n, 0), fed(n, 3)] for _ in range(rounds)])
alone, dead = np.median(times, axis=0)
print(f"  as fast as it can be fed: {n / alone:.0f} frames/s, with three dead viewers {100 * (dead / alone - 1):+.1f} % "
	"of time (aim below 2)")
