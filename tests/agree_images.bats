# Processor and device on what random frames (tests/agree/) do not show: images of few grey levels, dark
# and saturated ones, samples at the edges of floats, real captures. Every stage here is declared exact:
# the same bytes. Every second chain is run, and all with AGREE_ALL=1 (make agree-all), which takes more of each.
load helpers

setup_file() {
	export XDG_CACHE_HOME=$BATS_FILE_TMPDIR		# of compiled shaders
}

# both CHAIN: the same bytes, computed on the device to the end; and, of every other chain that is run or of all with
# AGREE_ALL=1, where the runner compares bits itself.
chains=0
both() {
	need_gpu
	chains=$((chains + 1))
	[ -n "${AGREE_ALL-}" ] || [ $((chains % 2)) -eq 1 ] || return 0
	fringepipe -q -d cpu "$@" -o cpu.nrrd || { echo "fails: $*"; return 1; }
	fringepipe -q -v -d gpu "$@" -o gpu.nrrd 2>messages || { echo "fails on the device: $*"; cat messages; return 1; }
	grep -q 'frames on ' messages || { echo "did not run on the device: $*"; cat messages; return 1; }
	cmp cpu.nrrd gpu.nrrd || { echo "differs: $*"; return 1; }
	[ -n "${AGREE_ALL-}" ] || [ $((chains % 4)) -eq 1 ] || return 0
	FRINGEPIPE_GPU_BITS=1 fringepipe -q -d gpu "$@" | cmp - gpu.nrrd || { echo "differs where bits are compared: $*"; return 1; }
}

# all QUICK ... -- MORE ...: what is to be taken.
all() {
	for word in "$@"; do
		if [ "$word" = -- ]; then
			[ -n "${AGREE_ALL-}" ] || return 0
		else
			echo "$word"
		fi
	done
}

# levels IMAGES TYPE RANGE ...: a frame of so many images for each range LOW..HIGH of grey levels.
levels() {
	py '
rng, out = np.random.default_rng(int(sys.argv[1])), []
for low, high in (a.split("..") for a in sys.argv[3:]):
	i = rng.integers(int(low), int(high) + 1, (int(sys.argv[1]), 70, 150))
	out.append(Frame(i.astype(sys.argv[2]), ["image"] * len(i)))
write_frames("levels.nrrd", out)' "$@"
}

@test "agree: images of few grey levels, dark and saturated, 3 to 12 steps, thresholds that pixels meet" {
	for n in $(all 3 4 5 8 12 -- 6 7 9 10 11); do
		levels $n u1 0..1 0..2 0..4 253..255
		both phasewrap -n $n --min-modulation 0.5 levels.nrrd , gauss
		[ -z "${AGREE_ALL-}" ] || both phasewrap -n $n --min-modulation 0.25 --min-amplitude 1 levels.nrrd , gauss -n 5
	done
	levels 6 '<u2' 0..1 0..3 4090..4095
	both phasewrap -n 3 -p 20,22 --max-value 4095 --min-amplitude 1 levels.nrrd , gauss , unwrap2f --max-residual 0.25 , median
	both phasewrap -n 3 -p 20 -G 3 --dark 1 --as vector levels.nrrd
	levels 3 u1 0..2 0..4
	both phasewrap -k 2+1 --min-modulation 0.5 levels.nrrd
}

# hostile NAMES KEY:=VALUE ...: float frames of subnormal numbers, huge ones, random bits; zeros of both
# signs, infinities, NaN of several bits, numbers next to powers of two, pi and the limits of formulas.
hostile() {
	py '
rng = np.random.default_rng(3)
edge = np.array([0, 1, 2, 0x7fffff, 0x800000, 0x800001, 0x0d800000, 0x1e3ce508, 0x33800000, 0x3effffff, 0x3f000000,
	0x3f7fffff, 0x3f800000, 0x40490fda, 0x40490fdb, 0x40490fdc, 0x40c90fdb, 0x42c80000, 0x461c4000, 0x49742400,
	0x4b800000, 0x4e6e6b28, 0x5d5e0b6b, 0x7149f2ca, 0x7e967699, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
	0x7fc12345], "u4")
shape = 40, 97
def sign(bits): return (bits | rng.integers(0, 2, shape, dtype="u4") << 31).astype("u4").view("f4")
def powers(low, high): return (rng.normal(size=shape) * 10.0 ** rng.uniform(low, high, shape)).astype("f4")
kinds = [lambda: sign(rng.choice(edge, shape)), lambda: sign(rng.choice(edge[:26], shape)),
	lambda: sign(rng.integers(0, 0x900000, shape, dtype="u4")), lambda: sign(rng.integers(0, 2**31, shape, dtype="u4")),
	lambda: powers(-30, -15), lambda: powers(10, 38), lambda: powers(-2, 2)]
names, meta = sys.argv[2].split(","), dict(a.split(":=") for a in sys.argv[3:])
write_frames(sys.argv[1], [Frame(np.stack([kind() for _ in names]).astype("<f4"), names, meta) for kind in kinds])' "$@"
}

