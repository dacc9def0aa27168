# bats file_tags=long
# Where a chain computes: -d, --devices, --calibrate, and -d auto by the cost model.
load helpers

setup_chain() {
	fringesim -q -s 320x240 -p 60,63 -n 3 --projector 400x300 -o images.nrrd
	export XDG_CACHE_HOME=$work/cache
	words=(phasewrap images.nrrd , gauss , unwrap2f , median)
}

device_name() {
	fringepipe --devices | sed -n 's/^gpu:0 .*: //p' | grep .
}

# costs DEVICE UP: a file of costs in which the device computes at once and a byte of copies takes UP s.
costs() {
	mkdir -p cache/fringepipe
	printf '%s\n' 'fringepipe costs 1' "device $1" 'threads 2' 'open 0' 'latency 1e-6' 'copy 1e-6' \
		"up $2 $2 $2" "down $2 $2 $2" >cache/fringepipe/costs
	for stage in phasewrap gauss unwrap2f median phase2depth normals shade holoenc holodec dither3 undither3 \
		shade--view wff undither3-fit; do
		echo "stage $stage 1e-9 1e-12"
	done >>cache/fringepipe/costs
}

@test "device: --devices lists the processor and every device" {
	run -0 fringepipe --devices
	[[ ${lines[0]} =~ ^cpu\ +[0-9]+\ threads$ ]]
	for option in --devices --agreement --calibrate; do
		fails 2 "fringepipe: median: --devices, --agreement and --calibrate run no stage" \
			fringepipe $option median x.nrrd
	done
	run -0 fringepipe --devices
	for line in "${lines[@]:1}"; do
		[[ $line =~ ^gpu:[0-9]+\ +(discrete|integrated|virtual|cpu|other),\ [0-9.]+\ GB.*:\ .+$ ]]
	done
}

@test "device: without a driver -d gpu exits 3, and everything else runs on the processor" {
	setup_chain
	fringepipe -d cpu "${words[@]}" -o cpu.nrrd
	export VK_ICD_FILENAMES=/dev/null VK_DRIVER_FILES=/dev/null
	[ "$(fringepipe --devices | wc -l)" -eq 1 ]
	run -3 fringepipe -d gpu "${words[@]}" -o gpu.nrrd
	[ ${#lines[@]} -eq 1 ]
	[ ! -e gpu.nrrd ]
	run -3 median -d gpu images.nrrd -o gpu.nrrd
	costs llvmpipe 0
	fringepipe "${words[@]}" | cmp - cpu.nrrd
	fringepipe --calibrate >messages
	grep -q 'no GPU' messages
	grep -Eq '^gauss +[0-9.]+$' messages
}

@test "device: --calibrate measures both sides, and what it keeps is what it printed" {
	need_gpu
	[ -n "${AGREE_ALL-}" ] || return 0	# make agree-all
	setup_chain
	mkdir temporary
	TMPDIR=$work/temporary fringepipe --calibrate -d gpu >messages
	rmdir temporary			# nothing is left there
	device=$(device_name)
	grep -F "$device" messages
	grep -E '^gauss +[0-9.]+ +[0-9.]+$' messages
	grep -Fx "device $device" cache/fringepipe/costs
	grep -E '^stage gauss [0-9.e+-]+ [0-9.e+-]+$' cache/fringepipe/costs
	awk '/^gauss/ { n = NR; p = $2; d = $3 } /^stage gauss/ { exit !(n && sqrt(($3 * 1e9 - p) ^ 2) < 0.001 + 1e-3 * p &&
		sqrt(($4 * 1e9 - d) ^ 2) < 0.001 + 1e-3 * d) }' messages cache/fringepipe/costs
	run -1 env -u XDG_CACHE_HOME -u HOME fringepipe --calibrate -d cpu
	[[ $output == *'no folder for the costs'* ]]
}

