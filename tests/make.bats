# What a newcomer types first: make and its targets, read in a fresh clone; and what checks that on a bare machine.
load helpers

setup_file() {
	local top
	top=$(cd "$(dirname "$BATS_TEST_FILENAME")/.." && pwd)
	git clone -q "$top" "$BATS_FILE_TMPDIR/tree"
}

setup() {
	work=$(mktemp -d)
	cd "$BATS_FILE_TMPDIR/tree" || exit 1
	unset MAKEFLAGS MFLAGS MAKELEVEL
}

# names_tools FOLDER: every tool of the tree stands in $work/out as FOLDER and its name.
names_tools() {
	local tool
	for tool in tools/*/ fringepipe; do
		tool=$(basename "$tool")
		has -E "(^|[ :])$1$tool( |\$)" <"$work/out" || { echo "no $1$tool"; return 1; }
	done
}

@test "make: without a word, check, install and help name every tool" {
	make -n >"$work/out"
	names_tools bin/
	make -n check >"$work/out"
	names_tools bin/
	names_tools build/bin-stages/
	has -x tests/run <"$work/out"
	make -n install DESTDIR=x >"$work/out"
	names_tools bin/
	has '^install -s bin/fringepipe .* x/usr/local/bin$' <"$work/out"
	make help >"$work/out"
	names_tools ""
	[ ! -e bin ]
}

@test "make: nightly, as README says it, names every long loop" {
	words=$(grep -oE 'make nightly( [A-Z]+=[0-9]+)*' README.md | sort -u)
	[ -n "$words" ]
	targets=$(sed -n 's/^NIGHTLY [:+]*= //p' scripts/*.mk)
	while read -r line; do
		# shellcheck disable=SC2086	# as typed
		make -n ${line#make } >"$work/out"
		for target in $targets; do
			has -E "scripts/nightly .*\b$target\b" <"$work/out" || { echo "$line: no $target"; return 1; }
		done
	done <<<"$words"
	# shellcheck disable=SC2086
	make -n $targets >"$work/out"
}

@test "make: pkg-config is asked once for each purpose, not for each object" {
	printf '#!/bin/sh\necho "$@" >>%s/asked\nexec pkg-config "$@"\n' "$work" >"$work/pkg-config"
	chmod +x "$work/pkg-config"
	make -n PKG_CONFIG="$work/pkg-config" >/dev/null
	# left out, flags, libraries: at most three times the same
	if sort "$work/asked" | uniq -c | awk '$1 > 3' | grep .; then return 1; fi
}

# folder PATTERN WORD ...: with these words, make builds in folders whose names end so.
folder() {
	local wanted=$1
	shift
	# a compiler that is not here prints errors
	# shellcheck disable=SC2016	# make expands it
	run -0 --separate-stderr make -s --eval='folder: ; @echo $(BUILD) $(BIN)' folder "$@"
	# shellcheck disable=SC2053	# a pattern
	[[ $output == build$wanted\ bin$wanted ]] || { echo "$*: $output"; return 1; }
}

@test "make: flags on its command line have a folder of their own" {
	for name in CPPFLAGS LDFLAGS; do
		run -2 make -n $name=-g
		[[ $output == *"$name goes before make, into its environment: $name=... make."* ]]
	done
	folder ""
	folder "" "CC=ccache gcc" GPU=1
	CFLAGS=-O0 folder ""
	folder -cpu GPU=0
	folder -clang CC=clang
	folder -address SAN=address,undefined
	folder -thread-cpu-clang SAN=thread GPU=0 "CC=ccache clang"
	folder "-[0-9]*" LEVELS=v2
	folder "-[0-9]*" CFLAGS=-O1
	one=$output
	folder "-[0-9]*" CFLAGS=-O2
	[ "$output" != "$one" ]
}

@test "make: two shaders of one name are an error" {
	touch tools/median/gauss_rows.comp
	run -2 make -n
	rm tools/median/gauss_rows.comp
	has "two shaders have the same name: .*gauss_rows.comp .*gauss_rows.comp" <<<"$output"
}

@test "ci: where no bare machine can be made, it says so in one line and checks here; nothing is left" {
	mkdir "$work/left" "$work/path"
	cd "$work"
	printf '#!/bin/sh\nexit 0\n' >path/apt-get
	chmod +x path/apt-get
	reason="apt here has no mirror of Debian 12"
	[ "$EUID" -eq 0 ] || reason="not root"
	TMPDIR=$work/left PATH=$work/path:$PATH run -3 --separate-stderr "$top/.ci/run" 'pwd; exit 3'
	[ "$output" = ".ci/run: no bare Debian 12 here, so on this machine: $reason"$'\n'"$top" ]
	[ -z "$stderr" ]
	silent ls -A left
	[ "$EUID" -eq 0 ] || return 0
	run -1 setpriv --reuid 65534 --clear-groups "$top/.ci/run" false
	[ "$output" = ".ci/run: no bare Debian 12 here, so on this machine: not root" ]
}

@test "ci: a folder CI_FILES that does not exist is an error" {
	CI_FILES=$work/none fails 1 "$work/none: No such file or directory" "$top/.ci/run" true
}

@test "make: the one program goes by the tools' names, a copy by its own, and lists them under any other" {
	[ "$(readlink "$(command -v gauss)")" = fringepipe ]
	[[ $(gauss --version) == "gauss (fringepipe) "* ]]
	cp "$(command -v fringepipe)" "$work/median"
	[[ $("$work/median" --version) == "median (fringepipe) "* ]]
	mv "$work/median" "$work/other"
	run -2 "$work/other" --version
	[[ $output == "fringepipe: 'other' is no tool's name; it goes by these: fringepipe "*" wff"* ]]
	run -2 fringepipe fringeprobe
	[[ $output == *"fringeprobe: no such stage"* ]]
}
