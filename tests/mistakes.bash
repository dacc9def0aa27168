# What the tests of users' mistakes (tests/mistakes*.bats) have in common.
load helpers

# mistake "WORDS IN THE MESSAGE" COMMAND ...: it may end in any way, but says this in one line.
mistake() {
	local words=$1
	shift
	run --separate-stderr "$@"
	if [[ $stderr != *"$words"* ]] || [ "$(wc -l <<<"$stderr")" -ne 1 ]; then
		printf '%s\nprinted: %s\nwanted: %s\n' "$*" "$stderr" "$words"
		return 1
	fi
}

# right COMMAND ...: not a word.
right() {
	run --separate-stderr "$@"
	if [ "$status" -ne 0 ] || [ -n "$stderr" ]; then
		printf '%s\nexit %s, printed: %s\n' "$*" "$status" "$stderr"
		return 1
	fi
}

# images N [OPTION ...]: N steps as single files without keys, 1.png to N.png.
images() {
	local n=$1
	shift
	rm -f -- *.png
	fringesim -q -s 320x200 -p 40 -n "$n" --ref-plane 10,0.157,0 -c 5 --noise 1.5 "$@" |
		framecat --split --delete "*" -o %d.png
	for ((i = n; i > 0; i--)); do mv $((i - 1)).png "$i.png"; done
}

wrap() {
	phasewrap -p 40 -o wrapped.nrrd "$@"
}
