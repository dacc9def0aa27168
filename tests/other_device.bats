# Devices that compute as this one does not, by shaders that are rewritten (other_device.py).
load helpers

# A build of the file's own, whose shaders may be rewritten.
setup_file() {
	build=$BATS_FILE_TMPDIR/build
	export build
	mkdir "$build"
	for part in "$top"/build/*; do
		case $part in
		*/bin* | */tests) ;;
		*) cp -a "$part" "$build" ;;
		esac
	done
	cp -a "$build/shaders" "$build/as_made"
}

# rebuild WAYS NAME ...: these shaders rewritten, the others as they are; other is their fringepipe.
rebuild() {
	local name ways=$1
	shift
	unset MAKEFLAGS MFLAGS MAKELEVEL
	for name; do
		# shellcheck disable=SC2086
		"$python" "$top/tests/other_device.py" "$build/as_made/$name.spv" "$build/shaders/$name.spv" $ways || return 1
		if cmp -s "$build/as_made/$name.spv" "$build/shaders/$name.spv"; then echo "$name is as it was"; return 1; fi
	done
	other=$build/bin/fringepipe
	# with the compiler of the build, whose objects stay
	make -C "$top" CC="$(sed 's/ -Icommon.*//' "$build/flags.list")" BUILD="$build" BIN="$build/bin" "$other" >built 2>&1 ||
		{ tail built; return 1; }
}

@test "other device: --devices and auto take its floats for exact where sums, comparisons and the like are the processor's" {
	use_llvmpipe
	need_gpu
	export XDG_CACHE_HOME=$work/cache
	mkdir -p cache/fringepipe
	py 'write_frames("in.nrrd", Frame(np.random.default_rng(1).normal(size=(9, 40)).astype("f4"), ["absphase"]))'
	for ways in "nan" "divide_operands divide_results" "compare_operands" "add_results" "multiply_results" "call_operands"; do
		rebuild "$ways" float_results
		"$other" --devices >listed	# a processor has its own floats, whatever it says
		if grep -q 'no exact floats' listed; then echo "$ways: not asked for"; return 1; fi
		FRINGEPIPE_GPU_PROBE=1 "$other" --devices >listed
		if [[ $ways == nan || $ways == divide* ]]; then	# px.h mends quotients
			run ! grep 'no exact floats' listed
		else
			grep 'no exact floats' listed || { echo "$ways is not seen"; return 1; }
		fi
		printf '%s\n' 'fringepipe costs 1' "device $(sed -n 's/^gpu:0 .*: //p' listed)" 'threads 2' 'open 0' 'latency 0' 'copy 0' \
			'up 0 0 0' 'down 0 0 0' 'stage median 1e-9 1e-12' >cache/fringepipe/costs
		FRINGEPIPE_GPU_PROBE=1 FRINGEPIPE_GPU_CHECK=1 "$other" -v median in.nrrd -o out.nrrd 2>messages
		[ "$(grep -c 'no exact floats' listed)" -ne "$(grep -c 'frames on llvmpipe' messages)" ] || { cat listed messages; return 1; }
	done
}

