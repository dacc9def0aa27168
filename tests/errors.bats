load helpers

# Every error that the command line, the chain and files can meet: exit code, one line, and what is left
# behind. Tools' own errors are in their own tests.

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
	py '
write_frames("in.nrrd", Frame(np.arange(12, dtype="f4").reshape(1, 3, 4), ["absphase"]))
write_frames("two.nrrd", [Frame(np.zeros((1, 3, 4), "f4"), ["absphase"])] * 2)'
}

# The folder holds nothing but the two inputs.
nothing_new() {
	[ "$(ls -A)" = "$(printf 'in.nrrd\ntwo.nrrd')" ] || { ls -lA; return 1; }
}

@test "errors: options that do not exist, lack a value or have one too many" {
	fails 2 "median: --nonsense: unknown or ambiguous option, see --help" median --nonsense in.nrrd
	fails 2 "median: --v: unknown or ambiguous option" median --v in.nrrd
	fails 2 "median: a chain of stages begins with the word fringepipe: fringepipe median ... , gauss ..." \
		median in.nrrd , gauss -n 3
	fails 2 "median: a chain of stages begins with the word fringepipe" median in.nrrd, gauss -n 3
	fails 2 "median: -Z: unknown option, see --help" median -Z in.nrrd
	fails 2 "median: -Z: unknown option" median -qZ in.nrrd
	fails 2 "median: -Z: unknown option" median in.nrrd -Z
	fails 2 "median: -Z: unknown option" median --verbose -Zq in.nrrd
	fails 2 "median: -Z: unknown option" median "" -Zq
	fails 2 "median: -j: wants a value" median in.nrrd -j
	fails 2 "median: -j: wants a value" median -vj
	fails 2 "median: --output: wants a value" median in.nrrd --output
	fails 2 "median: --quiet=3: takes no value" median --quiet=3 in.nrrd
	nothing_new
}

@test "errors: values that are no numbers, out of range, no word, no size, no list" {
	fails 2 "--threads: wants a whole number, not 'x'" median -j x in.nrrd
	fails 2 "--threads: wants a whole number, not '1.5'" median -j 1.5 in.nrrd
	fails 2 "--threads: wants a whole number, not ''" median -j '' in.nrrd
	fails 2 "--threads: must be 1 to 1024, not '0'" median -j 0 in.nrrd
	fails 2 "--threads: must be 1 to 1024, not '-3'" median -j -3 in.nrrd
	fails 2 "--threads: must be 1 to 1024, not '2000'" median -j 2000 in.nrrd
	fails 2 "--shape: must be one of auto row column box, not 'ro'" median -s ro in.nrrd
	fails 2 "--shape: must be one of" median -s '' in.nrrd
	fails 2 "--ambient: wants a number, not '1,5'" shade --ambient 1,5 in.nrrd
	fails 2 "--ambient: wants a number, not 'nan'" shade --ambient nan in.nrrd
	fails 2 "--ambient: must be 0 to 1, not '1.01'" shade --ambient 1.01 in.nrrd
	fails 2 "--jump: must be at least 0, not '-1'" shade --jump -1 in.nrrd
	fails 2 "--light: must be -180 to 180 degrees, not '0,181'" shade --light 0,181 in.nrrd
	fails 2 "--light: wants numbers separated by commas, not '0 0'" shade --light '0 0' in.nrrd
	fails 2 "--size: wants a size such as 800x600, not '800'" shade --size 800 in.nrrd
	fails 2 "--size: wants a size such as 800x600, not '0x5'" shade --size 0x5 in.nrrd
	fails 2 "--device: must be cpu, gpu, gpu:N, gpu:NAME or auto, not 'nonsense'" median -d nonsense in.nrrd
	fails 2 "--device: must be cpu, gpu, gpu:N, gpu:NAME or auto, not 'gpus'" median -d gpus in.nrrd
}

@test "errors: the last occurrence of an option wins, whatever stood before" {
	median -s box --shape=column -s row -j 3 -j 1 in.nrrd >a.nrrd
	median --shape row in.nrrd >b.nrrd
	cmp a.nrrd b.nrrd
}

@test "errors: a GPU that is demanded and is not there is exit 3; else the processor computes" {
	export VK_ICD_FILENAMES=/nonexistent VK_DRIVER_FILES=/nonexistent
	fails 3 "median: no GPU: " median -d gpu in.nrrd
	fails 3 "fringepipe: no GPU: " fringepipe -d gpu median in.nrrd
	fails 3 "fringepipe: no GPU: " fringepipe median -d gpu in.nrrd , median
	fails 3 "median: no GPU: " median -d gpu:7 in.nrrd
	median -d cpu in.nrrd >a.nrrd
	median -d auto in.nrrd >b.nrrd
	median in.nrrd >c.nrrd
	cmp a.nrrd b.nrrd
	cmp a.nrrd c.nrrd
}

