# What all shaders have in common; the stages one by one: tests/agree/NAME.bats.
load helpers

@test "agree: every stage with a shader has a test, and every test a shader" {
	for shader in "$top"/tools/*/*.comp; do
		name=$(basename "$(dirname "$shader")")
		grep -q "agrees\(_on\)\? $name " "$top/tests/agree/$name.bats" || { echo "no tests/agree/$name.bats"; return 1; }
	done
	for path in "$top"/tests/agree/*.bats; do
		compgen -G "$top/tools/$(basename "$path" .bats)/*.comp" >/dev/null || { echo "$path"; return 1; }
	done
}

# without_shader REASON NAME WORDS ...: the processor does it, and -v alone prints the reason.
without_shader() {
	local reason=$1
	shift
	fringepipe -v -d gpu "$@" -o gpu.nrrd 2>messages || { cat messages; return 1; }
	grep -q "$1 runs on the processor: $reason" messages || { echo "no note: $*"; cat messages; return 1; }
	fringepipe -d gpu "$@" -o gpu.nrrd 2>messages
	[ ! -s messages ]
	fringepipe -d cpu "$@" -o cpu.nrrd
	cmp cpu.nrrd gpu.nrrd
}

@test "agree: what has no shader is the processor's under -d gpu too, and -v says why" {
	need_gpu
	printf 'v 0 0 0\nv 1 0 0\nv 0 1 1\nf 1 2 3\n' >mesh.obj
	without_shader "a row is computed once" fringegen -s 40x30 -p 20
	without_shader "edges of triangles" mesh2depth mesh.obj -s 20x20
	mesh2depth mesh.obj -s 32x32 | holoenc -P 20 -K 0 -o picture.nrrd
	fringesim -s 64x48 -p 12 -c 20 -f -o captures/
	without_shader "lines are extended by doubles" fourierphase captures/phase_00.png
	for method in fs fs-serpentine best; do
		without_shader "a bit waits" dither3 -m $method picture.nrrd
	done
}
