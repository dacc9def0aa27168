# Files from strangers: hostile.py makes them, a few hundred, and judges what the tools do with them.
load helpers

@test "hostile: lying heads, bombs, cut and flipped files end in order and take memory in proportion" {
	"$python" "$top/tests/hostile.py" write .
	# a sanitizer keeps what was freed, to watch it, and writes a byte for each eight that are reserved
	spare=48
	if sanitized; then
		spare=1000
		export ASAN_OPTIONS=${ASAN_OPTIONS:-}:allocator_may_return_null=1:max_allocation_size_mb=2000
	fi
	run "$python" "$top/tests/hostile.py" replay . $spare
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^[0-9]{3,}" runs, 0 bad"$ ]]
}

@test "hostile: chunks of a PNG that claim too much, and too many scans of a JPEG, are named" {
	"$python" "$top/tests/hostile.py" write .
	fails 1 "frameinfo: png-ztxt-100.png: PNG: text and other chunks take more than 40 MiB" frameinfo png-ztxt-100.png
	fails 1 "frameinfo: png-claim-tEXt.png: PNG: tEXt: chunk data is too large" frameinfo png-claim-tEXt.png
	fails 1 "frameinfo: png-ztxt-300m.png: PNG: zTXt: " frameinfo png-ztxt-300m.png
	fails 1 "frameinfo: jpeg-scans.jpg: JPEG: has more than 500 scans" frameinfo jpeg-scans.jpg
	fails 1 "cannot lie in the 0 bytes left" frameinfo found-beyond.bmp
	fails 1 "metadata have more than 10000 keys" frameinfo nrrd-keys.nrrd
}
