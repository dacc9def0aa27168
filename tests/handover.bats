load helpers

# Frames handed from process to process in memory (common/io/shared_frames.h): the same bytes as through the
# pipe, in the same order, with the same ends.

inputs() {
	py '
rng = np.random.default_rng(3)
def frames(n, c):
	return [Frame(rng.normal(size=(c, 131, 203)).astype("f4"), ["absphase", "modulation", "texture"][:c],
		{"axis": "x", "number": str(i)}) for i in range(n)]
write_frames("many.nrrd", frames(30, 3)); write_frames("more.nrrd", frames(3, 3))
write_frames("small.nrrd", Frame(np.ones((1, 20, 30), "f4"), ["absphase"]))'
}

# written WRITER READER: runs them as a pipe, READER listening first; how many bytes WRITER wrote.
written() {
	py '
from handover_peer import *
reader = Reader("bash", "-c", "exec " + sys.argv[2], stdout=open("out", "wb"),
	listens=os.environ.get("FRINGEPIPE_HANDOVER") != "no")
writer = subprocess.Popen(["bash", "-c", "exec " + sys.argv[1]], stdout=reader.pipe)
status = reader.end()
expect(status == (0, ""), status)
os.waitid(os.P_PID, writer.pid, os.WEXITED | os.WNOWAIT)
try:
	io = open("/proc/%d/io" % writer.pid).read()
except PermissionError:	# of a process that has ended, and who asks is not root
	io = "wchar: hidden"
expect(writer.wait() == 0, "writer")
print(io.split("wchar: ")[1].split()[0])' "$@"
}

@test "handover: pixels do not go through the pipe, and are the same" {
	inputs
	bytes=$(stat -c %s many.nrrd)
	through=$(written "median many.nrrd" "median -s box")
	if [ "$through" = hidden ]; then skip "not root: this kernel hides what a process has written"; fi
	echo "$through bytes written of $bytes"
	[ "$through" -lt $((bytes / 2)) ]
	FRINGEPIPE_HANDOVER=no bash -c 'median many.nrrd | median -s box' >plain
	cmp out plain
	through=$(FRINGEPIPE_HANDOVER=no written "median many.nrrd" "median -s box")
	echo "$through bytes written of $bytes without it"
	[ "$through" -ge "$bytes" ]
	cmp out plain
}

@test "handover: a program of others gets whole frames" {
	inputs
	median many.nrrd >want
	median many.nrrd | cat >got
	cmp want got
	median many.nrrd | cat | median -s box >got
	fringepipe median many.nrrd , median -s box >want
	cmp want got
	median many.nrrd | (head -c 300000; cat) >got
	median many.nrrd | cmp - got
}

@test "handover: planes that are passed on go from the first process to the last" {
	inputs
	for stage in "median -s row" "framecat --channels absphase,texture" "framecat --channels texture,absphase,texture"; do
		median many.nrrd | $stage | median -s column | framecat >got
		FRINGEPIPE_HANDOVER=no bash -c "median many.nrrd | $stage | median -s column | framecat" >want
		cmp want got
	done
}

@test "handover: several writers after one another, some of them strangers" {
	inputs
	(median more.nrrd; cat more.nrrd; median -s box small.nrrd; median -s box more.nrrd; cat small.nrrd) |
		(sleep 0.3; median -s row) >got
	(median more.nrrd; cat more.nrrd; median -s box small.nrrd; median -s box more.nrrd; cat small.nrrd) >all.nrrd
	median -s row <all.nrrd | framecat --set cmd.2=x >want
	framecat --set cmd.2=x <got | cmp - want
	[ "$(frameinfo got | grep -c '^frame')" -eq 11 ]
}

@test "handover: a reader that keeps all frames until the end" {
	inputs
	FRINGEPIPE_REPEAT=12 framecat --frames 0- many.nrrd | framecat --stack >got
	export FRINGEPIPE_HANDOVER=no
	FRINGEPIPE_REPEAT=12 framecat --frames 0- many.nrrd | framecat --stack | cmp - got
	median many.nrrd >plain
	unset FRINGEPIPE_HANDOVER
	median many.nrrd | framecat --stack >got	# frames made one by one, in memory used again
	framecat --stack <plain | cmp - got
	py 'write_frames("lot.nrrd", [Frame(np.full((130, 140), i, "f4"), ["absphase"]) for i in range(600)])'
	(ulimit -n 512; median -j 1 lot.nrrd | framecat -j 1 --stack >got)	# more than it may have descriptors
	median lot.nrrd | cat | framecat --stack | cmp - got
}