@test "errors: a chain that is put together wrongly" {
	fails 2 "fringepipe: stage 1 is empty" fringepipe
	fails 2 "fringepipe: stage 1 is empty" fringepipe -j 1
	fails 2 "fringepipe: stage 1 is empty" fringepipe , median
	fails 2 "fringepipe: stage 2 is empty" fringepipe median in.nrrd ,
	fails 2 "fringepipe: stage 2 is empty" fringepipe median in.nrrd , , median
	fails 2 "fringepipe: medium: no such stage (is it median?), see fringepipe --help" fringepipe medium in.nrrd
	fails 2 "fringepipe: in.nrrd: no such stage" fringepipe in.nrrd , median
	fails 2 "fringepipe: median,: no such stage: put a blank before the comma" fringepipe median, median
	fails 2 "fringepipe: in.nrrd,: blank before the comma" fringepipe median in.nrrd, median
	fails 2 "fringepipe: in.nrrd,: blank before the comma" fringepipe median in.nrrd, shade --view 3,4
	fails 2 "median: takes its input from the stage before, not from 'two.nrrd'" \
		fringepipe median in.nrrd , median two.nrrd
	fails 2 "fringepipe: frameplot: gives no frames, so it can only be the last stage" \
		fringepipe median in.nrrd , frameplot , median
	for option in "-o x.nrrd" -f "-j 2" -v -q --no-sync; do
		# shellcheck disable=SC2086
		fails 2 "fringepipe: median: -o -f -j -v -q --no-check --no-sync --keep-going --strict --valid --raw --follow --idle stand before the first stage or in the last" \
			fringepipe median $option in.nrrd , median
	done
	fails 2 "fringepipe: --nonsense: unknown or ambiguous option" fringepipe --nonsense median in.nrrd
	fails 2 "fringepipe: median (stage 1): --nonsense: unknown or ambiguous option" fringepipe median --nonsense in.nrrd , median
	fails 2 "fringepipe: median: --nonsense: unknown or ambiguous option" fringepipe median --nonsense in.nrrd , framecat
	fails 2 "fringepipe: --nonsense: unknown or ambiguous option" fringepipe median --nonsense in.nrrd
	fails 2 "fringepipe: median (stage 2): --shape: must be one of" fringepipe median in.nrrd , median -s disc
	fails 2 "fringepipe: gauss: --sigma: wants a number, not 'x'" fringepipe gauss -s x , median
	fails 2 "fringepipe: median: -o -f" fringepipe median -j 1 in.nrrd , framecat
	nothing_new
	fringepipe -o a.nrrd -j 2 median in.nrrd , median
	fringepipe median in.nrrd , median -j 1 -o b.nrrd
	cmp a.nrrd b.nrrd
}

@test "errors: a stage that makes frames can only be the first" {
	fails 2 "fringegen: makes frames, so it can only be the first stage" \
		fringepipe median in.nrrd , fringegen
	nothing_new
}

@test "errors: all options are looked at before a byte is read" {
	# The input never ends and never begins.
	mkfifo pipe
	sleep 20 >pipe 3>&- & feeder=$!
	fails 2 "--shape: must be one of" timeout 5 fringepipe median pipe , median -s disc
	fails 2 "x.xyw: suffix tells no image format" timeout 5 median pipe -o x.xyw
	fails 1 "no/x.tif: cannot be created" timeout 5 fringepipe median pipe , median -o no/x.tif
	kill $feeder
}

@test "errors: a file that cannot be read ends the run though a named pipe behind it has no writer" {
	mkfifo pipe
	echo rubbish >bad.png
	for threads in 1 2 4; do
		fails 1 "bad.png: not a known image format" timeout 5 framecat -j $threads -o x.nrrd bad.png pipe
	done
}

@test "errors: standard input twice" {
	fails 2 "standard input is named 2 times" median - - <in.nrrd
	fails 2 "standard input is named 2 times" framecat - in.nrrd - <in.nrrd
	median - <in.nrrd >a.nrrd
	framecat in.nrrd - in.nrrd <in.nrrd >b.nrrd
	py 'expect(len(read_frames("b.nrrd")) == 3)'
}

@test "errors: terminals" {
	run script -qec "median -o x.nrrd" /dev/null
	[ "$status" -eq 2 ]
	[ "${output%$'\r'}" = "median: no input: name files, or pipe frames in; see --help" ]
	run script -qec "fringepipe median , median -o x.nrrd" /dev/null
	[ "$status" -eq 2 ]
	[[ $output == *"no input: name files, or pipe frames in; see --help"* ]]
	run script -qec "median in.nrrd" /dev/null
	[ "$status" -eq 2 ]
	[[ $output == *"median: standard output is a terminal: give -o FILE, or pipe the frames on"* ]]
	run script -qec "median in.nrrd -o out.nrrd" /dev/null
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run script -qec "median in.nrrd | cat >piped.nrrd" /dev/null
	[ "$status" -eq 0 ]
	cmp out.nrrd piped.nrrd
}

