#!/usr/bin/env bats
# mergexyz: clouds, poses, fits and filters against known truth.
# Where nothing is random, bounds stand a fifth above what is measured.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# table FILE CODE: a table of the points that Python's CODE makes as p, 3 x n.
table() {
	py '
rng = np.random.default_rng(1)
exec(sys.argv[2])
write_frames(sys.argv[1], Frame(p[:, None].astype("f4"), ["x", "y", "z"], {"points": str(p.shape[1])}))' "$@"
}

identity='1 0 0 0  0 1 0 0  0 0 1 0'

# pair SCENE [OPTION ...]: what two cameras 15 degrees apart see, 500 mm before the scene: left.nrrd and right.nrrd in
# their own frames with noise of 0.05 mm along the rays, right's pose in left's frame in true.txt.
pair() {
	local scene=$1 side
	shift
	py '
import json
a = np.radians(15)
R = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
T = np.array([0, 0, 500]) - R @ [0, 0, 500]
K = [[900, 0, 319.5], [0, 900, 239.5], [0, 0, 1]]
json.dump(dict(K1=K, d1=[-.1, .05, 0, 0, 0], K2=K, d2=[-.1, .05, 0, 0, 0], R=R.tolist(), T_mm=T.tolist(),
	image_size=[640, 480]), open("pair.json", "w"))
np.savetxt("true.txt", np.c_[R.T, -R.T @ T], fmt="%.12g")'
	for side in left right; do
		fringesim -s 640x480 --calib pair.json --view $side --scene "$scene" --distance 500 "$@" --truth $side-truth.nrrd -o null:
	done
	py '
true = np.loadtxt("true.txt")
rng = np.random.default_rng(5)
for side in "left", "right":
	f = read_frame(side + "-truth.nrrd")
	p = np.stack([f[c] for c in "xyz"]).astype(float)
	if side == "right":
		p = np.einsum("ji,jhw->ihw", true[:, :3], p - true[:, 3, None, None])
	p *= 1 + rng.normal(0, 0.05, p.shape[1:]) / np.linalg.norm(p, axis=0)
	write_frames(side + ".nrrd", Frame(p.astype("f4"), ["x", "y", "z"], {"length_unit": "mm", "z_axis": "away"}))'
	echo "$identity" >identity.txt
}

# start DEGREES MM: the true pose off by that, about an axis through the left camera.
start() {
	py '
degrees, mm = map(float, sys.argv[1:])
true = np.loadtxt("true.txt")
k = np.array([0.36, 0.80, 0.48])
K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
a = np.radians(degrees)
E = np.eye(3) + np.sin(a) * K + (1 - np.cos(a)) * K @ K
np.savetxt("start.txt", np.c_[E @ true[:, :3], E @ true[:, 3] + mm * np.array([0.6, 0, 0.8])], fmt="%.12g")' "$@"
}

# near: found.txt is the true pose within 0.00072 degrees, and moves the points within 0.0017 mm rms.
near() {
	py '
true, found = np.loadtxt("true.txt"), np.loadtxt("found.txt").reshape(4, 4)
D = found[:3, :3] @ true[:, :3].T
turn = np.degrees(np.linalg.norm([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]) / 2)
f = read_frame("right.nrrd")
p = np.stack([f[c].ravel() for c in "xyz"]).astype(float)
p = p[:, ~np.isnan(p[0])]
off = (found[:3, :3] - true[:, :3]) @ p + (found[:3, 3] - true[:, 3])[:, None]
rms = np.sqrt((off ** 2).sum(0).mean())
expect(turn < 0.00072 and rms < 0.0017, turn, rms)	# 0.00059 degrees, 0.0014 mm'
}

