"""holoserve beside its aims: 60 frames/s with one viewer that reads nothing, then as fast as they can be fed with
three such viewers. Times are of one clock: a frame's number tells when it was handed over.

bench-serve.py ROUNDS: 3 or fewer are quick."""
import io, sys, threading, time
import numpy as np
from frames import Frame, write_frames
from live_client import Closed, Server, Viewer

quick = int(sys.argv[1]) <= 3


def surface(k, w=512):
	y, x = np.mgrid[:w, :w]
	z = 200 * np.exp(-((x - w / 2 - 20 * np.sin(k)) ** 2 + (y - w / 2) ** 2) / 40000) + 3 * np.sin(x / 9 + k)
	z[z < 20] = np.nan
	return z.astype("f4")


def stream(k):
	data = io.BytesIO()
	write_frames(data, Frame(surface(k), ["depth"]))
	return data.getvalue()


frames = [stream(k) for k in range(8)]
words = "--quality 85 -P 42 --depth-range 0,220 --encode jpeg"


def look(viewer, got):
	try:
		while True:
			frame = viewer.frame()
			got.append((frame["number"], time.perf_counter(), len(frame["picture"])))
	except Closed:
		pass


def paced(n):
	server = Server(words)
	viewer, dead = Viewer(server.url), Viewer(server.url)
	got, handed = [], []
	reader = threading.Thread(target=look, args=(viewer, got))
	reader.start()
	begun = time.perf_counter()
	for i in range(n):
		time.sleep(max(0, begun + i / 60 - time.perf_counter()))
		handed.append(time.perf_counter())
		server.put(frames[i % 8])
	rate = n / (time.perf_counter() - begun)
	server.end()
	reader.join()
	late = np.array([1e3 * (at - handed[k]) for k, at, _ in got])
	size = np.mean([bytes for _, _, bytes in got])
	print(f"  fed {n} at {rate:.1f} frames/s: {len(got)} shown ({100 * len(got) / n:.1f} %; aim 95), writing it to last "
		f"byte {np.median(late):.1f} ms median, {np.percentile(late, 95):.1f} ms p95 (aims 5, 15), {size / 1000:.0f} kB "
		f"a frame, {size * 30 * 8 / 1e6:.1f} Mbit/s at 30 frames/s (aim 12)")


def fed(n, viewers):
	server = Server(words)
	dead = [Viewer(server.url) for _ in range(viewers)]
	time.sleep(0.3)
	begun = time.perf_counter()
	for i in range(n):
		server.put(frames[i % 8])
	took = time.perf_counter() - begun
	server.end()
	return took


paced(120 if quick else 600)
n, rounds = (300, 3) if quick else (2000, 7)
times = np.array([[fed(n, 0), fed(n, 3)] for _ in range(rounds)])
alone, dead = np.median(times, axis=0)
print(f"  as fast as it can be fed: {n / alone:.0f} frames/s, with three dead viewers {100 * (dead / alone - 1):+.1f} % "
	"of time (aim below 2)")
