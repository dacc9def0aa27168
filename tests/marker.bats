# A marker from end to end: fringegen projects it, fringesim simulates it, phasewrap hands it on, unwrapq finds it.
load helpers

orders='
def orders(name, share, truth="truth.nrrd"):
	f, t = read_frames(name)[0], read_frames(truth)[0].pixels[0]
	u = f.pixels[f.names.index("absphase")]
	valid = ~np.isnan(u)
	off = np.rint((u - t) / (2 * np.pi))[valid & ~np.isnan(t)]
	expect(f.meta["phase_anchor"] == "marker", name, f.meta)
	expect(valid.mean() >= share and (off == 0).all(), name, valid.mean(), np.unique(off, return_counts=True))
'

# orders FILE SHARE ...: at least SHARE of the truth's pixels are valid in FILE, and all of them have the truth's order.
orders() {
	py "$orders"'
for name, share in zip(sys.argv[1::2], sys.argv[2::2]): orders(name, float(share))' "$@"
}

# sim OPTION ...: captures and truth of a relief.
sim() {
	fringesim -s 320x240 -p 20 -n 4 -c 1 --scene relief --height 3 --truth truth.nrrd --marker --marker-at 170 "$@"
}

@test "marker: fringegen shows a stripe of half the shortest period, and the manifest says where" {
	fringegen -s 200x100 -p 40,33 -a both -n 3 -g half --flats --marker -m p/list.vnl -o p/
	fringegen -s 200x100 -p 15 --marker --marker-at 50.2 -o at.nrrd
	fringegen -s 64x8 -p 1.5 --marker -o narrow.nrrd
	fringegen -k square -b 1 -s 64x8 -p 16 --marker -o binary.nrrd
	py '
from PIL import Image
for name, axis, n in ("stripe_x", 1, 200), ("stripe_y", 0, 100):
	v = np.array(Image.open("p/%s.png" % name))
	lit = np.flatnonzero(np.take(v, 0, 1 - axis))
	expect((np.unique(v) == [0, 255]).all() and (v == np.take(v, [0], 1 - axis)).all())
	expect(len(lit) == 16 and lit[0] == n / 2 - 8 and lit[-1] == n / 2 + 7, lit)
rows = [line.split() for line in open("p/list.vnl") if not line.startswith("##")]
head = rows[0][1:]
expect(head[-3:] == ["gray_cell", "marker_px", "marker_width_px"], head)
marked = [dict(zip(head, r)) for r in rows[1:] if r[1] == "marker"]
expect([(m["file"], m["axis"], m["marker_px"], m["marker_width_px"], m["period_px"]) for m in marked] ==
	[("stripe_x.png", "x", "99.5", "16", "-"), ("stripe_y.png", "y", "49.5", "16", "-")], marked)
expect([r[1] for r in rows[-4:]] == ["marker", "marker", "white", "black"], rows)
expect(all(r[-2:] == ["-", "-"] for r in rows[1:] if r[1] != "marker"), rows)
names = [r[0] for r in rows[1:]]
expect(names == sorted(names), names)
f = read_frames("at.nrrd")[-1]
expect(np.flatnonzero(f.pixels[0][0]) == np.arange(47, 54), f.pixels[0][0])
expect((f.meta["marker_px"], f.meta["marker_width_px"], f.meta["role"]) == ("50", "7", "marker"), f.meta)
expect(read_frames("narrow.nrrd")[-1].pixels[0].sum() == 8 * 255, "one column")
f = read_frames("binary.nrrd")[-1]
expect(f.pixels[0].sum() == 8 * 8 and f.pixels.max() == 1, f.pixels)'
	fails 2 "--marker-at: needs --marker" fringegen --marker-at 5 -o no.nrrd
	fails 2 "--marker-at: a stripe of 7 px about 1 is not within the 200 px of axis x" \
		fringegen -s 200x100 -p 15 --marker --marker-at 1 -o no.nrrd
	fails 2 "--marker: is for phases: a Gray code counts its periods" fringegen -k gray --marker -o no.nrrd
	fails 2 "--marker-at: needs --marker" fringesim --marker-at 5 -o no.nrrd
}

@test "marker: fringesim's stripe is the pattern's, and out of focus its closed form" {
	fringesim -s 200x4 -p 16 -n 3 -b float --scene plane --height 0 --projector 200x100 --marker -o sharp.nrrd
	fringesim -s 200x4 -p 16 -n 3 -b float --scene plane --height 0 --projector 200x100 --marker --defocus 3 -o soft.nrrd
	py '
from math import erf
v = read_frames("sharp.nrrd")[-1].pixels[0][0]
expect(v == np.where((np.arange(200) >= 96) & (np.arange(200) < 104), 227, 27), v)
v = read_frames("soft.nrrd")[-1].pixels[0][0]
u = np.arange(200.0)
want = [27 + 100 * (erf((x - 95.5) / 18 ** .5) - erf((x - 103.5) / 18 ** .5)) for x in u]
expect(np.abs(v - want) < 2e-5, np.abs(v - want).max())'
}

