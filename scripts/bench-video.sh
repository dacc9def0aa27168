# The part `video` of scripts/bench: sequences of depth as ordinary video, what they take and lose, and how fast.
# Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

part_video() {
	if ! command -v ffmpeg >/dev/null || ! have holoenc; then
		echo "video: ffmpeg is not here"
		return
	fi
	heading "512x512, sequences of depth as video"
	/usr/bin/python3 "$top/scripts/bench-video.py" "$PWD" ${data:+"$data"}
}
