# The part `floor` of scripts/bench: each tool that works on pixels on one thread, beside the least time that its bytes,
# its operations and its divisions and roots take here; and what the chain is to be expected to do on more cores. Sourced by it.
# shellcheck shell=bash disable=SC2046,SC2086,SC2154	# its variables and words

# label / stage and its input / operations / divisions / roots / bytes of its own a pixel / why it takes more than its floor.
# Operations are the + - * of floats, comparisons, selections and conversions that the formulas (NAME.px.h) need where
# nothing is missing, once for each pixel, counted by hand; one of doubles counts as two. No loads, stores, addresses.
# 0: not counted, the floor is that of the bytes alone. Bytes of its own are what a stage must keep from row to row or
# from frame to frame for a whole frame, so that no cache of a core holds it: read or written once each.
floor_table() {
	cat <<-END
		phasewrap 2x3 uchar, phases/phasewrap SIZE.images.nrrd/128/4/2/0/divisions and roots wait for one unit
		phasewrap 2x3 uchar, vectors/phasewrap --as vector SIZE.images.nrrd/66/2/2/0/six planes are written at once, to memory not in cache
		phasewrap -k fourier, uchar/phasewrap -k fourier --min-amplitude 1 SIZE.one.nrrd/250/2/1/16/lines change places with rows for each transform, sample by sample; transforms and predictions of whole lines go through the second cache
		wff/wff --channel phase1 SIZE.phases.nrrd/4600/1/0/32/each step of a transform is loaded and stored again; a sixth is the median of each window, a tenth transpositions
		gauss 11, of phases/gauss SIZE.phases.nrrd/288/2/0/0/a third are the sines, whose steps wait for each other; loads of rows across cache lines
		gauss 11, of vectors/gauss SIZE.vectors.nrrd/186/2/0/0/the same
		unwrap2f/unwrap2f SIZE.smooth.nrrd/29/0/0/0/bytes
		median/median SIZE.absolute.nrrd/4/0/0/0/bytes; where all steps are small no median is needed
		phase2depth --ref ideal/phase2depth --ref ideal SIZE.mended.nrrd/10/0/0/0/bytes
		phase2depth --calib, no lens/phase2depth --calib SIZE.json SIZE.pinhole.nrrd/65/2/0/0/doubles, half as many in a vector
		phase2depth --calib, lenses/phase2depth --calib SIZE.lens.json SIZE.pinhole.nrrd/247/6/0/8/doubles, half as many in a vector, and a division of them
		normals of depth/normals SIZE.depth.nrrd/104/0/0/0/falls, their squares and the products of a square are stored and loaded again
		normals of x y z/normals SIZE.points.nrrd/163/0/0/0/the same
		shade/shade SIZE.height.nrrd/190/1/1/0/sums of squares are stored and loaded again; the jump is found first, a sixth
		shade --view/shade --view 30,20 SIZE.height.nrrd/0/0/0/0/some 100 instructions for a sample of each of 8 or 16 squares, and 75 for the squares before; then light and colours, once a pixel
		mesh2depth of a frame/framecat SIZE.height.nrrd , mesh2depth --scale 1/0/0/0/0/triangles as lists, of 12 bytes, whose points are looked up for the box, for the bands and to draw: three passes
		framecat --as float, 6 uchar/framecat --as float SIZE.set.nrrd/6/0/0/0/bytes
		kalman/kalman --sigma 0.05 --motion 0.01 SIZE.height.nrrd/59/1/1/32/bytes: four planes of state are read, four written
		unwrapq/unwrapq --channel phase1 SIZE.phases.nrrd/77/0/0/16/squares are cut, numbered, joined and put together as lists, a pass each, none of them more than a fifth
		rectify, two phases/rectify --calib rig.json --side left SIZE.left.phases.nrrd/66/0/0/8/the map of places is read for each phase; sixteen places take their samples from three rows of them
		rectify, cubic/rectify --calib rig.json --side left --interpolation cubic SIZE.left.phases.nrrd/266/0/0/8/four loads and stores of four samples a place, which are then transposed
		phasematch, three maps/phasematch --right SIZE.right.rectified.nrrd SIZE.left.rectified.nrrd/253/9/0/0/a third is the search along the row, both ways, a vector about where the last match lay, pixel by pixel where surfaces end; a quarter the map, whose samples come from memory; nine divisions
		steger/steger SIZE.laser.nrrd/0/0/0/0/few tiles are filtered; a third are the points, one by one
		steger --no-skip/steger --no-skip SIZE.laser.nrrd/154/0/0/0/eight loads for 17 operations of a pair of taps, six of them across cache lines; the points, one by one
		depthenc, luma/depthenc --depth-range file SIZE.height.nrrd/30/0/0/0/a pass counts what lies outside
		depthenc, mwd/depthenc --layout mwd --depth-range file SIZE.height.nrrd/77/0/0/0/a pass counts what lies outside; steps of sine and cosine wait for each other
		depthenc, fold/depthenc --layout fold --depth-range file SIZE.height.nrrd/38/0/0/0/a pass counts what lies outside; a third fills holes, from coarser pictures
		depthdec, luma/depthdec SIZE.luma.nrrd/0/0/0/0/a pass looks for changed levels
		depthdec, mwd/depthdec SIZE.mwd.nrrd/49/3/0/0/a fifth looks for changed levels and circles; an arctangent and two divisions that wait
		dither3 -m bayer/dither3 -m bayer SIZE.holo.nrrd/36/2/1/0/each colour by itself: shares, circle, bits and packing are stored and loaded again
		dither3 -m fs/dither3 -m fs SIZE.holo.nrrd/67/2/1/0/each pixel waits for the one before it: steps of sixteen rows, one after another
		dither3/dither3 SIZE.holo.nrrd/0/0/0/0/a search: 240 products and sums for each bit that is tried, twice, and for each that is turned; a sixth begins the sums
		undither3 --filter gauss/undither3 --filter gauss SIZE.bits.nrrd/0/0/0/0/bits become floats first
		undither3/undither3 SIZE.bits.nrrd/12300/0/0/0/361 neighbours of 34 operations, eleven loads each, are two thirds; sines of the carrier, first smoothing and mending a tenth each
	END
	echo "the chain/$(chain SIZE)/$chain_operations/4/2/0/the sum of its stages"
	! have holoenc || echo "holoenc/holoenc SIZE.height.nrrd/199/1/0/0/steps of sines and of the search for an angle wait for each other"
	have holodec || return 0
	echo "holodec/holodec SIZE.holo.nrrd/66/1/0/0/a loop for each step, whose results are stored and loaded again; a sixth is the look-up of stairs, pixel by pixel"
	echo "holodec by regions, JPEG 444/holodec SIZE.holo444.nrrd/0/0/0/0/fourteen passes of at most 15 %: runs and regions are lists and trees"
	echo "holodec by regions, JPEG 420/holodec SIZE.holo420.nrrd/0/0/0/0/the same, more runs, mixed pixels at edges"
}

