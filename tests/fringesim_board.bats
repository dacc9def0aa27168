load helpers

# fringesim --scene board: a rig with lenses, and in NumPy where its camera and its projector see a point.
rigs='
import json
S, C = np.sin(.3), np.cos(.3)
CAMERA = [[1050, 0, 322.], [0, 1048, 259], [0, 0, 1]], [-.1, .05, .001, -.0005, .01]
PROJECTOR = [[2000, 0, 959.5], [0, 2010, 539.5], [0, 0, 1]], [.08, -.03, -.0008, .0006, 0]
R, T = np.array([[C, 0, S], [0, 1, 0], [-S, 0, C]]), np.array([-620 * S, 4, 620 * (1 - C)])
def write_calib(path):
	json.dump({"camera_K": CAMERA[0], "camera_dist": CAMERA[1], "projector_K": PROJECTOR[0], "projector_dist": PROJECTOR[1],
		"R_cam_to_proj": R.tolist(), "T_cam_to_proj_mm": T.tolist()}, open(path, "w"))
def project(device, X):
	K, (k1, k2, p1, p2, k3) = np.array(device[0]), device[1]
	x, y = X[0] / X[2], X[1] / X[2]
	r = x * x + y * y
	c = 1 + r * (k1 + r * (k2 + r * k3))
	return np.stack([K[0, 0] * (x * c + 2 * p1 * x * y + p2 * (r + 2 * x * x)) + K[0, 2],
		K[1, 1] * (y * c + p1 * (r + 2 * y * y) + 2 * p2 * x * y) + K[1, 2]])
# Rodrigues by a series of the matrix exponential, another way than the tool takes
def rotation(degrees):
	a, b, c = np.radians(degrees)
	M, sum, term = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]]), np.eye(3), np.eye(3)
	for k in range(1, 30):
		term = term @ M / k
		sum = sum + term
	return sum
def on_board(pose, xy): return rotation(pose[:3]) @ np.vstack([xy, 0 * xy[:1]]) + np.array(pose[3:])[:, None]
'

@test "fringesim board: where its points are in the camera and on the projector, by closed form" {
	py "$rigs"'
write_calib("rig.json")'
	while read -r kind board pose; do
		fringesim -s 640x512 --calib rig.json --scene board --board-kind "$kind" --board "$board" \
			--board-pose "$pose" -n 3 --corners truth.nrrd -o null:
		py "$rigs"'
kind, board, pose = sys.argv[1], sys.argv[2].replace(",", "x").split("x"), [float(v) for v in sys.argv[3].split(",")]
w, h, mm = int(board[0]), int(board[1]), float(board[2])
f = read_frame("truth.nrrd")
expect(f.names == ["u", "v", "i", "j", "projector_u", "projector_v"], f.names)
expect((f.meta["board_kind"], f.meta["board_size"], f.meta["board_spacing_mm"], f.meta["image_size_px"]) ==
	(kind, "%d %d" % (w, h), board[2], "640 512"), f.meta)
j, i = (a.ravel().astype(float) for a in np.mgrid[0:h, 0:w])
x = np.stack([2 * i + j % 2 if kind == "acircles" else i, j])
x = (x - (x.min(1) + x.max(1))[:, None] / 2) * mm
X = on_board(pose, x)
u, p = project(CAMERA, X), project(PROJECTOR, R @ X + T[:, None])
seen = (u >= -.5).all(0) & (u[0] <= 639.5) & (u[1] <= 511.5)
expect(f.pixels.shape[2] == seen.sum(), f.pixels.shape, seen.sum())
lit = (p >= -.5).all(0) & (p[0] < 1919.5) & (p[1] < 1079.5)
expect(lit.any(), "nothing is lit")
expect(np.abs(f.pixels[:2, 0] - u[:, seen]) < 5e-5, np.abs(f.pixels[:2, 0] - u[:, seen]).max())
expect((f["i"][0] == i[seen]) & (f["j"][0] == j[seen]), "numbers")
expect(np.isnan(f.pixels[4:, 0]) == ~lit[seen], "light")
expect((np.abs(f.pixels[4:, 0] - p[:, seen]) < 1.3e-4) | ~lit[seen], np.nanmax(np.abs(f.pixels[4:, 0] - p[:, seen])))
' "$kind" "$board" "$pose"
	done <<-END
		chess 11x8,15 20,-15,10,0,0,620
		chess 11x8,15 20,-15,190,150,20,520
		circles 7x7,12 0,50,3,-5,4,600
		acircles 4x11,10 -26,10,33,10,5,640
	END
}