@test "mergexyz: --icp of two views 15 degrees apart, from 1 degree and 1 mm off; what it prints" {
	pair relief
	start 1 1
	mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose start.txt --icp --write-pose first.txt \
		--write-pose found.txt -o cloud.nrrd 2>printed
	near
	[ "$(wc -l <printed)" -eq 1 ]
	grep -Eq '^mergexyz: frame 1 of view 2 to frame 1 of view 1: rms 0\.0[45][0-9]*, overlap [89][0-9]\.[0-9] %, [0-9]+ steps, R and T( -?[0-9.]+){12}$' printed
	# from the true pose a fit can only get worse, and it does
	mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose true.txt --icp -o null: 2>printed
	grep -Eq ' steps \(noise explains the move: the start is as good\), R and T' printed
	py '
a, b, c = (read_frame(f) for f in ("left.nrrd", "right.nrrd", "cloud.nrrd"))
found = np.loadtxt("found.txt").reshape(4, 4)
p, q = (f.pixels.reshape(3, -1).astype(float) for f in (a, b))
truth = np.concatenate([p, found[:3, :3] @ q + found[:3, 3:]], 1)
truth = truth[:, ~np.isnan(truth[0])]
expect(c.pixels.shape == (3, 1, truth.shape[1]), c.pixels.shape)
expect(np.abs(c.pixels[:, 0] - truth) < 1.9e-5, np.abs(c.pixels[:, 0] - truth).max())
expect(c.meta["points"] == str(truth.shape[1]) and c.meta["length_unit"] == "mm", c.meta)
expect(c.meta["cmd.1"] == "mergexyz --view=right.nrrd --pose=identity.txt --pose=start.txt --icp "
	"--write-pose=first.txt --write-pose=found.txt [1]", c.meta)'
	# one thread gives the same bytes; what was written reads back
	mergexyz -q -j 1 left.nrrd --view right.nrrd --pose identity.txt --pose start.txt --icp -o one.nrrd
	framecmp cloud.nrrd one.nrrd
	mergexyz left.nrrd --view right.nrrd --pose first.txt --pose found.txt -o again.nrrd
	framecmp --max 1e-4 cloud.nrrd again.nrrd
	# from far off: the pose, or an error, and never a wrong pose (of more starts and seeds: make views)
	for off in "3 5" "25 50"; do
		# shellcheck disable=SC2086
		start $off
		rm -f found.txt
		if mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose start.txt --icp --write-pose first.txt \
			--write-pose found.txt -o far.nrrd 2>printed; then
			near
		else
			grep -Eq 'does not fit: rms [0-9.]+ over an overlap of [0-9.]+ %|common points|leaves' printed
			[ ! -e far.nrrd ]
			[ ! -e found.txt ]
		fi
		rm -f far.nrrd
	done
	# views that overlap nowhere; points without order, which the nearest points fit
	echo '-1 0 0 0  0 1 0 0  0 0 -1 0' >behind.txt
	fails 1 "--icp: frame 1 of view 2 to frame 1 of view 1: has only 0 common points, 1000 are needed" \
		mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose behind.txt --icp
	for side in left right; do framecat --points --set seen_from_mm="0 0 0" $side.nrrd -o $side.points.nrrd; done
	start 1 1
	mergexyz left.points.nrrd --view right.points.nrrd --pose identity.txt --pose start.txt --icp --write-pose first.txt \
		--write-pose found.txt -o table.nrrd
	near
	py '
f = read_frame("table.nrrd")
expect(f.names[-3:] == ["nx", "ny", "nz"], f.names)
n, p = f.pixels[-3:, 0], f.pixels[:3, 0]
expect(np.isnan(n[0]).mean() < 0.015 and np.nanmax(np.abs((n ** 2).sum(0) - 1)) < 1e-5)
half = p.shape[1] // 2	# the left camera stands at 0
expect(((n * p).sum(0)[:half] < 0)[~np.isnan(n[0, :half])].all())'
	for j in 1 5; do mergexyz -q -j $j left.points.nrrd --view right.nrrd --pose identity.txt --pose start.txt --icp -o j$j.nrrd; done
	cmp j1.nrrd j5.nrrd
	fails 1 "--max-rms" mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose true.txt --icp --max-rms 0.01
}

@test "mergexyz: poses from world to view, of other views, one file given twice: a line each" {
	for scene in steps relief; do
		pair $scene
		py '
P = np.loadtxt("true.txt"); R, T = P[:, :3], P[:, 3:]
def save(name, R, T): np.savetxt(name + ".txt", np.c_[R, T], fmt="%.12g")
save("reversed", R.T, -R.T @ T)
a = np.radians(8); save("turned", R @ [[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]], T)
save("near", R, T + [[3], [2], [1]])'
		for pose in true near; do
			silent mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose $pose.txt -o out.nrrd
		done
		# without poses: each in its camera's frame, and both in one world
		fails 0 "lie before the surface that the other camera saw there: are they in one world without one?" \
			mergexyz left.nrrd --view right.nrrd -o out.nrrd
		py '
P = np.loadtxt("true.txt"); f = read_frame("right.nrrd")
f.pixels = (np.tensordot(P[:, :3], f.pixels, 1) + P[:, 3, None, None]).astype("f4"); write_frames("world.nrrd", f)'
		silent mergexyz left.nrrd --view world.nrrd -o out.nrrd
		fails 0 "% if the poses are turned around, " mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose reversed.txt -o out.nrrd
		fails 0 "lie before the surface that the other camera saw there: are these their poses?" \
			mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose turned.txt -o out.nrrd
	done
	fails 0 "left.nrrd: has the same points as the input in each pixel: is it another view?" mergexyz left.nrrd --view left.nrrd -o out.nrrd
	# a fit that noise does not explain says so: the right view is 0.6 % too large
	py '
f = read_frame("right.nrrd"); f.pixels = f.pixels * np.float32(1.006); write_frames("large.nrrd", f)'
	mergexyz left.nrrd --view large.nrrd --pose identity.txt --pose true.txt --icp -o out.nrrd 2>printed
	grep -Eq 'rms 0.[0-9]+ \([0-9.]+ times what noise explains\), overlap' printed
}

