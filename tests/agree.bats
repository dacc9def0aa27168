# What all shaders have in common; the stages one by one: tests/agree/NAME.bats.
load helpers

@test "agree: every stage with a shader has a test, and every test a shader" {
	for shader in "$top"/tools/*/*.comp; do
		name=$(basename "$(dirname "$shader")")
		grep -q "agrees\(_on\)\? $name " "$top/tests/agree/$name.bats" || { echo "no tests/agree/$name.bats"; return 1; }
	done
	for path in "$top"/tests/agree/*.bats; do
		compgen -G "$top/tools/$(basename "$path" .bats)/*.comp" >/dev/null || { echo "$path"; return 1; }
	done
}
