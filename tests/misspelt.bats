load helpers

# A word that is misspelt is asked after; one that is like nothing is not.

@test "misspelt: words of options" {
	fringesim -q -s 64x48 -p 12 -n 4 -o set.nrrd
	fails 2 "--order: must be made of phase gray flat by-step pairs lsb-first, not 'lsb-frist' (is it lsb-first?)" \
		phasewrap --order lsb-frist set.nrrd
	fails 2 "not 'setp' (is it step?)" phasewrap --order gray,phase -k setp set.nrrd
	fails 2 "not 'grey' (is it gray?)" phasewrap --order flat,grey set.nrrd
	fails 2 "--as: must be one of" framecat --as ushrot set.nrrd
	fails 2 "not 'ushrot' (is it ushort?)" framecat --as ushrot set.nrrd
	fails 2 "not 'dith' (is it dither?)" fringegen -k dith -o p/
	fails 2 "not 'xyzzy'" fringegen -k xyzzy -o p/
	[[ $stderr != *"is it"* ]]
	fails 2 "not ''" fringegen -k "" -o p/
	[[ $stderr != *"is it"* ]]
	long=$(printf 'step%.0s' {1..200})
	fails 2 "must be one of" phasewrap -k "$long" set.nrrd
}

@test "misspelt: stages of a chain" {
	fringesim -q -s 64x48 -p 12 -n 4 -o set.nrrd
	fails 2 "fringepipe: phasewarp: no such stage (is it phasewrap?), see fringepipe --help" fringepipe phasewarp set.nrrd , gauss
	fails 2 "unwarp2f: no such stage (is it unwrap2f?), see" fringepipe phasewrap set.nrrd , unwarp2f
	fails 2 "phase: no such stage (is it phase2depth or phasematch or phasewrap?), see" fringepipe phase set.nrrd
	fails 2 "Gauss: no such stage (is it gauss?), see" fringepipe phasewrap set.nrrd , Gauss
	fails 2 "blur: no such stage, see fringepipe --help" fringepipe blur set.nrrd
	fails 2 "median,: no such stage: put a blank before the comma" fringepipe median, gauss
	fails 2 ",gauss: blank behind the comma" fringepipe phasewrap set.nrrd ,gauss
	fails 2 "gauss: is a stage and no file: put a comma before it" fringepipe phasewrap set.nrrd gauss , median
	cp set.nrrd gauss
	silent fringepipe framecat set.nrrd gauss -o both.nrrd
}

@test "misspelt: channels that no file has named: the message says how to" {
	py '
np.save("points.npy", np.arange(3 * 35).reshape(5, 7, 3).astype("f4"))
np.save("phase.npy", np.arange(35).reshape(5, 7).astype("f4"))'
	hint="(framecat --set 'channels=NAME ...' names them)"
	fails 1 "points.ply: a mesh needs channels x y z, or one of z, depth, height, not image1 image2 image3 $hint" \
		framecat points.npy -o points.ply
	silent framecat --set 'channels=x y z' points.npy -o points.ply
	fails 1 "input has no channel absphase, only: image $hint" phase2depth --ref ideal phase.npy
	fails 1 "input has no channel x, only: image1 image2 image3 $hint" normals points.npy
	fails 1 "input has no channel phase or phase1, only: image $hint" unwrap2f phase.npy
	fails 1 "input has no phase to filter, only: image $hint" gauss phase.npy
	fails 1 "input has no channel phase, only: image $hint" framecat -c phase phase.npy
	framecat --points points.npy -o points.csv
	fails 1 "cloud.ply: a cloud of points needs channels x y z, not image1 image2 image3 column row" framecat points.csv -o cloud.ply
	[[ $stderr != *"names them"* ]]
	framecat --set 'channels=a b c' points.npy -o abc.nrrd
	fails 1 "input has no channel z, only: a b c" framecat -c z abc.nrrd
	[[ $stderr != *"names them"* ]]
	fringesim -q -s 64x48 -p 12 -n 4 -o set.nrrd
	framecat --stack set.nrrd -o set.nrrd
	fails 1 "a mesh needs channels x y z, or one of z, depth, height, not image1" framecat set.nrrd -o set.ply
	[[ $stderr != *"names them"* ]]
	fails 1 "a.pfm: PFM holds 1 or 3 channels, not 2 (use framecat --channels, or --split for a file each)" \
		framecat -c a,b abc.nrrd -o a.pfm
}

@test "misspelt: the letters of options are those that are listed: a new one must mean the same in every tool" {
	awk '{ for (i = 3; i <= NF; i++) print $1, $2, $i }' "$top/tests/letters.txt" | sort >table
	# stages of the tests have no page
	for tool in $(fringepipe --words | grep -vE '^(-|test)' | cut -d' ' -f1); do
		"$tool" --words | awk -v tool="$tool" '/^-[^-]$/ { letter = $0; getline; print letter, $0, tool }'
	done | grep -vE ' --(output|force|threads|device|verbose|quiet|help|version) ' | sort >words
	diff table words
}
