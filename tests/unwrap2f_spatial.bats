# unwrap2f --coarse spatial: the coarsest phase of a ladder repeats within the field.
load helpers

# Where nothing is random, bounds stand a fifth above what is measured.

# ladder OPTION ...: wrapped phases of a face that 600 projector columns show, and their truth.
ladder() {
	fringesim -s 600x200 -p 20,24 -n 4 -c 1 --scene relief --height 3 --projector 600x200 --truth truth.nrrd "$@" |
		phasewrap -o wrapped.nrrd
}

# Python: so many pixels of a file are valid, with the order of a truth.
orders='
def orders(name, anchor, share, truth="truth.nrrd"):
	f, t = read_frames(name)[0], read_frames(truth)[0].pixels[0]
	u = f.pixels[0]
	valid = ~np.isnan(u)
	off = np.rint((u - t) / (2 * np.pi))[valid]
	expect(f.meta["phase_anchor"] == anchor, name, f.meta)
	expect(np.isnan(f.pixels[f.names.index("label")]) == np.isnan(u), name, "labels")
	expect(valid.mean() >= share and (off == 0).all(), name, valid.mean(), np.unique(off, return_counts=True))
'

@test "unwrap2f --coarse spatial: a marker makes a beat that repeats five times absolute, and the phases by it" {
	ladder --marker --marker-at 280 --noise 4 --albedo noise
	fails 1 "no phase or beat spans the field of 600 px" unwrap2f wrapped.nrrd
	mv truth.nrrd beat.nrrd
	unwrap2f --coarse spatial wrapped.nrrd -o beat_out.nrrd
	unwrap2f --coarse spatial --fuse --all wrapped.nrrd -o all.nrrd
	unwrap2f --coarse spatial -u 2 wrapped.nrrd -o second.nrrd
	# a phase of 110 px that repeats, no whole number of the fine one's: only where its turns are known
	ladder -p 20,110 --marker --marker-at 280 --noise 4
	mv truth.nrrd long.nrrd
	unwrap2f --coarse spatial -m hierarchical wrapped.nrrd -o long_out.nrrd
	# one phase alone is what unwrapq makes of it
	ladder -p 20 --marker --marker-at 280
	unwrap2f --coarse spatial wrapped.nrrd -o alone.nrrd
	unwrapq wrapped.nrrd -o one.nrrd
	py "$orders"'
orders("beat_out.nrrd", "marker", 0.99, "beat.nrrd")
orders("all.nrrd", "marker", 0.99, "beat.nrrd")
orders("long_out.nrrd", "marker", 0.99, "long.nrrd")
orders("alone.nrrd", "marker", 1)
expect(read_frames("one.nrrd")[0].pixels[0] == read_frames("alone.nrrd")[0].pixels[0], "unwrapq")
f, t = read_frames("all.nrrd")[0], read_frames("beat.nrrd")[0].pixels[0]
expect(f.names[:5] == ["absphase", "residual", "absphase1", "absphase2", "label"], f.names)
expect(np.nanmax(np.abs(f.pixels[3] - t * 20 / 24)) < 0.366, "the other phase")
expect((f.meta["components"], f.meta["period_px"]) == ("1", "20"), f.meta)
f = read_frames("second.nrrd")[0]
expect(np.nanmax(np.abs(f.pixels[0] - t * 20 / 24)) < 0.366 and f.meta["period_px"] == "24", f.meta)'
}

