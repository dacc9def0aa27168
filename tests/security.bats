# Foreign bytes do not reach a terminal or another folder; see fringepipe-security(7).

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR" || return 1
	printf 'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 1\nspacings: 1 1\nunits: "m\033m" "mm"\nencoding: raw\nchannels:=a\033[31mb\nkey:=v\033]0;title\007w\302\2331m \233 \377 \tb \303\251\nk\033y:=1\n\nab' >foreign.nrrd
}

# plain FILE: no byte in it commands a terminal.
plain() {
	[ -s "$1" ]
	py 'text = open(sys.argv[1], "rb").read().decode()	# UTF-8
bad = [c for c in text if c not in "\n\t" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0)]
expect(not bad, bad, text)' "$1"
}

@test "security: frameinfo and framecmp print no control characters of a foreign frame" {
	frameinfo foreign.nrrd >out
	plain out
	grep -qaF $'  key:=v?]0;title?w??1m ? ? \tb \303\251' out
	frameinfo -s foreign.nrrd >out
	plain out
	frameinfo -k key foreign.nrrd >out
	plain out
	framecmp -v --table foreign.nrrd foreign.nrrd >out
	plain out
	printf 'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 1\nencoding: raw\nchannels:=a\033[32mb\nkey:=\033c\n\nab' >other.nrrd
	framecmp --meta foreign.nrrd other.nrrd >out || [ $? -eq 1 ]
	plain out
}

@test "security: messages show no control characters of names and keys" {
	printf x >$'bad\033[31m.png'
	frameinfo $'bad\033[31m.png' 2>out || plain out
	framecat --keep-going $'bad\033[31m.png' foreign.nrrd -o null: 2>out || plain out
	grep -q 'bad?\[31m.png' out
	gauss foreign.nrrd -o null: 2>out || plain out
	frameinfo -k $'no\033key' foreign.nrrd 2>out || plain out
	framecat --no-such-$'\033' 2>out || plain out
}

@test "security: a frame's name stays in the folder and commands no terminal" {
	for name in ../up /tmp/absolute .hidden $'a\033[31m' '..' ''; do
		printf 'NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 1\nencoding: raw\nname:=%s\n\nab' "$name"
	done >names.nrrd
	framecat names.nrrd -o out/
	[ "$(find . -name '*.png' | sort | tr '\n' ' ')" = \
		"./out/0002.png ./out/0003.png ./out/0004.png ./out/0005.png ./out/absolute.png ./out/up.png " ]
	[ ! -e /tmp/absolute.png ]
}

@test "security: a tool reads and writes through links in a folder, and replaces no file behind another's back" {
	framecat foreign.nrrd -o real.nrrd
	ln -s real.nrrd link.nrrd
	before=$(cat real.nrrd | cksum)
	framecat --set name=x link.nrrd -o link.nrrd
	[ -L link.nrrd ]
	[ "$(cat real.nrrd | cksum)" != "$before" ]
	# a name that somebody has put where the temporary file would be is not followed
	mkdir shared
	echo precious >precious
	py 'import os, subprocess, signal
for n in range(20): os.symlink("../precious", f"shared/.o.nrrd.{os.uname().nodename}.{os.getpid()}.{n}.tmp")
os.execvp("framecat", ["framecat", "foreign.nrrd", "-o", "shared/o.nrrd"])'
	[ "$(cat precious)" = precious ]
	[ -f shared/o.nrrd ]
	[ ! -L shared/o.nrrd ]
}

@test "security: no output goes through a link that another user has put into a folder for all" {
	need_other_user
	chmod 755 .
	mkdir all mine aside
	chmod 1777 all
	echo precious >precious
	cp foreign.nrrd aside/in.nrrd
	"${other_user[@]}" ln -s ../precious all/out.nrrd
	"${other_user[@]}" ln -s ../none.nrrd all/dangling.nrrd
	"${other_user[@]}" ln -s ../aside all/folder
	"${other_user[@]}" ln -s /dev/null all/special.nrrd
	ln -s ../all/out.nrrd mine/out.nrrd
	word="is or leads through a link that another user has put into a folder which all may write into"
	for path in all/out.nrrd all/dangling.nrrd all/folder/x.nrrd all/special.nrrd mine/out.nrrd "$PWD/all/out.nrrd" \
		mine/../all/./out.nrrd all/folder/ all/folder/0.png; do
		fails 1 "framecat: ${path%/}: $word" framecat foreign.nrrd -f -o "$path"
	done
	fails 1 "framecat: all/folder/0.png: $word" framecat foreign.nrrd -o all/folder/%d.png
	fails 1 "frameinfo: all/out.nrrd: $word" frameinfo foreign.nrrd -o all/out.nrrd
	fails 1 "fringesim: all/out.nrrd: $word" fringesim -s 24x16 -p 8 --truth all/out.nrrd -o set.nrrd
	[ "$(cat precious)" = precious ]
	[ ! -e none.nrrd ]
	[ "$(ls aside)" = in.nrrd ]
	# one's own, the folder's owner's, those in a folder for oneself, and what is read
	ln -s ../mine.nrrd all/mine.nrrd
	silent framecat foreign.nrrd -o all/mine.nrrd
	[ -L all/mine.nrrd ]
	cmp <(framecat foreign.nrrd) mine.nrrd
	silent framecat all/folder/in.nrrd -o null:
	chmod 1755 all
	silent framecat foreign.nrrd -o all/dangling.nrrd
	[ -f none.nrrd ]
}

@test "security: no tool starts a program, but fringecal those beside it, videos ffmpeg and --grab, --show the words given, without a shell" {
	run ! grep -rnE '\b(popen|system|v?fork|exec[lv]p?e?|dlopen|setlocale) ?\(' "$top"/common "$top"/tools --include='*.[ch]' \
		--exclude process.c --exclude x11.c
	run -0 grep -rnE '\b(popen|system|v?fork|exec[lv]p?e?|dlopen|setlocale) ?\(' "$top"/common/base/process.c
	[ "${#lines[@]}" -eq 1 ]	# libraries of fixed names
	run -0 grep -nE '\b(popen|system|v?fork|exec[lv]p?e?|dlopen|setlocale) ?\(' "$top"/common/screen/x11.c
	[ "${#lines[@]}" -eq 1 ]	# a copy of itself, which restores the gamma ramp
	grep -rlE '\bposix_spawnp? ?\(' "$top"/common "$top"/tools --include='*.[ch]' | sort >starters
	[ "$(<starters)" = "$top/common/codec/video/ffmpeg.c
$top/common/io/command_file.c
$top/tools/fringecal/pose_captures.c" ]
	run ! grep -rnE '"(/bin/)?(ba)?sh"' "$top"/tools/fringecal "$top"/common/codec/video "$top"/common/camera
}

@test "security: every promise of fringepipe-security(7) names tests that are there" {
	page=$top/man/fringepipe-security.7
	titles=0
	while read -r macro word rest; do
		case $macro in
		.Pa)
			file=
			if [[ $word != tests/* ]]; then continue; fi
			file=$top/$word
			[ -f "$file" ] || { echo "$word is not there"; return 1; } ;;
		.Dq)
			[ -n "$file" ] || { echo "no file for: $word $rest"; return 1; }
			titles=$((titles + 1))
			grep -qF -e "@test \"$word $rest\" {" "$file" || grep -qF "cmocka_unit_test($word)" "$file" ||
				{ echo "${file#"$top"/} has no test: $word $rest"; return 1; } ;;
		esac
	done < <(grep -E '^\.(Pa|Dq) ' "$page")
	[ "$titles" -gt 50 ]
}