@test "device: a calibrated machine without a GPU of its own picks the processor" {
	use_llvmpipe
	setup_chain
	fringepipe --calibrate >/dev/null
	FRINGEPIPE_REPEAT=20 fringepipe -v -o null: "${words[@]}" 2>messages
	if grep 'frames on ' messages; then return 1; fi
	grep 'on the processor: phasewrap [0-9.]* ms ([0-9.]* expected), gauss' messages
}

@test "device: auto goes where it costs least" {
	need_gpu
	setup_chain
	fringepipe -d cpu "${words[@]}" -o cpu.nrrd
	costs "$(device_name)" 0
	fringepipe -v "${words[@]}" -o auto.nrrd 2>messages
	grep "phasewrap, gauss, unwrap2f, median on .*: [0-9.]* ms a frame expected ([0-9.]* to [0-9.]*); all on the processor: " messages
	grep '1 frames on .* phasewrap [0-9.]* ms ([0-9.]* expected), gauss' messages
	cmp auto.nrrd cpu.nrrd
	costs "$(device_name)" 1		# copies cost a second for each byte
	fringepipe -v "${words[@]}" -o auto.nrrd 2>messages
	if grep 'frames on ' messages; then return 1; fi
	cmp auto.nrrd cpu.nrrd
	# one stage demanded; the others follow it, as they cost least there
	costs "$(device_name)" 1e-15
	fringepipe -v phasewrap images.nrrd , gauss -d gpu , unwrap2f , median -o auto.nrrd 2>messages
	grep 'frames on .*phasewrap.*gauss.*unwrap2f.*median' messages
	cmp auto.nrrd cpu.nrrd
	# and one kept from it
	fringepipe -v phasewrap images.nrrd , gauss , unwrap2f -d cpu , median -o auto.nrrd 2>messages
	grep 'on the processor: unwrap2f' messages
	[ "$(grep -c 'frames on ' messages)" -eq 2 ]
	cmp auto.nrrd cpu.nrrd
}

# auto CHAIN: with costs by which the device is for nothing, its stages there, and the processor's bytes.
auto() {
	fringepipe -q -d cpu "$@" -o cpu.nrrd || return 1
	costs "$(device_name)" 0
	FRINGEPIPE_GPU_CHECK=1 fringepipe -v "$@" -o auto.nrrd 2>messages || { cat messages; return 1; }
	cmp auto.nrrd cpu.nrrd || { echo "$*"; return 1; }
	sed -n 's/^fringepipe: 1 frames on [^:]*://p' messages | grep -Eo '[a-z][a-z0-9]+ [0-9.]+ ms' | sed 's/ .*//' | xargs
}

@test "device: auto takes what is declared exact, and changes no byte" {
	need_gpu
	fringesim -q -s 160x120 -p 60,63 -n 3 --projector 400x300 --ref-plane 10,0.13,0 -c 5 -o images.nrrd
	export XDG_CACHE_HOME=$work/cache
	phase=(phasewrap images.nrrd , gauss , unwrap2f , median)
	fringepipe -d cpu "${phase[@]}" -o phase.nrrd
	framecat --channels absphase phase.nrrd -o ref.nrrd
	run -0 auto "${phase[@]}" , phase2depth --ref ref.nrrd -c 0.2 , normals --pixel 1 , shade
	[ "$output" = "phasewrap gauss unwrap2f median phase2depth normals shade" ]
	# doubles, and divisions of doubles, are not
	run -0 auto "${phase[@]}" , phase2depth --ref ideal , normals --pixel 1
	[ "$output" = "phasewrap gauss unwrap2f median normals" ]
	fringepipe -v -d gpu phase2depth --ref ideal phase.nrrd 2>messages | cmp - <(phase2depth --ref ideal phase.nrrd)
	grep 'frames on .*phase2depth' messages
	fringepipe -d cpu phase2depth --ref ideal phase.nrrd , framecat --channels depth -o depth.nrrd
	run -0 auto holoenc -P 40 -K 0 depth.nrrd , holodec --decode plain
	[ "$output" = "holoenc holodec" ]
	run -0 auto holoenc -P 40 -K 0 depth.nrrd , holodec --decode plain --xyz
	[ "$output" = "holoenc" ]
}

