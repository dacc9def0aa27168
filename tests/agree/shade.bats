load ../agreement

@test "agree: shade" {
	agrees shade <<'CASES'
float depth:0..10 | | shade
float depth:0..10 texture:0..1 | z_axis:=towards | shade --jump 3 -c texture -b 200
float x:0..100 y:0..100 z:0..100 | | shade -c depth
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
