load ../agreement

@test "agree: phasematch" {
	agrees phasematch <<'CASES'
float image:-10..10 | | phasematch --right second.nrrd | float image:-10..10
uchar image:0..255 | | phasematch --right second.nrrd | float image:0..255
ushort texture:0..9 image:0..65535 | | phasematch --right second.nrrd | uchar image:0..255
float image:0..255 texture:0..1 | | phasematch --right second.nrrd | ushort image:0..65535
CASES
}
