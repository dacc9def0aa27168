load helpers

# Real captures, one pipeline each (fringepipe.7 has them as worked examples).

eye() {
	local n=$1
	shift
	fringepipe -q phasewrap -n "$n" -p 60 --gray 6 --gray-cell half --phase-origin 180 \
		--min-amplitude 8 --min-modulation 0.1 "$@" "$eye"/gray_*.png , unwrap2f , median , \
		phase2depth --calib "$eye/caliInfo_original_full_frame.yml" --origin 350,300
}

@test "real: the eye, 12 steps and complementary Gray code, to points in mm" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray
	eye 12 "$eye"/phase_*.png >eye.nrrd
	py '
f = read_frame("eye.nrrd")
z = f["z"][~np.isnan(f["z"])]
seen = np.percentile(z, [1, 25, 50, 75, 99])
want = np.array([694.4, 708.3, 727.4, 741.3, 772.9])
expect(np.abs(seen - want) < 1, seen)
expect(abs(z.size / f["z"].size - 0.607) < 0.01, z.size / f["z"].size)
x, y = np.nanpercentile(f["x"], [1, 99]), np.nanpercentile(f["y"], [1, 99])
expect(np.abs(x - [-82, 112]) < 2, x)
expect(np.abs(y - [-63, 118]) < 2, y)'
	framecat eye.nrrd -o eye.ply
	fringepipe normals eye.nrrd , shade --view 20,10 --colour depth -o eye.png
	[ -s eye.ply ]
	[ -s eye.png ]
}

@test "real: the eye decodes with 3, 4, 6 and 12 of its steps" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray
	eye 12 "$eye"/phase_*.png >12.nrrd
	eye 6 "$eye"/phase_{00,02,04,06,08,10}.png >6.nrrd
	eye 4 "$eye"/phase_{00,03,06,09}.png >4.nrrd
	eye 3 --shift 0,120,240 "$eye"/phase_{00,04,08}.png >3.nrrd
	py '
best = read_frame("12.nrrd")["z"]
for n in 3, 4, 6:
	z = read_frame("%d.nrrd" % n)["z"]
	both = ~np.isnan(z) & ~np.isnan(best)
	expect(both.sum() > 0.97 * (~np.isnan(best)).sum(), n, both.sum())
	d = np.abs(z - best)[both]
	expect(np.median(d) < 1 and np.percentile(d, 99) < 5, n, np.percentile(d, [50, 90, 99, 100]))'
}

monotone='
def monotone(file, least, names=("modulation",)):
	p = read_frame(file)["absphase"]
	d = np.diff(p, axis=1)
	d = d[~np.isnan(d)]
	expect(d.size > 50000, file, d.size)
	share = (d > 0).mean()
	print(file, "monotone", share, "jumps", (np.abs(d) > np.pi).mean())
	expect(share >= least, file, share)
	return d
'

@test "real: the angel, two frequencies of eight steps, both views, monotone on 99.8 % of neighbours" {
	need_data dtu_angel_2freq_rectified
	for side in left right; do
		angel=$data/dtu_angel_2freq_rectified/$side
		fringepipe -q phasewrap -n 8 -p 48,46.8292683 --sign -1 --min-amplitude 5 \
			"$angel"/f40_*.png "$angel"/f41_*.png , unwrap2f --unwrap 1 , median >$side.nrrd
		py "$monotone"'
monotone(sys.argv[1] + ".nrrd", 0.998)' $side
	done
}

@test "real: the box, three frequencies 35 36 37, no phase jumps" {
	need_data weiyang_box_3freq_35_36_37
	fringepipe -q phasewrap -n 8 -p 24.4,23.7222222,23.0810811 --sign -1 --min-amplitude 25 \
		"$data"/weiyang_box_3freq_35_36_37/f3[567]_*.png , unwrap2f >box.nrrd
	py "$monotone"'
p = read_frame("box.nrrd")["absphase"]
for axis in 0, 1:
	d = np.diff(p, axis=axis); d = d[~np.isnan(d)]
	expect(not (np.abs(d) > np.pi).any(), axis, (np.abs(d) > np.pi).sum())
monotone("box.nrrd", 0.999)'
}

@test "real: the lens, wrapped phase of four steps" {
	need_data hagen_lens_4step
	phasewrap -q -n 4 --sign -1 --min-modulation 0.15 "$data"/hagen_lens_4step/lens_crop_{000,090,180,270}.jpg >lens.nrrd
	py '
f = read_frame("lens.nrrd"); p = f["phase"]
d = np.diff(p, axis=1); d = d[~np.isnan(d)]
wrapped = (d + np.pi) % (2 * np.pi) - np.pi
expect((wrapped > 0).mean() > 0.99, (wrapped > 0).mean())
period = 2 * np.pi / np.median(wrapped)
print("period", period)
expect(np.abs(p[~np.isnan(p)]) <= np.pi + 1e-6)
expect(20 < period < 30, period)'
	framecat --channels phase --colormap phase lens.nrrd -o lens.png
}
