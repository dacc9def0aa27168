# bats file_tags=long
load helpers

@test "bench: --quick prints every part, each figure with its floor; speed itself is no test" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick >table
	cat table
	grep -E '^bandwidth, arrays of .* GB/s copy .* GB/s triad$' table
	grep -E '^median +[0-9.]+ ms .* frames/s .* GB/s .*% of copy, floor [0-9.]+ ms' table
	grep -E '^one process, threads 1 +[0-9.]+ ms .*% of copy, floor' table
	grep -E '^one thread, best round [0-9.]+ ms: [0-9.]+ % of its floor of arithmetic, [0-9.]+ ms .399 operations .*; [0-9.]+ % of that of pipes, [0-9.]+ ms' table
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
	[ -n "${BENCH_ALL-}" ] || return 0	# make bench-all
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
		grep -q "$tool" table || grep -qE "^\.(Sh COST|Ss Cost of $tool)$" "$top/man/$tool.1" "$top"/man/*.7 || { echo "no floor and no COST: $tool"; return 1; }
	done
	if grep -Ei 'nan|inf|[ -]0\.000 ms' table; then return 1; fi
}

@test "bench: way: one set in a process of its own beside a further one, and how well files and work overlap" {
	[ -n "${BENCH_ALL-}" ] || return 0	# make bench-all
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick way >table
	cat table
	spread='[0-9.]+ ms \(quartiles -?[0-9.]+, [0-9.]+\)'
	[ "$(grep -cE "^(points of a rig|depth), mesh.* $spread, [0-9]+ fresh pages; a further set $spread; [0-9.]+ times$" table)" -eq 3 ]
	[ "$(grep -cE "^(decode|compute|write) alone, a thread, processor time +$spread$" table)" -eq 3 ]
	[ "$(grep -cE "^(whole|not written), two threads, by the clock +$spread; half of .* [0-9.]+ times; processor time $spread, both cores busy [0-9]+ %$" table)" -eq 2 ]
}

@test "bench: the table of a GPU: its copies, the stages that are named, the chain beside the bus, what auto takes" {
	[ -n "${BENCH_ALL-}" ] || return 0	# make bench-all
	need_gpu
	FRINGEPIPE_GPU_COPY=1 FRINGEPIPE_BIN=$(dirname "$(command -v median)") \
		"$top/scripts/bench" --quick gpu median unwrap2f shade >table
	cat table
	grep -E '^within its own memory [0-9.]+ GB/s$' table
	for stage in median unwrap2f shade "shade --view"; do
		grep -E "^$stage +[0-9.]+ ms .* [0-9.]+ GB/s +[0-9]+ % of copy( +[0-9.]+ Gop/s)?; with its copies +[0-9.]+ ms, the bus [0-9.]+; processor +[0-9.]+ ms; same bytes; auto: (device|processor)$" table
	done
	[ "$(grep -cE '^(phasewrap|gauss|normals|framecat)' table)" -eq 0 ]
	grep -E '^fringepipe: [0-9]+ frames on .*phasewrap .*normals .*a frame$' table
	# copies up and down overlap: the slower one bounds the chain
	awk '/^to the device/ { up = $4 } /^back/ { down = $2 } / frames on / {
			for (i = 1; i < NF; i++) { if ($i == "up") up = $(i + 1) / up; if ($i == "down") down = $(i + 1) / down } }
		/^device .* the bus takes/ { floor = up > down ? up : down; n++
			for (i = 1; i < NF; i++) if ($i == "floor") { d = $(i + 1) - floor; bad = d * d > 1e-3 * floor * floor || $(i + 3) > 100 } }
		END { exit n != 1 || bad }' table
	grep -E '^processor [0-9.]+ ms a frame, [0-9.]+ frames/s; same bytes; auto: (device|processor)$' table
}

@test "bench: the table of fringepipe-accuracy(7) is what scripts/bench accuracy measures" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --check accuracy >seen || {
		cat seen
		return 1
	}
	cat seen
	grep -E '^[0-9]+ rows measured, 0 wrong$' seen
	need_data meshes	# the rows of scans; the others are right
}

@test "bench: a figure of that table that is not measured is named, a row too many or too few as well" {
	export PYTHONDONTWRITEBYTECODE=1
	sed 's/^0\.0010 %;/0.0009 %;/; /^\.It plane, wrapped phase/,+1d; s/^\.It sphere, 3 bits, Bayer:/& old/; s/9.35 mm/9.36 mm/' \
		"$top/man/fringepipe-accuracy.7" >page.7
	run "$python" "$top/scripts/bench-accuracy.py" . --check page.7
	[ "$status" -eq 1 ]
	[[ $output == *"the page does not have this row: .It plane, wrapped phase"* ]]
	[[ $output == *"the page does not have this row: .It sphere, composite Holoimage"*"0.0010 %"* ]]
	[[ $output == *"the page has a row more: .It sphere, 3 bits, Bayer: old"* ]]
	[[ $output == *" rows measured, 5 wrong"* ]]
	cp page.7 before.7
	run "$python" "$top/scripts/bench-accuracy.py" . --write page.7	# no scans: half a table is none
	[ "$status" -eq 1 ]
	cmp page.7 before.7
	grep -v 'begin: accuracy' page.7 >unmarked.7
	run "$python" "$top/scripts/bench-accuracy.py" . --check unmarked.7
	[ "$status" -eq 1 ]
	[[ $output == *'unmarked.7: no lines "begin: accuracy'* ]]
}

@test "bench: --check and --write are of the parts that make tables, and of no other" {
	for words in "--check" "--check stage" "--write accuracy papers" "--check accuracy holo machine"; do
		# shellcheck disable=SC2086
		FRINGEPIPE_BIN=$(dirname "$(command -v median)") run "$top/scripts/bench" $words
		[ "$status" -eq 2 ]
		[[ $output == *"scripts/bench --write accuracy holo "* ]]
	done
}

# A table of published figures: every line has its seven columns, no key comes twice.
@test "bench: papers: each published figure has its place, its unit, which is better, and whether it is like for like" {
	awk -F ' [|] ' '/^#/ || !NF { next }
		NF != 7 || seen[$1]++ || $5 !~ /^(more|less|equal|no)$/ || ($3 !~ /^[0-9.]+$/ && $3 $5 != "-no") { print; bad = 1 }
		{ n++ }
		END { exit bad || n < 70 }' "$top/scripts/bench-papers.txt"
}

@test "bench: papers: every published figure stands in the summary once, with ours, which truth confirms" {
	[ -n "${BENCH_ALL-}" ] || return 0	# make bench-all
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick papers ch3 ch5 >table
	cat table
	grep -E "^the camera's view +30( +[0-9.]+)+$" table
	grep -E '^turned +30( +[0-9.]+)+$' table
	sed -n '/^summary/,$p' table >summary
	awk -F ' [|] ' '/^ch[35][.]/ { print $1 "\n  " ($5 == "no" ? "" : "published ") $3 " " $4 }' "$top/scripts/bench-papers.txt" |
		sed -E 's/^(  )([0-9.]+ .*)/\1published \2/' >wanted
	sed -nE -e 's/^(ch[35]\.[a-z0-9.]+): .*/\1/p' -e 's/^(  published [0-9.]+ [^ ;]+).*/\1/p' summary >there
	diff wanted there
	run grep -E 'not measured|refused|nan|inf' summary
	[ "$status" -eq 1 ]
	# whole levels are off by sqrt(1/12); a turn of 255/2 levels' radius is 16/sin(30) px deep, the sphere 0.9 of 512
	sed -n '/^ch5.sphere:/,/^$/p' summary | awk '$1 == "ours" {
		theory = sqrt(1 / 12) / 127.5 / (2 * 3.14159265) * 16 / 0.5 / (0.9 * 512) * 100
		exit !($2 > 0.96 * theory && $2 < 1.04 * theory) }'
	sed -n '/^ch5.jpg/,/^$/p' summary | awk '$1 == "published" { want = $2 }
		$1 == "ours" { n++; if ($2 < 0.95 * want || $2 > 1.05 * want) bad = 1 }
		END { exit bad || n < 3 }'
	# a PNG as anybody makes it: its ratio to x, y, z and a mask of 512x512
	py 'y, x = np.mgrid[:512, :512] - 255.5
