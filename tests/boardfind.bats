load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# Python: a rig, the truth of fringesim's boards beside what boardfind found, and a chessboard of NumPy's own.
boards='
import json, subprocess
def csv(path):
	rows = [line for line in open(path) if not line.startswith("#")]
	return np.array([[float(v) for v in row.split(",")] for row in rows[1:]]).reshape(-1, len(rows[0].split(",")))
def rig(path="rig.json", scale=.5):
	s, c = np.sin(np.pi / 10), np.cos(np.pi / 10)
	json.dump({"camera_K": [[2100 * scale, 0, 639.5 * scale], [0, 2100 * scale, 511.5 * scale], [0, 0, 1]],
		"camera_dist": [-.1, .05, .001, -.0005, 0], "projector_K": [[2000, 0, 959.5], [0, 2000, 539.5], [0, 0, 1]],
		"projector_dist": [.02, -.01, 0, 0, 0], "R_cam_to_proj": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
		"T_cam_to_proj_mm": [-600 * s, 0, 600 * (1 - c)]}, open(path, "w"))
# errors of the points that were found, over sigma too; the numbers are the truth
def errors(found, truth):
	found, truth = csv(found), {(p[2], p[3]): p for p in csv(truth)}
	expect(len(found) > 0, "nothing found")
	off = np.array([p[:2] - truth[p[3], p[4]][:2] for p in found])
	return off, off / found[:, 2:3], len(truth)
def rms(e): return float(np.sqrt((e**2).mean()))
# a picture of a chessboard by its own formula: places of a homography, sub x sub a pixel, blurred (the
# area of the pixels too) before they become pixels
def chess(H, w, h, bw, bh, sigma=.7, sub=8, low=30, high=220):
	y, x = np.mgrid[0:h * sub, 0:w * sub]
	x, y = (x + .5) / sub - .5, (y + .5) / sub - .5
	G = np.linalg.inv(H)
	z = G[2, 0] * x + G[2, 1] * y + G[2, 2]
	a, b = (G[0, 0] * x + G[0, 1] * y + G[0, 2]) / z, (G[1, 0] * x + G[1, 1] * y + G[1, 2]) / z
	dark = ((np.floor(a) + np.floor(b)) % 2 == 0) & (a > -1) & (a < bw) & (b > -1) & (b < bh)
	f = [np.fft.fftfreq(h * sub, 1 / sub)[:, None], np.fft.rfftfreq(w * sub, 1 / sub)]
	v = np.fft.rfft2(np.where(dark, low, high)) * np.exp(-2 * (np.pi * sigma)**2 * (f[0]**2 + f[1]**2))
	return np.fft.irfft2(v).reshape(h, sub, w, sub).mean((1, 3))
'

# sim POSE OPTION ...: the picture pose.nrrd of a board, lit from everywhere, and truth.csv.
sim() {
	fringesim -q -s 640x512 -n 3 --mean 0 --amplitude 0 --ambient 220 --calib rig.json --scene board \
		--board 11x8,15 --board-pose "$1" --corners truth.csv "${@:2}" | framecat -q --frames 0 --delete '*' -o pose.nrrd
}

@test "boardfind: corners of simulated boards within 0.02 px rms of the truth at noise 2, sigma right" {
	py "$boards"'
rig()'
	for pose in 0,0,0,0,0,620 -26,10,33,10,5,640 45,45,0,0,0,680 0,60,5,0,0,600; do
		sim $pose --noise 2
		silent boardfind --board 11x8,15 pose.nrrd -o found.csv
		py "$boards"'
e, z, n = errors("found.csv", "truth.csv")
print(sys.argv[1], len(e), "of", n, "rms", rms(e), "over sigma", rms(z))
expect(len(e) == n == 88, len(e), n)
# the worst pose 0.0111 and 0.035; three standard errors of an rms of 88 corners are 16 percent
expect(rms(e) < .0129 and abs(e).max() < .0422, rms(e), abs(e).max())
expect(.8 < rms(z) < 1.2, rms(z))' $pose
	done
}

