# Several frames at once: bytes, messages and exit codes are those of one thread, which makes frame after frame.

setup_file() {
	load helpers
	cd "$BATS_FILE_TMPDIR" || return 1
	local i
	for i in {1..9}; do
		set_of "a$i.nrrd" 160x120 "$i"
	done
	for i in 1x1 1x60 127x1 129x65; do
		set_of "s$i.nrrd" "$i" 1
	done
	# a camera that ends at 140, no light, and half of a file
	py '
import re
b = open("a5.nrrd", "rb").read()
heads = [m.start() for m in re.finditer(b"NRRD0004", b)] + [len(b)]
def save(name, change):
    with open(name, "wb") as f:
        for at, end in zip(heads[:-1], heads[1:]):
            data = b.index(b"\n\n", at) + 2
            f.write(b[at:data] + bytes(change(np.frombuffer(b[data:end], "u1"))))
save("ends.nrrd", lambda v: np.minimum(v, 140))
save("dark.nrrd", lambda v: v * 0)
open("half.nrrd", "wb").write(b[:len(b) // 2])'
	fringepipe -j 1 phasewrap a1.nrrd , gauss , unwrap2f -o ref.nrrd
	phasewrap -j 1 a1.nrrd -o wrapped.nrrd
}

setup() {
	load helpers
	cd "$BATS_FILE_TMPDIR" || return 1
}

# FILE WxH NOISE: eight images of one measurement. Their heads are the same whatever the noise, for only frames of one
# plan are made at once
set_of() {
	fringesim -s "$2" -p 60,63 -n 4 --projector 1200x800 --ref-plane 10,0.1,0 -c 5 --noise "$3" |
		framecat --delete 'cmd.*' | sed 's/^cmd\.1:=.*/cmd.1:=fringesim/' >"$1"
}

# same CODE LINES WORD ...: so many lines of messages, and all the same, of one thread and of several
same() {
	local code=$1 lines=$2 threads got
	shift 2
	got=0; fringepipe -j 1 "$@" >one.nrrd 2>one.err || got=$?
	[ "$got" -eq "$code" ] || { echo "exit $got: $*"; cat one.err; return 1; }
	[ "$(wc -l <one.err)" -eq "$lines" ] || { cat one.err; return 1; }
	for threads in 3 4 16; do
		got=0; fringepipe -j $threads "$@" >some.nrrd 2>some.err || got=$?
		[ "$got" -eq "$code" ] || { echo "-j $threads: exit $got: $*"; cat some.err; return 1; }
		cmp one.nrrd some.nrrd || { echo "-j $threads: $*"; return 1; }
		diff one.err some.err || { echo "-j $threads: $*"; return 1; }
	done
}

frames() {		# FILE: how many it has
	grep -ao NRRD0004 "$1" | wc -l
}

many=(a{1..9}.nrrd a{1..9}.nrrd)
on=(, gauss , unwrap2f , median , phase2depth --ref ideal , normals)

@test "frame_jobs: one frame, two, many; sizes that change" {
	same 0 0 phasewrap a1.nrrd "${on[@]}"
	same 0 0 phasewrap a1.nrrd a2.nrrd "${on[@]}"
	same 0 0 phasewrap "${many[@]}" "${on[@]}"
	[ "$(frames one.nrrd)" -eq 18 ]
	same 0 0 phasewrap a1.nrrd a2.nrrd a3.nrrd s1x1.nrrd s1x60.nrrd s1x60.nrrd s1x60.nrrd s127x1.nrrd s127x1.nrrd s127x1.nrrd \
		s129x65.nrrd "${many[@]}" s1x1.nrrd , gauss , unwrap2f , median
}

@test "frame_jobs: a fixed reference, one in step, stages of whole frames, state" {
	same 0 0 phasewrap "${many[@]}" , gauss , unwrap2f , phase2depth --ref ref.nrrd , normals
	for _ in {1..18}; do cat ref.nrrd; done >refs.nrrd
	same 0 0 phasewrap "${many[@]}" , gauss , unwrap2f , phase2depth --ref refs.nrrd , normals
	same 0 0 phasewrap "${many[@]}" , gauss , unwrap2f , framecat , median , phase2depth --ref ideal , normals
	same 0 0 phasewrap "${many[@]}" , gauss , unwrap2f , kalman
	same 0 0 gauss --on image "${many[@]}" , phasewrap , unwrap2f
}

@test "frame_jobs: warnings are those of the frames in order" {
	same 0 2 phasewrap a{1..4}.nrrd dark.nrrd a5.nrrd ends.nrrd "${many[@]}" "${on[@]}"
	grep -q 'no pixel of phase1 is valid in frame 4' some.err
	grep -q 'measurement 6: .* exactly 140' some.err
}

@test "frame_jobs: what cannot be read or made ends the run behind the frames before it" {
	same 1 1 phasewrap a{1..6}.nrrd half.nrrd "${many[@]}" "${on[@]}"
	[ "$(frames some.nrrd)" -eq 6 ]
	same 1 1 phasewrap a{1..6}.nrrd none.nrrd a7.nrrd "${on[@]}"
	refs=(ref.nrrd ref.nrrd ref.nrrd ref.nrrd)
	same 1 1 median "${refs[@]}" wrapped.nrrd ref.nrrd , normals
	same 1 1 median "${refs[@]}" wrapped.nrrd ref.nrrd , phase2depth --ref ideal , normals
	cat ref.nrrd ref.nrrd ref.nrrd >refs3.nrrd
	same 1 1 median "${refs[@]}" ref.nrrd ref.nrrd , framecat , phase2depth --ref refs3.nrrd , normals
	[ "$(frames some.nrrd)" -eq 3 ]
	head -c 100000 ref.nrrd >torn.nrrd
	same 1 1 median "${refs[@]}" torn.nrrd , framecat , phase2depth --ref refs3.nrrd , framecat , normals
	[ "$(frames some.nrrd)" -eq 3 ]
	grep -q 'has only 3 frames for --ref' some.err
}

@test "frame_jobs: the whole input once more, and second inputs in step with it" {
	for i in {1..6}; do
		fringepipe -j 1 phasewrap a$i.nrrd , unwrap2f
	done >inputs.nrrd
	export FRINGEPIPE_REPEAT=3
	same 0 1 phasewrap a{1..6}.nrrd , unwrap2f , framecat , phase2depth --ref inputs.nrrd , normals
}

@test "frame_jobs: --keep-going" {
	same 1 3 --keep-going phasewrap a{1..5}.nrrd half.nrrd a{6..8}.nrrd half.nrrd a9.nrrd "${on[@]}"
	[ "$(frames some.nrrd)" -eq 9 ]
	same 1 2 --keep-going median "${refs[@]}" ref.nrrd ref.nrrd wrapped.nrrd ref.nrrd , framecat , phase2depth --ref ideal , normals
	same 1 2 --keep-going gauss --on image a1.nrrd a2.nrrd half.nrrd "${many[@]}" , phasewrap , unwrap2f
}

@test "frame_jobs: no space, and a reader that leaves" {
	same 1 1 -o /dev/full phasewrap "${many[@]}" "${on[@]}"
	fringepipe -j 1 phasewrap "${many[@]}" "${on[@]}" >one.nrrd
	for threads in 3 16; do
		fringepipe -j $threads phasewrap "${many[@]}" "${on[@]}" | head -c 1000000 >begin.nrrd || [ $? -eq 141 ]
		head -c 1000000 one.nrrd | cmp - begin.nrrd
	done
}

@test "frame_jobs: a stream that comes slowly: each frame is out before the next one is in" {
	py '
import subprocess
p = subprocess.Popen(["median", "-j", "4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
one = open("ref.nrrd", "rb").read()
first = subprocess.run(["median"], input=one, stdout=subprocess.PIPE, check=True).stdout
for i in range(8):
    p.stdin.write(one); p.stdin.flush()
    assert p.stdout.read(len(first)) == first	# waits for ever where it is held back
p.stdin.close()
left = p.stdout.read()
assert left == b"" and p.wait() == 0, left'
}

@test "frame_jobs: memory does not grow with the number of frames" {
	# the address sanitizer's allocator gives nothing back, and comes to rest only behind some thousand frames
	if sanitized; then skip "sanitized tools: they allocate by themselves"; fi
	py '
import os, subprocess
def peak(frames):
    child = subprocess.Popen(["fringepipe", "-j", "8", "-q", "-o", "null:", "phasewrap", "a1.nrrd", ",", "gauss", ",", "unwrap2f"],
        env=dict(os.environ, FRINGEPIPE_REPEAT=str(frames)))
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0
    return used.ru_maxrss
few, many = peak(200), peak(4000)
print(few, many)
assert many < few + 4096'
}
