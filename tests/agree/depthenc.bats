load ../agreement

@test "agree: depthenc" {
	agrees depthenc <<'CASES'
float depth:-3..3 | z_axis:=towards | depthenc --depth-range -3,3
float other:0..1 depth:-3..3 | depth_range:=-3 3 | depthenc --bits 12
float depth:-3..3 | | depthenc --depth-range -3,3 --bits 8
float depth:-3..3 | | depthenc --depth-range -3,3 --layout mwd
float depth:0..1 | | depthenc --depth-range 0,1 --layout mwd --bits 10 --fringes 11
CASES
}
