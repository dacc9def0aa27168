load helpers

# Real captures, one pipeline each (fringepipe.7 has them as worked examples). Nothing in them is random: bounds stand a
# fifth above what is measured; what JPEG decoders may differ by does not reach that.

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
want = np.array([694.4, 708.3, 727.4, 741.3, 772.9])	# by another decoder, without the median filter
expect(np.abs(seen - want) < [0.336, 0.767, 0.205, 0.377, 0.507], seen)	# -0.28 -0.64 -0.17 0.31 0.42
expect(abs(z.size / f["z"].size - 0.607) < 0.0005, z.size / f["z"].size)	# 0.6070, the source has three digits
x, y = np.nanpercentile(f["x"], [1, 99]), np.nanpercentile(f["y"], [1, 99])
expect(np.abs(x - [-82, 112]) < [0.302, 0.169], x)	# -82.25 111.86
expect(np.abs(y - [-63, 118]) < [0.038, 0.517], y)	# -63.03 117.57'
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
for n, lost, half, most in (3, 6.1e-4, 0.716, 2.97), (4, 4.42e-4, 0.588, 2.4), (6, 3.19e-4, 0.508, 2.02):
	z = read_frame("%d.nrrd" % n)["z"]
	both = ~np.isnan(z) & ~np.isnan(best)
	d = np.abs(z - best)[both]
	seen = 1 - both.sum() / (~np.isnan(best)).sum(), *np.percentile(d, [50, 99])
	print("# %d steps: lost %.2e, beside 12 steps by %.3f mm, 99 %% by %.2f" % (n, *seen))
	expect(np.array(seen) < [lost, half, most], n, seen)' >&3
}

monotone='
def monotone(file, size, most, jumps):
	"""pairs of neighbours; the shares of them that do not rise, and that jump"""
	p = read_frame(file)["absphase"]
	d = np.diff(p, axis=1)
	d = d[~np.isnan(d)]
	falls, far = (d <= 0).mean(), (np.abs(d) > np.pi).mean()
	print("#", file, d.size, "pairs, do not rise %.2e, jump %.2e" % (falls, far))
	expect(abs(d.size / size - 1) < 0.001 and falls <= most and far <= jumps, file, d.size, falls, far)
'

@test "real: the angel, two frequencies of eight steps, both views, monotone on 99.86 % of neighbours" {
	need_data dtu_angel_2freq_rectified
	while read -r side seen; do
		angel=$data/dtu_angel_2freq_rectified/$side
		fringepipe -q phasewrap -n 8 -p 48,46.8292683 --sign -1 --min-amplitude 5 \
			"$angel"/f40_*.png "$angel"/f41_*.png , unwrap2f --unwrap 1 , median >$side.nrrd
		py "$monotone"'
monotone(sys.argv[1] + ".nrrd", *map(float, sys.argv[2].split()))' $side "$seen" >&3
	done <<-END
		left 184758 1.28e-3 5.84e-5
		right 184696 1.4e-3 6.49e-6
	END
}

@test "real: the box, three frequencies 35 36 37, no phase jumps" {
	need_data weiyang_box_3freq_35_36_37
	fringepipe -q phasewrap -n 8 -p 24.4,23.7222222,23.0810811 --sign -1 --min-amplitude 25 \
		"$data"/weiyang_box_3freq_35_36_37/f3[567]_*.png , unwrap2f >box.nrrd
	py "$monotone"'
p = read_frame("box.nrrd")["absphase"]
for axis, most in (0, 0.138), (1, 0.304):		# 0.116 rad from row to row, 0.253 along the phase
	expect(np.nanmax(np.abs(np.diff(p, axis=axis))) < most, axis, np.nanmax(np.abs(np.diff(p, axis=axis))))
monotone("box.nrrd", 54737, 2.4e-4, 0)' >&3
}

@test "real: the lens, wrapped phase of four steps" {
	need_data hagen_lens_4step
	phasewrap -q -n 4 --sign -1 --min-modulation 0.15 "$data"/hagen_lens_4step/lens_crop_{000,090,180,270}.jpg >lens.nrrd
	py '
f = read_frame("lens.nrrd"); p = f["phase"]
d = np.diff(p, axis=1); d = d[~np.isnan(d)]
wrapped = (d + np.pi) % (2 * np.pi) - np.pi
falls, period = (wrapped <= 0).mean(), 2 * np.pi / np.median(wrapped)
print("# lens: does not rise %.2e, period %.3f px" % (falls, period))
expect(falls < 4.05e-3, falls)				# 3.4e-3
expect(np.abs(p[~np.isnan(p)]) <= np.float32(np.pi))
expect(abs(period - 24.97) < 0.0192, period)		# the source, on the plane beside the lens; 24.986' >&3
	framecat --channels phase --colormap phase lens.nrrd -o lens.png
}
