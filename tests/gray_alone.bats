# A Gray code without fringes: points, sub-pixel edges, lit pixels; the phase that a code belongs to.
load helpers

# compare(FRAME, TRUTH, PERIOD of the truth): the valid share, rms of absphase less the truth in px, rms over sigma, the largest
# error. Beyond the last edges of a row nothing tells how the surface goes on, and sigma grows by design: in the ratio those
# pixels do not count, which are few.
code='
def compare(path, truth, period):
	a, t = read_frame(path), read_frame(truth)
	own = float(a.meta["period_px"])
	px = lambda v, p: v / (2 * np.pi) * p
	d = px(a["absphase"], own) - px(t["absphase"], period)
	s = px(a["sigma"], own)
	ok = ~np.isnan(d)
	near = ok & (s < max(5 * np.median(s[ok]), 1e-9))
	rms, sigma = np.sqrt((d[near]**2).mean()), np.sqrt((s[near]**2).mean())
	expect(near.sum() > 0.9 * ok.sum(), near.sum(), ok.sum())
	print(f"{path}: {ok.mean():.3f} valid, rms {rms:.4f} px, bias {d[ok].mean():.4f}, sigma {sigma:.4f}, ratio {rms / sigma:.3f}, largest {abs(d[ok]).max():.3f}")
	return ok.mean(), rms, rms / sigma, abs(d[ok]).max()
'

# The independent reading of the code, by NumPy: Gray planes of columns to binary.
@test "gray alone: points from a code of columns within half a column, and closer by its edges" {
	fringesim -q -s 160x120 -n 3 -p 40 --gray column --inverse --projector 1280x800 --calib "$top/samples/block.yml" \
		--scene steps --noise 1 --truth truth.nrrd -o all.nrrd
	framecat --frames 3- --delete '*' all.nrrd -o code/
	for way in "" --edges; do
		fringepipe -q phasewrap -k gray -G 11 -i --gray-cell column $way code , unwrap2f , \
			phase2depth --calib "$top/samples/block.yml" -o "z$way.nrrd"
		fringepipe -q phasewrap -k gray -G 11 -i --gray-cell column $way code , unwrap2f -o "a$way.nrrd"
	done
	py "$code"'
t = read_frame("truth.nrrd")
u = t["absphase"] / (2 * np.pi) * 40
# a column is 2.05 mm of depth at most: half of it, and the rounding of float
for way, rms, largest in ("", 0.60, 1.04), ("--edges", 0.30, 1.06):
	z = read_frame("z%s.nrrd" % way)
	d = z["z"] - t["z"]
	near = (abs(d) < 0.9).mean()
	print(way, "z: rms", d.std(), "mm, largest", abs(d).max(), "within 0.9 mm", near)
	expect([d.std() < rms, abs(d).max() < largest, near > (0.95 if way else 0.85), not np.isnan(d).any()])
	ok, rms_px, ratio, most = compare("a%s.nrrd" % way, "truth.nrrd", 40)
	expect([ok == 1, 0.9 < ratio < 1.15, bool(way) or most <= 0.5005], ratio, most)
a = read_frame("a.nrrd")
expect([a.names == ["absphase", "sigma"], a.meta["period_px"] == "1", "gray_cell" not in a.meta], a.names, a.meta)
right = (abs(a["absphase"] / (2 * np.pi) - np.floor(u + 0.5)) < 1e-3).mean()	# but where the truth is a border, as float
expect(right > 0.999, "the middle of the true column:", right)
expect(abs(a["sigma"] - 2 * np.pi / np.sqrt(12)) < 1e-6)'
}

@test "gray alone: cells of periods and halves, along x and y: the middle, and edges with a sigma that holds" {
	for case in "period x 8 1" "period y 8 2" "half x 16 1"; do
		read -r cell axis period noise <<<"$case"
		fringesim -q -s 320x240 --projector 640x480 -n 3 -p "$period" -a "$axis" --gray "$cell" --inverse --scene tilt \
			--defocus 1 --noise "$noise" --truth t.nrrd -o c.nrrd
		phasewrap -k gray c.nrrd | unwrap2f -p "$period" -o "$cell$axis.nrrd"
		phasewrap -k gray --edges c.nrrd | unwrap2f -p "$period" -o "edges$cell$axis.nrrd"
		py "$code"'
cell, axis, period = sys.argv[1], sys.argv[2], float(sys.argv[3])
ok, rms, ratio, most = compare(cell + axis + ".nrrd", "t.nrrd", period)
expect([ok == 1, 0.9 < ratio < 1.15, most < 4.3], ok, ratio, most)
ok, rms, ratio, most = compare("edges" + cell + axis + ".nrrd", "t.nrrd", period)
expect([ok == 1, rms < 0.02, 0.9 < ratio < 1.15], ok, rms, ratio)
expect(read_frame(cell + axis + ".nrrd").meta["period_px"] == "8")' "$cell" "$axis" "$period"
	done
	# a curved face: what the cubic leaves is in sigma
	fringesim -q -s 320x240 -n 3 -p 5 --gray period --inverse --defocus 1 --noise 2 --truth t.nrrd -o c.nrrd
	phasewrap -k gray --edges c.nrrd | unwrap2f -p 5 -o face.nrrd
	py "$code"'
ok, rms, ratio, most = compare("face.nrrd", "t.nrrd", 5)
expect([ok == 1, rms < 0.03, 0.9 < ratio < 1.15], ok, rms, ratio)'
	# one projector pixel before a fringe, by hand: 36 degrees of 20 px are 2 px
	py 'write_frames("v.nrrd", Frame(np.array([[[0, 1, 5, np.nan]]], "f4"), ["index"], {"gray_cell": "period", "axis": "y"}))'
	unwrap2f -p 20 --gray-offset 36 v.nrrd -o v2.nrrd
	py '
f = read_frame("v2.nrrd")
expect(abs(f["absphase"][0][:3] * 20 / (2 * np.pi) - [8, 28, 108]) < 1e-4, f["absphase"])
expect([np.isnan(f["absphase"][0, 3]), np.isnan(f["sigma"][0, 3]), f.meta["axis"] == "y"], f.meta)'
}