@test "handover: a reader that ends early ends the writer by SIGPIPE" {
	inputs
	for i in 1 2 3; do
		run bash -c 'FRINGEPIPE_REPEAT=1000000 median many.nrrd | timeout -s KILL 0.7 median -o null:
			echo "${PIPESTATUS[0]}"'
		echo "$output"
		[ "${lines[-1]}" -eq 141 ]
	done
}

@test "handover: a header that names pixels which are not there" {
	printf 'NRRD0004\ntype: float\ndimension: 2\nsizes: 200 200\nendian: little\nencoding: raw\ndata file: @1\n\n' >bad.nrrd
	fails 1 "standard input: pixels of a frame are not where its header says" bash -c 'cat bad.nrrd | exec framecat'
	fails 1 "data in a separate file are not read: data file: @1" framecat bad.nrrd
	FRINGEPIPE_HANDOVER=no fails 1 "data in a separate file are not read: data file: @1" \
		bash -c 'cat bad.nrrd | exec framecat'
}

@test "handover: a writer that dies before its header leaves its pixels to nobody" {
	py '
from handover_peer import *
ours = np.random.default_rng(1).normal(size=(60, 300)).astype("f4")
write_frames("ours.nrrd", Frame(ours, ["absphase"]))
reader = Reader("framecat", "-o", "got.nrrd")
for number in range(3):				# their numbers from 0, 1, 2; ours may begin anywhere
	dead = reader.connect()
	send(dead, message(number + 1, 0), [memory(ours + 1)])
	dead.close()
for i in range(2):
	subprocess.run(["median", "ours.nrrd"], stdout=reader.pipe, check=True)
status = reader.end()
expect(status == (0, ""), status)
subprocess.run(["median", "-o", "want.nrrd", "ours.nrrd"], check=True)
expect(len(read_frames("got.nrrd")) == 2)
for frame in read_frames("got.nrrd"):
	expect(np.array_equal(frame.pixels, read_frame("want.nrrd").pixels))'
}

@test "handover: pixels that are not as they should be are one line, not a crash" {
	py '
from handover_peer import *
pixels = np.ones((60, 300), "f4")
def refused(what, fds, text=message(5, 0), head=header(300, 60, 5)):
	reader = Reader("framecat", "-o", "null:")
	connection = reader.connect()
	send(connection, text, fds)
	reader.write(head)
	status, line = reader.end()
	print(status, line)
	if what is None:
		expect((status, line) == (0, ""), status, line)
	else:
		expect(status == 1 and line.startswith("framecat: standard input: " + what), status, line)
		expect(line.count("\n") == 1, line)
refused(None, [memory(pixels)])
where, what = "pixels of a frame are not where its header says", "pixels of a frame are not what its header says"
refused(what, [memory(pixels, sealed=False)])	# it could shrink while it is read
refused(what, [os.open("/dev/zero", os.O_RDWR)])
refused(what, [os.open("file", os.O_RDWR | os.O_CREAT)])
refused(what, [memory(pixels)], head=header(300, 6000, 5))
refused(what, [memory(pixels)], head=header(30000, 6000, 5))
refused(what, [memory(pixels)] * 2, text=message(5, 0, 0))
refused(what, [], text=message(5))
for offset in (32, 65536, 2 ** 64 - 64, 2 ** 63):
	refused(what, [memory(pixels)], text=message(5, offset))
refused(where, [memory(pixels)], text=message(4, 0))
refused(where, [], text=message(5, 0))
refused(where, [memory(pixels)], text=message(5))
refused(where, [memory(pixels)], text=message(5, 0, 0))
refused(where, [memory(pixels)], text=message(5, 0)[:-1])
refused(where, [memory(pixels)], text=b"")
for number in ("", "-5", "+5", " 5", "5x", "0", "5 6"):
	refused("data in a separate file are not read: data file: @" + number, [memory(pixels)],
		head=header(300, 60, number))
for field in (b"type: double", b"endian: big", b"encoding: gzip", b"kinds: list domain domain"):
	head = header(300, 60, 5, "kinds: domain domain\n")
	name = field[:field.index(b":")]
	head = b"\n".join(field if line.startswith(name) else line for line in head.split(b"\n"))
	if name == b"kinds":
		head = head.replace(b"dimension: 2\nsizes: 300 60", b"dimension: 3\nsizes: 1 300 60")
	refused("pixels of a frame are not as tools hand them over", [memory(pixels)], head=head)'
}

