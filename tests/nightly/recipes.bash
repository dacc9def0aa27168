# What the nightly loops run: inputs that the tools make themselves, and chains over them that reach
# every tool. Loaded by tests/nightly/*; tools are found at FRINGEPIPE_BIN, and run behind the words of
# `under` (an emulator, or none).
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${FRINGEPIPE_BIN:-$top/bin}
export LC_ALL=C
read -ra under <<<"${FRINGEPIPE_UNDER:-}"

tool() {
	local name=$1
	shift
	timeout "${FRINGEPIPE_LIMIT:-120}" "${under[@]}" "$bin/$name" "$@"
}

# Chains, a comma between two stages as in fringepipe(1). All that are listed here give the same bytes
# wherever they run.
# shellcheck disable=SC2034 # files that load this one use it
recipes=(
	'fringegen -s 129x65 -p 24,27 -g half'
	'fringegen -s 129x65 -p 24,27 , phasewrap'
	'fringesim -s 129x65 -p 24,27 --projector 216x70 --noise 1 --frames 3 , phasewrap , unwrap2f'
	'phasewrap --as vector set.nrrd , gauss , unwrap2f , median , phase2depth --ref ref.nrrd , normals , shade --view 20,10'
	'phasewrap --as vector many.nrrd , gauss , unwrap2f , median , phase2depth --ref ideal , normals'
	'phasewrap gray.nrrd , unwrap2f , median , phase2depth --calib block.yml'
	'phasewrap gray.nrrd , unwrap2f , phase2depth --calib block.yml , shade'
	'phasewrap set.nrrd , framecat --channels phase1 , frameinfo --stats'
	'phasewrap set.nrrd , unwrap2f --fuse --all'
	'phasewrap --sigma --read-noise 1.5 --gain 0.05 set.nrrd , gauss , unwrap2f --fuse , median , phase2depth --ref ref.nrrd'
	'fringesim -s 129x65 -p 24,27 -n 4 --projector 216x70 --noise 1 --frames 3 , phasewrap --sigma , unwrap2f --all , phase2depth --ref ideal'
	'phasewrap set.nrrd , unwrapq --channel phase1'
	'phasewrap set.nrrd , wff --sigma 4'
	'rectify --calib pair.json --side left left.nrrd , phasewrap , gauss'
	'phasewrap right.nrrd , rectify --calib pair.json --side right --interpolation cubic'
	'unwrap2f --all left.wrapped.nrrd , rectify --calib pair.json --side left , phasematch --right right.absolute.nrrd , normals'
	'texmap --calib pair.json --camera right --image picture.nrrd left.points.nrrd , normals'
	'laser2xyz --calib rig.json --step 2 --join lines.nrrd'
	'laser2xyz --calib rig.json --step 2 lines.nrrd , mergexyz --noise 4,5 --grid 2'
	'fringesim --laser --calib rig.json -s 129x65 --scene relief --frames 3 --noise 1 --speckle 0.2 , frameinfo --stats'
	'steger --sigma 3 --threshold 2 --asymmetric many.nrrd'
	'steger --sigma 3 --threshold 2 --per-row --dark set.nrrd , frameinfo --stats'
	'phasewrap many.nrrd , unwrap2f , phase2depth --ref ideal , kalman , normals'
	'phasewrap many.nrrd , kalman --channel phase1 --sigma 0.02 --motion 0.1'
	'fringesim -s 129x65 -p 24,27 -n 7 --gamma 2.2 --noise 1 --ambient 5 , fringegamma --json'
	'phasewrap gray.nrrd , unwrap2f , phase2depth --calib block.yml , fitshape sphere --robust'
	'fitshape cylinder --json points.nrrd'
	'framecmp --to points.ply --table points.nrrd'
	'holoenc depth.nrrd , holodec'
	'holoenc depth.nrrd , dither3 -m small , undither3 --keep , holodec --keep'
	'holoenc depth.nrrd , dither3 , undither3 , holodec'
	'mesh2depth -s 140x100 points.ply , normals'
	'framecat --channels absphase --scale 0,50 abs.nrrd , frameinfo'
	'framecat --stack many.nrrd , frameinfo --stats'
)