@test "gray alone: an edge is where the planes say, by NumPy; a step of the surface has none" {
	py '
# one row, cells 5 5 6 6 | 9 9: plane values 127 +- d; the crossing from 5 to 6 (111 to 101: bit 1) at a quarter
v = np.array([5, 5, 6, 6, 9, 9])
g = v ^ (v >> 1)
d = np.array([[100.0 if k >> b & 1 else -100.0 for k in g] for b in (3, 2, 1, 0)])
A, where = 100.0, 0.25
# on the sine of a line: asin(a/A)/(asin(a/A) - asin(b/A)) = 1/4
d[2, 1], d[2, 2] = A * np.sin(0.2), -A * np.sin(0.6)
frames = [Frame((128 + s * d[i] / 2).astype("f4")[None]) for s in (1, -1) for i in range(4)]
write_frames("planes.nrrd", frames)'
	phasewrap -k gray -G 4 -i --gray-cell column --edges planes.nrrd -o e.nrrd
	py '
f = read_frame("e.nrrd")
print(f.names, f["index"], f["edge"], f["edge_sigma"])
expect(f.names == ["index", "edge", "edge_sigma"])
expect(f["index"][0] == [5, 5, 6, 6, 9, 9] if (f["index"][0, 1:3] == [5, 6]).all() else False, f["index"])
expect(abs(f["edge"][0, 1] - 0.25) < 1e-6)
expect(np.isnan(np.delete(f["edge"][0], 1)))
expect([0 < f["edge_sigma"][0, 1] < 0.05])'
}

@test "gray alone: planes and inverses tell which pixels are lit, with no option" {
	fringesim -q -s 160x120 -n 3 -p 8 --gray period --inverse --projector 120x120 --noise 1 --truth t.nrrd -o c.nrrd
	for limit in "" --edges "--min-amplitude 20"; do
		# shellcheck disable=SC2086
		phasewrap -k gray $limit c.nrrd -o "lit$limit.nrrd"
	done
	unwrap2f -p 8 lit.nrrd -o points.nrrd
	py '
mask = read_frame("t.nrrd")["mask"] > 0
expect(0.2 < mask.mean() < 0.9, mask.mean())
for name, channel, share in ("lit", "index", 0.995), ("lit--edges", "index", 0.995), ("lit--min-amplitude 20", "index", 1), ("points", "absphase", 0.995):
	kept = ~np.isnan(read_frame(name + ".nrrd")[channel])
	print(name, "lit", mask.mean(), "kept", kept.mean())
	expect((kept == mask).mean() >= share)'
	fails 1 "--edges: is for a Gray code with inverses, without fringes" phasewrap --edges c.nrrd
}

@test "gray alone: without inverses an index beyond the projector is no point" {
	for cell in period half column; do
		py 'write_frames("v.nrrd", Frame(np.array([[[0, 1, 14, 15, 29, 30, 127, 119, 120]]], "f4"), ["index"], {"gray_cell": sys.argv[1], "axis": "x",
	"projector_px": "120 80"}))' $cell
		period=(-p 8)
		[ $cell != column ] || period=()
		unwrap2f "${period[@]}" v.nrrd -o a.nrrd
		py 'v, last = read_frame("v.nrrd")["index"], {"period": 15, "half": 30, "column": 120}[sys.argv[1]]
f = read_frame("a.nrrd")
expect(np.isnan(f["absphase"]) == (v >= last), f["absphase"])
expect(np.isnan(f["sigma"]) == (v >= last), f["sigma"])' $cell
	done
	# -a y has 80 px; a field that is given counts
	unwrap2f -a y v.nrrd -o y.nrrd
	unwrap2f --field 20 v.nrrd -o field.nrrd
	py 'v = read_frame("v.nrrd")["index"]
expect(np.isnan(read_frame("y.nrrd")["absphase"]) == (v >= 80))
expect(np.isnan(read_frame("field.nrrd")["absphase"]) == (v >= 20))'
}

