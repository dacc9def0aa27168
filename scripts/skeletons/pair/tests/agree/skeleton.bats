load ../agreement

@test "agree: skeleton" {
	agrees skeleton <<'CASES'
float image:-10..10 | | skeleton --right second.nrrd | float image:-10..10
uchar image:0..255 | | skeleton --right second.nrrd | float image:0..255
ushort texture:0..9 image:0..65535 | | skeleton --right second.nrrd | uchar image:0..255
float image:0..255 texture:0..1 | | skeleton --right second.nrrd | ushort image:0..65535
CASES
}
