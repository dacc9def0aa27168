# scripts/newtool: a tool of each kind is built in a copy of the tree, without the other tools, and passes the
# tests and rules that it comes with.
load helpers

setup_file() {
	local top tree=$BATS_FILE_TMPDIR kind words=()
	top=$(cd "$(dirname "$BATS_TEST_FILENAME")/.." && pwd)
	# what is compiled already stays so: the copy keeps time stamps and compiler
	mkdir -p "$tree"/{tests/agree,build,samples}
	cp -a "$top"/{Makefile,common,scripts} "$tree"
	cp -a "$top"/samples/{block.yml,portal.json,rig.json,recipe.mk} "$tree"/samples
	cp -a "$top"/tests/{examples.bats,helpers.bash,agreement.bash,frames.py,ignored.py} "$tree"/tests
	if [ -e "$top/build/flags.list" ]; then
		cp -a "$top"/build/{common,libfringepipe.a,*.list} "$tree"/build
		words=("CC=$(sed 's/ -Icommon.*//' "$top/build/flags.list")")
	fi
	for kind in map flow pair; do
		"$tree"/scripts/newtool --kind $kind new$kind >"$tree/$kind.out"
	done
	"$tree"/scripts/newtool newlibrary >"$tree/default.out"
	echo 'PACKAGES_newlibrary := libnowhere' >"$tree/tools/newlibrary/newlibrary.mk"
	echo 'DEBIAN_newlibrary := libnowhere-dev' >>"$tree/tools/newlibrary/newlibrary.mk"
	printf '%s\n' "${words[@]}" >"$tree/words"
	make -C "$tree" -s -j2 "${words[@]}" all >"$tree/make.out" 2>&1 || echo failed >>"$tree/make.out"
}

setup() {
	tree=$BATS_FILE_TMPDIR
	export FRINGEPIPE_BIN=$tree/bin
	PATH=$tree/bin:$PATH
	work=$(mktemp -d)
	cd "$work" || exit 1
}

@test "newtool: three kinds are built without a warning; one whose library is absent is left out" {
	cat "$tree/make.out"
	[ "$(grep -vE '^without (GPU|ISA-L): ' "$tree/make.out")" = \
		"left out: newlibrary needs libnowhere (package libnowhere-dev)" ]
	[ "$(ls "$tree/bin")" = "$(printf '%s\n' fringepipe newflow newmap newpair)" ]
}

@test "newtool: make names ISA-L where its header is missing, which is no error" {
	if [ "$(uname -m)" != x86_64 ] || [ ! -d /usr/include/isa-l ]; then return; fi
	if [ "$EUID" -ne 0 ] || ! unshare --mount true; then skip "not root: no file system can be mounted"; fi
	named="^without ISA-L: .*[(]package libisal-dev[)]$"
	run ! grep "$named" "$tree/make.out"
	mkdir none
	mapfile -t words <"$tree/words"
	# shellcheck disable=SC2016	# the inner shell expands them
	unshare --mount bash -c 'mount --bind none /usr/include/isa-l && exec make -C "$0" -s "$@" all' "$tree" "${words[@]}" >out 2>&1
	grep "$named" out
}

@test "newtool: a new commit links nothing anew; what is linked afterwards names it" {
	mapfile -t words <"$tree/words"
	cp -a "$tree"/{Makefile,common,scripts,tools,build,bin} .
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s "${words[@]}" COMMIT=1234abc all >made
	run ! has 1234abc < <(bin/newmap --version)
	[ ! bin/newmap -nt made ]
	touch tools/newmap/newmap.c
	make -s "${words[@]}" COMMIT=1234abc bin/newmap
	[[ $(bin/newmap --version) == "newmap (fringepipe) "*" (commit 1234abc)" ]]
}

@test "newtool: a tool's unit test takes the tool's files, by its name alone" {
	mapfile -t words <"$tree/words"
	cp -a "$tree"/{Makefile,common,scripts,build} .
	unset MAKEFLAGS MFLAGS MAKELEVEL
	mkdir -p tools/newunit tests/unit
	echo 'int twice(int a) { return 2 * a; }' >tools/newunit/twice.c
	printf '#include <stdio.h>\nint twice(int);\nint main(void) { return printf("%%d\\n", twice(21)) < 0; }\n' >tests/unit/test_newunit_twice.c
	make -s "${words[@]}" unit
	[ "$(build/tests/test_newunit_twice)" = 42 ]
}