@test "marker: one frequency becomes absolute: by a manifest, in a stream, with texture, noise, blur, gamma" {
	sim -m captures/list.vnl -o captures/
	phasewrap -m captures/list.vnl -o wrapped.nrrd
	silent unwrapq wrapped.nrrd -o out.nrrd
	py "$orders"'
orders("out.nrrd", 1)
f = read_frames("wrapped.nrrd")[0]
expect(f.names == ["phase", "modulation", "texture", "marker"], f.names)
expect((f.meta["marker_px"], f.meta["marker_width_px"], f.meta["marker_axis"]) == ("170.5", "10", "x"), f.meta)
expect("role" not in f.meta and "name" not in f.meta, f.meta)'
	for with in "--albedo noise --noise 15" "--albedo checker --ambient 25 --noise 3" "--defocus 5 --noise 3" \
		"--gamma 2.2 --defocus 3 --noise 3" "-p 5.5" "--scene steps --height 5 --noise 3"; do
		# shellcheck disable=SC2086	# words
		sim $with -b 12 2>messages | fringepipe -q phasewrap , unwrapq -o out.nrrd 2>>messages || { cat messages; return 1; }
		mv out.nrrd "out $with.nrrd"
		mv truth.nrrd "truth $with.nrrd"
	done
	fringesim -s 320x240 -p 20 -k 2+1 -c 1 --height 3 --truth truth2.nrrd --marker --marker-at 170 | phasewrap |
		silent unwrapq -o out2.nrrd
	# both axes, two periods, a Gray code behind: each phase has its own marker
	sim -a both -p 20,24 -g half --marker-at 120 --projector 320x240 --scene plane --height 1 | phasewrap -q -o both.nrrd
	for k in 1 2 3 4; do
		unwrapq --channel phase$k both.nrrd -o out$k.both.nrrd
	done
	py "$orders"'
import glob
names = glob.glob("out *.nrrd")
expect(len(names) == 6, names)
for name in names: orders(name, 0.98, "truth" + name[3:])
orders("out2.nrrd", 1, "truth2.nrrd")
f = read_frames("both.nrrd")[0]
expect(f.names[4:] == ["modulation", "texture", "marker1", "marker2", "index1", "index2"], f.names)
expect((f.meta["marker_px"], f.meta["marker_axis"]) == ("120.5 120.5", "x y"), f.meta)
orders("out1.both.nrrd", 0.97)
y, x = np.mgrid[0:240, 0:320]
for k in "234":
	f = read_frames("out%s.both.nrrd" % k)[0]
	at = (x + 20 / 2 / np.pi, y + 20 / 2 / np.pi)[k in "34"] * 2 * np.pi / (20 if k in "13" else 24)
	off = f.pixels[0] - at
	expect(np.isfinite(off).mean() > 0.97 and np.nanmax(np.abs(off)) < 1, k, off)'
}

@test "marker: hidden, shown twice, another image, too bright: never a wrong phase without a word" {
	sim -o caps.nrrd
	py '
y, x = np.mgrid[0:240, 0:320]
f = read_frames("caps.nrrd")
level = f[4].pixels[0].astype(float)
def save(name, v):
	write_frames(name + ".nrrd", f[:4] + [Frame(np.clip(v, 0, 255).astype("u1"), meta=f[4].meta)])
save("hidden", np.where(level > 60, 27, level))
save("twice", np.maximum(level, np.roll(level, 41, 1)))
save("fringe", f[2].pixels[0])
save("white", level * 0 + 227)
save("glare", level + 300 * np.exp(-((x - 60) ** 2 + (y - 90) ** 2) / 800))
save("lamp", level + 40)'
	for case in "hidden: the marker is found nowhere" "twice: at two places of a connected surface, about pixels" \
		"fringe: at two places of a connected surface" "white: image is bright beside the stripe: 1 component becomes"; do
		if phasewrap "${case%%:*}.nrrd" | unwrapq -o "none.${case%%:*}.nrrd" 2>messages; then false; fi
		cat messages
		grep -q "${case#*: }" messages
		grep -q "no pixel is valid: the marker is found nowhere" messages
	done
	for case in glare lamp; do
		phasewrap $case.nrrd | silent unwrapq -o $case.out.nrrd
	done
	py "$orders"'
for name in "hidden", "twice", "fringe", "white":
	f = read_frames("none." + name + ".nrrd")[0]
	expect(np.isnan(f.pixels[:2]) & (f.meta["components"] == "0"), name, f.meta)
for name in "glare", "lamp": orders(name + ".out.nrrd", 1)'
}