@test "boardfind: corners of a picture by NumPy, edges at 90 to 50 degrees: 0.0026 px without noise, 0.0112 at noise 2" {
	py "$boards"'
for k, angle in enumerate((90, 70, 50)):
	t = np.radians(angle)
	H = np.array([[26, 26 * np.cos(t + .16), 60.3], [4, 26 * np.sin(t + .16), 40.2], [2e-3, 1e-3, 1]])
	v = chess(H, 260, 200, 6, 5)
	np.savetxt("truth%d.csv" % k, [[*(H @ [i, j, 1])[:2] / (H @ [i, j, 1])[2], i, j] for j in range(5) for i in range(6)],
		delimiter=",", header="u,v,i,j", comments="")
	for noise in (0, 2):
		noisy = v + noise * np.random.default_rng(k).normal(size=v.shape)
		write_frames("p%d%d.nrrd" % (k, noise), Frame(np.rint(noisy).clip(0, 255).astype("u1")[None]))'
	for k in 0 1 2; do
		for noise in 0 2; do
			silent boardfind --board 6x5 p$k$noise.nrrd -o found.csv
			py "$boards"'
e, z, n = errors("found.csv", "truth%s.csv" % sys.argv[1])
print(sys.argv[1:], len(e), rms(e))
expect(len(e) == n == 30, len(e))
expect(rms(e) < (.0026 if sys.argv[2] == "0" else .0112), rms(e))' $k $noise
		done
	done
}

@test "boardfind: the table says what board it is of, in every format" {
	py "$boards"'
rig()'
	sim 10,20,5,0,0,700 --origin 0,0
	boardfind --board 8x11,15 pose.nrrd -o a.nrrd
	boardfind --board 11x8 pose.nrrd -o b.vnl
	py '
f = read_frame("a.nrrd")
expect(f.names == ["u", "v", "sigma", "i", "j"], f.names)
expect(f.pixels.shape == (5, 1, 88), f.pixels.shape)
m = f.meta
expect((m["board_kind"], m["board_size"], m["board_spacing_mm"], m["length_unit"], m["image_size_px"],
	m["board_numberings"], m["points"], m["name"]) == ("chess", "11 8", "15", "mm", "640 512", "1", "88", "pose"), *m.items())
expect(f["i"][0] == np.tile(np.arange(11), 8), f["i"])
expect(f["j"][0] == np.repeat(np.arange(8), 11), f["j"])'
	has '^## length_unit:=board' <b.vnl
	run ! has board_spacing_mm <b.vnl
}

@test "boardfind: turned by any angle the numbers are the board's; symmetric boards count from the top left" {
	py "$boards"'
rig()'
	for angle in 45 90 180 300; do
		sim 10,5,$angle,0,0,760 --noise 1
		silent boardfind --board 11x8,15 pose.nrrd -o found.csv
		py "$boards"'
expect(rms(errors("found.csv", "truth.csv")[0]) < .0049, sys.argv[1])' $angle
	done
	for board in 9x7,15 8x6,15 6x6,15 7x7,15; do
		sim 0,0,200,0,0,700 --board $board
		boardfind --board $board pose.nrrd -o found.csv
		case $board in 6x6*) ways=4 ;; *) ways=2 ;; esac
		has "^# board_numberings:=$ways" <found.csv
		py "$boards"'
t = csv("found.csv")
expect(t[0, 3:] == 0, t[0])
far = np.hypot(t[:, 0], t[:, 1])
expect(far[0] < far[-1], far[0], far[-1])
# right-handed: i to the right of j
p = {(r[3], r[4]): r[:2] for r in t}
a, b = p[1, 0] - p[0, 0], p[0, 1] - p[0, 0]
expect(a[0] * b[1] - a[1] * b[0] > 0, a, b)' $board
	done
}

