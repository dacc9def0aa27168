# bats file_tags=long
load helpers

# Every example of every man page runs as mandoc prints it, at the width of a terminal: what a reader copies.
# Those of EXAMPLES and TUTORIAL run in order, in one fresh folder for each page, print nothing on standard
# error, and leave a file behind each -o. A (sub)section that names FRINGEPIPE_DATA needs captures.

printed() {		# page, columns
	mandoc -T utf8 -O width="$2" "$1" | col -bx
}

examples() {		# page, columns, simulated or real
	"$top/scripts/html/examples" "$@"
}

# A tool of the next version may be named before it is there.
without_missing() {
	if command -v fringeprobe >/dev/null; then cat; else sed '/^fringeprobe/d'; fi
}

run_examples() {		# page, simulated or real
	local page=$1 word
	mkdir "$(basename "$page")"
	cd "$(basename "$page")" || return 1
	cp "$top"/samples/{block.yml,portal.json,rig.json,recipe.mk} .
	PATH=$top/scripts:$PATH
	examples "$page" 78 "$2" | without_missing >script
	examples "$page" 1000 "$2" | without_missing | diff script - >broken ||
		{ echo "$page: a line does not fit a terminal:"; cat broken; return 1; }
	bash -e -o pipefail script >output 2>messages || { echo "$page:"; cat script messages; return 1; }
	if ! grep -q -- ' -v ' script && [ -s messages ]; then
		echo "$page:"
		cat script messages
		return 1
	fi
	while read -r word; do
		[ -s "$word" ] || { echo "$page: nothing in $word"; return 1; }
	done < <(grep -oE -- '-o [^ ;|]+' script | sed 's/^-o //; /[%$]/d; /^null:$/d')
}

@test "examples: every man page's run as they are printed" {
	failed=0 missing=
	for page in "$top"/man/*.[17]; do
		(run_examples "$page" simulated) || failed=1
		[ -s "$(basename "$page")/script" ] || missing+=" $page"
	done
	[ -z "$missing" ] || { echo "no examples in$missing"; failed=1; }
	[ "$failed" -eq 0 ]
}

@test "examples: the tutorial's live stream, with a viewer that takes ten frames of it" {
	examples "$top/man/fringepipe.7" 78 simulated >script
	sed -n '/^fringesim/{:more; /\\$/{N; b more}; /holoserve/p}' script >line
	grep -q holoserve line
	py '
import subprocess
from live_client import Viewer
stream = subprocess.Popen(["bash", "-o", "pipefail", "line"], stdout=subprocess.PIPE)
viewer = Viewer(stream.stdout.readline().decode())
frames = [viewer.frame() for i in range(10)]
expect([f["number"] for f in frames] == sorted({f["number"] for f in frames}))
expect(all(len(f["picture"]) > 1000 for f in frames) and viewer.keys["width"] == "160", viewer.keys)
viewer.close()
expect(stream.wait() == 0)'
}

@test "examples: those on real captures run as they are printed" {
	need_data slmaster_eye_12step_gray
	export FRINGEPIPE_DATA=$data
	failed=0 pages=0
	for page in "$top"/man/*.[17]; do
		examples "$page" 78 real >lines
		[ -s lines ] || continue
		pages=$((pages + 1))
		(run_examples "$page" real) || failed=1
	done
	[ "$failed" -eq 0 ]
	[ "$pages" -gt 0 ]
}

# Elsewhere a line that begins with a tool is an example too.
@test "examples: commands in other sections run as they are printed" {
	fringesim -s 160x120 -p 60,66 -c 2 --bits float -o captures.nrrd
	fringesim -f -s 160x120 -p 60,66 -c 2 -o ./
	framecat --frames 0 captures.nrrd -o foreign.tif
	tools=$(fringepipe --words | grep -v '^-' | cut -d' ' -f1 | paste -sd '|')
	n=0 failed=0
	for page in "$top"/man/*.[157]; do
		printed "$page" 78 | awk '/^[^ ]/ { on = "'"$page"'" ~ /5$/ || ($0 != "EXAMPLES" && $0 != "TUTORIAL") }
			on && /^           / { print substr($0, 12) }' |
			awk -v tools="^($tools|fringepipe) " '$0 ~ tools { on = 1 } on { print; on = /\\$/ }' >script
		[ -s script ] || continue
		n=$((n + 1))
		if ! bash -e -o pipefail script <captures.nrrd >output 2>messages || [ -s messages ]; then
			echo "$page:"
			cat script messages
			failed=1
		fi
	done
	[ "$n" -ge 2 ]
	[ "$failed" -eq 0 ]
}

# README's block runs as it stands where bin/ and samples/ are, twice, and prints what README says.
@test "examples: README's block, its number, and how far a wrong period is off" {
	ln -s "$(dirname "$(command -v fringepipe)")" bin
	ln -s "$top/samples" samples
	sed -n '/^    export PATH/,/^$/s/^    //p' "$top/README.md" >block
	[ "$(wc -l <block)" -eq 11 ]
	bash -e block >first 2>messages
	bash -e block >second 2>&1
	cd out/ball
	[ -s ball.png ]
	stated() { tr '\n' ' ' <"$top/README.md" | grep -oP "$1"; }
	grep -E "^radius +$(stated 'prints .radius \K[0-9.]+') mm" ../../first
	[ "$(stated 'they disagree, \K[0-9.]+')" = "$(grep -oP 'pixels \K[0-9.]+(?= px \(rms\))' ../../messages | py 'print("%.3f" % float(input()))')" ]
	unwrap2f -a x wrapped.nrrd | median | framecat --set period_px=41 -o x.nrrd
	framecat --set period_px=41 rows.nrrd -o y.nrrd
	run --separate-stderr phase2depth --calib "$top/samples/block.yml" x.nrrd --across y.nrrd -o wrong.nrrd
	[[ $stderr == *"puts the pixels $(stated 'warns of \K[0-9.]+') px (rms) off"*"the fringe period is 40 px, not 41"* ]]
	framecat ball.tif -o right.nrrd
	[ "$(stated 'points would be \K[0-9]+')" = "$(py 'a, b = (read_frame(f + ".nrrd")["z"].astype(float) for f in ("wrong", "right"))
print("%.0f" % np.sqrt(np.nanmean((a - b) ** 2)))')" ]
}

@test "examples: no page prints an option's value as an option, or closes a parenthesis that it did not open" {
	run grep -nE 'Fl -[a-z-]+ -?[0-9]' "$top"/man/*.[157]
	[ -z "$output" ] || { echo "$output"; return 1; }
	for page in "$top"/man/*.[157]; do
		printed "$page" 1000 | awk -v page="$page" -v RS= '!/(^|\n) {9}/ {
			text = $0
			gsub(/\[[^][()]*\)|\([^][()]*\]/, "", text)	# half-open ranges
			if (gsub(/\(/, "", text) != gsub(/\)/, "", text))
				print page ": " $0
		}'
	done >unbalanced
	[ ! -s unbalanced ] || { cat unbalanced; return 1; }
}
