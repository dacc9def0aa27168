# What the compiler and the linker add against damage by hostile files is read off the programs.
load helpers

@test "hardened: programs are position-independent, their tables read-only, their stack not executable" {
	for tool in fringepipe framecat; do
		program=$(command -v "$tool")
		readelf -hW "$program" | grep -E 'Type: +DYN'
		readelf -dW "$program" | grep -E 'FLAGS_1.*NOW.*PIE'
		readelf -lW "$program" | grep GNU_RELRO
		readelf -lW "$program" | grep -E 'GNU_STACK.* RW '
	done
}

@test "hardened: programs guard their stack and check copies of known size" {
	if sanitized; then skip "sanitized tools: they check by themselves"; fi
	for tool in fringepipe framecat; do
		symbols=$(nm -D "$(command -v "$tool")")
		for function in __stack_chk_fail __memcpy_chk __snprintf_chk; do
			grep -w "$function" <<<"$symbols"
		done
	done
}
