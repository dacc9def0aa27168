load helpers

# `a | b` gives the same bytes as `fringepipe a , b`, for all neighbours of the toolchain; and one thread
# the same as two and seven.

same() {
	local words=("$@") a=() b=() at=0
	while [ "${words[at]}" != , ]; do at=$((at + 1)); done
	a=("${words[@]:0:at}")
	b=("${words[@]:at+1}")
	"${a[@]}" | "${b[@]}" >pipe.nrrd
	for threads in 1 2 7; do
		fringepipe -j $threads "$@" >chain.nrrd
		cmp pipe.nrrd chain.nrrd || { echo "differ: $* (-j $threads)"; return 1; }
	done
	[ -s pipe.nrrd ]
}

@test "pairs: two frequencies and a reference plane" {
	fringesim -s 129x65 -p 24,27 --projector 216x70 --noise 1 -c 2 --frames 2 -o set.nrrd
	fringesim -s 129x65 -p 24,27 --projector 216x70 --noise 1 -c 2 --scene plane --seed 2 |
		phasewrap | unwrap2f -o ref.nrrd
	same fringesim -s 129x65 -p 24,27 --projector 216x70 --frames 2 , phasewrap
	same phasewrap set.nrrd , gauss
	same phasewrap --as vector set.nrrd , gauss
	same phasewrap set.nrrd , unwrap2f
	phasewrap --as vector set.nrrd -o vector.nrrd
	same gauss vector.nrrd , unwrap2f
	gauss vector.nrrd -o phase.nrrd
	same unwrap2f phase.nrrd , median
	unwrap2f phase.nrrd -o abs.nrrd
	same median abs.nrrd , phase2depth --ref ref.nrrd
	same unwrap2f phase.nrrd , phase2depth --ref ref.nrrd
	phase2depth --ref ref.nrrd abs.nrrd -o depth.nrrd
	same phase2depth --ref ref.nrrd abs.nrrd , normals
	same normals depth.nrrd , shade --view 20,10
	same phase2depth --ref ref.nrrd abs.nrrd , shade -c depth
	same median abs.nrrd , framecat --channels absphase --scale 0,50
}

@test "pairs: Gray code and a calibration" {
	cp "$top"/samples/block.yml .
	fringesim -s 129x65 -p 40 -n 4 --gray half --calib block.yml --projector 1280x800 --origin 250,200 \
		--scene sphere -o set.nrrd
	same phasewrap set.nrrd , unwrap2f
	phasewrap set.nrrd | unwrap2f -o abs.nrrd
	same median abs.nrrd , phase2depth --calib block.yml
	same phase2depth --calib block.yml abs.nrrd , normals
	same phase2depth --calib block.yml abs.nrrd , shade
}

@test "pairs: a whole chain, every level of instructions and every band height alike" {
	fringesim -s 127x61 -p 24,27 --projector 216x70 --noise 2 -c 2 -o set.nrrd
	fringesim -s 127x61 -p 24,27 --projector 216x70 -c 2 --scene plane | phasewrap | unwrap2f -o ref.nrrd
	chain=(phasewrap --as vector set.nrrd , gauss , unwrap2f , median , phase2depth --ref ref.nrrd , normals)
	fringepipe "${chain[@]}" >want.nrrd
	levels=$(cpu_levels)
	for level in $levels; do
		FRINGEPIPE_CPU=$level fringepipe "${chain[@]}" >got.nrrd
		cmp want.nrrd got.nrrd
	done
	for band in 1 2 3 7 100; do
		FRINGEPIPE_BAND=$band fringepipe -j 2 "${chain[@]}" >got.nrrd
		cmp want.nrrd got.nrrd
	done
}

@test "pairs: a whole chain, one column, rows of whole pages and very wide images" {
	for size in 1x70 70x1 1024x70 4096x40 40001x37; do
		fringesim -q -s $size -p 24,27 --projector 216x70 --noise 2 -c 2 -o set.nrrd
		phasewrap -q --as vector set.nrrd | gauss -q | unwrap2f -q | median -q | phase2depth -q --ref ideal | normals -q >want.nrrd
		[ "$(frameinfo -k channels want.nrrd)" = "depth modulation texture nx ny nz" ]
		for words in "-j 1" "-j 3"; do
			for band in "" 3; do
				FRINGEPIPE_BAND=$band fringepipe -q $words phasewrap --as vector set.nrrd , gauss , unwrap2f , median , \
					phase2depth --ref ideal , normals >got.nrrd
				cmp want.nrrd got.nrrd || { echo "differ: $size $words, band '$band'"; return 1; }
			done
		done
	done
}

@test "pairs: patterns made, and what looks at the result: text, plots, comparisons" {
	same fringegen -s 129x65 -p 24,27 , phasewrap
	same fringegen -s 129x65 -p 24 -g half , phasewrap
	fringegen -s 129x65 -p 24,27 -o set.nrrd
	same phasewrap set.nrrd , frameinfo --stats
	same phasewrap set.nrrd , framecat --channels phase1
	phasewrap set.nrrd -o phase.nrrd
	for threads in 1 2 7; do
		phasewrap -j $threads set.nrrd | frameplot -j $threads -c phase1 -o pipe.svg
		fringepipe -j $threads phasewrap set.nrrd , frameplot -c phase1 -o chain.svg
		cmp pipe.svg chain.svg
		phasewrap -j $threads set.nrrd | framecmp -j $threads --meta - phase.nrrd
		phasewrap set.nrrd | framecmp -j $threads --table --max 0 - phase.nrrd >table.$threads
		cmp table.1 table.$threads
	done
	gauss phase.nrrd -o other.nrrd
	run -1 bash -o pipefail -c 'phasewrap set.nrrd | framecmp - other.nrrd'
	fails 2 "framecmp: takes its input from the stage before, not from 'phase.nrrd'" \
		fringepipe phasewrap set.nrrd , framecmp phase.nrrd
}
