# Holoimages as video: what colour of half resolution does to them, and what a video takes and loses.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || return 1
}

shapes='
def ball(w, h, x0, y0, radius):
	y, x = np.mgrid[:h, :w].astype(float)
	square = radius ** 2 - (x - x0) ** 2 - (y - y0) ** 2
	return np.where(square > 0, np.sqrt(np.maximum(square, 0)), np.nan)
def halved(plane, down):
	"""Means of 2 or 2x2, doubled by weights of 3/4 and 1/4, as video of 4:2:2 and 4:2:0 does"""
	h, w = plane.shape
	p = np.pad(plane.astype(float), ((0, h % 2), (0, w % 2)), mode="edge")
	def along(v, axis):
		v = np.moveaxis(v, axis, 0)
		v = (v[0::2] + v[1::2]) / 2
		out = np.empty((2 * len(v),) + v.shape[1:])
		out[0::2] = (3 * v + np.concatenate([v[:1], v[:-1]])) / 4
		out[1::2] = (3 * v + np.concatenate([v[1:], v[-1:]])) / 4
		return np.moveaxis(out, 0, axis)
	p = along(p, 1)
	return np.floor((along(p, 0) if down else p) + 0.5)[:h, :w].astype("u1")
def loss(truth, got, extent):
	"""rms in %, spikes (off by over 1 %) in % of what is kept, lost in %, invented pixels"""
	error, valid, kept = (got - truth) / extent * 100, np.isfinite(truth), np.isfinite(got)
	error = error[valid & kept]
	spikes = np.abs(error) > 1
	return (np.sqrt(np.mean(error[~spikes] ** 2)), 100 * spikes.mean(), 100 * (valid & ~kept).sum() / valid.sum(),
		(kept & ~valid).sum())
'

@test "holovideo: fringes of half resolution are read at the boundary without the black beside it" {
	for size in 257x191 256x192; do
		py "$shapes"'
w, h = map(int, sys.argv[1].split("x"))
z = 60 + ball(w, h, w / 2 - 0.3, h / 2 + 0.4, 80.2)
z[40:60, 120:123] = np.nan		# a slit
write_frames("in.nrrd", Frame(z.astype("f4"), ["depth"], {"z_axis": "towards"}))' $size
		holoenc -P 36 --layout yuv --depth-range 0,150 in.nrrd -o holo.nrrd
		for down in 0 1; do
			py "$shapes"'
f = read_frame("holo.nrrd")
planes = [f["luma"]] + [halved(f[c], sys.argv[1] == "1") for c in ("chroma_u", "chroma_v")]
write_frames("half.nrrd", Frame(np.stack(planes), f.names, f.meta))' $down
			holodec half.nrrd -o out.nrrd
			py "$shapes"'
rms, spikes, lost, invented = loss(read_frame("in.nrrd")["depth"], read_frame("out.nrrd")["depth"], 150)
print("# %s: rms %.4f spikes %.3f lost %.3f invented %d" % (sys.argv[1:], rms, spikes, lost, invented))
expect(invented <= 15 and rms <= float(sys.argv[2]) and spikes <= float(sys.argv[3]) and lost <= float(sys.argv[4]),
	rms, spikes, lost, invented)' "$size $down" $([ $down = 1 ] && echo "0.127 0.8 0.19" || echo "0.105 0.43 0.19") >&3
		done
	done
}

@test "holovideo: fringes too fine for 4:2:0 are refused where they are coded, for holodec would refuse them" {
	need_data meshes
	mesh2depth -s 256x192 "$data/meshes/igea.ply" -o in.nrrd
	holoenc --layout yuv in.nrrd -o holo.nrrd
	fails 1 "holo.mkv: fringes are too fine for colour of half resolution in 48 % of the picture, and holodec would refuse it: --chroma 444, or holoenc with a larger --pitch" \
		framecat --chroma 420 holo.nrrd -o holo.mkv
	framecat holo.nrrd -o holo.mkv
	silent holodec holo.mkv -o out.nrrd
	holoenc --layout yuv --pitch 42 in.nrrd | framecat --chroma 420 -f -o holo.mkv
	holodec -q holo.mkv -o out.nrrd -f
	# JPEG files alike, in both layouts; a file of another program is told by holodec
	for layout in rgb yuv; do
		holoenc --layout $layout in.nrrd -o holo.nrrd -f
		fails 1 "holo.jpg: fringes are too fine for colour of half resolution in " framecat --chroma 420 holo.nrrd -o holo.jpg
		[ ! -e holo.jpg ]
	done
	holoenc in.nrrd | framecat -o holo.jpg
	silent holodec holo.jpg -o out.nrrd -f
	py '
from PIL import Image
i = Image.open("holo.jpg")
i.save("other.jpg", quality=95, subsampling=2, comment=i.info["comment"])'
	fails 1 "or its fringes are too fine for colour of half resolution (holoenc with a larger --pitch): red and green are" holodec other.jpg
}