@test "agree: samples at the edges of floats, phases" {
	hostile in.nrrd a,b,c,d,e,f
	both phasewrap -n 3 -p 20,22 --min-modulation 0.5 in.nrrd
	both phasewrap -n 6 --as vector --min-amplitude 1 --max-value 1e30 in.nrrd
	both phasewrap -n 3 -p 20 -G 3 in.nrrd
	hostile in.nrrd phase,depth period_px:=60
	both gauss -n 9 --on phase,depth in.nrrd
	hostile in.nrrd sin,cos
	both gauss -n 5 --as vector in.nrrd
	hostile in.nrrd phase1,phase2,phase3 "period_px:=48 56 64"
	both unwrap2f --max-residual 0.3 in.nrrd , median
	both unwrap2f -m best --field 500 in.nrrd , median -s box
	hostile in.nrrd phase,index period_px:=20 gray_cell:=period gray_planes:=6
	both unwrap2f in.nrrd , median -s column
}

@test "agree: samples at the edges of floats, surfaces" {
	hostile in.nrrd absphase,second,c1
	framecat --channels second --set channels=absphase in.nrrd -o ref.nrrd
	framecat --channels c1 in.nrrd -o map.nrrd
	both phase2depth --ref ref.nrrd -c 0.2,-0.003,1e-5 --min-depth -5 --max-depth 9 in.nrrd , normals --pixel 2 , shade
	both phase2depth --ref ref.nrrd --c-map map.nrrd in.nrrd
	hostile in.nrrd x,y,z,nx,ny,nz,texture
	both normals in.nrrd , shade -c texture --shininess 5
	both shade -c depth -m viridis --range 0.2,0.7 in.nrrd
	both shade --view 30,20 -c texture in.nrrd
	framecat --channels z,texture --set "channels=depth texture" in.nrrd -o depth.nrrd
	both shade --jump 3 depth.nrrd
	both holoenc --depth-range -2,2 --texture texture --stair cosine -t 40 -K 2 --layout yuv depth.nrrd
	both holoenc --stair composite -S 2 -t 30 -P 33 --depth-range 0.5,1 depth.nrrd
	# a picture with some such samples in it
	py 'y, x = np.mgrid[:40, :97]; write_frames("z.nrrd", Frame(np.stack([0.5 + 0.3 * np.sin(x / 19 + y / 9), x]).astype("f4"), ["depth", "texture"]))'
	holoenc --depth-range 0,1 -P 24 --texture texture z.nrrd -o picture.nrrd
	hostile in.nrrd r,g,b,a
	py '
picture, out = read_frame("picture.nrrd"), []
for f in read_frames("in.nrrd"):
	some = np.random.default_rng(5).random(f.pixels.shape) < 0.1
	out.append(Frame(np.where(some, f.pixels, picture.pixels.astype("f4")), picture.names,
		{k: v for k, v in picture.meta.items() if k != "holo_check"} | {"holo_texture_scale": "0.3"}))
write_frames("holo.nrrd", out)'
	for decode in $(all plain median -- nearest); do
		both holodec --decode "$decode" -e 1 holo.nrrd
	done
	both dither3 -m blue --pack rgb --texture 8 in.nrrd , undither3 --filter gauss
	both dither3 -m small --pack planar --texture 1 in.nrrd
}

@test "agree: real captures" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray
	both phasewrap -n 12 --min-modulation 0.5 "$eye"/phase_*.png , gauss
	both phasewrap -n 12 -p 60 --gray 6 --gray-cell half --phase-origin 180 --min-modulation 0.1 \
		"$eye"/phase_*.png "$eye"/gray_*.png , unwrap2f , median
	for side in $(all left -- right); do
		angel=$data/dtu_angel_2freq_rectified/$side
		both phasewrap -n 8 -p 48,46.8292683 --sign -1 --min-modulation 0.25 "$angel"/f40_*.png "$angel"/f41_*.png , \
			gauss , unwrap2f --unwrap 1 --max-residual 0.25 , median -s row
	done
	both phasewrap -n 8 -p 24.4,23.7222222,23.0810811 --sign -1 "$data"/weiyang_box_3freq_35_36_37/f3[567]_*.png , unwrap2f
	both phasewrap -n 4 --min-modulation 0.15 "$data"/hagen_lens_4step/lens_crop_{000,090,180,270}.jpg , gauss
	for side in $(all left -- right); do
		david=$data/slsdk_david_stereo/$side
		both phasewrap -n 4 -p 60 --gray 6 --gray-cell half --phase-origin 180 --min-modulation 0.35 \
			"$david"/phase_*.png "$david"/gray_*.png , gauss , unwrap2f , median -s box
	done
}

@test "agree: real depths, encoded and decoded" {
	need_data tsdf_depth_sequence
	framecat --invalid 0 "$data"/tsdf_depth_sequence/depth_0[07].png --set channels=depth --as float -o depth.nrrd
	both normals --pixel 3 depth.nrrd , shade --jump 100
	framecat --crop 240,160,160,120 depth.nrrd -o part.nrrd
	for file in $(all part.nrrd -- depth.nrrd); do
		both normals --pixel 3 $file , shade --jump 40 --view 30,20 -c depth
	done
	both holoenc --depth-range 900,3100 -P 40 depth.nrrd , holodec --decode median -e 2
	framecat --invalid 0 --set channels=depth --as float "$data/meshes/bunny_depth_512_u16.png" -o bunny.nrrd
	both normals --pixel 100 bunny.nrrd , shade --jump 3000
	holoenc -P 40 -K 0 bunny.nrrd -o picture.nrrd
	both dither3 -m blue picture.nrrd
	dither3 -m fs picture.nrrd -o bits.nrrd
	both undither3 bits.nrrd
	[ -n "${AGREE_ALL-}" ] || return 0
	both gauss --on r,g,b -n 9 "$data"/horus_laser/laser_*.png
	for file in "$data"/fringeproc_wrapped/*.png; do both gauss --on image -n 5 "$file"; done
}
