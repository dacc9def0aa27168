load helpers

@test "newtool: the skeleton builds and passes its own test, its man page passes mandoc" {
	cp -r "$top"/{Makefile,common,scripts,man,tests,samples} . 2>/dev/null
	rm -f man/*.1 tests/*.bats tests/agree/*.bats
	git init -q .
	mkdir -p tools
	scripts/newtool --root "$work" brighten
	make -s -j2 bin/brighten bin/fringepipe >log 2>&1 || { cat log; return 1; }
	FRINGEPIPE_BIN=$work/bin bats tests/brighten.bats tests/agree/brighten.bats
	mandoc -T lint -W warning man/brighten.1
}

@test "newtool: never overwrites, and takes plain names only" {
	run "$top/scripts/newtool" median
	[ "$status" -eq 1 ]
	for name in "" Two "a b" ../x 9x; do
		run "$top/scripts/newtool" --root "$work" "$name"
		[ "$status" -eq 2 ]
	done
}