@test "boardfind: boards cut by the border, hidden, blurred, over-exposed, far, of other types keep their truth" {
	py "$boards"'
rig()'
	sim 20,-15,10,150,0,620 --noise 1
	boardfind -q --board 11x8,15 pose.nrrd -o cut.csv
	cp truth.csv cut_truth.csv
	sim 20,-15,10,0,0,620 --noise 1
	py '
v = read_frame("pose.nrrd").pixels[0]
def put(name, v, names=None): write_frames(name + ".nrrd", Frame(v if v.ndim == 3 else v[None], names))
h = v.copy(); h[250:350, 150:300] = 90; put("hidden", h)
h = v.copy(); h[:, 350:380] = 30; put("stripe", h)
put("short", v.astype("u2") * 257)
f = v.astype("f4") / 255; f[200:206, 250:262] = np.nan; f[3, 3] = np.inf; put("float", f)
put("colour", np.stack([v // 2, v, v // 3]), ["r", "g", "b"])
put("scan", np.stack([v // 2, v]).astype("f4"), ["depth", "image"])'
	for name in hidden stripe short float colour scan; do
		boardfind -q --board 11x8,15 $name.nrrd -o $name.csv
	done
	boardfind -q --channel g --board 11x8,15 colour.nrrd -o green.csv
	boardfind -q --board 11x8,15 pose.nrrd -o plain.csv
	py "$boards"'
for name, least in dict(hidden=60, stripe=60, short=88, float=80, colour=88, scan=88, green=88).items():
	e, z, n = errors(name + ".csv", "truth.csv")
	print(name, len(e), rms(e))
	expect(len(e) >= least and rms(e) < .0048, name, len(e), rms(e))
e, z, n = errors("cut.csv", "cut_truth.csv")
expect(30 <= len(e) <= n < 88 and rms(e) < .0048, len(e), n, rms(e))
expect(abs(csv("green.csv")[:, :2] - csv("plain.csv")[:, :2]) == 0, "a channel is its own picture")'
	for other in "--blur 4 --noise 1" "--exposure 2 --noise 2" "--exposure 0.1 --noise 0.2"; do
		# shellcheck disable=SC2086 # options
		sim 20,-15,10,0,0,620 $other
		silent boardfind --board 11x8,15 pose.nrrd -o found.csv
		py "$boards"'
e, z, n = errors("found.csv", "truth.csv")
expect(len(e) == 88 and rms(e) < .0193, sys.argv[1], len(e), rms(e))' "$other"
	done
	sim 20,-15,10,0,0,2600 --noise 1
	silent boardfind --board 11x8,15 pose.nrrd -o found.csv
	py "$boards"'
e, z, n = errors("found.csv", "truth.csv")
expect(len(e) == 88 and rms(e) < .0069, "squares of 6 px", len(e), rms(e))'
}

@test "boardfind: circles and asymmetric circles: centres of their ellipses, to 0.02 px" {
	py "$boards"'
rig()'
	while read -r kind board pose; do
		sim "$pose" --noise 2 --board-kind "$kind" --board "$board"
		silent boardfind --kind "$kind" --board "$board" pose.nrrd -o found.csv
		py "$boards"'
e, z, n = errors("found.csv", "truth.csv")
print(sys.argv[1:], len(e), n, "mean", e.mean(0), "rms about it", rms(e - e.mean(0)), rms(z - z.mean(0)))
expect(len(e) == n, len(e), n)
expect(rms(e - e.mean(0)) < .0238 and abs(e.mean(0)).max() < .032, rms(e - e.mean(0)), e.mean(0))
expect(.6 < rms(z - z.mean(0)) < 1.6, rms(z - z.mean(0)))' "$kind" "$board" "$pose"
	done <<-END
		circles 7x7,15 0,0,0,0,0,640
		circles 9x6,15 20,-15,10,0,0,620
		circles 9x6,15 0,60,5,0,0,620
		acircles 4x11,15 -26,10,33,10,5,700
		acircles 4x11,15 0,60,5,0,0,700
		acircles 4x11,15 0,0,180,0,0,700
	END
	sim 20,-15,10,0,0,620 --board-kind circles --board 9x6,15
	py '
v = read_frame("pose.nrrd").pixels
write_frames("bright.nrrd", Frame(255 - v))'
	silent boardfind --kind circles --polarity bright --board 9x6 bright.nrrd -o bright.csv
	boardfind --kind circles --board 9x6 pose.nrrd -o dark.csv
	py "$boards"'
a, b = csv("bright.csv"), csv("dark.csv")
expect(a.shape == b.shape == (54, 5), a.shape, b.shape)
expect(abs(a[:, :2] - b[:, :2]) == 0, "polarity")'
}

@test "boardfind: several pictures at once, in their order, the same bytes on any number of threads, at every level" {
	py "$boards"'
rig()'
	mkdir set
	for k in 1 2 3; do
		sim $((10 * k)),0,0,0,0,640 --noise 1
		framecat pose.nrrd -o set/p$k.png
	done
	py '
write_frames("none.nrrd", Frame(np.zeros((100, 120), "u1")))'
	framecat none.nrrd -o set/p2b.png
	boardfind -j 1 --board 11x8,15 set -o one.nrrd 2>messages
	has "set/p2b.png: no board: there is no grid of corners" <messages
	[ "$(wc -l <messages)" -eq 1 ]
	boardfind -q -j 5 --board 11x8,15 set -o five.nrrd
	cmp one.nrrd five.nrrd
	for level in $(cpu_levels); do
		FRINGEPIPE_CPU=$level boardfind -q --board 11x8,15 set -o "$level.nrrd"
		cmp one.nrrd "$level.nrrd"
	done
	py '
frames = read_frames("one.nrrd")
expect([(f.meta["name"], f.meta["points"]) for f in frames] == [("p1", "88"), ("p2", "88"), ("p2b", "0"), ("p3", "88")],
	*[f.meta for f in frames])
expect(np.isnan(frames[2].pixels), "a row of none")'
	boardfind -q --board 11x8,15 set -o tables-%d.csv
	[ -s tables-3.csv ]
	# a lost picture keeps its number
	head -c 100 set/p2.png >set/p2c.png
	run -1 boardfind -q --keep-going -j 5 --board 11x8,15 set -o lost-%d.csv
	has "88\|name:=p3" <lost-4.csv
	[ ! -e lost-3.csv ]
}

@test "boardfind: no board is seen where there is none" {
	py '
r = np.random.default_rng(4)
def put(name, v): write_frames(name + ".nrrd", Frame(v[None]))
put("noise", r.integers(0, 255, (300, 400)).astype("u1"))
put("one", np.zeros((1, 1), "u1"))
put("small", r.integers(0, 255, (5, 5)).astype("u1"))
put("nan", np.full((90, 80), np.nan, "f4"))
y, x = np.mgrid[0:240, 0:320]
put("stripes", (127 + 100 * np.sin(x / 5)).astype("u1"))'
	for name in noise one small nan stripes; do
		for kind in chess circles; do
			run --separate-stderr boardfind --kind $kind --board 6x5 $name.nrrd -o no.nrrd
			[ "$status" -eq 1 ]
			# shellcheck disable=SC2154
			[[ $stderr == *"$name.nrrd: no board: "*"none of the 1 pictures shows the board"* ]]
			[ "$(wc -l <<<"$stderr")" -eq 2 ]
			[ ! -e no.nrrd ]
		done
	done
}

@test "boardfind: a board of another size is not taken, or a line asks" {
	py "$boards"'
rig()'
	sim 20,-15,10,0,0,620
	run -1 boardfind --board 9x6,15 pose.nrrd -o no.nrrd
	[[ $output == *"no board: it shows a grid of at least 11x8 points, not 9x6"* ]]
	run -0 boardfind --board 12x9,15 pose.nrrd -o large.nrrd
	[[ $output == *"--board: no picture shows more than 11x8 of its 12x9 points: is the size right?" ]]
	py '
expect(int(read_frame("large.nrrd").meta["board_numberings"]) > 1, "a guess is called certain")'
}

@test "boardfind: errors" {
	py '
write_frames("in.nrrd", Frame(np.zeros((9, 9), "u1")))
write_frames("several.nrrd", Frame(np.zeros((2, 9, 9), "f4"), ["phase", "depth"]))'
	fails 2 "--board: is needed: the points along both sides and their distance, as 11x8,15" boardfind in.nrrd
	for word in 11 11x 11x8x3 x8 axb; do
		fails 2 "--board: wants the points along both sides and their distance, as 11x8,15, not '$word'" \
			boardfind --board "$word" in.nrrd
	done
	fails 2 "--board: 2 points along a side: a board has 3 to 100" boardfind --board 11x2,15 in.nrrd
	fails 2 "--board: 101 points along a side" boardfind --board 101x8,15 in.nrrd
	for word in 0 -3 nan inf "" 15mm; do
		fails 2 "--board: the distance of the points must be 1e-6 to 1e6 mm, not '$word'" \
			boardfind --board 11x8,$word in.nrrd
	done
	fails 2 "--polarity: is for circles: give --kind" boardfind --board 11x8 --polarity bright in.nrrd
	fails 2 "--sigma: is for chessboards" boardfind --board 11x8 --kind circles --sigma 2 in.nrrd
	fails 2 "--sigma" boardfind --board 11x8 --sigma 0.5 in.nrrd
	fails 1 "the input has several channels: --channel says which one is the picture" boardfind --board 11x8 several.nrrd
	fails 1 "the picture has no channel g" boardfind --board 11x8 --channel g in.nrrd
	framecat --points in.nrrd -o table.nrrd
	fails 1 "table" boardfind --board 11x8 table.nrrd
}

@test "boardfind: all 66 corners of the eight views of a real board" {
	need_data horus_laser
	boardfind --board 11x6,13 "$data"/horus_laser/calib_*.jpg -o all.nrrd
	py '
frames = read_frames("all.nrrd")
expect([f.meta["points"] for f in frames] == ["66"] * 8, *[f.meta["points"] for f in frames])
expect([f.meta["board_numberings"] for f in frames] == ["1"] * 8)'
	# no board in what is none
	run -1 boardfind -q --board 6x4 "$data"/horus_laser/laser_bust*.png -o no.nrrd
}