# write_pair: pair.json, two cameras with a lens.
write_pair() {
	cat >pair.json <<-'END'
		{"K1": [[200, 0, 64], [0, 200, 32], [0, 0, 1]], "K2": [[202, 0, 63], [0, 203, 33], [0, 0, 1]],
		 "d2": [-0.1, 0.02, 0.001, 0], "R": [[0.97517033, 0, 0.22145624], [0, 1, 0], [-0.22145624, 0, 0.97517033]],
		 "T_mm": [-200, 3, 10], "image_size": [129, 65]}
	END
}

# inputs: makes the files of the chains in the folder that is current.
inputs() {
	# shellcheck disable=SC2054 # the comma is of the option
	local two=(-s 129x65 -p 24,27 --projector 216x70 -c 2)
	cp "$top/samples/block.yml" . &&
		tool fringesim "${two[@]}" --noise 1 -o set.nrrd &&
		tool fringesim "${two[@]}" --noise 1 --frames 6 -o many.nrrd &&
		tool fringepipe fringesim "${two[@]}" --scene plane --seed 2 , phasewrap , unwrap2f -o ref.nrrd &&
		tool fringepipe phasewrap set.nrrd , unwrap2f -o abs.nrrd &&
		tool fringesim -s 129x65 -p 40 -n 4 --gray half --calib block.yml --projector 1280x800 \
			--origin 250,200 --scene sphere -o gray.nrrd &&
		write_pair &&
		tool fringesim --calib pair.json --view left --distance 900 -p 24 --noise 1 -o left.nrrd &&
		tool fringesim --calib pair.json --view right --distance 900 -p 24 --noise 1 -o right.nrrd &&
		tool fringesim --calib pair.json --view left --distance 900 -p 240,270,300 -n 4 -o left.three.nrrd &&
		tool fringesim --calib pair.json --view right --distance 900 -p 240,270,300 -n 4 -o right.three.nrrd &&
		tool phasewrap --sigma left.three.nrrd -o left.wrapped.nrrd &&
		tool fringesim --calib pair.json --view right --distance 900 --paint waves --picture -o picture.nrrd &&
		tool fringesim --calib pair.json --view left --distance 900 --paint waves --picture --truth left.points.nrrd -o null: &&
		tool fringepipe phasewrap --sigma right.three.nrrd , unwrap2f --all , rectify --calib pair.json --side right \
			-o right.absolute.nrrd &&
		tool fringepipe phasewrap gray.nrrd , unwrap2f , phase2depth --calib block.yml -o points.nrrd &&
		tool framecat points.nrrd -o points.ply &&
		tool mesh2depth -s 160x120 points.ply -o depth.nrrd &&
		printf '{"camera_K": [[200,0,64],[0,200,32],[0,0,1]],\n"laser_plane": [0.8,0,0.6,-120], "scan_direction": [1,0,0]}' \
			>rig.json &&
		printf 'u,v\n3,4\n11,2\n12.5,9\n' >lines.csv &&
		tool framecat lines.csv -o lines.nrrd
}

# as_chain RECIPE [OPTION ...]: one process.
as_chain() {
	local words
	read -ra words <<<"$1"
	tool fringepipe "${@:2}" "${words[@]}"
}

# as_pipe RECIPE [OPTION ...]: a process for each stage, every one with the options.
as_pipe() {
	local recipe=$1 words
	shift
	read -ra words <<<"${recipe%% , *}"
	if [[ $recipe == *" , "* ]]; then
		tool "${words[0]}" "$@" "${words[@]:1}" | as_pipe "${recipe#* , }" "$@"
	else
		tool "${words[0]}" "$@" "${words[@]:1}"
	fi
}
