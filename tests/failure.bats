load helpers

# A tool that fails in order ends its stream with a line that every reader takes for a failure (frame(5)).

failed="FAILED: the writer of this stream failed"

# good.nrrd has three frames; short.nrrd is the same without its last bytes, so that tools fail behind two.
inputs() {
	py '
rng = np.random.default_rng(5)
write_frames("good.nrrd", [Frame(rng.normal(size=(1, 130, 203)).astype("f4"), ["absphase"]) for i in range(3)])'
	head -c -1000 good.nrrd >short.nrrd
}

# ends_failed FILE FRAMES: it has whole frames and the mark.
ends_failed() {
	local bytes mark
	mark=$((${#failed} + 1))
	bytes=$(stat -c %s "$1")
	[ "$(tail -c "$mark" "$1")" = "$failed" ]
	head -c $((bytes - mark)) "$1" >whole.nrrd
	if [ "$2" -gt 0 ]; then
		[ "$(frameinfo whole.nrrd | grep -c '^frame')" -eq "$2" ]
	else
		[ ! -s whole.nrrd ]
	fi
}

@test "failure: a tool that fails behind some frames marks the end, and its reader fails" {
	inputs
	for tool in "median" "framecat" "fringepipe median" "median -s row"; do
		# shellcheck disable=SC2086
		fails 1 "truncated" bash -c "$tool short.nrrd >out.nrrd"
		ends_failed out.nrrd 2
		for reader in "median" "fringepipe median - , framecat" "framecat"; do
			fails 1 "standard input: the writer before failed" $reader -o result.nrrd <out.nrrd
			[ ! -e result.nrrd ]
			fails 1 "standard input: the writer before failed" bash -c "cat out.nrrd | $reader >passed.nrrd"
			ends_failed passed.nrrd 2
		done
	done
	fails 1 "out.nrrd: the writer before failed" median out.nrrd -o result.nrrd
}

@test "failure: in a pipe, with and without shared frames, to the last reader" {
	inputs
	for handover in yes no; do
		export FRINGEPIPE_HANDOVER=$handover
		run bash -c 'set +o pipefail; median short.nrrd | framecat | median -s row -o result.nrrd'
		[ "$status" -eq 1 ]
		[ "$output" = "median: short.nrrd: truncated: expected 105560 bytes, got 104560
framecat: standard input: the writer before failed
median: standard input: the writer before failed" ]
		[ ! -e result.nrrd ]
	done
}

@test "failure: a writer that has written nothing, or could not begin" {
	inputs
	for writer in "median nothing.nrrd" "median --nonsense" "median -s disc good.nrrd" "fringepipe median nothing.nrrd , median" \
		"fringepipe nothing" "fringepipe median good.nrrd , median --nonsense" "fringegen -s 0x5" "fringepipe --nonsense"; do
		fails 1 "standard input: the writer before failed" \
			bash -c "set +o pipefail; $writer 2>/dev/null | median -o result.nrrd"
		[ ! -e result.nrrd ]
		fails 1 "standard input: the writer before failed" \
			bash -c "set +o pipefail; (median good.nrrd; $writer 2>/dev/null; median good.nrrd) | median -o result.nrrd"
		[ ! -e result.nrrd ]
		run bash -c "$writer 2>/dev/null >out.nrrd"
		ends_failed out.nrrd 0
	done
}

@test "failure: second inputs, and tools whose output is text" {
	inputs
	py 'write_frames("image.nrrd", Frame(np.full((1, 130, 203), 1.5, "f4"), ["absphase"]))'
	cat image.nrrd <(echo "$failed") >marked.nrrd
	for input in image.nrrd good.nrrd; do
		fails 1 "marked.nrrd: the writer before failed" phase2depth --ref marked.nrrd -c 1 $input -o result.nrrd
		fails 1 "the writer before failed" bash -c "phase2depth --ref <(median -q short.nrrd 2>/dev/null) -c 1 good.nrrd -o result.nrrd"
	done
	for option in --depth --albedo; do		# files whose first frame is all that is read
		silent fringesim -s 203x130 -p 24 $option image.nrrd -o result.nrrd
		rm result.nrrd
		fails 1 "marked.nrrd: the writer before failed" \
			fringesim -s 203x130 -p 24 $option marked.nrrd -o result.nrrd
		fails 1 "the writer before failed" \
			fringesim -s 203x130 -p 24 $option <(cat marked.nrrd) -o result.nrrd
	done
	framecat --points image.nrrd -o table.nrrd
	fails 1 "marked.nrrd: the writer before failed" framecat --like marked.nrrd table.nrrd -o result.nrrd
	fails 1 "marked.nrrd: the writer before failed" frameinfo marked.nrrd
	fails 2 "marked.nrrd: the writer before failed" framecmp image.nrrd marked.nrrd
	[ ! -e result.nrrd ]
}

@test "failure: no mark where no stream is written" {
	inputs
	for tool in "frameinfo short.nrrd" "frameinfo --nonsense" "framecmp short.nrrd good.nrrd" "framecmp nothing" \
		"median short.nrrd -o out.tif" "median --nonsense -o out.tif" "fringepipe median short.nrrd -o null:" \
		"fringepipe median good.nrrd , frameinfo --nonsense" "fringepipe --devices median"; do
		run bash -c "$tool 2>/dev/null"
		[ "$status" -ne 0 ]
		[[ $output != *"$failed"* ]] || { echo "$tool: $output"; false; }
	done
	for word in --help --version --words; do
		median $word | (! grep "$failed")
	done
	run script -qec "median short.nrrd" /dev/null		# a terminal
	[[ $output != *"$failed"* ]]
}

@test "failure: not behind a frame that was cut, nor to a reader that has gone" {
	inputs
	run bash -c 'median short.nrrd 2>messages | true; echo "${PIPESTATUS[0]}"'
	[[ $output = 1 || $output = 141 ]]
	if [ "$output" = 1 ]; then [ "$(wc -l <messages)" -eq 1 ]; fi
	fails 1 "median: nothing.nrrd: " bash -c "set -o pipefail; median nothing.nrrd | true"
	(trap '' PIPE; fails 1 "median: nothing.nrrd: " bash -c "set -o pipefail; median nothing.nrrd | true")
	bytes=$(stat -c %s good.nrrd)
	(ulimit -f 200; fails 1 "File too large" bash -c 'median good.nrrd >cut.nrrd')
	[ "$(stat -c %s cut.nrrd)" -le 204800 ]
	run ! grep -a "$failed" cut.nrrd
	fails 1 "truncated" median cut.nrrd -o result.nrrd
}

@test "failure: other readers do not take the mark for a frame" {
	inputs
	run bash -c "median short.nrrd >out.nrrd"
	man_reader=$(sed -n '/^import sys/,/^\.Ed/{/^\.Ed/d;s/\\en/\\n/g;p}' "$top/man/frame.5")
	"$python" -c "$man_reader" <good.nrrd >/dev/null
	run ! "$python" -c "$man_reader" <out.nrrd
	echo "$failed" >mark.nrrd
	teem-unu head mark.nrrd 2>&1 | has "isn't a nrrd magic"
}
