load ../agreement

@test "agree: normals" {
	agrees normals <<'CASES'
float x:0..100 y:0..100 z:0..100 | | normals
float texture:0..1 z:5..6 y:0..100 x:0..100 | z_axis:=towards | normals
float depth:0..10 | | normals --pixel 2
float depth:0..0.1 texture:0..1 | z_axis:=towards | normals --pixel 0.02,0.03
CASES
}
