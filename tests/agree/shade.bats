load ../agreement

@test "agree: shade" {
	agrees shade <<'CASES'
float depth:0..10 | | shade
float depth:0..10 texture:0..1 | z_axis:=towards | shade --jump 3 -c texture -b 200
float x:0..100 y:0..100 z:0..100 | | shade -c depth
float depth:0..10 r:0..255 g:-9..300 b:0..255 | | shade -c rgb --nan-colour 9,8,7
float x:0..1 y:0..1 z:0..1 nx:-1..1 ny:-1..1 nz:-1..1 | z_axis:=towards | shade -c depth -m viridis --range 0.2,0.7
float nx:-1..1 ny:-1..1 nz:-1..0 depth:0..1 texture:-9..300 | | shade -c texture --light 20,10 --shininess 5
CASES
}

@test "agree: shade where columns and rows lie differently far apart" {
	frames "float depth:0..1" "" | holoenc -P 60 | holodec --decode nearest --spacing 0.5,0.25 -o in.nrrd
	grep -a '^spacings: 0.5 0.25' in.nrrd
	agrees_on shade in.nrrd shade
}

# segments N WORDS ...: normals and shade on the device take so many segments, and do the same.
segments() {
	local n=$1
	shift
	fringepipe -v -d gpu normals --pixel 1 in.nrrd , "$@" >gpu.nrrd 2>messages
	[ "$(grep -c 'frames on' messages)" -eq "$n" ] || { cat messages; return 1; }
	fringepipe -d cpu normals --pixel 1 in.nrrd , "$@" -o cpu.nrrd
	framecmp --max 1 cpu.nrrd gpu.nrrd
}

@test "agree: shade without a survey goes on where the stages before it are" {
	need_gpu
	frames "float depth:0..1" "" >in.nrrd
	segments 1 shade
	segments 1 shade -c depth --range 0,1
	segments 2 shade -c depth
}

@test "agree: shade in bands of a tall image, whose other rows the device does not have" {
	need_gpu
	py 'write_frames("in.nrrd", Frame(np.random.default_rng(1).uniform(0, 9, (1, 100000, 64)).astype("f4"), ["depth"]))'
	fringepipe shade in.nrrd -o cpu.nrrd
	FRINGEPIPE_GPU_COPY=1 FRINGEPIPE_BAND=2000 fringepipe -d gpu shade in.nrrd | cmp - cpu.nrrd
}

# What hides what, ties, mixed pixels and percentiles must not depend on the order in which a device draws.
@test "agree: shade of turned views" {
	agrees shade <<'CASES'
float depth:0..10 | | shade --view 30,20
float depth:0..10 texture:0..1 | z_axis:=towards | shade --view 60,20 --jump 3 -c texture -b 200 --samples 1
float depth:0..100 nx:-1..1 ny:-1..1 nz:-1..1 | | shade --view 180,0 -c depth --bar --shininess 2.5
CASES
	py '
rng = np.random.default_rng(5)
y, x = np.mgrid[:75, :102].astype(float)
z = 9 * np.sin(x / 20) * np.cos(y / 17) + 60 * (np.hypot(x - 50, y - 40) < 20) + rng.normal(size=x.shape)
for share, value in (.01, np.nan), (.002, np.inf), (.002, -3e38), (.002, 1e9):
	z[rng.random(z.shape) < share] = value
n = rng.normal(size=(3,) + z.shape)
n[:, rng.random(z.shape) < .01] = np.nan
texture = 99 + 50 * np.sin(x / 5)
texture[rng.random(z.shape) < .01] = np.nan
write_frames("depth.nrrd", Frame(np.stack([z, *n, texture]).astype("f4"), "depth nx ny nz texture".split()))
d = 300 + np.where(np.abs(z) < 99, z, 0)
seen = np.where(rng.random(z.shape) < .01, np.nan, (x - 50) * d / 200)
write_frames("points.nrrd", Frame(np.stack([seen, (y - 40) * d / 200, d, texture]).astype("f4"), "x y z texture".split()))
# a sheet that lies on itself: equal depths and normals, other textures
f = np.abs(x - 50.5), y, 0 * x, 0 * x, 0 * x, 0 * x - 1, 50 * np.sin(x)
write_frames("folded.nrrd", Frame(np.stack(f).astype("f4"), "x y z nx ny nz texture".split()))
rgb = rng.uniform(0, 255, (3,) + z.shape)
write_frames("coloured.nrrd", Frame(np.stack([d, *rgb]).astype("f4"), "depth r g b".split()))'
	agrees_on shade depth.nrrd shade --view 60,20 --jump 30 -c texture --samples 3
	agrees_on shade points.nrrd shade --view 150,20 -c texture -s 150x90
	agrees_on shade folded.nrrd shade --view 0,0 -c texture --samples 1
	[ -n "${AGREE_ALL-}" ] || return 0	# make agree-all
	agrees_on shade depth.nrrd shade --view 30,20 --jump 200 -c depth -m deviation
	agrees_on shade points.nrrd shade --view 90,0 -c depth
	agrees_on shade coloured.nrrd shade --view 30,20 --colour rgb
	agrees shade <<'CASES'
float depth:0..10 | | shade --view 85,0 -c depth -m viridis --range 2,7 --jump 20
float depth:0..10 | | shade --view 0,0 -s 64x200 --lighting soft -c depth
CASES
	for view in 30,20 60,20 60,0 -50,60 150,20 180,0 85,0 -89,89 0,0 90,0; do
		for frame in depth points folded; do
			for samples in 1 2 4; do
				agrees_on shade $frame.nrrd shade --view $view --jump 30 -c texture --samples $samples
			done
		done
	done
}