# The chain's operations a pixel: gauss 186, normals 104, phasewrap 66, unwrap2f 29 (where no seam is near, which needs
# 21 more), phase2depth 10 (of which three are of doubles), median 4.
chain_operations=399
# What the pipes of arithmetic must do for it at x86-64-v4, counted in the loops by hand, columns that tiles share once:
# gauss 204 (60 of columns, 84 of rows with their shifts, 52 of two arctangents, 8 that look for holes), normals 104
# (twice its 52 products, which two of four pipes do), phasewrap 74, unwrap2f 31, phase2depth 14, median 4. Its loads
# and stores bound no stage more than that.
chain_instructions=431

build_operations() {
	gcc -std=c11 -O3 -march=native -fno-math-errno -ffp-contract=off -fopenmp -o operations "$top/scripts/bench-operations.c"
}

# chain_floors I PIXELS: case I, the chain on one thread, beside both floors: of its arithmetic, and of the pipes that
# do it. The time is the least of all rounds, by the clock or of the processor.
chain_floors() {
	build_operations
	awk -v ms="$(least ${ms[$1]} ${cpu[$1]})" -v pixels="$2" -v operations=$chain_operations \
		-v instructions=$chain_instructions -v rates="$(./operations)" 'BEGIN {
		split(rates, rate)
		arithmetic = pixels * operations / rate[1] / 1e6
		pipes = pixels * instructions / rate[1] / 1e6
		printf "one thread, best round %.3f ms: %.1f %% of its floor of arithmetic, %.3f ms (%d operations a pixel " \
			"at %.1f G/s); %.1f %% of that of pipes, %.3f ms (%d instructions a lane)\n", ms,
			100 * arithmetic / ms, arithmetic, operations, rate[1], 100 * pipes / ms, pipes, instructions }'
}

