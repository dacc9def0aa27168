load mistakes.bash

# Mistakes with lines of lasers, of which a number at hand tells: widths, levels and directions of lines, stages,
# calibrations.

# rig: true.yml, and true_less.yml, without the picture's size.
rig() {
	cat >true.yml <<-'END'
		camera_K: [ 550, 0, 159.5, 0, 550, 119.5, 0, 0, 1 ]
		camera_size: [ 320, 240 ]
		laser_plane: [ 0.883, 0, 0.4695, -234.75 ]
		scan_direction: [ 0.998, 0.02, 0.06 ]
	END
	grep -v size true.yml >true_less.yml
}

# slices OUT [OPTION ...]: a sphere on a plane.
slices() {
	fringesim -q --laser --calib true.yml -s 320x240 --noise 1 --ambient 5 --scene sphere --radius 30 --frames 6 \
		--stage-start -20 --stage-step 8 "${@:2}" -o "$1"
}

@test "mistakes: steger's sigma sees a part of a line that is wide or saturated" {
	rig
	slices gauss.nrrd --thickness 1
	slices wide.nrrd --thickness 4
	slices bar.nrrd --profile bar --thickness 6
	slices cut.nrrd --thickness 4 --amplitude 1500
	for file in gauss wide bar cut; do
		right steger --sigma 8 $file.nrrd -o x.nrrd
	done
	right steger --sigma 1 gauss.nrrd -o x.nrrd
	right steger --sigma 2 wide.nrrd -o x.nrrd
	mistake "is it wider, or saturated? try --sigma" steger --sigma 0.8 wide.nrrd -o x.nrrd
	mistake "is it wider, or saturated? try --sigma 4" steger bar.nrrd -o x.nrrd
	mistake "is it wider, or saturated? try --sigma" steger cut.nrrd -o x.nrrd
	# a line beside a bright window, and a part of the view
	py '
y, x = np.mgrid[0:200, 0:300].astype(float)
p = 20 + 120 * np.exp(-(x - 90 - y / 9) ** 2 / 4.5) + 200 * (np.hypot(x - 220, y - 100) < 40)
write_frames("lamp.nrrd", [Frame(np.rint(p + np.random.default_rng(1).normal(0, 1, p.shape)).astype("u1"))])'
	right steger --roi 0,0,170,200 lamp.nrrd -o x.nrrd
	right steger lamp.nrrd -o x.nrrd
}

@test "mistakes: steger's threshold of other levels, its rows of a line along them, and pictures of something else" {
	rig
	slices a.nrrd --thickness 1
	py '
f = read_frames("a.nrrd")
write_frames("deep.nrrd", [Frame(i.pixels.astype("u2") * 257, i.names, dict(i.meta)) for i in f])
write_frames("along.nrrd", [Frame(i.pixels.transpose(0, 2, 1).copy(), i.names, dict(i.meta)) for i in f])
y, x = np.mgrid[0:240, 0:320]
spots = 40 + 25 * np.sin(x / 3) * np.sin(y / 4) + np.random.default_rng(1).normal(0, 1, x.shape)
write_frames("spots.nrrd", [Frame(np.rint(np.where(x < 100, 0, i.pixels[0] + spots)).astype("u1"), None, dict(i.meta)) for i in f])'
	right steger --threshold 2 a.nrrd -o x.nrrd
	right steger --threshold 500 deep.nrrd -o x.nrrd
	mistake "--threshold: 2 is 0.2" steger --threshold 2 deep.nrrd -o x.nrrd
	mistake "and below 6 times false points come" steger --threshold 0.08 a.nrrd -o x.nrrd
	right steger --per-row a.nrrd -o x.nrrd
	right steger --per-column along.nrrd -o x.nrrd
	mistake "it runs along the rows, each of which keeps one point; --per-column?" steger --per-row along.nrrd -o x.nrrd
	mistake "it runs along the columns, each of which keeps one point; --per-row?" steger --per-column a.nrrd -o x.nrrd
	mistake "where a laser has few long ones: noise or patterns?" steger --threshold 1 spots.nrrd -o x.nrrd
	# the laser is off in the first picture
	py '
y, x = np.mgrid[0:120, 0:160]
light = 150 * np.exp(-(x - 80) ** 2 / 8.) - 40 * np.exp(-(x - 30) ** 2 / 8.)
write_frames("later.nrrd", [Frame(np.rint(50 + k * light + np.random.default_rng(k).normal(0, 1, x.shape)).astype("u1")) for k in (0, 1)])'
	right steger later.nrrd -o x.nrrd
	mistake "is --dark right" steger --dark later.nrrd -o x.nrrd
	fringesim -q -s 160x120 -p 40 -n 3 -c 2 -o fringes.nrrd
	mistake "the images are of fringes (key role: phase)" steger fringes.nrrd -o x.nrrd
}