@test "errors: inputs that are not there or cannot be read" {
	fails 1 "median: nothing.nrrd: cannot be opened: No such file or directory" median nothing.nrrd
	fails 1 "no/thing.nrrd: cannot be opened: No such file or directory" median in.nrrd no/thing.nrrd -o x.nrrd
	fails 2 "median: name of an input is empty" median ''
	mkdir empty
	fails 1 "median: empty: folder holds no images" median empty
	rmdir empty
	nothing_new
	fails 1 "in.nrrd: cannot be opened: Not a directory" median in.nrrd/in.nrrd
	cp in.nrrd secret.nrrd
	chmod 0 secret.nrrd
	chmod 755 .
	[ "$EUID" -eq 0 ] || other_user=()	# root may read it
	fails 1 "secret.nrrd: cannot be opened: Permission denied" "${other_user[@]}" median secret.nrrd
}

@test "errors: names of outputs" {
	fails 2 "x.xyw: suffix tells no image format; known are" median in.nrrd -o x.xyw
	fails 2 "median: x: suffix tells no image format" median in.nrrd -o x
	fails 2 "name of the output is empty" median in.nrrd -o ''
	fails 2 '%s.tif: only %d or %04d can number files; %% is a percent sign' median in.nrrd -o %s.tif
	fails 2 '%d%d.tif: 2 numbers in the name, where one can be' median in.nrrd -o %d%d.tif
	fails 1 "no/x.tif: cannot be created: there is no folder no (mkdir -p makes it)" median in.nrrd -o no/x.tif
	fails 1 "no/%d.tif: cannot be created: No such file or directory" median in.nrrd -o no/%d.tif
	fails 1 "no/no/: cannot be created: there is no folder no (mkdir -p makes it)" median in.nrrd -o no/no/
	nothing_new
	median two.nrrd -o 100%%_%03d.tif
	[ -e 100%_000.tif ]
	[ -e 100%_001.tif ]
}

@test "errors: several frames into a file that holds one" {
	fails 1 "x.pfm: PFM holds one frame, and a second one came; %04d in the name numbers the files" \
		median two.nrrd -o x.pfm
	fails 1 "x.png: PNG holds one frame" framecat --as uchar two.nrrd -o x.png
	nothing_new
	median two.nrrd -o x.nrrd
	median two.nrrd -o x.tif
	framecat x.tif | py 'expect(len(read_frames(sys.stdin.buffer)) == 2)'
}

@test "errors: a folder that is not empty wants -f" {
	mkdir full
	echo hello >full/note
	fails 2 "full: folder is not empty; -f writes into it" median in.nrrd -o full
	fails 2 "full/: folder is not empty; -f writes into it" median in.nrrd -o full/
	fails 2 "full: folder is not empty" fringepipe median in.nrrd , median -o full
	[ "$(ls -A full)" = note ]
	median -f in.nrrd -o full
	[ "$(ls full)" = $'0000.tif\nnote' ]
	fringepipe -f -o full median two.nrrd , median
	[ "$(ls full)" = $'0000.tif\n0001.tif\nnote' ]
	median in.nrrd -o new/
	[ "$(ls new)" = 0000.tif ]
}

@test "errors: a full device fails the run and leaves nothing behind" {
	fails 1 "median: standard output: cannot be written: No space left on device" \
		bash -c 'median in.nrrd >/dev/full'
	fails 1 "fringepipe: standard output: cannot be written" bash -c 'fringepipe median in.nrrd , median >/dev/full'
	fails 1 "/dev/full: cannot be written: No space left on device" median in.nrrd -o /dev/full
	for suffix in nrrd tif png jpg npy pfm pgm ply obj; do
		name=image as=uchar
		case $suffix in ply | obj) name=depth as=float ;; nrrd | tif | pfm) as=float ;; esac
		ln -s /dev/full full.$suffix
		fails 1 "full.$suffix: cannot be written: No space left on device" \
			framecat --set channels=$name --as $as in.nrrd -o full.$suffix
		[ -L full.$suffix ]
		rm full.$suffix
	done
	nothing_new
	# Larger than every buffer, so that the failure comes in the middle.
	py 'write_frames("large.nrrd", Frame(np.random.default_rng(1).random((1, 700, 700)).astype("f4"), ["absphase"]))'
	fails 1 "median: standard output: cannot be written" bash -c 'median large.nrrd >/dev/full'
	fails 1 "/dev/full: cannot be written" median large.nrrd -o /dev/full
	for suffix in nrrd tif npy pfm; do
		# 100 blocks of 1 KiB: the limit acts as a disk that fills up.
		fails 1 "x.$suffix: " bash -c "ulimit -f 100; exec median large.nrrd -o x.$suffix"
	done
	rm large.nrrd
	# plots, which a library writes: larger than the first buffer of a file, too
	py 'write_frames("row.nrrd", Frame(np.random.default_rng(1).random((1, 40, 4000)).astype("f4"), ["depth"]))'
	for suffix in svg png pdf; do
		ln -s /dev/full full.$suffix
		fails 1 "full.$suffix: cannot be written: No space left on device" frameplot in.nrrd -o full.$suffix
		fails 1 "full.$suffix: cannot be written: No space left on device" frameplot row.nrrd -o full.$suffix
		rm full.$suffix
	done
	rm row.nrrd
	nothing_new
}

