load ../agreement

@test "agree: shade" {
	agrees shade <<'CASES'
float depth:0..10 | | shade
float depth:0..10 texture:0..1 | z_axis:=towards | shade --jump 3 -c texture -b 200
float x:0..100 y:0..100 z:0..100 | | shade -c depth
float x:0..1 y:0..1 z:0..1 nx:-1..1 ny:-1..1 nz:-1..1 | z_axis:=towards | shade -c depth -m viridis --range 0.2,0.7
float nx:-1..1 ny:-1..1 nz:-1..0 depth:0..1 texture:-9..300 | | shade -c texture --light 20,10 --shininess 5
CASES
}

@test "agree: shade where columns and rows lie differently far apart" {
	frames "float depth:0..1" "" | holoenc -P 60 | holodec --decode nearest --spacing 0.5,0.25 -o in.nrrd
	grep -a '^spacings: 0.5 0.25' in.nrrd
	agrees_on shade in.nrrd shade
}
