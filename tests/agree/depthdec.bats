load ../agreement

@test "agree: depthdec" {
	agrees depthdec <<'CASES'
ushort luma:0..1023 | max_value:=1023; depthcode_bits:=10; depthcode_layout:=luma; depthcode_mask:=gap; depthcode_guard:=64; depthcode_range:=-3 7 | depthdec
uchar luma:0..255 chroma_u:0..255 chroma_v:0..255 | depthcode_bits:=8; depthcode_layout:=mwd; depthcode_mask:=gap; depthcode_guard:=16; depthcode_fringes:=4; depthcode_range:=0 1 | depthdec
ushort luma:0..4095 chroma_u:0..4095 chroma_v:0..4095 mask:0..1 | max_value:=4095; depthcode_bits:=12; depthcode_layout:=mwd; depthcode_mask:=track; depthcode_fringes:=9; depthcode_range:=0 1 | depthdec
uchar luma:0..255 chroma_u:0..255 chroma_v:0..255 | depthcode_bits:=8; depthcode_layout:=fold; depthcode_mask:=gap; depthcode_guard:=16; depthcode_fringes:=7; depthcode_range:=0 1 | depthdec
float luma:0..1023 | depthcode_bits:=10; depthcode_layout:=luma; depthcode_mask:=gap; depthcode_guard:=200; depthcode_range:=0 1 | depthdec
CASES
}