@test "errors: output over the input is safe" {
	cp in.nrrd wanted.nrrd
	median in.nrrd -o out.nrrd
	median in.nrrd -o in.nrrd
	cmp in.nrrd out.nrrd
	cp two.nrrd t.nrrd
	framecat t.nrrd t.nrrd -o t.nrrd
	py 'expect(len(read_frames("t.nrrd")) == 4)'
	ln -s wanted.nrrd link.nrrd
	median link.nrrd -o link.nrrd
	[ -L link.nrrd ]
	cmp wanted.nrrd out.nrrd
	chmod 640 out.nrrd
	median out.nrrd -o out.nrrd
	[ "$(stat -c %a out.nrrd)" = 640 ]
}

@test "errors: a run that fails leaves the old file as it was" {
	median two.nrrd -o old.nrrd
	cp old.nrrd kept.nrrd
	{ cat two.nrrd; echo junkjunk; } >bad.nrrd
	fails 1 "no NRRD header" median bad.nrrd -o old.nrrd
	cmp old.nrrd kept.nrrd
	fails 1 "no NRRD header" fringepipe median bad.nrrd , median -o old.nrrd
	cmp old.nrrd kept.nrrd
	fails 1 "nothing.nrrd: cannot be opened" median in.nrrd nothing.nrrd -o old.nrrd
	cmp old.nrrd kept.nrrd
	fails 1 "nothing.nrrd: cannot be opened" median in.nrrd nothing.nrrd -o new.nrrd
	[ "$(ls -A)" = $'bad.nrrd\nin.nrrd\nkept.nrrd\nold.nrrd\ntwo.nrrd' ]
}

@test "errors: a signal leaves the old file and no temporary one" {
	cat >killed.py <<'PY'
import os, shutil, signal, subprocess, sys, time

def run(command, number, ignored=False):
	shutil.rmtree("d", ignore_errors=True)
	os.mkdir("d")
	shutil.copy("in.nrrd", "d/old.nrrd")
	# a test that runs in the background of a script inherits SIGINT and SIGQUIT ignored
	wanted = signal.SIG_IGN if ignored else signal.SIG_DFL
	before = lambda: signal.signal(number, wanted)
	process = subprocess.Popen(command, stdin=subprocess.PIPE, preexec_fn=before)
	process.stdin.write(open("in.nrrd", "rb").read())
	process.stdin.flush()
	start = time.time()
	descriptors = "/proc/%d/fd/" % process.pid
	def writes():				# the new file is there while the input goes on
		try:
			return any(os.readlink(descriptors + fd).startswith(os.getcwd() + "/d/")
				for fd in os.listdir(descriptors))
		except FileNotFoundError:
			return False
	while not writes():
		assert time.time() < start + 60, "no temporary file"
		time.sleep(0.005)
	process.send_signal(number)
	if ignored:
		process.stdin.close()
	status = process.wait(60)
	wanted = 0 if ignored else -number
	assert status == wanted, (command, number, status)
	assert os.listdir("d") == ["old.nrrd"], os.listdir("d")
	same = open("d/old.nrrd", "rb").read() == open("in.nrrd", "rb").read()
	assert same != ignored, (command, number)

for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
	run(["median", "-o", "d/old.nrrd"], number)
	run(["fringepipe", "-j", "3", "median", ",", "median", "-o", "d/old.nrrd"], number)
run(["median", "-o", "d/old.nrrd"], signal.SIGHUP, ignored=True)	# nohup
PY
	ulimit -c 0
	python3 killed.py
	if make_shim; then NO_TMPFILE=yes shimmed python3 killed.py; fi
}