@test "unwrap2f --coarse spatial: components, an anchor, a reference, nothing; phase2depth refuses what is not absolute" {
	ladder
	py '
f = read_frames("wrapped.nrrd")[0]
f.pixels = f.pixels.copy()
f.pixels[0, :, 200] = np.nan
f.pixels[1, :, 400] = np.nan
f.pixels[1, 190, :100] = np.nan
write_frames("parts.nrrd", f)
t = read_frames("truth.nrrd")[0].pixels[0]
open("one", "w").write("300,100,%f" % (t[100, 300] + 15))
open("two", "w").write("300,100,%f,10,10,%f" % (t[100, 300] - 15, t[10, 10] + 15))'
	unwrap2f --coarse spatial --anchor "$(cat two)" parts.nrrd -o two.nrrd 2>messages
	grep -q "% of the valid pixels are connected to no --anchor and become invalid" messages
	unwrap2f --coarse spatial --anchor "$(cat one)" parts.nrrd -o one.nrrd 2>messages
	fails 1 "--anchor: pixel 200,5 is invalid" unwrap2f --coarse spatial --anchor 200,5,0 parts.nrrd
	framecat -c absphase truth.nrrd -o ref.nrrd
	unwrap2f --coarse spatial --ref ref.nrrd parts.nrrd -o by_ref.nrrd
	unwrap2f --coarse spatial --min-size 30000 parts.nrrd -o none.nrrd
	py "$orders"'
orders("two.nrrd", "pixel", 0.65)
expect(read_frames("two.nrrd")[0].meta["components"] == "2", "two")
orders("one.nrrd", "pixel", 0.33)
orders("by_ref.nrrd", "ref", 0.98)
f, t = read_frames("none.nrrd")[0], read_frames("truth.nrrd")[0].pixels[0]
u, label = f.pixels[0], f.pixels[2]
expect((f.meta["phase_anchor"], f.meta["components"]) == ("none", "3"), f.meta)
for k in 1, 2, 3:
	off = np.rint((u - t)[label == k] / (2 * np.pi))
	expect(off.size > 30000 and (off == off[0]).all() and off[0] % 6 == 0, k, np.unique(off))'
	fails 1 "absphase is known up to whole turns only" phase2depth --ref ideal --ref-plane 1,0,0 -c 1 none.nrrd
	calib='{ "camera_K": [[900, 0, 300], [0, 900, 100], [0, 0, 1]], "projector_K": [[1400, 0, 300], [0, 1400, 100], [0, 0, 1]],
		"R_cam_to_proj": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T_cam_to_proj_mm": [-20, 0, 0] }'
	echo "$calib" >calib.json
	fails 1 "absphase is known up to whole turns only" phase2depth --calib calib.json none.nrrd
	# whole turns of 110 px are no whole turns of 20 px
	ladder -p 20,110
	fails 1 "repeats every 110 px, which are 5.5 periods of the next: give --anchor, --ref or a marker" \
		unwrap2f --coarse spatial wrapped.nrrd
	unwrap2f --coarse spatial --anchor "$(cat one)" wrapped.nrrd -o out.nrrd
	py "$orders"'orders("out.nrrd", "pixel", 1)'
}

@test "unwrap2f --coarse spatial: noise, threads, a chain, several frames; errors" {
	ladder --marker --marker-at 280 --noise 12 --frames 2
	py 'write_frames("three.nrrd", [read_frames("wrapped.nrrd")[k] for k in (0, 1, 0)])'
	unwrap2f -j 1 --coarse spatial three.nrrd -o one.nrrd
	fringepipe -j 5 unwrap2f --coarse spatial three.nrrd | cmp - one.nrrd
	py '
three = read_frames("three.nrrd")[0]
three.pixels = np.where(np.arange(len(three.pixels))[:, None, None] < 2, np.nan, three.pixels).astype("f4")
write_frames("nan.nrrd", three)
f = read_frames("one.nrrd")
expect(f[0].pixels.tobytes() == f[2].pixels.tobytes() != f[1].pixels.tobytes(), "frames")
t = read_frames("truth.nrrd")[0].pixels[0]
off = np.rint((f[0].pixels[0] - t) / (2 * np.pi))[~np.isnan(f[0].pixels[0])]
expect((off != 0).mean() == 0, (off != 0).mean())'
	unwrap2f --coarse spatial nan.nrrd -o out.nrrd 2>messages
	py 'f = read_frames("out.nrrd")[0]; expect(np.isnan(f.pixels[:3]) & (f.meta["components"] == "0"), f.meta)'
	for with in "--anchor 1,1,0" "--ref one.nrrd" "--marker one.nrrd" "--marker-at 3" "--min-size 2"; do
		# shellcheck disable=SC2086	# words
		fails 2 "${with%% *}: is for --coarse spatial" unwrap2f $with three.nrrd
	done
	for with in "--line 3,4" --fit-line "-m gray" "-m best"; do
		# shellcheck disable=SC2086	# words
		fails 2 "--coarse: spatial unwraps a phase or a beat, which --" unwrap2f --coarse spatial $with three.nrrd
	done
	fails 2 "give --anchor or --ref, not both" unwrap2f --coarse spatial --anchor 1,1,0 --ref one.nrrd three.nrrd
	fails 1 "--ref: is a phase of fringes of 20 px, the input one of 24 px" \
		unwrap2f --coarse spatial -u 2 --ref one.nrrd three.nrrd
}
