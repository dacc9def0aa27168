# The part `gpu` of scripts/bench: stages and the chain on the device beside the copy within its memory, the bus and the
# processor, whether they agree, and what -d auto takes. Sourced by it.
# shellcheck shell=bash disable=SC2046,SC2086,SC2154	# its variables and words

# in_stream DEVICE SIZE WORDS ...: milliseconds of a further frame of a long stream, by the clock; what -v says of it is in
# `said`. A first run compiles the shaders, and two lengths are timed: opening and the first memory cancel.
in_stream() {
	local few many=$gpu_frames

	[ -n "$many" ] || many=$(($(pixels "$2") > 1000000 ? 80 : 240))
	few=$((many / 4))
	FRINGEPIPE_REPEAT=1 fringepipe -q -d "$1" -o null: "${@:3}" || return
	FRINGEPIPE_REPEAT=$few fringepipe -v -q -d "$1" -o null: "${@:3}" 2>said_of_few || return
	FRINGEPIPE_REPEAT=$many fringepipe -v -q -d "$1" -o null: "${@:3}" 2>said || return
	awk '$3 == "frames" && $4 == "in" { n[++k] = $2; s[k] = $5 }
		END {
			further = (s[2] - s[1]) / (n[2] - n[1])
			printf "%.5f\n", 1000 * (further > 0 ? further : s[2] / n[2]) }' said_of_few said
}

# operations_of WORDS: how many a pixel takes (floor_table), 0 where nobody has counted.
operations_of() {
	floor_table | awk -F / -v words="$1" '$2 == words { n = $3 } END { print n + 0 }'
}

# agreement WORDS: does the device give the processor's bytes?
agreement() {
	cmp -s <(fringepipe -q -d cpu "$@") <(fringepipe -q -d "$gpu" "$@") && echo "same bytes" || echo "other bytes"
}

# auto_side WORDS: where -d auto goes in a stream so long that opening is paid for.
auto_side() {
	FRINGEPIPE_REPEAT=20 fringepipe -v -q -d auto -o null: "$@" 2>said_of_auto
	grep -q ' frames on ' said_of_auto && echo device || echo processor
}

# gpu_stage SIZE NAME WORDS: a row: one stage's time on the device, against the copy within its memory; with its copies,
# beside what the bus takes and the processor; whether the bytes agree, and what -d auto takes.
gpu_stage() {
	local whole words=${3//SIZE/$1}

	whole=$(in_stream "$gpu" "$1" $words)
	if ! grep -q ' frames on ' said; then
		printf "%-38s the processor does it\n" "$2"
		return
	fi
	cp said said_of_gpu
	awk -v label="$2" -v stage="${3%% *}" -v pixels="$(pixels "$1")" -v whole="$whole" \
		-v bytes="$(must_move $words)" -v copy="$gpu_copy" -v operations="$(operations_of "$3")" \
		-v processor="$(in_stream cpu "$1" $words)" -v same="$(agreement $words)" -v auto="$(auto_side $words)" '
		FILENAME == "calibrated" && /^to the device/ { rate["up"] = $4 }
		FILENAME == "calibrated" && /^back/ { rate["down"] = $2 }
		/ frames on / {
			for (i = 1; i < NF; i++) {
				if ($i == stage)
					ms = $(i + 1)
				if ($i == "up" || $i == "down")
					bus[$i] = $(i + 1) / (rate[$i] ? rate[$i] : 1)
			} }
		END {
			printf "%-38s %9.3f ms %7.1f Mpx/s %7.2f GB/s %5.0f %% of copy", \
				label, ms, pixels / ms / 1e3, bytes / ms / 1e6, 100 * bytes / ms / 1e6 / copy
			if (operations)
				printf " %8.1f Gop/s", pixels * operations / ms / 1e6
			printf "; with its copies %9.3f ms", whole
			if (rate["up"])
				printf ", the bus %.3f", (bus["up"] > bus["down"] ? bus["up"] : bus["down"])
			printf "; processor %9.3f ms; %s; auto: %s\n", processor, same, auto }' calibrated said_of_gpu
}

# gpu_chain SIZE: what the device says of the chain, then the floor of the bus: copies up and down overlap.
gpu_chain() {
	local whole

	whole=$(in_stream "$gpu" "$1" $(chain "$1"))
	grep ' frames ' said
	awk -v whole="$whole" '
		FILENAME == "calibrated" && /^to the device/ { rate["up"] = $4 }
		FILENAME == "calibrated" && /^back/ { rate["down"] = $2 }
		/ frames on / {
			for (i = 1; i < NF; i++)
				if ($i == "up" || $i == "down")
					mb[$i] += $(i + 1) }
		END {
			printf "device %.3f ms a frame, %.1f frames/s", whole, 1000 / whole
			if (rate["up"] && rate["down"]) {
				up = mb["up"] / rate["up"]
				down = mb["down"] / rate["down"]
				least = up > down ? up : down
				printf "; the bus takes %.3f ms up at %.1f GB/s, %.3f ms down at %.1f GB/s: floor %.3f ms, %.0f %% of it reached", \
					up, rate["up"], down, rate["down"], least, 100 * least / whole
			}
			print "" }' calibrated said
}

part_gpu() {
	local size name words gpu_copy gpu=gpu${FRINGEPIPE_GPU:+:$FRINGEPIPE_GPU} XDG_CACHE_HOME=$work/gpu_cache
	export XDG_CACHE_HOME

	if ! fringepipe --devices | grep -q '^gpu:'; then
		heading "GPU: none here, nothing measured"
		return
	fi
	heading "GPU"
	fringepipe --calibrate -d "$gpu" >calibrated
	sed '/^$/,$d' calibrated
	sed -i 's/^open .*/open 0/' "$XDG_CACHE_HOME/fringepipe/costs"	# the streams below are short
	if fringepipe --devices | grep -F "$(head -n 1 calibrated)" | grep -q ' cpu,'; then
		echo "this is a processor: its figures say nothing of a GPU"
		gpu_frames=${gpu_frames:-8}
	fi
	gpu_copy=$(awk '/^within/ { print $5 }' calibrated)
	for size in "${stage_sizes[@]}"; do
		make_inputs "$size"
		heading "$size, one stage on the device"
		while IFS=/ read -r name words; do
			! is_wanted $words || gpu_stage "$size" "$name" "$words"
		done < <(stage_table)
	done
	for size in "${gpu_sizes[@]}"; do
		make_inputs "$size"
		heading "$size, the chain from bytes in the host's memory to floats there"
		gpu_chain "$size"
		in_stream cpu "$size" $(chain "$size") | awk -v same="$(agreement $(chain "$size"))" -v auto="$(auto_side $(chain "$size"))" '{
			printf "processor %.3f ms a frame, %.1f frames/s; %s; auto: %s\n", $1, 1000 / $1, same, auto }'
	done
}