@test "agree: shade of a turned view of frames that the picture does not fit: without normals, narrow, of one row, of no points" {
	need_gpu
	for size in 1,1 5,7 17,4 3,200 ${AGREE_ALL:+16,9 127,1}; do
		py '
w, h = (int(v) for v in sys.argv[1].split(","))
y, x = np.mgrid[:h, :w]
z = np.sin(x / 3) * 3 + np.cos(y / 2) + np.random.default_rng(w).normal(size=(h, w)) * 0.1
write_frames("in.nrrd", Frame(z[None].astype("f4"), ["depth"], {"z_axis": "towards"}))' $size
		for words in "--view 30,20 -c depth" "--view 90,0 -s 150x90"; do
			# shellcheck disable=SC2086
			shade -q -d cpu $words in.nrrd -f -o cpu.nrrd
			# shellcheck disable=SC2086
			FRINGEPIPE_GPU_CHECK=1 FRINGEPIPE_GPU_COPY=1 shade -q -d gpu $words in.nrrd | cmp - cpu.nrrd
		done
	done
	py 'write_frames("in.nrrd", Frame(np.full((1, 9, 40), np.nan, "f4"), ["depth"]))'
	for device in cpu gpu; do
		fails 1 "no pixel of the input is valid" shade --view 30,20 -c depth -d $device in.nrrd -o $device.nrrd
	done
	cmp cpu.nrrd gpu.nrrd
}

@test "agree: shade of a turned view whose squares have too many samples is the processor's, as one line tells" {
	need_gpu
	py 'write_frames("in.nrrd", Frame(np.random.default_rng(1).uniform(0, 9, (1, 3, 3)).astype("f4"), ["depth"]))'
	export FRINGEPIPE_GPU_TIMEOUT=300
	for from in ${AGREE_ALL:+"shade in.nrrd"} "normals --pixel 1 in.nrrd , shade"; do
		# shellcheck disable=SC2086
		fringepipe -v -d gpu $from --view 30,20 -s 1200x900 --samples 4 -f -o gpu.nrrd 2>messages
		grep "shade runs on the processor: squares of the surface have too many samples" messages
		# shellcheck disable=SC2086
		fringepipe -d cpu $from --view 30,20 -s 1200x900 --samples 4 -f -o cpu.nrrd
		cmp cpu.nrrd gpu.nrrd
	done
}

@test "agree: shade of a turned view takes a frame where it lies: six images go up once, and a picture comes down once" {
	need_gpu
	py '
y, x = np.mgrid[:70, :64].astype(float)
def images(k):
	z = 2 * np.exp(-((x - 32) ** 2 + (y - 35 - k) ** 2) / 200)
	return np.stack([100 + 80 * np.cos(2 * np.pi * ((x + z) / period + (i - 1) / 3)) for period in (60, 66) for i in range(3)])
write_frames("in.nrrd", [Frame(np.round(images(k)).astype("u1"), [f"image{i + 1}" for i in range(6)]) for k in (0, 4)])
write_frames("ref.nrrd", Frame((2 * np.pi * x / 60)[None].astype("f4"), ["absphase"]))'
	for words in "-c none" "-c depth" "-c depth --bar"; do
		read -ra chain <<<"phasewrap -n 3 -p 60,66 in.nrrd , unwrap2f , phase2depth --ref ref.nrrd -c 1 , shade --view 30,20"
		# shellcheck disable=SC2206
		chain+=($words)
		fringepipe -d cpu "${chain[@]}" -f -o cpu.nrrd
		FRINGEPIPE_GPU_CHECK=1 FRINGEPIPE_GPU_COPY=1 fringepipe -v -d gpu "${chain[@]}" -f -o gpu.nrrd 2>messages
		cmp cpu.nrrd gpu.nrrd
		# six images and the reference, which rows of 64 pixels; r g b of 71 rows, the last one of results
		grep "2 frames on .*: up 0.045 MB .*, shade .*, down 0.014 MB " messages
		[ "$(grep -c "frames on" messages)" -eq 1 ]
	done
	# what checks look at is seen on the processor first
	fringepipe -d cpu "${chain[@]}" --range 0,3 -f -o cpu.nrrd
	fringepipe -d gpu "${chain[@]}" --range 0,3 | cmp - cpu.nrrd
	# no valid pixel
	for device in cpu gpu; do
		fails 1 "no frame has a valid pixel" fringepipe -q -d $device phasewrap -n 3 -p 60,66 in.nrrd , unwrap2f , \
			phase2depth --ref ref.nrrd -c 1 --min-depth 900 , shade --view 30,20 -f -o $device.nrrd
	done
	cmp cpu.nrrd gpu.nrrd
}
