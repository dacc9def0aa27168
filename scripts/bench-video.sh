# The part `video` of scripts/bench: sequences of depth as ordinary video, what they take and lose, and how fast.
# Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

part_video() {
	if ! command -v ffmpeg >/dev/null || ! have holoenc; then
		echo "video: ffmpeg is not here"
		return
	fi
	heading "512x512, sequences of depth as video"
	if ! command -v cjxl >/dev/null || ! command -v zstd >/dev/null; then
		install libjxl-tools zstd
	fi
	gcc -std=gnu11 -O3 -march=native -o rvl "$top/scripts/bench-peers/rvl.c"
	/usr/bin/python3 "$top/scripts/bench-video.py" "$PWD" "$PWD/rvl" ${data:+"$data"} ${video_tables:+--only "${video_tables[@]}"}
}
