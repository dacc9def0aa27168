load ../agreement

@test "agree: skeleton" {
	agrees skeleton <<'CASES'
float image:-10..10 | | skeleton
float image:-10..10 texture:0..1 | gain:=1.7 | skeleton
float image:-10..10 texture:0..1 | | skeleton --gain 0.3
uchar image:0..255 | | skeleton --gain 1000
CASES
}