@test "mergexyz: clouds that do not meet, as of exchanged cameras, are named; neighbours are not" {
	table good.nrrd 'p = rng.uniform(-30, 30, (3, 3000)) + [[0], [0], [600]]'
	table behind.nrrd 'p = (rng.uniform(-30, 30, (3, 3000)) + [[0], [0], [600]]) * [[1], [1], [-1]]'
	table beside.nrrd 'p = rng.uniform(-30, 30, (3, 3000)) + [[70], [0], [600]]'
	silent mergexyz good.nrrd --view beside.nrrd -o cloud.nrrd
	for grid in "" "--grid 5"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr mergexyz $grid good.nrrd beside.nrrd behind.nrrd -o cloud.nrrd
		echo "$stderr"
		[[ $stderr == "mergexyz: frame 3 of view 1 does not meet the others: its points are 11"*" from the nearest ones,"*"cameras exchanged"* ]]
	done
	run -0 --separate-stderr mergexyz good.nrrd --view behind.nrrd -o cloud.nrrd
	[[ $stderr == "mergexyz: frame 1 of view 1 does not meet the others"* ]]
}

@test "mergexyz: --icp names the motion that a flat overlap leaves free" {
	pair plane
	start 0.2 1
	fails 1 "frame 1 of view 2: the overlap leaves 3 motions free, most of all the " \
		mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose start.txt --icp -o cloud.nrrd
	[ ! -e cloud.nrrd ]
	pair sphere
	fails 1 "the overlap leaves 1 motion free, most of all the turn about the axis (" \
		mergexyz left.nrrd --view right.nrrd --pose identity.txt --pose true.txt --icp
	# a body holds all motions, but not from so far
	local cap='d = rng.normal(size=(3, 20000)); d /= np.linalg.norm(d, axis=0); x, y, z = d
p = d * 60 * (1 + 0.1 * x * y + 0.1 * y * z + 0.1 * x ** 3 + 0.03 * np.sin(5 * x) * np.cos(4 * y)) + 0.1 * rng.normal(size=d.shape)'
	table one.nrrd "$cap; p = p[:, z < -0.2] + [[0], [0], [400]]"
	table two.nrrd "$cap; p = p[:, z < 0.7 * x - 0.2] + [[8], [5], [407]]"
	fails 1 "frame 1 of view 2: it is too far off, by " \
		mergexyz -q one.nrrd --view two.nrrd --pose identity.txt --pose identity.txt --icp
}

@test "mergexyz: a body by four laser heads, all in one system; shapes that slide along themselves are refused" {
	local view=()
	for k in 1 2 3; do view+=(--view s.$k.nrrd); done
	py 'import body; body.scan("s")'
	mergexyz s.0.nrrd "${view[@]}" --icp --write-pose p0 --write-pose p1 --write-pose p2 --write-pose p3 -o body.nrrd
	py '
import body
rms, seam = body.errors("s", ["p0", "p1", "p2", "p3"])
expect(rms < 0.18 and seam < 0.12 * 0.5, rms, seam)'	# the Cramer-Rao bound is 0.10 mm; eight draws, and bodies by cameras: make views
	xyz2mesh body.nrrd -o body.stl
	for shape in torso cylinder sphere; do
		py 'import body; body.scan("s", sys.argv[1])' $shape
		fails 1 "free, most of all the" mergexyz s.0.nrrd "${view[@]}" --icp -o x.nrrd
	done
}