@test "other device: one whose NaN are others gives the processor's bytes" {
	need_gpu
	# of shade's, without those that compute with no floats
	mapfile -t names < <(basename -s .spv "$build"/as_made/{phasewrap,gauss_rows,gauss_columns,unwrap2f,median,normals,shade,holoenc,kalman}*.spv |
		grep -vE '^shade_(clear|count|rank)$')
	rebuild nan "${names[@]}"
	py '
rng = np.random.default_rng(4)
def some(n, low, high, kind="f4"):
	planes = rng.uniform(low, high, (n, 41, 70)).astype(kind)
	if kind == "f4":
		planes[rng.random(planes.shape) < 0.05] = np.nan
		planes[rng.random(planes.shape) < 0.02] = np.inf
		planes.view("u4")[rng.random(planes.shape) < 0.02] = 0xff812345
	return planes
write_frames("images.nrrd", Frame(some(6, 0, 256, "u1") // 3, ["image"] * 6))
write_frames("floats.nrrd", Frame(some(6, 0, 1), ["image"] * 6))
write_frames("phase.nrrd", Frame(some(2, -3, 3), ["phase", "depth"], {"period_px": "60"}))
write_frames("vectors.nrrd", Frame(some(3, -1, 1), ["sin", "cos", "sigma"]))
write_frames("absolute.nrrd", Frame(some(2, -9, 9), ["depth", "texture"]))'
	for words in "phasewrap -n 3 -p 60,66 --min-modulation 0.1 images.nrrd , gauss , unwrap2f , median" \
		"phasewrap -n 6 --as vector --sigma --read-noise 0.1 --quantum 0 --fit-residual floats.nrrd" \
		"phasewrap -n 4 -p 20 -G 2 floats.nrrd" "phasewrap -n 5 -p 20 --max-fit-residual 1 --min-modulation 0.1 -G 1 floats.nrrd" \
		"gauss -n 9 --on phase,depth phase.nrrd" "gauss -n 5 --as vector vectors.nrrd" \
		"kalman --sigma 0.05 --motion 0.01 absolute.nrrd" "normals --pixel 2 absolute.nrrd , shade" "holoenc --depth-range -9,9 -P 3 --texture texture absolute.nrrd"; do
		# shellcheck disable=SC2086
		"$other" -q -v -d gpu $words -o gpu.nrrd 2>messages
		grep -q 'frames on ' messages || { cat messages; return 1; }
		# shellcheck disable=SC2086
		fringepipe -q -d cpu $words | cmp - gpu.nrrd || { echo "$words"; return 1; }
	done
}

# A device whose comparisons alone take subnormal numbers for zeros, as NVIDIA's do, with what is done about it.
@test "other device: comparisons by bits are the processor's" {
	need_gpu
	gcc -I"$top/common" -DVK_NO_PROTOTYPES -o compare_bits "$top/tests/compare_bits.c" "$build/libfringepipe.a" -lz
	for shader in "$build"/as_made/*.spv; do
		./compare_bits "$shader" by_bits.spv
		spirv-val --target-env vulkan1.2 by_bits.spv
	done
	# no number but floats: the type of their bits is declared, too
	printf '%s\n' "#version 450" "layout(set = 0, binding = 0) buffer block { float v[]; };" \
		"void main() { v[0] = v[1] < v[2] || !(v[1] < v[0]) ? v[1] : v[2]; }" >floats.comp
	glslc --target-env=vulkan1.2 -O -o floats.spv floats.comp
	spirv-dis floats.spv | grep -v 'uint\|gl_WorkGroupSize' | spirv-as --target-env spv1.5 -o floats.spv -
	spirv-val --target-env vulkan1.2 floats.spv
	run ! grep -q 'OpTypeInt 32 0' <(spirv-dis floats.spv)
	./compare_bits floats.spv by_bits.spv
	spirv-val --target-env vulkan1.2 by_bits.spv
	run ! grep 'OpFOrdLessThan ' <(spirv-dis by_bits.spv)
	mkdir by_bits
	for name in float_results phasewrap normals; do
		./compare_bits "$build/as_made/$name.spv" by_bits/$name.spv
		mv by_bits/$name.spv "$build/as_made"
	done
	rebuild "compare_operands nan" float_results phasewrap normals
	FRINGEPIPE_GPU_PROBE=1 "$other" --devices >listed
	run ! grep 'no exact floats' listed
	py '
rng = np.random.default_rng(3)
planes = rng.integers(0, 0x900000, (6, 41, 70), dtype="u4") | rng.integers(0, 2, (6, 41, 70), dtype="u4") << 31
write_frames("in.nrrd", Frame(planes.view("f4"), ["a", "b", "c", "d", "e", "f"]))
write_frames("z.nrrd", Frame(planes[:3].view("f4"), ["x", "y", "z"]))'
	for words in "phasewrap -n 6 --as vector --min-amplitude 1e-42 in.nrrd" "normals z.nrrd"; do
		# shellcheck disable=SC2086
		may_be_empty "$other" -q -d gpu $words -o gpu.nrrd
		# shellcheck disable=SC2086
		may_be_empty fringepipe -q -d cpu $words -o cpu.nrrd
		cmp cpu.nrrd gpu.nrrd || { echo "$words"; return 1; }
	done
}
