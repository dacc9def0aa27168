# The part `serve` of scripts/bench: holoserve's latency and rate to a native viewer on the loopback, and what viewers
# that read nothing cost the pipeline. Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

part_serve() {
	heading "holoserve: 512x512, P 42, JPEG 79, h264 crf 24, luma crf 0, to a viewer on the loopback"
	local mesh=$data/meshes/igea.ply
	[ -f "$mesh" ] || mesh=
	PYTHONPATH="$top/tests:$top/scripts" PATH="$bin:$PATH" in_python serve "$rounds" ${mesh:+"$mesh"}
}