@test "device: auto takes whole frames where they were measured, and changes no byte" {
	need_gpu
	fringesim -q -s 96x64 -p 60,63 -n 3 --projector 400x300 -o images.nrrd
	export XDG_CACHE_HOME=$work/cache
	fringepipe -q -d cpu phasewrap images.nrrd -o phases.nrrd
	fringepipe -q -d cpu phasewrap images.nrrd , unwrap2f , phase2depth --ref ideal , framecat --channels depth -o depth.nrrd
	run -0 auto normals --pixel 1 depth.nrrd , shade --view 30,20 -c depth
	[ "$output" = "normals shade" ]
	fringepipe -q -d cpu wff phases.nrrd , framecat -f -o cpu.nrrd
	FRINGEPIPE_GPU_CHECK=1 fringepipe -v wff phases.nrrd , framecat 2>messages | cmp - cpu.nrrd
	grep 'frames on .*: wff [0-9.]* ms' messages
	# without a measurement it stays on the processor
	sed -i '/^stage wff/d' cache/fringepipe/costs
	fringepipe -v wff phases.nrrd , framecat 2>messages | cmp - cpu.nrrd
	if grep 'frames on ' messages; then return 1; fi
	grep 'on the processor: wff [0-9.]* ms' messages
	# one that does not answer
	costs "$(device_name)" 0
	FRINGEPIPE_GPU_TIMEOUT=0 fringepipe -v wff phases.nrrd , framecat 2>messages | cmp - cpu.nrrd
	grep 'the processor goes on: ' messages
	sed -i 's/^stage shade--view.*/stage shade--view 1e-12 1e-9/' cache/fringepipe/costs
	fringepipe -v normals --pixel 1 depth.nrrd , shade --view 30,20 -c depth -f -o auto.nrrd 2>messages
	grep 'frames on [^:]*: normals' messages
	grep 'on the processor: shade' messages
}

@test "device: auto begins on the processor and goes over when opening is paid for" {
	need_gpu
	setup_chain
	costs "$(device_name)" 0
	sed -i 's/^open.*/open 5/' cache/fringepipe/costs
	fringepipe -v "${words[@]}" -o auto.nrrd 2>messages
	if grep 'frames on ' messages; then return 1; fi
	for i in {1..60}; do cat images.nrrd; done >many.nrrd
	fringepipe -d cpu phasewrap many.nrrd , gauss , unwrap2f , median -o cpu.nrrd
	sed -i 's/^open.*/open 0.002/' cache/fringepipe/costs
	fringepipe -v phasewrap many.nrrd , gauss , unwrap2f , median -o auto.nrrd 2>messages
	grep 'on the processor: phasewrap' messages
	grep 'frames on ' messages
	cmp auto.nrrd cpu.nrrd
}

@test "device: costs that are damaged, or of another device, are as none" {
	need_gpu
	setup_chain
	fringepipe -d cpu "${words[@]}" -o cpu.nrrd
	costs "no such device" 0
	fringepipe -v "${words[@]}" 2>messages | cmp - cpu.nrrd
	grep 'all on the processor: .*no such device' messages
	costs "$(device_name)" 0
	for damage in 's/^open.*/open -1/' 's/^up.*/up 3 2 1/' 's/ costs 1/ costs 9/' '/^device/d' 's/^stage gauss/stage/'; do
		sed "$damage" cache/fringepipe/costs >damaged
		mkdir -p other/fringepipe
		cp damaged other/fringepipe/costs
		XDG_CACHE_HOME=$work/other fringepipe -v "${words[@]}" 2>messages | cmp - cpu.nrrd
		if grep 'frames on ' messages; then echo "$damage"; return 1; fi
	done
}

