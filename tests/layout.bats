# scripts/check-layout and scripts/weight refuse what they are there to refuse: each rule is broken in a copy of the tree.
load helpers

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	cp -r "$top"/{Makefile,common,tools,scripts} .
	mkdir tests
	# a few files of each room are enough, and quicker
	find common tools -type f | grep -vE '/(fail|px|frame|chain|patterns|gpu|arrange|bmp|gauss|gauss_rows)\.[a-z]+$' | xargs rm
}

# includes FILE LINE: what check-layout finds wrong with the includes once LINE is the first of FILE.
includes() {
	local kept
	kept=$(cat "$1")
	printf '%s\n%s\n' "$2" "$kept" >"$1"
	run scripts/check-layout
	printf '%s\n' "$kept" >"$1"
	sed -n '/layout: a file includes its own room/,/^\(not \)\?ok/p' <<<"$output" | sed '$d'
}

# refused FILE LINE: check-layout fails and names FILE and what LINE includes.
refused() {
	local found name
	name=$(sed 's/^[^"<]*["<]\([^">]*\).*/\1/' <<<"$2")
	found=$(includes "$1" "$2")
	if [[ $found != "not ok "*$'\n'"# $1 includes $name" ]]; then
		printf '%s in %s: wanted a refusal of %s, found: %s\n' "$2" "$1" "$name" "$found"
		return 1
	fi
}

@test "layout: a file includes its own room and rooms below, and no other" {
	for line in '#include "base/numbers.h"' '#include "frame/meta.h"' '#include <stdio.h>' '// #include "run/stage.h"'; do
		[[ $(includes common/frame/frame.c "$line") == "ok "* ]]
	done
	refused common/base/fail.c '#include "run/stage.h"'
	refused common/base/fail.h '#include "frame/frame.h"'
	refused common/base/px.h '#include "gpu/gpu.h"'
	refused common/frame/frame.c '#include "gpu/gpu.h"'		# another room of the same floor
	refused common/run/chain.c '#include "image/convert.h"'
	refused common/fringe/patterns.c '#include "optics/calib.h"'
	refused common/gpu/gpu.glsl '#include "image/colormap.px.h"'
}

@test "layout: nobody includes from tools, from a room that is none, or by another way" {
	refused common/image/arrange.c '#include "tools/shade/look.h"'
	refused common/image/arrange.c '#include "../tools/shade/look.h"'
	refused tools/gauss/gauss.c '#include "../shade/look.h"'
	refused tools/gauss/gauss_rows.comp '#include "../shade/shade.px.h"'
	refused tools/gauss/gauss.c '#include "nowhere/fail.h"'
	refused common/codec/bmp.c '#include "nowhere/fail.h"'
	refused common/base/fail.c '#include <run/stage.h>'
	refused common/base/fail.c '# include "run/stage.h"'
	refused common/base/fail.c '	#  include	"run/stage.h"'
}

@test "layout: a room without a floor is refused, whoever includes it" {
	mkdir common/attic
	printf '#include "base/fail.h"\n' >common/attic/old.c
	[[ $(includes common/run/chain.c '') == *"common/attic"* ]]
	touch common/attic/old.h
	refused common/base/fail.c '#include "attic/old.h"'
	refused common/run/chain.c '#include "attic/old.h"'
}

@test "layout: what weighs too much is named: a header with one reader, a file without a first comment, a phrase" {
	cp "$top/README.md" .
	git init -q .
	printf '#ifndef ONE_H\n#define ONE_H\n#endif\n' >common/base/one.h
	printf '#include "base/one.h"\n' >common/base/other.c
	printf '#include "base/one.h"\n' >common/base/another.c
	run scripts/weight --list
	[[ $output != *"# common/base/one.h"* && $output != *"# README"* ]]
	printf '/* Has one. */\n' >common/base/another.c
	echo 'Lines behind an image are read.' >>README.md
	run -1 scripts/weight --list
	for line in "# common/base/one.h" "# common/base/other.c" "not ok 5 weight: phrases that nobody says: 1, at most 0"; do
		grep -xF "$line" <<<"$output"
	done
	[[ $output != *"# common/base/another.c"* && $output == *"# README.md:"*"Lines behind an image are read."* ]]
}