@test "errors: a reader that goes away ends the writer silently" {
	py 'write_frames("large.nrrd", Frame(np.zeros((1, 1000, 1000), "f4"), ["absphase"]))'
	for command in "median large.nrrd large.nrrd" "fringepipe median large.nrrd , median"; do
		run bash -c "$command 2>messages | head -c 100 >head; echo \${PIPESTATUS[0]}"
		[ "$output" = 141 ]
		[ ! -s messages ]
		[ "$(wc -c <head)" -eq 100 ]
	done
	# Where SIGPIPE is ignored, as some programs leave it to their children, it is an error like others.
	run bash -c "trap '' PIPE; median large.nrrd 2>messages | head -c 100 >head; echo \${PIPESTATUS[0]}"
	[ "$output" = 1 ]
	[ "$(cat messages)" = "median: standard output: cannot be written: Broken pipe" ]
}

@test "errors: a standard file that is closed fails what uses it, and no other file gets its number" {
	fails 1 "median: standard output: cannot be written: Bad file descriptor" bash -c 'median in.nrrd >&-'
	fails 1 "median: standard output: could not be written: Bad file descriptor" bash -c 'median --help >&-'
	fails 1 "median: standard input: cannot be read: Bad file descriptor" bash -c 'median -o x.nrrd <&-'
	nothing_new
	median in.nrrd -o good.nrrd
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
		bash -c "median in.nrrd -o out.nrrd $closed"
		cmp good.nrrd out.nrrd
		# what has nothing to write misses nothing: 1 would mean that they differ
		bash -c "framecmp good.nrrd out.nrrd $closed"
		rm out.nrrd
	done
	# frames on their way to standard output stay out of another output
	fringesim -s 20x10 -p 5 --truth truth.nrrd -o sim.nrrd
	fails 1 "fringesim: standard output: cannot be written" \
		bash -c 'fringesim -s 20x10 -p 5 --truth other.nrrd >&-'
	[ ! -e other.nrrd ] || cmp truth.nrrd other.nrrd
	# messages, too
	fringegen -s 40x40 -p 8 -o 'p%d.png'
	head -c 60 p1.png >cut.png
	run framecat --keep-going -o good.nrrd p0.png cut.png p1.png
	[ "$status" -eq 1 ]
	[[ $output == *"frame 1 is lost: cut.png: "* ]]
	run bash -c 'framecat --keep-going -o out.nrrd p0.png cut.png p1.png <&- 2>&-'
	[ "$status" -eq 1 ]
	cmp good.nrrd out.nrrd
}

@test "errors: --help, --version and --words answer on standard output, and fail where it is full" {
	for tool in median framecat fringepipe "fringepipe median"; do
		for option in --help --version --words -h -V; do
			# shellcheck disable=SC2086
			run --separate-stderr $tool $option </dev/null
			[ "$status" -eq 0 ]
			[ -z "$stderr" ]
			[ -n "$output" ]
			fails 1 "standard output: could not be written: No space left on device" \
				bash -c "$tool $option >/dev/full"
		done
	done
	median --help | has '^usage: median \[OPTION ...\] \[FILE ...\]$'
	median --help | has -- '-s, --shape WORD .*auto row column box \[auto\]'
	median --help | has -- '-j, --threads N .*1 to 1024'
	median --version | has -E '^median \(fringepipe\) [0-9]+\.[0-9]+( \(commit [0-9a-f]+(-dirty)?\))?$'
	median --words | has -x -- '--shape=column'
	fringepipe --help | has -E '^median +take whole-turn spikes'
	diff <(fringepipe median --help) <(median --help)
	# The tool answers whatever else the command line holds, as long as it can be parsed.
	median nothing.nrrd --version
	fails 2 "--nonsense: unknown" median --nonsense --help
}

