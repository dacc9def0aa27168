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
	# 80 lines, whose points are too many to be looked for one by one among those of another sigma
	py '
x = np.arange(2000) % 25
p = np.random.default_rng(1).normal(0, 1, (2000, 2000)) + np.where(x < 6, 200, 20)
write_frames("many.nrrd", Frame(np.rint(p).astype("u1")))'
	right timeout 60 steger many.nrrd -o x.nrrd
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

@test "mistakes: a stage that stands, turns too far or along the laser's plane" {
	rig
	slices a.nrrd --thickness 1
	steger --sigma 1 a.nrrd -o lines.nrrd
	framecat --delete stage_mm lines.nrrd -o bare.nrrd
	py '
f = read_frames("bare.nrrd")
write_frames("many.nrrd", f * 4)'
	sed '/scan_dir/d' true.yml >turn.yml
	cp turn.yml across.yml
	printf 'axis_point_mm: [ 0, 0, 500 ]\naxis_direction: [ 0, 1, 0 ]\n' >>turn.yml
	printf 'axis_point_mm: [ 0, 0, 500 ]\naxis_direction: [ 0.883, 0, 0.47 ]\n' >>across.yml
	right laser2xyz --calib true.yml lines.nrrd -o x.nrrd
	right laser2xyz --calib true.yml --step -8 bare.nrrd -o x.nrrd
	right laser2xyz --calib true.yml --pose-from none bare.nrrd -o x.nrrd
	mistake "the stage stood in one place in all 6 frames" laser2xyz --calib true.yml --step 0 bare.nrrd -o x.nrrd
	framecat --set stage_mm=3 bare.nrrd -o stood.nrrd
	mistake "the stage stood in one place in all 6 frames" laser2xyz --calib true.yml stood.nrrd -o x.nrrd
	right laser2xyz --calib turn.yml --angle 15 many.nrrd -o x.nrrd
	right laser2xyz --calib turn.yml --angle -16 many.nrrd -o x.nrrd
	mistake "turned by 8280 degrees in 24 frames, 23 times around" laser2xyz --calib turn.yml --angle 360 many.nrrd -o x.nrrd
	mistake "turned by 690 degrees in 24 frames" laser2xyz --calib turn.yml --angle 30 many.nrrd -o x.nrrd
	sed 's/scan_direction.*/scan_direction: [ 0, 1, 0 ]/' true.yml >along.yml
	mistake "scan_direction: moves the object within the laser's plane" laser2xyz --calib along.yml bare.nrrd --step 8 -o x.nrrd
	mistake "axis_direction: moves the object within the laser's plane" laser2xyz --calib across.yml --angle 15 many.nrrd -o x.nrrd
}

@test "mistakes: laser2xyz with a calibration of another picture or plane" {
	rig
	slices a.nrrd --thickness 1
	steger --sigma 1 a.nrrd -o lines.nrrd
	right laser2xyz --calib true_less.yml lines.nrrd -o x.nrrd
	sed 's/550/275/g; s/159.5/79.5/; s/119.5/59.5/' true_less.yml >half.yml
	sed 's/550/1100/g; s/159.5/319.5/; s/119.5/239.5/' true_less.yml >double.yml
	sed 's/159.5/119.4/; s/119.5,/159.7,/' true_less.yml >turned.yml
	sed 's/159.5/185/; s/119.5,/100,/' true_less.yml >off.yml
	right laser2xyz --calib off.yml lines.nrrd -o x.nrrd
	for calib in half double turned; do
		mistake "is far from the middle of the picture of 320x240 px: is it the calibration of this camera" \
			laser2xyz --calib $calib.yml lines.nrrd -o x.nrrd
	done
	# the columns of a table of another program: rows first, or of twice the resolution
	py '
rows = [(u, v) for f in read_frames("lines.nrrd") for u, v in zip(f["u"][0], f["v"][0])]
for name, shown in ("ok", rows), ("swapped", [(v + 90, u + 90) for u, v in rows]), ("twice", [(2 * u, 2 * v) for u, v in rows]):
	open(name + ".csv", "w").write("u,v\n" + "".join("%g,%g\n" % r for r in shown))'
	right laser2xyz --calib true.yml ok.csv -o x.csv
	mistake "points lie beside the calibration's picture of 320x240 px" laser2xyz --calib true.yml swapped.csv -o x.csv
	mistake "points lie beside the calibration's picture of 320x240 px" laser2xyz --calib true.yml twice.csv -o x.csv
	# a plane that rays meet behind the camera
	sed 's/laser_plane.*/laser_plane: [ 1, 0, 0, -5 ]/' true.yml >other.yml
	mistake "behind the camera: is laser_plane of this camera and laser?" laser2xyz --calib other.yml lines.nrrd -o x.nrrd
}

