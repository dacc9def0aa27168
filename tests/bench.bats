# bats file_tags=long
load helpers

@test "bench: --quick prints every part, each figure with its floor; speed itself is no test" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick >table
	cat table
	grep -E '^bandwidth, arrays of .* GB/s copy .* GB/s triad$' table
	grep -E '^median +[0-9.]+ ms .* frames/s .* GB/s .*% of copy, floor [0-9.]+ ms' table
	grep -E '^one process, threads 1 +[0-9.]+ ms .*% of copy, floor' table
	grep -E '^pipe of processes, a thread each +[0-9.]+ ms .*% of copy, floor' table
	grep -E '^chain +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ times$' table
	[ "$(grep -cE '^ *(1|2|4|8|16) threads, modelled +[0-9.]+ ms, +[0-9.]+ times one thread' table)" -eq 5 ]
	grep -E '^800x600, the chain on more cores: A MODEL, of .* 14403520 bytes a frame' table
	grep -E '^1155x866 +1.00 Mpx +[0-9.]+ ms +[0-9.]+ ns/px$' table
	grep -E '^write 8 bits, .png --fast +[0-9.]+ ms' table
	grep -E '^800x600, 100 frames +[0-9.]+ MiB$' table
	if grep -Ei 'nan|inf|[ -]0\.000 ms' table; then return 1; fi
}

@test "bench: floor: bytes and operations of each tool with their floor, and why it takes more" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick floor >table
	cat table
	grep -E '^800x600, one thread, best round; copy [0-9.]+ GB/s, [0-9.]+ G/s of . and .,' table
	# six bytes a pixel in, six or four floats out; four planes in and four out; depth alone to three levels
	grep -E '^phasewrap 2x3 uchar, vectors +30\.0 B/px +66 op/px +[0-9.]+ ms, floor +[0-9.]+ ms of [a-z]+ +[0-9.]+ %  six' table
	grep -E '^phasewrap 2x3 uchar, phases +22\.0 B/px' table
	grep -E '^gauss 11, of phases +32\.0 B/px' table
	grep -E '^shade --view +7\.0 B/px +- op/px' table
	grep -E '^depthenc, luma +6\.0 B/px +30 op/px' table
	grep -E '^steger +1\.0 B/px' table
	[ "$(grep -c ' B/px ' table)" -ge 35 ]
	# a tool without a line says what it costs on its page; these four make no pixels
	for tool in "$top"/tools/*/; do
		tool=$(basename "$tool")
		[[ " fringeprobe frameinfo frameplot holorecv " != *" $tool "* ]] || continue
		grep -q "$tool" table || grep -q '^\.Sh COST' "$top/man/$tool.1" || { echo "no floor and no COST: $tool"; return 1; }
	done
	if grep -Ei 'nan|inf|[ -]0\.000 ms' table; then return 1; fi
}

@test "bench: the table of a GPU: its copies, each stage, the chain" {
	need_gpu
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick gpu >table
	cat table
	grep -E '^within its own memory [0-9.]+ GB/s$' table
	grep -E '^unwrap2f +[0-9.]+ ms .* [0-9.]+ GB/s +[0-9]+ % of copy; with its copies +[0-9.]+ ms$' table
	grep -E '^fringepipe: [0-9]+ frames on .*phasewrap .*normals .*a frame$' table
}

@test "bench: README's table of accuracy is what scripts/bench accuracy measures" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --check accuracy >seen || {
		cat seen
		return 1
	}
	cat seen
	grep -E '^[0-9]+ rows measured, 0 wrong$' seen
	need_data meshes	# the rows of scans; the others are right
}

@test "bench: a figure of README's table that is not measured is named, a row too many or too few as well" {
	export PYTHONDONTWRITEBYTECODE=1
	sed 's/| 0\.0010 % |/| 0.0009 % |/; /^| plane, wrapped phase/d; s/^| sphere, 3 bits, Bayer:/& old/; s/9.35 mm/9.36 mm/' \
		"$top/README.md" >README.md
	run "$python" "$top/scripts/bench-accuracy.py" . --check README.md
	[ "$status" -eq 1 ]
	[[ $output == *"README does not have this row: | plane, wrapped phase"* ]]
	[[ $output == *"README does not have this row: | sphere, composite Holoimage"*"0.0010 %"* ]]
	[[ $output == *"README has a row more: | sphere, 3 bits, Bayer: old"* ]]
	[[ $output == *" rows measured, 5 wrong"* ]]
	cp README.md before.md
	run "$python" "$top/scripts/bench-accuracy.py" . --write README.md	# no scans: half a table is none
	[ "$status" -eq 1 ]
	cmp README.md before.md
	grep -v 'begin: accuracy' README.md >unmarked.md
	run "$python" "$top/scripts/bench-accuracy.py" . --check unmarked.md
	[ "$status" -eq 1 ]
	[[ $output == *'unmarked.md: no lines "begin: accuracy'* ]]
}

@test "bench: --check and --write are of the parts that make tables, and of no other" {
	for words in "--check" "--check stage" "--write accuracy papers" "--check accuracy holo machine"; do
		# shellcheck disable=SC2086
		FRINGEPIPE_BIN=$(dirname "$(command -v median)") run "$top/scripts/bench" $words
		[ "$status" -eq 2 ]
		[[ $output == *"scripts/bench --write accuracy holo "* ]]
	done
}
