# The part `serve` of scripts/bench: holoserve's latency and rate to a native viewer on the loopback, and what viewers
# that read nothing cost the pipeline. Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

part_serve() {
	heading "holoserve: 512x512, P 42, JPEG 85, to a viewer on the loopback"
	PYTHONPATH="$top/tests:$top/scripts" PATH="$bin:$PATH" in_python serve "$rounds"
}