@test "marker: components that it does not cross become invalid, with a warning" {
	sim | phasewrap -o wrapped.nrrd
	py '
f = read_frames("wrapped.nrrd")[0]
f.pixels = f.pixels.copy()
f.pixels[0, :, 60] = f.pixels[0, 100] = np.nan
f.pixels[0, :, 250] = np.nan
write_frames("parts.nrrd", f)'
	unwrapq parts.nrrd -o out.nrrd 2>messages
	cat messages
	grep -q "40.6 % of the valid pixels are connected to no marker and become invalid" messages
	py "$orders"'
orders("out.nrrd", 0.58)
f = read_frames("out.nrrd")[0]
expect(f.meta["components"] == "2" and np.isnan(f.pixels[0, :, :61]) & True, f.meta)'
}

@test "marker: an image of its own by --marker, its place by --marker-at; --anchor and --ref win over the channel" {
	sim -o captures/
	fringesim -s 320x240 -p 20 -n 4 -c 1 --scene relief --height 3 | phasewrap -o plain.nrrd
	unwrapq --marker captures/stripe.png plain.nrrd -o out.nrrd
	py '
from PIL import Image
Image.fromarray(np.array(Image.open("captures/stripe.png"))).save("bare.png")
f = read_frames("plain.nrrd")[0]
del f.meta["period_px"]
write_frames("noperiod.nrrd", f)'
	fails 1 "nothing says where the marker is (key marker_px" unwrapq --marker bare.png plain.nrrd -o no.nrrd
	for at in 170.5 170 170.5,10; do
		unwrapq --marker bare.png --marker-at $at plain.nrrd -o out$at.nrrd
	done
	orders out.nrrd 1 out170.5.nrrd 1 out170.nrrd 1 out170.5,10.nrrd 1
	# a wrong place is not one of the stripe's
	if unwrapq --marker bare.png --marker-at 178 plain.nrrd -o no.nrrd 2>messages; then false; fi
	cat messages
	grep -q "no pixel is valid" messages
	rm no.nrrd
	fails 1 "the input has no image of a marker: give --marker" unwrapq --marker-at 3 plain.nrrd -o no.nrrd
	fails 2 "--marker-at: must be one or two numbers, not 3" unwrapq --marker-at 3,4,5 plain.nrrd
	fails 2 "--marker-at: a width of 0 px is none" unwrapq --marker-at 3,0 plain.nrrd
	fails 2 "give --marker or --anchor, not both" unwrapq --marker bare.png --anchor 1,1,0 plain.nrrd
	fails 2 "give --marker or --ref, not both" unwrapq --marker bare.png --ref plain.nrrd plain.nrrd
	fails 1 "a marker 16 px wide does not tell fringes of 20 px apart" \
		unwrapq --marker bare.png --marker-at 170,16 plain.nrrd -o no.nrrd
	framecat -c phase plain.nrrd -o bare.nrrd
	fails 1 "texture" unwrapq --marker captures/stripe.png bare.nrrd -o no.nrrd
	fails 1 "a marker needs to know the fringes' period" unwrapq --marker captures/stripe.png noperiod.nrrd -o no.nrrd
	fringesim -s 320x100 -p 20 -n 4 --marker -o small/
	fails 1 "stripe.png: is 320 x 100, the input is 320 x 240" unwrapq --marker small/stripe.png plain.nrrd -o no.nrrd
	sim | phasewrap -o wrapped.nrrd
	unwrapq --anchor 10,10,0 wrapped.nrrd -o anchored.nrrd
	unwrapq --ref anchored.nrrd wrapped.nrrd -o ref.nrrd
	# a marked phase is absolute to phase2depth and to a reference
	unwrapq wrapped.nrrd -o marked.nrrd
	unwrapq --ref marked.nrrd wrapped.nrrd -o ref2.nrrd
	py '
for name, word in ("anchored", "pixel"), ("ref", "ref"), ("ref2", "ref"):
	expect(read_frames(name + ".nrrd")[0].meta["phase_anchor"] == word, name)'
	silent phase2depth --ref ideal marked.nrrd -o depth.nrrd
}

@test "marker: threads and a pipe give the same bytes; processor and device agree" {
	sim -a both --projector 320x240 --marker-at 100 --noise 5 -o caps.nrrd
	phasewrap caps.nrrd -o wrapped.nrrd
	unwrapq --channel phase1 -j 1 wrapped.nrrd -o one.nrrd
	fringepipe -j 5 unwrapq --channel phase1 wrapped.nrrd | cmp - one.nrrd
	need_gpu
	fringepipe -q -d gpu phasewrap --fit-residual caps.nrrd -o gpu.nrrd
	fringepipe -q -d cpu phasewrap --fit-residual caps.nrrd -o cpu.nrrd
	cmp gpu.nrrd cpu.nrrd
}
