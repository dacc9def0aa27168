# The part `raw` and the end of the part `files` of scripts/bench: TIFF, JPEG, NRRD and gzip, read and written, beside
# libtiff, libjpeg-turbo, libdeflate and the plain copy of a file, which bench-peers/files.c runs; NPY, PNM and PFM read
# beside the copy. Sourced by it.
# shellcheck shell=bash disable=SC2154,SC2086	# its variables; lists of numbers are split

# library_does read|write tiff|jpeg|raw|rows|float|gzip FILE
library_does() {
	./files_peer "$1" "$2" "$frames" "$3"
}

# NAME.SUFFIX: images of 8 and 16 bits, floats and colours. Pillow packs TIFF; gzip is Python's.
make_files() {
	local size=$1 kind suffix

	framecat -q -f --frames 0 "$size.images.nrrd" -o u8.nrrd
	framecat -q -f --as ushort --scale 0,255 u8.nrrd -o u16.nrrd
	framecat -q -f "$size.height.nrrd" -o f32.nrrd
	framecat -q -f --stack --frames 0-2 "$size.images.nrrd" -o rgb.nrrd
	for kind in u8 u16 f32 rgb; do
		framecat -q -f $kind.nrrd -o $kind.tif
		framecat -q -f $kind.nrrd -o $kind.npy
		[ $kind = f32 ] && suffix=pfm || suffix=pnm
		framecat -q -f $kind.nrrd -o $kind.$suffix
	done
	framecat -q -f u8.nrrd -o u8.jpg
	framecat -q -f rgb.nrrd -o rgb.jpg
	/usr/bin/python3 "$top/scripts/bench-peers/files.py" u8 u16 f32 rgb
}

# files_case READ|WRITE FORMAT FILE: the library's case, then ours
files_case() {
	local input=${3%%.*}.nrrd

	add "$1 $3, library" library_does "$1" "$2" "$3"
	if [ "$1" = read ]; then
		add "$1 $3, ours" files_ours files_read "$3"
	else
		add "$1 $3, ours" files_ours files_write ".${3##*.}" "$input"
	fi
}

# files_ours WORD ...: milliseconds a frame by the clock and of the cores, without what a process's start takes:
# WORD N ... handles so many frames.
files_ours() {
	local TIMEFORMAT='%3R %3U %3S' n=$((frames < 20 ? 20 : frames))

	{ time "$1" 1 "${@:2}"; } 2>used
	rm -f "$WRITTEN"/written_*	# outside of the time, as the library's
	{ time "$1" $((n + 1)) "${@:2}"; } 2>>used
	rm -f "$WRITTEN"/written_*
	awk -v n="$n" 'NR == 1 { clock = $1; cores = $2 + $3 }
		NR == 2 { printf "%.5f %.5f\n", 1000 * ($1 - clock) / n, 1000 * ($2 + $3 - cores) / n }' used
}

files_read() {
	local i files=()

	for ((i = 0; i < $1; i++)); do
		files+=("$2")
	done
	framecat -j 1 -o null: "${files[@]}"
}

files_read_float() {
	local i files=()

	for ((i = 0; i < $1; i++)); do
		files+=("$2")
	done
	framecat -j 1 --as float -o null: "${files[@]}"
}

# What a raw NRRD file of 8 bits costs beside the read() of its bytes, and beside what moves them to where a frame has
# them, rows at 64 bytes, or makes floats of them.
files_like_for_like() {
	heading "$1, raw NRRD of 8 bits, beside read() and beside what does the same"
	add "read() alone" library_does read raw u8.nrrd
	add "read u8.nrrd, ours" files_ours files_read u8.nrrd
	add "read() and rows to 64 bytes" library_does read rows u8.nrrd
	add "read u8.nrrd, ours" files_ours files_read u8.nrrd
	add "read() and samples to float" library_does read float u8.nrrd
	add "read u8.nrrd --as float, ours" files_ours files_read_float u8.nrrd
	files_table
}

files_write() {
	FRINGEPIPE_REPEAT=$1 framecat -j 1 -q -f --no-sync -o "$WRITTEN/written_%04d$2" "$3"
}

files_table() {
	local i

	measure
	for i in "${!case[@]}"; do
		awk -v label="${label[i]}" -v ms="$(middle ${ms[i]})" -v cpu="$(least ${cpu[i]})" \
			-v library="$(least ${cpu[i - i % 2]})" 'BEGIN {
			printf "%-38s %9.3f ms (cores\047 least %8.3f) %6.2f times the library\047s time\n", \
				label, ms, cpu, cpu / library }'
	done
	forget
}

part_raw() {
	local size

	files_compile || return 0
	for size in "${stage_sizes[@]}"; do
		make_images "$size"
		framecat -q -f --frames 0 "$size.images.nrrd" -o u8.nrrd
		files_like_for_like "$size"
	done
	rm -rf "$WRITTEN"
}

# What is written goes to memory's file system, where there is one: a disk is written to at times of its own.
files_folder() {
	WRITTEN=$(mktemp -d -p /dev/shm 2>/dev/null) || WRITTEN=$(mktemp -d)
	export WRITTEN
	# shellcheck disable=SC2064	# it is this folder
	trap "rm -rf '$work' '$WRITTEN'" EXIT
}

files_compile() {
	files_folder
	gcc -std=gnu11 -O3 -march=native -o files_peer "$top/scripts/bench-peers/files.c" -ltiff -ljpeg -ldeflate
}

files_sets() {
	local size kind

	files_compile || return 0
	/usr/bin/python3 -c 'import PIL' 2>/dev/null || return 0
	for size in "${stage_sizes[@]}"; do
		make_inputs "$size"
		make_files "$size"
		heading "$size, TIFF, JPEG, NRRD, NPY, PNM, PFM (page cache), 8 and 16 bits, floats, colours: read"
		for kind in u8 u16 f32 rgb; do
			files_case read tiff $kind.tif
			files_case read tiff $kind.lzw.tif
			files_case read tiff $kind.zip.tif
			files_case read raw $kind.nrrd
			files_case read raw $kind.npy
			[ ! -e $kind.pnm ] || files_case read raw $kind.pnm
			[ ! -e $kind.pfm ] || files_case read raw $kind.pfm
			files_case read gzip $kind.gz.nrrd
			[ ! -e $kind.jpg ] || files_case read jpeg $kind.jpg
		done
		files_table
		files_like_for_like "$size"
		heading "$size, TIFF, JPEG, NRRD: written, in memory's file system"
		for kind in u8 u16 f32 rgb; do
			files_case write tiff $kind.tif
			files_case write raw $kind.nrrd
			[ ! -e $kind.jpg ] || files_case write jpeg $kind.jpg
		done
		files_table
	done
	rm -rf "$WRITTEN"
}
