load helpers

# What becomes of files: names, links, what a kill leaves, what reaches the disk.

# names_of NAME ...: a stream of small frames with these values of the key `name`, - for none; each has its
# number as its only sample.
names_of() {
	py 'write_frames("names.nrrd", [Frame(np.full((1, 1, 1), i, "u1"), ["image"],
		{} if name == "-" else {"name": name}) for i, name in enumerate(sys.argv[1:])])' "$@"
}

# samples: the samples of the files of d, each with its name.
samples() {
	local file
	for file in d/*.png; do
		framecat "$file" | tail -c 1 | od -An -tu1 | tr -d ' \n'
		echo " ${file#d/}"
	done | sort -n | tr '\n' ' '
}

@test "files: frames in a folder: no frame takes another one's name" {
	while read -r names want; do
		rm -rf d
		# shellcheck disable=SC2086
		names_of ${names//,/ }
		framecat names.nrrd -o d/
		[ "$(samples)" = "$want " ] || { echo "$names: $(samples)wanted $want"; false; }
	done <<-'end'
	a,a-0002,a 0 a.png 1 a-0002.png 2 a-0003.png
	a,a,a,a-0001 0 a.png 1 a-0001.png 2 a-0002.png 3 a-0001-0003.png
	0001,- 0 0001.png 1 0001-0001.png
	-,-,0001,0001 0 0000.png 1 0001.png 2 0001-0002.png 3 0001-0003.png
	x.png,x,sub/x,x-0001 0 x.png 1 x-0001.png 2 x-0002.png 3 x-0001-0003.png
	0003,-,-,- 0 0003.png 1 0001.png 2 0002.png 3 0003-0003.png
	end
}

@test "files: a dangling link is followed" {
	names_of a
	mkdir d e
	ln -s e/target.png link.png
	ln -s ../link.png d/further.png
	framecat names.nrrd -o d/further.png
	[ -L d/further.png ]
	[ -L link.png ]
	[ ! -L e/target.png ]
	framecat --delete cmd.1 e/target.png | cmp - <(framecat --delete cmd.1 d/further.png)
	ln -s "$work/e/absolute.png" absolute.png
	framecat names.nrrd -o absolute.png
	[ -f e/absolute.png ]
	[ -L absolute.png ]
	framecat names.nrrd -o link.png			# one that points to a file is followed too
	[ -L link.png ]
	ln -s nowhere/x.png lost.png
	fails 1 "lost.png: cannot be created: No such file or directory" framecat names.nrrd -o lost.png
	ln -s circle2.png circle1.png
	ln -s circle1.png circle2.png
	fails 1 "circle1.png: cannot be created: Too many levels of symbolic links" \
		framecat names.nrrd -o circle1.png
	[ -L circle1.png ]
	[ -L circle2.png ]
	[ -L lost.png ]
	[ "$(ls e)" = $'absolute.png\ntarget.png' ]
}

@test "files: a killed writer leaves nothing" {
	names_of a
	for command in "" "fringepipe framecat - ,"; do
		for output in d/new.nrrd d/old.tif; do
			rm -rf d
			mkdir d
			echo old >d/old.tif
			mkfifo pipe
			$command framecat -o $output <pipe 3>&- &
			writer=$!
			exec 7>pipe
			framecat names.nrrd >&7
			until [[ $(readlink /proc/$writer/fd/*) == *"$work/d/"* ]]; do sleep 0.01; done
			kill -KILL $writer
			wait $writer || [ $? -eq 137 ]
			exec 7>&-
			rm pipe
			[ "$(ls -A d)" = old.tif ]
	[ "$(cat d/old.tif)" = old ]
		done
	done
}

@test "files: file systems that have no files without a name" {
	need_shim
	names_of a b c d e
	framecat --frames 0 names.nrrd -o one.nrrd
	outputs() {
		mkdir "$1" "$1/folder"
		"${@:2}" framecat one.nrrd -o "$1/a.nrrd"
		"${@:2}" framecat one.nrrd -o "$1/a.tif"
		chmod 640 "$1/a.tif"
		"${@:2}" framecat names.nrrd -o "$1/a.tif"
		"${@:2}" framecat names.nrrd -o "$1/%d.png"
		"${@:2}" framecat names.nrrd -o "$1/folder"
		[ "$(stat -c %a "$1/a.tif" "$1/a.nrrd" | tr '\n' ' ')" = "640 644 " ]
		silent find . -name '*.tmp'
	}
	umask 022
	outputs want
	outputs named shimmed env NO_TMPFILE=yes
	diff -r want named
	outputs copied shimmed env LINK_FAILS=yes
	diff -r want copied
}

@test "files: they reach the disk before a tool ends, and their folder" {
	need_shim
	names_of a b c d e
	framecat --frames 0 names.nrrd -o one.nrrd
	synced() {
		rm -f synced
		FRINGEPIPE_SYNC='' SYNCED=$work/synced shimmed "$@"
		sort synced | uniq -c | awk '{ printf "%s %s ", $1, $2 }'
	}
	[ "$(synced framecat one.nrrd -o a.tif)" = "1 file 1 folder " ]
	[ "$(synced framecat one.nrrd -o a.tif)" = "1 file 1 folder " ]
	[ "$(synced framecat names.nrrd -o %d.png)" = "5 file 1 folder " ]
	mkdir there
	[ "$(synced framecat names.nrrd -o there)" = "5 file 1 folder " ]
	[ "$(synced framecat names.nrrd -o new/)" = "5 file 2 folder " ]	# and the one that the new folder is in
	[ "$(synced frameinfo names.nrrd -o a.txt)" = "1 file 1 folder " ]
	for run in "framecat --no-sync one.nrrd -o a.tif" "fringepipe --no-sync framecat one.nrrd -o a.tif" \
		"fringepipe framecat one.nrrd , framecat --no-sync -o a.tif" "env FRINGEPIPE_SYNC=no framecat one.nrrd -o a.tif"; do
		rm -f synced
		# shellcheck disable=SC2086
		FRINGEPIPE_SYNC='' SYNCED=$work/synced shimmed $run
		[ ! -e synced ]
	done
}

@test "files: a disk that fails is an error, one that cannot be asked is none" {
	need_shim
	names_of a b c d e
	framecat --frames 0 names.nrrd -o one.nrrd
	export FRINGEPIPE_SYNC='' LD_PRELOAD=$work/shim.so
	cp one.nrrd old.nrrd
	FSYNC_FILE=5 fails 1 "framecat: old.nrrd: cannot be written to the disk: Input/output error" \
		framecat --frames 1 names.nrrd -o old.nrrd
	cmp one.nrrd old.nrrd
	FSYNC_FILE=5 fails 1 "new.png: cannot be written to the disk" framecat one.nrrd -o new.png
	[ ! -e new.png ]
	mkdir d
	FSYNC_FOLDER=5 fails 1 "folder cannot be written to the disk" framecat one.nrrd -o d
	for number in 22 95; do
		FSYNC_FILE=$number FSYNC_FOLDER=$number silent framecat one.nrrd -o new.png
		rm new.png
	done
	silent find . -name '*.tmp'
	unset LD_PRELOAD
}

@test "files: each of many has its name only when it is on the disk, also where the disk fails" {
	need_shim
	names_of a b c d e f g h i j k l
	export FRINGEPIPE_SYNC=''
	ORDER=$work/order shimmed framecat names.nrrd -o %02d.png
	cat order
	awk '$1 == "disk" { on[$2] = 1; disk++ } $1 == "name" && !on[$2] { exit 1 } $1 == "name" { named++ }
		END { if (disk != 12 || named < 12) exit 1 }' order
	mkdir d
	export LD_PRELOAD=$work/shim.so
	FSYNC_FILE=5 fails 1 "cannot be written to the disk: Input/output error" framecat names.nrrd -o d
	FSYNC_FILE=5 fails 1 "0.tif: cannot be written to the disk: Input/output error" \
		framecat --frames 0 names.nrrd -o %d.tif
	unset LD_PRELOAD
	rmdir d		# it is empty
	[ ! -e 0.tif ]
}

@test "files: what is no file in the place of a cache file keeps nobody waiting" {
	names_of a
	export XDG_CACHE_HOME=$work/cache
	mkdir -p cache/fringepipe
	for make in "mkfifo" "mkdir" "ln -s /dev/zero" "ln -s costs"; do
		$make cache/fringepipe/costs
		silent timeout 20 framecat names.nrrd -o out.nrrd
		rm -r cache/fringepipe/costs
	done
}

@test "files: standard input and output that do not block" {
	py '
import fcntl, os, subprocess, time
write_frames("in.nrrd", [Frame(np.full((1, 100, 1000), i, "f4"), ["absphase"]) for i in range(5)])
write_frames("small.nrrd", Frame(np.ones((1, 1, 1), "f4"), ["absphase"]))
want, small = (open(name, "rb").read() for name in ("in.nrrd", "small.nrrd"))
def blocking(command, given): return subprocess.run([command, "-"], input=given, capture_output=True).stdout
def blocks_not(fd):
	fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
for command, given in ("framecat", want), ("frameinfo", small * 2000):
	wanted = blocking(command, given)
	r, w = os.pipe(); R, W = os.pipe()
	blocks_not(r); blocks_not(W)
	process = subprocess.Popen([command, "-"], stdin=r, stdout=W, stderr=subprocess.PIPE)
	os.close(r); os.close(W)
	if os.fork() == 0:
		os.close(R)
		for i in 0, 5, 100, 600, len(given):
			start = {0: 0, 5: 0, 100: 5, 600: 100}.get(i, 600)
			time.sleep(0.02)
			with open(w, "wb", closefd=False) as file: file.write(given[start:i])
		os._exit(0)
	os.close(w)
	time.sleep(0.1)
	got = open(R, "rb").read()
	message = process.stderr.read()
	expect(process.wait() == 0 and not message, message)
	expect(got == wanted, command, len(got), len(wanted))'
}

@test "files: two runs at once into one new folder leave whole files" {
	fringegen -q -s 33x17 -p 8 -n 4 -o want1/
	fringegen -q -s 65x9 -p 9 -n 4 -o want2/
	for _ in 1 2 3; do
		fringegen -q -s 33x17 -p 8 -n 4 -o both/ 2>one & first=$!
		fringegen -q -s 65x9 -p 9 -n 4 -o both/ 2>two & second=$!
		codes=0
		wait $first || codes=$((codes + $?))
		wait $second || codes=$((codes + $?))
		[ $codes -eq 0 ] || grep -q "folder is not empty" one two
		for file in both/*; do
			cmp -s "$file" "want1/${file#both/}" || cmp "$file" "want2/${file#both/}"
		done
		[ "$(ls -A both)" = "$(ls want1)" ]
		rm -r both
	done
}
