# The part `laser` of scripts/bench: centres of laser lines, beside scikit-image and OpenCV on the same images, and the
# tables of Liu et al. 2016 beside ours. Sourced by it.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154	# its variables and words

laser_images=640

# One core and all, of images that are in memory already: LABEL OPTION ...
add_lines() {
	add "$1, 1 core" in_process 1 steger "${@:2}" laser.nrrd
	add "$1, $cores cores" in_process "$cores" steger "${@:2}" laser.nrrd
}

laser_line() {
	local ms_all cpu_all

	ms_all=$(middle ${ms[$1]}) cpu_all=$(middle ${cpu[$1]})
	awk -v label="${label[$1]}" -v ms="$ms_all" -v least="$(least ${ms[$1]})" -v cpu="$cpu_all" -v n="$laser_images" \
		-v bar="$2" 'BEGIN {
		printf "%-46s %8.3f ms an image (least %8.3f, cores\047 %8.3f), %d images %8.3f s", label, ms, least, cpu, n,
			ms * n / 1000
		if (bar)
			printf ", bar %g ms: %s", bar, cpu <= bar ? "met" : "missed"
		print "" }'
}

part_laser() {
	local size=1292x964 i bars=(1.3 0 10 0 0 0)

	# what a process costs to start is no part of an image
	[ $rounds -le 3 ] || local rounds=3 target_ms=1500

	install_peers
	heading "$size, laser lines, sigma 2, noise of 2 levels: the line and what is near it are 8 % of the tiles"
	/usr/bin/python3 "$top/scripts/bench-peers/peers.py" laser "$size" 1 laser.nrrd
	add_lines "steger"
	add_lines "steger, all tiles (--threshold 1.5)" --threshold 1.5
	add_lines "steger --plain" --plain
	add "copy of the images" in_process "$cores" framecat laser.nrrd
	add "  scikit-image hessian_matrix, eigenvalues" peer skimage_lines laser.nrrd
	add "  OpenCV sepFilter2D x 5, NumPy" peer opencv_lines laser.nrrd
	measure
	for i in "${!case[@]}"; do
		laser_line "$i" "${bars[i]:-0}"
	done
	forget
	cat <<-'END'

	Liu et al. 2016, table 2: 640 images of 1292x964, without decoding; i7-3770 and GTX TITAN X
	  mannequin  524946 points  CPU 90.735 s  GPU 0.810 s   141.8 and 1.27 ms an image
	  human      551879 points  CPU 96.451 s  GPU 0.876 s   150.7 and 1.37 ms
	  statue     523847 points  CPU 89.155 s  GPU 0.801 s   139.3 and 1.25 ms
	  panda      243099 points  CPU 61.424 s  GPU 0.548 s    96.0 and 0.86 ms
	ours has 617000 points in as many images
	END
}