@test "newtool: what it wrote is what it says, and what else there is to do" {
	for kind in map flow pair default; do
		name=new$kind
		[ $kind != default ] || name=newlibrary
		[ "$(sed -n 's/^wrote //p' "$tree/$kind.out" | grep -c .)" -ge 3 ]
		while read -r file; do
			[ -s "$tree/$file" ]
		done < <(sed -n 's/^wrote //p' "$tree/$kind.out")
		for word in "tests/$name.bats" "tests/agree/$name.bats" "man/$name.1" .example "tools/$name/$name.mk" \
			"PACKAGES_$name" "DEBIAN_$name" "PROGRAM_$name := own" .no_passes; do
			grep -qF -- "$word" "$tree/$kind.out" || { echo "$word"; cat "$tree/$kind.out"; return 1; }
		done
	done
	run -1 grep -rniE 'skeleton|Mdocdate' "$tree"/tools "$tree"/man "$tree"/tests/*new* "$tree"/tests/agree
}

@test "newtool: they pass their own tests, on the device too" {
	printf '%s\n' "$tree"/tests/new{map,flow,pair}.bats "$tree"/tests/agree/new{map,pair}.bats |
		xargs -P 2 -n 1 bats
	[ ! -e "$tree/tests/agree/newflow.bats" ]
}

@test "newtool: they run inside fringepipe as in a pipe" {
	py 'write_frames("in.nrrd", [Frame(np.full((5, 9), k, "u1")) for k in (1, 2, 4)])'
	newmap -g 10 in.nrrd | newpair --right in.nrrd | newflow -o pipe.nrrd
	fringepipe newmap -g 10 in.nrrd , newpair --right in.nrrd , newflow -o chain.nrrd
	cmp pipe.nrrd chain.nrrd
	py '
out = read_frame("chain.nrrd")
expect(np.abs(out["difference"] - 9 * 7 / 3) < 1e-5, out["difference"])'
}

@test "newtool: they keep the rules of the tree" {
	# beside nothing else: a folder without files is a room whose rules hold
	mkdir common tests man
	cp -r "$tree"/{Makefile,scripts,tools,bin} .
	cp -r "$tree"/tests/*new* tests
	cp "$tree"/man/* man
	(cd "$tree" && find common -type d) | xargs mkdir -p
	git init -q .
	rm -r tools/newlibrary man/newlibrary.1
	run scripts/check-layout
	echo "$output"
	[ "$status" -eq 0 ]
	silent mandoc -T lint -W warning man/new{map,flow,pair}.1
	silent "$python" "$tree/tests/ignored.py" "$tree"/tests/new*.bats "$tree"/tests/agree/new*.bats
}

@test "newtool: the arithmetic of their shaders is not contracted" {
	"$tree/scripts/check-spirv"
}

@test "newtool: the examples of their man pages run as they stand" {
	mkdir man
	cp "$tree"/man/new{map,flow,pair}.1 man
	cp -r "$tree"/{samples,scripts,tests} .
	run bats -f "every man page's" tests/examples.bats
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "1..1" ]
}

@test "newtool: a line stays below 100 columns where the name is long" {
	for kind in map flow pair; do
		rm -rf long
		"$top/scripts/newtool" --kind $kind --root long a2345678901234567890
		find long -name '*.[ch]' | while read -r file; do
			expand -t8 "$file"
		done >all
		[ -s all ]
		run ! grep -E '.{101}' all
	done
}

@test "newtool: never overwrites, and takes known kinds and plain names only" {
	for name in median pairs frame testpair; do
		fails 1 "$name" "$top/scripts/newtool" $name
		[[ $stderr == *" exists" ]]
	done
	for name in "" Two "a b" ../x 9x fringepipe a23456789012345678901; do
		run "$top/scripts/newtool" --root "$work/new" "$name"
		[ "$status" -eq 2 ]
		[[ $output == *"not '$name'" ]]
	done
	for kind in "" maps "map flow"; do
		run "$top/scripts/newtool" --root "$work/new" --kind "$kind" fine
		[ "$status" -eq 2 ]
		[[ $output == *"there is no kind '$kind'" ]]
	done
	for words in "" "one two" "--kind" "--kind map" "--kinds map fine"; do
		# shellcheck disable=SC2086
		run "$top/scripts/newtool" $words
		[ "$status" -eq 2 ]
		[[ $output == "usage: scripts/newtool "* ]]
	done
	[ ! -e "$work/new" ]
}