@test "holovideo: a sphere as H.264 in 4:4:4, 4:2:2 and 4:2:0: bytes, rms, spikes" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	py "$shapes"'
a = 2 * np.pi * np.arange(30) / 30
write_frames("in.nrrd", [Frame(ball(512, 512, 255.5 + 20 * np.cos(t), 255.5 + 20 * np.sin(t), 204.8).astype("f4"), ["depth"],
	{"z_axis": "towards"}) for t in a])'
	holoenc -P 42 --layout yuv --depth-range 0,409.6 in.nrrd -o holo.nrrd
	while read -r chroma crf preset bytes rms spikes; do
		framecat -f --chroma $chroma --crf $crf --preset $preset holo.nrrd -o out.mkv
		holodec out.mkv -o out.nrrd
		py "$shapes"'
import os
chroma, (bytes_, rms_most, spikes_most) = sys.argv[1], map(float, sys.argv[2:])
rms, spikes, lost, invented = loss(*(np.stack([f["depth"] for f in read_frames(n)]) for n in ("in.nrrd", "out.nrrd")), 409.6)
size = os.path.getsize("out.mkv") / 30
print("# %s: %.0f bytes a frame, rms %.4f, spikes %.4f, lost %.3f, invented %d" % (chroma, size, rms, spikes, lost, invented))
expect(size <= bytes_ and rms <= rms_most and spikes <= spikes_most and lost <= 0.3 and invented <= 300, size, rms, spikes, lost,
	invented)' $chroma $bytes $rms $spikes >&3
	done <<-END
		444 10 slower 7200 0.048 0.0005
		422 18 medium 8400 0.070 0.1
		420 20 medium 4500 0.088 0.15
	END
}

@test "holovideo: a bare video element of a browser shows 8 bits in 4:2:0, ffplay and ffmpeg as well" {
	command -v chromium >/dev/null || skip "no browser: chromium is not here"
	py "$shapes"'
y, x = np.mgrid[:64, :256]
write_frames("ramp.nrrd", [Frame(x.astype("u1"), ["luma"])] * 5)
write_frames("in.nrrd", [Frame((60 + ball(256, 64, 128, 32, 28 + k)).astype("f4"), ["depth"], {"z_axis": "towards"}) for k in range(5)])'
	holoenc -P 64 --layout yuv --depth-range 40,100 in.nrrd -o holo.nrrd
	shade --colour depth --range 40,100 in.nrrd -o drawn.nrrd
	for case in "ramp --chroma 420" "holo --chroma 420" drawn; do
		read -r name options <<<"$case"
		# shellcheck disable=SC2086
		framecat -f $options --crf 5 $name.nrrd -o out.mp4
		ffmpeg -v error -i out.mp4 -f null -
		framecat out.mp4 -o back.nrrd
		if command -v ffplay >/dev/null; then
			SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy timeout 60 ffplay -v error -autoexit out.mp4 2>messages
			[ ! -s messages ]
		fi
		py '
import base64
open("page.html", "w").write("""<!doctype html><video id=v muted src="data:video/mp4;base64,%s"></video><pre id=o></pre><script>
const v = document.getElementById("v"), o = document.getElementById("o");
v.onerror = () => { o.textContent = "error " + v.error.message };
v.onloadeddata = () => { v.currentTime = 0.04 };
// the time of a page without a window is virtual: it passes while the decoder works only if the page works, too
const wait = setInterval(() => {
	if (o.textContent)
		clearInterval(wait);
	else
		for (let i = 0, s = 0; i < 3e6; i++)
			s += Math.sqrt(i);
}, 20);
// a picture that is not there yet leaves the canvas transparent
const draw = () => {
	const c = document.createElement("canvas"), g = c.getContext("2d");
	c.width = v.videoWidth; c.height = v.videoHeight;
	g.drawImage(v, 0, 0);
	const d = g.getImageData(0, 32, c.width, 1).data;
	if (d[3] === 0)
		setTimeout(draw, 20);
	else
		o.textContent = "shown " + c.width + " " + c.height + " " + Array.from(d).join(" ");
};
v.onseeked = draw;
</script>""" % base64.b64encode(open("out.mp4", "rb").read()).decode())'
		timeout 120 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" \
			--virtual-time-budget=60000 --dump-dom "file://$PWD/page.html" 2>/dev/null >dom
		py '
import re
shown = re.search("<pre id=\"o\">(.*?)</pre>", open("dom").read()).group(1).split()
expect(shown[:3] == ["shown", "256", "64"], shown[:20])
rgb = np.array(shown[3:], float).reshape(256, 4)[:, :3]
back = read_frames("back.nrrd")[1]
frame = back.pixels[:, 32].astype(float)
if back.names[0] == "r":	# the file says which matrix and which range
	off = np.sqrt(np.mean((frame - rgb.T) ** 2))
	expect(off < 4, off)
	sys.exit()
u, v = (frame[1] - 128, frame[2] - 128) if len(frame) == 3 else (0, 0)
best = np.inf
for kr, kb in (0.299, 0.114), (0.2126, 0.0722):	# no file says which matrix, and it is only for looking
	r, b = frame[0] + 2 * (1 - kr) * v, frame[0] + 2 * (1 - kb) * u
	g = (frame[0] - kr * r - kb * b) / (1 - kr - kb)
	best = min(best, np.sqrt(np.mean((np.clip([r, g, b], 0, 255) - rgb.T) ** 2)))
print("# %s: rms of what the browser shows %.2f levels" % (sys.argv[1], best))
expect(best <= (1 if sys.argv[1] == "ramp" else 13), best)' "$name" >&3
	done
}

