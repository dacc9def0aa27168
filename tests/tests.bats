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
		median | grep -x -Eq 'a b'
	END
	run -1 "$python" "$top/tests/ignored.py" bad.bats
	echo "$output"
	[ "$(grep -c '^bad.bats:' <<<"$output")" -eq 10 ]
	for number in 1 2 3 4 5 6 7 8 9 11; do
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

# skipped REASON: the exit status of a run of two tests, of which one is skipped for that reason.
skipped() {
	printf '@test "one" {\n\ttrue\n}\n@test "two" {\n\tskip "%s"\n}\n' "$1" >two.bats
	run "$top/tests/run" "$work/two.bats"
	echo "$output"
	return "$status"
}

@test "tests: a skip is a failure, except for a GPU or captures while they are missing" {
	mkdir bin captures
	export FRINGEPIPE_BIN=$work/bin
	printf '#!/bin/sh\necho "cpu 2 threads"\n' >bin/fringepipe
	chmod +x bin/fringepipe
	skipped "no GPU: none here"
	[ "${lines[-1]}" = "1 passed, 0 failed, 1 skipped" ]
	skipped "no captures: $work/none"
	for reason in "no captures: $work/captures" "no teem-unu" "sanitized tools: no" "no GPU" ""; do
		run -1 skipped "$reason"
		[ "${lines[-1]}" = "1 passed, 1 failed, 1 skipped" ]
		grep -Fx "not ok - skipped without need: $reason" <<<"$output"
	done
	if /usr/bin/python3 -c 'import cv2' 2>/dev/null; then
		run -1 skipped "no OpenCV: it is not here"
	else
		skipped "no OpenCV: it is not here"
	fi
	run skipped "not root: only another user can"
	[ "$status" -eq $((EUID == 0)) ]
	echo 'echo "gpu:0  discrete, 9 GB: some device"' >>bin/fringepipe
	run -1 skipped "no GPU: none here"
}

@test "tests: what is skipped with sanitized tools says so in the words that tests/run takes" {
	grep -hE 'sanitize[d]; then skip|skip "sanitize[d]' "$top"/tests/*.bats "$top"/tests/agree/*.bats "$top"/tests/*.bash >skips
	[ "$(wc -l <skips)" -ge 5 ]
	run ! grep -v 'skip "sanitized tools: ' skips
}

@test "tests: captures that are there must be whole" {
	mkdir captures
	FRINGEPIPE_DATA=$work/none run ! have_data meshes
	FRINGEPIPE_DATA=$work/captures run -1 have_data meshes
	[ "$output" = "$work/captures has no folder meshes" ]
	printf 'load %s\n@test "one" {\n\tif have_data meshes; then true; fi\n}\n' "$top/tests/helpers" >one.bats
	FRINGEPIPE_DATA=$work/captures run -1 "$top/tests/run" "$work/one.bats"
	FRINGEPIPE_DATA=$work/none "$top/tests/run" "$work/one.bats"
}

@test "tests: what scripts/setup installs for a build and for the tests is all that it installs" {
	sort <("$top/scripts/setup" --for build --list) <("$top/scripts/setup" --for tests --list) >parts
	"$top/scripts/setup" --list | sort >all
	diff parts all
	[ "$(uniq parts | wc -l)" -eq "$(wc -l <parts)" ]
	grep -qx bats parts
	run ! grep -x bats <("$top/scripts/setup" --for build --list)
	grep -q 'setup --for build' "$top/scripts/demo"
	run -2 "$top/scripts/setup" --for all
}

@test "tests: undefined behaviour that a unit test with sanitizers reports is a failure" {
	unset UBSAN_OPTIONS
	cat >over.c <<-'END'
		#include <limits.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			(void)argv;
			printf("ok 1 - %d\n", INT_MAX - 1 + argc - ADD);
			return 0;
		}
	END
	gcc -fsanitize=undefined -DADD=0 over.c -o within
	gcc -fsanitize=undefined -DADD=-1 over.c -o beyond
	run -0 "$top/tests/run" "$work/within"
	run -1 "$top/tests/run" "$work/beyond"
	echo "$output"
	has "signed integer overflow" <<<"$output"
}

@test "tests: a test whose output is lost has not passed" {
	# shellcheck disable=SC2016	# tests/run exports it
	printf '#!/bin/sh\nrm -r "$results"\necho ok 1 - one\n' >lost
	chmod +x lost
	run -1 "$top/tests/run" "$work/lost"
	has "FAILED $work/lost: what it printed is lost" <<<"$output"
	run ! has "^passed" <<<"$output"
}