@test "mergexyz: a turntable of twelve views, a ring of fits, its rms that of one view's noise" {
	cat >table.yml <<-END
		camera_K: [ 700, 0, 159.5, 0, 700, 119.5, 0, 0, 1 ]
		camera_dist: [ -0.1, 0.05, 0, 0, 0 ]
		camera_size: [ 320, 240 ]
		projector_K: [ 900, 0, 400, 0, 900, 300, 0, 0, 1 ]
		projector_size: [ 800, 600 ]
		R_cam_to_proj: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
		T_cam_to_proj_mm: [ -60, 0, 0 ]
	END
	fringesim --calib table.yml --scene cylinder --radius 40 --height 4 --distance 450 --frames 12 --stage-angle 30 \
		--truth truth.nrrd -o null:
	py '
rng = np.random.default_rng(3)
out, true, poses = [], [], []
axis = np.array([0, 0, 490.])
for f in read_frames("truth.nrrd"):
	p = np.stack([f[c] for c in "xyz"]).astype(float)
	q = p * (1 + rng.normal(0, 0.05, p.shape[1:]) / np.linalg.norm(p, axis=0))
	out.append(Frame(q.astype("f4"), ["x", "y", "z"], {"stage_deg": f.meta["stage_deg"]}))
	for errors in 0, 1:
		# the stage turns 0.3 degrees wrong, and its axis is 0.5 mm off
		a = np.radians(float(f.meta["stage_deg"]) + errors * (rng.normal(0, 0.3) if poses else 0))
		at = axis + errors * np.array([0.3, 0, 0.4])
		R = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
		if errors:
			poses += [np.c_[R, at - R @ at]]
		else:
			true += [(np.einsum("ij,jhw->ihw", R, p - axis[:, None, None]) + axis[:, None, None]).reshape(3, -1)]
write_frames("views.nrrd", out)
np.savetxt("stage.txt", np.concatenate(poses), fmt="%.12g")
true = np.concatenate(true, 1)
np.save("true.npy", true[:, ~np.isnan(true[0])])'
	silent mergexyz views.nrrd --pose stage.txt -o stage.nrrd
	py '
P = np.loadtxt("stage.txt").reshape(12, 3, 4)
np.savetxt("reversed.txt", np.concatenate([np.c_[p[:, :3].T, -p[:, :3].T @ p[:, 3:]] for p in P]), fmt="%.12g")'
	fails 0 "apart: do they go from world to view?" mergexyz views.nrrd --pose reversed.txt -o reversed.nrrd
	mergexyz views.nrrd --pose stage.txt --icp --ring -o ring.nrrd 2>printed
	[ "$(wc -l <printed)" -eq 11 ]
	py '
true = np.load("true.npy")
def rms(file): return np.sqrt(((read_frame(file).pixels[:, 0] - true) ** 2).sum(0).mean())
expect(rms("stage.nrrd") > 0.5, rms("stage.nrrd"))
expect(rms("ring.nrrd") < 1.1 * 0.05, rms("ring.nrrd"))'
	# without a ring every view finds the neighbour that it overlaps
	mergexyz views.nrrd --pose stage.txt --icp -o chain.nrrd 2>printed
	grep -q "frame 6 of view 1 to frame 5 of view 1" printed
	py '
expect(np.sqrt(((read_frame("chain.nrrd").pixels[:, 0] - np.load("true.npy")) ** 2).sum(0).mean()) < 0.0649)'
	py 'write_frames("two.nrrd", read_frames("views.nrrd")[:2])'
	fails 1 "--ring: wants 3 frames or more, not 2" mergexyz --icp --ring two.nrrd
}

