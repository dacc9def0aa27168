# The part `png` of scripts/bench, and the end of its part `files`: PNG files of captures, simulated images and
# rendered meshes, read and written, beside libpng, libspng, OpenCV and Pillow where they are installed. Behind `png`,
# `read` or `write` takes one of both, other words the sets that have one of them in their names. Sourced by it.
# shellcheck shell=bash disable=SC2154,SC2086	# its variables; lists of numbers are split

png_frames_most=6	# of a set

# png_ours_read FILE ...: again and again until there are $frames.
png_ours_read() {
	local start=$EPOCHREALTIME i files=()

	for ((i = 0; i < frames; i++)); do
		files+=("${@:i % $# + 1:1}")
	done
	framecat -j 1 -o null: "${files[@]}"
	elapsed "$start"
}

# png_ours_write FRAMES OPTION ...: set.nrrd, which holds so many; prints cores' time, too, as its frames are repeated.
png_ours_write() {
	local TIMEFORMAT='%3U %3S' repeats=$(((frames + $1 - 1) / $1)) took

	{ time FRINGEPIPE_REPEAT=$repeats framecat -j 1 -v -q -f --no-sync "${@:2}" -o written_%04d.png set.nrrd 2>said; } 2>used
	rm -f written_*
	took=$(reported <said)
	awk -v took="$took" -v n=$((repeats * $1)) '{ printf "%s %.5f\n", took, 1000 * ($1 + $2) / n }' used
}

png_library() {
	./png_peer "$1" "$2" "$frames" "${@:3}" | cut -d' ' -f1,2
}

png_python() {
	/usr/bin/python3 "$top/scripts/bench-peers/png.py" "$1" "$2" "$frames" "${@:3}"
}

# png_line I FIRST: milliseconds, cores' time, and how many times as quick as case FIRST in cores' time
png_line() {
	awk -v label="${label[$1]}" -v ms="$(middle ${ms[$1]})" -v cpu="$(middle ${cpu[$1]})" \
		-v first="$(middle ${cpu[$2]})" 'BEGIN {
		printf "%-38s %9.3f ms (cores\047 %8.3f) %6.2f times libpng\n", label, ms, cpu, first / cpu }'
}

png_table() {
	local i

	measure
	for i in "${!case[@]}"; do
		png_line "$i" 0
	done
	forget
}

# png_wants WORD ...: has one of the words that the set or the direction goes by been asked for, or none of such?
png_wants() {
	local word asked=no

	for word in ${wanted[@]+"${wanted[@]}"}; do
		if [[ $word =~ ^(read|write)$ ]] && [[ $1 =~ ^(read|write)$ ]]; then
			asked=yes
			[ "$word" != "$1" ] || return 0
		elif [[ ! $word =~ ^(read|write)$ ]] && [[ ! $1 =~ ^(read|write)$ ]]; then
			asked=yes
			[[ $1 != *"$word"* ]] || return 0
		fi
	done
	[ $asked = no ]
}

# png_set NAME FILE ...
png_set() {
	png_wants "$1" || return 0
	framecat -q -f "${@:2}" -o set.nrrd
	! png_wants read || png_set_read "$@"
	! png_wants write || png_set_written "$@"
}

png_set_read() {
	local name=$1 files=("${@:2}") peer

	heading "PNG, $name, ${#files[@]} files: read"
	add libpng png_library read libpng "${files[@]}"
	add ours png_ours_read "${files[@]}"
	[ -z "$png_spng" ] || add libspng png_library read spng "${files[@]}"
	for peer in $png_modules; do
		add "$peer" png_python read "$peer" "${files[@]}"
	done
	png_table
}

png_set_written() {
	local name=$1 files=("${@:2}") peer

	heading "PNG, $name: written"
	add "libpng, default" png_library write libpng "${files[@]}"
	add "libpng, level 1, no filter" png_library write libpng1 "${files[@]}"
	add ours png_ours_write ${#files[@]}
	add "ours, --fast" png_ours_write ${#files[@]} --fast
	[ -z "$png_spng" ] || add "libspng, default" png_library write spng "${files[@]}"
	for peer in $png_modules; do
		add "$peer, default" png_python write "$peer" "${files[@]}"
	done
	png_table
	png_bytes "${files[@]}"
}

# Bytes of a file, the mean of the set.
png_bytes() {
	local option

	printf 'bytes: libpng %s, level 1 %s' "$(./png_peer write libpng 1 "$@" | cut -d' ' -f3)" \
		"$(./png_peer write libpng1 1 "$@" | cut -d' ' -f3)"
	for option in "" --fast; do
		framecat -q -f $option set.nrrd -o "bytes_%04d.png"
		printf ', ours%s %s' "${option:+ $option}" $(($(cat bytes_*.png | wc -c) / $#))
		rm -f bytes_*.png
	done
	echo
}

# A mesh as a map of depth in 16 bits, and as a picture.
png_mesh() {
	local name=${1##*/}

	name=${name%.*}
	mesh2depth -q -s "$small" "$1" -o mesh.nrrd
	framecat -q -f -c depth --scale auto --as ushort mesh.nrrd -o mesh.png
	png_set "$name, depth of $small" mesh.png
	shade -q -f mesh.nrrd -o shaded.png
	png_set "$name, shaded, $small" shaded.png
}

part_png() {
	png_sets
}

# Folders of captures, then simulated images of both sizes, then meshes.
png_sets() {
	local folder size mesh files png_spng='' png_modules='' module

	if gcc -std=gnu11 -O2 -o png_peer "$top/scripts/bench-peers/png.c" -lpng -lspng 2>/dev/null; then
		png_spng=yes
	else
		gcc -std=gnu11 -O2 -o png_peer "$top/scripts/bench-peers/png.c" -lpng
	fi
	for module in cv2 PIL; do
		! /usr/bin/python3 -c "import $module" 2>/dev/null || png_modules+=" $module"
	done
	[ "$target_ms" -ge 300 ] || png_frames_most=2
	: >png_folders
	[ -z "$data" ] || find "$(realpath "$data")" -name '*.png' -printf '%h\n' | sort -u >png_folders
	while read -r folder; do
		mapfile -t files < <(find "$folder" -maxdepth 1 -name '*.png' | sort | head -n $png_frames_most)
		png_set "${folder#"$(realpath "$data")"/}" "${files[@]}"
	done <png_folders
	for size in "${stage_sizes[@]}"; do
		png_wants "simulated, $size" || continue
		make_images "$size"
		framecat -q -f "$size.images.nrrd" -o "${size}_%d.png"
		png_set "simulated, $size" "${size}"_[0-9].png
	done
	[ -n "$data" ] || return 0
	for mesh in "$data"/meshes/*.{ply,obj}; do
		[ ! -e "$mesh" ] || png_mesh "$mesh"
	done
}