@test "gray alone: period and cell that the images tell are used, and one line names options that differ" {
	fringesim -q -s 320x240 -p 40 -n 3 -g half --inverse --projector 320x240 --truth t.nrrd -o h.nrrd
	phasewrap -k gray h.nrrd -o code.nrrd
	unwrap2f code.nrrd -o known.nrrd 2>line
	unwrap2f -p 40 code.nrrd -o given.nrrd 2>>line
	[ ! -s line ]
	framecmp known.nrrd given.nrrd
	py "$code"'
ok, rms, ratio, most = compare("known.nrrd", "t.nrrd", 40)
expect([ok > 0.99, most < 10.01], ok, most)		# half of a cell of 20 px'
	unwrap2f -p 44 code.nrrd 2>line >/dev/null
	[ "$(cat line)" = "unwrap2f: --period: 44 px, but the input's key gray_period_px is 40" ]
	unwrap2f -p 40 --gray-cell period code.nrrd 2>line >/dev/null
	[ "$(cat line)" = "unwrap2f: --gray-cell: period, but the input's key gray_cell is half" ]
	fails 1 "are, one number" unwrap2f -p 40,44 code.nrrd
}

@test "gray alone: what is for phases is refused" {
	py 'write_frames("v.nrrd", Frame(np.zeros((1, 2, 3), "f4"), ["index"], {"gray_cell": "period"}))
write_frames("c.nrrd", Frame(np.zeros((1, 2, 3), "f4"), ["index"], {"gray_cell": "column"}))'
	fails 1 "a Gray code of periods and no phase: --period" unwrap2f v.nrrd
	fails 1 "--fuse: is for phases" unwrap2f -p 8 --fuse v.nrrd
	fails 1 "--method: is for phases" unwrap2f -p 8 -m best v.nrrd
	fails 1 "--unwrap: the input has a Gray code and no phase" unwrap2f -p 8 -u 1 v.nrrd
	fails 1 "--period: the cells of a code of columns are 1 px wide" unwrap2f -p 8 c.nrrd
}

@test "unwrap2f --gray-of: a code of 100 px orders phases of 66.7 and 100 px by the second one" {
	fringesim -q -s 320x240 -n 4 -p 100,66.7 --gray period --noise 1 --projector 1920x1080 --truth t.nrrd -o c.nrrd
	phasewrap -p 66.7,100 c.nrrd -o known.nrrd
	framecat --delete gray_period_px known.nrrd -o lost.nrrd
	silent unwrap2f known.nrrd -o a.nrrd
	silent unwrap2f --gray-of 2 lost.nrrd -o b.nrrd
	unwrap2f -q lost.nrrd -o wrong.nrrd
	silent unwrap2f --gray-of 2 -u 2 lost.nrrd -o second.nrrd
	py '
t = read_frame("t.nrrd")["absphase"] * 100
for name, period, good in ("a", 66.7, True), ("b", 66.7, True), ("second", 100, True), ("wrong", 66.7, False):
	wrong = (abs(read_frame(name + ".nrrd")["absphase"] * period - t) / (2 * np.pi) > 10).mean()
	print(name, "wrong orders:", wrong)
	expect(wrong < 1e-3 if good else wrong > 0.5, wrong)'
	fails 1 "--gray-of 3: there is no such phase along x" unwrap2f --gray-of 3 lost.nrrd
}

@test "unwrap2f: the phase that a Gray code changes with is named, whatever its period, cell, axis or origin" {
	# periods, axis, cell, scene: the code belongs to phase 1 of the captures
	declare -A turn=([period]="a turn" [half]="half a turn")
	while read -r periods axis cell scene; do
		fringesim -q -s 320x240 -n 4 -p "$periods" -a "$axis" --gray "$cell" --scene "$scene" --noise 1 \
			--projector 1920x1080 --truth t.nrrd -o c.nrrd
		for origin in 0 30; do
			phasewrap -p "$periods" --phase-origin $origin c.nrrd | framecat --delete gray_period_px -o lost.nrrd
			run --separate-stderr unwrap2f lost.nrrd -o right.nrrd
			# 30 degrees are a fault of their own
			[[ $stderr != *"index:"* ]]
			if [ "$origin" != 30 ]; then [ -z "$stderr" ]; fi
			fails 0 "index: the Gray code changes once ${turn[$cell]} of phase1, not of phase2: give --gray-of 1" \
				unwrap2f --gray-of 2 lost.nrrd -o a.nrrd
			silent unwrap2f -q --gray-of 1 -u 1 lost.nrrd -o cured.nrrd
			[ $origin = 30 ] || py '
p = float(sys.argv[1])
wrong = (abs(read_frame("cured.nrrd")["absphase"] - read_frame("t.nrrd")["absphase"]) > 1).mean()
expect(wrong < 0.01, wrong)' "${periods%,*}"
		done
	done <<-END
		100,20 x period steps
		20,100 x half plane
		66.7,100 x period plane
		64,60 x half steps
		100,20 y period steps
		20,100 y half steps
		100,66.7 y half plane
	END
}