@test "device: -d of stages and of the chain" {
	need_gpu
	setup_chain
	run -2 fringepipe phasewrap images.nrrd -d gpu:0 , gauss -d gpu:9
	[[ $output == *'a chain runs on one GPU'* ]]
	run -2 fringepipe -d tpu phasewrap images.nrrd
	run -3 fringepipe -d gpu:9 phasewrap images.nrrd
	run -3 --separate-stderr fringepipe -d gpu:nosuch phasewrap images.nrrd
	[ ${#stderr_lines[@]} -eq 1 ]
	fringepipe -d cpu "${words[@]}" -o cpu.nrrd
	fringepipe -d "gpu:$(device_name)" "${words[@]}" | cmp - cpu.nrrd
	fringepipe phasewrap -d gpu images.nrrd , gauss , unwrap2f -d gpu , median | cmp - cpu.nrrd
}

@test "device: sets of changing sizes keep their order, wherever the stages run" {
	need_gpu
	setup_chain
	for size in 64x48 96x40 64x48 64x48 33x17; do
		fringesim -q -s "$size" -p 60,63 -n 3 --projector 400x300
	done >sizes.nrrd
	for i in 1 2 3; do cat sizes.nrrd; done >many.nrrd
	fringepipe -d cpu phasewrap many.nrrd , gauss , unwrap2f , median -o cpu.nrrd
	for sides in "gpu gpu gpu gpu" "gpu cpu gpu gpu" "gpu gpu cpu gpu" "cpu gpu cpu gpu"; do
		read -r a b c d <<<"$sides"
		fringepipe phasewrap -d $a many.nrrd , gauss -d $b , unwrap2f -d $c , median -d $d |
			cmp - cpu.nrrd || { echo "$sides"; return 1; }
	done
}

@test "device: warnings are the same on either side" {
	need_gpu
	py '
i = np.random.default_rng(1).uniform(0, 4800, (6, 64, 96))
write_frames("captures.nrrd", Frame(np.minimum(np.rint(i), 4095).astype("u2"), ["image"] * 6))'
	for words in "phasewrap -n 3 -p 60,63 captures.nrrd , unwrap2f --field 1000" \
		"phasewrap -n 3 -p 60,63 --min-amplitude 65000 captures.nrrd , gauss"; do
		for side in cpu gpu; do
			# shellcheck disable=SC2086
			fringepipe -d $side $words -o $side.nrrd 2>$side.messages || echo "status $?" >>$side.messages
		done
		[ -s cpu.messages ]
		# those of unwrap2f's own detectors are of a frame that the processor computes first
		diff <(sort cpu.messages) <(sort gpu.messages)
		cmp cpu.nrrd gpu.nrrd
	done
	# shellcheck disable=SC2086
	fails 1 "no frame has a valid pixel" fringepipe -q -d gpu $words -o gpu.nrrd
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "device: a row that the device has no room for is refused with the numbers, or the processor's" {
	use_llvmpipe
	need_gpu
	setup_chain
	# 240 MB of zeros, by a hole
	py 'import struct
head = b"{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (1, 60000000)}"
head += b" " * (117 - len(head)) + b"\n"
with open("wide.npy", "wb") as f:
	f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
	f.truncate(128 + 240000000)'
	words=(framecat --set channels=absphase wide.npy , median)
	export FRINGEPIPE_GPU_COPY=1	# else nothing crosses
	if [[ ! $(fringepipe --devices) =~ gpu:0\ \ cpu,\ 2.1\ GB ]]; then	# some versions have more
		fringepipe -v -d gpu "${words[@]}" 2>messages | cmp - <(fringepipe -d cpu "${words[@]}")
		grep 'frames on ' messages
		return
	fi
	run -1 fringepipe -d gpu "${words[@]}" -o null:
	[[ ${lines[-1]} =~ "a row of 60000000 pixels does not fit the GPU: it takes "([0-9]+)" bytes, of 3579" ]]
	costs "$(device_name)" 0
	fringepipe -v "${words[@]}" -o null: 2>messages
	grep 'the processor goes on: a row of 60000000 pixels' messages
	grep '1 frames in' messages
}

@test "device: a GPU that does not answer in time is given up with one line" {
	need_gpu
	py 'write_frames("in.nrrd", [Frame(np.zeros((750, 1000), "f4"), ["depth"])] * 4)'
	# what the device may still write to is never freed
	fails 1 "the GPU has not answered for 0 s" \
		env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" FRINGEPIPE_GPU_TIMEOUT=0 fringepipe -q -d gpu gauss -n 31 --on depth in.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
	# nor is what the driver's threads use destroyed: exit handlers do not run, output is written all the same
	cat >gone.c <<-'END'
		#include <unistd.h>
		__attribute__((destructor)) static void gone(void) { write(2, "destroyed\n", 10); }
	END
	gcc -shared -fPIC gone.c -o gone.so
	LD_PRELOAD=$PWD/gone.so gauss --help 2>line >/dev/null
	grep -x destroyed line
	status=0
	env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0:verify_asan_link_order=0" FRINGEPIPE_GPU_TIMEOUT=0 LD_PRELOAD="$PWD/gone.so" \
		fringepipe -q -d gpu gauss -n 31 --on depth in.nrrd -o out.nrrd 2>line || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat line)" = "fringepipe: the GPU has not answered for 0 s" ]
	for seconds in abc -1 1e99 ""; do
		fails 2 "FRINGEPIPE_GPU_TIMEOUT: must be a number of seconds from 0 to 1e9, not '$seconds'" \
			env FRINGEPIPE_GPU_TIMEOUT="$seconds" gauss -q -d gpu --on depth in.nrrd -o out.nrrd
	done
	fails 2 "FRINGEPIPE_GPU_TIMEOUT: must be" env FRINGEPIPE_GPU_TIMEOUT=soon fringepipe --devices
	FRINGEPIPE_GPU_TIMEOUT=100 gauss -n 31 --on depth -q -d gpu in.nrrd -o out.nrrd
	gauss -n 31 --on depth -q -d cpu in.nrrd | cmp - out.nrrd
}

@test "device: auto goes on with the processor when the GPU is lost, with one line and all frames" {
	need_gpu
	setup_chain
	for i in {1..7}; do cat images.nrrd; done >many.nrrd
	costs "$(device_name)" 0
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
	absolute=(phasewrap many.nrrd , gauss , unwrap2f , median)
	# the last one has a survey of each frame
	for words in "" ", framecat --channels absphase , framecat --set channels=depth , shade -c depth"; do
		# shellcheck disable=SC2086
		fringepipe -d cpu "${absolute[@]}" $words 2>cpu.messages >cpu.nrrd
		for band in "" 50; do
			# shellcheck disable=SC2086
			env ${band:+FRINGEPIPE_BAND=$band} FRINGEPIPE_GPU_TIMEOUT=0 fringepipe "${absolute[@]}" $words 2>messages | cmp - cpu.nrrd
			sed '/^fringepipe: the processor goes on: the GPU has not answered for 0 s$/d' messages >others
			[ "$(wc -l <messages)" -eq $(($(wc -l <others) + 1)) ]
			diff <(sort cpu.messages) <(sort others)
		done
	done
	# what is demanded still fails
	fails 1 "the GPU has not answered for 0 s" env FRINGEPIPE_GPU_TIMEOUT=0 fringepipe -q "${absolute[@]}" -d gpu -o out.nrrd
}

@test "device: a driver whose cache meets ulimit -f computes all the same" {
	use_llvmpipe
	need_gpu
	unset MESA_SHADER_CACHE_DIR
	export XDG_CACHE_HOME=$work/cache
	mkdir cache
	py 'write_frames("in.nrrd", Frame(np.random.default_rng(3).random((1, 90, 80), "f4"), ["depth"]))'
	(ulimit -f 1; gauss --on depth -d gpu in.nrrd | cmp - <(gauss --on depth -d cpu in.nrrd))
}

@test "device: more rows than a device takes workgroups for go in tiles" {
	need_gpu
	py 'write_frames("in.nrrd", Frame(np.random.default_rng(1).normal(size=(600000, 3)).astype("f4"), ["depth"]))'
	gauss -v -n 5 --on depth -d gpu in.nrrd 2>said | cmp - <(gauss -n 5 --on depth -d cpu in.nrrd)
	grep 'frames on ' said
}