r = (0.45 * 512) ** 2 - x * x - y * y
write_frames("ball.nrrd", Frame(np.where(r >= 0, 256 + np.sqrt(np.maximum(r, 0)), np.nan).astype("f4"), ["depth"], {"z_axis": "towards"}))'
	holoenc -P 16 --stair composite -S 5 --rounding level --depth-range 0,512 ball.nrrd |
		framecat --level 12 -o ball.png
	framecat ball.nrrd -o ball.obj
	ratio=$(awk -v obj="$(stat -c %s ball.obj)" -v png="$(stat -c %s ball.png)" 'BEGIN { printf "%.1f:1", obj / png }')
	grep -E "^sphere, all of the cube .* MB, $ratio  " table
}

@test "bench: a tool that fails ends the bench with its message, and no figure stands in its place" {
	mkdir fake
	real=$(dirname "$(command -v median)")
	ln -s "$real"/* fake
	rm fake/fringepipe
	printf '#!/bin/sh\ncase " $* " in *" unwrapq "*) echo "fringepipe: unwrapq: broken" >&2; exit 1 ;; esac\nexec %s "$@"\n' \
		"$real/fringepipe" >fake/fringepipe
	chmod +x fake/fringepipe
	FRINGEPIPE_BIN=$PWD/fake run "$top/scripts/bench" --quick papers ch3
	[ "$status" -ne 0 ]
	[[ $output == *"fringepipe: unwrapq: broken"* ]]
	[[ $output != *summary* && $output != *inf* ]]
}

@test "bench: papers takes the names of its tables, and no other" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") run "$top/scripts/bench" papers ch4
	[ "$status" -eq 2 ]
	[[ $output == *"papers [TABLE ...] "*"zhang karpinsky ch3 ch5"* ]]
}
