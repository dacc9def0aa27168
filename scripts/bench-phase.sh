# The part `phase` of scripts/bench: from fringes to phase, single works beside what NumPy, OpenCV and scikit-image
# need for the same on the same input, in turns. Sourced by it.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154	# its variables and words

# make_phase_input SIZE NAME OPTION ...: captures SIZE.NAME.nrrd of a relief over a plate of 20 fringes.
make_phase_input() {
	local size=$1 name=$2 slope

	slope=$(awk -v size="$size" 'BEGIN { print 2 * 3.14159265 * 20 / (size + 0) }')
	simulate "$size" -p 60 --projector 3000x3000 --ref-plane "20,$slope,0" -c 5 "${@:3}" -o "$size.$name.nrrd"
}

# Maps of one wrapped phase: SIZE.clean, SIZE.noise6 (0.6 rad), SIZE.noise9 and SIZE.random.
make_phase_maps() {
	local name noise

	while read -r name noise; do
		/usr/bin/python3 "$top/scripts/bench-peers/peers.py" map "$1" "$noise" "$1.$name.nrrd"
	done <<-END
		clean 0
		noise6 0.6
		noise9 0.9
		random inf
	END
}

# unwrapq beside unwrap_phase on the real maps of 8 bits.
real_phase_maps() {
	local name size i ours partner=() moved=() sizes=()

	heading "real maps, $cores cores: unwrapq beside scikit-image, which uses one of them"
	while read -r name size; do
		framecat "$data/fringeproc_wrapped/${name}_wrapped.png" -o "$name.nrrd"
		/usr/bin/python3 "$top/scripts/bench-peers/peers.py" turns "$name.nrrd" 256 "real.$name.nrrd"
		add_ours "unwrapq, $name" unwrapq "real.$name.nrrd"
		add_peer "scikit-image unwrap_phase" skimage_phase "real.$name.nrrd"
		sizes+=("$size" "$size")
	done <<-END
		copper_foil_holography 800x800
		tympanic_membrane_1085Hz 800x800
		espi4 512x512
		insar_phase 512x512
		plume_11 1280x1024
		plume_13 1280x1024
	END
	measure
	for i in "${!case[@]}"; do
		if [ -z "${partner[i]}" ]; then
			line "$i" "$(pixels "${sizes[i]}")" "${moved[i]}"
		else
			ratio_line "$i" 10
		fi
	done
	forget
}

# add_ours LABEL STAGE-WORD ...; then add_peer LABEL WORK FILE for each that does the same.
add_ours() {
	ours=${#case[@]}
	add "$1" in_process "$cores" "${@:2}"
	partner[ours]=''
	moved[ours]=$(must_move "${@:2}")
}

add_peer() {
	partner[${#case[@]}]=$ours
	add "  $1" peer "$2" "$3"
}

# What a peer takes over what ours takes, by the clock and in time of all cores.
ratio_line() {
	local own=${partner[$1]}

	awk -v label="${label[$1]}" -v theirs="$(middle ${ms[$1]})" -v ours="$(middle ${ms[$own]})" \
		-v least="$(least ${ms[$1]})" -v ours_least="$(least ${ms[$own]})" \
		-v cpu="$(middle ${cpu[$1]})" -v ours_cpu="$(middle ${cpu[$own]})" -v floor="$2" 'BEGIN {
		printf "%-38s %9.3f ms (least %8.3f, cores\047 %8.3f), of ours %.1f times (least %.1f, cores\047 %.1f)", \
			label, theirs, least, cpu, theirs / ours, least / ours_least, cpu / ours_cpu
		if (floor)
			printf ", floor %g: %s", floor, (theirs >= floor * ours) ? "met" : "missed"
		print "" }'
}

part_phase() {
	local size n i ours partner=() moved=()

	install_peers
	for size in "${stage_sizes[@]}"; do
		heading "$size, from fringes to phase, $cores cores: times of ours and of peers, which take the same input"
		for n in 3 4 6 12; do
			make_phase_input "$size" "steps$n" -n "$n" --noise 1
			add_ours "phasewrap, $n steps" phasewrap "$size.steps$n.nrrd"
			add_peer "NumPy" wrap_steps "$size.steps$n.nrrd"
		done
		add_peer "OpenCV SinusoidalPattern, 3 steps" sinusoidal "$size.steps3.nrrd"
		make_inputs "$size"
		add_ours "gauss 11, two phases" gauss "$size.phases.nrrd"
		add_peer "NumPy and OpenCV GaussianBlur" blur_phases "$size.phases.nrrd"
		add_ours "unwrap2f, two periods" unwrap2f "$size.smooth.nrrd"
		add_peer "NumPy" unwrap_two "$size.smooth.nrrd"
		framecat --frames 0 "$size.steps3.nrrd" -o "$size.one.nrrd"
		add_ours "phasewrap -k fourier" phasewrap -k fourier --min-amplitude 1 "$size.one.nrrd"
		add_peer "SciPy, floats, the same results" fourier_alike "$size.one.nrrd"
		add_peer "NumPy rfft2, ifft2, a period given" fourier "$size.one.nrrd"
		if have wff; then
			add_ours "wff, two phases" wff "$size.phases.nrrd"
			add_peer "SciPy, the same windows" wff_phases "$size.phases.nrrd"
		fi
		make_phase_maps "$size"
		for n in clean noise6 noise9 random; do
			add_ours "unwrapq, $n" unwrapq "$size.$n.nrrd"
			add_peer "scikit-image unwrap_phase" skimage_phase "$size.$n.nrrd"
			# with noise OpenCV's takes minutes
			[ "$n" != clean ] || add_peer "OpenCV HistogramPhaseUnwrapping" histogram_phase "$size.$n.nrrd"
		done
		measure
		for i in "${!case[@]}"; do
			if [ -z "${partner[i]}" ]; then
				line "$i" "$(pixels "$size")" "${moved[i]}"
			elif [[ ${case[i]} == "peer skimage_phase"* ]]; then
				ratio_line "$i" 10
			else
				ratio_line "$i" 0
			fi
		done
		forget
	done
	[ ! -d "$data/fringeproc_wrapped" ] || real_phase_maps
}