@test "mistakes: lasercal with pictures of a stage in another order, and a plane that is known badly" {
	py '
from laser import *
camera = Camera(f=1100., size=(640, 480))
camera.save("camera.json")
D = np.array([0.998, 0.02, 0.06]) / np.linalg.norm([0.998, 0.02, 0.06])
R, t = rotation([1, 0, 0], .4) @ rotation([0, 1, 0], .2), np.array([-75, -60, 500.])
def stops(name, order, sigma=0.05):
	rng = np.random.default_rng(1)
	corners(name, camera, [(R, t + (x * 4. - 20) * D) for x in order], sigma=sigma, rng=rng)
stops("right.nrrd", range(14))
stops("noisy.nrrd", range(14), 0.2)
stops("swapped.nrrd", [0, 1, 2, 3, 4, 5, 7, 6, 8, 9, 10, 11, 12, 13])
stops("back.nrrd", range(9, -1, -1))
# lines on boards that hardly moved, with noise, and on those that did
plane = np.array([0.883, 0, 0.4695, -234.75])
rng = np.random.default_rng(3)
for name, shift in ("far", 40), ("near", 2):
	poses = [(rotation([1, 0, 0], k * shift / 100), np.array([-80, -60, 500 + k * shift - shift])) for k in range(4)]
	corners(name + "-corners.nrrd", camera, poses, shape=(11, 8, 18.), sigma=0.2, rng=rng)
	write_frames(name + ".nrrd", [table("u v", (lambda p: p + rng.normal(0, 0.2, p.shape))(
		camera.project(board_line(p, plane, (11, 8, 18.)))).T) for p in poses])'
	direction=(lasercal direction --board 11x8,15 --step 4)
	right "${direction[@]}" --calib camera.json right.nrrd -o rig.json
	right "${direction[@]}" --calib rig.json right.nrrd
	right "${direction[@]}" --calib rig.json noisy.nrrd
	mistake "mm off the line of all, at steps of 4 mm: are pictures in their order" "${direction[@]}" --calib camera.json swapped.nrrd
	mistake "scan_direction: points against the one that --calib has" "${direction[@]}" --calib rig.json back.nrrd
	right "${direction[@]}" --calib camera.json back.nrrd
	plane=(lasercal plane --board 11x8,18 --calib camera.json)
	right "${plane[@]}" --corners far-corners.nrrd far.nrrd
	mistake "the plane's tilt is known to " "${plane[@]}" --corners near-corners.nrrd near.nrrd
}

@test "mistakes: kalman with a motion that is not the scene's, and depths of 0 where there is none" {
	py '
rng = np.random.default_rng(5)
y, x = np.mgrid[0:60, 0:80]
def sequence(name, drift=0, hole=0, jump=0, time=0, low=500):
	z = low + 20 * np.sin(x / 20) * np.cos(y / 15)
	shown = [z + drift * k + (jump if k > 6 else 0) + rng.normal(0, 0.05, z.shape) for k in range(14)]
	write_frames(name + ".nrrd", [Frame(np.where(x < hole, 0, s).astype("f4"), ["depth"], {"time_s": "%g" % (time * k)} if time else {})
		for k, s in enumerate(shown)])
sequence("still")
sequence("moves", 0.1)
sequence("jumps", jump=10)
sequence("seconds", 0.02, time=0.04)
sequence("ms", 0.02, time=40)
sequence("holes", hole=60)
sequence("relative", low=0)'
	for file in still moves jumps seconds ms relative; do
		right kalman $file.nrrd -o x.nrrd
	done
	right kalman --motion 0 still.nrrd -o x.nrrd
	right kalman --motion 0 jumps.nrrd -o x.nrrd
	right kalman --motion 0.05 moves.nrrd -o x.nrrd
	right kalman --motion 0.3 moves.nrrd -o x.nrrd
	right kalman --speed 0.5 seconds.nrrd -o x.nrrd
	mistake "--motion: depth moves by 0.1" kalman --motion 0 moves.nrrd -o x.nrrd
	sets=(-s 160x120 -p 24,27 --projector 216x160 -c 1 --noise 2 --frames 20)	# noise whose values are few
	for scene in "--scene plane" "--scene sphere --height 8"; do
		fringesim -q "${sets[@]}" $scene | fringepipe -q phasewrap , unwrap2f , phase2depth --ref ideal -o few.nrrd
		right kalman --motion 0 few.nrrd -o x.nrrd
	done
	py '
write_frames("slides.nrrd", [Frame((f.pixels + 0.01 * k).astype("f4"), f.names, dict(f.meta)) for k, f in enumerate(read_frames("few.nrrd"))])'
	mistake "a frame, and not by 0: it is shown late" kalman --motion 0 slides.nrrd -o x.nrrd
	mistake "hardly anything is filtered" kalman --motion 1 still.nrrd -o x.nrrd
	mistake "--speed: 20 a frame is" kalman --speed 0.5 ms.nrrd -o x.nrrd
	mistake "75 % of depth are 0, and hardly any near it" kalman holes.nrrd -o x.nrrd
	framecat --invalid 0 holes.nrrd -o none.nrrd
	right kalman none.nrrd -o x.nrrd
	framecat --set z_axis=away holes.nrrd -o away.nrrd
	mistake "75 % of depth are 0, and hardly any near it" kalman away.nrrd -o x.nrrd
	framecat --set z_axis=towards holes.nrrd -o towards.nrrd	# 0: a plane behind
	right kalman towards.nrrd -o x.nrrd
}
