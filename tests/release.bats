# What a release hands out: the tarball builds without git, and scripts/debian names what the tree has.
load helpers

setup_file() {
	git clone -q "$(dirname "$BATS_TEST_FILENAME")/.." "$BATS_FILE_TMPDIR/tree"
	XZ_OPT=-0 make -s -C "$BATS_FILE_TMPDIR/tree" dist	# quickly
}

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	tree=$BATS_FILE_TMPDIR/tree
	version=$(sed -n 's/^VERSION := //p' "$tree/Makefile")
	unset MAKEFLAGS MFLAGS MAKELEVEL
}

@test "release: make dist is of the last commit alone: its names, sorted, its time, no owner" {
	tar -tvJf "$tree"/out/fringepipe-"$version".tar.xz --full-time >list
	TZ=UTC git -C "$tree" log -1 --date=iso-local --format=%cd | cut -d ' ' -f 1,2 >wanted
	TZ=UTC tar -tvJf "$tree"/out/fringepipe-"$version".tar.xz --full-time | awk '{ print $4, $5 }' | sort -u | diff wanted -
	awk '{ print $2 }' list | sort -u | diff <(echo root/root) -
	grep -v '^d' list | awk '{ print $6 }' | diff <(git -C "$tree" ls-files | sed "s,^,fringepipe-$version/,") -
	echo >>"$tree/CHANGES"
	run -2 make -s -C "$tree" dist
	has "^make dist: commit first" <<<"$output"
	run -2 make -s -C "$tree" deb
	has "^make deb: commit first" <<<"$output"
	git -C "$tree" checkout -q CHANGES
}

@test "release: the tarball builds without git, every tool, and names its version alone" {
	tar -xJf "$tree"/out/fringepipe-"$version".tar.xz
	cd "fringepipe-$version"
	run -2 make -s dist
	[ "${lines[0]}" = "make dist needs the git tree" ]
	make -n all >../out
	for tool in tools/*/ fringepipe; do
		has -E "(^|[ :])bin/$(basename "$tool")( |\$)" <../out
	done
	make -s build/stages/median.o build/programs-bin/version.o 2>../errors
	[ ! -s ../errors ]
	nm build/stages/median.o | has ' D stage_median$'
	strings -n 3 build/programs-bin/version.o | has -x "$version"
}

@test "release: packages need to be built what scripts/setup installs to build" {
	sed -n '/^Build-Depends:/,/^[^ B]/p' "$tree"/scripts/debian/control | sed -n 's/^ *\(lib[a-z0-9.-]*\|glslc\|zlib1g-dev\).*/\1/p' | sort >control
	for part in build camera; do "$tree"/scripts/setup --for $part --list; done |
		grep -vxE 'gcc|make|pkg-config|libc6-dev|libvulkan1' | sort | diff control -
}

@test "release: a program of its own goes into a package of its own" {
	sed -n 's/^PROGRAM_\(.*\) := own$/\1/p' "$tree"/tools/*/*.mk >own
	[ -s own ]
	while read -r tool; do
		printf 'usr/%s\n' bin/$tool share/bash-completion/completions/$tool share/man/man1/$tool.1
	done <own | sort | diff - <(sort "$tree"/scripts/debian/fringepipe-ca*.install)
}
