load helpers

# Frames handed from process to process in memory (common/handover.h): the same bytes as through the
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

# written WRITER READER: runs them as a pipe, READER reading first; how many bytes WRITER wrote.
written() {
	py '
import subprocess, time
reader = subprocess.Popen(["bash", "-c", "exec " + sys.argv[2]], stdin=subprocess.PIPE, stdout=open("out", "wb"))
time.sleep(0.5)				# it listens now
writer = subprocess.Popen(["bash", "-c", "exec " + sys.argv[1]], stdout=reader.stdin)
reader.stdin.close()
expect(reader.wait() == 0, "reader")
import os
os.waitid(os.P_PID, writer.pid, os.WEXITED | os.WNOWAIT)
io = open("/proc/%d/io" % writer.pid).read()
expect(writer.wait() == 0, "writer")
print(io.split("wchar: ")[1].split()[0])' "$@"
}

@test "handover: pixels do not go through the pipe, and are the same" {
	inputs
	bytes=$(stat -c %s many.nrrd)
	through=$(written "median many.nrrd" "median -s box")
	echo "$through bytes written of $bytes"
	[ "$through" -lt $((bytes / 50)) ]
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
	(ulimit -n 128; for i in 1 2 3 4 5; do cat many.nrrd; done | median -j 1 | framecat -j 1 --stack >got)
	for i in 1 2 3 4 5; do cat many.nrrd; done | median | cat | framecat --stack | cmp - got
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