# The group of a page that is called usual, or else SYNOPSIS, names what --help lists.
@test "errors: --help lists the options that the page calls usual, --help=all every one" {
	n=0
	for page in "$top"/man/*.1; do
		tool=$(basename "$page" .1)
		[ -L "$(command -v "$tool")" ] || continue	# stages alone
		section='Ss Usual options'
		grep -q "$section" "$page" || section='Sh SYNOPSIS'
		$tool --help >usual
		own() { sed -n '/^options$/,/^options that/p' "$1" | grep -oE '^  (-.|  )[ ,] --[a-z0-9-]+' | sed 's/.*--//' | sort; }
		$tool --help=all >all
		[ "$(grep -c '^  ' all)" -eq "$(($(grep -c '^  ' usual) + $(grep -oP '^\d+(?= more options: )' usual)))" ]
		[ "$(own usual)" != "$(own all)" ] || continue
		n=$((n + 1))
		sed -n "/$section/,/^\.S[sh] /p" "$page" | sed 1d | sed '/^\.S[sh] /,$d' >named
		for word in $(own usual); do
			letter=$(grep -oP -- "^  -\K.(?=, --$word )" all || true)
			grep -qE -- "Fl (.*[ ,])?(-$word|${letter:-$word})( |\$)" named ||
				{ echo "$tool: --$word is in --help, not among the usual ones of its page"; return 1; }
		done
		[ "$section" = 'Ss Usual options' ] || continue
		while read -r word; do
			own usual | has -x -- "$word" || [ "$word" = output ] ||
				{ echo "$tool: --$word is among the usual ones of its page, not in --help"; return 1; }
		done < <(sed -n 's/^\.It//p' named | grep -oP '(?<= -)[a-z][a-z0-9-]+')
	done
	[ "$n" -ge 15 ]
}

@test "errors: messages are one printable line, lower case, whatever the names hold" {
	cat >hostile.py <<'PY'
import os, subprocess

name = b"a\n\x1b[31mred\r\x07\xff\xc3\xa9%s%n"
os.mkdir(name)
open(name + b"/" + name, "wb").write(b"hello")
inside = name + b"/" + name
for words, wanted in [
	([b"median", inside], 1), ([b"median", b"none" + name], 1),
	([b"median", b"in.nrrd", b"-o", name + b"/"], 2), ([b"median", b"in.nrrd", b"-o", name + b".xyw"], 2),
	([b"median", b"in.nrrd", b"-o", b"no/" + name + b".tif"], 2),
	([b"median", b"in.nrrd", b"-o", b"no/" + name[:-4] + b".tif"], 1),
	([b"median", b"--" + name], 2), ([b"median", b"-s", name], 2), ([b"median", b"-j", name], 2),
	([b"median", b"-\n"], 2), ([b"median", b"-\xff"], 2), ([b"median", b"-d", name], 2),
	([b"fringepipe", name], 2), ([b"fringepipe", name + b","], 2),
	([b"fringepipe", b"median", b"in.nrrd", b",", b"median", name], 2),
	([b"median", b"x" * 3000], 1), ([b"median", b"in.nrrd", b"-o", b"y" * 3000 + b".tif"], 1),
	([b"median", b"in.nrrd", b"-o", b"y" * 254 + b".tif"], 1),
]:
	run = subprocess.run(words, capture_output=True)
	assert run.returncode == wanted, (run, wanted)
	line = run.stderr
	assert line.endswith(b"\n") and line.count(b"\n") == 1 and len(line) < 1100, run
	assert all(0x20 <= byte < 0x7f for byte in line[:-1]), run
	assert line.startswith(words[0] + b": "), run
	assert run.stdout in (b"", b"FAILED: the writer of this stream failed\n"), run

# Headers hold hostile bytes, too.
def framed(line):
	return b"NRRD0004\n" + line + b"\n\n"
for line in b"type: \x1b[2J", b"\x1b[2J", b"type: uchar\ndimension: \xff", b"\xff" * 5000:
	run = subprocess.run(["framecat"], input=framed(line), capture_output=True)
	assert run.returncode == 1 and run.stderr.count(b"\n") == 1, run
	assert all(0x20 <= byte < 0x7f for byte in run.stderr[:-1]), run
PY
	python3 hostile.py
	for message in "$(median --nonsense 2>&1 >/dev/null)" "$(median nothing 2>&1 >/dev/null)" \
		"$(fringepipe 2>&1 >/dev/null)" "$(median -j 0 in.nrrd 2>&1 >/dev/null)" \
		"$(median in.nrrd -o no/x.tif 2>&1)"; do
		[ -n "$message" ]
		# The text of strerror() is the C library's.
		[[ ${message%: *} != *[A-Z]* ]] || [[ $message == *threads* ]]
	done
}

@test "errors: in a chain the stage that lacks a channel is named" {
	fails 1 "phase2depth: input has no channel absphase, only: image" \
		phase2depth --ref ideal --ref-plane 0,0,0 -c 1 <(framecat --set channels=image in.nrrd)
	fails 1 "fringepipe: phase2depth: input has no channel absphase, only: depth" fringepipe median in.nrrd , \
		framecat --set channels=depth , phase2depth --ref ideal --ref-plane 0,0,0 -c 1 -o out.nrrd
	fails 1 "fringepipe: unwrap2f: input has no channel phase or phase1, only: " fringepipe median in.nrrd , unwrap2f
}

@test "errors: a result without a valid pixel, out of an input that has some, is told once" {
	py '
image = np.random.default_rng(0).uniform(10, 90, (3, 40, 30)).astype("f4")
write_frames("captures.nrrd", Frame(image, ["image"] * 3))
late = np.full((1, 40, 30), np.nan, "f4"); late[0, -1, -1] = 1
write_frames("late.nrrd", [Frame(late, ["absphase"]), Frame(late * np.nan, ["absphase"])])
write_frames("zero.nrrd", Frame(late * 0, ["absphase"]))'
	plane=(--ref ideal --ref-plane 0,0,0 -c 1)
	advice="--min-amplitude, --min-modulation, --dark, --max-value, --max-fit-residual, and whether the images show fringes"
	fails 1 "phasewrap: no pixel of phase is valid, though the input has some: see $advice" \
		phasewrap -n 3 -s -120,0,120 --min-amplitude 99 captures.nrrd -o out.nrrd
	run -1 --separate-stderr phasewrap -n 3 -s -120,0,120 -p 30 --axis x --max-value 1 captures.nrrd captures.nrrd -o out.nrrd
	echo "$stderr" >messages
	[ "$(head -n 1 messages)" = "phasewrap: no pixel of phase is valid, though the input has some: see $advice" ]
	[[ $(tail -n +2 messages) == "phasewrap: 100 % of the pixels that pass all other limits are lost to saturation, at 1 or above"* ]]
	for run in "-j 1" "-j 2" "-j 7"; do
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=3 fails 1 "fringepipe: phasewrap: no pixel of phase is valid" fringepipe $run \
			phasewrap -n 3 -s -120,0,120 -p 30 --min-amplitude 99 captures.nrrd , unwrap2f --field 30 , \
			median , phase2depth "${plane[@]}" -o out.nrrd
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=3 run -1 --separate-stderr phase2depth $run "${plane[@]}" --max-depth 0.5 late.nrrd -o out.nrrd
		[[ $stderr == "phase2depth: no pixel of depth is valid, though the input has some: see --origin"* ]]
		# shellcheck disable=SC2086
		FRINGEPIPE_BAND=3 fails 0 "phase2depth: no pixel of the input is valid in frame 1" \
			phase2depth $run "${plane[@]}" late.nrrd -o out.nrrd
	done
	run -0 --separate-stderr phase2depth "${plane[@]}" --min-depth 1 late.nrrd zero.nrrd -o out.nrrd
	[[ $stderr == *"input is valid in frame 1"*"phase2depth: no pixel of depth is valid in frame 2, "* ]]
	fails 1 "phasewrap: no frame has a valid pixel" phasewrap -q -n 3 --min-amplitude 99 captures.nrrd -o out.nrrd
}

@test "errors: words of the environment that are wrong" {
	for name in SYNC HANDOVER; do
		for word in maybe 0 No; do
			fails 2 "framecat: FRINGEPIPE_$name: must be yes or no, not '$word'" \
				env "FRINGEPIPE_$name=$word" framecat in.nrrd -o out.nrrd
			[ ! -e out.nrrd ]
		done
		for word in yes no ''; do
			silent env "FRINGEPIPE_$name=$word" framecat in.nrrd -o out.nrrd
			rm out.nrrd
		done
	done
	for name in BAND REPEAT; do
		fails 2 "FRINGEPIPE_$name: must be a whole number from 1, not '1.5'" \
			env "FRINGEPIPE_$name=1.5" framecat in.nrrd -o out.nrrd
	done
}

@test "errors: the folder for temporary files is named where it cannot be used" {
	py 'write_frames("small.nrrd", Frame(np.zeros((1, 8, 9), "u1"), ["image"]))'
	framecat small.nrrd -o small.tif
	mkdir here
	silent env TMPDIR="$PWD/here" bash -c 'cat small.tif | framecat -o back.tif'
	silent ls -A here
	fails 1 "framecat: standard input: cannot be copied to a temporary file in $PWD/none: No such file" \
		env TMPDIR="$PWD/none" bash -c 'cat small.tif | framecat -o out.tif'
	mkfifo pipe.tif
	cat pipe.tif >got.tif &
	silent env TMPDIR="$PWD/here" framecat small.nrrd -o pipe.tif
	wait
	cmp small.tif got.tif
	fails 1 "framecat: pipe.tif: temporary file cannot be created in $PWD/none: No such file" \
		env TMPDIR="$PWD/none" framecat small.nrrd -o pipe.tif
	py 'write_frames("large.nrrd", Frame(np.zeros((1, 80, 900), "u1"), ["image"]))'
	framecat large.nrrd -o large.tif
	fails 1 "framecat: standard input: cannot be copied to a temporary file in $PWD/here: File too large" \
		env TMPDIR="$PWD/here" bash -c "ulimit -f 8; trap '' XFSZ; cat large.tif | framecat -o null:"
}

@test "errors: where few files may be open, fewer are read ahead" {
	mkdir in
	py '
for i in range(36):
	write_frames("in/%02d.nrrd" % i, Frame(np.full((3, 4), i, "u1"), ["absphase"]))'
	framecat in -o in/many_%02d.png
	rm in/*.nrrd
	framecat in -o want.nrrd
	open=(/proc/self/fd/*)		# with the one that the shell reads this folder by
	for more in 3 12 20; do
		limit=$((${#open[@]} - 1 + more))
		(ulimit -n $limit; framecat -j 16 in -o got.nrrd)
		framecmp want.nrrd got.nrrd
		(ulimit -n $limit; fringepipe -j 16 framecat in , median -o got_%02d.tif)
		written=(got_*.tif)
		[ ${#written[@]} -eq 36 ]
		rm got_*.tif
	done
}

@test "errors: the environment asks for no more threads than -j may" {
	for n in 3 1024 1025 40000; do
		want=$((n > 1024 ? 1024 : n))
		OMP_NUM_THREADS=$n fringepipe --devices | has -x "cpu    $want threads"
	done
}

@test "errors: where threads cannot be had, fewer do the work" {
	chmod 755 .
	py 'write_frames("wide.nrrd", [Frame(np.random.default_rng(i).normal(size=(1, 90, 80)).astype("f4"), ["absphase"]) for i in range(4)])'
	median -j 4 wide.nrrd -o want.nrrd
	[ "$EUID" -eq 0 ] || other_user=()	# root has no such limit
	# a sanitizer looks for leaks in a thread of its own
	limited=("${other_user[@]}" env "ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0" prlimit --nproc=1)
	"${limited[@]}" median -j 4 wide.nrrd | cmp - want.nrrd
	"${limited[@]}" fringepipe -j 3 median wide.nrrd , framecat | cmp - <(fringepipe median wide.nrrd , framecat)
	"${limited[@]}" median -j 4 <wide.nrrd | cmp - <(median <wide.nrrd)
	head -c -9 wide.nrrd >cut.nrrd
	fails 1 "median: cut.nrrd: truncated" "${limited[@]}" median -j 4 cut.nrrd -o /dev/null
	fails 1 "median: standard output: cannot be written: No space" "${limited[@]}" bash -c 'exec median -j 4 wide.nrrd >/dev/full'
}

@test "errors: what a YAML calibration may hold beside its matrices, and what not" {
	mkdir more bad
	cp "$top/samples/block.yml" calib.yml
	cat calib.yml - >more/calib.yml <<-'END'
		date: 2026-11-20 12:00
		"a key in quotes": 3
		by: "somebody: else"	# a comment
		notes: |
		  M1: !!opencv-matrix

		  of another camera
		folded: >
		   text
		list:
		  - one
		  - [1, 2]
		nothing:
		   []
		no_map:
		   {}
		outer:
		   none: []
		   below:

		      [ 1,	# a list of a line of its own
		      2 ]
	END
	sim=(-s 48x32 -p 40 --projector 1280x800 --origin 250,200 --scene sphere)
	fringesim "${sim[@]}" --calib calib.yml -o want.nrrd
	fringesim "${sim[@]}" --calib more/calib.yml | cmp - want.nrrd
	while IFS='|' read -r line message; do
		printf '%b\n' "$line" | cat calib.yml - >bad/calib.yml
		fails 1 "bad/calib.yml: line $(($(wc -l <calib.yml) + 1)): $message" fringesim "${sim[@]}" --calib bad/calib.yml
	done <<-'END'
		by: "somebody" else|expected the end of the line, found 'else'
		list: [1, 2] 3|expected the end of the line, found '3'
		no colon|expected key: value, found 'no colon'
		"not ended: 3|expected a closing quote in this line
	END
}

@test "errors: a key that stands twice in a calibration, in JSON, YAML and XML" {
	fringesim -q -s 32x24 -p 16 -n 3 | phasewrap -q -s -120,0,120 -o phase.nrrd
	printf '{"a": 1,\n"a": 2}\n' >c.json
	printf '%%YAML:1.0\n---\na: 1\na: 2\n' >c.yml
	printf '<?xml version="1.0"?>\n<opencv_storage>\n<a>1</a><a>2</a>\n</opencv_storage>\n' >c.xml
	for name in c.json c.yml c.xml; do
		fails 1 "phase2depth: $name: line " phase2depth --calib $name phase.nrrd -o out.nrrd
		[[ $stderr == *"key a comes a second time: keep one of the two" ]]
	done
	# two names of one quantity: the same values do no harm
	cp "$top/samples/portal.json" c.json
	sed -i '/"T_cam_to_proj_mm"/{p; s/_mm//}' c.json
	py 'write_frames("abs.nrrd", Frame(np.tile(np.linspace(60, 130, 320, dtype="f4"), (240, 1)), ["absphase"]))'
	silent phase2depth -q --calib c.json --origin 0,0 --period 20 abs.nrrd -o out.nrrd
	sed -i '/"T_cam_to_proj"/s/\[ *-*[0-9.]*/[ 1/' c.json
	fails 1 "c.json: T_cam_to_proj and T_cam_to_proj_mm are two names of " \
		phase2depth --calib c.json --origin 0,0 --period 20 abs.nrrd -o out.nrrd
}
