load helpers

# --strict: a run that warned has exit status 1 (framecmp: 2) and has written what it writes without.

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	fringesim -s 24x16 -p 12 -n 3 -o flat.nrrd
	fringesim -s 24x16 -p 12 -n 3 --noise 1 -o other.nrrd
}

# A misspelt variable is a warning of every tool.
warned() {
	FRINGEPIPE_BADN=1 run --separate-stderr "$@"
}

@test "--strict: a warning makes the exit status 1, and the frames are the same" {
	warned phasewrap flat.nrrd -o plain.nrrd
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	warned phasewrap --strict flat.nrrd -o strict.nrrd
	[ "$status" -eq 1 ]
	[ "${lines[*]}" = "" ]
	[ "$(wc -l <<<"$stderr")" -eq 2 ]
	[[ $stderr == *FRINGEPIPE_BADN*$'\n'"phasewrap: --strict: 1 warning" ]]
	cmp plain.nrrd strict.nrrd
}

@test "--strict: also under -q, which leaves the last line" {
	warned phasewrap -q --strict flat.nrrd -o strict.nrrd
	[ "$status" -eq 1 ]
	[ "$stderr" = "phasewrap: --strict: 1 warning" ]
}

@test "--strict: without a warning the exit status is 0, and notes are no warnings" {
	run --separate-stderr phasewrap --strict -v flat.nrrd -o strict.nrrd
	[ "$status" -eq 0 ]
	[ -n "$stderr" ]
	[[ $stderr != *--strict* ]]
}

@test "--strict: in a chain before the first stage or in the last one" {
	warned fringepipe --strict phasewrap flat.nrrd , gauss -o a.nrrd
	[ "$status" -eq 1 ]
	warned fringepipe phasewrap flat.nrrd , gauss --strict -o b.nrrd
	[ "$status" -eq 1 ]
	[[ $stderr == *"fringepipe: --strict: 1 warning" ]]
	cmp a.nrrd b.nrrd
	warned fringepipe phasewrap flat.nrrd --strict , gauss -o c.nrrd
	[ "$status" -eq 2 ]
	[[ $stderr == *"--strict --valid --raw --follow --idle stand before the first stage or in the last"* ]]
	[ ! -e c.nrrd ]
}

@test "--strict: the next program of a pipe gets every frame" {
	run -1 env FRINGEPIPE_BADN=1 bash -c 'set -o pipefail; phasewrap --strict flat.nrrd 2>err | gauss -q >piped.nrrd'
	grep -q -- '--strict: 1 warning' err
	phasewrap flat.nrrd | gauss | cmp - piped.nrrd
}

@test "--strict: framecmp has exit status 2, whether the frames are the same or not" {
	framecat --set note=x flat.nrrd -o same.nrrd
	warned framecmp flat.nrrd same.nrrd
	[ "$status" -eq 0 ]
	warned framecmp --strict flat.nrrd same.nrrd
	[ "$status" -eq 2 ]
	warned framecmp flat.nrrd other.nrrd
	[ "$status" -eq 1 ]
	warned framecmp --strict -q flat.nrrd other.nrrd
	[ "$status" -eq 2 ]
	run framecmp --strict flat.nrrd same.nrrd
	[ "$status" -eq 0 ]
}
