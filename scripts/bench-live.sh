# The part `live` of scripts/bench: how far the frames of a stream that is written at 30 frames/s come out behind `cat`
# of the same stream. Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

part_live() {
	if ! command -v ffmpeg >/dev/null; then
		echo "live: ffmpeg is not here"
		return
	fi
	heading "640x480 at 30 frames/s through a pipe: frames behind cat of the same stream (lag of one frame: 33 ms)"
	/usr/bin/python3 "$top/scripts/bench-live.py" "$bin/framecat"
}