@test "mergexyz: views, frames and poses to one cloud; channels that all have; normals turn" {
	py '
rng = np.random.default_rng(1)
def frame(w, h, names, **meta):
	p = rng.normal(0, 100, (len(names), h, w)).astype("f4")
	p[:3, h // 2, w // 2] = np.nan
	return Frame(p, names, meta)
a, b = ["x", "y", "z", "nx", "ny", "nz", "texture"], ["texture", "x", "y", "z", "nx", "ny", "nz", "depth"]
for i, (w, h) in enumerate([(1, 1), (5, 7), (127, 1), (129, 65)]):
	write_frames("a%d.nrrd" % i, [frame(w, h, a, time_s="1", length_unit="mm") for k in range(2)])
	write_frames("b%d.nrrd" % i, [frame(7, 5, b) for k in range(2)])
R = [[0, -1, 0], [0.6, 0, -0.8], [0.8, 0, 0.6]]
T = [[1, 2, 3], [-50, 0, 7.5]]
with open("a.txt", "w") as f:
	for k in range(2):
		for i in range(3):
			print(*R[i], "|", T[k][i], file=f)
open("b.txt", "w").write("1 0 0 0 0 1 0 0 0 0 1 5 0 0 0 1 # for all frames\n")'
	for i in 0 1 2 3; do
		silent mergexyz a$i.nrrd --view b$i.nrrd --pose a.txt --pose b.txt -o out.nrrd
		py '
i = sys.argv[1]
R = np.array([[0, -1, 0], [0.6, 0, -0.8], [0.8, 0, 0.6]])
T = np.array([[1, 2, 3], [-50, 0, 7.5]])
rows = []
for k, (a, b) in enumerate(zip(read_frames("a%s.nrrd" % i), read_frames("b%s.nrrd" % i))):
	for f, R1, T1 in (a, R, T[k]), (b, np.eye(3), np.array([0, 0, 5])):
		p = np.stack([f[c].ravel() for c in "x y z nx ny nz texture".split()]).astype(float)
		p = p[:, ~np.isnan(p[0])]
		p[:3] = R1 @ p[:3] + T1[:, None]
		p[3:6] = R1 @ p[3:6]
		rows.append(p)
truth = np.concatenate(rows, 1)
out = read_frame("out.nrrd")
expect(out.names == "x y z nx ny nz texture".split(), out.names)
expect(out.meta["points"] == str(truth.shape[1]) and "time_s" not in out.meta, out.meta)
expect(out.pixels.shape[2] == truth.shape[1] and np.abs(out.pixels[:, 0] - truth).max() < 1.9e-5, out.pixels.shape)' $i
	done
	# a pipe equals a chain; a table of no points
	mergexyz --grid 50 <a3.nrrd >grid.nrrd
	fringepipe framecat a3.nrrd , mergexyz --grid 50 -o chain.nrrd
	framecmp grid.nrrd chain.nrrd
	py 'write_frames("none.nrrd", Frame(np.full((3, 4, 4), np.nan, "f4"), ["x", "y", "z"]))'
	may_be_empty mergexyz -q --grid 1 --noise 8,3 none.nrrd -o out.nrrd
	frameinfo out.nrrd | has "points:=0"
}

@test "mergexyz: --grid is the mean per cube, in the order of first use" {
	py '
rng = np.random.default_rng(2)
n = 20000
p = rng.uniform(-30, 30, (10, n)).astype("f4")
p[3:6] = rng.normal(size=(3, n))
p[6] = rng.uniform(0.1, 1, n)
p[7] = rng.integers(0, 9, n)
p[0, 7] = np.nan
write_frames("in.nrrd", Frame(p[:, None], "x y z nx ny nz sigma label u nv".split(), {"points": str(n)}))'
	for j in 1 7; do mergexyz -j $j --grid 2.5 in.nrrd -o out$j.nrrd; done
	cmp out1.nrrd out7.nrrd
	py '
p = read_frame("in.nrrd").pixels[:, 0].astype(float)
p = p[:, ~np.isnan(p[0])]
cube, first, of = np.unique(np.floor(p[:3] / 2.5), axis=1, return_index=True, return_inverse=True)
of = of.ravel()
n = np.bincount(of)
m = np.array([np.bincount(of, v) / n for v in p])
m[3:6] /= np.linalg.norm(m[3:6], axis=0)
m[6] = np.sqrt(np.bincount(of, p[6] ** 2)) / n
m[7:] = p[7:, first]
m = m[:, np.argsort(first)]
out = read_frame("out1.nrrd").pixels[:, 0]
expect(out.shape == m.shape and np.abs(out - m).max() < 1.2e-6, out.shape, m.shape)'
	# auto: of a square lattice of 2.5 mm the page states 0.89 of it
	py 'write_frames("lattice.nrrd", Frame(np.stack(np.mgrid[:1:1, :80, :90]).reshape(3, 80, 90).astype("f4") * 2.5, list("xyz")))'
	mergexyz -v --grid auto lattice.nrrd -o out.nrrd 2>printed
	auto=$(sed -n 's/.*--grid: auto is //p' printed)
	py 'expect(abs(float(sys.argv[1]) / 2.5 - 0.886) < 0.001, sys.argv[1])' "$auto"
	mergexyz --grid "$auto" lattice.nrrd -o same.nrrd
	framecmp out.nrrd same.nrrd
	table one.nrrd 'p = np.zeros((3, 500))'
	fails 1 "all 500 points are at fewer than 9 places" mergexyz --grid auto one.nrrd
	table few.nrrd 'p = np.arange(24.0).reshape(3, 8)'
	fails 1 "8 points are too few to tell how dense they are" mergexyz --grid auto few.nrrd
	fails 2 "--grid" mergexyz --grid 0 in.nrrd
	fails 2 "--grid" mergexyz --grid nan in.nrrd
	fails 1 "--grid: cubes of 1e-06 are too small for points that lie 59.99" mergexyz --grid 1e-6 in.nrrd -o small.nrrd
	[ ! -e small.nrrd ]
}

@test "mergexyz: --grid of many frames, whose points are not kept, is that of the same points in one table" {
	# beyond 2 million points; the last frame has no channel texture
	py '
rng = np.random.default_rng(4)
names = "x y z sigma texture label".split()
for k in range(4):
	p = rng.uniform(-30, 30, (6, 750, 800)).astype("f4")
	p[0] += 5 * k
	p[3:] = rng.integers(1, 9, (3, 750, 800))
	p[3, rng.random((750, 800)) < 0.3] = np.nan
	p[1, rng.random((750, 800)) < 0.1] = np.nan
	c = [0, 1, 2, 3, 5] if k == 3 else range(6)
	write_frames("%d.nrrd" % k, Frame(p[c], [names[i] for i in c], {"length_unit": "mm"}))'
	cat [0-3].nrrd >all.nrrd
	mergexyz all.nrrd -o table.nrrd
	mergexyz --grid 0.7 table.nrrd -o once.nrrd
	for j in 1 5; do mergexyz -j $j --grid 0.7 all.nrrd -o sums$j.nrrd; done
	framecmp once.nrrd sums1.nrrd
	cmp sums1.nrrd sums5.nrrd
	# two views, the same points in another order: the last one of view 1 comes before that of view 2
	cat [02].nrrd >even.nrrd
	cat [13].nrrd >odd.nrrd
	mergexyz --grid 0.7 --view odd.nrrd even.nrrd -o views.nrrd
	framecmp once.nrrd views.nrrd
	py '
f, table = read_frame("sums1.nrrd"), read_frame("table.nrrd")
expect(f.names == "x y z sigma label".split(), f.names)
p = np.stack([table[c].ravel() for c in f.names]).astype(float)
cube = np.floor(p[:3] / 0.7).astype("i8") + 1000
_, first, of = np.unique(cube[0] << 22 | cube[1] << 11 | cube[2], return_index=True, return_inverse=True)
order = np.argsort(first)
valid = ~np.isnan(p[3])
n = np.bincount(of[valid], minlength=len(first))
with np.errstate(invalid="ignore"): sigma = np.sqrt(np.bincount(of[valid], p[3, valid] ** 2, len(first))) / n
mean = [np.bincount(of, v) / np.bincount(of) for v in p[:3]] + [sigma, p[4][first]]
for c, m in zip(f.names, mean): expect(np.allclose(f[c].ravel(), m[order], rtol=1e-6, atol=1e-5, equal_nan=True), c)'
	# small frames, more than wait for each other
	py '
p = np.random.default_rng(5).uniform(0, 20, (3, 1, 12000)).astype("f4")
write_frames("one.nrrd", Frame(p, list("xyz"), {"points": "12000"}))
write_frames("small.nrrd", [Frame(p[:, :, i:i + 4].copy(), list("xyz"), {"points": "4"}) for i in range(0, 12000, 4)])'
	for name in one small; do mergexyz --grid 1 $name.nrrd -o $name.grid.nrrd; done
	framecmp one.grid.nrrd small.grid.nrrd
	fails 1 "--grid: cubes of 3e-05 are too small for points that lie 74.9999 apart along x" mergexyz --grid 3e-5 all.nrrd -o x.nrrd
	[ ! -e x.nrrd ]
}

@test "mergexyz: --grid of another unit or with a slipped decimal gets a line, others none" {
	py '
y, x = np.mgrid[:60, :80] * 1.0
write_frames("mm.nrrd", Frame(np.array([x, y, 500 + np.sin(x / 9)], "f4"), list("xyz"), {"length_unit": "mm"}))
write_frames("m.nrrd", Frame(np.array([x, y, 500 + np.sin(x / 9)], "f4") / 1000, list("xyz"), {"length_unit": "m"}))
write_frames("few.nrrd", Frame(np.array([x, y, 500 + 0 * x], "f4")[:, :12, :12], list("xyz")))
write_frames("noisy.nrrd", Frame(np.array([x, y, 500 + 0 * x, 0.2 + x / 1000], "f4"), list("xyz") + ["sigma"]))'
	for grid in 0.5 1 2.5 7.8; do silent mergexyz --grid $grid mm.nrrd -o out.ply; done
	silent mergexyz --grid 6 few.nrrd -o out.ply
	silent mergexyz --grid 0.0025 m.nrrd -o out.ply
	silent mergexyz --grid 2.5 noisy.nrrd -o out.ply
	fails 0 "--grid: cubes of 2 are small for the noise: sigma of most points is larger than 0.2" mergexyz --grid 2 noisy.nrrd -o out.ply
	fails 0 "--grid: cubes of 8 are large for a cloud 79 long: of 4800 points 80 are left" mergexyz --grid 8 mm.nrrd -o out.ply
	fails 0 "--grid: cubes of 50 are large for a cloud 79 long: of 4800 points 8 are left" mergexyz --grid 50 mm.nrrd -o out.ply
	fails 0 "--grid: cubes of 2.5 are large for a cloud 0.079 long: of 4800 points 1 are left" mergexyz --grid 2.5 m.nrrd -o out.ply
}

@test "mergexyz: poses in metres get a line, others none" {
	py '
y, x = np.mgrid[-20:20, -20:20] * 2.0
f = Frame(np.stack([x, y, 500 + x / 9]).astype("f4"), ["x", "y", "z"], {"length_unit": "mm"})
write_frames("in.nrrd", [f] * 2)
c, s = np.cos(np.radians(30)), np.sin(np.radians(30))
for name, T in ("mm", 1), ("metres", 1e-3), ("pan", 0):
	R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
	np.savetxt(name + ".txt", np.r_[np.eye(4)[:3], np.c_[R, T * np.array([-500 * s, 0, 500 - 500 * c])]], fmt="%.9g")'
	for name in mm pan; do
		mergexyz --pose $name.txt in.nrrd -o out.nrrd 2>said
		[ ! -s said ]
	done
	mergexyz --pose metres.txt in.nrrd -o out.nrrd 2>said
	grep -q -- "--pose: from frame 1 of view 1 to frame 2 of view 1 a turn of 30 degrees shifts by 0.259 only, and points lie some 50[0-9] away: is T in the unit of the points?" said
	[ "$(wc -l <said)" -eq 1 ]
}

@test "mergexyz: --noise takes at least 95 % of the gross errors and at most 1 % of the good points" {
	for percent in 0.2 1 5 13; do
		table cloud.nrrd "
n = 20000
p = rng.uniform(-50, 50, (3, n))
p[2] = 500 + 8 * np.sin(p[0] / 15) * np.cos(p[1] / 12) + rng.normal(0, 0.05, n)
bad = rng.choice(n, int(n * $percent / 100), replace=False)
p[:, bad] = rng.uniform([[-50], [-50], [440]], [[50], [50], [560]], (3, len(bad)))"
		mergexyz --noise 8,5 cloud.nrrd -o kept.nrrd
		py '
a, b = (read_frame(f).pixels[:, 0] for f in ("cloud.nrrd", "kept.nrrd"))
def off(p): return np.abs(p[2] - 500 - 8 * np.sin(p[0] / 15) * np.cos(p[1] / 12))
bad, left = (off(a) > 2).sum(), (off(b) > 2).sum()
good, kept = (off(a) < 0.5).sum(), (off(b) < 0.5).sum()
expect(left <= 0.05 * bad and kept >= 0.99 * good, sys.argv[1], bad, left, good, kept)' $percent
	done
	# exactly those of the definition, however the points lie: in lines, all in one place, at regular places
	for code in 'p = rng.normal(0, 10, (3, 3000)) ** 3' 'p = np.stack([np.linspace(0, 9, 2000), np.zeros(2000), np.zeros(2000)])' \
		'p = np.zeros((3, 500)); p[0, :3] = 7' 'p = rng.uniform(0, 1, (3, 12)); p[0, 0] = 1e9' \
		'p = np.mgrid[:40, :40, :1].reshape(3, -1) * 1.0'; do
		table in.nrrd "$code"
		for j in 1 5; do mergexyz -q -j $j --noise 5,3 in.nrrd -o out$j.nrrd; done
		cmp out1.nrrd out5.nrrd
		py '
p = read_frame("in.nrrd").pixels[:, 0].astype(float)
d = np.array([np.sort(np.sqrt(((p - q[:, None]) ** 2).sum(0)))[1:6].mean() for q in p.T]).astype("f4")
m = np.sort(d)[len(d) // 2]
s = max(1.4826 * np.sort(np.abs(d - m))[len(d) // 2], 0.1 * m)
close = np.abs(d - (m + 3 * s)) < 1e-5 * (m + s)
out = read_frame("out1.nrrd")
got = set(map(tuple, out.pixels[:, 0].T)) if out.meta["points"] != "0" else set()
for q, far, edge in zip(p.T.astype("f4"), d > m + 3 * s, close):
	expect(edge or (tuple(q) not in got) == far, q, far)'
	done
	fails 2 "--noise: must be two numbers, not 1" mergexyz --noise 8 cloud.nrrd
	fails 2 "--noise: the number of nearest points is 1 to 100, not 8.5" mergexyz --noise 8.5,3 cloud.nrrd
	fails 2 "--noise: the number of nearest points is 1 to 100, not 0" mergexyz --noise 0,3 cloud.nrrd
	table few.nrrd 'p = rng.normal(size=(3, 5))'
	mergexyz --noise 8,3 few.nrrd -o out.nrrd 2>printed
	grep -q "5 points have no 8 nearest; none is dropped" printed
}

@test "mergexyz: errors" {
	py '
def frame(names="xyz", **meta): return Frame(np.ones((len(names), 4, 4), "f4"), list(names), meta)
write_frames("a.nrrd", [frame(length_unit="mm")] * 2)
write_frames("m.nrrd", [frame(length_unit="m")] * 2)
write_frames("up.nrrd", [frame(length_unit="mm", z_axis="towards")] * 2)
write_frames("away.nrrd", [frame(length_unit="mm", z_axis="away")] * 2)
write_frames("one.nrrd", frame())
write_frames("nan.nrrd", Frame(np.full((3, 4, 4), np.nan, "f4"), list("xyz")))
write_frames("three.nrrd", [frame()] * 3)
write_frames("depth.nrrd", [Frame(np.ones((4, 4), "f4"), ["depth"])] * 2)'
	fails 1 "views differ in length_unit: mm in frame 1 of view 1, m in frame 1 of view 2" mergexyz a.nrrd --view m.nrrd
	fails 1 "views differ in z_axis" mergexyz up.nrrd --view away.nrrd
	fails 1 "one.nrrd: has only 1 frame for --view, the input has more" mergexyz a.nrrd --view one.nrrd -o out.nrrd
	fails 1 "three.nrrd: has more frames for --view than the input, which ends after 2" \
		mergexyz a.nrrd --view three.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
	fails 1 "view 1 has no channel x, but depth" mergexyz depth.nrrd
	fails 1 "view 2 has no channel x, but depth" mergexyz a.nrrd --view depth.nrrd
	fails 1 "no frame has a point: the cloud is empty" mergexyz --noise 8,5 --grid 1 nan.nrrd -o empty.ply
	printf '//x y z r g b\nnan nan nan 1 2 3\n' >nan.xyz
	fails 1 "no frame has a point: the cloud is empty" mergexyz nan.xyz -o empty.ply
	fails 1 "nothing.nrrd" mergexyz nothing.nrrd
	fails 1 "nothing.txt: cannot open" mergexyz a.nrrd --pose nothing.txt
	echo "$identity" >p.txt
	fails 2 "--pose: one file per view is needed: 1 for 2 views" mergexyz a.nrrd --view a.nrrd --pose p.txt
	for _ in 1 2 3; do echo "$identity"; done >three.txt
	fails 1 "three.txt: has 3 poses, view 1 has 2 frames" mergexyz a.nrrd --pose three.txt
	fails 1 "three.txt: has 3 poses, view 1 has more frames" mergexyz three.nrrd a.nrrd --pose three.txt
	echo '2 0 0 0  0 2 0 0  0 0 2 0' >scaled.txt
	fails 1 "scaled.txt: pose 1 is no rigid motion: it scales by 2" mergexyz a.nrrd --pose scaled.txt
	echo '1 0 0 0  0 1 0 0  0 0 -1 0' >mirror.txt
	printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n5 6 7 1\n' >turned.txt
	fails 1 "turned.txt: pose 1 is transposed: its last column is 0 0 0 1" mergexyz a.nrrd --pose turned.txt
	fails 1 "mirror.txt: pose 1 is no rigid motion: it mirrors" mergexyz a.nrrd --pose mirror.txt
	fails 2 "--ring: goes with --icp" mergexyz --ring a.nrrd
	fails 2 "--max-rms: goes with --icp" mergexyz --max-rms 1 a.nrrd
	fails 2 "--write-pose: goes with --icp" mergexyz --write-pose x.txt a.nrrd
	fails 1 "--icp: wants 2 frames or more, not 1" mergexyz --icp one.nrrd
	fails 1 "--icp: all 16 points are at fewer than 9 places" mergexyz --icp a.nrrd
	head -c -7 a.nrrd >torn.nrrd
	fails 1 "torn.nrrd" mergexyz torn.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
}

@test "mergexyz: -v says why the processor does it" {
	need_gpu
	py 'write_frames("in.nrrd", Frame(np.zeros((3, 3, 3), "f4"), ["x", "y", "z"]))'
	mergexyz -v -d gpu in.nrrd -o out.nrrd 2>said
	grep -q "runs on the processor: a cloud waits for all its points" said
}