# A face of 257x191 or 256x192 with a skin that has edges; at 192 rows the colours share no block with the depth.
face='
def face(w, h, k):
	y, x = np.mgrid[:h, :w].astype(float)
	u, v = (x - w / 2 - 2 * k) / (0.36 * w), (y - h / 2) / (0.46 * h)
	r = u * u + v * v
	z = np.where(r < 1, 60 * np.sqrt(np.maximum(1 - r, 0)) + 14 * np.exp(-(u * u / .02 + (v - .1) ** 2 / .08)), np.nan)
	skin = np.stack([200 - 30 * r, 150 - 25 * r + 8 * np.sin(9 * u), 120 - 20 * r + 6 * np.cos(7 * v)])
	parts = [(u ** 2 / .06 + (v - .5) ** 2 / .012 < 1, (170, 50, 60))]
	for s in -1, 1:
		parts += [((u - s * .38) ** 2 / .02 + (v + .15) ** 2 / .006 < 1, (245, 245, 240)),
			((u - s * .38) ** 2 + (v + .15) ** 2 < .006, (40, 90, 160)),
			((abs(u - s * .38) < .2) & (abs(v + .36) < .04), (60, 40, 30))]
	for where, colour in parts:
		skin[:, where] = np.array(colour)[:, None]
	return np.concatenate([z[None], np.where(np.isfinite(z), skin, np.nan)]).astype("f4")

def inside(z, n):
	p = np.pad(np.isfinite(z), n)
	return np.all([np.roll(np.roll(p, a, 0), b, 1) for a in range(-n, n + 1) for b in range(-n, n + 1)
		if a * a + b * b <= n * n], axis=0)[n:-n, n:-n]
'

@test "holovideo: a face with its colours, through every layout, without loss and in 4:2:0 at crf 18" {
	command -v ffmpeg >/dev/null || skip "ffmpeg is not here"
	local size tool options chroma
	for size in 257x191 256x192; do
		py "$face"'
w, h = map(int, sys.argv[1].split("x"))
write_frames("in.nrrd", [Frame(face(w, h, k), ["depth", "r", "g", "b"], {"z_axis": "towards"}) for k in range(3)])' $size
		while read -r tool chroma options; do
			rm -f code.nrrd code.mkv
			# shellcheck disable=SC2086
			${tool}enc --depth-range 0,80 --texture r,g,b --texture-place below $options in.nrrd -o code.nrrd
			${tool}dec code.nrrd -f -o exact.nrrd
			framecat --chroma $chroma --crf 18 code.nrrd -o code.mkv
			${tool}dec code.mkv -f -o lossy.nrrd 2>messages
			py "$face"'
for name, most, deep in ("exact", 1, 1), ("lossy", 3, 2.5):
	was, back = read_frames("in.nrrd"), read_frames(name + ".nrrd")
	expect(len(back) == 3, len(back))
	for a, b in zip(was, back):
		expect(b.names == ["depth", "r", "g", "b"], b.names)
		m = inside(a["depth"], 4)
		off = [np.abs(a[c] - b[c])[m].mean() for c in "rgb"]
		expect(max(off) <= most, sys.argv[1], name, off)
		rms = np.sqrt(np.nanmean((a["depth"] - b["depth"])[m] ** 2))
		expect(rms <= deep, sys.argv[1], name, rms)
		expect(np.isnan(b["depth"][m]).mean() < 0.02, sys.argv[1], name)
	row = np.abs(was[0]["depth"] - back[0]["depth"])[-1]		# nothing of the colours reaches into it
	expect(not np.any(row > 8), sys.argv[1], row)' "$size $tool $options"
		done <<<"depth 420 --layout luma
depth 420 --layout mwd --mask track
depth 420 --layout fold
depth 420 --layout luma --bits 8 --mask track --texture-gain 0.8
depth 444 --layout luma --mask track --texture-place track
holo 420 -P 36 --layout yuv
holo 444 -P 36 --layout rgb"
	done
}