# What the tools need that are not of the chain.
make_floor_inputs() {
	local size=$1 layout

	make_inputs "$size"
	[ -e "$size.laser.nrrd" ] && return
	framecat --frames 0 "$size.images.nrrd" -o "$size.one.nrrd"
	make_stereo "$size"
	dither3 "$size.holo.nrrd" -o "$size.bits.nrrd"
	for layout in luma mwd; do
		depthenc --layout $layout --depth-range file "$size.height.nrrd" -o "$size.$layout.nrrd"
	done
	sed 's/^{/{ "laser_plane": [0.980581, 0, 0.196116, -58.8],/' "$size.json" >"$size.laser.json"
	"$bin/fringesim" -q -s "$size" --laser --calib "$size.laser.json" --scene sphere --distance 300 --noise 2 -o "$size.laser.nrrd"
}

# floor_line I PIXELS BYTES OPERATIONS DIVISIONS ROOTS OWN WHY: the floors are those of one thread. The time is the least
# of all rounds, by the clock or of the processor: while others are at work the second is what a stage takes.
floor_line() {
	awk -v label="${label[$1]}" -v ms="$(least ${ms[$1]} ${cpu[$1]})" -v pixels="$2" -v bytes="$3" -v operations="$4" \
		-v divisions="$5" -v roots="$6" -v own="$7" -v why="$8" -v copy="$one_copy" -v rates="$rates" 'BEGIN {
		split(rates, rate)
		bytes += pixels * own
		floor = bytes / copy / 1e6
		of = "bytes"
		if (pixels * operations / rate[1] / 1e6 > floor) {
			floor = pixels * operations / rate[1] / 1e6
			of = "operations"
		}
		slow = pixels * (divisions / rate[2] + roots / rate[3]) / 1e6
		if (slow > floor) {
			floor = slow
			of = "divisions"
		}
		printf "%-34s %6.1f B/px %4s op/px %8.3f ms, floor %8.3f ms of %-10s %5.1f %%  %s\n", label, bytes / pixels,
			operations ? operations : "-", ms, floor, of, 100 * floor / ms, why }'
}

part_floor() {
	local size name words operations divisions roots own why i one_copy rates

	build_operations
	for size in "${stage_sizes[@]}"; do
		make_floor_inputs "$size"
		while IFS=/ read -r name words operations divisions roots own why; do
			add "$name" in_process 1 ${words//SIZE/$size}
		done < <(floor_table)
		rates=$(./operations)
		one_copy=$(./bandwidth 1 $copy_mib | cut -d' ' -f1)
		measure
		heading "$size, one thread, best round; copy $one_copy GB/s, $(awk '{ printf \
			"%.1f G/s of + and *, %.1f of divisions, %.1f of roots", $1, $2, $3 }' <<<"$rates")"
		i=0
		while IFS=/ read -r name words operations divisions roots own why; do
			floor_line "$i" "$(pixels "$size")" "$(must_move ${words//SIZE/$size})" \
				"$operations" "$divisions" "$roots" "$own" "$why"
			i=$((i + 1))
		done < <(floor_table)
		forget
	done
}

# thread_model SIZE: no measurement of more cores than there are, but what follows from one thread's time and the bytes
# that a frame moves. Rows are shared out without rest; the copy's bandwidth stays what these cores have, or grows with
# the threads as one thread's does.
thread_model() {
	local size=$1 threads bytes single

	make_inputs "$size"
	add chain in_process 1 $(chain "$size")
	measure
	bytes=$(must_move $(chain "$size")) single=$(./bandwidth 1 $copy_mib | cut -d' ' -f1)
	heading "$size, the chain on more cores: A MODEL, of one thread's time and $bytes bytes a frame; copy $single GB/s by one thread, $(printf %.3f "$copy") by $cores"
	for threads in 1 2 4 8 16; do
		awk -v threads=$threads -v one="$(least ${ms[0]} ${cpu[0]})" -v bytes="$bytes" -v all="$copy" \
			-v single="$single" 'BEGIN {
			work = one / threads
			same = bytes / (threads == 1 ? single : all) / 1e6
			more = bytes / (single * threads) / 1e6
			low = work > same ? work : same
			high = work > more ? work : more
			printf "%2d threads, modelled %9.3f ms, %5.2f times one thread, if bandwidth grows; %9.3f ms, %5.2f times, if not\n",
				threads, high, one / high, low, one / low }'
	done
	forget
}