@test "handover: headers that another one took from the pipe stop neither side" {
	inputs
	py '
from handover_peer import *
import array, fcntl, signal, termios
held = array.array("i", [0])
reader = Reader("framecat", "-j1", "-o", "null:")
end = os.open("/proc/%d/fd/0" % reader.process.pid, os.O_RDONLY)
os.kill(reader.process.pid, signal.SIGSTOP)
writer = subprocess.Popen(["median", "-j1", "many.nrrd"], stdout=reader.pipe, stderr=subprocess.DEVNULL)
while not held[0]:
	fcntl.ioctl(end, termios.FIONREAD, held)
time.sleep(0.1)					# two headers, or the first frame as a whole
fcntl.ioctl(end, termios.FIONREAD, held)
os.read(end, held[0])
os.close(end)
os.kill(reader.process.pid, signal.SIGCONT)
ends = reader.end()[0], writer.wait(timeout=20)
print(held[0], ends)
expect(ends[0] in (0, 1) and ends[1] in (0, 1, -signal.SIGPIPE), ends)'
}

@test "handover: limits of files and descriptors leave the pipe" {
	inputs
	median many.nrrd >want
	framecat --stack <want >stacked
	for limit in "-f 100" "-n 24" "-n 64" "-n 511"; do
		# shellcheck disable=SC2086
		(ulimit $limit; median -j1 many.nrrd | cat) | cmp - want
		# shellcheck disable=SC2086
		(ulimit $limit; median -j1 many.nrrd | framecat -j1 --stack) | cmp - stacked
	done
}

@test "handover: another user's tools get and give whole frames" {
	need_other_user
	inputs
	chmod 755 .
	median many.nrrd | framecat >want
	median many.nrrd | (sleep 0.2; exec "${other_user[@]}" framecat) | cmp - want
	"${other_user[@]}" median many.nrrd | framecat | cmp - want
}

@test "handover: many pipes at once, each gets its own frames" {
	inputs
	one() { median -j1 many.nrrd | median -j1 -s box | framecat -j1 | cksum; }
	for i in $(seq 24); do one >"sum$i" & done
	wait
	FRINGEPIPE_HANDOVER=no one >want
	for i in $(seq 24); do cmp want "sum$i"; done
}

@test "handover: stages that are killed or stopped leave whole frames, and the others end" {
	inputs
	py '
import os, random, signal, subprocess, threading, time
def start(**more):
	stages, end, env = [], None, dict(os.environ, FRINGEPIPE_REPEAT="8", **more)
	for words in ("median -j1 many.nrrd", "framecat -j1 --channels absphase", "median -j1 -s row", "framecat -j1"):
		stages.append(subprocess.Popen(words.split(), stdin=end, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env))
		if end:
			end.close()
		end = stages[-1].stdout
		env.pop("FRINGEPIPE_REPEAT", None)
	return stages
want = start(FRINGEPIPE_HANDOVER="no")[-1].stdout.read()
random.seed(7)
for turn in range(8):
	stages, got = start(), []
	thread = threading.Thread(target=lambda: got.append(stages[-1].stdout.read()))
	thread.start()
	for stage in random.choices(stages, k=4):
		time.sleep(random.uniform(0, 0.03))
		if stage.poll() is None:
			stage.send_signal(signal.SIGSTOP)
			time.sleep(random.uniform(0, 0.02))
			stage.send_signal(signal.SIGCONT)
	if turn:
		random.choice(stages).kill()
	for stage in stages:
		stage.wait(timeout=30)
	thread.join()
	print(turn, len(got[0]), [stage.returncode for stage in stages])
	# a stage whose writer was killed fails in order, and marks the end of its own stream
	expect(want.startswith(got[0].removesuffix(b"FAILED: the writer of this stream failed\n")))
	expect(turn > 0 or want == got[0])'
}
