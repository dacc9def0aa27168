load ../agreement

@test "agree: dither3" {
	agrees dither3 <<'CASES'
uchar r:0..255 g:0..255 b:0..255 | | dither3 -m bayer
uchar r:0..255 g:0..255 b:0..60 a:0..255 | | dither3 -m bayer --order 5 --texture 1
uchar luma:0..255 chroma_u:0..255 chroma_v:0..255 | | dither3 -m blue --pack planar
uchar r:0..40 g:0..40 b:0..255 a:0..255 | | dither3 -m small --pack planar --texture 1
float r:-20..300 g:0..255 b:0..255 a:-9..270 | | dither3 -m blue --pack rgb --texture 8
float r:0..255 g:0..40 b:0..255 a:0..255 | | dither3 -m bayer --order 1 --pack rgb --texture 1
float r:0..255 g:0..255 b:0..255 | | dither3 -m small --pack rgb
uchar r:0..255 g:0..255 b:0..255 | holo_rounding:=angle | dither3 -m bayer
uchar r:0..40 g:0..40 b:0..255 a:0..255 | holo_rounding:=angle | dither3 -m small --pack planar --texture 1
float luma:-9..300 chroma_u:120..135 chroma_v:120..135 | holo_rounding:=angle | dither3 -m blue --pack rgb
CASES
}