@test "fringesim board: the picture is the print, blurred as it is asked for; the truth is the plane" {
	py '
import json
json.dump({"camera_K": [[600, 0, 100.3], [0, 600, 80.6], [0, 0, 1]], "camera_dist": [0] * 5,
	"projector_K": [[1400, 0, 640], [0, 1400, 400], [0, 0, 1]], "projector_dist": [0] * 5,
	"R_cam_to_proj": np.eye(3).tolist(), "T_cam_to_proj_mm": [-20, 0, 0]}, open("rig.json", "w"))'
	for blur in 0.5 0.7 1.5; do
		fringesim -s 200x160 -n 3 --mean 0 --amplitude 0 --ambient 200 -b float --calib rig.json --scene board \
			--board 5x4,20 --distance 600 --blur $blur --truth truth.nrrd --corners corners.nrrd -o out.nrrd
		py '
from math import erf
sigma = float(sys.argv[1])
v, z = read_frames("out.nrrd")[0].pixels[0], read_frame("truth.nrrd")["depth"]
# squares of 20 px: along x the edges are at 100.3 +- 20 k, along y at 80.6 +- 10, 30; erf on each side
step = np.vectorize(lambda t: .5 * (1 + erf(t / sigma / np.sqrt(2))))
def side(n, at, count):
	x = np.arange(n, dtype=float) - at
	edges = [20 * (k - (count - 1) / 2) for k in range(-1, count + 1)]
	inside = step(x - edges[0]) * step(edges[-1] - x)
	sign = -1 + sum(2 * (-1)**k * step(x - e) for k, e in enumerate(edges[1:-1]))
	return inside, sign
(a, s), (b, t) = side(200, 100.3, 5), side(160, 80.6, 4)
white = 200 * (1 - .88 * np.outer(b, a) * (1 + np.outer(t, s)) / 2)
inner = (slice(30, 132), slice(30, 171))	# the white rim ends in nothing
off = np.abs(v - white)[inner].max()
print(sigma, off)
expect(off < .35, off)
expect(np.abs(z[inner] - 600) < 1e-3, z)' $blur
	done
}

@test "fringesim board: the camera's blur takes from other scenes what a Gaussian takes" {
	fringesim -s 128x32 -p 16 -n 4 -b float --scene plane -o sharp.nrrd
	fringesim -s 128x32 -p 16 -n 4 -b float --scene plane --blur 1.3 -o blurred.nrrd
	py '
for a, b in zip(read_frames("sharp.nrrd"), read_frames("blurred.nrrd")):
	left = np.exp(-2 * (np.pi * 1.3 / 16)**2)
	off = np.abs((b.pixels - 127) - left * (a.pixels - 127))[:, 8:-8, 8:]	# the projector ends there
	expect(off < .01, off.max())'
}

@test "fringesim board: fringes on a board decode to the projector coordinates of its corners" {
	py "$rigs"'
write_calib("rig.json")'
	fringesim -s 640x512 --calib rig.json --scene board --board 11x8,15 --board-pose 15,-20,5,0,0,620 -n 9 -p 18 -g half \
		-a both --flats --noise 2 --corners truth.nrrd -o board.nrrd
	fringepipe -q phasewrap board.nrrd , unwrap2f -o phase.nrrd
	py '
f, truth = read_frame("phase.nrrd"), read_frame("truth.nrrd").pixels[:, 0]
phases = [c for c in f.names if c.startswith("absphase")]
# the quadratic of the issue: about each corner, weighted by amplitude
for k, name in enumerate(phases[:1]):
	p, off = f[name].astype(float) * 18 / 2 / np.pi, []
	weight = f["modulation"] if "modulation" in f.names else np.ones_like(p)
	for u, v, i, j, pu, pv in truth.T:
		y, x = np.mgrid[int(v) - 11:int(v) + 13, int(u) - 11:int(u) + 13]
		d, w = p[y, x], weight[y, x].astype(float)
		good = ~np.isnan(d) & ~np.isnan(w)
		X, Y = (x - u)[good], (y - v)[good]
		A = np.stack([X * 0 + 1, X, Y, X * X, X * Y, Y * Y], 1)
		q = np.linalg.lstsq(A * w[good][:, None], d[good] * w[good], rcond=None)[0]
		off.append(q[0] - pu)
	off = np.array(off)
	print(name, len(off), np.sqrt((off**2).mean()), np.abs(off).max())
	expect(np.sqrt(np.median(off**2)) < .02, np.sqrt((off**2).mean()))'
}

@test "fringesim board: errors" {
	py "$rigs"'
write_calib("rig.json")'
	sim() { fringesim --calib rig.json --scene board --board 11x8,15 "$@" -o no.nrrd; }
	fails 2 "--scene: board needs the camera of --calib" fringesim --scene board --board 11x8,15
	fails 2 "--scene: board needs --board WxH,MM" fringesim --calib rig.json --scene board
	fails 2 "--board: wants the distance of its points too" sim --board 11x8
	fails 2 "--board: is only for --scene board" fringesim --board 11x8,15
	fails 2 "--board-pose: is only for --scene board" fringesim --board-pose 0,0,0,0,0,500
	fails 2 "--board-kind: is only for --scene board" fringesim --board-kind circles
	fails 2 "--corners: is only for --scene board" fringesim --corners c.csv
	fails 2 "--board-pose: must be six numbers, not 3" sim --board-pose 1,2,3
	fails 2 "--board-pose: must be six numbers, not inf" sim --board-pose 1,2,3,0,0,inf
	fails 2 "--board-pose: the board's middle is behind the camera: z is -600 mm" sim --board-pose 0,0,0,0,0,-600
	fails 2 "--board-pose: the board turns its back to the camera" sim --board-pose 0,120,0,0,0,600
	fails 2 "--distance: --board-pose says how far away the board is" sim --board-pose 0,0,0,0,0,600 --distance 500
	fails 2 "--height: is not for --scene board" sim --height 3
	fails 2 "--field: is not for --scene board" sim --field 3
	fails 2 "--shadow: is not for --scene board" sim --shadow
	fails 2 "--albedo: is not for --scene board" sim --albedo checker
	fails 2 "--scene: a board stands still" sim --motion 1
	fails 2 "--scene: a board stands still" sim --frames 2 --turn 3
	fails 2 "--blur: must be 0 or at least 0.5 px, not 0.2" sim --blur 0.2
	fails 2 "--corners: is a file that another option writes" sim --corners no.nrrd
	[ ! -e no.nrrd ]
}
