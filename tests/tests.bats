# The tests themselves: what none of them may hold, as it could not fail.
load helpers

@test "tests: no statement whose failure bash ignores" {
	"$python" "$top/tests/ignored.py" "$top"/tests/*.bats "$top"/tests/agree/*.bats "$top"/tests/*.bash
}

@test "tests: ignored.py finds each such statement, and takes none for one" {
	cat >bad.bats <<-'END'
		[ a ] && [ b ]
		x=1; ! false
		for i in 1; do ! false; done
		false || true
		FRINGEPIPE_CPU=v9 median || continue
		local a=$(false)
		[ -z "$(false)" ]
		echo 'it is' "not '" && false
		cat <<<"$(echo ')')" &&
			false
	END
	run -1 "$python" "$top/tests/ignored.py" bad.bats
	echo "$output"
	[ "$(grep -c '^bad.bats:' <<<"$output")" -eq 9 ]
	for number in 1 2 3 4 5 6 7 8 9; do
		grep -q "^bad.bats:$number: " <<<"$output"
	done
	cat >good.bats <<-'END'
		if [ a ] && ! [ b ]; then :; fi
		[[ a && ! b ]]
		x=$(cd / && pwd)
		echo 'a && b' "a && b" # a && b
		run ! false
		[ -n "$x" ] || continue
		py 'a && b
		! a'
		cat <<X
		a && b
		X
		echo \
			"a" || { echo failed; return 1; }
	END
	silent "$python" "$top/tests/ignored.py" good.bats
}
