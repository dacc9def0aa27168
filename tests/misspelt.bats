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
	fails 2 "phase: no such stage (is it phase2depth or phasewrap?), see" fringepipe phase set.nrrd
	fails 2 "Gauss: no such stage (is it gauss?), see" fringepipe phasewrap set.nrrd , Gauss
	fails 2 "blur: no such stage, see fringepipe --help" fringepipe blur set.nrrd
	fails 2 "median,: no such stage: put a blank before the comma" fringepipe median, gauss
}
